"""One good answer to each exercise that asks for a function; opened only after an attempt.

Each stands by itself, so that its source can be shown alone.
"""
# mypy: ignore-errors
# ruff: noqa: D103

import numpy as np


def scaled_scores(Q, K):
    K_T = np.swapaxes(K, -1, -2)  # (..., d_k, T_k)
    return Q @ K_T / np.sqrt(Q.shape[-1])  # (..., T_q, T_k)


def causal_mask_from_scratch(T_q, T_k):
    position = np.arange(T_q)[:, None] + (T_k - T_q)  # (T_q, 1)
    key = np.arange(T_k)[None, :]  # (1, T_k)
    return key <= position  # (T_q, T_k)


def sliding_window(T, window):
    i, j = np.arange(T)[:, None], np.arange(T)[None, :]
    return (j <= i) & (j > i - window)  # (T, T)


def softmax_temperature(scores, temperature):
    s = scores / temperature
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention_one_head(Q, K, V, mask):
    scores = Q @ K.T / np.sqrt(Q.shape[1])  # (T_q, T_k)
    scores = np.where(mask, scores, -np.inf)
    some = mask.any(axis=1, keepdims=True)  # (T_q, 1)
    highest = np.where(some, scores.max(axis=1, keepdims=True), 0)
    e = np.exp(scores - highest)
    weights = e / np.where(some, e.sum(axis=1, keepdims=True), 1)
    return weights @ V  # (T_q, d_v)


def attention_two_heads(X, W_Q, W_K, W_V):
    def split(projected):  # (T, 2 d) → (2, T, d)
        return np.stack(np.split(projected, 2, axis=1))

    Q, K, V = split(X @ W_Q), split(X @ W_K), split(X @ W_V)
    scores = Q @ np.swapaxes(K, 1, 2) / np.sqrt(Q.shape[2])  # (2, T, T)
    e = np.exp(scores - scores.max(axis=2, keepdims=True))
    output = e / e.sum(axis=2, keepdims=True) @ V  # (2, T, d_v)
    return np.concatenate(list(output), axis=1)  # (T, 2 d_v)


def attention_complete(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])  # (..., T_q, T_k)
    T_q, T_k = scores.shape[-2:]
    if mask is None:
        mask = True
    elif isinstance(mask, str):  # "causal"
        mask = np.tri(T_q, T_k, k=T_k - T_q, dtype=bool)
    allowed = np.broadcast_to(mask, scores.shape)
    scores = np.where(allowed, scores, -np.inf)
    some = allowed.any(axis=-1, keepdims=True)
    highest = np.where(some, scores.max(axis=-1, keepdims=True), 0)
    e = np.exp(scores - highest)
    return e / np.where(some, e.sum(axis=-1, keepdims=True), 1) @ V


def cross_entropy_row(scores, target):
    e = np.exp(scores - scores.max())
    gradient = e / e.sum()  # p
    gradient[target] -= 1  # p - y
    return gradient


def one_row_backward(p, dp):
    return p * (dp - (p * dp).sum())


def running_softmax(scores, tile):
    highest, total = -np.inf, 0.0
    for start in range(0, len(scores), tile):
        part = scores[start : start + tile]
        new = max(highest, part.max())
        total = total * np.exp(highest - new) + np.exp(part - new).sum()
        highest = new
    return np.array([highest, total])


def causality(attend):
    rng = np.random.default_rng()
    T = 6
    Q, K, V = (rng.standard_normal((T, 4)) for _ in range(3))
    before = attend(Q, K, V)
    for t in range(1, T):
        for changed in range(3):
            given = [Q.copy(), K.copy(), V.copy()]
            given[changed][t] += 1
            if not np.allclose(attend(*given)[:t], before[:t]):
                return False
    return True


def catch_broken(attend):
    rng = np.random.default_rng()

    def expected(Q, K, V, allowed):
        output = np.zeros((*Q.shape[:-1], V.shape[-1]))
        for *head, i in np.ndindex(*Q.shape[:-1]):
            q, seen = Q[(*head, i)], allowed[(*head, i)]
            if seen.any():
                s = K[tuple(head)][seen] @ q / np.sqrt(len(q))
                e = np.exp(s - s.max())
                output[(*head, i)] = e / e.sum() @ V[tuple(head)][seen]
        return output

    for lead, T_q, T_k, kind in [
        ((), 5, 7, None), ((), 5, 7, "causal"), ((2,), 3, 6, "padding"),
        ((), 4, 6, "empty row"), ((), 3, 5, "large"), ((2, 3), 5, 5, "causal"),
    ]:  # fmt: skip
        shapes = ((T_q, 4), (T_k, 4), (T_k, 3))
        Q, K, V = (rng.standard_normal((*lead, *shape)) for shape in shapes)
        mask = kind if kind == "causal" else None
        allowed = np.ones((*lead, T_q, T_k), dtype=bool)
        if kind == "causal":
            allowed = np.broadcast_to(np.tri(T_q, T_k, T_k - T_q, dtype=bool), allowed.shape)
        if kind == "padding":
            mask = (np.arange(T_k) < np.array([[6], [2]]))[:, None, :]
            allowed = np.broadcast_to(mask, allowed.shape)
        if kind == "empty row":
            mask = allowed.copy()
            mask[1] = False
            allowed = mask
        if kind == "large":  # far above 0 in one row, far below in another
            Q = np.outer([1000, -1000, 1], [1, 0, 0, 0]) + Q
            K[:, 0] = 2
        copies = [array.copy() for array in (Q, K, V)]
        output = attend(*copies, mask=mask)
        if not np.allclose(output, expected(Q, K, V, allowed)):
            return False
        if not all(map(np.array_equal, copies, (Q, K, V))):
            return False
    return True
