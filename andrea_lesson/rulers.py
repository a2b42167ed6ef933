"""Rulers for a row of weights: over how many keys it spreads, and how many can still learn.

The good ones take T out, so that rows of different length can be compared.
"""

import numpy as np

from .inputs import plain_numbers
from .random_scores import FloatArray

_TENTH = 0.1  # of an even share, 1/T


def effective_keys(weights: FloatArray) -> FloatArray:
    """Over how many keys a row really spreads: e^H, with H the entropy of its weights.

    Parameters
    ----------
    weights : ndarray, shape (..., T_k)
        Rows sum to 1 within 0.01, or are all 0.

    Returns
    -------
    ndarray, shape (...)
        T for a uniform row, 1 for a row with one weight of 1, 0 for a row of zeros.
    """
    weights = _rows_of_weights(weights)
    logs = np.log(np.where(weights > 0, weights, 1.0))  # 0 log 0 counts as 0
    keys = np.exp(-np.sum(weights * logs, axis=-1))
    return np.where(weights.any(axis=-1), keys, 0.0)


def gradient_share(weights: FloatArray) -> FloatArray:
    """Share of a row's keys whose score still moves its own weight: p(1 - p) > 0.1 / T.

    Parameters
    ----------
    weights : ndarray, shape (..., T_k)
        Rows sum to 1 within 0.01, or are all 0.

    Returns
    -------
    ndarray, shape (...)
        0…1.  An even row of two keys or more has 1, a frozen one 0: in it the winner's gradient
        is gone like the losers'.  A single key always has weight 1 and no gradient.
    """
    weights = _rows_of_weights(weights)
    if not weights.shape[-1]:
        return np.zeros(weights.shape[:-1])
    share: FloatArray = (weights * (1 - weights) > _TENTH / weights.shape[-1]).mean(axis=-1)
    return share


def jacobian_norm(weights: FloatArray) -> FloatArray:
    """Appendix: the norm of ∂p/∂s = diag(p) - p pᵀ, a ruler that misleads where T changes.

    Parameters
    ----------
    weights : ndarray, shape (..., T_k)
        Rows sum to 1 within 0.01, or are all 0.

    Returns
    -------
    ndarray, shape (...)
        Root of the sum of all squared derivatives, to about 1e-8, without the T × T matrix.
    """
    weights = _rows_of_weights(weights)
    squares = np.sum(weights**2, axis=-1)
    # Σ_i (p_i - p_i²)² + Σ_{i≠j} (p_i p_j)², brought together
    inside = squares - 2 * np.sum(weights**3, axis=-1) + squares**2
    norm: FloatArray = np.sqrt(np.maximum(inside, 0.0))
    return norm


def _rows_of_weights(weights: FloatArray) -> FloatArray:
    weights = plain_numbers("weights", weights, 1, more=True).astype(float)
    sums = weights.sum(axis=-1)
    wrong = ~((np.abs(sums - 1) <= 0.01) | (sums == 0))  # NaN is wrong too
    if weights.size and weights.min() < 0:
        raise ValueError(f"weights must not be negative; got {weights.min():.3g}.")
    if wrong.any():
        raise ValueError(f"weights must have rows that sum to 1 or 0; got {sums[wrong][0]:.3g}.")
    return weights
