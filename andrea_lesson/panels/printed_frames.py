"""Frames around rows, columns and cells of a printed plot, kept and changed in place."""

from collections.abc import Sequence

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from ..experiments import FloatArray
from ..figure_parts import rectangles
from ..figure_style import COMPARED, INK
from ..masks import BoolArray

LIT = "#d98200"
NOTHING = Path(np.zeros((1, 2)))
_Band = tuple[int, int, int, int]  # rows from, to; columns from, to


class Frames:
    """Frames on axes whose cells are counted from the upper left corner."""

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self._lit = self._patch(LIT, 2.0, halo=True)
        self._chosen = self._patch(INK, 1.6, halo=True)
        self._cells = self._patch(LIT, 2.0, halo=True)

    def draw(
        self,
        shape: tuple[int, ...],
        *,
        row: int | None = None,
        column: int | None = None,
        lit_rows: Sequence[int] = (),
        lit_columns: Sequence[int] = (),
        cells: BoolArray | None = None,
        warns: bool = False,
    ) -> None:
        """Frame what is chosen, what is lit, and marked cells.

        Parameters
        ----------
        shape : (int, int)
            Rows and columns.
        row, column : int, optional
            Chosen; the cell where they cross as well.
        lit_rows, lit_columns : sequence of int
            Neighbours get one frame.
        cells : ndarray of bool, shape `shape`, optional
        warns : bool
            Whether these are framed in the colour of warnings.
        """
        rows, columns = shape
        self._put(
            self._lit,
            [
                *((first, last, 0, columns) for first, last in _runs(lit_rows, rows)),
                *((0, rows, first, last) for first, last in _runs(lit_columns, columns)),
            ],
            shape,
        )
        down = _runs([] if row is None else [row], rows)
        across = _runs([] if column is None else [column], columns)
        self._put(
            self._chosen,
            [
                *((first, last, 0, columns) for first, last in down),
                *((0, rows, first, last) for first, last in across),
            ],
            shape,
        )
        path = NOTHING if cells is None or not cells.any() else _border(cells)
        self._cells.set_path(_in_shares(path, shape))
        self._cells.set_edgecolor(COMPARED if warns else LIT)

    def _patch(self, colour: str, width: float, *, halo: bool = False) -> PathPatch:
        patch = PathPatch(
            NOTHING,
            facecolor="none",
            edgecolor=colour,
            linewidth=width,
            zorder=3,
            clip_on=False,
            transform=self.ax.transAxes,
        )
        if halo:  # seen on dark cells and on light ones
            stroke = effects.Stroke(linewidth=width + 1.6, foreground="white")
            patch.set_path_effects([stroke, effects.Normal()])
        self.ax.add_patch(patch)
        return patch

    def _put(self, patch: PathPatch, bands: list[_Band], shape: tuple[int, ...]) -> None:
        if not bands:
            patch.set_path(NOTHING)
            return
        top, bottom, left, right = np.array(bands, dtype=float).T
        # A pixel outside the cells, which may be no wider than that themselves.
        box = self.ax.get_window_extent()
        dx, dy = shape[1] / box.width, shape[0] / box.height
        path = rectangles(left - dx, right + dx, top - dy, bottom + dy)
        patch.set_path(_in_shares(path, shape))


def _in_shares(path: Path, shape: tuple[int, ...]) -> Path:
    """From cells, counted downwards, to shares of the axes, upwards."""
    rows, columns = (max(size, 1) for size in shape)
    flipped: Path = path.transformed(Affine2D().scale(1 / columns, -1 / rows).translate(0, 1))
    return flipped


def _runs(places: Sequence[int], count: int) -> list[tuple[int, int]]:
    """Places that lie side by side, as (first, last + 1); those outside are passed over."""
    marked = np.zeros(count + 2, dtype=np.int8)
    marked[[place + 1 for place in places if 0 <= place < count]] = 1
    edges = np.diff(marked)
    starts, ends = np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist()
    return list(zip(starts, ends, strict=True))


def _border(cells: BoolArray) -> Path:
    """Edges at which marked cells meet others, as one path."""
    padded = np.pad(cells, 1)
    i, j = np.nonzero(padded[1:-1, 1:] != padded[1:-1, :-1])
    upright = _segments(np.stack([j, i, j, i + 1], axis=-1))
    i, j = np.nonzero(padded[1:, 1:-1] != padded[:-1, 1:-1])
    level = _segments(np.stack([j, i, j + 1, i], axis=-1))
    ends = np.concatenate([upright, level])
    codes = np.array([Path.MOVETO, Path.LINETO], Path.code_type)
    return Path(ends, np.tile(codes, len(ends) // 2))


def _segments(corners: FloatArray) -> FloatArray:
    """From (x, y, to x, to y) a line to one point a line."""
    return corners.reshape(-1, 2).astype(float)
