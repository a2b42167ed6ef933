"""Judge answers that are numbers or choices, and ask each student for numbers of their own."""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import index
from typing import Any
from zlib import crc32

import numpy as np

from ..masks import causal_mask, document_mask, full_mask, prefix_mask, sliding_window_mask
from .running import type_name
from .verdict import Waits, Wrong
from .words import Words

Numbers = dict[str, Any]


def number_of(value: Any) -> float:
    """A finite real number from what a student wrote, or words about it."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)):
        raise Wrong("number_boolean")
    if isinstance(value, (str, bytes, bytearray)):
        raise Wrong("number_in_quotes", came=str(value)[:20])
    if isinstance(value, (complex, np.complexfloating)):  # NumPy would cut off the imaginary part
        raise Wrong("number_other", came=type_name(value))
    try:
        several = isinstance(value, (list, tuple, dict, set)) or np.ndim(value) > 0
        number = math.nan if several else float(value)
    except OverflowError:
        return sys.float_info.max if value > 0 else -sys.float_info.max
    except Exception:  # an object of the student's own may raise what it likes
        raise Wrong("number_other", came=type_name(value)) from None
    if several:
        raise Wrong("number_not_one", came=type_name(value))
    if not math.isfinite(number):
        raise Wrong("number_not_finite")
    return number


def near(number: float, wanted: float, share: float) -> bool:
    """Whether a number agrees with the wanted one but for rounding by hand."""
    return abs(number - wanted) <= share * abs(wanted) + 1e-12


def is_open(value: Any) -> bool:
    """Whether a place for an answer is still empty."""
    return value is None or value is Ellipsis


@dataclass(frozen=True, eq=False)
class TableTask:
    """Several answers by name, such as ``{"ANDREA-12M": 32, …}``.

    Attributes
    ----------
    keys : tuple
        The names that the stub has.
    judge_one : callable
        Takes a key and an answer; raises `Wrong`.
    """

    keys: tuple[Any, ...]
    judge_one: Callable[[Any, Any], None]

    def judge(self, answer: Any) -> Words:
        """Return words of praise, or raise `Wrong` or `Waits`."""
        if is_open(answer):
            raise Waits("waits_answer")
        if not isinstance(answer, Mapping):
            raise Wrong("table_wanted", keys=self._names(), came=type_name(answer))
        unknown = [key for key in answer if key not in self.keys]
        if unknown:
            raise Wrong("table_unknown", key=str(unknown[0])[:30], keys=self._names())
        given = {key: answer.get(key) for key in self.keys if not is_open(answer.get(key))}
        for key, value in given.items():
            self.judge_one(key, value)
        if not given:
            raise Waits("waits_answer")
        if len(given) < len(self.keys):
            raise Waits("waits_more", count=len(given), of=len(self.keys))
        return Words("passed_answers", {"count": len(given)})

    def _names(self) -> str:
        return ", ".join(repr(key) for key in self.keys)


def _slip_of(number: float, slips: dict[str, float], share: float) -> str | None:
    return next((name for name, value in slips.items() if near(number, value, share)), None)


# -- the questions of the lesson -----------------------------------------------------------------

ANDREA = {"ANDREA-12M": (384, 12), "ANDREA-120M": (768, 12), "ANDREA-480M": (1536, 24)}


def _d_k(key: str, value: Any) -> None:
    number, (d_model, n_head) = number_of(value), ANDREA[key]
    if number == d_model / n_head:
        return
    slips: dict[str, float] = {
        "d_model_itself": d_model,
        "heads_times_width": d_model * n_head,
        "heads_itself": n_head,
    }
    slips |= {"root_for_d_k": math.sqrt(d_model / n_head), "upside_down": n_head / d_model}
    slip = _slip_of(number, slips, 0.01)
    raise Wrong(f"slip_{slip}" if slip else "number_wrong_at", key=key)


def _divisor(key: int, value: Any) -> None:
    number, d_k = number_of(value), 4096 / key
    if near(number, math.sqrt(d_k), 0.01):
        return
    slips = {"d_k_for_root": d_k, "root_of_d_model_4096": 64.0, "factor_for_divisor": d_k**-0.5}
    slips |= {"root_of_heads": math.sqrt(key), "heads_itself": key}
    slip = _slip_of(number, slips, 0.01)
    raise Wrong(f"slip_{slip}" if slip else "number_wrong_at", key=Words("n_heads", {"n": key}))


_GIVEN = 3  # so many positions at the beginning are given, not predicted
_MASKS = {
    "full": full_mask(6),
    "causal": causal_mask(6),
    "sliding_window": sliding_window_mask(6, window=3),
    "prefix": prefix_mask(6, prefix=_GIVEN),
    "padding": np.broadcast_to(np.arange(6) < 4, (6, 6)),
    "document": document_mask([0, 0, 0, 1, 1, 1]),
}
# A mask suits a decoder that shows no position one that must be predicted.
_PEEKS = {kind: bool(np.triu(mask, k=1)[:, _GIVEN:].any()) for kind, mask in _MASKS.items()}


def _mask_kind(key: str, value: Any) -> None:
    if not isinstance(value, str):
        raise Wrong("choice_text", came=type_name(value), choices=", ".join(_MASKS))
    kind = value.strip().lower().replace("-", "_").replace(" ", "_").removesuffix("_mask")
    if kind not in _MASKS:
        raise Wrong("choice_unknown", came=value[:20], choices=", ".join(_MASKS))
    part = Words(key, {})
    if key == "decoder":
        if _PEEKS[kind]:
            raise Wrong("slip_decoder_peeks", kind=kind)
    elif kind not in ("full", "padding"):
        raise Wrong("slip_reader_blinded", kind=kind, part=part)


D_K_OF_ANDREA = TableTask(tuple(ANDREA), _d_k)
SCALING_AT_4096 = TableTask((1, 16, 32, 64), _divisor)
KINDS_OF_MASKS = TableTask(("encoder", "decoder", "cross_attention"), _mask_kind)


# -- numbers of one's own ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PersonalTask:
    """A number question whose figures come from the student's own seed.

    Attributes
    ----------
    name : str
        The exercise; its question is ``ask_<name>``, filled with the figures.
    figures : callable
        Draws the figures.
    right : callable
        The answer, from the figures by name.
    slips : dict of str to callable
        Wrong answers that have a name.
    share : float
        Rounding that is forgiven; 0 for whole numbers.
    """

    name: str
    figures: Callable[[np.random.Generator], Numbers]
    right: Callable[..., float]
    slips: dict[str, Callable[..., float]]
    share: float = 0.01

    def numbers(self, seed: Any) -> Numbers:
        """The figures of a seed: the same each time, other for another seed."""
        return self.figures(np.random.default_rng([check_seed(seed), crc32(self.name.encode())]))

    def question(self, seed: Any) -> Words:
        """The question in words, with the figures of the seed."""
        return Words(f"ask_{self.name}", self.numbers(seed))

    def judge(self, answer: Any, seed: Any = None) -> Words:
        """Return words of praise, or raise `Wrong` or `Waits`."""
        if is_open(answer):
            raise Waits("waits_answer")
        numbers = self.numbers(seed)
        number, wanted = number_of(answer), self.right(**numbers)
        if near(number, wanted, self.share):
            return Words("passed_number", {})
        slips = {name: slip(**numbers) for name, slip in self.slips.items()}
        slip = _slip_of(number, slips, max(self.share, 1e-9))
        if slip:
            raise Wrong(f"slip_{slip}", key=self.name)
        raise Wrong("number_too_large" if number > wanted else "number_too_small")


def check_seed(seed: Any) -> int:
    """A whole number that a student calls their own; waits where there is none yet."""
    if is_open(seed):
        raise Waits("waits_seed")
    try:
        number = -1 if isinstance(seed, (bool, np.bool_)) else index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise Wrong("bad_seed")
    return number


def _split(rng: np.random.Generator) -> Numbers:
    n_head, d_k = int(rng.choice([6, 10, 14, 18, 20])), int(rng.choice([24, 40, 48, 72, 80, 96]))
    return {"d_model": n_head * d_k, "n_head": n_head}


def _square_split(rng: np.random.Generator) -> Numbers:
    n_head, root = int(rng.choice([6, 10, 14, 18, 20])), int(rng.choice([5, 6, 7, 9, 10, 12]))
    return {"d_model": n_head * root**2, "n_head": n_head}


MY_D_K = PersonalTask(
    "my_d_k",
    _split,
    lambda d_model, n_head: d_model / n_head,
    {
        "d_model_itself": lambda d_model, n_head: d_model,
        "heads_times_width": lambda d_model, n_head: d_model * n_head,
        "root_for_d_k": lambda d_model, n_head: math.sqrt(d_model / n_head),
        "upside_down": lambda d_model, n_head: n_head / d_model,
    },
    share=0.0,
)


def _fused(rng: np.random.Generator) -> Numbers:
    split = _split(rng)
    n_head = split["n_head"]
    # In the middle two of the slips would give the same column.
    heads = [head for head in range(2, n_head) if abs(2 * head + 1 - n_head) > 1]
    return {**split, "head": int(rng.choice(heads))}


MY_FUSED_COLUMN = PersonalTask(
    "my_fused_column",
    _fused,
    lambda d_model, n_head, head: d_model + head * d_model // n_head,
    {
        "column_of_query": lambda d_model, n_head, head: head * d_model // n_head,
        "column_of_value": lambda d_model, n_head, head: 2 * d_model + head * d_model // n_head,
        "head_before": lambda d_model, n_head, head: d_model + (head - 1) * d_model // n_head,
        "column_behind": lambda d_model, n_head, head: d_model + (head + 1) * d_model // n_head,
        "last_column": lambda d_model, n_head, head: d_model + (head + 1) * d_model // n_head - 1,
        "column_from_one": lambda d_model, n_head, head: d_model + head * d_model // n_head + 1,
        "third_of_head": lambda d_model, n_head, head: (3 * head + 1) * d_model // n_head,
    },
    share=0.0,
)
MY_DIVISOR = PersonalTask(
    "my_divisor",
    _square_split,
    lambda d_model, n_head: math.sqrt(d_model / n_head),
    {
        "d_k_for_root": lambda d_model, n_head: d_model / n_head,
        "root_of_width": lambda d_model, n_head: math.sqrt(d_model),
        "factor_for_divisor": lambda d_model, n_head: math.sqrt(n_head / d_model),
        "root_of_heads": lambda d_model, n_head: math.sqrt(n_head),
    },
)
MY_ALLOWED_CELLS = PersonalTask(
    "my_allowed_cells",
    lambda rng: {"T": int(rng.integers(20, 40)), "window": int(rng.integers(4, 9))},
    lambda T, window: T * window - window * (window - 1) / 2,
    {
        "cells_of_causal": lambda T, window: T * (T + 1) / 2,
        "corner_forgotten": lambda T, window: T * window,
        "cells_without_diagonal": lambda T, window: T * (window - 1) - window * (window - 1) / 2,
        "cells_one_wider": lambda T, window: T * (window + 1) - window * (window + 1) / 2,
        "cells_of_table": lambda T, window: T * T,
    },
    share=0.0,
)
MY_WEIGHT = PersonalTask(
    "my_weight",
    lambda rng: {"gap": int(rng.integers(2, 6)), "temperature": int(rng.choice([2, 3, 4]))},
    lambda gap, temperature: 1 / (1 + math.exp(-gap / temperature)),
    {
        "temperature_ignored": lambda gap, temperature: 1 / (1 + math.exp(-gap)),
        "temperature_multiplied": lambda gap, temperature: 1 / (1 + math.exp(-gap * temperature)),
        "other_weight": lambda gap, temperature: 1 / (1 + math.exp(gap / temperature)),
        "not_normalised": lambda gap, temperature: math.exp(gap / temperature),
    },
)
MY_RAW_SPREAD = PersonalTask(
    "my_raw_spread",
    lambda rng: {"d_k": int(rng.choice([2, 3, 4])) ** 4, "sigma": int(rng.integers(2, 10))},
    lambda d_k, sigma: sigma / d_k**0.25,
    {
        "divided_by_root_of_d_k": lambda d_k, sigma: sigma / math.sqrt(d_k),
        "spread_multiplied": lambda d_k, sigma: sigma * d_k**0.25,
        "divided_by_d_k": lambda d_k, sigma: sigma / d_k,
    },
)
MY_KV_CACHE = PersonalTask(
    "my_kv_cache",
    lambda rng: {
        "n_layer": int(rng.integers(5, 13)),
        "d_model": 64 * int(rng.integers(4, 13)),
        "T": int(rng.integers(2, 9)) * 100,
    },
    lambda n_layer, d_model, T: 2 * 4 * n_layer * d_model * T,
    {
        "keys_only": lambda n_layer, d_model, T: 4 * n_layer * d_model * T,
        "numbers_for_bytes": lambda n_layer, d_model, T: 2 * n_layer * d_model * T,
        "megabytes": lambda n_layer, d_model, T: 2 * 4 * n_layer * d_model * T / 1e6,
        "one_layer": lambda n_layer, d_model, T: 2 * 4 * d_model * T,
        "one_token": lambda n_layer, d_model, T: 2 * 4 * n_layer * d_model,
    },
    share=0.0,
)
PERSONAL = {
    task.name: task
    for task in (
        *(MY_D_K, MY_FUSED_COLUMN, MY_DIVISOR, MY_ALLOWED_CELLS),
        *(MY_WEIGHT, MY_RAW_SPREAD, MY_KV_CACHE),
    )
}
