"""The race over every d_k and η: which settings learn, scaled and raw, at a glance.

The numbers ship as ``data/race_grid.json``; ``python -m andrea_lesson.training grid`` makes them
again, and :func:`train_point` any one of them.

Where η is too large, training is chaotic: two starts that differ in the ninth digit end apart, and
so do two processors, which round differently in the sixteenth.  Such a point is marked as not
steady.  Its numbers are as good a sample as any, but no other machine need give the same ones.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import data_files, lookup, optimisers, racing
from .data_files import damaged, data_path, read_json, write_json
from .inputs import check_real
from .racing import OPTIMISERS, SEEDS, Progress, Setting, learn
from .random_scores import FloatArray, check_one_of
from .threads import one_blas_thread

NAME = "race_grid.json"
COMMAND = "python -m andrea_lesson.training grid --anew"

D_K = (4, 16, 64, 256, 1024)
SIGMA = (1.0, 0.1)
ETA = {
    "adam": (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
    "sgd": (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0),
}
_KNOBS = ("optimiser", "scaled", "sigma", "d_k", "eta")  # of a point; the rest is the same for all


@dataclass(frozen=True)
class Point:
    """How a setting ended: a number for each of the seeds.

    Attributes
    ----------
    accuracy : tuple of float
    loss : tuple of float or None
        None where the numbers have overflowed.
    steady : bool
        Whether a start that differs in the ninth digit ends in the same numbers to 1e-4.
    """

    accuracy: tuple[float, ...]
    loss: tuple[float | None, ...]
    steady: bool = True

    def distance(self, other: "Point") -> float:
        """Largest difference in an accuracy or a loss; infinite where a loss has overflowed."""
        mine, yours = (np.array(one.accuracy + one.loss, dtype=float) for one in (self, other))
        largest = float(np.abs(mine - yours).max())
        return math.inf if math.isnan(largest) else largest


@dataclass(frozen=True, eq=False)
class RaceGrid:
    """The points made so far, and what made them.

    Attributes
    ----------
    points : mapping of Setting to Point
    made_by : dict
        The command, versions, and a SHA-256 of each file of code.
    seeds : tuple of int
    """

    points: Mapping[Setting, Point]
    made_by: Mapping[str, Any]
    seeds: tuple[int, ...] = SEEDS

    def table(self, optimiser: str, sigma: float, *, scaled: bool) -> FloatArray:
        """Final accuracy, mean over seeds.

        Parameters
        ----------
        optimiser : {"adam", "sgd"}
        sigma : float
            One of ``SIGMA``.
        scaled : bool

        Returns
        -------
        ndarray, shape (len(D_K), len(ETA[optimiser]))
            NaN where a point is not made yet.
        """
        rows = self._rows(optimiser, sigma, scaled)
        return np.array(
            [
                [np.nan if point is None else np.mean(point.accuracy) for point in row]
                for row in rows
            ]
        )

    def chaotic(self, optimiser: str, sigma: float, *, scaled: bool) -> NDArray[np.bool_]:
        """Which of the entries of :meth:`table` are not steady, in the same shape."""
        rows = self._rows(optimiser, sigma, scaled)
        return np.array([[point is not None and not point.steady for point in row] for row in rows])

    def _rows(self, optimiser: str, sigma: float, scaled: bool) -> list[list[Point | None]]:
        check_one_of("optimiser", optimiser, OPTIMISERS)
        if sigma not in SIGMA:
            raise ValueError(f"sigma must be one of {SIGMA}; got {sigma!r}.")
        return [
            [self.points.get(Setting(d_k, sigma, eta, optimiser, scaled)) for eta in ETA[optimiser]]
            for d_k in D_K
        ]

    @property
    def complete(self) -> bool:
        """Whether every point is made."""
        return all(setting in self.points for setting in all_settings())


def all_settings() -> Iterator[Setting]:
    """Every point of the grid, scaled and raw in turn, the narrow heads first."""
    for d_k in D_K:
        for optimiser in OPTIMISERS:
            for sigma in SIGMA:
                for eta in ETA[optimiser]:
                    for scaled in (True, False):
                        yield Setting(d_k, sigma, eta, optimiser, scaled)


def train_point(
    setting: Setting, *, seeds: tuple[int, ...] = SEEDS, progress: Progress | None = None
) -> Point:
    """Train one point of the grid now.

    Claim: the seeds that ship with the grid give its steady points again to 1e-3, on any
    machine; on one machine, every point.

    Parameters
    ----------
    setting : Setting
        Of the grid or any other.
    seeds : tuple of int
    progress : callable, optional
        Told the steps done and the steps in all; what it raises ends the training.

    Returns
    -------
    Point
        Not yet looked at for whether it is steady: see :func:`is_steady`.
    """
    accuracy, loss = [], []
    for n, seed in enumerate(seeds):
        last = None
        with one_blas_thread():
            for last in learn(setting, seed, every=50):
                if progress is not None:
                    progress(n * setting.steps + last.step, len(seeds) * setting.steps)
        assert last is not None
        accuracy.append(last.accuracy)
        loss.append(last.loss if np.isfinite(last.loss) else None)
    return Point(tuple(accuracy), tuple(loss))


def is_steady(setting: Setting, point: Point) -> bool:
    """Train again from a start that differs in the ninth digit: does it end as it did?

    Parameters
    ----------
    setting : Setting
    point : Point
        What :func:`train_point` gave.
    """
    nearly = replace(setting, sigma=setting.sigma * (1 + 1e-9))
    again = train_point(nearly, seeds=SEEDS[: len(point.accuracy)])
    return again.distance(point) <= 1e-4


def load_grid(path: Path | None = None) -> RaceGrid:
    """Read the grid that ships, or another.

    Parameters
    ----------
    path : Path, optional

    Raises
    ------
    DataFileError
        In one sentence that says how to make the file again, if it is missing or damaged.
    """
    path = data_path(NAME) if path is None else path
    content = read_json(path, COMMAND)
    known = set(all_settings())
    try:
        seeds = tuple(content["seeds"])
        if seeds != SEEDS:
            raise ValueError(f"seeds {seeds} where {SEEDS} are wanted")
        if content["steps"] != Setting().steps:
            raise ValueError(f"{content['steps']} steps where {Setting().steps} are wanted")
        points = {}
        for row in content["points"]:
            setting = Setting(**{name: row[name] for name in _KNOBS})
            if setting not in known:
                raise ValueError(f"a point that is not of the grid: {setting}")
            if not isinstance(row["steady"], bool):
                raise ValueError(f"steady {row['steady']!r} is neither true nor false")
            numbers = _numbers(row, "accuracy", 1.0), _numbers(row, "loss")
            points[setting] = Point(*numbers, row["steady"])
        return RaceGrid(points, dict(content["made_by"]), seeds)
    except KeyError as error:
        raise damaged(path, COMMAND, f"no entry {error}") from None
    except (TypeError, ValueError) as error:
        raise damaged(path, COMMAND, error) from None


def save_grid(grid: RaceGrid, path: Path) -> None:
    """Save a grid, whole or not at all."""
    rows = [
        {name: getattr(setting, name) for name in _KNOBS}
        | {"accuracy": point.accuracy, "loss": point.loss, "steady": point.steady}
        for setting, point in grid.points.items()
    ]
    head = {"made_by": dict(grid.made_by), "seeds": list(grid.seeds), "steps": Setting().steps}
    write_json(path, head | {"points": rows})


def make_grid(
    path: Path, *, anew: bool = False, progress: Progress | None = None
) -> Iterator[RaceGrid]:
    """Make what is not made yet, point by point, and save each at once.

    Parameters
    ----------
    path : Path
        The file; what it holds already is kept.
    anew : bool
        Whether to begin from nothing instead.
    progress : callable, optional
        As in :func:`train_point`.

    Yields
    ------
    RaceGrid
        After each point, when it is saved: who stops here loses nothing.

    Raises
    ------
    DataFileError
        If the file that is there is damaged, or was begun by other code or versions.
    """
    present = made_by()
    before = None if anew else data_files.begun_before(path, load_grid, present, COMMAND)
    grid = before or RaceGrid({}, present)
    for setting in all_settings():
        if setting not in grid.points:
            point = train_point(setting, progress=progress)
            point = replace(point, steady=is_steady(setting, point))
            grid = RaceGrid({**grid.points, setting: point}, grid.made_by)
            save_grid(grid, path)
            yield grid


def made_by() -> dict[str, Any]:
    """What makes a grid here: the command, versions, and the code by its SHA-256."""
    code = [Path(str(module.__file__)) for module in (lookup, optimisers, racing)]
    return data_files.made_by(COMMAND, code)


def _numbers(row: Mapping[str, Any], name: str, most: float = np.inf) -> tuple[Any, ...]:
    """A number for each seed, from 0 to `most`; only a loss may be missing."""
    numbers = tuple(
        None if value is None and name == "loss" else check_real(name, value) for value in row[name]
    )
    if len(numbers) != len(SEEDS) or any(n is not None and not 0 <= n <= most for n in numbers):
        raise ValueError(f"{name} {list(numbers)} is not a number from 0 to {most} for each seed")
    return numbers
