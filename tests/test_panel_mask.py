"""The mask panel: weights against the algebra and an oracle, warnings, picture and formulas."""

import numpy as np
import oracle
import pytest
from panel_tools import same, set_all

import andrea_lesson as al
from andrea_lesson import experiments, panels
from andrea_lesson.panels import base, mask, mask_picture, settings
from andrea_lesson.panels.layout import lay_out
from andrea_lesson.panels.settings import short

D_K = 64


@pytest.fixture(autouse=True)
def _panels_closed_afterwards():
    yield
    for panel in list(base._live):
        panel.close()


@pytest.fixture
def lax(monkeypatch):
    """As for a reader: a bad setting is shown, not raised."""
    monkeypatch.delenv("ANDREA_STRICT")


def by_hand(kind, T, values):
    i, j = np.indices((T, T))
    return {
        "full": i >= 0,
        "causal": j <= i,
        "sliding-window": (j <= i) & (j > i - values["window"]),
        "prefix": (j <= i) | (j < values["prefix"]),
        "padding": j < values["length"],
        "documents": (j <= i) & ((j >= values["boundary"]) == (i >= values["boundary"])),
    }[kind]


def scores_of(T, seed, spread):
    Q, K, V = experiments.random_qkv(T, D_K, seed=seed)
    return oracle.attention(Q, K, V).scaled_scores * spread


def picture_of(**setting):
    return mask_picture.describe(mask.compute(**setting), side=153.0)


# -- the state -----------------------------------------------------------------------------------


def test_at_random_settings_set_in_any_order(lax):
    rng = np.random.default_rng(3)
    panel = panels.mask_panel()
    for _ in range(40):
        T = int(rng.integers(1, 65))
        values = {
            "mask": str(rng.choice(settings.MASKS)),
            "T": T,
            "window": int(rng.integers(1, T + 1)),
            "prefix": int(rng.integers(0, T + 1)),
            "length": int(rng.integers(0, T + 1)),
            "boundary": int(rng.integers(0, T + 1)),
            "value": float(rng.choice(mask.VALUES)),
            "precision": str(rng.choice(mask.PRECISIONS)),
            "spread": float(rng.choice(mask.SPREADS)),
            "row": int(rng.integers(0, T)),
            "column": int(rng.integers(0, T)),
            "seed": int(rng.integers(0, 100)),
        }
        set_all(panel, values, rng)
        assert panel.error is None, values
        state = panel.state
        allowed = by_hand(values["mask"], T, values)
        same(state.mask, allowed)
        scores = scores_of(T, values["seed"], values["spread"])
        np.testing.assert_allclose(state.scores, scores, rtol=1e-9, atol=1e-12 * values["spread"])
        expected = experiments.fill_mask(
            state.scores, allowed, values["value"], values["precision"]
        )
        same(state.weights, expected)
        assert state.weights.dtype == values["precision"]
        same(state.row_sums, expected.sum(axis=-1))
        same(state.leaking, ~allowed & (expected > 0))
        same(state.empty, ~allowed.any(axis=-1))
        assert (state.row, state.column) == (values["row"], values["column"])


@pytest.mark.parametrize("T", [1, 8, 32, 64])
@pytest.mark.parametrize("kind", settings.MASKS)
def test_in_double_precision_minus_infinity_gives_what_the_oracle_gives(kind, T):
    values = {"window": 1, "prefix": T, "length": T, "boundary": T // 2}
    state = mask.compute(mask=kind, T=T, row=0, column=T - 1, **values)
    allowed = by_hand(kind, T, values)
    Q, K, V = experiments.random_qkv(T, D_K, seed=6)
    steps = oracle.attention(Q, K, V, allowed)
    np.testing.assert_allclose(state.weights, steps.weights, atol=1e-13)
    np.testing.assert_allclose(state.masked_scores, steps.masked_scores, atol=1e-13)


@pytest.mark.parametrize("precision", mask.PRECISIONS)
@pytest.mark.parametrize("kind", settings.MASKS)
def test_minus_infinity_never_leaks(kind, precision):
    for spread in mask.SPREADS:
        state = mask.compute(mask=kind, precision=precision, spread=spread)
        assert state.leak == 0
        assert not state.leaking.any()
        assert not state.broken.any()
        assert mask_picture.warn(state) is None
        np.testing.assert_allclose(state.row_sums, 1, atol=1e-2)


@pytest.mark.parametrize("precision", mask.PRECISIONS)
@pytest.mark.parametrize("value", mask.VALUES)
def test_the_mask_value_is_shown_as_the_precision_holds_it(value, precision):
    state = mask.compute(value=value, precision=precision)
    assert (state.masked_scores[~state.mask] == state.filled).all()
    too_large = (value, precision) == (-1e9, "float16")
    assert state.filled == (-np.inf if too_large else value)
    title = mask_picture.describe(state, side=153.0).parts["masked_scores"].title
    assert title.endswith("−∞") is (too_large or value == -np.inf)


def test_zero_is_no_mask():
    panel = panels.mask_panel()
    panel.controls["value"].value = 0.0
    assert panel.state.leaking[~panel.state.mask].all()
    assert panel.warning


@pytest.mark.parametrize(
    "setting",
    [
        {"mask": "diagonal"},
        {"value": -1e5},
        {"precision": "float8"},
        {"spread": 2.0},
        {"T": 0},
        {"T": 65},
        {"T": 8.0},
        {"T": True},
        {"row": 8},
        {"row": -1},
        {"column": 8},
        {"column": 1.5},
        {"seed": 100},
        {"mask": "padding", "length": 9},
        {"mask": "documents", "boundary": 9},
        {"mask": "prefix", "prefix": -1},
        {"mask": "sliding-window", "window": 0},
    ],
)
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_compute_refuses_in_one_line_what_no_control_offers(setting, language):
    al.set_language(language)
    with pytest.raises(settings.SettingError) as refused:
        mask.compute(**setting)
    assert "\n" not in str(refused.value)
    assert str(refused.value)[-1] in "。."


def test_a_kind_to_start_with():
    panel = panels.mask_panel("padding")
    assert panel.state.mask_kind == panel.controls["mask"].value == "padding"
    assert not panel.controls["length"].disabled
    with pytest.raises(settings.SettingError):
        panels.mask_panel("diagonal")


# -- warnings and the sentence -------------------------------------------------------------------


def test_warning_names_a_leak():
    panel = panels.mask_panel()
    panel.controls["spread"].value = 1e4
    assert panel.warning is None
    panel.controls["value"].value = -1e4
    state = panel.state
    assert state.leak == experiments.largest_leak(state.weights, state.mask) > 0
    i, j = np.argwhere(state.leaking)[0]
    assert not state.mask[i, j]
    assert f"查詢 {i} " in panel.warning
    assert "−1e4" in panel.warning
    assert panel.warning in panel._warning_line.value
    panel.controls["value"].value = -np.inf
    assert panel.warning is None
    assert panel._warning_line.value == ""


@pytest.mark.parametrize(
    ("value", "precision", "words"),
    [
        (-1e9, "float32", "real attention"),
        (-1e9, "float16", "NaN"),
        (-np.inf, "float64", "NaN"),
        (0.0, "float64", "real attention"),
    ],
)
def test_warning_names_rows_without_any_key(value, precision, words):
    al.set_language("en")
    panel = panels.mask_panel()
    for name, setting in (("value", value), ("precision", precision), ("mask", "padding")):
        panel.controls[name].value = setting
    panel.controls["length"].value = 0
    assert words in panel.warning
    assert "No key is visible" in panel.warning
    weights = panel.state.weights
    if words == "NaN":
        assert np.isnan(weights).all()
        assert "NaN" in panel.picture.formulas[3]
    else:
        np.testing.assert_allclose(weights, 1 / 8)


def test_summary_says_what_was_asked_for_and_what_came():
    al.set_language("en")
    state = mask.compute(spread=10.0)
    assert f"of 10 (these: {state.scores.std():.3g})" in mask_picture.summarise(state)


# -- the picture ---------------------------------------------------------------------------------


@pytest.mark.parametrize("value", mask.VALUES)
def test_a_score_that_stays_keeps_its_colour(value):
    for seed in range(6):  # in some of them the largest score is hidden
        parts = picture_of(value=value, seed=seed).parts
        assert parts["scores"].limit == parts["masked_scores"].limit
        assert parts["scores"].limit >= np.abs(parts["scores"].values).max()
    name = mask.VALUE_NAMES[value]
    assert parts["masked_scores"].hidden_words == f"看不到的格＝{name}"
    assert parts["masked_scores"].title.endswith(f"＝{name}")


def test_leaks_and_nan_are_framed_or_seen_and_never_hatched_away():
    leaking = mask.compute(value=0.0)
    weights = mask_picture.describe(leaking, side=153.0).parts["weights"]
    same(weights.framed, ~leaking.mask)
    assert weights.warns
    assert not weights.hidden.any()
    broken = picture_of(mask="padding", length=0).parts["weights"]
    assert np.isnan(broken.values).all()
    assert not broken.hidden.any()
    sound = picture_of().parts["weights"]
    same(sound.hidden, ~al.causal_mask(8))
    assert not sound.framed.any()


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_all_parts_stand_side_by_side_and_nothing_moves(large, language):
    al.set_language(language)
    panel = panels.mask_panel(large=large)
    first = lay_out(panel.picture, large=large)
    assert len({box.top for box in first.boxes.values()}) == 1
    for kind in settings.MASKS:
        for value in mask.VALUES:
            for T in (1, 9, 64):
                panel.controls["mask"].value = kind
                panel.controls["value"].value = value
                panel.controls["T"].value = T
                assert lay_out(panel.picture, large=large) == first


def test_a_click_chooses_the_cell():
    panel = panels.mask_panel()
    panel.select({"query": 5, "key": 2})
    assert (panel.state.row, panel.state.column) == (5, 2)
    assert panel.picture.selected == {"query": 5, "key": 2}
    panel.controls["T"].value = 3
    assert panel.picture.selected == {"query": 2, "key": 2}
    assert panel.error is None


# -- the formulas --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", settings.MASKS)
def test_formulas_follow_the_cell_from_score_to_weight(kind):
    al.set_language("en")
    rng = np.random.default_rng(5)
    parameters = {"window": 3, "prefix": 3, "length": 5, "boundary": 4}
    Q, K, _ = experiments.random_qkv(8, D_K, seed=6)
    for _ in range(20):
        i, j = (int(place) for place in rng.integers(0, 8, 2))
        value, spread = float(rng.choice(mask.VALUES)), float(rng.choice([1, 10]))
        state = mask.compute(mask=kind, row=i, column=j, value=value, spread=spread, **parameters)
        score, rule, kept, weight, total = mask_picture.describe(state, side=153.0).formulas
        product = sum(q * k for q, k in zip(Q[i].tolist(), K[j].tolist(), strict=True))
        shown = f"= {short(product)} ÷ 8 × {spread:.0f} = {short(product / 8 * spread)}"
        assert score.endswith(shown)
        allowed = by_hand(kind, 8, parameters)[i]
        assert (" = True:" in rule, " = False:" in rule) == (allowed[j], not allowed[j])
        assert ("kept" in kept) == allowed[j]
        row = [
            Q[i] @ K[k] / 8 * spread if allowed[k] else value for k in range(8)
        ]  # in double precision
        exponentials = np.exp(np.array(row) - max(row))
        weights = exponentials / exponentials.sum()
        said = f"÷ {short(exponentials.sum())} = {short(weights[j])} (without"
        assert said in weight
        bare = oracle.softmax_of_row([Q[i] @ K[k] / 8 * spread for k in range(8)])
        assert weight.endswith(f"(without a mask: {short(bare[j])})")
        seen, hidden = weights[allowed].sum(), weights[~allowed].sum()
        assert f"visible keys {short(seen)} + hidden keys {short(hidden)} = " in total


def test_the_rule_of_each_kind_is_said_with_its_numbers():
    al.set_language("en")
    said = {kind: picture_of(mask=kind, row=4, column=2).formulas[1] for kind in settings.MASKS}
    assert said["causal"] == "mask[4, 2] = (2 ≤ 4) = True: may attend"
    assert "(4 − 3 < 2 ≤ 4)" in said["sliding-window"]
    assert "(2 ≤ 4 or 2 < 3)" in said["prefix"]
    assert "(2 < 5)" in said["padding"]
    assert "(2 ≤ 4 and document 1 = document 2) = False" in said["documents"]


def test_the_number_of_formulas_never_changes():
    counts = {
        len(picture_of(mask=kind, value=value, column=column).formulas)
        for kind in settings.MASKS
        for value in mask.VALUES
        for column in (0, 7)
    }
    assert len(counts) == 1
