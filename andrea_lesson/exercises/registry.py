"""All exercises by name: how long, how hard, how they are checked, their hints and solutions."""

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from operator import index
from typing import Any, Literal

import numpy as np

from . import attention_tasks, function_tasks, head_tasks, mask_tasks, solutions
from .answer_task import D_K_OF_ANDREA, KINDS_OF_MASKS, PERSONAL, SCALING_AT_4096, TableTask
from .function_task import FunctionTask
from .probe_tasks import CatchTask, CausalityTask
from .running import type_name, where_from
from .verdict import Note, Verdict, Waits, Wrong
from .words import WORDS, Words, say

Kind = Literal["number", "choice", "function", "probe"]
on_attempt: list[Callable[[Verdict], None]] = []
attempted: set[str] = set()
_hints_given: dict[str, int] = {}


@dataclass(frozen=True, eq=False)
class Exercise:
    """One exercise.

    Attributes
    ----------
    name : str
    notebook : str
        The number of its notebook, "01" to "06".
    minutes : int
    difficulty : int
        1, easy, to 3.
    kind : {"number", "choice", "function", "probe"}
    task : object
        What judges the answer.
    arguments : tuple of str
        Parameters of the function to write; none for numbers and choices.
    """

    name: str
    notebook: str
    minutes: int
    difficulty: int
    kind: Kind
    task: Any

    @property
    def arguments(self) -> tuple[str, ...]:
        """Parameters of the function to write, in order."""
        return tuple(getattr(self.task, "arguments", ()))

    @property
    def title(self) -> str:
        """What it is called, in the current language."""
        return say(f"title_{self.name}")

    @property
    def personal(self) -> bool:
        """Whether its figures come from the student's own seed."""
        return self.name in PERSONAL

    @property
    def hints(self) -> tuple[Words, ...]:
        """From a nudge to nearly the answer."""
        keys = (f"hint_{self.name}_{number}" for number in range(1, 10))
        return tuple(Words(key, {}) for key in keys if key in WORDS)

    @property
    def solution(self) -> str:
        """Source of one good answer; nothing for numbers and choices."""
        answer = getattr(solutions, self.name, None)
        return "" if answer is None else inspect.getsource(answer)

    def check(self, answer: Any = None, *, seed: Any = None) -> Verdict:
        """Judge an answer and tell `on_attempt`; never raises because of the answer."""
        with np.errstate(all="ignore"):  # a student may have asked NumPy to raise
            verdict = self._judge(answer, {"seed": seed} if self.personal else {})
        if not verdict.waits:
            attempted.add(self.name)
            _tell(verdict)
        return verdict

    def _judge(self, answer: Any, options: dict[str, Any]) -> Verdict:
        tested = ""
        try:
            tested = where_from(answer) if self.arguments else ""
            if isinstance(self.task, CatchTask):
                words, passed, catch = self.task.judge(answer)
                verdict = Verdict(self.name, "passed" if passed else "wrong", words)
                score, of = len(catch.caught), len(catch.caught) + len(catch.missed)
                return replace(verdict, tested=tested, score=score, of=of)
            words = self.task.judge(answer, **options)
        except Waits as waits:
            return Verdict(self.name, "waits", waits.words)
        except Wrong as wrong:
            return Verdict(self.name, "wrong", wrong.words, tested)
        except KeyboardInterrupt:  # between two calls of the student's function
            return Verdict(self.name, "wrong", Words("interrupted", {}), tested)
        except Exception as error:  # an answer so odd that the check itself stumbles
            if os.environ.get("ANDREA_STRICT"):
                raise
            values = {"error": type(error).__name__}
            return Verdict(self.name, "wrong", Words("check_failed", values), tested)
        return Verdict(self.name, "passed", words, tested)


def _tell(verdict: Verdict) -> None:
    for hook in on_attempt:
        try:
            hook(verdict)
        except Exception:  # progress that cannot be kept must not cost the verdict
            if os.environ.get("ANDREA_STRICT"):
                raise


_AS_LISTED: tuple[tuple[str, str, int, int, Kind, Any], ...] = (
    ("d_k_of_andrea", "01", 2, 1, "number", D_K_OF_ANDREA),
    ("my_d_k", "01", 2, 1, "number", PERSONAL["my_d_k"]),
    ("my_fused_column", "01", 4, 2, "number", PERSONAL["my_fused_column"]),
    ("scaling_at_4096", "02", 3, 1, "number", SCALING_AT_4096),
    ("my_divisor", "02", 2, 1, "number", PERSONAL["my_divisor"]),
    ("scaled_scores", "02", 6, 2, "function", function_tasks.SCALED_SCORES),
    ("kinds_of_masks", "03", 3, 1, "choice", KINDS_OF_MASKS),
    ("causal_mask_from_scratch", "03", 6, 2, "function", mask_tasks.CAUSAL_MASK),
    ("sliding_window", "03", 6, 2, "function", mask_tasks.SLIDING_WINDOW),
    ("my_allowed_cells", "03", 4, 2, "number", PERSONAL["my_allowed_cells"]),
    ("causality", "03", 12, 3, "probe", CausalityTask()),
    ("softmax_temperature", "04", 6, 1, "function", function_tasks.SOFTMAX_TEMPERATURE),
    ("my_weight", "04", 3, 1, "number", PERSONAL["my_weight"]),
    ("attention_one_head", "04", 12, 2, "function", attention_tasks.ATTENTION_ONE_HEAD),
    ("attention_two_heads", "04", 12, 3, "function", head_tasks.TWO_HEADS),
    ("attention_complete", "04", 15, 3, "function", attention_tasks.ATTENTION_COMPLETE),
    ("catch_broken", "04", 20, 3, "probe", CatchTask()),
    ("cross_entropy_row", "05", 6, 2, "function", function_tasks.CROSS_ENTROPY_ROW),
    ("my_raw_spread", "05", 4, 2, "number", PERSONAL["my_raw_spread"]),
    ("one_row_backward", "06", 8, 2, "function", function_tasks.ONE_ROW_BACKWARD),
    ("running_softmax", "06", 8, 3, "function", function_tasks.RUNNING_SOFTMAX),
    ("my_kv_cache", "06", 3, 1, "number", PERSONAL["my_kv_cache"]),
)
EXERCISES: dict[str, Exercise] = {row[0]: Exercise(*row) for row in _AS_LISTED}


def exercise(name: str) -> Exercise:
    """An exercise by name.

    Raises
    ------
    KeyError
        In one sentence of the current language, with the name that was perhaps meant.
    """
    if isinstance(name, str) and name in EXERCISES:
        return EXERCISES[name]
    raise UnknownExerciseError(no_such(name))


class UnknownExerciseError(KeyError):
    """A KeyError whose message is read as it stands."""

    def __str__(self) -> str:
        return str(self.args[0])


def no_such(name: Any) -> str:
    """The sentence for a name that no exercise has."""
    name = name[:40] if isinstance(name, str) else type_name(name)
    like = get_close_matches(name, EXERCISES, n=1, cutoff=0.5)
    near = Words("perhaps", {"name": like[0]}) if like else ""
    return say("no_such_exercise", name=name, near=near)


def question(name: str, seed: Any = None) -> Note:
    """What an exercise asks; a personal one needs the student's seed.

    Parameters
    ----------
    name : str
    seed : int, optional
        A whole number of the student's own.

    Returns
    -------
    Note
    """
    one = exercise(name)
    if not one.personal:
        return Note(Words(f"ask_{name}", {}))
    try:
        return Note(PERSONAL[name].question(seed))
    except Wrong as wrong:
        return Note(wrong.words)


def hint(name: str, number: int | None = None) -> Note:
    """A hint; each call goes a step further, up to the last.

    Parameters
    ----------
    name : str
    number : int, optional
        A certain hint, from 1.

    Returns
    -------
    Note
    """
    hints = exercise(name).hints
    if number is None:
        number = _hints_given.get(name, 0) + 1
    try:
        number = max(1, min(index(number), len(hints)))
    except TypeError:
        return Note(Words("hint_number", {"count": len(hints)}))
    _hints_given[name] = number
    values = {"number": number, "count": len(hints), "hint": hints[number - 1]}
    return Note(Words("hint_of", values))


def solution(name: str) -> Note:
    """One good answer, but only after an attempt of one's own.

    Parameters
    ----------
    name : str

    Returns
    -------
    Note
    """
    one = exercise(name)
    if name not in attempted:
        return Note(Words("solution_not_yet", {"name": name}))
    title = Words(f"title_{name}", {})
    if not one.solution:
        return Note(Words("solution_none", {"title": title}))
    return Note(Words("solution_of", {"title": title}), one.solution)


def tasks_of(kind: type[Any]) -> dict[str, Any]:
    """The tasks of one class, by exercise."""
    return {name: one.task for name, one in EXERCISES.items() if isinstance(one.task, kind)}


__all__ = ["EXERCISES", "Exercise", "FunctionTask", "TableTask", "hint", "question", "solution"]
