"""What ``import andrea_lesson`` loads, and what must never stop it."""

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import andrea_lesson as al

TOP = Path(al.__file__).resolve().parent.parent
HEAVY = ("matplotlib", "ipywidgets", "cupy", "IPython", "scipy", "torch", "jupyterlab")
LOADED_WHEN_USED = ("experiments", "plotting", "panels")
ATTEND = "import andrea_lesson as al; print(al.attention([[1]], [[1]], [[5]])[0, 0])"

# Three ways in which CuPy can be installed and still be of no use.
CUPY_STUBS = {
    "import fails": "raise ImportError('libcuda.so.1: cannot open shared object file')",
    "asking for a GPU fails": """
class ndarray: pass
class generic: pass
class cuda:
    def is_available():
        raise RuntimeError('cudaErrorInsufficientDriver')
""",
    "no GPU": """
class ndarray: pass
class generic: pass
class cuda:
    def is_available():
        return False
""",
}


def python(code, cwd, *options, path=()):
    """Run code in a fresh interpreter; return what it printed."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (*path, TOP)))}
    env |= {"PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(
        [sys.executable, *options, "-c", code],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_nothing_heavy_is_loaded(tmp_path):
    code = f"""
import sys, andrea_lesson as al
al.attention([[1.0]], [[1.0]], [[1.0]], mask="causal")
al.running_example()
print([name for name in {HEAVY!r} if name in sys.modules])
print([name for name in {LOADED_WHEN_USED!r} if "andrea_lesson." + name in sys.modules])
"""
    assert python(code, tmp_path).splitlines() == ["[]", "[]"]


@pytest.mark.parametrize("folder", ["plain", "資料夾 with spaces"])
def test_it_works_from_any_folder_and_names_every_encoding(tmp_path, folder):
    cwd = tmp_path / folder
    cwd.mkdir()
    code = "import andrea_lesson as al; print(al.running_example().tokens[0])"
    strict = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning")
    assert python(code, cwd, *strict) == "小安"


@pytest.mark.parametrize("stub", CUPY_STUBS)
@pytest.mark.parametrize("imported_before", [False, True])
def test_a_useless_cupy_stops_nothing(tmp_path, stub, imported_before):
    (tmp_path / "cupy.py").write_text(CUPY_STUBS[stub], encoding="utf-8")
    before = "try: import cupy\nexcept ImportError: pass\n" if imported_before else ""
    assert python(before + ATTEND, tmp_path, path=[tmp_path]) == "5.0"


def test_every_public_name_is_there():
    assert sorted(al.__all__) == sorted(set(al.__all__))
    for name in al.__all__:
        assert getattr(al, name) is not None
        assert name in dir(al)
    for name in LOADED_WHEN_USED:
        assert name in dir(al)
    with pytest.raises(AttributeError, match="has no attribute 'atention'"):
        _ = al.atention


def test_a_public_function_is_never_hidden_by_a_module():
    """Not even after every module of the package has been imported."""
    modules = [f"andrea_lesson.{module.name}" for module in pkgutil.iter_modules(al.__path__)]
    for module in modules:
        importlib.import_module(module)
    for name in al.__all__:
        assert not isinstance(getattr(al, name), type(sys)), f"al.{name} is a module"


def test_public_functions_say_what_they_take():
    """A docstring with shapes or values, and the errors that can come."""
    for name in al.__all__:
        thing = getattr(al, name)
        if callable(thing) and not isinstance(thing, type):
            assert "Parameters\n" in thing.__doc__ or thing.__code__.co_argcount == 0, name
        if name.endswith("_mask") or name.startswith("attention"):
            assert "True = may attend" in thing.__doc__, name
