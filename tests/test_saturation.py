"""How peaked rows become, against numbers worked out apart from the package and the known facts."""

import math

import numpy as np
import pytest
from test_inputs import MASKED, assert_one_sentence

from andrea_lesson import experiments

DIVISORS = experiments.DIVISORS


def softmax_here(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


# -- rulers ----------------------------------------------------------------------------------------


def test_share_of_keys_with_gradient_by_hand():
    rows = np.array([[0.25] * 4, [1.0, 0, 0, 0], [0.97, 0.03, 0, 0], [0.5, 0.5, 0, 0], [0.0] * 4])
    # p(1 - p) of row 2: 0.0291, 0.0291, 0, 0; a tenth of an even share is 0.025
    np.testing.assert_array_equal(experiments.gradient_share(rows), [1, 0, 0.5, 0.5, 0])


def test_the_winner_of_a_frozen_row_counts_as_lost():
    assert experiments.gradient_share(np.array([0.999, 0.0005, 0.0005])) == 0
    assert experiments.gradient_share(np.array([1.0])) == 0


def test_a_row_without_keys_has_no_share():
    assert experiments.gradient_share(np.zeros((2, 0))).tolist() == [0, 0]


def test_jacobian_norm_is_the_norm_of_the_matrix():
    for w in softmax_here(np.random.default_rng(1).standard_normal((5, 9)) * 3):
        matrix = np.diag(w) - np.outer(w, w)
        assert experiments.jacobian_norm(w) == pytest.approx(np.linalg.norm(matrix), rel=1e-9)
    assert experiments.jacobian_norm(np.array([1.0, 0.0])) == 0


@pytest.mark.parametrize("ruler", [experiments.gradient_share, experiments.jacobian_norm])
@pytest.mark.parametrize(
    ("weights", "error"),
    [([1.5, -0.5], ValueError), ([1.0, 1.0], ValueError), (1.0, ValueError), (MASKED, TypeError)],
)
def test_what_is_no_row_of_weights_is_refused(ruler, weights, error):
    with pytest.raises(error) as caught:
        ruler(weights)
    assert_one_sentence(str(caught.value), "weights")


# -- over d_k, T and divisor -----------------------------------------------------------------------


def test_grid_is_what_the_same_vectors_give_when_worked_out_here():
    d_k, Ts = 24, (10, 1500)
    found = experiments.saturation_grid((d_k,), Ts, rows=5, seed=3)
    rng = np.random.default_rng([3, d_k])
    Q, K = rng.standard_normal((5, d_k)), rng.standard_normal((1500, d_k))
    divisors = (1, math.sqrt(24), 24, math.sqrt(768))
    for at_T, T in enumerate(Ts):
        for at, divisor in enumerate(divisors):
            w = softmax_here(Q @ K[:T].T / divisor)
            entropy = -(w * np.log(w)).sum(axis=-1)
            place = at_T, 0, at
            assert found.effective_keys[place] == pytest.approx(
                np.median(np.exp(entropy)), rel=1e-9
            )
            assert found.gradient_share[place] == pytest.approx(np.mean(w * (1 - w) > 0.1 / T))
            assert found.largest_weight[place] == pytest.approx(np.median(w.max(-1)), rel=1e-9)
    np.testing.assert_allclose(found.std[0], math.sqrt(24) / np.array(divisors), rtol=1e-12)


@pytest.fixture(scope="module")
def facts():
    """d_k = 64 over four draws, at the lengths of the facts: (16, 1024, 16384) × divisors."""
    draws = [
        experiments.saturation_grid((64,), (16, 1024, 16384), ("none", "sqrt_d_k"), seed=seed)
        for seed in range(4)
    ]
    return {
        name: np.mean([getattr(one, name)[:, 0] for one in draws], axis=0)
        for name in ("effective_keys", "gradient_share", "largest_weight")
    }


def test_scaled_rows_keep_T_over_root_e_keys(facts):
    raw, scaled = facts["effective_keys"].T
    assert scaled[1] == pytest.approx(625, rel=0.03)
    np.testing.assert_allclose(scaled[1:], np.array([1024, 16384]) / math.sqrt(math.e), rtol=0.03)
    assert raw[1] == pytest.approx(2.5, rel=0.25)


def test_share_of_keys_with_gradient_is_the_same_at_every_T_when_scaled(facts):
    raw, scaled = facts["gradient_share"].T
    np.testing.assert_allclose(scaled, 0.96, atol=0.01)
    np.testing.assert_allclose(raw, [0.14, 0.02, 0.007], rtol=0.2)


def test_largest_weight_tells_a_winner_from_a_crowd(facts):
    raw, scaled = facts["largest_weight"].T
    assert (raw > 0.5).all()
    assert (scaled < [0.3, 0.03, 0.005]).all()


def test_raw_rows_freeze_around_2_ln_T():
    draws = [experiments.saturation_grid((8, 16, 64), seed=seed) for seed in range(4)]
    assert draws[0].freezing_d_k[0] == pytest.approx(2 * math.log(1024))
    assert draws[0].freezing_d_k[0] == pytest.approx(13.9, abs=0.05)
    raw = np.median([one.effective_keys[0, :, 0] for one in draws], axis=0)
    np.testing.assert_allclose(raw, [50, 13, 2.5], rtol=0.25)


def test_theory_of_every_divisor_and_where_it_ends():
    found = experiments.saturation_grid((4, 64, 256), (1024,))
    theory = found.keys_theory[0]  # (3, 4)
    np.testing.assert_allclose(
        theory[:, 1], 1024 / math.sqrt(math.e), rtol=1e-12
    )  # divided by √d_k
    assert np.isnan(theory[1:, 0]).all()  # raw and frozen
    assert theory[0, 0] == pytest.approx(1024 * math.exp(-2))
    assert theory[1, 3] == pytest.approx(1024 * math.exp(-64 / 768 / 2))
    told = ~np.isnan(theory[:, 1:])
    np.testing.assert_allclose(found.effective_keys[0][:, 1:][told], theory[:, 1:][told], rtol=0.08)


def test_freezing_is_a_part_of_the_grid():
    found = experiments.saturation_grid((4, 32), (300,), rows=8, seed=2)
    curves = experiments.freezing((4, 32), 300, rows=8, seed=2)
    np.testing.assert_array_equal(curves.raw, found.effective_keys[0, :, 0])
    np.testing.assert_array_equal(curves.scaled, found.effective_keys[0, :, 1])


def test_same_seed_same_numbers_and_read_only():
    first = experiments.saturation_grid([4, 8], [16, 64], rows=4)
    assert experiments.saturation_grid((4, 8), np.array([16, 64]), rows=4) is first
    other = experiments.saturation_grid((4, 8), (16, 64), rows=4, seed=1)
    assert not np.allclose(other.effective_keys, first.effective_keys)
    for value in vars(first).values():
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0


def test_a_shorter_row_holds_the_first_keys_of_a_longer_one():
    long = experiments.saturation_grid((16,), (100, 3000), rows=4)
    short = experiments.saturation_grid((16,), (100,), rows=4)
    np.testing.assert_allclose(short.effective_keys[0], long.effective_keys[0], rtol=1e-12)


# -- appendix --------------------------------------------------------------------------------------


def test_two_rulers_mislead_and_two_do_not():
    draws = [experiments.misleading_rulers(seed=seed) for seed in range(4)]
    norm, fixed, keys, share = (
        np.mean([getattr(one, name) for one in draws], axis=0)
        for name in ("jacobian_norm", "fixed_share", "effective_keys", "gradient_share")
    )
    np.testing.assert_allclose(norm[0], [0.12, 0.30], atol=0.03)  # T = 16
    np.testing.assert_allclose(norm[1], [0.30, 0.05], atol=0.03)  # T = 1024: turned round
    assert fixed[0, 0] < fixed[0, 1]
    assert fixed[1, 0] < fixed[1, 1]
    assert fixed[2, 0] > fixed[2, 1]  # T = 16,384: turned round
    assert (keys[:, 0] < keys[:, 1] / 4).all()
    np.testing.assert_allclose(share[:, 1], 0.96, atol=0.01)
    np.testing.assert_allclose(share[:, 0], [0.14, 0.02, 0.007], rtol=0.2)


def test_misleading_rulers_are_marked_as_appendix():
    for thing in (
        experiments.misleading_rulers,
        experiments.MisleadingRulers,
        experiments.jacobian_norm,
    ):
        assert thing.__doc__.startswith("Appendix")


GRID = {"d_ks": (4,), "Ts": (8,)}


@pytest.mark.parametrize(
    ("call", "arguments", "name", "error"),
    [
        *[
            (experiments.saturation_grid, GRID | wrong, name, error)
            for wrong, name, error in [
                ({"d_ks": ()}, "d_ks", ValueError),
                ({"d_ks": 4}, "d_ks", TypeError),
                ({"Ts": ()}, "Ts", ValueError),
                ({"Ts": 8}, "Ts", TypeError),
                ({"Ts": "8"}, "Ts", TypeError),
                ({"Ts": (0,)}, "Ts", ValueError),
                ({"Ts": (16385,)}, "Ts", ValueError),
                ({"Ts": (8.0,)}, "Ts", TypeError),
                ({"divisors": ()}, "divisors", ValueError),
                ({"divisors": "none"}, "divisors", TypeError),
                ({"divisors": ("d",)}, "divisors", ValueError),
                ({"divisors": ([],)}, "divisors", ValueError),
                ({"d_model": 0}, "d_model", ValueError),
                ({"d_model": []}, "d_model", TypeError),
                ({"rows": 0}, "rows", ValueError),
                ({"rows": 16384, "Ts": (16384,)}, "rows", ValueError),
                ({"seed": -1}, "seed", ValueError),
            ]
        ],
        (experiments.freezing, {"d_ks": (4,), "T": 16384, "rows": 16384}, "rows", ValueError),
        (experiments.misleading_rulers, {"Ts": ()}, "Ts", ValueError),
        (experiments.misleading_rulers, {"d_k": 0}, "d_k", ValueError),
        (experiments.misleading_rulers, {"rows": 0}, "rows", ValueError),
        (experiments.misleading_rulers, {"seed": 0.5}, "seed", TypeError),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(call, arguments, name, error):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(**arguments)
    assert caught.type is error
    assert_one_sentence(str(caught.value), name)
