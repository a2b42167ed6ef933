"""The words of checks, hints and slips, said in the current language.

Their keys are apart from those of `labels.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..labels import LABELS, LANGUAGES, get_language
from ..words.checks import CHECK_WORDS
from ..words.hints import HINT_WORDS
from ..words.slips import SLIP_WORDS

WORDS: dict[str, tuple[str, str]] = {**CHECK_WORDS, **SLIP_WORDS, **HINT_WORDS}


@dataclass(frozen=True)
class Words:
    """A key and what fills its places: words that speak the language of the moment."""

    key: str
    values: Mapping[str, Any]

    def __str__(self) -> str:
        return say(self.key, **self.values)


def say(key: str, /, **values: Any) -> str:
    """The words of a key in the current language, its places filled.

    Parameters
    ----------
    key : str
        A key of `WORDS`, or one of `labels.py`.
    **values
        What to put into the places, by name; `Words` are put in the same language.

    Returns
    -------
    str
    """
    words = WORDS[key] if key in WORDS else LABELS[key]
    text = words[LANGUAGES.index(get_language())]
    said = text.format(**values) if values else text
    return said.encode("utf-8", "replace").decode("utf-8")  # half a character cannot be shown
