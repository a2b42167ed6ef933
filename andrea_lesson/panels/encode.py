"""A picture as plain data and bytes, for `live.js` to draw: what is shown, once, in few bytes.

A cell is one byte: 0…250 are places on its colour map, from low to high, and the rest are looks
of their own.  The numbers themselves go along only where cells are few; of larger matrices a
reader asks for one cell at a time, and gets a window of cells for the table.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from ..colours import (
    MASK_COLOUR,
    SCORES_MAP,
    WEIGHTS_MAP,
    in_scores_colours,
    in_weights_colours,
    octaves,
)
from ..experiments import FloatArray
from ..figure_parts import SIGNS, Scale
from ..heatmap import MOST_LINES
from ..labels import label
from ..masks import BoolArray
from ..plot_inputs import number
from .dots import Dots, dots_of, is_relative, note_of
from .layout import NUMBERS, SLANTED, Box, Layout, ticks
from .picture import Axis, Bars, Chart, Matrix, Picture, Ruler
from .printed_bars import MOST_NUMBERS as MOST_BAR_NUMBERS
from .printed_bars import numbers as bar_numbers
from .settings import short

STEPS = 250  # code of the high end of a colour map
HIDDEN, NAN, PLUS_INFINITY, MINUS_INFINITY, BLANK = 251, 252, 253, 254, 255
MOST_CELLS = 64 * 64  # up to here the numbers go along
WINDOW = 12  # rows and columns of the table of a matrix that is larger
_MASK_MAP = "mask"
_AWAY = 6.0  # pixels from the cells to their names

Plain = dict[str, Any]


def colour_tables() -> dict[str, bytes]:
    """Colour maps by name, (256, 3) bytes each: entry k is the colour of code k, up to STEPS."""
    shares = np.clip(np.arange(256) / STEPS, 0, 1)
    tables = {name: colormaps[name](shares)[:, :3] for name in (WEIGHTS_MAP, SCORES_MAP)}
    tables[_MASK_MAP] = np.tile(to_rgb(MASK_COLOUR), (256, 1))
    return {
        name: np.round(255 * colours).astype(np.uint8).tobytes() for name, colours in tables.items()
    }


def encode(picture: Picture, layout: Layout, chosen: Mapping[str, int] | None = None) -> Plain:
    """Turn a picture into what the browser needs to draw it.

    Parameters
    ----------
    picture : Picture
    layout : Layout
        Of this picture.
    chosen : dict of str to int, optional
        Places by axis that a reader chose and the panel has no say in; for tables of windows.

    Returns
    -------
    dict
        Numbers, words, lists and bytes.
    """
    chosen = {**(chosen or {}), **picture.selected}
    sent: dict[int, str] = {}  # values that went along with a part, by identity
    parts: list[Plain] = []
    for name, part in picture.parts.items():
        box = layout.boxes[name]
        if isinstance(part, Matrix):
            plain = _matrix(part, picture, box, layout.zoom, chosen, sent)
        elif isinstance(part, Bars):
            plain = _bars(part, picture, box)
        else:
            plain = _chart(part)
        title = part.title.split("\n") if part.title else []
        parts.append(
            {
                "name": name,
                "title": title,
                "titleTop": _title_top(box, layout) - box.top,
                "box": list(vars(box).values()),
                **plain,
            }
        )
    _level_column_titles(parts)
    notes = [plain["note"] for plain in parts if plain.get("note")]
    caption = " · ".join(filter(None, [picture.caption, *notes[:1]]))  # that of the squares
    return {
        "size": [layout.width, layout.height, layout.zoom, layout.most],
        "axes": {
            name: {
                "words": axis.words,
                "names": list(axis.names) if axis.names else None,
                "numbered": axis.numbered,
            }
            for name, axis in picture.axes.items()
        },
        "selected": {axis: int(place) for axis, place in picture.selected.items()},
        "parts": parts,
        "caption": [layout.caption, caption],
        "formulas": [layout.formulas, list(picture.formulas)],
    }


def _title_top(box: Box, layout: Layout) -> float:
    """Titles of plots side by side stand at one height."""
    return box.top - max(other.above for other in layout.boxes.values() if other.top == box.top)


def _names_above(part: Matrix, columns: Axis) -> float:
    if not part.show_columns:
        return 0.0
    return SLANTED if columns.slanted else NUMBERS


def _level_column_titles(parts: list[Plain]) -> None:
    """Words over columns side by side stand at one height, clear of slanted names."""
    titled = [plain for plain in parts if plain.get("columnTitle")]
    for plain in titled:
        beside = (other for other in titled if other["box"][1] == plain["box"][1])
        plain["columnTitleUp"] = max(other["columnTitleUp"] for other in beside)


# -- matrices --------------------------------------------------------------------------------------


def _matrix(
    part: Matrix,
    picture: Picture,
    box: Box,
    zoom: float,
    chosen: Mapping[str, int],
    sent: dict[int, str],
) -> Plain:
    dots = dots_of(part, zoom)
    values, hidden, scale, numbers = _coloured(part, dots)
    codes = codes_of(values, scale.low, scale.high, hidden)
    if part.blank is not None and not dots.pooled:
        codes[part.blank] = BLANK
    rows, columns = picture.axes[part.rows], picture.axes[part.columns]
    count, across = part.values.shape
    row_title = rows.title if part.row_title is None else part.row_title
    plain: Plain = {
        "kind": "matrix",
        "axes": [part.rows, part.columns],
        "shape": [count, across],
        "dots": list(codes.shape),
        "block": [dots.rows, dots.columns],
        "codes": codes.tobytes(),
        "map": scale.cmap,
        "lines": 0 if max(codes.shape) > MOST_LINES else 0.8 if max(codes.shape) <= 16 else 0.4,
        "rowTicks": _ticks(rows, count, part.height, across=False, lit=part.lit_rows)
        if part.show_rows
        else None,
        "columnTicks": _ticks(columns, across, part.width, across=True, lit=part.lit_columns)
        if part.show_columns
        else None,
        "slanted": columns.slanted and columns.names is not None,
        "columnTitleUp": _AWAY + _names_above(part, columns),
        "rowTitle": row_title if part.show_rows else "",
        "columnTitle": columns.title if part.column_title is None else part.column_title,
        "bar": [[_share(value, scale), words] for value, words in scale.ticks] if part.bar else [],
        "barNote": scale.note if part.bar else "",
        "legend": _legend(part, codes),
        "lit": [list(part.lit_rows), list(part.lit_columns)],
        "reading": part.reading or (part.title.split("\n")[0] if part.title else ""),
    }
    if numbers is not None and part.numbers:
        plain["numbers"] = "\n".join(numbers.flat)
    if part.framed is not None and part.framed.any():
        plain["framed"] = _pooled_any(part.framed, dots).tobytes()
        plain["warns"] = part.warns
    if part.hidden_value:
        plain["hiddenValue"] = part.hidden_value
    if part.hidden_words:
        plain["hiddenWords"] = part.hidden_words
    if part.blank is not None:
        plain["blankWords"] = part.blank_words
    if part.grid and not dots.pooled:
        plain["grid"] = part.grid
    plain["note"] = note_of(part, zoom)
    if part.values.size > MOST_CELLS:
        plain["window"] = _window(part, chosen)
    elif part.colours != "mask":
        earlier = sent.setdefault(id(part.values), part.name)
        if earlier != part.name:
            plain["valuesOf"] = earlier
        else:
            plain["values"] = _floats(part.values)
    return plain


def _coloured(
    part: Matrix, dots: Dots
) -> tuple[FloatArray, BoolArray | None, Scale, NDArray[np.str_] | None]:
    """Values to be coloured, hidden cells, the scale, and what is written into the cells."""
    values = dots.values.astype(np.float64)
    if part.colours == "mask":
        hidden = values == 0 if dots.hidden is None else (values == 0) | dots.hidden
        return np.ones(values.shape), hidden, Scale(_MASK_MAP, 0.0, 1.0), None
    if part.colours == "scores":
        look = in_scores_colours(values, dots.hidden, part.limit)
    elif dots.pooled and is_relative(part):
        look = in_weights_colours(np.ones((1, 1)), None, "relative") | {
            "values": octaves(values),
            "numbers": None,
        }
    else:
        kind = "relative" if is_relative(part) else "absolute"
        look = in_weights_colours(values, dots.hidden, kind)
    return look["values"], dots.hidden, look["scale"], look["numbers"]


def codes_of(
    values: FloatArray, low: float, high: float, hidden: BoolArray | None
) -> NDArray[np.uint8]:
    """Bytes that say how cells look.

    Parameters
    ----------
    values : ndarray
    low, high : float
        Ends of the colour map.
    hidden : ndarray of bool, shape of `values`, optional

    Returns
    -------
    ndarray of uint8, shape of `values`
    """
    with np.errstate(over="ignore", invalid="ignore"):
        places = (values - low) * (STEPS / (high - low))
        places += 0.5
        np.clip(places, 0.5, STEPS + 0.5, out=places)
    if hidden is not None:
        np.copyto(places, HIDDEN, where=hidden)
    finite = np.isfinite(values)
    if not finite.all():
        special = ~finite if hidden is None else ~finite & ~hidden
        np.copyto(places, NAN, where=special)
        np.copyto(places, PLUS_INFINITY, where=special & (values == np.inf))
        np.copyto(places, MINUS_INFINITY, where=special & (values == -np.inf))
    return places.astype(np.uint8)


def _legend(part: Matrix, codes: NDArray[np.uint8]) -> list[list[str]]:
    """Looks that need words, and the words."""
    entries: list[list[str]] = []
    seen = np.bincount(codes.reshape(-1), minlength=256) if codes.size else np.zeros(256)
    usual = "may_not_attend" if part.colours == "mask" else "hidden_cells"
    words = label(usual) if part.hidden_words is None else part.hidden_words
    if part.hidden is not None and words and seen[HIDDEN]:
        entries.append(["hidden", words])
    if part.blank_words and seen[BLANK]:
        entries.append(["blank", part.blank_words])
    looks = (("nan", NAN), ("plus_infinity", PLUS_INFINITY), ("minus_infinity", MINUS_INFINITY))
    for look, code in looks:
        if seen[code]:
            entries.append([look, label(f"{look}_cells")])
    return entries


def _share(value: float, scale: Scale) -> float:
    return (value - scale.low) / (scale.high - scale.low)


def _ticks(
    axis: Axis, count: int, pixels: float, *, across: bool, lit: Sequence[int] = ()
) -> list[Any]:
    """Places of ticks and their words, the same as in print."""
    chosen = ticks(axis, count, pixels, across=across, lit=lit)
    return [[place for place, _ in chosen], [words for _, words in chosen]]


def _pooled_any(cells: BoolArray, dots: Dots) -> NDArray[np.uint8]:
    if not dots.pooled:
        return cells.astype(np.uint8)
    found = np.zeros(dots.values.shape, dtype=np.uint8)
    rows, columns = np.nonzero(cells)
    found[rows // dots.rows, columns // dots.columns] = 1
    return found


def _window(part: Matrix, chosen: Mapping[str, int]) -> Plain:
    """Cells around those chosen."""
    starts = [
        max(0, min(int(chosen.get(axis, 0)) - WINDOW // 2, count - WINDOW))
        for axis, count in zip((part.rows, part.columns), part.values.shape, strict=True)
    ]
    cells = tuple(slice(start, start + WINDOW) for start in starts)
    values = part.values[cells]
    hidden = np.zeros(values.shape, dtype=bool) if part.hidden is None else part.hidden[cells]
    return {
        "start": starts,
        "shape": list(values.shape),
        "values": _floats(values),
        "hidden": hidden.astype(np.uint8).tobytes(),
    }


def _floats(values: Any) -> bytes:
    """Four bytes a number; eight if a number is too large for four."""
    given: NDArray[Any] = np.asarray(values)
    with np.errstate(over="ignore"):
        small: NDArray[np.float32] = given.astype(np.float32)
    if given.dtype == np.float64 and (np.isinf(small) & np.isfinite(given)).any():
        return given.tobytes()
    return small.tobytes()


# -- a cell that is pointed at ---------------------------------------------------------------------


def readings(picture: Picture, part: Matrix, row: int, column: int) -> list[list[str]]:
    """Say what stands in a cell of a matrix, and of all matrices over the same axes.

    Parameters
    ----------
    picture : Picture
    part : Matrix
        That which is pointed at.
    row, column : int

    Returns
    -------
    list of [str, str]
        What a value is called, and the value.
    """
    found: list[list[str]] = []
    for other in picture.parts.values():
        if not isinstance(other, Matrix) or not (other is part or other.reading):
            continue
        same = (other.rows, other.columns) == (part.rows, part.columns)
        if same and row < other.values.shape[0] and column < other.values.shape[1]:
            words = other.reading or other.title.split("\n")[0]
            found.append([words, _said(other, row, column)])
    return found


def _said(part: Matrix, row: int, column: int) -> str:
    if part.blank is not None and part.blank[row, column]:
        return part.blank_words
    if part.hidden is not None and part.hidden[row, column]:
        if part.hidden_value:
            return label("live_hidden_value", value=part.hidden_value)
        return part.hidden_words or label("live_hidden")
    value = float(part.values[row, column])
    if part.colours == "mask":
        return label("live_hidden" if value == 0 else "live_visible")
    if np.isfinite(value):
        return short(value)
    kind = "nan" if np.isnan(value) else "plus_infinity" if value > 0 else "minus_infinity"
    return SIGNS[kind]


# -- bars and charts -------------------------------------------------------------------------------


def _bars(part: Bars, picture: Picture, box: Box) -> Plain:
    values = np.asarray(part.values, dtype=np.float64)
    axis, count = picture.axes[part.along], len(values)
    ticks = sorted({part.low, min(max(0.0, part.low), part.high), part.high})
    pixels = part.width if part.upright else part.height
    few = count <= MOST_BAR_NUMBERS
    texts = bar_numbers(values) if part.numbers else []
    if part.numbers and not few:  # then only what has no bar
        texts = ["" if np.isfinite(v) else text for v, text in zip(values, texts, strict=True)]
    return {
        "kind": "bars",
        "axes": [part.along],
        "shape": [count],
        "upright": part.upright,
        "low": float(part.low),
        "high": float(part.high),
        "ticks": [[float(tick), number(tick)] for tick in ticks],
        "values": _floats(values),
        "hidden": None if part.hidden is None else part.hidden.astype(np.uint8).tobytes(),
        "hiddenWords": part.hidden_words,
        "numbers": "\n".join(texts),
        "names": _ticks(axis, count, pixels, across=part.upright) if part.show_names else None,
        "axisTitle": axis.title if part.show_names and not part.upright else "",
        "words": part.words,
        "lit": list(part.lit),
        "reading": part.reading or (part.title.split("\n")[0] if part.title else ""),
    }


def _chart(part: Chart) -> Plain:
    plain: Plain = {
        "kind": "chart",
        "x": _ruler(part.x),
        "y": _ruler(part.y),
        "lines": [
            {
                "look": line.look,
                "words": line.words,
                "x": _numbers(np.atleast_1d(line.x)),
                "y": _numbers(np.atleast_1d(line.y)),
            }
            for line in part.lines
        ],
        "legendLines": part.legend_lines,
    }
    if part.shades is not None and part.shade_x is not None and part.shade_y is not None:
        shades = np.asarray(part.shades, dtype=np.float64)
        plain["shades"] = {
            "codes": codes_of(shades, 0.0, 1.0, None).tobytes(),
            "x": _numbers(part.shade_x),
            "y": _numbers(part.shade_y),
            "map": WEIGHTS_MAP,
            "words": part.shade_words,
        }
    return plain


def _ruler(ruler: Ruler) -> Plain:
    return {
        "low": float(ruler.low),
        "high": float(ruler.high),
        "log": bool(ruler.log),
        "ticks": [[float(value), words] for value, words in ruler.ticks],
        "words": ruler.words,
    }


def _numbers(values: Any) -> bytes:
    """Eight bytes a number: on a logarithmic ruler they may be large or small."""
    given: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    return given.tobytes()
