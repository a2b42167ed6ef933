"""What attention costs: counts against really counting, memory against what Python sees."""

import dataclasses
import math
import tracemalloc
from collections import Counter
from typing import ClassVar

import numpy as np
import pytest

import andrea_lesson as al
from andrea_lesson import costs, tiled_backward, tiled_fast
from andrea_lesson.backward import attention_backward
from andrea_lesson.kv_cache import KVCache
from andrea_lesson.threads import core_count
from andrea_lesson.tiled import tiled_attention, tiled_steps
from andrea_lesson.tiled_backward import tiled_attention_backward

both_masks = pytest.mark.parametrize("causal", [True, False])
every_precision = pytest.mark.parametrize("precision", list(costs.BYTES))


def vectors(n_head, T, d_k, precision, count=4):
    return [
        np.random.default_rng(seed).standard_normal((n_head, T, d_k)).astype(precision)
        for seed in range(count)
    ]


def mask_of(causal):
    return "causal" if causal else None


# -- numbers that count --------------------------------------------------------------------------


class Counted(float):
    """A number that counts what is done with it."""

    done: ClassVar = Counter()

    def __mul__(self, other):
        Counted.done["multiplications"] += 1
        return Counted(float(self) * float(other))


def dot(x, y):
    return Counted(sum(float(a * b) for a, b in zip(x, y, strict=True)))


def exp(x):
    Counted.done["exponentials"] += 1
    return math.exp(x)


def counted(rows):
    return [[Counted(x) for x in row] for row in rows]


def mixed(weights, V):
    return [dot([Counted(w) for w in weights], column) for column in zip(*V, strict=True)]


def textbook_loop(Q, K, V, causal):
    """Every score of the matrix, be it hidden or not; a weight for each, 0 where hidden."""
    output = []
    for i, q in enumerate(Q):
        scores = [dot(q, k) for k in K]
        if causal:
            scores = [s if j <= i else -math.inf for j, s in enumerate(scores)]
        highest = max(scores)
        exponentials = [exp(s - highest) for s in scores]
        output.append(mixed([e / sum(exponentials) for e in exponentials], V))
    return output


def tiled_loop(Q, K, V, causal, tile):
    """Tiles that nobody sees are not touched; of the others every score is computed."""
    output = []
    for start in range(0, len(Q), tile):
        queries = range(start, min(start + tile, len(Q)))
        sums = dict.fromkeys(queries, 0.0)
        parts = {i: [0.0] * len(V[0]) for i in queries}
        for first in range(0, len(K), tile):
            keys = range(first, min(first + tile, len(K)))
            if causal and keys[0] > queries[-1]:
                continue
            for i in queries:
                weights = [exp(dot(Q[i], K[j])) * (not causal or j <= i) for j in keys]
                sums[i] += sum(weights)
                part = mixed(weights, [V[j] for j in keys])
                parts[i] = [a + b for a, b in zip(parts[i], part, strict=True)]
        output += [[x / sums[i] for x in parts[i]] for i in queries]
    return output


@both_masks
@pytest.mark.parametrize(("T", "d_k"), [(1, 1), (2, 3), (5, 2), (7, 4)])
def test_counts_of_the_textbook_way_are_those_of_a_loop_that_counts(T, d_k, causal):
    Q, K, V = (counted(x[0]) for x in vectors(1, T, d_k, "float64", 3))
    Counted.done.clear()
    output = textbook_loop(Q, K, V, causal)
    cost = costs.textbook_cost(T, d_k, causal=causal)
    assert Counted.done == {
        "multiplications": cost.multiplications,
        "exponentials": cost.exponentials,
    }
    assert cost.flops == 2 * cost.multiplications == 4 * T * T * d_k
    unscaled = al.attention(*vectors(1, T, d_k, "float64", 3), mask=mask_of(causal), scale=1.0)
    np.testing.assert_allclose(np.array(output, dtype=float), unscaled[0])


@both_masks
@pytest.mark.parametrize("tile", [1, 2, 3, 4, 7, 9])
@pytest.mark.parametrize("T", [1, 4, 6, 7])
def test_counts_of_the_tiled_way_are_those_of_a_loop_that_counts(T, tile, causal):
    Q, K, V = (counted(x[0]) for x in vectors(1, T, 3, "float64", 3))
    Counted.done.clear()
    output = tiled_loop(Q, K, V, causal, tile)
    cost = costs.tiled_cost(T, 3, causal=causal, tile=tile)
    assert Counted.done == {
        "multiplications": cost.multiplications,
        "exponentials": cost.exponentials,
    }
    unscaled = al.attention(*vectors(1, T, 3, "float64", 3), mask=mask_of(causal), scale=1.0)
    np.testing.assert_allclose(np.array(output, dtype=float), unscaled[0])


def gradients_loop(Q, K, V, dO, causal, tile):
    """Weights made anew in each tile, and used for all three gradients."""
    dQ, dK, dV = ([[0.0] * len(row) for row in rows] for rows in (Q, K, V))

    def add(to, factor, row):
        to[:] = [float(a) + float(Counted(factor) * x) for a, x in zip(to, row, strict=True)]

    for start in range(0, len(Q), tile):
        queries = range(start, min(start + tile, len(Q)))
        keys = range(queries[-1] + 1) if causal else range(len(K))
        for i in queries:
            weights = [exp(dot(Q[i], K[j])) * (not causal or j <= i) for j in keys]
            weights = [w / sum(weights) for w in weights]
            dweights = [dot(dO[i], V[j]) for j in keys]
            mean = sum(w * float(dw) for w, dw in zip(weights, dweights, strict=True))
            for j in keys:
                dscore = weights[j] * (float(dweights[j]) - mean)
                add(dV[j], weights[j], dO[i])
                add(dQ[i], dscore, K[j])
                add(dK[j], dscore, Q[i])
    return dQ, dK, dV


@both_masks
@pytest.mark.parametrize("tile", [1, 3, 9])
def test_counts_of_the_tiled_way_back_are_those_of_a_loop_that_counts(tile, causal):
    given = vectors(1, 7, 3, "float64")
    Counted.done.clear()
    gradients = gradients_loop(*(counted(x[0]) for x in given), causal, tile)
    cost = costs.tiled_backward_cost(7, 3, causal=causal, tile=tile)
    assert Counted.done == {
        "multiplications": cost.multiplications,
        "exponentials": cost.exponentials,
    }
    wanted = attention_backward(*given, mask=mask_of(causal), scale=1.0)
    for found, right in zip(gradients, wanted, strict=True):
        np.testing.assert_allclose(np.array(found), right[0], atol=1e-12)


@pytest.mark.parametrize("T", [1, 6])
def test_counts_of_a_decoder_step_are_those_of_a_loop_that_counts(T):
    q, K, V = (counted(x[0]) for x in vectors(1, T, 3, "float64", 3))
    Counted.done.clear()
    textbook_loop(q[-1:], K, V, causal=False)
    cost = costs.decoder_cost(T, 3)
    assert Counted.done == {
        "multiplications": cost.multiplications,
        "exponentials": cost.exponentials,
    }


@both_masks
@pytest.mark.parametrize("tile", [1, 3, 8, 64])
def test_pairs_are_those_of_the_tiles_that_are_really_made(tile, causal):
    for T in (1, 7, 8, 9, 40):
        Q, K, V, _ = vectors(1, T, 2, "float32")
        steps = tiled_steps(Q, K, V, mask=mask_of(causal), tile=tile)
        made = sum(step.scores.size for step in steps if not step.skipped)
        assert costs.seen_pairs(T, tile, causal) == made


def test_with_a_causal_mask_tiles_come_close_to_half_of_the_work():
    for T in (1024, 16384):
        share = costs.seen_pairs(T, 128) / T**2
        needed = (T + 1) / (2 * T)
        assert needed < share == (T + 128) / (2 * T)


# -- arrays that count ---------------------------------------------------------------------------


class Watched(np.ndarray):
    """An array that counts what NumPy does with it, and what that reads and writes."""

    done: ClassVar = Counter()

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        plain = [np.asarray(x) if isinstance(x, np.ndarray) else x for x in inputs]
        result = getattr(ufunc, method)(*plain, out=out, **options)
        if ufunc is np.matmul:
            Watched.done["multiplications"] += result.size * plain[0].shape[-1]
        if ufunc is np.exp:
            Watched.done["exponentials"] += result.size
        return self._seen(result, plain)

    def __array_function__(self, function, types, arguments, options):
        result = super().__array_function__(function, types, arguments, options)
        if function is np.where:
            return self._seen(result, [np.asarray(x) for x in arguments])
        return self._seen(result, []) if function is np.zeros_like else result

    def astype(self, *arguments, **options):
        result = super().astype(*arguments, **options)
        return result if result is self else self._seen(result, [self])

    @staticmethod
    def _seen(result, read):
        arrays = [x for x in [*read, result] if isinstance(x, np.ndarray)]
        Watched.done["bytes"] += sum(x.nbytes for x in arrays)
        return result.view(Watched) if isinstance(result, np.ndarray) else result


def watched(function, *arrays, **options):
    Watched.done.clear()
    function(*(array.view(Watched) for array in arrays), **options)
    return Watched.done


@both_masks
@every_precision
@pytest.mark.parametrize(
    ("n_head", "T", "d_k", "close"),
    [
        (2, 192, 8, 0.02),
        (1, 512, 8, 0.005),
        (1, 16, 4096, 0.03),
    ],  # few vectors, few, or nothing else
)
def test_the_lesson_s_own_code_does_what_is_counted(n_head, T, d_k, close, precision, causal):
    Q, K, V, dO = vectors(n_head, T, d_k, precision)
    size = {"n_head": n_head, "precision": precision, "causal": causal}
    for function, arrays, cost in (
        (al.attention, (Q, K, V), costs.textbook_cost(T, d_k, **size)),
        (attention_backward, (Q, K, V, dO), costs.textbook_backward_cost(T, d_k, **size)),
    ):
        done = watched(function, *arrays, mask=mask_of(causal))
        assert done["multiplications"] == cost.multiplications
        assert done["exponentials"] == cost.exponentials
        # Not watched: the mask while it is made, a copy where there is none; a number a row.
        unseen = 2 * T * T if causal else 2 * n_head * T * T * max(costs.BYTES[precision], 4)
        assert done["bytes"] + unseen == pytest.approx(cost.bytes_moved, rel=close)


@every_precision
@pytest.mark.parametrize("d_k", [4, 64])
def test_a_decoder_step_does_what_is_counted(d_k, precision):
    n_head, T = 3, 4000
    q, K, V = vectors(n_head, T, d_k, precision, 3)
    cache = KVCache(T, lead=(n_head,))
    cache.append(K, V)
    done = watched(cache.attend, q[:, -1])
    cost = costs.decoder_cost(T, d_k, n_head=n_head, precision=precision)
    assert done["multiplications"] == cost.multiplications
    assert done["exponentials"] == cost.exponentials
    # What is kept is not watched while it is copied to the wider type.
    unseen = 2 * K.nbytes + 4 * K.nbytes if precision == "float16" else 0
    assert done["bytes"] + unseen == pytest.approx(cost.bytes_moved, rel=0.03)
    found = peak(cache.attend, q[:, -1])
    buffer = 8192 * max(costs.BYTES[precision], 4)  # NumPy's own, where shapes stretch
    assert found == pytest.approx(cost.working_bytes + buffer, rel=0.05)
    assert cache.nbytes == costs.cache_bytes(T, d_k, n_head=n_head, precision=precision)
    # The cache is read where it lies, or else every number of it is converted.
    both = (0, cache.keys.size * 2) if precision == "float16" else (cost.bytes_moved, 0)
    assert (cost.read_bytes, cost.converted) == both


# -- memory --------------------------------------------------------------------------------------


def peak(function, *arguments, **options):
    """Most memory in use during a call, and the memory of what it returns."""
    function(*arguments, **options)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        function(*arguments, **options)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def check_memory(found, cost, *, close):
    """The result may or may not be there at the highest moment; small things are not counted."""
    small = 150_000
    assert found <= close * cost.working_bytes + cost.output_bytes + small
    assert found >= cost.working_bytes / close


@both_masks
@every_precision
@pytest.mark.parametrize(("n_head", "T", "d_k"), [(2, 256, 64), (3, 512, 32), (1, 1024, 128)])
def test_working_memory_of_the_textbook_way(n_head, T, d_k, precision, causal):
    Q, K, V, dO = vectors(n_head, T, d_k, precision)
    size = {"n_head": n_head, "precision": precision, "causal": causal}
    found = peak(al.attention, Q, K, V, mask=mask_of(causal))
    check_memory(found, costs.textbook_cost(T, d_k, **size), close=1.01)
    found = peak(attention_backward, Q, K, V, dO, mask=mask_of(causal))
    check_memory(found, costs.textbook_backward_cost(T, d_k, **size), close=1.05)


@both_masks
@every_precision
@pytest.mark.parametrize(("T", "d_k"), [(16, 4096), (64, 512), (256, 256)])
def test_working_memory_of_few_and_wide_vectors(T, d_k, precision, causal):
    """Copies of the inputs, and a result that is not yet of its type, then outweigh the scores."""
    Q, K, V, dO = vectors(1, T, d_k, precision)
    size = {"n_head": 1, "precision": precision, "causal": causal}
    for function, arrays, cost in (
        (al.attention, (Q, K, V), costs.textbook_cost(T, d_k, **size)),
        (attention_backward, (Q, K, V, dO), costs.textbook_backward_cost(T, d_k, **size)),
    ):
        found = peak(function, *arrays, mask=mask_of(causal))
        counted = cost.working_bytes + cost.output_bytes
        assert found == pytest.approx(counted, rel=0.01, abs=20_000)


@both_masks
@every_precision
def test_working_memory_of_the_tiled_way_on_one_thread(precision, causal, monkeypatch):
    """How many threads really start is a matter of luck."""
    for module in ("tiled_fast", "tiled_backward"):
        monkeypatch.setattr(f"andrea_lesson.{module}.core_count", lambda: 1)
        monkeypatch.setattr(
            f"andrea_lesson.{module}.share_out", lambda items, make: list(map(make(), items))
        )
    for n_head, T, d_k in ((2, 1024, 64), (1, 4096, 32)):
        Q, K, V, dO = vectors(n_head, T, d_k, precision)
        size = {"n_head": n_head, "precision": precision, "causal": causal}
        found = peak(tiled_attention, Q, K, V, mask=mask_of(causal))
        cost = costs.tiled_cost(T, d_k, **size)
        assert found == pytest.approx(cost.working_bytes + cost.output_bytes, rel=0.12)
        found = peak(tiled_attention_backward, Q, K, V, dO, mask=mask_of(causal))
        cost = costs.tiled_backward_cost(T, d_k, **size)
        assert found == pytest.approx(cost.working_bytes + cost.output_bytes, rel=0.12)


def held_by(one):
    """Bytes of the arrays that a worker has made, what it shares with the inputs left out."""
    given = one.arrays if hasattr(one, "arrays") else one.given
    arrays = [*vars(one).values(), *vars(getattr(one, "seen", one)).values()]
    own = {id(x): x for x in arrays if isinstance(x, np.ndarray) and x.size > 2}.values()
    return sum(x.nbytes for x in own if not any(np.shares_memory(x, y) for y in given))


@both_masks
@every_precision
@pytest.mark.parametrize("tile", [None, 50])
@pytest.mark.parametrize("T", [60, 300])
def test_buffers_of_the_tiled_way_are_those_that_are_counted(T, tile, precision, causal):
    """To the byte; counted besides is what a tile makes anew."""
    d_k, wide = 24, max(costs.BYTES[precision], 4)
    narrow = wide > costs.BYTES[precision]
    Q, K, V, dO = (array[0] for array in vectors(1, T, d_k, precision))
    size = {"precision": precision, "causal": causal, "tile": tile}
    rows = min(tile or tiled_fast.QUERIES, T)
    one = tiled_fast._OneHead(Q, K, V, mask_of(causal), 0.5, rows, min(tile or tiled_fast.KEYS, T))
    assert one.take(())
    part = rows * d_k + (T * d_k if narrow else 0)  # a part of the output; Q, while it is looked at
    assert held_by(one) + part * wide == costs.tiled_cost(T, d_k, **size).working_bytes

    rows = min(tile or tiled_backward.QUERIES, T)
    type_of_it = np.dtype(f"f{wide}")
    one = tiled_backward._OneHead((Q, K, V, dO), mask_of(causal), 0.5, rows, type_of_it)
    one.take(())
    part = 2 * rows * d_k + (3 * T * d_k if narrow else 0)  # queries, dO; the gradients
    cost = costs.tiled_backward_cost(T, d_k, **size)
    assert held_by(one) + part * wide == cost.working_bytes


@pytest.mark.parametrize("cost", [costs.tiled_cost, costs.tiled_backward_cost])
def test_only_work_that_is_worth_it_takes_the_memory_of_several_threads(cost):
    """2 · 625² · 128 is 10⁸, as many multiplications as make threads worth while."""
    for T, times in ((624, 1), (625, 3)):
        one, three = (cost(T, 64, n_head=2, threads=n).working_bytes for n in (1, 3))
        assert three == times * one


def test_tiles_on_the_way_back_are_counted_as_they_are_made(monkeypatch):
    """Of many keys a tile has fewer queries."""
    sizes = []
    arrays = [np.zeros((1, 1))] * 3

    def fast(Q, K, V, dO, mask, scale, tile):
        sizes.append(tile)
        return arrays, []

    monkeypatch.setattr(tiled_backward, "_fast", fast)
    for T in (100, 8192, 16384, 20000):
        tiled_attention_backward(*[np.zeros((T, 1), dtype=np.float16)] * 4, mask="causal")
        assert costs.tiled_backward_cost(T) == costs.tiled_backward_cost(T, tile=sizes[-1])
    assert sizes == [128, 128, 64, 52]


# -- what tiles move -----------------------------------------------------------------------------


class Long(np.ndarray):
    """An array as long as the keys, that counts what is read and written of it."""

    moved: ClassVar = 0

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        for array in (*inputs, *out):
            if isinstance(array, Long):
                Long.moved += array.nbytes
        plain = [np.asarray(x) if isinstance(x, Long) else x for x in (*inputs, *out)]
        if out:
            options["out"] = tuple(plain[len(inputs) :])
        result = getattr(ufunc, method)(*plain[: len(inputs)], **options)
        return out[0] if out else result


@both_masks
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("tile", [None, 64, 100])
@pytest.mark.parametrize("T", [1, 64, 130, 300])
def test_tiles_move_the_keys_and_values_that_are_counted(T, tile, precision, causal, monkeypatch):
    n_head, d_k = 2, 8
    given = vectors(n_head, T, d_k, precision)

    def watch(module, names):
        class Watching(module._OneHead):
            def take(self, head):
                for name in set(names) & set(vars(self)):  # what is done here is not counted
                    setattr(self, name, np.asarray(getattr(self, name)))
                result = super().take(head)
                for name in names:
                    setattr(self, name, getattr(self, name).view(Long))
                return result

        monkeypatch.setattr(module, "_OneHead", Watching)

    watch(tiled_fast, ["K", "values"])
    watch(tiled_backward, ["K", "V", "dK", "dV", "more_dK", "more_dV"])
    size = {"n_head": n_head, "precision": precision, "causal": causal, "tile": tile}
    array = given[0].nbytes
    Long.moved = 0
    tiled_attention(*given[:3], mask=mask_of(causal), tile=tile)
    cost = costs.tiled_cost(T, d_k, **size)
    assert cost.bytes_moved == Long.moved + 5 * array  # inputs, output, and the values made larger
    Long.moved = 0
    tiled_attention_backward(*given, mask=mask_of(causal), tile=tile)
    cost = costs.tiled_backward_cost(T, d_k, **size)
    gathered = 2 * array  # what a head has brought is read once more when it is done
    assert cost.bytes_moved == Long.moved - gathered + 5 * array  # inputs and dQ


@pytest.mark.parametrize("cost", [costs.tiled_cost, costs.tiled_backward_cost])
def test_what_is_of_float16_is_copied_as_well(cost):
    """Tiles move the same once the copies are there."""
    half, single = cost(300, 8, precision="float16"), cost(300, 8)
    numbers = 300 * 8
    less = 4 * 2 * numbers  # three or four inputs, and the output where there are three
    more = 2 * 4 * numbers if cost is costs.tiled_cost else 0  # Q and K, beside the values
    assert half.bytes_moved == single.bytes_moved - less + more


def test_results_have_the_size_that_is_counted():
    for precision in costs.BYTES:
        Q, K, V, dO = vectors(2, 30, 8, precision)
        size = {"n_head": 2, "precision": precision}
        output, gradients = al.attention(Q, K, V), attention_backward(Q, K, V, dO)
        for cost in (costs.textbook_cost, costs.tiled_cost):
            assert cost(30, 8, **size).output_bytes == output.nbytes
        for cost in (costs.textbook_backward_cost, costs.tiled_backward_cost):
            assert cost(30, 8, **size).output_bytes == sum(x.nbytes for x in gradients)


def test_tiled_memory_of_all_threads_is_no_more_than_counted():
    Q, K, V = vectors(4, 1024, 64, "float32", 3)
    found = peak(tiled_attention, Q, K, V, mask="causal")
    cost = costs.tiled_cost(1024, 64, n_head=4, threads=core_count())
    assert found < 1.1 * (cost.working_bytes + cost.output_bytes)


def test_textbook_memory_grows_with_the_square_of_T_and_tiled_memory_with_T():
    for T in (1024, 4096):
        one, two = (costs.textbook_cost(n).working_bytes for n in (T, 2 * T))
        assert two == 4 * one
    steps = [costs.tiled_cost(T, threads=2).working_bytes for T in (4096, 8192, 12288)]
    assert steps[2] - steps[1] == steps[1] - steps[0]
    assert costs.textbook_cost(16384).working_bytes > 1e9
    tiled = costs.tiled_cost(16384, threads=2)
    assert tiled.working_bytes + tiled.output_bytes < 64e6


def test_a_cache_holds_a_key_and_a_value_of_each_position():
    Q, K, V = vectors(3, 50, 8, "float16", 3)
    assert costs.cache_bytes(50, 8, n_head=3, precision="float16") == K.nbytes + V.nbytes
    size = costs.input_bytes(50, 8, n_head=3, precision="float16")
    assert size == Q.nbytes + K.nbytes + V.nbytes
    assert costs.decoder_cost(50, 8, n_head=3).bytes_moved > K.nbytes * 2 + V.nbytes * 2


# -- parameters ----------------------------------------------------------------------------------


def test_heads_multiply_everything_but_the_mask():
    one, twelve = (costs.textbook_cost(1024, n_head=n, causal=False) for n in (1, 12))
    for name in ("multiplications", "exponentials", "bytes_moved", "working_bytes"):
        assert getattr(twelve, name) == 12 * getattr(one, name)
    assert twelve.multiplications == 12 * 2 * 1024 * 1024 * 64


@pytest.mark.parametrize("cost", [costs.textbook_cost, costs.tiled_cost])
def test_what_is_of_float16_is_converted_there_and_back(cost):
    assert cost(50, 8, n_head=3, precision="float16").converted == 4 * 3 * 50 * 8
    assert cost(50, 8, n_head=3).converted == cost(50, 8, n_head=3).read_bytes == 0


def test_what_is_of_float16_is_converted_on_the_way_back():
    """Four inputs and three gradients; the textbook way goes there once more, output included."""
    size = {"n_head": 3, "precision": "float16"}
    assert costs.tiled_backward_cost(50, 8, **size).converted == 7 * 3 * 50 * 8
    assert costs.textbook_backward_cost(50, 8, **size).converted == 11 * 3 * 50 * 8
    for cost in (costs.textbook_backward_cost, costs.tiled_backward_cost):
        assert cost(50, 8, n_head=3).converted == 0


def test_nothing_costs_nothing():
    empty = costs.Cost(0, 0, 0, 0, 0)
    assert costs.textbook_cost(0) == costs.tiled_cost(0, causal=False) == empty
    assert (
        costs.tiled_cost(8, n_head=3).rounds == costs.tiled_backward_cost(8, n_head=3).rounds == 3
    )
    assert costs.textbook_backward_cost(0) == costs.decoder_cost(0, n_head=0) == empty
    assert costs.tiled_backward_cost(0) == empty


def test_a_cost_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        costs.textbook_cost(8).exponentials = 1


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"T": -1}, ValueError, "T must be"),
        ({"T": 2.0}, TypeError, "T must be"),
        ({"d_k": 0}, ValueError, "d_k must be"),
        ({"n_head": True}, TypeError, "n_head must be"),
        ({"precision": "float8"}, ValueError, "precision must be"),
        ({"precision": ["float32"]}, ValueError, "precision must be"),
    ],
)
def test_what_is_refused(wrong, error, words):
    for function in (
        costs.textbook_cost,
        costs.textbook_backward_cost,
        costs.tiled_cost,
        costs.tiled_backward_cost,
        costs.decoder_cost,
        costs.input_bytes,
        costs.cache_bytes,
    ):
        with pytest.raises(error, match=words):
            function(**{"T": 4, **wrong})
    with pytest.raises(ValueError, match="tile must be"):
        costs.tiled_cost(4, tile=0)
    with pytest.raises(ValueError, match="tile must be"):
        costs.seen_pairs(4, 0)
    with pytest.raises(TypeError, match="causal must be True or False; got 'no'"):
        costs.textbook_cost(4, causal="no")


@pytest.mark.parametrize(
    "function",
    [
        costs.textbook_cost,
        costs.textbook_backward_cost,
        costs.tiled_cost,
        costs.tiled_backward_cost,
        costs.decoder_cost,
        costs.input_bytes,
        costs.cache_bytes,
    ],
)
def test_numpy_s_whole_numbers_do_not_overflow(function):
    """The square of 16,384 is more than an int32 holds, 12 times 64 more than an int8."""
    few = {"tile": 100, "threads": 2} if "tiled" in function.__name__ else {}
    small = {name: np.int8(number) for name, number in few.items()}
    found = function(np.int32(16_384), np.int8(64), n_head=np.int8(12), **small)
    assert found == function(16_384, 64, n_head=12, **few)
    with pytest.raises(ValueError, match="threads must be"):
        costs.tiled_backward_cost(4, threads=0)
