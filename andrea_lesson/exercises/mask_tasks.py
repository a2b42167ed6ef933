"""Exercises on masks: what is right, on which sizes, and the known slips."""

from collections.abc import Callable

import numpy as np

from . import solutions
from .comparing import AnyArray
from .function_task import Case, FunctionTask, sizes

Rng = np.random.Generator


def _mask_sizes(rng: Rng) -> list[Case]:
    T, short, long = sizes(rng, 3)
    short, long = sorted((short, long))
    pairs = [(T, T), (short, long), (long, short), (1, T), (T, 1), (1, 1)]
    return [Case(pair) for pair in pairs]


def _causal(T_q: int, T_k: int, test: Callable[[AnyArray, AnyArray], AnyArray]) -> AnyArray:
    return test(np.arange(T_q)[:, None] + T_k - T_q, np.arange(T_k)[None, :])


CAUSAL_MASK = FunctionTask(
    ("T_q", "T_k"),
    solutions.causal_mask_from_scratch,
    _mask_sizes,
    {
        "top_left": lambda T_q, T_k: np.tri(T_q, T_k, dtype=bool),
        "diagonal_hidden": lambda T_q, T_k: _causal(T_q, T_k, lambda i, j: j < i),
        "true_hides": lambda T_q, T_k: _causal(T_q, T_k, lambda i, j: j > i),
        "sees_the_future": lambda T_q, T_k: _causal(T_q, T_k, lambda i, j: j >= i),
        "one_too_far": lambda T_q, T_k: _causal(T_q, T_k, lambda i, j: j <= i + 1),
        "everything_allowed": lambda T_q, T_k: np.ones((T_q, T_k), dtype=bool),
        "wrong_offset": lambda T_q, T_k: np.tri(T_q, T_k, k=T_q - T_k, dtype=bool),
        "offset_never_negative": lambda T_q, T_k: np.tri(T_q, T_k, k=abs(T_k - T_q), dtype=bool),
        "offset_clipped": lambda T_q, T_k: np.tri(T_q, T_k, k=max(0, T_k - T_q), dtype=bool),
        "transposed_shape": lambda T_q, T_k: np.tri(T_q, T_k, T_k - T_q, dtype=bool).T,
        "square_of_queries": lambda T_q, T_k: np.tri(T_q, T_q, dtype=bool),
        "square_of_keys": lambda T_q, T_k: np.tri(T_k, T_k, dtype=bool),
    },
    kind="bool",
)


def _windows(rng: Rng) -> list[Case]:
    small, T = sorted(sizes(rng, 2))
    return [Case((T, small - 1)), Case((T, 2)), Case((T, 1)), Case((T, T + 3)), Case((1, 1))]


def _band(T: int, test: Callable[[AnyArray], AnyArray]) -> AnyArray:
    return test(np.arange(T)[:, None] - np.arange(T)[None, :])  # how far back the key lies


SLIDING_WINDOW = FunctionTask(
    ("T", "window"),
    solutions.sliding_window,
    _windows,
    {
        "window_one_more": lambda T, w: _band(T, lambda back: (back >= 0) & (back <= w)),
        "window_one_less": lambda T, w: _band(T, lambda back: (back >= 0) & (back < w - 1)),
        "window_without_itself": lambda T, w: _band(T, lambda back: (back > 0) & (back <= w)),
        "diagonal_hidden": lambda T, w: _band(T, lambda back: (back > 0) & (back < w)),
        "window_both_ways": lambda T, w: _band(T, lambda back: abs(back) < w),
        "window_both_ways_one_more": lambda T, w: _band(T, lambda back: abs(back) <= w),
        "window_not_causal": lambda T, w: _band(T, lambda back: back < w),
        "window_ahead": lambda T, w: _band(T, lambda back: (back <= 0) & (back > -w)),
        "window_ignored": lambda T, w: _band(T, lambda back: back >= 0),
        "window_outside": lambda T, w: _band(T, lambda back: (back >= 0) & (back >= w)),
        "true_hides": lambda T, w: _band(T, lambda back: (back < 0) | (back >= w)),
        "everything_allowed": lambda T, w: np.ones((T, T), dtype=bool),
    },
    kind="bool",
)
