"""The zoo proves the checks: each broken attention is caught twice, no right one is accused."""

import inspect
import re

import numpy as np
import oracle
import pytest

import andrea_lesson as al
from andrea_lesson.exercises import BROKEN, RIGHT, check, solutions
from andrea_lesson.exercises.probe_tasks import ENOUGH

EVERY = {**BROKEN, **RIGHT}


def problems():
    """Q, K, V, mask and what the mask means; those of `backends.py` and a few more."""
    rng = np.random.default_rng(0)

    def arrays(lead, T_q, T_k, d_k=4, d_v=3):
        shapes = ((T_q, d_k), (T_k, d_k), (T_k, d_v))
        return [rng.standard_normal((*lead, *shape)) for shape in shapes]

    empty = np.ones((5, 7), dtype=bool)
    empty[2] = False
    for lead, T_q, T_k, mask in (
        ((), 5, 7, None),
        ((), 5, 7, "causal"),
        ((), 7, 5, "causal"),
        ((), 6, 6, al.causal_mask(6)),
        ((2, 3), 5, 7, "causal"),
        ((2,), 4, 4, None),
        ((2,), 5, 7, al.padding_mask([7, 3], 7)),
        ((), 5, 7, empty),
    ):
        yield *arrays(lead, T_q, T_k), mask
    Q, K, V = arrays((), 5, 7)
    yield Q * 100, K * 100, V, "causal"
    yield Q + np.array([[1e4], [-1e4], [0], [0], [0]]), np.abs(K) + 1, V, "causal"


def agrees_with_oracle(attend):
    """Whether an attention passes the comparison that the tests of `attention` make."""
    for Q, K, V, mask in problems():
        shape = (*Q.shape[:-1], K.shape[-2])
        meaning = oracle.causal(*shape[-2:]) if isinstance(mask, str) else mask
        allowed = np.broadcast_to(True if meaning is None else meaning, shape)
        expected = oracle.attention(Q, K, V, allowed)
        bounds = oracle.bounds(expected, Q, K, V, allowed, None, Q.dtype)
        before = [array.copy() for array in (Q, K, V)]
        try:
            output = attend(Q, K, V, mask=mask)
            oracle.assert_close(output, expected.output, bounds.output, Q.dtype)
        except AssertionError:
            return False
        if not all(map(np.array_equal, before, (Q, K, V))):
            return False
    return True


def test_the_zoo_is_large_enough():
    assert len(BROKEN) >= 14
    assert len(RIGHT) >= 6
    assert len(EVERY) == len(BROKEN) + len(RIGHT)


def test_the_package_agrees_with_the_oracle():
    assert agrees_with_oracle(lambda Q, K, V, mask: al.attention(Q, K, V, mask=mask))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_one_is_caught_by_the_oracle_and_by_the_checker(name):
    broken = BROKEN[name]
    assert not broken.right
    assert not agrees_with_oracle(broken)
    for _ in range(20):
        verdict = check.attention_complete(broken.attend)
        assert verdict.state == "wrong"
        assert verdict.key == ("changed_input" if name == "changes_its_input" else f"slip_{name}")


# What shows only in a batch or by the name "causal" cannot show in one head with a given mask.
ONLY_COMPLETE = {"causal_from_top_left", "transposed_on_all_axes", "batch_shares_mask"}


@pytest.mark.parametrize("name", sorted(set(BROKEN) - ONLY_COMPLETE))
def test_a_broken_one_is_caught_in_one_head_too(name):
    for _ in range(20):
        assert check.attention_one_head(BROKEN[name].attend).state == "wrong"


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_is_accused_by_nobody(name):
    right = RIGHT[name]
    assert right.right
    assert agrees_with_oracle(right)
    for _ in range(20):
        for verdict in (check.attention_complete(right), check.attention_one_head(right)):
            assert verdict.passed, verdict


@pytest.mark.parametrize("name", EVERY)
def test_each_can_be_read_alone_and_says_what_it_is(name):
    specimen = EVERY[name]
    assert list(inspect.signature(specimen.attend).parameters) == ["Q", "K", "V", "mask"]
    assert len(inspect.getsource(specimen.attend).splitlines()) < 25
    chinese = specimen.message
    al.set_language("en")
    assert re.search(r"[\u3400-\u9fff]", chinese)
    assert not re.search(r"[\u3400-\u9fff]", specimen.message)
    assert chinese.endswith("。")
    assert specimen.message.endswith(".")


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_one_is_right_somewhere(name):
    """Each is wrong in one way only: on some input it agrees with the oracle."""
    rng = np.random.default_rng(1)
    sames = []
    for T, d_k, mask in ((1, 1, None), (4, 1, None), (4, 2, None), (1, 1, "causal")):
        Q, K, V = (rng.standard_normal((T, d_k)) for _ in range(3))
        right = oracle.attention(Q, K, V).output
        sames.append(np.allclose(BROKEN[name](Q.copy(), K, V, mask), right))
    assert any(sames)


def test_a_probe_that_trusts_the_package_catches_all():
    def probe(attend):
        for Q, K, V, mask in problems():
            given = [array.copy() for array in (Q, K, V)]
            output = attend(*given, mask=mask)
            if not np.allclose(output, al.attention(Q, K, V, mask=mask)):
                return False
            if not all(map(np.array_equal, given, (Q, K, V))):
                return False
        return True

    verdict = check.catch_broken(probe)
    assert verdict.passed
    assert verdict.score == verdict.of == len(BROKEN)


def test_the_score_counts_what_is_caught():
    def probe(attend):  # one square input under the causal mask, said by assert
        Q, K, V = np.random.default_rng().standard_normal((3, 6, 4))
        np.testing.assert_allclose(
            attend(Q, K, V, "causal"), al.attention(Q, K, V, mask="causal"), atol=1e-9
        )
        return True

    verdict = check.catch_broken(probe)
    assert verdict.key == "catch_enough"
    assert verdict.passed
    assert ENOUGH <= verdict.score < verdict.of == len(BROKEN)


def test_a_probe_stopped_by_a_broken_attention_has_caught_it():
    def probe(attend):
        Q, K, V = np.random.default_rng().standard_normal((3, 6, 4))
        Q.flags.writeable = False
        attend(Q, K, V)  # raises for the one that changes its input
        return True

    verdict = check.catch_broken(probe)
    assert verdict.score == 1
    assert not verdict.passed


def test_no_name_gives_a_specimen_away():
    names = set()

    def probe(attend):
        names.add(attend.__name__)
        return solutions.catch_broken(attend)

    assert check.catch_broken(probe).passed
    assert names == {"attend"}
