"""The exercise of two heads at once, and the many ways to mix them up."""

from collections.abc import Callable

import numpy as np

from .comparing import AnyArray
from .function_task import Case, Function, FunctionTask, sizes
from .function_tasks import Rng, raw_scores, softmax, solutions


def _heads(rng: Rng) -> list[Case]:
    cases = []
    for _ in range(4):
        T, half, d_k, d_v = sizes(rng, 4, 2, 7)
        X = rng.standard_normal((T, 2 * half))
        W_Q, W_K = (rng.standard_normal((2 * half, 2 * d_k)) for _ in range(2))
        cases.append(Case((X, W_Q, W_K, rng.standard_normal((2 * half, 2 * d_v)))))
    shapes = ((1, 4), (4, 2), (4, 2), (4, 2))
    cases.append(Case(tuple(rng.standard_normal(shape) for shape in shapes), "single"))
    return cases


def _attend(Q: AnyArray, K: AnyArray, V: AnyArray, root: float | None = None) -> AnyArray:
    mixed: AnyArray = softmax(raw_scores(Q, K) / np.sqrt(root or Q.shape[-1])) @ V
    return mixed


def _halves(M: AnyArray) -> list[AnyArray]:
    return list(np.split(M, 2, axis=1))


def _two(join: Callable[[list[AnyArray]], AnyArray], root: float = 1.0) -> Function:
    """Two heads whose outputs are joined in some way; `root` times d_k is under the root."""

    def heads(X: AnyArray, W_Q: AnyArray, W_K: AnyArray, W_V: AnyArray) -> AnyArray:
        triples = zip(*(_halves(X @ W) for W in (W_Q, W_K, W_V)), strict=True)
        return join([_attend(Q, K, V, root * Q.shape[1]) for Q, K, V in triples])

    return heads


def _beside(heads: list[AnyArray]) -> AnyArray:
    return np.concatenate(heads, axis=1)


def _sliced_input(X: AnyArray, W_Q: AnyArray, W_K: AnyArray, W_V: AnyArray) -> AnyArray:
    """Each head sees half of X only: the common belief."""
    outputs = []
    for head, part in enumerate(_halves(X)):
        rows = np.split(np.arange(X.shape[1]), 2)[head]
        Q, K, V = (part @ _halves(W)[head][rows] for W in (W_Q, W_K, W_V))
        outputs.append(_attend(Q, K, V))
    return _beside(outputs)


def _strided(X: AnyArray, W_Q: AnyArray, W_K: AnyArray, W_V: AnyArray) -> AnyArray:
    """Every second column a head: what reshape(T, d, 2) makes."""
    outputs = []
    for head in range(2):
        Q, K, V = (X @ W[:, head::2] for W in (W_Q, W_K, W_V))
        outputs.append(_attend(Q, K, V))
    return _beside(outputs)


def _reshaped(X: AnyArray, W_Q: AnyArray, W_K: AnyArray, W_V: AnyArray) -> AnyArray:
    """reshape(2, T, d) without exchanging axes: rows of different tokens are mixed."""
    Q, K, V = ((X @ W).reshape(2, len(X), -1) for W in (W_Q, W_K, W_V))
    return _beside(list(_attend(Q, K, V)))


TWO_HEADS = FunctionTask(
    ("X", "W_Q", "W_K", "W_V"),
    solutions.attention_two_heads,
    _heads,
    {
        "one_wide_head": lambda X, W_Q, W_K, W_V: _attend(X @ W_Q, X @ W_K, X @ W_V),
        "root_of_both_heads": _two(_beside, 2.0),
        "root_of_d_model": lambda X, W_Q, W_K, W_V: _two(_beside, len(W_Q) / (W_Q.shape[1] / 2))(
            X, W_Q, W_K, W_V
        ),
        "no_scale": lambda X, W_Q, W_K, W_V: _two(_beside, 2 / W_Q.shape[1])(X, W_Q, W_K, W_V),
        "heads_added": _two(lambda heads: heads[0] + heads[1]),
        "heads_averaged": _two(lambda heads: (heads[0] + heads[1]) / 2),
        "heads_swapped": _two(lambda heads: _beside(heads[::-1])),
        "heads_stacked": _two(np.stack),
        "heads_below": _two(lambda heads: np.concatenate(heads, axis=0)),
        "heads_interleaved": _two(
            lambda heads: np.stack(heads, axis=-1).reshape(len(heads[0]), -1)
        ),
        "first_head_only": _two(lambda heads: heads[0]),
        "first_head_twice": _two(lambda heads: _beside([heads[0], heads[0]])),
        "input_sliced": _sliced_input,
        "columns_strided": _strided,
        "tokens_mixed": _reshaped,
        "causal_unasked": lambda X, W_Q, W_K, W_V: _beside(
            [
                _causal_head(Q, K, V)
                for Q, K, V in zip(*(_halves(X @ W) for W in (W_Q, W_K, W_V)), strict=True)
            ]
        ),
        "transposed": lambda X, W_Q, W_K, W_V: _two(_beside)(X, W_Q, W_K, W_V).T,
    },
)


def _causal_head(Q: AnyArray, K: AnyArray, V: AnyArray) -> AnyArray:
    output: AnyArray = solutions.attention_one_head(Q, K, V, np.tri(len(Q), dtype=bool))
    return output
