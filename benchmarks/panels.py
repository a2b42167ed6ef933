"""How fast the panels follow the hand, in JupyterLab in a real headless Chromium on two cores.

Run: python benchmarks/panels.py [--presses 60] [--quick]

Prints, beside the targets: key press to picture for `interact` with a new matplotlib figure (of
three heatmaps, and of the five that our panel shows) and for `attention_panel`, a drag of 200
events in 3 s, the first panel after its cell is run, and what 2,000 random moves over all panels
leave behind.  ``ANDREA_CHROMIUM`` names a Chromium that
is not on the path.

`panels_page.js` watches inside the page.  A press counts from the time stamp of its event, a
picture to the end of the task that draws it on canvases, or to the moment when an image gets
its source; "2 frames" is when two animation frames have come after that.
"""

import argparse
import asyncio
import json
import math
import os
import platform
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from typing import Any

import nbformat
from playwright.sync_api import Browser, Locator, Page, sync_playwright
from tornado.websocket import websocket_connect

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
import lab_server  # noqa: E402
from lab_server import Lab, LabPage  # noqa: E402

CORES = 2
WARM_UP = 8
PAUSE_MS = 100  # between presses: by then the kernel is idle again
START = 8  # d_k before the first press
DRAGS = 7
SETTLE = 1.5  # seconds after a drag

INTERACT = """\
import matplotlib.pyplot as plt
import numpy as np
from ipywidgets import interact

@interact(T=(1, {T}), d_k=(1, 256))
def attention(T={T}, d_k={d_k}):
    Q, K, V = np.random.default_rng(0).standard_normal((3, T, d_k))
    scores = Q @ K.T
    scaled = scores / np.sqrt(d_k)
    masked = np.where(np.tri(T, dtype=bool), scaled, -np.inf)
    weights = np.exp(masked - masked.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    steps = dict(scores=scores, scaled=scaled, masked=masked, weights=weights, output=weights @ V)
    names = {names}
    fig, axes = plt.subplots(1, len(names), figsize=(4 * len(names), 3.5))
    for ax, name in zip(axes, names):
        fig.colorbar(ax.imshow(steps[name], aspect="auto"), ax=ax)
        ax.set_title(name)
    plt.show()
"""
FIVE = ["scores", "scaled", "masked", "weights", "output"]  # what our panel shows
THREE = ["scores", "masked", "weights"]
IMPORTS = "import andrea_lesson as al\nfrom andrea_lesson import panels"
OURS = """\
panel = panels.attention_panel()
panel.controls["T"].value, panel.controls["d_k"].value = {T}, {d_k}
panel
"""
SHOWN = "shown[{name!r}] = panels.{name}()\nshown[{name!r}]"


# -- table -----------------------------------------------------------------------------------------


def heading(words: str) -> None:
    print(f"\n{words}\n{'-' * len(words)}")


def report(words: str, number: float, unit: str = "ms", wanted: str = "") -> None:
    """Print one line; `wanted` is like "<= 25" or ">= 20", and empty where nothing is asked."""
    line = f"{words:<58}{number:>9,.1f} {unit:<5}"
    if wanted:
        sign, limit = wanted.split()
        good = number <= float(limit) if sign == "<=" else number >= float(limit)
        line += f"wanted {wanted:<9}{'met' if good else 'missed'}"
    print(line.rstrip(), flush=True)


def p95(numbers: list[float]) -> float:
    return sorted(numbers)[math.ceil(0.95 * len(numbers)) - 1]


# -- notebooks and sliders -------------------------------------------------------------------------


@contextmanager
def notebook(browser: Browser, lab: Lab, name: str, sources: list[str]) -> Iterator[LabPage]:
    """A fresh tab that watches itself, on a new notebook with a kernel of its own."""
    written = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(written, lab.folder / f"{name}.ipynb")
    with lab_server.lab_tab(browser, lab) as tab:
        tab.page.add_init_script(path=HERE / "panels_page.js")
        tab.open(f"{name}.ipynb")
        yield tab


def slider(page: Page, cell: Locator, name: str) -> Locator:
    """The handle of a slider on show."""
    label = page.locator(".widget-label", has_text=name)
    return cell.locator(".widget-inline-hbox").filter(has=label).locator(".noUi-handle").first


def in_kernel(page: Page, code: str) -> dict[str, Any]:
    answer = page.evaluate("code => andreaProbe.execute(code)", code)
    assert answer["status"] == "ok", answer["said"]
    return answer


# -- key press to picture --------------------------------------------------------------------------


def press_keys(tab: LabPage, cell: Locator, presses: int) -> list[dict[str, float]]:
    """Press an arrow key at the slider for d_k, again and again; what each press led to."""
    page, handle = tab.page, slider(tab.page, cell, "d_k")
    handle.focus()
    page.wait_for_timeout(1000)
    noted = []
    for number in range(WARM_UP + presses):
        key = "ArrowRight" if number // 100 % 2 == 0 else "ArrowLeft"  # no value twice in a row
        page.evaluate("() => andreaProbe.start()")
        page.keyboard.press(key)
        page.evaluate("() => andreaProbe.picture()")
        page.wait_for_timeout(PAUSE_MS)
        log = page.evaluate("() => andreaProbe.log()")
        (pressed,), picture = log["keys"], log["pictures"][-1]
        check_words(cell, handle)
        noted.append(
            {
                "drawn": picture["drawn"] - pressed,
                "frames": picture["frames"] - pressed,
                "pictures": len(log["pictures"]),
                "messages": len(log["messages"]),
                "kilobytes": sum(one["bytes"] for one in log["messages"]) / 1000,
            }
        )
    return noted[WARM_UP:]


def check_words(cell: Locator, handle: Locator) -> None:
    """See that a panel, where there is one, says the value at which the slider stands."""
    value = float(handle.get_attribute("aria-valuenow") or "nan")
    said = [words for words in cell.locator("[role=status]").all_inner_texts() if "d_k" in words]
    wrong = [words for words in said if f"d_k = {value:g}" not in words]
    assert not wrong, f"the slider stands at {value:g}, but: {wrong[0]}"


def tell_presses(who: str, noted: list[dict[str, float]], limits: tuple[str, str]) -> float:
    def every(name: str) -> list[float]:
        return [one[name] for one in noted]

    report(f"{who}: median", median(every("drawn")), "ms", limits[0])
    report(f"{who}: 95th percentile", p95(every("drawn")), "ms", limits[1])
    report(f"{who}: median, 2 frames later", median(every("frames")))
    report(f"{who}: 95th percentile, 2 frames later", p95(every("frames")))
    report(f"{who}: pictures a press", mean(every("pictures")), "")
    report(f"{who}: messages a press, both ways", mean(every("messages")), "")
    report(f"{who}: bytes a press, both ways", mean(every("kilobytes")), "kB")
    return median(every("drawn"))


def compare(browser: Browser, lab: Lab, T: int, presses: int, limits: tuple[str, str, str]) -> None:
    heading(f"Key press to drawn picture, T = {T}")
    three, five, ours = "interact, 3 heatmaps", "interact, the same 5", "ours"
    medians = {}
    for who, sources, given in (
        (three, [INTERACT], ("", "")),
        (five, [INTERACT], ("", "")),
        (ours, [IMPORTS, OURS], limits[:2]),
    ):
        names = THREE if who == three else FIVE
        sources = [source.format(T=T, d_k=START, names=names) for source in sources]
        with notebook(browser, lab, f"{who.split(',')[0]}_{len(names)}_{T}", sources) as tab:
            tab.run_all()
            assert tab.errors() == []
            cell = tab.show_cell(len(sources) - 1)
            medians[who] = tell_presses(who, press_keys(tab, cell, presses), given)
    report(f"{three} / ours", medians[three] / medians[ours], "")
    report(f"{five} / ours", medians[five] / medians[ours], "", limits[2])


# -- drag ------------------------------------------------------------------------------------------


def send_mouse(port: int, url: str, path: list[tuple[float, float, float]]) -> None:
    """Move the real mouse along (seconds, x, y), on time, however busy the page is; let it go."""

    async def go() -> None:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            (page,) = (one for one in json.load(answer) if one["url"].startswith(url))
        socket = await websocket_connect(page["webSocketDebuggerUrl"])
        clock = asyncio.get_running_loop().time
        begun = clock()
        for number, (due, x, y) in enumerate([*path, path[-1]]):
            await asyncio.sleep(max(0, begun + due - clock()))
            where = {"type": "mouseMoved", "x": x, "y": y, "button": "left", "buttons": 1}
            if number == len(path):
                where |= {"type": "mouseReleased", "buttons": 0, "clickCount": 1}
            message = {"id": number, "method": "Input.dispatchMouseEvent", "params": where}
            await socket.write_message(json.dumps(message))
        await asyncio.sleep(SETTLE)  # whatever we do now would compete with the page
        socket.close()

    asyncio.run(go())


def drag(
    tab: LabPage, cell: Locator, port: int, events: int, seconds: float, *, free: bool = False
) -> dict[str, Any]:
    """Drag the slider for d_k back and forth, and let it go; what the page noted meanwhile.

    With `free` another cell's code is asked for, once in mid-drag and once on release.
    """
    page, handle = tab.page, slider(tab.page, cell, "d_k")
    handle.focus()
    page.keyboard.press("Home")
    page.wait_for_timeout(1000)
    track = handle.locator("xpath=ancestor::*[contains(@class, 'noUi-base')]").bounding_box()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    path = []
    for number in range(events):
        # from the left to the right and back to the middle: 1.5 times across
        part = 1 - abs(1 - 1.5 * (number + 1) / events)
        path.append((number * seconds / events, track["x"] + part * track["width"], y))
    page.mouse.move(x, y)
    page.mouse.down()
    handle.evaluate("one => andreaProbe.start(one)")
    if free:
        page.evaluate(
            "() => { window.andreaFree = andreaProbe.executeOnRelease('print(6 * 7)');"
            " window.andreaMeanwhile = new Promise((done) =>"
            " setTimeout(() => andreaProbe.execute('print(6 * 7)').then(done), 1500)); }"
        )
    hand = threading.Thread(target=send_mouse, args=(port, page.url, path))
    hand.start()
    hand.join()
    page.mouse.up()  # it is up already, but that came by another way
    noted = {}
    if free:
        noted["after"] = page.evaluate("() => window.andreaFree")
        noted["meanwhile"] = page.evaluate("() => window.andreaMeanwhile")
    page.wait_for_timeout(3000)
    return page.evaluate("() => andreaProbe.log()") | noted


def measure_drag(log: dict[str, Any]) -> dict[str, float]:
    """What one drag came to; it begins and ends with the events that moved the slider."""
    moves, pictures = log["moves"], [one["drawn"] for one in log["pictures"]]
    changes = [one["at"] for before, one in pairwise(moves) if before["value"] != one["value"]]
    first, last = changes[0], changes[-1]
    during = [one for one in pictures if first <= one <= last]
    return {
        "arrived": len(moves),
        "changes": len(changes),
        "seconds": (last - first) / 1000,
        "rate": len(during) / (last - first) * 1000,
        "gap": max((after - before for before, after in pairwise(during)), default=math.nan),
        "backlog": sum(one > last for one in pictures),
        "late": pictures[-1] - last,
    }


def tell_drags(logs: list[dict[str, Any]], events: int, goals: bool) -> None:
    every = [measure_drag(log) for log in logs]

    def middle(name: str) -> float:
        return median(one[name] for one in every)

    wanted = dict.fromkeys(("rate", "late", "free", "backlog"), "")
    if goals:
        wanted = {"rate": ">= 30", "late": "<= 50", "free": "<= 100", "backlog": "<= 2"}
    if len(every) > 1:
        print(f"medians of {len(every)} drags")
    report(f"events that reached the page, of {events}", middle("arrived"), "")
    report("events that moved the slider", middle("changes"), "")
    report("from the first to the last of these", middle("seconds"), "s")
    report("pictures a second", middle("rate"), "", wanted["rate"])
    report("longest time between two pictures", middle("gap"))
    report("pictures after the last event", middle("backlog"), "", wanted["backlog"])
    report("last event to last picture", middle("late"), "ms", wanted["late"])
    if len(every) > 1:
        print("    each of them: " + ", ".join(f"{one['late']:.0f}" for one in every))


def tell_free(log: dict[str, Any], goals: bool) -> None:
    wanted = "<= 100" if goals else ""
    report("another cell's code, asked in mid-drag", log["meanwhile"]["ms"], "ms", wanted)
    report("another cell's code, asked on release", log["after"]["ms"], "ms", wanted)


def drag_both(browser: Browser, lab: Lab, port: int, events: int, seconds: float) -> None:
    for who, sources in (("interact", [INTERACT]), ("ours", [IMPORTS, OURS])):
        heading(f"Drag of {events} events in {seconds:g} s, T = 64: {who}")
        ours = who == "ours"
        sources = [source.format(T=64, d_k=START, names=FIVE) for source in sources]
        with notebook(browser, lab, f"drag_{who}", sources) as tab:
            tab.run_all()
            cell = tab.show_cell(len(sources) - 1)
            times = DRAGS if ours else 1
            logs = [drag(tab, cell, port, events, seconds) for _ in range(times)]
            tell_drags(logs, events, ours)
            tell_free(drag(tab, cell, port, events, seconds, free=True), ours)
            if ours:
                check_words(cell, slider(tab.page, cell, "d_k"))
                print("the last picture shows the last value")


# -- first panel -----------------------------------------------------------------------------------


def first_panel(browser: Browser, lab: Lab) -> None:
    heading("Run of a cell to its drawn panel, kernel already up")
    with notebook(browser, lab, "first", [IMPORTS, "panels.attention_panel()"]) as tab:
        in_kernel(tab.page, IMPORTS)
        tab.page.wait_for_timeout(2000)
        for words, wanted in (("first panel of the page", "<= 1000"), ("once more", "<= 1000")):
            noted = tab.page.evaluate("() => andreaProbe.run(1)")
            report(words, noted["drawn"], "ms", wanted)
            tab.page.wait_for_timeout(1000)


# -- random moves ----------------------------------------------------------------------------------


def random_moves(browser: Browser, lab: Lab, moves: int, before: int, batch: int = 20) -> None:
    heading(f"{moves:,} random moves over all controls of all panels, after {before:,} others")
    names = "print(*[name for name in panels.__all__ if name.endswith('_panel')])"
    with notebook(browser, lab, "names", [IMPORTS]) as tab:
        in_kernel(tab.page, IMPORTS)
        names = in_kernel(tab.page, names)["said"].split()
    cells = [IMPORTS + "\nshown = {}", *(SHOWN.format(name=name) for name in names)]
    with notebook(browser, lab, "moves", cells) as tab:
        tab.run_all()
        assert tab.errors() == []
        in_kernel(tab.page, (HERE / "panels_moves.py").read_text(encoding="utf-8"))
        marks = []
        for total in (before, moves):
            for number in range(total // batch):
                if number % 10 == 0:
                    tab.show_cell(1 + number // 10 % len(names))
                in_kernel(tab.page, f"move({batch})")
            marks.append(json.loads(in_kernel(tab.page, "left()")["said"]))
        errors = tab.errors()
    start, end = marks
    report(f"panels: {', '.join(name.removesuffix('_panel') for name in names)}", len(names), "")
    report("errors", end["failures"] + len(errors), "", "<= 0")
    for problem in end["failed"] + errors:
        print(f"    {problem}")
    report("settings refused in one sentence", end["refused"], "")
    report("open figures more than before", end["figures"] - start["figures"], "", "<= 0")
    report("open comms more than before", end["comms"] - start["comms"], "", "<= 0")
    report("memory of the kernel more than before", end["used"] - start["used"], "MB", "<= 10")
    report("the same with what the allocator keeps free", end["held"] - start["held"], "MB")


# -- all of it -------------------------------------------------------------------------------------

PARTS = ("press", "long", "drag", "first", "moves")


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast the panels follow the hand.")
    parser.add_argument("--presses", type=int, default=60, help="after a warm-up")
    parser.add_argument("--quick", action="store_true", help="few presses, events and moves")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    given = parser.parse_args()
    presses = 10 if given.quick else given.presses
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    port = lab_server.free_port()
    arguments = [*lab_server._CHROMIUM_ARGUMENTS, f"--remote-debugging-port={port}"]
    path = lab_server.chromium_path()
    if not path:
        sys.exit("no Chromium was found; ANDREA_CHROMIUM may name one")
    with (
        tempfile.TemporaryDirectory() as base,
        lab_server.running_lab(Path(base) / "lab") as lab,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=arguments) as browser,
    ):
        load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
        print(f"Python {platform.python_version()}, Chromium {browser.version}, {load}")
        if "press" in given.only:
            compare(browser, lab, 64, presses, ("<= 25", "<= 50", ">= 20"))
        if "long" in given.only:
            compare(browser, lab, 1024, presses, ("<= 80", "", ">= 10"))
        if "drag" in given.only:
            drag_both(browser, lab, port, *((60, 1.0) if given.quick else (200, 3.0)))
        if "first" in given.only:
            first_panel(browser, lab)
        if "moves" in given.only:
            random_moves(browser, lab, *((200, 40) if given.quick else (2000, 200)))


if __name__ == "__main__":
    main()
