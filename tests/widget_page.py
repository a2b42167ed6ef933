"""A page that shows an anywidget without Jupyter: its module, a small model, Python behind it.

What the module sends is answered by the real widget of this process, as a kernel would.
"""

import json
from collections.abc import Callable
from typing import Any

from ipywidgets import DOMWidget
from playwright.sync_api import Browser, Page, Route

ADDRESS = "http://localhost/"

_HTML = """<!doctype html>
<meta charset="utf-8"><title>widget</title>
<style>body { margin: 8px; background: BACK; color: INK; font-family: sans-serif } CSS</style>
<div class="jp-Notebook" tabindex="0"><div class="jp-Cell" tabindex="0"><div class="andrea-panel">
<div id="views"></div></div></div></div><button id="after">after</button>
<script type="module">
import widget from "/widget.js";
const listeners = new Map(), state = {};
window.receive = (changes) => {
    for (const [name, value] of changes) {
        state[name] = value;
        [...(listeners.get(`change:${name}`) ?? [])].forEach((one) => one());
    }
};
window.sent = [];
const tell = async (content) => {
    window.sent.push(content);
    const changes = await window.python(content);
    if (window.hold) await window.hold;
    window.receive(changes);
};
const model = () => ({
    get: (name) => state[name],
    on: (name, one) => listeners.set(name, [...(listeners.get(name) ?? []), one]),
    off: (name, one) => listeners.set(name, (listeners.get(name) ?? []).filter((o) => o !== one)),
    send: (content) => {
        if (window.dead) throw new Error("no kernel");
        tell(JSON.parse(JSON.stringify(content)));
    },
});
window.listening = () => [...listeners.values()].reduce((sum, some) => sum + some.length, 0);
window.begin = (given) => Object.assign(state, given);
window.addView = async () => {
    const el = document.createElement("div");
    const end = await widget.render({ model: model(), el });
    document.querySelector("#views").append(el);  // only then, as Jupyter does
    await new Promise((one) => requestAnimationFrame(() => requestAnimationFrame(one)));
    return end;
};
window.loaded = true;
</script>"""


class WidgetPage:
    """A browser page with one view, or several, of a widget.

    Parameters
    ----------
    browser : Browser
    widget : AnyWidget
        Its traits that are told to the browser are those of the class itself.
    react : callable
        Takes (widget, content, buffers), as the widget's own listener does.
    dark : bool
    **context
        Of the browser: its size, touch, and so on.
    """

    def __init__(
        self,
        browser: Browser,
        widget: Any,
        react: Callable[[Any, Any, Any], None],
        *,
        dark: bool = False,
        **context: Any,
    ) -> None:
        self.widget, self._react, self._dark = widget, react, dark
        names = {*widget.traits(sync=True)} - {*DOMWidget.class_traits(sync=True)}
        self._names = [name for name in sorted(names) if not name.startswith("_")]
        self.context = browser.new_context(
            **({"viewport": {"width": 1366, "height": 768}, "locale": "en-US"} | context)
        )
        self.page: Page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console",
            lambda said: self.errors.append(said.text) if said.type == "error" else None,
        )
        self._changes: list[Any] = []
        widget.observe(self._changed, names=self._names)
        self.page.route("**/*", self._serve)
        self.page.expose_function("python", self._python)
        self.page.goto(ADDRESS)
        self.page.wait_for_function("window.loaded")
        self.page.evaluate("given => begin(given)", self.given())
        self._changes.clear()
        self.page.evaluate("async () => { window.remove = await addView() }")

    def given(self) -> dict[str, Any]:
        """All that the browser is given of the widget."""
        return json.loads(json.dumps({name: getattr(self.widget, name) for name in self._names}))

    def _serve(self, route: Route) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        if name == "widget.js":
            route.fulfill(body=self.widget._esm, content_type="text/javascript")
        elif name == "":
            back, ink = ("#111111", "#e8e8e8") if self._dark else ("#ffffff", "#1f2933")
            theme = f":root {{ --jp-content-font-color1: {ink}; --jp-layout-color0: {back} }}"
            html = _HTML.replace("CSS", self.widget._css + theme)
            html = html.replace("BACK", back).replace("INK", ink)
            route.fulfill(body=html, content_type="text/html")
        else:
            route.fulfill(status=204, body="")

    def _changed(self, change: Any) -> None:
        self._changes.append((change["name"], change["new"]))

    def _python(self, content: dict[str, Any]) -> list[Any]:
        self._react(self.widget, content, [])
        changes, self._changes = self._changes, []
        return json.loads(json.dumps(changes))

    def update(self) -> None:
        """Bring what Python has changed meanwhile to the page."""
        changes, self._changes = self._changes, []
        self.page.evaluate("changes => receive(changes)", json.loads(json.dumps(changes)))

    @property
    def sent(self) -> list[dict[str, Any]]:
        """What the module has said to Python."""
        return self.page.evaluate("sent")

    def focused(self) -> str:
        """What a screen reader says of the place where the keyboard is."""
        return self.page.evaluate(
            "() => { const one = document.activeElement;"
            " return [one.getAttribute('aria-label') ?? one.textContent,"
            " one.getAttribute('aria-valuetext')].filter(Boolean).join(': ') }"
        )

    def close(self) -> None:
        self.context.close()
