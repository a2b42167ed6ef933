"""Judge a function: run it on fresh random inputs, then find the known slip that it made.

A slip is a wrong form of the exercise with a name.  Where an answer differs from the right one
but agrees with a slip on every input tried, the slip is the diagnosis.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .comparing import AnyArray, Kind, as_array, check_shape, close, differing
from .running import call, check_is_function, lent_by_package
from .verdict import Wrong
from .words import Words

Function = Callable[..., Any]
ORDINARY = "ordinary"


@dataclass(frozen=True, eq=False)
class Case:
    """One call of the student's function.

    Attributes
    ----------
    arguments : tuple
        In the order of the task's argument names.
    stage : str
        "ordinary", or what is special here ("large", "empty", …), which becomes the message
        ``stage_<stage>`` where only this fails.
    only : str
        Refuse here only what agrees with this slip: a right answer may lose its digits.
    """

    arguments: tuple[Any, ...]
    stage: str = ORDINARY
    only: str = ""


@dataclass(frozen=True, eq=False)
class FunctionTask:
    """An exercise that asks for a function.

    Attributes
    ----------
    arguments : tuple of str
    right : callable
        A right answer, in float64 or booleans.
    cases : callable
        Makes the calls from a random generator.
    slips : dict of str to callable
        Wrong forms by name; the message of a slip is ``slip_<name>``.
    kind : {"float", "bool"}
    look : callable, optional
        Takes a function that runs the answer, and raises `Wrong` where a property fails: for
        answers that agree with no slip.
    """

    arguments: tuple[str, ...]
    right: Function
    cases: Callable[[np.random.Generator], list[Case]]
    slips: dict[str, Function]
    kind: Kind = "float"
    look: Callable[[Function], None] | None = None

    def judge(self, answer: Any) -> Words:
        """Return words of praise, or raise `Wrong` or `Waits`."""
        check_is_function(answer, self.arguments)
        cases = self.cases(np.random.default_rng())
        cases.append(_again(cases[0]))
        passed: list[Case] = []
        for stage in dict.fromkeys(case.stage for case in cases):
            here = [case for case in cases if case.stage == stage]
            self._judge_stage(answer, stage, here, passed)
            passed += here
        lender = lent_by_package(answer, dict(zip(self.arguments, cases[0].arguments, strict=True)))
        if lender:
            raise Wrong("used_package", name=lender)
        return Words("passed_function", {"count": len(cases)})

    def _judge_stage(
        self, answer: Function, stage: str, cases: Sequence[Case], passed: Sequence[Case]
    ) -> None:
        results: list[AnyArray] = []
        for case in cases:
            try:
                results.append(self._run(answer, case))
            except Wrong as wrong:
                if wrong.words.key != "raised":
                    raise
                if stage != ORDINARY:
                    why = Words("why_raised", wrong.words.values)
                    raise Wrong(f"stage_{stage}", why=why) from None
                self._name_slip(results, self._wanted(cases[: len(results)]), cases, passed)
                raise
        wanted = self._wanted(cases)
        differ = [
            not close(result, want) and not (case.only and self._spared(result, case))
            for result, want, case in zip(results, wanted, cases, strict=True)
        ]
        if not any(differ):
            return
        place = differ.index(True)
        if cases[place].only:
            raise Wrong(f"slip_{cases[place].only}")
        self._name_slip(results, wanted, cases, passed)
        if len(results) > 1 and all(np.array_equal(results[0], other) for other in results[1:]):
            raise Wrong("ignores_input")
        result, want = results[place], wanted[place]
        check_shape(result, want)
        if stage == ORDINARY and self.look is not None:
            self.look(answer)
        why = _first_difference(result, want)
        if stage != ORDINARY:
            raise Wrong(f"stage_{stage}", why=why)
        raise Wrong("values", why=why, count=sum(differ), of=len(cases))

    def _wanted(self, cases: Sequence[Case]) -> list[AnyArray]:
        return [np.asarray(self.right(*case.arguments)) for case in cases]

    def _run(self, answer: Function, case: Case) -> AnyArray:
        named = dict(zip(self.arguments, case.arguments, strict=True))
        return as_array(call(answer, named), self.kind)

    def _spared(self, result: AnyArray, case: Case) -> bool:
        return not _agrees(result, self.slips[case.only], case)

    def _name_slip(
        self,
        results: list[AnyArray],
        wanted: list[AnyArray],
        cases: Sequence[Case],
        passed: Sequence[Case],
    ) -> None:
        """Raise the first slip that gives every one of the results, if they are not all right.

        One that would not have passed where the answer did is not the cause.
        """
        if all(close(result, want) for result, want in zip(results, wanted, strict=True)):
            return
        for name, slip in self.slips.items():
            if _agree(results, slip, cases) and _agree(self._wanted(passed), slip, passed):
                # "slip:variant" is another face of the same slip
                raise Wrong(f"slip_{name.partition(':')[0]}")


def _agree(results: list[AnyArray], slip: Function, cases: Sequence[Case]) -> bool:
    """Whether a slip gives every one of the results, of which there may be fewer than cases."""
    return all(_agrees(result, slip, case) for result, case in zip(results, cases))  # noqa: B905


def _agrees(result: AnyArray, slip: Function, case: Case) -> bool:
    with np.errstate(all="ignore"):
        try:
            expected = np.asarray(slip(*case.arguments))
        except (ValueError, IndexError):  # this slip cannot be made with these shapes
            return False
    return close(result, expected, nan_equal=True)


def _first_difference(result: AnyArray, want: AnyArray) -> Words:
    """Where a result first differs, without telling what would be right."""
    nan, infinite = np.isnan(result), np.isinf(result)
    if nan.any():
        return Words("why_nan", {"where": _place(nan), "count": int(nan.sum())})
    if infinite.any():
        return Words("why_infinite", {"where": _place(infinite), "count": int(infinite.sum())})
    wrong = differing(result, want)
    values = {"where": _place(wrong), "count": int(wrong.sum()), "of": wrong.size}
    if result.dtype.kind == "b":
        return Words("why_boolean", values)
    first = tuple(np.argwhere(wrong)[0])
    too = "too_large" if float(result[first]) > float(want[first]) else "too_small"
    return Words("why_number", {**values, "too": Words(too, {})})


def _place(cells: AnyArray) -> str:
    return f"[{', '.join(str(index) for index in np.argwhere(cells)[0])}]"


def _again(case: Case) -> Case:
    """Other numbers of the same sizes: an answer may not keep what it returned before."""
    turned = (a[::-1].copy() if isinstance(a, np.ndarray) else a for a in case.arguments)
    return Case(tuple(turned), "again")


def sizes(rng: np.random.Generator, count: int, low: int = 3, high: int = 9) -> list[int]:
    """Sizes of which no two are equal, so that no axis passes for another."""
    return [int(size) for size in rng.permutation(np.arange(low, high + 1))[:count]]
