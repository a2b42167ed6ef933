"""The leakage lab: five decoders that differ only in their mask, in training and in honest use."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..data_files import DataFileError, damaged, data_path
from ..decoder import VARIANTS, allowed_by
from ..experiments import FloatArray
from ..labels import LANGUAGES, get_language, label
from ..leakage import (
    COMMAND,
    NAME,
    SEEDS,
    LeakageRun,
    LeakageSetting,
    load_results,
)
from ..masks import BoolArray
from .base import Panel
from .controls import dropdown, end_at, slider
from .leakage_picture import describe, summarise, warn
from .settings import SettingError, choice, whole

MOVED = 1e-6  # of a log-probability; less may be rounding
TYPICAL = 1  # the seed to start with: its losses are near the median of all, for every mask
_MOST = 64  # characters and heads that the sliders reach until a run says how many there are


@dataclass(frozen=True, eq=False)
class LeakageState:
    """What the leakage panel shows.

    `run` is that of the chosen mask, `right` that of the causal one, and `runs` are all of this
    text, which say how far the rulers reach.  `visible` tells which weights the mask leaves in
    place, True = may attend, `weights` are those of the chosen head, and `largest` is the
    position of the largest in the chosen row; None if the row may attend to nothing.  `leaks`
    marks rows before the changed character that moved.
    """

    variant: str
    text: str
    seed: int
    head: int
    row: int
    run: LeakageRun
    right: LeakageRun
    runs: tuple[LeakageRun, ...]
    visible: BoolArray
    weights: FloatArray
    largest: int | None
    leaks: BoolArray

    @property
    def honest(self) -> float:
        """Loss at the end, each character predicted from nothing but those before it."""
        return float(self.run.honest_loss[-1])

    @property
    def following(self) -> str | None:
        """The character that the chosen row must predict; None after the last one shown."""
        characters = self.run.characters
        return characters[self.row + 1] if self.row + 1 < len(characters) else None


def compute(
    *,
    variant: str = "causal",
    head: int = 0,
    row: int = 23,
    text: str = "zh-Hant",
    seed: int = TYPICAL,
) -> LeakageState:
    """Look up one of the shipped runs.

    Parameters
    ----------
    variant : str
        One of :data:`andrea_lesson.training.VARIANTS`.
    head : int
        Whose weights are shown.
    row : int
        The position that is followed.
    text : {"zh-Hant", "en"}
        Language of the text.
    seed : int
        Of the training.

    Returns
    -------
    LeakageState

    Raises
    ------
    SettingError
        In one sentence of the current language, or the one that says how to make the file with
        the runs.
    """
    choice("variant", variant, VARIANTS)
    choice("text", text, LANGUAGES)
    whole("seed", seed, SEEDS[0], SEEDS[-1])
    runs = tuple(run_of(name, text, seed) for name in VARIANTS)
    run, right = (runs[VARIANTS.index(name)] for name in (variant, "causal"))
    n_head, T = run.weights.shape[:2]
    head, row = whole("head", head, 0, n_head - 1), whole("row", row, 0, T - 1)
    visible = _visible(variant, T)
    weights = run.weights[head]
    return LeakageState(
        variant=variant,
        text=text,
        seed=seed,
        head=head,
        row=row,
        run=run,
        right=right,
        runs=runs,
        visible=visible,
        weights=weights,
        largest=int(np.argmax(weights[row])) if visible[row].any() else None,
        leaks=(run.probe > MOVED) & (np.arange(T) < run.changed),
    )


@lru_cache(maxsize=16)
def _visible(variant: str, T: int) -> BoolArray:
    before, after = allowed_by(variant, T)
    visible: BoolArray = before & after
    visible.setflags(write=False)  # who changed it would change it for all
    return visible


@lru_cache(maxsize=1)
def _loaded() -> Mapping[LeakageSetting, LeakageRun]:
    results = load_results()
    if not results.complete:
        raise damaged(data_path(NAME), COMMAND, "not all runs are made yet")
    return results.runs


def run_of(variant: str, text: str, seed: int) -> LeakageRun:
    """Find one of the runs that ship with the lesson.

    Raises
    ------
    SettingError
        In the sentence that says how to make the file with the runs, if it cannot be read.
    """
    try:
        return _loaded()[LeakageSetting(variant, text, seed=seed)]
    except DataFileError as problem:
        raise SettingError(str(problem)) from None


def _telling_head(text: str) -> int:
    """The head that looks most at the next character where no mask hides it."""
    try:
        weights = run_of("none", text, TYPICAL).weights
    except SettingError:  # which the panel says itself
        return 0
    return int(np.argmax(weights.diagonal(1, axis1=1, axis2=2).mean(axis=-1)))


def leakage_panel(
    variant: str = "causal",
    *,
    text: str | None = None,
    head: int | None = None,
    row: int = 23,
    view: str = "live",
    large: bool = False,
) -> Panel:
    """What a mask does to training and to honest use: losses, weights, probe, and what it writes.

    Parameters
    ----------
    variant : str
        Mask to start with, one of :data:`andrea_lesson.training.VARIANTS`.
    text : {"zh-Hant", "en"}, optional
        Language of the text that was learned; the current language by default.
    head, row : int, optional
        To start with; by default the head that looks most at the next character where no mask
        hides it.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `variant`, `head`, `row`, `text`, `seed`; `.warning` says so when the mask leaks.
    """
    text = get_language() if text is None else text
    choice("variant", variant, VARIANTS)
    choice("text", text, LANGUAGES)
    head = _telling_head(text) if head is None else whole("head", head, 0, _MOST - 1)
    whole("row", row, 0, _MOST - 1)

    def prepare(controls: dict[str, Any]) -> None:
        variant, text = (controls[name].value for name in ("variant", "text"))
        if variant not in VARIANTS or text not in LANGUAGES:
            return  # `compute` says so
        run = run_of(variant, text, TYPICAL)
        n_head, T = run.weights.shape[:2]
        end_at(controls["head"], n_head - 1)
        end_at(controls["row"], T - 1)

    named = [(f"{n}. {label(f'leakage_{name}')}", name) for n, name in enumerate(VARIANTS, 1)]
    controls = {
        "variant": dropdown("variant", variant, named),
        "head": slider("head", head, 0, _MOST - 1),
        "row": slider("row", row, 0, _MOST - 1),
        "text": dropdown("text", text, [(label(f"leakage_text_{one}"), one) for one in LANGUAGES]),
        "seed": slider("seed", TYPICAL, SEEDS[0], SEEDS[-1]),
    }
    return Panel(
        controls,
        compute,
        partial(describe, large=bool(large)),
        summarise,
        view=view,
        large=large,
        selects={"query": "row"},
        warn=warn,
        prepare=prepare,
    )
