"""The look-up head: its task, and its gradients against finite differences.

Losses are random combinations of the output: a random cotangent reaches every entry.
"""

from dataclasses import replace

import array_api_strict as strict
import numpy as np
import pytest

import andrea_lesson as al
from andrea_lesson.backward import attention_backward
from andrea_lesson.training import (
    SGD,
    Adam,
    Head,
    Shelves,
    cross_entropy,
    gradients,
    look_up,
    random_head,
    random_shelves,
)

TOPICS, BOOKS, CARDS, D_K = 5, 4, 3, 6
MATRICES = ("W_Q", "W_K", "W_V")
DEVICE = strict.Device("device1")


def problem(seed=0, sigma=0.7):
    shelves = random_shelves(
        np.random.default_rng(seed), 2, cards=CARDS, topics=TOPICS, books=BOOKS
    )
    return random_head(seed, D_K, sigma, topics=TOPICS, books=BOOKS), shelves


def central_difference(function, head, name, step=1e-6):
    """The gradient of a number with respect to one matrix, entry by entry."""
    slope = np.zeros_like(getattr(head, name))
    for place in np.ndindex(slope.shape):
        ends = []
        for sign in (1, -1):
            moved = getattr(head, name).copy()
            moved[place] += sign * step
            ends.append(function(replace(head, **{name: moved})))
        slope[place] = (ends[0] - ends[1]) / (2 * step)
    return slope


# -- the task --------------------------------------------------------------------------------------


def test_every_card_has_a_topic_and_a_book_and_none_stands_there_twice():
    shelves = random_shelves(np.random.default_rng(0), 50)
    topics, books = np.split(shelves.cards, 2, axis=-1)
    for part in (topics, books):
        assert np.allclose(part.sum(axis=-1), 1 / np.sqrt(2))  # one on each card
        assert part.sum(axis=-2).max() < 1  # no card like another
    np.testing.assert_allclose((shelves.cards**2).sum(axis=-1), 1)  # as long as a question
    np.testing.assert_allclose((shelves.asked**2).sum(axis=-1), 1)


def test_the_question_is_the_topic_of_the_card_and_the_answer_its_book():
    shelves = random_shelves(np.random.default_rng(1), 3)
    topics, books = np.split(shelves.cards, 2, axis=-1)
    asked, nothing = np.split(shelves.asked, 2, axis=-1)
    np.testing.assert_array_equal(asked, (topics > 0).astype(float))
    np.testing.assert_array_equal(shelves.books, (books > 0).astype(float))
    assert not nothing.any()  # no question gives its answer away


def test_every_topic_meets_every_book():
    rng = np.random.default_rng(2)
    shelves = random_shelves(rng, 2000, cards=CARDS, topics=TOPICS, books=BOOKS)
    cards = shelves.cards.reshape(-1, TOPICS + BOOKS)
    together = cards[:, :TOPICS].T @ cards[:, TOPICS:] * 2  # how often
    assert together.min() > 0.8 * together.mean()


def test_each_draw_gives_other_shelves_and_the_same_seed_the_same_ones():
    one, other = np.random.default_rng(3), np.random.default_rng(3)
    first, second = random_shelves(one), random_shelves(one)
    assert (first.cards != second.cards).any()
    np.testing.assert_array_equal(random_shelves(other).cards, first.cards)


def test_the_components_of_queries_and_keys_spread_by_sigma():
    shelves = random_shelves(np.random.default_rng(4), 32)
    found = look_up(random_head(0, 1024, 0.3), shelves, 1.0)
    assert found.Q.std() == pytest.approx(0.3, rel=0.02)
    assert found.K.std() == pytest.approx(0.3, rel=0.02)


def test_a_wider_head_keeps_the_columns_of_a_narrower_one():
    narrow, wide = random_head(5, 4, 1.0), random_head(5, 9, 1.0)
    np.testing.assert_array_equal(wide.W_Q[:, :4], narrow.W_Q)
    np.testing.assert_array_equal(wide.W_K[:, :4], narrow.W_K)
    np.testing.assert_array_equal(wide.W_V, narrow.W_V)
    assert not np.array_equal(narrow.W_Q, narrow.W_K)


# -- the algebra, and its gradients ----------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, D_K**-0.5])
def test_the_head_is_the_attention_of_the_lesson(scale):
    head, shelves = problem()
    found = look_up(head, shelves, scale)
    Q, _, _ = al.project_qkv(shelves.asked, head.W_Q, head.W_K, head.W_V)
    _, K, V = al.project_qkv(shelves.cards, head.W_Q, head.W_K, head.W_V)
    steps = al.attention_steps(Q, K, V, scale=scale)
    np.testing.assert_allclose(found.weights, steps.weights, rtol=1e-12, strict=True)
    np.testing.assert_allclose(found.output, steps.output, rtol=1e-12, strict=True)

    dO = np.random.default_rng(9).standard_normal(found.output.shape)
    dQ, dK, dV = attention_backward(Q, K, V, dO, scale=scale)
    change = gradients(head, shelves, found, dO, scale)
    wanted = [
        np.einsum("sid,sik->dk", X, dY)
        for X, dY in ((shelves.asked, dQ), (shelves.cards, dK), (shelves.cards, dV))
    ]
    for name, gradient in zip(MATRICES, wanted, strict=True):
        np.testing.assert_allclose(getattr(change, name), gradient, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("scale", [1.0, D_K**-0.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_gradient_of_each_matrix_is_that_of_finite_differences(name, scale, seed):
    head, shelves = problem(seed)
    found = look_up(head, shelves, scale)
    dO = np.random.default_rng([seed, 7]).standard_normal(found.output.shape)
    by_hand = getattr(gradients(head, shelves, found, dO, scale), name)
    measured = central_difference(
        lambda head: float(np.sum(dO * look_up(head, shelves, scale).output)), head, name
    )
    np.testing.assert_allclose(by_hand, measured, rtol=1e-6, atol=1e-8, strict=True)
    assert np.abs(by_hand).max() > 0.05  # there was something to compare


def test_the_gradient_of_cross_entropy_is_that_of_finite_differences():
    rng = np.random.default_rng(0)
    output, books = rng.standard_normal((2, 3, 4)), problem()[1].books
    loss, dO = cross_entropy(output, books)
    p = np.exp(output) / np.exp(output).sum(axis=-1, keepdims=True)
    assert float(loss) == pytest.approx(-np.log(p[books == 1]).mean(), rel=1e-12)
    for place in np.ndindex(output.shape):
        step = np.zeros_like(output)
        step[place] = 1e-6
        ends = [float(cross_entropy(output + s * step, books)[0]) for s in (1, -1)]
        assert dO[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-9)


@pytest.mark.parametrize("name", MATRICES)
def test_the_whole_way_from_the_loss_is_that_of_finite_differences(name):
    head, shelves = problem(3)

    def loss(head):
        return float(cross_entropy(look_up(head, shelves, 0.5).output, shelves.books)[0])

    found = look_up(head, shelves, 0.5)
    _, dO = cross_entropy(found.output, shelves.books)
    by_hand = getattr(gradients(head, shelves, found, dO, 0.5), name)
    np.testing.assert_allclose(by_hand, central_difference(loss, head, name), rtol=1e-5, atol=1e-9)


def test_saturated_rows_hold_no_subnormal_number():
    """Scores that reach from 0 to -1500 pass through all the exponents there are."""
    head = random_head(0, 1024, 6.0)
    shelves = random_shelves(np.random.default_rng(0), 32)
    found = look_up(head, shelves, 1.0)
    _, dO = cross_entropy(found.output, shelves.books)
    change = gradients(head, shelves, found, dO, 1.0)
    scores = found.Q @ found.K.swapaxes(-1, -2)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    tiny = np.finfo(float).tiny
    with np.errstate(under="ignore"):
        plain = np.exp(shifted)
    assert ((plain > 0) & (plain < tiny)).any()  # the plain form has some
    for array in (found.weights, change.W_Q, change.W_K, change.W_V, change.W_Q**2):
        assert not ((np.abs(array) > 0) & (np.abs(array) < tiny)).any()
    plain /= plain.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(found.weights, plain, rtol=1e-13, atol=1e-150)


# -- optimisers ------------------------------------------------------------------------------------


def test_sgd_takes_eta_times_the_gradient():
    W, dW = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    (after,) = SGD([0.1]).step([W], [dW])
    np.testing.assert_allclose(after, [0.95, 2.1], rtol=1e-15)
    np.testing.assert_array_equal(W, [1.0, 2.0])


def test_adam_by_hand():
    """Two steps with gradients 2 and 1.

    m = 0.2, 0.28;  m̂ = 2, 0.28/0.19
    v = 0.004, 0.004996;  v̂ = 4, 0.004996/0.001999
    """
    adam = Adam([0.1], [0.01])
    (first,) = adam.step([np.array([1.0])], [np.array([2.0])])
    assert first[0] == pytest.approx(1 - 0.1 * 2 / (2 + 0.01), rel=1e-13)
    (second,) = adam.step([first], [np.array([1.0])])
    step = 0.1 * (0.28 / 0.19) / (np.sqrt(0.004996 / 0.001999) + 0.01)
    assert second[0] == pytest.approx(first[0] - step, rel=1e-13)


def test_each_parameter_has_a_rate_of_its_own():
    W = [np.zeros(2), np.zeros(3)]
    dW = [np.ones(2), np.ones(3)]
    for optimiser in (SGD([1.0, 2.0]), Adam([1.0, 2.0], [1e-9, 1e-9])):
        one, two = optimiser.step(W, dW)
        np.testing.assert_allclose(one, -1.0, rtol=1e-8)
        np.testing.assert_allclose(two, -2.0, rtol=1e-8)


# -- other libraries -------------------------------------------------------------------------------


def on_device(array):
    return strict.asarray(array, device=DEVICE)


def from_device(array):
    assert array.device == DEVICE
    return np.asarray(array.to_device(strict.Device("CPU_DEVICE")))


def test_a_step_stays_on_the_device_of_its_arrays():
    """As on a GPU: a stray call of NumPy's would raise."""
    head, shelves = problem()
    there = Head(*(on_device(getattr(head, name)) for name in MATRICES))
    rows = Shelves(on_device(shelves.asked), on_device(shelves.cards), on_device(shelves.books))
    for optimiser in (lambda: SGD([0.1] * 3), lambda: Adam([0.1] * 3, [1e-8] * 3)):
        after = []
        for one, these in ((head, shelves), (there, rows)):
            found = look_up(one, these, 0.5)
            _, dO = cross_entropy(found.output, these.books)
            change = gradients(one, these, found, dO, 0.5)
            matrices = [[getattr(x, name) for name in MATRICES] for x in (one, change)]
            after.append(optimiser().step(*matrices))
        for here, moved in zip(*after, strict=True):
            np.testing.assert_allclose(from_device(moved), here, rtol=1e-12, atol=1e-15)
