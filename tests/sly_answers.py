"""Answers that nearly get past the checker, and right ones written in ways that trip it up.

As in `answers.py`, which adds them to its own.
"""

import asyncio
from itertools import count

import numpy as np

from andrea_lesson.exercises import solutions, zoo


def added(number):
    """Attention that adds a number to hidden scores, and has thought of rows without a key."""

    def attend(Q, K, V, mask=None):
        scores = zoo.scores_of(Q, K)
        allowed = zoo.allowed_in(mask, scores)
        weights = zoo.masked_softmax(scores + np.where(allowed, 0, number), allowed | True)
        return np.where(allowed.any(-1, keepdims=True), weights, 0) @ V

    return attend


def replaced_by(number):
    """The same, with hidden scores replaced by the number."""

    def attend(Q, K, V, mask=None):
        scores = zoo.scores_of(Q, K)
        allowed = zoo.allowed_in(mask, scores)
        weights = zoo.masked_softmax(np.where(allowed, scores, number), allowed | True)
        return np.where(allowed.any(-1, keepdims=True), weights, 0) @ V

    return attend


def squeezed(name):
    return lambda *given: np.squeeze(getattr(solutions, name)(*given))


_calls = count(1)


def wrong_every_sixth_time(T, window):
    """There are six calls in a check, the last of which has the sizes of the first."""
    return solutions.sliding_window(T, window) ^ (next(_calls) % 6 == 0)


class Stop(BaseException):
    pass


def stops(error):
    def answer(scores, temperature):
        raise error

    return answer


class Unanswering:
    """Whatever it is asked for, it raises."""

    def __getattr__(self, name):
        raise RuntimeError(name)


class OddSignature:
    @property
    def __signature__(self):
        raise RuntimeError

    def __call__(self, scores, temperature):
        return solutions.softmax_temperature(scores, temperature)


def keys_first(K, Q):  # the lesson gives (Q, K)
    return solutions.scaled_scores(Q, K)


ONE, ALL, S = "attention_one_head", "attention_complete", "softmax_temperature"
D, M = "d_k_of_andrea", "my_d_k"
SLY_WRONG = {
    **{
        f"{number:g} {how} for −∞, {name}": (name, make(number), "slip_finite_stand_in")
        for name in (ONE, ALL)
        for how, make in (("added", added), ("put", replaced_by))
        for number in (-1e4, -1e9, -1e30)
    },
    "−20 added for −∞": (ONE, added(-20), "slip_finite_stand_in"),
    **{
        f"squeezed, {name}": (name, squeezed(name), "wrong_shape")
        for name in (ONE, ALL, "attention_two_heads", "scaled_scores", S)
    },
    "wrong for one position": (
        "one_row_backward",
        lambda p, dp: solutions.one_row_backward(p, dp) + (len(p) == 1),
        "stage_single",
    ),
    "wrong the second time": ("sliding_window", wrong_every_sixth_time, "stage_again"),
    "raises what is no Exception": (S, stops(Stop("no")), "raised"),
    "cancelled": (S, stops(asyncio.CancelledError()), "raised"),
    "keys before queries": ("scaled_scores", keys_first, "wrong_parameters"),
    "exit": (S, lambda scores, temperature: exit(), "called_exit"),
    "quit": (S, lambda scores, temperature: quit(), "called_exit"),
    "answers no question": (S, Unanswering(), "not_a_function"),
    "d_k, bytes": (D, {"ANDREA-12M": b"32"}, "number_in_quotes"),
    "d_k, text in an array": (D, {"ANDREA-12M": np.array("32")}, "number_in_quotes"),
    "d_k, True in an array": (D, {"ANDREA-12M": np.array(True)}, "number_boolean"),
    "d_k, complex of NumPy": (D, {"ANDREA-12M": np.complex64(32)}, "number_other"),
    "d_k, a module": (D, {"ANDREA-12M": np}, "number_other"),
    "d_k, answers no question": (D, {"ANDREA-12M": Unanswering()}, "number_other"),
    "my_d_k, 400 digits": (M, 10**400, "number_too_large"),
    "my_d_k, minus 400 digits": (M, -(10**400), "number_too_small"),
}


_buffer = np.zeros(1000)


def always_the_same_memory(scores, temperature):
    result = _buffer[: scores.size].reshape(scores.shape)
    result[:] = solutions.softmax_temperature(scores, temperature)
    return result


def by_name_only(Q, K, V, *, mask=None):
    return zoo.RIGHT["loops"](Q, K, V, mask)


def all_by_name(*, temperature, scores):
    return solutions.softmax_temperature(scores, temperature)


SLY_RIGHT = {
    "always the same memory": (S, always_the_same_memory),
    "mask by name only": (ALL, by_name_only),
    "all by name": (S, all_by_name),
    "a signature that raises": (S, OddSignature()),
}
