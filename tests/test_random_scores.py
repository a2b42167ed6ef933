"""Running sums of random scores against the same thing computed plainly, one d_k at a time."""

import math

import numpy as np
import pytest

import andrea_lesson as al
from andrea_lesson import experiments, random_scores

WIDTHS, LENGTHS = (1, 3, 64, 4096), (2, 3, 50, 1024)
components_of_both_kinds = pytest.mark.parametrize("components", experiments.COMPONENTS)


def same(one, other):
    np.testing.assert_array_equal(one, other, strict=True)


@pytest.fixture(scope="module")
def running():
    return experiments.running_scores(WIDTHS, seed=2)


def plain_scores(components, d_k, seed=2):
    """Queries and keys cut to d_k components, in float64, and their dot products."""
    Q, K = (x[:, :d_k].astype(float) for x in random_scores._random_vectors(seed))
    if components == "unit-vectors":
        Q, K = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (Q, K))
    return Q, Q @ K.T


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


# -- scores --------------------------------------------------------------------------------------


@components_of_both_kinds
def test_running_sums_are_dot_products(running, components):
    for place, d_k in enumerate(WIDTHS):
        scores = running.of(components, places=slice(place, place + 1))[0]
        Q, expected = plain_scores(components, d_k)
        assert scores.shape == (experiments.ROWS, experiments.LONGEST) == (64, 1024)
        np.testing.assert_allclose(scores, expected, atol=2e-5 * np.abs(expected).max())
        if components == "unit-variance":
            np.testing.assert_allclose(
                running.query_squares[place], (Q * Q).sum(axis=-1), rtol=1e-4
            )


@components_of_both_kinds
def test_some_keys_some_widths_and_factors(running, components):
    everything = running.of(components)
    factors = np.array([1.0, 2.0, 0.5, 0.25])
    part = running.of(components, slice(5, 9), slice(1, 3), factors[1:3])
    expected = everything[1:3, :, 5:9] * factors[1:3, None, None]
    np.testing.assert_allclose(part, expected, rtol=1e-6)


def test_vectors_are_random_with_mean_0_and_variance_1():
    for array in random_scores._random_vectors(5):
        assert abs(array.mean()) < 4 / math.sqrt(array.size)
        assert abs(array.var() - 1) < 4 * math.sqrt(2 / array.size)


def test_what_is_shared_cannot_be_changed(running):
    for array in (running.scores, running.query_squares, running.key_squares):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    running.of("unit-variance")[...] = 0  # a copy of one's own
    assert running.scores.any()
    spreads = experiments.row_spreads(running, LENGTHS, np.ones(4))
    with pytest.raises(ValueError, match="read-only"):
        spreads.effective_keys[...] = 0


def test_same_seed_same_row_other_seed_another():
    row = experiments.random_row(64, 8, seed=3)
    same(experiments.random_row(64, 8, seed=3), row)
    assert not np.allclose(experiments.random_row(64, 8, seed=4), row)


@components_of_both_kinds
def test_random_row_is_the_first_of_many(running, components):
    for place, d_k in enumerate(WIDTHS):
        alone = experiments.random_row(d_k, 1024, components=components, seed=2)
        assert alone.dtype == np.float64
        first = running.of(components, places=slice(place, place + 1))[0, 0]
        np.testing.assert_allclose(first, alone, atol=2e-5 * np.abs(alone).max())
    assert not np.allclose(running.scores[-1, 0], running.scores[-1, 1])
    same(experiments.random_row(64, 10, seed=1), experiments.random_row(64, 1024, seed=1)[:10])


def test_random_row_is_a_row_of_raw_scores():
    raw = experiments.random_row(64, 1024, seed=1)
    # one query: its own length scales the whole row, by √2/16 give or take
    assert raw.std() == pytest.approx(8, rel=0.35)


def test_random_row_of_unit_vectors():
    alone = experiments.random_row(1, 50, components="unit-vectors")
    np.testing.assert_allclose(np.abs(alone), np.ones(50), rtol=1e-6)
    row = experiments.random_row(256, 1024, components="unit-vectors")
    assert np.abs(row).max() < 1
    assert row.std() == pytest.approx(1 / 16, rel=4 / math.sqrt(2 * 1024))


# -- softmax over the first T keys ---------------------------------------------------------------


@components_of_both_kinds
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, -0.5])
def test_row_spreads_are_those_of_each_row(running, components, power):
    factors = np.array(WIDTHS, dtype=float) ** -power
    spreads = experiments.row_spreads(running, LENGTHS, factors, components=components)
    assert spreads.effective_keys.shape == spreads.match.shape == (4, 4)
    same(spreads.T, np.array(LENGTHS))
    for column, d_k in enumerate(WIDTHS):
        Q, scores = plain_scores(components, d_k)
        scores = scores * factors[column]
        itself = (Q * Q).sum(axis=-1) * factors[column]
        for row, T in enumerate(LENGTHS):
            w = softmax(scores[:, :T])
            entropies = -np.sum(w * np.log(np.maximum(w, 1e-300)), axis=-1)
            assert spreads.effective_keys[row, column] == pytest.approx(
                np.exp(np.median(entropies)), rel=2e-3
            )
            # key 0 is now the query itself
            matched = softmax(np.column_stack([itself, scores[:, 1:T]]))[:, 0]
            assert spreads.match[row, column] == pytest.approx(
                np.median(matched), rel=2e-3, abs=1e-6
            )


def test_effective_keys_agree_with_the_experiment(running):
    for factors in (np.ones(4), 1 / np.sqrt(WIDTHS)):
        spreads = experiments.row_spreads(running, LENGTHS, factors)
        for column, d_k in enumerate(WIDTHS):
            weights = al.softmax(plain_scores("unit-variance", d_k)[1] * factors[column])
            keys = np.median(np.log(experiments.effective_keys(weights)))
            assert spreads.effective_keys[-1, column] == pytest.approx(np.exp(keys), rel=2e-3)


def test_scores_far_apart_neither_overflow_nor_vanish(running):
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        spreads = experiments.row_spreads(running, LENGTHS, np.full(4, 16.0))  # std up to 1024
    assert np.isfinite(spreads.effective_keys).all()
    assert (spreads.effective_keys >= 1 - 1e-4).all()
    assert spreads.match[-1, -1] == 1


@pytest.mark.parametrize("Ts", [(), (1, 4), (4, 4), (8, 4), (4, 1025)])
def test_lengths_that_do_not_grow_within_range_are_refused(running, Ts):
    with pytest.raises(ValueError, match="Ts must"):
        experiments.row_spreads(running, Ts, np.ones(4))


# -- theory --------------------------------------------------------------------------------------


def test_theory_of_the_spread():
    np.testing.assert_allclose(experiments.theory_std((64, 256, 4096)), [8, 16, 64])
    np.testing.assert_allclose(experiments.theory_std([64], sigma=0.5), [2])
    unit = experiments.theory_std((1, 64), components="unit-vectors", sigma=3.0)
    np.testing.assert_allclose(unit, [1, 1 / 8])


@components_of_both_kinds
def test_spread_is_within_sampling_error_of_theory(components):
    for seed in range(3):
        running = experiments.running_scores((2, 16, 256), seed=seed)
        std = running.of(components).reshape(3, -1).std(axis=-1)
        predicted = experiments.theory_std((2, 16, 256), components=components)
        # 64 queries, whose lengths differ, against 1024 keys
        error = 0.5 * np.sqrt(2 / np.array([2, 16, 256]) / 64 + 2 / 1024)
        assert (np.abs(std / predicted - 1) < 4 * error).all()


def test_theory_of_keys_and_match():
    assert experiments.theory_keys(1.0, 1024) == pytest.approx(1024 / math.sqrt(math.e))
    assert experiments.theory_keys(0.0, 7) == 7
    widths = np.array([32, 64, 128])
    same(
        experiments.theory_match(np.sqrt(widths), 1.0, 1024),
        experiments.perfect_match_formula(widths, 1024),
    )
    assert experiments.theory_match(0.0, 0.0, 8) == pytest.approx(1 / 8)
    assert experiments.theory_match(-1e9, 1.0, 8) == pytest.approx(0)


def test_scaled_keys_and_match_come_near_theory():
    running = experiments.running_scores((64, 128))
    spreads = experiments.row_spreads(running, (1024,), 1 / np.sqrt([64, 128]))
    np.testing.assert_allclose(spreads.effective_keys[0], 1024 / np.sqrt(np.e), rtol=0.1)
    formula = experiments.perfect_match_formula(np.array([64, 128]), 1024)
    np.testing.assert_allclose(spreads.match[0], formula, atol=0.15)


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(("d_k", "T"), [(0, 4), (4097, 4), (4, 0), (4, 1025)])
def test_random_row_out_of_range_is_refused(d_k, T):
    with pytest.raises(ValueError, match="must lie between 1 and"):
        experiments.random_row(d_k, T)


@pytest.mark.parametrize("d_ks", [(4, 2), (0, 2), (2, 4097), ()])
def test_widths_that_do_not_grow_within_range_are_refused(d_ks):
    with pytest.raises(ValueError, match="d_ks must"):
        experiments.running_scores(d_ks)


def test_unknown_components_are_refused(running):
    for measure in (
        lambda: experiments.random_row(4, 4, components="unit"),
        lambda: running.of("unit"),
        lambda: experiments.theory_std(4, components="unit"),
        lambda: experiments.row_spreads(running, LENGTHS, np.ones(4), components="unit"),
    ):
        with pytest.raises(ValueError, match="components must be one of"):
            measure()


def test_divisors():
    assert experiments.divisor_value("none", 64) == 1
    assert experiments.divisor_value("sqrt_d_k", 64) == 8
    assert experiments.divisor_value("d_k", 64) == 64
    assert experiments.divisor_value("sqrt_d_model", 64, 400) == 20
    with pytest.raises(ValueError, match="d_model must be given"):
        experiments.divisor_value("sqrt_d_model", 64)
    with pytest.raises(ValueError, match="divisor must be one of"):
        experiments.divisor_value("d_model", 64)
