"""Attentions to tell apart: some are wrong in one way that real code has had, some are right.

All have one signature, that of the lesson's own attention: ``attend(Q, K, V, mask=None)`` with
Q (…, T_q, d_k), K (…, T_k, d_k), V (…, T_k, d_v); the mask is None, ``"causal"`` or boolean
(True = may attend), (T_q, T_k) or with as many axes as the scores.  A row with no allowed key
gives 0.  Each is written out, so that it can be read alone.
"""
# ruff: noqa: D103  (the words of each specimen stand above it)

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..labels import LANGUAGES, get_language
from ..masks import causal_mask

Array = Any
Attend = Callable[..., Array]


@dataclass(frozen=True, eq=False)
class Specimen:
    """One attention of the zoo; it is called like a function.

    Attributes
    ----------
    name : str
    attend : callable
    words : (str, str)
        What is peculiar about it, in Traditional Chinese and in English.
    right : bool
    """

    name: str
    attend: Attend
    words: tuple[str, str]
    right: bool

    @property
    def message(self) -> str:
        """What is peculiar about it, in the current language."""
        return self.words[LANGUAGES.index(get_language())]

    def __call__(self, Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
        """Attend, without warnings from NumPy."""
        with np.errstate(all="ignore"):
            return self.attend(Q, K, V, mask)


BROKEN: dict[str, Specimen] = {}
RIGHT: dict[str, Specimen] = {}


def _specimen(zh: str, en: str, *, right: bool = False) -> Callable[[Attend], Attend]:
    def add(attend: Attend) -> Attend:
        name = attend.__name__
        (RIGHT if right else BROKEN)[name] = Specimen(name, attend, (zh, en), right)
        return attend

    return add


# -- what nearly all of them share ---------------------------------------------------------------


def scores_of(Q: Array, K: Array) -> Array:
    """Scaled scores, (…, T_q, T_k)."""
    return Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5


def allowed_in(mask: Any, scores: Array) -> Array:
    """The mask in the shape of the scores."""
    if mask is None:
        return np.ones(scores.shape, dtype=bool)
    if isinstance(mask, str):
        mask = causal_mask(*scores.shape[-2:])
    return np.broadcast_to(mask, scores.shape)


def masked_softmax(scores: Array, allowed: Array, axis: int = -1) -> Array:
    """Weights; where nothing is allowed they are 0."""
    some = allowed.any(axis=axis, keepdims=True)
    masked = np.where(allowed, scores, -np.inf)
    highest = np.where(some, masked.max(axis=axis, keepdims=True, initial=-np.inf), 0.0)
    e = np.exp(masked - highest)
    return e / np.where(some, e.sum(axis=axis, keepdims=True), 1.0)


# -- broken --------------------------------------------------------------------------------------


@_specimen(
    "softmax 讓每一行（column）的總和是 1；該讓每一列（row）的總和是 1。",
    "Softmax makes each column sum to 1, where each row should.",
)
def wrong_axis(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    return masked_softmax(scores, allowed_in(mask, scores), axis=-2) @ V


@_specimen(
    "整張表一起做 softmax，總和是 1 的是全部的格，不是每一列。",
    "One softmax over the whole table: all cells together sum to 1, not each row.",
)
def whole_matrix(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    e = np.where(allowed_in(mask, scores), np.exp(scores), 0.0)
    total = e.sum(axis=(-1, -2), keepdims=True)
    return e / np.where(total > 0, total, 1.0) @ V


@_specimen(
    "除以 √d_model（當作有 12 個頭），該除以 √d_k。",
    "Divides by √d_model, as if there were 12 heads, instead of √d_k.",
)
def root_of_d_model(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K) / 12**0.5
    return masked_softmax(scores, allowed_in(mask, scores)) @ V


@_specimen("忘了除以 √d_k。", "The division by √d_k is missing.")
def no_scale(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = Q @ np.swapaxes(K, -1, -2)
    return masked_softmax(scores, allowed_in(mask, scores)) @ V


@_specimen("除以 √d_k 做了兩次。", "Divides by √d_k twice.")
def scaled_twice(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q / Q.shape[-1] ** 0.5, K)
    return masked_softmax(scores, allowed_in(mask, scores)) @ V


@_specimen(
    "遮罩讀反了：把 True 當成「遮住」。", "Reads the mask the wrong way round: True as “hide”."
)
def reversed_polarity(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    allowed = allowed_in(mask, scores)
    return masked_softmax(scores, allowed if mask is None else ~allowed) @ V


@_specimen("收下了遮罩，卻沒有用。", "Takes the mask and does not use it.")
def mask_ignored(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    return masked_softmax(scores, allowed_in(None, scores)) @ V


@_specimen(
    "softmax 之後才把看不到的格改成 0，沒有重新正規化，列總和不到 1。",
    "Zeroes hidden cells after softmax and does not renormalise: rows sum to less than 1.",
)
def masked_after_softmax(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    weights = masked_softmax(scores, allowed_in(None, scores))
    return np.where(allowed_in(mask, scores), weights, 0.0) @ V


@_specimen(
    "有遮罩時連對角線也遮掉，位置看不到自己。",
    "With a mask it hides the diagonal too, so that no position sees itself.",
)
def diagonal_hidden(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    allowed = allowed_in(mask, scores)
    if mask is not None:
        T_q, T_k = scores.shape[-2:]
        allowed = allowed & ~np.eye(T_q, T_k, k=T_k - T_q, dtype=bool)
    return masked_softmax(scores, allowed) @ V


@_specimen(
    "用 float16 的 (1 − m)·(−1e9) 當遮罩：看得到的格是 0·(−∞)，變成 NaN。",
    "Masks by (1 − m)·(−1e9) in float16: at allowed keys that is 0·(−∞), which is NaN.",
)
def half_precision_mask(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    m = allowed_in(mask, scores).astype(np.float16)
    added = 0.0 if mask is None else (1 - m) * np.array(-1e9).astype(np.float16)
    return masked_softmax(scores + added, allowed_in(None, scores)) @ V


@_specimen(
    "用 −1e9 代替 −∞：沒有鍵可看的列，權重平均分給了不准看的鍵。",
    "Uses −1e9 for −∞: a row with no allowed key spreads evenly over forbidden ones.",
)
def finite_stand_in(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    scores = np.where(allowed_in(mask, scores), scores, -1e9)
    return masked_softmax(scores, allowed_in(None, scores)) @ V


@_specimen(
    "沒有鍵可看的列算出 0/0，是 NaN。", "A row with no allowed key comes out as 0/0, which is NaN."
)
def empty_row_nan(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    scores = np.where(allowed_in(mask, scores), scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


@_specimen(
    "因果遮罩從左上角開始對齊；T_q ≠ T_k 時該對齊右下角。",
    "The causal triangle starts at the top left; for T_q ≠ T_k it must end at the bottom right.",
)
def causal_from_top_left(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    if isinstance(mask, str):
        mask = np.tri(*scores.shape[-2:], dtype=bool)
    return masked_softmax(scores, allowed_in(mask, scores)) @ V


@_specimen(
    "取指數之前沒有減去最大值，分數一大就溢位成 NaN。",
    "The maximum is not subtracted before exp, so that large scores overflow to NaN.",
)
def no_maximum_shift(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    e = np.where(allowed_in(mask, scores), np.exp(scores), 0.0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total) @ V


@_specimen(
    "減去的是整張表的最大值，分數低的列下溢成 0。",
    "Subtracts the maximum of the whole table, so that rows of low scores underflow.",
)
def maximum_of_the_table(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    allowed = allowed_in(mask, scores)
    e = np.where(allowed, np.exp(scores - scores.max(initial=-np.inf)), 0.0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(allowed.any(axis=-1, keepdims=True), total, 1.0) @ V


@_specimen(
    "K.T 把所有的軸都顛倒了；有批次時只該交換最後兩軸。",
    "K.T turns round all axes; with a batch only the last two may change places.",
)
def transposed_on_all_axes(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    if Q.ndim > 2:  # the numbers of K in the order of K.T, brought to the shape that fits
        K = np.ascontiguousarray(K.T).reshape(K.shape)
    scores = scores_of(Q, K)
    return masked_softmax(scores, allowed_in(mask, scores)) @ V


@_specimen(
    "鍵每四個一塊，最後不滿一塊的尾巴丟掉了。",
    "Takes keys four at a time and drops the tail that does not fill a tile.",
)
def tail_dropped(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    tile = min(4, max(1, K.shape[-2]))
    kept = np.arange(K.shape[-2]) < K.shape[-2] // tile * tile
    return masked_softmax(scores, allowed_in(mask, scores) & kept) @ V


@_specimen(
    "加總時 V 用查詢的位置 i 取值，該用鍵的位置 j。",
    "Takes the value of the query, V[i], into the sum instead of that of the key, V[j].",
)
def value_of_the_query(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    weights = masked_softmax(scores, allowed_in(mask, scores))
    own = np.arange(Q.shape[-2]) % max(1, K.shape[-2])
    return weights.sum(axis=-1, keepdims=True) * V[..., own, :]


@_specimen(
    "整個批次共用第一筆的遮罩，例如第一句的填補。",
    "The whole batch shares the mask of its first item, such as the padding of sentence 0.",
)
def batch_shares_mask(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    allowed = allowed_in(mask, scores)
    if scores.ndim > 2 and len(allowed):
        allowed = np.broadcast_to(allowed[:1], scores.shape)
    return masked_softmax(scores, allowed) @ V


@_specimen("就地縮放 Q，改掉了傳進來的陣列。", "Scales Q in place and so changes its input.")
def changes_its_input(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    Q *= Q.shape[-1] ** -0.5
    scores = Q @ np.swapaxes(K, -1, -2)
    return masked_softmax(scores, allowed_in(mask, scores)) @ V


# -- right, in unusual styles --------------------------------------------------------------------


@_specimen(
    "先 softmax、再遮罩、再正規化（在對數裡算）：和先遮罩相同。",
    "Softmax, then mask, then renormalise, in logarithms: the same as masking first.",
    right=True,
)
def renormalised(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    logs = scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True, initial=-np.inf)
    logs = np.where(allowed_in(mask, scores), logs, -np.inf)
    total = np.logaddexp.reduce(logs, axis=-1, keepdims=True, initial=-np.inf)
    return np.exp(logs - np.where(np.isneginf(total), 0.0, total)) @ V


@_specimen("一格一格用迴圈算。", "Cell by cell, in loops.", right=True)
def loops(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=np.result_type(Q, V, 1.0))
    allowed = allowed_in(mask, scores_of(Q, K))
    for head in np.ndindex(*Q.shape[:-2]):
        for i in range(Q.shape[-2]):
            seen = [j for j in range(K.shape[-2]) if allowed[(*head, i, j)]]
            row = [float(Q[(*head, i)] @ K[(*head, j)]) / Q.shape[-1] ** 0.5 for j in seen]
            e = [float(np.exp(score - max(row))) for score in row]
            for j, share in zip(seen, e, strict=True):
                output[(*head, i)] += share / sum(e) * V[(*head, j)]
    return output


@_specimen("用 einsum 寫的。", "Written with einsum.", right=True)
def einsum(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = np.einsum("...ic,...jc->...ij", Q, K) * Q.shape[-1] ** -0.5
    weights = masked_softmax(scores, allowed_in(mask, scores))
    return np.einsum("...ij,...jc->...ic", weights, V)


@_specimen("用 NumPy 的遮罩陣列。", "With NumPy's masked arrays.", right=True)
def masked_arrays(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    hidden = np.ma.masked_array(scores, ~allowed_in(mask, scores))
    e = np.ma.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).filled(0.0) @ V


@_specimen(
    "一次只看三個鍵，邊看邊改最大值與總和。",
    "Three keys at a time, with a running maximum and sum.",
    right=True,
)
def tiled(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    masked = np.where(allowed_in(mask, scores), scores, -np.inf)
    m = np.full((*Q.shape[:-1], 1), -np.inf)
    l, output = np.zeros(m.shape), np.zeros((*Q.shape[:-1], V.shape[-1]))  # noqa: E741
    for start in range(0, K.shape[-2], 3):
        part = masked[..., start : start + 3]
        new = np.maximum(m, part.max(axis=-1, keepdims=True))
        shift = np.where(np.isneginf(new), 0.0, new)
        e, old = np.exp(part - shift), np.exp(m - shift)
        l = l * old + e.sum(axis=-1, keepdims=True)  # noqa: E741
        output = output * old + e @ V[..., start : start + 3, :]
        m = new
    return output / np.where(l > 0, l, 1.0)


@_specimen(
    "在對數裡算：權重 = exp（分數 − log Σ exp）。",
    "In logarithms: weight = exp(score − log Σ exp).",
    right=True,
)
def log_space(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    masked = np.where(allowed_in(mask, scores), scores, -np.inf)
    total = np.logaddexp.reduce(masked, axis=-1, keepdims=True, initial=-np.inf)
    return np.exp(masked - np.where(np.isneginf(total), 0.0, total)) @ V


@_specimen(
    "先乘 V、最後才除以總和。", "Multiplies by V first and divides by the sum last.", right=True
)
def divided_last(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    allowed = allowed_in(mask, scores)
    masked = np.where(allowed, scores, -np.inf)
    highest = masked.max(axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(masked - np.where(np.isneginf(highest), 0.0, highest))
    total = e.sum(axis=-1, keepdims=True)
    return (e @ V) / np.where(total > 0, total, 1.0)


@_specimen(
    "減去的不是最大值，而是比它小 3 的數：約分以後權重不變。",
    "Subtracts not the maximum but a number 3 below it: the factor cancels, the weights stay.",
    right=True,
)
def another_shift(Q: Array, K: Array, V: Array, mask: Any = None) -> Array:
    scores = scores_of(Q, K)
    masked = np.where(allowed_in(mask, scores), scores, -np.inf)
    highest = masked.max(axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(masked - np.where(np.isneginf(highest), 0.0, highest) + 3)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total > 0, total, 1.0) @ V
