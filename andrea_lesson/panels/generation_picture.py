"""What the generation panel draws and says about one step."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..colours import limit_of
from ..experiments import FloatArray
from ..labels import label
from ..masks import BoolArray
from ..six_tokens import running_example
from .picture import Axis, Matrix, Picture
from .settings import short, subscript
from .source import caption

if TYPE_CHECKING:
    from .generation import GenerationState

NOT_YET = "—"  # where a token will appear
UNKNOWN = "?"  # what comes after the last token that is given
MOST_TERMS = 6  # written out in a formula


def describe(state: "GenerationState", *, large: bool) -> Picture:
    """Query, K cache, weights, V cache and output as they grow, and the weights of training."""
    t, T = state.step, state.T
    side, wide, narrow = (146.0, 76.0, 64.0) if large else (165.0, 92.0, 80.0)
    places = np.arange(T)[:, None]  # (T, 1)
    later, others = places > t, places != t
    key_limit = max(limit_of(state.Q, None), limit_of(state.K, None))
    value_limit = limit_of(state.V, None)  # no mix of values is larger
    square = partial(Matrix, width=side, height=side, colours="weights")
    cached: dict[str, Any] = {"rows": "key", "show_rows": False, "lit_rows": (t,)}
    kept = {"kept": t + 1, "T": T}
    line = (
        Matrix(
            "query",
            _only(state.Q, others),
            label("generation_query", q=f"q{subscript(t)}"),
            columns="component",
            limit=key_limit,
            hidden=_wide(others, state.Q),
            hidden_words=label("generation_not_needed"),
            lit_rows=(t,),
            width=wide,
            height=side,
        ),
        Matrix(
            "K",
            _only(state.K, later),
            label("generation_cache", which="K", **kept),
            columns="component",
            limit=key_limit,
            hidden=_wide(later, state.K),
            hidden_words=label("generation_not_yet"),
            width=wide,
            height=side,
            **cached,
        ),
        square(
            "weights",
            state.weights,
            label("generation_weights", t=t),
            hidden=~state.computed,
            hidden_words=label("generation_not_computed"),
            reading=label("reading_weight"),
            show_rows=False,
            lit_rows=(t,),
        ),
        Matrix(
            "V",
            _only(state.V, later),
            label("generation_cache", which="V", **kept),
            columns="value",
            limit=value_limit,
            hidden=_wide(later, state.V),
            hidden_words=label("generation_not_yet"),
            width=narrow,
            height=side,
            **cached,
        ),
        Matrix(
            "output",
            state.output,
            label("generation_output"),
            rows="target" if state.tokens is not None else "query",
            columns="value",
            limit=value_limit,
            hidden=_wide(later, state.output),
            hidden_words=label("generation_not_yet"),
            reading=label("reading_output"),
            row_title=label("generation_target" if state.tokens is not None else "generation_next"),
            column_title="",  # that of V, and here the title of the rows stands close by
            lit_rows=(t,),
            width=narrow,
            height=side,
        ),
        square(
            "training_weights",
            state.training_weights,
            label("generation_training"),
            hidden=~np.tri(T, dtype=bool),
            columns="training_key",
            reading=label("reading_weight"),
            show_rows=False,
            lit_rows=(t,),
        ),
    )
    return Picture(
        lines=(line,),
        axes=_axes(state),
        caption=caption(state.source, state.seed),
        formulas=_formulas(state),
        selected={"query": t, "target": t},
    )


def _wide(rows: BoolArray, like: FloatArray) -> BoolArray:
    return np.broadcast_to(rows, like.shape)


def _only(values: FloatArray, hidden: BoolArray) -> FloatArray:
    """What is not there yet must not be found in the picture's numbers either."""
    return np.where(hidden, 0.0, values)


def _axes(state: "GenerationState") -> dict[str, Axis]:
    t, T, tokens = state.step, state.T, state.tokens
    named = tokens is not None
    names = targets = components = values = None
    if tokens is not None:
        example = running_example()
        names = (*tokens[: t + 1], *[NOT_YET] * (T - t - 1))
        targets = (*_targets(state), *[NOT_YET] * (T - t - 1))
        components, values = tuple(example.key_axes), tuple(example.value_axes)
    return {
        "query": Axis(label("query"), label("generation_input_rows"), names),
        "key": Axis(label("key"), label("columns_keys"), names, slanted=named),
        # training has all tokens from the start
        "training_key": Axis(label("key"), label("columns_keys"), tokens and tuple(tokens), named),
        "target": Axis(label("generation_target"), label("generation_target"), targets),
        "component": Axis(
            label("generation_component"), label("generation_components"), components, slanted=named
        ),
        "value": Axis(
            label("value_component"), label("generation_components"), values, slanted=named
        ),
    }


def _targets(state: "GenerationState") -> list[str]:
    """Tokens 1…step + 1: the inputs, shifted by one; what comes after the last is not known."""
    following = UNKNOWN if state.next_token is None else state.next_token
    return [*(state.tokens or ())[1 : state.step + 2], following][: state.step + 1]


def _formulas(state: "GenerationState") -> tuple[str, ...]:
    t, weights = state.step, state.weights[state.step, : state.step + 1]
    nothing = label("generation_no_tokens")
    ends = t == state.T - 1 and state.next_token is None
    inputs, targets = nothing, nothing
    if state.tokens is not None:
        inputs, targets = " ".join(state.tokens[: t + 1]), " ".join(_targets(state))
    terms = _listed([f"{short(float(w))} v{subscript(j)}" for j, w in enumerate(weights)], " + ")
    return (
        label("generation_inputs", places=_span(0, t), tokens=inputs),
        label(
            "generation_targets",
            places=_span(1, t + 1),
            tokens=targets,
            note=label("generation_ends", end=t + 1) if ends else label("generation_shifted"),
        ),
        label(
            "generation_weights_line",
            t=t,
            q=f"q{subscript(t)}",
            keys=_listed([f"k{subscript(j)}" for j in range(t + 1)], ", "),
            d_k=state.d_k,
            weights=_listed([short(float(w)) for w in weights], ", "),
        ),
        label(
            "generation_output_line",
            t=t,
            terms=terms,
            output=_listed([short(float(o)) for o in state.output[t]], ", "),
        ),
        label("generation_same", t=t, difference=short(state.difference)),
        label(
            "generation_work",
            cached=f"{state.cached_products:,}",
            uncached=f"{state.uncached_products:,}",
            n=t + 1,
            after=t + 2,
            cached_sum=f"{state.cached_products_so_far:,}",
            uncached_sum=f"{state.uncached_products_so_far:,}",
        ),
    )


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}…{high}"


def _listed(words: list[str], between: str) -> str:
    """Terms of a sum or a list; of a long one the first and the last."""
    if len(words) > MOST_TERMS:
        words = [*words[: MOST_TERMS - 2], "…", words[-1]]
    return between.join(words)


def summarise(state: "GenerationState") -> str:
    """Say the step in one sentence."""
    t = state.step
    if state.tokens is None:
        newest, target = (label("generation_place", i=i) for i in (t, t + 1))
    else:
        newest, target = (
            label("generation_token", token=token)
            for token in (state.tokens[t], _targets(state)[-1])
        )
    if t == state.T - 1 and state.next_token is None:
        target = label("generation_nothing")
    return label(
        "generation_summary",
        source=label(f"source_{state.source}"),
        T=state.T,
        d_k=state.d_k,
        t=t,
        newest=newest,
        target=target,
        kept=t + 1,
        difference=short(state.difference),
        cached=f"{state.cached_products:,}",
        uncached=f"{state.uncached_products:,}",
    )
