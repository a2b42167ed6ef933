"""Panels without a browser: what they compute, say and draw, and how they take a bad setting."""

import base64
import io
import logging
import re
import warnings

import ipywidgets as widgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image
from traitlets import TraitError

import andrea_lesson as al
from andrea_lesson import experiments, fonts, panels
from andrea_lesson.panels import attention, base, mask, scaling, settings, softmax
from andrea_lesson.panels.controls import stops
from andrea_lesson.panels.view import PictureView

MAKERS = {
    "attention": panels.attention_panel,
    "scaling": panels.scaling_panel,
    "mask": panels.mask_panel,
    "softmax": panels.softmax_panel,
}
every_panel = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
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


@pytest.fixture
def undrawn(monkeypatch):
    """For what is about the state alone: drawing takes nearly all the time."""
    monkeypatch.setattr(PictureView, "show", lambda view, state: None)


def same(one, other):
    np.testing.assert_array_equal(one, other, strict=True)


def same_steps(one, other):
    for name in ("scores", "scaled_scores", "masked_scores", "weights", "output"):
        same(getattr(one, name), getattr(other, name))


def picture(panel):
    with Image.open(io.BytesIO(bytes(panel.view.widget.value))) as image:
        return np.asarray(image)


def set_all(panel, values, rng):
    """Set several controls, in any order; what stands there in between may be a bad setting.

    The source comes first: choosing the running example sets T.
    """
    names = [name for name in values if name != "source"]
    rng.shuffle(names)
    for name in ["source", *names] if "source" in values else names:
        panel.controls[name].value = values[name]


# -- what every panel does -----------------------------------------------------------------------


@every_panel
@both_languages
def test_both_ends_and_the_middle_of_every_control(make, language, caplog):
    al.set_language(language)
    panel = make()
    size = picture(panel).shape
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        for control in panel.controls.values():
            start = control.value
            for value in [*stops(control), start]:
                control.value = value
                assert panel.error is None
                assert panel.state is not None
                assert picture(panel).shape == size
                assert np.ptp(picture(panel)) > 100  # something is drawn
                chinese = any("\u4e00" <= letter <= "\u9fff" for letter in panel.summary)
                assert chinese is (language == "zh-Hant")
    assert [record.getMessage() for record in caplog.records] == []  # no glyph is missing


@every_panel
def test_every_control_has_a_label_a_number_and_follows_the_hand(make):
    for control in make().controls.values():
        assert control.description
        if isinstance(
            control, (widgets.IntSlider, widgets.FloatLogSlider, widgets.SelectionSlider)
        ):
            assert control.continuous_update
            assert control.readout


@every_panel
def test_nothing_grows_or_moves_in_100_moves(make):
    panel = make()
    figures = plt.get_fignums()
    for control in panel.controls.values():  # whatever is made at its first use
        for value in stops(control):
            control.value = value
    counts, places = content(panel)
    rng = np.random.default_rng(0)
    for move in range(100):
        free = [control for control in panel.controls.values() if not control.disabled]
        control = free[move % len(free)]
        values = stops(control)
        control.value = values[rng.integers(len(values))]
    assert plt.get_fignums() == figures
    after, moved = content(panel)
    assert after[:2] == counts[:2]
    assert after[2] <= counts[2] + 40  # legend entries and numbers in cells come and go
    same(moved, places)


def content(panel):
    axes = panel.view.figure.get_axes()
    images = sum(len(ax.images) for ax in axes)
    children = sum(len(ax.get_children()) for ax in axes)
    named = [ax.get_position(original=True).bounds for ax in panel.view.axes.values()]
    return (len(axes), images, children), np.array(named)


def test_memory_does_not_grow_in_500_updates():
    resource = pytest.importorskip("resource")
    alive = [make() for make in MAKERS.values()]

    def move(count):
        for turn in range(count):
            panel = alive[turn % 4]
            panel.controls["T"].value = stops(panel.controls["T"])[turn // 4 % 3]

    move(60)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    move(500)
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert growth < 20 * 1024  # kilobytes; on macOS bytes, where the test asks for too little


@every_panel
def test_two_copies_do_not_influence_each_other(make):
    one, other = make(), make()
    state, shown = other.state, picture(other)
    one.controls["T"].value = stops(one.controls["T"])[0]
    assert other.state is state
    same(picture(other), shown)
    assert one.state.T != other.state.T


@every_panel
def test_running_the_cell_again_leaves_one_reaction_a_move(make, monkeypatch):
    panel = [make() for _ in range(3)][-1]
    shown = []
    monkeypatch.setattr(type(panel.view), "show", lambda view, state: shown.append(view))
    panel.controls["T"].value = stops(panel.controls["T"])[0]
    assert shown == [panel.view]


@every_panel
def test_language_is_that_in_force_when_the_panel_was_made(make):
    al.set_language("en")
    panel = make()
    al.set_language("zh-Hant")
    panel.controls["T"].value = stops(panel.controls["T"])[0]
    assert panel.summary.isascii() or "√" in panel.summary or "−" in panel.summary
    assert not any("\u4e00" <= letter <= "\u9fff" for letter in panel.summary)
    assert al.get_language() == "zh-Hant"


@every_panel
def test_state_cannot_be_changed(make):
    with pytest.raises(AttributeError):
        make().state.T = 3


@every_panel
@both_languages
def test_bundle_carries_a_still_picture_that_says_what_to_do(make, language):
    al.set_language(language)
    panel = make()
    bundle = panel._repr_mimebundle_()
    assert bundle["text/plain"] == panel.summary
    assert "application/vnd.jupyter.widget-view+json" in bundle
    with Image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))) as image:
        still = np.asarray(image.convert("RGB"))
    live = picture(panel)
    same(still[-len(live) :], live)
    strip = still[: -len(live)]
    assert len(strip) > 20
    assert (strip < 100).any()  # words
    assert base64.b64decode(bundle["image/png"]) == panel.view.still()  # the same bytes each time


@every_panel
def test_shown_in_a_cell_it_leaves_the_panel_and_its_keepsake(make, monkeypatch):
    published = []
    monkeypatch.setattr(base, "display", lambda data, **how: published.append(data))
    panel = make()
    panel._ipython_display_()
    live, keepsake = published
    assert live["image/png"] in keepsake["text/html"]
    assert "andrea-panel" in panel._dom_classes
    assert "<script" not in keepsake["text/html"]


# -- bad settings --------------------------------------------------------------------------------


@both_languages
def test_bad_setting_gives_one_line_and_no_picture_until_it_is_mended(lax, language):
    al.set_language(language)
    panel = panels.attention_panel()
    good, summary = picture(panel), panel.summary
    panel.controls["T"].value = 65
    assert "65" in panel.error
    assert "64" in panel.error
    assert "\n" not in panel.error
    assert panel.error in panel._error_line.value
    assert panel.state is None
    assert panel.summary == ""
    assert np.ptp(picture(panel)) == 0
    assert picture(panel).shape == good.shape
    panel.controls["T"].value = 16
    assert panel.error is None
    assert panel._error_line.value == ""
    assert panel.summary == summary
    same(picture(panel), good)


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (panels.attention_panel, {"T": 0}),
        (panels.attention_panel, {"d_k": 257}),
        (panels.attention_panel, {"seed": -1}),
        (panels.attention_panel, {"mask": "prefix", "prefix": 17}),
        (panels.attention_panel, {"mask": "sliding-window", "window": 0}),
        (panels.attention_panel, {"source": "running-example", "T": 7}),
        (panels.scaling_panel, {"seed": 1000}),
        (panels.mask_panel, {"T": 33}),
        (panels.mask_panel, {"mask": "padding", "length": 9}),
        (panels.mask_panel, {"mask": "documents", "boundary": 9}),
        (panels.softmax_panel, {"row": 8}),
        (panels.softmax_panel, {"temperature": 0.0}),
        (panels.softmax_panel, {"temperature": float("nan")}),
    ],
)
def test_each_bad_setting_is_said_and_forgotten(lax, undrawn, make, changes):
    panel = make()
    start = {name: control.value for name, control in panel.controls.items()}
    for name, value in changes.items():
        panel.controls[name].value = value
    assert panel.error.endswith("。")
    assert "Error" not in panel.error
    assert panel.state is None
    for name, value in start.items():
        panel.controls[name].value = value
    assert panel.error is None
    assert panel.state is not None


@pytest.mark.parametrize(
    ("compute", "setting"),
    [
        (attention.compute, {"source": "dice"}),
        (attention.compute, {"mask": "padding"}),
        (attention.compute, {"T": 2.0}),
        (attention.compute, {"T": True}),
        (scaling.compute, {"d_k": 0}),
        (scaling.compute, {"T": 1}),
        (scaling.compute, {"divisor": "sqrt_d_model"}),
        (scaling.compute, {"components": "unit"}),
        (mask.compute, {"mask": "diagonal"}),
        (mask.compute, {"value": -1e5}),
        (mask.compute, {"precision": "float8"}),
        (mask.compute, {"spread": 2.0}),
        (softmax.compute, {"mask": "prefix"}),
        (softmax.compute, {"temperature": float("inf")}),
    ],
)
def test_compute_refuses_what_no_control_offers(compute, setting):
    with pytest.raises(settings.SettingError):
        compute(**setting)


def test_strict_raises_what_a_reader_would_be_shown():
    panel = panels.attention_panel()
    with pytest.raises(settings.SettingError, match="65"):
        panel.controls["T"].value = 65
    assert "65" in panel.error


def test_unforeseen_exception(monkeypatch):
    panel = panels.attention_panel()

    def fail(**values):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(panel, "_compute", fail)
    with pytest.raises(RuntimeError):
        panel.controls["T"].value = 8
    monkeypatch.delenv("ANDREA_STRICT")
    panel.controls["T"].value = 9
    assert "RuntimeError: two lines" in panel.error
    assert panel.state is None


def test_error_is_shown_as_text_not_as_markup(lax, monkeypatch):
    panel = panels.attention_panel()
    monkeypatch.setattr(panel, "_compute", lambda **values: values["<b>"])
    panel.controls["T"].value = 8
    assert "<b>" not in panel._error_line.value


# -- exercise_all --------------------------------------------------------------------------------


def test_exercise_moves_all_live_panels_and_puts_everything_back():
    alive = [panels.softmax_panel(), panels.softmax_panel()]
    alive[1].controls["T"].value = 5
    panels.mask_panel().close()
    before = [{name: c.value for name, c in panel.controls.items()} for panel in alive]
    pictures = [picture(panel) for panel in alive]
    seen = []
    for panel in alive:
        for control in panel.controls.values():
            control.observe(lambda change: seen.append((change.owner, change.new)), "value")
    moves = panels.exercise_all()
    assert moves == sum(len(stops(c)) for panel in alive for c in panel.controls.values())
    for panel, values, shown in zip(alive, before, pictures, strict=True):
        assert {name: c.value for name, c in panel.controls.items()} == values
        same(picture(panel), shown)
        for control in panel.controls.values():
            visited = {value for owner, value in seen if owner is control}
            assert visited | {control.value} >= set(stops(control))


def test_exercise_raises_the_first_exception_and_puts_back(monkeypatch, undrawn):
    panel = panels.attention_panel()
    compute = panel._compute

    def fail_at_the_end(**values):
        if values["d_k"] == 256:
            raise ZeroDivisionError
        return compute(**values)

    monkeypatch.setattr(panel, "_compute", fail_at_the_end)
    with pytest.raises(ZeroDivisionError):
        panels.exercise_all()
    assert panel.controls["d_k"].value == 64
    assert panel.error is None
    monkeypatch.delenv("ANDREA_STRICT")
    panels.exercise_all()


@pytest.mark.parametrize("make", [panels.attention_panel, panels.softmax_panel])
def test_exercise_leaves_what_waits_for_random_vectors(undrawn, make):
    panel = make()
    before = panel.controls["T"].value
    panel.controls["source"].value = settings.EXAMPLE
    panels.exercise_all()
    panel.controls["source"].value = settings.RANDOM
    assert (panel.controls["T"].value, panel.controls["d_k"].value) == (before, 64)


@pytest.mark.parametrize("T", [0, -5, 1000])
@pytest.mark.parametrize("name", ["attention", "mask", "softmax"])
def test_a_refused_t_moves_nothing_else(lax, undrawn, name, T):
    panel = MAKERS[name]()
    if name != "softmax":
        panel.controls["mask"].value = "prefix"
    before = {name: c.value for name, c in panel.controls.items()}
    panel.controls["T"].value = T
    assert panel.error is not None
    panel.controls["T"].value = before["T"]
    assert panel.error is None
    assert {name: c.value for name, c in panel.controls.items()} == before


def test_a_value_that_no_control_takes_changes_nothing(undrawn):
    panel = panels.attention_panel()
    state = panel.state
    for name, value in (("mask", "nope"), ("T", None)):
        with pytest.raises(TraitError):
            panel.controls[name].value = value
    assert panel.state is state
    assert panel.error is None


def test_a_closed_panel_still_has_its_picture():
    panel = panels.attention_panel()
    panel.close()
    bundle = panel._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/png"}


# -- the attention panel -------------------------------------------------------------------------

MASKS = {
    "full": lambda T, values: al.full_mask(T),
    "causal": lambda T, values: al.causal_mask(T),
    "sliding-window": lambda T, values: al.sliding_window_mask(T, window=values["window"]),
    "prefix": lambda T, values: al.prefix_mask(T, prefix=values["prefix"]),
}


def test_attention_panel_by_default():
    state = panels.attention_panel().state
    Q, K, V = experiments.random_qkv(16, 64)
    same_steps(state.steps, al.attention_steps(Q, K, V, mask="causal"))
    same(state.mask, al.causal_mask(16))
    assert state.tokens is None


def test_attention_panel_at_random_settings_set_in_any_order(lax, undrawn):
    rng = np.random.default_rng(1)
    panel = panels.attention_panel()
    for _ in range(30):
        example = bool(rng.random() < 0.3)
        T = int(rng.integers(1, 7 if example else 65))
        values = {
            "source": "running-example" if example else "random",
            "T": T,
            "mask": str(rng.choice(list(MASKS))),
            "window": int(rng.integers(1, 65)),
            "prefix": int(rng.integers(0, T + 1)),
            "scaled": bool(rng.random() < 0.5),
            "seed": int(rng.integers(0, 100)),
        }
        if not example:
            values["d_k"] = int(rng.integers(1, 257))
        set_all(panel, values, rng)
        assert panel.error is None, values
        if example:
            data = al.running_example()
            Q, K, V = al.project_qkv(data.X[:T], data.W_Q, data.W_K, data.W_V)
            assert panel.state.tokens == data.tokens[:T]
        else:
            Q, K, V = experiments.random_qkv(T, values["d_k"], seed=values["seed"])
            assert panel.state.tokens is None
        allowed = MASKS[values["mask"]](T, values)
        scale = None if values["scaled"] else 1.0
        same_steps(panel.state.steps, al.attention_steps(Q, K, V, mask=allowed, scale=scale))
        same(panel.state.mask, allowed)


@pytest.mark.parametrize("T", [1, 33, 64])
def test_attention_summary_says_what_is_on_show(T):
    al.set_language("en")
    panel = panels.attention_panel()
    panel.controls["T"].value = T
    steps = panel.state.steps
    for number in (
        f"{steps.scores.std():.2f}",
        f"{steps.scaled_scores.std():.2f}",
        f"effective number of keys: {float(experiments.effective_keys(steps.weights[-1])):.2f};",
        f"{steps.weights[-1].max():.3f}",
        f"T = {T},",
        f"the last row sees: {T},",
        "d_k = 64",
        "causal",
        "Random",
    ):
        assert number in panel.summary


def test_running_example_fixes_d_k_and_gives_everything_back():
    panel = panels.attention_panel()
    controls = panel.controls
    controls["source"].value = "running-example"
    assert (controls["T"].value, controls["T"].max) == (6, 6)
    assert (controls["d_k"].value, controls["d_k"].disabled) == (4, True)
    assert panel.state.tokens == ["小安", "去", "圖書館", "借", "書", "看"]
    controls["source"].value = "random"
    assert (controls["T"].value, controls["T"].max) == (16, 64)
    assert (controls["d_k"].value, controls["d_k"].disabled) == (64, False)
    assert panel.error is None


@pytest.mark.parametrize("make", [panels.attention_panel, panels.softmax_panel])
def test_choosing_the_example_shows_all_its_tokens_whatever_t_was(undrawn, make):
    panel = make()
    panel.controls["T"].value = 3
    panel.controls["source"].value = "running-example"
    assert (panel.state.T, panel.controls["T"].value) == (6, 6)
    panel.controls["source"].value = "random"
    assert (panel.state.T, panel.controls["T"].max) == (3, 64)


@pytest.mark.parametrize("make", [panels.attention_panel, panels.softmax_panel])
def test_a_panel_may_start_at_the_example(undrawn, make):
    panel = make(source="example")
    assert (panel.state.source, panel.state.T, panel.state.d_k) == ("running-example", 6, 4)
    panel.controls["source"].value = "random"
    assert panel.state.T == make().state.T
    assert panel.state.d_k == 64
    assert make(source="random").state.source == "random"
    with pytest.raises(settings.SettingError, match=r"random, example.*dice"):
        make(source="dice")


def limits(panel, *names):
    return [panel.view.axes[name].images[0].get_clim() for name in names]


def test_same_colours_show_what_the_scaling_does():
    panel = panels.attention_panel()
    scores, scaled, masked = limits(panel, "scores", "scaled_scores", "masked_scores")
    assert scores[1] > 4 * scaled[1]
    state = panel.state
    panel.controls["same_colours"].value = True
    assert limits(panel, "scores", "scaled_scores", "masked_scores") == [scores] * 3
    same_steps(panel.state.steps, state.steps)
    panel.controls["same_colours"].value = False
    assert limits(panel, "scores", "scaled_scores", "masked_scores") == [scores, scaled, masked]


def test_what_is_set_while_the_example_shows_stays():
    panel = panels.attention_panel()
    panel.controls["source"].value = "running-example"
    panel.controls["T"].value = 6  # there already, but meant
    panel.controls["source"].value = "random"
    assert (panel.state.T, panel.state.d_k) == (6, 64)


def test_d_k_waits_while_the_example_shows():
    panel = panels.attention_panel()
    panel.controls["source"].value = "running-example"
    panel.controls["d_k"].value = 128
    assert (panel.state.d_k, panel.controls["d_k"].value) == (4, 4)
    panel.controls["source"].value = "random"
    assert panel.state.d_k == 128


def test_only_what_has_an_effect_can_be_moved():
    controls = panels.attention_panel().controls
    for kind, free in (("causal", set()), ("sliding-window", {"window"}), ("prefix", {"prefix"})):
        controls["mask"].value = kind
        assert {name for name in ("window", "prefix") if not controls[name].disabled} == free


# -- the scaling panel ---------------------------------------------------------------------------


def test_widths_and_lengths_on_offer():
    controls = panels.scaling_panel().controls
    widths = [value for _, value in controls["d_k"].options]
    assert (widths[0], widths[-1]) == (1, 4096)
    assert {12, 32, 64, 128, 256, 4096} <= set(widths)
    assert sum(64 <= width < 128 for width in widths) == 8
    lengths = [value for _, value in controls["T"].options]
    assert (lengths[0], lengths[-1]) == (2, 1024)
    assert {16, 128, 1024} <= set(lengths)


def test_scaling_panel_at_random_settings(undrawn):
    rng = np.random.default_rng(2)
    panel = panels.scaling_panel()
    for _ in range(12):
        values = {
            "d_k": int(rng.choice(scaling.WIDTHS)),
            "T": int(rng.choice(scaling.LENGTHS)),
            "divisor": str(rng.choice(experiments.DIVISORS)),
            "components": str(rng.choice(experiments.COMPONENTS)),
            "seed": int(rng.integers(0, 3)),
        }
        set_all(panel, values, rng)
        state = panel.state
        divisor = {"none": 1, "sqrt_d_k": values["d_k"] ** 0.5, "d_k": values["d_k"]}
        row = experiments.random_row(
            values["d_k"], values["T"], components=values["components"], seed=values["seed"]
        )
        np.testing.assert_allclose(state.row, row / divisor[values["divisor"]], rtol=1e-12)
        np.testing.assert_allclose(state.weights, al.softmax(state.row), rtol=1e-12)
        assert state.effective_keys == pytest.approx(experiments.effective_keys(state.weights))
        rows = experiments.row_scores(
            (values["d_k"],), components=values["components"], seed=values["seed"]
        )[0, :, : values["T"]]
        keys = experiments.effective_keys(al.softmax(rows / divisor[values["divisor"]]))
        assert state.keys[state.place] == pytest.approx(np.median(keys), rel=1e-3)
        assert keys[0] == pytest.approx(state.effective_keys, rel=1e-3)
        assert state.widths[state.place] == values["d_k"]
        predicted = values["d_k"] ** (0.5 if values["components"] == "unit-variance" else -0.5)
        predicted /= divisor[values["divisor"]]
        assert state.predicted_std[state.place] == pytest.approx(predicted)
        assert state.std[state.place] == pytest.approx(predicted, rel=0.15)
        assert state.std[state.place] == pytest.approx(state.scores.std())


def test_scaling_for_a_width_between_those_of_the_slider():
    state = scaling.compute(d_k=100)
    assert state.widths[state.place] == 100
    assert 100 not in scaling.WIDTHS
    assert state.scores.std() == pytest.approx(10, rel=0.15)


@pytest.mark.parametrize(("divisor", "name"), [("none", "raw"), ("sqrt_d_k", "scaled")])
def test_effective_keys_of_the_panel_agree_with_the_experiment(divisor, name):
    state = scaling.compute(T=1024, divisor=divisor)
    there = [state.widths.index(d_k) for d_k in (4, 16, 64, 1024)]
    measured = experiments.freezing((4, 16, 64, 1024), T=1024)
    # Medians over 16 rows of a thing that spreads widely where rows freeze.
    spread = 0.5 if divisor == "none" else 0.1
    np.testing.assert_allclose(
        np.log(state.keys[there]), np.log(getattr(measured, name)), atol=spread
    )
    assert not state.keys.flags.writeable


def bars_of_the_row(panel):
    (bars,) = panel.view.axes["row"].patches
    return bars.get_path().vertices.reshape(-1, 5, 2)[:, 2, 1]


def test_a_frozen_row_is_one_tall_bar_and_a_scaled_row_lies_flat():
    panel = panels.scaling_panel()
    panel.controls["d_k"].value = 4096
    ax = panel.view.axes["row"]
    heights = bars_of_the_row(panel)
    same(heights, np.sort(panel.state.weights)[:-17:-1])
    assert heights[0] > 0.99
    # The tall bar covers a twentieth of the width or more, to be seen from the back row.
    blue = np.all(np.abs(picture(panel).astype(int) - [29, 105, 150]) < 30, axis=-1)
    box = ax.get_window_extent()
    columns = blue[60:200, int(box.x0) : int(box.x1)].mean(axis=0) > 0.9
    assert 5 < columns.sum() < 20
    assert "16" in ax.get_xlabel()
    assert "128" in ax.get_xlabel()
    top = ax.get_ylim()
    panel.controls["divisor"].value = "sqrt_d_k"
    assert bars_of_the_row(panel).max() < 0.1
    assert ax.get_ylim() == top
    panel.controls["T"].value = 2
    assert len(bars_of_the_row(panel)) == 2


def test_theory_of_effective_keys_is_for_components_of_variance_1():
    panel = panels.scaling_panel()
    scaled, freeze = panel.view.axes["keys"].lines[1:3]
    assert scaled.get_ydata()[0] == pytest.approx(128 / np.e**0.5)
    assert freeze.get_xdata()[0] == pytest.approx(2 * np.log(128))
    panel.controls["components"].value = "unit-vectors"
    assert not scaled.get_visible()
    assert not freeze.get_visible()


def test_scaling_summary_follows_d_k():
    al.set_language("en")
    panel = panels.scaling_panel()
    panel.controls["d_k"].value = 256
    assert "theory 16" in panel.summary
    panel.controls["divisor"].value = "sqrt_d_k"
    assert "theory 1)" in panel.summary
    assert "divided by 16" in panel.summary


# -- the mask panel ------------------------------------------------------------------------------


def by_hand(kind, T, values):
    i, j = np.indices((T, T))
    return {
        "full": i >= 0,
        "causal": j <= i,
        "sliding-window": (j <= i) & (j > i - values["window"]),
        "prefix": (j <= i) | (j < values["prefix"]),
        "padding": j < values["length"],
        "documents": (j <= i) & ((j >= values["boundary"]) == (i >= values["boundary"])),
    }[kind]


def test_mask_panel_at_random_settings_set_in_any_order(lax, undrawn):
    rng = np.random.default_rng(3)
    panel = panels.mask_panel()
    for _ in range(25):
        T = int(rng.integers(1, 33))
        values = {
            "mask": str(rng.choice(settings.MASKS)),
            "T": T,
            "window": int(rng.integers(1, 33)),
            "prefix": int(rng.integers(0, T + 1)),
            "length": int(rng.integers(0, T + 1)),
            "boundary": int(rng.integers(0, T + 1)),
            "value": float(rng.choice(mask.VALUES)),
            "precision": str(rng.choice(mask.PRECISIONS)),
            "spread": float(rng.choice(mask.SPREADS)),
            "seed": int(rng.integers(0, 100)),
        }
        set_all(panel, values, rng)
        assert panel.error is None, values
        state = panel.state
        same(state.mask, by_hand(values["mask"], T, values))
        Q, K, V = experiments.random_qkv(T, mask.WIDTH, seed=values["seed"])
        scores = al.attention_steps(Q, K, V).scaled_scores * values["spread"]
        same(state.scores, scores)
        expected = experiments.fill_mask(scores, state.mask, values["value"], values["precision"])
        same(state.weights, expected)
        assert state.weights.dtype == values["precision"]


@pytest.mark.parametrize("precision", mask.PRECISIONS)
@pytest.mark.parametrize("kind", settings.MASKS)
def test_minus_infinity_never_leaks(kind, precision):
    for spread in mask.SPREADS:
        state = mask.compute(mask=kind, precision=precision, spread=spread)
        assert state.leak == 0
        assert not state.leaking.any()
        assert not state.broken.any()
        assert mask._warning(state) is None
        np.testing.assert_allclose(state.row_sums, 1, atol=1e-2)


@pytest.mark.parametrize("value", [-np.inf, -1e4, 0.0])
def test_a_score_that_stays_keeps_its_colour(value):
    panel = panels.mask_panel()
    panel.controls["value"].value = value
    for seed in range(6):  # in some of them the largest score is hidden
        panel.controls["seed"].value = seed
        before, after = limits(panel, "scores", "masked_scores")
        assert before == after
    assert before[1] >= np.abs(panel.state.scores).max()
    (words,) = panel.view.axes["masked_scores"].get_legend().get_texts()
    name = dict(zip(mask.VALUES, mask.VALUE_NAMES, strict=True))[value]
    assert words.get_text() == f"看不到的格＝{name}"


def test_summaries_are_right_with_one_position_and_one_key():
    al.set_language("en")
    for make in (panels.attention_panel, panels.mask_panel, panels.softmax_panel):
        panel = make()
        panel.controls["T"].value = 1
        assert not re.search(r"\b1 (positions|keys|effective keys|rows|to 1)\b", panel.summary)
        panel.close()
    panel = panels.scaling_panel()
    panel.controls["d_k"].value = 4096
    assert "effective number of keys of 1 " in panel.summary
    assert "1 effective keys" not in panel.summary


def test_mask_summary_says_what_was_asked_for_and_what_came():
    al.set_language("en")
    state = mask.compute(spread=10.0)
    assert f"of 10 (these: {state.scores.std():.3g})" in mask._summary(state)


def test_warning_names_a_leak():
    panel = panels.mask_panel()
    panel.controls["spread"].value = 1e4
    assert panel.warning is None
    panel.controls["value"].value = -1e4
    state = panel.state
    assert state.leak == experiments.largest_leak(state.weights, state.mask) > 0
    i, j = np.argwhere(state.leaking)[0]
    assert not state.mask[i, j]
    assert f"查詢 {i} " in panel.warning
    assert "−1e4" in panel.warning
    assert panel.warning in panel._warning_line.value
    panel.controls["value"].value = -np.inf
    assert panel.warning is None
    assert panel._warning_line.value == ""


@pytest.mark.parametrize(
    ("value", "precision", "words"),
    [
        (-1e9, "float32", "real attention"),
        (-1e9, "float16", "NaN"),
        (-np.inf, "float64", "NaN"),
        (0.0, "float64", "real attention"),
    ],
)
def test_warning_names_rows_without_any_key(value, precision, words):
    al.set_language("en")
    panel = panels.mask_panel()
    for name, setting in (("value", value), ("precision", precision), ("mask", "padding")):
        panel.controls[name].value = setting
    panel.controls["length"].value = 0
    assert words in panel.warning
    assert "no key to see" in panel.warning
    weights = panel.state.weights
    if words == "NaN":
        assert np.isnan(weights).all()
    else:
        np.testing.assert_allclose(weights, 1 / 8)


def test_zero_is_no_mask():
    panel = panels.mask_panel()
    panel.controls["value"].value = 0.0
    assert panel.state.leaking[~panel.state.mask].all()
    assert panel.warning


# -- the softmax panel ---------------------------------------------------------------------------


def test_softmax_panel_at_random_settings_set_in_any_order(lax, undrawn):
    rng = np.random.default_rng(4)
    panel = panels.softmax_panel()
    for _ in range(25):
        example = bool(rng.random() < 0.3)
        T = int(rng.integers(1, 7 if example else 65))
        values = {
            "source": "running-example" if example else "random",
            "T": T,
            "row": int(rng.integers(0, T)),
            "temperature": float(rng.choice([0.1, 0.5, 1.0, 10.0])),
            "scaled": bool(rng.random() < 0.5),
            "mask": str(rng.choice(["full", "causal"])),
            "seed": int(rng.integers(0, 100)),
        }
        if not example:
            values["d_k"] = int(rng.integers(1, 257))
        set_all(panel, values, rng)
        assert panel.error is None, values
        if example:
            data = al.running_example()
            Q, K, V = al.project_qkv(data.X[:T], data.W_Q, data.W_K, data.W_V)
        else:
            Q, K, V = experiments.random_qkv(T, values["d_k"], seed=values["seed"])
        allowed = MASKS[values["mask"]](T, values)
        scale = None if values["scaled"] else 1.0
        steps = al.attention_steps(Q, K, V, mask=allowed, scale=scale)
        state, row = panel.state, values["row"]
        same_steps(state.steps, steps)
        hotter = al.softmax(steps.masked_scores[row] / values["temperature"])
        np.testing.assert_allclose(state.softmax.weights, hotter, rtol=1e-12, atol=1e-300)
        if values["temperature"] == 1:
            np.testing.assert_allclose(state.softmax.weights, steps.weights[row], rtol=1e-13)
            np.testing.assert_allclose(state.output, steps.output[row], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(
            state.weighted_values.sum(axis=0), state.output, rtol=1e-10, atol=1e-12
        )


def test_bars_of_scores_that_are_not_negative_start_at_the_edge_with_few_decimals():
    panel = panels.softmax_panel(source="example")
    panel.controls["temperature"].value = 0.1
    ax = panel.view.axes["scores"]
    assert (panel.state.softmax.scores[: panel.state.row + 1] >= 0).all()
    assert ax.get_xlim()[0] == 0
    shown = [text.get_text() for text in ax.texts if text.get_visible()]
    assert shown
    assert not any("." in text for text in shown)
    panel.controls["source"].value = "random"
    panel.controls["temperature"].value = 1.0
    assert ax.get_xlim()[0] == -ax.get_xlim()[1]


def test_ticks_of_charts_side_by_side_do_not_meet():
    panel = panels.softmax_panel(source="example")
    panel.controls["temperature"].value = 0.1
    panel.view.figure.canvas.draw()
    boxes = [
        text.get_window_extent()
        for name in softmax.BARS
        for text in (*panel.view.axes[name].get_xticklabels(), *panel.view.axes[name].texts)
        if text.get_visible() and text.get_text()
    ]
    for place, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:place])


def test_row_follows_T():
    panel = panels.softmax_panel()
    panel.controls["T"].value = 3
    assert (panel.controls["row"].max, panel.controls["row"].value) == (2, 2)
    panel.controls["T"].value = 1
    assert panel.state.row == 0
    assert panel.error is None


def test_a_temperature_too_small_to_divide_by_is_said(lax, recwarn):
    panel = panels.softmax_panel()
    panel.controls["temperature"].value = 1e-320
    assert panel.state is None
    assert panel.error.startswith("「")
    assert "e-320" in panel.error
    assert not recwarn.list
    panel.controls["temperature"].value = 1.0
    assert panel.error is None


def test_tokens_that_no_font_can_draw_are_numbers(monkeypatch):
    monkeypatch.setattr(fonts, "can_draw", lambda text: text.isascii())
    panel = panels.softmax_panel("example")
    names = [text.get_text() for text in panel.view.axes["scores"].get_yticklabels()]
    assert names == [str(key) for key in range(panel.state.T)]


def test_temperature_sharpens_and_evens_out():
    panel = panels.softmax_panel()
    keys = {}
    for temperature in (0.1, 1.0, 10.0):
        panel.controls["temperature"].value = temperature
        keys[temperature] = float(experiments.effective_keys(panel.state.softmax.weights))
    assert keys[0.1] < keys[1.0] < keys[10.0]


# -- numbers in words ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (8.094, "8.09"),
        (-1.5, "−1.5"),
        (1024.0, "1,024"),
        (999.7, "1,000"),
        (0.000984, "0.000984"),
        (3.74e-6, "3.74 × 10⁻⁶"),
        (1e-5, "10⁻⁵"),
        (float("nan"), "nan"),
        (float("-inf"), "−∞"),
    ],
)
def test_short(value, text):
    assert settings.short(value) == text
