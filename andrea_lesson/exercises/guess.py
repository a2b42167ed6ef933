"""Guess first: draw the curve or shade the cells that you expect, commit, and see what is measured.

What was measured is worked out when the guess is committed, and not sent to the browser before:
nothing in the page or in the notebook gives it away.
"""

import base64
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import numpy as np
import traitlets
from IPython.display import display

from ..labels import LABELS, get_language, label, language
from ..panels.base import keepsake, strict
from ..panels.layout import lay_out
from ..panels.printed import still
from ..panels.settings import short
from .guess_kinds import CellsKind, CurveKind, GuessError, told
from .guess_words import FloatArray, share_of, words_of
from .progress import guesses, the_record

_HERE = Path(__file__).parent
_PANELS = _HERE.parent / "panels"
# One module in several files, as in `panels/live.py`; colours, keys and Escape are the panels'.
_SCRIPTS = (
    *(_PANELS / "live_looks.js", _PANELS / "live_panel.js"),
    *(_HERE / "guess_curve.js", _HERE / "guess_cells.js", _HERE / "guess.js"),
)
_STYLES = (_PANELS / "live.css", _HERE / "guess.css")
_MOST_POINTS, _MOST_CELLS = 40, 16

# What was drawn and not committed yet, so that it is still there when the cell runs again.
_drafts: dict[str, Any] = {}


class Board(anywidget.AnyWidget):
    """What the browser knows: how to draw, what is guessed, and the truth after the commit."""

    _esm = "\n".join(path.read_text(encoding="utf-8") for path in _SCRIPTS)
    _css = "\n".join(path.read_text(encoding="utf-8") for path in _STYLES)
    spec = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    language = traitlets.Unicode().tag(sync=True)


class Guess(widgets.VBox):  # type: ignore[misc]
    """A guess that is drawn, committed, and then compared; see :func:`guess_curve`.

    Attributes
    ----------
    guess : ndarray or None
        Heights of the curve, NaN where nothing is drawn yet, or the cells, True where shaded.
    truth : ndarray or None
        What was measured; None before the commit.
    committed : bool
    summary : str
        Both compared in one sentence; "" before the commit.
    error : str or None
        What is wrong with the guess or the measurement, in one sentence.
    """

    def __init__(self, name: str, truth: Any, kind: CurveKind | CellsKind) -> None:
        self.name = name
        self._kind: Any = kind
        self.language = get_language()
        self.truth: Any = None
        self.committed = False
        self.summary = ""
        self.error: str | None = None
        self._truth = truth
        self._echo: dict[str, int] = {}
        self._values: list[Any] = kind.empty()
        self.board = Board(
            spec=kind.spec,
            words={key: label(key) for key in LABELS if key.startswith("guess_")}
            | {"live_no_answer": label("live_no_answer")},
            language=self.language,
        )
        self.board.on_msg(self._asked)
        super().__init__([self.board], layout=widgets.Layout(max_width="100%"))
        self.add_class("andrea-panel")
        self._earlier = 0
        self._restore()
        self._show()

    @property
    def guess(self) -> Any:
        """What is guessed so far; None before the first stroke."""
        return self._kind.array(self._values)

    # -- without a browser -------------------------------------------------------------------------

    def set(self, values: Any) -> None:
        """Guess, as by drawing.

        Parameters
        ----------
        values : array_like
            A height for each point, or True and False for each cell.
        """
        self._try(lambda: self._draw(self._kind.read(values)))

    def commit(self) -> None:
        """Stand by the guess, and see what is measured."""
        self._try(self._commit)

    def anew(self) -> None:
        """Guess once more; the guesses before are kept in the history."""
        self._try(self._anew)

    def _try(self, act: Callable[[], None]) -> None:
        with language(self.language):
            try:
                self.error = None
                act()
            except GuessError as problem:
                self.error = str(problem)
            finally:
                self._show()

    def _draw(self, values: list[Any]) -> None:
        if self.committed:
            raise GuessError(label("guess_committed"))
        self._values = _drafts[self.name] = values

    def _commit(self) -> None:
        if self.committed:
            return  # pressed twice, or in two views
        self._kind.check_whole(self._values)
        truth = self._measure()
        self._reveal(truth)
        _drafts.pop(self.name, None)
        self._earlier += 1
        the_record().guess(self.name, self._kind.entry(self._values, self.truth))

    def _anew(self) -> None:
        self.truth, self.committed, self.summary = None, False, ""
        self._values = _drafts[self.name] = self._kind.empty()

    def _measure(self) -> Any:
        try:
            return self._kind.check_truth(self._truth() if callable(self._truth) else self._truth)
        except Exception as problem:
            if strict():
                raise
            words = f"{type(problem).__name__}: {problem}".replace("\n", " ")
            raise GuessError(label("guess_truth_failed", problem=words)) from None

    def _reveal(self, truth: Any) -> None:
        self.truth, self.committed = truth, True
        self.summary = self._kind.compare(self._values, truth)

    def _restore(self) -> None:
        """Bring back what was guessed before, and what was measured then and is again now."""
        earlier = guesses(self.name)
        self._earlier = len(earlier)
        if self.name in _drafts:
            if self._fits(_drafts[self.name]):
                self._values = _drafts[self.name]
            return
        fitting = [
            one
            for one in earlier
            if self._kind.same_question(one) and self._fits(one.get("guess"), whole=True)
        ]
        if fitting:
            self._values = self._kind.read(fitting[-1]["guess"])
            self._try(lambda: self._reveal(self._measure()))

    def _fits(self, values: Any, *, whole: bool = False) -> bool:
        try:
            values = self._kind.read(values)
            if whole:
                self._kind.check_whole(values)
        except GuessError:
            return False
        return True

    # -- the browser -------------------------------------------------------------------------------

    def _asked(self, widget: Any, content: dict[str, Any], buffers: Any) -> None:
        """Do what was drawn or pressed, and always answer with the state."""
        number, values = content.get("id"), content.get("values")
        self._echo[str(content.get("view"))] = number if isinstance(number, int) else 0
        acts: dict[str, Callable[[], None]] = {
            "draw": lambda: self._draw(self._kind.read(values)),
            "commit": lambda: self._commit_values(values),
            "anew": self._anew,
        }
        self._try(acts.get(str(content.get("type")), lambda: None))

    def _commit_values(self, values: Any) -> None:
        if not self.committed:
            self._draw(self._kind.read(values))
        self._commit()

    def _show(self) -> None:
        with language(self.language):
            earlier = self._earlier - self.committed
            self.board.state = {
                "values": self._values,
                "truth": None if self.truth is None else self._kind.plain(self.truth),
                "committed": self.committed,
                "summary": self.summary,
                "error": self.error or "",
                "earlier": label("guess_earlier", count=earlier) if earlier > 0 else "",
                "notice": " ".join(the_record().notices),
                "echo": dict(self._echo),
                **self._kind.state(self.truth),
            }

    # -- in a notebook -----------------------------------------------------------------------------

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        data: dict[str, Any] = {} if self.comm is None else super()._repr_mimebundle_(**kwargs)
        data["text/plain"] = self.summary or self.error or self._kind.spec["title"]
        with language(self.language):
            picture = self._kind.picture(self._values, self.truth)
            png = still(picture, lay_out(picture), "", strip="guess_run_this_cell")
        data["image/png"] = base64.b64encode(png).decode("ascii")
        return data

    def _ipython_display_(self, **kwargs: Any) -> None:
        data = self._repr_mimebundle_()
        publish: Any = display
        words = data["text/plain"]
        publish(data, metadata={"image/png": {"alt": words}}, raw=True)
        publish({"text/html": keepsake(data["image/png"], words)}, raw=True)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.summary or self.error or '…'}>"

    def close(self) -> None:
        """Take the guess off the screen and out of memory; what is committed is kept."""
        self.board.on_msg(self._asked, remove=True)
        for part in (self.board.layout, self.board, self.layout):
            part.close()
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # as in panels/base.py


# -- for notebooks ---------------------------------------------------------------------------------


def guess_curve(
    name: str,
    x: Sequence[float],
    truth: Any,
    *,
    x_label: str,
    y_label: str,
    y_limits: tuple[float, float],
    title: str = "guess_curve_name",
    log_x: bool = False,
    log_y: bool = False,
) -> Guess:
    """Let the learner draw the curve they expect, then lay what is measured over it.

    Parameters
    ----------
    name : str
        Under which the guess is kept; begins with the number of the notebook, "02_spread".
    x : sequence of float
        Where the curve has points, ascending; 2 to 40 of them.
    truth : array_like, or callable without arguments
        A value for each x.  A callable is called when the guess is committed.
    x_label, y_label, title : str
        Keys of ``labels.py``, or words.
    y_limits : (float, float)
        Ends of the plot; chosen so that they give nothing away.
    log_x, log_y : bool
        Whether that side is logarithmic.

    Returns
    -------
    Guess
        A widget; ``.guess``, ``.truth``, ``.committed``, ``.summary`` and ``.error`` say how it
        stands, ``.set(values)``, ``.commit()`` and ``.anew()`` do the same as the hand.

    Raises
    ------
    ValueError
        If `x` or `y_limits` make no plot.
    """
    _check_name(name)
    places, ends = _numbers("x", x), _numbers("y_limits", y_limits)
    if places.ndim != 1 or not 2 <= places.size <= _MOST_POINTS:
        raise ValueError(f"x must hold 2 to {_MOST_POINTS} numbers; got shape {places.shape}.")
    if not np.isfinite(places).all() or (np.diff(places) <= 0).any():
        raise ValueError("x must be finite and ascending; got numbers that are not.")
    if ends.shape != (2,) or not 0 < ends[1] - ends[0] < np.inf:
        raise ValueError(f"y_limits must be two finite numbers, low < high; got {told(y_limits)}.")
    low, high = map(float, ends)
    if (log_x and places[0] <= 0) or (log_y and low <= 0):
        raise ValueError("x and y_limits must be greater than 0 where they are logarithmic.")
    shares = share_of(places, places[0], places[-1], log_x)
    said = [short(float(one)) for one in places]
    spec = {
        "kind": "curve",
        "title": words_of(title),
        "x": [round(float(share), 6) for share in shares],
        "x_words": said,
        "x_ticks": [[float(share), words] for share, words in _apart(shares, said)],
        "x_label": words_of(x_label),
        "y_label": words_of(y_label),
        "limits": [low, high],
        "log_y": bool(log_y),
        # kept with the guess, so that a report may be in the other language
        "keys": {"title": title, "x_label": x_label, "y_label": y_label},
    }
    return Guess(name, truth, CurveKind(spec))


def guess_cells(
    name: str,
    shape: tuple[int, int],
    truth: Any,
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    rows: str = "rows_queries",
    columns: str = "columns_keys",
    title: str = "guess_cells_name",
) -> Guess:
    """Let the learner shade the cells they expect, then show which of them it is.

    Parameters
    ----------
    name : str
        Under which the guess is kept; begins with the number of the notebook, "03_moves".
    shape : (int, int)
        Rows and columns, up to 16 of each.
    truth : ndarray of bool, or callable without arguments
        True for the cells that should be shaded.  A callable is called at the commit.
    row_names, column_names : sequence of str, optional
        Names of the places; numbers from 0 by default.
    rows, columns, title : str
        What rows and columns are: keys of ``labels.py``, or words.

    Returns
    -------
    Guess
        As for :func:`guess_curve`.

    Raises
    ------
    ValueError
        If there are too many cells, or as many names as there are not places.
    """
    _check_name(name)
    counts = _numbers("shape", shape).tolist()
    if len(counts) != 2 or not all(count in range(1, _MOST_CELLS + 1) for count in counts):
        raise ValueError(f"shape must be two numbers from 1 to {_MOST_CELLS}; got {told(shape)}.")
    counts = [int(count) for count in counts]
    for what, names, count in zip(
        ("row_names", "column_names"), (row_names, column_names), counts, strict=True
    ):
        if names is not None and len(names) != count:
            raise ValueError(f"{what} must hold {count} names; got {len(names)}.")
    spec = {
        "kind": "cells",
        "title": words_of(title),
        "shape": counts,
        "row_names": None if row_names is None else [words_of(one) for one in row_names],
        "column_names": None if column_names is None else [words_of(one) for one in column_names],
        "rows": words_of(rows),
        "columns": words_of(columns),
        "keys": {"title": title},
    }
    return Guess(name, truth, CellsKind(spec))


def _check_name(name: Any) -> None:
    """Refuse a name that cannot be written into a file: it would take all progress with it."""
    if not (isinstance(name, str) and name and name.isprintable()):
        raise ValueError(f"name must be text such as '02_spread'; got {told(name)}.")


def _numbers(name: str, values: Any) -> FloatArray:
    try:
        return np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must hold numbers; got {told(values)}.") from None


def _apart(shares: FloatArray, words: Sequence[str]) -> list[tuple[float, str]]:
    """Ticks that leave each other room: every one, every other one and so on, with the last."""
    ticks = [(float(share), said) for share, said in zip(shares, words, strict=True)]
    for stride in range(1, len(ticks)):
        kept = ticks[::-1][::stride][::-1]
        wide = (0.011 * (len(a) + len(b) + 2) for (_, a), (_, b) in pairwise(kept))
        if all(b - a >= room for ((a, _), (b, _)), room in zip(pairwise(kept), wide, strict=True)):
            return kept
    return ticks[-1:]
