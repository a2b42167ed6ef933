"""Probes: change something going in, and see which rows coming out move.

They take any function of Q, K and V, the learner's own included.  It is handed copies each time,
so that one that writes into its arguments does no harm, and its results are copied too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .inputs import plain_numbers
from .masks import check_whole
from .random_scores import FloatArray

Attend = Callable[[FloatArray, FloatArray, FloatArray], Any]
Arrays = list[FloatArray]


def causality_probe(
    attend: Attend, Q: FloatArray, K: FloatArray, V: FloatArray, position: int
) -> FloatArray:
    """Change one token and see which rows of the output move.

    Claim: under a causal mask, none before `position` does.

    Parameters
    ----------
    attend : callable
        Takes Q, K, V and returns the output; the learner's own function is welcome.
    Q, K, V : array_like, shape (T, width)
        Left as they are; the change is made in copies.
    position : int
        The token to change: 1 is added to its numbers.  Where the numbers are so large that 1
        would be lost in rounding, the change is as large as the largest of them.

    Returns
    -------
    ndarray, shape (T,)
        Largest change in each row of the output; 0.0 where nothing moved.
    """
    arrays = _checked(attend, Q, K, V)
    position = check_whole("position", position, 0, len(arrays[0]) - 1)
    return _moved(_run(attend, arrays), _run(attend, _changed(arrays, position)))


@dataclass(frozen=True, eq=False)
class NoAttention:
    """Which tokens each row of an output depends on.

    Attributes
    ----------
    moved : ndarray, shape (T, T)
        `moved[i, j]`: how far row i of the output moves when token j changes.
    depends : ndarray of bool, shape (T, T)
        Where it moves by more than rounding.
    looks_elsewhere : ndarray of bool, shape (T,)
        Rows that depend on another token than their own.
    """

    moved: FloatArray
    depends: NDArray[np.bool_]
    looks_elsewhere: NDArray[np.bool_]

    @property
    def attends(self) -> bool:
        """Whether any row looks at another token at all."""
        return bool(self.looks_elsewhere.any())


def no_attention_probe(attend: Attend, Q: FloatArray, K: FloatArray, V: FloatArray) -> NoAttention:
    """Change each token in turn and see which rows of the output move.

    Claim: without attention a row depends on nothing but its own token; with attention, on just
    those tokens that its mask lets it see.

    Parameters
    ----------
    attend : callable
        Takes Q, K, V and returns the output; the learner's own function is welcome.
    Q, K, V : array_like, shape (T, width)
        At least two tokens.  Left as they are; the changes are those of :func:`causality_probe`.

    Returns
    -------
    NoAttention
    """
    arrays = _checked(attend, Q, K, V, least=2)
    before = _run(attend, arrays)
    places = range(len(before))
    after = [_run(attend, _changed(arrays, j)) for j in places]
    moved = np.stack([_moved(before, output) for output in after], axis=1)  # (T, T)
    depends = np.asarray(moved > _rounding(before, *after))
    others = depends & ~np.eye(len(before), dtype=bool)
    return NoAttention(moved, depends, np.asarray(others.any(axis=1)))


@dataclass(frozen=True, eq=False)
class Permutation:
    """What becomes of an output when the order of its tokens changes.

    Attributes
    ----------
    order : ndarray of int, shape (T,)
        Place i takes what stood at place `order[i]`; nothing stays where it was.
    pairs_moved : ndarray, shape (T,)
        How far each row moves when keys and values are put in this order together.
    values_moved : ndarray, shape (T,)
        The same for the values alone, which tears the pairs apart: a control that should move.
    rows_moved : ndarray, shape (T,)
        How far each row is from the one that its query had before, when queries are put in order.
    pairs_stay, rows_follow : bool
        Whether `pairs_moved` and `rows_moved` are no more than rounding.
    """

    order: NDArray[np.int_]
    pairs_moved: FloatArray
    values_moved: FloatArray
    rows_moved: FloatArray
    pairs_stay: bool
    rows_follow: bool


def permutation_probe(
    attend: Attend, Q: FloatArray, K: FloatArray, V: FloatArray, *, seed: int = 0
) -> Permutation:
    """Change the order of key-value pairs, and then of queries.

    Claim: without a mask attention knows no order.  The order of the key-value pairs makes no
    difference, and the rows of the output follow their queries.  With a causal mask neither holds.

    Parameters
    ----------
    attend : callable
        Takes Q, K, V and returns the output; the learner's own function is welcome.
    Q, K, V : array_like, shape (T, width)
        At least two tokens.  Left as they are.
    seed : int
        Of the random order.

    Returns
    -------
    Permutation
    """
    Q, K, V = arrays = _checked(attend, Q, K, V, least=2)
    cycle = np.random.default_rng(check_whole("seed", seed, 0)).permutation(len(Q))
    order = np.empty_like(cycle)
    order[cycle] = np.roll(cycle, -1)  # one cycle through all places, so none stays
    before, pairs, values, queries = (
        _run(attend, changed)
        for changed in (arrays, [Q, K[order], V[order]], [Q, K, V[order]], [Q[order], K, V])
    )
    pairs_moved, rows_moved = _moved(before, pairs), _moved(before[order], queries)
    return Permutation(
        order=order,
        pairs_moved=pairs_moved,
        values_moved=_moved(before, values),
        rows_moved=rows_moved,
        pairs_stay=bool(pairs_moved.max() <= _rounding(before, pairs)),
        rows_follow=bool(rows_moved.max() <= _rounding(before, queries)),
    )


# -- what the probes share -------------------------------------------------------------------------


def _checked(attend: Attend, Q: Any, K: Any, V: Any, least: int = 0) -> Arrays:
    if not callable(attend):
        raise TypeError(f"attend must be a function of Q, K, V; got {type(attend).__name__}.")
    arrays = [plain_numbers(name, array, 2) for name, array in {"Q": Q, "K": K, "V": V}.items()]
    T = len(arrays[0])
    if len(arrays[0]) < least:
        raise ValueError(f"Q must have at least {least} rows; got {T}.")
    for name, array in zip("KV", arrays[1:], strict=True):
        if len(array) != T:
            raise ValueError(f"{name} must have a row for each of the {T} of Q; got {len(array)}.")
    return arrays


def _changed(arrays: Arrays, position: int) -> Arrays:
    """Copies in which the token at a position is another."""
    after = [array.copy() for array in arrays]
    for array in after:
        largest = np.abs(array).max(initial=0.0)
        # Away from the sign, so that even the largest number of a type does not overflow.
        array[position] += 1.0 if largest < 100 else -np.copysign(largest, array[position])
    return after


def _run(attend: Attend, arrays: Arrays) -> FloatArray:
    """A copy of what `attend` makes of copies, checked."""
    T = len(arrays[0])
    output = plain_numbers("the result of attend", attend(*(array.copy() for array in arrays)), 2)
    if len(output) != T or not np.isfinite(output).all():
        came = f"shape {output.shape}" if len(output) != T else "NaN or infinity"
        raise ValueError(f"the result of attend must be {T} rows of finite numbers; got {came}.")
    return output.copy()


def _moved(before: FloatArray, after: FloatArray) -> FloatArray:
    """Largest change in each row."""
    if before.shape != after.shape:
        raise ValueError(
            f"the result of attend must have one shape each time; "
            f"got {before.shape} and {after.shape}."
        )
    moved: FloatArray = np.abs(after - before).max(axis=-1, initial=0.0)
    return moved


def _rounding(*outputs: FloatArray) -> float:
    """Changes up to this may come from rounding alone."""
    largest = max(float(np.abs(output).max(initial=0.0)) for output in outputs)
    return 64 * float(np.finfo(outputs[0].dtype).eps) * largest
