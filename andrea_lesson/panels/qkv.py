"""From x to q, k and v: three matrices, and the columns of them that make one head."""

from collections.abc import Mapping
from typing import Any

from ..labels import label
from ..six_tokens import running_example
from .base import Panel
from .controls import dropdown, follow, slider, stepped_slider
from .qkv_picture import describe, summarise
from .qkv_state import D_MODELS, N_HEADS, TOKENS, compute
from .settings import EXAMPLE, RANDOM, SEEDS, whole
from .source import starting_source


class QkvPanel(Panel):
    """A panel in which a click on a column chooses its head, and Play goes through the heads."""

    def select(self, places: Mapping[str, int]) -> None:
        """Choose a token, a component or, by one of its columns, a head."""
        if self.state is not None and self.state.source == RANDOM and "column" in places:
            drawn = self.state.drawn
            column = int(drawn[whole("column", places["column"], 0, len(drawn) - 1)])
            places = {**places, "head": column // self.state.d_k}
        super().select(places)

    def advance(self) -> bool:
        """Take the next head, or the next token of the running example."""
        self.play = "head" if self.controls["source"].value == RANDOM else "row"
        return super().advance()


def qkv_panel(
    source: str = "example",
    *,
    row: int = 5,
    component: int = 2,
    d_model: int = 768,
    n_head: int = 12,
    head: int = 0,
    seed: int = 0,
    view: str = "live",
    large: bool = False,
) -> Panel:
    """A token's x, the three matrices and its q, k and v, following the controls.

    Parameters
    ----------
    source : {"example", "random"}
        What to start with: the running example, or random matrices of any size, where the
        columns that make one head are framed.
    row, component, d_model, n_head, head, seed : int
        Where the sliders start.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `source`, `row`, `component`, `d_model`, `n_head`, `head`, `seed`.
    """
    start = starting_source(source)
    components = running_example().W_Q.shape[1]
    whole("row", row, 0, TOKENS - 1)
    whole("component", component, 0, components - 1)
    whole("d_model", d_model, D_MODELS[0], D_MODELS[-1])
    whole("head", head, 0, whole("n_head", n_head, *N_HEADS) - 1)
    whole("seed", seed, *SEEDS)

    def prepare(controls: dict[str, Any]) -> None:
        follow(controls["head"], controls["n_head"], less=1)
        example = controls["source"].value == EXAMPLE
        controls["component"].disabled = not example
        for name in ("d_model", "n_head", "head", "seed"):
            controls[name].disabled = example
        controls["head"].disabled |= controls["n_head"].value == 1

    controls = {
        "source": dropdown(
            "source", start, [(label(f"qkv_source_{s}"), s) for s in (EXAMPLE, RANDOM)]
        ),
        "row": slider("row", row, 0, TOKENS - 1),
        "component": slider("component", component, 0, components - 1),
        "d_model": stepped_slider("d_model", d_model, D_MODELS),
        "n_head": slider("n_head", n_head, *N_HEADS),
        "head": slider("head", head, 0, N_HEADS[1] - 1),
        "seed": slider("seed", seed, *SEEDS),
    }
    return QkvPanel(
        controls,
        compute,
        describe,
        summarise,
        view=view,
        large=large,
        prepare=prepare,
        selects={"token": "row", "key": "component", "head": "head"},
        play="row",
    )
