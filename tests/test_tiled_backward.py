"""Gradients tile by tile against the plain form in float64, and both against the oracle.

Both ways are tried: the fast one of NumPy, with small and large tiles, with and without threads,
with and without a maximum taken off the scores; and the plain one, a tile at a time.
"""

import threading
import time
import tracemalloc
from contextlib import nullcontext
from unittest import mock

import array_api_strict
import backends
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import all_types, arrays, cases, spoilt_cases
from threadpoolctl import threadpool_info

import andrea_lesson as al
from andrea_lesson import tiled_backward
from andrea_lesson.backward import attention_backward, attention_backward_steps
from andrea_lesson.tiled_backward import tiled_attention_backward

FLOATS = (np.float16, np.float32, np.float64)
NAMES = ("dQ", "dK", "dV")
THREADS = {"WORTH_THREADS": 0, "core_count": lambda: 3}  # more parts than this machine has cores
MAXIMUM = {"FAR": 0.0}
FORMS = {
    "as it is": {},
    "threads": THREADS,
    "one query": {"QUERIES": 1},
    "maximum": MAXIMUM,
    "all at once": {**THREADS, **MAXIMUM, "QUERIES": 3},
}
forms = st.sampled_from(list(FORMS))
small_tiles = st.one_of(st.none(), st.integers(1, 20))


def form(name):
    """Let the fast form cut and decide otherwise."""
    return mock.patch.multiple(tiled_backward, **FORMS[name]) if FORMS[name] else nullcontext()


def random(*shape, seed=0, dtype=np.float64, size=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * size).astype(dtype)


def problem(lead, T_q, T_k, d_k, d_v, *, dtype=np.float64, size=1.0):
    """Q and K of that size, V and dO of ordinary size."""
    shapes = ((T_q, d_k, size), (T_k, d_k, size), (T_k, d_v, 1), (T_q, d_v, 1))
    return [
        random(*lead, T, width, seed=seed, dtype=dtype, size=times)
        for seed, (T, width, times) in enumerate(shapes)
    ]


def masks(T_q, T_k):
    """Masks of every kind; some rows, and some tiles, have no allowed key."""
    rng = np.random.default_rng(T_q * 100 + T_k)
    holes = rng.random((T_q, T_k)) < 0.5
    holes[::3], holes[:, : T_k // 2] = False, False
    yield from (None, "causal", holes, al.sliding_window_mask(T_q, T_k, window=1 + T_k // 4))


def assert_is_backward(gradients, Q, K, V, dO, mask=None, scale=None, dtype=None):
    """Against the plain form in float64, to the tolerance of the type."""
    dtype = dtype or Q.dtype
    wide = [np.asarray(array, dtype=np.float64) for array in (Q, K, V, dO)]
    with np.errstate(all="ignore"):
        forward = al.attention_steps(*wide[:3], mask=mask, scale=scale)
        expected = attention_backward_steps(*wide, mask=mask, scale=scale)
        allowed = np.isfinite(forward.masked_scores)
        bounds = oracle.backward_bounds(expected, *wide, allowed, scale, dtype, forward)
    for name, got in zip(NAMES, gradients, strict=True):
        wanted = oracle.in_type(getattr(expected, name), dtype)
        oracle.assert_close(got, wanted, getattr(bounds, name), dtype)


# -- every size ------------------------------------------------------------------------------------


@pytest.mark.parametrize("T", range(1, 71))
def test_every_size_with_every_tile(T):
    T_k = (T, T, max(1, T - 5), T + 9)[T % 4]
    problems = problem((2,), T, T_k, 3, 2)
    some = (None, list(masks(T, T_k))[2], "causal")
    expected = [attention_backward(*problems, mask=mask) for mask in some]
    for tile in range(1, 81):
        for one in ((T + tile) % 2, 2):  # causal always, the others in turn
            gradients = tiled_attention_backward(*problems, mask=some[one], tile=tile)
            for got, wanted in zip(gradients, expected[one], strict=True):
                np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12, strict=True)


@pytest.mark.parametrize("T", range(1, 71, 3))
def test_every_size_by_the_plain_form(T):
    T_k = (T, max(1, T - 5), T + 9)[T % 3]
    problems = problem((2,), T, T_k, 3, 2)
    for mask in masks(T, T_k):
        expected = attention_backward(*problems, mask=mask)
        for tile in (1, 2, 3, 7, 16, 70, 80):
            gradients = tiled_backward._plain(np, *problems, mask, 3**-0.5, tile)
            for got, wanted in zip(gradients, expected, strict=True):
                np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12, strict=True)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [1, 12])
def test_longer_rows_of_every_type(name, dtype, size):
    problems = problem((2,), 140, 130, 8, 5, dtype=dtype, size=size)
    for mask in masks(140, 130):
        with form(name):
            gradients = tiled_attention_backward(*problems, mask=mask)
        assert_is_backward(gradients, *problems, mask)


def test_the_size_of_a_head_of_andrea_120m():
    model = al.ANDREA_120M
    problems = problem((), model.T, model.T, model.d_k, model.d_k, dtype=np.float32)
    assert_is_backward(tiled_attention_backward(*problems, mask="causal"), *problems, "causal")


# -- random problems against the oracle ------------------------------------------------------------


def memory(*values):
    return [value if isinstance(value, (list, str)) else np.array(value) for value in values]


def with_gradient(case, data, dtypes):
    """A gradient at the output for a case, and the type that all of them promote to."""
    shape = (*np.shape(case.Q)[:-1], np.shape(case.V)[-1])
    dO = data.draw(arrays(shape, dtypes))
    types = [np.asarray(array).dtype for array in (case.Q, case.K, case.V, dO)]
    floats = [kind if kind in FLOATS else np.dtype(np.float64) for kind in types]
    return dO, np.result_type(*floats)


def check_case(case, dO, dtype, tile, name):
    """One problem against plain loops; nothing that came in may change."""
    given_arrays = (case.Q, case.K, case.V, dO, case.mask)
    before = memory(*given_arrays)
    with np.errstate(all="ignore"):
        numbers = (case.Q, case.K, case.V, dO, case.allowed, case.scale)
        expected = oracle.backward(*numbers)
        bounds = oracle.backward_bounds(expected, *numbers, dtype)
        plain = attention_backward(*given_arrays[:4], **case.options)
        with form(name):
            tiled = tiled_attention_backward(*given_arrays[:4], tile=tile, **case.options)
    for of, got in zip(2 * NAMES, plain + tiled, strict=True):
        wanted = oracle.in_type(getattr(expected, of), dtype)
        oracle.assert_close(got, wanted, getattr(bounds, of), dtype)
        assert not any(np.shares_memory(got, a) for a in given_arrays if isinstance(a, np.ndarray))
    for was, now in zip(before, memory(*given_arrays), strict=True):
        np.testing.assert_array_equal(was, now)


@settings(max_examples=400)
@given(cases(), small_tiles, forms, st.data())
def test_matches_the_oracle(case, tile, name, data):
    check_case(case, *with_gradient(case, data, st.sampled_from(FLOATS)), tile, name)


@settings(max_examples=100)
@given(cases(dtypes=all_types), small_tiles, forms, st.data())
def test_integers_booleans_and_mixed_types(case, tile, name, data):
    check_case(case, *with_gradient(case, data, all_types), tile, name)


@settings(max_examples=400)
@given(spoilt_cases(), small_tiles, forms, st.data())
def test_what_is_not_finite_spoils_only_what_can_see_it(case, tile, name, data):
    """Where gradients are not finite, and the numbers elsewhere; dO has NaN and infinities too."""
    dO = random(*np.shape(case.Q)[:-1], np.shape(case.V)[-1], dtype=np.float32)
    dtype = np.result_type(case.dtype, dO.dtype)
    if dO.size and data.draw(st.booleans()):
        dO.flat[data.draw(st.integers(0, dO.size - 1))] = data.draw(
            st.sampled_from((np.nan, np.inf, -np.inf))
        )
    with np.errstate(all="ignore"):
        numbers = (case.Q, case.K, case.V, dO, case.allowed, case.scale)
        expected = oracle.backward(*numbers)
        bounds = oracle.backward_bounds(expected, *numbers, dtype)
        plain = attention_backward(*numbers[:4], **case.options)
        with form(name):
            tiled = tiled_attention_backward(*numbers[:4], tile=tile, **case.options)
    for of, got in zip(2 * NAMES, plain + tiled, strict=True):
        wanted, fine = getattr(expected, of), np.isfinite(getattr(expected, of))
        np.testing.assert_array_equal(np.isfinite(got), fine, err_msg=of)
        got, wanted, bound = (
            np.where(fine, array, 0) for array in (got, wanted, getattr(bounds, of))
        )
        oracle.assert_close(got, wanted, bound, dtype)


# -- numbers that leave little room ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["as it is", "one query", "threads"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_scores_of_ten_thousand(name, dtype):
    """Far beyond the range of exp, in either direction."""
    Q, K, V, dO = problem((2,), 40, 40, 4, 3, dtype=dtype, size=50)
    K[:, 10:20] *= 2
    Q[0, :20], K[0, ::2] = 100, -50
    for mask in masks(40, 40):
        for scale in (None, 1.0, -1.0):
            with form(name):
                gradients = tiled_attention_backward(Q, K, V, dO, mask=mask, scale=scale)
            assert_is_backward(gradients, Q, K, V, dO, mask, scale)


@pytest.mark.parametrize("size", [1.0, 3.0, 3.9, 4.1, 4.8, 5.4, 6.0])
@pytest.mark.parametrize("small", [1e-36, 1e-30, 1e-6, 1e9])
def test_small_gradients_beside_large_weights(size, small):
    """Scores from -size² to size²: without care small numbers would be rounded to 0."""
    Q = np.full((30, 1), size, dtype=np.float32)
    K = random(30, 1, dtype=np.float32)
    K *= np.float32(size) / np.abs(K).max()
    V, dO = random(30, 4, seed=2, dtype=np.float32), random(30, 4, seed=3, dtype=np.float32)
    for mask, sign, times in ((None, 1, (small, 1)), ("causal", -1, (1, small))):
        numbers = (sign * Q, K, V * np.float32(times[0]), dO * np.float32(times[1]))
        gradients = tiled_attention_backward(*numbers, mask=mask, scale=1.0)
        assert_is_backward(gradients, *numbers, mask, 1.0)


@pytest.mark.parametrize(
    ("q", "k", "scale"),
    [
        (1e19, 1e-19, None),  # squares overflow
        (1e25, 1e-25, None),
        (1e-25, 1e25, None),
        (1e30, 1e30, None),  # scores overflow
        (1e-20, 1e-20, 1e38),
        (1e10, 1e-10, 1.0),
        (3.0, 2.0, 1e-38),
        (1e-44, 3.0, None),
    ],
)
def test_numbers_near_the_end_of_their_type(q, k, scale):
    """The plain form in the same type is the measure, infinities and NaN included."""
    Q, K, V, dO = problem((), 9, 9, 3, 2, dtype=np.float32)
    numbers = (Q * np.float32(q), K * np.float32(k), V, dO)
    for mask in (None, "causal"):
        with np.errstate(all="ignore"):
            plain = attention_backward(*numbers, mask=mask, scale=scale)
            gradients = tiled_attention_backward(*numbers, mask=mask, scale=scale)
        for got, wanted in zip(gradients, plain, strict=True):
            np.testing.assert_array_equal(np.isfinite(got), np.isfinite(wanted))
            fine = np.isfinite(wanted)
            most = np.abs(wanted[fine]).max(initial=0)
            np.testing.assert_allclose(got[fine], wanted[fine], rtol=1e-4, atol=1e-5 * most + 2e-38)


def test_scores_that_overflow_to_minus_infinity_leave_no_weights():
    """0 / 0, as in the plain form: the inputs are finite, and so would be all products with 0."""
    Q, K, V, dO = problem((), 4, 4, 3, 2, dtype=np.float32)
    Q, K = np.abs(Q) * np.float32(1e20), -np.abs(K) * np.float32(1e20)
    with np.errstate(all="ignore"):
        plain = attention_backward(Q, K, V, dO, mask="causal")
        gradients = tiled_attention_backward(Q, K, V, dO, mask="causal")
    for got, wanted in zip(gradients, plain, strict=True):
        assert np.isnan(wanted).any()
        np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))


def test_a_gradient_too_large_for_float16_is_infinite_and_no_warning():
    Q, K, V, dO = problem((), 6, 6, 4, 3, dtype=np.float16)
    V, dO = V * np.float16(500), dO * np.float16(500)
    with np.errstate(all="raise"):
        gradients = tiled_attention_backward(Q, K, V, dO)
    assert np.isinf(gradients[0]).any()
    assert_is_backward(gradients, Q, K, V, dO)


def test_a_gradient_too_small_for_float16_is_0_and_no_warning():
    given_arrays = problem((), 6, 6, 4, 3, dtype=np.float16)
    with np.errstate(all="raise"):
        dQ, dK, dV = tiled_attention_backward(*given_arrays, scale=1e-9)
    assert not dQ.any()
    assert not dK.any()
    assert dV.all()


@pytest.mark.parametrize("size", [1, 30])
def test_no_warning_for_ordinary_numbers(size):
    problems = problem((2,), 40, 30, 4, 3, dtype=np.float32, size=size)
    with np.errstate(all="raise", under="ignore"):
        for mask in masks(40, 30):
            tiled_attention_backward(*problems, mask=mask)


# -- work that is left out, shared out, or done once more ------------------------------------------


def test_only_heads_that_are_not_finite_are_done_once_more():
    Q, K, V, dO = problem((5,), 20, 20, 4, 3, dtype=np.float32)
    Q[1, 3, 2], K[2, 1, 1], dO[3, 0, 0] = np.nan, np.inf, np.nan
    Q[4], K[4] = Q[4] * 100, K[4] * 100
    with np.errstate(all="ignore"), mock.patch.object(tiled_backward, "_plain") as plain:
        plain.return_value = Q[0], K[0], V[0]
        tiled_attention_backward(Q, K, V, dO, mask="causal")
    assert plain.call_count == 3


@pytest.mark.parametrize("far", [0.0, tiled_backward.FAR])
def test_rows_with_nothing_to_see_are_no_reason_to_do_a_head_once_more(far):
    problems = problem((2,), 40, 30, 4, 3)
    for mask in masks(40, 30):
        mask = mask if mask is None or isinstance(mask, str) else np.broadcast_to(mask, (2, 40, 30))
        with mock.patch.object(tiled_backward, "FAR", far):
            gradients, left_out = tiled_backward._fast(*problems, mask, 0.5, 7)
        assert left_out == []
        assert_is_backward(gradients, *problems, mask, 0.5)


@pytest.mark.parametrize("scale", [0.5, -0.5])
@pytest.mark.parametrize(("size", "near"), [(1, True), (100, False)])
def test_a_maximum_is_taken_where_it_is_needed(size, near, scale):
    given_arrays = tuple(problem((), 20, 20, 4, 3, size=size))
    one = tiled_backward._OneHead(given_arrays, None, scale, 20, np.dtype(float))
    one.take(())
    assert one.near == near


def test_hidden_keys_are_not_looked_at():
    """Beyond the last key that a tile sees, and before the first, nothing is computed."""
    given_arrays = tuple(problem((), 60, 60, 4, 3))
    for mask in ("causal", al.causal_mask(60)):
        one = tiled_backward._OneHead(given_arrays, mask, 0.5, 10, np.dtype(float))
        one.take(())
        for start in range(0, 60, 10):
            keys, cut, limit = one.seen(slice(start, start + 10))
            assert (keys.start, keys.stop) == (0, start + 10)
            wanted = np.where(oracle.causal(60, 60)[start : start + 10, keys], np.inf, -np.inf).T
            np.testing.assert_array_equal(limit, wanted[cut])
            assert cut.start >= start
    window = al.sliding_window_mask(60, window=3)
    one = tiled_backward._OneHead(given_arrays, window, 0.5, 10, np.dtype(float))
    one.take(())
    assert one.seen(slice(40, 50))[0] == slice(38, 50)


def peak_of(T, lead=()):
    problems = problem(lead, T, T, 64, 64, dtype=np.float32)
    tiled_attention_backward(*(array[..., :200, :] for array in problems))  # what is kept for good
    tracemalloc.start()
    try:
        gradients = tiled_attention_backward(*problems, mask="causal")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - sum(gradient.nbytes for gradient in gradients)


def test_memory_at_the_size_of_andrea_120m():
    """Beyond the gradients themselves; the weights alone would take 48 MiB."""
    assert peak_of(al.ANDREA_120M.T, (al.ANDREA_120M.n_head,)) < 8 * 2**20


def test_memory_grows_no_faster_than_T():
    """The weights would grow sixteenfold, from 4 MiB to 64."""
    assert peak_of(4096) < 4.5 * peak_of(1024)


def test_a_mask_by_name_is_never_made():
    Q, K, V, dO = problem((), 4096, 4096, 8, 8, dtype=np.float32)
    tracemalloc.start()
    try:
        tiled_attention_backward(Q, K, V, dO, mask="causal")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 15 * 2**20  # the mask alone would take 16 MiB


def test_the_blas_gets_its_threads_back():
    def counts():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    during, before = [], counts()
    problems = problem((3,), 50, 50, 4, 3)

    class Watched(tiled_backward._OneHead):
        def take(self, head):
            during.append(counts())
            super().take(head)

    with form("threads"), mock.patch.object(tiled_backward, "_OneHead", Watched):
        tiled_attention_backward(*problems)
    assert during
    assert all(set(one) <= {1} for one in during)
    assert counts() == before


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 12, 13])
def test_heads_are_shared_out_whole_or_in_parts(heads):
    problems = problem((heads,), 50, 45, 4, 3)
    for mask in masks(50, 45):
        with form("threads"):
            gradients = tiled_attention_backward(*problems, mask=mask, tile=4)
        assert_is_backward(gradients, *problems, mask)


class Slow(np.ndarray):
    """Adding it to another array takes a while, in which another thread may do the same."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        plain = [np.asarray(x) if isinstance(x, Slow) else x for x in inputs]
        result = getattr(ufunc, method)(*plain, **options)
        if not out:
            return result
        if not isinstance(out[0], Slow):  # what all threads add to
            time.sleep(0.003)
        np.asarray(out[0])[...] = result
        return out[0]


def test_parts_of_a_head_that_end_together_are_all_added():
    problems = problem((), 60, 60, 4, 3)

    class Slowly(tiled_backward._OneHead):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.dK, self.dV = self.dK.view(Slow), self.dV.view(Slow)

    def each_in_a_thread(items, make_worker):
        each = [threading.Thread(target=make_worker(), args=(item,)) for item in items]
        for one in each:
            one.start()
        for one in each:
            one.join()

    with mock.patch.multiple(
        tiled_backward,
        WORTH_THREADS=0,
        core_count=lambda: 8,
        share_out=each_in_a_thread,
        _OneHead=Slowly,
    ):
        gradients = tiled_attention_backward(*problems, mask="causal", tile=4)
    assert_is_backward(gradients, *problems, "causal")


# -- other array libraries, bad input --------------------------------------------------------------

DEVICE = array_api_strict.Device("device1")


@pytest.mark.parametrize("name", [one[0] for one in backends.problems(np.float64)])
def test_arrays_stay_on_their_device(name):
    *numbers, mask = next(one[1:] for one in backends.problems(np.float64) if one[0] == name)
    numbers.append(random(*numbers[0].shape[:-1], numbers[2].shape[-1]))
    moved = [array_api_strict.asarray(array, device=DEVICE) for array in numbers]
    with np.errstate(all="ignore"):
        expected = attention_backward(*moved, mask=mask)
        for tile in (None, 1, 2, 3):
            gradients = tiled_attention_backward(*moved, mask=mask, tile=tile)
            for got, wanted in zip(gradients, expected, strict=True):
                assert got.device == DEVICE
                assert got.dtype == wanted.dtype
                one, other = (
                    np.asarray(array.to_device(array_api_strict.Device("CPU_DEVICE")))
                    for array in (got, wanted)
                )
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, strict=True)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"dO": np.ones((2, 3, 5))}, ValueError, r"dO .*\(2, 3, 6\); got shape \(2, 3, 5\)"),
        ({"dO": None}, TypeError, "dO must be an array"),
        ({"V": np.ones((2, 5, 6))}, ValueError, "V must have a row"),
        ({"mask": "casual"}, ValueError, "mask"),
        ({"mask": np.ones((3, 4))}, TypeError, "mask must hold booleans"),
        ({"mask": np.ones((4, 3), dtype=bool)}, ValueError, "mask must have shape"),
        ({"scale": "1"}, TypeError, "scale"),
        ({"tile": 0}, ValueError, "tile must be at least 1"),
        ({"tile": 2.0}, TypeError, "tile must be a whole number"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(change, error, words):
    sizes = {"Q": (3, 2), "K": (4, 2), "V": (4, 6), "dO": (3, 6)}
    numbers = {name: np.ones((2, *size)) for name, size in sizes.items()} | change
    with pytest.raises(error, match=words) as refused:
        tiled_attention_backward(**numbers)
    assert "\n" not in str(refused.value)
    assert str(refused.value).endswith(".")
