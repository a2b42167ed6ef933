"""The qkv panel: projections against loops, the columns of a head, and a split that fails."""

import numpy as np
import oracle
import pytest

import andrea_lesson as al
from andrea_lesson.panels import settings
from andrea_lesson.panels.layout import WIDTH, lay_out
from andrea_lesson.panels.printed import PrintedView
from andrea_lesson.panels.qkv import qkv_panel
from andrea_lesson.panels.qkv_picture import describe
from andrea_lesson.panels.qkv_state import D_MODELS, MOST_DRAWN, TOKENS, compute, sample
from andrea_lesson.panels.settings import EXAMPLE, RANDOM, SettingError

both_languages = pytest.mark.parametrize("language", ["zh-Hant", "en"])


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch):
    """Drawing takes nearly all the time and is tested elsewhere."""
    monkeypatch.setattr(PrintedView, "show", lambda view, picture, layout, summary: None)


@pytest.fixture
def lax(monkeypatch):
    monkeypatch.delenv("ANDREA_STRICT")


@pytest.fixture
def panel():
    one = qkv_panel("random", view="matplotlib")
    yield one
    one.close()


def random(**values):
    return compute(source=RANDOM, **values)


SETTINGS = [
    {},
    {"d_model": 12, "n_head": 1},
    {"d_model": 12, "n_head": 12, "head": 11, "seed": 99},
    {"d_model": 100, "n_head": 5, "head": 4, "row": 0},
    {"d_model": 1536, "n_head": 24, "head": 23, "seed": 3},
    {"d_model": 384, "n_head": 8, "head": 2},
    {"d_model": 1024, "n_head": 16, "head": 9},
    {"d_model": 1152, "n_head": 18, "head": 17},
]


@pytest.mark.parametrize("values", SETTINGS, ids=str)
def test_random_projections_are_what_loops_give(values):
    state = random(**values)
    assert state.X.shape == (TOKENS, state.d_model)
    assert state.d_k * state.n_head == state.d_model
    assert len(state.drawn) == min(state.d_model, MOST_DRAWN)
    for W, array in zip(state.W, state.projected, strict=True):
        assert W.shape == (state.d_model, len(state.drawn))
        some = [0, len(state.drawn) // 2, len(state.drawn) - 1]
        expected = oracle.project(state.X, W[:, some])
        bound = oracle.product_bound(state.X, W[:, some], np.float64)
        oracle.assert_close(array[:, some], expected, bound, np.float64)
    if state.d_model > 500:  # variance 1 in, variance 1 out
        assert np.std(state.X) == pytest.approx(1, abs=0.05)
        assert np.std(state.projected) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("values", SETTINGS, ids=str)
def test_the_columns_of_a_head_are_lit(values):
    state = random(**values)
    mine = set(range(state.head * state.d_k, (state.head + 1) * state.d_k))
    lit = [place for place, column in enumerate(state.drawn) if int(column) in mine]
    assert lit
    parts = describe(state).parts
    for name in ("W_Q", "W_K", "W_V", "Q", "K", "V"):
        assert list(parts[name].lit_columns) == lit
        assert parts[name].lit_rows == ()  # all of x goes in
    assert parts["X"].lit_columns == ()


def test_every_column_belongs_to_one_head():
    for d_model, n_head in ((768, 12), (1536, 24), (100, 5), (1152, 18)):
        lit = [random(d_model=d_model, n_head=n_head, head=h).mine for h in range(n_head)]
        np.testing.assert_array_equal(np.sum(lit, axis=0), 1)


def test_andrea_is_named_and_heads_change_no_number():
    for model in al.ANDREA_12M, al.ANDREA_120M, al.ANDREA_480M:
        state = random(d_model=model.d_model, n_head=model.n_head)
        assert state.d_k == model.d_k
        assert f"= {model.d_k}（{model.name}）" in describe(state).formulas[0]
        assert model.d_model in D_MODELS
    assert "ANDREA" not in describe(random(n_head=16)).formulas[0]
    few, many = random(n_head=2), random(n_head=24, head=7)
    for one, other in zip((*few.W, *few.projected), (*many.W, *many.projected), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_sample_is_even_and_within():
    for width in (1, 12, 96, 97, 191, 192, 768, 1536):
        places = sample(width)
        assert len(places) == min(width, MOST_DRAWN)
        assert places[0] == 0
        assert places[-1] < width
        steps = np.diff(places)
        assert len(steps) == 0 or steps.max() - steps.min() <= 1
        assert width - places[-1] <= -(-width // len(places))


@pytest.mark.parametrize("row", range(6))
def test_the_running_example_is_what_loops_give(row):
    example = al.running_example()
    state = compute(row=row)
    parts = describe(state).parts
    np.testing.assert_array_equal(parts["x"].values, example.X[row])
    for name, W in (("Q", example.W_Q), ("K", example.W_K), ("V", example.W_V)):
        np.testing.assert_array_equal(parts[f"W_{name}"].values, W)
        np.testing.assert_array_equal(parts[name].values, oracle.project(example.X, W))
    assert describe(state).selected == {"token": row, "key": 2}


def test_formulas_of_the_running_example_by_hand():
    al.set_language("en")
    assert describe(compute(row=5, component=0)).formulas == (
        "q₅ = x₅ W_Q = 1 × (2, 1, 0, 0) + 1 × (0, 0, 3, 0) = (2, 1, 3, 0)",
        "k₅ = x₅ W_K = 1 × (0, 0, 0, 1) + 1 × (0, 0, 0, 2) = (0, 0, 0, 3)",
        "v₅ = x₅ W_V = 1 × (0, 0, 1) + 1 × (0, 0, 1) = (0, 0, 2)",
        "q₅[who] = 0 × 0 + 0 × 0 + 0 × 0 + 1 × 2 + 1 × 0 = 2",
    )


def test_formulas_of_random_matrices():
    al.set_language("en")
    state = random(d_model=768, n_head=12, head=3)
    width, columns, one, size = describe(state).formulas
    assert width == "d_k = d_model ÷ n_head = 768 ÷ 12 = 64 (ANDREA-120M)"
    assert "768 × 2304" in columns
    assert "192…255" in columns
    assert "768 × 64" in size
    assert one.startswith("q₅[192] = ")
    assert "768 terms" in one
    place = list(state.drawn).index(192)
    assert f"= {settings.short(float(state.X[5] @ state.W[0][:, place]))} (" in one
    titles = [describe(state).parts[name].title for name in ("W_Q", "W_K", "W_V")]
    for title, first, last in zip(titles, (192, 960, 1728), (255, 1023, 1791), strict=True):
        assert f"{first}…{last}" in title


# -- a split that does not divide ----------------------------------------------------------------


@both_languages
@pytest.mark.parametrize(
    ("d_model", "n_head", "nearest"),
    [
        (768, 13, ["12"]),
        (768, 14, ["12", "16"]),
        (768, 7, ["6", "8"]),
        (12, 24, ["12"]),
        (1024, 12, ["8", "16"]),
        (100, 3, ["2", "4"]),
    ],
)
def test_a_bad_split_says_what_would_fit(language, d_model, n_head, nearest):
    al.set_language(language)
    with pytest.raises(SettingError) as caught:
        random(d_model=d_model, n_head=n_head)
    words = str(caught.value)
    for number in (d_model, n_head, *divmod(d_model, n_head)):
        assert str(number) in words
    assert "\n" not in words
    last = max(words.rfind("是 "), words.rfind("is "))
    assert [
        n for n in words[last:].replace("。", ".").replace(".", " ").split() if n.isdigit()
    ] == (nearest)


def test_a_bad_split_leaves_no_picture_until_it_is_mended(lax, panel):
    panel.controls["n_head"].value = 13
    assert "13" in panel.error
    assert panel.state is None
    assert panel.picture is None
    panel.controls["n_head"].value = 12
    assert panel.error is None
    assert panel.state.d_k == 64


@pytest.mark.parametrize(
    "values",
    [
        {"row": 6},
        {"row": -1},
        {"d_model": 11},
        {"d_model": 1537},
        {"d_model": 768.0},
        {"n_head": 0},
        {"n_head": 25},
        {"head": 12},
        {"head": -1},
        {"seed": 100},
        {"source": "dice"},
        {"source": EXAMPLE, "component": 4},
        {"source": EXAMPLE, "row": True},
    ],
    ids=str,
)
def test_compute_refuses_what_no_control_offers(values):
    with pytest.raises(SettingError):
        compute(**({"source": RANDOM} | values))


# -- the panel -----------------------------------------------------------------------------------


def test_the_example_passes_over_the_sizes():
    panel = qkv_panel(view="matplotlib")
    assert panel.state.source == EXAMPLE
    greyed = {name for name, control in panel.controls.items() if control.disabled}
    assert greyed == {"d_model", "n_head", "head", "seed"}
    panel.controls["source"].value = RANDOM
    assert {name for name, c in panel.controls.items() if c.disabled} == {"component"}
    assert (panel.state.d_model, panel.state.n_head) == (768, 12)
    panel.controls["n_head"].value = 1
    assert panel.controls["head"].disabled
    assert panel.state.mine.all()
    panel.close()


def test_a_click_chooses_a_token_and_a_head_or_a_component(panel):
    panel.select({"token": 2, "column": 95})
    assert (panel.state.row, panel.state.head) == (2, 11)
    panel.select({"model": 3, "column": 0})
    assert (panel.state.row, panel.state.head) == (2, 0)
    panel.controls["source"].value = EXAMPLE
    panel.select({"token": 4, "key": 1})
    assert (panel.state.row, panel.state.component) == (4, 1)
    assert panel.controls["head"].value == 0


def test_play_goes_through_heads_or_tokens(panel):
    panel.controls["n_head"].value = 3
    assert panel.advance()
    assert not panel.advance()
    assert panel.state.head == 2
    assert panel.advance()
    assert (panel.state.head, panel.state.row) == (0, 5)
    panel.controls["source"].value = EXAMPLE
    panel.advance()
    assert panel.state.row == 0


def test_fewer_heads_bring_the_head_along(panel):
    panel.controls["head"].value = 11
    panel.controls["n_head"].value = 4
    assert panel.state.head == 3


def test_settings_come_in_any_order(lax):
    wanted = {"d_model": 384, "n_head": 6, "head": 5, "row": 1, "seed": 4}
    rng = np.random.default_rng(1)
    panel = qkv_panel("random", view="matplotlib")
    for _ in range(4):
        names = list(wanted)
        rng.shuffle(names)
        for name in names:
            panel.controls[name].value = wanted[name]
        assert panel.error is None
        assert {name: getattr(panel.state, name) for name in wanted} == wanted
        panel.controls["d_model"].value = 768
        panel.controls["n_head"].value = 2
    panel.close()


def test_starting_values():
    panel = qkv_panel("random", d_model=384, n_head=8, head=3, row=1, seed=2, view="matplotlib")
    state = panel.state
    assert (state.d_model, state.n_head, state.head, state.row, state.seed) == (384, 8, 3, 1, 2)
    panel.close()


@both_languages
@pytest.mark.parametrize("large", [False, True])
def test_the_picture_keeps_its_places(language, large):
    al.set_language(language)
    example = [describe(compute(row=row, component=row % 4)) for row in range(6)]
    others = [describe(random(**values)) for values in SETTINGS]
    for pictures in (example, others):
        layouts = [lay_out(picture, large=large) for picture in pictures]
        assert all(layout == layouts[0] for layout in layouts)
        assert {len(picture.formulas) for picture in pictures} == {4}
        boxes = layouts[0].boxes
        for above, below in (("x", "X"), ("W_Q", "Q"), ("W_K", "K"), ("W_V", "V")):
            assert boxes[above].left == boxes[below].left
        for name in ("W_Q", "W_K", "W_V"):
            assert boxes[name].top == boxes["x"].top  # rows stand beside the components of x
            assert boxes[name].height == boxes["x"].height
        assert layouts[0].width <= WIDTH


def test_cached_arrays_cannot_be_changed():
    state = random()
    for array in (state.X, *state.W, *state.projected):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


@both_languages
def test_summary_and_caption_say_what_is_random(language):
    al.set_language(language)
    word = "隨機" if language == "zh-Hant" else "Random"
    panel = qkv_panel("random", head=3, view="matplotlib")
    assert panel.summary.startswith(word)
    for number in ("768", "12", "64", "192", "255"):
        assert number in panel.summary
    assert "96" in panel.picture.caption  # of 768 rows and columns
    panel.close()
    panel = qkv_panel(view="matplotlib")
    assert "(2, 1, 3, 0)" in panel.summary
    assert al.running_example().tokens[5] in panel.summary
    panel.close()
