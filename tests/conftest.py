"""Settings for every test."""

import os

# Before anything imports matplotlib, or makes a panel: no window, no error swallowed.
os.environ["MPLBACKEND"] = "Agg"
os.environ["ANDREA_STRICT"] = "1"
os.environ["ANDREA_PROGRESS"] = "memory"  # what tests try is nobody's progress

import pytest
from hypothesis import settings

from andrea_lesson import set_language

# A slow machine is no failure; where CI is set, every run tries the same examples.
settings.register_profile("lesson", deadline=None, print_blob=True)
settings.register_profile("ci", settings.get_profile("lesson"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "lesson")


@pytest.fixture(autouse=True)
def _language_as_by_default():
    yield
    set_language("zh-Hant")


# -- two workers (`pytest -n 2`): one has the browser, which mostly waits, the other all else ------


def _file(nodeid):
    return nodeid.partition("::")[0]


def pytest_collection_modifyitems(items):
    """Put the browser first: its worker is busy until the end."""
    items.sort(key=lambda item: not _file(item.nodeid).endswith("_browser.py"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a worker a whole file at a time, and all files of the browser to one of them."""
    from xdist.scheduler import LoadScopeScheduling

    class BesideTheBrowser(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = _file(nodeid)
            return "browser" if file.endswith("_browser.py") else file

    return BesideTheBrowser(config, log)
