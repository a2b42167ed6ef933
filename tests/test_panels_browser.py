"""Panels in a real headless Chromium: what the hand moves, what the eye sees, what stays."""

import json
import re

import nbformat
import pytest
from lab_server import chromium, lab, lab_page, lab_tab
from playwright.sync_api import expect

import andrea_lesson as al
from andrea_lesson import experiments
from andrea_lesson.panels import scaling
from andrea_lesson.panels.view import WIDTH

pytestmark = pytest.mark.browser

PANELS = ("attention", "scaling", "mask", "softmax")


def write_notebook(lab, name, language):
    """A notebook with a panel a cell, from cell 1 on."""
    sources = [
        "import andrea_lesson as al\n"
        f"from andrea_lesson import panels\nal.set_language({language!r})",
        *(f"panels.{panel}_panel()" for panel in PANELS),
    ]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, lab.folder / name)
    return name


class Shown:
    """One panel on the page."""

    def __init__(self, tab, index):
        self.page = tab.page
        self.cell = tab.show_cell(index)
        self.image = self.cell.locator(".andrea-panel img")
        expect(self.image).to_be_visible(timeout=20_000)

    def control(self, words):
        label = self.page.locator(".widget-label", has_text=re.compile(f"^{words}"))
        return self.cell.locator(".widget-inline-hbox").filter(has=label)

    def press(self, words, key, times=1):
        """Move a slider from the keyboard, as a reader without a mouse does."""
        handle = self.control(words).locator(".noUi-handle")
        handle.focus()
        for _ in range(times):
            self.page.keyboard.press(key)

    def readout(self, words):
        return self.control(words).locator(".widget-readout")

    @property
    def summary(self):
        return self.cell.locator("[role=status]")

    def bytes_of_picture(self):
        return self.image.evaluate(
            "async (image) => Array.from(new Uint8Array("
            "await (await fetch(image.src)).arrayBuffer())).join()"
        )


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_panels_follow_the_keyboard(lab_page, language):
    name = write_notebook(lab_page.lab, f"panels_{language}.ipynb", language)
    lab_page.open(name)
    lab_page.run_all()
    assert lab_page.errors() == []
    follow_attention(Shown(lab_page, 1))
    follow_scaling(Shown(lab_page, 2))
    follow_mask(Shown(lab_page, 3))
    follow_softmax(Shown(lab_page, 4))
    assert lab_page.errors() == []
    assert lab_page.outside == []


def moved(panel, words, key, times, number, said):
    """Press keys at a slider, and see the readout, the words and the picture change."""
    before = panel.bytes_of_picture()
    panel.press(words, key, times)
    expect(panel.readout(words)).to_have_text(number)
    expect(panel.summary).to_contain_text(said, timeout=20_000)
    assert panel.bytes_of_picture() != before


def follow_attention(panel):
    assert panel.image.evaluate("image => image.naturalWidth") == WIDTH
    box = panel.image.bounding_box()
    assert box["width"] == WIDTH  # not squeezed at 1366 × 768
    moved(panel, "d_k", "ArrowRight", 3, "67", "d_k = 67")
    moved(panel, "T", "ArrowLeft", 4, "12", "T = 12")
    steps = al.attention_steps(*experiments.random_qkv(12, 67), mask="causal")
    for number in (
        f"{steps.scores.std():.2f}",
        f"{steps.scaled_scores.std():.2f}",
        f"{float(experiments.effective_keys(steps.weights[-1])):.2f}",
        f"{steps.weights[-1].max():.3f}",
    ):
        expect(panel.summary).to_contain_text(number)
    assert panel.image.bounding_box() == box  # nothing jumps
    # The Tab key leads from slider to number to the next slider.
    panel.control("T").locator(".noUi-handle").focus()
    panel.page.keyboard.press("Tab")
    panel.page.keyboard.press("Tab")
    focused = panel.page.evaluate("document.activeElement.closest('.widget-slider').innerText")
    assert "d_k" in focused


def follow_scaling(panel):
    wider = scaling.WIDTHS[scaling.WIDTHS.index(64) + 2]
    moved(panel, "d_k", "ArrowRight", 2, str(wider), f"d_k = {wider}")
    longer = scaling.LENGTHS[scaling.LENGTHS.index(128) + 1]
    moved(panel, "T", "ArrowRight", 1, str(longer), f"{longer} ")
    weights = al.softmax(experiments.random_row(wider, longer))
    expect(panel.summary).to_contain_text(f"{float(experiments.effective_keys(weights)):.3g}")


def follow_mask(panel):
    moved(panel, "T", "ArrowRight", 2, "10", "T = 10")
    value = panel.cell.locator(".widget-dropdown").filter(has_text="1e9").locator("select")
    before = panel.bytes_of_picture()
    value.select_option(label="0")
    alert = panel.cell.locator("[role=alert]")
    expect(alert).to_be_visible(timeout=20_000)
    assert panel.bytes_of_picture() != before


def follow_softmax(panel):
    moved(panel, "d_k", "ArrowLeft", 4, "60", "d_k = 60")
    moved(panel, "T", "ArrowRight", 2, "10", "T = 10")
    steps = al.attention_steps(*experiments.random_qkv(10, 60), mask="causal")
    expect(panel.summary).to_contain_text(f"{steps.weights[7].max():.3g}", timeout=20_000)


def test_reopened_without_its_kernel_a_notebook_shows_still_pictures(chromium, lab):
    name = write_notebook(lab, "reopened.ipynb", "zh-Hant")
    with lab_tab(chromium, lab) as tab:
        tab.open(name)
        tab.run_all()
        for index, _ in enumerate(PANELS, 1):
            Shown(tab, index)
            assert pictures_in_sight(tab, index) == ["live"]
        tab.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        tab.page.wait_for_timeout(500)
    # The kernel has ended; the notebook is one that JupyterLab trusts.
    with lab_tab(chromium, lab) as tab:
        tab.open(name)
        for index, _ in enumerate(PANELS, 1):
            tab.show_cell(index)
            tab.page.wait_for_timeout(1500)
            assert pictures_in_sight(tab, index) == ["keepsake"]
            assert "model" not in text_in_sight(tab, index)
    # A copy by other hands: not trusted, so no script and no style of its outputs is used.
    notebook = json.loads((lab.folder / name).read_text(encoding="utf-8"))
    notebook["cells"][0]["source"] = ["import andrea_lesson as al, andrea_lesson.panels as panels"]
    (lab.folder / "copy.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    with lab_tab(chromium, lab) as tab:
        tab.open("copy.ipynb")
        for index, _ in enumerate(PANELS, 1):
            tab.show_cell(index)
            tab.page.wait_for_timeout(1500)
            assert pictures_in_sight(tab, index) == ["png"]
            assert "model" not in text_in_sight(tab, index)


KINDS = {"live": ".andrea-panel img", "keepsake": ".andrea-still", "png": ".jp-RenderedImage img"}


def pictures_in_sight(tab, index):
    """Which kinds of picture a cell shows, each as often as it does."""
    cell = tab.show_cell(index)
    return [
        kind
        for kind, selector in KINDS.items()
        for one in cell.locator(selector).all()
        if one.is_visible() and one.bounding_box()["height"] > 100
    ]


def text_in_sight(tab, index):
    return tab.show_cell(index).locator(".jp-Cell-outputArea").inner_text()
