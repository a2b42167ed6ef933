"""The student's working copy: nothing of theirs is ever lost, and newer lessons arrive once."""

import json
import os
import threading
from pathlib import Path

import pytest

from andrea_lesson import set_language, workspace
from andrea_lesson.resources import resource_path
from andrea_lesson.workspace import (
    WorkspaceError,
    fingerprint,
    first_notebook,
    update_workspace,
    working_folder,
)

LESSON = "zh-Hant/01_query_key_value.ipynb"
NEW = "zh-Hant/01_query_key_value_new.ipynb"


def notebook(*sources: str, outputs: tuple = ()) -> str:
    cells = [
        {"cell_type": "code", "source": source, "outputs": list(outputs), "execution_count": None}
        for source in sources
    ]
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.ipynb"))


@pytest.fixture
def source(tmp_path):
    """A small lesson with one notebook in each language."""
    put(tmp_path / "source" / LESSON, notebook("first edition"))
    put(tmp_path / "source" / "en" / "01_query_key_value.ipynb", notebook("first"))
    return tmp_path / "source"


@pytest.fixture
def mine(tmp_path):
    return tmp_path / "我的 課程" / "my-lesson"


def test_copies_both_languages(source, mine):
    assert update_workspace(mine, source) == []
    assert files(mine) == ["en/01_query_key_value.ipynb", LESSON]
    assert json.loads(read(mine / LESSON)) == json.loads(read(source / LESSON))


def test_results_stay_behind_but_panels_keep_their_still_picture(source, mine):
    output = {"output_type": "display_data", "data": {"image/png": "AAAA"}, "metadata": {}}
    put(source / LESSON, notebook("plot()", "panels.mask_panel()", outputs=(output,)))
    update_workspace(mine, source)
    plot, panel = json.loads(read(mine / LESSON))["cells"]
    assert plot["outputs"] == []
    assert panel["outputs"] == [output]


def shows_a_picture(cell: dict) -> bool:
    """Whether a cell brings the still picture of a widget; what belongs to a machine has none."""
    source = "".join(cell["source"])
    widget = any(call in source for call in ("_panel(", "al.guess_", "al.quiz("))
    return widget and "volatile" not in cell["metadata"].get("tags", [])


def test_the_lesson_arrives_without_its_results(mine):
    update_workspace(mine)
    for path in mine.rglob("*.ipynb"):
        for cell in json.loads(read(path))["cells"]:
            if cell["cell_type"] == "code":
                assert cell["execution_count"] is None
                assert bool(cell["outputs"]) == shows_a_picture(cell)


def test_own_lesson_by_default(mine):
    update_workspace(mine)
    lessons = sorted(path.name for path in resource_path("notebooks", "zh-Hant").glob("*.ipynb"))
    assert [path.name for path in sorted((mine / "zh-Hant").glob("*.ipynb"))] == lessons


def test_students_work_stays_when_nothing_is_new(source, mine):
    update_workspace(mine, source)
    put(mine / LESSON, notebook("my answer"))
    assert update_workspace(mine, source) == []
    assert read(mine / LESSON) == notebook("my answer")
    assert NEW not in files(mine)


@pytest.mark.parametrize("work", ["my answer", "first edition"], ids=["edited", "untouched"])
def test_newer_lesson_is_put_beside_once(source, mine, work):
    update_workspace(mine, source)
    put(mine / LESSON, notebook(work))
    put(source / LESSON, notebook("second edition"))

    sentences = update_workspace(mine, source)
    assert len(sentences) == 1
    assert NEW in sentences[0]
    assert read(mine / LESSON) == notebook(work)
    assert read(mine / NEW) == notebook("second edition")

    assert update_workspace(mine, source) == []  # said once, put once
    (mine / NEW).unlink()  # the student has looked at it
    assert update_workspace(mine, source) == []
    assert NEW not in files(mine)


def test_each_newer_lesson_gets_a_name_of_its_own(source, mine):
    update_workspace(mine, source)
    for edition in ("second", "third"):
        put(source / LESSON, notebook(edition))
        update_workspace(mine, source)
    assert read(mine / LESSON) == notebook("first edition")
    assert read(mine / NEW) == notebook("second")
    assert read(mine / NEW.replace("_new", "_new2")) == notebook("third")


def test_older_lesson_is_no_news(source, mine):
    update_workspace(mine, source)
    put(source / LESSON, notebook("second edition"))
    update_workspace(mine, source)
    put(source / LESSON, notebook("first edition"))
    before = files(mine)
    assert update_workspace(mine, source) == []
    assert files(mine) == before


def test_new_outputs_are_no_new_lesson(source, mine):
    update_workspace(mine, source)
    output = {"output_type": "stream", "name": "stdout", "text": "3\n"}
    put(source / LESSON, notebook("first edition", outputs=(output,)))
    assert update_workspace(mine, source) == []


def test_deleted_file_comes_back(source, mine):
    update_workspace(mine, source)
    (mine / LESSON).unlink()
    assert update_workspace(mine, source) == []
    assert read(mine / LESSON) == notebook("first edition")


NOTES = {
    "missing": None,
    "empty": b"",
    "cut": b'{"zh-Hant/01_query',
    "not utf-8": b"\xff\xfe\x00",
    "a list": b"[1, 2]",
    "null": b"null",
    "other types": b'{"zh-Hant/01_query_key_value.ipynb": 3, "en/x": [null]}',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("note", NOTES.values(), ids=NOTES.keys())
def test_lost_or_damaged_note_loses_nothing(source, mine, note):
    update_workspace(mine, source)
    put(mine / LESSON, notebook("my answer"))
    path = mine / ".andrea-lesson" / "delivered.json"
    path.unlink()
    if note is not None:
        path.write_bytes(note)

    assert len(update_workspace(mine, source)) == 1  # it cannot be known that it was delivered
    assert read(mine / LESSON) == notebook("my answer")
    assert read(mine / NEW) == notebook("first edition")
    assert update_workspace(mine, source) == []  # the note is whole again


def test_without_the_note_a_notebook_that_was_only_run_is_recognised(source, mine):
    update_workspace(mine, source)
    output = {"output_type": "stream", "name": "stdout", "text": "3\n"}
    put(mine / LESSON, notebook("first edition", outputs=(output,)))
    (mine / ".andrea-lesson" / "delivered.json").unlink()
    assert update_workspace(mine, source) == []
    assert NEW not in files(mine)


def test_broken_notebook_of_the_student_stays(source, mine):
    update_workspace(mine, source)
    (mine / LESSON).write_bytes(b'{"cells": [\xff')
    put(source / LESSON, notebook("second edition"))
    update_workspace(mine, source)
    assert (mine / LESSON).read_bytes() == b'{"cells": [\xff'
    assert read(mine / NEW) == notebook("second edition")


def test_folder_or_dead_link_under_the_name_of_a_lesson_stays(source, mine):
    (mine / LESSON).mkdir(parents=True)
    link = mine / "en" / "01_query_key_value.ipynb"
    link.parent.mkdir()
    link.symlink_to("nowhere")
    assert len(update_workspace(mine, source)) == 2
    assert (mine / LESSON).is_dir()
    assert link.is_symlink()
    assert not (mine / "en" / "nowhere").exists()


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
@pytest.mark.parametrize("place", ["my-lesson", "my-lesson/deeper", "my-lesson/en"])
def test_file_in_the_way_gives_one_sentence(source, tmp_path, place, language):
    set_language(language)
    blocked = tmp_path / (place if place.endswith("en") else "my-lesson")
    put(blocked, "a file")
    folder = tmp_path / place.removesuffix("/en")
    with pytest.raises(WorkspaceError) as caught:
        update_workspace(folder, source)
    sentence = str(caught.value)
    assert str(folder) in sentence
    assert "\n" not in sentence
    assert ("檔案擋住" if language == "zh-Hant" else "in the way") in sentence
    assert read(blocked) == "a file"


def test_no_permission_gives_one_sentence(source, mine, monkeypatch):
    def refuse(*_args, **_more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refuse)  # root may write anywhere
    with pytest.raises(WorkspaceError, match="Permission denied"):
        update_workspace(mine, source)
    assert files(mine) == []


def test_installation_without_notebooks_gives_one_sentence(mine, monkeypatch):
    def lost(*_parts):
        raise FileNotFoundError("notebooks does not come with this installation")

    monkeypatch.setattr("andrea_lesson.workspace.resource_path", lost)
    with pytest.raises(WorkspaceError, match="does not come"):
        update_workspace(mine)


def test_full_disk_leaves_no_half_file(source, mine, monkeypatch):
    write_bytes = Path.write_bytes

    def half(path, content):
        write_bytes(path, content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(WorkspaceError, match="No space left"):
        update_workspace(mine, source)
    assert [path for path in mine.rglob("*") if path.is_file()] == []


def test_read_only_copy_that_is_complete_will_do(source, mine, monkeypatch):
    update_workspace(mine, source)

    def refuse(*_args, **_more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert update_workspace(mine, source) == []


def test_disk_without_hard_links(source, mine, monkeypatch):
    def refuse(*_args, **_more):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    update_workspace(mine, source)
    put(mine / LESSON, notebook("my answer"))
    put(source / LESSON, notebook("second edition"))
    update_workspace(mine, source)
    assert read(mine / LESSON) == notebook("my answer")
    assert read(mine / NEW) == notebook("second edition")


@pytest.mark.parametrize("links", [True, False], ids=["hard links", "no hard links"])
def test_file_that_appears_meanwhile_stays(source, mine, monkeypatch, links):
    """Between the look and the write the student saves under the name."""
    write_bytes = Path.write_bytes

    def meanwhile(path, content):
        write_bytes(path, content)
        if path.parent.name == "zh-Hant":
            put(mine / LESSON, notebook("my answer"))

    def refuse(*_args, **_more):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(Path, "write_bytes", meanwhile)
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    update_workspace(mine, source)
    assert read(mine / LESSON) == notebook("my answer")
    assert list(mine.rglob("*.tmp")) == []


def test_two_starts_at_once(source, mine):
    failures = []

    def start():
        try:
            update_workspace(mine, source)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert files(mine) == ["en/01_query_key_value.ipynb", LESSON]
    assert read(mine / LESSON) == notebook("first edition")
    assert list(mine.rglob("*.tmp")) == []


@pytest.mark.parametrize("inside", [".", "zh-Hant", "zh-Hant/deeper"])
def test_the_lessons_own_notebooks_are_never_the_working_copy(source, inside):
    before = {path: path.read_bytes() for path in source.rglob("*.ipynb")}
    with pytest.raises(WorkspaceError):
        update_workspace(source / inside, source)
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before


def test_source_is_only_read(source, mine):
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    update_workspace(mine, source)
    put(mine / LESSON, notebook("my answer"))
    update_workspace(mine, source)
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before


def test_first_notebook(source, mine):
    assert first_notebook(mine, "en") is None
    update_workspace(mine, source)
    put(mine / "zh-Hant" / "00_start_here.ipynb", notebook(""))
    put(mine / "zh-Hant" / "a note of mine.ipynb", notebook(""))
    assert first_notebook(mine, "zh-Hant") == "zh-Hant/00_start_here.ipynb"
    assert first_notebook(mine, "en") == "en/01_query_key_value.ipynb"


@pytest.mark.parametrize("content", [b"", b"[]", b"3", b"\xff", b'{"cells": [3]}', b'{"cells": 3}'])
def test_fingerprint_takes_anything(content):
    assert len(fingerprint(content)) == 64


def test_fingerprint_of_a_source_as_text_or_lines():
    assert fingerprint(notebook("a\nb").encode()) != fingerprint(notebook("a\nc").encode())
    lines = notebook("a\nb").replace(json.dumps("a\nb"), json.dumps(["a\n", "b"]))
    assert fingerprint(lines.encode()) == fingerprint(notebook("a\nb").encode())


# -- folders that will not do ----------------------------------------------------------------------


def test_note_that_utf_8_cannot_hold(source, mine):
    put(mine / ".andrea-lesson" / "delivered.json", '{"a": ["\\ud800"]}')
    assert update_workspace(mine, source) == []
    assert update_workspace(mine, source) == []
    assert read(mine / LESSON)


def test_loop_of_links_gives_one_sentence(source, tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(WorkspaceError):
        update_workspace(tmp_path / "a", source)


def test_name_that_no_folder_can_have_gives_one_sentence(source, tmp_path):
    with pytest.raises(WorkspaceError, match="null byte"):
        update_workspace(tmp_path / "a\0b", source)


@pytest.mark.parametrize("blocked", [".andrea-lesson", "zh-Hant"])
def test_the_file_in_the_way_is_named(source, mine, blocked):
    put(mine / blocked, "a file")
    with pytest.raises(WorkspaceError) as caught:
        update_workspace(mine, source)
    assert f"檔案擋住（{mine / blocked}）" in str(caught.value)


def test_the_folder_in_the_way_is_named(source, mine):
    note = mine / ".andrea-lesson" / "delivered.json"
    note.mkdir(parents=True)
    with pytest.raises(WorkspaceError) as caught:
        update_workspace(mine, source)
    assert f"資料夾擋住（{note}）" in str(caught.value)


def test_a_checkout_is_never_the_working_copy(source, tmp_path):
    put(tmp_path / "clone" / "pyproject.toml", '[project]\nname = "andrea-lesson"\n')
    own = Path(workspace.__file__).parents[1]
    for folder in (tmp_path / "clone", own, own / "tests" / ".."):
        before = sorted(folder.iterdir())
        with pytest.raises(WorkspaceError, match="--dir"):
            update_workspace(folder, source)
        assert sorted(folder.iterdir()) == before
    update_workspace(tmp_path / "clone" / "my-lesson", source)


def test_a_project_of_another_name_will_do(source, mine):
    put(mine / "pyproject.toml", '[project]\nname = "mine"\n')
    assert update_workspace(mine, source) == []


def test_the_folder_that_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert working_folder("a b") == tmp_path / "a b"
    assert working_folder(str(tmp_path / "x")) == tmp_path / "x"
    for empty in ("", " "):
        with pytest.raises(WorkspaceError, match="--dir"):
            working_folder(empty)


def test_current_folder_that_is_gone_gives_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(WorkspaceError, match="目前所在的資料夾"):
        working_folder("my-lesson")
