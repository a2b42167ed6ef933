"""What the tests of all panels need."""

import numpy as np

STEPS = ("scores", "scaled_scores", "masked_scores", "weights", "output")


def same(one, other):
    np.testing.assert_array_equal(one, other, strict=True)


def same_steps(one, other):
    """Equal but for rounding: panels hold the BLAS to one thread, which sums in another order."""
    for name in STEPS:
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == second.dtype
        close = 50 * np.finfo(second.dtype).eps
        size = np.abs(second[np.isfinite(second)]).max(initial=0.0)
        np.testing.assert_allclose(first, second, rtol=close, atol=close * size, strict=True)


def set_all(panel, values, rng):
    """Set several controls, in any order; what stands there in between may be a bad setting.

    The source comes first: choosing the running example sets T.
    """
    names = [name for name in values if name != "source"]
    rng.shuffle(names)
    for name in ["source", *names] if "source" in values else names:
        panel.controls[name].value = values[name]
