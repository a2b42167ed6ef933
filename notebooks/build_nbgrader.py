"""The exercises for teachers who grade with nbgrader: a course folder, ready for its commands.

    FOLDER/nbgrader_config.py                     settings that the exercises need
    FOLDER/source/<notebook>_<language>/….ipynb   the teacher's version, with solutions

An exercise becomes an answer cell, whose solution nbgrader takes out for the students, and a
locked test cell with points: as many as the exercise is difficult.  A personal question gets an
answer cell for the student's seed too, and its test judges the answer by that seed.
"""

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from build_source import LANGUAGES, Cell, Project, edition

SEED = 1  # of the teacher, in the solved version
_BEGIN, _END = "### BEGIN SOLUTION", "### END SOLUTION"
_RIGHT_TABLES: dict[str, dict[Any, Any]] = {
    "d_k_of_andrea": {"ANDREA-12M": 384 // 12, "ANDREA-120M": 768 // 12, "ANDREA-480M": 1536 // 24},
    "scaling_at_4096": {n_head: (4096 / n_head) ** 0.5 for n_head in (1, 16, 32, 64)},
    "kinds_of_masks": {"encoder": "full", "decoder": "causal", "cross_attention": "full"},
}

CONFIG = '''\
"""Settings of nbgrader for the exercises of ANDREA Lesson."""

import os

os.environ.setdefault("ANDREA_PROGRESS", "memory")  # grading leaves your own progress alone

c = get_config()
c.CourseDirectory.course_id = "andrea_lesson"
c.ClearSolutions.code_stub = {"python": "..."}  # as in the lesson: what is not written waits
c.OverwriteCells.add_missing_cells = True  # a test that a student deleted is run all the same
c.ExecutePreprocessor.timeout = 120  # seconds a cell
'''


def export(project: Project, sources: dict[str, list[Cell]], folder: Path) -> list[Path]:
    """Write a course folder.

    Parameters
    ----------
    project : Project
        Its own folders are refused.
    sources : dict of str to list of Cell
        Cells by the name of the notebook; those without an exercise are left out.
    folder : pathlib.Path
        New or empty.

    Returns
    -------
    list of pathlib.Path
        The notebooks.

    Raises
    ------
    SystemExit
        If the folder is in use, or no notebook has an exercise.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SystemExit(f"{folder} is not empty; --nbgrader needs a folder of its own.")
    if folder.resolve().is_relative_to((project.root / "notebooks").resolve()):
        raise SystemExit("--nbgrader writes solutions; choose a folder outside notebooks/.")
    chosen = {name: cells for name, cells in sources.items() if any(map(_call_of, _code(cells)))}
    if not chosen:
        raise SystemExit("These notebooks have no exercises.")
    paths = []
    for name, cells in chosen.items():
        for language in LANGUAGES:
            path = folder / "source" / f"{name}_{language}" / f"{name}.ipynb"
            path.parent.mkdir(parents=True)
            text = nbformat.writes(graded(edition(cells, language))) + "\n"
            path.write_text(text, encoding="utf-8")
            paths.append(path)
    (folder / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    return paths


def graded(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook whose exercises are solved and have tests, as nbgrader's source."""
    from andrea_lesson.exercises import EXERCISES

    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type != "code":
            continue
        if _asks(cell.source):
            cell.source = _seeded(cell.source)
            cell.metadata["nbgrader"] = _metadata(cell.id)
        call = _call_of(cell.source)
        if call is not None:
            exercise = EXERCISES[_name_of(call)]
            cell.source = solved(cell.source, exercise)
            cell.metadata["nbgrader"] = _metadata(cell.id)
            cells.append(_test(call, exercise))
    notebook.cells = cells
    nbformat.validate(notebook)
    return notebook


def solved(code: str, exercise: Any) -> str:
    """Put a good answer into the code of an exercise, in a region that nbgrader takes out.

    Parameters
    ----------
    code : str
        A stub under the answer's name, and the check as the last statement.
    exercise : Exercise

    Returns
    -------
    str
    """
    tree, lines = ast.parse(code), code.split("\n")
    call = tree.body[-1]
    variable = ast.unparse(_arguments(call)[0])
    stub = next(
        (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == variable),
        None,
    )
    if stub is not None:
        first, last = stub.body[0].lineno, stub.body[-1].end_lineno or stub.body[-1].lineno
        lines[first - 1 : last] = [f"    {_BEGIN}", *_body(exercise.solution), f"    {_END}"]
    else:
        region = [_BEGIN, f"{variable} = {right_answer(exercise)!r}", _END]
        end = tree.body[-2].end_lineno or 0
        lines[end:end] = region
    return "\n".join(lines)


def right_answer(exercise: Any) -> Any:
    """The answer to an exercise that asks for numbers or choices; a personal one by `SEED`."""
    if exercise.personal:
        number = exercise.task.right(**exercise.task.numbers(SEED))
        return int(number) if number == int(number) else number
    return _RIGHT_TABLES[exercise.name]


def _body(solution: str) -> list[str]:
    """Lines within the function of a solution, four blanks before each."""
    (function,) = (n for n in ast.parse(solution).body if isinstance(n, ast.FunctionDef))
    return solution.rstrip("\n").split("\n")[function.body[0].lineno - 1 :]


def _code(cells: Sequence[Cell]) -> list[str]:
    return [cell.text for cell in cells if cell.code]


def _statements(code: str) -> list[ast.stmt]:
    try:
        return ast.parse(code).body
    except SyntaxError:  # IPython's magics; no exercise has any
        return []


def _arguments(statement: ast.stmt) -> list[ast.expr]:
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    return statement.value.args


def _call_of(code: str) -> str | None:
    """The check in which a cell ends, such as ``al.check.my_d_k(my_d_k, seed=seed)``."""
    statements = _statements(code)
    last = statements[-1] if statements else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        call = ast.unparse(last.value)
        return call if call.startswith("al.check.") else None
    return None


def _name_of(call: str) -> str:
    return call.removeprefix("al.check.").partition("(")[0]


def _asks(code: str) -> bool:
    """Whether a cell shows a personal question, for the student's `seed`."""
    return any(
        isinstance(statement, ast.Expr) and ast.unparse(statement.value).startswith("al.question(")
        for statement in _statements(code)
    )


def _seeded(code: str) -> str:
    tree, lines = ast.parse(code), code.split("\n")
    seed = next(node for node in tree.body if ast.unparse(node) == "seed = None")
    end = seed.end_lineno or seed.lineno
    lines[end:end] = [_BEGIN, f"seed = {SEED}", _END]
    return "\n".join(lines)


def _metadata(name: str, points: int = 0) -> dict[str, Any]:
    """Metadata for nbgrader, schema 3: of a test that gives points, or else of an answer."""
    return {
        "schema_version": 3,
        "grade_id": name,
        "grade": points > 0,
        "solution": points == 0,
        "locked": points > 0,
        "task": False,
    } | ({"points": points} if points else {})


def _test(call: str, exercise: Any) -> NotebookNode:
    name = f"test-{exercise.name.replace('_', '-')}"
    code = f"verdict = {call}\nassert verdict.passed, verdict.message"
    metadata = {"key": name, "tags": [], "nbgrader": _metadata(name, exercise.difficulty)}
    cell: NotebookNode = nbformat.v4.new_code_cell(code, id=name, metadata=metadata)
    return cell
