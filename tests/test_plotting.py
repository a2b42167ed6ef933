"""Figures as a whole: one picture in a cell, what is refused, whose settings count."""

import dataclasses
import os
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from figures import new_axes, steps
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

import andrea_lesson as al
from andrea_lesson import experiments, labels, plotting


@pytest.fixture(autouse=True)
def _no_open_figures():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return new_axes()


# -- in a notebook, in a script --------------------------------------------------------------------


def test_a_notebook_cell_shows_exactly_one_picture(monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.delenv("MPLBACKEND")  # the kernel chooses its own
    cells = [
        "import numpy as np, andrea_lesson as al\nfrom andrea_lesson import experiments, plotting\n"
        "steps = al.attention_steps(*experiments.random_qkv(6, 4), mask='causal')",
        "plotting.plot_weights(steps.weights, mask='causal')",
        "plotting.plot_scores(steps.scores);",
        "axes = plotting.plot_attention_steps(steps)",
        "plotting.plot_mask(al.causal_mask(4))\nNone",
        "plotting.plot_row(steps.weights[3])",
        "plotting.plot_matrix(steps.output, title='V')",
        "plotting.plot_masks({'a': al.causal_mask(3), 'b': al.full_mask(3)});",
        "plotting.plot_growth(experiments.score_spreads((1, 4, 16)))",
        "try:\n    plotting.plot_scores([1.0, 2.0])\nexcept ValueError as error:\n    print(error)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "", "language": "python"}
    nbclient.NotebookClient(notebook, timeout=120).execute()
    outputs = [cell.outputs for cell in notebook.cells]
    pictures = [sum("image/png" in out.get("data", {}) for out in each) for each in outputs]
    assert pictures == [0, *[1] * 8, 0]
    streams = [out for each in outputs[:-1] for out in each if out.output_type == "stream"]
    assert streams == []  # no warnings either


PLOTS = {
    "scores": lambda **ax: plotting.plot_scores(steps(4).scores, **ax),
    "weights": lambda **ax: plotting.plot_weights(steps(4).weights, mask="causal", **ax),
    "mask": lambda **ax: plotting.plot_mask(al.causal_mask(4), **ax),
    "row": lambda **ax: plotting.plot_row(steps(4).weights[2], **ax),
    "matrix": lambda **ax: plotting.plot_matrix(steps(4).output, **ax),
    "growth": lambda **ax: plotting.plot_growth(experiments.score_spreads((1, 4, 16)), **ax),
    "effective keys": lambda **ax: plotting.plot_effective_keys(
        experiments.freezing((1, 4, 16), T=16), **ax
    ),
    "perfect match": lambda **ax: plotting.plot_perfect_match(
        experiments.perfect_match((8, 32, 64), T=16, trials=5), **ax
    ),
}


def test_matrices_side_by_side_share_their_colours_and_name_the_rows_once():
    small, large = np.array([[1.0, -1.0], [0.0, 1.0]]), np.array([[3.0], [-7.0]])
    axes = plotting.plot_matrices({"Q": (small, ["a", "b"]), "V": (large, None)}, rows=["x", "y"])
    limits = [plotted.images[0].get_clim() for plotted in axes]
    assert limits[0] == limits[1]
    assert limits[0][1] >= 7
    names = [[tick.get_text() for tick in plotted.get_yticklabels()] for plotted in axes]
    assert names == [["x", "y"], ["", ""]]
    assert [plotted.get_title() for plotted in axes] == ["Q", "V"]
    assert len(plt.get_fignums()) == 1


def test_a_matrix_takes_the_limit_it_is_given():
    assert plotting.plot_matrix(np.eye(2), limit=5).images[0].get_clim() == (-5, 5)


def test_a_matrix_of_weights_has_their_colours():
    image = plotting.plot_matrix(np.eye(2), kind="weights").images[0]
    assert image.get_clim() == (0, 1)
    assert image.get_cmap().name == plotting.WEIGHTS_MAP
    with pytest.raises(ValueError, match=r'kind must be "scores" or "weights"; got \'mask\''):
        plotting.plot_matrix(np.eye(2), kind="mask")
    with pytest.raises(ValueError, match="limit must be None"):
        plotting.plot_matrix(np.eye(2), kind="weights", limit=2)


def test_steps_in_the_same_colours():
    steps = al.attention_steps(*experiments.random_qkv(6, 64), mask="causal")
    own = plotting.plot_attention_steps(steps)
    one = plotting.plot_attention_steps(steps, same_colours=True)
    limits = [[ax.images[0].get_clim() for ax in axes[:3]] for axes in (own, one)]
    assert limits[0][0] != limits[0][1]
    assert limits[1] == [limits[0][0]] * 3


def test_before_and_after_a_mask_share_the_colours_of_scores_and_hide_only_afterwards():
    Q, K, V = experiments.random_qkv(4, 8)
    Q[-1], K[-1] = 0, 20 * K[-1]  # the largest scores are those that the mask hides
    before = al.attention_steps(Q, K, V)
    after = al.attention_steps(Q, K, V, mask="causal")
    axes = plotting.plot_masking(before, after, tokens="abcd")
    pictures = [plotted.images[0] for plotted in axes]
    assert pictures[0].get_clim() == pictures[1].get_clim()
    hidden = [np.ma.getmaskarray(picture.get_array()).sum() for picture in pictures]
    assert hidden == [0, 6, 0, 6]
    np.testing.assert_allclose(pictures[3].get_array().sum(axis=-1), 1)
    assert len({plotted.get_title() for plotted in axes}) == 4
    assert len(plt.get_fignums()) == 1
    with pytest.raises(ValueError, match="four Axes"):
        plotting.plot_masking(before, after, axes=plotting.kept_figure(2)[1])


def test_six_masks_stand_in_one_line():
    axes = plotting.plot_masks({str(n): al.causal_mask(6) for n in range(6)})
    assert len({plotted.get_position().y0 for plotted in axes}) == 1
    assert axes[0].figure.get_size_inches()[1] <= 4


def test_both_looks_of_masks_are_explained_even_if_the_first_hides_nothing():
    axes = plotting.plot_masks({"a": al.full_mask(3), "b": al.causal_mask(3)})
    legends = [plotted.get_legend() for plotted in axes]
    assert legends[0] is None
    assert len(legends[1].get_texts()) == 2


@pytest.mark.parametrize("name", PLOTS)
def test_plots_return_their_axes_on_one_new_figure(name):
    drawn = PLOTS[name]()
    assert isinstance(drawn, Axes)
    assert plt.get_fignums() == [drawn.figure.number]


@pytest.mark.parametrize("name", PLOTS)
def test_plots_draw_on_the_axes_given_and_make_no_figure(name, ax):
    assert PLOTS[name](ax=ax) is ax
    assert plt.get_fignums() == []
    ax.figure.canvas.draw()


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.parametrize("language", labels.LANGUAGES)
def test_titles_and_axis_labels_speak_the_current_language(name, language):
    al.set_language(language)
    drawn = PLOTS[name]()
    words = drawn.get_title() + drawn.get_xlabel() + drawn.get_ylabel()
    chinese = any("\u4e00" <= character <= "\u9fff" for character in words)
    assert chinese == (language == "zh-Hant")


def test_no_backend_is_chosen_and_pyplot_is_left_alone(tmp_path):
    """googlecolab/colabtools#5148: an inherited backend variable breaks plain scripts."""
    script = (
        "import sys\n"
        "from andrea_lesson import plotting\n"
        "figure, (ax,) = plotting.kept_figure()\n"
        "plotting.draw_mask(ax, [[True]])\n"
        "plotting.save(figure, sys.argv[1])\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    environment = os.environ | {"MPLBACKEND": "module://not_installed.here"}
    path = tmp_path / "figure.png"
    subprocess.run([sys.executable, "-c", script, str(path)], env=environment, check=True)
    assert path.stat().st_size > 1000


# -- what comes in ---------------------------------------------------------------------------------


class OnTheGpu:
    """Like a CuPy array: refuses to become a NumPy array unasked."""

    def __init__(self, array):
        self.array = np.asarray(array)

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def get(self):
        return self.array


def test_arrays_on_a_gpu_are_fetched(ax):
    """matplotlib/matplotlib#17516: handing a CuPy array to matplotlib raises a TypeError."""
    made = steps(4)
    mask = OnTheGpu(al.causal_mask(4))
    plotting.draw_scores(ax, OnTheGpu(made.scores), mask=mask)
    plotting.draw_weights(ax, OnTheGpu(made.weights), mask=mask)
    plotting.draw_mask(ax, mask)
    plotting.draw_row(ax, OnTheGpu(made.weights[2]), mask=OnTheGpu(al.causal_mask(4)[2]))
    plotting.draw_histogram(ax, OnTheGpu(made.scores), 1.0)
    plotting.plot_matrix(OnTheGpu(made.output))
    names = ("scores", "scaled_scores", "masked_scores", "weights", "output")
    plotting.plot_attention_steps(
        dataclasses.replace(made, **{name: OnTheGpu(getattr(made, name)) for name in names})
    )


def test_inputs_stay_as_they_were(ax):
    made = steps(40)
    before = made.weights.copy(), made.masked_scores.copy()
    plotting.draw_weights(ax, made.weights, mask="causal")
    plotting.draw_scores(ax, made.masked_scores)
    np.testing.assert_array_equal(made.weights, before[0])
    np.testing.assert_array_equal(made.masked_scores, before[1])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64, np.uint8, bool])
def test_every_real_type_can_be_drawn(ax, dtype):
    plotting.draw_scores(ax, np.array([[0, 1], [1, 1]], dtype=dtype))
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: plotting.plot_scores([1.0, 2.0]),
            ValueError,
            r"scores must have two axes.*\(2,\)",
        ),
        (
            lambda: plotting.plot_weights(np.ones((2, 3, 4))),
            ValueError,
            r"weights must have two axes.*\(2, 3, 4\): choose one, as in weights\[0\]",
        ),
        (lambda: plotting.plot_mask(np.ones(3, bool)), ValueError, "mask must have two axes"),
        (lambda: plotting.plot_mask(np.ones((2, 2))), TypeError, "mask must hold booleans"),
        (lambda: plotting.plot_row(np.ones((2, 2))), ValueError, r"one axis.*as in row\[0\]"),
        (lambda: plotting.plot_scores([["a"]]), TypeError, "scores must hold real numbers"),
        (lambda: plotting.plot_scores([[1j]]), TypeError, "scores must hold real numbers"),
        (lambda: plotting.plot_scores([[1], [1, 2]]), ValueError, "rectangular"),
        (lambda: plotting.plot_scores(np.ma.masked_array([[1.0]])), TypeError, "masked array"),
        (lambda: plotting.plot_scores(None), TypeError, "scores must hold real numbers"),
        (
            lambda: plotting.plot_scores(np.ones((2, 2)), mask=np.ones((3, 3), bool)),
            ValueError,
            r"mask must have shape \(2, 2\)",
        ),
        (
            lambda: plotting.plot_scores(np.ones((2, 2)), mask=np.ones((2, 2))),
            TypeError,
            "True = may attend",
        ),
        (lambda: plotting.plot_row([1.0], mask="causal"), ValueError, "boolean row"),
        (
            lambda: plotting.plot_scores(np.ones((2, 2)), tokens=["a", "b", "c"]),
            ValueError,
            "tokens must hold a name for each of the 2 keys; got 3",
        ),
        (
            lambda: plotting.plot_weights(np.ones((2, 2)), color="rainbow"),
            ValueError,
            "color must be",
        ),
        (lambda: plotting.plot_masks({}), ValueError, "at least one mask"),
        (lambda: plotting.plot_matrices({}), ValueError, "at least one matrix"),
        (
            lambda: plotting.plot_matrices({"Q": (np.eye(2), None), "V": (np.eye(3), None)}),
            ValueError,
            "equally many rows",
        ),
        (
            lambda: plotting.plot_attention_steps(steps(3), axes=plotting.kept_figure(2)[1]),
            ValueError,
            "five Axes",
        ),
        (
            lambda: plotting.plot_attention_steps(
                al.attention_steps(*(np.ones((2, 3, 4)) for _ in "QKV"))
            ),
            ValueError,
            r"steps.scores must have two axes",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_sentence_and_leaves_no_figure(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith((".", "[0]."))
    assert plt.get_fignums() == []


# -- style -----------------------------------------------------------------------------------------


def test_settings_of_the_reader_are_left_alone():
    before = dict(matplotlib.rcParams)
    for plot in PLOTS.values():
        plot()
    assert dict(matplotlib.rcParams) == before
    with plotting.style():
        assert matplotlib.rcParams["font.size"] != before["font.size"]
    assert dict(matplotlib.rcParams) == before


def test_settings_of_the_reader_do_not_change_a_figure(tmp_path):
    loud = {"font.size": 30, "image.origin": "lower", "axes.grid": True, "image.cmap": "jet"}
    loud |= {"hatch.linewidth": 5, "mathtext.fontset": "cm", "axes.titlelocation": "left"}
    pictures = []
    for settings in ({}, loud):
        with matplotlib.rc_context(settings):
            drawn = plotting.plot_weights(steps(5).weights, mask="causal", title=r"$\sqrt{d_k}$ 倍")
            plotting.save(drawn, tmp_path / "figure.png")
        pictures.append((tmp_path / "figure.png").read_bytes())
    assert pictures[0] == pictures[1]


def test_words_are_light_on_a_dark_figure():
    with plt.style.context("dark_background"):
        figure, dark = plt.subplots()
    plotting.draw_weights(dark, steps(3).weights, mask="causal")
    texts = [dark.title, dark.xaxis.label, *dark.get_xticklabels(), *dark.get_legend().get_texts()]
    assert all(sum(to_rgb(text.get_color())) > 2 for text in texts)
    plt.close(figure)


# -- arguments that are no such thing --------------------------------------------------------------

EYE, SEEN = np.eye(3), np.eye(3, dtype=bool)
MASKED = np.ma.masked_array(SEEN, SEEN)
REFUSED = {
    "limit": [
        lambda ax, bad=bad, draw=draw: draw(ax, limit=bad)
        for bad in (-1, 0, np.nan, np.inf, "a", True)
        for draw in (
            lambda ax, limit: plotting.draw_scores(ax, EYE, limit=limit),
            lambda ax, limit: plotting.draw_matrix(ax, EYE, limit=limit),
            lambda ax, limit: plotting.draw_histogram(ax, EYE, 1.0, limit=limit),
        )
    ],
    "predicted_std": [
        lambda ax, bad=bad: plotting.draw_histogram(ax, EYE, bad)
        for bad in (-1, 0, np.nan, np.inf, "a", None)
    ],
    "count": [lambda ax, bad=bad: plotting.kept_figure(bad) for bad in (0, -1, 1.5, "a", None)],
    "side": [lambda ax, bad=bad: plotting.kept_figure(side=bad) for bad in (0, np.nan, "a")],
    "tokens": [
        lambda ax, bad=bad, draw=draw: draw(ax, tokens=bad)
        for bad in (5, iter("abc"), set("abc"), dict.fromkeys("abc"))
        for draw in (
            lambda ax, tokens: plotting.draw_scores(ax, EYE, tokens=tokens),
            lambda ax, tokens: plotting.draw_row(ax, EYE[0], tokens=tokens),
            lambda ax, tokens: plotting.draw_attention_steps([ax] * 5, steps(3), tokens=tokens),
        )
    ],
    "title": [
        lambda ax, bad=bad, draw=draw: draw(ax, title=bad)
        for bad in (5, ["a"], r"$\nope$", "a\n$x^$")
        for draw in (
            lambda ax, title: plotting.draw_scores(ax, EYE, title=title),
            lambda ax, title: plotting.draw_weights(ax, EYE, title=title),
            lambda ax, title: plotting.draw_mask(ax, SEEN, title=title),
            lambda ax, title: plotting.draw_matrix(ax, EYE, title=title),
            lambda ax, title: plotting.draw_row(ax, EYE[0], title=title),
            lambda ax, title: plotting.draw_histogram(ax, EYE, 1.0, title=title),
        )
    ],
    "ax": [
        lambda ax, make=make: plotting.plot_scores(EYE, ax=make(ax))
        for make in (lambda ax: 5, lambda ax: ax.figure, lambda ax: np.array([ax]))
    ]
    + [lambda ax: plotting.plot_row(EYE[0], ax=5)],
    "axes": [
        lambda ax: plotting.plot_masks({"a": SEEN}, axes=5),
        lambda ax: plotting.plot_attention_steps(steps(3), axes=[ax] * 4 + [5]),
    ],
    "steps": [lambda ax: plotting.plot_attention_steps(None)],
    "before": [lambda ax: plotting.plot_masking(None, steps(3))],
    "spreads": [lambda ax: plotting.plot_growth(None)],
    "grid": [lambda ax, bad=bad: plotting.plot_effective_keys(bad) for bad in ([1], None)],
    "curve": [lambda ax: plotting.plot_perfect_match(None)],
    "masks": [lambda ax, bad=bad: plotting.plot_masks(bad) for bad in (SEEN, None, [SEEN])],
    "matrices": [
        lambda ax, bad=bad: plotting.plot_matrices(bad) for bad in (EYE, None, {"Q": EYE})
    ],
    "mask": [
        lambda ax, bad=bad, draw=draw: draw(ax, bad)
        for bad in (MASKED, [[True], [True, False]])
        for draw in (
            lambda ax, mask: plotting.draw_mask(ax, mask),
            lambda ax, mask: plotting.draw_scores(ax, EYE, mask=mask),
            lambda ax, mask: plotting.draw_weights(ax, EYE, mask=mask),
            lambda ax, mask: plotting.draw_row(ax, EYE[0], mask=mask),
        )
    ],
    "values": [lambda ax: plotting.draw_histogram(ax, np.ma.masked_array(EYE, SEEN), 1.0)],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_an_argument_cannot_be_is_said_before_anything_changes(name, ax):
    """One sentence that names the argument; the picture that was there stays, to the pixel."""
    plotting.draw_scores(ax, np.ones((2, 2)), title="kept")
    ax.figure.canvas.draw()
    before = np.asarray(ax.figure.canvas.buffer_rgba()).copy()
    for call in REFUSED[name]:
        with pytest.raises((TypeError, ValueError), match=f"^{name} ") as caught:
            call(ax)
        assert "\n" not in str(caught.value)
        assert str(caught.value).endswith(".")
    ax.figure.canvas.draw()
    np.testing.assert_array_equal(np.asarray(ax.figure.canvas.buffer_rgba()), before)
    assert plt.get_fignums() == []
