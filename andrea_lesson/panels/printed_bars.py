"""Bars of a picture, printed: lying ones share rows with a matrix beside them, upright columns."""

import numpy as np
from matplotlib.patches import PathPatch

from ..experiments import FloatArray
from ..figure_parts import hidden_look, rectangles
from ..figure_style import HIDDEN_LINES, INK, LIGHT_INK, MEASURED, TICK
from ..masks import BoolArray
from ..plot_inputs import number
from .layout import LINE, Box
from .picture import Bars, Picture
from .printed_frames import NOTHING, Frames
from .printed_matrix import name_columns, name_rows
from .printed_sheet import Sheet, middle, width_of
from .settings import short

MOST_NUMBERS = 12  # bars up to which the numbers stand at them
_HALF = 0.36  # half the thickness of a bar; its place is 1
_AWAY, _SMALLEST = 6.0, 8.8  # pixels: from the plot to its names; a number that can be read


class PrintedBars:
    """Bars that are kept and changed in place."""

    def __init__(self, sheet: Sheet, box: Box, part: Bars) -> None:
        self.sheet, self.box = sheet, box
        self.ax = sheet.axes(box)
        self.ax.spines[:].set_visible(False)
        self._sheet = PathPatch(NOTHING, zorder=0.5, **hidden_look())
        self._bars = PathPatch(NOTHING, facecolor=MEASURED, linewidth=0)
        self.ax.add_patch(self._sheet)
        self.ax.add_patch(self._bars)
        (self._zero,) = self.ax.plot([], [], color=HIDDEN_LINES, linewidth=0.8, zorder=2)
        self.frames = Frames(self.ax)

    def draw(self, part: Bars, picture: Picture) -> None:
        """Put values into the bars."""
        values = np.asarray(part.values, dtype=float)
        count = len(values)
        hidden = np.zeros(count, dtype=bool) if part.hidden is None else part.hidden
        fine = ~hidden & np.isfinite(values)
        places, ends = np.flatnonzero(fine), np.clip(values[fine], part.low, part.high)
        start = float(np.clip(0.0, part.low, part.high))
        low, high = np.minimum(ends, start), np.maximum(ends, start)
        beyond = np.flatnonzero(hidden)
        whole = np.full(len(beyond), part.low), np.full(len(beyond), part.high)
        along, across = (-0.5, max(count, 1) - 0.5), (part.low, part.high)
        chosen = picture.selected.get(part.along)
        if part.upright:
            self.ax.set(xlim=along, ylim=across)
            bars = rectangles(places - _HALF, places + _HALF, low, high)
            sheet = rectangles(beyond - 0.5, beyond + 0.5, *whole)
            self._zero.set_data(along, (start, start))
        else:
            self.ax.set(xlim=across, ylim=along[::-1])
            bars = rectangles(low, high, places - _HALF, places + _HALF)
            sheet = rectangles(*whole, beyond - 0.5, beyond + 0.5)
            self._zero.set_data((start, start), along)
        self._bars.set_path(bars if len(places) else NOTHING)
        self._sheet.set_path(sheet if len(beyond) else NOTHING)
        self._frame(part, count, chosen)
        self._name(part, picture, count)
        if part.numbers:
            write = self._write_upright if part.upright else self._write_lying
            write(part, values, hidden)

    def _frame(self, part: Bars, count: int, chosen: int | None) -> None:
        if part.upright:
            self.frames.draw((1, count), column=chosen, lit_columns=part.lit)
        else:
            self.frames.draw((count, 1), row=chosen, lit_rows=part.lit)

    def _name(self, part: Bars, picture: Picture, count: int) -> None:
        box, sheet, axis = self.box, self.sheet, picture.axes[part.along]
        ticks = sorted({part.low, min(max(0.0, part.low), part.high), part.high})
        middle_x, bottom = box.left + box.width / 2, box.top + box.height
        for tick in ticks:
            share = (tick - part.low) / (part.high - part.low)
            if part.upright:
                y = middle(bottom - share * box.height, TICK)
                sheet.write(box.left - _AWAY, y, number(tick), size=TICK, ha="right")
                continue
            # Those at the ends stay within the plot, clear of its neighbours.
            ha = "left" if tick == part.low else "right" if tick == part.high else "center"
            x = box.left + share * box.width
            sheet.write(x, box.top - _AWAY, number(tick), size=TICK, ha=ha)
        room = box.width + min(box.before, box.after) * 2
        if part.upright:
            if part.show_names:
                name_columns(sheet, box, axis, count, below=True)
            y = bottom + (LINE if part.show_names else 0) + LINE - 4
            sheet.write(middle_x, y, part.words, ha="center", room=room)
            return
        if part.show_names:
            name_rows(sheet, box, axis, count)
            sheet.write(
                box.left - _AWAY,
                box.top - _AWAY - LINE,
                axis.title,
                ha="right",
                room=box.before - _AWAY,
            )
        sheet.write(middle_x, bottom + LINE - 4, part.words, ha="center", room=room)

    def _write_lying(self, part: Bars, values: FloatArray, hidden: BoolArray) -> None:
        """Numbers in the bars where they fit, else beyond their ends; NaN always."""
        box, count = self.box, len(values)
        size = min(TICK, 0.95 * box.height / max(count, 1))
        a_pixel = box.width / (part.high - part.low)
        zero = min(max(0.0, part.low), part.high)
        for row, text in enumerate(numbers(values)):
            value = values[row]
            if hidden[row] or (count > MOST_NUMBERS and np.isfinite(value)):
                continue
            y = middle(box.top + (row + 0.5) * box.height / count, size)
            end = float(np.clip(np.nan_to_num(value, nan=zero), part.low, part.high))
            side = -1 if end < zero else 1
            wide = width_of(text, size) + 3
            inside = abs(end - zero) * a_pixel > wide + 4
            if not inside and wide > _beyond(end, side, part) * a_pixel:
                # Beyond the end of the bar is no room in the plot; maybe before its beginning.
                here, there = (
                    (_beyond(at, way, part) * a_pixel, way, at)
                    for at, way in ((end, side), (zero, -side))
                )
                _, side, end = max(here, there)
            x = box.left + (end - part.low) * a_pixel
            left = (side > 0) != inside
            self.sheet.write(
                x + 3 * (1 if left else -1),
                y,
                text,
                size=size,
                ha="left" if left else "right",
                colour=LIGHT_INK if inside else INK,
            )

    def _write_upright(self, part: Bars, values: FloatArray, hidden: BoolArray) -> None:
        """Numbers in the bars where they fit, else beyond their ends; none that are too small."""
        box, texts = self.box, numbers(values)
        step = box.width / max(len(values), 1)
        longest = max((width_of(text, TICK) for text in texts), default=1.0)
        size = TICK * min(1.0, 0.9 * step / longest)
        a_pixel = box.height / (part.high - part.low)
        zero = min(max(0.0, part.low), part.high)
        for place, (value, text) in enumerate(zip(values, texts, strict=True)):
            if hidden[place] or (size < _SMALLEST and np.isfinite(value)):
                continue
            end = float(np.clip(np.nan_to_num(value, nan=zero), part.low, part.high))
            inside = abs(end - zero) * a_pixel > size + 4 and longest * size / TICK < 0.72 * step
            # Baselines: upper edge and lower edge of the digits clear the end by 3 pixels.
            above, below = -3.0, 3 + 0.72 * size
            self.sheet.write(
                box.left + (place + 0.5) * step,
                box.top
                + (part.high - end) * a_pixel
                + (below if inside == (end >= zero) else above),
                text,
                size=max(size, _SMALLEST),
                ha="center",
                colour=LIGHT_INK if inside else INK,
            )


def _beyond(at: float, side: int, part: Bars) -> float:
    """How far the plot goes on to one side."""
    return part.high - at if side > 0 else at - part.low


def numbers(values: FloatArray) -> list[str]:
    """Two decimals below 10, one below 100, then none; no more than all of them need."""
    finite = values[np.isfinite(values)]
    size = np.abs(finite).max(initial=0.0)
    if size >= 1e6:  # there is no room for so many digits
        return [short(float(v)) for v in values]
    most = 2 if size < 10 else 1 if size < 100 else 0
    enough = (few for few in range(most) if (finite == np.round(finite, few)).all())
    most = next(enough, most)
    return ["NaN" if np.isnan(v) else "0" if v == 0 else _signed(f"{v:z.{most}f}") for v in values]


def _signed(text: str) -> str:
    return text.replace("-", "−").replace("inf", "∞")
