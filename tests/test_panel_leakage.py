"""The leakage panel: what it shows is what the shipped runs say, and says it in words."""

import itertools
import math
import warnings

import numpy as np
import pytest
from lab_server import chromium
from live_page import LivePage
from panel_tools import same

import andrea_lesson as al
from andrea_lesson import leakage as lab
from andrea_lesson.panels import base, leakage, leakage_picture, settings
from andrea_lesson.panels.controls import stops
from andrea_lesson.panels.layout import lay_out
from andrea_lesson.panels.leakage import LeakageSetting, compute, leakage_panel
from andrea_lesson.panels.printed import print_picture
from andrea_lesson.panels.settings import short

__all__ = ["chromium"]
VARIANTS = ("causal", "none", "reversed", "after_softmax", "diagonal_hidden")
TEXTS = ("zh-Hant", "en")
LEAKING = {"none", "reversed", "after_softmax"}
every_run = pytest.mark.parametrize(("variant", "text"), list(itertools.product(VARIANTS, TEXTS)))
both_languages = pytest.mark.parametrize("language", ["zh-Hant", "en"])


@pytest.fixture(autouse=True)
def _panels_closed_afterwards():
    yield
    for panel in list(base._live):
        panel.close()


@pytest.fixture
def lax(monkeypatch):
    """As for a reader: a bad setting is shown, not raised."""
    monkeypatch.delenv("ANDREA_STRICT")


def run_of(variant, text, seed=leakage.TYPICAL):
    return leakage._loaded()[LeakageSetting(variant, text, seed=seed)]


def may_attend(variant, i, j):
    return {
        "causal": j <= i,
        "none": True,
        "reversed": j > i,
        "after_softmax": j <= i,
        "diagonal_hidden": j < i,
    }[variant]


# -- the state -------------------------------------------------------------------------------------


@every_run
def test_every_head_and_row_is_that_of_the_run(variant, text):
    run = run_of(variant, text)
    n_head, T, _ = run.weights.shape
    assert len(run.characters) == T
    for head in range(n_head):
        for row in range(T):
            state = compute(variant=variant, text=text, head=head, row=row)
            assert state.run is run
            assert state.right is run_of("causal", text)
            same(state.weights, run.weights[head])
            line = run.weights[head, row]
            if any(may_attend(variant, row, j) for j in range(T)):
                assert line[state.largest] == max(line)
            else:
                assert state.largest is None
                assert not line.any()
            expected = run.characters[row + 1] if row < T - 1 else None
            assert state.following == expected


@every_run
def test_what_is_hidden_has_no_weight_and_what_moved_before_its_time_is_a_leak(variant, text):
    for seed in lab.SEEDS:
        state = compute(variant=variant, text=text, seed=seed)
        run, T = state.run, len(state.run.characters)
        assert run.setting.seed == seed
        for i, j in itertools.product(range(T), repeat=2):
            assert state.visible[i, j] == may_attend(variant, i, j)
        assert not run.weights[:, ~state.visible].any()
        for row in range(T):
            assert state.leaks[row] == (row < run.changed and run.probe[row] > 1e-6)
        assert state.leaks.any() == (variant in LEAKING)
        assert len(state.runs) == len(VARIANTS)


def test_how_it_starts():
    for language in TEXTS:
        al.set_language(language)
        state = leakage_panel().state
        assert (state.variant, state.text, state.seed) == ("causal", language, leakage.TYPICAL)
        none = run_of("none", language)
        ahead = [sum(head[i, i + 1] for i in range(47)) for head in none.weights]
        assert ahead[state.head] == max(ahead)
    state = leakage_panel("none", text="zh-Hant", head=2, row=5).state
    assert (state.variant, state.text, state.head, state.row) == ("none", "zh-Hant", 2, 5)
    for wrong in ({"variant": "some"}, {"text": "fr"}, {"head": -1}, {"row": 99}, {"head": 1.0}):
        with pytest.raises(settings.SettingError):
            leakage_panel(**wrong)


@every_run
def test_the_seed_to_start_with_is_a_typical_one(variant, text):
    ends = {seed: run_of(variant, text, seed).honest_loss[-1] for seed in lab.SEEDS}
    assert ends[leakage.TYPICAL] == pytest.approx(np.median([*ends.values()]), rel=0.07)


def test_random_moves(monkeypatch):
    monkeypatch.setenv("ANDREA_STRICT", "1")
    rng, panel = np.random.default_rng(0), leakage_panel()
    names = list(panel.controls)
    for _ in range(120):
        control = panel.controls[names[rng.integers(len(names))]]
        values = stops(control)
        control.value = values[rng.integers(len(values))]
        state = panel.state
        assert {name: getattr(state, name) for name in names} == {
            name: panel.controls[name].value for name in names
        }
        assert state.run is run_of(state.variant, state.text, state.seed)


# -- bad settings, bad files -----------------------------------------------------------------------


@both_languages
@pytest.mark.parametrize(
    "setting",
    [
        {"variant": "some"},
        {"text": "fr"},
        {"head": -1},
        {"head": 4},
        {"head": 1.0},
        {"row": 48},
        {"row": True},
        {"seed": 3},
        {"seed": -1},
    ],
    ids=str,
)
def test_compute_refuses_what_no_control_offers(setting, language):
    al.set_language(language)
    with pytest.raises(settings.SettingError) as refused:
        compute(**setting)
    assert "\n" not in str(refused.value)


def test_a_bad_setting_is_said_and_forgotten(lax):
    panel = leakage_panel()
    panel.controls["row"].value = 48
    assert "48" in panel.error
    assert panel.state is None
    panel.controls["row"].value = 47
    assert panel.error is None
    assert panel.state.row == 47


@pytest.mark.parametrize("name", ["variant", "text"])
def test_a_choice_of_nothing_is_said_in_the_words_of_the_panel(lax, name):
    al.set_language("en")
    panel = leakage_panel(text="en", large="yes")
    before = panel.controls[name].value
    panel.controls[name].value = None
    assert " must be one of " in panel.error
    assert "Error" not in panel.error
    panel.controls[name].value = before
    assert panel.error is None


def broken_file(monkeypatch, tmp_path, content):
    path = tmp_path / "leakage.json"
    if content is not None:
        path.write_bytes(content)
    leakage._loaded.cache_clear()
    monkeypatch.setattr(lab, "data_path", lambda name: path)
    monkeypatch.setattr(leakage, "data_path", lambda name: path)
    return path


EMPTY = b'{"made_by": {}, "runs": []}'


@pytest.mark.parametrize("content", [None, b"{", b"[]", b'{"runs": 3}', EMPTY])
@pytest.mark.parametrize("view", base.VIEWS)
def test_without_the_file_it_says_how_to_make_it(lax, monkeypatch, tmp_path, content, view):
    """And it is there at once when the file is."""
    good = leakage._loaded()
    with monkeypatch.context() as patched:
        path = broken_file(patched, tmp_path, content)
        panel = leakage_panel(view=view)
        assert str(path) in panel.error
        assert panel.error.endswith("python -m andrea_lesson.training leakage --anew")
        assert panel.error.count("\n") == 0
        assert "DataFileError" not in panel.error
        assert (panel.state, panel.picture, panel.summary) == (None, None, "")
        patched.setattr(leakage, "_loaded", lambda: good)
        panel.controls["row"].value = 3
        assert panel.error is None
        assert panel.state.row == 3
    leakage._loaded.cache_clear()


def test_without_the_file_strict_raises(monkeypatch, tmp_path):
    monkeypatch.setenv("ANDREA_STRICT", "1")
    with monkeypatch.context() as patched:
        broken_file(patched, tmp_path, None)
        with pytest.raises(settings.SettingError, match="missing"):
            leakage_panel()
    leakage._loaded.cache_clear()


# -- the picture -----------------------------------------------------------------------------------


@every_run
def test_the_chart_has_both_losses_the_right_one_and_the_guesses(variant, text):
    state = compute(variant=variant, text=text)
    run, right = state.run, run_of("causal", text)
    chart = leakage_picture.describe(state).parts["losses"]
    by_look = {}
    for line in chart.lines:
        by_look.setdefault(line.look, []).append(line)
    (training,), (honest,), (compared,) = (
        by_look[look] for look in ("theory", "measured", "dashdot")
    )
    same(training.x, run.step)
    same(training.y, run.training_loss)
    same(honest.y, run.honest_loss)
    if variant == "causal":
        assert (compared.x, compared.y, compared.words) == ((), (), "")
    else:
        same(compared.y, right.honest_loss)
        assert compared.words
    upper, lower = by_look["dotted"]
    assert set(upper.y) == {run.uniform_loss}
    assert set(lower.y) == {run.unigram_loss}
    assert by_look["here"][0].y == (run.honest_loss[-1],)
    for loss in (run.training_loss[-1], run.honest_loss[-1]):
        assert short(float(loss)) in chart.title
    for line in chart.lines:
        assert (np.asarray(line.y) <= chart.y.high).all()
        assert (np.asarray(line.x) <= chart.x.high).all()


@every_run
def test_the_matrix_the_strip_and_the_probe(variant, text):
    for head, row in ((0, 0), (1, 22), (3, 47)):
        state = compute(variant=variant, text=text, head=head, row=row)
        run, parts = state.run, leakage_picture.describe(state).parts
        same(parts["weights"].values, run.weights[head])
        same(parts["weights"].hidden, ~state.visible)
        same(parts["row_weights"].values, run.weights[head, row])
        same(parts["row_weights"].hidden, ~state.visible[row])
        assert parts["row_weights"].lit == ((row + 1,) if row < 47 else ())
        probe = parts["probe"]
        same(probe.values, run.probe)
        assert probe.lit == tuple(n for n in range(run.changed) if run.probe[n] > 1e-6)
        assert probe.values.max() <= probe.high
        # In words as well, not by a frame alone.
        counted = str(len(probe.lit)) in probe.words
        assert counted == bool(probe.lit)


def test_rulers_do_not_move_from_mask_to_mask():
    for text in TEXTS:
        ends = set()
        for variant in VARIANTS:
            parts = leakage_picture.describe(compute(variant=variant, text=text)).parts
            chart, probe = parts["losses"], parts["probe"]
            ends.add((chart.y.low, chart.y.high, chart.x.high, probe.low, probe.high))
        assert len(ends) == 1


@pytest.mark.parametrize("large", [False, True])
@both_languages
def test_nothing_jumps(large, language):
    al.set_language(language)
    panel = leakage_panel(large=large)
    first = lay_out(panel.picture, large=large)
    tops = {name: box.top for name, box in first.boxes.items()}
    assert tops["losses"] == tops["weights"] == tops["probe"] < tops["row_weights"]
    for text, variant, row in itertools.product(TEXTS, VARIANTS, (0, 22, 47)):
        for name, value in (("text", text), ("variant", variant), ("row", row)):
            panel.controls[name].value = value
        assert lay_out(panel.picture, large=large) == first
        assert len(panel.picture.formulas) == 5
        assert all(panel.picture.formulas)


def test_every_character_can_be_seen():
    for text in TEXTS:
        picture = leakage_picture.describe(compute(text=text))
        names = picture.axes["key"].names
        run = run_of("causal", text)
        assert len(names) == len(run.characters)
        assert all(name.strip() and len(name) == 1 for name in names)
        for name, character in zip(names, run.characters, strict=True):
            assert name == {"\n": "⏎", " ": "␣"}.get(character, character)


@both_languages
def test_it_is_printed_without_a_missing_character(language):
    al.set_language(language)
    for text, variant in (("en", "none"), ("zh-Hant", "reversed")):
        picture = leakage_picture.describe(compute(text=text, variant=variant))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            figure = print_picture(picture, lay_out(picture))
            figure.canvas.draw()
        written = [text.get_text() for text in figure.texts if text.get_visible()]
        assert set(picture.axes["key"].names) <= set(written)  # beneath the strip, and whole
        assert not any(len(words) == 2 and words.endswith("…") for words in written)


# -- words -----------------------------------------------------------------------------------------


@every_run
def test_the_line_of_a_row_names_what_it_must_predict_and_where_it_looks(variant, text):
    al.set_language("en")
    run = run_of(variant, text)
    T = len(run.characters)
    for head, row in itertools.product((0, 3), range(T)):
        words = leakage_picture.describe(compute(variant=variant, text=text, head=head, row=row))
        line = words.formulas[1]
        assert line.startswith(f"row {row} reads “{leakage_picture.shown(run.characters[row])}”")
        if row < T - 1:
            following = leakage_picture.shown(run.characters[row + 1])
            assert f"must predict “{following}”;" in line
        else:
            assert "must predict what follows this excerpt" in line
        weights = run.weights[head, row]
        if not weights.any():
            assert line.endswith("sees nothing in this row, all weights are 0")
            continue
        place = max(range(T), key=lambda j: weights[j])
        kind = (
            "a character before"
            if place < row
            else "itself"
            if place == row
            else "the answer itself, a peek"
            if place == row + 1
            else "a later character, a peek"
        )
        assert line.endswith(kind)
        assert f"{short(float(weights[place]))}, on “" in line
        assert f"” at {place}: " in line


@every_run
@both_languages
def test_numbers_in_the_formulas_and_the_summary_are_those_of_the_run(variant, text, language):
    al.set_language(language)
    panel = leakage_panel(variant, text=text)
    run, right = run_of(variant, text), run_of("causal", text)
    honest = float(run.honest_loss[-1])
    losses, _, probe, *written = panel.picture.formulas
    vocabulary = round(math.exp(run.uniform_loss))
    for words in (short(honest), short(math.exp(honest)), f"ln {vocabulary} = "):
        assert words in losses
    moved = sum(run.probe[: run.changed] > 1e-6)
    assert (f"{moved}" in probe) or not moved
    assert short(float(run.probe[: run.changed].max())) in probe
    assert al.label("leakage_against", right=short(float(right.honest_loss[-1]))) in (
        panel.summary if variant != "causal" else al.label("leakage_against", right=short(honest))
    )
    for number in (honest, float(run.training_loss[-1]), run.uniform_loss):
        assert short(number) in panel.summary
    key = "leakage_leaks" if variant in LEAKING else "leakage_tight"
    assert al.label(key, rows=moved, changed=run.changed) in panel.summary
    assert (panel.warning is not None) == (variant in LEAKING)
    if panel.warning:
        assert short(honest) in panel.warning
        in_denominator = {"zh-Hant": "分母", "en": "denominator"}[language] in panel.warning
        assert in_denominator == (variant == "after_softmax")
    assert panel.summary.count("\n") == 0
    assert run.sample[:8].replace("\n", "⏎") in "".join(written)


def test_what_it_writes_is_cut_to_two_lines():
    assert leakage_picture.cut("") == ("",)
    assert leakage_picture.cut("短文") == ("短文",)
    long = "字" * 300
    first, second = leakage_picture.cut(long)
    assert len(first) == 56
    assert second == "字" * 56 + "…"
    words = "one two three " * 9
    first, second = leakage_picture.cut(words)
    assert first + " " + second == words  # broken between words, and nothing is lost
    assert first.split()[-1] in ("one", "two", "three")


# -- in the browser --------------------------------------------------------------------------------


@both_languages
def test_a_click_and_the_arrow_keys_choose_a_row(chromium, language):
    al.set_language(language)
    panel = leakage_panel("none")
    page = LivePage(chromium, panel.view)

    def arrives_at(row):
        for _ in range(100):
            if panel.state.row == row:
                return
            page.page.wait_for_timeout(50)
        assert panel.state.row == row

    try:
        page.page.mouse.click(*page.cell("weights", 30, 3))
        arrives_at(30)
        page.page.keyboard.press("ArrowDown")
        arrives_at(31)
        page.page.mouse.click(*page.point_of("probe", 0.5, 10.5 / 48))
        arrives_at(10)
        page.page.wait_for_timeout(200)
        following = leakage_picture.shown(panel.state.following)
        text = page.page.locator(".andrea-formulas").inner_text()
        assert al.label("leakage_row_predicts", next=following).strip() in text
        for variant in VARIANTS:
            panel.controls["variant"].value = variant
            page.update()
        assert page.errors == []
    finally:
        page.close()
