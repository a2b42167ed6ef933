"""Arrays of another library, as CuPy's are: they do what NumPy's do, but mix with none of them.

NumPy's functions refuse them, and theirs refuse NumPy's arrays; only `put` and `get` go across.
"""

import types

import numpy as np


class OtherArray:
    """Holds the numbers of a NumPy array."""

    __array_ufunc__ = None  # NumPy's functions and operators leave it alone

    def __init__(self, values):
        self._values = values

    def __array__(self, *args, **kwargs):
        raise TypeError("arrays of the other library do not turn into NumPy's by themselves")

    def __array_namespace__(self, **kwargs):
        return library

    def __getattr__(self, name):
        if name.startswith("__"):  # NumPy looks for other ways in
            raise AttributeError(name)
        found = getattr(self._values, name)
        return _on_others(found) if callable(found) else _wrapped(found)

    def __getitem__(self, place):
        return _wrapped(self._values[_places(place)])

    def __setitem__(self, place, value):
        self._values[_places(place)] = _bare(value)

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return (self[n] for n in range(len(self)))

    def __float__(self):
        return float(self._values)


def _bare(given):
    if isinstance(given, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    return given._values if isinstance(given, OtherArray) else given


def _places(place):
    return tuple(map(_bare, place)) if isinstance(place, tuple) else _bare(place)


def _wrapped(found):
    return OtherArray(found) if isinstance(found, (np.ndarray, np.generic)) else found


def _on_others(function):
    def call(*args, **kwargs):
        bare = {name: _bare(value) for name, value in kwargs.items()}
        found = _wrapped(function(*map(_bare, args), **bare))
        return kwargs.get("out", found)

    return call


def _operator(name):
    def operate(self, *others):
        found = getattr(self._values, name)(*map(_bare, others))
        if found is NotImplemented:
            return found
        return self if found is self._values else _wrapped(found)

    return operate


_OPERATORS = ("add", "sub", "mul", "truediv", "pow", "matmul", "and", "or", "xor")
_OPERATORS += ("lt", "le", "gt", "ge", "eq", "ne", "neg", "abs", "invert")
for _name in _OPERATORS:
    for _kind in (f"__{_name}__", f"__r{_name}__", f"__i{_name}__"):
        if hasattr(np.ndarray, _kind):
            setattr(OtherArray, _kind, _operator(_kind))


class _Library(types.ModuleType):
    def __getattr__(self, name):
        found = getattr(np, name)
        return found if isinstance(found, type) or not callable(found) else _on_others(found)


library = _Library("other")


def put(array):
    """Move a NumPy array over."""
    return OtherArray(np.array(array))


def get(array):
    """Move an array back."""
    assert isinstance(array, OtherArray), "it has been brought back on the way"
    return array._values.copy()


def _asarray(given, dtype=None):
    """The one way in for NumPy's arrays, as with CuPy."""
    return given if isinstance(given, OtherArray) else OtherArray(np.array(given, dtype=dtype))


library.asarray = _asarray
