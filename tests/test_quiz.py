"""The quiz: its table of questions, judging, keeping, and what is never shown early."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from andrea_lesson.exercises import progress
from andrea_lesson.exercises.quiz import quiz
from andrea_lesson.exercises.quiz_questions import NOTEBOOKS, QUESTIONS
from andrea_lesson.labels import LABELS, set_language
from build_words import Glossary

GLOSSARY = Glossary(Path(__file__).resolve().parents[1] / "data" / "glossary.csv")


@pytest.fixture(autouse=True)
def afresh(tmp_path, monkeypatch):
    monkeypatch.setenv("ANDREA_PROGRESS", str(tmp_path / "progress"))
    monkeypatch.setattr(progress, "_records", {})
    set_language("en")


def words_of(question):
    return [question.asked, *(words for choice in question.choices for words in choice)]


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_is_whole_and_in_both_languages(name):
    question = QUESTIONS[name]
    assert name.startswith(question.notebook)
    assert 3 <= len(question.choices) <= 5
    assert 1 <= question.right < len(question.choices)
    for number in (0, 1):
        choices = [choice[number] for choice, _ in question.choices]
        assert len(set(choices)) == len(choices)
    for chinese, english in words_of(question):
        assert GLOSSARY.problems(chinese) == []
        assert not re.search(r"[\u3400-\u9fff]", english)
        assert not re.search(r"[\u3400-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u3400-\u9fff]", chinese)
        assert not re.search(r"[\u3400-\u9fff][,;:?!]", chinese)
    for _, (chinese, english) in question.choices:
        assert chinese.endswith("。")
        assert english.endswith(".")


def test_each_notebook_has_questions_and_the_right_choice_has_no_fixed_place():
    assert NOTEBOOKS == ("01", "02", "03", "04", "05", "06")
    first = set()
    for notebook in NOTEBOOKS:
        one = quiz(notebook)
        assert len(one.names) >= 2
        first |= {order.index(0) for order in one._orders}
        assert [sorted(order) for order in one._orders] == [
            list(range(len(order))) for order in one._orders
        ]
        assert quiz(notebook)._orders == one._orders
    assert len(first) > 2


def test_an_unknown_notebook_is_refused():
    with pytest.raises(ValueError, match="one of 01, 02, 03, 04, 05, 06; got “99”"):
        quiz("99")
    for bad in (1, None, [], ["01"], np.array(["01", "02"])):
        with pytest.raises(ValueError, match=r"^notebook must be one of 01, 02"):
            quiz(bad)


def answered(one, n, *places):
    return one.answer(n, [one._orders[n].index(place) for place in places])


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_right_answers_are_right_and_every_wrong_one_says_why(name, language):
    set_language(language)
    number = ("zh-Hant", "en").index(language)
    question = QUESTIONS[name]
    one = quiz(question.notebook)
    n = one.names.index(name)
    assert answered(one, n) == LABELS["quiz_none"][number]
    right = list(range(question.right))
    for place in range(question.right, len(question.choices)):
        why = question.choices[place][1][number]
        assert why in answered(one, n, place)
        assert why in answered(one, n, *right, place)  # one too many is not right
        assert not one.right[n]
    if question.right > 1:
        assert LABELS["quiz_incomplete"][number] in answered(one, n, 0)
    assert answered(one, n, *right).startswith(LABELS["quiz_right"][number])
    assert one.right[n]
    assert answered(one, n, question.right).startswith(LABELS["quiz_right"][number])  # settled


def test_answers_are_kept_and_right_ones_come_back(monkeypatch):
    one = quiz("01")
    answered(one, 0, 1)
    answered(one, 0, 0)
    answered(one, 1, 2)
    monkeypatch.setattr(progress, "_records", {})
    again = quiz("01")
    assert again.right == [True, False, False]
    assert again.said[0].startswith("✓")
    assert again.said[1] == ""
    known = progress.the_record().read()["quiz"]
    assert (known["01_roles"]["tried"], known["01_roles"]["passed"]) == (2, True)
    assert known["01_shapes"]["chosen"] == [2]


@pytest.mark.parametrize("question", [-1, 99, None, "0", [0]])
@pytest.mark.parametrize("choices", [[0], [], [99]])
def test_what_is_no_question_is_refused_and_changes_nothing(question, choices):
    one = quiz("01")
    with pytest.raises(ValueError, match=r"^There is no such question or choice"):
        one.answer(question, choices)
    assert not any(one.said)


@pytest.mark.parametrize("choices", [None, 5, "01", ["a"], [-1], [99], [0.5], [None], {"a": 1}])
def test_what_is_no_choice_is_refused_and_from_the_browser_passed_over(choices):
    one = quiz("01")
    with pytest.raises(ValueError, match=r"^There is no such question or choice"):
        one.answer(0, choices)
    for message in ({"question": 0, "chosen": choices}, {"question": choices}, {}):
        one._asked(one.sheet, {"type": "answer", **message}, [])
    assert not any(one.said)


def test_no_explanation_is_sent_before_an_answer():
    one = quiz("03")
    sent = json.dumps([one.sheet.questions, one.sheet.answers, one.sheet.words])
    sent += one._repr_mimebundle_()["text/plain"]
    for question in QUESTIONS.values():
        assert all(why[1] not in sent for _, why in question.choices)
    assert all(answer["right"] is None for answer in one.sheet.answers)
    assert "1. Where does the causal" in sent


def test_closing_leaves_nothing_open():
    one = quiz("04")
    one.close()
    assert one.comm is None
    assert one.sheet.comm is None
