"""The algebra against the oracle, on random problems of every shape, type and layout."""

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    all_types,
    arrays,
    cases,
    float_type,
    leads,
    plain,
    sizes,
    spoilt_cases,
)

import andrea_lesson as al

STEPS = ("scores", "scaled_scores", "masked_scores", "weights", "output")


def assert_steps(case):
    """All steps of one problem against the oracle; returns them."""
    expected = case.expected()
    bounds = case.bounds(expected)
    steps = al.attention_steps(case.Q, case.K, case.V, **case.options)
    for name in STEPS:
        dtype = case.dtype if name == "output" else oracle.working_type(case.dtype)
        oracle.assert_close(
            getattr(steps, name), getattr(expected, name), getattr(bounds, name), dtype
        )
    return steps


def memory(*values):
    """The bytes of some arguments, to see whether a call changed them."""
    return [value if isinstance(value, (list, str)) else np.array(value) for value in values]


@settings(max_examples=1000)
@given(cases())
def test_steps_match_the_oracle(case):
    arguments = (case.Q, case.K, case.V, case.mask)
    before = memory(*arguments)
    steps = assert_steps(case)
    for was, now in zip(before, memory(*arguments), strict=True):
        np.testing.assert_array_equal(was, now)
    for name in STEPS:
        for given_array in arguments:
            if isinstance(given_array, np.ndarray):
                assert not np.shares_memory(getattr(steps, name), given_array)


@settings(max_examples=300)
@given(cases(dtypes=all_types))
def test_integers_booleans_and_mixed_types_match_the_oracle(case):
    assert_steps(case)


@settings(max_examples=1000)
@given(spoilt_cases())
def test_nan_and_infinities_stay_where_they_can_be_seen(case):
    with np.errstate(all="ignore"):
        assert_steps(case)


@settings(max_examples=300)
@given(cases())
def test_the_short_forms_are_the_steps(case):
    steps = al.attention_steps(case.Q, case.K, case.V, **case.options)
    output = al.attention(case.Q, case.K, case.V, **case.options)
    np.testing.assert_array_equal(output, steps.output, strict=True)

    dtype = float_type(case.Q, case.K)
    expected = case.expected()
    bound = oracle.bounds(expected, case.Q, case.K, case.V, case.allowed, case.scale, dtype)
    bound = oracle.after_cast(bound.weights, expected.weights, dtype)
    weights = al.attention_weights(case.Q, case.K, **case.options)
    oracle.assert_close(weights, expected.weights, bound, dtype)


@settings(max_examples=300)
@given(cases())
def test_rows_of_weights_sum_to_one_or_are_empty(case):
    weights = al.attention_steps(case.Q, case.K, case.V, **case.options).weights
    np.testing.assert_array_equal(weights[~case.allowed], 0.0)
    assert (weights >= 0).all()
    u = oracle.rounding(weights.dtype)
    sums = weights.astype(np.float64).sum(axis=-1)
    np.testing.assert_allclose(sums, case.allowed.any(axis=-1), rtol=0, atol=20 * u)


@settings(max_examples=300)
@given(cases(dtypes=st.just(np.float64), layouts=plain), st.data())
def test_a_later_token_moves_no_earlier_row(case, data):
    """The causality probe: change everything from position t on, look at the rows before it."""
    T = min(case.K.shape[-2], case.Q.shape[-2])
    Q, K, V = case.Q[..., :T, :], case.K[..., :T, :].copy(), case.V[..., :T, :].copy()
    before = al.attention(Q, K, V, mask="causal")
    t = data.draw(st.integers(0, T))
    K[..., t:, :], V[..., t:, :] = 17.0, -17.0
    after = al.attention(Q, K, V, mask="causal")
    np.testing.assert_array_equal(after[..., :t, :], before[..., :t, :])


@settings(max_examples=500)
@given(st.data())
def test_softmax_matches_the_oracle(data):
    shape = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=4).map(tuple))
    scores = data.draw(arrays(shape, all_types))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    if isinstance(scores, np.ndarray) and scores.dtype.kind == "f" and data.draw(st.booleans()):
        hidden = np.random.default_rng(data.draw(st.integers(0, 99))).random(shape) < 0.4
        scores = np.where(hidden, scores.dtype.type(-np.inf), scores)
    dtype = float_type(scores)
    (before,) = memory(scores)

    weights = al.softmax(scores, axis)

    expected = oracle.softmax(scores, axis)
    size = np.where(np.isfinite(scores), np.abs(np.asarray(scores, dtype=np.float64)), 0.0)
    size = np.max(size, axis=axis, keepdims=True, initial=0.0)
    bound = oracle.softmax_bound(expected, 2 * size, np.shape(scores)[axis], dtype)
    oracle.assert_close(weights, expected, oracle.after_cast(bound, expected, dtype), dtype)
    np.testing.assert_array_equal(before, memory(scores)[0])
    assert isinstance(scores, list) or not np.shares_memory(weights, scores)


@settings(max_examples=300)
@given(st.data())
def test_project_qkv_matches_the_oracle(data):
    lead, T, d_model, d_k, d_v = data.draw(st.tuples(leads, sizes, sizes, sizes, sizes))
    X = data.draw(arrays((*lead, T, d_model), all_types))
    W = [data.draw(arrays((d_model, width), all_types)) for width in (d_k, d_k, d_v)]
    dtype = float_type(X, *W)
    projected = al.project_qkv(X, *W)
    assert len(projected) == 3
    for got, matrix in zip(projected, W, strict=True):
        expected = oracle.project(X, matrix)
        bound = oracle.product_bound(np.asarray(X, float), np.asarray(matrix, float), dtype)
        with np.errstate(over="ignore"):  # 70,000 is beyond float16
            expected = np.where(np.isinf(expected.astype(dtype)), np.inf, expected)
        oracle.assert_close(got, expected, oracle.after_cast(bound, expected, dtype), dtype)
        for array in (X, *W):
            assert isinstance(array, list) or not np.shares_memory(got, array)


@pytest.mark.parametrize(
    ("dtype", "most"), [(np.float64, 2e-13), (np.float32, 3e-5), (np.float16, 2e-3)]
)
def test_the_tolerance_itself_is_tight(dtype, most):
    """For ordinary numbers the bound of the oracle lets nothing but rounding pass."""
    rng = np.random.default_rng(0)
    Q, K, V = (rng.standard_normal((16, 16)).astype(dtype) for _ in range(3))
    allowed = oracle.causal(16, 16)
    expected = oracle.attention(Q, K, V, allowed)
    bounds = oracle.bounds(expected, Q, K, V, allowed, None, dtype)
    assert bounds.weights.max() < most
    assert bounds.output.max() < most
    wrong = (expected.weights * (1 + most)).astype(oracle.working_type(dtype))
    with pytest.raises(AssertionError, match="off by more than rounding"):
        oracle.assert_close(wrong, expected.weights, bounds.weights, wrong.dtype)
