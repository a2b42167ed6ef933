"""Scaled dot-product attention as it runs inside ANDREA-120M: the lesson's package.

Importing it loads NumPy and array-api-compat and nothing heavier.  Figures, panels, experiments
and exercises load when they are first asked for: ``al.plotting``, ``al.panels``,
``al.experiments``, ``al.check``.
"""

from importlib import import_module
from typing import Any

from .backward import BackwardSteps, attention_backward, attention_backward_steps
from .family import ANDREA_12M, ANDREA_120M, ANDREA_480M, FAMILY, AndreaModel, count_parameters
from .kv_cache import KVCache
from .labels import get_language, label, set_language
from .masks import (
    causal_mask,
    document_mask,
    full_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)
from .readout import answer, show, table
from .scaled_dot_product import (
    AttentionSteps,
    attention,
    attention_steps,
    attention_weights,
    project_qkv,
    softmax,
)
from .six_tokens import RunningExample, running_example
from .tiled import TileStep, tiled_attention, tiled_steps
from .tiled_backward import tiled_attention_backward

__version__ = "0.1.0"

_LOADED_WHEN_USED = ("exercises", "experiments", "kernels", "panels", "plotting", "training")
_TAKEN_WHEN_USED = {  # public name: the module that has it
    "check": "exercises.checker",
    "guess_cells": "exercises.guess",
    "guess_curve": "exercises.guess",
    "hint": "exercises.registry",
    "progress": "exercises.progress",
    "question": "exercises.registry",
    "quiz": "exercises.quiz",
    "report": "exercises.report",
    "solution": "exercises.registry",
}

__all__ = [
    "ANDREA_12M",
    "ANDREA_120M",
    "ANDREA_480M",
    "FAMILY",
    "AndreaModel",
    "AttentionSteps",
    "BackwardSteps",
    "KVCache",
    "RunningExample",
    "TileStep",
    "answer",
    "attention",
    "attention_backward",
    "attention_backward_steps",
    "attention_steps",
    "attention_weights",
    "causal_mask",
    "count_parameters",
    "document_mask",
    "full_mask",
    "get_language",
    "label",
    "padding_mask",
    "prefix_mask",
    "project_qkv",
    "running_example",
    "set_language",
    "show",
    "sliding_window_mask",
    "softmax",
    "table",
    "tiled_attention",
    "tiled_attention_backward",
    "tiled_steps",
]


def __getattr__(name: str) -> Any:
    """Load a heavier part of the package at its first use."""
    if name in _LOADED_WHEN_USED:
        return import_module(f"{__name__}.{name}")
    if name in _TAKEN_WHEN_USED:
        return getattr(import_module(f"{__name__}.{_TAKEN_WHEN_USED[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Names for completion, the parts not yet loaded included."""
    return sorted([*globals(), *_LOADED_WHEN_USED, *_TAKEN_WHEN_USED])
