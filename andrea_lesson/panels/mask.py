"""Kinds of masks, and what the number that stands for "hidden" does to the weights."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..experiments import FloatArray, fill_mask, largest_leak
from ..labels import label
from ..masks import BoolArray
from .base import Panel
from .controls import dropdown, follow, slider
from .mask_picture import VALUE_NAMES, WIDTH, describe, summarise, warn
from .picture import SIDE
from .settings import MASKS, RANDOM, SEEDS, build_mask, choice, whole
from .source import LONGEST, vectors

VALUES = tuple(VALUE_NAMES)
PRECISIONS = ("float16", "float32", "float64")
SPREADS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
PARAMETERS = {
    "sliding-window": "window",
    "prefix": "prefix",
    "padding": "length",
    "documents": "boundary",
}


@dataclass(frozen=True, eq=False)
class MaskState:
    """What the mask panel shows; all arrays have a row for each query, True = may attend.

    `filled` is what the mask value is once it is stored in that precision.  `leak` is the
    largest weight on a hidden key and `leaking` where such weights lie; `empty` marks rows with
    no key to see, `broken` rows that came out as NaN.  Of the chosen `row` and `column`,
    `highest` and `total` are the two numbers that softmax needs, and `bare_weight` is what the
    cell would get without any mask.
    """

    mask_kind: str
    T: int
    window: int
    prefix: int
    length: int
    boundary: int
    value: float
    precision: str
    spread: float
    seed: int
    row: int
    column: int
    mask: BoolArray
    scores: FloatArray
    filled: float
    masked_scores: FloatArray
    weights: FloatArray
    row_sums: FloatArray
    leak: float
    leaking: BoolArray
    empty: BoolArray
    broken: BoolArray
    product: float
    highest: float
    total: float
    bare_weight: float


def compute(
    *,
    mask: str = "causal",
    T: int = 8,
    window: int = 3,
    prefix: int = 3,
    length: int = 5,
    boundary: int = 4,
    value: float = -np.inf,
    precision: str = "float64",
    spread: float = 1.0,
    row: int = 4,
    column: int = 6,
    seed: int = 6,
) -> MaskState:
    """Weights when hidden scores are replaced by a number, in a given precision.

    Parameters
    ----------
    mask : str
        A kind of :data:`andrea_lesson.panels.settings.MASKS`.
    T : int
        Positions, 1…64.
    window, prefix, length, boundary : int
        Of the kind that has them; see :func:`andrea_lesson.panels.settings.build_mask`.
    value : {-inf, -1e9, -1e4, 0}
        What stands in for a hidden score.
    precision : {"float16", "float32", "float64"}
        Of every step from the scores on.
    spread : {1, 10, 100, 1000, 10000}
        Standard deviation of the scores, nearly.
    row, column : int
        The cell that is followed step by step.
    seed : int

    Returns
    -------
    MaskState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    for name, given, offered in (
        ("value", value, VALUES),
        ("precision", precision, PRECISIONS),
        ("spread", spread, SPREADS),
    ):
        choice(name, given, offered)
    Q, K, _, _ = vectors(RANDOM, T, WIDTH, seed)
    allowed = build_mask(mask, T, window=window, prefix=prefix, length=length, boundary=boundary)
    whole("row", row, 0, T - 1)
    whole("column", column, 0, T - 1)
    products = Q @ K.T  # (T, T)
    scores = products / np.sqrt(WIDTH) * spread
    weights = fill_mask(scores, allowed, value, precision)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded, filled = scores.astype(precision), np.asarray(value, dtype=precision)
        masked = np.where(allowed, rounded, filled)
        highest = masked[row].max()
        total = np.exp(masked[row] - highest).sum()
    bare = fill_mask(scores[row : row + 1], np.ones((1, T), dtype=bool), value, precision)
    leaking = ~allowed & (weights > 0)
    return MaskState(
        mask_kind=mask,
        T=T,
        window=window,
        prefix=prefix,
        length=length,
        boundary=boundary,
        value=value,
        precision=precision,
        spread=spread,
        seed=seed,
        row=row,
        column=column,
        mask=allowed,
        scores=scores,
        filled=float(filled),
        masked_scores=masked.astype(float),
        weights=weights,
        row_sums=weights.sum(axis=-1),
        leak=largest_leak(np.nan_to_num(weights), allowed),
        leaking=leaking,
        empty=np.asarray(~allowed.any(axis=-1)),
        broken=np.asarray(np.isnan(weights).any(axis=-1)),
        product=float(products[row, column]),
        highest=float(highest),
        total=float(total),
        bare_weight=float(bare[0, column]),
    )


def mask_panel(mask: str = "causal", *, view: str = "live", large: bool = False) -> Panel:
    """A mask, scores before and after it, weights with their row sums, following the controls.

    Parameters
    ----------
    mask : str
        Kind to start with, one of :data:`andrea_lesson.panels.settings.MASKS`.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `mask`, `T`, `window`, `prefix`, `length`, `boundary`, `value`, `precision`,
        `spread`, `row`, `column`, `seed`; `.warning` names the leak when there is one.
    """
    choice("mask", mask, MASKS)

    def prepare(controls: dict[str, Any]) -> None:
        for kind, name in PARAMETERS.items():
            controls[name].disabled = controls["mask"].value != kind
        for name in ("window", "prefix", "length", "boundary"):
            follow(controls[name], controls["T"])
        for name in ("row", "column"):
            follow(controls[name], controls["T"], less=1)

    controls = {
        "mask": dropdown("mask", mask, [(label(f"kind_{kind}"), kind) for kind in MASKS]),
        "value": dropdown("value", VALUES[0], [(VALUE_NAMES[v], v) for v in VALUES]),
        "precision": dropdown("precision", "float64", [(name, name) for name in PRECISIONS]),
        "T": slider("T", 8, 1, LONGEST),
        "spread": dropdown("spread", 1.0, [(f"{spread:,.0f}", spread) for spread in SPREADS]),
        "seed": slider("seed", 6, *SEEDS),
        "row": slider("row", 4, 0, LONGEST - 1),
        "column": slider("column", 6, 0, LONGEST - 1),
        "window": slider("window", 3, 1, LONGEST),
        "prefix": slider("prefix", 3, 0, LONGEST),
        "length": slider("length", 5, 0, LONGEST),
        "boundary": slider("boundary", 4, 0, LONGEST),
    }
    return Panel(
        controls,
        compute,
        partial(describe, side=136.0 if large else SIDE),
        summarise,
        view=view,
        large=large,
        selects={"query": "row", "key": "column"},
        warn=warn,
        prepare=prepare,
    )
