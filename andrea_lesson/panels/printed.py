"""A picture drawn through matplotlib: to print, to save, and where the live module does not run.

No figure is ever known to pyplot, so none is ever "open".
"""

import io
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from ..figure_style import INK, LABEL, NOTE, QUIET
from ..labels import label
from .dots import block_of
from .layout import LINE, WIDTH, Layout
from .picture import Bars, Chart, Matrix, Part, Picture
from .printed_bars import PrintedBars
from .printed_chart import PrintedChart
from .printed_matrix import PrintedMatrix, names_room
from .printed_sheet import SMALLEST, Sheet, fitted, printing, width_of

_TITLE = LABEL + 1
_MARGIN = 8.0  # pixels left and right of lines of text
_STRIP = 30.0  # height of the line "run this cell" over a still picture
_STRIP_COLOUR = "#fff4cc"
_EMPTY = 240  # height of a picture of which nothing is known yet


class _Print:
    """One sheet with all parts of a picture, for as long as the structure stays the same."""

    def __init__(self, picture: Picture, layout: Layout) -> None:
        self.structure = _structure(picture, layout)
        self.layout = layout
        self.sheet = Sheet(layout.width, layout.height, layout.zoom)
        makers: dict[type, Any] = {Matrix: PrintedMatrix, Bars: PrintedBars, Chart: PrintedChart}
        self.parts = {
            name: makers[type(part)](self.sheet, layout.boxes[name], part)
            for name, part in picture.parts.items()
        }

    def draw(self, picture: Picture) -> None:
        """Move everything to where the picture has it."""
        layout, sheet = self.layout, self.sheet
        sheet.begin()
        for line in picture.lines:
            for top in {layout.boxes[part.name].top: None for part in line}:
                beside = [part for part in line if layout.boxes[part.name].top == top]
                self._draw_beside(beside, picture)
        room = layout.width - 2 * _MARGIN
        for n, formula in enumerate(picture.formulas):
            sheet.write(_MARGIN, layout.formulas + n * LINE + LABEL, formula, room=room)
        y = layout.caption + LABEL
        sheet.write(_MARGIN, y, self._caption(picture), size=NOTE, colour=QUIET, room=room)
        sheet.end()

    def _caption(self, picture: Picture) -> str:
        """Say where the numbers come from, and what a dot is where there are too many cells."""
        matrices = (part for part in picture.parts.values() if isinstance(part, Matrix))
        blocks = dict.fromkeys(block_of(part, self.layout.zoom) for part in matrices)
        notes = [label("live_dots", rows=r, columns=c) for r, c in blocks if r * c > 1]
        return " · ".join(filter(None, [picture.caption, *notes[:1]]))  # of the squares

    def _draw_beside(self, beside: list[Part], picture: Picture) -> None:
        """Draw plots side by side, their titles at one height, and those of their columns."""
        boxes = [self.layout.boxes[part.name] for part in beside]
        top = min(box.top - box.above for box in boxes)
        top += (2 - max(len(part.title.split("\n")) for part in beside)) * LINE
        matrices = [part for part in beside if isinstance(part, Matrix)]
        level = max((names_room(part, picture) for part in matrices), default=0.0)
        for part, box in zip(beside, boxes, strict=True):
            more: dict[str, Any] = {}
            if isinstance(part, Matrix):
                more = {"level": level, "leftmost": part is beside[0]}
            self.parts[part.name].draw(part, picture, **more)
            for n, words in enumerate(part.title.split("\n")):
                self.sheet.write(
                    box.left + box.width / 2,
                    top + n * LINE + LABEL + 1,
                    words,
                    size=_TITLE,
                    ha="center",
                    room=box.width + 2 * min(box.before, box.after),
                )


def _structure(picture: Picture, layout: Layout) -> Any:
    """What must stay the same for a sheet to be drawn on again."""
    kinds = {
        name: (type(part), isinstance(part, Matrix) and part.bar)
        for name, part in picture.parts.items()
    }
    return kinds, layout


def print_picture(picture: Picture, layout: Layout) -> Figure:
    """Draw a picture as a figure that pyplot does not know.

    Parameters
    ----------
    picture : Picture
    layout : Layout
        Of this picture.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with printing():
        printed = _Print(picture, layout)
        printed.draw(picture)
    return printed.sheet.figure


def small_png(figure: Figure) -> bytes:
    """Return a printed picture as it stands on the screen: a PNG, small, and the same each time."""
    with printing():
        figure.canvas.draw()
    canvas: Any = figure.canvas
    return _png(np.asarray(canvas.buffer_rgba())[..., :3], smallest=True)


def still(
    picture: Picture | None, layout: Layout | None, settings: str, strip: str = "run_this_cell"
) -> bytes:
    """Draw a picture with a strip over it that says how to bring it to life.

    Parameters
    ----------
    picture : Picture or None
    layout : Layout or None
        None if there is no picture: then the strip stands alone.
    settings : str
        How the controls stand, parted by " · "; "" for no such line.
    strip : str
        Key of the words on the strip.

    Returns
    -------
    bytes
        A PNG, small, and the same each time.
    """
    with printing():
        width, zoom = (layout.width, layout.zoom) if layout else (float(WIDTH), 1.0)
        pixels = [_strip(label(strip), width, zoom)]
        if settings:
            pixels.append(_settings(settings, width, zoom))
        if picture is not None and layout is not None:
            printed = _Print(picture, layout)
            printed.draw(picture)
            pixels.append(printed.sheet.draw())
    return _png(np.vstack(pixels), smallest=True)


def _strip(words: str, width: float, zoom: float) -> NDArray[np.uint8]:
    sheet = Sheet(width, _STRIP, zoom)
    sheet.figure.set_facecolor(_STRIP_COLOUR)
    room = width - 2 * _MARGIN
    sheet.write(width / 2, _STRIP / 2 + 0.36 * LABEL, words, colour=INK, ha="center", room=room)
    return sheet.draw()


def _settings(settings: str, width: float, zoom: float) -> NDArray[np.uint8]:
    room = width - 2 * _MARGIN
    size = float(NOTE)
    while len(lines := _wrapped(settings, size, room)) > 2 and size > SMALLEST * NOTE:
        size -= 0.5
    if len(lines) > 2:  # what is left over is cut at the end of the second
        lines = [lines[0], " · ".join(lines[1:])]
    sheet = Sheet(width, LINE * len(lines) + 6, zoom)
    for n, line in enumerate(lines):
        words, smaller = fitted(line, size, room)
        sheet.write(_MARGIN, (n + 1) * LINE, words, size=smaller, colour=QUIET)
    return sheet.draw()


def _wrapped(settings: str, size: float, room: float) -> list[str]:
    lines: list[list[str]] = [[]]
    used = 0.0
    for setting in settings.split(" · "):
        wide = width_of(f"{setting} · ", size)
        if lines[-1] and used + wide > room:
            lines.append([])
            used = 0.0
        lines[-1].append(setting)
        used += wide
    return [" · ".join(line) for line in lines]


class PrintedView:
    """A picture in an image widget, on one kept figure whose artists are changed in place.

    The old picture stays until the new one is there, and its size changes only with the
    structure of the picture, so nothing jumps.

    Parameters
    ----------
    advance : callable, optional
        Takes the next step of what there is to watch; None if there are no steps.

    Attributes
    ----------
    widget : ipywidgets.DOMWidget
        The image, with a button beneath it if there are steps.
    image : ipywidgets.Image
    figure : matplotlib.figure.Figure or None
        The one on which everything is drawn; None before the first picture.
    """

    says_summary = False  # the panel has a line for it

    def __init__(self, *, advance: Callable[[], Any] | None = None) -> None:
        self.image = widgets.Image(format="png")
        self._resize(WIDTH, _EMPTY)
        self._print: _Print | None = None
        self.widget: widgets.DOMWidget = self.image
        if advance is not None:
            button = widgets.Button(description=label("next_step"), icon="step-forward")
            button.on_click(lambda _: advance())
            self.widget = widgets.VBox([self.image, button])
        self.clear()

    @property
    def figure(self) -> Figure | None:
        """The figure on which everything is drawn."""
        return self._print.sheet.figure if self._print else None

    def show(self, picture: Picture, layout: Layout, summary: str) -> None:
        """Draw a picture; the one before it stays until this one is there.

        Parameters
        ----------
        picture : Picture
        layout : Layout
            Of this picture.
        summary : str
            The picture in one sentence, which the panel shows beneath.
        """
        with printing():
            kept, self._print = self._print, None  # a drawing that fails is not kept
            if kept is None or kept.structure != _structure(picture, layout):
                kept = _Print(picture, layout)
            kept.draw(picture)
            png = _png(kept.sheet.draw())
        self._print = kept
        self._resize(*kept.sheet.size)
        self.image.value = png

    def clear(self) -> None:
        """Show nothing, at the same size: no picture is better than one that is out of date."""
        width, height = self._size
        self.image.value = _png(np.full((height, width, 3), 255, dtype=np.uint8))

    def _resize(self, width: int, height: int) -> None:
        self._size = width, height
        self.image.layout.width, self.image.layout.height = f"{width}px", f"{height}px"
        self.image.layout.max_width, self.image.layout.object_fit = "100%", "contain"


def _png(pixels: NDArray[np.uint8], smallest: bool = False) -> bytes:
    """Pixels as PNG, the same bytes each time: quickly made, or small for a file."""
    buffer = io.BytesIO()
    image = Image.fromarray(np.ascontiguousarray(pixels))
    if smallest:
        _in_256_colours(image, pixels).save(buffer, "png", optimize=True)
    else:
        image.save(buffer, "png", compress_level=1)
    return buffer.getvalue()


def _in_256_colours(image: Image.Image, pixels: NDArray[np.uint8]) -> Image.Image:
    """Choose colours of which none is far off, and make each the mean of those it stands for."""
    few = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    chosen = np.asarray(few).ravel()
    counts = np.maximum(np.bincount(chosen, minlength=256), 1)
    channels = pixels.reshape(-1, 3).T.astype(float)
    sums = [np.bincount(chosen, weights=channel, minlength=256) for channel in channels]
    means = np.round(np.stack(sums, axis=-1) / counts[:, None]).astype(np.uint8)
    few.putpalette(means.tobytes())
    return few
