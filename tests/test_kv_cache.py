"""A decoder's step with kept keys and values is the last row of the whole computation."""

from unittest import mock

import array_api_strict
import numpy as np
import oracle
import pytest

import andrea_lesson as al
from andrea_lesson.kv_cache import FIRST_ROOM, KVCache
from andrea_lesson.masks import LONGEST

FLOATS = (np.float16, np.float32, np.float64)
LEADS = [(), (1,), (12,), (2, 3), (0,)]


def random(*shape, seed=0, dtype=np.float64, size=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * size).astype(dtype)


def problem(lead, T, d_k, d_v, **options):
    return [random(*lead, T, width, seed=s, **options) for s, width in enumerate((d_k, d_k, d_v))]


def assert_is_the_row(output, Q, K, V, t, scale=None):
    """Row t of causal attention over the whole sequence, by the oracle, up to rounding."""
    seen = [Q[..., t : t + 1, :], K[..., : t + 1, :], V[..., : t + 1, :]]
    steps = oracle.attention(*seen, None, scale)
    allowed = np.ones(steps.weights.shape, dtype=bool)
    bound = oracle.bounds(steps, *seen, allowed, scale, Q.dtype).output
    if output.ndim == Q.ndim - 1:
        output = output[..., None, :]
    oracle.assert_close(output, steps.output, bound, Q.dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("lead", LEADS)
def test_every_step_is_the_last_row_of_the_whole(lead, dtype):
    Q, K, V = problem(lead, 40, 5, 3, dtype=dtype)
    whole = al.attention(Q, K, V, mask="causal")
    cache = KVCache(lead=lead)
    for t in range(40):
        cache.append(K[..., t, :], V[..., t, :])
        output = cache.attend(Q[..., t, :])
        assert output.shape == (*lead, 3)
        assert_is_the_row(output, Q, K, V, t)
        close = 50 * float(np.finfo(dtype).eps)
        np.testing.assert_allclose(output, whole[..., t, :], rtol=close, atol=close, strict=True)
        np.testing.assert_array_equal(cache.attend(Q[..., t : t + 1, :])[..., 0, :], output)
    assert cache.length == 40
    np.testing.assert_array_equal(cache.keys, K, strict=True)
    np.testing.assert_array_equal(cache.values, V, strict=True)


@pytest.mark.parametrize("pieces", [[40], [1, 39], [16, 1, 23], [0, 17, 0, 3, 20], [5] * 8])
@pytest.mark.parametrize("capacity", [None, 1, 7, 40, 64])
def test_tokens_may_come_several_at_a_time(pieces, capacity):
    """A prompt, say, and then token after token; growth loses none of them."""
    Q, K, V = problem((2,), 40, 4, 6)
    cache, t = KVCache(capacity, lead=(2,)), 0
    for piece in pieces:
        cache.append(K[:, t : t + piece], V[:, t : t + piece])
        t += piece
        assert cache.length == t
        if t:
            assert_is_the_row(cache.attend(Q[:, t - 1]), Q, K, V, t - 1)
    np.testing.assert_array_equal(cache.keys, K, strict=True)
    np.testing.assert_array_equal(cache.values, V, strict=True)


@pytest.mark.parametrize("scale", [1.0, 0.0, -0.5, 2])
def test_a_scale_of_ones_own(scale):
    Q, K, V = problem((), 9, 4, 3)
    cache = KVCache(scale=scale)
    cache.append(K, V)
    assert_is_the_row(cache.attend(Q[8]), Q, K, V, 8, scale)


@pytest.mark.parametrize("dtype", FLOATS)
def test_large_scores(dtype):
    Q, K, V = problem((3,), 20, 4, 3, dtype=dtype, size=60)
    cache = KVCache(lead=(3,))
    cache.append(K, V)
    assert_is_the_row(cache.attend(Q[:, 19]), Q, K, V, 19)


def test_a_step_by_hand():
    """d_k = 1: keys 0 and ln 3, query 1, so weights 1/4 and 3/4 of values 8 and 0."""
    cache = KVCache()
    cache.append([[0], [np.log(3)]], [[8], [0]])
    np.testing.assert_allclose(cache.attend([1]), [2], rtol=1e-15)
    cache.append([np.log(4)], [4])  # e^score: 1, 3, 4
    np.testing.assert_allclose(cache.attend([1]), [(8 + 16) / 8], rtol=1e-15)


# -- memory ----------------------------------------------------------------------------------------


def test_room_doubles_and_bytes_are_those_of_the_room():
    cache, rooms = KVCache(lead=(2,)), []
    assert (cache.length, cache.nbytes, cache.capacity) == (0, 0, FIRST_ROOM)
    for _ in range(5 * FIRST_ROOM):
        cache.append(np.ones((2, 3), np.float32), np.ones((2, 5), np.float32))
        rooms.append(cache.capacity)
        assert cache.nbytes == cache.capacity * 2 * (3 + 5) * 4
    assert sorted(set(rooms)) == [FIRST_ROOM, 2 * FIRST_ROOM, 4 * FIRST_ROOM, 8 * FIRST_ROOM]
    assert rooms.index(2 * FIRST_ROOM) == FIRST_ROOM


def test_room_doubles_up_to_the_longest_sequence_and_no_further():
    cache = KVCache(LONGEST // 2 + 1)
    token = np.broadcast_to(np.float16(1), (LONGEST // 2 + 2, 1))
    cache.append(token, token)
    assert cache.capacity == LONGEST


def test_keys_and_values_are_views_of_what_is_kept():
    cache = KVCache()
    cache.append(random(3, 4), random(3, 2))
    assert np.shares_memory(cache.keys, cache._keys)
    assert np.shares_memory(cache.values, cache._values)


def test_the_memory_of_a_layer_of_andrea_120m():
    """2 · n_head · T · d_k numbers: 6 MiB in float32, half of it in float16."""
    model = al.ANDREA_120M
    for dtype, size in ((np.float32, 4), (np.float16, 2)):
        cache = KVCache(model.T, lead=(model.n_head,))
        k = np.ones((model.n_head, model.d_k), dtype=dtype)
        cache.append(k, k)
        assert cache.capacity == model.T
        assert cache.nbytes == 2 * model.n_head * model.T * model.d_k * size


def test_what_is_kept_is_a_copy_and_what_comes_stays():
    k, v = random(3, 4), random(3, 2)
    k.flags.writeable = v.flags.writeable = False
    cache = KVCache()
    cache.append(k, v)
    q = random(4)
    before = cache.attend(q)
    for array in (k, v):
        array.flags.writeable = True
        array[:] = np.nan
    np.testing.assert_array_equal(cache.attend(q), before)
    np.testing.assert_array_equal(q, random(4))
    assert not np.shares_memory(before, cache.values)


def test_nan_and_free_room_do_not_reach_an_answer():
    """Room that is still free may hold anything."""
    cache = KVCache(8)
    cache.append(random(3, 4), random(3, 2))
    cache._keys[3:], cache._values[3:] = np.nan, np.inf
    assert np.isfinite(cache.attend(random(4))).all()
    cache.append(random(4), np.array([np.nan, 1.0]))
    output = cache.attend(random(4))
    assert np.isnan(output[0])
    assert np.isfinite(output[1])


# -- types and other libraries ---------------------------------------------------------------------


def test_lists_and_whole_numbers_are_float64_and_a_query_may_be_wider():
    cache = KVCache()
    cache.append([1, 2], [3])
    assert cache.keys.dtype == cache.attend([1, 1]).dtype == np.float64
    narrow = KVCache()
    narrow.append(np.ones(2, np.float16), np.ones(1, np.float32))
    assert narrow.keys.dtype == narrow.values.dtype == np.float32
    assert narrow.attend(np.ones(2, np.float16)).dtype == np.float32
    assert narrow.attend([1, 1]).dtype == np.float64


def test_float16_is_computed_in_float32():
    """40 · 40 · 64 is beyond float16."""
    cache = KVCache()
    cache.append(np.full((2, 64), 40, np.float16), np.array([[1], [3]], np.float16))
    output = cache.attend(np.full(64, 40, np.float16))
    assert output.dtype == np.float16
    np.testing.assert_array_equal(output, np.float16([2]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_stay_on_their_device(dtype):
    device = array_api_strict.Device("device1")
    Q, K, V = problem((2,), 20, 4, 3, dtype=dtype)
    cache = KVCache(lead=(2,))
    for t in range(20):
        q, k, v = (array_api_strict.asarray(a[:, t], device=device) for a in (Q, K, V))
        cache.append(k, v)
        output = cache.attend(q)
        assert output.device == cache.keys.device == device
        output = np.asarray(output.to_device(array_api_strict.Device("CPU_DEVICE")))
        assert_is_the_row(output, Q, K, V, t)
    assert cache.nbytes == 2 * 32 * (4 + 3) * np.dtype(dtype).itemsize
    with pytest.raises(TypeError, match="k and what is kept must be arrays of one library"):
        cache.append(K[:, 0], V[:, 0])


# -- bad input -------------------------------------------------------------------------------------

K_OK, V_OK = np.ones((2, 4), np.float32), np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("k", "v", "error", "words"),
    [
        (np.ones((4,), np.float32), V_OK, ValueError, r"k .*\(2, width\).*\(2, tokens, width\)"),
        (np.ones((3, 4), np.float32), V_OK, ValueError, r"k .*got shape \(3, 4\)"),
        (K_OK, np.ones((2, 1, 1, 3), np.float32), ValueError, r"v .*got shape \(2, 1, 1, 3\)"),
        (np.ones((2, 5, 4), np.float32), V_OK, ValueError, "v must have as many tokens as k, 5"),
        (np.ones((2, 5), np.float32), V_OK, ValueError, "k must have the width of .* 4; got 5"),
        (K_OK, np.ones((2, 4), np.float32), ValueError, "v must have the width of .* 3; got 4"),
        (np.ones((2, 0), np.float32), V_OK, ValueError, "k must have a width d_k of at least 1"),
        (K_OK.astype(float), V_OK, TypeError, "k must be of the type .*float32; got float64"),
        ("key", V_OK, TypeError, "k must hold real numbers"),
        (K_OK, None, TypeError, "v must be an array"),
    ],
)
def test_a_token_that_does_not_fit_is_refused_and_nothing_is_kept(k, v, error, words):
    cache = KVCache(1, lead=(2,))
    cache.append(K_OK, V_OK)
    with pytest.raises(error, match=words) as refused:
        cache.append(k, v)
    assert "\n" not in str(refused.value)
    assert str(refused.value).endswith(".")
    assert (cache.length, cache.capacity) == (1, 1)
    np.testing.assert_array_equal(cache.keys[:, 0], K_OK)


@pytest.mark.parametrize("begun", [False, True])
def test_where_memory_runs_out_nothing_is_kept_and_the_cache_goes_on(begun):
    cache, kept = KVCache(2), [random(20, width, seed=width) for width in (4, 3)]
    if begun:
        cache.append(*(array[:2] for array in kept))
    for first_that_fails in (0, 1):
        rooms = [np.empty(0)] * first_that_fails + [MemoryError]
        with (
            mock.patch("array_api_compat.numpy.empty", side_effect=rooms),
            pytest.raises(MemoryError),
        ):
            cache.append(*(array[2 * begun :] for array in kept))
        assert (cache.length, cache.capacity) == (2 * begun, 2)
    for t in range(cache.length, 20):
        cache.append(*(array[t] for array in kept))
    np.testing.assert_array_equal(cache.keys, kept[0])
    np.testing.assert_array_equal(cache.values, kept[1])


def test_a_first_token_that_is_refused_leaves_no_trace():
    cache = KVCache()
    with pytest.raises(ValueError, match="length must lie between"):
        cache.append(*(np.broadcast_to(np.float32(1), (LONGEST + 1, 1)) for _ in range(2)))
    assert (cache.length, cache.nbytes) == (0, 0)
    cache.append([[1.0, 2.0]], [[3.0]])  # of another type and width
    np.testing.assert_array_equal(cache.attend([1, 1]), [3.0])


@pytest.mark.parametrize(
    ("q", "error", "words"),
    [
        (np.ones(4), ValueError, r"q must have shape \(2, width\)"),
        (np.ones((2, 2, 4)), ValueError, "q must be one query; got 2"),
        (np.ones((2, 5)), ValueError, "q must have the width of the keys, 4; got 5"),
        ("query", TypeError, "q must hold real numbers"),
    ],
)
def test_a_query_that_does_not_fit_is_refused(q, error, words):
    cache = KVCache(lead=(2,))
    cache.append(K_OK, V_OK)
    with pytest.raises(error, match=words) as refused:
        cache.attend(q)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"capacity": 0}, ValueError, "capacity must lie between 1 and"),
        ({"capacity": 2.0}, TypeError, "capacity must be a whole number"),
        ({"lead": 12}, TypeError, "lead must be a tuple"),
        ({"lead": (1.5,)}, TypeError, "lead must be a whole number"),
        ({"lead": (-1,)}, ValueError, "lead must be at least 0"),
        ({"scale": "1"}, TypeError, "scale must be a real number"),
    ],
)
def test_a_cache_that_cannot_be_is_refused(options, error, words):
    with pytest.raises(error, match=words):
        KVCache(**options)


def test_an_empty_cache_has_nothing_to_say():
    cache = KVCache()
    for ask in (lambda: cache.attend([1]), lambda: cache.keys, lambda: cache.values):
        with pytest.raises(ValueError, match="must hold a token"):
            ask()
    cache.append(np.ones((0, 2)), np.ones((0, 3)))  # now widths are known: a row with no key is 0
    np.testing.assert_array_equal(cache.attend([1, 1]), np.zeros(3), strict=True)
