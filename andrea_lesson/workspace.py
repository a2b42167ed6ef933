"""The student's working copy of the notebooks.

The notebooks that come with the lesson stay as they are; the student works on copies in a
folder of their own.  A file of the student's is never written over: a lesson that has become
newer is put beside it, once.  What was delivered is noted in ``.andrea-lesson/delivered.json``
of that folder.  Without that note, or with a damaged one, a lesson may come a second time,
under a new name, but nothing is lost.
"""

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .labels import LANGUAGES, label
from .resources import resource_path

NOTES = ".andrea-lesson"

# path in the folder -> fingerprints of all the lessons that were delivered under that path
Delivered = dict[str, list[str]]


class WorkspaceError(Exception):
    """The working copy cannot be made; the message is one sentence for the user."""


def working_folder(name: str) -> Path:
    """The folder that ``--dir`` names, as an absolute path.

    Parameters
    ----------
    name : str
        As it was typed.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    WorkspaceError
        If the name is empty, or the current folder is gone.
    """
    if not name.strip():
        raise WorkspaceError(label("cli_no_folder_named"))
    try:
        return Path.cwd() / name
    except OSError as error:
        raise WorkspaceError(label("cli_current_folder_gone")) from error


def update_workspace(folder: Path, source: Path | None = None) -> list[str]:
    """Bring the working copy up to date.

    Parameters
    ----------
    folder : pathlib.Path
        The student's folder; it is made if it is not there.
    source : pathlib.Path, optional
        The folder with ``zh-Hant/`` and ``en/``; the notebooks of this lesson by default.

    Returns
    -------
    list of str
        One sentence for each newer lesson that was put beside a file of the student's.

    Raises
    ------
    WorkspaceError
        If the folder is the lesson itself or lies in its notebooks, or cannot be written.
    """
    try:
        source = resource_path("notebooks") if source is None else source
        if folder.resolve().is_relative_to(source.resolve()) or _is_checkout(folder):
            raise WorkspaceError(label("cli_folder_is_lesson", folder=folder))
        folder.mkdir(parents=True, exist_ok=True)
        return _deliver_all(folder, source)
    except (OSError, RuntimeError, ValueError) as error:  # also a loop of links, a name with \0
        raise WorkspaceError(
            label("cli_folder_fails", folder=folder, reason=_reason(error))
        ) from error


def _is_checkout(folder: Path) -> bool:
    try:
        return b'name = "andrea-lesson"' in (folder / "pyproject.toml").read_bytes()
    except OSError:  # there is none
        return folder.resolve() == Path(__file__).resolve().parents[1]


def _reason(error: Exception) -> str:
    if (
        not isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError)
        or not error.filename
    ):
        return getattr(error, "strerror", None) or str(error)
    wanted = Path(error.filename2 or error.filename)
    there = (path for path in (wanted, *wanted.parents) if os.path.lexists(path))
    path = next(there, wanted)
    return label("cli_folder_in_the_way" if path.is_dir() else "cli_file_in_the_way", path=path)


def first_notebook(folder: Path, language: str) -> str | None:
    """Path of the first lesson of a language in the working copy, or None if it has none."""
    lessons = sorted((folder / language).glob("[0-9][0-9]_*.ipynb"))
    return lessons[0].relative_to(folder).as_posix() if lessons else None


def _deliver_all(folder: Path, source: Path) -> list[str]:
    note = folder / NOTES / "delivered.json"
    before = _read_note(note)
    delivered = {path: list(prints) for path, prints in before.items()}
    sentences = []
    for path, content in _lessons(source):
        beside = _deliver(folder / path, content, delivered.setdefault(path, []))
        if beside is not None:
            new = beside.relative_to(folder).as_posix()
            sentences.append(label("cli_newer_lesson", new=new, old=path))
    if delivered != before:
        note.parent.mkdir(exist_ok=True)
        # in ASCII: a damaged note may hold what UTF-8 cannot
        _write(note, json.dumps(delivered, indent=1).encode("ascii"), replace=True)
    return sentences


def _lessons(source: Path) -> Iterator[tuple[str, bytes]]:
    for language in LANGUAGES:
        for lesson in sorted((source / language).glob("*.ipynb")):
            yield f"{language}/{lesson.name}", unsolved(lesson.read_bytes())


_WAITS_IN_A_PICTURE = re.compile(r"_panel\(|\bal\.(guess_curve|guess_cells|quiz)\(")


def unsolved(content: bytes) -> bytes:
    """Take the results out of a notebook: a learner answers first and measures then.

    The still picture of a panel or of a guess stays, as it says that its cell is waiting to be
    run.
    """
    try:
        notebook = json.loads(content)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell["execution_count"] = None
                if not _WAITS_IN_A_PICTURE.search("".join(cell["source"])):
                    cell["outputs"] = []
    except (ValueError, KeyError, TypeError, RecursionError):
        return content  # not a notebook: as it is
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def _deliver(target: Path, content: bytes, known: list[str]) -> Path | None:
    """Put one lesson into the working copy; return its path if it had to go beside a file."""
    lesson = fingerprint(content)
    placed = None
    if not os.path.lexists(target):
        target.parent.mkdir(exist_ok=True)
        with suppress(FileExistsError):  # a second start of the command was quicker
            _write(target, content)
    elif lesson not in known and lesson not in _fingerprints_beside(target):
        placed = _free_name(target)
        _write(placed, content)
    if lesson not in known:
        known.append(lesson)
    return placed


def fingerprint(content: bytes) -> str:
    """Hash of what a notebook teaches: its cells, not the outputs that a run leaves in it."""
    try:
        cells = [[cell["cell_type"], cell["source"]] for cell in json.loads(content)["cells"]]
        # a source may be a text or a list of lines
        cells = [[kind, "".join(source)] for kind, source in cells]
        content = json.dumps(cells).encode("ascii")
    except (ValueError, KeyError, TypeError, RecursionError):
        pass  # not a notebook: its bytes count as they are
    return hashlib.sha256(content).hexdigest()


def _fingerprints_beside(target: Path) -> list[str]:
    """What is already there under the lesson's name, or one of its names with ``_new``."""
    return [
        fingerprint(path.read_bytes())
        for path in target.parent.glob(f"{target.stem}*.ipynb")
        if path.is_file()
    ]


def _free_name(target: Path) -> Path:
    number = 1
    while True:
        suffix = "_new" if number == 1 else f"_new{number}"
        path = target.with_name(f"{target.stem}{suffix}{target.suffix}")
        if not os.path.lexists(path):
            return path
        number += 1


def _read_note(note: Path) -> Delivered:
    """Read what was delivered; what cannot be understood counts as never written."""
    try:
        entries = json.loads(note.read_bytes()).items()
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}
    return {
        path: prints
        for path, prints in entries
        if isinstance(prints, list) and all(isinstance(one, str) for one in prints)
    }


def _write(path: Path, content: bytes, *, replace: bool = False) -> None:
    """Write a file whole or not at all; without `replace` never onto an existing one."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        unfinished.write_bytes(content)
        if replace:
            os.replace(unfinished, path)
        else:
            _rename_to_new(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _rename_to_new(unfinished: Path, path: Path) -> None:
    try:
        os.link(unfinished, path)  # unlike a rename, it refuses a name that is taken
    except FileExistsError:
        raise
    except OSError:  # a disk without hard links
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.rename(unfinished, path)
