"""The lesson's sources: one py:percent file a notebook, both languages in it.

A markdown cell carries ``lang`` and a ``key`` that it shares with its twin; a code cell carries
a ``key`` and belongs to both editions.  Traditional Chinese is the original: its English twin
stands right below it and records in ``of`` the digest of the text it was made from.
"""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

LANGUAGES = ("zh-Hant", "en")
VOLATILE = "volatile"  # tag of cells whose output belongs to a time or a machine
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_KEY = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what a cell id may be made of
_LANGUAGE_LINE = re.compile(r'^LANGUAGE = "[^"]*"$', re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """One cell of a source.

    Attributes
    ----------
    code : bool
        Code, or else markdown.
    key : str
        Shared by twins, unique otherwise; empty if the source gives none.
    lang : str
        Language of a markdown cell; empty for code.
    of : str
        Digest of the Chinese text that an English cell was made from; empty otherwise.
    tags : tuple of str
        Such as ``core`` and ``volatile``.
    unknown : tuple of str
        Names of metadata that mean nothing here, misspelt perhaps.
    text : str
        The source of the cell.
    """

    code: bool
    key: str
    lang: str
    of: str
    tags: tuple[str, ...]
    unknown: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Project:
    """Where things stand in a checkout (or in a test's small copy of one)."""

    root: Path

    @property
    def sources(self) -> list[Path]:
        """All sources, in reading order."""
        return sorted((self.root / "notebooks" / "src").glob("*.py"))

    def notebook(self, name: str, language: str) -> Path:
        """Path of the generated notebook of a source."""
        return self.root / "notebooks" / language / f"{name}.ipynb"


def digest(text: str) -> str:
    """First 12 hex digits of the SHA-256 of a cell's text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


def read_source(path: Path) -> list[Cell]:
    """Read the cells of a source, in order."""
    notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    return [_cell(node) for node in notebook.cells]


def _cell(node: NotebookNode) -> Cell:
    meta = dict(node.metadata)
    meta.pop("lines_to_next_cell", None)  # jupytext's own note
    return Cell(
        code=node.cell_type == "code",
        key=str(meta.pop("key", "")),
        lang=str(meta.pop("lang", "")),
        of=str(meta.pop("of", "")),
        tags=tuple(meta.pop("tags", ())),
        unknown=tuple(meta),
        text=node.source,
    )


def first_code(cells: list[Cell]) -> Cell | None:
    """The cell that imports the package and holds the edition's language."""
    return next((cell for cell in cells if cell.code), None)


def structure_problems(cells: list[Cell]) -> list[str]:
    """What keeps a notebook from being made at all, as ``key: message`` lines."""
    problems = []
    seen: set[tuple[str, str]] = set()
    code_keys = {cell.key for cell in cells if cell.code}
    for cell in cells:
        where = cell.key or repr(cell.text.strip().split("\n")[0][:30])
        if not cell.key:
            problems.append(f"{where}: the cell has no key")
        elif not _KEY.fullmatch(cell.key):
            problems.append(f"{where}: a key is 1 to 64 letters, digits, - and _")
        elif (cell.lang, cell.key) in seen:
            problems.append(f"{where}: the key is used twice")
        elif not cell.code and cell.key in code_keys:
            problems.append(f"{where}: the key is used for markdown and for code")
        seen.add((cell.lang, cell.key))
        if cell.code and cell.lang:
            problems.append(f"{where}: a code cell belongs to both languages and has no lang")
        if not cell.code and cell.lang not in LANGUAGES:
            problems.append(f"{where}: a markdown cell needs lang, zh-Hant or en")
        if cell.unknown:
            problems.append(f"{where}: unknown metadata {', '.join(cell.unknown)}")
        if not cell.text.strip():
            problems.append(f"{where}: the cell is empty")
    first = first_code(cells)
    if first is None or len(_LANGUAGE_LINE.findall(first.text)) != 1:
        problems.append('the first code cell needs one line LANGUAGE = "zh-Hant"')
    return problems


def edition(cells: list[Cell], language: str) -> NotebookNode:
    """Make the notebook of one language, without outputs."""
    setup = first_code(cells)
    notebook: NotebookNode = nbformat.v4.new_notebook(metadata=METADATA)
    for cell in cells:
        if cell.lang not in ("", language):
            continue
        text = cell.text
        if cell is setup:
            text = _LANGUAGE_LINE.sub(f'LANGUAGE = "{language}"', text)
        metadata = {"key": cell.key, "tags": list(cell.tags)}
        if cell.code:
            new = nbformat.v4.new_code_cell(text, id=cell.key, metadata=metadata)
        else:
            metadata["lang"] = cell.lang
            new = nbformat.v4.new_markdown_cell(text, id=cell.key, metadata=metadata)
        notebook.cells.append(new)
    nbformat.validate(notebook)
    return notebook


def stamp(path: Path, keys: Collection[str]) -> list[str]:
    """Write into English cells the digest of the Chinese text that they now translate.

    Parameters
    ----------
    path : pathlib.Path
        The source, changed in place.
    keys : collection of str
        Keys of the cells, or ``all``.

    Returns
    -------
    list of str
        Keys whose digest changed.
    """
    originals = {cell.key: cell for cell in read_source(path) if cell.lang == "zh-Hant"}
    chosen = set(originals) if "all" in keys else set(keys)
    if missing := sorted(chosen - set(originals)):
        raise KeyError(f"{path.name} has no Chinese cell {', '.join(missing)}")
    changed = []
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines):
        key = re.search(r'\bkey="([^"]*)"', line)
        if not line.startswith("# %% [markdown]") or 'lang="en"' not in line or key is None:
            continue
        if key[1] in chosen:
            bare = re.sub(r'\s+of="[^"]*"', "", line)
            now = bare.replace(key[0], f'{key[0]} of="{digest(originals[key[1]].text)}"')
            if now != line:
                lines[number] = now
                changed.append(key[1])
    path.write_text("\n".join(lines), encoding="utf-8")
    return changed
