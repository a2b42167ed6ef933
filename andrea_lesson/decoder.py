"""A small decoder over characters, with its gradients by hand: what ANDREA is, in miniature.

    X      = embedding[characters] + positions
    a block, once or twice:
        Q, K, V = X W_QKV                            all heads side by side
        X = X + (weights V, heads side by side) W_O  weights from scores = Q Kᵀ/√d_k, per head
        X = X + relu(X W_1) W_2
    logits = X W_out                                 a score for each character that may follow

How scores become weights is left open: VARIANTS has the right way and four others, and the
leakage lab (`leakage.py`) trains with each.  There is no normalisation and no bias, since one or
two blocks of this width learn without.  Rows are queries, columns are keys.  NumPy and CuPy arrays
alike: where the parameters are, there everything is computed.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from .inputs import Array
from .masks import causal_mask, full_mask
from .random_scores import check_one_of, kept

VARIANTS = ("causal", "none", "reversed", "after_softmax", "diagonal_hidden")
Characters = Array  # of int
Mask = NDArray[np.bool_]


# -- from scores to weights ------------------------------------------------------------------------


def allowed_by(variant: str, T: int) -> tuple[Mask, Mask]:
    """Which keys each row may attend to, by one of the five rules.

    Parameters
    ----------
    variant : str
        - "causal": key j ≤ query i, as it should be;
        - "none": every key;
        - "reversed": the causal mask inverted, as when True is taken for "hidden": j > i.  So
          the last row has no allowed key, and in a generation the last row is the one that
          speaks;
        - "after_softmax": softmax over every key, and j > i set to 0 afterwards.  The rows sum to
          less than 1, and what they lack depends on the future;
        - "diagonal_hidden": j < i, so that row 0 has no allowed key.
    T : int

    Returns
    -------
    before, after : ndarray of bool, shape (T, T)
        What softmax may see, and what is kept of it.  True = may attend.
    """
    check_one_of("variant", variant, VARIANTS)
    return _allowed(variant, T)


@lru_cache(maxsize=64)  # asked for in every step
def _allowed(variant: str, T: int) -> tuple[Mask, Mask]:
    causal, every = causal_mask(T), full_mask(T)
    before = {
        "causal": causal,
        "none": every,
        "reversed": ~causal,
        "after_softmax": every,
        "diagonal_hidden": causal & ~np.eye(T, dtype=bool),
    }[variant]
    return kept(before), kept(causal if variant == "after_softmax" else every)


def softmax_over(xp: Any, scores: Array, allowed: Mask) -> Array:
    """Softmax over the allowed keys; 0 elsewhere, and in a row that has none.

    The scores are used up: the result stands in their place.
    """
    scores += xp.asarray(np.where(allowed, 0, -np.inf).astype(scores.dtype))
    largest = scores.max(axis=-1, keepdims=True)
    largest[largest == -np.inf] = 0
    scores -= largest
    xp.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    scores /= total
    return scores


# -- the numbers of a decoder ----------------------------------------------------------------------


@dataclass(frozen=True)
class Size:
    """How large a decoder is; `d_model` is a multiple of `n_head`, the MLP four times as wide."""

    vocabulary: int
    T: int = 48
    d_model: int = 64
    n_head: int = 4
    n_block: int = 1


@dataclass(frozen=True, eq=False)
class Block:
    """The weight matrices of a block.

    Attributes
    ----------
    W_QKV : ndarray, shape (d_model, 3 d_model)
        W_Q, W_K and W_V side by side, and in each of them all heads.
    W_O : ndarray, shape (d_model, d_model)
    W_1 : ndarray, shape (d_model, 4 d_model)
    W_2 : ndarray, shape (4 d_model, d_model)
    """

    W_QKV: Array
    W_O: Array
    W_1: Array
    W_2: Array


@dataclass(frozen=True, eq=False)
class Decoder:
    """The parameters of a decoder, or their gradients.

    Attributes
    ----------
    size : Size
    flat : ndarray, shape (parameters,)
        All of them in one row, for the optimiser; the others are views of it.
    embedding : ndarray, shape (vocabulary, d_model)
    positions : ndarray, shape (T, d_model)
    blocks : tuple of Block
    W_out : ndarray, shape (d_model, vocabulary)
    """

    size: Size
    flat: Array
    embedding: Array
    positions: Array
    blocks: tuple[Block, ...]
    W_out: Array


def shapes(size: Size) -> list[tuple[int, int]]:
    """Shapes of the matrices of a decoder, in the order in which they stand in ``flat``."""
    d = size.d_model
    block = [(d, 3 * d), (d, d), (d, 4 * d), (4 * d, d)]
    return [(size.vocabulary, d), (size.T, d), *size.n_block * block, (d, size.vocabulary)]


def decoder_of(size: Size, flat: Array) -> Decoder:
    """Give the numbers in `flat` their names; they stay where they are."""
    every = shapes(size)
    ends = accumulate((rows * columns for rows, columns in every), initial=0)
    parts = [flat[begin:end] for begin, end in pairwise(ends)]
    matrices = [part.reshape(shape) for part, shape in zip(parts, every, strict=True)]
    embedding, positions, *inner, W_out = matrices
    blocks = tuple(Block(*inner[n : n + 4]) for n in range(0, len(inner), 4))
    return Decoder(size, flat, embedding, positions, blocks, W_out)


def random_decoder(size: Size, seed: int, dtype: Any = np.float32) -> Decoder:
    """Begin a decoder with random normal weights.

    A matrix that X is multiplied by has the standard deviation 1/√rows, so that the spread of
    its results is that of X; those that end in a residual addition begin smaller, and so does
    W_out: at first every character is as likely as any other, nearly.
    """
    rng = np.random.default_rng([seed, 3])
    spreads = [0.5, 0.5, *size.n_block * [1.0, 0.5, 1.0, 0.5], 0.5]
    matrices = []
    for n, (shape, spread) in enumerate(zip(shapes(size), spreads, strict=True)):
        per_row = 1.0 if n < 2 else shape[0] ** -0.5
        matrices.append(rng.standard_normal(shape) * spread * per_row)
    return decoder_of(size, np.concatenate([m.ravel() for m in matrices]).astype(dtype))


# -- forward ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BlockPass:
    """What a block made on the way: what its backward needs."""

    X: Array  # (B·T, d_model): what came in
    Q: Array  # (B, n_head, T, d_k), as K and V
    K: Array
    V: Array
    softmax: Array  # (B, n_head, T, T)
    weights: Array  # (B, n_head, T, T): what is kept of the softmax
    mixed: Array  # (B·T, d_model): weights V, heads side by side
    between: Array  # (B·T, d_model): after attention
    hidden: Array  # (B·T, 4 d_model): after relu


@dataclass(frozen=True, eq=False)
class Pass:
    """A run of a decoder.

    Attributes
    ----------
    characters : ndarray of int, shape (B, T)
    blocks : tuple of BlockPass
    last : ndarray, shape (B·T, d_model)
    logits : ndarray, shape (B, T, vocabulary)
    """

    characters: Characters
    blocks: tuple[BlockPass, ...]
    last: Array
    logits: Array
    after: Mask


class Room:
    """Arrays that serve again in every step; new ones from the system would cost a third of it.

    Parameters
    ----------
    like : array
        Made by the library that is to make the arrays.
    """

    def __init__(self, like: Array) -> None:
        self.xp = array_namespace(like)
        self._arrays: dict[tuple[str, int], Array] = {}

    def array(self, name: str, block: int, shape: tuple[int, ...], dtype: Any) -> Array:
        """Give the array of this name in this block, with whatever stands in it."""
        found = self._arrays.get((name, block))
        if found is None or found.shape != shape or found.dtype != dtype:
            found = self._arrays[name, block] = self.xp.empty(shape, dtype=dtype)
        return found

    def product(self, name: str, block: int, A: Array, B: Array) -> Array:
        """``A @ B``, in the array of this name."""
        shape = (*A.shape[:-1], B.shape[-1])
        return self.xp.matmul(A, B, out=self.array(name, block, shape, A.dtype))


def run(
    decoder: Decoder, characters: Characters, variant: str, *, room: Room | None = None
) -> Pass:
    """Run a decoder over some texts.

    Parameters
    ----------
    decoder : Decoder
    characters : ndarray of int, shape (B, T)
        B texts of at most ``size.T`` characters.
    variant : str
        One of VARIANTS; see :func:`allowed_by`.
    room : Room, optional
        Where the result stands, until the next run in it.

    Returns
    -------
    Pass
    """
    size, (B, T), room = decoder.size, characters.shape, room or Room(decoder.flat)
    xp, dtype, d_k = room.xp, decoder.flat.dtype, size.d_model // size.n_head
    before, after = allowed_by(variant, T)
    X = room.array("X", 0, (B * T, size.d_model), dtype)
    xp.take(decoder.embedding, characters.reshape(-1), axis=0, out=X)
    X.reshape(B, T, -1)[...] += decoder.positions[:T]
    passes = []
    for n, block in enumerate(decoder.blocks):
        QKV = room.product("QKV", n, X, block.W_QKV).reshape(B, T, 3, size.n_head, d_k)
        Q, K, V = QKV.transpose(2, 0, 3, 1, 4)  # each (B, n_head, T, d_k)
        scores = room.product("scores", n, Q, K.swapaxes(-1, -2))  # (B, n_head, T, T)
        scores *= d_k**-0.5
        weights = softmax = softmax_over(xp, scores, before)
        if not after.all():
            weights = room.array("weights", n, softmax.shape, dtype)
            xp.multiply(softmax, xp.asarray(after), out=weights)
        mixed = room.array("mixed", n, (B, T, size.n_head, d_k), dtype)
        xp.matmul(weights, V, out=mixed.swapaxes(1, 2))
        mixed = mixed.reshape(B * T, -1)  # heads side by side
        between = room.product("between", n, mixed, block.W_O)
        between += X
        hidden = room.product("hidden", n, between, block.W_1)
        xp.maximum(hidden, 0, out=hidden)
        passes.append(BlockPass(X, Q, K, V, softmax, weights, mixed, between, hidden))
        X = room.product("X", n + 1, hidden, block.W_2)
        X += between
    logits = room.product("logits", 0, X, decoder.W_out).reshape(B, T, -1)
    return Pass(characters, tuple(passes), X, logits, after)


# -- backward --------------------------------------------------------------------------------------


def gradients(
    decoder: Decoder, passed: Pass, dlogits: Array, *, room: Room | None = None
) -> Decoder:
    """Gradients of every parameter from the gradient at the logits, by hand.

    Parameters
    ----------
    decoder : Decoder
    passed : Pass
        Of this decoder.
    dlogits : ndarray, shape (B, T, vocabulary)
    room : Room, optional
        For what is made on the way.

    Returns
    -------
    Decoder
        Of gradients.
    """
    size, (B, T), room = decoder.size, passed.characters.shape, room or Room(decoder.flat)
    xp = room.xp
    change = decoder_of(size, xp.empty_like(decoder.flat))
    dlogits = dlogits.reshape(B * T, -1)
    xp.matmul(passed.last.T, dlogits, out=change.W_out)
    dX = room.product("dX", 0, dlogits, decoder.W_out.T)  # (B·T, d_model)
    for block, made, dblock in zip(
        decoder.blocks[::-1], passed.blocks[::-1], change.blocks[::-1], strict=True
    ):
        xp.matmul(made.hidden.T, dX, out=dblock.W_2)
        dhidden = room.product("dhidden", 0, dX, block.W_2.T)
        dhidden *= xp.greater(made.hidden, 0, out=room.array("alive", 0, dhidden.shape, xp.bool))
        xp.matmul(made.between.T, dhidden, out=dblock.W_1)
        dX += room.product("part", 0, dhidden, block.W_1.T)  # now of `between`
        xp.matmul(made.mixed.T, dX, out=dblock.W_O)
        dmixed = room.product("part", 0, dX, block.W_O.T)
        dmixed = dmixed.reshape(B, T, size.n_head, -1).swapaxes(1, 2)  # (B, n_head, T, d_k)
        dQKV = room.array("dQKV", 0, (B, T, 3, size.n_head, made.Q.shape[-1]), dX.dtype)
        dQ, dK, dV = dQKV.transpose(2, 0, 3, 1, 4)
        xp.matmul(made.weights.swapaxes(-1, -2), dmixed, out=dV)
        dscores = room.product("dscores", 0, dmixed, made.V.swapaxes(-1, -2))
        if made.weights is not made.softmax:  # so far they are of the weights
            dscores *= xp.asarray(passed.after)
        # The mean of dscores over a row, by its softmax, is dmixed · mixed: d_k products, not T.
        mixed = made.mixed.reshape(B, T, size.n_head, -1).swapaxes(1, 2)
        dscores -= (dmixed * mixed).sum(axis=-1, keepdims=True)
        dscores *= made.softmax
        dscores *= made.Q.shape[-1] ** -0.5
        xp.matmul(dscores, made.K, out=dQ)
        xp.matmul(dscores.swapaxes(-1, -2), made.Q, out=dK)
        dQKV = dQKV.reshape(B * T, -1)
        xp.matmul(made.X.T, dQKV, out=dblock.W_QKV)
        dX += room.product("part", 0, dQKV, block.W_QKV.T)
    change.positions[T:] = 0
    change.positions[:T] = dX.reshape(B, T, -1).sum(axis=0)
    # embedding[characters] is one_hot @ embedding: each row of dX goes to its character.
    one_hot = room.array("one_hot", 0, (B * T, size.vocabulary), dX.dtype)
    one_hot[...] = 0
    one_hot[xp.arange(B * T), passed.characters.reshape(-1)] = 1
    xp.matmul(one_hot.T, dX, out=change.embedding)
    return change


def loss_and_gradient(
    logits: Array, following: Characters, *, room: Room | None = None
) -> tuple[float, Array]:
    """How surprising the characters that follow are, and the gradient of that.

    Parameters
    ----------
    logits : ndarray, shape (B, T, vocabulary)
    following : ndarray of int, shape (B, T)
    room : Room, optional
        Where the gradient stands.

    Returns
    -------
    loss : float
        Mean over all places of -log softmax(logits) at the character that follows, in nats.
    dlogits : ndarray, shape (B, T, vocabulary)
        (p - y) / places.
    """
    room = room or Room(logits)
    xp, p = room.xp, room.array("p", 0, logits.shape, logits.dtype)
    xp.subtract(logits, logits.max(axis=-1, keepdims=True), out=p)
    p = p.reshape(-1, logits.shape[-1])
    right = xp.arange(len(p)), following.reshape(-1)
    chosen = p[right]
    xp.exp(p, out=p)
    total = p.sum(axis=-1)
    loss = float(xp.mean(xp.log(total) - chosen))
    p /= (total * len(p))[:, None]
    p[right] -= 1 / len(p)
    return loss, p.reshape(logits.shape)
