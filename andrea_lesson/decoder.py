"""A small decoder over characters, with its gradients by hand: what ANDREA is, in miniature.

    X      = embedding[characters] + positions
    a block, once or twice:
        Q, K, V = X W_QKV                            all heads side by side
        X = X + (weights V, heads side by side) W_O  weights from scores = Q Kᵀ/√d_k, per head
        X = X + relu(X W_1) W_2
    logits = X W_out                                 a score for each character that may follow

How scores become weights is left open: VARIANTS has the right way and four others, and the
leakage lab (`leakage.py`) trains with each.  There is no normalisation and no bias, since one or
two blocks of this width learn without.  Rows are queries, columns are keys.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .masks import causal_mask, full_mask
from .random_scores import FloatArray, check_one_of

VARIANTS = ("causal", "none", "reversed", "after_softmax", "diagonal_hidden")
Characters = NDArray[np.int_]
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
    causal, every = causal_mask(T), full_mask(T)
    before = {
        "causal": causal,
        "none": every,
        "reversed": ~causal,
        "after_softmax": every,
        "diagonal_hidden": causal & ~np.eye(T, dtype=bool),
    }[variant]
    return before, causal if variant == "after_softmax" else every


def softmax_over(scores: FloatArray, allowed: Mask) -> FloatArray:
    """Softmax over the allowed keys; 0 elsewhere, and in a row that has none.

    The scores are used up: the result stands in their place.
    """
    scores += np.where(allowed, 0, -np.inf).astype(scores.dtype)
    largest = scores.max(axis=-1, keepdims=True)
    scores -= np.where(largest == -np.inf, 0, largest)
    np.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    scores /= np.where(total == 0, 1, total)
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

    W_QKV: FloatArray
    W_O: FloatArray
    W_1: FloatArray
    W_2: FloatArray


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
    flat: FloatArray
    embedding: FloatArray
    positions: FloatArray
    blocks: tuple[Block, ...]
    W_out: FloatArray


def shapes(size: Size) -> list[tuple[int, int]]:
    """Shapes of the matrices of a decoder, in the order in which they stand in ``flat``."""
    d = size.d_model
    block = [(d, 3 * d), (d, d), (d, 4 * d), (4 * d, d)]
    return [(size.vocabulary, d), (size.T, d), *size.n_block * block, (d, size.vocabulary)]


def decoder_of(size: Size, flat: FloatArray) -> Decoder:
    """Give the numbers in `flat` their names; they stay where they are."""
    every = shapes(size)
    ends = np.cumsum([rows * columns for rows, columns in every])
    parts = np.split(flat, ends[:-1])
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

    X: FloatArray  # (B·T, d_model): what came in
    Q: FloatArray  # (B, n_head, T, d_k), as K and V
    K: FloatArray
    V: FloatArray
    softmax: FloatArray  # (B, n_head, T, T)
    weights: FloatArray  # (B, n_head, T, T): what is kept of the softmax
    mixed: FloatArray  # (B·T, d_model): weights V, heads side by side
    between: FloatArray  # (B·T, d_model): after attention
    hidden: FloatArray  # (B·T, 4 d_model): after relu


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
    last: FloatArray
    logits: FloatArray
    after: Mask


class Room:
    """Arrays that serve again in every step; new ones from the system would cost a third of it."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[str, int], NDArray[Any]] = {}

    def array(self, name: str, block: int, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Give the array of this name in this block, with whatever stands in it."""
        found = self._arrays.get((name, block))
        if found is None or found.shape != shape or found.dtype != dtype:
            found = self._arrays[name, block] = np.empty(shape, dtype)
        return found

    def product(self, name: str, block: int, A: FloatArray, B: FloatArray) -> FloatArray:
        """``A @ B``, in the array of this name."""
        shape = (*A.shape[:-1], B.shape[-1])
        return np.matmul(A, B, out=self.array(name, block, shape, A.dtype))


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
    size, (B, T), room = decoder.size, characters.shape, room or Room()
    dtype, d_k = decoder.flat.dtype, size.d_model // size.n_head
    before, after = allowed_by(variant, T)
    X = room.array("X", 0, (B * T, size.d_model), dtype)
    np.take(decoder.embedding, characters.reshape(-1), axis=0, out=X)
    X.reshape(B, T, -1)[...] += decoder.positions[:T]
    passes = []
    for n, block in enumerate(decoder.blocks):
        QKV = room.product("QKV", n, X, block.W_QKV).reshape(B, T, 3, size.n_head, d_k)
        Q, K, V = QKV.transpose(2, 0, 3, 1, 4)  # each (B, n_head, T, d_k)
        scores = room.product("scores", n, Q, K.swapaxes(-1, -2))  # (B, n_head, T, T)
        scores *= d_k**-0.5
        weights = softmax = softmax_over(scores, before)
        if not after.all():
            weights = room.array("weights", n, softmax.shape, dtype)
            np.multiply(softmax, after, out=weights)
        mixed = room.array("mixed", n, (B, T, size.n_head, d_k), dtype)
        np.matmul(weights, V, out=mixed.swapaxes(1, 2))
        mixed = mixed.reshape(B * T, -1)  # heads side by side
        between = room.product("between", n, mixed, block.W_O)
        between += X
        hidden = room.product("hidden", n, between, block.W_1)
        np.maximum(hidden, 0, out=hidden)
        passes.append(BlockPass(X, Q, K, V, softmax, weights, mixed, between, hidden))
        X = room.product("X", n + 1, hidden, block.W_2)
        X += between
    logits = room.product("logits", 0, X, decoder.W_out).reshape(B, T, -1)
    return Pass(characters, tuple(passes), X, logits, after)


# -- backward --------------------------------------------------------------------------------------


def gradients(
    decoder: Decoder, passed: Pass, dlogits: FloatArray, *, room: Room | None = None
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
    size, (B, T), room = decoder.size, passed.characters.shape, room or Room()
    change = decoder_of(size, np.empty_like(decoder.flat))
    dlogits = dlogits.reshape(B * T, -1)
    np.matmul(passed.last.T, dlogits, out=change.W_out)
    dX = room.product("dX", 0, dlogits, decoder.W_out.T)  # (B·T, d_model)
    for block, made, dblock in zip(
        decoder.blocks[::-1], passed.blocks[::-1], change.blocks[::-1], strict=True
    ):
        np.matmul(made.hidden.T, dX, out=dblock.W_2)
        dhidden = room.product("dhidden", 0, dX, block.W_2.T)
        dhidden *= np.greater(made.hidden, 0, out=room.array("alive", 0, dhidden.shape, np.bool_))
        np.matmul(made.between.T, dhidden, out=dblock.W_1)
        dX += room.product("part", 0, dhidden, block.W_1.T)  # now of `between`
        np.matmul(made.mixed.T, dX, out=dblock.W_O)
        dmixed = room.product("part", 0, dX, block.W_O.T)
        dmixed = dmixed.reshape(B, T, size.n_head, -1).swapaxes(1, 2)  # (B, n_head, T, d_k)
        dQKV = room.array("dQKV", 0, (B, T, 3, size.n_head, made.Q.shape[-1]), dX.dtype)
        dQ, dK, dV = dQKV.transpose(2, 0, 3, 1, 4)
        np.matmul(made.weights.swapaxes(-1, -2), dmixed, out=dV)
        dscores = room.product("dscores", 0, dmixed, made.V.swapaxes(-1, -2))
        if made.weights is not made.softmax:  # so far they are of the weights
            dscores *= passed.after
        parts = room.array("parts", 0, dscores.shape, dscores.dtype)
        dscores -= np.multiply(made.softmax, dscores, out=parts).sum(axis=-1, keepdims=True)
        dscores *= made.softmax
        dscores *= made.Q.shape[-1] ** -0.5
        np.matmul(dscores, made.K, out=dQ)
        np.matmul(dscores.swapaxes(-1, -2), made.Q, out=dK)
        dQKV = dQKV.reshape(B * T, -1)
        np.matmul(made.X.T, dQKV, out=dblock.W_QKV)
        dX += room.product("part", 0, dQKV, block.W_QKV.T)
    change.positions[T:] = 0
    np.sum(dX.reshape(B, T, -1), axis=0, out=change.positions[:T])
    add_up(passed.characters.reshape(-1), dX, change.embedding)
    return change


def add_up(characters: Characters, rows: FloatArray, sums: FloatArray) -> None:
    """Into the row of each character in `sums`: the sum of those `rows` that belong to it."""
    order = np.argsort(characters, kind="stable")
    present, first = np.unique(characters[order], return_index=True)
    sums[:] = 0
    sums[present] = np.add.reduceat(rows[order], first, axis=0)


def loss_and_gradient(
    logits: FloatArray, following: Characters, *, room: Room | None = None
) -> tuple[float, FloatArray]:
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
    p = (room or Room()).array("p", 0, logits.shape, logits.dtype)
    np.subtract(logits, logits.max(axis=-1, keepdims=True), out=p)
    p = p.reshape(-1, logits.shape[-1])
    right = np.arange(len(p)), following.reshape(-1)
    chosen = p[right]
    np.exp(p, out=p)
    total = p.sum(axis=-1)
    loss = float(np.mean(np.log(total) - chosen))
    p /= (total * len(p))[:, None]
    p[right] -= 1 / len(p)
    return loss, p.reshape(logits.shape)
