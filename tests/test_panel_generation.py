"""The generation panel: each step against an oracle, nothing shown early, nothing made up."""

import numpy as np
import oracle
import pytest
from panel_tools import same, set_all

import andrea_lesson as al
from andrea_lesson import experiments
from andrea_lesson.panels import base, generation, generation_picture, settings
from andrea_lesson.panels.generation import generation_panel
from andrea_lesson.panels.layout import lay_out
from andrea_lesson.panels.settings import short


@pytest.fixture(autouse=True)
def _panels_closed_afterwards():
    yield
    for panel in list(base._live):
        panel.close()


@pytest.fixture
def lax(monkeypatch):
    """As for a reader: a bad setting is shown, not raised."""
    monkeypatch.delenv("ANDREA_STRICT")


def example_vectors(T):
    data = al.running_example()
    return [oracle.project(data.X[:T], W) for W in (data.W_Q, data.W_K, data.W_V)]


def picture_of(large=False, **setting):
    return generation_picture.describe(generation.compute(**setting), large=large)


# -- the state -----------------------------------------------------------------------------------


def check_state(state, Q, K, V):
    """Each row from one query and the keys and values so far; the rest not there."""
    T, step = state.T, state.step
    for t in range(step + 1):
        alone = oracle.attention(Q[t : t + 1], K[: t + 1], V[: t + 1])
        np.testing.assert_allclose(state.weights[t, : t + 1], alone.weights[0], atol=1e-12)
        np.testing.assert_allclose(state.output[t], alone.output[0], atol=1e-12)
    assert not state.weights[step + 1 :].any()
    assert not state.output[step + 1 :].any()
    i, j = np.indices((T, T))
    same(state.computed, (j <= i) & (i <= step))
    assert not state.weights[~state.computed].any()
    at_once = oracle.attention(Q, K, V, oracle.causal(T, T))
    np.testing.assert_allclose(state.training_weights, at_once.weights, atol=1e-12)
    assert 0 <= state.difference < 1e-14
    # Counted one by one.
    assert state.cached_products == sum(1 for _ in range(step + 1))
    assert state.cached_products_so_far == state.computed.sum()
    assert state.uncached_products == state.computed.sum()
    again = [t for t in range(step + 1) for i in range(t + 1) for _ in range(i + 1)]
    assert state.uncached_products_so_far == len(again)


@pytest.mark.parametrize("T", range(1, 7))
def test_every_step_of_the_example(T):
    tokens = al.running_example().tokens
    for step in range(T):
        state = generation.compute(T=T, step=step)
        check_state(state, *example_vectors(T))
        assert state.difference == 0
        assert list(state.tokens) == tokens[:T]
        assert state.next_token == (tokens[T] if T < 6 else None)


def test_at_random_settings_set_in_any_order(lax):
    rng = np.random.default_rng(8)
    panel = generation_panel()
    for _ in range(30):
        example = bool(rng.random() < 0.3)
        T = int(rng.integers(1, 7 if example else 65))
        values = {
            "source": "running-example" if example else "random",
            "T": T,
            "step": int(rng.integers(0, T)),
            "seed": int(rng.integers(0, 100)),
        }
        if not example:
            values["d_k"] = int(rng.integers(1, 257))
        set_all(panel, values, rng)
        assert panel.error is None, values
        assert panel.state.step == values["step"]
        if example:
            check_state(panel.state, *example_vectors(T))
        elif T < 24:  # the oracle is slow
            check_state(panel.state, *experiments.random_qkv(T, values["d_k"], seed=values["seed"]))


def test_the_difference_is_measured(monkeypatch):
    """Were the training pass to peek, the panel would say so."""
    whole = generation.attention_steps
    monkeypatch.setattr(generation, "attention_steps", lambda Q, K, V, mask=None: whole(Q, K, V))
    generation._sentence.cache_clear()
    state = generation.compute(step=2)
    generation._sentence.cache_clear()
    Q, K, V = example_vectors(6)
    peeking = oracle.attention(Q, K, V)
    gap = np.abs(peeking.weights[2] - state.weights[2]).max()
    assert state.difference >= gap > 0.1


@pytest.mark.parametrize(
    "setting",
    [
        {"source": "dice"},
        {"step": 6},
        {"step": -1},
        {"step": 1.0},
        {"step": True},
        {"T": 7},
        {"T": 0},
        {"T": 6.0},
        {"d_k": 5},
        {"source": "random", "T": 65},
        {"source": "random", "T": True},
        {"source": "random", "d_k": 257},
        {"source": "random", "d_k": 4.0},
        {"source": "random", "seed": 100},
    ],
)
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_compute_refuses_in_one_line_what_no_control_offers(setting, language):
    al.set_language(language)
    generation.compute()  # what is kept from a good setting must not let a bad one through
    generation.compute(source="random", T=1, step=0)
    with pytest.raises(settings.SettingError) as refused:
        generation.compute(**setting)
    assert "\n" not in str(refused.value)
    assert str(refused.value)[-1] in "。."


def test_how_it_starts():
    panel = generation_panel()
    assert (panel.state.source, panel.state.step, panel.state.T) == ("running-example", 2, 6)
    panel = generation_panel("random", step=0)
    assert (panel.state.source, panel.state.step) == ("random", 0)
    for wrong in ({"source": "dice"}, {"step": -1}, {"step": 64}):
        with pytest.raises(settings.SettingError):
            generation_panel(**wrong)


def test_tokens_are_of_the_language_in_force():
    assert generation.compute().tokens[1] == "去"
    al.set_language("en")
    assert generation.compute().tokens[1] == "visits"


def test_what_is_kept_cannot_be_changed():
    state = generation.compute()
    for array in (state.Q, state.K, state.V, state.training_weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1.0


# -- play and choose -----------------------------------------------------------------------------


@pytest.mark.parametrize("T", [1, 2, 6])
def test_play_goes_through_all_steps_and_begins_anew(T):
    panel = generation_panel(step=0)
    panel.controls["T"].value = T
    for _ in range(2):
        seen = [panel.state.step]
        while panel.advance():
            seen.append(panel.state.step)
        if T > 1:
            seen.append(panel.state.step)
        assert panel.error is None
        assert seen == list(range(T))
        panel.advance()
        assert panel.state.step == 0


def test_a_row_chosen_is_the_step():
    panel = generation_panel()
    panel.select({"query": 4, "key": 1})
    assert panel.state.step == 4
    panel.select({"target": 1})
    assert panel.state.step == 1
    assert panel.picture.selected == {"query": 1, "target": 1}


def test_step_stays_inside_T():
    panel = generation_panel(step=5)
    panel.controls["T"].value = 3
    assert panel.error is None
    assert panel.state.step == 2
    panel.controls["source"].value = "random"
    assert panel.error is None


# -- the picture ---------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", [{}, {"source": "random", "T": 9, "d_k": 5}])
def test_nothing_is_shown_before_it_is_there(setting):
    T = setting.get("T", 6)
    full = picture_of(**setting, step=T - 1).parts
    for step in range(T):
        picture = picture_of(**setting, step=step)
        parts = picture.parts
        for name in ("K", "V", "output"):
            values, hidden = parts[name].values, parts[name].hidden
            assert hidden[step + 1 :].all()
            assert not hidden[: step + 1].any()
            assert not values[step + 1 :].any()
            same(values[: step + 1], full[name].values[: step + 1])
            assert parts[name].limit == full[name].limit  # colours stay
        assert not parts["query"].hidden[step].any()
        assert np.delete(parts["query"].hidden, step, axis=0).all()
        assert not np.delete(parts["query"].values, step, axis=0).any()
        same(parts["training_weights"].values, full["training_weights"].values)
        for part in parts.values():
            assert part.lit_rows == (step,)
        assert picture.selected == {"query": step, "target": step}


def test_tokens_appear_one_by_one_and_targets_are_one_ahead():
    tokens = tuple(al.running_example().tokens)
    for step in range(6):
        axes = picture_of(step=step).axes
        later = (generation_picture.NOT_YET,) * (5 - step)
        assert axes["query"].names == axes["key"].names == tokens[: step + 1] + later
        assert axes["target"].names == (*tokens, "?")[1 : step + 2] + later
    # Where the sentence goes on, the target is known.
    assert picture_of(T=3, step=2).axes["target"].names == tokens[1:4]


def test_what_follows_the_last_token_is_not_made_up():
    al.set_language("en")
    state = generation.compute(step=5)
    assert state.next_token is None
    assert "nothing is given for position 6" in picture_of(step=5).formulas[1]
    assert "unknown" in generation_picture.summarise(state)
    for step in range(5):
        assert "shifted by one" in picture_of(step=step).formulas[1]
    for step in range(6):
        assert "not predicted" in picture_of(step=step).formulas[0]


def test_formulas_are_those_of_the_step():
    al.set_language("en")
    tokens = al.running_example().tokens
    Q, K, V = example_vectors(6)
    for step in range(6):
        lines = picture_of(step=step).formulas
        inputs, targets, weights, output, same_row, work = lines
        assert " ".join(tokens[: step + 1]) in inputs
        assert " ".join(tokens[1 : step + 2]) in targets
        row = oracle.attention(Q[step : step + 1], K[: step + 1], V[: step + 1])
        assert weights.endswith(f"[{', '.join(short(w) for w in row.weights[0])}]")
        assert output.endswith(f"[{', '.join(short(o) for o in row.output[0])}]")
        assert same_row.endswith("at most 0")
        n = step + 1
        assert f": {n} with the cache" in work
        assert f"= {n * (n + 1) // 2} (so far {n * (n + 1) // 2} against" in work


def test_the_number_of_formulas_never_changes():
    settings_ = [{"step": s} for s in range(6)]
    settings_ += [{"source": "random", "T": 64, "d_k": 64, "step": s} for s in (0, 31, 63)]
    assert {len(picture_of(**setting).formulas) for setting in settings_} == {6}


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
@pytest.mark.parametrize("source", ["example", "random"])
def test_all_parts_stand_side_by_side_and_nothing_moves(large, language, source):
    al.set_language(language)
    panel = generation_panel(source, large=large)
    first = lay_out(panel.picture, large=large)
    assert len({box.top for box in first.boxes.values()}) == 1
    for T in (1, 3, 6) if source == "example" else (1, 9, 64):
        panel.controls["T"].value = T
        for step in (0, T // 2, T - 1):
            panel.controls["step"].value = step
            assert lay_out(panel.picture, large=large) == first
