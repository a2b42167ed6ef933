"""Mask value × precision: each outcome against weights worked out apart from the package."""

import math

import numpy as np
import pytest
from test_inputs import assert_one_sentence

from andrea_lesson import experiments

LOWEST = "lowest"


@pytest.fixture(scope="module")
def found():
    return experiments.mask_outcomes()


def outcome(found, rule, value, dtype, case):
    places = (found.rules.index(rule), found.values.index(value), found.dtypes.index(dtype))
    return str(found.outcome[(*places, case)])


# What happens, reasoned by hand: a row of two keys with scores (s, 0), the second hidden;
# cases are s = 1, −2·10⁴, −2·10⁹ and the empty row.
BY_HAND = {
    ("fill", -math.inf, "float64"): "right right right nan",
    ("fill", -math.inf, "float32"): "right right right nan",
    ("fill", -math.inf, "float16"): "right right no_such_score nan",
    ("fill", -1e9, "float64"): "right right leaks uniform",
    ("fill", -1e9, "float32"): "right right leaks uniform",
    ("fill", -1e9, "float16"): "right right no_such_score nan",  # −1e9 is −∞ there
    ("fill", -1e4, "float64"): "right leaks leaks uniform",
    ("fill", -1e4, "float16"): "right leaks no_such_score uniform",
    ("fill", LOWEST, "float64"): "right right right uniform",
    ("fill", LOWEST, "float32"): "right right right uniform",
    ("fill", LOWEST, "float16"): "right right no_such_score uniform",
    ("fill", 0.0, "float64"): "leaks leaks leaks uniform",  # e⁰ = 1
    ("add", -math.inf, "float64"): "nan nan nan nan",  # (1 − 1)·(−∞)
    ("add", -math.inf, "float32"): "nan nan nan nan",
    ("add", -1e9, "float64"): "right right leaks unmasked",
    ("add", -1e9, "float32"): "right right leaks uniform",  # −1e9 + 1 is −1e9 there
    ("add", -1e9, "float16"): "nan nan no_such_score nan",
    ("add", -1e4, "float32"): "right leaks leaks unmasked",
    ("add", -1e4, "float16"): "right leaks no_such_score uniform",
    ("add", LOWEST, "float64"): "right right right uniform",
    ("add", 0.0, "float16"): "leaks leaks no_such_score unmasked",
}


@pytest.mark.parametrize("rule_value_dtype", BY_HAND, ids=str)
def test_outcomes_reasoned_by_hand(found, rule_value_dtype):
    expected = BY_HAND[rule_value_dtype].split()
    assert [outcome(found, *rule_value_dtype, case) for case in range(4)] == expected


def test_every_outcome_occurs_and_is_one_of_the_names(found):
    assert set(found.outcome.ravel().tolist()) == set(experiments.OUTCOMES)


def test_no_number_is_right_in_every_case_by_either_rule(found):
    assert not (found.outcome[..., :] == "right").all(axis=-1).any()


def test_weights_are_those_of_the_rule_in_that_precision(found):
    """Each step worked out here in the type asked for."""
    assert found.weights.shape == (2, 5, 3, 4, 2)
    with np.errstate(all="ignore"):
        for rule, value, dtype, case in np.ndindex(found.outcome.shape):
            name, kind = found.rules[rule], np.dtype(found.dtypes[dtype]).type
            number = found.values[value]
            number = np.finfo(kind).min if number == LOWEST else kind(number)
            score = [1.0, -2e4, -2e9, 1.0][case]
            hidden = np.array([case == 3, True])
            row = np.array([score, 0.0]).astype(kind)
            if name == "fill":
                row = np.where(hidden, number, row)
            else:
                row = row + hidden.astype(kind) * number
            exponentials = np.exp(row - row.max())
            expected = exponentials / exponentials.sum()
            assert expected.dtype == kind
            np.testing.assert_array_equal(found.weights[rule, value, dtype, case], expected)


def test_a_leak_is_a_weight_on_a_hidden_key(found):
    visible = found.outcome[..., :3]
    on_hidden = found.weights[..., :3, 1]
    assert (on_hidden[visible == "leaks"] > 0).all()
    assert (on_hidden[visible == "right"] == 0).all()
    np.testing.assert_allclose(found.weights[found.outcome == "uniform"], 0.5, rtol=1e-3)


def test_an_empty_row_swallowed_in_part_is_a_leak():
    """In float16 numbers near −2000 lie one apart: 1.4 becomes 1, so neither even nor unmasked."""
    partly = experiments.mask_outcomes((-1500.0,), ("float16",), ("add",), scores=(1.0,))
    assert partly.outcome[0, 0, 0, 1] == "unmasked"
    rough = experiments.mask_outcomes((-3000.0,), ("float16",), ("add",), scores=(1.0,))
    assert rough.outcome[0, 0, 0, 1] in ("leaks", "uniform")


def test_the_choice_is_kept_in_order_and_nothing_can_be_changed():
    few = experiments.mask_outcomes([LOWEST, -5], ["float16"], ["add"], scores=[3])
    assert (few.values, few.dtypes, few.rules) == ((LOWEST, -5.0), ("float16",), ("add",))
    assert few.scores == (3.0,)
    assert few.outcome.shape == (1, 2, 1, 2)
    assert few.outcome[0, 1, 0, 0] == "leaks"
    for array in (few.weights, few.outcome):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = array


@pytest.mark.parametrize(
    ("arguments", "name", "error"),
    [
        ({"values": ()}, "values", ValueError),
        ({"values": -1e9}, "values", TypeError),
        ({"values": "lowest"}, "values", TypeError),
        ({"values": ("least",)}, "values", ValueError),
        ({"values": (math.nan,)}, "values", ValueError),
        ({"values": (math.inf,)}, "values", ValueError),
        ({"values": (True,)}, "values", TypeError),
        ({"values": (None,)}, "values", TypeError),
        ({"values": (-(10**400),)}, "values", ValueError),
        ({"dtypes": "float32"}, "dtypes", TypeError),
        ({"dtypes": ("bfloat16",)}, "dtypes", ValueError),
        ({"rules": ("multiply",)}, "rules", ValueError),
        ({"rules": ()}, "rules", ValueError),
        ({"scores": (math.inf,)}, "scores", ValueError),
        ({"scores": ("1",)}, "scores", TypeError),
        ({"scores": ()}, "scores", ValueError),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(arguments, name, error):
    with pytest.raises((TypeError, ValueError)) as caught:
        experiments.mask_outcomes(**arguments)
    assert caught.type is error
    assert_one_sentence(str(caught.value), name)
