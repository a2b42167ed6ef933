"""A few questions with choices at the end of a notebook.

Why not jupyterquiz (2.9.6): its "Correct!" and "Incorrect -- try again." are English only, the
right choice stands as ``data-correct`` in the page before any answer, MathJax may be loaded from
a host outside, nothing is told to Python that could be kept, and its feedback is announced to no
screen reader.  ipywidgets' radio buttons cut choices longer than a line and have no name as a
group.  So: native radio buttons and boxes in a fieldset, and Python judges.
"""

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets
from IPython.display import display

from ..labels import get_language, label, language
from .guess_kinds import told
from .progress import the_record
from .quiz_questions import NOTEBOOKS, QUESTIONS, Question

_HERE = Path(__file__).parent
_PANELS = _HERE.parent / "panels"
_SCRIPTS = (_PANELS / "live_looks.js", _PANELS / "live_panel.js", _HERE / "quiz.js")
_STYLES = (_PANELS / "live.css", _HERE / "quiz.css")


class Sheet(anywidget.AnyWidget):
    """What the browser knows: questions and choices, and of answers only those given."""

    _esm = "\n".join(path.read_text(encoding="utf-8") for path in _SCRIPTS)
    _css = "\n".join(path.read_text(encoding="utf-8") for path in _STYLES)
    questions: Any = traitlets.List().tag(sync=True)
    answers: Any = traitlets.List().tag(sync=True)
    score = traitlets.Unicode().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    language = traitlets.Unicode().tag(sync=True)


class Quiz(widgets.VBox):  # type: ignore[misc]
    """Questions that judge an answer when it is given; see :func:`quiz`.

    Attributes
    ----------
    names : list of str
        Of the questions, as they are shown.
    said : list of str
        What was last said of each; "" before an answer.
    right : list of bool
    """

    def __init__(self, notebook: str, questions: dict[str, Question]) -> None:
        self.language = get_language()
        self.notebook = notebook
        self.names = list(questions)
        self._questions = list(questions.values())
        self._orders = [_order(name, one) for name, one in questions.items()]
        self.said = ["" for _ in self.names]
        self.right = [False for _ in self.names]
        self._chosen: list[list[int]] = [[] for _ in self.names]  # places in the table
        self._state: list[bool | None] = [None for _ in self.names]
        self.sheet = Sheet(
            questions=[self._shown(n) for n in range(len(self.names))],
            words=self._words(),
            language=self.language,
        )
        self.sheet.on_msg(self._asked)
        super().__init__([self.sheet], layout=widgets.Layout(max_width="100%"))
        self.add_class("andrea-panel")
        self._restore()
        self._show()

    def _shown(self, n: int) -> dict[str, Any]:
        asked, choices, _ = self._questions[n].said()
        return {
            "words": asked,
            "choices": [choices[place] for place in self._orders[n]],
            "several": self._questions[n].right > 1,
        }

    def _words(self) -> dict[str, Any]:
        numbers = range(1, len(self.names) + 1)
        return {
            "title": label("quiz_title", notebook=self.notebook),
            "several": label("quiz_several"),
            "answer": label("quiz_answer"),
            "answer_to": [label("quiz_answer_to", number=number) for number in numbers],
            "no_answer": label("live_no_answer"),
        }

    def answer(self, question: int, choices: list[int]) -> str:
        """Answer a question, as its button does.

        Parameters
        ----------
        question : int
            From 0.
        choices : list of int
            Places of the choices as they are shown, from 0.

        Returns
        -------
        str
            What is said of the answer.

        Raises
        ------
        ValueError
            If there is no such question or choice.
        """
        places = range(len(self._orders))
        if question not in places or not _are_in(choices, len(self._orders[question])):
            raise ValueError(label("quiz_no_such_answer", of=len(places)))
        with language(self.language):
            self._judge(question, sorted(self._orders[question][place] for place in choices))
            self._show()
        return self.said[question]

    def _judge(self, n: int, chosen: list[int]) -> None:
        if self.right[n]:
            return
        if not chosen:
            self.said[n], self._state[n] = label("quiz_none"), None
            return
        right = chosen == list(range(self._questions[n].right))
        self._settle(n, chosen, right)
        the_record().attempt("quiz", self.names[n], right, chosen=chosen)

    def _settle(self, n: int, chosen: list[int], right: bool) -> None:
        one = self._questions[n]
        _, _, why = one.said()
        wrong = [place for place in chosen if place >= one.right]
        if right:
            said = label("quiz_right") + _joined(why[place] for place in chosen)
        elif wrong:
            said = label("quiz_wrong") + why[wrong[0]] + label("quiz_again")
        else:
            said = label("quiz_wrong") + label("quiz_incomplete")
        self.said[n], self.right[n], self._chosen[n], self._state[n] = said, right, chosen, right

    def _restore(self) -> None:
        """Bring back what was answered right before; a wrong answer may be tried afresh."""
        known = the_record().read()["quiz"]
        for n, name in enumerate(self.names):
            if known.get(name, {}).get("passed"):
                self._settle(n, list(range(self._questions[n].right)), True)

    def _asked(self, widget: Any, content: dict[str, Any], buffers: Any) -> None:
        if content.get("type") == "answer":
            with suppress(ValueError):  # the page sends only what there is
                self.answer(content.get("question", -1), content.get("chosen", []))

    def _show(self) -> None:
        self.sheet.answers = [
            {
                "said": self.said[n],
                "right": self._state[n],
                "chosen": [self._orders[n].index(place) for place in self._chosen[n]],
            }
            for n in range(len(self.names))
        ]
        with language(self.language):
            score = label("quiz_score", done=sum(self.right), of=len(self.right))
        self.sheet.score = " ".join([score, *the_record().notices])

    # -- in a notebook -----------------------------------------------------------------------------

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        data: dict[str, Any] = {} if self.comm is None else super()._repr_mimebundle_(**kwargs)
        with language(self.language):
            lines = [label("quiz_run_this_cell")]
            for n, shown in enumerate(map(self._shown, range(len(self.names))), 1):
                lines += [
                    "",
                    f"{n}. {shown['words']}{label('quiz_several') if shown['several'] else ''}",
                    *(f"   ○ {one}" for one in shown["choices"]),
                ]
        data["text/plain"] = "\n".join(lines)
        return data

    def _ipython_display_(self, **kwargs: Any) -> None:
        publish: Any = display
        publish(self._repr_mimebundle_(), raw=True)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.notebook}: {sum(self.right)} / {len(self.right)}>"

    def close(self) -> None:
        """Take the quiz off the screen and out of memory."""
        self.sheet.on_msg(self._asked, remove=True)
        for part in (self.sheet.layout, self.sheet, self.layout):
            part.close()
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # as in panels/base.py


def quiz(notebook: str) -> Quiz:
    """Ask the questions of a notebook.

    Parameters
    ----------
    notebook : str
        Its number, such as "02".

    Returns
    -------
    Quiz
        A widget; right answers are kept and come back when the cell runs again.

    Raises
    ------
    ValueError
        If there are no questions to that notebook.
    """
    if not isinstance(notebook, str) or notebook not in NOTEBOOKS:
        choices = label("list_comma").join(NOTEBOOKS)
        raise ValueError(label("quiz_no_such", choices=choices, value=told(notebook)))
    asked = {name: one for name, one in QUESTIONS.items() if one.notebook == notebook}
    return Quiz(notebook, asked)


def _are_in(choices: Any, count: int) -> bool:
    return isinstance(choices, (list, tuple)) and all(
        isinstance(one, int) and one in range(count) for one in choices
    )


def _order(name: str, question: Question) -> list[int]:
    """An order of the choices that is the same each time and gives nothing away."""
    places = list(range(len(question.choices)))
    random.Random(name).shuffle(places)
    return places


def _joined(words: Any) -> str:
    return ("" if get_language() == "zh-Hant" else " ").join(words)
