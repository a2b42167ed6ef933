"""A small drawing of a guess beside what was measured, as SVG."""

import html
import math
from collections.abc import Sequence
from typing import Any

from ..labels import label
from ..panels.settings import short
from .guess_words import summary_of, words_of

_WIDTH, _HEIGHT = 270, 170
_LEFT, _TOP, _RIGHT, _BOTTOM = 56, 22, 18, 22


def draw_guess(entry: dict[str, Any]) -> str:
    """Draw a guess that was kept; "" if it cannot be read any more.

    Parameters
    ----------
    entry : dict
        As `guess_kinds.py` keeps it.
    """
    draw = {"curve": _curve, "cells": _cells}.get(str(entry.get("kind")))
    try:
        return draw(entry) if draw else ""
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError):
        return ""


def _curve(entry: dict[str, Any]) -> str:
    low, high = entry["limits"]
    log = math.log if entry["log_y"] else float
    inner = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def places(values: Sequence[float | None]) -> list[tuple[float, float]]:
        return [
            (
                _LEFT + (0.03 + 0.94 * share) * inner[0],
                _TOP + (1 - (log(value) - log(low)) / (log(high) - log(low))) * inner[1],
            )
            for share, value in zip(entry["x"], values, strict=True)
            if value is not None and (value > 0 or not entry["log_y"])
        ]

    guess, truth = places(entry["guess"]), places(entry["truth"] or [None] * len(entry["x"]))
    marks = [
        f'<rect class="square" x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"/>'
        for x, y in guess
    ]
    marks += [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in truth]
    floor, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    words = [
        _text(words_of(entry["y_label"]), 4, 14, "start"),
        _text(short(float(high)), _LEFT - 5, _TOP + 8, "end"),
        _text(short(float(low)), _LEFT - 5, floor, "end"),
        _text(entry["x_words"][0], _LEFT + 0.03 * inner[0], _HEIGHT - 6, "middle"),
        _text(words_of(entry["x_label"]), _LEFT + inner[0] / 2, _HEIGHT - 6, "middle"),
        _text(entry["x_words"][-1], _LEFT + 0.97 * inner[0], _HEIGHT - 6, "middle"),
    ]
    frame = f'<path class="frame" d="M{_LEFT} {_TOP}V{floor}H{right}"/>'
    lines = _line(truth, "truth") + _line(guess, "guess")
    return _svg(_WIDTH, _HEIGHT, [frame, lines, *marks, *words], entry, "report_drawing")


def _cells(entry: dict[str, Any]) -> str:
    rows, columns = entry["shape"]
    side = min(22, 240 / max(rows, columns))
    parts = []
    for i, (mine, real) in enumerate(zip(entry["guess"], entry["truth"], strict=True)):
        for j, (guessed, measured) in enumerate(zip(mine, real, strict=True)):
            sign = ("", "✕", "○", "✓")[bool(guessed) + 2 * bool(measured)]
            look = "cell shaded" if guessed else "cell"
            x, y = 1 + j * side, 1 + i * side
            parts.append(
                f'<rect class="{look}" x="{x:.1f}" y="{y:.1f}" width="{side}" height="{side}"/>'
            )
            if sign:
                parts.append(_text(sign, x + side / 2, y + side / 2 + 4, "middle"))
    width, height = columns * side + 2, rows * side + 2
    return _svg(width, height, parts, entry, "report_cells_drawing")


def _svg(
    width: float, height: float, parts: Sequence[str], entry: dict[str, Any], legend: str
) -> str:
    said = html.escape(summary_of(entry))
    return (
        f'<svg role="img" aria-label="{said}" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}">{"".join(parts)}</svg>'
        f"<small>{html.escape(label(legend))}</small>"
    )


def _line(places: Sequence[tuple[float, float]], kind: str) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline class="{kind}" points="{points}"/>'


def _text(words: str, x: float, y: float, anchor: str) -> str:
    words = html.escape(str(words))
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'
