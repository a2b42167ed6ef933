"""Where a panel's Q, K and V come from: random vectors, or the six tokens of the lesson."""

from functools import lru_cache
from typing import Any

import numpy as np

from .. import experiments
from ..experiments import FloatArray, random_qkv
from ..labels import label
from ..scaled_dot_product import project_qkv
from ..six_tokens import running_example
from .settings import EXAMPLE, RANDOM, SEEDS, SOURCES, choice, whole

LONGEST, WIDEST = 64, 256  # T and d_k of random vectors
STARTS = {"random": RANDOM, "example": EXAMPLE}


def vectors(
    source: str, T: int, d_k: int, seed: int, *, head: int = 0, longest: int = LONGEST
) -> tuple[FloatArray, FloatArray, FloatArray, list[str] | None]:
    """Make the vectors that a panel shows.

    Parameters
    ----------
    source : {"random", "running-example"}
    T : int
        Positions, 1…`longest`, or 1…6 of the running example.
    d_k : int
        Width of queries and keys, 1…256; that of the running example is fixed.
    seed : int
        Of the random vectors.
    head : int
        Each head has random vectors of its own.
    longest : int
        Positions that the panel offers.

    Returns
    -------
    Q, K : ndarray, shape (T, d_k)
    V : ndarray, shape (T, d_v)
        d_v = d_k where they are random.
    tokens : list of T str, or None
        None where they are random.

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    choice("source", source, SOURCES)
    if source == RANDOM:
        whole("T", T, 1, longest)
        whole("d_k", d_k, 1, WIDEST)
        whole("seed", seed, *SEEDS)
        width = next(power for power in (64, 128, WIDEST) if d_k <= power)
        # In one piece of memory: products of pieces can take a hundred times as long.
        Q, K, V = (np.ascontiguousarray(array[:T, :d_k]) for array in _drawn(width, seed, head))
        return Q, K, V, None
    example = running_example()
    whole("T", T, 1, len(example.tokens))
    width = example.W_K.shape[1]
    whole("d_k", d_k, width, width)
    Q, K, V = project_qkv(example.X[:T], example.W_Q, example.W_K, example.W_V)
    return Q, K, V, example.tokens[:T]


@lru_cache(maxsize=2)  # 6 MB at most each
def _drawn(width: int, seed: int, head: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draw once what any T and d_k then cut out of it; no two heads share a seed."""
    drawn = random_qkv(experiments.LONGEST, width, seed=seed + head * (SEEDS[1] + 1))
    for array in drawn:
        array.setflags(write=False)  # who changed it would change it for all
    return drawn


def caption(source: str, seed: int) -> str:
    """Say beneath a picture where its numbers come from."""
    return label("caption_example") if source == EXAMPLE else label("caption_random", seed=seed)


def starting_source(source: str) -> str:
    """Value of the control `source` at the start, from the argument of a panel.

    Raises
    ------
    SettingError
        If it is neither "random" nor "example".
    """
    choice("source", source, tuple(STARTS))
    return STARTS[source]


def limit_to_source(controls: dict[str, Any], *, longest: int = LONGEST) -> None:
    """Hold T and d_k to the running example while it is the source, and give them back.

    Sets limits, values and what is greyed out.
    """
    T, d_k = controls["T"], controls["d_k"]
    inside = controls["source"].value == EXAMPLE
    if inside:
        example = running_example()
        longest, width = len(example.tokens), example.W_K.shape[1]
        if T.kept is None:
            T.kept, d_k.kept = T.value, d_k.value
            T.max = longest
            T.value = longest  # all tokens, to begin with
            T.touched = False
        elif d_k.value != width:  # set by code: meant for when random vectors come back
            d_k.kept = d_k.value
        d_k.value = width
    elif T.kept is not None:
        T.max = longest
        if not T.touched:  # since the example came
            T.value = T.kept
        d_k.value = d_k.kept
        T.kept = d_k.kept = None
    d_k.disabled = controls["seed"].disabled = inside
