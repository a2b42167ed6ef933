"""The six masks: by hand, and against plain loops.  True = may attend."""

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import sizes

import andrea_lesson as al


def picture(mask):
    """Rows of a mask as text: # may attend, . may not."""
    return ["".join("#" if seen else "." for seen in row) for row in mask]


def test_causal_mask_by_hand():
    assert picture(al.causal_mask(4)) == [
        "#...",
        "##..",
        "###.",
        "####",
    ]


def test_causal_mask_with_more_keys_ends_at_the_bottom_right():
    """The two queries are the last two of five tokens, as when a cache holds the rest."""
    assert picture(al.causal_mask(2, 5)) == ["####.", "#####"]
    assert picture(al.causal_mask(1, 8)) == ["########"]


def test_causal_mask_with_more_queries_leaves_the_first_rows_empty():
    assert picture(al.causal_mask(5, 2)) == ["..", "..", "..", "#.", "##"]


def test_sliding_window_mask_by_hand():
    assert picture(al.sliding_window_mask(5, window=2)) == [
        "#....",
        "##...",
        ".##..",
        "..##.",
        "...##",
    ]
    np.testing.assert_array_equal(al.sliding_window_mask(3, 5, window=10**30), al.causal_mask(3, 5))
    assert picture(al.sliding_window_mask(2, 5, window=3)) == [".###.", "..###"]


def test_prefix_mask_by_hand():
    assert picture(al.prefix_mask(4, prefix=2)) == ["##..", "##..", "###.", "####"]
    assert picture(al.prefix_mask(3, 1, prefix=9)) == ["#", "#", "#"]
    assert picture(al.prefix_mask(1, 2, prefix=10**30)) == ["##"]


def test_padding_mask_by_hand():
    mask = al.padding_mask([1, 3, 0], 3)
    assert mask.shape == (3, 1, 3)
    assert picture(mask[:, 0, :]) == ["#..", "###", "..."]
    with_heads = al.padding_mask([1, 3, 0], 3, heads=True)
    assert with_heads.shape == (3, 1, 1, 3)
    np.testing.assert_array_equal(with_heads[:, 0], mask)


def test_document_mask_by_hand():
    expected = ["#....", "##...", "..#..", "##.#.", "..#.#"]
    assert picture(al.document_mask([7, 7, 2, 7, 2])) == expected
    assert picture(al.document_mask(["a", "a", "b", "a", "b"])) == expected


def test_full_mask_by_hand():
    assert picture(al.full_mask(2, 3)) == ["###", "###"]
    assert picture(al.full_mask(2)) == ["##", "##"]


@given(sizes, st.none() | sizes, st.integers(1, 20), sizes)
def test_masks_match_plain_loops(T_q, T_k, window, prefix):
    keys = T_q if T_k is None else T_k
    rules = {
        "full": (al.full_mask(T_q, T_k), lambda i, j: True),
        "causal": (al.causal_mask(T_q, T_k), lambda i, j: j <= i),
        "window": (
            al.sliding_window_mask(T_q, T_k, window=window),
            lambda i, j: i - window < j <= i,
        ),
        "prefix": (al.prefix_mask(T_q, T_k, prefix=prefix), lambda i, j: j < prefix or j <= i),
    }
    for kind, (mask, rule) in rules.items():
        expected = oracle.mask(T_q, keys, rule)
        np.testing.assert_array_equal(mask, expected, strict=True, err_msg=kind)


@given(
    st.lists(st.integers(0, 17), max_size=6),
    st.booleans(),
    st.sampled_from((None, np.uint8, np.int64)),
)
def test_padding_mask_matches_plain_loops(lengths, heads, dtype):
    T = max(lengths, default=5)
    given_lengths = lengths if dtype is None else np.array(lengths, dtype=dtype)
    expected = np.zeros((len(lengths), T), dtype=bool)
    for b, length in enumerate(lengths):
        for j in range(T):
            expected[b, j] = j < length
    shape = (len(lengths), 1, 1, T) if heads else (len(lengths), 1, T)
    mask = al.padding_mask(given_lengths, T, heads=heads)
    np.testing.assert_array_equal(mask, expected.reshape(shape), strict=True)


@given(st.lists(st.integers(-2, 2), max_size=17), st.booleans())
def test_document_mask_matches_plain_loops(documents, as_text):
    given_documents = [f"document {d}" for d in documents] if as_text else documents
    T = len(documents)
    expected = oracle.mask(T, T, lambda i, j: j <= i and documents[i] == documents[j])
    np.testing.assert_array_equal(al.document_mask(given_documents), expected, strict=True)


@pytest.mark.parametrize("T_q", [3, np.int64(3), np.uint8(3)])
def test_sizes_may_be_numpy_integers(T_q):
    np.testing.assert_array_equal(al.causal_mask(T_q), oracle.causal(3, 3), strict=True)


def test_masks_combine_as_booleans():
    """A window within documents within padding: one ``&`` each, and no key seen by mistake."""
    window = al.sliding_window_mask(4, window=2)
    documents = al.document_mask([0, 0, 1, 1])
    padding = al.padding_mask([4, 3], 4)
    both = window & documents & padding  # (2, 4, 4)
    assert picture(both[0]) == ["#...", "##..", "..#.", "..##"]
    assert picture(both[1]) == ["#...", "##..", "..#.", "..#."]
