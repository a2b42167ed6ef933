"""The scaling panel's state as a picture: six charts, three formulas, a sentence."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..experiments import LONGEST, ROWS, WIDEST, FloatArray
from ..family import FAMILY
from ..labels import label
from ..plot_inputs import round_up
from .picture import Chart, Line, Picture, Ruler
from .settings import short

if TYPE_CHECKING:
    from .scaling import ScalingState

MOST_BARS = 16  # weights of the row that are drawn, the largest ones
BINS = 40
NAMED = (64, 256, 4096)  # widths whose spread the lesson asks for
_chart = partial(Chart, width=216.0, height=140.0, legend_lines=3)  # three side by side
_LOW = 100.0  # height on a projector, so that both lines are on one screen
_NOTHING: tuple[float, ...] = ()
_D_K = Ruler(
    0.7, WIDEST * 1.1, tuple((d_k, f"{d_k:,}") for d_k in (1, 16, 256, 4096)), "d_k", log=2
)
_SHARE = Ruler(0.0, 1.05, ((0.0, "0"), (0.5, "0.5"), (1.0, "1")))
_DIVISORS = {"none": "", "sqrt_d_k": " ÷ √d_k", "d_k": " ÷ d_k", "sqrt_d_model": " ÷ √d_model"}
_RAW = {"unit-variance": "√d_k", "unit-vectors": "1/√d_k", "any": "σ² √d_k"}


def describe(state: "ScalingState", *, large: bool = False) -> Picture:
    """Say what stands where: what happens to scores above, what softmax makes of them below."""
    lines: tuple[tuple[Chart, ...], ...] = (
        (_std(state), _histogram(state), _row(state)),
        (_map(state), _keys(state), _match(state)),
    )
    if large:
        lines = tuple(tuple(replace(chart, height=_LOW) for chart in line) for line in lines)
    return Picture(
        lines=lines,
        caption=label("scaling_caption", rows=ROWS, keys=f"{LONGEST:,}", seed=state.seed),
        formulas=(_std_line(state), _keys_line(state), _match_line(state)),
    )


# -- scores ---------------------------------------------------------------------------------------


def _std(state: "ScalingState") -> Chart:
    """Standard deviation over d_k; the axis takes in all settings of the sliders."""
    low, high = (int(np.round(np.log10(limit))) for limit in state.std_limits)
    step = 1 if high - low <= 4 else 2
    ticks = tuple((float(f"1e{p}"), short(float(f"1e{p}"))) for p in range(low, high + 1, step))
    formula = _RAW[state.components] + _DIVISORS[state.divisor]
    places = [state.widths.index(d_k) for d_k in NAMED]
    named = state.predicted_std[places]
    pairs = [f"{d_k:,} → {short(std)}" for d_k, std in zip(NAMED, named, strict=True)]
    return _chart(
        name="std",
        x=_D_K,
        y=Ruler(*state.std_limits, ticks, log=10),
        lines=(
            Line(state.widths, state.std, words=label("panel_measured")),
            Line(
                state.widths,
                state.predicted_std,
                "theory",
                label("scaling_theory", formula=formula),
            ),
            Line(NAMED, named, "points", ", ".join(pairs)),
            Line([state.d_k], [state.std_here], "here"),
        ),
        title=label("panel_std_title", std=short(state.std_here)),
    )


def _histogram(state: "ScalingState") -> Chart:
    std = state.predicted_std_here
    limit = round_up(4 * std)
    edges = np.linspace(-limit, limit, BINS + 1)
    counts, _ = np.histogram(state.scores, BINS, (-limit, limit))
    density = counts / (len(state.scores) * (edges[1] - edges[0]))
    x = np.linspace(-limit, limit, 121)
    curve = np.exp(-0.5 * (x / std) ** 2) / (std * np.sqrt(2 * np.pi))
    ticks = tuple((value, short(value)) for value in (-limit, 0.0, limit))
    return _chart(
        name="scores",
        x=Ruler(-limit, limit, ticks, label("panel_scores_after")),
        y=Ruler(0.0, 1.1 * float(max(density.max(), curve.max()))),
        lines=(
            Line(edges, density, "bars", label("panel_measured")),
            Line(x, curve, "theory", label("panel_normal")),
        ),
        title=label("panel_scores_title", count=f"{len(state.scores):,}", d_k=f"{state.d_k:,}"),
    )


def _row(state: "ScalingState") -> Chart:
    """The largest weights, 0…1 always: frozen rows stand tall, even ones lie flat."""
    largest = np.sort(state.weights)[::-1][:MOST_BARS]
    count = len(largest)
    ends = (0.5, count + 0.5)
    return _chart(
        name="row",
        x=Ruler(
            *ends,
            ((1, "1"), (count, str(count))),
            label("panel_largest_keys", count=count, T=f"{state.T:,}"),
        ),
        y=_SHARE,
        lines=(
            Line(np.arange(count + 1) + 0.5, largest, "bars", label("panel_row_weights")),
            Line(ends, (1 / state.T, 1 / state.T), "theory", label("panel_uniform")),
        ),
        title=label("panel_row_title", largest=short(float(state.weights.max()))),
    )


# -- what softmax makes of them -------------------------------------------------------------------


def _map(state: "ScalingState") -> Chart:
    """Effective keys over d_k and T, from 1 key (dark) to T keys (light)."""
    octaves = np.log(np.array(state.lengths, dtype=float))[:, None]
    share = np.clip(np.log(np.maximum(state.key_grid, 1.0)) / octaves, 0.0, 1.0)  # (T, d_k)
    edges = _edges(state.lengths)
    ticks = tuple((T, f"{T:,}") for T in (4, 32, 256, 1024))
    line = freezing_line(state, np.geomspace(state.lengths[0], state.lengths[-1], 65))
    return _chart(
        name="key_grid",
        x=_D_K,
        y=Ruler(float(edges[0]), float(edges[-1]), ticks, "T", log=2),
        lines=(
            Line(*line, "dashdot", _freezing_words(state, line[0])),
            Line([state.d_k], [state.T], "here"),
        ),
        title=label("scaling_map_title"),
        shades=share,
        shade_x=_edges(state.widths),
        shade_y=edges,
    )


def _edges(values: tuple[int, ...]) -> FloatArray:
    """Bounds between neighbours on a logarithmic axis."""
    logs = np.log(np.array(values, dtype=float))
    between = (logs[1:] + logs[:-1]) / 2
    first, last = 2 * logs[0] - between[0], 2 * logs[-1] - between[-1]
    edges: FloatArray = np.exp(np.concatenate([[first], between, [last]]))
    return edges


def freezing_line(state: "ScalingState", T: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where the variance of the scores is 2 ln T, as d_k and T within the chart.

    In theory std is a power of d_k, so its logarithm goes evenly with that of d_k.
    """
    low, high = np.log(state.widths[0]), np.log(state.widths[-1])
    first, last = 2 * np.log(state.predicted_std[[0, -1]])  # of the variance
    slope = (last - first) / (high - low)
    if abs(slope) < 1e-9:  # the same at every d_k: frozen below this T
        frozen = np.exp(min(np.exp(first) / 2, 700.0))
        inside = T.min() <= frozen <= T.max() and len(T) > 1
        ends = np.array([1.0, state.widths[-1]] if inside else [])
        return ends, np.full(ends.shape, frozen)
    d_k = np.exp(low + (np.log(2 * np.log(T)) - first) / slope)
    inside = (d_k >= state.widths[0]) & (d_k <= state.widths[-1])
    return d_k[inside], T[inside]


def _freezing_words(state: "ScalingState", line: FloatArray, where: str = "") -> str:
    """Name the line where freezing begins, or say on which side of it everything lies."""
    if line.size:
        raw = state.components == "unit-variance" and state.divisor == "none"
        return label("panel_keys_freeze" if raw else "scaling_freeze")
    return label(f"scaling_{'all' if _frozen(state) else 'none'}_frozen{where}")


def _frozen(state: "ScalingState") -> bool:
    return bool(state.predicted_std_here**2 > 2 * np.log(state.T))


def _keys(state: "ScalingState") -> Chart:
    told = np.isfinite(state.predicted_keys)
    theory = label("scaling_keys_theory", formula=_keys_formula(state)) if told.sum() > 1 else ""
    ticks = tuple((keys, f"{keys:,}") for keys in (1, 4, 32, 256, 1024))
    low, high = 0.8, LONGEST * 1.5
    (freezes, _) = freezing_line(state, np.array([state.T], dtype=float))
    return _chart(
        name="keys",
        x=_D_K,
        y=Ruler(low, high, ticks, log=2),
        lines=(
            Line(state.widths, state.keys, words=label("panel_keys_rows", rows=ROWS)),
            Line(
                np.array(state.widths)[told] if theory else _NOTHING,
                state.predicted_keys[told] if theory else _NOTHING,
                "theory",
                theory,
            ),
            Line(
                np.repeat(freezes, 2),
                (low, high) if freezes.size else _NOTHING,
                "dashdot",
                _freezing_words(state, freezes, "_here"),
            ),
            Line([state.d_k], [state.keys_here], "here"),
        ),
        title=label("panel_keys_title", keys=short(state.keys_here), T=f"{state.T:,}"),
    )


def _match(state: "ScalingState") -> Chart:
    told = np.isfinite(state.predicted_match)
    theory = label("scaling_match_formula") if told.sum() > 1 else ""
    family = sorted({model.d_k for model in FAMILY})
    x = np.repeat(np.array(family, dtype=float), 2)
    marks = [
        Line(x[2 * place : 2 * place + 2], (0.0, 1.0), "dotted") for place in range(len(family))
    ]
    names = label("scaling_family", widths=label("list_comma").join(map(str, family)))
    marks[0] = Line(marks[0].x, marks[0].y, "dotted", names)
    return _chart(
        name="match",
        x=_D_K,
        y=_SHARE,
        lines=(
            *marks,
            Line(state.widths, state.match, words=label("panel_keys_rows", rows=ROWS)),
            Line(
                np.array(state.widths)[told] if theory else _NOTHING,
                state.predicted_match[told] if theory else _NOTHING,
                "theory",
                theory,
            ),
            Line([state.d_k], [state.match_here], "here"),
        ),
        title=label("scaling_match_title", weight=short(state.match_here)),
    )


# -- words ----------------------------------------------------------------------------------------


def _std_line(state: "ScalingState") -> str:
    root = f"√{state.d_k:,}"
    raw = {"unit-variance": root, "unit-vectors": f"1/{root}"}.get(
        state.components, f"{short(state.sigma)}² × {root}"
    )
    over = {
        "none": "",
        "sqrt_d_k": f" ÷ {root}",
        "d_k": f" ÷ {state.d_k:,}",
        "sqrt_d_model": f" ÷ √{state.d_model:,}",
    }
    return label(
        "scaling_std_line",
        formula=_RAW[state.components] + _DIVISORS[state.divisor],
        numbers=raw + over[state.divisor],
        predicted=short(state.predicted_std_here),
        std=short(state.std_here),
    )


def _keys_line(state: "ScalingState") -> str:
    if np.isfinite(state.predicted_keys_here):
        theory = label("scaling_keys_theory", formula=_keys_formula(state))
        theory += f" = {short(state.predicted_keys_here)}"
    else:
        theory = label(
            "scaling_frozen" if _frozen(state) else "scaling_not_frozen",
            variance=short(state.predicted_std_here**2),
            limit=short(2 * float(np.log(state.T))),
        )
    return label(
        "scaling_keys_line",
        keys=short(state.effective_keys),
        rows=ROWS,
        median=short(state.keys_here),
        theory=theory,
    )


def _keys_formula(state: "ScalingState") -> str:
    return "T/√e" if _scaled(state) else "T e^(−s²/2)"


def _scaled(state: "ScalingState") -> bool:
    """As in the lesson: components of variance 1, divided by √d_k."""
    return state.divisor == "sqrt_d_k" and state.components == "unit-variance"


def _match_line(state: "ScalingState") -> str:
    values = {"measured": short(state.match_here), "weight": short(state.predicted_match_here)}
    if not np.isfinite(state.predicted_match_here):
        return label("scaling_match_untold", **values)
    if _scaled(state):
        return label("scaling_match_line", exponent="½ − √d_k", where="", **values)
    where = label("scaling_match_where", score=short(state.match_score_here))
    return label("scaling_match_line", exponent="s²/2 − m", where=where, **values)


def summarise(state: "ScalingState") -> str:
    """Say in one sentence what is on show."""
    return label(
        "scaling_summary",
        components=label(f"components_{state.components}"),
        d_k=f"{state.d_k:,}",
        divisor=short(state.divisor_value),
        std=short(state.std_here),
        predicted=short(state.predicted_std_here),
        T=f"{state.T:,}",
        keys=short(state.effective_keys),
        rows=ROWS,
        median=short(state.keys_here),
        largest=short(float(state.weights.max())),
        match=short(state.match_here),
    )


def warn(state: "ScalingState") -> str | None:
    """Say what is wrong with dividing by √d_model."""
    if state.divisor != "sqrt_d_model":
        return None
    key = "warn_sqrt_d_model" if state.d_k <= state.d_model else "warn_wider_than_d_model"
    return label(key, d_model=f"{state.d_model:,}", d_k=f"{state.d_k:,}")
