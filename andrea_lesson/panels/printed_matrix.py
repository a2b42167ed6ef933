"""A matrix of a picture, printed: the heatmap of the figures, with names and frames around it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap
from matplotlib.image import BboxImage
from matplotlib.patches import PathPatch
from matplotlib.transforms import Bbox, TransformedBbox

from ..colours import MASK_COLOUR, in_scores_colours, in_weights_colours, octaves
from ..experiments import FloatArray
from ..figure_parts import SIGNS, Scale, Side, hidden_look, outline, special_look
from ..figure_style import HIDDEN_LINES, NOTE, QUIET, TICK
from ..heatmap import Heatmap
from ..labels import label
from ..masks import BoolArray
from .dots import Dots, dots_of, is_relative
from .layout import BAR, LINE, NUMBERS, SLANTED, Box, ticks
from .picture import Axis, Matrix, Picture
from .printed_frames import NOTHING, Frames
from .printed_legend import Entry, Legend
from .printed_sheet import Sheet, middle, width_of

_NOBODY = Side("", ())  # names and titles are written on the sheet
_AWAY = 6.0  # pixels from the cells to the names
_BAR_TOP, _BAR_HEIGHT = 6.0, 8.0  # pixels below the cells


class PrintedMatrix:
    """A heatmap that is kept and changed in place."""

    def __init__(self, sheet: Sheet, box: Box, part: Matrix) -> None:
        self.sheet, self.box = sheet, box
        self.ax = sheet.axes(box)
        self.heatmap = Heatmap(self.ax)
        self.ax.xaxis.set_visible(False)  # which the heatmap brought back
        self.ax.yaxis.set_visible(False)
        self.bar = _bar(sheet, box) if part.bar else None
        self.frames = Frames(self.ax)
        self.legend = Legend(sheet)
        self._blank = PathPatch(NOTHING, facecolor="white", linewidth=0, zorder=0.6)
        self.ax.add_patch(self._blank)
        self._grid = LineCollection([], colors=QUIET, linewidths=1.2, zorder=2.5)
        self.ax.add_collection(self._grid)

    def draw(self, part: Matrix, picture: Picture, *, level: float, leftmost: bool) -> None:
        """Put a matrix there.

        Parameters
        ----------
        part : Matrix
        picture : Picture
            That it belongs to.
        level : float
            Pixels from the cells up to the title of the columns, the same along a line.
        leftmost : bool
            Whether it is the first of its line: then nothing left of it reaches over.
        """
        dots = dots_of(part, self.sheet.zoom)
        look = _look(part, dots)
        scale = look["scale"]
        if part.blank is not None and not dots.pooled:  # no number is written there either
            look["hidden"] = part.blank | (False if dots.hidden is None else dots.hidden)
        # Its bar and its words are drawn here: matplotlib's colour bar takes too long to follow.
        look["scale"] = replace(scale, ticks=(), note="")
        self.heatmap.show(
            **look,
            rows=_NOBODY,
            columns=_NOBODY,
            explain=False,
            ratio=self.box.height / self.box.width,
        )
        self.ax.set_box_aspect(None)  # the axes have their shape already, to the pixel
        whole = not dots.pooled
        self._blank.set_path(outline(part.blank) if part.blank is not None and whole else NOTHING)
        self._grid.set_segments(_grid(part) if whole else [])
        chosen = picture.selected
        self.frames.draw(
            part.values.shape,
            row=chosen.get(part.rows),
            column=chosen.get(part.columns),
            lit_rows=part.lit_rows,
            lit_columns=part.lit_columns,
            cells=part.framed,
            warns=part.warns,
        )
        self._name(part, picture, level, leftmost)
        if self.bar is not None:
            self._measure(self.bar, scale)
        self._explain(part, scale.note, _entries(part, look["values"], dots.hidden))

    def _measure(self, bar: BboxImage, scale: Scale) -> None:
        """Give the colour bar its colours, and the numbers beneath it."""
        if bar.cmap.name != self.heatmap.image.cmap.name:
            bar.set_cmap(self.heatmap.image.cmap)
        box = self.box
        y = box.top + box.height + _BAR_TOP + _BAR_HEIGHT + TICK
        for value, words in scale.ticks:
            x = box.left + box.width * (value - scale.low) / (scale.high - scale.low)
            x = self.sheet.within(x, words, TICK, box.left, box.left + box.width)
            self.sheet.write(x, y, words, size=TICK, ha="center")

    def _explain(self, part: Matrix, note: str, entries: list[Entry]) -> None:
        """Say beneath what the colours and the looks mean, in the lines that there is room for."""
        box, sheet = self.box, self.sheet
        x, y = box.left + box.width / 2, box.top + box.height + (BAR if part.bar else 4.0)
        room = box.width + 2 * _AWAY
        note = note if part.bar else ""
        sheet.write(x, y + NOTE + 1, note, size=NOTE, ha="center", room=room)
        lines = int((box.below - (BAR if part.bar else 4.0)) // LINE) - bool(note)
        if note:
            y += LINE
        self.legend.draw(entries, x, y + NOTE + 1, room, lines)

    def _name(self, part: Matrix, picture: Picture, level: float, leftmost: bool) -> None:
        box, sheet = self.box, self.sheet
        rows, columns = picture.axes[part.rows], picture.axes[part.columns]
        count, across = part.values.shape
        if part.show_rows:
            name_rows(sheet, box, rows, count, part.lit_rows)
            words = rows.title if part.row_title is None else part.row_title
            sheet.write(
                box.left - _AWAY,
                box.top - _AWAY - (min(level, NUMBERS) if leftmost else level),
                words,
                ha="right",
                room=box.before - _AWAY,
            )
        if part.show_columns:
            name_columns(sheet, box, columns, across, lit=part.lit_columns)
        words = columns.title if part.column_title is None else part.column_title
        sheet.write(
            box.left + box.width / 2,
            box.top - level - _AWAY,
            words,
            ha="center",
            room=box.width + 2 * _AWAY,
        )


def _grid(part: Matrix) -> list[Any]:
    """Lines between blocks of cells, where there are blocks."""
    rows, columns = part.values.shape
    right, bottom = columns - 0.5, rows - 0.5
    across = [at - 0.5 for at in range(part.grid, columns, part.grid)] if part.grid else []
    down = [at - 0.5 for at in range(part.grid, rows, part.grid)] if part.grid else []
    return [
        *([(x, -0.5), (x, bottom)] for x in across),
        *([(-0.5, y), (right, y)] for y in down),
    ]


def names_room(part: Matrix, picture: Picture) -> float:
    """Pixels over the cells for the names of the columns."""
    columns = picture.axes[part.columns]
    slanted = columns.slanted and columns.names is not None  # numbers never are
    return (SLANTED if slanted else NUMBERS) if part.show_columns else 0.0


def _bar(sheet: Sheet, box: Box) -> BboxImage:
    """Colours from one end of the map to the other, below the cells."""
    top = box.top + box.height + _BAR_TOP
    place = Bbox([[box.left, top], [box.left + box.width, top + _BAR_HEIGHT]])
    bar = BboxImage(TransformedBbox(place, sheet.pixels), interpolation="nearest")
    bar.set_data(np.linspace(0, 1, 256)[None])
    bar.set_clim(0, 1)
    sheet.figure.add_artist(bar)
    return bar


def _look(part: Matrix, dots: Dots) -> dict[str, Any]:
    """Values, scale, numbers and hidden cells, as the heatmap wants them."""
    values, hidden = np.asarray(dots.values, dtype=float), dots.hidden
    if part.colours == "mask":
        cells = values == 0 if hidden is None else (values == 0) | hidden
        scale = Scale(ListedColormap([MASK_COLOUR]), 0.0, 1.0)
        return {"values": np.ones(values.shape), "hidden": cells, "scale": scale}
    if part.colours == "scores":
        look = in_scores_colours(values, hidden, part.limit)
    elif dots.pooled and is_relative(part):  # they are multiples of the uniform weight already
        look = in_weights_colours(np.ones((1, 1)), None, "relative")
        look |= {"values": octaves(values), "numbers": None}
    else:
        kind = "relative" if is_relative(part) else "absolute"
        look = in_weights_colours(values, hidden, kind)
    if not part.numbers:
        look["numbers"] = None
    return look | {"hidden": hidden}


def _entries(part: Matrix, values: FloatArray, hidden: BoolArray | None) -> list[Entry]:
    """What hatched cells are, and cells that are no finite numbers."""
    entries = []
    told = part.hidden is not None and part.hidden_words != ""  # else there is no room for it
    if told and hidden is not None and hidden.any():
        usual = label("may_not_attend" if part.colours == "mask" else "hidden_cells")
        look = hidden_look() | {"linewidth": 0.6}
        entries.append(Entry(part.hidden_words or usual, (look,)))
    if part.blank is not None and part.blank_words and part.blank.any():
        look = {"facecolor": "white", "edgecolor": HIDDEN_LINES, "linewidth": 0.6}
        entries.append(Entry(part.blank_words, (look,)))
    seen = True if hidden is None else ~hidden
    if part.blank is not None and part.blank.shape == values.shape:
        seen = seen & ~part.blank
    for kind, cells in (
        ("nan", np.isnan(values)),
        ("plus_infinity", values == np.inf),
        ("minus_infinity", values == -np.inf),
    ):
        if (cells & seen).any():
            look = special_look(kind) | {"linewidth": 0.6}
            entries.append(Entry(label(f"{kind}_cells"), (look,), short=SIGNS[kind]))
    return entries


# -- names along the sides -------------------------------------------------------------------------


def name_rows(sheet: Sheet, box: Box, axis: Axis, count: int, lit: Sequence[int] = ()) -> None:
    """Write the names of rows left of the plot, as many as there is room for."""
    names = ticks(axis, count, box.height, across=False, lit=lit)
    size = min(TICK, 0.95 * box.height / max(len(names), 1))
    for place, name in names:
        y = box.top + (place + 0.5) * box.height / max(count, 1)
        sheet.write(
            box.left - _AWAY,
            middle(y, size),
            name,
            size=size,
            ha="right",
            room=box.before - _AWAY - 2,
        )


def name_columns(
    sheet: Sheet,
    box: Box,
    axis: Axis,
    count: int,
    *,
    below: bool = False,
    lit: Sequence[int] = (),
) -> None:
    """Write the names of columns over the plot or below it: at a slant where they are long."""
    step = box.width / max(count, 1)
    names = ticks(axis, count, box.width, across=True, lit=lit)
    longest = max((width_of(name, TICK) for _, name in names), default=0.0)
    slant = axis.slanted and not below and axis.names is not None and longest > 0.95 * step
    y = box.top + box.height + TICK + 2 if below else box.top - _AWAY
    for place, name in names:
        x = box.left + (place + 0.5) * step
        if slant:
            # Lines of type at 45° are nearer to each other than the columns.
            size = min(TICK, 0.71 * box.width / len(names))
            room = (SLANTED - 2) / 0.71 - size
            sheet.write(x + size / 4, y, name, size=size, rotation=45, room=room)
        else:
            places = [other for other, _ in names]
            apart = min((b - a for a, b in pairwise(places)), default=1)  # every second, fourth …
            room = 0.95 * step * apart if axis.names is not None else np.inf
            sheet.write(x, y, name, size=TICK, ha="center", room=room)
