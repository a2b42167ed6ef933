"""The gradients of attention without the T × T matrix: one tile of queries after another.

A tile is some queries with all the keys that they see.  Its weights are made anew from Q and K,
as on the way there, used for all three gradients, and thrown away:

    weights = softmax(scale · q Kᵀ)            dV += weightsᵀ dO
    dscores = scale · weights ∘ (dO Vᵀ - row mean)
    dQ  = dscores K                            dK += dscoresᵀ q

So memory grows with T, not with T².  FlashAttention cuts the keys into tiles as well, as the
memory beside a GPU's processors is small.  No tile then knows a whole row, so two things are kept
from the way there: log_sum_exp, the logarithm of the sum of each row's exponentials, and the
output, from which the row mean is made once for all tiles, D = dO · output (Dao 2023,
"FlashAttention-2", algorithm 2; `kernels/attention.cu` does so).  A core's cache takes whole rows,
so here nothing is needed but the inputs, and of the products that the gradients take none is made
twice.
"""

import math
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from array_api_compat import device, is_numpy_namespace
from numpy.typing import NDArray

from .backward import attention_backward
from .inputs import (
    Array,
    check_attention_shapes,
    check_gradient_shape,
    check_large_mask,
    check_scale,
    float_arrays,
    working_type,
)
from .masks import check_whole
from .threads import core_count, quietly, share_out
from .tiled import tiles
from .tiled_fast import WORTH_THREADS, Head

Floats = NDArray[np.floating[Any]]
QUERIES, CELLS = 128, 2**20  # in a tile, where the caller names no size: no more than either
FAR = 16.0  # exp of scores up to this, either sign, spoils no product: no maximum is taken off


def tiled_attention_backward(
    Q: Array,
    K: Array,
    V: Array,
    dO: Array,
    *,
    mask: Any = None,
    scale: float | None = None,
    tile: int | None = None,
) -> tuple[Array, Array, Array]:
    """Gradients without the T × T matrix: those of `attention_backward`, in memory linear in T.

    Parameters
    ----------
    Q, K, V, dO, mask, scale
        As in :func:`~andrea_lesson.backward.attention_backward`; in a mask True = may attend.
    tile : int, optional
        How many queries a tile has; chosen here by default.  It need not divide T_q.

    Returns
    -------
    dQ, dK, dV : arrays of the shapes of Q, K and V

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.

    Notes
    -----
    NumPy arrays take a faster form, with heads over threads.  Heads whose gradients it finds
    not to be finite are done once more by the plain form, tile by tile, which knows what
    NaN and infinities may reach.
    """
    xp, (Q, K, V, dO) = float_arrays(Q=Q, K=K, V=V, dO=dO)
    check_attention_shapes(Q, K, V)
    check_gradient_shape(dO, Q, V)
    scale = check_scale(scale, Q.shape[-1])
    mask = check_large_mask(xp, mask, Q, K)
    if tile is None:
        tile = max(1, min(QUERIES, CELLS // max(1, K.shape[-2])))
    tile = check_whole("tile", tile, 1)
    if not is_numpy_namespace(xp):
        return _plain(xp, Q, K, V, dO, mask, scale, tile)
    if isinstance(mask, np.ndarray):
        mask = np.broadcast_to(mask, (*Q.shape[:-1], K.shape[-2]))
    (dQ, dK, dV), left_out = _fast(Q, K, V, dO, mask, scale, tile)
    for head in left_out:
        allowed = mask[head] if isinstance(mask, np.ndarray) else mask
        dQ[head], dK[head], dV[head] = _plain(
            np, Q[head], K[head], V[head], dO[head], allowed, scale, tile
        )
    return dQ, dK, dV


def _plain(
    xp: Any, Q: Array, K: Array, V: Array, dO: Array, mask: Any, scale: float, tile: int
) -> tuple[Array, Array, Array]:
    """Each tile of queries by the plain form; keys and values gather what the tiles bring them."""
    dtype, wide = Q.dtype, working_type(xp, Q.dtype)
    Q, K, V, dO = (xp.astype(array, wide) for array in (Q, K, V, dO))
    dQ, dK, dV = [Q[..., :0, :]], xp.zeros_like(K), xp.zeros_like(V)
    for queries in tiles(Q.shape[-2], tile):
        allowed = mask
        if isinstance(mask, str):  # causal: made for this tile only
            keys = xp.arange(K.shape[-2], device=device(Q))
            rows = xp.arange(queries.start, queries.stop, device=device(Q))
            allowed = keys[None, :] <= rows[:, None] + (K.shape[-2] - Q.shape[-2])
        elif mask is not None and mask.shape[-2] != 1:  # an axis of length 1 stretches
            allowed = mask[..., queries, :]
        of_queries, of_keys, of_values = attention_backward(
            Q[..., queries, :], K, V, dO[..., queries, :], mask=allowed, scale=scale
        )
        dQ.append(of_queries)  # (..., rows, d_k)
        dK = dK + of_keys  # (..., T_k, d_k)
        dV = dV + of_values  # (..., T_k, d_v)
    return xp.astype(xp.concat(dQ, axis=-2), dtype), xp.astype(dK, dtype), xp.astype(dV, dtype)


def _fast(
    Q: Floats, K: Floats, V: Floats, dO: Floats, mask: Any, scale: float, tile: int
) -> tuple[list[Floats], list[Head]]:
    """The gradients of all heads, and the heads where they are not finite."""
    *lead, T_q, d_k = Q.shape
    T_k, d_v = V.shape[-2:]
    wide = np.dtype(working_type(np, Q.dtype))
    gradients = [np.zeros(array.shape, dtype=wide) for array in (Q, K, V)]
    heads, all_tiles, adding = list(np.ndindex(*lead)), list(tiles(T_q, tile)), Lock()
    cores = 1
    if len(heads) * T_q * T_k * (d_k + d_v) >= WORTH_THREADS:
        cores = core_count()
    parts = 1 if len(heads) % cores == 0 or len(heads) >= 4 * cores else cores
    # Heads that do not come out even are cut.  Later tiles are longer under a causal mask, so
    # parts take turns to and fro: of two, one has tiles 0, 3, 4, 7, the other 1, 2, 5, 6.
    shares = [
        all_tiles[part :: 2 * parts] + all_tiles[2 * parts - 1 - part :: 2 * parts]
        for part in range(parts)
    ]

    def make_worker() -> Callable[[tuple[Head, list[slice]]], None]:
        one = _OneHead((Q, K, V, dO), mask, scale, min(tile, T_q), wide)

        def work(item: tuple[Head, list[slice]]) -> None:
            head, share = item
            dQ, dK, dV = (gradient[head] for gradient in gradients)
            one.take(head)
            for queries in share:
                one.add(queries, dQ[queries])
            with adding:
                dK += one.dK
                dV += one.dV

        return partial(quietly, work)  # what is not finite is found at the end

    items = [(head, share) for head in heads for share in shares]
    if cores == 1:
        work = make_worker()
        for item in items:
            work(item)
    else:
        share_out(items, make_worker)
    left_out = [
        head for head in heads if not all(np.isfinite(one[head]).all() for one in gradients)
    ]

    def narrow() -> list[Floats]:  # what it holds may be too large for float16, or too small
        return [gradient.astype(Q.dtype, copy=False) for gradient in gradients]

    return quietly(narrow), left_out


class _OneHead:
    """The gradients of one head at a time, with the buffers of one thread.

    Tiles lie on their side, keys × queries, as matrix products are fastest that way.
    """

    def __init__(
        self, given: tuple[Floats, ...], mask: Any, scale: float, rows: int, wide: np.dtype[Any]
    ) -> None:
        Q, K, V, _ = given
        self.given, self.mask, self.scale, self.wide = given, mask, scale, wide
        self.ahead = K.shape[-2] - Q.shape[-2]
        self.weights = np.empty(K.shape[-2] * rows, dtype=wide)
        self.dscores = np.empty_like(self.weights)
        self.dK, self.more_dK = (np.empty(K.shape[-2:], dtype=wide) for _ in range(2))
        self.dV, self.more_dV = (np.empty(V.shape[-2:], dtype=wide) for _ in range(2))
        self.ones = np.ones(K.shape[-2], dtype=wide)
        self.limits = np.array([-np.inf, np.inf], dtype=wide)  # of a hidden score, of another
        triangle = np.tri(rows, dtype=int).T  # key a is seen from query a on
        self.triangle = self.limits[triangle]

    def take(self, head: Head) -> None:
        """Turn to a head."""
        self.Q, self.K, self.V, self.dO = (
            np.ascontiguousarray(array[head], dtype=self.wide) for array in self.given
        )
        self.allowed = self.mask[head] if isinstance(self.mask, np.ndarray) else None
        self.dK[:], self.dV[:] = 0, 0
        longest_q, longest_k = (
            math.sqrt(float(np.vecdot(rows, rows).max(initial=0))) for rows in (self.Q, self.K)
        )
        furthest = longest_q * longest_k * abs(self.scale)  # |q·k| ≤ |q||k|
        self.near = furthest < FAR
        if not furthest < float(np.finfo(self.wide).max) / 2:  # NaN, or scores that overflow:
            self.dK[:] = np.nan  # a head for the plain form

    def add(self, queries: slice, dQ: Floats) -> None:
        """Write dQ of a tile of queries, and add what it brings to dK and dV."""
        keys, cut, limit = self.seen(queries)
        rows, columns = queries.stop - queries.start, keys.stop - keys.start
        if not columns:
            return
        Q, K, V, dO = self.Q[queries], self.K[keys], self.V[keys], self.dO[queries]
        weights = self.weights[: columns * rows].reshape(columns, rows)
        dscores = self.dscores[: columns * rows].reshape(columns, rows)
        ones = self.ones[:columns]  # ones @ tile is faster than a sum over the axis

        np.matmul(K, (Q * self.scale).T, out=weights)
        np.minimum(weights[cut], limit, out=weights[cut])
        if not self.near:
            highest = weights.max(axis=0)  # (rows,)
            highest[highest == -np.inf] = 0  # no allowed key
            weights -= highest
        np.exp(weights, out=weights)
        total = ones @ weights  # (rows,)
        total[total == 0] = 1
        # The weights are these divided by their sum.  It is dO that is divided: it is smaller.
        dO = dO / total[:, None]
        self.dV[keys] += np.matmul(weights, dO, out=self.more_dV[:columns])

        np.matmul(V, (dO * self.scale).T, out=dscores)  # scale · dweights / total
        dscores *= weights
        weights *= (ones @ dscores) / total  # scale · row mean
        dscores -= weights
        np.matmul(dscores.T, K, out=dQ)
        self.dK[keys] += np.matmul(dscores, Q, out=self.more_dK[:columns])

    def seen(self, queries: slice) -> tuple[slice, slice, Floats]:
        """The run of keys that a tile of queries sees, and the part that not every query sees.

        With it come the limits that scores in that part, keys × queries, are held down to.
        """
        T_k, rows = len(self.K), queries.stop - queries.start
        nothing = slice(0, 0), self.triangle[:0, :rows]
        if self.mask is None:
            return slice(0, T_k), *nothing
        if self.allowed is None:  # causal
            start = queries.start + self.ahead  # the last key that all of them see
            stop = max(0, start + rows)
            first = max(0, start)
            limits = self.triangle[first - start : stop - start, :rows]
            return slice(0, stop), slice(first, stop), limits
        allowed = self.allowed[queries]  # (rows, T_k)
        some = np.flatnonzero(allowed.any(axis=0))
        if not some.size:
            return slice(0, 0), *nothing
        keys = slice(int(some[0]), int(some[-1]) + 1)
        partly = np.flatnonzero(~allowed[:, keys].all(axis=0))
        if not partly.size:
            return keys, *nothing
        cut = slice(int(partly[0]), int(partly[-1]) + 1)
        return keys, cut, self.limits[allowed[:, keys][:, cut].T.astype(int)]
