"""What the lesson claims, measured; and the naive forms that go wrong, for showing how.

Parameters in, frozen dataclass out; the same seed gives the same numbers.  Vectors are random
normal unless a docstring says otherwise, and whoever shows the numbers says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .scaled_dot_product import attention_weights, softmax

FloatArray = NDArray[np.floating]
COMPONENTS = ("unit-variance", "unit-vectors")
DIVISORS = ("none", "sqrt_d_k", "d_k")
LONGEST, WIDEST = 1024, 4096  # T and d_k up to which random examples are drawn


def random_qkv(
    T: int, d_k: int, d_v: int | None = None, *, seed: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Random queries, keys and values whose components have mean 0 and variance 1.

    Parameters
    ----------
    T : int
        Positions, up to 1024.
    d_k, d_v : int
        Widths; `d_v` is `d_k` by default.
    seed : int

    Returns
    -------
    Q, K : ndarray, shape (T, d_k)
    V : ndarray, shape (T, d_v)
        A larger T or d_k adds rows or columns and leaves the others as they were, so that a
        picture grows under a slider and does not start afresh.
    """
    if not 0 <= T <= LONGEST:
        raise ValueError(f"T must lie between 0 and {LONGEST}; got {T}.")
    widths = (d_k, d_k, d_k if d_v is None else d_v)
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


@lru_cache(maxsize=8)
def score_spreads(
    d_ks: tuple[int, ...], *, components: str = "unit-variance", pairs: int = 1000, seed: int = 0
) -> ScoreSpreads:
    """Claim: scores of unit-variance components spread like √d_k, of unit vectors like 1/√d_k.

    Parameters
    ----------
    d_ks : tuple of int
        Widths to measure, up to 4096.
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
    if components not in COMPONENTS:
        raise ValueError(f"components must be one of {COMPONENTS}; got {components!r}.")
    widths = np.array(d_ks)
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, pairs, int(widths.max())))
    scores = np.cumsum(q * k, axis=-1)[:, widths - 1].T  # (len(d_ks), pairs)
    predicted = np.sqrt(widths)
    if components == "unit-vectors":
        lengths = [np.sqrt(np.cumsum(x * x, axis=-1)[:, widths - 1].T) for x in (q, k)]
        scores = scores / (lengths[0] * lengths[1])
        predicted = 1 / predicted
    return ScoreSpreads(
        d_k=widths,
        scores=scores,
        std=scores.std(axis=-1),
        mean_absolute=np.abs(scores).mean(axis=-1),
        predicted_std=predicted,
        components=components,
        seed=seed,
    )


@lru_cache(maxsize=2)
def _running_scores(seed: int, components: str) -> FloatArray:
    """Dot products of one query with 1024 keys after 1…4096 components: any d_k is a look-up."""
    rng = np.random.default_rng([seed, 7])
    q = rng.standard_normal(WIDEST, dtype=np.float32)
    K = rng.standard_normal((LONGEST, WIDEST), dtype=np.float32)
    scores = np.cumsum(q * K, axis=-1)  # (1024, 4096)
    if components == "unit-vectors":
        scores /= np.sqrt(np.cumsum(q * q, axis=-1) * np.cumsum(K * K, axis=-1))  # |q| |k|
    return scores


def random_row(d_k: int, T: int, *, components: str = "unit-variance", seed: int = 0) -> FloatArray:
    """One row of raw scores: a random query against T random keys of width d_k.

    Parameters
    ----------
    d_k : int
        1…4096.
    T : int
        1…1024.
    components : {"unit-variance", "unit-vectors"}
        As in :func:`score_spreads`.
    seed : int

    Returns
    -------
    ndarray of float64, shape (T,)
    """
    if not 1 <= d_k <= WIDEST:
        raise ValueError(f"d_k must lie between 1 and {WIDEST}; got {d_k}.")
    if not 1 <= T <= LONGEST:
        raise ValueError(f"T must lie between 1 and {LONGEST}; got {T}.")
    if components not in COMPONENTS:
        raise ValueError(f"components must be one of {COMPONENTS}; got {components!r}.")
    return _running_scores(seed, components)[:T, d_k - 1].astype(np.float64)


def divisor_value(divisor: str, d_k: int) -> float:
    """Number that scores are divided by: 1, √d_k or d_k for "none", "sqrt_d_k", "d_k"."""
    if divisor not in DIVISORS:
        raise ValueError(f"divisor must be one of {DIVISORS}; got {divisor!r}.")
    return {"none": 1.0, "sqrt_d_k": float(np.sqrt(d_k)), "d_k": float(d_k)}[divisor]


# -- how peaked the weights are --------------------------------------------------------------------


def effective_keys(weights: FloatArray) -> FloatArray:
    """Over how many keys a row really spreads: e^H, with H the entropy of its weights.

    Parameters
    ----------
    weights : ndarray, shape (..., T_q, T_k)
        Rows sum to 1.

    Returns
    -------
    ndarray, shape (..., T_q)
        T for a uniform row, 1 for a row with one weight of 1, 0 for a row of zeros.
    """
    weights = np.asarray(weights, dtype=float)
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


@lru_cache(maxsize=8)
def freezing(d_ks: tuple[int, ...], T: int = 1024, *, rows: int = 64, seed: int = 0) -> Freezing:
    """Claim: raw rows freeze onto a few keys around d_k = 2 ln T, scaled rows keep T/√e keys.

    Parameters
    ----------
    d_ks : tuple of int
        Widths to measure.
    T : int
        Keys in a row.
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
    raw, scaled = [], []
    for d_k in d_ks:
        rng = np.random.default_rng([seed, d_k])
        Q, K = rng.standard_normal((rows, d_k)), rng.standard_normal((T, d_k))
        raw.append(np.median(effective_keys(attention_weights(Q, K, scale=1.0))))
        scaled.append(np.median(effective_keys(attention_weights(Q, K))))
    return Freezing(
        T=T,
        d_k=np.array(d_ks),
        raw=np.array(raw),
        scaled=np.array(scaled),
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


@lru_cache(maxsize=8)
def perfect_match(
    d_ks: tuple[int, ...], T: int = 1024, *, trials: int = 50, seed: int = 0
) -> PerfectMatch:
    """Claim: with scaling, a perfect match gets about 1 / (1 + (T - 1) e^{½ - √d_k}).

    Parameters
    ----------
    d_ks : tuple of int
        Widths to measure.
    T : int
        Keys in a row, the match included.
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
    measured = []
    for d_k in d_ks:
        rng = np.random.default_rng([seed, d_k, 1])
        weights = []
        for _ in range(trials):
            K = rng.standard_normal((T, d_k))
            weights.append(attention_weights(K[:1], K)[0, 0])  # the query is key 0 itself
        measured.append(np.median(weights))
    widths = np.array(d_ks)
    return PerfectMatch(
        T=T,
        d_k=widths,
        measured=np.array(measured),
        formula=1 / (1 + (T - 1) * np.exp(0.5 - np.sqrt(widths))),
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
    Q, K, V : ndarray, shape (T, width)
        Left as they are; the change is made in copies.
    position : int
        The token to change.

    Returns
    -------
    ndarray, shape (T,)
        Largest change in each row of the output; 0.0 where nothing moved.
    """
    before = np.array(attend(Q.copy(), K.copy(), V.copy()))
    Q, K, V = Q.copy(), K.copy(), V.copy()
    for array in (Q, K, V):
        array[position] += 1.0
    moved: FloatArray = np.abs(attend(Q, K, V) - before).max(axis=-1)
    return moved


def largest_leak(weights: FloatArray, mask: NDArray[np.bool_]) -> float:
    """Return the largest weight that lies on a key which the mask forbids; 0.0 is right."""
    forbidden = np.asarray(weights)[~np.broadcast_to(mask, np.shape(weights))]
    return float(forbidden.max()) if forbidden.size else 0.0


# -- naive forms that go wrong -------------------------------------------------------------------


def softmax_without_shift(scores: FloatArray) -> FloatArray:
    """Softmax as the formula has it.  Goes wrong: exp overflows, and ∞/∞ is NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        exponentials = np.exp(scores)
        weights: FloatArray = exponentials / exponentials.sum(axis=-1, keepdims=True)
        return weights


def mask_after_softmax(
    Q: FloatArray, K: FloatArray, mask: NDArray[np.bool_], *, renormalise: bool
) -> FloatArray:
    """Weights when forbidden ones are set to 0 after softmax instead of before it.

    Goes wrong without `renormalise`: forbidden scores still stand in the denominator, so the
    rows sum to less than 1 and a future token reaches the output through it.  With it, the
    result is that of masking before, short of 0/0 in a row whose allowed weights underflow.

    Parameters
    ----------
    Q, K : ndarray, shape (T, d_k)
    mask : ndarray of bool, shape (T, T)
        True = may attend.
    renormalise : bool
        Bring each row back to the sum 1.

    Returns
    -------
    ndarray, shape (T, T)
    """
    weights = np.where(mask, attention_weights(Q, K), 0.0)
    if renormalise:
        with np.errstate(invalid="ignore"):
            weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights


def fill_mask(
    scaled_scores: FloatArray, mask: NDArray[np.bool_], value: float, dtype: str = "float64"
) -> FloatArray:
    """Weights when forbidden scores are replaced by a mask value, in a given precision.

    Goes wrong with a finite value: a real score may lie below it, and a row with no allowed
    key becomes uniform over forbidden ones.  With -inf such a row is 0/0 = NaN here.

    Parameters
    ----------
    scaled_scores : ndarray, shape (..., T_q, T_k)
    mask : ndarray of bool
        True = may attend.
    value : float
        What stands in for "forbidden", such as -inf, -1e9 or -1e4.
    dtype : {"float16", "float32", "float64"}
        Precision of every step.

    Returns
    -------
    ndarray of `dtype`, shape (..., T_q, T_k)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scores = np.where(mask, scaled_scores.astype(dtype), np.asarray(value, dtype=dtype))
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights: FloatArray = exponentials / exponentials.sum(axis=-1, keepdims=True)
        return weights


def add_mask(
    scaled_scores: FloatArray, mask: NDArray[np.bool_], value: float, dtype: str = "float64"
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
    with np.errstate(over="ignore", invalid="ignore"):
        hidden = 1 - mask.astype(dtype)
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
    """Take a row of finite scores apart: divided by the temperature, shifted, exp, divided.

    Parameters
    ----------
    scores : array_like, shape (T,)
    temperature : float
        Greater than 0; 1/√d_k is a temperature of √d_k.

    Returns
    -------
    SoftmaxInSteps
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be greater than 0; got {temperature}.")
    row = np.asarray(scores, dtype=float) / temperature
    shifted = row - row.max()
    return SoftmaxInSteps(row, shifted, np.exp(shifted), softmax(row))
