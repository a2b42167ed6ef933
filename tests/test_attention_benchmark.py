"""benchmarks/attention.py at tiny sizes: what it compares, counts and says; never how long."""

import importlib.util
import os
import re
import sys
import threading
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import andrea_lesson as al
from andrea_lesson import costs

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def bench(monkeypatch):
    """The script as a module, without PyTorch, for three heads of 32 positions."""
    monkeypatch.setitem(sys.modules, "torch", None)
    path = ROOT / "benchmarks" / "attention.py"
    spec = importlib.util.spec_from_file_location("benchmark_attention", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "benchmark_attention", module)
    if hasattr(os, "sched_setaffinity"):
        with mock.patch("os.sched_setaffinity") as bind:  # the tests keep their cores
            spec.loader.exec_module(module)
        assert len(bind.call_args.args[1]) <= module.CORES
    else:
        spec.loader.exec_module(module)
    assert module.torch is None
    for name, value in {"HEADS": 3, "T": 32, "WIDTH": 4, "QUERIES": 8, "KEYS": 16}.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(module, "PAUSE", 0)
    return module


def test_the_textbook_is_attention(bench):
    Q, K, V = bench.inputs(3, 32)
    assert Q.shape == (3, 32, 4)
    assert Q.dtype == np.float32
    expected = al.attention(Q, K, V, mask="causal")
    np.testing.assert_allclose(bench.textbook(Q, K, V), expected, atol=1e-6)


@pytest.mark.parametrize(("pause", "calls"), [(0, 1), (1e-6, 2)])
def test_all_take_turns_and_two_rounds_warm_up(bench, pause, calls):
    order = []
    functions = {name: lambda name=name: order.append(name) for name in "abc"}
    times = bench.take_turns(functions, 4, pause)
    assert {name: len(taken) for name, taken in times.items()} == {"a": 4, "b": 4, "c": 4}
    there, back = ([name for name in names for _ in range(calls)] for names in ("abc", "cba"))
    assert order == (back + there) * 3


def test_a_ratio_is_the_median_of_those_of_the_rounds(bench):
    assert bench.ratio([2.0, 30.0, 8.0], [1.0, 10.0, 2.0]) == 3.0


def test_the_peak_is_that_of_a_call(bench):
    assert 8_000_000 <= bench.peak(lambda: np.zeros(1_000_000)) < 8_100_000


@pytest.mark.parametrize(
    ("value", "limits", "words"),
    [
        (2.0, {}, ""),
        (2.0, {"most": 2}, "<= 2: met"),
        (2.1, {"most": 2}, "<= 2: MISSED"),
        (4.0, {"least": 4}, ">= 4: met"),
        (3.9, {"least": 4}, ">= 4: MISSED"),
    ],
)
def test_a_bound_is_met_or_missed(bench, capsys, value, limits, words):
    bench.report("something", value, **limits)
    line = capsys.readouterr().out.rstrip("\n")
    assert re.fullmatch(rf"  something +{value:.2f} ms +{words}", line) or line.endswith("ms   ")
    assert line.endswith(words)


def test_forward_and_backward_without_pytorch(bench, capsys):
    reached = bench.forward(3, 0)
    words = capsys.readouterr().out
    assert "3 heads, T = 32, d_k = 4" in words
    assert f"{reached:.2f} ms" in words
    assert "textbook / tiled" in words
    bench.backward(3, 0)
    words += capsys.readouterr().out
    assert re.search(r"Forward and backward.*\n  tiled +\d+\.\d\d ms", words)
    assert "PyTorch" not in words
    bench.tell_machine()
    assert "PyTorch is not installed: not compared" in capsys.readouterr().out


def test_a_wrong_result_is_not_timed(bench, monkeypatch):
    right = bench.tiled_attention
    monkeypatch.setattr(bench, "tiled_attention", lambda *given, mask: 1.01 * right(*given))
    with pytest.raises(AssertionError):
        bench.forward(3, 0)


def test_every_core_makes_all_calls(bench):
    calls = []

    def make():
        mine = threading.get_ident(), object()
        return lambda: calls.append(mine)

    assert bench.on_all_cores(make, 20) >= 0
    assert len(calls) == 20 * bench.CORES
    assert len(set(calls)) == bench.CORES


def test_floors_by_counting(bench, monkeypatch):
    """A call of KEYS × QUERIES scores is said to take a millisecond on each core."""
    made, rows = [], {}

    def on_all_cores(make, calls):
        made.append(make()())  # it runs
        return 1e-3

    monkeypatch.setattr(bench, "on_all_cores", on_all_cores)
    monkeypatch.setattr(bench, "exponential", lambda kind: (np.exp, 1.0))
    monkeypatch.setattr(bench, "report", lambda what, value, unit="ms": rows.update({what: value}))
    bench.floors(reached=6.0)
    assert len(made) == 2
    cost = costs.tiled_cost(32, 4, n_head=3, tile=8)
    milliseconds = cost.exponentials / (16 * 8) / bench.CORES
    assert milliseconds == 7.5
    assert rows == pytest.approx(
        {
            "rate of the matrix products": cost.flops / 7.5e-3 / 1e9,
            "matrix products": 7.5,
            "exponentials, np.exp": 7.5,
            "both": 15.0,
            "tiled / both": 6 / 15,
        }
    )


def test_memory_and_growth(bench, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(bench, "resident", lambda heads, T: asked.append((heads, T)))
    bench.memory()
    words = capsys.readouterr().out
    assert words.count("<= 8: met") == 1
    assert "MISSED" not in words
    bench.growth(512, 128)
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if re.match(r" +\d+ ", line)]
    assert [line.split()[0] for line in rows] == ["128", "256", "512"]
    assert [line.count(" ms ") for line in rows] == [2, 1, 1]
    assert rows[2].endswith("not run: its scores alone fill 1 MB")  # 4 · 512² bytes
    assert "<= 64: met" in lines[-1]
    assert asked == [(3, 32), (1, 512)]


def test_what_a_process_grows_by(bench):
    """Its output at least, where the system tells; a quarter of a megabyte here."""
    grown = bench.resident(4, 4096)
    assert grown is None or 0.2 < grown < 64


@pytest.mark.parametrize(
    ("options", "rounds", "pause", "longest"),
    [([], 40, 0.5, (16384, 4096)), (["--quick", "--no-pause"], 10, 0, (4096, 1024))],
)
def test_what_is_run(bench, monkeypatch, capsys, options, rounds, pause, longest):
    asked = []
    monkeypatch.setattr(bench, "PAUSE", 0.5)
    monkeypatch.setattr(sys, "argv", ["attention.py", *options])
    for name in ("forward", "backward", "floors", "memory", "growth"):
        monkeypatch.setattr(bench, name, lambda *given, name=name: asked.append((name, *given)))
    bench.main()
    assert asked == [
        ("forward", rounds, pause),
        ("backward", rounds, pause),
        ("floors", None),
        ("memory",),
        ("growth", *longest),
    ]
