"""Look-up in a library: one attention head that shall find a card by its topic.

A shelf holds cards.  A card names a topic and a book, and no topic or book stands on a shelf
twice.  A reader has a topic in mind, and the answer is the book on the card with that topic:

    Q = asked W_Q      what the reader has in mind      asked: 1 at the topic, 0 elsewhere
    K = cards W_K      what the card advertises         cards: 1/√2 at its topic and at its book
    V = cards W_V      what the card delivers
    weights = softmax(scale · Q Kᵀ)
    output  = weights V                                 a score for each book of the library

Nothing tells the head which part of a card is for K and which for V: that is learned, from the
cross-entropy of the output against the right book alone.  Query i asks for the topic of card i,
so the weights shall become the identity.  The head does not know of places, as it never sees one.

All of it serves NumPy and CuPy arrays alike; scale 1/√d_k is the lesson's way, 1 the raw one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from .inputs import Array

TOPICS, BOOKS, CARDS, SHELVES = 32, 32, 16, 8  # in the library; on a shelf; in one step


@dataclass(frozen=True, eq=False)
class Head:
    """The weight matrices of one head, or the gradients that belong to them.

    Attributes
    ----------
    W_Q, W_K : array, shape (topics + books, d_k)
    W_V : array, shape (topics + books, books)
    """

    W_Q: Array
    W_K: Array
    W_V: Array


@dataclass(frozen=True, eq=False)
class Shelves:
    """Questions, and the cards that answer them.

    Attributes
    ----------
    asked, cards : array, shape (shelves, cards, topics + books)
        Query i of a shelf asks for the topic of its card i.
    books : array, shape (shelves, cards, books)
        The right answers: 1 at the book, 0 elsewhere.
    """

    asked: Array
    cards: Array
    books: Array


@dataclass(frozen=True, eq=False)
class LookUp:
    """What each step of a look-up made: Q, K (shelves, cards, d_k), V and output (…, books)."""

    Q: Array
    K: Array
    V: Array
    weights: Array
    output: Array


def random_shelves(
    rng: np.random.Generator,
    shelves: int = SHELVES,
    *,
    cards: int = CARDS,
    topics: int = TOPICS,
    books: int = BOOKS,
) -> Shelves:
    """Fill shelves with random cards; NumPy arrays.

    Parameters
    ----------
    rng : Generator
        Each call draws new shelves from it: in training no shelf comes twice, so the loss on
        other shelves is the loss in training.
    shelves, cards : int
        Number of shelves, and of cards on each.
    topics, books : int
        Of which the library has so many; at least `cards`.

    Returns
    -------
    Shelves
    """
    # The order of random numbers is a random order, so its first entries never repeat.
    topic = np.argsort(rng.random((shelves, topics)), axis=-1)[:, :cards]  # (shelves, cards)
    book = np.argsort(rng.random((shelves, books)), axis=-1)[:, :cards]
    one_hot = np.eye(topics + books)
    return Shelves(
        asked=one_hot[topic],
        cards=(one_hot[topic] + one_hot[topics + book]) / np.sqrt(2),
        books=np.eye(books)[book],
    )


def random_head(
    seed: int, d_k: int, sigma: float, *, topics: int = TOPICS, books: int = BOOKS
) -> Head:
    """Begin a head with random normal weights; NumPy arrays.

    Parameters
    ----------
    seed : int
    d_k : int
        A larger one adds columns and leaves the others as they were.
    sigma : float
        Standard deviation of W_Q and W_K, and so of the components of Q and K.  That of W_V is
        1/√(topics + books), always.
    topics, books : int

    Returns
    -------
    Head
    """
    d_model = topics + books
    spreads = (d_k, sigma), (d_k, sigma), (books, d_model**-0.5)
    W_Q, W_K, W_V = (
        np.random.default_rng([seed, 0, which]).standard_normal((width, d_model)).T * spread
        for which, (width, spread) in enumerate(spreads)
    )
    return Head(*map(np.ascontiguousarray, (W_Q, W_K, W_V)))


def look_up(head: Head, shelves: Shelves, scale: float) -> LookUp:
    """Ask every question on every shelf.

    Parameters
    ----------
    head : Head
    shelves : Shelves
    scale : float
        Factor on the scores.

    Returns
    -------
    LookUp
    """
    xp = array_namespace(head.W_Q)
    Q = _project(xp, shelves.asked, head.W_Q)  # (shelves, cards, d_k)
    K = _project(xp, shelves.cards, head.W_K)  # (shelves, cards, d_k)
    V = _project(xp, shelves.cards, head.W_V)  # (shelves, cards, books)
    weights = _softmax(xp, (Q @ xp.matrix_transpose(K)) * scale)  # (shelves, cards, cards)
    return LookUp(Q, K, V, weights, weights @ V)


def cross_entropy(output: Array, books: Array) -> tuple[Array, Array]:
    """How surprising the right books are to the output, and the gradient of that.

    Parameters
    ----------
    output, books : array, shape (shelves, cards, books)
        Scores for the books, and 1 at the right one.

    Returns
    -------
    loss : array, shape ()
        Mean over all questions of -log softmax(output) at the right book.
    dO : array, shape (shelves, cards, books)
        Gradient of the loss: (p - y) / questions.  It does not starve when p is wrong and
        certain, unlike that of the weights inside attention.
    """
    xp = array_namespace(output)
    questions = output.shape[0] * output.shape[1]
    shifted = output - xp.max(output, axis=-1, keepdims=True)
    exponentials = xp.exp(shifted)
    total = xp.sum(exponentials, axis=-1, keepdims=True)
    loss = (xp.sum(xp.log(total)) - xp.sum(shifted * books)) / questions
    return loss, (exponentials / total - books) / questions


def gradients(head: Head, shelves: Shelves, found: LookUp, dO: Array, scale: float) -> Head:
    """Gradients of W_Q, W_K and W_V from the gradient at the output, by hand.

    Parameters
    ----------
    head : Head
    shelves : Shelves
    found : LookUp
        Of this head on these shelves.
    dO : array, shape (shelves, cards, books)
        Gradient of a loss with respect to the output.
    scale : float
        The one of the look-up.

    Returns
    -------
    Head
        Of dW_Q, dW_K and dW_V.

    Notes
    -----
    The middle is :func:`~andrea_lesson.backward.attention_backward`, without its checks.
    """
    xp = array_namespace(head.W_Q)
    dweights = dO @ xp.matrix_transpose(found.V)  # (shelves, cards, cards)
    row_mean = xp.sum(found.weights * dweights, axis=-1, keepdims=True)
    dscores = found.weights * (dweights - row_mean) * scale
    dQ = dscores @ found.K  # (shelves, cards, d_k)
    dK = xp.matrix_transpose(dscores) @ found.Q
    dV = xp.matrix_transpose(found.weights) @ dO  # (shelves, cards, books)
    asked, cards = _rows(xp, shelves.asked).T, _rows(xp, shelves.cards).T  # (d_model, questions)
    return Head(asked @ _rows(xp, dQ), cards @ _rows(xp, dK), cards @ _rows(xp, dV))


def _project(xp: Any, X: Array, W: Array) -> Array:
    """``X @ W`` in one large product, which is quicker than one for each shelf."""
    return xp.reshape(_rows(xp, X) @ W, (*X.shape[:-1], W.shape[-1]))


def _rows(xp: Any, array: Array) -> Array:
    """All questions, or cards, of all shelves under one another: (shelves · cards, width)."""
    return xp.reshape(array, (-1, array.shape[-1]))


def _softmax(xp: Any, scores: Array) -> Array:
    """Softmax over the last axis in which a hopeless key gets 0 and no subnormal number.

    Below the square root of the smallest normal number, 1e-154 in float64, a weight changes no
    sum.  But its products, and its squares in Adam, are so small that processors calculate
    with them slowly.
    """
    shifted = scores - xp.max(scores, axis=-1, keepdims=True)
    lowest = float(np.log(xp.finfo(scores.dtype).smallest_normal)) / 2
    hopeless = xp.asarray(-xp.inf, dtype=scores.dtype, device=device(scores))
    exponentials = xp.exp(xp.where(shifted < lowest, hopeless, shifted))
    return exponentials / xp.sum(exponentials, axis=-1, keepdims=True)
