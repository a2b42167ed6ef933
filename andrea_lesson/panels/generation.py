"""Token by token with a KV cache, beside the training pass that computes all rows at once."""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..experiments import FloatArray
from ..labels import get_language, label
from ..masks import BoolArray
from ..scaled_dot_product import attention_steps
from ..six_tokens import running_example
from .base import Panel
from .controls import dropdown, follow, slider
from .generation_picture import describe, summarise
from .settings import EXAMPLE, SEEDS, SOURCES, whole
from .source import LONGEST, WIDEST, limit_to_source, starting_source, vectors


@dataclass(frozen=True, eq=False)
class GenerationState:
    """What the generation panel shows.

    Rows 0…`step` have been computed one at a time, each from one new query and the keys and
    values kept so far; the rows of `weights` and `output` that are still to come are 0, and
    `computed` marks the weights that were computed at all.  `training_weights` come from one
    pass over all T positions under the causal mask, and `difference` is how far row `step` of
    its weights and output is from the row made step by step.  `next_token` follows the last of
    `tokens`, if the sentence goes on.  The dot products are those of this step alone, and of
    all steps up to it.
    """

    source: str
    seed: int
    T: int
    d_k: int
    step: int
    tokens: tuple[str, ...] | None
    next_token: str | None
    Q: FloatArray
    K: FloatArray
    V: FloatArray
    weights: FloatArray
    output: FloatArray
    computed: BoolArray
    training_weights: FloatArray
    difference: float
    cached_products: int
    cached_products_so_far: int
    uncached_products: int
    uncached_products_so_far: int


@dataclass(frozen=True, eq=False)
class _Sentence:
    """All that does not depend on the step."""

    tokens: tuple[str, ...] | None
    next_token: str | None
    Q: FloatArray
    K: FloatArray
    V: FloatArray
    weights: FloatArray  # grown row by row
    output: FloatArray
    training_weights: FloatArray
    training_output: FloatArray


def compute(
    *,
    source: str = EXAMPLE,
    T: int = 6,
    d_k: int = 4,
    step: int = 2,
    seed: int = 0,
) -> GenerationState:
    """Attention as generation runs it: at step t one query, and t + 1 keys and values.

    Parameters
    ----------
    source, T, d_k, seed
        As in :func:`andrea_lesson.panels.source.vectors`.
    step : int
        0…T − 1: the position whose row is computed.

    Returns
    -------
    GenerationState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    sentence = _sentence(source, T, d_k, seed, get_language())
    step = whole("step", step, 0, T - 1)
    done = np.arange(T)[:, None] <= step  # (T, 1)
    weights, output = sentence.weights, sentence.output
    differences = (
        weights[step] - sentence.training_weights[step],
        output[step] - sentence.training_output[step],
    )
    return GenerationState(
        source=source,
        seed=seed,
        T=T,
        d_k=d_k,
        step=step,
        tokens=sentence.tokens,
        next_token=sentence.next_token,
        Q=sentence.Q,
        K=sentence.K,
        V=sentence.V,
        weights=np.where(done, weights, 0.0),
        output=np.where(done, output, 0.0),
        computed=done & np.tri(T, dtype=bool),
        training_weights=sentence.training_weights,
        difference=max(float(np.abs(one).max()) for one in differences),
        cached_products=step + 1,
        cached_products_so_far=_triangle(step + 1),
        uncached_products=_triangle(step + 1),
        uncached_products_so_far=sum(_triangle(t + 1) for t in range(step + 1)),
    )


def _triangle(rows: int) -> int:
    """Dot products in rows of 1, 2, 3, … keys."""
    return rows * (rows + 1) // 2


@lru_cache(maxsize=8, typed=True)  # typed: 2.0 must be refused although 2 is kept
def _sentence(source: str, T: int, d_k: int, seed: int, language: str) -> _Sentence:
    Q, K, V, tokens = vectors(source, T, d_k, seed)
    weights, output = np.zeros((T, T)), np.zeros((T, V.shape[1]))
    for t in range(T):  # one new query against what the cache holds by then; no mask
        steps = attention_steps(Q[t : t + 1], K[: t + 1], V[: t + 1])
        weights[t, : t + 1], output[t] = steps.weights[0], steps.output[0]
    training = attention_steps(Q, K, V, mask="causal")
    following = running_example().tokens[T : T + 1] if tokens is not None else []
    for array in (Q, K, V, weights, output, training.weights, training.output):
        array.setflags(write=False)  # who changed it would change it for all
    return _Sentence(
        tokens=tuple(tokens) if tokens is not None else None,
        next_token=following[0] if following else None,
        Q=Q,
        K=K,
        V=V,
        weights=weights,
        output=output,
        training_weights=training.weights,
        training_output=training.output,
    )


def generation_panel(
    source: str = "example", *, step: int = 2, view: str = "live", large: bool = False
) -> Panel:
    """Tokens come one by one, the K and V caches grow, and one row of weights a step is computed.

    Nothing is predicted: the tokens are given, and the row of each step is compared with the
    same row of a training pass over the whole sentence.

    Parameters
    ----------
    source : {"example", "random"}
        The running example, or random vectors.
    step : int
        To start with.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `source`, `T`, `d_k`, `step`, `seed`; Play moves `step`.
    """
    start = starting_source(source)
    whole("step", step, 0, LONGEST - 1)

    def prepare(controls: dict[str, Any]) -> None:
        limit_to_source(controls)
        follow(controls["step"], controls["T"], less=1)

    controls = {
        "step": slider("step", step, 0, LONGEST - 1),
        "source": dropdown("source", start, [(label(f"source_{s}"), s) for s in SOURCES]),
        "T": slider("T", 8, 1, LONGEST),
        "d_k": slider("d_k", 8, 1, WIDEST),
        "seed": slider("seed", 0, *SEEDS),
    }
    return Panel(
        controls,
        compute,
        partial(describe, large=large),
        summarise,
        view=view,
        large=large,
        selects={"query": "step", "target": "step"},
        play="step",
        prepare=prepare,
    )
