"""The scores panel: its state against loops, by hand, and the words and bars made of it."""

import numpy as np
import oracle
import pytest

import andrea_lesson as al
from andrea_lesson.panels import settings
from andrea_lesson.panels.layout import WIDTH, lay_out
from andrea_lesson.panels.printed import PrintedView
from andrea_lesson.panels.scores import _describe, compute, scores_panel

EXAMPLE = settings.EXAMPLE
both_languages = pytest.mark.parametrize("language", ["zh-Hant", "en"])
SETTINGS = [
    {},
    {"T": 1, "d_k": 1, "row": 0, "column": 0},
    {"T": 64, "d_k": 256, "row": 63, "column": 0, "seed": 99},
    {"T": 32, "d_k": 128, "row": 0, "column": 31},
    {"source": EXAMPLE, "T": 6, "d_k": 4},
    {"source": EXAMPLE, "T": 1, "d_k": 4, "row": 0, "column": 0},
    *(
        {
            "T": int(T),
            "d_k": int(rng.integers(1, 257)),
            "row": int(rng.integers(T)),
            "column": int(rng.integers(T)),
            "seed": int(rng.integers(100)),
        }
        for rng in [np.random.default_rng(5)]
        for T in rng.integers(1, 65, size=6)
    ),
]


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch):
    """Drawing takes nearly all the time and is tested elsewhere."""
    monkeypatch.setattr(PrintedView, "show", lambda view, picture, layout, summary: None)


@pytest.fixture
def lax(monkeypatch):
    monkeypatch.delenv("ANDREA_STRICT")


@pytest.fixture
def panel():
    one = scores_panel(view="matplotlib")
    yield one
    one.close()


@pytest.mark.parametrize("values", SETTINGS, ids=str)
def test_state_is_what_loops_give(values):
    state = compute(**values)
    assert state.Q.shape == state.K.shape == (state.T, state.d_k)
    steps = oracle.attention(state.Q, state.K, np.zeros((state.T, 1)))
    allowed = np.ones((state.T, state.T), dtype=bool)
    bounds = oracle.bounds(steps, state.Q, state.K, np.zeros((state.T, 1)), allowed, None, float)
    oracle.assert_close(state.scores, steps.scores, bounds.scores, np.float64)
    oracle.assert_close(state.scaled_scores, steps.scaled_scores, bounds.scaled_scores, np.float64)
    total, products, running = 0.0, [], []
    for q, k in zip(state.Q[state.row].tolist(), state.K[state.column].tolist(), strict=True):
        products.append(q * k)
        total += q * k
        running.append(total)
    np.testing.assert_array_equal(state.products, products)
    np.testing.assert_allclose(state.running, running, rtol=1e-12, atol=1e-12)
    assert state.score == state.scores[state.row, state.column]
    assert state.score == pytest.approx(total, rel=1e-9, abs=1e-9)
    assert state.scaled_score == pytest.approx(total / state.d_k**0.5, rel=1e-9, abs=1e-9)


def test_all_cells_of_a_row_have_bars_on_one_measure():
    for row in range(8):
        pictures = [_describe(compute(row=row, column=column)).parts for column in range(8)]
        for name in ("products", "running"):
            parts = [parts[name] for parts in pictures]
            assert len({(part.low, part.high) for part in parts}) == 1
            for part in parts:
                assert part.low <= part.values.min() <= part.values.max() <= part.high
    state = compute(source=EXAMPLE, T=6, d_k=4)
    assert _describe(state).parts["products"].low == 0.0  # no bar points down


def test_the_cell_of_the_notebook_by_hand():
    al.set_language("en")
    picture = _describe(compute(source=EXAMPLE, T=6, d_k=4, row=5, column=2))
    dot, scaled = picture.formulas
    assert dot == "q₅ · k₂ = 2 × 0 + 1 × 2 + 3 × 1 + 0 × 0 = 5"
    assert scaled.endswith("5 ÷ √4 = 5 ÷ 2 = 2.5")
    np.testing.assert_array_equal(picture.parts["pair"].values, [[2, 1, 3, 0], [0, 2, 1, 0]])
    np.testing.assert_array_equal(picture.parts["products"].values, [0, 2, 3, 0])
    np.testing.assert_array_equal(picture.parts["running"].values, [0, 2, 5, 5])
    assert picture.selected == {"query": 5, "key": 2}
    assert picture.axes["component"].names == ("who", "where", "what", "doing")


def test_a_long_product_shows_few_terms_and_brackets():
    state = compute(d_k=5)
    dot, _ = _describe(state).formulas
    first = state.Q[5, 0], state.K[2, 0]
    assert dot.startswith(f"q₅ · k₂ = {settings.factor(first[0])} × {settings.factor(first[1])} + ")
    assert dot.count("×") == 3
    assert " + … = " in dot
    assert "5" in dot[-6:]
    assert settings.factor(-0.5) == "(−0.5)"
    assert settings.factor(0.5) == "0.5"
    assert "= " + settings.short(state.score) in dot


@both_languages
@pytest.mark.parametrize("large", [False, True])
def test_the_picture_keeps_its_places(language, large):
    al.set_language(language)
    for source, d_k in ((settings.RANDOM, None), (EXAMPLE, 4)):
        layouts = []
        for T in (1, 2, 3, 6):
            for width in [d_k] if d_k else [1, 5, 64, 256]:
                state = compute(source=source, T=T, d_k=width, row=0, column=T - 1)
                picture = _describe(state)
                layouts.append(lay_out(picture, large=large))
                assert len(picture.formulas) == 2
        assert all(layout == layouts[0] for layout in layouts)
        boxes = layouts[0].boxes
        assert boxes["scores"].top == boxes["pair"].top  # side by side
        assert boxes["pair"].left == boxes["products"].left == boxes["running"].left
        assert layouts[0].width <= WIDTH


def test_a_click_on_a_cell_takes_it_apart(panel):
    panel.select({"query": 3, "key": 7, "component": 9})
    assert (panel.controls["row"].value, panel.controls["column"].value) == (3, 7)
    assert (panel.state.row, panel.state.column) == (3, 7)
    assert panel.picture.selected == {"query": 3, "key": 7}


def test_play_goes_through_the_row(panel):
    panel.controls["column"].value = 5
    assert panel.advance()
    assert not panel.advance()
    assert panel.state.column == 7
    assert panel.advance()
    assert (panel.state.row, panel.state.column) == (5, 0)


def test_source_moves_the_limits_and_gives_them_back(panel):
    panel.select({"query": 7, "key": 7})
    panel.controls["source"].value = EXAMPLE
    assert (panel.state.T, panel.state.d_k) == (6, 4)
    assert (panel.state.row, panel.state.column) == (5, 5)
    panel.controls["source"].value = settings.RANDOM
    assert (panel.state.T, panel.state.d_k) == (8, 64)
    panel.controls["T"].value = 1
    assert (panel.state.row, panel.state.column) == (0, 0)
    assert panel.controls["row"].disabled


def test_limits_are_set_in_any_order(lax):
    wanted = {"T": 20, "row": 19, "column": 12, "d_k": 16, "seed": 3}
    rng = np.random.default_rng(0)
    panel = scores_panel(view="matplotlib")
    for _ in range(4):
        names = list(wanted)
        rng.shuffle(names)
        for name in names:
            panel.controls[name].value = wanted[name]
        assert panel.error is None
        assert {name: getattr(panel.state, name) for name in wanted} == wanted
        panel.controls["T"].value = 2
    panel.close()


def test_starting_values():
    panel = scores_panel("example", row=2, column=1, view="matplotlib")
    assert (panel.state.source, panel.state.row, panel.state.column) == (EXAMPLE, 2, 1)
    panel.close()
    panel = scores_panel(T=4, d_k=8, row=3, column=0, seed=7, view="matplotlib", large=True)
    assert (panel.state.T, panel.state.d_k, panel.state.seed, panel.large) == (4, 8, 7, True)
    panel.close()


@both_languages
@pytest.mark.parametrize(
    "changes",
    [{"row": 8}, {"row": -1}, {"column": 8}, {"T": 65}, {"T": 0}, {"d_k": 257}, {"seed": 100}],
    ids=str,
)
def test_bad_settings_are_said_in_a_line_and_forgotten(lax, language, changes):
    al.set_language(language)
    panel = scores_panel(view="matplotlib")
    for name, value in changes.items():
        start = panel.controls[name].value
        panel.controls[name].value = value
        assert str(value).replace("-", "−") in panel.error
        assert "\n" not in panel.error
        assert "Error" not in panel.error
        assert panel.state is None
        assert panel.picture is None
        panel.controls[name].value = start
    assert panel.error is None
    panel.close()


@pytest.mark.parametrize(
    "values", [{"source": "dice"}, {"row": 2.0}, {"column": True}, {"T": 2, "row": 2}], ids=str
)
def test_compute_refuses_what_no_control_offers(values):
    with pytest.raises(settings.SettingError):
        compute(**values)


@both_languages
def test_summary_tells_the_cell(language):
    al.set_language(language)
    panel = scores_panel("example", view="matplotlib")
    token = al.running_example().tokens[2]
    for word in (token, "2.5", "= 2", al.running_example().key_axes[2]):
        assert word in panel.summary
    panel.close()
