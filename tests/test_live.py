"""The live view without a browser: what is sent of a picture, and how questions are answered."""

import gc
import json
import weakref

import numpy as np
import pytest
from ipywidgets.widgets import widget
from matplotlib import colormaps
from matplotlib.colors import Normalize

from andrea_lesson.colours import in_scores_colours, in_weights_colours
from andrea_lesson.labels import LABELS, language
from andrea_lesson.masks import causal_mask
from andrea_lesson.panels import live
from andrea_lesson.panels.dots import MOST_DOTS, block_of, cell_behind, dots_of
from andrea_lesson.panels.encode import (
    HIDDEN,
    MINUS_INFINITY,
    MOST_CELLS,
    NAN,
    PLUS_INFINITY,
    STEPS,
    codes_of,
    colour_tables,
    encode,
    readings,
)
from andrea_lesson.panels.layout import lay_out
from andrea_lesson.panels.picture import Axis, Bars, Chart, Line, Matrix, Picture, Ruler

RNG = np.random.default_rng(7)
AXES = {
    "query": Axis("query", "row = query i", ("a", "b", "c")),
    "key": Axis("key", "column = key j"),
}


def picture(*parts, **more):
    return Picture(lines=(tuple(parts),), axes=AXES, **more)


def sent(*parts, **more):
    """What goes to the browser for each part, by name."""
    one = picture(*parts, **more)
    return {plain["name"]: plain for plain in encode(one, lay_out(one))["parts"]}


def codes(plain):
    return np.frombuffer(plain["codes"], np.uint8).reshape(plain["dots"])


def attention(T, seed=0):
    """Scores, weights and what is hidden of random attention."""
    scores = np.random.default_rng(seed).standard_normal((T, T))
    hidden = ~causal_mask(T)
    weights = np.exp(np.where(hidden, -np.inf, scores))
    return scores, weights / weights.sum(axis=1, keepdims=True), hidden


# -- colours ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("T", [3, 20, 32, 33, 64])
@pytest.mark.parametrize("colours", ["scores", "weights", "absolute", "relative"])
def test_colours_are_those_of_the_figures(T, colours):
    scores, weights, hidden = attention(T)
    values = scores if colours == "scores" else weights
    plain = sent(Matrix("m", values, colours=colours, hidden=hidden))["m"]
    if colours == "scores":
        look = in_scores_colours(values, hidden)
    else:
        look = in_weights_colours(values, hidden, "auto" if colours == "weights" else colours)
    scale = look["scale"]
    table = np.frombuffer(colour_tables()[plain["map"]], np.uint8).reshape(256, 3)
    norm = Normalize(scale.low, scale.high)
    expected = 255 * colormaps[scale.cmap](norm(look["values"]))[..., :3]
    shown = table[codes(plain)]
    assert plain["map"] == scale.cmap
    # 251 steps against matplotlib's 256: half a step apart, at most
    assert np.abs(shown - expected)[~hidden].max() <= 4
    assert (codes(plain) == HIDDEN).tolist() == hidden.tolist()
    shares = [(value - scale.low) / (scale.high - scale.low) for value, _ in scale.ticks]
    assert plain["bar"] == [
        [share, words] for share, (_, words) in zip(shares, scale.ticks, strict=True)
    ]
    assert plain["barNote"] == scale.note


def test_codes_reach_from_end_to_end_and_round_to_the_nearest():
    got = codes_of(np.array([[-9.0, -1.0, -0.998, 0.0, 1.0, 9.0]]), -1, 1, None)
    assert got.tolist() == [[0, 0, 0, STEPS // 2, STEPS, STEPS]]


@pytest.mark.filterwarnings("error")
def test_special_cells_have_codes_of_their_own_unless_they_are_hidden():
    values = np.array([[np.nan, np.inf, -np.inf, 1.0], [np.nan, np.inf, -np.inf, 1.0]])
    hidden = np.array([[False] * 4, [True] * 4])
    for dtype in (np.float64, np.float32, np.float16):
        plain = sent(Matrix("m", values.astype(dtype), hidden=hidden))["m"]
        assert codes(plain).tolist() == [
            [NAN, PLUS_INFINITY, MINUS_INFINITY, STEPS],
            [HIDDEN] * 4,
        ]
        looks = [look for look, _ in plain["legend"]]
        assert looks == ["hidden", "nan", "plus_infinity", "minus_infinity"]


def test_a_mask_is_filled_where_a_query_may_attend():
    mask = causal_mask(5)
    for hidden in (~mask, None):
        plain = sent(Matrix("m", mask, colours="mask", hidden=hidden, bar=False))["m"]
        assert (codes(plain) == HIDDEN).tolist() == (~mask).tolist()
        assert "values" not in plain
        assert plain["bar"] == []


def test_the_legend_says_what_the_panel_says():
    hidden = np.array([[False, True]])
    values = np.zeros((1, 2))

    def words(**more):
        return [text for _, text in sent(Matrix("m", values, hidden=hidden, **more))["m"]["legend"]]

    with language("en"):
        assert words() == [LABELS["hidden_cells"][1]]
        assert words(hidden_words="not yet") == ["not yet"]
        assert words(hidden_words="") == []
        assert words(colours="mask") == [LABELS["may_not_attend"][1]]


def test_numbers_in_cells_are_those_of_the_figures():
    values = np.array([[0.5, -1.25], [3.0, 0.0]])
    plain = sent(Matrix("m", values))["m"]
    assert (
        plain["numbers"].split("\n") == in_scores_colours(values, None)["numbers"].ravel().tolist()
    )
    assert "numbers" not in sent(Matrix("m", values, numbers=False))["m"]
    assert "numbers" not in sent(Matrix("m", np.ones((64, 64))))["m"]


# -- few bytes -------------------------------------------------------------------------------------


def test_numbers_go_along_while_cells_are_few_and_once():
    values = RNG.standard_normal((64, 64))
    plain = sent(Matrix("a", values), Matrix("b", values, title="again"), Matrix("c", values + 1))
    assert np.frombuffer(plain["a"]["values"], np.float32).tolist() == pytest.approx(values.ravel())
    assert plain["b"]["valuesOf"] == "a"
    assert "values" not in plain["b"]
    assert len(plain["c"]["values"]) == 4 * MOST_CELLS
    large = sent(Matrix("a", RNG.standard_normal((65, 64))))["a"]
    assert "values" not in large
    assert large["window"]["shape"] == [12, 12]


def test_numbers_too_large_for_four_bytes_get_eight():
    values = np.array([[1e300, 1.0]])
    plain = sent(Matrix("m", values))["m"]
    assert np.frombuffer(plain["values"], np.float64).tolist() == [1e300, 1.0]


def test_a_large_picture_is_sent_in_few_bytes():
    scores, weights, hidden = attention(1024)
    one = picture(
        Matrix("scores", scores, hidden=hidden, width=400, height=400),
        Matrix("weights", weights, colours="weights", hidden=hidden, width=400, height=400),
    )
    plain = encode(one, lay_out(one))

    def count(value):
        if isinstance(value, bytes):
            return len(value)
        if isinstance(value, dict):
            return sum(map(count, value.values()))
        return sum(map(count, value)) if isinstance(value, list) else 0

    assert count(plain) < 2 * (MOST_DOTS**2 + 1000)
    json.dumps(plain, default=lambda one: len(one))  # nothing but plain data and bytes


# -- dots ------------------------------------------------------------------------------------------


def slowly(values, hidden, rows, columns, signed):
    """The definition: the cell that a dot shows, block by block."""
    count, across = (-(-side // n) for side, n in zip(values.shape, (rows, columns), strict=True))
    shown, hatched = np.zeros((count, across)), np.zeros((count, across), dtype=bool)
    for i in range(count):
        for j in range(across):
            block = np.s_[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns]
            seen = values[block][~hidden[block]]
            hatched[i, j] = not len(seen)
            if len(seen):
                shown[i, j] = seen[np.abs(seen).argmax() if signed else seen.argmax()]
    return shown, hatched


@pytest.mark.parametrize("shape", [(200, 200), (301, 157), (1000, 64), (1, 500), (700, 3)])
@pytest.mark.parametrize("colours", ["scores", "absolute", "relative"])
def test_a_dot_shows_the_cell_that_matters(shape, colours):
    values = RNG.standard_normal(shape)
    hidden = RNG.random(shape) < 0.4
    hidden[: shape[0] // 2, : max(1, shape[1] // 2)] = True
    part = Matrix("m", values, colours=colours, hidden=hidden)
    dots = dots_of(part)
    assert dots.pooled
    assert max(dots.values.shape) <= MOST_DOTS
    compared = values
    if colours == "relative":
        compared = values * np.maximum((~hidden).sum(axis=1, keepdims=True), 1)
    shown, hatched = slowly(compared, hidden, dots.rows, dots.columns, colours == "scores")
    assert dots.hidden.tolist() == hatched.tolist()
    assert dots.values == pytest.approx(shown, rel=1e-6)
    for i, j in RNG.integers(0, shown.shape, size=(50, 2)):
        row, column = cell_behind(part, int(i), int(j))
        assert (row // dots.rows, column // dots.columns) == (i, j)
        if not hatched[i, j]:
            assert not hidden[row, column]
            assert compared[row, column] == pytest.approx(shown[i, j])


def test_dots_leave_the_matrix_as_it_was_and_never_hide_a_nan():
    values = RNG.standard_normal((512, 512)).astype(np.float32)
    values[100, 100], values[300, 5] = np.nan, -np.inf
    hidden = ~causal_mask(512)
    hidden[0] = True
    before, kept = values.copy(), hidden.copy()
    dots = dots_of(Matrix("m", values, hidden=hidden))
    assert np.isnan(dots.values[100 // dots.rows, 100 // dots.columns])
    assert dots.values[300 // dots.rows, 5 // dots.columns] == -np.inf
    np.testing.assert_array_equal(values, before)
    np.testing.assert_array_equal(hidden, kept)


def test_small_matrices_are_not_pooled_and_a_projector_shows_more_dots():
    assert not dots_of(Matrix("m", np.zeros((64, 64)), width=20, height=20)).pooled
    part = Matrix("m", np.zeros((1024, 1024)), width=170, height=170)
    assert block_of(part) == (7, 7)
    assert block_of(part, 1.45) == (5, 5)


def test_dots_say_how_many_cells_they_stand_for():
    one = picture(Matrix("m", np.zeros((1024, 600)), width=256, height=256), caption="random")
    with language("en"):
        caption = encode(one, lay_out(one))["caption"][1]
    assert caption.startswith("random · a dot = 4 × 3 cells")


# -- bars and charts -------------------------------------------------------------------------------


def test_bars_and_charts_come_whole():
    hidden = np.array([False, True, False])
    bars = Bars("b", np.array([0.5, 0.0, np.nan]), -1, 2, hidden=hidden, show_names=True, lit=(2,))
    x = np.array([1.0, 10.0, 100.0])
    lines = (Line(x, np.array([1, 2]), "bars"), Line(10, 0.5, "here", "here"))
    chart = Chart("c", Ruler(1, 100, ((1, "1"),), "d_k", log=10), Ruler(0, 1), lines)
    plain = sent(bars, chart)
    assert np.frombuffer(plain["b"]["values"], np.float32)[:2].tolist() == [0.5, 0.0]
    assert list(plain["b"]["hidden"]) == [0, 1, 0]
    assert plain["b"]["ticks"] == [[-1.0, "−1"], [0.0, "0"], [2.0, "2"]]
    assert plain["b"]["names"] == [[0, 1, 2], ["a", "b", "c"]]
    assert plain["b"]["numbers"].split("\n")[2] == "NaN"
    assert plain["c"]["x"]["log"]
    assert [np.frombuffer(line["x"]).tolist() for line in plain["c"]["lines"]] == [
        x.tolist(),
        [10.0],
    ]


# -- the view --------------------------------------------------------------------------------------


@pytest.fixture
def view():
    """A view whose widget keeps what it would have told the browser."""
    log = {"chosen": [], "steps": 0, "told": []}

    def advance():
        log["steps"] += 1
        one.show(shown, lay_out(shown), "")
        return log["steps"] < 2

    with language("en"):
        one = live.LiveView(select=log["chosen"].append, advance=advance, save=str.encode)
    one.widget.send = lambda content, buffers=None: log["told"].append((content, buffers))
    values = RNG.standard_normal((300, 300))
    shown = picture(
        Matrix("large", values, reading="score", hidden=~causal_mask(300)),
        Matrix("other", -values, reading="weight"),
        Matrix("unsaid", values),
    )
    one.show(shown, lay_out(shown), "")
    one.log, one.values = log, values
    yield one
    one.close()


def ask(view, **content):
    """Ask as the browser does, and return the answer."""
    view._asked(view.widget, {"view": "v", "id": 7, **content}, [])
    answer, buffers = view.log["told"][-1]
    assert answer["type"] == "answer"
    assert (answer["view"], answer["id"], answer["revision"]) == ("v", 7, view._revision)
    return answer, buffers


def test_each_picture_is_a_new_one(view):
    first = view.widget.picture
    view.show(view._picture, view._layout, "")
    assert view.widget.picture["revision"] == first["revision"] + 1
    view.clear()
    assert view.widget.picture == {"revision": first["revision"] + 2, "cleared": True}


def test_a_dot_is_read_at_the_cell_it_shows(view):
    block = block_of(view._picture.parts["large"])
    answer, _ = ask(view, type="ask", part="large", dot=[100, 10])
    row, column = answer["places"]["query"], answer["places"]["key"]
    assert (row // block[0], column // block[1]) == (100, 10)
    assert answer["readings"] == readings(view._picture, view._picture.parts["large"], row, column)
    assert [words for words, _ in answer["readings"]] == ["score", "weight"]
    value = answer["readings"][0][1]
    assert value == f"{view.values[row, column]:.3g}".replace("-", "−")


def test_hidden_cells_are_read_as_hidden(view):
    answer, _ = ask(view, type="ask", part="large", row=0, column=299)
    assert answer["readings"][0] == ["score", "hidden"]
    assert answer["readings"][1][1] != "hidden"


def test_what_is_no_longer_there_is_answered_all_the_same(view):
    assert "readings" not in ask(view, type="ask", part="large", row=0, column=300)[0]
    assert "readings" not in ask(view, type="ask", part="gone", row=0, column=0)[0]
    view.clear()
    assert "readings" not in ask(view, type="ask", part="large", dot=[0, 0])[0]
    assert "places" not in ask(view, type="select", part="large", dot=[0, 0])[0]


def test_a_choice_goes_to_the_panel(view):
    answer, _ = ask(view, type="select", places={"query": 3})
    assert view.log["chosen"] == [{"query": 3}]
    assert answer["places"] == {"query": 3}
    answer, _ = ask(view, type="select", part="large", dot=[2, 1])
    assert view.log["chosen"][-1] == answer["places"]


def test_the_table_of_a_large_matrix_follows_a_choice(view):
    ask(view, type="select", places={"query": 200, "key": 100})
    window = view.widget.picture["parts"][0]["window"]
    assert window["start"] == [194, 94]
    values = np.frombuffer(window["values"], np.float32).reshape(12, 12)
    assert values == pytest.approx(view.values[194:206, 94:106])
    hidden = np.frombuffer(window["hidden"], np.uint8).reshape(12, 12)
    assert not hidden.any()
    ask(view, type="select", places={"query": 299, "key": 0})
    assert view.widget.picture["parts"][0]["window"]["start"] == [288, 0]


def test_two_views_of_a_picture_take_one_step(view):
    seen = view._revision
    assert ask(view, type="advance", revision=seen)[0]["more"] is True
    assert ask(view, type="advance", revision=seen)[0]["more"] is True
    assert view.log["steps"] == 1
    assert ask(view, type="advance", revision=view._revision)[0]["more"] is False


def test_a_picture_is_saved_under_a_name(view):
    answer, buffers = ask(view, type="save", kind="png")
    assert answer["name"] == "andrea-panel.png"
    assert buffers == [b"png"]


def test_a_failure_is_told_in_one_line(view, monkeypatch):
    def fail(kind):
        raise ValueError("no\nroom")

    view._save = fail
    monkeypatch.delenv("ANDREA_STRICT", raising=False)
    answer, _ = ask(view, type="save", kind="png")
    assert answer["problem"] == "ValueError: no room"
    monkeypatch.setenv("ANDREA_STRICT", "1")
    with pytest.raises(ValueError, match="room"):
        view._asked(view.widget, {"type": "save", "kind": "png"}, [])
    assert view.log["told"][-1][0]["problem"]


def test_words_are_sent_in_the_language_of_the_panel():
    for number, name in enumerate(("zh-Hant", "en")):
        with language(name):
            view = live.LiveView(select=print, advance=None, save=str.encode)
        assert view.widget.language == name
        assert view.widget.words["live_table"] == LABELS["live_table"][number]
        assert not view.widget.plays
        view.close()


def test_nothing_stays_when_a_view_is_closed():
    def one():
        view = live.LiveView(select=print, advance=None, save=str.encode)
        shown = picture(Matrix("m", np.zeros((2, 2))))
        view.show(shown, lay_out(shown), "")
        view.close()
        assert view.widget.comm is None
        return weakref.ref(view), weakref.ref(view.widget), weakref.ref(shown)

    before = len(widget._instances)
    kept = one()
    gc.collect()
    assert [ref() for ref in kept] == [None, None, None]
    assert len(widget._instances) == before
