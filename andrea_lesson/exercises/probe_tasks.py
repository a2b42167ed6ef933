"""Judge a probe: a student's function that tells right attentions from wrong ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import zoo
from .comparing import AnyArray
from .running import call, check_is_function, lent_by_package, type_name
from .verdict import Wrong
from .words import Words

Attend = Callable[..., AnyArray]


def _answer(probe: Any, attend: Attend) -> bool:
    """What a probe says of an attention."""
    result = call(probe, {"attend": attend})
    if not isinstance(result, (bool, np.bool_)):
        came = type_name(result)
        raise Wrong("probe_not_boolean", came=came)
    return bool(result)


# -- is it causal? -------------------------------------------------------------------------------


def _masked(mask_of: Callable[[int], AnyArray]) -> Attend:
    """Self-attention under a mask that depends on T."""
    return lambda Q, K, V: np.asarray(zoo.RIGHT["einsum"](Q, K, V, mask_of(len(Q))))


def _leaks_by_denominator(Q: AnyArray, K: AnyArray, V: AnyArray) -> AnyArray:
    return np.asarray(zoo.BROKEN["masked_after_softmax"](Q, K, V, "causal"))


def _mean_taken_away(Q: AnyArray, K: AnyArray, V: AnyArray) -> AnyArray:
    """Causal but for V, which is centred over all positions first."""
    return np.asarray(zoo.RIGHT["einsum"](Q, K, V - V.mean(axis=0), "causal"))


def _next_query(Q: AnyArray, K: AnyArray, V: AnyArray) -> AnyArray:
    """Each row asks with the query of the next position."""
    return np.asarray(zoo.RIGHT["einsum"](np.roll(Q, -1, axis=0), K, V, "causal"))


def _scaled_by_all(Q: AnyArray, K: AnyArray, V: AnyArray) -> AnyArray:
    """Keys are brought to unit spread over all positions, the future ones included."""
    return np.asarray(zoo.RIGHT["einsum"](Q, K / K.std(), V, "causal"))


def _cached(Q: AnyArray, K: AnyArray, V: AnyArray) -> AnyArray:
    """Row by row, as in generation."""
    rows = [zoo.RIGHT["einsum"](Q[[i]], K[: i + 1], V[: i + 1])[0] for i in range(len(Q))]
    return np.array(rows)


def _peeks_at_last(T: int) -> AnyArray:
    """Causal, but row 0 sees the last position."""
    mask = np.tri(T, dtype=bool)
    mask[0, -1] = True
    return mask


def _first_peeks(T: int) -> AnyArray:
    """Causal, but row 0 sees position 1."""
    mask = np.tri(T, dtype=bool)
    mask[0, min(1, T - 1)] = True
    return mask


CAUSAL: dict[str, Attend] = {
    "causal": _masked(lambda T: np.tri(T, dtype=bool)),
    "row_by_row": _cached,
    "window": _masked(lambda T: np.tri(T, dtype=bool) & ~np.tri(T, k=-3, dtype=bool)),
    "itself": _masked(lambda T: np.eye(T, dtype=bool)),
    "renormalised": lambda Q, K, V: np.asarray(zoo.RIGHT["renormalised"](Q, K, V, "causal")),
    "first_key": _masked(lambda T: np.repeat([[True] + [False] * (T - 1)], T, axis=0)),
}
LEAKING: dict[str, Attend] = {
    "no_mask": _masked(lambda T: np.ones((T, T), dtype=bool)),
    "reversed": _masked(lambda T: np.tri(T, dtype=bool).T),
    "next_one": _masked(lambda T: np.tri(T, k=1, dtype=bool)),
    "last_one": _masked(_peeks_at_last),
    "first_one": _masked(_first_peeks),
    "denominator": _leaks_by_denominator,
    "values": _mean_taken_away,
    "keys": _scaled_by_all,
    "queries": _next_query,
}


class CausalityTask:
    """The exercise `causality(attend)`: True for an attention in which the past never moves."""

    arguments = ("attend",)

    def judge(self, probe: Any) -> Words:
        """Return words of praise, or raise `Wrong` or `Waits`."""
        check_is_function(probe, self.arguments)
        every = [*CAUSAL.values(), *LEAKING.values()]
        order = np.random.default_rng().permutation(len(every))  # no place gives one away
        says = {every[i]: _answer(probe, every[i]) for i in order}
        said = {
            wanted: {name: says[attend] for name, attend in kind.items()}
            for wanted, kind in ((True, CAUSAL), (False, LEAKING))
        }
        if not any(said[True].values()) and all(said[False].values()):
            raise Wrong("probe_reversed")
        answers = list(says.values())
        if not any(answers):
            raise Wrong("probe_always_false")
        if all(answers):
            raise Wrong("probe_always", answer="True")
        for wanted, key in ((True, "probe_accuses"), (False, "probe_misses")):
            for name, answer in said[wanted].items():
                if answer is not wanted:
                    which = Words(f"{'causal' if wanted else 'leak'}_{name}", {})
                    raise Wrong(key, which=which)
        lender = lent_by_package(probe, {"attend": CAUSAL["causal"]})
        if lender:
            raise Wrong("used_package", name=lender)
        return Words("passed_probe", {"count": len(answers)})


# -- catch the broken attention ------------------------------------------------------------------


@dataclass(frozen=True)
class Catch:
    """What a probe caught: names in the zoo."""

    caught: tuple[str, ...]
    missed: tuple[str, ...]
    accused: tuple[str, ...]


ENOUGH = 10


class CatchTask:
    """The exercise `catch_broken(attend)`: True for a right attention, False for a broken one."""

    arguments = ("attend",)

    def judge(self, probe: Any) -> tuple[Words, bool, Catch]:
        """Return words, whether enough were caught and none accused, and the catch."""
        check_is_function(probe, self.arguments)
        every = [*zoo.BROKEN.values(), *zoo.RIGHT.values()]
        order = np.random.default_rng().permutation(len(every))  # no place gives one away
        says_right = {every[i].name: _of_specimen(probe, every[i]) for i in order}
        catch = Catch(
            caught=tuple(name for name in zoo.BROKEN if not says_right[name]),
            missed=tuple(name for name in zoo.BROKEN if says_right[name]),
            accused=tuple(name for name in zoo.RIGHT if not says_right[name]),
        )
        values: dict[str, Any] = {"count": len(catch.caught), "of": len(zoo.BROKEN)}
        if len(catch.accused) == len(zoo.RIGHT):
            if not catch.caught:
                return Words("probe_reversed", {}), False, catch
            if not catch.missed:
                return Words("probe_always", {"answer": "False"}), False, catch
        if catch.accused:
            which = Peculiar(zoo.RIGHT[catch.accused[0]])
            values |= {"accused": len(catch.accused), "which": which}
            return Words("catch_accused", values), False, catch
        if not catch.caught:
            return Words("probe_always", {"answer": "True"}), False, catch
        if not catch.missed:
            return Words("catch_all", values), True, catch
        values |= {"which": Peculiar(zoo.BROKEN[catch.missed[0]]), "enough": ENOUGH}
        enough = len(catch.caught) >= ENOUGH
        return Words("catch_enough" if enough else "catch_few", values), enough, catch


@dataclass(frozen=True)
class Peculiar:
    """What is peculiar about a specimen, in the language of the moment, without a full stop."""

    specimen: zoo.Specimen

    def __str__(self) -> str:
        return self.specimen.message.rstrip("。.")


def _of_specimen(probe: Any, specimen: zoo.Specimen) -> bool:
    """What a probe says; a broken attention that stops it by an exception is caught as well."""
    failed: list[Exception] = []

    def attend(Q: Any, K: Any, V: Any, mask: Any = None) -> AnyArray:
        try:
            return np.asarray(specimen(Q, K, V, mask))
        except Exception as error:
            failed.append(error)
            raise

    try:
        return _answer(probe, attend)
    except Wrong as wrong:
        if wrong.words.key != "raised":
            raise
        # A probe may also say no by a failing assert, or be stopped by what it probes.
        if wrong.words.values["error"] == "AssertionError" or (failed and not specimen.right):
            return False
        raise
