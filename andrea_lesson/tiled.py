"""Attention tile by tile: the same result without the T × T matrix.

The scores are made a tile at a time, some queries by some keys, and are thrown away at once.
What softmax needs to know of a whole row is kept as it stands after the tiles seen so far:

    m   running_max   the highest score        (the paper's m)
    l   running_sum   Σ exp(score - m)         (the paper's ℓ)
    O   output        Σ exp(score - m) V / l

When a tile brings a higher score, what was summed before is too large by the factor
exp(new m - old m), and is shrunk by it once: that is all of "online softmax".  Tiles that the
mask hides altogether are skipped, with a causal mask nearly half of them.

Sources: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"; Dao et al. 2022,
"FlashAttention", algorithm 1.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import device, is_numpy_namespace

from .inputs import (
    Array,
    check_attention_shapes,
    check_large_mask,
    check_scale,
    float_arrays,
    working_type,
)
from .masks import check_whole
from .scaled_dot_product import weighted_sum
from .tiled_fast import fast_heads

TILE = 128  # queries, and keys, in a tile


@dataclass(frozen=True, eq=False)
class TileStep:
    """Where the computation stands after one tile.

    Attributes
    ----------
    queries, keys : slice
        The rows and columns of the tile.
    skipped : bool
        Whether the mask hides the whole tile, so that nothing was computed.
    scores : array, shape (..., rows, columns), or None if skipped
        Masked scaled scores of the tile.
    running_max : array, shape (..., rows)
        The highest score of each query so far; -inf before its first key.
    running_sum : array, shape (..., rows)
        Sum of exp(score - running_max) so far.
    rescale : array, shape (..., rows)
        exp(old max - new max), by which the earlier sum was shrunk: 1 if the tile was skipped
        or has brought nothing higher, 0 if there was no earlier key.
    output : array, shape (..., rows, d_v)
        Already divided by the running sum: attention over the keys seen so far.
    """

    queries: slice
    keys: slice
    skipped: bool
    scores: Array | None
    running_max: Array
    running_sum: Array
    rescale: Array
    output: Array


def tiled_attention(
    Q: Array,
    K: Array,
    V: Array,
    *,
    mask: Any = None,
    scale: float | None = None,
    tile: int | None = None,
) -> Array:
    """Attention without the T × T matrix: the result of `attention`, in memory linear in T.

    Parameters
    ----------
    Q, K, V, mask, scale
        As in :func:`attention_steps`; in a mask True = may attend.
    tile : int, optional
        How many queries and keys a tile has; chosen here by default.  It need not divide T.

    Returns
    -------
    array, shape (..., T_q, d_v)
        For each query the values of the keys it may see, mixed by their weights.

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.

    Notes
    -----
    NumPy arrays take a faster form of the same steps (`tiled_fast.py`), with heads over threads;
    heads with NaN, infinities or numbers near the end of their type take the steps shown here.
    """
    problem = _Problem(Q, K, V, mask, scale, tile)
    if not is_numpy_namespace(problem.xp):
        return problem.attend()
    output, left_out = fast_heads(
        problem.Q, problem.K, problem.V, problem.mask, problem.scale, problem.tile
    )
    for head in left_out:
        output[head] = problem.head(head).attend()
    return output


def tiled_steps(
    Q: Array,
    K: Array,
    V: Array,
    *,
    mask: Any = None,
    scale: float | None = None,
    tile: int | None = None,
) -> Iterator[TileStep]:
    """Tiled attention, one tile after another, for looking at.

    Parameters
    ----------
    Q, K, V, mask, scale, tile
        As in :func:`tiled_attention`; in a mask True = may attend.

    Yields
    ------
    TileStep
        For each tile of queries, from the first, each tile of keys, from the first.  Steps of
        float16 inputs are computed and shown in float32.

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    return _Problem(Q, K, V, mask, scale, tile).steps()


class _Problem:
    """Checked arguments, and the steps that solve them."""

    def __init__(
        self, Q: Array, K: Array, V: Array, mask: Any, scale: float | None, tile: int | None
    ) -> None:
        self.xp, (self.Q, self.K, self.V) = float_arrays(Q=Q, K=K, V=V)
        check_attention_shapes(self.Q, self.K, self.V)
        self.scale = check_scale(scale, self.Q.shape[-1])
        self.tile = None if tile is None else check_whole("tile", tile, 1)
        self.mask = check_large_mask(self.xp, mask, self.Q, self.K)

    def head(self, index: tuple[int, ...]) -> "_Problem":
        """One head as a problem of its own."""
        mask = self.mask
        if isinstance(mask, np.ndarray):
            mask = np.broadcast_to(mask, (*self.Q.shape[:-1], self.K.shape[-2]))[index]
        return _Problem(self.Q[index], self.K[index], self.V[index], mask, self.scale, self.tile)

    def attend(self) -> Array:
        """The output, from the last tile of each row of tiles."""
        xp, T_k = self.xp, self.K.shape[-2]
        parts = [step.output for step in self.steps() if step.keys.stop == T_k]
        if not parts:  # no query, or no key
            shape = (*self.Q.shape[:-1], self.V.shape[-1])
            return xp.zeros(shape, dtype=self.V.dtype, device=device(self.V))
        return xp.astype(xp.concat(parts, axis=-2), self.V.dtype)  # (..., T_q, d_v)

    def steps(self) -> Iterator[TileStep]:
        """Tile after tile, with what is known of each row of scores carried along."""
        xp, here, wide = self.xp, device(self.Q), working_type(self.xp, self.Q.dtype)
        (*lead, T_q, _), (T_k, d_v) = self.Q.shape, self.V.shape[-2:]
        zero, one, hidden, nan = (
            xp.asarray(value, dtype=wide, device=here) for value in (0.0, 1.0, -math.inf, math.nan)
        )
        for queries in tiles(T_q, self.tile or TILE):
            Q = xp.astype(self.Q[..., queries, :], wide)  # (..., rows, d_k)
            rows = (*lead, queries.stop - queries.start)
            running_max = xp.broadcast_to(hidden, rows)
            running_sum = xp.broadcast_to(zero, rows)
            output = shown = xp.broadcast_to(zero, (*rows, d_v))
            met = xp.broadcast_to(zero != 0, rows)  # has the query met a key it may see?
            for keys in tiles(T_k, self.tile or TILE):
                allowed = self.allowed(queries, keys)
                if allowed is False:
                    same = running_max, running_sum, xp.broadcast_to(one, rows), shown
                    yield TileStep(queries, keys, True, None, *same)
                    continue
                K = xp.astype(self.K[..., keys, :], wide)  # (..., columns, d_k)
                V = xp.astype(self.V[..., keys, :], wide)  # (..., columns, d_v)
                scores = (Q @ xp.matrix_transpose(K)) * self.scale  # (..., rows, columns)
                if allowed is not None:
                    scores = xp.where(allowed, scores, hidden)
                met = met | (True if allowed is None else xp.any(allowed, axis=-1))

                earlier_max = running_max
                running_max = xp.maximum(earlier_max, xp.max(scores, axis=-1))
                shift = xp.where(running_max == hidden, zero, running_max)  # -inf - -inf is NaN
                rescale = xp.exp(earlier_max - shift)
                weights = xp.exp(scores - shift[..., None])  # not yet divided by their sum

                earlier_sum = running_sum * rescale
                running_sum = earlier_sum + xp.sum(weights, axis=-1)
                divisor = xp.where(running_sum == 0, one, running_sum)[..., None]
                share = earlier_sum[..., None] / divisor
                output = output * share + weighted_sum(xp, weights / divisor, V, allowed)
                # A query that met no score above -inf has 0 / 0 here, as in `attention`.
                nothing = (met & (running_sum == 0))[..., None]
                shown = xp.where(nothing, nan, output)
                state = running_max, running_sum, rescale, shown
                yield TileStep(queries, keys, False, scores, *state)

    def allowed(self, queries: slice, keys: slice) -> Any:
        """The mask of a tile: False if it hides everything, None if it hides nothing."""
        xp = self.xp
        if self.mask is None:
            return None
        if isinstance(self.mask, str):  # causal: made for this tile only
            ahead = self.K.shape[-2] - self.Q.shape[-2]
            if keys.start > queries.stop - 1 + ahead:
                return False
            if keys.stop - 1 <= queries.start + ahead:
                return None
            here = device(self.Q)
            position = xp.arange(queries.start, queries.stop, device=here)[:, None] + ahead
            return xp.arange(keys.start, keys.stop, device=here)[None, :] <= position
        T_q, T_k = self.mask.shape[-2:]  # an axis of length 1 stretches, it has no tiles
        allowed = self.mask[
            ..., slice(None) if T_q == 1 else queries, slice(None) if T_k == 1 else keys
        ]
        if not bool(xp.any(allowed)):
            return False
        return None if bool(xp.all(allowed)) else allowed


def tiles(T: int, tile: int) -> Iterator[slice]:
    """Cut 0…T into tiles; the last one is smaller if need be."""
    for start in range(0, T, tile):
        yield slice(start, min(start + tile, T))
