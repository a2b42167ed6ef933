"""The gradients of attention, one line a step: which way to change Q, K and V.

The forward steps, each with the gradient that comes back through it (d stands for the gradient
of the loss with respect to what follows it):

    output = weights V                 dweights       = dO Vᵀ,   dV = weightsᵀ dO
    weights = softmax(scaled_scores)   dscaled_scores = weights ∘ (dweights - row mean)
    scaled_scores = scale · scores     dscores        = scale · dscaled_scores
    scores = Q Kᵀ                      dQ = dscores K,  dK = dscoresᵀ Q

The row mean is that of dweights, weighted by the weights.  So a score pulls only as hard as its
key does better or worse than what the row already has, and a row whose weight lies all on one
key has a gradient of exactly 0: there is nothing to learn from it.  Rows are queries, columns
are keys; NumPy and CuPy alike.  Source: Dao et al. 2022 (FlashAttention), appendix B.2, whose
dP and dS are dweights and dscaled_scores here.
"""

from dataclasses import dataclass
from typing import Any

from .inputs import (
    Array,
    check_attention_shapes,
    check_gradient_shape,
    check_mask,
    check_scale,
    float_arrays,
    working_type,
)
from .scaled_dot_product import attention_steps, weighted_sum


@dataclass(frozen=True, eq=False)
class BackwardSteps:
    """The weights, and the gradient at each step on the way back.

    Attributes
    ----------
    weights : array, shape (..., T_q, T_k)
        Of the way there.
    dweights, dscaled_scores, dscores : array, shape (..., T_q, T_k)
        0 where a query may not attend.
    dQ : array, shape (..., T_q, d_k)
    dK : array, shape (..., T_k, d_k)
    dV : array, shape (..., T_k, d_v)
    """

    weights: Array
    dweights: Array
    dscaled_scores: Array
    dscores: Array
    dQ: Array
    dK: Array
    dV: Array


def attention_backward_steps(
    Q: Array, K: Array, V: Array, dO: Array, *, mask: Any = None, scale: float | None = None
) -> BackwardSteps:
    """Gradients of attention with every intermediate result, for looking at.

    Parameters
    ----------
    Q, K, V, mask, scale
        As in :func:`~andrea_lesson.attention_steps`; in a mask True = may attend.
    dO : array_like, shape (..., T_q, d_v)
        Gradient of the loss with respect to the output.

    Returns
    -------
    BackwardSteps
        Steps of float16 inputs are computed and shown in float32; dQ, dK and dV are float16.

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.

    Notes
    -----
    A row with no allowed key changes no gradient and gets none.  NaN and infinities spoil only
    the gradients of rows that can see them, and of the keys that such rows can see.
    """
    xp, (Q, K, V, dO) = float_arrays(Q=Q, K=K, V=V, dO=dO)
    check_attention_shapes(Q, K, V)
    check_gradient_shape(dO, Q, V)
    steps = attention_steps(Q, K, V, mask=mask, scale=scale)
    scale = check_scale(scale, Q.shape[-1])
    weights, allowed = steps.weights, check_mask(xp, mask, steps.scores)
    seen_by = None if allowed is None else xp.matrix_transpose(allowed)  # (..., T_k, T_q)
    dtype, wide = Q.dtype, working_type(xp, Q.dtype)
    Q, K, V, dO = (xp.astype(array, wide) for array in (Q, K, V, dO))

    dweights = _where(xp, allowed, dO @ xp.matrix_transpose(V))  # (..., T_q, T_k)
    row_mean = xp.sum(weights * dweights, axis=-1, keepdims=True)  # (..., T_q, 1)
    dscaled_scores = _where(xp, allowed, weights * (dweights - row_mean))  # (..., T_q, T_k)
    dscores = dscaled_scores * scale
    # A product with 0 is NaN where the other factor is, so these leave out what is hidden.
    dQ = weighted_sum(xp, dscores, K, allowed)  # (..., T_q, d_k)
    dK = weighted_sum(xp, xp.matrix_transpose(dscores), Q, seen_by)  # (..., T_k, d_k)
    dV = weighted_sum(xp, xp.matrix_transpose(weights), dO, seen_by)  # (..., T_k, d_v)

    dQ, dK, dV = (xp.astype(gradient, dtype) for gradient in (dQ, dK, dV))
    return BackwardSteps(weights, dweights, dscaled_scores, dscores, dQ, dK, dV)


def attention_backward(
    Q: Array, K: Array, V: Array, dO: Array, *, mask: Any = None, scale: float | None = None
) -> tuple[Array, Array, Array]:
    """Gradients of a loss with respect to Q, K and V, from its gradient dO at the output.

    Parameters
    ----------
    Q, K, V, dO, mask, scale
        As in :func:`attention_backward_steps`; in a mask True = may attend.

    Returns
    -------
    dQ, dK, dV : arrays of the shapes of Q, K and V

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    steps = attention_backward_steps(Q, K, V, dO, mask=mask, scale=scale)
    return steps.dQ, steps.dK, steps.dV


def _where(xp: Any, allowed: Array | None, gradient: Array) -> Array:
    """0 where a query may not attend: what it does not see changes nothing."""
    return gradient if allowed is None else xp.where(allowed, gradient, xp.zeros_like(gradient))
