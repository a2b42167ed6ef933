"""What the leakage panel draws and says about one mask."""

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..figure_parts import ems
from ..labels import label
from ..plot_inputs import round_up
from .picture import Axis, Bars, Chart, Line, Matrix, Picture, Ruler
from .settings import short

if TYPE_CHECKING:
    from .leakage import LeakageState

_SIDE = {False: 224.0, True: 190.0}  # pixels of the matrix
_CHART = {False: 384.0, True: 300.0}
_PROBE = {False: 112.0, True: 84.0}
_STRIP = {False: (808.0, 50.0), True: (690.0, 44.0)}
_LINES, _EMS = 2, 56.0  # for what it writes
_LONGEST_WORD = 15
_SHOWN = {"\n": "⏎", " ": "␣"}  # characters that would not be seen


def describe(state: "LeakageState", *, large: bool = False) -> Picture:
    """Losses, weights of a head, the probe beside them; beneath, one row over the text."""
    names = tuple(shown(character) for character in state.run.characters)
    side = _SIDE[large]
    weights = Matrix(
        "weights",
        state.weights,
        label("leakage_weights", head=state.head),
        colours="absolute",
        hidden=~state.visible,
        hidden_value="0",
        reading=label("reading_weight"),
        width=side,
        height=side,
    )
    return Picture(
        lines=(
            (_chart(state, _CHART[large], side), weights, _probe(state, _PROBE[large], side)),
            (_strip(state, *_STRIP[large]),),
        ),
        axes={
            "query": Axis(label("query"), label("rows_queries"), names, text=True),
            "key": Axis(label("key"), label("columns_keys"), names, text=True),
        },
        caption=_caption(state),
        formulas=_formulas(state),
        selected={"query": state.row},
    )


def shown(character: str) -> str:
    """A character as it is shown by itself: a blank and the end of a line can be seen."""
    return _SHOWN.get(character, character)


# -- parts -----------------------------------------------------------------------------------------


def _chart(state: "LeakageState", width: float, height: float) -> Chart:
    """Both losses of this mask, honest loss of the right one, and two guesses without a model."""
    run, right = state.run, state.right
    last = int(max(one.step[-1] for one in state.runs))
    most = max(float(max(one.training_loss.max(), one.honest_loss.max())) for one in state.runs)
    high = round_up(max(most, run.uniform_loss))
    ends = 0.0, float(last)
    guesses = (run.uniform_loss,) * 2, (run.unigram_loss,) * 2
    compared = state.variant != "causal"
    return Chart(
        "losses",
        Ruler(
            0.0,
            last * 1.01,
            tuple((n, f"{n:,}") for n in (0, last // 2, last)),
            label("training_steps"),
        ),
        Ruler(0.0, high, tuple((mark, short(mark)) for mark in (0.0, high / 2, high))),
        (
            Line(run.step, run.training_loss, "theory", label("leakage_training_line")),
            Line(run.step, run.honest_loss, "measured", label("leakage_honest_line")),
            Line(
                right.step if compared else (),
                right.honest_loss if compared else (),
                "dashdot",
                label("leakage_right_line") if compared else "",
            ),
            Line(ends, guesses[0], "dotted", label("leakage_guesses")),
            Line(ends, guesses[1], "dotted"),
            Line((float(run.step[-1]),), (state.honest,), "here"),
        ),
        title=label(
            "leakage_chart",
            training=short(float(run.training_loss[-1])),
            honest=short(state.honest),
        ),
        width=width,
        height=height,
        legend_lines=2,
    )


def _probe(state: "LeakageState", width: float, height: float) -> Bars:
    """How far each row moves; rows that had no right to are framed, and counted beneath."""
    run = state.run
    rows = tuple(map(int, np.flatnonzero(state.leaks)))
    most = max(float(one.probe.max()) for one in state.runs)
    return Bars(
        "probe",
        run.probe,
        0.0,
        round_up(max(most, 1e-3)),
        label("leakage_probe", changed=run.changed),
        label("leakage_rows", rows=len(rows)) if rows else label("leakage_no_rows"),
        lit=rows,
        reading=label("leakage_probe_reading"),
        numbers=False,
        width=width,
        height=height,
    )


def _strip(state: "LeakageState", width: float, height: float) -> Bars:
    """The chosen row of the weights over the text, and in a frame what it must predict."""
    T = len(state.run.characters)
    return Bars(
        "row_weights",
        state.weights[state.row],
        0.0,
        1.0,
        label("leakage_strip", row=state.row, head=state.head, character=_read(state)),
        along="key",
        upright=True,
        hidden=~state.visible[state.row],
        hidden_words=label("live_hidden"),
        show_names=True,
        lit=(state.row + 1,) if state.row + 1 < T else (),
        reading=label("reading_weight"),
        numbers=False,
        width=width,
        height=height,
    )


# -- words -----------------------------------------------------------------------------------------


def _read(state: "LeakageState") -> str:
    return shown(state.run.characters[state.row])


def _caption(state: "LeakageState") -> str:
    setting = state.run.setting
    return label(
        "leakage_caption",
        text=label(f"leakage_text_{state.text}"),
        T=len(state.run.characters),
        steps=f"{setting.steps:,}",
        seed=setting.seed,
    )


def _formulas(state: "LeakageState") -> tuple[str, ...]:
    """Losses as numbers, the chosen row in words, the probe, and what it writes."""
    run = state.run
    losses = label(
        "leakage_loss_line",
        honest=short(state.honest),
        choices=short(math.exp(state.honest)),
        uniform=short(run.uniform_loss),
        vocabulary=round(math.exp(run.uniform_loss)),
        unigram=short(run.unigram_loss),
    )
    return (losses, _row_line(state), _probe_line(state), *_written(state))


def _row_line(state: "LeakageState") -> str:
    start = label("leakage_row_reads", row=state.row, character=_read(state))
    if state.following is None:
        task = label("leakage_row_last")
    else:
        task = label("leakage_row_predicts", next=shown(state.following))
    if state.largest is None:
        found = label("leakage_row_empty", head=state.head)
    else:
        found = label(
            "leakage_row_largest",
            head=state.head,
            weight=short(float(state.weights[state.row, state.largest])),
            place=state.largest,
            character=shown(state.run.characters[state.largest]),
            kind=label(f"leakage_place_{kind_of_place(state)}"),
        )
    return start + task + found


def kind_of_place(state: "LeakageState") -> str:
    """Where the largest weight lies: "answer", "own", "before" or "later"."""
    ahead = (state.largest or 0) - state.row
    if ahead == 1 and state.following is not None:
        return "answer"
    return "own" if ahead == 0 else "before" if ahead < 0 else "later"


def _probe_line(state: "LeakageState") -> str:
    run, rows = state.run, int(state.leaks.sum())
    return label(
        "leakage_probe_line" if rows else "leakage_probe_line_none",
        changed=run.changed,
        character=shown(run.characters[run.changed]),
        rows=rows,
        most=short(float(run.probe[: run.changed].max(initial=0.0))),
    )


def _written(state: "LeakageState") -> tuple[str, ...]:
    """What it writes, cut to lines of one width, always as many."""
    text = label("leakage_writes", prompt=state.run.prompt, sample=state.run.sample)
    lines = cut(text.replace("\n", "⏎"))
    return (*lines, *["　"] * (_LINES - len(lines)))


@lru_cache(maxsize=64)
def cut(text: str) -> tuple[str, ...]:
    """Cut what is written to lines of one width, between words where there are any."""
    lines = [""]
    for character in text:
        if ems(lines[-1] + character) > _EMS:
            if len(lines) == _LINES:
                lines[-1] += "…"
                break
            start, blank, word = lines[-1].rpartition(" ")
            lines[-1:] = [start, word] if blank and len(word) < _LONGEST_WORD else [lines[-1], ""]
        lines[-1] += character
    return tuple(lines)


def summarise(state: "LeakageState") -> str:
    """Say whether it leaks, and how its honest loss compares with that of the right mask."""
    run, rows = state.run, int(state.leaks.sum())
    right = (
        ""
        if state.variant == "causal"
        else label("leakage_against", right=short(float(state.right.honest_loss[-1])))
    )
    return label(
        "leakage_summary",
        variant=label(f"leakage_{state.variant}"),
        text=label(f"leakage_text_{state.text}"),
        steps=f"{run.setting.steps:,}",
        training=short(float(run.training_loss[-1])),
        honest=short(state.honest),
        against=right,
        uniform=short(run.uniform_loss),
        verdict=label("leakage_leaks" if rows else "leakage_tight", rows=rows, changed=run.changed),
        head=state.head,
        row=state.row,
        weight=label("leakage_summary_empty")
        if state.largest is None
        else label(
            "leakage_summary_weight",
            weight=short(float(state.weights[state.row, state.largest])),
            place=label(f"leakage_at_{kind_of_place(state)}", place=state.largest),
        ),
    )


def warn(state: "LeakageState") -> str | None:
    """Name the leak; None if there is none."""
    if not state.leaks.any():
        return None
    by_denominator = state.variant == "after_softmax"
    return label(
        "leakage_warning_after_softmax" if by_denominator else "leakage_warning",
        training=short(float(state.run.training_loss[-1])),
        honest=short(state.honest),
    )
