"""Boolean masks: who may attend to whom.

Every mask has a row for each query and a column for each key, and **True means "may attend"**.
Where there are more keys than queries, the queries are the last tokens of the sequence, as when
a model goes on from a cached beginning: query i stands at position i + (T_k - T_q).
Sizes end at 1,048,576, and a mask at 2³⁰ cells, which fill a gigabyte.
"""

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
LONGEST, MOST_CELLS = 2**20, 2**30


def full_mask(T_q: int, T_k: int | None = None) -> BoolArray:
    """Every query may attend to every key, as in an encoder or in cross-attention.

    Parameters
    ----------
    T_q, T_k : int
        Number of queries and of keys; as many keys as queries if `T_k` is None.

    Returns
    -------
    ndarray of bool, shape (T_q, T_k)
        True = may attend.

    Raises
    ------
    TypeError, ValueError
        If a size is not a whole number, or is negative.
    """
    T_q, T_k = _sizes(T_q, T_k)
    return np.ones((T_q, T_k), dtype=bool)


def causal_mask(T_q: int, T_k: int | None = None) -> BoolArray:
    """Each position may attend to itself and to what came before: key j ≤ query position.

    Parameters
    ----------
    T_q, T_k : int
        Number of queries and of keys; as many keys as queries if `T_k` is None.

    Returns
    -------
    ndarray of bool, shape (T_q, T_k)
        True = may attend.  For T_q = T_k a lower triangle with its diagonal.  Otherwise the
        triangle ends at the bottom right: query i sees key j when j ≤ i + (T_k - T_q), and with
        more queries than keys the first T_q - T_k rows see nothing.

    Raises
    ------
    TypeError, ValueError
        If a size is not a whole number, or is negative.

    Notes
    -----
    Source: Vaswani et al. 2017, section 3.2.3 (masking in the decoder).
    """
    position, key = _positions(T_q, T_k)
    return key <= position


def sliding_window_mask(T_q: int, T_k: int | None = None, *, window: int) -> BoolArray:
    """Causal, and no further back than a window: itself and the window - 1 positions before.

    Parameters
    ----------
    T_q, T_k : int
        Number of queries and of keys; as many keys as queries if `T_k` is None.
    window : int
        How many keys a query sees, itself included; at least 1.

    Returns
    -------
    ndarray of bool, shape (T_q, T_k)
        True = may attend.

    Raises
    ------
    TypeError, ValueError
        If a size is not a whole number, a size is negative, or `window` is less than 1.

    Notes
    -----
    Source: Beltagy, Peters, Cohan 2020 (Longformer), section 3.1, here causal.
    """
    window = min(check_whole("window", window, 1), LONGEST)  # no key lies further back
    position, key = _positions(T_q, T_k)
    return (key <= position) & (key > position - window)


def prefix_mask(T_q: int, T_k: int | None = None, *, prefix: int) -> BoolArray:
    """The first `prefix` keys are open to all queries, the rest is causal.

    Parameters
    ----------
    T_q, T_k : int
        Number of queries and of keys; as many keys as queries if `T_k` is None.
    prefix : int
        How many keys at the beginning everybody sees; 0 gives the causal mask.

    Returns
    -------
    ndarray of bool, shape (T_q, T_k)
        True = may attend.

    Raises
    ------
    TypeError, ValueError
        If a size or `prefix` is not a whole number, or is negative.

    Notes
    -----
    Source: Raffel et al. 2020 (T5), section 3.2.1, "causal with prefix".
    """
    prefix = check_whole("prefix", prefix, 0)
    position, key = _positions(T_q, T_k)
    return (key <= position) | (key < prefix)


def padding_mask(
    lengths: Sequence[int] | NDArray[Any], T: int, *, heads: bool = False
) -> BoolArray:
    """Hide the filler behind shorter sequences of a batch.

    Parameters
    ----------
    lengths : sequence of B int
        True length of each sequence, 0…T.
    T : int
        Length to which all were filled up.
    heads : bool
        Whether the scores have a head axis.

    Returns
    -------
    ndarray of bool, shape (B, 1, T), or (B, 1, 1, T) with `heads`
        True = may attend.  The axes of length 1 stretch to the queries (and heads) of the
        scores.  Combine it with another mask by ``&``.

    Raises
    ------
    TypeError, ValueError
        If `lengths` is not one-dimensional, not whole numbers, or not within 0…T.
    """
    T = check_whole("T", T, 0, LONGEST)
    lengths = _plain("lengths", lengths)
    if lengths.size == 0:
        lengths = lengths.astype(int)
    if lengths.dtype.kind not in "iu":
        raise TypeError(f"lengths must be whole numbers; got dtype {lengths.dtype}.")
    if lengths.ndim != 1:
        raise ValueError(
            f"lengths must have one axis, a length per sequence; got shape {lengths.shape}."
        )
    outside = lengths[(lengths < 0) | (lengths > T)]
    if outside.size:
        raise ValueError(f"lengths must lie between 0 and T = {T}; got {outside[0]}.")
    _check_cells("lengths and T", lengths.size, T)
    mask = np.arange(T) < lengths[:, None]  # (B, T)
    return mask[:, None, None, :] if heads else mask[:, None, :]


def document_mask(documents: Sequence[Any] | NDArray[Any]) -> BoolArray:
    """Several documents packed into one sequence: causal, and only within one's own document.

    Parameters
    ----------
    documents : sequence of T int or str
        The document that each position belongs to.

    Returns
    -------
    ndarray of bool, shape (T, T)
        True = may attend.

    Raises
    ------
    TypeError, ValueError
        If `documents` does not have exactly one axis, or does not hold either whole numbers or
        text.
    """
    given = documents
    documents = _plain("documents", documents)
    if documents.ndim != 1:
        raise ValueError(
            f"documents must have one axis, an id per position; got shape {documents.shape}."
        )
    if documents.size and documents.dtype.kind not in "iuUS":
        raise TypeError(
            f"documents must be whole numbers or text, an id per position; "
            f"got dtype {documents.dtype}."
        )
    if isinstance(given, (list, tuple)):
        kinds = {np.asarray(one).dtype.kind.replace("u", "i") for one in given}
        if len(kinds) > 1:  # NumPy makes them all text, and 1 and "1" the same document
            raise TypeError("documents must be all whole numbers or all text; got a mixture.")
    _check_cells("documents", documents.size, documents.size)
    same: BoolArray = documents[:, None] == documents[None, :]  # (T, T)
    return same & causal_mask(documents.size)


def _positions(T_q: int, T_k: int | None) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Position of each query as a column (T_q, 1), of each key as a row (1, T_k)."""
    T_q, T_k = _sizes(T_q, T_k)
    return np.arange(T_q)[:, None] + (T_k - T_q), np.arange(T_k)[None, :]


def _sizes(T_q: int, T_k: int | None) -> tuple[int, int]:
    T_q = check_whole("T_q", T_q, 0, LONGEST)
    T_k = T_q if T_k is None else check_whole("T_k", T_k, 0, LONGEST)
    _check_cells("T_q and T_k", T_q, T_k)
    return T_q, T_k


def _check_cells(name: str, rows: int, columns: int) -> None:
    """Refuse a mask that would not fit into memory."""
    if rows * columns > MOST_CELLS:
        raise ValueError(
            f"{name} must make a mask of at most {MOST_CELLS:,} cells; got {rows:,} × {columns:,}."
        )


def _plain(name: str, value: Any) -> NDArray[Any]:
    """Turn a sequence into a NumPy array, or say in one sentence why not."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be a plain sequence; got a masked array.")
    try:
        return np.asarray(value)
    except Exception:  # ragged lists, or an array that lives on a GPU
        raise ValueError(
            f"{name} must be a plain sequence or NumPy array; "
            f"got {type(value).__name__}, which NumPy cannot read."
        ) from None


def check_whole(name: str, value: Any, at_least: int, at_most: int | None = None) -> int:
    """A whole number within limits, as a Python int.

    True and 3.0 are likely slips, so they are refused too.

    Parameters
    ----------
    name : str
        The argument to blame.
    value : int
    at_least, at_most : int
        Limits; none above if `at_most` is None.

    Raises
    ------
    TypeError, ValueError
        If `value` is not a whole number, or lies outside.
    """
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a whole number; got {value}.")
    try:
        number = index(value)
    except TypeError:
        came = repr(value) if np.isscalar(value) else type(value).__name__
        raise TypeError(f"{name} must be a whole number; got {came}.") from None
    if number < at_least or (at_most is not None and number > at_most):
        limits = f"lie between {at_least} and {at_most}"
        if at_most is None:
            limits = f"be at least {at_least}"
        came = str(number) if number.bit_length() < 100 else "a number of 30 digits or more"
        raise ValueError(f"{name} must {limits}; got {came}.")
    return number
