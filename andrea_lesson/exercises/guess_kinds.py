"""What can be guessed, a curve or the cells of a matrix: what fits and what is kept."""

from typing import Any

import numpy as np

from ..labels import label
from ..panels.picture import Picture
from ..panels.settings import short
from .guess_picture import limits_with, picture_of_cells, picture_of_curve, ticks_between
from .guess_words import BoolArray, FloatArray, compare_cells, compare_curves


class GuessError(ValueError):
    """A guess that cannot be taken; its text is one sentence in the current language."""


class CurveKind:
    """A curve over given places; `spec` says which, and stays the same.

    Guesses are lists with None where nothing is drawn, as the browser sends them.
    """

    name = "curve"

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec

    def empty(self) -> list[Any]:
        """Return a guess of which nothing is drawn."""
        return [None] * len(self.spec["x"])

    def array(self, values: list[Any]) -> FloatArray | None:
        """Return a guess as an array, NaN where nothing is drawn; None if that is everywhere."""
        drawn = np.array(values, dtype=float)  # None becomes NaN
        return None if np.isnan(drawn).all() else drawn

    def read(self, values: Any) -> list[Any]:
        """Take a guess from outside.

        Raises
        ------
        GuessError
        """
        count = len(self.spec["x"])
        try:
            numbers = [] if isinstance(values, (str, bytes, dict)) else list(values)
            if not numbers or any(isinstance(one, (str, bytes)) for one in numbers):
                raise TypeError
            if np.iscomplexobj(values):  # NumPy would cut off the imaginary part
                raise TypeError
            given = np.array(numbers, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise GuessError(label("guess_no_numbers", came=told(values))) from None
        if given.shape != (count,):
            came = given.size if given.ndim == 1 else str(given.shape)
            raise GuessError(label("guess_wrong_count", wanted=count, came=came))
        low, high = self.spec["limits"]
        outside = given[(given < low) | (given > high)]
        if outside.size:
            ends = {"low": short(low), "high": short(high)}
            raise GuessError(label("guess_out_of_range", value=short(float(outside[0])), **ends))
        return plain(given)

    def check_whole(self, values: list[Any]) -> None:
        """Refuse a guess that is not ready to be committed.

        Raises
        ------
        GuessError
        """
        pairs = zip(self.spec["x_words"], values, strict=True)
        missing = [words for words, value in pairs if value is None]
        if missing:
            places = label("list_comma").join(missing[:4]) + ("…" if len(missing) > 4 else "")
            raise GuessError(label("guess_points_missing", count=len(missing), places=places))

    def check_truth(self, truth: Any) -> FloatArray:
        """Refuse a measured curve that does not belong to these places.

        Raises
        ------
        ValueError
        """
        measured = np.asarray(truth, dtype=float)
        count = len(self.spec["x"])
        if measured.shape != (count,):
            raise ValueError(
                f"truth must hold a value for each of the {count} places of x; "
                f"got shape {measured.shape}."
            )
        return measured

    def limits(self, truth: FloatArray | None) -> tuple[float, float]:
        """Ends of the plot, which takes in what was measured."""
        low, high = self.spec["limits"]
        return (low, high) if truth is None else limits_with(low, high, truth, self.spec["log_y"])

    def state(self, truth: FloatArray | None) -> dict[str, Any]:
        """Return what the browser needs besides guess and truth."""
        limits = self.limits(truth)
        ticks = ticks_between(*limits, self.spec["log_y"])
        return {"limits": list(limits), "ticks": [list(tick) for tick in ticks]}

    def plain(self, truth: FloatArray) -> list[Any]:
        """Return what was measured as JSON can have it."""
        return plain(truth)

    def compare(self, values: list[Any], truth: FloatArray) -> str:
        """Say in one sentence how guess and truth differ."""
        return compare_curves(
            np.array(values, dtype=float),
            truth,
            x_words=self.spec["x_words"],
            x_label=self.spec["x_label"],
            limits=self.limits(truth),
            log_y=self.spec["log_y"],
        )

    def entry(self, values: list[Any], truth: FloatArray | None) -> dict[str, Any]:
        """Return all that is worth keeping of a guess."""
        return {
            "kind": self.name,
            **{key: self.spec[key] for key in ("x", "x_words", "log_y")},
            **self.spec["keys"],
            "limits": list(self.limits(truth)),
            "guess": values,
            "truth": None if truth is None else plain(truth),
        }

    def same_question(self, entry: dict[str, Any]) -> bool:
        """Whether a guess that was kept is one about these places."""
        return entry.get("kind") == self.name and entry.get("x_words") == self.spec["x_words"]

    def picture(self, values: list[Any], truth: FloatArray | None) -> Picture:
        """Draw both."""
        return picture_of_curve(self.spec, self.entry(values, truth))


class CellsKind:
    """Cells of a matrix; guesses are lists of rows of True and False.

    The methods are those of :class:`CurveKind`.
    """

    name = "cells"

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec

    def empty(self) -> list[Any]:
        """Return a guess in which nothing is shaded."""
        rows, columns = self.spec["shape"]
        return [[False] * columns for _ in range(rows)]

    def array(self, values: list[Any]) -> BoolArray | None:
        """Return a guess as an array; None if nothing is shaded."""
        cells = np.array(values, dtype=bool)
        return cells if cells.any() else None

    def read(self, values: Any) -> list[Any]:
        """Take a guess from outside.

        Raises
        ------
        GuessError
        """
        rows, columns = self.spec["shape"]
        try:
            given = np.array(values)
        except ValueError:  # rows of unequal length
            given = np.array(None)
        if given.shape == (rows, columns) and np.isin(given.astype(object), (0, 1)).all():
            cells: list[Any] = given.astype(bool).tolist()
            return cells
        if given.ndim and given.shape != (rows, columns):
            came = label("guess_came_shape", shape=given.shape)
        else:
            came = told(values)
        raise GuessError(label("guess_wrong_shape", rows=rows, columns=columns, came=came))

    def check_whole(self, values: list[Any]) -> None:
        """Refuse a guess that is not ready to be committed.

        Raises
        ------
        GuessError
        """
        if self.array(values) is None:
            raise GuessError(label("guess_no_cells"))

    def check_truth(self, truth: Any) -> BoolArray:
        """Refuse a measured result that does not belong to these cells.

        Raises
        ------
        ValueError
        """
        cells, shape = np.asarray(truth), tuple(self.spec["shape"])
        if cells.shape != shape or cells.dtype != bool:
            raise ValueError(
                f"truth must be a bool array of shape {shape}; "
                f"got {cells.dtype} of shape {cells.shape}."
            )
        return cells

    def state(self, truth: BoolArray | None) -> dict[str, Any]:
        """Return what the browser needs besides guess and truth."""
        return {}

    def plain(self, truth: BoolArray) -> list[Any]:
        """Return what was measured as JSON can have it."""
        cells: list[Any] = truth.tolist()
        return cells

    def compare(self, values: list[Any], truth: BoolArray) -> str:
        """Say in one sentence how guess and truth differ."""
        return compare_cells(np.array(values, dtype=bool), truth)

    def entry(self, values: list[Any], truth: BoolArray | None) -> dict[str, Any]:
        """Return all that is worth keeping of a guess."""
        return {
            "kind": self.name,
            "shape": self.spec["shape"],
            **self.spec["keys"],
            "guess": values,
            "truth": None if truth is None else truth.tolist(),
        }

    def same_question(self, entry: dict[str, Any]) -> bool:
        """Whether a guess that was kept is one about these cells."""
        return entry.get("kind") == self.name and entry.get("shape") == self.spec["shape"]

    def picture(self, values: list[Any], truth: BoolArray | None) -> Picture:
        """Draw both."""
        return picture_of_cells(self.spec, self.entry(values, truth))


def plain(values: FloatArray) -> list[Any]:
    """Return numbers as JSON can have them: None for what is not finite."""
    return [float(value) if np.isfinite(value) else None for value in values]


def told(value: Any) -> str:
    """Write what came, whatever it is, so that it fits into a sentence."""
    try:
        text = " ".join(str(value).split()).encode("utf-8", "replace").decode("utf-8")
    except Exception:  # an object may fail to speak
        text = type(value).__name__
    return text if len(text) <= 40 else text[:39] + "…"
