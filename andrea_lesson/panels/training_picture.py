"""What the training panel draws and says about one step."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ..labels import label
from ..lookup import BOOKS, CARDS, TOPICS
from ..plot_inputs import round_up
from ..racing import HELD_OUT
from .picture import Axis, Chart, Line, Matrix, Picture, Ruler
from .settings import factor, short

if TYPE_CHECKING:
    from .training import TrainingState

_HEIGHT = 192.0
_MATCH = 312.0  # pixels across
_CHART = 152.0
_GUESS = math.log(BOOKS)  # loss of who knows nothing


def describe(state: "TrainingState") -> Picture:
    """Weights on one shelf, what W_Q and W_K make of topics and books, and how well it does."""
    topic, book = _topic(state), _book(state)
    topics, books = names()
    asked = tuple(topics[place] for place in state.history.topics)
    cards = tuple(map(card, state.history.topics, state.history.books))
    weights = Matrix(
        "weights",
        state.weights,
        label("training_weights", step=state.step),
        rows="query",
        columns="card",
        colours="absolute",
        reading=label("reading_weight"),
        width=_HEIGHT,
        height=_HEIGHT,
    )
    match = Matrix(
        "match",
        state.match,
        label("training_match" if state.setting.scaled else "training_match_raw", step=state.step),
        rows="topic",
        columns="feature",
        limit=round_up(max(state.limit, 1e-3)),
        grid=TOPICS,
        reading=label("training_match_reading"),
        lit_rows=(topic,),
        lit_columns=(topic, TOPICS + book),
        width=_MATCH,
        height=_HEIGHT,
    )
    titled = tuple(label("lookup_book", name=name) for name in books)
    return Picture(
        lines=((weights, match, _chart(state)),),
        axes={
            "query": Axis(label("training_asked"), label("training_rows"), asked),
            "card": Axis(label("training_card"), label("training_columns"), cards, slanted=True),
            "topic": Axis(label("training_topic"), "", topics),
            "feature": Axis(
                label("training_feature"),
                label("training_features"),
                topics + titled,
                slanted=True,
            ),
        },
        caption=label(
            "training_caption",
            seed=state.seed,
            optimiser=label(f"optimiser_{state.setting.optimiser}"),
            sigma=short(state.setting.sigma),
            eta=short(state.setting.eta),
            first=state.history.step[0],
            last=state.history.step[-1],
        ),
        formulas=_formulas(state),
        selected={"query": state.row},
    )


def names() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Topics and books of the library, in the current language."""
    return tuple(label("lookup_topics").split()), tuple(label("lookup_books").split())


def card(topic: int, book: int) -> str:
    """What a card is called."""
    topics, books = names()
    return label("lookup_card", topic=topics[topic], book=books[book])


def _topic(state: "TrainingState") -> int:
    return int(state.history.topics[state.row])


def _book(state: "TrainingState") -> int:
    return int(state.history.books[state.row])


def _chart(state: "TrainingState") -> Chart:
    """All on one ruler: the loss in units of what a blind guess gets."""
    history, look = state.history, state.look
    last = int(history.step[-1])
    loss = history.loss / _GUESS
    finite = loss[np.isfinite(loss)]
    high = max(1.1, round_up(float(finite.max(initial=0.0))))
    marks = tuple(map(float, (0, 0.5, 1))) if high < 2 else (0.0, 1.0, high)
    here = history.step[look]
    return Chart(
        "curves",
        Ruler(0.0, last * 1.02, tuple((n, f"{n:,}") for n in (0, last // 2, last))),
        Ruler(0.0, high, tuple((mark, short(mark)) for mark in marks)),
        (
            Line((here, here), (0.0, high), "dotted"),
            Line(history.step, loss, "measured", label("training_loss_curve", books=BOOKS)),
            Line(history.step, history.accuracy, "theory", label("training_accuracy")),
            Line(history.step, history.right_weight, "dashdot", label("training_right_weight")),
            Line((here,), (loss[look],), "here"),
        ),
        title=label(
            "training_chart",
            loss=short(float(history.loss[look])),
            accuracy=short(float(history.accuracy[look])),
        ),
        width=_CHART,
        height=_HEIGHT,
        legend_lines=3,
    )


# -- formulas and words ----------------------------------------------------------------------------


def _formulas(state: "TrainingState") -> tuple[str, str, str]:
    """The score of the right card, its weight among all, and the loss over all questions."""
    history, row = state.history, state.row
    topic, book = _topic(state), _book(state)
    line = state.match[topic]
    # A card is 1/√2 at its topic and 1/√2 at its book.
    scores = (line[history.topics] + line[TOPICS + history.books]) / math.sqrt(2)  # (cards,)
    highest = float(scores.max())
    with np.errstate(invalid="ignore"):  # where the numbers have overflowed
        exponentials = np.exp(scores - highest)
    weights = state.weights[row]
    first = int(np.argmax(weights))
    return (
        label(
            "training_score",
            topic=names()[0][topic],
            card=card(topic, book),
            same=factor(line[topic]),
            book=factor(line[TOPICS + book]),
            score=short(float(scores[row])),
        ),
        label(
            "training_weight",
            score=short(float(scores[row])),
            highest=factor(highest),
            exponential=short(float(exponentials[row])),
            total=short(float(exponentials.sum())),
            weight=short(float(weights[row])),
            largest=short(float(weights[first])),
            card=card(history.topics[first], history.books[first]),
        ),
        label(
            "training_mean",
            loss=short(float(history.loss[state.look])),
            questions=HELD_OUT * CARDS,
            books=BOOKS,
            uniform=short(_GUESS),
        ),
    )


def summarise(state: "TrainingState") -> str:
    """Say in one sentence how far the head has come."""
    setting, history, look = state.setting, state.history, state.look
    return label(
        "training_summary",
        d_k=setting.d_k,
        scaling=label("training_divided" if setting.scaled else "training_not_divided"),
        optimiser=label(f"optimiser_{setting.optimiser}"),
        sigma=short(setting.sigma),
        eta=short(setting.eta),
        step=state.step,
        right=short(float(history.right_weight[look])),
        loss=short(float(history.loss[look])),
        accuracy=short(float(history.accuracy[look])),
        topic=names()[0][_topic(state)],
        weight=short(float(state.weights[state.row, state.row])),
    )


def warn(state: "TrainingState") -> str | None:
    """Say that the numbers have overflowed at this step."""
    if np.isfinite(state.history.loss[state.look]):
        return None
    return label("training_overflow", eta=short(state.setting.eta))
