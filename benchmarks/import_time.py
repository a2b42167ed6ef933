"""What ``import andrea_lesson`` costs beyond ``import numpy``.

Run: python benchmarks/import_time.py [--runs 21]

Each run is a fresh interpreter that imports NumPy, then the package, and times both.  The first
run, which compiles and keeps the bytecode, is thrown away; medians of the others are printed.
The target is held against the main thread's processor time: a busy machine slows the clock.
"""

import argparse
import os
import subprocess
import sys
from statistics import median

TARGET_MS = 20
ONE_RUN = """
from time import perf_counter, thread_time
marks = [(perf_counter(), thread_time())]
import numpy
marks.append((perf_counter(), thread_time()))
import andrea_lesson
marks.append((perf_counter(), thread_time()))
for before, after in zip(marks, marks[1:]):
    print(*[(b - a) * 1000 for a, b in zip(before, after)])
"""


def time_imports() -> list[float]:
    """Milliseconds in a fresh interpreter: NumPy by clock and thread, then the package."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = subprocess.run(
        [sys.executable, "-c", ONE_RUN],
        env=env,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return [float(number) for number in run.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost of `import andrea_lesson` beyond NumPy.")
    parser.add_argument("--runs", type=int, default=21)
    runs = parser.parse_args().runs
    time_imports()
    times = [time_imports() for _ in range(runs)]
    numpy_clock, numpy_cpu, clock, cpu = (median(column) for column in zip(*times, strict=True))
    print(f"medians of {runs} runs      clock      thread")
    print(f"import numpy         {numpy_clock:8.1f} ms {numpy_cpu:8.1f} ms")
    print(f"import andrea_lesson {clock:+8.1f} ms {cpu:+8.1f} ms")
    print(f"ratio                {clock / numpy_clock:8.2f}    {cpu / numpy_cpu:8.2f}")
    verdict = "met" if cpu < TARGET_MS else "MISSED"
    print(f"target: under {TARGET_MS} ms beyond NumPy: {verdict}")


if __name__ == "__main__":
    main()
