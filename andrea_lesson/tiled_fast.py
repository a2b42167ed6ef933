"""The fast form of tiled attention on NumPy: the steps of `tiled.py`, with every pass counted.

What differs from the readable form:

* Each core works on a head of its own, query tile after query tile, so that keys, values and
  the tile stay in its cache.
* A tile has up to 1024 keys, as matrix products are fastest when they are long.  Only the part
  that the mask cuts through is masked.
* The tile lies on its side, keys × queries: so both products, K Qᵀ and weightsᵀ V, run at full
  speed without a copy.
* Most heads need no maximum, no subtraction and no rescaling.  |q·k| ≤ |q||k|, so the longest
  query and the longest key of a head bound all of its scores; if exp of the bound fits into
  the type with room to spare, exp of any score does.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .threads import core_count, quietly, share_out

Floats = NDArray[np.floating[Any]]
Head = tuple[int, ...]
Run = tuple[slice, slice, Any]  # keys, the part that the mask cuts through, what is visible there
QUERIES, KEYS = 128, 1024  # in a tile, where the caller names no size
WORTH_THREADS = 1e8  # multiplications; for less, threads cost more than they save


def fast_heads(
    Q: Floats, K: Floats, V: Floats, mask: Any, scale: float, tile: int | None
) -> tuple[Floats, list[Head]]:
    """Attention of every head whose numbers are ordinary.

    Parameters
    ----------
    Q, K, V : ndarray, shape (..., T_q, d_k), (..., T_k, d_k), (..., T_k, d_v)
    mask : None, "causal", or ndarray of bool
        Already checked; True = may attend.
    scale : float
    tile : int or None

    Returns
    -------
    output : ndarray, shape (..., T_q, d_v)
    left_out : list of index tuples
        Heads with NaN, infinities or numbers near the end of their type: not computed.
    """
    (*lead, T_q, d_k), (T_k, d_v) = Q.shape, V.shape[-2:]
    output = np.zeros((*lead, T_q, d_v), dtype=Q.dtype)
    if isinstance(mask, np.ndarray):
        mask = np.broadcast_to(mask, (*lead, T_q, T_k))
    heads = list(np.ndindex(*lead))
    rows, columns = max(1, min(tile or QUERIES, T_q)), max(1, min(tile or KEYS, T_k))
    tiles = [slice(start, min(start + rows, T_q)) for start in range(0, T_q, rows)]
    tiles.reverse()  # with a causal mask the last one is the longest: no core waits for it
    left_out: set[Head] = set()

    def make_worker() -> Callable[[tuple[Head, list[slice]]], None]:
        one = _OneHead(Q, K, V, mask, scale, rows, columns)

        def attend(item: tuple[Head, list[slice]]) -> None:
            head, tiles = item
            if not one.take(head):
                left_out.add(head)
                return
            for queries in tiles:
                one.attend(queries, output[head][queries])

        return partial(quietly, attend)  # what is refused may overflow, small weights vanish

    if len(heads) * T_q * T_k * (d_k + d_v) < WORTH_THREADS:
        attend = make_worker()
        for head in heads:
            attend((head, tiles))
        return output, sorted(left_out)
    cores = core_count()
    if len(heads) % cores == 0 or len(heads) >= 4 * cores:
        share_out([(head, tiles) for head in heads], make_worker)
    else:  # heads do not come out even: share out their tiles
        share_out([(head, [queries]) for head in heads for queries in tiles], make_worker)
    return output, sorted(left_out)


class _OneHead:
    """One head at a time, with the buffers of one thread."""

    def __init__(
        self, Q: Floats, K: Floats, V: Floats, mask: Any, scale: float, rows: int, columns: int
    ) -> None:
        self.arrays, self.scale = (Q, K, V), scale
        self.wide = np.dtype(np.float32 if Q.dtype == np.float16 else Q.dtype)
        self.seen = _Seen(mask, Q.shape[-2], K.shape[-2], rows, columns, self.wide)
        self.head: Head | None = None
        self.ordinary = self.bounded = False
        self.q = np.empty((rows, Q.shape[-1]), dtype=self.wide)
        self.tile = np.empty(rows * columns, dtype=self.wide)
        self.values = np.empty(V.shape[-2:], dtype=self.wide)
        self.output = np.empty((rows, V.shape[-1]), dtype=self.wide)
        self.ones = np.ones(columns, dtype=self.wide)

    def take(self, head: Head) -> bool:
        """Turn to a head and find out what its numbers allow; False if they are not ordinary."""
        if head == self.head:
            return self.ordinary
        self.head = head
        self.seen.take(head)
        self.Q, K, V = (array[head] for array in self.arrays)
        self.K = np.ascontiguousarray(K, dtype=self.wide)

        largest = float(np.finfo(self.wide).max)
        lost = K.shape[-1] * float(np.finfo(self.wide).tiny)  # squares too small for the type
        longest_q = abs(self.scale) * math.sqrt(_highest_square(self.Q, self.wide) + lost)
        longest_k = math.sqrt(_highest_square(self.K, self.wide) + lost)
        highest_v = float(max(V.max(initial=0), -V.min(initial=0)))
        # No score, and no sum of len(K) values, comes near the end of the type.  NaN fails too.
        far, room = math.sqrt(largest) / 4, largest / (4 * max(1, len(K)))
        self.ordinary = longest_q < far and longest_k < far and highest_v < room
        if not self.ordinary:
            return False

        # Without a maximum the weights lie between exp(-bound) and exp(bound).  The values are
        # made larger by about exp(bound), so that a small value times a small weight does not
        # vanish; a power of two costs no digit.  Their sum must still fit.
        bound = 1.01 * longest_q * longest_k
        self.bounded = 2 * bound < math.log(room / max(1.0, highest_v))
        self.growth = 2.0 ** math.ceil(bound / math.log(2)) if self.bounded else 1.0
        np.multiply(V, self.growth, out=self.values, dtype=self.wide)
        self.exp, per_score = exponential(self.wide.char)
        self.factor = self.scale * (per_score if self.bounded else 1.0)
        return True

    def attend(self, queries: slice, result: Floats) -> None:
        """The output of a tile of queries, into `result`, which is 0."""
        rows = queries.stop - queries.start
        q, output = self.q[:rows], self.output[:rows]  # (rows, d_k), (rows, d_v)
        np.multiply(self.Q[queries], self.factor, out=q, dtype=self.wide)
        total: Any = None  # (rows,)
        highest: Any = -np.inf
        for keys, cut, visible in self.seen.runs(queries):
            columns = keys.stop - keys.start
            weights = self.tile[: columns * rows].reshape(columns, rows)  # on its side
            np.matmul(self.K[keys], q.T, out=weights)
            shrink: Any = 1.0
            if self.bounded:
                self.exp(weights, out=weights)
                weights[cut] *= visible
            else:
                np.copyto(weights[cut], -np.inf, where=visible == 0)
                before, highest = highest, np.maximum(highest, weights.max(axis=0))
                shift = np.where(highest == -np.inf, 0, highest)  # -inf minus -inf is NaN
                shrink = np.exp(before - shift)
                weights -= shift
                np.exp(weights, out=weights)
            sums = self.ones[:columns] @ weights  # faster than a sum over the axis
            if total is None:
                total = sums
                np.matmul(weights.T, self.values[keys], out=output)
            else:
                total = total * shrink + sums
                output *= np.reshape(shrink, (-1, 1))
                output += weights.T @ self.values[keys]
        if total is not None:
            total *= self.growth  # as the values were, and with them the output
            total[total == 0] = 1  # a query that may see no key: 0 / 1
            np.divide(output, total[:, None], out=result, casting="same_kind")


class _Seen:
    """Which keys the queries of a tile see, one head at a time."""

    def __init__(
        self, mask: Any, T_q: int, T_k: int, rows: int, longest: int, dtype: np.dtype[Any]
    ) -> None:
        self.mask, self.ahead, self.T_k = mask, T_k - T_q, T_k
        self.block, self.longest = rows, longest  # keys looked at together, keys in a run
        # What a causal mask leaves of the keys that not every query of a tile sees: the first of
        # them is seen from query 1 on, the second from query 2 on, and so forth.
        self.triangle = np.triu(np.ones((rows, rows), dtype=dtype), 1)
        self.known: dict[int, list[Run]] = {}
        # One mask for all heads is looked at once, unless tiny tiles would make a long list.
        self.keep = isinstance(mask, np.ndarray) and not any(mask.strides[:-2]) and rows < longest

    def take(self, head: Head) -> None:
        """Turn to a head."""
        if isinstance(self.mask, np.ndarray):
            self.allowed = self.mask[head]  # (T_q, T_k)

    def runs(self, queries: slice) -> Iterable[Run]:
        """Runs of keys with something to see, and where in each the mask cuts through."""
        if not isinstance(self.mask, np.ndarray):
            return self._plain_runs(queries)
        if not self.keep:
            return self._runs_of_mask(queries)
        if queries.start not in self.known:
            self.known[queries.start] = list(self._runs_of_mask(queries))
        return self.known[queries.start]

    def _plain_runs(self, queries: slice) -> Iterator[Run]:
        """All keys, or with a causal mask those up to the last query."""
        end = partly = self.T_k
        if self.mask == "causal":
            end = min(queries.stop + self.ahead, self.T_k)
            partly = queries.start + self.ahead + 1  # from here on not every query sees a key
        for start in range(0, end, self.longest):
            stop = min(start + self.longest, end)
            first = min(max(start, partly), stop)
            # Row 0 of the triangle is the key `partly`.
            visible = self.triangle[first - partly : stop - partly, : queries.stop - queries.start]
            yield slice(start, stop), slice(first - start, stop - start), visible

    def _runs_of_mask(self, queries: slice) -> Iterator[Run]:
        """Neighbouring blocks of keys that some query sees, joined to runs of limited length."""
        allowed = self.allowed[queries]  # (rows, T_k)
        some, every = allowed.any(axis=0), allowed.all(axis=0)
        seen = [
            slice(start, min(start + self.block, self.T_k))
            for start in range(0, self.T_k, self.block)
            if some[start : start + self.block].any()
        ]
        while seen:
            start, stop = seen[0].start, seen.pop(0).stop
            while seen and seen[0].start == stop and seen[0].stop - start <= self.longest:
                stop = seen.pop(0).stop
            partly = np.flatnonzero(~every[start:stop])
            first, last = (partly[0], partly[-1] + 1) if partly.size else (0, 0)
            visible = allowed[:, start + first : start + last].T  # keys × queries
            yield slice(start, stop), slice(first, last), visible


def _highest_square(rows: Floats, wide: np.dtype[Any]) -> float:
    """Largest squared length of a row."""
    rows = np.asarray(rows, dtype=wide)
    return float(np.vecdot(rows, rows).max(initial=0))


@cache
def exponential(kind: str) -> tuple[Any, float]:
    """exp, or 2^x and the factor that the scores then need, whichever NumPy has the faster.

    NumPy's exp has vector instructions on most processors.  Where exp2 has them as well, it takes
    half the time; where not, it is several times slower.  It is slow, too, wherever the result
    is 0 or nearly so: good for bounded scores only.
    """
    try:
        found = np.lib.introspect.opt_func_info(func_name="^exp2$")["exp2"][2 * kind]
        vector = not found["current"].startswith("baseline")
    except (AttributeError, KeyError):  # an older NumPy does not tell
        vector = False
    return (np.exp2, math.log2(math.e)) if vector else (np.exp, 1.0)
