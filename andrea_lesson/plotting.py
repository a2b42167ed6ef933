"""Figures of attention for notebooks, handouts and papers.

Every function takes NumPy or CuPy arrays, returns the Axes, and without ``ax`` makes a pyplot
figure: one picture in a notebook cell, and ``plt.show()`` works in a script.  Words are in the
current language, or in English where no Traditional Chinese font is found.  Below each
``plot_x`` there is a ``draw_x`` that knows no pyplot and draws on given axes, again and again.

>>> import andrea_lesson as al
>>> ax = al.plotting.plot_mask(al.causal_mask(6))
>>> al.plotting.save(ax, "mask.svg")
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .charts import draw_histogram, draw_row
from .colours import SCORES_MAP, WEIGHTS_MAP
from .curves import draw_effective_keys, draw_growth, draw_perfect_match
from .drawing import (
    draw_attention_steps,
    draw_mask,
    draw_masking,
    draw_masks,
    draw_matrices,
    draw_matrix,
    draw_scores,
    draw_weights,
)
from .figure_style import kept_figure, place_axes, save, style
from .plot_inputs import check_pictures, to_numpy

if TYPE_CHECKING:
    from .experiments import Freezing, PerfectMatch, ScoreSpreads

__all__ = [
    "SCORES_MAP",
    "WEIGHTS_MAP",
    "draw_attention_steps",
    "draw_effective_keys",
    "draw_growth",
    "draw_histogram",
    "draw_mask",
    "draw_masking",
    "draw_masks",
    "draw_matrices",
    "draw_matrix",
    "draw_perfect_match",
    "draw_row",
    "draw_scores",
    "draw_weights",
    "kept_figure",
    "plot_attention_steps",
    "plot_effective_keys",
    "plot_growth",
    "plot_mask",
    "plot_masking",
    "plot_masks",
    "plot_matrices",
    "plot_matrix",
    "plot_perfect_match",
    "plot_row",
    "plot_scores",
    "plot_weights",
    "save",
    "style",
]

_SIDE = 4.0  # inches: the longer side of a heatmap
_CELL = 0.62  # inches: the most a cell gets


def plot_scores(
    scores: Any,
    *,
    mask: Any = None,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    title: str | None = None,
    limit: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Heatmap of scores: blue below 0, white at 0, red above.

    Parameters
    ----------
    scores : array, shape (T_q, T_k)
        Of one head.  Rows are queries, columns are keys.
    mask : None, "causal", or array of bool, shape (T_q, T_k), optional
        True = may attend.  Hidden cells are hatched and do not count for the colours; NaN,
        +∞ and -∞ in visible cells have looks of their own.
    tokens : sequence of str, optional
        Names of the queries, and of the keys unless `key_tokens` are given.  As many as keys:
        the queries are the last of them.
    key_tokens : sequence of str, optional
        Names of the keys.
    title : str, optional
        Instead of the usual one.
    limit : float, optional
        Colours reach from -limit to limit, so that two pictures can share them; by default a
        round number that takes in every visible finite score.
    ax : Axes, optional
        Where to draw; a new pyplot figure by default.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    with _heatmap_axes(ax, scores) as target:
        return draw_scores(
            target,
            scores,
            mask=mask,
            tokens=tokens,
            key_tokens=key_tokens,
            title=title,
            limit=limit,
        )


def plot_weights(
    weights: Any,
    *,
    mask: Any = None,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
    color: str = "auto",
) -> Axes:
    """Heatmap of attention weights, dark to light.

    Parameters
    ----------
    weights : array, shape (T_q, T_k)
        Of one head.  Rows are queries, columns are keys.
    mask, tokens, key_tokens, title, ax
        As in :func:`plot_scores`; in a mask True = may attend.
    color : {"auto", "absolute", "relative"}
        "absolute" colours weights from 0 to 1.  "relative" colours weight × number of keys
        that the row may see, on a logarithmic scale where 1 is uniform: among 1024 keys 0…1
        would be all dark.  "auto" is absolute up to 32 keys and relative beyond.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    with _heatmap_axes(ax, weights) as target:
        return draw_weights(
            target,
            weights,
            mask=mask,
            tokens=tokens,
            key_tokens=key_tokens,
            title=title,
            color=color,
        )


def plot_mask(
    mask: Any,
    *,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Picture of a mask: who may attend to whom.

    Parameters
    ----------
    mask : array of bool, shape (T_q, T_k)
        True = may attend.
    tokens, key_tokens, title, ax
        As in :func:`plot_scores`.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    with _heatmap_axes(ax, mask) as target:
        return draw_mask(target, mask, tokens=tokens, key_tokens=key_tokens, title=title)


def plot_masks(
    masks: Mapping[str, Any],
    *,
    tokens: Sequence[str] | None = None,
    axes: Sequence[Axes] | NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Small pictures of several masks, up to six side by side, for comparison.

    Parameters
    ----------
    masks : mapping of str to array of bool, shape (T_q, T_k)
        By title; True = may attend.
    tokens : sequence of str, optional
        Names of the positions, the same for all.
    axes : Axes, one for each mask, optional
        Where to draw; a new pyplot figure by default.

    Returns
    -------
    ndarray of Axes, one axis

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    check_pictures("masks", masks, "mask")
    if axes is not None:
        return draw_masks(axes, masks, tokens=tokens)
    count = len(masks)
    with _pyplot_figure() as figure:
        places = place_axes(figure, count, width=1.55, height=1.55, across=min(count, 6))
        return draw_masks(places, masks, tokens=tokens)


def plot_masking(
    before: Any,
    after: Any,
    *,
    tokens: Sequence[str] | None = None,
    axes: Sequence[Axes] | NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Scores and weights before and after a mask, side by side.

    Parameters
    ----------
    before, after : AttentionSteps
        Of one head, from :func:`andrea_lesson.attention_steps` without and with the mask.
    tokens : sequence of str, optional
        Names of the positions.
    axes : four Axes, optional
        Where to draw; a new pyplot figure by default.

    Returns
    -------
    ndarray of Axes, shape (4,)

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    if axes is not None:
        return draw_masking(axes, before, after, tokens=tokens)
    with _pyplot_figure() as figure:
        four = place_axes(figure, 4, width=1.88, height=1.88)
        return draw_masking(four, before, after, tokens=tokens)


def plot_attention_steps(
    steps: Any,
    *,
    tokens: Sequence[str] | None = None,
    axes: Sequence[Axes] | NDArray[Any] | None = None,
    same_colours: bool = False,
) -> NDArray[Any]:
    """Scores, scaled scores, masked scores, weights and output side by side.

    Parameters
    ----------
    steps : AttentionSteps
        Of one head, from :func:`andrea_lesson.attention_steps`.  Cells that the mask turned to
        -inf are hatched.
    tokens : sequence of str, optional
        Names of the positions.
    axes : five Axes, optional
        Where to draw; a new pyplot figure by default.
    same_colours : bool
        One colour scale for scores, scaled and masked scores: what the scaling does to them
        shows, and their detail may pale.

    Returns
    -------
    ndarray of Axes, shape (5,)

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    if axes is not None:
        return draw_attention_steps(axes, steps, tokens=tokens, same_colours=same_colours)
    with _pyplot_figure() as figure:
        five = place_axes(figure, 5, width=2.4, height=2.4)
        return draw_attention_steps(five, steps, tokens=tokens, same_colours=same_colours)


def plot_row(
    row: Any,
    *,
    tokens: Sequence[str] | None = None,
    mask: Any = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Bars of one row of weights or scores.

    Parameters
    ----------
    row : array, shape (T_k,)
        One query's weights, or scores.  What is not negative and sums to at most 1 is taken
        for weights and drawn from 0 to 1.
    tokens : sequence of str, optional
        Names of the keys.
    mask : array of bool, shape (T_k,), optional
        True = may attend; hidden keys are hatched.
    title : str, optional
    ax : Axes, optional
        Where to draw; a new pyplot figure by default.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    with _axes(ax) as target:
        return draw_row(target, row, tokens=tokens, mask=mask, title=title)


def plot_matrix(
    matrix: Any,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
    numbers: bool = True,
    limit: float | None = None,
    kind: str = "scores",
) -> Axes:
    """Heatmap of any small matrix, with names along its sides and numbers in its cells.

    Parameters
    ----------
    matrix : array, shape (rows, columns)
    rows, columns : sequence of str, optional
        Names along the sides.
    title : str, optional
    ax : Axes, optional
        Where to draw; a new pyplot figure by default.
    numbers : bool
        Write the numbers into the cells, up to 10 columns.
    limit : float, optional
        Colours reach from -limit to limit; by default a round number.
    kind : {"scores", "weights"}
        Colours of scores, blue and red around 0, or of weights, dark to light from 0 to 1.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    with _heatmap_axes(ax, matrix) as target:
        return draw_matrix(
            target,
            matrix,
            rows=rows,
            columns=columns,
            title=title,
            numbers=numbers,
            limit=limit,
            kind=kind,
        )


def plot_matrices(
    matrices: Mapping[str, tuple[Any, Sequence[str] | None]],
    *,
    rows: Sequence[str] | None = None,
    axes: Sequence[Axes] | NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Matrices that share their rows side by side, in the same colours, for comparison.

    Parameters
    ----------
    matrices : mapping of str to (array of shape (rows, columns), names of the columns)
        By title; None instead of names numbers the columns.
    rows : sequence of str, optional
        Names of the rows, the same for all.
    axes : Axes, one for each matrix, optional
        Where to draw; a new pyplot figure by default.

    Returns
    -------
    ndarray of Axes, one axis

    Raises
    ------
    TypeError, ValueError
        In one sentence that names the argument, what came and what is wanted.
    """
    check_pictures("matrices", matrices, "matrix")
    if axes is not None:
        return draw_matrices(axes, matrices, rows=rows)
    with _pyplot_figure() as figure:
        places = place_axes(figure, len(matrices), width=2.2, height=2.2)
        return draw_matrices(places, matrices, rows=rows)


def plot_growth(spreads: "ScoreSpreads", *, ax: Axes | None = None) -> Axes:
    """Standard deviation of random scores over d_k, measured and in theory.

    Parameters
    ----------
    spreads : ScoreSpreads
        From :func:`andrea_lesson.experiments.score_spreads`.
    ax : Axes, optional
        Where to draw; a new pyplot figure by default.

    Returns
    -------
    Axes
    """
    with _axes(ax) as target:
        return draw_growth(target, spreads)


def plot_effective_keys(grid: "Freezing | Sequence[Freezing]", *, ax: Axes | None = None) -> Axes:
    """Over how many keys a row spreads, over d_k, raw and scaled.

    Parameters
    ----------
    grid : Freezing or sequence of Freezing
        From :func:`andrea_lesson.experiments.freezing`, for one T or several.
    ax : Axes, optional
        Where to draw; a new pyplot figure by default.

    Returns
    -------
    Axes
    """
    with _axes(ax) as target:
        return draw_effective_keys(target, grid)


def plot_perfect_match(curve: "PerfectMatch", *, ax: Axes | None = None) -> Axes:
    """Weight that a key equal to the query gets, over d_k.

    Parameters
    ----------
    curve : PerfectMatch
        From :func:`andrea_lesson.experiments.perfect_match`.
    ax : Axes, optional
        Where to draw; a new pyplot figure by default.

    Returns
    -------
    Axes
    """
    with _axes(ax) as target:
        return draw_perfect_match(target, curve)


@contextmanager
def _heatmap_axes(ax: Axes | None, matrix: Any) -> Iterator[Axes]:
    """Axes given, or those of a new figure of a size for this matrix."""
    shape: tuple[int, ...] = (1, 1)
    with suppress(ValueError):  # of ragged lists; the drawing will say so in words
        shape = np.shape(to_numpy(matrix)) if ax is None else shape
    height, width = (max(size, 1) for size in (shape if len(shape) == 2 else (1, 1)))
    side = min(_SIDE, max(2.0, _CELL * max(height, width)))
    ratio = min(max(height / width, 1 / 3), 3.0)
    with _axes(ax, width=side / max(ratio, 1.0), height=side * min(ratio, 1.0)) as target:
        yield target


@contextmanager
def _axes(ax: Axes | None, width: float = 6.4, height: float = 3.4) -> Iterator[Axes]:
    """Axes given, or those of a new figure."""
    if ax is not None:
        yield ax
    else:
        with _pyplot_figure() as figure:
            yield place_axes(figure, width=width, height=height)[0]


@contextmanager
def _pyplot_figure() -> Iterator[Figure]:
    """Make a new figure, taken back when what came in is refused."""
    from matplotlib import pyplot  # only here: everything else does without a display

    # Loads the backend, which makes a notebook's pyplot interactive: inside the style that would
    # be taken back, and no figure but the first be shown.
    pyplot.draw_if_interactive()
    with style():
        figure = pyplot.figure()
    try:
        yield figure
    except BaseException:
        pyplot.close(figure)
        raise
