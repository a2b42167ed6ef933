"""CuPy arrays through the kernels of `attention.cu`, after all checks.

What the kernels cannot do goes to the algebra instead, with one line that says why: arrays of
another library, float64, rows wider than 128, a machine where the kernels do not compile.

A computation is first written down as a `Plan`, a list of launches.  Here CuPy carries it out; in
the tests the same kernels, compiled for the CPU, are given the same plan.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import is_cupy_array

from ..backward import attention_backward
from ..gpu import one_line
from ..inputs import (
    Array,
    check_attention_shapes,
    check_gradient_shape,
    check_mask,
    check_scale,
    float_arrays,
)
from ..masks import check_whole
from ..scaled_dot_product import attention

SOURCE = Path(__file__).with_name("attention.cu")
OPTIONS = ("-std=c++17",)
WIDTHS = (32, 64, 128)  # of d_k and d_v; the source is compiled for one at a time

# As in attention.cu.
TILE, THREADS, WARP = 16, 128, 32
NOTHING = np.uintp(0)  # a pointer to no array
MOST_BLOCKS = 65_535  # along the second and the third axis of a grid


@dataclass(frozen=True)
class Launch:
    """One call of a kernel, with everything that CUDA wants to know.

    Attributes
    ----------
    kernel : str
        Its name in attention.cu.
    grid, block : tuple of 3 int
        How many blocks, and how many threads in each.
    arguments : tuple
        Arrays, and NumPy scalars of the C types that the kernel declares.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """Launches, one after another; the width to compile for; the arrays that come out."""

    width: int
    launches: tuple[Launch, ...]
    results: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class _Problem:
    """Checked arguments of one library, device and type."""

    arrays: list[Array]  # Q, K, V, and dO on the way back
    mask: Any  # None, "causal", or a boolean array
    scale: float


def cuda_attention(
    Q: Array, K: Array, V: Array, *, mask: Any = None, scale: float | None = None, rung: int = 3
) -> Array:
    """Attention by the CUDA kernels of `attention.cu`.

    Parameters
    ----------
    Q, K, V, mask, scale
        As in :func:`andrea_lesson.attention`; in a mask True = may attend.  The kernels serve
        CuPy arrays of float16 and float32, and compute in float32.
    rung : {1, 2, 3}
        1 for the lesson's own lines, 2 for tiles in shared memory, 3 for one kernel that stores
        no scores.

    Returns
    -------
    array, shape (..., T_q, d_v)

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.

    Warns
    -----
    RuntimeWarning
        Once for each reason why the algebra stood in for the kernels.
    """
    rung = check_whole("rung", rung, 1, 3)
    problem = _check(mask, scale, Q=Q, K=K, V=V)

    def plan(xp: Any, *arrays: Array) -> Plan:
        steps = plan_forward(xp, *arrays, mask=problem.mask, scale=problem.scale, rung=rung)
        return replace(steps, results=steps.results[:1])  # without log_sum_exp

    results = _compute("cuda_attention", problem, plan, any_width=rung < 3)
    if results is None:
        return attention(Q, K, V, mask=mask, scale=scale)
    return results[0]


def cuda_attention_backward(
    Q: Array, K: Array, V: Array, dO: Array, *, mask: Any = None, scale: float | None = None
) -> tuple[Array, Array, Array]:
    """Gradients of attention by the CUDA kernels of `attention.cu`.

    Parameters
    ----------
    Q, K, V, dO, mask, scale
        As in :func:`andrea_lesson.attention_backward`; in a mask True = may attend.  The kernels
        serve CuPy arrays of float16 and float32, and compute in float32.

    Returns
    -------
    dQ, dK, dV : arrays of the shapes of Q, K and V
        The same bits in every run.

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.

    Warns
    -----
    RuntimeWarning
        Once for each reason why the algebra stood in for the kernels.
    """
    problem = _check(mask, scale, Q=Q, K=K, V=V, dO=dO)

    def plan(xp: Any, *arrays: Array) -> Plan:
        return plan_backward(xp, *arrays, mask=problem.mask, scale=problem.scale)

    results = _compute("cuda_attention_backward", problem, plan)
    if results is None:
        return attention_backward(Q, K, V, dO, mask=mask, scale=scale)
    dQ, dK, dV = results
    return dQ, dK, dV


# -- what to launch --------------------------------------------------------------------------------


def plan_forward(
    xp: Any, Q: Array, K: Array, V: Array, *, mask: Any, scale: float, rung: int
) -> Plan:
    """Launches for the output of attention.

    Parameters
    ----------
    xp : module
        Where memory comes from: CuPy, or what stands in for it in the tests.
    Q, K, V : arrays of float32, contiguous
    mask : None, "causal" or array of bool, as `check_mask` gives it
    scale : float
    rung : {1, 2, 3}

    Returns
    -------
    Plan
        Its results are the output and, on rung 3, log_sum_exp of shape (..., T_q).
    """
    *lead, T_q, d_k = Q.shape
    T_k, d_v = V.shape[-2:]
    heads, rows = math.prod(lead), math.prod(lead) * T_q
    output = xp.empty((*lead, T_q, d_v), dtype=np.float32)
    masked = _mask_arguments(xp, mask, lead)
    if rung == 3:
        log_sum_exp = xp.empty((*lead, T_q), dtype=np.float32)
        width = _width(d_k, d_v)
        launch = Launch(
            "rung3_forward",
            (heads, _blocks(T_q, 64 if width <= 64 else 32), 1),
            (THREADS, 1, 1),
            (output, log_sum_exp, Q, K, V, *_sizes(T_q, T_k, d_k, d_v, scale), *masked),
        )
        return Plan(width, (launch,), (output, log_sum_exp))

    weights = xp.empty((*lead, T_q, T_k), dtype=np.float32)  # the scores, until softmax
    threads = rows if rung == 1 else rows * WARP
    tiles_q, tiles_k, tiles_v = (_blocks(size, TILE) for size in (T_q, T_k, d_v))
    tile = (TILE, TILE, 1)
    launches = (
        Launch(
            f"rung{rung}_scores",
            (tiles_k, tiles_q, heads),
            tile,
            (weights, Q, K, *_sizes(T_q, T_k, d_k, scale), *masked),
        ),
        Launch(
            f"rung{rung}_softmax",
            (_blocks(threads, THREADS), 1, 1),
            (THREADS, 1, 1),
            (weights, np.int64(rows), *_sizes(T_q, T_k), *masked),
        ),
        Launch(
            f"rung{rung}_weighted_sum",
            (tiles_v, tiles_q, heads),
            tile,
            (output, weights, V, *_sizes(T_q, T_k, d_v), *masked),
        ),
    )
    return Plan(WIDTHS[0], launches, (output,))


def plan_backward(
    xp: Any, Q: Array, K: Array, V: Array, dO: Array, *, mask: Any, scale: float
) -> Plan:
    """Launches for dQ, dK and dV, the way there included.

    Parameters
    ----------
    xp, Q, K, V, mask, scale
        As in :func:`plan_forward`.
    dO : array of float32, contiguous, shape (..., T_q, d_v)

    Returns
    -------
    Plan
        Its results are dQ, dK and dV.
    """
    forward = plan_forward(xp, Q, K, V, mask=mask, scale=scale, rung=3)
    output, log_sum_exp = forward.results
    *lead, T_q, d_k = Q.shape
    T_k, d_v = V.shape[-2:]
    heads, rows = math.prod(lead), math.prod(lead) * T_q
    row_mean = xp.empty((*lead, T_q), dtype=np.float32)
    dQ, dK, dV = (xp.empty(array.shape, dtype=np.float32) for array in (Q, K, V))
    given = (Q, K, V, dO, log_sum_exp, row_mean)
    given += (*_sizes(T_q, T_k, d_k, d_v, scale), *_mask_arguments(xp, mask, lead))
    side, block = 32 if forward.width <= 64 else 16, (THREADS, 1, 1)
    launches = (
        *forward.launches,
        Launch(
            "rung4_row_mean",
            (_blocks(rows * WARP, THREADS), 1, 1),
            block,
            (row_mean, dO, output, np.int64(rows), np.int32(d_v)),
        ),
        Launch("rung4_dK_dV", (heads, _blocks(T_k, side), 1), block, (dK, dV, *given)),
        Launch("rung4_dQ", (heads, _blocks(T_q, side), 1), block, (dQ, *given)),
    )
    return Plan(forward.width, launches, (dQ, dK, dV))


def _mask_arguments(xp: Any, mask: Any, lead: list[int]) -> tuple[Any, ...]:
    """What attention.cu calls cells, start, down, right and causal."""
    if mask is None or isinstance(mask, str):
        return NOTHING, NOTHING, np.int64(0), np.int64(0), np.int32(mask is not None)
    *stack, rows, columns = mask.shape
    matrices = np.arange(math.prod(stack)).reshape(stack)
    start = np.broadcast_to(matrices, lead).ravel() * (rows * columns)  # (heads,)
    down, right = np.int64(columns if rows > 1 else 0), np.int64(1 if columns > 1 else 0)
    cells = xp.ascontiguousarray(mask)
    return cells, xp.asarray(start, dtype=np.int64), down, right, np.int32(0)


def _sizes(*numbers: float) -> tuple[Any, ...]:
    """Whole numbers as C's int, others as its float: Python's own would be taken for 64 bits."""
    return tuple(np.int32(n) if isinstance(n, int) else np.float32(n) for n in numbers)


def _width(*widths: int) -> int:
    return next(width for width in WIDTHS if width >= max(widths))


def _blocks(size: int, each: int) -> int:
    """How many blocks cover `size`; the last one may reach beyond."""
    return -(-size // each)


# -- checks, and the launching ---------------------------------------------------------------------


def _check(mask: Any, scale: float | None, **named: Array) -> _Problem:
    """The checks of the algebra, without the T × T mask that "causal" means there."""
    xp, arrays = float_arrays(**named)
    Q, K, V, *rest = arrays
    check_attention_shapes(Q, K, V)
    for dO in rest:
        check_gradient_shape(dO, Q, V)
    factor = check_scale(scale, Q.shape[-1])
    if not (isinstance(mask, str) and mask == "causal"):
        scores = xp.broadcast_to(Q[..., :1], (*Q.shape[:-1], K.shape[-2]))  # only a shape
        mask = check_mask(xp, mask, scores)
    return _Problem(arrays, mask, factor)


def _compute(
    name: str, problem: _Problem, plan: Callable[..., Plan], *, any_width: bool = False
) -> tuple[Array, ...] | None:
    """Results of the kernels, in the type of Q; None, with a warning, if they are of no use."""
    if 0 in problem.arrays[0].shape or 0 in problem.arrays[2].shape:
        return None  # no query, key, head or value: nothing to launch
    reason = _unfit(problem, any_width)
    if not reason:
        Q = problem.arrays[0]
        with Q.device:  # which need not be the current one
            cupy = import_module("cupy")
            copies = [cupy.ascontiguousarray(array, dtype=np.float32) for array in problem.arrays]
            steps = plan(cupy, *copies)
            module, reason = _compiled(Q.device.id, steps.width)
            if not reason:
                for launch in steps.launches:
                    kernel = module.get_function(launch.kernel)
                    kernel(launch.grid, launch.block, launch.arguments)
                return tuple(result.astype(Q.dtype, copy=False) for result in steps.results)
    _say_once(f"{name} used the algebra instead of its CUDA kernels: {reason}.")
    return None


def _unfit(problem: _Problem, any_width: bool) -> str:
    """Why the kernels cannot take these arrays; empty if they can."""
    Q, _, V, *_ = problem.arrays
    if not is_cupy_array(Q):
        library = type(Q).__module__.partition(".")[0]
        return f"they take CuPy arrays, and these are arrays of {library}"
    if Q.dtype == np.float64:
        return "they compute in float32, and the arrays are float64"
    width, most = max(Q.shape[-1], V.shape[-1]), WIDTHS[-1]
    if width > most and not any_width:
        return f"they keep rows of at most {most} numbers, and these have {width}"
    if max(Q.shape[-2], *V.shape[-2:]) > TILE * MOST_BLOCKS:
        return f"a grid ends at {TILE * MOST_BLOCKS:,} rows"
    if math.prod(Q.shape[:-2]) > MOST_BLOCKS:
        return f"a grid ends at {MOST_BLOCKS:,} heads"
    return ""


@cache
def _compiled(device: int, width: int) -> tuple[Any, str]:
    """The kernels for a device and a width, or in one line why there are none."""
    cupy = import_module("cupy")
    code = SOURCE.read_text(encoding="utf-8")
    try:
        module = cupy.RawModule(code=code, options=(*OPTIONS, f"-DWIDTH={width}"))
        module.compile()
    except Exception as error:  # no compiler, an old one, one that misses a file: many ways
        return None, f"they did not compile on device {device} ({one_line(error)})"
    return module, ""


_said: set[str] = set()


def _say_once(line: str) -> None:
    if line not in _said:
        _said.add(line)
        warnings.warn(line, RuntimeWarning, stacklevel=4)  # at the line that asked for attention
