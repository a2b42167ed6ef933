"""What attention should give: float64, plain Python loops, four passes, nothing of the package.

The contract it states:

* True in a mask means "may attend"; only allowed keys enter a row at all.
* A row with no allowed key has weights 0 and output 0.
* NaN and infinities follow IEEE rules in the rows that can see them, and only there: a hidden
  key weighs exactly 0, even in a row that a visible NaN has spoilt.

NumPy only holds the numbers.  The error bounds below say how far rounding may carry a right
result away from this one; nothing else is forgiven.
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Steps:
    scores: np.ndarray
    scaled_scores: np.ndarray
    masked_scores: np.ndarray
    weights: np.ndarray
    output: np.ndarray


def attention(Q, K, V, allowed=None, scale=None):
    """Every step for every head; `allowed` has the full shape (..., T_q, T_k)."""
    Q, K, V = (np.asarray(array, dtype=np.float64) for array in (Q, K, V))
    (*lead, T_q, d_k), T_k, d_v = Q.shape, K.shape[-2], V.shape[-1]
    scale = 1 / math.sqrt(d_k) if scale is None else float(scale)
    allowed = np.ones((*lead, T_q, T_k), dtype=bool) if allowed is None else allowed
    steps = Steps(*(np.zeros((*lead, T_q, T_k)) for _ in range(4)), np.zeros((*lead, T_q, d_v)))
    for head in np.ndindex(*lead):
        one = one_head(*(a[head].tolist() for a in (Q, K, V, allowed)), scale, d_v)
        for name, rows in one.items():
            getattr(steps, name)[head] = np.reshape(rows, getattr(steps, name)[head].shape)
    return steps


def one_head(Q, K, V, allowed, scale, d_v):
    """Attention of one head on nested lists of floats."""
    T_q, T_k = len(Q), len(K)

    # Pass 1, scores: the dot product of each query with each key.
    scores = [[0.0] * T_k for _ in range(T_q)]
    for i in range(T_q):
        for j in range(T_k):
            for q, k in zip(Q[i], K[j], strict=True):
                scores[i][j] += q * k

    # Pass 2, scale and mask: every score times the scale, then -inf where a key is hidden.
    scaled_scores = [[score * scale for score in row] for row in scores]
    masked_scores = [[-math.inf] * T_k for _ in range(T_q)]
    for i in range(T_q):
        for j in range(T_k):
            if allowed[i][j]:
                masked_scores[i][j] = scaled_scores[i][j]

    # Pass 3, softmax of each row over the keys it may see; the others keep weight 0.
    weights = [[0.0] * T_k for _ in range(T_q)]
    for i in range(T_q):
        visible = [j for j in range(T_k) if allowed[i][j]]
        for j, weight in zip(
            visible, softmax_of_row([scaled_scores[i][j] for j in visible]), strict=True
        ):
            weights[i][j] = weight

    # Pass 4, weighted sum: the values of the visible keys, each times its weight.
    output = [[0.0] * d_v for _ in range(T_q)]
    for i in range(T_q):
        for j in range(T_k):
            if allowed[i][j]:
                for c in range(d_v):
                    output[i][c] += weights[i][j] * V[j][c]

    return {
        "scores": scores,
        "scaled_scores": scaled_scores,
        "masked_scores": masked_scores,
        "weights": weights,
        "output": output,
    }


@dataclass
class Gradients:
    dweights: np.ndarray
    dscaled_scores: np.ndarray
    dscores: np.ndarray
    dQ: np.ndarray
    dK: np.ndarray
    dV: np.ndarray


def backward(Q, K, V, dO, allowed=None, scale=None):
    """What a change of Q, K and V does to a loss whose gradient at the output is dO.

    Written from the derivative of each output with respect to each input, pair by pair: a pair
    of query and key that is hidden appears in no sum.
    """
    Q, K, V, dO = (np.asarray(array, dtype=np.float64) for array in (Q, K, V, dO))
    (*lead, T_q, d_k), T_k = Q.shape, K.shape[-2]
    scale = 1 / math.sqrt(d_k) if scale is None else float(scale)
    allowed = np.ones((*lead, T_q, T_k), dtype=bool) if allowed is None else allowed
    weights = attention(Q, K, V, allowed, scale).weights
    steps = Gradients(
        *(np.zeros((*lead, T_q, T_k)) for _ in range(3)), *(np.zeros(a.shape) for a in (Q, K, V))
    )
    for head in np.ndindex(*lead):
        inputs = (a[head].tolist() for a in (Q, K, V, dO, allowed, weights))
        for name, rows in backward_of_head(*inputs, scale).items():
            getattr(steps, name)[head] = np.reshape(rows, getattr(steps, name)[head].shape)
    return steps


def backward_of_head(Q, K, V, dO, allowed, weights, scale):
    """The gradients of one head on nested lists of floats."""
    T_q, T_k = len(Q), len(K)
    dQ, dK, dV = ([[0.0] * len(row) for row in array] for array in (Q, K, V))
    dweights, dscaled, dscores = ([[0.0] * T_k for _ in range(T_q)] for _ in range(3))
    for i in range(T_q):
        visible = [j for j in range(T_k) if allowed[i][j]]
        # output[i][c] = sum of weights[i][j] * V[j][c]
        for j in visible:
            for c in range(len(V[j])):
                dweights[i][j] += dO[i][c] * V[j][c]
                dV[j][c] += weights[i][j] * dO[i][c]
        # d weights[i][m] / d scaled[i][j] = weights[i][m] * ((m == j) - weights[i][j])
        mean = 0.0
        for m in visible:
            mean += weights[i][m] * dweights[i][m]
        for j in visible:
            dscaled[i][j] = weights[i][j] * (dweights[i][j] - mean)
            dscores[i][j] = scale * dscaled[i][j]
            # scores[i][j] = sum of Q[i][c] * K[j][c]
            for c in range(len(Q[i])):
                dQ[i][c] += dscores[i][j] * K[j][c]
                dK[j][c] += dscores[i][j] * Q[i][c]
    return {
        "dweights": dweights,
        "dscaled_scores": dscaled,
        "dscores": dscores,
        "dQ": dQ,
        "dK": dK,
        "dV": dV,
    }


def softmax_of_row(row):
    """exp(s - highest), divided by their sum; a NaN among them is the highest."""
    highest = -math.inf
    for score in row:
        if score > highest or math.isnan(score):
            highest = score
        if math.isnan(highest):
            break
    exponentials = [math.exp(score - highest) for score in row]
    total = 0.0
    for exponential in exponentials:
        total += exponential
    return [exponential / total for exponential in exponentials]


def softmax(scores, axis=-1):
    """Softmax of an array of any shape; what is all -inf leaves nothing to choose and gives 0."""
    result = np.zeros(np.shape(scores))
    rows = np.moveaxis(np.asarray(scores, dtype=np.float64), axis, -1)
    target = np.moveaxis(result, axis, -1)  # a view: writing here fills `result`
    for index in np.ndindex(*rows.shape[:-1]):
        row = rows[index].tolist()
        if any(score != -math.inf for score in row):
            target[index] = softmax_of_row(row)
    return result


def project(X, W):
    """Each vector of X (..., T, d_model) through the matrix W (d_model, width)."""
    X, W = np.asarray(X, dtype=np.float64), np.asarray(W, dtype=np.float64)
    result = np.zeros((*X.shape[:-1], W.shape[1]))
    for index in np.ndindex(*result.shape):
        for x, w in zip(X[index[:-1]].tolist(), W[:, index[-1]].tolist(), strict=True):
            result[index] += x * w
    return result


# -- masks: True = may attend; the queries are the last T_q positions of the T_k keys -------------


def mask(T_q, T_k, may_attend):
    """A mask by asking ``may_attend(position of the query, position of the key)``."""
    rows = [[may_attend(i + T_k - T_q, j) for j in range(T_k)] for i in range(T_q)]
    return np.array(rows, dtype=bool).reshape(T_q, T_k)


def causal(T_q, T_k):
    return mask(T_q, T_k, lambda query, key: key <= query)


# -- how far rounding may carry a right result ---------------------------------------------------


def working_type(dtype):
    return np.dtype(np.float32) if dtype == np.float16 else np.dtype(dtype)


def rounding(dtype):
    """Unit roundoff u: a rounded number is off by at most u times itself."""
    return float(np.finfo(dtype).eps) / 2


def tiny(dtype):
    """Below this a type has fewer digits, or none."""
    return float(np.finfo(dtype).tiny)


def after_cast(bound, expected, dtype):
    """Add the rounding of a last step from float32 to float16."""
    if dtype != np.float16:
        return bound
    return bound + rounding(dtype) * np.abs(expected) + float(np.finfo(dtype).smallest_subnormal)


def product_bound(A, B, dtype):
    """A sum of n products is off by at most n u Σ|a||b|, in whatever order it is summed."""
    u = rounding(working_type(dtype)) + rounding(np.float64)
    n = A.shape[-1]
    return n * (u * (np.abs(A) @ np.abs(B)) + tiny(working_type(dtype)))


def softmax_bound(expected, size, n, dtype):
    """Bound for weights whose scores came with an error of at most `size` times u.

    Numerator and denominator each carry the error of the scores, of the shift (it at most
    doubles a score) and of exp (4 u); the sum adds n u, the division u.
    """
    u = rounding(working_type(dtype)) + rounding(np.float64)
    relative = np.expm1(u * (2 * size + n + 9))
    return np.minimum(relative * expected, 1.0) + tiny(working_type(dtype))


def bounds(steps, Q, K, V, allowed, scale, dtype):
    """For each step of `steps` the error that rounding may cause, element by element."""
    Q, K, V = (np.asarray(array, dtype=np.float64) for array in (Q, K, V))
    d_k, T_k = K.shape[-1], K.shape[-2]
    scale = 1 / math.sqrt(d_k) if scale is None else abs(float(scale))
    wide = working_type(dtype)
    u = rounding(wide) + rounding(np.float64)
    K_T = np.swapaxes(K, -1, -2)
    with np.errstate(all="ignore"):
        scores = product_bound(Q, K_T, dtype)
        scaled = scores * scale + 2 * u * np.abs(steps.scaled_scores) + tiny(wide)
        # Only what a row sees can make it wrong, and a score of -inf is exact.
        size = scale * (np.abs(Q) @ np.abs(K_T))
        size = np.where(allowed & np.isfinite(steps.scaled_scores), size, 0.0)
        size = np.max(size, axis=-1, keepdims=True, initial=0.0)
        weights = softmax_bound(steps.weights, (d_k + 4) * size, T_k, dtype)
        V = np.where(np.isfinite(V), np.abs(V), 0.0)
        output = weights @ V + (T_k + 1) * (u * (steps.weights @ V) + tiny(wide))
        output = after_cast(output, steps.output, dtype)
    return Steps(scores, scaled, scaled, weights, output)


def backward_bounds(gradients, Q, K, V, dO, allowed, scale, dtype, forward=None):
    """The same for each step of `gradients`, however the row mean was come by.

    The row mean is the sum of weights times dweights, or (the same number) dO times output.
    `forward` are the steps of the way there, where they are known already.
    """
    Q, K, V, dO = (np.asarray(array, dtype=np.float64) for array in (Q, K, V, dO))
    d_v, T_k = V.shape[-1], K.shape[-2]
    factor = 1 / math.sqrt(Q.shape[-1]) if scale is None else abs(float(scale))
    wide = working_type(dtype)
    u = rounding(wide) + rounding(np.float64)
    with np.errstate(all="ignore"):
        forward = forward or attention(Q, K, V, allowed, scale)
        weights, off = forward.weights, bounds(forward, Q, K, V, allowed, scale, wide).weights
        V, dO = (np.where(np.isfinite(array), array, 0.0) for array in (V, dO))
        dweights = product_bound(dO, np.swapaxes(V, -1, -2), dtype)
        # Both ways to the mean are off by no more than this: errors of the factors, of the sums.
        size = np.abs(dO) @ np.swapaxes(np.abs(V), -1, -2)  # (..., T_q, T_k)
        terms = weights + off
        mean = np.sum(off * size + terms * (dweights + (T_k + d_v + 2) * u * size), -1)[..., None]
        spread = np.abs(gradients.dweights) + np.sum(weights * size, axis=-1, keepdims=True)
        dscaled = off * spread + terms * (dweights + mean + 3 * u * spread) + tiny(wide)
        dscaled = np.where(allowed, dscaled, 0.0)
        dscores = factor * dscaled + 2 * u * np.abs(gradients.dscores) + tiny(wide)
        dQ = _sum_bound(dscores, gradients.dscores, K, u, wide)
        dK = _sum_bound(
            np.swapaxes(dscores, -1, -2), np.swapaxes(gradients.dscores, -1, -2), Q, u, wide
        )
        dV = _sum_bound(np.swapaxes(off, -1, -2), np.swapaxes(weights, -1, -2), dO, u, wide)
        last = (
            after_cast(bound, getattr(gradients, name), dtype)
            for name, bound in (("dQ", dQ), ("dK", dK), ("dV", dV))
        )
    return Gradients(dweights, dscaled, dscores, *last)


def _sum_bound(off, factors, B, u, wide):
    """A sum of products whose first factors came with the error `off`."""
    n, B = B.shape[-2], np.where(np.isfinite(B), np.abs(B), 0.0)
    return off @ B + (n + 1) * (u * ((np.abs(factors) + off) @ B) + tiny(wide))


def in_type(expected, dtype):
    """What a right result is in a type whose range it leaves."""
    with np.errstate(over="ignore"):
        return np.where(np.isinf(expected.astype(dtype)), expected.astype(dtype), expected)


def assert_close(actual, expected, bound, dtype):
    """Type, shape, dtype; then NaN and infinities in the same places; then the numbers."""
    assert isinstance(actual, np.ndarray), f"got {type(actual).__name__}, wanted an array"
    assert actual.shape == expected.shape, f"got shape {actual.shape}, wanted {expected.shape}"
    assert actual.dtype == dtype, f"got dtype {actual.dtype}, wanted {dtype}"
    actual = actual.astype(np.float64)
    for what, test in (("NaN", np.isnan), ("inf", np.isposinf), ("-inf", np.isneginf)):
        np.testing.assert_array_equal(test(actual), test(expected), err_msg=f"where is {what}")
    finite = np.isfinite(expected)
    error = np.subtract(actual, expected, where=finite, out=np.zeros(expected.shape))
    wrong = finite & ~(np.abs(error) <= bound)
    assert not wrong.any(), (
        f"{wrong.sum()} of {wrong.size} numbers are off by more than rounding; the first: "
        f"got {actual[wrong][0]!r}, wanted {expected[wrong][0]!r}, "
        f"allowed error {np.broadcast_to(bound, expected.shape)[wrong][0]:.3g}"
    )
