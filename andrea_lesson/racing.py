"""The race: a head that scales its scores against one that does not, learning the same look-up.

Four knobs decide it: d_k, the initial spread σ, the learning rate η, and the optimiser.  A race
that hides one of them can be made to end as one likes.  Random numbers throughout; both heads
begin with the same ones and see the same shelves.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .inputs import Array, check_real
from .lookup import (
    SHELVES,
    TOPICS,
    Head,
    Shelves,
    cross_entropy,
    gradients,
    look_up,
    random_head,
    random_shelves,
)
from .masks import check_whole
from .optimisers import SGD, Adam, Optimiser
from .random_scores import WIDEST, FloatArray, check_one_of, kept
from .threads import one_blas_thread

OPTIMISERS = ("sgd", "adam")
# W_V stands behind the weights and knows nothing of the scale of scores.  So its rate is no
# knob: it is one at which W_V learns well, in all races, and the twin leaves it alone.
ETA_V = {"sgd": 10.0, "adam": 0.01}
EPSILON = 1e-8  # Adam's ε
SEEDS = (0, 1, 2)
HELD_OUT = 4 * SHELVES  # shelves on which loss and accuracy are measured
LONGEST_RUN = 10_000  # steps
Progress = Callable[[int, int], Any]


@dataclass(frozen=True)
class Setting:
    """What decides how a head learns; checked when it is made.

    Attributes
    ----------
    d_k : int
        Width of queries and keys, 1…4096.
    sigma : float
        σ, the standard deviation of W_Q and W_K at the start, above 0 and up to 100.
    eta : float
        η, the learning rate of W_Q and W_K, above 0 and up to 1,000,000.
    optimiser : {"adam", "sgd"}
    scaled : bool
        Whether scores are divided by √d_k.
    steps : int
        1…10,000.
    epsilon : float
        ε of Adam for W_Q and W_K.
    """

    d_k: int = 64
    sigma: float = 1.0
    eta: float = 0.003
    optimiser: str = "adam"
    scaled: bool = True
    steps: int = 400
    epsilon: float = EPSILON

    def __post_init__(self) -> None:
        check_whole("d_k", self.d_k, 1, WIDEST)
        check_whole("steps", self.steps, 1, LONGEST_RUN)
        for name, most in (("sigma", 100), ("eta", 1_000_000), ("epsilon", 1)):
            number = check_real(name, getattr(self, name))
            if not 0 < number <= most:
                raise ValueError(f"{name} must be above 0 and at most {most}; got {number}.")
        check_one_of("optimiser", self.optimiser, OPTIMISERS)
        if not isinstance(self.scaled, bool):
            raise TypeError(f"scaled must be True or False; got {self.scaled!r}.")

    @property
    def scale(self) -> float:
        """Factor on the scores: 1/√d_k, or 1 for raw ones."""
        return 1 / math.sqrt(self.d_k) if self.scaled else 1.0


def twin(setting: Setting) -> Setting:
    """The raw setting that learns exactly as this scaled one does.

    Claim: scaling is a change of units.  Divide W_Q and W_K by d_k^¼ each, and raw scores are
    what scaled ones were; the gradients of both grow by d_k^¼.  So a step of SGD must be √d_k
    times shorter in η to do the same, one of Adam, which does not heed the size of gradients,
    d_k^¼ times; Adam's ε grows with the gradients it is added to.

    Parameters
    ----------
    setting : Setting
        A scaled one.

    Returns
    -------
    Setting
        σ/d_k^¼, and η/√d_k for SGD or η/d_k^¼ and ε·d_k^¼ for Adam.

    Raises
    ------
    ValueError
        If the setting is raw already.
    """
    if not setting.scaled:
        raise ValueError("setting must be a scaled one, whose raw twin is wanted; got a raw one.")
    unit = setting.d_k**0.25
    return replace(
        setting,
        scaled=False,
        sigma=setting.sigma / unit,
        eta=setting.eta / (unit if setting.optimiser == "adam" else unit**2),
        epsilon=setting.epsilon * (unit if setting.optimiser == "adam" else 1),
    )


# -- one head learns -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Snapshot:
    """How well a head does after some steps, on shelves it has not seen.

    Attributes
    ----------
    step : int
    loss : float
        Mean cross-entropy; NaN once the numbers have overflowed.
    accuracy : float
        Share of questions whose right book has the highest score.
    right_weight : float
        Mean weight on the right card.
    weights : ndarray, shape (cards, cards)
        On the first of those shelves; row i asks for card i.
    match : ndarray, shape (topics, topics + books)
        scale · W_Q W_Kᵀ: what the topic of a row makes of each topic and each book on a card.
    """

    step: int
    loss: float
    accuracy: float
    right_weight: float
    weights: FloatArray
    match: FloatArray


@dataclass(frozen=True, eq=False)
class History:
    """The snapshots of one head under one another: a row for each step that was looked at.

    Attributes
    ----------
    setting : Setting
    seed : int
    topics, books : ndarray of int, shape (cards,)
        On the cards of the shelf whose weights are shown.
    step, loss, accuracy, right_weight, weights, match
        As in :class:`Snapshot`.
    """

    setting: Setting
    seed: int
    topics: NDArray[np.int_]
    books: NDArray[np.int_]
    step: NDArray[np.int_]
    loss: FloatArray
    accuracy: FloatArray
    right_weight: FloatArray
    weights: FloatArray
    match: FloatArray


def learn(
    setting: Setting,
    seed: int = 0,
    *,
    every: int = 20,
    move: Callable[[FloatArray], Array] = np.asarray,
    back: Callable[[Array], FloatArray] = np.asarray,
) -> Iterator[Snapshot]:
    """Let a head learn, and look at it from time to time; stop whenever you like.

    Parameters
    ----------
    setting : Setting
    seed : int
        The same one gives the same numbers.
    every : int
        Steps from one look to the next; the start and the end are looked at too.
    move, back : callable
        How a NumPy array gets to the library that shall compute, and back again; for a GPU
        ``cupy.asarray`` and ``cupy.asnumpy``.

    Yields
    ------
    Snapshot
    """
    seed, every = check_whole("seed", seed, 0), check_whole("every", every, 1)
    shelves = np.random.default_rng([seed, 1])
    held_out = _moved(_held_out(seed), move)
    head = random_head(seed, setting.d_k, setting.sigma)
    head = Head(move(head.W_Q), move(head.W_K), move(head.W_V))
    optimiser = _optimiser(setting)
    yield _look(head, held_out, setting, 0, back)
    for step in range(1, setting.steps + 1):
        with np.errstate(all="ignore"):  # a rate that is far too high ends in NaN, and is shown
            now = _moved(random_shelves(shelves), move)
            found = look_up(head, now, setting.scale)
            _, dO = cross_entropy(found.output, now.books)
            change = gradients(head, now, found, dO, setting.scale)
            before, slope = (head.W_Q, head.W_K, head.W_V), (change.W_Q, change.W_K, change.W_V)
            head = Head(*optimiser.step(before, slope))
        if step % every == 0 or step == setting.steps:
            yield _look(head, held_out, setting, step, back)


def train(
    setting: Setting, seed: int = 0, *, every: int = 20, progress: Progress | None = None
) -> History:
    """Let a head learn from random, with everything worth a look on the way.

    Claim: one head learns to find a card by its topic.  Its weights sharpen onto the right card,
    and W_Q W_Kᵀ turns towards a match: the topic asked for scores highest on the same topic of
    a card, and the book on the card, which V needs, does not count.

    Parameters
    ----------
    setting : Setting
    seed, every : int
        As in :func:`learn`.
    progress : callable, optional
        Told the steps done and the steps in all.

    Returns
    -------
    History
    """
    snapshots = []
    with one_blas_thread():
        for snapshot in learn(setting, seed, every=every):
            snapshots.append(snapshot)
            if progress is not None:
                progress(snapshot.step, setting.steps)
    columns = {
        name: kept(np.array([getattr(snapshot, name) for snapshot in snapshots]))
        for name in ("step", "loss", "accuracy", "right_weight", "weights", "match")
    }
    shown = _held_out(seed)
    topics, books = shown.asked[0].argmax(axis=-1), shown.books[0].argmax(axis=-1)
    return History(setting, seed, kept(topics), kept(books), **columns)


# -- two heads race --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Curves:
    """One side of a race: a row for each seed, a column for each look."""

    setting: Setting
    loss: FloatArray
    accuracy: FloatArray

    def band(self, name: str = "accuracy") -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean, lowest and highest over the seeds, of "accuracy" or "loss"."""
        check_one_of("name", name, ("accuracy", "loss"))
        rows = self.accuracy if name == "accuracy" else self.loss
        return rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0)


@dataclass(frozen=True, eq=False)
class Race:
    """Both sides of a race on equal seeds; `step` has the columns of their curves."""

    step: NDArray[np.int_]
    scaled: Curves
    raw: Curves
    seeds: tuple[int, ...]


def race(
    scaled: Setting,
    raw: Setting | None = None,
    *,
    seeds: Sequence[int] = SEEDS,
    every: int = 20,
    progress: Progress | None = None,
) -> Race:
    """Scaled against raw, with the same beginnings and the same shelves.

    Claim: which of the two wins depends on d_k, σ, η and the optimiser.  With unit σ a raw head
    falls behind as d_k grows; with a small σ or a small η it is ahead; against its twin it ends
    in a draw.

    Parameters
    ----------
    scaled : Setting
    raw : Setting, optional
        The same knobs without the scale by default; see also :func:`twin`.
    seeds : sequence of int
        The band of a curve goes from the lowest to the highest of them.
    every : int
        As in :func:`learn`.
    progress : callable, optional
        Told the steps done and the steps in all, over all runs.

    Returns
    -------
    Race
    """
    raw = replace(scaled, scaled=False) if raw is None else raw
    if not scaled.scaled or raw.scaled:
        raise ValueError("scaled must be a scaled setting and raw a raw one; got others.")
    if raw.steps != scaled.steps:
        raise ValueError(f"raw must have {scaled.steps} steps, as scaled has; got {raw.steps}.")
    seeds = tuple(check_whole("seeds", seed, 0) for seed in seeds)
    if not seeds:
        raise ValueError("seeds must hold at least one; got none.")
    total = 2 * len(seeds) * scaled.steps
    sides, done, step = [], 0, np.zeros(0, dtype=int)
    for setting in (scaled, raw):
        runs = []
        for seed in seeds:
            snapshots = []
            with one_blas_thread():
                for snapshot in learn(setting, seed, every=every):
                    # The pictures of a snapshot are let go: a race needs its curves.
                    snapshots.append((snapshot.step, snapshot.loss, snapshot.accuracy))
                    if progress is not None:
                        progress(done + snapshot.step, total)
            done += setting.steps
            runs.append(snapshots)
        numbers = np.array(runs)  # (seeds, looks, 3)
        step = kept(numbers[0, :, 0].astype(int))
        sides.append(Curves(setting, kept(numbers[..., 1]), kept(numbers[..., 2])))
    return Race(step, sides[0], sides[1], seeds)


def _optimiser(setting: Setting) -> Optimiser:
    eta = (setting.eta, setting.eta, ETA_V[setting.optimiser])
    if setting.optimiser == "sgd":
        return SGD(eta)
    return Adam(eta, (setting.epsilon, setting.epsilon, EPSILON))


def _held_out(seed: int) -> Shelves:
    """The shelves on which a head is measured; it never learns from them."""
    return random_shelves(np.random.default_rng([seed, 2]), HELD_OUT)


def _moved(shelves: Shelves, move: Callable[[FloatArray], Array]) -> Shelves:
    return Shelves(move(shelves.asked), move(shelves.cards), move(shelves.books))


def _look(
    head: Head, shelves: Shelves, setting: Setting, step: int, back: Callable[[Array], FloatArray]
) -> Snapshot:
    """Measure a head on shelves it has not seen."""
    with np.errstate(all="ignore"):
        found = look_up(head, shelves, setting.scale)
        loss, _ = cross_entropy(found.output, shelves.books)
        W_Q, W_K = back(head.W_Q), back(head.W_K)
        match = W_Q[:TOPICS] @ W_K.T * setting.scale  # (topics, topics + books)
    output, books, weights = back(found.output), back(shelves.books), back(found.weights)
    right = np.where(books == 1, output, 0).sum(axis=-1)
    return Snapshot(
        step=step,
        loss=float(back(loss)),
        accuracy=float(np.mean(right >= output.max(axis=-1))),  # NaN is never right
        right_weight=float(np.diagonal(weights, axis1=-2, axis2=-1).mean()),
        weights=weights[0].copy(),
        match=match,
    )
