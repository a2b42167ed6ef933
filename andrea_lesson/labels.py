"""The words in figures, panels and checks, in Traditional Chinese and in English.

Code holds keys, this file holds words: ``label("queries")`` gives the words in the language
set by :func:`set_language`.  A word with places to fill is filled by name:
``label("row_of", i=3)``.  `data/glossary.csv` rules over the terms.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LANGUAGES = ("zh-Hant", "en")
_language = "zh-Hant"

# key: (繁體中文, English)
LABELS: dict[str, tuple[str, str]] = {
    # -- lines and tables in the notebooks -----------------------------------------------------
    "not_answered": ("（還沒寫）", "(not answered yet)"),
    "yes": ("是", "yes"),
    "no": ("否", "no"),
    "guess": ("你的答案", "your answer"),
    "measured": ("量到的", "measured"),
    "predicted": ("理論值", "predicted"),
    "agrees": ("與套件的結果相同", "agrees with the package"),
    "right": ("答對了", "right"),
    "model": ("模型", "model"),
    "remainder": ("餘數", "remainder"),
    "row_sums": ("每一列的總和", "sum of each row"),
    # -- figures -----------------------------------------------------------------------------
    "scores": ("分數", "scores"),
    "scaled_scores": ("縮放後的分數", "scaled scores"),
    "masked_scores": ("遮罩後的分數", "masked scores"),
    "weights": ("注意力權重", "attention weights"),
    "output": ("輸出", "output"),
    "mask": ("遮罩", "mask"),
    "rows_queries": ("列＝查詢 i", "row = query i"),
    "columns_keys": ("行＝鍵 j", "column = key j"),
    # -- panels ------------------------------------------------------------------------------
    # -- the check of the installation, the command line ---------------------------------------
    "cli_working_copy": ("工作副本：{folder}", "Working copy: {folder}"),
    "cli_newer_lesson": (
        "課程有新版，已另存為 {new}；你的 {old} 沒有更動。",
        "A newer lesson was put at {new}; your {old} is unchanged.",
    ),
    "cli_folder_fails": (
        "無法在 {folder} 建立工作副本：{reason}。請用 --dir 指定另一個資料夾。",
        "The working copy cannot be made in {folder}: {reason}. Choose another folder with --dir.",
    ),
    "cli_folder_is_lesson": (
        "{folder} 是課程本身的筆記本，不能當作工作副本。請用 --dir 指定另一個資料夾。",
        "{folder} holds the lesson's own notebooks and cannot be the working copy. "
        "Choose another folder with --dir.",
    ),
    "cli_missing": (
        "缺少 {missing}。請執行：{line}",
        "{missing} not installed. Run: {line}",
    ),
    # -- 00_start_here -----------------------------------------------------------------------
    # -- 01_query_key_value ------------------------------------------------------------------
    "shared_projection": ("共用一個投影", "one shared projection"),
    "two_projections": ("兩個投影", "two projections"),
    "projections": ("投影", "projections"),
    "symmetric": ("分數對稱", "scores symmetric"),
    "finds_itself": ("最高分是自己的比例", "share whose best key is itself"),
    "rank": ("W_Q W_Kᵀ 的秩", "rank of W_Q W_Kᵀ"),
    "moved_here": ("第 0 個位置動了幾個分量", "components moved at position 0"),
    "moved_elsewhere": ("其他位置動了幾個分量", "components moved elsewhere"),
    # -- 02_scores_and_scaling ---------------------------------------------------------------
    # -- 03_causal_mask ----------------------------------------------------------------------
    # -- 04_softmax_and_output ---------------------------------------------------------------
}


def set_language(language: str) -> None:
    """Choose the language of figures, panels and checks.

    Parameters
    ----------
    language : {"zh-Hant", "en"}
        Traditional Chinese, the default, or English.

    Raises
    ------
    ValueError
        If there are no words in that language.
    """
    global _language
    if language not in LANGUAGES:
        raise ValueError(f'language must be "zh-Hant" or "en"; got {language!r}.')
    _language = language


def get_language() -> str:
    """Return the language in force, ``"zh-Hant"`` or ``"en"``."""
    return _language


@contextmanager
def language(name: str) -> Iterator[None]:
    """Use another language for a while, as figures do where no Chinese font is found."""
    before = get_language()
    set_language(name)
    try:
        yield
    finally:
        set_language(before)


def label(key: str, /, **values: Any) -> str:
    """The words for a key in the current language.

    Parameters
    ----------
    key : str
        A key of :data:`LABELS`.
    **values
        What to put into the places of the words, by name.

    Returns
    -------
    str

    Raises
    ------
    KeyError
        If the key has no words.
    """
    words = LABELS[key][LANGUAGES.index(_language)]
    return words.format(**values) if values else words
