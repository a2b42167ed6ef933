"""What the race panel draws and says: the curves of both sides, and two maps over d_k and η."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..experiments import FloatArray
from ..labels import label
from ..lookup import BOOKS
from ..plot_inputs import round_up
from ..race_grid import COMMAND, D_K, ETA, NAME, SIGMA, Point
from ..racing import SEEDS
from .picture import Axis, Chart, Line, Matrix, Picture, Ruler
from .settings import short

if TYPE_CHECKING:
    from .race import RaceState, Side

_NOTHING: tuple[float, ...] = ()
_NO_CURVE: FloatArray = np.zeros(0)
_ROUNDING = 1e-6  # twins that differ by less differ by what rounding has left
_SCALED = ("band", "measured", "points")  # looks of a range, a mean and single ends
_RAW = ("compared-band", "theory", "squares")
_CHART = (246.0, 180.0)
_MAP = (246.0, 150.0)


def describe(state: "RaceState") -> Picture:
    """Curves on the left, how all races end on the right."""
    rates = tuple(short(eta) for eta in ETA[state.optimiser])
    chosen = dict(zip(("d_k", "eta"), state.place, strict=True)) if state.place else {}
    return Picture(
        lines=(
            (
                _curves(state),
                _map("scaled", state.scaled, show_rows=True),
                _map("raw", state.raw, show_rows=False),
            ),
        ),
        axes={
            "d_k": Axis(
                "d_k", label("race_rows"), tuple(f"{d_k:,}" for d_k in D_K), numbered=False
            ),
            "eta": Axis(
                label("race_rate"), label("race_columns"), rates, slanted=True, numbered=False
            ),
        },
        caption=label(
            "race_caption",
            seeds=label("list_comma").join(map(str, SEEDS)),
            steps=state.scaled.setting.steps,
            optimiser=label(f"optimiser_{state.optimiser}"),
            sigma=short(state.sigma),
        ),
        formulas=(
            _side_line(state, "scaled"),
            _side_line(state, "raw"),
            _apart_line(state),
            _agreement_line(state),
        ),
        selected=chosen,
    )


def _curves(state: "RaceState") -> Chart:
    steps = state.scaled.setting.steps
    name = label(f"race_{state.curve}")
    raw_name = label("race_twin" if state.twin else "race_raw")
    bands, means, ends = [], [], []
    highest = 1.0 if state.curve == "accuracy" else math.log(BOOKS)
    for side, looks, words in (
        (state.scaled, _SCALED, label("race_scaled")),
        (state.raw, _RAW, raw_name),
    ):
        step: Any = _NOTHING
        mean = low = high = _NO_CURVE
        values: list[float] = []
        if state.race is not None:
            curves = state.race.raw if side is state.raw else state.race.scaled
            step, (mean, low, high) = state.race.step, curves.band(state.curve)
        elif side.shipped is not None:  # where it ends, and no more
            values = [value for value in getattr(side.shipped, state.curve) if value is not None]
        seen = np.concatenate([high, values])
        highest = max(highest, float(seen[np.isfinite(seen)].max(initial=0.0)))
        bands.append(Line(step, (low, high), looks[0]))
        means.append(Line(step, mean, looks[1], words))
        ends.append(Line((steps,) * len(values), tuple(values), looks[2]))
    top = 1.0 if state.curve == "accuracy" else round_up(highest)
    ticks = (0.0, top / 2, top)
    if state.race is None:
        title = label("race_not_yet", curve=name, button=label("control_train"))
    else:
        title = label("race_chart", curve=name, seeds=len(SEEDS))
    return Chart(
        "curves",
        Ruler(
            0.0,
            steps * 1.03,
            tuple((n, f"{n:,}") for n in (0, steps // 2, steps)),
            label("training_steps"),
        ),
        Ruler(0.0, top * 1.05, tuple((tick, short(tick)) for tick in ticks)),
        (*bands, *means, *ends),
        title=title,
        width=_CHART[0],
        height=_CHART[1],
        legend_lines=2,
    )


def _map(name: str, side: "Side", *, show_rows: bool) -> Matrix:
    missing = np.isnan(side.accuracy)
    return Matrix(
        name,
        np.where(missing, 0.0, side.accuracy),
        label(f"race_map_{name}"),
        rows="d_k",
        columns="eta",
        colours="absolute",
        hidden=side.chaotic,
        hidden_words=label("race_chaotic"),
        blank=missing,
        blank_words=label("race_unmapped"),
        reading=label(f"race_{name}"),
        show_rows=show_rows,
        width=_MAP[0],
        height=_MAP[1],
    )


# -- formulas --------------------------------------------------------------------------------------


def _side_line(state: "RaceState", name: str) -> str:
    side: Side = getattr(state, name)
    words: dict[str, Any] = {
        "sigma": short(side.setting.sigma),
        "eta": short(side.setting.eta),
        "end": _end(side),
    }
    if name == "scaled" or not state.twin:
        return label(f"race_side_{name}", **words)
    root = f"{state.d_k}^¼"
    return label(
        "race_side_twin",
        sigma0=short(state.sigma),
        eta0=short(state.eta),
        unit=root,
        step=root if state.optimiser == "adam" else f"√{state.d_k}",
        **words,
    )


def _end(side: "Side") -> str:
    end = side.end
    if end is None:
        return label("race_end_unknown")
    return label(
        "race_end",
        accuracy=_accuracy(end),
        each=label("list_comma").join(short(one) for one in end.accuracy),
        loss=short(_mean_loss(end)),
        origin="" if side.raced is not None else label("race_end_shipped"),
    )


def _name(state: "RaceState", name: str) -> str:
    return label("race_side_of_twin" if name == "raw" and state.twin else f"race_side_of_{name}")


def _accuracy(end: Point) -> str:
    return short(float(np.mean(end.accuracy)))


def _mean_loss(end: Point) -> float:
    return float(np.mean([np.nan if loss is None else loss for loss in end.loss]))


def _apart_line(state: "RaceState") -> str:
    if state.apart is None:
        runs = 2 * len(SEEDS)
        return label("race_no_curves", button=label("control_train"), runs=runs)
    twin = ""
    if state.twin:
        twin = label("race_apart_twin" if state.apart < _ROUNDING else "race_apart_grown")
    return label("race_apart", difference=short(state.apart), twin=twin)


def _agreement_line(state: "RaceState") -> str:
    from .race import TOLERANCE

    said = []
    for name, side in (("scaled", state.scaled), ("raw", state.raw)):
        words = _name(state, name)
        shipped, apart = side.shipped, side.apart
        if shipped is None:
            said.append(label("race_not_shipped", side=words))
        elif apart is None:
            key = "race_shipped_steady" if shipped.steady else "race_shipped_chaotic"
            said.append(label(key, side=words))
        else:
            key = "race_agrees" if apart <= TOLERANCE else "race_differs"
            key = key if shipped.steady else "race_chaotic_side"
            said.append(label(key, side=words, difference=short(apart)))
    key = "race_agreement" if state.race is not None else "race_agreement_none"
    return label(key, sides=label("race_and").join(said))


# -- words -----------------------------------------------------------------------------------------


def summarise(state: "RaceState") -> str:
    """Say in one sentence how both sides end, and who is ahead."""
    ends = {
        name: label("race_end_unknown") if side.end is None else _accuracy(side.end)
        for name, side in (("scaled", state.scaled), ("raw", state.raw))
    }
    if state.apart is None:
        curves = label("race_summary_unraced")
    else:
        curves = label("race_summary_apart", difference=short(state.apart))
    return label(
        "race_summary",
        d_k=state.d_k,
        optimiser=label(f"optimiser_{state.optimiser}"),
        sigma=short(state.sigma),
        eta=short(state.eta),
        steps=state.scaled.setting.steps,
        seeds=len(SEEDS),
        scaled_name=_name(state, "scaled"),
        raw_name=_name(state, "raw"),
        ahead=label(f"race_ahead_{state.ahead or 'unknown'}"),
        curves=curves,
        **ends,
    )


def warn(state: "RaceState") -> str | None:
    """Say that the grid cannot be read, or that η lies outside it."""
    if not state.grid:
        return label("race_no_grid", name=NAME, command=COMMAND)
    rates = ETA[state.optimiser]
    if state.sigma in SIGMA and not rates[0] <= state.eta <= rates[-1]:
        return label(
            "race_outside",
            eta=short(state.eta),
            optimiser=label(f"optimiser_{state.optimiser}"),
            low=short(rates[0]),
            high=short(rates[-1]),
        )
    return None
