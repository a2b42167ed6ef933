"""The softmax panel: its state against an oracle, its sum term by term, its picture and words."""

import re
from itertools import pairwise

import numpy as np
import oracle
import pytest
from panel_tools import same, same_steps, set_all

import andrea_lesson as al
from andrea_lesson import experiments, panels
from andrea_lesson.panels import base, settings, softmax, softmax_picture
from andrea_lesson.panels.layout import lay_out
from andrea_lesson.panels.softmax_picture import describe

FORMULAS = 3


@pytest.fixture(autouse=True)
def _panels_closed_afterwards():
    yield
    for panel in list(base._live):
        panel.close()


@pytest.fixture
def lax(monkeypatch):
    """As for a reader: a bad setting is shown, not raised."""
    monkeypatch.delenv("ANDREA_STRICT")


def check(state):
    """Everything that a state says against plain loops over the same vectors."""
    if state.source == settings.EXAMPLE:
        data = al.running_example()
        X = data.X[: state.T]
        Q, K, V = (oracle.project(X, W) for W in (data.W_Q, data.W_K, data.W_V))
        assert state.tokens == data.tokens[: state.T]
    else:
        Q, K, V = experiments.random_qkv(state.T, state.d_k, seed=state.seed)
        assert state.tokens is None
    T, i, n = state.T, state.row, state.terms
    allowed = oracle.causal(T, T) if state.mask_kind == "causal" else np.ones((T, T), dtype=bool)
    steps = oracle.attention(Q, K, V, allowed, state.scale)
    same(state.mask, allowed)
    close = {"rtol": 1e-11, "atol": 1e-11}
    np.testing.assert_allclose(state.V, V, **close)
    for name in ("scores", "scaled_scores", "masked_scores", "weights", "output"):
        np.testing.assert_allclose(getattr(state.steps, name), getattr(steps, name), **close)
    row, visible = state.softmax, allowed[i]
    divided = state.steps.masked_scores[i] / state.temperature
    same(row.scores, divided)
    same(row.shifted, divided - divided[visible].max())
    same(row.exponentials[~visible], np.zeros(T - visible.sum()))
    expected = oracle.softmax(divided)
    np.testing.assert_allclose(row.weights, expected, **close)
    np.testing.assert_allclose(row.exponentials / row.exponentials.sum(), expected, **close)
    weighted = np.array([[expected[j] * v for v in V[j]] for j in range(T)])
    np.testing.assert_allclose(state.weighted_values, weighted, **close)
    assert state.partial_sums.shape == (T + 1, V.shape[1])
    so_far = np.zeros(V.shape[1])
    for j in range(n):
        so_far = so_far + weighted[j]
    np.testing.assert_allclose(state.partial_sums[n], so_far, **close)
    same(state.partial_sums[-1], state.output)
    np.testing.assert_allclose(state.output, expected @ V, **close)
    if state.temperature == 1:
        np.testing.assert_allclose(state.output, steps.output[i], **close)


def shown(panel):
    """What stands in the last row of the picture: the sum so far."""
    return panel.picture.parts["output"].values[0]


# -- the state -----------------------------------------------------------------------------------


def test_by_default_the_whole_sum_is_on_show():
    panel = panels.softmax_panel()
    state = panel.state
    check(state)
    assert (state.T, state.d_k, state.row, state.terms) == (8, 64, 7, 8)
    same(shown(panel), state.output)
    same_steps(state.steps, softmax.compute().steps)


def test_at_random_settings_set_in_any_order(lax):
    rng = np.random.default_rng(4)
    panel = panels.softmax_panel()
    for _ in range(30):
        example = bool(rng.random() < 0.3)
        T = int(rng.integers(1, 7 if example else 65))
        values = {
            "source": "running-example" if example else "random",
            "T": T,
            "row": int(rng.integers(0, T)),
            "column": int(rng.integers(0, T)),
            "terms": int(rng.integers(0, T + 1)),
            "temperature": float(rng.choice([0.1, 0.5, 1.0, 10.0])),
            "scaled": bool(rng.random() < 0.5),
            "mask": str(rng.choice(["full", "causal"])),
            "seed": int(rng.integers(0, 100)),
        }
        if not example:
            values["d_k"] = int(rng.integers(1, 257))
        set_all(panel, values, rng)
        assert panel.error is None, values
        state = panel.state
        for name in ("T", "row", "column", "terms", "temperature"):
            assert getattr(state, name) == values[name]
        check(state)
        same(shown(panel), state.partial_sums[values["terms"]])


@pytest.mark.parametrize("T", [1, 2, 33, 64])
@pytest.mark.parametrize("d_k", [1, 128, 256])
def test_both_ends_and_the_middle(T, d_k):
    for row in {0, T // 2, T - 1}:
        for terms in {0, T // 2, T}:
            check(softmax.compute(T=T, d_k=d_k, row=row, column=T - 1, terms=terms))


@pytest.mark.parametrize("temperature", [1e-300, 1e-9, 1e9, 1e300])
@pytest.mark.parametrize("mask", ["full", "causal"])
def test_tiny_and_huge_temperatures_overflow_nothing(recwarn, temperature, mask):
    panel = panels.softmax_panel()
    panel.controls["mask"].value = mask
    panel.controls["row"].value = 5
    panel.controls["temperature"].value = temperature
    state = panel.state
    visible = state.mask[5]
    assert np.isfinite(state.output).all()
    assert state.softmax.weights.sum() == pytest.approx(1)
    if temperature < 1:  # the largest takes all
        assert state.softmax.weights.max() == 1
    else:
        np.testing.assert_allclose(state.softmax.weights[visible], 1 / visible.sum())
    for line in panel.picture.formulas:
        assert len(line) < 130
    bars = panel.picture.parts["scores"]
    assert bars.low < bars.high
    assert np.isfinite([bars.low, bars.high]).all()
    assert not recwarn.list


def test_a_difference_too_large_for_a_number_is_no_fault():
    state = softmax.compute(temperature=1.2e-308)  # scores fit, but not all differences
    assert np.isneginf(state.softmax.shifted[state.mask[state.row]]).any()
    picture = describe(state)
    assert np.isfinite(picture.parts["shifted"].low)


def test_temperature_sharpens_and_evens_out():
    panel = panels.softmax_panel()
    keys = {}
    for temperature in (0.1, 1.0, 10.0):
        panel.controls["temperature"].value = temperature
        keys[temperature] = float(experiments.effective_keys(panel.state.softmax.weights))
    assert keys[0.1] < keys[1.0] < keys[10.0]


# -- the sum, term by term -----------------------------------------------------------------------


def test_play_starts_with_nothing_and_ends_with_the_output():
    panel = panels.softmax_panel("example")
    state = panel.state
    assert state.terms == 6
    seen = []
    assert panel.advance()
    seen.append(shown(panel))
    more = True
    while more:
        more = panel.advance()
        seen.append(shown(panel))
    assert len(seen) == 7
    same(seen[0], np.zeros(3))
    for n, (before, after) in enumerate(pairwise(seen)):
        np.testing.assert_allclose(after - before, state.weighted_values[n], atol=1e-15)
    same(seen[-1], state.output)


def test_terms_taken_are_lit_and_the_title_says_when_it_is_the_output():
    al.set_language("en")
    panel = panels.softmax_panel("example")
    panel.controls["terms"].value = 2
    parts = panel.picture.parts
    assert parts["weighted_values"].lit_rows == (0, 1)
    assert parts["output"].title == "sum so far\nterms: 2 of 6"
    assert parts["output"].under == "weighted_values"
    assert "2 of 6; this is not the output yet" in panel.summary
    panel.controls["terms"].value = 6
    parts = panel.picture.parts
    assert parts["weighted_values"].lit_rows == tuple(range(6))
    assert parts["output"].title == "6. output = sum\nterms: 6 of 6"
    assert "not the output" not in panel.summary


def test_colours_keep_their_meaning_while_the_sum_grows():
    panel = panels.softmax_panel()
    limits = set()
    for terms in range(9):
        panel.controls["terms"].value = terms
        parts = panel.picture.parts
        limits |= {parts["output"].limit, parts["weighted_values"].limit}
        assert abs(parts["output"].values).max() <= parts["output"].limit
    assert len(limits) == 1


def test_all_terms_whatever_T_is_until_a_number_is_asked_for():
    panel = panels.softmax_panel()
    terms = panel.controls["terms"]
    for T in (3, 64, 1, 20):
        panel.controls["T"].value = T
        assert (terms.value, terms.max, panel.state.terms) == (T, T, T)
    panel.controls["source"].value = "running-example"
    assert panel.state.terms == 6
    panel.controls["source"].value = "random"
    assert panel.state.terms == 20
    terms.value = 5
    panel.controls["T"].value = 30
    assert panel.state.terms == 5
    panel.controls["T"].value = 4
    assert panel.state.terms == 4
    panel.controls["T"].value = 9
    assert panel.state.terms == 4
    while panel.advance():  # at the end of Play it is all of them again
        pass
    panel.controls["T"].value = 12
    assert panel.state.terms == 12


def test_row_and_column_follow_T():
    panel = panels.softmax_panel()
    panel.controls["column"].value = 6
    panel.controls["T"].value = 3
    assert (panel.controls["row"].max, panel.controls["row"].value) == (2, 2)
    assert (panel.controls["column"].max, panel.controls["column"].value) == (2, 2)
    panel.controls["T"].value = 1
    assert (panel.state.row, panel.state.column) == (0, 0)
    assert panel.controls["row"].disabled
    assert panel.controls["column"].disabled
    assert panel.error is None


# -- bad settings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"T": 0},
        {"T": 65},
        {"d_k": 0},
        {"d_k": 257},
        {"row": 8},
        {"row": -1},
        {"column": 8},
        {"terms": 9},
        {"terms": -1},
        {"seed": 100},
        {"temperature": 0.0},
        {"temperature": -1.0},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"temperature": 1e-320},  # too small to divide by
        {"source": "running-example", "T": 7},
    ],
)
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_a_bad_setting_is_one_line_and_forgotten(lax, recwarn, changes, language):
    al.set_language(language)
    panel = panels.softmax_panel()
    start = {name: control.value for name, control in panel.controls.items()}
    for name, value in changes.items():
        panel.controls[name].value = value
    name, value = next(reversed(changes.items()))
    assert panel.controls[name].description in panel.error
    assert settings.told(value) in panel.error
    assert panel.error.endswith("。" if language == "zh-Hant" else ".")
    assert "\n" not in panel.error
    assert "Error" not in panel.error
    assert panel.state is panel.picture is None
    for name, value in start.items():
        panel.controls[name].value = value
    assert panel.error is None
    assert panel.state.T == 8
    assert not recwarn.list


@pytest.mark.parametrize(
    "setting",
    [{"mask": "prefix"}, {"source": "dice"}, {"row": 1.0}, {"terms": True}, {"terms": 8.0}],
)
def test_compute_refuses_what_no_control_offers(setting):
    with pytest.raises(settings.SettingError):
        softmax.compute(**setting)


# -- the picture ---------------------------------------------------------------------------------


def places(panel):
    layout = lay_out(panel.picture, large=panel.large)
    return layout.height, layout.caption, layout.boxes


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_nothing_moves_under_any_control(language, large):
    al.set_language(language)
    panel = panels.softmax_panel(large=large)
    before = places(panel)
    for name, values in (
        ("T", [1, 2, 33, 64]),
        ("d_k", [1, 2, 255, 256]),
        ("row", [0, 63]),
        ("column", [0, 63]),
        ("terms", [0, 1, 5, 63]),
        ("temperature", [0.1, 1e-9, 10]),
        ("mask", ["full", "causal"]),
        ("scaled", [False, True]),
        ("source", ["running-example"]),
        ("mask", ["full", "causal"]),
        ("row", [0, 5]),
    ):
        for value in values:
            panel.controls[name].value = value
            assert panel.error is None
            assert places(panel) == before
            assert len(panel.picture.formulas) == FORMULAS


@pytest.mark.parametrize("large", [False, True])
def test_all_stand_in_one_line_with_the_sum_beneath(large):
    boxes = places(panels.softmax_panel(large=large))[2]
    above = [*softmax_picture.BARS, "V", "weighted_values"]
    assert len({boxes[name].top for name in above}) == 1
    assert len({boxes[name].height for name in above}) == 1
    lefts = [boxes[name].left for name in above]
    assert lefts == sorted(lefts)
    one, other = boxes["weighted_values"], boxes["output"]
    assert (one.left, one.width) == (other.left, other.width)
    assert other.top > one.top + one.height


def test_hidden_keys_are_hatched_wherever_a_key_has_a_place():
    panel = panels.softmax_panel()
    panel.controls["row"].value = 2
    parts = panel.picture.parts
    beyond = np.arange(8) > 2
    for name in softmax_picture.BARS:
        same(np.asarray(parts[name].hidden), beyond)
    for name in ("V", "weighted_values"):
        same(np.array(parts[name].hidden), np.repeat(beyond[:, None], 64, axis=1))
    same(parts["weighted_values"].values[beyond], np.zeros((5, 64)))
    panel.controls["mask"].value = "full"
    parts = panel.picture.parts
    for name in (*softmax_picture.BARS, "V", "weighted_values"):
        assert not parts[name].hidden.any()


def test_bars_of_scores_that_are_not_negative_start_at_the_edge():
    panel = panels.softmax_panel(source="example")
    panel.controls["temperature"].value = 0.1
    assert (panel.state.softmax.scores[panel.state.mask[panel.state.row]] >= 0).all()
    bars = panel.picture.parts["scores"]
    assert bars.low == 0
    panel.controls["source"].value = "random"
    panel.controls["temperature"].value = 1.0
    bars = panel.picture.parts["scores"]
    assert bars.low == -bars.high


def test_every_bar_fits_on_its_ruler():
    rng = np.random.default_rng(2)
    for _ in range(40):
        T = int(rng.integers(1, 65))
        state = softmax.compute(
            T=T,
            d_k=int(rng.integers(1, 257)),
            row=int(rng.integers(0, T)),
            column=0,
            temperature=float(10 ** rng.uniform(-3, 3)),
            scaled=bool(rng.random() < 0.5),
        )
        for name in softmax_picture.BARS:
            part = describe(state).parts[name]
            seen = part.values[~part.hidden]
            assert part.low < part.high
            assert part.low <= seen.min()
            assert seen.max() <= part.high


def test_a_key_that_is_pointed_at_can_be_chosen():
    panel = panels.softmax_panel("example")
    panel.select({"key": 3, "value": 1})
    assert (panel.state.column, panel.controls["column"].value) == (3, 3)
    assert panel.picture.selected["key"] == 3
    assert panel.state.row == 5


# -- numbers and words ---------------------------------------------------------------------------


def numbers(text):
    text = re.sub(r" × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: "e" + m[1].translate(RAISED), text)
    return [float(n.replace("−", "-").replace("∞", "inf")) for n in NUMBER.findall(text)]


RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NUMBER = re.compile(r"−?(?:\d+(?:\.\d+)?(?:e-?\d+)?|∞)")


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
@pytest.mark.parametrize("source", ["random", "example"])
def test_formulas_hold_the_numbers_of_the_state(language, source):
    al.set_language(language)
    panel = panels.softmax_panel(source)
    controls = panel.controls
    for row, column, terms, temperature in ((3, 1, 4, 1.0), (4, 2, 3, 0.5), (3, 5, 0, 2.0)):
        controls["row"].value, controls["column"].value = row, column
        controls["terms"].value, controls["temperature"].value = terms, temperature
        state, (score, weight, total) = panel.state, panel.picture.formulas
        softened = state.softmax
        raw = state.steps.masked_scores[row, column]
        highest = softened.scores.max()
        expected = [row, column, raw, temperature, raw / temperature, highest]
        expected.append(raw / temperature - highest)
        np.testing.assert_allclose(numbers(score), expected, rtol=6e-3)
        exponential = np.exp(expected[-1])
        sum_of = np.exp(softened.scores - highest).sum()
        expected = [row, column, expected[-1], exponential, sum_of, exponential / sum_of]
        np.testing.assert_allclose(numbers(weight)[:6], expected, rtol=6e-3)
        products = [number for j in range(terms) for number in (softened.weights[j], state.V[j, 0])]
        counts = [6 if source == "example" else 8, terms]
        *_, last = numbers(total)
        assert numbers(total)[: 2 + 1] == [*sorted(counts, reverse=language == "zh-Hant"), 0]
        np.testing.assert_allclose(numbers(total)[3:-1], products, atol=6e-3)
        np.testing.assert_allclose(last, state.partial_sums[terms, 0], atol=6e-4)


def test_a_long_sum_is_written_with_its_first_terms_and_its_last():
    panel = panels.softmax_panel()
    panel.controls["T"].value = 64
    for terms in (5, 64):
        panel.controls["terms"].value = terms
        line = panel.picture.formulas[2]
        assert line.count("×") == 1 + 3
        assert line.count("…") == 1
        assert len(line) < 110
    panel.controls["terms"].value = 0
    assert panel.picture.formulas[2].endswith("= 0")


def test_a_weight_too_small_for_its_digits_is_not_written_as_nothing():
    assert softmax_picture._weight(0.0) == "0"
    assert softmax_picture._weight(1e-12) == "<0.001"
    assert softmax_picture._weight(0.25) == "0.25"


def test_formulas_name_the_tokens_and_a_hidden_key():
    al.set_language("en")
    panel = panels.softmax_panel("example")
    panel.controls["row"].value = 3
    panel.controls["column"].value = 5
    score, weight, total = panel.picture.formulas
    assert "query 3 (borrows), key 5 (reads)" in score
    assert "= −∞" in score
    assert "0 ÷" in weight
    assert "may not see" in weight
    assert "component 0 (person)" in total
    panel.controls["column"].value = 0
    assert "may not see" not in panel.picture.formulas[1]


@pytest.mark.parametrize("T", [1, 33, 64])
def test_summary_says_what_is_on_show(T):
    al.set_language("en")
    panel = panels.softmax_panel()
    panel.controls["T"].value = T
    state, summary = panel.state, panel.summary
    assert summary.startswith("Random vectors")
    assert f"T = {T}," in summary
    assert settings.short(float(state.softmax.weights.max())) in summary
    assert f"key {state.softmax.scores.argmax()}" in summary
    assert not re.search(r"\b1 (positions|keys|effective keys|rows|terms)\b", summary)


def test_summary_in_chinese():
    panel = panels.softmax_panel("example")
    assert "例句的六個詞元，T = 6" in panel.summary
    assert panel.summary.endswith("就是輸出。")
    panel.controls["terms"].value = 1
    assert "6 項中的 1 項" in panel.summary


def test_starts_at_the_example_and_at_nothing_else():
    panel = panels.softmax_panel("example")
    assert (panel.state.source, panel.state.T, panel.state.d_k) == ("running-example", 6, 4)
    assert panel.picture.axes["key"].names == ("小安", "去", "圖書館", "借", "書", "看")
    panel.controls["source"].value = "random"
    assert (panel.state.T, panel.state.d_k) == (8, 64)
    with pytest.raises(settings.SettingError, match=r"random、example.*dice"):
        panels.softmax_panel(source="dice")
