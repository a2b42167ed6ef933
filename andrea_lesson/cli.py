"""The command ``andrea-lesson``: opens the lesson in JupyterLab, or draws a figure."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from . import __version__
from .gpu import one_line
from .installation import REINSTALL, load, pip_line, prints_chinese
from .labels import LANGUAGES, label, set_language
from .workspace import NOTES, WorkspaceError, first_notebook, update_workspace, working_folder

# What the lab extra brings, as it is imported.
_LAB = ("jupyterlab", "ipywidgets", "anywidget", "matplotlib", "threadpoolctl")

_HIGHEST_PORT = 65535
_JUPYTER_CONFIG = Path(__file__).resolve().parent / "jupyter_config"

_USAGE = """
  andrea-lesson [--lang {zh-Hant,en}] [--dir DIR] [--port N] [--no-browser]
                [JupyterLab arguments ...]
  andrea-lesson plot ...      (andrea-lesson plot --help)"""

_DESCRIPTION = """\
Open the lesson on scaled dot-product attention in JupyterLab, on your own copy of the notebooks.
在 JupyterLab 開啟縮放點積注意力的課程；你寫的內容都存在自己的工作副本裡。"""

_EPILOG = """\
Other arguments reach JupyterLab, such as --ServerApp.token=abc or --port-retries=0.
Figures for a handout: andrea-lesson plot --help
其他引數會轉交給 JupyterLab；只要畫圖，請用 andrea-lesson plot --help。"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands after ``andrea-lesson``; taken from the command line by default.

    Returns
    -------
    int
        0 when all went well, 1 when the working copy cannot be made, 2 when an argument is
        wrong or something that the command needs is not installed.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without Chinese must not stop the lesson
            stream.reconfigure(errors="replace")
    if arguments[:1] == ["plot"]:
        return _plot(arguments[1:])
    return _open_lesson(arguments)


def _open_lesson(arguments: Sequence[str]) -> int:
    options, others = _parser().parse_known_args(arguments)
    set_language(options.lang if prints_chinese(sys.stderr) else "en")
    if others and not others[0].startswith("-") and not os.path.exists(others[0]):
        _say(label("cli_no_such_command", word=others[0]))
        return 2
    if options.port is not None and not 1 <= options.port <= _HIGHEST_PORT:
        places = {"value": str(options.port), "low": 1, "high": _HIGHEST_PORT}
        _say(label("plot_whole", option="--port", **places))
        return 2
    missing = [name for name in _LAB if find_spec(name) is None]
    if missing:
        return _say_missing(missing)
    try:
        folder = working_folder(options.dir)
        news = update_workspace(folder)
    except WorkspaceError as error:
        _say(str(error))
        return 1
    _say(label("cli_working_copy", folder=folder), *news)

    own = jupyter_arguments(folder, options.lang, port=options.port, browser=options.browser)
    prepare_environment()
    from jupyterlab.labapp import main as jupyterlab  # heavy, and only in the lab extra

    jupyterlab([*own, *prompt_server(others), *others])
    return 0


def _plot(arguments: Sequence[str]) -> int:
    if not prints_chinese(sys.stderr):
        set_language("en")
    if find_spec("matplotlib") is None:
        return _say_missing(["matplotlib"])
    try:
        load("matplotlib")
    except (Exception, SystemExit) as error:
        line = pip_line("matplotlib", action=REINSTALL)
        _say(label("cli_broken", name="matplotlib", reason=one_line(error), line=line))
        return 2
    from . import plot_command  # loads matplotlib

    parser = argparse.ArgumentParser(prog="andrea-lesson plot")
    plot_command.add_arguments(parser)
    return int(plot_command.run(parser.parse_args(arguments)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="andrea-lesson",
        usage=_USAGE,
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # an argument of JupyterLab's is never taken for one of ours
    )
    parser.add_argument(
        "--lang",
        choices=LANGUAGES,
        default=LANGUAGES[0],
        help="language of the notebooks (default: %(default)s)",
    )
    parser.add_argument(
        "--dir",
        default="my-lesson",
        metavar="DIR",
        help="folder of your working copy (default: %(default)s in the current folder); "
        "your files are never overwritten",
    )
    parser.add_argument("--port", type=int, metavar="N", help="port of the server")
    parser.add_argument(
        "--no-browser",
        dest="browser",
        action="store_false",
        help="only print the address, open no browser",
    )
    parser.add_argument("--version", action="version", version=f"andrea-lesson {__version__}")
    return parser


def jupyter_arguments(
    folder: Path, lang: str, *, port: int | None = None, browser: bool = True
) -> list[str]:
    """Arguments with which JupyterLab opens the working copy on its first notebook."""
    first = first_notebook(folder, lang)
    arguments = [
        f"--ServerApp.root_dir={folder}",
        # its own layout of open tabs, apart from the other JupyterLab work of this user
        f"--LabApp.workspaces_dir={folder / NOTES / 'workspaces'}",
        f"--LabApp.default_url=/lab/tree/{first}" if first else "--LabApp.default_url=/lab",
    ]
    if port is not None:
        arguments.append(f"--ServerApp.port={port}")
    if not browser:
        arguments.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")  # in a container root is often the only user
    return arguments


def prompt_server(others: Sequence[str]) -> list[str]:
    """Argument that spares sliders a wait of 40 ms; a gateway to other machines has its own way."""
    gateway = "JUPYTER_GATEWAY_URL" in os.environ or any(
        "gateway" in word.lower() for word in others
    )
    name = "andrea_lesson.prompt_server.PromptConnection"
    return [] if gateway else [f"--ServerApp.kernel_websocket_connection_class={name}"]


def prepare_environment() -> None:
    """Let JupyterLab find this package's settings first, and this Python's kernel.

    The settings (``jupyter_config/``) keep the address at 127.0.0.1 and turn off news and
    updates; those of the user stay in force behind them.
    """
    behind = os.environ.get("JUPYTER_CONFIG_PATH")
    paths = [str(_JUPYTER_CONFIG), *([behind] if behind else [])]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(paths)
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    # Kernels need not repeat to a page what it has just sent: that is one message a move less.
    os.environ.setdefault("JUPYTER_WIDGETS_ECHO", "0")


def _say_missing(names: Sequence[str]) -> int:
    missing = label("list_comma").join(names)
    _say(label("cli_missing", missing=missing, line=pip_line(*names)))
    return 2


def _say(*sentences: str) -> None:
    for sentence in sentences:
        print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
