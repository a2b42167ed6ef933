"""The kernels of attention.cu on the CPU: compiled by g++ with cuda_on_cpu.h, called by ctypes.

`HostModule` carries out a plan of the wrapper as CuPy would.  Each barrier and each bound of the
source gets a number, and `leave_out(number)` runs the kernels without it; so do each question to
the mask, each vote, the last round of each loop over numbers, and the first and last tile that a
causal mask leaves.  The numbers are given to whatever the source has, so a new barrier is covered
at once.
"""

import ctypes
import re
import shutil
import subprocess
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from needs import unavailable

from andrea_lesson.kernels import wrapper

HEADER = Path(__file__).with_name("cuda_on_cpu.h")
# what the header calls the C types, and the NumPy types that must come for them
SCALARS = {"1": np.float32, "3": np.int64, "4": np.int32}
ARRAYS = {"f": np.float32, "b": np.bool_, "l": np.int64, "i": np.int32}

FOR = re.compile(r"\bfor \([^;]*;[^;]*;[^)]*\)")
VOTE = re.compile(r"__syncthreads_or\((\w+)\)")
LEFT_OUT = "(broken == {n} || {0})"
# By kind: what is changed, and into what where place {n} is left out.
CHANGES = {
    "barrier": (re.compile(r"__syncthreads\(\)"), "if (broken != {n}) {0}"),
    "barrier of a vote": (VOTE, "(broken == {n} ? int({1}) : {0})"),
    "vote": (VOTE, "(broken == {n} ? (__syncthreads(), int({1})) : {0})"),
    "bound": (re.compile(r"\b\w+ < (?:T_q|T_k|T|d_k|d_v|d|rows)\b"), LEFT_OUT),
    "mask": (re.compile(r"\bsees\(mask, i, j\)|(?<=if \()seen\[y\]\[n\]"), LEFT_OUT),
    # loops over numbers, not over tiles, of which one too many does no harm: one step too far
    "last step": (
        re.compile(r"(?<=; )\w+ < (?:T_q|T_k|d_k|d_v)(?=; (?:\+\+\w+|\w+ \+= 32)\))"),
        "{0} + (broken == {n})",
    ),
    # of those that a causal mask leaves over
    "last tile": (
        re.compile(r"\bfirst_query \+ (?:QUERIES|SIDE) \+ mask\.ahead"),
        "{0} - (broken == {n})",
    ),
    "first tile": (re.compile(r"(?<=\()first_key - mask\.ahead"), "{0} + (broken == {n})"),
}


@dataclass(frozen=True)
class Place:
    """A barrier or bound of the source."""

    number: int
    line: int
    kind: str
    text: str

    def __str__(self):
        return f"line {self.line}, {self.kind}: {self.text}"


def places(source):
    """All that can be left out, and the source in which each can be."""
    code = "\n".join(line.partition("//")[0] for line in source.split("\n"))
    loops = [found.span() for found in FOR.finditer(code)]
    found = [(one, kind) for kind, (part, _) in CHANGES.items() for one in part.finditer(code)]
    found = [
        (one, kind)
        for one, kind in found
        if kind != "bound" or not any(a <= one.start() < b for a, b in loops)
    ]
    found.sort(key=lambda one: one[0].start())
    numbered, parts, end = [], [], 0
    for number, (one, kind) in enumerate(found, 1):
        numbered.append(Place(number, code.count("\n", 0, one.start()) + 1, kind, one[0]))
        text = one[0]
        if one.start() < end:  # a second way to leave out the same
            text = parts.pop()
        change = CHANGES[kind][1].format(text, *one.groups(), n=number)
        parts += [change] if one.start() < end else [code[end : one.start()], change]
        end = max(end, one.end())
    return numbered, "".join([*parts, code[end:]])


def compile_source(source, folder, width, options=("-O1",)):
    """A shared library with all kernels of a source."""
    names = re.findall(r"__global__ void\s+(?:__launch_bounds__\(\w+\)\s+)?(\w+)\(", source)
    assert len(names) == source.count("__global__ "), "a kernel was not found"
    table = "on_cpu::Kernel kernels[] = {" + "".join(f"KERNEL({name})" for name in names) + "{}};"
    program = folder / f"kernels_{width}.cpp"
    library = program.with_suffix(".so")
    text = (
        f'#define WIDTH {width}\n#include "{HEADER}"\n#line 1 "attention.cu"\n{source}\n{table}\n'
    )
    program.write_text(text, encoding="utf-8")
    command = ["g++", "-std=c++17", "-shared", "-fPIC", *options, "-fno-strict-aliasing"]
    command += ["-fsanitize=bounds", "-fsanitize-undefined-trap-on-error", "-U_FORTIFY_SOURCE"]
    command += ["-fno-gnu-unique", "-Wall", "-Wno-unknown-pragmas", "-Wno-unused"]
    end = subprocess.run([*command, program, "-o", library], capture_output=True, encoding="utf-8")
    assert end.returncode == 0, end.stderr
    assert not end.stderr, end.stderr
    return library


def compile_kernels(folder):
    """The kernels of attention.cu for each width; barriers and bounds can be left out."""
    if shutil.which("g++") is None:
        unavailable("no g++ is here to compile the CUDA kernels for the CPU")
    _, source = places(wrapper.SOURCE.read_text(encoding="utf-8"))
    with ThreadPoolExecutor(2) as pool:
        libraries = pool.map(partial(compile_source, source, folder), wrapper.WIDTHS)
        return dict(zip(wrapper.WIDTHS, map(HostModule, libraries), strict=True))


class Fault(Exception):
    """A kernel did what no kernel may do."""


class HostModule:
    """Kernels that were compiled for the CPU, and memory with a fence around each array."""

    def __init__(self, library):
        self.library = ctypes.CDLL(str(library))
        self.library.launch.restype = self.library.types_of.restype = ctypes.c_char_p
        self.library.fenced.restype = ctypes.c_void_p
        self.library.barriers_passed.restype = ctypes.c_long
        self.order = 0
        self.sizes = {}

    @property
    def barriers(self):
        return self.library.barriers_passed()

    def leave_out(self, number):
        ctypes.c_int.in_dll(self.library, "broken").value = number

    # -- what a plan wants of its array library

    def empty(self, shape, dtype):
        """An array of NaN, or of True, in memory that ends where the fence begins."""
        dtype, shape = np.dtype(dtype), tuple(np.atleast_1d(shape).tolist())
        size = int(np.prod(shape)) * dtype.itemsize
        start = self.library.fenced(ctypes.c_size_t(size))
        buffer = (ctypes.c_char * size).from_address(start)
        weakref.finalize(
            buffer, self.library.release_fenced, ctypes.c_void_p(start), ctypes.c_size_t(size)
        )
        self.sizes[start] = size
        return np.frombuffer(buffer, dtype=dtype).reshape(shape)

    def asarray(self, array, dtype=None):
        array = np.asarray(array, dtype=dtype)
        copy = self.empty(array.shape, array.dtype)
        copy[...] = array
        return copy

    ascontiguousarray = asarray

    # -- what a plan wants of a module of kernels

    def run(self, plan):
        for launch in plan.launches:
            self.launch(launch)
        return plan.results

    def launch(self, launch):
        types = self.library.types_of(launch.kernel.encode())
        assert types, f"no kernel {launch.kernel}"
        types = types.decode()
        assert len(types) == len(launch.arguments), f"{launch.kernel} takes {len(types)} arguments"
        holders, arrays = [], []
        for position, (kind, value) in enumerate(zip(types, launch.arguments, strict=True)):
            where = f"argument {position} of {launch.kernel}"
            if kind in SCALARS:
                assert type(value) is SCALARS[kind], f"{where} is {type(value).__name__}"
                holders.append(np.array(value))
                continue
            if isinstance(value, np.ndarray):
                assert value.dtype == ARRAYS[kind.lower()], f"{where} holds {value.dtype}"
                assert value.flags.c_contiguous, f"{where} is not contiguous"
                arrays.append((value, kind.isupper()))
                value = value.ctypes.data
            else:
                assert type(value) is np.uintp, f"{where} is {type(value).__name__}"
                assert value == 0, f"{where} is no array"
            holders.append(np.array(value, dtype=np.uintp))
        for array, writable in arrays:
            self._protect(array, writable)
        pointers = (ctypes.c_void_p * len(holders))(*(one.ctypes.data for one in holders))
        axes = ctypes.c_uint * 3
        fault = self.library.launch(
            launch.kernel.encode(), axes(*launch.grid), axes(*launch.block), pointers, self.order
        )
        for array, _ in arrays:
            self._protect(array, True)
        if fault:
            raise Fault(f"{launch.kernel}: {fault.decode()}")
        for array, _ in arrays:
            start = ctypes.c_void_p(array.ctypes.data)
            if not self.library.untouched(start, ctypes.c_size_t(array.nbytes)):
                raise Fault(f"{launch.kernel}: wrote before the start of an array")

    def _protect(self, array, writable):
        start, size = array.ctypes.data, array.nbytes
        assert self.sizes.get(start) == size, "an array without a fence"
        self.library.protect(ctypes.c_void_p(start), ctypes.c_size_t(size), int(writable))


def forward(module, Q, K, V, mask, scale, rung):
    """The output of a rung, and log_sum_exp from rung 3."""
    Q, K, V = (module.asarray(array, np.float32) for array in (Q, K, V))
    plan = wrapper.plan_forward(module, Q, K, V, mask=mask, scale=scale, rung=rung)
    return [np.array(result) for result in module.run(plan)]


def matrix_steps(module, Q, K, V, mask, scale, rung, hidden):
    """Scores, weights and output, each as one of the first two rungs leaves it behind.

    What is hidden becomes infinite or NaN after each step: the next must not look at it.
    """
    Q, K, V = (module.asarray(array, np.float32) for array in (Q, K, V))
    plan = wrapper.plan_forward(module, Q, K, V, mask=mask, scale=scale, rung=rung)
    steps = []
    for launch, spoilt in zip(plan.launches, (np.inf, np.nan, None), strict=True):
        module.launch(launch)
        result = launch.arguments[0]
        steps.append(np.array(result))
        if spoilt is not None:
            result[hidden] = spoilt
    return steps


def backward(module, Q, K, V, dO, mask, scale):
    """dQ, dK and dV of rung 4."""
    Q, K, V, dO = (module.asarray(array, np.float32) for array in (Q, K, V, dO))
    plan = wrapper.plan_backward(module, Q, K, V, dO, mask=mask, scale=scale)
    return [np.array(result) for result in module.run(plan)]
