"""Probes: right attentions pass, wrong ones are found, and a learner's function can do no harm.

The causality probe itself is tested in test_experiments.py.
"""

import math

import numpy as np
import pytest
from test_inputs import assert_one_sentence

import andrea_lesson as al
from andrea_lesson import experiments

T = 6
QKV = experiments.random_qkv(T, 4, 3)


def causal(Q, K, V):
    return al.attention(Q, K, V, mask="causal")


def by_hand(Q, K, V):
    """Attention as a learner would write it, with lists."""
    rows = []
    for q in Q:
        exponentials = [math.exp(float(q @ k) / math.sqrt(len(q))) for k in K]
        rows.append(sum(e * v for e, v in zip(exponentials, V, strict=True)) / sum(exponentials))
    return [row.tolist() for row in rows]


def none(Q, K, V):
    return V * 2


def shifted(Q, K, V):
    return np.roll(V, 1, axis=0)


def average(Q, K, V):
    return np.broadcast_to(V.mean(axis=0), V.shape)


def columns(Q, K, V):
    """Softmax along the queries: normalised the wrong way."""
    return al.softmax(Q @ K.T / 2, axis=0) @ V


# -- no attention ----------------------------------------------------------------------------------

DEPENDS = {
    "attention": (al.attention, np.ones((T, T), bool)),
    "a learner's": (by_hand, np.ones((T, T), bool)),
    "causal": (causal, np.tri(T, dtype=bool)),
    "no attention": (none, np.eye(T, dtype=bool)),
    "average": (average, np.ones((T, T), bool)),
    "shifted": (shifted, np.roll(np.eye(T, dtype=bool), 1, axis=0)),
}


@pytest.mark.parametrize("name", DEPENDS)
def test_which_row_depends_on_which_token(name):
    attend, depends = DEPENDS[name]
    found = experiments.no_attention_probe(attend, *QKV)
    np.testing.assert_array_equal(found.depends, depends)
    elsewhere = (depends & ~np.eye(T, dtype=bool)).any(axis=1)
    np.testing.assert_array_equal(found.looks_elsewhere, elsewhere)
    assert found.attends is (name != "no attention")


def test_columns_of_the_probe_are_causality_probes():
    found = experiments.no_attention_probe(causal, *QKV)
    for j in range(T):
        np.testing.assert_array_equal(
            found.moved[:, j], experiments.causality_probe(causal, *QKV, j)
        )


def test_rounding_does_not_count_as_a_look():
    """Renormalised weights are right but for the last digit."""

    def renormalised(Q, K, V):
        mask = al.causal_mask(len(Q))
        return experiments.mask_after_softmax(Q, K, mask, renormalise=True) @ V

    found = experiments.no_attention_probe(renormalised, *QKV)
    np.testing.assert_array_equal(found.depends, np.tri(T, dtype=bool))
    single = [array.astype("float32") for array in QKV]
    found = experiments.no_attention_probe(renormalised, *single)
    np.testing.assert_array_equal(found.depends, np.tri(T, dtype=bool))


# -- permutation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("attend", [al.attention, by_hand], ids=["package", "learner"])
@pytest.mark.parametrize("seed", range(4))
def test_attention_knows_no_order(attend, seed):
    found = experiments.permutation_probe(attend, *QKV, seed=seed)
    assert found.pairs_stay
    assert found.rows_follow
    assert found.values_moved.min() > 1e-3  # pairs torn apart do make a difference
    assert sorted(found.order) == list(range(T))
    assert (found.order != np.arange(T)).all()


def test_rows_and_pairs_are_moved_as_the_order_says():
    Q, K, V = QKV
    found = experiments.permutation_probe(causal, Q, K, V, seed=3)
    order, before = found.order, causal(Q, K, V)
    for moved, after, at in (
        (found.pairs_moved, causal(Q, K[order], V[order]), before),
        (found.values_moved, causal(Q, K, V[order]), before),
        (found.rows_moved, causal(Q[order], K, V), before[order]),
    ):
        np.testing.assert_array_equal(moved, np.abs(after - at).max(axis=1))


# (attend, pairs stay, rows follow)
ORDERS = {
    "causal": (causal, False, False),
    "no attention": (none, False, False),
    "average": (average, True, True),
    "wrong axis": (columns, True, True),
    "keys by place": (lambda Q, K, V: al.attention(Q, K + np.arange(T)[:, None], V), False, True),
    "rows by place": (
        lambda Q, K, V: al.attention(Q, K, V) * np.arange(1, T + 1)[:, None],
        True,
        False,
    ),
}


@pytest.mark.parametrize("name", ORDERS)
def test_what_depends_on_order_is_found(name):
    attend, pairs_stay, rows_follow = ORDERS[name]
    found = experiments.permutation_probe(attend, *QKV)
    assert (found.pairs_stay, found.rows_follow) == (pairs_stay, rows_follow)


def test_same_seed_same_order_and_other_seeds_others():
    orders = {
        tuple(experiments.permutation_probe(causal, *QKV, seed=seed).order) for seed in range(8)
    }
    assert len(orders) > 4
    first, second = (experiments.permutation_probe(causal, *QKV, seed=1) for _ in range(2))
    np.testing.assert_array_equal(first.order, second.order)


def test_two_tokens_are_exchanged():
    found = experiments.permutation_probe(al.attention, *(array[:2] for array in QKV))
    assert found.order.tolist() == [1, 0]


# -- any function ----------------------------------------------------------------------------------

PROBES = {
    "causality": lambda attend, *arrays: experiments.causality_probe(attend, *arrays, 1),
    "no attention": experiments.no_attention_probe,
    "permutation": experiments.permutation_probe,
}


@pytest.mark.parametrize("name", PROBES)
def test_a_function_that_writes_into_its_arguments_does_no_harm(name):
    def careless(Q, K, V):
        output = causal(Q, K, V)
        for array in (Q, K, V):
            array[...] = 7.0
        return output

    arrays = [array.copy() for array in QKV]
    careful, found = PROBES[name](causal, *QKV), PROBES[name](careless, *arrays)
    if name == "causality":
        np.testing.assert_array_equal(found, careful)
    else:
        for key, value in vars(careful).items():
            np.testing.assert_array_equal(getattr(found, key), value)
    for array, kept in zip(arrays, QKV, strict=True):
        np.testing.assert_array_equal(array, kept)


@pytest.mark.parametrize("name", PROBES)
def test_a_function_that_writes_all_results_into_one_array_is_not_let_off(name):
    """Else the second result would stand in the first's place too, and nothing seem to move."""
    store = np.empty((T, 3))

    def reuses(Q, K, V):
        store[...] = al.attention(Q, K, V)
        return store

    found, right = PROBES[name](reuses, *QKV), PROBES[name](al.attention, *QKV)
    if name == "causality":
        assert (found > 0).all()
        np.testing.assert_array_equal(found, right)
    else:
        for key, value in vars(right).items():
            np.testing.assert_array_equal(getattr(found, key), value)


@pytest.mark.parametrize("name", PROBES)
def test_functions_that_return_lists_or_half_precision_are_welcome(name):
    half = [array.astype("float16") for array in QKV]
    PROBES[name](lambda Q, K, V: al.attention(Q, K, V).tolist(), *QKV)
    PROBES[name](al.attention, *half)


def changing_shape():
    calls = []

    def attend(Q, K, V):
        calls.append(1)
        return np.ones((T, len(calls)))

    return attend


RESULTS = [
    (lambda *_: None, "the result of attend", TypeError),
    (lambda *_: 1.0, "the result of attend", ValueError),
    (lambda *_: np.ones((T - 1, 2)), "the result of attend", ValueError),
    (lambda *_: np.ones(T), "the result of attend", ValueError),
    (lambda *_: np.full((T, 2), math.nan), "the result of attend", ValueError),
    (lambda *_: np.full((T, 2), math.inf), "the result of attend", ValueError),
    (lambda *_: np.ones((T, 2), complex), "the result of attend", TypeError),
    (lambda *_: [["a"]] * T, "the result of attend", TypeError),
    (lambda *_: np.ma.masked_all((T, 2)), "the result of attend", TypeError),
    (None, "attend", TypeError),
    (QKV[0], "attend", TypeError),
]


@pytest.mark.parametrize("name", PROBES)
@pytest.mark.parametrize("place", range(len(RESULTS)))
def test_bad_results_are_refused_in_one_sentence(name, place):
    attend, blamed, error = RESULTS[place]
    with pytest.raises((TypeError, ValueError)) as caught:
        PROBES[name](attend, *QKV)
    assert caught.type is error
    assert_one_sentence(str(caught.value), blamed)


@pytest.mark.parametrize("name", PROBES)
def test_a_shape_that_changes_is_refused(name):
    with pytest.raises(ValueError, match="one shape each time") as caught:
        PROBES[name](changing_shape(), *QKV)
    assert_one_sentence(str(caught.value), "the result of attend")


@pytest.mark.parametrize("name", PROBES)
def test_bad_arrays_are_refused_in_one_sentence(name):
    Q, K, V = QKV
    for arrays, blamed in (
        ((Q[None], K, V), "Q"),
        ((Q, K[:-1], V), "K"),
        ((Q, K, V[:-1]), "V"),
        ((Q, K, [["a"]] * T), "V"),
    ):
        with pytest.raises((TypeError, ValueError)) as caught:
            PROBES[name](causal, *arrays)
        assert_one_sentence(str(caught.value), blamed)


@pytest.mark.parametrize("probe", [experiments.no_attention_probe, experiments.permutation_probe])
def test_one_token_is_too_few(probe):
    with pytest.raises(ValueError, match="at least 2 rows") as caught:
        probe(causal, *(array[:1] for array in QKV))
    assert_one_sentence(str(caught.value), "Q")


def test_seed_of_the_order_is_checked():
    with pytest.raises(ValueError, match="seed") as caught:
        experiments.permutation_probe(causal, *QKV, seed=-1)
    assert_one_sentence(str(caught.value), "seed")
