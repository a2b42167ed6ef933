"""The wrapper of the kernels, without a GPU: what it checks, copies, launches and declines.

CuPy is played by `fake_cupy.py`, whose kernels run on the CPU; what a card does itself is in
`test_kernels_gpu.py`.
"""

import re
import warnings

import fake_cupy
import kernels_on_cpu
import numpy as np
import oracle
import pytest
import strategies
from hypothesis import HealthCheck, given, settings

import andrea_lesson as al
from andrea_lesson.backward import attention_backward
from andrea_lesson.kernels import cuda_attention, cuda_attention_backward, wrapper


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    return kernels_on_cpu.compile_kernels(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def cupy(monkeypatch, modules):
    with fake_cupy.installed(monkeypatch, modules) as fake:
        yield fake


def random(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def problem(*, lead=(2, 3), T_q=5, T_k=7, d_k=4, d_v=6, dtype=np.float32):
    shapes = (T_q, d_k), (T_k, d_k), (T_k, d_v), (T_q, d_v)
    return [random(*lead, *shape, dtype=dtype, seed=n) for n, shape in enumerate(shapes)]


def quiet(function, *arguments, **named):
    """Call it; a warning would mean that the kernels were not used."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*arguments, **named)


def back(array):
    """The numbers of an array of the GPU, or of one that the algebra made of NumPy's."""
    return array.get() if isinstance(array, fake_cupy.ndarray) else array


# -- through the kernels ---------------------------------------------------------------------------


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(strategies.cases(dtypes=strategies.st.sampled_from((np.float16, np.float32))))
def test_like_the_algebra_for_every_layout_mask_and_scale(cupy, case):
    """Lists become float64, which the kernels decline; all else goes through them."""
    expected = case.expected()
    bounds = case.bounds(expected)
    given = [cupy.put(array) for array in (case.Q, case.K, case.V)]
    before = [array.get() for array in given]
    cupy.launched.clear()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore" if case.dtype == np.float64 else "error")
        for rung in (1, 2, 3):
            output = cuda_attention(*given, **case.options, rung=rung)
            wanted = oracle.in_type(expected.output, case.dtype)
            oracle.assert_close(output.get(), wanted, bounds.output, case.dtype)
    for array, copy in zip(given, before, strict=True):
        np.testing.assert_array_equal(array.get(), copy)
    empty = 0 in (*np.shape(case.Q), *np.shape(case.V))
    assert bool(cupy.launched) == (not empty and case.dtype != np.float64)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(strategies.cases(dtypes=strategies.st.just(np.float32), layouts=strategies.plain))
def test_gradients_like_the_algebra(cupy, case):
    dO = random(*case.Q.shape[:-1], case.V.shape[-1])
    with np.errstate(all="ignore"):
        known = case.allowed, case.scale
        expected = oracle.backward(case.Q, case.K, case.V, dO, *known)
        bounds = oracle.backward_bounds(
            expected, case.Q, case.K, case.V, dO, *known, np.dtype(np.float32)
        )
        given = [cupy.put(array) for array in (case.Q, case.K, case.V, dO)]
        results = quiet(cuda_attention_backward, *given, **case.options)
    for name, got in zip(("dQ", "dK", "dV"), results, strict=True):
        wanted = oracle.in_type(getattr(expected, name), np.float32)
        oracle.assert_close(got.get(), wanted, getattr(bounds, name), np.float32)


MASKS = {
    "none": None,
    "causal by name": "causal",
    "one for all": random(5, 7, seed=1) > 0,
    "one for each": random(2, 3, 5, 7, seed=2) > 0,
    "padding": al.padding_mask([7, 0], 7, heads=True),
    "for each head": random(1, 3, 5, 1, seed=3) > 0,
    "lists": al.sliding_window_mask(5, 7, window=2).tolist(),
    "of Fortran": np.asfortranarray(random(5, 7, seed=4) > 0),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_every_kind_of_mask(cupy, mask):
    given = problem()
    moved = [cupy.put(array) for array in given]
    for rung in (1, 2, 3):
        output = quiet(cuda_attention, *moved[:3], mask=mask, rung=rung)
        np.testing.assert_allclose(output.get(), al.attention(*given[:3], mask=mask), atol=1e-5)
    gradients = quiet(cuda_attention_backward, *moved, mask=mask)
    for got, wanted in zip(gradients, attention_backward(*given, mask=mask), strict=True):
        np.testing.assert_allclose(got.get(), wanted, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_types_are_kept_and_mixed_ones_promote(cupy, dtype):
    Q, K, V, dO = (cupy.put(array) for array in problem(dtype=dtype))
    assert quiet(cuda_attention, Q, K, V).dtype == dtype
    for gradient in quiet(cuda_attention_backward, Q, K, V, dO):
        assert gradient.dtype == dtype
    assert quiet(cuda_attention, Q, K.astype(np.float32), V).dtype == np.float32


def test_half_precision_is_computed_in_single(cupy):
    """Scores beyond 65,504, where float16 ends."""
    Q = cupy.put(np.full((2, 4), 200, dtype=np.float16))
    V = cupy.put(np.array([[1], [3]], dtype=np.float16))
    np.testing.assert_array_equal(quiet(cuda_attention, Q, Q, V, scale=1.0).get(), [[2], [2]])


@pytest.mark.parametrize("rung", [1, 2, 3])
def test_the_kernels_of_the_rung_are_launched(cupy, rung):
    Q, K, V, _ = (cupy.put(array) for array in problem())
    quiet(cuda_attention, Q, K, V, rung=rung)
    names = ["rung3_forward"]
    if rung < 3:
        names = [f"rung{rung}_{step}" for step in ("scores", "softmax", "weighted_sum")]
    assert cupy.launched == names


def test_gradients_launch_rungs_three_and_four(cupy):
    quiet(cuda_attention_backward, *(cupy.put(array) for array in problem()))
    assert cupy.launched == ["rung3_forward", "rung4_row_mean", "rung4_dK_dV", "rung4_dQ"]


def test_everything_runs_under_the_device_of_Q(cupy):
    """Which need not be the current one: the stand-in refuses arrays of another."""
    Q, K, V, dO = (cupy.put(array, device=1) for array in problem())
    mask = cupy.put(random(5, 7) > 0, device=1)
    output = quiet(cuda_attention, Q, K, V, mask=mask)
    assert output.device.id == 1
    for gradient in quiet(cuda_attention_backward, Q, K, V, dO, mask=mask):
        assert gradient.device.id == 1
    assert cupy.stack == []


def test_compiled_once_for_each_device_and_width(cupy):
    assert cupy.compiled == []
    for _ in range(3):
        quiet(cuda_attention, *(cupy.put(array) for array in problem()[:3]))
    assert cupy.compiled == [(0, 32)]
    quiet(cuda_attention, *(cupy.put(array) for array in problem(d_v=33)[:3]))
    quiet(cuda_attention_backward, *(cupy.put(array) for array in problem(d_k=64)))
    quiet(cuda_attention, *(cupy.put(array) for array in problem(d_k=65)[:3]))
    assert cupy.compiled == [(0, 32), (0, 64), (0, 128)]
    quiet(cuda_attention, *(cupy.put(array, device=1) for array in problem()[:3]))
    assert cupy.compiled[3:] == [(1, 32)]


@pytest.mark.parametrize("empty", ["lead", "T_q", "T_k", "d_v"])
def test_nothing_is_launched_for_nothing(cupy, empty):
    given = problem(**{empty: (2, 0) if empty == "lead" else 0})
    Q, K, V, dO = (cupy.put(array) for array in given)
    output = quiet(cuda_attention, Q, K, V, mask="causal")
    np.testing.assert_array_equal(output.get(), al.attention(*given[:3], mask="causal"))
    gradients = quiet(cuda_attention_backward, Q, K, V, dO)
    for got, array in zip(gradients, given, strict=False):
        assert got.shape == array.shape
        assert not got.any()
    assert cupy.launched == []


# -- what the kernels decline ----------------------------------------------------------------------


def declined(given, reason, **named):
    """One warning, the result of the algebra, and no second warning."""
    Q, K, V, dO = given
    for name, run, algebra in (
        (
            "cuda_attention",
            lambda: cuda_attention(Q, K, V, **named),
            lambda: al.attention(Q, K, V, **named),
        ),
        (
            "cuda_attention_backward",
            lambda: cuda_attention_backward(Q, K, V, dO, **named),
            lambda: attention_backward(Q, K, V, dO, **named),
        ),
    ):
        with pytest.warns(RuntimeWarning) as caught:
            result = run()
        (warning,) = caught
        line = f"{name} used the algebra instead of its CUDA kernels: {reason}."
        assert re.fullmatch(line, str(warning.message))
        assert warning.filename == __file__
        for got, wanted in zip(result, algebra(), strict=True):
            np.testing.assert_array_equal(back(got), back(wanted))
        quiet(run)


def test_numpy_arrays(cupy):
    declined(problem(), "they take CuPy arrays, and these are arrays of numpy", mask="causal")
    assert cupy.compiled == []


def test_numpy_arrays_where_there_is_no_cupy(monkeypatch):
    monkeypatch.setattr(wrapper, "_said", set())
    declined(problem(), "they take CuPy arrays, and these are arrays of numpy", mask="causal")


def test_double_precision(cupy):
    given = [cupy.put(array) for array in problem(dtype=np.float64)]
    declined(given, "they compute in float32, and the arrays are float64")


@pytest.mark.parametrize("wide", ["d_k", "d_v"])
def test_wide_rows(cupy, wide):
    given = [cupy.put(array) for array in problem(**{wide: 129})]
    declined(given, "they keep rows of at most 128 numbers, and these have 129")
    for rung in (1, 2):
        output = quiet(cuda_attention, *given[:3], rung=rung)
        host = al.attention(*(array.get() for array in given[:3]))
        np.testing.assert_allclose(output.get(), host, atol=1e-5)
    assert [name[:5] for name in cupy.launched] == ["rung1"] * 3 + ["rung2"] * 3


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({"lead": (2, 5)}, "a grid ends at 9 heads"),
        ({"T_q": 9 * 16 + 1}, "a grid ends at 144 rows"),
        ({"T_k": 9 * 16 + 1}, "a grid ends at 144 rows"),
    ],
)
def test_more_than_a_grid_has(monkeypatch, cupy, sizes, reason):
    assert wrapper.MOST_BLOCKS == 65_535
    monkeypatch.setattr(wrapper, "MOST_BLOCKS", 9)
    declined([cupy.put(array) for array in problem(**sizes)], reason)


@pytest.mark.parametrize(
    "problem_of_compiling",
    [RuntimeError("cannot open source file\nmore"), OSError("nvrtc"), ImportError("libnvrtc.so")],
)
def test_kernels_that_do_not_compile(cupy, problem_of_compiling):
    cupy.problem = problem_of_compiling
    first = re.escape(str(problem_of_compiling).splitlines()[0])
    name = type(problem_of_compiling).__name__
    given = [cupy.put(array) for array in problem()]
    declined(given, rf"they did not compile on device 0 \({name}: {first}\)")
    assert cupy.compiled == [(0, 32)], "it was tried again"


# -- what is refused: as by the algebra ------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"mask": "casual"}, ValueError, "mask must be None"),
        ({"mask": np.ones((5, 7))}, TypeError, "mask must hold booleans"),
        ({"mask": np.ones((7, 5), dtype=bool)}, ValueError, r"mask must have shape \(5, 7\)"),
        ({"mask": np.ones((3, 5, 7), dtype=bool)}, ValueError, "mask must have shape"),
        ({"scale": "large"}, TypeError, "scale must be a real number"),
        ({"scale": np.inf}, ValueError, "scale must be finite"),
        ({"V": np.ones((2, 3, 6, 6))}, ValueError, "V must have a row for each"),
        ({"K": np.ones((2, 3, 7, 5))}, ValueError, "Q and K must have the same width"),
        ({"Q": np.ones((2, 3, 5, 4), dtype=complex)}, TypeError, "Q must hold real numbers"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(cupy, change, error, words):
    Q, K, V, dO = problem()
    given = {"Q": Q, "K": K, "V": V, "mask": None, "scale": None} | change
    given |= {name: cupy.put(given[name]) for name in "QKV"}
    with pytest.raises(error, match=f"^{words}"):
        cuda_attention(**given)
    with pytest.raises(error, match=f"^{words}"):
        cuda_attention_backward(**given, dO=cupy.put(dO))


@pytest.mark.parametrize(
    ("rung", "error"), [(0, ValueError), (4, ValueError), ("3", TypeError), (True, TypeError)]
)
def test_there_are_three_rungs(cupy, rung, error):
    with pytest.raises(error, match=r"^rung must"):
        cuda_attention(*(cupy.put(array) for array in problem()[:3]), rung=rung)


def test_a_gradient_of_another_shape_is_refused(cupy):
    Q, K, V, dO = (cupy.put(array) for array in problem())
    with pytest.raises(ValueError, match=r"^dO must have the shape of the output"):
        cuda_attention_backward(Q, K, V, dO[..., :-1])


def test_arrays_of_two_devices_are_refused(cupy):
    Q, K, V, _ = (cupy.put(array, device=n % 2) for n, array in enumerate(problem()))
    with pytest.raises(ValueError, match=r"^Q and K must be on one device"):
        cuda_attention(Q, K, V)


# -- the plan, as the file has it ------------------------------------------------------------------


def test_constants_are_those_of_the_source():
    source = wrapper.SOURCE.read_text(encoding="utf-8")
    assert f"constexpr int TILE = {wrapper.TILE};" in source
    lanes, lines = map(int, re.search(r"LANES = (\d+), LINES = (\d+),", source).groups())
    assert lanes * lines == wrapper.THREADS
    queries = "constexpr int QUERIES = WIDTH <= 64 ? 64 : 32"
    assert queries in source
    assert "constexpr int SIDE = WIDTH <= 64 ? 32 : 16;" in source


def test_the_source_includes_nothing():
    assert "#include" not in wrapper.SOURCE.read_text(encoding="utf-8")
