"""The words in figures, panels and checks, in Traditional Chinese and in English.

Code holds keys, the files in `words` hold the words: ``label("queries")`` gives those in the
language set by :func:`set_language`.  A word with places to fill is filled by name:
``label("row_of", i=3)``.  `data/glossary.csv` rules over the terms.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .words.attention_panel import ATTENTION_LABELS
from .words.cost_panel import COST_LABELS
from .words.figures import FIGURE_LABELS
from .words.generation_panel import GENERATION_LABELS
from .words.guesses import GUESS_LABELS
from .words.installation import INSTALLATION_LABELS
from .words.leakage_panel import LEAKAGE_LABELS
from .words.mask_and_softmax_panels import MASK_AND_SOFTMAX_LABELS
from .words.notebooks import NOTEBOOK_LABELS
from .words.panels import PANEL_LABELS
from .words.qkv_panel import QKV_LABELS
from .words.scaling_panel import SCALING_LABELS
from .words.scores_panel import SCORES_AND_GRADIENT_LABELS
from .words.tiles_panel import TILES_LABELS
from .words.training_panels import TRAINING_LABELS

LANGUAGES = ("zh-Hant", "en")
_language = "zh-Hant"

# key: (繁體中文, English)
LABELS: dict[str, tuple[str, str]] = {
    **NOTEBOOK_LABELS,
    **FIGURE_LABELS,
    **PANEL_LABELS,
    **SCALING_LABELS,
    **MASK_AND_SOFTMAX_LABELS,
    **ATTENTION_LABELS,
    **QKV_LABELS,
    **SCORES_AND_GRADIENT_LABELS,
    **GENERATION_LABELS,
    **COST_LABELS,
    **TILES_LABELS,
    **TRAINING_LABELS,
    **LEAKAGE_LABELS,
    **GUESS_LABELS,
    **INSTALLATION_LABELS,
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
    if key not in LABELS:
        raise KeyError(f"key must be one of labels.py; got no such key as {key!r}.")
    words = LABELS[key][LANGUAGES.index(_language)]
    return words.format(**values) if values else words
