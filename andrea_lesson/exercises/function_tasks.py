"""Exercises on scores, softmax and gradients: what is right, on which inputs, the known slips."""

from importlib import import_module
from typing import Any

import numpy as np

from .comparing import AnyArray
from .function_task import Case, FunctionTask, sizes

Rng = np.random.Generator
solutions: Any = import_module(".solutions", __package__)  # left without types, as students write


def softmax(scores: AnyArray, axis: int | None = -1) -> AnyArray:
    """Softmax of ordinary scores."""
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    result: AnyArray = e / e.sum(axis=axis, keepdims=True)
    return result


def raw_scores(Q: AnyArray, K: AnyArray) -> AnyArray:
    """Scores before they are scaled."""
    product: AnyArray = Q @ np.swapaxes(K, -1, -2)
    return product


# -- scores of a batch ---------------------------------------------------------------------------


def _batches(rng: Rng) -> list[Case]:
    cases = []
    for lead in (0, 1, 2, 1):
        *axes, T_q, T_k, d_k = sizes(rng, lead + 3, 2)
        Q, K = rng.standard_normal((*axes, T_q, d_k)), rng.standard_normal((*axes, T_k, d_k))
        cases.append(Case((Q, K)))
    B, T, d_k = sizes(rng, 3)  # as many queries as keys: K.T may fit by chance
    cases.append(Case((rng.standard_normal((B, T, d_k)), rng.standard_normal((B, T, d_k)))))
    for q, k in (((1, 3), (5, 3)), ((1, 4, 1), (1, 3, 1))):
        cases.append(Case((rng.standard_normal(q), rng.standard_normal(k)), "single"))
    return cases


SCALED_SCORES = FunctionTask(
    ("Q", "K"),
    solutions.scaled_scores,
    _batches,
    {
        "no_scale": raw_scores,
        "scaled_twice": lambda Q, K: raw_scores(Q, K) / Q.shape[-1],
        "multiplied_by_root": lambda Q, K: raw_scores(Q, K) * np.sqrt(Q.shape[-1]),
        "root_of_T": lambda Q, K: raw_scores(Q, K) / np.sqrt(K.shape[-2]),
        "root_of_first_axis": lambda Q, K: raw_scores(Q, K) / np.sqrt(len(Q)),
        "root_of_d_model": lambda Q, K: raw_scores(Q, K) / np.sqrt(12 * Q.shape[-1]),
        "queries_and_keys_swapped": lambda Q, K: np.swapaxes(solutions.scaled_scores(Q, K), -1, -2),
        "weights_for_scores": lambda Q, K: softmax(solutions.scaled_scores(Q, K)),
    },
)


# -- softmax -------------------------------------------------------------------------------------


def _temperatures(rng: Rng) -> list[Case]:
    T_q, T_k = sizes(rng, 2)
    cases = [
        Case((rng.standard_normal(shape) * 2, float(temperature)))
        for shape, temperature in (
            ((T_q, T_k), rng.uniform(1.5, 3)),
            ((T_k, T_q), rng.uniform(0.3, 0.7)),
            ((1, T_k), rng.uniform(2, 4)),
        )
    ]
    whole = rng.integers(-4, 5, (T_q, T_k))
    large = rng.integers(-3, 4, (T_q, T_k)) + np.where(np.arange(T_q) % 2, 1000.0, -1000.0)[:, None]
    single = rng.standard_normal((T_q, 1))
    return [
        *cases,
        Case((single, 2.0), "single"),
        Case((whole, 2.0), "whole"),
        Case((large, 0.5), "large"),
    ]


SOFTMAX_TEMPERATURE = FunctionTask(
    ("scores", "temperature"),
    solutions.softmax_temperature,
    _temperatures,
    {
        "temperature_multiplied": lambda s, t: softmax(s * t),
        "temperature_ignored": lambda s, t: softmax(s),
        "temperature_rooted": lambda s, t: softmax(s / np.sqrt(t)),
        "temperature_squared": lambda s, t: softmax(s / t**2),
        "temperature_after": lambda s, t: softmax(s) / t,
        "wrong_axis": lambda s, t: softmax(s / t, axis=0),
        "whole_matrix": lambda s, t: softmax(s / t, axis=None),
        "no_maximum_shift": lambda s, t: (e := np.exp(s / t)) / e.sum(axis=-1, keepdims=True),
        "maximum_of_the_table": lambda s, t: (
            (e := np.exp(s / t - (s / t).max())) / e.sum(axis=-1, keepdims=True)
        ),
        "not_normalised": lambda s, t: np.exp(s / t),
        "shifted_not_normalised": lambda s, t: np.exp(s / t - (s / t).max(-1, keepdims=True)),
        "logarithm": lambda s, t: np.log(softmax(s / t)),
        "no_exponential": lambda s, t: s / t / (s / t).sum(axis=-1, keepdims=True),
        "minus_scores": lambda s, t: softmax(-s / t),
        "transposed": lambda s, t: softmax(s / t).T,
    },
)


# -- backward ------------------------------------------------------------------------------------


def _rows(rng: Rng) -> list[Case]:
    cases = []
    for T in sizes(rng, 4):
        cases.append(Case((softmax(rng.standard_normal(T) * 2), rng.standard_normal(T) + 1)))
    certain = np.zeros(5)
    certain[rng.integers(5)] = 1.0
    single = Case((np.ones(1), rng.standard_normal(1)), "single")
    return [*cases, single, Case((certain, rng.standard_normal(5)), "certain")]


ONE_ROW_BACKWARD = FunctionTask(
    ("p", "dp"),
    solutions.one_row_backward,
    _rows,
    {
        "row_mean_missing": lambda p, dp: p * dp,
        "plain_mean": lambda p, dp: p * (dp - dp.mean()),
        "factor_p_missing": lambda p, dp: dp - (p * dp).sum(),
        "own_share_only": lambda p, dp: p * (1 - p) * dp,
        "jacobian": lambda p, dp: np.diag(p) - np.outer(p, p),
        "sign_flipped": lambda p, dp: -p * (dp - (p * dp).sum()),
        "jacobian_plus": lambda p, dp: p * (dp + (p * dp).sum()),
        "cross_entropy": lambda p, dp: p - dp,
        "product_mean": lambda p, dp: p * (dp - (p * dp).mean()),
        "unchanged": lambda p, dp: dp,
    },
)


def _targets(rng: Rng) -> list[Case]:
    cases = [Case((rng.standard_normal(T) * 2, int(rng.integers(T)))) for T in sizes(rng, 4)]
    large = rng.integers(-3, 4, 6) + 1000.0
    return [*cases, Case((rng.standard_normal(1), 0), "single"), Case((large, 2), "large")]


def _one_hot(scores: AnyArray, target: int) -> AnyArray:
    row: AnyArray = np.eye(len(scores))[target]
    return row


CROSS_ENTROPY_ROW = FunctionTask(
    ("scores", "target"),
    solutions.cross_entropy_row,
    _targets,
    {
        "weights_only": lambda s, t: softmax(s),
        "sign_flipped": lambda s, t: _one_hot(s, t) - softmax(s),
        "scores_for_weights": lambda s, t: s - _one_hot(s, t),
        "softmax_counted_twice": lambda s, t: solutions.one_row_backward(
            softmax(s), softmax(s) - _one_hot(s, t)
        ),
        "target_only": lambda s, t: (softmax(s) - 1) * _one_hot(s, t),
        "one_from_all": lambda s, t: softmax(s) - 1,
        "no_maximum_shift": lambda s, t: (e := np.exp(s)) / e.sum() - _one_hot(s, t),
    },
)


# -- the running softmax of tiles ----------------------------------------------------------------


def _tiles(rng: Rng) -> list[Case]:
    cases = []
    for T, tile in ((12, 4), (11, 4), (11, 4), (5, 8), (7, 1), (9, 2)):
        scores = rng.standard_normal(T) * 3
        cases.append(Case((np.sort(scores) if tile == 4 else scores, tile)))
    cases.append(Case((rng.standard_normal(8) - 20, 3)))  # all of them negative
    large = rng.integers(-3, 4, 7) + np.repeat([-1000.0, 1000.0], [3, 4])
    return [*cases, Case((rng.standard_normal(1), 3), "single"), Case((large, 3), "large")]


def _running(
    scores: AnyArray, tile: int, *, rescale: bool = True, backwards: bool = False, tail: bool = True
) -> AnyArray:
    largest, total = -np.inf, 0.0
    end = len(scores) if tail else len(scores) // tile * tile
    for start in range(0, end, tile):
        part = scores[start : start + tile]
        new = max(largest, float(part.max()))
        shrunk = np.exp(new - largest if backwards else largest - new) if rescale else 1
        total = total * shrunk + np.exp(part - new).sum()
        largest = new
    return np.array([largest, total])


RUNNING_SOFTMAX = FunctionTask(
    ("scores", "tile"),
    solutions.running_softmax,
    _tiles,
    {
        "sum_not_shrunk": lambda s, tile: _running(s, tile, rescale=False),
        "sum_grown": lambda s, tile: _running(s, tile, backwards=True),
        "tail_dropped": lambda s, tile: _running(s, tile, tail=False),
        "maximum_from_zero": lambda s, tile: np.array(
            [m := max(0.0, float(s.max())), np.exp(s - m).sum()]
        ),
        "last_tile_only": lambda s, tile: solutions.running_softmax(
            s[(len(s) - 1) // tile * tile :], tile
        ),
        "first_tile_only": lambda s, tile: solutions.running_softmax(s[:tile], tile),
        "no_maximum_shift": lambda s, tile: np.array([s.max(), np.exp(s).sum()]),
        "sum_of_scores": lambda s, tile: np.array([s.max(), s.sum()]),
        "pair_swapped": lambda s, tile: solutions.running_softmax(s, tile)[::-1],
    },
)
