"""The words of the lesson: two languages, the same keys, the same places to fill."""

import importlib
import pkgutil
import re
import string

import pytest

import andrea_lesson as al
from andrea_lesson import labels
from andrea_lesson import words as files
from andrea_lesson.exercises.words import WORDS
from andrea_lesson.labels import LABELS, LANGUAGES

CHINESE = re.compile(r"[\u3400-\u9fff]")


def test_chinese_is_the_default_and_both_can_be_chosen():
    assert al.get_language() == "zh-Hant"
    assert al.label("weights") == "注意力權重"
    al.set_language("en")
    assert al.get_language() == "en"
    assert al.label("weights") == "attention weights"
    assert LANGUAGES == ("zh-Hant", "en")


@pytest.mark.parametrize("language", ["zh", "zh-Hans", "EN", "", None, 1, ["en"]])
def test_another_language_is_refused_and_nothing_changes(language):
    al.set_language("en")
    with pytest.raises(ValueError, match=r'^language must be "zh-Hant" or "en"; got .*\.$'):
        al.set_language(language)
    assert al.get_language() == "en"


def test_a_language_for_a_while_ends_even_by_an_exception():
    with labels.language("en"):
        assert al.get_language() == "en"
    assert al.get_language() == "zh-Hant"
    with pytest.raises(ZeroDivisionError), labels.language("en"):
        _ = 1 / 0
    assert al.get_language() == "zh-Hant"


def test_places_are_filled_by_name(monkeypatch):
    monkeypatch.setitem(LABELS, "row_for_a_test", ("第 {i} 列", "row {i}"))
    assert al.label("row_for_a_test", i=3) == "第 3 列"
    with pytest.raises(KeyError):
        al.label("row_for_a_test", j=3)


def test_no_two_files_of_words_share_a_key():
    tables = [
        table
        for module in pkgutil.iter_modules(files.__path__)
        for name, table in vars(importlib.import_module(f"{files.__name__}.{module.name}")).items()
        if name.endswith(("_LABELS", "_WORDS"))
    ]
    assert len(tables) == len(list(pkgutil.iter_modules(files.__path__)))
    keys = [key for table in tables for key in table]
    assert sorted(keys) == sorted({*keys}) == sorted([*LABELS, *WORDS])


def test_a_key_without_words_is_an_error():
    with pytest.raises(KeyError, match="no such key"):
        al.label("no such key")


def places(words):
    """Names of the places to fill; braces inside ``$…$`` belong to a formula."""
    outside_formulas = re.sub(r"\$[^$]*\$", "", words)
    return sorted(re.findall(r"\{(\w+)[^{}]*\}", outside_formulas))


@pytest.mark.parametrize("key", LABELS)
def test_every_key_has_both_languages_with_the_same_places(key):
    chinese, english = LABELS[key]
    assert chinese.strip()
    assert english.strip()
    assert places(chinese) == places(english)
    for words in (chinese, english):
        if places(words):  # it will be filled, so any other brace must be doubled
            parts = string.Formatter().parse(words)
            assert sorted(name for _, name, _, _ in parts if name is not None) == places(words)
    assert not CHINESE.search(english), "Chinese in the English words"


@pytest.mark.parametrize("key", LABELS)
def test_chinese_words_stand_apart_from_latin_and_use_full_width_marks(key):
    chinese, _ = LABELS[key]
    text = re.sub(r"\{[^}]*\}", "…", chinese)  # a place may be filled with either
    assert not re.search(r"[\u3400-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u3400-\u9fff]", text)
    assert not re.search(r"[\u3400-\u9fff][,;:?!]", text)
