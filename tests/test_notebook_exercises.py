"""Each exercise stands in its notebook: once, unsolved, solvable, and before what gives it away."""

import ast
import inspect
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pytest
from answers import RIGHT_ANSWERS, SEED

from andrea_lesson.exercises import EXERCISES, progress, solutions
from andrea_lesson.labels import LABELS, set_language
from build_run import RunError, printed_texts, run_all
from build_source import LANGUAGES, Project, edition, read_source

PROJECT = Project(Path(__file__).resolve().parents[1])
SOURCES = {source.stem[:2]: source for source in PROJECT.sources}
NOTEBOOKS = sorted({one.notebook for one in EXERCISES.values()})
CHECK = re.compile(r"\bal\.check\.(\w+)\(")
WAITS = {"zh-Hant": "等你作答", "en": "waiting"}
GUESS = re.compile(r"\bal\.guess_(?:curve|cells)\(")


@cache
def cells_of(number):
    return read_source(SOURCES[number])


def notebook_of(number, language="zh-Hant"):
    return edition(list(cells_of(number)), language)


def code_of(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def check_cell(name, language="zh-Hant"):
    """The cell that checks an exercise, and all cells above it."""
    cells = notebook_of(EXERCISES[name].notebook, language).cells
    at = next(
        i
        for i, cell in enumerate(cells)
        if cell.cell_type == "code" and name in CHECK.findall(cell.source)
    )
    return cells[at], cells[:at]


def value_of(code, names):
    """Run a cell and return what it ends in."""
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, "<cell>", "exec"), names)
    return eval(compile(last, "<cell>", "eval"), names)


def names_after_setup(number, language="zh-Hant"):
    names = {}
    exec(code_of(notebook_of(number, language))[0].source, names)
    return names


# -- where an exercise stands ----------------------------------------------------------------------


@pytest.mark.parametrize("number", SOURCES)
def test_a_notebook_checks_each_of_its_exercises_once(number):
    checked = [name for cell in code_of(notebook_of(number)) for name in CHECK.findall(cell.source)]
    assert sorted(checked) == sorted(n for n, one in EXERCISES.items() if one.notebook == number)


def plain(words):
    return re.sub(r"\$|\\text|[{}]", "", words)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", EXERCISES)
def test_the_text_says_how_long_and_how_hard_it_is_and_where_help_is(name, language):
    one = EXERCISES[name]
    _, above = check_cell(name, language)
    text = next(cell.source for cell in reversed(above) if cell.cell_type == "markdown")
    set_language(language)
    form = {
        "zh-Hant": "**練習**　{title}（{minutes} 分鐘，難度 {difficulty}／3）",
        "en": "**Exercise**　{title} ({minutes} minutes, difficulty {difficulty} of 3)",
    }[language]
    wanted = form.format(title=one.title, minutes=one.minutes, difficulty=one.difficulty)
    assert plain(wanted) in plain(text)
    assert f'`al.hint("{name}")`' in text


@pytest.mark.parametrize("name", [name for name, one in EXERCISES.items() if one.personal])
def test_a_question_of_ones_own_is_asked_in_the_cell_before(name):
    _, above = check_cell(name)
    asks = next(cell for cell in reversed(above) if cell.cell_type == "code")
    number = EXERCISES[name].notebook
    note = value_of(asks.source, names_after_setup(number))
    assert note.words.key == "waits_seed"
    assert f'al.question("{name}", seed)' in asks.source


def body_of(function):
    """What each line of a function works out, blanks and names of results left out."""
    for line in inspect.getsource(function).split("\n")[1:]:
        code = re.sub(r"#.*|^\s*return\b|^\s*[\w, ]+(?:\[\w+\])? [-+*/]?= ", "", line)
        yield "".join(code.split())


def tells(expression):
    """Whether a line is one that an answer needs, not what any cell could begin with."""
    given = re.fullmatch(r"\w+\([\w,]*\)", expression)  # attend(Q, K, V): the text says so
    return len(expression) > 11 and not given and not re.match(r"def|for|np\.random", expression)


@pytest.mark.parametrize("name", [name for name, one in EXERCISES.items() if one.solution])
def test_no_line_of_a_solution_stands_above_its_exercise(name):
    _, above = check_cell(name)
    read = "".join(re.sub("#.*", "", "\n".join(cell.source for cell in above)).split())
    telling = [line for line in body_of(getattr(solutions, name)) if tells(line)]
    assert telling
    assert [line for line in telling if line in read] == []


# -- unsolved, and solved --------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXERCISES)
def test_the_stub_arrives_unsolved_and_its_check_waits(name):
    cell, _ = check_cell(name)
    verdict = value_of(cell.source, {**names_after_setup(EXERCISES[name].notebook), "seed": SEED})
    assert verdict.name == name
    assert verdict.waits
    assert verdict.key != "waits_more"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("number", NOTEBOOKS)
def test_the_stored_notebook_says_that_each_exercise_waits(number, language):
    stored = nbformat.read(PROJECT.notebook(SOURCES[number].stem, language), as_version=4)
    for cell in code_of(stored):
        if CHECK.search(cell.source):
            words = " ".join(printed_texts(cell))
            assert WAITS[language] in words, cell.id


def answer_to(name):
    """Python text of a right answer under the name of its exercise."""
    if EXERCISES[name].solution:
        return EXERCISES[name].solution
    if EXERCISES[name].personal:
        task = EXERCISES[name].task
        return f"{name} = {float(task.right(**task.numbers(SEED)))!r}\n"
    right = (answer for which, answer in RIGHT_ANSWERS.values() if which == name)
    return f"{name} = {dict(next(one for one in right if isinstance(one, Mapping)))!r}\n"


def filled_in(code, name):
    """A check cell with its stub replaced by a right answer."""
    stub = ast.parse(code).body[0]
    named = stub.name if isinstance(stub, ast.FunctionDef) else stub.targets[0].id
    assert named == name
    rest = code.split("\n")[stub.end_lineno :]
    return answer_to(name) + "\n".join(rest)


def uses(code, names):
    return any(re.search(rf"\b{name}\b", code) for name in names)


def sections_with_exercises(number, language):
    """The setup and sections up to where their answers are used last, no panels, all filled in."""
    notebook = notebook_of(number, language)
    setup = code_of(notebook)[0]
    sections = [[]]
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell is not setup:
            sections[-1].append(cell)
        elif re.search("^## ", cell.source, re.MULTILINE):
            sections.append([])
    chosen = [setup]
    for section in sections:
        text = "\n".join(cell.source for cell in section)
        used = [i for i, cell in enumerate(section) if uses(cell.source, CHECK.findall(text))]
        needed = section[: max(used, default=-1) + 1]
        chosen += [cell for cell in needed if "panels." not in cell.source]
    for cell in chosen:
        for name in CHECK.findall(cell.source):
            cell.source = filled_in(cell.source, name)
        cell.source = re.sub("^seed = None.*$", f"seed = {SEED}", cell.source, flags=re.MULTILINE)
    return nbformat.v4.new_notebook(cells=chosen)


def test_with_the_solutions_filled_in_every_check_passes(tmp_path):
    editions = [(number, language) for number in NOTEBOOKS for language in LANGUAGES]
    jobs = [(sections_with_exercises(*one), tmp_path, []) for one in editions]
    passed = set()
    for (number, language), run in zip(editions, run_all(jobs), strict=True):
        assert not isinstance(run, RunError), f"{number} {language}: {run}"
        for cell in run.notebook.cells:
            for name in CHECK.findall(cell.source):
                words = " ".join(printed_texts(cell))
                assert f"✓ {'通過' if language == 'zh-Hant' else 'passed'}" in words, (name, words)
                passed.add((name, language))
    assert passed == {(name, language) for name in EXERCISES for language in LANGUAGES}


# -- guesses and quizzes ---------------------------------------------------------------------------


def guess_cells():
    for number in NOTEBOOKS:
        for cell in code_of(notebook_of(number)):
            if GUESS.search(cell.source):
                yield pytest.param(number, cell.source, id=f"{number}-{cell.id}")


def test_every_notebook_lets_its_reader_guess_and_ends_with_a_quiz():
    assert {param.values[0] for param in guess_cells()} == set(NOTEBOOKS)
    for number in NOTEBOOKS:
        keys = [cell.id for cell in notebook_of(number).cells]
        assert keys[keys.index("recap") :][:3] == ["recap", "quiz", "quiz-questions"]
        assert f'al.quiz("{number}")' in [c.source for c in code_of(notebook_of(number))]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("number", "code"), list(guess_cells()))
def test_a_guess_can_be_committed_and_is_compared(number, code, language, tmp_path, monkeypatch):
    monkeypatch.setenv("ANDREA_PROGRESS", str(tmp_path))
    monkeypatch.setattr(progress, "_records", {})
    guess = value_of(code, names_after_setup(number, language))
    assert guess.name.startswith(f"{number}_")
    assert not guess.committed
    spec = guess._kind.spec
    for key in spec["keys"].values():
        assert key in LABELS or key == "d_k" or len(key) <= 2, key
    if spec["kind"] == "curve":
        guess.set(np.full(len(spec["x"]), spec["limits"][1]))
    else:
        guess.set(np.ones(spec["shape"], dtype=bool))
    guess.commit()
    assert guess.error is None
    assert guess.committed
    assert guess.summary
    if spec["kind"] == "curve":  # the plot has room for what is measured, and not just for that
        assert list(guess._kind.limits(guess.truth)) == spec["limits"]
    else:
        assert 0 < guess.truth.sum() < guess.truth.size
    guess.close()
