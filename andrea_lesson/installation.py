"""What is there, what is missing and how to get it: one line each, for ``00_start_here``.

Looking never changes anything: nothing is installed, and whatever is broken becomes a line
instead of a traceback.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Literal, TextIO

from . import gpu
from .labels import get_language, label, language

# What shows that a package loads: of matplotlib, what the figures need.
_PROOF = {"matplotlib": "matplotlib.backends.backend_agg"}

REINSTALL = "install --force-reinstall"

State = Literal["ok", "note", "warning", "missing"]


@dataclass(frozen=True)
class Line:
    """One finding: what it is about, how it stands, in words, and what to run against it."""

    subject: str
    state: State
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = label("check_remedy", line=self.remedy) if self.remedy else ""
        return f"[{label('check_' + self.state)}] {self.text}{remedy}"


def check_installation() -> list[Line]:
    """Look at everything that the lesson uses.

    Returns
    -------
    list of Line
        In the current language; ``str(line)`` is the line as it is printed.
    """
    python = label("check_python", version=sys.version.split()[0], path=sys.executable)
    return [
        Line("python", "ok", python),
        *_guarded("package", _package_lines),
        *_guarded("numpy", _version_lines, "numpy"),
        *_guarded("matplotlib", _version_lines, "matplotlib"),
        *_guarded("ipywidgets", _version_lines, "ipywidgets"),
        *_guarded("server", _server_lines),
        *_guarded("font", _font_lines),
        *_guarded("gpu", _gpu_lines),
    ]


def _guarded(subject: str, look: Callable[..., Iterable[Line]], *arguments: str) -> list[Line]:
    """What a look finds, or one line if it stumbles over something broken."""
    try:
        return list(look(*arguments))
    except (Exception, SystemExit) as error:
        name = "andrea_lesson" if subject == "package" else subject
        text = label("check_broken", name=name, reason=gpu.one_line(error))
        remedy = pip_line(*arguments, action=REINSTALL) if arguments else ""
        return [Line(subject, "warning", text, remedy)]


def report() -> None:
    """Print the lines of :func:`check_installation`, in English if Chinese cannot be printed."""
    encoding = sys.stdout.encoding or "utf-8"
    with language(get_language() if prints_chinese(sys.stdout) else "en"):
        for line in check_installation():
            print(str(line).encode(encoding, errors="replace").decode(encoding))


def prints_chinese(stream: TextIO) -> bool:
    """Whether a stream can show Chinese."""
    try:
        "繁體中文，「」".encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def load(name: str) -> None:
    """Import a package as far as the lesson needs it; whatever that raises is not caught."""
    import_module(_PROOF.get(name, name))


def _requirements() -> dict[str, str]:
    """What this package asks for, by name."""
    try:
        wanted = metadata.requires("andrea-lesson") or []
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return {}
    found: dict[str, str] = {}
    for one in wanted:
        name = re.match(r"[\w.-]+", one)
        if name is None:
            raise ValueError(f"Requires-Dist: {one}")
        found.setdefault(name[0], one.partition(";")[0].strip())
    return found


def requirement(name: str) -> str:
    """What pip is to be asked for: the name with the versions that the lesson can use."""
    try:
        return _requirements().get(name, name)
    except Exception:  # a damaged record, which has its own line
        return name


def pip_line(*names: str, action: str = "install") -> str:
    """The line that installs packages for this Python: ``%pip`` in a notebook."""
    asked = [name if action == "uninstall" else requirement(name) for name in names]
    words = [f'"{one}"' if re.search(r"[<>=!\[]", one) else one for one in asked]
    if _in_notebook():
        pip = "%pip"
    else:
        python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
        pip = f"{python} -m pip"
    return " ".join([pip, action, *(["-y"] if action == "uninstall" else []), *words])


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _fits(version: str, specification: str) -> bool:
    try:
        from packaging.requirements import Requirement  # matplotlib and JupyterLab bring it

        return Requirement(specification).specifier.contains(version, prereleases=True)
    except Exception:  # no packaging, or a version of nobody's making: nothing to complain of
        return True


def _package_lines() -> list[Line]:
    from . import __version__

    _requirements()  # raises where the record of this package is damaged
    here = Path(__file__).resolve().parent
    return [Line("package", "ok", label("check_package", version=__version__, path=here))]


def _version_lines(name: str) -> list[Line]:
    version = _installed(name)
    wanted = requirement(name)
    if version is None:
        return [Line(name, "missing", label("check_absent", name=name), pip_line(name))]
    load(name)
    if name == "ipywidgets" and version == "8.1.9":
        text = label("check_no_sliders", version=version)
        return [Line(name, "warning", text, pip_line(name))]
    if not _fits(version, wanted):
        text = label("check_too_old", name=name, version=version, wanted=wanted)
        return [Line(name, "warning", text, pip_line(name))]
    return [Line(name, "ok", label("check_version", name=name, version=version))]


def _server_lines() -> list[Line]:
    """The other half of the widgets: what the process that serves this notebook has."""
    python = _server_python()
    versions = _versions_of(python, "jupyterlab", "jupyterlab_widgets") if python else None
    if python is None or versions is None or versions["jupyterlab"] is None:
        return [Line("server", "note", label("check_server_unseen"))]
    lab, widgets = versions["jupyterlab"], versions["jupyterlab_widgets"]
    if widgets is None or not _fits(widgets, "jupyterlab_widgets>=3"):
        line = f'{python} -m pip install "jupyterlab_widgets>=3"'
        has = widgets or label("check_none")
        text = label("check_server_widgets", lab=lab, widgets=has, line=line)
        return [Line("server", "warning", text)]
    return [Line("server", "ok", label("check_server", lab=lab, widgets=widgets, python=python))]


def _server_python() -> str | None:
    """Python of the process that started this kernel, if it is one and can be seen."""
    try:
        import psutil  # ipykernel brings it

        python = Path(psutil.Process().parent().cmdline()[0])
    except Exception:  # no psutil, no right to look, no such process any more
        return None
    named = python.name.lower().startswith("python")
    return str(python) if named and python.is_absolute() else None


def _versions_of(python: str, *names: str) -> dict[str, str | None] | None:
    if python == sys.executable:
        return {name: _installed(name) for name in names}
    question = (
        "import json, sys; from importlib.metadata import distributions\n"
        "found = {d.metadata['Name']: d.version for d in distributions()}\n"
        "print(json.dumps([found.get(name) for name in sys.argv[1:]]))"
    )
    try:
        answer = subprocess.run(
            [python, "-c", question, *names],
            capture_output=True,
            check=True,
            encoding="utf-8",
            timeout=20,
        )
        return dict(zip(names, json.loads(answer.stdout), strict=True))
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def _font_lines() -> list[Line]:
    try:
        if _installed("matplotlib") is None:
            return []
        from .fonts import find_face  # loads matplotlib
    except (Exception, SystemExit):  # no figures either, which has its own line
        return []
    try:
        face = find_face()
    except Exception:  # an unreadable font
        face = None
    if face is None:
        remedy = pip_line("noto-cjk-sans-otc")
        return [Line("font", "missing", label("check_no_font"), remedy)]
    return [Line("font", "ok", label("check_font", font=face.family))]


def _gpu_lines() -> list[Line]:
    """What CuPy can do here, and the wheels if they are several or the wrong one."""
    wheels, cuda = gpu.cupy_wheels(), gpu.driver_cuda()
    fitting = gpu.fitting_wheel(cuda)
    lines = [_gpu_line(wheels, cuda, fitting)]
    # without a driver any wheel will do: the one the lesson's gpu extra names
    steps = {
        "remove": pip_line(*wheels, action="uninstall"),
        "install": pip_line((fitting or "cupy-cuda12x") + gpu.COMPLETE),
    }
    if len(wheels) > 1:
        text = label(
            "check_wheels", count=len(wheels), wheels=label("list_comma").join(wheels), **steps
        )
        lines.append(Line("cupy", "warning", text))
    elif wheels and cuda is not None and fitting is not None:
        needs = re.search(r"cuda(\d+)", wheels[0])
        if needs and int(needs[1]) > cuda:
            text = label("check_wrong_wheel", wheel=wheels[0], cuda=cuda, **steps)
            lines.append(Line("cupy", "warning", text))
    return lines


def _gpu_line(wheels: list[str], cuda: int | None, fitting: str | None) -> Line:
    found = gpu.try_gpu()
    if found.works:
        return Line("gpu", "ok", label("check_gpu", name=found.name, version=found.version))
    if not found.installed:
        if fitting is None:
            return Line("gpu", "note", label("check_no_cupy"))
        remedy = pip_line(fitting + gpu.COMPLETE)
        return Line("gpu", "note", label("check_cupy_possible", cuda=cuda), remedy)
    if not found.reason:
        return Line("gpu", "note", label("check_no_gpu", version=found.version))
    text = label("check_gpu_fails", version=found.version, reason=found.reason)
    lacks_library = re.search(r"nvrtc|cublas|cuda_path", found.reason, re.IGNORECASE)
    if not lacks_library or len(wheels) != 1 or "-cuda" not in wheels[0]:
        return Line("gpu", "warning", text)
    # The wheel that is there, completed: another one on top of it would disturb both.
    return Line("gpu", "warning", text, pip_line(wheels[0] + gpu.COMPLETE))
