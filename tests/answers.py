"""Answers to the exercises: right ones in many styles, wrong ones of many kinds.

Right and wrong answers are pairs (exercise, answer) by a name; a wrong one also has the key of
the message that must come.
"""

import asyncio
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
from sly_answers import SLY_RIGHT, SLY_WRONG

import andrea_lesson as al
from andrea_lesson.exercises import BROKEN, EXERCISES, RIGHT, solutions, zoo

SEED = 20260101


def personal(name):
    """The figures of a personal question, and its right answer."""
    task = EXERCISES[name].task
    figures = task.numbers(SEED)
    return figures, task.right(**figures)


# -- right, in other styles ------------------------------------------------------------------------


def softmax_loop(scores, temperature):
    result = np.empty(scores.shape)
    for i, row in enumerate(scores):
        e = [math.exp((s - max(row)) / temperature) for s in row]
        result[i] = [x / sum(e) for x in e]
    return result


def softmax_single(scores, temperature):
    s = scores.astype(np.float32) / np.float32(temperature)
    e = np.exp(s - s.max(1)[:, None])
    return e / e.sum(1)[:, None]


def softmax_half(scores, temperature):
    s = scores.astype(np.float16) / np.float16(temperature)
    e = np.exp(s - s.max(1)[:, None])
    return e / e.sum(1)[:, None]


def softmax_log(scores, temperature):
    s = scores / temperature
    return np.exp(s - np.logaddexp.reduce(s, axis=1, keepdims=True))


def softmax_transposed(scores, temperature):
    e = np.exp((scores.T - scores.T.max(axis=0)) / temperature)
    return (e / e.sum(axis=0)).T


def mask_loop(T_q, T_k):
    mask = np.zeros((T_q, T_k), dtype=bool)
    for i in range(T_q):
        for j in range(T_k):
            mask[i, j] = j - (T_k - T_q) <= i
    return mask


def window_loop(T, window):
    mask = np.zeros((T, T), bool)
    for i in range(T):
        mask[i, max(0, i - window + 1) : i + 1] = True
    return mask


def one_head_in(dtype):
    def attend(Q, K, V, mask):
        Q, K, V = (array.astype(dtype) for array in (Q, K, V))
        scores = (Q @ K.T / dtype(np.sqrt(Q.shape[1]))).astype(dtype)
        scores = np.where(mask, scores, dtype(-np.inf))
        top = scores.max(1, keepdims=True)
        e = np.exp(scores - np.where(np.isinf(top), dtype(0), top))
        total = e.sum(1, keepdims=True)
        return e / np.where(total == 0, dtype(1), total) @ V

    return attend


def one_head_nan_to_num(Q, K, V, mask):
    scores = np.where(mask, Q @ K.T / Q.shape[1] ** 0.5, -np.inf)
    e = np.exp(scores - scores.max(1, keepdims=True))
    return np.nan_to_num(e / e.sum(1, keepdims=True)) @ V


def renormalised(Q, K, V, mask):
    """Masked after softmax and renormalised, as long as no weight has vanished."""
    s = zoo.scores_of(Q, K)
    e = np.exp(s - s.max(-1, keepdims=True))
    weights = np.where(zoo.allowed_in(mask, s), e / e.sum(-1, keepdims=True), 0)
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, 1, total) @ V


def one_head_only_visible(Q, K, V, mask):
    output = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        if mask[i].any():
            s = K[mask[i]] @ Q[i] / math.sqrt(len(Q[i]))
            e = np.exp(s - s.max())
            output[i] = e @ V[mask[i]] / e.sum()
    return output


def one_head_copies_then_changes(Q, K, V, mask):
    Q = Q.copy()
    Q *= Q.shape[1] ** -0.5
    return solutions.attention_one_head(Q * Q.shape[1] ** 0.5, K, V, mask)


def one_head_fortran(Q, K, V, mask):
    return np.asfortranarray(solutions.attention_one_head(Q, K, V, mask))


def one_head_writable_buffer(Q, K, V, mask):
    if not Q.flags.writeable:
        raise ValueError("buffer source array is read-only")
    return solutions.attention_one_head(Q, K, V, mask)


class Attend:
    def __call__(self, Q, K, V, mask):
        return solutions.attention_one_head(Q, K, V, mask)


def with_default(Q, K, V, mask=None, scale=None):
    return solutions.attention_one_head(Q, K, V, mask)


def any_arguments(*args):
    return solutions.attention_one_head(*args)


def two_heads_loop(X, W_Q, W_K, W_V):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    d_k, d_v = Q.shape[1] // 2, V.shape[1] // 2
    outputs = []
    for h in range(2):
        q, k = (M[:, h * d_k : (h + 1) * d_k] for M in (Q, K))
        s = q @ k.T / np.sqrt(d_k)
        e = np.exp(s - s.max(1, keepdims=True))
        outputs.append(e / e.sum(1, keepdims=True) @ V[:, h * d_v : (h + 1) * d_v])
    return np.hstack(outputs)


def two_heads_reshape(X, W_Q, W_K, W_V):
    Q, K, V = ((X @ W).reshape(len(X), 2, -1).transpose(1, 0, 2) for W in (W_Q, W_K, W_V))
    s = np.einsum("hic,hjc->hij", Q, K) / np.sqrt(Q.shape[-1])
    e = np.exp(s)
    output = np.einsum("hij,hjc->ihc", e / e.sum(-1, keepdims=True), V)
    return output.reshape(len(X), -1)


def backward_jacobian(p, dp):
    return (np.diag(p) - np.outer(p, p)) @ dp


def backward_loop(p, dp):
    return np.array([
        sum(p[m] * ((m == j) - p[j]) * dp[m] for m in range(len(p))) for j in range(len(p))
    ])  # fmt: skip


def cross_entropy_differences(scores, target):
    def loss(s):
        return np.logaddexp.reduce(s) - s[target]

    step = 1e-5 * np.eye(len(scores))
    s = scores - scores.max()
    return np.array([(loss(s + h) - loss(s - h)) / 2e-5 for h in step])


def running_whole(scores, tile):
    return np.array([scores.max(), np.exp(scores - scores.max()).sum()])


def probe_by_rows(attend):
    Q, K, V = np.random.default_rng().standard_normal((3, 7, 5))
    for t in range(7):
        cut = attend(Q[: t + 1], K[: t + 1], V[: t + 1])
        if not np.allclose(cut, attend(Q, K, V)[: t + 1]):
            return np.bool_(False)
    return np.bool_(True)


def _masked_then_filled(scores, temperature):
    s = np.ma.masked_array(scores / temperature, np.zeros(scores.shape, bool))
    e = np.ma.exp(s - s.max(1)[:, None])
    return (e / e.sum(1)[:, None]).filled(0)


RIGHT_ANSWERS = {
    f"the solution of {name}": (name, getattr(solutions, name))
    for name, one in EXERCISES.items()
    if one.solution
}
RIGHT_ANSWERS |= {f"zoo, {n}, complete": ("attention_complete", s) for n, s in RIGHT.items()}
RIGHT_ANSWERS |= {f"zoo, {n}, one head": ("attention_one_head", s) for n, s in RIGHT.items()}
RIGHT_ANSWERS |= {
    f"one head in {np.dtype(d).name}": ("attention_one_head", one_head_in(d))
    for d in (np.float16, np.float32, np.float64, np.longdouble)
}
RIGHT_ANSWERS |= {
    answer.__name__ if hasattr(answer, "__name__") else type(answer).__name__: (name, answer)
    for name, answer in (
        ("softmax_temperature", softmax_loop),
        ("softmax_temperature", softmax_single),
        ("softmax_temperature", softmax_half),
        ("softmax_temperature", softmax_log),
        ("softmax_temperature", softmax_transposed),
        ("softmax_temperature", _masked_then_filled),
        ("causal_mask_from_scratch", mask_loop),
        ("sliding_window", window_loop),
        ("attention_one_head", one_head_nan_to_num),
        ("attention_one_head", one_head_only_visible),
        ("attention_one_head", renormalised),
        ("attention_one_head", one_head_copies_then_changes),
        ("attention_one_head", one_head_fortran),
        ("attention_one_head", one_head_writable_buffer),
        ("attention_one_head", Attend()),
        ("attention_one_head", with_default),
        ("attention_one_head", any_arguments),
        ("attention_two_heads", two_heads_loop),
        ("attention_two_heads", two_heads_reshape),
        ("one_row_backward", backward_jacobian),
        ("one_row_backward", backward_loop),
        ("cross_entropy_row", cross_entropy_differences),
        ("running_softmax", running_whole),
        ("causality", probe_by_rows),
    )
}
RIGHT_ANSWERS |= {
    "causal mask by np.tri": (
        "causal_mask_from_scratch",
        lambda T_q, T_k: np.tri(T_q, T_k, T_k - T_q, dtype=bool),
    ),
    "causal mask by np.triu": (
        "causal_mask_from_scratch",
        lambda T_q, T_k: ~np.triu(np.ones((T_q, T_k), bool), k=T_k - T_q + 1),
    ),
    "window of two triangles": (
        "sliding_window",
        lambda T, window: np.tri(T, dtype=bool) ^ np.tri(T, k=-window, dtype=bool),
    ),
    "renormalised, complete": ("attention_complete", renormalised),
    "scores by einsum": (
        "scaled_scores",
        lambda Q, K: np.einsum("...id,...jd->...ij", Q, K) * K.shape[-1] ** -0.5,
    ),
    "scores in float32": (
        "scaled_scores",
        lambda Q, K: Q.astype("f4") @ np.moveaxis(K, -1, -2).astype("f4") / np.sqrt(Q.shape[-1]),
    ),
    "scores in float16": (
        "scaled_scores",
        lambda Q, K: solutions.scaled_scores(Q, K).astype(np.float16),
    ),
    "d_k": ("d_k_of_andrea", {"ANDREA-12M": 32, "ANDREA-120M": 64, "ANDREA-480M": 64}),
    "d_k as other numbers": (
        "d_k_of_andrea",
        {"ANDREA-12M": 384 / 12, "ANDREA-120M": np.int8(64), "ANDREA-480M": Fraction(64)},
    ),
    "d_k as arrays": (
        "d_k_of_andrea",
        {"ANDREA-12M": np.array(32), "ANDREA-120M": Decimal(64), "ANDREA-480M": np.float16(64)},
    ),
    "divisors": ("scaling_at_4096", {1: 64, 16: 16, 32: 11.3, 64: 8}),
    "divisors exactly": ("scaling_at_4096", {n: np.sqrt(4096 / n) for n in (1, 16, 32, 64)}),
    "kinds": (
        "kinds_of_masks",
        {"encoder": "full", "decoder": "causal", "cross_attention": "padding"},
    ),
    "kinds, written freely": (
        "kinds_of_masks",
        {"encoder": " Padding ", "decoder": "sliding-window mask", "cross_attention": "FULL"},
    ),
    **{
        f"personal {name}": (name, personal(name)[1])
        for name in EXERCISES
        if EXERCISES[name].personal
    },
}


# -- wrong -----------------------------------------------------------------------------------------


def raises(error):
    def answer(scores, temperature):
        raise error

    return answer


def endless(scores, temperature):
    raise KeyboardInterrupt  # what the interrupt button does to a loop without end


def recursion(scores, temperature):
    return recursion(scores, temperature)


def forgot_return(scores, temperature):
    e = np.exp(scores / temperature)
    e /= e.sum(axis=-1, keepdims=True)


def generator(scores, temperature):
    yield from scores


async def coroutine(scores, temperature):
    return scores


async def async_generator(scores, temperature):
    yield scores


def in_place(scores, temperature):
    scores /= temperature
    return solutions.softmax_temperature(scores, 1)


def in_place_by_force(scores, temperature):
    scores.flags.writeable = True
    right = solutions.softmax_temperature(scores, temperature)
    scores[:] = 0
    return right


def in_place_then_fails(Q, K, V, mask):
    K[0] = 0
    raise ValueError("too late")


def unknown(scores, temperature):
    return temperture_softmax(scores)  # noqa: F821


def uses_globals(scores, temperature):
    return solutions.softmax_temperature(np.arange(12.0).reshape(3, 4), 2)


class Mute(Exception):
    def __str__(self):
        raise RuntimeError


class Frame:
    """Like a table of pandas."""

    def __init__(self, array):
        self.iloc = array

    def to_numpy(self):
        return self.iloc


def returns(change):
    """Softmax with a temperature, right but for what `change` makes of it."""
    return lambda scores, temperature: change(solutions.softmax_temperature(scores, temperature))


def mask_as(change):
    return lambda T, window: change(solutions.sliding_window(T, window))


def objects(array):
    result = array.astype(object)
    result[0, 0] = None
    return result


def ragged(array):
    result = np.empty(len(array), dtype=object)
    for i, row in enumerate(array):
        result[i] = row[: i + 1]
    return result


def nan_everywhere(array):
    return np.full(array.shape, np.nan)


def one_nan(array):
    array[0, -1] = np.nan
    return array


def one_infinity(array):
    array[-1, 0] = np.inf
    return array


S = "softmax_temperature"
RUNNING = {
    "None": (None, "waits_function"),
    "Ellipsis": (..., "waits_function"),
    "stub": (lambda scores, temperature: ..., "waits_function"),
    "returns NotImplemented": (lambda s, t: [NotImplemented][0], "waits_function"),
    "NotImplementedError": (raises(NotImplementedError()), "waits_function"),
    "number": (5, "not_a_function"),
    "array instead of function": (np.eye(3), "not_a_function"),
    "text": ("softmax", "not_a_function"),
    "list": ([], "not_a_function"),
    "no parameters": (lambda: 1, "wrong_parameters"),
    "one parameter": (lambda scores: scores, "wrong_parameters"),
    "three parameters": (lambda scores, temperature, axis: scores, "wrong_parameters"),
    "interrupt": (endless, "interrupted"),
    "SystemExit": (raises(SystemExit(1)), "called_exit"),
    "GeneratorExit": (raises(GeneratorExit()), "called_exit"),
    "recursion": (recursion, "endless_recursion"),
    "MemoryError": (raises(MemoryError()), "out_of_memory"),
    "NameError": (unknown, "unknown_name"),
    "ZeroDivisionError": (raises(ZeroDivisionError("division by zero")), "raised"),
    "AssertionError": (raises(AssertionError()), "raised"),
    "IndexError": (lambda s, t: s[99], "raised"),
    "AttributeError": (lambda s, t: s.exp(), "raised"),
    "keepdims forgotten": (lambda s, t: (e := np.exp(s / t)) / e.sum(-1), "raised"),
    "an exception that cannot speak": (raises(Mute()), "raised"),
    "StopIteration": (raises(StopIteration()), "raised"),
    "a long exception": (raises(ValueError("x" * 500)), "raised"),
    "forgot return": (forgot_return, "returned_nothing"),
    "print for return": (lambda s, t: print(end=""), "returned_nothing"),
    "generator": (generator, "returned_generator"),
    "generator expression": (lambda s, t: (row for row in s), "returned_generator"),
    "asynchronous generator": (async_generator, "returned_generator"),
    "coroutine": (coroutine, "returned_coroutine"),
    "asyncio": (lambda s, t: asyncio.sleep(0), "returned_coroutine"),
    "in place": (in_place, "changed_input"),
    "in place by force": (in_place_by_force, "changed_input"),
    "list returned": (returns(np.ndarray.tolist), "returned_list"),
    "list of rows": (returns(list), "returned_list"),
    "empty list": (returns(lambda a: []), "returned_list"),
    "tuple": (returns(lambda a: (a,)), "returned_tuple"),
    "weights and sums": (returns(lambda a: (a, a.sum(1))), "returned_tuple"),
    "sum": (returns(np.sum), "returned_number"),
    "float": (returns(lambda a: 0.5), "returned_number"),
    "True": (returns(lambda a: True), "returned_number"),
    "0-d array": (returns(lambda a: np.array(0.5)), "returned_number"),
    "NaN alone": (returns(lambda a: math.nan), "returned_number"),
    "table": (returns(Frame), "returned_table"),
    "masked array": (returns(np.ma.masked_array), "returned_masked_array"),
    "matrix": (returns(np.asmatrix), "returned_matrix"),
    "objects": (returns(objects), "returned_objects"),
    "ragged": (returns(ragged), "returned_objects"),
    "text returned": (returns(str), "returned_other"),
    "dict": (returns(lambda a: {"weights": a}), "returned_other"),
    "function returned": (returns(lambda a: a.sum), "returned_other"),
    "object": (returns(lambda a: object()), "returned_other"),
    "class": (Frame.__class__, "raised"),
    "whole numbers": (returns(lambda a: a.astype(int)), "returned_whole"),
    "unsigned": (returns(lambda a: a.astype(np.uint8)), "returned_whole"),
    "Booleans": (returns(lambda a: a > 0.5), "returned_booleans"),
    "complex": (returns(lambda a: a + 0j), "returned_other_numbers"),
    "array of text": (returns(lambda a: a.astype(str)), "returned_other_numbers"),
    "flattened": (returns(np.ravel), "wrong_shape"),
    "one row": (returns(lambda a: a[0]), "wrong_shape"),
    "one row kept": (returns(lambda a: a[:1]), "wrong_shape"),
    "extra axis": (returns(lambda a: a[None]), "wrong_shape"),
    "empty": (returns(lambda a: a[:0]), "wrong_shape"),
    "one number, to be stretched": (returns(lambda a: a[:1, :1]), "wrong_shape"),
    "NaN": (returns(nan_everywhere), "values"),
    "one NaN": (returns(one_nan), "values"),
    "one infinity": (returns(one_infinity), "values"),
    "zeros": (returns(np.zeros_like), "values"),
    "ones": (returns(np.ones_like), "values"),
    "uniform": (returns(lambda a: np.full(a.shape, 1 / a.shape[1])), "values"),
    "negative": (returns(np.negative), "values"),
    "rounded": (returns(lambda a: a.round(2)), "values"),
    "a little off": (returns(lambda a: a + 1e-4), "values"),
    "shuffled rows": (returns(lambda a: np.roll(a, 1, axis=1)), "values"),
    "random": (returns(lambda a: np.random.default_rng().random(a.shape)), "values"),
    "the argument": (lambda s, t: s * 1.0, "values"),
    "hard coded": (uses_globals, "ignores_input"),
    "hard coded shape": (lambda s, t: np.eye(3), "ignores_input"),
    "fails on whole numbers": (
        lambda s, t: solutions.softmax_temperature(s, t) if s.dtype.kind == "f" else s[99],
        "stage_whole",
    ),
    "half shift": (
        lambda s, t: (e := np.exp(s / t - 100)) / e.sum(-1, keepdims=True),
        "slip_no_maximum_shift",
    ),
}
WRONG_ANSWERS = {f"{S}, {name}": (S, *rest) for name, rest in RUNNING.items()}
WRONG_ANSWERS |= {
    f"slip of {name}, {slip}": (name, function, f"slip_{slip.partition(':')[0]}")
    for name, one in EXERCISES.items()
    for slip, function in getattr(one.task, "slips", {}).items()
    if one.arguments
}
# What a slip's own numbers cannot show, as it fails on other shapes.
WRONG_ANSWERS |= {
    f"zoo, {name}": ("attention_complete", specimen.attend, None)
    for name, specimen in BROKEN.items()
}
WINDOWS = {
    "0 and 1": (mask_as(lambda m: m.astype(int)), "returned_not_boolean"),
    "0.0 and 1.0": (mask_as(lambda m: m.astype(float)), "returned_not_boolean"),
    "additive": (mask_as(lambda m: np.where(m, 0, -np.inf)), "returned_additive"),
    "additive, finite": (mask_as(lambda m: np.where(m, 0, -1e9)), "returned_additive"),
    "lists": (mask_as(np.ndarray.tolist), "returned_list"),
    "int ~": (mask_as(lambda m: ~m.astype(int)), "returned_not_boolean"),
    "one cell": (mask_as(lambda m: m ^ (np.arange(m.size) == 0).reshape(m.shape)), "values"),
    "batched": (mask_as(lambda m: m[None]), "wrong_shape"),
    "upside down": (mask_as(lambda m: m[::-1]), "values"),
}


def running_backwards(scores, tile):
    m, l = -np.inf, 0.0  # noqa: E741
    for start in range(0, len(scores), tile):
        part = scores[start : start + tile]
        new = max(m, part.max())
        l = l * np.exp(new - m) + np.exp(part - new).sum()  # noqa: E741
        m = new
    return np.array([m, l])


def deaf_to_causal(Q, K, V, mask=None):
    return solutions.attention_complete(Q, K, V, None if isinstance(mask, str) else mask)


def always_causal(Q, K, V, mask=None):
    return solutions.attention_complete(Q, K, V, "causal")


WRONG_ANSWERS |= {
    "running_softmax, the other way round": (
        "running_softmax",
        running_backwards,
        "slip_sum_grown",
    ),
    "attention_complete, deaf to causal": (
        "attention_complete",
        deaf_to_causal,
        "slip_causal_passed_over",
    ),
    "attention_complete, always causal": (
        "attention_complete",
        always_causal,
        "slip_always_causal",
    ),
}


def probe_of_package(attend):
    Q, K, V = np.random.default_rng(0).standard_normal((3, 9, 4))
    for position in range(1, 9):
        moved = al.experiments.causality_probe(attend, Q, K, V, position)
        if (moved[:position] > 1e-9).any():
            return False
    return True


WRONG_ANSWERS |= {
    f"{name}, by the package": (name, answer, "used_package")
    for name, answer in {
        "attention_complete": lambda Q, K, V, mask=None: al.attention(Q, K, V, mask=mask),
        "attention_one_head": lambda Q, K, V, mask: al.attention_steps(Q, K, V, mask=mask).output,
        "scaled_scores": lambda Q, K: al.attention_steps(Q, K, K).scaled_scores,
        "causal_mask_from_scratch": al.causal_mask,
        "sliding_window": lambda T, window: al.sliding_window_mask(T, window=window),
        "softmax_temperature": lambda scores, temperature: al.softmax(scores / temperature),
        "causality": probe_of_package,
    }.items()
}
WRONG_ANSWERS |= {f"sliding_window, {n}": ("sliding_window", *rest) for n, rest in WINDOWS.items()}


def odd(change):
    """Attention of one head whose weights `change` spoils in a way without a name."""

    def attend(Q, K, V, mask):
        weights = solutions.attention_one_head(Q, K, np.eye(len(K)), mask)
        return change(weights, mask) @ V

    return attend


def by_columns(weights, mask):
    weights = weights * (1 + np.arange(weights.shape[1]))
    total = weights.sum(axis=0)
    return weights / np.where(total == 0, 1, total)


def fails_when(part):
    def attend(Q, K, V, mask):
        if part(Q, K, V, mask):
            raise ArithmeticError("no")
        return np.asarray(RIGHT["einsum"](Q, K, V, mask))

    return attend


def batch_of_zeros(Q, K, V, mask=None):
    output = np.array(RIGHT["einsum"](Q, K, V, mask))
    return output * (Q.ndim == 2)


def wrong_rectangle(Q, K, V, mask=None):
    output = np.array(RIGHT["einsum"](Q, K, V, mask))
    return output * (1.1 if isinstance(mask, str) and len(Q) != len(K) else 1)


def wrong_below(Q, K, V, mask=None):
    if np.abs(Q).max() > 1e5:
        raise OverflowError("too much")
    return np.asarray(RIGHT["einsum"](Q, K, V, mask))


def wrong_empty(Q, K, V, mask=None):
    allowed = mask if isinstance(mask, np.ndarray) else np.ones((len(Q), len(K)), bool)
    return np.asarray(RIGHT["einsum"](Q, K, V, mask)) + ~allowed.any(-1, keepdims=True)


ONE = "attention_one_head"
WRONG_ANSWERS |= {
    "negative weights": (ONE, odd(lambda w, m: w - 0.6 * m), "look_negative"),
    "normalised by column": (ONE, odd(by_columns), "look_columns"),
    "a little leaks": (ONE, odd(lambda w, m: w + 0.01 * ~m), "look_hidden"),
    "the largest only": (
        ONE,
        odd(lambda w, m: (w == w.max(axis=1, keepdims=True)).astype(float)),
        "look_allowed",
    ),
    "row sums of 1.01": (ONE, odd(lambda w, m: w * 1.01), "look_row_sums"),
    "uniform over what is allowed": (
        ONE,
        odd(lambda w, m: m / np.maximum(m.sum(1, keepdims=True), 1)),
        "values",
    ),
    "changes K and fails": (ONE, in_place_then_fails, "changed_input"),
    "ones for an empty row": (ONE, wrong_empty, "stage_empty"),
    "fails for large numbers": (ONE, fails_when(lambda Q, *_: np.abs(Q).max() > 99), "stage_large"),
    "fails below": (ONE, wrong_below, "stage_below"),
    "zeros in a batch": ("attention_complete", batch_of_zeros, "stage_batch"),
    "rectangle": ("attention_complete", wrong_rectangle, "stage_rectangle"),
    "a NaN for a certain row": (
        "one_row_backward",
        lambda p, dp: solutions.one_row_backward(p, dp) + 0 * np.log(p),
        "stage_certain",
    ),
    "transposed scores of a batch": (
        "scaled_scores",
        lambda Q, K: Q @ K.T / np.sqrt(Q.shape[-1]),
        "raised",
    ),
    "transposed shape": (
        "scaled_scores",
        lambda Q, K: np.swapaxes(solutions.scaled_scores(Q, K), -1, -2) + 1,
        "shape_transposed",
    ),
}

D, C, K = "d_k_of_andrea", "scaling_at_4096", "kinds_of_masks"
WRONG_ANSWERS |= {
    "d_k, nothing": (D, None, "waits_answer"),
    "d_k, stub": (D, dict.fromkeys(("ANDREA-12M", "ANDREA-120M", "ANDREA-480M")), "waits_answer"),
    "d_k, one of three": (D, {"ANDREA-12M": 32}, "waits_more"),
    "d_k, a number": (D, 64, "table_wanted"),
    "d_k, a list": (D, [32, 64, 64], "table_wanted"),
    "d_k, unknown": (D, {"ANDREA-13M": 32}, "table_unknown"),
    "d_k, True": (D, {"ANDREA-12M": True}, "number_boolean"),
    "d_k, quotes": (D, {"ANDREA-12M": "32"}, "number_in_quotes"),
    "d_k, two": (D, {"ANDREA-12M": [32]}, "number_not_one"),
    "d_k, an array": (D, {"ANDREA-12M": np.array([32])}, "number_not_one"),
    "d_k, complex": (D, {"ANDREA-12M": 32j}, "number_other"),
    "d_k, object": (D, {"ANDREA-12M": object()}, "number_other"),
    "d_k, NaN": (D, {"ANDREA-12M": math.nan}, "number_not_finite"),
    "d_k, infinity": (D, {"ANDREA-12M": math.inf}, "number_not_finite"),
    "d_k, near": (D, {"ANDREA-12M": 32.001}, "number_wrong_at"),
    "d_k, d_model": (D, {"ANDREA-12M": 384}, "slip_d_model_itself"),
    "d_k, product": (D, {"ANDREA-120M": 768 * 12}, "slip_heads_times_width"),
    "d_k, heads": (D, {"ANDREA-480M": 24}, "slip_heads_itself"),
    "d_k, root": (D, {"ANDREA-120M": 8}, "slip_root_for_d_k"),
    "d_k, upside down": (D, {"ANDREA-120M": 12 / 768}, "slip_upside_down"),
    "d_k, doubled for 480M": (D, {"ANDREA-480M": 128}, "number_wrong_at"),
    "divisor, d_k": (C, {32: 128}, "slip_d_k_for_root"),
    "divisor, √d_model": (C, {32: 64}, "slip_root_of_d_model_4096"),
    "divisor, factor": (C, {16: 1 / 16}, "slip_factor_for_divisor"),
    "divisor, root of heads": (C, {16: 4}, "slip_root_of_heads"),
    "divisor, heads": (C, {32: 32}, "slip_heads_itself"),
    "divisor, minus": (C, {1: -64}, "number_wrong_at"),
    "divisor, text keys": (C, {"1": 64}, "table_unknown"),
    "kinds, number": (K, {"encoder": 1}, "choice_text"),
    "kinds, unknown": (K, {"encoder": "bidirectional"}, "choice_unknown"),
    "kinds, full decoder": (K, {"decoder": "full"}, "slip_decoder_peeks"),
    "kinds, padded decoder": (K, {"decoder": "padding"}, "slip_decoder_peeks"),
    "kinds, causal encoder": (K, {"encoder": "causal"}, "slip_reader_blinded"),
    "kinds, causal crossing": (K, {"cross_attention": "causal"}, "slip_reader_blinded"),
    "kinds, right but unfinished": (K, {"decoder": "causal"}, "waits_more"),
}
for name in EXERCISES:
    if EXERCISES[name].personal:
        figures, right = personal(name)
        WRONG_ANSWERS |= {
            f"{name}, nothing": (name, None, "waits_answer"),
            f"{name}, far too large": (name, right * 1e4 + 1, "number_too_large"),
            f"{name}, minus": (name, -right, "number_too_small"),
            f"{name}, a list": (name, [right], "number_not_one"),
        }
        for slip, wrong in EXERCISES[name].task.slips.items():
            WRONG_ANSWERS[f"{name}, {slip}"] = (name, wrong(**figures), None)


def probe(decide):
    """A probe that decides by (maximum that earlier rows move, output)."""

    def causality(attend):
        Q, K, V = np.random.default_rng().standard_normal((3, 6, 4))
        before = attend(Q, K, V)
        K2, V2, Q2 = K.copy(), V.copy(), Q.copy()
        K2[4], V2[4], Q2[4] = 1, 1, 1
        return decide(np.abs(attend(Q2, K2, V2) - before)[:4].max(), before)

    return causality


def only(changed, positions=range(1, 6)):
    """A probe that changes only some of the inputs, or only some positions."""

    def causality(attend):
        Q, K, V = np.random.default_rng().standard_normal((3, 6, 4))
        before = attend(Q, K, V)
        for t in positions:
            given = [Q.copy(), K.copy(), V.copy()]
            for which in changed:
                given[which][t] += 1
            if not np.allclose(attend(*given)[:t], before[:t]):
                return False
        return True

    return causality


def compares_with_package(attend):
    Q, K, V = np.random.default_rng().standard_normal((3, 6, 4))
    return bool(np.allclose(attend(Q, K, V), RIGHT["einsum"](Q, K, V, "causal")))


P, B = "causality", "catch_broken"
WRONG_ANSWERS |= {
    "probe, True": (P, lambda attend: True, "probe_always"),
    "probe, False": (P, lambda attend: False, "probe_always_false"),
    "probe, a number": (P, probe(lambda moved, _: moved), "probe_not_boolean"),
    "probe, text": (P, lambda attend: "True", "probe_not_boolean"),
    "probe, 1": (P, lambda attend: 1, "probe_not_boolean"),
    "probe, array": (P, lambda attend: np.array(True), "probe_not_boolean"),
    "probe, nothing": (P, lambda attend: print(end=""), "returned_nothing"),
    "probe, reversed": (P, lambda attend: not solutions.causality(attend), "probe_reversed"),
    "probe, one position": (P, probe(lambda moved, _: bool(moved < 1e-9)), "probe_misses"),
    "probe, Q only": (P, only([0]), "probe_misses"),
    "probe, K only": (P, only([1]), "probe_misses"),
    "probe, V only": (P, only([2]), "probe_misses"),
    "probe, K and V": (P, only([1, 2]), "probe_misses"),
    "probe, last position only": (P, only([0, 1, 2], [5]), "probe_misses"),
    "probe, first positions only": (P, only([0, 1, 2], [1, 2]), "probe_misses"),
    "probe, exactly equal to causal attention": (P, compares_with_package, "probe_accuses"),
    "probe, fails": (P, lambda attend: attend(1), "raised"),
    "catch, True": (B, lambda attend: True, "probe_always"),
    "catch, False": (B, lambda attend: False, "probe_always"),
    "catch, reversed": (B, lambda attend: not solutions.catch_broken(attend), "probe_reversed"),
    "catch, stub": (B, lambda attend: ..., "waits_function"),
    "catch, a number": (B, lambda attend: 0.5, "probe_not_boolean"),
    "catch, fails": (B, lambda attend: attend(1, 2, 3), "raised"),
}


def small_probe(attend):
    """Catches a few: one input, no mask."""
    Q, K, V = np.random.default_rng().standard_normal((3, 5, 3))
    return bool(np.allclose(attend(Q, K, V), RIGHT["loops"](Q, K, V)))


def probe_with_assert(attend):
    """Catches many, and says so by `assert`."""
    rng = np.random.default_rng()
    for kind in (None, "causal", rng.random((5, 7)) < 0.5):
        Q, K, V = rng.standard_normal((5, 3)), rng.standard_normal((7, 3)), rng.random((7, 2))
        np.testing.assert_allclose(attend(Q, K, V, kind), RIGHT["loops"](Q, K, V, kind))
    return True


def too_strict(attend):
    """Accuses what is right but for the last digits."""
    Q, K, V = np.random.default_rng().standard_normal((3, 16, 8))
    return bool((attend(Q, K, V, "causal") == RIGHT["einsum"](Q, K, V, "causal")).all())


WRONG_ANSWERS |= {
    "catch, a small probe": (B, small_probe, "catch_few"),
    "catch, too strict": (B, too_strict, "catch_accused"),
}

RIGHT_ANSWERS |= SLY_RIGHT
WRONG_ANSWERS |= SLY_WRONG
