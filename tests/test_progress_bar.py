"""The progress bar of long cells."""

import io

import pytest

from andrea_lesson.progress_bar import progress_bar


def test_it_counts_to_the_end_and_goes():
    out = io.StringIO()
    with progress_bar(out) as progress:
        for done in range(0, 201, 50):
            progress(done, 200)
    lines = out.getvalue().split("\r")
    assert "  0 %" in lines[1]
    assert lines[-1].strip() == ""  # the last one is wiped


def test_an_interrupt_passes_and_the_line_goes():
    out = io.StringIO()

    def stopped():
        with progress_bar(out) as progress:
            progress(1, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert out.getvalue().split("\r")[-1].strip() == ""


def test_it_writes_to_standard_output(capsys):
    with progress_bar() as progress:
        progress(1, 1)
    assert capsys.readouterr().err == ""
