"""How long something takes: warm up, repeat, take the median, say on what it ran.

One run alone tells little: the first has to fetch code and memory, and any may be disturbed by
whatever else the machine does.  The median passes over both; the smallest time is what the
machine can do when it is left in peace.  A GPU works on after a call has returned, so the clock
is stopped only when it has finished.
"""

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter, sleep
from typing import Any

import numpy as np

from .costs import Cost
from .inputs import check_real
from .labels import label
from .machine import Device, cupy_of, device_of
from .masks import check_whole
from .scaled_dot_product import attention


@dataclass(frozen=True)
class Timing:
    """Times of several runs of one function.

    Attributes
    ----------
    name : str
        Of the function.
    times : tuple of float
        Seconds, in the order of the runs, those to warm up left out.
    peak_bytes : int or None
        Most memory in use beyond what was before, the result included; None if it was not asked
        for, or lies on a GPU, where Python does not see it.
    ran_on : Device
    """

    name: str
    times: tuple[float, ...]
    peak_bytes: int | None
    ran_on: Device

    @property
    def median(self) -> float:
        """Seconds that half of the runs did not need."""
        return median(self.times)

    @property
    def smallest(self) -> float:
        """Seconds of the fastest run."""
        return min(self.times)

    @property
    def device(self) -> str:
        """What it ran on, in words of the current language."""
        return str(self.ran_on)

    @property
    def sentence(self) -> str:
        """Say it all in one sentence of the current language."""
        return label(
            "timing_sentence" if self.peak_bytes is None else "timing_sentence_memory",
            name=self.name,
            repeats=len(self.times),
            median=duration(self.median),
            smallest=duration(self.smallest),
            device=self.device,
            memory=memory_size(self.peak_bytes or 0),
        )

    def __str__(self) -> str:
        return self.sentence


def measure(
    function: Callable[..., Any],
    *arguments: Any,
    repeats: int = 7,
    warm_up: int = 1,
    memory: bool = True,
    rest: float = 0.1,
    **named: Any,
) -> Timing:
    """Time a function, and see how much memory it takes.

    Parameters
    ----------
    function : callable
    *arguments, **named
        What to call it with.
    repeats : int
        Runs that are timed, at least 1.
    warm_up : int
        Runs before them that are not.
    memory : bool
        Run it once more, untimed and before all others, with Python's count of memory on.
    rest : float
        Seconds to do nothing before all that: for a while after a matrix product, threads that
        wait for the next one keep the cores busy.

    Returns
    -------
    Timing
        Shown by `print` as one sentence in the current language.

    Raises
    ------
    TypeError, ValueError
        If `function` cannot be called, or a number is not of its kind.
    Exception
        Whatever the function raises, as it is; Ctrl-C and "interrupt the kernel" too.
    """
    if not callable(function):
        raise TypeError(f"function must be callable; got {type(function).__name__}.")
    check_whole("repeats", repeats, 1)
    check_whole("warm_up", warm_up, 0)
    rest = check_real("rest", rest)
    if rest < 0:
        raise ValueError(f"rest must be 0 or more seconds; got {rest:g}.")
    cupy = cupy_of(arguments, named)
    sleep(rest)
    # First of all, so that the first touch of fresh memory is in no timed run.
    peak = _peak(function, arguments, named) if memory and cupy is None else None
    for _ in range(warm_up):
        function(*arguments, **named)
    times = []
    for _ in range(repeats):
        _wait(cupy)
        start = perf_counter()
        result = function(*arguments, **named)
        cupy = cupy or cupy_of(result)
        _wait(cupy)
        times.append(perf_counter() - start)
        if len(times) < repeats:
            del result  # so that each run finds the same memory free
    if cupy is not None:
        peak = None  # what Python has seen is not where the arrays are
    name = getattr(function, "__name__", None) or type(function).__name__
    return Timing(name, tuple(times), peak, device_of(arguments, named, result))


def _wait(cupy: Any) -> None:
    if cupy is not None:
        cupy.cuda.get_current_stream().synchronize()


def _peak(function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> int:
    """Most memory in use during a call, beyond what was in use before."""
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        function(*arguments, **named)
        return max(tracemalloc.get_traced_memory()[1] - before, 0)
    finally:
        if not was_tracing:
            tracemalloc.stop()


def duration(seconds: float) -> str:
    """Write a time the way it is said: 12.3 ms."""
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < 0.9995 * limit:
            return f"{_digits(seconds * factor)} {unit}"
    return f"{_digits(seconds)} s"


def memory_size(count: float) -> str:
    """Write a number of bytes the way it is said, in powers of 1000: 12.3 MB."""
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB")):
        if count >= 999.5 * 1000 ** (power - 1):
            return f"{_digits(count / 1000**power)} {unit}"
    return f"{count:.0f} B"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.3g}"


# -- what this machine can do ---------------------------------------------------------------------


@dataclass(frozen=True)
class Rates:
    """What a machine does in a second, measured.

    Attributes
    ----------
    flops : float
        Floating-point operations in products of narrow matrices, all threads together.
    exponentials : float
        NumPy's exp on an array that stays in the cache, one thread.
    bytes : float
        Read and written by a pass of NumPy over a large array into a new one, one thread.
    read_bytes : float
        Read by NumPy's search for the largest in a large array, one thread.  What fits into the
        processor's cache is read faster.
    conversions : float
        Numbers from float16 to float32, one thread.
    call : float
        Seconds of attention over a single key: all checks and calls, with nothing to compute.
    ran_on : Device
    """

    flops: float
    exponentials: float
    bytes: float
    read_bytes: float
    conversions: float
    call: float
    ran_on: Device

    def seconds(self, cost: Cost, *, threads: int = 1) -> float:
        """Predict how long something takes from its counts.

        Parameters
        ----------
        cost : Cost
        threads : int
            That the exponentials are shared out to; matrix products use all there are.
        """
        return (
            self.call * cost.rounds
            + cost.flops / self.flops
            + cost.exponentials / (self.exponentials * threads)
            + (cost.bytes_moved - cost.read_bytes) / self.bytes
            + cost.read_bytes / self.read_bytes
            + cost.converted / self.conversions
        )


_known: dict[str, Rates] = {}


def machine_rates(precision: str = "float32", *, anew: bool = False) -> Rates:
    """Measure what this machine can do, once for each type of number; takes about half a second.

    Parameters
    ----------
    precision : {"float16", "float32", "float64"}
        float16 is computed in float32.
    anew : bool
        Measure once more.  What was faster counts, as other programs only slow it down.

    Returns
    -------
    Rates
    """
    name = "float64" if precision == "float64" else "float32"
    if name not in _known:
        _known[name] = _measured_rates(name)
    elif anew:
        _known[name] = _faster(_known[name], _measured_rates(name))
    return _known[name]


def _faster(one: Rates, other: Rates) -> Rates:
    rates = ("flops", "exponentials", "bytes", "read_bytes", "conversions")
    best = {name: max(getattr(one, name), getattr(other, name)) for name in rates}
    return replace(other, **best, call=min(one.call, other.call))


def _measured_rates(precision: str) -> Rates:
    rng, dtype = np.random.default_rng(0), np.dtype(precision)
    rows, width = 1024, 64
    left, right = (rng.standard_normal((rows, width)).astype(dtype) for _ in range(2))
    product = np.empty((rows, rows), dtype=dtype)
    some = -np.abs(rng.standard_normal(2**15)).astype(dtype)
    into = np.empty_like(some)
    large = np.ones(2**25 // dtype.itemsize, dtype=dtype)  # 32 MiB
    half = np.ones(2**18, dtype=np.float16)
    one = np.ones((1, 1), dtype=dtype)
    # The smallest times: what the machine can do in peace, whatever else may run just now.
    seconds = {
        name: measure(run, repeats=repeats, memory=False, rest=0).smallest
        for name, run, repeats in (
            ("product", lambda: np.matmul(left, right.T, out=product), 30),
            ("exp", lambda: np.exp(some, out=into), 50),
            ("pass", lambda: large * 1.0, 7),
            ("read", lambda: large.max(), 7),
            ("convert", lambda: half.astype(np.float32), 7),
            ("call", lambda: attention(one, one, one), 50),
        )
    }
    return Rates(
        flops=2 * rows * rows * width / seconds["product"],
        exponentials=some.size / seconds["exp"],
        bytes=2 * large.nbytes / seconds["pass"],
        read_bytes=large.nbytes / seconds["read"],
        conversions=half.size / seconds["convert"],
        call=seconds["call"],
        ran_on=device_of(),
    )
