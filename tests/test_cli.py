"""The command: what it hands to JupyterLab, what it says, and with which exit code it ends."""

import asyncio
import importlib
import importlib.metadata
import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

import andrea_lesson
from andrea_lesson import cli


@pytest.fixture
def jupyterlab(monkeypatch, tmp_path):
    """A JupyterLab that only notes how it was started; the current folder is a new one."""
    seen = SimpleNamespace(arguments=None, config_path=None, prefer_environment=None)

    def main(arguments):
        seen.arguments = arguments
        seen.config_path = os.environ["JUPYTER_CONFIG_PATH"]
        seen.prefer_environment = os.environ["JUPYTER_PREFER_ENV_PATH"]

    module = ModuleType("jupyterlab.labapp")
    module.main = main
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", module)
    for name in ("JUPYTER_CONFIG_PATH", "JUPYTER_PREFER_ENV_PATH", "JUPYTER_WIDGETS_ECHO"):
        monkeypatch.setenv(name, "to be put back")
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return seen


def with_first_notebooks(folder):
    for language in ("zh-Hant", "en"):
        path = folder / language / "00_start_here.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("the student's own", encoding="utf-8")


def test_defaults(jupyterlab, tmp_path, capsys):
    with_first_notebooks(tmp_path / "my-lesson")
    assert cli.main([]) == 0
    arguments = jupyterlab.arguments
    assert f"--ServerApp.root_dir={tmp_path / 'my-lesson'}" in arguments
    assert "--LabApp.default_url=/lab/tree/zh-Hant/00_start_here.ipynb" in arguments
    assert "--no-browser" not in arguments
    assert not any("port" in one or "token" in one.lower() for one in arguments)
    said = capsys.readouterr().err
    assert "工作副本" in said
    assert str(tmp_path / "my-lesson") in said
    content = (tmp_path / "my-lesson" / "en" / "00_start_here.ipynb").read_text(encoding="utf-8")
    assert content == "the student's own"


def test_options(jupyterlab, tmp_path, capsys):
    with_first_notebooks(tmp_path / "課程 一")
    assert cli.main(["--lang", "en", "--dir", "課程 一", "--port", "9123", "--no-browser"]) == 0
    arguments = jupyterlab.arguments
    assert f"--ServerApp.root_dir={tmp_path / '課程 一'}" in arguments
    assert "--LabApp.default_url=/lab/tree/en/00_start_here.ipynb" in arguments
    assert "--ServerApp.port=9123" in arguments
    assert "--no-browser" in arguments
    assert "Working copy" in capsys.readouterr().err


def test_other_arguments_reach_jupyterlab_unchanged(jupyterlab):
    others = ["--ServerApp.token=abc", "--port-retries=0", "--ip", "127.0.0.2", "--debug", "--no-b"]
    assert cli.main(["--no-browser", *others[:2], "--lang", "en", *others[2:]]) == 0
    assert jupyterlab.arguments[-len(others) :] == others


def test_root_may_start_it(jupyterlab, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    cli.main([])
    assert "--allow-root" in jupyterlab.arguments
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    cli.main([])
    assert "--allow-root" not in jupyterlab.arguments


def test_settings_stand_before_those_of_the_user(jupyterlab, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", os.pathsep.join(["first", "second"]))
    cli.main([])
    own, *behind = jupyterlab.config_path.split(os.pathsep)
    assert os.path.isfile(os.path.join(own, "labconfig", "page_config.json"))
    assert behind == ["first", "second"]
    assert jupyterlab.prefer_environment == "1"  # the kernel is of this Python


def test_folder_that_cannot_be_had(jupyterlab, tmp_path, capsys):
    (tmp_path / "my-lesson").write_text("a file", encoding="utf-8")
    assert cli.main(["--lang", "en"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "--dir" in said
    assert jupyterlab.arguments is None


@pytest.mark.parametrize("language", ["zh-Hant", "en"])
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--port", "99999"], 2, "65535"),
        (["--port", "-1"], 2, "--port"),
        (["--port=0"], 2, "--port"),
        (["--dir", ""], 1, "--dir"),
        (["plott"], 2, "andrea-lesson plot"),
        (["--no-browser", "plott", "mask"], 2, "plott"),
    ],
)
def test_argument_that_will_not_do_is_one_sentence(
    jupyterlab, tmp_path, capsys, arguments, code, words, language
):
    assert cli.main(["--lang", language, *arguments]) == code
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert words in said
    assert list(tmp_path.iterdir()) == []
    assert jupyterlab.arguments is None


def test_file_that_is_there_reaches_jupyterlab(jupyterlab, tmp_path):
    (tmp_path / "mine.ipynb").write_text("{}", encoding="utf-8")
    assert cli.main(["mine.ipynb"]) == 0
    assert jupyterlab.arguments[-1] == "mine.ipynb"


def test_newer_lesson_is_said(jupyterlab, monkeypatch, capsys):
    monkeypatch.setattr(cli, "update_workspace", lambda _folder: ["one is newer"])
    cli.main([])
    assert "one is newer\n" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["plot", "mask"]])
@pytest.mark.parametrize("language", ["zh-Hant", "en"])
def test_missing_extra_is_one_sentence_with_the_line_that_helps(
    monkeypatch, tmp_path, capsys, arguments, language
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "find_spec", lambda _name: None)
    andrea_lesson.set_language(language)
    lang = [] if arguments else ["--lang", language]
    assert cli.main([*lang, *arguments]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"{sys.executable} -m pip install " in said
    assert '"matplotlib>=3.11"' in said
    if not arguments:
        assert '"jupyterlab>=4.2"' in said
        assert "ipywidgets" in said
    assert ("not installed" in said) == (language == "en")
    assert not (tmp_path / "my-lesson").exists()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_plot_with_a_matplotlib_that_does_not_load_is_one_sentence(tmp_path, encoding):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('torn')", encoding="utf-8")
    end = subprocess.run(
        [sys.executable, "-m", "andrea_lesson.cli", "plot", "mask", "-o", "x.png"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONIOENCODING": encoding},
        capture_output=True,
    )
    said = end.stderr.decode(encoding)
    assert end.returncode == 2, said
    assert said.count("\n") == 1
    assert "matplotlib" in said
    assert "ImportError: torn" in said
    assert 'pip install --force-reinstall "matplotlib>=' in said
    assert ("無法載入" in said) == (encoding == "utf-8")
    assert "?" not in said


def test_plot_goes_to_the_plot_command(monkeypatch):
    module = ModuleType("andrea_lesson.plot_command")
    module.add_arguments = lambda parser: parser.add_argument("--window", type=int)
    module.run = lambda options: options.window
    monkeypatch.setitem(sys.modules, "andrea_lesson.plot_command", module)
    monkeypatch.setattr(andrea_lesson, "plot_command", module, raising=False)
    assert cli.main(["plot", "--window", "4"]) == 4


def test_help_and_version(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for word in ("--lang", "--dir", "--port", "--no-browser", "plot", "課程"):
        assert word in said
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.split() == [
        "andrea-lesson",
        importlib.metadata.version("andrea-lesson"),
    ]


@pytest.mark.parametrize("arguments", [["--lang", "zh"], ["--port", "many"]])
def test_wrong_option(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert arguments[0] in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp950", "utf-8"])
def test_terminal_of_any_encoding(tmp_path, encoding):
    """Where the terminal has no Chinese, the command speaks English and stays alive."""
    (tmp_path / "my-lesson").write_text("a file", encoding="utf-8")
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "andrea_lesson.cli"]
    end = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
    assert end.returncode == 1, end.stderr
    said = end.stderr.decode(encoding)
    assert "--dir" in said
    assert ("cannot be made" in said) == (encoding in ("ascii", "cp1252"))
    helped = subprocess.run([*command, "--help"], env=environment, capture_output=True)
    assert helped.returncode == 0, helped.stderr


def test_command_itself_loads_nothing_heavy():
    code = (
        "import sys, andrea_lesson.cli\n"
        "heavy = {'matplotlib', 'ipywidgets', 'jupyterlab', 'jupyter_server', 'cupy', 'IPython'}\n"
        "print(heavy & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert out.stdout.strip() == b"set()"


def test_pages_are_not_told_what_they_have_just_said(jupyterlab, monkeypatch):
    assert cli.main([]) == 0
    assert os.environ["JUPYTER_WIDGETS_ECHO"] == "0"
    monkeypatch.setenv("JUPYTER_WIDGETS_ECHO", "1")  # who wants it keeps it
    assert cli.main([]) == 0
    assert os.environ["JUPYTER_WIDGETS_ECHO"] == "1"


def test_small_messages_are_sent_at_once(jupyterlab, monkeypatch):
    name = "--ServerApp.kernel_websocket_connection_class"
    assert cli.main([]) == 0
    (ours,) = [one for one in jupyterlab.arguments if one.startswith(name)]
    module, _, connection = ours.removeprefix(f"{name}=").rpartition(".")
    called = []

    class Handler:
        def set_nodelay(self, value):
            called.append(value)

    made = getattr(importlib.import_module(module), connection)
    kept = made.__mro__[1]
    monkeypatch.setattr(kept, "connect", lambda self: _done(called.append("connected")))
    one = made.__new__(made)
    monkeypatch.setattr(made, "websocket_handler", Handler())
    asyncio.run(one.connect())
    assert called == [True, "connected"]


async def _done(result):
    return result


@pytest.mark.parametrize("argument", ["--gateway-url=http://127.0.0.1:1", "--GatewayClient.url=x"])
def test_a_gateway_keeps_its_own_connection(jupyterlab, argument):
    assert cli.main([argument]) == 0
    assert argument in jupyterlab.arguments
    assert not any("kernel_websocket_connection_class" in one for one in jupyterlab.arguments)
