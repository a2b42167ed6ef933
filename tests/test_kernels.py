"""The kernels of attention.cu, run on the CPU: every rung against plain loops, and broken kernels.

`cuda_on_cpu.h` says how they run and what is noticed on the way.  Each barrier and each bound of
the source is left out once, and each time a test here must notice: one that can go unnoticed
either has no test, or is not needed.
"""

import platform
import re

import kernels_on_cpu
import numpy as np
import oracle
import pytest
import strategies
from hypothesis import given, settings
from kernels_on_cpu import Fault, HostModule, backward, forward, matrix_steps

from andrea_lesson.kernels import wrapper
from andrea_lesson.kernels.wrapper import Launch

SOURCE = wrapper.SOURCE.read_text(encoding="utf-8")
PLACES, _ = kernels_on_cpu.places(SOURCE)
RUNGS = (1, 2, 3)
FLOAT32 = np.dtype(np.float32)
STEPS = ("masked_scores", "weights", "output")


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    return kernels_on_cpu.compile_kernels(tmp_path_factory.mktemp("kernels"))


# -- problems --------------------------------------------------------------------------------------


class Case:
    """A problem in float32, and what should come out."""

    def __init__(self, T_q, T_k, d_k, d_v, mask=None, *, lead=(), seed=0, size=1.0, scale=None):
        rng = np.random.default_rng([seed, T_q, T_k, d_k, d_v])
        shapes = ((T_q, d_k), (T_k, d_k), (T_k, d_v), (T_q, d_v))
        arrays = [rng.standard_normal((*lead, *shape)).astype(np.float32) for shape in shapes]
        arrays[0] *= np.float32(size)
        arrays[1] *= np.float32(size)
        shape = (*lead, T_q, T_k)
        masks = {
            "random": lambda: rng.random(shape) < 0.5,
            "few": lambda: rng.random(shape) < 0.03,  # empty rows, empty tiles
            "one for all": lambda: rng.random((T_q, T_k)) < 0.5,
            "row": lambda: rng.random((*lead[:1], *(1 for _ in lead[1:]), 1, T_k)) < 0.5,
            "column": lambda: rng.random((*(1 for _ in lead), T_q, 1)) < 0.5,
            "nothing": lambda: np.zeros((T_q, T_k), dtype=bool),
        }
        self.given(*arrays, masks[mask]() if mask in masks else mask, scale)

    def given(self, Q, K, V, dO, mask, scale=None):
        self.Q, self.K, self.V, self.dO, self.mask = Q, K, V, dO, mask
        self.scale = 1 / np.sqrt(Q.shape[-1]).item() if scale is None else scale
        meaning = oracle.causal(Q.shape[-2], K.shape[-2]) if isinstance(mask, str) else mask
        self.allowed = np.broadcast_to(
            True if mask is None else meaning, (*Q.shape[:-1], K.shape[-2])
        )
        known = self.allowed, self.scale
        with np.errstate(all="ignore"):
            self.steps = oracle.attention(Q, K, V, *known)
            self.bounds = oracle.bounds(self.steps, Q, K, V, *known, FLOAT32)
            self.gradients = oracle.backward(Q, K, V, dO, *known)
            self.gradient_bounds = oracle.backward_bounds(
                self.gradients, Q, K, V, dO, *known, FLOAT32
            )
        return self

    @property
    def width(self):
        return wrapper._width(self.Q.shape[-1], self.V.shape[-1])

    def check(self, modules, *, rungs=(*RUNGS, 4), width=None):
        module = modules[width or self.width]
        with np.errstate(all="ignore"):
            for rung in rungs:
                if rung == 4:
                    self.check_gradients(module)
                    continue
                given = module, self.Q, self.K, self.V, self.mask, self.scale, rung
                if rung < 3:
                    found = dict(zip(STEPS, matrix_steps(*given, ~self.allowed), strict=True))
                else:
                    found = {}
                    found["output"], log_sum_exp = forward(*given)
                    self.check_log_sum_exp(log_sum_exp)
                for name, got in found.items():
                    wanted = oracle.in_type(getattr(self.steps, name), FLOAT32)
                    oracle.assert_close(got, wanted, getattr(self.bounds, name), FLOAT32)

    def check_log_sum_exp(self, got):
        """Of rows with nothing but numbers; rows without any allowed key have log 0."""
        assert (got[~self.allowed.any(axis=-1)] == -np.inf).all()
        plain = np.where(self.allowed, np.isfinite(self.steps.scaled_scores), True).all(axis=-1)
        plain &= self.allowed.any(axis=-1)
        scores = self.steps.masked_scores[plain]
        shift = scores.max(axis=-1, keepdims=True, initial=-np.inf)
        wanted = np.log(np.exp(scores - shift).sum(axis=-1)) + shift[..., 0]
        off = np.where(self.allowed, self.bounds.scaled_scores, 0.0)[plain].max(-1, initial=0.0)
        most = 2 * off + oracle.rounding(FLOAT32) * (scores.shape[-1] + 10 + 4 * np.abs(wanted))
        assert (np.abs(got[plain] - wanted) <= most).all()

    def check_gradients(self, module):
        results = backward(module, self.Q, self.K, self.V, self.dO, self.mask, self.scale)
        for name, got in zip(("dQ", "dK", "dV"), results, strict=True):
            wanted = oracle.in_type(getattr(self.gradients, name), FLOAT32)
            oracle.assert_close(got, wanted, getattr(self.gradient_bounds, name), FLOAT32)


# -- right results ---------------------------------------------------------------------------------


@pytest.mark.parametrize("T", range(1, 71))
def test_every_length(modules, T):
    """Also those around the tiles, of 16, 32 and 64; threads take their turns in another order."""
    for module in modules.values():
        module.order = T % 3
    Case(T, T, 3, 2, "causal", seed=T).check(modules)
    Case(T, 71 - T, 2, 5, (None, "random", "few", "row")[T % 4], lead=(2,), seed=T).check(modules)
    Case(T, 71 - T, 1, 3, "causal", seed=T).check(modules)


SHAPES = [(1, 1), (1, 70), (70, 1), (5, 33), (33, 5), (17, 64), (65, 31), (32, 32), (64, 64)]


@pytest.mark.parametrize("mask", [None, "causal", "random", "few", "row", "column", "nothing"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_mask_and_more_queries_than_keys_and_fewer(modules, shape, mask):
    Case(*shape, 5, 9, mask).check(modules)
    Case(*shape, 4, 3, mask, lead=(3, 2)).check(modules)


def test_one_mask_for_all_heads(modules):
    Case(20, 23, 3, 4, "one for all", lead=(2, 3)).check(modules)


WIDE = [(1, 1), (31, 32), (32, 5), (33, 2), (64, 64), (3, 63), (65, 7), (128, 128), (2, 127)]


@pytest.mark.parametrize("widths", WIDE)
@pytest.mark.parametrize("mask", [None, "causal", "random"])
def test_every_width(modules, widths, mask):
    Case(21, 36, *widths, mask, lead=(2,)).check(modules)
    Case(40, 19, *widths, mask).check(modules)


@pytest.mark.parametrize("widths", [(130, 3), (2, 200)])
def test_the_first_two_rungs_take_any_width(modules, widths):
    case = Case(18, 20, *widths, "causal", lead=(2,))
    case.check(modules, rungs=(1, 2), width=32)


@pytest.mark.parametrize("size", [30.0, 1e-3, 0.0])
@pytest.mark.parametrize("mask", [None, "causal", "few"])
@pytest.mark.parametrize("d_k", [8, 40, 100])
def test_large_and_small_scores(modules, d_k, mask, size):
    case = Case(37, 41, d_k, 6, mask, size=size)
    if size > 1:  # both signs, and far beyond what exp could take
        assert np.abs(case.steps.scaled_scores).max() > 1e3
    case.check(modules)


def test_scores_of_ten_thousand(modules):
    case = Case(40, 70, 4, 3, "causal", size=100.0)
    assert np.abs(case.steps.scaled_scores).max() > 1e4
    case.check(modules)


def test_a_rising_row_of_scores(modules):
    """Every tile of keys brings a higher score than all before, so that all sums are shrunk."""
    T = 100
    K = np.linspace(-200, 200, T, dtype=np.float32)[:, None]
    case = Case(3, T, 1, 2)
    for keys in (K, K[::-1].copy()):
        case.given(np.ones((3, 1), dtype=np.float32), keys, case.V, case.dO, None).check(modules)


@pytest.mark.parametrize("scale", [1.0, 0.0, -0.5, 3.0])
def test_any_scale(modules, scale):
    Case(18, 35, 3, 4, "causal", scale=scale).check(modules)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", ["K", "V"])
def test_what_is_hidden_stays_hidden(modules, which, value):
    """One key holds something that is no number; no row that cannot see it changes by a bit."""
    for T_q, T_k, mask in ((70, 70, "causal"), (40, 45, "random")):
        clean = Case(T_q, T_k, 5, 6, mask, lead=(2,))
        given = {name: getattr(clean, name).copy() for name in ("Q", "K", "V", "dO")}
        given[which][:, 37] = value
        spoilt = clean.allowed[..., 37]
        for rung in RUNGS:
            plain, *_ = forward(
                modules[32], clean.Q, clean.K, clean.V, clean.mask, clean.scale, rung
            )
            output, *_ = forward(
                modules[32], given["Q"], given["K"], given["V"], clean.mask, clean.scale, rung
            )
            np.testing.assert_array_equal(output[~spoilt], plain[~spoilt])
            assert spoilt.any()
            assert not spoilt.all()
        dQ, *_ = backward(modules[32], *given.values(), clean.mask, clean.scale)
        wanted, *_ = backward(
            modules[32], clean.Q, clean.K, clean.V, clean.dO, clean.mask, clean.scale
        )
        np.testing.assert_array_equal(dQ[~spoilt], wanted[~spoilt])


@pytest.mark.parametrize("which", ["Q", "dO"])
def test_a_spoilt_query_spoils_only_the_keys_that_it_sees(modules, which):
    for mask in ("causal", "random"):
        clean = Case(40, 70, 5, 6, mask)
        given = {name: getattr(clean, name).copy() for name in ("Q", "K", "V", "dO")}
        given[which][13] = np.nan
        seen = clean.allowed[13]
        _, *results = backward(modules[32], *given.values(), clean.mask, clean.scale)
        wanted = backward(modules[32], clean.Q, clean.K, clean.V, clean.dO, clean.mask, clean.scale)
        for got, plain in zip(results, wanted[1:], strict=True):
            np.testing.assert_array_equal(got[~seen], plain[~seen])
            assert np.isnan(got[seen]).all()
        assert seen.any()
        assert not seen.all()


@settings(max_examples=60)
@given(strategies.spoilt_cases())
def test_nan_and_infinity_like_plain_loops(modules, problem):
    """Visible ones too; gradients are compared where plain loops find a number."""
    if 0 in (*np.shape(problem.Q), *np.shape(problem.V)):
        return
    with np.errstate(all="ignore"):
        Q, K, V = (
            np.asarray(array, dtype=np.float32) for array in (problem.Q, problem.K, problem.V)
        )
    dO = np.random.default_rng(0).standard_normal((*Q.shape[:-1], V.shape[-1])).astype(np.float32)
    mask = problem.mask
    if mask is not None and not isinstance(mask, str):
        mask = np.array(mask)
    case = Case(1, 1, 1, 1).given(Q, K, V, dO, mask, problem.options["scale"])
    case.scale = float(case.scale)
    case.check(modules, rungs=RUNGS)
    results = backward(modules[32], Q, K, V, dO, mask, case.scale)
    for name, got in zip(("dQ", "dK", "dV"), results, strict=True):
        wanted = getattr(case.gradients, name)
        fine = np.isfinite(wanted)
        bound = np.broadcast_to(getattr(case.gradient_bounds, name), wanted.shape)
        assert (np.abs(got[fine] - wanted[fine]) <= bound[fine]).all()


def test_the_same_bits_in_whatever_order_the_threads_run(modules):
    case = Case(70, 70, 20, 33, "causal", lead=(2,))
    runs = []
    for order in range(3):
        modules[64].order = order
        runs.append(
            [
                *(
                    forward(modules[64], case.Q, case.K, case.V, "causal", case.scale, r)[0]
                    for r in RUNGS
                ),
                *backward(modules[64], case.Q, case.K, case.V, case.dO, "causal", case.scale),
            ]
        )
    for other in runs[1:]:
        for got, wanted in zip(other, runs[0], strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("width", wrapper.WIDTHS)
def test_hidden_tiles_are_skipped(modules, width):
    """Of a causal square nearly half of the tiles: seen by the number of barriers passed."""
    Q = np.zeros((256, width), dtype=np.float32)
    counts = {}
    for mask in (None, "causal"):
        for name, run in (
            ("forward", lambda mask: forward(modules[width], Q, Q, Q, mask, 1.0, 3)),
            ("backward", lambda mask: backward(modules[width], Q, Q, Q, Q, mask, 1.0)),
        ):
            before = modules[width].barriers
            run(mask)
            counts[name, mask] = modules[width].barriers - before
    for name in ("forward", "backward"):
        assert counts[name, "causal"] < 0.65 * counts[name, None]


# -- each barrier and each bound left out once -----------------------------------------------------


@pytest.fixture(scope="module")
def breakers():
    """Problems for each width that need every barrier, every bound and every look at the mask."""
    cases = [
        Case(37, 70, d_k, 9, mask, lead=(2,))
        for d_k in (21, 41, 101)
        for mask in (None, "random", "causal")
    ]
    # in the first tile of queries, the last one alone sees into a last tile of keys
    cases += [Case(100, 133, d_k, 9, "causal") for d_k in (21, 41, 101)]
    for d_k in (21, 41, 101):  # one number that is none, in what some rows may not see
        for which, place in (("V", (68, 3)), ("K", (68, 3)), ("dO", (2, 5)), ("Q", (2, 5))):
            case = Case(37, 70, d_k, 9, "causal")
            given = {name: getattr(case, name) for name in ("Q", "K", "V", "dO")}
            given[which][place] = np.nan
            cases.append(case.given(**given, mask="causal"))
    return cases


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_missing_barrier_or_bound_is_noticed(modules, breakers, place):
    for width, module in modules.items():
        module.order = 0
        module.leave_out(place.number)
        try:
            assert notice(modules, breakers, width), f"{place}, width {width}"
        finally:
            module.leave_out(0)


def notice(modules, breakers, width):
    for case in breakers:
        if case.width == width:
            try:
                case.check(modules)
            except (Fault, AssertionError):
                return True
    return False


@pytest.mark.parametrize("width", wrapper.WIDTHS)
def test_nothing_is_noticed_when_nothing_is_missing(modules, breakers, width):
    for modules[width].order in range(3):
        assert not notice(modules, breakers, width)


def test_all_barriers_and_bounds_are_on_the_list():
    """What is compared outside of `for` and not on the list is a choice, not a bound."""
    code = "\n".join(line.partition("//")[0] for line in SOURCE.split("\n"))
    left = kernels_on_cpu.FOR.sub("", code)
    for part, _ in kernels_on_cpu.CHANGES.values():
        left = part.sub("", left)
    assert "__sync" not in left
    assert left.count("sees(") == 1, "each question to the mask, but not the function itself"
    assert not re.findall(
        r".* [<>]=? (?!= ).*",
        re.sub(
            r"template <.*>", "", left.replace("WIDTH <= 64", "").replace("j > i + mask.ahead", "")
        ),
    )
    kinds = [place.kind for place in PLACES]
    wanted = {"barrier": 10, "barrier of a vote": 3, "vote": 3, "bound": 25, "mask": 14}
    wanted |= {"last step": 8, "last tile": 2, "first tile": 1}
    assert wanted.keys() == kernels_on_cpu.CHANGES.keys()
    for kind, count in wanted.items():
        assert kinds.count(kind) >= count, kind
    new = "void f() {\n    if (i < T_q) __syncthreads();\n    for (; i < T_q; ++i) {}\n}\n"
    places, broken = kernels_on_cpu.places(new)
    assert [str(place) for place in places] == [
        "line 2, bound: i < T_q",
        "line 2, barrier: __syncthreads()",
        "line 3, last step: i < T_q",
    ]
    assert "if ((broken == 1 || i < T_q)) if (broken != 2) __syncthreads();" in broken
    assert "for (; i < T_q + (broken == 3); ++i)" in broken
    places, broken = kernels_on_cpu.places("a = __syncthreads_or(b);")
    assert [place.kind for place in places] == ["barrier of a vote", "vote"]
    assert broken.count("broken ==") == 2


# -- the machine that runs them notices what it says it notices ------------------------------------

FAULTY = """
extern "C" __global__ void fine(float* out, const float* in, int n) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void no_barrier(float* out, const float* in, int n) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void barrier_for_some(float* out, const float* in, int n) {
    if (threadIdx.x % 2) __syncthreads();
}
extern "C" __global__ void two_barriers(float* out, const float* in, int n) {
    if (threadIdx.x % 2)
        __syncthreads();
    else
        __syncthreads();
}
extern "C" __global__ void shuffle_for_some(float* out, const float* in, int n) {
    if (threadIdx.x % 2) out[0] = __shfl_xor_sync(0xffffffff, 1.0f, 1);
}
extern "C" __global__ void reads_behind(float* out, const float* in, int n) {
    out[threadIdx.x] = 0.0f * in[threadIdx.x + 1];
}
extern "C" __global__ void reads_far_behind(float* out, const float* in, int n) {
    if (threadIdx.x == 0) out[0] = in[100000];
}
extern "C" __global__ void reads_before(float* out, const float* in, int n) {
    out[threadIdx.x] = in[(int)threadIdx.x - 1];
}
extern "C" __global__ void writes_behind(float* out, const float* in, int n) {
    out[threadIdx.x + 1] = 1.0f;
}
extern "C" __global__ void writes_before(float* out, const float* in, int n) {
    out[(int)threadIdx.x - 1] = 1.0f;
}
extern "C" __global__ void writes_to_input(float* out, const float* in, int n) {
    ((float*)in)[threadIdx.x] = 1.0f;
}
extern "C" __global__ void beyond_a_tile(float* out, const float* in, int n) {
    __shared__ float tile[8][8];
    tile[0][threadIdx.x % 9] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = tile[0][0];
}
extern "C" __global__ void reads_old_tile(float* out, const float* in, int n) {
    __shared__ float tile[64];
    out[threadIdx.x] = tile[threadIdx.x];
}
extern "C" __global__ void tiny(float* out, const float* in, int n) {
    const float small = in[threadIdx.x] * 1e-30f;
    __syncthreads();
    out[threadIdx.x] = small * 1e-10f * 1e20f;
}
extern "C" __global__ void sums(float* out, const float* in, int n) {
    float mine = in[threadIdx.x];
    for (int away = 16; away > 0; away /= 2) mine += __shfl_down_sync(0xffffffff, mine, away);
    if (threadIdx.x == 0) out[0] = 0.0f;
    __syncthreads();
    if (threadIdx.x % 32 == 0) atomicAdd(&out[0], mine);
    const int some = __syncthreads_or(threadIdx.x == 7);
    const int none = __syncthreads_or(threadIdx.x == 77);
    if (threadIdx.x == 1) out[1] = some;
    if (threadIdx.x == 2) out[2] = none;
    if (threadIdx.x > 2) out[threadIdx.x] = 0.0f;
}
"""


@pytest.fixture(scope="module")
def faulty(modules, tmp_path_factory):
    folder = tmp_path_factory.mktemp("faulty")
    return HostModule(kernels_on_cpu.compile_source(FAULTY, folder, 0))


def run(module, kernel):
    given = np.arange(64, dtype=np.float32)
    out = module.empty(64, np.float32)
    arguments = (out, module.asarray(given), np.int32(64))
    module.launch(Launch(kernel, (1, 1, 1), (64, 1, 1), arguments))
    return given, np.array(out)


@pytest.mark.parametrize("order", range(3))
def test_a_kernel_without_fault_passes(faulty, order):
    faulty.order = order
    given, out = run(faulty, "fine")
    np.testing.assert_array_equal(out, given[::-1])
    given, out = run(faulty, "sums")
    assert out.tolist() == [given.sum(), 1.0, 0.0] + [0.0] * 61


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="asks for SSE")
def test_numbers_too_small_to_be_normal_count_as_0(faulty):
    """As on a card (CuPy compiles with -ftz=true); and elsewhere they do not."""
    given, out = run(faulty, "tiny")
    assert given.any()
    assert not out.any()
    assert np.float32(1e-30) * np.float32(1e-10) != 0


@pytest.mark.parametrize("order", range(3))
def test_a_missing_barrier_gives_a_wrong_result(faulty, order):
    faulty.order = order
    _, out = run(faulty, "no_barrier")
    assert np.isnan(out).any()
    faulty.order = 0


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        ("barrier_for_some", "divergence: thread 0 has ended .*, thread 1 waits at the barrier"),
        ("two_barriers", "divergence: thread 0 waits at the barrier .*, thread 1 waits at the b"),
        ("shuffle_for_some", "divergence: thread 0 has ended .*, thread 1 waits for its warp"),
        ("reads_behind", "access beyond an array in thread 63 of block"),
        ("reads_far_behind", "access beyond an array in thread 0"),
        ("writes_behind", "access beyond an array in thread 63"),
        ("writes_before", "wrote before the start of an array"),
        ("writes_to_input", "access beyond an array in thread 0"),
        ("beyond_a_tile", "index beyond a tile in thread 8"),
    ],
)
def test_a_fault_is_reported(faulty, kernel, says):
    with pytest.raises(Fault, match=f"^{kernel}: .*{says}"):
        run(faulty, kernel)
    given, out = run(faulty, "fine")  # and the next kernel runs
    np.testing.assert_array_equal(out, given[::-1])


@pytest.mark.parametrize("kernel", ["reads_before", "reads_old_tile"])
def test_what_was_never_written_is_nan(faulty, kernel):
    run(faulty, "fine")
    assert np.isnan(run(faulty, kernel)[1]).any()


def test_arguments_of_another_type_are_refused(faulty):
    out, given = faulty.empty(64, np.float32), faulty.asarray(np.zeros(64, dtype=np.float32))
    right = (out, given, np.int32(64))
    for position, wrong in (
        (2, 64),
        (2, np.int64(64)),
        (2, np.float32(64)),
        (0, np.uintp(1)),
        (0, faulty.empty(64, np.float64)),
        (0, np.zeros(64, dtype=np.float32)),
        (1, faulty.empty((8, 8), np.float32).T),
    ):
        arguments = [*right[:position], wrong, *right[position + 1 :]]
        with pytest.raises(AssertionError):
            faulty.launch(Launch("fine", (1, 1, 1), (64, 1, 1), tuple(arguments)))
    with pytest.raises(AssertionError):
        faulty.launch(Launch("fine", (1, 1, 1), (64, 1, 1), right[:2]))
    with pytest.raises(Fault, match="1 to 65535 blocks"):
        faulty.launch(Launch("fine", (1, 65536, 1), (64, 1, 1), right))
    with pytest.raises(Fault, match="1 to 1024 threads"):
        faulty.launch(Launch("fine", (1, 1, 1), (64, 32, 1), right))
