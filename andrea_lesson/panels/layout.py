"""Where everything in a picture stands, in pixels: one arithmetic for both ways of drawing.

Places depend on which parts there are and how their places are named, never on values, so that
nothing moves under a slider.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..figure_parts import ems
from .picture import Axis, Bars, Chart, Matrix, Part, Picture

WIDTH = 928  # pixels: what JupyterLab leaves beside its file browser at 1366 × 768
GROWTH = 1.25  # times which a large picture may grow where the screen is wider
LARGE_WIDTH, ZOOM = 1180, 1.45  # for a projector: the file browser folded away, larger type
SIDE = 415  # for the controls beside a large picture
EM = 13.0  # pixels of a label
LINE = 18.0  # pixels from one line of text to the next
NUMBERS, SLANTED = 17.0, 54.0  # over columns, for numbers and for slanted names
_ACROSS, _DOWN = 12.7, 11.0  # from one name to the next, at the least
_TITLE = 2 * LINE + 4
_NAMES, _GAP, _MARGIN = 84.0, 12.0, 4.0
_OVERHANG = 6.0  # of the last slanted name, beyond its matrix
_SMALLEST, _LARGEST = 0.85, 1.4  # times the usual size of a plot, before the zoom
BAR = 30.0  # a colour bar with its ticks


@dataclass(frozen=True)
class Box:
    """Place of a part: the plot itself, and the room around it for its words."""

    left: float
    top: float
    width: float
    height: float
    before: float  # room left of the plot
    above: float
    after: float
    below: float


@dataclass(frozen=True)
class Layout:
    """Places of all parts by name; `zoom` magnifies everything, the type included."""

    width: float
    height: float
    zoom: float
    boxes: dict[str, Box]
    caption: float  # y of the line that says where the numbers come from
    formulas: float  # y of the first formula

    @property
    def most(self) -> float:
        """Zoom up to which a live picture grows where there is room."""
        return self.zoom * GROWTH if self.zoom > 1 else self.zoom


_Stack = list[Part]  # parts that stand one beneath the other


def lay_out(picture: Picture, *, large: bool = False) -> Layout:
    """Place the parts of a picture, line by line; a line too wide is broken into even ones.

    Parameters
    ----------
    picture : Picture
    large : bool
        For a projector.

    Returns
    -------
    Layout
        In pixels before the zoom.
    """
    zoom = ZOOM if large else 1.0
    room = (LARGE_WIDTH / ZOOM if large else WIDTH) - 2 * _MARGIN
    boxes: dict[str, Box] = {}
    top = _MARGIN
    for wanted in picture.lines:
        for line in _broken(_stacked(wanted), picture, room):
            around = [_around_all(stack, picture, first=stack is line[0]) for stack in line]
            above = max(margins[0].above for margins in around)
            left = _MARGIN + max(0.0, (room - _width(line, picture)) / 2)
            bottom = top
            for stack, margins in zip(line, around, strict=True):
                left += margins[0].before
                plot = top + above
                for part, margin in zip(stack, margins, strict=True):
                    if part is not stack[0]:
                        plot += margin.above
                    boxes[part.name] = Box(left, plot, part.width, part.height, *margin)
                    plot += part.height + margin.below
                left += max(part.width for part in stack) + margins[0].after
                bottom = max(bottom, plot)
            top = bottom
    formulas = top + 4
    caption = formulas + LINE * len(picture.formulas)
    return Layout(
        width=room + 2 * _MARGIN,
        height=caption + (LINE if picture.caption else 0) + _MARGIN,
        zoom=zoom,
        boxes=boxes,
        caption=caption,
        formulas=formulas,
    )


def enlarged(picture: Picture) -> Picture:
    """Fit a picture for a projector: one line if that can be, and plots as large as they may be.

    A line that would need plots smaller than usual is broken; the first matrix of what was
    broken off gets the names of its rows, as the first of the whole line has them.
    """
    room = LARGE_WIDTH / ZOOM - 2 * _MARGIN
    lines: list[list[_Stack]] = []
    for wanted in picture.lines:
        stacks = _stacked(wanted)
        fits = _growth(stacks, picture, room) >= _SMALLEST
        for line in [stacks] if fits else _broken(stacks, picture, room):
            head = line[0][0]
            if isinstance(head, Matrix) and isinstance(wanted[0], Matrix) and wanted[0].show_rows:
                line[0][0] = replace(head, show_rows=True)
            lines.append(line)
    factor = min((_growth(line, picture, room) for line in lines), default=1.0)
    return replace(
        picture,
        lines=tuple(
            tuple(
                replace(part, width=part.width * factor, height=part.height * factor)
                for stack in line
                for part in stack
            )
            for line in lines
        ),
    )


def _growth(line: list[_Stack], picture: Picture, room: float) -> float:
    """How much larger the plots of a line may be, their margins staying as they are."""
    plots = sum(max(part.width for part in stack) for stack in line)
    last = line[-1][0]
    if isinstance(last, Matrix) and picture.axes[last.columns].slanted:
        room -= _OVERHANG
    return min(_LARGEST, (room - _width(line, picture) + plots) / plots)


def ticks(
    axis: Axis, count: int, room: float, *, across: bool, lit: Sequence[int] = ()
) -> list[tuple[int, str]]:
    """Choose the places along a side that are named: all, or every second, fourth, eighth …

    Parameters
    ----------
    axis : Axis
        Its places have names, or are numbered.
    count : int
        Places.
    room : float
        Pixels for all of them.
    across : bool
        Side by side, as over columns; else one under the other.
    lit : sequence of int, optional
        Places in a frame; one or two of them have their name in any case.

    Returns
    -------
    list of (int, str)
        Places and what stands there.
    """
    named = axis.names is not None and len(axis.names) == count
    names_apart = _ACROSS if across else _DOWN
    if named and axis.text and count * names_apart > room:
        named = False
    names = axis.names if axis.names is not None and named else tuple(map(str, range(count)))
    # Numbers side by side need the room they take; names get smaller or slant.
    numbers_apart = 5 + 7.0 * len(str(count - 1)) if across else EM
    apart = names_apart if named else numbers_apart
    step = next(2**power for power in range(64) if count * apart <= room * 2**power)
    chosen = set(range(0, count, step))
    if named and len(lit) <= 2:
        near = {place for place in chosen for one in lit if abs(place - one) * room < apart * count}
        chosen = chosen - near | {place for place in lit if 0 <= place < count}
    return [(place, names[place]) for place in sorted(chosen)]


def too_long(names: Sequence[str], room: float) -> bool:
    """Whether names over columns of that width have to slant."""
    return max(map(ems, names), default=0.0) * EM > room


class _Around(NamedTuple):
    """Room before, above, after and below a plot."""

    before: float
    above: float
    after: float
    below: float


def _stacked(line: Sequence[Part]) -> list[_Stack]:
    """Put each part beneath the one that it names."""
    stacks: list[_Stack] = []
    for part in line:
        under = "" if isinstance(part, Chart) else part.under
        if not under:
            stacks.append([part])
            continue
        next(stack for stack in stacks if any(one.name == under for one in stack)).append(part)
    return stacks


def _broken(line: list[_Stack], picture: Picture, room: float) -> list[list[_Stack]]:
    for pieces in range(1, len(line) + 1):
        size = -(-len(line) // pieces)
        broken = [line[start : start + size] for start in range(0, len(line), size)]
        if all(_width(piece, picture) <= room + 1 for piece in broken):
            return broken
    return [[stack] for stack in line]


def _width(line: list[_Stack], picture: Picture) -> float:
    around = [_around_all(stack, picture, first=stack is line[0]) for stack in line]
    return sum(
        margins[0].before + max(part.width for part in stack) + margins[0].after
        for stack, margins in zip(line, around, strict=True)
    )


def _around_all(stack: _Stack, picture: Picture, *, first: bool) -> list[_Around]:
    """Room around the parts of a stack: to the left and right the same for all."""
    around = [_around(part, picture, first=first) for part in stack]
    before = max(margin.before for margin in around)
    after = max(margin.after for margin in around)
    return [_Around(before, margin.above, after, margin.below) for margin in around]


def _around(part: Part, picture: Picture, *, first: bool) -> _Around:
    if isinstance(part, Chart):
        below = NUMBERS + (LINE if part.x.words else 0) + LINE * part.legend_lines + 6
        return _Around(44.0, _TITLE + 6 + (LINE if part.y.words else 0), 8.0, below)
    words = LINE if isinstance(part, Bars) and part.words else 0.0
    if isinstance(part, Bars):
        if part.upright:
            return _Around(_NAMES if first else 40.0, _TITLE + 4, 8.0, LINE + words + 4)
        before = _NAMES if part.show_names or first else _GAP + 16
        return _Around(before, _TITLE + NUMBERS + 4, 22.0, words or 4.0)
    columns = picture.axes[part.columns]
    title = columns.title if part.column_title is None else part.column_title
    above = (_TITLE if part.title else 4.0) + (LINE if title else 0)
    if part.show_columns:
        above += SLANTED if columns.slanted else NUMBERS
    hidden = LINE if part.hidden is not None and part.hidden_words != "" else 0.0
    # A line for the note of relative colours, or for what NaN and the like look like.
    more = part.bar and (hidden > 0 or part.colours in ("weights", "relative"))
    note = LINE if more else 0.0
    below = (BAR if part.bar else 4.0) + note + hidden + 4
    before = _NAMES if part.show_rows else 4.0
    return _Around(before, above, _GAP - 4, below)
