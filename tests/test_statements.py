"""Every statement about training in the notebooks is one that the shipped results support.

A statement is quoted as it stands in both editions, with a function that reads the results and
is true as long as it holds.  A quotation that is no longer in the notebook fails as well.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from andrea_lesson import training
from andrea_lesson.race_grid import D_K, ETA
from build_source import read_source

SOURCES = Path(__file__).resolve().parents[1] / "notebooks" / "src"
LESSON = "05_learning_to_look_up"


@dataclass(frozen=True)
class Statement:
    notebook: str
    key: str
    chinese: str
    english: str
    holds: Callable[[], bool]


STATEMENTS: list[Statement] = []


def statement(key: str, chinese: str, english: str, notebook: str = LESSON):
    def add(holds: Callable[[], bool]) -> Callable[[], bool]:
        STATEMENTS.append(Statement(notebook, key, chinese, english, holds))
        return holds

    return add


@cache
def grid():
    return training.load_grid()


def accuracy(optimiser, sigma, eta, *, scaled):
    """Of each d_k, mean over seeds."""
    return grid().table(optimiser, sigma, scaled=scaled)[:, ETA[optimiser].index(eta)]


def serve_every_width(optimiser, sigma, *, scaled):
    """How many η get 99 % right at every d_k."""
    return int((grid().table(optimiser, sigma, scaled=scaled) >= 0.99).all(axis=0).sum())


@cache
def history():
    return training.train(training.Setting(d_k=64, eta=0.003, optimiser="adam"), seed=0)


@cache
def losses_after_a_step():
    shelves = training.random_shelves(np.random.default_rng(0))
    head = training.random_head(seed=0, d_k=64, sigma=1.0)
    found = training.look_up(head, shelves, 1 / 8)
    start, dO = training.cross_entropy(found.output, shelves.books)
    slope = training.gradients(head, shelves, found, dO, 1 / 8)
    after = []
    for eta in (1, 10, 100, 1000, 10000):
        moved = training.Head(
            head.W_Q - eta * slope.W_Q, head.W_K - eta * slope.W_K, head.W_V - eta * slope.W_V
        )
        output = training.look_up(moved, shelves, 1 / 8).output
        after.append(training.cross_entropy(output, shelves.books)[0])
    return start, np.array(after)


# -- 5.1 and 5.2 -----------------------------------------------------------------------------------


@statement("shelf-claim", "很接近 $\\ln 32$", "It is very close to $\\ln 32$")
def _():
    return abs(losses_after_a_step()[0] - np.log(32)) < 0.01


@statement(
    "step-claim", "步子小，損失掉得和步子成比例", "With small steps the loss falls in proportion"
)
def _():
    start, after = losses_after_a_step()
    return 9 < (start - after[1]) / (start - after[0]) < 11


@statement("step-claim", "比什麼都不會還糟", "ends worse than knowing nothing")
def _():
    return losses_after_a_step()[1][-1] > np.log(32)


@statement("sharpen-claim", "剛開始大約是 $1/16$", "It begins at about $1/16$")
def _():
    return abs(history().right_weight[0] - 1 / 16) < 0.02


@statement(
    "sharpen-claim",
    "後來幾乎全落在正確的那一張",
    "ends with nearly everything on the right one",
)
def _():
    return history().right_weight[-1] > 0.95


@statement("sharpen-claim", "答對的比例走得比權重快", "accuracy is ahead of the weights")
def _():
    middle = (history().accuracy > 0.5) & (history().accuracy < 1)
    return middle.any() and bool((history().accuracy > history().right_weight)[middle].all())


def match_means():
    after = history().match[-1]
    same = np.eye(32, dtype=bool)
    return after[:, :32][same].mean(), after[:, :32][~same].mean(), after[:, 32:].mean()


@statement("match-claim", "對角線變得很大", "The diagonal has grown large")
def _():
    before = history().match[0][:, :32].diagonal().mean()
    return match_means()[0] > 5 > before + 4


@statement("match-claim", "別的主題稍微往下", "Other topics went down a little")
def _():
    return -1 < match_means()[1] < -0.1


@statement(
    "match-claim",
    "書名那一半平均差不多是 0",
    "The half with the books is about 0 on average",
)
def _():
    return abs(match_means()[2]) < 0.1


@statement(
    "training-answer",
    "後來權重快到 1，只能一點一點往上；對角線卻還在變深",
    "Later the weights are close to 1 and creep, while the diagonal goes on growing",
)
def _():
    weight, match = history().right_weight, history().match
    close = int(np.argmax(weight > 0.95))
    grown = [match[at][:, :32].diagonal().mean() for at in (close, -1)]
    return weight[-1] - weight[close] < 0.05 and grown[1] > grown[0] + 1


# -- 5.3 -------------------------------------------------------------------------------------------


@statement(
    "race-claim",
    "$d_k$ 小的時候差不多；$d_k$ 大了，不除的落後，但也不是學不會",
    "For small $d_k$ there is little between them; for large $d_k$ the undivided head falls behind",
)
def _():
    scaled = accuracy("adam", 1.0, 0.003, scaled=True)
    raw = accuracy("adam", 1.0, 0.003, scaled=False)
    return abs(scaled[0] - raw[0]) < 0.03 and scaled[-1] > raw[-1] + 0.05 and raw[-1] > 0.5


@statement(
    "race-claim",
    "$d_k = 1024$ 那一場，不除的頭訓練是混沌的",
    "At $d_k = 1024$ the training of the undivided head is chaotic",
)
def _():
    chaotic = grid().chaotic("adam", 1.0, scaled=False)[:, ETA["adam"].index(0.003)]
    return list(chaotic) == [d_k == 1024 for d_k in D_K]


@statement(
    "race-claim",
    "$d_k = 4$ 時兩個頭都還沒學完：這個 $\\eta$ 對它們太小，換成 0.01 就學得完",
    "At $d_k = 4$ neither head is done learning: this $\\eta$ is too small for them; with 0.01 "
    "they finish",
)
def _():
    slow, fast = (
        [accuracy("adam", 1.0, eta, scaled=scaled)[0] for scaled in (True, False)]
        for eta in (0.003, 0.01)
    )
    return max(slow) < 0.8 and min(fast) >= 0.98


@statement("rigged-claim", "不除的遙遙領先", "The undivided head is far ahead")
def _():
    scaled = accuracy("adam", 0.1, 0.0001, scaled=True)
    raw = accuracy("adam", 0.1, 0.0001, scaled=False)
    return raw[-1] > scaled[-1] + 0.5


@statement(
    "twin-claim",
    "差的只有浮點數的捨入",
    "Floating-point rounding is all that separates them",
)
def _():
    for optimiser, eta in (("sgd", 10.0), ("adam", 0.003)):
        scaled = training.Setting(d_k=64, eta=eta, optimiser=optimiser)
        race = training.race(scaled, training.twin(scaled), seeds=(0,))
        if np.abs(race.scaled.loss - race.raw.loss).max() > 1e-8:
            return False
    return True


@statement(
    "serve-claim",
    "除的有幾個 $\\eta$ 從頭用到尾，不除的一個也沒有",
    "the divided head has some $\\eta$ that serve from the narrowest head to the widest, "
    "the undivided one has none",
)
def _():
    return all(
        serve_every_width(optimiser, 1.0, scaled=True) >= 2
        and serve_every_width(optimiser, 1.0, scaled=False) == 0
        for optimiser in ("adam", "sgd")
    )


@statement(
    "serve-claim",
    "$\\sigma = 0.1$、用 SGD，反而是不除的找得到一個通用的 $\\eta$",
    "with $\\sigma = 0.1$ and SGD it is the undivided head that has a common $\\eta$",
)
def _():
    return (
        serve_every_width("sgd", 0.1, scaled=False) >= 1
        and serve_every_width("sgd", 0.1, scaled=True) == 0
    )


@statement(
    "serve-claim",
    "$d_k$ 越大起步越慢",
    "the larger $d_k$, the slower the start",
)
def _():
    ends = accuracy("sgd", 0.1, 10.0, scaled=True)
    return bool((np.diff(ends) <= 0.01).all()) and ends[0] > ends[-1] + 0.3


@statement(
    "recap",
    "讓一組設定通用於各種 $d_k$，前提是起點的 $q$、$k$ 變異數是 1",
    "one setting serves every $d_k$, provided that $q$ and $k$ start with variance 1",
)
def _():
    return all(serve_every_width(each, 1.0, scaled=True) > 0 for each in ("adam", "sgd"))


@statement(
    "recap",
    "只給一組 $\\sigma$ 和 $\\eta$ 的賽跑，說明不了什麼",
    "A race with one pair of $\\sigma$ and $\\eta$ shows very little",
)
def _():
    wide = D_K.index(1024)
    ahead = {
        bool(
            accuracy(optimiser, sigma, eta, scaled=True)[wide]
            > accuracy(optimiser, sigma, eta, scaled=False)[wide]
        )
        for optimiser in ("adam", "sgd")
        for sigma in (1.0, 0.1)
        for eta in ETA[optimiser]
    }
    return ahead == {True, False}


# -- 5.4: in both languages ------------------------------------------------------------------------


@cache
def shipped(seed):
    return training.load_leakage(seed=seed)


def runs(variant):
    """Of both languages and all seeds, each of which has to bear a statement out."""
    return [
        shipped(seed)[variant, language] for language in ("zh-Hant", "en") for seed in (0, 1, 2)
    ]


def last(variant, name):
    return np.array([getattr(run, name)[-1] for run in runs(variant)])


@statement(
    "race-answer",
    "有幾行（column）從上亮到下",
    "some columns are bright from top to bottom",
)
def _():
    steady = ~grid().chaotic("adam", 1.0, scaled=True)
    bright = (grid().table("adam", 1.0, scaled=True) >= 0.99) & steady
    return bright.all(axis=0).sum() >= 2


@statement(
    "race-answer",
    "$d_k$ 越大，越小的 $\\eta$ 就開始混沌",
    "the larger $d_k$, the smaller the $\\eta$ at which training turns chaotic",
)
def _():
    first = grid().chaotic("adam", 1.0, scaled=False).argmax(axis=-1)  # (5,)
    return (np.diff(first) <= 0).all() and first[-1] < first[0] - 2


@statement("race-answer", "最後連一格也不亮", "until no cell is bright any more")
def _():
    table, chaotic = (
        look("adam", 1.0, scaled=False)[-1] for look in (grid().table, grid().chaotic)
    )
    return not (table[~chaotic] >= 0.99).any()


@statement(
    "race-answer",
    "把 $\\sigma$ 調到 0.1，就看得到一條斜的亮帶",
    "set $\\sigma$ to 0.1, and you see a slanted band",
)
def _():
    table, chaotic = (look("adam", 0.1, scaled=False) for look in (grid().table, grid().chaotic))
    first, last = (table >= 0.99).argmax(axis=-1), chaotic.argmax(axis=-1)  # (5,), (5,)
    return all((np.diff(edge) <= 0).all() and edge[-1] < edge[0] - 1 for edge in (first, last))


@statement(
    "leak-training-claim",
    "第 2、3 種的損失幾乎是 0",
    "The loss of numbers 2 and 3 is almost 0",
)
def _():
    return all(
        last(variant, "training_loss").max()
        < 0.15
        < 5 * 0.15
        < last("causal", "training_loss").min()
        for variant in ("none", "reversed")
    )


@statement(
    "leak-training-claim",
    "只看訓練損失，它們是最好的模型",
    "By training loss alone they are the best models",
)
def _():
    worst = np.maximum(last("none", "training_loss"), last("reversed", "training_loss"))
    others = ("causal", "after_softmax", "diagonal_hidden")
    return all(bool((worst < last(variant, "training_loss")).all()) for variant in others)


@statement(
    "honest-claim",
    "第 2、3、4 種，老實考的損失都比整篇一起給高出一大截，也輸第 1 種一大截",
    "For numbers 2, 3 and 4 the honest loss is far above the loss with the whole text at once, "
    "and far above that of number 1",
)
def _():
    return all(
        bool((last(variant, "honest_loss") > 1.5 * last(variant, "teacher_loss")).all())
        and bool((last(variant, "honest_loss") > 1.5 * last("causal", "honest_loss")).all())
        for variant in ("none", "reversed", "after_softmax")
    )


@statement(
    "honest-claim",
    "沒有遮罩的第 2 種，不比只知道哪個字常見的猜法強",
    "does no better than a guess that only knows how common each character is",
)
def _():
    return all(run.honest_loss[-1] > 0.99 * run.unigram_loss for run in runs("none"))


@statement(
    "honest-claim",
    "訓練損失一路往下，老實考的損失到頭來卻比途中還高",
    "While its training loss falls and falls, its honest loss ends higher than it was on the way",
)
def _():
    return all(
        run.training_loss[-1] < 0.1 * run.training_loss[0]
        and run.honest_loss[-1] > 1.2 * run.honest_loss.min()
        for run in runs("none")
    )


@statement("honest-claim", "兩次考得一模一樣", "does exactly as well in both tests")
def _():
    return np.allclose(last("causal", "honest_loss"), last("causal", "teacher_loss"), atol=1e-4)


@statement("probe-claim", "第 4 種最陰險：遮過了", "Number 4 is the most devious: it is masked")
def _():
    return all(
        bool((run.probe[: run.changed] > 1e-6).all())
        and not np.triu(run.weights, 1).any()  # the weights of hidden cells are all 0
        for run in runs("after_softmax")
    )


@statement("probe-claim", "第 5 種不漏", "Number 5 does not leak")
def _():
    return all(
        not run.probe[: run.changed].any() for run in runs("diagonal_hidden") + runs("causal")
    )


@statement(
    "probe-claim",
    "老實考卻和第 1 種差不多",
    "it does about as well as number 1 in the honest test",
)
def _():
    apart = last("diagonal_hidden", "honest_loss") / last("causal", "honest_loss")
    return bool((np.abs(apart - 1) < 0.1).all())


@statement(
    "leakage-answer",
    "至少有一個頭，每個位置都盯著下一個字",
    "in at least one head each position looks at the next character",
)
def _():
    return all(
        max(np.diagonal(head, 1).mean() for head in run.weights) > 10 / len(run.characters)
        for run in runs("none")
    )


@statement("recap", "訓練損失看不出洩漏", "Training loss does not show a leak")
def _():
    # A leaking mask has a lower training loss than the right one, and another a higher.
    leaking = ("none", "reversed", "after_softmax")
    lower = [last(v, "training_loss") < last("causal", "training_loss") for v in leaking]
    return bool(np.any(lower)) and not bool(np.all(lower))


# -- appendix --------------------------------------------------------------------------------------


@statement(
    "chaos", "$\\eta$ 太大的時候，訓練是混沌的", "With too large an $\\eta$ training is chaotic"
)
def _():
    counts = sum(
        grid().chaotic("adam", sigma, scaled=scaled).sum(axis=0)
        for sigma in (1.0, 0.1)
        for scaled in (True, False)
    )
    return counts[-3:].sum() > 2 * counts[:3].sum()


# -- lesson 2 --------------------------------------------------------------------------------------


@statement(
    "units-claim",
    "縮放沒有讓模型多會什麼",
    "scaling does not teach the model anything new",
    "02_scores_and_scaling",
)
def _():
    scaled = training.Setting(d_k=100, eta=10.0, optimiser="sgd", steps=100)
    both = training.race(scaled, training.twin(scaled), seeds=(0,))
    return np.abs(both.scaled.loss - both.raw.loss).max() < 1e-9


@statement(
    "units-claim",
    "不縮放而要得到同樣的訓練，$\\sigma$ 和 $\\eta$ 就得**跟著 $d_k$ 改**",
    "To get the same training without it, $\\sigma$ and $\\eta$ must **change with $d_k$**",
    "02_scores_and_scaling",
)
def _():
    settings = [
        training.twin(training.Setting(d_k=d_k, optimiser=each))
        for each in ("adam", "sgd")
        for d_k in D_K
    ]
    changes = {(one.sigma, one.eta) for one in settings}
    return len(changes) == len(settings)


@statement(
    "units-claim",
    "只轉一個就下結論，這場比賽不公平",
    "To turn only one of them and draw a conclusion is not a fair race",
    "02_scores_and_scaling",
)
def _():
    # Turning σ alone, or the optimiser alone, changes which side has an η for every d_k.
    ahead = {
        (optimiser, sigma): serve_every_width(optimiser, sigma, scaled=True)
        > serve_every_width(optimiser, sigma, scaled=False)
        for optimiser in ("adam", "sgd")
        for sigma in (1.0, 0.1)
    }
    return ahead["sgd", 1.0] != ahead["sgd", 0.1] and ahead["adam", 0.1] != ahead["sgd", 0.1]


# -- the tests -------------------------------------------------------------------------------------


@cache
def prose(notebook):
    """Markdown of each key, by language."""
    cells = read_source(SOURCES / f"{notebook}.py")
    return {(cell.key, cell.lang): cell.text for cell in cells if not cell.code}


@pytest.mark.parametrize("one", STATEMENTS, ids=lambda s: f"{s.key}: {s.english[:40]}")
def test_the_shipped_results_support_it(one):
    assert one.chinese in prose(one.notebook)[one.key, "zh-Hant"], "the notebook says it otherwise"
    assert one.english in prose(one.notebook)[one.key, "en"], "the notebook says it otherwise"
    assert one.holds(), "the shipped results no longer support this"


def test_each_claim_of_the_lesson_is_pinned():
    claims = {key for key, _ in prose(LESSON) if key.endswith(("claim", "answer", "recap"))}
    assert claims - {s.key for s in STATEMENTS} == set()
