"""A Traditional Chinese face for matplotlib, so that no label comes out as empty boxes.

The face is looked for at its usual places, then in a package that carries one, and registered
by file: neither matplotlib's font cache, which may be stale, nor a guessed name is trusted.
Of a collection (.ttc) the Traditional face is taken: others draw 骨 or 直 with foreign strokes.
"""

import glob
import logging
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from matplotlib import font_manager, ft2font

from .labels import LABELS, get_language

_log = logging.getLogger(__name__)

LATIN = "DejaVu Sans"  # comes with matplotlib; also draws what the Chinese face lacks
SAMPLE = "列行查詢鍵值遮罩權重縮放隨機種子＝「」√"  # a face must be able to draw these
_UNICODE_MINUS = "\N{MINUS SIGN}"
_known: list[Any] | None = None  # matplotlib's list of fonts that the face was added to

_WINDOWS = (
    r"%WINDIR%\Fonts\msjh.ttc",
    r"%WINDIR%\Fonts\msjh.ttf",
    r"%LOCALAPPDATA%\Microsoft\Windows\Fonts\NotoSansTC-Regular.*",
    r"%WINDIR%\Fonts\NotoSansTC-Regular.*",
    r"%WINDIR%\Fonts\mingliu.ttc",
)
_MAC = (
    "/System/Library/Fonts/PingFang.ttc",
    "/System/Library/AssetsV2/com_apple_MobileAsset_Font*/*/AssetData/PingFang.ttc",
    "/System/Library/Fonts/STHeiti Medium.ttc",
    "/System/Library/Fonts/STHeiti Light.ttc",
    "~/Library/Fonts/NotoSans*TC-Regular.*",
    "/Library/Fonts/NotoSans*TC-Regular.*",
)
_LINUX_FILES = (
    "NotoSansCJK-Regular.ttc",
    "NotoSansCJKtc-Regular.otf",
    "NotoSansTC-Regular.*",
    "SourceHanSans-Regular.ttc",
    "SourceHanSans.ttc",
    "SourceHanSansTC-Regular.otf",
    "SourceHanSansTW-Regular.otf",
    "uming.ttc",
)
_LINUX_FOLDERS = (
    "~/.local/share/fonts",
    "~/.local/share/fonts/*",
    "~/.fonts",
    "/usr/local/share/fonts",
    "/usr/local/share/fonts/*",
    "/usr/share/fonts/*",
    "/usr/share/fonts/*/*",
)
FONT_PACKAGE = "noto_cjk_sans_otc"


@dataclass(frozen=True)
class Face:
    """One face of a font file: its family name as the file has it, the file, its number there."""

    family: str
    path: str
    index: int


def search_places() -> tuple[str, ...]:
    """Patterns of the files where this system usually keeps Traditional Chinese faces."""
    if sys.platform == "win32":
        return _WINDOWS
    if sys.platform == "darwin":
        return _MAC
    return tuple(f"{folder}/{name}" for name in _LINUX_FILES for folder in _LINUX_FOLDERS)


def find_face() -> Face | None:
    """Look for a Traditional Chinese face; the search is made once in a process.

    Returns
    -------
    Face or None
        None if neither the system nor the font package of the ``lab`` extra has one, or if
        its file has gone or become unreadable since.
    """
    face = _search()
    return face if face is not None and os.access(face.path, os.R_OK) else None


@lru_cache(maxsize=1)
def _search() -> Face | None:
    for path in _candidates():
        for face in _traditional_faces(path):
            return face
    return None


def families() -> tuple[str, ...]:
    """Families for ``font.family``: the Traditional Chinese one, made known, and a Latin one."""
    face = find_face()
    if face is None:
        return (LATIN,)
    _make_known(face)
    return face.family, LATIN


def _make_known(face: Face) -> None:
    global _known
    manager = font_manager.fontManager
    if manager.ttflist is _known:
        return
    before = len(manager.ttflist)
    manager.addfont(face.path)
    # In front of what the cache remembers: it may know the same family at a file that is gone.
    manager.ttflist[:] = manager.ttflist[before:] + manager.ttflist[:before]
    _known = manager.ttflist  # a list that matplotlib builds anew has forgotten the face


def has_minus() -> bool:
    """Whether the first family draws U+2212, the minus sign of axis labels."""
    face = find_face()
    return face is None or _draws(_open(face.path, face.index), _UNICODE_MINUS)


def can_draw(text: str) -> bool:
    """Whether every character of a text has a glyph in :func:`families`."""
    fonts = [_open(str(font_manager.findfont(LATIN)), 0)]
    face = find_face()
    if face is not None:
        fonts.append(_open(face.path, face.index))
    return all(
        character.isspace() or any(_draws(font, character) for font in fonts) for character in text
    )


def drawable_language() -> str:
    """Return the language in force, or English, with one notice, if Chinese would be boxes."""
    if get_language() == "en" or find_face() is not None:
        return get_language()
    _say_that_no_face_was_found()
    return "en"


@lru_cache(maxsize=1)
def _say_that_no_face_was_found() -> None:
    # Both languages: a reader who asked for Chinese is about to see English.
    _log.warning("%s", " ".join(LABELS["no_chinese_face"]))


def _candidates() -> Iterator[str]:
    for place in search_places():
        yield from sorted(glob.glob(os.path.expanduser(os.path.expandvars(place))))
    try:
        yield str(import_module(FONT_PACKAGE).FONT_PATH)
    except (ImportError, AttributeError):
        return


def _traditional_faces(path: str) -> Iterator[Face]:
    """Yield the faces of a file that are Traditional Chinese and proportional, and load."""
    try:
        count = _open(path, 0).num_faces
    except (OSError, RuntimeError):  # not there, or nothing that FreeType reads
        return
    for index in range(count):
        font = _open(path, index)
        if _is_traditional(font.family_name) and _draws(font, SAMPLE):
            try:
                font.load_char(ord(SAMPLE[0]))  # some system faces list glyphs but hide outlines
            except RuntimeError:
                continue
            yield Face(font.family_name, path, index)


def _is_traditional(family: str) -> bool:
    words = family.split()
    return "Mono" not in words and (
        words[-1] in ("TC", "TW") or family in ("Microsoft JhengHei", "PMingLiU")
    )


@lru_cache(maxsize=16)
def _open(path: str, index: int) -> ft2font.FT2Font:
    return ft2font.FT2Font(path, face_index=index)


def _draws(font: ft2font.FT2Font, text: str) -> bool:
    return all(font.get_char_index(ord(character)) for character in text)
