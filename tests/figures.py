"""What tests of figures share: data to draw, and ways to look at what was drawn."""

import numpy as np

import andrea_lesson as al
from andrea_lesson import experiments, plotting


def new_axes():
    """Axes of a small figure that pyplot knows nothing of."""
    return plotting.kept_figure(side=3)[1][0]


def steps(T, d_k=8, mask="causal", seed=0):
    return al.attention_steps(*experiments.random_qkv(T, d_k, seed=seed), mask=mask)


def pixels(ax, row, column):
    """Colours (n, 3) of the pixels well inside a cell."""
    canvas = ax.figure.canvas
    canvas.draw()
    (x0, y0), (x1, y1) = ax.transData.transform(
        [(column - 0.35, row + 0.35), (column + 0.35, row - 0.35)]
    )
    rgb = np.asarray(canvas.buffer_rgba())[::-1, :, :3]
    return rgb[round(y0) : round(y1), round(x0) : round(x1)].reshape(-1, 3) / 255


def main_colour(ax, row, column):
    colours, counts = np.unique(pixels(ax, row, column), axis=0, return_counts=True)
    return tuple(colours[counts.argmax()])


def legend_words(ax):
    legend = ax.get_legend()
    return [text.get_text() for text in legend.get_texts()] if legend else []


def numbers_in_cells(ax):
    return [
        t.get_text()
        for t in ax.texts
        if t.get_visible() and t.get_text() != "沒有任何格" and t.get_text()
    ]


def special_picture(ax):
    """NaN, infinities and hidden cells, some of them NaN or infinite, in one picture."""
    scores = np.array([[0.5, np.nan, np.inf], [-np.inf, -0.5, 0.1], [1.0, np.nan, np.inf]])
    mask = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0]], dtype=bool)
    plotting.draw_scores(ax, scores, mask=mask)
    return ax
