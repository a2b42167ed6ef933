"""Heatmaps drawn again and again: nothing piles up, nothing moves; and all steps at once."""

import time

import numpy as np
import pytest
from figures import legend_words, new_axes, special_picture, steps
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

import andrea_lesson as al
from andrea_lesson import experiments, plotting


@pytest.fixture(autouse=True)
def _no_open_figures():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return new_axes()


# -- redrawing -------------------------------------------------------------------------------------


def test_a_hundred_redraws_leave_two_axes_one_image_and_the_same_place(ax):
    """matplotlib/matplotlib#23611: each redraw adds a colour bar and shrinks the heatmap."""
    figure = ax.figure
    plotting.draw_weights(ax, steps(8).weights, mask="causal")
    figure.canvas.draw()
    place = ax.get_position().bounds, ax.child_axes[0].get_position().bounds
    for T in range(100):
        plotting.draw_weights(ax, steps(T % 70, seed=T).weights, mask="causal")
        figure.canvas.draw()
    plotting.draw_weights(ax, steps(8).weights, mask="causal")
    figure.canvas.draw()
    assert len(figure.findobj(Axes)) == 2
    assert len(figure.findobj(AxesImage)) == 1
    now = ax.get_position().bounds, ax.child_axes[0].get_position().bounds
    np.testing.assert_allclose(now, place, atol=1e-9)
    assert plt.get_fignums() == []


def test_artists_do_not_pile_up(ax):
    sizes = []
    for _ in range(3):
        for T in (6, 40, 12):
            special_picture(ax)
            plotting.draw_scores(ax, steps(T).masked_scores, mask="causal")
        sizes.append(len(ax.figure.findobj()))
    assert sizes[0] == sizes[1] == sizes[2]


def test_a_redrawn_picture_is_the_picture_drawn_afresh(ax):
    fresh = new_axes()
    special_picture(ax)
    plotting.draw_mask(ax, al.causal_mask(9))
    plotting.draw_weights(ax, steps(50).weights)
    for each in (ax, fresh):
        plotting.draw_scores(each, steps(5).scores, mask="causal", tokens="去圖借書看")
        each.figure.canvas.draw()
    pictures = [np.asarray(each.figure.canvas.buffer_rgba()) for each in (ax, fresh)]
    np.testing.assert_array_equal(*pictures)


PICTURES = {
    "weights": lambda axes: plotting.draw_weights(axes[0], steps(4).weights),
    "wide": lambda axes: plotting.draw_matrix(axes[0], np.eye(2, 8), column_words=""),
    "row": lambda axes: plotting.draw_row(axes[0], steps(4).weights[3], tokens="abcd"),
    "histogram": lambda axes: plotting.draw_histogram(axes[0], steps(4).scores, 1.0),
    "growth": lambda axes: plotting.draw_growth(axes[0], experiments.score_spreads([4, 16])),
    "masks": lambda axes: plotting.draw_masks(axes, dict.fromkeys("abcd", al.causal_mask(4))),
    "masking": lambda axes: plotting.draw_masking(axes, steps(4, mask=None), steps(4)),
}


@pytest.mark.parametrize("then", PICTURES)
@pytest.mark.parametrize("place", [0, 1])
def test_what_another_picture_left_on_the_axes_does_not_show(then, place):
    fresh = plotting.kept_figure(4)
    for first in PICTURES:
        used = plotting.kept_figure(4)
        PICTURES[first](used[1][-place:] + used[1][:-place] if place else used[1])
        for figure, axes in (used, fresh):
            PICTURES[then](axes)
            for ax in axes[1:] if then not in ("masks", "masking") else ():
                ax.set_visible(False)
            figure.canvas.draw()
        pictures = [np.asarray(figure.canvas.buffer_rgba()) for figure, _ in (used, fresh)]
        np.testing.assert_array_equal(*pictures, err_msg=first)


def test_an_empty_picture_follows_the_language(ax):
    for language, words in (("en", "no cells"), ("zh-Hant", "沒有任何格")):
        with al.labels.language(language):
            plotting.draw_scores(ax, np.zeros((0, 0)))
        assert words in [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("T", [64, 3, 17])
def test_another_t_also_moves_limits_extent_and_ticks(ax, T):
    plotting.draw_weights(ax, steps(9).weights)
    plotting.draw_weights(ax, steps(T).weights)
    assert ax.images[0].get_array().shape == (T, T)
    assert ax.images[0].get_extent() == [-0.5, T - 0.5, T - 0.5, -0.5]
    assert (ax.get_xlim(), ax.get_ylim()) == ((-0.5, T - 0.5), (T - 0.5, -0.5))
    assert max(ax.get_xticks()) < T


def test_axes_that_were_cleared_are_set_up_again(ax):
    plotting.draw_weights(ax, steps(4).weights)
    ax.clear()
    plotting.draw_weights(ax, steps(4).weights)
    ax.figure.canvas.draw()
    assert len(ax.images) == 1
    assert len(ax.child_axes) == 1


def test_five_heatmaps_follow_a_slider():
    figure, axes = plotting.kept_figure(5)
    plotting.draw_attention_steps(axes, steps(64))
    figure.canvas.draw()
    start = time.process_time()
    for seed in range(5):
        plotting.draw_attention_steps(axes, steps(64 - seed, seed=seed))
        figure.canvas.draw()
    assert (time.process_time() - start) / 5 < 0.4  # about 0.09 on a quiet machine


# -- all steps -------------------------------------------------------------------------------------


def test_steps_hatch_what_the_mask_hides_and_nothing_before_it():
    axes = plotting.plot_attention_steps(steps(6))
    hidden = [np.ma.getmaskarray(ax.images[0].get_array()) for ax in axes]
    for before in (*hidden[:2], hidden[4]):
        assert not before.any()
    for after in hidden[2:4]:
        np.testing.assert_array_equal(after, ~al.causal_mask(6))
    assert [legend_words(ax) for ax in axes] == [[], [], ["看不到（遮罩）"], ["看不到（遮罩）"], []]


def test_a_real_minus_infinity_among_the_steps_is_not_taken_for_the_mask():
    Q, K, V = np.array([[1.0], [1.0]]), np.array([[-np.inf], [1.0]]), np.ones((2, 1))
    axes = plotting.plot_attention_steps(al.attention_steps(Q, K, V))
    assert legend_words(axes[2]) == ["−∞（負無限大）"]


def test_the_scale_in_the_title_is_computed():
    assert "× 0.5" in plotting.plot_attention_steps(steps(3, d_k=4))[1].get_title()
    unscaled = al.attention_steps(*experiments.random_qkv(3, 4), scale=1)
    assert "× 1" in plotting.plot_attention_steps(unscaled)[1].get_title()


def test_a_score_keeps_its_colour_when_others_are_hidden_if_that_does_no_harm():
    axes = plotting.plot_attention_steps(steps(6))
    assert axes[1].images[0].get_clim() == axes[2].images[0].get_clim()
    Q, K, V = np.array([[1.0], [1.0]]), np.array([[1.0], [1e9]]), np.ones((2, 1))
    mask = np.array([[True, False], [True, False]])
    axes = plotting.plot_attention_steps(al.attention_steps(Q, K, V, mask=mask))
    assert axes[2].images[0].get_clim() == (-1, 1)
