"""The six tokens: sizes, names, and that the result makes sense in the words it is told in."""

import json

import numpy as np
import oracle
import pytest

import andrea_lesson as al
from andrea_lesson.resources import resource_path

ANN, VISITS, LIBRARY, BORROWS, BOOK, READS = range(6)
NOUNS, VERBS = {ANN, LIBRARY, BOOK}, {VISITS, BORROWS, READS}


def steps(mask):
    example = al.running_example()
    Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
    return al.attention_steps(Q, K, V, mask=mask)


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_every_axis_has_a_name_of_its_own(language):
    al.set_language(language)
    example = al.running_example()
    assert example.X.shape == (len(example.tokens), len(example.model_axes)) == (6, 5)
    assert example.W_Q.shape == (len(example.model_axes), len(example.key_axes)) == (5, 4)
    assert example.W_K.shape == example.W_Q.shape
    assert example.W_V.shape == (len(example.model_axes), len(example.value_axes)) == (5, 3)
    for names in (example.tokens, example.model_axes, example.key_axes, example.value_axes):
        assert len(set(names)) == len(names)


def test_words_follow_the_language():
    assert al.running_example().tokens == ["小安", "去", "圖書館", "借", "書", "看"]
    al.set_language("en")
    assert al.running_example().tokens == ["Ann", "visits", "library", "borrows", "book", "reads"]


def test_each_call_gives_fresh_arrays():
    first = al.running_example()
    first.X[:], first.tokens[0] = 17, "someone"
    second = al.running_example()
    assert second.X.max() < 17
    assert second.tokens[0] == "小安"


def test_the_data_says_that_it_is_hand_set():
    data = json.loads(resource_path("data", "running_example.json").read_text(encoding="utf-8"))
    assert "hand-set" in data["origin"]
    assert "learned" in data["origin"]


def test_projections_match_the_oracle():
    """Small whole and half numbers: exact in floating point."""
    example = al.running_example()
    matrices = (example.W_Q, example.W_K, example.W_V)
    for got, W in zip(al.project_qkv(example.X, *matrices), matrices, strict=True):
        np.testing.assert_array_equal(got, oracle.project(example.X, W), strict=True)


def test_verbs_look_for_nouns_and_nouns_for_verbs():
    top = steps(None).weights.argmax(axis=-1)
    assert {int(top[i]) for i in NOUNS} <= VERBS
    assert {int(top[i]) for i in VERBS} <= NOUNS


def test_who_visits_and_borrows_and_what_is_read():
    weights = steps("causal").weights
    assert weights[VISITS].argmax() == ANN
    assert weights[BORROWS].argmax() == ANN
    assert weights[READS].argmax() == BOOK
    np.testing.assert_array_equal(weights[ANN], np.eye(6)[ANN])  # the first sees itself alone


def test_missing_data_is_said_in_words():
    with pytest.raises(FileNotFoundError, match=r"data/no_such_file\.json does not come with"):
        resource_path("data", "no_such_file.json")
