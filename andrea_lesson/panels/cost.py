"""What attention costs over T: memory and time of each way, counted, predicted, and measured."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..costs import (
    BYTES,
    Cost,
    cache_bytes,
    decoder_cost,
    input_bytes,
    textbook_cost,
    tiled_cost,
)
from ..experiments import FloatArray
from ..family import ANDREA_120M
from ..kv_cache import KVCache
from ..labels import label
from ..machine import Memory, memory
from ..scaled_dot_product import attention
from ..tiled import tiled_attention
from ..timing import Rates, Timing, machine_rates, measure
from .base import Panel
from .controls import Press, dropdown, press, stepped_slider
from .cost_picture import describe, summarise, warn
from .settings import choice, whole

LENGTHS = tuple(sorted({round(2 ** (step / 4)) for step in range(16, 57)}))  # 16…16,384
WIDTHS = (8, 16, 32, 64, 128, 256)
HEADS = (1, 2, 4, 8, 12, 16, 24, 32)
MASKS = ("causal", "full")
WAYS = ("textbook", "tiled", "decoder")
LONGEST = 3.0  # seconds; what is predicted to take longer, run twice, is not measured
_SHARE = 0.8  # of the free memory that a measurement may take


@dataclass(frozen=True)
class Setting:
    """What is attended to, but for T."""

    d_k: int
    n_head: int
    precision: str
    causal: bool


@dataclass(frozen=True, eq=False)
class Way:
    """One way: counts at this T, predictions over all T, and what was measured.

    `bytes` is the memory that a call takes beyond its inputs, the result included, and
    `seconds` the time predicted; both also over the T of the curves.  `timing` is what was
    measured at this T, and `measured` all that was at this setting, by T.  `refused` says why it
    will not be measured at this T: "memory", "time", or None.
    """

    name: str
    cost: Cost
    bytes: int
    seconds: float
    bytes_curve: FloatArray
    seconds_curve: FloatArray
    timing: Timing | None
    measured: dict[int, Timing]
    refused: str | None


@dataclass(frozen=True, eq=False)
class CostState:
    """What the cost panel shows.

    `most` is the largest T at which the textbook way, with its inputs, fits into the memory of
    this machine; None if nobody tells how much that is.
    """

    T: int
    d_k: int
    n_head: int
    precision: str
    mask: str
    lengths: tuple[int, ...]
    ways: dict[str, Way]
    cache_bytes: int
    memory: Memory
    most: int | None
    rates: Rates


Measured = dict[tuple[str, Setting, int], Timing]


def compute(
    *,
    T: int = 1024,
    d_k: int = 64,
    n_head: int = 12,
    precision: str = "float32",
    mask: str = "causal",
    measure: int = 0,
    measured: Measured | None = None,
) -> CostState:
    """Memory and time of the textbook way, the tiled way and a decoder step.

    Parameters
    ----------
    T : int
        16…16,384.
    d_k : int
        8…256.
    n_head : int
        1…32.
    precision : {"float16", "float32", "float64"}
    mask : {"causal", "full"}
    measure : int
        How often the button was pressed; nothing is measured here.
    measured : dict, optional
        What has been, by way, setting and T.

    Returns
    -------
    CostState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    T = whole("T", T, LENGTHS[0], LENGTHS[-1])
    setting = Setting(
        whole("d_k", d_k, WIDTHS[0], WIDTHS[-1]),
        whole("n_head", n_head, HEADS[0], HEADS[-1]),
        choice("precision", precision, tuple(BYTES)),
        choice("mask", mask, MASKS) == "causal",
    )
    rates, room = machine_rates(precision), memory()
    ways = {}
    for name in WAYS:
        cost = counted(name, setting, T, rates)
        bytes_curve, seconds_curve = _curves(name, setting, rates)
        all_of_it = {
            at: timing
            for (way, its, at), timing in (measured or {}).items()
            if (way, its) == (name, setting)
        }
        needs, takes = _total(cost), _seconds(name, cost, rates)
        ways[name] = Way(
            name,
            cost,
            needs,
            takes,
            bytes_curve,
            seconds_curve,
            all_of_it.get(T),
            all_of_it,
            _refused(needs + _inputs(setting, T), takes, room),
        )
    return CostState(
        T=T,
        d_k=d_k,
        n_head=n_head,
        precision=precision,
        mask=mask,
        lengths=LENGTHS,
        ways=ways,
        cache_bytes=cache_bytes(T, d_k, n_head=n_head, precision=precision),
        memory=room,
        most=_most(setting, room),
        rates=rates,
    )


# -- counted and predicted -----------------------------------------------------------------------


def counted(name: str, setting: Setting, T: int, rates: Rates) -> Cost:
    """Count one way at one T."""
    size: dict[str, Any] = {"n_head": setting.n_head, "precision": setting.precision}
    if name == "decoder":
        return decoder_cost(T, setting.d_k, **size)
    size["causal"] = setting.causal
    if name == "tiled":
        return tiled_cost(T, setting.d_k, **size, threads=rates.ran_on.threads)
    return textbook_cost(T, setting.d_k, **size)


def _total(cost: Cost) -> int:
    return cost.working_bytes + cost.output_bytes


def _seconds(name: str, cost: Cost, rates: Rates) -> float:
    """Only the tiled way shares its exponentials out over threads."""
    return rates.seconds(cost, threads=rates.ran_on.threads if name == "tiled" else 1)


@lru_cache(maxsize=64)
def _curves(name: str, setting: Setting, rates: Rates) -> tuple[FloatArray, FloatArray]:
    costs = [counted(name, setting, T, rates) for T in LENGTHS]
    curves = (
        np.array([_total(cost) for cost in costs], dtype=float),
        np.array([_seconds(name, cost, rates) for cost in costs]),
    )
    for curve in curves:
        curve.setflags(write=False)  # who changed it would change it for all
    return curves


def _inputs(setting: Setting, T: int) -> int:
    return input_bytes(T, setting.d_k, n_head=setting.n_head, precision=setting.precision)


def _refused(needs: int, takes: float, room: Memory) -> str | None:
    if room.free is not None and needs > _SHARE * room.free:
        return "memory"
    return "time" if 2 * takes > LONGEST else None


@lru_cache(maxsize=64)
def _most_within(setting: Setting, total: int) -> int:
    """Find the largest T up to the longest that fits, by halving; 0 if none does."""
    size: dict[str, Any] = {"n_head": setting.n_head, "precision": setting.precision}
    fits, over = 0, LENGTHS[-1] + 1
    while over - fits > 1:
        T = (fits + over) // 2
        cost = textbook_cost(T, setting.d_k, **size, causal=setting.causal)
        if _total(cost) + _inputs(setting, T) <= total:
            fits = T
        else:
            over = T
    return fits


def _most(setting: Setting, room: Memory) -> int | None:
    return None if room.total is None else _most_within(setting, room.total)


# -- measured ------------------------------------------------------------------------------------


def measured_here(name: str, setting: Setting, T: int, expected: float) -> Timing:
    """Run one way on random numbers, as often as fits into a second or so.

    Parameters
    ----------
    name : {"textbook", "tiled", "decoder"}
    setting : Setting
    T : int
    expected : float
        Seconds that a run will take.

    Returns
    -------
    Timing
    """
    shape = setting.n_head, T, setting.d_k
    Q, K, V = (_random(shape, setting.precision, seed) for seed in range(3))
    mask = "causal" if setting.causal else None
    ways: dict[str, Callable[[], Any]] = {
        "textbook": lambda: attention(Q, K, V, mask=mask),
        "tiled": lambda: tiled_attention(Q, K, V, mask=mask),
        "decoder": lambda: cache.attend(Q[:, -1]),
    }
    if name == "decoder":
        cache = KVCache(T, lead=(setting.n_head,))
        cache.append(K, V)
    repeats = int(min(max(1.0 / max(expected, 1e-6), 1), 7))
    return measure(ways[name], repeats=repeats, warm_up=1 if repeats > 1 else 0)


def _random(shape: tuple[int, ...], precision: str, seed: int) -> FloatArray:
    """Random numbers; of many, a million are drawn and repeated, which takes less time."""
    size = int(np.prod(shape))
    drawn = np.random.default_rng(seed).standard_normal(min(size, 2**20), dtype=np.float32)
    return np.resize(drawn.astype(precision), size).reshape(shape)


# -- the panel -----------------------------------------------------------------------------------


def cost_panel(
    T: int = ANDREA_120M.T,
    *,
    d_k: int = ANDREA_120M.d_k,
    n_head: int = ANDREA_120M.n_head,
    view: str = "live",
    large: bool = False,
) -> Panel:
    """Memory and time of each way over T: predicted from counts, and measured when asked to.

    Parameters
    ----------
    T, d_k, n_head : int
        To start with; those of ANDREA-120M by default.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `T`, `d_k`, `n_head`, `precision`, `mask`, `measure`; the last is a button that
        runs what is set here and now.  Play moves `T`.
    """
    whole("T", T, LENGTHS[0], LENGTHS[-1])
    whole("d_k", d_k, WIDTHS[0], WIDTHS[-1])
    whole("n_head", n_head, HEADS[0], HEADS[-1])
    controls = {
        "T": stepped_slider("T", T, sorted({*LENGTHS, T})),
        "d_k": stepped_slider("d_k", d_k, sorted({*WIDTHS, d_k})),
        "n_head": stepped_slider("n_head", n_head, sorted({*HEADS, n_head})),
        "precision": dropdown("precision", "float32", [(name, name) for name in BYTES]),
        "mask": dropdown("mask", "causal", [(label(f"kind_{kind}"), kind) for kind in MASKS]),
        "measure": press("measure"),
    }
    measured: Measured = {}
    return _CostPanel(
        controls,
        partial(compute, measured=measured),
        describe,
        summarise,
        view=view,
        large=large,
        play="T",
        warn=warn,
        measured=measured,
    )


class _CostPanel(Panel):
    """Whatever is timed runs before the panel reacts, which keeps to one thread."""

    def __init__(self, *arguments: Any, measured: Measured, **named: Any) -> None:
        self._measured = measured
        super().__init__(*arguments, **named)

    def _moved(self, change: Any = None) -> None:
        if self._reacting:
            return
        pressed = change is not None and isinstance(change["owner"], Press)
        machine_rates(self.controls["precision"].value, anew=pressed)
        if pressed and self.state is not None:
            self._measure(change["owner"], self.state)
        super()._moved(change)

    def _measure(self, button: Press, state: CostState) -> None:
        setting = Setting(state.d_k, state.n_head, state.precision, state.mask == "causal")
        words, button.disabled = button.description, True
        button.description = label("cost_measuring")
        try:
            for way in state.ways.values():
                if way.refused is None:
                    self._measured[way.name, setting, state.T] = measured_here(
                        way.name, setting, state.T, way.seconds
                    )
        finally:
            button.description, button.disabled = words, False
