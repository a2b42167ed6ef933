"""Every notebook in JupyterLab as the command opens it: Run All, in both languages."""

import re
from pathlib import Path

import pytest
from lab_server import chromium, lab, lab_page
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks" / "src").glob("*.py"))

_PANEL = re.compile(r"^panels\.\w+_panel\(", re.MULTILINE)

# Text that ends outside its own box, by what a reader would see.
_CUT_OFF = """() => [...document.querySelectorAll(".jp-RenderedHTMLCommon table, .andrea-panel")]
    .filter((one) => one.getBoundingClientRect().right > window.innerWidth)
    .map((one) => one.innerText.slice(0, 60))"""


@pytest.mark.browser
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_run_all_ends_without_an_error(lab_page, name, language):
    lab_page.open(f"{language}/{name}.ipynb")
    lab_page.run_all()
    assert lab_page.errors() == []
    assert lab_page.dialogs() == []
    assert lab_page.outside == []
    panels = [
        number
        for number, cell in enumerate(lab_page.cells())
        if cell["cell_type"] == "code" and _PANEL.search("".join(cell["source"]))
    ]
    assert panels
    for number in panels:
        picture = lab_page.show_cell(number).locator(".andrea-panel canvas.andrea-part").first
        expect(picture).to_be_visible(timeout=20_000)
        assert lab_page.page.evaluate(_CUT_OFF) == []
