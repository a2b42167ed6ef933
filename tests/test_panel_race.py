"""The race panel: what it shows is what `race` gives and what ships, and it says which."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from lab_server import chromium
from live_page import LivePage
from panel_tools import same, set_all

import andrea_lesson as al
from andrea_lesson import panels, race_grid
from andrea_lesson.data_files import DataFileError
from andrea_lesson.panels import base, race, race_picture, settings
from andrea_lesson.panels.controls import Press, stops
from andrea_lesson.panels.layout import lay_out
from andrea_lesson.race_grid import D_K, ETA, load_grid
from andrea_lesson.racing import SEEDS, Setting, twin
from andrea_lesson.racing import race as run_race

__all__ = ["chromium"]
SHORT = Setting(d_k=8, steps=40)


@pytest.fixture(autouse=True)
def _panels_closed_afterwards():
    yield
    for panel in list(base._live):
        panel.close()


@pytest.fixture(autouse=True)
def _races_forgotten():
    race._races.clear()


@pytest.fixture
def lax(monkeypatch):
    """As for a reader: a bad setting is shown, not raised."""
    monkeypatch.delenv("ANDREA_STRICT")


@pytest.fixture
def counted(monkeypatch):
    """The races that are really run."""
    run = []

    def counting(*sides, **how):
        run.append(sides)
        return run_race(*sides, **how)

    monkeypatch.setattr(race, "race", counting)
    return run


def alone(*sides):
    with base._blas().limit(limits=1, user_api="blas"):
        return run_race(*sides)


# -- the state -----------------------------------------------------------------------------------


def test_how_it_starts_and_that_the_shipped_values_come_out_again(counted):
    panel = panels.race_panel()
    state, grid = panel.state, load_grid()
    assert counted == [(Setting(), Setting(scaled=False))]
    wanted = alone(*counted[0])
    for side, curves in ((state.scaled, wanted.scaled), (state.raw, wanted.raw)):
        assert side.raced.accuracy == tuple(curves.accuracy[:, -1])
        assert side.raced.loss == tuple(curves.loss[:, -1])
        assert side.shipped == grid.points[side.setting]
    assert state.scaled.shipped.steady
    assert state.scaled.apart < 1e-3
    same(state.scaled.accuracy, grid.table("adam", 1.0, scaled=True))
    same(state.raw.chaotic, grid.chaotic("adam", 1.0, scaled=False))
    assert state.place == (D_K.index(64), ETA["adam"].index(0.003))
    assert state.ahead == "scaled"


def test_sliders_show_what_ships_and_race_nothing(counted):
    panel = panels.race_panel()
    counted.clear()
    grid = load_grid()
    for d_k in D_K:
        for eta in (0.0001, 0.01, 1.0):
            panel.controls["d_k"].value, panel.controls["eta"].value = d_k, eta
            for side, scaled in ((panel.state.scaled, True), (panel.state.raw, False)):
                assert side.end == grid.points[Setting(d_k=d_k, eta=eta, scaled=scaled)]
            assert panel.state.race is None
    assert counted == []
    panel.controls["eta"].value = 0.003
    panel.controls["d_k"].value = 64
    assert panel.state.race is not None  # it was run, and is kept


def test_raw_wins_where_sigma_and_eta_are_small():
    al.set_language("en")
    panel = panels.race_panel(Setting(d_k=1024, sigma=0.1, eta=0.0001))
    state = panel.state
    assert state.race is None  # too long to be run unasked
    assert state.ahead == "raw"
    assert "the undivided one is ahead" in panel.summary
    assert np.mean(state.raw.end.accuracy) > np.mean(state.scaled.end.accuracy) + 0.5


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_the_twin_coincides_and_the_largest_difference_is_shown(optimiser):
    al.set_language("en")
    setting = replace(SHORT, optimiser=optimiser, eta=0.01 if optimiser == "adam" else 10.0)
    panel = panels.race_panel(setting)
    assert panel.state.apart > 1e-3
    panel.controls["twin"].value = True
    state = panel.state
    assert state.raw.setting == twin(setting)
    wanted = alone(setting, twin(setting))
    most = max(
        np.abs(wanted.scaled.loss - wanted.raw.loss).max(),
        np.abs(wanted.scaled.accuracy - wanted.raw.accuracy).max(),
    )
    assert state.apart == most < 1e-9
    assert settings.short(state.apart) in panel.picture.formulas[2]
    assert "only rounding" in panel.picture.formulas[2]
    assert state.ahead == "level"
    assert settings.short(twin(setting).eta) in panel.picture.formulas[1]


def test_a_narrow_twin_is_raced_at_once_and_a_wide_one_waits_for_the_button(counted):
    panel = panels.race_panel(replace(SHORT, d_k=65))
    panel.controls["twin"].value = True
    assert counted == []
    panel.controls["d_k"].value = 8
    assert counted == []
    panel.controls["twin"].value = False
    assert len(counted) == 1


def test_the_button_races_anew_and_gives_the_same(counted):
    panel = panels.race_panel(SHORT)
    before = panel.state.race
    panel.controls["train"].click()
    assert len(counted) == 2
    assert panel.state.race is not before
    same(panel.state.race.raw.loss, before.raw.loss)
    wanted = alone(SHORT, replace(SHORT, scaled=False))
    same(panel.state.race.scaled.accuracy, wanted.scaled.accuracy)


def test_progress_is_told_on_the_button(monkeypatch):
    al.set_language("en")
    panel = panels.race_panel(replace(SHORT, d_k=128))
    button, told = panel.controls["train"], []
    button.observe(lambda change: told.append((change.new, button.disabled)), "description")
    al.set_language("zh-Hant")
    button.click()
    assert told[0] == ("racing, 0%", True)
    assert ("racing, 50%", True) in told
    assert told[-1][0] == button.description == "race now"
    assert not button.disabled
    assert panel.state.race is not None


@pytest.mark.parametrize("control", ["train", "twin"])
def test_interrupted_it_leaves_the_former_picture_and_says_so(monkeypatch, control):
    panel = panels.race_panel(SHORT)
    state, picture, summary = panel.state, panel.picture, panel.summary
    words = panel.controls["train"].description

    def stopped(*sides, progress, **how):
        progress(20, 240)
        raise KeyboardInterrupt

    monkeypatch.setattr(race, "race", stopped)
    if control == "train":
        panel.controls["train"].click()
    else:
        panel.controls["twin"].value = True
    assert (panel.state, panel.picture, panel.summary) == (state, picture, summary)
    assert "中斷" in panel.warning
    assert panel.warning in panel._warning_line.value
    assert panel.controls["train"].description == words
    assert not panel.controls["train"].disabled
    panel.controls["curve"].value = "loss"
    assert panel.warning is None


def test_a_real_interrupt_ends_a_long_race(monkeypatch):
    import _thread

    panel = panels.race_panel(replace(SHORT, d_k=512, steps=4000))
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    try:
        panel.controls["train"].click()
    finally:
        timer.cancel()
    assert "中斷" in panel.warning
    assert panel.state.race is None


def test_interrupted_at_its_start_it_has_no_curves_and_a_button(monkeypatch):
    def stopped(*sides, progress, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr(race, "race", stopped)
    panel = panels.race_panel(SHORT)
    assert (panel.error, panel.state.race) == (None, None)
    assert not panel.controls["train"].disabled
    monkeypatch.setattr(race, "race", run_race)
    panel.controls["train"].click()
    assert panel.state.race is not None


def test_a_race_that_fails_says_so_and_leaves_the_former_picture(lax, monkeypatch):
    panel = panels.race_panel(SHORT)
    state = panel.state

    def fails(*sides, progress, **how):
        raise MemoryError("no room")

    monkeypatch.setattr(race, "race", fails)
    panel.controls["train"].click()
    assert "MemoryError" in panel.warning
    assert panel.warning in panel._warning_line.value
    assert panel.state is state
    assert not panel.controls["train"].disabled


def test_closed_while_it_races_it_ends_quietly(monkeypatch):
    panel = panels.race_panel(SHORT)

    def closes(*sides, progress, **how):
        panel.close()
        return run_race(*sides, progress=progress, **how)

    monkeypatch.setattr(race, "race", closes)
    panel.controls["train"].click()
    assert panel.error is None


def test_random_settings_set_in_any_order(lax):
    rng = np.random.default_rng(3)
    panel = panels.race_panel(SHORT)
    for _ in range(25):
        values = {
            "d_k": int(rng.integers(65, 4097)),
            "sigma": float(rng.uniform(0.05, 3)),
            "eta": float(rng.choice(ETA["sgd"])),
            "optimiser": str(rng.choice(["sgd", "adam"])),
            "twin": bool(rng.integers(2)),
            "curve": str(rng.choice(race.CURVES)),
        }
        set_all(panel, {"d_k": values["d_k"]}, rng)  # first, so that no twin is raced
        set_all(panel, values, rng)
        assert panel.error is None
        assert {name: getattr(panel.state, name) for name in values} == values
        side = panel.state.raw.setting
        if values["twin"]:
            assert side == twin(panel.state.scaled.setting)
        else:
            assert side == replace(panel.state.scaled.setting, scaled=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("d_k", 0), ("d_k", 4097), ("d_k", 10**400), ("d_k", [8]), ("sigma", 0.0),
        ("sigma", 200.0), ("sigma", 10**400), ("sigma", np.nan), ("eta", 0.0), ("eta", 1e7),
        ("eta", -(10**400)), ("eta", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_a_bad_setting_is_one_line_until_it_is_mended(lax, language, name, value):
    al.set_language(language)
    panel = panels.race_panel(SHORT)
    before, summary = panel.controls[name].value, panel.summary
    panel.controls[name].value = value
    assert panel.error is not None
    assert "\n" not in panel.error
    assert panel.picture is None
    panel.controls["train"].click()  # there is nothing to race
    panel.controls["twin"].value = True
    panel.controls["twin"].value = False
    panel.select({"d_k": 1})
    assert panel.error is not None
    panel.controls[name].value = before
    assert panel.error is None
    assert panel.summary == summary


@pytest.mark.parametrize(
    "setting",
    [
        {"d_k": 8.0},
        {"sigma": None},
        {"eta": "1"},
        {"optimiser": "lion"},
        {"twin": 3},
        {"twin": "yes"},
        {"curve": "weights"},
    ],
)
def test_compute_refuses_in_one_line_what_no_control_offers(setting):
    with pytest.raises(settings.SettingError) as refused:
        race.compute(**setting)
    assert "\n" not in str(refused.value)


def test_what_it_is_given_is_checked():
    with pytest.raises(TypeError, match="setting must be"):
        panels.race_panel(3)
    for wrong in ({"twin": "no"}, {"curve": "weights"}):
        with pytest.raises(settings.SettingError):
            panels.race_panel(SHORT, **wrong)
    assert panels.race_panel(replace(SHORT, scaled=False)).state.scaled.setting == SHORT


def test_both_sides_overflowed_are_the_same_and_one_is_not():
    run = alone(SHORT, replace(SHORT, scaled=False))
    loss = run.raw.loss.copy()
    loss[0, -1] = np.nan
    broken = replace(run, raw=replace(run.raw, loss=loss))
    assert race._apart(broken) == np.inf
    both = replace(broken, scaled=replace(run.scaled, loss=np.where(np.isnan(loss), np.nan, 1.0)))
    assert np.isfinite(race._apart(both))


# -- the grid ------------------------------------------------------------------------------------


def test_choosing_a_cell_goes_there_in_one_reaction(counted):
    panel = panels.race_panel(SHORT)
    counted.clear()
    drawn, show = [], panel.view.show
    panel.view.show = lambda *given: (drawn.append(given), show(*given))
    panel.select({"d_k": 3, "eta": 0})
    assert (panel.controls["d_k"].value, panel.controls["eta"].value) == (256, 0.0001)
    assert len(drawn) == 1
    panel.controls["optimiser"].value = "sgd"
    panel.select({"d_k": 4, "eta": 9})
    assert (panel.state.d_k, panel.state.eta) == (1024, 1000.0)
    assert panel.picture.selected == {"d_k": 4, "eta": 9}
    assert counted == []
    with pytest.raises(settings.SettingError):
        panel.select({"eta": 10})


def test_chaotic_points_are_hatched_and_said_to_be():
    al.set_language("en")
    panel = panels.race_panel(Setting(d_k=1024, eta=0.1))
    raw = panel.picture.parts["raw"]
    same(raw.hidden, load_grid().chaotic("adam", 1.0, scaled=False))
    assert raw.hidden[panel.state.place]
    assert "chaotic" in raw.hidden_words
    assert "undivided is chaotic" in panel.picture.formulas[3]


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
@pytest.mark.parametrize("sigma", race_grid.SIGMA)
def test_the_maps_are_those_that_ship(optimiser, sigma):
    panel = panels.race_panel(Setting(d_k=256, sigma=sigma, optimiser=optimiser, eta=0.1))
    for name, scaled in (("scaled", True), ("raw", False)):
        part = panel.picture.parts[name]
        same(part.values, load_grid().table(optimiser, sigma, scaled=scaled))
        assert not part.blank.any()
    assert panel.picture.axes["eta"].names == tuple(map(settings.short, ETA[optimiser]))


def test_a_sigma_that_does_not_ship_has_blank_maps():
    panel = panels.race_panel(Setting(d_k=256, sigma=0.3))
    assert panel.picture.parts["raw"].blank.all()
    assert panel.state.ahead is None
    assert panel.state.scaled.end is None
    assert panel.error is panel.warning is None


def test_a_rate_that_suits_the_other_optimiser_is_told():
    al.set_language("en")
    panel = panels.race_panel(SHORT)
    assert panel.warning is None
    panel.controls["optimiser"].value = "sgd"
    assert "η = 0.003 lies outside" in panel.warning
    assert "0.03 to 1,000" in panel.warning
    panel.controls["eta"].value = 10.0
    assert panel.warning is None


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_without_the_grid_it_says_so_and_races_all_the_same(monkeypatch, language):
    al.set_language(language)

    def missing():
        raise DataFileError("gone")

    monkeypatch.setattr(race, "_grid", missing)
    panel = panels.race_panel(SHORT)
    assert race_grid.COMMAND in panel.warning
    assert panel.picture.parts["scaled"].blank.all()
    assert panel.state.race is not None
    panel.controls["d_k"].value = 16
    assert panel.state.ahead is None
    assert panel.error is None


def test_it_says_whether_the_race_agrees_with_what_ships(monkeypatch):
    al.set_language("en")
    panel = panels.race_panel()
    assert panel.picture.formulas[3].count("(the same)") == 2
    grid = load_grid()
    point = grid.points[Setting()]
    other = replace(point, loss=tuple(loss + 0.01 for loss in point.loss))
    wrong = replace(grid, points={**grid.points, Setting(): other})
    monkeypatch.setattr(race, "_grid", lambda: wrong)
    line = panels.race_panel().picture.formulas[3]
    assert "divided 0.01 apart (not the same)" in line
    chaotic = replace(grid, points={**grid.points, Setting(): replace(other, steady=False)})
    monkeypatch.setattr(race, "_grid", lambda: chaotic)
    assert "chaotic, so it need not" in panels.race_panel().picture.formulas[3]
    # Of a race that is shorter than those that ship nothing is said.
    assert panels.race_panel(SHORT).picture.formulas[3].count("not shipped") == 2


# -- the picture and the words -------------------------------------------------------------------


@pytest.mark.parametrize("curve", race.CURVES)
def test_curves_are_mean_and_range_of_the_seeds(curve):
    panel = panels.race_panel(SHORT, curve=curve)
    run = panel.state.race
    lines = panel.picture.parts["curves"].lines
    looks = ["band", "compared-band", "measured", "theory", "points", "squares"]
    assert [line.look for line in lines] == looks
    for side, band, line in ((run.scaled, *lines[0::2][:2]), (run.raw, *lines[1::2][:2])):
        rows = getattr(side, curve)
        assert rows.shape[0] == len(SEEDS)
        same(np.array(band.y), np.stack([rows.min(axis=0), rows.max(axis=0)]))
        same(line.y, rows.mean(axis=0))
        same(line.x, run.step)
    assert not lines[4].x
    assert not lines[5].x
    top = panel.picture.parts["curves"].y.high
    assert all(np.max(line.y, initial=0.0) <= top for line in lines)


def test_where_no_race_was_run_the_shipped_ends_are_marked():
    panel = panels.race_panel(Setting(d_k=256))
    *rest, scaled, raw = panel.picture.parts["curves"].lines
    assert all(np.size(line.x) == 0 for line in rest)
    assert scaled.x == (400,) * 3
    assert scaled.y == load_grid().points[Setting(d_k=256)].accuracy
    assert raw.y == load_grid().points[Setting(d_k=256, scaled=False)].accuracy
    assert panel.controls["train"].description in panel.picture.parts["curves"].title


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_nothing_moves_but_with_the_optimiser(language, large):
    al.set_language(language)
    panel = panels.race_panel(SHORT, large=large)
    first = lay_out(panel.picture, large=large)
    for name, control in panel.controls.items():
        start = control.value
        for value in stops(control):
            control.value = value
            assert lay_out(panel.picture, large=large) == first, name
        control.value = start


def test_the_summary_names_who_is_ahead():
    al.set_language("en")
    panel = panels.race_panel(Setting(d_k=1024, eta=0.001))
    assert "the divided one is ahead" in panel.summary
    assert "no curves yet" in panel.summary
    panel.controls["sigma"].value = 0.3
    assert "who wins is not known yet" in panel.summary
    panel.controls["sigma"].value = 0.1
    assert "it is a draw" in panel.summary


def test_a_move_is_quick():
    import time

    panel = panels.race_panel(SHORT)
    spent = []
    for d_k in (4, 16, 64, 100, 256, 1024) * 5:
        start = time.perf_counter()
        race_picture.describe(panel._compute(d_k=d_k))
        spent.append(time.perf_counter() - start)
    assert np.median(spent) < 3e-3


def test_the_button_is_no_setting():
    panel = panels.race_panel(SHORT)
    assert isinstance(panel.controls["train"], Press)
    assert panel.controls["train"].description not in panel.settings()


@pytest.mark.browser
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_it_draws_in_a_browser_and_a_click_or_enter_goes_to_a_cell(chromium, language):
    al.set_language(language)
    panel = panels.race_panel(Setting(d_k=1024))
    page = LivePage(chromium, panel.view)
    try:
        page.page.mouse.move(*page.cell("raw", 0, 8))
        assert al.label("race_chaotic") in page.reading
        wanted = "d_k 4，學習率 η 1" if language == "zh-Hant" else "d_k 4, learning rate η 1"
        assert page.reading.startswith(wanted)  # a d_k, not the number of a row
        page.page.mouse.click(*page.cell("raw", 3, 2))
        page.page.wait_for_function("sent.some((one) => one.type === 'select')")
        assert (panel.state.d_k, panel.state.eta) == (256, 0.001)
        page.page.keyboard.press("ArrowDown")
        page.page.keyboard.press("Enter")
        page.page.wait_for_function("sent.filter((one) => one.type === 'select').length > 1")
        assert (panel.state.d_k, panel.state.eta) == (1024, 0.001)
        assert page.errors == []
    finally:
        page.close()
