"""What all panels share: controls → compute → view, one reaction a move, one line for errors."""

import base64
import html
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import ipywidgets as widgets
from IPython.display import display

from ..labels import get_language, label, language
from .controls import MEMORY, stops
from .settings import SettingError
from .view import WIDTH, PictureView

_live: "WeakSet[Panel]" = WeakSet()


class Panel(widgets.VBox):  # type: ignore[misc]
    """Controls, a picture that follows them, and the picture in words.

    Parameters
    ----------
    controls : dict of str to widget
        The order is that on the screen.
    compute : callable
        Takes the values of the controls by name and returns a frozen dataclass.
    view : PictureView
        Shows such a dataclass.
    summarise : callable
        Says in one sentence what is on show.
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
        view: PictureView,
        summarise: Callable[[Any], str],
        *,
        warn: Callable[[Any], str | None] = lambda state: None,
        prepare: Callable[[dict[str, Any]], None] = lambda controls: None,
    ) -> None:
        self.controls: dict[str, Any] = dict(controls)
        self.view = view
        self.language = get_language()
        self.state: Any = None
        self.summary = ""
        self.error: str | None = None
        self.warning: str | None = None
        self._compute, self._summarise, self._warn = compute, summarise, warn
        self._prepare = prepare
        self._reacting = False
        # Each line keeps its place while it is empty, so that nothing below it jumps.
        self._error_line, self._warning_line, self._summary_line = (
            widgets.HTML(layout=widgets.Layout(width="100%", min_height="22px", margin="0"))
            for _ in range(3)
        )
        box = widgets.Box(
            list(self.controls.values()),
            layout=widgets.Layout(flex_flow="row wrap", align_items="center", width="100%"),
        )
        lines = [self._error_line, view.widget, self._warning_line, self._summary_line]
        super().__init__(
            [box, *lines],
            layout=widgets.Layout(width=f"{WIDTH}px", max_width="100%", overflow="hidden"),
        )
        self.add_class("andrea-panel")
        for control in self.controls.values():
            control.observe(self._moved, names="value")
        _live.add(self)
        self._moved()

    def _moved(self, change: Any = None) -> None:
        """React to a control; what `prepare` sets meanwhile belongs to the same move."""
        if self._reacting:
            return
        self._reacting = True
        try:
            with language(self.language):
                self._react()
        finally:
            self._reacting = False

    def _react(self) -> None:
        try:
            self._prepare(self.controls)
            state = self._compute(**{name: c.value for name, c in self.controls.items()})
            self.view.show(state)
            summary, warning = self._summarise(state), self._warn(state)
            summary = summary[:1].upper() + summary[1:]
        except Exception as problem:
            self.view.clear()
            self._say(state=None, error=_sentence(problem))
            if strict():
                raise
        else:
            self._say(state=state, summary=summary, warning=warning)

    def _say(
        self,
        *,
        state: Any,
        summary: str = "",
        error: str | None = None,
        warning: str | None = None,
    ) -> None:
        self.state, self.summary, self.error, self.warning = state, summary, error, warning
        self._error_line.value = _line(error, "alert", "#b3261e")
        self._warning_line.value = _line(warning, "alert", "#8a4b00")
        self._summary_line.value = _line(summary, "status", "inherit")

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The live widget, and beside it a picture for wherever no kernel answers."""
        closed = self.comm is None
        data: dict[str, Any] = {} if closed else super()._repr_mimebundle_(**kwargs)
        data["text/plain"] = self.summary or self.error or ""
        with language(self.language):
            data["image/png"] = base64.b64encode(self.view.still()).decode("ascii")
        return data

    def _ipython_display_(self, **kwargs: Any) -> None:
        data = self._repr_mimebundle_()
        png, words = data["image/png"], data["text/plain"]
        publish: Any = display
        publish(data, metadata={"image/png": {"alt": words}}, raw=True)
        publish({"text/html": _keepsake(png, words, *self.view.still_size)}, raw=True)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary or self.error}>"

    def close(self) -> None:
        """Take the panel and all its parts off the screen and out of memory."""
        _live.discard(self)
        for control in self.controls.values():
            control.unobserve_all()
            control.close()
        for part in self.children:
            part.close()
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # which now is None and hides the method


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
        # All of them: one control may have moved the limits, and so the value, of another.
        for name, (value, _) in start.items():
            panel.controls[name].value = value
        for name, (_, memory) in start.items():
            vars(panel.controls[name]).update(memory)


# -- words -----------------------------------------------------------------------------------------


def _sentence(problem: Exception) -> str:
    if isinstance(problem, SettingError):
        return str(problem)
    words = f"{type(problem).__name__}: {problem}".replace("\n", " ")
    return label("panel_failed", problem=words)


def _line(words: str | None, role: str, colour: str) -> str:
    if not words:
        return ""
    return (
        f'<div role="{role}" style="color: {colour}; line-height: 1.5">{html.escape(words)}</div>'
    )


def _keepsake(png: str, words: str, width: int, height: int) -> str:
    """HTML that shows the still picture where the live panel cannot be had any more.

    JupyterLab prefers the live widget over the PNG in the same output and, in a notebook that
    it trusts, says "model not found" once the kernel is gone.  This second output stays out of
    sight beside a live panel or a PNG; beside neither it steps in for the first one.
    """
    dead = ".jp-OutputArea-child:not(:has(.andrea-panel)):not(:has(img))"
    still = ".jp-OutputArea-child:has(> .jp-OutputArea-output .andrea-still)"
    mine = f"andrea-still-{zlib.crc32(png.encode()):08x}"
    return (
        f'<div class="andrea-still {mine}" role="img" aria-label="{html.escape(words)}"><style>'
        f"{still} {{display: none}}"
        f"{dead} + {still} {{display: flex}}"
        f"{dead}:has(+ .jp-OutputArea-child .andrea-still) {{display: none}}"
        f".{mine} {{aspect-ratio: {width}/{height}; max-width: {width}px; "
        f"background: url(data:image/png;base64,{png}) no-repeat; background-size: contain}}"
        f"</style></div>"
    )
