"""Rows, histograms and curves over d_k: what was measured is what is drawn."""

import numpy as np
import pytest
from figures import legend_words, new_axes
from matplotlib import pyplot as plt

import andrea_lesson as al
from andrea_lesson import experiments, plotting

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _no_open_figures():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return new_axes()


# -- rows and curves -------------------------------------------------------------------------------


def bars(ax):
    path = ax.patches[0].get_path()
    corners = path.vertices.reshape(-1, 5, 2)
    return corners[:, :, 0].mean(axis=1), corners[:, 2, 1]


def test_a_row_of_weights_stands_between_0_and_1(ax):
    plotting.draw_row(ax, [0.25, 0.75, 0.0], tokens=["去", "借", "書"], mask=[True, True, False])
    np.testing.assert_allclose(bars(ax)[1], [0.25, 0.75])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "0.5", "1"]
    assert [t.get_text() for t in ax.texts] == ["0.25", "0.75"]
    assert legend_words(ax) == ["看不到（遮罩）"]
    assert ax.get_title() == "一列的注意力權重"


def test_a_row_of_scores_stands_around_zero_and_marks_what_is_not_finite(ax):
    plotting.draw_row(ax, [1.0, -2.0, np.nan, np.inf, -np.inf])
    np.testing.assert_allclose(bars(ax)[1], [1, -2])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["−2", "0", "1"]
    assert legend_words(ax) == ["NaN（不是數）", "+∞（正無限大）", "−∞（負無限大）"]
    assert ax.get_title() == "一列的分數"


@pytest.mark.parametrize(
    ("row", "ends"), [([4.0, 0.0, 3.0], (0, 4)), ([-4.0, -1.0], (-4, 0)), ([0.0, 0.0], (0, 1))]
)
def test_a_row_on_one_side_of_zero_leaves_the_other_out(ax, row, ends):
    plotting.draw_row(ax, row)
    low, high = ax.get_ylim()
    assert [low == 0, high == 0] == [end == 0 for end in ends]
    assert low <= ends[0] < ends[1] <= high <= 1.2 * max(ends[1], 0)


def test_a_long_row_is_few_artists(ax):
    plotting.draw_row(ax, np.full(1024, 1 / 1024))
    assert len(ax.patches) == 1
    plotting.draw_row(ax, [])
    ax.figure.canvas.draw()


def test_a_histogram_has_the_area_of_its_curve(ax):
    scores = RNG.standard_normal(4000) * 8
    plotting.draw_histogram(ax, scores.reshape(40, 100), 8.0)
    (stairs,) = (p for p in ax.patches)
    heights, edges, _ = stairs.get_data()
    assert np.sum(heights * np.diff(edges)) == pytest.approx(1, abs=0.01)
    x, y = ax.lines[0].get_data()
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.01)
    assert f"{scores.std():.3g}" in legend_words(ax)[0]
    with pytest.raises(ValueError, match="predicted_std must be greater than 0"):
        plotting.draw_histogram(ax, scores, 0.0)


def test_growth_shows_what_was_measured_and_says_that_it_is_random(ax):
    spreads = experiments.score_spreads((1, 4, 16, 64))
    plotting.draw_growth(ax, spreads)
    theory, measured = ax.lines
    np.testing.assert_array_equal(measured.get_ydata(), spreads.std)
    np.testing.assert_array_equal(theory.get_ydata(), spreads.predicted_std)
    assert "隨機" in ax.get_title()
    unit = experiments.score_spreads((1, 4, 16, 64), components="unit-vectors")
    plotting.draw_growth(ax, unit)
    assert "單位向量" in ax.get_title()
    assert "1/4" in [t.get_text() for t in ax.get_yticklabels()]


def test_effective_keys_of_one_t_and_of_several(ax):
    curves = [experiments.freezing((1, 4, 16, 64), T=T) for T in (16, 64)]
    plotting.draw_effective_keys(ax, curves)
    drawn = [line.get_ydata() for line in ax.lines]
    for curve in curves:
        for values in (curve.raw, curve.scaled):
            assert any(np.array_equal(values, line) for line in drawn)
    plotting.draw_effective_keys(ax, curves[0])
    assert len(ax.lines) < len(drawn)
    assert "$T$ = 16" in ax.get_title()
    assert any(text.get_text().endswith("≈ 10") for text in ax.texts)  # 16/√e
    assert "隨機" in ax.get_title()
    with pytest.raises(ValueError, match="at least one T"):
        plotting.draw_effective_keys(ax, [])


def test_perfect_match_marks_the_family(ax):
    curve = experiments.perfect_match((8, 32, 64), T=16, trials=5)
    plotting.draw_perfect_match(ax, curve)
    words = " ".join(text.get_text() for text in ax.texts)
    assert all(model.name in words for model in al.FAMILY)
    assert any(np.array_equal(line.get_ydata(), curve.measured) for line in ax.lines)
    assert "隨機" in ax.get_title()
    (smooth,) = (line for line in ax.lines if len(line.get_xdata()) > 3)
    at_widths = np.interp(curve.d_k, *smooth.get_data())
    np.testing.assert_allclose(at_widths, curve.formula, atol=1e-3)


def test_curves_differ_in_more_than_colour(ax):
    plotting.draw_effective_keys(ax, experiments.freezing((1, 4, 16), T=16))
    looks = [(line.get_linestyle(), line.get_marker()) for line in ax.lines]
    assert len(set(looks)) == len(looks)
