"""Guess first, without a browser: what is taken, kept, measured and said, and what stays secret."""

import base64
import json

import numpy as np
import pytest

from andrea_lesson.exercises import guess as module
from andrea_lesson.exercises import progress
from andrea_lesson.exercises.guess import guess_cells, guess_curve
from andrea_lesson.exercises.guess_words import compare_cells, compare_curves, direction
from andrea_lesson.labels import LABELS, set_language

X = [1, 2, 4, 8]
TRUTH = [1.0, 1.5, 2.0, 987.125]
SECRET = "987.125"
NAMES = ("a", "b", "c")
CELLS = np.tril(np.ones((3, 3), bool))


@pytest.fixture(autouse=True)
def afresh(tmp_path, monkeypatch):
    """A folder of its own for what is kept, and nothing left over from another test."""
    monkeypatch.setenv("ANDREA_PROGRESS", str(tmp_path / "progress"))
    monkeypatch.setattr(module, "_drafts", {})
    monkeypatch.setattr(progress, "_records", {})
    set_language("en")


class Mute:
    def __str__(self):
        raise RuntimeError

    __repr__ = __str__


def restart(monkeypatch):
    """As after a restart of the kernel: only the files are left."""
    monkeypatch.setattr(module, "_drafts", {})
    monkeypatch.setattr(progress, "_records", {})


def curve(truth=TRUTH, name="02_curve", **more):
    look = {"x_label": "d_k", "y_label": "spread", "y_limits": (0.1, 1000), "log_y": True} | more
    return guess_curve(name, X, truth, log_x=True, **look)


def cells(truth=CELLS, name="03_cells", **more):
    return guess_cells(name, (3, 3), truth, row_names=NAMES, column_names=NAMES, **more)


def told(widget):
    """All that goes to the browser or into the notebook."""
    bundle = {k: v for k, v in widget._repr_mimebundle_().items() if k != "image/png"}
    sent = {name: getattr(widget.board, name) for name in ("spec", "state", "words")}
    return json.dumps([bundle, sent], default=str)


def test_the_truth_is_measured_at_the_commit_and_secret_before():
    calls = []
    one = curve(lambda: calls.append(1) or TRUTH)
    one.set([1, 2, 3, 4])
    assert calls == []
    assert one.truth is None
    assert not one.committed
    assert one.summary == ""
    assert one.board.state["truth"] is None
    one.commit()
    assert calls == [1]
    assert one.committed
    np.testing.assert_array_equal(one.truth, TRUTH)
    assert one.board.state["truth"] == TRUTH
    one.commit()
    assert calls == [1]
    assert len(progress.guesses("02_curve")) == 1


def test_nothing_gives_an_array_away_before_the_commit():
    one, other = curve(), cells()
    one.set([1, 2, 3, 4])
    assert SECRET not in told(one)
    assert other.board.state["truth"] is None
    one.commit()
    assert SECRET in told(one)


def test_the_picture_without_a_kernel_does_not_depend_on_the_truth():
    pictures = []
    for name, truth in (("02_a", TRUTH), ("02_b", [5.0] * 4)):
        one = curve(truth, name)
        one.set([1, 2, 3, 4])
        pictures.append(one._repr_mimebundle_()["image/png"])
    assert pictures[0] == pictures[1]
    assert base64.b64decode(pictures[0]).startswith(b"\x89PNG")
    one.commit()
    assert one._repr_mimebundle_()["image/png"] != pictures[1]


def test_cells_are_guessed_measured_and_compared():
    one = cells(lambda: CELLS)
    assert one.guess is None
    guessed = CELLS.copy()
    guessed[2, 0], guessed[0, 2] = False, True
    one.set(guessed)
    np.testing.assert_array_equal(one.guess, guessed)
    one.commit()
    assert one.summary == LABELS["guess_some_cells"][1].format(total=6, hit=5, missed=1, extra=1)
    one.anew()
    assert (one.guess, one.truth, one.committed, one.summary) == (None, None, False, "")
    one.set(CELLS.astype(int).tolist())
    one.commit()
    assert one.summary == LABELS["guess_all_cells"][1].format(total=6)


@pytest.mark.parametrize(
    "bad",
    [None, 3, [1, 2, 3], [1, 2, 3, 4, 5], "1234", ["a", "b", "c", "d"], [[1, 2], [3, 4]],
     [1, 2, 3, 1001], [0.05, 2, 3, 4], [1, 2, 3, np.inf], {1: 2}, [1, 2, 3, 4j],
     [[1], [2], [3], 4], ["1", "2", "3", "4"], [], [1, 2, 3, 10**400], np.ones(4) * 1j, Mute(),
     [Mute()] * 4],
)  # fmt: skip
def test_a_guess_that_is_no_curve_is_one_sentence_and_changes_nothing(bad):
    one = curve()
    one.set([1, 2, 3, 4])
    one.set(bad)
    assert one.error.endswith(".")
    assert "\n" not in one.error
    np.testing.assert_array_equal(one.guess, [1, 2, 3, 4])
    one.set([1, 2, 3, 5])
    assert one.error is None


@pytest.mark.parametrize(
    "bad",
    [None, 3, "abc", np.ones((2, 3), bool), [[1, 0], [1]], np.full((3, 3), 0.5),
     np.full((3, 3), np.nan), np.full((3, 3), None), np.ones((3, 3, 1), bool), [["x"] * 3] * 3,
     [[10**400] * 3] * 3, Mute(), [[Mute()] * 3] * 3],
)  # fmt: skip
def test_a_guess_that_is_no_cells_is_one_sentence_and_changes_nothing(bad):
    one = cells()
    one.set(CELLS)
    one.set(bad)
    assert one.error.startswith("This guess takes 3 rows × 3 columns")
    np.testing.assert_array_equal(one.guess, CELLS)


@pytest.mark.parametrize("make", [curve, cells])
@pytest.mark.parametrize(
    "message",
    [
        {}, {"type": "sing"}, {"type": []}, {"type": "draw"}, {"type": "commit"},
        {"type": "draw", "values": [1, 2, 3, 10**400]}, {"type": "commit", "values": {"a": 1}},
        {"type": "draw", "values": list(range(10**5))}, {"type": "commit", "values": [None] * 4},
    ],
)  # fmt: skip
@pytest.mark.parametrize("number", [1, 2.5, "x", None, float("nan")])
def test_a_message_that_makes_no_sense_is_answered_and_changes_nothing(make, message, number):
    one = make()
    one._asked(one.board, {"view": "a", "id": number} | message, [])
    assert one.guess is None
    assert not one.committed
    assert one.board.state["echo"] == {"a": number if number == 1 else 0}
    json.dumps(one.board.state, allow_nan=False)
    assert "\n" not in one.board.state["error"]


@pytest.mark.parametrize("name", [None, 5, "", ["02_a"], "02_\udcff", "02\n", Mute()])
def test_a_name_that_cannot_be_kept_is_refused_and_keeps_nothing_else_from_being_kept(name):
    for make in (curve, cells):
        with pytest.raises(ValueError, match=r"^name must be text such as '02_spread'; got "):
            make(name=name)
    one = curve()
    one.set([1, 2, 3, 4])
    one.commit()
    assert len(progress.guesses("02_curve")) == 1


@pytest.mark.parametrize("kept", [[1, None, 3, 4], [1, 2], [1, 2, 3, 10**400], "abc", None])
def test_a_damaged_guess_does_not_come_back(kept):
    one = curve()
    one.set([1, 2, 3, 4])
    one.commit()
    (entry,) = progress.guesses("02_curve")
    entry["guess"] = kept
    again = curve()
    assert not again.committed
    assert again.error is None


def test_an_unfinished_guess_is_not_committed():
    one, other = curve(), cells()
    one.set([1, np.nan, 3, np.nan])
    one.commit()
    other.commit()
    assert "2, 8" in one.error
    assert other.error == LABELS["guess_no_cells"][1]
    assert (one.committed, other.committed) == (False, False)
    assert progress.guesses("02_curve") == []


def test_a_committed_guess_is_not_drawn_over():
    one = curve()
    one.set([1, 2, 3, 4])
    one.commit()
    one.set([4, 3, 2, 1])
    assert one.error == LABELS["guess_committed"][1]
    np.testing.assert_array_equal(one.guess, [1, 2, 3, 4])


def test_a_measurement_that_fails_leaves_the_guess(monkeypatch):
    one = curve(lambda: 1 / 0)
    one.set([1, 2, 3, 4])
    with pytest.raises(ZeroDivisionError):  # in tests and builds
        one.commit()
    monkeypatch.delenv("ANDREA_STRICT")
    one.commit()
    assert "ZeroDivisionError" in one.error
    assert not one.committed
    np.testing.assert_array_equal(one.guess, [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("make", "truth"),
    [(curve, [1.0, 2.0]), (curve, np.ones((4, 1))), (cells, CELLS * 1.0), (cells, CELLS[:2])],
)  # fmt: skip
def test_a_truth_that_does_not_fit_is_refused(make, truth):
    one = make(truth)
    one.set([1, 2, 3, 4] if make is curve else CELLS)
    with pytest.raises(ValueError, match=r"^truth must .*; got .*\.$"):
        one.commit()


@pytest.mark.parametrize(
    "bad",
    [
        {"x": [1]}, {"x": list(range(1, 50))}, {"x": [1, 1, 2]}, {"x": [1, np.nan]},
        {"x": [0, 1], "log_x": True}, {"y_limits": (2, 1)}, {"y_limits": (0, 1), "log_y": True},
        {"y_limits": (0, np.inf)},
    ],
)  # fmt: skip
def test_what_makes_no_plot_is_refused_in_one_sentence(bad):
    good = {"x": [1, 2], "truth": [1, 2], "x_label": "x", "y_label": "y", "y_limits": (0, 1)}
    with pytest.raises(ValueError, match=r"^(x|y_limits) .*\.$"):
        guess_curve("02_bad", **(good | bad))


@pytest.mark.parametrize("shape", [(0, 3), (17, 3), (3,)])
def test_too_many_cells_are_refused(shape):
    with pytest.raises(ValueError, match="shape must be"):
        guess_cells("03_bad", shape, CELLS)
    with pytest.raises(ValueError, match="row_names must hold 3 names; got 1"):
        guess_cells("03_bad", (3, 3), CELLS, row_names=["a"])


# -- kept ------------------------------------------------------------------------------------------


def test_a_committed_guess_comes_back_and_is_measured_anew(monkeypatch):
    one = curve()
    one.set([1, 2, 3, 4])
    one.commit()
    restart(monkeypatch)
    again = curve([2.0, 2.0, 2.0, 2.0])
    assert again.committed
    np.testing.assert_array_equal(again.guess, [1, 2, 3, 4])
    np.testing.assert_array_equal(again.truth, [2, 2, 2, 2])
    assert again.board.state["earlier"] == ""
    again.anew()
    assert again.board.state["earlier"] == LABELS["guess_earlier"][1].format(count=1)
    again.set([4, 3, 2, 1])
    again.commit()
    assert [entry["guess"] for entry in progress.guesses("02_curve")] == [
        [1, 2, 3, 4],
        [4, 3, 2, 1],
    ]
    restart(monkeypatch)
    np.testing.assert_array_equal(curve().guess, [4, 3, 2, 1])


def test_a_draft_is_there_when_the_cell_runs_again_but_after_guess_anew_it_is_empty(monkeypatch):
    one = curve()
    one.set([1, 2, np.nan, 4])
    again = curve()
    np.testing.assert_array_equal(again.guess, [1, 2, np.nan, 4])
    assert not again.committed
    again.set([1, 2, 3, 4])
    again.commit()
    again.anew()
    assert curve().guess is None
    assert not curve().committed


def test_a_guess_about_other_places_does_not_come_back(monkeypatch):
    one = curve()
    one.set([1, 2, 3, 4])
    one.commit()
    restart(monkeypatch)
    other = guess_curve(
        "02_curve", [1, 2], [1.0, 2.0], x_label="d_k", y_label="y", y_limits=(0.1, 10)
    )
    assert other.guess is None
    assert not other.committed
    assert curve(y_limits=(0.1, 2)).guess is None  # what was drawn lies outside by now


# -- what is said ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shares", "way"),
    [([0, 0.5, 1], "rises"), ([1, 0.2], "falls"), ([0.5, 0.5, 0.52], "level"),
     ([0, 1, 0.2], "peaks"), ([1, 0, 0.9], "dips"), ([0, 1, 0.97], "rises")],
)  # fmt: skip
def test_directions(shares, way):
    assert direction(np.array(shares, float)) == way


def said(guess, truth, limits=(0.0, 10.0), log_y=False):
    names = [str(n) for n in range(len(truth))]
    arrays = np.array(guess, float), np.array(truth, float)
    return compare_curves(*arrays, x_words=names, x_label="x", limits=limits, log_y=log_y)


def test_curves_are_compared_by_direction_and_by_the_largest_factor():
    words = said([1, 2, 4], [1, 4, 9])
    assert words.startswith("You got the direction: the actual curve rises")
    assert "at x = 2 you guessed 4; it is 9 (a factor of 2.25)." in words
    words = said([9, 4, 1], [1, 4, 9])
    assert words.startswith("The direction differs: yours falls, the actual curve rises.")
    assert "factor of 9" in words
    assert "close all along" in said([1, 4, 8.9], [1, 4, 9])
    assert "close all along" not in said([1, 4, 7], [1, 4, 9])
    words = said([-5, 0, 5], [-5, 4, 5], limits=(-10, 10))
    assert "at x = 1 you guessed 0; it is 4." in words
    assert "factor" not in words
    words = said([1, 2, 4], [1, np.nan, np.inf])
    assert words.endswith("left out of this: 2.")
    assert said([1, 2], [np.nan, np.nan]).startswith("Points without")


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_both_languages_say_it(language):
    set_language(language)
    number = ("zh-Hant", "en").index(language)
    one = curve(name="02_said")
    assert one._kind.spec["title"] == LABELS["guess_curve_name"][number]
    one.commit()
    assert one.error.startswith(LABELS["guess_points_missing"][number].split("{")[0])
    one.set([1, 2, 3, 900])
    set_language("en")
    one.commit()  # in the language in which it was made
    other = LABELS["guess_same_way"][number].split("{")[0]
    assert one.summary.startswith(other)


def test_cells_count_what_was_found_missed_and_too_many():
    truth = np.array([[True, True, False, False]])
    guess = np.array([[True, False, True, True]])
    assert compare_cells(guess, truth) == LABELS["guess_some_cells"][1].format(
        total=2, hit=1, missed=1, extra=2
    )
    assert compare_cells(np.zeros((1, 2), bool), np.zeros((1, 2), bool)).startswith("All right")


def test_the_plot_takes_in_what_was_measured_only_after_the_commit():
    one = curve([1.0, 2.0, 3.0, 50_000.0])
    one.set([1, 2, 3, 4])
    assert one.board.state["limits"] == [0.1, 1000]
    one.commit()
    assert one.board.state["limits"][1] >= 50_000


def test_closing_leaves_nothing_open():
    one = curve()
    one.close()
    assert one.comm is None
    assert one.board.comm is None
