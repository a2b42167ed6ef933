"""Is there a GPU that really works?  CuPy's own word for it is not enough.

CuPy can be installed without a driver, fail while it is imported, raise when it is asked for
a GPU, or find one and then miss the compiler that its kernels need.  Nothing here raises and
nothing here installs.
"""

import ctypes
import re
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import TypeVar

Result = TypeVar("Result")

# CuPy's wheels, one for each major version of CUDA; CuPy 14 ended support for CUDA 11.
_WHEELS = {12: "cupy-cuda12x", 13: "cupy-cuda13x"}
COMPLETE = "[ctk]>=14"  # after a wheel's name: with what it needs of CUDA beside the driver


@dataclass(frozen=True)
class Gpu:
    """What a trial of CuPy gave: its version, the GPU's name, or the reason why there is none."""

    installed: bool
    works: bool
    version: str = ""
    name: str = ""
    reason: str = ""


def try_gpu() -> Gpu:
    """Try CuPy: import it, allocate, run one ufunc, one kernel of our own and one matrix product.

    Returns
    -------
    Gpu
        With `reason` in CuPy's own words where something failed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CuPy warns of several wheels; we say it ourselves
            cupy = import_module("cupy")
    except ModuleNotFoundError as error:
        if error.name == "cupy":
            return Gpu(installed=False, works=False)
        return Gpu(installed=True, works=False, reason=one_line(error))
    except (Exception, SystemExit) as error:  # a missing driver shows itself in many ways
        return Gpu(installed=True, works=False, reason=one_line(error))
    version = str(getattr(cupy, "__version__", "?"))
    try:
        if not cupy.cuda.is_available():
            return Gpu(installed=True, works=False, version=version)
        one = cupy.zeros(1, dtype="float32") + 1
        double = cupy.RawKernel(
            'extern "C" __global__ void twice(float* x) { x[0] *= 2; }', "twice"
        )
        double((1,), (1,), (one,))
        if float(one[0]) != 2:
            return Gpu(True, False, version, reason=f"1 + 1 = {float(one[0])}")
        square = cupy.ones((2, 2), dtype="float32")
        product = float((square @ square)[0, 0])  # by cuBLAS, which CuPy's wheel does not bring
        if product != 2:
            return Gpu(True, False, version, reason=f"1 · 1 + 1 · 1 = {product}")
        name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"]
    except (Exception, SystemExit) as error:
        return Gpu(installed=True, works=False, version=version, reason=one_line(error))
    return Gpu(True, True, version, name=name.decode() if isinstance(name, bytes) else str(name))


def run_and_free(work: Callable[[], Result]) -> Result:
    """Call it, then give back the memory of the GPU that CuPy would keep for later.

    Others may share the card, and a cell may be run again and again.

    Parameters
    ----------
    work : callable
        Whatever arrays it leaves behind stay.

    Returns
    -------
    object
        What it returns.

    Raises
    ------
    MemoryError
        By CuPy, with the bytes it wanted, where the card has not that much left.
    """
    try:
        return work()
    except BaseException as error:
        traceback.clear_frames(error.__traceback__)  # which hold arrays
        raise
    finally:
        import_module("cupy").get_default_memory_pool().free_all_blocks()


def cupy_wheels() -> list[str]:
    """Names of the CuPy packages in this environment; more than one is a fault."""
    names = {re.sub(r"[-_.]+", "-", _name_of(found)).lower() for found in metadata.distributions()}
    return sorted(name for name in names if re.fullmatch(r"cupy(-cuda\d+x?|-rocm-[\d-]+)?", name))


def _name_of(found: metadata.Distribution) -> str:
    try:
        return found.metadata["Name"] or ""
    except Exception:  # a damaged record, of any package
        return ""


def driver_cuda() -> int | None:
    """Newest major version of CUDA that the NVIDIA driver can serve, None without a driver."""
    for library in ("libcuda.so.1", "nvcuda.dll"):
        try:
            version = ctypes.c_int(0)
            if ctypes.CDLL(library).cuDriverGetVersion(ctypes.byref(version)) == 0:
                return version.value // 1000 or None
        except (OSError, AttributeError):
            continue
    return None


def fitting_wheel(cuda: int | None) -> str | None:
    """The CuPy wheel for a driver; None if the driver is missing or too old for all of them."""
    if cuda is None or cuda < min(_WHEELS):
        return None
    return _WHEELS[min(cuda, max(_WHEELS))]


def one_line(error: BaseException) -> str:
    """What an exception says: its type and the first line of its words."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__
