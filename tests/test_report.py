"""The report that a student hands in: one file with everything, for both languages."""

import os
import re
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

import andrea_lesson
from andrea_lesson.exercises import guess as module
from andrea_lesson.exercises import progress
from andrea_lesson.exercises.guess import guess_cells, guess_curve
from andrea_lesson.exercises.quiz import quiz
from andrea_lesson.exercises.report import ReportError, page_of, report
from andrea_lesson.labels import LABELS, set_language
from build_source import LANGUAGES, edition, read_source

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks" / "src"


@pytest.fixture(autouse=True)
def afresh(tmp_path, monkeypatch):
    monkeypatch.setenv("ANDREA_PROGRESS", str(tmp_path / "progress"))
    monkeypatch.setattr(progress, "_records", {})
    monkeypatch.setattr(module, "_drafts", {})
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def work():
    """Something of everything, made in Chinese."""
    set_language("zh-Hant")
    progress.record("an <exercise>", False)
    progress.record("an <exercise>", True)
    progress.record("another", False)
    labels = {"x_label": "chart_key_width", "y_label": "chart_score_std"}
    curve = guess_curve("02_c", [1, 2, 4], [1.0, None, 7.0], y_limits=(0, 9), **labels)
    for values in ([1, 2, 3], [3, 2, 1]):
        curve.anew()
        curve.set(values)
        curve.commit()
    cells = guess_cells("03_c", (2, 2), lambda: [[True, False]] * 2 and _cells())
    cells.set([[True, True], [False, False]])
    cells.commit()
    one = quiz("01")
    one.answer(0, [one._orders[0].index(0)])
    one.answer(1, [one._orders[1].index(1)])


def _cells():
    import numpy as np

    return np.array([[True, False], [True, False]])


class Tags(HTMLParser):
    """Checks that all tags are closed, and notes what is asked of other files."""

    def __init__(self):
        super().__init__()
        self.open, self.asked = [], []

    def handle_starttag(self, tag, attrs):
        self.asked += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        pass


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_the_page_holds_what_was_done_in_the_language_of_now(language):
    work()
    set_language(language)
    number = ("zh-Hant", "en").index(language)
    path = report()
    assert path == path.absolute()
    assert re.fullmatch(r"andrea-report-\d{4}-\d\d-\d\d\.html", path.name)
    page = path.read_text(encoding="utf-8")
    parser = Tags()
    parser.feed(page)
    assert parser.open == []
    assert parser.asked == []
    assert "http" not in page
    assert f'<html lang="{language}">' in page
    for key in ("report_title", "report_name", "report_done", "report_open", "report_right",
                "report_not_right", "report_drawing", "report_cells_drawing"):  # fmt: skip
        assert LABELS[key][number] in page, key
    assert "an &lt;exercise&gt;" in page
    assert page.count("<svg") == 3
    assert page.count('class="dot"') == 4  # two curves of which one point was not measured
    assert LABELS["guess_some_cells"][number].format(total=2, hit=1, missed=1, extra=1) in page
    assert LABELS["report_guess_number"][number].format(number=2, of=2) in page
    assert f"{datetime.now():%Y-%m-%d}" in page
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.S)
    if language == "en":
        assert not re.search(r"[\u3400-\u9fff]", body)
    assert not list(path.parent.glob(".*"))


def test_before_anything_is_done_it_says_so():
    set_language("en")
    page = page_of(progress.the_record().read(), datetime.now())
    assert page.count(LABELS["report_none"][1]) == 3


def test_an_earlier_report_is_replaced_and_nothing_else(tmp_path):
    set_language("en")
    assert report() == report()
    other = tmp_path / "thesis.html"
    other.write_text("my thesis", encoding="utf-8")
    with pytest.raises(ReportError, match=r"is not a report and is left as it is"):
        report(other)
    assert other.read_text(encoding="utf-8") == "my thesis"
    with pytest.raises(ReportError, match="left as it is"):
        report(tmp_path)
    with pytest.raises(ReportError, match="cannot be written"):
        report(tmp_path / "no folder" / "report.html")
    named = report(tmp_path / "mine.html")
    assert named == tmp_path / "mine.html"
    assert named.exists()


@pytest.mark.parametrize("path", ["a\0b", 5, 1.5, [], "~nobody-of-this-name/report.html"])
def test_what_is_no_path_is_refused_in_one_sentence(path):
    set_language("en")
    with pytest.raises(ReportError, match=r"^The report cannot be written to .*\.$"):
        report(path)


def test_a_path_may_be_bytes(tmp_path):
    assert report(os.fsencode(tmp_path / "mine.html")) == tmp_path / "mine.html"


def test_numbers_beyond_all_measure_in_a_damaged_file_are_left_out():
    work()
    for some in progress.the_record()._mine["guesses"].values():
        for entry in some:
            entry["guess"] = [10**400] * 3
            entry["shape"] = [10**400, 2]
    assert "<svg" not in report().read_text(encoding="utf-8")


def test_half_a_character_in_a_damaged_file_does_not_stop_the_report():
    progress.record("a", True)
    noted = progress.the_record()._mine["exercises"]
    noted["a\ud800"] = noted.pop("a")
    assert "a?" in report().read_text(encoding="utf-8")


def test_a_write_that_fails_leaves_the_report_before_it(monkeypatch):
    set_language("en")
    path = report()
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(ReportError, match="full"):
        report()
    assert path.read_bytes() == before
    assert not list(path.parent.glob(".*"))


def test_a_guess_that_cannot_be_read_any_more_is_left_out():
    progress.the_record().guess("02_old", {"kind": "spiral"})
    progress.the_record().guess("02_old", {"kind": "curve", "guess": [1]})
    progress.the_record().guess(
        "02_old", {"kind": "cells", "shape": [2, 2], "guess": [], "truth": 3}
    )
    assert "<figure>" not in report().read_text(encoding="utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_cell_of_notebook_00_writes_a_report_only_when_told_to(language, tmp_path):
    cells = edition(read_source(NOTEBOOKS / "00_start_here.py"), language).cells
    (code,) = (
        cell.source for cell in cells if "al.report()" in cell.source and cell.cell_type == "code"
    )
    exec(code, {"al": andrea_lesson})
    assert list(tmp_path.glob("here/*")) == []
    exec(code.replace("False", "True"), {"al": andrea_lesson})
    assert [path.suffix for path in tmp_path.glob("here/*")] == [".html"]
