"""How far a learner has come: a bar for each notebook and one for the course.

Progress is kept in the learner's data folder (see `record.py`).  ``ANDREA_PROGRESS`` names
another folder, or ``memory``, which keeps nothing beyond this kernel.
"""

import html
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from ..labels import label
from ..readout import text_width
from .record import Entry, Record

VARIABLE = "ANDREA_PROGRESS"
MEMORY = "memory"
_BLOCKS = 20  # of the bar in plain text

_records: dict[str, Record] = {}


def folder() -> Path | None:
    """Where progress is kept; None if it stays in memory."""
    named = _named()
    if named.lower() == MEMORY:
        return None
    if named:
        return Path(os.path.expanduser(named)).absolute()  # of an unknown user it stays "~user"
    return Path(platformdirs.user_data_dir("andrea-lesson", appauthor=False)) / "progress"


def the_record() -> Record:
    """Return the record of the folder in force, the same one each time."""
    named = _named()
    if named not in _records:  # once: a relative folder stays where it was
        _records[named] = Record(folder())
    return _records[named]


def _named() -> str:
    return os.environ.get(VARIABLE, "").strip()


def record(exercise: str, passed: bool) -> None:
    """Note that an exercise was tried.

    Parameters
    ----------
    exercise : str
        Its name.
    passed : bool
    """
    the_record().attempt("exercises", exercise, passed)


def on_attempt(verdict: Any) -> None:
    """Note a verdict of the checker; one that waits for an answer is no attempt."""
    if not verdict.waits:
        record(verdict.name, bool(verdict.passed))


def guesses(name: str) -> list[Entry]:
    """Return what was guessed under a name, in this session and before, oldest first."""
    some: list[Entry] = the_record().read()["guesses"].get(name, [])
    return some


def notebook_of(name: str) -> str:
    """Number of the notebook that a name begins with, "02" of "02_spread"; "" if none."""
    found = re.match(r"\d\d(?=\D)", name)
    return found[0] if found else ""


# -- counting --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Share:
    """How much of a notebook is done; of all notebooks if `notebook` is empty."""

    notebook: str
    exercises: int
    passed: int
    questions: int
    right: int
    guesses: int

    @property
    def of(self) -> int:
        """Exercises and questions together."""
        return self.exercises + self.questions

    @property
    def done(self) -> int:
        """Exercises passed and questions answered right."""
        return self.passed + self.right

    @property
    def percent(self) -> int:
        """The done part in percent; 100 only if nothing is left."""
        return 100 * self.done // self.of if self.of else 0

    @property
    def title(self) -> str:
        """What the bar is about."""
        return (
            label("progress_notebook", notebook=self.notebook)
            if self.notebook
            else label("progress_course")
        )

    @property
    def words(self) -> str:
        """The same in words and numbers."""
        said = []
        if self.exercises:
            said.append(label("progress_exercises", done=self.passed, of=self.exercises))
        if self.questions:
            said.append(label("progress_quiz", done=self.right, of=self.questions))
        if self.guesses:
            said.append(label("progress_guesses", count=self.guesses))
        return label("progress_and").join(said) or label("progress_nothing")


def shares(
    known: Entry | None = None,
    exercises: Mapping[str, str] | None = None,
    questions: Mapping[str, str] | None = None,
) -> list[Share]:
    """Count what is done, by notebook; the course as a whole comes last.

    Parameters
    ----------
    known : dict, optional
        As :meth:`Record.read` returns it; by default what is kept now.
    exercises, questions : dict of str to str, optional
        Notebook of each, by name; by default those of the lesson.

    Returns
    -------
    list of Share
    """
    known = the_record().read() if known is None else known
    exercises = _exercises() if exercises is None else exercises
    questions = _questions() if questions is None else questions
    counted = {name: notebook_of(name) for name in known["guesses"]}
    notebooks = sorted({*exercises.values(), *questions.values(), *filter(None, counted.values())})

    def within(places: Mapping[str, str], notebook: str) -> list[str]:
        return [name for name, place in places.items() if notebook in ("", place)]

    def passed(place: str, names: Sequence[str]) -> int:
        return sum(known[place].get(name, {}).get("passed", False) for name in names)

    rows = []
    for notebook in (*notebooks, ""):
        own, asked = within(exercises, notebook), within(questions, notebook)
        rows.append(
            Share(
                notebook,
                exercises=len(own),
                passed=passed("exercises", own),
                questions=len(asked),
                right=passed("quiz", asked),
                guesses=len(within(counted, notebook)),
            )
        )
    return rows


def _exercises() -> dict[str, str]:
    from .registry import EXERCISES

    return {name: exercise.notebook for name, exercise in EXERCISES.items()}


def _questions() -> dict[str, str]:
    from .quiz_questions import QUESTIONS

    return {name: question.notebook for name, question in QUESTIONS.items()}


# -- showing ---------------------------------------------------------------------------------------


class Progress:
    """Bars that show themselves in a notebook, and in plain text elsewhere.

    Attributes
    ----------
    shares : list of Share
        The course is the last one.
    notices : list of str
        What went wrong in keeping or reading, each in one sentence.
    """

    def __init__(self, shares: list[Share], notices: Sequence[str] = ()) -> None:
        self.shares, self.notices = shares, list(notices)
        self._rows = [(one, one.title, one.words) for one in shares]  # in the language of now
        self._title = label("progress_title")

    def __repr__(self) -> str:
        wide = max((text_width(title) for _, title, _ in self._rows), default=0)
        lines = [
            f"{title}{' ' * (wide - text_width(title))}  {_blocks(one)} {one.percent:3d} %  {words}"
            for one, title, words in self._rows
        ]
        return "\n".join([*lines, *self.notices])

    def _repr_html_(self) -> str:
        rows = "".join(_row(*one) for one in self._rows)
        notes = "".join(f"<p>{html.escape(words)}</p>" for words in self.notices)
        title = html.escape(self._title)
        return (
            f'<div class="andrea-progress"><style>{_STYLE}</style>'
            f"<table><caption>{title}</caption><tbody>{rows}</tbody></table>{notes}</div>"
        )


def progress() -> Progress:
    """Show how far you have come: a bar for each notebook and one for the course.

    Returns
    -------
    Progress
        Shows itself at the end of a cell.
    """
    counted = shares()
    return Progress(counted, the_record().notices)


def _blocks(share: Share) -> str:
    full = _BLOCKS * share.percent // 100
    return "█" * full + "░" * (_BLOCKS - full)


_STYLE = (
    ".andrea-progress table {border-collapse: collapse; font-size: 13px; margin: 4px 0}"
    ".andrea-progress caption {font-size: 14px; font-weight: 600; text-align: start}"
    # said twice: notebooks have a style of their own for tables, words to the right
    ".andrea-progress.andrea-progress table tr {background: none}"
    ".andrea-progress.andrea-progress table :is(th, td) {background: none; border: 0;"
    " font-variant-numeric: tabular-nums; font-weight: normal; padding: 3px 12px 3px 0;"
    " text-align: start; vertical-align: middle}"
    ".andrea-progress.andrea-progress table td:nth-of-type(2) {text-align: end}"
    ".andrea-progress.andrea-progress table tr:last-child :is(th, td) {font-weight: 600}"
    # a frame and a filling of the colour of the text: seen on every theme and in print
    ".andrea-bar {border: 1px solid currentColor; border-radius: 3px; box-sizing: border-box;"
    " height: 12px; overflow: hidden; width: 180px}"
    # a border is printed, and kept in forced colours, where a background is not
    ".andrea-bar span {border-top: 12px solid currentColor; display: block; height: 0}"
)


def _row(share: Share, title: str, words: str) -> str:
    name, said = html.escape(title), html.escape(words)
    bar = (
        f'<div class="andrea-bar" role="progressbar" aria-label="{name}" aria-valuemin="0" '
        f'aria-valuemax="100" aria-valuenow="{share.percent}" aria-valuetext="{said}">'
        f'<span style="width: {share.percent}%"></span></div>'
    )
    cells = f"<td>{bar}</td><td>{share.percent} %</td><td>{said}</td>"
    return f'<tr><th scope="row">{name}</th>{cells}</tr>'
