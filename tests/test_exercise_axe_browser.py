"""axe-core over guesses, the quiz, a check's verdict, the progress bars and the report's page."""

from datetime import datetime

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from lab_server import chromium, lab, lab_page

import andrea_lesson as al
from andrea_lesson.exercises import progress, report
from andrea_lesson.exercises.guess import guess_cells, guess_curve
from andrea_lesson.exercises.quiz import _order, quiz
from andrea_lesson.exercises.quiz_questions import QUESTIONS
from andrea_lesson.labels import language

pytestmark = pytest.mark.browser

LANGUAGES = ["zh-Hant", "en"]
THEMES = ["JupyterLab Dark", "JupyterLab Light"]
_THEME = "(name) => window.jupyterapp.commands.execute('apputils:change-theme', { theme: name })"
_D_K = '{"ANDREA-12M": 32, "ANDREA-120M": 64, "ANDREA-480M": %d}'
SOURCES = (
    'al.guess_curve("02_axe", [1, 4], lambda: [1, 2], x_label="d_k", y_label="std",'
    " y_limits=(0, 4))",
    'al.guess_cells("03_axe", (3, 3), lambda: al.causal_mask(3), row_names=list("abc"))',
    'al.quiz("02")',
    f"al.check.d_k_of_andrea({_D_K % 32})",
    f"al.check.d_k_of_andrea({_D_K % 64})",
    'al.hint("d_k_of_andrea")',
    "al.progress()",
)


def findings(page, where=None):
    """What axe finds, from moderate to critical, a line each."""
    response = Axe().run(page, context=where).response
    return [
        f"{one['impact']} {one['id']}: {node['target']} {node.get('failureSummary', '')[:200]}"
        for one in response["violations"]
        if one["impact"] != "minor"
        for node in one["nodes"]
    ]


def outputs(tab, index):
    """Selector of what a cell shows; the cell is brought into sight."""
    tab.show_cell(index)
    tab.page.wait_for_timeout(300)
    return f'[data-windowed-list-index="{index}"] .jp-Cell-outputWrapper'


def everything(tab):
    """Findings in the outputs of all cells, on the light and on the dark theme."""
    found = []
    for theme in THEMES:
        tab.page.evaluate(_THEME, theme)
        tab.page.wait_for_timeout(600)
        for index in range(1, len(SOURCES) + 1):
            found += [f"{theme}: {one}" for one in findings(tab.page, outputs(tab, index))]
    return found


@pytest.mark.parametrize("lang", LANGUAGES)
def test_axe_finds_nothing_before_and_after_an_answer(lab_page, lang):
    tab, page = lab_page, lab_page.page
    name = f"axe_{lang}.ipynb"
    start = f"import andrea_lesson as al\nal.set_language({lang!r})"
    cells = [nbformat.v4.new_code_cell(source) for source in (start, *SOURCES)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), tab.lab.folder / name)
    tab.open(name)
    tab.run_all()
    assert tab.errors() == []
    assert everything(tab) == []

    with language(lang):
        commit, again, table = map(al.label, ("guess_commit", "guess_anew", "guess_table"))
    curve = tab.show_cell(1)
    page.wait_for_timeout(300)
    curve.get_by_role("button", name=table, exact=True).click()
    assert findings(page, outputs(tab, 1)) == []
    curve.get_by_role("button", name=table, exact=True).click()
    curve.get_by_role("slider").first.focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    curve.locator(".andrea-guess-done").wait_for()
    curve.get_by_role("button", name=table, exact=True).click()
    assert findings(page, outputs(tab, 1)) == []
    curve.get_by_role("button", name=table, exact=True).click()

    shaded = tab.show_cell(2)
    page.wait_for_timeout(300)
    shaded.get_by_role("button", name=commit, exact=True).click()  # with nothing shaded
    shaded.locator(".andrea-problem:not(:empty)").wait_for()
    assert findings(page, outputs(tab, 2)) == []
    for place in ("0,0", "0,1"):
        shaded.locator(f'[data-cell="{place}"]').click()
    shaded.get_by_role("button", name=commit, exact=True).click()
    shaded.get_by_role("button", name=again, exact=True).wait_for()

    asked = tab.show_cell(3)
    page.wait_for_timeout(300)
    some = [(name, one) for name, one in QUESTIONS.items() if one.notebook == "02"]
    for n, (name, one) in enumerate(some[:3]):  # wrong, right, and one without any choice
        field = asked.locator(".andrea-quiz-question").nth(n)
        order = _order(name, one)
        for place in ([len(order) - 1], range(one.right), ())[n]:
            field.locator("input").nth(order.index(place)).check()
        field.locator("button").click()
        field.locator(".andrea-quiz-said:not(:empty)").wait_for()
    tab.show_cell(7)
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
    tab.wait_until_idle()
    assert everything(tab) == []
    # a notebook's own style for tables, words to the right, does not reach the bars
    bars = tab.show_cell(7).locator(".andrea-progress tr")
    lefts = bars.locator("td:last-child").evaluate_all(
        """all => all.map((one) => {
            const words = document.createRange();
            words.selectNodeContents(one);
            return Math.round(words.getBoundingClientRect().left);
        })"""
    )
    assert len(set(lefts)) == 1, lefts


@pytest.mark.parametrize("lang", LANGUAGES)
def test_axe_finds_nothing_in_the_page_of_the_report(chromium, monkeypatch, lang):
    monkeypatch.setenv("ANDREA_PROGRESS", "memory")
    monkeypatch.setattr(progress, "_records", {})
    page = chromium.new_page()
    with language(lang):
        page.set_content(report.page_of(progress.the_record().read(), datetime.now()))
        assert findings(page) == []  # with nothing done yet
        curve = guess_curve(
            "02_axe", [1, 4], [1.0, 2.0], x_label="d_k", y_label="std", y_limits=(0, 4)
        )
        cells = guess_cells("03_axe", (3, 3), al.causal_mask(3))
        for guess, values in ((curve, [2, 3]), (cells, al.causal_mask(3).T)):
            guess.set(values)
            guess.commit()
        progress.record("d_k_of_andrea", True)
        quiz("02").answer(0, [0])
        page.set_content(report.page_of(progress.the_record().read(), datetime.now()))
    assert page.locator("svg").count() == 2
    assert findings(page) == []
    page.close()


def test_axe_sees_a_guess_without_names(lab_page):
    """The checks above can fail: what nobody mended is found."""
    tab = lab_page
    cells = [nbformat.v4.new_code_cell(s) for s in ("import andrea_lesson as al", SOURCES[0])]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells, metadata=kernel), tab.lab.folder / "axe_bare.ipynb"
    )
    tab.open("axe_bare.ipynb")
    tab.run_all()
    where = outputs(tab, 1)
    tab.page.locator(".andrea-guess").wait_for()
    tab.page.evaluate(
        "() => document.querySelectorAll('.andrea-guess [role=slider]')"
        ".forEach((one) => one.removeAttribute('aria-label'))"
    )
    assert any("aria-input-field-name" in found for found in findings(tab.page, where))
