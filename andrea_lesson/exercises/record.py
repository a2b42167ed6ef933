"""What a learner has tried, passed and guessed, kept between sessions.

Every kernel writes one small file of its own and reads those of all others, so that two
notebooks at once never overwrite each other and no lock is needed, not even on a shared disk.
The files are not merged: a kernel that still runs would write its own once more and so count
twice, and a thousand of them are read in less than a tenth of a second.
Nothing in the files says who the learner is.
"""

import json
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from ..data_files import write_json
from ..labels import label

FORMAT = 1
_PLACES = ("exercises", "quiz", "guesses")
_OURS = re.compile(r"[0-9a-f]{12}\.json")

Entry = dict[str, Any]


class Record:
    """All that is known of one learner: what this kernel noted, and what others did before.

    Parameters
    ----------
    folder : Path or None
        None keeps everything in memory.
    tell : callable, optional
        Called with one sentence, once for each kind of trouble; prints it by default.

    Attributes
    ----------
    notices : list of str
        Those sentences.
    """

    def __init__(self, folder: Path | None, tell: Callable[[str], None] = print) -> None:
        self.folder = folder
        self.notices: list[str] = []
        self._tell = tell
        self._told: set[str] = set()
        self._mine: Entry = _nothing()
        self._process = 0
        self._name = ""
        # Of files that have not changed since: a course leaves a few hundred of them.
        self._read_before: dict[str, tuple[tuple[int, int], Entry]] = {}

    # -- writing -----------------------------------------------------------------------------------

    def attempt(self, place: str, name: str, passed: bool, **more: Any) -> None:
        """Note that an exercise or a question was tried.

        Parameters
        ----------
        place : {"exercises", "quiz"}
        name : str
        passed : bool
        **more
            What else to keep of the last try, such as ``choice``.
        """
        now = _now()
        self._take_over_process()
        one = self._mine[place].setdefault(
            name, {"tried": 0, "passed": False, "first": now, "last": now}
        )
        one |= {"tried": one["tried"] + 1, "passed": one["passed"] or bool(passed), "last": now}
        one |= more
        self._save()

    def guess(self, name: str, entry: Mapping[str, Any]) -> None:
        """Add a committed guess to those kept before under this name."""
        self._take_over_process()
        self._mine["guesses"].setdefault(name, []).append({**entry, "time": _now()})
        self._save()

    def _take_over_process(self) -> None:
        """Begin a file of its own in each process; a fork may not write that of its parent."""
        if self._process == os.getpid():
            return
        if self._process:  # what the parent noted stands in its own file
            self._mine = _nothing()
        self._process, self._name = os.getpid(), f"{secrets.token_hex(6)}.json"

    def _save(self) -> None:
        if self.folder is None:
            return
        path = self.folder / self._name
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _patiently(lambda: write_json(path, {"format": FORMAT, **self._mine}))
        except OSError as problem:
            self._say_once("progress_not_kept", folder=self.folder, reason=reason_of(problem))

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> Entry:
        """Return everything, this kernel's part and all files together.

        Returns
        -------
        dict
            ``exercises`` and ``quiz`` by name, ``guesses`` as lists by name, oldest first.
        """
        together = _nothing()
        for path in self._files():
            if path.name != self._name and (part := self._read(path)) is not None:
                _add(together, part)
        _add(together, self._mine)
        for some in together["guesses"].values():
            some.sort(key=lambda one: str(one["time"]))
        return together

    def _files(self) -> list[Path]:
        if self.folder is None:
            return []
        try:
            # Whatever else lies in a folder that the learner named is not ours.
            return sorted(path for path in self.folder.iterdir() if _OURS.fullmatch(path.name))
        except OSError:
            return []

    def _read(self, path: Path) -> Entry | None:
        try:
            status = path.stat()
            key = status.st_mtime_ns, status.st_size
            if path.name in self._read_before and self._read_before[path.name][0] == key:
                return self._read_before[path.name][1]
            content = json.loads(path.read_bytes())
            if isinstance(content, dict) and content.get("format", 0) != FORMAT:
                if isinstance(content.get("format"), int) and content["format"] > FORMAT:
                    return None  # of a newer lesson: left alone
                raise ValueError("format")
            part = _checked(content)
        except OSError as problem:
            if not isinstance(problem, FileNotFoundError):
                self._say_once("progress_unread", path=path, reason=reason_of(problem))
            return None
        except (ValueError, RecursionError):
            self._set_aside(path)
            return None
        self._read_before[path.name] = key, part
        return part

    def _set_aside(self, path: Path) -> None:
        """Rename a damaged file, so that it is neither read again nor lost."""
        beside = path.with_name(f"{path.stem}.{secrets.token_hex(2)}.damaged")
        try:
            os.rename(path, beside)
        except FileNotFoundError:
            return  # another kernel was quicker
        except OSError:
            beside = path
        self._say_once("progress_damaged", path=beside)

    def _say_once(self, key: str, **values: Any) -> None:
        if key in self._told:
            return
        self._told.add(key)
        self.notices.append(label(key, **values))
        self._tell(self.notices[-1])


# -- parts of a record -----------------------------------------------------------------------------


def _nothing() -> Entry:
    return {place: {} for place in _PLACES}


def _checked(content: Any) -> Entry:
    """Refuse what this module cannot have written.

    Raises
    ------
    ValueError
    """
    if not isinstance(content, dict):
        raise ValueError("no dict")
    for place in _PLACES:
        if not isinstance(content.get(place), dict):
            raise ValueError(place)
    for one in (*content["exercises"].values(), *content["quiz"].values()):
        if not isinstance(one, dict) or not isinstance(one.get("tried"), int):
            raise ValueError("tried")
        if not all(isinstance(one.get(key), str) for key in ("first", "last")):
            raise ValueError("time")
        if not isinstance(one.get("passed"), bool):
            raise ValueError("passed")
    for some in content["guesses"].values():
        if not isinstance(some, list) or not all(
            isinstance(one, dict) and isinstance(one.get("time"), str) for one in some
        ):
            raise ValueError("guesses")
    return {place: content[place] for place in _PLACES}


def _add(together: Entry, part: Entry) -> None:
    """Add the part of one kernel to what others have noted; order does not matter."""
    for place in ("exercises", "quiz"):
        for name, one in part[place].items():
            known = together[place].get(name)
            if known is None:
                together[place][name] = dict(one)
                continue
            newer = one if one["last"] >= known["last"] else known
            together[place][name] = {
                **known,
                **newer,
                "tried": known["tried"] + one["tried"],
                "passed": known["passed"] or one["passed"],
                "first": min(known["first"], one["first"]),
            }
    for name, some in part["guesses"].items():
        together["guesses"].setdefault(name, []).extend(some)


def _now() -> str:
    # with the fraction: two guesses may come within a second
    return datetime.now().astimezone().isoformat(timespec="milliseconds")


def _patiently(write: Callable[[], None]) -> None:
    """Try again where another program holds the file for a moment, as scanners on Windows do."""
    for pause in (0.05, 0.2) if os.name == "nt" else ():
        with suppress(PermissionError):
            return write()
        time.sleep(pause)
    return write()


def reason_of(problem: Exception) -> str:
    """Why the system refused, in its own words."""
    return str(getattr(problem, "strerror", None) or type(problem).__name__)
