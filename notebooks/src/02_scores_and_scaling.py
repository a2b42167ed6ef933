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
# # 2　分數與縮放
#
# **這一課要學會的事**
#
# - 讀懂分數矩陣：哪一列（row）是誰在問，哪一行（column）是誰在答；算出 ANDREA-120M 的一個頭要算多少個分數。
# - 寫得出 softmax，說得出它的性質。
# - 用自己量到的數字，解釋分數為什麼要除以 $\sqrt{d_k}$。
# - 分清楚縮放做到了什麼，又有什麼不是它的功勞（深入的小節）。
#
# **事先要會的**　第 1 課的查詢、鍵、值；知道平均值、變異數、標準差是什麼。
#
# **時間**　只走主線約 12 分鐘，全部約 55 分鐘，其中練習占 15 分鐘。
#
# 先執行下一格；重新啟動核心以後，也要先執行它。

# %% [markdown] lang="en" key="title" of="cd0d92d00296" tags=["core"]
# # 2　Scores and scaling
#
# **What you will be able to do**
#
# - Read the score matrix: whose question a row is, whose answer a column; count the scores of an ANDREA-120M head.
# - Write softmax down and name its properties.
# - Explain with your own measurements why scores are divided by $\sqrt{d_k}$.
# - Tell what scaling achieves from what it is wrongly credited with (deeper path).
#
# **What you bring along**　Query, key and value from lesson 1; mean, variance and standard deviation.
#
# **Time**　About 12 minutes for the main path, about 55 for everything, of which the exercises take 15.
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

# %% [markdown] lang="zh-Hant" key="matrix" tags=["core"]
# ## 2.1　分數矩陣
#
# 第 1 課的每個查詢（query）$q_i$，現在都和每個鍵（key）$k_j$ 碰一次面，兩個向量的點積（dot product）就叫作分數（score）。所有的分數排成一張表：
#
# $$\text{scores} = Q K^\top \qquad \text{scores}_{ij} = q_i \cdot k_j$$
#
# 列（row）是橫的：第 $i$ 列是第 $i$ 個查詢在問。行（column）是直的：第 $j$ 行是第 $j$ 個鍵在答。
#
# 還是那六個詞元（token）：「小安 去 圖書館 借 書 看」，矩陣仍然是人工設定的。從這一課起**從 0 數起**：「小安」是第 0 個，「看」是第 5 個。
#
# **先猜猜看**
#
# 1. 六個詞元一共有幾個分數？
# 2. 「看」給「書」的分數，和「書」給「看」的分數一樣嗎？填 `True`（是）或 `False`（否）。
# 3. ANDREA-120M 的上下文長度（context length）是 1024 個詞元，一個注意力頭（attention head）要算多少個分數？

# %% [markdown] lang="en" key="matrix" of="3660ad12d39e" tags=["core"]
# ## 2.1　The score matrix
#
# Every query $q_i$ of lesson 1 now meets every key $k_j$; their dot product is called a score. All scores make a table:
#
# $$\text{scores} = Q K^\top \qquad \text{scores}_{ij} = q_i \cdot k_j$$
#
# Row $i$ (across) is query $i$ asking; column $j$ (down) is key $j$ answering.
#
# The six tokens are still "Ann visits library borrows book reads", their matrices set by hand. From here on we **count from 0**: "Ann" is 0, "reads" 5.
#
# **Guess first**
#
# 1. How many scores do six tokens have?
# 2. Does "reads" give "book" the same score as "book" gives "reads"? Write `True` (yes) or `False` (no).
# 3. How many does one head of ANDREA-120M compute over its context of 1024 tokens?

# %% key="matrix-guess" tags=["core"]
my_answers = {1: None, 2: None, 3: None}

# %% key="matrix-code" tags=["core"]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)  # (6, 4), (6, 4), (6, 3)
T = len(example.tokens)

scores = np.empty((T, T))
for i in range(T):
    for j in range(T):
        scores[i, j] = Q[i] @ K[j]  # (4,) @ (4,) = ()

al.show(one_product=np.array_equal(scores, Q @ K.T))  # (6, 4) @ (4, 6) = (6, 6)
al.table(
    question=[1, 2, 3],
    guess=[al.answer(my_answers, n) for n in (1, 2, 3)],
    measured=[scores.size, scores[5, 4] == scores[4, 5], al.ANDREA_120M.T**2],
)

# %% key="matrix-figure" tags=["core"]
plotting.plot_scores(scores, tokens=example.tokens);

# %% [markdown] lang="zh-Hant" key="matrix-claim" tags=["core"]
# 橫著讀一列，是同一個詞元對大家的評分：「看」這一列，最高分給了「書」。直著讀一行，是大家對同一個詞元的評分。「看」找「書」和「書」找「看」是兩個不同的問題，分數也就不同。
#
# 實際上，兩層迴圈就是一次矩陣乘法 $QK^\top$。1024 個詞元就有一百萬格；詞元變成兩倍，格子變成四倍：長文章貴就貴在這張表。

# %% [markdown] lang="en" key="matrix-claim" of="0cfe4be940dc" tags=["core"]
# A row shows how one token rates all: in the row of "reads", "book" scores highest. A column shows how all rate one token. "reads" looking for "book" and "book" looking for "reads" are two questions with two scores.
#
# In practice the double loop is one matrix product, $QK^\top$. 1024 tokens make a million cells, twice as many tokens four times the cells: hence the price of long texts.

# %% [markdown] lang="zh-Hant" key="matrix-andrea-question" tags=[]
# **深入，再猜一次**　看看整個 ANDREA-120M。
#
# 1. 12 層、每層 12 個頭，一次前向傳播（forward pass）全部要算多少個分數？
# 2. 下一課的因果遮罩（causal mask）只准每個位置看自己和前面。一個頭的分數裡，還剩多少個用得到？

# %% [markdown] lang="en" key="matrix-andrea-question" of="8b446eef4ce2" tags=[]
# **Deeper, guess again**　Look at all of ANDREA-120M.
#
# 1. How many scores does a forward pass compute in 12 layers of 12 heads?
# 2. The causal mask of the next lesson lets each position see itself and what came before. How many scores of one head are still of use?

# %% key="matrix-andrea-guess" tags=[]
my_counts = {1: None, 2: None}

# %% key="matrix-andrea" tags=[]
model = al.ANDREA_120M
heads = model.n_layer * model.n_head

al.show(heads_in_all=heads)
al.table(
    question=[1, 2],
    guess=[al.answer(my_counts, n) for n in (1, 2)],
    measured=[heads * model.T**2, al.causal_mask(model.T).sum()],
)

# %% [markdown] lang="zh-Hant" key="matrix-recap" tags=[]
# 整個模型有一億五千萬個分數。遮罩留下的比一半多一點，多出來的正好是對角線的一半。

# %% [markdown] lang="en" key="matrix-recap" of="49cdaf17daca" tags=[]
# The whole model has a hundred and fifty million scores. The mask leaves a little more than half of them, and the surplus is exactly half the diagonal.

# %% [markdown] lang="zh-Hant" key="cell" tags=[]
# ## 2.2　拆開一格
#
# 表裡的每一格都是同一套做法。拿「看」找「圖書館」這一格來拆：
#
# $$q \cdot k = \sum_{c} q_c\, k_c$$
#
# 先讓對應的數兩兩相乘，記作 $q \odot k$；再全部加起來，就是分數；最後除以 $\sqrt{d_k}$，就是縮放後的分數（scaled score）。這個例子的 $d_k = 4$，四個分量依序叫作「誰」「哪裡」「什麼」「做什麼」。
#
# **先猜猜看**　「看」找「圖書館」的時候，哪個分量（component）出的力最多？從 0 數起，填 0 到 3。

# %% [markdown] lang="en" key="cell" of="a6cd321c66f3" tags=[]
# ## 2.2　One cell taken apart
#
# Every cell of the table is made the same way. Take the one where "reads" looks for "library":
#
# $$q \cdot k = \sum_{c} q_c\, k_c$$
#
# First multiply matching components, written $q \odot k$; add them all up, and that is the score; then divide by $\sqrt{d_k}$, and that is the scaled score. In this example $d_k = 4$, and the four components are called "who", "where", "what" and "doing", in this order.
#
# **Guess first**　When "reads" looks for "library", which component contributes most? Count from 0 and write 0 to 3.

# %% key="cell-guess" tags=[]
guess = None  # 0, 1, 2, 3

# %% key="cell-code" tags=[]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
q, k = Q[5], K[2]  # (4,), (4,)

products = q * k  # (4,)
score = products.sum()  # ()
scaled_score = score / np.sqrt(len(k))  # ()

steps = al.attention_steps(Q, K, V)
al.show(
    guess=guess,
    measured=products.argmax(),
    dot_product=score,
    divided_by_root=scaled_score,
    agrees=np.allclose([score, scaled_score], [steps.scores[5, 2], steps.scaled_scores[5, 2]]),
)
al.table(scores_component=example.key_axes, **{"q": q, "k": k, "q ⊙ k": products})

# %% [markdown] lang="zh-Hant" key="cell-claim" tags=[]
# 問的人在意、答的人也有，這樣的分量才會出力；任何一邊是 0，乘起來就是 0。「圖書館」有一點「什麼」的成分，而「看」最在意「什麼」，所以這個分量出力最多，雖然「圖書館」主要的招牌其實是「哪裡」。
#
# 再留意一件事：把 $q$ 放大成 2 倍，它那一整列的分數都變成 2 倍。分數有多大，不只看兩個向量合不合，**也看它們有多長**。這件事從 2.4 開始會變得很要緊。

# %% [markdown] lang="en" key="cell-claim" of="c717203dd839" tags=[]
# Only components that the asker cares about *and* the answerer has contribute; where either is 0, the product is 0. "library" has a bit of "what", and "what" is what "reads" cares about most, so this component contributes most, although the main sign of "library" is "where".
#
# Notice one more thing: make $q$ twice as long, and its whole row of scores doubles. How large a score is depends not only on how well the two vectors agree **but also on how long they are**. From 2.4 on this will matter a great deal.

# %% [markdown] lang="zh-Hant" key="cell-play" tags=[]
# **動手玩**　下面左邊是整張分數表，右邊把框起來的那一格拆開：上面是 $q$ 和 $k$，中間是 $q \odot k$，最下面一項一項加起來。
#
# **先猜猜看**　先記在紙上，再動手。
#
# 1. 整張表分數最高的那一格，有幾個分量出了力？點那一格看看。
# 2. 「資料」換成「隨機向量」，每個向量有 64 個分量。一項一項加起來，會一路往同一邊走，還是忽上忽下？

# %% [markdown] lang="en" key="cell-play" of="d29161d96a7d" tags=[]
# **Play**　On the left is the whole table of scores; on the right the framed cell is taken apart: above $q$ and $k$, then $q \odot k$, and at the bottom the products added up one by one.
#
# **Guess first**　Note your answers on paper, then try.
#
# 1. How many components contribute to the cell with the highest score of all? Click it.
# 2. Set "vectors" to "Random vectors", which have 64 components each. Added up one by one, do the products go one way all along, or up and down?

# %% key="cell-figure" tags=[]
panels.figure(panels.scores_panel, source="example")

# %% key="cell-panel" tags=[]
panels.scores_panel(source="example")

# %% [markdown] lang="zh-Hant" key="cell-answer" tags=[]
# 只有一個。「圖書館」的查詢和「看」的鍵都只有「做什麼」不是 0，可是兩邊都夠大，這一項就拿下了全表最高分。
#
# 隨機向量的累加忽上忽下：乘積有正有負，大半互相抵消。64 項加起來到底會有多大，2.4 來量。

# %% [markdown] lang="en" key="cell-answer" of="3e6df7fc3fc2" tags=[]
# Just one. In the query of "library" and in the key of "reads" only "doing" is not 0, but both are large, and this one term makes the highest score in the table.
#
# For random vectors the sum goes up and down: products are positive or negative, and most of them cancel. How large the sum of 64 becomes is measured in 2.4.

# %% [markdown] lang="zh-Hant" key="softmax" tags=["core"]
# ## 2.3　softmax：分數變成權重
#
# 分數可正可負，總和也不固定，不能直接拿來分配注意力（attention）。softmax 把一列分數 $s$ 變成一列注意力權重（attention weight）$w$：
#
# $$w_j = \frac{e^{s_j}}{\sum_m e^{s_m}}$$
#
# 拿「看」那一列來試。分數先除以 $\sqrt{d_k} = \sqrt{4}$，這叫作縮放後的分數（scaled score）；為什麼要除，2.4 再說。

# %% [markdown] lang="en" key="softmax" of="356134a65aab" tags=["core"]
# ## 2.3　Softmax: from scores to weights
#
# Scores may be negative and sum to anything, so they cannot share out attention. Softmax turns a row of scores $s$ into a row of attention weights $w$:
#
# $$w_j = \frac{e^{s_j}}{\sum_m e^{s_m}}$$
#
# Try the row of "reads". Its scores are first divided by $\sqrt{d_k} = \sqrt{4}$, which makes them scaled scores; 2.4 shows why.

# %% key="softmax-code" tags=["core"]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
row = Q[5] @ K.T / np.sqrt(4)  # (6,)

exponentials = np.exp(row)  # (6,)
weights = exponentials / exponentials.sum()  # (6,)

al.show(
    scaled_scores=row,
    weights=weights,
    smallest_weight=weights.min(),
    row_sum=weights.sum(),
    order_kept=np.array_equal(np.argsort(row, kind="stable"), np.argsort(weights, kind="stable")),
    agrees=np.allclose(weights, al.softmax(row)),
)

# %% [markdown] lang="zh-Hant" key="softmax-change" tags=[]
# **深入，先猜猜看**　下面的改法會改變「看」那一列的權重嗎？填 `True`（是）或 `False`（否）。
#
# 1. 六個縮放後的分數都加上 100。
# 2. 六個都乘以 4。

# %% [markdown] lang="en" key="softmax-change" of="5ed3c18f2a6a" tags=[]
# **Deeper, guess first**　Does this alter the weights in the row of "reads"? Write `True` (yes) or `False` (no).
#
# 1. Add 100 to all six scaled scores.
# 2. Multiply all six by 4.

# %% key="softmax-guess" tags=[]
my_answers = {1: None, 2: None}

# %% key="softmax-measure" tags=[]
changed = [row + 100, row * 4]  # (6,), (6,)
al.table(
    question=[1, 2],
    guess=[al.answer(my_answers, n) for n in (1, 2)],
    measured=[not np.allclose(al.softmax(s), al.softmax(row)) for s in changed],
)

# %% [markdown] lang="zh-Hant" key="softmax-ratio" tags=[]
# 再量一件事：兩個分數差多少，權重就差幾倍？

# %% [markdown] lang="en" key="softmax-ratio" of="b77f3e8cda01" tags=[]
# Measure one more thing: how large a gap between two scores makes how large a ratio of weights?

# %% key="softmax-gaps" tags=[]
gaps = [0, 1, 2, 4, 8]
pairs = [al.softmax([gap, 0]) for gap in gaps]  # (2,)
al.table(score_gap=gaps, weight_ratio=[pair[0] / pair[1] for pair in pairs])

# %% [markdown] lang="zh-Hant" key="softmax-claim" tags=["core"]
# 權重都大於 0，總和是 1，大小順序也保留下來。
#
# 所有分數都加上 $c$，分子、分母就都多了 $e^{c}$，約掉了。softmax 只在意**分數差**：
#
# $$\frac{w_a}{w_b} = e^{s_a - s_b}$$
#
# 相差 1，權重相差不到 3 倍；相差 8，就將近 3000 倍。分數全部放大，權重就更尖銳；全部除以一個數，權重就更平均。這個除數叫作溫度（temperature），$\sqrt{d_k}$ 就是一種溫度。

# %% [markdown] lang="en" key="softmax-claim" of="aaeff9a1b004" tags=["core"]
# All weights exceed 0, they sum to 1, and the order is kept.
#
# Add $c$ to all scores, and a factor $e^{c}$ cancels. Softmax cares only about **gaps between scores**:
#
# $$\frac{w_a}{w_b} = e^{s_a - s_b}$$
#
# A gap of 1 makes a factor below 3, a gap of 8 almost 3000. Stretched scores make peaked weights; divided ones, more even weights. Such a divisor is called a temperature; $\sqrt{d_k}$ is one.

# %% [markdown] lang="zh-Hant" key="softmax-temperature" tags=[]
# **深入**　溫度通常寫成 $\tau$：$\text{softmax}(s/\tau)$。溫度高，權重平均；溫度低，權重尖銳。
#
# 下圖是「看」那一列**還沒縮放**的分數，在五種溫度下的權重，一列一種 $\tau$。$\tau = 2$ 那一列就是除以 $\sqrt{d_k} = \sqrt{4}$ 的結果。改改看 `temperatures` 裡的數字，再執行一次。

# %% [markdown] lang="en" key="softmax-temperature" of="89ff58fa1d38" tags=[]
# **Deeper**　The temperature is usually written $\tau$: $\text{softmax}(s/\tau)$. Hot means even weights, cold means peaked ones.
#
# The figure shows the **unscaled** scores in the row of "reads" turned to weights at five temperatures, a row for each $\tau$. The row $\tau = 2$ is what dividing by $\sqrt{d_k} = \sqrt{4}$ gives. Change the numbers in `temperatures` and run the cell again.

# %% key="softmax-temperature-figure" tags=[]
temperatures = [8, 4, 2, 1, 0.5]
hot_to_cold = np.stack([al.softmax(Q[5] @ K.T / tau) for tau in temperatures])  # (5, 6)
plotting.plot_weights(
    hot_to_cold,
    tokens=[f"τ = {tau:g}" for tau in temperatures],
    key_tokens=example.tokens,
    title="softmax(s / τ)",
).set_ylabel("");

# %% [markdown] lang="zh-Hant" key="softmax-recap" tags=[]
# 名字分清楚：**分數**在 softmax 之前，**權重**在 softmax 之後。整張權重表在公式和程式裡常寫成 $A$，其中一格 `A[i][j]` 就是這裡的 `weights[i, j]`。至於分數很大的時候 $e^{s}$ 怎麼不會溢位，第 4 課再仔細看。

# %% [markdown] lang="en" key="softmax-recap" of="6f9c36986a7f" tags=[]
# Keep the names apart: **scores** come before softmax, **weights** after. In formulas and programs the table of weights is often called $A$; its cell `A[i][j]` is `weights[i, j]` here. How $e^{s}$ is kept from overflowing when scores are large is for lesson 4.

# %% [markdown] lang="zh-Hant" key="root" tags=["core"]
# ## 2.4　$d_k$ 變大，分數會變多大
#
# 剛才的向量只有 4 個分量（component），分數最大也不過 10 左右。ANDREA-120M 的每頭維度是 $d_k = 64$，分數會變多大？
#
# 拿亂數當尺來量：查詢和鍵的每個分量都獨立，取自平均值 0、變異數 1 的常態分布（normal distribution）。每個 $d_k$ 各抽 1000 對。
#
# **先猜猜看**　$d_k$ 從 4 變到 4096，分數的標準差（standard deviation）會怎麼變？畫出你猜的曲線，再按「就這麼猜」。兩條軸都是對數的：距離一樣，就是倍數一樣。

# %% [markdown] lang="en" key="root" of="51045b26cef9" tags=["core"]
# ## 2.4　How large scores get as $d_k$ grows
#
# So far vectors had 4 components and scores up to about 10. In ANDREA-120M $d_k = 64$: how large do scores become?
#
# Measure with random numbers: components of queries and keys are independent and normal, with mean 0 and variance 1. Each $d_k$ gets 1000 pairs.
#
# **Guess first**　As $d_k$ goes from 4 to 4096, how does the standard deviation of the scores change? Draw the curve you expect, then press "Commit my guess". Both axes are logarithmic: equal distances are equal factors.

# %% key="root-guess" tags=["core"]
d_ks = (4, 16, 64, 256, 1024, 4096)

al.guess_curve(
    "02_spread",
    d_ks,
    lambda d_ks=d_ks: experiments.score_spreads(d_ks).std,  # () → (6,)
    x_label="d_k",
    y_label="std",
    y_limits=(0.1, 10000),
    title="guess_spread",
    log_x=True,
    log_y=True,
)

# %% key="root-code" tags=["core"]
rng = np.random.default_rng(0)
widths = (64, 256, 4096)
scores = []
for d_k in widths:
    q, k = rng.standard_normal((2, 1000, d_k))  # (1000, d_k), (1000, d_k)
    scores.append((q * k).sum(axis=-1))  # (1000,)

al.table(
    d_k=widths,
    std=[s.std() for s in scores],
    predicted=np.sqrt(widths),
    mean_absolute=[np.abs(s).mean() for s in scores],
)

# %% [markdown] lang="zh-Hant" key="root-claim" tags=["core"]
# $d_k$ 變成 4 倍，分數只變成 2 倍；它跟著 $\sqrt{d_k}$ 走。因為獨立的數相加，**變異數（variance）會相加**：
#
# - 每個乘積 $q_c\, k_c$ 的平均值是 0，變異數是 1。
# - $d_k$ 個乘積加起來，變異數是 $d_k$，標準差就是 $\sqrt{d_k}$。
#
# 好比走路，每一步隨機往前或往後：走 64 步，離起點只有 8 步左右。既然如此，除以 $\sqrt{d_k}$，標準差就回到 1，不管 $d_k$ 是多少。

# %% [markdown] lang="en" key="root-claim" of="e8163650faf9" tags=["core"]
# Four times the $d_k$, twice the scores: they follow $\sqrt{d_k}$. When independent numbers are added, **their variances add**:
#
# - Each product $q_c\, k_c$ has mean 0 and variance 1.
# - Adding all $d_k$ gives variance $d_k$, so standard deviation $\sqrt{d_k}$.
#
# A walker whose steps go forwards or backwards at random is, after 64, only about 8 from the start. Dividing by $\sqrt{d_k}$ brings the standard deviation back to 1, whatever $d_k$ is.

# %% [markdown] lang="zh-Hant" key="root-curve" tags=[]
# **深入**　表裡最右邊那一欄是分數絕對值的平均，比標準差再小一點。
#
# 多量幾種 $d_k$，和理論畫在一起。這次故意每次只抽 100 對，但是重抽 100 次：點是這 100 個標準差的中位數，色帶是信賴帶（confidence band），裝下其中最中間的 95 個。單憑運氣會差多少，看色帶有多寬就知道。

# %% [markdown] lang="en" key="root-curve" of="8c614db2b771" tags=[]
# **Deeper**　The rightmost column of the table is the mean absolute score, a little smaller than the standard deviation.
#
# Measure more values of $d_k$ and draw them with the theory. This time a draw has only 100 pairs, on purpose, but there are 100 draws: the dot is the median of these 100 standard deviations, and the confidence band holds the middle 95 of them. Its width shows how far chance alone can stray.

# %% key="root-figure" tags=[]
widths = (1, 4, 16, 64, 256, 1024, 4096)
plotting.plot_growth(experiments.score_spreads(widths, pairs=100, draws=100));

# %% [markdown] lang="zh-Hant" key="root-unit" tags=[]
# **再猜一次**　先把每個隨機向量的長度都縮成 1，變成單位向量（unit vector），再做點積。$d_k$ 變大時，分數的標準差會變大（填 1）、不變（填 0），還是變小（填 -1）？

# %% [markdown] lang="en" key="root-unit" of="5f8a736771af" tags=[]
# **Guess again**　First bring every random vector to length 1, so that it is a unit vector, and then take dot products. As $d_k$ grows, does the standard deviation of the scores grow (write 1), stay (write 0) or shrink (write -1)?

# %% key="root-unit-guess" tags=[]
guess = None  # 1, 0, -1

# %% key="root-unit-code" tags=[]
widths = (64, 256, 4096)
components = experiments.score_spreads(widths)
unit = experiments.score_spreads(widths, components="unit-vectors")

al.show(guess=guess, measured=int(np.sign(unit.std[-1] - unit.std[0])))
al.table(
    d_k=widths,
    std_unit_variance=components.std,
    std_unit_vectors=unit.std,
    predicted_unit_vectors=unit.predicted_std,
)

# %% [markdown] lang="zh-Hant" key="root-unit-claim" tags=[]
# 反而變小，跟著 $1/\sqrt{d_k}$ 走：維度越高，兩個隨機的方向越接近垂直。「每個分量的變異數是 1」和「整個向量的長度是 1」是兩回事：前者的長度大約是 $\sqrt{d_k}$，長度各為 $\sqrt{d_k}$ 的兩個向量，點積自然是單位向量的 $d_k$ 倍。

# %% [markdown] lang="en" key="root-unit-claim" of="5b9797732e2d" tags=[]
# It shrinks, following $1/\sqrt{d_k}$: the higher the dimension, the closer two random directions are to a right angle. "Every component has variance 1" is not "the whole vector has length 1": vectors of the first kind are about $\sqrt{d_k}$ long, and two vectors of length $\sqrt{d_k}$ each have a dot product $d_k$ times that of unit vectors.

# %% [markdown] lang="zh-Hant" key="root-sigma" tags=[]
# **再猜一次**　要是分量的變異數不是 1 呢？讓查詢的分量標準差是 2，鍵的是 3，$d_k = 64$。分數的標準差大約是多少？

# %% [markdown] lang="en" key="root-sigma" of="36dc07890ccf" tags=[]
# **Guess again**　And if the components do not have variance 1? Let those of queries have standard deviation 2, those of keys 3, and $d_k = 64$. Roughly what is the standard deviation of the scores?

# %% key="root-sigma-guess" tags=[]
guess = None  # 0 …

# %% key="root-sigma-code" tags=[]
wide = experiments.score_spreads((64,), sigma_q=2, sigma_k=3)
al.show(
    guess=guess,
    measured=wide.std[0],
    predicted=wide.predicted_std[0],
    divided_by_root=wide.std[0] / np.sqrt(64),
)

# %% [markdown] lang="zh-Hant" key="root-sigma-claim" tags=[]
# 量到的跟著 $\sigma_q\, \sigma_k \sqrt{d_k}$ 走：兩邊的標準差和 $\sqrt{d_k}$ 全部相乘。除以 $\sqrt{d_k}$ 只拿掉 $d_k$，剩下的 $\sigma_q\, \sigma_k$ 原封不動。向量自己變長，縮放管不著；2.7 會再碰到這件事。

# %% [markdown] lang="en" key="root-sigma-claim" of="6ba0c054dec5" tags=[]
# It follows $\sigma_q\, \sigma_k \sqrt{d_k}$: both standard deviations and $\sqrt{d_k}$ multiplied together. Dividing by $\sqrt{d_k}$ takes out $d_k$ and nothing else; $\sigma_q\, \sigma_k$ stays. Scaling has no say in how long the vectors are, which will come up again in 2.7.

# %% [markdown] lang="zh-Hant" key="root-paper" tags=["core"]
# **常見的誤會**　「兩個隨機單位向量（unit vector，長度是 1）的點積，大小約是 $\sqrt{d}$。」那是分量的變異數為 1 的向量；單位向量的點積反而隨 $1/\sqrt{d}$ 變小。
#
# **論文怎麼說**　[Attention Is All You Need](https://arxiv.org/abs/1706.03762) 第 3.2.1 節和註腳 4 也用上面那段變異數的推導。作者看到：$d_k$ 大的時候，不縮放的點積注意力輸給加法注意力（additive attention）。他們**懷疑**是 softmax 的梯度（gradient）變得極小。2.5 量得到其中一半：梯度變得多小；至於那是不是輸的原因，這裡量不到。

# %% [markdown] lang="en" key="root-paper" of="32816d22d340" tags=["core"]
# **A common mistake**　"The dot product of random unit vectors (of length 1) is about $\sqrt{d}$." That holds for components of variance 1; for unit vectors it shrinks like $1/\sqrt{d}$.
#
# **The paper**　Section 3.2.1 of [Attention Is All You Need](https://arxiv.org/abs/1706.03762) and its footnote 4 argue with variances as above. For large $d_k$, unscaled dot-product attention was seen to lose to additive attention; the authors **suspect** that softmax's gradients become extremely small. 2.5 measures half of that: how small they become, not whether they are the cause.

# %% [markdown] lang="zh-Hant" key="root-divisor" tags=[]
# **深入**　要是除數用錯了呢？取 ANDREA-120M 的尺寸：$d_{\text{model}} = 768$，$d_k = 64$，1024 個隨機的查詢對 1024 個隨機的鍵。除以 $\sqrt{d_k}$，標準差是 1。
#
# **先猜猜看**　有人誤除以 $\sqrt{d_{\text{model}}}$，或者忘了開根號，直接除以 $d_k$，標準差各會變成多少？

# %% [markdown] lang="en" key="root-divisor" of="365b84a01242" tags=[]
# **Deeper**　And if you divide by the wrong number? Take the sizes of ANDREA-120M: $d_{\text{model}} = 768$, $d_k = 64$, with 1024 random queries and 1024 random keys. Divided by $\sqrt{d_k}$, the scores have standard deviation 1.
#
# **Guess first**　Somebody divides by $\sqrt{d_{\text{model}}}$ by mistake, or forgets the root and divides by $d_k$: what does the standard deviation become?

# %% key="root-divisor-guess" tags=[]
my_spreads = {"√d_model": None, "d_k": None}

# %% key="root-divisor-code" tags=[]
model = al.ANDREA_120M
Q, K, V = experiments.random_qkv(model.T, model.d_k)  # (1024, 64)
scores = Q @ K.T  # (1024, 1024)

divisors = {
    "√d_model": np.sqrt(model.d_model),
    "d_k": model.d_k,
    "√d_k": np.sqrt(model.d_k),
}
al.table(
    divisor=list(divisors),
    divisor_value=list(divisors.values()),
    guess=[*(al.answer(my_spreads, name) for name in ("√d_model", "d_k")), ""],
    std=[(scores / divisor).std() for divisor in divisors.values()],
)

# %% [markdown] lang="zh-Hant" key="root-overflow" tags=[]
# 除數用錯，照樣算得出結果，程式也不會報錯，只是分數縮得太小，權重幾乎平均，所以常常很久都沒人發現。點積加的是 $d_k$ 個乘積，該除的就是 $\sqrt{d_k}$。
#
# **縮放能防溢位嗎？**　常有人說，縮放是為了不讓 $e^{s}$ 溢位（overflow）。拿單精度（float32）的三個分數 800、0、−800，試兩種做法。
#
# **先猜猜看**　哪一種會出現 NaN？填 1 或 2。
#
# 1. 除以 8，但不減最大值。
# 2. 不除，但先減掉最大值。

# %% [markdown] lang="en" key="root-overflow" of="fb9134e7e64e" tags=[]
# The wrong divisor gives a result too, and no program complains; only the scores become too small and the weights almost even, so it can go unnoticed for long. A dot product adds $d_k$ products, so what belongs there is $\sqrt{d_k}$.
#
# **Does scaling prevent overflow?**　It is often said that scaling is there to keep $e^{s}$ from overflowing. Take the three scores 800, 0, −800 in single precision (float32) and try two ways.
#
# **Guess first**　Which one gives NaN? Write 1 or 2.
#
# 1. Divide by 8, but do not subtract the maximum.
# 2. Do not divide, but subtract the maximum first.

# %% key="root-overflow-guess" tags=[]
guess = None  # 1, 2

# %% key="root-overflow-code" tags=[]
row = np.array([800, 0, -800], dtype="float32")  # (3,)
divided = experiments.softmax_without_shift(row / 8)
shifted = al.softmax(row)

al.show(
    guess=guess,
    measured=int(np.argmax([np.isnan(divided).any(), np.isnan(shifted).any()])) + 1,
    divided_not_shifted=divided,
    shifted_not_divided=shifted,
)

# %% [markdown] lang="zh-Hant" key="root-recap" tags=[]
# 所以不是。除以 8 還是溢位；不除、只減最大值，反而平安。防溢位靠的是減最大值（加減常數不影響權重，2.3 量過），縮放管的是分數的**散布**。兩件事各有各的工作。

# %% [markdown] lang="en" key="root-recap" of="a02e2a0815af" tags=[]
# So it is not. Divided by 8 it still overflows; not divided, with only the maximum subtracted, all is well. What prevents overflow is subtracting the maximum (adding a constant changes no weight, as 2.3 measured); what scaling governs is the **spread** of the scores. Each has its own job.

# %% [markdown] lang="zh-Hant" key="batch" tags=[]
# **練習**　一次算完整個批次的分數（6 分鐘，難度 2／3）
#
# 實際的模型一次算好幾句、好幾個頭，$Q$ 和 $K$ 的前面就多了批次（batch）和頭的軸。寫 `scaled_scores(Q, K)`：`Q` 的形狀是 `(..., T_q, d_k)`，`K` 是 `(..., T_k, d_k)`，前面有幾個軸都可以；回傳縮放後的分數，形狀是 `(..., T_q, T_k)`。2.1 的 `Q @ K.T` 在這裡還行得通嗎？要提示：`al.hint("scaled_scores")`。

# %% [markdown] lang="en" key="batch" of="d6a7756d8fc2" tags=[]
# **Exercise**　Scores of a whole batch at once (6 minutes, difficulty 2 of 3)
#
# A real model computes several sentences and several heads at once, so $Q$ and $K$ have axes for batch and head in front. Write `scaled_scores(Q, K)`: `Q` has the shape `(..., T_q, d_k)`, `K` has `(..., T_k, d_k)`, with any number of axes in front; return the scaled scores, of shape `(..., T_q, T_k)`. Does `Q @ K.T` from 2.1 still do? For a hint: `al.hint("scaled_scores")`.

# %% key="exercise-scaled-scores" tags=[]
def scaled_scores(Q, K):  # (..., T_q, d_k), (..., T_k, d_k) → (..., T_q, T_k)
    ...


al.check.scaled_scores(scaled_scores)

# %% [markdown] lang="zh-Hant" key="frozen" tags=["core"]
# ## 2.5　有效鍵數與凍結
#
# 分數差距一大，權重就擠到少數幾個鍵上。擠得多厲害，用熵（entropy）來量：$H = -\sum_j w_j \ln w_j$。$e^{H}$ 叫作**有效鍵數**（effective number of keys）：權重平分給 $n$ 個鍵，它就是 $n$；全部給了一個鍵，它就是 1。
#
# **先猜猜看**　一個查詢面對 1024 個鍵，$d_k = 64$，都是亂數。有效鍵數大約是多少？
#
# 1. 不縮放
# 2. 縮放

# %% [markdown] lang="en" key="frozen" of="7b6d1028481a" tags=["core"]
# ## 2.5　Effective keys and freezing
#
# Large gaps crowd the weights onto a few keys. Entropy says how few: $H = -\sum_j w_j \ln w_j$. Call $e^{H}$ the **effective number of keys**: shared evenly by $n$ keys it is $n$; with everything on one key, 1.
#
# **Guess first**　One query faces 1024 keys, $d_k = 64$, everything random. Roughly how many effective keys?
#
# 1. Without scaling
# 2. With scaling

# %% key="frozen-guess" tags=["core"]
my_keys = {1: None, 2: None}

# %% key="frozen-code" tags=["core"]
rng = np.random.default_rng(0)
Q = rng.standard_normal((64, 64))  # (T_q, d_k)
K = rng.standard_normal((1024, 64))  # (T_k, d_k)

medians = []
for divisor in (1, np.sqrt(64)):
    weights = al.softmax(Q @ K.T / divisor)  # (64, 1024)
    H = -(weights * np.log(weights)).sum(axis=-1)  # (64,)
    medians.append(np.median(np.exp(H)))
    assert np.allclose(np.exp(H), experiments.effective_keys(weights))

al.table(
    question=[1, 2],
    guess=[al.answer(my_keys, n) for n in (1, 2)],
    divisor=["1", "√d_k"],
    effective_keys=medians,
)

# %% [markdown] lang="zh-Hant" key="frozen-claim" tags=["core"]
# 這是 64 個查詢的中位數。不縮放，1024 個鍵裡真正有份的只有兩三個，是哪幾個全憑亂數。縮放以後，大約六成的鍵都有份；$T$ 個鍵的理論值是 $T/\sqrt{e}$，約 621。再換幾種 $d_k$：

# %% [markdown] lang="en" key="frozen-claim" of="b99eb34699a9" tags=["core"]
# Medians over 64 queries: raw, just two or three of 1024 keys really share, and chance decides which. Scaled, about six in ten do; theory says $T/\sqrt{e}$ of $T$ keys, about 621. Now vary $d_k$:

# %% [markdown] lang="zh-Hant" key="frozen-curve" tags=[]
# **深入，先猜猜看**　不縮放的話，$d_k$ 從 1 變到 1024，有效鍵數會怎麼變？鍵還是 1024 個。畫出曲線，再往下看。

# %% [markdown] lang="en" key="frozen-curve" of="c4f4d658b69e" tags=[]
# **Deeper, guess first**　Without scaling, how do the effective keys change as $d_k$ goes from 1 to 1024? There are 1024 keys as before. Draw the curve before you read on.

# %% key="frozen-curve-guess" tags=[]
d_ks = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

al.guess_curve(
    "02_effective_keys",
    d_ks,
    lambda d_ks=d_ks: experiments.freezing(d_ks, T=1024).raw,  # () → (11,)
    x_label="d_k",
    y_label="effective_keys",
    y_limits=(0.5, 2000),
    title="guess_keys",
    log_x=True,
    log_y=True,
)

# %% key="frozen-figure" tags=["core"]
widths = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
curves = experiments.freezing(widths, T=1024)
al.show(freezing_d_k=curves.freezing_d_k)
plotting.plot_effective_keys(curves);

# %% [markdown] lang="zh-Hant" key="frozen-saturation" tags=["core"]
# 縮放的曲線是平的。不縮放的曲線一路往下掉，大約在 $d_k \approx 2 \ln T$ 的地方「凍結」成少數幾個鍵；那是一段過渡，不是懸崖。分量的變異數是 1，又不縮放，ANDREA 的 32 和 64 就都在凍結的那一側。
#
# 一列權重幾乎全部給了一個鍵，叫作飽和（saturation）。分數動一點，權重跟著動多少，就是梯度：
#
# $$\frac{\partial w_j}{\partial s_j} = w_j (1 - w_j) \qquad \frac{\partial w_j}{\partial s_m} = -w_j\, w_m \quad (m \ne j)$$
#
# **再猜一次**　飽和的時候，輸家的梯度接近 0。贏家自己的梯度還在嗎？填 `True`（是）或 `False`（否）。

# %% [markdown] lang="en" key="frozen-saturation" of="fdb169ba71c3" tags=["core"]
# The scaled curve is flat; the raw one "freezes" onto a few keys around $d_k \approx 2 \ln T$, a crossover. With components of variance 1 and no scaling, ANDREA's 32 and 64 would both be frozen.
#
# A row with nearly everything on one key is called saturated. How far its weights move with a score is the gradient:
#
# $$\frac{\partial w_j}{\partial s_j} = w_j (1 - w_j) \qquad \frac{\partial w_j}{\partial s_m} = -w_j\, w_m \quad (m \ne j)$$
#
# **Guess again**　In a saturated row the losers' gradients are close to 0. Is the winner's still there? Write `True` (yes) or `False` (no).

# %% key="frozen-saturation-guess" tags=["core"]
guess = None  # True, False

# %% key="frozen-saturation-code" tags=["core"]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
row = Q[5] @ K.T / np.sqrt(4)  # (6,)
factors = [1, 2, 4, 8, 16, 32]
nudge = 1e-4

rest, formula, measured, largest = [], [], [], []
for factor in factors:
    scores = row * factor  # (6,)
    winner = scores.argmax()
    w, w_nudged = al.softmax(scores), al.softmax(scores + nudge * np.eye(6)[winner])  # (6,), (6,)
    jacobian = np.diag(w) - np.outer(w, w)  # (6, 6)
    rest.append(1 - w[winner])
    formula.append(w[winner] * (1 - w[winner]))
    measured.append((w_nudged - w)[winner] / nudge)
    largest.append(np.abs(jacobian).max())

al.show(guess=guess, measured=formula[-1] > 0.01)
al.table(
    stretched=factors,
    winner_rest=rest,
    winner_slope=formula,
    nudged_slope=measured,
    largest_slope=largest,
)

# %% [markdown] lang="zh-Hant" key="frozen-saturation-claim" tags=["core"]
# 「看」那一列的分數放大越多，$1 - w$ 和 $w(1-w)$ 就越接近 0；最右邊一欄是全部 36 個導數裡最大的，也一樣。**贏家和輸家的梯度一起消失**，傳回 $Q$ 和 $K$ 的訊號都得乘上這些數。
#
# 只要 $q$ 和 $k$ 的分量散布在 1 左右，縮放以後就不會凍結，$d_k$ 多大都一樣。至於凍結會不會拖累訓練，那是論文的懷疑；第 5 課讓兩邊真的比一場。

# %% [markdown] lang="en" key="frozen-saturation-claim" of="0c6fc1620c8d" tags=["core"]
# The more the scores of "reads" are stretched, the closer $1 - w$ and $w(1-w)$ come to 0; so does the last column, the largest of all 36 derivatives. **Winner and losers lose their gradients together**, and any signal back to $Q$ and $K$ is multiplied by these numbers.
#
# While the components of $q$ and $k$ spread by about 1, scaled rows do not freeze, whatever $d_k$ is. Whether frozen rows hold training back is the paper's suspicion; lesson 5 runs the race.

# %% [markdown] lang="zh-Hant" key="frozen-play" tags=["core"]
# **動手玩**　按「▶ 播放」，$d_k$ 就一步一步變大。**先猜猜看**：「分數除以」選 $\sqrt{d_k}$，分數的標準差和有效鍵數還會變嗎？改選 $d_k$，權重會變尖銳，還是變平均？

# %% [markdown] lang="en" key="frozen-play" of="86b91452845f" tags=["core"]
# **Play**　Press "▶ Play", and $d_k$ grows. **Guess first**: with "divide scores by" at $\sqrt{d_k}$, do spread and effective keys still change? With $d_k$, do weights turn peaked or even?

# %% key="frozen-still" tags=["core"]
panels.figure(panels.scaling_panel)

# %% key="frozen-panel" tags=["core"]
panels.scaling_panel()

# %% [markdown] lang="zh-Hant" key="frozen-answer" tags=["core"]
# 除以 $\sqrt{d_k}$，兩者都不再跟著 $d_k$ 變。除以 $d_k$ 就除過頭了：分數縮向 0，權重趨於平均。

# %% [markdown] lang="en" key="frozen-answer" of="8384f5010d95" tags=["core"]
# With $\sqrt{d_k}$ neither changes with $d_k$ any more. Dividing by $d_k$ overdoes it: scores shrink towards 0, weights turn even.

# %% [markdown] lang="zh-Hant" key="frozen-share" tags=[]
# **深入，先猜猜看**　有效鍵數量的是權重。梯度也數一數：一列裡有多少鍵的 $w(1-w)$ 超過 $0.1/T$，也就是大約有平分時的十分之一？這樣的鍵，分數動一動，權重還跟得上。
#
# $d_k = 64$ 的隨機向量，鍵從 16 個加到 1024 個、16384 個。這種鍵所占的比例會變大（填 1）、差不多（填 0），還是變小（填 -1）？

# %% [markdown] lang="en" key="frozen-share" of="f762d110c240" tags=[]
# **Deeper, guess first**　Effective keys measure weights. Now count gradients: how many keys of a row have $w(1-w)$ above $0.1/T$, about a tenth of what an even share would give? Nudge the score of such a key, and its weight still follows.
#
# Take random vectors with $d_k = 64$ and let the keys grow from 16 to 1024 and 16384. Does the portion of such keys grow (write 1), stay about the same (write 0) or shrink (write -1)?

# %% key="frozen-share-guess" tags=[]
my_trends = {"1": None, "√d_k": None}

# %% key="frozen-share-code" tags=[]
lengths = (16, 1024, 16384)
grid = experiments.saturation_grid((64,), lengths, d_model=al.ANDREA_120M.d_model)
shares = grid.gradient_share[:, 0]  # (3, 4)
divisors = ["1", "√d_k", "d_k", "√d_model"]

al.table(
    divisor=divisors[:2],
    guess=[al.answer(my_trends, divisor) for divisor in divisors[:2]],
    measured=np.sign((shares[-1] - shares[0]).round(1))[:2].astype(int),
)

# %% key="frozen-share-table" tags=[]
theory = grid.keys_theory[:, 0].ravel()  # (12,)
al.table(
    T=np.repeat(lengths, 4),
    divisor=divisors * 3,
    share_above=shares.ravel(),
    largest_weight=grid.largest_weight[:, 0].ravel(),
    effective_keys=grid.effective_keys[:, 0].ravel(),
    keys_theory=["—" if np.isnan(keys) else keys for keys in theory],
)

# %% [markdown] lang="zh-Hant" key="frozen-share-claim" tags=[]
# 這是 64 個隨機查詢的結果。除以 $\sqrt{d_k}$，不管鍵有多少，九成多都還有梯度；不縮放，比例一路往下掉，鍵再多也輪不到它們。
#
# 除以 $d_k$ 或 $\sqrt{d_{\text{model}}}$ 呢？每個鍵都有梯度，可是權重也幾乎平分，等於什麼都沒挑。**梯度多，不代表注意力就好**，兩把尺要一起看。
#
# 最右邊一欄的 $s$ 是分數的標準差。$s = 1$ 的時候，$T e^{-s^2/2}$ 就是 $T/\sqrt{e}$。$s^2$ 一旦超過 $2 \ln T$，這一列已經凍結，公式不再管用，表裡就寫「—」。

# %% [markdown] lang="en" key="frozen-share-claim" of="bb676e7a5bd4" tags=[]
# These are results for 64 random queries. Divided by $\sqrt{d_k}$, more than nine keys in ten still have a gradient, however many there are; without scaling the portion keeps falling, and more keys just means more that get nothing.
#
# And divided by $d_k$ or $\sqrt{d_{\text{model}}}$? Every key has a gradient, but the weights are nearly even too, and nothing is picked out. **Plenty of gradient does not make good attention**; read both rulers together.
#
# In the rightmost column $s$ is the standard deviation of the scores. With $s = 1$, $T e^{-s^2/2}$ is just $T/\sqrt{e}$. Once $s^2$ exceeds $2 \ln T$ the row is frozen, the formula no longer holds, and the table says "—".

# %% [markdown] lang="zh-Hant" key="frozen-output" tags=[]
# **深入**　那模型最後的 softmax 呢？語言模型的輸出也是 softmax，後面接交叉熵（cross-entropy）損失 $L = -\ln w_y$，$y$ 是正確答案的編號。要是它很有把握，卻答錯了，會不會也沒有梯度可學？
#
# **先猜猜看**　還有梯度嗎？填 `True`（是）或 `False`（否）。
#
# 下面用同一列飽和的分數比較：經過注意力權重傳回來的梯度（$\partial L/\partial w$ 用亂數代替），和接交叉熵的梯度。

# %% [markdown] lang="en" key="frozen-output" of="262ce2e42046" tags=[]
# **Deeper**　What about the softmax at the end of the model? A language model's output is a softmax as well, followed by the cross-entropy loss $L = -\ln w_y$, where $y$ is the index of the right answer. If it is confidently wrong, does it have no gradient to learn from either?
#
# **Guess first**　Is there still a gradient? Write `True` (yes) or `False` (no).
#
# The cell compares two gradients for the same saturated row of scores: one that comes back through attention weights (with random numbers for $\partial L/\partial w$), and one from cross-entropy.

# %% key="frozen-output-guess" tags=[]
guess = None  # True, False

# %% key="frozen-output-code" tags=[]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
w = al.softmax(16 * Q[5] @ K.T / np.sqrt(4))  # (6,)
jacobian = np.diag(w) - np.outer(w, w)  # (6, 6)

dw = np.random.default_rng(0).standard_normal(6)  # (6,)
y = np.eye(6)[0]  # (6,)

al.show(
    guess=guess,
    measured=np.abs(w - y).max() > 0.01,
    through_weights=np.abs(jacobian @ dw).max(),
    cross_entropy=np.abs(w - y).max(),
    by_chain_rule=np.allclose(jacobian @ (-y / w), w - y),
)

# %% [markdown] lang="zh-Hant" key="frozen-output-claim" tags=[]
# 交叉熵的梯度是 $w - \mathbf{1}_y$（$\mathbf{1}_y$ 只在正確答案那一格是 1，其他都是 0）：錯得越離譜，越接近 $\pm 1$，一點也不小。因為損失裡的 $\ln$ 微分以後帶來 $1/w_y$，正好抵消 softmax 那個極小的 $w_y$。注意力權重後面沒有這個 $\ln$，所以會失去梯度的是注意力裡的 softmax，不是輸出的那一個。

# %% [markdown] lang="en" key="frozen-output-claim" of="4bafe81c37be" tags=[]
# The gradient of cross-entropy is $w - \mathbf{1}_y$ ($\mathbf{1}_y$ is 1 in the cell of the right answer and 0 elsewhere): the more wrong, the closer to $\pm 1$, and not small at all. The $\ln$ in the loss brings in $1/w_y$, which cancels exactly the tiny $w_y$ of softmax. No such $\ln$ follows the attention weights; so it is the softmax inside attention that can lose its gradient, not the one at the output.

# %% [markdown] lang="zh-Hant" key="match" tags=[]
# ## 2.6　$d_k$ 大有什麼好處
#
# 分量的變異數是 1 的隨機向量，縮放後的分數標準差永遠是 1。那 $d_k$ 大一點還有用嗎？換個問法：不看隨機的鍵，看一個**完美的鍵**。它和查詢一模一樣，混在另外 1023 個隨機的鍵裡。
#
# **先猜猜看**　$d_k$ 是 32（ANDREA-12M）、64（ANDREA-120M）、128 的時候，縮放後的 softmax 會給這個完美的鍵多少權重？

# %% [markdown] lang="en" key="match" of="e6e2c33caffb" tags=[]
# ## 2.6　What a large $d_k$ buys
#
# For random vectors with components of variance 1, scaled scores always have standard deviation 1. Is a larger $d_k$ then of any use? Ask differently: look not at random keys but at one **perfect key**, equal to the query, hidden among 1023 random ones.
#
# **Guess first**　For $d_k$ = 32 (ANDREA-12M), 64 (ANDREA-120M) and 128, how much weight does the scaled softmax give to this perfect key?

# %% key="match-guess" tags=[]
my_weight = {32: None, 64: None, 128: None}

# %% key="match-code" tags=[]
T, widths, medians = 1024, (32, 64, 128), []
for d_k in widths:
    rng = np.random.default_rng([0, d_k, 1])
    found = []
    for _ in range(400):
        K = rng.standard_normal((T, d_k), dtype="float32")  # (T, d_k)
        q = K[0]  # (d_k,)
        found.append(al.softmax(K @ q / np.sqrt(d_k))[0])  # (T,) → ()
    medians.append(np.median(found))

measured = experiments.perfect_match(widths, T, trials=400).measured  # (3,)
al.show(agrees=np.allclose(medians, measured, rtol=1e-3))
al.table(
    d_k=widths,
    guess=[al.answer(my_weight, d_k) for d_k in widths],
    measured=medians,
    predicted=[1 / (1 + (T - 1) * np.exp(0.5 - np.sqrt(d_k))) for d_k in widths],
)

# %% [markdown] lang="zh-Hant" key="match-claim" tags=[]
# 量到的是 400 次抽樣的中位數。完美的鍵，分數是 $q \cdot q$，也就是長度的平方，大約是 $d_k$；除以 $\sqrt{d_k}$ 還剩 $\sqrt{d_k}$。隨機的鍵，分數的標準差則是 1 左右。所以**雜訊不變，訊號卻隨 $\sqrt{d_k}$ 成長**。標準差是 1 的常態分數 $s$，取指數以後的平均值是 $e^{1/2}$，這樣的鍵有 $T - 1$ 個。把兩者放進 softmax，就得到
#
# $$w \approx \frac{1}{1 + (T-1)\, e^{1/2 - \sqrt{d_k}}}$$
#
# 縮放拿掉的是 $d_k$ 對雜訊的影響，留下了它的好處。

# %% [markdown] lang="en" key="match-claim" of="22bb65b0ebb6" tags=[]
# What is measured are medians of 400 draws. The perfect key scores $q \cdot q$, its squared length, about $d_k$; divided by $\sqrt{d_k}$, that leaves $\sqrt{d_k}$. Random keys score with a standard deviation of about 1. So **the noise stays and the signal grows like $\sqrt{d_k}$**. For a normal score $s$ of standard deviation 1 the mean of its exponential is $e^{1/2}$, and there are $T - 1$ such keys. Put both into softmax and you get
#
# $$w \approx \frac{1}{1 + (T-1)\, e^{1/2 - \sqrt{d_k}}}$$
#
# What scaling takes away is the effect of $d_k$ on the noise; the benefit stays.

# %% key="match-figure" tags=[]
plotting.plot_perfect_match(experiments.perfect_match((8, 16, 32, 64, 128), trials=400));

# %% [markdown] lang="zh-Hant" key="match-family" tags=[]
# **再猜一次**　ANDREA-480M 的參數將近 ANDREA-120M 的五倍，頭也多一倍。它的一個頭，給完美的鍵的權重會更多嗎？填 `True`（是）或 `False`（否）。

# %% [markdown] lang="en" key="match-family" of="cd358366742b" tags=[]
# **Guess again**　ANDREA-480M has almost five times the parameters of ANDREA-120M and twice as many heads in a layer. Does one of its heads give the perfect key more weight? Write `True` (yes) or `False` (no).

# %% key="match-family-guess" tags=[]
guess = None  # True, False

# %% key="match-family-code" tags=[]
family = experiments.family_match(trials=400)
al.show(guess=guess, measured=family.measured[2] > family.measured[1])
al.table(model=family.model, d_k=family.d_k, measured=family.measured, predicted=family.formula)

# %% [markdown] lang="zh-Hant" key="match-recap" tags=[]
# 這是 ANDREA-12M 和 ANDREA-120M 的一個差別：在 1024 個鍵裡找一個完全相符的，32 維的頭會被雜訊淹沒，64 維的頭多半找得到。ANDREA-480M 的頭也是 64 維，結果就和 ANDREA-120M 一樣：**看的是一個頭的 $d_k$，不是模型有多大**。
#
# 不過這裡的長度都是隨機向量的長度；訓練過的模型可以把某些查詢和鍵拉長，讓訊號更強。

# %% [markdown] lang="en" key="match-recap" of="fe7c604e6cba" tags=[]
# This is one difference between ANDREA-12M and ANDREA-120M: when one exact match must be found among 1024 keys, a head 32 wide drowns in noise, and a head 64 wide mostly finds it. The heads of ANDREA-480M are 64 wide as well, so they do just as those of ANDREA-120M: **what counts is the $d_k$ of one head, not the size of the model**.
#
# The lengths here are those of random vectors, though; a trained model can make some queries and keys longer and so turn up the signal.

# %% [markdown] lang="zh-Hant" key="units" tags=[]
# ## 2.7　換個地方除，可以嗎
#
# 2.3 說縮放是溫度 $\tau = \sqrt{d_k}$，除在分數上。能不能早一點，在 $Q$ 和 $K$ 上就先除？
#
# **先猜猜看**　分數不除，改成把 $Q$ 和 $K$ 各除以 $d_k^{1/4}$。分數會和縮放後的分數一樣嗎？填 `True`（是）或 `False`（否）。

# %% [markdown] lang="en" key="units" of="a56dd5866400" tags=[]
# ## 2.7　Dividing somewhere else
#
# 2.3 called scaling a temperature of $\tau = \sqrt{d_k}$, by which the scores are divided. Could one divide earlier, at $Q$ and $K$?
#
# **Guess first**　Leave the scores alone and divide $Q$ and $K$ by $d_k^{1/4}$ each beforehand. Are the scores the same as the scaled ones? Write `True` (yes) or `False` (no).

# %% key="units-guess" tags=[]
guess = None  # True, False

# %% key="units-code" tags=[]
T, d_k = 1024, 64
Q, K, V = experiments.random_qkv(T, d_k)  # (1024, 64)
al.show(
    guess=guess,
    measured=np.allclose(Q @ K.T / np.sqrt(d_k), (Q / d_k**0.25) @ (K / d_k**0.25).T),
)

# %% [markdown] lang="zh-Hant" key="units-training" tags=[]
# 一樣：$d_k^{1/4} \cdot d_k^{1/4} = \sqrt{d_k}$。所以縮放等於換一種單位來量 $Q$ 和 $K$。連訓練也是這樣嗎？拿亂數來試：把 $Q$ 和 $K$ 當成參數，目標也是亂數，損失是分數與目標之差的平方和，走 10 步。一邊縮放，學習率（learning rate）是 $\eta$；另一邊不縮放，從 $Q/d_k^{1/4}$ 和 $K/d_k^{1/4}$ 出發，用 SGD 就把學習率改成 $\eta/\sqrt{d_k}$，用 Adam 改成 $\eta/d_k^{1/4}$。
#
# 兩邊最後的分數會一樣嗎？表的最右邊一欄是對照組：同樣的起點，但是學習率沒改。

# %% [markdown] lang="en" key="units-training" of="697ff4e4e037" tags=[]
# They are, because $d_k^{1/4} \cdot d_k^{1/4} = \sqrt{d_k}$. Scaling amounts to measuring $Q$ and $K$ in other units. Does this hold through training too? Try it with random numbers: let $Q$ and $K$ be the parameters, make the targets random as well, take the sum of squared differences between scores and targets as the loss, and go 10 steps. One side scales and learns at the rate $\eta$. The other does not scale and starts from $Q/d_k^{1/4}$ and $K/d_k^{1/4}$; its rate becomes $\eta/\sqrt{d_k}$ with SGD and $\eta/d_k^{1/4}$ with Adam.
#
# Do both end with the same scores? The rightmost column of the table is a control: the same start, but the rate not changed.

# %% key="units-steps" tags=[]
def train(Q, K, divisor, rate, adam):  # (T, d_k), (T, d_k) → (T, T)
    m, v = 0, 0
    for step in range(1, 11):
        error = Q @ K.T / divisor - target  # (T, T)
        g = np.stack([error @ K, error.T @ Q]) / divisor  # (2, T, d_k)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        move = m / (1 - 0.9**step) / np.sqrt(v / (1 - 0.999**step)) if adam else g
        Q, K = (Q, K) - rate * move
    return Q @ K.T / divisor


rng = np.random.default_rng(0)
Q, K = rng.standard_normal((2, 16, 64))  # (16, 64), (16, 64)
target = rng.standard_normal((16, 16))
unit, rate = 64**0.25, 0.001

moved, apart, control = [], [], []
for adam, rate_raw in ((False, rate / unit**2), (True, rate / unit)):
    scaled = train(Q, K, unit**2, rate, adam)  # (16, 16)
    moved.append(np.abs(scaled - Q @ K.T / unit**2).max())
    apart.append(np.abs(scaled - train(Q / unit, K / unit, 1, rate_raw, adam)).max())
    control.append(np.abs(scaled - train(Q / unit, K / unit, 1, rate, adam)).max())

al.table(
    optimizer=["SGD", "Adam"],
    scores_moved=moved,
    same_scores=[difference < 1e-9 for difference in apart],
    unchanged_rate=control,
)

# %% [markdown] lang="zh-Hant" key="units-claim" tags=[]
# 除了捨入，一模一樣。原因很短：不縮放那一邊的參數縮成 $1/d_k^{1/4}$，對它的梯度就放大成 $d_k^{1/4}$ 倍。SGD 的步伐跟著梯度走，所以 $\eta$ 要除以兩次 $d_k^{1/4}$；Adam 的步伐不管梯度的大小，除以一次就夠（Adam 防止除以 0 的那個極小常數，這裡沒有用）。訓練 $W_Q$ 和 $W_K$ 也是同一筆帳，因為 $Q = X W_Q$：初始標準差 $\sigma$ 改成 $\sigma/d_k^{1/4}$，學習率照樣改，其他參數照舊。
#
# 換句話說，縮放沒有讓模型多會什麼。不縮放而要得到同樣的訓練，$\sigma$ 和 $\eta$ 就得**跟著 $d_k$ 改**。要比「縮放」和「不縮放」誰學得好，手上有四個旋鈕：$d_k$、$\sigma$、$\eta$、最佳化器（optimizer）。只轉一個就下結論，這場比賽不公平。
#
# **再猜一次**　GPT-2 的權重矩陣，初始標準差是 0.02。輸入 $X$ 的分量變異數是 1（經過層正規化，也就是 layer normalization，大致如此），$d_{\text{model}} = 768$，$d_k = 64$。不縮放的分數，標準差會是 8 嗎？寫下你的估計，取一位小數，像 `5.0`。

# %% [markdown] lang="en" key="units-claim" of="163a3971fab0" tags=[]
# Rounding apart, they are identical. The reason is short: the parameters of the side without scaling are $1/d_k^{1/4}$ as large, so the gradients for them are $d_k^{1/4}$ times as large. The steps of SGD follow the gradient, so $\eta$ is divided by $d_k^{1/4}$ twice; those of Adam disregard its size, and once is enough (the tiny constant by which Adam avoids dividing by 0 is left out here). With $W_Q$ and $W_K$ the sums are the same, since $Q = X W_Q$: their initial standard deviation $\sigma$ becomes $\sigma/d_k^{1/4}$, the rates change likewise, and all other parameters stay as they are.
#
# In other words, scaling does not teach the model anything new. To get the same training without it, $\sigma$ and $\eta$ must **change with $d_k$**. Whoever races "scaled" against "raw" holds four knobs: $d_k$, $\sigma$, $\eta$ and the optimizer. To turn only one of them and draw a conclusion is not a fair race.
#
# **Guess again**　The weight matrices of GPT-2 start with standard deviation 0.02. The components of the input $X$ have variance 1 (roughly so after layer normalization), $d_{\text{model}} = 768$, $d_k = 64$. Is the standard deviation of the raw scores 8? Write down your estimate, to one decimal, like `5.0`.

# %% key="units-gpt2-guess" tags=[]
guess = None  # 0.0

# %% key="units-gpt2" tags=[]
rng = np.random.default_rng(0)
T, d_model, d_k, sigma = 1024, 768, 64, 0.02
X = rng.standard_normal((T, d_model))  # (1024, 768)
W_Q, W_K = sigma * rng.standard_normal((2, d_model, d_k))  # (768, 64), (768, 64)
scores = (X @ W_Q) @ (X @ W_K).T  # (1024, 1024)

al.show(guess=guess, predicted=d_model * sigma**2 * np.sqrt(d_k), measured=scores.std())
al.table(
    divisor=["1", "√d_k"],
    std=[scores.std(), (scores / np.sqrt(d_k)).std()],
    effective_keys=[
        np.median(experiments.effective_keys(al.softmax(scores / divisor)))
        for divisor in (1, np.sqrt(d_k))
    ],
)

# %% [markdown] lang="zh-Hant" key="units-recap" tags=[]
# 這裡的 $X$、$W_Q$、$W_K$ 都是亂數，只有散布照 GPT-2 的設定。查詢和鍵的分量標準差都小於 1，所以不縮放的分數也只有 $d_{\text{model}}\, \sigma^2 \sqrt{d_k}$，離 8 很遠，每一列還沒有凍結；縮放後的權重則接近平均。
#
# 不縮放會不會凍結，要看 $q$ 和 $k$ 散得多開。縮放只從分數裡拿掉 $d_k$ 這一個因素；剩下的，是 $q$ 和 $k$ 兩者散布的乘積。

# %% [markdown] lang="en" key="units-recap" of="1a69e802f2ba" tags=[]
# $X$, $W_Q$ and $W_K$ are random here; only their spread is that of GPT-2. The components of queries and keys have a standard deviation below 1, so even raw scores spread only by $d_{\text{model}}\, \sigma^2 \sqrt{d_k}$, far from 8, and the rows are not frozen yet; scaled, the weights are close to even.
#
# Whether raw rows freeze depends on how widely $q$ and $k$ spread. Scaling takes just one factor out of the scores, $d_k$; what remains is the product of the spreads of $q$ and $k$.

# %% [markdown] lang="zh-Hant" key="cuda" tags=[]
# ## 2.8　CUDA 裡的那個乘法
#
# ANDREA 的訓練程式 `microgpt_cuda.cu` 用單精度（float32）計算。它算出 `Q[i]` 和 `K[j]` 的點積之後，並不是除以 $\sqrt{d_k}$，而是乘以 `1.0f / sqrtf(d_k)`：倒數先算好，每個分數只多一次乘法。乘法比除法便宜，而且一個分數要做 64 次乘加，多這一次算不了什麼。
#
# **先猜猜看**　在單精度裡，乘以倒數和直接除，每一位數字都相同嗎？填 `True`（是）或 `False`（否）。
#
# 1. ANDREA-120M，$d_k = 64$
# 2. ANDREA-12M，$d_k = 32$

# %% [markdown] lang="en" key="cuda" of="2af29e0fe9d1" tags=[]
# ## 2.8　The multiplication in the CUDA code
#
# `microgpt_cuda.cu`, the program that trains ANDREA, computes in single precision (float32). Once it has the dot product of `Q[i]` and `K[j]` it does not divide by $\sqrt{d_k}$; it multiplies by `1.0f / sqrtf(d_k)`: the reciprocal is worked out beforehand, and each score costs one multiplication more. Multiplying is cheaper than dividing, and beside the 64 multiply-adds of a score this one hardly counts.
#
# **Guess first**　In single precision, do multiplying by the reciprocal and dividing agree in every digit? Write `True` (yes) or `False` (no).
#
# 1. ANDREA-120M, $d_k = 64$
# 2. ANDREA-12M, $d_k = 32$

# %% key="cuda-guess" tags=[]
my_answers = {1: None, 2: None}

# %% key="cuda-code" tags=[]
rng = np.random.default_rng(0)
models = (al.ANDREA_120M, al.ANDREA_12M)
before, after, different, farthest = [], [], [], []
for model in models:
    shape = (model.n_head, model.T, model.d_k)
    Q, K = rng.standard_normal((2, *shape), dtype="float32")  # (12, 1024, d_k)
    scores = Q @ np.swapaxes(K, -1, -2)  # (12, 1024, 1024)
    root = np.sqrt(np.float32(model.d_k))
    multiplied, divided = scores * (np.float32(1) / root), scores / root
    before.append(scores.std())
    after.append(multiplied.std())
    differ = multiplied != divided  # (12, 1024, 1024)
    different.append(differ.mean())
    farthest.append(np.abs(multiplied[differ] / divided[differ] - 1).max(initial=0))

al.show(scores=scores.shape, data_type=multiplied.dtype)
al.table(
    model=[model.name for model in models],
    d_k=[model.d_k for model in models],
    guess=[al.answer(my_answers, n) for n in (1, 2)],
    measured=[share == 0 for share in different],
    share_different=different,
    farthest_apart=farthest,
    std_before=before,
    std_after=after,
)

# %% [markdown] lang="zh-Hant" key="cuda-claim" tags=[]
# 這是一整層 12 個頭、1024 個位置的真實尺寸，內容是亂數。縮放前的標準差跟著 $\sqrt{d_k}$ 走，縮放後兩個模型都是 1。
#
# $1/8$ 在二進位裡寫得盡，所以 64 的結果一位不差。$1/\sqrt{32}$ 寫不盡，捨入兩次和捨入一次就可能差在最後一位；相差不到千萬分之二，模型不會在意。在意的是比對程式的人：**兩段正確的浮點程式不必每一位都相等**，所以比對要用 `np.allclose`，不用 `==`。
#
# **想一想**　先把 $Q$ 乘以 $1/\sqrt{d_k}$ 再算點積，結果一樣（頂多差在捨入），縮放要做的乘法卻從 $T \times T$ 次變成 $T \times d_k$ 次。在 ANDREA-120M 裡，前者是後者的幾倍？

# %% [markdown] lang="en" key="cuda-claim" of="653d8cf855d0" tags=[]
# This is a whole layer in its real size, 12 heads and 1024 positions, filled with random numbers. Before scaling the standard deviation follows $\sqrt{d_k}$; after it, both models have 1.
#
# $1/8$ can be written exactly in binary, so for 64 not a digit differs. $1/\sqrt{32}$ cannot, and rounding twice instead of once may differ in the last digit; by less than two parts in ten million, which no model minds. Whoever compares programs does: **two correct floating-point programs need not agree in every digit**, so compare with `np.allclose`, not with `==`.
#
# **Think**　Multiplying $Q$ by $1/\sqrt{d_k}$ before the dot products gives the same result (up to rounding), and the scaling takes $T \times d_k$ multiplications instead of $T \times T$. How many times as many is the latter in ANDREA-120M?

# %% key="cuda-answer" tags=[]
model = al.ANDREA_120M
al.show(times_fewer=model.T**2 // (model.T * model.d_k))

# %% [markdown] lang="zh-Hant" key="wide" tags=["core"]
# ## 2.9　換你算：$d_{\text{model}} = 4096$
#
# 有四個模型，寬度都是 $d_{\text{model}} = 4096$：
#
# - 1 個頭
# - 16 個頭，GPT-J 是這樣切的
# - 32 個頭，LLaMA-7B 是這樣切的
# - 64 個頭
#
# **練習**　$d_{\text{model}} = 4096$ 時的縮放（3 分鐘，難度 1／3）
#
# 各自的分數該除以多少？填進 `scaling_at_4096`。要提示：`al.hint("scaling_at_4096")`。

# %% [markdown] lang="en" key="wide" of="fcfb136f9e52" tags=["core"]
# ## 2.9　Your turn: $d_{\text{model}} = 4096$
#
# Four models, all $d_{\text{model}} = 4096$ wide:
#
# - 1 head
# - 16 heads, as in GPT-J
# - 32 heads, as in LLaMA-7B
# - 64 heads
#
# **Exercise**　Scaling at $d_{\text{model}} = 4096$ (3 minutes, difficulty 1 of 3)
#
# By what does each divide its scores? Fill in `scaling_at_4096`. For a hint: `al.hint("scaling_at_4096")`.

# %% key="exercise-scaling-at-4096" tags=["core"]
scaling_at_4096 = {1: None, 16: None, 32: None, 64: None}

al.check.scaling_at_4096(scaling_at_4096)

# %% key="wide-code" tags=["core"]
d_model, n_heads = 4096, (1, 16, 32, 64)
widths = tuple(d_model // n_head for n_head in n_heads)  # (4,)
spreads = experiments.score_spreads(widths)

al.table(
    model=["—", "GPT-J", "LLaMA-7B", "—"],
    n_head=n_heads,
    d_k=widths,
    guess=[al.answer(scaling_at_4096, n_head) for n_head in n_heads],
    divided_by_root=np.sqrt(widths),
    std_before=spreads.std,
    std_after=spreads.std / np.sqrt(widths),
)

# %% [markdown] lang="zh-Hant" key="wide-claim" tags=["core"]
# 寬度相同，最大的除數卻是最小的 8 倍。決定除數的是**一個頭裡的 $d_k$**，不是 $d_{\text{model}}$：每頭 64 維，除數就是 8，和 ANDREA-120M 一樣。最右邊兩欄是用亂數量的。

# %% [markdown] lang="en" key="wide-claim" of="38961831d131" tags=["core"]
# At equal width the largest divisor is 8 times the smallest. What decides is **the $d_k$ of one head**, not $d_{\text{model}}$: 64-wide heads divide by 8, as in ANDREA-120M. The last two columns come from random numbers.

# %% [markdown] lang="zh-Hant" key="my-divisor" tags=[]
# **練習**　又一個你自己的模型：除數（2 分鐘，難度 1／3）
#
# 在 `seed` 填一個自己的整數，例如學號的後四碼（開頭的 0 不寫），執行以後就有另一個你自己的模型（大小和第 1 課那個不同）。它的分數該除以多少？填進再下面那一格。要提示：`al.hint("my_divisor")`。

# %% [markdown] lang="en" key="my-divisor" of="774d4ef74ee5" tags=[]
# **Exercise**　Another model of your own: the divisor (2 minutes, difficulty 1 of 3)
#
# Put a whole number of your own for `seed`, the last digits of your student number perhaps (without zeros in front), and run the cell: it shows another model of your own, of a size other than in lesson 1. By what does it divide its scores? Write your answer in the cell after that. For a hint: `al.hint("my_divisor")`.

# %% key="question-my-divisor" tags=[]
seed = None  # 0 … 999999

al.question("my_divisor", seed)

# %% key="exercise-my-divisor" tags=[]
my_divisor = None

al.check.my_divisor(my_divisor, seed=seed)

# %% [markdown] lang="zh-Hant" key="recap" tags=["core"]
# ## 2.10　帶得走的四句話
#
# - 分數矩陣 $QK^\top$ 的列是查詢、行是鍵，每一格是一次點積；1024 個詞元就有一百萬格。
# - softmax 算出總和為 1 的權重，只看分數差；把分數全部除以一個數，就是調溫度。
# - 分量的變異數為 1 時，分數的標準差是 $\sqrt{d_k}$；除以 $\sqrt{d_k}$，就拿掉了 $d_k$ 的影響。
# - 分數散得太開，一列權重就會凍結，贏家和輸家的梯度一起消失。
#
# 下一課換個問題：還沒寫出來的詞元，怎麼才能不讓人偷看？

# %% [markdown] lang="en" key="recap" of="195b5661d548" tags=["core"]
# ## 2.10　Four sentences to take along
#
# - In the score matrix $QK^\top$ rows are queries, columns are keys, and every cell is a dot product; 1024 tokens make a million.
# - Softmax makes weights that sum to 1 and looks only at gaps; dividing all scores sets a temperature.
# - With components of variance 1 scores have standard deviation $\sqrt{d_k}$; dividing by $\sqrt{d_k}$ takes $d_k$ out.
# - Where scores spread too far, a row freezes, and winner and losers lose their gradients together.
#
# Next: how to forbid a look at tokens not yet written.

# %% [markdown] lang="zh-Hant" key="quiz" tags=[]
# **小測驗**　三題，選好按「回答」。答錯會告訴你哪裡不對，可以再選；答對的會記下來，用 `al.progress()` 看得到。

# %% [markdown] lang="en" key="quiz" of="4c38248c7618" tags=[]
# **Quiz**　Three questions: choose, then press "Answer". A wrong choice is explained, and you may choose again; right answers are kept, and `al.progress()` shows them.

# %% key="quiz-questions" tags=[]
al.quiz("02")

# %% [markdown] lang="zh-Hant" key="ruler" tags=[]
# ## A.　附錄：挑一把對的尺
#
# 2.5 用有效鍵數來量飽和。很多人會改用雅可比矩陣（Jacobian）$\text{diag}(w) - w w^\top$ 的範數（norm）：所有偏導數平方和的平方根，這個數越大，梯度好像越暢通。
#
# **先猜猜看**　$d_k = 64$ 的亂數，$T = 16$ 和 $T = 1024$ 時，哪一種的雅可比範數比較大？不縮放填 1，縮放填 2。

# %% [markdown] lang="en" key="ruler" of="29ca63acbfec" tags=[]
# ## A.　Appendix: choosing the right ruler
#
# 2.5 measured saturation by effective keys. Many people would take the norm of the Jacobian $\text{diag}(w) - w w^\top$ instead, the root of the sum of all squared derivatives: the larger, the better gradients seem to flow.
#
# **Guess first**　For random numbers with $d_k = 64$, at $T = 16$ and at $T = 1024$, which has the larger Jacobian norm? Write 1 for raw, 2 for scaled.

# %% key="ruler-guess" tags=[]
my_larger = {16: None, 1024: None}

# %% key="ruler-code" tags=[]
w = al.softmax(np.arange(5))  # (5,)
jacobian = np.diag(w) - np.outer(w, w)  # (5, 5)
by_matrix = np.sqrt((jacobian**2).sum())  # ()

rulers = experiments.misleading_rulers((16, 1024, 16384))
norms = rulers.jacobian_norm  # (3, 2)

al.show(agrees=np.isclose(by_matrix, experiments.jacobian_norm(w)))
al.table(
    T=rulers.T[:2],
    guess=[al.answer(my_larger, T) for T in rulers.T[:2]],
    measured=norms[:2].argmax(axis=-1) + 1,
)

# %% key="ruler-table" tags=[]
al.table(
    T=np.repeat(rulers.T, 2),
    divisor=["1", "√d_k"] * 3,
    jacobian_norm=norms.ravel(),
    **{al.label("fixed_share", threshold=rulers.threshold): rulers.fixed_share.ravel()},
    effective_keys=rulers.effective_keys.ravel(),
    share_above=rulers.gradient_share.ravel(),
)

# %% [markdown] lang="zh-Hant" key="ruler-claim" tags=[]
# $T = 16$ 時縮放的比較大，$T = 1024$ 時卻反過來，看起來好像不縮放的梯度比較暢通！其實是尺有問題：一千個鍵平分的時候，每個權重只有千分之一，範數本來就小；少數幾個鍵平分，範數反而大。用固定的門檻去數 $w(1-w)$，也會掉進同一個坑：表裡那一欄，到了 $T = 16384$ 也反過來了。
#
# 好的尺要扣掉 $T$ 的影響。有效鍵數是一種；另一種是 2.5 深入小節數過的：門檻跟著 $T$ 走，有多少鍵的 $w(1-w)$ 超過 $0.1/T$。這個比例，縮放的在每個 $T$ 都很高，不縮放的一路往下掉。挑尺之前，先問問它量的是不是你要問的事。

# %% [markdown] lang="en" key="ruler-claim" of="449c11e4813d" tags=[]
# At $T = 16$ the scaled one is larger, and at $T = 1024$ it is the other way round, as if gradients flowed better without scaling! The ruler is at fault: where a thousand keys share evenly, each weight is one thousandth and the norm is small by nature; where a few keys share, it is large. Counting by a fixed threshold on $w(1-w)$ falls into the same trap: in the table that column, too, has turned round by $T = 16384$.
#
# A good ruler takes out the effect of $T$. Effective keys are one; another is the count from the deeper part of 2.5, whose threshold moves with $T$: how many keys have $w(1-w)$ above $0.1/T$. With scaling this portion is high at every $T$; without, it keeps falling. Before you choose a ruler, ask whether it measures what you want to know.
