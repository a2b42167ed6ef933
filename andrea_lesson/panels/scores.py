"""The score matrix, and one cell of it taken apart: q ⊙ k, their sum, the scaled value."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..colours import limit_of
from ..experiments import FloatArray
from ..labels import label
from ..plot_inputs import round_up
from ..six_tokens import running_example
from .base import Panel
from .controls import dropdown, follow, slider
from .layout import too_long
from .picture import Axis, Bars, Matrix, Part, Picture
from .settings import RANDOM, SEEDS, SOURCES, factor, short, subscript, whole
from .source import LONGEST, WIDEST, caption, limit_to_source, starting_source, vectors

MOST_TERMS = 4  # of a dot product that are written out one by one
_SIDE, _WIDE, _ROW, _BARS = 240.0, 380.0, 26.0, 72.0  # pixels


@dataclass(frozen=True, eq=False)
class ScoresState:
    """What the scores panel shows: all scores, and those of the cell (`row`, `column`) apart.

    `products` is q ⊙ k, `running` its running sum, which ends at `score`; the largest of them
    anywhere in the row, `most_product` and `most_running`, hold the bars to one measure.
    """

    source: str
    seed: int
    T: int
    d_k: int
    row: int
    column: int
    tokens: list[str] | None
    Q: FloatArray
    K: FloatArray
    scores: FloatArray
    scaled_scores: FloatArray
    products: FloatArray
    running: FloatArray
    most_product: float
    most_running: float
    any_negative: bool
    score: float
    scaled_score: float


def compute(
    *,
    source: str = RANDOM,
    T: int = 8,
    d_k: int = 64,
    row: int = 5,
    column: int = 2,
    seed: int = 0,
) -> ScoresState:
    """Scores of all queries and keys, and the dot product of one pair step by step.

    Parameters
    ----------
    source, T, d_k, seed
        As in :func:`andrea_lesson.panels.source.vectors`.
    row, column : int
        The query and the key of the cell that is taken apart, 0…T-1.

    Returns
    -------
    ScoresState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    Q, K, _, tokens = vectors(source, T, d_k, seed)
    whole("row", row, 0, T - 1)
    whole("column", column, 0, T - 1)
    scores = Q @ K.T  # (T, d_k) @ (d_k, T) = (T, T)
    scaled_scores = scores / math.sqrt(d_k)
    products = Q[row] * K  # (d_k,) * (T, d_k) = (T, d_k): of all cells of the row
    running = np.cumsum(products, axis=-1)  # (T, d_k)
    return ScoresState(
        source=source,
        seed=seed,
        T=T,
        d_k=d_k,
        row=row,
        column=column,
        tokens=tokens,
        Q=Q,
        K=K,
        scores=scores,
        scaled_scores=scaled_scores,
        products=products[column],
        running=running[column],
        most_product=float(np.abs(products).max()),
        most_running=float(np.abs(running).max()),
        any_negative=bool((products < 0).any()),
        score=float(scores[row, column]),
        scaled_score=float(scaled_scores[row, column]),
    )


def scores_panel(
    source: str = "random",
    *,
    T: int = 8,
    d_k: int = 64,
    row: int = 5,
    column: int = 2,
    seed: int = 0,
    view: str = "live",
    large: bool = False,
) -> Panel:
    """The score matrix, and the chosen cell taken apart, following the controls.

    Parameters
    ----------
    source : {"random", "example"}
        Vectors to start with: random ones, or the running example.
    T, d_k, row, column, seed : int
        Where the sliders start; T and d_k are those of random vectors.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `source`, `T`, `d_k`, `row`, `column`, `seed`.
    """
    start = starting_source(source)
    whole("T", T, 1, LONGEST)
    whole("d_k", d_k, 1, WIDEST)
    for name, place in (("row", row), ("column", column)):
        whole(name, place, 0, T - 1)
    whole("seed", seed, *SEEDS)

    def prepare(controls: dict[str, Any]) -> None:
        limit_to_source(controls)
        for name in ("row", "column"):
            follow(controls[name], controls["T"], less=1)
            controls[name].disabled = controls["T"].value == 1

    controls = {
        "source": dropdown("source", start, [(label(f"source_{s}"), s) for s in SOURCES]),
        "T": slider("T", T, 1, LONGEST),
        "d_k": slider("d_k", d_k, 1, WIDEST),
        "row": slider("row", row, 0, LONGEST - 1),
        "column": slider("column", column, 0, LONGEST - 1),
        "seed": slider("seed", seed, *SEEDS),
    }
    return Panel(
        controls,
        compute,
        _describe,
        _summary,
        view=view,
        large=large,
        prepare=prepare,
        selects={"query": "row", "key": "column"},
        play="column",
    )


# -- the picture ---------------------------------------------------------------------------------


def _describe(state: ScoresState) -> Picture:
    tokens = None if state.tokens is None else tuple(state.tokens)
    example = running_example()
    components = None if tokens is None else tuple(example.key_axes)
    slanted = tokens is not None and too_long(example.tokens, _SIDE / len(example.tokens))
    pair = (f"q{subscript(state.row)}", f"k{subscript(state.column)}")
    return Picture(
        lines=(_parts(state, pair),),
        axes={
            "query": Axis(label("query"), label("rows_queries"), tokens),
            "key": Axis(label("key"), label("columns_keys"), tokens, slanted=slanted),
            "pair": Axis("", "", pair),
            "component": Axis(label("scores_component"), "", components),
        },
        caption=caption(state.source, state.seed),
        formulas=_formulas(state, pair),
        selected={"query": state.row, "key": state.column},
    )


def _parts(state: ScoresState, pair: tuple[str, str]) -> tuple[Part, ...]:
    """The matrix; beside it the vectors of the cell, their products and the running sum."""
    q, k = pair
    low = -1.0 if state.any_negative else 0.0
    product, running = round_up(state.most_product), round_up(state.most_running)
    bars: dict[str, Any] = {"along": "component", "upright": True, "under": "pair"}
    bars |= {"width": _WIDE, "height": _BARS, "show_names": True}
    return (
        Matrix(
            "scores",
            state.scores,
            label("scores_formula"),
            limit=limit_of(state.scores, None),
            reading=label("reading_score"),
            width=_SIDE,
            height=_SIDE,
        ),
        Matrix(
            "pair",
            np.stack([state.Q[state.row], state.K[state.column]]),  # (2, d_k)
            label("scores_pair", q=q, k=k, d_k=state.d_k),
            rows="pair",
            columns="component",
            limit=max(limit_of(state.Q, None), limit_of(state.K, None)),
            bar=False,
            width=_WIDE,
            height=2 * _ROW,
        ),
        Bars(
            "products",
            state.products,
            low * product,
            product,
            label("scores_products", q=q, k=k),
            reading="q × k",
            **bars,
        ),
        Bars(
            "running",
            state.running,
            low * running,
            running,
            label(
                "scores_running",
                score=short(state.score),
                d_k=state.d_k,
                scaled=short(state.scaled_score),
            ),
            reading=label("scores_so_far"),
            **bars,
        ),
    )


def _formulas(state: ScoresState, pair: tuple[str, str]) -> tuple[str, ...]:
    """The score as the sum that it is, and what the division makes of it."""
    few = slice(None if state.d_k <= MOST_TERMS else MOST_TERMS - 1)
    q, k = state.Q[state.row, few], state.K[state.column, few]
    terms = [f"{factor(a)} × {factor(b)}" for a, b in zip(q, k, strict=True)]
    if state.d_k > MOST_TERMS:
        terms.append("…")
    dot = f"{pair[0]} · {pair[1]} = {' + '.join(terms)} = {short(state.score)}"
    if state.d_k > MOST_TERMS:
        dot += label("scores_terms", count=state.d_k)
    scaled = label(
        "scores_scaled",
        score=short(state.score),
        d_k=state.d_k,
        root=short(math.sqrt(state.d_k)),
        scaled=short(state.scaled_score),
    )
    return dot, scaled


def _summary(state: ScoresState) -> str:
    most = int(np.abs(state.products).argmax())
    names = running_example().key_axes if state.tokens is not None else range(state.d_k)
    query, key = (
        str(place)
        if state.tokens is None
        else label("place_of_token", place=place, token=state.tokens[place])
        for place in (state.row, state.column)
    )
    return label(
        "scores_summary",
        source=label(f"source_{state.source}"),
        T=state.T,
        d_k=state.d_k,
        query=query,
        key=key,
        score=short(state.score),
        root=short(math.sqrt(state.d_k)),
        scaled=short(state.scaled_score),
        component=names[most],
        product=short(float(state.products[most])),
    )
