"""How peaked rows of random scores become, over d_k, T and what the scores are divided by.

Measured with the good rulers of `rulers.py`; the appendix at the end shows two that mislead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .family import ANDREA_120M
from .masks import check_whole
from .random_scores import (
    DIVISORS,
    MOST,
    WIDEST,
    FloatArray,
    check_one_of,
    check_widths,
    divisor_value,
    kept,
    theory_keys,
)
from .rulers import effective_keys, gradient_share, jacobian_norm
from .scaled_dot_product import softmax

MOST_CELLS = 2**24  # rows × keys of one measurement: 128 MB
_BLOCK = 1024  # keys drawn at once


# -- over d_k, T and divisor -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Saturation:
    """How peaked rows of random scores are, for every T, d_k and divisor.

    Attributes
    ----------
    T, d_k : ndarray of int, shape (n_T,), (n_d_k,)
    divisors : tuple of str
    d_model : int
        Behind the divisor "sqrt_d_model".
    effective_keys, largest_weight : ndarray, shape (n_T, n_d_k, n_divisors)
        Medians over the rows.
    gradient_share : ndarray, shape (n_T, n_d_k, n_divisors)
        Share of all keys of all rows with p(1 - p) > 0.1 / T.
    std : ndarray, shape (n_d_k, n_divisors)
        Predicted standard deviation of the divided scores.
    keys_theory : ndarray, shape (n_T, n_d_k, n_divisors)
        T e^{-std²/2}, which is T/√e for √d_k; NaN where std² ≥ 2 ln T and the row is frozen.
    freezing_d_k : ndarray, shape (n_T,)
        2 ln T: from about here on raw rows are frozen.
    rows, seed : int
    """

    T: NDArray[np.int_]
    d_k: NDArray[np.int_]
    divisors: tuple[str, ...]
    d_model: int
    effective_keys: FloatArray
    gradient_share: FloatArray
    largest_weight: FloatArray
    std: FloatArray
    keys_theory: FloatArray
    freezing_d_k: FloatArray
    rows: int
    seed: int


def saturation_grid(
    d_ks: Sequence[int],
    Ts: Sequence[int] = (1024,),
    divisors: Sequence[str] = DIVISORS,
    *,
    d_model: int = ANDREA_120M.d_model,
    rows: int = 64,
    seed: int = 0,
) -> Saturation:
    """Claim: divided by √d_k a row keeps T/√e keys at every d_k, raw it freezes near 2 ln T.

    Divided by √d_model or d_k, rows turn more even than at √d_k, the more so the wider the head.

    Parameters
    ----------
    d_ks : sequence of int
        Widths to measure, 1…4096.
    Ts : sequence of int
        Numbers of keys, 1…16384; the first T of the same keys.
    divisors : sequence of {"none", "sqrt_d_k", "d_k", "sqrt_d_model"}
    d_model : int
        For the divisor "sqrt_d_model".
    rows : int
        Random queries behind each number.
    seed : int

    Returns
    -------
    Saturation

    Notes
    -----
    Scores of standard deviation s over many keys leave T e^{-s²/2} effective keys while
    s² < 2 ln T; with s = 1 that is T/√e.  At s² = d_k = 2 ln T the best key begins to win
    alone, as in the random energy model (Derrida 1981); a crossover, not an edge.
    """
    rows, seed = check_whole("rows", rows, 1, MOST), check_whole("seed", seed, 0)
    d_model = check_whole("d_model", d_model, 1)
    return _saturation_grid(
        check_widths(d_ks), _lengths(Ts, rows), _divisors(divisors), d_model, rows, seed
    )


@lru_cache(maxsize=8)
def _saturation_grid(
    d_ks: tuple[int, ...],
    Ts: tuple[int, ...],
    divisors: tuple[str, ...],
    d_model: int,
    rows: int,
    seed: int,
) -> Saturation:
    values = np.array([[divisor_value(name, d_k, d_model) for name in divisors] for d_k in d_ks])
    keys, shares, largest = np.empty((3, len(Ts), len(d_ks), len(divisors)))
    for at_d_k, d_k in enumerate(d_ks):
        scores = _random_scores(d_k, max(Ts), rows, seed)  # (rows, max T)
        for at_T, T in enumerate(Ts):
            for at, value in enumerate(values[at_d_k]):
                weights = softmax(scores[:, :T] / value)
                place = at_T, at_d_k, at
                keys[place] = np.median(effective_keys(weights))
                shares[place] = gradient_share(weights).mean()
                largest[place] = np.median(weights.max(axis=-1))
    lengths, widths = np.array(Ts), np.array(d_ks)
    std = np.sqrt(widths)[:, None] / values  # (n_d_k, n_divisors)
    theory = np.stack([theory_keys(std, T) for T in Ts])
    theory[std**2 >= 2 * np.log(lengths)[:, None, None]] = np.nan
    return Saturation(
        T=kept(lengths),
        d_k=kept(widths),
        divisors=divisors,
        d_model=d_model,
        effective_keys=kept(keys),
        gradient_share=kept(shares),
        largest_weight=kept(largest),
        std=kept(std),
        keys_theory=kept(theory),
        freezing_d_k=kept(2 * np.log(lengths)),
        rows=rows,
        seed=seed,
    )


def _random_scores(d_k: int, T: int, rows: int, seed: int) -> FloatArray:
    """Raw scores (rows, T); the keys are drawn in blocks, so that wide ones need no memory."""
    rng = np.random.default_rng([seed, d_k])
    Q, scores = rng.standard_normal((rows, d_k)), np.empty((rows, T))
    for start in range(0, T, _BLOCK):
        K = rng.standard_normal((min(_BLOCK, T - start), d_k))
        scores[:, start : start + _BLOCK] = Q @ K.T
    return scores


def _lengths(Ts: Any, rows: int) -> tuple[int, ...]:
    if isinstance(Ts, str) or not np.iterable(Ts):
        raise TypeError(f"Ts must be a sequence of whole numbers; got {type(Ts).__name__}.")
    lengths = tuple(check_whole("Ts", T, 1, MOST) for T in Ts)
    if not lengths:
        raise ValueError("Ts must hold at least one T; got none.")
    if rows * max(lengths) > MOST_CELLS:
        raise ValueError(
            f"rows must be no more than {MOST_CELLS // max(lengths):,} for T = {max(lengths):,}; "
            f"got {rows:,}."
        )
    return lengths


def _divisors(divisors: Any) -> tuple[str, ...]:
    if isinstance(divisors, str) or not np.iterable(divisors):
        raise TypeError(f"divisors must be a sequence of names; got {divisors!r}.")
    names = tuple(divisors)
    for name in names:
        check_one_of("divisors", name, DIVISORS)
    if not names:
        raise ValueError(f"divisors must hold at least one of {DIVISORS}; got none.")
    return names


@dataclass(frozen=True, eq=False)
class Freezing:
    """Median effective keys over d_k, for raw and for scaled scores."""

    T: int
    d_k: NDArray[np.int_]
    raw: FloatArray
    scaled: FloatArray
    scaled_theory: float
    freezing_d_k: float
    rows: int
    seed: int


def freezing(d_ks: Sequence[int], T: int = 1024, *, rows: int = 64, seed: int = 0) -> Freezing:
    """Claim: raw rows freeze onto a few keys around d_k = 2 ln T, scaled rows keep T/√e keys.

    Parameters
    ----------
    d_ks : sequence of int
        Widths to measure, 1…4096.
    T : int
        Keys in a row, 1…16384.
    rows : int
        Rows behind each median.
    seed : int

    Returns
    -------
    Freezing
        Effective keys of :func:`saturation_grid`, for one T and two divisors.
    """
    T, rows = check_whole("T", T, 1, MOST), check_whole("rows", rows, 1, MOST)
    _lengths((T,), rows)
    return _freezing(check_widths(d_ks), T, rows, check_whole("seed", seed, 0))


@lru_cache(maxsize=8)
def _freezing(d_ks: tuple[int, ...], T: int, rows: int, seed: int) -> Freezing:
    both = saturation_grid(d_ks, (T,), ("none", "sqrt_d_k"), rows=rows, seed=seed)
    return Freezing(
        T=T,
        d_k=both.d_k,
        raw=both.effective_keys[0, :, 0],
        scaled=both.effective_keys[0, :, 1],
        scaled_theory=float(T / np.sqrt(np.e)),
        freezing_d_k=float(both.freezing_d_k[0]),
        rows=rows,
        seed=seed,
    )


# -- appendix: rulers that mislead -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MisleadingRulers:
    """Appendix: two rulers that mislead beside two that do not, a row for each T.

    All arrays but T have shape (n_T, 2): raw, then scaled.

    Attributes
    ----------
    jacobian_norm : ndarray
        Median over rows.  Misleads.
    fixed_share : ndarray
        Share of keys with p(1 - p) > `threshold`, the same at every T.  Misleads.
    effective_keys, gradient_share : ndarray
        As in :func:`saturation_grid`.
    """

    T: NDArray[np.int_]
    d_k: int
    threshold: float
    jacobian_norm: FloatArray
    fixed_share: FloatArray
    effective_keys: FloatArray
    gradient_share: FloatArray
    rows: int
    seed: int


def misleading_rulers(
    Ts: Sequence[int] = (16, 1024, 16384), d_k: int = 64, *, rows: int = 64, seed: int = 0
) -> MisleadingRulers:
    """Appendix.  Claim: by the Jacobian norm or a fixed threshold, raw rows look better at large T.

    Parameters
    ----------
    Ts : sequence of int
        Numbers of keys, 1…16384; the first T of the same keys.
    d_k : int
        1…4096.
    rows : int
        Random queries behind each number.
    seed : int

    Returns
    -------
    MisleadingRulers

    Notes
    -----
    A thousand keys that share evenly have weights of one thousandth, and a norm that is small by
    nature; a few that share have a large one.  So the norm, like any threshold that knows nothing
    of T, compares the numbers of keys and not how well they learn.
    """
    threshold = 0.001
    d_k = check_whole("d_k", d_k, 1, WIDEST)
    good = saturation_grid((d_k,), Ts, ("none", "sqrt_d_k"), rows=rows, seed=seed)
    scores = _random_scores(d_k, int(good.T.max()), rows, seed)
    norms, shares = np.empty((2, len(good.T), 2))
    for at_T, T in enumerate(good.T):
        for at, divisor in enumerate((1.0, np.sqrt(d_k))):
            weights = softmax(scores[:, :T] / divisor)
            norms[at_T, at] = np.median(jacobian_norm(weights))
            shares[at_T, at] = np.mean(weights * (1 - weights) > threshold)
    return MisleadingRulers(
        T=good.T,
        d_k=d_k,
        threshold=threshold,
        jacobian_norm=norms,
        fixed_share=shares,
        effective_keys=good.effective_keys[:, 0],
        gradient_share=good.gradient_share[:, 0],
        rows=rows,
        seed=seed,
    )
