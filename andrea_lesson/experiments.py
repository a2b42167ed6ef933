"""What the lesson claims, measured; beside it `random_scores.py` and the naive forms of `naive.py`.

Parameters in, frozen dataclass out; the same seed gives the same numbers.  Vectors are random
normal unless a docstring says otherwise, and whoever shows the numbers says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .inputs import allowed_cells, plain_numbers
from .masks import check_whole
from .naive import SoftmaxInSteps as SoftmaxInSteps
from .naive import add_mask as add_mask
from .naive import fill_mask as fill_mask
from .naive import mask_after_softmax as mask_after_softmax
from .naive import shared_projection_scores as shared_projection_scores
from .naive import softmax_in_steps as softmax_in_steps
from .naive import softmax_without_shift as softmax_without_shift
from .random_scores import COMPONENTS as COMPONENTS
from .random_scores import DIVISORS as DIVISORS
from .random_scores import LONGEST as LONGEST
from .random_scores import ROWS as ROWS
from .random_scores import WIDEST as WIDEST
from .random_scores import FloatArray as FloatArray
from .random_scores import RowSpreads as RowSpreads
from .random_scores import RunningScores as RunningScores
from .random_scores import check_one_of as _one_of
from .random_scores import check_widths as _widths
from .random_scores import divisor_value as divisor_value
from .random_scores import kept as _kept
from .random_scores import random_row as random_row
from .random_scores import row_spreads as row_spreads
from .random_scores import running_scores as running_scores
from .random_scores import theory_keys as theory_keys
from .random_scores import theory_match as theory_match
from .random_scores import theory_std as theory_std
from .scaled_dot_product import attention_weights

MOST = 16384  # keys, rows, pairs or trials behind a measurement


def random_qkv(
    T: int, d_k: int, d_v: int | None = None, *, seed: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Random queries, keys and values whose components have mean 0 and variance 1.

    Parameters
    ----------
    T : int
        Positions, up to 1024.
    d_k, d_v : int
        Widths, up to 4096; `d_v` is `d_k` by default.
    seed : int

    Returns
    -------
    Q, K : ndarray, shape (T, d_k)
    V : ndarray, shape (T, d_v)
        A larger T or d_k adds rows or columns and leaves the others as they were, so that a
        picture grows under a slider and does not start afresh.
    """
    T, seed = check_whole("T", T, 0, LONGEST), check_whole("seed", seed, 0)
    d_k = check_whole("d_k", d_k, 1, WIDEST)
    widths = (d_k, d_k, d_k if d_v is None else check_whole("d_v", d_v, 1, WIDEST))
    Q, K, V = (
        np.random.default_rng([seed, which]).standard_normal((width, LONGEST))[:, :T].T
        for which, width in enumerate(widths)
    )
    return Q, K, V


# -- the spread of scores ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ScoreSpreads:
    """Spread of random dot products over d_k: `scores` has a row for each d_k."""

    d_k: NDArray[np.int_]
    scores: FloatArray
    std: FloatArray
    mean_absolute: FloatArray
    predicted_std: FloatArray
    components: str
    seed: int


def score_spreads(
    d_ks: Sequence[int], *, components: str = "unit-variance", pairs: int = 1000, seed: int = 0
) -> ScoreSpreads:
    """Claim: scores of unit-variance components spread like √d_k, of unit vectors like 1/√d_k.

    Parameters
    ----------
    d_ks : sequence of int
        Widths to measure, 1…4096.
    components : {"unit-variance", "unit-vectors"}
        Components of mean 0 and variance 1, or vectors brought to length 1.
    pairs : int
        Pairs of a query and a key behind each number.
    seed : int

    Returns
    -------
    ScoreSpreads

    Notes
    -----
    Vaswani et al. 2017, footnote 4: independent components of mean 0 and variance 1 give a dot
    product of mean 0 and variance d_k.  One draw serves every d_k: the dot product over the
    first d_k components is a running sum.
    """
    _one_of("components", components, COMPONENTS)
    pairs, seed = check_whole("pairs", pairs, 1, MOST), check_whole("seed", seed, 0)
    return _score_spreads(_widths(d_ks), components, pairs, seed)


@lru_cache(maxsize=8)
def _score_spreads(d_ks: tuple[int, ...], components: str, pairs: int, seed: int) -> ScoreSpreads:
    widths = np.array(d_ks)
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, pairs, int(widths.max())))
    scores = np.cumsum(q * k, axis=-1)[:, widths - 1].T  # (len(d_ks), pairs)
    if components == "unit-vectors":
        lengths = [np.sqrt(np.cumsum(x * x, axis=-1)[:, widths - 1].T) for x in (q, k)]
        scores = scores / (lengths[0] * lengths[1])
    return ScoreSpreads(
        d_k=_kept(widths),
        scores=_kept(scores),
        std=_kept(scores.std(axis=-1)),
        mean_absolute=_kept(np.abs(scores).mean(axis=-1)),
        predicted_std=_kept(theory_std(widths, components=components)),
        components=components,
        seed=seed,
    )


# -- how peaked the weights are --------------------------------------------------------------------


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
    weights = plain_numbers("weights", weights, 1, more=True).astype(float)
    sums = weights.sum(axis=-1)
    wrong = ~((np.abs(sums - 1) <= 0.01) | (sums == 0))  # NaN is wrong too
    if weights.size and weights.min() < 0:
        raise ValueError(f"weights must not be negative; got {weights.min():.3g}.")
    if wrong.any():
        raise ValueError(f"weights must have rows that sum to 1 or 0; got {sums[wrong][0]:.3g}.")
    logs = np.log(np.where(weights > 0, weights, 1.0))  # 0 log 0 counts as 0
    keys = np.exp(-np.sum(weights * logs, axis=-1))
    return np.where(weights.any(axis=-1), keys, 0.0)


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

    Notes
    -----
    Scores of standard deviation s over many keys leave T e^{-s²/2} effective keys while
    s² < 2 ln T; with s = 1 that is T/√e.  At s² = d_k = 2 ln T the best key begins to win
    alone, as in the random energy model (Derrida 1981); a crossover, not an edge.
    """
    T, rows = check_whole("T", T, 1, MOST), check_whole("rows", rows, 1, MOST)
    return _freezing(_widths(d_ks), T, rows, check_whole("seed", seed, 0))


@lru_cache(maxsize=8)
def _freezing(d_ks: tuple[int, ...], T: int, rows: int, seed: int) -> Freezing:
    raw, scaled = [], []
    for d_k in d_ks:
        rng = np.random.default_rng([seed, d_k])
        Q, K = rng.standard_normal((rows, d_k)), rng.standard_normal((T, d_k))
        raw.append(np.median(effective_keys(attention_weights(Q, K, scale=1.0))))
        scaled.append(np.median(effective_keys(attention_weights(Q, K))))
    return Freezing(
        T=T,
        d_k=_kept(np.array(d_ks)),
        raw=_kept(np.array(raw)),
        scaled=_kept(np.array(scaled)),
        scaled_theory=float(T / np.sqrt(np.e)),
        freezing_d_k=float(2 * np.log(T)),
        rows=rows,
        seed=seed,
    )


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
    return _perfect_match(_widths(d_ks), T, trials, check_whole("seed", seed, 0))


@lru_cache(maxsize=8)
def _perfect_match(d_ks: tuple[int, ...], T: int, trials: int, seed: int) -> PerfectMatch:
    measured = []
    for d_k in d_ks:
        rng = np.random.default_rng([seed, d_k, 1])
        weights = []
        for _ in range(trials):
            K = rng.standard_normal((T, d_k), dtype=np.float32)
            weights.append(attention_weights(K[:1], K)[0, 0])  # the query is key 0 itself
        measured.append(np.median(weights))
    widths = np.array(d_ks)
    return PerfectMatch(
        T=T,
        d_k=_kept(widths),
        measured=_kept(np.array(measured)),
        formula=_kept(perfect_match_formula(widths, T)),
        trials=trials,
        seed=seed,
    )


# -- who sees whom -----------------------------------------------------------------------------


def causality_probe(
    attend: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
    Q: FloatArray,
    K: FloatArray,
    V: FloatArray,
    position: int,
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
    before = [
        plain_numbers(name, array, 2).copy() for name, array in {"Q": Q, "K": K, "V": V}.items()
    ]
    after = [array.copy() for array in before]
    T = len(before[0])
    for name, array in zip("KV", before[1:], strict=True):
        if len(array) != T:
            raise ValueError(f"{name} must have a row for each of the {T} of Q; got {len(array)}.")
    position = check_whole("position", position, 0, T - 1)
    for array in after:
        largest = np.abs(array).max(initial=0.0)
        # Away from the sign, so that even the largest number of a type does not overflow.
        array[position] += 1.0 if largest < 100 else -np.copysign(largest, array[position])
    outputs = []
    for arrays in (before, after):
        output = plain_numbers("the result of attend", attend(*arrays), 2)
        if len(output) != T or not np.isfinite(output).all():
            came = f"shape {output.shape}" if len(output) != T else "NaN or infinity"
            raise ValueError(
                f"the result of attend must be {T} rows of finite numbers; got {came}."
            )
        outputs.append(output)
    moved: FloatArray = np.abs(outputs[1] - outputs[0]).max(axis=-1, initial=0.0)
    return moved


def largest_leak(weights: FloatArray, mask: Any) -> float:
    """Return the largest weight that lies on a key which the mask forbids; 0.0 is right."""
    weights = plain_numbers("weights", weights, 2, more=True)
    forbidden = weights[~allowed_cells(mask, weights)]
    return float(forbidden.max()) if forbidden.size else 0.0
