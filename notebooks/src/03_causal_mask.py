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
# # 3　因果遮罩
#
# **這一課要學會的事**
#
# - 說得出生成（generation）的每一步看得到哪些詞元，輸入和目標又為什麼錯開一格。
# - 用因果探測（causality probe）查出注意力（attention）有沒有偷看未來。
# - 用一句程式寫出因果遮罩（causal mask），放在 softmax 正確的一邊。
# - 解釋遮罩怎麼讓一次前向傳播同時訓練每一個位置。
# - 替編碼器、解碼器和交叉注意力挑出合用的遮罩。
#
# **事先要會的**　第 1 課的四個步驟；第 2 課的縮放和 softmax。
#
# **時間**　只走主線約 11 分鐘，全部約 65 分鐘，其中練習占 35 分鐘。
#
# 先執行下一格；重新啟動核心以後，也要先執行它。

# %% [markdown] lang="en" key="title" of="455630a1aa1b" tags=["core"]
# # 3　The causal mask
#
# **What you will be able to do**
#
# - Say which tokens each step of generation sees, and why inputs and targets are one place apart.
# - Find out with a causality probe whether attention peeks at the future.
# - Write the causal mask in one line, on the right side of softmax.
# - Explain how the mask lets one forward pass train every position.
# - Choose masks for encoder, decoder and cross-attention.
#
# **What you bring along**　The four steps of lesson 1; scaling and softmax from lesson 2.
#
# **Time**　About 11 minutes for the main path, about 65 for everything, of which the exercises take 35.
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

# %% [markdown] lang="zh-Hant" key="generate" tags=["core"]
# ## 3.1　一次長出一個詞元
#
# 語言模型寫字的方式叫生成：看著手上的詞元（token），猜下一個，把它接上去，再猜下一個。
#
# 例子還是「小安 去 圖書館 借 書 看」，位置（position）**從 0 數起**。數字是人工設定的，並不真的會預測；這裡只問：誰看得到誰。

# %% [markdown] lang="en" key="generate" of="c9605108a593" tags=["core"]
# ## 3.1　One token at a time
#
# A language model writes by generation: it predicts the next token from those at hand, appends it, and again.
#
# The example is still "Ann visits library borrows book reads", positions **counted from 0**. Its numbers are set by hand and predict nothing; we only ask who sees whom.

# %% [markdown] lang="zh-Hant" key="generate-ask" tags=[]
# **深入，先猜猜看**　一開始手上只有「小安」。位置 1 的「去」，是拿哪一個位置的輸出猜出來的？填 0 到 5。

# %% [markdown] lang="en" key="generate-ask" of="1cf3126d4362" tags=[]
# **Deeper, guess first**　At the beginning there is only "Ann". Which position's output predicts "visits" at position 1? Write 0 to 5.

# %% key="generate-guess" tags=[]
guess = None  # 0 … 5

# %% key="generate-steps" tags=["core"]
example = al.running_example()
tokens = example.tokens
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
rows = [al.attention_weights(Q[: i + 1], K[: i + 1])[-1] for i in range(5)]  # (i + 1,)

al.table(
    tokens_so_far=[" ".join(tokens[: i + 1]) for i in range(5)],
    output_at=range(5),
    keys_in_row=[row.size for row in rows],
    predicts=[tokens[i + 1] for i in range(5)],
)

# %% key="generate-check" tags=[]
tokens = al.running_example().tokens
al.show(guess=guess, by_rule=tokens[1:].index(tokens[1]))

# %% [markdown] lang="zh-Hant" key="generate-claim" tags=["core"]
# 規則是：位置 $i$ 的輸出猜位置 $i+1$ 的詞元，所以「去」由位置 0 來猜。
#
# 第三欄是量到的：輪到位置 $i$ 的時候，它那一列（row）只有 $i+1$ 個鍵。後面的詞元根本**還不存在**。
#
# 訓練時整句話早就擺在那裡，既當輸入又當答案，只要錯開一格：位置 $i$ 的輸入是詞元 $i$，目標是詞元 $i+1$。

# %% [markdown] lang="en" key="generate-claim" of="f7625082cf24" tags=["core"]
# The rule: the output at position $i$ predicts token $i+1$, so position 0 predicts "visits".
#
# The third column is measured: when position $i$ has its turn, its row holds only $i+1$ keys. Later tokens **do not exist yet**.
#
# In training the whole sentence is both input and answer, one place apart: the input at position $i$ is token $i$, the target token $i+1$.

# %% [markdown] lang="zh-Hant" key="shifted" tags=[]
# **深入，先猜猜看**　每個位置都看得到自己，也就是 $j = i$ 那一格。這樣會看到答案嗎？填 `True`（是）或 `False`（否）。

# %% [markdown] lang="en" key="shifted" of="d454b1bb3835" tags=[]
# **Deeper, guess first**　Every position sees itself, the cell with $j = i$. Does that show it the answer? Write `True` (yes) or `False` (no).

# %% key="shifted-guess" tags=[]
guess = None  # True, False

# %% key="shifted-table" tags=[]
tokens = al.running_example().tokens
visible = [np.flatnonzero(row) for row in al.causal_mask(6)]  # 0 … i
target_seen = [i + 1 in visible[i] for i in range(6)]

al.show(guess=guess, measured=any(target_seen))
al.table(
    position=range(6),
    input=tokens,
    target=[*tokens[1:], al.label("not_there_yet")],
    target_position=range(1, 7),
    visible_positions=visible,
    target_seen=target_seen,
)

# %% [markdown] lang="zh-Hant" key="shifted-claim" tags=["core"]
# 位置 $i$ 看自己，看到的是輸入，答案在下一格。所以 $j = i$ 不是漏洞，從 $j = i+1$ 開始才是。

# %% [markdown] lang="en" key="shifted-claim" of="e80f2208f9ab" tags=["core"]
# Seeing itself, position $i$ sees its input, not its answer: $j = i$ is no leak; leaks begin at $j = i+1$.

# %% [markdown] lang="zh-Hant" key="probe" tags=["core"]
# ## 3.2　偷看了會怎樣
#
# 訓練時還沒有人管，位置 $i$ 大可直接看位置 $i+1$。**因果探測**查得出來：換掉後面一個詞元，看前面哪幾列的輸出跟著動。
#
# **先猜猜看**　把位置 4 的「書」換掉：它的查詢、鍵、值（query, key, value）都加 1。沒有遮罩的時候，哪幾列輸出會動？只准看自己和前面的時候呢？把會動的塗起來，再按「就這麼猜」。

# %% [markdown] lang="en" key="probe" of="3636abe027fd" tags=["core"]
# ## 3.2　What peeking does
#
# In training nothing stops position $i$ from looking at position $i+1$. A **causality probe** finds out: replace a later token and see which output rows move.
#
# **Guess first**　Replace "book" at position 4: 1 is added to its query, key and value. Which output rows move without a mask? And when each sees only itself and what came before? Shade them, then press "Commit my guess".

# %% key="probe-guess" tags=["core"]
def rows_that_move():  # () → (2, 6)
    example = al.running_example()
    qkv = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
    ways = (al.attention, lambda Q, K, V: al.attention(Q, K, V, mask="causal"))
    return np.array([experiments.causality_probe(attend, *qkv, 4) > 0 for attend in ways])


al.guess_cells(
    "03_moves",
    (2, 6),
    rows_that_move,
    row_names=("no_mask", "mask_causal"),
    column_names=al.running_example().tokens,
    rows="mask",
    columns="guess_output_rows",
    title="guess_moves",
)

# %% [markdown] lang="zh-Hant" key="probe-write" tags=[]
# **深入**　換掉一個詞元，它的查詢、鍵、值三列都會變；探測就把這三列的每個數加 1，再量輸出的每一列最多動了多少。

# %% [markdown] lang="en" key="probe-write" of="41981f77fbce" tags=[]
# **Deeper**　To replace a token, the probe adds 1 to every number in its rows of queries, keys and values, and measures how far each output row moves at most.

# %% key="probe-measure" tags=["core"]
example = al.running_example()
tokens = example.tokens
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)


def causal_attention(Q, K, V):
    return al.attention(Q, K, V, mask="causal")


probe = experiments.causality_probe
moved_unmasked = probe(al.attention, Q, K, V, 4)  # (6,)
moved_causal = probe(causal_attention, Q, K, V, 4)  # (6,)

al.table(
    mask=[al.label("no_mask"), al.label("mask_causal")],
    rows_that_move=[np.flatnonzero(moved_unmasked), np.flatnonzero(moved_causal)],
)

# %% key="probe-rows" tags=[]
al.table(position=range(6), token=tokens, moved_unmasked=moved_unmasked, moved_causal=moved_causal)

# %% [markdown] lang="zh-Hant" key="probe-claim" tags=["core"]
# 沒有遮罩，六列全動，連位置 0 的「小安」都感覺得到。有因果遮罩，前面四列的變化是 0，一點也不差。

# %% [markdown] lang="en" key="probe-claim" of="9534356acdc2" tags=["core"]
# Without a mask all six rows move, even "Ann" at position 0. With the causal mask the four rows before change by exactly 0.

# %% [markdown] lang="zh-Hant" key="probe-weights" tags=[]
# **深入，先猜猜看**　輸出會動，是因為值動了，權重也動了。同樣換掉位置 4 的「書」，有因果遮罩，36 格權重裡哪幾格會動？

# %% [markdown] lang="en" key="probe-weights" of="1a7b98740571" tags=[]
# **Deeper, guess first**　Output rows move because values move, and weights as well. Replace "book" at position 4 once more: under the causal mask, which of the 36 weights move?

# %% key="probe-weights-guess" tags=[]
def weights_that_move():  # () → (6, 6)
    example = al.running_example()
    Q, K = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)[:2]
    changed = np.eye(6)[4][:, None]  # (6, 1)
    moved = al.attention_weights(Q + changed, K + changed, mask="causal")  # (6, 6)
    return moved != al.attention_weights(Q, K, mask="causal")


tokens = al.running_example().tokens
al.guess_cells(
    "03_weights",
    (6, 6),
    weights_that_move,
    row_names=tokens,
    column_names=tokens,
    title="guess_weights",
)

# %% key="probe-weights-measure" tags=[]
al.table(
    position=range(6),
    token=tokens,
    weights_that_move=[np.flatnonzero(row) for row in weights_that_move()],
)

# %% [markdown] lang="zh-Hant" key="probe-weights-claim" tags=[]
# 動的只有第 4 列和第 5 列，但是這兩列看得到的格子**全部**都動了。第 4 列換了查詢，每個分數都跟著變。第 5 列只換了一個鍵，可是一列的總和永遠是 1：一格多拿，其他的格子就少分。

# %% [markdown] lang="en" key="probe-weights-claim" of="fe5c190bd234" tags=[]
# Only rows 4 and 5 move, but in these **every** visible cell does. Row 4 has a new query, which changes all its scores. In row 5 just one key is new, but a row always sums to 1: if one cell takes more, less is left for the others.

# %% [markdown] lang="zh-Hant" key="probe-each" tags=[]
# **深入**　再問得更準一點：每個位置的**答案**漏進它自己的輸出了嗎？對每個位置 $i$，換掉詞元 $i+1$，只看第 $i$ 列。

# %% [markdown] lang="en" key="probe-each" of="a488c08c0b28" tags=[]
# **Deeper**　Now ask more precisely: does the **answer** of each position leak into its own output? For every position $i$, change token $i+1$ and look only at row $i$.

# %% key="probe-answers" tags=[]
al.table(
    position=range(5),
    target=tokens[1:],
    moved_unmasked=[probe(al.attention, Q, K, V, i + 1)[i] for i in range(5)],
    moved_causal=[probe(causal_attention, Q, K, V, i + 1)[i] for i in range(5)],
)

# %% [markdown] lang="zh-Hant" key="probe-answers-claim" tags=[]
# 看得到對角線的因果注意力，一個答案也沒漏。

# %% [markdown] lang="en" key="probe-answers-claim" of="334a8077e2ff" tags=[]
# Causal attention, diagonal included, leaks not one answer.

# %% [markdown] lang="zh-Hant" key="causality" tags=[]
# **練習**　因果探測（12 分鐘，難度 3／3）
#
# 換你寫一個探測：`causality(attend)`。`attend(Q, K, V)` 是別人寫好的注意力，回傳形狀 `(T, d_v)` 的輸出。不管改動哪一個位置，前面的輸出都不動，就回傳 `True`；只要有一處漏，就回傳 `False`。檢查的時候會拿好幾種注意力來考它，有的漏得很隱密。要提示：`al.hint("causality")`。

# %% [markdown] lang="en" key="causality" of="e687e242374a" tags=[]
# **Exercise**　A causality probe (12 minutes, difficulty 3 of 3)
#
# Now write a probe yourself: `causality(attend)`. `attend(Q, K, V)` is attention written by somebody else and returns an output of shape `(T, d_v)`. Return `True` if no earlier output moves, whichever position is changed, and `False` if there is a single leak. The check tries it on several attentions, some of which leak in hidden ways. For a hint: `al.hint("causality")`.

# %% key="exercise-causality" tags=[]
def causality(attend):  # attend(Q, K, V) → (T, d_v)
    ...


al.check.causality(causality)

# %% [markdown] lang="zh-Hant" key="copy" tags=["core"]
# **漏了又怎樣？**　下面這個頭（head）是人工設定的，沒有訓練過，只會抄：位置 $i$ 的查詢專找位置 $i+1$ 的鍵，拿回那裡的詞元。句子是亂數，每個詞元從十種裡隨便挑。

# %% [markdown] lang="en" key="copy" of="f9a796e327a0" tags=["core"]
# **And if it leaks?**　The head below is set by hand, not trained, and only copies: the query at position $i$ looks for the key at position $i+1$ and gets back the token there. The sentence is random, each token one of ten kinds.

# %% [markdown] lang="zh-Hant" key="copy-ask" tags=[]
# **深入，先猜猜看**　整句一起算、不遮，它答對的比例是多少？一步一步生成的時候呢？填兩個 0 到 1 的數，像 `[0.2, 0.7]`。

# %% [markdown] lang="en" key="copy-ask" of="da55af02e4a0" tags=[]
# **Deeper, guess first**　What share does it get right on the whole sentence without a mask? And when it generates step by step? Write two numbers from 0 to 1, like `[0.2, 0.7]`.

# %% key="copy-guess" tags=[]
guess = None  # [0 … 1, 0 … 1]

# %% key="copy-measure" tags=["core"]
rng = np.random.default_rng(0)
T, kinds = 256, 10
sentence = rng.integers(kinds, size=T)  # (256,)
Q, K, V = np.eye(T, k=1), np.eye(T), np.eye(kinds)[sentence]  # (256, 256), (256, 256), (256, 10)

unmasked = al.attention(Q, K, V, scale=20.0)[:-1]  # (255, 10)
generated = [
    al.attention(Q[i : i + 1], K[: i + 1], V[: i + 1], scale=20.0)[0] for i in range(T - 1)
]  # (255, 10)
masked = al.attention(Q, K, V, scale=20.0, mask="causal")[:-1]  # (255, 10)

right = [
    np.mean(np.round(output, 6).argmax(axis=-1) == sentence[1:])
    for output in (unmasked, generated, masked)
]
al.show(chance=1 / kinds)
al.table(
    how_run=[al.label(key) for key in ("whole_unmasked", "generating", "whole_masked")],
    share_right=right,
)

# %% key="copy-check" tags=[]
al.show(guess=guess, measured=np.array(right[:2]))

# %% [markdown] lang="zh-Hant" key="copy-claim" tags=["core"]
# 整句一起算、不遮，全部答對；一步一步生成，只剩亂猜的水準，因為要抄的詞元還不存在。加上因果遮罩，整句的比例就和生成的一樣。訓練必須和生成看到同樣的東西，結果才可信。

# %% [markdown] lang="en" key="copy-claim" of="e2d0b46fc230" tags=["core"]
# On the whole sentence, unmasked, it gets everything right; generating, only as much as chance, because the token to copy does not exist yet. With the causal mask both shares agree. Training must see what generation sees, or its results mislead.

# %% [markdown] lang="zh-Hant" key="mask" tags=["core"]
# ## 3.3　遮罩：兩層迴圈，或一句程式
#
# 位置 $i$ 只准看 $j \le i$。做法是在 softmax 之前，把 $j > i$ 的分數換成負無限大：$e^{-\infty} = 0$，權重就成了 0，總和 1 由其他的鍵去分。
#
# 誰可以看誰，寫成一個布林（Boolean）陣列，叫做遮罩（mask）。一列是一個查詢 $i$，一行（column）是一個鍵 $j$，**True 表示可以看**。（別家的程式有時正好相反。）

# %% [markdown] lang="en" key="mask" of="eb094f7c2893" tags=["core"]
# ## 3.3　The mask: a double loop, or one line
#
# Position $i$ may see only $j \le i$. Before softmax, replace the scores with $j > i$ by minus infinity: $e^{-\infty} = 0$, so their weights become 0, and the others share the sum of 1.
#
# Who may see whom is a Boolean array, the mask. A row is a query $i$, a column a key $j$, and **True means may attend** (elsewhere sometimes the reverse).

# %% [markdown] lang="zh-Hant" key="mask-ask" tags=[]
# **深入，先猜猜看**　六個詞元有 $6 \times 6 = 36$ 格，其中幾格是 True？位置 0 那一列又有幾格？填兩個數，像 `[30, 4]`。

# %% [markdown] lang="en" key="mask-ask" of="b58669dffee6" tags=[]
# **Deeper, guess first**　Six tokens make $6 \times 6 = 36$ cells. How many of them are True? And how many in the row of position 0? Write two numbers, like `[30, 4]`.

# %% key="mask-guess" tags=[]
guess = None  # [0 … 36, 0 … 6]

# %% key="mask-code" tags=["core"]
example = al.running_example()
tokens = example.tokens
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
T = len(tokens)
scaled_scores = Q @ K.T / np.sqrt(K.shape[-1])  # (6, 6)

by_loops = scaled_scores.copy()
for i in range(T):
    for j in range(T):
        if j > i:
            by_loops[i, j] = -np.inf

mask = al.causal_mask(T)  # (6, 6)
masked_scores = np.where(mask, scaled_scores, -np.inf)

steps = al.attention_steps(Q, K, V, mask="causal")
al.show(
    visible_pairs=mask.sum(),
    loops_agree=np.array_equal(by_loops, masked_scores),
    agrees=np.allclose(masked_scores, steps.masked_scores),
)
print(masked_scores)

# %% key="mask-picture" tags=[]
tokens, mask = al.running_example().tokens, al.causal_mask(6)  # (6, 6)
al.show(guess=guess, measured=np.array([mask.sum(), mask[0].sum()]))
plotting.plot_mask(mask, tokens=tokens);

# %% [markdown] lang="zh-Hant" key="mask-claim" tags=["core"]
# 兩層迴圈和一句 `np.where` 給出同一個矩陣；之後只要寫 `mask="causal"`。看得到的格子排成**下三角，含對角線**：第 0 列一格，第 1 列兩格，總共 $T(T+1)/2$ 格。遮之前和遮之後，各看一次：

# %% [markdown] lang="en" key="mask-claim" of="017e336e089d" tags=["core"]
# The double loop and the one line with `np.where` agree; from now on `mask="causal"` does it. The visible cells form a **lower triangle with its diagonal**: one in row 0, two in row 1, altogether $T(T+1)/2$. Before and after the mask:

# %% [markdown] lang="zh-Hant" key="before" tags=[]
# **深入，先猜猜看**　還沒遮的時候，位置 0 的「小安」把最大的權重給哪一個位置？填 0 到 5。

# %% [markdown] lang="en" key="before" of="34d5a44f573a" tags=[]
# **Deeper, guess first**　To which position does "Ann" at position 0 give its largest weight as long as there is no mask? Write 0 to 5.

# %% key="before-guess" tags=[]
guess = None  # 0 … 5

# %% key="before-picture" tags=["core"]
unmasked = al.attention_steps(Q, K, V)
plotting.plot_masking(unmasked, steps, tokens=tokens);

# %% key="before-after" tags=[]
weights = steps.weights  # (6, 6)
largest = unmasked.weights[0].argmax()
al.show(guess=guess, measured=largest, token=tokens[largest])
al.table(
    position=range(T),
    token=tokens,
    visible_keys=mask.sum(axis=-1),
    visible_sum=[weights[i, : i + 1].sum() for i in range(T)],
    hidden_sum=[weights[i, i + 1 :].sum() for i in range(T)],
)

# %% [markdown] lang="zh-Hant" key="before-claim" tags=["core"]
# 沒遮的時候，「小安」最想看「看」，可是輪到它說話時，「看」還沒有出現。遮住以後，每一列的 1 全部分給位置 $0 \ldots i$：第 0 列是 $[1, 0, 0, \ldots]$，只看自己。

# %% [markdown] lang="en" key="before-claim" of="9e58994f15fe" tags=["core"]
# Without a mask "Ann" looks most at "reads", which is not there yet at that point. With it the 1 of every row goes to positions $0 \ldots i$: row 0 is $[1, 0, 0, \ldots]$ and sees only itself.

# %% [markdown] lang="zh-Hant" key="strict" tags=[]
# **深入**　常見的誤會：「因果遮罩是嚴格下三角，不含對角線。」如果真的拿掉對角線，第 0 列會怎樣？先在紙上寫下你的答案。

# %% [markdown] lang="en" key="strict" of="1e16a44d5bc8" tags=[]
# **Deeper**　A common mistake: "The causal mask is strictly lower triangular, without the diagonal." What would become of row 0 if the diagonal were really taken away? Note your answer on paper first.

# %% key="strict-measure" tags=[]
strict = np.tril(np.ones((T, T), dtype=bool), k=-1)  # (6, 6)
al.table(
    mask=[al.label(key) for key in ("mask_causal", "strict_formula", "strict_package")],
    row_0=[
        steps.weights[0],
        experiments.fill_mask(scaled_scores, strict, -np.inf)[0],
        al.attention_weights(Q, K, mask=strict)[0],
    ],
)

# %% [markdown] lang="zh-Hant" key="strict-claim" tags=[]
# 含對角線的第 0 列是 $[1, 0, 0, \ldots]$：只看自己，所以第一個輸出就是第一個值。拿掉對角線，第 0 列沒有鍵可看，公式算出 $0/0$，電腦記成 NaN（not a number）。這個套件約定這種空列的權重是 0，但是位置 0 照樣什麼也拿不到。
#
# 從第一列就能檢查遮罩有沒有拿反：`al.attention(Q, K, V, mask="causal")[0]` 應該等於 `V[0]`。

# %% [markdown] lang="en" key="strict-claim" of="9aef69cd6e93" tags=[]
# With the diagonal, row 0 is $[1, 0, 0, \ldots]$: it sees only itself, so the first output is the first value. Without it, row 0 has no key to look at, and the formula gives $0/0$, which the computer writes as NaN (not a number). This package makes the weights of such an empty row 0, but position 0 still gets nothing.
#
# The first row also tells whether a mask is the wrong way round: `al.attention(Q, K, V, mask="causal")[0]` should equal `V[0]`.

# %% key="strict-check" tags=[]
al.show(
    first_value=np.allclose(al.attention(Q, K, V, mask=mask)[0], V[0]),
    first_value_reversed=np.allclose(al.attention(Q, K, V, mask=~mask)[0], V[0]),
)

# %% [markdown] lang="zh-Hant" key="last" tags=[]
# **只算最後幾個詞元**　生成的時候，前面的鍵和值早就算過，留著就好（這叫 KV 快取，KV cache），只有最後幾個詞元需要新的查詢。這時查詢只有 $T_q$ 個，鍵有 $T_k$ 個，遮罩不再是正方形。規則還是同一條：看自己和前面。
#
# **先猜猜看**　最後兩個查詢對六個鍵，12 格裡有幾格是 True？

# %% [markdown] lang="en" key="last" of="ec157443edde" tags=[]
# **Only the last few tokens**　In generation the earlier keys and values have been computed already and are kept (this is the KV cache); only the last few tokens need new queries. There are then $T_q$ queries and $T_k$ keys, and the mask is no longer square. The rule is still the same: itself and what came before.
#
# **Guess first**　Two last queries against six keys: how many of the 12 cells are True?

# %% key="last-guess" tags=[]
guess = None  # 0 … 12

# %% [markdown] lang="zh-Hant" key="scratch" tags=[]
# **練習**　自己寫因果遮罩（6 分鐘，難度 2／3）
#
# 寫 `causal_mask_from_scratch(T_q, T_k)`：回傳形狀 `(T_q, T_k)` 的布林陣列，True 表示可以看。查詢是整個序列的最後 $T_q$ 個位置；要是查詢比鍵還多，最前面幾列就一格也看不到。要提示：`al.hint("causal_mask_from_scratch")`。

# %% [markdown] lang="en" key="scratch" of="752b256c25da" tags=[]
# **Exercise**　The causal mask from scratch (6 minutes, difficulty 2 of 3)
#
# Write `causal_mask_from_scratch(T_q, T_k)`: return a Boolean array of shape `(T_q, T_k)`, True where attending is allowed. The queries are the last $T_q$ positions of the sequence; if there are more queries than keys, the first rows see nothing at all. For a hint: `al.hint("causal_mask_from_scratch")`.

# %% key="exercise-causal-mask-from-scratch" tags=[]
def causal_mask_from_scratch(T_q, T_k):  # → (T_q, T_k)
    ...


al.check.causal_mask_from_scratch(causal_mask_from_scratch)

# %% key="last-measure" tags=[]
example = al.running_example()
tokens = example.tokens
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
all_rows = al.attention(Q, K, V, mask="causal")  # (6, 3)
last_rows = al.attention(Q[-2:], K, V, mask="causal")  # (2, 3)
corner = np.tril(np.ones((2, 6), dtype=bool))  # (2, 6)
corner_rows = al.attention(Q[-2:], K, V, mask=corner)  # (2, 3)

al.show(guess=guess, measured=al.causal_mask(2, 6).sum())
al.table(
    triangle=[al.label("bottom_right"), al.label("top_left")],
    visible_keys=[al.causal_mask(2, 6).sum(axis=-1), corner.sum(axis=-1)],
    same_rows=[np.allclose(last_rows, all_rows[-2:]), np.allclose(corner_rows, all_rows[-2:])],
)

# %% key="last-picture" tags=[]
tokens = al.running_example().tokens
plotting.plot_mask(al.causal_mask(2, 6), tokens=tokens[-2:], key_tokens=tokens);

# %% [markdown] lang="zh-Hant" key="last-claim" tags=[]
# 查詢 $i$ 其實站在位置 $i + (T_k - T_q)$，所以規則是
#
# $$j \le i + (T_k - T_q)$$
#
# 三角形要對齊**右下角**：倒數第二個查詢看得到五個鍵，最後一個六個全看得到，兩列輸出都和整句一起算的一樣。要是對齊左上角，它們就被當成開頭的兩個詞元，算出來完全是另一回事。不同的函式庫在這裡約定不同，很容易弄錯。

# %% [markdown] lang="en" key="last-claim" of="8137eabbcf41" tags=[]
# Query $i$ really stands at position $i + (T_k - T_q)$, so the rule is
#
# $$j \le i + (T_k - T_q)$$
#
# The triangle must end at the **bottom right**: the last but one query sees five keys, the last one all six, and both rows are the same as in a run of the whole sentence. Aligned to the top left, the two would be taken for the first two tokens of the sentence, and the result would be a different one. Libraries differ here, and it is easy to get wrong.

# %% [markdown] lang="zh-Hant" key="order" tags=["core"]
# ## 3.4　softmax 之前，還是之後
#
# 為什麼不先算完 softmax，再把 $j > i$ 的權重改成 0？改完可以就算了，也可以再重新正規化（normalize），把每一列除以它的總和。
#
# **先猜猜看**　換掉位置 4 的「書」，這兩種做法，位置 0 到 3 的輸出會動嗎？各填 `True`（是）或 `False`（否）。

# %% [markdown] lang="en" key="order" of="f6393b116c73" tags=["core"]
# ## 3.4　Before softmax, or after it
#
# Why not set the weights with $j > i$ to 0 after softmax? One may leave it at that, or normalize again, dividing each row by its sum.
#
# **Guess first**　Replace "book" at position 4. Do positions 0 to 3 move under each? Write `True` (yes) or `False` (no).

# %% key="order-guess" tags=["core"]
guess_zeroed = None  # True, False
guess_renormalised = None  # True, False

# %% key="order-probe" tags=["core"]
example = al.running_example()
tokens = example.tokens
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
mask = al.causal_mask(6)


def zeroed_weights(Q, K):
    return np.where(mask, al.attention_weights(Q, K), 0)


def renormalised_weights(Q, K):
    weights = zeroed_weights(Q, K)
    return weights / weights.sum(axis=-1, keepdims=True)


def masked_weights(Q, K):
    return al.attention_weights(Q, K, mask=mask)


ways = (zeroed_weights, renormalised_weights, masked_weights)
zeroed, renormalised, before = (
    experiments.causality_probe(lambda Q, K, V, weigh=weigh: weigh(Q, K) @ V, Q, K, V, 4).round(12)
    for weigh in ways
)
al.table(
    order=[al.label(way) for way in ("zeroed", "renormalised", "before")],
    guess=[guess_zeroed, guess_renormalised, ""],
    earlier_rows_move=[moved[:4].any() for moved in (zeroed, renormalised, before)],
    same_as_before=[np.allclose(weigh(Q, K), masked_weights(Q, K)) for weigh in ways],
)

# %% [markdown] lang="zh-Hant" key="order-why" tags=["core"]
# 只改成 0，前四列就動了：**未來從分母漏了進來**。
#
# $$\frac{e^{s_{ij}}}{\sum_{k=0}^{T-1} e^{s_{ik}}} \qquad (j \le i)$$
#
# 分子看不到未來，分母看得到。重新正規化會把分母約掉，結果就和先遮一樣。大家還是先遮：一步到位，也不怕分數太大。

# %% [markdown] lang="en" key="order-why" of="2293a108a784" tags=["core"]
# Only set to 0, the four rows move: **the future leaks in through the denominator**.
#
# $$\frac{e^{s_{ij}}}{\sum_{k=0}^{T-1} e^{s_{ik}}} \qquad (j \le i)$$
#
# The numerator does not see the future, the denominator does. Normalizing again cancels it and equals masking before. Masking before stays usual: one step, safe with large scores.

# %% [markdown] lang="zh-Hant" key="order-more" tags=[]
# **深入**　看得細一點。先看每一列動了多少（四捨五入到小數第 12 位，免得把浮點數的捨入也算進去），再看每一列的總和，以及兩種做法和「softmax 之前就遮」差多少。

# %% [markdown] lang="en" key="order-more" of="9f351583aabc" tags=[]
# **Deeper**　Look more closely: first how far each row moves (rounded to 12 decimals, so that floating-point rounding does not count as a move), then the sum of each row, and how far both ways are from masking before softmax.

# %% key="order-rows" tags=[]
al.table(position=range(6), token=tokens, zeroed=zeroed, renormalised=renormalised, before=before)

# %% key="order-sums" tags=[]
after = experiments.mask_after_softmax
weights = masked_weights(Q, K)  # (6, 6)
al.show(
    agrees=np.array_equal(zeroed_weights(Q, K), after(Q, K, mask, renormalise=False))
    and np.array_equal(renormalised_weights(Q, K), after(Q, K, mask, renormalise=True)),
    zeroed_sums=zeroed_weights(Q, K).sum(axis=-1),
    renormalised_sums=renormalised_weights(Q, K).sum(axis=-1),
    before_sums=weights.sum(axis=-1),
)
al.show(
    zeroed_equal=np.abs(zeroed_weights(Q, K) - weights).max() < 1e-15,
    renormalised_equal=np.abs(renormalised_weights(Q, K) - weights).max() < 1e-15,
)

# %% [markdown] lang="zh-Hant" key="order-claim" tags=[]
# 所以「softmax 之後遮就是錯」這句話只對了一半：
#
# - **只改成 0**，每一列的總和不到 1（最後一列除外，它沒有未來），少掉的正是未來拿走的，而且未來的詞元改得動過去。這是真的漏。
# - **重新正規化**，分母約掉了，結果就和先遮一樣；相差不到 $10^{-15}$，那只是浮點數的捨入。
#
# 先遮不怕分數太大，這話也可以試。把分數放大一千倍：

# %% [markdown] lang="en" key="order-claim" of="c86f2034f3b6" tags=[]
# So "masking after softmax is wrong" is only half true:
#
# - **Only set to 0**, the rows sum to less than 1 (all but the last, which has no future); what is missing is just what the future took, and a later token can still move the past. That is a real leak.
# - **Normalized again**, the denominator cancels, and the result equals masking before, to within $10^{-15}$, which is floating-point rounding.
#
# That masking before does not fear large scores can be tried too. Make the scores a thousand times larger:

# %% key="order-huge" tags=[]
al.show(
    renormalised=after(1000 * Q, K, mask, renormalise=True)[0],
    before=al.attention_weights(1000 * Q, K, mask=mask)[0],
)

# %% [markdown] lang="zh-Hant" key="order-recap" tags=[]
# 未來的分數太大，先把第 0 列看得到的權重擠到下溢（underflow），變成 0，再除以總和就是 $0/0$。先遮就沒有這個問題：第 0 列還是 $[1, 0, 0, \ldots]$。

# %% [markdown] lang="en" key="order-recap" of="b4bcad25000a" tags=[]
# In row 0 the future first squeezes the visible weight until it underflows to 0, and dividing by the sum is then $0/0$. Masking before has no such trouble: row 0 is still $[1, 0, 0, \ldots]$.

# %% [markdown] lang="zh-Hant" key="parallel" tags=["core"]
# ## 3.5　一次訓練所有的位置
#
# $T$ 個詞元裡有 $T$ 個「猜下一個」的題目。老實的做法是跑 $T$ 次：先給 1 個詞元，再給 2 個……有了遮罩，能不能一次跑完？
#
# **寫在紙上**　整句一起跑、加上因果遮罩，第 2 列的輸出，和「只給前三個詞元」的最後一列一樣嗎？

# %% [markdown] lang="en" key="parallel" of="824882704f0c" tags=["core"]
# ## 3.5　Training every position at once
#
# $T$ tokens hold $T$ exercises "predict the next one". The honest way is $T$ runs: with 1 token, 2, and so on. Can one masked run do it all?
#
# **Note on paper**　Under the causal mask, does row 2 of the output equal the last row of a run on three tokens?

# %% key="parallel-small" tags=["core"]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)

grown = np.array([al.attention(Q[:n], K[:n], V[:n])[-1] for n in range(1, 7)])  # (6, 3)
one_pass = al.attention(Q, K, V, mask="causal")  # (6, 3)
unmasked = al.attention(Q, K, V)  # (6, 3)

al.table(
    position=range(6),
    tokens_so_far=[" ".join(example.tokens[: i + 1]) for i in range(6)],
    same_masked=[np.allclose(one_pass[i], grown[i]) for i in range(6)],
    same_unmasked=[np.allclose(unmasked[i], grown[i]) for i in range(6)],
)

# %% [markdown] lang="zh-Hant" key="parallel-claim" tags=["core"]
# 加了遮罩，每一列都和逐步生成時一樣；不加遮罩，只有最後一列一樣。一次前向傳播（forward pass）就做完六個題目，誰也沒偷看。
#
# 還缺一半：位置 $i+1$ 的輸入不能等模型猜出來。訓練時直接給**正確的**詞元，不管模型猜對猜錯，這叫教師強制（teacher forcing）。遮罩加上教師強制，GPT、LLaMA、ANDREA 這些純解碼器（decoder-only）模型才能平行訓練所有的位置。

# %% [markdown] lang="en" key="parallel-claim" of="1a57e8b28b6b" tags=["core"]
# With the mask every row is what it was step by step; without it only the last. One forward pass does six exercises, and none peeks.
#
# The other half: the input at position $i+1$ cannot wait for a prediction. Training puts the **true** token there, whatever was predicted: teacher forcing. With both, decoder-only models like GPT, LLaMA and ANDREA train all positions in parallel.

# %% [markdown] lang="zh-Hant" key="parallel-play" tags=[]
# **深入，動手玩**　訓練一次跑完，生成卻得一步一步來。還好前面的鍵和值算過就不用再算，留在 KV 快取裡，每一步只添一列。下面停在第 2 步：新的詞元是「圖書館」，快取裡有三列；最右邊是訓練時一次算出的權重，拿來對照。
#
# **先猜猜看**　先寫在紙上，再按「▶ 播放」走到底。
#
# 1. 後來的詞元一個個加進來，前面算好的列會變嗎？
# 2. 每一步各要算幾個點積？六步一共幾個？如果沒有快取，每一步都把所有的列重算一遍，一共又是幾個？

# %% [markdown] lang="en" key="parallel-play" of="c68b7c033118" tags=[]
# **Deeper, play**　Training is one pass, but generation must go step by step. At least keys and values, once computed, need not be computed again: they stay in the KV cache, and each step adds one row. Here it stands at step 2: the new token is "library", and the cache holds three rows; at the far right, for comparison, are the weights of one training pass.
#
# **Guess first**　Write on paper, then press "▶ Play" and go to the end.
#
# 1. As later tokens come in, do the rows computed before change?
# 2. How many dot products does each step take, and how many do all six? And how many if there were no cache and each step computed all rows again?

# %% key="parallel-figure" tags=[]
panels.figure(panels.generation_panel)

# %% key="parallel-panel" tags=[]
panels.generation_panel()

# %% key="parallel-products" tags=[]
lengths = (6, 64, al.ANDREA_120M.T)
al.table(
    T=lengths,
    with_cache=[sum(i + 1 for i in range(T)) for T in lengths],
    without_cache=[sum((i + 1) * (i + 2) // 2 for i in range(T)) for T in lengths],
)

# %% [markdown] lang="zh-Hant" key="parallel-answer" tags=[]
# 前面的列一列也沒變，每一步都和訓練時的同一列一樣，所以鍵和值才可以留著用。有快取，位置 $i$ 那一步只要 $i+1$ 個點積，全部是 $T(T+1)/2$ 個；沒有快取是 $T(T+1)(T+2)/6$ 個，是前者的 $(T+2)/3$ 倍。句子越長，快取越划算。

# %% [markdown] lang="en" key="parallel-answer" of="463773d9d8aa" tags=[]
# No row before changes, and each step gives the same row as training; that is why keys and values can be kept. With the cache the step at position $i$ takes only $i+1$ dot products, $T(T+1)/2$ in all; without it they are $T(T+1)(T+2)/6$, which is $(T+2)/3$ times as many. The longer the text, the more the cache pays.

# %% [markdown] lang="zh-Hant" key="parallel-size" tags=[]
# **深入**　換成 ANDREA-120M 真正的尺寸：12 個頭、1024 個位置、單精度，向量是亂數。跑一次有遮罩的，再抽幾個長度只給前面 $n$ 個詞元來對照。
#
# **先猜猜看**　$T = 1024$，一共 $1024 \times 1024$ 個配對，有幾個看得到？

# %% [markdown] lang="en" key="parallel-size" of="5408989c6847" tags=[]
# **Deeper**　Now at the real size of ANDREA-120M: 12 heads, 1024 positions, single precision, random vectors. One masked pass, compared at a few lengths with runs on the first $n$ tokens only.
#
# **Guess first**　$T = 1024$ makes $1024 \times 1024$ pairs; how many of them are visible?

# %% key="parallel-guess" tags=[]
guess_pairs = None  # 1 … 1048576

# %% key="parallel-andrea" tags=[]
model = al.ANDREA_120M
rng = np.random.default_rng(0)
Q, K, V = rng.standard_normal((3, model.n_head, model.T, model.d_k), dtype=np.float32)
one_pass = al.attention(Q, K, V, mask="causal")  # (12, 1024, 64)

lengths = [1, 2, 17, 512, 1023, 1024]
same = []
for n in lengths:
    grown = al.attention(Q[:, :n], K[:, :n], V[:, :n])[:, -1]  # (12, 64)
    same.append(np.allclose(one_pass[:, n - 1], grown, atol=1e-5))

mask = al.causal_mask(model.T)  # (1024, 1024)
al.show(guess=guess_pairs, visible_pairs=mask.sum(), all_pairs=mask.size)
al.table(n=lengths, same_masked=same)

# %% [markdown] lang="zh-Hant" key="parallel-recap" tags=[]
# 看得到的配對有 $1 + 2 + \cdots + 1024 = 1024 \cdot 1025 / 2$ 個，比一半多一點點，多的就是對角線。
#
# 那疊上好幾層呢？第二層的輸入是第一層的輸出，而第一層的第 $i$ 列只用到位置 $0 \ldots i$。疊兩層探測看看，照樣換掉位置 4：

# %% [markdown] lang="en" key="parallel-recap" of="dadd20004812" tags=[]
# The visible pairs are $1 + 2 + \cdots + 1024 = 1024 \cdot 1025 / 2$, a little more than half; the surplus is the diagonal.
#
# And when layers are stacked? The second layer works on the output of the first, whose row $i$ uses only the positions $0 \ldots i$. Probe two stacked layers, changing position 4 as before:

# %% key="stacked-probe" tags=[]
def two_layers(Q, K, V):
    first = al.attention(Q, K, V, mask="causal")  # (6, 3)
    return al.attention(first, first, first, mask="causal")


example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
moved = experiments.causality_probe(two_layers, Q, K, V, 4)  # (6,)
al.show(rows_that_move=np.flatnonzero(moved))

# %% [markdown] lang="zh-Hant" key="stacked-claim" tags=[]
# 前四列還是不動。同樣的道理一層一層往上推，疊幾層都一樣。

# %% [markdown] lang="en" key="stacked-claim" of="cdc871420d68" tags=[]
# The four rows before still stay put. The same argument carries over from each layer to the next, however many there are.

# %% [markdown] lang="zh-Hant" key="kinds" tags=["core"]
# ## 3.6　遮罩的種類
#
# 下面六種遮罩，差別在哪些格子是 True：
#
# - `full`　全可見：看得到所有的位置。
# - `causal`　因果：看自己和前面。
# - `sliding_window`　滑動視窗：看自己和前面幾個。
# - `prefix`　前綴：開頭一段大家都看得到，後面照因果的規則。
# - `padding`　填補：短句後面補的空位，誰也不看。
# - `document`　文件：好幾份文件接成一長串，照因果的規則，只看自己那一份。
#
# **練習**　遮罩的種類（3 分鐘，難度 1／3）
#
# 編碼器（encoder）讀懂整段已知的文字；解碼器（decoder）一個一個生成；交叉注意力（cross-attention）讓解碼器的查詢去看編碼器的鍵。各該用哪一種？各填一個名字，記得加引號。要提示：`al.hint("kinds_of_masks")`。

# %% [markdown] lang="en" key="kinds" of="5944fe3bc86a" tags=["core"]
# ## 3.6　Kinds of masks
#
# These six masks differ in which cells are True:
#
# - `full`　all positions.
# - `causal`　itself and what came before.
# - `sliding_window`　itself and a few before it.
# - `prefix`　a beginning open to all, then the causal rule.
# - `padding`　nobody looks at the filler behind a short sentence.
# - `document`　several documents in one sequence, each causal on its own.
#
# **Exercise**　Kinds of masks (3 minutes, difficulty 1 of 3)
#
# An encoder reads a whole known text; a decoder generates token by token; in cross-attention the decoder's queries look at the encoder's keys. Which mask suits each? Write one name each, in quotes. For a hint: `al.hint("kinds_of_masks")`.

# %% key="exercise-kinds-of-masks" tags=["core"]
kinds_of_masks = {"encoder": None, "decoder": None, "cross_attention": None}

al.check.kinds_of_masks(kinds_of_masks)

# %% key="kinds-pictures" tags=["core"]
masks = {
    "full": al.full_mask(6),
    "causal": al.causal_mask(6),
    "sliding_window": al.sliding_window_mask(6, window=3),
    "prefix": al.prefix_mask(6, prefix=3),
    "padding": np.broadcast_to(al.padding_mask([4], 6)[0], (6, 6)),  # (1, 6) → (6, 6)
    "document": al.document_mask([0, 0, 0, 1, 1, 1]),
}
pictures = {al.label(f"mask_{kind}"): mask for kind, mask in masks.items()}
plotting.plot_masks(pictures, tokens=[str(i) for i in range(6)]);

# %% key="kinds-table" tags=[]
al.table(
    mask=[al.label(f"mask_{kind}") for kind in masks],
    visible_pairs=[mask.sum() for mask in masks.values()],
    most_keys=[mask.sum(axis=-1).max() for mask in masks.values()],
    sees_future=[np.triu(mask, k=1).any() for mask in masks.values()],
)

# %% [markdown] lang="zh-Hant" key="kinds-read" tags=["core"]
# 對角線右上方還開著的格子看得到未來，不適合解碼器。前綴遮罩例外：它只打開開頭那一段，那是別人給的，不用模型猜。編碼器和交叉注意力看的是早就寫好的文字，看得越全越好。對答案：

# %% [markdown] lang="en" key="kinds-read" of="488d33362b64" tags=["core"]
# Open cells above the diagonal see the future and do not suit a decoder. The prefix mask is an exception: it opens only what is given, not predicted. Encoder and cross-attention read a finished text; the more they see the better. Check:

# %% key="kinds-check" tags=["core"]
given = 3
peeks = {kind: np.triu(mask, k=1)[:, given:].any() for kind, mask in masks.items()}
fitting = {
    "encoder": ["full", "padding"],
    "decoder": [kind for kind in masks if not peeks[kind]],
    "cross_attention": ["full", "padding"],
}
guesses, verdicts = [], []
for part, kinds in fitting.items():
    mine = al.answer(kinds_of_masks, part)
    name = str(mine).strip("[](),' ").lower()
    guesses.append(al.label(f"mask_{name}") if name in masks else mine)
    verdict = name in kinds if name in masks else al.label("no_such_mask")
    verdicts.append(None if mine is None else verdict)

al.table(
    part=[al.label(part) for part in fitting],
    guess=guesses,
    fitting=[" / ".join(al.label(f"mask_{kind}") for kind in kinds) for kinds in fitting.values()],
    right=verdicts,
)

# %% [markdown] lang="zh-Hant" key="kinds-claim" tags=["core"]
# 原始的 Transformer（[Vaswani 等人 2017](https://arxiv.org/abs/1706.03762)）編碼器和交叉注意力全可見，解碼器用因果遮罩。GPT、LLaMA 和 ANDREA 只有解碼器，用的主要是因果遮罩；接起來的文件和視窗再把它收緊一點。

# %% [markdown] lang="en" key="kinds-claim" of="22e2525e1280" tags=["core"]
# The original Transformer ([Vaswani et al. 2017](https://arxiv.org/abs/1706.03762)) is full in encoder and cross-attention, causal in the decoder. GPT, LLaMA and ANDREA have only the decoder and need mainly the causal mask; packed documents and windows narrow it further.

# %% [markdown] lang="zh-Hant" key="kinds-more" tags=[]
# **深入**　再多說幾句：
#
# - **滑動視窗**省計算：句子再長，每個查詢看的鍵最多就是視窗那麼多。
# - **前綴**在開頭那一段裡看得到未來。那一段不用模型猜，所以不算偷看；要是連那一段也拿來當題目，就是偷看了。
# - **填補**和**文件**常常和別的遮罩合用：一批句子長短不一，編碼器也要再加上填補遮罩。兩個布林遮罩用 `&` 合起來：兩邊都准，才准看。
# - **交叉注意力**的 $T_q$ 和 $T_k$ 屬於兩段不同的文字，遮罩不必是正方形。

# %% [markdown] lang="en" key="kinds-more" of="e52c9397dd7c" tags=[]
# **Deeper**　A little more:
#
# - **The sliding window** saves work: however long the text, a query looks at no more keys than the window holds.
# - **The prefix mask** does see the future within the first stretch. That stretch is not predicted, so it is no peeking; if it were set as an exercise too, it would be.
# - **Padding and document masks** often join another mask: where the sentences of a batch differ in length, an encoder needs the padding mask as well. Two Boolean masks are combined by `&`: a cell is open only if both allow it.
# - **In cross-attention** $T_q$ and $T_k$ belong to two different texts, and the mask need not be square.

# %% [markdown] lang="zh-Hant" key="window" tags=[]
# **練習**　滑動視窗遮罩（6 分鐘，難度 2／3）
#
# 寫 `sliding_window(T, window)`：回傳形狀 `(T, T)` 的布林陣列，True 表示可以看。每個位置看得到自己，還有前面 `window - 1` 個。要提示：`al.hint("sliding_window")`。

# %% [markdown] lang="en" key="window" of="b40b12ce4763" tags=[]
# **Exercise**　The sliding-window mask (6 minutes, difficulty 2 of 3)
#
# Write `sliding_window(T, window)`: return a Boolean array of shape `(T, T)`, True where attending is allowed. Each position sees itself and the `window - 1` before it. For a hint: `al.hint("sliding_window")`.

# %% key="exercise-sliding-window" tags=[]
def sliding_window(T, window):  # → (T, T)
    ...


al.check.sliding_window(sliding_window)

# %% [markdown] lang="zh-Hant" key="my-allowed-cells" tags=[]
# **練習**　你的視窗有幾格是 True（4 分鐘，難度 2／3）
#
# 在 `seed` 填一個自己的整數，例如學號的後四碼（開頭的 0 不寫），執行以後就知道你的 $T$ 和視窗有多大。先用紙筆算，再拿上面寫好的函式對答案，填進再下面那一格。要提示：`al.hint("my_allowed_cells")`。

# %% [markdown] lang="en" key="my-allowed-cells" of="5153e5a52166" tags=[]
# **Exercise**　How many cells your window opens (4 minutes, difficulty 2 of 3)
#
# Put a whole number of your own for `seed`, the last digits of your student number perhaps (without zeros in front), and run the cell: it shows your $T$ and your window. Work it out with a pencil, compare with the function you wrote above, and write your answer in the cell after that. For a hint: `al.hint("my_allowed_cells")`.

# %% key="question-my-allowed-cells" tags=[]
seed = None  # 0 … 999999

al.question("my_allowed_cells", seed)

# %% key="exercise-my-allowed-cells" tags=[]
my_allowed_cells = None

al.check.my_allowed_cells(my_allowed_cells, seed=seed)

# %% [markdown] lang="zh-Hant" key="kinds-play" tags=["core"]
# **動手玩**　面板用隨機的分數。「遮罩」選「滑動視窗」，「視窗」調到 1：每個位置看得到誰？再選回「因果」，「遮罩值」改成 0：每一列的總和還是 1，那問題出在哪裡？

# %% [markdown] lang="en" key="kinds-play" of="34dada6bc7ce" tags=["core"]
# **Play**　The scores are random. Choose "sliding-window" and "window" 1: whom does each position see? Back at "causal", set "mask value" to 0: every row still sums to 1, so what is wrong?

# %% key="kinds-figure" tags=["core"]
panels.figure(panels.mask_panel)

# %% key="kinds-panel" tags=["core"]
panels.mask_panel()

# %% [markdown] lang="zh-Hant" key="kinds-answer" tags=["core"]
# 視窗是 1，每個位置只看得到自己，權重是 1。遮罩值是 0，看不到的鍵照樣分到權重，因為 $e^0 = 1$：未來漏了進來。

# %% [markdown] lang="en" key="kinds-answer" of="31f0973b892a" tags=["core"]
# With window 1 each position sees only itself, with weight 1. With mask value 0 hidden keys keep a weight, since $e^0 = 1$: the future leaks in.

# %% [markdown] lang="zh-Hant" key="recap" tags=["core"]
# ## 3.7　帶得走的四句話
#
# - 位置 $i$ 的輸出猜詞元 $i+1$，所以看自己不算偷看，看 $j > i$ 才算。
# - softmax 之前把 $j > i$ 的分數換成 $-\infty$，每一列的 1 就只分給位置 $0 \ldots i$。
# - 遮罩加上教師強制，一次前向傳播就訓練所有的位置。
# - 不放心就做因果探測：改未來，看過去。
#
# 下一課：遮好的分數送進 softmax，一路走到十二個頭的輸出。

# %% [markdown] lang="en" key="recap" of="47d243798f75" tags=["core"]
# ## 3.7　Four sentences to take along
#
# - The output at position $i$ predicts token $i+1$; seeing oneself is no peeking, seeing $j > i$ is.
# - With $-\infty$ for scores with $j > i$ before softmax, every row shares its 1 among positions $0 \ldots i$.
# - With mask and teacher forcing, one forward pass trains all positions.
# - When in doubt, probe: change the future, watch the past.
#
# Next: from masked scores through softmax to the output of twelve heads.

# %% [markdown] lang="zh-Hant" key="quiz" tags=[]
# **小測驗**　三題，選好按「回答」。答錯會告訴你哪裡不對，可以再選；答對的會記下來，用 `al.progress()` 看得到。

# %% [markdown] lang="en" key="quiz" of="4c38248c7618" tags=[]
# **Quiz**　Three questions: choose, then press "Answer". A wrong choice is explained, and you may choose again; right answers are kept, and `al.progress()` shows them.

# %% key="quiz-questions" tags=[]
al.quiz("03")

# %% [markdown] lang="zh-Hant" key="values" tags=[]
# ## A.　附錄：$-\infty$、$-10^9$、$-10^4$
#
# 很多程式不用 $-\infty$，改用一個「夠小」的數當遮罩值（mask value），像 $-10^9$ 或 $-10^4$，寫法有兩種：
#
# - **替換**：看不到的格子換成這個數。
# - **相加**：遮罩寫成 1 和 0，分數加上 $(1 - m) \cdot (-10^9)$。
#
# 題目只有一列、兩個鍵：第一個看得到，分數是 $s$；第二個看不到，分數是 0。權重應該是 $[1, 0]$。如果兩個都看不到，就是空列，這時 $s = 1$。
#
# 除了上面三個值，再試兩個：每種精度裝得下的最小有限數，還有 0。
#
# **先猜猜看**　填 `True`（是）或 `False`（否）。
#
# 1. 用替換的寫法，$-10^9$ 和 $-\infty$ 一樣好嗎？
# 2. 這五個值裡面，有沒有哪一個用替換的寫法，在雙精度（float64）的每種情況都對？

# %% [markdown] lang="en" key="values" of="351a92d36f24" tags=[]
# ## A.　Appendix: $-\infty$, $-10^9$, $-10^4$
#
# Many programs do not use $-\infty$ but a mask value that is "small enough", such as $-10^9$ or $-10^4$. There are two ways of writing it:
#
# - **Replace**: a hidden cell gets this number.
# - **Add**: the mask is written in 1 and 0, and $(1 - m) \cdot (-10^9)$ is added to the scores.
#
# The exercise has one row and two keys: the first is visible, with the score $s$; the second is hidden, with the score 0. The weights should be $[1, 0]$. If both are hidden, the row is empty; then $s = 1$.
#
# Beside the three values above, try two more: the lowest finite number of each precision, and 0.
#
# **Guess first**　Write `True` (yes) or `False` (no).
#
# 1. When replacing, is $-10^9$ as good as $-\infty$?
# 2. Is there one among the five that, when replacing, is right in every case in double precision (float64)?

# %% key="values-guess" tags=[]
my_answers = {1: None, 2: None}

# %% key="values-replace" tags=[]
found = experiments.mask_outcomes()  # (2, 5, 3, 4)
names = ["−∞", "−10⁹", "−10⁴", al.label("lowest_number"), "0"]
lows = {"s = 1": 1.0, "s = −2·10⁴": -2e4, "s = −2·10⁹": -2e9}
cases = [*lows, al.label("empty_row")]
places = list(np.ndindex(5, 3))


def outcome_table(rule):
    def cell(*place):  # () → (2,)
        word = f"became_{found.outcome[place]}"
        return al.label(word, weights=found.weights[place].round(2))

    return al.table(
        mask_value=[names[value] for value, _ in places],
        precision=[found.dtypes[dtype] for _, dtype in places],
        **{name: [cell(rule, *place, i) for place in places] for i, name in enumerate(cases)},
    )


right = found.outcome[0, :, 0] == "right"  # (5, 4)
al.table(
    question=[1, 2],
    guess=[al.answer(my_answers, n) for n in (1, 2)],
    measured=[np.array_equal(right[1], right[0]), right.all(axis=-1).any()],
)

# %% key="values-replace-table" tags=[]
outcome_table(0)

# %% [markdown] lang="zh-Hant" key="values-replace-claim" tags=[]
# 一種情況一種情況看：
#
# - **真正的分數比遮罩值還低**，看不到的鍵反而贏，權重 1 全給了它。$-10^4$ 輸給 $-2 \cdot 10^4$，$-10^9$ 輸給 $-2 \cdot 10^9$。
# - **空列**遇到有限的遮罩值，權重是 $[0.5, 0.5]$：看起來像正常的注意力，其實全給了不准看的鍵。$-\infty$ 給的是 NaN，至少看得出有問題。
# - **半精度（float16）** 最大只到 65504，$-10^9$ 放不下，溢位（overflow）成 $-\infty$，空列就成了 NaN。分數 $-2 \cdot 10^9$ 也放不下，那是題目的問題，不怪遮罩。
# - **最小的有限數**：沒有分數比它更低，所以不會漏；可是空列照樣平分。
# - **0** 根本沒有遮：$e^0 = 1$，看不到的鍵照樣分到一份。

# %% [markdown] lang="en" key="values-replace-claim" of="3f9c367a9ef1" tags=[]
# Take it case by case:
#
# - **Where the real score is lower than the mask value**, the hidden key wins and takes the whole weight of 1. $-10^4$ loses to $-2 \cdot 10^4$, and $-10^9$ to $-2 \cdot 10^9$.
# - **An empty row** with a finite mask value gets $[0.5, 0.5]$: it looks like ordinary attention, yet all of it lies on forbidden keys. $-\infty$ gives NaN, which at least shows that something is wrong.
# - **Half precision (float16)** ends at 65504. There is no room for $-10^9$, which overflows to $-\infty$, and the empty row turns into NaN. Nor is there room for the score $-2 \cdot 10^9$, which is the fault of the exercise and not of the mask.
# - **The lowest finite number**: no score lies below it, so nothing leaks; but the empty row is still split evenly.
# - **0** masks nothing: $e^0 = 1$, and the hidden key gets its share.

# %% [markdown] lang="zh-Hant" key="values-add-ask" tags=[]
# **再猜一次**　換成相加的寫法。下面三種，哪幾種連**看得到**的鍵都會變成 NaN？填一串編號，像 `[1, 2]`。
#
# 1. 半精度，$-\infty$
# 2. 半精度，$-10^9$
# 3. 單精度，$-10^9$

# %% [markdown] lang="en" key="values-add-ask" of="93bcc8c57c9d" tags=[]
# **Guess again**　Now by adding. In which of these does even the **visible** key become NaN? Write a list of numbers, like `[1, 2]`.
#
# 1. half precision, $-\infty$
# 2. half precision, $-10^9$
# 3. single precision, $-10^9$

# %% key="values-add-guess" tags=[]
guess = None  # [1 … 3]

# %% key="values-add" tags=[]
with np.errstate(over="ignore", invalid="ignore"):
    m = np.array([1, 0], dtype="float16")  # (2,)
    added = (1 - m) * np.array(-1e9).astype("float16")  # (2,)

lost = [found.outcome[1, value, dtype, 0] == "nan" for value, dtype in ((0, 2), (1, 2), (1, 1))]
al.show(guess=guess, measured=np.flatnonzero(lost) + 1, added_float16=added)
outcome_table(1)

# %% [markdown] lang="zh-Hant" key="values-add-claim" tags=[]
# 相加的毛病更多。半精度的 $-10^9$ 已經是 $-\infty$，**看得到**的鍵加上的是 $0 \cdot (-\infty)$，也就是 NaN，整列就毀了；直接用 $-\infty$，在每一種精度都是這樣。空列更有趣：大家都加上同一個數，softmax 不理會，結果等於沒有遮罩；數字太大的時候（單精度的 $-10^9$、半精度的 $-10^4$、每種精度的最小數），連小小的分數也會一起吞掉，變成平均分配。
#
# 這個套件的做法：遮罩一律是布林，用 `&` 合併，最後用 `where` 換成 $-\infty$ 一次；空列在相除之前先認出來，權重是 0；半精度用單精度來算。同樣的題目：

# %% [markdown] lang="en" key="values-add-claim" of="c494e1bdf87d" tags=[]
# Adding has more troubles. In half precision $-10^9$ is already $-\infty$, so a **visible** key gets $0 \cdot (-\infty)$ added, which is NaN, and the row is lost; with $-\infty$ itself this happens in every precision. The empty row is curious: the same number is added to all, softmax takes no notice, and the result is as if there were no mask; and where the number is too large ($-10^9$ in single precision, $-10^4$ in half, the lowest number in any), it swallows the small scores as well and leaves an even split.
#
# What this package does: masks are always Boolean and combined by `&`; `where` puts in $-\infty$ once, at the end; an empty row is recognized before the division and gets weights of 0; half precision is computed in single precision. The same exercise again:

# %% key="values-package" tags=[]
seen, empty = np.array([[True, False]]), np.array([[False, False]])  # (1, 2), (1, 2)


def package_weights(s, mask, dtype):
    with np.errstate(over="ignore", invalid="ignore"):
        q, k = np.array([[1.0]], dtype), np.array([[s], [0.0]]).astype(dtype)  # (1, 1), (2, 1)
        return al.attention_weights(q, k, mask=mask, scale=1.0)[0]


dtypes = found.dtypes
al.table(
    precision=dtypes,
    **{name: [package_weights(s, seen, dtype) for dtype in dtypes] for name, s in lows.items()},
    empty_row=[package_weights(1.0, empty, dtype) for dtype in dtypes],
)

# %% [markdown] lang="zh-Hant" key="values-recap" tags=[]
# 看不到的鍵，權重永遠是 0，三種精度都一樣；空列是 $[0, 0]$。只有一格是 NaN：半精度裡沒有 $-2 \cdot 10^9$ 這個數，題目還沒開始，分數就已經是 $-\infty$ 了。就算這樣，看不到的鍵也沒有分到任何東西。

# %% [markdown] lang="en" key="values-recap" of="f6b24299a577" tags=[]
# The weight of a hidden key is always 0, in all three precisions; the empty row is $[0, 0]$. There is a single NaN: half precision has no number $-2 \cdot 10^9$, so the score is $-\infty$ before the exercise begins. Even then the hidden key gets nothing.

# %% [markdown] lang="zh-Hant" key="probes" tags=[]
# ## B.　附錄：再兩種探測
#
# 3.2 的因果探測問：未來漏得進來嗎？同樣的辦法還能問兩件事。探測只看輸出，不看內部，所以**你自己寫的函式**也能拿來測；交給它的是副本，你的陣列不會被改到。
#
# - **無注意力探測**：一個一個換掉詞元，記下哪幾列跟著動。每一列都只跟著自己動，就是根本沒有看別人。
# - **排列探測**：把鍵和值成對打亂，再單獨打亂查詢，看輸出怎麼變。
#
# **先猜猜看**　第 1 題填一個數，後兩題填 `True`（是）或 `False`（否）。
#
# 1. 有因果遮罩，「第 $i$ 列跟著詞元 $j$ 動」的格子，36 格裡有幾格？
# 2. 沒有遮罩，把鍵和值成對打亂，輸出會變嗎？
# 3. 有因果遮罩，輸出會變嗎？

# %% [markdown] lang="en" key="probes" of="15b080cd3352" tags=[]
# ## B.　Appendix: two more probes
#
# The causality probe of 3.2 asks whether the future leaks in. The same method answers two more questions. A probe looks at outputs only, not inside, so **a function of your own** can be tested as well; it is handed copies, and your arrays stay as they are.
#
# - **The no-attention probe** replaces one token after another and notes which rows move. If every row moves with its own token alone, nobody looks at anybody.
# - **The permutation probe** shuffles keys and values in pairs, then the queries alone, and watches the output.
#
# **Guess first**　Write a number for question 1, and `True` (yes) or `False` (no) for the others.
#
# 1. Under the causal mask, in how many of the 36 cells does row $i$ move with token $j$?
# 2. Without a mask, does shuffling the pairs of keys and values change the output?
# 3. Under the causal mask, does it?

# %% key="probes-guess" tags=[]
my_answers = {1: None, 2: None, 3: None}

# %% key="probes-measure" tags=[]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)


def causal_attention(Q, K, V):
    return al.attention(Q, K, V, mask="causal")


def own_value(Q, K, V):
    return V


ways = {"no_mask": al.attention, "mask_causal": causal_attention, "own_value": own_value}
looks = [experiments.no_attention_probe(attend, Q, K, V) for attend in ways.values()]
orders = [experiments.permutation_probe(attend, Q, K, V) for attend in ways.values()]

al.table(
    question=[1, 2, 3],
    guess=[al.answer(my_answers, n) for n in (1, 2, 3)],
    measured=[looks[1].depends.sum(), not orders[0].pairs_stay, not orders[1].pairs_stay],
)

# %% key="probes-picture" tags=[]
pictures = {al.label(way): look.depends for way, look in zip(ways, looks, strict=True)}
plotting.plot_masks(pictures, tokens=[str(i) for i in range(6)]);

# %% key="probes-table" tags=[]
al.table(
    way=[al.label(way) for way in ways],
    looks_elsewhere=[look.looks_elsewhere.sum() for look in looks],
    pairs_stay=[order.pairs_stay for order in orders],
    rows_follow=[order.rows_follow for order in orders],
)

# %% [markdown] lang="zh-Hant" key="probes-claim" tags=[]
# 圖是一格一格**量**出來的，沒有讀任何遮罩；因果那一張，正好就是因果遮罩的下三角。只回傳自己的值的函式只剩對角線：沒有一列看別人，那就不叫注意力。
#
# 沒有遮罩的注意力不在乎順序：鍵和值只要成對，怎麼排都一樣；查詢換位，輸出就跟著換位。「書 借」和「借 書」對它沒有分別，所以模型要另外加上位置嵌入（position embedding）。加了因果遮罩，誰看得到誰由位置決定，順序就有差了。
#
# 換成你的：寫一個自己的 `my_attention(Q, K, V)`，在 `ways` 裡頂替 `own_value` 這個函式，再執行這幾格。

# %% [markdown] lang="en" key="probes-claim" of="60dcc5d606bd" tags=[]
# The pictures are **measured** cell by cell, without reading any mask; the causal one is just the lower triangle of the causal mask. The function that returns its own value has only the diagonal left: no row looks at another, and that is no attention.
#
# Attention without a mask does not care about order: as long as keys and values stay in pairs, any arrangement will do, and when queries change places, the rows follow. "book borrows" and "borrows book" are the same to it, which is why a model adds a position embedding. Under the causal mask positions decide who sees whom, and order matters.
#
# Now yours: write your own `my_attention(Q, K, V)`, put it into `ways` in place of the function `own_value`, and run these cells again.
