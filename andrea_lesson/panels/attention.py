"""The whole of attention in one picture: scores, scaled, masked, weights, output."""

import math
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from ..drawing import draw_attention_steps
from ..experiments import FloatArray, effective_keys
from ..figure_style import LABEL
from ..labels import label
from ..masks import BoolArray
from ..scaled_dot_product import AttentionSteps, attention_steps
from ..six_tokens import running_example
from .base import Panel
from .controls import checkbox, dropdown, follow, slider
from .settings import RANDOM, SEEDS, SOURCES, build_mask, choice
from .source import LONGEST, WIDEST, caption, limit_to_source, starting_source, vectors
from .view import AxesByName, PictureView, place

MASKS = ("full", "causal", "sliding-window", "prefix")
STEPS = ("scores", "scaled_scores", "masked_scores", "weights", "output")
_SIDE, _LEFT, _GAP, _TOP = 153, 90, 14, 108  # pixels


@dataclass(frozen=True, eq=False)
class AttentionState:
    """What the attention panel shows; `steps` is what `attention_steps` makes of Q, K, V."""

    source: str
    seed: int
    T: int
    d_k: int
    mask_kind: str
    scaled: bool
    same_colours: bool
    scale: float
    tokens: list[str] | None
    Q: FloatArray
    K: FloatArray
    V: FloatArray
    mask: BoolArray
    steps: AttentionSteps


def compute(
    *,
    source: str = RANDOM,
    T: int = 16,
    d_k: int = 64,
    mask: str = "causal",
    window: int = 4,
    prefix: int = 4,
    scaled: bool = True,
    same_colours: bool = False,
    seed: int = 0,
) -> AttentionState:
    """Attention over random vectors or over the running example, step by step.

    Parameters
    ----------
    source, T, d_k, seed
        As in :func:`andrea_lesson.panels.source.vectors`.
    mask : {"full", "causal", "sliding-window", "prefix"}
    window, prefix : int
        Of the mask that has them.
    scaled : bool
        Divide the scores by √d_k.
    same_colours : bool
        One colour scale for scores, scaled and masked scores; changes no number.

    Returns
    -------
    AttentionState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    Q, K, V, tokens = vectors(source, T, d_k, seed)
    choice("mask", mask, MASKS)
    allowed = build_mask(mask, T, window=window, prefix=prefix)
    scale = 1 / math.sqrt(d_k) if scaled else 1.0
    return AttentionState(
        source=source,
        seed=seed,
        T=T,
        d_k=d_k,
        mask_kind=mask,
        scaled=scaled,
        same_colours=same_colours,
        scale=scale,
        tokens=tokens,
        Q=Q,
        K=K,
        V=V,
        mask=allowed,
        steps=attention_steps(Q, K, V, mask=allowed, scale=scale),
    )


def attention_panel(source: str = "random") -> Panel:
    """Scores, scaled scores, masked scores, weights and output, following the controls.

    Parameters
    ----------
    source : {"random", "example"}
        Vectors to start with: random ones, or the running example.

    Returns
    -------
    Panel
        Controls `source`, `T`, `d_k`, `mask`, `window`, `prefix`, `scaled`,
        `same_colours`, `seed`.
    """
    start = starting_source(source)

    def prepare(controls: dict[str, Any]) -> None:
        limit_to_source(controls)
        follow(controls["prefix"], controls["T"])
        controls["window"].disabled = controls["mask"].value != "sliding-window"
        controls["prefix"].disabled = controls["mask"].value != "prefix"

    controls = {
        "source": dropdown("source", start, [(label(f"source_{s}"), s) for s in SOURCES]),
        "T": slider("T", 16, 1, LONGEST),
        "d_k": slider("d_k", 64, 1, WIDEST),
        "mask": dropdown("mask", "causal", [(label(f"kind_{kind}"), kind) for kind in MASKS]),
        "window": slider("window", 4, 1, LONGEST),
        "prefix": slider("prefix", 4, 0, LONGEST),
        "scaled": checkbox("scaled", True),
        "same_colours": checkbox("same_colours", False),
        "seed": slider("seed", 0, *SEEDS),
    }
    return Panel(controls, compute, PictureView(348, _arrange, _draw), _summary, prepare=prepare)


def _arrange(figure: Figure) -> AxesByName:
    return {
        name: place(figure, _LEFT + i * (_SIDE + _GAP), _TOP, _SIDE, _SIDE)
        for i, name in enumerate(STEPS)
    }


def _draw(axes: AxesByName, state: AttentionState) -> str:
    draw_attention_steps(
        list(axes.values()), state.steps, tokens=state.tokens, same_colours=state.same_colours
    )
    for ax in axes.values():
        ax.title.set_fontsize(LABEL + 1)
    if state.tokens is not None:
        names = running_example().value_axes
        axes["output"].set_xticks(range(len(names)), names)
    return caption(state.source, state.seed)


def _summary(state: AttentionState) -> str:
    scores, scaled = state.steps.scores, state.steps.scaled_scores
    last = state.steps.weights[-1]
    return label(
        "attention_summary",
        source=label(f"source_{state.source}"),
        T=state.T,
        d_k=state.d_k,
        mask=label(f"kind_{state.mask_kind}"),
        scale=f"{state.scale:.3g}",
        scores=f"{scores.std():.2f}",
        scaled=f"{scaled.std():.2f}",
        keys=f"{effective_keys(last):.2f}",
        visible=int(state.mask[-1].sum()),
        largest=f"{last.max():.3f}",
        position=int(last.argmax()),
    )
