"""The six tokens that go through all notebooks: 小安 去 圖書館 借 書 看.

The axes of every vector have names and the matrices are set by hand, so that what each token
asks for, offers and gets can be said in words.  A trained model has neither names nor hands.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .labels import get_language

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, eq=False)
class RunningExample:
    """Six tokens and the weight matrices of one head, all hand-set.

    Attributes
    ----------
    tokens : list of 6 str
        In the current language.
    X : ndarray, shape (6, 5)
        A vector for each token, (T, d_model).
    W_Q, W_K : ndarray, shape (5, 4)
        Weight matrices for queries and keys, (d_model, d_k).
    W_V : ndarray, shape (5, 3)
        Weight matrix for values, (d_model, d_v).
    model_axes, key_axes, value_axes : list of str
        Names of the d_model, d_k and d_v axes in the current language.
    """

    tokens: list[str]
    X: NDArray[np.float64]
    W_Q: NDArray[np.float64]
    W_K: NDArray[np.float64]
    W_V: NDArray[np.float64]
    model_axes: list[str]
    key_axes: list[str]
    value_axes: list[str]


def running_example() -> RunningExample:
    """Load the running example from ``data/running_example.json``.

    Returns
    -------
    RunningExample
        Fresh arrays at each call, so that nothing done to them is seen elsewhere.

    Raises
    ------
    FileNotFoundError
        If the data does not come with this installation.
    """
    from .resources import resource_path  # here: `import andrea_lesson` must be quick

    data = _read(resource_path("data", "running_example.json"))
    language = get_language()
    matrices = {name: np.array(data[name], dtype=float) for name in ("X", "W_Q", "W_K", "W_V")}
    return RunningExample(
        tokens=list(data["tokens"][language]),
        model_axes=list(data["axes"]["d_model"][language]),
        key_axes=list(data["axes"]["d_k"][language]),
        value_axes=list(data["axes"]["d_v"][language]),
        **matrices,
    )


@lru_cache(maxsize=1)  # panels ask several times a move
def _read(path: "Path") -> Any:
    import json

    return json.loads(path.read_text(encoding="utf-8"))
