"""Panels in a real headless Chromium: copies, errors, front ends, themes, and no kernel."""

import json
import re
from itertools import product

import pytest
from axe_playwright_python.sync_playwright import Axe
from lab_server import chromium, lab, lab_page, lab_tab
from playwright.sync_api import expect
from shown_panel import PANELS, Shown, moved, write_notebook

import andrea_lesson as al
from andrea_lesson.panels.layout import GROWTH, LARGE_WIDTH

pytestmark = pytest.mark.browser


# -- copies, cells run again, errors ---------------------------------------------------------------


def test_two_copies_and_a_cell_run_again_react_once_each(lab_page):
    counting = (
        "from andrea_lesson.panels import attention\n"
        "moves = []\n"
        "first = attention.compute\n"
        "attention.compute = lambda **v: (moves.append(v['d_k']), first(**v))[1]"
    )
    name = write_notebook(
        lab_page.lab,
        "copies.ipynb",
        "en",
        counting,
        "panels.attention_panel()",
        "from IPython.display import display\nboth = panels.attention_panel()\ndisplay(both, both)",
        "moves",
    )
    lab_page.open(name)
    lab_page.run_all()
    index = lab_page.index_of("panels.attention_panel()")
    for _ in range(2):  # run the cell of the first panel again
        lab_page.page.evaluate(
            "(index) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index; }",
            index,
        )
        lab_page.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
        lab_page.wait_until_idle()
    panel = Shown(lab_page, index)
    assert panel.cell.locator(".andrea-panel").count() == 1
    panel.press("d_k", "ArrowRight")
    expect(panel.readout("d_k")).to_have_text("65")
    expect(panel.summary).to_contain_text("d_k = 65")
    twice = [Shown(lab_page, index + 1, which) for which in (0, 1)]
    twice[0].press("d_k", "ArrowRight", 2)
    for one in twice:  # two views of one panel move together
        expect(one.readout("d_k")).to_have_text("66")
        expect(one.summary).to_contain_text("d_k = 66")
    assert twice[0].picture() == twice[1].picture()
    lab_page.page.evaluate(
        "(index) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index; }",
        index + 2,
    )
    lab_page.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
    lab_page.wait_until_idle()
    (output,) = lab_page.cells()[index + 2]["outputs"]
    moves = json.loads("".join(output["data"]["text/plain"]))
    assert moves.count(65) + moves.count(66) in (2, 3)  # 65, then 66, perhaps by way of 65
    assert moves[-1] == 66
    assert Shown(lab_page, index).readout("d_k").inner_text() == "65"


def test_a_bad_setting_shows_one_line_and_no_stale_picture(lab_page):
    name = write_notebook(
        lab_page.lab,
        "bad.ipynb",
        "en",
        "panel = panels.attention_panel()\npanel",
        "panel.controls['T'].value = 5000",
        "panel.controls['T'].value = 12",
        "panel.controls['T'].value, panel.controls['row'].value = 16, 15",
    )
    lab_page.open(name)
    run_cell(lab_page, 0)
    run_cell(lab_page, 1)
    panel = Shown(lab_page, 1)
    good = panel.picture()
    run_cell(lab_page, 2)
    alert = panel.root.locator(".widget-html [role=alert]")
    expect(alert).to_contain_text("5000")
    assert "\n" not in alert.inner_text()
    assert set(panel.picture().split(",")) == {"0"}  # nothing, where the pictures were
    run_cell(lab_page, 3)
    expect(alert).to_have_count(0)
    expect(panel.summary).to_contain_text("T = 12")
    assert panel.picture() != good
    run_cell(lab_page, 4)
    assert panel.picture() == good


def run_cell(tab, index):
    tab.page.evaluate(
        "(index) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index; }",
        index,
    )
    tab.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
    tab.wait_until_idle()


# -- front ends, themes, accessibility -------------------------------------------------------------


_THEME = "(name) => window.jupyterapp.commands.execute('apputils:change-theme', { theme: name })"


@pytest.mark.parametrize(
    ("language", "theme", "form"),
    [
        *product(["zh-Hant", "en"], ["JupyterLab Light", "JupyterLab Dark"], [""]),
        ("en", "JupyterLab Light", "large=True"),
        ("zh-Hant", "JupyterLab Dark", "large=True"),
    ],
)
def test_nothing_serious_is_found_by_axe(lab_page, language, theme, form):
    cells = [f"panels.{panel}({form})" for panel in PANELS]
    name = write_notebook(lab_page.lab, f"axe_{language}{form}.ipynb", language, *cells)
    lab_page.open(name)
    lab_page.page.evaluate(_THEME, theme)
    lab_page.run_all()
    for index, _ in enumerate(PANELS, 1):
        panel = Shown(lab_page, index)
        found = axe(lab_page.page, index)
        assert found == [], PANELS[index - 1]
        panel.button(al.label("live_table") if language == "zh-Hant" else "Show tables").click()
        assert axe(lab_page.page, index) == [], PANELS[index - 1]
    lab_page.page.evaluate(_THEME, "JupyterLab Light")


def axe(page, index):
    """Serious and critical findings within one cell's panel, a line each."""
    context = f'[data-windowed-list-index="{index}"] .andrea-panel'
    results = Axe().run(page, context=context).response
    return [
        f"{one['id']}: {node['target']} {node.get('failureSummary', '')[:200]}"
        for one in results["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def test_axe_sees_a_slider_without_a_name(lab_page):
    """The check above can fail: a control that nobody mended is found."""
    name = write_notebook(lab_page.lab, "axe_bare.ipynb", "en", "panels.mask_panel()")
    lab_page.open(name)
    lab_page.run_all()
    Shown(lab_page, 1)
    assert axe(lab_page.page, 1) == []
    lab_page.page.evaluate(
        """() => document.querySelectorAll('.andrea-panel button').forEach((button) => {
            button.textContent = ''; button.removeAttribute('aria-label'); button.title = ''; })"""
    )
    assert any("button-name" in found for found in axe(lab_page.page, 1))


def test_the_dark_theme_is_followed_without_running_anything_again(lab_page):
    name = write_notebook(lab_page.lab, "dark.ipynb", "en", "panels.mask_panel()")
    lab_page.open(name)
    lab_page.run_all()
    panel = Shown(lab_page, 1)
    light = title_ink(panel)
    lab_page.page.evaluate(_THEME, "JupyterLab Dark")
    lab_page.page.wait_for_timeout(1500)
    dark = title_ink(panel)
    assert light < 100 < 180 < dark
    lab_page.page.evaluate(_THEME, "JupyterLab Light")
    lab_page.page.wait_for_timeout(1500)
    assert title_ink(panel) == light


def title_ink(panel):
    """Mean brightness of what is written over the first matrix."""
    return panel.part("mask").evaluate(
        """(canvas) => {
            const top = Number(canvas.dataset.plot.split(",")[1]) * window.devicePixelRatio;
            const pen = canvas.getContext("2d");
            const { data } = pen.getImageData(0, 0, canvas.width, Math.floor(top / 2));
            let sum = 0, ink = 0;
            for (let n = 0; n < data.length; n += 4) {
                if (data[n + 3] < 200) continue;
                sum += data[n] + data[n + 1] + data[n + 2]; ink += 3;
            }
            return sum / ink;
        }"""
    )


def test_in_notebook_7(chromium, lab):
    name = write_notebook(lab, "seven.ipynb", "en", "panels.attention_panel()", "1 + 1")
    with lab_tab(chromium, lab) as tab:
        page = tab.page
        page.goto(f"{lab.url}/notebooks/{name}?token={lab.token}")
        page.locator(".jp-Notebook").wait_for(timeout=60_000)
        page.wait_for_function(
            """() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status
                === 'idle'""",
            timeout=60_000,
        )
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        tab.wait_until_idle()
        panel = Shown(tab, 1)
        moved(panel, "d_k", "ArrowRight", 3, "67", "d_k = 67")
        page.mouse.move(*panel.cell_centre("weights", 9, 4, 16, 16))
        expect(panel.reading).to_contain_text("query 9")
        panel.handle("d_k").focus()
        page.keyboard.press("Escape")
        assert not panel.root.evaluate("(root) => root.contains(document.activeElement)")
        assert tab.outside == []


def test_through_matplotlib_the_panel_follows_as_well(lab_page):
    name = write_notebook(
        lab_page.lab, "printed.ipynb", "en", 'panels.attention_panel(view="matplotlib")'
    )
    lab_page.open(name)
    lab_page.run_all()
    cell = lab_page.show_cell(1)
    image = cell.locator(".andrea-panel img")
    expect(image).to_be_visible(timeout=20_000)
    assert cell.locator("canvas.andrea-part").count() == 0
    before, box = image.get_attribute("src"), image.bounding_box()
    label = lab_page.page.locator(".widget-label", has_text=re.compile("^d_k"))
    cell.locator(".widget-inline-hbox").filter(has=label).locator(".noUi-handle").focus()
    lab_page.page.keyboard.press("ArrowRight")
    expect(cell.locator(".widget-html [role=status]")).to_contain_text("d_k = 65", timeout=20_000)
    assert image.get_attribute("src") != before
    assert image.bounding_box() == box


@pytest.mark.parametrize("ratio", [1, 2])
def test_canvases_are_as_sharp_as_the_screen_and_large_ones_fit_a_projector(chromium, lab, ratio):
    name = write_notebook(lab, f"sharp_{ratio}.ipynb", "en", "panels.mask_panel(large=True)")
    with lab_tab(
        chromium, lab, device_scale_factor=ratio, viewport={"width": 1920, "height": 1080}
    ) as tab:
        tab.open(name)
        tab.run_all()
        panel = Shown(tab, 1)
        sizes = panel.part("mask").evaluate("(c) => [c.width, c.getBoundingClientRect().width]")
        assert sizes[0] == pytest.approx(ratio * sizes[1], rel=0.01)
        stage = panel.root.locator(".andrea-stage").bounding_box()
        # beside the file browser a little less than where that is folded away
        assert 0.9 * LARGE_WIDTH <= stage["width"] <= GROWTH * LARGE_WIDTH + 2
        assert (
            panel.cell.locator(".widget-label").first.evaluate(
                "(one) => parseFloat(getComputedStyle(one).fontSize)"
            )
            >= 18
        )


# -- without a kernel ------------------------------------------------------------------------------


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


KINDS = {
    "live": ".andrea-panel .andrea-stage",
    "keepsake": ".andrea-still",
    "png": ".jp-RenderedImage img",
}


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
