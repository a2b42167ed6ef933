"""Where the lesson keeps its data and notebooks.

In a checkout they stand beside the package; a wheel carries them inside it.  Every file
is found from the place of this module, so the working directory never matters.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource_path(*parts: str) -> Path:
    """Path of a file or folder that comes with the lesson.

    Parameters
    ----------
    *parts : str
        Steps from the top of the project, such as ``"data", "glossary.csv"``.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    FileNotFoundError
        If neither the checkout nor the wheel has it.
    """
    for base in (_PACKAGE, _PACKAGE.parent):
        path = base.joinpath(*parts)
        if path.exists():
            return path
    raise FileNotFoundError(
        f"{'/'.join(parts)} does not come with this installation of andrea_lesson "
        f"(looked in {_PACKAGE} and {_PACKAGE.parent}); reinstall the package."
    )
