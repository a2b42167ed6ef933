# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown] lang="zh-Hant" key="title" tags=["core"]
# # 4　softmax 與輸出
#
# **這一課要學會的事**
#
# - 一步一步走完一列（row）分數（score）的 softmax，說得出減去最大值對權重（weight）做了什麼、沒做什麼。
# - 用加權總和（weighted sum）把權重變成輸出，而且先猜得到輸出會偏向哪裡。
# - 把整個注意力（attention）寫成一個式子，用 ANDREA-120M 真正的尺寸算一次。
# - 說明 12 個頭怎麼併回 768 維，頭的個數和參數的個數有什麼關係。
#
# **事先要會的**　第 1 到 3 課：查詢（query）、鍵（key）、值（value）、縮放、因果遮罩（causal mask）。
#
# **時間**　只走主線約 10 分鐘，全部約 105 分鐘，其中練習占 70 分鐘。
#
# 先執行下一格；重新啟動核心以後，也要先執行它。

# %% [markdown] lang="en" key="title" of="3f93e4ebd7fa" tags=["core"]
# # 4　Softmax and output
#
# **What you will be able to do**
#
# - Follow the softmax of one row of scores step by step, and say what subtracting the maximum does to the weights and what it does not.
# - Turn weights into an output by a weighted sum, and guess beforehand where it will lean.
# - Write all of attention as one expression, and compute it at the real sizes of ANDREA-120M.
# - Explain how 12 heads come back to a width of 768, and how heads bear on the number of parameters.
#
# **What you bring along**　Lessons 1 to 3: query, key, value, scaling, causal mask.
#
# **Time**　About 10 minutes for the main path, about 105 for everything, of which the exercises take 70.
#
# Run the next cell first, and again after restarting the kernel.

# %% key="setup" tags=["core"]
LANGUAGE = "zh-Hant"

try:
    import numpy as np

    import andrea_lesson as al
    from andrea_lesson import experiments, panels, plotting
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"找不到 {missing.name}。請執行 %pip install -e \"<含有 pyproject.toml 的資料夾>[lab]\"，再重新啟動核心。\n"
        f"{missing.name} is not installed. Run %pip install -e \"<the folder with pyproject.toml>[lab]\", "
        "then restart the kernel."
    ) from None

al.set_language(LANGUAGE)
np.set_printoptions(precision=2, suppress=True)

# %% [markdown] lang="zh-Hant" key="row" tags=["core"]
# ## 4.1　一列分數怎麼變成權重
#
# 套好遮罩的一列分數，走三步就變成總和為 1 的權重：減去最大值、取指數、除以總和。三步合起來就是 softmax：
#
# $$A_{ij} = \frac{e^{s_{ij} - m_i}}{\sum_k e^{s_{ik} - m_i}} \qquad m_i = \max_k s_{ik}$$
#
# $s_{ij}$ 是查詢 $i$ 對鍵 $j$ 縮放、遮罩後的分數，$A$ 就是程式裡的 `weights`。
#
# 我們挑例句「小安 去 圖書館 借 書 看」裡「看」的那一列（數字是人工設定的）。六個詞元（token）從 0 數起，「看」在位置 5，六個全看得到。先看它的分數。

# %% [markdown] lang="en" key="row" of="82e9209a4ddf" tags=["core"]
# ## 4.1　How a row of scores becomes weights
#
# Three steps turn a row of masked scores into weights that sum to 1: subtract the maximum, exponentiate, divide by the sum. Together they are softmax:
#
# $$A_{ij} = \frac{e^{s_{ij} - m_i}}{\sum_k e^{s_{ik} - m_i}} \qquad m_i = \max_k s_{ik}$$
#
# $s_{ij}$ is the scaled and masked score of query $i$ and key $j$, and $A$ is `weights` in the code.
#
# Take the row of "reads" in "Ann visits library borrows book reads" (its numbers are set by hand). Counted from 0, "reads" is at position 5 and sees all six tokens. Look at its scores first.

# %% key="row-scores" tags=["core"]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
row = al.attention_steps(Q, K, V, mask="causal").masked_scores[5]  # (6,)
plotting.plot_row(
    row, tokens=example.tokens, title=al.label("masked_scores_of", token=example.tokens[5])
);

# %% [markdown] lang="zh-Hant" key="row-question" tags=["core"]
# **先猜猜看**　最高分是「書」。要是把「書」也蓋掉，分數換成 $-\infty$，「圖書館」和「小安」的權重倍數會變嗎？填 `True`（是）或 `False`（否）。

# %% [markdown] lang="en" key="row-question" of="6839abbda072" tags=["core"]
# **Guess first**　"book" is highest. Cover it too, with a score of $-\infty$: does the ratio of the weights of "library" and "Ann" change? Write `True` (yes) or `False` (no).

# %% key="row-guess" tags=["core"]
guess = None  # True, False

# %% key="row-steps" tags=["core"]
shifted = row - row.max()  # (6,)
exponentials = np.exp(shifted)  # (6,)
weights = exponentials / exponentials.sum()  # (6,)

covered = al.softmax(np.where(np.arange(6) == 4, -np.inf, row))  # (6,)
ratios = np.array([w[2] / w[0] for w in (weights, covered)])  # (2,)

al.show(
    guess=guess,
    measured=not np.isclose(ratios[0], ratios[1]),
    two_ratios=ratios,
    predicted=np.exp(row[2] - row[0]),
    total=weights.sum(),
    agrees=np.allclose(weights, al.softmax(row)),
)
al.table(
    token=example.tokens,
    masked_scores=row,
    shifted=shifted,
    exponentials=exponentials,
    weights=weights,
    weights_covered=covered,
)

# %% [markdown] lang="zh-Hant" key="row-claim" tags=["core"]
# 從左到右，一欄一欄看：減去最大值，最高的分數變成 0；取指數，每個數都是正的，最高的剛好是 1；除以總和，加起來是 1，大小順序和分數一樣。
#
# 蓋掉「書」，其他的權重都變大，「圖書館」和「小安」的倍數卻沒有變，因為分數的**差**變成了權重的**倍數**：
#
# $$\frac{A_{ij}}{A_{ik}} = e^{s_{ij} - s_{ik}}$$
#
# 上面的理論值就是這樣算的。既然算數的只有差，減去最大值就**一個權重也不改**，只讓指數不超過 1，不會溢位（overflow）。
#
# 其他列也是這樣，各減各的最大值。蓋掉的格子是 $-\infty$，而 $e^{-\infty} = 0$，權重剛好是 0。

# %% [markdown] lang="en" key="row-claim" of="7c096d17998a" tags=["core"]
# Column by column: with the maximum subtracted, the highest score is 0; after the exponential everything is positive, the highest exactly 1; after the division everything sums to 1, in the order of the scores.
#
# Covering "book" raises all other weights, yet the ratio of "library" to "Ann" stays, because a **difference** of scores becomes a **ratio** of weights:
#
# $$\frac{A_{ij}}{A_{ik}} = e^{s_{ij} - s_{ik}}$$
#
# The predicted value comes from this. As only differences count, subtracting the maximum **changes no weight**; it only keeps exponentials at 1 or below, so that nothing overflows.
#
# All rows go the same way, each with its own maximum. Covered cells are $-\infty$, and as $e^{-\infty} = 0$, their weight is exactly 0.

# %% [markdown] lang="zh-Hant" key="my-weight" tags=[]
# **練習**　兩個鍵的權重（3 分鐘，難度 1／3）
#
# 換你拿紙筆算。只有兩個鍵，分數差幾分由你的亂數種子決定；第 2 課的溫度（temperature）$\tau$ 也來了：分數先除以 $\tau$，再做 softmax。分數高的那個鍵，權重是多少？
#
# 把 `seed` 改成你自己的整數，例如學號的後四碼（開頭的 0 不寫），題目就會出現，每個人的數字都不一樣。答案填進再下一格，寫成 `np.exp(…)` 的式子也可以。卡住了，就執行 `al.hint("my_weight")`。

# %% [markdown] lang="en" key="my-weight" of="d5ca45123b19" tags=[]
# **Exercise**　The weight of one of two keys (3 minutes, difficulty 1 of 3)
#
# With pencil and paper. There are just two keys; your seed decides how far apart their scores are. The temperature $\tau$ of lesson 2 is back as well: divide the scores by $\tau$, then take softmax. What weight does the key with the higher score get?
#
# Give `seed` a whole number of your own, such as the last digits of your student number (without zeros in front), and the question appears; everyone gets other figures. Put your answer into the cell after it; an expression with `np.exp(…)` will do. Stuck? Run `al.hint("my_weight")`.

# %% key="question-my-weight" tags=[]
seed = None  # 0 … 999999

al.question("my_weight", seed)

# %% key="exercise-my-weight" tags=[]
my_weight = None

al.check.my_weight(my_weight, seed=seed)

# %% [markdown] lang="zh-Hant" key="shift" tags=[]
# **深入**　兩個分數差 1，權重就相差 $e \approx 2.7$ 倍，不管它們本來是 2 和 3，還是 102 和 103。每個分數都減去同一個 $m$ 沒有關係，那為什麼偏偏減最大值？下面試四種 $m$：0（什麼都不減）、這一列的最大值、100、1000，看「書」的分子、分母和權重。
#
# **先猜猜看**　四種 $m$ 裡，有幾種會算出同一個權重？

# %% [markdown] lang="en" key="shift" of="5770cefc3390" tags=[]
# **Deeper**　Two scores that differ by 1 give weights that differ by a factor of $e \approx 2.7$, whether the scores are 2 and 3 or 102 and 103. Subtracting the same $m$ from every score does no harm. Then why the maximum, of all numbers? Try four values of $m$: 0 (nothing subtracted), the maximum of the row, 100 and 1000, and watch the numerator, the denominator and the weight of "book".
#
# **Guess first**　How many of the four values of $m$ give the same weight?

# %% key="shift-guess" tags=[]
guess = None  # 1 … 4

# %% key="shift-measure" tags=[]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
row = al.attention_steps(Q, K, V, mask="causal").masked_scores[5]  # (6,)

m = np.array([0, row.max(), 100, 1000])  # (4,)
exponentials = np.exp(row - m[:, None])  # (4, 6)
numerator, denominator = exponentials[:, 4], exponentials.sum(axis=-1)  # (4,), (4,)
with np.errstate(invalid="ignore"):
    weight = numerator / denominator  # (4,)

al.show(guess=guess, measured=np.isclose(weight, al.softmax(row)[4]).sum())
al.table(m=m, numerator=numerator, denominator=denominator, weight=weight)

# %% [markdown] lang="zh-Hant" key="shift-claim" tags=[]
# 前三種的權重一模一樣，雖然減 100 以後，分子和分母都小了好幾十個數量級：兩者同乘 $e^{-m}$，一除就消掉了。
#
# $$\frac{e^{s_j - m}}{\sum_k e^{s_k - m}} = \frac{e^{-m}\, e^{s_j}}{e^{-m} \sum_k e^{s_k}} = \frac{e^{s_j}}{\sum_k e^{s_k}}$$
#
# 減 1000 就減過頭了：每個指數都小到存不下，成了 0，而 0 除以 0 沒有答案，電腦記成 NaN（not a number）。紙上減什麼都一樣，電腦上不一樣。減最大值最保險：最大的那一項永遠是 $e^0 = 1$，分母至少是 1，往上不會溢位（overflow），往下不會變成 0 除以 0。

# %% [markdown] lang="en" key="shift-claim" of="38aa59de6c31" tags=[]
# The first three give the same weight, although subtracting 100 shrinks numerator and denominator by dozens of orders of magnitude: both are multiplied by $e^{-m}$, which cancels in the division.
#
# $$\frac{e^{s_j - m}}{\sum_k e^{s_k - m}} = \frac{e^{-m}\, e^{s_j}}{e^{-m} \sum_k e^{s_k}} = \frac{e^{s_j}}{\sum_k e^{s_k}}$$
#
# Subtracting 1000 is too much of a good thing: every exponential is too small to store and becomes 0, and 0 divided by 0 has no answer; the computer writes NaN (not a number). On paper any number will do, on a computer it will not. The maximum is the safe choice: the largest term is always $e^0 = 1$, so the denominator is at least 1. Nothing overflows at the top, and nothing ends in 0 over 0 at the bottom.

# %% [markdown] lang="zh-Hant" key="overflow" tags=[]
# **要是不減呢？**　指數長得飛快，浮點數卻有裝得下的上限，超過就溢位成 ∞。
#
# **先猜猜看**　分數大到多少（取整數），$e^s$ 就裝不下了？三種精度各猜一個，把每個 `None` 換成數字。

# %% [markdown] lang="en" key="overflow" of="0dab5b51504e" tags=[]
# **What if nothing is subtracted?**　Exponentials grow fast, and a floating-point number has a largest value; beyond it lies overflow, which gives ∞.
#
# **Guess first**　From which score on (a whole number) is $e^s$ too large to hold? One guess for each precision: put a number for each `None`.

# %% key="overflow-guess" tags=[]
my_limits = {"float16": None, "float32": None, "float64": None}

# %% key="overflow-measure" tags=[]
limits = {}
for dtype in ("float16", "float32", "float64"):
    s = np.arange(1001).astype(dtype)  # (1001,)
    with np.errstate(over="ignore"):
        limits[dtype] = int(s[np.isinf(np.exp(s))][0])

pairs = [np.array([limit, 0], dtype=dtype) for dtype, limit in limits.items()]  # (2,)
al.table(
    dtype=limits.keys(),
    guess=[al.answer(my_limits, dtype) for dtype in limits],
    overflow_from=limits.values(),
    without_shift=[experiments.softmax_without_shift(pair) for pair in pairs],
    with_shift=[al.softmax(pair) for pair in pairs],
)

# %% [markdown] lang="zh-Hant" key="overflow-claim" tags=[]
# 最後兩欄把 softmax 用在兩個分數上：剛好溢位的那個數，和 0。不減最大值，第一項的分子是 ∞，分母也是 ∞，∞ 除以 ∞ 就是 NaN，它會一路傳到輸出。減了最大值，三種精度都給出正確的權重。
#
# **常見的誤會**　「除以 $\sqrt{d_k}$ 是為了防止溢位。」不是。縮放只是把分數除以一個固定的數，分數夠大還是會溢位；保證不溢位的是減去最大值。反過來，減去最大值也治不了 softmax 太尖銳的毛病，因為它一個權重都沒有改。兩件事各管各的。

# %% [markdown] lang="en" key="overflow-claim" of="c8c22eb19571" tags=[]
# The last two columns apply softmax to two scores: the number that just overflows, and 0. Without the shift the numerator of the first is ∞, the denominator is ∞ too, and ∞ over ∞ is NaN, which travels all the way to the output. With the shift all three precisions give the right weights.
#
# **A common mistake**　"Dividing by $\sqrt{d_k}$ prevents overflow." It does not. Scaling divides scores by a fixed number, and large enough scores still overflow; the guarantee comes from subtracting the maximum. Nor does subtracting the maximum help when softmax is too peaked, since it changes no weight at all. Two measures, two jobs.

# %% [markdown] lang="zh-Hant" key="softmax-temperature" tags=[]
# **練習**　有溫度的 softmax（6 分鐘，難度 1／3）
#
# 到這裡只算過一列。寫一個函式，把 $(T_q, T_k)$ 的分數每一列各自變成權重：先除以溫度，再做 softmax；分數上千，也不能溢位。用 NumPy 自己寫，先不要借用 `al.softmax`。寫好就執行，檢查會用一句話告訴你對不對、錯在哪裡。卡住了，就執行 `al.hint("softmax_temperature")`。

# %% [markdown] lang="en" key="softmax-temperature" of="ef8d5760681f" tags=[]
# **Exercise**　Softmax with a temperature (6 minutes, difficulty 1 of 3)
#
# So far it was one row. Write a function that turns scores of shape $(T_q, T_k)$ into weights, each row for itself: divide by the temperature, then take softmax, without overflow even for scores in the thousands. Write it in NumPy, without `al.softmax` for once. Run the cell, and the check says in one sentence whether it is right, or what is wrong. Stuck? Run `al.hint("softmax_temperature")`.

# %% key="exercise-softmax-temperature" tags=[]
def softmax_temperature(scores, temperature):  # (T_q, T_k) → (T_q, T_k)
    ...


al.check.softmax_temperature(softmax_temperature)

# %% [markdown] lang="zh-Hant" key="rows" tags=[]
# **深入**　現在六列一起算，每一列各減各的最大值。`axis=-1` 沿著同一列的鍵走，`keepdims=True` 讓結果留成 $(6, 1)$，才能對齊每一列。
#
# **先猜猜看**　會有幾格的權重剛好是 0？先記在紙上，再和圖比。

# %% [markdown] lang="en" key="rows" of="4de6e8fec271" tags=[]
# **Deeper**　Now all six rows at once, each with its own maximum. `axis=-1` runs along the keys of a row, and `keepdims=True` keeps the result as $(6, 1)$, so that it lines up with the rows.
#
# **Guess first**　How many cells will have a weight of exactly 0? Note your answer on paper and compare it with the picture.

# %% key="rows-measure" tags=[]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
masked_scores = al.attention_steps(Q, K, V, mask="causal").masked_scores  # (6, 6)

shifted = masked_scores - masked_scores.max(axis=-1, keepdims=True)  # (6, 6) - (6, 1) = (6, 6)
exponentials = np.exp(shifted)  # (6, 6)
weights = exponentials / exponentials.sum(axis=-1, keepdims=True)  # (6, 6)

mask = al.causal_mask(6)  # (6, 6)
al.show(
    measured=(weights == 0).sum(),
    row_sums=weights.sum(axis=-1),
    future_weight=experiments.largest_leak(weights, mask),
    agrees=np.allclose(weights, al.attention_weights(Q, K, mask="causal")),
)
plotting.plot_weights(weights, mask=mask, tokens=example.tokens);

# %% [markdown] lang="zh-Hant" key="rows-claim" tags=[]
# 對角線右上方的每一格都是：$-\infty$ 減去最大值還是 $-\infty$，取指數就剛好是 0。每一列的總和都是 1，只分給看得到的位置。

# %% [markdown] lang="en" key="rows-claim" of="ecb9dfa02d73" tags=[]
# Every cell right of the diagonal: $-\infty$ minus the maximum is still $-\infty$, and its exponential is exactly 0. Every row sums to 1, shared among the positions it can see.

# %% [markdown] lang="zh-Hant" key="mix" tags=["core"]
# ## 4.2　照權重混合值
#
# 最後一步是加權總和：每個位置的值乘上它分到的權重，全部加起來。
#
# $$\text{output}_i = \sum_j A_{ij} V_j$$
#
# 這次換「借」那一列，後面的「書」和「看」還蓋著。下面是它的權重，右邊幾欄是每個詞元的值。
#
# **先猜猜看**　先別動筆，用看的。「借」的輸出裡，哪一個分量（component）最大？「人」填 1，「事物」填 2，「動作」填 3。

# %% [markdown] lang="en" key="mix" of="7250a6f49217" tags=["core"]
# ## 4.2　Mixing values by weight
#
# The last step is a weighted sum: the value of each position times the weight it got, all added up.
#
# $$\text{output}_i = \sum_j A_{ij} V_j$$
#
# Take the row of "borrows"; "book" and "reads" come later and are covered. Here are its weights and, to their right, the value of each token.
#
# **Guess first**　Without a pencil: which component is largest in the output of "borrows"? Write 1 for person, 2 for object, 3 for action.

# %% key="mix-values" tags=["core"]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
weights = al.attention_weights(Q, K, mask="causal")  # (6, 6)
al.table(token=example.tokens, weight=weights[3], **dict(zip(example.value_axes, V.T)))

# %% key="mix-guess" tags=["core"]
guess = None  # 1, 2, 3

# %% key="mix-measure" tags=["core"]
terms = weights[3][:, None] * V  # (6, 1) * (6, 3) = (6, 3)
sums = terms.cumsum(axis=0)  # (6, 3)

al.show(guess=guess, measured=sums[-1].argmax() + 1)
heading = [al.label("running_sum", axis=axis) for axis in example.value_axes]
al.table(token=example.tokens, weight=weights[3], **dict(zip(heading, sums.T)))

# %% [markdown] lang="zh-Hant" key="mix-claim" tags=["core"]
# 表格從上往下，一次加進一個詞元，最下面那一列就是輸出。「小安」的權重最大，可是贏的是「事物」：「圖書館」的權重小一點，交出來的值卻比較大。**算數的是權重乘上值**。後面的「書」和「看」權重是 0，加進來什麼也沒變。

# %% [markdown] lang="en" key="mix-claim" of="1a1acec826ba" tags=["core"]
# From top to bottom the table adds one token at a time; its last row is the output. "Ann" has the largest weight, yet object wins: the weight of "library" is a little smaller, but its value is larger. **What counts is weight times value**. "book" and "reads" have weight 0 and change nothing.

# %% [markdown] lang="zh-Hant" key="mix-all" tags=[]
# **深入**　用話來說：「借」拿回來的，有一些「人」，更多的是「事物」。「書」還沒出現，這些「事物」是從「圖書館」那裡來的。下面把「借」的權重畫出來，再把六列一起算：就是一次矩陣乘法。

# %% [markdown] lang="en" key="mix-all" of="ea98e0052460" tags=[]
# **Deeper**　In words: "borrows" gets back some person and rather more object. "book" has not appeared yet; this object comes from "library". The next cells draw the weights of "borrows" and then compute all six rows together, which is a single matrix product.

# %% key="mix-weights" tags=[]
plotting.plot_row(
    weights[3],
    tokens=example.tokens,
    mask=al.causal_mask(6)[3],
    title=al.label("weights_of", token=example.tokens[3]),
);

# %% key="mix-output" tags=[]
output = weights @ V  # (6, 6) @ (6, 3) = (6, 3)
al.show(agrees=np.allclose(output, al.attention(Q, K, V, mask="causal")))
plotting.plot_matrix(
    output, rows=example.tokens, columns=example.value_axes, title=al.label("output")
);

# %% [markdown] lang="zh-Hant" key="temperature" tags=[]
# **先猜猜看，用畫的**　回到「看」那一列：六個分數都除以溫度 $\tau$，再做 softmax。$\tau$ 從 0.1 調到 100，分數最高的「書」拿到多少權重？
#
# 在圖上拖曳，畫出你預期的曲線（用鍵盤也可以，圖下面有說明），再按「就這麼猜」，量到的曲線才會疊上去。

# %% [markdown] lang="en" key="temperature" of="9329ea1f85c5" tags=[]
# **Guess first, by drawing**　Back to the row of "reads": divide its six scores by a temperature $\tau$, then take softmax. As $\tau$ goes from 0.1 to 100, what weight does "book" get, which has the highest score?
#
# Drag across the plot to draw the curve that you expect (or use the keyboard, as the line below it says), then press "Commit my guess"; only then is the measured curve laid over it.

# %% key="temperature-guess" tags=[]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
row = al.attention_steps(Q, K, V, mask="causal").masked_scores[5]  # (6,)
temperatures = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]

al.guess_curve(
    "04_temperature",
    temperatures,
    [al.softmax(row / tau)[4] for tau in temperatures],
    x_label="control_temperature",
    y_label="weight",
    y_limits=(0, 1),
    title="guess_temperature",
    log_x=True,
)

# %% [markdown] lang="zh-Hant" key="mix-play" tags=[]
# **動手玩**　下面把 4.1 和 4.2 連成六步，從「看」那一列的分數一路走到輸出。
#
# 先說說看，再拖「溫度 τ」：溫度調高、調低，權重的大小順序會變嗎？溫度調到最低，輸出會靠近誰的值？調到最高呢？
#
# 按「▶ 播放」，還可以看六項一項一項加成輸出。

# %% [markdown] lang="en" key="mix-play" of="ed0c3d367a28" tags=[]
# **Play**　Here 4.1 and 4.2 are joined to six steps, from the scores in the row of "reads" to the output.
#
# Say what you expect, then drag "temperature τ": up or down, does the order of the weights change? At the lowest temperature, whose value does the output come close to? And at the highest?
#
# Press "▶ Play" to watch six terms add up to the output one by one.

# %% key="mix-figure" tags=[]
panels.figure(panels.softmax_panel, source="example")

# %% key="mix-panel" tags=[]
panels.softmax_panel(source="example")

# %% [markdown] lang="zh-Hant" key="mix-answer" tags=[]
# 順序不變。溫度除的是所有的分數，大的還是大的，變的只有差距。溫度低，權重都集中到分數最高的「書」，輸出就靠近「書」的值；溫度高，權重趨於平均，輸出就靠近六個值的平均。

# %% [markdown] lang="en" key="mix-answer" of="81a08f86314e" tags=[]
# The order stays. The temperature divides all scores alike, so the larger remains the larger; only the gaps change. A low one gathers the weights at "book", which has the highest score, and the output comes close to its value; a high one evens the weights out, and the output comes close to the mean of all six values.

# %% [markdown] lang="zh-Hant" key="convex" tags=[]
# **深入**　輸出能跑多遠？
#
# **先猜猜看**　輸出的某個分量，有可能比看得到的值裡最大的還大，或比最小的還小嗎？填 `True`（是）或 `False`（否）。下面用例句的六個詞元和 64 個隨機的詞元各量一次。

# %% [markdown] lang="en" key="convex" of="a5151fbbf0a0" tags=[]
# **Deeper**　How far can an output go?
#
# **Guess first**　Can a component of the output be larger than the largest value in sight, or smaller than the smallest? Write `True` (yes) or `False` (no). The next cell measures it on the running example and on 64 random tokens.

# %% key="convex-guess" tags=[]
guess = None  # True, False

# %% key="convex-measure" tags=[]
example = al.running_example()
hand_set = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
drawn = experiments.random_qkv(64, 16)

outside = []
for Q, K, V in (hand_set, drawn):
    output = al.attention(Q, K, V, mask="causal")  # (T, d_v)
    lowest = np.minimum.accumulate(V)  # (T, d_v)
    highest = np.maximum.accumulate(V)  # (T, d_v)
    outside.append(((output < lowest - 1e-12) | (output > highest + 1e-12)).sum())

al.show(guess=guess, measured=any(outside))
al.table(
    vectors=[al.label("hand_set"), al.label("random")],
    components=[hand_set[2].size, drawn[2].size],
    outside=outside,
)

# %% [markdown] lang="zh-Hant" key="convex-claim" tags=[]
# 一個也沒有跑出去。權重都不是負的，加起來又是 1，這樣的加權總和叫做凸組合（convex combination）：它永遠落在參加混合的那些值之間，就像幾個人的平均身高不會超過最高的那一位。
#
# 所以注意力自己變不出更大的數，它只會挑選和平均。要把結果放大、翻轉或重新組合，得靠後面的 $W_O$ 和 MLP。

# %% [markdown] lang="en" key="convex-claim" of="e8a4d9abfa12" tags=[]
# Not one of them leaves the range. The weights are not negative and sum to 1; such a weighted sum is called a convex combination, and it always lies between the values it mixes, just as the average height of a group never exceeds that of its tallest member.
#
# So attention alone cannot make a number larger; it only selects and averages. Enlarging, flipping or recombining is left to $W_O$ and the MLP that follow.

# %% [markdown] lang="zh-Hant" key="attention-one-head" tags=[]
# **練習**　一個頭的注意力（12 分鐘，難度 2／3）
#
# 五個步驟你都看過了，現在把它們接起來，寫成一個函式：$Q$ 是 $(T_q, d_k)$，$K$ 是 $(T_k, d_k)$，$V$ 是 $(T_k, d_v)$；`mask` 是 $(T_q, T_k)$ 的布林陣列，True 是「可以看」。有一種列要小心：一個鍵也不准看的列，輸出應該剛好是 0。只用 NumPy。下一節會把整個式子寫出來，先自己試，再往下讀。卡住了，就執行 `al.hint("attention_one_head")`。

# %% [markdown] lang="en" key="attention-one-head" of="96004dc7e4b9" tags=[]
# **Exercise**　Attention of one head (12 minutes, difficulty 2 of 3)
#
# You have met all five steps; now join them to one function. $Q$ is $(T_q, d_k)$, $K$ is $(T_k, d_k)$, $V$ is $(T_k, d_v)$, and `mask` is a Boolean array of $(T_q, T_k)$ in which True means "may attend". One kind of row needs care: where no key at all may be seen, the output must be exactly 0. Use NumPy only. The next section writes the whole expression out, so try before you read on. Stuck? Run `al.hint("attention_one_head")`.

# %% key="exercise-attention-one-head" tags=[]
def attention_one_head(Q, K, V, mask):  # → (T_q, d_v)
    ...


al.check.attention_one_head(attention_one_head)

# %% [markdown] lang="zh-Hant" key="line" tags=["core"]
# ## 4.3　整個注意力，一個式子
#
# 分數、縮放、遮罩、softmax、加權總和，接起來就是注意力的全部：
#
# $$\text{output} = \operatorname{softmax}\!\left(\operatorname{mask}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right)\right) V$$
#
# 從最裡面往外讀。這個式子來自 [Vaswani 等人 2017 年的論文](https://arxiv.org/abs/1706.03762)；論文的式 (1) 裡沒有遮罩，遮罩寫在內文。
#
# 下面用 ANDREA-120M 一層真正的尺寸，把它寫成一個運算式，再和 `al.attention` 比：1024 個位置、12 個頭、每頭 64 維、float32。向量是亂數，尺寸是真的。

# %% [markdown] lang="en" key="line" of="fd4034c8b418" tags=["core"]
# ## 4.3　All of attention in one expression
#
# Scores, scaling, mask, softmax, weighted sum: joined together, they are the whole of attention:
#
# $$\text{output} = \operatorname{softmax}\!\left(\operatorname{mask}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right)\right) V$$
#
# Read it from the inside out. It comes from the [paper of Vaswani et al., 2017](https://arxiv.org/abs/1706.03762); its equation (1) has no mask, which is described in the text.
#
# The next cell writes it as one expression, at the real sizes of one layer of ANDREA-120M, and compares it with `al.attention`: 1024 positions, 12 heads, 64 numbers per head, float32. The vectors are random, the sizes real.

# %% key="line-inline" tags=["core"]
model = al.ANDREA_120M
rng = np.random.default_rng(0)
shape = (3, model.n_head, model.T, model.d_k)
Q, K, V = rng.standard_normal(shape, dtype="float32")  # (12, 1024, 64)
mask = np.tril(np.ones((model.T, model.T), dtype=bool))  # (1024, 1024)

K_T = K.swapaxes(-1, -2)  # (12, 64, 1024)
output = al.softmax(np.where(mask, Q @ K_T / model.d_k**0.5, -np.inf)) @ V  # (12, 1024, 64)

al.show(
    Q=Q.shape,
    K=K.shape,
    V=V.shape,
    output=output.shape,
    agrees=np.allclose(output, al.attention(Q, K, V, mask="causal"), rtol=0, atol=1e-5),
    first_is_value=np.array_equal(output[:, 0], V[:, 0]),
)

# %% [markdown] lang="zh-Hant" key="line-claim" tags=["core"]
# 尺寸變大，規則沒有變：位置 0 只看得到自己，所以它的輸出就是自己的值。

# %% [markdown] lang="en" key="line-claim" of="d512c5968a0f" tags=["core"]
# The sizes are larger, the rules the same: position 0 sees only itself, so its output is its own value.

# %% [markdown] lang="zh-Hant" key="attention-complete" tags=[]
# **練習**　完整的注意力（15 分鐘，難度 3／3）
#
# 上面那個運算式只會一種遮罩，也只會正方形的。寫一個什麼都會的：前面可以有批次（batch）和頭的軸；`mask` 可以是 `None`、`"causal"` 或布林陣列，布林陣列的形狀是 $(T_q, T_k)$，或軸數和分數一樣（長度 1 的軸會自動延伸）；`"causal"` 遇到 $T_q \neq T_k$ 也要對，這時查詢是最後 $T_q$ 個位置；一個鍵也不准看的列，輸出是 0；分數再大也不溢位。卡住了，就執行 `al.hint("attention_complete")`。

# %% [markdown] lang="en" key="attention-complete" of="03a5196b716d" tags=[]
# **Exercise**　All of attention (15 minutes, difficulty 3 of 3)
#
# The expression above knows one kind of mask, and only square ones. Write one that can do everything: there may be axes for batch and heads in front; `mask` is `None`, `"causal"` or a Boolean array, of $(T_q, T_k)$ or with as many axes as the scores, where axes of length 1 stretch; `"causal"` must work for $T_q \neq T_k$ as well, the queries being the last $T_q$ positions; rows in which no key may be seen give 0; and no score is so large that it overflows. Stuck? Run `al.hint("attention_complete")`.

# %% key="exercise-attention-complete" tags=[]
def attention_complete(Q, K, V, mask=None):  # → (…, T_q, d_v)
    ...


al.check.attention_complete(attention_complete)

# %% [markdown] lang="zh-Hant" key="real" tags=[]
# **深入**　剛才那一層，注意力權重有多大？
#
# **先猜猜看**　一個 float32 占 4 個位元組（byte）。光是這一層的注意力權重，12 個頭加起來占多少 MB（百萬位元組）？填一個數。

# %% [markdown] lang="en" key="real" of="f5a242861794" tags=[]
# **Deeper**　How large are the attention weights of the layer we have just computed?
#
# **Guess first**　One float32 takes 4 bytes. How many MB (million bytes) do the attention weights of this one layer take, all 12 heads together? Write a number.

# %% key="real-guess" tags=[]
guess = None  # MB

# %% key="real-measure" tags=[]
model = al.ANDREA_120M
rng = np.random.default_rng(0)
shape = (3, model.n_head, model.T, model.d_k)
Q, K, V = rng.standard_normal(shape, dtype="float32")  # (12, 1024, 64)

weights = al.attention_weights(Q, K, mask="causal")  # (12, 1024, 1024)
mask = al.causal_mask(model.T)  # (1024, 1024)

al.show(
    weights=weights.shape,
    guess=guess,
    megabytes=weights.nbytes / 1e6,
    byte_count=weights.nbytes,
    value_megabytes=V.nbytes / 1e6,
    cells_per_head=mask.size,
    allowed_per_head=mask.sum(),
    sums_are_one=np.allclose(weights.sum(axis=-1), 1, rtol=0, atol=1e-6),
    future_weight=experiments.largest_leak(weights, mask),
)

# %% [markdown] lang="zh-Hant" key="real-claim" tags=[]
# 每一列的總和都是 1（在 float32 的捨入誤差以內），未來的權重剛好是 0。最占記憶體的是分數和權重，不是 $Q$、$K$、$V$。遮罩蓋掉了將近一半的格子，它們卻照樣占著位子。
#
# **動手玩**　下面的面板就是這條流水線，向量是亂數：$T$ 拉得到 1024，12 個頭可以換著看，還能把兩種設定上下並排。
#
# **先猜猜看**　先記在紙上，再動手。數字都在面板最下面那句話裡。
#
# 1. 勾「釘住目前設定來比較」，再取消「除以 √d_k」：上下兩排的權重差在哪裡？
# 2. 勾回「除以 √d_k」，$T$ 拉到 1024，「列（row）i」也拉到底：最後一列最大的權重變大還是變小？有效鍵數呢？
# 3. 換一個「頭 h」：圖案會變嗎？分數的標準差呢？

# %% [markdown] lang="en" key="real-claim" of="7e440119cca4" tags=[]
# Every row sums to 1 (within float32 rounding), and the weights on the future are exactly 0. What fills the memory is scores and weights, not $Q$, $K$ and $V$. Almost half of the cells are covered by the mask, and they take up their place all the same.
#
# **Play**　The panel below is this pipeline on random vectors: $T$ goes up to 1024, there are 12 heads to look at, and two settings can stand one above the other.
#
# **Guess first**　Note your answers on paper, then try. The numbers are in the last sentence of the panel.
#
# 1. Tick "pin and compare", then untick "divide by √d_k": how do the weights of the two lines differ?
# 2. Tick "divide by √d_k" again, move $T$ to 1024 and "row i" to its end: does the largest weight of the last row grow or shrink? And the effective keys?
# 3. Choose another "head h": does the pattern change? And the standard deviation of the scores?

# %% key="real-figure" tags=[]
panels.figure(panels.attention_panel)

# %% key="real-panel" tags=[]
panels.attention_panel()

# %% [markdown] lang="zh-Hant" key="real-answer" tags=[]
# 1. 不縮放，每一列的權重就集中到少數幾格；$d_k$ 越大越明顯。
# 2. 同樣是 1，要分給更多的鍵，所以最大的權重變小；有效鍵數卻變多，仍是鍵數的六成左右。每個權重都太小，所以顏色自動換成「均勻的倍數」。
# 3. 圖案全變了，標準差差不多：這裡每個頭的向量各自隨機。訓練過的頭，各有各的看法。

# %% [markdown] lang="en" key="real-answer" of="45f267942b34" tags=[]
# 1. Without scaling each row gathers its weight in a few cells, the more so the larger $d_k$.
# 2. The same 1 is shared by more keys: the largest weight shrinks, while the effective keys grow and stay at about six in ten. Single weights are now so small that colours switch to multiples of the uniform weight by themselves.
# 3. The pattern is a new one, the standard deviation about the same: here every head has random vectors of its own. Trained heads each look in their own way.

# %% [markdown] lang="zh-Hant" key="growth" tags=[]
# **深入，先猜猜看**　如果上下文長度（context length）$T$ 加倍，注意力權重占的記憶體變成幾倍？值 $V$ 呢？填兩個數，像 `[1, 1]`。

# %% [markdown] lang="en" key="growth" of="239b78554929" tags=[]
# **Deeper, guess first**　If the context length $T$ doubles, by what factor does the memory of the attention weights grow? And that of the values $V$? Write two numbers, such as `[1, 1]`.

# %% key="growth-guess" tags=[]
guess = None  # [×, ×]

# %% key="growth-measure" tags=[]
model = al.ANDREA_120M
T = np.array([512, 1024, 2048, 4096])  # (4,)
weight_bytes = model.n_head * T * T * 4  # (4,)
value_bytes = model.n_head * T * model.d_k * 4  # (4,)

al.show(guess=guess, measured=[weight_bytes[1] / weight_bytes[0], value_bytes[1] / value_bytes[0]])
al.table(T=T, weight_megabytes=weight_bytes / 1e6, value_megabytes=value_bytes / 1e6)

# %% [markdown] lang="zh-Hant" key="growth-claim" tags=[]
# 每個頭的注意力權重是 $T \times T$ 的一張表，兩個邊都是 $T$，所以是四倍；值只有一個邊是 $T$，所以是兩倍。這就是長文章對注意力特別貴的原因。上面只算一層；ANDREA-120M 有 12 層，訓練時如果每一層都留著，還要再乘 12。

# %% [markdown] lang="en" key="growth-claim" of="37734bbde4cb" tags=[]
# Each head's attention weights are a table of $T \times T$ with two sides of length $T$, hence four times; the values have one side of length $T$, hence twice. That is why long texts are so expensive for attention. The table counts one layer; ANDREA-120M has 12, so training that keeps them all multiplies by 12 once more.

# %% [markdown] lang="zh-Hant" key="attention-two-heads" tags=[]
# **練習**　兩個頭一起算（12 分鐘，難度 3／3）
#
# 下一節講十二個頭，先自己寫兩個。$X$ 是 $(T, d_{\text{model}})$；$W_Q$、$W_K$ 是 $(d_{\text{model}}, 2 d_k)$，$W_V$ 是 $(d_{\text{model}}, 2 d_v)$，前一半的行（column）屬於頭 0，後一半屬於頭 1。兩個頭各做各的注意力，不用遮罩，最後左右串接成 $(T, 2 d_v)$。哪裡要切成兩半，自己想。卡住了，就執行 `al.hint("attention_two_heads")`。

# %% [markdown] lang="en" key="attention-two-heads" of="7ecc57b64b35" tags=[]
# **Exercise**　Two heads at once (12 minutes, difficulty 3 of 3)
#
# The next section has twelve heads; write two of your own first. $X$ is $(T, d_{\text{model}})$, $W_Q$ and $W_K$ are $(d_{\text{model}}, 2 d_k)$, $W_V$ is $(d_{\text{model}}, 2 d_v)$; the first half of the columns belongs to head 0, the second to head 1. Each head does attention of its own, without a mask, and in the end both stand side by side as $(T, 2 d_v)$. What has to be halved, and where, is for you to find out. Stuck? Run `al.hint("attention_two_heads")`.

# %% key="exercise-attention-two-heads" tags=[]
def attention_two_heads(X, W_Q, W_K, W_V):  # → (T, 2 d_v)
    ...


al.check.attention_two_heads(attention_two_heads)

# %% [markdown] lang="zh-Hant" key="heads" tags=["core"]
# ## 4.4　十二個頭並排
#
# ANDREA-120M 一層有 12 個注意力頭（attention head），各有自己的 $W_Q$、$W_K$、$W_V$，形狀都是 $(768, 64)$。實際的程式卻常把 12 個 $W_Q$ 合併（fused matrix）成一個 $(768, 768)$：乘一次，再把結果切成 12 段。這樣切，和直接切輸入 $X$，哪一種才對？量量看。

# %% [markdown] lang="en" key="heads" of="6901515e03d7" tags=["core"]
# ## 4.4　Twelve heads side by side
#
# A layer of ANDREA-120M has 12 attention heads, each with its own $W_Q$, $W_K$ and $W_V$ of shape $(768, 64)$. Real programs often fuse the 12 matrices $W_Q$ into one of $(768, 768)$: multiply once, then cut the result into 12 pieces. Is that right, or should the input $X$ be cut? Measure it.

# %% key="heads-fused" tags=["core"]
rng = np.random.default_rng(0)
X = rng.standard_normal((1024, 768), dtype="float32")  # (1024, 768)
W_Q = rng.standard_normal((12, 768, 64), dtype="float32") / 768**0.5  # (12, 768, 64)
fused = np.concatenate(W_Q, axis=1)  # (768, 768)

separate = X @ W_Q  # (1024, 768) @ (12, 768, 64) = (12, 1024, 64)
together = X @ fused  # (1024, 768) @ (768, 768) = (1024, 768)
cut = np.stack(np.split(together, 12, axis=1))  # (12, 1024, 64)
narrow = X[:, :64] @ fused[:64, :64]  # (1024, 64) @ (64, 64) = (1024, 64)

al.show(
    output_cut=np.allclose(cut, separate, rtol=0, atol=1e-5),
    input_cut=np.allclose(narrow, separate[0], rtol=0, atol=1e-5),
)

# %% [markdown] lang="zh-Hant" key="heads-claim" tags=["core"]
# 切的是**投影後的結果**，不是輸入：每個頭都讀了整個 768 維。（$X$ 和矩陣是亂數。）合併不過是把 12 個矩陣並排放好，讓硬體一次乘完。

# %% [markdown] lang="en" key="heads-claim" of="e25e0fa3288d" tags=["core"]
# What is cut is the **output of the projection**, not its input: every head has read all 768 numbers. ($X$ and the matrices are random.) Fusing merely puts 12 matrices side by side, so that the hardware multiplies once.

# %% [markdown] lang="zh-Hant" key="heads-why" tags=[]
# **深入**　為什麼一樣？矩陣相乘，結果的每一行（column）只用到右邊矩陣的同一行；合併的矩陣最前面 64 行就是第一個頭的 $W_Q$，所以結果的前 64 行就是第一個頭的查詢，差別只在 float32 的捨入。

# %% [markdown] lang="en" key="heads-why" of="5bd3dde2f746" tags=[]
# **Deeper**　Why are they the same? In a matrix product each column of the result uses only the same column of the right-hand matrix. The first 64 columns of the fused matrix are the $W_Q$ of the first head, so the first 64 columns of the result are its queries; the only difference is float32 rounding.

# %% [markdown] lang="zh-Hant" key="reshape" tags=[]
# **切的時候有個陷阱**　結果的形狀是 $(1024, 768)$，我們要的是 $(12, 1024, 64)$。數字的個數剛好一樣，直接 `reshape(12, 1024, 64)` 不就好了？
#
# **先猜猜看**　形狀對了，內容也對嗎？填 `True`（是）或 `False`（否）。

# %% [markdown] lang="en" key="reshape" of="062aaa977bbf" tags=[]
# **A trap in the cutting**　The result has the shape $(1024, 768)$, and $(12, 1024, 64)$ is wanted. The count of numbers is the same, so why not simply `reshape(12, 1024, 64)`?
#
# **Guess first**　The shape is right; are the contents right too? Write `True` (yes) or `False` (no).

# %% key="reshape-guess" tags=[]
guess = None  # True, False

# %% key="reshape-measure" tags=[]
rng = np.random.default_rng(0)
X = rng.standard_normal((1024, 768), dtype="float32")  # (1024, 768)
W_Q = rng.standard_normal((12, 768, 64), dtype="float32") / 768**0.5  # (12, 768, 64)
separate = X @ W_Q  # (12, 1024, 64)
together = X @ np.concatenate(W_Q, axis=1)  # (1024, 768)

ways = [
    together.reshape(12, 1024, 64),  # (12, 1024, 64)
    together.reshape(1024, 12, 64).swapaxes(0, 1),  # (1024, 12, 64) → (12, 1024, 64)
]
same = [np.allclose(way, separate, rtol=0, atol=1e-5) for way in ways]
al.show(guess=guess, measured=same[0])
al.table(
    step=["(12, 1024, 64)", "(1024, 12, 64) → (12, 1024, 64)"],
    shape=[way.shape for way in ways],
    output_cut=same,
)

# %% [markdown] lang="zh-Hant" key="reshape-claim" tags=[]
# 形狀都對，內容只有第二種對。`reshape` 不搬動數字，只照記憶體的順序重新分組：直接變成 $(12, 1024, 64)$，「第一個頭」拿到的其實是最前面 85 個位置的整個向量，再加下一個位置的一段。要先把 768 拆成 $12 \times 64$，再用 `swapaxes` 把頭的軸換到前面。光檢查形狀，抓不到這種錯。

# %% [markdown] lang="en" key="reshape-claim" of="8529ab6febbb" tags=[]
# Both shapes are right, but only the second has the right contents. `reshape` moves no number, it only regroups them in memory order: going straight to $(12, 1024, 64)$ hands the "first head" the entire vectors of the first 85 positions and a piece of the next. First split 768 into $12 \times 64$, then bring the axis of the heads to the front with `swapaxes`. A check of the shape alone never finds this fault.

# %% [markdown] lang="zh-Hant" key="join" tags=["core"]
# 每個頭各自走完 4.3 的式子，交出輸出 $h$。12 個頭串接（concatenate）起來，乘上輸出投影（output projection）$W_O$，形狀是 $(768, 768)$；最後加回原來的 $X$，叫做殘差連接（residual connection）。
#
# **換你算**　$T = 1024$，這四樣東西的形狀各是什麼？寫成 `(a, b)` 的樣子。

# %% [markdown] lang="en" key="join" of="710530afcac3" tags=["core"]
# Each head works through the expression of 4.3 and hands over its output $h$. The 12 outputs are concatenated and multiplied by the output projection $W_O$, of shape $(768, 768)$; finally the original $X$ is added, a residual connection.
#
# **Your turn**　With $T = 1024$, what are the shapes of these four? Write each as `(a, b)`.

# %% key="join-guess" tags=["core"]
my_shapes = {
    "h₁": None,
    "[h₁ … h₁₂]": None,
    "[h₁ … h₁₂] W_O": None,
    "X + [h₁ … h₁₂] W_O": None,
}

# %% key="join-measure" tags=["core"]
rng = np.random.default_rng(0)
X = rng.standard_normal((1024, 768), dtype="float32")  # (1024, 768)
W_Q, W_K, W_V = rng.standard_normal((3, 12, 768, 64), dtype="float32") / 768**0.5
W_O = rng.standard_normal((768, 768), dtype="float32") / 768**0.5  # (768, 768)

heads = al.attention(X @ W_Q, X @ W_K, X @ W_V, mask="causal")  # (12, 1024, 64)
joined = np.concatenate(heads, axis=1)  # (1024, 768)
projected = joined @ W_O  # (1024, 768) @ (768, 768) = (1024, 768)
added = X + projected  # (1024, 768)

shapes = {
    "h₁": heads[0].shape,
    "[h₁ … h₁₂]": joined.shape,
    "[h₁ … h₁₂] W_O": projected.shape,
    "X + [h₁ … h₁₂] W_O": added.shape,
}
al.table(
    step=shapes.keys(),
    guess=[al.answer(my_shapes, step) for step in shapes],
    shape=shapes.values(),
)

# %% [markdown] lang="zh-Hant" key="join-claim" tags=["core"]
# 12 個頭並排就回到 $(1024, 768)$，和 $X$ 一樣寬，所以才加得回去。串接只是並排，12 個頭還各說各話，$W_O$ 才把它們合起來。再加上正規化（normalization）和多層感知器（MLP），就是一個完整的區塊（block）。

# %% [markdown] lang="en" key="join-claim" of="dae79807cae1" tags=["core"]
# Twelve heads side by side are $(1024, 768)$ again, as wide as $X$, so the two can be added. Concatenating leaves each head speaking for itself; $W_O$ brings them together. A normalization and a multilayer perceptron (MLP) will complete the block.

# %% [markdown] lang="zh-Hant" key="join-sum" tags=[]
# **深入**　$W_O$ 怎麼合？它每 64 列屬於一個頭，所以乘上 $W_O$ 就等於每個頭先各自投影，再全部相加：
#
# $$[h_1 \cdots h_{12}]\, W_O = \sum_{n=1}^{12} h_n W_O^{(n)}$$
#
# 下面量量看。

# %% [markdown] lang="en" key="join-sum" of="84443a202dce" tags=[]
# **Deeper**　How does $W_O$ bring them together? Every 64 rows of it belong to one head, so multiplying by $W_O$ is the same as projecting each head by itself and adding everything up:
#
# $$[h_1 \cdots h_{12}]\, W_O = \sum_{n=1}^{12} h_n W_O^{(n)}$$
#
# The next cell measures it.

# %% key="join-sum-measure" tags=[]
blocks = W_O.reshape(12, 64, 768)  # (12, 64, 768)
by_head = (heads @ blocks).sum(axis=0)  # (12, 1024, 768) → (1024, 768)
al.show(sum_of_heads=np.allclose(by_head, projected, rtol=0, atol=1e-5))

# %% [markdown] lang="zh-Hant" key="more" tags=["core"]
# **先猜猜看**　$d_{\text{model}}$ 維持 768，頭從 12 個加到 24 個。$W_Q$ 的參數（parameter）總數是原來的一半、一樣，還是兩倍？先記在紙上。

# %% [markdown] lang="en" key="more" of="aabdd63a127d" tags=["core"]
# **Guess first**　Keep $d_{\text{model}}$ at 768 and go from 12 heads to 24. Does the total number of parameters in $W_Q$ halve, stay or double? Note your answer on paper.

# %% key="more-measure" tags=["core"]
model = al.ANDREA_120M
n_head = np.array([1, 6, 12, 24, 96])  # (5,)
d_k = model.d_model // n_head  # (5,)
per_head = model.d_model * d_k  # (5,)
W_Q_size = n_head * per_head  # (5,)

al.table(
    n_head=n_head,
    d_k=d_k,
    per_head=per_head,
    all_heads=W_Q_size,
    score_count=n_head * model.T**2,
)

# %% [markdown] lang="zh-Hant" key="more-claim" tags=["core"]
# 一樣多。頭變多，每個頭就變窄：參數沒有變多，只是分成更多份來用。真正變多的是分數，每個頭都有自己的一張 $T \times T$。

# %% [markdown] lang="en" key="more-claim" of="2359a015d951" tags=["core"]
# It stays. More heads are narrower heads: the same parameters, in more shares. What grows is the number of scores, as every head has its own $T \times T$ table.

# %% [markdown] lang="zh-Hant" key="more-deeper" tags=[]
# **深入**　$12 \times 768 \times 64$ 和 $768 \times 768$ 是同一個數。頭多，就有更多種「注意誰」的方式；但是頭越窄，一個頭能比對的方向也越少。

# %% [markdown] lang="en" key="more-deeper" of="b53232e8979c" tags=[]
# **Deeper**　$12 \times 768 \times 64$ is the same number as $768 \times 768$. More heads mean more ways of choosing whom to attend to; but the narrower a head, the fewer directions it can compare along.

# %% [markdown] lang="zh-Hant" key="silent" tags=[]
# ## 4.5　權重沒有說的事（深入）
#
# 權重圖很好看，也很容易讓人脫口而出：「模型會這樣回答，就是因為它注意這個詞。」真的嗎？
#
# **先猜猜看**　兩列完全不同的權重，有可能給出一模一樣的輸出嗎？填 `True`（是）或 `False`（否）。

# %% [markdown] lang="en" key="silent" of="e600971a2763" tags=[]
# ## 4.5　What weights do not say (deeper)
#
# A picture of weights is pretty, and it invites a quick conclusion: "The model answers this way because it attends to that word." Does it?
#
# **Guess first**　Can two entirely different rows of weights give exactly the same output? Write `True` (yes) or `False` (no).

# %% key="silent-guess" tags=[]
guess = None  # True, False

# %% key="silent-same" tags=[]
example = al.running_example()
V = example.X @ example.W_V  # (6, 3)
A = np.array([[0, 0.5, 0, 0, 0, 0.5], [0, 0, 0, 1, 0, 0]])  # (2, 6)

output = A @ V  # (2, 6) @ (6, 3) = (2, 3)
al.show(
    guess=guess,
    measured=np.array_equal(output[0], output[1]),
    first_output=output[0],
    second_output=output[1],
)
al.table(
    token=example.tokens,
    first_weights=A[0],
    second_weights=A[1],
    **dict(zip(example.value_axes, V.T)),
)

# %% [markdown] lang="zh-Hant" key="silent-claim" tags=[]
# 這兩列權重是我們自己寫的：第一列把權重平分給「去」和「看」，第二列全給「借」。注意的詞元沒有一個相同，輸出卻一模一樣，因為「借」的值剛好在另外兩個的正中間。只看輸出，沒有辦法分辨是哪一列。
#
# 再看另一種情形：兩個詞元，第一個拿走九成的權重，它的值卻是 0。
#
# **先猜猜看**　把第一個詞元拿掉，其他不動，輸出會變多少？先記在紙上。

# %% [markdown] lang="en" key="silent-claim" of="87e8f7c232e3" tags=[]
# We wrote these two rows of weights by hand: the first divides its weight between "visits" and "reads", the second gives everything to "borrows". They attend to nothing in common, yet the outputs are identical, because the value of "borrows" happens to lie halfway between the other two. From the output nobody can tell which row it was.
#
# Now another case: two tokens, of which the first takes nine tenths of the weight, but has the value 0.
#
# **Guess first**　Take the first token away and leave the rest as it is; how much does the output change? Note your answer on paper.

# %% key="silent-zero" tags=[]
A = np.array([0.9, 0.1])  # (2,)
V = np.array([[0, 0], [5, -3]])  # (2, 2)

al.show(output=A @ V, output_without=A[1:] @ V[1:])

# %% [markdown] lang="zh-Hant" key="silent-real" tags=[]
# 一點也沒變。九成的權重什麼也沒帶來，輸出全是那一成給的。
#
# 這兩個例子是挑過的。換成 ANDREA-120M 的尺寸還會這樣嗎？一列有 1024 個權重，輸出只有 64 個數，加上「總和是 1」，一共 65 個條件。任選 66 個權重，未知數就比條件多一個，總有一個方向可以挪動它們，輸出和總和都不變。沿著這個方向一直挪到有個權重變成 0，再換下一批，挪到不能再挪。下面用亂數造一列權重，照這個辦法做。
#
# **先猜猜看**　1024 個權重裡，最後剩下幾個不是 0？

# %% [markdown] lang="en" key="silent-real" of="3f891d29df48" tags=[]
# Not at all. Nine tenths of the weight brought nothing, and the whole output came from the remaining tenth.
#
# Both examples were chosen with care. Does it happen at the size of ANDREA-120M as well? A row has 1024 weights, the output has only 64 numbers; with the condition that the sum is 1, that makes 65 conditions. Take any 66 of the weights, and there is one unknown more than there are conditions: in some direction they can be shifted without changing output or sum. Shift until one weight becomes 0, take the next batch, and go on until nothing can be shifted any more. The next cell does this with a random row of weights.
#
# **Guess first**　How many of the 1024 weights are not 0 in the end?

# %% key="silent-real-guess" tags=[]
guess = None  # 1 … 1024

# %% key="silent-real-measure" tags=[]
Q, K, V = experiments.random_qkv(1024, 64)  # (1024, 64)
weights = al.attention_weights(Q[:1], K)[0]  # (1024,)
conditions = np.column_stack([V, np.ones(1024)]).T  # (65, 1024)

other = weights.copy()  # (1024,)
while (other > 0).sum() > 65:
    some = np.flatnonzero(other)[:66]  # (66,)
    C = conditions[:, some]  # (65, 66)
    direction = np.append(np.linalg.solve(C[:, :65], C[:, 65]), -1)  # (66,)
    steps = np.where(direction > 0, other[some] / direction, np.inf)  # (66,)
    other[some] -= steps.min() * direction
    other[some[steps.argmin()]] = 0

al.show(
    guess=guess,
    measured=np.count_nonzero(other),
    any_negative=bool((other < 0).any()),
    total=other.sum(),
    same_output=np.allclose(other @ V, weights @ V, rtol=0, atol=1e-9),
    moved_weight=np.abs(other - weights).sum() / 2,
)

# %% [markdown] lang="zh-Hant" key="silent-recap" tags=[]
# 絕大多數的權重都歸零了，輸出卻沒有動。所以權重告訴你**這個頭在這裡混了誰、各混多少**，沒有告訴你模型**為什麼**這樣回答。要回答「為什麼」，還得看值是什麼、$W_O$ 怎麼用它、其他的頭和層做了什麼。
#
# 研究者也為此爭論過：[有一篇論文說注意力不是解釋](https://arxiv.org/abs/1902.10186)，[另一篇說要看你怎麼定義解釋](https://arxiv.org/abs/1908.04626)。想知道一個詞元重不重要，比較可靠的辦法是動手試：把它改掉或拿掉，看答案動不動。

# %% [markdown] lang="en" key="silent-recap" of="4262c853d396" tags=[]
# Nearly all weights are gone, and the output has not stirred. So weights tell you **which values this head mixed here, and how much of each**. They do not tell you **why** the model answers as it does: for that you also need the values, what $W_O$ makes of them, and what the other heads and layers do.
#
# Researchers have argued about this: [one paper says that attention is not explanation](https://arxiv.org/abs/1902.10186), [another that it depends on what you call an explanation](https://arxiv.org/abs/1908.04626). To find out whether a token matters, a more reliable way is to try: change it or take it away, and see whether the answer moves.

# %% [markdown] lang="zh-Hant" key="catch" tags=[]
# ## 4.6　抓出壞掉的注意力（深入）
#
# 注意力的程式會錯，而且錯得很安靜：形狀都對，數字看起來也像樣，模型只是莫名其妙學不好。這裡關著一群注意力，每一個壞的只錯一個地方，都是真正的程式犯過的錯；裡面也混了幾個寫法特別、其實正確的。

# %% [markdown] lang="en" key="catch" of="071c6ea76f1c" tags=[]
# ## 4.6　Catch the broken attention (deeper)
#
# Attention code goes wrong, and quietly: all shapes are right, the numbers look plausible, and the model just learns badly, nobody knows why. Here is a whole zoo of attentions. Each broken one is wrong in a single way, and real code has had every one of these faults; among them are some that look unusual and are right.

# %% [markdown] lang="zh-Hant" key="catch-broken" tags=[]
# **練習**　抓出壞掉的注意力（20 分鐘，難度 3／3）
#
# 寫一個函式當偵探：它拿到一個 `attend`，可以用任何輸入呼叫 `attend(Q, K, V, mask)` 和 `attend(Q, K, V)`，認為正確就回傳 `True`，有錯就回傳 `False`。`mask` 的種類和上面「完整的注意力」一樣。檢查會告訴你抓到幾個、還有誰在逃；只要冤枉一個好的，就不算通過。卡住了，就執行 `al.hint("catch_broken")`。

# %% [markdown] lang="en" key="catch-broken" of="4274b061e234" tags=[]
# **Exercise**　Catch the broken attention (20 minutes, difficulty 3 of 3)
#
# Write the detective: a function that is handed one `attend`, may call `attend(Q, K, V, mask)` and `attend(Q, K, V)` with any input, and returns `True` where it finds nothing wrong and `False` where it does. `mask` may be anything that it may be in "All of attention" above. The check says how many you caught and who is still at large; accuse a single right one, and you have not passed. Stuck? Run `al.hint("catch_broken")`.

# %% key="exercise-catch-broken" tags=[]
def catch_broken(attend):  # → True, False
    ...


al.check.catch_broken(catch_broken)

# %% [markdown] lang="zh-Hant" key="recap" tags=["core"]
# ## 4.7　帶得走的四句話
#
# - softmax 把分數的差變成權重的倍數；減去最大值不改變任何權重，只防止溢位。
# - 輸出是值的加權總和，算數的是權重乘上值。
# - 整個注意力是一個式子：$\operatorname{softmax}(\operatorname{mask}(Q K^\top / \sqrt{d_k}))\, V$。
# - 12 個 $(1024, 64)$ 串接成 $(1024, 768)$，再由 $W_O$ 合起來；頭變多，參數不會變多。
#
# 接下來，活動 6 讓許多頭各看各的（多頭注意力，multi-head attention），活動 7 加上殘差連接、正規化和 MLP，組成 Transformer 區塊，疊 12 次就是 ANDREA-120M 的主體。

# %% [markdown] lang="en" key="recap" of="eca6f84996b8" tags=["core"]
# ## 4.7　Four sentences to take along
#
# - Softmax turns differences of scores into ratios of weights; subtracting the maximum changes no weight, it only prevents overflow.
# - The output is a weighted sum of values; what counts is weight times value.
# - All of attention is one expression: $\operatorname{softmax}(\operatorname{mask}(Q K^\top / \sqrt{d_k}))\, V$.
# - Twelve times $(1024, 64)$ are concatenated to $(1024, 768)$, and $W_O$ brings them together; more heads do not mean more parameters.
#
# Next, activity 6 lets many heads each look for themselves (multi-head attention); activity 7 adds the residual connection, the normalization and the MLP to make a Transformer block. Twelve of those are the body of ANDREA-120M.

# %% [markdown] lang="zh-Hant" key="quiz" tags=[]
# **小測驗**　三題，選好按「回答」。答錯會告訴你哪裡不對，可以再選；答對的會記下來，用 `al.progress()` 看得到。

# %% [markdown] lang="en" key="quiz" of="4c38248c7618" tags=[]
# **Quiz**　Three questions: choose, then press "Answer". A wrong choice is explained, and you may choose again; right answers are kept, and `al.progress()` shows them.

# %% key="quiz-questions" tags=[]
al.quiz("04")

# %% [markdown] lang="zh-Hant" key="count" tags=[]
# ## A.　附錄：參數有幾個
#
# 把整個模型的參數數一遍。輸入的嵌入（embedding）和輸出端各有一張 $V_{\text{size}} \times d_{\text{model}}$ 的表（$V_{\text{size}}$ 是詞彙表的大小），位置嵌入（position embedding）是 $T \times d_{\text{model}}$；每一層的注意力有 $W_Q$、$W_K$、$W_V$、$W_O$ 四個 $d_{\text{model}}^2$，MLP 有八個。
#
# $$2\, V_{\text{size}}\, d_{\text{model}} + T\, d_{\text{model}} + n_{\text{layer}} \cdot 12\, d_{\text{model}}^2$$
#
# **先猜猜看**　ANDREA-120M 的參數裡，屬於注意力的占多少？寫一個 0 到 1 之間的數。

# %% [markdown] lang="en" key="count" of="4b3b54f91be7" tags=[]
# ## A.　Appendix: counting parameters
#
# Count the parameters of a whole model. The input embedding and the output each have a table of $V_{\text{size}} \times d_{\text{model}}$ ($V_{\text{size}}$ is the size of the vocabulary), the position embedding is $T \times d_{\text{model}}$; in each layer attention has four times $d_{\text{model}}^2$, namely $W_Q$, $W_K$, $W_V$ and $W_O$, and the MLP has eight.
#
# $$2\, V_{\text{size}}\, d_{\text{model}} + T\, d_{\text{model}} + n_{\text{layer}} \cdot 12\, d_{\text{model}}^2$$
#
# **Guess first**　What share of the parameters of ANDREA-120M belongs to attention? Write a number between 0 and 1.

# %% key="count-guess" tags=[]
guess = None  # 0 … 1

# %% key="count-table" tags=[]
small, medium, large = al.FAMILY
sizes = [
    (small, small.vocabulary),
    (medium, medium.vocabulary),
    (large, 8449),
    (large, 16641),
]
counts = [al.count_parameters(m.d_model, m.n_layer, m.T, size) for m, size in sizes]
in_attention = [m.n_layer * 4 * m.d_model**2 for m, _ in sizes]

al.show(guess=guess, measured=in_attention[1] / counts[1])
al.table(
    model=[m.name for m, _ in sizes],
    vocabulary=[size for _, size in sizes],
    counted=counts,
    published=[m.published_n_params for m, _ in sizes],
    attention_share=[part / count for part, count in zip(in_attention, counts, strict=True)],
)

# %% [markdown] lang="zh-Hant" key="count-claim" tags=[]
# 前兩個模型算出來的個數，和公布的數字前三位都吻合，所以輸入和輸出的嵌入看來是分開的，也沒有偏差項（bias）；就算多了幾個正規化用的增益（gain），數字也還對得上。「120M」只是名字，實際上是 9,870 萬個左右。480M 的詞彙表有兩種說法，這裡兩種都列。公布的是約數，第一種比較接近，但這不算證明，所以只說**大約** 4.8 億。
#
# 每一層裡，注意力占 12 份中的 4 份，MLP 占 8 份；再加上嵌入，注意力的比例就低於三分之一。還要注意公式裡沒有 $n_{\text{head}}$：頭的個數不影響參數。縮放、遮罩、softmax 和加權總和也沒有任何參數，模型要學的全在那些矩陣裡。

# %% [markdown] lang="en" key="count-claim" of="5a8beb5a313a" tags=[]
# The first two meet the published numbers to three digits, so the input and output embeddings seem to be separate and biases absent; a few normalization gains would fit as well. "120M" is only a name; the model has about 98.7 million parameters. For 480M there are two accounts of the vocabulary, and both are listed. The published count is a rounded one; the first account comes closer to it, but that proves nothing, so let us say **about** 480 million.
#
# In each layer attention has 4 shares out of 12 and the MLP has 8; with the embeddings added, the share of attention falls below one third. Note also that $n_{\text{head}}$ does not appear: the number of heads has no influence. Nor do scaling, mask, softmax and weighted sum have any parameters; everything the model learns is in the matrices.
