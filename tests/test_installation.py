"""The check of the installation: one line for each finding, whatever is broken."""

import importlib.metadata
import os
import subprocess
import sys
import weakref
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import andrea_lesson
from andrea_lesson import gpu, installation, set_language

NO_DRIVER = "cudaErrorInsufficientDriver: CUDA driver version is insufficient"


def working_cupy(**changes):
    """A stand-in for CuPy that does what the trial asks for; `changes` break it."""

    def twice(_grid, _block, arguments):
        arguments[0][0] *= 2

    properties = {"name": b"A card"}
    cupy = ModuleType("cupy")
    cupy.__version__ = "14.0"
    cupy.zeros, cupy.ones = np.zeros, np.ones
    cupy.RawKernel = lambda _code, _name: twice
    cupy.cuda = SimpleNamespace(
        is_available=lambda: True,
        Device=lambda: SimpleNamespace(id=0),
        runtime=SimpleNamespace(getDeviceProperties=lambda _device: properties),
    )
    for name, value in changes.items():
        setattr(cupy.cuda if name == "is_available" else cupy, name, value)
    return cupy


def raising(error):
    def fail(*_arguments, **_more):
        raise error

    return fail


def use_cupy(monkeypatch, cupy=None, import_error=None):
    def load(name):
        assert name == "cupy"
        if import_error is not None:
            raise import_error
        return cupy

    monkeypatch.setattr(gpu, "import_module", load)


@pytest.fixture
def no_driver(monkeypatch):
    monkeypatch.setattr(gpu, "driver_cuda", lambda: None)
    monkeypatch.setattr(gpu, "cupy_wheels", list)


def lines(subject):
    return [line for line in installation.check_installation() if line.subject == subject]


# -- CuPy --------------------------------------------------------------------------------------

BROKEN = {
    "import fails": ({}, ImportError("libcuda.so.1: cannot open shared object file\nmore")),
    "import needs another module": ({}, ModuleNotFoundError("No module named 'x'", name="x")),
    "import raises anything": ({}, RuntimeError("CUDA path could not be detected")),
    "the question raises": ({"is_available": raising(RuntimeError(NO_DRIVER))}, None),
    "no memory to be had": ({"zeros": raising(RuntimeError(NO_DRIVER))}, None),
    "no compiler": ({"RawKernel": raising(RuntimeError("libnvrtc.so.12 not found"))}, None),
    "no library for products": ({"ones": raising(ImportError("libcublas.so.12"))}, None),
    "the kernel does nothing": ({"RawKernel": lambda _code, _name: lambda *_three: None}, None),
    "error without words": ({"zeros": raising(RuntimeError())}, None),
}


@pytest.mark.parametrize(("changes", "import_error"), BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.usefixtures("no_driver")
def test_broken_cupy_is_one_line_that_says_why(monkeypatch, changes, import_error):
    use_cupy(monkeypatch, working_cupy(**changes), import_error)
    found = gpu.try_gpu()
    assert found.installed
    assert not found.works
    assert found.reason
    (line,) = lines("gpu")
    assert line.state == "warning"
    assert found.reason in str(line)
    assert "CPU" in str(line)
    assert "\n" not in str(line)


@pytest.mark.usefixtures("no_driver")
def test_cupy_that_says_no(monkeypatch):
    use_cupy(monkeypatch, working_cupy(is_available=lambda: False))
    (line,) = lines("gpu")
    assert line.state == "note"
    assert "CPU" in str(line)


@pytest.mark.usefixtures("no_driver")
def test_no_cupy(monkeypatch):
    use_cupy(monkeypatch, None, ModuleNotFoundError("No module named 'cupy'", name="cupy"))
    (line,) = lines("gpu")
    assert line.state == "note"
    assert line.remedy == ""  # without a driver there is nothing to install


@pytest.mark.usefixtures("no_driver")
def test_gpu_that_works(monkeypatch):
    use_cupy(monkeypatch, working_cupy())
    assert gpu.try_gpu() == gpu.Gpu(installed=True, works=True, version="14.0", name="A card")
    (line,) = lines("gpu")
    assert line.state == "ok"
    assert "A card" in str(line)


def test_driver_without_cupy_names_the_wheel(monkeypatch):
    use_cupy(monkeypatch, None, ModuleNotFoundError("No module named 'cupy'", name="cupy"))
    monkeypatch.setattr(gpu, "driver_cuda", lambda: 13)
    (line,) = lines("gpu")
    assert '"cupy-cuda13x[ctk]>=14"' in line.remedy


@pytest.mark.parametrize(
    ("reason", "wheels", "asked"),
    [
        ("libnvrtc.so.12: cannot open", ["cupy-cuda12x"], '"cupy-cuda12x[ctk]>=14"'),
        ("No module cublas", ["cupy-cuda13x"], '"cupy-cuda13x[ctk]>=14"'),
        ("libnvrtc.so.12: cannot open", ["cupy"], ""),  # conda's
        ("libnvrtc.so.12: cannot open", ["cupy-cuda12x", "cupy-cuda13x"], ""),
        (NO_DRIVER, ["cupy-cuda12x"], ""),
    ],
)
def test_cupy_without_a_library_of_cuda_is_told_how_to_get_it(monkeypatch, reason, wheels, asked):
    """CuPy's wheels bring neither compiler nor cuBLAS; a missing driver is another matter.

    The wheel that is there is completed, whatever the driver would serve: never two of them.
    """
    use_cupy(monkeypatch, working_cupy(RawKernel=raising(RuntimeError(reason))))
    monkeypatch.setattr(gpu, "driver_cuda", lambda: 13)
    monkeypatch.setattr(gpu, "cupy_wheels", lambda: wheels)
    (line,) = lines("gpu")
    assert line.state == "warning"
    assert line.remedy.endswith(asked)
    assert bool(line.remedy) == bool(asked)


@pytest.mark.parametrize(
    ("cuda", "wheel"),
    [(None, None), (11, None), (12, "cupy-cuda12x"), (13, "cupy-cuda13x"), (14, "cupy-cuda13x")],
)
def test_wheel_for_a_driver(cuda, wheel):
    assert gpu.fitting_wheel(cuda) == wheel


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_several_wheels(monkeypatch, language):
    set_language(language)
    use_cupy(monkeypatch, working_cupy())
    monkeypatch.setattr(gpu, "driver_cuda", lambda: 12)
    monkeypatch.setattr(gpu, "cupy_wheels", lambda: ["cupy-cuda12x", "cupy-cuda13x"])
    (line,) = lines("cupy")
    assert line.state == "warning"
    assert "pip uninstall -y cupy-cuda12x cupy-cuda13x" in str(line)
    assert 'pip install "cupy-cuda12x' in str(line)
    assert "2" in str(line)


@pytest.mark.parametrize(("wheel", "warned"), [("cupy-cuda13x", True), ("cupy-cuda12x", False)])
def test_wheel_newer_than_the_driver(monkeypatch, wheel, warned):
    use_cupy(monkeypatch, working_cupy(is_available=lambda: False))
    monkeypatch.setattr(gpu, "driver_cuda", lambda: 12)
    monkeypatch.setattr(gpu, "cupy_wheels", lambda: [wheel])
    found = lines("cupy")
    assert bool(found) == warned
    if warned:
        assert f"pip uninstall -y {wheel}" in str(found[0])


def test_memory_is_given_back_whatever_happens(monkeypatch):
    freed = []
    pool = SimpleNamespace(free_all_blocks=lambda: freed.append(dict(alive)))
    cupy = working_cupy(get_default_memory_pool=lambda: pool)
    use_cupy(monkeypatch, cupy)
    alive = weakref.WeakValueDictionary()

    def work(problem=None):
        array = np.zeros(3)
        alive["array"] = array
        if problem:
            raise problem
        return 5

    assert gpu.run_and_free(work) == 5
    with pytest.raises(MemoryError, match="allocating"):
        gpu.run_and_free(lambda: work(MemoryError("allocating 9 bytes")))
    assert freed == [{}, {}]  # by then nobody holds the array any more


def test_wheels_are_told_from_other_packages(monkeypatch):
    names = ["cupy-cuda12x", "CuPy_cuda13x", "cupy", "cupy-rocm-7-0", "cupy-xarray", "cupyx", None]
    packages = [SimpleNamespace(metadata={"Name": name}) for name in names]
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: iter(packages))
    assert gpu.cupy_wheels() == ["cupy", "cupy-cuda12x", "cupy-cuda13x", "cupy-rocm-7-0"]


def test_driver_question_never_raises():
    assert gpu.driver_cuda() is None or gpu.driver_cuda() > 0


def test_looking_installs_nothing(monkeypatch):
    monkeypatch.setattr(gpu, "driver_cuda", lambda: 12)
    monkeypatch.setattr(gpu, "cupy_wheels", lambda: ["cupy-cuda12x", "cupy-cuda13x"])
    monkeypatch.setattr(subprocess, "run", raising(AssertionError("ran a program")))
    monkeypatch.setattr(installation, "_server_python", lambda: None)
    installation.check_installation()


# -- the other lines ---------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_report(capsys, language):
    set_language(language)
    installation.report()
    printed = capsys.readouterr().out.splitlines()
    found = installation.check_installation()
    assert printed == [str(line) for line in found]
    subjects = [line.subject for line in found]
    assert subjects[:5] == ["python", "package", "numpy", "matplotlib", "ipywidgets"]
    assert {"server", "font", "gpu"} <= set(subjects)
    assert sys.executable in printed[0]
    assert andrea_lesson.__path__[0] in printed[1]
    assert np.__version__ in printed[2]
    assert printed[2].startswith("[可用]" if language == "zh-Hant" else "[ok]")


def versions(monkeypatch, **changed):
    """Pretend other versions; None stands for not installed."""
    version = importlib.metadata.version

    def pretend(name):
        if name not in changed:
            return version(name)
        if changed[name] is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return changed[name]

    monkeypatch.setattr(importlib.metadata, "version", pretend)


@pytest.mark.parametrize("name", ["numpy", "matplotlib", "ipywidgets"])
def test_missing_package_says_how_to_get_it(monkeypatch, name):
    versions(monkeypatch, **{name: None})
    (line,) = lines(name)
    assert line.state == "missing"
    assert "pip install" in line.remedy
    assert name in line.remedy


@pytest.mark.parametrize(
    ("name", "version"), [("matplotlib", "3.9.2"), ("numpy", "1.26.4"), ("ipywidgets", "7.8.1")]
)
def test_old_package(monkeypatch, name, version):
    versions(monkeypatch, **{name: version})
    (line,) = lines(name)
    assert line.state == "warning"
    assert version in line.text
    assert "pip install" in line.remedy


def test_ipywidgets_that_draws_no_sliders(monkeypatch):
    versions(monkeypatch, ipywidgets="8.1.9")
    (line,) = lines("ipywidgets")
    assert line.state == "warning"
    assert "VS Code" in line.text
    assert "!=8.1.9" in line.remedy


def test_line_is_for_the_kernel_of_a_notebook(monkeypatch):
    assert installation.pip_line("matplotlib").startswith(f"{sys.executable} -m pip install ")
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert installation.pip_line("matplotlib").startswith('%pip install "matplotlib>=')
    assert installation.pip_line("unknown-to-us") == "%pip install unknown-to-us"


def test_python_with_a_space_in_its_path(monkeypatch):
    monkeypatch.setattr(sys, "executable", r"C:\My Programs\python.exe")
    assert installation.pip_line("x") == r'"C:\My Programs\python.exe" -m pip install x'


def test_checkout_that_was_never_installed(monkeypatch):
    monkeypatch.setattr(
        importlib.metadata, "requires", raising(importlib.metadata.PackageNotFoundError("x"))
    )
    assert installation.pip_line("matplotlib").endswith("pip install matplotlib")


def test_server_of_the_same_python(monkeypatch):
    monkeypatch.setattr(installation, "_server_python", lambda: sys.executable)
    (line,) = lines("server")
    assert line.state == "ok"
    assert importlib.metadata.version("jupyterlab") in line.text


@pytest.mark.parametrize("widgets", [None, "1.1.0"])
def test_server_that_cannot_draw_widgets(monkeypatch, widgets):
    monkeypatch.setattr(installation, "_server_python", lambda: "/hub/bin/python")
    answer = {"jupyterlab": "4.2.0", "jupyterlab_widgets": widgets}
    monkeypatch.setattr(installation, "_versions_of", lambda *_names: answer)
    (line,) = lines("server")
    assert line.state == "warning"
    assert '/hub/bin/python -m pip install "jupyterlab_widgets>=3"' in line.text


@pytest.mark.parametrize(
    "answer", [None, {"jupyterlab": None, "jupyterlab_widgets": None}], ids=["silent", "no lab"]
)
def test_server_that_cannot_be_seen(monkeypatch, answer):
    monkeypatch.setattr(installation, "_server_python", lambda: "/usr/bin/python3")
    monkeypatch.setattr(installation, "_versions_of", lambda *_names: answer)
    (line,) = lines("server")
    assert line.state == "note"


def test_versions_of_another_python():
    names = ("numpy", "a-package-that-nobody-has")
    # the same Python under another spelling, so that it is asked by running it
    other = sys.executable.replace("/bin/", "/bin/./", 1)
    answer = installation._versions_of(other, *names)
    assert answer == {"numpy": np.__version__, "a-package-that-nobody-has": None}
    assert installation._versions_of("/no/such/python", *names) is None


def test_no_font(monkeypatch):
    monkeypatch.setattr("andrea_lesson.fonts.find_face", lambda: None)
    (line,) = lines("font")
    assert line.state == "missing"
    assert "noto-cjk-sans-otc" in line.remedy


def test_no_word_on_fonts_without_matplotlib(monkeypatch):
    versions(monkeypatch, matplotlib=None)
    assert lines("font") == []


def test_font_search_that_breaks(monkeypatch):
    monkeypatch.setattr("andrea_lesson.fonts.find_face", raising(RuntimeError("bad font")))
    (line,) = lines("font")
    assert line.state == "missing"


# -- the package itself ------------------------------------------------------------------------

STUBS = {
    "raises ImportError": "raise ImportError('libcuda.so.1: cannot open shared object file')",
    "raises in is_available": (
        "class cuda:\n    def is_available():\n        raise RuntimeError('no driver')\n"
    ),
    "is not available": "class cuda:\n    def is_available():\n        return False\n",
}


@pytest.mark.parametrize("stub", STUBS.values(), ids=STUBS.keys())
def test_package_works_beside_a_broken_cupy(tmp_path, stub):
    (tmp_path / "cupy.py").write_text(stub, encoding="utf-8")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import andrea_lesson as al, numpy as np\n"
        "assert 'cupy' not in sys.modules\n"
        "Q = np.ones((2, 3)); assert (al.attention(Q, Q, Q) == 1).all()\n"
        "from andrea_lesson.installation import report; report()\n"
    )
    out = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code], capture_output=True, encoding="utf-8"
    )
    assert out.returncode == 0, out.stderr
    assert "CPU" in out.stdout


# -- what is installed and broken --------------------------------------------------------------


def report_beside(folder, **environment):
    """The report of a process that finds `folder` before all other packages."""
    done = subprocess.run(
        [sys.executable, "-c", "from andrea_lesson.installation import report; report()"],
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONUTF8": "1"} | environment,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize("package", ["matplotlib", "ipywidgets"])
@pytest.mark.parametrize("error", ["ImportError", "SystemExit"])
def test_package_that_does_not_load_is_one_line_with_its_own_words(tmp_path, package, error):
    (tmp_path / f"{package}.py").write_text(f"raise {error}('a torn library')", encoding="utf-8")
    told = report_beside(tmp_path)
    (line,) = (line for line in told if "a torn library" in line)
    assert line.startswith(f"[注意] {package} 已損壞或無法載入（{error}: a torn library）")
    assert "pip install --force-reinstall" in line
    assert package in line.partition("pip")[2]
    assert package == "ipywidgets" or not any("字型" in line for line in told)


def test_what_matplotlib_needs_does_not_load(tmp_path):
    (tmp_path / "PIL.py").write_text("raise ImportError('no _imaging')", encoding="utf-8")
    told = report_beside(tmp_path)
    (line,) = (line for line in told if "no _imaging" in line)
    assert "matplotlib 已損壞" in line
    assert not any("字型" in line for line in told)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("andrea_lesson", b"Name: andrea-lesson\nVersion: 1\nRequires-Dist: (bad)\n"),
        ("andrea_lesson", b"\xff\xfe"),
        ("ipywidgets", b"\xff\xfe"),
        ("matplotlib", b"\xff\xfe"),
        ("someone", b"\xff\xfe"),
    ],
)
def test_damaged_record_of_a_package_is_a_line(tmp_path, name, content):
    record = tmp_path / f"{name}-1.dist-info" / "METADATA"
    record.parent.mkdir()
    record.write_bytes(content)
    told = report_beside(tmp_path)
    assert len([line for line in told if f"{name} 已損壞" in line]) == (name != "someone")
    assert any("numpy" in line for line in told)
    assert any("CuPy" in line for line in told)


def test_cupy_that_ends_the_process(tmp_path):
    (tmp_path / "cupy.py").write_text("raise SystemExit('no driver')", encoding="utf-8")
    assert any("SystemExit: no driver" in line for line in report_beside(tmp_path))


def test_report_where_nothing_but_ascii_can_be_printed(tmp_path):
    (tmp_path / "cupy.py").write_text("raise ImportError('沒有')", encoding="utf-8")
    told = report_beside(tmp_path, LC_ALL="C", PYTHONUTF8="0")
    assert told[0].startswith("[ok] Python ")
    assert any("ImportError: ??" in line for line in told)
