"""From what a reader hands over to what is drawn: arrays, masks, names of tokens.

Anything that cannot be drawn is refused in one sentence that names the argument, what came and
what is wanted.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any

import array_api_compat
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import is_math_text
from matplotlib.mathtext import MathTextParser
from numpy.typing import NDArray

from . import fonts
from .figure_parts import BoolArray, FloatArray, Side
from .inputs import check_mask
from .labels import label

_MATH = MathTextParser("path")
_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def to_numpy(value: Any) -> NDArray[Any]:
    """Bring an array to NumPy; one on a GPU is fetched, which CuPy asks to be told."""
    if not isinstance(value, np.ndarray) and callable(getattr(value, "get", None)):
        with suppress(TypeError):  # raised by tables, whose `get` is another
            value = value.get()
    return np.asarray(value)


def check_axes(name: str, *axes: Any) -> None:
    """Refuse what is no Axes: a number, a figure, an array of Axes."""
    for ax in axes:
        if not isinstance(ax, Axes):
            raise TypeError(f"{name} must be matplotlib Axes; got {type(ax).__name__}.")


def several_axes(axes: Any, count: int, wanted: str) -> NDArray[Any]:
    """Check that there are as many Axes as pictures, and return them along one axis."""
    drawn = np.asarray(axes, dtype=object).ravel()
    if drawn.size != count:
        raise ValueError(f"axes must {wanted}; got {drawn.size}.")
    check_axes("axes", *drawn)
    return drawn


def check_positive(name: str, value: Any) -> None:
    """Refuse what is not a finite number greater than 0."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number greater than 0; got {value!r}.")
    if not 0 < float(value) < math.inf:
        raise ValueError(f"{name} must be greater than 0 and finite; got {value}.")


def check_type(name: str, value: Any, kind: type, maker: str) -> None:
    """Refuse what is not the result that a picture shows."""
    if not isinstance(value, kind):
        raise TypeError(
            f"{name} must be {kind.__name__}, as {maker} returns it; got {type(value).__name__}."
        )


def check_pictures(name: str, value: Any, one: str) -> None:
    """Refuse what is not a dict of at least one picture by title."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a dict, title: {one}; got {type(value).__name__}.")
    if not value:
        raise ValueError(f"{name} must hold at least one {one}; got none.")


def matrix(name: str, value: Any, axes: str = "(T_q, T_k)") -> FloatArray:
    """Check that a value is a matrix of real numbers, and return it as float64.

    Raises
    ------
    ValueError
        If it does not have exactly two axes.
    TypeError
        If it holds no real numbers, or is a masked array.
    """
    array = _numbers(name, value)
    if array.ndim != 2:
        advice = f": choose one, as in {name}[0]" if array.ndim > 2 else ""
        raise ValueError(f"{name} must have two axes, {axes}; got shape {array.shape}{advice}.")
    return array


def one_row(name: str, value: Any) -> FloatArray:
    """Check that a value is one row of real numbers, and return it as float64; as `matrix`."""
    array = _numbers(name, value)
    if array.ndim != 1:
        advice = f": choose one row, as in {name}[0]" if array.ndim > 1 else ""
        raise ValueError(f"{name} must have one axis, (T_k,); got shape {array.shape}{advice}.")
    return array


def allowed_cells(mask: Any) -> BoolArray:
    """Check a mask that is itself the picture: booleans, two axes."""
    array = plain("mask", mask)
    if array.dtype != bool:
        raise TypeError(f"mask must hold booleans, True = may attend; got dtype {array.dtype}.")
    if array.ndim != 2:
        advice = ": choose one, as in mask[0]" if array.ndim > 2 else ""
        raise ValueError(f"mask must have two axes, (T_q, T_k); got shape {array.shape}{advice}.")
    return array


def hidden_cells(mask: Any, values: FloatArray) -> BoolArray | None:
    """Turn a mask, True = may attend, into the cells to hatch; None where nothing is hidden."""
    if mask is not None and not isinstance(mask, str):
        mask = plain("mask", mask)
    allowed = check_mask(array_api_compat.array_namespace(values), mask, values)
    return None if allowed is None else ~np.broadcast_to(allowed, values.shape)


def plain(name: str, value: Any) -> NDArray[Any]:
    """Bring an array to NumPy; masked arrays and ragged lists are refused."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{name} must be a plain array; got a masked array (say what is hidden by mask=, "
            f"True = may attend)."
        )
    try:
        return to_numpy(value)
    except ValueError:
        raise ValueError(f"{name} must be a rectangular array; got ragged lists.") from None


def _numbers(name: str, value: Any) -> FloatArray:
    array = plain(name, value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got dtype {array.dtype}.")
    return array.astype(np.float64)


def title_or(title: str | None, key: str | None) -> str:
    """Take the title given, if the fonts here can draw it; else the words for a key, or none."""
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a str; got {type(title).__name__}.")
    for line in (title or "").split("\n"):
        try:
            if is_math_text(line):
                _MATH.parse(line)
        except ValueError:
            raise ValueError(
                f"title must hold mathematics that matplotlib can set; got {line!r}."
            ) from None
    if title is not None and fonts.can_draw(title):
        return title
    return label(key) if key else ""


def sides(
    shape: tuple[int, ...], tokens: Sequence[str] | None, key_tokens: Sequence[str] | None
) -> tuple[Side, Side]:
    """Name rows and columns; with more keys than queries the queries are the last tokens."""
    T_q, T_k = shape
    query_tokens = tokens
    _check_names("tokens", tokens)
    if tokens is not None and key_tokens is None:
        if len(tokens) == T_k:
            query_tokens, key_tokens = (tokens[T_k - T_q :] if T_q <= T_k else None), tokens
        elif len(tokens) != T_q:
            raise ValueError(
                f"tokens must hold a name for each of the {T_k} keys; got {len(tokens)}."
            )
    return (
        side(label("rows_queries"), query_tokens, T_q, "tokens"),
        side(label("columns_keys"), key_tokens, T_k, "key_tokens"),
    )


def side(words: str, names: Sequence[str] | None, count: int, argument: str) -> Side:
    """Name the places along one side, after a check that there are enough names."""
    if names is None:
        return Side(words)
    _check_names(argument, names)
    if len(names) != count:
        raise ValueError(f"{argument} must hold {count} names; got {len(names)}.")
    return Side(words, tuple(name_of(name, place) for place, name in enumerate(names)))


def _check_names(argument: str, names: Any) -> None:
    """Refuse names that have no length or no order."""
    ordered = hasattr(names, "__len__") and hasattr(names, "__getitem__")
    if names is not None and (not ordered or isinstance(names, Mapping)):
        raise TypeError(
            f"{argument} must be a list of names, one a place; got {type(names).__name__}."
        )


def name_of(name: Any, place: int) -> str:
    """Make a token fit to stand at a tick; one that no font here can draw gives its number."""
    text = str(name)
    for blank, shown in (("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(blank, shown)
    if not fonts.can_draw(text):
        return str(place)
    text = text if len(text) <= 12 else text[:11] + "…"
    return text.replace("$", r"\$")  # a dollar sign is not mathematics


def number(value: float) -> str:
    """Write a number for a tick or a caption, with a real minus sign."""
    return f"{value:g}".replace("-", "−")


def round_up(value: float) -> float:
    """Round a size up to a number that reads well, 1 for 0."""
    if not 1e-300 < value < 1e300:
        return 1.0 if value < 1 else 1e300
    power = 10.0 ** math.floor(math.log10(value))
    return float(f"{next(step for step in _ROUND if step * power >= value * (1 - 1e-9)) * power:g}")
