"""The scaling panel: its state against plain computation, its picture, and its settings."""

import dataclasses
import re
import time

import numpy as np
import pytest
from panel_tools import same, set_all

import andrea_lesson as al
from andrea_lesson import experiments, panels, random_scores
from andrea_lesson.panels import base, scaling, scaling_picture, settings
from andrea_lesson.panels.layout import lay_out
from andrea_lesson.panels.picture import Chart

NAMES = ("std", "scores", "row", "key_grid", "keys", "match")


@pytest.fixture(autouse=True)
def _panels_closed_afterwards():
    yield
    for panel in list(base._live):
        panel.close()


@pytest.fixture
def lax(monkeypatch):
    """As for a reader: a bad setting is shown, not raised."""
    monkeypatch.delenv("ANDREA_STRICT")


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def entropy(weights):
    return -np.sum(weights * np.log(np.maximum(weights, 1e-300)), axis=-1)


def divided_by(state):
    return {
        "none": 1.0,
        "sqrt_d_k": state.d_k**0.5,
        "d_k": state.d_k,
        "sqrt_d_model": state.d_model**0.5,
    }[state.divisor]


def check(state):
    """Everything at this d_k and T against float64 vectors cut to d_k components."""
    Q, K = (x[:, : state.d_k].astype(float) for x in random_scores._random_vectors(state.seed))
    unit = state.components == "unit-vectors"
    if unit:
        Q, K = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (Q, K))
    if state.components == "any":
        Q, K = state.sigma * Q, state.sigma * K
    else:
        assert state.sigma == 1
    divisor = divided_by(state)
    assert state.divisor_value == pytest.approx(divisor)
    scores = Q @ K.T / divisor
    T, close = state.T, {"rtol": 2e-3, "atol": 2e-5 * np.abs(scores).max()}
    np.testing.assert_allclose(state.scores, scores.ravel(), **close)
    np.testing.assert_allclose(state.row, scores[0, :T], **close)
    np.testing.assert_allclose(state.weights, softmax(state.row), rtol=1e-10)
    assert state.effective_keys == pytest.approx(np.exp(entropy(state.weights)), rel=1e-9)
    assert state.std_here == pytest.approx(scores.std(), rel=1e-3)
    spread = 1 / np.sqrt(state.d_k) if unit else state.sigma**2 * np.sqrt(state.d_k)
    assert state.predicted_std_here == pytest.approx(spread / divisor)
    error = 0.5 * np.sqrt(2 / state.d_k / 64 + 2 / 1024)  # 64 queries, 1024 keys
    assert abs(state.std_here / state.predicted_std_here - 1) < 5 * error
    keys = np.exp(np.median(entropy(softmax(scores[:, :T]))))
    assert state.keys_here == pytest.approx(keys, rel=1e-2)
    itself = (Q * Q).sum(axis=-1) / divisor
    matched = np.median(softmax(np.column_stack([itself, scores[:, 1:T]]))[:, 0])
    assert state.match_here == pytest.approx(matched, rel=1e-2, abs=1e-6)
    if state.predicted_std_here <= 1 + 1e-9:
        s, m = state.predicted_std_here, (1 if unit else state.sigma**2 * state.d_k) / divisor
        assert state.match_score_here == pytest.approx(m)
        assert state.predicted_keys_here == pytest.approx(T * np.exp(-(s**2) / 2))
        weight = 1 / (1 + (T - 1) * np.exp(s**2 / 2 - m))
        assert state.predicted_match_here == pytest.approx(weight)
    else:
        assert np.isnan([state.predicted_keys_here, state.predicted_match_here]).all()
    if state.d_k in state.widths:
        place = state.widths.index(state.d_k)
        for name in ("std", "predicted_std", "keys", "predicted_keys", "match", "predicted_match"):
            one, here = getattr(state, name)[place], getattr(state, f"{name}_here")
            assert one == pytest.approx(here, rel=1e-4, nan_ok=True)
        if T in state.lengths:
            grid = state.key_grid[state.lengths.index(T), place]
            assert grid == pytest.approx(state.keys_here)


# -- what is on offer ----------------------------------------------------------------------------


def test_widths_and_lengths_on_offer():
    controls = panels.scaling_panel().controls
    widths = [value for _, value in controls["d_k"].options]
    assert (widths[0], widths[-1]) == (1, 4096)
    assert {12, 32, 64, 128, 256, 4096} <= set(widths)
    assert sum(64 <= width < 128 for width in widths) == 8
    lengths = [value for _, value in controls["T"].options]
    assert (lengths[0], lengths[-1]) == (2, 1024)
    assert {16, 128, 1024} <= set(lengths)
    assert [value for _, value in controls["d_model"].options] == [384, 768, 1536]
    assert controls["sigma"].value == 1


def test_only_what_has_an_effect_can_be_moved():
    controls = panels.scaling_panel().controls
    assert controls["d_model"].disabled
    assert controls["sigma"].disabled
    controls["divisor"].value = "sqrt_d_model"
    assert not controls["d_model"].disabled
    assert controls["sigma"].disabled
    controls["components"].value = "any"
    controls["divisor"].value = "d_k"
    assert controls["d_model"].disabled
    assert not controls["sigma"].disabled


# -- the state -----------------------------------------------------------------------------------


def test_the_panel_by_default():
    state = panels.scaling_panel().state
    assert (state.d_k, state.T, state.divisor, state.seed) == (64, 128, "none", 0)
    check(state)
    assert state.predicted_std_here == 8


@pytest.mark.parametrize("components", scaling.COMPONENTS)
@pytest.mark.parametrize("divisor", experiments.DIVISORS)
def test_ends_and_middle_of_d_k_and_T(components, divisor):
    for d_k, T in ((1, 2), (1, 1024), (64, 128), (4096, 2), (4096, 1024)):
        setting = {"components": components, "divisor": divisor, "sigma": 0.7, "d_model": 384}
        check(scaling.compute(d_k=d_k, T=T, **setting))


def test_random_settings_set_in_any_order(lax):
    rng = np.random.default_rng(2)
    panel = panels.scaling_panel()
    for _ in range(12):
        values = {
            "d_k": int(rng.choice(scaling.WIDTHS)),
            "T": int(rng.choice(scaling.LENGTHS)),
            "divisor": str(rng.choice(experiments.DIVISORS)),
            "d_model": int(rng.choice(scaling.D_MODELS)),
            "components": str(rng.choice(scaling.COMPONENTS)),
            "sigma": float(rng.uniform(*scaling.SIGMAS)),
            "seed": int(rng.integers(0, 2)),
        }
        set_all(panel, values, rng)
        assert panel.error is None
        expected = {**values, "sigma": values["sigma"] if values["components"] == "any" else 1.0}
        assert {name: getattr(panel.state, name) for name in values} == expected
        check(panel.state)


def test_d_k_and_T_between_those_of_the_sliders():
    assert 100 not in scaling.WIDTHS
    assert 100 not in scaling.LENGTHS
    for setting in ({"d_k": 100}, {"T": 100}, {"d_k": 100, "T": 100, "divisor": "sqrt_d_k"}):
        check(scaling.compute(**setting))
    panel = panels.scaling_panel()
    panel.controls["d_k"].value = 100
    assert panel.error is None
    assert panel.state.predicted_std_here == 10


@pytest.mark.parametrize(("divisor", "name"), [("none", "raw"), ("sqrt_d_k", "scaled")])
def test_curve_of_effective_keys_agrees_with_the_experiment(divisor, name):
    state = scaling.compute(T=1024, divisor=divisor)
    there = [state.widths.index(d_k) for d_k in (4, 16, 64, 1024)]
    measured = experiments.freezing((4, 16, 64, 1024), T=1024)
    # Medians of a thing that spreads widely where rows freeze.
    spread = 0.5 if divisor == "none" else 0.1
    np.testing.assert_allclose(
        np.log(state.keys[there]), np.log(getattr(measured, name)), atol=spread
    )


def test_curve_of_the_perfect_match_agrees_with_the_experiment():
    state = scaling.compute(T=1024, divisor="sqrt_d_k")
    there = [state.widths.index(d_k) for d_k in (32, 64, 128)]
    measured = experiments.perfect_match((32, 64, 128), T=1024)
    np.testing.assert_allclose(state.match[there], measured.measured, atol=0.12)
    np.testing.assert_allclose(state.predicted_match[there], measured.formula)


def test_state_cannot_be_changed_for_the_next_one():
    state = scaling.compute()
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.T = 3
    for field in dataclasses.fields(state):
        value = getattr(state, field.name)
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value[...] = 0
    check(scaling.compute())


# -- the picture ---------------------------------------------------------------------------------


def lines(picture, name):
    """Lines of a chart by look; of several with one look the first."""
    found = {}
    for line in picture.parts[name].lines:
        found.setdefault(line.look, line)
    return found


@pytest.mark.parametrize("large", [False, True])
def test_six_charts_in_two_lines_that_never_move(large):
    panel = panels.scaling_panel(large=large)
    first = lay_out(panel.picture, large=large)
    tops = {name: box.top for name, box in first.boxes.items()}
    assert tuple(panel.picture.parts) == NAMES
    assert len(set(tops.values())) == 2  # no line of charts is broken
    for name, value in (
        ("d_k", 4096),
        ("T", 2),
        ("divisor", "sqrt_d_model"),
        ("components", "any"),
        ("sigma", 4.0),
        ("components", "unit-vectors"),
        ("seed", 99),
    ):
        panel.controls[name].value = value
        assert lay_out(panel.picture, large=large) == first
        for part in panel.picture.parts.values():
            assert isinstance(part, Chart)
            assert part.title.count("\n") == 1


def test_charts_keep_their_lines():
    """Looks and number of lines stay, so that both views may change them in place."""
    panel = panels.scaling_panel()
    looks = {name: [line.look for line in panel.picture.parts[name].lines] for name in NAMES}
    for name in ("divisor", "components"):
        for _, value in panel.controls[name].options:
            panel.controls[name].value = value
            for part in panel.picture.parts.values():
                assert [line.look for line in part.lines] == looks[part.name]
                for line in part.lines:
                    length = np.shape(line.x)[0] - (line.look == "bars")
                    assert np.shape(line.y)[-1] == length
                    assert np.isfinite(np.asarray(line.y, dtype=float)).all()
                    if part.x.log:
                        assert (np.asarray(line.x, dtype=float) > 0).all()


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({}, "64 → 8, 256 → 16, 4,096 → 64"),
        ({"divisor": "sqrt_d_k"}, "64 → 1, 256 → 1, 4,096 → 1"),
        ({"components": "unit-vectors"}, "64 → 0.125, 256 → 0.0625, 4,096 → 0.0156"),
        ({"components": "any", "sigma": 0.5}, "64 → 2, 256 → 4, 4,096 → 16"),
    ],
)
def test_points_of_the_lesson_follow_the_setting(setting, words):
    points = lines(scaling_picture.describe(scaling.compute(**setting)), "std")["points"]
    assert points.words == words
    same(np.asarray(points.x), np.array([64, 256, 4096]))


def test_axis_of_std_takes_in_every_sigma_and_stays():
    rulers = set()
    for sigma in (0.1, 1.0, 4.0):
        state = scaling.compute(components="any", sigma=sigma)
        part = scaling_picture.describe(state).parts["std"]
        rulers.add(dataclasses.astuple(part.y))
        assert part.y.low <= state.predicted_std.min()
        assert state.predicted_std.max() <= part.y.high
    assert len(rulers) == 1


def test_a_frozen_row_is_one_tall_bar_and_a_scaled_row_lies_flat():
    panel = panels.scaling_panel()
    panel.controls["d_k"].value = 4096
    part = panel.picture.parts["row"]
    bars = lines(panel.picture, "row")["bars"]
    same(bars.y, np.sort(panel.state.weights)[:-17:-1])
    assert bars.y[0] > 0.99
    assert {"16", "128"} <= set(re.findall(r"\d+", part.x.words))
    panel.controls["divisor"].value = "sqrt_d_k"
    assert lines(panel.picture, "row")["bars"].y.max() < 0.1
    assert panel.picture.parts["row"].y is part.y
    panel.controls["T"].value = 2
    assert len(lines(panel.picture, "row")["bars"].y) == 2


def test_histogram_has_area_1_and_the_predicted_curve():
    picture = scaling_picture.describe(scaling.compute(d_k=256, divisor="sqrt_d_k"))
    found = lines(picture, "scores")
    edges, heights = found["bars"].x, found["bars"].y
    assert np.sum(heights * np.diff(edges)) == pytest.approx(1, abs=2e-3)
    curve = found["theory"]
    step = curve.x[1] - curve.x[0]
    assert np.sum(curve.y) * step == pytest.approx(1, abs=1e-3)
    assert np.sum(curve.y * curve.x**2) * step == pytest.approx(1, rel=5e-3)
    middles = (edges[1:] + edges[:-1]) / 2
    np.testing.assert_allclose(heights, np.interp(middles, curve.x, curve.y), atol=0.03)


def test_line_of_freezing_is_2_ln_T():
    state = scaling.compute(T=1024)
    picture = scaling_picture.describe(state)
    line = lines(picture, "key_grid")["dashdot"]
    np.testing.assert_allclose(line.x, 2 * np.log(line.y))
    assert (line.y[0], line.y[-1]) == pytest.approx((2, 1024))
    assert "2 ln T" in line.words
    np.testing.assert_allclose(lines(picture, "keys")["dashdot"].x, [2 * np.log(1024)] * 2)
    here = lines(picture, "key_grid")["here"]
    assert (here.x, here.y) == ([64], [1024])


@pytest.mark.parametrize(
    ("setting", "d_k", "T"),
    [
        ({"components": "any", "sigma": 0.5}, lambda T: 2 * np.log(T) * 16, None),
        ({"divisor": "sqrt_d_model"}, lambda T: 2 * np.log(T) * 768, None),
        ({"divisor": "d_k", "components": "any", "sigma": 4.0}, lambda T: 128 / np.log(T), None),
        ({"divisor": "sqrt_d_k", "components": "any", "sigma": 1.5}, None, np.exp(1.5**4 / 2)),
    ],
)
def test_line_of_freezing_elsewhere(setting, d_k, T):
    line = lines(scaling_picture.describe(scaling.compute(**setting)), "key_grid")["dashdot"]
    assert len(line.x) > 1
    assert min(line.x) >= 1 - 1e-9
    assert max(line.x) <= 4096 * (1 + 1e-9)
    if d_k:
        np.testing.assert_allclose(line.x, d_k(np.asarray(line.y)))
    else:
        np.testing.assert_allclose(line.y, T)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"divisor": "sqrt_d_k"}, "nothing freezes"),
        ({"components": "unit-vectors"}, "nothing freezes"),
        ({"divisor": "sqrt_d_k", "components": "any", "sigma": 4.0}, "all frozen"),
    ],
)
def test_where_nothing_or_everything_freezes_there_is_no_line(setting, words):
    al.set_language("en")
    picture = scaling_picture.describe(scaling.compute(**setting))
    for name in ("key_grid", "keys"):
        line = lines(picture, name)["dashdot"]
        assert np.size(line.x) == 0
        assert words.split()[-1].removesuffix("s")[:5] in line.words


def test_theory_of_keys_and_match_is_there_only_where_scores_spread_by_1_at_most():
    scaled = scaling_picture.describe(scaling.compute(T=1024, divisor="sqrt_d_k"))
    theory = lines(scaled, "keys")["theory"]
    np.testing.assert_allclose(theory.y, 1024 / np.sqrt(np.e))
    assert "T/√e" in theory.words
    theory = lines(scaled, "match")["theory"]
    np.testing.assert_allclose(
        theory.y, experiments.perfect_match_formula(np.array(scaling.WIDTHS), 1024)
    )
    raw = scaling_picture.describe(scaling.compute(T=1024))
    for name in ("keys", "match"):
        assert np.size(lines(raw, name)["theory"].x) == 0
        assert lines(raw, name)["theory"].words == ""
    wrong = scaling.compute(divisor="sqrt_d_model")  # s ≤ 1 up to d_k = d_model
    theory = lines(scaling_picture.describe(wrong), "keys")["theory"]
    assert max(theory.x) == max(width for width in scaling.WIDTHS if width <= 768)


def test_shades_go_from_1_key_to_T_keys():
    part = scaling_picture.describe(scaling.compute()).parts["key_grid"]
    assert part.shades.shape == (len(part.shade_y) - 1, len(part.shade_x) - 1)
    assert part.shades.shape == (len(scaling.LENGTHS), len(scaling.WIDTHS))
    assert part.shades.min() >= 0
    assert part.shades.max() <= 1
    assert part.shades[-1, 0] > 0.9
    assert part.shades[-1, -1] < 0.1
    for edges, values in ((part.shade_x, scaling.WIDTHS), (part.shade_y, scaling.LENGTHS)):
        assert (edges[:-1] < values).all()
        assert (values < edges[1:]).all()


def test_family_stands_beside_the_perfect_match():
    picture = scaling_picture.describe(scaling.compute())
    marks = [line for line in picture.parts["match"].lines if line.look == "dotted"]
    assert [line.x[0] for line in marks] == [al.ANDREA_12M.d_k, al.ANDREA_120M.d_k]
    assert "32" in marks[0].words
    assert "64" in marks[0].words


# -- formulas and words --------------------------------------------------------------------------


def test_formulas_give_the_numbers_on_show():
    al.set_language("en")
    state = scaling.compute(T=1024, divisor="sqrt_d_k")
    std, keys, match = scaling_picture.describe(state).formulas
    assert "s = √d_k ÷ √d_k = √64 ÷ √64 = 1 " in std
    assert settings.short(state.std_here) in std
    assert "T/√e = 621" in keys
    assert f"e^H = {settings.short(state.effective_keys)} " in keys
    assert settings.short(state.keys_here) in keys
    assert "e^(½ − √d_k)) = 0.639 " in match
    assert settings.short(state.match_here) in match


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"d_k": 64}, ("√d_k = √64 = 8 ", "s² = 64 exceeds 2 ln T = 9.7", "for s ≤ 1")),
        ({"d_k": 4}, ("√d_k = √4 = 2 ", "s² = 4 is below 2 ln T = 9.7", "for s ≤ 1")),
        ({"components": "unit-vectors"}, ("1/√64 = 0.125 ", "T e^(−s²/2) = 127", "m = q · q")),
        ({"divisor": "sqrt_d_model"}, ("√64 ÷ √768 = 0.289 ", "= 123", "m = q · q")),
        ({"components": "any", "sigma": 0.5}, ("0.5² × √64 = 2 ", "s² = 4", "for s ≤ 1")),
        ({"divisor": "d_k"}, ("√64 ÷ 64 = 0.125 ", "= 127", "divisor = 1")),
    ],
)
def test_formulas_of_other_settings(setting, words):
    al.set_language("en")
    formulas = scaling_picture.describe(scaling.compute(**setting)).formulas
    assert len(formulas) == 3
    for formula, wanted in zip(formulas, words, strict=True):
        assert wanted in formula


def test_summary_follows_d_k():
    al.set_language("en")
    panel = panels.scaling_panel()
    panel.controls["d_k"].value = 256
    assert "theory 16" in panel.summary
    panel.controls["divisor"].value = "sqrt_d_k"
    assert "theory 1)" in panel.summary
    assert "divided by 16" in panel.summary


def test_one_effective_key_in_words():
    al.set_language("en")
    panel = panels.scaling_panel()
    panel.controls["d_k"].value = 4096
    assert "effective number of keys of 1 " in panel.summary
    assert "1 effective keys" not in panel.summary


def test_dividing_by_the_root_of_d_model_is_called_a_mistake():
    panel = panels.scaling_panel()
    assert panel.warning is None
    panel.controls["divisor"].value = "sqrt_d_model"
    assert "d_k = 64" in panel.warning
    panel.controls["d_k"].value = 1024
    assert "d_model = 768" in panel.warning
    panel.controls["d_model"].value = 1536
    assert "1,536" not in panel.warning
    panel.controls["divisor"].value = "sqrt_d_k"
    assert panel.warning is None


# -- settings that are refused -------------------------------------------------------------------


@pytest.mark.parametrize(
    "setting",
    [
        {"d_k": 0},
        {"d_k": 4097},
        {"d_k": 64.0},
        {"T": 1},
        {"T": True},
        {"divisor": "d_model"},
        {"d_model": 100},
        {"components": "unit"},
        {"components": "any", "sigma": 0.0},
        {"components": "any", "sigma": 5},
        {"components": "any", "sigma": float("nan")},
        {"seed": -1},
    ],
)
def test_compute_refuses_what_no_control_offers(setting):
    with pytest.raises(settings.SettingError) as refused:
        scaling.compute(**setting)
    assert "\n" not in str(refused.value)
    assert str(refused.value).endswith("。")


def test_a_bad_setting_is_said_and_forgotten(lax):
    panel = panels.scaling_panel()
    for name, value in (("seed", 1000), ("d_k", 5000), ("T", 1)):
        before = panel.controls[name].value
        panel.controls[name].value = value
        assert panel.error.endswith("。")
        assert panel.state is panel.picture is None
        panel.controls[name].value = before
        assert panel.error is None
        check(panel.state)
    panel.controls["components"].value = "any"
    panel.controls["sigma"].value = 100.0
    assert "σ" in panel.error


# -- immediate, and no heavier over time ---------------------------------------------------------


def test_play_goes_through_the_widths():
    panel = panels.scaling_panel()
    assert panel.advance()
    assert panel.state.d_k == scaling.WIDTHS[scaling.WIDTHS.index(64) + 1]
    panel.controls["d_k"].value = 3756
    assert not panel.advance()
    assert panel.state.d_k == 4096
    assert panel.advance()
    assert panel.state.d_k == 1


def test_moves_of_d_k_and_T_look_everything_up(monkeypatch):
    scaling.compute(T=1024)
    monkeypatch.setattr(experiments, "running_scores", None)
    monkeypatch.setattr(experiments, "row_spreads", None)
    start = time.process_time()
    for d_k in scaling.WIDTHS:
        scaling_picture.describe(scaling.compute(d_k=d_k, T=1024))
    for T in scaling.LENGTHS:
        scaling_picture.describe(scaling.compute(T=T))
    moves = len(scaling.WIDTHS) + len(scaling.LENGTHS)
    assert (time.process_time() - start) / moves < 0.05  # 2 ms where nothing else runs


def test_memory_does_not_grow_in_500_moves(monkeypatch):
    resource = pytest.importorskip("resource")
    rng = np.random.default_rng(0)

    def move(count):
        for _ in range(count):
            state = scaling.compute(
                d_k=int(rng.choice(scaling.WIDTHS)),
                T=int(rng.choice(scaling.LENGTHS)),
                divisor=str(rng.choice(experiments.DIVISORS)),
                components=str(rng.choice(experiments.COMPONENTS)),
                seed=int(rng.random() < 0.01),
            )
            scaling_picture.describe(state)

    move(100)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    move(500)
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert growth < 10 * 1024  # kilobytes; on macOS bytes, where the test asks for too little


def test_what_is_kept_is_bounded():
    for seed in range(3):
        scaling.compute(seed=seed)
    tables = scaling._all_widths(2)
    assert scaling._all_widths.cache_info().maxsize == 1
    size = sum(value.nbytes for value in vars(tables).values() if isinstance(value, np.ndarray))
    assert size < 25e6
    each = scaling._measured(scaling._Drawn(2, "unit-variance", 1.0, "none", None), *_ALL)
    size += scaling._measured.cache_info().maxsize * 2 * each.match.nbytes
    assert size < 40e6


_ALL = (scaling.LENGTHS, scaling.WIDTHS)
