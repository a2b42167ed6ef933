"""Pieces that heatmaps and charts share: looks of special values, ticks, many boxes in one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from numpy.typing import NDArray

from .figure_style import HIDDEN_FACE, HIDDEN_LINES, TICK

FloatArray = NDArray[np.floating]
BoolArray = NDArray[np.bool_]

# Looks of cells that are no finite numbers: face, hatch, colour of the hatch.
SPECIAL = {
    "nan": ("#d6409f", "xxxx", "#ffffff"),
    "plus_infinity": ("#111418", "++++", "#ffffff"),
    "minus_infinity": ("#ffffff", "----", "#111418"),
}
SIGNS = {"nan": "NaN", "plus_infinity": "+∞", "minus_infinity": "−∞"}
_SMALLEST_NAME = 0.7  # of the usual size


@dataclass(frozen=True)
class Scale:
    """What the colours mean: a map, its ends, and the ticks of the colour bar (none: no bar)."""

    cmap: str | Colormap
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Side:
    """Along one side of the matrix: the axis in words, a name for each place, () for no marks."""

    words: str = ""
    names: tuple[str, ...] | None = None


def clear(ax: Axes) -> None:
    """Make axes as good as new: `Axes.clear` leaves some of what another picture did to them."""
    ax.clear()
    ax.spines[:].set_visible(True)
    ax.set_box_aspect(None)
    ax.xaxis.tick_bottom()
    ax.tick_params(reset=True)
    axis: Any
    for axis, position, angle in ((ax.xaxis, "bottom", 0), (ax.yaxis, "left", 90)):
        axis.set_label_position(position)
        axis.label.set(visible=True, rotation=angle)
        axis._autolabelpos = True  # set_label_coords ends it for good


def hidden_look() -> dict[str, Any]:
    """Look of cells that a query may not see, as arguments of a patch."""
    return {"facecolor": HIDDEN_FACE, "hatch": "////", "edgecolor": HIDDEN_LINES, "linewidth": 0}


def special_look(kind: str) -> dict[str, Any]:
    """Look of cells that are NaN or infinite, as arguments of a patch."""
    face, hatch, lines = SPECIAL[kind]
    return {"facecolor": face, "hatch": hatch, "edgecolor": lines, "linewidth": 0}


def outline(cells: BoolArray) -> Path:
    """Outline the marked cells, a rectangle for each run within a row, in one path."""
    edges = np.diff(np.pad(cells, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    row, start = np.nonzero(edges == 1)
    _, end = np.nonzero(edges == -1)
    return rectangles(start - 0.5, end - 0.5, row - 0.5, row + 0.5)


def rectangles(left: FloatArray, right: FloatArray, low: FloatArray, high: FloatArray) -> Path:
    """Join many rectangles in one path: one artist, whatever their number."""
    corners = [(left, low), (right, low), (right, high), (left, high), (left, low)]
    vertices = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)  # (n, 5, 2)
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    return Path(vertices.reshape(-1, 2), np.tile(np.array(codes, Path.code_type), len(left)))


def name_columns(
    ax: Axes, names: tuple[str, ...] | None, count: int, room: float, ink: str
) -> float:
    """Write names or numbers along the columns, and return the height they take, in points."""
    places, texts = ticks_along(names, count, room)
    ax.set_xticks(places, texts, color=ink)
    longest = max(map(ems, texts), default=0.0) * TICK  # points
    fit = 0.95 * room / count / longest if names and longest else 1.0
    # Names that are a little too long are set smaller, longer ones at a slant.
    slanted = fit < _SMALLEST_NAME
    on_top = ax.xaxis.get_ticks_position() == "top"
    outward = "left" if on_top else "right"
    for text in ax.get_xticklabels():
        text.set(
            fontsize=TICK if slanted else TICK * min(fit, 1.0),
            rotation=45 if slanted else 0,
            ha=outward if slanted else "center",
            va="baseline" if on_top else "top",
            rotation_mode="anchor" if slanted else "default",
        )
    return 0.71 * (longest + TICK) if slanted else 1.2 * TICK if texts else 0.0


def ticks_along(
    names: tuple[str, ...] | None, count: int, room: float
) -> tuple[list[int], list[str]]:
    """Places of ticks and what stands there: all names while they fit, else round numbers."""
    if names == ():
        return [], []
    if names is not None and count <= 24:
        return list(range(count)), list(names)
    most = max(4, int(room / 24))
    step = next(2**power for power in range(64) if count <= most * 2**power)
    places = list(range(0, count, step))
    return places, [str(place) for place in places]


def level_lines(text: Text, spacing: float = 1.35) -> None:
    """Set the distance of two lines so that it does not depend on the letters in them.

    matplotlib centres each line in its height, so that a "g" lifts the line above it; titles
    side by side then stand at different heights.
    """
    lines = text.get_text().split("\n")
    if len(lines) == 2:
        font = text.get_fontproperties()
        _, upper, below_upper = text_to_path.get_text_width_height_descent(lines[0], font, False)
        _, lower, below_lower = text_to_path.get_text_width_height_descent(lines[1], font, False)
        lifted = (lower - 2 * below_lower - upper + 2 * below_upper) / 2  # points
        spacing -= lifted / font.get_size_in_points()
    text.set_linespacing(spacing)


def ems(text: str) -> float:
    """Rough width of a text in ems: Chinese characters are square, Latin ones about half."""
    return sum(1.0 if ord(character) > 0x2E7F else 0.58 for character in text)
