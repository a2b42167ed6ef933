"""The numbers of the ANDREA models, and how often they occur in the mask itself."""

import dataclasses

import numpy as np
import pytest
from test_inputs import assert_one_sentence

import andrea_lesson as al


def test_parameter_counts():
    assert al.ANDREA_12M.n_params == 12_780_288
    assert al.ANDREA_120M.n_params == 98_698_752
    assert al.count_parameters(d_model=768, n_layer=12, T=1024, vocabulary=8449) == 98_698_752


@pytest.mark.parametrize("name", ["d_model", "n_layer", "T", "vocabulary"])
@pytest.mark.parametrize(("value", "error"), [(-1, ValueError), (1.5, TypeError), ("8", TypeError)])
def test_parameters_are_counted_of_whole_numbers(name, value, error):
    sizes = {"d_model": 768, "n_layer": 12, "T": 1024, "vocabulary": 8449} | {name: value}
    with pytest.raises(error) as caught:
        al.count_parameters(**sizes)
    assert_one_sentence(str(caught.value), name)


def test_narrow_integers_do_not_overflow():
    assert al.count_parameters(np.int16(768), 12, 1024, np.int16(8449)) == 98_698_752


def test_parameter_counts_meet_what_was_published():
    for model in al.FAMILY:
        assert model.n_params == pytest.approx(model.published_n_params, rel=0.005)


def test_the_480m_model_states_no_vocabulary():
    assert al.ANDREA_480M.vocabulary is None
    assert al.ANDREA_480M.n_params == al.ANDREA_480M.published_n_params


def test_widths_of_heads():
    assert [model.d_k for model in al.FAMILY] == [32, 64, 64]
    for model in al.FAMILY:
        assert model.d_k * model.n_head == model.d_model  # the division is exact
    assert [model.mlp_width for model in al.FAMILY] == [1536, 3072, 6144]


def test_the_table_of_the_family():
    rows = [(m.name, m.d_model, m.n_head, m.n_layer, m.T, m.vocabulary) for m in al.FAMILY]
    assert rows == [
        ("ANDREA-12M", 384, 12, 6, 1024, 2305),
        ("ANDREA-120M", 768, 12, 12, 1024, 8449),
        ("ANDREA-480M", 1536, 24, 16, 1024, None),
    ]


def test_a_model_cannot_be_changed_by_mistake():
    with pytest.raises(dataclasses.FrozenInstanceError):
        al.ANDREA_120M.T = 2048


def test_pairs_in_the_causal_mask_of_andrea_120m():
    T = al.ANDREA_120M.T
    mask = al.causal_mask(T)
    assert mask.size == 1_048_576
    assert mask.sum() == 524_800 == T * (T + 1) // 2
    heads = al.ANDREA_120M.n_head * al.ANDREA_120M.n_layer
    assert heads == 144
    assert heads * mask.size == 150_994_944


def test_a_head_of_andrea_120m_gives_weight_to_just_these_pairs():
    """Random queries and keys at the real size: every allowed weight is above 0, no other."""
    T, d_k = al.ANDREA_120M.T, al.ANDREA_120M.d_k
    rng = np.random.default_rng(0)
    Q, K, V = (rng.standard_normal((T, d_k)).astype(np.float32) for _ in range(3))
    steps = al.attention_steps(Q, K, V, mask="causal")
    assert np.count_nonzero(steps.weights) == 524_800
    assert steps.output.shape == (1024, 64)
    np.testing.assert_allclose(steps.weights.sum(axis=-1), np.ones(T), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(steps.output[0], V[0])
