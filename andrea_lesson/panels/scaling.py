"""What d_k does to scores, to a row of weights, and to the number of keys it spreads over."""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from .. import experiments
from ..experiments import DIVISORS, LONGEST, WIDEST, FloatArray, RowSpreads, RunningScores
from ..family import FAMILY
from ..labels import label
from ..scaled_dot_product import softmax
from .base import Panel
from .controls import dropdown, log_slider, slider, stepped_slider
from .scaling_picture import describe, summarise, warn
from .settings import SEEDS, SettingError, choice, whole

COMPONENTS = (*experiments.COMPONENTS, "any")
SIGMAS = (0.1, 4.0)  # standard deviations of "any" components
D_MODELS = tuple(sorted({model.d_model for model in FAMILY}))
THEORY_UP_TO = 1.0  # std of scores: what scaling makes of it; beyond, rows soon freeze


def _log_spaced(low: int, high: int, per_octave: int) -> tuple[int, ...]:
    """Whole numbers that lie evenly on a logarithmic slider, powers of 2 among them."""
    steps = range(round(np.log2(low) * per_octave), round(np.log2(high) * per_octave) + 1)
    return tuple(sorted({round(2 ** (step / per_octave)) for step in steps}))


WIDTHS = _log_spaced(1, WIDEST, 8)
LENGTHS = _log_spaced(2, LONGEST, 4)


@dataclass(frozen=True, eq=False)
class ScalingState:
    """What the scaling panel shows; all scores are those after the division.

    `std`, `keys` and `match` go over the d_k of `widths`; the last two are medians over 64 rows
    of T keys, and in `key_grid` the effective keys have a row for each T of `lengths`.
    `*_here` are the same at this d_k, and `predicted_*` what theory says, NaN where it says
    nothing: that of keys and match is for scores that spread by 1 at most.

    `scores` are those of 64 queries with 1024 keys, `row` those of the first query with T keys,
    with its `weights` and `effective_keys`; `std_limits` are powers of 10 that take in `std` at
    all d_k and sigma.  `match` is the weight of a key that equals the
    query, `match_score` its score in theory.  `sigma` is 1 unless it was chosen.
    """

    d_k: int
    T: int
    divisor: str
    divisor_value: float
    d_model: int
    components: str
    sigma: float
    seed: int
    scores: FloatArray
    row: FloatArray
    weights: FloatArray
    effective_keys: float
    widths: tuple[int, ...]
    lengths: tuple[int, ...]
    std_limits: tuple[float, float]
    std: FloatArray
    predicted_std: FloatArray
    std_here: float
    predicted_std_here: float
    key_grid: FloatArray
    keys: FloatArray
    predicted_keys: FloatArray
    keys_here: float
    predicted_keys_here: float
    match: FloatArray
    predicted_match: FloatArray
    match_here: float
    predicted_match_here: float
    match_score_here: float


def compute(
    *,
    d_k: int = 64,
    T: int = 128,
    divisor: str = "none",
    d_model: int = 768,
    components: str = "unit-variance",
    sigma: float = 1.0,
    seed: int = 0,
) -> ScalingState:
    """Random dot products of width d_k, and what softmax makes of a row of T of them.

    Parameters
    ----------
    d_k : int
        1…4096.
    T : int
        Keys in the row, 2…1024.
    divisor : {"none", "sqrt_d_k", "d_k", "sqrt_d_model"}
        What the scores are divided by.
    d_model : {384, 768, 1536}
        Of the divisor √d_model.
    components : {"unit-variance", "unit-vectors", "any"}
        Components of mean 0 and variance 1, vectors of length 1, or components of mean 0 and
        standard deviation `sigma`.
    sigma : float
        0.1…4; of "any" components.
    seed : int

    Returns
    -------
    ScalingState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    d_k, T = whole("d_k", d_k, 1, WIDEST), whole("T", T, 2, LONGEST)
    choice("divisor", divisor, DIVISORS)
    choice("d_model", d_model, D_MODELS)
    choice("components", components, COMPONENTS)
    seed = whole("seed", seed, *SEEDS)
    sigma = _sigma(sigma) if components == "any" else 1.0
    kind = "unit-vectors" if components == "unit-vectors" else "unit-variance"
    drawn = _Drawn(seed, kind, sigma, divisor, d_model if divisor == "sqrt_d_model" else None)

    running = _all_widths(seed) if d_k in WIDTHS else _one_width(seed, d_k)
    place = list(running.d_k).index(d_k)
    factors = drawn.factors((d_k,))
    scores = running.of(kind, places=slice(place, place + 1), factors=factors)[0]  # (64, 1024)
    row = scores[0, :T].astype(np.float64)
    weights = softmax(row)
    keys, match = _medians(drawn, T, WIDTHS)
    keys_here, match_here = _medians(drawn, T, (d_k,))
    # Theory at all widths of the curves, and at the end at this one.
    predicted_std = drawn.predicted_std((*WIDTHS, d_k))
    match_score = drawn.match_score((*WIDTHS, d_k))
    told = predicted_std <= THEORY_UP_TO * (1 + 1e-9)
    predicted_keys = np.where(told, experiments.theory_keys(predicted_std, T), np.nan)
    predicted_match = np.where(
        told, experiments.theory_match(match_score, predicted_std, T), np.nan
    )
    return ScalingState(
        d_k=d_k,
        T=T,
        divisor=divisor,
        divisor_value=experiments.divisor_value(divisor, d_k, d_model),
        d_model=d_model,
        components=components,
        sigma=sigma,
        seed=seed,
        scores=scores.ravel(),
        row=row,
        weights=weights,
        effective_keys=float(experiments.effective_keys(weights)),
        widths=WIDTHS,
        lengths=LENGTHS,
        std_limits=_std_limits(drawn, components),
        std=_raw_std(seed, kind) * drawn.factors(WIDTHS),
        predicted_std=predicted_std[:-1],
        std_here=float(scores.std()),
        predicted_std_here=float(predicted_std[-1]),
        key_grid=_measured(drawn, LENGTHS, WIDTHS).effective_keys,
        keys=keys,
        predicted_keys=predicted_keys[:-1],
        keys_here=float(keys_here[0]),
        predicted_keys_here=float(predicted_keys[-1]),
        match=match,
        predicted_match=predicted_match[:-1],
        match_here=float(match_here[0]),
        predicted_match_here=float(predicted_match[-1]),
        match_score_here=float(match_score[-1]),
    )


def _sigma(value: Any) -> float:
    low, high = SIGMAS
    if not low <= value <= high:
        raise SettingError(
            label("bad_range", name=label("control_sigma"), value=value, low=low, high=high)
        )
    return float(value)


# -- what is drawn once and measured once ---------------------------------------------------------


@dataclass(frozen=True)
class _Drawn:
    """Random vectors and what their scores are divided by: caches go by it."""

    seed: int
    kind: str  # one of experiments.COMPONENTS
    sigma: float
    divisor: str
    d_model: int | None

    def factors(self, widths: tuple[int, ...]) -> FloatArray:
        """What the scores of components of variance 1, or of unit vectors, are multiplied by."""
        values = [experiments.divisor_value(self.divisor, d_k, self.d_model) for d_k in widths]
        return self.sigma**2 / np.array(values)

    def predicted_std(self, widths: tuple[int, ...]) -> FloatArray:
        return experiments.theory_std(widths, components=self.kind) * self.factors(widths)

    def match_score(self, widths: tuple[int, ...]) -> FloatArray:
        """Score of a key that equals the query; without factors d_k on average, or 1."""
        squares = np.array(widths, dtype=float) if self.kind == "unit-variance" else 1.0
        return squares * self.factors(widths)


def _std_limits(drawn: _Drawn, components: str) -> tuple[float, float]:
    """Powers of 10 around all that the sliders can make of the standard deviation."""
    std = drawn.predicted_std((WIDTHS[0], WIDTHS[-1]))
    if components == "any":
        std = np.outer(std, np.array(SIGMAS) ** 2) / drawn.sigma**2
    low, high = np.floor(np.log10(min(std.min() * 1.01, 0.1))), np.ceil(np.log10(std.max()))
    return float(10**low), float(10 ** max(high, 1.0))


@lru_cache(maxsize=1)  # 21 MB
def _all_widths(seed: int) -> RunningScores:
    return experiments.running_scores(WIDTHS, seed=seed)


@lru_cache(maxsize=4)  # a quarter of a megabyte each
def _one_width(seed: int, d_k: int) -> RunningScores:
    """For a width between those of the slider."""
    return experiments.running_scores((d_k,), seed=seed)


@lru_cache(maxsize=8)
def _raw_std(seed: int, kind: str) -> FloatArray:
    running = _all_widths(seed)
    std = [running.of(kind, places=slice(at, at + 1)).std() for at in range(len(WIDTHS))]
    return np.array(std, dtype=float)


@lru_cache(maxsize=64)  # 45 kB each at most
def _measured(drawn: _Drawn, Ts: tuple[int, ...], widths: tuple[int, ...]) -> RowSpreads:
    running = _all_widths(drawn.seed) if widths == WIDTHS else _one_width(drawn.seed, *widths)
    return experiments.row_spreads(running, Ts, drawn.factors(widths), components=drawn.kind)


def _medians(drawn: _Drawn, T: int, widths: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Effective keys, and weight of a perfect match, at one T; of one look-up where it can be."""
    over = WIDTHS if set(widths) <= set(WIDTHS) else widths
    Ts = LENGTHS if T in LENGTHS and over == WIDTHS else (T,)
    measured, row = _measured(drawn, Ts, over), Ts.index(T)
    places = [over.index(d_k) for d_k in widths]
    return measured.effective_keys[row, places], measured.match[row, places]


# -- the panel ------------------------------------------------------------------------------------


def scaling_panel(*, view: str = "live", large: bool = False) -> Panel:
    """Spread of scores, weights, effective keys and a perfect match, following d_k and T.

    Parameters
    ----------
    view : {"live", "matplotlib"}
        As in :class:`~andrea_lesson.panels.base.Panel`.
    large : bool
        For a projector.

    Returns
    -------
    Panel
        Controls `d_k`, `T`, `divisor`, `d_model`, `components`, `sigma`, `seed`.
    """
    models = {model.d_model: model.name for model in FAMILY}

    def prepare(controls: dict[str, Any]) -> None:
        controls["d_model"].disabled = controls["divisor"].value != "sqrt_d_model"
        controls["sigma"].disabled = controls["components"].value != "any"

    controls = {
        "d_k": stepped_slider("d_k", 64, WIDTHS),
        "T": stepped_slider("T", 128, LENGTHS),
        "divisor": dropdown("divisor", "none", [(label(f"divisor_{d}"), d) for d in DIVISORS]),
        "d_model": dropdown(
            "d_model", 768, [(f"{width:,} ({models[width]})", width) for width in D_MODELS]
        ),
        "components": dropdown(
            "components", COMPONENTS[0], [(label(f"components_{c}"), c) for c in COMPONENTS]
        ),
        "sigma": log_slider("sigma", 1.0, *SIGMAS),
        "seed": slider("seed", 0, *SEEDS),
    }
    return Panel(
        controls,
        compute,
        partial(describe, large=large),
        summarise,
        view=view,
        large=large,
        play="d_k",
        warn=warn,
        prepare=prepare,
    )
