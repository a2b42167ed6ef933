"""Kinds of masks, and what the number that stands for "hidden" does to the weights."""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from ..drawing import draw_mask, draw_scores, draw_weights
from ..experiments import FloatArray, fill_mask, largest_leak, random_qkv
from ..figure_style import COMPARED, LABEL
from ..heatmap import heatmap_on, level_titles
from ..labels import label
from ..masks import BoolArray
from ..plot_inputs import round_up
from ..scaled_dot_product import attention_steps
from .base import Panel
from .controls import dropdown, follow, slider
from .row_bars import RowBars
from .settings import MASKS, SEEDS, build_mask, choice, short, whole
from .view import AxesByName, PictureView, place

LONGEST, WIDTH = 32, 64  # T; d_k of the random vectors
VALUES = (-np.inf, -1e9, -1e4, 0.0)
VALUE_NAMES = ("−∞", "−1e9", "−1e4", "0")
PRECISIONS = ("float16", "float32", "float64")
SPREADS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
PARAMETERS = {
    "sliding-window": "window",
    "prefix": "prefix",
    "padding": "length",
    "documents": "boundary",
}
PICTURES = ("mask", "scores", "masked_scores", "weights")


@dataclass(frozen=True, eq=False)
class MaskState:
    """What the mask panel shows; all arrays have a row for each query, True = may attend.

    `leak` is the largest weight on a hidden key and `leaking` where such weights lie; `empty`
    marks rows with no key to see, `broken` rows that came out as NaN.
    """

    mask_kind: str
    T: int
    value: float
    precision: str
    spread: float
    seed: int
    mask: BoolArray
    scores: FloatArray
    masked_scores: FloatArray
    weights: FloatArray
    row_sums: FloatArray
    leak: float
    leaking: BoolArray
    empty: BoolArray
    broken: BoolArray


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
    seed: int = 6,
) -> MaskState:
    """Weights when hidden scores are replaced by a number, in a given precision.

    Parameters
    ----------
    mask : str
        A kind of :data:`andrea_lesson.panels.settings.MASKS`.
    T : int
        Positions, 1…32.
    window, prefix, length, boundary : int
        Of the kind that has them; see :func:`andrea_lesson.panels.settings.build_mask`.
    value : {-inf, -1e9, -1e4, 0}
        What stands in for a hidden score.
    precision : {"float16", "float32", "float64"}
        Of every step from the scores on.
    spread : {1, 10, 100, 1000, 10000}
        Standard deviation of the scores, nearly.
    seed : int

    Returns
    -------
    MaskState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    T = whole("T", T, 1, LONGEST)
    for name, given, offered in (
        ("value", value, VALUES),
        ("precision", precision, PRECISIONS),
        ("spread", spread, SPREADS),
    ):
        choice(name, given, offered)
    allowed = build_mask(mask, T, window=window, prefix=prefix, length=length, boundary=boundary)
    Q, K, V = random_qkv(T, WIDTH, seed=whole("seed", seed, *SEEDS))
    scores = attention_steps(Q, K, V).scaled_scores * spread
    weights = fill_mask(scores, allowed, value, precision)
    with np.errstate(over="ignore"):
        rounded = scores.astype(precision).astype(float)
    leaking = ~allowed & (weights > 0)
    return MaskState(
        mask_kind=mask,
        T=T,
        value=value,
        precision=precision,
        spread=spread,
        seed=seed,
        mask=allowed,
        scores=scores,
        masked_scores=np.where(allowed, rounded, value),
        weights=weights,
        row_sums=weights.sum(axis=-1),
        leak=largest_leak(np.nan_to_num(weights), allowed),
        leaking=leaking,
        empty=np.asarray(~allowed.any(axis=-1)),
        broken=np.asarray(np.isnan(weights).any(axis=-1)),
    )


def mask_panel() -> Panel:
    """A mask, scores before and after it, weights with their row sums, following the controls.

    Returns
    -------
    Panel
        Controls `mask`, `T`, `window`, `prefix`, `length`, `boundary`, `value`, `precision`,
        `spread`, `seed`; `.warning` names the leak when there is one.
    """

    def prepare(controls: dict[str, Any]) -> None:
        for kind, name in PARAMETERS.items():
            controls[name].disabled = controls["mask"].value != kind
        for name in ("prefix", "length", "boundary"):
            follow(controls[name], controls["T"])

    controls = {
        "mask": dropdown("mask", "causal", [(label(f"kind_{kind}"), kind) for kind in MASKS]),
        "T": slider("T", 8, 1, LONGEST),
        "value": dropdown("value", VALUES[0], list(zip(VALUE_NAMES, VALUES, strict=True))),
        "window": slider("window", 3, 1, LONGEST),
        "prefix": slider("prefix", 3, 0, LONGEST),
        "precision": dropdown("precision", "float64", [(name, name) for name in PRECISIONS]),
        "length": slider("length", 5, 0, LONGEST),
        "boundary": slider("boundary", 4, 0, LONGEST),
        "spread": dropdown("spread", 1.0, [(f"{spread:,.0f}", spread) for spread in SPREADS]),
        "seed": slider("seed", 6, *SEEDS),
    }
    picture = _Picture()
    view = PictureView(336, picture.arrange, picture.draw)
    return Panel(controls, compute, view, _summary, warn=_warning, prepare=prepare)


class _Picture:
    """Four heatmaps and the row sums, a query at the same height in all of them."""

    def arrange(self, figure: Figure) -> AxesByName:
        """Make the axes, and the frames that will go round leaking cells."""
        axes = {name: place(figure, 92 + 189 * i, 88, 176, 176) for i, name in enumerate(PICTURES)}
        axes["row_sums"] = place(figure, 92 + 189 * 4, 88, 40, 176)
        self.sums = RowBars(axes["row_sums"])
        self.frames: LineCollection | None = None
        return axes

    def draw(self, axes: AxesByName, state: MaskState) -> str:
        """Move everything to where the state has it."""
        draw_mask(axes["mask"], state.mask, title=label("panel_mask_title"), square=True)
        # One limit before and after the mask: a score that stays keeps its colour.
        limit = round_up(float(np.abs(state.scores).max()))
        title = label("panel_before_title")
        draw_scores(axes["scores"], state.scores, title=title, limit=limit, square=True)
        value = VALUE_NAMES[VALUES.index(state.value)]
        draw_scores(
            axes["masked_scores"],
            state.masked_scores,
            mask=state.mask,
            title=label("panel_after_title", value=value),
            limit=limit,
            square=True,
            hidden_words=label("panel_hidden_value", value=value),
        )
        # A hidden key that gets a weight all the same must not be hatched away.
        shown = state.mask | state.leaking | state.broken[:, None]
        title = label("panel_weights_title", precision=state.precision)
        draw_weights(axes["weights"], state.weights, mask=shown, title=title, square=True)
        heatmaps = [axes[name] for name in PICTURES]
        level_titles(heatmaps)
        if (legend := axes["mask"].get_legend()) is not None:
            legend.set_visible(False)  # too wide for here; the title says it
        for ax in heatmaps[1:]:
            ax.tick_params(axis="y", labelleft=False)
            ax.set_ylabel("")
        self._frame_leaks(axes["weights"], state.leaking)
        self.sums.show(
            state.row_sums.astype(float),
            low=0.0,
            high=1.0,
            title=label("panel_sums_title"),
            above=max(heatmap_on(ax).above for ax in heatmaps) + LABEL + 6,
        )
        words = label("caption_random_scores", seed=state.seed)
        return words + label("caption_leaks") if state.leaking.any() else words

    def _frame_leaks(self, ax: Axes, cells: BoolArray) -> None:
        if self.frames is None:
            self.frames = LineCollection([], colors=COMPARED, linewidths=1.8, zorder=3)
            ax.add_collection(self.frames, autolim=False)
        self.frames.set_segments(_border(cells))


def _border(cells: BoolArray) -> list[Any]:
    """Edges at which marked cells meet others."""
    padded = np.pad(cells, 1)
    rows, lefts = np.nonzero(padded[1:-1, 1:] != padded[1:-1, :-1])
    tops, columns = np.nonzero(padded[1:, 1:-1] != padded[:-1, 1:-1])
    upright = [[(j - 0.5, i - 0.5), (j - 0.5, i + 0.5)] for i, j in zip(rows, lefts, strict=True)]
    level = [[(j - 0.5, i - 0.5), (j + 0.5, i - 0.5)] for i, j in zip(tops, columns, strict=True)]
    return upright + level


def _warning(state: MaskState) -> str | None:
    """Name what goes wrong: NaN, weights on hidden keys, rows that see nothing and look even."""
    said = []
    value = VALUE_NAMES[VALUES.index(state.value)]
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
    return ", ".join(numbers if len(numbers) <= 4 else [*numbers[:3], "…", numbers[-1]])


def _range(low: str, high: str) -> str:
    return low if low == high else label("mask_range", low=low, high=high)


def _summary(state: MaskState) -> str:
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
        value=VALUE_NAMES[VALUES.index(state.value)],
        precision=state.precision,
        keys=_range(str(visible.min()), str(visible.max())),
        spread=f"{state.spread:,.0f}",
        measured=short(float(state.scores.std())),
        results=label("mask_and").join(results),
    )
