"""What the qkv panel computes: x through three matrices, and the columns that make one head."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..experiments import FloatArray
from ..labels import label
from ..scaled_dot_product import project_qkv
from ..six_tokens import running_example
from .settings import (
    EXAMPLE,
    SEEDS,
    SOURCES,
    SettingError,
    choice,
    whole,
)

# All but one split into 12 heads, and ANDREA's widths are among them.
D_MODELS = (12, 24, 48, 96, 144, 192, 288, 384, 576, 768, 1024, 1152, 1536)
N_HEADS = (1, 24)
TOKENS = 6  # positions, as many as the running example has
MOST_DRAWN = 96  # rows and columns of a matrix: more would be finer than the screen
MATRICES = ("W_Q", "W_K", "W_V")

Three = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class QkvState:
    """What the qkv panel shows: `X`, the three matrices `W` and their products `projected`.

    Of wide random matrices only the columns `drawn` are made, since each component of q depends
    on its own column alone; `mine` tells which of those belong to the head.  The running example
    is one head, with `component` of its query and key taken apart.
    """

    source: str
    seed: int
    row: int
    component: int
    d_model: int
    n_head: int
    head: int
    d_k: int
    tokens: list[str] | None
    X: FloatArray
    W: Three
    projected: Three
    drawn: NDArray[np.int_]
    mine: NDArray[np.bool_]


def compute(
    *,
    source: str = EXAMPLE,
    row: int = 5,
    component: int = 2,
    d_model: int = 768,
    n_head: int = 12,
    head: int = 0,
    seed: int = 0,
) -> QkvState:
    """Project the vectors of six tokens to queries, keys and values.

    Parameters
    ----------
    source : {"random", "running-example"}
        The running example is a head of its own; the other parameters but `row` and `component`
        are those of random matrices.
    row : int
        The token, 0…5.
    component : int
        The component of the running example's queries and keys that is taken apart, 0…3.
    d_model : int
        Width of x, 12…1536.
    n_head : int
        Heads, 1…24.
    head : int
        The head whose columns are lit, 0…n_head-1.
    seed : int

    Returns
    -------
    QkvState

    Raises
    ------
    SettingError
        In one sentence of the current language; also if d_model does not split into n_head.
    """
    choice("source", source, SOURCES)
    whole("row", row, 0, TOKENS - 1)
    common: dict[str, Any] = {"source": source, "seed": seed, "row": row, "component": component}
    if source == EXAMPLE:
        example = running_example()
        d_model, d_k = example.W_Q.shape
        whole("component", component, 0, d_k - 1)
        W: Three = (example.W_Q, example.W_K, example.W_V)
        return QkvState(
            **common,
            d_model=d_model,
            n_head=1,
            head=0,
            d_k=d_k,
            tokens=example.tokens,
            X=example.X,
            W=W,
            projected=project_qkv(example.X, *W),
            drawn=np.arange(d_k),
            mine=np.ones(d_k, dtype=bool),
        )
    whole("d_model", d_model, D_MODELS[0], D_MODELS[-1])
    whole("n_head", n_head, *N_HEADS)
    d_k = _split(d_model, n_head)
    whole("head", head, 0, n_head - 1)
    X, W, projected = _random(d_model, whole("seed", seed, *SEEDS))
    drawn = sample(d_model)
    return QkvState(
        **common,
        d_model=d_model,
        n_head=n_head,
        head=head,
        d_k=d_k,
        tokens=None,
        X=X,
        W=W,
        projected=projected,
        drawn=drawn,
        mine=drawn // d_k == head,
    )


def sample(width: int) -> NDArray[np.int_]:
    """Choose which rows or columns of a wide matrix are drawn: evenly spread, from the first."""
    drawn = min(width, MOST_DRAWN)
    return np.arange(drawn) * width // drawn


def _split(d_model: int, n_head: int) -> int:
    """Width of a head, or a sentence that says what would fit."""
    if d_model % n_head == 0:
        return d_model // n_head
    fitting = [n for n in range(N_HEADS[0], N_HEADS[1] + 1) if d_model % n == 0]
    near = min(abs(n - n_head) for n in fitting)
    nearest = [str(n) for n in fitting if abs(n - n_head) == near]
    raise SettingError(
        label(
            "bad_split",
            d_model=d_model,
            n_head=n_head,
            quotient=d_model // n_head,
            remainder=d_model % n_head,
            nearest=label("qkv_or").join(nearest),
        )
    )


@lru_cache(maxsize=1)  # 4 MB at most
def _random(d_model: int, seed: int) -> tuple[FloatArray, Three, Three]:
    """X, the drawn columns of three matrices, and their products; variance 1 in and out."""
    X, columns = _normal(seed)
    X = X[:, :d_model]  # (6, d_model)
    W_Q, W_K, W_V = (
        W[: len(sample(d_model)), :d_model].T / np.sqrt(d_model)  # (d_model, drawn)
        for W in columns
    )
    projected = project_qkv(X, W_Q, W_K, W_V)
    for array in (X, W_Q, W_K, W_V, *projected):
        array.setflags(write=False)  # who changed it would change it for all
    return X, (W_Q, W_K, W_V), projected


@lru_cache(maxsize=1)  # 3.6 MB
def _normal(seed: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng([seed, 11])
    widest = D_MODELS[-1]
    return rng.standard_normal((TOKENS, widest)), rng.standard_normal((3, MOST_DRAWN, widest))
