"""Saved figures: the same bytes each time, and nothing half-written."""

import os
import subprocess
import sys

import pytest
from figures import new_axes, steps
from matplotlib import pyplot as plt
from matplotlib.patches import Patch

import andrea_lesson as al
from andrea_lesson import figure_style, plotting


@pytest.fixture(autouse=True)
def _no_open_figures():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return new_axes()


# -- saving ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_saving_twice_gives_the_same_bytes(tmp_path, ending):
    contents = []
    for name in ("a", "b"):
        drawn = plotting.plot_scores(
            steps(6).masked_scores, mask="causal", tokens=list("小安去借書看")
        )
        for turn in ("1", "2"):
            path = tmp_path / f"{name}{turn}.{ending}"
            plotting.save(drawn, path)
            contents.append(path.read_bytes())
    assert len(set(contents)) == 1
    assert len(contents[0]) > 5000


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_another_process_saves_the_same_bytes_at_another_time(tmp_path, ending):
    script = (
        "import sys, andrea_lesson as al\n"
        "from andrea_lesson import experiments, plotting\n"
        "steps = al.attention_steps(*experiments.random_qkv(6, 4), mask='causal')\n"
        "ax = plotting.plot_weights(steps.weights, mask='causal', title=r'$\\sqrt{d_k}$ 倍')\n"
        "plotting.save(ax, sys.argv[1])\n"
    )
    contents = []
    for place, epoch in enumerate(("0", "1700000000")):
        path = tmp_path / f"{place}.{ending}"
        more = {"PYTHONHASHSEED": str(place + 1), "SOURCE_DATE_EPOCH": epoch, "TZ": f"UTC{place}"}
        run = [sys.executable, "-X", "utf8", "-c", script, str(path)]
        subprocess.run(run, env=os.environ | more, check=True)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_bytes_of_a_figure_are_those_of_the_saved_file(tmp_path, kind):
    drawn = plotting.plot_scores(steps(6).masked_scores, mask="causal", tokens="小安去借書看")
    path = tmp_path / f"figure.{kind}"
    plotting.save(drawn, path)
    contents = {figure_style.figure_bytes(each, kind) for each in (drawn, drawn.figure)}
    assert contents == {path.read_bytes()}


def test_a_figure_an_axes_and_an_array_of_axes_can_be_saved(tmp_path):
    axes = plotting.plot_attention_steps(steps(3))
    for place, drawn in enumerate((axes, axes[0], axes[0].figure)):
        plotting.save(drawn, tmp_path / f"{place}.PNG")
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1
    with pytest.raises(TypeError, match="fig must be a Figure or Axes; got str"):
        plotting.save("figure", tmp_path / "x.png")


@pytest.mark.parametrize("name", ["figure.jpg", "figure", "png"])
def test_an_unknown_ending_is_refused_with_the_three_that_work(tmp_path, name):
    drawn = plotting.plot_mask(al.causal_mask(2))
    with pytest.raises(ValueError, match=r"\.png, \.svg, \.pdf") as caught:
        plotting.save(drawn, tmp_path / name)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path):
    drawn = plotting.plot_mask(al.causal_mask(2))
    with pytest.raises(FileNotFoundError, match=r'there is no folder ".*nowhere"') as caught:
        plotting.save(drawn, tmp_path / "nowhere" / "figure.png")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", [None, 5, "a\0.png", "{}/dir.png"])
def test_what_is_no_path_is_said_in_one_sentence(tmp_path, path):
    (tmp_path / "dir.png").mkdir()
    if isinstance(path, str):
        path = path.format(tmp_path)
    with pytest.raises((TypeError, ValueError, OSError), match=r"^path must .*\.$") as caught:
        plotting.save(plotting.plot_mask(al.causal_mask(2)), path)
    assert "\n" not in str(caught.value)


def test_a_figure_that_fails_leaves_no_half_file(tmp_path, monkeypatch):
    drawn = plotting.plot_mask(al.causal_mask(2))
    path = tmp_path / "figure.svg"
    path.write_text("what was there before", encoding="utf-8")

    def fail(*_, **__):
        raise RuntimeError("while drawing")

    monkeypatch.setattr(Patch, "draw", fail)
    with pytest.raises(RuntimeError):
        plotting.save(drawn, path)
    assert path.read_text(encoding="utf-8") == "what was there before"
