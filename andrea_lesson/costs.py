"""What attention costs, counted before anything is run: arithmetic, bytes moved, working memory.

Three ways to the same output, and two back to the gradients:

    textbook   `attention`: the whole T × T matrix at every step, hidden scores included
    tiled      `tiled_attention`: a tile of scores at a time; tiles that a mask hides are skipped
    decoder    one new query against the keys and values kept so far (KV cache)

An arithmetic count says how long the processor must work at least, a count of bytes how long it
must wait for the memory at least: the two are compared with what a machine can do a second.
Everywhere d_v = d_k, T_q = T_k = T (in a decoder step T_q = 1), and the mask is causal or none.
"""

from dataclasses import dataclass

import numpy as np

from . import tiled_backward
from .masks import check_whole
from .tiled_fast import KEYS, QUERIES, WORTH_THREADS

BYTES = {"float16": 2, "float32": 4, "float64": 8}  # of a number, by precision
# How many T × T matrices of numbers the plain code holds at its highest moment.  Forward, in
# softmax: scores, scaled and masked scores, their differences to the maximum, exponentials.
# Backward: the four steps of the way there, dweights, dscaled_scores and dscores; with a mask one
# more, as a product is masked into a new matrix.
FORWARD_MATRICES, BACKWARD_MATRICES = 5, 7


@dataclass(frozen=True)
class Cost:
    """What one call costs.

    Attributes
    ----------
    multiplications : int
        In the matrix products, each followed by an addition.
    exponentials : int
    bytes_moved : int
        Read and written by all passes over arrays that are larger than a tile.
    working_bytes : int
        Most memory that the call holds at any moment beyond its inputs and its result.
    output_bytes : int
        The result itself.
    rounds : int
        How often Python goes through the steps: once for all heads, or for each head.
    read_bytes : int
        Of the bytes moved, those that make no large new array: read where they lie, or passed on
        within the cache.
    converted : int
        Numbers brought from float16 to float32, or back.
    """

    multiplications: int
    exponentials: int
    bytes_moved: int
    working_bytes: int
    output_bytes: int
    rounds: int = 1
    read_bytes: int = 0
    converted: int = 0

    @property
    def flops(self) -> int:
        """Floating-point operations of the matrix products: a multiplication and an addition."""
        return 2 * self.multiplications


def textbook_cost(
    T: int, d_k: int = 64, *, n_head: int = 1, precision: str = "float32", causal: bool = True
) -> Cost:
    """Count what `attention` does: every step over the whole T × T matrix of each head.

    Parameters
    ----------
    T : int
        Queries, and keys.
    d_k : int
        Width of queries, keys and values.
    n_head : int
        Heads.
    precision : {"float16", "float32", "float64"}
        Of the inputs; float16 is computed in float32.
    causal : bool
        The mask is "causal", or there is none.  Hidden scores are computed all the same.

    Returns
    -------
    Cost

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    size = _Size(T, d_k, n_head, precision, causal)
    d_k, scores, vectors, wide = size.d_k, size.pairs, size.vectors, size.wide
    # Written once: scores.  Read and written: scaled, masked, difference, exponentials, quotient
    # (and, with a mask, weights).  Read once: for maximum, for sum, by the product with V.
    passes = 1 + 2 * (6 if causal else 5) + 3
    mask = 4 * size.mask  # a byte a cell: made, looked through for empty rows, used twice
    # Copied to the wider type: Q, K, V and, back, the output.  Read besides: by both products, and
    # V by the search for what is not finite.
    rest = vectors * (4 * size.item + 9 * wide + 2)
    # Of the softmax; of the end, with the copy of V, and the output not yet brought to its type.
    moments = FORWARD_MATRICES * scores, 4 * scores + 2 * vectors
    return Cost(
        multiplications=2 * scores * d_k,
        exponentials=scores,
        bytes_moved=passes * scores * wide + mask + rest,
        working_bytes=max(moments) * wide + size.mask,
        output_bytes=vectors * size.item,
        converted=4 * vectors if size.narrow else 0,
    )


def textbook_backward_cost(
    T: int, d_k: int = 64, *, n_head: int = 1, precision: str = "float32", causal: bool = True
) -> Cost:
    """Count what `attention_backward` does: the way there once more, and four products back.

    Parameters
    ----------
    T, d_k, n_head, precision, causal
        As in :func:`textbook_cost`.

    Returns
    -------
    Cost

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    size = _Size(T, d_k, n_head, precision, causal)
    d_k, scores, vectors, wide = size.d_k, size.pairs, size.vectors, size.wide
    there = textbook_cost(T, d_k, n_head=n_head, precision=precision, causal=causal)
    # Written once: dweights.  Weighted and summed, shifted, weighted, scaled; read by three
    # products.  A mask costs a matrix of zeros, and a pass that chooses between the two, twice.
    passes = 1 + (3 + 1) + 2 + 3 + 2 + 3 + (2 * 4 if causal else 0)
    # Copied: Q, K, V and dO, and three gradients at the end.  Read by five places, searched for
    # what is not finite in three, written as gradients.
    rest = vectors * (7 * (size.item + wide) + (5 + 3 + 3) * wide + 6)
    matrices = BACKWARD_MATRICES * scores * wide + size.mask
    # Beside the matrices: Q, K, V and dO in the wider type, the output of the way there; and
    # either a product that is being masked, or the gradients before they are brought to their type.
    vectors_too = matrices + vectors * (4 * wide + size.item)
    moments = vectors_too + scores * wide if causal else 0, vectors_too + 3 * vectors * wide
    return Cost(
        multiplications=there.multiplications + 4 * scores * d_k,
        exponentials=scores,
        bytes_moved=there.bytes_moved + passes * scores * wide + 2 * size.mask + rest,
        working_bytes=max(moments),
        output_bytes=3 * vectors * size.item,
        converted=there.converted + 7 * vectors if size.narrow else 0,
    )


def tiled_cost(
    T: int,
    d_k: int = 64,
    *,
    n_head: int = 1,
    precision: str = "float32",
    causal: bool = True,
    tile: int | None = None,
    threads: int = 1,
) -> Cost:
    """Count what `tiled_attention` does: no tile that the mask hides is touched.

    The fast form is counted (`tiled_fast.py`), for numbers of ordinary size.

    Parameters
    ----------
    T, d_k, n_head, precision, causal
        As in :func:`textbook_cost`.
    tile : int, optional
        As in `tiled_attention`.
    threads : int
        Heads are shared out to so many, each with a tile of its own.

    Returns
    -------
    Cost

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    size = _Size(T, d_k, n_head, precision, causal)
    T, d_k, n_head = size.T, size.d_k, size.n_head
    tile = None if tile is None else check_whole("tile", tile, 1)
    rows, columns = min(tile or QUERIES, T), min(tile or KEYS, T)
    threads = check_whole("threads", threads, 1)
    pairs = n_head * seen_pairs(T, rows, causal)
    keys = n_head * _passed_keys(T, rows, causal)
    alone = size.pairs * 2 * d_k < WORTH_THREADS
    narrow = size.narrow
    worker = (
        rows * (columns + rows)  # the tile, a triangle
        + 3 * rows * d_k  # its queries, its output, a part of that
        + columns
        + T * d_k * (3 if narrow else 1)  # the values; what is not wide enough is copied
    ) * size.wide
    return Cost(
        multiplications=2 * pairs * d_k,
        exponentials=pairs,
        # Q, K and V once, the output once; keys and values again for each tile of queries.
        bytes_moved=size.vectors * (4 * size.item + (3 if narrow else 1) * size.wide)
        + 2 * keys * d_k * size.wide,
        working_bytes=worker * (1 if alone else threads),
        output_bytes=size.vectors * size.item,
        rounds=n_head,
        converted=4 * size.vectors if narrow else 0,
    )


def tiled_backward_cost(
    T: int,
    d_k: int = 64,
    *,
    n_head: int = 1,
    precision: str = "float32",
    causal: bool = True,
    tile: int | None = None,
    threads: int = 1,
) -> Cost:
    """Count what `tiled_attention_backward` does: five products for each tile, weights included.

    Parameters
    ----------
    T, d_k, n_head, precision, causal, tile, threads
        As in :func:`tiled_cost`.

    Returns
    -------
    Cost

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    size = _Size(T, d_k, n_head, precision, causal)
    T, d_k, n_head = size.T, size.d_k, size.n_head
    threads = check_whole("threads", threads, 1)
    usual = max(1, min(tiled_backward.QUERIES, tiled_backward.CELLS // max(1, T)))
    rows = min(usual if tile is None else check_whole("tile", tile, 1), T)
    pairs = n_head * seen_pairs(T, rows, causal)
    keys = n_head * _passed_keys(T, rows, causal)
    alone = size.pairs * 2 * d_k < WORTH_THREADS
    narrow = size.narrow
    worker = (
        rows * (2 * T + rows)  # weights and gradients of scores of a tile with all its keys
        + 2 * rows * d_k
        + T
        + T * d_k * (8 if narrow else 4)  # gradients of keys and values, and what a tile adds
    ) * size.wide
    return Cost(
        multiplications=5 * pairs * d_k,
        exponentials=pairs,
        # Q, K, V and dO once, dQ once.  For each tile keys twice, values once; what it adds to
        # two gradients is written, and read with them, and they are written.
        bytes_moved=size.vectors * (4 * size.item + size.wide) + 11 * keys * d_k * size.wide,
        working_bytes=worker * (1 if alone else threads)
        + (3 * size.vectors * size.wide if narrow else 0),
        output_bytes=3 * size.vectors * size.item,
        rounds=n_head,
        converted=7 * size.vectors if narrow else 0,
    )


def decoder_cost(T: int, d_k: int = 64, *, n_head: int = 1, precision: str = "float32") -> Cost:
    """Count `KVCache.attend`: one new query of each head against T keys and values kept.

    Parameters
    ----------
    T : int
        Keys in the cache, that of the new token included.
    d_k, n_head, precision
        As in :func:`textbook_cost`.  All keys are in the past, so there is no mask.

    Returns
    -------
    Cost
        `bytes_moved` is little more than the cache, which is read once for each new token, and
        where it lies; one of float16 is brought to float32 first, each time.

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    size = _Size(T, d_k, n_head, precision, causal=False)
    T, d_k, n_head = size.T, size.d_k, size.n_head
    scores, kept, narrow = n_head * T, 2 * size.vectors, size.narrow
    # Written once: scores.  Read and written: a copy, differences, exponentials, quotient, a copy.
    # Read once: by the search for rows without a key, for maximum, for sum, by the product with V.
    passes = 1 + 2 * 5 + 4
    moved = kept * (size.item + 2 * size.wide if narrow else size.item)
    moved += passes * scores * size.wide
    return Cost(
        multiplications=2 * scores * d_k,
        exponentials=scores,
        bytes_moved=moved,
        working_bytes=4 * scores * size.wide + (kept * size.wide if narrow else 0),
        output_bytes=n_head * d_k * size.item,
        read_bytes=0 if narrow else moved,
        converted=kept if narrow else 0,
    )


def input_bytes(T: int, d_k: int = 64, *, n_head: int = 1, precision: str = "float32") -> int:
    """Memory of Q, K and V together.

    Parameters
    ----------
    T, d_k, n_head, precision
        As in :func:`textbook_cost`.

    Returns
    -------
    int
    """
    size = _Size(T, d_k, n_head, precision, causal=False)
    return 3 * size.vectors * size.item


def cache_bytes(T: int, d_k: int = 64, *, n_head: int = 1, precision: str = "float32") -> int:
    """Memory of a KV cache: a key and a value for each position and head.

    Parameters
    ----------
    T, d_k, n_head, precision
        As in :func:`decoder_cost`.

    Returns
    -------
    int
    """
    size = _Size(T, d_k, n_head, precision, causal=False)
    return 2 * size.vectors * size.item


def seen_pairs(T: int, tile: int, causal: bool = True) -> int:
    """Queries × keys of one head in the tiles that are computed.

    Parameters
    ----------
    T : int
        Queries, and keys.
    tile : int
        Queries, and keys, in a tile.
    causal : bool
        Tiles beyond the diagonal are skipped; those on it are computed as a whole.

    Returns
    -------
    int
    """
    T, tile = check_whole("T", T, 0), check_whole("tile", tile, 0 if T == 0 else 1)
    if not causal or T == 0:
        return T * T
    full, rest = divmod(T, tile)
    # Row of tiles k goes as far as its last query: k · tile keys, or T keys for a smaller last row.
    return tile * tile * full * (full + 1) // 2 + rest * T


def _passed_keys(T: int, rows: int, causal: bool) -> int:
    """Keys of one head that tiles go over, row of tiles by row of tiles."""
    if T == 0:
        return 0
    full, rest = divmod(T, rows)
    if not causal:
        return T * (full + (rest > 0))
    return rows * full * (full + 1) // 2 + (T if rest else 0)


@dataclass(frozen=True)
class _Size:
    """Checked parameters, and what follows from them."""

    T: int
    d_k: int
    n_head: int
    precision: str
    causal: bool

    def __post_init__(self) -> None:
        for name, least in (("T", 0), ("d_k", 1), ("n_head", 0)):
            # As Python's own numbers: those of NumPy overflow.
            object.__setattr__(self, name, check_whole(name, getattr(self, name), least))
        if self.precision not in tuple(BYTES):  # a tuple: what came may have no hash
            raise ValueError(
                f'precision must be "float16", "float32" or "float64"; got {self.precision!r}.'
            )
        if not isinstance(self.causal, (bool, np.bool_)):
            raise TypeError(f"causal must be True or False; got {self.causal!r}.")

    @property
    def item(self) -> int:
        return BYTES[self.precision]

    @property
    def wide(self) -> int:
        """Bytes of a number while it is computed with."""
        return max(self.item, 4)

    @property
    def narrow(self) -> bool:
        """Whether numbers are brought to a wider type before anything is computed."""
        return self.item < self.wide

    @property
    def pairs(self) -> int:
        """Queries × keys, of all heads."""
        return self.n_head * self.T * self.T

    @property
    def vectors(self) -> int:
        """Numbers in Q, or in K, V or the output."""
        return self.n_head * self.T * self.d_k

    @property
    def mask(self) -> int:
        """Bytes of the mask, which all heads share."""
        return self.T * self.T if self.causal else 0
