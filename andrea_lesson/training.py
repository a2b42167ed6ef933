"""Small models that really learn, and the command that makes their results.

    python -m andrea_lesson.training grid     final accuracy over η × d_k, into data/race_grid.json
    python -m andrea_lesson.training check    trains some of its steady points anew and compares

`lookup.py` holds the task and the gradients by hand, `optimisers.py` SGD and Adam, `racing.py`
scaled against raw, `race_grid.py` the grid.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .data_files import DataFileError, data_path
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
from .race_grid import COMMAND, NAME, all_settings, make_grid
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

TOLERANCE = 1e-3  # between an accuracy or loss that ships and the same one trained now


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
    commands = parser.add_subparsers(required=True, metavar="{grid,check}")
    grid = commands.add_parser("grid", help=f"make {NAME}; an interrupted run is gone on with")
    grid.add_argument("--anew", action="store_true", help="begin from nothing")
    grid.set_defaults(run=_grid)
    check = commands.add_parser("check", help="train steady points of the grid anew and compare")
    check.add_argument("--points", type=int, default=20, help="how many (default: %(default)s)")
    check.add_argument("--all", action="store_true", help="every one, which takes minutes")
    check.set_defaults(run=_check)
    for command in (grid, check):
        command.add_argument("--file", type=Path, help=f"instead of {NAME} of the lesson")
    options = parser.parse_args(arguments)
    path = options.file or data_path(NAME)
    try:
        return int(options.run(path, options))
    except (DataFileError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; every point made so far is saved.", file=sys.stderr)
        return 130


def _grid(path: Path, options: argparse.Namespace) -> int:
    total, started = len(list(all_settings())), time.monotonic()
    made = 0
    for grid in make_grid(path, anew=options.anew):
        made += 1
        seconds = time.monotonic() - started
        print(f"\r{len(grid.points)}/{total} points, {seconds:.0f} s", end="", flush=True)
    print("" if made else f"{path} is complete; to begin from nothing: {COMMAND}")
    return 0


def _check(path: Path, options: argparse.Namespace) -> int:
    grid = load_grid(path)
    points = [(setting, point) for setting, point in grid.points.items() if point.steady]
    print(f"{len(points)} of {len(grid.points)} points are steady, and can be compared.")
    if not options.all:
        rng = np.random.default_rng()  # other points every time
        chosen = rng.permutation(len(points))[: max(1, options.points)]
        points = [points[n] for n in sorted(chosen)]
    worst = 0.0
    for n, (setting, shipped) in enumerate(points, 1):
        now = train_point(setting)
        difference = now.distance(shipped)
        worst = max(worst, difference)
        if difference > TOLERANCE:
            print(f"\n{setting}: shipped {shipped}, now {now}", file=sys.stderr)
        print(f"\r{n}/{len(points)} points, largest difference {worst:.2g}", end="", flush=True)
    print()
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
