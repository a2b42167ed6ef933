"""One row of attention, step by step: scores, shifted, exponentials, weights, weighted values."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..drawing import SCORES_MAP, draw_matrix
from ..experiments import FloatArray, SoftmaxInSteps, effective_keys, softmax_in_steps
from ..figure_parts import hidden_look, level_lines
from ..figure_style import LABEL, ink_on
from ..heatmap import heatmap_on
from ..labels import label
from ..masks import BoolArray
from ..plot_inputs import name_of, number, round_up
from ..scaled_dot_product import AttentionSteps, attention_steps
from ..six_tokens import running_example
from .base import Panel
from .controls import checkbox, dropdown, follow, log_slider, slider
from .row_bars import ABOVE, MOST_NUMBERS, RowBars
from .settings import RANDOM, SEEDS, SOURCES, SettingError, build_mask, choice, short, whole
from .source import LONGEST, WIDEST, caption, limit_to_source, starting_source, vectors
from .view import AxesByName, PictureView, place

MASKS = ("full", "causal")
BARS = ("scores", "shifted", "exponentials", "weights")
_LEFT, _TOP, _SIDE, _BAR, _GAP = 100, 64, 176, 98, 58  # pixels


@dataclass(frozen=True, eq=False)
class SoftmaxState:
    """What the softmax panel shows: row `row` of `steps`, taken apart.

    `softmax` holds the row divided by the temperature, shifted, exponentials and weights;
    `weighted_values` has a row for each key, and `output` is their sum.
    """

    source: str
    seed: int
    T: int
    d_k: int
    row: int
    temperature: float
    mask_kind: str
    scale: float
    tokens: list[str] | None
    mask: BoolArray
    steps: AttentionSteps
    softmax: SoftmaxInSteps
    weighted_values: FloatArray
    output: FloatArray


def compute(
    *,
    source: str = RANDOM,
    T: int = 8,
    d_k: int = 64,
    row: int = 7,
    temperature: float = 1.0,
    scaled: bool = True,
    mask: str = "causal",
    seed: int = 0,
) -> SoftmaxState:
    """Softmax of one row of scores in single steps, and the values mixed by its weights.

    Parameters
    ----------
    source, T, d_k, seed
        As in :func:`andrea_lesson.panels.source.vectors`.
    row : int
        The query, 0…T-1.
    temperature : float
        What the row is divided by before softmax, greater than 0.
    scaled : bool
        Divide the scores by √d_k.
    mask : {"full", "causal"}

    Returns
    -------
    SoftmaxState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    Q, K, V, tokens = vectors(source, T, d_k, seed)
    choice("mask", mask, MASKS)
    row = whole("row", row, 0, T - 1)
    refused = SettingError(
        label("bad_temperature", name=label("control_temperature"), value=temperature)
    )
    if not (math.isfinite(temperature) and temperature > 0):
        raise refused
    allowed = build_mask(mask, T)
    scale = 1 / math.sqrt(d_k) if scaled else 1.0
    steps = attention_steps(Q, K, V, mask=allowed, scale=scale)
    try:
        softmax = softmax_in_steps(steps.masked_scores[row], temperature)
    except ValueError:  # too small to divide by
        raise refused from None
    weighted = softmax.weights[:, None] * V  # (T, d_v)
    return SoftmaxState(
        source=source,
        seed=seed,
        T=T,
        d_k=d_k,
        row=row,
        temperature=temperature,
        mask_kind=mask,
        scale=scale,
        tokens=tokens,
        mask=allowed,
        steps=steps,
        softmax=softmax,
        weighted_values=weighted,
        output=softmax.weights @ V,  # (d_v,)
    )


def softmax_panel(source: str = "random") -> Panel:
    """One row from scores to weights to output, following the controls.

    Parameters
    ----------
    source : {"random", "example"}
        Vectors to start with: random ones, or the running example.

    Returns
    -------
    Panel
        Controls `source`, `T`, `d_k`, `row`, `temperature`, `scaled`, `mask`, `seed`.
    """
    start = starting_source(source)

    def prepare(controls: dict[str, Any]) -> None:
        limit_to_source(controls)
        follow(controls["row"], controls["T"], less=1)
        controls["row"].disabled = controls["T"].value == 1

    controls = {
        "source": dropdown("source", start, [(label(f"source_{s}"), s) for s in SOURCES]),
        "T": slider("T", 8, 1, LONGEST),
        "d_k": slider("d_k", 64, 1, WIDEST),
        "row": slider("row", 7, 0, LONGEST - 1),
        "temperature": log_slider("temperature", 1.0, 0.1, 10),
        "mask": dropdown("mask", "causal", [(label(f"kind_{kind}"), kind) for kind in MASKS]),
        "scaled": checkbox("scaled", True),
        "seed": slider("seed", 0, *SEEDS),
    }
    picture = _Picture()
    view = PictureView(336, picture.arrange, picture.draw)
    return Panel(controls, compute, view, _summary, prepare=prepare)


class _Picture:
    """Four rows of bars and a heatmap whose rows are the keys, and the output beneath it."""

    def arrange(self, figure: Figure) -> AxesByName:
        """Make the axes; each key keeps its height through all of them."""
        axes = {
            name: place(figure, _LEFT + i * (_BAR + _GAP), _TOP, _BAR, _SIDE)
            for i, name in enumerate(BARS)
        }
        self.bars = {name: RowBars(ax) for name, ax in axes.items()}
        left = _LEFT + len(BARS) * (_BAR + _GAP) + 12
        axes["weighted_values"] = place(figure, left, _TOP, _SIDE, _SIDE)
        axes["output"] = place(figure, left, _TOP + _SIDE + 52, _SIDE, 22)
        self.output = axes["output"].imshow([[0.0]], aspect="auto", cmap=SCORES_MAP)
        axes["output"].tick_params(length=0, labelleft=False, labelbottom=False)
        axes["output"].set_xlabel(label("panel_output"))
        axes["scores"].set_ylabel(label("rows_keys"), rotation=0, ha="right", va="bottom")
        axes["scores"].yaxis.set_label_coords(-0.3, 1.03)
        axes["scores"].tick_params(axis="y", pad=36)  # beyond the numbers at negative bars
        self.legend = axes["scores"].legend(
            handles=[Patch(**hidden_look())],
            labels=[label("hidden_cells")],
            loc="upper left",
            bbox_to_anchor=(-0.3, -0.2),
            borderpad=0,
        )
        self.numbers = [
            axes["output"].text(0, 0, "", ha="center", va="center") for _ in range(MOST_NUMBERS)
        ]
        return axes

    def draw(self, axes: AxesByName, state: SoftmaxState) -> str:
        """Move everything to where the state has it."""
        row, hidden = state.softmax, ~state.mask[state.row]
        tokens = running_example().tokens if state.tokens else range(state.T)
        names = [name_of(tokens[key], key) for key in range(state.T)]
        highest = float(row.scores.max())
        lowest = float(row.scores[~hidden].min())
        limit = round_up(float(np.abs(row.scores[~hidden]).max()))
        self.bars["scores"].show(
            row.scores,
            low=0.0 if lowest >= 0 else -limit,
            high=0.0 if highest < 0 else limit,
            title=label("panel_scores_step", temperature=short(state.temperature)),
            words=label("panel_highest", value=number(round(highest, 2))),
            hidden=hidden,
            names=names,
        )
        self.bars["shifted"].show(
            row.shifted,
            low=-round_up(float(-row.shifted[~hidden].min())),
            high=0.0,
            title=label("panel_shifted_step"),
            words=label("panel_highest", value="0"),
            hidden=hidden,
        )
        for name, array in (("exponentials", row.exponentials), ("weights", row.weights)):
            self.bars[name].show(
                array,
                low=0.0,
                high=1.0,
                title=label(f"panel_{name}_step"),
                words=label("panel_sum", value=short(float(array.sum()))),
                hidden=hidden,
            )
        self.legend.set_visible(bool(hidden.any()))
        self._draw_values(axes, state)
        return caption(state.source, state.seed)

    def _draw_values(self, axes: AxesByName, state: SoftmaxState) -> None:
        values, output = state.weighted_values, state.output
        limit = round_up(float(max(np.abs(values).max(), np.abs(output).max())))
        draw_matrix(
            axes["weighted_values"],
            values,
            row_words=" ",
            columns=running_example().value_axes if state.tokens else None,
            column_words=" ",
            title=label("panel_values_step"),
            limit=limit,
            square=True,
        )
        axes["weighted_values"].tick_params(axis="y", labelleft=False)
        axes["weighted_values"].set_xlabel("")
        heatmap_on(axes["weighted_values"]).lift(ABOVE)
        axes["weighted_values"].title.set_fontsize(LABEL + 1)
        level_lines(axes["weighted_values"].title)
        self.output.set_data(output[None, :])
        self.output.set_extent((-0.5, len(output) - 0.5, 0.5, -0.5))
        self.output.set_clim(-limit, limit)
        for j, text in enumerate(self.numbers):
            text.set_visible(len(output) <= MOST_NUMBERS and j < len(output))
            if text.get_visible():
                colour = ink_on(self.output.cmap(self.output.norm(output[j])))
                text.set(x=j, text=f"{output[j]:z.2f}".replace("-", "−"), color=colour)


def _summary(state: SoftmaxState) -> str:
    weights = state.softmax.weights
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
    )
