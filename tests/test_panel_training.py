"""The training panel: what it shows is what `train` gives, at every step."""

import time
from dataclasses import replace

import numpy as np
import pytest
from lab_server import chromium
from live_page import LivePage
from panel_tools import same, set_all

import andrea_lesson as al
from andrea_lesson import panels
from andrea_lesson.panels import base, knobs, settings, training
from andrea_lesson.panels.controls import SteppedReal, stops
from andrea_lesson.panels.layout import lay_out
from andrea_lesson.panels.training_picture import names
from andrea_lesson.racing import Setting, train

__all__ = ["chromium"]
SHORT = Setting(d_k=8, steps=40)


@pytest.fixture(autouse=True)
def _panels_closed_afterwards():
    yield
    for panel in list(base._live):
        panel.close()


@pytest.fixture
def lax(monkeypatch):
    """As for a reader: a bad setting is shown, not raised."""
    monkeypatch.delenv("ANDREA_STRICT")


def check(state, setting, seed):
    history = train(setting, seed, every=1 if setting.steps < 80 else 5)
    place = list(history.step).index(state.step)
    same(state.weights, history.weights[place])
    same(state.match, history.match[place])
    assert state.history.loss[state.look] == history.loss[place]
    assert state.history.accuracy[state.look] == history.accuracy[place]
    assert state.limit == np.abs(history.match).max()


# -- the state -----------------------------------------------------------------------------------


def test_how_it_starts():
    panel = panels.training_panel()
    state = panel.state
    assert (state.setting, state.seed, state.step) == (Setting(), 0, 400)
    with base._blas().limit(limits=1, user_api="blas"):
        check(state, Setting(), 0)
    assert panel.controls["step"].steps == tuple(range(0, 401, 5))


@pytest.mark.parametrize(
    "setting",
    [
        SHORT,
        replace(SHORT, scaled=False, sigma=0.3),
        replace(SHORT, optimiser="sgd", eta=10.0, d_k=1),
        replace(SHORT, epsilon=1e-3, steps=7),
    ],
    ids=str,
)
def test_every_step_is_that_of_the_training(setting):
    panel = panels.training_panel(setting, seed=5, step=0, row=3)
    assert panel.controls["step"].max == setting.steps
    for step in (0, setting.steps // 2, setting.steps):
        panel.controls["step"].value = step
        assert panel.state.step == step
        with base._blas().limit(limits=1, user_api="blas"):
            check(panel.state, setting, 5)


def test_random_settings_set_in_any_order(lax):
    rng = np.random.default_rng(3)
    panel = panels.training_panel(SHORT)
    for _ in range(8):
        values = {
            "d_k": int(rng.integers(1, 20)),
            "sigma": float(rng.uniform(0.05, 3)),
            "eta": float(10 ** rng.uniform(-4, 1)),
            "optimiser": str(rng.choice(["sgd", "adam"])),
            "scaled": bool(rng.integers(2)),
            "seed": int(rng.integers(100)),
            "row": int(rng.integers(16)),
            "step": int(rng.integers(41)),
        }
        set_all(panel, values, rng)
        assert panel.error is None
        setting = replace(SHORT, **{name: values[name] for name in knobs_and_scale(values)})
        assert panel.state.setting == setting
        assert (panel.state.row, panel.state.step) == (values["row"], values["step"])
        with base._blas().limit(limits=1, user_api="blas"):
            check(panel.state, setting, values["seed"])


def test_interrupted_it_says_so_and_trains_at_the_next_move(lax, monkeypatch):
    panel = panels.training_panel(SHORT)
    summary = panel.summary

    def stopped(*given, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "train", stopped)
    panel.controls["seed"].value = 98
    assert panel.error == al.label("training_interrupted")
    assert panel.picture is None
    assert panels.training_panel(SHORT, seed=97).error == panel.error
    monkeypatch.setattr(training, "train", train)
    panel.controls["row"].value = 1
    assert panel.error is None
    panel.controls["row"].value = panel.controls["seed"].value = 0
    assert panel.summary == summary


def test_a_reader_may_have_asked_numpy_to_raise(lax):
    with np.errstate(all="raise"):
        panel = panels.training_panel(SHORT)
        panel.controls["eta"].value = 1000.0
        assert panel.error is None
        panel.controls["sigma"].value = 100.0
        assert panel.error is None
        assert np.geterr()["under"] == "raise"


def knobs_and_scale(values):
    return set(values) - {"seed", "row", "step"}


def test_a_step_between_two_looks_goes_to_the_nearer_one():
    panel = panels.training_panel(replace(SHORT, steps=200))
    assert training.looks(200)[:3] == (0, 3, 6)
    panel.controls["step"].value = 4
    assert (panel.state.step, panel.controls["step"].value) == (3, 3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("step", -1),
        ("step", 41),
        ("row", 16),
        ("d_k", 0),
        ("d_k", 4097),
        ("sigma", 0.0),
        ("sigma", 101.0),
        ("eta", 0.0),
        ("eta", 1e7),
        ("seed", 100),
    ],
)
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_a_bad_setting_is_one_line_until_it_is_mended(lax, language, name, value):
    al.set_language(language)
    panel = panels.training_panel(SHORT)
    before, summary = panel.controls[name].value, panel.summary
    # ipywidgets brings an IntSlider's value back into its limits only in the browser
    panel.controls[name].value = value
    assert panel.error is not None
    assert "\n" not in panel.error
    assert panel.state is None
    panel.controls[name].value = before
    assert panel.error is None
    assert panel.summary == summary


@pytest.mark.parametrize(
    "setting",
    [
        {"d_k": 8.0},
        {"d_k": True},
        {"sigma": "1"},
        {"eta": float("nan")},
        {"optimiser": "lion"},
        {"scaled": 2},
        {"step": 1.0},
        {"row": None},
        {"seed": -1},
    ],
)
def test_compute_refuses_in_one_line_what_no_control_offers(setting):
    with pytest.raises(settings.SettingError) as refused:
        training.compute(**{"steps": 10, **setting})
    assert "\n" not in str(refused.value)


def test_what_it_is_given_is_checked():
    with pytest.raises(TypeError, match=r"setting must be an .*Setting; got dict"):
        panels.training_panel({"d_k": 3})
    for wrong in ({"step": 41}, {"row": 16}, {"seed": -1}):
        with pytest.raises(settings.SettingError):
            panels.training_panel(SHORT, **wrong)


def test_numbers_that_overflow_are_shown_and_said(monkeypatch):
    al.set_language("en")
    history = train(SHORT)
    broken = {
        name: np.array(getattr(history, name))
        for name in ("loss", "right_weight", "match", "weights")
    }
    for array in broken.values():
        array[-1] = np.nan
    monkeypatch.setattr(training, "train", lambda *given, **how: replace(history, **broken))
    panel = panels.training_panel(replace(SHORT, eta=0.9), step=40)
    assert panel.state.limit == np.abs(history.match[:-1]).max()
    assert "overflowed" in panel.warning
    assert "0.9" in panel.warning
    assert "NaN" in panel.picture.parts["curves"].title
    assert "NaN" in panel.picture.formulas[1]
    panel.figure()
    panel.controls["step"].value = 0
    assert panel.warning is None


# -- speed ---------------------------------------------------------------------------------------


def test_the_step_follows_the_hand_and_trains_nothing(monkeypatch):
    panel = panels.training_panel()
    monkeypatch.setattr(training, "train", None)
    spent = []
    for step in training.looks(400):
        start = time.perf_counter()
        panel._describe(
            panel._compute(**({n: c.value for n, c in panel.controls.items()} | {"step": step}))
        )
        spent.append(time.perf_counter() - start)
    assert np.median(spent) < 3e-3
    for row in range(16):
        panel.controls["row"].value = row
    assert panel.error is None


def test_a_training_is_kept(monkeypatch):
    panel = panels.training_panel(SHORT)
    panel.controls["seed"].value = 1
    monkeypatch.setattr(training, "train", None)
    panel.controls["seed"].value = 0
    assert panel.state.seed == 0


# -- the picture and the words -------------------------------------------------------------------


def test_topics_and_books_have_a_name_each():
    for language in ("zh-Hant", "en"):
        al.set_language(language)
        topics, books = names()
        assert len(set(topics)) == len(set(books)) == 32
        assert not set(topics) & set(books)


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_formulas_give_the_weight_of_the_chosen_card(language):
    al.set_language(language)
    panel = panels.training_panel(SHORT, row=5)
    state = panel.state
    topic, book = state.history.topics[5], state.history.books[5]
    line = state.match[topic]
    score = (line[topic] + line[32 + book]) / np.sqrt(2)
    first, second, third = panel.picture.formulas
    assert first.endswith(f"= {settings.short(float(score))}")
    assert names()[0][topic] in first
    assert names()[1][book] in first
    assert settings.short(float(state.weights[5, 5])) in second
    assert settings.short(float(state.history.loss[-1])) in third
    everything = (line[state.history.topics] + line[32 + state.history.books]) / np.sqrt(2)
    np.testing.assert_allclose(al.softmax(everything), state.weights[5], rtol=1e-9)
    match = panel.picture.parts["match"]
    assert (match.lit_rows, match.lit_columns) == ((topic,), (topic, 32 + book))
    assert match.grid == 32
    assert panel.picture.axes["query"].names[5] == names()[0][topic]


def test_the_scale_is_said_and_is_in_the_matrix():
    al.set_language("en")
    panel = panels.training_panel(SHORT, step=0)
    scaled = panel.state.match
    assert "÷ √d_k" in panel.picture.parts["match"].title
    panel.controls["scaled"].value = False
    assert "not divided" in panel.picture.parts["match"].title
    np.testing.assert_allclose(panel.state.match, scaled * np.sqrt(8), rtol=1e-12)


def test_the_marker_stands_at_the_step():
    panel = panels.training_panel(SHORT, step=10)
    marker, loss, accuracy, right, here = panel.picture.parts["curves"].lines
    history = panel.state.history
    assert tuple(marker.x) == (10, 10)
    assert (here.x, here.y) == ((10,), (loss.y[panel.state.look],))
    np.testing.assert_allclose(loss.y * np.log(32), history.loss)
    same(accuracy.y, history.accuracy)
    same(right.y, history.right_weight)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_nothing_moves(language, large):
    al.set_language(language)
    panel = panels.training_panel(SHORT, large=large)
    first = lay_out(panel.picture, large=large)
    for name, control in panel.controls.items():
        start = control.value
        for value in stops(control) if name != "d_k" else (1, 16):
            control.value = value
            assert lay_out(panel.picture, large=large) == first
        control.value = start


def test_clicking_a_row_chooses_it_and_play_goes_through_the_steps():
    panel = panels.training_panel(SHORT)
    panel.select({"query": 7})
    assert (panel.state.row, panel.picture.selected) == (7, {"query": 7})
    panel.controls["step"].value = 0
    seen = [0]
    while panel.advance():
        seen.append(panel.state.step)
    assert (*seen, panel.state.step) == training.looks(40)


@pytest.mark.browser
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_it_draws_in_a_browser(chromium, language):
    al.set_language(language)
    panel = panels.training_panel(SHORT)
    page = LivePage(chromium, panel.view)
    try:
        page.page.mouse.move(*page.cell("weights", 2, 2))
        weight = settings.short(float(np.float32(panel.state.weights[2, 2])))
        assert weight in page.reading
        page.page.mouse.click(*page.cell("weights", 2, 2))
        page.page.wait_for_function("sent.some((one) => one.type === 'select')")
        assert panel.state.row == 2
        assert page.errors == []
    finally:
        page.close()


# -- knobs ---------------------------------------------------------------------------------------


def test_a_learning_rate_may_be_typed():
    panel = panels.training_panel(SHORT)
    name = panel.controls["eta"].description
    assert isinstance(panel.controls["eta"], SteppedReal)
    assert panel.type_in(name, " 0.005 ") == "0.005"
    assert panel.state.setting.eta == 0.005
    for nonsense in ("", "x", "inf", "nan", "1e999"):
        assert panel.type_in(name, nonsense) == "0.005"
    assert panel.type_in(panel.controls["d_k"].description, "0.5") == "8"
    with pytest.raises(settings.SettingError):  # in tests; a reader is told
        panel.type_in(panel.controls["d_k"].description, "1" * 5000)
    panel.controls["d_k"].value = 8
    assert panel.type_in(panel.controls["d_k"].description, "9") == "9"


def test_knobs_offer_what_they_start_at():
    odd = replace(SHORT, d_k=7, sigma=0.5, eta=0.02, optimiser="sgd")
    panel = panels.training_panel(odd)
    assert panel.state.setting == odd
    assert [panel.controls[n].value for n in ("d_k", "sigma", "eta")] == [7, 0.5, 0.02]
    assert set(knobs.RATES) < set(panel.controls["eta"].steps)
