"""Horizontal bars that share their rows with a heatmap beside them, kept and changed in place."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Annotation

from ..experiments import FloatArray
from ..figure_parts import hidden_look, level_lines, rectangles
from ..figure_style import HIDDEN_LINES, LABEL, MEASURED
from ..masks import BoolArray
from ..plot_inputs import number

MOST_NUMBERS = 12  # rows up to which the numbers stand at the bars
ABOVE = 22  # points from the uppermost row to the title, as a rule
_NOTHING = Path(np.zeros((1, 2)))
_HALF = 0.36  # half the thickness of a bar; a row is 1


class RowBars:
    """Bars on given axes, the first row on top; :meth:`show` puts other values into them."""

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self._sheet = PathPatch(_NOTHING, **hidden_look())
        self._bars = PathPatch(_NOTHING, facecolor=MEASURED, linewidth=0)
        ax.add_patch(self._sheet)
        ax.add_patch(self._bars)
        self._zero = ax.axvline(0, color=HIDDEN_LINES, linewidth=0.8)
        self._numbers: list[Annotation] = []
        ax.spines[["top", "right", "bottom", "left"]].set_visible(False)
        ax.xaxis.tick_top()
        ax.tick_params(length=0, pad=4)
        ax.tick_params(axis="y", labelleft=False)
        ax.xaxis.set_label_coords(0.5, -0.04)

    def show(
        self,
        values: FloatArray,
        *,
        low: float,
        high: float,
        title: str,
        words: str = "",
        hidden: BoolArray | None = None,
        names: Sequence[str] | None = None,
        above: float = ABOVE,
    ) -> None:
        """Put values into the bars.

        Parameters
        ----------
        values : ndarray, shape (rows,)
            NaN gets no bar but the word.
        low, high : float
            What the axis runs over, the same for a while so that bars can be compared.
        title, words : str
            Over and under the bars.
        hidden : ndarray of bool, shape (rows,), optional
            Rows to hatch instead.
        names : sequence of str, optional
            Names of the rows; give them to the leftmost axes only.
        above : float
            Points from the uppermost row to the title.
        """
        rows = np.arange(len(values))
        hidden = np.zeros(len(values), dtype=bool) if hidden is None else hidden
        fine = ~hidden & np.isfinite(values)
        ends, at = values[fine], rows[fine]
        self._bars.set_path(
            rectangles(np.minimum(ends, 0), np.maximum(ends, 0), at - _HALF, at + _HALF)
            if fine.any()
            else _NOTHING
        )
        self._sheet.set_visible(bool(hidden.any()))
        if hidden.any():
            at = rows[hidden]
            left, right = np.full(len(at), low), np.full(len(at), high)
            self._sheet.set_path(rectangles(left, right, at - 0.5, at + 0.5))
        self.ax.set(xlim=(low, high), ylim=(len(values) - 0.5, -0.5))
        ticks = sorted({low, 0.0, high})
        self.ax.set_xticks(ticks, [number(tick) for tick in ticks])
        for tick, text in zip(ticks, self.ax.get_xticklabels(), strict=True):
            # Those at the ends stay within the chart, clear of its neighbours.
            text.set(ha="left" if tick == low else "right" if tick == high else "center")
        self.ax.set_xlabel(words)
        self.ax.set_title(title, fontsize=LABEL + 1, y=1.0, pad=above + 3)
        level_lines(self.ax.title)
        if names is not None:
            self.ax.tick_params(axis="y", labelleft=True)
            self.ax.set_yticks(*_thinned(names))
        self._write(values, hidden)

    def _write(self, values: FloatArray, hidden: BoolArray) -> None:
        """Numbers at the ends of the bars, where rows are few; NaN always."""
        used = 0
        texts = _numbers(values)
        for row in np.flatnonzero(~hidden):
            value = values[row]
            if len(values) > MOST_NUMBERS and not np.isnan(value):
                continue
            if used == len(self._numbers):
                self._numbers.append(
                    self.ax.annotate(
                        "", (0, 0), xytext=(3, 0), textcoords="offset points", va="center_baseline"
                    )
                )
            text = self._numbers[used]
            text.xy = (0.0 if np.isnan(value) else float(value), float(row))
            text.set(
                text=texts[row],
                ha="right" if value < 0 else "left",
                position=(-3 if value < 0 else 3, 0),
                visible=True,
            )
            used += 1
        for text in self._numbers[used:]:
            text.set_visible(False)


def _numbers(values: FloatArray) -> list[str]:
    """Two decimals below 10, one below 100, then none; fewer where all do without."""
    finite = values[np.isfinite(values)]
    size = np.abs(finite).max(initial=0.0)
    most = 2 if size < 10 else 1 if size < 100 else 0
    if size >= 10 and (finite == np.round(finite)).all():
        most = 0
    return ["NaN" if np.isnan(v) else f"{v:z.{most}f}".replace("-", "−") for v in values]


def _thinned(names: Sequence[str]) -> tuple[list[int], list[str]]:
    step = next(2**power for power in range(64) if len(names) <= 12 * 2**power)
    places = list(range(0, len(names), step))
    return places, [names[place] for place in places]
