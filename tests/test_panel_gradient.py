"""The gradient panel: its state against finite differences and by hand, and its words."""

import numpy as np
import oracle
import pytest

import andrea_lesson as al
from andrea_lesson.panels import settings
from andrea_lesson.panels.gradient import MOST, _describe, compute, gradient_panel
from andrea_lesson.panels.layout import WIDTH, lay_out
from andrea_lesson.panels.printed import PrintedView
from andrea_lesson.panels.source import vectors

EXAMPLE = settings.EXAMPLE
both_languages = pytest.mark.parametrize("language", ["zh-Hant", "en"])
SETTINGS = [
    {},
    {"scaled": False},
    {"T": 1, "d_k": 1, "row": 0, "target": 0},
    {"T": 64, "d_k": 256, "row": 63, "target": 0, "seed": 99},
    {"T": 32, "d_k": 128, "row": 0, "target": 31, "scaled": False},
    {"source": EXAMPLE, "T": 6, "d_k": 4, "row": 5, "target": 2},
    *(
        {
            "T": int(T),
            "d_k": int(rng.integers(1, 257)),
            "row": int(rng.integers(T)),
            "target": int(rng.integers(T)),
            "seed": int(rng.integers(100)),
            "scaled": bool(rng.integers(2)),
        }
        for rng in [np.random.default_rng(6)]
        for T in rng.integers(1, 65, size=5)
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
    one = gradient_panel(view="matplotlib")
    yield one
    one.close()


def weights_of(scaled_scores):
    """Causal softmax of each row, by the oracle."""
    T = len(scaled_scores)
    weights = np.zeros((T, T))
    for i in range(T):
        weights[i, : i + 1] = oracle.softmax_of_row(scaled_scores[i, : i + 1].tolist())
    return weights


@pytest.mark.parametrize("values", SETTINGS, ids=str)
def test_the_gradient_is_what_finite_differences_give(values):
    state = compute(**values)
    Q, K, _, _ = vectors(state.source, state.T, state.d_k, state.seed)
    scaled_scores = Q @ K.T * (1 / np.sqrt(state.d_k) if state.scaled else 1.0)
    np.testing.assert_allclose(state.weights, weights_of(scaled_scores), rtol=1e-9, atol=1e-12)

    def loss(scores):
        return -weights_of(scores)[:, state.target].sum()

    rng = np.random.default_rng(0)
    for _ in range(4):  # in random directions
        step = 1e-5 * rng.standard_normal((state.T, state.T))
        moved = (loss(scaled_scores + step) - loss(scaled_scores - step)) / 2
        assert moved == pytest.approx((state.dscaled_scores * step).sum(), rel=1e-6, abs=1e-12)
    np.testing.assert_array_equal(state.dscores, state.dscaled_scores * state.scale)
    assert not state.dscaled_scores[~state.allowed].any()
    p = state.weights[:, state.target]
    np.testing.assert_allclose(state.pull, p * (1 - p), rtol=1e-9, atol=1e-15)
    assert state.pulled == sum(one > 0.1 / state.T for one in p * (1 - p))
    assert state.seeing == state.T - state.target
    assert state.pull.max() <= MOST


def test_the_only_score_of_row_0_gets_exactly_nothing():
    state = compute(row=0, target=0)
    assert state.weights[0, 0] == 1.0
    assert state.dscaled_scores[0, 0] == 0.0


def test_a_saturated_row_gets_none_and_a_scaled_one_does():
    raw, scaled = compute(scaled=False, d_k=256), compute(d_k=256)
    assert raw.pulled < scaled.pulled
    saturated = raw.weights.max(axis=-1) > 1 - 1e-9
    assert saturated[1:].any()
    assert np.abs(raw.dscaled_scores[saturated]).max() < 1e-8


def test_the_example_by_hand():
    al.set_language("en")
    state = compute(source=EXAMPLE, T=6, d_k=4, row=5, target=2)
    first, second = _describe(state).formulas
    p = state.weights[5, 2]
    assert f"p = {settings.short(p)}" in first
    assert first.endswith(settings.short(-p * (1 - p)))
    assert second.endswith(settings.short(-p * (1 - p) / 2))


def test_the_picture_shows_what_the_state_holds():
    al.set_language("en")
    state = compute(row=12, target=4)
    picture = _describe(state)
    weights, gradient, pull = (picture.parts[n] for n in ("weights", "dscaled_scores", "pull"))
    for part, values in ((weights, state.weights), (gradient, state.dscaled_scores)):
        np.testing.assert_array_equal(part.values, values)
        np.testing.assert_array_equal(part.hidden, ~np.tri(16, dtype=bool))
    np.testing.assert_array_equal(pull.values, state.pull)
    np.testing.assert_array_equal(pull.hidden, np.arange(16) < 4)  # who sees key 4
    assert (pull.low, pull.high, gradient.limit) == (0, 0.25, 0.25)
    assert picture.selected == {"query": 12, "key": 4}
    assert picture.axes["query"].title == al.label("rows_queries")
    assert picture.axes["key"].title == al.label("columns_keys")


@pytest.mark.parametrize(("scaled", "name"), [(True, "gradient_scaled"), (False, "gradient_raw")])
def test_what_the_scale_makes_of_the_gradient_is_written_out(scaled, name):
    state = compute(row=12, target=4, d_k=100, scaled=scaled)
    gradient = state.dscaled_scores[12, 4]
    assert _describe(state).formulas[1] == al.label(
        name,
        gradient=settings.factor(gradient),
        d_k=100,
        root="10",
        dscore=settings.short(gradient / 10 if scaled else gradient),
    )


def test_a_row_that_cannot_see_the_target_is_told_so():
    al.set_language("en")
    first, second = _describe(compute(row=1, target=4)).formulas
    assert "cannot see key 4" in first
    assert second.endswith("= 0")


@both_languages
@pytest.mark.parametrize("large", [False, True])
def test_the_picture_keeps_its_places(language, large):
    al.set_language(language)
    for source, widths in ((settings.RANDOM, (1, 5, 64, 256)), (EXAMPLE, (4,))):
        layouts = []
        for T in (1, 2, 6):
            for d_k in widths:
                for scaled in (False, True):
                    state = compute(source=source, T=T, d_k=d_k, row=0, target=T - 1, scaled=scaled)
                    picture = _describe(state)
                    layouts.append(lay_out(picture, large=large))
                    assert len(picture.formulas) == 2
        assert all(layout == layouts[0] for layout in layouts)
        boxes = layouts[0].boxes
        assert boxes["weights"].top == boxes["dscaled_scores"].top == boxes["pull"].top
        assert layouts[0].width <= WIDTH


def test_a_click_chooses_row_and_target(panel):
    panel.select({"query": 9, "key": 7})
    assert (panel.controls["row"].value, panel.controls["target"].value) == (9, 7)
    assert (panel.state.row, panel.state.target) == (9, 7)


def test_source_moves_the_limits_and_gives_them_back(panel):
    panel.controls["source"].value = EXAMPLE
    assert (panel.state.T, panel.state.d_k, panel.state.row) == (6, 4, 5)
    panel.controls["source"].value = settings.RANDOM
    assert (panel.state.T, panel.state.d_k) == (16, 64)
    panel.controls["T"].value = 1
    assert (panel.state.row, panel.state.target) == (0, 0)
    assert panel.controls["target"].disabled


def test_limits_are_set_in_any_order(lax):
    wanted = {"T": 20, "row": 19, "target": 12, "d_k": 16, "seed": 3}
    rng = np.random.default_rng(0)
    panel = gradient_panel(view="matplotlib")
    for _ in range(4):
        names = list(wanted)
        rng.shuffle(names)
        for name in names:
            panel.controls[name].value = wanted[name]
        assert panel.error is None
        assert {name: getattr(panel.state, name) for name in wanted} == wanted
        panel.controls["T"].value = 2
    panel.close()


@both_languages
@pytest.mark.parametrize(
    "changes", [{"row": 16}, {"row": -1}, {"target": 16}, {"T": 65}, {"d_k": 0}], ids=str
)
def test_bad_settings_are_said_in_a_line_and_forgotten(lax, language, changes):
    al.set_language(language)
    panel = gradient_panel(view="matplotlib")
    for name, value in changes.items():
        start = panel.controls[name].value
        panel.controls[name].value = value
        assert str(value).replace("-", "−") in panel.error
        assert "\n" not in panel.error
        assert panel.state is None
        panel.controls[name].value = start
    assert panel.error is None
    panel.close()


@pytest.mark.parametrize(
    "values",
    [
        {"source": "dice"},
        {"row": 2.0},
        {"row": 16},
        {"target": 16},
        {"target": True},
        {"scaled": 2},
    ],
    ids=str,
)
def test_compute_refuses_what_no_control_offers(values):
    with pytest.raises(settings.SettingError):
        compute(**values)


@both_languages
def test_summary_tells_how_many_are_pulled(language):
    al.set_language(language)
    panel = gradient_panel(scaled=False, view="matplotlib")
    state = panel.state
    for words in (f" {state.seeing} ", f" {state.pulled} ", settings.short(0.1 / state.T)):
        assert words in panel.summary
    assert al.label("gradient_without") in panel.summary
    panel.controls["scaled"].value = True
    assert al.label("gradient_with") in panel.summary
    state = panel.state
    assert panel.summary == al.label(
        "gradient_summary",
        source=al.label("source_random"),
        T=16,
        d_k=64,
        scaling=al.label("gradient_with"),
        target=4,
        seeing=12,
        pulled=state.pulled,
        idle=12 - state.pulled,
        limit=settings.short(0.1 / 16),
    )
    panel.close()


def test_how_it_starts_is_up_to_the_caller():
    wanted = {"T": 9, "d_k": 5, "scaled": False, "row": 7, "target": 2, "seed": 6}
    panel = gradient_panel(**wanted, view="matplotlib")
    assert {name: getattr(panel.state, name) for name in wanted} == wanted
    panel.close()


def test_the_row_stays_the_last_and_the_target_where_it_is():
    panel = gradient_panel(view="matplotlib")
    panel.controls["T"].value = 24
    assert (panel.state.row, panel.state.target) == (23, 4)
    panel.controls["target"].value = 23
    panel.controls["T"].value = 30
    assert (panel.state.row, panel.state.target) == (29, 23)
    panel.controls["row"].value = 7
    panel.controls["T"].value = 26
    assert (panel.state.row, panel.state.target) == (7, 23)
    panel.close()


def test_a_row_that_was_asked_for_stays_where_it_is():
    panel = gradient_panel(row=9, view="matplotlib")
    panel.controls["T"].value = 24
    assert panel.state.row == 9
    panel.close()
