"""Timing: how often a function runs, what is measured, what is said, on CPU and (feigned) GPU."""

import dataclasses
import inspect
import math
import sys
import time
import tracemalloc
import weakref
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import andrea_lesson as al
from andrea_lesson import costs, machine, timing
from andrea_lesson.timing import Timing, duration, measure, memory_size


def test_it_warms_up_and_then_times_every_run_and_counts_memory_in_one_more():
    calls = []
    timed = measure(lambda *values, **named: calls.append((values, named)), 1, 2, repeats=5, a=3)
    assert calls == [((1, 2), {"a": 3})] * (1 + 5 + 1)
    assert len(timed.times) == 5
    calls.clear()
    timed = measure(calls.append, 0, repeats=3, warm_up=0, memory=False)
    assert calls == [0] * 3
    assert timed.peak_bytes is None
    calls.clear()
    assert len(measure(calls.append, 0).times) == 7
    assert calls == [0] * (1 + 1 + 7)


def test_it_rests_before_anything_else(monkeypatch):
    """Threads that wait for another matrix product would take a core from the runs."""
    done = []
    monkeypatch.setattr(timing, "sleep", lambda seconds: done.append(seconds))
    measure(lambda: done.append("run"), repeats=2)
    assert done == [0.1] + ["run"] * 4
    done.clear()
    measure(lambda: done.append("run"), repeats=1, rest=0, memory=False)
    assert done == [0, "run", "run"]


def test_times_are_those_of_the_runs_alone():
    waits = iter([0.1, 0.1, 0.03, 0.01, 0.02])  # the first counts memory, the next warms up
    timed = measure(lambda: time.sleep(next(waits)), repeats=3)
    for found, wanted in zip(timed.times, (0.03, 0.01, 0.02), strict=True):
        assert wanted <= found < wanted + 0.5  # a busy machine wakes up late
    assert timed.smallest == min(timed.times)
    assert timed.median == sorted(timed.times)[1]


def test_each_run_finds_the_result_of_the_one_before_gone():
    """So that all of them find the same memory free."""
    found, results = [], []

    def run():
        found.append(sum(result() is not None for result in results))
        result = np.zeros(3)
        results.append(weakref.ref(result))
        return result

    measure(run, repeats=4)
    assert found == [0] * 6


def test_peak_is_what_a_call_takes_at_most_at_any_moment():
    def two_and_then_one():
        both = np.zeros(1_000_000), np.zeros(500_000)
        return both[1]

    found = measure(two_and_then_one, repeats=1).peak_bytes
    assert 12_000_000 <= found < 12_010_000
    assert not tracemalloc.is_tracing()


def test_peak_where_python_s_count_is_on_already():
    tracemalloc.start()
    try:
        held = bytearray(1_000_000)  # in use before
        bytearray(50_000_000)  # a peak of before
        found = measure(np.zeros, 1_000_000, repeats=1).peak_bytes
        assert 8_000_000 <= found < 8_010_000
        assert tracemalloc.is_tracing()
        assert len(held) == 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("problem", [ZeroDivisionError, KeyboardInterrupt])
def test_what_the_function_raises_is_passed_on(problem, which):
    """While memory is counted, while it warms up, while it is timed."""
    calls = []

    def fail():
        calls.append(0)
        if len(calls) > which:
            raise problem

    with pytest.raises(problem):
        measure(fail, repeats=1)
    assert len(calls) == which + 1
    assert not tracemalloc.is_tracing()


@pytest.mark.parametrize("wrong", [None, 5, "len"])
def test_what_cannot_be_called_is_refused(wrong):
    with pytest.raises(TypeError, match=f"^function must be callable; got {type(wrong).__name__}"):
        measure(wrong)


def test_a_long_list_is_not_searched_while_the_clock_runs(monkeypatch):
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    numbers = [0.0] * 100_000
    numbers.append(numbers)  # no end to it, either
    timed = measure(lambda: numbers, repeats=5, memory=False)
    assert timed.smallest < 1e-3
    assert measure(len, numbers, repeats=1).smallest < 1e-3


@pytest.mark.parametrize("wrong", [{"repeats": 0}, {"warm_up": -1}, {"repeats": 2.0}, {"rest": -1}])
def test_what_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        measure(int, **wrong)


def test_one_sentence_in_each_language():
    timed = Timing("attention", (0.02, 0.01, 0.0123), 252_000_000, machine.Device(None, 2))
    assert str(timed) == (
        "attention：量 3 次，時間的中位數是 12.3 ms，最短 10 ms（CPU，2 條執行緒）；"
        "執行時最多多用 252 MB 的記憶體。"
    )
    al.set_language("en")
    assert timed.device == "CPU, 2 threads"
    assert timed.sentence == (
        "attention: 3 runs, median time 12.3 ms, shortest 10 ms (CPU, 2 threads); "
        "memory in use grew by 252 MB at most."
    )
    untold = dataclasses.replace(timed, peak_bytes=None, ran_on=machine.Device(None, 1))
    assert untold.sentence.endswith("shortest 10 ms (CPU, 1 thread).")
    with pytest.raises(dataclasses.FrozenInstanceError):
        timed.times = ()


def test_names_of_functions_and_of_what_has_none():
    assert measure(al.attention, *[np.ones((2, 2))] * 3, repeats=1).name == "attention"

    class Step:
        def __call__(self):
            return None

    assert measure(Step(), repeats=1).name == "Step"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ns"),
        (2.5e-8, "25 ns"),
        (1.234e-5, "12.3 µs"),
        (9.9996e-4, "1 ms"),
        (0.1234, "123 ms"),
        (0.9994, "999 ms"),
        (1.0, "1 s"),
        (61.26, "61.3 s"),
        (12345.6, "12,346 s"),
    ],
)
def test_durations_in_words(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (8_600_000, "8.6 MB"),
        (999_700_000, "1 GB"),
        (25.3e9, "25.3 GB"),
        (3.4e11, "340 GB"),
        (2e12, "2 TB"),
    ],
)
def test_bytes_in_words(count, text):
    assert memory_size(count) == text


# -- on a GPU that is feigned --------------------------------------------------------------------


@pytest.fixture
def cupy(monkeypatch):
    """A module of that name whose arrays are there only after someone has waited for them."""
    events = []
    module = ModuleType("cupy")
    module.events = events
    stream = SimpleNamespace(synchronize=lambda: events.append("wait"))
    module.cuda = SimpleNamespace(
        get_current_stream=lambda: stream,
        Device=lambda: SimpleNamespace(id=0),
        runtime=SimpleNamespace(getDeviceProperties=lambda n: {"name": b"NVIDIA Feigned"}),
    )
    module.ndarray = type("ndarray", (), {"__module__": "cupy"})
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


@pytest.mark.parametrize("where", ["argument", "list", "named", "result", "record"])
def test_the_clock_stops_when_the_gpu_has_finished(cupy, where):
    array, events = cupy.ndarray(), cupy.events

    def run(*values, **named):
        events.append("run")
        return array if where == "result" else None

    record = al.AttentionSteps(*[array] * 5)
    arguments = {"argument": [array], "list": [[1, (array,)]], "record": [record]}.get(where, [])
    named = {"mask": array} if where == "named" else {}
    timed = measure(run, *arguments, repeats=2, **named)
    assert timed.device == "NVIDIA Feigned"
    assert timed.peak_bytes is None  # Python does not see that memory
    late = where == "result"  # it shows only once the first timed run has returned
    before = ["run", "run"] if late else ["run", "wait"]  # memory is counted only on the CPU
    assert events == [*before, "run", "wait", "wait", "run", "wait"]


def test_what_the_gpu_did_before_is_not_counted(cupy, monkeypatch):
    """The clock starts only when it has finished that as well."""
    events = cupy.events
    monkeypatch.setattr(timing, "perf_counter", lambda: events.append("clock") or 0.0)
    measure(lambda array: events.append("run"), cupy.ndarray(), repeats=2, warm_up=1)
    assert events == ["run", *["wait", "clock", "run", "wait", "clock"] * 2]


def test_without_cupy_s_arrays_nobody_asks_for_a_gpu(cupy):
    assert measure(int, repeats=1).device.startswith("CPU")
    assert cupy.events == []


# -- memory of the machine -----------------------------------------------------------------------


@pytest.fixture
def containers(monkeypatch, tmp_path):
    """Files in which a container says what it may use."""
    names = ("max", "now", "stat")
    paths = tuple(tuple(str(tmp_path / f"{n}.{name}") for name in names) for n in (2, 1))
    monkeypatch.setattr(machine, "_CONTAINER", paths)

    def write(version, limit, used, parts="anon 5\n"):
        for path, words in zip(paths[2 - version], (limit, used, parts), strict=True):
            with open(path, "w", encoding="ascii") as file:
                file.write(f"{words}\n")

    return write


def test_memory_of_this_machine(containers):
    found = machine.memory()
    assert found.total > 1e8
    assert 0 < found.free <= found.total


def test_memory_without_psutil(containers, monkeypatch):
    with_psutil = machine.memory().total
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert machine.memory().total == pytest.approx(with_psutil, rel=0.05)


def test_where_nobody_tells_how_much_memory_there_is(containers, monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    monkeypatch.delattr(machine.os, "sysconf")
    assert machine.memory() == machine.Memory(None, None)
    containers(2, 1_000, 400)
    assert machine.memory() == machine.Memory(1_000, 600)


@pytest.mark.parametrize("version", [1, 2])
def test_a_container_has_less_than_the_machine(containers, version):
    containers(version, 1_000_000, 400_000)
    assert machine.memory() == machine.Memory(1_000_000, 600_000)
    containers(version, 1_000_000, 1_200_000)
    assert machine.memory() == machine.Memory(1_000_000, 0)
    everything = machine._memory_of_machine()[0]
    containers(version, "max" if version == 2 else 2**63 - 4096, 400_000)
    assert machine.memory().total == everything


@pytest.mark.parametrize(
    ("version", "parts", "free"),
    [
        (2, "anon 5\nactive_file 50000\ninactive_file 300000", 400_000),
        (1, "inactive_file 7\ntotal_inactive_file 300000", 400_000),
        (2, "inactive_file 3000000", 1_000_000),  # counted at another moment than the use
        (2, "what is this", 100_000),
    ],
)
def test_files_kept_in_memory_make_room(containers, version, parts, free):
    """Else a container that has read large files looks full."""
    containers(version, 1_000_000, 900_000, parts)
    assert machine.memory() == machine.Memory(1_000_000, free)


# -- rates ---------------------------------------------------------------------------------------


def test_rates_are_measured_once_for_each_type_of_number():
    start = time.perf_counter()
    one = timing.machine_rates("float32")
    assert timing.machine_rates("float16") is one is timing.machine_rates()
    assert timing.machine_rates("float64") is not one
    assert time.perf_counter() - start < 5  # half a second where nothing else runs
    for rates in (one, timing.machine_rates("float64")):
        assert rates.flops > 1e8
        assert rates.exponentials > 1e6
        assert rates.bytes > 1e7
        assert rates.read_bytes > 1e7
        assert rates.conversions > 1e6
        assert 0 < rates.call < 0.01
        assert str(rates.ran_on).startswith("CPU")


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_rates_are_what_is_done_by_the_shortest_time(precision, monkeypatch):
    """Everything is said to take a quarter of a second: what is left is what was counted."""
    done = []

    def feigned(run, *, repeats, memory, rest):
        assert (memory, rest) == (False, 0)  # the shortest times are those in peace
        assert repeats > 1
        done.append((run, run()))
        return Timing("", (0.5, 0.25, 1.0), None, machine.device_of())

    monkeypatch.setattr(timing, "measure", feigned)
    rates = timing._measured_rates(precision)
    (product, square), (_, exponentials), (_, large), (_, most), (_, single), (_, _) = done
    left, right = (inspect.getclosurevars(product).nonlocals[name] for name in ("left", "right"))
    np.testing.assert_allclose(square, left @ right.T, rtol=1e-4, atol=1e-4)
    assert rates.flops == 4 * 2 * square.size * left.shape[1]
    assert rates.exponentials == 4 * exponentials.size
    assert 0 < exponentials.min() < exponentials.max() <= 1  # as in softmax
    assert exponentials.nbytes < 2**19  # stays in a core's cache
    assert rates.bytes == 4 * 2 * large.nbytes
    assert large.nbytes >= 2**25  # does not
    assert (rates.read_bytes, most) == (4 * large.nbytes, 1)
    assert rates.conversions == 4 * single.size
    assert single.dtype == np.float32
    assert rates.call == 0.25
    kinds = {array.dtype for array in (left, right, square, exponentials, large)}
    assert kinds == {np.dtype(precision)}


def test_rates_measured_anew_keep_what_was_faster(monkeypatch):
    """A machine that was busy at first, or is now, does not look slow for ever."""
    here = machine.device_of()
    slow = timing.Rates(1.0, 20.0, 3.0, 40.0, 5.0, 0.6, here)
    mixed = timing.Rates(10.0, 2.0, 30.0, 4.0, 50.0, 0.5, here)
    turns = iter([slow, mixed])
    monkeypatch.setattr(timing, "_known", {})
    monkeypatch.setattr(timing, "_measured_rates", lambda precision: next(turns))
    assert timing.machine_rates(anew=True) is slow  # it is measured once at first
    assert timing.machine_rates() is slow
    best = timing.Rates(10.0, 20.0, 30.0, 40.0, 50.0, 0.5, here)
    assert timing.machine_rates(anew=True) == best
    assert timing.machine_rates() == best


def test_a_prediction_is_the_sum_of_what_the_counts_take():
    rates = timing.Rates(100.0, 10.0, 1000.0, 2000.0, 50.0, 0.5, machine.Device(None, 2))
    cost = costs.Cost(150, 20, 4000, 0, 0, rounds=3)
    assert rates.seconds(cost) == 1.5 + 3 + 2 + 4
    assert rates.seconds(cost, threads=2) == 1.5 + 3 + 1 + 4
    cost = costs.Cost(150, 20, 4000, 0, 0, rounds=3, read_bytes=3000, converted=100)
    assert rates.seconds(cost) == 1.5 + 3 + 2 + 1 + 1.5 + 2


def test_predictions_are_of_the_right_order():
    """On a busy machine either side may be slow at first: the fastest of some rounds counts."""
    Q, K, V = (np.random.default_rng(s).standard_normal((4, 512, 64)) for s in range(3))
    Q, K, V = (x.astype(np.float32) for x in (Q, K, V))
    found = math.inf
    for _ in range(20):
        predicted = timing.machine_rates(anew=True).seconds(costs.textbook_cost(512, n_head=4))
        run = measure(al.attention, Q, K, V, mask="causal", repeats=5, memory=False)
        found = min(found, run.smallest)
        if found / 10 < predicted < found * 10:
            return
    pytest.fail(f"{predicted:g} s were predicted, {found:g} s were measured")
