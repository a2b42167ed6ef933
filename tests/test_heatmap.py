"""Heatmaps: what each cell looks like, at every size."""

import time

import matplotlib
import numpy as np
import pytest
from figures import (
    legend_words,
    main_colour,
    new_axes,
    numbers_in_cells,
    pixels,
    special_picture,
    steps,
)
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

import andrea_lesson as al
from andrea_lesson import colours, figure_parts, figure_style, plotting

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _no_open_figures():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return new_axes()


# -- which way round -------------------------------------------------------------------------------


def test_rows_are_queries_from_the_top_and_columns_are_keys(ax):
    scores = np.zeros((3, 4))
    scores[0, 3] = 5.0
    plotting.draw_scores(ax, scores)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("列＝查詢 i", "行＝鍵 j")
    red, _, blue = main_colour(ax, 0, 3)
    assert red > blue + 0.2
    left, bottom = ax.transData.transform((3, 0)) / ax.figure.bbox.size
    box = ax.get_position()
    assert left > box.x0 + 0.8 * box.width  # at the right …
    assert bottom > box.y0 + 0.7 * box.height  # … of the top row


def test_true_in_a_mask_is_drawn_as_may_attend(ax):
    """pytorch/pytorch#41508 and others: True means "hide" elsewhere."""
    plotting.draw_mask(ax, al.causal_mask(3))
    assert main_colour(ax, 1, 0) == pytest.approx(to_rgb(colours.MASK_COLOUR), abs=0.01)
    assert main_colour(ax, 0, 1) == pytest.approx(to_rgb(figure_style.HIDDEN_FACE), abs=0.01)
    assert legend_words(ax) == ["可以看（True）", "看不到（False）"]


def test_tokens_name_both_sides_and_the_last_of_them_the_queries(ax):
    plotting.draw_weights(ax, np.full((2, 3), 1 / 3), tokens=["去", "借", "書"])
    assert [t.get_text() for t in ax.get_xticklabels()] == ["去", "借", "書"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["借", "書"]
    plotting.draw_weights(
        ax, np.full((2, 3), 1 / 3), tokens=["a", "b"], key_tokens=["去", "借", "書"]
    )
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]


def test_any_token_can_stand_at_a_tick(ax):
    tokens = ["$5", "$$", "\n", "a_very_long_token_indeed", "\x00", r"$\bad$"]
    plotting.draw_weights(ax, np.eye(6), tokens=tokens)
    ax.figure.canvas.draw()
    shown = [t.get_text() for t in ax.get_xticklabels()]
    assert shown[2:5] == ["\\n", "a_very_long…", "4"]


# -- colours ---------------------------------------------------------------------------------------


def test_scores_are_coloured_around_zero(ax):
    plotting.draw_scores(ax, [[-1.0, 0.0], [0.3, 7.1]])
    low, high = ax.images[0].get_clim()
    assert low == -high
    assert high == 8  # a round number, so that it rarely moves
    assert main_colour(ax, 0, 1) == pytest.approx((0.97, 0.97, 0.97), abs=0.02)


def test_hidden_cells_do_not_set_the_colours(ax):
    """mwaskom/seaborn#1617: one -1e9 behind the mask makes all visible cells one colour."""
    scores = np.array([[0.5, -1e9], [0.8, -0.7]])
    plotting.draw_scores(ax, scores, mask="causal")
    assert ax.images[0].get_clim() == (-0.8, 0.8)
    plotting.draw_scores(ax, scores)
    assert ax.images[0].get_clim()[1] > 1e8


def test_a_limit_of_ones_own(ax):
    plotting.draw_scores(ax, [[1.0]], limit=6)
    assert ax.images[0].get_clim() == (-6, 6)


def test_weights_are_coloured_from_0_to_1_up_to_32_keys(ax):
    plotting.draw_weights(ax, np.full((32, 32), 1 / 32))
    assert ax.images[0].get_clim() == (0, 1)
    np.testing.assert_array_equal(ax.images[0].get_array(), np.full((32, 32), 1 / 32))


def test_beyond_32_keys_weights_are_coloured_by_multiples_of_uniform(ax):
    """0…1 would be black: among 1024 keys the median weight is 0.001."""
    T = 40
    weights = np.where(al.causal_mask(T), 1.0, 0.0) / np.arange(1, T + 1)[:, None]
    plotting.draw_weights(ax, weights, mask="causal")
    shown = ax.images[0].get_array()
    assert np.ma.getmaskarray(shown).sum() == T * (T - 1) / 2
    np.testing.assert_allclose(shown.compressed(), 0, atol=1e-12)  # uniform over visible keys
    bar = ax.child_axes[0]
    assert [t.get_text() for t in bar.get_xticklabels()] == ["≤ 1/8", "1", "8", "≥ 64"]
    assert "1＝均勻" in bar.get_xlabel()
    plotting.draw_weights(ax, weights, mask="causal", color="absolute")
    assert ax.images[0].get_clim() == (0, 1)
    assert bar.get_xlabel() == ""
    assert [t.get_text() for t in bar.get_xticklabels()] == ["0", "0.5", "1"]


def test_a_weight_of_zero_is_dark_and_not_hidden(ax):
    weights = np.zeros((2, 40))
    weights[:, 0] = 1
    plotting.draw_weights(ax, weights)
    assert not np.ma.getmaskarray(ax.images[0].get_array()).any()
    assert legend_words(ax) == []


def test_weights_that_cannot_be_are_not_cut_off(ax):
    plotting.draw_weights(ax, [[1.3, -0.3]])
    low, high = ax.images[0].get_clim()
    assert low <= -0.3
    assert high >= 1.3


def lightness(cmap):
    rgb = matplotlib.colormaps[cmap](np.linspace(0, 1, 64))[:, :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return 116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16


def test_the_map_of_weights_is_perceptually_even_and_that_of_scores_symmetric():
    steps_of_lightness = np.diff(lightness(plotting.WEIGHTS_MAP))
    assert (steps_of_lightness > 0).all()
    assert steps_of_lightness[2:-2].std() < 0.25 * steps_of_lightness.mean()
    scores = lightness(plotting.SCORES_MAP)
    assert scores.argmax() in (31, 32)
    np.testing.assert_allclose(scores, scores[::-1], atol=11)


# -- hidden, NaN, infinities -----------------------------------------------------------------------


def test_nan_infinities_and_hidden_cells_look_different(ax):
    special_picture(ax)
    cells = {"nan": (0, 1), "plus_infinity": (0, 2), "minus_infinity": (1, 0), "hidden": (1, 2)}
    looks = {name: pixels(ax, *cell) for name, cell in cells.items()}
    for one in looks:
        for other in looks:
            if one < other:
                distance = np.abs(np.sort(looks[one], 0).mean(0) - np.sort(looks[other], 0).mean(0))
                assert distance.max() > 0.12, (one, other)
    for name, cell in cells.items():  # a pattern, not a colour alone
        assert len(np.unique(pixels(ax, *cell), axis=0)) > 3, name


def test_a_hidden_nan_looks_hidden_and_a_visible_one_never(ax):
    special_picture(ax)
    assert main_colour(ax, 2, 1) == main_colour(ax, 1, 2)  # both hidden, NaN or not
    assert main_colour(ax, 0, 1) != main_colour(ax, 1, 2)
    nan = to_rgb(figure_parts.SPECIAL["nan"][0])
    assert main_colour(ax, 0, 1) == pytest.approx(nan, abs=0.01)


def test_the_legend_names_what_is_there_and_nothing_else(ax):
    special_picture(ax)
    found = legend_words(ax)
    assert found == ["看不到（遮罩）", "NaN（不是數）", "+∞（正無限大）", "−∞（負無限大）"]
    plotting.draw_scores(ax, np.ones((3, 3)))
    assert legend_words(ax) == []
    plotting.draw_scores(ax, [[np.nan]])
    assert legend_words(ax) == ["NaN（不是數）"]


def test_limits_come_from_finite_cells_alone(ax):
    special_picture(ax)
    assert ax.images[0].get_clim() == (-1, 1)
    plotting.draw_scores(ax, [[np.nan, np.inf], [-np.inf, np.nan]])
    ax.figure.canvas.draw()
    assert ax.images[0].get_clim() == (-1, 1)


def test_marks_go_when_the_matrix_changes(ax):
    special_picture(ax)
    plotting.draw_scores(ax, np.ones((2, 2)))
    patches = [p for p in ax.patches if p.get_hatch() and p.get_visible()]
    assert patches == []


def test_an_infinite_weight_is_not_coloured_as_a_large_one(ax):
    weights = np.full((2, 40), 1 / 40)
    weights[0, 0], weights[0, 1] = np.inf, np.nan
    plotting.draw_weights(ax, weights)
    assert np.ma.getmaskarray(ax.images[0].get_array()).sum() == 2
    assert len(legend_words(ax)) == 2


def test_a_row_that_sees_nothing_is_hatched_and_not_an_even_colour(ax):
    mask = np.array([[True, True], [False, False]])
    weights = al.attention_weights(np.eye(2), np.eye(2), mask=mask)
    plotting.draw_weights(ax, weights, mask=mask)
    assert main_colour(ax, 1, 0) == pytest.approx(to_rgb(figure_style.HIDDEN_FACE), abs=0.01)
    assert main_colour(ax, 1, 1) == main_colour(ax, 1, 0)


def test_masks_of_all_accepted_forms(ax):
    weights = np.full((3, 3), 1 / 3)
    for mask in (
        "causal",
        al.causal_mask(3),
        al.causal_mask(3).tolist(),
        al.padding_mask([2], 3)[0],
    ):
        plotting.draw_weights(ax, weights, mask=mask)
        hidden = np.ma.getmaskarray(ax.images[0].get_array())
        expected = ~np.broadcast_to(al.causal_mask(3) if isinstance(mask, str) else mask, (3, 3))
        np.testing.assert_array_equal(hidden, expected)


# -- numbers in the cells --------------------------------------------------------------------------


def test_up_to_ten_columns_the_numbers_stand_in_the_cells(ax):
    plotting.draw_weights(ax, [[1.0, 0.0], [0.25, 0.75]], mask="causal")
    assert numbers_in_cells(ax) == ["1.00", "0.25", "0.75"]
    plotting.draw_scores(ax, [[-0.001, 12.34], [np.nan, -np.inf]])
    assert numbers_in_cells(ax) == ["0.0", "12.3", "NaN", "−∞"]
    plotting.draw_weights(ax, np.full((11, 11), 1 / 11))
    assert numbers_in_cells(ax) == []
    plotting.draw_matrix(ax, [[1, 2], [3, 4]])
    assert numbers_in_cells(ax) == ["1", "2", "3", "4"]
    plotting.draw_matrix(ax, [[1, 2], [3, 4]], numbers=False)
    assert numbers_in_cells(ax) == []


def test_numbers_stand_out_from_their_cells(ax):
    plotting.draw_weights(ax, np.linspace(0, 1, 10)[None, :])
    for text, face in zip(ax.texts[1:], ax.images[0].cmap(np.linspace(0, 1, 10)), strict=True):
        contrast = np.dot(np.subtract(to_rgb(text.get_color()), face[:3]), [0.3, 0.6, 0.1])
        assert abs(contrast) > 0.35


# -- sizes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (1, 9), (40, 2), (3, 50)])
def test_every_shape_can_be_drawn(shape, recwarn):
    values = np.ones(shape)
    for draw in (plotting.plot_scores, plotting.plot_weights, plotting.plot_matrix):
        draw(values).figure.canvas.draw()
    plotting.plot_mask(values > 0).figure.canvas.draw()
    assert [str(warning.message) for warning in recwarn] == []


def test_t_of_0_and_1_go_through_all_steps():
    for T in (0, 1):
        axes = plotting.plot_attention_steps(steps(T, d_k=2))
        axes[0].figure.canvas.draw()


@pytest.mark.parametrize("mask", ["causal", "random"])
def test_a_long_context_draws_quickly_with_few_artists(ax, mask):
    T = 1024
    weights = np.full((T, T), 1 / T)
    weights[3, :500] = np.nan
    hidden = RNG.random((T, T)) < 0.5 if mask == "random" else mask
    start = time.process_time()
    plotting.draw_weights(ax, weights, mask=hidden)
    ax.figure.canvas.draw()
    assert time.process_time() - start < 2
    assert len(ax.figure.findobj()) < 400


def test_numbers_too_small_to_read_are_left_out():
    """Counted in pixels on the screen: panels draw 72 to an inch, figures 100."""
    figure, (ax,) = plotting.kept_figure(side=2.4)
    shown = []
    for dpi in (100, 72):
        figure.set_dpi(dpi)
        plotting.draw_weights(ax, np.eye(8) * 0.99)
        shown.append(len(numbers_in_cells(ax)))
    assert shown == [64, 0]


@pytest.mark.parametrize("lower", ["aceo", "gypq", "(Tj)", "看不到的格＝−∞", "QKᵀ"])
def test_the_upper_line_of_a_title_stands_where_it_stands_beside_it(lower):
    def upper_edge(words):
        figure, _ = plotting.kept_figure(side=2.4)
        with figure_style.style():
            text = figure.text(0.5, 0.5, f"xx\n{words}", va="baseline", fontsize=16)
            figure_parts.level_lines(text)
            figure.axes[0].set_visible(False)
            figure.canvas.draw()
        ink = np.asarray(figure.canvas.buffer_rgba())[..., 0] < 128
        return np.flatnonzero(ink.any(axis=1))[0]

    assert abs(int(upper_edge(lower)) - int(upper_edge("xx"))) <= 1
