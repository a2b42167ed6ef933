"""The tiles panel: every step against plain attention over the keys seen so far."""

import math

import numpy as np
import oracle
import pytest
from panel_tools import same, set_all

import andrea_lesson as al
from andrea_lesson import experiments, panels
from andrea_lesson.panels import base, settings, tiles, tiles_picture
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


def vectors(state):
    if state.source == "random":
        return experiments.random_qkv(state.T, state.d_k, seed=state.seed)
    data = al.running_example()
    return [oracle.project(data.X[: state.T], W) for W in (data.W_Q, data.W_K, data.W_V)]


def allowed_by(state):
    i, j = np.indices((state.T, state.T))
    causal = j <= i
    return {
        "full": np.ones_like(causal),
        "causal": causal,
        "sliding-window": causal & (j > i - max(1, state.T // 3)),
        "documents": causal & ((i >= state.T // 2) == (j >= state.T // 2)),
    }[state.mask_kind]


def check(state):
    """Rows before the tile are done, rows of the tile have seen all keys up to its end."""
    T, side = state.T, math.ceil(state.T / state.tile)
    assert state.tiles == side
    down, across = divmod(state.step, side)
    first, last = down * state.tile, min((down + 1) * state.tile, T)
    start, end = across * state.tile, min((across + 1) * state.tile, T)
    assert (state.now.queries, state.now.keys) == (slice(first, last), slice(start, end))
    allowed = allowed_by(state)
    seen = allowed.copy()
    seen[first:last, end:] = False
    seen[last:] = False
    Q, K, V = vectors(state)
    so_far = oracle.attention(Q, K, V, seen)
    np.testing.assert_allclose(state.output, so_far.output, atol=1e-12)
    scaled = np.where(seen, so_far.scaled_scores, -np.inf)
    highest = scaled.max(axis=1)
    np.testing.assert_allclose(state.running_max, highest, rtol=1e-12)
    shift = np.where(np.isfinite(highest), highest, 0)
    sums = np.exp(scaled - shift[:, None]).sum(axis=1)
    np.testing.assert_allclose(state.running_sum, sums, rtol=1e-12)
    done = oracle.attention(Q, K, V, allowed)
    np.testing.assert_allclose(state.true_output, done.output, atol=1e-12)

    # What the tile did to the sums that were there before.
    earlier = np.where(np.arange(T) < start, scaled, -np.inf)[first:last]
    factor = np.ones(T)
    skipped = not allowed[first:last, start:end].any()
    if not skipped:
        factor[first:last] = np.exp(earlier.max(axis=1) - shift[first:last])
    np.testing.assert_allclose(state.rescale, factor, rtol=1e-12)
    assert state.now.skipped == skipped

    # Which tiles are done, skipped, or still to come.
    counts = {"computed": 0, "skipped": 0}
    scores = np.zeros((T, T))
    for number in range(side * side):
        i, j = divmod(number, side)
        cells = np.s_[i * state.tile : (i + 1) * state.tile, j * state.tile : (j + 1) * state.tile]
        hidden = not allowed[cells].any()
        assert (state.order[cells] == number).all()
        assert (state.skipped[cells] == hidden).all()
        if number <= state.step:
            counts["skipped" if hidden else "computed"] += 1
            if not hidden:
                scores[cells] = scaled_scores(so_far, allowed)[cells]
    np.testing.assert_allclose(state.scores, scores, atol=1e-12)
    assert (state.computed_tiles, state.skipped_tiles) == (counts["computed"], counts["skipped"])
    before = state.before
    if first <= state.row < last:
        row = scaled[state.row, :start]
        high = row.max(initial=-np.inf)
        assert before.running_max == pytest.approx(high)
        expected = 0.0 if np.isinf(high) else np.exp(row - high).sum()
        assert before.running_sum == pytest.approx(expected)
    else:
        assert before is None


def scaled_scores(steps, allowed):
    return np.where(allowed, steps.scaled_scores, -np.inf)


# -- the state -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", tiles.MASKS)
@pytest.mark.parametrize(("T", "tile"), [(1, 1), (5, 2), (6, 3), (7, 9)])
def test_every_step(T, tile, mask):
    for step in range(math.ceil(T / tile) ** 2):
        for row in range(T):
            check(tiles.compute(T=T, tile=tile, mask=mask, d_k=3, step=step, row=row))


def test_the_limit_is_that_of_scores_of_either_sign():
    for seed in range(6):
        state = tiles.compute(T=5, tile=2, step=8, row=0, seed=seed)
        Q, K, _ = vectors(state)
        scaled = Q @ K.T / np.sqrt(state.d_k)
        assert state.limit == pytest.approx(np.abs(scaled[np.tri(5, dtype=bool)]).max())


@pytest.mark.parametrize("mask", ["documents", "full"])
def test_whether_a_maximum_is_ever_negative(mask):
    """Queries that have met no key yet, whose maximum is -inf, are not meant."""
    found = set()
    for seed in range(12):
        state = tiles.compute(T=3, tile=1, mask=mask, step=8, row=0, seed=seed)
        Q, K, _ = vectors(state)
        scores = np.where(allowed_by(state), Q @ K.T, -np.inf)
        highest = np.maximum.accumulate(scores, axis=1)  # tiles of one key
        assert state.negative == bool((highest[np.isfinite(highest)] < 0).any())
        found.add(state.negative)
    assert found == {True, False}


def test_names_of_tokens_follow_the_language():
    """What is kept of a problem is kept for one language."""
    example = {"source": "running-example", "T": 6, "d_k": 4, "step": 0, "row": 0}
    tokens = {}
    for language in ("zh-Hant", "en"):
        al.set_language(language)
        tokens[language] = tiles.compute(**example).tokens
        assert tokens[language] == tuple(al.running_example().tokens)


def test_at_the_end_all_is_as_in_the_plain_form():
    for mask in tiles.MASKS:
        state = tiles.compute(T=32, tile=5, mask=mask, step=48, row=0)
        np.testing.assert_allclose(state.output, state.true_output, atol=1e-13)
        np.testing.assert_allclose(
            state.true_output,
            al.attention(*vectors(state), mask=allowed_by(state)),
            atol=1e-13,
        )


def test_random_settings_set_in_any_order(lax):
    rng = np.random.default_rng(3)
    panel = panels.tiles_panel()
    for _ in range(40):
        example = bool(rng.random() < 0.3)
        T = int(rng.integers(1, 7 if example else 33))
        tile = int(rng.integers(1, 33))
        values = {
            "source": "running-example" if example else "random",
            "T": T,
            "tile": tile,
            "mask": str(rng.choice(tiles.MASKS)),
            "step": int(rng.integers(0, math.ceil(T / tile) ** 2)),
            "row": int(rng.integers(0, T)),
        }
        if not example:
            values |= {"d_k": int(rng.integers(1, 257)), "seed": int(rng.integers(0, 100))}
        set_all(panel, values, rng)
        assert panel.error is None, values
        state = panel.state
        assert (state.step, state.row, state.tile) == (values["step"], values["row"], tile)
        if T < 12 or values.get("d_k", 0) < 32:  # the oracle is slow
            check(state)


@pytest.mark.parametrize(
    "setting",
    [
        {"source": "dice"},
        {"T": 0},
        {"T": 33},
        {"T": True},
        {"T": 16.0},
        {"tile": 0},
        {"tile": 33},
        {"tile": 4.0},
        {"d_k": 0},
        {"d_k": 257},
        {"mask": "padding"},
        {"step": -1},
        {"step": 16},
        {"step": 1.0},
        {"row": -1},
        {"row": 16},
        {"seed": 100},
        {"source": "running-example", "T": 7, "d_k": 4},
        {"source": "running-example", "T": 6, "d_k": 4, "tile": 3, "step": 4, "row": 0},
    ],
)
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_compute_refuses_in_one_line_what_no_control_offers(setting, language):
    al.set_language(language)
    tiles.compute()  # what is kept from a good setting must not let a bad one through
    tiles.compute(T=1, tile=1, step=0, row=0)
    with pytest.raises(settings.SettingError) as refused:
        tiles.compute(**setting)
    assert "\n" not in str(refused.value)
    assert str(refused.value)[-1] in "。."


def test_how_it_starts():
    state = panels.tiles_panel().state
    assert (state.source, state.T, state.tile, state.mask_kind) == ("random", 16, 4, "causal")
    assert state.before is not None
    assert 0 < state.rescale[state.row] < 1  # there is something to see
    state = panels.tiles_panel("example", T=6, tile=2).state
    assert (state.source, state.T, state.tile) == ("running-example", 6, 2)
    state = panels.tiles_panel(T=32, tile=32).state
    assert (state.tiles, state.step) == (1, 0)
    for wrong in ({"source": "dice"}, {"T": 33}, {"tile": 0}):
        with pytest.raises(settings.SettingError):
            panels.tiles_panel(**wrong)


def test_what_is_kept_cannot_be_changed():
    state = tiles.compute()
    kept = tiles._problem("random", 16, 4, 16, "causal", 0, al.get_language())
    arrays = (state.order, state.skipped, kept.scores, state.true_output, state.largest_output)
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# -- play and choose -----------------------------------------------------------------------------


@pytest.mark.parametrize(("T", "tile"), [(1, 1), (7, 3), (8, 4), (6, 6)])
def test_play_goes_through_all_tiles_and_takes_the_row_along(T, tile):
    panel = panels.tiles_panel(T=T, tile=tile)
    panel.controls["step"].value = 0
    panel.controls["row"].value = (tile - 1) if T > 1 else 0
    side = math.ceil(T / tile)
    for turn in range(2):
        steps, more = [panel.state.step], side > 1
        while more:
            more = panel.advance()
            steps.append(panel.state.step)
            queries = panel.state.now.queries
            assert queries.start <= panel.state.row < queries.stop
            if turn == 0:  # then it is in the last row of tiles, which may be a small one
                assert panel.state.row == min(queries.start + tile - 1, T - 1)
        assert panel.error is None
        assert steps == list(range(side * side))
        panel.advance()
        assert panel.state.step == 0


def test_a_step_of_play_is_one_picture():
    panel = panels.tiles_panel()
    panel.controls["step"].value = 3  # the next one is in another row of tiles
    panel.controls["row"].value = 2
    drawn, show = [], panel.view.show
    panel.view.show = lambda *arguments: (drawn.append(0), show(*arguments))
    panel.advance()
    assert len(drawn) == 1
    assert (panel.state.step, panel.state.row) == (4, 6)


def test_a_row_chosen_moves_no_tile():
    panel = panels.tiles_panel()
    panel.select({"query": 3, "key": 1})
    assert (panel.state.row, panel.state.step) == (3, 9)
    assert panel.picture.selected == {"query": 3}


def test_step_and_row_stay_inside():
    panel = panels.tiles_panel(T=32, tile=2)
    panel.controls["step"].value = 255
    panel.controls["row"].value = 31
    panel.controls["T"].value = 10
    assert panel.error is None
    assert (panel.state.step, panel.state.row) == (24, 9)
    panel.controls["tile"].value = 5
    assert panel.error is None
    assert panel.state.step == 3
    panel.controls["tile"].value = 32
    assert (panel.state.step, panel.state.tiles) == (0, 1)


# -- the picture ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", tiles.MASKS)
def test_each_cell_is_done_skipped_or_still_to_come(mask):
    for step in range(16):
        state = tiles.compute(step=step, mask=mask)
        part = tiles_picture.describe(state).parts["scores"]
        same(part.hidden, state.skipped)
        assert not (part.hidden & part.blank).any()
        done = (state.order <= step) & ~state.skipped
        same(part.hidden | part.blank, ~done)
        assert not part.values[~done].any()  # not even in the numbers
        same(part.framed, state.order == step)
        assert not part.warns
        assert part.grid == 4
        same(np.isneginf(part.values), done & ~allowed_by(state))


def test_bars_show_what_is_known_of_each_row():
    state = tiles.compute()
    parts = tiles_picture.describe(state).parts
    for name in ("running_max", "running_sum"):
        same(parts[name].hidden, np.arange(16) >= 12)
        same(parts[name].values[:12], getattr(state, name)[:12])
    same(parts["rescale"].hidden, ~np.isin(np.arange(16), range(8, 12)))
    for name in ("running_max", "running_sum", "rescale"):
        assert parts[name].lit == (8, 9, 10, 11)
    same(parts["output"].values, state.output[11, :8])
    same(parts["true_output"].values, state.true_output[11, :8])
    later = tiles_picture.describe(tiles.compute(row=12)).parts
    assert later["output"].hidden.all()


def test_scales_stay_while_tiles_pass():
    for mask in tiles.MASKS:
        ends = set()
        for step in range(16):
            picture = tiles_picture.describe(tiles.compute(step=step, mask=mask))
            ends.add(
                tuple(
                    (part.low, part.high) if hasattr(part, "low") else part.limit
                    for part in picture.parts.values()
                )
            )
            for part in picture.parts.values():
                if hasattr(part, "low"):
                    shown = part.values if part.hidden is None else part.values[~part.hidden]
                    assert (shown >= part.low).all()
                    assert (shown <= part.high).all()
        assert len(ends) == 1


def test_the_maxima_are_measured_from_0_where_none_is_negative():
    """Those of the example then have room for their numbers within the frame of the tile."""
    example = {"source": "running-example", "T": 6, "d_k": 4, "tile": 2, "row": 5}
    for step in range(9):
        bars = tiles_picture.describe(tiles.compute(**example, step=step)).parts["running_max"]
        assert (bars.low, bars.high) == (0, 3)
    bars = tiles_picture.describe(tiles.compute()).parts["running_max"]
    assert (bars.low, bars.high) == (-4, 4)


def test_formulas_are_those_of_the_step():
    al.set_language("en")
    for step in range(16):
        for row in range(16):
            state = tiles.compute(step=step, row=row)
            now, highest, factor, total, away = tiles_picture.describe(state).formulas
            down, across = divmod(step, 4)
            tile = f"query {4 * down}–{4 * down + 3} × key {4 * across}–{4 * across + 3}"
            assert tile in now
            assert ("skips" if across > down else "computes") in now
            m, l_ = short(state.running_max[row]), short(state.running_sum[row])
            if row // 4 == down and across <= down and np.isfinite(state.running_max[row]):
                assert highest.endswith(f"= {m}")
                assert factor.endswith(f"= {short(state.rescale[row])}")
                assert total.endswith(f"= {l_}")
                # The written sum is right, to the digits that are written.
                terms = total.split("=")[-2].replace("×", "*").replace("−", "-")
                assert eval(terms) == pytest.approx(state.running_sum[row], rel=0.02)
            else:
                words = "sees no key" if row // 4 == down else "done" if row // 4 < down else "turn"
                assert words in highest
                assert factor.endswith(f"m = {m}")
                assert total.endswith(f"l = {l_}")
            assert away.endswith("at most 0") is (
                row // 4 < down or (row // 4, row // 4) <= (down, across)
            )


def test_the_number_of_formulas_never_changes():
    counts = set()
    for mask in tiles.MASKS:
        for step in (0, 3, 9, 15):
            for row in (0, 11, 15):
                state = tiles.compute(step=step, row=row, mask=mask)
                formulas = tiles_picture.describe(state).formulas
                assert all(formulas)
                counts.add(len(formulas))
    assert counts == {5}


def test_the_caption_says_what_the_mask_is():
    al.set_language("en")
    for mask, words in (("sliding-window", "window 5"), ("documents", "document 2 from 8")):
        assert words in tiles_picture.describe(tiles.compute(mask=mask)).caption


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
@pytest.mark.parametrize("source", ["example", "random"])
def test_all_parts_stand_side_by_side_and_nothing_moves(large, language, source):
    al.set_language(language)
    panel = panels.tiles_panel(source, large=large)
    first = lay_out(panel.picture, large=large)
    tops = {name: box.top for name, box in first.boxes.items()}
    assert len({top for name, top in tops.items() if name != "true_output"}) == 1
    assert first.boxes["true_output"].left == first.boxes["output"].left
    for T in (1, 3, 6) if source == "example" else (1, 9, 32):
        panel.controls["T"].value = T
        for tile in (1, 2, 5):
            panel.controls["tile"].value = tile
            for step in (0, math.ceil(T / tile) ** 2 - 1):
                panel.controls["step"].value = step
                assert lay_out(panel.picture, large=large) == first


def test_words_and_grid_reach_both_renderers():
    """A cell that is still to come says so; a tile that is skipped says that it is hidden."""
    from andrea_lesson.panels.encode import BLANK, HIDDEN, encode, readings
    from andrea_lesson.panels.printed import print_picture

    al.set_language("en")
    picture = tiles_picture.describe(tiles.compute())
    layout = lay_out(picture)
    sent = {part["name"]: part for part in encode(picture, layout)["parts"]}
    scores = sent["scores"]
    codes = np.frombuffer(scores["codes"], dtype=np.uint8).reshape(16, 16)
    same(codes == BLANK, picture.parts["scores"].blank)
    same(codes == HIDDEN, picture.parts["scores"].hidden)
    assert scores["grid"] == 4
    assert scores["blankWords"] == "still to come"
    assert [words for _, words in scores["legend"]][:2] == ["skipped", "still to come"]
    assert sent["rescale"]["hiddenWords"] == "not in this tile"
    assert readings(picture, picture.parts["scores"], 12, 0)[0] == ["scaled", "still to come"]
    written = {text.get_text() for text in print_picture(picture, layout).texts}
    assert {"still to come", "skipped"} <= written


def test_where_there_is_one_tile_or_one_row_there_is_nothing_to_choose():
    """A slider needs two ends, and the second would be a step that is not there."""
    panel = panels.tiles_panel(T=8, tile=4)
    step, row = panel.controls["step"], panel.controls["row"]
    assert not step.disabled
    panel.controls["tile"].value = 8
    assert (step.value, step.disabled, row.disabled) == (0, True, False)
    panel.controls["T"].value = 1
    assert (step.disabled, row.disabled) == (True, True)
    panel.controls["T"].value = 9
    assert (step.disabled, row.disabled, panel.error) == (False, False, None)
