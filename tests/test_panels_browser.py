"""Panels in a real headless Chromium: what the hand moves, what the eye sees, what stays."""

import json
import re

import nbformat
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from lab_server import chromium, lab, lab_page, lab_tab
from playwright.sync_api import expect

import andrea_lesson as al
from andrea_lesson import experiments, panels
from andrea_lesson.panels import scaling, settings
from andrea_lesson.panels.layout import LARGE_WIDTH, WIDTH

pytestmark = pytest.mark.browser

PANELS = [name for name in panels.__all__ if name.endswith("_panel")]
both_languages = pytest.mark.parametrize("language", ["zh-Hant", "en"])


def write_notebook(lab, name, language, *cells):
    """A notebook with a panel a cell, from cell 1 on."""
    first = (
        "import andrea_lesson as al\n"
        f"from andrea_lesson import panels\nal.set_language({language!r})"
    )
    sources = [first, *(cells or (f"panels.{panel}()" for panel in PANELS))]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, lab.folder / name)
    return name


class Shown:
    """One panel on the page."""

    def __init__(self, tab, index, which=0):
        self.page = tab.page
        self.cell = tab.show_cell(index)
        self.root = self.cell.locator(".andrea-panel").nth(which)
        expect(self.parts.first).to_be_visible(timeout=20_000)

    @property
    def parts(self):
        return self.root.locator("canvas.andrea-part")

    def part(self, name):
        return self.root.locator(f'canvas[data-part="{name}"]')

    def control(self, words):
        label = self.page.locator(".widget-label", has_text=re.compile(f"^{re.escape(words)}"))
        return self.root.locator(".widget-inline-hbox").filter(has=label)

    def handle(self, words):
        return self.control(words).locator(".noUi-handle")

    def press(self, words, key, times=1):
        """Move a slider from the keyboard, as a reader without a mouse does."""
        self.handle(words).focus()
        for _ in range(times):
            self.page.keyboard.press(key)

    def readout(self, words):
        return self.control(words).locator(".widget-readout")

    @property
    def summary(self):
        return self.root.locator(".widget-html [role=status]")

    @property
    def reading(self):
        return self.root.locator(".andrea-reading")

    def button(self, words):
        return self.root.locator(".andrea-tools button", has_text=words)

    def picture(self):
        """Every pixel of every canvas, as one number."""
        return self.root.evaluate(
            """(root) => [...root.querySelectorAll('canvas.andrea-part')].map((canvas) => {
                const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                let sum = 0;
                for (let n = 0; n < data.length; n++) sum = (sum * 31 + data[n]) % 1000000007;
                return sum;
            }).join()"""
        )

    def cell_centre(self, name, row, column, rows, columns):
        """Place of a cell on the page: plots lie where the picture says."""
        box = self.page.evaluate(_PLOT, [self.part(name).element_handle()])
        return (
            box["x"] + (column + 0.5) * box["width"] / columns,
            box["y"] + (row + 0.5) * box["height"] / rows,
        )


# The canvas has room for words around the plot; its square is found by its frame's style.
_PLOT = """([canvas]) => {
    const outer = canvas.getBoundingClientRect(), data = canvas.dataset;
    const [x, y, width, height] = data.plot.split(",").map(Number);
    return { x: outer.x + x, y: outer.y + y, width, height };
}"""


def moved(panel, words, key, times, number, said):
    """Press keys at a slider, and see the readout, the words and the picture change."""
    before = panel.picture()
    panel.press(words, key, times)
    expect(panel.readout(words)).to_have_text(number)
    expect(panel.summary).to_contain_text(said, timeout=20_000)
    assert panel.picture() != before


# -- the keyboard, the numbers ---------------------------------------------------------------------


@both_languages
def test_panels_follow_the_keyboard(lab_page, language):
    name = write_notebook(lab_page.lab, f"panels_{language}.ipynb", language)
    lab_page.open(name)
    lab_page.run_all()
    assert lab_page.errors() == []
    for index, panel in enumerate(PANELS, 1):
        FOLLOW[panel](Shown(lab_page, index))
    assert lab_page.errors() == []
    assert lab_page.outside == []


def follow_attention(panel):
    box = panel.root.bounding_box()
    assert panel.root.locator(".andrea-stage").bounding_box()["width"] == WIDTH  # not squeezed
    moved(panel, "d_k", "ArrowRight", 3, "67", "d_k = 67")
    moved(panel, "T", "ArrowLeft", 4, "12", "T = 12")
    Q, K, V = (array.astype("float32") for array in experiments.random_qkv(12, 67))
    steps = al.attention_steps(Q, K, V, mask="causal")
    for number in (
        f"{steps.scores.std():.2f}",
        f"{steps.scaled_scores.std():.2f}",
        f"{float(experiments.effective_keys(steps.weights[-1])):.2f}",
        f"{steps.weights[-1].max():.3f}",
    ):
        expect(panel.summary).to_contain_text(number)
    assert panel.root.bounding_box() == box  # nothing jumps
    # The Tab key leads from slider to number to the next slider.
    panel.handle("T").focus()
    panel.page.keyboard.press("Tab")
    panel.page.keyboard.press("Tab")
    focused = panel.page.evaluate("document.activeElement.closest('.widget-slider').innerText")
    assert "d_k" in focused


def follow_generation(panel):
    before = panel.picture()
    panel.press(al.label("control_step"), "ArrowRight")
    expect(panel.readout(al.label("control_step"))).to_have_text("3")
    expect(panel.root.locator(".andrea-formulas")).to_contain_text("4", timeout=20_000)
    assert panel.picture() != before


def follow_mask(panel):
    moved(panel, "T", "ArrowRight", 2, "10", "T = 10")
    value = panel.root.locator(".widget-dropdown").filter(has_text="1e9").locator("select")
    before = panel.picture()
    value.select_option(label="0")
    expect(panel.root.locator(".widget-html [role=alert]")).to_be_visible(timeout=20_000)
    assert panel.picture() != before


def follow_qkv(panel):
    before = panel.picture()
    panel.press(al.label("control_row"), "ArrowLeft")
    expect(panel.summary).to_contain_text("(", timeout=20_000)
    panel.page.wait_for_timeout(300)
    assert panel.picture() != before


def follow_scaling(panel):
    wider = scaling.WIDTHS[scaling.WIDTHS.index(64) + 2]
    moved(panel, "d_k", "ArrowRight", 2, str(wider), f"d_k = {wider}")
    longer = scaling.LENGTHS[scaling.LENGTHS.index(128) + 1]
    moved(panel, "T", "ArrowRight", 1, str(longer), f"{longer} ")
    weights = al.softmax(experiments.random_row(wider, longer))
    expect(panel.summary).to_contain_text(f"{float(experiments.effective_keys(weights)):.3g}")


def follow_scores(panel):
    moved(panel, "d_k", "ArrowLeft", 4, "60", "d_k = 60")
    Q, K, _ = experiments.random_qkv(8, 60)
    row, column = (int(panel.readout(al.label(f"control_{n}")).inner_text()) for n in ("row", "column"))
    expect(panel.root.locator(".andrea-formulas")).to_contain_text(
        settings.short(float(Q[row] @ K[column]))
    )


def follow_softmax(panel):
    moved(panel, "d_k", "ArrowLeft", 4, "60", "d_k = 60")
    moved(panel, "T", "ArrowRight", 2, "10", "T = 10")
    steps = al.attention_steps(*experiments.random_qkv(10, 60), mask="causal")
    expect(panel.summary).to_contain_text(f"{steps.weights[7].max():.3g}", timeout=20_000)


FOLLOW = {
    "attention_panel": follow_attention,
    "generation_panel": follow_generation,
    "mask_panel": follow_mask,
    "qkv_panel": follow_qkv,
    "scaling_panel": follow_scaling,
    "scores_panel": follow_scores,
    "softmax_panel": follow_softmax,
}
