"""The kernels on a real card: every rung, type and layout.  Run with: pytest -m gpu"""

import warnings

import backends
import numpy as np
import oracle
import pytest

import andrea_lesson as al
from andrea_lesson.backward import attention_backward
from andrea_lesson.kernels import cuda_attention, cuda_attention_backward

pytestmark = pytest.mark.gpu
DTYPES = (np.float16, np.float32)
RUNGS = (1, 2, 3)


@pytest.fixture(scope="module")
def cp():
    """CuPy, if it is here and a real GPU answers."""
    try:
        import cupy

        cupy.zeros(1) + 1
    except Exception as problem:
        pytest.skip(f"needs CuPy and an NVIDIA GPU, but: {type(problem).__name__}: {problem}")
    return cupy


@pytest.fixture(autouse=True)
def _kernels_are_used():
    """A warning would say that the algebra stood in for them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*used the algebra")
        yield


def back(array):
    import cupy

    assert type(array) is cupy.ndarray
    return cupy.asnumpy(array)


def meaning(mask, shape):
    mask = oracle.causal(*shape[-2:]) if isinstance(mask, str) else mask
    return np.broadcast_to(True if mask is None else mask, shape)


def check(cp, Q, K, V, mask, scale=None, arrays=None, rungs=RUNGS):
    """Forward and backward against plain loops; `arrays` are the same numbers on the card."""
    dtype = Q.dtype
    allowed = meaning(mask, (*Q.shape[:-1], K.shape[-2]))
    dO = backends.random(*Q.shape[:-1], V.shape[-1], dtype=dtype, seed=7)
    q, k, v = arrays or [cp.asarray(array) for array in (Q, K, V)]
    with np.errstate(all="ignore"):
        expected = oracle.attention(Q, K, V, allowed, scale)
        bounds = oracle.bounds(expected, Q, K, V, allowed, scale, dtype)
        gradients = oracle.backward(Q, K, V, dO, allowed, scale)
        most = oracle.backward_bounds(gradients, Q, K, V, dO, allowed, scale, dtype)
        for rung in rungs:
            output = back(cuda_attention(q, k, v, mask=mask, scale=scale, rung=rung))
            wanted = oracle.in_type(expected.output, dtype)
            oracle.assert_close(output, wanted, bounds.output, dtype)
        results = cuda_attention_backward(q, k, v, cp.asarray(dO), mask=mask, scale=scale)
        for name, got in zip(("dQ", "dK", "dV"), results, strict=True):
            wanted = oracle.in_type(getattr(gradients, name), dtype)
            fine = np.isfinite(wanted)
            off = np.abs(back(got).astype(float)[fine] - wanted[fine])
            assert (off <= np.broadcast_to(getattr(most, name), wanted.shape)[fine]).all(), name


PROBLEMS = [(dtype, *problem) for dtype in DTYPES for problem in backends.problems(dtype)]


@pytest.mark.parametrize(
    ("Q", "K", "V", "mask"),
    [problem[2:] for problem in PROBLEMS],
    ids=[f"{problem[0].__name__}-{problem[1]}" for problem in PROBLEMS],
)
def test_every_rung_matches_the_oracle(cp, Q, K, V, mask):
    check(cp, Q, K, V, np.array(mask) if isinstance(mask, list) else mask)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("T", [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 70, 100])
def test_lengths_around_the_tiles(cp, T, dtype):
    Q, K, V = (backends.random(2, T, 5, dtype=dtype, seed=s) for s in range(3))
    check(cp, Q, K, V, "causal")
    check(cp, Q, K[:, : (T + 1) // 2], V[:, : (T + 1) // 2], "causal")
    check(cp, Q[:, : (T + 1) // 2], K, V, np.random.default_rng(T).random((2, 1, T)) < 0.5)


@pytest.mark.parametrize("widths", [(1, 1), (31, 32), (33, 2), (64, 64), (3, 65), (128, 127)])
@pytest.mark.parametrize("mask", [None, "causal"])
def test_every_width(cp, widths, mask):
    d_k, d_v = widths
    Q, K, V = (
        backends.random(2, T, d, dtype=np.float32, seed=s)
        for s, (T, d) in enumerate(((21, d_k), (36, d_k), (36, d_v)))
    )
    check(cp, Q, K, V, mask)


def test_wider_rows_on_the_first_two_rungs(cp):
    Q, K, V = (backends.random(20, 200, dtype=np.float32, seed=s) for s in range(3))
    exact = al.attention(*(array.astype(float) for array in (Q, K, V)), mask="causal")
    for rung in (1, 2):
        output = back(cuda_attention(*map(cp.asarray, (Q, K, V)), mask="causal", rung=rung))
        np.testing.assert_allclose(output, exact, atol=1e-5)


LAYOUTS = {
    "transposed": lambda cp, a: cp.asarray(a.swapaxes(-1, -2).copy()).swapaxes(-1, -2),
    "every second": lambda cp, a: cp.asarray(np.repeat(a, 2, axis=-1))[..., ::2],
    "reversed": lambda cp, a: cp.asarray(a[..., ::-1, :].copy())[..., ::-1, :],
    "heads last": lambda cp, a: cp.asarray(a.transpose(1, 0, 2).copy()).transpose(1, 0, 2),
    "not at the start": lambda cp, a: cp.asarray(np.concatenate([a[:1], a]))[1:],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(cp, layout, dtype):
    given = [backends.random(3, 19, 5, dtype=dtype, seed=s) for s in range(3)]
    arrays = [LAYOUTS[layout](cp, array) for array in given]
    for array, same in zip(given, arrays, strict=True):
        np.testing.assert_array_equal(cp.asnumpy(same), array)
    check(cp, *given, "causal", arrays=arrays)
    for array, same in zip(given, arrays, strict=True):  # and is left as it was
        np.testing.assert_array_equal(cp.asnumpy(same), array)


@pytest.mark.parametrize("scale", [1.0, 0.0, -0.5, 3])
def test_any_scale(cp, scale):
    check(cp, *(backends.random(9, 4, dtype=np.float32, seed=s) for s in range(3)), None, scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask", [None, "causal", "window"])
def test_at_the_size_of_andrea_120m(cp, mask, dtype):
    """Against NumPy in float64, and a mask of each kind for all heads."""
    model = al.ANDREA_120M
    shape = (model.n_head, model.T, model.d_k)
    given = [backends.random(*shape, dtype=dtype, seed=s) for s in range(4)]
    mask = al.sliding_window_mask(model.T, window=100) if mask == "window" else mask
    wide = [array.astype(np.float64) for array in given]
    arrays = [cp.asarray(array) for array in given]
    most = {np.float16: 2e-3, np.float32: 5e-5}[dtype]
    exact = al.attention(*wide[:3], mask=mask)
    for rung in RUNGS:
        output = back(cuda_attention(*arrays[:3], mask=mask, rung=rung))
        assert output.dtype == dtype
        np.testing.assert_allclose(output, exact, rtol=most, atol=most)
    for got, wanted in zip(
        cuda_attention_backward(*arrays, mask=mask),
        attention_backward(*wide, mask=mask),
        strict=True,
    ):
        assert got.dtype == dtype
        np.testing.assert_allclose(back(got), wanted, rtol=10 * most, atol=10 * most)


def test_the_same_bits_in_every_run(cp):
    arrays = [cp.asarray(backends.random(3, 200, 40, dtype=np.float32, seed=s)) for s in range(4)]
    first = [back(one) for one in cuda_attention_backward(*arrays, mask="causal")]
    for _ in range(10):
        for got, wanted in zip(cuda_attention_backward(*arrays, mask="causal"), first, strict=True):
            np.testing.assert_array_equal(back(got), wanted)


def test_repeated_calls_leave_no_memory_behind(cp):
    arrays = [cp.asarray(backends.random(2, 300, 64, dtype=np.float16, seed=s)) for s in range(4)]
    mask = al.causal_mask(300)
    pool = cp.get_default_memory_pool()

    def once():
        for rung in RUNGS:
            cuda_attention(*arrays[:3], mask=mask, rung=rung)
        cuda_attention_backward(*arrays, mask=mask)
        cp.cuda.get_current_stream().synchronize()

    once()
    used, held = pool.used_bytes(), pool.total_bytes()
    for _ in range(20):
        once()
    assert pool.used_bytes() == used
    assert pool.total_bytes() == held


def test_rung_3_holds_no_matrix_of_scores(cp):
    T = 4096
    arrays = [cp.asarray(backends.random(4, T, 64, dtype=np.float32, seed=s)) for s in range(3)]
    pool = cp.get_default_memory_pool()
    cuda_attention(*arrays, mask="causal")
    pool.free_all_blocks()
    before = pool.total_bytes()
    output = cuda_attention(*arrays, mask="causal")
    assert pool.total_bytes() - before < 2 * output.nbytes
    assert 10 * output.nbytes < 4 * T * T * 4  # which is what rung 1 would hold


def test_double_precision_and_wide_rows_go_to_the_algebra(cp, monkeypatch):
    from andrea_lesson.kernels import wrapper

    monkeypatch.setattr(wrapper, "_said", set())
    double = [cp.asarray(backends.random(9, 4, dtype=np.float64, seed=s)) for s in range(3)]
    wide = [cp.asarray(backends.random(9, 200, dtype=np.float32, seed=s)) for s in range(3)]
    warnings.resetwarnings()
    for given, words in ((double, "float64"), (wide, "at most 128 numbers")):
        with pytest.warns(RuntimeWarning, match=words):
            output = cuda_attention(*given, mask="causal")
        np.testing.assert_array_equal(back(output), back(al.attention(*given, mask="causal")))


def test_it_runs_on_the_device_of_Q(cp):
    if cp.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("needs two GPUs")
    with cp.cuda.Device(1):
        arrays = [cp.asarray(backends.random(40, 8, dtype=np.float32, seed=s)) for s in range(3)]
    with cp.cuda.Device(0):
        output = cuda_attention(*arrays, mask=al.causal_mask(40))
        assert output.device == cp.cuda.Device(1)
        other = [cp.asarray(arrays[0].get()), *arrays[1:]]
        with pytest.raises(ValueError, match="on one device"):
            cuda_attention(*other)
    expected = al.attention(*(array.get() for array in arrays), mask="causal")
    np.testing.assert_allclose(output.get(), expected, atol=1e-5)
