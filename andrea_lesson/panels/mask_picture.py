"""What the mask panel draws and says about a mask and its weights."""

from collections.abc import Callable
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from ..colours import limit_of
from ..labels import label
from ..masks import BoolArray
from .picture import Axis, Bars, Matrix, Picture
from .settings import short, subscript

if TYPE_CHECKING:
    from .mask import MaskState

WIDTH = 64  # d_k of the random vectors
VALUE_NAMES = {-np.inf: "−∞", -1e9: "−1e9", -1e4: "−1e4", 0.0: "0"}


def describe(state: "MaskState", *, side: float) -> Picture:
    """Mask, scores before and after it, weights and their row sums, side by side."""
    # One limit before and after the mask: a score that stays keeps its colour.
    limit = limit_of(state.scores, None)
    kept = _named(state) if state.filled == state.value else short(state.filled)
    hidden = label("panel_hidden_value", value=kept)
    # A hidden key that gets a weight all the same must not be hatched away.
    covered = ~(state.mask | state.leaking | state.broken[:, None])
    square = partial(Matrix, width=side, height=side)
    line = (
        square(
            "mask",
            state.mask.astype(float),
            label("panel_mask_title"),
            colours="mask",
            reading=label("mask"),
            bar=False,
            numbers=False,
        ),
        square(
            "scores",
            state.scores,
            label("panel_before_title"),
            limit=limit,
            reading=label("reading_score"),
            show_rows=False,
        ),
        square(
            "masked_scores",
            state.masked_scores,
            label("panel_after_title", value=_stored(state)),
            limit=limit,
            hidden=~state.mask,
            hidden_value=kept,
            hidden_words=hidden,
            reading=label("masked_scores"),
            show_rows=False,
        ),
        square(
            "weights",
            state.weights.astype(float),
            label("panel_weights_title", precision=state.precision),
            colours="weights",
            hidden=covered,
            hidden_value="0",
            framed=state.leaking,
            warns=True,
            reading=label("reading_weight"),
            show_rows=False,
        ),
        Bars(
            "row_sums",
            state.row_sums.astype(float),
            0.0,
            1.0,
            label("panel_sums_title"),
            reading=label("panel_sums_reading"),
            width=80.0,
            height=side,
        ),
    )
    words = label("caption_random_scores", seed=state.seed)
    return Picture(
        lines=(line,),
        axes={
            "query": Axis(label("query"), label("rows_queries")),
            "key": Axis(label("key"), label("columns_keys")),
        },
        caption=words + label("caption_leaks") if state.leaking.any() else words,
        formulas=_formulas(state),
        selected={"query": state.row, "key": state.column},
    )


def _named(state: "MaskState") -> str:
    return VALUE_NAMES[state.value]


def _stored(state: "MaskState") -> str:
    """The mask value, and what became of it where the precision cannot hold it."""
    name = _named(state)
    return name if state.filled == state.value else f"{name} → {short(state.filled)}"


def _formulas(state: "MaskState") -> tuple[str, ...]:
    """The chosen cell, step by step from its score to its weight, and the sum of its row."""
    i, j = state.row, state.column
    visible = bool(state.mask[i, j])
    masked, weight = float(state.masked_scores[i, j]), float(state.weights[i, j])
    with np.errstate(invalid="ignore", over="ignore"):  # in the precision of all the others
        one, highest = np.array([masked, state.highest], dtype=state.precision)
        exponential = float(np.exp(one - highest))
    weights = state.weights[i].astype(float)
    place = {"i": i, "j": j}
    return (
        label(
            "mask_formula_score",
            **place,
            q=f"q{subscript(i)}",
            k=f"k{subscript(j)}",
            d_k=WIDTH,
            root=short(np.sqrt(WIDTH)),
            product=short(state.product),
            spread=f"{state.spread:,.0f}",
            score=short(float(state.scores[i, j])),
        ),
        label(
            "mask_formula_visible" if visible else "mask_formula_hidden",
            **place,
            rule=_RULES[state.mask_kind](state),
        ),
        label(
            "mask_formula_kept" if visible else "mask_formula_replaced",
            **place,
            score=short(masked),
            value=_stored(state),
            precision=state.precision,
        ),
        label(
            "mask_formula_weight",
            **place,
            masked=short(masked),
            highest=_in_brackets(state.highest),
            exponential=short(exponential),
            total=short(state.total),
            weight=short(weight),
            bare=short(state.bare_weight),
        ),
        label(
            "mask_formula_sum",
            i=i,
            visible=short(float(weights[state.mask[i]].sum())),
            hidden=short(float(weights[~state.mask[i]].sum())),
            total=short(float(state.row_sums[i])),
        ),
    )


def _in_brackets(value: float) -> str:
    """A number behind a minus: in brackets where it brings a minus of its own."""
    return f"({short(value)})" if value < 0 else short(value)


def _document_rule(state: "MaskState") -> str:
    of_query, of_key = (1 + int(place >= state.boundary) for place in (state.row, state.column))
    return label(
        "mask_rule_documents", i=state.row, j=state.column, of_query=of_query, of_key=of_key
    )


# What makes a cell True, with the numbers of the chosen one.
_RULES: dict[str, Callable[["MaskState"], str]] = {
    "full": lambda state: label("mask_rule_full"),
    "causal": lambda state: f"{state.column} ≤ {state.row}",
    "sliding-window": lambda state: f"{state.row} − {state.window} < {state.column} ≤ {state.row}",
    "prefix": lambda state: label(
        "mask_rule_prefix", i=state.row, j=state.column, prefix=state.prefix
    ),
    "padding": lambda state: f"{state.column} < {state.length}",
    "documents": _document_rule,
}


# -- what goes wrong, and the picture in words ---------------------------------------------------


def warn(state: "MaskState") -> str | None:
    """Name what goes wrong: NaN, weights on hidden keys, rows that see nothing and look even."""
    said = []
    value = _named(state)
    if (state.broken & state.empty).any():
        said.append(label("warn_nan_empty", rows=_list(state.broken & state.empty)))
    if (state.broken & ~state.empty).any():
        rows = _list(state.broken & ~state.empty)
        said.append(label("warn_nan_overflow", rows=rows, precision=state.precision))
    uniform = state.empty & ~state.broken & (state.weights > 0).any(axis=-1)
    if uniform.any():
        weight = short(float(state.weights[uniform].max()))
        said.append(label("warn_uniform", rows=_list(uniform), value=value, weight=weight))
    leaks = np.where(state.leaking & ~state.empty[:, None], state.weights, 0.0)
    if leaks.any():
        i, j = np.unravel_index(int(np.argmax(leaks)), leaks.shape)
        leak = short(float(leaks[i, j]))
        said.append(label("warn_leak", value=value, row=int(i), column=int(j), leak=leak))
    return (
        reduce(lambda first, then: label("warn_both", first=first, then=then), said)
        if said
        else None
    )


def _list(rows: BoolArray) -> str:
    numbers = [str(row) for row in np.flatnonzero(rows)]
    listed = numbers if len(numbers) <= 4 else [*numbers[:3], "…", numbers[-1]]
    return label("list_comma").join(listed)


def _range(low: str, high: str) -> str:
    return low if low == high else label("mask_range", low=low, high=high)


def summarise(state: "MaskState") -> str:
    """Say what is on show in one sentence."""
    visible = state.mask.sum(axis=-1)
    sums = state.row_sums[~state.broken].astype(float)
    results = []
    if state.broken.any():
        results.append(label("mask_broken", rows=int(state.broken.sum())))
    if sums.size:
        leak = short(state.leak)
        results.append(label("mask_leak" if state.leak > 0 else "mask_no_leak", leak=leak))
        low, high = short(float(sums.min())), short(float(sums.max()))
        results.append(label("mask_sums", sums=_range(low, high)))
    return label(
        "mask_summary",
        mask=label(f"kind_{state.mask_kind}"),
        T=state.T,
        value=_named(state),
        precision=state.precision,
        keys=_range(str(visible.min()), str(visible.max())),
        spread=f"{state.spread:,.0f}",
        measured=short(float(state.scores.std())),
        results=label("mask_and").join(results),
    )
