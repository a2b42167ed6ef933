"""A markdown cell taken apart: what must be equal in both languages, and the prose between."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

# What a mark in the prose stands for; private-use characters, so that no text holds them.
CODE, MATH = "\ue000", "\ue001"

_FENCE = re.compile(r"^ *(```|~~~) *(\w*)[^\n]*\n(.*?)^ *\1 *$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_MATH = re.compile(
    r"(?<!\\)\$\$(?P<block>.+?)\$\$"
    r"|(?P<environment>\\begin\{(?P<name>\w+\*?)\}.+?\\end\{(?P=name)\})"
    r"|(?<![\\$])\$(?![\s$])(?P<inline>[^$\n]+?)(?<![\s\\])\$",
    re.DOTALL,
)
_LINK = re.compile(r"!?\[(?P<text>[^\]\n]*)\]\(\s*(?P<url>[^\s)]+)[^)\n]*\)")
_URL = re.compile(r"<?(?P<url>https?://[^\s<>）」，。]+)>?")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>|<!--.*?-->", re.DOTALL)
_ATTRIBUTE = re.compile(r"\b(?:href|src)=\"([^\"]+)\"")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*)$", re.MULTILINE)


@dataclass
class Parts:
    """What a markdown text consists of.

    Attributes
    ----------
    formulas, code, links : list of str
        In order; blanks count once, and a link within the page is ``#``, since its name
        follows the heading's language.
    levels : list of int
        Levels of the headings, in order.
    prose : str
        The rest: code and formulas are replaced by marks, links by their words, fenced code
        and HTML tags are gone.  Line breaks and emphasis stay.
    """

    formulas: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    prose: str = ""


def take_apart(text: str) -> Parts:
    """Take a markdown text apart.  Fenced ``text`` is prose drawn with blanks, not code."""
    parts = Parts()

    def keep(into: list[str], mark: str, *groups: str | int) -> Callable[[re.Match[str]], str]:
        def replace(match: re.Match[str]) -> str:
            found = next(filter(None, map(match.group, groups)), "")
            into.append(" ".join(found.split()))
            return mark

        return replace

    def fence(match: re.Match[str]) -> str:
        if match[2] != "text":
            parts.code.append(match[3].strip())
        return ""

    def link(match: re.Match[str]) -> str:
        url = match["url"]
        parts.links.append("#" if url.startswith("#") else url)
        return match["text"]

    def tag(match: re.Match[str]) -> str:
        parts.links.extend(_ATTRIBUTE.findall(match[0]))
        return ""

    text = _FENCE.sub(fence, text)
    text = _CODE.sub(keep(parts.code, CODE, 2), text)
    text = _MATH.sub(keep(parts.formulas, MATH, "block", "environment", "inline"), text)
    parts.levels = [len(match[1]) for match in _HEADING.finditer(text)]
    text = _LINK.sub(link, text)
    text = _URL.sub(keep(parts.links, CODE, "url"), text)
    parts.prose = _TAG.sub(tag, text)
    return parts
