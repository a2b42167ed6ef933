"""The README does what it says, in both halves."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from andrea_lesson import panels

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
ENGLISH, CHINESE = README.split('<a id="繁體中文"></a>')


def blocks(half: str, kind: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", half, flags=re.MULTILINE | re.DOTALL)
    return [code for name, code in found if name == kind]


def without_comments(code: str) -> list[str]:
    return [re.sub(r"\s*#.*", "", line) for line in code.splitlines()]


def test_both_halves_say_the_same():
    assert blocks(ENGLISH, "") == blocks(CHINESE, "")
    for mark in ("## ", "| `", "!["):
        count = [
            len(re.findall(rf"^{re.escape(mark)}", half, re.MULTILINE))
            for half in (ENGLISH, CHINESE)
        ]
        assert count[0] == count[1] > 0, mark


@pytest.mark.parametrize("half", [ENGLISH, CHINESE], ids=["en", "zh-Hant"])
def test_the_script_draws_its_figure(half, tmp_path):
    _, script = blocks(half, "python")
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    subprocess.run([sys.executable, "script.py"], cwd=tmp_path, check=True)
    assert (tmp_path / "weights.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("half", [ENGLISH, CHINESE], ids=["en", "zh-Hant"])
def test_the_panels_are_those_that_there_are(half):
    named = re.findall(r"^\| `(\w+_panel)\(\)`", half, re.MULTILINE)
    assert sorted(named) == [name for name in panels.__all__ if name.endswith("_panel")]
    script, _ = blocks(half, "python")
    exec(script, {})


def test_the_plot_commands_work(tmp_path):
    lines = [
        line for block in blocks(ENGLISH, "") for line in block.splitlines() if " plot " in line
    ]
    assert len(lines) == 2
    for line in lines:
        arguments = line.split()[1:]
        subprocess.run(
            [sys.executable, "-m", "andrea_lesson.cli", *arguments], cwd=tmp_path, check=True
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mask.svg", "w.png"]


def test_every_link_leads_somewhere():
    for target in re.findall(r"\]\((?!https?:|#)([^)]+)\)", README):
        assert (ROOT / target).exists(), target
