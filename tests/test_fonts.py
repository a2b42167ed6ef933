"""No label comes out as boxes: which face is used, and what happens where there is none."""

import json
import logging
import os
import shutil
import subprocess
import sys
import time
import warnings

import pytest
from matplotlib import font_manager, ft2font
from matplotlib.font_manager import FontProperties
from needs import unavailable

import andrea_lesson as al
from andrea_lesson import fonts, plotting
from andrea_lesson.words.figures import FIGURE_LABELS

PACKAGE = "noto_cjk_sans_otc"


@pytest.fixture(autouse=True)
def _forgetful_fonts():
    """Each test looks for a face anew, and leaves nothing behind."""

    def forget():
        fonts._search.cache_clear()
        fonts._say_that_no_face_was_found.cache_clear()
        fonts._known = None

    before = list(font_manager.fontManager.ttflist)
    forget()
    yield
    forget()
    font_manager.fontManager.ttflist[:] = before
    font_manager.fontManager._findfont_cached.cache_clear()


@pytest.fixture
def bare_machine(monkeypatch):
    monkeypatch.setattr(fonts, "search_places", lambda: ())
    monkeypatch.setattr(fonts, "FONT_PACKAGE", "a_package_that_is_not_there")


@pytest.fixture
def no_boxes(caplog):
    """Fail on any warning, and on any log record that a test does not clear."""
    caplog.set_level(logging.INFO, logger="andrea_lesson")
    caplog.set_level(logging.WARNING, logger="matplotlib")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield caplog
    assert caplog.record_tuples == []


def face_or_skip():
    face = fonts.find_face()
    if face is None:
        unavailable("no Traditional Chinese font is installed (pip install noto-cjk-sans-otc)")
    return face


def words_of_figures():
    """The words of figures, as they stand."""
    return [word for words in FIGURE_LABELS.values() for word in words]


# -- which face ------------------------------------------------------------------------------------


def test_the_face_is_traditional_chinese():
    face = face_or_skip()
    assert face.family.endswith((" TC", " TW")) or face.family == "Microsoft JhengHei"
    font = ft2font.FT2Font(face.path, face_index=face.index)
    assert font.family_name == face.family  # read from the file, not guessed


def test_matplotlib_uses_that_file_and_that_face():
    face = face_or_skip()
    used = font_manager.findfont(FontProperties(family=list(fonts.families())))
    assert (used.path, used.face_index) == (os.path.realpath(face.path), face.index)


def test_every_text_of_a_figure_has_the_face_in_front():
    face = face_or_skip()
    figure, axes = plotting.kept_figure(2)
    plotting.draw_weights(axes[0], [[1.0, 0.0], [0.5, 0.5]], mask="causal", tokens=["借", "書"])
    plotting.draw_row(axes[1], [0.5, 0.5], tokens=["借", "書"])
    from matplotlib.text import Text

    texts = [text for text in figure.findobj(Text) if text.get_text()]
    assert len(texts) > 20
    assert {text.get_fontfamily()[0] for text in texts} == {face.family}


def test_from_a_collection_the_traditional_face_is_taken_and_not_the_first(monkeypatch):
    """matplotlib/matplotlib#14269 and PR #30334: the first face of Noto Sans CJK is Japanese."""
    pytest.importorskip(PACKAGE)
    monkeypatch.setattr(fonts, "search_places", lambda: ())
    face = fonts.find_face()
    assert face is not None
    assert PACKAGE in face.path
    assert face.family == "Noto Sans CJK TC"
    assert ft2font.FT2Font(face.path).family_name == "Noto Sans CJK JP"
    assert face.index > 0


def test_a_system_face_comes_before_the_package(monkeypatch, tmp_path):
    package = pytest.importorskip(PACKAGE)
    (tmp_path / "NotoSansCJK-Regular.ttc").symlink_to(package.FONT_PATH)
    monkeypatch.setattr(
        fonts, "search_places", lambda: (f"{tmp_path}/*/x.ttc", f"{tmp_path}/*.ttc")
    )
    face = fonts.find_face()
    assert face is not None
    assert face.path == str(tmp_path / "NotoSansCJK-Regular.ttc")


def test_files_that_are_no_fonts_or_have_no_chinese_are_passed_over(monkeypatch, tmp_path):
    broken = tmp_path / "msjh.ttc"
    broken.write_bytes(b"not a font")
    latin = font_manager.findfont("DejaVu Sans").path
    monkeypatch.setattr(fonts, "search_places", lambda: (str(broken), latin, "nowhere/*.ttc"))
    monkeypatch.setattr(fonts, "FONT_PACKAGE", "a_package_that_is_not_there")
    assert fonts.find_face() is None


@pytest.mark.parametrize(
    ("family", "traditional"),
    [
        ("Noto Sans CJK TC", True),
        ("Noto Sans TC", True),
        ("PingFang TC", True),
        ("Heiti TC", True),
        ("Microsoft JhengHei", True),
        ("Source Han Sans TW", True),
        ("Noto Sans CJK JP", False),
        ("Noto Sans CJK SC", False),
        ("Noto Sans CJK HK", False),
        ("Noto Sans Mono CJK TC", False),
        ("Microsoft JhengHei UI", False),
        ("PingFang SC", False),
        ("DejaVu Sans", False),
    ],
)
def test_which_family_names_count(family, traditional):
    assert fonts._is_traditional(family) is traditional


@pytest.mark.parametrize("platform", ["win32", "darwin", "linux"])
def test_every_system_has_places_to_look(monkeypatch, platform):
    monkeypatch.setattr(sys, "platform", platform)
    assert len(fonts.search_places()) >= 5


# -- no boxes --------------------------------------------------------------------------------------


def draw_words(words):
    with plotting.style():
        figure, _ = plotting.kept_figure()
        for place, word in enumerate(words):
            figure.text(0.1, place / len(words), word)
    figure.canvas.draw()


def test_words_of_all_figures_are_drawn_without_boxes(no_boxes):
    face_or_skip()
    draw_words(words_of_figures())


def test_chinese_with_mathematics_is_drawn_without_boxes(no_boxes):
    face_or_skip()
    draw_words(["√d_k 的縮放", r"$\sqrt{d_k}$ 倍", r"除以 $\sqrt{d_k}$：$10^{-3}$ 與 −1", "≤ 1/8"])


def test_the_test_for_boxes_can_fail():
    """Without the face, the same words do warn."""
    figure, _ = plotting.kept_figure()
    figure.text(0, 0, "遮罩", fontfamily="DejaVu Sans")
    with pytest.warns(UserWarning, match="Glyph"):
        figure.canvas.draw()


def test_negative_and_logarithmic_ticks_are_legible(no_boxes):
    """matplotlib/matplotlib#15062, #27838: minus signs turn into boxes after choosing a font."""
    face_or_skip()
    with plotting.style():
        figure, (ax,) = plotting.kept_figure()
        ax.plot([-3, 5], [1e-4, 10])
        ax.set_yscale("log")
        ax.set_xlabel("行＝鍵 j")
        figure.canvas.draw()
    assert any("−" in text.get_text() for text in ax.get_xticklabels())


def test_a_stale_cache_does_no_harm(tmp_path):
    """matplotlib/matplotlib#13810: the font list is cached and knows nothing of new files.

    Here it is worse than ignorant: it has our family at a file that is gone.
    """
    face = face_or_skip()
    run = [sys.executable, "-c"]
    environment = os.environ | {"MPLCONFIGDIR": str(tmp_path), "PYTHONUTF8": "1"}
    subprocess.run([*run, "import matplotlib.font_manager"], env=environment, check=True)
    (cache,) = tmp_path.glob("fontlist-*.json")
    known = json.loads(cache.read_text(encoding="utf-8"))
    entries = [entry for entry in known["ttflist"] if "CJK" not in entry["name"]]
    entries.insert(0, entries[0] | {"name": face.family, "fname": "/gone/font.ttc", "index": 0})
    cache.write_text(json.dumps(known | {"ttflist": entries}), encoding="utf-8")
    script = (
        "import warnings, logging, sys\n"
        "logging.basicConfig(level=logging.WARNING)\n"
        "warnings.simplefilter('error')\n"
        "from andrea_lesson import plotting, fonts\n"
        "from matplotlib import font_manager as fm\n"
        "assert fm.fontManager.ttflist[0].fname == '/gone/font.ttc'\n"
        "figure, (ax,) = plotting.kept_figure()\n"
        "plotting.draw_mask(ax, [[True, False]], title='遮罩')\n"
        "figure.canvas.draw()\n"
        "print(fm.findfont(fm.FontProperties(family=list(fonts.families()))))\n"
    )
    done = subprocess.run(
        [*run, script], env=environment, check=True, capture_output=True, encoding="utf-8"
    )
    assert done.stdout.strip() == os.path.realpath(face.path)
    assert done.stderr == ""


def test_a_font_list_that_is_built_anew_gets_the_face_again():
    face = face_or_skip()
    fonts.families()
    manager = font_manager.fontManager
    manager.ttflist = [entry for entry in manager.ttflist if entry.name != face.family]
    fonts.families()
    assert manager.ttflist[0].fname == face.path
    length = len(manager.ttflist)
    fonts.families()
    assert len(manager.ttflist) == length  # once is enough


# -- a machine without Chinese ---------------------------------------------------------------------


def test_without_a_face_figures_speak_english_and_say_so_once(bare_machine, no_boxes):
    for _ in range(3):
        figure, (ax,) = plotting.kept_figure()
        plotting.draw_scores(ax, [[1.0, -2.0]], tokens=["借", "書"], title="分數")
        figure.canvas.draw()
    assert ax.get_title() == "scores"  # not the title given: it would be boxes
    assert ax.get_xlabel() == "column = key j"
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1"]
    (notice,) = no_boxes.messages
    assert "繁體中文字型" in notice
    assert "noto-cjk-sans-otc" in notice
    assert "No Traditional Chinese font" in notice
    assert "\n" not in notice
    assert al.get_language() == "zh-Hant"  # the rest of the lesson still speaks Chinese
    no_boxes.clear()


def test_english_needs_no_face_and_no_notice(bare_machine, no_boxes):
    al.set_language("en")
    figure, (ax,) = plotting.kept_figure()
    plotting.draw_weights(ax, [[0.5, 0.5]], tokens=["borrows", "book"])
    figure.canvas.draw()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["borrows", "book"]


def test_a_face_whose_file_goes_away_is_as_good_as_none(monkeypatch, tmp_path, no_boxes):
    package = pytest.importorskip(PACKAGE)
    file = tmp_path / "NotoSansCJK-Regular.ttc"
    shutil.copy(package.FONT_PATH, file)
    monkeypatch.setattr(fonts, "search_places", lambda: (str(file),))
    assert fonts.find_face().path == str(file)
    file.unlink()
    figure, (ax,) = plotting.kept_figure()
    plotting.draw_scores(ax, [[1.0, -2.0]], title="分數")
    figure.canvas.draw()
    assert ax.get_title() == "scores"
    (notice,) = no_boxes.messages
    assert "繁體中文字型" in notice
    no_boxes.clear()


# -- cost ------------------------------------------------------------------------------------------


def test_looking_for_a_face_is_quick():
    start = time.process_time()
    fonts.families()
    assert time.process_time() - start < 0.3


def test_nothing_is_looked_for_before_it_is_needed():
    script = (
        "from andrea_lesson import fonts, plotting\n"
        "assert fonts._search.cache_info().misses == 0\n"
        "plotting.kept_figure()\n"
        "plotting.kept_figure()\n"
        "assert fonts._search.cache_info().misses == 1\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
