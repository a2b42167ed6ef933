"""What all panels share: controls → compute → picture, one reaction a move, one line for errors."""

import base64
import html
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

import ipywidgets as widgets
import numpy as np
from IPython.display import display
from threadpoolctl import ThreadpoolController

from ..figure_style import figure_bytes, save
from ..labels import get_language, label, language
from .controls import MEMORY, Press, Stepped, shown, stops
from .layout import GROWTH, LARGE_WIDTH, SIDE, WIDTH, Layout, enlarged, lay_out
from .picture import Picture
from .printed import PrintedView, print_picture, small_png, still
from .settings import SettingError, choice, whole

VIEWS = ("live", "matplotlib")
_live: "WeakSet[Panel]" = WeakSet()


class Panel(widgets.VBox):  # type: ignore[misc]
    """Controls, a picture that follows them, and the picture in words.

    Parameters
    ----------
    controls : dict of str to widget
        The order is that on the screen.
    compute : callable
        Takes the values of the controls by name and returns a frozen dataclass.
    describe : callable
        Turns such a dataclass into a :class:`~andrea_lesson.panels.picture.Picture`.
    summarise : callable
        Says in one sentence what is on show.
    view : {"live", "matplotlib"}
        Canvases in the browser, or an image made by matplotlib for front ends that cannot load
        the module which draws them.
    large : bool
        Larger type and pictures, for a projector.
    selects : dict of str to str, optional
        Control that is set when a place on an axis of the picture is chosen, by axis.
    play : str, optional
        Control that Play moves step by step.
    warn : callable, optional
        Says what is wrong with what is on show; None if nothing is.
    prepare : callable, optional
        Called with the controls before each computation: sets limits, greys out what has no
        effect.

    Attributes
    ----------
    controls : dict of str to widget
    state : dataclass or None
        What is on show; None while an error is.
    picture : Picture or None
        The same as it is drawn.
    summary : str
        The picture in one sentence, in the language in force when the panel was made.
    error : str or None
        The sentence under the controls when a setting makes no picture.
    warning : str or None
        The sentence under the picture when it shows something that goes wrong.
    """

    def __init__(
        self,
        controls: Mapping[str, widgets.Widget],
        compute: Callable[..., Any],
        describe: Callable[[Any], Picture],
        summarise: Callable[[Any], str],
        *,
        view: str = "live",
        large: bool = False,
        selects: Mapping[str, str] | None = None,
        play: str | None = None,
        warn: Callable[[Any], str | None] = lambda state: None,
        prepare: Callable[[dict[str, Any]], None] = lambda controls: None,
    ) -> None:
        try:
            choice("view", view, VIEWS)
        except SettingError:
            for control in controls.values():
                _close(control)
            raise
        self.controls: dict[str, Any] = dict(controls)
        self.language = get_language()
        self.state: Any = None
        self.picture: Picture | None = None
        self.summary = ""
        self.error: str | None = None
        self.warning: str | None = None
        self.large = bool(large)
        self.selects, self.play = dict(selects or {}), play
        self._compute, self._describe, self._summarise = compute, describe, summarise
        self._warn, self._prepare = warn, prepare
        self._reacting = False
        self.view = self._make_view(view)
        # Each line keeps its place while it is empty, so that nothing below it jumps.
        self._error_line, self._warning_line, *self._summary_line = (
            widgets.HTML(layout=widgets.Layout(width="100%", min_height="22px", margin="0"))
            for _ in range(2 if self.view.says_summary else 3)
        )
        box = widgets.Box(
            list(self.controls.values()),
            layout=widgets.Layout(flex_flow="row wrap", align_items="center", width="100%"),
        )
        lines = [self._error_line, self.view.widget, self._warning_line, *self._summary_line]
        width = f"min(100%, {GROWTH * (LARGE_WIDTH + SIDE):.0f}px)" if large else f"{WIDTH}px"
        super().__init__(
            [box, *lines],
            layout=widgets.Layout(width=width, max_width="100%", overflow="hidden"),
        )
        self.add_class("andrea-panel")
        if large:
            self.add_class("andrea-large")
        for control in self.controls.values():
            control.observe(self._moved, names="value")
        _live.add(self)
        self._moved()

    def _make_view(self, view: str) -> Any:
        advance = self.advance if self.play else None
        if view == "live":
            try:
                from .live import LiveView
            except ImportError:  # anywidget is missing: better an image than nothing
                view = "matplotlib"
        if view == "matplotlib":
            return PrintedView(advance=advance)
        return LiveView(
            select=self.select,
            advance=advance,
            save=self.save_bytes,
            typed=self.type_in,
            stepped=[c.description for c in self.controls.values() if isinstance(c, Stepped)],
            name=getattr(self._compute, "__module__", "panel").split(".")[-1].split("_")[0],
        )

    # -- one reaction a move -----------------------------------------------------------------------

    def _moved(self, change: Any = None) -> None:
        """React to a control; what `prepare` sets meanwhile belongs to the same move."""
        if self._reacting:
            return
        self._reacting = True
        try:
            with language(self.language), _blas().limit(limits=1, user_api="blas"), _usual_numpy():
                self._react()
        finally:
            self._reacting = False

    def _react(self) -> None:
        try:
            self._prepare(self.controls)
            state = self._compute(**{name: c.value for name, c in self.controls.items()})
            picture = self._describe(state)
            if self.large:
                picture = enlarged(picture)
            summary, warning = self._summarise(state), self._warn(state)
            summary = summary[:1].upper() + summary[1:]
            self.view.show(picture, lay_out(picture, large=self.large), summary)
        except Exception as problem:
            self.view.clear()
            self._say(state=None, picture=None, error=_sentence(problem))
            if strict():
                raise
        else:
            self._say(state=state, picture=picture, summary=summary, warning=warning)

    def _say(
        self,
        *,
        state: Any,
        picture: Picture | None,
        summary: str = "",
        error: str | None = None,
        warning: str | None = None,
    ) -> None:
        self.state, self.picture = state, picture
        self.summary, self.error, self.warning = summary, error, warning
        self._error_line.value = _line(error, "alert", "error")
        self._warning_line.value = _line(warning, "alert", "warning")
        for line in self._summary_line:
            line.value = _line(summary, "status", "summary")

    def select(self, places: Mapping[str, int]) -> None:
        """Choose a place on one or more axes of the picture, as a click does.

        Parameters
        ----------
        places : dict of str to int
            By axis; axes that this panel does not select on are passed over.
        """
        wanted = {
            name: whole(name, places[axis], 0, 10**6)
            for axis, name in self.selects.items()
            if axis in places
        }
        changed = {name: v for name, v in wanted.items() if self.controls[name].value != v}
        if not changed or self._reacting:
            return
        self._reacting = True  # several controls, one reaction
        try:
            for name, value in changed.items():
                self.controls[name].value = value
        finally:
            self._reacting = False
            self._moved()

    def type_in(self, description: str, text: str) -> str:
        """Set a slider over uneven steps to a number typed beside it.

        Parameters
        ----------
        description : str
            Label of the slider.
        text : str
            What is no such number changes nothing.

        Returns
        -------
        str
            What the slider shows now.
        """
        control = next(c for c in self.controls.values() if c.description == description)
        value = control.read(text)
        if value is not None and not control.disabled:
            control.value = value
        return shown(control)

    def advance(self) -> bool:
        """Take the next step of what Play goes through; at the end it begins anew.

        Returns
        -------
        bool
            Whether there are more steps after this one.
        """
        if self.play is None or self.error is not None:
            return False
        control = self.controls[self.play]
        last = getattr(control, "limit", control.max)  # with one place a slider has two ends still
        following = getattr(control, "following", control.value + 1)  # of uneven steps
        control.value = following if control.value < last else control.min
        return bool(control.value < last)

    # -- pictures to keep --------------------------------------------------------------------------

    def figure(self) -> Any:
        """Draw what is on show as a matplotlib figure.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        SettingError
            While a bad setting leaves nothing on show.
        """
        if self.picture is None:
            raise SettingError(self.error or "")
        with language(self.language):
            return print_picture(self.picture, lay_out(self.picture, large=self.large))

    def save(self, path: str | Path) -> None:
        """Save what is on show to a file that ends in .png, .svg or .pdf."""
        save(self.figure(), path)

    def save_bytes(self, kind: str) -> bytes:
        """Return what is on show as the bytes of a file, `kind` being "png" or "svg"."""
        return figure_bytes(self.figure(), kind)

    def settings(self) -> str:
        """Say in one line how the controls stand, for pictures that come without them."""
        said = [
            label("panel_setting", name=control.description, value=shown(control))
            for control in self.controls.values()
            if not (control.disabled or isinstance(control, Press))
        ]
        return " · ".join(said)

    def _layout(self) -> Layout | None:
        return lay_out(self.picture, large=self.large) if self.picture else None

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The live widget, and beside it a picture for wherever no kernel answers."""
        closed = self.comm is None
        data: dict[str, Any] = {} if closed else super()._repr_mimebundle_(**kwargs)
        data["text/plain"] = self.summary or self.error or ""
        with language(self.language):
            png = still(self.picture, self._layout(), self.settings())
        data["image/png"] = base64.b64encode(png).decode("ascii")
        return data

    def _ipython_display_(self, **kwargs: Any) -> None:
        data = self._repr_mimebundle_()
        png, words = data["image/png"], data["text/plain"]
        publish: Any = display
        publish(data, metadata={"image/png": {"alt": words}}, raw=True)
        publish({"text/html": keepsake(png, words)}, raw=True)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary or self.error}>"

    def close(self) -> None:
        """Take the panel and all its parts off the screen and out of memory."""
        _live.discard(self)
        for part in [*self.children, self.layout]:
            _close(part)
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # which now is None and hides the method


def figure(make: Callable[..., Panel], **settings: Any) -> Any:
    """Draw a panel as it starts, without its controls: for print, or where no widget can be had.

    Parameters
    ----------
    make : callable
        One of the panel functions, such as ``panels.mask_panel``.
    **settings
        What to give it.

    Returns
    -------
    matplotlib.figure.Figure
        Shown in words and as a picture at the end of a cell, although pyplot does not know it.
    """
    panel = make(**(settings | {"view": "matplotlib"}))
    try:
        drawn, words = panel.figure(), panel.summary
    finally:
        panel.close()

    def show(**kwargs: Any) -> None:
        png = base64.b64encode(small_png(drawn)).decode("ascii")
        publish: Any = display
        data = {"text/plain": words, "image/png": png}
        publish(data, metadata={"image/png": {"alt": words}}, raw=True)

    # Before all else that knows how to show a figure: one picture, whether pyplot was used or not.
    drawn._ipython_display_ = show
    return drawn


def _close(part: Any) -> None:
    """Close a widget and all that belongs to it: ipywidgets leaves layout and style open."""
    part.unobserve_all()
    belonging = [*getattr(part, "children", ())]
    belonging += [getattr(part, name, None) for name in ("style", "layout")]
    for one in belonging:
        if isinstance(one, widgets.Widget):
            _close(one)
    part.close()


def _usual_numpy() -> np.errstate:
    """NumPy as it starts: a reader may have asked it to raise where a weight underflows."""
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    """Find the BLAS behind NumPy.

    Its threads spin while they wait for each other; on a machine whose cores also run the
    browser a small product then takes a hundred times as long now and then.
    """
    return ThreadpoolController()


def strict() -> bool:
    """Whether exceptions in callbacks are raised instead of shown, as in tests and builds."""
    return os.environ.get("ANDREA_STRICT") == "1"


def exercise_all() -> int:
    """Move each control of every live panel through its range, and put it back.

    Sliders go to both ends and the middle, choices through all options.

    Returns
    -------
    int
        Moves made.

    Raises
    ------
    Exception
        With ``ANDREA_STRICT=1``, the first that a move raised.
    """
    moves = 0
    for panel in list(_live):
        start = {
            name: (control.value, {m: getattr(control, m) for m in MEMORY if hasattr(control, m)})
            for name, control in panel.controls.items()
        }
        for control in panel.controls.values():
            with _put_back(panel, start):
                for value in stops(control):
                    control.value = value
                    moves += 1
    return moves


@contextmanager
def _put_back(panel: Panel, start: dict[str, Any]) -> Iterator[None]:
    try:
        yield
    finally:
        # All of them, and one reaction: one control may have moved the limits, and so the value,
        # of another, whose old value lies beyond the limits until the first is back as well.
        panel._reacting = True
        try:
            for name, (value, _) in start.items():
                panel.controls[name].value = value
        finally:
            panel._reacting = False
        panel._moved()
        for name, (_, memory) in start.items():
            vars(panel.controls[name]).update(memory)


# -- words -----------------------------------------------------------------------------------------


def _sentence(problem: Exception) -> str:
    if isinstance(problem, SettingError):
        return str(problem)
    words = f"{type(problem).__name__}: {problem}".replace("\n", " ")
    return label("panel_failed", problem=words)


# live.css sets the variables for dark themes.
_COLOURS = {
    "error": "var(--andrea-error, #b3261e)",
    "warning": "var(--andrea-warning, #8a4b00)",
    "summary": "inherit",
}


def _line(words: str | None, role: str, kind: str) -> str:
    if not words:
        return ""
    style = f"color: {_COLOURS[kind]}; line-height: 1.5"
    return f'<div role="{role}" style="{style}">{html.escape(words)}</div>'


def keepsake(png: str, words: str) -> str:
    """HTML that shows the still picture where the live panel cannot be had any more.

    JupyterLab prefers the live widget over the PNG in the same output and, in a notebook that
    it trusts, says "model not found" once the kernel is gone.  This second output stays out of
    sight beside a live panel or a PNG; beside neither it steps in for the first one.  It also
    stays out of sight in front ends built otherwise, and in browsers that know no ``:has()``
    (Firefox before 121), which pass over each rule that has it.
    """
    dead = ".jp-OutputArea-child:not(:has(.andrea-panel)):not(:has(img))"
    still = ".jp-OutputArea-child:has(> .jp-OutputArea-output .andrea-still)"
    mine = f"andrea-still-{zlib.crc32(png.encode()):08x}"
    width, height = struct.unpack(">II", base64.b64decode(png[:32])[16:24])  # of its header
    return (
        f'<div class="andrea-still {mine}" role="img" aria-label="{html.escape(words)}"><style>'
        f".andrea-still {{display: none}}"
        f"{still} {{display: none}}"
        f"{dead} + {still} {{display: flex}}"
        f"{dead} + {still} .andrea-still {{display: block}}"
        f"{dead}:has(+ .jp-OutputArea-child .andrea-still) {{display: none}}"
        f".{mine} {{aspect-ratio: {width}/{height}; max-width: {width}px; "
        f"background: url(data:image/png;base64,{png}) no-repeat; background-size: contain}}"
        f"</style></div>"
    )
