"""Heatmaps of attention on given axes: which values, which colours, which words.

Each ``draw_`` function may be called again and again on the same axes, as a slider moves: the
picture changes in place.  None of them knows pyplot.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import NDArray

from .colours import MASK_COLOUR, in_scores_colours, in_weights_colours, limit_of
from .figure_parts import BoolArray, FloatArray, Scale, Side
from .figure_style import LABEL, TICK, style
from .heatmap import heatmap_on, level_titles
from .labels import label
from .plot_inputs import (
    allowed_cells,
    check_pictures,
    check_type,
    hidden_cells,
    matrix,
    several_axes,
    side,
    sides,
    title_or,
)
from .scaled_dot_product import AttentionSteps

_WHEN = ("before", "after")


def draw_scores(
    ax: Axes,
    scores: Any,
    *,
    mask: Any = None,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    title: str | None = None,
    limit: float | None = None,
    square: bool = False,
    hidden_words: str | None = None,
) -> Axes:
    """Draw scores onto axes; arguments as in :func:`andrea_lesson.plotting.plot_scores`.

    Parameters
    ----------
    limit : float, optional
        Colours reach from -limit to limit; by default a round number that takes in every
        visible finite score.
    hidden_words : str, optional
        What hatched cells are, "hidden by the mask" by default.
    square : bool
        Fill a square whatever the shape, so that several pictures line up.

    Returns
    -------
    Axes
    """
    values = matrix("scores", scores)
    hidden = hidden_cells(mask, values)
    with style():
        rows, columns = sides(values.shape, tokens, key_tokens)
        look = in_scores_colours(values, hidden, limit)
        words = title_or(title, "scores")
        heatmap_on(ax, "scores").show(
            hidden=hidden,
            title=words,
            rows=rows,
            columns=columns,
            hidden_words=hidden_words,
            square=square,
            **look,
        )
    return ax


def draw_weights(
    ax: Axes,
    weights: Any,
    *,
    mask: Any = None,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    title: str | None = None,
    color: str = "auto",
    square: bool = False,
) -> Axes:
    """Draw weights onto axes; arguments as in :func:`andrea_lesson.plotting.plot_weights`.

    Parameters
    ----------
    square : bool
        Fill a square whatever the shape, so that several pictures line up.

    Returns
    -------
    Axes
    """
    values = matrix("weights", weights)
    hidden = hidden_cells(mask, values)
    with style():
        rows, columns = sides(values.shape, tokens, key_tokens)
        look = in_weights_colours(values, hidden, color)
        words = title_or(title, "weights")
        heatmap_on(ax, "weights").show(
            hidden=hidden,
            title=words,
            rows=rows,
            columns=columns,
            square=square,
            **look,
        )
    return ax


def draw_mask(
    ax: Axes,
    mask: Any,
    *,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    title: str | None = None,
    square: bool = False,
    explain: bool = True,
) -> Axes:
    """Draw a mask onto axes; arguments as in :func:`andrea_lesson.plotting.plot_mask`.

    Parameters
    ----------
    square : bool
        Fill a square whatever the shape, so that several pictures line up.
    explain : bool
        Say below the picture what the looks mean.

    Returns
    -------
    Axes
    """
    allowed = allowed_cells(mask)
    with style():
        rows, columns = sides(allowed.shape, tokens, key_tokens)
        words = title_or(title, "mask")
        heatmap_on(ax, "mask").show(
            np.ones(allowed.shape),
            scale=Scale(ListedColormap([MASK_COLOUR]), 0.0, 1.0),
            hidden=~allowed,
            title=words,
            rows=rows,
            columns=columns,
            legend=[(MASK_COLOUR, label("may_attend"))] if explain else [],
            hidden_words=label("may_not_attend") if explain else "",
            square=square,
        )
    return ax


def draw_masks(
    axes: Sequence[Axes] | NDArray[Any],
    masks: Mapping[str, Any],
    *,
    tokens: Sequence[str] | None = None,
) -> NDArray[Any]:
    """Draw several masks, for comparison; as in :func:`andrea_lesson.plotting.plot_masks`.

    Parameters
    ----------
    axes : Axes, one for each mask
        Those at the left name rows and columns; below the first in the lowest line that has
        both looks (or the one at the left) they are explained.
    masks : mapping of str to array of bool, shape (T_q, T_k)
        By title; True = may attend.
    tokens : sequence of str, optional

    Returns
    -------
    ndarray of Axes, one axis
    """
    check_pictures("masks", masks, "mask")
    drawn = several_axes(axes, len(masks), f"hold {len(masks)} Axes, one a mask")
    corners = [ax.get_position(original=True).p0 for ax in drawn]
    left, low = np.min(corners, axis=0)
    lowest = [n for n, corner in enumerate(corners) if corner[1] == low]
    given = list(masks.values())
    telling = [n for n in lowest if np.unique(allowed_cells(given[n])).size == 2]
    teller = drawn[(telling or lowest)[0]]
    for ax, (x, _), (title, mask) in zip(drawn, corners, masks.items(), strict=True):
        draw_mask(ax, mask, tokens=tokens, title=title, square=True, explain=ax is teller)
        ax.title.set_fontsize(TICK)  # narrow pictures, long names
        ax.xaxis.label.set_visible(bool(x == left))
        ax.yaxis.label.set_visible(bool(x == left))
        heatmap_on(ax).kind = "masks"
    return drawn


def draw_masking(
    axes: Sequence[Axes] | NDArray[Any],
    before: Any,
    after: Any,
    *,
    tokens: Sequence[str] | None = None,
) -> NDArray[Any]:
    """Draw scores and weights before and after a mask onto four axes.

    Parameters
    ----------
    axes : four Axes
    before, after : AttentionSteps
        Of one head, without and with the mask.  Cells that are -inf in the masked scores of
        `after` only are hidden cells.
    tokens : sequence of str, optional

    Returns
    -------
    ndarray of Axes, shape (4,)
    """
    drawn = several_axes(axes, 4, "be four Axes")
    for name, each in (("before", before), ("after", after)):
        check_type(name, each, AttentionSteps, "attention_steps")
    scores = matrix("before.scaled_scores", before.scaled_scores)
    masked = matrix("after.masked_scores", after.masked_scores)
    seen = ~(np.isneginf(masked) & ~np.isneginf(scores))
    limit = limit_of(scores, None)  # one for both, so that a score keeps its colour
    with style():
        titles = [f"{what}_{when}_mask" for what in ("scores", "weights") for when in _WHEN]
        first, second, third, fourth = (label(title) for title in titles)
        draw_scores(drawn[0], scores, tokens=tokens, title=first, limit=limit)
        draw_scores(drawn[1], masked, mask=seen, tokens=tokens, title=second, limit=limit)
        draw_weights(drawn[2], before.weights, tokens=tokens, title=third)
        draw_weights(drawn[3], after.weights, mask=seen, tokens=tokens, title=fourth)
        for ax in drawn:
            ax.title.set_fontsize(LABEL)
        for ax in drawn[1:]:  # the queries are the same all along and named once
            ax.set_yticks([])
            ax.yaxis.label.set_visible(False)
        for ax in drawn:
            heatmap_on(ax).kind = "masking"
    return drawn


def draw_matrix(
    ax: Axes,
    values: Any,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    row_words: str | None = None,
    column_words: str | None = None,
    title: str | None = None,
    numbers: bool = True,
    limit: float | None = None,
    square: bool = False,
    kind: str = "scores",
) -> Axes:
    """Draw any matrix onto axes; arguments as in :func:`andrea_lesson.plotting.plot_matrix`.

    Parameters
    ----------
    row_words, column_words : str, optional
        What rows and columns are, "row" and "column" by default; "" for nothing.
    limit : float, optional
        Colours reach from -limit to limit.
    square : bool
        Fill a square whatever the shape, so that several pictures line up.
    kind : {"scores", "weights"}
        Colours of scores, or of weights from 0 to 1.

    Returns
    -------
    Axes
    """
    if kind not in ("scores", "weights"):
        raise ValueError(f'kind must be "scores" or "weights"; got {kind!r}.')
    if kind == "weights" and limit is not None:
        raise ValueError(f'limit must be None with kind="weights"; got {limit!r}.')
    values = matrix("matrix", values, "(rows, columns)")
    height, width = values.shape
    look = (
        in_weights_colours(values, None, "absolute")
        if kind == "weights"
        else in_scores_colours(values, None, limit)
    )
    if not numbers:
        look["numbers"] = None
    with style():
        down = label("matrix_rows") if row_words is None else row_words
        along = label("matrix_columns") if column_words is None else column_words
        named = side(down, rows, height, "rows"), side(along, columns, width, "columns")
        words = title_or(title, None)
        heatmap_on(ax, "matrix").show(
            title=words,
            rows=named[0],
            columns=named[1],
            square=square,
            **look,
        )
    return ax


def draw_matrices(
    axes: Sequence[Axes] | NDArray[Any],
    matrices: Mapping[str, tuple[Any, Sequence[str] | None]],
    *,
    rows: Sequence[str] | None = None,
) -> NDArray[Any]:
    """Draw matrices that share their rows; as in :func:`andrea_lesson.plotting.plot_matrices`.

    Parameters
    ----------
    axes : Axes, one for each matrix
        The first names the rows.
    matrices : mapping of str to (array of shape (rows, columns), names of the columns)
        By title.
    rows : sequence of str, optional

    Returns
    -------
    ndarray of Axes, one axis
    """
    check_pictures("matrices", matrices, "matrix")
    drawn = several_axes(axes, len(matrices), f"hold {len(matrices)} Axes, one a matrix")
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in matrices.values()):
        raise TypeError("matrices must hold pairs (array, names of the columns or None).")
    arrays = [matrix("matrices", values, "(rows, columns)") for values, _ in matrices.values()]
    if len(heights := {len(values) for values in arrays}) > 1:
        raise ValueError(f"matrices must have equally many rows; got {sorted(heights)}.")
    limit = max(limit_of(values, None) for values in arrays)
    pictures = zip(drawn, matrices.items(), arrays, strict=True)
    for ax, (title, (_, columns)), values in pictures:
        first = ax is drawn[0]  # the rows are the same all along and named once
        draw_matrix(
            ax,
            values,
            rows=rows if first else ("",) * len(values),
            columns=columns,
            row_words=None if first else "",
            title=title,
            limit=limit,
            square=True,
        )
    level_titles(drawn)
    for ax in drawn:
        heatmap_on(ax).kind = "matrices"
    return drawn


def draw_attention_steps(
    axes: Sequence[Axes] | NDArray[Any],
    steps: Any,
    *,
    tokens: Sequence[str] | None = None,
    color: str = "auto",
    same_colours: bool = False,
) -> NDArray[Any]:
    """Draw scores, scaled scores, masked scores, weights and output onto five axes.

    Parameters
    ----------
    axes : five Axes
    steps : AttentionSteps
        Of one head: every array has two axes.  Cells that are -inf in the masked scores and
        not before are hidden cells.
    tokens : sequence of str, optional
    color : {"auto", "absolute", "relative"}
        As in :func:`andrea_lesson.plotting.plot_weights`.
    same_colours : bool
        One colour scale for scores, scaled and masked scores: what the scaling does to them
        shows, and their detail may pale.

    Returns
    -------
    ndarray of Axes, shape (5,)
    """
    drawn = several_axes(axes, 5, "be five Axes, one a step")
    check_type("steps", steps, AttentionSteps, "attention_steps")
    names = ("scores", "scaled_scores", "masked_scores", "weights")
    arrays = [matrix(f"steps.{name}", getattr(steps, name)) for name in names]
    scores, scaled, masked, weights = arrays
    output = matrix("steps.output", steps.output, "(T_q, d_v)")
    seen = ~(np.isneginf(masked) & ~np.isneginf(scaled))
    shown, whole = limit_of(scaled, ~seen), limit_of(scaled, None)
    if whole < 4 * shown:  # a score keeps its colour when others are hidden, if that does no harm
        shown = whole
    raw = limit_of(scores, None)
    if same_colours:
        raw = shown = whole = max(raw, whole)
    with style():
        queries, keys = sides(scores.shape, tokens, None)
        pictures: list[tuple[str, Side, BoolArray | None, dict[str, Any]]] = [
            (label("scores_formula"), keys, None, in_scores_colours(scores, None, raw)),
            (
                label("scaled_formula", scale=_ratio(scaled, scores)),
                keys,
                None,
                in_scores_colours(scaled, None, whole),
            ),
            (label("masked_formula"), keys, ~seen, in_scores_colours(masked, ~seen, shown)),
            (label("weights_formula"), keys, ~seen, in_weights_colours(weights, ~seen, color)),
            (
                label("output_formula"),
                Side(label("columns_values")),
                None,
                in_scores_colours(output, None),
            ),
        ]
        for ax, (title, columns, hidden, look) in zip(drawn, pictures, strict=True):
            # The queries are the same all along and named once.
            rows = queries if ax is drawn[0] else Side("", ())
            heatmap_on(ax, "steps").show(
                hidden=hidden, title=title, rows=rows, columns=columns, square=True, **look
            )
        level_titles(drawn)
    return drawn


# -- the factor between two matrices --------------------------------------------------------------


def _ratio(scaled: FloatArray, scores: FloatArray) -> str:
    """Find the factor between two matrices from their largest finite entry."""
    finite = np.isfinite(scores) & np.isfinite(scaled) & (scores != 0)
    if not finite.any():
        return "1"
    place = np.argmax(np.where(finite, np.abs(scores), 0.0))
    return f"{scaled.flat[place] / scores.flat[place]:.3g}"
