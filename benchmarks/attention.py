"""Tiled attention on the CPU: against PyTorch, the textbook, and what the arithmetic allows.

Run: python benchmarks/attention.py [--rounds 40] [--quick]

At the size of ANDREA-120M (12 heads, T = 1024, d_k = 64, float32, causal) on two cores.  Those
who are compared take turns; what counts is the median of the ratios of a round.  In its turn each
has a pause, one call to wake up, and one call that is timed: the threads of a library go on
spinning for some milliseconds after a call (those of OpenBLAS for about 26) and would take a core
from the next one.  ``--no-pause`` shows what that costs.  PyTorch is compared where installed.
"""

# ruff: noqa: E402

import os

CORES = 2
if hasattr(os, "sched_setaffinity"):  # before NumPy counts them
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])

import argparse
import importlib
import math
import platform
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from statistics import median
from threading import Thread
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

import andrea_lesson as al
from andrea_lesson.tiled import tiled_attention
from andrea_lesson.tiled_fast import KEYS, QUERIES, exponential

MB = 2**20
HEADS, T, WIDTH = al.ANDREA_120M.n_head, al.ANDREA_120M.T, al.ANDREA_120M.d_k
PAUSE = 0.04  # seconds


def module(name: str) -> Any:
    """A module that may be missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


torch = module("torch")
tiled_backward = module("andrea_lesson.tiled_backward")


def inputs(heads: int, T: int, count: int = 3) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((heads, T, WIDTH), dtype=np.float32) for _ in range(count)]


def textbook(Q: Any, K: Any, V: Any) -> Any:
    """The formula, line by line, as most books have it."""
    T = Q.shape[-2]
    scores = Q @ np.swapaxes(K, -1, -2) / np.float32(math.sqrt(Q.shape[-1]))
    scores = np.where(np.tri(T, dtype=bool), scores, np.float32(-np.inf))
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ V


# -- measuring -------------------------------------------------------------------------------------


def seconds(function: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


def take_turns(
    functions: dict[str, Callable[[], Any]], rounds: int, pause: float = PAUSE
) -> dict[str, list[float]]:
    """Milliseconds of each, a call a round; the order turns round from round to round."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(-2, rounds):  # two rounds to warm up
        for name in list(functions)[:: 1 if number % 2 else -1]:
            if pause:
                time.sleep(pause)
                functions[name]()
            taken = 1000 * seconds(functions[name])
            if number >= 0:
                times[name].append(taken)
    return times


def ratio(ours: list[float], theirs: list[float]) -> float:
    return median(a / b for a, b in zip(ours, theirs, strict=True))


def peak(function: Callable[[], Any]) -> int:
    """Bytes that NumPy and Python held at most during a call, its result included."""
    function()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


RESIDENT = """
import re
import numpy as np
from andrea_lesson.tiled import tiled_attention

def kilobytes(what):
    with open("/proc/self/status", encoding="utf-8") as status:
        return int(re.search(what + r":\\s*(\\d+) kB", status.read())[1])

rng = np.random.default_rng(0)
Q, K, V = (rng.standard_normal(({heads}, {T}, {width}), dtype=np.float32) for _ in range(3))
small = [array[:, :256, :] for array in (Q, K, V)]
tiled_attention(*small, mask="causal")  # libraries and threads are there before
with open("/proc/self/clear_refs", "w", encoding="utf-8") as marks:
    marks.write("5")  # the high-water mark starts anew
held = kilobytes("VmRSS")
tiled_attention(Q, K, V, mask="causal")
print(kilobytes("VmHWM") - held)
"""


def resident(heads: int, T: int) -> float | None:
    """Megabytes that a process of its own grew by in a call, the output included (Linux only)."""
    if not os.access("/proc/self/clear_refs", os.W_OK):
        return None
    code = RESIDENT.format(heads=heads, T=T, width=WIDTH)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return int(run.stdout) / 1024 if run.returncode == 0 else None


# -- telling ---------------------------------------------------------------------------------------


def heading(words: str) -> None:
    print(f"\n{words}")


def report(what: str, value: float, unit: str = "ms", most: float = 0, least: float = 0) -> None:
    verdict = ""
    if most:
        verdict = f"   <= {most:g}: {'met' if value <= most else 'MISSED'}"
    if least:
        verdict = f"   >= {least:g}: {'met' if value >= least else 'MISSED'}"
    print(f"  {what:<58}{value:9.2f} {unit:<5}{verdict}")


def tell_machine() -> None:
    blas = [one for one in threadpool_info() if one["user_api"] == "blas"]
    library = f"{blas[0]['internal_api']} {blas[0].get('architecture', '')}" if blas else "no BLAS"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {library}, {cores} cores")
    print(f"PyTorch {torch.__version__}" if torch else "PyTorch is not installed: not compared")


# -- forward ---------------------------------------------------------------------------------------


def forward(rounds: int, pause: float) -> float:
    Q, K, V = inputs(HEADS, T)
    functions: dict[str, Callable[[], Any]] = {
        "tiled": lambda: tiled_attention(Q, K, V, mask="causal")
    }
    if torch:
        # With an axis for the batch: without it PyTorch takes its slow plain form.
        given = [torch.from_numpy(array[None]) for array in (Q, K, V)]

        def theirs() -> Any:
            with torch.no_grad():
                return torch.nn.functional.scaled_dot_product_attention(*given, is_causal=True)

        functions["PyTorch"] = theirs
        np.testing.assert_allclose(theirs()[0].numpy(), functions["tiled"](), atol=1e-5)
    np.testing.assert_allclose(textbook(Q, K, V), functions["tiled"](), atol=1e-5)
    times = take_turns(functions, rounds, pause)
    slow = take_turns(
        {
            "tiled": functions["tiled"],
            "textbook": lambda: textbook(Q, K, V),
            "attention": lambda: al.attention(Q, K, V, mask="causal"),
        },
        max(15, rounds // 3),
        pause,
    )
    heading(f"Forward: {HEADS} heads, T = {T}, d_k = {WIDTH}, float32, causal, {CORES} cores")
    for name, taken in times.items():
        report(name, median(taken))
    report("textbook", median(slow["textbook"]))
    report("attention of this package, every step kept", median(slow["attention"]))
    if torch:
        report("tiled / PyTorch", ratio(times["tiled"], times["PyTorch"]), "", most=1.0)
    report("textbook / tiled", ratio(slow["textbook"], slow["tiled"]), "", least=4)
    return median(times["tiled"])


def backward(rounds: int, pause: float) -> None:
    heading("Forward and backward, the same size")
    if not tiled_backward:
        print("  andrea_lesson.tiled_backward is not there")
        return
    Q, K, V, dO = inputs(HEADS, T, 4)

    def ours() -> Any:
        output = tiled_attention(Q, K, V, mask="causal")
        return output, *tiled_backward.tiled_attention_backward(Q, K, V, dO, mask="causal")

    functions: dict[str, Callable[[], Any]] = {"tiled": ours}
    if torch:
        q, k, v, do = (torch.from_numpy(array[None]) for array in (Q, K, V, dO))
        given = [one.requires_grad_() for one in (q, k, v)]

        def theirs() -> Any:
            for one in given:
                one.grad = None
            output = torch.nn.functional.scaled_dot_product_attention(*given, is_causal=True)
            output.backward(do)
            return output, *(one.grad for one in given)

        functions["PyTorch"] = theirs
        for a, b in zip(ours(), theirs(), strict=True):
            np.testing.assert_allclose(a, b[0].detach().numpy(), atol=1e-4)
    times = take_turns(functions, rounds, pause)
    for name, taken in times.items():
        report(name, median(taken))
    if torch:
        report("tiled / PyTorch", ratio(times["tiled"], times["PyTorch"]), "", most=1.0)


# -- floors ----------------------------------------------------------------------------------------


def on_all_cores(make: Callable[[], Callable[[], Any]], calls: int) -> float:
    """Median seconds of a call while every core makes the same calls."""
    taken: list[list[float]] = [[] for _ in range(CORES)]

    def work(times: list[float]) -> None:
        function = make()
        times.extend(seconds(function) for _ in range(calls))

    workers = [Thread(target=work, args=(times,)) for times in taken]
    with threadpool_limits(1):
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return median(time for times in taken for time in times[calls // 4 : -calls // 4])


def floors(reached: float) -> None:
    """How long the arithmetic alone takes, at the rates of this machine today."""
    tiles = T // QUERIES
    pairs = HEADS * QUERIES * QUERIES * tiles * (tiles + 1) // 2  # scores in tiles not skipped
    operations = 2 * 2 * pairs * WIDTH
    rng = np.random.default_rng(0)

    def products() -> Callable[[], Any]:
        K, V = rng.standard_normal((2, KEYS, WIDTH), dtype=np.float32)
        q = rng.standard_normal((QUERIES, WIDTH), dtype=np.float32)
        weights = np.empty((KEYS, QUERIES), dtype=np.float32)
        output = np.empty_like(q)

        def both() -> None:
            np.matmul(K, q.T, out=weights)
            np.matmul(weights.T, V, out=output)

        return both

    def exponentials(function: Any) -> Callable[[], Callable[[], Any]]:
        def make() -> Callable[[], Any]:
            scores = rng.standard_normal((KEYS, QUERIES), dtype=np.float32)
            weights = np.empty_like(scores)
            return lambda: function(scores, out=weights)

        return make

    each = KEYS * QUERIES
    product_time = on_all_cores(products, 300) / each * pairs / CORES
    exp = exponential(np.dtype(np.float32).char)[0]
    exp_times = {
        one: on_all_cores(exponentials(one), 600) / each * pairs / CORES for one in {np.exp, exp}
    }
    heading(f"Floors in tiles of {QUERIES} × {QUERIES}: {operations / 1e9:.2f} GFLOP of products,")
    print(f"{pairs / 1e6:.1f} million exponentials, measured now")
    report("rate of the matrix products", operations / product_time / 1e9, "GF/s")
    report("matrix products", 1000 * product_time)
    for one, taken in exp_times.items():
        report(f"exponentials, np.{one.__name__}", 1000 * taken)
    total = 1000 * (product_time + exp_times[exp])
    report("both", total)
    report("tiled / both", reached / total, "")


# -- memory and growth -----------------------------------------------------------------------------


def memory() -> None:
    Q, K, V = inputs(HEADS, T)
    held = peak(lambda: tiled_attention(Q, K, V, mask="causal"))
    heading(f"Memory: {HEADS} heads, T = {T}, beyond inputs and output")
    report("counted by NumPy and Python", (held - Q.nbytes) / MB, "MB", most=8)
    grown = resident(HEADS, T)
    if grown is not None:
        report("growth of a process", grown - Q.nbytes / MB, "MB", most=8)


def growth(longest: int, textbook_to: int) -> None:
    heading("One head, causal: how time and memory (output included) grow with T")
    print("       T     tiled                     textbook")
    for length in [2**n for n in range(7, longest.bit_length())]:
        Q, K, V = (array[0] for array in inputs(1, length))
        functions: dict[str, Callable[[], Any]] = {
            "tiled": partial(tiled_attention, Q, K, V, mask="causal")
        }
        if length <= textbook_to:
            functions["textbook"] = partial(textbook, Q, K, V)
        line = f"{length:8,}"
        for name, function in functions.items():
            taken = take_turns({name: function}, 5 if length > 2048 else 15)[name]
            line += f"{median(taken):9.2f} ms {peak(function) / MB:9.2f} MB"
        if length > textbook_to:
            line += f"    not run: its scores alone fill {4 * length**2 / MB:,.0f} MB"
        print(line)
    heading(f"One head, T = {longest:,}, output included")
    report("counted by NumPy and Python", peak(functions["tiled"]) / MB, "MB", most=64)
    grown = resident(1, longest)
    if grown is not None:
        report("growth of a process", grown, "MB", most=64)


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast and how small tiled attention is.")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--quick", action="store_true", help="few rounds, T up to 4,096")
    parser.add_argument("--no-pause", action="store_true", help="while other threads still spin")
    given = parser.parse_args()
    pause = 0 if given.no_pause else PAUSE
    rounds = 10 if given.quick else given.rounds
    if torch:
        torch.set_num_threads(CORES)
    tell_machine()
    reached = forward(rounds, pause)
    backward(rounds, pause)
    floors(reached)
    memory()
    growth(4096 if given.quick else 16384, 1024 if given.quick else 4096)


if __name__ == "__main__":
    main()
