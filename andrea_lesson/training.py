"""Small models that really learn, and the command that makes their results.

    python -m andrea_lesson.training grid     final accuracy over η × d_k, into data/race_grid.json
    python -m andrea_lesson.training leakage  decoders with five masks, into data/leakage.json
    python -m andrea_lesson.training check    trains some of both anew and compares

`lookup.py` holds the task and the gradients by hand, `optimisers.py` SGD and Adam, `racing.py`
scaled against raw, `race_grid.py` the grid; `decoder.py` a small decoder, `honest.py` how well it
writes, `writing.py` how it learns, `leakage.py` what five masks make of it.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import leakage, race_grid
from .data_files import DataFileError, data_path
from .leakage import VARIANTS as VARIANTS
from .leakage import LeakageRun as LeakageRun
from .leakage import LeakageSetting as LeakageSetting
from .leakage import load_leakage as load_leakage
from .leakage import train_leakage as train_leakage
from .lookup import Head as Head
from .lookup import LookUp as LookUp
from .lookup import Shelves as Shelves
from .lookup import cross_entropy as cross_entropy
from .lookup import gradients as gradients
from .lookup import look_up as look_up
from .lookup import random_head as random_head
from .lookup import random_shelves as random_shelves
from .optimisers import SGD as SGD
from .optimisers import Adam as Adam
from .progress_bar import progress_bar as progress_bar
from .race_grid import D_K as D_K
from .race_grid import ETA as ETA
from .race_grid import SIGMA as SIGMA
from .race_grid import Point as Point
from .race_grid import RaceGrid as RaceGrid
from .race_grid import load_grid as load_grid
from .race_grid import train_point as train_point
from .racing import Curves as Curves
from .racing import History as History
from .racing import Race as Race
from .racing import Setting as Setting
from .racing import Snapshot as Snapshot
from .racing import learn as learn
from .racing import race as race
from .racing import train as train
from .racing import twin as twin

TOLERANCE = 1e-3  # between an accuracy or loss of the grid that ships and the same trained now
LEAKAGE_TOLERANCE = 0.03  # share of a loss; another kind of processor was up to 0.007 away


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Taken from the command line by default.

    Returns
    -------
    int
        0 when all went well, 1 when a file stands in the way or a number does not come out
        again, 130 when the keyboard ended it.
    """
    parser = argparse.ArgumentParser(prog="python -m andrea_lesson.training")
    commands = parser.add_subparsers(required=True, metavar="{grid,leakage,check}")
    for name, file, make, piece in (
        ("grid", race_grid.NAME, _grid, "point"),
        ("leakage", leakage.NAME, _leakage, "run"),
    ):
        maker = commands.add_parser(name, help=f"make {file}; an interrupted run is gone on with")
        maker.add_argument("--anew", action="store_true", help="begin from nothing")
        maker.add_argument("--file", type=Path, help=f"instead of {file} of the lesson")
        maker.set_defaults(run=make, piece=piece)
    check = commands.add_parser("check", help="train some of both anew and compare")
    check.add_argument("--points", type=int, default=20, help="of the grid (default: %(default)s)")
    check.add_argument("--runs", type=int, default=1, help="of leakage (default: %(default)s)")
    check.add_argument("--all", action="store_true", help="every one, which takes minutes")
    check.add_argument("--file", type=Path, help="this grid, and nothing else")
    check.add_argument("--leakage-file", type=Path, help="these runs, and no grid")
    check.set_defaults(run=_check, piece="point and run")
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except (DataFileError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nStopped; every {options.piece} made so far is saved.", file=sys.stderr)
        return 130


def _grid(options: argparse.Namespace) -> int:
    path = options.file or data_path(race_grid.NAME)
    total = len(list(race_grid.all_settings()))
    done = (len(grid.points) for grid in race_grid.make_grid(path, anew=options.anew))
    return _tell(done, f"{total} points", path, race_grid.COMMAND)


def _leakage(options: argparse.Namespace) -> int:
    path = options.file or data_path(leakage.NAME)
    total = len(list(leakage.all_settings()))
    done = (len(results.runs) for results in leakage.make_leakage(path, anew=options.anew))
    return _tell(done, f"{total} runs", path, leakage.COMMAND)


def _tell(done: Iterable[int], total: str, path: Path, command: str) -> int:
    made, started = 0, time.monotonic()
    for made in done:
        print(f"\r{made}/{total}, {time.monotonic() - started:.0f} s", end="", flush=True)
    print("" if made else f"{path} is complete; to begin from nothing: {command}")
    return 0


def _check(options: argparse.Namespace) -> int:
    both = options.file is None and options.leakage_file is None
    worst = []
    if options.file is not None or both:
        worst.append(_check_grid(options) <= TOLERANCE)
    if options.leakage_file is not None or both:
        worst.append(_check_leakage(options) <= LEAKAGE_TOLERANCE)
    return 0 if all(worst) else 1


def _check_grid(options: argparse.Namespace) -> float:
    grid = load_grid(options.file)
    points = [(setting, point) for setting, point in grid.points.items() if point.steady]
    print(f"{len(points)} of {len(grid.points)} points are steady, and can be compared.")
    chosen = points if options.all else _some(points, options.points)
    return _compare(chosen, train_point, TOLERANCE, "points")


def _check_leakage(options: argparse.Namespace) -> float:
    runs = list(leakage.load_results(options.leakage_file).runs.items())
    chosen = runs if options.all else _some(runs, options.runs)
    return _compare(chosen, train_leakage, LEAKAGE_TOLERANCE, "runs")


def _some(items: list[Any], count: int) -> list[Any]:
    """Pick others every time."""
    chosen = np.random.default_rng().permutation(len(items))[: max(1, count)]
    return [items[n] for n in sorted(chosen)]


def _compare(
    shipped: list[Any], train_anew: Callable[[Any], Any], tolerance: float, what: str
) -> float:
    worst = 0.0
    for n, (setting, before) in enumerate(shipped, 1):
        now = train_anew(setting)
        difference = now.distance(before)
        worst = max(worst, difference)
        if difference > tolerance:
            print(f"\n{setting}: shipped {before}, now {now}", file=sys.stderr)
        words = f"\r{n}/{len(shipped)} {what}, largest difference {worst:.2g}"
        print(words, end="", flush=True)
    print()
    return worst


if __name__ == "__main__":
    sys.exit(main())
