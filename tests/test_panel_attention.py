"""The attention panel: its state against the algebra and an oracle, its picture, its pin."""

import numpy as np
import oracle
import pytest
from panel_tools import same, same_steps, set_all

import andrea_lesson as al
from andrea_lesson import colours, experiments, panels
from andrea_lesson.panels import attention, base, layout, settings

MASKS = {
    "full": lambda T, values: al.full_mask(T),
    "causal": lambda T, values: al.causal_mask(T),
    "sliding-window": lambda T, values: al.sliding_window_mask(T, window=values["window"]),
    "prefix": lambda T, values: al.prefix_mask(T, prefix=values["prefix"]),
}


@pytest.fixture(autouse=True)
def _panels_closed_afterwards():
    yield
    for panel in list(base._live):
        panel.close()


@pytest.fixture
def lax(monkeypatch):
    """As for a reader: a bad setting is shown, not raised."""
    monkeypatch.delenv("ANDREA_STRICT")


def random_vectors(T, d_k, seed=0, head=0, precision="float32"):
    drawn = experiments.random_qkv(T, d_k, seed=seed + 100 * head)
    return [np.ascontiguousarray(array, dtype=precision) for array in drawn]


def test_by_default():
    panel = panels.attention_panel()
    state = panel.state
    Q, K, V = random_vectors(16, 64)
    same_steps(state.steps, al.attention_steps(Q, K, V, mask="causal"))
    same(state.mask, al.causal_mask(16))
    assert state.tokens is None
    assert (state.row, state.column, state.head) == (15, 0, 0)


def test_at_random_settings_set_in_any_order(lax):
    rng = np.random.default_rng(1)
    panel = panels.attention_panel()
    for _ in range(40):
        example = bool(rng.random() < 0.3)
        T = int(rng.integers(1, 7 if example else 65))
        values = {
            "source": "running-example" if example else "random",
            "T": T,
            "mask": str(rng.choice(list(MASKS))),
            "window": int(rng.integers(1, T + 1)),
            "prefix": int(rng.integers(0, T + 1)),
            "scaled": bool(rng.random() < 0.5),
            "seed": int(rng.integers(0, 100)),
            "row": int(rng.integers(0, T)),
            "column": int(rng.integers(0, T)),
            "precision": str(rng.choice(attention.PRECISIONS)),
            "color": str(rng.choice(colours.COLOURS)),
        }
        if not example:
            values |= {"d_k": int(rng.integers(1, 257)), "head": int(rng.integers(0, 12))}
        set_all(panel, values, rng)
        assert panel.error is None, values
        state = panel.state
        if example:
            data = al.running_example()
            Q, K, V = (
                array.astype(values["precision"])
                for array in al.project_qkv(data.X[:T], data.W_Q, data.W_K, data.W_V)
            )
            assert state.tokens == data.tokens[:T]
        else:
            Q, K, V = random_vectors(
                T, values["d_k"], values["seed"], values["head"], values["precision"]
            )
            assert state.tokens is None
        allowed = MASKS[values["mask"]](T, values)
        scale = None if values["scaled"] else 1.0
        same_steps(state.steps, al.attention_steps(Q, K, V, mask=allowed, scale=scale))
        same(state.mask, allowed)
        exact = oracle.attention(Q, K, V, allowed, scale).output
        close = 2e-3 if values["precision"] == "float16" else 1e-5
        np.testing.assert_allclose(state.steps.output, exact, rtol=close, atol=close)
        assert panel.picture.selected == {"query": values["row"], "key": values["column"]}


@pytest.mark.parametrize("T", [1, 33, 64, 65, 1000, 1024])
def test_lengths_up_to_that_of_andrea_120m(T):
    panel = panels.attention_panel()
    panel.controls["T"].value = T
    Q, K, V = random_vectors(T, 64)
    same_steps(panel.state.steps, al.attention_steps(Q, K, V, mask="causal"))
    assert panel.controls["T"].value == T


def test_the_heads_differ_and_every_head_can_be_chosen():
    panel = panels.attention_panel()
    seen = []
    for head in range(12):
        panel.controls["head"].value = head
        seen.append(panel.state.steps.scores)
    assert panel.controls["head"].max == al.ANDREA_120M.n_head - 1
    for one in range(12):
        for other in range(one):
            assert np.abs(seen[one] - seen[other]).max() > 1


@pytest.mark.parametrize("T", [1, 33, 64])
def test_summary_says_what_is_on_show(T):
    al.set_language("en")
    panel = panels.attention_panel(T=T)
    steps = panel.state.steps
    for number in (
        f"{steps.scores.std():.2f}",
        f"{steps.scaled_scores.std():.2f}",
        f"effective number of keys: {float(experiments.effective_keys(steps.weights[-1])):.2f};",
        f"{steps.weights[-1].max():.3f}",
        f"T = {T},",
        f"query {T - 1} sees: {T},",
        "d_k = 64",
        "causal",
        "Random",
    ):
        assert number in panel.summary


def test_formulas_give_the_chosen_cell_and_say_when_it_is_hidden():
    al.set_language("en")
    panel = panels.attention_panel()
    panel.select({"query": 5, "key": 2})
    steps = panel.state.steps
    first, second, third = panel.picture.formulas
    assert settings.short(float(steps.scores[5, 2])) in first
    assert settings.short(float(steps.scaled_scores[5, 2])) in first
    assert second.count(settings.short(float(steps.weights[5, 2]))) >= 1
    row = steps.masked_scores[5].astype(float)
    highest, total = row.max(), np.exp(row - row.max()).sum()
    assert f"{settings.short(float(highest))}) ÷ {settings.short(float(total))}" in second
    assert np.exp(row[2] - highest) / total == pytest.approx(float(steps.weights[5, 2]), rel=1e-6)
    assert "float32" in third
    panel.select({"key": 6})
    assert "may not see" in panel.picture.formulas[1]
    assert len(panel.picture.formulas) == 3


def test_precision_costs_what_the_formula_says():
    panel = panels.attention_panel(T=64)
    Q, K, V = experiments.random_qkv(64, 64)
    exact = oracle.attention(Q, K, V, al.causal_mask(64)).output
    off = {}
    for precision in attention.PRECISIONS:
        panel.controls["precision"].value = precision
        off[precision] = panel.state.rounding
        output = panel.state.steps.output
        assert output.dtype == precision
        assert off[precision] == pytest.approx(np.abs(output[63] - exact[63]).max(), abs=1e-12)
    assert off["float64"] < 1e-12 < off["float32"] < 1e-5 < off["float16"] < 1e-2


def test_running_example_fixes_d_k_and_gives_everything_back():
    panel = panels.attention_panel()
    controls = panel.controls
    controls["source"].value = "running-example"
    assert (controls["T"].value, controls["T"].max) == (6, 6)
    assert (controls["d_k"].value, controls["d_k"].disabled) == (4, True)
    assert controls["head"].disabled
    assert panel.state.tokens == ["小安", "去", "圖書館", "借", "書", "看"]
    controls["source"].value = "random"
    assert (controls["T"].value, controls["T"].max) == (16, 1024)
    assert (controls["d_k"].value, controls["d_k"].disabled) == (64, False)
    assert panel.error is None


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


def limits(panel, *names):
    return [panel.picture.parts[name].limit for name in names]


def test_same_colours_show_what_the_scaling_does():
    panel = panels.attention_panel()
    names = ("scores", "scaled_scores", "masked_scores")
    scores, scaled, masked = limits(panel, *names)
    assert scores > 4 * scaled
    state = panel.state
    panel.controls["same_colours"].value = True
    assert limits(panel, *names) == [scores] * 3
    same_steps(panel.state.steps, state.steps)
    panel.controls["same_colours"].value = False
    assert limits(panel, *names) == [scores, scaled, masked]


def test_the_pinned_setting_stays_while_the_other_moves():
    panel = panels.attention_panel()
    assert len(panel.picture.lines) == 1
    panel.controls["pin"].value = True
    pinned = panel.state.pinned
    same_steps(pinned.steps, panel.state.steps)
    panel.controls["T"].value = 9
    panel.controls["scaled"].value = False
    assert panel.state.pinned is pinned
    upper, lower = panel.picture.lines
    same(upper[0].values, panel.state.steps.scores)
    same(lower[0].values, pinned.steps.scores)
    assert upper[0].values.shape == (9, 9)
    assert "T = 16" in panel.summary
    assert "T = 9" in panel.summary
    panel.controls["pin"].value = False
    assert panel.state.pinned is None
    assert len(panel.picture.lines) == 1
    panel.controls["pin"].value = True
    assert panel.state.pinned.T == 9


def test_the_row_stays_at_the_last_query_until_it_is_moved():
    panel = panels.attention_panel()
    panel.controls["T"].value = 64
    assert panel.state.row == 63
    panel.controls["T"].value = 8
    assert panel.state.row == 7
    panel.controls["row"].value = 5
    panel.controls["T"].value = 30
    assert panel.state.row == 5


def test_two_panels_pin_each_their_own():
    one, other = panels.attention_panel(), panels.attention_panel()
    one.controls["pin"].value = True
    assert other.state.pinned is None


def test_selecting_is_one_move_and_passes_over_what_it_does_not_know():
    panel = panels.attention_panel()
    shown = []
    show = panel.view.show
    panel.view.show = lambda *arguments: (shown.append(1), show(*arguments))
    panel.select({"query": 3, "key": 1, "value": 7})
    assert (panel.state.row, panel.state.column) == (3, 1)
    assert shown == [1]
    panel.select({"query": 3})
    assert shown == [1]


def test_play_walks_through_the_queries_and_begins_anew():
    panel = panels.attention_panel(T=4)
    assert panel.state.row == 3
    assert [panel.advance() for _ in range(4)] == [True, True, True, False]
    assert panel.state.row == 3


@pytest.mark.parametrize("large", [False, True])
def test_the_five_steps_stand_in_one_line(large):
    places = layout.lay_out(panels.attention_panel(large=large).picture, large=large)
    assert len({box.top for box in places.boxes.values()}) == 1
    assert places.width * places.zoom <= (layout.LARGE_WIDTH if large else layout.WIDTH) + 1
    assert places.height * places.zoom < 800


@pytest.mark.parametrize(
    "setting",
    [
        {"T": 0},
        {"T": 1025},
        {"T": 2.0},
        {"T": True},
        {"d_k": 257},
        {"head": 12},
        {"seed": 100},
        {"source": "dice"},
        {"mask": "padding"},
        {"mask": "prefix", "prefix": 17},
        {"mask": "sliding-window", "window": 0},
        {"precision": "float8"},
        {"color": "rainbow"},
        {"row": 16},
        {"column": -1},
        {"source": "running-example", "T": 7, "d_k": 4},
    ],
)
def test_compute_refuses_in_one_sentence(setting):
    with pytest.raises(settings.SettingError) as problem:
        attention.compute(**setting)
    assert str(problem.value).endswith("。")
    assert "\n" not in str(problem.value)
