"""The same problems on CuPy arrays.  Run with: pytest -m gpu"""

import re

import backends
import numpy as np
import oracle
import pytest
from backends import check_attention, check_backward, check_project_qkv, check_softmax

import andrea_lesson as al

pytestmark = pytest.mark.gpu
DTYPES = (np.float16, np.float32, np.float64)


@pytest.fixture(scope="module")
def cp():
    """CuPy, if it is here and a real GPU answers."""
    try:
        import cupy

        cupy.zeros(1) + 1
    except Exception as problem:
        pytest.skip(f"needs CuPy and an NVIDIA GPU, but: {type(problem).__name__}: {problem}")
    return cupy


def back(array):
    import cupy

    assert type(array) is cupy.ndarray
    assert array.device == cupy.cuda.Device()
    return cupy.asnumpy(array)


PROBLEMS = [(dtype, *problem) for dtype in DTYPES for problem in backends.problems(dtype)]


@pytest.mark.parametrize(
    ("Q", "K", "V", "mask"),
    [problem[2:] for problem in PROBLEMS],
    ids=[f"{problem[0].__name__}-{problem[1]}" for problem in PROBLEMS],
)
def test_attention_on_the_gpu_matches_the_oracle(cp, Q, K, V, mask):
    check_attention(Q, K, V, mask, cp.asarray, back)


@pytest.mark.parametrize(
    ("Q", "K", "V", "mask"),
    [problem[2:] for problem in PROBLEMS],
    ids=[f"{problem[0].__name__}-{problem[1]}" for problem in PROBLEMS],
)
def test_the_gradients_on_the_gpu_match_the_oracle(cp, Q, K, V, mask):
    check_backward(Q, K, V, mask, cp.asarray, back)


@pytest.mark.parametrize("dtype", DTYPES)
def test_softmax_on_the_gpu_matches_the_oracle(cp, dtype):
    check_softmax(dtype, cp.asarray, back)


@pytest.mark.parametrize("dtype", DTYPES)
def test_project_qkv_on_the_gpu_matches_the_oracle(cp, dtype):
    check_project_qkv(dtype, cp.asarray, back)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_and_cupy_agree_at_the_size_of_andrea_120m(cp, dtype):
    """Both are within rounding of the truth, so they are within twice that of each other."""
    T, d_k = al.ANDREA_120M.T, al.ANDREA_120M.d_k
    Q, K, V = (backends.random(T, d_k, dtype=dtype, seed=s) for s in range(3))
    on_cpu = al.attention(Q, K, V, mask="causal")
    on_gpu = back(al.attention(*map(cp.asarray, (Q, K, V)), mask="causal"))
    assert on_gpu.dtype == on_cpu.dtype == dtype
    exact = al.attention(*(array.astype(np.float64) for array in (Q, K, V)), mask="causal")
    most = 1000 * oracle.rounding(oracle.working_type(dtype)) + 4 * oracle.rounding(dtype)
    for output in (on_cpu, on_gpu):
        np.testing.assert_allclose(output.astype(np.float64), exact, rtol=0, atol=most, strict=True)


@pytest.mark.parametrize("wrong", ["Q", "K", "V"])
def test_numpy_and_cupy_do_not_mix(cp, wrong):
    arrays = {name: cp.ones((3, 2)) for name in "QKV"}
    arrays[wrong] = np.ones((3, 2))
    with pytest.raises(TypeError) as caught:
        al.attention(**arrays)
    assert re.fullmatch(
        r"Q and [KV] must be arrays of one library; got (cupy and numpy|numpy and cupy)\.",
        str(caught.value),
    )


def test_a_cupy_mask_for_numpy_arrays_is_refused(cp):
    with pytest.raises(
        TypeError, match=r"^mask must be an array of .* numpy.*; got one of cupy\.$"
    ):
        al.attention(*[np.ones((3, 2))] * 3, mask=cp.ones((3, 3), dtype=bool))


def test_a_list_of_cupy_rows_is_refused_in_one_sentence(cp):
    with pytest.raises(TypeError, match=r"^Q must be an array or nested lists .*\.$"):
        al.attention([cp.ones(2)] * 3, np.ones((3, 2)), np.ones((3, 2)))


def test_a_numpy_mask_is_moved_and_left_as_it_was(cp):
    mask = al.causal_mask(3)
    output = back(al.attention(*[cp.ones((3, 2))] * 3, mask=mask))
    np.testing.assert_array_equal(output, np.ones((3, 2)), strict=True)
    np.testing.assert_array_equal(mask, np.tril(np.ones((3, 3), dtype=bool)), strict=True)
