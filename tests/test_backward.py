"""The gradients of attention: by hand, against plain loops, and against finite differences.

The tests are quick and need nothing but the package, NumPy and the oracle: the mutation test
runs them.  Losses are random combinations of the output: the plain sum of all weights is always
the number of rows, whatever the scores, so its gradient would be 0 and show nothing.
"""

import math

import numpy as np
import oracle
import pytest

import andrea_lesson as al
from andrea_lesson.backward import attention_backward, attention_backward_steps

FLOATS = (np.float16, np.float32, np.float64)
STEPS = ("dweights", "dscaled_scores", "dscores", "dQ", "dK", "dV")
SIZES = [(1, 1, 1, 1), (3, 3, 4, 4), (2, 5, 3, 6), (5, 2, 4, 1), (1, 8, 2, 3), (7, 7, 1, 5)]


def random(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def problem(T_q, T_k, d_k, d_v, *, lead=(), dtype=np.float64, seed=0):
    shapes = (T_q, d_k), (T_k, d_k), (T_k, d_v), (T_q, d_v)
    return [random(*lead, *shape, dtype=dtype, seed=seed + n) for n, shape in enumerate(shapes)]


def masks(T_q, T_k):
    """A mask of every kind: none, triangle, one with an empty row, random ones."""
    rng = np.random.default_rng([T_q, T_k])
    empty = np.ones((T_q, T_k), dtype=bool)
    empty[T_q // 2] = False
    return [None, "causal", empty, rng.random((T_q, T_k)) < 0.5, np.zeros((T_q, T_k), dtype=bool)]


def meaning(mask, shape):
    """Mask in full shape; True = may attend."""
    mask = oracle.causal(*shape[-2:]) if isinstance(mask, str) else mask
    return np.broadcast_to(True if mask is None else mask, shape)


def check(Q, K, V, dO, mask=None, scale=None):
    """All steps against the oracle, in the type that the result shall have."""
    dtype = np.result_type(Q, K, V, dO)
    allowed = meaning(mask, (*Q.shape[:-1], K.shape[-2]))
    with np.errstate(all="ignore"):
        expected = oracle.backward(Q, K, V, dO, allowed, scale)
        bounds = oracle.backward_bounds(expected, Q, K, V, dO, allowed, scale, dtype)
        steps = attention_backward_steps(Q, K, V, dO, mask=mask, scale=scale)
        for name in STEPS:
            of = dtype if name in ("dQ", "dK", "dV") else oracle.working_type(dtype)
            wanted, got = getattr(expected, name), getattr(steps, name)
            oracle.assert_close(got, oracle.in_type(wanted, of), getattr(bounds, name), of)
        short = attention_backward(Q, K, V, dO, mask=mask, scale=scale)
        for got, name in zip(short, ("dQ", "dK", "dV"), strict=True):
            np.testing.assert_array_equal(got, getattr(steps, name), strict=True)
    return steps


# -- worked by hand --------------------------------------------------------------------------------


def test_two_tokens_by_hand():
    """d_k = 1, so the scale is 1; the loss is output[0] + 2 output[1].

    Q = (1, 2), K = (0, ln 3), so e^score = 1, 3 in row 0 and 1, 9 in row 1:
        weights = [[1/4, 3/4], [1/10, 9/10]]
    V = (8, 0), dO = (1, 2):
        dweights = dO Vᵀ            = [[8, 0], [16, 0]]
        row mean = Σ weights dweights = 2 and 1.6
        dscores  = weights (dweights - mean) = [[1/4 · 6, 3/4 · -2], [1/10 · 14.4, 9/10 · -1.6]]
                 = [[1.5, -1.5], [1.44, -1.44]]
        dQ = dscores K  = (-1.5 ln 3, -1.44 ln 3)
        dK = dscoresᵀ Q = (1.5 + 2.88, -1.5 - 2.88)
        dV = weightsᵀ dO = (1/4 + 2/10, 3/4 + 18/10)
    """
    ln3 = math.log(3)
    steps = attention_backward_steps([[1], [2]], [[0], [ln3]], [[8], [0]], [[1], [2]])
    by_hand = {
        "weights": [[1 / 4, 3 / 4], [1 / 10, 9 / 10]],
        "dweights": [[8.0, 0], [16, 0]],
        "dscaled_scores": [[1.5, -1.5], [1.44, -1.44]],
        "dscores": [[1.5, -1.5], [1.44, -1.44]],
        "dQ": [[-1.5 * ln3], [-1.44 * ln3]],
        "dK": [[4.38], [-4.38]],
        "dV": [[0.45], [2.55]],
    }
    for name, wanted in by_hand.items():
        np.testing.assert_allclose(getattr(steps, name), np.array(wanted), rtol=1e-14, strict=True)


def test_a_scale_reaches_dscores_once():
    """d_k = 4, scale 1/2: Q = 2 e_0, K = (ln 3 e_0, 0) give weights 3/4, 1/4.

    V = (8, 0), dO = 1: dweights = (8, 0), mean 6, dscaled = (3/4 · 2, 1/4 · -6) = (1.5, -1.5),
    dscores = half of it.
    """
    Q, K = [[2, 0, 0, 0]], [[math.log(3), 0, 0, 0], [0, 0, 0, 0]]
    steps = attention_backward_steps(Q, K, [[8], [0]], [[1]])
    np.testing.assert_allclose(steps.dscaled_scores, [[1.5, -1.5]], rtol=1e-14)
    np.testing.assert_allclose(steps.dscores, [[0.75, -0.75]], rtol=1e-14)
    np.testing.assert_allclose(steps.dK, [[1.5, 0, 0, 0], [-1.5, 0, 0, 0]], rtol=1e-14)


# -- against plain loops, and against finite differences -------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
def test_every_step_matches_plain_loops(size, dtype):
    for seed, mask in enumerate(masks(*size[:2])):
        check(*problem(*size, dtype=dtype, seed=10 * seed), mask)


@pytest.mark.parametrize("scale", [None, 1.0, 0.0, -0.5, 2])
def test_any_scale_matches_plain_loops(scale):
    check(*problem(4, 6, 3, 5), "causal", scale)


@pytest.mark.parametrize("lead", [(1,), (3,), (2, 3), (0,), (2, 1, 2)])
def test_leading_axes_match_plain_loops(lead):
    given = problem(3, 4, 2, 5, lead=lead)
    check(*given)
    check(*given, "causal")
    check(*given, np.random.default_rng(0).random((*lead, 3, 4)) < 0.5)
    check(*given, np.random.default_rng(1).random((*(1 for _ in lead), 1, 4)) < 0.5)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_no_tokens_give_empty_or_zero_gradients(shape):
    steps = check(*problem(*shape, 2, 4), "causal")
    assert not steps.dQ.any()
    assert not steps.dK.any()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [100.0, 3e-3])
def test_large_and_small_scores_match_plain_loops(size, dtype):
    Q, K, V, dO = problem(5, 6, 4, 3, dtype=dtype)
    for mask in masks(5, 6):
        check(Q * dtype(size), K * dtype(size), V, dO, mask)


@pytest.mark.parametrize("which", range(3), ids=("dQ", "dK", "dV"))
@pytest.mark.parametrize("size", SIZES)
def test_finite_differences_agree(size, which):
    """(loss(x + h) - loss(x - h)) / 2h for each number of each input; loss = Σ dO output."""
    for seed, mask in enumerate(masks(*size[:2])):
        *inputs, dO = problem(*size, seed=seed)
        got = attention_backward(*inputs, dO, mask=mask)[which]

        def loss(changed, inputs=inputs, dO=dO, mask=mask):
            given = [changed if n == which else array for n, array in enumerate(inputs)]
            return float(np.sum(dO * al.attention(*given, mask=mask)))

        h, x = 1e-5, inputs[which]
        expected = np.zeros_like(x)
        for place in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[place] = h
            expected[place] = (loss(x + step) - loss(x - step)) / (2 * h)
        # The formula itself is off by h² times the third derivative, rounding by 1e-16 / h.
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=3e-9, strict=True)


# -- what a gradient tells -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_only_score_of_a_causal_row_0_has_a_gradient_of_exactly_zero(dtype):
    """Its weight is 1 whatever the score."""
    steps = attention_backward_steps(*problem(6, 6, 4, 4, dtype=dtype), mask="causal")
    np.testing.assert_array_equal(steps.dscores[0], 0)
    np.testing.assert_array_equal(steps.dQ[0], 0)
    assert steps.dscores[1:].any(axis=-1).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_saturated_row_learns_nothing(dtype):
    """Query 0 has a score of 20 · 20 with key 0 and 0 with key 1, whose weight is e^-400.

    The loss asks for key 1: the row that is wrong, and sure of it, gets no gradient at all.
    """
    Q, K, V = np.array([[20.0, 0], [0, 0.1]]), np.array([[20.0, 0], [0, 20]]), np.eye(2)
    dO = np.array([[0.0, -1], [0, -1]])
    steps = attention_backward_steps(*(a.astype(dtype) for a in (Q, K, V, dO)), scale=1)
    np.testing.assert_allclose(steps.dscores[0], 0, atol=1e-150)
    assert abs(steps.dscores[1]).min() > 0.05


def test_gradients_of_the_scores_of_a_row_sum_to_zero():
    """Adding the same to all scores of a row changes no weight."""
    steps = attention_backward_steps(*problem(5, 7, 3, 4, lead=(2,)), mask="causal")
    assert abs(steps.dscores).max() > 0.1
    np.testing.assert_allclose(steps.dscores.sum(axis=-1), 0, atol=1e-15)


# -- rows with nothing to see, NaN and infinities --------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("seen", [0.0, 1.0])
def test_a_row_with_every_key_masked_spoils_nothing(dtype, seen):
    """pytorch/pytorch#103963, #41508: NaN in one masked row, then in the whole batch."""
    Q, K, V, _ = problem(3, 3, 4, 4, dtype=dtype)
    dO = np.ones((3, 4), dtype=dtype)
    dO[1] = seen
    mask = np.array([[1, 0, 0], [0, 0, 0], [1, 1, 1]], dtype=bool)
    dQ, dK, dV = attention_backward(Q, K, V, dO, mask=mask)
    np.testing.assert_array_equal(dQ[1], 0)
    others = attention_backward(Q[[0, 2]], K, V, dO[[0, 2]], mask=mask[[0, 2]])
    close = 20 * float(np.finfo(dtype).eps)
    for got, wanted in zip((dQ[[0, 2]], dK, dV), others, strict=True):
        assert np.isfinite(got).all()
        np.testing.assert_allclose(got, wanted, rtol=close, atol=close)


def places(Q, K, V, dO, mask):
    """Where gradients are finite: expected and got."""
    allowed = meaning(mask, (*Q.shape[:-1], K.shape[-2]))
    with np.errstate(all="ignore"):
        expected = oracle.backward(Q, K, V, dO, allowed)
        got = attention_backward_steps(Q, K, V, dO, mask=mask)
    for name in STEPS:
        wanted, came = getattr(expected, name), getattr(got, name)
        np.testing.assert_array_equal(np.isfinite(came), np.isfinite(wanted), err_msg=name)
    return expected, got


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", range(4), ids=("Q", "K", "V", "dO"))
def test_what_is_not_finite_spoils_only_what_can_see_it(which, value):
    """The 0 × NaN trap, for each input in turn; the numbers elsewhere stay right."""
    for mask in masks(5, 6):
        for place in ((0, 0), (2, 1), (-1, 2)):
            given = problem(5, 6, 3, 3)
            given[which][place] = value
            expected, got = places(*given, mask)
            for name in STEPS:
                wanted, came = getattr(expected, name), getattr(got, name)
                fine = np.isfinite(wanted)
                np.testing.assert_allclose(came[fine], wanted[fine], rtol=1e-11, atol=1e-13)


def test_a_hidden_nan_is_as_if_it_were_not_there():
    """The last key is filler that nobody sees, and the row of filler sees nothing."""
    given = problem(4, 4, 3, 2)
    mask = np.ones((4, 4), dtype=bool)
    mask[:, 3] = mask[3] = False
    clean = attention_backward(*given, mask=mask)
    for array in given:
        array[3] = np.nan
    for got, wanted in zip(attention_backward(*given, mask=mask), clean, strict=True):
        np.testing.assert_array_equal(got, wanted, strict=True)
        np.testing.assert_array_equal(got[3], 0)


def test_a_row_of_nan_spoils_the_keys_that_it_sees_and_no_other():
    Q, K, V, dO = problem(4, 4, 3, 2)
    Q[1] = np.nan
    dQ, dK, dV = attention_backward(Q, K, V, dO, mask="causal")
    np.testing.assert_array_equal(np.isnan(dQ).all(axis=-1), [False, True, False, False])
    for gradient in (dK, dV):
        np.testing.assert_array_equal(np.isnan(gradient).any(axis=-1), [True, True, False, False])
    assert np.isfinite(dQ[[0, 2, 3]]).all()
    assert np.isfinite(dK[2:]).all()


# -- types, memory, bad input ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_float16_is_computed_in_float32(dtype):
    """40 · 40 · 64 is beyond float16, whose sums would be infinite."""
    Q, K = np.full((2, 64), 40, dtype=dtype), np.full((3, 64), 40, dtype=dtype)
    V, dO = random(3, 4, dtype=dtype), random(2, 4, dtype=dtype)
    steps = check(Q, K, V, dO)
    np.testing.assert_allclose(steps.weights, 1 / 3, rtol=1e-6)


def test_whole_numbers_lists_and_mixed_types():
    given = [np.arange(6).reshape(3, 2) + n for n in range(4)]
    expected = attention_backward(*(array.astype(float) for array in given))
    for change in (np.asarray, np.int8, np.ndarray.tolist):
        for got, wanted in zip(attention_backward(*map(change, given)), expected, strict=True):
            np.testing.assert_array_equal(got, wanted, strict=True)
    Q, K, V, dO = problem(2, 3, 2, 2, dtype=np.float32)
    assert {g.dtype for g in attention_backward(Q, K, V.astype(np.float64), dO)} == {
        np.dtype(np.float64)
    }
    check(Q, K, V, dO.astype(np.float64))


def test_inputs_stay_as_they_are_and_may_be_read_only():
    given = problem(4, 4, 3, 3)
    given[1][0, 0] = given[3][3, 1] = np.nan  # so that something has to be left out
    mask = al.causal_mask(4)
    for array in (*given, mask):
        array.flags.writeable = False
    before = [array.copy() for array in given]
    steps = attention_backward_steps(*given, mask=mask)
    for was, now in zip(before, given, strict=True):
        np.testing.assert_array_equal(was, now)
        assert not any(np.shares_memory(now, getattr(steps, name)) for name in STEPS)


def test_views_of_any_layout_match_plain_loops():
    Q, K, V, dO = problem(5, 5, 4, 4, lead=(2,))
    check(
        np.asfortranarray(Q), K[:, ::-1], V[..., ::-1], np.broadcast_to(dO[:1], dO.shape), "causal"
    )


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"dO": np.ones((2, 3, 5))}, ValueError, r"dO .*\(2, 3, 6\); got shape \(2, 3, 5\)"),
        ({"dO": np.ones((2, 4, 6))}, ValueError, r"dO .*\(2, 3, 6\); got shape \(2, 4, 6\)"),
        ({"dO": np.ones((3, 6))}, ValueError, r"dO .*\(2, 3, 6\); got shape \(3, 6\)"),
        ({"dO": np.ones((1, 3, 6))}, ValueError, r"dO .*\(2, 3, 6\); got shape \(1, 3, 6\)"),
        ({"dO": 1.0}, ValueError, r"dO .*; got shape \(\)"),
        ({"dO": "all"}, TypeError, "dO must hold real numbers"),
        ({"dO": None}, TypeError, "dO must be an array"),
        ({"dO": np.ones((2, 3, 6), dtype=complex)}, TypeError, "dO .*complex128"),
        ({"K": np.ones((2, 4, 5))}, ValueError, "Q and K"),
        ({"V": np.ones((2, 5, 6))}, ValueError, "V must have a row"),
        ({"mask": "casual"}, ValueError, "mask"),
        ({"mask": np.ones((3, 4))}, TypeError, "mask must hold booleans"),
        ({"mask": np.ones((4, 3), dtype=bool)}, ValueError, "mask must have shape"),
        ({"scale": "1"}, TypeError, "scale"),
        ({"scale": math.inf}, ValueError, "scale must be finite"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(change, error, words):
    given = {name: np.ones((2, T, width)) for name, T, width in SHAPES} | change
    for function in (attention_backward, attention_backward_steps):
        with pytest.raises(error, match=words) as refused:
            function(**given)
        assert "\n" not in str(refused.value)
        assert str(refused.value).endswith(".")


SHAPES = [("Q", 3, 2), ("K", 4, 2), ("V", 4, 6), ("dO", 3, 6)]
