"""environment.yml: the same packages as pyproject.toml, and names that exist."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from needs import unavailable
from packaging.requirements import Requirement

from andrea_lesson.gpu import COMPLETE

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

CONDA = [Requirement(one) for one in ENVIRONMENT["dependencies"] if isinstance(one, str)]
PIP = next(one["pip"] for one in ENVIRONMENT["dependencies"] if isinstance(one, dict))
PYTHON = next(one for one in CONDA if one.name == "python")
LAB = [Requirement(one) for one in PROJECT["optional-dependencies"]["lab"]]
CUPY = next(Requirement(one) for one in PIP if one.startswith("cupy"))

# what packaging.markers calls the machine, and whether CuPy has a wheel for it
MACHINES = {
    "Linux": ({"sys_platform": "linux", "platform_machine": "x86_64"}, True),
    "Linux on Arm": ({"sys_platform": "linux", "platform_machine": "aarch64"}, True),
    "Windows": ({"sys_platform": "win32", "platform_machine": "AMD64"}, True),
    "Windows on Arm": ({"sys_platform": "win32", "platform_machine": "ARM64"}, False),
    "macOS": ({"sys_platform": "darwin", "platform_machine": "arm64"}, False),
    "macOS on Intel": ({"sys_platform": "darwin", "platform_machine": "x86_64"}, False),
}


def test_name_and_channel():
    assert ENVIRONMENT["name"] == "andrea-lesson"
    assert ENVIRONMENT["channels"] == ["conda-forge"]


def test_has_what_the_lesson_needs():
    from_conda = {one.name for one in CONDA}
    assert {"python", "pip", "jupyterlab", "numpy", "matplotlib", "ipywidgets"} <= from_conda
    assert "-e .[lab]" in PIP
    assert CUPY.name == "cupy-cuda12x"


def test_versions_are_those_of_pyproject():
    wanted = {one.name: one.specifier for one in LAB}
    wanted |= {one.name: one.specifier for one in map(Requirement, PROJECT["dependencies"])}
    wanted["python"] = Requirement(f"python{PROJECT['requires-python']}").specifier
    for one in CONDA:
        assert one.specifier == wanted.get(one.name, one.specifier), one.name
        assert one.name in wanted or one.name == "pip"


def test_cupy_is_that_of_the_gpu_extra_without_its_large_libraries():
    (wanted,) = PROJECT["optional-dependencies"]["gpu"]
    gpu = Requirement(wanted)
    assert gpu.extras == {"ctk"}
    assert wanted.startswith(CUPY.name + COMPLETE)  # which the check of the installation names
    gpu.extras = set()
    assert gpu == CUPY


def test_no_upper_bounds():
    extras = [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
    for one in map(Requirement, [*PROJECT["dependencies"], *extras]):
        assert {part.operator for part in one.specifier} <= {">=", "!="}, str(one)


@pytest.mark.parametrize(("machine", "wheel"), MACHINES.values(), ids=MACHINES.keys())
def test_cupy_comes_only_where_it_has_a_wheel(machine, wheel):
    for python in ("3.11", "3.14"):
        assert CUPY.marker.evaluate({**machine, "python_version": python}) == wheel
    assert not CUPY.marker.evaluate({**machine, "python_version": "3.15"})


def versions(name: str, *target: str) -> list[str]:
    """Versions that the package index has; `target` names another machine than this one."""
    end = ask_pip(name, *target)
    if end.returncode != 0 and ask_pip("pip").returncode != 0:
        unavailable(f"no package index answered pip: {end.stderr.strip().splitlines()[-1:]}")
    available = re.search(r"^Available versions: (.*)$", end.stdout, re.MULTILINE)
    return available[1].split(", ") if available else []


def ask_pip(*words: str) -> subprocess.CompletedProcess[str]:
    # a silent pip would keep the versions to itself
    environment = {name: value for name, value in os.environ.items() if name != "PIP_QUIET"}
    return subprocess.run(
        [sys.executable, "-m", "pip", "--retries=1", "--timeout=10", "index", "versions", *words],
        capture_output=True,
        encoding="utf-8",
        env=environment | {"PYTHONUTF8": "1"},
    )


@pytest.mark.parametrize("one", sorted({*CONDA, *LAB} - {PYTHON}, key=str), ids=str)
def test_index_has_the_names(one):
    assert any(map(one.specifier.contains, versions(one.name)))


def test_index_lacks_other_names():
    assert versions("andrea-lesson-is-not-there") == []


@pytest.mark.parametrize(
    ("platform", "wheel"),
    [("manylinux2014_x86_64", True), ("win_amd64", True), ("macosx_14_0_arm64", False)],
)
def test_index_has_cupy_where_the_marker_says(platform, wheel):
    target = ("--platform", platform, "--python-version", "3.12", "--only-binary=:all:")
    found = versions(CUPY.name, *target)
    assert any(map(CUPY.specifier.contains, found)) == wheel


def test_readme_has_the_two_commands_on_one_line_each():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    start = 'python3 -m venv .venv && .venv/bin/pip install -e ".[lab]" && .venv/bin/andrea-lesson'
    check = 'python3 -m venv .venv && .venv/bin/pip install -e ".[test]" && .venv/bin/pytest'
    assert [line.strip() for line in lines].count(start) >= 1
    assert [line.strip() for line in lines].count(check) >= 1
    # no other line like them: .ci/run takes its command from here
    assert {line.strip() for line in lines if "python3 -m venv" in line} == {start, check}
