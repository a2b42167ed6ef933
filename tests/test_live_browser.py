"""The live view in Chromium, without Jupyter: what it draws, says and asks (see live_page.py)."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from lab_server import chromium
from live_page import LivePage
from shown_panel import PANELS

from andrea_lesson import panels
from andrea_lesson.labels import LABELS, language
from andrea_lesson.masks import causal_mask
from andrea_lesson.panels.encode import STEPS, colour_tables, encode
from andrea_lesson.panels.layout import lay_out
from andrea_lesson.panels.live import LiveView
from andrea_lesson.panels.picture import Axis, Bars, Chart, Line, Matrix, Picture, Ruler

pytestmark = pytest.mark.browser

T = 6
TOKENS = ("小安", "去", "圖書館", "借", "書", "看")
RNG = np.random.default_rng(3)
SCORES = RNG.standard_normal((T, T))
HIDDEN = ~causal_mask(T)
WEIGHTS = np.exp(np.where(HIDDEN, -np.inf, SCORES))
WEIGHTS /= WEIGHTS.sum(axis=1, keepdims=True)


def axes(names=TOKENS):
    return {
        "query": Axis("query", "row = query i", names),
        "key": Axis("key", "column = key j", names),
        "value": Axis("component", "column = component"),
    }


def usual(scores=SCORES, weights=WEIGHTS, hidden=HIDDEN, names=TOKENS, side=153.0, **more):
    """Scores, weights, an output and bars, linked by their axes."""
    output = np.arange(3.0 * len(scores)).reshape(-1, 3)
    size = {"width": side, "height": side}
    line = (
        Matrix("scores", scores, "scores", reading="score", **size),
        Matrix("weights", weights, "weights", colours="weights", hidden=hidden, reading="weight",
               show_rows=False, **size),
        Matrix("output", output, "output", columns="value", reading="output", show_rows=False),
        Bars("sums", output.sum(axis=1), 0, float(output.sum(axis=1).max()), "sums",
             reading="sum"),
    )  # fmt: skip
    return Picture((line,), axes(names), "random", ("1 + 1 = 2",), **more)


def large():
    """Matrices of which the browser gets dots instead of cells."""
    scores = np.random.default_rng(1).standard_normal((600, 600)).astype(np.float32)
    hidden = ~causal_mask(600)
    return usual(scores, np.where(hidden, 0, np.abs(scores)), hidden, None, side=300.0)


def charts():
    x = np.linspace(1, 100, 50)
    lines = (
        Line(x, np.sqrt(x), "theory", "√x"),
        Line(x, np.sqrt(x) + 1, "points", "measured"),
        Line(10, 5.0, "here", "here"),
        Line(x, np.array([np.sqrt(x) - 1, np.sqrt(x) + 1]), "band"),
        Line(np.arange(1, 12) * 9.0, np.arange(10.0), "bars", "bars"),
    )
    shades = RNG.random((3, 4))
    edges = {"shade_x": np.array([1.0, 3, 9, 27, 81]), "shade_y": np.array([0.0, 3, 6, 9])}
    rulers = Ruler(1, 100, ((1, "1"), (100, "100")), "x", 10), Ruler(0, 12, ((0, "0"),), "y")
    return Picture(
        (
            (
                Chart("curves", *rulers, lines, title="curves"),
                Chart("shaded", *rulers, lines[:1], "shaded", shades, **edges, shade_words="s"),
                Bars("up", np.array([-1, np.nan, 2.0]), -1, 2, "up", upright=True, along="value"),
            ),
        ),
        axes(),
    )


@pytest.fixture
def show(chromium):
    """Put pictures on pages; what was chosen is in `chosen` of the page."""
    pages = []

    def start(picture, *, rule=None, lang="en", plays=None, zoom=False, extra="", **context):
        def select(places):
            page.chosen.append(places)
            if rule is not None:
                page.put(rule(places))

        with language(lang):
            view = LiveView(select=select, advance=plays, save=lambda kind: f"a {kind}".encode())
            view.show(picture, lay_out(picture, large=zoom), "")
            page = LivePage(chromium, view, extra=extra, **context)
        page.chosen = []
        page.put = lambda one: view.show(one, lay_out(one, large=zoom), "")
        pages.append(page)
        return page

    yield start
    for page in pages:
        errors = page.errors
        page.close()
        page.view.close()
        assert errors == []


_PIXEL = """([name, across, down]) => {
    const canvas = document.querySelector(name);
    const edge = canvas.getBoundingClientRect();
    const ratio = canvas.width / edge.width;
    const [x, y] = [(across - edge.x) * ratio, (down - edge.y) * ratio];
    return [...canvas.getContext("2d").getImageData(Math.round(x), Math.round(y), 1, 1).data];
}"""


def pixel(page, part, across, down):
    """Colour at a point of a part, given as shares of its plot."""
    point = page.point_of(part, across, down)
    return page.page.evaluate(_PIXEL, [f'canvas[data-part="{part}"]', *point])


def light(page, part, across, down):
    """What is over a point of a part: the frames of what is chosen and pointed at."""
    return page.page.evaluate(_PIXEL, [".andrea-lights", *page.point_of(part, across, down)])


def canvas(page, part):
    return page.page.locator(f'canvas[data-part="{part}"]')


def lit_rows(page, part, rows):
    """Rows with a frame along their upper edge, looked for off the columns' frames."""
    step = 1 / rows
    return [
        i for i in range(rows)
        if any(light(page, part, 0.02, i * step + d)[3] for d in (-0.006, 0.0))
        and any(light(page, part, 0.98, (i + 1) * step + d)[3] for d in (0.0, 0.006))
    ]  # fmt: skip


# -- drawing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("zoom", [False, True])
def test_a_line_too_long_for_the_picture_gets_smaller(show, zoom):
    """As it does on paper: the ends of lines hold what was measured."""
    picture = usual()
    lines = ("1 + 1 = 2", "課本寫法的時間　" + "1 + " * 60 + "1 = 61", "x " * 120 + "end")
    page = show(
        replace(picture, formulas=lines), zoom=zoom, viewport={"width": 1240, "height": 900}
    )
    found = page.page.evaluate("""() => {
        const { left, right } = document.querySelector(".andrea-stage").getBoundingClientRect();
        return [...document.querySelectorAll(".andrea-formulas div")].map((line) => {
            const range = document.createRange();
            range.selectNodeContents(line);
            const box = range.getBoundingClientRect();
            const size = parseFloat(getComputedStyle(line).fontSize);
            return [size, box.left - left, right - box.right];
        });
    }""")
    usual_size = found[0][0]
    assert all(size < usual_size for size, *_ in found[1:])
    assert all(before > 4 and after > 4 for _, before, after in found)
    page.put(picture)
    page.update()  # and a short one is as large as before
    sizes = page.page.evaluate(
        "() => [...document.querySelectorAll('.andrea-formulas div')]"
        ".map((line) => parseFloat(getComputedStyle(line).fontSize))"
    )
    assert sizes == [usual_size] * len(picture.formulas)


_INK_BEYOND = """() => {
    const stage = document.querySelector(".andrea-stage").getBoundingClientRect();
    return [...document.querySelectorAll("canvas.andrea-part")].filter((canvas) => {
        const box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
        const [from, to] = [stage.left, stage.right].map((x) => Math.round((x - box.left) * ratio));
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        return data.some((value, n) => {
            const x = Math.floor(n / 4) % canvas.width;
            return n % 4 === 3 && value > 0 && (x < from || x > to);
        });
    }).map((canvas) => canvas.dataset.part);
}"""


@pytest.mark.parametrize("name", PANELS)
def test_a_picture_as_wide_as_its_place_has_nothing_to_scroll(show, name):
    """The canvas of the last part reaches beyond its words, and so beyond the picture."""
    page = show(getattr(panels, name)().picture, viewport={"width": 935, "height": 768})
    wide = page.page.locator(".andrea-view").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert wide[0] <= wide[1]
    assert page.page.evaluate(_INK_BEYOND) == []  # of what is cut off nothing was drawn


@pytest.mark.parametrize(
    "context",
    [{}, {"device_scale_factor": 2}, {"viewport": {"width": 600, "height": 700}}],
    ids=["usual", "dense screen", "narrow"],
)
def test_cells_have_the_colours_that_python_sent(show, context):
    picture = usual()
    page = show(picture, **context)
    tables = colour_tables()
    plain = {one["name"]: one for one in encode(picture, lay_out(picture))["parts"]}
    for part in ("scores", "weights", "output"):
        values = picture.parts[part].values
        codes = np.frombuffer(plain[part]["codes"], np.uint8).reshape(values.shape)
        table = np.frombuffer(tables[plain[part]["map"]], np.uint8).reshape(256, 3)
        for i, j in np.ndindex(values.shape):
            if codes[i, j] <= STEPS:
                across = (j + 0.12) / values.shape[1], (i + 0.12) / values.shape[0]
                assert pixel(page, part, *across)[:3] == table[codes[i, j]].tolist()
    assert pixel(page, "weights", 0.9, 0.1)[:3] not in table.tolist()  # hatched
    width = page.page.locator(".andrea-stage").evaluate("e => e.getBoundingClientRect().width")
    assert width <= page.page.viewport_size["width"]


def test_special_cells_have_looks_of_their_own(show):
    scores = SCORES.copy()
    scores[1, 1], scores[2, 2], scores[3, 3] = np.nan, np.inf, -np.inf
    page = show(usual(scores))
    corners = {place: [pixel(page, "scores", (place + d) / T, (place + d) / T) for d in (0.1, 0.2)]
               for place in (1, 2, 3)}  # fmt: skip
    assert [214, 64, 159, 255] in corners[1]
    assert [17, 20, 24, 255] in corners[2]
    assert [255, 255, 255, 255] in corners[3]


def test_all_kinds_of_parts_are_drawn(show):
    page = show(charts())
    inked = """canvas => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
        .data.reduce((sum, value, n) => sum + (n % 4 === 3 && value > 0), 0)"""
    for part in ("curves", "shaded", "up"):
        assert canvas(page, part).evaluate(inked) > 1000
    table = np.frombuffer(colour_tables()["viridis"], np.uint8).reshape(256, 3).tolist()
    assert pixel(page, "shaded", 0.9, 0.9)[:3] in table
    label = canvas(page, "curves").get_attribute("aria-label")
    assert all(words in label for words in ("curves", "√x", "measured"))
    assert canvas(page, "curves").get_attribute("role") == "img"
    assert canvas(page, "curves").get_attribute("tabindex") is None


def test_nothing_jumps_when_the_size_of_the_matrices_changes(show):
    def places():
        return page.page.evaluate(
            "() => [...document.querySelectorAll('canvas, .andrea-tools, .andrea-reading')]"
            ".map((one) => JSON.stringify(one.getBoundingClientRect()))"
        )

    page = show(usual(names=None))
    before = places()
    focus = canvas(page, "weights")
    focus.focus()
    for size in (1, 2, 17, 64):
        hidden = ~causal_mask(size)
        page.put(usual(np.ones((size, size)), np.ones((size, size)), hidden, None))
        page.update()
        assert places() == before
    assert focus.evaluate("one => one === document.activeElement")  # the same canvases


def test_an_empty_view_keeps_its_size_and_a_failure_is_told(show):
    page = show(usual())
    height = "() => document.querySelector('.andrea-stage').getBoundingClientRect().height"
    before = page.page.evaluate(height)
    page.view.clear()
    page.update()
    assert pixel(page, "scores", 0.1, 0.1) == [0, 0, 0, 0]
    assert page.reading == ""
    assert page.page.evaluate(height) == before
    page.put(usual())
    page.update()
    assert pixel(page, "scores", 0.1, 0.1)[3] == 255
    broken = dict(page.view.widget.picture)
    broken["parts"] = [{**broken["parts"][0], "kind": "unheard-of"}, *broken["parts"][1:]]
    page.view.widget.picture = {**broken, "revision": 99}
    page.update()
    problem = page.page.locator(".andrea-problem")
    assert "picture cannot be drawn" in problem.inner_text()
    assert pixel(page, "weights", 0.02, 0.1) == [0, 0, 0, 0]  # never a stale picture
    assert len(page.errors) == 1
    page.errors.clear()
    page.put(usual())
    page.update()
    assert problem.inner_text() == ""
    assert pixel(page, "scores", 0.1, 0.1)[3] == 255


# -- themes ----------------------------------------------------------------------------------------


def luminance(colour):
    parts = np.array([float(part) for part in colour[4:-1].split(",")[:3]]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


_COLOUR = """(name) => {
    const probe = document.querySelector(".andrea-view").appendChild(document.createElement("i"));
    probe.style.color = `var(--andrea-${name})`;
    const colour = getComputedStyle(probe).color;
    probe.remove();
    return colour;
}"""
_DARK = """() => {
    document.documentElement.style.setProperty("--jp-content-font-color1", "rgb(255, 255, 255)");
    document.documentElement.style.setProperty("--jp-layout-color0", "rgb(17, 17, 17)");
    document.body.dataset.jpThemeLight = "false";
}"""


def test_both_themes_have_the_contrast_that_is_asked_for(show):
    page = show(charts())
    before = pixel(page, "curves", -0.001, 0.5)
    words, lines = ("ink", "quiet"), ("measured", "compared", "theory", "pointed", "chosen")
    for dark in (False, True):
        if dark:
            page.page.evaluate(_DARK)
            page.page.wait_for_selector(".andrea-view.andrea-dark")
        colour = {name: page.page.evaluate(_COLOUR, name) for name in ("paper", *words, *lines)}
        paper = colour["paper"]
        assert all(contrast(colour[name], paper) >= 4.5 for name in words)
        assert all(contrast(colour[name], paper) >= 3 for name in lines)
    assert pixel(page, "curves", -0.001, 0.5) != before  # drawn anew


def test_forced_colours_are_those_of_the_system(show):
    page = show(usual(), forced_colors="active")
    ink = page.page.evaluate(_COLOUR, "ink")
    system = page.page.evaluate("() => getComputedStyle(document.body).color")
    assert ink == system
    assert pixel(page, "scores", 0.1, 0.1)[3] == 255


# -- pointing and choosing -------------------------------------------------------------------------


def said(row, column, scores=SCORES, weights=WEIGHTS):
    weight = "hidden" if HIDDEN[row, column] else f"{weights[row, column]:.3g}"
    score = f"{scores[row, column]:.3g}".replace("-", "−")
    return (
        f"query {row} “{TOKENS[row]}”, key {column} “{TOKENS[column]}”: "
        f"score {score}, weight {weight}"
    )


@pytest.mark.parametrize(("row", "column"), [(0, 0), (4, 2), (1, 5)])
def test_pointing_lights_the_place_in_all_parts_and_reads_it(show, row, column):
    page = show(usual())
    assert page.reading == LABELS["live_hint"][1]
    page.page.mouse.move(*page.cell("scores", row, column))
    assert page.reading == said(row, column)
    for part in ("scores", "weights", "output", "sums"):
        assert lit_rows(page, part, T) == [row]
    assert light(page, "weights", column / T - 0.004, 0.5)[3]
    page.page.mouse.move(5, 5)
    assert page.reading == LABELS["live_hint"][1]
    assert lit_rows(page, "scores", T) == []
    page.page.mouse.move(*page.point_of("sums", 0.5, (row + 0.5) / T))
    assert page.reading == f"query {row} “{TOKENS[row]}”: sum {9 * row + 3}"
    assert page.sent("select") == page.sent("ask") == []


def test_a_click_chooses_and_python_rules(show):
    page = show(usual(), rule=lambda places: usual(selected={"query": places["query"] // 2 * 2}))
    page.page.mouse.click(*page.cell("weights", 3, 1))
    page.page.mouse.move(5, 5)
    page.page.wait_for_function("() => sent.length === 1")
    assert page.chosen == [{"query": 3, "key": 1}]
    assert lit_rows(page, "output", T) == [2]  # Python's word
    assert page.reading == said(2, 1)  # the key was not Python's to choose
    page.put(usual(selected={}))
    page.update()
    assert lit_rows(page, "output", T) == []


def test_touch_reads_and_chooses(show):
    page = show(usual(), has_touch=True)
    page.page.touchscreen.tap(*page.cell("scores", 5, 4))
    page.page.wait_for_function("() => sent.length === 1")
    assert page.chosen == [{"query": 5, "key": 4}]
    assert page.reading == said(5, 4)


def test_keys_alone_do_everything(show):
    page = show(usual())
    keys = page.page.keyboard
    keys.press("Tab")  # the notebook
    keys.press("Tab")  # its cell
    for _ in range(3):
        keys.press("Tab")  # tables, PNG, SVG
    keys.press("Tab")
    assert canvas(page, "scores").evaluate("one => one === document.activeElement")
    label = canvas(page, "scores").get_attribute("aria-label")
    assert "6 rows × 6 columns" in label
    assert "Arrow keys" in label
    steps = [
        ("ArrowDown", (0, 0)), ("ArrowDown", (1, 0)), ("ArrowRight", (1, 1)),
        ("ArrowUp", (0, 1)), ("ArrowUp", (0, 1)), ("End", (0, 5)), ("PageDown", (1, 5)),
        ("Home", (1, 0)), ("Control+End", (5, 5)), ("PageUp", (4, 5)), ("ArrowLeft", (4, 4)),
        ("Control+Home", (0, 0)), ("Enter", (0, 0)),
    ]  # fmt: skip
    for key, (row, column) in steps:
        keys.press(key)
        assert page.reading == said(row, column), key
        assert page.page.locator(".andrea-spoken").inner_text() == said(row, column)
    page.page.wait_for_function("count => sent.length === count", arg=len(steps))
    assert page.chosen[-1] == {"query": 0, "key": 0}
    keys.press("Tab")
    keys.press("Tab")
    keys.press("Tab")
    assert canvas(page, "sums").evaluate("one => one === document.activeElement")
    keys.press("ArrowDown")
    assert page.reading == f"query 1 “{TOKENS[1]}”: sum 12"
    keys.press("Escape")
    assert page.page.evaluate("() => document.activeElement.className") == "jp-Cell"


def test_a_key_held_down_loses_no_step_and_leaves_no_backlog(show):
    page = show(usual(), rule=lambda places: usual(selected=places))
    page.page.evaluate(
        "() => { const python = window.python; window.python = async (content) => {"
        " await new Promise((one) => setTimeout(one, 60)); return python(content); } }"
    )
    canvas(page, "scores").focus()
    for key in ["ArrowDown"] * 5 + ["ArrowRight"] * 4:
        page.page.keyboard.press(key)
    assert page.reading == said(4, 4)  # at once
    page.page.wait_for_timeout(300)
    assert page.chosen[-1] == {"query": 4, "key": 4}
    assert len(page.chosen) < 7
    assert page.reading == said(4, 4)


_READ = "words => document.querySelector('.andrea-reading').textContent.startsWith(words)"


def test_dots_are_read_and_chosen_at_the_cell_that_they_show(show):
    picture = large()
    page = show(picture)
    scores = picture.parts["scores"].values
    page.page.mouse.move(*page.point_of("scores", 0.6125, 0.3075))
    page.page.wait_for_function(_READ, arg="query")
    block = scores[183:186, 366:369]  # 200 dots of 3 × 3 cells
    i, j = np.unravel_index(np.abs(block).argmax(), block.shape)
    value = f"{block[i, j]:.3g}".replace("-", "−")
    expected = f"query {183 + i}, key {366 + j}: score {value}, weight hidden"
    assert page.reading == expected
    page.page.mouse.down()
    page.page.mouse.up()
    page.page.mouse.move(5, 5)
    page.page.wait_for_function("() => sent.some((one) => one.type === 'select')")
    page.page.wait_for_function("() => sent.filter((one) => one.type === 'ask').length > 1")
    assert page.chosen == [{"query": 183 + i, "key": 366 + j}]
    assert page.reading == expected
    page.page.keyboard.press("ArrowRight")  # one cell, not one dot
    page.page.wait_for_function(_READ, arg=f"query {183 + i}, key {367 + j}:")
    assert page.chosen[-1] == {"query": 183 + i, "key": 367 + j}


def test_while_one_dot_is_asked_for_only_the_last_one_waits(show):
    page = show(large())
    page.page.evaluate("() => { window.deaf = true; }")
    for n in range(30):
        page.page.mouse.move(*page.point_of("scores", 0.2 + 0.02 * n, 0.5))
    assert len(page.sent("ask")) == 1


# -- the panel around ------------------------------------------------------------------------------

_SLIDER = """<div class="box"><div class="widget-slider">
<label class="widget-label">T (positions)</label>
<div class="noUi-handle" role="slider" tabindex="0" aria-valuetext="3.00" aria-valuenow="3"
 aria-valuemin="0" aria-valuemax="9"></div>
<div class="widget-readout" contenteditable="true">1,024</div></div></div>"""


def test_sliders_beside_the_picture_are_mended(show):
    page = show(usual(), extra=_SLIDER)
    handle = page.page.get_by_role("slider", name="T (positions)")
    assert handle.get_attribute("aria-valuetext") == "1,024"
    page.page.evaluate(
        "() => { document.querySelector('.widget-readout').textContent = '64';"
        " document.querySelector('.noUi-handle').setAttribute('aria-valuetext', '2.00'); }"
    )
    page.page.wait_for_function(
        "() => document.querySelector('.noUi-handle').ariaValueText === '64'"
    )
    assert page.page.get_by_role("textbox", name="T (positions)").count() == 1
    page.page.evaluate(
        "html => { document.querySelector('.box').innerHTML = html }",
        _SLIDER.replace("T (pos", "d (pos"),
    )
    page.page.wait_for_function(
        "() => document.querySelector('.noUi-handle').ariaValueText === '1,024'"
    )
    late = page.page.get_by_role("slider", name="d (positions)")
    late.focus()
    page.page.keyboard.press("Escape")
    assert page.page.evaluate("() => document.activeElement.className") == "jp-Cell"


def test_keys_for_a_control_are_no_shortcuts_of_the_notebook(show):
    page = show(usual(), extra=_SLIDER)
    page.page.evaluate(  # as JupyterLab and Notebook look for it, before any control
        "() => { window.kept = []; document.addEventListener('keydown', (event) => {"
        " if (!event.target.hasAttribute('data-lm-suppress-shortcuts')) kept.push(event.key);"
        " }, true); }"
    )
    canvas(page, "scores").focus()
    shortcuts = ["Control+s", "Shift+Enter", "Alt+d"]
    for key in ("d", "ArrowDown", "Control+Home", "Enter", "Escape", *shortcuts):
        page.page.keyboard.press(key)
        if key == "Escape":
            page.page.get_by_role("slider").focus()
    kept = [key for key in page.page.evaluate("kept") if len(key) == 1 or key == "Enter"]
    assert kept == ["s", "Enter", "d"]


# -- tables ----------------------------------------------------------------------------------------


def cells(page, number=0):
    table = page.page.locator("table").nth(number)
    return table.evaluate(
        "one => [...one.rows].map((row) => [...row.cells].map((c) => c.innerText))"
    )


def test_the_table_says_the_same_and_follows(show):
    page = show(usual())
    switch = page.page.get_by_role("button", name=LABELS["live_table"][1])
    assert switch.get_attribute("aria-pressed") == "false"
    switch.click()
    assert switch.get_attribute("aria-pressed") == "true"
    assert page.page.locator("canvas:visible").count() == 0
    got = cells(page, 1)
    assert got[0] == ["query \\ key", *(f"{n} {name}" for n, name in enumerate(TOKENS))]
    assert got[2] == ["1 去", *(f"{w:.3g}" for w in WEIGHTS[1, :2]), *["hidden"] * 4]
    assert page.page.locator("table").nth(0).locator("caption").inner_text() == "scores"
    assert (
        page.page.locator("th[scope=col]").count() + page.page.locator("th[scope=row]").count()
        > 4 * T
    )
    assert cells(page, 3)[1:3] == [["0 小安", "3"], ["1 去", "12"]]
    scores = SCORES.copy()
    scores[0, :3] = np.nan, np.inf, -np.inf
    page.put(usual(scores))
    page.update()
    page.page.wait_for_timeout(400)  # tables follow a few times a second
    assert cells(page, 0)[1][1:4] == ["NaN", "+∞", "−∞"]
    switch.click()
    assert page.page.locator("canvas:visible").count() > 3
    assert pixel(page, "output", 0.1, 0.1)[3] == 255


def test_the_table_of_a_large_matrix_is_a_window_around_the_choice(show):
    picture = large()
    page = show(picture)
    canvas(page, "scores").focus()
    for key in ("ArrowDown", "Control+End", "ArrowUp"):
        page.page.keyboard.press(key)
    page.page.wait_for_function(_READ, arg="query 598, key 599:")
    page.page.get_by_role("button", name=LABELS["live_table"][1]).click()
    got = cells(page, 0)
    assert got[0][1] == "588"
    assert got[11][0] == "598"
    value = picture.parts["scores"].values[598, 599]
    assert got[11][12] == f"{value:.3g}".replace("-", "−")
    assert "rows 588–599" in page.page.locator("caption").first.inner_text()
    assert cells(page, 1)[1][12] == "hidden"


def test_charts_have_tables_too(show):
    page = show(charts())
    page.page.get_by_role("button", name=LABELS["live_table"][1]).click()
    captions = page.page.locator("caption").all_inner_texts()
    assert captions[:2] == ["curves: √x", "curves: measured"]
    assert cells(page, 2) == [["x", "y"], ["10", "5"]]


# -- play ------------------------------------------------------------------------------------------


def player(last):
    """Something to watch that ends after some steps."""
    play = SimpleNamespace(steps=0, lock=threading.Lock(), view=None)

    def advance():
        play.steps += 1
        one = usual(selected={"query": play.steps})
        play.view.show(one, lay_out(one), "")
        return play.steps < last

    play.advance = advance
    return play


def test_play_goes_step_by_step_to_the_end(show):
    play = player(3)
    page = show(usual(), plays=play.advance)
    play.view = page.view
    page.page.evaluate("addView")  # a second view of the same picture
    buttons = page.page.get_by_role("button", name="Play")
    assert buttons.count() == 2
    buttons.nth(0).click()
    assert page.page.get_by_role("button", name="Pause").count() == 2
    page.page.wait_for_function("() => sent.length === 1")
    page.page.wait_for_timeout(700)
    assert play.steps == 1
    page.page.wait_for_timeout(800)
    assert play.steps == 2
    page.page.get_by_role("button", name="Play").nth(1).wait_for(timeout=3000)
    assert play.steps == 3
    assert lit_rows(page, "scores", T) == [3]


def test_pause_stops_at_once(show):
    play = player(99)
    page = show(usual(), plays=play.advance)
    play.view = page.view
    page.page.get_by_role("button", name="Play").click()
    page.page.wait_for_function("() => sent.length === 1")
    page.page.get_by_role("button", name="Pause").click()
    page.page.wait_for_timeout(900)
    assert play.steps == 1
    assert page.page.get_by_role("button", name="Play").count() == 1


def test_with_less_motion_each_press_is_one_step(show):
    play = player(99)
    page = show(usual(), plays=play.advance, reduced_motion="reduce")
    play.view = page.view
    button = page.page.get_by_role("button", name="Next step")
    assert button.get_attribute("title") == LABELS["live_step_why"][1]
    button.click()
    page.page.wait_for_timeout(1000)
    assert play.steps == 1
    button.click()
    page.page.wait_for_function("() => sent.length === 2")
    assert play.steps == 2


# -- keeping ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_pictures_are_saved_through_python(show, kind):
    page = show(usual())
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name=kind.upper()).click()
    assert download.value.suggested_filename == f"andrea-panel.{kind}"
    assert download.value.path().read_bytes() == f"a {kind}".encode()


def test_a_picture_that_was_not_saved_is_told(show, monkeypatch):
    monkeypatch.delenv("ANDREA_STRICT", raising=False)
    page = show(usual())
    page.view._save = lambda kind: 1 / 0
    page.page.get_by_role("button", name="PNG").click()
    problem = page.page.locator(".andrea-problem")
    problem.get_by_text("ZeroDivisionError").wait_for(timeout=2000)


# -- views -----------------------------------------------------------------------------------------


def test_a_view_that_goes_takes_its_listeners_along(show):
    page = show(usual())
    before = page.page.evaluate("listening")
    page.page.evaluate("async () => { window.second = await addView() }")
    assert page.page.locator(".andrea-view").count() == 2
    page.put(usual(selected={"query": 4}))
    page.update()
    assert page.page.evaluate("listening") > before
    page.page.evaluate("second")
    assert page.page.locator(".andrea-view").count() == 1
    assert page.page.evaluate("listening") == before
    assert lit_rows(page, "scores", T) == [4]
    page.page.evaluate("() => { remove(); window.end(); }")
    assert page.page.evaluate("listening") == 0


@pytest.mark.parametrize("lang", ["zh-Hant", "en"])
def test_all_is_said_in_the_language_of_the_panel(show, lang):
    page = show(usual(), lang=lang, plays=lambda: False)
    number = ("zh-Hant", "en").index(lang)
    keys = ("live_play", "live_table", "live_save_png", "live_save_svg")
    buttons = page.page.locator(".andrea-tools button")
    assert buttons.all_inner_texts() == [LABELS[key][number] for key in keys]
    assert page.page.locator(".andrea-view").get_attribute("lang") == lang
    assert page.reading == LABELS["live_hint"][number]
    heights = buttons.evaluate_all("all => all.map((one) => one.getBoundingClientRect().height)")
    assert len(set(heights)) == 1
    assert heights[0] >= 24


def test_a_projector_gets_larger_type(show):
    size = "one => parseFloat(getComputedStyle(one).fontSize)"
    reading = ".andrea-reading"
    usually = show(usual()).page.locator(reading).evaluate(size)
    page = show(usual(), zoom=True, viewport={"width": 1240, "height": 900})
    assert page.page.locator(reading).evaluate(size) == pytest.approx(1.45 * usually)
    page.page.mouse.move(*page.cell("scores", 4, 2))
    assert page.reading == said(4, 2)
