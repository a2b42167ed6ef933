"""Named values for a reader: what is shown, and what is refused in one sentence."""

import io
import sys

import numpy as np
import pytest
from test_inputs import assert_one_sentence

import andrea_lesson as al
from andrea_lesson.labels import LABELS, label


def test_values_are_shown_by_their_words(capsys):
    al.show(guess=None, x=np.array([1, -2]), share=0.12345, agrees=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [label("guess"), label("not_answered")]
    assert [line.split(maxsplit=1)[1] for line in lines[1:]] == ["[ 1 −2]", "0.123", label("yes")]


def test_a_ragged_guess_is_shown(capsys):
    al.show(x=[[1], [2, 3]])
    assert capsys.readouterr().out == "x  [[1], [2, 3]]\n"
    assert "[[1], [2, 3]]" in repr(al.table(x=[[[1], [2, 3]]]))


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp950", "utf-8"])
def test_a_terminal_without_chinese_shows_the_rest(monkeypatch, encoding):
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, encoding=encoding))
    al.show(guess=0.25, root="√ ∞ 𝛼")
    sys.stdout.flush()
    first, second = screen.getvalue().decode(encoding).splitlines()
    assert first.endswith("  0.25")
    assert first.startswith(label("guess")) == (encoding in ("cp950", "utf-8"))
    assert second.startswith("root")


def test_a_screen_that_names_no_encoding_shows_all(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    al.show(guess=1)
    assert label("guess") in sys.stdout.getvalue()


def test_a_table_is_text_and_html():
    table = al.table(x=[1, 2], y=np.array([0.5, None]))
    assert repr(table).splitlines()[1].split() == ["1", "0.5"]
    assert table._repr_html_().count("<td>") == 4
    assert repr(al.table(position=range(2), square=(n * n for n in range(2))))


@pytest.mark.parametrize(
    ("columns", "name", "error"),
    [
        ({"a": 1}, "a", TypeError),
        ({"a": np.array(1)}, "a", TypeError),
        ({"a": [1], "b": None}, "b", TypeError),
        ({"a": [1], "b": [1, 2]}, "columns", ValueError),
        ({"a": [1], "b": []}, "columns", ValueError),
    ],
)
def test_columns_that_make_no_table_are_refused(columns, name, error):
    with pytest.raises(error) as caught:
        al.table(**columns)
    assert_one_sentence(str(caught.value), name)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [({"a": 64}, 64), ({"b": 64}, None), ({}, None), (64, None), (None, None), ([64], None)],
)
def test_an_answer_of_the_wrong_kind_is_none(answers, expected):
    assert al.answer(answers, "a") == expected


def test_nothing_to_show_is_refused():
    with pytest.raises(TypeError) as caught:
        al.show()
    assert_one_sentence(str(caught.value), "show")


def test_a_key_without_words_is_named_in_one_sentence():
    assert "nope" not in LABELS
    with pytest.raises(KeyError) as caught:
        al.label("nope")
    assert_one_sentence(caught.value.args[0], "key")
    assert "'nope'" in caught.value.args[0]
