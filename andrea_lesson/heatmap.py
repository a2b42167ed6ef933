"""One matrix as a picture: rows are queries, columns are keys, the first row on top.

A :class:`Heatmap` keeps its artists and changes them, so that a picture that follows a slider
neither grows nor moves.  Cells that a query may not see are hatched: a hatched sheet lies
behind the image, and hidden cells are holes in it, which costs the same at any T.  NaN, +∞
and -∞ at visible cells have looks of their own and never stretch the colours of the others.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Patch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation, Transform, blended_transform_factory
from numpy.typing import NDArray

from .figure_parts import (
    SIGNS,
    SPECIAL,
    BoolArray,
    FloatArray,
    Scale,
    Side,
    clear,
    ems,
    hidden_look,
    level_lines,
    name_columns,
    outline,
    special_look,
    ticks_along,
)
from .figure_style import LABEL, NOTE, TICK, TITLE, figure_of, ink_on
from .labels import label
from .plot_inputs import check_axes

MOST_NUMBERS = 10  # columns up to which the numbers stand in the cells
MOST_LINES = 32  # rows or columns up to which white lines part the cells
_SMALLEST_NUMBER = 8.8  # pixels on the screen
_BAR_TOP, _BAR_HEIGHT = 0.10, 0.13  # inches below the cells
_NOTE_TOP = _BAR_TOP + _BAR_HEIGHT + 1.5 * TICK / 72


class Heatmap:
    """The picture of one matrix on given axes; :meth:`show` puts another matrix into it."""

    def __init__(self, ax: Axes, kind: str | None = None) -> None:
        clear(ax)
        self.kind = kind  # of picture: what one kind changes by hand does not show in another
        self.ax = ax
        # Inches below the lower edge of the cells, whatever size they are drawn at.
        # (any transform will do; the type stubs of ScaledTranslation ask for an affine one)
        corner = ScaledTranslation(0, 0, ax.transAxes)  # type: ignore[arg-type]
        inches = figure_of(ax).dpi_scale_trans + corner
        self._below = blended_transform_factory(ax.transAxes, inches)
        self._sheet = ax.add_patch(
            Rectangle((0, 0), 1, 1, transform=ax.transAxes, zorder=-1, **hidden_look())
        )
        self.image = ax.imshow([[0.0]], aspect="auto", zorder=0)
        self._lines = ax.add_collection(LineCollection([], colors="white", linewidths=0.8))
        self._special: dict[str, PathPatch] = {}
        self._numbers: list[Text] = []
        self._nothing = ax.text(
            0.5, 0.5, "", transform=ax.transAxes, ha="center", va="center", fontsize=NOTE
        )
        self._bar_axes: Axes | None = None
        self._ratio = 1.0  # height to width of the picture
        self.above = 0.0  # points over the cells that the names of the columns take
        self._drawn: dict[str, Any] = {}  # what stands there already and need not be redone
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.tick_params(length=0, pad=4)
        ax.title.set(fontsize=TITLE)
        # Upright at the corner: Chinese does not read well sideways.
        ax.yaxis.label.set(rotation=0, ha="right", va="bottom")
        ax.yaxis.set_label_coords(0, 1, transform=self._moved(-10, 6))
        ax.xaxis.label.set(va="bottom")

    def show(
        self,
        values: FloatArray,
        *,
        scale: Scale,
        hidden: BoolArray | None = None,
        title: str = "",
        rows: Side,
        columns: Side,
        numbers: NDArray[np.str_] | None = None,
        legend: Sequence[tuple[str, str]] = (),
        hidden_words: str | None = None,
        square: bool = False,
        ratio: float | None = None,
        explain: bool = True,
    ) -> None:
        """Put a matrix into the picture.

        Parameters
        ----------
        values : ndarray, shape (rows, columns)
        scale : Scale
        hidden : ndarray of bool, shape of `values`, optional
            Cells to hatch; what they hold is not looked at.
        title : str
        rows, columns : Side
        numbers : ndarray of str, shape of `values`, optional
            What to write into the cells, where there is room.
        legend : sequence of (colour, words)
            Entries beside those for hatched and special cells.
        hidden_words : str, optional
            What hatched cells are, "hidden by the mask" by default; "" leaves it unsaid.
        square : bool
            Fill a square with the matrix whatever its shape, so that several line up.
        ratio : float, optional
            Height to width of what is filled instead.
        explain : bool
            Say beneath what hatched and special cells are.
        """
        shape = values.shape
        if hidden is None:
            hidden = np.zeros(shape, dtype=bool)
        special = {
            "nan": np.isnan(values) & ~hidden,
            "plus_infinity": (values == np.inf) & ~hidden,
            "minus_infinity": (values == -np.inf) & ~hidden,
        }
        self._frame(shape, 1.0 if square else ratio)
        self._colour(np.ma.masked_array(values, hidden | ~np.isfinite(values)), scale)
        self._sheet.set_visible(bool(hidden.any()))
        self._mark(special)
        self._write(values, hidden, special, numbers)
        self._name(rows, columns, title)
        self._bar(scale)
        entries = [(Patch(facecolor=colour), words) for colour, words in legend]
        if hidden.any() and hidden_words != "":
            hatched = Patch(**(hidden_look() | {"linewidth": 0.6}))
            entries.append((hatched, hidden_words or label("hidden_cells")))
        for kind, cells in special.items():
            if cells.any():
                look = special_look(kind) | {"linewidth": 0.6}
                entries.append((Patch(**look), label(f"{kind}_cells")))
        self._explain(entries if explain else [], scale)

    def _frame(self, shape: tuple[int, int], ratio: float | None) -> None:
        """Fit axes and lines to the number of cells; the image alone would keep its old ones."""
        empty = 0 in shape
        self._nothing.set_text(label("no_cells") if empty else "")
        if not self._changed("frame", (shape, ratio)):
            return
        height, width = shape
        self.image.set_visible(not empty)
        right, bottom = max(width, 1) - 0.5, max(height, 1) - 0.5
        self.image.set_extent((-0.5, right, bottom, -0.5))
        self.ax.set(xlim=(-0.5, right), ylim=(bottom, -0.5))
        own = 1.0 if empty else min(max(height / width, 1 / 3), 3.0)
        self._ratio = own if ratio is None else ratio
        self.ax.set_box_aspect(self._ratio)
        segments: list[Any] = []
        if not empty and max(shape) <= MOST_LINES:
            segments += [[(x - 0.5, -0.5), (x - 0.5, bottom)] for x in range(1, width)]
            segments += [[(-0.5, y - 0.5), (right, y - 0.5)] for y in range(1, height)]
        self._lines.set(segments=segments, linewidth=0.8 if max(shape) <= 16 else 0.4)
        # Many cells to a pixel are averaged; few cells stay sharp.
        self.image.set_interpolation("nearest" if max(shape) <= 256 else "antialiased")

    def _colour(self, cells: np.ma.MaskedArray[Any, Any], scale: Scale) -> None:
        if 0 not in cells.shape:
            self.image.set_data(cells)
        if self._changed("colours", (scale.cmap, scale.low, scale.high)):
            cmap = colormaps[scale.cmap] if isinstance(scale.cmap, str) else scale.cmap
            self.image.set(cmap=cmap.with_extremes(bad=(0, 0, 0, 0)), clim=(scale.low, scale.high))

    def _mark(self, special: dict[str, BoolArray]) -> None:
        for kind, cells in special.items():
            if not cells.any():
                if kind in self._special:
                    self._special.pop(kind).remove()
                continue
            if kind not in self._special:
                self._special[kind] = PathPatch(
                    Path(np.zeros((1, 2))), zorder=0.5, **special_look(kind)
                )
                self.ax.add_patch(self._special[kind])
            self._special[kind].set_path(outline(cells))

    def _write(
        self,
        values: FloatArray,
        hidden: BoolArray,
        special: dict[str, BoolArray],
        numbers: NDArray[np.str_] | None,
    ) -> None:
        used = 0
        size = 0.0
        if numbers is not None and values.size > 0 and values.shape[1] <= MOST_NUMBERS:
            longest = max(len(text) for text in numbers.flat)
            width, height = np.array(self._size()) / values.shape[::-1]  # points of a cell
            size = min(float(NOTE), width / (0.62 * (longest + 0.6)), 0.75 * height)
        if numbers is not None and size * figure_of(self.ax).dpi / 72 >= _SMALLEST_NUMBER:
            faces = np.asarray(
                self.image.cmap(self.image.norm(np.where(np.isfinite(values), values, 0.0)))
            )
            for i, j in np.argwhere(~hidden):
                kind = next((kind for kind, cells in special.items() if cells[i, j]), None)
                if used == len(self._numbers):
                    self._numbers.append(self.ax.text(0, 0, "", ha="center", va="center"))
                text = self._numbers[used]
                face = faces[i, j][:3] if kind is None else SPECIAL[kind][0]
                text.set(
                    position=(j, i),
                    text=numbers[i, j] if kind is None else SIGNS[kind],
                    color=ink_on(face),
                    fontsize=size,
                    visible=True,
                    bbox=None if kind is None else {"facecolor": face, "lw": 0, "pad": 1},
                )
                used += 1
        for text in self._numbers[used:]:
            text.set_visible(False)

    def _name(self, rows: Side, columns: Side, title: str) -> None:
        height, width = self._drawn["frame"][0]
        ink = ink_on(figure_of(self.ax).get_facecolor())
        if self._changed("rows", (rows, height, ink)):
            places, names = ticks_along(rows.names, height, self._size()[1])
            self.ax.set_yticks(places, names, color=ink)
            self.ax.yaxis.label.set(text=rows.words, color=ink)
        if self._changed("columns", (columns, width, ink)):
            above = name_columns(self.ax, columns.names, width, self._size()[0], ink)
            self.ax.xaxis.label.set(text=columns.words, color=ink)
            # Labels and title keep their places by hand: matplotlib would measure every text
            # above the cells at each redraw, which takes as long as drawing them.
            self.above = 4 + above + 3
        self.lift(self.above)
        if self._changed("title", (title, ink)):
            self.ax.title.set(text=title, color=ink)
            level_lines(self.ax.title)

    def lift(self, above: float) -> None:
        """Set label and title of the columns `above` points over the cells."""
        if self._changed("lifted", (above, bool(self.ax.get_xlabel()))):
            self.ax.xaxis.set_label_coords(0.5, 1, transform=self._moved(0, above))
            pad = above + (LABEL + 9 if self.ax.get_xlabel() else 3)
            self.ax.set_title(self.ax.get_title(), y=1.0, pad=pad)

    def _bar(self, scale: Scale) -> None:
        if self._bar_axes is not None:
            self._bar_axes.set_visible(bool(scale.ticks))
        if not scale.ticks:
            return
        if self._bar_axes is None:
            place = (0, -_BAR_TOP - _BAR_HEIGHT, 1, _BAR_HEIGHT)
            self._bar_axes = self.ax.inset_axes(place, transform=self._below)
            bar = figure_of(self.ax).colorbar(
                self.image, cax=self._bar_axes, orientation="horizontal"
            )
            bar.outline.set_visible(False)
            self._bar_axes.tick_params(length=0, pad=3)
            self._bar_axes.set_title("", y=1.0)
            self._bar_axes.xaxis.set_label_coords(0.5, -_NOTE_TOP, transform=self._below)
            self._bar_axes.xaxis.label.set(va="top", fontsize=NOTE)
        ink = ink_on(figure_of(self.ax).get_facecolor())
        if self._changed("bar", (scale.ticks, scale.note, ink)):
            assert self.image.colorbar is not None
            values, names = zip(*scale.ticks, strict=True)
            self.image.colorbar.set_ticks(values, labels=names, color=ink)
            self._bar_axes.xaxis.label.set(text=scale.note, color=ink)
            # Names at both ends stay within the width of the picture.
            for n, name in enumerate(self._bar_axes.get_xticklabels()):
                last = n == len(names) - 1
                name.set(ha="left" if n == 0 else "right" if last else "center")

    def _explain(self, entries: list[tuple[Patch, str]], scale: Scale) -> None:
        words = tuple(text for _, text in entries)
        has_bar, has_note = bool(scale.ticks), bool(scale.note)
        ink = ink_on(figure_of(self.ax).get_facecolor())
        if not self._changed("legend", (words, has_bar, has_note, ink)):
            return
        if (old := self.ax.get_legend()) is not None:
            old.remove()
        if not entries:
            return
        longest = max(map(ems, words)) + 4  # with the patch before it
        columns = 2 if 2 * longest * NOTE < 1.3 * self._size()[0] else 1
        inches = _NOTE_TOP if has_bar else 0.02
        if has_note:
            inches += 1.5 * NOTE / 72
        self.ax.legend(
            handles=[handle for handle, _ in entries],
            labels=list(words),
            loc="upper center",
            bbox_to_anchor=(0.5, -inches),
            bbox_transform=self._below,
            ncols=columns,
            handlelength=1.6,
            handleheight=1.2,
            columnspacing=1.4,
            labelcolor=ink,
            borderaxespad=0.3,
            borderpad=0,
        )

    def _size(self) -> tuple[float, float]:
        """Width and height of all cells together, in points."""
        box, inches = self.ax.get_position(original=True), figure_of(self.ax).get_size_inches()
        width = min(box.width * inches[0], box.height * inches[1] / self._ratio)
        return 72 * float(width), 72 * float(width) * self._ratio

    def _moved(self, right: float, up: float) -> Transform:
        """Coordinates of the axes, moved by points."""
        offset = ScaledTranslation(right / 72, up / 72, figure_of(self.ax).dpi_scale_trans)
        return self.ax.transAxes + offset

    def _changed(self, what: str, state: Any) -> bool:
        if self._drawn.get(what) == state:
            return False
        self._drawn[what] = state
        return True


def heatmap_on(ax: Axes, kind: str | None = None) -> Heatmap:
    """Return the heatmap that lives on the axes, or start one there if it is of another kind."""
    check_axes("ax", ax)
    kept = getattr(ax, "_andrea_heatmap", None)
    if isinstance(kept, Heatmap) and kept.image in ax.images and kind in (None, kept.kind):
        return kept
    fresh = Heatmap(ax, kind)
    ax._andrea_heatmap = fresh  # type: ignore[attr-defined]
    return fresh


def level_titles(axes: Iterable[Axes]) -> None:
    """Bring titles of heatmaps side by side to one height, that of the longest names below them."""
    heatmaps = [heatmap_on(ax) for ax in axes]
    for heatmap in heatmaps:
        heatmap.lift(max(one.above for one in heatmaps))
