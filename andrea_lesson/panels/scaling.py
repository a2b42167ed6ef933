"""What d_k does to scores, to a row of weights, and to the number of keys it spreads over."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from .. import experiments
from ..experiments import COMPONENTS, DIVISORS, FloatArray, effective_keys
from ..figure_parts import level_lines, rectangles
from ..figure_style import COMPARED, LABEL, MEASURED, THEORY
from ..labels import label
from ..plot_inputs import round_up
from ..scaled_dot_product import softmax
from .base import Panel
from .controls import dropdown, slider, stepped_slider
from .settings import SEEDS, choice, short, whole
from .view import AxesByName, PictureView, place

MOST_BARS = 16  # weights of the row that are drawn, the largest ones
PAIRS = 500  # dot products behind a standard deviation: a new seed is drawn in half a second


def _log_spaced(low: int, high: int, per_octave: int) -> tuple[int, ...]:
    """Whole numbers that lie evenly on a logarithmic slider, powers of 2 among them."""
    steps = range(round(np.log2(low) * per_octave), round(np.log2(high) * per_octave) + 1)
    return tuple(sorted({round(2 ** (step / per_octave)) for step in steps}))


WIDTHS = _log_spaced(1, experiments.WIDEST, 8)
LENGTHS = _log_spaced(2, experiments.LONGEST, 4)


@dataclass(frozen=True, eq=False)
class ScalingState:
    """What the scaling panel shows; all scores are those after the division.

    `widths`, `std`, `predicted_std` and `keys` go over d_k, and `place` is where this d_k is
    among them.  `scores` is a sample at this d_k, `row` the scores of one query with T keys,
    with its `weights` and `effective_keys`; `keys` are medians over 16 such rows.
    """

    d_k: int
    T: int
    divisor: str
    divisor_value: float
    components: str
    seed: int
    widths: tuple[int, ...]
    place: int
    std: FloatArray
    predicted_std: FloatArray
    scores: FloatArray
    row: FloatArray
    weights: FloatArray
    effective_keys: float
    keys: FloatArray


def compute(
    *,
    d_k: int = 64,
    T: int = 128,
    divisor: str = "none",
    components: str = "unit-variance",
    seed: int = 0,
) -> ScalingState:
    """Random dot products of width d_k, and what softmax makes of a row of T of them.

    Parameters
    ----------
    d_k : int
        1…4096.
    T : int
        Keys in the row, 2…1024.
    divisor : {"none", "sqrt_d_k", "d_k"}
        What the scores are divided by.
    components : {"unit-variance", "unit-vectors"}
        As in :func:`andrea_lesson.experiments.score_spreads`.
    seed : int

    Returns
    -------
    ScalingState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    d_k, T = whole("d_k", d_k, WIDTHS[0], WIDTHS[-1]), whole("T", T, LENGTHS[0], LENGTHS[-1])
    choice("divisor", divisor, DIVISORS)
    choice("components", components, COMPONENTS)
    seed = whole("seed", seed, *SEEDS)
    widths = tuple(sorted({*WIDTHS, d_k}))
    spreads = experiments.score_spreads(widths, components=components, pairs=PAIRS, seed=seed)
    divisors = _divisors(widths, divisor)
    here = widths.index(d_k)
    row = _row(d_k, T, divisor, components, seed)
    weights = softmax(row)
    return ScalingState(
        d_k=d_k,
        T=T,
        divisor=divisor,
        divisor_value=float(divisors[here]),
        components=components,
        seed=seed,
        widths=widths,
        place=here,
        std=spreads.std / divisors,
        predicted_std=spreads.predicted_std / divisors,
        scores=spreads.scores[here] / divisors[here],
        row=row,
        weights=weights,
        effective_keys=float(effective_keys(weights)),
        keys=_keys(widths, T, divisor, components, seed),
    )


def _divisors(widths: tuple[int, ...], divisor: str) -> FloatArray:
    return np.array([experiments.divisor_value(divisor, width) for width in widths])


def _row(d_k: int, T: int, divisor: str, components: str, seed: int) -> FloatArray:
    raw = experiments.random_row(d_k, T, components=components, seed=seed)
    return raw / experiments.divisor_value(divisor, d_k)


@lru_cache(maxsize=8)
def _keys(widths: tuple[int, ...], T: int, divisor: str, components: str, seed: int) -> FloatArray:
    """Median effective keys at each width, over rows of which one is that in the panel."""
    raw = experiments.row_scores(widths, components=components, seed=seed)[..., :T]
    weights = softmax(raw / _divisors(widths, divisor)[:, None, None])  # (widths, rows, T)
    keys: FloatArray = np.median(effective_keys(weights), axis=-1)  # (widths,)
    keys.setflags(write=False)
    return keys


def scaling_panel() -> Panel:
    """Spread of scores, a row of weights and effective keys, following d_k and T.

    Returns
    -------
    Panel
        Controls `d_k`, `T`, `divisor`, `components`, `seed`.
    """
    controls = {
        "d_k": stepped_slider("d_k", 64, [(f"{width:,}", width) for width in WIDTHS]),
        "T": stepped_slider("T", 128, [(f"{length:,}", length) for length in LENGTHS]),
        "divisor": dropdown("divisor", "none", [(label(f"divisor_{d}"), d) for d in DIVISORS]),
        "components": dropdown(
            "components", COMPONENTS[0], [(label(f"components_{c}"), c) for c in COMPONENTS]
        ),
        "seed": slider("seed", 0, *SEEDS),
    }
    charts = _Charts()
    return Panel(controls, compute, PictureView(320, charts.arrange, charts.draw), _summary)


class _Charts:
    """Four charts whose curves are kept and moved: standard deviation, scores, row, keys."""

    def arrange(self, figure: Figure) -> AxesByName:
        """Make the axes and everything in them that does not depend on the state."""
        names = ("std", "scores", "row", "keys")
        axes = {name: place(figure, 50 + 230 * i, 48, 176, 170) for i, name in enumerate(names)}
        for ax in axes.values():
            ax.spines[["top", "right"]].set_visible(False)
            ax.tick_params(length=0)
        for name in ("std", "keys"):
            axes[name].set_xscale("log", base=2)
            axes[name].set_yscale("log")
            axes[name].minorticks_off()
            axes[name].grid(axis="y")
            axes[name].set_xlim(WIDTHS[0] / 1.5, WIDTHS[-1] * 1.5)
            _ticks(axes[name], "x", [1, 16, 256, 4096])
            axes[name].set_xlabel("d_k")
        (self.std,) = axes["std"].plot([], [], color=MEASURED, label=label("panel_measured"))
        (self.theory,) = axes["std"].plot([], [], **_PREDICTED, label=label("panel_predicted"))
        words = label("panel_keys_rows", rows=experiments.ROWS)
        (self.keys,) = axes["keys"].plot([], [], color=MEASURED, label=words)
        self.theories = [
            axes["keys"].plot([], [], dash, color=THEORY, lw=1.6, label=label(words))[0]
            for dash, words in ((":", "panel_keys_scaled"), ("-.", "panel_keys_freeze"))
        ]
        _ticks(axes["keys"], "y", [1, 4, 16, 64, 256, 1024])
        axes["keys"].set_ylim(0.8, experiments.LONGEST * 1.5)
        self.here = {
            name: axes[name].plot([], [], "o", markersize=9, color=COMPARED)[0]
            for name in ("std", "keys")
        }
        filled: dict[str, Any] = {"fill": True, "color": MEASURED, "alpha": 0.75}
        self.bins = axes["scores"].stairs([0], [0, 1], **filled, label=label("panel_measured"))
        (self.normal,) = axes["scores"].plot([], [], **_PREDICTED, label=label("panel_normal"))
        axes["scores"].set_yticks([])
        axes["scores"].spines["left"].set_visible(False)
        axes["scores"].set_xlabel(label("panel_scores_after"))
        self.bars = PathPatch(_NOTHING, color=MEASURED, lw=0, label=label("panel_row_weights"))
        axes["row"].add_patch(self.bars)
        (self.uniform,) = axes["row"].plot([], [], **_PREDICTED, label=label("panel_uniform"))
        axes["row"].set_ylim(0, 1.05)  # fixed: frozen rows stand tall, even ones lie flat
        _ticks(axes["row"], "y", [0.0, 0.5, 1.0])
        for ax in axes.values():
            ax.xaxis.set_label_coords(0.5, -0.12)
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), borderpad=0, ncols=1)
        return axes

    def draw(self, axes: AxesByName, state: ScalingState) -> str:
        """Move everything to where the state has it."""
        self._draw_std(axes["std"], state)
        self._draw_scores(axes["scores"], state)
        self._draw_row(axes["row"], state)
        self._draw_keys(axes["keys"], state)
        return label("caption_random", seed=state.seed)

    def _draw_std(self, ax: Axes, state: ScalingState) -> None:
        self.std.set_data(state.widths, state.std)
        self.theory.set_data(state.widths, state.predicted_std)
        self.here["std"].set_data([state.d_k], [state.std[state.place]])
        low, high = state.predicted_std.min(), state.predicted_std.max()
        ax.set_ylim(min(low, 0.1) / 2, max(high, 10) * 2)
        powers = np.arange(np.ceil(np.log10(min(low, 0.1))), np.log10(max(high, 10)) + 0.1)
        _ticks(ax, "y", [float(f"1e{power:.0f}") for power in powers])
        _title(ax, label("panel_std_title", std=short(float(state.std[state.place]))))

    def _draw_scores(self, ax: Axes, state: ScalingState) -> None:
        std = float(state.predicted_std[state.place])
        limit = round_up(4 * std)
        edges = np.linspace(-limit, limit, 41)
        density, _ = np.histogram(state.scores, edges, density=True)
        self.bins.set_data(density, edges)
        x = np.linspace(-limit, limit, 200)
        curve = np.exp(-0.5 * (x / std) ** 2) / (std * np.sqrt(2 * np.pi))
        self.normal.set_data(x, curve)
        ax.set(xlim=(-limit, limit), ylim=(0, 1.1 * max(density.max(), curve.max())))
        _ticks(ax, "x", [-limit, 0.0, limit])
        _title(ax, label("panel_scores_title", count=len(state.scores), d_k=f"{state.d_k:,}"))

    def _draw_row(self, ax: Axes, state: ScalingState) -> None:
        largest = np.sort(state.weights)[::-1][:MOST_BARS]
        count = len(largest)
        ranks = np.arange(1.0, count + 1)
        self.bars.set_path(rectangles(ranks - 0.4, ranks + 0.4, np.zeros(count), largest))
        self.uniform.set_data([0.4, count + 0.6], [1 / state.T, 1 / state.T])
        ax.set_xlim(0.4, count + 0.6)
        _ticks(ax, "x", [1, count])
        ax.set_xlabel(label("panel_largest_keys", count=count, T=f"{state.T:,}"))
        _title(ax, label("panel_row_title", largest=short(float(state.weights.max()))))

    def _draw_keys(self, ax: Axes, state: ScalingState) -> None:
        self.keys.set_data(state.widths, state.keys)
        scaled, freeze = self.theories  # both are about components of variance 1
        scaled.set_data([WIDTHS[0], WIDTHS[-1]], [state.T / np.sqrt(np.e)] * 2)
        freeze.set_data([2 * np.log(state.T)] * 2, ax.get_ylim())
        for line in self.theories:
            line.set_visible(state.components == "unit-variance")
        median = float(state.keys[state.place])
        self.here["keys"].set_data([state.d_k], [median])
        _title(ax, label("panel_keys_title", keys=short(median), T=f"{state.T:,}"))


_NOTHING = Path(np.zeros((1, 2)))
_PREDICTED: dict[str, Any] = {"color": COMPARED, "linestyle": "--", "linewidth": 1.8}


def _ticks(ax: Axes, which: str, values: list[float] | list[int]) -> None:
    """Set ticks and their words by hand: no tick then depends on what a font lacks."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_ticks(values, [short(value) for value in values])


def _title(ax: Axes, words: str) -> None:
    ax.set_title(words, fontsize=LABEL + 1, y=1.0, pad=10)
    level_lines(ax.title)


def _summary(state: ScalingState) -> str:
    return label(
        "scaling_summary",
        components=label(f"components_{state.components}"),
        d_k=f"{state.d_k:,}",
        divisor=short(state.divisor_value),
        std=short(float(state.std[state.place])),
        predicted=short(float(state.predicted_std[state.place])),
        T=f"{state.T:,}",
        keys=short(state.effective_keys),
        rows=experiments.ROWS,
        median=short(float(state.keys[state.place])),
        largest=short(float(state.weights.max())),
    )
