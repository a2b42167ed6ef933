"""The controls of panels: all with a label, all reacting while they move, all of one width."""

import math
from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets
from traitlets import validate

from ..labels import label

MEMORY = ("touched", "kept")  # what a slider knows beside its value


class Slider(widgets.IntSlider):  # type: ignore[misc]
    """A slider whose value, when set by code, may lie outside: the panel then says so.

    `touched` turns true whenever a value is set, be it the one that is there already; `kept`
    is the value that waits while the running example has one of its own.
    """

    touched = False
    kept: int | None = None

    @validate("value")
    def _validate_value(self, proposal: Any) -> Any:
        self.touched = True
        return proposal["value"]


def slider(name: str, value: int, low: int, high: int) -> Slider:
    """Make a slider over whole numbers, with its label and its number."""
    return Slider(value=value, min=low, max=high, continuous_update=True, **_look(name))


class LogSlider(widgets.FloatLogSlider):  # type: ignore[misc]
    """A logarithmic slider whose value, when set by code, may lie outside, as in `Slider`."""

    @validate("value")
    def _validate_value(self, proposal: Any) -> Any:
        return proposal["value"]


def log_slider(name: str, value: float, low: float, high: float) -> LogSlider:
    """Make a slider over a logarithmic range."""
    return LogSlider(
        value=value,
        min=math.log10(low),
        max=math.log10(high),
        step=0.05,
        readout_format=".2f",
        continuous_update=True,
        **_look(name),
    )


def stepped_slider(name: str, value: Any, options: Sequence[tuple[str, Any]]) -> Any:
    """Make a slider over values that do not lie evenly, given as (words, value)."""
    return widgets.SelectionSlider(
        value=value, options=list(options), continuous_update=True, **_look(name)
    )


def dropdown(name: str, value: Any, options: Sequence[tuple[str, Any]]) -> Any:
    """Make a choice among options given as (words, value)."""
    return widgets.Dropdown(value=value, options=list(options), **_look(name))


def checkbox(name: str, value: bool) -> Any:
    """Make a switch."""
    return widgets.Checkbox(value=value, indent=True, **_look(name))


def _look(name: str) -> dict[str, Any]:
    return {
        "description": label(f"control_{name}"),
        "style": {"description_width": "108px"},
        "layout": widgets.Layout(width="304px"),
    }


def follow(control: Slider, leader: Slider, less: int = 0) -> None:
    """Let a slider end at another's value, or `less` below, and bring its value along if need be.

    A value that code has set beyond the limit stays, so that the order in which a cell sets
    several controls does not matter.  A leader outside its own limits moves nothing.
    """
    limit = leader.value - less
    if not leader.min <= leader.value <= leader.max or getattr(control, "limit", None) == limit:
        return
    control.limit = limit
    control.max = max(limit, control.min + 1)  # a slider needs two ends
    if control.value > limit:
        control.value = limit


def stops(control: Any) -> list[Any]:
    """Values that a test of a control should visit."""
    if isinstance(control, widgets.Checkbox):
        return [False, True]
    if isinstance(control, widgets.SelectionSlider):
        values = [value for _, value in control.options]
        return [values[0], values[len(values) // 2], values[-1]]
    if isinstance(control, widgets.Dropdown):
        return [value for _, value in control.options]
    if isinstance(control, widgets.FloatLogSlider):
        middle = (control.min + control.max) / 2
        return [control.base**power for power in (control.min, middle, control.max)]
    return [control.min, (control.min + control.max) // 2, control.max]
