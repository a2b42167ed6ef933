"""What the lesson claims, checked against theory, and the naive forms checked to go wrong."""

import math

import numpy as np
import pytest
from test_inputs import MASKED, assert_one_sentence

import andrea_lesson as al
from andrea_lesson import experiments


def same(one, other):
    np.testing.assert_array_equal(one, other, strict=True)


# -- random vectors ------------------------------------------------------------------------------


def test_random_vectors_have_mean_0_and_variance_1():
    for array in experiments.random_qkv(1024, 64):
        assert array.shape == (1024, 64)
        assert abs(array.mean()) < 4 / math.sqrt(array.size)
        assert abs(array.var() - 1) < 4 * math.sqrt(2 / array.size)


def test_queries_keys_and_values_differ():
    Q, K, V = experiments.random_qkv(8, 4)
    assert not np.allclose(Q, K)
    assert not np.allclose(K, V)


def test_a_longer_or_wider_example_keeps_what_was_there():
    small = experiments.random_qkv(5, 3, seed=2)
    for grown, before in zip(experiments.random_qkv(40, 70, seed=2), small, strict=True):
        same(grown[:5, :3], before)


def test_d_v_is_its_own():
    Q, _, V = experiments.random_qkv(4, 6, 2)
    assert (Q.shape, V.shape) == ((4, 6), (4, 2))
    same(V, experiments.random_qkv(4, 9, 2)[2])


@pytest.mark.parametrize("T", [-1, 1025])
def test_length_out_of_range_is_refused(T):
    with pytest.raises(ValueError, match="T must lie between 0 and 1024"):
        experiments.random_qkv(T, 4)


def test_same_seed_same_numbers_other_seed_others():
    same(experiments.random_qkv(4, 4, seed=3)[0], experiments.random_qkv(4, 4, seed=3)[0])
    assert not np.allclose(
        experiments.random_qkv(4, 4, seed=3)[0], experiments.random_qkv(4, 4, seed=4)[0]
    )


def test_cached_results_cannot_be_changed_for_the_next_caller():
    widths = (1, 4, 16)
    for result in (
        experiments.score_spreads(widths, pairs=20),
        experiments.freezing(widths, T=8, rows=2),
        experiments.perfect_match(widths, T=8, trials=2),
    ):
        arrays = [value for value in vars(result).values() if isinstance(value, np.ndarray)]
        assert len(arrays) >= 3
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


# -- the spread of scores ------------------------------------------------------------------------

WIDTHS = (64, 256, 4096)


def test_unit_variance_scores_spread_like_the_root_of_d_k():
    measured = experiments.score_spreads(WIDTHS)
    same(measured.predicted_std, np.array([8.0, 16.0, 64.0]))
    np.testing.assert_allclose(measured.std, [8, 16, 64], rtol=sampling_error(1000))
    # |x| of a normal variable of spread 8 is 8 √(2/π) on average
    assert measured.mean_absolute[0] == pytest.approx(6.4, rel=sampling_error(1000))


def test_unit_vectors_spread_like_one_over_the_root_of_d_k():
    measured = experiments.score_spreads(WIDTHS, components="unit-vectors")
    np.testing.assert_allclose(measured.std, [0.125, 0.0625, 0.015625], rtol=sampling_error(1000))
    assert np.abs(measured.scores).max() <= 1


def test_spread_of_one_width_does_not_depend_on_the_others_measured():
    same(
        experiments.score_spreads((64, 4096)).scores[0],
        experiments.score_spreads((1, 64, 300, 4096)).scores[1],
    )


def test_unknown_components_are_refused():
    with pytest.raises(ValueError, match="components must be one of"):
        experiments.score_spreads((4,), components="unit")


# -- how peaked the weights are ------------------------------------------------------------------


def test_effective_keys_of_rows_known_by_hand():
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 0, 0, 0]])
    np.testing.assert_allclose(experiments.effective_keys(rows), [4, 1, 2, 0], rtol=1e-14)


def test_scaled_rows_keep_T_over_root_e_keys_and_raw_rows_freeze():
    measured = [experiments.freezing((8, 16, 64), seed=seed) for seed in range(4)]
    assert measured[0].scaled_theory == pytest.approx(1024 / math.sqrt(math.e))
    assert measured[0].freezing_d_k == pytest.approx(13.9, abs=0.05)
    assert measured[0].scaled[-1] == pytest.approx(measured[0].scaled_theory, rel=0.02)
    raw = np.median([one.raw for one in measured], axis=0)
    np.testing.assert_allclose(raw, [50, 13, 2.5], rtol=0.25)


def test_perfect_match_follows_the_formula():
    measured = [experiments.perfect_match((32, 64, 128), seed=seed) for seed in range(4)]
    by_hand = [1 / (1 + 1023 * math.exp(0.5 - math.sqrt(d_k))) for d_k in (32, 64, 128)]
    np.testing.assert_allclose(measured[0].formula, by_hand, rtol=1e-14)
    np.testing.assert_allclose(measured[0].formula, [0.15, 0.64, 0.98], atol=0.02)
    medians = np.median([one.measured for one in measured], axis=0)
    np.testing.assert_allclose(medians, [0.13, 0.64, 0.98], atol=0.05)


# -- who sees whom -------------------------------------------------------------------------------


def causal(Q, K, V):
    return al.attention(Q, K, V, mask="causal")


def future_in_the_denominator(Q, K, V):
    mask = al.causal_mask(len(Q))
    return experiments.mask_after_softmax(Q, K, mask, renormalise=False) @ V


def test_probe_of_right_attentions_moves_nothing_before():
    Q, K, V = experiments.random_qkv(8, 4)
    before = [array.copy() for array in (Q, K, V)]
    moved = experiments.causality_probe(causal, Q, K, V, 5)
    same(moved[:5], np.zeros(5))
    assert (moved[5:] > 0).all()
    for array, kept in zip((Q, K, V), before, strict=True):
        same(array, kept)


@pytest.mark.parametrize(
    "attend",
    [
        al.attention,
        lambda Q, K, V: al.attention(Q, K, V, mask=al.causal_mask(len(Q)).T),
        future_in_the_denominator,
    ],
    ids=["no mask", "mask turned over", "mask after softmax"],
)
def test_probe_catches_wrong_attentions(attend):
    Q, K, V = experiments.random_qkv(8, 4)
    assert experiments.causality_probe(attend, Q, K, V, 5)[:5].max() > 1e-3


@pytest.mark.parametrize("factor", [1e20, np.float16(10000)])
def test_probe_of_huge_values_is_not_lost_in_rounding(factor):
    """Adding 1 to 1e20 changes nothing, and a future that leaks would look like one that is not."""
    arrays = [(array * factor).astype(type(factor)) for array in experiments.random_qkv(8, 4)]

    def average(Q, K, V):
        return V / 8 + V[::-1] / 8

    assert (experiments.causality_probe(average, *arrays, 5)[2] > 0).all()


def test_probe_takes_lists_and_whole_numbers():
    Q, K, V = (np.arange(6).reshape(3, 2) + i for i in range(3))
    expected = experiments.causality_probe(causal, Q * 1.0, K * 1.0, V * 1.0, 1)
    same(experiments.causality_probe(causal, Q.tolist(), K, V.tolist(), 1), expected)
    assert expected[0] == 0 < expected[1]


def test_masks_are_read_as_attention_reads_them():
    """A name, a mask that stretches, none: all mean the same everywhere."""
    Q, K, V = (np.stack([array] * 2) for array in experiments.random_qkv(4, 4))
    scores = al.attention_steps(Q, K, V).scaled_scores  # (2, 4, 4)
    for mask in (None, "causal", al.causal_mask(4), al.padding_mask([4, 2], 4)):
        expected = al.attention_weights(Q, K, mask=mask)
        for weights in (
            experiments.mask_after_softmax(Q, K, mask, renormalise=True),
            experiments.fill_mask(scores, mask, -np.inf),
            experiments.add_mask(scores, mask, -1e300),
        ):
            np.testing.assert_allclose(weights, expected, rtol=1e-12)
            assert experiments.largest_leak(weights, mask) == 0


def test_largest_leak():
    mask = al.causal_mask(2)
    assert experiments.largest_leak(np.array([[0.7, 0.3], [0.5, 0.5]]), mask) == 0.3
    assert experiments.largest_leak(np.array([[1.0, 0.0], [0.5, 0.5]]), mask) == 0.0
    assert experiments.largest_leak(np.ones((2, 2)), al.full_mask(2)) == 0.0


# -- naive forms that go wrong -------------------------------------------------------------------


def test_softmax_without_shift_overflows():
    assert np.isnan(experiments.softmax_without_shift(np.array([1000.0, 1000.0]))).all()
    assert np.isnan(experiments.softmax_without_shift(np.array([89.0, 0.0], np.float32))).any()
    assert np.isnan(experiments.softmax_without_shift(np.array([12.0, 0.0], np.float16))).any()
    small = np.array([[0.3, -2.0, 1.0]])
    np.testing.assert_allclose(experiments.softmax_without_shift(small), al.softmax(small))


def test_mask_after_softmax():
    Q, K, _ = experiments.random_qkv(6, 8)
    mask = al.causal_mask(6)
    kept = experiments.mask_after_softmax(Q, K, mask, renormalise=False)
    assert kept[0].sum() < 0.9
    renormalised = experiments.mask_after_softmax(Q, K, mask, renormalise=True)
    np.testing.assert_allclose(renormalised, al.attention_weights(Q, K, mask=mask), atol=1e-15)


def test_fill_mask_with_minus_infinity_is_right_where_every_row_sees_a_key():
    scores = al.attention_steps(*experiments.random_qkv(6, 8)).scaled_scores
    weights = experiments.fill_mask(scores, al.causal_mask(6), -np.inf)
    assert experiments.largest_leak(weights, al.causal_mask(6)) == 0
    Q, K, _ = experiments.random_qkv(6, 8)
    np.testing.assert_allclose(weights, al.attention_weights(Q, K, mask="causal"), rtol=1e-14)


def test_fill_mask_leaks_where_real_scores_lie_lower():
    """TransformerLensOrg/TransformerLens#318: the masked future wins."""
    scores, mask = np.array([[-2e9, 0.0], [0.0, 0.0]]), al.causal_mask(2)
    same(experiments.fill_mask(scores, mask, -1e9)[0], np.array([0.0, 1.0]))
    same(experiments.fill_mask(scores, mask, -np.inf)[0], np.array([1.0, 0.0]))


def test_fill_mask_of_an_empty_row_is_uniform_or_nan():
    """keras-team/keras#21149: an even row that looks like attention."""
    scores, nothing = np.zeros((1, 3)), np.zeros((1, 3), dtype=bool)
    np.testing.assert_allclose(experiments.fill_mask(scores, nothing, -1e9), [[1 / 3] * 3])
    assert np.isnan(experiments.fill_mask(scores, nothing, -np.inf)).all()


def test_fill_mask_depends_on_the_precision():
    """google/flax#982: −1e9 is −∞ in float16, so only there an empty row is NaN."""
    scores, nothing = np.zeros((1, 3)), np.zeros((1, 3), dtype=bool)
    half = experiments.fill_mask(scores, nothing, -1e9, "float16")
    assert half.dtype == np.float16
    assert np.isnan(half).all()
    single = experiments.fill_mask(scores, nothing, -1e9, "float32")
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, [[1 / 3] * 3], rtol=1e-6)


def test_add_mask_is_nan_at_allowed_keys_where_the_value_overflows():
    """harvard-edge/cs249r_book#1785: (1 − 1) × (−∞) is NaN."""
    scores, mask = np.zeros((2, 2)), al.causal_mask(2)
    assert np.isnan(experiments.add_mask(scores, mask, -1e9, "float16")).all()
    assert np.isnan(experiments.add_mask(scores, mask, -np.inf)).all()
    weights = experiments.add_mask(scores, mask, -1e9, "float32")
    same(weights, np.array([[1, 0], [0.5, 0.5]], np.float32))


def test_one_projection_for_queries_and_keys_is_symmetric():
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((6, 8)), rng.standard_normal((8, 4))
    scores = experiments.shared_projection_scores(X, W)
    np.testing.assert_allclose(scores, scores.T, rtol=1e-12)
    assert (np.diag(scores) >= 0).all()


# -- softmax in steps ----------------------------------------------------------------------------


def test_softmax_in_steps_by_hand():
    steps = experiments.softmax_in_steps([math.log(6), math.log(3), math.log(1)])
    np.testing.assert_allclose(steps.shifted, [0, -math.log(2), -math.log(6)])
    np.testing.assert_allclose(steps.exponentials, [1, 1 / 2, 1 / 6])
    np.testing.assert_allclose(steps.weights, [0.6, 0.3, 0.1])


@pytest.mark.parametrize("temperature", [0.1, 1.0, 8.0])
def test_temperature_divides_the_scores(temperature):
    row = np.array([3.0, -1.0, 0.5, -np.inf])
    steps = experiments.softmax_in_steps(row, temperature)
    same(steps.scores, row / temperature)
    np.testing.assert_allclose(steps.weights, al.softmax(row / temperature), rtol=1e-14)
    np.testing.assert_allclose(
        steps.weights, steps.exponentials / steps.exponentials.sum(), rtol=1e-14
    )


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_temperature_must_be_positive(temperature):
    with pytest.raises(ValueError, match="temperature must be"):
        experiments.softmax_in_steps([1.0, 2.0], temperature)


def sampling_error(count):
    """Relative error of a standard deviation over `count` samples, four times over."""
    return 4 / math.sqrt(2 * count)


# -- what is refused -----------------------------------------------------------------------------

SQUARE = np.full((2, 2), 0.5)
NOT_SEEDS = [(-1, ValueError), (0.5, TypeError), ("1", TypeError), (True, TypeError)]
NOT_WIDTHS = [
    ((0, 4), ValueError),
    ((-1, 4), ValueError),
    ((4097,), ValueError),
    ((10**5000,), ValueError),
    ((), ValueError),
    (4, TypeError),
    ("48", TypeError),
    ((4.0,), TypeError),
]
NOT_MASKS = [
    (np.tril(np.ones((2, 2), int)), TypeError),
    ("Causal", ValueError),
    (np.ones(2, bool), ValueError),
    (np.ones((2, 3), bool), ValueError),
    (np.ones((1, 2, 2), bool), ValueError),
    (True, ValueError),
]


def probe(attend=causal, position=0, **changed):
    arrays = {"Q": SQUARE, "K": SQUARE, "V": SQUARE} | changed
    return experiments.causality_probe(attend, *arrays.values(), position)


def masked(measure, **more):
    return lambda mask, scores=SQUARE: measure(scores, mask, **more)


def after_softmax(mask):
    return experiments.mask_after_softmax(SQUARE, SQUARE, mask, renormalise=True)


LEAK = masked(experiments.largest_leak)
FILL = masked(experiments.fill_mask, value=-1e9)
ADD = masked(experiments.add_mask, value=-1e9)

# (what is called, with what, the argument to blame, the error)
BAD = [
    *[
        (call, {"mask": mask}, "mask", error)
        for call in (LEAK, FILL, ADD, after_softmax)
        for mask, error in NOT_MASKS
    ],
    (LEAK, {"mask": "causal", "scores": [0.5, 0.5]}, "weights", ValueError),
    (FILL, {"mask": "causal", "scores": [0.5, 0.5]}, "scaled_scores", ValueError),
    (ADD, {"mask": "causal", "scores": [["a"]]}, "scaled_scores", TypeError),
    *[
        (call, arguments | {"seed": seed}, "seed", error)
        for call, arguments in (
            (experiments.random_qkv, {"T": 2, "d_k": 2}),
            (experiments.random_row, {"T": 2, "d_k": 2}),
            (experiments.score_spreads, {"d_ks": (4,)}),
            (experiments.freezing, {"d_ks": (4,), "T": 2}),
            (experiments.perfect_match, {"d_ks": (4,), "T": 2}),
        )
        for seed, error in NOT_SEEDS
    ],
    *[
        (call, {"d_ks": d_ks}, "d_ks", error)
        for call in (experiments.score_spreads, experiments.freezing, experiments.perfect_match)
        for d_ks, error in NOT_WIDTHS
    ],
    (experiments.score_spreads, {"d_ks": (4,), "pairs": 0}, "pairs", ValueError),
    (experiments.score_spreads, {"d_ks": (4,), "components": ["unit"]}, "components", ValueError),
    (experiments.freezing, {"d_ks": (4,), "T": 0}, "T", ValueError),
    (experiments.freezing, {"d_ks": (4,), "T": 10**12}, "T", ValueError),
    (experiments.freezing, {"d_ks": (4,), "T": 8.0}, "T", TypeError),
    (experiments.freezing, {"d_ks": (4,), "rows": 0}, "rows", ValueError),
    (experiments.perfect_match, {"d_ks": (4,), "T": 0}, "T", ValueError),
    (experiments.perfect_match, {"d_ks": (4,), "trials": 0}, "trials", ValueError),
    (experiments.random_qkv, {"T": 2.0, "d_k": 2}, "T", TypeError),
    (experiments.random_qkv, {"T": 2, "d_k": "2"}, "d_k", TypeError),
    (experiments.random_qkv, {"T": 2, "d_k": -2}, "d_k", ValueError),
    (experiments.random_qkv, {"T": 2, "d_k": 10**9}, "d_k", ValueError),
    (experiments.random_qkv, {"T": 2, "d_k": 2, "d_v": -1}, "d_v", ValueError),
    (experiments.random_row, {"T": 2, "d_k": 2.0}, "d_k", TypeError),
    (experiments.random_row, {"T": "2", "d_k": 2}, "T", TypeError),
    (experiments.divisor_value, {"divisor": "d_k", "d_k": 0}, "d_k", ValueError),
    (experiments.divisor_value, {"divisor": "none", "d_k": -4}, "d_k", ValueError),
    (experiments.effective_keys, {"weights": [1.5, -0.5]}, "weights", ValueError),
    (experiments.effective_keys, {"weights": [1.0, 1.0]}, "weights", ValueError),
    (experiments.effective_keys, {"weights": [[0.5, 0.5], [0.5, 0.2]]}, "weights", ValueError),
    (experiments.effective_keys, {"weights": [math.nan, 1.0]}, "weights", ValueError),
    (experiments.effective_keys, {"weights": 1.0}, "weights", ValueError),
    (experiments.effective_keys, {"weights": MASKED}, "weights", TypeError),
    (experiments.softmax_in_steps, {"scores": []}, "scores", ValueError),
    (experiments.softmax_in_steps, {"scores": [[1.0, 2.0]]}, "scores", ValueError),
    (experiments.softmax_in_steps, {"scores": 1.0}, "scores", ValueError),
    (experiments.softmax_in_steps, {"scores": [math.nan, 1.0]}, "scores", ValueError),
    (experiments.softmax_in_steps, {"scores": [math.inf, 1.0]}, "scores", ValueError),
    (experiments.softmax_in_steps, {"scores": [-math.inf]}, "scores", ValueError),
    *[
        (experiments.softmax_in_steps, {"scores": [1.0, 2.0], "temperature": t}, "temperature", e)
        for t, e in ((1e-320, ValueError), (math.inf, ValueError), ("1", TypeError))
    ],
    *[
        (probe, {"position": position}, "position", error)
        for position, error in ((2, ValueError), (-1, ValueError), (1.0, TypeError))
    ],
    (probe, {"Q": np.stack([SQUARE] * 2)}, "Q", ValueError),
    (probe, {"K": SQUARE[:1]}, "K", ValueError),
    (probe, {"V": [["a"]]}, "V", TypeError),
    *[
        (probe, {"attend": lambda Q, K, V, result=result: result}, "the result of attend", error)
        for result, error in (
            (1.0, ValueError),
            (np.ones((1, 2)), ValueError),
            (np.full((2, 2), math.nan), ValueError),
            (None, TypeError),
        )
    ],
]


@pytest.mark.parametrize(("call", "arguments", "name", "error"), BAD)
def test_a_bad_argument_is_refused_in_one_sentence(call, arguments, name, error):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(**arguments)
    assert caught.type is error
    assert_one_sentence(str(caught.value), name)


@pytest.mark.parametrize(
    "measure", [experiments.score_spreads, experiments.freezing, experiments.perfect_match]
)
def test_widths_come_as_any_sequence(measure):
    expected = measure((4, 8))
    for d_ks in ([4, 8], np.array([4, 8]), range(4, 9, 4)):
        assert measure(d_ks) is expected


def test_softmax_in_steps_of_the_largest_numbers_has_no_nan():
    steps = experiments.softmax_in_steps([1e308, -1e308])
    same(steps.weights, np.array([1.0, 0.0]))
