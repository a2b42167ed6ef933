"""Every message of the exercises, in both languages, comes out of a real check once."""

import re
import sys

import numpy as np
import pytest
from answers import RIGHT_ANSWERS, SEED, WRONG_ANSWERS
from test_labels import places

import andrea_lesson as al
from andrea_lesson.exercises import (
    BROKEN,
    EXERCISES,
    RIGHT,
    check,
    hint,
    question,
    registry,
    solution,
    solutions,
    verdict,
    words,
)
from andrea_lesson.exercises.words import WORDS
from build_words import Glossary

CHINESE = re.compile(r"[\u3400-\u9fff]")
SENTENCE_ENDS = ("。", "？", "：")


def one_square_input(attend):
    Q, K, V = np.random.default_rng().standard_normal((3, 6, 4))
    return bool(np.allclose(attend(Q, K, V, "causal"), al.attention(Q, K, V, mask="causal")))


def accuses(which):
    """A probe of causality that is right but for one attention."""
    return lambda attend: solutions.causality(attend) ^ (attend is which)


def say_everything():
    """Go through every answer, hint, question and solution; yield what is said."""
    from andrea_lesson.exercises.probe_tasks import CAUSAL, LEAKING

    for name, answer, *_ in (*RIGHT_ANSWERS.values(), *WRONG_ANSWERS.values()):
        options = {"seed": SEED} if EXERCISES[name].personal else {}
        yield EXERCISES[name].check(answer, **options)
    for which in (*CAUSAL.values(), *LEAKING.values()):
        yield check.causality(accuses(which))
    yield check.catch_broken(one_square_input)
    yield check.my_d_k(1)
    yield check.my_d_k(1, seed=-1)
    for name in EXERCISES:
        registry.attempted.discard(name)
        yield solution(name)
        registry.attempted.add(name)
        yield solution(name)
        yield question(name, 1)
        for number in range(1, len(EXERCISES[name].hints) + 1):
            yield hint(name, number)
        yield hint(name, "last")
    yield question("my_d_k")


def no_such_messages():
    for name in ("sliding_windows", "?"):
        with pytest.raises(AttributeError) as refused:
            getattr(check, name)
        yield str(refused.value)


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_every_message_is_shown(language, monkeypatch):
    al.set_language(language)
    used = set()
    plain = words.say

    def say(key, /, **values):
        used.add(key)
        return plain(key, **values)

    for module in (words, verdict, registry):
        monkeypatch.setattr(module, "say", say)
    shown = list(no_such_messages())
    for one in say_everything():
        text = str(one)
        assert one._repr_html_()
        assert one.message in text
        shown.append(one.message)
    for one in EXERCISES.values():
        assert one.title

    def stumbles(*given):
        raise ZeroDivisionError

    monkeypatch.delenv("ANDREA_STRICT")
    monkeypatch.setattr(type(EXERCISES["sliding_window"].task), "judge", stumbles)
    shown.append(check.sliding_window(solutions.sliding_window).message)
    assert set(WORDS) - used == set()
    for text in shown:
        assert not re.search(r"\{\w*\}", text), f"a place left open: {text}"
        assert "Words(" not in text
        if language == "en":
            assert not CHINESE.search(text), text
        else:
            assert CHINESE.search(text), text


@pytest.mark.parametrize("key", WORDS)
def test_both_languages_have_the_same_places_and_chinese_its_own_marks(key):
    chinese, english = WORDS[key]
    assert chinese.strip()
    assert english.strip()
    assert places(chinese) == places(english)
    assert not CHINESE.search(english)
    text = re.sub(r"\{[^}]*\}", "…", chinese)
    assert not re.search(r"[\u3400-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u3400-\u9fff]", text)
    assert not re.search(r"[\u3400-\u9fff][,;:?!]", text)


@pytest.mark.parametrize("key", [key for key in WORDS if key.startswith(("slip_", "hint_"))])
def test_a_message_is_one_sentence_or_two(key):
    if key == "hint_of":
        return
    chinese, english = WORDS[key]
    assert chinese.endswith(SENTENCE_ENDS)
    assert english.rstrip().endswith((".", "?"))
    assert chinese.count("。") + chinese.count("？") <= 2
    assert len(chinese) < 120
    assert len(english) < 260


def test_the_terms_are_those_of_the_glossary():
    from pathlib import Path

    glossary = Glossary(Path(__file__).resolve().parents[1] / "data" / "glossary.csv")
    every = [chinese for chinese, _ in WORDS.values()]
    every += [one.words[0] for one in (*BROKEN.values(), *RIGHT.values())]
    assert [problem for text in every for problem in glossary.problems(text)] == []


def test_a_verdict_speaks_the_language_of_the_moment():
    one = check.my_d_k("5", seed=1)
    assert "引號" in one.message
    al.set_language("en")
    assert "without quotes" in one.message
    assert str(one).startswith("✗ not yet: ")
    html = one._repr_html_()
    assert html.startswith('<p role="status"')
    assert "✗" in html
    assert "not yet" in html


def test_what_a_student_wrote_cannot_break_the_page():
    html = check.my_d_k("<script>alert(1)</script>", seed=1)._repr_html_()
    assert "<script>" not in html


def test_importing_the_checks_loads_no_widgets():
    import subprocess

    code = "import sys, andrea_lesson.exercises; print(sorted({'ipywidgets', 'matplotlib', " \
        "'IPython', 'cupy'} & set(sys.modules)))"  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "[]"
