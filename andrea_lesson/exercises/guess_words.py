"""A guess beside what was measured, in one friendly sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labels import LABELS, label
from ..panels.settings import short

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_LEVEL = 0.06  # of the height of the plot: less than this is called level
_CLOSE_FACTOR, _CLOSE_SHARE = 1.25, 0.06


def words_of(key: str) -> str:
    """The words of a label, or words as they are; without the signs of a formula."""
    if not isinstance(key, str):
        raise TypeError(f"words must be text; got {type(key).__name__}.")
    words = label(key) if key in LABELS else key
    return words.replace("$", "").replace("\\,", " ").replace("\n", " ")


def share_of(values: Any, low: float, high: float, log: bool) -> FloatArray:
    """Heights in a plot from `low` to `high`: 0 at the bottom, 1 at the top."""
    values = np.asarray(values, dtype=float)
    if log:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(values)
        low, high = float(np.log(low)), float(np.log(high))
    return np.asarray((values - low) / (high - low), dtype=float)


def direction(shares: FloatArray) -> str:
    """Which way a curve goes: "rises", "falls", "level", "peaks" or "dips"."""
    first, last = shares[0], shares[-1]
    top, bottom = shares.max(), shares.min()
    if top - max(first, last) > _LEVEL:
        return "peaks"
    if min(first, last) - bottom > _LEVEL:
        return "dips"
    if abs(last - first) <= _LEVEL:
        return "level"
    return "rises" if last > first else "falls"


def compare_curves(
    guess: FloatArray,
    truth: FloatArray,
    *,
    x_words: Sequence[str],
    x_label: str,
    limits: tuple[float, float],
    log_y: bool,
) -> str:
    """Say where two curves differ most, and whether they go the same way.

    Parameters
    ----------
    guess, truth : ndarray, shape (n,)
        Of the truth some may not be finite; those are left out.
    x_words : sequence of str
        The x of each point.
    x_label : str
        What x is.
    limits : (float, float)
        Low and high end of the plot, which say what is much and what is little.
    log_y : bool

    Returns
    -------
    str
        In the current language.
    """
    there = np.isfinite(truth) & ((truth > 0) | (not log_y))
    left_out = int((~there).sum())
    says = ""
    if there.any():
        mine, real = guess[there], truth[there]
        names = [words for words, kept in zip(x_words, there, strict=True) if kept]
        drawn, measured = (share_of(one, *limits, log_y) for one in (mine, real))
        ways = direction(drawn), direction(measured)
        key = "guess_same_way" if ways[0] == ways[1] else "guess_other_way"
        says = (
            label(key, guess=label(f"guess_{ways[0]}"), truth=label(f"guess_{ways[1]}"))
            if key == "guess_other_way"
            else label(key, truth=label(f"guess_{ways[1]}"))
        )
        says += _farthest(mine, real, np.abs(drawn - measured), names, x_label)
    if left_out:
        says += label("guess_not_finite", count=left_out)
    return says.strip()


def _farthest(
    mine: FloatArray, real: FloatArray, apart: FloatArray, names: Sequence[str], x_label: str
) -> str:
    positive = bool((mine > 0).all() and (real > 0).all())
    factors = np.maximum(mine / real, real / mine) if positive else np.ones_like(mine)
    place = int((factors if positive else apart).argmax())
    close = factors.max() <= _CLOSE_FACTOR if positive else apart.max() <= _CLOSE_SHARE
    factor = label("guess_factor", factor=short(float(factors[place]))) if positive else ""
    there = label(
        "guess_there",
        x_label=x_label,
        x=names[place],
        guess=short(float(mine[place])),
        truth=short(float(real[place])),
        factor=factor,
    )
    return label("guess_close" if close else "guess_farthest") + there


def compare_cells(guess: BoolArray, truth: BoolArray) -> str:
    """Say how many cells were found, how many were missed and how many are too many.

    Returns
    -------
    str
        In the current language.
    """
    hit, missed, extra = (
        int(cells.sum()) for cells in (guess & truth, ~guess & truth, guess & ~truth)
    )
    total = hit + missed
    if missed == extra == 0:
        return label("guess_all_cells", total=total)
    return label("guess_some_cells", total=total, hit=hit, missed=missed, extra=extra)


def summary_of(entry: dict[str, Any]) -> str:
    """Say the same of a guess that was kept; "" if it cannot be read any more.

    Parameters
    ----------
    entry : dict
        As `guess.py` keeps it.
    """
    try:
        if entry["kind"] == "cells":
            return compare_cells(np.array(entry["guess"], bool), np.array(entry["truth"], bool))
        low, high = entry["limits"]
        with np.errstate(all="ignore"):
            return compare_curves(
                np.array(entry["guess"], float),  # None becomes NaN
                np.array(entry["truth"], float),
                x_words=entry["x_words"],
                x_label=words_of(entry["x_label"]),
                limits=(float(low), float(high)),
                log_y=bool(entry["log_y"]),
            )
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError):
        return ""
