"""Legends of printed plots: swatches and words, packed into the lines that there is room for."""

from dataclasses import dataclass
from typing import Any

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from ..figure_style import NOTE
from .layout import LINE
from .printed_sheet import SMALLEST, Sheet, width_of

_SWATCH, _WIDE, _HIGH = 24.0, 18.0, 10.0  # pixels: with the gap behind it; the swatch itself
_BETWEEN = 14.0


@dataclass(frozen=True, eq=False)
class Entry:
    """One entry: how it looks, as arguments of patches side by side or of one line."""

    words: str
    patches: tuple[dict[str, Any], ...] = ()
    line: dict[str, Any] | None = None
    short: str = ""  # words where there is no room for the others


class Legend:
    """A legend that is made anew only when it says something else."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self._swatches: list[Artist] = []
        self._drawn: Any = None

    def draw(self, entries: list[Entry], x: float, y: float, room: float, lines: int) -> None:
        """Write entries around `x`, the first line on the baseline `y`, in as many `lines`."""
        rows, size = _packed(entries, room, max(lines, 1))
        left = x - max((_long(row, size) for row in rows), default=0.0) / 2
        places = []
        for n, row in enumerate(rows):
            start = left
            for entry, words in row:
                places.append((entry, start, y + n * LINE - 0.36 * size))
                self.sheet.write(start + _SWATCH, y + n * LINE, words, size=size)
                start += _SWATCH + width_of(words, size) + _BETWEEN
        drawn = [(entry.patches, entry.line, start, y) for entry, start, y in places]
        if drawn != self._drawn:
            self._drawn = drawn
            for swatch in self._swatches:
                swatch.remove()
            self._swatches = []
            for place in places:
                self._swatch(*place)

    def _swatch(self, entry: Entry, x: float, y: float) -> None:
        made: list[Artist] = []
        wide = _WIDE / max(len(entry.patches), 1)
        for n, look in enumerate(entry.patches):
            made.append(Rectangle((x + n * wide, y - _HIGH / 2), wide, _HIGH, **look))
        if entry.line is not None:
            single = not entry.line.get("linestyle", "-")  # a mark without a line
            xs = [x + _WIDE / 2] if single else [x, x + _WIDE]
            made.append(Line2D(xs, [y] * len(xs), **entry.line))
        for artist in made:
            artist.set_transform(self.sheet.pixels)
            self.sheet.figure.add_artist(artist)
            self._swatches.append(artist)


_Row = list[tuple[Entry, str]]


def _packed(entries: list[Entry], room: float, lines: int) -> tuple[list[_Row], float]:
    """Rows of entries and size of type: in full, else in short, else smaller."""
    size = float(NOTE)
    rows = _rows([(entry, entry.words) for entry in entries], room, size)
    if len(rows) <= lines and all(_long(row, size) <= room for row in rows):
        return rows, size
    said = [(entry, entry.short or entry.words) for entry in entries]
    while True:
        rows = _rows(said, room, size)
        fits = len(rows) <= lines and all(_long(row, size) <= room for row in rows)
        if fits or size <= SMALLEST * NOTE:
            return rows, size
        size -= 0.5


def _rows(said: _Row, room: float, size: float) -> list[_Row]:
    rows: list[_Row] = []
    for one in said:
        if rows and _long([*rows[-1], one], size) <= room:
            rows[-1].append(one)
        else:
            rows.append([one])
    return rows


def _long(row: _Row, size: float) -> float:
    words = sum(_SWATCH + width_of(words, size) for _, words in row)
    return words + _BETWEEN * (len(row) - 1)
