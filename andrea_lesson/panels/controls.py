"""The controls of panels: all with a label, all reacting while they move, all of one width."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
from traitlets import Int, observe, validate

from ..labels import label
from .settings import short, told

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


class Stepped(widgets.SelectionSlider):  # type: ignore[misc]
    """A slider over whole numbers that do not lie evenly, `min` … `max`.

    A value set by code may lie between two steps, and then becomes a step itself, or outside:
    the panel then says so.  `touched` and `kept` are as in `Slider`.
    """

    touched = False
    kept: int | None = None
    value: Any

    def __init__(self, steps: Sequence[Any], **look: Any) -> None:
        self._steps = tuple(steps)
        self._max = self._steps[-1]
        super().__init__(options=self._named(self._steps), continuous_update=True, **look)

    @property
    def steps(self) -> tuple[Any, ...]:
        """What is on offer now."""
        return tuple(self._options_values)

    @property
    def min(self) -> Any:
        """The first step."""
        return self._steps[0]

    @property
    def max(self) -> Any:
        """The last step on offer; setting it brings the value along if need be."""
        return self._max

    @max.setter
    def max(self, limit: Any) -> None:
        self._max = limit
        self._offer(self.value if self.fits(self.value) and self.value <= limit else limit)

    @property
    def following(self) -> Any:
        """The step after the value; the last one at the end."""
        if not self.fits(self.value):
            return self.min
        return next((step for step in self._options_values if step > self.value), self._max)

    def _offer(self, value: Any) -> None:
        """Offer all steps up to `max`, and `value` among them."""
        steps = sorted({*(step for step in self._steps if step <= self._max), self._max, value})
        # ipywidgets itself would go back to the first option here.
        self._options_full = self._named(steps)
        self._options_values = tuple(steps)
        with self.hold_sync():
            self.set_trait("_options_labels", tuple(name for name, _ in self._options_full))
            self.index = steps.index(value)
            if self.value != value:
                self.value = value

    @validate("value")
    def _validate_value(self, proposal: Any) -> Any:
        value = proposal["value"]
        self.touched = True
        if isinstance(value, (np.ndarray, np.generic)):
            value = value.tolist()  # can be compared with anything, an array cannot
        if self.fits(value) and self.min <= value <= self.max and value not in self._options_values:
            self._offer(value)
        return value

    @observe("value")
    def _propagate_value(self, change: Any) -> None:
        if change.new in self._options_values:
            self.index = self._options_values.index(change.new)

    @observe("index")
    def _propagate_index(self, change: Any) -> None:
        self.value = self._options_values[change.new]

    @staticmethod
    def fits(value: Any) -> bool:
        """Whether a value is of the kind that may lie between two steps."""
        return _is_whole(value)

    @staticmethod
    def read(text: str) -> Any:
        """Read what was typed; None if it is no such value."""
        digits = text.strip().replace(",", "").replace("，", "")
        return int(digits[:99]) if digits.removeprefix("-").isdecimal() else None

    @staticmethod
    def _named(steps: Iterable[Any]) -> tuple[tuple[str, Any], ...]:
        return tuple((f"{step:,}", step) for step in steps)


class SteppedReal(Stepped):
    """The same over numbers that need not be whole, such as learning rates."""

    @staticmethod
    def fits(value: Any) -> bool:
        """Whether a value is a finite number."""
        real = isinstance(value, (int, float, np.integer, np.floating))
        return real and not isinstance(value, bool) and abs(value) < math.inf

    @staticmethod
    def read(text: str) -> float | None:
        """Read what was typed; None if it is no number."""
        try:
            value = float(text.strip().replace(",", "").replace("，", "").replace("−", "-"))
        except ValueError:
            return None
        return value if math.isfinite(value) else None

    @staticmethod
    def _named(steps: Iterable[Any]) -> tuple[tuple[str, Any], ...]:
        return tuple((short(step), step) for step in steps)


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def stepped_slider(name: str, value: int, steps: Sequence[int]) -> Stepped:
    """Make a slider over whole numbers that do not lie evenly, in growing order."""
    return Stepped(steps, value=value, **_look(name))


def stepped_real_slider(name: str, value: float, steps: Sequence[float]) -> SteppedReal:
    """Make a slider over numbers that do not lie evenly, in growing order."""
    return SteppedReal(steps, value=value, **_look(name))


def dropdown(name: str, value: Any, options: Sequence[tuple[str, Any]]) -> Any:
    """Make a choice among options given as (words, value)."""
    return widgets.Dropdown(value=value, options=list(options), **_look(name))


def checkbox(name: str, value: bool) -> Any:
    """Make a switch."""
    return widgets.Checkbox(value=value, indent=True, **_look(name))


class Press(widgets.Button):  # type: ignore[misc]
    """A button as a control: its value grows by 1 with each press."""

    value = Int(0)

    def __init__(self, **look: Any) -> None:
        super().__init__(**look)
        self.on_click(self._pressed)

    def _pressed(self, _: Any) -> None:
        self.value += 1


def press(name: str) -> Press:
    """Make a button for something that takes time and is done only when asked for."""
    look = _look(name)
    del look["style"]
    return Press(**look)


def _look(name: str) -> dict[str, Any]:
    return {
        "description": label(f"control_{name}"),
        "style": {"description_width": "108px"},
        "layout": widgets.Layout(width="304px", max_width="100%"),
    }


def follow(
    control: Slider, leader: Slider | Stepped, less: int = 0, *, at_end: bool = False
) -> None:
    """Let a slider end at another's value, or `less` below, and bring its value along if need be.

    With `at_end` it stays at its end until it is moved itself.

    A value that code has set beyond the limit stays, so that the order in which a cell sets
    several controls does not matter.  A leader outside its own limits moves nothing.
    """
    if not _is_whole(leader.value):
        return
    if leader.min <= leader.value <= leader.max:
        end_at(control, leader.value - less, at_end=at_end)


def end_at(control: Slider, limit: int, *, at_end: bool = False) -> None:
    """Let a slider end at `limit`, and bring its value along if need be; see `follow`."""
    if getattr(control, "limit", None) == limit:
        return
    touched = control.touched
    control.limit = limit
    control.max = max(limit, control.min + 1)  # a slider needs two ends
    if control.value > limit or (at_end and not touched):
        control.value = limit
    control.touched = touched


def shown(control: Any) -> str:
    """Say where a control stands, as it says so itself."""
    if isinstance(control, widgets.Checkbox):
        return label("yes" if control.value else "no")
    if isinstance(control, widgets.Dropdown):
        return str(control.label)
    value = control.value
    if isinstance(value, float):
        return short(value)
    return f"{value:,}" if _is_whole(value) and abs(value) < 10**12 else told(value)


def stops(control: Any) -> list[Any]:
    """Values that a test of a control should visit; a button is not pressed unasked."""
    if isinstance(control, Press):
        return [control.value]
    if isinstance(control, widgets.Checkbox):
        return [False, True]
    if isinstance(control, Stepped):
        steps = control.steps
        return [steps[0], steps[len(steps) // 2], steps[-1]]
    if isinstance(control, widgets.Dropdown):
        return [value for _, value in control.options]
    if isinstance(control, widgets.FloatLogSlider):
        middle = (control.min + control.max) / 2
        return [control.base**power for power in (control.min, middle, control.max)]
    return [control.min, (control.min + control.max) // 2, control.max]
