"""Panels in a real headless Chromium: pointing, choosing, tables, files and Play."""

import re

import numpy as np
import pytest
from lab_server import chromium, lab, lab_page, lab_tab
from playwright.sync_api import expect
from shown_panel import Shown, both_languages, write_notebook

import andrea_lesson as al
from andrea_lesson import experiments
from andrea_lesson.panels import settings

pytestmark = pytest.mark.browser


# -- pointing, choosing, leaving -------------------------------------------------------------------


def reading_of(Q, K, V, row, column):
    """What a reading must say of a visible cell."""
    steps = al.attention_steps(Q, K, V, mask="causal")
    return [
        settings.short(float(array[row, column]))
        for array in (steps.scores, steps.scaled_scores, steps.weights)
    ]


def example_vectors():
    example = al.running_example()
    return [
        array.astype("float32")
        for array in al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
    ]


@both_languages
def test_pointing_shows_tokens_score_and_weight_and_a_click_chooses(lab_page, language):
    name = write_notebook(
        lab_page.lab, f"point_{language}.ipynb", language, 'panels.attention_panel("example")'
    )
    lab_page.open(name)
    lab_page.run_all()
    panel, page = Shown(lab_page, 1), lab_page.page
    al.set_language(language)
    tokens = al.running_example().tokens
    before = panel.picture()
    for part in ("scores", "weights"):  # linked: the same reading from either
        page.mouse.move(*panel.cell_centre(part, 4, 3, 6, 6))
        for words in (tokens[4], tokens[3], *reading_of(*example_vectors(), 4, 3)):
            expect(panel.reading).to_contain_text(words)
    page.mouse.move(*panel.cell_centre("weights", 1, 4, 6, 6))
    expect(panel.reading).to_contain_text(al.label("live_hidden_value", value="0"))
    assert panel.picture() == before  # pointing lights up, and changes nothing
    assert panel.readout(al.label("control_row")).inner_text() == "5"
    page.mouse.click(*panel.cell_centre("weights", 4, 3, 6, 6))
    expect(panel.readout(al.label("control_row"))).to_have_text("4")
    expect(panel.readout(al.label("control_column"))).to_have_text("3")
    expect(panel.root.locator(".andrea-formulas")).to_contain_text("[4, 3]")


def test_the_keyboard_alone_reaches_chooses_and_leaves(lab_page):
    name = write_notebook(
        lab_page.lab, "keys.ipynb", "zh-Hant", 'panels.attention_panel("example")', "1 + 1"
    )
    lab_page.open(name)
    lab_page.run_all()
    panel, page = Shown(lab_page, 1), lab_page.page
    # Tab leads from the last control into the matrices, one after the other.
    panel.root.locator("input[type=checkbox]").last.focus()
    for _ in range(12):  # past the seed and the buttons over the picture
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset?.part") == "scores":
            break
    assert page.evaluate("document.activeElement.dataset.part") == "scores"
    row, column = (panel.readout(al.label(f"control_{name}")) for name in ("row", "column"))
    expect(row).to_have_text("5")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(row).to_have_text("4")
    expect(column).to_have_text("1")
    expect(panel.root.locator(".andrea-spoken")).to_contain_text(al.running_example().tokens[4])
    page.keyboard.press("Control+Home")
    expect(row).to_have_text("0")
    expect(column).to_have_text("0")
    leave_with_escape(lab_page, panel)
    # And from ipywidgets' own controls, which keep the keyboard by themselves.
    for inside in (
        panel.handle("d_k"),
        panel.handle("T"),
        panel.root.locator("input[type=checkbox]").first,
        panel.root.locator("select").first,
        panel.button(al.label("live_table")),
    ):
        if inside.get_attribute("disabled") is not None:
            continue
        page.evaluate("() => window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1")
        inside.focus()
        leave_with_escape(lab_page, panel)


_ACTIVE_CELL = "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
_MODE = "() => window.jupyterapp.shell.currentWidget.content.mode"


def leave_with_escape(tab, panel):
    """Escape leaves the panel; the arrow keys then move among cells again."""
    page = tab.page
    page.keyboard.press("Escape")
    assert not panel.root.evaluate("(root) => root.contains(document.activeElement)")
    before = page.evaluate(_ACTIVE_CELL)
    page.keyboard.press("ArrowDown" if before < 2 else "ArrowUp")
    page.wait_for_timeout(150)
    assert page.evaluate(_ACTIVE_CELL) != before
    assert page.evaluate(_MODE) == "command"


def test_touch_chooses_a_cell(chromium, lab):
    name = write_notebook(lab, "touch.ipynb", "en", 'panels.attention_panel("example")')
    with lab_tab(chromium, lab, has_touch=True) as tab:
        tab.open(name)
        tab.run_all()
        panel = Shown(tab, 1)
        tab.page.touchscreen.tap(*panel.cell_centre("masked_scores", 3, 2, 6, 6))
        expect(panel.readout("row")).to_have_text("3")
        expect(panel.readout("column")).to_have_text("2")
        expect(panel.reading).to_contain_text("library")


def test_large_matrices_are_read_cell_by_cell(lab_page):
    name = write_notebook(lab_page.lab, "large.ipynb", "en", "panels.attention_panel(T=1024)")
    lab_page.open(name)
    lab_page.run_all()
    panel, page = Shown(lab_page, 1), lab_page.page
    Q, K, V = (
        np.ascontiguousarray(array, dtype="float32") for array in experiments.random_qkv(1024, 64)
    )
    page.mouse.move(*panel.cell_centre("weights", 899, 297, 1024, 1024))
    expect(panel.reading).not_to_contain_text("query 1023", timeout=10_000)  # chosen at the start
    said = panel.reading.inner_text()
    row, column = (int(re.search(rf"{axis} (\d+)", said)[1]) for axis in ("query", "key"))
    assert abs(row - 899) < 8
    assert abs(column - 297) < 8
    for number in reading_of(Q, K, V, row, column):
        assert number in said
    page.mouse.click(*panel.cell_centre("weights", 899, 297, 1024, 1024))
    expect(panel.readout("row")).to_have_text(str(row), timeout=10_000)
    page.mouse.move(5, 5)
    page.wait_for_timeout(400)  # which cell the dot stands for is known by now
    panel.part("weights").focus()
    page.keyboard.press("ArrowUp")
    expect(panel.readout("row")).to_have_text(str(row - 1), timeout=10_000)


# -- tables, files, Play ---------------------------------------------------------------------------


@both_languages
def test_tables_hold_the_same_numbers_and_follow_the_controls(lab_page, language):
    name = write_notebook(
        lab_page.lab, f"tables_{language}.ipynb", language, 'panels.attention_panel("example")'
    )
    lab_page.open(name)
    lab_page.run_all()
    panel = Shown(lab_page, 1)
    al.set_language(language)
    panel.button(al.label("live_table")).click()
    expect(panel.parts.first).to_be_hidden()
    tables = panel.root.locator(".andrea-tables table")
    expect(tables).to_have_count(5)
    steps = al.attention_steps(*example_vectors(), mask="causal")

    def shown(which):
        return which.evaluate(
            "(t) => [...t.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent))"
        )

    rows = shown(tables.nth(3))
    tokens = al.running_example().tokens
    for i in range(6):
        assert tokens[i] in rows[i][0]
        for j in range(6):
            hidden = al.label("live_hidden_value", value="0")
            words = settings.short(float(steps.weights[i, j])) if j <= i else hidden
            assert rows[i][j + 1] == words
    assert tables.nth(3).locator("th[scope=col]").count() == 7
    assert tables.nth(3).locator("th[scope=row]").count() == 6
    panel.root.locator("input[type=checkbox]").first.uncheck()  # divide by √d_k
    raw = al.attention_steps(*example_vectors(), mask="causal", scale=1.0)
    expect(tables.nth(3).locator("tbody tr").nth(5)).to_contain_text(
        settings.short(float(raw.weights[5, 4]))
    )


def test_pictures_are_saved_as_png_and_svg(lab_page, tmp_path):
    name = write_notebook(lab_page.lab, "save.ipynb", "en", "panels.mask_panel()")
    lab_page.open(name)
    lab_page.run_all()
    panel = Shown(lab_page, 1)
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        with lab_page.page.expect_download() as download:
            panel.button(kind.upper()).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        assert path.suffix == f".{kind}"
        assert path.read_bytes().startswith(start)


def test_play_goes_through_the_steps_and_pauses(lab_page):
    name = write_notebook(lab_page.lab, "play.ipynb", "en", "panels.generation_panel(step=0)")
    lab_page.open(name)
    lab_page.run_all()
    panel = Shown(lab_page, 1)
    step = panel.readout("step")
    expect(step).to_have_text("0")
    play = panel.root.locator(".andrea-tools button").first
    play.click()
    expect(step).to_have_text("2", timeout=10_000)
    play.click()
    lab_page.page.wait_for_timeout(300)
    at = step.inner_text()
    lab_page.page.wait_for_timeout(1800)
    assert step.inner_text() == at  # it stands
    play.click()
    expect(step).to_have_text("5", timeout=15_000)


def test_with_less_motion_play_takes_one_step(chromium, lab):
    name = write_notebook(lab, "calm.ipynb", "en", "panels.generation_panel(step=0)")
    with lab_tab(chromium, lab, reduced_motion="reduce") as tab:
        tab.open(name)
        tab.run_all()
        panel = Shown(tab, 1)
        panel.root.locator(".andrea-tools button").first.click()
        expect(panel.readout("step")).to_have_text("1", timeout=10_000)
        tab.page.wait_for_timeout(1800)
        expect(panel.readout("step")).to_have_text("1")
