"""What is refused, in which words; what is taken, as which type; and that nothing is changed."""

import re

import array_api_strict
import numpy as np
import pytest

import andrea_lesson as al

Q, K, V = (np.random.default_rng(s).standard_normal((3, 2)) for s in range(3))
X, W = np.ones((3, 4)), np.ones((4, 2))
FLOATS = (np.float16, np.float32, np.float64)
RAGGED = [[1.0, 2.0], [3.0]]
MASKED = np.ma.array(np.ones((3, 2)), mask=np.eye(3, 2, dtype=bool))
MASKED_MASK = np.ma.array(np.ones((3, 3), dtype=bool), mask=np.eye(3, dtype=bool))
BATCH = np.ones((2, 3, 2))
STRICT = array_api_strict.ones((3, 2))
ELSEWHERE = array_api_strict.ones((3, 2), device=array_api_strict.Device("device1"))
STRICT_MASK = array_api_strict.ones((3, 3), dtype=array_api_strict.bool)


class Unreadable:
    """An object that NumPy fails to turn into an array, as a GPU array does."""

    def __array__(self, *_args, **_options):
        raise RuntimeError("Not here. Not now.")


def attend(**changed):
    return al.attention(**({"Q": Q, "K": K, "V": V} | changed))


def project(**changed):
    return al.project_qkv(**({"X": X, "W_Q": W, "W_K": W, "W_V": W} | changed))


# (what is called, with what, the argument to blame, the error)
NOT_NUMBERS = [
    None,
    "words",
    b"bytes",
    {"Q": 1},
    {1.0, 2.0},
    object(),
    print,
    [[None, 1.0]],
    [["a", "b"]],
    [[2**70, 1]],
    iter([1.0]),
    Unreadable(),
    [Unreadable()],
    1j * Q,
    Q.astype(object),
    np.zeros((3, 2), "datetime64[s]"),
    np.zeros((3, 2), "timedelta64[s]"),
    np.zeros((3, 2), [("re", float)]),
    np.zeros((3, 2), [("re", float)]).view(np.recarray),
    np.zeros((3, 2), "U1"),
    MASKED,
    [np.ma.array([1, 2], mask=[0, 1])],
    [[1.0, np.ma.masked]],
]
BAD = [
    *[(attend, {"Q": value}, "Q", TypeError) for value in NOT_NUMBERS],
    *[(attend, {"K": value}, "K", TypeError) for value in (None, "words", 1j * K, MASKED)],
    *[(attend, {"V": value}, "V", TypeError) for value in (None, "words", 1j * V, MASKED)],
    (attend, {"Q": RAGGED}, "Q", ValueError),
    (attend, {"K": RAGGED}, "K", ValueError),
    (attend, {"V": RAGGED}, "V", ValueError),
    # shapes
    (attend, {"Q": 1.0}, "Q", ValueError),
    (attend, {"Q": np.float64(1)}, "Q", ValueError),
    (attend, {"Q": Q[0]}, "Q", ValueError),
    (attend, {"Q": []}, "Q", ValueError),
    (attend, {"K": K[0]}, "K", ValueError),
    (attend, {"V": V[0]}, "V", ValueError),
    (attend, {"V": np.array(2.0)}, "V", ValueError),
    (attend, {"Q": BATCH}, "K", ValueError),
    (attend, {"K": BATCH}, "K", ValueError),
    (attend, {"V": BATCH}, "V", ValueError),
    (attend, {"V": V[None]}, "V", ValueError),
    (attend, {"Q": BATCH[:1], "K": BATCH, "V": BATCH}, "K", ValueError),
    (attend, {"K": K.T}, "K", ValueError),
    (attend, {"V": V[:2]}, "V", ValueError),
    (attend, {"Q": Q[:, :0], "K": K[:, :0]}, "Q", ValueError),
    # libraries and devices
    (attend, {"K": STRICT}, "K", TypeError),
    (attend, {"Q": STRICT}, "K", TypeError),
    (attend, {"Q": STRICT, "K": STRICT}, "V", TypeError),
    (attend, {"Q": STRICT, "K": ELSEWHERE, "V": STRICT}, "K", ValueError),
    # masks
    (attend, {"mask": "Causal"}, "mask", ValueError),
    (attend, {"mask": ""}, "mask", ValueError),
    (attend, {"mask": np.tril(np.ones((3, 3)))}, "mask", TypeError),
    (attend, {"mask": np.tril(np.ones((3, 3), int))}, "mask", TypeError),
    (attend, {"mask": [[1, 0, 0], [1, 1, 0], [1, 1, 1]]}, "mask", TypeError),
    (attend, {"mask": np.zeros((3, 3), object)}, "mask", TypeError),
    (attend, {"mask": np.triu(np.full((3, 3), -np.inf), 1)}, "mask", TypeError),
    (attend, {"mask": [[True], [True, False]]}, "mask", ValueError),
    (attend, {"mask": [[None] * 3] * 3}, "mask", TypeError),
    (attend, {"mask": 1}, "mask", TypeError),
    (attend, {"mask": {"causal": True}}, "mask", TypeError),
    (attend, {"mask": Unreadable()}, "mask", TypeError),
    (attend, {"mask": al.causal_mask}, "mask", TypeError),
    (attend, {"mask": MASKED_MASK}, "mask", TypeError),
    (attend, {"mask": STRICT_MASK}, "mask", TypeError),
    (attend, {"mask": True}, "mask", ValueError),
    (attend, {"mask": np.ones(3, bool)}, "mask", ValueError),
    (attend, {"mask": np.ones((2, 3), bool)}, "mask", ValueError),
    (attend, {"mask": np.ones((3, 4), bool)}, "mask", ValueError),
    (attend, {"mask": np.ones((1, 3, 3), bool)}, "mask", ValueError),
    (attend, {"mask": np.ones((2, 1, 3), bool)}, "mask", ValueError),  # would stretch the scores
    # scale
    (attend, {"scale": "0.5"}, "scale", TypeError),
    (attend, {"scale": 1j}, "scale", TypeError),
    (attend, {"scale": True}, "scale", TypeError),
    (attend, {"scale": np.True_}, "scale", TypeError),
    (attend, {"scale": [0.5]}, "scale", TypeError),
    (attend, {"scale": np.array(0.5)}, "scale", TypeError),
    (attend, {"scale": np.nan}, "scale", ValueError),
    (attend, {"scale": np.inf}, "scale", ValueError),
    (attend, {"scale": np.float32(-np.inf)}, "scale", ValueError),
    (attend, {"scale": 10**5000}, "scale", ValueError),
    # projections
    (project, {"X": None}, "X", TypeError),
    (project, {"X": X[0]}, "X", ValueError),
    (project, {"W_Q": "W"}, "W_Q", TypeError),
    (project, {"W_K": 1j * W}, "W_K", TypeError),
    (project, {"W_V": RAGGED}, "W_V", ValueError),
    (project, {"W_Q": W.T}, "W_Q", ValueError),
    (project, {"W_K": W[None]}, "W_K", ValueError),
    (project, {"W_V": W[0]}, "W_V", ValueError),
    (project, {"W_K": W[:, :1]}, "W_K", ValueError),
    (project, {"W_V": array_api_strict.ones((4, 2))}, "W_V", TypeError),
    # softmax
    *[(al.softmax, {"scores": value}, "scores", TypeError) for value in NOT_NUMBERS],
    (al.softmax, {"scores": RAGGED}, "scores", ValueError),
    (al.softmax, {"scores": 1.0}, "axis", ValueError),
    (al.softmax, {"scores": Q, "axis": 2}, "axis", ValueError),
    (al.softmax, {"scores": Q, "axis": -3}, "axis", ValueError),
    (al.softmax, {"scores": Q, "axis": True}, "axis", TypeError),
    (al.softmax, {"scores": Q, "axis": 1.0}, "axis", TypeError),
    (al.softmax, {"scores": Q, "axis": None}, "axis", TypeError),
    (al.softmax, {"scores": Q, "axis": (0, 1)}, "axis", TypeError),
    # sizes of masks
    *[
        (make, {"T_q": value} | more, "T_q", error)
        for make, more in (
            (al.full_mask, {}),
            (al.causal_mask, {}),
            (al.sliding_window_mask, {"window": 2}),
            (al.prefix_mask, {"prefix": 2}),
        )
        for value, error in (
            (-1, ValueError),
            (True, TypeError),
            (3.0, TypeError),
            ("3", TypeError),
            (None, TypeError),
            ([3, 3], TypeError),
            (np.ones((3, 3)), TypeError),
        )
    ],
    (al.causal_mask, {"T_q": 3, "T_k": -1}, "T_k", ValueError),
    (al.causal_mask, {"T_q": 3, "T_k": 3.0}, "T_k", TypeError),
    (al.full_mask, {"T_q": 3, "T_k": False}, "T_k", TypeError),
    (al.sliding_window_mask, {"T_q": 3, "window": 0}, "window", ValueError),
    (al.sliding_window_mask, {"T_q": 3, "window": 2.0}, "window", TypeError),
    (al.sliding_window_mask, {"T_q": 3, "window": None}, "window", TypeError),
    (al.prefix_mask, {"T_q": 3, "prefix": -1}, "prefix", ValueError),
    (al.prefix_mask, {"T_q": 3, "prefix": True}, "prefix", TypeError),
    (al.padding_mask, {"lengths": [4], "T": 3}, "lengths", ValueError),
    (al.padding_mask, {"lengths": [-1], "T": 3}, "lengths", ValueError),
    (al.padding_mask, {"lengths": 2, "T": 3}, "lengths", ValueError),
    (al.padding_mask, {"lengths": [[1, 2]], "T": 3}, "lengths", ValueError),
    (al.padding_mask, {"lengths": [[1, 2], [3]], "T": 3}, "lengths", ValueError),
    (al.padding_mask, {"lengths": ELSEWHERE, "T": 3}, "lengths", ValueError),
    (al.padding_mask, {"lengths": [1.0], "T": 3}, "lengths", TypeError),
    (al.padding_mask, {"lengths": [True], "T": 3}, "lengths", TypeError),
    (al.padding_mask, {"lengths": None, "T": 3}, "lengths", TypeError),
    (al.padding_mask, {"lengths": "12", "T": 3}, "lengths", TypeError),
    (al.padding_mask, {"lengths": np.ma.array([1, 2], mask=[0, 1]), "T": 3}, "lengths", TypeError),
    (al.padding_mask, {"lengths": [1], "T": -3}, "T", ValueError),
    (al.padding_mask, {"lengths": [1], "T": 3.0}, "T", TypeError),
    (al.document_mask, {"documents": 3}, "documents", ValueError),
    (al.document_mask, {"documents": "aab"}, "documents", ValueError),
    (al.document_mask, {"documents": [[0, 1]]}, "documents", ValueError),
    (al.document_mask, {"documents": [[0], [0, 1]]}, "documents", ValueError),
    (al.document_mask, {"documents": [0.0, np.nan]}, "documents", TypeError),
    (al.document_mask, {"documents": [True, False]}, "documents", TypeError),
    (al.document_mask, {"documents": [None, 1]}, "documents", TypeError),
    (al.document_mask, {"documents": [1, "1"]}, "documents", TypeError),
    (al.document_mask, {"documents": ("a", b"a")}, "documents", TypeError),
    (al.document_mask, {"documents": [True, 1]}, "documents", TypeError),
    (al.document_mask, {"documents": np.zeros(40_000, int)}, "documents", ValueError),
    # sizes beyond memory
    *[
        (make, {"T_q": T_q, "T_k": T_k} | more, "T_q", ValueError)
        for make, more in (
            (al.full_mask, {}),
            (al.causal_mask, {}),
            (al.sliding_window_mask, {"window": 2}),
            (al.prefix_mask, {"prefix": 2}),
        )
        for T_q, T_k in ((10**12, None), (10**20, 1), (10**6, 10**6), (10**5000, 0))
    ],
    (al.causal_mask, {"T_q": 0, "T_k": 10**15}, "T_k", ValueError),
    (al.padding_mask, {"lengths": [1], "T": 10**12}, "T", ValueError),
    (al.padding_mask, {"lengths": [1] * 2000, "T": 2**20}, "lengths", ValueError),
    (al.document_mask, {"documents": np.ma.array([1, 1], mask=[0, 1])}, "documents", TypeError),
]


def assert_one_sentence(message, name):
    """One line that begins with the argument, says what came, and is a single sentence."""
    assert re.match(rf"(\w+ and )?{name}\b", message), message
    assert " must " in message, message
    assert "; got " in message, message
    assert "\n" not in message, message
    assert message.endswith("."), message
    assert not re.search(r"[.!?] +[A-Z]", message), message


@pytest.mark.parametrize(
    ("call", "arguments", "name", "error"),
    BAD,
    ids=[f"{n}-{call.__name__}-{name}" for n, (call, _, name, _) in enumerate(BAD)],
)
def test_a_bad_argument_is_refused_in_one_sentence(call, arguments, name, error):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(**arguments)
    assert caught.type is error
    assert_one_sentence(str(caught.value), name)


@pytest.mark.parametrize("function", [al.attention_steps, al.attention, al.attention_weights])
def test_every_form_checks_alike(function):
    arguments = (Q, K.T) if function is al.attention_weights else (Q, K.T, V)
    good = (Q, K) if function is al.attention_weights else (Q, K, V)
    with pytest.raises(ValueError, match="Q and K must have the same width d_k"):
        function(*arguments)
    with pytest.raises(ValueError, match="mask must have shape"):
        function(*good, mask=np.ones((2, 2), dtype=bool))
    with pytest.raises(TypeError, match="positional argument"):
        function(*good, "causal")  # mask and scale are given by name


def test_a_call_that_fails_changes_nothing():
    mask = np.ones((2, 3), dtype=bool)
    arrays = (Q, K, V, mask)
    before = [array.copy() for array in arrays]
    for call, arguments, _, _ in BAD:
        with pytest.raises((TypeError, ValueError)):
            call(**arguments)
    with pytest.raises(ValueError, match="mask"):
        al.attention(Q, K, V, mask=mask)
    for was, now in zip(before, arrays, strict=True):
        np.testing.assert_array_equal(was, now)


@pytest.mark.parametrize("of_Q", FLOATS)
@pytest.mark.parametrize("of_K", FLOATS)
@pytest.mark.parametrize("of_V", FLOATS)
def test_mixed_floats_promote_as_numpy_does(of_Q, of_K, of_V):
    output = al.attention(Q.astype(of_Q), K.astype(of_K), V.astype(of_V))
    assert output.dtype == np.result_type(of_Q, of_K, of_V)
    weights = al.attention_weights(Q.astype(of_Q), K.astype(of_K))
    assert weights.dtype == np.result_type(of_Q, of_K)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.int64, np.uint64])
def test_whole_numbers_become_float64(dtype):
    whole = np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype)
    steps = al.attention_steps(whole, whole, whole)
    expected = al.attention_steps(*(whole.astype(np.float64),) * 3)
    for name in ("scores", "weights", "output"):
        np.testing.assert_array_equal(getattr(steps, name), getattr(expected, name), strict=True)
    assert al.softmax(whole).dtype == np.float64
    assert al.attention(whole, whole.astype(np.float16), whole).dtype == np.float64


def test_float16_steps_are_shown_in_float32():
    half = Q.astype(np.float16)
    steps = al.attention_steps(half, half, half, mask="causal")
    for name in ("scores", "scaled_scores", "masked_scores", "weights"):
        assert getattr(steps, name).dtype == np.float32
    assert steps.output.dtype == np.float16


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_other_byte_orders_and_matrices_are_taken():
    expected = al.attention(Q, K, V)
    np.testing.assert_array_equal(al.attention(Q.astype(">f8"), K, V), expected)
    output = al.attention(np.asmatrix(Q), np.asmatrix(K), np.asmatrix(V))
    np.testing.assert_array_equal(output, expected, strict=True)
    assert type(output) is np.ndarray


@pytest.mark.parametrize("mask", ["causal", al.causal_mask(3), al.causal_mask(3).tolist()])
def test_a_mask_is_taken_as_name_array_or_list(mask):
    expected = al.attention(Q, K, V, mask=al.causal_mask(3))
    np.testing.assert_array_equal(al.attention(Q, K, V, mask=mask), expected, strict=True)


def test_a_mask_with_as_many_axes_as_the_scores_stretches():
    batch = np.ones((2, 5, 3, 2)) * np.arange(3)[:, None]
    padding = al.padding_mask([3, 1], 3, heads=True)  # (2, 1, 1, 3)
    weights = al.attention_weights(batch, batch, mask=padding)
    assert (weights[1, :, :, 1:] == 0).all()
    assert (weights[1, :, :, 0] == 1).all()
    np.testing.assert_array_equal(weights[0], al.attention_weights(batch, batch)[0])


@pytest.mark.parametrize("T_q", [0, 2])
@pytest.mark.parametrize("T_k", [0, 2])
@pytest.mark.parametrize("mask", [None, "causal"])
def test_no_positions_give_an_empty_result(T_q, T_k, mask):
    output = al.attention(np.ones((T_q, 3)), np.ones((T_k, 3)), np.ones((T_k, 4)), mask=mask)
    assert output.shape == (T_q, 4)
    if T_k == 0:
        np.testing.assert_array_equal(output, np.zeros((T_q, 4)))
    assert al.attention(np.ones((0, 2, 3)), np.ones((0, 2, 3)), np.ones((0, 2, 1))).shape[0] == 0


@pytest.mark.parametrize("mask", [None, "causal"])
def test_steps_are_separate_arrays(mask):
    steps = list(vars(al.attention_steps(Q, K, V, mask=mask, scale=1)).values())
    for n, one in enumerate(steps):
        assert not any(np.shares_memory(one, other) for other in steps[:n])


def test_results_own_their_memory():
    """Writing into a result reaches no input, whatever was passed through untouched."""
    identity = np.eye(3)
    one_key = np.ones((1, 3))
    results = [
        al.attention(one_key, one_key, one_key),
        *vars(al.attention_steps(identity, identity, identity, scale=1)).values(),
        al.softmax(identity),
        al.softmax(np.zeros((3, 0))),
        *al.project_qkv(identity, identity, identity, identity),
        al.attention_weights(identity, identity),
    ]
    for result in results:
        assert not np.shares_memory(result, identity)
        assert not np.shares_memory(result, one_key)
        assert result.flags.writeable
