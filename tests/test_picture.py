"""Pictures as data, and where their parts stand: apart, inside, and wherever the values are."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andrea_lesson.figure_parts import Side
from andrea_lesson.panels.layout import LARGE_WIDTH, LINE, WIDTH, ZOOM, enlarged, lay_out, ticks
from andrea_lesson.panels.picture import Axis, Bars, Chart, Matrix, Picture, Ruler

AXES = {
    "query": Axis("query", "row = query i"),
    "key": Axis("key", "column = key j", ("Ann", "visits", "library"), slanted=True),
    "value": Axis("component"),
}
both_sizes = pytest.mark.parametrize("large", [False, True])
flags, words = st.booleans(), st.sampled_from(["", "one line", "two\nlines"])
widths = st.sampled_from([40.0, 98.0, 153.0, 300.0])


def matrix(name, shape=(3, 4), **look):
    return Matrix(name, np.zeros(shape), **look)


def bars(name, count=4, **look):
    return Bars(name, np.zeros(count), 0.0, 1.0, **look)


def chart(name, **look):
    return Chart(name, Ruler(0, 1), Ruler(0, 1), (), **look)


def layout_of(*lines, large=False, **around):
    return lay_out(Picture(lines, AXES, **around), large=large)


# -- any picture ---------------------------------------------------------------------------------


@st.composite
def parts(draw, name):
    kind = draw(st.sampled_from(["matrix", "matrix", "bars", "chart"]))
    look = {"title": draw(words), "width": draw(widths), "height": draw(widths)}
    if kind == "chart":
        rulers = [Ruler(0, 1, words=draw(st.sampled_from(["", "x"]))) for _ in range(2)]
        return Chart(name, *rulers, (), legend_lines=draw(st.integers(0, 3)), **look)
    if kind == "bars":
        return bars(
            name,
            words=draw(st.sampled_from(["", "sum 1"])),
            upright=draw(flags),
            show_names=draw(flags),
            **look,
        )
    return matrix(
        name,
        columns=draw(st.sampled_from(["key", "value"])),
        colours=draw(st.sampled_from(["scores", "weights", "mask"])),
        hidden=np.zeros((3, 4), dtype=bool) if draw(flags) else None,
        hidden_words=draw(st.sampled_from([None, ""])),
        show_rows=draw(flags),
        show_columns=draw(flags),
        column_title=draw(st.sampled_from([None, ""])),
        bar=draw(flags),
        **look,
    )


@st.composite
def pictures(draw):
    lines = []
    for number in range(draw(st.integers(1, 3))):
        line = []
        for place in range(draw(st.integers(1, 6))):
            part = draw(parts(f"{number}.{place}"))
            if line and not isinstance(part, Chart) and draw(flags):
                part = replace(part, under=draw(st.sampled_from(line)).name)
            line.append(part)
        lines.append(tuple(line))
    formulas = tuple(draw(st.lists(st.just("1 + 1 = 2"), max_size=4)))
    return Picture(tuple(lines), AXES, draw(st.sampled_from(["", "random"])), formulas)


def taken(box):
    """Edges of what a part takes, its words included: left, top, right, bottom."""
    return (
        box.left - box.before,
        box.top - box.above,
        box.left + box.width + box.after,
        box.top + box.height + box.below,
    )


@both_sizes
@given(picture=pictures())
def test_parts_stand_apart_and_inside(large, picture):
    layout = lay_out(picture, large=large)
    assert set(layout.boxes) == set(picture.parts)
    areas = {name: taken(box) for name, box in layout.boxes.items()}
    for name, (left, top, right, bottom) in areas.items():
        assert left >= 0
        assert top >= 0
        if right - left <= layout.width - 8:  # else no line can hold it
            assert right <= layout.width - 4 + 1
        assert bottom <= layout.formulas
        for other, (left_2, top_2, right_2, bottom_2) in areas.items():
            if name < other:
                across = max(left_2 - right, left - right_2)
                down = max(top_2 - bottom, top - bottom_2)
                assert max(across, down) >= -1e-9, (name, other)
    assert layout.caption - layout.formulas == LINE * len(picture.formulas)
    assert layout.height >= layout.caption + (LINE if picture.caption else 0)


@both_sizes
@given(picture=pictures(), factor=st.sampled_from([0.0, -7.0, 1e300, np.nan, np.inf]))
def test_places_do_not_depend_on_values(large, picture, factor):
    def changed(part):
        if isinstance(part, Chart):
            return replace(part, x=replace(part.x, low=-9, high=99, ticks=((3.0, "a word"),)))
        shape = (50,) if isinstance(part, Bars) else (64, 50)
        hidden = None if part.hidden is None else np.ones(shape, dtype=bool)
        return replace(part, values=np.full(shape, factor), hidden=hidden)

    other = replace(picture, lines=tuple(tuple(map(changed, line)) for line in picture.lines))
    assert lay_out(other, large=large) == lay_out(picture, large=large)


@given(picture=pictures())
def test_a_size_is_a_width_and_a_zoom(picture):
    usual, large = lay_out(picture), lay_out(picture, large=True)
    assert (usual.width, usual.zoom) == (WIDTH, 1)
    assert large.zoom == ZOOM
    assert large.width * large.zoom == pytest.approx(LARGE_WIDTH)


# -- lines ---------------------------------------------------------------------------------------


def five(**look):
    return [matrix(f"m{n}", show_rows=n == 0, title="A\nB", **look) for n in range(5)]


def test_five_squares_stand_side_by_side_and_break_evenly_when_large():
    line = five()
    usual, large = layout_of(line), layout_of(line, large=True)
    assert len({box.top for box in usual.boxes.values()}) == 1
    tops = [large.boxes[part.name].top for part in line]
    assert tops[0] == tops[1] == tops[2] < tops[3] == tops[4]
    assert large.height > usual.height


@both_sizes
def test_lines_stand_in_the_middle(large):
    layout = layout_of(five()[:3], [matrix("below")], large=large)
    for names in (["m0", "m1", "m2"], ["below"]):
        areas = [taken(layout.boxes[name]) for name in names]
        assert areas[0][0] == pytest.approx(layout.width - areas[-1][2])


def test_plots_of_a_line_stand_at_one_height_whatever_is_over_them():
    layout = layout_of(
        [matrix("titled", title="A\nB"), matrix("bare", columns="value"), bars("bars"), chart("c")]
    )
    tops = {name: box.top for name, box in layout.boxes.items()}
    assert len(set(tops.values())) == 1, tops


@both_sizes
def test_what_is_too_wide_for_any_line_stands_alone(large):
    layout = layout_of([matrix("a", width=900.0), matrix("b", width=900.0)], large=large)
    assert layout.boxes["a"].top < layout.boxes["b"].top


# -- for a projector -----------------------------------------------------------------------------


@given(picture=pictures())
def test_what_is_enlarged_keeps_its_parts_and_their_shapes(picture):
    larger = enlarged(picture)
    assert set(larger.parts) == set(picture.parts)
    factors = set()
    for name, part in picture.parts.items():
        factor = larger.parts[name].width / part.width
        assert larger.parts[name].height / part.height == pytest.approx(factor)
        factors.add(round(factor, 9))
    assert len(factors) == 1
    assert min(factors) >= 0.85 - 1e-9


@given(picture=pictures())
def test_what_is_enlarged_still_fits_into_its_lines(picture):
    larger = enlarged(picture)
    layout = lay_out(larger, large=True)
    for line in larger.lines:
        stacks = [part for part in line if isinstance(part, Chart) or not part.under]
        assert len({layout.boxes[part.name].top for part in stacks}) == 1  # not broken again


def test_a_line_that_was_broken_off_gets_the_names_of_its_rows():
    line = [*five(), matrix("m5", show_rows=False, title="A\nB")]
    larger = enlarged(Picture((tuple(line),), AXES))
    assert [len(part) for part in larger.lines] == [3, 3]
    assert [part.show_rows for part in larger.parts.values()] == [True, False, False] * 2
    line[0] = replace(line[0], show_rows=False)
    larger = enlarged(Picture((tuple(line),), AXES))
    assert not any(part.show_rows for part in larger.parts.values())


def test_five_squares_get_a_little_smaller_rather_than_break():
    larger = enlarged(Picture((tuple(five()),), AXES))
    assert [len(part) for part in larger.lines] == [5]
    assert 0.85 <= larger.parts["m0"].width / five()[0].width < 1


def test_a_small_picture_grows_but_not_without_end():
    small = Picture(((matrix("m", width=40.0, height=20.0),),), AXES)
    part = enlarged(small).parts["m"]
    assert 40 < part.width < 2 * 40
    assert part.height == pytest.approx(part.width / 2)


# -- one beneath another -------------------------------------------------------------------------


@both_sizes
def test_a_part_stands_beneath_the_one_that_it_names(large):
    layout = layout_of(
        [
            matrix("first"),
            matrix("second", show_rows=False),
            bars("sums", upright=True, under="second", width=153.0),
            matrix("third", show_rows=False),
            matrix("lowest", under="sums", height=20.0),
        ],
        large=large,
    )
    names = ("first", "second", "sums", "third", "lowest")
    first, second, sums, third, lowest = (layout.boxes[name] for name in names)
    assert second.left == sums.left == lowest.left
    assert second.top + second.height < sums.top
    assert sums.top + sums.height < lowest.top
    assert first.top == second.top == third.top
    assert third.left > second.left + second.width


def test_names_beside_the_lower_one_push_both_to_the_right():
    def place(**look):
        line = [matrix("left"), matrix("a", show_rows=False), matrix("b", under="a", **look)]
        return layout_of(line).boxes

    plain, named = place(show_rows=False), place(show_rows=True)
    for boxes in (plain, named):
        assert boxes["a"].left == boxes["b"].left
        assert taken(boxes["left"])[2] <= taken(boxes["b"])[0]
    assert named["b"].before > plain["b"].before


def test_the_longest_stack_says_where_the_next_line_begins():
    stack = [matrix("a"), matrix("b", under="a"), matrix("beside")]
    layout = layout_of(stack, [matrix("next")])
    lower = layout.boxes["b"]
    assert taken(layout.boxes["next"])[1] >= lower.top + lower.height + lower.below


# -- room for words ------------------------------------------------------------------------------


def height(**look):
    return layout_of([matrix("m", **look)]).height


def test_room_is_kept_for_what_is_there_and_for_nothing_else():
    none, all_hidden = np.zeros((3, 4), dtype=bool), np.ones((3, 4), dtype=bool)
    assert height(hidden=none) == height(hidden=all_hidden) >= height() + LINE
    assert height(hidden=none, hidden_words="") == height()
    assert height(hidden=none, bar=False) == height(bar=False) + LINE
    assert height(bar=False) < height()
    assert height(columns="value", column_title="") < height(columns="key", column_title="")
    assert height(show_columns=False) < height(columns="value", column_title="x")
    assert height(title="A") == height(title="A\nB") > height()


def test_formulas_and_caption_have_a_line_each():
    bare = layout_of([matrix("m")])
    full = layout_of([matrix("m")], formulas=("a", "b", "c"), caption="random vectors")
    assert full.formulas == bare.formulas
    assert full.caption == full.formulas + 3 * LINE
    assert full.height == bare.height + 4 * LINE


# -- the picture itself --------------------------------------------------------------------------


def test_parts_by_name_in_the_order_of_the_lines():
    a, b, c = matrix("a"), bars("b"), chart("c")
    picture = Picture(((a, b), (c,)), AXES)
    assert list(picture.parts.items()) == [("a", a), ("b", b), ("c", c)]


def test_sides_of_a_part():
    picture = Picture(((matrix("a"),),), AXES)
    assert picture.side("key") == Side("column = key j", ("Ann", "visits", "library"))
    assert picture.side("key", "").words == ""
    assert picture.side("query").names is None
    assert picture.side("key", show=False) == Side("", ())


# -- names along a side ----------------------------------------------------------------------------


def places(axis, count, room, **how):
    return [place for place, _ in ticks(axis, count, room, across=False, **how)]


def test_a_framed_place_has_its_name_and_its_neighbours_make_room():
    topics = Axis("topic", names=tuple("abcdefghij"))
    assert places(topics, 10, 200.0) == list(range(10))
    assert places(topics, 10, 60.0) == [0, 2, 4, 6, 8]
    assert places(topics, 10, 60.0, lit=(4,)) == [0, 2, 4, 6, 8]
    assert places(topics, 10, 60.0, lit=(5,)) == [0, 2, 5, 8]  # 4 and 6 are too near
    assert places(topics, 10, 60.0, lit=(1, 2, 3)) == [0, 2, 4, 6, 8]  # a frame around several
    assert places(topics, 10, 60.0, lit=(12,)) == [0, 2, 4, 6, 8]
    assert places(Axis("query"), 10, 60.0, lit=(5,)) == [0, 4, 8]  # numbers can be counted


def test_a_text_with_gaps_is_numbered():
    text = Axis("key", names=tuple("weights of V"), text=True)
    whole, gaps = (ticks(text, 12, room, across=False) for room in (140.0, 100.0))
    assert [words for _, words in whole] == [*"weights of V"]
    assert [words for _, words in gaps] == ["0", "2", "4", "6", "8", "10"]
