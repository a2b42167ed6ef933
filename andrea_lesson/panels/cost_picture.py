"""What the cost panel draws and says: two charts over T, and the counts behind this T."""

from typing import TYPE_CHECKING

from ..costs import BYTES, FORWARD_MATRICES, Cost, input_bytes
from ..labels import label
from ..tiled_fast import KEYS, QUERIES
from ..timing import Rates, duration, memory_size
from .picture import Chart, Line, Picture, Ruler
from .settings import short

if TYPE_CHECKING:
    from .cost import CostState, Way

_LOOKS = {  # a line for what is predicted, marks for what was measured
    "textbook": ("measured", "points"),
    "tiled": ("theory", "squares"),
    "decoder": ("dashdot", "diamonds"),
}
_T = Ruler(
    14.0, 18_800.0, tuple((4**p, f"{4**p:,}") for p in range(2, 8)), "T", log=2
)  # a little beyond the ends
_BYTES = Ruler(1e2, 2e12, tuple((10.0**p, memory_size(10.0**p)) for p in (3, 6, 9, 12)), log=10)
_SECONDS = Ruler(1e-5, 1e4, tuple((10.0**p, duration(10.0**p)) for p in (-5, -3, -1, 1, 3)), log=10)
_NOTHING: tuple[float, ...] = ()
_WIDTH, _HEIGHT = 384.0, 172.0


def describe(state: "CostState") -> Picture:
    """Memory on the left, time on the right, one line for each way."""
    return Picture(
        lines=((_memory(state), _time(state)),),
        caption=label("cost_caption", device=str(state.rates.ran_on)),
        formulas=(
            _textbook_memory(state),
            _tiled_memory(state),
            _decoder_memory(state),
            *(_time_line(state, way) for way in state.ways.values()),
            _limit(state),
        ),
    )


# -- charts ----------------------------------------------------------------------------------------


def _memory(state: "CostState") -> Chart:
    total = state.memory.total
    lines = [_here(state, _BYTES)]
    for way in state.ways.values():
        line, marks = _LOOKS[way.name]
        points = {T: t.peak_bytes for T, t in way.measured.items() if t.peak_bytes}
        lines += [
            Line(state.lengths, way.bytes_curve, line, label(f"way_{way.name}")),
            Line(tuple(points), tuple(points.values()), marks),
        ]
    beyond = ((total,) * 2, (_BYTES.high,) * 2) if total is not None else (_NOTHING, _NOTHING)
    words = "" if total is None else label("cost_too_much", memory=memory_size(total))
    lines.append(Line((_T.low, _T.high) if words else _NOTHING, beyond, "band", words))
    return Chart(
        "memory",
        _T,
        _BYTES,
        tuple(lines),
        title=label("cost_memory_title"),
        width=_WIDTH,
        height=_HEIGHT,
        legend_lines=1,
    )


def _time(state: "CostState") -> Chart:
    lines = [_here(state, _SECONDS)]
    for way in state.ways.values():
        line, marks = _LOOKS[way.name]
        lines += [
            Line(state.lengths, way.seconds_curve, line, label(f"way_{way.name}")),
            Line(tuple(way.measured), tuple(t.median for t in way.measured.values()), marks),
        ]
    return Chart(
        "time",
        _T,
        _SECONDS,
        tuple(lines),
        title=label("cost_time_title"),
        width=_WIDTH,
        height=_HEIGHT,
        legend_lines=1,
    )


def _here(state: "CostState", y: Ruler) -> Line:
    return Line((state.T, state.T), (y.low, y.high), "dotted")


# -- formulas --------------------------------------------------------------------------------------


def _textbook_memory(state: "CostState") -> str:
    way = state.ways["textbook"]
    short = 2 * state.d_k > state.T  # then the end takes more than softmax does: 4 tables and V
    key = "cost_textbook_memory" + ("_short" if short else "")
    return label(
        key if state.mask == "causal" else f"{key}_full",
        matrices=FORWARD_MATRICES - short,
        n_head=state.n_head,
        T=f"{state.T:,}",
        wide=_wide(state),
        bytes=memory_size(way.bytes),
        measured=_memory_measured(way),
    )


def _tiled_memory(state: "CostState") -> str:
    way = state.ways["tiled"]
    return label(
        "cost_tiled_memory",
        rows=min(QUERIES, state.T),
        columns=f"{min(KEYS, state.T):,}",
        bytes=memory_size(way.bytes),
        measured=_memory_measured(way),
    )


def _decoder_memory(state: "CostState") -> str:
    way = state.ways["decoder"]
    return label(
        "cost_decoder_memory",
        n_head=state.n_head,
        T=f"{state.T:,}",
        d_k=state.d_k,
        item=BYTES[state.precision],
        cache=memory_size(state.cache_bytes),
        bytes=memory_size(way.bytes),
        measured=_memory_measured(way),
    )


def _time_line(state: "CostState", way: "Way") -> str:
    rates, cost = state.rates, way.cost
    threads = rates.ran_on.threads if way.name == "tiled" else 1
    return label(
        "cost_time_line",
        way=label(f"way_{way.name}"),
        flops=_count(cost.flops, "FLOP"),
        flop_rate=f"{_count(rates.flops, '')}/s",
        exponentials=_count(cost.exponentials, " exp"),
        exp_rate=f"{_count(rates.exponentials * threads, '')}/s",
        moved=_moved(rates, cost),
        call="" if cost.rounds == 1 else f"{cost.rounds} × ",
        once=duration(rates.call),
        seconds=duration(way.seconds),
        measured=_time_measured(way),
    )


def _moved(rates: Rates, cost: Cost) -> str:
    """``1.57 M f16→f32 ÷ 600 M/s + 20 MB ÷ 17 GB/s``: only read, converted, read and written."""
    amounts = (
        (memory_size(cost.read_bytes), f"{memory_size(rates.read_bytes)}/s", cost.read_bytes),
        (_count(cost.converted, " f16→f32"), f"{_count(rates.conversions, '')}/s", cost.converted),
        (
            memory_size(cost.bytes_moved - cost.read_bytes),
            f"{memory_size(rates.bytes)}/s",
            cost.bytes_moved - cost.read_bytes,
        ),
    )
    return " + ".join(f"{amount} ÷ {rate}" for amount, rate, some in amounts if some)


def _memory_measured(way: "Way") -> str:
    if way.timing is None or way.timing.peak_bytes is None:
        return ""
    return label("cost_measured", value=memory_size(way.timing.peak_bytes))


def _time_measured(way: "Way") -> str:
    if way.timing is not None:
        return label("cost_measured", value=duration(way.timing.median))
    return label(f"cost_refused_{way.refused}") if way.refused else ""


def _limit(state: "CostState") -> str:
    total = state.memory.total
    if total is None or state.most is None:
        return label("cost_memory_unknown")
    longest = state.lengths[-1]
    key = "cost_fits_all" if state.most >= longest else "cost_fits_up_to"
    return label(key, memory=memory_size(total), T=f"{min(state.most, longest):,}")


def _wide(state: "CostState") -> int:
    return max(BYTES[state.precision], 4)


def _count(value: float, unit: str) -> str:
    """``3.22 GFLOP``: large numbers by their usual prefixes."""
    for power, prefix in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if value >= 0.9995 * 10.0**power:
            return f"{short(value / 10.0**power)} {prefix}{unit}"
    return f"{short(value)} {unit.strip()}"


# -- words -----------------------------------------------------------------------------------------


def summarise(state: "CostState") -> str:
    """Say what is predicted, what was measured, and on what."""
    return label(
        "cost_summary",
        T=f"{state.T:,}",
        d_k=state.d_k,
        n_head=state.n_head,
        precision=state.precision,
        mask=label(f"kind_{state.mask}"),
        ways=label("cost_and").join(
            label(
                "cost_way",
                way=label(f"way_{way.name}"),
                bytes=memory_size(way.bytes),
                seconds=duration(way.seconds),
            )
            for way in state.ways.values()
        ),
        measured=_measured(state),
    )


def _measured(state: "CostState") -> str:
    found = [way for way in state.ways.values() if way.timing is not None]
    if not found:
        return label("cost_nothing_measured")
    return label(
        "cost_measured_here",
        ways=label("list_comma").join(
            label(
                "cost_way_measured",
                way=label(f"way_{way.name}"),
                seconds=duration(way.timing.median),
            )
            for way in found
            if way.timing is not None
        ),
    )


def warn(state: "CostState") -> str | None:
    """Say that the textbook way does not fit into this machine."""
    total, way = state.memory.total, state.ways["textbook"]
    size = input_bytes(state.T, state.d_k, n_head=state.n_head, precision=state.precision)
    if total is None or way.bytes + size <= total:
        return None
    return label("cost_does_not_fit", bytes=memory_size(way.bytes), memory=memory_size(total))
