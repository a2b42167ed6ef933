"""Random attention problems for hypothesis: sizes, types, memory layouts, masks, magnitudes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import oracle
from hypothesis import strategies as st

import andrea_lesson as al

FLOATS = (np.float16, np.float32, np.float64)
OTHERS = (np.int64, np.int8, np.uint8, np.bool_)
LAYOUTS = ("plain", "fortran", "every second", "reversed", "broadcast", "read-only", "list")
STYLES = ("ordinary", "huge", "tiny", "equal", "whole", "one large key")
sizes = st.integers(0, 17)
floats = st.sampled_from(FLOATS)
all_types = st.sampled_from(FLOATS + OTHERS)
all_layouts = st.sampled_from(LAYOUTS)
plain = st.just("plain")


@dataclass
class Case:
    Q: Any
    K: Any
    V: Any
    mask: Any
    allowed: np.ndarray  # what the mask means, in the full shape of the scores
    scale: float | None

    @property
    def dtype(self):
        return float_type(self.Q, self.K, self.V)

    @property
    def options(self):
        return {"mask": self.mask, "scale": self.scale}

    def expected(self):
        with np.errstate(all="ignore"):
            return oracle.attention(self.Q, self.K, self.V, self.allowed, self.scale)

    def bounds(self, steps):
        return oracle.bounds(steps, self.Q, self.K, self.V, self.allowed, self.scale, self.dtype)


def float_type(*arrays):
    """The type that the result shall have: what is no float16, 32 or 64 counts as float64."""
    types = [np.asarray(array).dtype for array in arrays]
    return np.result_type(*(t if t in FLOATS else np.float64 for t in types))


@st.composite
def arrays(draw, shape, dtypes=floats, layouts=all_layouts):
    """An array of random numbers of one magnitude, or nested lists."""
    dtype, style, layout = draw(dtypes), draw(st.sampled_from(STYLES)), draw(layouts)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.standard_normal(shape)
    if style == "huge":
        values *= 100  # two such arrays give scores of 1e4 and more
    elif style == "tiny":
        values *= 1e-5 if dtype == np.float16 else 1e-30
    elif style == "equal":
        values = np.ones(shape)
    elif style == "one large key" and values.size:
        values.reshape(-1, shape[-1])[0] *= 30
    if style == "whole" or dtype in OTHERS:
        values = rng.integers(0, 4, shape) if dtype == np.uint8 else rng.integers(-3, 4, shape)
    return lay_out(values.astype(dtype), layout)


def lay_out(array, layout):
    """The same numbers in another place in memory (`broadcast` repeats the first row)."""
    if layout == "fortran":
        return np.asfortranarray(array)
    if layout == "every second":
        roomy = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
        roomy[..., ::2] = array
        return roomy[..., ::2]
    if layout == "reversed":
        backwards = tuple(slice(None, None, -1) for _ in array.shape)
        return array[backwards].copy()[backwards]
    if layout == "broadcast" and array.size and array.ndim > 1:
        return np.broadcast_to(array[..., :1, :], array.shape)
    if layout == "read-only":
        array.flags.writeable = False
    if layout == "list" and array.size:  # an empty list has no shape to speak of
        return array.tolist()
    return array


@st.composite
def masks(draw, lead, T_q, T_k):
    """A mask of any kind that `attention` takes, and what it means in full shape."""
    kinds = ["none", "causal", "causal_mask", "full", "window", "prefix", "2-D", "all axes", "list"]
    kinds += ["padding"] * (len(lead) in (1, 2)) + ["documents"] * (T_q == T_k)
    kind = draw(st.sampled_from(kinds))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (*lead, T_q, T_k)
    if kind == "none":
        return None, np.ones(shape, dtype=bool)
    if kind in ("causal", "causal_mask"):
        given = "causal" if kind == "causal" else al.causal_mask(T_q, T_k)
        return given, np.broadcast_to(oracle.causal(T_q, T_k), shape)
    if kind == "full":
        mask = al.full_mask(T_q, T_k)
    elif kind == "window":
        mask = al.sliding_window_mask(T_q, T_k, window=draw(st.integers(1, 18)))
    elif kind == "prefix":
        mask = al.prefix_mask(T_q, T_k, prefix=draw(sizes))
    elif kind == "padding":
        lengths = rng.integers(0, T_k + 1, lead[0])
        mask = al.padding_mask(lengths, T_k, heads=len(lead) == 2)
    elif kind == "documents":
        mask = al.document_mask(rng.integers(0, 3, T_q))
    elif kind == "all axes":  # some of them 1, to be stretched
        stretched = [1 if draw(st.booleans()) else size for size in shape]
        mask = rng.random(stretched) < draw(st.sampled_from((0.1, 0.5, 0.9)))
    else:
        mask = rng.random((T_q, T_k)) < draw(st.sampled_from((0.1, 0.5, 0.9)))
    layout = draw(st.sampled_from(("plain", "fortran", "every second", "reversed", "read-only")))
    return lay_out(mask, "list" if kind == "list" else layout), np.broadcast_to(mask, shape)


leads = st.sampled_from(((), (), (1,), (3,), (2, 3), (1, 2), (0,), (2, 1, 2)))
scales = st.sampled_from((None, None, None, 1.0, 0.0, -0.5, 1, np.float32(0.25), np.float64(0.3)))


@st.composite
def cases(draw, dtypes=floats, layouts=all_layouts):
    """An attention problem of finite numbers."""
    lead, T_q, T_k, d_v = draw(leads), draw(sizes), draw(sizes), draw(sizes)
    d_k = draw(st.integers(1, 17))
    shapes = ((*lead, T_q, d_k), (*lead, T_k, d_k), (*lead, T_k, d_v))
    one_type = st.just(draw(dtypes)) if draw(st.booleans()) else dtypes
    Q, K, V = (draw(arrays(shape, one_type, layouts)) for shape in shapes)
    mask, allowed = draw(masks(lead, T_q, T_k))
    return Case(Q, K, V, mask, allowed, draw(scales))


@st.composite
def spoilt_cases(draw):
    """The same with NaN and infinities in a few places, and magnitudes at which no weight is 0."""
    case = draw(cases(layouts=plain))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    for name in ("Q", "K", "V"):
        array = np.array(getattr(case, name))
        array = rng.standard_normal(array.shape).astype(array.dtype)
        if array.size:
            for _ in range(draw(st.integers(0, 3))):
                where = tuple(rng.integers(0, size) for size in array.shape)
                array[where] = draw(st.sampled_from((np.nan, np.inf, -np.inf)))
        setattr(case, name, array)
    return case
