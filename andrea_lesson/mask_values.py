"""Which number stands for "forbidden", and what becomes of it in each precision."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .inputs import allowed_cells, check_real, plain_numbers
from .naive import add_mask, fill_mask
from .random_scores import FloatArray, check_one_of, kept

RULES = {"fill": fill_mask, "add": add_mask}
PRECISIONS = ("float64", "float32", "float16")
MASK_VALUES = (-np.inf, -1e9, -1e4, "lowest", 0.0)
OUTCOMES = ("right", "leaks", "nan", "uniform", "unmasked", "no_such_score")
_VISIBLE = np.array([[True, False]])
_EMPTY = np.array([[False, False]])


def largest_leak(weights: FloatArray, mask: Any) -> float:
    """Return the largest weight that lies on a key which the mask forbids; 0.0 is right."""
    weights = plain_numbers("weights", weights, 2, more=True)
    forbidden = weights[~allowed_cells(mask, weights)]
    return float(forbidden.max()) if forbidden.size else 0.0


@dataclass(frozen=True, eq=False)
class MaskValues:
    """What each rule, mask value and precision makes of a row of two keys.

    The first key is visible and has a score of `scores`, the second is hidden and has 0.  The
    last case is an empty row: scores 1 and 0, both hidden.

    Attributes
    ----------
    rules, dtypes : tuple of str
    values : tuple of float or "lowest"
    scores : tuple of float
    weights : ndarray, shape (rules, values, dtypes, scores + 1, 2)
        NaN where the row is lost.
    outcome : ndarray of str, shape (rules, values, dtypes, scores + 1)
        "right": nothing lies on hidden keys.  "leaks": something does.  "nan": the row is lost.
        "uniform": an even split over hidden keys alone, which looks like attention.
        "unmasked": an empty row as if there were no mask.  "no_such_score": the precision cannot
        hold the visible score in the first place, which is no fault of the mask.
    """

    rules: tuple[str, ...]
    values: tuple[float | str, ...]
    dtypes: tuple[str, ...]
    scores: tuple[float, ...]
    weights: FloatArray
    outcome: NDArray[np.str_]


def mask_outcomes(
    values: Sequence[float | str] = MASK_VALUES,
    dtypes: Sequence[str] = PRECISIONS,
    rules: Sequence[str] = tuple(RULES),
    *,
    scores: Sequence[float] = (1.0, -2e4, -2e9),
) -> MaskValues:
    """Claim: no number is right by either rule in every case; nor is -inf, for an empty row.

    A finite value leaks where a real score lies below it, and an empty row turns uniform over
    hidden keys.  Added in float16, -1e9 is -inf, and (1 - m)·(-inf) is NaN at visible keys.

    Parameters
    ----------
    values : sequence of float or "lowest"
        What stands for "forbidden": below +inf; "lowest" is the least finite number of the type.
    dtypes : sequence of {"float64", "float32", "float16"}
        Precision of every step.
    rules : sequence of {"fill", "add"}
        :func:`fill_mask` and :func:`add_mask`.
    scores : sequence of float
        Scores of the visible key.

    Returns
    -------
    MaskValues
        Nothing in it is random.
    """
    value_names = tuple(_value(value) for value in _sequence("values", values))
    names = {"dtypes": (dtypes, PRECISIONS), "rules": (rules, tuple(RULES))}
    for name, (chosen, offered) in names.items():
        for one in _sequence(name, chosen):
            check_one_of(name, one, offered)
    visible = tuple(check_real("scores", score) for score in _sequence("scores", scores))
    cases = [*((score, _VISIBLE) for score in visible), (1.0, _EMPTY)]

    shape = (len(rules), len(values), len(dtypes), len(cases))
    weights, outcome = np.empty((*shape, 2)), np.empty(shape, dtype="<U16")
    for place in np.ndindex(shape):
        rule, value, dtype = (
            one[at] for one, at in zip((rules, value_names, dtypes), place[:3], strict=True)
        )
        score, mask = cases[place[3]]
        number = float(np.finfo(dtype).min) if isinstance(value, str) else value
        with np.errstate(over="ignore"):
            row = np.array([[score, 0.0]]).astype(dtype)  # (1, 2)
            weights[place] = RULES[rule](row, mask, number, dtype)[0]
        outcome[place] = _outcome(weights[place], row[0], mask[0])
    return MaskValues(
        rules=tuple(rules),
        values=value_names,
        dtypes=tuple(dtypes),
        scores=visible,
        weights=kept(weights),
        outcome=kept(outcome),
    )


def _outcome(weights: FloatArray, row: FloatArray, allowed: NDArray[np.bool_]) -> str:
    if not np.isfinite(row).all():
        return "no_such_score"
    if np.isnan(weights).any():
        return "nan"
    if not weights[~allowed].any():
        return "right"
    if allowed.any():
        return "leaks"
    even = np.full(2, 0.5)
    unmasked = np.exp(row.astype(float)) / np.exp(row.astype(float)).sum()
    for name, other in (("uniform", even), ("unmasked", unmasked)):
        if np.allclose(weights, other, atol=1e-3):
            return name
    return "leaks"


def _sequence(name: str, value: Any) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a sequence; got {value!r}.")
    items = tuple(value)
    if not items:
        raise ValueError(f"{name} must hold at least one; got none.")
    return items


def _value(value: Any) -> float | str:
    if isinstance(value, str):
        if value != "lowest":
            raise ValueError(f'values must be numbers or "lowest"; got {value!r}.')
        return value
    minus_infinity = isinstance(value, (float, np.floating)) and value == -np.inf
    return -np.inf if minus_infinity else check_real("values", value)
