"""The real command, driven through a real headless Chromium.

Fixtures: ``chromium`` (a browser for one test module), ``lab`` (the command on the lesson's own
notebooks, one server for all tests) and ``lab_page`` (a fresh browser tab on that server).
A test module that uses them imports them::

    from lab_server import chromium, lab, lab_page

Nothing leaves the machine while these tests run: names outside do not resolve in this
Chromium, and what the page, the server or a kernel asked of other hosts is written down.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sysconfig
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from needs import unavailable
from playwright.sync_api import Browser, Locator, Page, Route, sync_playwright

VIEWPORT = {"width": 1366, "height": 768}
_LOCAL = ("127.0.0.1", "localhost", "::1", "")

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)

# Run by Python at its start, in the server and in every kernel: notes each host that is asked.
_WATCH_NETWORK = """\
import os, sys

def note(event, arguments):
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        address = arguments[0]
    else:
        return
    if isinstance(address, tuple):
        address = address[0]
    if isinstance(address, bytes):
        address = address.decode("utf-8", "replace")
    with open(os.environ["ANDREA_TEST_NETWORK"], "a", encoding="utf-8") as file:
        file.write(f"{address}\\n")

sys.addaudithook(note)
"""


def chromium_path() -> str | None:
    """Path of a Chromium on this machine; ``ANDREA_CHROMIUM`` names one elsewhere."""
    return os.environ.get("ANDREA_CHROMIUM") or next(filter(None, map(shutil.which, _CHROMIUM)), "")


@dataclass
class Lab:
    """A running ``andrea-lesson``."""

    url: str
    folder: Path
    log: Path
    network: Path

    @property
    def token(self) -> str:
        """The token that the server made up and printed."""
        return re.search(r"\?token=([0-9a-f]{32,})", self.printed())[1]

    def printed(self) -> str:
        """What the command has printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def get(self, path: str, token: str | None = None, method: str = "GET") -> tuple[int, str]:
        """Status and text of a request, by default without the token."""
        headers = {"Authorization": f"token {token}"} if token else {}
        request = urllib.request.Request(self.url + path, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode("utf-8", "replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode("utf-8", "replace")

    def end_kernels(self) -> None:
        """End what the notebooks of a test left running."""
        for session in json.loads(self.get("/api/sessions", self.token)[1]):
            self.get(f"/api/sessions/{session['id']}", self.token, "DELETE")

    def hosts_outside(self) -> set[str]:
        """Other machines that the server or its kernels looked up or called."""
        if not self.network.exists():
            return set()
        hosts = set(self.network.read_text(encoding="utf-8").splitlines())
        # paths are sockets inside this machine; its own name is asked by Jupyter at the start
        return {host for host in hosts - {*_LOCAL, "None", socket.gethostname()} if host[0] != "/"}


@contextmanager
def running_lab(base: Path, *arguments: str, environment: dict[str, str] | None = None):
    """Start ``andrea-lesson --no-browser`` and stop it afterwards.

    Settings, data and runtime files of Jupyter lie in `base`, and the working copy in
    ``base / "my-lesson"``: what the user of this machine has set does not count.
    """
    command = shutil.which("andrea-lesson", path=sysconfig.get_path("scripts"))
    assert command, "the package is not installed: no andrea-lesson beside this Python"
    base.mkdir(parents=True, exist_ok=True)
    watch = base / "watch"
    watch.mkdir()
    (watch / "sitecustomize.py").write_text(_WATCH_NETWORK, encoding="utf-8")
    port = free_port()
    lab = Lab(f"http://127.0.0.1:{port}", base / "my-lesson", base / "log", base / "network")
    settings = {
        "JUPYTER_CONFIG_DIR": str(base / "config"),
        "JUPYTER_DATA_DIR": str(base / "data"),
        "JUPYTER_RUNTIME_DIR": str(base / "runtime"),
        "IPYTHONDIR": str(base / "ipython"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(watch), os.environ.get("PYTHONPATH")])),
        "ANDREA_TEST_NETWORK": str(lab.network),
        "PYTHONUTF8": "1",
        **(environment or {}),
    }
    # the tests' own backend would keep figures out of the notebooks
    inherited = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    with lab.log.open("wb") as log:
        process = subprocess.Popen(
            [
                *(command, "--no-browser", "--port", str(port), "--dir", str(lab.folder)),
                *("--port-retries=0", "--expose-app-in-browser"),
                "--JupyterNotebookApp.expose_app_in_browser=True",  # Notebook 7, beside the lab
                *arguments,
            ],
            cwd=base,
            env=inherited | settings,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_for_server(lab, process)
        yield lab
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _wait_for_server(lab: Lab, process: subprocess.Popen, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if lab.get("/api")[0] == 200 and "token=" in lab.printed():
                return
        except OSError:
            pass
        time.sleep(0.2)
    pytest.fail(f"andrea-lesson serves nothing; it printed:\n{lab.printed()}", pytrace=False)


# What is asked of JupyterLab itself; cells out of sight are not in the page, but in its model.
_OPENED = """() => {
    const panel = window.jupyterapp?.shell.currentWidget;
    return panel?.context?.isReady && panel.sessionContext?.isReady &&
        panel.sessionContext.session?.kernel?.status === "idle";
}"""
_CLEAR = "() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"
_STARTED = """() => window.jupyterapp.shell.currentWidget.content.widgets.some(
    (cell) => cell.model.type === "code" && (cell.prompt === "*" || cell.model.executionCount))"""
_IDLE = """() => {
    const panel = window.jupyterapp.shell.currentWidget;
    const waiting = panel.content.widgets.some(
        (cell) => cell.model.type === "code" &&
            (cell.prompt === "*" || cell.model.executionState === "running"));
    return panel.sessionContext.session?.kernel?.status === "idle" && !waiting;
}"""
_CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets.map(
    (cell) => cell.model.toJSON())"""
_SHOW = """async (index) => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = index;
    await notebook.scrollToItem(index, "start");
}"""


@dataclass
class LabPage:
    """A browser tab with JupyterLab, on one notebook at a time."""

    page: Page
    lab: Lab
    outside: list[str] = field(default_factory=list)

    def open(self, notebook: str | None = None) -> None:
        """Open a notebook of the working copy, or what the command itself would open."""
        path = f"/lab/tree/{quote(notebook)}" if notebook else self.first_path()
        # reset: no tabs of an earlier test
        self.page.goto(f"{self.lab.url}{path}?reset&token={self.lab.token}")
        self.page.wait_for_selector(".jp-NotebookPanel:not(.lm-mod-hidden)", timeout=60_000)
        self.page.wait_for_function(_OPENED, timeout=60_000)

    def first_path(self) -> str:
        """Path of the address that the command printed for the browser."""
        words = self.lab.printed().split()
        address = next(word for word in words if word.startswith(self.lab.url))
        return urlsplit(address).path

    def run_all(self, seconds: float = 120) -> None:
        """Run all cells through the menu and wait until the last one has ended.

        Stored outputs are cleared first, so that what is found afterwards is of this run.
        """
        self.page.evaluate(_CLEAR)
        self.page.locator(".lm-MenuBar-itemLabel", has_text="Run").click()
        self.page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
        self.page.wait_for_function(_STARTED, timeout=20_000)
        self.wait_until_idle(seconds)

    def wait_until_idle(self, seconds: float = 60) -> None:
        """Wait until no cell runs or waits, and the kernel stays idle for a moment."""
        deadline = time.monotonic() + seconds
        quiet = 0
        while quiet < 3:
            assert time.monotonic() < deadline, f"the notebook still runs after {seconds} s"
            quiet = quiet + 1 if self.page.evaluate(_IDLE) else 0
            self.page.wait_for_timeout(150)

    def cells(self) -> list[dict[str, Any]]:
        """All cells in the form of nbformat, outputs included."""
        return self.page.evaluate(_CELLS)

    def errors(self) -> list[str]:
        """Error outputs, and code cells that never ran, one line each."""
        found = []
        for number, cell in enumerate(self.cells()):
            if cell["cell_type"] != "code" or not "".join(cell["source"]).strip():
                continue
            if cell["execution_count"] is None:
                found.append(f"cell {number}: did not run")
            for output in cell["outputs"]:
                if output["output_type"] == "error":
                    found.append(f"cell {number}: {output['ename']}: {output['evalue']}")
        return found

    def index_of(self, text: str) -> int:
        """Number of the first code cell whose source contains a text."""
        for number, cell in enumerate(self.cells()):
            if cell["cell_type"] == "code" and text in "".join(cell["source"]):
                return number
        raise AssertionError(f"no code cell contains {text!r}")

    def show_cell(self, index: int) -> Locator:
        """Bring a cell into sight; JupyterLab draws only those."""
        self.page.evaluate(_SHOW, index)
        cell = self.page.locator(
            f'.jp-NotebookPanel:not(.lm-mod-hidden) [data-windowed-list-index="{index}"]'
        )
        cell.wait_for(timeout=10_000)
        return cell

    def screenshot(self, path: Path) -> Path:
        """Picture of the tab as it is, 1366 × 768."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=path, animations="disabled")
        return path

    def screenshots(self, folder: Path, stem: str) -> list[Path]:
        """Pictures of the whole notebook, from top to bottom, one screen each."""
        scroller = self.page.locator(
            ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer"
        )
        scroller.evaluate("one => one.scrollTop = 0")
        pictures: list[Path] = []
        while True:
            self.page.wait_for_timeout(700)  # cells that come into sight draw themselves
            pictures.append(self.screenshot(folder / f"{stem}_{len(pictures) + 1:02}.png"))
            moved = scroller.evaluate(
                "one => { const before = one.scrollTop;"
                " one.scrollTop += 0.9 * one.clientHeight; return one.scrollTop - before; }"
            )
            if moved < 5:
                return pictures

    def dialogs(self) -> list[str]:
        """Texts of dialogs and notifications on show."""
        return self.page.locator(".jp-Dialog, .Toastify__toast").all_inner_texts()


@contextmanager
def lab_tab(browser: Browser, lab: Lab, **how: Any) -> Iterator[LabPage]:
    """Open a fresh tab on a running lab; what it asks of other hosts is stopped and noted.

    `how` is for the browser, such as ``has_touch=True``.
    """
    context = browser.new_context(**({"viewport": VIEWPORT, "locale": "en-US"} | how))
    tab = LabPage(context.new_page(), lab)

    def watch(route: Route) -> None:
        if urlsplit(route.request.url).hostname in _LOCAL:
            route.continue_()
        else:
            tab.outside.append(route.request.url)
            route.abort()

    def watch_socket(socket: Any) -> None:
        if urlsplit(socket.url).hostname not in _LOCAL:
            tab.outside.append(socket.url)

    context.route("**/*", watch)
    tab.page.on("websocket", watch_socket)
    try:
        yield tab
    finally:
        context.close()
        lab.end_kernels()


@pytest.fixture(scope="module")  # while it is open, this thread's event loop is taken
def chromium() -> Iterator[Browser]:
    """A headless Chromium of this machine."""
    path = chromium_path()
    if not path:
        unavailable(f"no Chromium was found ({', '.join(_CHROMIUM)}, or ANDREA_CHROMIUM)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_CHROMIUM_ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The command with its defaults: Traditional Chinese, the lesson's own notebooks."""
    with running_lab(tmp_path_factory.mktemp("lab") / "課程 一") as one:
        yield one


@pytest.fixture
def lab_page(chromium: Browser, lab: Lab) -> Iterator[LabPage]:
    """A fresh tab on `lab`."""
    with lab_tab(chromium, lab) as tab:
        yield tab
