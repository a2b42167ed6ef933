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
