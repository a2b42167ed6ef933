"""Stands in for CuPy and a GPU: NumPy arrays that call themselves GPU arrays, kernels on the CPU.

Only what the wrapper of the kernels uses is here.  The arrays are of a class of their own, so that
a result that has lost its device is seen.
"""

import sys
import types
from contextlib import contextmanager

import numpy as np

from andrea_lesson.kernels import wrapper
from andrea_lesson.kernels.wrapper import Launch


class GpuArray(np.ndarray):
    """An array on a device; views and results of NumPy stay there."""

    def __array_finalize__(self, other):
        self.gpu = getattr(other, "gpu", None)

    @property
    def device(self):
        return self.gpu

    def get(self):
        return np.array(self)


class Device:
    def __init__(self, gpu, number):
        self.gpu, self.id = gpu, number

    def __enter__(self):
        self.gpu.stack.append(self.id)

    def __exit__(self, *error):
        self.gpu.stack.pop()


class FakeCupy(types.ModuleType):
    """The module; `modules` are kernels on the CPU, one for each width."""

    class ndarray:
        """What CuPy calls it; no array here is one, or NumPy could not play its part."""

    generic = ndarray

    def __init__(self, modules):
        super().__init__("cupy")
        self.host, self.stack, self.compiled, self.launched = modules, [], [], []
        self.problem = None  # what compiling ends in
        self.devices = [Device(self, number) for number in range(2)]

    def put(self, array, device=0):
        """An array as it would lie on the GPU, with the same strides."""
        result = np.asarray(array).view(GpuArray)
        result.gpu = self.devices[device]
        return result

    def _here(self, array):
        return self.put(array, self.stack[-1] if self.stack else 0)

    def empty(self, shape, dtype):
        return self._here(np.full(shape, 7, dtype=dtype))

    def asarray(self, array, dtype=None):
        return self._here(np.asarray(array, dtype=dtype))

    def ascontiguousarray(self, array, dtype=None):
        if isinstance(array, GpuArray):
            assert array.device.id == self.stack[-1], "an array of another device"
        return self._here(np.ascontiguousarray(array, dtype=dtype))

    def RawModule(self, *, code, options):
        return _Module(self, code, options)


class _Module:
    def __init__(self, cupy, code, options):
        self.cupy = cupy
        (self.width,) = [int(one[8:]) for one in options if one.startswith("-DWIDTH=")]

    def compile(self):
        self.cupy.compiled.append((self.cupy.stack[-1], self.width))
        if self.cupy.problem is not None:
            raise self.cupy.problem

    def get_function(self, name):
        def call(grid, block, arguments):
            """Launch on copies behind a fence, and copy what was written back."""
            host = self.cupy.host[self.width]
            self.cupy.launched.append(name)
            for one in arguments:
                if isinstance(one, GpuArray):
                    assert one.device.id == self.cupy.stack[-1], "an array of another device"
                    assert one.flags.c_contiguous
            fenced = [
                host.asarray(one) if isinstance(one, np.ndarray) else one for one in arguments
            ]
            host.launch(Launch(name, grid, block, tuple(fenced)))
            for one, copy in zip(arguments, fenced, strict=True):
                if isinstance(one, np.ndarray) and one.flags.writeable:
                    one[...] = copy

        return call


@contextmanager
def installed(monkeypatch, modules):
    """The wrapper takes `GpuArray` for CuPy's arrays and imports `FakeCupy` as CuPy."""
    cupy = FakeCupy(modules)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "cupy", cupy)
        patch.setattr(wrapper, "is_cupy_array", lambda array: isinstance(array, GpuArray))
        patch.setattr(wrapper, "_said", set())
        wrapper._compiled.cache_clear()
        yield cupy
    wrapper._compiled.cache_clear()
