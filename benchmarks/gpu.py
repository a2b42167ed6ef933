"""Attention on a GPU: each rung of attention.cu, CuPy's textbook form, PyTorch's own.

Run: python benchmarks/gpu.py [--quick] [--out data/gpu_timings.json]

Needs CuPy and an NVIDIA GPU, and is made to fit in five minutes; PyTorch is compared where it is
installed.  Every way is checked against NumPy in float64 before it is timed.  Times are taken by
CUDA events after a warm-up: the median of many calls, with inputs that lie on the card.  The card
is kept busy while Python gives its orders, so that a time is the card's and not Python's; only
what asks the card for an answer half-way (the textbook form does) has such waiting in its time.

Beside each time stands the least that the card could need for that way: its arithmetic at the
card's full rate, or its bytes at the full rate of the memory, whichever is longer.  Both rates
are derived from what the card says of itself: multiprocessors × lanes × clock × 2, and memory
clock × bus × 2.  Where a card is silent about a clock, that rate is measured, and the file says
so.  Tensor cores are not among the lanes; for PyTorch, which may use them, the bytes alone count.
The results go to data/gpu_timings.json, and only from a real card.
"""

import argparse
import importlib
import math
import platform
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import andrea_lesson as al
from andrea_lesson.backward import attention_backward
from andrea_lesson.costs import textbook_backward_cost, textbook_cost
from andrea_lesson.data_files import write_json
from andrea_lesson.gpu import one_line, try_gpu
from andrea_lesson.kernels import cuda_attention, cuda_attention_backward

OUT = Path(__file__).resolve().parent.parent / "data" / "gpu_timings.json"
MODEL = al.ANDREA_120M
WARM_UP, CALLS, SECONDS = 5, 50, 2.0  # at most so many calls of a way, in at most so long
MOST_SECONDS = 200.0  # after which no further length is begun
ATTRIBUTES = ("MultiProcessorCount", "ClockRate", "MemoryClockRate", "GlobalMemoryBusWidth")
LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192)
MOST_SCORES = 2**30  # bytes of a T × T matrix of all heads that the ways that have one may take

# Single-precision lanes of a multiprocessor, by compute capability (CUDA C++ Programming Guide,
# "Arithmetic Instructions"); others are taken to have as many as the last one before them.
LANES = {(5, 0): 128, (6, 0): 64, (6, 1): 128, (7, 0): 64, (8, 6): 128}

# One thread that does nothing for so many ticks of its clock.
HEAD_START = """
extern "C" __global__ void head_start(long long ticks) {
    const long long start = clock64();
    while (clock64() - start < ticks) {}
}
"""


@dataclass(frozen=True)
class Limits:
    """What a card could do at most, a second, and how we know; 0 where it is not known."""

    flops: float
    bytes: float
    origin: str = "derived: multiprocessors × lanes × clock × 2; memory clock × bus × 2"

    def seconds(self, work: "Work") -> float:
        """The least time for so much arithmetic and so many bytes, if one hides the other."""
        arithmetic = 0.0 if work.tensor_cores else work.flops / self.flops
        return max(arithmetic, work.bytes / self.bytes)


@dataclass(frozen=True)
class Work:
    """What a way has to do at least, and whether the arithmetic may be done by tensor cores."""

    flops: int
    bytes: int
    tensor_cores: bool = False


@dataclass(frozen=True)
class Way:
    """One way to compute attention, or its gradients."""

    name: str
    run: Callable[[], Any]
    work: Work
    stores_scores: bool = False


@dataclass(frozen=True)
class Result:
    """A line of the table, and of the file."""

    way: str
    heads: int
    T: int
    d_k: int
    precision: str
    milliseconds: float  # median
    fastest: float
    calls: int
    gflop: float
    megabytes: float
    least_milliseconds: float  # that the card's limits allow

    @property
    def times_the_least(self) -> float:
        """How far from the limits of the card."""
        return self.milliseconds / self.least_milliseconds


# -- counting --------------------------------------------------------------------------------------


def limits_of(capability: str, attributes: dict[str, int]) -> Limits:
    """Rates from what CUDA says of a card; clocks are in kHz, the bus in bits.

    A capability such as "75" or "120" ends in its minor version.
    """
    card = int(capability[:-1]), int(capability[-1])
    lanes = LANES[max((version for version in LANES if version <= card), default=min(LANES))]
    of = dict.fromkeys(ATTRIBUTES, 0) | attributes
    return Limits(
        flops=2.0 * of["MultiProcessorCount"] * lanes * of["ClockRate"] * 1e3,
        bytes=2.0 * of["MemoryClockRate"] * 1e3 * of["GlobalMemoryBusWidth"] / 8,
    )


def measured_limits(cupy: Any, limits: Limits) -> Limits:
    """The same, with what a card does not tell measured: a large product, a large copy."""
    if not limits.flops:
        n = 4096
        square = cupy.ones((n, n), dtype="float32")
        milliseconds = min(event_times(cupy, lambda: square @ square))
        origin = limits.origin.replace(
            "multiprocessors × lanes × clock × 2", "measured by a product"
        )
        limits = replace(limits, flops=2 * n**3 / (milliseconds / 1e3), origin=origin)
    if not limits.bytes:
        numbers = cupy.ones(2**26, dtype="float32")
        milliseconds = min(event_times(cupy, numbers.copy))
        origin = limits.origin.replace("memory clock × bus × 2", "measured by a copy")
        limits = replace(limits, bytes=2 * numbers.nbytes / (milliseconds / 1e3), origin=origin)
    return limits


def tile_pairs(T: int, rows: int, columns: int) -> int:
    """Queries × keys of one head in the tiles that a causal kernel visits."""
    return sum(
        rows * columns * math.ceil(min(T, first + rows) / columns) for first in range(0, T, rows)
    )


def works(heads: int, T: int, d: int, size: int) -> dict[str, Work]:
    """The work of every way, causal; `size` is the bytes of a number of the inputs.

    Arrays count once for each time that a kernel must fetch or write them; what tiles fetch again
    should come from the cache.
    """
    pairs, square = heads * T * (T + 1) // 2, heads * T * T
    array = heads * T * d  # numbers in Q, or in K, V, output or a gradient
    row = heads * T  # numbers in log_sum_exp or the row mean
    # float16 is copied to float32 before the kernels, and back after them
    copies = 0 if size == 4 else 4 * array * (size + 4)  # bytes
    # Scores are written; read for the maximum; read and written as exponentials; read and
    # written as weights, zeros too; read by the sum.  Only the allowed half is read.
    passes = 4 * (square + pairs + 2 * pairs + (pairs + square) + pairs)
    matrix = Work(2 * d * (square + pairs), passes + 4 * 4 * array + copies)
    tiled = heads * tile_pairs(T, 64 if d <= 64 else 32, 32)
    forward = Work(4 * d * tiled, 4 * (4 * array + row) + copies)
    # Row mean from dO and output; then twice Q, K, V, dO and two numbers a row; three gradients.
    side = 32 if d <= 64 else 16
    back_flops = 2 * array + 14 * d * heads * tile_pairs(T, side, side)
    back_numbers = (2 * array + row) + 2 * (4 * array + 2 * row) + 3 * array
    precision = "float32" if size == 4 else "float16"
    textbook, textbook_back = (
        cost(T, d, n_head=heads, precision=precision)
        for cost in (textbook_cost, textbook_backward_cost)
    )
    return {
        "rung 1": matrix,
        "rung 2": matrix,
        "rung 3": forward,
        "rungs 3 and 4, gradients": Work(
            forward.flops + back_flops, forward.bytes + 4 * back_numbers + copies
        ),
        "textbook, CuPy": Work(textbook.flops, textbook.bytes_moved),
        "textbook, CuPy, gradients": Work(textbook_back.flops, textbook_back.bytes_moved),
        # What nobody can do without: two products there, five back; Q, K, V, output, and then
        # these, dO and the gradients.
        "PyTorch": Work(4 * d * pairs, size * 4 * array, True),
        "PyTorch, gradients": Work(14 * d * pairs, size * (4 + 8) * array, True),
    }


# -- measuring -------------------------------------------------------------------------------------


def event_times(cupy: Any, run: Callable[[], Any]) -> list[float]:
    """Milliseconds of each call, by events that the card itself notes down.

    Python may need longer to give the orders of a call than the card to carry them out.  So the
    card first gets something else to do, while the orders queue up behind it.
    """
    orders = math.inf  # seconds
    for _ in range(WARM_UP):
        begun = time.perf_counter()
        run()
        orders = min(orders, time.perf_counter() - begun)
        cupy.cuda.get_current_stream().synchronize()
    clock = 1e3 * (cupy.cuda.Device().attributes.get("ClockRate") or 2_000_000)  # kHz to Hz
    ticks = np.int64(clock * min(2 * orders + 1e-4, 5e-3))
    head_start = cupy.RawKernel(HEAD_START, "head_start")
    times: list[float] = []
    begun = time.perf_counter()
    while len(times) < CALLS and (not times or time.perf_counter() - begun < SECONDS):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        head_start((1,), (1,), (ticks,))
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(float(cupy.cuda.get_elapsed_time(start, end)))
    return times


def torch_ways(torch: Any, arrays: list[Any], work: dict[str, Work]) -> list[Way]:
    """PyTorch on the same numbers and on the stream that CuPy notes its events in."""
    Q, K, V, dO = (torch.as_tensor(array.get(), device="cuda") for array in arrays)
    attend = torch.nn.functional.scaled_dot_product_attention
    leaves = [tensor.clone().requires_grad_() for tensor in (Q, K, V)]

    def forward() -> Any:
        with torch.no_grad():
            return attend(Q[None], K[None], V[None], is_causal=True)[0]

    def gradients() -> Any:
        output = attend(*(leaf[None] for leaf in leaves), is_causal=True)[0]
        return torch.autograd.grad(output, leaves, dO)

    names = "PyTorch", "PyTorch, gradients"
    return [
        Way(name, run, work[name]) for name, run in zip(names, (forward, gradients), strict=True)
    ]


def ways(cupy: Any, torch: Any, arrays: list[Any]) -> list[Way]:
    """Every way to the output, then every way to the gradients."""
    Q, K, V, dO = arrays
    heads, T, d = Q.shape
    work = works(heads, T, d, Q.dtype.itemsize)

    def rung(number: int) -> Callable[[], Any]:
        return lambda: cuda_attention(Q, K, V, mask="causal", rung=number)

    found = [
        *(Way(f"rung {n}", rung(n), work[f"rung {n}"], n < 3) for n in (1, 2, 3)),
        Way(
            "textbook, CuPy",
            lambda: al.attention(Q, K, V, mask="causal"),
            work["textbook, CuPy"],
            True,
        ),
        Way(
            "rungs 3 and 4, gradients",
            lambda: cuda_attention_backward(Q, K, V, dO, mask="causal"),
            work["rungs 3 and 4, gradients"],
        ),
        Way(
            "textbook, CuPy, gradients",
            lambda: attention_backward(Q, K, V, dO, mask="causal"),
            work["textbook, CuPy, gradients"],
            True,
        ),
    ]
    return found + (torch_ways(torch, arrays, work) if torch is not None else [])


def inputs(cupy: Any, heads: int, T: int, d: int, precision: str) -> list[Any]:
    rng = np.random.default_rng(0)
    given = rng.standard_normal((4, heads, T, d)).astype(precision)
    return [cupy.asarray(array) for array in given]


def check(cupy: Any, arrays: list[Any], all_ways: list[Way]) -> None:
    """Stop if a way gives something else than NumPy in float64."""
    given = [array.get().astype(np.float64) for array in arrays]
    expected = {False: [al.attention(*given[:3], mask="causal")]}
    expected[True] = list(attention_backward(*given, mask="causal"))
    rounding = 2e-3 if arrays[0].dtype == np.float16 else 1e-4
    for way in all_ways:
        # PyTorch rounds the weights to the type of V before it multiplies.
        most = 5 * rounding if way.name.startswith("PyTorch") else rounding
        results = way.run()
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        for got, wanted in zip(results, expected["gradients" in way.name], strict=True):
            host = got.get() if hasattr(got, "get") else got.detach().cpu().numpy()
            off = float(np.max(np.abs(host - wanted) / (1 + np.abs(wanted))))
            if not off <= most:
                sys.exit(f"{way.name} is off by {off:.2g}; nothing was written")


def out_of_memory(error: Exception) -> bool:
    """Whether the card is too small, in the words of CuPy, of PyTorch, or of cuBLAS."""
    words = str(error).lower()
    return any(part in words for part in ("out of memory", "alloc_failed"))


def measure_size(
    cupy: Any,
    torch: Any,
    limits: Limits,
    size: tuple[int, int, int],
    precision: str,
    checked: bool,
) -> list[Result]:
    """All ways at one size."""
    arrays = inputs(cupy, *size, precision)
    heads, T, _ = size
    fits = 4 * heads * T * T <= MOST_SCORES
    chosen = [way for way in ways(cupy, torch, arrays) if fits or not way.stores_scores]
    if checked:
        check(cupy, arrays, chosen)
    results = []
    for way in chosen:
        try:
            times = event_times(cupy, way.run)
        except Exception as error:
            if not out_of_memory(error):
                raise
            print(f"{way.name}, T = {T}: {one_line(error)}")
            continue
        results.append(
            Result(
                way.name,
                *size,
                precision,
                round(median(times), 5),
                round(min(times), 5),
                len(times),
                round(way.work.flops / 1e9, 4),
                round(way.work.bytes / 1e6, 3),
                round(1e3 * limits.seconds(way.work), 6),
            )
        )
        cupy.get_default_memory_pool().free_all_blocks()
    return results


# -- telling ---------------------------------------------------------------------------------------


def tell(results: list[Result]) -> None:
    for n, one in enumerate(results):
        size = one.heads, one.T, one.d_k, one.precision
        before = results[n - 1] if n else None
        if before is None or (before.heads, before.T, before.d_k, before.precision) != size:
            print(f"\n{one.heads} heads, T = {one.T}, d_k = {one.d_k}, {one.precision}, causal")
            print(
                f"  {'':<26}{'median':>10} {'fastest':>10} {'counted':>12} {'':>12} {'least':>10}"
            )
        print(
            f"  {one.way:<26}{one.milliseconds:>7.3f} ms {one.fastest:>7.3f} ms "
            f"{one.gflop:>6.2f} GFLOP {one.megabytes:>9.1f} MB {one.least_milliseconds:>7.4f} ms"
            f"  × {one.times_the_least:.1f}"
        )


def usable_torch() -> Any:
    """PyTorch, if it sees the card; products in full float32, as everybody else's here."""
    try:
        torch = importlib.import_module("torch")
        if not torch.cuda.is_available():
            return None
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.ones(1, device="cuda").cpu()  # it need not have been built for this card
    except ModuleNotFoundError:
        return None
    except Exception as error:  # such as a library of its own that does not load
        print(f"PyTorch does not work here: {one_line(error)}")
        return None
    return torch


def versions(cupy: Any, torch: Any) -> dict[str, str]:
    found = {
        "andrea-lesson": al.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cupy": str(cupy.__version__),
        "cuda driver": str(cupy.cuda.runtime.driverGetVersion()),
        "cuda runtime": str(cupy.cuda.runtime.runtimeGetVersion()),
    }
    return found | ({} if torch is None else {"torch": str(torch.__version__)})


def measure(cupy: Any, torch: Any, limits: Limits, *, quick: bool) -> list[Result]:
    """The size of ANDREA-120M in both precisions, every way checked; then other lengths."""
    heads, T, d = MODEL.n_head, MODEL.T, MODEL.d_k
    results, begun = [], time.perf_counter()
    for precision in ("float32", "float16"):
        results += measure_size(cupy, torch, limits, (heads, T, d), precision, True)
    for length in () if quick else LENGTHS:
        if time.perf_counter() - begun > MOST_SECONDS:
            print(f"T = {length:,} is left out: time is up")
        elif length != T:
            results += measure_size(cupy, torch, limits, (heads, length, d), "float32", False)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description="Times of attention on this machine's GPU.")
    parser.add_argument("--quick", action="store_true", help="the size of ANDREA-120M alone")
    parser.add_argument("--out", type=Path, default=OUT, help="where the results go")
    options = parser.parse_args()
    found = try_gpu()
    if not found.works:
        sys.exit(f"No GPU to measure: {found.reason or 'CuPy is not installed, or sees none'}.")
    cupy = importlib.import_module("cupy")
    warnings.filterwarnings("error", message=".*used the algebra instead")
    begun = time.perf_counter()
    torch, card = usable_torch(), cupy.cuda.Device()
    attributes = dict(card.attributes)
    limits = measured_limits(cupy, limits_of(card.compute_capability, attributes))
    print(f"{found.name}; limits {limits.flops / 1e12:.1f} TFLOP/s in float32, "
          f"{limits.bytes / 1e9:.0f} GB/s ({limits.origin})")  # fmt: skip
    results = measure(cupy, torch, limits, quick=options.quick)
    tell(results)
    content = {
        "device": found.name,
        "date": date.today().isoformat(),
        "versions": versions(cupy, torch),
        "limits": asdict(limits),
        "compute capability": card.compute_capability,
        "attributes": {name: attributes[name] for name in ATTRIBUTES if name in attributes},
        "results": [asdict(one) for one in results],
    }
    write_json(options.out, content)
    print(f"\n{options.out} written, {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
