"""One row of attention, step by step: from scores to weights, and the values they add up to."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..experiments import FloatArray, SoftmaxInSteps, softmax_in_steps
from ..labels import label
from ..masks import BoolArray
from ..scaled_dot_product import AttentionSteps, attention_steps
from .base import Panel
from .controls import Slider, checkbox, dropdown, follow, log_slider, slider
from .settings import RANDOM, SEEDS, SOURCES, SettingError, build_mask, choice, told, whole
from .softmax_picture import describe, summarise
from .source import LONGEST, WIDEST, limit_to_source, starting_source, vectors

MASKS = ("full", "causal")


@dataclass(frozen=True, eq=False)
class SoftmaxState:
    """What the softmax panel shows: row `row` of `steps`, taken apart.

    `softmax` holds the row divided by the temperature, shifted, exponentials and weights;
    `weighted_values` has a row for each key, `partial_sums[n]` adds up the first n of them,
    and `output` all.  `terms` of them are on show, and key `column` is written out.
    """

    source: str
    seed: int
    T: int
    d_k: int
    row: int
    column: int
    terms: int
    temperature: float
    mask_kind: str
    scale: float
    tokens: list[str] | None
    mask: BoolArray
    V: FloatArray
    steps: AttentionSteps
    softmax: SoftmaxInSteps
    weighted_values: FloatArray
    partial_sums: FloatArray
    output: FloatArray


def compute(
    *,
    source: str = RANDOM,
    T: int = 8,
    d_k: int = 64,
    row: int = 7,
    column: int = 1,
    temperature: float = 1.0,
    terms: int | None = None,
    scaled: bool = True,
    mask: str = "causal",
    seed: int = 0,
) -> SoftmaxState:
    """Softmax of one row of scores in single steps, and the values mixed by its weights.

    Parameters
    ----------
    source, T, d_k, seed
        As in :func:`andrea_lesson.panels.source.vectors`.
    row, column : int
        The query and the key that is written out, 0…T-1.
    temperature : float
        What the row is divided by before softmax, greater than 0.
    terms : int, optional
        Keys whose weighted values are added up so far, 0…T; all by default.
    scaled : bool
        Divide the scores by √d_k.
    mask : {"full", "causal"}

    Returns
    -------
    SoftmaxState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    Q, K, V, tokens = vectors(source, T, d_k, seed)
    choice("mask", mask, MASKS)
    row, column = whole("row", row, 0, T - 1), whole("column", column, 0, T - 1)
    terms = T if terms is None else whole("terms", terms, 0, T)
    refused = SettingError(
        label("bad_temperature", name=label("control_temperature"), value=told(temperature))
    )
    if not (math.isfinite(temperature) and temperature > 0):
        raise refused
    allowed = build_mask(mask, T)
    scale = 1 / math.sqrt(d_k) if scaled else 1.0
    steps = attention_steps(Q, K, V, mask=allowed, scale=scale)
    try:
        softmax = softmax_in_steps(steps.masked_scores[row], temperature)
    except ValueError:  # too small to divide by
        raise refused from None
    weighted = softmax.weights[:, None] * V  # (T, d_v)
    sums = np.vstack([np.zeros(V.shape[1]), weighted.cumsum(axis=0)])  # (T + 1, d_v)
    return SoftmaxState(
        source=source,
        seed=seed,
        T=T,
        d_k=d_k,
        row=row,
        column=column,
        terms=terms,
        temperature=temperature,
        mask_kind=mask,
        scale=scale,
        tokens=tokens,
        mask=allowed,
        V=V,
        steps=steps,
        softmax=softmax,
        weighted_values=weighted,
        partial_sums=sums,
        output=sums[-1],  # (d_v,)
    )


def softmax_panel(source: str = "random", *, view: str = "live", large: bool = False) -> Panel:
    """One row from scores to weights to output, following the controls.

    Parameters
    ----------
    source : {"random", "example"}
        Vectors to start with: random ones, or the running example.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `source`, `T`, `d_k`, `mask`, `row`, `column`, `temperature`, `terms`,
        `scaled`, `seed`.
    """
    start = starting_source(source)

    def prepare(controls: dict[str, Any]) -> None:
        limit_to_source(controls)
        for name in ("row", "column"):
            follow(controls[name], controls["T"], less=1)
            controls[name].disabled = controls["T"].value == 1
        _keep_up(controls["terms"], controls["T"])

    controls = {
        "source": dropdown("source", start, [(label(f"source_{s}"), s) for s in SOURCES]),
        "T": slider("T", 8, 1, LONGEST),
        "d_k": slider("d_k", 64, 1, WIDEST),
        "mask": dropdown("mask", "causal", [(label(f"kind_{kind}"), kind) for kind in MASKS]),
        "row": slider("row", 7, 0, LONGEST - 1),
        "column": slider("column", 1, 0, LONGEST - 1),
        "temperature": log_slider("temperature", 1.0, 0.1, 10),
        "terms": slider("terms", 8, 0, LONGEST),
        "scaled": checkbox("scaled", True),
        "seed": slider("seed", 0, *SEEDS),
    }
    controls["terms"].touched = False
    return _SoftmaxPanel(
        controls,
        compute,
        partial(describe, large=large),
        summarise,
        view=view,
        large=large,
        prepare=prepare,
        selects={"query": "row", "key": "column"},
        play="terms",
    )


def _keep_up(terms: Slider, T: Slider) -> None:
    """Let the terms end at T: all of them, whatever T is, until a number is asked for."""
    asked = terms.touched
    follow(terms, T)
    if not asked and T.min <= T.value <= T.max:
        terms.value = T.value
    terms.touched = asked


class _SoftmaxPanel(Panel):
    """Play begins with no term at all and ends with all of them, however many there will be."""

    def advance(self) -> bool:
        more = super().advance()
        self.controls["terms"].touched = more
        return more
