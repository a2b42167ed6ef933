"""The builder's check of words: wrong terms, wrong typography, words in code cells."""
# ruff: noqa: F401, F811 (imported fixtures)

import re

import pytest
from tiny_lesson import built, edit, root, source_of, the_fault

from build_checks import check
from build_source import Project, stamp


def test_wrong_terms_fail_wherever_readers_see_them(root, capsys):
    edit(source_of(root), "# ## 平均值", "# ## 均值")
    edit(source_of(root), "請先安裝套件。", "請先運行安裝。")
    edit(root / "andrea_lesson" / "labels.py", "注意力權重", "掩碼權重")
    edit(root / "README.md", "小小的課，", "默認的課，")
    stamp(source_of(root), ["all"])
    problems = [line for line in the_fault(root, capsys) if "never executed" not in line]
    assert [line.split(" is not used")[0] for line in problems] == [
        "notebooks/src/00_tiny.py: claim: 均值",
        "notebooks/src/00_tiny.py: setup: line 6: 運行",
        "andrea_lesson/labels.py: line 2: 掩碼",
        "README.md: 默認",
    ]


TYPOGRAPHY = {
    "comma": ("總和是 1，", "總和,是 1，", "half-width punctuation"),
    "parentheses": ("列（row）", "列(row)", "half-width punctuation"),
    "colon and blank": ("的總和是 1", "的總和 A: 是 1", "half-width punctuation"),
    "full stop": ("都算在內。", "都算在內.", "half-width full stop"),
    "digit": ("總和是 1", "總和是1", "no space between"),
    "letter": ("總和是 1", "總和是x", "no space between"),
    "Greek": ("總和是 1", "總和是σ", "no space between"),
    "percent": ("總和是 1，", "總和 1%都", "no space between"),
    "formula": ("總和是 1", "總和是$1$", "no space between"),
    "code": ("總和是 1", "總和是`1`", "no space between"),
    "digit in bold": ("總和是 1", "總和是**1**", "no space between"),
    "quotes": ("總和是 1", '"總和"是 1', "Chinese is quoted"),
    "curly quotes": ("總和是 1", "“總和”是 1", "Chinese is quoted"),
    "line break": ("的總和是 1", "的總\n# 和是 1", "a line break inside"),
    "line break after a comma": ("1，**看", "1，\n# **看", "a line break inside"),
    "visible stars": ("**看得到的**都", "**「看得到的」**都", "these stars stay visible"),
    "open stars": ("**看得到的**都", "**看得到的都", "these stars stay visible"),
}


@pytest.mark.parametrize("name", TYPOGRAPHY)
def test_wrong_typography_fails(root, capsys, name):
    old, new, message = TYPOGRAPHY[name]
    edit(source_of(root), old, new)
    stamp(source_of(root), ["all"])
    problems = [line for line in the_fault(root, capsys) if "changed in" not in line]
    assert problems
    assert all(f"src/00_tiny.py: claim: {message}" in line for line in problems), problems


def test_typography_of_labels_and_readme(root, capsys):
    edit(root / "andrea_lesson" / "labels.py", "注意力權重", "注意力(權重)")
    edit(root / "README.md", "產生。", "產生,")
    problems = the_fault(root, capsys)
    assert "labels.py: line 2: half-width punctuation" in problems[0]
    assert "README.md: half-width punctuation" in problems[-1]


@pytest.mark.parametrize("text", [
    "位置 (i, j) 的分數 $s_{ij}$，見 `f(x)`。",
    "**「列」** 和 **列（row）**：", "一個 64×64 的矩陣",
    "第一行  \n第二行", "- 列\n- 行\n1. 詞元", "## 標題\n內文", "* 項目 **粗** 字\n* 又一項",
    "2 * 3 是 6", "| 名稱 | 值 |\n|:---|---:|\n| T | 1024 |", "按 <kbd>Esc</kbd> 鍵<br>",
    "```text\n查詢 -> 鍵,值\n```", "$$\nQ K\n$$\n\n是分數", "看[這裡](https://example.org/中,文)。",
    "*有人，對一樣東西*。", "100% 的列", "注意力（attention）：$T$ 個", "問：「為什麼？」",
])  # fmt: skip
def test_right_typography_passes(root, text):
    edit(source_of(root), "# ## 平均值", "\n".join(f"# {line}" for line in text.split("\n")))
    messages = [line.split(": ", 1)[1] for line in check(Project(root)) if "/src/" in line]
    wrong = [m for m in messages if not re.search("older|changed in|heading|no notebook", m)]
    assert wrong == []


SHAPE = "# third, shape (1, 3)"
LABEL = 'al.label("weights")'

CODE = {
    "Chinese comment": (SHAPE, "# 形狀", "Chinese in code"),
    "Chinese string": (LABEL, '"權重"', "Chinese in code"),
    "full-width comment": (SHAPE, "# （1）", "Chinese in code"),
    "words in a string": (LABEL, 'str("the weights")', "words in a string: 'the weights'"),
    "words in an f-string": (LABEL, 'str(f"a cat {third}")', "words in a string: 'a cat'"),
    "word in a comment": (SHAPE, "# divide", "the word 'divide' in a comment"),
    "printed word": (LABEL, '"weights:"', "the word 'weights' in a printed string"),
    "printed f-string": (LABEL, 'f"weights {third}"', "the word 'weights' in a printed string"),
    "no Python": ("1 / 3", "1 /", "not Python"),
}


@pytest.mark.parametrize("name", CODE)
def test_words_in_code_fail(root, capsys, name):
    old, new, message = CODE[name]
    edit(source_of(root), old, new)
    problems = [line for line in the_fault(root, capsys) if "never executed" not in line]
    assert problems
    assert all(f"src/00_tiny.py: numbers: {message}" in line for line in problems), problems


@pytest.mark.parametrize("code", [
    "third = 1  # (T_q, d_k) @ shape = third", 'print("third", third, sep="\\n\\n")',
    "%pip --version\nthird = 1", 'third = dict(mask="causal")["mask"]', 'f"{1:.3f} {2:>10}"',
])  # fmt: skip
def test_symbols_and_names_in_code_pass(root, code):
    edit(source_of(root), "third = 1 / 3  # third, shape (1, 3)", code)
    assert [line for line in check(Project(root)) if "/src/" in line] == []
