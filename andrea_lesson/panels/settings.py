"""What a setting of a panel may be, and the mask that it asks for."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..labels import label
from ..masks import (
    BoolArray,
    causal_mask,
    document_mask,
    full_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)

RANDOM, EXAMPLE = "random", "running-example"
SOURCES = (RANDOM, EXAMPLE)
MASKS = ("full", "causal", "sliding-window", "prefix", "padding", "documents")
SEEDS = (0, 99)


class SettingError(ValueError):
    """A setting that makes no picture; its text is one sentence in the current language."""


def told(value: Any) -> str:
    """Write what came, whatever it is, so that it fits into a sentence."""
    if isinstance(value, float):
        return short(value)
    try:
        text = f"“{value}”" if isinstance(value, str) else str(value).replace("-", "−")
    except ValueError:  # a number with thousands of digits
        text = type(value).__name__
    text = " ".join(text.split())
    return text if len(text) <= 30 else text[:29] + "…"


def whole(name: str, value: Any, low: int, high: int) -> int:
    """Check a whole number of a control.

    Parameters
    ----------
    name : str
        Of the control, as in ``panel.controls``.
    value : int
    low, high : int
        Both allowed.

    Returns
    -------
    int

    Raises
    ------
    SettingError
        If it is not whole, or lies outside.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise SettingError(label("bad_whole", name=label(f"control_{name}"), value=told(value)))
    if not low <= value <= high:
        raise SettingError(
            label("bad_range", name=label(f"control_{name}"), value=told(value), low=low, high=high)
        )
    return int(value)


def choice(name: str, value: Any, options: Sequence[Any]) -> Any:
    """Check that a value is one of those that a control offers.

    Raises
    ------
    SettingError
        If it is none of them.
    """
    if value not in options:
        listed = label("list_comma").join(str(option) for option in options)
        raise SettingError(
            label("bad_choice", name=label(f"control_{name}"), value=told(value), options=listed)
        )
    return value


def build_mask(
    kind: str, T: int, *, window: int = 1, prefix: int = 0, length: int = 0, boundary: int = 0
) -> BoolArray:
    """Make the mask of a kind; of the parameters only that of the kind is looked at.

    Parameters
    ----------
    kind : str
        One of :data:`MASKS`.
    T : int
        Positions.
    window : int
        Keys that a query sees under "sliding-window", itself included.
    prefix : int
        Keys that all see under "prefix", 0…T.
    length : int
        Length without the filler under "padding", 0…T.
    boundary : int
        Position at which the second of the "documents" begins, 0…T.

    Returns
    -------
    ndarray of bool, shape (T, T)
        True = may attend.

    Raises
    ------
    SettingError
        If the kind is none of them, or its parameter does not fit T.
    """
    choice("mask", kind, MASKS)
    if kind == "full":
        return full_mask(T)
    if kind == "causal":
        return causal_mask(T)
    if kind == "sliding-window":
        return sliding_window_mask(T, window=whole("window", window, 1, 1024))
    if kind == "prefix":
        return prefix_mask(T, prefix=whole("prefix", prefix, 0, T))
    if kind == "padding":
        keys = padding_mask([whole("length", length, 0, T)], T)[0]  # (1, T): the same for all
        return np.repeat(keys, T, axis=0)
    start = whole("boundary", boundary, 0, T)
    return document_mask((np.arange(T) >= start).astype(int))


def short(value: float) -> str:
    """Write a number with three digits, the way a reader writes it: no "e", a real minus."""
    if value == 0 or not np.isfinite(value):
        return f"{value:g}".replace("inf", "∞").replace("nan", "NaN").replace("-", "−")
    power = int(np.floor(np.log10(abs(value))))
    if not -5 < power < 7:
        raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        factor = f"{value / 10.0**power:.3g}"
        text = f"10{raised}" if factor == "1" else f"{factor} × 10{raised}"
    else:
        text = f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"
    return text.replace("-", "−")


def subscript(place: int) -> str:
    """Write a place the way it hangs on a symbol: q₃."""
    return str(place).translate(str.maketrans("-0123456789", "₋₀₁₂₃₄₅₆₇₈₉"))


def factor(value: float) -> str:
    """Write a number as it stands in a product or a sum: in brackets below 0."""
    text = short(float(value))
    return f"({text})" if text.startswith("−") else text
