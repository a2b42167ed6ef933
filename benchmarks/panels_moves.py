"""Run in the kernel by `panels.py`: random moves over all controls, and what they leave behind.

`shown` holds the panels by name; it is made by the cells that show them.
"""

# ruff: noqa: F821

import contextlib
import ctypes
import gc
import json

import comm
import matplotlib.pyplot as plt
import numpy as np
import psutil

from andrea_lesson.panels import base
from andrea_lesson.panels.controls import Press

rng = np.random.default_rng(0)
refused: list[str] = []
failed: list[str] = []


def _noted(problem, sentence=base._sentence):
    """Count what turns into the line under the controls: bad settings, and real failures."""
    kind = refused if isinstance(problem, base.SettingError) else failed
    kind.append(repr(problem))
    return sentence(problem)


base._sentence = _noted


def anywhere(control):
    """Pick any value that the hand could give to a control."""
    if hasattr(control, "options"):
        options = [one[1] if isinstance(one, tuple) else one for one in control.options]
        return options[rng.integers(len(options))]
    if isinstance(control.value, bool):
        return bool(rng.integers(2))
    if isinstance(control.value, int):
        return int(rng.integers(control.min, control.max + 1))
    value = float(rng.uniform(control.min, control.max))
    return control.base**value if hasattr(control, "base") else value


def settings(panel):
    """Controls that hold a value: a press starts a measurement, which is no move."""
    return {k: one for k, one in panel.controls.items() if not isinstance(one, Press)}


def move(times):
    """Set a control of a panel, again and again."""
    panels = list(shown.values())
    for _ in range(times):
        controls = list(settings(panels[rng.integers(len(panels))]).values())
        control = controls[rng.integers(len(controls))]
        control.value = anywhere(control)


_start = {
    name: {key: control.value for key, control in settings(panel).items()}
    for name, panel in shown.items()
}


def left():
    """Say what is open, and how much memory this kernel holds, all panels being as at first."""
    for _ in range(2):  # one control may move the limits of another
        for name, panel in shown.items():
            for key, value in _start[name].items():
                panel.controls[key].value = value
    gc.collect()
    held = _memory()
    with contextlib.suppress(OSError, AttributeError):  # glibc keeps what Python has given back
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    found = {
        "figures": len(plt.get_fignums()),
        "comms": len(comm.get_comm_manager().comms),
        "held": held,
        "used": _memory(),
        "refused": len(refused),
        "failed": failed[:3],
        "failures": len(failed),
    }
    print(json.dumps(found))


def _memory():
    return psutil.Process().memory_info().rss / 2**20
