"""attention.cu through NVIDIA's own compiler, for real cards, on a machine without one.

NVRTC is the library that CuPy compiles kernels with.  Its wheel (nvidia-cuda-nvrtc-cu12) needs no
driver; it is called by ctypes here, which spares the tests the three times larger wheel of CuPy.
"""

import ctypes
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib import util
from pathlib import Path

import pytest
from needs import unavailable

from andrea_lesson.kernels import wrapper

SOURCE = wrapper.SOURCE.read_text(encoding="utf-8")
KERNELS = set(re.findall(r"__global__ void\s+(?:__launch_bounds__\(\w+\)\s+)?(\w+)\(", SOURCE))
# Compute capabilities: Turing, Ampere, Ada, Hopper; None for the newest that the compiler knows.
CARDS = [(75, 32), (75, 64), (75, 128), (80, 32), (80, 64), (80, 128), (86, 64), (89, 64)]
CARDS += [(90, 32), (90, 64), (90, 128), (None, 32), (None, 64), (None, 128)]
# What CuPy adds to the options that it is given (cupy/cuda/compiler.py, versions 13 and 14).
OF_CUPY = ("-ftz=true", "--device-as-default-execution-space")
STATIC_SHARED = 48 * 1024  # bytes a block gets on every card
REGISTERS = 65_536  # of a multiprocessor, since Maxwell


@dataclass
class Kernel:
    registers: int
    shared: int
    spilled: int


@cache
def nvrtc():
    """The library, from whichever wheel brought it."""
    if sys.platform != "linux":
        pytest.skip("the wheel of NVRTC is looked for on Linux only")
    found = util.find_spec("nvidia")
    folders = [Path(folder) for folder in found.submodule_search_locations] if found else []
    libraries = [path for folder in folders for path in folder.glob("*/lib/libnvrtc.so.*")]
    if not libraries:
        unavailable("no wheel of NVRTC (nvidia-cuda-nvrtc-cu12) is installed")
    return ctypes.CDLL(str(sorted(libraries)[-1]))


def newest():
    count = ctypes.c_int()
    nvrtc().nvrtcGetNumSupportedArchs(ctypes.byref(count))
    cards = (ctypes.c_int * count.value)()
    nvrtc().nvrtcGetSupportedArchs(cards)
    return max(cards)


@cache
def compiled(source, card, *options):
    """Whether it compiled, and what the compiler said: about each kernel, if it did."""
    library, program = nvrtc(), ctypes.c_void_p()
    library.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), b"attention.cu", 0, None, None
    )
    words = [f"--gpu-architecture=sm_{card}", *wrapper.OPTIONS, *OF_CUPY, "--ptxas-options=-v"]
    words += options
    given = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    end = library.nvrtcCompileProgram(program, len(words), given)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    library.nvrtcDestroyProgram(ctypes.byref(program))
    assert end != 0 or size.value > 0, "no machine code"
    return end == 0, log.value.decode()


def kernels(log):
    """Registers, bytes of shared memory and of spilled registers, by kernel."""
    result = {}
    for name, words in re.findall(r"entry function '(\w+)'(.*?)(?=entry function|\Z)", log, re.S):
        shared = re.search(r"(\d+) bytes smem", words)
        result[name] = Kernel(
            registers=int(re.search(r"Used (\d+) registers", words)[1]),
            shared=int(shared[1]) if shared else 0,
            spilled=int(re.search(r"(\d+) bytes spill stores", words)[1]),
        )
    return result


@pytest.mark.parametrize(("card", "width"), CARDS)
def test_it_compiles_without_warning_and_fits(card, width):
    card = card or newest()
    fine, log = compiled(SOURCE, card, f"-DWIDTH={width}")
    assert fine, log
    assert "warning" not in log, log
    assert kernels(log).keys() == KERNELS
    for name, kernel in kernels(log).items():
        assert kernel.shared <= STATIC_SHARED, name
        threads = 256 if name.startswith(("rung1", "rung2")) else wrapper.THREADS
        assert kernel.registers * threads <= REGISTERS, name
        # A few bytes may lie in memory outside of the loops; a tile of sums may not.
        assert kernel.spilled <= 32, name


def test_the_head_start_of_the_benchmark_compiles_and_waits():
    """Its loop looks at the clock again and again: nothing of it is left out."""
    path = Path(__file__).resolve().parent.parent / "benchmarks" / "gpu.py"
    source = path.read_text(encoding="utf-8").partition('HEAD_START = """')[2].partition('"""')[0]
    fine, log = compiled(source, 75)
    assert fine, log
    assert "warning" not in log
    assert kernels(log).keys() == {"head_start"}
    _, empty = compiled(source.replace("clock64() - start < ticks", "false"), 75)
    assert kernels(log)["head_start"].registers > kernels(empty)["head_start"].registers


def test_the_source_is_plain_ascii():
    """CuPy writes it to a file in whatever encoding the machine has."""
    assert SOURCE.isascii()


def test_tiles_of_twice_the_size_would_not_fit():
    wide = SOURCE.replace("QUERIES = WIDTH <= 64 ? 64 : 32", "QUERIES = 128")
    assert wide != SOURCE
    _, log = compiled(wide, 80, "-DWIDTH=128")  # older compilers leave it to the driver to refuse
    assert kernels(log)["rung3_forward"].shared > STATIC_SHARED


def test_spilled_sums_would_be_seen():
    """Without its launch bounds the compiler must expect 1024 threads, and 64 registers each."""
    free = SOURCE.replace("__launch_bounds__(THREADS)", "")
    assert free != SOURCE
    fine, log = compiled(free, 80, "-DWIDTH=64", "--maxrregcount=40")
    assert fine, log
    assert kernels(log)["rung3_forward"].spilled > 32


@pytest.mark.parametrize(
    "fault",
    ["#include <cuda_fp16.h>\n", "#include <math.h>\n", "__global__ void f() { undeclared(); }\n"],
)
def test_a_header_or_an_error_would_be_seen(fault):
    """The headers of CUDA lie beside no compiler that comes in a wheel."""
    fine, log = compiled(fault + SOURCE, 80, "-DWIDTH=32")
    assert not fine
    assert "error" in log
