"""The algebra on a strict array library, placed on a device that NumPy cannot read.

`array_api_strict` has what the array API standard has and nothing more; an array on its
``Device("device1")`` refuses to become a NumPy array, as a GPU array does.  So a stray ``np.`` in
the algebra is found on a machine without a GPU.
"""

import array_api_strict as xp
import backends
import numpy as np
import pytest
from backends import check_attention, check_backward, check_project_qkv, check_softmax

import andrea_lesson as al

DEVICE = xp.Device("device1")
DTYPES = (np.float32, np.float64)  # the standard knows no float16


def move(array):
    return xp.asarray(array, device=DEVICE)


def back(array):
    assert type(array).__module__.startswith("array_api_strict")
    assert array.device == DEVICE, f"the result left its device for {array.device}"
    return np.asarray(array.to_device(xp.Device("CPU_DEVICE")))


PROBLEMS = [(dtype, *problem) for dtype in DTYPES for problem in backends.problems(dtype)]


@pytest.mark.parametrize(
    ("Q", "K", "V", "mask"),
    [problem[2:] for problem in PROBLEMS],
    ids=[f"{problem[0].__name__}-{problem[1]}" for problem in PROBLEMS],
)
def test_attention_stays_on_the_device(Q, K, V, mask):
    check_attention(Q, K, V, mask, move, back)


@pytest.mark.parametrize(
    ("Q", "K", "V", "mask"),
    [problem[2:] for problem in PROBLEMS],
    ids=[f"{problem[0].__name__}-{problem[1]}" for problem in PROBLEMS],
)
def test_the_gradients_stay_on_the_device(Q, K, V, mask):
    check_backward(Q, K, V, mask, move, back)


@pytest.mark.parametrize("dtype", DTYPES)
def test_softmax_stays_on_the_device(dtype):
    check_softmax(dtype, move, back)


@pytest.mark.parametrize("dtype", DTYPES)
def test_project_qkv_stays_on_the_device(dtype):
    check_project_qkv(dtype, move, back)


def test_this_device_would_notice_a_stray_numpy_call():
    array = move(np.ones(3))
    with pytest.raises(RuntimeError, match="device1"):
        np.exp(array)
    with pytest.raises(RuntimeError, match="device1"):
        np.asarray(array)


def test_a_mask_on_another_device_follows_Q():
    Q = move(np.ones((3, 2)))
    mask = xp.asarray(al.causal_mask(3))  # on the default device
    expected = al.attention(np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 2)), mask="causal")
    np.testing.assert_array_equal(back(al.attention(Q, Q, Q, mask=mask)), expected)
