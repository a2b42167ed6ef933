"""Run a student's function: whatever it does, the check goes on with one sentence.

Arguments are read-only copies, so that a function which changes its input is noticed.  Nothing
the function prints is held back.
"""

import dis
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from .verdict import Waits, Wrong
from .words import Words

_HERE = Path(__file__)
_PACKAGE = _HERE.parents[1]
_SHOWS = {"__init__", "readout", "labels"}  # files of the package that an answer may use
_DOES_NOTHING = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE", "PRECALL"}


def check_is_function(answer: Any, arguments: Sequence[str]) -> None:
    """Let a function of the wanted arguments pass; anything else ends the check."""
    if answer is None or answer is Ellipsis or is_blank(answer):
        raise Waits("waits_function")
    if not callable(answer):
        raise Wrong("not_a_function", came=type_name(answer))
    if _ends_the_kernel(answer):
        raise Wrong("called_exit")
    signature = _signature(answer)
    if signature is None:
        return
    named = {name: name for name in _by_name_only(answer, arguments)}
    try:
        bound = signature.bind(*(name for name in arguments if name not in named), **named)
        # (K, Q) instead of (Q, K) would take each for the other.
        mixed_up = any(name in arguments and name != got for name, got in bound.arguments.items())
    except TypeError:
        mixed_up = True
    if mixed_up:
        came, wanted = ", ".join(signature.parameters), ", ".join(arguments)
        raise Wrong("wrong_parameters", came=came, wanted=wanted)


def _ends_the_kernel(answer: Any) -> bool:
    """Whether a function names ``exit`` or ``quit``, which in a notebook raise nothing."""
    code = _code(answer)
    steps = () if code is None else dis.get_instructions(code)
    return any(one.opname == "LOAD_GLOBAL" and one.argval in ("exit", "quit") for one in steps)


def _signature(answer: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(answer)
    except Exception:  # functions made in C have none, odd objects raise what they like
        return None


def _by_name_only(answer: Any, arguments: Iterable[str]) -> list[str]:
    """Which of the arguments stand behind a ``*``."""
    signature = _signature(answer)
    parameters = [] if signature is None else signature.parameters.values()
    only = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    return [name for name in arguments if name in only]


def is_blank(answer: Any) -> bool:
    """Whether a function is still the stub: a body of nothing but ``...``, or no code yet."""
    code = _code(answer)
    if code is None:
        return False
    steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
    if {step.opname for step in steps} <= _DOES_NOTHING:
        constants = [step.argval for step in steps if step.opname in ("LOAD_CONST", "RETURN_CONST")]
        return bool(constants) and constants[-1] in (None, Ellipsis)
    names = [step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    return names == ["NotImplementedError"] and steps[-1].opname == "RAISE_VARARGS"


def _code(answer: Any) -> CodeType | None:
    try:
        code = getattr(answer, "__code__", None)
        return code if isinstance(code, CodeType) else None
    except Exception:  # what an object answers to a question may be anything
        return None


def where_from(answer: Any) -> str:
    """The cell or the file that a function was written in, or nothing where that is unknown."""
    code = _code(answer)
    if code is None:
        return ""
    shell = sys.modules.get("IPython")
    session = shell.get_ipython() if shell is not None else None
    if session is not None:
        try:
            named = session.compile.format_code_name(code.co_filename)
        except Exception:  # another kernel may know no such thing
            named = None
        if named:
            return " ".join(named)
    file = code.co_filename.replace("\\", "/").rpartition("/")[2]
    return "" if file.startswith("<") else f"{file}:{code.co_firstlineno}"


def call(function: Callable[..., Any], named: dict[str, Any]) -> Any:
    """Call a student's function and return what it returned, or end the check.

    Parameters
    ----------
    function : callable
    named : dict
        The arguments by name, given by position where the function allows it.

    Returns
    -------
    object
        Never None, a generator or a coroutine.

    Raises
    ------
    Wrong, Waits
    """
    locked = [_copy(value, locked=True) for value in named.values()]
    try:
        result = _call(function, named, locked)
    except BaseException as error:
        # A buffer that may not be written: the student's input, or something of their own?
        result = _again_unlocked(function, named, error)
    _check_unchanged(named, locked)
    return _something(result)


def _again_unlocked(
    function: Callable[..., Any], named: dict[str, Any], error: BaseException
) -> Any:
    if not _is_read_only(error):
        raise _blame(function, named, error) from None
    free = [_copy(value, locked=False) for value in named.values()]
    try:
        result = _call(function, named, free)
    except BaseException as second:
        _check_unchanged(named, free)
        raise _blame(function, named, second) from None
    _check_unchanged(named, free)
    return result


def _call(function: Callable[..., Any], names: Iterable[str], values: list[Any]) -> Any:
    arguments = dict(zip(names, values, strict=True))
    named = {name: arguments.pop(name) for name in _by_name_only(function, names)}
    try:
        with np.errstate(all="ignore"):
            return function(*arguments.values(), **named)
    except KeyboardInterrupt:
        raise Wrong("interrupted") from None
    except (SystemExit, GeneratorExit):
        raise Wrong("called_exit") from None


def lent_by_package(function: Callable[..., Any], named: dict[str, Any]) -> str:
    """Which function of the package a right answer leaves the work to; "" if it does it itself.

    Parameters
    ----------
    function : callable
        One that has passed, which is run once more.
    named : dict
        The arguments by name.
    """
    found: list[str] = []

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        code, caller = frame.f_code, frame.f_back
        if event != "call" or not _lends(code):
            return
        # What the package itself calls, or an attention that is probed, is no call of theirs.
        place = Path(caller.f_code.co_filename) if caller else Path()
        if place == _HERE or not place.is_relative_to(_PACKAGE):
            found.append(code.co_name)

    free = [_copy(value, locked=False) for value in named.values()]
    before = sys.getprofile()  # a debugger's, perhaps
    sys.setprofile(watch)
    try:
        _call(function, named, free)
    except Wrong:  # interrupted
        raise
    except Exception:  # it has passed with these arguments; whatever it does now is no fault
        pass
    finally:
        sys.setprofile(before)
    return found[0] if found else ""


def _lends(code: CodeType) -> bool:
    """Whether code of the package is of use in an exercise; what shows numbers is not."""
    path = Path(code.co_filename)
    inside = path.is_relative_to(_PACKAGE) and not path.is_relative_to(_HERE.parent)
    return inside and path.stem not in _SHOWS


def _something(result: Any) -> Any:
    if result is None:
        raise Wrong("returned_nothing")
    if result is Ellipsis or result is NotImplemented:
        raise Waits("waits_function")
    if inspect.isgenerator(result) or inspect.isasyncgen(result):
        raise Wrong("returned_generator")
    if inspect.iscoroutine(result):
        result.close()
        raise Wrong("returned_coroutine")
    return result


def _check_unchanged(named: dict[str, Any], given: list[Any]) -> None:
    for (name, before), after in zip(named.items(), given, strict=True):
        if isinstance(before, np.ndarray) and not _same(before, after):
            raise Wrong("changed_input", argument=name)


def _same(before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]) -> bool:
    return (
        before.shape == after.shape
        and before.dtype == after.dtype
        and before.tobytes() == after.tobytes()
    )


def _copy(value: Any, *, locked: bool) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    copied = value.copy()
    copied.flags.writeable = not locked
    return copied


def _is_read_only(error: BaseException) -> bool:
    return isinstance(error, (ValueError, TypeError, BufferError)) and any(
        part in _text(error) for part in ("read-only", "readonly", "not writable", "WRITEABLE")
    )


def _blame(function: Callable[..., Any], named: dict[str, Any], error: BaseException) -> Wrong:
    """The words for an exception inside the student's code."""
    if isinstance(error, Wrong):  # raised by an argument of ours, such as a probed function
        return error
    if isinstance(error, NotImplementedError):
        return Waits("waits_function")
    if isinstance(error, RecursionError):
        return Wrong("endless_recursion")
    if isinstance(error, MemoryError):
        return Wrong("out_of_memory")
    line = _line(function, error)
    place = Words("in_line", {"line": line}) if line else ""
    if isinstance(error, NameError):
        return Wrong("unknown_name", name=str(error.name or "?"), place=place)
    shapes = [f"{name} {value.shape}" for name, value in named.items() if np.ndim(value)]
    given = Words("given_shapes", {"shapes": ", ".join(shapes)}) if shapes else ""
    return Wrong("raised", error=type(error).__name__, text=_text(error), place=place, given=given)


def _line(function: Callable[..., Any], error: BaseException) -> int | None:
    """The last line of the student's own code that the exception passed through."""
    if not isinstance(function, FunctionType):
        return None
    code = function.__code__
    first, last = code.co_firstlineno, max(line or 0 for *_, line in code.co_lines())
    own = [
        frame.lineno - first + 1
        for frame in traceback.extract_tb(error.__traceback__)
        # a function beside it, which it calls, has lines of its own
        if frame.filename == code.co_filename and frame.lineno and first <= frame.lineno <= last
    ]
    return own[-1] if own else None


def _text(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # an exception of the student's own may fail to speak
        text = ""
    return text if len(text) <= 100 else text[:99] + "…"


def type_name(value: Any) -> str:
    """What kind of thing a value is, by the name its class has."""
    return type(value).__name__
