"""A chart of a picture, printed.

Rulers are turned into shares of the plot here, logarithms and all: matplotlib's own axes know
only 0…1, and no tick depends on what a font lacks.
"""

from typing import Any

import matplotlib.patheffects as effects
import numpy as np
from matplotlib import colormaps
from matplotlib.image import PcolorImage
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from ..colours import WEIGHTS_MAP
from ..figure_parts import rectangles
from ..figure_style import COMPARED, HIDDEN_LINES, MEASURED, THEORY, TICK
from .layout import LINE, NUMBERS, Box
from .picture import Chart, Line, Picture, Ruler
from .printed_frames import NOTHING
from .printed_legend import Entry, Legend
from .printed_sheet import Sheet, middle

_AWAY = 6.0
_LINES: dict[str, dict[str, Any]] = {
    "measured": {"color": MEASURED, "linewidth": 2.0},
    "theory": {"color": COMPARED, "linewidth": 1.8, "linestyle": "--"},
    "dotted": {"color": THEORY, "linewidth": 1.8, "linestyle": ":"},
    "dashdot": {"color": THEORY, "linewidth": 1.6, "linestyle": "-."},
    "points": {
        "color": MEASURED,
        "linestyle": "",
        "marker": "o",
        "markersize": 5,
        "clip_on": False,
    },
    "here": {
        "color": MEASURED,
        "linestyle": "",
        "marker": "o",
        "markersize": 10,
        "markeredgecolor": "white",
        "markeredgewidth": 1.2,
        "clip_on": False,
        "zorder": 4,
    },
}
_LINES["squares"] = _LINES["points"] | {"color": COMPARED, "marker": "s"}
_LINES["diamonds"] = _LINES["points"] | {"color": THEORY, "marker": "D"}
_MARKS = ("here", "points", "squares", "diamonds")
_AREAS: dict[str, dict[str, Any]] = {
    "bars": {"facecolor": MEASURED, "alpha": 0.75, "linewidth": 0},
    "band": {"facecolor": MEASURED, "alpha": 0.2, "linewidth": 0},
    "compared-band": {"facecolor": COMPARED, "alpha": 0.2, "linewidth": 0},
}
_SHADES: tuple[dict[str, Any], ...] = tuple(
    {"facecolor": colormaps[WEIGHTS_MAP](share), "linewidth": 0} for share in (0.0, 0.5, 1.0)
)


class PrintedChart:
    """A chart that is kept and changed in place."""

    def __init__(self, sheet: Sheet, box: Box, part: Chart) -> None:
        self.sheet, self.box = sheet, box
        self.ax = sheet.axes(box)
        self.ax.set(xlim=(0, 1), ylim=(0, 1))
        self.ax.spines[["top", "right"]].set_visible(False)
        self._looks: list[tuple[str, bool]] = []
        self._artists: list[Any] = []
        self.legend = Legend(sheet)
        self._shades: PcolorImage | None = None
        (self._ticks,) = self.ax.plot(
            [], [], color=HIDDEN_LINES, linewidth=0.8, clip_on=False, zorder=1
        )

    def draw(self, part: Chart, picture: Picture) -> None:
        """Put curves and all there."""
        self._shade(part)
        on_shades = part.shades is not None
        looks = [(line.look, on_shades) for line in part.lines]
        if looks != self._looks:
            for artist in self._artists:
                artist.remove()
            self._artists = [self._artist(*look) for look in looks]
            self._looks = looks
        for line, artist in zip(part.lines, self._artists, strict=True):
            _put(artist, line, part.x, part.y)
        self._measure(part)
        self._explain(part)

    def _artist(self, look: str, on_shades: bool) -> Any:
        if look in _AREAS:
            return self.ax.add_patch(PathPatch(NOTHING, **_AREAS[look]))
        (line,) = self.ax.plot([], [], **_LINES[look])
        if on_shades and look not in _MARKS:  # seen on dark and light alike
            width = line.get_linewidth() + 1.6
            line.set_path_effects(
                [effects.Stroke(linewidth=width, foreground="white"), effects.Normal()]
            )
        return line

    def _shade(self, part: Chart) -> None:
        if part.shades is None or part.shade_x is None or part.shade_y is None:
            if self._shades is not None:
                self._shades.remove()
                self._shades = None
            return
        x, y = _shares(part.shade_x, part.x), _shares(part.shade_y, part.y)
        values = np.asarray(part.shades, dtype=float)
        if x[0] > x[-1]:
            x, values = x[::-1], values[:, ::-1]
        if y[0] > y[-1]:
            y, values = y[::-1], values[::-1]
        if self._shades is None:
            self._shades = PcolorImage(self.ax, x, y, values, cmap=WEIGHTS_MAP, zorder=0)
            self._shades.set_clim(0, 1)
            self._shades.set_in_layout(False)  # it cannot say how large it is
            self.ax.add_image(self._shades)
        else:
            self._shades.set_data(x, y, values)

    # -- rulers and legend -------------------------------------------------------------------------

    def _measure(self, part: Chart) -> None:
        box, sheet = self.box, self.sheet
        bottom = box.top + box.height
        marks: list[tuple[float, float]] = []
        for value, words in part.x.ticks:
            share = float(_shares(value, part.x))
            if -1e-6 <= share <= 1 + 1e-6:
                x = box.left + share * box.width
                ends = box.left - box.before, box.left + box.width + box.after
                x = sheet.within(x, words, TICK, *ends)
                sheet.write(x, bottom + NUMBERS - 2, words, size=TICK, ha="center")
                marks += [(share, 0), (share, -4 / box.height), (np.nan, np.nan)]
        for value, words in part.y.ticks:
            share = float(_shares(value, part.y))
            if -1e-6 <= share <= 1 + 1e-6:
                y = middle(bottom - share * box.height, TICK)
                sheet.write(
                    box.left - _AWAY, y, words, size=TICK, ha="right", room=box.before - _AWAY
                )
                marks += [(0, share), (-4 / box.width, share), (np.nan, np.nan)]
        self._ticks.set_data(*(np.array(marks).T if marks else ([], [])))
        y = bottom + NUMBERS + LINE - 4
        sheet.write(
            box.left + box.width / 2, y, part.x.words, ha="center", room=box.width + 2 * box.after
        )
        sheet.write(box.left - 26, box.top - 2 * _AWAY, part.y.words, room=box.width + 34)

    def _explain(self, part: Chart) -> None:
        entries = [
            Entry(line.words, (_AREAS[line.look],))
            if line.look in _AREAS
            else Entry(line.words, line=_LINES[line.look] | {"clip_on": True})
            for line in part.lines
            if line.words
        ]
        if part.shades is not None and part.shade_words:
            entries.append(Entry(part.shade_words, _SHADES))
        box = self.box
        y = box.top + box.height + NUMBERS + (LINE if part.x.words else 0) + LINE
        room = box.width + 2 * min(box.before, box.after) + 24
        self.legend.draw(entries, box.left + box.width / 2, y, room, part.legend_lines)


def _put(artist: Any, line: Line, x_ruler: Ruler, y_ruler: Ruler) -> None:
    x, y = _shares(line.x, x_ruler), _shares(line.y, y_ruler)
    if line.look == "bars":
        floor = 0.0 if y_ruler.log else np.clip(_shares(0.0, y_ruler), 0, 1)
        low, high = np.minimum(y, floor), np.maximum(y, floor)
        fine = np.isfinite(low + high + x[1:] + x[:-1])
        bars = rectangles(x[:-1][fine], x[1:][fine], low[fine], high[fine])
        artist.set_path(bars if fine.any() else NOTHING)
    elif line.look in ("band", "compared-band"):
        fine = np.isfinite(x + y[0] + y[1])
        there = np.stack([x[fine], y[0][fine]], axis=-1)
        back = np.stack([x[fine], y[1][fine]], axis=-1)[::-1]
        artist.set_path(Path(np.concatenate([there, back])) if fine.any() else NOTHING)
    else:
        x, y = np.broadcast_arrays(np.atleast_1d(x), np.atleast_1d(y))
        if line.look in _MARKS:  # not clipped, so that one at the edge is whole
            inside = (x > -0.01) & (x < 1.01) & (y > -0.01) & (y < 1.01)
            x, y = x[inside], y[inside]
        artist.set_data(x, y)


def _shares(values: Any, ruler: Ruler) -> NDArray[np.float64]:
    """Where values lie on a ruler: 0 at its low end, 1 at its high end."""
    values = np.asarray(values, dtype=float)
    if not ruler.log:
        return np.asarray((values - ruler.low) / (ruler.high - ruler.low))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            (np.log(values) - np.log(ruler.low)) / (np.log(ruler.high) - np.log(ruler.low))
        )
