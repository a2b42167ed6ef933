"""Running a notebook: a kernel of its own, outputs fit to be stored, numbers compared."""

import asyncio
import math
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from build_source import METADATA, VOLATILE

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
SECONDS_A_CELL = 60  # only to end a run that hangs; the tests hold cells to less
AT_ONCE = 2  # kernels

# Moves every control of every live panel: an exception in a slider's callback stays inside the
# widget otherwise, and the run is green.  No panels, nothing to move.
EXERCISE_PANELS = """
import sys
if "andrea_lesson.panels" in sys.modules:
    from andrea_lesson.panels import exercise_all
    exercise_all()
"""

_WHOLE = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)"
_NUMBER = re.compile(rf"[-+\u2212]?(?:{_WHOLE}\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_REPR = re.compile(r"<style>.*?</style>|</?[A-Za-z_][^<>\n]*>", re.DOTALL)  # or an HTML tag


class RunError(Exception):
    """A notebook that did not run to its end, with the key of the cell."""


@dataclass
class Run:
    """What came out of a run.

    Attributes
    ----------
    notebook : NotebookNode
        With its outputs as they came.
    seconds : dict of str to float
        Time of each code cell, by key.
    after : list of str
        What each cell put behind the notebook printed.
    """

    notebook: NotebookNode
    seconds: dict[str, float]
    after: list[str]


async def _run(notebook: NotebookNode, folder: Path, after: Sequence[str]) -> Run:
    ran = await _execute(notebook, folder, after)
    length = len(notebook.cells)
    seconds = {
        cell.id: seconds
        for cell in ran.cells[:length]
        if cell.cell_type == "code" and (seconds := _seconds(cell)) is not None
    }
    printed = ["\n".join(printed_texts(cell)) for cell in ran.cells[length:]]
    del ran.cells[length:]
    return Run(ran, seconds, printed)


async def _execute(
    notebook: NotebookNode, folder: Path, after: Sequence[str], tries: int = 3
) -> NotebookNode:
    """Run a copy of a notebook, with cells put behind it, in a kernel of its own."""
    running = deepcopy(notebook)
    for number, code in enumerate(after):
        running.cells.append(nbformat.v4.new_code_cell(code, id=f"after-{number}"))
    client = NotebookClient(
        running,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        timeout=SECONDS_A_CELL,
        record_timing=True,
        store_widget_state=False,
    )
    with tempfile.TemporaryDirectory() as profile:  # the settings of no one's own IPython
        environment = {
            **os.environ,
            "ANDREA_STRICT": "1",
            "ANDREA_PROGRESS": "memory",
            "PYTHONHASHSEED": "0",
        }
        environment["IPYTHONDIR"] = profile
        environment.pop("MPLBACKEND", None)
        try:
            await client.async_execute(cwd=str(folder), env=environment)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise RunError(f"{_stopped_at(running)}: {_in_plain_words(error)}") from None
        except RuntimeError:  # it never started: its ports, chosen free, were taken meanwhile
            if tries == 1:
                raise
            return await _execute(notebook, folder, after, tries - 1)
    return running


def run_all(jobs: Sequence[tuple[NotebookNode, Path, Sequence[str]]]) -> list[Run | RunError]:
    """Run notebooks, two at a time, each in a kernel of its own.

    Parameters
    ----------
    jobs : sequence of (notebook, folder, cells)
        A notebook, the working directory of its kernel, and code to run after its last cell.

    Returns
    -------
    list of Run or RunError
        In the order of the jobs.
    """

    async def all_of_them() -> list[Run | RunError]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(job: tuple[NotebookNode, Path, Sequence[str]]) -> Run | RunError:
            async with gate:
                try:
                    return await _run(*job)
                except RunError as error:
                    return error

        return list(await asyncio.gather(*map(one, jobs)))

    return asyncio.run(all_of_them())


def _in_plain_words(error: Exception) -> str:
    """A line that says what went wrong, and the end of the traceback without its colours."""
    if not isinstance(error, CellExecutionError):
        return str(error).strip()
    trace = re.sub(r"\x1b\[[0-9;]*m", "", error.traceback).strip().split("\n")
    return "\n    ".join([f"{error.ename}: {error.evalue}", *trace[-12:]])


def _stopped_at(notebook: NotebookNode) -> str:
    """Key of the cell in which a run stopped: the first that has begun and not ended well."""
    started = "?"
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.metadata.get("execution"):
            started = cell.id
            if any(output.output_type == "error" for output in cell.outputs):
                break
    return started


def _seconds(cell: NotebookNode) -> float | None:
    times = cell.metadata.get("execution", {})
    try:
        begin, end = (
            datetime.fromisoformat(times[name].replace("Z", "+00:00"))
            for name in ("iopub.execute_input", "shell.execute_reply")
        )
    except KeyError:
        return None
    return (end - begin).total_seconds()


def tidy(notebook: NotebookNode) -> NotebookNode:
    """Make a copy fit to be stored: nothing in it belongs to one run or one machine.

    A widget's view goes where a picture or words stand beside it, so that a notebook that was not
    run shows these; volatile cells lose their outputs.
    """
    notebook = deepcopy(notebook)
    notebook.metadata = nbformat.from_dict(METADATA)  # no widgets, no version of Python
    count = 0
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.metadata.pop("execution", None)
        if cell.execution_count is not None:
            count += 1
            cell.execution_count = count
        kept: list[NotebookNode] = []
        for output in [] if VOLATILE in cell.metadata.get("tags", []) else cell.outputs:
            if output.get("execution_count") is not None:
                output.execution_count = count
            data = output.get("data", {})
            if "image/png" in data or "\n" in data.get("text/plain", ""):  # words, as of a quiz
                data.pop(WIDGET_VIEW, None)
            if "text/plain" in data:
                data["text/plain"] = _ADDRESS.sub("", data["text/plain"])
            if kept and output.get("name") and kept[-1].get("name") == output.name:
                kept[-1].text += output.text  # how a stream is cut differs from run to run
            else:
                kept.append(output)
        cell.outputs = kept
    return notebook


def printed_texts(cell: NotebookNode) -> Iterator[str]:
    """What a cell shows in words and numbers; the text beside a picture is only its name."""
    for output in cell.outputs:
        data: dict[str, Any] = output.get("data", {})
        if output.output_type == "stream":
            yield _REPR.sub(" ", output.text)
        elif "image/png" not in data and WIDGET_VIEW not in data:
            for kind in ("text/plain", "text/html", "text/markdown", "text/latex"):
                if kind in data:
                    yield _REPR.sub(" ", data[kind])


def differences(stored: NotebookNode, fresh: NotebookNode) -> Iterator[str]:
    """Where the printed numbers or words of two runs differ, as ``key: message``.

    Numbers are compared to three significant digits, as the last ones depend on the processor;
    blanks do not count.
    """
    for old, new in zip(tidy(stored).cells, tidy(fresh).cells, strict=True):
        if old.cell_type != "code":
            continue
        before, after = " ".join(printed_texts(old)), " ".join(printed_texts(new))
        for old_number, number in zip(_numbers(before), _numbers(after), strict=False):
            if not math.isclose(old_number, number, rel_tol=1e-3, abs_tol=1e-12):
                yield f"{old.id}: {old_number:g} is stored, {number:g} came now"
                break
        else:
            was, now = _words(before), _words(after)
            if was != now:
                pairs = enumerate(zip(was + "\0", now + "\0", strict=False))
                at = max(0, next(i for i, (a, b) in pairs if a != b) - 20)
                yield f"{old.id}: {was[at : at + 40]!r} is stored, {now[at : at + 40]!r} came now"
        if _pictures(old) != _pictures(new):
            yield f"{old.id}: {_pictures(old)} pictures are stored, {_pictures(new)} came now"


def _numbers(text: str) -> list[float]:
    return [
        float(number.replace(",", "").replace("\u2212", "-")) for number in _NUMBER.findall(text)
    ]


def _words(text: str) -> str:
    return "".join(_NUMBER.sub("#", text).split())


def _pictures(cell: NotebookNode) -> int:
    return sum("image/png" in output.get("data", {}) for output in cell.outputs)
