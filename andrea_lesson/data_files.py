"""Results that took long to make: saved whole or not at all, and read with a clear word.

Each such file is made by a command, and whoever finds it missing or damaged is told which.
"""

import hashlib
import json
import os
import platform
import secrets
from collections.abc import Callable, Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from .resources import resource_path


class _Results(Protocol):
    @property
    def complete(self) -> bool: ...
    @property
    def made_by(self) -> Mapping[str, Any]: ...


Results = TypeVar("Results", bound=_Results)


class DataFileError(Exception):
    """A data file is missing or damaged; the message is one sentence that says how to make it."""


def data_path(name: str) -> Path:
    """Where a data file of the lesson stands, or would stand."""
    return resource_path("data") / name


def made_by(command: str, files: Iterable[Path]) -> dict[str, Any]:
    """What makes a result here: the command, versions, and each file by its SHA-256."""
    code = {
        file.name: hashlib.sha256(file.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
        for file in files
    }
    return {
        "command": command,
        "andrea_lesson": metadata.version("andrea-lesson"),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "code": code,
    }


def read_json(path: Path, command: str) -> Any:
    """Read a JSON file.

    Parameters
    ----------
    path : Path
    command : str
        What makes the file, for the sentence.

    Raises
    ------
    DataFileError
    """
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise DataFileError(f"{path} is missing; make it with: {command}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(path, command, error) from None


def damaged(path: Path, command: str, reason: object) -> DataFileError:
    """Give the sentence for a file that cannot be right."""
    words = " ".join(str(reason).split()) or type(reason).__name__
    return DataFileError(f"{path} is damaged ({words}); make it again with: {command}")


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file so that at every moment there is the old one or the new one, whole.

    Parameters
    ----------
    path : Path
    content : dict, list, …
        Each entry of a list in a top-level value gets a line of its own, so that versions of
        the file can be compared.

    Raises
    ------
    OSError
        If the file cannot be written; the old one is still there.
    """
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(unfinished, "w", encoding="utf-8", newline="\n") as file:
            file.write(_lines(content))
            file.flush()
            os.fsync(file.fileno())  # a rename must not overtake what it renames
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _lines(content: dict[str, Any]) -> str:
    parts = []
    for name, value in content.items():
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            rows = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in value)
            text = "[\n" + ",\n".join(rows) + "\n]"
        parts.append(f"{json.dumps(name, ensure_ascii=False)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def begun_before(
    path: Path, load: Callable[[Path], Results], present: dict[str, Any], command: str
) -> Results | None:
    """Read what an interrupted command left, so that it can go on; None where there is nothing.

    Parameters
    ----------
    path : Path
    load : callable
        Reads the file into results that have `complete` and `made_by`.
    present : dict
        What makes results here, from :func:`made_by`.
    command : str
        Makes the file from nothing.

    Raises
    ------
    DataFileError
        If the file is damaged, or was begun by other code or versions.
    """
    if not path.exists():
        return None
    results = load(path)
    if not results.complete and dict(results.made_by) != present:
        reason = "begun by another version of the code, of NumPy or of Python"
        raise damaged(path, command, reason)
    return results
