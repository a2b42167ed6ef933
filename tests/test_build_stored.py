"""What the builder stores, and what it finds when it runs a notebook anew."""
# ruff: noqa: F401, F811 (imported fixtures)

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from tiny_lesson import (
    built,
    edit,
    edit_stored,
    root,
    source_of,
    stored_of,
)

import build
from build_checks import check
from build_run import differences, run_all, tidy
from build_source import Project


def stream(name, text):
    return {"output_type": "stream", "name": name, "text": [text]}


ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "", "traceback": []}
VIEW = "application/vnd.jupyter.widget-view+json"

# what is changed in the stored notebook, and what the check says
STORED = {
    "kernel": (
        lambda nb, cells: nb["metadata"]["kernelspec"].update(name="conda-env-lesson-py"),
        "the kernel is not {",
    ),
    "language of the kernel": (
        lambda nb, cells: nb["metadata"]["kernelspec"].update(language="R"),
        "the kernel is not {",
    ),
    "name of the kernel": (
        lambda nb, cells: nb["metadata"]["kernelspec"].update(display_name="mine"),
        "the kernel is not {",
    ),
    "attachments": (
        lambda nb, cells: cells["claim"].update(attachments={"a.png": {"image/png": "AA=="}}),
        "claim: its attachments differs",
    ),
    "order of a run": (
        lambda nb, cells: cells["numbers"].update(execution_count=9),
        "it was not run from top to bottom",
    ),
    "widgets": (
        lambda nb, cells: nb["metadata"].update(widgets={}),
        "it stores widget state (metadata.widgets)",
    ),
    "metadata": (
        lambda nb, cells: nb["metadata"].update(author="x"),
        "notebook metadata differs from the source",
    ),
    "format": (lambda nb, cells: nb.update(nbformat_minor=4), "the format's version differs"),
    "source": (lambda nb, cells: cells["numbers"].update(source=["1"]), "numbers: its text"),
    "prose": (lambda nb, cells: cells["claim"].update(source=["1"]), "claim: its text differs"),
    "tags": (
        lambda nb, cells: cells["title"]["metadata"].update(tags=[]),
        "title: its metadata differs",
    ),
    "cell lost": (lambda nb, cells: nb["cells"].pop(), "the list of cells differs"),
    "id": (lambda nb, cells: cells["claim"].update(id="x"), "the list of cells differs"),
    "error": (
        lambda nb, cells: cells["numbers"]["outputs"].append(ERROR),
        "numbers: it stores an error, ValueError",
    ),
    "never run": (
        lambda nb, cells: cells["numbers"].update(execution_count=None),
        "numbers was never executed (run build.py)",
    ),
    "volatile": (
        lambda nb, cells: cells["clock"]["outputs"].append(stream("stdout", "1")),
        "clock: a volatile cell stores its output",
    ),
    "warning": (
        lambda nb, cells: cells["numbers"]["outputs"].append(stream("stderr", "x")),
        "numbers: it stores a warning (stderr)",
    ),
    "path": (
        lambda nb, cells: cells["numbers"]["outputs"].append(stream("stdout", "/home/ann/x")),
        "numbers: it stores a path",
    ),
    "view": (
        lambda nb, cells: cells["picture"]["outputs"][0]["data"].update({VIEW: {}}),
        "picture: it stores a widget",
    ),
    "size": (
        lambda nb, cells: cells["numbers"]["outputs"].append(stream("stdout", "x" * 1_000_000)),
        "bytes are more than 1,000,000",
    ),
}


@pytest.mark.parametrize("name", STORED)
def test_a_stored_notebook_with_a_fault_fails(root, name):
    change, message = STORED[name]
    edit_stored(root, change)
    (problem,) = check(Project(root))
    assert problem.startswith("notebooks/zh-Hant/00_tiny.ipynb: ")
    assert message in problem


DAMAGED = {
    "empty": b"",
    "list": b"[]",
    "not utf-8": b"\xff\xfe",
    "no cells": b'{"metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    "no metadata": b'{"cells": [], "nbformat": 4, "nbformat_minor": 5}',
    "cells of nothing": b'{"cells": [3], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_notebook_is_a_problem_and_is_built_anew(root, content, capsys):
    stored_of(root).write_bytes(content)
    edit(root / "README.md", "這是一課", "这是一課,")
    problems = list(check(Project(root)))
    assert any(line.startswith("notebooks/zh-Hant/00_tiny.ipynb: it is dam") for line in problems)
    assert problems[-1].startswith("README.md: ")
    assert build.main(["--rerun"], root) == 1
    assert "the stored notebook is not of this source" in capsys.readouterr().out
    assert build.main(["--no-run"], root) == 0
    assert [cell.id for cell in nbformat.read(stored_of(root), as_version=4).cells][:2] == [
        "title",
        "setup",
    ]


def test_a_failed_run_takes_no_outputs_from_a_damaged_notebook(root, capsys):
    edit(source_of(root), "print(al.label", "print(1 / 0, al.label")
    stored_of(root).write_bytes(b"")
    assert build.main([], root) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_a_missing_or_left_over_notebook_fails(root):
    stored_of(root, "en").rename(root / "notebooks" / "en" / "07_old.ipynb")
    assert list(check(Project(root))) == [
        "notebooks/en/00_tiny.ipynb: it is missing (run build.py)",
        "notebooks/en/07_old.ipynb: it has no source",
    ]


def test_an_edited_source_fails_until_it_is_built(root):
    edit(source_of(root), "[third, 2]", "[third, 3]")
    assert [line.split(": ", 1)[1] for line in check(Project(root))] == [
        "numbers: its text differs from the source (run build.py)"
    ] * 2
    assert build.main(["--no-run"], root) == 0
    assert [line.split(": ", 1)[1] for line in check(Project(root))] == [
        "numbers was never executed (run build.py)"
    ] * 2  # the outputs of the other cells are kept
    assert build.main([], root) == 0
    assert list(check(Project(root))) == []


# -- what is written ---


def test_the_editions_differ_in_one_line_of_code(built):
    chinese, english = (
        [
            cell.source
            for cell in nbformat.read(stored_of(built, language), as_version=4).cells
            if cell.cell_type == "code"
        ]
        for language in ("zh-Hant", "en")
    )
    lines = zip("\n".join(chinese).split("\n"), "\n".join(english).split("\n"), strict=True)
    assert [pair for pair in lines if pair[0] != pair[1]] == [
        ('LANGUAGE = "zh-Hant"', 'LANGUAGE = "en"')
    ]


def test_each_edition_has_its_own_prose_and_words(built):
    for language, title, word in (
        ("zh-Hant", "小小的課", "注意力權重"),
        ("en", "A tiny lesson", "attention weights"),
    ):
        cells = {c.id: c for c in nbformat.read(stored_of(built, language), as_version=4).cells}
        assert list(cells) == ["title", "setup", "claim", "numbers", "picture", "clock"]
        assert cells["title"].source.startswith(f"# {title}")
        assert cells["title"].metadata == {"key": "title", "lang": language, "tags": ["core"]}
        assert cells["numbers"].outputs[0].text.startswith(word)


def test_nothing_of_one_run_is_stored(built):
    cells = {cell.id: cell for cell in nbformat.read(stored_of(built), as_version=4).cells}
    assert cells["clock"].outputs == []
    assert cells["clock"].execution_count == 4
    assert cells["picture"].outputs[0].data["text/plain"] == "<object object>"
    assert all("execution" not in cell.metadata for cell in cells.values())


def test_the_same_source_makes_the_same_bytes(root):
    before = [stored_of(root, language).read_bytes() for language in ("zh-Hant", "en")]
    assert build.main(["00"], root) == 0
    assert [stored_of(root, language).read_bytes() for language in ("zh-Hant", "en")] == before


def test_tidy_keeps_the_picture_of_a_widget_and_joins_streams():
    cell = nbformat.v4.new_code_cell("x", execution_count=9)
    for data in ({VIEW: {"model_id": "1"}, "image/png": "AA=="}, {VIEW: {"model_id": "2"}}):
        cell.outputs.append(nbformat.v4.new_output("display_data", data))
    for text in ("1 ", "2"):
        cell.outputs.append(nbformat.v4.new_output("stream", name="stdout", text=text))
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {}})
    tidied = tidy(notebook)
    assert [output.get("data", output.get("text")) for output in tidied.cells[0].outputs] == [
        {"image/png": "AA=="},
        {VIEW: {"model_id": "2"}},  # without a picture; the check reports it
        "1 2",
    ]
    assert tidied.cells[0].execution_count == 1
    assert "widgets" not in tidied.metadata
    assert "widgets" in notebook.metadata  # the argument stays as it was


@pytest.mark.parametrize(
    "arguments",
    [["08"], ["00", "08"], ["--check", "08"], ["--stamp", "08", "all"], ["--stamp", "00", "08"]],
)
def test_an_unknown_name_is_refused(built, arguments):
    with pytest.raises(SystemExit, match="08"):
        build.main(arguments, built)


def test_a_stamp_is_for_one_source(root):
    other = source_of(root).with_name("00_twin.py")
    other.write_bytes(source_of(root).read_bytes())
    with pytest.raises(SystemExit, match="More than one source"):
        build.main(["--stamp", "00", "all"], root)
    assert [line.split(":")[0] for line in check(Project(root), [other])] == [
        "notebooks/zh-Hant/00_twin.ipynb",  # missing
        "notebooks/en/00_twin.ipynb",
    ]


# -- running ---


def one_cell(code):
    cell = nbformat.v4.new_code_cell(code, id="only")
    return nbformat.v4.new_notebook(cells=[cell])


def test_a_kernel_has_the_folder_and_the_settings_of_a_build(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.delenv("ANDREA_STRICT", raising=False)
    startup = tmp_path / "ipython" / "profile_default" / "startup" / "00.py"
    startup.parent.mkdir(parents=True)
    startup.write_text("import os; os.environ['ANDREA_STRICT'] = 'mine'", encoding="utf-8")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))  # it is not the build's
    code = 'import os; print(os.getcwd(), os.environ["ANDREA_STRICT"], os.environ["MPLBACKEND"])'
    (run,) = run_all([(one_cell(code), tmp_path, ["print(7)"])])
    folder, strict, backend = run.notebook.cells[0].outputs[0].text.split()
    assert Path(folder) == tmp_path.resolve()
    assert strict == "1"
    assert "inline" in backend
    assert run.after == ["7\n"]
    assert len(run.notebook.cells) == 1
    assert 0 <= run.seconds["only"] < 10


def test_a_kernel_that_does_not_start_is_tried_again(tmp_path, monkeypatch):
    execute, calls = NotebookClient.async_execute, []

    async def fails_at_first(self, *arguments, **settings):
        calls.append(1)
        if len(calls) < 3:
            raise RuntimeError("Kernel died before replying to kernel_info")
        return await execute(self, *arguments, **settings)

    monkeypatch.setattr(NotebookClient, "async_execute", fails_at_first)
    (run,) = run_all([(one_cell("print(8)"), tmp_path, [])])
    assert run.notebook.cells[0].outputs[0].text == "8\n"


def test_a_cell_that_fails_is_named_and_the_old_outputs_stay(root, capsys):
    edit(source_of(root), "print(al.label", "print(1 / 0, al.label")
    assert build.main([], root) == 1
    output = capsys.readouterr().out
    assert "notebooks/zh-Hant/00_tiny.ipynb: numbers: " in output
    assert "ZeroDivisionError" in output
    cells = {cell.id: cell for cell in nbformat.read(stored_of(root), as_version=4).cells}
    assert cells["picture"].outputs
    assert cells["numbers"].outputs == []


def test_rerun_compares_three_digits(root, capsys):
    assert build.main(["--rerun"], root) == 0

    def nudge(old, new):
        def change(notebook, cells):
            cells["numbers"]["outputs"][0]["text"] = [
                line.replace(old, new) for line in cells["numbers"]["outputs"][0]["text"]
            ]

        return change

    edit_stored(root, nudge("0.3333333333333333", "0.33341"))
    assert build.main(["--rerun"], root) == 0
    edit_stored(root, nudge("0.33341", "0.334"))
    capsys.readouterr()
    assert build.main(["--rerun"], root) == 1
    line = "notebooks/zh-Hant/00_tiny.ipynb: numbers: 0.334 is stored, 0.333333 came now"
    assert line in capsys.readouterr().out


def test_rerun_needs_a_notebook_of_this_source(root, capsys):
    edit_stored(root, lambda notebook, cells: notebook["cells"].pop())
    stored_of(root, "en").unlink()
    assert build.main(["--rerun"], root) == 1
    assert capsys.readouterr().out.count("the stored notebook is not of this source") == 2


def printing(text, kind="stdout"):
    notebook = one_cell("x")
    notebook.cells[0].outputs = [nbformat.v4.new_output("stream", name=kind, text=text)]
    return notebook


@pytest.mark.parametrize(("stored", "fresh", "same"), [
    ("[0.1234 -2.5]", "[ 0.12341  -2.5 ]", True),
    ("1,234,567", "1,234,987", True),
    ("1,234,567", "1,284,567", False),
    ("-0.5", "0.5", False),
    ("−0.5", "−0.6", False),
    ("1e-05", "2e-05", False),
    ("1.1e-16", "2.2e-16", True),  # rounding, not a result
    ("(6, 5)", "(6, 4)", False),
    ("nan", "0.", False),
    ("1 2", "1 2 3", False),
    ("True", "False", False),
    ("rank 8", "Rang 8", False),
    ("<object at 0x7f01>", "<object at 0x7f02>", True),
])  # fmt: skip
def test_differences(stored, fresh, same):
    assert (list(differences(printing(stored), printing(fresh))) == []) is same


@pytest.mark.parametrize(
    ("stored", "fresh", "same"),
    [
        ("<td>0.5</td>", "<td>0.6</td>", False),
        ("<td width=1>0.5</td>", "<td width=2>0.5</td>", True),
        ("<style>url(AA1)</style>0.5", "<style>url(AA2)</style>0.5", True),
    ],
)
def test_differences_of_tables_are_those_that_a_reader_sees(stored, fresh, same):
    notebooks = [one_cell("x"), one_cell("x")]
    for notebook, html in zip(notebooks, (stored, fresh), strict=True):
        data = {"text/html": html, "text/plain": "Table"}
        notebook.cells[0].outputs = [nbformat.v4.new_output("display_data", data)]
    assert (list(differences(*notebooks)) == []) is same


def test_a_lost_picture_is_a_difference():
    with_picture = one_cell("x")
    with_picture.cells[0].outputs = [
        nbformat.v4.new_output("display_data", {"image/png": "AA==", "text/plain": "<Figure 1>"})
    ]
    assert list(differences(with_picture, with_picture)) == []
    assert list(differences(with_picture, one_cell("x"))) == [
        "only: 1 pictures are stored, 0 came now"
    ]
