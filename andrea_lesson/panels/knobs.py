"""The knobs of training: d_k, initial spread σ, learning rate η and optimiser, as controls."""

from typing import Any

from ..labels import label
from ..race_grid import D_K, ETA, SIGMA
from ..racing import EPSILON, OPTIMISERS, Setting
from ..random_scores import WIDEST
from .controls import SteppedReal, dropdown, stepped_real_slider, stepped_slider
from .settings import SettingError, choice, told, whole

STEPS = Setting().steps  # of training, unless a panel is given a setting
WIDTHS = tuple(2**power for power in range(11))
SIGMAS = (0.02, *sorted(SIGMA), 2.0)  # GPT-2 begins at 0.02
RATES = tuple(sorted({eta for etas in ETA.values() for eta in etas}))
_LIMITS = {"sigma": (0.001, 100.0), "eta": (1e-6, 1e6)}


def knobs(setting: Setting) -> dict[str, Any]:
    """Make the controls `d_k`, `sigma`, `eta` and `optimiser`, standing at a setting."""
    return {
        "d_k": stepped_slider("d_k", setting.d_k, sorted({*WIDTHS, *D_K, setting.d_k})),
        "sigma": _real("start_sigma", setting.sigma, SIGMAS),
        "eta": _real("eta", setting.eta, RATES),
        "optimiser": dropdown(
            "optimiser", setting.optimiser, [(label(f"optimiser_{o}"), o) for o in OPTIMISERS]
        ),
    }


def _real(name: str, value: float, steps: tuple[float, ...]) -> SteppedReal:
    return stepped_real_slider(name, float(value), sorted({*steps, float(value)}))


def set_to(
    *,
    d_k: Any,
    sigma: Any,
    eta: Any,
    optimiser: Any,
    scaled: Any,
    steps: int = STEPS,
    epsilon: float = EPSILON,
) -> Setting:
    """Make the setting at which the knobs stand.

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    return Setting(
        d_k=whole("d_k", d_k, 1, WIDEST),
        sigma=_between("start_sigma", sigma, *_LIMITS["sigma"]),
        eta=_between("eta", eta, *_LIMITS["eta"]),
        optimiser=choice("optimiser", optimiser, OPTIMISERS),
        scaled=choice("scaled", scaled, (False, True)),
        steps=steps,
        epsilon=epsilon,
    )


def started(setting: Setting | None) -> Setting:
    """The setting with which a panel begins: the usual one unless another is given.

    Raises
    ------
    TypeError
        If what is given is no setting.
    """
    if setting is None:
        return Setting(steps=STEPS)
    if not isinstance(setting, Setting):
        raise TypeError(
            f"setting must be an andrea_lesson.training.Setting; got {type(setting).__name__}."
        )
    return setting


def _between(name: str, value: Any, low: float, high: float) -> float:
    if not SteppedReal.fits(value) or not low <= value <= high:
        raise SettingError(
            label(
                "bad_range",
                name=label(f"control_{name}"),
                value=told(value),
                low=told(low),
                high=told(high),
            )
        )
    return float(value)
