"""Scores of random vectors at every width and every T at once, from running sums.

A dot product over the first d_k components is a running sum of q ⊙ k, and softmax over the first
T keys needs no more than running sums of exponentials.  So one draw serves all d_k and all T,
and what is on show grows under a slider instead of starting afresh.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .masks import check_whole

FloatArray = NDArray[np.floating]
COMPONENTS = ("unit-variance", "unit-vectors")
DIVISORS = ("none", "sqrt_d_k", "d_k", "sqrt_d_model")
ROWS = 64  # queries of `running_scores`
LONGEST, WIDEST = 1024, 4096  # T and d_k up to which random examples are drawn
MOST = 16384  # keys, rows, pairs or trials behind a measurement


def kept(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array of a shared result read-only: who changed it would change it for all."""
    array.setflags(write=False)
    return array


def check_widths(d_ks: Iterable[int]) -> tuple[int, ...]:
    """Check the widths of a measurement, and make them a tuple, which a cache can remember."""
    if not isinstance(d_ks, Iterable):
        raise TypeError(f"d_ks must be a sequence of whole numbers; got {type(d_ks).__name__}.")
    widths = tuple(check_whole("d_ks", d_k, 1, WIDEST) for d_k in d_ks)
    if not widths:
        raise ValueError("d_ks must hold at least one width; got none.")
    return widths


def check_one_of(name: str, value: str, offered: tuple[str, ...]) -> None:
    """Refuse what is not on offer, in one sentence."""
    if value not in offered:
        raise ValueError(f"{name} must be one of {offered}; got {value!r}.")


@dataclass(frozen=True, eq=False)
class RunningScores:
    """Raw scores of 64 random queries and 1024 random keys after 1…4096 components.

    Attributes
    ----------
    d_k : ndarray of int, shape (len(d_ks),)
    scores : ndarray of float32, shape (len(d_ks), 64, 1024)
        Components have mean 0 and variance 1.
    query_squares, key_squares : ndarray of float32, shape (len(d_ks), 64) and (len(d_ks), 1024)
        Squared lengths |q|² and |k|².
    seed : int
    """

    d_k: NDArray[np.int_]
    scores: FloatArray
    query_squares: FloatArray
    key_squares: FloatArray
    seed: int

    def of(
        self,
        components: str,
        keys: slice = slice(None),
        places: slice = slice(None),
        factors: FloatArray | float = 1.0,
    ) -> FloatArray:
        """Take out the scores with some of the keys, as a copy of one's own.

        Parameters
        ----------
        components : {"unit-variance", "unit-vectors"}
            Unit vectors are the same vectors brought to length 1.
        keys, places : slice
            Of the keys, and of the widths.
        factors : float or ndarray, shape (places,)
            What the scores of each width are multiplied by.

        Returns
        -------
        ndarray of float32, shape (places, 64, keys)
        """
        check_one_of("components", components, COMPONENTS)
        each = np.asarray(factors, dtype=np.float32)[..., None, None]
        if components == "unit-variance":
            return self.scores[places, :, keys] * each
        scores = self.scores[places, :, keys] * (
            each / np.sqrt(self.query_squares[places, :, None])
        )
        scores /= np.sqrt(self.key_squares[places, None, keys])
        return scores


def running_scores(d_ks: Sequence[int], *, seed: int = 0) -> RunningScores:
    """Scores of 64 random queries against the same 1024 random keys, at several widths.

    Parameters
    ----------
    d_ks : sequence of int
        Widths in growing order, 1…4096.
    seed : int

    Returns
    -------
    RunningScores
        Read-only.  A quarter of a megabyte for each width.
    """
    widths, seed = check_widths(d_ks), check_whole("seed", seed, 0)
    if list(widths) != sorted(widths):
        raise ValueError(f"d_ks must grow; got {d_ks}.")
    Q, K = _random_vectors(seed)
    scores = np.empty((len(widths), ROWS, LONGEST), dtype=np.float32)
    squares = [np.empty((len(widths), len(x)), dtype=np.float32) for x in (Q, K)]
    sums = np.zeros((ROWS, LONGEST), dtype=np.float32)
    lengths = [np.zeros(len(x), dtype=np.float32) for x in (Q, K)]
    done = 0
    for place, d_k in enumerate(widths):
        new = [x[:, done:d_k] for x in (Q, K)]  # only the components that come in at this width
        sums += new[0] @ new[1].T  # (64, new) @ (new, 1024) = (64, 1024)
        scores[place] = sums
        for side in (0, 1):
            lengths[side] += np.einsum("rc,rc->r", new[side], new[side])
            squares[side][place] = lengths[side]
        done = d_k
    return RunningScores(np.array(widths), kept(scores), kept(squares[0]), kept(squares[1]), seed)


def _random_vectors(seed: int) -> tuple[FloatArray, FloatArray]:
    """Queries (64, 4096) and keys (1024, 4096); more queries leave the others as they were."""
    rng = np.random.default_rng([seed, 7])
    q = rng.standard_normal(WIDEST, dtype=np.float32)
    K = rng.standard_normal((LONGEST, WIDEST), dtype=np.float32)
    return np.vstack([q, rng.standard_normal((ROWS - 1, WIDEST), dtype=np.float32)]), K


def random_row(d_k: int, T: int, *, components: str = "unit-variance", seed: int = 0) -> FloatArray:
    """One row of raw scores: a random query against T random keys of width d_k.

    Parameters
    ----------
    d_k : int
        1…4096.
    T : int
        1…1024.
    components : {"unit-variance", "unit-vectors"}
        Components of mean 0 and variance 1, or vectors brought to length 1.
    seed : int

    Returns
    -------
    ndarray of float64, shape (T,)
        The first row of :func:`running_scores`.
    """
    d_k, T = check_whole("d_k", d_k, 1, WIDEST), check_whole("T", T, 1, LONGEST)
    check_one_of("components", components, COMPONENTS)
    scores = running_scores((d_k,), seed=seed).of(components, slice(T))  # (1, 64, T)
    row: FloatArray = scores[0, 0].astype(np.float64)
    return row


def divisor_value(divisor: str, d_k: int, d_model: int | None = None) -> float:
    """Number that scores are divided by.

    Parameters
    ----------
    divisor : {"none", "sqrt_d_k", "d_k", "sqrt_d_model"}
    d_k : int
    d_model : int, optional
        Needed for "sqrt_d_model", a common mistake.

    Returns
    -------
    float
        1, √d_k, d_k or √d_model.
    """
    check_one_of("divisor", divisor, DIVISORS)
    d_k = check_whole("d_k", d_k, 1, WIDEST)
    if divisor == "sqrt_d_model":
        if d_model is None:
            raise ValueError('d_model must be given for the divisor "sqrt_d_model"; got None.')
        return float(np.sqrt(check_whole("d_model", d_model, 1)))
    return {"none": 1.0, "sqrt_d_k": float(np.sqrt(d_k)), "d_k": float(d_k)}[divisor]


# -- softmax over the first T keys, for every T ---------------------------------------------------


@dataclass(frozen=True, eq=False)
class RowSpreads:
    """Medians over 64 random rows: how many keys a row spreads over, and what a match gets.

    `effective_keys` and `match` have a row for each T and a column for each d_k.  For `match`
    key 0 of each row is replaced by a copy of the query.
    """

    T: NDArray[np.int_]
    d_k: NDArray[np.int_]
    effective_keys: FloatArray
    match: FloatArray


def row_spreads(
    running: RunningScores,
    Ts: Sequence[int],
    factors: FloatArray,
    *,
    components: str = "unit-variance",
) -> RowSpreads:
    """Effective keys, and the weight of a perfect match, for every T and d_k at once.

    Parameters
    ----------
    running : RunningScores
    Ts : sequence of int
        Numbers of keys in growing order, 2…1024.
    factors : ndarray, shape (len(d_ks),)
        What the scores of each width are multiplied by.
    components : {"unit-variance", "unit-vectors"}

    Returns
    -------
    RowSpreads

    Notes
    -----
    Each key is looked at once.  What a row of T keys needs is its largest score M, the sum Z of
    e^{s - M} and the sum S of (s - M) e^{s - M}: the entropy is ln Z - S / Z, and sums over more
    keys come from those over fewer.
    """
    lengths = [check_whole("Ts", T, 2, LONGEST) for T in Ts]
    if not lengths or any(a >= b for a, b in pairwise(lengths)):
        raise ValueError(f"Ts must hold at least one T, and grow; got {tuple(Ts)}.")
    factors = np.asarray(factors, dtype=np.float32)
    squares = running.query_squares if components == "unit-variance" else np.float32(1)
    match = squares * factors[:, None]  # q · q, the score of the key that is the query itself
    first = _sums(running.of(components, slice(0, 1), factors=factors))
    others = None  # all keys but key 0
    entropies, logits = [], []
    for start, stop in pairwise([1, *lengths]):
        block = _sums(running.of(components, slice(start, stop), factors=factors))
        others = block if others is None else _joined(others, block)  # (widths, 64) each
        M, Z, S = others
        logits.append(M + np.log(Z) - match)  # of all the others against the match
        _, Z, S = _joined(others, first)
        entropies.append(np.log(Z) - S / Z)
    weights = 1 / (1 + np.exp(np.minimum(logits, 80)))  # e^80 still is a float32
    return RowSpreads(
        T=kept(np.array(lengths)),
        d_k=running.d_k,
        effective_keys=kept(np.exp(np.median(entropies, axis=-1))),
        match=kept(np.median(weights, axis=-1)),
    )


Sums = tuple[FloatArray, FloatArray, FloatArray]  # M, Z and S of rows


def _sums(scores: FloatArray) -> Sums:
    """M, Z and S over the last axis; `scores` are used up."""
    M = scores.max(axis=-1)
    scores -= M[..., None]
    exponentials = np.exp(scores)
    Z = exponentials.sum(axis=-1)
    exponentials *= scores
    return M, Z, exponentials.sum(axis=-1)


def _joined(one: Sums, other: Sums) -> Sums:
    """M, Z and S over the keys of both."""
    M = np.maximum(one[0], other[0])
    Z, S = np.zeros_like(M), np.zeros_like(M)
    for m, z, s in (one, other):
        lower = np.exp(m - M)
        Z += z * lower
        S += (s + (m - M) * z) * lower
    return M, Z, S


# -- theory ---------------------------------------------------------------------------------------


def theory_std(d_k: Any, *, components: str = "unit-variance", sigma: float = 1.0) -> FloatArray:
    """Standard deviation of raw scores: σ² √d_k, or 1/√d_k for unit vectors, both exact.

    Parameters
    ----------
    d_k : array_like of int
    components : {"unit-variance", "unit-vectors"}
    sigma : float
        Standard deviation of the components; without effect on unit vectors.

    Returns
    -------
    ndarray
    """
    check_one_of("components", components, COMPONENTS)
    roots: FloatArray = np.sqrt(np.asarray(d_k, dtype=float))
    return sigma**2 * roots if components == "unit-variance" else 1 / roots


def theory_keys(std: Any, T: int) -> FloatArray:
    """Effective keys of a row of many scores that spread by `std` ≲ 1: T e^{-std²/2}."""
    keys: FloatArray = T * np.exp(-0.5 * np.asarray(std, dtype=float) ** 2)
    return keys


def theory_match(match: Any, std: Any, T: int) -> FloatArray:
    """Weight of a score `match` among T - 1 that spread by `std` ≲ 1 around 0.

    1 / (1 + (T - 1) e^{std²/2 - match}): a random key counts e^{std²/2} on average.
    """
    exponent = 0.5 * np.asarray(std, dtype=float) ** 2 - np.asarray(match, dtype=float)
    weight: FloatArray = 1 / (1 + (T - 1) * np.exp(np.minimum(exponent, 700)))
    return weight
