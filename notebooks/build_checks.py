"""Checks that run nothing: twins against each other, stored notebooks against their sources."""

import ast
import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from build_markdown import take_apart
from build_source import (
    LANGUAGES,
    METADATA,
    VOLATILE,
    Cell,
    Project,
    digest,
    edition,
    first_code,
    read_source,
    structure_problems,
)
from build_words import (
    Glossary,
    chinese_problems,
    code_word_problems,
    label_problems,
    plain_python,
    readme_problems,
)

MAX_BYTES = 1_000_000
_OF_A_RUN = ("outputs", "execution_count")
_MACHINE_PATH = re.compile(r"(?:/tmp|/home|/Users|/root|/var/folders)/|\b[A-Z]:\\")


def check(project: Project, sources: Sequence[Path] = ()) -> Iterator[str]:
    """Everything that is wrong in the lesson's sources and stored notebooks, a line each.

    Parameters
    ----------
    project : Project
    sources : sequence of pathlib.Path
        Those to look at; all by default.  The other files are looked at anyway.
    """
    glossary = Glossary(None)  # with a damaged one, everything else is still checked
    try:
        glossary = Glossary(project.root / "data" / "glossary.csv")
    except (OSError, ValueError, csv.Error) as error:
        yield f"data/glossary.csv: {damage(error)}"
    names = [source.stem for source in project.sources]
    for source in sources or project.sources:
        place = f"notebooks/src/{source.name}"
        try:
            cells = read_source(source)
        except Exception as error:  # whatever a damaged file makes jupytext raise
            yield f"{place}: {damage(error)}"
            continue
        problems = structure_problems(cells)
        yield from (f"{place}: {problem}" for problem in problems)
        if problems:
            continue
        yield from _told(place, twin_problems, cells, names)
        yield from _told(place, chinese_cell_problems, cells, glossary)
        yield from _told(place, code_word_problems, cells)
        yield from _told(place, panel_problems, cells)
        for language in LANGUAGES:
            place = f"notebooks/{language}/{source.stem}.ipynb"
            path = project.notebook(source.stem, language)
            yield from _told(place, stored_problems, path, edition(cells, language))
    for language in LANGUAGES:
        for path in sorted((project.root / "notebooks" / language).glob("*.ipynb")):
            if path.stem not in names:
                yield f"notebooks/{language}/{path.name}: it has no source"
    for path in sorted((project.root / "andrea_lesson").rglob("*.py")):  # words may be anywhere
        name = path.relative_to(project.root).as_posix()
        yield from _told(name, _text_problems, path, label_problems, glossary)
    readme = project.root / "README.md"
    yield from _told("README.md", _text_problems, readme, readme_problems, glossary)


def _text_problems(
    path: Path, problems_of: Callable[[str, Glossary], list[str]], glossary: Glossary
) -> list[str]:
    return problems_of(path.read_text(encoding="utf-8"), glossary)


def _told(place: str, look: Callable[..., Iterable[str]], *arguments: Any) -> Iterator[str]:
    """The problems of one file; what cannot be looked at is one, and stops no other check."""
    try:
        for problem in look(*arguments):
            yield f"{place}: {problem}"
    except Exception as error:
        yield f"{place}: {damage(error)}"


def damage(error: Exception) -> str:
    """What is wrong with a file that cannot be looked at."""
    words = getattr(error, "strerror", None) or str(error).split("\n")[0]
    return f"it is damaged or missing ({type(error).__name__}: {words})"


def twin_problems(cells: list[Cell], names: Iterable[str]) -> Iterator[str]:
    """Where the two languages are not the same lesson.

    Parameters
    ----------
    cells : list of Cell
        Of one source.
    names : iterable of str
        Names of all sources, since a notebook links to no other file.
    """
    chinese, english = (
        {cell.key: cell for cell in cells if cell.lang == language} for language in LANGUAGES
    )
    for key in chinese.keys() - english.keys():
        yield f"{key}: no English twin"
    for key in english.keys() - chinese.keys():
        yield f"{key}: no Chinese twin"
    for before, cell in pairwise(cells):
        if cell.lang == "en" and cell.key in chinese and chinese[cell.key] is not before:
            yield f"{cell.key}: the English twin does not stand right below the Chinese cell"
    for key in (key for key in chinese if key in english):
        original, twin = chinese[key], english[key]
        if twin.of != digest(original.text):
            yield f"{key}: the translation is older than its original (then build.py --stamp)"
        if twin.tags != original.tags:
            yield f"{key}: tags {original.tags} in Chinese, {twin.tags} in English"
        ours, theirs = take_apart(original.text), take_apart(twin.text)
        yield from _differences(key, "formula", ours.formulas, theirs.formulas)
        yield from _differences(key, "code", ours.code, theirs.code)
        yield from _differences(key, "link", ours.links, theirs.links)
        if ours.levels != theirs.levels:
            yield f"{key}: heading levels {ours.levels} in Chinese, {theirs.levels} in English"
        for link in ours.links:
            if not re.match(r"https?://|#$|mailto:", link):
                name = link.partition("#")[0]
                if name.removesuffix(".ipynb") not in names or not name.endswith(".ipynb"):
                    yield f"{key}: {link} is no notebook of the lesson"


def _differences(key: str, what: str, chinese: list[str], english: list[str]) -> Iterator[str]:
    ours, theirs = Counter(chinese), Counter(english)
    for text in (ours - theirs).elements():
        yield f"{key}: {what} missing or changed in English: {text}"
    for text in (theirs - ours).elements():
        yield f"{key}: {what} missing or changed in Chinese: {text}"


def chinese_cell_problems(cells: list[Cell], glossary: Glossary) -> Iterator[str]:
    """Wrong terms and typography in the Chinese cells and in the first code cell."""
    for cell in cells:
        if cell.lang == "zh-Hant":
            yield from (f"{cell.key}: {text}" for text in chinese_problems(cell.text, glossary))
    if setup := first_code(cells):
        yield from (f"{setup.key}: {text}" for text in label_problems(setup.text, glossary))


def panel_problems(cells: list[Cell]) -> Iterator[str]:
    """Panels without a still figure of how they start, by an earlier cell of the same section.

    The figure is for print, and for readers who have no widgets.
    """
    drawn: set[str] = set()
    for cell in cells:
        if cell.code:
            figures, made = _panels_in(cell.text)
            for panel in sorted(made - drawn):
                figure = panel.replace("(", ", ", 1).replace(", )", ")")
                yield f"{cell.key}: no panels.figure({figure} in an earlier cell of the section"
            drawn |= figures
        elif min(take_apart(cell.text).levels, default=9) <= 2:  # a section begins
            drawn = set()


def _panels_in(code: str) -> tuple[set[str], set[str]]:
    """Panels of which a cell draws a figure, and those that it makes, as they would be called."""
    figures: set[str] = set()
    made: set[str] = set()
    try:
        tree = ast.parse(plain_python(code))
    except SyntaxError:  # code_word_problems says so
        return figures, made
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        settings = sorted(ast.unparse(keyword) for keyword in node.keywords)
        values = [ast.unparse(argument) for argument in node.args]
        if name == "panels.figure" and values:
            figures.add(f"{values[0]}({', '.join([*values[1:], *settings])})")
        elif re.fullmatch(r"panels\.\w+_panel", name):
            made.add(f"{name}({', '.join([*values, *settings])})")
    return figures, made


def stored_problems(path: Path, expected: NotebookNode) -> Iterator[str]:
    """What is wrong with a generated notebook, its outputs' numbers apart."""
    if not path.exists():
        yield "it is missing (run build.py)"
        return
    text = path.read_text(encoding="utf-8")
    if len(text.encode("utf-8")) > MAX_BYTES:
        yield f"{len(text.encode('utf-8')):,} bytes are more than {MAX_BYTES:,}"
    stored = json.loads(text)
    if stored["metadata"].get("kernelspec") != METADATA["kernelspec"]:
        yield f"the kernel is not {METADATA['kernelspec']}"
    if "widgets" in stored["metadata"]:
        yield "it stores widget state (metadata.widgets)"
    yield from _drift(stored, json.loads(nbformat.writes(expected)))
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    fresh = [cell["id"] for cell in code if cell.get("execution_count") is None]
    counts = [cell.get("execution_count") for cell in code]
    if not fresh and counts != list(range(1, len(code) + 1)):
        yield "it was not run from top to bottom (run build.py)"
    if fresh:
        more = f" and {len(fresh) - 1} more were" if fresh[1:] else " was"
        yield f"{fresh[0]}{more} never executed (run build.py)"
    for cell in code:
        yield from (f"{cell.get('id')}: {text}" for text in _output_problems(cell))


def _drift(stored: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    """Differences from what the source makes, outputs apart; one line names the first cell."""
    advice = "differs from the source (run build.py)"
    own = {"widgets", "kernelspec"}  # reported by name
    metadata, wanted = (
        {name: value for name, value in notebook["metadata"].items() if name not in own}
        for notebook in (stored, expected)
    )
    if metadata != wanted:
        yield f"notebook metadata {advice}"
    if (stored["nbformat"], stored["nbformat_minor"]) != (
        expected["nbformat"],
        expected["nbformat_minor"],
    ):
        yield f"the format's version {advice}"
    ours, theirs = (
        [
            {part: value for part, value in cell.items() if part not in _OF_A_RUN}
            for cell in notebook["cells"]
        ]
        for notebook in (stored, expected)
    )
    if [cell.get("id") for cell in ours] != [cell["id"] for cell in theirs]:
        yield f"the list of cells {advice}"
        return
    for mine, other in zip(ours, theirs, strict=True):
        for part in sorted({*mine, *other}):
            if mine.get(part) != other.get(part):
                yield f"{mine['id']}: its {part.replace('source', 'text')} {advice}"


def _output_problems(cell: dict[str, Any]) -> Iterator[str]:
    if cell["outputs"] and VOLATILE in cell["metadata"].get("tags", []):
        yield "a volatile cell stores its output"
    for output in cell["outputs"]:
        data = output.get("data", {})
        if output["output_type"] == "error":
            yield f"it stores an error, {output.get('ename')}"
        if output.get("name") == "stderr":
            yield "it stores a warning (stderr)"
        if "application/vnd.jupyter.widget-view+json" in data:
            yield "it stores a widget that a reader without a kernel cannot see"
        words = json.dumps([output.get("text"), data.get("text/plain")], ensure_ascii=False)
        if _MACHINE_PATH.search(words):
            yield "it stores a path of one machine; tag it volatile"
