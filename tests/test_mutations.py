"""Break the algebra on purpose: each break must turn a test red.

A copy of the package gets one small change, and the quick tests run against the copy.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import andrea_lesson as al

PACKAGE = Path(al.__file__).resolve().parent
TESTS = Path(__file__).resolve().parent

# what is broken: (file, what stands there, what stands there instead, the tests that must notice)
FAULTS = "test_reported_faults.py"
STRICT = "test_array_api.py"
BACKWARD = "test_backward.py"
MUTATIONS = {
    "mask reversed where it is made": (
        "masks.py",
        "    return key <= position\n",
        "    return key >= position\n",
        FAULTS,
    ),
    "mask reversed where it is used": (
        "scaled_dot_product.py",
        "xp.where(allowed, scaled_scores, hidden)",
        "xp.where(allowed, hidden, scaled_scores)",
        FAULTS,
    ),
    "causal triangle from the top left": (
        "masks.py",
        "np.arange(T_q)[:, None] + (T_k - T_q)",
        "np.arange(T_q)[:, None]",
        FAULTS,
    ),
    "no scale": ("scaled_dot_product.py", "scores * scale", "scores * 1.0", FAULTS),
    "divided by the root of d_model": (
        "scaled_dot_product.py",
        "check_scale(scale, Q.shape[-1])",
        "check_scale(scale, 12 * Q.shape[-1])",
        FAULTS,
    ),
    "a NumPy scalar as scale": (
        "inputs.py",
        "return 1 / math.sqrt(d_k)",
        "return 1 / np.sqrt(d_k)",
        FAULTS,
    ),
    "softmax along the queries": (
        "scaled_dot_product.py",
        "empty: Array, axis: int = -1)",
        "empty: Array, axis: int = -2)",
        FAULTS,
    ),
    "no maximum shift": (
        "scaled_dot_product.py",
        "xp.exp(scores - highest)",
        "xp.exp(scores)",
        FAULTS,
    ),
    "values mixed by column instead of row": (
        "scaled_dot_product.py",
        "        return weights @ V  # (..., T_q, d_v)",
        "        return xp.matrix_transpose(weights) @ V",
        FAULTS,
    ),
    "-1e9 for -inf": (
        "scaled_dot_product.py",
        "_constant(xp, -xp.inf, like=scores)",
        "_constant(xp, -1e9, like=scores)",
        FAULTS,
    ),
    "empty rows not met before the division": (
        "scaled_dot_product.py",
        "empty = ~xp.any(allowed, axis=-1, keepdims=True)",
        "empty = _constant(xp, False, like=scores)",
        FAULTS,
    ),
    "NaN left in the weights of hidden keys": (
        "scaled_dot_product.py",
        "        weights = xp.where(allowed, weights, _constant(xp, 0.0, like=scores))\n",
        "",
        FAULTS,
    ),
    "hidden NaN in the weighted sum": (
        "scaled_dot_product.py",
        "if allowed is None or bool(xp.all(finite)):",
        "if True:",
        FAULTS,
    ),
    "float16 summed in float16": (
        "inputs.py",
        "return xp.float32 if _type_name(dtype) == _HALF else dtype",
        "return dtype",
        FAULTS,
    ),
    "a stray NumPy call": (
        "scaled_dot_product.py",
        "exponentials = xp.exp(",
        "import numpy as np\n    exponentials = np.exp(",
        STRICT,
    ),
    "a constant on the wrong device": (
        "scaled_dot_product.py",
        "dtype=dtype, device=device(like))",
        "dtype=dtype)",
        STRICT,
    ),
    "the row mean left out of the gradient": (
        "backward.py",
        "weights * (dweights - row_mean)",
        "weights * dweights",
        BACKWARD,
    ),
    "the mean of a column for that of a row": (
        "backward.py",
        "xp.sum(weights * dweights, axis=-1, keepdims=True)",
        "xp.sum(weights * dweights, axis=-2, keepdims=True)",
        BACKWARD,
    ),
    "the scale forgotten on the way back": (
        "backward.py",
        "dscores = dscaled_scores * scale",
        "dscores = dscaled_scores",
        BACKWARD,
    ),
    "a hidden NaN in the gradient of the weights": (
        "backward.py",
        "dweights = _where(xp, allowed, dO @ xp.matrix_transpose(V))",
        "dweights = dO @ xp.matrix_transpose(V)",
        BACKWARD,
    ),
    "a row of NaN in the gradient of hidden scores": (
        "backward.py",
        "dscaled_scores = _where(xp, allowed, weights * (dweights - row_mean))",
        "dscaled_scores = weights * (dweights - row_mean)",
        BACKWARD,
    ),
    "0 times NaN in dQ": (
        "backward.py",
        "weighted_sum(xp, dscores, K, allowed)",
        "dscores @ K",
        BACKWARD,
    ),
    "0 times NaN in dK": (
        "backward.py",
        "weighted_sum(xp, xp.matrix_transpose(dscores), Q, seen_by)",
        "xp.matrix_transpose(dscores) @ Q",
        BACKWARD,
    ),
    "gradients of float16 summed in float16": (
        "backward.py",
        "(xp.astype(array, wide) for array in (Q, K, V, dO))",
        "(xp.astype(array, dtype) for array in (Q, K, V, dO))",
        BACKWARD,
    ),
    "a gradient that stretches to the output": (
        "inputs.py",
        "if dO.shape != output:",
        "if False:",
        BACKWARD,
    ),
    "a mask that stretches the scores": (
        "inputs.py",
        "if not fits:",
        "if False:",
        "test_inputs.py",
    ),
    "a window one too wide": (
        "masks.py",
        "(key > position - window)",
        "(key >= position - window)",
        "test_masks.py",
    ),
}


def run_tests(tmp_path, tests, change=None):
    """Run a test file against a copy of the package; return pytest's exit status and output."""
    copy = tmp_path / "andrea_lesson"
    copy.mkdir()
    for path in PACKAGE.glob("*.py"):
        shutil.copy(path, copy)
    shutil.copytree(PACKAGE / "words", copy / "words")  # labels.py needs them
    if change:
        name, old, new = change
        source = (copy / name).read_text(encoding="utf-8")
        assert source.count(old) == 1, f"{name} has no longer exactly one {old!r}"
        (copy / name).write_text(source.replace(old, new), encoding="utf-8")
    # Nothing that is slow to start: each run costs half a second.
    options = ["-x", "-q", "--noconftest", "--assert=plain", "-p", "no:cacheprovider"]
    options += ["-c", TESTS.parent / "pyproject.toml"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, TESTS / tests],
        cwd=tmp_path,  # comes first among the places to import from
        # Without the options of the run around it, whose plugins are not loaded here.
        env=os.environ
        | {
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",
        },
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return run.returncode, run.stdout + run.stderr


@pytest.mark.parametrize("tests", sorted({tests for *_, tests in MUTATIONS.values()}))
def test_the_copy_passes_as_it_is(tmp_path, tests):
    status, output = run_tests(tmp_path, tests)
    assert status == pytest.ExitCode.OK, output


@pytest.mark.parametrize("what", MUTATIONS)
def test_a_break_turns_a_test_red(tmp_path, what):
    *change, tests = MUTATIONS[what]
    status, output = run_tests(tmp_path, tests, change)
    # Not merely an error on the way: a test ran and failed.
    assert status == pytest.ExitCode.TESTS_FAILED, f"{what} went unnoticed by {tests}:\n{output}"
