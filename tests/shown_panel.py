"""A panel as it stands on a page of JupyterLab, for the tests in a browser."""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from andrea_lesson import panels

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
        return self.root.locator(".andrea-summary")

    @property
    def reading(self):
        return self.root.locator(".andrea-reading")

    def button(self, words):
        return self.root.locator(".andrea-tools button", has_text=words)

    def picture(self):
        """Every pixel of every canvas, as one number."""
        return self.root.evaluate(
            """(root) => [...root.querySelectorAll('canvas.andrea-part')].map((canvas) => {
                const { width, height } = canvas;
                const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
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
