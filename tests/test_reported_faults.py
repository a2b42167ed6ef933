"""Faults that users of other attention code have met, each as a test that it is not met here.

The issue where it was reported stands in the docstring.  Numbers worked by hand are in the
comments.  The tests are quick and need nothing but the package: the mutation test runs them.
"""

import math

import numpy as np
import pytest

import andrea_lesson as al

FLOATS = (np.float16, np.float32, np.float64)
ROUNDING = {np.float16: 1e-3, np.float32: 1e-6, np.float64: 1e-14}


def random(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# -- worked by hand ------------------------------------------------------------------------------


def test_one_query_two_keys_by_hand():
    """d_k = 4, so the scale is 1/2; every number can be followed on paper.

    q = (2, 0, 0, 0)
    k_0 = (ln 3, 1, 1, 1)    q·k_0 = 2 ln 3    halved ln 3    e^(ln 3) = 3    weight 3/4
    k_1 = (0, 5, 5, 5)       q·k_1 = 0         halved 0       e^0      = 1    weight 1/4
    v_0 = (8, 0, 4), v_1 = (0, 8, 4)
    output = 3/4 v_0 + 1/4 v_1 = (6, 2, 4)
    """
    Q = [[2, 0, 0, 0]]
    K = [[math.log(3), 1, 1, 1], [0, 5, 5, 5]]
    V = [[8, 0, 4], [0, 8, 4]]
    steps = al.attention_steps(Q, K, V)
    np.testing.assert_allclose(steps.scores, [[2 * math.log(3), 0]], rtol=1e-15, strict=True)
    np.testing.assert_allclose(steps.scaled_scores, [[math.log(3), 0]], rtol=1e-15, strict=True)
    np.testing.assert_allclose(steps.weights, [[3 / 4, 1 / 4]], rtol=1e-15, strict=True)
    np.testing.assert_allclose(steps.output, np.array([[6.0, 2, 4]]), rtol=1e-15, strict=True)


def test_a_scale_of_ones_own_by_hand():
    """scale = 1 leaves the score 2 ln 3: e^(2 ln 3) = 9, so the weights are 9/10 and 1/10."""
    weights = al.attention_weights([[2, 0]], [[math.log(3), 1], [0, 5]], scale=1)
    np.testing.assert_allclose(weights, [[9 / 10, 1 / 10]], rtol=1e-15, strict=True)


def test_three_tokens_under_the_causal_mask_by_hand():
    """scores[i, j] = ln of the table below, d_k = 1 so that the scale is 1.

    Q = (1, 2, 3) and K = (0, ln 2, ln 3), so e^score = (1, 2, 3) to the power of q:
    row 0:  1                 / 1             -> 1
    row 1:  1, 4              / 5             -> 1/5, 4/5
    row 2:  1, 8, 27          / 36            -> 1/36, 8/36, 27/36
    """
    Q, K = [[1], [2], [3]], [[0], [math.log(2)], [math.log(3)]]
    weights = al.attention_weights(Q, K, mask="causal")
    by_hand = np.array([[1, 0, 0], [1 / 5, 4 / 5, 0], [1 / 36, 8 / 36, 27 / 36]])
    np.testing.assert_allclose(weights, by_hand, rtol=1e-14, strict=True)


# -- rows with nothing to see --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_row_with_every_key_masked_is_zero_not_nan(dtype):
    """pytorch/pytorch#103963, #41508: NaN in one masked row, then in the whole batch."""
    Q, K, V = (random(3, 4, dtype=dtype, seed=s) for s in range(3))
    mask = np.array([[1, 0, 0], [0, 0, 0], [1, 1, 1]], dtype=bool)
    steps = al.attention_steps(Q, K, V, mask=mask)
    np.testing.assert_array_equal(steps.weights[1], [0, 0, 0])
    np.testing.assert_array_equal(steps.output[1], [0, 0, 0, 0])
    assert np.isneginf(steps.masked_scores[1]).all()
    others = al.attention_steps(Q[[0, 2]], K, V, mask=mask[[0, 2]])
    # Another number of rows may be summed in another order, so not bit by bit.
    np.testing.assert_allclose(steps.output[[0, 2]], others.output, rtol=4 * ROUNDING[dtype])


def test_the_empty_row_is_met_before_the_division():
    """No warning either: 0/0 and -inf - -inf never happen."""
    with np.errstate(all="raise"):
        weights = al.attention_weights(random(2, 3), random(2, 3), mask=np.zeros((2, 2), bool))
        np.testing.assert_array_equal(weights, np.zeros((2, 2)))
        np.testing.assert_array_equal(al.softmax([[-np.inf] * 3]), np.zeros((1, 3)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_masked_row_is_no_uniform_distribution(dtype):
    """keras-team/keras#21149: with -1e9 for -inf a masked row looks like real attention."""
    nothing = np.zeros((1, 3), dtype=bool)
    zeros = np.zeros((3, 2), dtype=dtype)
    weights = al.attention_weights(zeros[:1], zeros, mask=nothing)
    np.testing.assert_array_equal(weights, np.zeros((1, 3), dtype=dtype), strict=True)


# -- the causal triangle -------------------------------------------------------------------------


def test_the_causal_triangle_ends_at_the_bottom_right():
    """microsoft/onnxruntime#29020, flash-attention#1778: where T_q ≠ T_k libraries disagree."""
    for T_q, T_k, keys_seen in ((2, 5, [4, 5]), (1, 8, [8]), (5, 2, [0, 0, 0, 1, 2])):
        Q, K = np.zeros((T_q, 3)), np.zeros((T_k, 3))
        weights = al.attention_weights(Q, K, mask="causal")
        assert (weights > 0).sum(axis=-1).tolist() == keys_seen
        np.testing.assert_array_equal(
            weights, al.attention_weights(Q, K, mask=al.causal_mask(T_q, T_k))
        )


def test_a_decoded_token_gets_what_it_had_in_the_full_sequence():
    Q, K, V = (random(6, 4, seed=s) for s in range(3))
    whole = al.attention(Q, K, V, mask="causal")
    for last in range(1, 7):
        part = al.attention(Q[-last:], K, V, mask="causal")
        np.testing.assert_allclose(part, whole[-last:], rtol=0, atol=1e-14, strict=True)


@pytest.mark.parametrize("dtype", FLOATS)
def test_row_0_of_causal_output_is_the_first_value(dtype):
    """rasbt/LLMs-from-scratch#1061: the mask with its polarity reversed."""
    Q, K, V = (random(2, 5, 4, dtype=dtype, seed=s) for s in range(3))
    for mask in ("causal", al.causal_mask(5), al.causal_mask(5).tolist()):
        output = al.attention(Q, K, V, mask=mask)
        np.testing.assert_array_equal(output[:, 0], V[:, 0], strict=True)


@pytest.mark.parametrize("make", [~np.tril(np.ones((3, 3), int)), np.tril(np.ones((3, 3)))])
def test_a_mask_of_numbers_is_refused(make):
    """pytorch/pytorch#28272: ``~`` on whole numbers gives -1 and -2, all of them true."""
    with pytest.raises(TypeError, match="mask must hold booleans, True = may attend"):
        al.attention(np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 2)), mask=make)


# -- -inf and its stand-ins ----------------------------------------------------------------------


def test_a_hidden_key_never_wins_however_bad_the_visible_ones_are():
    """TransformerLens#318: real scores below -1e9 hand the row to the masked future."""
    Q, K = np.array([[1.0], [1.0]]), np.array([[-2e9], [0.0]])
    weights = al.attention_weights(Q, K, mask="causal", scale=1)
    np.testing.assert_array_equal(weights, np.array([[1.0, 0.0], [0.0, 1.0]]), strict=True)


@pytest.mark.parametrize("dtype", FLOATS)
def test_one_mask_means_the_same_in_every_precision(dtype):
    """google/flax#982: a mask constant made for float32 overflows in float16."""
    Q, K, V = (random(4, 8, dtype=np.float16, seed=s) for s in range(3))
    mask = al.causal_mask(4) & al.document_mask([0, 0, 1, 1]) & np.array([1, 1, 0, 1], bool)
    got = al.attention(*(array.astype(dtype) for array in (Q, K, V)), mask=mask)
    exact = al.attention(*(array.astype(np.float64) for array in (Q, K, V)), mask=mask)
    np.testing.assert_array_equal(got[2], np.zeros(8))  # sees nobody
    np.testing.assert_allclose(got, exact, rtol=0, atol=ROUNDING[dtype])


def test_a_hidden_nan_or_infinity_spoils_no_other_row():
    """0 × NaN is NaN: a weight of 0 alone does not keep a hidden value out."""
    Q, K, V = (random(3, 2, seed=s) for s in range(3))
    fine = al.attention(Q, K, V, mask="causal")
    for bad in (np.nan, np.inf, -np.inf):
        V_bad, K_bad = V.copy(), K.copy()
        V_bad[2, 0] = bad  # seen by row 2 alone
        output = al.attention(Q, K, V_bad, mask="causal")
        np.testing.assert_array_equal(output[:2], fine[:2])
        np.testing.assert_array_equal(output[2, 0], bad)
        np.testing.assert_allclose(output[2, 1], fine[2, 1], rtol=1e-14)
        K_bad[2, 0] = np.nan
        weights = al.attention_weights(Q, K_bad, mask="causal")
        np.testing.assert_array_equal(weights[:2], al.attention_weights(Q, K, mask="causal")[:2])
        assert np.isnan(weights[2]).all()


def test_a_hidden_key_weighs_0_even_in_a_spoilt_row():
    weights = al.attention_weights([[np.nan], [1.0]], [[1.0], [2.0]], mask="causal")
    assert np.isnan(weights[0, 0])
    assert weights[0, 1] == 0
    assert np.isfinite(weights[1]).all()


# -- softmax -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row", [[1, 2, 3], np.array([1, 2, 3]), np.array([1, 2, 3], np.uint8), (1, 2, 3)]
)
def test_softmax_of_whole_numbers_is_not_cut_to_zero(row):
    """scikit-learn#11226, MyGrad#193: an output buffer of the input's type; uint8 wraps."""
    e = math.e  # weights 1, e, e² over their sum
    expected = np.array([1, e, e**2]) / (1 + e + e**2)
    before = np.array(row)
    np.testing.assert_allclose(al.softmax(row), expected, rtol=1e-15, strict=True)
    np.testing.assert_array_equal(before, row)


def test_softmax_of_booleans():
    expected = np.array([math.e, 1]) / (math.e + 1)
    np.testing.assert_allclose(al.softmax([True, False]), expected, rtol=1e-15, strict=True)


@pytest.mark.parametrize(
    ("dtype", "scores", "expected"),
    [
        (np.float64, [1000, 1000], [0.5, 0.5]),
        (np.float64, [-1000, -1000], [0.5, 0.5]),
        (np.float64, [1e308, 0], [1, 0]),
        (np.float32, [89, 0], [1, 0]),  # e^-89 is below float32
        (np.float16, [12, 0], [1, 1 / (1 + math.exp(12))]),
        (np.float64, [[1000, 1001], [0, 1]], [[1 / (1 + math.e), math.e / (1 + math.e)]] * 2),
    ],
)
def test_large_scores_overflow_nothing(dtype, scores, expected):
    """scipy/scipy#23225: exp overflows at 710, 89 and 12 unless the highest is subtracted."""
    weights = al.softmax(np.array(scores, dtype=dtype))
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(
        weights, np.array(expected, dtype=dtype), rtol=ROUNDING[dtype], atol=1e-37, strict=True
    )


def test_infinity_among_the_scores_makes_its_row_nan():
    with np.errstate(invalid="ignore"):
        weights = al.softmax([[0, np.inf], [0, 0], [np.nan, 0]])
    np.testing.assert_array_equal(weights, np.array([[np.nan] * 2, [0.5] * 2, [np.nan] * 2]))


def test_float16_products_are_summed_in_float32():
    """d_k = 64, entries 40: the score is 102,400, beyond float16 (65,504)."""
    Q = np.full((1, 64), 40, np.float16)
    V = np.array([[1], [3]], np.float16)
    steps = al.attention_steps(Q, np.concatenate([Q, Q]), V)
    np.testing.assert_array_equal(steps.scores, np.full((1, 2), 102_400, np.float32), strict=True)
    np.testing.assert_array_equal(steps.output, np.array([[2]], np.float16), strict=True)


def test_float16_projections_are_summed_in_float32():
    """60,000 + 60,000 - 60,000 is a float16, the sum on the way is not."""
    X, W = np.full((1, 3), 200, np.float16), np.array([[300], [300], [-300]], np.float16)
    for projected in al.project_qkv(X, W, W, W):
        np.testing.assert_array_equal(projected, np.array([[60_000]], np.float16), strict=True)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 2, 3, 4)])
def test_rows_sum_to_1_along_the_keys(shape):
    """pytorch/pytorch#37399: the wrong axis, the whole matrix, or sums without keepdims."""
    weights = al.attention_weights(random(*shape), random(*shape, seed=1))
    np.testing.assert_allclose(weights.sum(axis=-1), np.ones(shape[:-1]), rtol=1e-14)
    assert np.abs(weights.sum(axis=-2) - 1).max() > 0.1


def test_softmax_takes_the_axis_it_is_told():
    scores = np.array([[1.0, 2.0], [3.0, 4.0]])
    low, high = 1 / (1 + math.e**2), math.e**2 / (1 + math.e**2)
    np.testing.assert_allclose(al.softmax(scores, 0), [[low, low], [high, high]], rtol=1e-15)
    np.testing.assert_array_equal(al.softmax(scores, np.int64(1)), al.softmax(scores))


# -- the scale, and the type it must not change --------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scale", [None, 0.5, np.float64(0.5), np.float32(0.5), 2])
def test_the_scale_changes_no_type(dtype, scale):
    """netket/netket#1218: a NumPy scalar turns float32 into float64."""
    Q, K, V = (random(3, 4, dtype=dtype, seed=s) for s in range(3))
    wide = np.float32 if dtype == np.float16 else dtype
    for mask in (None, "causal", al.full_mask(3)):
        steps = al.attention_steps(Q, K, V, mask=mask, scale=scale)
        for step in (steps.scores, steps.scaled_scores, steps.masked_scores, steps.weights):
            assert step.dtype == wide
        assert steps.output.dtype == dtype
        assert al.attention_weights(Q, K, mask=mask, scale=scale).dtype == dtype
    assert al.softmax(Q).dtype == dtype
    assert [a.dtype for a in al.project_qkv(Q, K.T, K.T, K.T)] == [dtype] * 3


@pytest.mark.parametrize("d_k", [1, 4, 64, 256])
def test_the_divisor_is_the_root_of_d_k_alone(d_k):
    """Graylab/DL4Proteins-notebooks#12: divided by √d_model or √n_head instead.

    12 heads, d_v = 3 and d_model = 12 d_k, so that no other width could be mistaken for d_k.
    """
    X = random(100, 12 * d_k)
    W = [random(12 * d_k, width, seed=s) / math.sqrt(12 * d_k) for s, width in ((1, d_k), (2, d_k))]
    Q, K, V = al.project_qkv(X, *W, random(12 * d_k, 3, seed=3))
    steps = al.attention_steps(Q, K, V)
    ratio = steps.scaled_scores * math.sqrt(d_k)
    np.testing.assert_allclose(ratio, steps.scores, rtol=1e-15)


def test_scaled_scores_of_random_vectors_have_spread_1_at_every_d_k():
    for d_k in (4, 64, 1024):
        Q, K = random(200, d_k, seed=1), random(200, d_k, seed=2)
        steps = al.attention_steps(Q, K, np.zeros((200, 1)))
        assert 0.95 < steps.scaled_scores.std() < 1.05
        assert 0.95 < steps.scores.std() / math.sqrt(d_k) < 1.05
