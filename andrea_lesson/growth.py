"""How far random scores spread as d_k grows, with a band that says what chance alone does."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .inputs import check_real
from .masks import check_whole
from .random_scores import (
    COMPONENTS,
    MOST,
    FloatArray,
    check_one_of,
    check_widths,
    kept,
    theory_std,
)

SMALLEST, LARGEST = 1e-6, 1e6  # standard deviations of components
MIDDLE = (2.5, 97.5)  # percentiles between which the middle 95 % lie


@dataclass(frozen=True, eq=False)
class ScoreSpreads:
    """Spread of random dot products over d_k.

    Attributes
    ----------
    d_k : ndarray of int, shape (n,)
    scores : ndarray, shape (n, pairs)
        Of the first draw.
    std, mean_absolute : ndarray, shape (n,)
        Median over the draws.
    predicted_std : ndarray, shape (n,)
        σ_q σ_k √d_k, or 1/√d_k for unit vectors.
    low, high : ndarray, shape (n,)
        Confidence band: between them lie the middle 95 % of the standard deviations found in
        `draws` repeated draws.  Both equal `std` where there is only one.
    components : str
    seed : int
    sigma_q, sigma_k : float
    draws : int
    """

    d_k: NDArray[np.int_]
    scores: FloatArray
    std: FloatArray
    mean_absolute: FloatArray
    predicted_std: FloatArray
    low: FloatArray
    high: FloatArray
    components: str
    seed: int
    sigma_q: float
    sigma_k: float
    draws: int


def score_spreads(
    d_ks: Sequence[int],
    *,
    components: str = "unit-variance",
    sigma_q: float = 1.0,
    sigma_k: float = 1.0,
    pairs: int = 1000,
    draws: int = 1,
    seed: int = 0,
) -> ScoreSpreads:
    """Claim: scores spread like σ_q σ_k √d_k, and those of unit vectors like 1/√d_k.

    Parameters
    ----------
    d_ks : sequence of int
        Widths to measure, 1…4096.
    components : {"unit-variance", "unit-vectors"}
        Components of mean 0 and variance 1, or vectors brought to length 1.
    sigma_q, sigma_k : float
        Standard deviations by which the components of queries and keys are multiplied,
        1e-6…1e6; unit vectors have length 1 whatever they are.
    pairs : int
        Pairs of a query and a key behind each number.
    draws : int
        How often the whole measurement is repeated with new vectors, for the band; 20 or more
        make one.
    seed : int

    Returns
    -------
    ScoreSpreads

    Notes
    -----
    Vaswani et al. 2017, footnote 4: independent components of mean 0 and variance 1 give a dot
    product of mean 0 and variance d_k.  One draw serves every d_k: the dot product over the
    first d_k components is a running sum.

    The band is read off the repeated draws.  A chi-square band would take the scores for normal;
    products of two normal numbers have longer tails, and at d_k = 1 it would be half as wide as
    the truth.
    """
    check_one_of("components", components, COMPONENTS)
    sigmas = {"sigma_q": sigma_q, "sigma_k": sigma_k}
    for name, value in sigmas.items():
        sigmas[name] = check_real(name, value)
        if not SMALLEST <= sigmas[name] <= LARGEST:
            raise ValueError(f"{name} must lie between {SMALLEST} and {LARGEST:g}; got {value}.")
    pairs, draws = check_whole("pairs", pairs, 1, MOST), check_whole("draws", draws, 1, MOST)
    seed = check_whole("seed", seed, 0)
    return _score_spreads(check_widths(d_ks), components, *sigmas.values(), pairs, draws, seed)


@lru_cache(maxsize=8)
def _score_spreads(
    d_ks: tuple[int, ...],
    components: str,
    sigma_q: float,
    sigma_k: float,
    pairs: int,
    draws: int,
    seed: int,
) -> ScoreSpreads:
    widths = np.array(d_ks)
    unit = components == "unit-vectors"
    factor = 1.0 if unit else sigma_q * sigma_k
    scores = factor * _draw(widths, pairs, unit, np.random.default_rng(seed))
    spreads, absolutes = [scores.std(axis=-1)], [np.abs(scores).mean(axis=-1)]  # (n,) each
    for draw in range(1, draws):
        again = factor * _draw(widths, pairs, unit, np.random.default_rng([seed, draw]))
        spreads.append(again.std(axis=-1))
        absolutes.append(np.abs(again).mean(axis=-1))
    low, high = np.percentile(spreads, MIDDLE, axis=0)
    predicted = theory_std(widths, components=components, sigma=np.sqrt(sigma_q * sigma_k))
    return ScoreSpreads(
        d_k=kept(widths),
        scores=kept(scores),
        std=kept(np.median(spreads, axis=0)),
        mean_absolute=kept(np.median(absolutes, axis=0)),
        predicted_std=kept(predicted),
        low=kept(low),
        high=kept(high),
        components=components,
        seed=seed,
        sigma_q=sigma_q,
        sigma_k=sigma_k,
        draws=draws,
    )


def _draw(widths: NDArray[np.int_], pairs: int, unit: bool, rng: np.random.Generator) -> FloatArray:
    """Scores of new random pairs at every width, shape (len(widths), pairs)."""
    q, k = rng.standard_normal((2, pairs, int(widths.max())))
    scores: FloatArray = _running_sum(q * k, widths)
    if unit:
        scores = scores / np.sqrt(_running_sum(q * q, widths) * _running_sum(k * k, widths))
    return scores


def _running_sum(products: FloatArray, widths: NDArray[np.int_]) -> FloatArray:
    return np.cumsum(products, axis=-1)[:, widths - 1].T  # (pairs, d_k) → (len(widths), pairs)
