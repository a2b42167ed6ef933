"""Naive forms that go wrong, for showing how; and softmax taken apart.

They are written as one meets them in real code, with nothing of this package's care.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .inputs import allowed_cells, check_real, plain_numbers
from .scaled_dot_product import attention_weights, softmax

FloatArray = NDArray[np.floating]


def softmax_without_shift(scores: FloatArray) -> FloatArray:
    """Softmax as the formula has it.  Goes wrong: exp overflows, and ∞/∞ is NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        exponentials = np.exp(scores)
        weights: FloatArray = exponentials / exponentials.sum(axis=-1, keepdims=True)
        return weights


def mask_after_softmax(Q: FloatArray, K: FloatArray, mask: Any, *, renormalise: bool) -> FloatArray:
    """Weights when forbidden ones are set to 0 after softmax instead of before it.

    Goes wrong without `renormalise`: forbidden scores still stand in the denominator, so the
    rows sum to less than 1 and a future token reaches the output through it.  With it, the
    result is that of masking before, short of 0/0 in a row whose allowed weights underflow.

    Parameters
    ----------
    Q, K : ndarray, shape (T, d_k)
    mask : "causal" or ndarray of bool, shape (T, T)
        True = may attend.
    renormalise : bool
        Bring each row back to the sum 1.

    Returns
    -------
    ndarray, shape (T, T)
    """
    before = attention_weights(Q, K)
    weights: FloatArray = np.where(allowed_cells(mask, before), before, 0.0)
    if renormalise:
        with np.errstate(invalid="ignore"):
            weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights


def fill_mask(
    scaled_scores: FloatArray, mask: Any, value: float, dtype: str = "float64"
) -> FloatArray:
    """Weights when forbidden scores are replaced by a mask value, in a given precision.

    Goes wrong with a finite value: a real score may lie below it, and a row with no allowed
    key becomes uniform over forbidden ones.  With -inf such a row is 0/0 = NaN here.

    Parameters
    ----------
    scaled_scores : ndarray, shape (..., T_q, T_k)
    mask : "causal" or ndarray of bool
        True = may attend.
    value : float
        What stands in for "forbidden", such as -inf, -1e9 or -1e4.
    dtype : {"float16", "float32", "float64"}
        Precision of every step.

    Returns
    -------
    ndarray of `dtype`, shape (..., T_q, T_k)
    """
    scaled_scores = plain_numbers("scaled_scores", scaled_scores, 2, more=True)
    allowed = allowed_cells(mask, scaled_scores)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = np.where(allowed, scaled_scores.astype(dtype), np.asarray(value, dtype=dtype))
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights: FloatArray = exponentials / exponentials.sum(axis=-1, keepdims=True)
        return weights


def add_mask(
    scaled_scores: FloatArray, mask: Any, value: float, dtype: str = "float64"
) -> FloatArray:
    """Weights when ``(1 - mask) * value`` is added to the scores, in a given precision.

    Goes wrong where the value overflows to -inf: at *allowed* keys 0 × (-inf) is NaN.

    Parameters
    ----------
    scaled_scores, mask, value, dtype
        As in :func:`fill_mask`; True = may attend.

    Returns
    -------
    ndarray of `dtype`, shape (..., T_q, T_k)
    """
    scaled_scores = plain_numbers("scaled_scores", scaled_scores, 2, more=True)
    allowed = allowed_cells(mask, scaled_scores)
    with np.errstate(over="ignore", invalid="ignore"):
        hidden = 1 - allowed.astype(dtype)
        scores = scaled_scores.astype(dtype) + hidden * np.asarray(value, dtype=dtype)
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights: FloatArray = exponentials / exponentials.sum(axis=-1, keepdims=True)
        return weights


def shared_projection_scores(X: FloatArray, W: FloatArray) -> FloatArray:
    """Scores when one projection serves as query and as key.

    Goes wrong: ``X W Wᵀ Xᵀ`` is symmetric, so "i asks j" and "j asks i" are the same number,
    and a token's score with itself is a squared length, hard to beat.
    """
    return np.asarray((X @ W) @ (X @ W).T)


@dataclass(frozen=True, eq=False)
class SoftmaxInSteps:
    """A row of scores on its way to weights, as softmax does it."""

    scores: FloatArray
    shifted: FloatArray
    exponentials: FloatArray
    weights: FloatArray


def softmax_in_steps(
    scores: Sequence[float] | FloatArray, temperature: float = 1.0
) -> SoftmaxInSteps:
    """Take a row of scores apart: divided by the temperature, shifted, exp, divided.

    Parameters
    ----------
    scores : array_like, shape (T,)
        Finite, or -inf for a key that is not allowed; at least one is finite.
    temperature : float
        Greater than 0; 1/√d_k is a temperature of √d_k.

    Returns
    -------
    SoftmaxInSteps
    """
    row = plain_numbers("scores", scores, 1).astype(float)
    if not row.size or not math.isfinite(row.max()):  # the maximum of NaN and others is NaN
        came = row.max() if row.size else "none"
        raise ValueError(f"scores must be finite or -inf, and one of them finite; got {came}.")
    temperature = check_real("temperature", temperature)
    if temperature <= 0:
        raise ValueError(f"temperature must be greater than 0; got {temperature}.")
    with np.errstate(over="ignore"):
        divided = row / temperature
        if (np.isfinite(divided) != np.isfinite(row)).any():
            raise ValueError(f"temperature must leave the scores finite; got {temperature}.")
        shifted = divided - divided.max()
        return SoftmaxInSteps(divided, shifted, np.exp(shifted), softmax(divided))
