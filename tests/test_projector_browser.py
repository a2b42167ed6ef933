"""The large form on a projector, and the still picture where no kernel answers, in Chromium."""

import nbformat
import pytest
from lab_server import chromium, lab, lab_tab

from andrea_lesson import panels
from andrea_lesson.panels.base import keepsake

pytestmark = pytest.mark.browser

# The tallest pictures, and the panel with most controls.
PANELS = ("attention_panel", "leakage_panel", "qkv_panel", "scaling_panel")
_FOLD = "() => window.jupyterapp.commands.execute('application:toggle-left-area')"
_PLACES = """(panel) => {
    const box = (selector) => panel.querySelector(selector).getBoundingClientRect();
    const controls = panel.firstElementChild.getBoundingClientRect();
    const [stage, tools] = [box('.andrea-stage'), box('.andrea-tools')];
    const apart = (a, b) => a.right <= b.left || a.bottom <= b.top || b.bottom <= a.top;
    const size = (selector) => parseFloat(getComputedStyle(panel.querySelector(selector)).fontSize);
    return {
        height: panel.getBoundingClientRect().height,
        tall: panel.closest('.jp-WindowedPanel-outer').clientHeight,
        apart: apart(controls, tools) && apart(controls, stage) && apart(tools, stage),
        type: [size('.andrea-formulas'), size('.andrea-reading'), size('.widget-label')],
        wide: panel.querySelector('.andrea-view').clientWidth - stage.width,
    };
}"""


@pytest.mark.parametrize(
    ("width", "height", "folded", "least"),
    [(1920, 1080, False, 17), (1920, 1080, True, 18.5), (1366, 768, True, 12.5)],
)
def test_a_large_panel_is_seen_whole(chromium, lab, width, height, folded, least):
    start = "import andrea_lesson as al\nfrom andrea_lesson import panels\nal.set_language('en')"
    cells = [start, *(f"panels.{name}(large=True)" for name in PANELS)]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, lab.folder / "large.ipynb")
    with lab_tab(chromium, lab, viewport={"width": width, "height": height}) as tab:
        tab.open("large.ipynb")
        if folded:
            tab.page.evaluate(_FOLD)
        tab.run_all()
        for index, name in enumerate(PANELS, 1):
            panel = tab.show_cell(index).locator(".andrea-large")
            panel.locator("canvas.andrea-part").first.wait_for()
            tab.page.wait_for_timeout(300)
            found = panel.evaluate(_PLACES)
            assert found["height"] <= found["tall"], (name, found)
            assert found["apart"], name
            assert found["wide"] >= -1, name  # nothing to scroll sideways
            assert min(found["type"]) >= least, (name, found)


@pytest.mark.parametrize(
    ("beside", "knows_has", "seen"),
    [
        ('<div class="andrea-panel">live</div>', True, False),
        ('<div class="andrea-panel">live</div>', False, False),
        ('<img width="9" height="9">', True, False),
        ("model not found", True, True),
        ("model not found", False, False),
    ],
)
def test_the_still_picture_steps_in_for_what_is_gone_and_only_then(
    chromium, beside, knows_has, seen
):
    panel = panels.mask_panel()
    still = keepsake(panel._repr_mimebundle_()["image/png"], panel.summary)
    if not knows_has:  # an older browser passes over what it cannot read
        still = still.replace(":has(", ":unknown(")
    page = chromium.new_page()
    child = '<div class="jp-OutputArea-child"><div class="jp-OutputArea-output">{}</div></div>'
    style = "<style>.jp-OutputArea-output { flex: 1 }</style>"
    page.set_content(style + child.format(beside) + child.format(still))
    assert page.locator(".andrea-still").is_visible() == seen
    assert page.locator(".jp-OutputArea-child").first.is_visible() != seen
    # elsewhere outputs are built otherwise, and the front end shows what it can of the first one
    page.set_content(f"<div>{beside}</div><div>{still}</div>")
    assert not page.locator(".andrea-still").is_visible()
    page.close()
