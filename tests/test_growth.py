"""Growth of scores against theory, with its band, for unit vectors and any standard deviation."""

import math

import numpy as np
import pytest
from figures import new_axes
from test_inputs import assert_one_sentence

import andrea_lesson as al
from andrea_lesson import experiments, plotting
from andrea_lesson.random_scores import MOST

WIDTHS = (1, 4, 64, 256)


@pytest.fixture(scope="module")
def repeated():
    return experiments.score_spreads(WIDTHS, pairs=100, draws=200)


def test_theory_lies_in_the_band_and_the_median_near_theory(repeated):
    assert repeated.draws == 200
    assert ((repeated.low < repeated.std) & (repeated.std < repeated.high)).all()
    assert (
        (repeated.low < repeated.predicted_std) & (repeated.predicted_std < repeated.high)
    ).all()
    np.testing.assert_allclose(repeated.std, np.sqrt(WIDTHS), rtol=0.05)


def test_the_band_is_as_wide_as_the_long_tails_of_products_make_it(repeated):
    """The kurtosis of a sum of d_k products of normal numbers is 3 + 6/d_k, worked out by hand."""
    half = (repeated.high - repeated.low) / 2 / repeated.predicted_std
    expected = 1.96 * np.sqrt((2 + 6 / np.array(WIDTHS)) / (4 * 100))
    np.testing.assert_allclose(half, expected, rtol=0.25)
    assert half[0] > 1.6 * half[-1]  # a chi-square band would be as narrow at 1 as at 256


def test_new_draws_fall_into_the_band_about_19_times_in_20(repeated):
    rng = np.random.default_rng(99)
    q, k = rng.standard_normal((2, 400, 100, 64))
    spread = (q * k).sum(axis=-1).std(axis=-1)  # (400,), independent of the package
    inside = np.mean((repeated.low[2] < spread) & (spread < repeated.high[2]))
    assert 0.88 < inside < 0.99


@pytest.mark.parametrize(("sigma_q", "sigma_k"), [(2.0, 3.0), (0.02, 1.0), (1e-6, 1e6)])
def test_what_counts_is_the_product_of_both_standard_deviations(sigma_q, sigma_k):
    measured = experiments.score_spreads(WIDTHS, sigma_q=sigma_q, sigma_k=sigma_k)
    factor = sigma_q * sigma_k
    np.testing.assert_allclose(measured.predicted_std, factor * np.sqrt(WIDTHS), rtol=1e-12)
    plain = experiments.score_spreads(WIDTHS)
    np.testing.assert_allclose(measured.std, factor * plain.std, rtol=1e-12)
    np.testing.assert_allclose(measured.scores, factor * plain.scores, rtol=1e-12)
    np.testing.assert_allclose(
        [measured.low, measured.high], factor * np.array([plain.low, plain.high]), rtol=1e-12
    )


def test_numbers_are_those_of_a_draw_made_here():
    rng = np.random.default_rng(5)
    q, k = rng.standard_normal((2, 30, 7))
    scores = 6 * np.einsum("pc,pc->p", q, k)
    measured = experiments.score_spreads((7,), sigma_q=2, sigma_k=3, pairs=30, seed=5)
    np.testing.assert_allclose(measured.scores[0], scores, rtol=1e-12)
    assert measured.std[0] == pytest.approx(scores.std(), rel=1e-12)
    assert measured.mean_absolute[0] == pytest.approx(np.abs(scores).mean(), rel=1e-12)
    assert measured.low[0] == measured.high[0] == measured.std[0]


def test_each_draw_has_vectors_of_its_own_and_all_of_them_count():
    """Draws after the first have a random generator of seed and number."""
    spreads, absolutes = [], []
    for seed in (5, [5, 1], [5, 2], [5, 3]):
        q, k = np.random.default_rng(seed).standard_normal((2, 30, 7))
        scores = (q * k).sum(axis=-1)
        spreads.append(scores.std())
        absolutes.append(np.abs(scores).mean())
    measured = experiments.score_spreads((7,), pairs=30, draws=4, seed=5)
    assert measured.std[0] == pytest.approx(np.median(spreads), rel=1e-12)
    assert measured.mean_absolute[0] == pytest.approx(np.median(absolutes), rel=1e-12)
    band = np.percentile(spreads, [2.5, 97.5])
    np.testing.assert_allclose([measured.low[0], measured.high[0]], band, rtol=1e-12)


def test_unit_vectors_keep_length_1_whatever_the_standard_deviation():
    plain = experiments.score_spreads(WIDTHS, components="unit-vectors", pairs=50, draws=30)
    other = experiments.score_spreads(
        WIDTHS, components="unit-vectors", sigma_q=5.0, sigma_k=0.1, pairs=50, draws=30
    )
    for name in ("scores", "std", "low", "high", "predicted_std"):
        np.testing.assert_allclose(getattr(other, name), getattr(plain, name), rtol=1e-12)
    np.testing.assert_allclose(plain.std[1:], 1 / np.sqrt(WIDTHS[1:]), rtol=0.1)
    assert (plain.low <= plain.predicted_std + 1e-12).all()


def test_figures_show_the_band_and_which_theory(repeated):
    ax = new_axes()
    plotting.draw_growth(ax, repeated)
    (band,) = ax.collections
    edges = band.get_paths()[0].vertices[:, 1]
    assert edges.min() == repeated.low.min()
    assert edges.max() == repeated.high.max()
    assert al.label("chart_band", draws="200") in [
        text.get_text() for text in ax.get_legend().get_texts()
    ]
    ax = new_axes()
    plotting.draw_growth(ax, experiments.score_spreads(WIDTHS, sigma_q=2.0))
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert al.label("chart_theory_sigmas") in words
    assert len(ax.collections) == 0


@pytest.mark.parametrize(
    ("arguments", "name", "error"),
    [
        ({"sigma_q": 0.0}, "sigma_q", ValueError),
        ({"sigma_q": -1.0}, "sigma_q", ValueError),
        ({"sigma_k": 1e7}, "sigma_k", ValueError),
        ({"sigma_k": math.nan}, "sigma_k", ValueError),
        ({"sigma_k": "1"}, "sigma_k", TypeError),
        ({"draws": 0}, "draws", ValueError),
        ({"draws": MOST + 1}, "draws", ValueError),
        ({"pairs": MOST + 1}, "pairs", ValueError),
        ({"draws": 2.0}, "draws", TypeError),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(arguments, name, error):
    with pytest.raises(error) as caught:
        experiments.score_spreads((4,), **arguments)
    assert_one_sentence(str(caught.value), name)


# -- a perfect match, for the family --------------------------------------------------------------


def test_the_family_against_the_formula_worked_out_by_hand():
    found = experiments.family_match()
    assert found.model == ("ANDREA-12M", "ANDREA-120M", "ANDREA-480M")
    assert found.d_k.tolist() == [32, 64, 64]
    assert found.T.tolist() == [1024] * 3
    by_hand = [1 / (1 + 1023 * math.exp(0.5 - math.sqrt(d_k))) for d_k in (32, 64, 64)]
    np.testing.assert_allclose(found.formula, by_hand, rtol=1e-12)
    np.testing.assert_allclose(found.measured, [0.13, 0.64, 0.64], atol=0.05)
    assert found.measured[1] == found.measured[2]


def test_medians_of_a_match_are_those_of_rows_made_here():
    T, d_k, weights = 50, 16, []
    rng = np.random.default_rng([3, d_k, 1])
    for _ in range(9):
        K = rng.standard_normal((T, d_k), dtype=np.float32).astype(float)
        exponentials = np.exp(K @ K[0] / 4)
        weights.append(exponentials[0] / exponentials.sum())
    measured = experiments.perfect_match((d_k,), T, trials=9, seed=3).measured
    np.testing.assert_allclose(measured, [np.median(weights)], rtol=1e-5)


@pytest.mark.parametrize(("arguments", "name"), [({"trials": 0}, "trials"), ({"seed": -1}, "seed")])
def test_bad_arguments_of_the_family_are_refused(arguments, name):
    with pytest.raises(ValueError, match=name) as caught:
        experiments.family_match(**arguments)
    assert_one_sentence(str(caught.value), name)
