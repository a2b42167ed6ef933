"""Write, run and check the lesson's notebooks.

    python notebooks/build.py [NAME …]           write and run both editions
    python notebooks/build.py --no-run [NAME …]  write them; unchanged cells keep their outputs
    python notebooks/build.py --check [NAME …]   fail on drift, stale translations, wrong words
    python notebooks/build.py --warn             list forms that may be wrong, for a reader
    python notebooks/build.py --rerun [NAME …]   run anew and compare with the stored numbers
    python notebooks/build.py --stamp NAME KEY … (or all)  these translations are up to date
    python notebooks/build.py --nbgrader FOLDER [NAME …]   exercises with solutions, for grading

A NAME is the beginning of a source's name, such as ``01``.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

sys.path.insert(0, str(Path(__file__).resolve().parent))  # run as a script or imported alike

from build_checks import check, damage
from build_run import EXERCISE_PANELS, Run, RunError, differences, run_all, tidy
from build_source import LANGUAGES, Cell, Project, edition, read_source, stamp, structure_problems
from build_words import Glossary, chinese_warnings


def read_stored(path: Path) -> NotebookNode | None:
    """The generated notebook as it is stored, if there is one and it is whole."""
    try:
        stored: NotebookNode = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        nbformat.validate(stored)
    except Exception:  # missing, or damaged in one of many ways
        return None
    return stored


def write(notebook: NotebookNode, path: Path) -> None:
    """Store a notebook, the same bytes for the same content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def with_old_outputs(notebook: NotebookNode, stored: NotebookNode | None) -> NotebookNode:
    """Give code cells that are unchanged the outputs that are stored; changed in place."""
    old = {} if stored is None else {cell.get("id"): cell for cell in stored.cells}
    for cell in notebook.cells:
        before = old.get(cell.id)
        if cell.cell_type == "code" and before and before.source == cell.source:
            cell.outputs, cell.execution_count = before.outputs, before.execution_count
    return tidy(notebook)


def chosen(project: Project, names: Sequence[str]) -> list[Path]:
    """Sources whose names begin as asked, or all."""
    stems = [path.stem for path in project.sources]
    for name in names or [""]:
        if not any(stem.startswith(name) for stem in stems):
            raise SystemExit(f"No source in notebooks/src is named {name or '…'}.")
    return [path for path in project.sources if path.stem.startswith(tuple(names) or "")]


def cells_of(source: Path) -> list[Cell]:
    """The cells of a source; a damaged one ends the command with a line."""
    try:
        return read_source(source)
    except Exception as error:
        raise SystemExit(f"{source.name}: {damage(error)}") from None


def run_editions(
    project: Project, sources: Sequence[Path]
) -> list[tuple[str, str, NotebookNode, Run | RunError]]:
    """Run both editions of the sources in an empty folder: name, language, notebook, result."""
    editions = []
    for source in sources:
        cells = cells_of(source)
        if problems := structure_problems(cells):
            raise SystemExit("\n".join(f"{source.name}: {problem}" for problem in problems))
        editions += [(source.stem, lang, edition(cells, lang)) for lang in LANGUAGES]
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(notebook, Path(folder), [EXERCISE_PANELS]) for _, _, notebook in editions]
        return [(*one, run) for one, run in zip(editions, run_all(jobs), strict=True)]


def build(project: Project, sources: Sequence[Path]) -> list[str]:
    """Write and run; a notebook that fails is written without outputs of its failed run."""
    problems = []
    for name, language, notebook, run in run_editions(project, sources):
        path = project.notebook(name, language)
        if isinstance(run, RunError):
            problems.append(f"notebooks/{language}/{name}.ipynb: {run}")
            write(with_old_outputs(notebook, read_stored(path)), path)
        else:
            write(tidy(run.notebook), path)
            slowest = max(run.seconds, key=run.seconds.__getitem__)
            print(
                f"{language}/{name}: {sum(run.seconds.values()):.1f} s, "
                f"the slowest cell {slowest} {run.seconds[slowest]:.1f} s"
            )
    return problems


def rerun(project: Project, sources: Sequence[Path]) -> list[str]:
    """Run anew and compare what is printed with what is stored."""
    problems = []
    for name, language, notebook, run in run_editions(project, sources):
        stored = read_stored(project.notebook(name, language))
        if isinstance(run, RunError):
            found = [str(run)]
        elif stored is None or [c.get("id") for c in stored.cells] != [
            c.id for c in notebook.cells
        ]:
            found = ["the stored notebook is not of this source (run build.py)"]
        else:
            found = list(differences(stored, run.notebook))
        problems += [f"notebooks/{language}/{name}.ipynb: {problem}" for problem in found]
    return problems


def main(arguments: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Do what the command line says, in the checkout at `root`; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    what = parser.add_mutually_exclusive_group()
    for option in ("--no-run", "--check", "--warn", "--rerun"):
        what.add_argument(option, action="store_true")
    what.add_argument("--stamp", nargs="+", metavar=("NAME", "KEY"))
    what.add_argument("--nbgrader", type=Path, metavar="FOLDER")
    options = parser.parse_args(arguments)
    project = Project(root or Path(__file__).resolve().parents[1])
    began = time.perf_counter()
    problems: list[str] = []
    if options.stamp:
        name, *keys = options.stamp
        source, *more = chosen(project, [name])
        if more:
            raise SystemExit(f"More than one source in notebooks/src begins with {name}.")
        try:
            print("stamped:", ", ".join(stamp(source, keys)) or "nothing to change")
        except KeyError as error:
            raise SystemExit(error.args[0]) from None
    elif options.nbgrader is not None:
        from build_nbgrader import export  # with the exercises, which the rest does not need

        sources = {source.stem: cells_of(source) for source in chosen(project, options.names)}
        for path in export(project, sources, options.nbgrader):
            print(path)
    elif options.check:
        problems = list(check(project, chosen(project, options.names)))
    elif options.warn:
        try:
            glossary = Glossary(project.root / "data" / "glossary.csv")
        except (OSError, ValueError) as error:
            raise SystemExit(f"data/glossary.csv: {damage(error)}") from None
        for source in project.sources:
            for cell in cells_of(source):
                for message in chinese_warnings(cell, glossary):
                    print(f"{source.name}: {cell.key}: {message}")
    elif options.rerun:
        problems = rerun(project, chosen(project, options.names))
    elif options.no_run:
        for source in chosen(project, options.names):
            cells = cells_of(source)
            problems += [f"{source.name}: {text}" for text in structure_problems(cells)]
            for language in LANGUAGES if not problems else ():
                path = project.notebook(source.stem, language)
                write(with_old_outputs(edition(cells, language), read_stored(path)), path)
    else:
        problems = build(project, chosen(project, options.names))
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(problems)} problems, {time.perf_counter() - began:.1f} s")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
