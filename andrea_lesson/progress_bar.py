"""A progress bar for cells that take a while; it goes when the work is done."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress_bar(file: Any = None) -> Iterator[Callable[[int, int], None]]:
    """Show how far a long run is, in a line of text that every front end can show.

    Parameters
    ----------
    file : file, optional
        Where the line goes; standard output by default, as an error stream looks like a fault.

    Yields
    ------
    callable
        To be told the steps done and the steps in all, as ``progress=`` of a training is.

    Examples
    --------
    >>> with progress_bar() as progress:
    ...     race(setting, progress=progress)  # doctest: +SKIP
    """
    from tqdm import tqdm

    form = "{percentage:3.0f} % |{bar:30}| {elapsed} / {remaining}"
    with tqdm(file=file or sys.stdout, leave=False, bar_format=form, total=1) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield progress
