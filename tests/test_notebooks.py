"""The notebooks as a reader runs them: from any folder, by section, twice, with panels moved."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest

from build_run import EXERCISE_PANELS, RunError, differences, run_all
from build_source import LANGUAGES, Project, edition, first_code, read_source

ROOT = Path(__file__).resolve().parents[1]
PROJECT = Project(ROOT)
NAMES = [source.stem for source in PROJECT.sources]
# Both editions run in the first one; a folder of any name does to one what it does to the other.
FOLDERS = {"repository": LANGUAGES, "notebooks": ("en",), "我的 課程": ("zh-Hant",)}
SECONDS_A_CELL, SECONDS_A_NOTEBOOK, PEAK_BYTES = 10, 60, 1e9
SECONDS_A_LONG_CELL, SECONDS_WITH_LONG_CELLS = 60, 180

# Linux counts in KiB, macOS in bytes; Windows has no such call, but the process knows its peak.
PEAK = """
try:
    import resource, sys
    unit = 1 if sys.platform == "darwin" else 1024
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
except ImportError:
    import psutil
    print(psutil.Process().memory_info().peak_wset)
"""


@cache
def cells_of(name):
    return tuple(read_source(ROOT / "notebooks" / "src" / f"{name}.py"))


def notebook_of(name, language="zh-Hant"):
    return edition(list(cells_of(name)), language)


def stored(name, language):
    return nbformat.read(PROJECT.notebook(name, language), as_version=4)


def run_or_fail(jobs):
    runs = run_all(jobs)
    errors = [str(run) for run in runs if isinstance(run, RunError)]
    assert not errors, "\n".join(errors)
    return runs


def assert_clean(run):
    """No error and no warning in any cell."""
    for cell in run.notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error", cell.id
            assert output.get("name") != "stderr", (cell.id, output.text)


def assert_pictures(run):
    """A cell that plots shows what it plots, and one with a panel shows its picture."""
    for cell in run.notebook.cells:
        if cell.cell_type == "code" and re.search(
            r"plotting\.plot_|panels\.(figure|\w+_panel)\(", cell.source
        ):
            assert any("image/png" in output.get("data", {}) for output in cell.outputs), cell.id


def report(title, run, capsys):
    slowest = max(run.seconds, key=run.seconds.__getitem__)
    with capsys.disabled():
        print(
            f"\n  {title}: {sum(run.seconds.values()):.1f} s in {len(run.seconds)} cells,"
            f" slowest {slowest} {run.seconds[slowest]:.1f} s", end=""
        )  # fmt: skip


def test_the_five_notebooks_are_there():
    assert [name[:2] for name in NAMES][:5] == ["00", "01", "02", "03", "04"]


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", NAMES)
def test_runs_from_any_folder(name, folder, tmp_path, capsys):
    place = {"repository": ROOT, "notebooks": ROOT / "notebooks"}.get(folder, tmp_path / folder)
    place.mkdir(exist_ok=True)
    before = sorted(place.iterdir())
    after = [PEAK] if place is not ROOT else [EXERCISE_PANELS, PEAK]  # moving panels once will do
    languages = FOLDERS[folder]
    runs = run_or_fail([(notebook_of(name, language), place, after) for language in languages])
    for language, run in zip(languages, runs, strict=True):
        report(f"{name} {language} in {folder}", run, capsys)
        assert_clean(run)
        assert_pictures(run)
        assert list(differences(stored(name, language), run.notebook)) == []
        tagged = {cell.id for cell in run.notebook.cells if "long" in cell.metadata.get("tags", [])}
        limits = {True: SECONDS_A_LONG_CELL, False: SECONDS_A_CELL}
        assert {key: s for key, s in run.seconds.items() if s >= limits[key in tagged]} == {}
        assert sum(run.seconds.values()) < (
            SECONDS_WITH_LONG_CELLS if tagged else SECONDS_A_NOTEBOOK
        )
        assert float(run.after[-1]) < PEAK_BYTES
    assert sorted(place.iterdir()) == before  # no files left behind


# -- one language is enough ----------------------------------------------------------------


def sections_of(notebook):
    """Code cells of each ``##`` section, by its heading."""
    sections, heading = {}, None
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for line in cell.source.split("\n"):
                if line.startswith(("# ", "## ")):
                    heading = line if line.startswith("## ") else None
        elif heading is not None:
            sections.setdefault(heading, []).append(cell)
    return sections


def each_section_alone(notebook):
    """The notebook section by section: everything is forgotten, then the first code cell runs."""
    setup = next(cell for cell in notebook.cells if cell.cell_type == "code")
    alone = nbformat.v4.new_notebook()
    for number, cells in enumerate(sections_of(notebook).values()):
        alone.cells.append(nbformat.v4.new_code_cell("%reset -f", id=f"forget-{number}"))
        for cell in [setup, *cells]:
            again = nbformat.v4.new_code_cell(cell.source, id=f"{number}-{cell.id}"[:64])
            alone.cells.append(again)
    return alone


def each_cell_twice(notebook):
    twice = nbformat.v4.new_notebook()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for time in ("first", "second"):
                again = nbformat.v4.new_code_cell(cell.source, id=f"{cell.id[:56]}-{time}")
                again.metadata = cell.metadata
                twice.cells.append(again)
    return twice


@pytest.mark.parametrize("name", NAMES)
def test_each_section_runs_alone_and_each_cell_twice(name, tmp_path):
    notebook = notebook_of(name)
    alone, twice = run_or_fail(
        [(make(notebook), tmp_path, []) for make in (each_section_alone, each_cell_twice)]
    )
    assert_clean(alone)
    assert_clean(twice)
    once = [cell for cell in stored(name, "zh-Hant").cells if cell.cell_type == "code"]
    for time in (0, 1):
        again = nbformat.v4.new_notebook(cells=twice.notebook.cells[time::2])
        assert list(differences(nbformat.v4.new_notebook(cells=once), again)) == []


# -- what the runs above would notice -------------------------------------------------------


def notebook_with(*codes):
    cells = [
        nbformat.v4.new_code_cell(code, id=f"cell-{number}") for number, code in enumerate(codes)
    ]
    return nbformat.v4.new_notebook(cells=cells)


FRAGILE_PANEL = """
import ipywidgets
import numpy as np
from andrea_lesson.panels import Panel
from andrea_lesson.panels.picture import Axis, Matrix, Picture

def compute(T):
    if T == 8:
        raise ZeroDivisionError("only at this end")

def describe(state):
    axes = {"query": Axis("query"), "key": Axis("key")}
    return Picture(lines=((Matrix("weights", np.eye(2)),),), axes=axes)

panel = Panel({"T": ipywidgets.IntSlider(1, 1, 8)}, compute, describe, str)
"""


def test_an_exception_in_a_panels_callback_fails_the_run(tmp_path):
    plain, moved = run_all(
        [(notebook_with(FRAGILE_PANEL), tmp_path, after) for after in ([], [EXERCISE_PANELS])]
    )
    assert not isinstance(plain, RunError)  # nobody moves the slider: all seems well
    assert isinstance(moved, RunError)
    assert "after-0: ZeroDivisionError: only at this end" in str(moved)


def test_a_section_that_needs_another_fails(tmp_path):
    notebook = nbformat.v4.new_notebook()
    for number, (heading, code) in enumerate(
        [("", "one = 1"), ("## A", "two = 2"), ("## B", "two")]
    ):
        notebook.cells.append(nbformat.v4.new_markdown_cell(heading, id=f"text-{number}"))
        notebook.cells.append(nbformat.v4.new_code_cell(code, id=f"code-{number}"))
    whole, alone = run_all(
        [(book, tmp_path, []) for book in (notebook, each_section_alone(notebook))]
    )
    assert not isinstance(whole, RunError)
    assert str(alone).startswith("1-code-2: NameError: name 'two'")


def test_a_cell_that_cannot_run_twice_is_noticed(tmp_path):
    notebook = notebook_with("total = 1", "total = 2 * total\nprint(total)")
    (run,) = run_or_fail([(each_cell_twice(notebook), tmp_path, [])])
    first, second = (nbformat.v4.new_notebook(cells=run.notebook.cells[time::2]) for time in (0, 1))
    assert list(differences(first, second)) == ["cell-1-first: 2 is stored, 4 came now"]


# -- the package ----------------------------------------------------------------------------

NO_PACKAGE = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "andrea_lesson":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_the_package_the_first_cell_says_how_to_install_it(language, tmp_path):
    notebooks = [notebook_of(name, language) for name in NAMES]
    for notebook in notebooks:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(NO_PACKAGE, id="no-package"))
    for name, result in zip(
        NAMES, run_all([(book, tmp_path, []) for book in notebooks]), strict=True
    ):
        assert isinstance(result, RunError), name
        first = first_code(list(cells_of(name))).key
        words = str(result).split("\n    ")[0]
        assert words.startswith(f"{first}: ModuleNotFoundError: 找不到 andrea_lesson"), name
        assert "andrea_lesson is not installed" in words
        assert words.count("%pip install") == 2


@pytest.mark.parametrize("name", NAMES)
def test_imports_only_the_package_and_what_it_brings(name):
    known = {"andrea_lesson", "numpy", "matplotlib", "ipywidgets", "IPython", "cupy"}
    for cell in cells_of(name):
        if cell.code:
            assert not [line for line in cell.text.split("\n") if line.startswith("!")], cell.key
            for node in ast.walk(ast.parse(cell.text.replace("\n%", "\n#%"))):
                modules = []
                if isinstance(node, ast.Import):
                    modules = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    assert node.level == 0, cell.key
                    modules = [node.module]
                for module in modules:
                    top = module.partition(".")[0]
                    assert top in known or top in sys.stdlib_module_names, (cell.key, module)
