"""Named numbers for a reader: a few lines, or a table, with the words of `labels.py`.

A notebook's code holds no words, so that it is the same in every language; it names what it
shows by keys: ``show(guess=guess, measured=3)``.
"""

import html
import sys
from collections.abc import Iterable
from typing import Any
from unicodedata import east_asian_width

import numpy as np

from .labels import LABELS, label


def show(**named: Any) -> None:
    """Print named values, a line each.

    Parameters
    ----------
    **named
        Values by key.  A key of `labels.py` is shown by its words, any other by itself, as a
        symbol; None is shown as a question still open.

    Raises
    ------
    TypeError
        If there is nothing to show.
    """
    if not named:
        raise TypeError("show must get values by name, as in show(measured=3); got none.")
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    words = {_words(key): _text(value) for key, value in named.items()}
    width = max(text_width(word) for word in words)
    for word, text in words.items():
        start = word + " " * (width - text_width(word) + 2)
        line = start + text.replace("\n", "\n" + " " * (width + 2))
        print(line.encode(encoding, "replace").decode(encoding))  # ? where it has no such letter


class Table:
    """A table that a notebook shows as HTML and a terminal as text.

    Parameters
    ----------
    columns : dict of str to sequence
        Columns by key, all of one length.

    Raises
    ------
    TypeError, ValueError
        If a column is not a sequence, or the lengths differ.
    """

    def __init__(self, columns: dict[str, Iterable[Any]]) -> None:
        self.head = [_words(key) for key in columns]
        cells = {key: _column(key, values) for key, values in columns.items()}
        lengths = {key: len(column) for key, column in cells.items()}
        if len(set(lengths.values())) > 1:
            came = ", ".join(f"{length} in {key}" for key, length in lengths.items())
            raise ValueError(f"columns must have one length; got {came}.")
        self.rows = [list(row) for row in zip(*cells.values(), strict=True)]

    def __repr__(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(text_width(line[i]) for line in lines) for i in range(len(self.head))]
        return "\n".join(
            "  ".join(
                " " * (width - text_width(text)) + text
                for text, width in zip(line, widths, strict=True)
            )
            for line in lines
        )

    def _repr_html_(self) -> str:
        def line(cells: list[str], tag: str) -> str:
            return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)

        head = f"<tr>{line(self.head, 'th')}</tr>"
        body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in self.rows)
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def table(**columns: Iterable[Any]) -> Table:
    """Make a table of named columns; see :class:`Table`."""
    return Table(columns)


def answer(answers: Any, key: str | int) -> Any:
    """Look up one of a reader's answers, whatever the reader has made of them.

    Parameters
    ----------
    answers : dict
        Answers by key.  Anything else, such as a single number, holds no answer.
    key : str or int

    Returns
    -------
    object or None
        The answer to `key`, or None where there is none.
    """
    return answers.get(key) if isinstance(answers, dict) else None


def _column(key: str, values: Iterable[Any]) -> list[str]:
    try:
        cells = list(values)
    except TypeError:
        came = type(values).__name__
        raise TypeError(f"{key} must be a sequence, a value for each row; got {came}.") from None
    return [_text(value) for value in cells]


def _words(key: str) -> str:
    return label(key) if key in LABELS else key


def _text(value: Any) -> str:
    """One value: three significant digits for fractions, whole numbers in full, a real minus."""
    if value is None:
        return label("not_answered")
    if isinstance(value, (bool, np.bool_)):
        return label("yes" if value else "no")
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return _minus(f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}")
    if isinstance(value, (int, np.integer)):
        return _minus(f"{value:,}")
    if isinstance(value, (list, np.ndarray)):
        try:
            array = np.asarray(value)
        except ValueError:  # rows of unequal length, as a guess may have
            return str(value)
        text = np.array2string(array, precision=3, suppress_small=True, separator=" ")
        return _minus(text) if array.dtype.kind in "iuf" else text
    return str(value)


def _minus(number: str) -> str:
    return number.replace("-", "−")


def text_width(text: str) -> int:
    """Width on screen: a Chinese character takes two places."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
