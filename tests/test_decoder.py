"""The small decoder: the five rules, its gradients by hand, and what it may and may not see."""

import numpy as np
import pytest

from andrea_lesson import attention_steps
from andrea_lesson.decoder import (
    VARIANTS,
    Room,
    Size,
    allowed_by,
    decoder_of,
    gradients,
    loss_and_gradient,
    random_decoder,
    run,
    shapes,
    softmax_over,
)

SMALL = Size(vocabulary=7, T=6, d_model=8, n_head=2)
TWO = Size(vocabulary=5, T=4, d_model=6, n_head=3, n_block=2)


def random_case(size, seed=0, T=None, B=3):
    rng = np.random.default_rng(seed)
    decoder = random_decoder(size, seed, np.float64)
    characters = rng.integers(0, size.vocabulary, (B, size.T if T is None else T))
    return decoder, characters, rng


# -- the five rules --------------------------------------------------------------------------------


def test_which_keys_each_rule_allows():
    wanted = {
        "causal": ["1000", "1100", "1110", "1111"],
        "none": ["1111"] * 4,
        "reversed": ["0111", "0011", "0001", "0000"],
        "after_softmax": ["1111"] * 4,
        "diagonal_hidden": ["0000", "1000", "1100", "1110"],
    }
    assert list(wanted) == list(VARIANTS)
    for variant, rows in wanted.items():
        before, after = allowed_by(variant, 4)
        assert before.tolist() == [[cell == "1" for cell in row] for row in rows], variant
        kept = np.tri(4, dtype=bool) if variant == "after_softmax" else np.ones((4, 4), bool)
        assert (after == kept).all(), variant


def test_another_rule_is_refused():
    with pytest.raises(ValueError, match="variant must be one of"):
        allowed_by("future", 4)


def test_rows_with_no_allowed_key_are_zero_and_all_others_sum_to_1():
    scores = np.random.default_rng(0).normal(0, 30, (2, 6, 6))
    for variant in VARIANTS:
        before, _ = allowed_by(variant, 6)
        weights = softmax_over(np, scores.copy(), before)
        np.testing.assert_allclose(weights.sum(axis=-1), np.tile(before.any(axis=-1), (2, 1)))
        assert (weights[:, ~before] == 0).all()


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v != "after_softmax"])
def test_weights_are_those_of_the_lesson(variant):
    decoder, characters, _ = random_case(SMALL)
    made = run(decoder, characters, variant).blocks[0]
    steps = attention_steps(made.Q, made.K, made.V, mask=allowed_by(variant, 6)[0])
    np.testing.assert_allclose(made.weights, steps.weights, rtol=1e-12, atol=1e-15)
    heads = made.mixed.reshape(3, 6, 2, 4).swapaxes(1, 2)
    np.testing.assert_allclose(heads, steps.output, rtol=1e-12, atol=1e-15)


def test_after_softmax_rows_lack_what_lies_in_the_future():
    decoder, characters, _ = random_case(SMALL)
    none = run(decoder, characters, "none").blocks[0].weights
    weights = run(decoder, characters, "after_softmax").blocks[0].weights
    np.testing.assert_array_equal(weights, np.tril(none))
    assert (weights[:, :, :-1].sum(axis=-1) < 1).all()


# -- gradients -------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("size", "T"), [(SMALL, 6), (SMALL, 4), (TWO, 4)], ids=str)
def test_gradients_are_finite_differences(size, T, variant):
    decoder, characters, rng = random_case(size, 1, T)
    cotangent = rng.standard_normal((*characters.shape, size.vocabulary))
    by_hand = gradients(decoder, run(decoder, characters, variant), cotangent)
    rate, step = np.empty_like(decoder.flat), 1e-6
    for n in range(len(decoder.flat)):
        ends = []
        for sign in (1, -1):
            flat = decoder.flat.copy()
            flat[n] += sign * step
            ends.append(np.sum(run(decoder_of(size, flat), characters, variant).logits * cotangent))
        rate[n] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(by_hand.flat, rate, rtol=1e-6, atol=2e-8)
    named = decoder_of(size, np.abs(rate))
    blocks = [m for b in named.blocks for m in (b.W_QKV, b.W_O, b.W_1, b.W_2)]
    for matrix in (named.embedding, named.positions, *blocks, named.W_out):
        assert matrix.max() > 1e-3  # a gradient of zeros would prove nothing


def test_loss_and_its_gradient():
    rng = np.random.default_rng(2)
    logits, following = rng.standard_normal((2, 3, 5)) * 4, rng.integers(0, 5, (2, 3))
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    loss, dlogits = loss_and_gradient(logits, following)
    wanted = -np.log(np.take_along_axis(p, following[..., None], axis=-1)).mean()
    assert loss == pytest.approx(wanted, rel=1e-12)
    np.testing.assert_allclose(dlogits, (p - np.eye(5)[following]) / 6, rtol=1e-12, atol=1e-15)
    even = np.zeros((1, 2, 5), np.float32)
    assert loss_and_gradient(even, following[:1, :2])[0] == pytest.approx(np.log(5))
    assert (even == 0).all()  # what comes in stays as it is
    huge = np.array([[[1e4, 0.0]]])
    assert loss_and_gradient(huge, np.array([[1]]))[0] == 1e4


# -- what it sees ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_block", [1, 2])
@pytest.mark.parametrize("variant", VARIANTS)
def test_which_rows_move_when_a_character_changes(variant, n_block, dtype):
    size = Size(9, 10, 8, 2, n_block)
    decoder = random_decoder(size, 4, dtype)
    texts = np.random.default_rng(4).integers(0, 9, (2, 10))
    texts[1] = texts[0]
    texts[1, 5] = (texts[0, 5] + 1) % 9
    logits = run(decoder, texts, variant).logits
    moved = np.abs(logits[0] - logits[1]).max(axis=-1)
    before, at, later = moved[:5], moved[5], moved[6:]
    assert at > 0  # through the residual connection, whatever the mask
    assert (
        (before > 0).all() if variant in ("none", "reversed", "after_softmax") else not before.any()
    )
    if variant != "reversed":
        assert (later > 0).all()
    else:
        assert not later.any()


def test_numbers_are_views_of_one_row_and_begin_the_same():
    decoder = random_decoder(SMALL, 5)
    assert decoder.flat.dtype == np.float32
    assert len(decoder.flat) == sum(rows * columns for rows, columns in shapes(SMALL))
    decoder.blocks[0].W_O[...] = 7
    assert (decoder.flat == 7).sum() == 64
    first = [random_decoder(SMALL, seed).flat for seed in (5, 5, 6)]
    np.testing.assert_array_equal(first[0], first[1])
    assert (first[0] != first[2]).all()
    logits = run(decoder, np.zeros((1, 3), int), "causal").logits
    assert logits.shape == (1, 3, 7)
    assert logits.dtype == np.float32


@pytest.mark.parametrize("variant", ["causal", "after_softmax"])
def test_room_that_serves_again_changes_no_number(variant):
    room = Room(np.zeros(0))
    for size, T, seed in ((SMALL, 6, 0), (SMALL, 6, 1), (SMALL, 4, 2), (TWO, 4, 3)):
        decoder, characters, rng = random_case(size, seed, T)
        following = rng.integers(0, size.vocabulary, characters.shape)
        results = []
        for place in (None, room):
            passed = run(decoder, characters, variant, room=place)
            loss, dlogits = loss_and_gradient(passed.logits, following, room=place)
            change = gradients(decoder, passed, dlogits, room=place)
            results.append((loss, passed.logits, dlogits, change.flat))
        for plain, reused in zip(*results, strict=True):
            np.testing.assert_array_equal(plain, reused)
