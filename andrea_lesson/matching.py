"""What a wide head buys: the weight of a key that equals the query, among random ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .family import FAMILY
from .masks import check_whole
from .random_scores import MOST, FloatArray, check_widths, kept, theory_match
from .scaled_dot_product import attention_weights


@dataclass(frozen=True, eq=False)
class PerfectMatch:
    """Weight that a key equal to the query gets among T - 1 random ones."""

    T: int
    d_k: NDArray[np.int_]
    measured: FloatArray
    formula: FloatArray
    trials: int
    seed: int


def perfect_match_formula(d_k: NDArray[Any], T: int) -> FloatArray:
    """Weight of a key equal to the query among T keys, scaled: 1 / (1 + (T - 1) e^{½ - √d_k})."""
    return theory_match(np.sqrt(d_k), 1.0, T)


def perfect_match(
    d_ks: Sequence[int], T: int = 1024, *, trials: int = 50, seed: int = 0
) -> PerfectMatch:
    """Claim: with scaling, a perfect match gets about 1 / (1 + (T - 1) e^{½ - √d_k}).

    Parameters
    ----------
    d_ks : sequence of int
        Widths to measure, 1…4096.
    T : int
        Keys in a row, the match included, 1…16384.
    trials : int
        Rows behind each median.
    seed : int

    Returns
    -------
    PerfectMatch

    Notes
    -----
    The match scores |q|²/√d_k ≈ √d_k; each random key counts e^{½} on average.
    """
    T, trials = check_whole("T", T, 1, MOST), check_whole("trials", trials, 1, MOST)
    return _perfect_match(check_widths(d_ks), T, trials, check_whole("seed", seed, 0))


@lru_cache(maxsize=8)
def _perfect_match(d_ks: tuple[int, ...], T: int, trials: int, seed: int) -> PerfectMatch:
    measured = [_median_weight(d_k, T, trials, seed) for d_k in d_ks]
    widths = np.array(d_ks)
    return PerfectMatch(
        T=T,
        d_k=kept(widths),
        measured=kept(np.array(measured)),
        formula=kept(perfect_match_formula(widths, T)),
        trials=trials,
        seed=seed,
    )


@lru_cache(maxsize=64)
def _median_weight(d_k: int, T: int, trials: int, seed: int) -> float:
    rng = np.random.default_rng([seed, d_k, 1])
    weights = []
    for _ in range(trials):
        K = rng.standard_normal((T, d_k), dtype=np.float32)
        weights.append(attention_weights(K[:1], K)[0, 0])  # the query is key 0 itself
    return float(np.median(weights))


@dataclass(frozen=True, eq=False)
class FamilyMatch:
    """Weight of a perfect match in a head of each ANDREA model, over its own context length."""

    model: tuple[str, ...]
    d_k: NDArray[np.int_]
    T: NDArray[np.int_]
    measured: FloatArray
    formula: FloatArray
    trials: int
    seed: int


def family_match(*, trials: int = 400, seed: int = 0) -> FamilyMatch:
    """Claim: a match mostly drowns in a head of ANDREA-12M and mostly wins in the larger models.

    Parameters
    ----------
    trials : int
        Rows behind each median.
    seed : int

    Returns
    -------
    FamilyMatch
        ANDREA-120M and ANDREA-480M have heads of one width and one context length, and so the
        same numbers: what counts is d_k, not the size of the model.
    """
    trials, seed = check_whole("trials", trials, 1, MOST), check_whole("seed", seed, 0)
    found = [perfect_match((model.d_k,), model.T, trials=trials, seed=seed) for model in FAMILY]
    return FamilyMatch(
        model=tuple(model.name for model in FAMILY),
        d_k=kept(np.array([model.d_k for model in FAMILY])),
        T=kept(np.array([model.T for model in FAMILY])),
        measured=kept(np.array([one.measured[0] for one in found])),
        formula=kept(np.array([one.formula[0] for one in found])),
        trials=trials,
        seed=seed,
    )
