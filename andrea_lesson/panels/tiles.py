"""Attention tile by tile: how maximum, sum and output of a row come together while tiles pass."""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..experiments import FloatArray
from ..labels import get_language, label
from ..masks import BoolArray
from ..scaled_dot_product import attention_steps
from ..tiled import TileStep, tiled_steps
from .base import Panel
from .controls import dropdown, end_at, follow, slider
from .settings import RANDOM, SEEDS, SOURCES, build_mask, choice, whole
from .source import WIDEST, limit_to_source, starting_source, vectors
from .tiles_picture import describe, summarise

LONGEST = 32  # positions
MASKS = ("causal", "full", "sliding-window", "documents")


@dataclass(frozen=True, eq=False)
class TilesState:
    """What the tiles panel shows after `step`, which is the last of the tiles done.

    Tiles are counted row by row; `order` holds the number of the tile of each cell, `skipped`
    the cells of tiles that the mask hides altogether, and `scores` the masked scaled scores of
    all tiles done so far.  `running_max`, `running_sum` and `output` have a row for each query as
    things stand: -inf, 0 and 0 where nothing of it is done; `limit`, `largest_sum` and
    `largest_output` are the largest that scores, sums and outputs get at any step, `negative` is
    whether a maximum ever lies below 0.  `before` is maximum and sum of the chosen `row` before
    this tile, if its query is in it.  `true_output` is that of the plain form.
    """

    source: str
    seed: int
    T: int
    tile: int
    d_k: int
    mask_kind: str
    step: int
    row: int
    tokens: tuple[str, ...] | None
    tiles: int  # along one side
    now: TileStep
    order: FloatArray
    skipped: BoolArray
    scores: FloatArray
    limit: float
    negative: bool
    running_max: FloatArray
    running_sum: FloatArray
    largest_sum: float
    rescale: FloatArray
    output: FloatArray
    largest_output: FloatArray
    true_output: FloatArray
    before: "Before | None"
    computed_tiles: int
    skipped_tiles: int


@dataclass(frozen=True)
class Before:
    """Maximum and sum of a row before a tile."""

    running_max: float
    running_sum: float


@dataclass(frozen=True, eq=False)
class _Problem:
    """All that does not depend on the step or on the row."""

    tokens: tuple[str, ...] | None
    steps: tuple[TileStep, ...]
    order: FloatArray
    skipped: BoolArray
    scores: FloatArray
    true_output: FloatArray
    limit: float
    negative: bool
    largest_sum: float
    largest_output: FloatArray


def compute(
    *,
    source: str = RANDOM,
    T: int = 16,
    tile: int = 4,
    d_k: int = 16,
    mask: str = "causal",
    step: int = 9,
    row: int = 11,
    seed: int = 0,
) -> TilesState:
    """Tiled attention up to and with one tile.

    Parameters
    ----------
    source, T, d_k, seed
        As in :func:`andrea_lesson.panels.source.vectors`; T up to 32.
    tile : int
        Queries, and keys, in a tile, 1…32.
    mask : {"causal", "full", "sliding-window", "documents"}
        The window is a third of T, and the second document begins in the middle.
    step : int
        Number of the tile, row by row.
    row : int
        The query that is followed, 0…T-1.

    Returns
    -------
    TilesState

    Raises
    ------
    SettingError
        In one sentence of the current language.
    """
    problem = _problem(source, T, whole("tile", tile, 1, LONGEST), d_k, mask, seed, get_language())
    row = whole("row", row, 0, T - 1)
    step = whole("step", step, 0, len(problem.steps) - 1)
    done = problem.order <= step
    now = problem.steps[step]
    running_max, running_sum = np.full(T, -np.inf), np.zeros(T)
    rescale, output = np.ones(T), np.zeros_like(problem.true_output)
    side = side_of(T, tile)
    # The last tile done of each row of tiles: at the end of all rows before this one.
    for last in [*range(side - 1, step, side), step]:
        one = problem.steps[last]
        running_max[one.queries], running_sum[one.queries] = one.running_max, one.running_sum
        output[one.queries] = one.output
    rescale[now.queries] = now.rescale
    before = None
    if now.queries.start <= row < now.queries.stop:
        place = row - now.queries.start
        earlier = problem.steps[step - 1] if step % side else None
        before = Before(
            float(earlier.running_max[place]) if earlier else -np.inf,
            float(earlier.running_sum[place]) if earlier else 0.0,
        )
    skipped = sum(one.skipped for one in problem.steps[: step + 1])
    return TilesState(
        source=source,
        seed=seed,
        T=T,
        tile=tile,
        d_k=d_k,
        mask_kind=mask,
        step=step,
        row=row,
        tokens=problem.tokens,
        tiles=side,
        now=now,
        order=problem.order,
        skipped=problem.skipped,
        scores=np.where(done & ~problem.skipped, problem.scores, 0.0),
        limit=problem.limit,
        negative=problem.negative,
        running_max=running_max,
        running_sum=running_sum,
        largest_sum=problem.largest_sum,
        rescale=rescale,
        output=output,
        largest_output=problem.largest_output,
        true_output=problem.true_output,
        before=before,
        computed_tiles=step + 1 - skipped,
        skipped_tiles=skipped,
    )


def side_of(T: int, tile: int) -> int:
    """Tiles along one side of the matrix."""
    return -(-T // tile)


@lru_cache(maxsize=16, typed=True)  # typed: 2.0 must be refused although 2 is kept
def _problem(
    source: str, T: int, tile: int, d_k: int, mask: str, seed: int, language: str
) -> _Problem:
    choice("mask", mask, MASKS)
    Q, K, V, tokens = vectors(source, T, d_k, seed, longest=LONGEST)
    allowed = build_mask(mask, T, window=max(1, T // 3), boundary=T // 2)
    steps = tuple(tiled_steps(Q, K, V, mask=allowed, tile=tile))
    order, skipped = np.zeros((T, T)), np.zeros((T, T), dtype=bool)
    scores, largest_output = np.full((T, T), -np.inf), np.zeros(T)
    for number, one in enumerate(steps):
        cells = one.queries, one.keys
        order[cells], skipped[cells] = number, one.skipped
        if one.scores is not None:
            scores[cells] = one.scores
        largest = np.abs(one.output).max(axis=-1)  # (rows,)
        largest_output[one.queries] = np.maximum(largest_output[one.queries], largest)
    true_output = attention_steps(Q, K, V, mask=allowed).output
    for array in (order, skipped, scores, true_output, largest_output):
        array.setflags(write=False)  # who changed it would change it for all
    seen = scores[np.isfinite(scores)]
    return _Problem(
        tokens=tuple(tokens) if tokens is not None else None,
        steps=steps,
        order=order,
        skipped=skipped,
        scores=scores,
        true_output=true_output,
        limit=float(np.abs(seen).max(initial=0.0)),
        negative=any(_below_zero(one.running_max) for one in steps),
        largest_sum=max(float(one.running_sum.max()) for one in steps),
        largest_output=largest_output,
    )


def _below_zero(running_max: FloatArray) -> bool:
    return bool((np.isfinite(running_max) & (running_max < 0)).any())


def tiles_panel(
    source: str = "random",
    *,
    T: int = 16,
    tile: int = 4,
    view: str = "live",
    large: bool = False,
) -> Panel:
    """Running maximum, running sum and output of each row, tile by tile; hidden tiles skipped.

    Parameters
    ----------
    source : {"random", "example"}
        Random vectors, or the running example, to start with.
    T, tile : int
        To start with, 1…32.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib.
    large : bool
        Larger type and pictures, for a projector.

    Returns
    -------
    Panel
        Controls `source`, `T`, `tile`, `d_k`, `mask`, `step`, `row`, `seed`; Play moves `step`,
        and the row along with it from one row of tiles to the next.
    """
    start = starting_source(source)
    whole("T", T, 1, LONGEST)
    whole("tile", tile, 1, LONGEST)

    def prepare(controls: dict[str, Any]) -> None:
        limit_to_source(controls, longest=LONGEST)
        follow(controls["row"], controls["T"], less=1)
        controls["row"].disabled = controls["T"].value == 1
        sizes = controls["T"], controls["tile"]
        if all(size.min <= size.value <= size.max for size in sizes):
            last = side_of(*(size.value for size in sizes)) ** 2 - 1
            end_at(controls["step"], last)
            controls["step"].disabled = last == 0

    side = side_of(T, tile)
    first = side * (side // 2) + side // 4  # somewhere in the middle
    controls = {
        "step": slider("step", first, 0, LONGEST**2 - 1),
        "row": slider("row", min(tile * (side // 2 + 1), T) - 1, 0, LONGEST - 1),
        "T": slider("T", T, 1, LONGEST),
        "tile": slider("tile", tile, 1, LONGEST),
        "mask": dropdown("mask", "causal", [(label(f"kind_{kind}"), kind) for kind in MASKS]),
        "d_k": slider("d_k", 16, 1, WIDEST),
        "source": dropdown("source", start, [(label(f"source_{s}"), s) for s in SOURCES]),
        "seed": slider("seed", 0, *SEEDS),
    }
    return _TilesPanel(
        controls,
        compute,
        partial(describe, large=large),
        summarise,
        view=view,
        large=large,
        selects={"query": "row"},
        play="step",
        prepare=prepare,
    )


class _TilesPanel(Panel):
    """Play takes the row along: the same place in the next row of tiles."""

    def advance(self) -> bool:
        if self.error is not None:
            return False
        step, row, T = (self.controls[name] for name in ("step", "row", "T"))
        tile, side = self.state.tile, self.state.tiles
        place = row.value % tile
        self._reacting = True  # two controls, one reaction
        try:
            more = super().advance()
            row.value = min(step.value // side * tile + place, T.value - 1)
        finally:
            self._reacting = False
            self._moved()
        return more
