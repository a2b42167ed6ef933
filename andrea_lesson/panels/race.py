"""Scaled against raw on equal seeds: curves of a race, and the grid of how all races end."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..data_files import DataFileError
from ..experiments import FloatArray
from ..labels import get_language, label, language
from ..masks import BoolArray
from ..race_grid import D_K, ETA, SIGMA, Point, RaceGrid, load_grid
from ..racing import EPSILON, Progress, Race, Setting, race, twin
from .base import Panel, _blas, _line, _sentence, _usual_numpy, strict
from .controls import Press, checkbox, dropdown, press
from .knobs import STEPS, knobs, set_to, started
from .race_picture import describe, summarise, warn
from .settings import SettingError, choice

CURVES = ("accuracy", "loss")
QUICK = 64  # d_k up to which a race takes about a second: so far it is run without the button
TOLERANCE = 1e-3  # between what ships and the same trained now, where it is steady
_MOST_RACES = 100  # that are kept, some kilobytes each


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a race: how it ended here, how it did when the grid was made, the map.

    `raced` and `shipped` are None where there is none.  `accuracy` and `chaotic` have a row for
    each d_k of the grid and a column for each η, NaN where nothing ships.
    """

    setting: Setting
    raced: Point | None
    shipped: Point | None
    accuracy: FloatArray
    chaotic: BoolArray

    @property
    def end(self) -> Point | None:
        """How it ended here, or else as it ships."""
        return self.raced or self.shipped

    @property
    def apart(self) -> float | None:
        """Largest difference between both; None unless there are both."""
        if self.raced is None or self.shipped is None:
            return None
        return self.raced.distance(self.shipped)


@dataclass(frozen=True, eq=False)
class RaceState:
    """What the race panel shows.

    `race` is None until it is run; `apart` is then the largest difference between the curves of
    both sides, over loss and accuracy of all seeds.  `place` is the point in the grid, row and
    column, or None.  `ahead` is "scaled", "raw" or "level", by final accuracy, or None.
    """

    d_k: int
    sigma: float
    eta: float
    optimiser: str
    twin: bool
    curve: str
    scaled: Side
    raw: Side
    race: Race | None
    apart: float | None
    place: tuple[int, int] | None
    ahead: str | None
    grid: bool


Races = dict[tuple[Setting, Setting], Race]


def compute(
    *,
    d_k: int = 64,
    sigma: float = 1.0,
    eta: float = 0.003,
    optimiser: str = "adam",
    twin: bool = False,
    curve: str = "accuracy",
    train: int = 0,
    steps: int = STEPS,
    epsilon: float = EPSILON,
    races: Mapping[tuple[Setting, Setting], Race] | None = None,
    grid: RaceGrid | None = None,
) -> RaceState:
    """Both sides at a setting, as far as they are known; nothing is trained here.

    Parameters
    ----------
    d_k : int
        1…4096.
    sigma, eta : float
        Of the scaled side, and of the raw one unless it is the twin.
    optimiser : {"sgd", "adam"}
    twin : bool
        Whether the raw side has σ and η of the twin.
    curve : {"accuracy", "loss"}
    train : int
        How often the button was pressed.
    steps, epsilon
        As in :class:`~andrea_lesson.training.Setting`.
    races : mapping, optional
        What has been run, by the settings of both sides.
    grid : RaceGrid, optional
        What ships.

    Returns
    -------
    RaceState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    sides = settings_of(
        d_k=d_k,
        sigma=sigma,
        eta=eta,
        optimiser=optimiser,
        twin=twin,
        steps=steps,
        epsilon=epsilon,
    )
    choice("curve", curve, CURVES)
    run = (races or {}).get(sides)
    both = [None, None] if run is None else [run.scaled, run.raw]
    scaled, raw = (
        Side(
            setting,
            None
            if curves is None
            else Point(
                tuple(map(float, curves.accuracy[:, -1])),
                tuple(float(x) if np.isfinite(x) else None for x in curves.loss[:, -1]),
            ),
            None if grid is None else grid.points.get(setting),
            *_map(grid, optimiser, sides[0].sigma, setting.scaled),
        )
        for setting, curves in zip(sides, both, strict=True)
    )
    return RaceState(
        d_k=sides[0].d_k,
        sigma=sides[0].sigma,
        eta=sides[0].eta,
        optimiser=optimiser,
        twin=twin,
        curve=curve,
        scaled=scaled,
        raw=raw,
        race=run,
        apart=None if run is None else _apart(run),
        place=_place(sides[0]),
        ahead=_ahead(scaled, raw),
        grid=grid is not None,
    )


def settings_of(*, twin: bool, **knobs: Any) -> tuple[Setting, Setting]:
    """The scaled side, and the raw one or its twin.

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    choice("twin", twin, (False, True))
    scaled = set_to(**knobs, scaled=True)
    if not twin:
        return scaled, replace(scaled, scaled=False)
    try:
        return scaled, _twin(scaled)
    except ValueError as problem:  # of what the twin would have to be
        raise SettingError(label("panel_failed", problem=problem)) from None


_twin = twin


@lru_cache(maxsize=16)
def _map(
    grid: RaceGrid | None, optimiser: str, sigma: float, scaled: bool
) -> tuple[FloatArray, BoolArray]:
    shape = len(D_K), len(ETA[optimiser])
    if grid is None or sigma not in SIGMA:
        return np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    accuracy = grid.table(optimiser, sigma, scaled=scaled)
    chaotic = grid.chaotic(optimiser, sigma, scaled=scaled)
    for array in (accuracy, chaotic):
        array.setflags(write=False)  # who changed it would change it for all
    return accuracy, chaotic


def _apart(run: Race) -> float:
    """Where both sides have overflowed they are the same; where one has, they are not."""
    most = 0.0
    for name in CURVES:
        one, other = getattr(run.scaled, name), getattr(run.raw, name)
        both = ~np.isfinite(one) & ~np.isfinite(other)
        difference = np.where(both, 0.0, np.abs(one - other))
        most = max(most, float(np.where(np.isnan(difference), np.inf, difference).max()))
    return most


def _place(setting: Setting) -> tuple[int, int] | None:
    rates = ETA[setting.optimiser]
    if setting.d_k not in D_K or setting.eta not in rates:
        return None
    return D_K.index(setting.d_k), rates.index(setting.eta)


def _ahead(scaled: Side, raw: Side) -> str | None:
    """Who answers more questions in the end; a hundredth decides nothing."""
    ends = scaled.end, raw.end
    if ends[0] is None or ends[1] is None:
        return None
    one, other = (float(np.mean(end.accuracy)) for end in ends if end is not None)
    return "level" if abs(one - other) < 0.01 else "scaled" if one > other else "raw"


# -- racing ----------------------------------------------------------------------------------------

_races: Races = {}  # of all panels: the same settings give the same numbers


def run_now(sides: tuple[Setting, Setting], progress: Progress | None = None) -> None:
    """Race now, and keep the result."""
    # Small products are slower on several threads, and much slower where cores are shared.
    with _blas().limit(limits=1, user_api="blas"), _usual_numpy():
        run = race(*sides, progress=progress)
    _races.pop(sides, None)
    _races[sides] = run
    while len(_races) > _MOST_RACES:
        _races.pop(next(iter(_races)))


@lru_cache(maxsize=1)
def _grid() -> RaceGrid:
    return load_grid()


def _shipped() -> RaceGrid | None:
    try:
        return _grid()
    except DataFileError:
        return None


# -- the panel -------------------------------------------------------------------------------------


def race_panel(
    setting: Setting | None = None,
    *,
    twin: bool = False,
    curve: str = "accuracy",
    view: str = "live",
    large: bool = False,
) -> Panel:
    """Scaled against raw: curves with their range over three seeds, and where each side learns.

    Sliders show at once how a race ends, where that ships with the lesson; the button runs it
    here, which takes from a second up to ten at d_k = 1024 and can be interrupted.  At the start,
    and when the twin is switched on, a race that takes about a second is run unasked.

    Parameters
    ----------
    setting : andrea_lesson.training.Setting, optional
        Of the scaled side, to start with; 400 steps of Adam at d_k = 64 by default.
    twin : bool
        Whether the raw side starts as the twin.
    curve : {"accuracy", "loss"}
        To start with.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `d_k`, `sigma`, `eta`, `optimiser`, `twin`, `curve`, `train`; the last is a
        button that races now.  A cell of a grid sets `d_k` and `eta`.
    """
    setting = started(setting)
    choice("twin", twin, (False, True))
    choice("curve", curve, CURVES)
    controls = {
        **knobs(setting),
        "twin": checkbox("twin", twin),
        "curve": dropdown("curve", curve, [(label(f"race_{name}"), name) for name in CURVES]),
        "train": press("train"),
    }
    return _RacePanel(
        controls,
        partial(
            compute,
            steps=setting.steps,
            epsilon=setting.epsilon,
            races=_races,
            grid=_shipped(),
        ),
        describe,
        summarise,
        view=view,
        large=large,
        warn=warn,
        start=replace(setting, scaled=True),
    )


class _RacePanel(Panel):
    """Races run before the panel reacts to what asked for them."""

    def __init__(
        self, controls: dict[str, Any], *arguments: Any, start: Setting, **named: Any
    ) -> None:
        self._start = start
        self.controls, self.language = controls, get_language()
        if start.d_k <= QUICK:
            with suppress(KeyboardInterrupt):  # then it starts without curves
                self._race(self._sides(), again=False)
        super().__init__(controls, *arguments, **named)

    def select(self, places: Mapping[str, int]) -> None:
        """Go to the d_k and the η of a cell of a grid."""
        if self._reacting or self.state is None:
            return
        values = {"d_k": D_K, "eta": ETA[self.state.optimiser]}
        wanted: dict[str, Any] = {}
        for axis, place in places.items():
            if axis in values:
                choice(axis, place, range(len(values[axis])))
                wanted[axis] = values[axis][place]
        self._reacting = True  # two controls, one reaction
        try:
            for name, value in wanted.items():
                self.controls[name].value = value
        finally:
            self._reacting = False
            self._moved()

    def _moved(self, change: Any = None) -> None:
        if self._reacting:
            return
        owner = None if change is None else change["owner"]
        if isinstance(owner, Press) or owner is self.controls["twin"]:
            sides, pressed = self._sides(), isinstance(owner, Press)
            wanted = sides is not None and (pressed or sides[0].d_k <= QUICK)
            if wanted and not self._raced(sides, again=pressed):
                return
        super()._moved(change)

    def _sides(self) -> tuple[Setting, Setting] | None:
        """The settings of both sides, or None if they are bad ones: that is said later."""
        names = ("d_k", "sigma", "eta", "optimiser", "twin")
        try:
            return settings_of(
                **{name: self.controls[name].value for name in names},
                steps=self._start.steps,
                epsilon=self._start.epsilon,
            )
        except SettingError:
            return None

    def _raced(self, sides: tuple[Setting, Setting] | None, *, again: bool) -> bool:
        """Race; False if it was interrupted or failed, and then what is on show stays."""
        try:
            self._race(sides, again=again)
        except KeyboardInterrupt:
            with language(self.language):
                words = self.controls["train"].description
                self._warn_of(label("race_interrupted", button=words))
            return False
        except Exception as problem:
            if strict():
                raise
            with language(self.language):
                self._warn_of(_sentence(problem))
            return False
        return True

    def _warn_of(self, words: str) -> None:
        self.warning = words
        self._warning_line.value = _line(words, "alert", "warning")

    def _race(self, sides: tuple[Setting, Setting] | None, *, again: bool) -> None:
        """Run a race, unless it is known and not wanted anew; tell on the button how far it is."""
        if sides is None or (sides in _races and not again):
            return
        button = self.controls["train"]
        words, button.disabled = button.description, True

        def progress(done: int, total: int) -> None:
            with language(self.language):
                told = label("race_running", percent=100 * done // total)
            if button.description != told:
                button.description = told

        try:
            run_now(sides, progress)
        finally:
            button.description, button.disabled = words, False
