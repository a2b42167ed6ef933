"""What all panels share: one reaction a move, words in two languages, bad settings, still pictures.

Each panel has a file of its own for what it computes.
"""

import base64
import ctypes
import gc
import io
import logging
import sys
import warnings
from pathlib import Path

import ipywidgets as widgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
from panel_tools import same
from PIL import Image
from traitlets import TraitError

import andrea_lesson as al
from andrea_lesson import panels
from andrea_lesson.panels import base, knobs, layout, printed, settings
from andrea_lesson.panels.controls import stops
from andrea_lesson.panels.picture import Matrix

MAKERS = {name: getattr(panels, name) for name in panels.__all__ if name.endswith("_panel")}
every_panel = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
every_view = pytest.mark.parametrize("view", base.VIEWS)
both_languages = pytest.mark.parametrize("language", ["zh-Hant", "en"])


@pytest.fixture(autouse=True)
def _panels_closed_afterwards():
    yield
    for panel in list(base._live):
        panel.close()


@pytest.fixture(autouse=True)
def _short_trainings(monkeypatch):
    monkeypatch.setattr(knobs, "STEPS", 8)


@pytest.fixture
def lax(monkeypatch):
    """As for a reader: a bad setting is shown, not raised."""
    monkeypatch.delenv("ANDREA_STRICT")


def shown_pictures(panel):
    """How often the view is asked to draw, from now on."""
    drawn = []
    show = panel.view.show
    panel.view.show = lambda *arguments: (drawn.append(arguments[0]), show(*arguments))
    return drawn


def free(panel):
    return [control for control in panel.controls.values() if not control.disabled]


def pixels(png):
    with Image.open(io.BytesIO(bytes(png))) as image:
        return np.asarray(image.convert("RGB"))


def test_there_are_these():
    assert list(MAKERS) == [
        "attention_panel",
        "cost_panel",
        "generation_panel",
        "gradient_panel",
        "leakage_panel",
        "mask_panel",
        "qkv_panel",
        "race_panel",
        "scaling_panel",
        "scores_panel",
        "softmax_panel",
        "tiles_panel",
        "training_panel",
    ]


# -- controls, words, state ----------------------------------------------------------------------


@every_panel
@both_languages
def test_both_ends_and_the_middle_of_every_control(make, language):
    al.set_language(language)
    panel = make()
    for control in panel.controls.values():
        start = control.value
        for value in [*stops(control), start]:
            control.value = value
            assert panel.error is None
            assert panel.state is not None
            assert panel.picture.lines
            chinese = any("\u4e00" <= letter <= "\u9fff" for letter in panel.summary)
            assert chinese is (language == "zh-Hant")


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
def test_t_and_d_k_have_sliders_or_are_not_what_it_is_about(make):
    names = set(make().controls)
    without = {
        panels.leakage_panel: {"T", "d_k"},
        panels.mask_panel: {"d_k"},
        panels.qkv_panel: {"T", "d_k"},
        panels.race_panel: {"T"},
        panels.training_panel: {"T"},
    }.get(make, set())
    assert {"T", "d_k"} - without <= names


@every_panel
def test_numbers_come_with_their_formula_in_as_many_lines_for_every_setting(make):
    panel = make()
    counts = set()
    for control in panel.controls.values():
        if control in (panel.controls.get("source"), panel.controls.get("pin")):
            continue  # another picture
        start = control.value
        for value in [*stops(control), start]:
            control.value = value
            counts.add(len(panel.picture.formulas))
            assert all(panel.picture.formulas)
    assert len(counts) == 1
    assert counts.pop() >= 1


@every_panel
def test_nothing_moves_while_t_and_d_k_do(make):
    panel = make()
    for large in (False, True):
        places = layout.lay_out(panel.picture, large=large)
        for name in {"T", "d_k", "d_model", "n_head", "seed"} & set(panel.controls):
            start = panel.controls[name].value
            for value in stops(panel.controls[name]):
                panel.controls[name].value = value
                assert layout.lay_out(panel.picture, large=large) == places, (name, value)
            panel.controls[name].value = start


@every_panel
@both_languages
def test_the_usual_picture_fits_beside_the_file_browser_and_the_large_one_on_a_projector(
    make, language
):
    al.set_language(language)
    for large, width in ((False, layout.WIDTH), (True, layout.LARGE_WIDTH)):
        panel = make(large=large)
        places = layout.lay_out(panel.picture, large=large)
        assert places.width * places.zoom <= width + 1
        # of a notebook's 960 pixels the summary and the line for readings take 110
        assert not large or places.height * places.zoom <= 850
        for box in places.boxes.values():
            assert box.left - box.before >= -1
            assert box.left + box.width + box.after <= places.width + 1
        wanted = len(panel.picture.lines)
        if not large:
            tops = {places.boxes[line[0].name].top for line in panel.picture.lines}
            assert len(tops) == wanted  # no line was broken


@every_panel
def test_two_copies_do_not_influence_each_other(make):
    one, other = make(), make()
    state, control = other.state, next(iter(free(one)))
    drawn = shown_pictures(other)
    for value in stops(control):
        control.value = value
    assert other.state is state
    assert drawn == []


@every_panel
@every_view
def test_running_the_cell_again_leaves_one_reaction_a_move(make, view):
    panel = [make(view=view) for _ in range(3)][-1]
    name = next(name for name in ("T", "row", "eta") if name in panel.controls)
    drawn = shown_pictures(panel)
    panel.controls[name].value = next(
        value for value in stops(panel.controls[name]) if value != panel.controls[name].value
    )
    assert len(drawn) == 1


@every_panel
def test_language_is_that_in_force_when_the_panel_was_made(make):
    al.set_language("en")
    panel = make()
    al.set_language("zh-Hant")
    for control in free(panel)[:3]:
        for value in stops(control):
            control.value = value
    words = [panel.summary, panel.picture.caption, *panel.picture.formulas]
    words += [getattr(part, "title", "") for part in panel.picture.parts.values()]
    tokens = {"小安", "去", "圖書館", "借", "書", "看"}
    assert not any("\u4e00" <= letter <= "\u9fff" for text in words for letter in text)
    names = [axis.names for axis in panel.picture.axes.values() if axis.names]
    assert not tokens & {name for some in names for name in some}
    assert al.get_language() == "zh-Hant"


@every_panel
def test_state_cannot_be_changed(make):
    state = make().state
    with pytest.raises(AttributeError):
        state.seed = 3


@every_panel
def test_play_goes_through_all_steps_and_ends(make):
    panel = make()
    if panel.play is None:
        pytest.skip("nothing has an order in it")
    seen, more = [], True
    while more and len(seen) < 5000:
        more = panel.advance()
        seen.append(panel.controls[panel.play].value)
    assert panel.error is None
    panel.advance()  # begins anew
    first = panel.controls[panel.play].value
    assert first < seen[-1]


@every_panel
def test_selecting_on_any_axis_of_the_picture_sets_its_control(make):
    panel = make()
    chosen = {axis: name for axis, name in panel.selects.items() if axis in panel.picture.axes}
    # Some have no rows, and a place in the grid of the race is no value of its controls.
    assert chosen or make in (panels.scaling_panel, panels.cost_panel, panels.race_panel)
    for axis, name in chosen.items():
        for place in (0, 1):
            panel.select({axis: place})
            assert panel.controls[name].value == place
            assert panel.error is None
            assert panel.picture.selected.get(axis, place) == place


@every_panel
def test_linked_parts_share_the_axes_of_the_picture(make):
    picture = make().picture
    for part in picture.parts.values():
        if isinstance(part, Matrix):
            assert {part.rows, part.columns} <= set(picture.axes)
            for axis, count in zip((part.rows, part.columns), part.values.shape, strict=True):
                names = picture.axes[axis].names
                assert names is None or len(names) >= count


# -- it does not grow ----------------------------------------------------------------------------


def random_moves(panel, count, rng):
    for _ in range(count):
        controls = free(panel)
        control = controls[rng.integers(len(controls))]
        values = stops(control)
        control.value = values[rng.integers(len(values))]


def resident():
    """Memory in use, in bytes: what is free already is given back first."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


@every_panel
def test_no_figure_no_widget_and_little_memory_is_left_by_many_moves(make, lax):
    if not (Path("/proc/self/statm").exists() and hasattr(ctypes.CDLL(None), "malloc_trim")):
        pytest.skip("memory is read as Linux tells it")
    panel, rng = make(), np.random.default_rng(0)
    start = {name: control.value for name, control in panel.controls.items()}

    def back():
        for name, value in start.items():
            panel.controls[name].value = value

    random_moves(panel, 150, rng)
    back()
    figures, alive = plt.get_fignums(), len(widgets.widget._instances)
    before = resident()
    random_moves(panel, 300, rng)
    back()
    assert resident() - before < 10_000_000
    assert plt.get_fignums() == figures
    assert len(widgets.widget._instances) == alive  # a widget is a comm


# -- both views, still pictures, files -----------------------------------------------------------


@every_panel
@both_languages
def test_the_same_panel_through_matplotlib(make, language, caplog):
    al.set_language(language)
    live, printed = make(), make(view="matplotlib")
    assert list(live.controls) == list(printed.controls)
    assert (live.summary, live.error) == (printed.summary, printed.error)
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        for panel in (live, printed):
            for value in stops(free(panel)[0]):
                free(panel)[0].value = value
    assert live.summary == printed.summary
    assert live.picture.caption == printed.picture.caption
    assert [record.getMessage() for record in caplog.records] == []  # no glyph is missing


@every_panel
@both_languages
def test_bundle_carries_a_still_picture_that_says_what_to_do(make, language):
    al.set_language(language)
    panel = make()
    bundle = panel._repr_mimebundle_()
    assert bundle["text/plain"] == panel.summary
    assert "application/vnd.jupyter.widget-view+json" in bundle
    png = base64.b64decode(bundle["image/png"])
    still = pixels(png)
    assert still.shape[1] <= layout.WIDTH + 1
    assert np.ptp(still) > 100
    assert len(png) < 120_000
    assert png == base64.b64decode(panel._repr_mimebundle_()["image/png"])  # the same bytes


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


@every_panel
def test_saved_as_png_svg_and_pdf(make, tmp_path):
    panel = make()
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        path = tmp_path / f"picture.{kind}"
        panel.save(path)
        assert path.read_bytes().startswith(start)
    assert panel.save_bytes("png") == (tmp_path / "picture.png").read_bytes()


@every_panel
def test_figure_of_how_a_panel_starts(make):
    before = set(base._live)
    figure = panels.figure(make)
    assert set(base._live) == before  # the panel itself is gone
    assert figure.get_axes()
    assert plt.get_fignums() == []


def test_a_closed_panel_still_has_its_picture():
    panel = panels.attention_panel()
    panel.close()
    bundle = panel._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/png"}


@every_panel
@every_view
def test_a_closed_panel_leaves_no_widget_open(make, view):
    before = set(widgets.widget._instances)
    make(view=view).close()
    left = [widgets.widget._instances[one] for one in set(widgets.widget._instances) - before]
    # what ipywidgets makes for all widgets together, once
    assert [one for one in left if type(one) not in (widgets.Layout,)] == []
    assert len(left) <= 2


@pytest.mark.parametrize("view", ["Live", "", None])
def test_a_view_that_there_is_not(view):
    with pytest.raises(settings.SettingError, match="live、matplotlib"):
        panels.mask_panel(view=view)


def test_without_anywidget_the_picture_comes_from_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "andrea_lesson.panels.live", None)  # import fails
    panel = panels.mask_panel()
    assert isinstance(panel.view, printed.PrintedView)
    assert panel.error is None


# -- bad settings --------------------------------------------------------------------------------


@both_languages
@every_view
def test_bad_setting_gives_one_line_and_no_picture_until_it_is_mended(lax, language, view):
    al.set_language(language)
    panel = panels.attention_panel(view=view)
    summary = panel.summary
    panel.controls["T"].value = 1025
    assert "1025" in panel.error
    assert "1024" in panel.error
    assert "\n" not in panel.error
    assert panel.error in panel._error_line.value
    assert panel.state is None
    assert panel.picture is None
    assert panel.summary == ""
    with pytest.raises(settings.SettingError, match="1025"):
        panel.save_bytes("png")
    assert base64.b64decode(panel._repr_mimebundle_()["image/png"]).startswith(b"\x89PNG")
    panel.controls["T"].value = 16
    assert panel.error is None
    assert panel._error_line.value == ""
    assert panel.summary == summary
    assert panel.picture is not None


@pytest.mark.parametrize("T", [0, -5, 50_000])
@every_panel
def test_a_refused_t_moves_nothing_else(lax, make, T):
    panel = make()
    if "T" not in panel.controls:
        pytest.skip("no T")
    before = {name: c.value for name, c in panel.controls.items()}
    panel.controls["T"].value = T
    assert panel.error is not None
    panel.controls["T"].value = before["T"]
    assert panel.error is None
    assert {name: c.value for name, c in panel.controls.items()} == before


def test_strict_raises_what_a_reader_would_be_shown():
    panel = panels.attention_panel()
    with pytest.raises(settings.SettingError, match="1025"):
        panel.controls["T"].value = 1025
    assert "1025" in panel.error


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


def test_a_value_that_no_control_takes_changes_nothing():
    panel = panels.attention_panel()
    state = panel.state
    for name, value in (("mask", "nope"), ("d_k", None)):
        with pytest.raises(TraitError):
            panel.controls[name].value = value
    assert panel.state is state
    assert panel.error is None


@pytest.mark.parametrize(
    "make", [panels.attention_panel, panels.softmax_panel, panels.scores_panel]
)
def test_a_panel_may_start_at_the_example(make):
    panel = make(source="example")
    assert (panel.state.source, panel.state.T, panel.state.d_k) == ("running-example", 6, 4)
    panel.controls["source"].value = "random"
    assert panel.state.T == make(source="random").state.T
    assert panel.state.d_k == 64
    with pytest.raises(settings.SettingError, match=r"random、example.*dice"):
        make(source="dice")


@pytest.mark.parametrize(
    "make", [panels.attention_panel, panels.softmax_panel, panels.scores_panel]
)
def test_choosing_the_example_shows_all_its_tokens_whatever_t_was(make):
    panel = make(source="random")
    longest = panel.controls["T"].max
    panel.controls["T"].value = 3
    panel.controls["source"].value = "running-example"
    assert (panel.state.T, panel.controls["T"].value) == (6, 6)
    panel.controls["source"].value = "random"
    assert (panel.state.T, panel.controls["T"].max) == (3, longest)


# -- exercise_all --------------------------------------------------------------------------------


def test_exercise_moves_all_live_panels_and_puts_everything_back():
    alive = [panels.softmax_panel(), panels.softmax_panel()]
    alive[1].controls["T"].value = 5
    panels.mask_panel().close()
    before = [{name: c.value for name, c in panel.controls.items()} for panel in alive]
    summaries = [panel.summary for panel in alive]
    seen = []
    for panel in alive:
        for control in panel.controls.values():
            control.observe(lambda change: seen.append((change.owner, change.new)), "value")
    moves = panels.exercise_all()
    assert moves == sum(len(stops(c)) for panel in alive for c in panel.controls.values())
    for panel, values, summary in zip(alive, before, summaries, strict=True):
        assert {name: c.value for name, c in panel.controls.items()} == values
        assert panel.summary == summary
        for control in panel.controls.values():
            visited = {value for owner, value in seen if owner is control}
            assert visited | {control.value} >= set(stops(control))


def test_exercise_raises_the_first_exception_and_puts_back(monkeypatch):
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
def test_exercise_leaves_what_waits_for_random_vectors(make):
    panel = make()
    before = panel.controls["T"].value
    panel.controls["source"].value = settings.EXAMPLE
    panels.exercise_all()
    panel.controls["source"].value = settings.RANDOM
    assert (panel.controls["T"].value, panel.controls["d_k"].value) == (before, 64)


# -- numbers in words ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (8.094, "8.09"),
        (999.7, "1,000"),
        (3.74e-6, "3.74 × 10⁻⁶"),
        (-2.5, "−2.5"),
        (0.000123456, "0.000123"),
        (1e-5, "10⁻⁵"),
        (1.0e-10, "10⁻¹⁰"),
        (-1.23e-12, "−1.23 × 10⁻¹²"),
        (1234.5, "1,234"),
        (np.inf, "∞"),
        (-np.inf, "−∞"),
        (np.nan, "NaN"),
    ],
)
def test_short(value, text):
    assert settings.short(value) == text


def test_rows_of_pictures_are_compared_cell_by_cell():
    """The helper of these tests sees a difference in one cell, and in type."""
    with pytest.raises(AssertionError):
        same(np.array([1.0, 2.0]), np.array([1.0, 2.5]))
    with pytest.raises(AssertionError):
        same(np.array([1.0]), np.array([1.0], dtype=np.float32))
