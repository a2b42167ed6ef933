"""The grid of the race: it ships whole, comes out again, and survives what happens to files."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from andrea_lesson import race_grid, training
from andrea_lesson.data_files import DataFileError, data_path, read_json, write_json
from andrea_lesson.race_grid import (
    COMMAND,
    D_K,
    ETA,
    NAME,
    SIGMA,
    Point,
    RaceGrid,
    all_settings,
    is_steady,
    load_grid,
    make_grid,
    save_grid,
    train_point,
)
from andrea_lesson.training import Setting

SHIPPED = data_path(NAME)


@pytest.fixture(scope="module")
def grid():
    return load_grid()


@pytest.fixture
def small(monkeypatch):
    """A grid of four points that take next to no time."""
    monkeypatch.setattr(race_grid, "D_K", (2,))
    monkeypatch.setattr(race_grid, "SIGMA", (1.0,))
    monkeypatch.setattr(race_grid, "ETA", {"adam": (0.01,), "sgd": (1.0,)})
    made = []

    def point(setting, **_):
        made.append(setting)
        return Point((0.5, 0.6, 0.7), (1.0, 2.0, None))

    monkeypatch.setattr(race_grid, "train_point", point)
    return made


# -- what ships ------------------------------------------------------------------------------------


def test_the_grid_ships_whole(grid):
    assert grid.complete
    assert len(grid.points) == 2 * len(SIGMA) * len(D_K) * sum(map(len, ETA.values()))
    assert SHIPPED.stat().st_size < 200_000


def test_what_made_it_is_told(grid):
    assert grid.made_by["command"] == COMMAND
    assert {"numpy", "python", "andrea_lesson", "machine"} <= grid.made_by.keys()
    assert set(grid.made_by["code"]) == {"lookup.py", "optimisers.py", "racing.py"}
    content = json.loads(SHIPPED.read_text(encoding="utf-8"))
    assert content["seeds"] == [0, 1, 2]
    assert content["steps"] == 400


# Of each corner of the grid that is quick to train, and of the middle of it.
ANEW = [
    Setting(d_k=4, sigma=1.0, eta=0.003, optimiser="adam"),
    Setting(d_k=16, sigma=0.1, eta=0.0003, optimiser="adam", scaled=False),
    Setting(d_k=64, sigma=1.0, eta=0.001, optimiser="adam", scaled=False),
    Setting(d_k=16, sigma=1.0, eta=1.0, optimiser="sgd"),
    Setting(d_k=64, sigma=1.0, eta=1.0, optimiser="sgd", scaled=False),
]


@pytest.mark.parametrize("setting", ANEW, ids=str)
def test_trained_now_a_steady_point_is_the_one_that_ships(grid, setting):
    point = grid.points[setting]
    assert point.steady
    assert 0.1 < np.mean(point.accuracy) < 0.999  # a number that could come out differently
    now = train_point(setting)
    np.testing.assert_allclose(now.accuracy, point.accuracy, rtol=0, atol=1e-3)
    np.testing.assert_allclose(now.loss, point.loss, rtol=0, atol=1e-3)


def test_chaos_is_told_from_learning():
    """Whatever rounds otherwise makes such a point end elsewhere: a ninth digit shows it."""
    calm = Setting(d_k=16, sigma=1.0, eta=0.003, optimiser="adam", scaled=False)
    wild = replace(calm, eta=1.0)
    for setting, steady in ((calm, True), (wild, False)):
        assert is_steady(setting, train_point(setting, seeds=(0,))) == steady


def test_most_points_are_steady_and_chaos_is_where_eta_is_large(grid):
    steady = [point.steady for point in grid.points.values()]
    assert np.mean(steady) > 0.7
    for optimiser in ETA:
        for sigma in SIGMA:
            for scaled in (True, False):
                chaotic = grid.chaotic(optimiser, sigma, scaled=scaled)
                assert chaotic.shape == grid.table(optimiser, sigma, scaled=scaled).shape
                assert not chaotic[:, :3].any()


# -- what the results say --------------------------------------------------------------------------


def serves(grid, optimiser, sigma, *, scaled):
    """How many η learn the look-up at every d_k from 16 on."""
    table = grid.table(optimiser, sigma, scaled=scaled)[D_K.index(16) :]
    return int((table > 0.99).all(axis=0).sum())


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_with_unit_sigma_one_eta_serves_every_d_k_only_if_scaled(grid, optimiser):
    assert serves(grid, optimiser, 1.0, scaled=True) >= 4
    assert serves(grid, optimiser, 1.0, scaled=False) == 0


def test_with_a_small_sigma_raw_can_serve_more(grid):
    assert serves(grid, "sgd", 0.1, scaled=False) > serves(grid, "sgd", 0.1, scaled=True)


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
@pytest.mark.parametrize("sigma", SIGMA)
def test_each_of_the_two_wins_somewhere(grid, optimiser, sigma):
    scaled = grid.table(optimiser, sigma, scaled=True)
    raw = grid.table(optimiser, sigma, scaled=False)
    steady = ~(
        grid.chaotic(optimiser, sigma, scaled=True) | grid.chaotic(optimiser, sigma, scaled=False)
    )
    assert (scaled > raw + 0.1).any()
    raw_wins = (raw > scaled + 0.1) & steady
    assert raw_wins.any() == ((optimiser, sigma) != ("adam", 1.0))


# -- files -----------------------------------------------------------------------------------------


def test_a_missing_file_says_how_to_make_it(tmp_path):
    with pytest.raises(DataFileError, match="is missing; make it with: python -m andrea") as error:
        load_grid(tmp_path / "none.json")
    assert "\n" not in str(error.value)


def spoilt():
    """Ways in which a file can be wrong."""
    knobs = {"optimiser": "adam", "scaled": True, "sigma": 1.0, "d_k": 4, "eta": 0.1}
    first = knobs | {"accuracy": [0.5, 0.6, 0.7], "loss": [1.0, 2.0, None], "steady": True}
    content = {"made_by": {}, "seeds": [0, 1, 2], "steps": 400, "points": [first]}
    whole = json.dumps(content)
    yield "", whole  # this one is right
    yield "empty", ""
    yield "cut off", whole[: len(whole) // 2]
    yield "no text", b"\xff\xfe\x00"
    yield "a list", "[]"
    yield "deep", "[" * 100_000
    yield "no points", json.dumps({"made_by": {}, "seeds": [0, 1, 2], "steps": 400})
    yield "other seeds", json.dumps(content | {"seeds": [0, 1]})
    yield "other steps", json.dumps(content | {"steps": 401})
    for name, value in (
        ("accuracy", [0.5, 0.5]),
        ("accuracy", [0.5, 0.5, 1.5]),
        ("accuracy", [0.5, 0.5, None]),
        ("accuracy", "0.5"),
        ("loss", [1.0, 1.0, -1.0]),
        ("eta", 0.02),
        ("eta", 0),
        ("d_k", "4"),
        ("scaled", 1),
        ("steady", "yes"),
    ):
        row = first | {name: value}
        yield f"{name} {value}", json.dumps(content | {"points": [row]})
    del (missing := dict(first))["loss"]
    yield "no loss", json.dumps(content | {"points": [missing]})
    yield "NaN", json.dumps(content | {"points": [first | {"accuracy": [float("nan")] * 3}]})


@pytest.mark.parametrize(
    ("fault", "content"), list(spoilt()), ids=[name or "none" for name, _ in spoilt()]
)
def test_a_damaged_file_says_how_to_make_it_again(fault, content, tmp_path):
    path = tmp_path / "race_grid.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if not fault:
        assert len(load_grid(path).points) == 1
        return
    with pytest.raises(DataFileError, match="is damaged") as error:
        load_grid(path)
    assert "\n" not in str(error.value)
    assert COMMAND in str(error.value)


def test_a_saved_grid_is_read_as_it_was(grid, tmp_path):
    path = tmp_path / "race_grid.json"
    save_grid(grid, path)
    assert load_grid(path).points == dict(grid.points)
    assert path.read_bytes() == SHIPPED.read_bytes()


def test_a_loss_that_overflowed_is_saved_too(grid, tmp_path):
    setting = next(all_settings())
    path = tmp_path / "race_grid.json"
    overflowed = Point((0.1, 0.2, 0.3), (1.0, None, None), steady=False)
    save_grid(replace(grid, points={setting: overflowed}), path)
    assert load_grid(path).points == {setting: overflowed}


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "kept.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"a": float("nan")})
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_json(path, {"a": 2})
    assert read_json(path, "make") == {"a": 1}
    assert [one.name for one in tmp_path.iterdir()] == ["kept.json"]


# -- making it -------------------------------------------------------------------------------------


def test_what_is_made_is_saved_and_not_made_again(small, tmp_path):
    path = tmp_path / "race_grid.json"
    making = make_grid(path)
    next(making)
    next(making)
    making.close()  # interrupted
    assert len(load_grid(path).points) == 2
    assert not load_grid(path).complete
    for grid in make_grid(path):
        assert load_grid(path).points == dict(grid.points)
    assert load_grid(path).complete
    settings = list(all_settings())
    assert [one for one in small if one in settings] == settings  # each of them once
    assert list(make_grid(path)) == []


def test_begun_by_other_code_it_is_not_gone_on_with(small, tmp_path):
    path = tmp_path / "race_grid.json"
    next(make_grid(path))
    grid = load_grid(path)
    save_grid(replace(grid, made_by=dict(grid.made_by) | {"numpy": "1.0"}), path)
    with pytest.raises(DataFileError, match="begun by another version"):
        next(make_grid(path))
    assert len(load_grid(path).points) == 1
    assert len(list(make_grid(path, anew=True))) == 4
    assert load_grid(path).made_by == race_grid.made_by()


def test_a_point_not_yet_made_is_nan_in_its_table(grid):
    setting = Setting(4, 1.0, 0.01, "adam", True)
    table = RaceGrid({setting: grid.points[setting]}, {}).table("adam", 1.0, scaled=True)
    assert np.isfinite(table).sum() == 1
    assert table[0, 4] == np.mean(grid.points[setting].accuracy)
    with pytest.raises(ValueError, match="sigma must be one of"):
        grid.table("adam", 0.5, scaled=True)


def test_training_a_point_tells_its_progress_and_can_be_stopped():
    told = []
    train_point(Setting(d_k=2, steps=4), progress=lambda *numbers: told.append(numbers))
    assert told[-1] == (12, 12)

    def stop(done, _):
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_point(Setting(d_k=2, steps=4), progress=stop)


# -- the command -----------------------------------------------------------------------------------


def test_the_command_makes_checks_and_refuses(small, tmp_path, capsys):
    path = str(tmp_path / "race_grid.json")
    assert training.main(["check", "--file", path]) == 1
    assert "is missing; make it with" in capsys.readouterr().err
    assert training.main(["grid", "--file", path]) == 0
    assert "4/4 points" in capsys.readouterr().out
    assert training.main(["grid", "--file", path]) == 0
    assert "is complete" in capsys.readouterr().out
    assert training.main(["grid", "--file", str(tmp_path / "no" / "folder.json")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_the_command_notices_a_number_that_does_not_come_out(grid, tmp_path, capsys):
    setting = Setting(4, 1.0, 0.03, "adam", True)
    right, path = grid.points[setting], tmp_path / "race_grid.json"
    for accuracy, end in ((right.accuracy, 0), ((0.5, *right.accuracy[1:]), 1)):
        save_grid(replace(grid, points={setting: replace(right, accuracy=accuracy)}), path)
        assert training.main(["check", "--file", str(path)]) == end
    assert "accuracy=(0.5" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT for one process on Windows")
def test_a_run_that_is_interrupted_loses_nothing(tmp_path):
    path = tmp_path / "race_grid.json"
    run = subprocess.Popen(
        [sys.executable, "-m", "andrea_lesson.training", "grid", "--file", str(path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=tmp_path,
    )
    end = time.monotonic() + 60
    while not path.exists() and run.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    _, words = run.communicate(timeout=30)
    assert run.returncode == 130, words
    assert "every point made so far is saved" in words
    assert "Traceback" not in words
    points = load_grid(path).points
    assert 1 <= len(points) < 10
    assert [one.name for one in tmp_path.iterdir()] == ["race_grid.json"]
