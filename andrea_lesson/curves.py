"""Curves over d_k on given axes: how scores spread, how rows freeze, what a wide head buys.

Curves differ by marker and dash as well as by colour.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .charts import legend_below, start
from .experiments import Freezing, PerfectMatch, ScoreSpreads, perfect_match_formula
from .family import FAMILY
from .figure_parts import FloatArray
from .figure_style import COMPARED, HIDDEN_LINES, MEASURED, NOTE, THEORY, style
from .labels import label
from .plot_inputs import check_type, number


def draw_growth(ax: Axes, spreads: ScoreSpreads) -> Axes:
    """Draw the standard deviation of scores over d_k against theory, both axes logarithmic.

    Parameters
    ----------
    ax : Axes
    spreads : ScoreSpreads
        From :func:`andrea_lesson.experiments.score_spreads`.

    Returns
    -------
    Axes
    """
    check_type("spreads", spreads, ScoreSpreads, "experiments.score_spreads")
    unit = spreads.components == "unit-vectors"
    pairs = f"{spreads.scores.shape[1]:,}"
    pairs = f"{spreads.draws:,} × {pairs}" if spreads.draws > 1 else pairs
    sigma = spreads.predicted_std[0] / np.sqrt(spreads.d_k[0])  # σ_q σ_k, where lengths are free
    with style():
        title = "chart_growth_title_unit" if unit else "chart_growth_title"
        ink = start(ax, label(title, pairs=pairs))
        theory = label("chart_theory_inverse_sqrt" if unit else "chart_theory_sqrt")
        if not unit and not np.isclose(sigma, 1.0):
            theory = label("chart_theory_sigmas")
        if spreads.draws > 1:
            band = label("chart_band", draws=f"{spreads.draws:,}")
            ax.fill_between(
                spreads.d_k, spreads.low, spreads.high, color=MEASURED, alpha=0.25, label=band
            )
        ax.plot(spreads.d_k, spreads.predicted_std, color=THEORY, linestyle="--", label=theory)
        ax.plot(
            spreads.d_k,
            spreads.std,
            color=MEASURED,
            marker="o",
            markersize=7,
            linestyle="none",
            label=label("chart_measured"),
        )
        for d_k, std in zip(spreads.d_k, spreads.std, strict=True):
            if len(spreads.d_k) > 8:
                break
            ax.annotate(
                f"{std:.3g}",
                (d_k, std),
                xytext=(7, 2 if unit else -3),
                textcoords="offset points",
                va="bottom" if unit else "top",
                color=ink,
            )
        _widths(ax, spreads.d_k, ink)
        both = np.concatenate([spreads.std, spreads.predicted_std, spreads.low, spreads.high])
        _powers(ax, both, ink)
        ax.yaxis.label.set(text=label("chart_score_std"), color=ink)
        legend_below(ax, ink)
    return ax


def draw_effective_keys(ax: Axes, grid: Freezing | Sequence[Freezing]) -> Axes:
    """Draw effective keys over d_k for raw and scaled scores, both axes logarithmic.

    Parameters
    ----------
    ax : Axes
    grid : Freezing or sequence of Freezing
        From :func:`andrea_lesson.experiments.freezing`, for one T or several.

    Returns
    -------
    Axes
    """
    curves = list(grid) if isinstance(grid, Sequence) else [grid]
    if not curves:
        raise ValueError("grid must hold the result of at least one T; got none.")
    for each in curves:
        check_type("grid", each, Freezing, "experiments.freezing")
    with style():
        lengths = ", ".join(f"{curve.T:,}" for curve in curves)
        ink = start(ax, label("chart_effective_title", T=f"$T$ = {lengths}"))
        for place, curve in enumerate(curves):
            # a label that starts with an underscore stays out of the legend: one entry is enough
            theory = "_" if place else label("chart_theory_keys")
            freezes = "_" if place else label("chart_freezing_at")
            line: dict[str, Any] = {"color": THEORY, "linewidth": 1.6}
            ax.axhline(curve.scaled_theory, linestyle=":", label=theory, **line)
            if curve.d_k.min() <= curve.freezing_d_k <= curve.d_k.max():
                logs = np.log([curve.d_k, curve.raw])
                there = float(np.exp(np.interp(np.log(curve.freezing_d_k), *logs)))
                drop = ([curve.freezing_d_k] * 2, [1e-3, there])  # from the raw curve down
                ax.plot(*drop, linestyle="-.", label=freezes, **line)
            for values, colour, marker, dash, key in (
                (curve.scaled, MEASURED, "o", "-", "chart_scaled"),
                (curve.raw, COMPARED, "s", "--", "chart_raw_scores"),
            ):
                ax.plot(
                    curve.d_k,
                    values,
                    color=colour,
                    marker=marker,
                    linestyle=dash,
                    markersize=6,
                    label=None if place else label(key),
                )
            ax.annotate(
                f"$T/\\sqrt{{e}}$ ≈ {curve.scaled_theory:,.0f}",
                (1.0, curve.scaled_theory),
                xycoords=("axes fraction", "data"),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                color=ink,
            )
        _widths(ax, curves[0].d_k, ink)
        every = [curve.scaled_theory for curve in curves] + [1.0]
        every += [value for curve in curves for value in (*curve.raw, *curve.scaled)]
        _powers(ax, np.array(every), ink)
        ax.yaxis.label.set(text=label("chart_effective_keys"), color=ink)
        legend_below(ax, ink)
    return ax


def draw_perfect_match(ax: Axes, curve: PerfectMatch) -> Axes:
    """Draw the weight of a key that equals the query over d_k, the family's widths marked.

    Parameters
    ----------
    ax : Axes
    curve : PerfectMatch
        From :func:`andrea_lesson.experiments.perfect_match`.

    Returns
    -------
    Axes
    """
    check_type("curve", curve, PerfectMatch, "experiments.perfect_match")
    with style():
        ink = start(ax, label("chart_match_title", T=f"{curve.T:,}"))
        for place, d_k in enumerate(sorted({model.d_k for model in FAMILY})):
            if not curve.d_k.min() <= d_k <= curve.d_k.max():
                continue
            names = "\n".join(model.name for model in FAMILY if model.d_k == d_k)
            ax.axvline(d_k, color=HIDDEN_LINES, linewidth=1.0)
            ax.annotate(
                names,
                (d_k, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(5 if place else -5, -4),
                textcoords="offset points",
                ha="left" if place else "right",
                va="top",
                fontsize=NOTE - 1,
                color=ink,
            )
        formula = label("chart_match_formula")
        widths = np.geomspace(curve.d_k.min(), curve.d_k.max(), 200)
        smooth = perfect_match_formula(widths, curve.T)
        ax.plot(widths, smooth, color=THEORY, linestyle="--", label=formula)
        ax.plot(
            curve.d_k,
            curve.measured,
            color=MEASURED,
            marker="o",
            markersize=7,
            linestyle="none",
            label=label("chart_measured"),
        )
        _widths(ax, curve.d_k, ink)
        ax.set_ylim(-0.03, 1.25)
        levels = (0.0, 0.25, 0.5, 0.75, 1.0)
        ax.set_yticks(levels, [number(level) for level in levels], color=ink)
        ax.yaxis.label.set(text=label("chart_match_weight"), color=ink)
        legend_below(ax, ink)
    return ax


def _widths(ax: Axes, d_k: Any, ink: str) -> None:
    """Set the logarithmic axis of d_k with every fourth power of 2, or every second."""
    ax.set_xscale("log", base=2)
    ax.minorticks_off()
    low, high = np.floor(np.log2(d_k.min())), np.ceil(np.log2(d_k.max()))
    step = 2 if high - low > 5 else 1
    widths = [int(2**power) for power in np.arange(low, high + 1, step)]
    ax.set_xticks(widths, [f"{width:,}" for width in widths], color=ink)
    ax.set_xlim(d_k.min() / 1.4, d_k.max() * 1.4)
    ax.set_xlabel(label("chart_key_width"), color=ink)


def _powers(ax: Axes, values: FloatArray, ink: str) -> None:
    """Set a logarithmic vertical axis with powers of 2, or of 10 over a wide range, in full."""
    values = values[np.isfinite(values) & (values > 0)]
    base = 2 if values.max() / values.min() <= 2**8 else 10
    ax.set_yscale("log", base=base)
    ax.minorticks_off()
    low = np.floor(np.log(values.min()) / np.log(base) + 1e-9)
    high = np.ceil(np.log(values.max()) / np.log(base) - 1e-9)
    levels = [float(base) ** power for power in np.arange(low, high + 1)]
    names = [_power(level, base) for level in levels]
    ax.set_yticks(levels, names, color=ink)
    ax.set_ylim(values.min() / base ** (0.8 if base == 2 else 0.3), values.max() * base**0.3)
    ax.grid(axis="y")


def _power(level: float, base: int) -> str:
    if base == 2 and level < 1:
        return f"1/{1 / level:,.0f}"
    return f"{level:,.0f}" if level >= 1 else number(level)
