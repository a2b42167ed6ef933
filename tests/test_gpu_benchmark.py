"""benchmarks/gpu.py without a card: what it counts, checks and refuses to write.

The kernels run on the CPU (`fake_cupy.py`), and the clock is made up.  So no number here is a
measurement, and none reaches the data of the lesson.
"""

import importlib.util
import json
import sys
import types
from pathlib import Path

import fake_cupy
import kernels_on_cpu
import numpy as np
import pytest

import andrea_lesson as al
from andrea_lesson.gpu import Gpu

ROOT = Path(__file__).resolve().parent.parent
# Made up, and not those of any card: 2 multiprocessors at 1 GHz, 64 bits at 3 GHz.
ATTRIBUTES = {
    "ComputeCapabilityMajor": 8,
    "ComputeCapabilityMinor": 0,
    "MultiProcessorCount": 2,
    "ClockRate": 1_000_000,
    "MemoryClockRate": 3_000_000,
    "GlobalMemoryBusWidth": 64,
}


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    return kernels_on_cpu.compile_kernels(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def gpu(monkeypatch):
    """The script as a module, for a model of three heads and 40 positions."""
    spec = importlib.util.spec_from_file_location("benchmark_gpu", ROOT / "benchmarks" / "gpu.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "benchmark_gpu", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "MODEL", types.SimpleNamespace(n_head=3, T=40, d_k=8))
    monkeypatch.setattr(module, "LENGTHS", (20, 40, 70))
    monkeypatch.setattr(module, "CALLS", 3)
    monkeypatch.setattr(module, "usable_torch", lambda: None)
    return module


class Event:
    """A made-up clock: each call takes a millisecond."""

    now = 0.0

    def record(self):
        Event.now += 1.0
        self.time = Event.now

    def synchronize(self):
        pass


@pytest.fixture
def cupy(monkeypatch, modules):
    with fake_cupy.installed(monkeypatch, modules) as fake:
        nothing = types.SimpleNamespace(synchronize=lambda: None, free_all_blocks=lambda: None)
        runtime = types.SimpleNamespace(
            driverGetVersion=lambda: 12000, runtimeGetVersion=lambda: 12000
        )
        fake.__version__ = "0"
        fake.get_default_memory_pool = lambda: nothing
        fake.cuda = types.SimpleNamespace(
            Device=lambda: types.SimpleNamespace(attributes=ATTRIBUTES, id=0),
            Event=Event,
            get_elapsed_time=lambda start, end: end.time - start.time,
            get_current_stream=lambda: nothing,
            memory=types.SimpleNamespace(OutOfMemoryError=MemoryError),
            runtime=runtime,
        )
        yield fake


def run(gpu, monkeypatch, tmp_path, *options, found=None):
    out = tmp_path / "timings.json"
    found = found or Gpu(installed=True, works=True, version="0", name="made up")
    monkeypatch.setattr(gpu, "try_gpu", lambda: found)
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--out", str(out), *options])
    gpu.main()
    return out


# -- counting --------------------------------------------------------------------------------------


def test_limits_by_hand(gpu):
    """2 · 64 lanes · 10⁹ · 2 operations; 3 · 10⁹ · 2 · 8 bytes."""
    limits = gpu.limits_of(ATTRIBUTES)
    assert limits.flops == 2 * 64 * 1e9 * 2
    assert limits.bytes == 3e9 * 2 * 8
    assert limits.seconds(gpu.Work(flops=256 * 10**9, bytes=1)) == pytest.approx(1)
    assert limits.seconds(gpu.Work(flops=1, bytes=48 * 10**9)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("card", "lanes"), [((7, 5), 64), ((8, 6), 128), ((8, 0), 64), ((12, 0), 128), ((5, 2), 64)]
)
def test_lanes_of_known_and_unknown_cards(gpu, card, lanes):
    versions = {"ComputeCapabilityMajor": card[0], "ComputeCapabilityMinor": card[1]}
    assert gpu.limits_of(ATTRIBUTES | versions).flops == 2 * lanes * 1e9 * 2


def test_tiles_by_counting_them(gpu):
    for T, rows, columns in ((1, 64, 32), (64, 64, 32), (100, 64, 32), (70, 32, 32), (33, 16, 16)):
        count = 0
        for first in range(0, T, rows):
            last = min(first + rows, T) - 1  # of the queries of this tile
            count += sum(rows * columns for key in range(0, T, columns) if key <= last)
        assert gpu.tile_pairs(T, rows, columns) == count


def test_work_of_every_way_by_hand(gpu):
    """One head, T = 2, d = 3: 3 allowed pairs of 4; 6 numbers an array."""
    work = gpu.works(1, 2, 3, 4)
    assert work["rung 1"] == work["rung 2"]
    assert work["rung 1"].flops == 4 * 2 * 3 + 3 * 2 * 3
    assert work["rung 1"].bytes == 4 * (4 + 3 + 6 + 7 + 3) + 4 * 4 * 6
    assert work["rung 3"].flops == 64 * 32 * 2 * 2 * 3
    assert work["rung 3"].bytes == 4 * (4 * 6 + 2)
    assert work["PyTorch"] == gpu.Work(3 * 4 * 3, 4 * 4 * 6)
    assert work["PyTorch, gradients"] == gpu.Work(3 * 14 * 3, 4 * 12 * 6)
    back = work["rungs 3 and 4, gradients"]
    assert back.flops == work["rung 3"].flops + 2 * 6 + 32 * 32 * 7 * 2 * 3
    assert back.bytes == work["rung 3"].bytes + 4 * (12 + 2 + 2 * (24 + 4) + 18)


def test_half_precision_moves_fewer_bytes_where_nobody_copies(gpu):
    half, single = gpu.works(3, 40, 8, 2), gpu.works(3, 40, 8, 4)
    assert half["PyTorch"].bytes == single["PyTorch"].bytes / 2
    assert half["rung 3"].bytes == single["rung 3"].bytes + 4 * 3 * 40 * 8 * 6


# -- a whole run -----------------------------------------------------------------------------------


def test_a_run_checks_times_and_writes_every_way(gpu, cupy, monkeypatch, tmp_path, capsys):
    path = run(gpu, monkeypatch, tmp_path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["device"] == "made up"
    assert content["versions"]["cupy"] == "0"
    assert content["limits"]["origin"].startswith("derived")
    names = {one["way"] for one in content["results"]}
    assert names == {name for name in gpu.works(1, 1, 1, 4) if not name.startswith("PyTorch")}
    sizes = [(one["T"], one["precision"]) for one in content["results"]]
    assert set(sizes) == {(40, "float32"), (40, "float16"), (20, "float32"), (70, "float32")}
    assert len(sizes) == 4 * len(names)
    limits = gpu.limits_of(ATTRIBUTES)
    for one in content["results"]:
        size = 4 if one["precision"] == "float32" else 2
        work = gpu.works(one["heads"], one["T"], one["d_k"], size)[one["way"]]
        assert one["milliseconds"] == one["fastest"] == 1.0
        assert one["calls"] >= 1
        assert one["least_milliseconds"] == pytest.approx(1e3 * limits.seconds(work), abs=1e-6)
    text = capsys.readouterr().out
    assert "3 heads, T = 40, d_k = 8, float16, causal" in text
    assert "derived limits" in text
    assert str(path) in text


def test_a_quick_run_measures_one_size(gpu, cupy, monkeypatch, tmp_path):
    path = run(gpu, monkeypatch, tmp_path, "--quick")
    results = json.loads(path.read_text(encoding="utf-8"))["results"]
    assert {one["T"] for one in results} == {40}


def test_the_times_are_medians_of_calls_after_a_warm_up(gpu, cupy, monkeypatch):
    calls = []
    monkeypatch.setattr(gpu, "CALLS", 7)
    times = gpu.event_times(cupy, lambda: calls.append(1))
    assert len(times) == 7
    assert len(calls) == 7 + gpu.WARM_UP
    monkeypatch.setattr(gpu, "SECONDS", 0.0)
    assert len(gpu.event_times(cupy, lambda: None)) == 1


@pytest.mark.parametrize("wrong", ["cuda_attention", "cuda_attention_backward"])
@pytest.mark.parametrize("value", [1e-2, np.nan])
def test_a_wrong_result_stops_the_run(gpu, cupy, monkeypatch, tmp_path, wrong, value):
    right = getattr(gpu, wrong)

    def off(*arrays, **named):
        results = right(*arrays, **named)
        (results[2] if isinstance(results, tuple) else results)[0, 0, 0] += value
        return results

    monkeypatch.setattr(gpu, wrong, off)
    with pytest.raises(SystemExit, match=r"is off by .*; nothing was written"):
        run(gpu, monkeypatch, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_algebra_in_place_of_a_kernel_stops_the_run(gpu, cupy, monkeypatch, tmp_path):
    cupy.problem = RuntimeError("no compiler")
    with pytest.raises(RuntimeWarning, match="no compiler"):
        run(gpu, monkeypatch, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_too_large_a_matrix_is_left_out(gpu, cupy, monkeypatch, tmp_path):
    monkeypatch.setattr(gpu, "MOST_SCORES", 4 * 3 * 40 * 40)
    path = run(gpu, monkeypatch, tmp_path)
    results = json.loads(path.read_text(encoding="utf-8"))["results"]
    assert {one["way"] for one in results if one["T"] == 70} == {
        "rung 3",
        "rungs 3 and 4, gradients",
    }


def test_a_card_with_too_little_memory_goes_on(gpu, cupy, monkeypatch, tmp_path, capsys):
    right = gpu.event_times

    def times(cupy, run):
        if not times.failed:
            times.failed = True
            raise MemoryError("Out of memory allocating 1 byte")
        return right(cupy, run)

    times.failed = False
    monkeypatch.setattr(gpu, "event_times", times)
    path = run(gpu, monkeypatch, tmp_path, "--quick")
    assert "rung 1, T = 40: MemoryError: Out of memory" in capsys.readouterr().out
    assert len(json.loads(path.read_text(encoding="utf-8"))["results"]) == 11


@pytest.mark.parametrize("reason", ["", "no driver"])
def test_without_a_card_nothing_is_written(gpu, monkeypatch, tmp_path, reason):
    none = Gpu(installed=bool(reason), works=False, reason=reason)
    with pytest.raises(SystemExit, match=r"^No GPU to measure: "):
        run(gpu, monkeypatch, tmp_path, found=none)
    assert list(tmp_path.iterdir()) == []


def test_what_the_lesson_carries_was_measured():
    """Either no card has been measured yet, or the file says which one, when, and with what."""
    path = ROOT / "data" / "gpu_timings.json"
    if not path.exists():
        return
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["device"] not in ("", "made up")
    assert content["date"]
    assert {"cupy", "numpy"} <= content["versions"].keys()
    sizes = [(one["heads"], one["T"], one["d_k"]) for one in content["results"]]
    assert (al.ANDREA_120M.n_head, al.ANDREA_120M.T, al.ANDREA_120M.d_k) in sizes
