"""Pictures of panels printed through matplotlib: what stands where, and that nothing moves."""

import gc
import io
import logging
import re
import time
import warnings
import weakref
from dataclasses import replace
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib import pyplot as plt
from matplotlib.axes import Axes as PlotAxes
from matplotlib.colors import to_rgb
from matplotlib.image import AxesImage
from matplotlib.text import Text
from PIL import Image

import andrea_lesson as al
from andrea_lesson import experiments, figure_style, fonts
from andrea_lesson.colours import MASK_COLOUR
from andrea_lesson.figure_parts import SPECIAL
from andrea_lesson.figure_style import COMPARED, HIDDEN_FACE, INK, MEASURED
from andrea_lesson.panels import printed, printed_bars
from andrea_lesson.panels.encode import encode
from andrea_lesson.panels.layout import LINE, lay_out
from andrea_lesson.panels.picture import Axis, Bars, Chart, Line, Matrix, Picture, Ruler
from andrea_lesson.panels.printed import PrintedView, print_picture, still
from andrea_lesson.panels.printed_frames import LIT
from andrea_lesson.panels.printed_sheet import printing

both_languages = pytest.mark.parametrize("language", ["zh-Hant", "en"])
AXES = {
    "query": Axis("query", "row = query i"),
    "key": Axis("key", "column = key j"),
    "value": Axis("value", "component"),
}


def steps_picture(T=6, seed=0, names=None, selected=None):
    """Five matrices side by side, as in the attention panel."""
    steps = al.attention_steps(*experiments.random_qkv(T, 8, seed=seed), mask="causal")
    hidden = ~al.causal_mask(T)
    later = {"show_rows": False}
    axes = AXES
    if names:
        axes = AXES | {
            "query": Axis("query", "row = query i", names),
            "key": Axis("key", "column = key j", names, slanted=True),
        }
    line = (
        Matrix("scores", steps.scores, "scores\nQKᵀ", limit=20.0),
        Matrix("scaled", steps.scaled_scores, "scaled\n÷ √8", limit=8.0, **later),
        Matrix("masked", steps.masked_scores, "masked\nhidden", limit=8.0, hidden=hidden, **later),
        Matrix("weights", steps.weights, "weights", colours="weights", hidden=hidden, **later),
        Matrix("output", steps.output, "output\ngg", columns="value", limit=3.0, **later),
    )
    formulas = (f"q · k = {steps.scores[0, 0]:.3f}", "second line, with gjpq")
    return Picture((line,), axes, f"random vectors, seed {seed}", formulas, selected or {})


def mixed_picture(T=5, seed=0):
    """Everything that the other one does not have."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(T, T))
    values[0, 0], values[1, 0], values[1, 1] = np.nan, np.inf, -np.inf
    hidden = ~al.causal_mask(T)
    framed = np.zeros((T, T), dtype=bool)
    framed[T - 1, 0] = True
    row = rng.uniform(0.1, 1.0, size=T)
    first = (
        Matrix("mask", ~hidden, "mask", colours="mask", hidden=hidden, bar=False),
        Matrix("odd", values, "odd", limit=4.0, hidden=hidden, framed=framed, lit_rows=(2, 3)),
        Bars("sums", row, 0.0, 1.0, "row sum", "a sum", lit=(0,), show_names=True),
    )
    upright = Bars("columns", row, -1.0, 1.0, "upright", along="key", upright=True, width=153.0)
    x = Ruler(1.0, 256.0, ((1.0, "1"), (16.0, "16"), (256.0, "256")), "d_k", 2)
    lines = (
        Line([1.0, 16.0, 256.0], [1.0, 4.0, 16.0], "measured", "solid"),
        Line([1.0, 256.0], [1.0, 16.0], "theory", "dashed"),
        Line([1.0, 256.0], [5.0, 5.0], "dotted", "dots"),
        Line([4.0, 4.0], [0.0, 20.0], "dashdot", "dashes"),
        Line([16.0], [4.0 + seed % 2], "here", "here"),
        Line([1.0, 256.0], [1.0, 16.0], "points"),
        Line([1.0, 4.0, 64.0], [2.0, 8.0], "bars", "bars"),
        Line([1.0, 256.0], [[1.0, 2.0], [3.0, 9.0]], "band", "band"),
    )
    y = Ruler(0.0, 20.0, ((0.0, "0"), (20.0, "20")), "std")
    edges = np.geomspace(1.0, 256.0, 5)
    chart = Chart("chart", x, y, lines, "a chart\nof all looks", legend_lines=4)
    shaded = Chart(
        "shaded",
        x,
        replace(x, words=""),
        lines[4:5],
        "shades",
        shades=np.linspace(0, 1, 16).reshape(4, 4),
        shade_x=edges,
        shade_y=edges,
        shade_words="share",
    )
    selected = {"query": seed % T, "key": 0}
    return Picture((first, (upright, chart, shaded)), AXES, "random", (), selected)


PICTURES = {"steps": steps_picture, "mixed": mixed_picture}
every_picture = pytest.mark.parametrize("make", PICTURES.values(), ids=PICTURES)


def drawn(picture, *, large=False):
    """Figure and layout of a picture, and the pixels of the figure."""
    layout = lay_out(picture, large=large)
    figure = print_picture(picture, layout)
    with printing():
        figure.canvas.draw()
    return figure, layout, np.asarray(figure.canvas.buffer_rgba())[..., :3]


def words_of(figure):
    """Visible words, each with its place in pixels from the upper left corner."""
    height = figure.bbox.height
    found = []
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text():
            x, y = text.get_transform().transform(text.get_position())
            found.append((text.get_text(), x, height - y))
    return found


def said(figure):
    return [words for words, _, _ in words_of(figure)]


def colour_of(pixels, layout, picture, name, row, column):
    """Main colour well inside a cell of a matrix."""
    box, (rows, columns) = layout.boxes[name], picture.parts[name].values.shape
    left = box.left + box.width * (column + np.array([0.3, 0.7])) / columns
    top = box.top + box.height * (row + np.array([0.3, 0.7])) / rows
    (x0, x1), (y0, y1) = (np.round(ends * layout.zoom).astype(int) for ends in (left, top))
    cell = pixels[y0:y1, x0:x1].reshape(-1, 3)
    colours, counts = np.unique(cell, axis=0, return_counts=True)
    return colours[counts.argmax()]


def close(colour, expected, within=3):
    wanted = 255 * np.array(to_rgb(expected))
    return np.abs(np.asarray(colour, dtype=float) - wanted).max() <= within


def has_colour(pixels, colour, within=6):
    wanted = 255 * np.array(to_rgb(colour))
    return (np.abs(pixels.astype(float) - wanted).max(axis=-1) <= within).any()


# -- words -----------------------------------------------------------------------------------------


def test_titles_axes_formulas_and_caption_are_there():
    picture = steps_picture(6)
    figure, _, _ = drawn(picture)
    words = said(figure)
    assert {"scores", "QKᵀ", "scaled", "masked", "hidden", "weights", "output"} <= set(words)
    assert words.count("row = query i") == 1  # the rows are named once
    assert words.count("column = key j") == 4
    assert words.count("component") == 1
    assert picture.caption in words
    assert picture.formulas[1] in words
    dot = f"q ⋅ k = {picture.parts['scores'].values[0, 0]:.3f}"  # no wider than a letter
    assert words.count("5") == 6  # columns of five matrices, one side of rows
    assert not any("…" in text for text in words)  # nothing is written where there is no room
    places = {text: y for text, _, y in words_of(figure)}
    lines = np.diff([places[text] for text in (dot, picture.formulas[1], picture.caption)])
    np.testing.assert_allclose(lines, LINE, atol=0.01)


def test_titles_side_by_side_stand_at_one_height():
    figure, _, _ = drawn(steps_picture(6))
    places = {words: y for words, _, y in words_of(figure)}
    firsts = [places[words] for words in ("scores", "scaled", "masked", "output", "weights")]
    seconds = [places[words] for words in ("QKᵀ", "hidden", "gg")]
    np.testing.assert_allclose(firsts, firsts[0], atol=0.01)
    np.testing.assert_allclose(seconds, firsts[0] + LINE, atol=0.01)
    titles = [y for words, _, y in words_of(figure) if words in ("column = key j", "component")]
    np.testing.assert_allclose(titles, titles[0], atol=0.01)


def test_names_stand_in_the_middle_of_their_rows_and_slant_over_columns():
    names = ("Ann", "visits", "library", "borrows", "book", "reads")
    picture = steps_picture(6, names=names)
    figure, layout, _ = drawn(picture)
    box = layout.boxes["scores"]
    for place, name in enumerate(names):
        row = next(y for words, x, y in words_of(figure) if words == name and x < box.left)
        middle = box.top + (place + 0.5) * box.height / 6
        assert row - middle == pytest.approx(0.36 * 12, abs=1)  # a baseline
        column = next(x for words, x, y in words_of(figure) if words == name and x > box.left)
        assert 0 < column - (box.left + (place + 0.5) * box.width / 6) < 6
    slanted = [t for t in figure.texts if t.get_visible() and t.get_rotation() == 45]
    assert len(slanted) == 4 * 6


def test_numbers_name_places_where_there_is_no_room_for_all():
    words = said(drawn(steps_picture(64))[0])
    assert "8" in words
    assert "56" in words
    assert "9" not in words


def test_words_that_are_too_long_get_smaller_and_then_end_in_dots():
    picture = steps_picture(3)
    long = replace(picture, formulas=("n" * 140, "w" * 300), caption="c" * 400)
    figure, _, _ = drawn(long)
    renderer = figure.canvas.get_renderer()
    sizes = {}
    for text in figure.texts:
        if text.get_visible() and text.get_text():
            assert text.get_window_extent(renderer).x1 <= figure.bbox.width
            sizes[text.get_text()[:3]] = text.get_fontsize()
    assert 9 < sizes["nnn"] < 13
    assert any(words.startswith("ccc") and words.endswith("…") for words in said(figure))


def test_a_root_comes_from_the_latin_face_and_words_around_it_follow_on():
    figure, _, _ = drawn(replace(steps_picture(3), formulas=("root √64 = 8",)))
    pieces = [text for text in figure.texts if text.get_text() in ("root ", "√", "64 = 8")][-3:]
    ends = [text.get_window_extent(figure.canvas.get_renderer()) for text in pieces]
    assert [text.get_fontfamily() == [fonts.LATIN] for text in pieces] == [False, True, False]
    assert ends[0].x1 < ends[1].x0 < ends[1].x1 <= ends[2].x0 + 1
    assert ends[2].x0 - ends[1].x1 < 2


@every_picture
@both_languages
def test_no_character_is_missing_and_nothing_warns(make, language, caplog):
    al.set_language(language)
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        picture = make()
        still(picture, lay_out(picture), "T: 6")
    assert [record.getMessage() for record in caplog.records] == []


def test_names_are_numbers_where_they_do_not_fit_the_matrix():
    picture = steps_picture(6, names=("only", "two"))
    words = said(drawn(picture)[0])
    assert "only" not in words
    assert words.count("5") == 6


@pytest.fixture(params=("attention", "generation", "mask", "qkv", "scaling", "scores", "softmax"))
def panel(request):
    """Each panel in both languages and sizes, made when it is called."""
    made = []

    def make(language, large):
        al.set_language(language)
        module = import_module(f"andrea_lesson.panels.{request.param}")
        panel = getattr(module, f"{request.param}_panel")(view="matplotlib", large=large)
        made.append(panel)
        return panel

    yield make
    for one in made:
        one.close()


@both_languages
@pytest.mark.parametrize("large", [False, True])
def test_words_of_panels_neither_overlap_nor_leave_the_picture(panel, language, large):
    figure, _, _ = drawn(panel(language, large).picture, large=large)
    renderer = figure.canvas.get_renderer()
    level = []
    for text in figure.texts:
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent(renderer)
            assert -1 < box.x0 < box.x1 < figure.bbox.width + 1, text
            assert -1 < box.y0 < box.y1 < figure.bbox.height + 1, text
            if not text.get_rotation():
                level.append((text.get_text(), box, text.get_fontsize() * figure.dpi / 72))
    assert len(level) > 10
    for (one, a, size), (other, b, smaller) in combinations(level, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        down = min(a.y1, b.y1) - max(a.y0, b.y0)
        # Boxes reach from the highest to the lowest letter of the face: half is still apart.
        assert across <= 1 or down <= 0.45 * min(size, smaller), (one, other)


@both_languages
def test_live_and_printed_pictures_say_the_same(panel, language):
    picture = panel(language, False).picture
    figure, layout, _ = drawn(picture)
    # A root is drawn on its own, and a dot as wide as a letter.
    printed_words = " ".join(said(figure)).replace("⋅", "·").replace(" √ ", "√")
    plain = encode(picture, layout)
    wanted = [*plain["formulas"][1], plain["caption"][1]]
    for part in plain["parts"]:
        wanted += part["title"]
        for ticks in ("rowTicks", "columnTicks", "names"):
            wanted += part[ticks][1] if part.get(ticks) else []
        for key in ("rowTitle", "columnTitle", "words", "axisTitle"):
            wanted.append(part.get(key) or "")
        wanted += [words for _, words in part.get("bar", [])]
        wanted += [words for _, words in part.get("legend", [])]
        wanted += [line["words"] for line in part.get("lines") or []] if "x" in part else []
    squeezed = printed_words.replace(" ", "")
    for words in wanted:
        assert words.replace(" ", "") in squeezed


# -- colours and looks -----------------------------------------------------------------------------


@pytest.mark.parametrize("large", [False, True])
def test_cells_have_the_colours_of_their_values(large):
    picture = steps_picture(6)
    _, layout, pixels = drawn(replace(picture, lines=(picture.lines[0][:4],)), large=large)
    for name, limit in (("scores", 20.0), ("scaled", 8.0)):
        for i, j in ((0, 0), (2, 4), (5, 1)):
            share = (picture.parts[name].values[i, j] + limit) / (2 * limit)
            seen = colour_of(pixels, layout, picture, name, i, j)
            assert close(seen, colormaps["RdBu_r"](share)) or large
    weight = picture.parts["weights"].values[3, 1]
    assert close(colour_of(pixels, layout, picture, "weights", 3, 1), colormaps["viridis"](weight))


def test_many_weights_are_coloured_as_multiples_of_the_uniform_one():
    picture = steps_picture(40)
    figure, layout, pixels = drawn(picture)
    weight = picture.parts["weights"].values[30, 7]
    share = (np.clip(np.log2(weight * 31), -3, 6) + 3) / 9
    seen = colour_of(pixels, layout, picture, "weights", 30, 7)
    assert close(seen, colormaps["viridis"](share), within=8)
    assert al.label("relative_weights") in said(figure)
    assert "≥ 64" in said(figure)
    assert al.label("relative_weights") not in said(drawn(steps_picture(6))[0])


def test_hidden_and_special_cells_have_looks_and_words_of_their_own():
    picture = mixed_picture()
    figure, layout, pixels = drawn(picture)
    assert close(colour_of(pixels, layout, picture, "odd", 0, 4), HIDDEN_FACE)
    assert close(colour_of(pixels, layout, picture, "odd", 0, 0), SPECIAL["nan"][0], within=60)
    assert close(colour_of(pixels, layout, picture, "mask", 3, 0), MASK_COLOUR)
    assert close(colour_of(pixels, layout, picture, "mask", 0, 3), HIDDEN_FACE)
    words = said(figure)
    assert words.count(al.label("hidden_cells")) == 1
    assert words.count(al.label("may_not_attend")) == 1
    # Where there is no room for all in words, signs tell them apart.
    assert {"NaN", "+∞", "−∞"} <= {text.get_text() for text in figure.texts}


def test_a_large_matrix_is_drawn_as_the_same_dots_as_in_the_browser():
    values = np.zeros((1024, 1024))
    values[700, 300] = -5.0  # lost if cells were averaged
    part = Matrix("m", values, "m", limit=5.0)
    figure, layout, pixels = drawn(Picture(((part,),), AXES, "from here"))
    box = layout.boxes["m"]
    y, x = (round(start + 153 * place / 1029) for start, place in ((box.top, 700), (box.left, 300)))
    near = pixels[y - 1 : y + 2, x - 1 : x + 2]
    assert has_colour(near, colormaps["RdBu_r"](0.0), within=30)
    assert "from here ⋅ " + al.label("live_dots", rows=7, columns=7) in said(figure)


def test_what_is_chosen_lit_or_marked_is_framed():
    picture = mixed_picture(seed=4)  # query 4, key 0
    _, layout, pixels = drawn(picture)
    for name, long in (("mask", 5), ("odd", 5)):
        box = layout.boxes[name]
        edge = round(box.top + 4 * box.height / long) - 1
        line = pixels[edge - 1 : edge + 2, round(box.left + 60) : round(box.left + 140)]
        assert has_colour(line, INK, within=60), name
    bars, odd = layout.boxes["sums"], layout.boxes["odd"]
    slot = pixels[round(bars.top + 0.8 * bars.height) - 2 :, round(bars.left + 20) :][:5, :60]
    assert has_colour(slot, INK, within=60)
    around = pixels[round(odd.top) - 4 :, round(odd.left) - 4 :][:170, :165]
    assert has_colour(around, LIT)
    plain = replace(picture, selected={}, lines=((picture.parts["mask"],),))
    assert not has_colour(drawn(plain)[2][round(layout.boxes["mask"].top) :], LIT)


@pytest.mark.parametrize(("warns", "colour"), [(True, COMPARED), (False, LIT)])
def test_marked_cells_are_framed_and_in_the_colour_of_warnings_if_they_warn(warns, colour):
    part = replace(mixed_picture().parts["odd"], lit_rows=(), warns=warns)
    _, layout, pixels = drawn(Picture(((part,),), AXES))
    _, _, without = drawn(Picture(((replace(part, framed=None),),), AXES))
    y, x = np.nonzero((pixels != without).any(axis=-1))
    box = layout.boxes["odd"]  # the cell at its lower left corner
    halo = 2.5  # pixels of the frame and its halo that lie outside
    assert (x.min(), x.max() + 1) == pytest.approx((box.left, box.left + box.width / 5), abs=halo)
    assert (y.min(), y.max() + 1) == pytest.approx(
        (box.top + 0.8 * box.height, box.top + box.height), abs=halo
    )
    assert has_colour(pixels[y, x], colour)


def test_dots_of_many_weights_are_multiples_of_the_uniform_one():
    weights = np.full((1024, 1024), 1 / 1024)
    weights[:, :512] = 8 / 1024
    picture = Picture(((Matrix("m", weights, "m", colours="weights"),),), AXES)
    _, layout, pixels = drawn(picture)
    box = layout.boxes["m"]
    y = round(box.top + 80)
    for x, share in ((40, 6 / 9), (120, 3 / 9)):  # 8 and 1 between 1/8 and 64
        assert close(pixels[y, round(box.left) + x], colormaps["viridis"](share))


def test_the_colour_bar_runs_over_the_scale_of_the_matrix():
    picture = steps_picture(6)
    figure, layout, pixels = drawn(picture)
    for name, low, high in (("scores", "−20", "20"), ("weights", "0", "1")):
        box = layout.boxes[name]
        bar = pixels[round(box.top + box.height) + 10, round(box.left) : round(box.left + 153)]
        cmap = colormaps["viridis" if name == "weights" else "RdBu_r"]
        assert close(bar[1], cmap(0.005), within=6)
        assert close(bar[-2], cmap(0.995), within=6)
        below = {
            words
            for words, x, y in words_of(figure)
            if box.left <= x <= box.left + 153 and 20 < y - box.top - box.height < 30
        }
        assert {low, high} <= below


# -- bars and charts -------------------------------------------------------------------------------


def test_rows_of_bars_are_those_of_the_matrix_beside_them():
    picture = mixed_picture()
    _, layout, pixels = drawn(picture)
    box, values = layout.boxes["sums"], picture.parts["sums"].values
    assert box.top == layout.boxes["odd"].top
    for row, value in enumerate(values):
        middle = round(box.top + (row + 0.5) * box.height / 5)
        line = pixels[middle + 9, round(box.left) : round(box.left + box.width)]
        blue = np.abs(line.astype(float) - 255 * np.array(to_rgb(MEASURED))).max(axis=-1) < 40
        assert blue.sum() == pytest.approx(value * box.width, abs=3)


def test_numbers_stand_at_few_bars_and_nan_at_any():
    values = np.array([0.5, np.nan, 0.125])
    for count, there in ((3, True), (30, False)):
        part = Bars("b", np.resize(values, count), 0.0, 1.0, show_names=True)
        words = said(drawn(Picture(((part,),), AXES))[0])
        assert ("0.12" in words) is there
        assert "NaN" in words


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([2.0, 3.0, 0.0], ["2", "3", "0"]),
        ([0.5, 1.0, 0.0], ["0.5", "1.0", "0"]),
        ([1 / 3, -1 / 3, np.nan], ["0.33", "−0.33", "NaN"]),
        ([12.34, -0.001], ["12.3", "0.0"]),
        ([123.4, np.inf], ["123", "∞"]),
    ],
)
def test_numbers_at_bars_have_no_more_digits_than_they_need(values, words):
    assert printed_bars.numbers(np.array(values)) == words


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0), (-9.0, 9.0)])
@pytest.mark.parametrize("value", [-1.0, -0.4, -0.01, 0.0, 0.01, 0.4, 1.0])
def test_no_number_at_a_bar_reaches_far_out_of_the_plot(low, high, value):
    value = float(np.clip(value, low, high))
    part = Bars("b", np.array([value, 0.333]), low, high, show_names=True)
    figure, layout, _ = drawn(Picture(((part,),), AXES))
    box = layout.boxes["b"]
    renderer = figure.canvas.get_renderer()
    name = printed_bars.numbers(part.values)[0]
    rows = [t for t in figure.texts if t.get_text() == name and t.get_visible()]
    extents = [text.get_window_extent(renderer) for text in rows]
    first = [e for e in extents if abs(figure.bbox.height - e.y0 - box.top - box.height / 4) < 12]
    assert any(box.left - 1 <= e.x0 and e.x1 <= box.left + box.width + 22 for e in first)


def test_a_logarithmic_ruler_places_points_and_ticks():
    picture = mixed_picture()
    figure, layout, pixels = drawn(picture)
    box = layout.boxes["chart"]
    x, y = box.left + box.width / 2, box.top + box.height * (1 - 4 / 20)  # 16 of 1…256; 4 of 20
    at = pixels[round(y) - 1 : round(y) + 2, round(x) - 1 : round(x) + 2]
    assert has_colour(at, MEASURED)
    ticks = [(words, x) for words, x, y in words_of(figure) if y > box.top + box.height]
    assert ("16", pytest.approx(x, abs=0.1)) in ticks
    for words in ("d_k", "std", "solid", "dashed", "dots", "dashes", "here", "bars", "band"):
        assert words in said(figure)
    shaded = layout.boxes["shaded"]
    corner = pixels[round(shaded.top) + 6, round(shaded.left + shaded.width) - 6]
    assert close(corner, colormaps["viridis"](1.0))


def test_ticks_at_the_ends_of_a_ruler_stay_clear_of_the_next_chart():
    x = Ruler(0.0, 1.0, ((0.0, "a long beginning"), (1.0, "a long end")))
    chart = Chart("c", x, Ruler(0.0, 1.0), (Line([0.0], [0.0], "here"),))
    figure, layout, _ = drawn(Picture(((chart,),)))
    box, renderer = layout.boxes["c"], figure.canvas.get_renderer()
    ends = [t.get_window_extent(renderer) for t in figure.texts if "long" in t.get_text()]
    assert min(end.x0 for end in ends) >= box.left - box.before - 1
    assert max(end.x1 for end in ends) <= box.left + box.width + box.after + 1


# -- the view --------------------------------------------------------------------------------------


def content(figure):
    """Counts of everything, and the places of all axes."""
    axes = figure.findobj(PlotAxes)
    return (
        len(axes),
        len(figure.findobj(AxesImage)),
        len(figure.findobj()),
        [ax.get_position().bounds for ax in axes],
    )


def shown(view):
    with Image.open(io.BytesIO(bytes(view.image.value))) as image:
        return np.asarray(image)


def show(view, picture, **keywords):
    view.show(picture, lay_out(picture, **keywords), "")


@every_picture
def test_nothing_grows_or_moves_in_100_moves(make):
    """Reported of matplotlib: each redraw adds a colour bar and shrinks the heatmap."""
    view = PrintedView()
    sizes = (64, 5, 12, 33)
    for T in (*sizes, 6):  # whatever is made at its first use
        show(view, make(T))
    before, figure, size = content(view.figure), view.figure, shown(view).shape
    box = view.image.layout.width, view.image.layout.height
    for move in range(100):
        show(view, make(sizes[move % 4], seed=move))
        assert shown(view).shape == size
    show(view, make(6))
    assert view.figure is figure
    assert content(view.figure) == before
    assert (view.image.layout.width, view.image.layout.height) == box
    assert plt.get_fignums() == []


@every_picture
def test_a_picture_that_was_moved_is_the_picture_drawn_afresh(make):
    view = PrintedView()
    for T, seed in ((33, 3), (8, 1), (5, 2)):
        show(view, make(T, seed=seed))
    show(view, make(6))
    np.testing.assert_array_equal(shown(view), drawn(make(6))[2])


def test_another_structure_makes_another_figure_and_lets_go_of_the_old_one():
    view = PrintedView()
    show(view, steps_picture())
    old, size = weakref.ref(view.figure), shown(view).shape
    show(view, mixed_picture())
    assert view.figure is not old()
    assert shown(view).shape != size
    height, width = shown(view).shape[:2]
    assert (view.image.layout.width, view.image.layout.height) == (f"{width}px", f"{height}px")
    gc.collect()
    assert old() is None


def test_the_old_picture_stays_until_the_new_one_is_there(monkeypatch):
    view = PrintedView()
    show(view, steps_picture())
    values = []
    view.image.observe(lambda change: values.append(bytes(change.new)), names="value")
    show(view, steps_picture(seed=1))
    assert values == [bytes(view.image.value)]  # nothing in between
    monkeypatch.setattr(printed.PrintedMatrix, "draw", None)
    with pytest.raises(TypeError):
        show(view, steps_picture(seed=2))
    assert values == [bytes(view.image.value)]
    assert view.figure is None  # half drawn, and not drawn on again
    monkeypatch.undo()
    show(view, steps_picture(seed=2))
    np.testing.assert_array_equal(shown(view), drawn(steps_picture(seed=2))[2])


def test_clearing_leaves_white_of_the_same_size():
    view = PrintedView()
    assert (shown(view) == 255).all()
    show(view, steps_picture())
    size = shown(view).shape
    view.clear()
    assert shown(view).shape == size
    assert (shown(view) == 255).all()


@both_languages
def test_steps_are_taken_by_a_button(language):
    al.set_language(language)
    taken = []
    view = PrintedView(advance=lambda: taken.append(1))
    image, button = view.widget.children
    assert image is view.image
    assert button.description == al.label("next_step")
    button.click()
    assert taken == [1]
    assert PrintedView().widget.value  # an image, no button


def test_a_large_picture_has_larger_type():
    usual, large = PrintedView(), PrintedView()
    show(usual, steps_picture())
    show(large, steps_picture(), large=True)
    assert shown(usual).shape[1] == 928
    assert shown(large).shape[1] == 1180
    assert large.figure.dpi == pytest.approx(1.45 * usual.figure.dpi)


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (3, 0), (1, 1)])
def test_a_matrix_may_be_empty(shape):
    part = Matrix("m", np.zeros(shape), "m", hidden=np.zeros(shape, dtype=bool))
    bars = Bars("b", np.zeros(shape[0]), 0.0, 1.0)
    figure, _, _ = drawn(Picture(((part, bars),), AXES, "", (), {"query": 0, "key": 5}))
    assert (al.label("no_cells") in said(figure)) is (0 in shape)


def test_five_heatmaps_follow_a_slider():
    view = PrintedView()
    pictures = [steps_picture(64, seed=seed) for seed in range(6)]
    show(view, pictures[0])
    start = time.process_time()
    for picture in pictures[1:]:
        show(view, picture)
    assert (time.process_time() - start) / 5 < 0.4  # about 0.07 on a quiet machine


def test_large_matrices_are_printed_in_reasonable_time():
    picture = steps_picture(1024)
    start = time.process_time()
    still(picture, lay_out(picture), "")
    assert time.process_time() - start < 1.5  # about 0.2 on a quiet machine


# -- pictures to keep ------------------------------------------------------------------------------


def pixels_of(png):
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


@every_picture
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_saving_gives_the_same_bytes_each_time(make, kind):
    contents = {figure_style.figure_bytes(drawn(make())[0], kind) for _ in range(2)}
    assert len(contents) == 1
    assert len(contents.pop()) > 5000


@every_picture
def test_a_still_picture_says_what_to_run_and_shows_the_same(make):
    picture = make()
    layout = lay_out(picture)
    png = still(picture, layout, "T: 6 · d_k: 8")
    assert png == still(picture, layout, "T: 6 · d_k: 8")
    assert len(png) < 60_000
    pixels, live = pixels_of(png), drawn(picture)[2]
    assert close(pixels[2, 2], "#fff4cc")
    assert pixels[:30].min() < 80  # words in the strip
    off = np.abs(pixels[-len(live) :].astype(int) - live)
    assert off.max() <= 24  # of 256 colours none is far off
    assert off.mean() < 1
    assert (pixels[-len(live) :][live.min(axis=-1) == 255] == 255).all()  # white stays white


def test_settings_take_two_lines_at_most_and_stay_inside(monkeypatch):
    written = []
    write = printed.Sheet.write
    monkeypatch.setattr(
        printed.Sheet,
        "write",
        lambda sheet, x, y, words, **more: (
            written.append(words),
            write(sheet, x, y, words, **more),
        ),
    )
    layout = lay_out(steps_picture())
    heights = []
    for count in (3, 10, 14, 60):
        written.clear()
        settings = " · ".join(f"遮罩的設定 {n}: 因果" for n in range(count))
        pixels = pixels_of(still(None, layout, settings))
        heights.append(len(pixels))
        lines = written[1:]
        assert len(lines) <= 2
        assert (pixels[:, -7:].std(axis=1) == 0).all()  # no ink at the right edge
        joined = " · ".join(lines)
        assert joined == settings or (count == 60 and re.fullmatch(r".+…", joined))
    assert heights[0] == 30 + 18 + 6
    assert heights[1:] == [30 + 2 * 18 + 6] * 3


def test_without_a_picture_the_strip_stands_alone():
    pixels = pixels_of(still(None, None, "T: 900"))
    assert pixels.shape[1] == 928
    assert len(pixels) < 80
