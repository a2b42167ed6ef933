"""The softmax panel's state as a picture: bars, the values they weigh, formulas, a sentence."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..colours import limit_of
from ..experiments import effective_keys
from ..labels import label
from ..plot_inputs import round_up
from ..six_tokens import running_example
from .picture import Axis, Bars, Matrix, Part, Picture
from .settings import factor, short
from .source import caption

if TYPE_CHECKING:
    from .softmax import SoftmaxState

_READINGS = {
    "scores": "reading_divided",
    "shifted": "reading_shifted",
    "exponentials": "reading_exponential",
    "weights": "reading_weight",
}
BARS = tuple(_READINGS)
_COMPONENT = 0  # of the values, whose sum is written out
_WRITTEN = 4  # terms of that sum
_WIDTHS = {False: (80.0, 150.0), True: (70.0, 120.0)}  # of bars and matrices: one line, even large
_HEIGHT, _SUM = 176.0, 26.0  # pixels


def describe(state: "SoftmaxState", *, large: bool = False) -> Picture:
    """Scores of a row up to its weights, and the weighted values up to their sum."""
    bars, matrices = _WIDTHS[large]
    example = state.tokens is not None
    names = tuple(state.tokens) if state.tokens is not None else None
    components = tuple(running_example().value_axes) if example else None
    output = label("panel_output")
    return Picture(
        lines=((*_softmax(state, bars), *_mixing(state, matrices)),),
        axes={
            "key": Axis(label("key"), label("rows_keys"), names),
            "value": Axis(label("value_component"), label("columns_components"), components),
            "query": Axis(output, "", (output,)),
        },
        caption=caption(state.source, state.seed),
        formulas=_formulas(state),
        selected={"key": state.column},
    )


def _softmax(state: "SoftmaxState", width: float) -> tuple[Part, ...]:
    """Four charts of bars; each key keeps its height through all of them."""
    row, hidden = state.softmax, ~state.mask[state.row]
    lowest, highest = float(row.scores[~hidden].min()), float(row.scores.max())
    limit = round_up(max(-lowest, highest))
    deepest = round_up(-float(row.shifted[~hidden].min()))
    ends = {
        "scores": (0.0 if lowest >= 0 else -limit, 0.0 if highest < 0 else limit),
        "shifted": (-deepest, 0.0),
    }
    words = {
        "scores": label("panel_highest", value=short(highest)),
        "shifted": label("panel_highest", value="0"),
        "exponentials": label("panel_sum", value=short(float(row.exponentials.sum()))),
        "weights": label("panel_sum", value=short(float(row.weights.sum()))),
    }
    return tuple(
        Bars(
            name,
            getattr(row, name),
            *ends.get(name, (0.0, 1.0)),
            title=label(f"panel_{name}_step", row=state.row, temperature=short(state.temperature)),
            words=words[name],
            along="key",
            hidden=hidden,
            show_names=name == BARS[0],
            reading=label(reading),
            width=width,
            height=_HEIGHT,
        )
        for name, reading in _READINGS.items()
    )


def _mixing(state: "SoftmaxState", width: float) -> tuple[Part, ...]:
    """The values, times their weights, and beneath these what they add up to so far."""
    # (T,) → (T, d_v)
    hidden = np.broadcast_to(~state.mask[state.row][:, None], state.V.shape)
    limit = round_up(float(max(abs(state.weighted_values).max(), abs(state.partial_sums).max())))
    complete = state.terms == state.T
    common: dict[str, Any] = {"columns": "value", "show_rows": False, "width": width}
    return (
        Matrix(
            "V",
            state.V,
            label("panel_V_step"),
            rows="key",
            limit=limit_of(state.V, None),
            hidden=hidden,
            reading=label("reading_value"),
            height=_HEIGHT,
            **common,
        ),
        Matrix(
            "weighted_values",
            state.weighted_values,
            label("panel_values_step"),
            rows="key",
            limit=limit,
            hidden=hidden,
            hidden_words="",
            reading=label("reading_weighted_value"),
            bar=False,
            lit_rows=tuple(range(state.terms)),
            height=_HEIGHT,
            **common,
        ),
        Matrix(
            "output",
            state.partial_sums[state.terms][None, :],  # (1, d_v)
            label(
                "panel_output_step" if complete else "panel_sum_step",
                terms=state.terms,
                T=state.T,
            ),
            limit=limit,
            reading=label("panel_output" if complete else "reading_sum_so_far"),
            column_title="",
            show_columns=False,
            under="weighted_values",
            height=_SUM,
            **common,
        ),
    )


def _formulas(state: "SoftmaxState") -> tuple[str, ...]:
    """The chosen key from its score to its weight, and the sum of one component so far."""
    i, j, row = state.row, state.column, state.softmax
    highest = float(row.scores.max())
    key, query = _named(j, state.tokens), _named(i, state.tokens)
    score = float(state.steps.masked_scores[i, j])
    component = running_example().value_axes if state.tokens is not None else None
    first = label(
        "softmax_score",
        query=query,
        key=key,
        score=short(score),
        temperature=short(state.temperature),
        divided=short(float(row.scores[j])),
        highest=factor(highest),
        shifted=short(float(row.shifted[j])),
    )
    second = label(
        "softmax_weight" if state.mask[i, j] else "softmax_weight_hidden",
        i=i,
        j=j,
        shifted=short(float(row.shifted[j])),
        exponential=short(float(row.exponentials[j])),
        total=short(float(row.exponentials.sum())),
        weight=short(float(row.weights[j])),
    )
    third = label(
        "softmax_sum",
        i=i,
        c=_named(_COMPONENT, component),
        terms=state.terms,
        T=state.T,
        sum=_sum_so_far(state),
    )
    return first, second, third


def _sum_so_far(state: "SoftmaxState") -> str:
    """``0.31 × 1.2 + … + 0.05 × (−0.7) = 0.42``: the first terms and the last."""
    weights, values = state.softmax.weights, state.V[:, _COMPONENT]
    terms = [
        f"{_weight(float(weights[j]))} × {factor(_two_digits(float(values[j])))}"
        for j in range(state.terms)
    ]
    if len(terms) > _WRITTEN:
        terms = [*terms[: _WRITTEN - 2], "…", terms[-1]]
    total = short(float(state.partial_sums[state.terms, _COMPONENT]))
    return f"{' + '.join(terms)} = {total}" if terms else "0"


def _two_digits(value: float) -> float:
    """Two digits are enough to follow a sum; what is not 0 is not written as 0."""
    return float(f"{value:.2g}")


def _weight(value: float) -> str:
    """Three decimals; what they do not show is said to be small, not to be 0."""
    return "<0.001" if 0 < value < 0.0005 else short(round(value, 3))


def _named(place: int, names: list[str] | None) -> str:
    return str(place) if names is None else label("named_place", place=place, name=names[place])


def summarise(state: "SoftmaxState") -> str:
    """Say in words what is on show."""
    weights = state.softmax.weights
    complete = state.terms == state.T
    return label(
        "softmax_summary",
        source=label(f"source_{state.source}"),
        row=state.row,
        T=state.T,
        d_k=state.d_k,
        temperature=short(state.temperature),
        visible=int(state.mask[state.row].sum()),
        highest=short(float(state.softmax.scores.max())),
        position=int(state.softmax.scores.argmax()),
        total=short(float(state.softmax.exponentials.sum())),
        largest=short(float(weights.max())),
        keys=short(float(effective_keys(weights))),
    ) + label("softmax_complete" if complete else "softmax_so_far", terms=state.terms, T=state.T)
