"""A picture drawn on canvases in the browser, by scripts that it brings along."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ..labels import LABELS, get_language, label, language
from .base import strict
from .dots import block_of, cell_behind
from .encode import MOST_CELLS, Plain, colour_tables, encode, readings
from .layout import Layout
from .picture import Matrix, Picture

_HERE = Path(__file__).parent
# One module in several files, each of which is one idea; they share their names.
_SCRIPTS = (
    *("live_looks.js", "live_matrix.js", "live_bars.js", "live_chart.js", "live_pen.js"),
    *("live_talk.js", "live_panel.js", "live_stage.js", "live.js"),
)
_OTHER_WORDS = ("nan_cells", "plus_infinity_cells", "minus_infinity_cells", "no_cells")


class Canvases(anywidget.AnyWidget):
    """What the browser knows of a picture; `picture` changes once for each move."""

    # Read here, not left to anywidget as paths: it would hold on to every widget ever made, in
    # case the files change.
    _esm = "\n".join((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    _css = (_HERE / "live.css").read_text(encoding="utf-8")
    picture = traitlets.Any({"revision": 0}).tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    maps = traitlets.Dict().tag(sync=True)
    language = traitlets.Unicode().tag(sync=True)
    plays = traitlets.Bool(False).tag(sync=True)
    stepped: Any = traitlets.List().tag(sync=True)

    def close(self) -> None:
        """Close the comm, and that of the layout, which ipywidgets would leave open."""
        layout = self.layout
        super().close()
        layout.close()


class LiveView:
    """Canvases that show a picture, and what a reader does with them.

    Parameters
    ----------
    select : callable
        Called with {axis: place} when a reader chooses a cell or a bar.
    advance : callable or None
        Takes the next step of what there is to watch, and returns whether more follow.
    save : callable
        Returns the picture as the bytes of a "png" or "svg".
    typed : callable, optional
        Called with the label of a slider and the text typed beside it; returns what to show.
    stepped : sequence of str
        Labels of sliders for which it is called.
    name : str
        Of the panel, for the names of files.

    Attributes
    ----------
    widget : Canvases
    """

    # Beneath the picture and in the same message: ipywidgets sends the next value of a slider
    # only when Python has sent its last message about the one before.
    says_summary = True

    def __init__(
        self,
        *,
        select: Callable[[Mapping[str, int]], None],
        advance: Callable[[], bool] | None,
        save: Callable[[str], bytes],
        typed: Callable[[str, str], str] | None = None,
        stepped: Sequence[str] = (),
        name: str = "panel",
    ) -> None:
        self._select, self._advance, self._save = select, advance, save
        self._typed, self._name = typed, name
        self._language = get_language()
        self._picture: Picture | None = None
        self._layout: Layout | None = None
        self._summary = ""
        self._chosen: dict[str, int] = {}
        self._revision = 0
        keys = [key for key in LABELS if key.startswith("live_")]
        self.widget = Canvases(
            words={key: label(key) for key in (*keys, *_OTHER_WORDS)},
            maps=colour_tables(),
            language=self._language,
            plays=advance is not None,
            stepped=list(stepped),
        )
        self.widget.on_msg(self._asked)

    def show(self, picture: Picture, layout: Layout, summary: str) -> None:
        """Draw a picture in place of the one before.

        Parameters
        ----------
        picture : Picture
        layout : Layout
            Of this picture.
        summary : str
            The picture in one sentence.
        """
        self._picture, self._layout, self._summary = picture, layout, summary
        self._send({"summary": summary, **encode(picture, layout, self._chosen)})

    def clear(self) -> None:
        """Show nothing, at the same size: no picture is better than one that is out of date."""
        self._picture = self._layout = None
        self._send({"cleared": True})

    def close(self) -> None:
        """Take the canvases off the screen and out of memory."""
        self.widget.on_msg(self._asked, remove=True)
        self.widget.close()

    def _send(self, plain: Plain) -> None:
        # The number comes first: who compares two pictures need not look any further.
        self._revision += 1
        self.widget.picture = {"revision": self._revision, **plain}

    # -- questions from the browser ----------------------------------------------------------------

    def _asked(self, widget: Any, content: Plain, buffers: Any) -> None:
        """Answer one question, always, so that the browser may put the next one."""
        kinds = {
            "select": self._on_select,
            "ask": self._on_ask,
            "advance": self._on_advance,
            "save": self._on_save,
            "typed": self._on_typed,
        }
        answer: Plain = {}
        data: bytes | None = None
        try:
            with language(self._language):
                answer, data = kinds[content["type"]](content)
        except Exception as problem:
            answer = {"problem": f"{type(problem).__name__}: {problem}".replace("\n", " ")}
            if strict():
                raise
        finally:
            answer |= {"type": "answer", "view": content.get("view"), "id": content.get("id")}
            answer["revision"] = self._revision
            self.widget.send(answer, None if data is None else [data])

    def _on_select(self, content: Plain) -> tuple[Plain, None]:
        """Choose places; a dot of a large matrix is asked for by its own row and column."""
        if "dot" in content:
            part = self._matrix(content["part"])
            if part is None:
                return {}, None
            row, column = self._cell(part, content)
            places = {part.rows: row, part.columns: column}
        else:
            places = {axis: int(place) for axis, place in content["places"].items()}
        before = self._revision
        self._chosen |= places
        self._select(places)
        if self._revision == before and self._picture is not None and self._layout is not None:
            # The panel has no say in these places; tables of large matrices follow them.
            large = [p for p in self._picture.parts.values() if isinstance(p, Matrix)]
            if any(part.values.size > MOST_CELLS for part in large):
                self.show(self._picture, self._layout, self._summary)
        return {"places": places}, None

    def _on_ask(self, content: Plain) -> tuple[Plain, None]:
        """Read a cell whose numbers did not go along."""
        part = self._matrix(content["part"])
        if part is None or self._picture is None:
            return {}, None
        row, column = self._cell(part, content)
        if not (0 <= row < part.values.shape[0] and 0 <= column < part.values.shape[1]):
            return {}, None  # of a picture that is no longer there
        said = readings(self._picture, part, row, column)
        return {"places": {part.rows: row, part.columns: column}, "readings": said}, None

    def _on_advance(self, content: Plain) -> tuple[Plain, None]:
        """Take a step, unless another view of the same picture has just taken it."""
        if self._advance is None:
            return {"more": False}, None
        if content.get("revision") != self._revision:
            return {"more": True}, None
        return {"more": bool(self._advance())}, None

    def _on_save(self, content: Plain) -> tuple[Plain, bytes]:
        kind = content["kind"]
        return {"name": f"andrea-{self._name}.{kind}"}, self._save(kind)

    def _on_typed(self, content: Plain) -> tuple[Plain, None]:
        """Set a slider to what was typed beside it, and say what stands there now."""
        if self._typed is None:
            return {}, None
        return {"shown": self._typed(content["name"], content["text"])}, None

    def _matrix(self, name: str) -> Matrix | None:
        part = self._picture.parts.get(name) if self._picture else None
        return part if isinstance(part, Matrix) else None

    def _cell(self, part: Matrix, content: Plain) -> tuple[int, int]:
        if "dot" not in content:
            return int(content["row"]), int(content["column"])
        assert self._layout is not None
        zoom = self._layout.zoom
        dots = zip(part.values.shape, block_of(part, zoom), strict=True)
        row, column = (
            min(int(place), -(-count // cells) - 1)
            for place, (count, cells) in zip(content["dot"], dots, strict=True)
        )
        return cell_behind(part, row, column, zoom)
