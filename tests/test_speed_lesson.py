"""What lesson 6 shows of the CUDA source and of the machine is what it says that it is."""

import re
from functools import cache
from pathlib import Path

import pytest

import andrea_lesson as al
from andrea_lesson import costs, gpu, timing
from andrea_lesson.labels import label
from andrea_lesson.resources import resource_path
from build_source import read_source

SOURCE = Path(__file__).resolve().parents[1] / "notebooks" / "src" / "06_speed_and_memory.py"


@cache
def code():
    return {cell.key: cell.text for cell in read_source(SOURCE) if cell.code}


def run(*keys):
    """Run the first cell and some others; what they have left behind."""
    found = {"guess": None}
    for key in ("setup", *keys):
        exec(compile(code()[key], key, "exec"), found)
    return found


def test_each_pair_of_lines_is_of_the_same_step_of_the_fused_form(capsys):
    """Not of another rung that has a line like it, nor of a comment."""
    cuda = resource_path("kernels", "attention.cu").read_text(encoding="utf-8")
    fused = re.search(r"\n    rung3_forward\(.*?\n}\n", cuda, re.DOTALL)[0]
    numpy = resource_path("tiled.py").read_text(encoding="utf-8")
    steps = re.search(r"\n    def steps\(.*?\n    def ", numpy, re.DOTALL)[0]
    run("gpu-rung-3")
    shown = capsys.readouterr().out
    numpy_lines = re.findall(r"^NumPy +(.*)$", shown, re.MULTILINE)
    cuda_lines = re.findall(r"^CUDA +(.*)$", shown, re.MULTILINE)
    assert len(numpy_lines) == len(cuda_lines) == 8
    assert all(line in steps for line in numpy_lines)
    assert all(line in fused for line in cuda_lines)
    places = [fused.index(line) for line in cuda_lines]
    assert places == sorted(places)  # in the order in which they run
    # The masked scores are where the scale comes in, as the text says.
    assert ["* scale" in line for line in cuda_lines] == [False, True] + [False] * 6


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (gpu.Gpu(installed=False, works=False), "no_cupy"),
        (gpu.Gpu(installed=True, works=False, version="13.0"), "no_card"),
    ],
)
def test_without_a_gpu_the_cell_says_which_of_the_two_is_missing(
    monkeypatch, capsys, found, reason
):
    monkeypatch.setattr(gpu, "try_gpu", lambda: found)
    run("gpu-try")
    assert label(reason) in capsys.readouterr().out


@pytest.mark.parametrize(
    "key",
    ["layer-measure", "bandwidth-measure", "tiled-measure", "growth-measure", "size-measure"],
)
def test_no_time_on_show_is_that_of_a_single_run(monkeypatch, key):
    """The lesson itself says that a single run is not to be trusted."""
    asked = []

    def measure(function, *arguments, repeats=7, **named):
        asked.append(repeats)
        return timing.Timing("", (1e-3,) * repeats, 10**7, timing.device_of())

    rates = timing.Rates(1e11, 1e9, 1e10, 2e10, 1e9, 5e-5, timing.device_of())
    monkeypatch.setattr(timing, "measure", measure)
    monkeypatch.setattr(timing, "machine_rates", lambda: rates)
    run(key)
    assert asked
    assert min(asked) >= 3


def test_extra_memory_is_counted_and_measured_alike(monkeypatch):
    """With the result, as the cost panel has it."""
    model, threads = al.ANDREA_120M, timing.device_of().threads
    cost = costs.tiled_cost(model.T, model.d_k, n_head=model.n_head, threads=threads)
    shown = {}
    monkeypatch.setattr(al, "table", shown.update)
    run("tiled-measure")
    counted = (cost.working_bytes + cost.output_bytes) / 1e6
    assert shown["extra_megabytes"][1] == pytest.approx(counted, rel=0.5)
