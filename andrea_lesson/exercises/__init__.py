"""Exercises: checks that name the cause, hints, and broken attentions to catch.

``check.<name>(answer)`` says in one sentence whether an answer is right and, if not, what went
wrong; ``hint(name)`` helps a step further; ``solution(name)`` opens after an attempt.
"""

from . import progress as _progress
from .checker import check
from .registry import EXERCISES, Exercise, attempted, hint, on_attempt, question, solution
from .verdict import Note, Verdict
from .zoo import BROKEN, RIGHT, Specimen

__all__ = [
    "BROKEN",
    "EXERCISES",
    "RIGHT",
    "Exercise",
    "Note",
    "Specimen",
    "Verdict",
    "check",
    "hint",
    "on_attempt",
    "question",
    "solution",
]

# What was tried in earlier sessions counts: a solution that was open stays open.
on_attempt.append(_progress.on_attempt)
attempted.update(_progress.the_record().read()["exercises"])
