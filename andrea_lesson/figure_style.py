"""How every figure looks, and how one is saved: type, colours, the same bytes each time."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from . import fonts, labels

# One type scale in points, to be read from the back row.
TITLE, LABEL, TICK, NOTE = 16, 13, 12, 12

INK, QUIET, LIGHT_INK = "#1f2933", "#5b6672", "#f4f6f8"
HIDDEN_FACE, HIDDEN_LINES = "#eceff1", "#a3adb8"
MEASURED, COMPARED, THEORY = "#1d6996", "#cc503e", "#5b6672"

FORMATS = (".png", ".svg", ".pdf")


@contextmanager
def style() -> Iterator[None]:
    """Use the lesson's look for everything drawn inside, and a language that it can draw.

    matplotlib's own defaults lie beneath, so that a reader's style sheet neither changes these
    figures nor is changed by them.
    """
    look: dict[str, Any] = {
        "font.family": list(fonts.families()),
        "font.size": LABEL,
        "axes.unicode_minus": fonts.has_minus(),
        "axes.titlesize": TITLE,
        "axes.titlepad": 10.0,
        "axes.labelsize": LABEL,
        "axes.edgecolor": HIDDEN_LINES,
        "axes.linewidth": 0.8,
        "axes.labelcolor": INK,
        "axes.titlecolor": INK,
        "axes.axisbelow": True,
        "text.color": INK,
        "xtick.labelsize": TICK,
        "ytick.labelsize": TICK,
        "xtick.color": HIDDEN_LINES,
        "ytick.color": HIDDEN_LINES,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "xtick.major.size": 3.0,
        "ytick.major.size": 3.0,
        "grid.color": "#e3e7eb",
        "legend.fontsize": NOTE,
        "legend.frameon": False,
        "figure.dpi": 100,
        "svg.hashsalt": "andrea-lesson",  # element ids that do not change from run to run
    }
    with (
        matplotlib.style.context(["default", look]),
        labels.language(fonts.drawable_language()),
    ):
        yield


# Inches around heatmaps, for the words that stand there.
_LEFT, _RIGHT, _TOP, _BOTTOM, _GAP = 1.45, 0.3, 1.3, 1.1, 0.35


def place_axes(
    figure: Figure, count: int = 1, *, width: float, height: float, across: int | None = None
) -> list[Axes]:
    """Size a figure for some pictures, `width` × `height` inches each, and add their axes.

    They stand side by side, or `across` to a line.  Places are fixed, not found by a layout
    engine, so that nothing moves under a slider.
    """
    across = count if across is None else across
    down = -(-count // across)
    whole_width = _LEFT + across * width + (across - 1) * _GAP + _RIGHT
    whole_height = down * (_TOP + height) + _BOTTOM
    figure.set_size_inches(whole_width, whole_height)
    places = [
        (
            _LEFT + (place % across) * (width + _GAP),
            whole_height - (place // across + 1) * (_TOP + height),
        )
        for place in range(count)
    ]
    with style():
        return [
            figure.add_axes(
                (
                    left / whole_width,
                    bottom / whole_height,
                    width / whole_width,
                    height / whole_height,
                )
            )
            for left, bottom in places
        ]


def kept_figure(count: int = 1, *, side: float = 2.3) -> tuple[Figure, list[Axes]]:
    """Figure without pyplot, with some square axes side by side, to be drawn on again and again.

    Parameters
    ----------
    count : int
        Number of axes.
    side : float
        Their width and height in inches.

    Returns
    -------
    figure : Figure
        With an Agg canvas, 100 dots to an inch.
    axes : list of Axes
    """
    from .plot_inputs import check_positive  # which imports this module

    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise ValueError(f"count must be a whole number, 1 or more; got {count!r}.")
    check_positive("side", side)
    with style():
        figure = Figure()
        FigureCanvasAgg(figure)
    return figure, place_axes(figure, count, width=side, height=side)


def ink_on(background: Any) -> str:
    """Dark or light ink, whichever reads better on a background colour."""
    red, green, blue = to_rgb(background)
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else LIGHT_INK


def save(fig: Any, path: str | Path) -> None:
    """Write a figure to a file, with the same bytes each time.

    Parameters
    ----------
    fig : Figure, Axes or array of Axes
        What to write; for Axes the whole figure they stand in.
    path : str or Path
        Ends in .png, .svg or .pdf.  A file that is there is replaced.

    Raises
    ------
    ValueError
        If the ending is another.
    FileNotFoundError, IsADirectoryError
        If the folder does not exist, or one stands where the file should.
    TypeError
        If `fig` is no figure or `path` no path.
    """
    if not isinstance(path, (str, os.PathLike)) or "\0" in os.fspath(path):
        raise TypeError(f"path must be a str or Path that names a file; got {path!r}.")
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f'path must end in {", ".join(FORMATS)}; got "{path.name}".')
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f'path must lie in a folder that exists; there is no folder "{path.parent}".'
        )
    if path.is_dir():
        raise IsADirectoryError(f'path must name a file; "{path}" is a folder.')
    # Written to memory first, so that a figure that fails leaves no half file behind.
    path.write_bytes(figure_bytes(fig, path.suffix.lower().lstrip(".")))


def figure_bytes(fig: Any, kind: str) -> bytes:
    """Return a figure as the bytes of a "png", "svg" or "pdf", the same bytes each time."""
    buffer = io.BytesIO()
    with style():
        figure_of(fig).savefig(
            buffer,
            format=kind,
            dpi=200,
            bbox_inches="tight",
            pad_inches=0.1,
            metadata=_METADATA[kind],
        )
    return buffer.getvalue()


# No dates, no versions: nothing that differs from one run to the next.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def figure_of(drawn: Any) -> Figure:
    """Return the figure of a figure, an Axes, or an array of Axes."""
    if isinstance(drawn, np.ndarray) and drawn.size:
        drawn = drawn.flat[0]
    if isinstance(drawn, Axes):
        drawn = drawn.get_figure(root=True)
    if not isinstance(drawn, Figure):
        raise TypeError(f"fig must be a Figure or Axes; got {type(drawn).__name__}.")
    return drawn
