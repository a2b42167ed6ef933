"""The two exercises that ask for attention itself: one head, and all of it."""

from typing import Any

import numpy as np

from . import zoo
from .comparing import AnyArray, as_array
from .function_task import Case, Function, FunctionTask, sizes
from .function_tasks import Rng, solutions
from .running import call
from .verdict import Wrong

ONE_HEAD = ("Q", "K", "V", "mask")


def _vectors(
    rng: Rng, T_q: int, T_k: int, d_k: int, d_v: int, lead: tuple[int, ...] = ()
) -> tuple[AnyArray, AnyArray, AnyArray]:
    shapes = ((T_q, d_k), (T_k, d_k), (T_k, d_v))
    Q, K, V = (rng.standard_normal((*lead, *shape)) for shape in shapes)
    return Q, K, V


def _some(rng: Rng, *shape: int, share: float = 0.6) -> AnyArray:
    """A random mask that leaves every row a key, and hides at least one in the first."""
    mask = rng.random(shape) < share
    mask[..., 0] = True
    mask[..., 0, -1] = False
    return mask


def _one_head(rng: Rng) -> list[Case]:
    cases = []
    for causal in (True, False, True, False):
        T_q, d_k, d_v = (size + (size > 6) for size in sizes(rng, 3, 2, 8))
        T_k = 7  # prime: whatever the tile, there is a tail
        if causal:
            T_q = T_k
        mask = np.tri(T_k, dtype=bool) if causal else _some(rng, T_q, T_k)
        cases.append(Case((*_vectors(rng, T_q, T_k, d_k, d_v), mask)))
    return [*cases, *_hard(rng)]


def _hard(rng: Rng) -> list[Case]:
    """Axes of length 1, large scores, rows with no allowed key, no room for a stand-in for -∞."""
    T_q, T_k, d_v = sizes(rng, 3, 4, 7)
    # Exact in every float type: whole numbers, and d_k = 4 makes the scale one half.
    Q, K, V = _whole(rng, T_q, T_k, d_v)
    cases = [
        Case((*_vectors(rng, 1, T_k, 3, 2), _some(rng, 1, T_k)), "single"),
        Case((*_vectors(rng, T_q, 1, 1, 1), np.ones((T_q, 1), dtype=bool)), "single"),
        Case((Q, K, V, _some(rng, T_q, T_k)), "large"),
    ]
    Q, K, V = _vectors(rng, T_q, T_k, 5, d_v)
    empty = _some(rng, T_q, T_k)
    empty[1] = False
    cases.append(Case((Q, K, V, empty), "empty"))
    # Scores of visible keys are so low, and those of hidden ones so high, that a number which
    # replaces them or is added to them lets the hidden ones win.
    seen = _some(rng, 1, T_k)[0]
    far = np.full((T_q, 4), 2.0**60), np.where(seen[:, None], -1, 1) * np.full((T_k, 4), 2.0**60)
    cases.append(Case((*far, V, np.tile(seen, (T_q, 1))), "below", only="finite_stand_in"))
    return cases


def _whole(rng: Rng, T_q: int, T_k: int, d_v: int) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Small differences between scores, rows of them far above 0 and far below."""
    Q, K = rng.integers(-1, 2, (T_q, 4)).astype(float), rng.integers(-1, 2, (T_k, 4)).astype(float)
    Q[:, 0], K[:, 0] = np.where(np.arange(T_q) % 2, 360.0, -360.0), 4.0
    return Q, K, rng.standard_normal((T_k, d_v))


def _on_one_head(attend: zoo.Specimen) -> Function:
    def slip(Q: AnyArray, K: AnyArray, V: AnyArray, mask: Any) -> AnyArray:
        output: AnyArray = attend(Q.copy(), K.copy(), V.copy(), mask)
        return output

    return slip


def _transposed_mask(Q: AnyArray, K: AnyArray, V: AnyArray, mask: AnyArray) -> AnyArray:
    return np.asarray(zoo.RIGHT["einsum"](Q, K, V, mask.T))


def _weights(Q: AnyArray, K: AnyArray, V: AnyArray, mask: AnyArray) -> AnyArray:
    return np.asarray(zoo.RIGHT["einsum"](Q, K, np.eye(len(K)), mask))


def _zeros_for_infinity(Q: AnyArray, K: AnyArray, V: AnyArray, mask: AnyArray) -> AnyArray:
    scores = np.where(mask, zoo.scores_of(Q, K), 0.0)
    return np.asarray(zoo.masked_softmax(scores, np.ones(scores.shape, dtype=bool)) @ V)


def _no_shift_at_all(Q: AnyArray, K: AnyArray, V: AnyArray, mask: Any) -> AnyArray:
    """No guard either for a row whose exponentials are all 0."""
    scores = zoo.scores_of(Q, K)
    e = np.where(zoo.allowed_in(mask, scores), np.exp(scores), 0.0)
    return np.asarray(e / e.sum(axis=-1, keepdims=True) @ V)


def _mean_for_empty(Q: AnyArray, K: AnyArray, V: AnyArray, mask: AnyArray) -> AnyArray:
    """A row with no allowed key sees everything instead."""
    return np.asarray(zoo.RIGHT["einsum"](Q, K, V, mask | ~mask.any(axis=-1, keepdims=True)))


def _look_at_weights(attend: Function) -> None:
    """Say what is odd about the weights behind an attention, with V = I to see them."""
    rng = np.random.default_rng()
    T_q, T_k, d_k = sizes(rng, 3, 4, 8)
    Q, K = rng.standard_normal((T_q, d_k)), rng.standard_normal((T_k, d_k))
    mask = rng.random((T_q, T_k)) < 0.7
    mask[:, 0] = True
    weights = as_array(call(attend, {"Q": Q, "K": K, "V": np.eye(T_k), "mask": mask}), "float")
    if weights.shape != (T_q, T_k) or not np.isfinite(weights).all():
        return
    sums, columns = weights.sum(axis=-1), weights.sum(axis=0)
    if (weights < -1e-6).any():
        raise Wrong("look_negative")
    rows_are_right = np.allclose(sums, 1, atol=1e-3)
    if np.allclose(columns[mask.any(axis=0)], 1, atol=1e-3) and not rows_are_right:
        raise Wrong("look_columns")
    if (np.abs(weights[~mask]) > 1e-6).any():
        raise Wrong("look_hidden")
    if (weights[mask] < 1e-12).any():
        raise Wrong("look_allowed")
    if not rows_are_right:
        worst = int(np.abs(sums - 1).argmax())
        raise Wrong("look_row_sums", row=worst, sum=f"{float(sums[worst]):.3g}")


# In the order in which they are tried: where two agree, the first is named.
_SLIPS = (
    "mask_ignored",
    "wrong_axis",
    "whole_matrix",
    "no_scale",
    "scaled_twice",
    "root_of_d_model",
    "reversed_polarity",
    "masked_after_softmax",
    "diagonal_hidden",
    "half_precision_mask",
    "no_maximum_shift",
    "maximum_of_the_table",
    "finite_stand_in",
    "empty_row_nan",
    "tail_dropped",
    "value_of_the_query",
)

ATTENTION_ONE_HEAD = FunctionTask(
    ONE_HEAD,
    solutions.attention_one_head,
    _one_head,
    {name: _on_one_head(zoo.BROKEN[name]) for name in _SLIPS}
    | {
        "no_maximum_shift:plain": _no_shift_at_all,
        "zero_for_infinity": _zeros_for_infinity,
        "weights_for_output": _weights,
        "mask_transposed": _transposed_mask,
        "sees_all_when_empty": _mean_for_empty,
        "transposed": lambda *given: solutions.attention_one_head(*given).T,
    },
    look=_look_at_weights,
)


# -- all of it -----------------------------------------------------------------------------------


def _complete(rng: Rng) -> list[Case]:
    d_k, d_v, T_q = sizes(rng, 3, 2, 5)
    T_k = 7  # prime: whatever the tile, there is a tail; and at least two more than queries
    B, H = 2, 3
    lengths = np.array([T_k, T_k // 2])
    padding = (np.arange(T_k) < lengths[:, None])[:, None, :]  # (B, 1, T_k)
    return [
        Case((*_vectors(rng, T_q, T_k, d_k, d_v), None)),
        Case((*_vectors(rng, T_q, T_k, d_k, d_v), _some(rng, T_q, T_k))),
        Case((*_vectors(rng, T_k, T_k, d_k, d_v), "causal")),
        Case((*_vectors(rng, T_q, T_k, d_k, d_v), "causal"), "rectangle"),
        Case((*_vectors(rng, T_q, T_k, d_k, d_v, (B, H)), "causal"), "batch"),
        Case((*_vectors(rng, T_k, T_k, d_k, d_v, (B,)), None), "batch"),
        Case((*_vectors(rng, T_q, T_k, d_k, d_v, (B,)), padding), "batch"),
        *_hard(rng),
        Case((*_vectors(rng, T_k, T_q, d_k, d_v), "causal"), "empty"),
    ]


ATTENTION_COMPLETE = FunctionTask(
    ONE_HEAD,
    zoo.RIGHT["loops"],
    _complete,
    {
        name: _on_one_head(specimen)
        for name, specimen in sorted(
            zoo.BROKEN.items(), key=lambda item: [*_SLIPS, item[0]].index(item[0])
        )
        if name != "changes_its_input"
    }
    | {
        "no_maximum_shift:plain": _no_shift_at_all,
        "causal_passed_over": lambda Q, K, V, mask: zoo.RIGHT["loops"](
            Q, K, V, None if isinstance(mask, str) else mask
        ),
        "always_causal": lambda Q, K, V, mask: zoo.RIGHT["loops"](Q, K, V, "causal"),
    },
    look=_look_at_weights,
)
