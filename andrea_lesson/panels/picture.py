"""What a panel shows, as data: matrices, bars and charts side by side, and the words around them.

A panel turns its state into a :class:`Picture`; `live.py` draws it on canvases in the browser
and `printed.py` draws the same one through matplotlib.  Neither knows which panel it serves.
"""

from dataclasses import dataclass, field
from typing import Any

from ..experiments import FloatArray
from ..figure_parts import Side
from ..masks import BoolArray

SIDE = 153.0  # pixels: five squares fit side by side


@dataclass(frozen=True, eq=False)
class Axis:
    """One direction of matrices and bars: what its places are, wherever they appear.

    Parts that share an axis are linked: a query that is pointed at in one of them lights up in
    all.  `words` name a place ("query"), `title` stands beside the matrix ("row = query i").
    """

    words: str
    title: str = ""
    names: tuple[str, ...] | None = None  # None: places are numbered
    text: bool = (
        False  # names that read on from one to the next: with gaps they would make no sense
    )
    numbered: bool = True  # whether a name needs the number of its place beside it
    slanted: bool = False  # over columns there is room for long names, at a slant


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix, coloured cell by cell; `rows` and `columns` are names of axes of the picture."""

    name: str
    values: FloatArray  # (rows, columns)
    title: str = ""  # one or two lines
    rows: str = "query"
    columns: str = "key"
    colours: str = "scores"  # or "weights", "absolute", "relative", "mask": see `colours.py`
    limit: float | None = None  # of "scores": colours reach from -limit to limit
    hidden: BoolArray | None = None  # cells to hatch; given even if none is, there is room for
    # the words that explain them
    hidden_words: str | None = None  # what hatched cells are, "hidden by the mask" by default;
    # "" for nothing, where a part beside it says so
    reading: str = ""  # what a value is called when a cell is pointed at
    hidden_value: str = ""  # what a hatched cell holds, where that is worth saying
    blank: BoolArray | None = None  # cells to leave empty, whatever they hold: not there yet
    blank_words: str = ""  # what such cells are; needs the room that `hidden` makes
    grid: int = 0  # heavier lines after every so many rows and columns; 0 for none
    show_rows: bool = True  # the names of the rows; once in a line of pictures is enough
    show_columns: bool = True  # the names of the columns; False beneath a matrix that has them
    row_title: str | None = None  # instead of the title of the axis; "" for nothing
    column_title: str | None = None
    numbers: bool = True  # written into the cells where there is room
    bar: bool = True  # a colour bar below
    lit_rows: tuple[int, ...] = ()  # framed, to be found at a glance; neighbours in one frame
    lit_columns: tuple[int, ...] = ()
    framed: BoolArray | None = None  # cells to be framed,
    warns: bool = False  # in the colour of warnings, or as what is lit
    width: float = SIDE  # pixels, at the usual size
    height: float = SIDE
    under: str = ""  # name of the part of this line beneath which it stands, flush left


@dataclass(frozen=True, eq=False)
class Bars:
    """Bars along an axis: lying ones share their rows with the matrix beside them."""

    name: str
    values: FloatArray  # (places,)
    low: float  # what the bars are measured on
    high: float
    title: str = ""
    words: str = ""  # beneath: a sum, say
    along: str = "query"  # name of the axis
    upright: bool = False  # columns of a matrix above or below instead of rows beside it
    hidden: BoolArray | None = None
    hidden_words: str = ""  # what is said of a hidden place, "hidden" by default
    show_names: bool = False  # the names of the places
    lit: tuple[int, ...] = ()
    reading: str = ""
    numbers: bool = True
    width: float = 98.0
    height: float = SIDE
    under: str = ""


@dataclass(frozen=True, eq=False)
class Line:
    """One thing in a chart.

    `look` is "measured" (solid), "theory" (dashed, of the colour for what is compared),
    "dotted" or "dashdot" (quiet), "here" (a big dot), "points", "squares" (of the colour for what
    is compared), "diamonds" (quiet), "bars" (x are n + 1 edges, y are n heights), "band" (y is
    (2, n): low and high) or "compared-band" (of the colour for what is compared).
    """

    x: Any
    y: Any
    look: str = "measured"
    words: str = ""  # in the legend; "" for none


@dataclass(frozen=True, eq=False)
class Ruler:
    """One side of a chart, with its ticks in words; `log` is the base of the logarithm, or 0."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()
    words: str = ""
    log: int = 0


@dataclass(frozen=True, eq=False)
class Chart:
    """Curves, points and bars on two rulers.

    `shades`, if any, lies behind them: values (y, x) whose cells are bounded by `shade_x` and
    `shade_y`, coloured from 0 dark to 1 light.
    """

    name: str
    x: Ruler
    y: Ruler
    lines: tuple[Line, ...]
    title: str = ""
    shades: FloatArray | None = None
    shade_x: FloatArray | None = None  # (columns + 1,) edges
    shade_y: FloatArray | None = None  # (rows + 1,) edges
    shade_words: str = ""  # in the legend
    width: float = 176.0
    height: float = 170.0
    legend_lines: int = 2  # room kept beneath


Part = Matrix | Bars | Chart


@dataclass(frozen=True, eq=False)
class Picture:
    """Lines of parts, and what stands around them.

    Attributes
    ----------
    lines : tuple of tuple of Part
        Each line stands side by side.
    axes : dict of str to Axis
        All that the parts refer to.
    caption : str
        Where the numbers come from.
    formulas : tuple of str
        The numbers on show with the formulas that give them.
    selected : dict of str to int
        Place on an axis that is chosen, and lit in all parts.
    """

    lines: tuple[tuple[Part, ...], ...]
    axes: dict[str, Axis] = field(default_factory=dict)
    caption: str = ""
    formulas: tuple[str, ...] = ()
    selected: dict[str, int] = field(default_factory=dict)

    @property
    def parts(self) -> dict[str, Part]:
        """All parts by name."""
        return {part.name: part for line in self.lines for part in line}

    def side(self, axis: str, title: str | None = None, *, show: bool = True) -> Side:
        """Name the places along one side of a part, as heatmaps want it."""
        if not show:
            return Side("", ())
        one = self.axes[axis]
        return Side(one.title if title is None else title, one.names)
