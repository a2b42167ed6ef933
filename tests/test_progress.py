"""Progress: nothing is lost, whoever writes at once, whatever a file looks like."""

import json
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from andrea_lesson.exercises import progress
from andrea_lesson.exercises.progress import Progress, Share, notebook_of, shares
from andrea_lesson.exercises.record import Record
from andrea_lesson.labels import LABELS, set_language


@pytest.fixture
def folder(tmp_path, monkeypatch):
    where = tmp_path / "some" / "progress"
    monkeypatch.setenv("ANDREA_PROGRESS", str(where))
    monkeypatch.setattr(progress, "_records", {})
    return where


def test_what_one_kernel_noted_another_reads(folder):
    Record(folder).attempt("exercises", "softmax", False)
    one = Record(folder)
    one.attempt("exercises", "softmax", True)
    one.attempt("exercises", "softmax", False)
    one.attempt("quiz", "01_roles", True, chosen=[0])
    one.guess("02_curve", {"kind": "curve", "guess": [1, None]})
    known = Record(folder).read()
    softmax = known["exercises"]["softmax"]
    assert (softmax["tried"], softmax["passed"]) == (3, True)
    assert softmax["first"] <= softmax["last"]
    assert known["quiz"]["01_roles"]["chosen"] == [0]
    assert known["guesses"]["02_curve"][0]["guess"] == [1, None]
    assert len(list(folder.glob("*.json"))) == 2
    assert not list(folder.glob(".*"))  # nothing unfinished


def test_guesses_of_two_kernels_come_in_the_order_of_time(folder):
    one, other = Record(folder), Record(folder)
    for n, record in enumerate((one, other, one, other)):
        record.guess("g", {"n": n})
        time.sleep(0.003)
    assert [entry["n"] for entry in one.read()["guesses"]["g"]] == [0, 1, 2, 3]
    assert one.read() == other.read()


_WRITER = """
import sys
from andrea_lesson.exercises.progress import record, the_record
for n in range(25):
    record("shared", n == 24)
    record(f"own {sys.argv[1]}", True)
    the_record().guess("g", {"n": n})
    the_record().read()
"""


def test_kernels_that_write_at_once_lose_nothing(folder):
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(n)], env=dict(os.environ))
        for n in range(3)
    ]
    assert [writer.wait(timeout=50) for writer in writers] == [0, 0, 0]
    known = Record(folder).read()
    assert known["exercises"]["shared"]["tried"] == 75
    assert known["exercises"]["shared"]["passed"] is True
    assert all(known["exercises"][f"own {n}"]["tried"] == 25 for n in range(3))
    assert len(known["guesses"]["g"]) == 75


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_begins_a_file_of_its_own(folder):
    one = Record(folder)
    one.attempt("exercises", "a", True)
    child = os.fork()
    if child == 0:
        one.attempt("exercises", "a", True)
        os._exit(0)
    os.waitpid(child, 0)
    one.attempt("exercises", "a", True)
    assert one.read()["exercises"]["a"]["tried"] == 3


BAD = "0123456789ab"


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"format": 1}', b"[" * 100_000,
        b'{"format": 1, "exercises": {"a": 3}, "quiz": {}, "guesses": {}}',
        b'{"format": 1, "exercises": {}, "quiz": {}, "guesses": {"a": [3]}}',
        b'{"format": "x", "exercises": {}, "quiz": {}, "guesses": {}}',
    ],
)  # fmt: skip
def test_a_damaged_file_is_set_aside_told_once_and_not_lost(folder, content):
    set_language("en")
    Record(folder).attempt("exercises", "good", True)
    (folder / f"{BAD}.json").write_bytes(content)
    told = []
    one = Record(folder, told.append)
    assert set(one.read()["exercises"]) == {"good"}
    assert not (folder / f"{BAD}.json").exists()
    (beside,) = folder.glob(f"{BAD}*.damaged")
    assert beside.read_bytes() == content
    assert told == one.notices
    assert len(told) == 1
    assert str(beside) in told[0]
    one.read()
    assert len(told) == 1


@pytest.mark.parametrize(
    "name", ["package.json", "x.json", "0123456789AB.json", "0" * 13 + ".json"]
)
def test_files_of_others_in_a_folder_that_the_learner_named_are_left_alone(folder, name):
    Record(folder).attempt("exercises", "good", True)
    (folder / name).write_bytes(b"{")
    told = []
    assert set(Record(folder, told.append).read()["exercises"]) == {"good"}
    assert (folder / name).read_bytes() == b"{"
    assert told == []


def test_a_file_of_a_newer_lesson_is_left_alone(folder):
    folder.mkdir(parents=True)
    newer = folder / "0123456789ab.json"
    newer.write_text('{"format": 2, "all": "different"}', encoding="utf-8")
    told = []
    assert Record(folder, told.append).read()["exercises"] == {}
    assert newer.exists()
    assert told == []


def test_where_nothing_can_be_written_it_goes_on_in_memory_and_says_so_once(tmp_path):
    set_language("en")
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    told = []
    one = Record(tmp_path / "file" / "progress", told.append)
    for _ in range(3):
        one.attempt("exercises", "a", True)
    assert one.read()["exercises"]["a"]["tried"] == 3
    assert len(told) == 1
    assert told[0].startswith("Progress cannot be written to")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "in the way"


def test_a_failed_write_leaves_the_file_before_it_whole(folder, monkeypatch):
    one = Record(folder, lambda words: None)
    one.attempt("exercises", "a", True)
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "full")))
    one.attempt("exercises", "b", True)
    monkeypatch.undo()
    assert set(Record(folder).read()["exercises"]) == {"a"}
    assert not list(folder.glob(".*"))
    one.attempt("exercises", "c", True)  # there is room again
    assert set(Record(folder).read()["exercises"]) == {"a", "b", "c"}


def test_no_one_is_named_in_the_files(folder):
    Record(folder).attempt("exercises", "a", True)
    (path,) = folder.glob("*.json")
    content = json.loads(path.read_bytes())
    assert set(content) == {"format", "exercises", "quiz", "guesses"}
    assert set(content["exercises"]["a"]) == {"tried", "passed", "first", "last"}
    assert path.stem.isalnum()


def test_memory_keeps_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("ANDREA_PROGRESS", "memory")
    monkeypatch.setattr(progress, "_records", {})
    monkeypatch.chdir(tmp_path)
    assert progress.folder() is None
    progress.record("a", True)
    assert progress.the_record().read()["exercises"]["a"]["passed"]
    assert list(tmp_path.iterdir()) == []
    monkeypatch.delenv("ANDREA_PROGRESS")
    assert "andrea-lesson" in progress.folder().parts


def test_a_relative_folder_stays_where_it_was(monkeypatch, tmp_path):
    monkeypatch.setenv("ANDREA_PROGRESS", "mine")
    monkeypatch.setattr(progress, "_records", {})
    (tmp_path / "elsewhere").mkdir()
    for place in (tmp_path, tmp_path / "elsewhere"):
        monkeypatch.chdir(place)
        progress.record("a", True)
    assert [path.name for path in tmp_path.iterdir() if any(path.iterdir())] == ["mine"]
    assert progress.the_record().read()["exercises"]["a"]["tried"] == 2


@pytest.mark.parametrize(
    "named", ["~nobody-of-this-name/x", "a\nb", "Memory", " MEMORY ", "x" * 400]
)
def test_whatever_the_folder_is_called_the_exercises_go_on(monkeypatch, tmp_path, named):
    monkeypatch.setenv("ANDREA_PROGRESS", named)
    monkeypatch.setattr(progress, "_records", {})
    monkeypatch.chdir(tmp_path)
    progress.record("a", True)
    assert progress.the_record().read()["exercises"]["a"]["tried"] == 1
    if "memory" in named.lower():
        assert list(tmp_path.iterdir()) == []


def test_verdicts_are_noted_unless_they_wait(folder):
    for passed, waits in ((False, True), (False, False), (True, False)):
        progress.on_attempt(SimpleNamespace(name="x", passed=passed, waits=waits))
    one = progress.the_record().read()["exercises"]["x"]
    assert (one["tried"], one["passed"]) == (2, True)


# -- bars ------------------------------------------------------------------------------------------

KNOWN = {
    "exercises": {"a": {"passed": True}, "b": {"passed": False}, "gone": {"passed": True}},
    "quiz": {"01_q": {"passed": True}},
    "guesses": {"02_curve": [{}, {}], "free": [{}]},
}


def counted():
    return shares(KNOWN, {"a": "01", "b": "01", "c": "02"}, {"01_q": "01", "02_q": "02"})


def test_each_notebook_and_the_course_are_counted():
    one, two, course = counted()
    assert one == Share("01", exercises=2, passed=1, questions=1, right=1, guesses=0)
    assert two == Share("02", exercises=1, passed=0, questions=1, right=0, guesses=1)
    assert course == Share("", exercises=3, passed=1, questions=2, right=1, guesses=2)
    assert (one.percent, two.percent, course.percent) == (66, 0, 40)
    assert Share("01", 300, 299, 0, 0, 0).percent == 99  # 100 only if nothing is left
    assert Share("01", 0, 0, 0, 0, 0).percent == 0


def test_names_say_their_notebook():
    assert [notebook_of(n) for n in ("02_x", "12 y", "x_02", "2_x", "021", "")] == [
        "02", "12", "", "", "", "",
    ]  # fmt: skip


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_bars_are_told_in_words_and_numbers(language):
    set_language(language)
    number = ("zh-Hant", "en").index(language)
    shown = Progress(counted(), ["A <notice>."])
    page, text = shown._repr_html_(), repr(shown)
    assert page.count('role="progressbar"') == 3
    assert 'aria-valuenow="66"' in page
    assert LABELS["progress_course"][number] in page
    assert LABELS["progress_exercises"][number].format(done=1, of=2) in page
    assert "A &lt;notice&gt;." in page
    lines = text.splitlines()
    assert len(lines) == 4
    assert " 66 %" in lines[0]
    assert lines[0].count("█") == 13
    assert lines[3] == "A <notice>."


def test_the_course_can_be_shown(folder):
    shown = progress.progress()
    assert [one.notebook for one in shown.shares][-1] == ""
    assert shown.shares[-1].of > 10
    assert shown.shares[-1].done == 0
