"""The sheet that a picture is printed on: pixels from its upper left corner, words on baselines.

All words stand on baselines that the layout fixes, so that letters which reach lower or higher
than others move nothing.  Texts are kept and used again: a picture that follows a slider does
not grow.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib import rc_context, rcParams
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Affine2D
from numpy.typing import NDArray

from ..figure_parts import ems
from ..figure_style import INK, LABEL, style
from ..fonts import LATIN
from .layout import Box

SMALLEST = 0.75  # of the usual size; words that need less are cut
# As wide as a letter: the Chinese face has a dot as wide as a character.
_NARROW = {ord("·"): "⋅"}
_ROOT = "√"
_POINTS = 72  # dots to an inch, before the zoom: a point is a pixel


@contextmanager
def printing() -> Iterator[None]:
    """Use the look of the figures, with letters where their widths put them, not on whole pixels.

    Words then are as wide on the screen as :func:`width_of` says, at any zoom.
    """
    with style(), rc_context({"text.hinting": "none"}):
        yield


class Sheet:
    """A figure without pyplot, measured in pixels before the zoom.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
    size : (int, int)
        Width and height on the screen, after the zoom.
    """

    def __init__(self, width: float, height: float, zoom: float) -> None:
        self.zoom = zoom
        self.size = (round(width * zoom), math.ceil(height * zoom))
        dpi = _POINTS * zoom
        # A little more than whole pixels: matplotlib rounds down.
        width, height = ((side + 1e-3) / dpi for side in self.size)
        self.figure = Figure(figsize=(width, height), dpi=dpi)
        FigureCanvasAgg(self.figure)
        self._width, self._height = (side / zoom for side in self.size)
        down = Affine2D().scale(1 / self._width, -1 / self._height).translate(0, 1)
        self.pixels = down + self.figure.transFigure
        self._texts: list[Text] = []
        self._said: list[Any] = []
        self._used = 0

    def axes(self, box: Box) -> Axes:
        """Add bare axes at a place, on whole pixels, so that edges are sharp."""
        left, top, right, bottom = (
            round(edge * self.zoom) / self.zoom
            for edge in (box.left, box.top, box.left + box.width, box.top + box.height)
        )
        place = (
            left / self._width,
            1 - bottom / self._height,
            (right - left) / self._width,
            (bottom - top) / self._height,
        )
        ax = self.figure.add_axes(place)
        # No ticks: they are written on the sheet, which takes a tenth of the time.
        ax.xaxis.set_visible(False)
        ax.yaxis.set_visible(False)
        return ax

    # -- words -------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start to write all words anew."""
        self._used = 0

    def write(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = LABEL,
        colour: str = INK,
        ha: str = "left",
        room: float = math.inf,
        rotation: float = 0.0,
    ) -> None:
        """Write words with their baseline at `y`; too long for `room`, they get smaller."""
        words, size = fitted(words, size, room)
        pieces = _pieces(words)
        if len(pieces) > 1:
            x -= {"left": 0.0, "center": 0.5, "right": 1.0}[ha] * width_of(words, size)
            ha = "left"
        for piece, families in pieces:
            self._write(x, y, piece, size, colour, ha, rotation, families)
            if len(pieces) > 1:
                x += _width_of(piece, families) * size

    def _write(
        self,
        x: float,
        y: float,
        words: str,
        size: float,
        colour: str,
        ha: str,
        rotation: float,
        families: tuple[str, ...],
    ) -> None:
        if self._used == len(self._texts):
            text = self.figure.text(
                0, 0, "", transform=self.pixels, va="baseline", rotation_mode="anchor"
            )
            text.set_parse_math(False)
            self._texts.append(text)
            self._said.append(None)
        said = (x, y, words, size, colour, ha, rotation, families)
        text = self._texts[self._used]
        if self._said[self._used] != said:
            self._said[self._used] = said
            text.set(position=(x, y), text=words, color=colour, ha=ha, rotation=rotation)
            text.set(fontfamily=list(families), fontsize=size)
        text.set_visible(True)
        self._used += 1

    def within(self, x: float, words: str, size: float, low: float, high: float) -> float:
        """Move the middle of words at `x` so that none of them lies outside `low`…`high`."""
        half = width_of(words, size) / 2
        return float(min(max(x, low + half), max(high - half, low + half)))

    def end(self) -> None:
        """Hide the words that are not needed this time."""
        for text in self._texts[self._used :]:
            text.set_visible(False)

    def draw(self) -> NDArray[np.uint8]:
        """Draw everything; the pixels, (height, width, 3)."""
        canvas: Any = self.figure.canvas
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3]


def fitted(words: str, size: float, room: float) -> tuple[str, float]:
    """Words and size of type such that they fit: smaller if need be, then cut."""
    if 1.15 * ems(words) * size <= room or (wide := width_of(words, size)) <= room:
        return words, size
    if wide * SMALLEST <= room:
        return words, size * room / wide
    size *= SMALLEST
    short = bisect_right(
        range(1, len(words)), room, key=lambda end: width_of(words[:end] + "…", size)
    )
    return words[: max(short, 1)].rstrip() + "…", size


def width_of(words: str, size: float) -> float:
    """Width of words in pixels, in the fonts of the style in force."""
    return sum(_width_of(piece, families) for piece, families in _pieces(words)) * size


def _pieces(words: str) -> list[tuple[str, tuple[str, ...]]]:
    """Split words into pieces, each with its fonts: "√" is not taken from the Chinese face.

    There it is as wide as a character, and its bar ends before what it is the root of begins.
    """
    usual = tuple(rcParams["font.family"])
    split = re.split(f"({_ROOT})", words.translate(_NARROW))
    return [(piece, (LATIN,) if piece == _ROOT else usual) for piece in split if piece]


@lru_cache(maxsize=4096)
def _width_of(words: str, families: tuple[str, ...]) -> float:
    font = FontProperties(family=list(families), size=100)
    # With a bar behind it, so that a blank at the end counts.
    wide, bar = (
        text_to_path.get_text_width_height_descent(said, font, False)[0]
        for said in (f"{words}|", "|")
    )
    return float(wide - bar) / 100


def middle(y: float, size: float) -> float:
    """Baseline of words whose middle is to be at `y`: halfway up a digit."""
    return y + 0.36 * size
