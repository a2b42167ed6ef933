"""benchmarks/gpu.py without a card: what it counts, checks and refuses to write.

The kernels run on the CPU (`fake_cupy.py`), and the clock is made up.  So no number here is a
measurement, and none reaches the data of the lesson.
"""

import importlib.util
import json
import os
import re
import subprocess
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
ATTRIBUTES = fake_cupy.ATTRIBUTES  # made up


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


@pytest.fixture
def cupy(monkeypatch, modules):
    with fake_cupy.installed(monkeypatch, modules) as fake:
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
    limits = gpu.limits_of("80", ATTRIBUTES)
    assert limits.flops == 2 * 64 * 1e9 * 2
    assert limits.bytes == 3e9 * 2 * 8
    assert limits.seconds(gpu.Work(flops=256 * 10**9, bytes=1)) == pytest.approx(1)
    assert limits.seconds(gpu.Work(flops=1, bytes=48 * 10**9)) == pytest.approx(1)
    # what tensor cores could do is not known: only the bytes count
    work = gpu.Work(flops=256 * 10**12, bytes=48 * 10**9, tensor_cores=True)
    assert limits.seconds(work) == pytest.approx(1)


CARDS = [("52", 128), ("60", 64), ("61", 128), ("70", 64), ("72", 64), ("75", 64), ("80", 64)]
CARDS += [("86", 128), ("87", 128), ("89", 128), ("90", 128), ("100", 128), ("121", 128)]


@pytest.mark.parametrize(("card", "lanes"), [*CARDS, ("37", 128)])
def test_lanes_of_known_and_unknown_cards(gpu, card, lanes):
    assert gpu.limits_of(card, ATTRIBUTES).flops == 2 * lanes * 1e9 * 2


@pytest.mark.parametrize("silent", ["ClockRate", "MemoryClockRate"])
@pytest.mark.parametrize("how", ["zero", "absent"])
def test_what_a_card_does_not_tell_is_measured(
    gpu, cupy, monkeypatch, tmp_path, capsys, silent, how
):
    """Newer cards know no memory clock; a call takes a millisecond here."""
    rest = {name: value for name, value in ATTRIBUTES.items() if name != silent}
    cupy.attributes = rest | ({silent: 0} if how == "zero" else {})
    monkeypatch.setattr(cupy, "ones", lambda shape, dtype: cupy.empty((2, 2), dtype))
    content = json.loads(run(gpu, monkeypatch, tmp_path, "--quick").read_text(encoding="utf-8"))
    limits, known = content["limits"], gpu.limits_of("80", ATTRIBUTES)
    if silent == "ClockRate":
        assert (limits["flops"], limits["bytes"]) == (2 * 4096**3 / 1e-3, known.bytes)
        assert "measured by a product; memory clock" in limits["origin"]
    else:
        assert (limits["flops"], limits["bytes"]) == (known.flops, 2 * 16 / 1e-3)
        assert "clock × 2; measured by a copy" in limits["origin"]
    assert limits["origin"] in capsys.readouterr().out
    assert all(one["least_milliseconds"] > 0 for one in content["results"])


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
    assert work["PyTorch"] == gpu.Work(3 * 4 * 3, 4 * 4 * 6, tensor_cores=True)
    assert work["PyTorch, gradients"] == gpu.Work(3 * 14 * 3, 4 * 12 * 6, tensor_cores=True)
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
    assert content["compute capability"] == "80"
    limits = gpu.limits_of("80", ATTRIBUTES)
    for one in content["results"]:
        size = 4 if one["precision"] == "float32" else 2
        work = gpu.works(one["heads"], one["T"], one["d_k"], size)[one["way"]]
        assert one["milliseconds"] == one["fastest"] == 1.0
        assert one["calls"] >= 1
        assert one["least_milliseconds"] == pytest.approx(1e3 * limits.seconds(work), abs=1e-6)
    text = capsys.readouterr().out
    assert "3 heads, T = 40, d_k = 8, float16, causal" in text
    assert limits.origin in text
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
        wrong = results[2] if isinstance(results, tuple) else results
        wrong[0, 0, 0] = wrong[0, 0, 0] + value
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


def test_orders_queue_up_before_the_clock_starts(gpu, cupy, monkeypatch):
    """The card is busy until Python has given its orders: a call's time is the card's."""
    told = []
    monkeypatch.setattr(
        cupy,
        "RawKernel",
        lambda code, name: lambda grid, block, arguments: told.append((name, *arguments)),
    )
    now = iter(range(10**6))  # each look at the clock comes a second later
    monkeypatch.setattr(gpu.time, "perf_counter", lambda: next(now))
    event = cupy.cuda.Event
    monkeypatch.setattr(event, "record", lambda self: told.append("event"))
    cupy.cuda.get_elapsed_time = lambda start, end: 1.0
    monkeypatch.setattr(gpu, "SECONDS", 3.0)
    gpu.event_times(cupy, lambda: told.append("run"))
    told = told[gpu.WARM_UP :]
    # a second of orders, of which five milliseconds are granted, at a clock of 1 GHz
    assert told[:4] == [("head_start", np.int64(5_000_000)), "event", "run", "event"]
    assert isinstance(told[0][1], np.int64)


@pytest.mark.parametrize(
    ("words", "small"),
    [
        ("Out of memory allocating 4 bytes (allocated so far: 0 bytes).", True),
        ("CUDA out of memory. Tried to allocate 20.00 MiB.", True),
        ("CUBLAS_STATUS_ALLOC_FAILED", True),
        ("cudaErrorIllegalAddress: an illegal memory access was encountered", False),
    ],
)
def test_only_too_little_memory_lets_a_run_go_on(gpu, cupy, monkeypatch, tmp_path, words, small):
    def fail(cupy, run):
        raise RuntimeError(words)

    monkeypatch.setattr(gpu, "event_times", fail)
    if small:
        run(gpu, monkeypatch, tmp_path, "--quick")
    else:
        with pytest.raises(RuntimeError, match=words):
            run(gpu, monkeypatch, tmp_path, "--quick")


def test_no_length_is_begun_after_the_time_is_up(gpu, cupy, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gpu, "MOST_SECONDS", -1.0)
    path = run(gpu, monkeypatch, tmp_path)
    results = json.loads(path.read_text(encoding="utf-8"))["results"]
    assert {one["T"] for one in results} == {40}
    assert "T = 70 is left out" in capsys.readouterr().out


class Torch(types.ModuleType):
    """As much of PyTorch as is asked whether it works."""

    def __init__(self, sees=True, error=None):
        super().__init__("torch")
        matmul = types.SimpleNamespace(allow_tf32=True)
        self.cuda = types.SimpleNamespace(is_available=lambda: sees)
        self.backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=matmul))
        self.error = error

    def ones(self, size, device):
        if self.error:
            raise self.error
        return np.ones(size).view(type("Tensor", (np.ndarray,), {"cpu": lambda self: self}))


def test_pytorch_only_where_it_works(gpu, monkeypatch, capsys):
    usable = importlib.util.module_from_spec(gpu.__spec__)
    gpu.__spec__.loader.exec_module(usable)
    works, blind = Torch(), Torch(sees=False)
    foreign = Torch(error=RuntimeError("no kernel image is available for execution"))
    for torch, wanted, words in (
        (works, works, ""),
        (blind, None, ""),
        (foreign, None, "PyTorch does not work here: RuntimeError: no kernel image"),
        (ModuleNotFoundError("No module named 'torch'"), None, ""),
        (OSError("libcudnn.so.9: cannot open"), None, "does not work here: OSError: libcudnn"),
    ):

        def load(name, torch=torch):
            if isinstance(torch, Exception):
                raise torch
            return torch

        monkeypatch.setattr(usable.importlib, "import_module", load)
        assert usable.usable_torch() is wanted
        said = capsys.readouterr().out
        assert words in said if words else not said
    assert works.backends.cuda.matmul.allow_tf32 is False


# -- what becomes of the file ----------------------------------------------------------------------


def cell(key):
    """The code of a cell of lesson 6."""
    source = (ROOT / "notebooks" / "src" / "06_speed_and_memory.py").read_text(encoding="utf-8")
    return source.partition(f'# %% key="{key}"')[2].partition("\n")[2].partition("\n# %%")[0]


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_lesson_6_shows_the_file_that_a_run_writes(
    gpu, cupy, monkeypatch, tmp_path, capsys, language
):
    """Every way of it, PyTorch's too, at the size that the cell looks for."""
    model = types.SimpleNamespace(n_head=3, T=1024, d_k=8)
    monkeypatch.setattr(gpu, "MODEL", model)
    monkeypatch.setattr(gpu, "inputs", lambda cupy, *size: [cupy.put(np.zeros((3, 1024, 8)))] * 4)
    monkeypatch.setattr(gpu, "event_times", lambda cupy, run: [1.5, 2.5, 3.5])
    monkeypatch.setattr(gpu, "check", lambda *given: None)
    monkeypatch.setattr(gpu, "usable_torch", lambda: types.SimpleNamespace(__version__="0"))
    torch = "PyTorch", "PyTorch, gradients"
    monkeypatch.setattr(
        gpu, "torch_ways", lambda torch_, arrays, work: [gpu.Way(n, None, work[n]) for n in torch]
    )
    path = run(gpu, monkeypatch, tmp_path, "--quick")
    ways = list(gpu.works(1, 1, 1, 4))
    al.set_language(language)
    names = {"al": al, "resource_path": lambda folder, name: path}
    exec(cell("gpu-timings"), names)
    said = capsys.readouterr().out + str(names["result"])
    assert "made up" in said
    assert json.loads(path.read_text(encoding="utf-8"))["date"] in said
    for way in ways:
        assert al.label(f"gpu_{way}") in said
    assert said.count("2.5") >= len(ways)
    assert al.label("no_card_measured") not in said


def test_lesson_6_says_so_where_no_card_was_measured(tmp_path, capsys):
    exec(cell("gpu-timings"), {"al": al, "resource_path": lambda *parts: tmp_path.joinpath(*parts)})
    assert al.label("no_card_measured") in capsys.readouterr().out


def test_lesson_6_runs_the_kernels_where_there_is_a_gpu(cupy, monkeypatch, capsys):
    from andrea_lesson import gpu, kernels, timing

    monkeypatch.setattr(al, "ANDREA_120M", types.SimpleNamespace(n_head=2, T=20, d_k=8))
    names = {"al": al, "np": np, "gpu": gpu, "kernels": kernels, "timing": timing}
    monkeypatch.setattr(al, "table", lambda **columns: columns)
    exec(cell("gpu-try"), names)
    assert names["result"]["same_as_numpy"] == [True] * 3
    assert "made up" in capsys.readouterr().out
    assert {name[:5] for name in cupy.launched} == {"rung1", "rung2", "rung3"}
    assert cupy.pool.freed == 1


def test_lesson_6_says_so_where_the_card_is_full(cupy, monkeypatch, capsys):
    from andrea_lesson import gpu, kernels, timing

    def full(*given, **named):
        raise fake_cupy.OutOfMemoryError("Out of memory allocating 50,331,648 bytes")

    monkeypatch.setattr(kernels, "cuda_attention", full)
    names = {"al": al, "np": np, "gpu": gpu, "kernels": kernels, "timing": timing}
    exec(cell("gpu-try"), names)
    assert "allocating 50,331,648 bytes" in capsys.readouterr().out
    assert names["result"] is None
    assert cupy.pool.freed == 1


def test_the_tests_that_need_a_card_pass_on_the_stand_in():
    """So that on a card they fail for no fault of their own.  Large ones are left out."""
    command = [sys.executable, "-m", "pytest", "-p", "fake_cupy", "-m", "gpu", "-q"]
    command += ["-k", "not andrea_120m and not no_matrix and not no_memory_behind"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist"]
    folder = ROOT / "tests"
    end = subprocess.run(
        [*command, folder / "test_gpu.py", folder / "test_kernels_gpu.py"],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": str(folder), "PYTEST_ADDOPTS": ""},
        check=False,
    )
    assert end.returncode == 0, end.stdout + end.stderr
    assert re.search(r"^1\d\d passed", end.stdout, re.M), end.stdout
    assert "skipped" not in end.stdout


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
