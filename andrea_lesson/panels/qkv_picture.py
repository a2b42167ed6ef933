"""How the qkv panel looks: x beside the matrices, what they make of it beneath them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..colours import limit_of
from ..experiments import FloatArray
from ..family import FAMILY
from ..labels import label
from ..six_tokens import running_example
from .layout import too_long
from .picture import Axis, Bars, Matrix, Part, Picture
from .qkv_state import MATRICES, TOKENS, QkvState, sample
from .settings import EXAMPLE, factor, short, subscript

MOST_TERMS = 3  # of a sum of hundreds that are written out
_X, _W, _TALL, _ROW = 150.0, 170.0, 132.0, 22.0  # pixels
_CELL = 44.0  # pixels, of the running example


def describe(state: QkvState) -> Picture:
    """Put the state into a picture; both sources have the same arrangement."""
    return _describe_example(state) if state.source == EXAMPLE else _describe_random(state)


def _describe_example(state: QkvState) -> Picture:
    example = running_example()
    names = tuple(example.model_axes)
    return Picture(
        lines=_example_lines(state),
        axes={
            "token": Axis(label("token"), label("qkv_tokens"), tuple(example.tokens)),
            "model": Axis(
                label("qkv_component_x"), "", names, slanted=too_long(names, _X / len(names))
            ),
            "key": Axis(label("qkv_component_q"), "", tuple(example.key_axes)),
            "value": Axis(label("value_component"), "", tuple(example.value_axes)),
        },
        caption=label("caption_example"),
        formulas=_example_formulas(state),
        selected={"token": state.row, "key": state.component},
    )


def _example_lines(state: QkvState) -> tuple[tuple[Part, ...], ...]:
    """Bars of x beside the rows of the matrices, and beneath each matrix what it makes of X."""
    limit = max(limit_of(array, None) for array in (state.X, *state.W, *state.projected))
    axes = ("key", "key", "value")
    look: dict[str, Any] = {"limit": limit, "show_rows": False, "bar": False}
    matrices = tuple(
        Matrix(
            name,
            W,
            f"{name}\n{W.shape[0]} × {W.shape[1]}",
            rows="model",
            columns=axis,
            reading=name,
            width=_CELL * W.shape[1],
            height=_TALL,
            **look,
        )
        for name, W, axis in zip(MATRICES, state.W, axes, strict=True)
    )
    products = tuple(
        Matrix(
            name[-1],
            array,
            f"{name[-1]} = X {name}\n{array.shape[0]} × {array.shape[1]}",
            rows="token",
            columns=axis,
            reading=name[-1],
            width=_CELL * array.shape[1],
            height=_ROW * TOKENS,
            **look,
        )
        for name, array, axis in zip(MATRICES, state.projected, axes, strict=True)
    )
    return (_one_token(state), *matrices), (_all_tokens(state, state.X, limit), *products)


def _one_token(state: QkvState) -> Bars:
    """The chosen token, each component of x beside the row of the matrices that it multiplies."""
    x, limit = state.X[state.row], limit_of(state.X, None)
    named = state.tokens is not None
    return Bars(
        "x",
        x if named else x[sample(state.d_model)],
        0.0 if named else -limit,
        limit,
        label("qkv_x", x=f"x{subscript(state.row)}"),
        along="model",
        show_names=named,
        width=_X,
        height=_TALL,
    )


def _all_tokens(state: QkvState, values: FloatArray, limit: float) -> Matrix:
    """All tokens, one a row; as wide as the bars above it with the room around them."""
    return Matrix(
        "X",
        values,
        label("qkv_X", T=TOKENS, d_model=state.d_model),
        rows="token",
        columns="model",
        limit=limit,
        show_columns=state.tokens is not None,
        bar=False,
        width=_X + 14,
        height=_ROW * TOKENS,
    )


def _describe_random(state: QkvState) -> Picture:
    shown = sample(state.d_model)  # of the rows, as well as of the columns
    names = tuple(map(str, shown))
    words = label("qkv_caption_random", seed=state.seed)
    if len(shown) < state.d_model:
        words += label("qkv_caption_sample", shown=len(shown), d_model=state.d_model)
    return Picture(
        lines=_random_lines(state, shown),
        axes={
            "token": Axis(label("token"), label("qkv_tokens")),
            "model": Axis(label("qkv_component_x"), "", names),
            "column": Axis(label("qkv_column"), "", names),
        },
        caption=words,
        formulas=_random_formulas(state),
        selected={"token": state.row},
    )


def _random_lines(state: QkvState, shown: NDArray[np.int_]) -> tuple[tuple[Part, ...], ...]:
    """As in the running example; the columns of the head are framed, in all matrices."""
    first, last = state.head * state.d_k, (state.head + 1) * state.d_k - 1
    limits = [max(limit_of(array, None) for array in group) for group in (state.W, state.projected)]
    look: dict[str, Any] = {
        "columns": "column",
        "lit_columns": tuple(map(int, np.flatnonzero(state.mine))),
        "show_rows": False,
        "show_columns": False,
        "bar": False,
        "width": _W,
    }
    matrices = tuple(
        Matrix(
            name,
            W[shown],
            label(
                "qkv_columns",
                name=name,
                first=first + third * state.d_model,
                last=last + third * state.d_model,
            ),
            rows="model",
            reading=name,
            limit=limits[0],
            height=_TALL,
            **look,
        )
        for third, (name, W) in enumerate(zip(MATRICES, state.W, strict=True))
    )
    products = tuple(
        Matrix(
            name[-1],
            array,
            label("qkv_head", name=name[-1], W=name, head=state.head, d_k=state.d_k),
            rows="token",
            reading=name[-1],
            limit=limits[1],
            height=_ROW * TOKENS,
            **look,
        )
        for name, array in zip(MATRICES, state.projected, strict=True)
    )
    X = _all_tokens(state, state.X[:, shown], limit_of(state.X, None))
    return (_one_token(state), *matrices), (X, *products)


# -- the formulas ----------------------------------------------------------------


def _example_formulas(state: QkvState) -> tuple[str, ...]:
    """Three sums of rows, and one component taken apart."""
    example, x = running_example(), state.X[state.row]
    used = np.flatnonzero(x)
    lines = []
    for name, W, array in zip(MATRICES, state.W, state.projected, strict=True):
        here = subscript(state.row)
        terms = " + ".join(f"{factor(x[c])} × {_vector(W[c])}" for c in used)
        small = name[-1].lower()
        lines.append(f"{small}{here} = x{here} {name} = {terms} = {_vector(array[state.row])}")
    column = state.W[0][:, state.component]
    terms = " + ".join(f"{factor(a)} × {factor(w)}" for a, w in zip(x, column, strict=True))
    value = short(float(state.projected[0][state.row, state.component]))
    axis = example.key_axes[state.component]
    lines.append(f"q{subscript(state.row)}[{axis}] = {terms} = {value}")
    return tuple(lines)


def _vector(values: FloatArray) -> str:
    return f"({', '.join(short(float(value)) for value in values)})"


def _random_formulas(state: QkvState) -> tuple[str, ...]:
    """The width of a head, its columns, and a component that takes all of x."""
    d_model, d_k = state.d_model, state.d_k
    models = [m.name for m in FAMILY if (m.d_model, m.n_head) == (d_model, state.n_head)]
    width = f"d_k = d_model ÷ n_head = {d_model} ÷ {state.n_head} = {d_k}"
    if models:
        width += label("qkv_model", model=models[0])
    columns = label(
        "qkv_fused",
        d_model=d_model,
        fused=3 * d_model,
        head=state.head,
        next=state.head + 1,
        d_k=d_k,
        first=state.head * d_k,
        last=(state.head + 1) * d_k - 1,
    )
    place = int(np.flatnonzero(state.mine)[0])
    x, w = state.X[state.row], state.W[0][:, place]
    terms = [
        f"{factor(a)} × {factor(b)}" for a, b in zip(x[:MOST_TERMS], w[:MOST_TERMS], strict=True)
    ]
    here = subscript(state.row)
    value = short(float(state.projected[0][state.row, place]))
    one = label(
        "qkv_all_of_x",
        symbol=f"q{here}[{state.drawn[place]}]",
        terms=" + ".join(terms),
        value=value,
        d_model=d_model,
    )
    every = label("qkv_size", d_model=d_model, d_k=d_k, n_head=state.n_head)
    return width, columns, one, every


def summarise(state: QkvState) -> str:
    """Say in one sentence what is on show."""
    if state.tokens is not None:
        q, k, v = (_vector(array[state.row]) for array in state.projected)
        token = label("place_of_token", place=state.row, token=state.tokens[state.row])
        x = _vector(state.X[state.row])
        return label("qkv_summary", token=token, x=x, q=q, k=k, v=v)
    return label(
        "qkv_summary_random",
        d_model=state.d_model,
        n_head=state.n_head,
        d_k=state.d_k,
        head=state.head,
        first=state.head * state.d_k,
        last=(state.head + 1) * state.d_k - 1,
    )
