"""Compare an answer with the right one: type, shape, data type, finiteness, then numbers."""

from typing import Any, Literal

import array_api_compat as compat
import numpy as np
from numpy.typing import NDArray

from .running import type_name
from .verdict import Wrong

AnyArray = NDArray[Any]
Kind = Literal["float", "bool"]


def as_array(result: Any, kind: Kind) -> AnyArray:
    """A returned array as a NumPy array of the wanted kind; anything else ends the check.

    Arrays of NumPy and of CuPy pass, in any floating-point type.  Lists, tuples, single numbers,
    tables and masked arrays do not.
    """
    if compat.is_cupy_array(result):
        result = result.get()
    _check_container(result)
    # A subclass would bring its own rules, and the next call may write into the same memory.
    array: AnyArray = np.array(result)
    if kind == "bool":
        _check_boolean(array)
    elif array.dtype.kind == "b" or array.dtype.kind in "iu":
        key = "returned_booleans" if array.dtype.kind == "b" else "returned_whole"
        raise Wrong(key, dtype=array.dtype)
    elif array.dtype.kind != "f":
        raise Wrong("returned_other_numbers", dtype=array.dtype)
    return array


def _check_container(result: Any) -> None:
    if isinstance(result, np.ma.MaskedArray):
        raise Wrong("returned_masked_array")
    if isinstance(result, np.matrix):
        raise Wrong("returned_matrix")
    if isinstance(result, tuple):
        raise Wrong("returned_tuple", count=len(result))
    if isinstance(result, list):
        raise Wrong("returned_list")
    if isinstance(result, (str, bytes, dict, set)) or callable(result):
        raise Wrong("returned_other", came=type_name(result))
    if isinstance(result, (bool, int, float, complex, np.generic)):
        raise Wrong("returned_number", came=type_name(result))
    if hasattr(result, "iloc") or hasattr(result, "to_numpy"):
        raise Wrong("returned_table", came=type_name(result))
    if not isinstance(result, np.ndarray):
        raise Wrong("returned_other", came=type_name(result))
    if result.dtype.kind == "O":
        raise Wrong("returned_objects")
    if result.ndim == 0:
        raise Wrong("returned_number", came=f"0-d {result.dtype}")


def _check_boolean(array: AnyArray) -> None:
    if array.dtype.kind == "b":
        return
    if array.dtype.kind == "f" and (np.isneginf(array).any() or (array < -1000).any()):
        raise Wrong("returned_additive", dtype=array.dtype)
    raise Wrong("returned_not_boolean", dtype=array.dtype)


def check_shape(array: AnyArray, wanted: AnyArray) -> None:
    """Refuse another shape, before anything could be stretched to fit."""
    if array.shape == wanted.shape:
        return
    came, want = str(array.shape), str(wanted.shape)
    if array.ndim >= 2 and array.shape == (*wanted.shape[:-2], *wanted.shape[:-3:-1]):
        raise Wrong("shape_transposed", came=came, wanted=want)
    raise Wrong("wrong_shape", came=came, wanted=want)


def close(array: AnyArray, wanted: AnyArray, *, nan_equal: bool = False) -> bool:
    """Whether two arrays agree but for rounding; NaN agrees with nothing unless asked."""
    if array.shape != wanted.shape:
        return False
    if array.dtype.kind == "b" or wanted.dtype.kind == "b":
        return array.dtype == wanted.dtype and bool((array == wanted).all())
    a, b = array.astype(np.float64), wanted.astype(np.float64)
    if not nan_equal and not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    return bool((~differing(array, wanted)).all())


def differing(array: AnyArray, wanted: AnyArray) -> NDArray[np.bool_]:
    """The places at which two arrays of one shape differ by more than rounding."""
    if array.dtype.kind == "b":
        different: NDArray[np.bool_] = array != wanted
        return different
    a, b = array.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    size = np.abs(b[np.isfinite(b)]).max(initial=1e-3)
    with np.errstate(all="ignore"):
        apart = np.where(finite, np.abs(a - b) > tolerance(array.dtype) * size, a != b)
    off: NDArray[np.bool_] = apart & ~(np.isnan(a) & np.isnan(b))
    return off


def tolerance(dtype: Any) -> float:
    """Rounding that is forgiven, as a share of the largest number."""
    return 2e-2 if dtype == np.float16 else 1e-5
