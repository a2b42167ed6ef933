"""Checks that stand before the algebra, so that the algebra can stay short.

Anything that cannot be right is refused in one sentence that names the argument, what came and
what is wanted.  Nothing that comes in is ever changed.
"""

import math
from numbers import Integral, Real
from typing import Any

import array_api_compat as compat
import numpy as np
from numpy.typing import NDArray

from .masks import causal_mask

# An array of NumPy, CuPy or any library that follows the Python array API standard.
Array = Any
_HALF, _SINGLE, _DOUBLE = "float16", "float32", "float64"


def float_arrays(**named: Any) -> tuple[Any, list[Array]]:
    """Bring the arguments to floating-point arrays of one library, device and type.

    Parameters
    ----------
    **named : array_like
        The arguments by name.  Lists, integers and booleans become float64; mixed types
        promote as NumPy does.

    Returns
    -------
    xp : module
        The array module of the arguments, NumPy or another.
    arrays : list of arrays
        In the order given.

    Raises
    ------
    TypeError
        If an argument holds no real numbers, or the arguments live in different libraries.
    ValueError
        If nested lists are ragged, or the arguments live on different devices.
    """
    arrays = [_as_array(name, value, of="real numbers") for name, value in named.items()]
    names = list(named)
    first = arrays[0]
    for name, array in zip(names, arrays, strict=True):
        if _library(array) != _library(first):
            raise TypeError(
                f"{names[0]} and {name} must be arrays of one library; "
                f"got {_library(first)} and {_library(array)}."
            )
        if compat.device(array) != compat.device(first):
            raise ValueError(
                f"{names[0]} and {name} must be on one device; "
                f"got {compat.device(first)} and {compat.device(array)}."
            )
    xp = compat.array_namespace(*arrays)
    floats = [_as_float(xp, name, array) for name, array in zip(names, arrays, strict=True)]
    dtype = xp.result_type(*floats)
    return xp, [xp.astype(array, dtype, copy=False) for array in floats]


def working_type(xp: Any, dtype: Any) -> Any:
    """The type to compute in: float32 for float16, whose range ends at 65,504; else itself."""
    return xp.float32 if _type_name(dtype) == _HALF else dtype


def check_attention_shapes(Q: Array, K: Array, V: Array | None = None) -> None:
    """Refuse shapes that do not belong together.

    Parameters
    ----------
    Q, K : array, shape (..., T_q, d_k), (..., T_k, d_k)
    V : array, shape (..., T_k, d_v), or None

    Raises
    ------
    ValueError
        Naming the argument and the shapes.
    """
    given = {"Q": Q, "K": K} | ({} if V is None else {"V": V})
    for name, array in given.items():
        if array.ndim < 2:
            raise ValueError(
                f"{name} must have at least two axes, (..., T, width); got shape {array.shape}."
            )
        if array.shape[:-2] != Q.shape[:-2]:
            raise ValueError(
                f"{name} must have the leading axes of Q, {Q.shape[:-2]}; got shape {array.shape}."
            )
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            f"Q and K must have the same width d_k in their last axis; "
            f"got {Q.shape[-1]} and {K.shape[-1]}."
        )
    if Q.shape[-1] == 0:
        raise ValueError("Q and K must have a width d_k of at least 1; got 0.")
    if V is not None and V.shape[-2] != K.shape[-2]:
        raise ValueError(
            f"V must have a row for each of the {K.shape[-2]} keys of K; got {V.shape[-2]} rows."
        )


def check_gradient_shape(dO: Array, Q: Array, V: Array) -> None:
    """Refuse a gradient that has not the shape of the output.

    Parameters
    ----------
    dO : array, shape (..., T_q, d_v)
    Q, V : array, shape (..., T_q, d_k), (..., T_k, d_v)

    Raises
    ------
    ValueError
    """
    output = (*Q.shape[:-1], V.shape[-1])
    if dO.shape != output:
        raise ValueError(f"dO must have the shape of the output, {output}; got shape {dO.shape}.")


def check_scale(scale: Any, d_k: int) -> float:
    """The factor on the scores as a Python float; 1/√d_k when none is given.

    A NumPy float64 here would turn float32 scores into float64.

    Parameters
    ----------
    scale : real number or None
    d_k : int
        Width of queries and keys.

    Raises
    ------
    TypeError, ValueError
        If `scale` is not a real number, or not finite.
    """
    if scale is None:
        return 1 / math.sqrt(d_k)
    return check_real("scale", scale)


def check_real(name: str, value: Any) -> float:
    """A finite real number as a Python float.

    Parameters
    ----------
    name : str
        The argument to blame.
    value : real number

    Raises
    ------
    TypeError, ValueError
        If `value` is not a real number, or not finite.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number; got {type(value).__name__}.")
    try:
        number = float(value)
    except OverflowError:  # a whole number too large for a float
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite; got {number}.")
    return number


def check_axis(axis: Any, ndim: int) -> int:
    """The axis of softmax as a Python int.

    Parameters
    ----------
    axis : int
    ndim : int
        Number of axes of the scores.

    Raises
    ------
    TypeError, ValueError
        If `axis` is not a whole number, or there is no such axis.
    """
    if isinstance(axis, (bool, np.bool_)) or not isinstance(axis, Integral):
        raise TypeError(f"axis must be a whole number; got {type(axis).__name__}.")
    number = int(axis)
    if not -ndim <= number < ndim:
        raise ValueError(f"axis must be one of the {ndim} axes of scores; got {number}.")
    return number


def check_mask(xp: Any, mask: Any, scores: Array) -> Array | None:
    """The mask as a boolean array on the device of the scores; None where all is allowed.

    Parameters
    ----------
    xp : module
    mask : None, "causal", or array_like of bool
        True = may attend.  Shape (T_q, T_k), or as many axes as the scores, where axes of
        length 1 stretch.
    scores : array, shape (..., T_q, T_k)

    Raises
    ------
    TypeError
        If the mask is neither boolean nor "causal".
    ValueError
        If its shape does not fit.
    """
    if mask is None:
        return None
    T_q, T_k = scores.shape[-2:]
    if isinstance(mask, str):
        if mask != "causal":
            raise ValueError(
                f'mask must be None, "causal" or a boolean array (True = may attend); got "{mask}".'
            )
        mask = causal_mask(T_q, T_k)
    mask = _as_array("mask", mask, of="booleans")
    if _type_name(mask.dtype) != "bool":
        raise TypeError(
            f"mask must hold booleans, True = may attend; got dtype {_type_name(mask.dtype)} "
            f"(numbers could mean either: write mask > 0, or mask == 0)."
        )
    fits = mask.shape == (T_q, T_k) or (
        mask.ndim == scores.ndim
        and all(m in (1, s) for m, s in zip(mask.shape, scores.shape, strict=True))
    )
    if not fits:
        raise ValueError(
            f"mask must have shape ({T_q}, {T_k}), or {scores.ndim} axes that are 1 or those "
            f"of the scores {tuple(scores.shape)}; got shape {tuple(mask.shape)}."
        )
    device = compat.device(scores)
    if _library(mask) == "numpy":
        return xp.asarray(mask, device=device)
    if _library(mask) != _library(scores):
        raise TypeError(
            f"mask must be an array of the library of Q, {_library(scores)}, or of NumPy; "
            f"got one of {_library(mask)}."
        )
    return compat.to_device(mask, device)


def check_large_mask(xp: Any, mask: Any, Q: Array, K: Array) -> Any:
    """The same where the T_q × T_k matrix is not wanted: "causal" stays a word.

    Parameters
    ----------
    xp : module
    mask : None, "causal", or array_like of bool
    Q, K : array, shape (..., T_q, d_k), (..., T_k, d_k)

    Returns
    -------
    None, "causal", or array of bool
        With as many axes as given.

    Raises
    ------
    TypeError, ValueError
        As :func:`check_mask`.
    """
    if isinstance(mask, str) and mask == "causal":
        return mask
    nothing = xp.zeros((), dtype=Q.dtype, device=compat.device(Q))
    return check_mask(xp, mask, xp.broadcast_to(nothing, (*Q.shape[:-1], K.shape[-2])))


def plain_numbers(name: str, value: Any, axes: int, *, more: bool = False) -> NDArray[np.floating]:
    """Check an argument and bring it to a NumPy array with so many axes, or more."""
    _, (array,) = float_arrays(**{name: value})
    if array.ndim < axes or (array.ndim > axes and not more):
        wanted = f"{'at least' if more else 'exactly'} {axes} {'axis' if axes == 1 else 'axes'}"
        raise ValueError(f"{name} must have {wanted}; got shape {tuple(array.shape)}.")
    return np.asarray(array)


def allowed_cells(mask: Any, scores: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Check a mask as attention does, and stretch it to the shape of the scores."""
    allowed = check_mask(np, mask, scores)
    return np.broadcast_to(True if allowed is None else allowed, scores.shape)


def _as_array(name: str, value: Any, *, of: str) -> Array:
    if compat.is_array_api_obj(value) and not isinstance(
        value, (np.matrix, np.generic, np.ma.MaskedArray)
    ):
        return value
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(
            f"{name} must be a rectangular array of {of}; got rows of unequal length."
        ) from None
    except Exception:  # such as a list of CuPy arrays: the sentence below says it better
        array = np.asarray(None)
    if _holds_masked(value):
        raise TypeError(
            f"{name} must be a plain array; got a masked array, whose mask would be lost "
            f"(hide keys by mask=, True = may attend)."
        )
    if array.dtype.kind == "O" and not isinstance(value, np.ndarray):
        other = " with something else in it" if isinstance(value, (list, tuple)) else ""
        raise TypeError(
            f"{name} must be an array or nested lists of {of}; got {type(value).__name__}{other}."
        )
    return array


def _holds_masked(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_masked, value))
    return isinstance(value, np.ma.MaskedArray)


def _as_float(xp: Any, name: str, array: Array) -> Array:
    if _type_name(array.dtype) in (_HALF, _SINGLE, _DOUBLE):
        return array
    if _type_name(array.dtype).rstrip("0123456789") in ("bool", "int", "uint"):
        return xp.astype(array, xp.float64)
    raise TypeError(
        f"{name} must hold real numbers (float16, float32, float64, integers or booleans); "
        f"got dtype {_type_name(array.dtype)}."
    )


def _library(array: Array) -> str:
    """Name of the library that an array belongs to: numpy, cupy, …"""
    if compat.is_numpy_array(array):
        return "numpy"
    return type(array).__module__.partition(".")[0]


def _type_name(dtype: Any) -> str:
    """Name of a dtype without its library: float32, not torch.float32."""
    return getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]
