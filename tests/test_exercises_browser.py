"""Guess, answer, hint, correction and progress in JupyterLab, with the keyboard alone."""

import json

import pytest
from lab_server import chromium, lab, lab_page

NAME = "by-keyboard.ipynb"
CELLS = (
    'import andrea_lesson as al\nal.set_language("en")',
    'al.guess_curve("02_keys", [1, 4], lambda: [1, 2], x_label="d_k", y_label="std",'
    " y_limits=(0, 4))",
    'al.check.d_k_of_andrea({"ANDREA-12M": 32, "ANDREA-120M": 64, "ANDREA-480M": 32})',
    'al.hint("d_k_of_andrea")',
    "al.progress()",
)


@pytest.fixture
def page(lab_page):
    """A tab with a notebook of these cells, nothing run yet."""
    cells = [
        {"cell_type": "code", "id": f"cell-{n}", "source": source, "outputs": [], "metadata": {}}
        | {"execution_count": None}
        for n, source in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    whole = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    path = lab_page.lab.folder / NAME
    path.write_text(json.dumps(whole), encoding="utf-8")
    lab_page.open(NAME)
    yield lab_page
    path.unlink()


def run_cell(page, count=1):
    for _ in range(count):
        page.page.keyboard.press("Shift+Enter")
    page.wait_until_idle()


def tab_to(page, wanted, most=60):
    """Press Tab until what has the focus is called so."""
    names = []
    for _ in range(most):
        page.page.keyboard.press("Tab")
        names.append(
            page.page.evaluate(
                "() => document.activeElement.getAttribute('aria-label')"
                " || document.activeElement.textContent"
            )
        )
        if wanted in names[-1]:
            return
    raise AssertionError(f"{wanted!r} is not among {[name[:30] for name in names]}")


def output_of(page, cell):
    """What a cell shows, read without going there."""
    return json.dumps(page.cells()[cell]["outputs"], ensure_ascii=False)


@pytest.mark.browser
def test_guess_answer_hint_correction_and_progress(page):
    keys = page.page.keyboard
    run_cell(page, 2)  # the start, and the guess
    keys.press("Escape")
    keys.press("ArrowUp")  # back to the cell with the guess
    tab_to(page, "d_k = 1")
    for key in ("ArrowUp", "ArrowRight", "ArrowUp", "Enter"):
        keys.press(key)
    page.page.locator(".andrea-guess-done").wait_for()
    keys.press("Escape")  # back to the notebook
    keys.press("ArrowDown")

    run_cell(page)  # the answer
    assert "✗" in output_of(page, 2)
    assert "ANDREA-480M" in output_of(page, 2)
    run_cell(page)  # the hint
    assert "1" in output_of(page, 3)

    keys.press("Escape")
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    keys.press("Enter")  # into the cell with the answer
    keys.press("Control+End")
    for _ in "32})":
        keys.press("Backspace")
    keys.type("64})")
    keys.press("Shift+Enter")
    page.wait_until_idle()
    assert "✓" in output_of(page, 2)

    keys.press("Escape")
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    run_cell(page)
    assert "exercises passed: 1 of 2" in output_of(page, 4)
    assert "guesses made: 1" in output_of(page, 4)
    assert page.errors() == []
