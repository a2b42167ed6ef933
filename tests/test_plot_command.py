"""``andrea-lesson plot``: what it draws, and how it answers what cannot be drawn."""

import argparse
import os
import subprocess
import sys

import numpy as np
import pytest
from figures import legend_words
from PIL import Image

import andrea_lesson as al
from andrea_lesson import experiments, plot_command


@pytest.fixture
def drawn(monkeypatch):
    """Keep the figures that are saved, to look at their axes."""
    kept = []
    save = plot_command.save

    def keep(figure, path):
        kept.append(figure)
        save(figure, path)

    monkeypatch.setattr(plot_command, "save", keep)
    return kept


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def plot(line):
    parser = argparse.ArgumentParser()
    plot_command.add_arguments(parser)
    return plot_command.run(parser.parse_args(line.split()))


def visible(ax):
    return ~np.ma.getmaskarray(ax.images[0].get_array())


# -- the examples of the README --------------------------------------------------------------------


def test_a_sliding_window_as_svg(drawn, tmp_path, capsys):
    assert plot("mask --kind sliding-window --window 4 --T 16 -o mask.svg") == 0
    content = (tmp_path / "mask.svg").read_text(encoding="utf-8")
    assert content.rstrip().endswith("</svg>")
    np.testing.assert_array_equal(visible(drawn[0].axes[0]), al.sliding_window_mask(16, window=4))
    assert capsys.readouterr().out == "已寫入 mask.svg\n"


def test_weights_of_random_vectors_as_png(drawn, tmp_path):
    assert plot("weights --T 32 --d-k 64 --seed 0 -o w.png") == 0
    with Image.open(tmp_path / "w.png") as picture:
        assert min(picture.size) > 500
    Q, K, _ = experiments.random_qkv(32, 64, seed=0)
    ax = drawn[0].axes[0]
    np.testing.assert_array_equal(ax.images[0].get_array(), al.attention_weights(Q, K))
    assert ax.images[0].get_clim() == (0, 1)


# -- what is drawn ---------------------------------------------------------------------------------

MASKS = {
    "--kind full": al.full_mask(6),
    "--kind causal": al.causal_mask(6),
    "--kind sliding-window --window 2": al.sliding_window_mask(6, window=2),
    "--kind prefix --prefix 3": al.prefix_mask(6, prefix=3),
    "--kind padding --lengths 4": np.broadcast_to(al.padding_mask([4], 6)[0], (6, 6)),
    "--kind documents --lengths 2,4": al.document_mask([0, 0, 1, 1, 1, 1]),
    "--kind document --lengths 2,4": al.document_mask([0, 0, 1, 1, 1, 1]),
    "--mask causal": al.causal_mask(6),
    "": al.causal_mask(6),
}


@pytest.mark.parametrize("options", MASKS)
def test_every_kind_of_mask(drawn, options):
    assert plot(f"mask {options} --T 6 -o mask.pdf") == 0
    np.testing.assert_array_equal(visible(drawn[0].axes[0]), MASKS[options])


def test_documents_say_how_long_the_sequence_is(drawn):
    assert plot("mask --kind documents --lengths 1,2,4 -o mask.png") == 0
    assert visible(drawn[0].axes[0]).shape == (7, 7)


@pytest.mark.parametrize("picture", ["scores", "weights"])
def test_a_mask_hides_cells_of_scores_and_weights(drawn, picture):
    assert plot(f"{picture} --mask causal --T 5 -o x.png") == 0
    ax = drawn[0].axes[0]
    np.testing.assert_array_equal(visible(ax), al.causal_mask(5))
    assert legend_words(ax) == ["看不到（遮罩）"]


def test_all_steps(drawn):
    assert plot("steps --T 5 --d-k 4 --mask causal -o x.svg") == 0
    assert len(drawn[0].axes) == 5
    np.testing.assert_array_equal(visible(drawn[0].axes[2]), al.causal_mask(5))
    assert "× 0.5" in drawn[0].axes[1].get_title()


def test_without_scaling(drawn):
    assert plot("scores --T 5 --d-k 16 --no-scale -o raw.png") == 0
    assert plot("scores --T 5 --d-k 16 -o scaled.png") == 0
    raw, scaled = (figure.axes[0].images[0].get_array() for figure in drawn)
    np.testing.assert_allclose(raw, 4 * scaled)
    assert "未縮放" in drawn[0].axes[0].get_title()
    assert "未縮放" not in drawn[1].axes[0].get_title()


@pytest.mark.parametrize("picture", ["scores", "weights", "steps"])
@pytest.mark.parametrize(("lang", "word"), [("zh-Hant", "隨機"), ("en", "random")])
def test_random_vectors_are_called_random(drawn, picture, lang, word):
    assert plot(f"{picture} --T 4 --seed 3 --lang {lang} -o x.png") == 0
    words = drawn[0].axes[0].get_title() + "".join(text.get_text() for text in drawn[0].texts)
    assert word in words
    assert "3" in words  # the seed
    assert al.get_language() == "zh-Hant"


def test_the_colours_of_weights_can_be_chosen(drawn):
    assert plot("weights --T 8 --color relative -o x.png") == 0
    assert drawn[0].axes[0].images[0].get_clim() == (-3, 6)


def test_the_seed_decides_and_the_same_seed_gives_the_same_bytes(tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert plot(f"weights --T 6 --seed {seed} -o {name}.png") == 0
    a, b, c = ((tmp_path / f"{name}.png").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_smallest_size():
    for picture in plot_command.PICTURES:
        assert plot(f"{picture} --T 1 -o x.png") == 0


# -- what cannot be drawn --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "mask, scores, weights, steps"),
        ("heatmap -o x.png", "heatmap"),
        ("mask", "-o"),
        ("mask --kind diagonal -o x.png", "diagonal"),
        ("mask --kind sliding-window -o x.png", "--window"),
        ("mask --kind sliding-window --window 0 -o x.png", "--window"),
        ("mask --kind prefix -o x.png", "--prefix"),
        ("mask --kind padding -o x.png", "--lengths"),
        ("mask --kind padding --lengths 9 --T 8 -o x.png", "--lengths"),
        ("mask --kind documents --lengths 3,,4 -o x.png", "--lengths"),
        ("mask --kind documents --lengths 3,4 --T 8 -o x.png", "7"),
        ("mask --kind causal --window 4 -o x.png", "--window"),
        ("weights --prefix 4 -o x.png", "--prefix"),
        ("weights --T four -o x.png", "four"),
        ("weights --T -1 -o x.png", "-1"),
        ("weights --T 0 -o x.png", "0"),
        ("mask --T 0 -o x.png", "0"),
        ("mask --seed 5 -o x.png", "--seed"),
        ("mask --d-k banana -o x.png", "--d-k"),
        ("mask --no-scale -o x.png", "--no-scale"),
        ("mask --color relative -o x.png", "--color"),
        ("scores --color relative -o x.png", "weights / steps"),
        ("mask --kind prefix --prefix 100 --T 4 -o x.png", "--prefix"),
        ("mask --kind documents --lengths 1000,1000,1000 -o x.png", "3000"),
        ("weights --T 5000 -o x.png", "5000"),
        ("weights --d-k 0 -o x.png", "--d-k"),
        ("weights --seed 0.5 -o x.png", "--seed"),
        ("weights --color rainbow -o x.png", "rainbow"),
        ("weights -o x.jpg", ".png, .svg, .pdf"),
        ("weights -o nowhere/x.png", "nowhere"),
        ("weights --lang fr -o x.png", "zh-Hant, en"),
    ],
)
@pytest.mark.parametrize("lang", ["zh-Hant", "en"])
def test_a_bad_value_gives_one_sentence_and_exit_code_2(capsys, tmp_path, line, words, lang):
    if "--lang" not in line:
        line += f" --lang {lang}"
    assert plot(line) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert words in err
    assert err.rstrip().endswith(("。", "."))
    assert list(tmp_path.iterdir()) == []


def test_document_and_documents_are_the_same_kind(tmp_path):
    for kind in ("document", "documents"):
        assert plot(f"mask --kind {kind} --lengths 3,4 -o {kind}.svg") == 0
    one, other = (tmp_path / f"{kind}.svg" for kind in ("document", "documents"))
    assert one.read_bytes() == other.read_bytes()


def test_a_file_that_cannot_be_written_is_named(capsys, tmp_path):
    (tmp_path / "taken.png").mkdir()
    assert plot("mask --T 3 -o taken.png") == 2
    assert "taken.png" in capsys.readouterr().err


def test_help_names_every_kind_and_both_examples(capsys):
    with pytest.raises(SystemExit) as done:
        plot("--help")
    assert done.value.code == 0
    text = capsys.readouterr().out
    assert all(kind in text.replace("\n", " ") for kind in plot_command.KINDS)
    assert "mask --kind sliding-window --window 4 --T 16 -o mask.svg" in " ".join(text.split())


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_a_terminal_without_chinese_is_told_in_english(tmp_path, encoding):
    def said(line):
        done = subprocess.run(
            [sys.executable, "-m", "andrea_lesson.cli", "plot", *line.split()],
            env=os.environ | {"PYTHONIOENCODING": encoding},
            capture_output=True,
        )
        return (done.stdout + done.stderr).decode(encoding)

    english = encoding == "ascii"
    assert said("mask --T 3 -o x.svg").strip() == ("Written: x.svg" if english else "已寫入 x.svg")
    assert ("whole number" in said("mask --T 0 -o x.svg")) == english
    assert ("Say with -o" in said("mask")) == english
    (tmp_path / "taken.png").mkdir()
    assert ("Cannot write" in said("mask --T 3 -o taken.png")) == english


def test_the_figure_stays_chinese_where_the_terminal_is_not(drawn, monkeypatch, capsys):
    monkeypatch.setattr(plot_command, "prints_chinese", lambda _stream: False)
    assert plot("mask --T 3 -o x.svg") == 0
    assert capsys.readouterr().out == "Written: x.svg\n"
    assert drawn[0].axes[0].get_title() == "因果遮罩"
