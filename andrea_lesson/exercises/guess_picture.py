"""A guess as a still picture, for a notebook in which no kernel runs, and its rulers."""

from typing import Any

import numpy as np

from ..labels import label
from ..panels.layout import too_long
from ..panels.picture import Axis, Chart, Line, Matrix, Picture, Ruler
from ..panels.settings import short

Ticks = tuple[tuple[float, str], ...]
_SIDE = 214.0  # pixels of the longer side of a matrix


def ticks_between(low: float, high: float, log: bool) -> Ticks:
    """Choose round places on a ruler, some five of them."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    places: Any
    if log and high / low >= 30:
        places = LogLocator(numticks=7).tick_values(low, high)
    else:
        places = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
    inside = [float(one) for one in places if low <= one <= high and not (log and one <= 0)]
    return tuple((one, short(one)) for one in inside)


def limits_with(
    low: float, high: float, truth: np.ndarray[Any, np.dtype[np.float64]], log: bool
) -> tuple[float, float]:
    """Limits of a plot that take in what was measured as well."""
    seen = truth[np.isfinite(truth) & ((truth > 0) | (not log))]
    if not seen.size:
        return low, high
    if log:
        return float(min(low, seen.min() / 1.1)), float(max(high, seen.max() * 1.1))
    room = 0.04 * (high - low)
    bottom, top = float(seen.min()), float(seen.max())
    return (low if bottom >= low else bottom - room), (high if top <= high else top + room)


def picture_of_curve(spec: dict[str, Any], entry: dict[str, Any]) -> Picture:
    """Draw a guessed curve, and the measured one once there is one."""
    low, high = entry["limits"]
    log = bool(spec["log_y"])
    at = np.array(spec["x"])
    lines = []
    for key, looks in (("truth", ("measured", "points")), ("guess", ("theory", "squares"))):
        if entry[key] is None:
            continue
        values = np.array(entry[key], dtype=float)  # None becomes NaN
        if log:
            values[~(values > 0)] = np.nan
        words = label("guess_truth" if key == "truth" else "guess_mine")
        lines += [Line(at, values, looks[0], words), Line(at, values, looks[1])]
    chart = Chart(
        "guess",
        x=Ruler(-0.03, 1.03, tuple((p, w) for p, w in spec["x_ticks"]), spec["x_label"]),
        y=Ruler(low, high, ticks_between(low, high, log), spec["y_label"], log=10 if log else 0),
        lines=tuple(lines),
        title=spec["title"],
        width=420.0,
        height=210.0,
    )
    return Picture(((chart,),))


def picture_of_cells(spec: dict[str, Any], entry: dict[str, Any]) -> Picture:
    """Draw the shaded cells, and beside them the measured ones once there are any."""
    names = [
        None if some is None else tuple(some) for some in (spec["row_names"], spec["column_names"])
    ]
    cell = _SIDE / max(spec["shape"])
    slanted = names[1] is not None and too_long(names[1], cell)
    axes = {
        "row": Axis("row", spec["rows"], names[0]),
        "column": Axis("column", spec["columns"], names[1], slanted=slanted),
    }
    parts: list[Matrix] = []
    for key, words in (("guess", "guess_mine"), ("truth", "guess_truth")):
        if entry[key] is None:
            continue
        cells = np.array(entry[key], dtype=bool)
        parts.append(
            Matrix(
                key,
                np.ones(cells.shape),
                label(words),
                rows="row",
                columns="column",
                colours="mask",
                blank=~cells,
                numbers=False,
                bar=False,
                show_rows=not parts,
                width=cell * cells.shape[1],
                height=cell * cells.shape[0],
                grid=1,
            )
        )
    return Picture((tuple(parts),), axes, spec["title"])
