"""Checks of words: the glossary, Chinese typography, and words that code cells must not hold."""

import ast
import csv
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from build_markdown import CODE, MATH, take_apart
from build_source import Cell, first_code

# Right Chinese in which a wrong form stands by chance, across the border of two words.
BY_CHANCE = (
    "數組成",  # 由整數組成
    "內存在",  # 矩陣內存在
    "地方差",  # 不同的地方差在
    "改變量",  # 每一步的改變量
    "目標量",
    "座標量",
    "帶寬度",  # 信賴帶寬度
    "實參數",  # 真實參數
    "實參考",  # 其實參考
    "情形參",  # 情形參考
    "內核心",
)
_CJK = "\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WIDE = "\u3001-\u303f\uff01-\uff5e" + _CJK  # and full-width punctuation
_HAN = re.compile(f"[{_CJK}]")
_LATIN = f"(?:[{CODE}{MATH}√∂∞]|(?![{_CJK}])[^\\W_])"  # and Greek, digits, formulas, code

_TYPOGRAPHY = (
    (f"[{_CJK}][,;:?!()]|[()][{_CJK}]|[,;:?!][ ]?[{_CJK}]", "half-width punctuation at Chinese"),
    (rf"[{_CJK}]\.(?!\w)", "half-width full stop after Chinese"),
    (f"[{_CJK}]{_LATIN}|(?:{_LATIN}|%)[{_CJK}]", "no space between Chinese and Latin"),
    (f"[\"'“”‘’][{_CJK}]|[{_CJK}][\"'“”‘’]", "Chinese is quoted with 「」"),
    (rf"[{_WIDE}] ?\n *[{_CJK}]", "a line break inside a Chinese sentence shows as a gap"),
)
_PAIR = re.compile(r"(?<!\w)([A-Za-z]+)(?= +([A-Za-z]+)(?!\w))")


class Glossary:
    """The terms of `data/glossary.csv`, or of no file; an empty or torn file is a ValueError."""

    def __init__(self, path: Path | None) -> None:
        self.rows: list[dict[str, str]] = []
        if path is not None:
            with path.open(encoding="utf-8", newline="") as file:
                self.rows = list(csv.DictReader(file))
            columns = ("zh", "lint", "warn")
            if not self.rows or any(row.get(name) is None for row in self.rows for name in columns):
                raise ValueError(f"it needs rows with {', '.join(columns)}")
        self.right = {
            form
            for row in self.rows
            for form in (
                *re.split("[、／（）]", row["zh"]),
                row["zh"],
                row["zh"].replace("（", "").replace("）", ""),
            )
            if form
        }
        self._lint = self._collect("lint")
        self._warn = self._collect("warn")

    def _collect(self, column: str) -> dict[str, tuple[str, list[str]]]:
        """Wrong form: its right form, and longer right forms in which it is no fault."""
        return {
            wrong: (
                row["zh"],
                sorted(
                    (form for form in (*self.right, *BY_CHANCE) if wrong in form),
                    key=len,
                    reverse=True,
                ),
            )
            for row in self.rows
            for wrong in filter(None, row[column].split("、"))
        }

    def problems(self, text: str, *, warn: bool = False) -> list[str]:
        """Wrong forms in a Chinese text, a message each; or those that may be wrong."""
        messages = []
        for wrong, (right, shields) in (self._warn if warn else self._lint).items():
            rest = text
            for shield in shields:
                rest = rest.replace(shield, "　")
            if wrong in rest:
                messages.append(f"{wrong} is not used here; the glossary has {right}")
        return messages


def typography_problems(prose: str) -> list[str]:
    """What is set wrongly in a Chinese text whose code and formulas are marks."""
    messages = [
        f"these stars stay visible: {_excerpt(prose, at, at + 2)}" for at in _visible_stars(prose)
    ]
    plain = re.sub(r"^#.*$", r"\g<0>\n", prose, flags=re.MULTILINE)  # a heading ends its line
    plain = re.sub(r"^( *)\* ", r"\1- ", plain, flags=re.MULTILINE)
    plain = re.sub(r"\*+|~~", "", plain)
    for pattern, message in _TYPOGRAPHY:
        messages += [
            f"{message}: {_excerpt(plain, match.start(), match.end())}"
            for match in re.finditer(pattern, plain)
        ]
    return messages


def _visible_stars(prose: str) -> Iterator[int]:
    """Places of ``*`` and ``**`` that markdown shows as stars instead of emphasis.

    Next to punctuation inside, a mark needs a blank or punctuation outside (CommonMark's
    flanking rule), which Chinese text breaks easily: ``**「列」**是``.
    """
    opened: list[re.Match[str]] = []
    for match in re.finditer(r"^ *\* |(?<!\*)\*{1,2}(?!\*)|\n *\n|\Z", prose, re.MULTILINE):
        if "*" not in match[0]:  # emphasis ends with its paragraph
            yield from (mark.start() for mark in opened)
            opened = []
            continue
        before, after = prose[: match.start()][-1:], prose[match.end() :][:1]
        if match[0].endswith(" ") or (before.isspace() and after.isspace()):
            continue  # the mark of a list, or a star by itself
        closes = bool(opened) and opened[-1][0] == match[0]
        inner, outer = (before, after) if closes else (after, before)
        if inner.isspace() or (not inner.isalnum() and outer.isalnum()):
            yield match.start()
        if closes:
            opened.pop()
        else:
            opened.append(match)


def _excerpt(text: str, start: int, end: int) -> str:
    around = text[max(0, start - 6) : end + 6]
    return repr(around.replace(CODE, "`…`").replace(MATH, "$…$"))


def chinese_problems(markdown: str, glossary: Glossary) -> list[str]:
    """Faults of a Chinese markdown text."""
    prose = take_apart(markdown).prose
    return glossary.problems(prose) + typography_problems(prose)


def chinese_warnings(cell: Cell, glossary: Glossary) -> list[str]:
    """Forms in a Chinese cell that are right in one meaning and wrong in another."""
    prose = take_apart(cell.text).prose if cell.lang == "zh-Hant" else ""
    return glossary.problems(prose, warn=True)


def readme_problems(markdown: str, glossary: Glossary) -> list[str]:
    """Faults of the Chinese paragraphs of a text in two languages."""
    prose = take_apart(markdown).prose
    chinese = [
        paragraph
        for paragraph in re.split(r"\n *\n", prose)
        if 2 * len(_HAN.findall(paragraph)) > len(re.findall("[A-Za-z]", paragraph))
    ]
    return glossary.problems(prose) + typography_problems("\n\n".join(chinese))


def strings_of(code: str) -> list[tuple[int, str]]:
    """Strings of a Python text with their lines, docstrings left out."""
    tree = ast.parse(code)
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]


def label_problems(code: str, glossary: Glossary) -> list[str]:
    """Faults of the Chinese strings in a Python text; places to fill count as neither script."""
    return [
        f"line {line}: {message}"
        for line, text in strings_of(code)
        if _HAN.search(text)
        for message in chinese_problems(
            re.sub(r"\{[^{}]*\}", "\ue002", text.replace("\n", "\n\n")), glossary
        )
    ]


def code_word_problems(cells: list[Cell]) -> list[str]:
    """Words for a reader in code cells, as ``key: message``; the first code cell may hold some.

    Such words would be in one language in both editions, so they belong to `andrea_lesson/words`.
    Comments are symbols, shapes and names that the notebook's code uses.
    """
    code = [(cell.key, plain_python(cell.text)) for cell in cells if cell.code]
    names = {"shape", "True", "False"}
    problems = []
    for key, text in code:
        try:
            ast.parse(text)
        except SyntaxError as error:
            return [f"{key}: not Python: {error.msg}, line {error.lineno}"]
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        names |= {token.string for token in tokens if token.type == tokenize.NAME}
    setup = first_code(cells)
    for key, text in code:
        if setup is None or key != setup.key:
            problems += [f"{key}: {message}" for message in _code_words(text, names)]
    return problems


def _code_words(text: str, names: set[str]) -> Iterator[str]:
    if match := re.search(f"[{_WIDE}]", text):
        yield f"Chinese in code: {_excerpt(text, match.start(), match.end())}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            longest = (max(map(len, pair)) for pair in _PAIR.findall(node.value))
            if max(longest, default=0) > 1:
                yield f"words in a string: {node.value.strip()!r}"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
            for argument in node.args:
                yield from _unknown(_shown(argument), names, "a printed string")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield from _unknown(token.string, names, "a comment")


def _shown(argument: ast.expr) -> str:
    parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
    return " ".join(
        part.value
        for part in parts
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def _unknown(text: str, names: set[str], where: str) -> Iterator[str]:
    for word in re.findall(r"[^\W\d]\w*", text):
        if len(re.findall("[A-Za-z]", word)) >= 3 and word not in names:
            yield f"the word {word!r} in {where}"


def plain_python(text: str) -> str:
    """Code without IPython's magics."""
    return re.sub(r"^[%!].*$", "", text, flags=re.MULTILINE)
