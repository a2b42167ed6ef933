"""The wheel: it carries the data and the notebooks, and works far from any checkout."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from needs import unavailable

from andrea_lesson.workspace import unsolved

ROOT = Path(__file__).resolve().parent.parent

# What pip says when no index gives it hatchling, the one thing that building needs.
_OFFLINE = ("No matching distribution found", "Could not find a version")


def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pip", "--retries=1", "--timeout=20", *arguments],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONUTF8": "1"},
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    end = pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    if end.returncode != 0 and any(words in end.stderr for words in _OFFLINE):
        unavailable("no package index gave pip what building a wheel needs")
    assert end.returncode == 0, end.stdout + end.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A fresh environment with the wheel, which borrows the other packages of this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = next(scripts.glob("python.exe" if os.name == "nt" else "python"))
    end = pip("--python", str(python), "install", "--no-deps", "--no-index", str(wheel))
    assert end.returncode == 0, end.stdout + end.stderr
    scheme = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", scheme))
    # Listed by a .pth file, a folder's own .pth files are not read: no way back to the checkout.
    borrowed = sysconfig.get_path("purelib") + "\n"
    (packages / "borrowed.pth").write_text(borrowed, encoding="utf-8")
    cwd = tmp_path_factory.mktemp("elsewhere") / "另一個 folder"
    cwd.mkdir()
    return SimpleNamespace(python=python, scripts=scripts, packages=packages, cwd=cwd)


def run(installed, *command) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    end = subprocess.run(
        [str(part) for part in command],
        cwd=installed.cwd,
        env=environment | {"PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert end.returncode == 0, end.stderr
    return end.stdout


def test_carries_data_notebooks_and_settings(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("data", "notebooks/zh-Hant", "notebooks/en"):
        kept = {path.name for path in (ROOT / folder).iterdir() if path.is_file()}
        assert kept, folder
        assert {f"andrea_lesson/{folder}/{name}" for name in kept} <= names
    for name in ("labconfig/page_config.json", "jupyter_server_config.json"):
        assert f"andrea_lesson/jupyter_config/{name}" in names
    modules = {f"andrea_lesson/{path.name}" for path in (ROOT / "andrea_lesson").glob("*.py")}
    assert modules <= names
    folder = ROOT / "andrea_lesson" / "panels"
    drawn = {path.name for path in folder.iterdir() if path.suffix in (".py", ".js", ".css")}
    assert {"live.js", "live.css"} <= drawn
    assert {f"andrea_lesson/panels/{name}" for name in drawn} <= names
    assert not any("/tests/" in name or "/src/" in name for name in names)


def test_imports_and_finds_its_data_from_anywhere(installed):
    code = (
        "import andrea_lesson as al, sys\n"
        "from andrea_lesson.resources import resource_path\n"
        "assert al.running_example().X.shape[0] == 6\n"
        "print(al.__file__, resource_path('data', 'glossary.csv'), sep='\\n')"
    )
    module, glossary = run(installed, installed.python, "-c", code).splitlines()
    assert Path(module).is_relative_to(installed.packages)
    assert Path(glossary).is_relative_to(installed.packages)


def test_command_is_there(installed):
    said = run(installed, installed.scripts / "andrea-lesson", "--version")
    assert said.split()[0] == "andrea-lesson"


def test_working_copy_has_the_lessons_of_the_checkout(installed):
    code = (
        "from pathlib import Path\n"
        "from andrea_lesson.workspace import update_workspace\n"
        "print(update_workspace(Path('my-lesson')))"
    )
    assert run(installed, installed.python, "-c", code) == "[]\n"
    for language in ("zh-Hant", "en"):
        lessons = sorted((ROOT / "notebooks" / language).glob("*.ipynb"))
        assert lessons
        for lesson in lessons:
            copy = installed.cwd / "my-lesson" / language / lesson.name
            assert copy.read_bytes() == unsolved(lesson.read_bytes())
