"""What the tiles panel draws and says about one tile."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..labels import label
from ..plot_inputs import round_up
from ..six_tokens import running_example
from .picture import Axis, Bars, Matrix, Picture
from .settings import factor, short
from .source import caption

if TYPE_CHECKING:
    from .tiles import TilesState

MOST_COMPONENTS = 8  # of the output that are shown
MOST_NUMBERS = 4  # bars of the output that have room for numbers
_SIDE = {False: 250.0, True: 216.0}  # pixels of the matrix, so that all stands in one line
_BARS = {False: 62.0, True: 52.0}
_OUTPUT = {False: (170.0, 84.0), True: (140.0, 70.0)}


def describe(state: "TilesState", *, large: bool = False) -> Picture:
    """Scores as far as they are done, maximum, sum and factor of each row, output of one."""
    rows = range(state.now.queries.start, state.now.queries.stop)
    coming = (state.order > state.step) & ~state.skipped
    side, width, (wide, high) = _SIDE[large], _BARS[large], _OUTPUT[large]
    started = np.zeros(state.T, dtype=bool)
    started[: rows.stop] = True
    met = np.isfinite(state.running_max)  # has met a key
    in_tile = np.isin(np.arange(state.T), rows)
    limit = round_up(max(state.limit, 1e-3))
    bars = partial(Bars, along="query", height=side, width=width, lit=tuple(rows))
    scores = Matrix(
        "scores",
        state.scores,
        label("tiles_scores", step=state.step, count=state.tiles**2),
        limit=limit,
        hidden=state.skipped,
        hidden_words=label("tiles_skipped"),
        blank=coming,
        blank_words=label("tiles_coming"),
        grid=state.tile,
        framed=state.order == state.step,
        reading=label("reading_scaled"),
        width=side,
        height=side,
    )
    line = (
        scores,
        bars(
            "running_max",
            np.where(met, state.running_max, 0.0),
            -limit if state.negative else 0.0,  # twice the room, for the numbers of the example
            limit,
            title=label("tiles_max"),
            hidden=~met,
            hidden_words=label("tiles_no_key"),
            reading=label("tiles_max_reading"),
        ),
        bars(
            "running_sum",
            state.running_sum,
            0.0,
            round_up(max(state.largest_sum, 1e-3)),
            title=label("tiles_sum"),
            hidden=~started,
            hidden_words=label("tiles_no_key"),
            reading=label("tiles_sum_reading"),
        ),
        bars(
            "rescale",
            state.rescale,
            0.0,
            1.0,
            title=label("tiles_rescale"),
            hidden=~in_tile,
            hidden_words=label("tiles_other_tile"),
            reading=label("tiles_rescale_reading"),
        ),
        *_outputs(state, wide, high, begun=bool(started[state.row])),
    )
    return Picture(
        lines=(line,),
        axes=_axes(state),
        caption=_caption(state),
        formulas=_formulas(state),
        selected={"query": state.row},
    )


def _outputs(state: "TilesState", width: float, height: float, *, begun: bool) -> tuple[Bars, Bars]:
    """The output of the chosen row so far, and beneath it what it will be, on one scale."""
    so_far, true = (
        array[state.row, :MOST_COMPONENTS] for array in (state.output, state.true_output)
    )
    limit = round_up(max(float(state.largest_output[state.row]), 1e-3))
    common: dict[str, Any] = {
        "along": "value",
        "upright": True,
        "numbers": len(true) <= MOST_NUMBERS,
        "width": width,
        "height": height,
    }
    return (
        Bars(
            "output",
            so_far,
            -limit,
            limit,
            title=label("tiles_output", row=state.row),
            hidden=np.full(so_far.shape, not begun),
            hidden_words=label("tiles_no_key"),
            reading=label("tiles_output_reading"),
            **common,
        ),
        Bars(
            "true_output",
            true,
            -limit,
            limit,
            title=label("tiles_true_output", count=len(true), width=state.true_output.shape[1]),
            reading=label("tiles_true_reading"),
            under="output",
            **common,
        ),
    )


def _axes(state: "TilesState") -> dict[str, Axis]:
    named = state.tokens is not None
    values = tuple(running_example().value_axes) if named else None
    return {
        "query": Axis(label("query"), label("rows_queries"), state.tokens),
        "key": Axis(label("key"), label("columns_keys"), state.tokens, slanted=named),
        "value": Axis(label("value_component"), "", values),
    }


def _caption(state: "TilesState") -> str:
    parts = [caption(state.source, state.seed)]
    if state.mask_kind == "sliding-window":
        parts.append(label("tiles_window", window=max(1, state.T // 3)))
    if state.mask_kind == "documents":
        parts.append(label("tiles_documents", boundary=state.T // 2))
    return " · ".join(parts)


# -- formulas --------------------------------------------------------------------------------------


def _formulas(state: "TilesState") -> tuple[str, ...]:
    now = state.now
    first = label(
        "tiles_now_skipped" if now.skipped else "tiles_now",
        step=state.step,
        count=state.tiles**2,
        queries=_span(now.queries),
        keys=_span(now.keys),
        computed=state.computed_tiles,
        skipped=state.skipped_tiles,
    )
    return (first, *_row_lines(state), _difference(state))


def _row_lines(state: "TilesState") -> tuple[str, str, str]:
    """New maximum, factor and sum of the chosen row; why there are none if so."""
    now, row, before = state.now, state.row, state.before
    new_max, new_sum = float(state.running_max[row]), float(state.running_sum[row])
    if before is None:
        key = "tiles_row_done" if row < now.queries.start else "tiles_row_later"
    elif now.scores is None or new_max == -np.inf:  # or no key yet that this row may see
        key = "tiles_row_unseen"
    else:
        place = row - now.queries.start
        scores = now.scores[place]
        added = float(np.exp(scores - new_max).sum())
        rescale = float(now.rescale[place])
        return (
            label(
                "tiles_max_line",
                row=row,
                before=short(before.running_max),
                tile=short(float(scores.max())),
                after=short(new_max),
            ),
            label(
                "tiles_rescale_line",
                before=short(before.running_max),
                after=factor(new_max),
                rescale=short(rescale),
            ),
            label(
                "tiles_sum_line",
                before=short(before.running_sum),
                rescale=short(rescale),
                added=short(added),
                after=short(new_sum),
            ),
        )
    return (
        label(key, row=row),
        label("tiles_max_stays", value=short(new_max)),
        label("tiles_sum_stays", value=short(new_sum)),
    )


def _difference(state: "TilesState") -> str:
    away = float(np.abs(state.output[state.row] - state.true_output[state.row]).max(initial=0.0))
    return label("tiles_difference", row=state.row, difference=short(_rounded(away)))


def _rounded(difference: float) -> float:
    """What only rounding has left is written as 0."""
    return 0.0 if difference < 1e-12 else difference


def _span(places: slice) -> str:
    first, last = places.start, places.stop - 1
    return str(first) if first == last else f"{first}–{last}"


# -- words -----------------------------------------------------------------------------------------


def summarise(state: "TilesState") -> str:
    """Say in one sentence which tile was done, and how far the chosen row has come."""
    now = state.now
    away = float(np.abs(state.output[state.row] - state.true_output[state.row]).max(initial=0.0))
    return label(
        "tiles_summary",
        source=label(f"source_{state.source}"),
        T=state.T,
        d_k=state.d_k,
        tile=state.tile,
        mask=label(f"kind_{state.mask_kind}"),
        step=state.step,
        count=state.tiles**2,
        queries=_span(now.queries),
        keys=_span(now.keys),
        done=label("tiles_skips" if now.skipped else "tiles_computes"),
        row=state.row,
        max=short(float(state.running_max[state.row])),
        sum=short(float(state.running_sum[state.row])),
        difference=short(_rounded(away)),
    )
