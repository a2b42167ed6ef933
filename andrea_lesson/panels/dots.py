"""Matrices too large to show cell by cell: a dot of the picture stands for a block of cells.

A dot shows the cell that a reader would look for: the largest weight of its block, or the
score farthest from 0.  Nothing is averaged, so each dot is the value of a cell that exists.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..colours import MOST_ABSOLUTE
from ..experiments import FloatArray
from ..labels import label
from ..masks import BoolArray
from .picture import Matrix

MOST_DOTS = 256  # along one side of a matrix
_FEWEST_DOTS = 64  # however narrow a matrix is drawn
_SLAB = 32  # rows of dots made at a time


@dataclass(frozen=True, eq=False)
class Dots:
    """What is drawn of a matrix; `rows` and `columns` are those of the block behind a dot."""

    values: FloatArray
    hidden: BoolArray | None
    rows: int
    columns: int

    @property
    def pooled(self) -> bool:
        """Whether a dot stands for more than one cell."""
        return self.rows * self.columns > 1


def dots_of(part: Matrix, zoom: float = 1.0) -> Dots:
    """Make the dots of a matrix, at most one for a pixel and :data:`MOST_DOTS` a side.

    Parameters
    ----------
    part : Matrix
    zoom : float
        Of the layout.

    Returns
    -------
    Dots
        The matrix itself where it is small.  Of "relative" colours the values are weights ×
        number of visible keys, if pooled: among them the largest one is looked for.
    """
    values = np.asarray(part.values)
    rows, columns = block_of(part, zoom)
    if rows * columns == 1:
        return Dots(values, part.hidden, 1, 1)
    slabs = [_slab(part, start, rows, columns) for start in range(0, len(values), rows * _SLAB)]
    values = np.concatenate([slab for slab, _ in slabs])
    if part.hidden is None:
        return Dots(values, None, rows, columns)
    hidden = np.concatenate([hatched for _, hatched in slabs if hatched is not None])
    return Dots(values, hidden, rows, columns)


def _slab(part: Matrix, start: int, rows: int, columns: int) -> tuple[FloatArray, BoolArray | None]:
    """Dots of some rows, few enough to stay in the cache of the processor meanwhile."""
    some = slice(start, start + rows * _SLAB)
    values = _compared(part, some)
    if part.hidden is None:
        high = _largest(np.maximum, values, rows, columns)
        low = _largest(np.minimum, values, rows, columns) if _signed(part) else high
        return _farther(low, high, part), None
    hidden = part.hidden[some]
    values = values.copy() if np.may_share_memory(values, part.values) else values
    np.copyto(values, -np.inf, where=hidden)
    low = high = _largest(np.maximum, values, rows, columns)
    if _signed(part):
        np.copyto(values, np.inf, where=hidden)
        low = _largest(np.minimum, values, rows, columns)
    hatched = _largest(np.logical_and, hidden, rows, columns)
    shown = _farther(low, high, part)
    np.copyto(shown, 0, where=hatched)
    return shown, hatched


def _farther(low: FloatArray, high: FloatArray, part: Matrix) -> FloatArray:
    return np.where(-low > high, low, high) if _signed(part) else high


def note_of(part: Matrix, zoom: float = 1.0) -> str:
    """Say how many cells a dot of a matrix stands for; "" if each cell has its own."""
    rows, columns = block_of(part, zoom)
    return "" if rows * columns == 1 else label("live_dots", rows=rows, columns=columns)


def block_of(part: Matrix, zoom: float = 1.0) -> tuple[int, int]:
    """Rows and columns of the block of cells behind each dot of a matrix, 1 and 1 if small."""
    count, across = part.values.shape
    return _cells_a_dot(count, part.height * zoom), _cells_a_dot(across, part.width * zoom)


def cell_behind(part: Matrix, row: int, column: int, zoom: float = 1.0) -> tuple[int, int]:
    """Find the very cell that a dot shows.

    Parameters
    ----------
    part : Matrix
    row, column : int
        Of the dot.
    zoom : float
        Of the layout.

    Returns
    -------
    row, column : int
        Of the cell.
    """
    rows, columns = block_of(part, zoom)
    down = slice(row * rows, (row + 1) * rows)
    right = slice(column * columns, (column + 1) * columns)
    block = _compared(part, down)[:, right].astype(float)
    if _signed(part):
        block = np.abs(block)
    if part.hidden is not None:
        block[part.hidden[down, right]] = -np.inf
    i, j = np.unravel_index(int(np.argmax(block)), block.shape)  # a NaN comes first
    return down.start + int(i), right.start + int(j)


def _cells_a_dot(count: int, pixels: float) -> int:
    most = min(MOST_DOTS, max(_FEWEST_DOTS, int(pixels)))
    return max(1, -(-count // most))


def _signed(part: Matrix) -> bool:
    return part.colours == "scores"


def is_relative(part: Matrix) -> bool:
    """Whether weights are coloured as multiples of the uniform one."""
    many = part.values.shape[1] > MOST_ABSOLUTE
    return part.colours == "relative" or (part.colours == "weights" and many)


def _compared(part: Matrix, rows: slice = slice(None)) -> FloatArray:
    """Values by which the cells of a block are compared."""
    values = np.asarray(part.values)[rows]
    if values.dtype.kind != "f":
        values = values.astype(np.float32)
    if not is_relative(part):
        return values
    keys = np.full((len(values), 1), values.shape[1])
    if part.hidden is not None:
        keys -= np.count_nonzero(part.hidden[rows], axis=1, keepdims=True)
    compared: FloatArray = values * np.maximum(keys, 1).astype(values.dtype)
    return compared


def _largest(ufunc: np.ufunc, cells: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
    """Reduce blocks of cells, first along whole rows, which lie together in memory."""
    whole = len(cells) // rows * rows
    down: NDArray[Any] = ufunc.reduce(cells[:whole].reshape(-1, rows, cells.shape[1]), axis=1)
    if whole < len(cells):
        down = np.concatenate([down, ufunc.reduce(cells[whole:], axis=0, keepdims=True)])
    whole = cells.shape[1] // columns * columns
    across: NDArray[Any] = down[:, 0:whole:columns].copy()
    for one in range(1, columns):
        ufunc(across, down[:, one:whole:columns], out=across)
    if whole < cells.shape[1]:
        rest = ufunc.reduce(down[:, whole:], axis=1, keepdims=True)
        across = np.concatenate([across, rest], axis=1)
    return across
