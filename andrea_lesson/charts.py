"""Charts on given axes: one row of attention as bars, scores as a histogram.

Each ``draw_`` function clears the axes and draws anew.  Every tick is set by hand, so that none
depends on what a font lacks or on a reader's own settings.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.transforms import ScaledTranslation

from .figure_parts import (
    BoolArray,
    FloatArray,
    clear,
    hidden_look,
    name_columns,
    rectangles,
    special_look,
)
from .figure_style import (
    COMPARED,
    HIDDEN_LINES,
    LABEL,
    MEASURED,
    figure_of,
    ink_on,
    style,
)
from .labels import label
from .plot_inputs import (
    check_axes,
    check_positive,
    hidden_cells,
    number,
    one_row,
    plain,
    round_up,
    side,
    title_or,
)

_MOST_VALUES = 12  # bars up to which each one's value stands on it
_BAR = 0.4  # half its width


def draw_row(
    ax: Axes,
    row: Any,
    *,
    tokens: Sequence[str] | None = None,
    mask: Any = None,
    title: str | None = None,
) -> Axes:
    """Draw one row as bars; arguments as in :func:`andrea_lesson.plotting.plot_row`.

    Returns
    -------
    Axes
    """
    values = one_row("row", row)
    hidden = _hidden_in_row(mask, values)
    fine = np.isfinite(values) & ~hidden
    weights = bool(fine.any()) and values[fine].min() >= 0 and values[fine].sum() <= 1 + 1e-6
    highest = float(values[fine].max(initial=0.0))
    lowest = float(values[fine].min(initial=0.0))
    top = 1.0 if weights else round_up(highest) if highest > 0 or lowest == 0 else 0.0
    bottom = -round_up(-lowest) if lowest < 0 else 0.0
    count = len(values)
    with style():
        keys = side(label("columns_keys"), tokens, count, "tokens")
        ink = start(
            ax,
            title_or(title, "chart_row_weights" if weights else "chart_row_scores"),
            labelled=False,
        )
        bars = np.where(fine, values, 0.0)
        places = np.flatnonzero(fine)
        path = rectangles(places - _BAR, places + _BAR, np.zeros(len(places)), bars[fine])
        ax.add_patch(PathPatch(path, facecolor=MEASURED, linewidth=0, zorder=2))
        if not weights:
            ax.axhline(0, color=HIDDEN_LINES, linewidth=0.8)
        kinds = {"hidden": (hidden, hidden_look(), label("hidden_cells"))}
        for kind, found in (
            ("nan", np.isnan(values)),
            ("plus_infinity", values == np.inf),
            ("minus_infinity", values == -np.inf),
        ):
            kinds[kind] = (found & ~hidden, special_look(kind), label(f"{kind}_cells"))
        for cells, look, _ in kinds.values():
            _bands(ax, cells, look)
        handles = [
            Patch(**(look | {"linewidth": 0.6}), label=words)
            for cells, look, words in kinds.values()
            if cells.any()
        ]
        # Room for the numbers at the ends of the bars, in shares of the whole height.
        room_at_ends = 0.09 * (top - bottom) * (2 if 0 in (top, bottom) else 1)
        above, below_zero = (
            room_at_ends if end and count <= _MOST_VALUES else 0.0 for end in (top, bottom)
        )
        ax.set(xlim=(-0.5, max(count, 1) - 0.5), ylim=(bottom - below_zero, top + above))
        levels = (0.0, 0.5, 1.0) if weights else tuple(sorted({bottom, 0.0, top}))
        ax.set_yticks(levels, [number(level) for level in levels], color=ink)
        room = figure_of(ax).get_size_inches()[0] * ax.get_position().width * 72
        ax.tick_params(length=0)
        below = name_columns(ax, keys.names, count, room, ink)
        ax.set_xlabel(keys.words, color=ink)
        for place in places if count <= _MOST_VALUES else ():
            value = values[place]
            ax.annotate(
                f"{value:z.2f}".replace("-", "−"),
                (place, value),
                xytext=(0, 3 if value >= 0 else -3),
                textcoords="offset points",
                ha="center",
                va="bottom" if value >= 0 else "top",
                color=ink,
            )
        if handles:
            legend_below(ax, ink, below + LABEL + 12, handles=handles)
    return ax


def draw_histogram(
    ax: Axes,
    values: Any,
    predicted_std: float,
    *,
    title: str | None = None,
    limit: float | None = None,
) -> Axes:
    """Draw a histogram of scores against the normal curve that is predicted.

    Parameters
    ----------
    ax : Axes
    values : array_like
        Scores, of any shape; only finite ones count.
    predicted_std : float
        Standard deviation of the curve; its mean is 0.
    title : str, optional
    limit : float, optional
        The picture reaches from -limit to limit; by default over four standard deviations.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError, ValueError
        If `predicted_std` or `limit` is not greater than 0.
    """
    check_positive("predicted_std", predicted_std)
    if limit is not None:
        check_positive("limit", limit)
    scores = one_row("values", np.ravel(plain("values", values)))
    scores = scores[np.isfinite(scores)]
    limit = round_up(4 * predicted_std) if limit is None else limit
    with style():
        ink = start(ax, title_or(title, "chart_histogram"), labelled=False)
        # Bins follow the prediction, so that their number does not depend on the limits.
        width = predicted_std / 4
        edges = np.arange(-np.ceil(limit / width), np.ceil(limit / width) + 1) * width
        if len(edges) > 400:
            edges = np.linspace(-limit, limit, 401)
        counts, _ = np.histogram(scores, edges)
        density = counts / max(len(scores), 1) / np.diff(edges)
        measured = label("chart_measured_std", std=f"{scores.std():.3g}" if len(scores) else "–")
        ax.stairs(density, edges, fill=True, color=MEASURED, alpha=0.75, label=measured)
        x = np.linspace(-limit, limit, 400)
        curve = np.exp(-0.5 * (x / predicted_std) ** 2) / (predicted_std * np.sqrt(2 * np.pi))
        predicted = label("chart_predicted_std", std=f"{predicted_std:.3g}")
        ax.plot(x, curve, color=COMPARED, linewidth=2.2, linestyle="--", label=predicted)
        top = max(curve.max(), density.max(initial=0.0))
        ax.set(xlim=(-limit, limit), ylim=(0, 1.08 * top))
        levels = (-limit, -limit / 2, 0.0, limit / 2, limit)
        ax.set_xticks(levels, [number(level) for level in levels], color=ink)
        ax.set_yticks([])
        ax.set_xlabel(label("chart_histogram_values"), color=ink)
        ax.spines["left"].set_visible(False)
        legend_below(ax, ink)
    return ax


def start(ax: Axes, title: str, *, labelled: bool = True) -> str:
    """Clear the axes, take away what is not needed, and say which ink reads on the figure."""
    check_axes("ax", ax)
    clear(ax)
    ink = ink_on(figure_of(ax).get_facecolor())
    ax.set_title(title, color=ink, fontsize=LABEL + 2, y=1.0, pad=LABEL + 18 if labelled else 12)
    ax.spines[["top", "right"]].set_visible(False)
    # Upright, over the axis: Chinese does not read well sideways.
    ax.yaxis.label.set(rotation=0, ha="left", va="bottom")
    up = ScaledTranslation(0, 6 / 72, figure_of(ax).dpi_scale_trans)
    ax.yaxis.set_label_coords(0, 1, transform=ax.transAxes + up)
    ax.minorticks_off()
    return ink


def legend_below(ax: Axes, ink: str, below: float = 40.0, **arguments: Any) -> None:
    """Put the legend `below` points under the axes."""
    down = ScaledTranslation(0, -below / 72, figure_of(ax).dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=ax.transAxes + down,
        ncols=2,
        labelcolor=ink,
        borderpad=0,
        **arguments,
    )


def _bands(ax: Axes, cells: BoolArray, look: dict[str, Any]) -> None:
    """Mark whole slots from the bottom of the picture to its top."""
    places = np.flatnonzero(cells)
    if len(places):
        path: Path = rectangles(
            places - 0.5, places + 0.5, np.zeros(len(places)), np.ones(len(places))
        )
        ax.add_patch(PathPatch(path, transform=ax.get_xaxis_transform(), zorder=1, **look))


def _hidden_in_row(mask: Any, values: FloatArray) -> BoolArray:
    if mask is None:
        return np.zeros(len(values), dtype=bool)
    if isinstance(mask, str):
        raise ValueError(
            f'mask must be a boolean row here, True = may attend; got "{mask}", which needs to '
            f"know which query the row belongs to."
        )
    hidden = hidden_cells(np.atleast_2d(plain("mask", mask)), values[None, :])
    assert hidden is not None
    row: BoolArray = hidden[0]
    return row
