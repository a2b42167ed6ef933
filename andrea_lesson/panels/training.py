"""One head learns the library look-up: weights, W_Q W_Kᵀ and loss, step by step."""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..experiments import FloatArray
from ..labels import label
from ..lookup import CARDS
from ..racing import EPSILON, History, Setting, train
from .base import Panel
from .controls import checkbox, slider, stepped_slider
from .knobs import STEPS, knobs, set_to, started
from .settings import SEEDS, SettingError, choice, whole
from .training_picture import describe, summarise, warn

LOOKS = 80  # at most, over a training, beside that at its start


@dataclass(frozen=True, eq=False)
class TrainingState:
    """What the training panel shows: a whole training, and one look at it.

    `look` is the row of `history` that belongs to `step`; `row` is the query whose numbers are
    written out, and asks for the card of the same number.  `limit` takes in all of `match` over
    all looks.
    """

    setting: Setting
    seed: int
    step: int
    row: int
    look: int
    history: History
    limit: float

    @property
    def weights(self) -> FloatArray:
        """Attention weights at this step, (cards, cards)."""
        return np.asarray(self.history.weights[self.look])

    @property
    def match(self) -> FloatArray:
        """W_Q W_Kᵀ times the scale at this step, (topics, topics + books)."""
        return np.asarray(self.history.match[self.look])


def compute(
    *,
    step: int = 0,
    row: int = 0,
    d_k: int = 64,
    sigma: float = 1.0,
    eta: float = 0.003,
    optimiser: str = "adam",
    scaled: bool = True,
    seed: int = 0,
    steps: int = STEPS,
    epsilon: float = EPSILON,
) -> TrainingState:
    """Let a head learn, unless it has just done so, and look at it after some steps.

    Parameters
    ----------
    step : int
        0…steps; the look nearest to it is shown.
    row : int
        0…15.
    d_k : int
        1…4096.
    sigma, eta : float
        Spread of W_Q and W_K at the start, and their learning rate.
    optimiser : {"sgd", "adam"}
    scaled : bool
        Divide the scores by √d_k.
    seed : int
    steps : int
        Of the whole training.
    epsilon : float
        Of Adam.

    Returns
    -------
    TrainingState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    setting = set_to(
        d_k=d_k,
        sigma=sigma,
        eta=eta,
        optimiser=optimiser,
        scaled=scaled,
        steps=steps,
        epsilon=epsilon,
    )
    step, row = whole("step", step, 0, steps), whole("row", row, 0, CARDS - 1)
    seed = whole("seed", seed, *SEEDS)
    try:
        history, limit = _trained(setting, seed)
    except KeyboardInterrupt:
        raise SettingError(label("training_interrupted")) from None
    look = int(np.abs(history.step - step).argmin())
    return TrainingState(setting, seed, int(history.step[look]), row, look, history, limit)


def looks(steps: int) -> tuple[int, ...]:
    """Steps at which a training of so many is looked at."""
    return tuple(sorted({*range(0, steps + 1, _every(steps)), steps}))


def _every(steps: int) -> int:
    return -(-steps // LOOKS)


@lru_cache(maxsize=8)  # 1.6 MB each
def _trained(setting: Setting, seed: int) -> tuple[History, float]:
    history = train(setting, seed, every=_every(setting.steps))
    seen = history.match[np.isfinite(history.match)]
    return history, float(np.abs(seen).max(initial=0.0))


def training_panel(
    setting: Setting | None = None,
    seed: int = 0,
    *,
    step: int | None = None,
    row: int = 0,
    view: str = "live",
    large: bool = False,
) -> Panel:
    """A head that learns to find cards by their topic, to scrub through.

    The step follows the hand at once, for the whole training is kept.  A change of anything else
    trains anew: about a quarter of a second up to d_k = 64, up to two at 1024; meanwhile the
    browser sends only where the slider stands at last.

    Parameters
    ----------
    setting : andrea_lesson.training.Setting, optional
        To start with; 400 steps of Adam at d_k = 64 by default.
    seed : int
    step : int, optional
        To start at; the last one by default.
    row : int
        Query whose numbers are written out, 0…15.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `step`, `row`, `d_k`, `sigma`, `eta`, `optimiser`, `scaled`, `seed`; Play moves
        `step`.
    """
    setting = started(setting)
    choice("scaled", setting.scaled, (False, True))
    step = setting.steps if step is None else whole("step", step, 0, setting.steps)
    whole("row", row, 0, CARDS - 1)
    whole("seed", seed, *SEEDS)
    places = looks(setting.steps)

    def prepare(controls: dict[str, Any]) -> None:
        """Take the step to the nearest one that was looked at."""
        control = controls["step"]
        if control.fits(control.value) and control.min <= control.value <= control.max:
            control.value = min(places, key=lambda place: abs(place - control.value))

    controls = {
        "step": stepped_slider("step", step, places),
        "row": slider("row", row, 0, CARDS - 1),
        **knobs(setting),
        "scaled": checkbox("scaled", setting.scaled),
        "seed": slider("seed", seed, *SEEDS),
    }
    return Panel(
        controls,
        partial(compute, steps=setting.steps, epsilon=setting.epsilon),
        describe,
        summarise,
        view=view,
        large=large,
        selects={"query": "row"},
        play="step",
        warn=warn,
        prepare=prepare,
    )
