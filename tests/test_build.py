"""The builder's check: a clean lesson passes; twins that differ and malformed sources fail."""
# ruff: noqa: F401, F811 (imported fixtures)

import re

import pytest
from tiny_lesson import built, edit, root, source_of, the_fault

import build
from build_checks import check
from build_source import Project, digest, read_source, stamp


def test_a_clean_lesson_passes(built, capsys):
    assert list(check(Project(built))) == []
    assert build.main(["--check"], built) == 0
    assert capsys.readouterr().out.startswith("0 problems")


# -- the two languages ---


ZH_CLAIM = '[markdown] lang="zh-Hant" key="claim"'
EN_CLAIM = '[markdown] lang="en" key="claim"'

# what is edited in the source: old text, new text, what the check says
TWINS = {
    "no English twin": (EN_CLAIM, EN_CLAIM.replace("claim", "other"), "claim: no English twin"),
    "no Chinese twin": (ZH_CLAIM, ZH_CLAIM.replace("claim", "other"), "claim: no Chinese twin"),
    "stale": ("總和是 1，", "總和都是 1，", "claim: the translation is older than its original"),
    "formula": (
        r"scores are $q \cdot k$",
        r"scores are $k \cdot q$",
        r"title: formula missing or changed in English: q \cdot k",
    ),
    "formula dropped": (
        r"scores are $q \cdot k$",
        "scores are clear",
        r"title: formula missing or changed in English: q \cdot k",
    ),
    "formula added": (
        "Every row sums",
        "Every row $i$ sums",
        "claim: formula missing or changed in Chinese: i",
    ),
    "code": (
        "; `softmax` makes",
        "; `softmin` makes",
        "title: code missing or changed in English: softmax",
    ),
    "link": (
        "one](00_tiny.ipynb)",
        "one](00_tiny.ipynb#x)",
        "title: link missing or changed in English: 00_tiny.ipynb",
    ),
    "heading level": (
        "# ## The mean",
        "# ### The mean",
        "claim: heading levels [2] in Chinese, [3] in English",
    ),
    "heading lost": (
        "# ## The mean",
        "# The mean",
        "claim: heading levels [2] in Chinese, [] in English",
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_twins_that_differ_fail(root, capsys, name):
    old, new, message = TWINS[name]
    edit(source_of(root), old, new)
    wanted = f"notebooks/src/00_tiny.py: {message}"
    assert any(problem.startswith(wanted) for problem in the_fault(root, capsys))


def test_display_formulas_and_fenced_code_are_compared(root, capsys):
    text = source_of(root).read_text(encoding="utf-8")
    chinese, english = text.split("# # A tiny lesson")
    english = english.replace("Q K^\\top", "K Q^\\top").replace("0.0f", "1.0f")
    source_of(root).write_text(f"{chinese}# # A tiny lesson{english}", encoding="utf-8")
    problems = "\n".join(the_fault(root, capsys))
    assert r"formula missing or changed in English: S = Q K^\top" in problems
    assert "code missing or changed in English: float s = 0.0f;" in problems


def test_a_link_that_leads_nowhere_fails(root, capsys):
    text = source_of(root).read_text(encoding="utf-8")
    source_of(root).write_text(text.replace("00_tiny.ipynb", "09_no.ipynb"), encoding="utf-8")
    stamp(source_of(root), ["all"])
    assert the_fault(root, capsys) == [
        "notebooks/src/00_tiny.py: title: 09_no.ipynb is no notebook of the lesson"
    ]


def test_tags_that_differ_fail(root, capsys):
    edit(source_of(root), 'tags=["core"]\n# # A tiny', "tags=[]\n# # A tiny")
    assert "title: tags ('core',) in Chinese, () in English" in the_fault(root, capsys)[0]


def test_a_twin_at_another_place_fails(root, capsys):
    text = source_of(root).read_text(encoding="utf-8")
    twin = re.search(r'# %% \[markdown\] lang="en" key="claim".*?\n\n(?=# %%)', text, re.DOTALL)[0]
    source_of(root).write_text(text.replace(twin, "") + "\n" + twin, encoding="utf-8")
    (problem,) = (line for line in the_fault(root, capsys) if "/src/" in line)
    assert problem.endswith("claim: the English twin does not stand right below the Chinese cell")


# -- panels and their still figures ---

SECTION = """
# %% [markdown] lang="zh-Hant" key="more"
# ## 面板

# %% [markdown] lang="en" key="more" of=""
# ## Panels
"""
FIGURE = """
# %% key="still"
panels.figure(panels.mask_panel, mask="full", large=True)
"""
PANEL = """
# %% key="live"
{}
"""
SAME = 'panels.mask_panel(large=True, mask="full")'
ADVICE = "in an earlier cell of the section"

# cells at the end of the source, and what the check says; nothing if all is well
PANELS = {
    "figure above": ([SECTION, FIGURE, PANEL.format(SAME)], None),
    "panel with a name": ([SECTION, FIGURE, PANEL.format(f"panel = {SAME}")], None),
    "no figure": (
        [SECTION, PANEL.format("panels.mask_panel()")],
        f"live: no panels.figure(panels.mask_panel) {ADVICE}",
    ),
    "other settings": (
        [SECTION, FIGURE, PANEL.format('panels.mask_panel(mask="causal")')],
        f"live: no panels.figure(panels.mask_panel, mask='causal') {ADVICE}",
    ),
    "other panel": (
        [SECTION, FIGURE, PANEL.format(SAME.replace("mask_", "qkv_"))],
        f"live: no panels.figure(panels.qkv_panel, large=True, mask='full') {ADVICE}",
    ),
    "figure below": (
        [SECTION, PANEL.format(SAME), FIGURE],
        f"live: no panels.figure(panels.mask_panel, large=True, mask='full') {ADVICE}",
    ),
    "figure in the same cell": (
        [SECTION, PANEL.format("panels.figure(panels.mask_panel)\npanels.mask_panel()")],
        f"live: no panels.figure(panels.mask_panel) {ADVICE}",
    ),
    "figure in another section": (
        [FIGURE, SECTION, PANEL.format(SAME)],
        f"live: no panels.figure(panels.mask_panel, large=True, mask='full') {ADVICE}",
    ),
}


@pytest.mark.parametrize("name", PANELS)
def test_a_panel_stands_below_a_figure_of_how_it_starts(root, name):
    added, message = PANELS[name]
    with source_of(root).open("a", encoding="utf-8") as source:
        source.writelines(added)
    stamp(source_of(root), ["all"])
    problems = [line for line in check(Project(root)) if line.startswith("notebooks/src/")]
    assert problems == ([f"notebooks/src/00_tiny.py: {message}"] if message else [])


def test_stamp_renews_one_translation_or_all(root):
    edit(source_of(root), "總和是 1，", "總和都是 1，")
    edit(source_of(root), "小小的課", "小小的一課")
    assert stamp(source_of(root), ["claim"]) == ["claim"]
    assert [line.split(": ")[1] for line in check(Project(root)) if "older" in line] == ["title"]
    assert stamp(source_of(root), ["all"]) == ["title"]
    assert not [line for line in check(Project(root)) if "older" in line]
    cells = {(cell.lang, cell.key): cell for cell in read_source(source_of(root))}
    assert cells["en", "claim"].of == digest(cells["zh-Hant", "claim"].text)
    with pytest.raises(KeyError, match="nothing"):
        stamp(source_of(root), ["nothing"])


# -- the form of a source ---

NUMBERS = '# %% key="numbers"'
ZH = 'lang="zh-Hant" key="claim"'

STRUCTURE = {
    "no key": (NUMBERS, "# %%", "the cell has no key"),
    "bad key": (NUMBERS, '# %% key="all numbers"', "all numbers: a key is"),
    "key twice": (NUMBERS, '# %% key="picture"', "picture: the key is used twice"),
    "key for both": (NUMBERS, '# %% key="claim"', "the key is used for markdown and for code"),
    "no language": (ZH, 'key="claim"', "claim: a markdown cell needs lang"),
    "code of one language": (NUMBERS, '# %% lang="en" key="numbers"', "numbers: a code cell"),
    "metadata misspelt": (NUMBERS, f'{NUMBERS} tag="core"', "numbers: unknown metadata tag"),
    "empty": (NUMBERS, f'# %% key="nothing"\n\n{NUMBERS}', "nothing: the cell is empty"),
    "no LANGUAGE": ('LANGUAGE = "zh-Hant"', "LANGUAGE = None", "the first code cell needs"),
}


@pytest.mark.parametrize("name", STRUCTURE)
def test_a_malformed_source_fails(root, capsys, name):
    old, new, message = STRUCTURE[name]
    edit(source_of(root), old, new)
    problems = the_fault(root, capsys)
    assert any(message in problem for problem in problems), problems
    with pytest.raises(SystemExit):  # and nothing is built from it
        build.main([], root)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"# %% \xff", "UnicodeDecodeError"),
        (b'# %% key="a" tags="core"\n1\n', "'core' is not of type 'array'"),
    ],
)
@pytest.mark.parametrize("option", ["--no-run", "--rerun", "--warn"])
def test_a_source_that_cannot_be_read_is_one_problem(root, content, words, option):
    source_of(root).write_bytes(content)
    edit(root / "README.md", "這是一課", "這是一課,")
    first, second = check(Project(root))
    assert first.startswith("notebooks/src/00_tiny.py: it is damaged or missing (")
    assert words in first
    assert second.startswith("README.md: ")
    with pytest.raises(SystemExit, match="it is damaged"):
        build.main([option], root)


GLOSSARIES = {
    "missing": None,
    "empty": b"",
    "no rows": b"section,english,zh,symbol,avoid,lint,warn,review\n",
    "no columns": b"a,b\n1,2\n",
    "cut": b"english,zh,lint,warn\nrow\n",
    "not utf-8": b"\xff\xfe",
}


@pytest.mark.parametrize("content", GLOSSARIES.values(), ids=GLOSSARIES)
def test_a_damaged_glossary_is_one_problem(root, content):
    path = root / "data" / "glossary.csv"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    edit(root / "README.md", "這是一課", "這是一課,")
    with pytest.raises(SystemExit, match="it is damaged"):
        build.main(["--warn"], root)
    first, second = check(Project(root))
    assert first.startswith("data/glossary.csv: it is damaged or missing (")
    assert second.startswith("README.md: half-width")


def test_missing_words_are_problems(root):
    (root / "README.md").unlink()
    (root / "andrea_lesson" / "labels.py").write_text("LABELS = {", encoding="utf-8")
    first, second = check(Project(root))
    assert first.startswith("andrea_lesson/labels.py: it is damaged or missing (SyntaxError")
    assert second.startswith("README.md: it is damaged or missing (FileNotFoundError")
