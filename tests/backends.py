"""One set of problems for every array library, so that all are held to the same oracle."""

from types import SimpleNamespace

import numpy as np
import oracle

import andrea_lesson as al
from andrea_lesson.backward import attention_backward, attention_backward_steps


def random(*shape, dtype, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def problems(dtype):
    """Name, Q, K, V and mask; NumPy arrays throughout."""
    B, H, T_q, T_k, d_k, d_v = 2, 3, 5, 7, 4, 6
    shapes = ((T_q, d_k), (T_k, d_k), (T_k, d_v))
    one = [random(*shape, dtype=dtype, seed=s) for s, shape in enumerate(shapes)]
    many = [random(B, H, *shape, dtype=dtype, seed=s) for s, shape in enumerate(shapes)]
    empty = np.ones((T_q, T_k), dtype=bool)
    empty[2] = False
    spoilt = [array.copy() for array in one]
    spoilt[1][6, 0], spoilt[2][5, 1], spoilt[2][6, 2] = np.nan, np.inf, -np.inf
    yield "one head", *one, None
    yield "batch and heads", *many, None
    yield "causal by name", *many, "causal"
    yield "causal mask", *many, al.causal_mask(T_q, T_k)
    yield "padding", *many, al.padding_mask([7, 0], T_k, heads=True)
    yield "mask of lists", *one, al.sliding_window_mask(T_q, T_k, window=2).tolist()
    yield "empty row", *one, empty
    yield "more queries than keys", *one[:1], *(array[:2] for array in one[1:]), "causal"
    yield "huge scores", one[0] * 100, one[1] * 100, one[2], "causal"
    yield "hidden NaN and infinity", *spoilt, "causal"
    yield "no queries", one[0][:0], *one[1:], "causal"
    yield "no keys", one[0], one[1][:0], one[2][:0], "causal"
    yield "no batch", *(array[:0] for array in many), None
    if dtype == np.float64:
        yield "whole numbers", *(np.arange(12).reshape(3, 4) for _ in range(3)), "causal"


def check_attention(Q, K, V, mask, move, back):
    """All forms of attention on arrays that `move` brought to the library, against the oracle.

    `back` gives the NumPy array of a result, after checking where the result lives.
    """
    shape = (*Q.shape[:-1], K.shape[-2])
    meaning = oracle.causal(*shape[-2:]) if isinstance(mask, str) else mask
    allowed = np.broadcast_to(True if mask is None else meaning, shape)
    dtype = Q.dtype if Q.dtype.kind == "f" else np.dtype(np.float64)
    wide = oracle.working_type(dtype)
    with np.errstate(all="ignore"):
        expected = oracle.attention(Q, K, V, allowed)
        bounds = oracle.bounds(expected, Q, K, V, allowed, None, dtype)
        masks = (mask, move(mask)) if isinstance(mask, np.ndarray) else (mask,)
        for given in masks:  # a NumPy mask follows Q to its device
            q, k, v = (move(array) for array in (Q, K, V))
            steps = al.attention_steps(q, k, v, mask=given)
            for name in ("scores", "scaled_scores", "masked_scores", "weights"):
                oracle.assert_close(
                    back(getattr(steps, name)), getattr(expected, name), getattr(bounds, name), wide
                )
            for output in (steps.output, al.attention(q, k, v, mask=given)):
                oracle.assert_close(back(output), expected.output, bounds.output, dtype)
            weights = al.attention_weights(q, k, mask=given)
            bound = oracle.after_cast(bounds.weights, expected.weights, dtype)
            oracle.assert_close(back(weights), expected.weights, bound, dtype)


def check_backward(Q, K, V, mask, move, back):
    """The gradients on arrays that `move` brought to the library, against the oracle."""
    shape = (*Q.shape[:-1], K.shape[-2])
    meaning = oracle.causal(*shape[-2:]) if isinstance(mask, str) else mask
    allowed = np.broadcast_to(True if mask is None else meaning, shape)
    dtype = Q.dtype if Q.dtype.kind == "f" else np.dtype(np.float64)
    dO = random(*Q.shape[:-1], V.shape[-1], dtype=dtype, seed=9)
    with np.errstate(all="ignore"):
        expected = oracle.backward(Q, K, V, dO, allowed)
        bounds = oracle.backward_bounds(expected, Q, K, V, dO, allowed, None, dtype)
        masks = (mask, move(mask)) if isinstance(mask, np.ndarray) else (mask,)
        for given in masks:
            q, k, v, do = (move(array) for array in (Q, K, V, dO))
            for function in (attention_backward_steps, _backward):
                steps = function(q, k, v, do, mask=given)
                for name, got in vars(steps).items():
                    if name == "weights":
                        continue  # those of the way there, as in check_attention
                    wanted = oracle.in_type(getattr(expected, name), dtype)
                    of = dtype if name in ("dQ", "dK", "dV") else oracle.working_type(dtype)
                    oracle.assert_close(back(got), wanted, getattr(bounds, name), of)


def _backward(*given, **options):
    dQ, dK, dV = attention_backward(*given, **options)
    return SimpleNamespace(dQ=dQ, dK=dK, dV=dV)


def check_softmax(dtype, move, back):
    scores = random(3, 4, 5, dtype=dtype, seed=0) * dtype(10)
    scores[1, 2] = -np.inf
    scores[:, 1, 1] = -np.inf
    for axis in (-1, 0, 1):
        expected = oracle.softmax(scores, axis)
        size = 2 * np.where(np.isfinite(scores), np.abs(scores), 0).max(axis=axis, keepdims=True)
        bound = oracle.softmax_bound(expected, size.astype(float), scores.shape[axis], dtype)
        bound = oracle.after_cast(bound, expected, dtype)
        oracle.assert_close(back(al.softmax(move(scores), axis)), expected, bound, dtype)


def check_project_qkv(dtype, move, back):
    X = random(2, 5, 8, dtype=dtype, seed=0)
    W = [random(8, width, dtype=dtype, seed=s) for s, width in ((1, 4), (2, 4), (3, 6))]
    for got, matrix in zip(al.project_qkv(*map(move, (X, *W))), W, strict=True):
        expected = oracle.project(X, matrix)
        bound = oracle.product_bound(X.astype(float), matrix.astype(float), dtype)
        oracle.assert_close(back(got), expected, oracle.after_cast(bound, expected, dtype), dtype)
