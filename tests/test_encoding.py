"""Nothing of ours relies on the encoding of the machine: every text file is opened by name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Stops at the first EncodingWarning that our own code is to blame for.  That is the nearest
# frame outside the standard library: subprocess and pathlib warn in their own names.
WATCH = """\
import sys, sysconfig, warnings
from pathlib import Path

ROOT = Path(sys.argv[1])
STANDARD = sysconfig.get_path("stdlib")
OURS = [str(ROOT / "andrea_lesson"), str(ROOT / "notebooks")]

def watch(message, category, filename, lineno, file=None, line=None):
    if not issubclass(category, EncodingWarning):
        return
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        inside = name.startswith(STANDARD) and "site-packages" not in name
        if not inside and not name.startswith("<"):
            if name.startswith(tuple(OURS)):
                sys.exit(f"{name}:{frame.f_lineno}: {message}")
            return
        frame = frame.f_back

warnings.simplefilter("always", EncodingWarning)
warnings.showwarning = watch
"""

USES = {
    "every module": (
        "import importlib, pkgutil, andrea_lesson\n"
        "for one in pkgutil.walk_packages(andrea_lesson.__path__, 'andrea_lesson.'):\n"
        "    importlib.import_module(one.name)\n"
    ),
    "running example": (
        "import andrea_lesson as al\n"
        "from andrea_lesson.resources import resource_path\n"
        "al.running_example()\n"
    ),
    "working copy": (
        "from andrea_lesson.workspace import update_workspace\n"
        "update_workspace(Path(sys.argv[2]) / 'mine', ROOT / 'notebooks')\n"
        "update_workspace(Path(sys.argv[2]) / 'mine', ROOT / 'notebooks')\n"
    ),
    "check of the installation": (
        "from andrea_lesson import installation\n"
        "for line in installation.check_installation():\n"
        "    str(line).encode('utf-8')\n"
        "installation._versions_of(sys.executable.replace('/bin/', '/bin/./'), 'numpy')\n"
    ),
    "a figure": (
        "import andrea_lesson as al\n"
        "from andrea_lesson import plotting\n"
        "axes = plotting.plot_mask(al.causal_mask(4), title='遮罩')\n"
        "for ending in ('png', 'svg', 'pdf'):\n"
        "    plotting.save(axes.figure, Path(sys.argv[2]) / f'mask.{ending}')\n"
    ),
    "the builder's check": (
        "import runpy\n"
        "sys.path.insert(0, str(ROOT / 'notebooks'))\n"
        "sys.argv = ['build.py', '--check']\n"
        "try:\n"
        "    runpy.run_path(str(ROOT / 'notebooks' / 'build.py'), run_name='__main__')\n"
        "except SystemExit as end:\n"
        "    if isinstance(end.code, str): raise\n"  # the watch; what the check finds is not asked
    ),
}

LOCALES = {
    "warnings": {"PYTHONWARNDEFAULTENCODING": "1"},
    "a locale without Chinese": {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii:backslashreplace",
    },
}


def run(code: str, tmp_path: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-", str(ROOT), str(tmp_path)],
        input=WATCH + code,
        capture_output=True,
        encoding="ascii",
        errors="backslashreplace",
        env=os.environ | environment,
    )


@pytest.mark.parametrize("environment", LOCALES.values(), ids=LOCALES.keys())
@pytest.mark.parametrize("code", USES.values(), ids=USES.keys())
def test_encoding_is_always_named(tmp_path, code, environment):
    end = run(code, tmp_path, environment)
    assert end.returncode == 0, end.stdout + end.stderr


@pytest.mark.parametrize(
    "fault",
    [
        "open(path)",
        "path.read_text()",
        "path.write_text('x')",
        "import subprocess; subprocess.run(['true'], text=True, capture_output=True)",
    ],
)
def test_the_watch_sees_a_forgotten_encoding(tmp_path, fault):
    ours = ROOT / "andrea_lesson" / "forgetful.py"  # only a name: the code is compiled under it
    code = (
        f"path = Path(sys.argv[2]) / 'x'; path.write_text('x', encoding='utf-8')\n"
        f"exec(compile({fault!r}, {str(ours)!r}, 'exec'))\n"
    )
    end = run(code, tmp_path, LOCALES["warnings"])
    assert end.returncode == 1
    assert "forgetful.py:1" in end.stderr
