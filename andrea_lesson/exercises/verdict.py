"""What a check answers: one calm line, a sign and words, in the language of the moment."""

import html
from dataclasses import dataclass
from typing import Literal

from .words import Words, say

State = Literal["passed", "waits", "wrong"]
SIGNS = {"passed": "✓", "waits": "…", "wrong": "✗"}


class Wrong(Exception):  # noqa: N818  not an error of the program but the student's news
    """Ends a check with words for the student."""

    def __init__(self, key: str, /, **values: object) -> None:
        super().__init__(key)
        self.words = Words(key, values)


class Waits(Wrong):
    """Ends a check that has nothing to judge yet."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """The outcome of one check.

    Attributes
    ----------
    name : str
        The exercise.
    state : {"passed", "waits", "wrong"}
    words : Words
        Key and values of the message.
    tested : str
        Where the answer was found: the cell or the file, for a function.
    score, of : int or None
        For `catch_broken`: how many were caught, of how many.
    """

    name: str
    state: State
    words: Words
    tested: str = ""
    score: int | None = None
    of: int | None = None

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.state == "passed"

    @property
    def waits(self) -> bool:
        """Whether there was no answer yet."""
        return self.state == "waits"

    @property
    def key(self) -> str:
        """The key of the message, the same in both languages."""
        return self.words.key

    @property
    def message(self) -> str:
        """The message in the current language."""
        where = say("tested_where", where=self.tested) if self.tested else ""
        return str(self.words) + where

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return f"{SIGNS[self.state]} {say('state_' + self.state)}{say('colon')}{self.message}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        sign, state = SIGNS[self.state], say("state_" + self.state)
        look = "margin: 0; padding: 0.3em 0.6em; border-left: 4px solid currentColor"
        message = html.escape(self.message)
        return (
            f'<p role="status" style="{look}"><strong>{sign} {state}</strong>'
            f"{say('colon')}{message}</p>"
        )


@dataclass(frozen=True, eq=False)
class Note:
    """A hint, a question or a solution that shows itself.

    Attributes
    ----------
    words : Words
    code : str
        Source text beneath the words, or nothing.
    """

    words: Words
    code: str = ""

    @property
    def message(self) -> str:
        """The words in the current language."""
        return str(self.words)

    def __str__(self) -> str:
        return self.message + (f"\n\n{self.code}" if self.code else "")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        code = f"<pre>{html.escape(self.code)}</pre>" if self.code else ""
        return f"<p>{html.escape(self.message)}</p>{code}"
