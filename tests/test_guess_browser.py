"""Guess first and the quiz in Chromium, without Jupyter: by hand, by finger, by keys alone."""

import numpy as np
import pytest
from lab_server import chromium
from widget_page import WidgetPage

from andrea_lesson.exercises import guess as module
from andrea_lesson.exercises import progress
from andrea_lesson.exercises.guess import guess_cells, guess_curve
from andrea_lesson.exercises.quiz import Quiz
from andrea_lesson.exercises.quiz_questions import QUESTIONS
from andrea_lesson.labels import LABELS, language

pytestmark = pytest.mark.browser

X = [1, 2, 4, 8, 16]
TRUTH = [1.0, 1.5, 2.0, 3.0, 987.125]
CELLS = np.tril(np.ones((4, 4), bool))


@pytest.fixture
def show(chromium, monkeypatch):
    """Opens a widget; at the end no page may have logged an error."""
    monkeypatch.setenv("ANDREA_PROGRESS", "memory")
    monkeypatch.setattr(progress, "_records", {})
    monkeypatch.setattr(module, "_drafts", {})
    pages = []

    def open_page(widget, **context):
        board = getattr(widget, "board", None) or widget.sheet
        pages.append(WidgetPage(chromium, board, widget._asked, **context))
        return pages[-1]

    yield open_page
    errors = [page.errors for page in pages]
    for page in pages:
        page.close()
    assert errors == [[] for _ in pages]


def curve(truth=TRUTH, lang="en", **more):
    look = {"x_label": "d_k", "y_label": "spread", "y_limits": (0, 10)} | more
    with language(lang):
        return guess_curve("02_curve", X, truth, log_x=True, **look)


def cells(lang="en"):
    with language(lang):
        return guess_cells("03_cells", (4, 4), lambda: CELLS, row_names=list("abcd"))


def button(page, key):
    return page.page.get_by_role("button", name=LABELS[key][1], exact=True)


def place(page, share, height):
    """A point of the plot, as shares of the way between its first and last x, and upwards."""
    edge = page.page.locator(".andrea-guess-plot").bounding_box()
    scale = edge["width"] / 640
    return (
        edge["x"] + (72 + share * 542) * scale,
        edge["y"] + (28 + (1 - height) * 258) * scale,
    )


def cell(page, i, j):
    edge = page.page.locator(f'[data-cell="{i},{j}"]').bounding_box()
    return edge["x"] + edge["width"] / 2, edge["y"] + edge["height"] / 2


def wait_committed(page):
    page.page.wait_for_function("() => sent.some((one) => one.type === 'commit')")
    page.page.wait_for_function("() => document.querySelector('.andrea-guess-done')")


# -- a curve ---------------------------------------------------------------------------------------


def test_a_drag_across_draws_the_curve_and_the_truth_comes_with_the_commit(show):
    one = curve()
    page = show(one)
    mouse = page.page.mouse
    mouse.move(*place(page, 0, 0.2))
    mouse.down()
    mouse.move(*place(page, 1, 0.6), steps=7)
    mouse.up()
    page.page.wait_for_function("() => sent.length === 1")
    np.testing.assert_allclose(one.guess, [2, 3, 4, 5, 6], atol=0.06)
    assert "987" not in page.page.content()
    assert "987" not in page.page.evaluate("() => JSON.stringify(sent)")
    assert page.page.locator("path.andrea-guess-line-truth").count() == 0
    button(page, "guess_commit").click()
    wait_committed(page)
    assert one.committed
    assert page.page.locator("path.andrea-guess-line-truth").count() == 1
    assert page.page.locator(".andrea-guess-said").inner_text() == one.summary
    assert page.page.locator(".andrea-spoken").inner_text() == one.summary
    assert "987" in page.page.content()
    mouse.move(*place(page, 0.5, 0.9))
    mouse.down()
    mouse.up()
    np.testing.assert_allclose(one.guess, [2, 3, 4, 5, 6], atol=0.06)


def test_one_point_follows_the_hand_up_and_down(show):
    one = curve()
    page = show(one)
    page.page.mouse.move(*place(page, 0.52, 0.2))
    page.page.mouse.down()
    page.page.mouse.move(*place(page, 0.515, 0.7), steps=5)
    page.page.mouse.up()
    page.page.wait_for_function("() => sent.length === 1")
    assert one.guess[2] == pytest.approx(7, abs=0.06)
    assert np.isnan(one.guess[[0, 1, 3, 4]]).all()


def test_a_finger_draws_and_the_page_does_not_scroll_meanwhile(show):
    one = curve()
    page = show(one, has_touch=True, viewport={"width": 420, "height": 700})
    assert page.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    session = page.context.new_cdp_session(page.page)

    def touch(kind, *points):
        where = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})

    touch("touchStart", place(page, 0, 0.9))
    for n in range(1, 11):
        touch("touchMove", place(page, n / 10, 0.9 - 0.08 * n))
    touch("touchEnd")
    page.page.wait_for_function("() => sent.length === 1")
    np.testing.assert_allclose(one.guess, [9, 7, 5, 3, 1], atol=0.15)
    assert page.page.evaluate("scrollY") == 0


def test_keys_alone_draw_commit_read_and_leave(show):
    one = curve()
    page = show(one)
    keys = page.page.keyboard
    for _ in range(3):  # the notebook, its cell, the first point
        keys.press("Tab")
    assert page.focused() == "d_k = 1: not drawn yet"
    keys.press("Enter")
    problem = page.page.locator(".andrea-problem")
    problem.get_by_text("Points still to draw: 1, 2, 4, 8… (5 in all)").wait_for()
    keys.press("ArrowUp")
    assert page.focused() == "d_k = 1: spread = 5.2"
    assert problem.inner_text() == ""
    for _ in range(4):
        keys.press("ArrowRight")
        keys.press("PageUp")
    assert page.focused() == "d_k = 16: spread = 9.2"
    keys.press("ArrowRight")
    assert page.focused().startswith("d_k = 16")
    keys.press("PageUp")
    assert page.focused() == "d_k = 16: spread = 10"
    keys.press("Delete")
    assert page.focused() == "d_k = 16: not drawn yet"
    keys.press("ArrowDown")
    keys.press("Home")
    keys.press("ArrowDown")
    assert page.focused() == "d_k = 1: spread = 5"
    ring = "() => getComputedStyle(document.activeElement.firstChild).stroke"
    assert page.page.evaluate(ring) != "none"
    keys.press("Enter")
    wait_committed(page)
    assert one.guess.tolist() == [5, 6.2, 7.2, 8.2, 8]
    assert page.focused() == "d_k = 1: you guessed 5, it is 1"
    keys.press("ArrowUp")
    assert one.guess[0] == 5
    keys.press("Escape")
    assert page.page.evaluate("() => document.activeElement.className") == "jp-Cell"
    for _ in range(3):  # the point, commit, guess anew
        keys.press("Tab")
    assert page.focused() == LABELS["guess_anew"][1]
    keys.press("Enter")
    page.page.wait_for_function("() => !document.querySelector('.andrea-guess-done')")
    assert page.focused() == "d_k = 1: not drawn yet"
    assert (one.guess, one.committed) == (None, False)
    assert page.page.locator(".andrea-guess-earlier").inner_text() == "guessed before: 1 ×"


def test_the_table_takes_numbers_and_tells_the_truth(show):
    one = curve()
    page = show(one)
    before = page.page.locator(".andrea-guess-said").bounding_box()
    button(page, "guess_table").click()
    assert page.page.locator(".andrea-guess-said").bounding_box()["y"] == pytest.approx(
        before["y"], abs=1
    )
    assert page.page.locator(".andrea-guess-plot").is_hidden()
    inputs = page.page.get_by_role("textbox")
    assert inputs.nth(0).get_attribute("aria-label") == "your guess, d_k = 1"
    for n, text in enumerate(("1", "２．５", "3", "abc", "11")):
        inputs.nth(n).fill(text)
        inputs.nth(n).blur()
        problem = page.page.locator(".andrea-problem").inner_text()
        assert bool(problem) == (n > 2)
        assert (inputs.nth(n).get_attribute("aria-invalid") == "true") == (n > 2)
    inputs.nth(3).fill("4")
    inputs.nth(4).fill("5")
    inputs.nth(4).press("Enter")
    wait_committed(page)
    assert one.guess.tolist() == [1, 2.5, 3, 4, 5]
    rows = page.page.locator("tbody tr").all_inner_texts()
    assert rows[4].split() == ["16", "987"]
    assert inputs.nth(0).evaluate("one => one.readOnly")


def test_nothing_jumps_between_guess_and_truth(show):
    one = curve(
        [1, 2, 3, 4, 5000.0],
        x_label="width of a head, as the family of models has it and as it is here",
    )
    page = show(one)
    places = "() => [...document.querySelectorAll('.andrea-guess > *')].map((one) => one.offsetTop)"
    before = page.page.evaluate(places)
    height = page.page.locator(".andrea-guess").bounding_box()["height"]
    one.set([5, 4, 3, 2, 1])
    one.commit()
    page.update()
    assert page.page.locator(".andrea-guess-said").inner_text() == one.summary
    assert page.page.evaluate(places) == before
    assert page.page.locator(".andrea-guess").bounding_box()["height"] == height
    assert height < 560  # on a small screen all of it is seen at once


def test_a_slow_answer_wipes_out_no_stroke_drawn_meanwhile(show):
    one = curve()
    page = show(one)
    page.page.evaluate("() => { window.hold = new Promise((one) => { window.go = one; }); }")
    page.page.locator("[role=slider]").nth(0).focus()
    page.page.keyboard.press("ArrowUp")
    page.page.wait_for_function("() => sent.length === 1")
    page.page.keyboard.press("ArrowUp")
    page.page.evaluate("() => { go(); window.hold = null; }")
    page.page.wait_for_function("() => sent.length === 2")
    assert page.focused() == "d_k = 1: spread = 5.4"
    assert one.guess[0] == 5.4


def test_two_views_show_the_same_guess_and_one_that_goes_leaves_nothing(show):
    page = show(curve())
    before = page.page.evaluate("listening()")
    page.page.evaluate("async () => { window.second = await addView() }")
    sliders = page.page.locator("[role=slider]")
    sliders.nth(0).focus()
    page.page.keyboard.press("ArrowUp")
    page.page.wait_for_function("() => sent.length === 1")
    other = sliders.nth(len(X))
    assert other.get_attribute("aria-valuetext") == "spread = 5.2"
    page.page.evaluate("second")
    assert page.page.locator(".andrea-guess").count() == 1
    assert page.page.evaluate("listening()") == before


def test_without_a_kernel_the_commit_says_so(show):
    one = curve()
    page = show(one)
    one.set([1, 2, 3, 4, 5])
    page.update()
    page.page.evaluate("() => { window.dead = true; }")
    button(page, "guess_commit").click()
    page.page.locator(".andrea-problem").get_by_text(LABELS["live_no_answer"][1]).wait_for()


# -- cells -----------------------------------------------------------------------------------------


def test_a_drag_shades_cells_and_another_wipes_them(show):
    one = cells()
    page = show(one)
    mouse = page.page.mouse
    for row, end in ((1, 3), (3, 3), (1, 2)):
        mouse.move(*cell(page, row, 0))
        mouse.down()
        mouse.move(*cell(page, row, end), steps=6)
        mouse.up()
    page.page.wait_for_function("() => sent.length >= 1 && !document.querySelector(':active')")
    page.page.wait_for_timeout(350)
    assert one.guess.sum() == 5
    assert one.guess[1, 3]
    button(page, "guess_commit").click()
    wait_committed(page)
    looks = page.page.locator("[data-cell]").evaluate_all("all => all.map((c) => c.dataset.look)")
    assert [looks[n] for n in (0, 1, 7, 12, 15)] == ["missed", "rest", "extra", "hit", "hit"]
    signs = page.page.locator("[data-cell]").all_inner_texts()
    assert [signs[n] for n in (0, 1, 7, 12)] == ["○", "", "✕", "✓"]
    assert "missed: 6, too many: 1" in page.page.locator(".andrea-guess-said").inner_text()


def test_keys_alone_shade_commit_and_read(show):
    one = cells()
    page = show(one)
    keys = page.page.keyboard
    for _ in range(3):
        keys.press("Tab")
    assert page.focused() == "row 0 a, column 0 : blank"
    keys.press("Enter")
    page.page.get_by_text(LABELS["guess_no_cells"][1]).wait_for()
    for key in ("Space", "ArrowDown", "ArrowRight", "Space", "Control+End", "Space", "ArrowUp"):
        keys.press(key)
    keys.press("Space")
    assert page.focused() == "row 2 c, column 3 : shaded"
    keys.press("Enter")
    wait_committed(page)
    assert np.argwhere(one.guess).tolist() == [[0, 0], [1, 1], [2, 3], [3, 3]]
    assert page.focused() == "row 2 c, column 3 : too many"
    keys.press("Home")
    assert page.focused() == "row 2 c, column 0 : missed"
    keys.press("Escape")
    assert page.page.evaluate("() => document.activeElement.className") == "jp-Cell"


def test_a_tap_shades_one_cell_large_enough_for_a_finger(show):
    one = cells()
    page = show(one, has_touch=True, viewport={"width": 420, "height": 700})
    page.page.touchscreen.tap(*cell(page, 2, 1))
    page.page.wait_for_function("() => sent.length === 1")
    assert np.argwhere(one.guess).tolist() == [[2, 1]]
    assert page.page.locator("[data-cell]").first.bounding_box()["width"] >= 24


# -- looks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["zh-Hant", "en"])
@pytest.mark.parametrize("dark", [False, True])
def test_words_are_in_the_language_and_seen_on_both_themes(show, lang, dark):
    page = show(curve(lang=lang), dark=dark)
    number = ("zh-Hant", "en").index(lang)
    assert page.page.locator(".andrea-guess").get_attribute("lang") == lang
    keys = ("guess_commit", "guess_clear", "guess_table")
    assert page.page.locator(".andrea-tools button").all_inner_texts() == [
        LABELS[key][number] for key in keys
    ]
    light = (
        "one => Math.max(...getComputedStyle(one)[PROPERTY].match(/\\d+/g).slice(0, 3).map(Number))"
    )
    ink = page.page.locator(".andrea-guess-said").evaluate(light.replace("PROPERTY", "'color'"))
    assert (ink > 128) == dark
    size = "one => getComputedStyle(one).fontSize"
    assert page.page.locator(".andrea-guess-said").evaluate(size) == "13px"


def test_in_forced_colours_shaded_cells_differ_from_blank_ones(show):
    one = cells()
    one.set(CELLS)
    page = show(one, forced_colors="active")
    background = "one => getComputedStyle(one).backgroundColor"
    shaded, blank = (
        page.page.locator(f'[data-cell="{place}"]').evaluate(background) for place in ("1,0", "0,1")
    )
    assert shaded != blank


# -- quiz ------------------------------------------------------------------------------------------


def quiz(lang="en", notebook="02"):
    some = {name: one for name, one in QUESTIONS.items() if one.notebook == notebook}
    with language(lang):
        return Quiz(notebook, some)


def shown_at(one, question, place):
    """Where a choice of the table stands on the screen."""
    return one._orders[question].index(place)


def test_the_quiz_is_answered_by_keys_alone(show):
    one = quiz()
    page = show(one)
    keys = page.page.keyboard
    for _ in range(3):
        keys.press("Tab")
    keys.press("Enter")  # nothing is chosen yet
    page.page.get_by_text(LABELS["quiz_none"][1]).wait_for()
    radios = page.page.locator("input[type=radio]")
    wrong, right = shown_at(one, 0, 1), shown_at(one, 0, 0)
    keys.press("Space")
    for _ in range(wrong):
        keys.press("ArrowDown")
    assert radios.nth(wrong).is_checked()
    assert one.said[0] == LABELS["quiz_none"][1]  # the arrows alone answer nothing
    keys.press("Enter")
    said = page.page.locator(".andrea-quiz-said").nth(0)
    said.get_by_text(QUESTIONS["02_why_scale"].choices[1][1][1]).wait_for()
    assert said.inner_text().startswith("✕")
    assert QUESTIONS["02_why_scale"].choices[0][1][1] not in page.page.content()
    key, steps = ("ArrowDown", right - wrong) if right > wrong else ("ArrowUp", wrong - right)
    for _ in range(steps):
        keys.press(key)
    assert said.inner_text() == ""
    keys.press("Tab")
    assert page.focused() == LABELS["quiz_answer_to"][1].format(number=1)
    keys.press("Enter")
    said.get_by_text("✓ Right.").wait_for()
    assert one.right == [True, False, False]
    known = progress.the_record().read()["quiz"]["02_why_scale"]
    assert (known["tried"], known["passed"]) == (2, True)
    keys.press("Escape")
    assert page.page.evaluate("() => document.activeElement.className") == "jp-Cell"


def test_nothing_of_the_answers_is_in_the_page_before_one_is_given(show):
    one = quiz()
    page = show(one)
    content = page.page.content() + str(page.given())
    for question in QUESTIONS.values():
        for _, why in question.choices:
            assert why[1] not in content
    assert page.given()["answers"] == [{"said": "", "right": None, "chosen": []}] * len(one.names)


def test_several_right_choices_are_boxes_and_an_answer_leaves_other_questions_alone(show):
    one = quiz()
    page = show(one)
    boxes = page.page.locator("input[type=checkbox]")
    assert boxes.count() == 4
    page.page.locator("input[type=radio]").nth(1).check()
    boxes.nth(shown_at(one, 1, 0)).check()
    answer = page.page.get_by_role("button").nth(1)
    answer.click()
    page.page.get_by_text(LABELS["quiz_incomplete"][1]).wait_for()
    assert page.page.locator("input[type=radio]").nth(1).is_checked()
    boxes.nth(shown_at(one, 1, 1)).check()
    answer.click()
    page.page.get_by_text("✓ Right.").wait_for()
    assert one.right == [False, True, False]
    assert page.page.locator("input[type=radio]").nth(1).is_checked()
    assert page.page.locator(".andrea-quiz-score").inner_text() == "right so far: 1 of 3"
