"""The whole of attention in one picture: scores, scaled, masked, weights, output."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..colours import COLOURS, limit_of
from ..experiments import FloatArray, effective_keys
from ..labels import label
from ..masks import BoolArray
from ..scaled_dot_product import AttentionSteps, attention, attention_steps
from ..six_tokens import running_example
from .base import Panel
from .controls import checkbox, dropdown, follow, slider, stepped_slider
from .picture import Axis, Matrix, Picture
from .settings import RANDOM, SEEDS, SOURCES, build_mask, choice, short, subscript, whole
from .source import WIDEST, caption, limit_to_source, starting_source, vectors

LONGEST = 1024  # T, as ANDREA-120M has it
LENGTHS = (  # every length in full detail, then ever larger steps
    *range(1, 65),
    *range(72, 128, 8),
    *range(128, 256, 16),
    *range(256, 512, 32),
    *range(512, LONGEST + 1, 64),
)
HEADS = 12
MASKS = ("full", "causal", "sliding-window", "prefix")
PRECISIONS = ("float16", "float32", "float64")


@dataclass(frozen=True, eq=False)
class AttentionState:
    """What the attention panel shows; `steps` is what `attention_steps` makes of Q, K, V.

    `row` and `column` are the cell that is taken apart; `rounding` is how far the output of
    that row is from the same row in float64; `pinned` is the setting to compare with.
    """

    source: str
    seed: int
    head: int
    T: int
    d_k: int
    mask_kind: str
    scaled: bool
    precision: str
    color: str
    same_colours: bool
    scale: float
    row: int
    column: int
    tokens: list[str] | None
    Q: FloatArray
    K: FloatArray
    V: FloatArray
    mask: BoolArray
    steps: AttentionSteps
    rounding: float
    pinned: "AttentionState | None" = None


def compute(
    *,
    source: str = RANDOM,
    T: int = 16,
    d_k: int = 64,
    head: int = 0,
    mask: str = "causal",
    window: int = 4,
    prefix: int = 4,
    scaled: bool = True,
    precision: str = "float32",
    color: str = "auto",
    same_colours: bool = False,
    row: int = 15,
    column: int = 0,
    seed: int = 0,
) -> AttentionState:
    """Attention over random vectors or over the running example, step by step.

    Parameters
    ----------
    source, T, d_k, seed
        As in :func:`andrea_lesson.panels.source.vectors`; T up to 1024.
    head : int
        0…11; each head has random vectors of its own, the running example has one head only.
    mask : {"full", "causal", "sliding-window", "prefix"}
    window, prefix : int
        Of the mask that has them.
    scaled : bool
        Divide the scores by √d_k.
    precision : {"float16", "float32", "float64"}
        Of the vectors; float16 is computed in float32, as everywhere in the lesson.
    color : {"auto", "absolute", "relative"}
        How the weights are coloured: 0…1, or as multiples of the uniform weight.
    same_colours : bool
        One colour scale for scores, scaled and masked scores; changes no number.
    row, column : int
        The cell that is taken apart.

    Returns
    -------
    AttentionState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    choice("mask", mask, MASKS)
    choice("precision", precision, PRECISIONS)
    choice("color", color, COLOURS)
    exact_Q, exact_K, exact_V, tokens = vectors(
        source, T, d_k, seed, head=whole("head", head, 0, HEADS - 1), longest=LONGEST
    )
    whole("row", row, 0, T - 1)
    whole("column", column, 0, T - 1)
    allowed = build_mask(mask, T, window=window, prefix=prefix)
    scale = 1 / math.sqrt(d_k) if scaled else 1.0
    Q, K, V = (array.astype(precision) for array in (exact_Q, exact_K, exact_V))
    steps = attention_steps(Q, K, V, mask=allowed, scale=scale)
    exact = attention(
        exact_Q[row : row + 1], exact_K, exact_V, mask=allowed[row : row + 1], scale=scale
    )
    return AttentionState(
        source=source,
        seed=seed,
        head=head,
        T=T,
        d_k=d_k,
        mask_kind=mask,
        scaled=scaled,
        precision=precision,
        color=color,
        same_colours=same_colours,
        scale=scale,
        row=row,
        column=column,
        tokens=tokens,
        Q=Q,
        K=K,
        V=V,
        mask=allowed,
        steps=steps,
        rounding=float(np.abs(steps.output[row] - exact[0]).max(initial=0.0)),
    )


def attention_panel(
    source: str = "random", *, T: int | None = None, view: str = "live", large: bool = False
) -> Panel:
    """Scores, scaled scores, masked scores, weights and output, following the controls.

    Parameters
    ----------
    source : {"random", "example"}
        Vectors to start with: random ones, or the running example.
    T : int, optional
        Positions to start with, 16 by default, or the six of the running example.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `source`, `T`, `d_k`, `mask`, `head`, `scaled`, `row`, `column`, `color`,
        `precision`, `pin`, `same_colours`, `window`, `prefix`, `seed`.
    """
    start = starting_source(source)
    length = 16 if T is None else whole("T", T, 1, LONGEST)
    pinned: list[AttentionState] = []

    def prepare(controls: dict[str, Any]) -> None:
        limit_to_source(controls, longest=LONGEST)
        example = controls["source"].value != RANDOM
        controls["head"].disabled = example
        for name, less in (("prefix", 0), ("window", 0), ("column", 1)):
            follow(controls[name], controls["T"], less=less)
        follow(controls["row"], controls["T"], less=1, at_end=True)
        controls["window"].disabled = controls["mask"].value != "sliding-window"
        controls["prefix"].disabled = controls["mask"].value != "prefix"

    def compare(*, pin: bool, **values: Any) -> AttentionState:
        """Compute a state; beside it stands the one that was on show when the pin was set."""
        state = compute(**values)
        if not pin:
            pinned.clear()
        elif not pinned:
            pinned.append(state)
        return replace(state, pinned=pinned[0]) if pinned else state

    controls = {
        "source": dropdown("source", start, [(label(f"source_{s}"), s) for s in SOURCES]),
        "T": stepped_slider("T", length, LENGTHS),
        "d_k": slider("d_k", 64, 1, WIDEST),
        "mask": dropdown("mask", "causal", [(label(f"kind_{kind}"), kind) for kind in MASKS]),
        "head": slider("head", 0, 0, HEADS - 1),
        "scaled": checkbox("scaled", True),
        "row": slider("row", length - 1, 0, LONGEST - 1),
        "column": slider("column", 0, 0, LONGEST - 1),
        "color": dropdown("color", "auto", [(label(f"color_{c}"), c) for c in COLOURS]),
        "precision": dropdown("precision", "float32", [(name, name) for name in PRECISIONS]),
        "pin": checkbox("pin", False),
        "same_colours": checkbox("same_colours", False),
        "window": slider("window", 4, 1, LONGEST),
        "prefix": slider("prefix", 4, 0, LONGEST),
        "seed": slider("seed", 0, *SEEDS),
    }
    controls["row"].touched = False  # it stands at the last query, whatever T is
    return Panel(
        controls,
        compare,
        _describe,
        _summary,
        view=view,
        large=large,
        prepare=prepare,
        selects={"query": "row", "key": "column"},
        play="row",
    )


def _describe(state: AttentionState) -> Picture:
    lines = [_line(state)]
    selected = {"query": state.row, "key": state.column}
    axes = _axes(state, "")
    if state.pinned is not None:
        lines.append(_line(state.pinned, "pinned_"))  # below: what moves stays in sight
        axes |= _axes(state.pinned, "pinned_")
        if state.row < state.pinned.T and state.column < state.pinned.T:
            selected |= {"pinned_query": state.row, "pinned_key": state.column}
    words = caption(state.source, state.seed)
    if state.source == RANDOM:
        words += label("caption_head", head=state.head)
    return Picture(
        lines=tuple(lines),
        axes=axes,
        caption=words,
        formulas=_formulas(state),
        selected=selected,
    )


def _axes(state: AttentionState, which: str) -> dict[str, Axis]:
    named = state.tokens is not None
    names = tuple(state.tokens) if state.tokens is not None else None
    values = tuple(running_example().value_axes) if named else None
    above = label("panel_pinned") if which else ""
    return {
        f"{which}query": Axis(label("query"), above or label("rows_queries"), names),
        f"{which}key": Axis(label("key"), label("columns_keys"), names, slanted=named),
        f"{which}value": Axis(label("value_component"), label("columns_values"), values, named),
    }


def _line(state: AttentionState, which: str = "") -> tuple[Matrix, ...]:
    """Five matrices side by side; the pinned ones stand on axes of their own length."""
    steps, hidden = state.steps, ~state.mask
    raw, whole_limit, shown = _limits(state, hidden)
    common: dict[str, Any] = {"rows": f"{which}query", "columns": f"{which}key"}
    later: dict[str, Any] = common | {"show_rows": False}
    return (
        Matrix(
            f"{which}scores",
            steps.scores,
            label("scores_formula"),
            limit=raw,
            reading=label("reading_score"),
            **common,
        ),
        Matrix(
            f"{which}scaled_scores",
            steps.scaled_scores,
            label("scaled_formula", scale=short(state.scale)),
            limit=whole_limit,
            reading=label("reading_scaled"),
            **later,
        ),
        Matrix(
            f"{which}masked_scores",
            steps.scaled_scores,  # and -inf where they are hatched; sent once for both pictures
            label("masked_formula"),
            limit=shown,
            hidden=hidden,
            hidden_value="−∞",
            **later,
        ),
        Matrix(
            f"{which}weights",
            steps.weights,
            label("weights_formula"),
            colours="weights" if state.color == "auto" else state.color,
            hidden=hidden,
            hidden_value="0",
            reading=label("reading_weight"),
            **later,
        ),
        Matrix(
            f"{which}output",
            steps.output.astype(steps.weights.dtype, copy=False),
            label("output_formula"),
            reading=label("reading_output"),
            **(later | {"columns": f"{which}value"}),
        ),
    )


def _limits(state: AttentionState, hidden: BoolArray) -> tuple[float, float, float]:
    """Ends of the colours of scores, scaled and masked scores; round, so that they rarely move."""
    steps = state.steps
    raw, scaled = limit_of(steps.scores, None), limit_of(steps.scaled_scores, None)
    shown = limit_of(steps.scaled_scores, hidden)
    if scaled < 4 * shown:  # a score keeps its colour when others are hidden, if that does no harm
        shown = scaled
    if state.same_colours:
        raw = scaled = shown = max(raw, scaled)
    return raw, scaled, shown


def _formulas(state: AttentionState) -> tuple[str, ...]:
    """The chosen cell from its score to its weight, and what the precision costs."""
    i, j, steps = state.row, state.column, state.steps
    score, scaled = float(steps.scores[i, j]), float(steps.scaled_scores[i, j])
    first = label(
        "attention_score" if state.scaled else "attention_score_raw",
        i=i,
        j=j,
        q=f"q{subscript(i)}",
        k=f"k{subscript(j)}",
        d_k=state.d_k,
        score=short(score),
        scaled=short(scaled),
    )
    if state.mask[i, j]:
        row = steps.masked_scores[i].astype(np.float64)
        highest = float(row.max())
        total = float(np.exp(row - highest).sum())
        second = label(
            "attention_weight",
            i=i,
            j=j,
            scaled=short(scaled),
            highest=short(highest),
            total=short(total),
            weight=short(float(steps.weights[i, j])),
        )
    else:
        second = label("attention_hidden", i=i, j=j)
    third = label(
        "attention_rounding", i=i, precision=state.precision, rounding=short(state.rounding)
    )
    return first, second, third


def _summary(state: AttentionState) -> str:
    scores, scaled = state.steps.scores, state.steps.scaled_scores
    weights = state.steps.weights[state.row]
    words = label(
        "attention_summary",
        source=label(f"source_{state.source}"),
        T=state.T,
        d_k=state.d_k,
        mask=label(f"kind_{state.mask_kind}"),
        scale=f"{state.scale:.3g}",
        scores=f"{scores.std():.2f}",
        scaled=f"{scaled.std():.2f}",
        row=state.row,
        keys=f"{effective_keys(weights):.2f}",
        visible=int(state.mask[state.row].sum()),
        largest=f"{weights.max():.3f}",
        position=int(weights.argmax()),
    )
    if state.pinned is not None:
        before = state.pinned
        words += label(
            "attention_pinned",
            source=label(f"source_{before.source}"),
            T=before.T,
            d_k=before.d_k,
            mask=label(f"kind_{before.mask_kind}"),
            scale=f"{before.scale:.3g}",
            precision=before.precision,
            scaled=f"{before.steps.scaled_scores.std():.2f}",
            row=before.row,
            keys=f"{effective_keys(before.steps.weights[before.row]):.2f}",
            largest=f"{before.steps.weights[before.row].max():.3f}",
        )
    return words
