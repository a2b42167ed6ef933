"""What the loss tells each score: the weights, and beside them the gradient that reaches them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backward import attention_backward_steps
from ..experiments import FloatArray
from ..labels import label
from ..masks import BoolArray, causal_mask
from ..six_tokens import running_example
from .base import Panel
from .controls import checkbox, dropdown, follow, slider
from .layout import too_long
from .picture import Axis, Bars, Matrix, Part, Picture
from .settings import RANDOM, SEEDS, SOURCES, choice, factor, short, whole
from .source import LONGEST, WIDEST, caption, limit_to_source, starting_source, vectors

MOST = 0.25  # p (1 - p) has its largest value at p = 1/2
_SIDE = 260.0  # pixels


@dataclass(frozen=True, eq=False)
class GradientState:
    """What the gradient panel shows, for the loss -Σ weights[i, target] over all queries i.

    `pull` is how hard the loss pulls at the score of the target, by query: p (1 - p), and 0 where
    the mask hides the target.  Of the `seeing` queries that see it, `pulled` have a pull above
    0.1/T.
    """

    source: str
    seed: int
    T: int
    d_k: int
    scaled: bool
    row: int
    target: int
    tokens: list[str] | None
    scale: float
    allowed: BoolArray
    weights: FloatArray
    dscaled_scores: FloatArray
    dscores: FloatArray
    pull: FloatArray
    seeing: int
    pulled: int


def compute(
    *,
    source: str = RANDOM,
    T: int = 16,
    d_k: int = 64,
    scaled: bool = True,
    row: int = 15,
    target: int = 4,
    seed: int = 0,
) -> GradientState:
    """Causal attention, and the gradient of a loss that wants more weight on one key.

    Parameters
    ----------
    source, T, d_k, seed
        As in :func:`andrea_lesson.panels.source.vectors`.
    scaled : bool
        Divide the scores by √d_k.
    row : int
        The query whose numbers are written out, 0…T-1.
    target : int
        The key on which the loss wants more weight, 0…T-1.

    Returns
    -------
    GradientState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    Q, K, _, tokens = vectors(source, T, d_k, seed)
    choice("scaled", scaled, (False, True))
    whole("row", row, 0, T - 1)
    whole("target", target, 0, T - 1)
    scale = 1 / math.sqrt(d_k) if scaled else 1.0
    # With the identity for V the output is the weights, and dO the gradient that comes to them.
    dO = np.zeros((T, T))
    dO[:, target] = -1.0
    steps = attention_backward_steps(Q, K, np.eye(T), dO, mask="causal", scale=scale)
    pull = np.abs(steps.dscaled_scores[:, target])  # (T,)
    seeing = T - target
    return GradientState(
        source=source,
        seed=seed,
        T=T,
        d_k=d_k,
        scaled=bool(scaled),
        row=row,
        target=target,
        tokens=tokens,
        scale=scale,
        allowed=causal_mask(T),
        weights=steps.weights,
        dscaled_scores=steps.dscaled_scores,
        dscores=steps.dscores,
        pull=pull,
        seeing=seeing,
        pulled=int((pull > 0.1 / T).sum()),
    )


def gradient_panel(
    source: str = "random",
    *,
    T: int = 16,
    d_k: int = 64,
    scaled: bool = True,
    row: int = 15,
    target: int = 4,
    seed: int = 0,
    view: str = "live",
    large: bool = False,
) -> Panel:
    """The weights and the gradient of the scores, following the controls.

    Parameters
    ----------
    source : {"random", "example"}
        Vectors to start with: random ones, or the running example.
    T, d_k, row, target, seed : int
        Where the sliders start; T and d_k are those of random vectors.
    scaled : bool
        Whether the scores are divided by √d_k at the start.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `source`, `T`, `d_k`, `scaled`, `row`, `target`, `seed`.
    """
    start = starting_source(source)
    whole("T", T, 1, LONGEST)
    whole("d_k", d_k, 1, WIDEST)
    choice("scaled", scaled, (False, True))
    for name, place in (("row", row), ("target", target)):
        whole(name, place, 0, T - 1)
    whole("seed", seed, *SEEDS)

    def prepare(controls: dict[str, Any]) -> None:
        limit_to_source(controls)
        for name in ("row", "target"):
            follow(controls[name], controls["T"], less=1, at_end=name == "row")
            controls[name].disabled = controls["T"].value == 1

    controls = {
        "source": dropdown("source", start, [(label(f"source_{s}"), s) for s in SOURCES]),
        "T": slider("T", T, 1, LONGEST),
        "d_k": slider("d_k", d_k, 1, WIDEST),
        "scaled": checkbox("scaled", scaled),
        "row": slider("row", row, 0, LONGEST - 1),
        "target": slider("target", target, 0, LONGEST - 1),
        "seed": slider("seed", seed, *SEEDS),
    }
    controls["row"].touched = row != T - 1  # the last query stays the last, whatever T is
    return Panel(
        controls,
        compute,
        _describe,
        _summary,
        view=view,
        large=large,
        prepare=prepare,
        selects={"query": "row", "key": "target"},
    )


# -- the picture ---------------------------------------------------------------------------------


def _describe(state: GradientState) -> Picture:
    tokens = None if state.tokens is None else tuple(state.tokens)
    all_tokens = running_example().tokens  # of fewer than these, the picture keeps its place
    slanted = tokens is not None and too_long(all_tokens, _SIDE / len(all_tokens))
    return Picture(
        lines=(_parts(state),),
        axes={
            "query": Axis(label("query"), label("rows_queries"), tokens),
            "key": Axis(label("key"), label("columns_keys"), tokens, slanted=slanted),
        },
        caption=caption(state.source, state.seed),
        formulas=_formulas(state),
        selected={"query": state.row, "key": state.target},
    )


def _parts(state: GradientState) -> tuple[Part, ...]:
    """What each query gives to each key, what its scores are told, and how loud that is."""
    sides: dict[str, Any] = {"hidden": ~state.allowed, "width": _SIDE, "height": _SIDE}
    return (
        Matrix(
            "weights",
            state.weights,
            label("gradient_weights", target=state.target),
            colours="weights",
            reading=label("reading_weight"),
            **sides,
        ),
        Matrix(
            "dscaled_scores",
            state.dscaled_scores,
            label("gradient_matrix"),
            limit=MOST,
            reading=label("gradient_reading"),
            hidden_words="",
            show_rows=False,
            **sides,
        ),
        Bars(
            "pull",
            state.pull,
            0.0,
            MOST,
            label("gradient_pull"),
            hidden=~state.allowed[:, state.target],
            hidden_words=label("gradient_unseen"),
            reading="p (1 − p)",
            height=_SIDE,
        ),
    )


def _formulas(state: GradientState) -> tuple[str, ...]:
    """The gradient of the chosen score as a product, and what the scale makes of it."""
    i, j = state.row, state.target
    gradient = state.dscaled_scores[i, j]
    if not state.allowed[i, j]:
        first = label("gradient_hidden", row=i, target=j)
    else:
        p = short(state.weights[i, j])
        first = label("gradient_of_target", row=i, target=j, p=p, gradient=short(gradient))
    name = "gradient_scaled" if state.scaled else "gradient_raw"
    second = label(
        name,
        gradient=factor(gradient),
        d_k=state.d_k,
        root=short(math.sqrt(state.d_k)),
        dscore=short(state.dscores[i, j]),
    )
    return first, second


def _summary(state: GradientState) -> str:
    return label(
        "gradient_summary",
        source=label(f"source_{state.source}"),
        T=state.T,
        d_k=state.d_k,
        scaling=label("gradient_with" if state.scaled else "gradient_without"),
        target=state.target,
        seeing=state.seeing,
        pulled=state.pulled,
        idle=state.seeing - state.pulled,
        limit=short(0.1 / state.T),
    )
