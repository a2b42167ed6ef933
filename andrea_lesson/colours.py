"""Which colours stand for which values, and which numbers stand in the cells.

Scores get a diverging map centred on 0.  Weights are coloured 0…1 up to 32 keys; beyond that
0…1 would be black (the median weight at T = 1024 is 0.001), so there a cell is coloured by
weight × number of visible keys on a logarithmic scale, where 1 is uniform.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .figure_parts import BoolArray, FloatArray, Scale
from .heatmap import MOST_NUMBERS
from .labels import label
from .plot_inputs import check_positive, number, round_up

WEIGHTS_MAP = "viridis"  # perceptually even, dark to light
SCORES_MAP = "RdBu_r"  # blue below 0, white at 0, red above
MASK_COLOUR = "#2f6f9f"
MOST_ABSOLUTE = 32  # keys up to which weights are coloured 0…1
COLOURS = ("auto", "absolute", "relative")
_OCTAVES = (-3, 6)  # relative weights are told apart from 1/8 to 64 times uniform


def in_scores_colours(
    values: FloatArray, hidden: BoolArray | None, limit: float | None = None
) -> dict[str, Any]:
    """Values, scale and numbers for :meth:`Heatmap.show`: below 0, 0 and above 0."""
    if limit is None:
        limit = limit_of(values, hidden)
    check_positive("limit", limit)
    ticks = tuple((value, number(value)) for value in (-limit, 0.0, limit))
    scale = Scale(SCORES_MAP, -limit, limit, ticks)
    return {"values": values, "scale": scale, "numbers": numbers_in(values)}


def in_weights_colours(values: FloatArray, hidden: BoolArray | None, color: str) -> dict[str, Any]:
    """Values, scale and numbers for :meth:`Heatmap.show`: 0…1, or multiples of uniform."""
    if color not in COLOURS:
        raise ValueError(f'color must be "auto", "absolute" or "relative"; got {color!r}.')
    relative = color == "relative" or (color == "auto" and values.shape[1] > MOST_ABSOLUTE)
    return {
        "values": _relative(values, hidden) if relative else values,
        "scale": _relative_scale() if relative else _absolute_scale(values, hidden),
        "numbers": numbers_in(values, decimals=2),
    }


def limit_of(values: FloatArray, hidden: BoolArray | None) -> float:
    """Round number that takes in the visible finite values; round, so that it rarely moves."""
    seen = values if hidden is None else np.where(hidden, 0, values)
    largest = max(-float(seen.min(initial=0)), float(seen.max(initial=0)))
    if not math.isfinite(largest):  # seldom, and slower
        largest = float(np.abs(seen[np.isfinite(seen)]).max(initial=0.0))
    return round_up(largest)


def _absolute_scale(values: FloatArray, hidden: BoolArray | None) -> Scale:
    """0…1, unless something that calls itself a weight lies outside."""
    visible = np.isfinite(values) if hidden is None else np.isfinite(values) & ~hidden
    seen = values[visible]
    high = max(1.0, float(seen.max(initial=0.0)))
    low = min(0.0, float(seen.min(initial=0.0)))
    high, low = (1.0 if high < 1 + 1e-6 else round_up(high)), (-round_up(-low) if low < 0 else 0.0)
    return Scale(
        WEIGHTS_MAP, low, high, tuple((v, number(v)) for v in (low, (low + high) / 2, high))
    )


def _relative(weights: FloatArray, hidden: BoolArray | None) -> FloatArray:
    """Octaves above or below uniform: log2 of weight × number of keys that the row may see."""
    keys = np.full((len(weights), 1), weights.shape[1])
    if hidden is not None:
        keys = (~hidden).sum(axis=1, keepdims=True)
    return octaves(weights * np.maximum(keys, 1))  # ∞ × 0 would be a warning


def octaves(multiples: FloatArray) -> FloatArray:
    """Place multiples of the uniform weight on the logarithmic scale; NaN and ±∞ stay."""
    finite = np.isfinite(multiples)
    clipped = np.clip(np.where(finite, multiples, 1.0), 2.0 ** _OCTAVES[0], 2.0 ** _OCTAVES[1])
    return np.where(finite, np.log2(clipped), multiples)


def _relative_scale() -> Scale:
    low, high = _OCTAVES
    ticks = (
        (low, f"≤ 1/{2**-low}"),
        (0, "1"),
        (-low, f"{2**-low}"),
        (high, f"≥ {2**high}"),
    )
    return Scale(WEIGHTS_MAP, low, high, ticks, label("relative_weights"))


# -- numbers in the cells -------------------------------------------------------------------------


def numbers_in(values: FloatArray, decimals: int | None = None) -> NDArray[np.str_] | None:
    """Write what stands in the cells, all with the same decimals; None where there is no room."""
    if values.shape[1] > MOST_NUMBERS or values.size > 20 * MOST_NUMBERS:
        return None
    finite = values[np.isfinite(values)]
    most = decimals
    if most is None:
        size = np.abs(finite).max(initial=0.0)
        most = 2 if size < 10 else 1 if size < 100 else 0
    # No more than the numbers need; weights, which are read side by side, all or none.
    enough = (0, most) if decimals else range(most + 1)
    decimals = next((few for few in enough if (finite == np.round(finite, few)).all()), most)
    texts = [
        "0" if value == 0 else f"{value:z.{decimals}f}".replace("-", "−") for value in values.flat
    ]
    return np.array(texts, dtype=str).reshape(values.shape)
