"""The cost panel: counts and predictions against costs.py, what is measured, what is refused."""

import dataclasses
import time

import numpy as np
import pytest
from panel_tools import same, set_all

import andrea_lesson as al
from andrea_lesson import costs, machine, panels, timing
from andrea_lesson.kv_cache import KVCache
from andrea_lesson.panels import base, cost, cost_picture, settings
from andrea_lesson.panels.controls import Press, stops
from andrea_lesson.panels.layout import lay_out

RATES = timing.Rates(1e11, 1e9, 1e10, 4e10, 1e9, 5e-5, machine.Device(None, 2))
ROOM = machine.Memory(16 * 10**9, 8 * 10**9)


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
def known(monkeypatch):
    """A machine whose speed and memory are known."""
    monkeypatch.setattr(cost, "machine_rates", lambda precision, **more: RATES)
    monkeypatch.setattr(cost, "memory", lambda: ROOM)


@pytest.fixture
def quick(monkeypatch):
    """Measuring takes no time and gives what was asked for."""
    asked = []

    def measured_here(name, setting, T, expected):
        asked.append((name, setting, T))
        return timing.Timing(name, (0.25, 0.125, 0.5), 1_000_000, machine.Device(None, 2))

    monkeypatch.setattr(cost, "measured_here", measured_here)
    return asked


def check(state):
    size = {"n_head": state.n_head, "precision": state.precision}
    causal = state.mask == "causal"
    wanted = {
        "textbook": costs.textbook_cost(state.T, state.d_k, **size, causal=causal),
        "tiled": costs.tiled_cost(state.T, state.d_k, **size, causal=causal, threads=2),
        "decoder": costs.decoder_cost(state.T, state.d_k, **size),
    }
    assert {name: way.cost for name, way in state.ways.items()} == wanted
    for name, way in state.ways.items():
        assert way.bytes == way.cost.working_bytes + way.cost.output_bytes
        threads = 2 if name == "tiled" else 1
        assert way.seconds == RATES.seconds(way.cost, threads=threads)
        if state.T in state.lengths:
            place = state.lengths.index(state.T)
            assert way.bytes_curve[place] == way.bytes
            assert way.seconds_curve[place] == way.seconds
        assert len(way.bytes_curve) == len(way.seconds_curve) == len(state.lengths)
        assert (np.diff(way.bytes_curve) > 0).all()
        needs = way.bytes + costs.input_bytes(state.T, state.d_k, **size)
        refused = "memory" if needs > 0.8 * ROOM.free else "time" if way.seconds > 1.5 else None
        assert way.refused == refused
    assert state.cache_bytes == costs.cache_bytes(state.T, state.d_k, **size)

    def fits(T):
        one = costs.textbook_cost(T, state.d_k, **size, causal=causal)
        inputs = costs.input_bytes(T, state.d_k, **size)
        return one.working_bytes + one.output_bytes + inputs <= ROOM.total

    assert fits(state.most)
    assert state.most == 16384 or not fits(state.most + 1)


# -- the state -----------------------------------------------------------------------------------


def test_how_it_starts(known):
    state = panels.cost_panel().state
    model = al.ANDREA_120M
    assert (state.T, state.d_k, state.n_head) == (model.T, model.d_k, model.n_head)
    assert (state.precision, state.mask) == ("float32", "causal")
    check(state)
    assert panels.cost_panel(100, d_k=20, n_head=3).state.T == 100
    for wrong in ({"T": 15}, {"d_k": 257}, {"n_head": 0}, {"T": 64.0}):
        with pytest.raises(settings.SettingError):
            panels.cost_panel(**wrong)


def test_lengths_on_offer():
    powers = {2**power for power in range(4, 15)}
    assert powers < set(cost.LENGTHS)
    assert (cost.LENGTHS[0], cost.LENGTHS[-1]) == (16, 16384)
    for low, high in zip(sorted(powers)[:-1], sorted(powers)[1:], strict=True):
        assert sum(low < T < high for T in cost.LENGTHS) == 3


@pytest.mark.parametrize("precision", list(costs.BYTES))
@pytest.mark.parametrize("mask", cost.MASKS)
def test_ends_and_middle(known, precision, mask):
    for T, d_k, n_head in (
        (16, 8, 1),
        (16, 256, 32),
        (1000, 50, 5),
        (16384, 8, 1),
        (16384, 256, 32),
    ):
        check(cost.compute(T=T, d_k=d_k, n_head=n_head, precision=precision, mask=mask))


def test_random_settings_set_in_any_order(known, lax):
    rng = np.random.default_rng(5)
    panel = panels.cost_panel()
    for _ in range(25):
        values = {
            "T": int(rng.integers(16, 16385)),
            "d_k": int(rng.integers(8, 257)),
            "n_head": int(rng.integers(1, 33)),
            "precision": str(rng.choice(list(costs.BYTES))),
            "mask": str(rng.choice(cost.MASKS)),
        }
        set_all(panel, values, rng)
        assert panel.error is None
        assert {name: getattr(panel.state, name) for name in values} == values
        check(panel.state)


@pytest.mark.parametrize(
    "setting",
    [
        {"T": 15},
        {"T": 16385},
        {"T": 64.0},
        {"T": True},
        {"d_k": 7},
        {"d_k": 257},
        {"n_head": 0},
        {"n_head": 33},
        {"precision": "float8"},
        {"mask": "prefix"},
    ],
)
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_compute_refuses_in_one_line_what_no_control_offers(known, setting, language):
    al.set_language(language)
    with pytest.raises(settings.SettingError) as refused:
        cost.compute(**setting)
    assert "\n" not in str(refused.value)
    assert str(refused.value)[-1] in "。."


def test_where_nobody_tells_how_much_memory_there_is(known, monkeypatch):
    monkeypatch.setattr(cost, "memory", lambda: machine.Memory(None, None))
    state = cost.compute(T=16384, n_head=32)
    assert state.most is None
    assert state.ways["textbook"].refused == "time"  # nothing tells that it does not fit
    band = cost_picture.describe(state).parts["memory"].lines[-1]
    assert np.size(band.x) == np.size(band.y[0]) == 0
    assert cost_picture.warn(state) is None


def test_what_is_kept_cannot_be_changed(known):
    way = cost.compute().ways["tiled"]
    for curve in (way.bytes_curve, way.seconds_curve):
        with pytest.raises(ValueError, match="read-only"):
            curve[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        way.bytes = 1


def test_a_move_is_quick():
    panel = panels.cost_panel()  # rates are measured by now
    spent = []
    for T in cost.LENGTHS:
        start = time.perf_counter()
        panel._describe(panel._compute(T=T))
        spent.append(time.perf_counter() - start)
    assert np.median(spent) < 3e-3


# -- measuring -----------------------------------------------------------------------------------


def test_nothing_is_measured_unless_the_button_is_pressed(known, quick):
    panel = panels.cost_panel()
    for control in panel.controls.values():
        for value in stops(control):
            control.value = value
    panels.exercise_all()
    assert quick == []
    assert all(way.timing is None and not way.measured for way in panel.state.ways.values())


def test_a_press_measures_this_setting_and_the_points_stay(known, quick):
    panel = panels.cost_panel()
    first = cost.Setting(64, 12, "float32", True)
    panel.controls["measure"].click()
    assert quick == [(way, first, 1024) for way in cost.WAYS]
    assert panel.error is None
    panel.controls["T"].value = 512
    for way in panel.state.ways.values():
        assert way.timing is None
        assert set(way.measured) == {1024}
    panel.controls["measure"].click()
    for way in panel.state.ways.values():
        assert way.timing.median == 0.25
        assert set(way.measured) == {512, 1024}
    panel.controls["mask"].value = "full"  # another setting: points of its own
    assert not any(way.measured for way in panel.state.ways.values())
    panel.controls["mask"].value = "causal"
    picture = panel.picture
    marks = {line.look: line for line in picture.parts["time"].lines if len(line.x) == 2}
    for look in ("points", "squares", "diamonds"):
        assert sorted(marks[look].x) == [512, 1024]
        assert list(marks[look].y) == [0.25, 0.25]
    marks = {line.look: line for line in picture.parts["memory"].lines if len(line.x) == 2}
    assert list(marks["squares"].y) == [1_000_000, 1_000_000]


def test_a_press_measures_the_speed_of_the_machine_anew(known, quick, monkeypatch):
    asked = []
    monkeypatch.setattr(
        cost, "machine_rates", lambda precision, *, anew=False: asked.append(anew) or RATES
    )
    panel = panels.cost_panel()
    panel.controls["T"].value = 512
    assert not any(asked)
    panel.controls["measure"].click()
    assert asked.count(True) == 1


def test_two_panels_do_not_share_their_points(known, quick):
    one, other = panels.cost_panel(), panels.cost_panel()
    one.controls["measure"].click()
    other.controls["T"].value = 512
    other.controls["T"].value = 1024
    assert not any(way.measured for way in other.state.ways.values())


def test_what_does_not_fit_or_takes_too_long_is_not_measured(known, quick):
    panel = panels.cost_panel()
    panel.controls["T"].value = 4096
    assert panel.state.ways["textbook"].refused == "time"
    panel.controls["measure"].click()
    assert [way for way, _, _ in quick] == ["tiled", "decoder"]
    quick.clear()
    panel.controls["T"].value = 16384
    assert panel.state.ways["textbook"].refused == "memory"
    panel.controls["measure"].click()
    assert [way for way, _, _ in quick] == ["decoder"]
    assert panel.state.ways["tiled"].refused == "time"


@pytest.mark.parametrize("problem", [MemoryError, KeyboardInterrupt])
def test_interrupted_while_it_measures(known, monkeypatch, problem):
    panel = panels.cost_panel()
    button = panel.controls["measure"]
    words = button.description
    during = []

    def fail(*arguments):
        during.append((button.disabled, button.description))
        raise problem

    monkeypatch.setattr(cost, "measured_here", fail)
    state = panel.state
    with pytest.raises(problem):
        button.value += 1
    assert during == [(True, "正在量……")]
    assert (button.disabled, button.description) == (False, words)
    assert panel.state is state  # what was on show stays
    panel.controls["T"].value = 512
    assert panel.error is None


def test_it_really_measures_with_all_threads():
    panel = panels.cost_panel(64, d_k=16, n_head=2)
    panel.controls["measure"].click()
    for name, way in panel.state.ways.items():
        assert len(way.timing.times) == 7
        assert 1e-6 < way.timing.median < 1
        assert str(way.timing.ran_on) == str(panel.state.rates.ran_on)
        assert way.timing.peak_bytes < 3 * way.bytes + 100_000, name


@pytest.mark.parametrize("precision", list(costs.BYTES))
def test_rates_are_not_measured_while_the_panel_keeps_to_one_thread(monkeypatch, precision):
    threads = machine.device_of().threads
    timing._known.clear()
    panel = panels.cost_panel(64)
    panel.controls["precision"].value = precision
    assert panel.state.rates.ran_on.threads == threads


@pytest.mark.parametrize("precision", list(costs.BYTES))
def test_what_is_measured_is_run_on_random_numbers_of_that_size(precision, monkeypatch):
    given = []
    monkeypatch.setattr(cost, "attention", lambda *arrays, mask=None: given.append((arrays, mask)))
    setting = cost.Setting(8, 3, precision, True)
    cost.measured_here("textbook", setting, 32, expected=10.0)
    (arrays, mask) = given[0]
    assert mask == "causal"
    assert len(given) == 2  # once for memory, once for time
    for array in arrays:
        assert array.shape == (3, 32, 8)
        assert array.dtype == precision
        assert 0.8 < array.astype(float).std() < 1.2
    given.clear()
    cost.measured_here("textbook", setting, 32, expected=1e-9)
    assert len(given) == 9
    given.clear()
    monkeypatch.setattr(KVCache, "attend", lambda cache, q: given.append((cache, q)))
    cost.measured_here("decoder", setting, 32, expected=1e-9)
    cache, q = given[0]
    assert (cache.length, q.shape, q.dtype) == (32, (3, 8), precision)
    assert cost._random((3, 1000, 500), precision, 0).shape == (3, 1000, 500)


@pytest.mark.parametrize("causal", [True, False])
def test_every_way_is_run_on_the_same_numbers_with_its_mask(causal, monkeypatch):
    given = {}

    def watch(name):
        return lambda *arrays, mask=None: given.setdefault(name, (arrays, mask))

    monkeypatch.setattr(cost, "attention", watch("textbook"))
    monkeypatch.setattr(cost, "tiled_attention", watch("tiled"))
    setting = cost.Setting(8, 3, "float32", causal)
    for name in ("textbook", "tiled"):
        cost.measured_here(name, setting, 32, expected=10.0)
        (Q, K, V), mask = given[name]
        assert mask == ("causal" if causal else None)
        assert not any(np.array_equal(x, y) for x, y in ((Q, K), (K, V), (V, Q)))
    monkeypatch.setattr(KVCache, "attend", lambda cache, q: given.setdefault("cache", (cache, q)))
    cost.measured_here("decoder", setting, 32, expected=10.0)
    kept, q = given["cache"]
    same(kept.keys, K)
    same(kept.values, V)
    same(q, Q[:, -1])  # the newest query
    assert kept.nbytes == K.nbytes + V.nbytes  # no room that nobody needs


def test_a_measurement_leaves_a_fifth_of_the_free_memory(known, monkeypatch):
    """Inputs, working memory and result together; nothing else stands in the way here."""
    fast = dataclasses.replace(RATES, flops=1e18, exponentials=1e18, bytes=1e18, call=0.0)
    monkeypatch.setattr(cost, "machine_rates", lambda precision, **more: fast)
    for mask in cost.MASKS:
        way = cost.compute(T=4096, mask=mask).ways["textbook"]
        needs = way.bytes + costs.input_bytes(4096, 64, n_head=12)
        for free, refused in ((needs / 0.8 + 2, None), (needs / 0.8 - 2, "memory")):
            room = machine.Memory(10**12, int(free))
            monkeypatch.setattr(cost, "memory", lambda room=room: room)
            assert cost.compute(T=4096, mask=mask).ways["textbook"].refused == refused


def test_each_way_is_measured_at_its_setting_by_its_own_prediction(known, monkeypatch):
    asked = {}

    def measured_here(name, setting, T, expected):
        asked[name] = (setting, T, expected)
        return timing.Timing(name, (0.5,), None, machine.Device(None, 2))

    monkeypatch.setattr(cost, "measured_here", measured_here)
    panel = panels.cost_panel(256, d_k=16, n_head=3)
    panel.controls["mask"].value = "full"
    panel.controls["precision"].value = "float64"
    panel.controls["measure"].click()
    setting = cost.Setting(16, 3, "float64", False)
    ways = panel.state.ways
    assert asked == {name: (setting, 256, way.seconds) for name, way in ways.items()}
    assert len({way.seconds for way in ways.values()}) == 3
    assert all(way.timing is not None for way in ways.values())


# -- the picture and the words -------------------------------------------------------------------


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_both_charts_stand_side_by_side_and_nothing_moves(known, quick, large, language):
    al.set_language(language)
    panel = panels.cost_panel(large=large)
    first = lay_out(panel.picture, large=large)
    assert len({box.top for box in first.boxes.values()}) == 1
    looks = {n: [line.look for line in part.lines] for n, part in panel.picture.parts.items()}
    for name, value in (("T", 16384), ("n_head", 32), ("d_k", 256), ("measure", 1), ("T", 16)):
        panel.controls[name].value = value
        assert lay_out(panel.picture, large=large) == first
        for part_name, part in panel.picture.parts.items():
            assert [line.look for line in part.lines] == looks[part_name]
            for line in part.lines:
                assert np.shape(line.x)[-1] == np.shape(line.y)[-1]
                assert (np.asarray(line.x, dtype=float) > 0).all()
                assert (np.asarray(line.y, dtype=float) > 0).all()


def test_rulers_take_in_every_setting_and_stay(known):
    rulers = set()
    for d_k, n_head, precision in ((8, 1, "float16"), (64, 12, "float32"), (256, 32, "float64")):
        state = cost.compute(d_k=d_k, n_head=n_head, precision=precision, mask="full")
        parts = cost_picture.describe(state).parts
        rulers |= {dataclasses.astuple(part.y) for part in parts.values()}
        for way in state.ways.values():
            for name, curve in (("memory", way.bytes_curve), ("time", way.seconds_curve)):
                assert parts[name].y.low < curve.min()
                assert curve.max() < parts[name].y.high
    assert len(rulers) == 2


def test_what_lies_beyond_the_memory_is_shaded_and_said(known):
    al.set_language("en")
    panel = panels.cost_panel()
    band = panel.picture.parts["memory"].lines[-1]
    assert (band.look, band.words) == ("band", "beyond 16 GB")
    same(np.array(band.y), np.array([[16e9] * 2, [2e12] * 2]))
    assert panel.warning is None
    panel.controls["T"].value = 16384
    assert "does not fit" in panel.warning
    assert panel.warning.count("GB") == 2
    most = panel.state.most
    panel.controls["T"].value = most
    assert panel.warning is None
    panel.controls["T"].value = most + 1
    assert panel.warning is not None
    assert panel.picture.formulas[-1].endswith(f"fits up to T = {most:,}")
    panel.controls["n_head"].value = 1
    panel.controls["precision"].value = "float16"
    assert "at least" in panel.picture.formulas[-1]


def test_formulas_are_those_of_the_setting(known, quick):
    al.set_language("en")
    panel = panels.cost_panel()
    memory, tiled, decoder, *times, _ = panel.picture.formulas
    assert "5 tables × 12 heads × 1,024² × 4 B + mask and output = 256 MB" in memory
    assert "(128 × 1,024)" in tiled
    assert "2 × 12 × 1,024 × 64 × 4 B = 6.29 MB" in decoder
    assert times[0].startswith("textbook: 3.22 GFLOP ÷ 100 G/s + 12.6 M exp ÷ 1 G/s")
    assert "exp ÷ 2 G/s" in times[1]  # two threads
    assert "852 MB ÷ 10 GB/s + 50 µs" in times[0]
    assert "7.03 MB ÷ 40 GB/s + 50 µs" in times[2]  # the cache is only read
    assert "measured" not in "".join(panel.picture.formulas)
    panel.controls["measure"].click()
    memory, tiled, decoder, *times, _ = panel.picture.formulas
    assert all(line.endswith(" (measured 1 MB)") for line in (memory, tiled, decoder))
    assert all(line.endswith(" (measured 250 ms)") for line in times)
    panel.controls["mask"].value = "full"
    assert "mask" not in panel.picture.formulas[0]
    panel.controls["T"].value = 16384
    assert panel.picture.formulas[3].endswith("(too large to measure)")
    assert panel.picture.formulas[4].endswith("(too long to measure)")
    panel.controls["T"].value = 1024
    panel.controls["precision"].value = "float16"
    assert "1.57 M f16→f32 ÷ 1 G/s + " in panel.picture.formulas[5]


@pytest.mark.parametrize("precision", ["float16", "float64"])
def test_formula_of_the_textbook_memory_gives_its_number(known, precision):
    al.set_language("en")
    state = cost.compute(precision=precision)
    wide = {"float16": 4, "float64": 8}[precision]
    line = cost_picture.describe(state).formulas[0]
    assert f"5 tables × 12 heads × 1,024² × {wide} B" in line
    rest = state.ways["textbook"].bytes - 5 * 12 * 1024**2 * wide
    assert rest == 1024**2 + 12 * 1024 * 64 * costs.BYTES[precision]


@pytest.mark.parametrize("mask", cost.MASKS)
@pytest.mark.parametrize("precision", ["float16", "float32"])
def test_formula_of_few_rows_names_what_weighs_more_there(known, precision, mask):
    al.set_language("en")
    state = cost.compute(T=64, d_k=64, precision=precision, mask=mask)
    line = cost_picture.describe(state).formulas[0]
    assert line.startswith("textbook memory: 4 tables × 12 heads × 64² × 4 B + ")
    assert "a copy of V, two of the output" in line
    hidden = 64**2 if mask == "causal" else 0
    assert ("mask" in line) == (hidden > 0)
    vector = 12 * 64 * 64
    rest = state.ways["textbook"].bytes - 4 * 12 * 64**2 * 4
    assert rest == hidden + vector * (4 + 4 + costs.BYTES[precision])
    assert "5 tables" in cost_picture.describe(cost.compute(T=128, d_k=64)).formulas[0]


def test_the_summary_says_what_is_predicted_what_measured_and_on_what(known, quick):
    al.set_language("en")
    panel = panels.cost_panel()
    assert "Predicted extra memory and time: textbook 256 MB, " in panel.summary
    assert panel.summary.endswith("Not measured yet.")
    panel.controls["measure"].click()
    assert panel.summary.endswith(
        "Median times measured: textbook 250 ms, tiled 250 ms, decoder step 250 ms."
    )
    assert "CPU, 2 threads" in panel.picture.caption


def test_play_goes_through_all_lengths(known):
    panel = panels.cost_panel(16)
    seen = [panel.state.T]
    while panel.advance():
        seen.append(panel.state.T)
    assert (*seen, panel.state.T) == cost.LENGTHS


def test_the_button_is_no_setting(known):
    panel = panels.cost_panel()
    assert isinstance(panel.controls["measure"], Press)
    assert panel.controls["measure"].description not in panel.settings()


@pytest.mark.parametrize("name", ["T", "d_k", "n_head"])
def test_numbers_of_numpy_are_plain_ones_in_a_control(name):
    """Else what comes next is compared with an array, which has no truth value."""
    panel = panels.cost_panel()
    panel.controls[name].value = np.int64(17)
    assert type(panel.controls[name].value) is int
    with pytest.raises(settings.SettingError):
        panel.controls[name].value = []
    panel.controls[name].value = 16
    assert panel.error is None
