"""Tiled attention against the oracle and against plain attention in float64.

Both of its forms are tried: the readable one, step by step, and the fast one of NumPy, with small
and large tiles, with and without threads, with and without its two ways to leave out work.
"""

import tracemalloc
from contextlib import nullcontext
from itertools import product
from unittest import mock

import array_api_strict
import backends
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import all_types, cases, spoilt_cases

import andrea_lesson as al
from andrea_lesson import tiled, tiled_fast
from andrea_lesson.backward import attention_backward
from andrea_lesson.tiled import tiled_attention, tiled_steps
from andrea_lesson.tiled_backward import tiled_attention_backward

THREADS = {"WORTH_THREADS": 0}
NO_EXP2 = {"exponential": lambda kind: (np.exp, 1.0)}
NOT_BOUNDED = {"_highest_square": lambda rows, wide: 1e9 if np.isfinite(rows).all() else np.nan}
FORMS = {
    "as it is": {},
    "threads": THREADS,
    "small tiles": {"QUERIES": 4, "KEYS": 11},
    "one query": {"QUERIES": 1, "KEYS": 3},
    "no exp2": NO_EXP2,
    "maximum": NOT_BOUNDED,
    "maximum, small tiles": {**NOT_BOUNDED, "QUERIES": 3, "KEYS": 5},
    "all at once": {**NOT_BOUNDED, **THREADS, "QUERIES": 2, "KEYS": 7},
}
forms = st.sampled_from(list(FORMS))
small_tiles = st.one_of(st.none(), st.integers(1, 20))


def form(name):
    """Let the fast form cut and decide otherwise."""
    return mock.patch.multiple(tiled_fast, **FORMS[name]) if FORMS[name] else nullcontext()


def random(*shape, seed=0, dtype=np.float64, size=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * size).astype(dtype)


def triple(lead, T_q, T_k, d_k, d_v, **options):
    shapes = ((T_q, d_k), (T_k, d_k), (T_k, d_v))
    return [random(*lead, *shape, seed=s, **options) for s, shape in enumerate(shapes)]


def assert_is_attention(output, Q, K, V, mask=None, scale=None):
    """Against plain attention in float64, to the tolerance of the type."""
    wide = [array.astype(np.float64) for array in (Q, K, V)]
    with np.errstate(all="ignore"):
        expected = al.attention_steps(*wide, mask=mask, scale=scale)
        allowed = np.isfinite(expected.masked_scores)
        bound = oracle.bounds(expected, *wide, allowed, scale, Q.dtype).output
    oracle.assert_close(output, expected.output, bound, Q.dtype)


def masks(T_q, T_k):
    """Masks of every kind; some rows, and some first tiles, have no allowed key."""
    rng = np.random.default_rng(T_q * 100 + T_k)
    holes = rng.random((T_q, T_k)) < 0.5
    holes[::3], holes[:, : T_k // 2] = False, False
    yield from (None, "causal", holes, al.sliding_window_mask(T_q, T_k, window=1 + T_k // 4))


# -- every size ------------------------------------------------------------------------------------


@pytest.mark.parametrize("T", range(1, 71))
def test_every_size_with_every_tile(T):
    T_k = (T, T, max(1, T - 5), T + 9)[T % 4]
    Q, K, V = triple((2,), T, T_k, 3, 2)
    given = (None, list(masks(T, T_k))[2], "causal")
    expected = [al.attention(Q, K, V, mask=mask) for mask in given]
    for tile in range(1, 81):
        for one in ((T + tile) % 2, 2):  # causal always, the others in turn
            output = tiled_attention(Q, K, V, mask=given[one], tile=tile)
            np.testing.assert_allclose(output, expected[one], rtol=0, atol=1e-13, strict=True)


@pytest.mark.parametrize("T", range(1, 71))
def test_every_size_step_by_step(T):
    T_k = (T, max(1, T - 5), T + 9)[T % 3]
    Q, K, V = triple((2,), T, T_k, 3, 2)
    mask = list(masks(T, T_k))[T % 4]
    expected = al.attention(Q, K, V, mask=mask)
    for tile in (1, 2, 3, 5, 8, 13, 16, 32, 64, 70, 71, 80):
        if 12 * tile >= T:
            output = tiled._Problem(Q, K, V, mask, None, tile).attend()
            np.testing.assert_allclose(output, expected, rtol=0, atol=1e-13, strict=True)
    halves = [array.astype(np.float16) for array in (Q, K, V)]
    output = tiled._Problem(*halves, mask, None, 16).attend()
    assert_is_attention(output, *halves, mask)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 12])
def test_longer_rows_of_every_type(name, dtype, size):
    Q, K, V = triple((2,), 100, 90, 8, 5, dtype=dtype, size=size)
    for mask in masks(100, 90):
        with form(name):
            assert_is_attention(tiled_attention(Q, K, V, mask=mask), Q, K, V, mask)


def test_more_keys_than_fit_into_a_tile():
    Q, K, V = triple((1,), 300, 2500, 4, 3, dtype=np.float32)
    window = al.sliding_window_mask(300, 2500, window=1500)
    for mask, name in product((None, "causal", window), ("threads", "maximum")):
        with form(name):
            assert_is_attention(tiled_attention(Q, K, V, mask=mask), Q, K, V, mask)


# -- random problems against the oracle ------------------------------------------------------------


def memory(*values):
    return [value if isinstance(value, (list, str)) else np.array(value) for value in values]


@settings(max_examples=400)
@given(cases(), small_tiles, forms)
def test_matches_the_oracle(case, tile, name):
    arguments = (case.Q, case.K, case.V, case.mask)
    before = memory(*arguments)
    expected = case.expected()
    with form(name):
        output = tiled_attention(case.Q, case.K, case.V, tile=tile, **case.options)
    oracle.assert_close(output, expected.output, case.bounds(expected).output, case.dtype)
    for was, now in zip(before, memory(*arguments), strict=True):
        np.testing.assert_array_equal(was, now)
    assert not any(np.shares_memory(output, a) for a in arguments if isinstance(a, np.ndarray))


@settings(max_examples=100)
@given(cases(dtypes=all_types), small_tiles, forms)
def test_integers_booleans_and_mixed_types(case, tile, name):
    expected = case.expected()
    with form(name):
        output = tiled_attention(case.Q, case.K, case.V, tile=tile, **case.options)
    oracle.assert_close(output, expected.output, case.bounds(expected).output, case.dtype)


@settings(max_examples=400)
@given(spoilt_cases(), small_tiles, forms)
def test_nan_and_infinities_stay_where_they_can_be_seen(case, tile, name):
    expected = case.expected()
    with np.errstate(all="ignore"), form(name):
        output = tiled_attention(case.Q, case.K, case.V, tile=tile, **case.options)
    oracle.assert_close(output, expected.output, case.bounds(expected).output, case.dtype)


@settings(max_examples=200)
@given(st.one_of(cases(), spoilt_cases()), st.integers(1, 20))
def test_each_step_is_attention_over_the_keys_so_far(case, tile):
    """What is shown after a tile: scores, maximum, sum, rescaling and output, all of them."""
    with np.errstate(all="ignore"):
        expected = case.expected()
        bounds = case.bounds(expected)
        wide = oracle.working_type(case.dtype)
        shown = list(tiled_steps(case.Q, case.K, case.V, tile=tile, **case.options))
        cut = [(q, k) for q in cuts(case, -2, tile) for k in cuts(case, -1, tile)]
        assert [(step.queries, step.keys) for step in shown] == cut
        before = {}
        for step in shown:
            seen = (..., step.queries, slice(step.keys.stop))
            allowed = case.allowed[..., step.queries, step.keys]
            assert step.skipped == (not allowed.any()) or not allowed.size
            assert (step.scores is None) == step.skipped
            if not step.skipped:
                where = (..., step.queries, step.keys)
                masked, bound = expected.masked_scores[where], bounds.masked_scores[where]
                oracle.assert_close(step.scores, masked, bound, wide)
            scores = expected.masked_scores[seen]
            highest = np.max(scores, axis=-1, initial=-np.inf)
            off = np.where(np.isfinite(scores), bounds.masked_scores[seen], 0).max(-1, initial=0)
            oracle.assert_close(step.running_max, highest, off, wide)

            # The output so far, by the oracle, as if there were no further keys.
            K, V = (np.asarray(a)[..., : step.keys.stop, :] for a in (case.K, case.V))
            Q = np.asarray(case.Q)[..., step.queries, :]
            part = oracle.attention(Q, K, V, case.allowed[seen], case.scale)
            bound = oracle.bounds(part, Q, K, V, case.allowed[seen], case.scale, wide).output
            oracle.assert_close(step.output, part.output, bound, wide)

            shift = np.where(np.isneginf(highest), 0, highest)
            total = np.sum(np.exp(scores - shift[..., None]), axis=-1)
            u = oracle.rounding(wide)
            tolerance = grown(total, 4 * off + 20 * len(shown) * u)
            oracle.assert_close(step.running_sum, total, tolerance, wide)
            if step.keys.start == 0:
                before = {"max": np.full(highest.shape, -np.inf), "sum": np.zeros(highest.shape)}
            rescale = np.exp(before["max"] - shift)
            if step.skipped:
                rescale = np.ones(rescale.shape)
            tolerance = grown(rescale, 4 * off + 20 * u) + oracle.tiny(wide)
            oracle.assert_close(step.rescale, rescale, tolerance, wide)
            before = {"max": highest, "sum": total}


def grown(value, relative):
    """How far a positive value is off if its logarithm is off by so much."""
    return np.minimum(np.expm1(np.minimum(relative, 1.0)), 1.0) * value


def test_a_row_whose_scores_are_all_minus_infinity():
    """0 / 0, as in `attention`, and still so while the tiles that follow are skipped."""
    Q, K, V = np.ones((3, 1)), np.array([[-np.inf], [1.0], [2.0]]), np.ones((3, 2))
    with np.errstate(invalid="ignore"):
        steps = list(tiled_steps(Q, K, V, mask="causal", tile=1))
        expected = al.attention(Q, K, V, mask="causal")
        np.testing.assert_array_equal(tiled_attention(Q, K, V, mask="causal", tile=1), expected)
    for step in steps[:3]:
        assert np.isnan(step.output).all()
    assert np.isnan(steps[3].output).all()  # query 1 before its second key
    assert np.isfinite(steps[4].output).all()
    assert np.isfinite(steps[5].output).all()


def test_such_a_row_stays_so_while_its_neighbours_go_on():
    """Its tiles are computed for the other query, with nothing in them that it may see."""
    Q, K = np.ones((2, 1)), np.array([[-np.inf], [1.0], [2.0], [3.0]])
    V, mask = np.ones((4, 2)), np.array([[1, 0, 0, 0], [0, 1, 1, 1]], dtype=bool)
    with np.errstate(invalid="ignore"):
        expected = al.attention(Q, K, V, mask=mask)
        np.testing.assert_array_equal(tiled_attention(Q, K, V, mask=mask, tile=2), expected)
        outputs = [step.output for step in tiled_steps(Q, K, V, mask=mask, tile=2)]
    assert np.isnan(expected[0]).all()
    assert len(outputs) == 2
    for output in outputs:
        np.testing.assert_array_equal(np.isnan(output).all(axis=-1), [True, False])


def cuts(case, axis, tile):
    T = case.allowed.shape[axis]
    return [slice(start, min(start + tile, T)) for start in range(0, T, tile)]


# -- numbers that leave little room ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["as it is", "small tiles", "threads"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_scores_of_ten_thousand(name, dtype):
    """Far beyond the range of exp, in either direction, rising and falling from tile to tile."""
    Q, K, V = triple((2,), 40, 40, 4, 3, dtype=dtype, size=50)
    K[:, 10:20] *= 2
    Q[0, :20], K[0, ::2] = 100, -50
    assert np.abs(Q.astype(float) @ np.swapaxes(K.astype(float), 1, 2)).max() >= 1e4
    for mask, scale in product(masks(40, 40), (None, 1.0, -1.0)):
        with form(name):
            output = tiled_attention(Q, K, V, mask=mask, scale=scale)
        assert_is_attention(output, Q, K, V, mask, scale)


@pytest.mark.parametrize("size", [1.0, 4.0, 5.0, 6.0, 6.2, 6.4, 6.5, 6.6, 6.7, 6.8, 7.0, 9.0])
def test_small_values_beside_large_ones(size):
    """Every score near -size², or near size²: without care small values would vanish."""
    Q = np.full((30, 1), size, dtype=np.float32)
    K = size * np.random.default_rng(0).uniform(0.98, 1, (30, 1)).astype(np.float32)
    V = random(30, 4, seed=2, dtype=np.float32)
    V *= np.array([1e-36, 1e-30, 1.0, 1e9], dtype=np.float32)
    for mask, sign in product((None, "causal"), (1, -1)):
        for columns in (slice(0, 4), slice(0, 1), slice(0, 3)):
            output = tiled_attention(sign * Q, K, V[:, columns], mask=mask, scale=1.0)
            assert_is_attention(output, sign * Q, K, V[:, columns], mask, 1.0)


@pytest.mark.parametrize("scale", [40.0, -40.0, 1e-3, 0.0])
def test_the_scale_counts_when_scores_are_bounded(scale):
    Q, K, V = triple((2,), 40, 40, 4, 3, dtype=np.float32)
    output = tiled_attention(Q, K, V, scale=scale)
    assert_is_attention(output, Q, K, V, None, scale)


@pytest.mark.parametrize(
    ("q", "k", "v", "scale"),
    [
        (1.0, 1.0, 3.3e38, None),  # the sum of two such values is infinite, their mean is not
        (1.0, 1.0, 1e37, None),
        (6.0, 6.0, 1e20, 1.0),
        (1e19, 1e-19, 1.0, None),  # squares overflow
        (1e25, 1e-25, 1.0, None),
        (1e-25, 1e25, 1.0, None),
        (1e-30, 1e30, 1.0, 1.0),
        (1e30, 1e-30, 1.0, None),
        (1e-20, 1e-20, 1.0, 1e38),
        (1e-25, 1e-10, 1.0, 1e38),  # squares vanish, scores are large
        (1e-20, 1e10, 1.0, 1e10),
        (1e10, 1e-10, 1.0, 1.0),
        (3.0, 2.0, 1.0, 1e-38),
        (50.0, 1e-36, 1.0, 1e37),  # scale times query is infinite
        (1e-44, 3.0, 1e-44, None),
    ],
)
def test_numbers_near_the_end_of_their_type(q, k, v, scale):
    Q, K, V = triple((), 9, 9, 3, 2, dtype=np.float32)
    Q, K = Q * np.float32(q), K * np.float32(k)
    V = np.clip(V, -1, 1) * np.float32(v)
    for mask in (None, "causal"):
        plain = al.attention(Q, K, V, mask=mask, scale=scale)
        output = tiled_attention(Q, K, V, mask=mask, scale=scale)
        assert np.isfinite(plain).all()
        np.testing.assert_allclose(output, plain, rtol=1e-5, atol=1e-6 * abs(v) + 2e-38)


@pytest.mark.parametrize("T_k", [3, 40])
def test_no_warning_for_ordinary_numbers(T_k):
    Q, K, V = triple((2,), 40, T_k, 4, 3, dtype=np.float32, size=30)
    with np.errstate(all="raise", under="ignore"):
        for mask in masks(40, T_k):
            tiled_attention(Q, K, V, mask=mask)
            list(tiled_steps(Q, K, V, mask=mask, tile=7))


def test_the_fast_form_takes_ordinary_heads_and_leaves_the_others():
    Q, K, V = triple((5,), 20, 20, 4, 3, dtype=np.float32)
    Q[1, 3, 2], K[2, 1, 1], V[3, 0, 0] = np.nan, np.inf, np.nan
    Q[4], K[4] = Q[4] * 100, K[4] * 100
    output, left_out = tiled_fast.fast_heads(Q, K, V, "causal", 0.5, None)
    assert left_out == [(1,), (2,), (3,)]
    for head in (0, 4):
        assert_is_attention(output[head], Q[head], K[head], V[head], "causal", 0.5)
    with np.errstate(all="ignore"):
        assert_is_attention(tiled_attention(Q, K, V, mask="causal"), Q, K, V, "causal")


def test_the_fast_form_takes_float16_whose_squares_are_beyond_float16():
    Q, K, V = triple((2,), 20, 20, 4, 3, dtype=np.float16, size=300)
    output, left_out = tiled_fast.fast_heads(Q, K, V, None, 0.5, None)
    assert left_out == []
    assert_is_attention(output, Q, K, V, None, 0.5)


@pytest.mark.parametrize(("size", "bounded"), [(1, True), (100, False)])
def test_a_maximum_is_taken_where_it_is_needed(size, bounded):
    Q, K, V = triple((1,), 20, 20, 4, 3, dtype=np.float32, size=size)
    one = tiled_fast._OneHead(Q, K, V, None, 0.5, 20, 20)
    assert one.take((0,))
    assert one.bounded == bounded


# -- arrays of other kinds -------------------------------------------------------------------------


def mapped(array, folder):
    """The same numbers, read from a file as they are wanted."""
    path = folder / f"{len(list(folder.iterdir()))}.bin"
    array.tofile(path)
    return np.memmap(path, dtype=array.dtype, mode="r", shape=array.shape)


def unaligned(array):
    """The same numbers, a byte away from where the processor would have them."""
    return np.frombuffer(b"0" + array.tobytes(), dtype=array.dtype, offset=1).reshape(array.shape)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("kind", ["big-endian", "mapped", "unaligned", "matrix"])
def test_arrays_of_other_kinds_give_plain_ones(kind, dtype, tmp_path):
    change = {
        "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
        "mapped": lambda array: mapped(array, tmp_path),
        "unaligned": unaligned,
        "matrix": np.matrix,
    }[kind]
    numbers = triple((), 9, 11, 4, 3, dtype=dtype)
    numbers.append(random(9, 3, seed=3, dtype=dtype))
    given_arrays = [change(array) for array in numbers]
    cache, other = al.KVCache(), al.KVCache()
    for mask in (None, "causal"):
        for function, count in (
            (tiled_attention, 3),
            (al.attention, 3),
            (tiled_attention_backward, 4),
            (attention_backward, 4),
        ):
            results = function(*given_arrays[:count], mask=mask)
            wanted = function(*numbers[:count], mask=mask)
            results, wanted = (one if count == 4 else [one] for one in (results, wanted))
            for got, right in zip(results, wanted, strict=True):
                assert type(got) is np.ndarray
                assert got.dtype.str == right.dtype.str
                np.testing.assert_array_equal(got, right)
    cache.append(*numbers[1:3])
    for one in (given_arrays, numbers):
        other.append(*one[1:3])  # the second time to what has been kept of the first
    np.testing.assert_array_equal(other.keys[:11], cache.keys, strict=True)
    np.testing.assert_array_equal(other.keys[11:], cache.keys, strict=True)


# -- tiles that are hidden -------------------------------------------------------------------------


def test_hidden_tiles_are_not_computed():
    """Where a tile is skipped, NaN in its keys does no harm in either form."""
    Q, K, V = triple((), 60, 60, 4, 3)
    steps = list(tiled_steps(Q, K, V, mask="causal", tile=10))
    assert [step.skipped for step in steps] == [j > i for i in range(6) for j in range(6)]
    one = tiled_fast._OneHead(Q, K, V, "causal", 0.5, 10, 20)
    for mask in ("causal", al.causal_mask(60)):
        seen = tiled_fast._Seen(mask, 60, 60, 10, 20, one.wide)
        seen.take(())
        for start in range(0, 60, 10):
            runs = list(seen.runs(slice(start, start + 10)))
            assert [keys.start for keys, *_ in runs] == list(range(0, start + 10, 20))
            assert runs[-1][0].stop == start + 10
            assert sum(cut.stop - cut.start for _, cut, _ in runs) == 9  # the diagonal tile
    window = tiled_fast._Seen(al.sliding_window_mask(60, window=3), 60, 60, 10, 60, one.wide)
    window.take(())
    assert [keys for keys, *_ in window.runs(slice(40, 50))] == [slice(30, 50)]
    apart = np.zeros((10, 60), dtype=bool)
    apart[:, 11], apart[:, 45] = True, True
    apart = tiled_fast._Seen(apart, 10, 60, 10, 60, one.wide)
    apart.take(())
    assert [keys for keys, *_ in apart.runs(slice(0, 10))] == [slice(10, 20), slice(40, 50)]


def peak_of(T, lead=()):
    """Most memory held during a call, its output included."""
    Q, K, V = triple(lead, T, T, 64, 64, dtype=np.float32)
    tiled_attention(*(array[..., :200, :] for array in (Q, K, V)))  # what is kept for good
    tracemalloc.start()
    try:
        tiled_attention(Q, K, V, mask="causal")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_at_the_size_of_andrea_120m():
    """Beyond the output; the scores alone would take 48 MiB."""
    model = al.ANDREA_120M
    output = 4 * model.n_head * model.T * model.d_k
    assert peak_of(model.T, (model.n_head,)) - output < 8e6


def test_memory_grows_no_faster_than_T():
    """The scores would grow sixteenfold, to 1 GiB."""
    assert peak_of(16384) < min(64e6, 4.5 * peak_of(4096))


def test_a_mask_by_name_is_never_made():
    Q, K, V = triple((), 4096, 4096, 8, 8, dtype=np.float32)
    tiled_attention(Q[:200], K[:200], V[:200])  # what is kept for good is not counted
    tracemalloc.start()
    try:
        tiled_attention(Q, K, V, mask="causal")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Output and tiles; the mask alone would take 16 MiB, the scores 64.
    assert peak < 4 * 2**20


# -- other array libraries -------------------------------------------------------------------------

DEVICE = array_api_strict.Device("device1")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tile", [None, 1, 2, 3])
def test_another_library_on_its_device(dtype, tile):
    for _, Q, K, V, mask in backends.problems(dtype):
        given = [array_api_strict.asarray(array, device=DEVICE) for array in (Q, K, V)]
        with np.errstate(all="ignore"):
            output = tiled_attention(*given, mask=mask, tile=tile)
            assert output.device == DEVICE
            output = np.asarray(output.to_device(array_api_strict.Device("CPU_DEVICE")))
            shape = (*Q.shape[:-1], K.shape[-2])
            meaning = oracle.causal(*shape[-2:]) if isinstance(mask, str) else mask
            allowed = np.broadcast_to(True if mask is None else meaning, shape)
            expected = oracle.attention(Q, K, V, allowed)
            kind = Q.dtype if Q.dtype.kind == "f" else np.dtype(np.float64)
            bound = oracle.bounds(expected, Q, K, V, allowed, None, kind).output
        oracle.assert_close(output, expected.output, bound, kind)


# -- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [tiled_attention, tiled_steps])
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"tile": 0}, ValueError, "tile must be at least 1; got 0"),
        ({"tile": -3}, ValueError, "tile must be at least 1; got -3"),
        ({"tile": 2.5}, TypeError, "tile must be a whole number; got 2.5"),
        ({"tile": True}, TypeError, "tile must be a whole number; got True"),
        ({"tile": "8"}, TypeError, "tile must be a whole number; got '8'"),
        ({"mask": "diagonal"}, ValueError, "mask must be None"),
        ({"mask": np.ones((4, 5))}, TypeError, "mask must hold booleans"),
        ({"mask": np.ones((5, 4), dtype=bool)}, ValueError, "mask must have shape"),
        ({"mask": np.ones((1, 5), dtype=bool)}, ValueError, "mask must have shape"),
        ({"scale": np.nan}, ValueError, "scale must be finite"),
        ({"V": np.ones((2, 4, 3))}, ValueError, "V must have a row for each of the 5 keys"),
        ({"K": np.ones((2, 5, 2))}, ValueError, "same width d_k"),
        ({"Q": np.ones((4, 3))}, ValueError, "leading axes of Q"),
    ],
)
def test_bad_arguments_are_refused_at_the_call(function, options, error, words):
    given = dict(zip("QKV", triple((2,), 4, 5, 3, 3), strict=True)) | options
    with pytest.raises(error, match=words):
        function(**given)  # a generator would complain only when it is asked for a step


def test_an_axis_of_one_stretches():
    Q, K, V = triple((2, 3), 9, 8, 4, 5)
    for shape in ((1, 1, 1, 8), (2, 1, 9, 1), (1, 3, 1, 1), (2, 3, 9, 8)):
        mask = np.random.default_rng(1).random(shape) < 0.6
        for tile in (None, 1, 4):
            output = tiled_attention(Q, K, V, mask=mask, tile=tile)
            assert_is_attention(output, Q, K, V, mask)
            readable = tiled._Problem(Q, K, V, mask, None, tile).attend()
            np.testing.assert_allclose(readable, output, atol=1e-14)


def test_nothing_gives_an_empty_result():
    for T_q, T_k, lead in ((0, 5, ()), (4, 0, (2,)), (0, 0, (2,)), (4, 5, (0,))):
        Q, K, V = triple(lead, T_q, T_k, 3, 2, dtype=np.float16)
        for mask in (None, "causal"):
            output = tiled_attention(Q, K, V, mask=mask)
            np.testing.assert_array_equal(output, al.attention(Q, K, V, mask=mask), strict=True)
            assert len(list(tiled_steps(Q, K, V, mask=mask, tile=2))) == 0 or T_q * T_k
