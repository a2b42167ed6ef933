"""A page that a student can hand in: what was tried, passed, guessed and answered.

It is one file that opens anywhere, without a network, and prints.
"""

import html
import os
import secrets
from datetime import datetime
from pathlib import Path
from typing import Any

from ..labels import get_language, label
from .guess_words import summary_of, words_of
from .progress import shares, the_record
from .record import Entry, reason_of
from .report_drawing import draw_guess

_MARK = '<meta name="generator" content="andrea-lesson report">'


class ReportError(Exception):
    """The report was not written; the message is one sentence in the current language."""


def report(path: str | os.PathLike[str] | None = None) -> Path:
    """Write the report.

    Parameters
    ----------
    path : path-like, optional
        Where to; by default ``andrea-report-<date>.html`` in the current folder.  An earlier
        report is replaced, anything else is left alone.

    Returns
    -------
    pathlib.Path
        The file, as an absolute path.

    Raises
    ------
    ReportError
        If it cannot be written there.
    """
    now = datetime.now().astimezone()
    page = page_of(the_record().read(), now).encode("utf-8", "replace")
    named = f"andrea-report-{now:%Y-%m-%d}.html" if path is None else path
    try:
        target = Path(os.path.expanduser(os.fsdecode(named))).absolute()
        if os.path.lexists(target) and not _is_report(target):
            raise ReportError(label("report_in_the_way", path=target))
        _write(target, page)
    except (OSError, TypeError, ValueError) as problem:  # a number; a path with a character 0
        words = {"path": named, "reason": reason_of(problem)}
        raise ReportError(label("report_not_written", **words)) from problem
    return target


def _is_report(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK.encode() in file.read(2000)


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


# -- the page --------------------------------------------------------------------------------------


def page_of(known: Entry, now: datetime) -> str:
    """Return the page as HTML, in the current language.

    Parameters
    ----------
    known : dict
        As :meth:`Record.read` returns it.
    now : datetime
    """
    title = html.escape(label("report_title"))
    parts = [
        f"<h1>{title}</h1>",
        '<p class="who">'
        f'<span>{label("report_name")}<span class="line"></span></span>'
        f"<span>{label('report_date')}　{now:%Y-%m-%d %H:%M}</span></p>",
        _section("report_progress", _progress(known)),
        _section("report_exercises", _exercises(known)),
        _section("report_guesses", _guesses(known)),
        _section("report_quiz", _quiz(known)),
    ]
    return (
        f'<!doctype html>\n<html lang="{get_language()}"><head><meta charset="utf-8">{_MARK}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n<body><main>"
        + "\n".join(parts)
        + "</main></body></html>\n"
    )


def _section(key: str, content: str) -> str:
    content = content or f"<p>{html.escape(label('report_none'))}</p>"
    return f"<section><h2>{html.escape(label(key))}</h2>{content}</section>"


def _progress(known: Entry) -> str:
    rows = [
        [one.title, f"{one.percent} %", one.words]
        for one in shares(known)
    ]  # fmt: skip
    return _table([], rows)


def _exercises(known: Entry) -> str:
    rows = [
        [_title(name), str(one["tried"]), _passed(one, "report_done", "report_open"), _when(one)]
        for name, one in sorted(known["exercises"].items())
    ]
    heads = ("report_exercise", "report_tried", "report_passed", "report_last")
    return _table([label(key) for key in heads], rows)


def _quiz(known: Entry) -> str:
    rows = [
        [_asked(name), str(one["tried"]), _passed(one, "report_right", "report_not_right")]
        for name, one in sorted(known["quiz"].items())
    ]
    heads = ("report_question", "report_tried", "report_passed")
    return _table([label(key) for key in heads], rows)


def _guesses(known: Entry) -> str:
    figures = []
    for _, some in sorted(known["guesses"].items()):
        for number, entry in enumerate(some, 1):
            drawing = draw_guess(entry)
            if not drawing:
                continue
            times = label("report_guess_number", number=number, of=len(some)) if some[1:] else ""
            title = " · ".join(filter(None, [words_of(str(entry.get("title", ""))), times]))
            words = html.escape(summary_of(entry))
            figures.append(
                f"<figure><figcaption><b>{html.escape(title)}</b> <small>{_when(entry)}</small>"
                f"</figcaption>{drawing}<p>{words}</p></figure>"
            )
    return f'<div class="guesses">{"".join(figures)}</div>' if figures else ""


def _passed(one: dict[str, Any], yes: str, no: str) -> str:
    return label(yes if one["passed"] else no)


def _when(one: dict[str, Any]) -> str:
    text = str(one.get("last", one.get("time", "")))
    try:
        return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M}"
    except ValueError:
        return ""


def _title(name: str) -> str:
    from .registry import EXERCISES

    exercise = EXERCISES.get(name)
    title = getattr(exercise, "title", None)
    return str(title() if callable(title) else title or name)


def _asked(name: str) -> str:
    from .quiz_questions import QUESTIONS

    question = QUESTIONS.get(name)
    return question.said()[0] if question else name


def _table(heads: list[str], rows: list[list[str]]) -> str:
    if not rows:
        return ""

    def line(cells: list[str], tag: str) -> str:
        first, *rest = (html.escape(cell) for cell in cells)
        scope = ' scope="row"' if tag == "td" else ""
        begin = f"<th{scope}>{first}</th>"
        return "<tr>" + begin + "".join(f"<{tag}>{cell}</{tag}>" for cell in rest) + "</tr>"

    head = f"<thead>{line(heads, 'th')}</thead>" if heads else ""
    return f"<table>{head}<tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"


_STYLE = """
body {color: #1f2933; font: 15px/1.6 "Segoe UI", "Helvetica Neue", Arial, "Noto Sans",
 "PingFang TC", "Microsoft JhengHei", "Noto Sans CJK TC", sans-serif; margin: 24px auto;
 max-width: 900px; padding: 0 16px}
h1 {font-size: 24px} h2 {border-bottom: 1px solid #a3adb8; font-size: 18px}
table {border-collapse: collapse} th, td {border-bottom: 1px solid #d5dbe1; padding: 3px 18px 3px 0;
 text-align: start; vertical-align: top; font-weight: normal} thead th {font-weight: 600}
.who {display: flex; flex-wrap: wrap; gap: 12px 48px}
.line {border-bottom: 1px solid #1f2933; display: inline-block;
 margin-inline-start: 8px; width: 220px}
.guesses {display: grid; gap: 16px; grid-template-columns: repeat(auto-fill, minmax(270px, 1fr))}
figure {break-inside: avoid; margin: 0} figure svg {display: block; max-width: 100%}
figure p {margin: 4px 0} small {color: #5b6672} figcaption small {white-space: nowrap}
svg text {fill: #1f2933; font-size: 12px}
.guess {fill: none; stroke: #cc503e; stroke-dasharray: 5 3; stroke-width: 2}
.truth {fill: none; stroke: #1d6996; stroke-width: 2.2}
.square {fill: #cc503e} .dot {fill: #1d6996} .frame {fill: none; stroke: #a3adb8}
.cell {fill: #ffffff; stroke: #7b8794} .shaded {fill: #cfe2ef}
@media print {body {margin: 0; max-width: none} h2 {break-after: avoid} tr {break-inside: avoid}
 * {-webkit-print-color-adjust: exact; print-color-adjust: exact}}
"""
