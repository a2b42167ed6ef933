"""``check.<name>(answer)``: judge an answer in one friendly sentence.

What comes back is a `Verdict`.  Nothing that an answer is or does raises here, and every check
draws fresh random inputs, so that an answer copied from a message is worth nothing.
"""

from collections.abc import Callable, Iterator

from .registry import EXERCISES, no_such
from .verdict import Verdict


class Check:
    """The checks, one attribute an exercise: ``check.sliding_window(my_function)``."""

    def __getattr__(self, name: str) -> Callable[..., Verdict]:
        if name in EXERCISES:
            return EXERCISES[name].check
        raise AttributeError(name if name.startswith("_") else no_such(name))

    def __dir__(self) -> list[str]:
        return sorted(EXERCISES)

    def __iter__(self) -> Iterator[str]:
        return iter(EXERCISES)


check = Check()
