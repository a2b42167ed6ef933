"""How a panel draws: one kept figure, sent as a PNG into one image widget.

The figure is made once and its artists are changed in place.  The old picture stays until the
new one is there, and its size never changes, so nothing jumps.  pyplot has no part in it: no
figure is ever "open".
"""

import io
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from ..figure_style import INK, NOTE, QUIET, style
from ..labels import label

WIDTH = 928  # pixels: what JupyterLab leaves beside its file browser at 1366 × 768
_DPI = 72  # a point is a pixel
_STRIP = 30  # pixels of the line "run this cell" under a still picture
_STRIP_COLOUR = "#fff4cc"

AxesByName = dict[str, Axes]


class PictureView:
    """A figure that lives in an image widget.

    Parameters
    ----------
    height : int
        Pixels; the width is that of a notebook.
    arrange : callable
        Takes the figure, returns its axes by name.  Called once.
    draw : callable
        Takes the axes and a state, changes what the axes show, and returns the line beneath,
        which says where the numbers come from.

    Attributes
    ----------
    widget : ipywidgets.Image
    figure : matplotlib.figure.Figure
    axes : dict of str to Axes
    still_size : (int, int)
        Width and height of the still picture in pixels.
    """

    def __init__(
        self,
        height: int,
        arrange: Callable[[Figure], AxesByName],
        draw: Callable[[AxesByName, Any], str],
    ) -> None:
        self.figure = _figure(height)
        with style():
            self.axes = arrange(self.figure)
            self._caption = self.figure.text(8 / WIDTH, 8 / height, "", fontsize=NOTE, color=QUIET)
        self._draw = draw
        self.still_size = (WIDTH, height + _STRIP)
        self._blank = _png(np.full((height, WIDTH, 3), 255, dtype=np.uint8))
        self.widget = widgets.Image(
            value=self._blank,
            format="png",
            layout=widgets.Layout(
                width=f"{WIDTH}px", height=f"{height}px", max_width="100%", object_fit="contain"
            ),
        )

    def show(self, state: Any) -> None:
        """Draw a state; the picture before it stays until this one is there."""
        with style():
            self._caption.set_text(self._draw(self.axes, state))
            self.widget.value = _png(_pixels(self.figure))

    def clear(self) -> None:
        """Show nothing, at the same size: no picture is better than one that is out of date."""
        self.widget.value = self._blank

    def still(self) -> bytes:
        """Return the picture as PNG, with a line in it that says how to bring it to life."""
        with style():
            strip = _figure(_STRIP)
            strip.set_facecolor(_STRIP_COLOUR)
            strip.text(
                0.5,
                0.48,
                label("run_this_cell"),
                ha="center",
                va="center",
                fontsize=NOTE,
                color=INK,
            )
            note = _pixels(strip)
        with Image.open(io.BytesIO(bytes(self.widget.value))) as shown:
            picture = np.asarray(shown.convert("RGB"))
        return _png(np.vstack([note, picture]), smallest=True)


def place(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes at a place given in pixels from the upper left corner of the figure."""
    whole_width, whole_height = figure.get_size_inches() * _DPI
    return figure.add_axes(
        (
            left / whole_width,
            1 - (top + height) / whole_height,
            width / whole_width,
            height / whole_height,
        )
    )


def _figure(height: int) -> Figure:
    figure = Figure(figsize=(WIDTH / _DPI, height / _DPI), dpi=_DPI)
    FigureCanvasAgg(figure)
    return figure


def _pixels(figure: Figure) -> NDArray[np.uint8]:
    """Draw a figure; its pixels, (height, width, 3)."""
    canvas: Any = figure.canvas
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def _png(pixels: NDArray[np.uint8], smallest: bool = False) -> bytes:
    """Pixels as PNG, the same bytes each time: quickly made, or small for a file."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "png", compress_level=9 if smallest else 1)
    return buffer.getvalue()
