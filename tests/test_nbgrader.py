"""The export for teachers: nbgrader itself makes, checks and grades what it is given."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from andrea_lesson.exercises import EXERCISES
from build import main
from build_nbgrader import export, graded, right_answer
from build_source import Cell, Project, edition, first_code, read_source

ROOT = Path(__file__).resolve().parents[1]
PROJECT = Project(ROOT)
# One of each kind; the personal one has a cell for the seed.
SMALL = {
    "03_causal_mask": ("exercise-kinds-of-masks", "exercise-sliding-window"),
    "04_softmax_and_output": ("question-my-weight", "exercise-my-weight"),
}
POINTS = {"test-kinds-of-masks": 1.0, "test-sliding-window": 2.0, "test-my-weight": 1.0}
NAME = "small_zh-Hant"
# nbgrader calls the command `alembic`, which stands beside this Python.
WITH_ALEMBIC = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def cells_of(name: str) -> list[Cell]:
    return read_source(ROOT / "notebooks" / "src" / f"{name}.py")


def small() -> list[Cell]:
    """A notebook of three exercises, cut out of the lesson's."""
    cells = [first_code(cells_of("03_causal_mask"))]
    for name, keys in SMALL.items():
        by_key = {cell.key: cell for cell in cells_of(name)}
        cells += [by_key[key] for key in keys]
    return cells


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    export(PROJECT, {"small": small()}, folder / "one")
    return folder / "one"


def nbgrader(course: Path, *arguments: str) -> str:
    """Run one of nbgrader's commands in the course folder; return what it says."""
    environment = {**os.environ, "PATH": WITH_ALEMBIC, "JUPYTER_PREFER_ENV_PATH": "1"}
    environment.pop("ANDREA_STRICT", None)
    environment.pop("ANDREA_PROGRESS", None)  # the settings say where
    environment["XDG_DATA_HOME"] = str(course / "home")  # where progress would be kept, on Linux
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


# -- the export ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [path.stem for path in PROJECT.sources])
def test_every_exercise_of_a_notebook_is_exported_and_solved(name):
    cells = cells_of(name)
    notebook = graded(edition(cells, "en"))
    by_id = {cell.id: cell for cell in notebook.cells}
    wanted = [one for one in EXERCISES.values() if one.notebook == name[:2]]
    tests = {key for key in by_id if key.startswith("test-")}
    assert tests == {f"test-{one.name.replace('_', '-')}" for one in wanted}
    names: dict[str, object] = {}
    exec("import numpy as np\nimport andrea_lesson as al", names)
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader")
        if about is None:
            continue
        assert about["schema_version"] == 3
        assert about["grade_id"] == cell.id
        assert about["locked"] == about["grade"] == (not about["solution"]) == ("points" in about)
        assert ("### BEGIN SOLUTION" in cell.source) == about["solution"]
        exec(cell.source, names)  # a test would raise
    plain = edition(cells, "en")
    assert [c.id for c in plain.cells] == [c.id for c in notebook.cells if c.id not in tests]


def test_personal_answers_go_with_the_seed_and_points_with_the_difficulty():
    for cell in graded(edition(small(), "en")).cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            assert cell.metadata["nbgrader"]["points"] == POINTS[cell.id]
    one = EXERCISES["my_weight"]
    assert one.check(right_answer(one), seed=1).passed
    assert not one.check(right_answer(one), seed=2).passed


def test_a_folder_in_use_or_within_the_lesson_is_refused(tmp_path):
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "thesis.txt").write_text("mine", encoding="utf-8")
    for folder in (tmp_path / "used", tmp_path / "used" / "thesis.txt"):
        with pytest.raises(SystemExit, match="is not empty"):
            main(["--nbgrader", str(folder), "03"])
    inside = ROOT / "notebooks" / "graded"
    with pytest.raises(SystemExit, match="outside notebooks"):
        main(["--nbgrader", str(inside), "03"])
    assert not inside.exists()
    with pytest.raises(SystemExit, match="no exercises"):
        main(["--nbgrader", str(tmp_path / "new"), "00"])
    assert not (tmp_path / "new").exists()


def test_the_command_writes_a_course_folder(tmp_path, capsys):
    assert main(["--nbgrader", str(tmp_path / "course"), "03"]) == 0
    written = sorted(p.relative_to(tmp_path / "course") for p in tmp_path.rglob("*.*"))
    places = [Path("source", f"03_causal_mask_{lang}") for lang in ("en", "zh-Hant")]
    assert written == [
        Path("nbgrader_config.py"), *(place / "03_causal_mask.ipynb" for place in places)
    ]  # fmt: skip
    assert "03_causal_mask.ipynb" in capsys.readouterr().out


# -- nbgrader itself -------------------------------------------------------------------------------

RIGHT_SOURCES = {
    "exercise-kinds-of-masks": (
        "kinds_of_masks = {'encoder': 'padding', 'decoder': 'causal', 'cross_attention': 'full'}"
    ),
    "exercise-sliding-window": (
        "def sliding_window(T, window):\n"
        "    return np.tri(T, dtype=bool) & ~np.tri(T, k=-window, dtype=bool)"
    ),
    "question-my-weight": "seed = 20261130",
    "exercise-my-weight": (
        "from andrea_lesson.exercises import EXERCISES\n"
        "task = EXERCISES['my_weight'].task\n"
        "my_weight = task.right(**task.numbers(seed))"
    ),
}
WRONG_SOURCES = {
    "exercise-kinds-of-masks": (
        "kinds_of_masks = {'encoder': 'causal', 'decoder': 'causal', 'cross_attention': 'full'}"
    ),
    "exercise-sliding-window": "def sliding_window(T, window):\n    return np.tri(T, dtype=bool)",
    "question-my-weight": "seed = 1",
    "exercise-my-weight": "my_weight = 0.5",
}
SILENCED = {  # errors are no longer shown; that makes no answer right
    **WRONG_SOURCES,
    "exercise-kinds-of-masks": "get_ipython().showtraceback = lambda *given, **named: None",
}


@pytest.fixture(scope="module")
def grades(course):
    """Points of each test by student, after nbgrader has made, collected and graded."""
    nbgrader(course, "generate_assignment", NAME)
    release = nbformat.read(course / "release" / NAME / "small.ipynb", as_version=4)
    submissions = {
        "right": answered(release, RIGHT_SOURCES),
        "wrong": answered(release, WRONG_SOURCES),
        "empty": release,
        "silenced": answered(release, SILENCED),
        "deleted": answered(release, WRONG_SOURCES),
        "forgetful": answered(release, RIGHT_SOURCES),
        "tampered": answered(release, {**WRONG_SOURCES, "test-my-weight": "pass"}),
    }
    for student in ("deleted", "forgetful"):
        notebook = submissions[student]
        notebook.cells = [cell for cell in notebook.cells if not cell.id.startswith("test-")]
    for student, notebook in submissions.items():
        path = course / "submitted" / student / NAME / "small.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
    nbgrader(course, "autograde", NAME)
    return {student: points_of(course, student) for student in submissions}


def answered(release, sources):
    notebook = nbformat.from_dict(release)
    notebook = nbformat.reads(nbformat.writes(notebook), as_version=4)
    for cell in notebook.cells:
        if cell.id in sources:
            cell.source = sources[cell.id]
    return notebook


def points_of(course, student):
    from nbgrader.api import Gradebook

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", WITH_ALEMBIC)
        return _points(Gradebook, course, student)


def _points(Gradebook, course, student):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        submitted = gradebook.find_submission_notebook("small", NAME, student)
        return {one.name: one.score for one in submitted.grades}


def test_the_students_version_holds_no_solution_and_waits(course, grades):
    release = nbformat.read(course / "release" / NAME / "small.ipynb", as_version=4)
    by_id = {cell.id: cell for cell in release.cells}
    for key in (key for keys in SMALL.values() for key in keys):
        assert "SOLUTION" not in by_id[key].source
        assert "..." in by_id[key].source.split()
    assert "return" not in by_id["exercise-sliding-window"].source
    assert "=" not in by_id["exercise-my-weight"].source.replace("my_weight = None", "").replace(
        "seed=seed", ""
    )


def test_nbgraders_validation_accepts_the_solved_version_only(course, grades):
    solved, unsolved = (
        nbgrader(course, "validate", str(course / place / NAME / "small.ipynb"))
        for place in ("source", "release")
    )
    assert "Success" in solved
    assert "Success" not in unsolved
    assert f"FAILED ON {len(POINTS)} CELL(S)" in unsolved


@pytest.mark.parametrize("student", ["wrong", "empty", "silenced", "deleted", "tampered"])
def test_nothing_but_a_right_answer_gets_points(grades, student):
    assert grades[student] == dict.fromkeys(POINTS, 0.0)


@pytest.mark.parametrize("student", ["right", "forgetful"])
def test_right_answers_get_all_points_even_where_a_test_was_deleted(grades, student):
    assert grades[student] == POINTS


def test_grading_leaves_the_teachers_progress_alone(course, grades, monkeypatch):
    assert not list(course.glob("home/*andrea*"))

    class Settings:
        def __getattr__(self, name):
            return Settings()

    monkeypatch.setenv("ANDREA_PROGRESS", "")  # is put back afterwards
    monkeypatch.delenv("ANDREA_PROGRESS")
    settings = (course / "nbgrader_config.py").read_text(encoding="utf-8")
    exec(settings, {"get_config": Settings})
    assert os.environ["ANDREA_PROGRESS"] == "memory"
