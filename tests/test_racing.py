"""The race: what scaling changes, and what it does not; all from results computed here."""

import tracemalloc
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from test_lookup import from_device, on_device

import andrea_lesson as al
from andrea_lesson.training import Setting, learn, race, train, twin

CURVES = ("loss", "accuracy", "right_weight", "weights", "match")


# -- a head learns ---------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", [Setting(), Setting(optimiser="sgd", eta=10.0)], ids=str)
def test_weights_sharpen_onto_the_right_card(setting):
    history = train(setting, seed=3)
    assert history.accuracy[0] < 0.1
    assert history.accuracy[-1] == 1
    assert history.right_weight[0] < 0.15
    assert history.right_weight[-1] > 0.9
    assert history.loss[-1] < 0.1 * history.loss[0]
    np.testing.assert_array_equal(history.weights[-1].argmax(axis=-1), np.arange(16))
    np.testing.assert_allclose(history.weights.sum(axis=-1), 1, rtol=1e-12)


def test_the_product_of_W_Q_and_W_K_turns_towards_a_match():
    history = train(Setting(), seed=4)
    start, end = (np.split(match, 2, axis=-1) for match in history.match[[0, -1]])
    diagonal = np.eye(32, dtype=bool)
    np.testing.assert_array_equal(end[0].argmax(axis=-1), np.arange(32))
    gap = [topics[diagonal].mean() - topics[~diagonal].mean() for topics, _ in (start, end)]
    assert abs(gap[0]) < 0.5
    assert gap[1] > 5
    # The book on a card says nothing about its topic, and ends up far below a match.
    assert np.abs(end[1]).max() < end[0][diagonal].min()


def test_snapshots_are_of_the_steps_asked_for():
    history = train(Setting(d_k=4, steps=50), every=20)
    assert history.step.tolist() == [0, 20, 40, 50]
    assert history.weights.shape == (4, 16, 16)
    assert history.match.shape == (4, 32, 64)
    assert not history.loss.flags.writeable


def test_the_shelf_on_show_is_told():
    history = train(Setting(d_k=64, steps=400), every=400)
    assert len(set(history.topics)) == len(set(history.books)) == 16
    # What the head makes of the topics on the shelf is what its weights show.
    scores = history.match[-1][history.topics][:, history.topics] / np.sqrt(2)
    scores += history.match[-1][history.topics][:, 32 + history.books] / np.sqrt(2)
    np.testing.assert_allclose(al.softmax(scores), history.weights[-1], rtol=1e-9)


def test_the_same_seed_gives_the_same_numbers_and_another_others():
    setting = Setting(d_k=8, steps=30)
    one, again, other = train(setting), train(setting), train(setting, seed=1)
    for name in CURVES:
        np.testing.assert_array_equal(getattr(one, name), getattr(again, name), strict=True)
        assert (getattr(one, name) != getattr(other, name)).any()


def test_looking_more_often_changes_nothing():
    rare, often = (train(Setting(d_k=8, steps=40), every=every) for every in (40, 5))
    for name in CURVES:
        np.testing.assert_array_equal(getattr(rare, name)[-1], getattr(often, name)[-1])


def test_training_can_be_stopped_and_tells_its_progress():
    first = list(islice(learn(Setting(steps=10_000)), 3))
    assert [snapshot.step for snapshot in first] == [0, 20, 40]
    told = []
    train(Setting(d_k=4, steps=40), progress=lambda *numbers: told.append(numbers))
    assert told == [(0, 40), (20, 40), (40, 40)]


def test_numbers_that_overflow_are_shown_and_not_raised():
    """In float64 no setting that is allowed comes so far; in float16 many do."""
    setting = Setting(d_k=64, sigma=100.0, eta=1e6, optimiser="sgd", scaled=False, steps=40)
    *_, last = learn(setting, move=lambda array: array.astype(np.float16))
    assert np.isnan(last.loss)
    assert last.accuracy == 0  # NaN is never right
    for optimiser in ("sgd", "adam"):
        history = train(replace(setting, optimiser=optimiser))
        assert np.isfinite(history.loss).all()


def test_a_head_learns_alike_on_another_library():
    setting = Setting(d_k=4, steps=20, eta=0.03)
    here = list(learn(setting, every=10))
    there = list(learn(setting, every=10, move=on_device, back=from_device))
    for one, other in zip(here, there, strict=True):
        for name in CURVES:
            np.testing.assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-9)


def test_memory_is_flat_over_steps():
    def steps(count, run):
        for _ in islice(run, count):
            pass

    run = learn(Setting(d_k=256, steps=400), every=1)
    tracemalloc.start()
    try:
        steps(20, run)
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        steps(50, run)
        _, peak_early = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        steps(150, run)
        after, peak_late = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000
    assert peak_late - peak_early < 20_000


# -- scaled against raw ----------------------------------------------------------------------------


def final(setting, **knobs):
    """Mean final accuracy of scaled and raw over three seeds."""
    ended = race(replace(setting, **knobs), every=400)
    return ended.scaled.band()[0][-1], ended.raw.band()[0][-1]


def test_with_unit_sigma_raw_falls_behind_as_d_k_grows():
    gaps = {d_k: np.subtract(*final(Setting(d_k=d_k, eta=0.003))) for d_k in (4, 64, 256)}
    assert abs(gaps[4]) < 0.05
    assert gaps[64] > 0.08
    assert gaps[256] > 0.08


@pytest.mark.parametrize(
    "setting",
    [
        Setting(d_k=64, sigma=0.1, eta=0.0003),
        Setting(d_k=256, sigma=0.1, eta=0.0001),
        Setting(d_k=64, sigma=0.1, eta=1.0, optimiser="sgd"),
        Setting(d_k=64, sigma=1.0, eta=1.0, optimiser="sgd"),
    ],
    ids=str,
)
def test_raw_wins_where_sigma_or_eta_is_small(setting):
    scaled, raw = final(setting)
    assert raw > scaled + 0.1


def test_where_both_learn_scaling_changes_nothing_that_counts():
    assert final(Setting(d_k=64, sigma=0.3, eta=0.01)) == (1, 1)


TWINS = [
    Setting(d_k=d_k, sigma=sigma, eta=eta, optimiser=optimiser)
    for d_k in (6, 50, 200)  # whose roots are not round, so that nothing is equal by luck
    for optimiser, sigma, eta in (
        ("adam", 1.0, 0.003),
        ("adam", 0.1, 0.03),
        ("sgd", 1.0, 10.0),
        ("sgd", 0.1, 100.0),
    )
]


@pytest.mark.parametrize("setting", TWINS, ids=str)
def test_twins_coincide_to_rounding(setting):
    ended = race(setting, twin(setting), seeds=(0,))
    for name in ("loss", "accuracy"):
        scaled, raw = getattr(ended.scaled, name), getattr(ended.raw, name)
        assert np.abs(scaled - raw).max() < 1e-10
    assert np.ptp(ended.scaled.accuracy) > 0.1  # they did learn


def test_twins_coincide_in_weights_and_in_what_they_match():
    for setting in (Setting(d_k=50), Setting(d_k=50, optimiser="sgd", eta=10.0)):
        one, other = train(setting), train(twin(setting))
        for name in CURVES:
            assert np.abs(getattr(one, name) - getattr(other, name)).max() < 1e-10


def test_a_twin_moves_sigma_and_eta_and_no_other_knob():
    setting = Setting(d_k=16, sigma=0.5, eta=0.4, optimiser="sgd", steps=7)
    assert twin(setting) == replace(setting, scaled=False, sigma=0.25, eta=0.1)
    adam = replace(setting, optimiser="adam")
    moved = replace(adam, scaled=False, sigma=0.25, eta=0.2, epsilon=2 * adam.epsilon)
    assert twin(adam) == moved
    with pytest.raises(ValueError, match="scaled one"):
        twin(moved)


def test_a_twin_that_is_slightly_off_does_not_coincide():
    """Such a test could fail: the power of d_k matters."""
    setting = Setting(d_k=50, optimiser="sgd", eta=10.0, steps=100)
    for other in (
        replace(twin(setting), eta=setting.eta / 50**0.25),
        replace(twin(setting), sigma=setting.sigma),
    ):
        ended = race(setting, other, seeds=(0,))
        assert np.abs(ended.scaled.loss - ended.raw.loss).max() > 1e-2


def test_both_sides_begin_alike_and_the_band_holds_every_seed():
    ended = race(Setting(d_k=1, steps=20), seeds=(5, 6), every=10)
    np.testing.assert_array_equal(ended.scaled.accuracy, ended.raw.accuracy)  # √1 scales nothing
    mean, low, high = ended.scaled.band("loss")
    assert ended.scaled.loss.shape == (2, 3) == (len(ended.seeds), len(ended.step))
    np.testing.assert_allclose(mean, ended.scaled.loss.mean(axis=0))
    assert (low <= mean).all()
    assert (mean <= high).all()
    assert (low < high).all()
    alone = train(Setting(d_k=1, steps=20), seed=6, every=10)
    np.testing.assert_array_equal(ended.scaled.loss[1], alone.loss)


def test_a_race_tells_its_progress_over_all_runs():
    told = []
    race(Setting(d_k=2, steps=4), seeds=(0, 1), every=2, progress=lambda *n: told.append(n))
    assert told[-1] == (16, 16)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"d_k": 0}, "d_k must lie between 1 and 4096; got 0"),
        ({"d_k": 2.5}, "d_k must be a whole number"),
        ({"sigma": 0}, "sigma must be above 0 and at most 100; got 0"),
        ({"eta": -1.0}, "eta must be above 0 and at most 1000000; got -1"),
        ({"eta": float("nan")}, "eta must be finite"),
        ({"eta": "3"}, "eta must be a real number"),
        ({"optimiser": "rmsprop"}, "optimiser must be one of"),
        ({"scaled": 1}, "scaled must be True or False; got 1"),
        ({"steps": 0}, "steps must lie between 1 and 10000; got 0"),
    ],
)
def test_a_setting_that_cannot_be_right_is_refused(knobs, words):
    with pytest.raises((TypeError, ValueError), match=words):
        Setting(**knobs)


def test_a_race_of_unequal_sides_is_refused():
    setting = Setting(d_k=4, steps=2)
    with pytest.raises(ValueError, match="scaled must be"):
        race(setting, setting)
    with pytest.raises(ValueError, match="raw must have 2 steps"):
        race(setting, replace(setting, scaled=False, steps=3))
    with pytest.raises(ValueError, match="seeds must hold"):
        race(setting, seeds=())
    with pytest.raises(ValueError, match="seeds must be at least 0; got -1"):
        race(setting, seeds=(-1,))
    with pytest.raises(ValueError, match="name must be one of"):
        race(setting, seeds=(0,)).raw.band("weights")
