"""A page that shows a live view without Jupyter: `live.js`, a small model, and Python behind it.

What the module sends is answered by the real `LiveView` of this process, as a kernel would.
"""

import base64
import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Route

import andrea_lesson.panels
from andrea_lesson.panels.live import LiveView

FOLDER = Path(andrea_lesson.panels.__file__).parent
ADDRESS = "http://localhost/"

_HTML = """<!doctype html>
<meta charset="utf-8"><title>live view</title>
<style>body { margin: 8px; font-family: sans-serif } CSS</style>
<div class="jp-Notebook" tabindex="0"><div class="jp-Cell" tabindex="0"><div class="andrea-panel">
EXTRA<div id="views"></div></div></div></div>
<script type="module">
import start from "/live.js";
const unpacked = (value) => {
    if (Array.isArray(value)) return value.map(unpacked);
    if (value === null || typeof value !== "object") return value;
    if ("$bytes" in value) {
        // as from a network: the bytes need not begin where numbers may begin
        const text = atob(value.$bytes), data = new Uint8Array(text.length + 1);
        for (let n = 0; n < text.length; n++) data[n + 1] = text.charCodeAt(n);
        return new DataView(data.buffer, 1);
    }
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unpacked(one)]));
};
const listeners = new Map(), state = {};
const tell = (name, ...what) => [...(listeners.get(name) ?? [])].forEach((one) => one(...what));
window.receive = (events) => {
    for (const event of events) {
        if (event.picture) {
            state.picture = unpacked(event.picture);
            const start = performance.now();
            tell("change:picture");
            window.drawing.push(performance.now() - start);
        }
        if (event.answer) tell("msg:custom", event.answer, unpacked(event.buffers));
    }
};
window.sent = [];
window.drawing = [];  // milliseconds
const model = () => ({
    get: (name) => state[name],
    on: (name, one) => listeners.set(name, [...(listeners.get(name) ?? []), one]),
    off: (name, one) => listeners.set(name, (listeners.get(name) ?? []).filter((o) => o !== one)),
    send: async (content) => {
        window.sent.push(content);
        if (!window.deaf) window.receive(await window.python(content));
    },
});
window.listening = () => [...listeners.values()].reduce((sum, some) => sum + some.length, 0);
window.begin = (given) => {
    Object.assign(state, unpacked(given));
    window.widget = start();
    window.end = window.widget.initialize({ model: model() });
};
window.addView = async () => {
    const el = document.createElement("div");
    const end = await window.widget.render({ model: model(), el });
    document.querySelector("#views").append(el);  // only then, as Jupyter does
    await new Promise((one) => requestAnimationFrame(() => requestAnimationFrame(one)));
    return end;
};
window.loaded = true;
</script>"""


def packed(value: Any) -> Any:
    """Plain data with its bytes as JSON can have them."""
    if isinstance(value, (bytes, memoryview)):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, dict):
        return {name: packed(one) for name, one in value.items()}
    return [packed(one) for one in value] if isinstance(value, (list, tuple)) else value


class LivePage:
    """A browser page with one view, or several, of a `LiveView`."""

    def __init__(
        self, browser: Browser, view: LiveView, *, extra: str = "", **context: Any
    ) -> None:
        self.view = view
        self.context = browser.new_context(
            **({"viewport": {"width": 980, "height": 760}, "locale": "en-US"} | context)
        )
        self.page: Page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console",
            lambda said: self.errors.append(said.text) if said.type == "error" else None,
        )
        self._events: list[dict[str, Any]] = []
        view.widget.observe(self._picture, names="picture")
        view.widget.send = self._answer
        self.page.route("**/*", self._serve)
        self._extra, self._layout = extra, view._layout
        self.page.expose_function("python", self._python)
        self.page.goto(ADDRESS)
        self.page.wait_for_function("window.loaded")
        names = ("picture", "words", "maps", "language", "plays")
        self.page.evaluate(
            "given => begin(given)", packed({name: getattr(view.widget, name) for name in names})
        )
        self._events.clear()
        self.page.evaluate("async () => { window.remove = await addView() }")

    def _serve(self, route: Route) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        if name == "live.js":
            route.fulfill(body=self.view.widget._esm, content_type="text/javascript")
        elif name == "":
            html = _HTML.replace("CSS", self.view.widget._css).replace("EXTRA", self._extra)
            route.fulfill(body=html, content_type="text/html")
        else:
            route.fulfill(status=204, body="")

    def _picture(self, change: Any) -> None:
        self._events.append({"picture": packed(change["new"])})

    def _answer(self, content: Any, buffers: Any = None) -> None:
        self._events.append({"answer": content, "buffers": packed(list(buffers or []))})

    def _python(self, content: dict[str, Any]) -> list[dict[str, Any]]:
        self.view._asked(self.view.widget, content, [])
        events, self._events = self._events, []
        return json.loads(json.dumps(events))

    def update(self) -> None:
        """Bring what Python has shown meanwhile to the page, as a slider's move would."""
        events, self._events = self._events, []
        # of pictures in quick succession each is drawn with the next frame
        self.page.evaluate(
            "events => { receive(events); return new Promise(requestAnimationFrame); }",
            json.loads(json.dumps(events)),
        )

    def point_of(self, part: str, across: float, down: float) -> tuple[float, float]:
        """Place on the page of a point of a part, as shares of its plot."""
        self._layout = layout = self.view._layout or self._layout
        box, edge = layout.boxes[part], self.page.locator(".andrea-stage").first.bounding_box()
        scale = edge["width"] / layout.width
        return (
            edge["x"] + (box.left + across * box.width) * scale,
            edge["y"] + (box.top + down * box.height) * scale,
        )

    def cell(self, part: str, row: int, column: int) -> tuple[float, float]:
        """Place on the page of the middle of a cell."""
        rows, columns = self.view._picture.parts[part].values.shape
        return self.point_of(part, (column + 0.5) / columns, (row + 0.5) / rows)

    @property
    def reading(self) -> str:
        """The line under the pictures."""
        return self.page.locator(".andrea-reading").first.inner_text()

    def sent(self, kind: str) -> list[dict[str, Any]]:
        """What the module has asked of Python."""
        return self.page.evaluate("kind => sent.filter((one) => one.type === kind)", kind)

    def close(self) -> None:
        self.context.close()
