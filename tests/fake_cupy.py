"""Stands in for CuPy and two GPUs: NumPy's functions on arrays of its own, kernels on the CPU.

It is no kinder than CuPy, and in places less kind:

* its arrays are none of NumPy's, turn into none by themselves and mix with none;
* whatever is done with an array is done under the device it lies on;
* a kernel gets its arguments as CuPy hands them on: a Python number as 64 bits, an array of NumPy
  by value or not at all; the kernels on the CPU then ask for the very C types;
* a device tells of itself what CuPy lists, and no more (no compute capability among the
  attributes), and an array what CuPy's arrays tell (no `flags.writeable`).

`installed` puts it in CuPy's place for a test, `pytest -p fake_cupy` for a whole run.
"""

import sys
import types
from contextlib import contextmanager

import array_api_compat
import numpy as np
from array_api_compat.common import _helpers

from andrea_lesson.kernels import wrapper
from andrea_lesson.kernels.wrapper import Launch

TWO_SIDED = ("add", "sub", "mul", "truediv", "mod", "pow", "matmul", "and", "or", "xor")
ONE_SIDED = ("lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "abs", "invert")
OPERATORS = [f"__{side}{name}__" for name in TWO_SIDED for side in ("", "r")]
OPERATORS += [f"__{name}__" for name in ONE_SIDED]
FROM_NUMPY = {"asarray", "array", "ascontiguousarray"}  # what takes arrays of NumPy
VIEWS = {"result_type", "broadcast_to", "swapaxes"}  # what only looks at types and shapes
# Made up, and not those of any card: 2 multiprocessors at 1 GHz, 64 bits at 3 GHz.
ATTRIBUTES = {
    "MultiProcessorCount": 2,
    "ClockRate": 1_000_000,
    "MemoryClockRate": 3_000_000,
    "GlobalMemoryBusWidth": 64,
    "WarpSize": 32,
}


class ndarray:
    """Numbers on a device."""

    __module__ = "cupy"
    __array_ufunc__ = None  # NumPy's functions and operators leave it alone
    __hash__ = None

    def __init__(self, cupy, values, device):
        self._cupy, self._values, self.device = cupy, values, device

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def get(self):
        return np.array(self._values)

    @property
    def flags(self):
        of = self._values.flags
        return types.SimpleNamespace(c_contiguous=of.c_contiguous, f_contiguous=of.f_contiguous)

    def astype(self, dtype, order="K", casting=None, subok=None, copy=True):
        assert casting is None, "CuPy casts in one way"
        assert subok is None
        if not copy and self.dtype == dtype:
            return self
        return self._cupy.apply(self._values.astype, (dtype, order), {}, (self,))

    def __getattr__(self, name):
        if name.startswith("_") or name in ("ctypes", "tolist"):
            raise AttributeError(name)
        found = getattr(self._values, name)
        if callable(found):
            return lambda *given, **named: self._cupy.apply(found, given, named, (self,))
        return self._cupy.wrapped(found, self.device) if isinstance(found, np.ndarray) else found

    def __getitem__(self, place):
        place = self._cupy.bare(place)
        return self._cupy.wrapped(np.asarray(self._values[place]), self.device)

    def __setitem__(self, place, value):
        self._values[self._cupy.bare(place)] = self._cupy.bare(value)

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return (self[n] for n in range(len(self)))

    def __bool__(self):
        return bool(self._values)

    def __float__(self):
        return float(self._values)

    def __int__(self):
        return int(self._values)


def _operator(name):
    def run(self, *others):
        if any(isinstance(other, np.ndarray) for other in others):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        return self._cupy.apply(getattr(self._values, name), others, {}, (self,))

    return run


def replaced(given, device):
    return ndarray(given._cupy, given._values, device) if isinstance(given, ndarray) else given


for _name in OPERATORS:
    setattr(ndarray, _name, _operator(_name))


class Device:
    """One of two; each stand-in has a class of its own."""

    cupy = None
    compute_capability = "80"

    def __init__(self, device=None):
        self.id = self.cupy.current if device is None else getattr(device, "id", device)

    def __enter__(self):
        self.cupy.stack.append(self.id)
        return self

    def __exit__(self, *error):
        self.cupy.stack.pop()

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    __hash__ = None

    def __repr__(self):
        return f"<CUDA Device {self.id}>"

    @property
    def attributes(self):
        return dict(self.cupy.attributes)


class Event:
    """A made-up clock: each call takes a millisecond."""

    now = 0.0

    def record(self):
        Event.now += 1.0
        self.time = Event.now

    def synchronize(self):
        pass


class OutOfMemoryError(MemoryError):
    pass


class Pool:
    """How often it was told to give back what nobody uses is counted."""

    freed = 0

    def used_bytes(self):
        return 0

    total_bytes = used_bytes

    def free_all_blocks(self):
        self.freed += 1


class FakeCupy(types.ModuleType):
    """The module; `modules` are kernels on the CPU, one for each width."""

    ndarray = ndarray
    generic = np.generic
    __version__ = "0"

    def __init__(self, modules):
        super().__init__("cupy")
        self.__all__ = [name for name in dir(np) if not name.startswith("_")]
        self.host, self.stack, self.compiled, self.launched = modules, [], [], []
        self.problem = None  # what compiling ends in
        self.attributes = ATTRIBUTES
        self.Device = type("Device", (Device,), {"cupy": self})
        self.linalg = self._module("cupy.linalg", np.linalg)
        self.fft = self._module("cupy.fft", np.fft)
        self.pool = Pool()
        stream = types.SimpleNamespace(synchronize=lambda: None)
        self.cuda = types.ModuleType("cupy.cuda")
        self.cuda.device = types.ModuleType("cupy.cuda.device")
        self.cuda.device.Device = self.Device
        vars(self.cuda).update(
            Device=self.Device,
            Event=Event,
            get_elapsed_time=lambda start, end: end.time - start.time,
            get_current_stream=lambda: stream,
            is_available=lambda: True,
            memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            runtime=types.SimpleNamespace(
                getDeviceCount=lambda: 2,
                getDeviceProperties=lambda number: {"name": b"made up"},
                driverGetVersion=lambda: 12000,
                runtimeGetVersion=lambda: 12000,
            ),
        )

    # -- arrays

    @property
    def current(self):
        return self.stack[-1] if self.stack else 0

    @property
    def here(self):
        return self.Device()

    def put(self, array, device=0):
        """An array as it would lie on the GPU, with the same strides."""
        return ndarray(self, np.asarray(array), self.Device(device))

    def wrapped(self, found, device=None):
        if isinstance(found, (tuple, list)):
            return type(found)(self.wrapped(one, device) for one in found)
        if isinstance(found, (np.ndarray, np.generic)):
            return ndarray(self, np.asarray(found), device or self.here)
        return found

    def bare(self, given):
        if isinstance(given, (tuple, list)):
            return type(given)(map(self.bare, given))
        if isinstance(given, np.ndarray):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        if not isinstance(given, ndarray):
            return given
        if given.device != self.here:
            raise ValueError(f"an array of {given.device} under {self.here}")
        return given._values

    def apply(self, function, given, named, arrays=()):
        """NumPy's function on the numbers of these arrays."""
        self.bare(list(arrays))
        named = {key: self.bare(value) for key, value in named.items()}
        return self.wrapped(function(*map(self.bare, given), **named))

    def _module(self, name, numpy):
        module = types.ModuleType(name)
        for key in numpy.__all__:
            setattr(module, key, self._function(key, getattr(numpy, key)))
        return module

    def _function(self, name, numpy):
        if not callable(numpy) or isinstance(numpy, type):
            return numpy
        if name in VIEWS:
            return lambda *given, **named: self._view(numpy, given, named)
        return lambda *given, **named: self.apply(numpy, given, named)

    def _view(self, numpy, given, named):
        arrays = [one for one in given if isinstance(one, ndarray)]
        device = arrays[0].device if arrays else self.here
        with device:
            return self.apply(numpy, [replaced(one, device) for one in given], named)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(np, name)
        if name not in FROM_NUMPY:
            return self._function(name, found)

        def take(array, *given, **named):
            array = array if isinstance(array, np.ndarray) else self.bare(array)
            return self.apply(lambda: np.array(found(array, *given, **named), copy=None), (), {})

        return take

    def asnumpy(self, array):
        return array.get() if isinstance(array, ndarray) else np.asarray(array)

    def empty(self, shape, dtype=float):
        """Whatever lies in memory."""
        value = np.nan if np.dtype(dtype).kind == "f" else 7
        return self.wrapped(np.full(shape, value, dtype=dtype))

    def get_default_memory_pool(self):
        return self.pool

    # -- kernels

    def RawModule(self, *, code, options=()):
        assert type(code) is str
        assert type(options) is tuple
        return _Module(self, options)

    def RawKernel(self, code, name, options=()):
        """One that is not of attention.cu: it gets its arguments and does nothing, or doubles."""
        assert f" {name}(" in code

        def call(grid, block, arguments):
            arguments = self.as_arguments(grid, block, arguments)
            if name == "twice":
                arguments[0]._values *= 2

        return call

    def as_arguments(self, grid, block, arguments):
        """What CuPy makes of the arguments of a kernel."""
        assert type(grid) is type(block) is tuple
        assert all(type(size) is int for size in (*grid, *block))
        return [self._argument(one) for one in arguments]

    def _argument(self, one):
        if isinstance(one, ndarray):
            self.bare(one)
            return one
        if one is None:
            return np.uintp(0)
        if isinstance(one, np.ndarray):
            if one.size != 1:
                raise TypeError("You are trying to pass a numpy.ndarray as a kernel parameter.")
            return one.reshape(())[()]
        if not isinstance(one, np.generic):
            return {bool: np.bool_, int: np.int64, float: np.float64}[type(one)](one)
        return one


class _Module:
    def __init__(self, cupy, options):
        self.cupy = cupy
        (self.width,) = [int(one[8:]) for one in options if one.startswith("-DWIDTH=")]

    def compile(self):
        self.cupy.compiled.append((self.cupy.here.id, self.width))
        if self.cupy.problem is not None:
            raise self.cupy.problem

    def get_function(self, name):
        host = self.cupy.host[self.width]
        if not host.library.types_of(name.encode()):
            raise RuntimeError("CUDA_ERROR_NOT_FOUND: named symbol not found")

        def call(grid, block, arguments):
            """Launch on copies behind a fence, and copy what was written back."""
            given = self.cupy.as_arguments(grid, block, arguments)
            self.cupy.launched.append(name)
            fenced = []
            for one in given:
                if isinstance(one, ndarray):
                    assert one.flags.c_contiguous
                    one = host.asarray(one._values)
                fenced.append(one)
            host.launch(Launch(name, grid, block, tuple(fenced)))
            for one, copy in zip(given, fenced, strict=True):
                if isinstance(one, ndarray) and one._values.flags.writeable:
                    one._values[...] = copy

        return call


def _forget():
    """Whatever was concluded from the CuPy that was there."""
    for name in [name for name in sys.modules if name.startswith("array_api_compat.cupy")]:
        del sys.modules[name]
    vars(array_api_compat).pop("cupy", None)
    for function in vars(_helpers).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    wrapper._compiled.cache_clear()


def _modules(cupy):
    parts = (cupy, cupy.linalg, cupy.fft, cupy.cuda, cupy.cuda.device)
    return {part.__name__: part for part in parts}


@contextmanager
def installed(monkeypatch, modules):
    """`FakeCupy` is what is imported as CuPy."""
    cupy = FakeCupy(modules)
    _forget()
    with monkeypatch.context() as patch:
        for name, module in _modules(cupy).items():
            patch.setitem(sys.modules, name, module)
        patch.setattr(wrapper, "_said", set())
        yield cupy
    _forget()


def pytest_configure(config):
    """For a run with `-p fake_cupy`: no test of it sees another CuPy."""
    import tempfile
    from pathlib import Path

    import kernels_on_cpu

    folder = tempfile.TemporaryDirectory()
    config.add_cleanup(folder.cleanup)
    sys.modules.update(_modules(FakeCupy(kernels_on_cpu.compile_kernels(Path(folder.name)))))
    _forget()
