"""Scaled dot-product attention, one function a step.

    scores        = Q Kᵀ                    how well query i fits key j
    scaled_scores = scores / √d_k           the size of d_k taken out
    masked_scores = -∞ where not allowed    the future hidden
    weights       = softmax(masked_scores)  each row sums to 1
    output        = weights V               a mix of the values

Rows are queries, columns are keys.  The same lines serve NumPy and CuPy: `xp` is the array
module that Q came from.  Source: Vaswani et al. 2017, "Attention Is All You Need", section
3.2.1 and equation 1 (which leaves the mask to the text), section 3.2.3 for the mask.
"""

from dataclasses import dataclass
from typing import Any

from array_api_compat import device

from .inputs import (
    Array,
    check_attention_shapes,
    check_axis,
    check_mask,
    check_scale,
    float_arrays,
    working_type,
)


@dataclass(frozen=True, eq=False)
class AttentionSteps:
    """What each step of attention made of the one before.

    Attributes
    ----------
    scores, scaled_scores, masked_scores, weights : array, shape (..., T_q, T_k)
        Masked scores are -inf where a query may not attend.
    output : array, shape (..., T_q, d_v)
    """

    scores: Array
    scaled_scores: Array
    masked_scores: Array
    weights: Array
    output: Array


def project_qkv(X: Array, W_Q: Array, W_K: Array, W_V: Array) -> tuple[Array, Array, Array]:
    """Three projections of the same X: what a token asks, advertises, delivers.

    Parameters
    ----------
    X : array_like, shape (..., T, d_model)
        A vector for each position.
    W_Q, W_K : array_like, shape (d_model, d_k)
        Learned weight matrices of one head for queries and keys.
    W_V : array_like, shape (d_model, d_v)
        The same for values.

    Returns
    -------
    Q, K : array, shape (..., T, d_k)
    V : array, shape (..., T, d_v)

    Raises
    ------
    TypeError, ValueError
        If an argument holds no real numbers, or the shapes do not fit.

    Notes
    -----
    Source: Vaswani et al. 2017, section 3.2.2.
    """
    xp, (X, W_Q, W_K, W_V) = float_arrays(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V)
    if X.ndim < 2:
        raise ValueError(f"X must have shape (..., T, d_model); got shape {X.shape}.")
    for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V)):
        if W.ndim != 2 or W.shape[0] != X.shape[-1]:
            raise ValueError(
                f"{name} must have shape (d_model, width) with d_model = {X.shape[-1]} as in X; "
                f"got shape {W.shape}."
            )
    if W_Q.shape[1] != W_K.shape[1]:
        raise ValueError(
            f"W_Q and W_K must have the same width d_k; got {W_Q.shape[1]} and {W_K.shape[1]}."
        )
    wide = working_type(xp, X.dtype)
    Q, K, V = (
        xp.astype(xp.astype(X, wide) @ xp.astype(W, wide), X.dtype)  # (..., T, width)
        for W in (W_Q, W_K, W_V)
    )
    return Q, K, V


def softmax(scores: Array, axis: int = -1) -> Array:
    """Turn scores into weights that are not negative, sum to 1 and keep the order.

    Parameters
    ----------
    scores : array_like, any shape
        -inf stands for "not allowed" and gets weight 0.
    axis : int
        The axis that shall sum to 1; for attention the keys, the last one.

    Returns
    -------
    array, shape of `scores`
        Scores that are all -inf leave nothing to choose from: their weights are all 0.
        NaN or +inf among the scores makes that row NaN.

    Raises
    ------
    TypeError, ValueError
        If `scores` holds no real numbers, or has no axis `axis`.

    Notes
    -----
    The largest score is subtracted first.  That changes no weight, as numerator and
    denominator shrink by the same factor, and keeps exp from overflowing.
    """
    xp, (scores,) = float_arrays(scores=scores)
    axis = check_axis(axis, scores.ndim)
    wide = xp.astype(scores, working_type(xp, scores.dtype))
    empty = xp.all(wide == -xp.inf, axis=axis, keepdims=True)
    return xp.astype(_softmax(xp, wide, empty, axis), scores.dtype)


def attention_steps(
    Q: Array, K: Array, V: Array, *, mask: Any = None, scale: float | None = None
) -> AttentionSteps:
    """Attention with every intermediate result, for looking at.

    Parameters
    ----------
    Q : array_like, shape (..., T_q, d_k)
        Queries.
    K : array_like, shape (..., T_k, d_k)
        Keys.
    V : array_like, shape (..., T_k, d_v)
        Values.
    mask : None, "causal", or array_like of bool
        True = may attend.  Shape (T_q, T_k), or as many axes as the scores, where axes of
        length 1 stretch.  With T_q ≠ T_k, "causal" lets query i see key j when
        j ≤ i + (T_k - T_q).
    scale : float, optional
        Factor on the scores, 1/√d_k by default.

    Returns
    -------
    AttentionSteps
        Steps of float16 inputs are computed and shown in float32; the output is float16.

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.

    Notes
    -----
    A row with no allowed key has weights 0 and output 0.  NaN and infinities follow IEEE rules
    in the rows that can see them, and only there.  Source: Vaswani et al. 2017, section 3.2.1.
    """
    xp, (Q, K, V) = float_arrays(Q=Q, K=K, V=V)
    check_attention_shapes(Q, K, V)
    steps, allowed = _weights(xp, Q, K, mask, scale)
    wide_V = xp.astype(V, working_type(xp, V.dtype))
    output = xp.astype(weighted_sum(xp, steps["weights"], wide_V, allowed), V.dtype)
    return AttentionSteps(**steps, output=output)


def attention_weights(Q: Array, K: Array, *, mask: Any = None, scale: float | None = None) -> Array:
    """How much each query attends to each key.

    Parameters
    ----------
    Q, K, mask, scale
        As in :func:`attention_steps`; in a mask True = may attend.

    Returns
    -------
    array, shape (..., T_q, T_k)
        Rows sum to 1; a row with no allowed key is 0.

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    xp, (Q, K) = float_arrays(Q=Q, K=K)
    check_attention_shapes(Q, K)
    steps, _ = _weights(xp, Q, K, mask, scale)
    return xp.astype(steps["weights"], Q.dtype)


def attention(
    Q: Array, K: Array, V: Array, *, mask: Any = None, scale: float | None = None
) -> Array:
    """``softmax(mask(Q Kᵀ / √d_k)) V``: the whole of attention in one line.

    Parameters
    ----------
    Q, K, V, mask, scale
        As in :func:`attention_steps`; in a mask True = may attend.

    Returns
    -------
    array, shape (..., T_q, d_v)
        For each query the values of the keys it may see, mixed by their weights.

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    return attention_steps(Q, K, V, mask=mask, scale=scale).output


def _weights(
    xp: Any, Q: Array, K: Array, mask: Any, scale: float | None
) -> tuple[dict[str, Array], Array | None]:
    """Steps from Q and K to the weights, and the checked mask."""
    scale = check_scale(scale, Q.shape[-1])
    wide = working_type(xp, Q.dtype)
    scores = xp.astype(Q, wide) @ xp.matrix_transpose(xp.astype(K, wide))  # (..., T_q, T_k)
    scaled_scores = scores * scale
    allowed = check_mask(xp, mask, scores)
    if allowed is None:
        masked_scores = xp.asarray(scaled_scores, copy=True)
        weights = _softmax(xp, scaled_scores, _constant(xp, False, like=scores))
    else:
        hidden = _constant(xp, -xp.inf, like=scores)
        masked_scores = xp.where(allowed, scaled_scores, hidden)
        empty = ~xp.any(allowed, axis=-1, keepdims=True)  # (..., T_q, 1)
        weights = _softmax(xp, masked_scores, empty)
        # Not even a row spoilt by NaN gives anything to a key it may not see.
        weights = xp.where(allowed, weights, _constant(xp, 0.0, like=scores))
    return {
        "scores": scores,
        "scaled_scores": scaled_scores,
        "masked_scores": masked_scores,
        "weights": weights,
    }, allowed


def _softmax(xp: Any, scores: Array, empty: Array, axis: int = -1) -> Array:
    """Softmax where rows marked `empty`, which are all -inf, come out as 0."""
    if scores.shape[axis] == 0:
        return scores
    highest = xp.max(scores, axis=axis, keepdims=True)
    # -inf minus -inf is NaN, and 0 / 0 is NaN: an empty row is met before either.
    highest = xp.where(empty, _constant(xp, 0.0, like=scores), highest)
    exponentials = xp.exp(scores - highest)
    total = xp.sum(exponentials, axis=axis, keepdims=True)
    return exponentials / xp.where(empty, _constant(xp, 1.0, like=scores), total)


def weighted_sum(xp: Any, weights: Array, V: Array, allowed: Array | None) -> Array:
    """``weights @ V`` in which a value that is not finite reaches only the rows that see it."""
    finite = xp.isfinite(V)
    if allowed is None or bool(xp.all(finite)):
        return weights @ V  # (..., T_q, d_v)
    # 0 × NaN and 0 × ∞ are NaN, so a hidden key could spoil a row in spite of its weight 0.
    # Such values are left out of the product and added only where they are allowed.
    zero = _constant(xp, 0.0, like=V)
    output = weights @ xp.where(finite, V, zero)
    for j in range(V.shape[-2]):
        value, fine = V[..., j : j + 1, :], finite[..., j : j + 1, :]  # (..., 1, d_v)
        if not bool(xp.all(fine)):
            seen = xp.broadcast_to(allowed, weights.shape)[..., j : j + 1]  # (..., T_q, 1)
            weight = xp.where(seen, weights[..., j : j + 1], _constant(xp, 1.0, like=V))
            share = weight * value  # (..., T_q, d_v)
            output = output + xp.where(seen & ~fine, share, zero)
    return output


def _constant(xp: Any, value: Any, *, like: Array) -> Array:
    """A 0-d array of the device of `like`, and of its type unless boolean."""
    dtype = xp.bool if isinstance(value, bool) else like.dtype
    return xp.asarray(value, dtype=dtype, device=device(like))
