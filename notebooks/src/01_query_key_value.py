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
# # 1　查詢、鍵、值
#
# **這一課要學會的事**
#
# - 用紙筆走完一次注意力（attention）：從三個詞元（token）的向量一路算到輸出。
# - 說得出查詢（query）、鍵（key）、值（value）各自的工作，以及它們怎麼從同一個 $X$ 投影出來。
# - 解釋為什麼查詢和鍵要用兩個不同的權重矩陣（weight matrix）。
# - 算出 ANDREA 家族每個模型的 $d_k$。
#
# **事先要會的**　向量與矩陣的乘法；嵌入（embedding）把每個詞元變成一個向量，也就是活動 4。
#
# **時間**　只走主線約 9 分鐘，全部約 30 分鐘，其中練習占 5 分鐘。
#
# 先執行下一格；重新啟動核心以後，也要先執行它。

# %% [markdown] lang="en" key="title" of="ff48675c468e" tags=["core"]
# # 1　Query, key, value
#
# **What you will be able to do**
#
# - Work through attention once with pencil and paper, from the vectors of three tokens to the output.
# - Say what query, key and value are each for, and how all are projected from one $X$.
# - Explain why queries and keys have two different weight matrices.
# - Work out $d_k$ for every model of the ANDREA family.
#
# **What you bring along**　Multiplying vectors and matrices; embeddings, which turn each token into a vector (activity 4).
#
# **Time**　About 9 minutes for the main path, about 30 for everything, of which the exercises take 5.
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

# %% [markdown] lang="zh-Hant" key="game" tags=["core"]
# ## 1.1　三個詞元，整場遊戲
#
# 先不管名詞，把整場遊戲玩一遍。三個詞元各有一個查詢 $q$、一個鍵 $k$、一個值 $v$：
#
# $$Q = \begin{bmatrix}2&0&0&0\\0&2&0&0\\1&1&1&1\end{bmatrix}\qquad K = \begin{bmatrix}1&0&1&0\\0&2&0&0\\1&1&1&1\end{bmatrix}\qquad V = \begin{bmatrix}8&0\\0&8\\4&0\end{bmatrix}$$
#
# 每一列（row）屬於一個詞元，每一行（column）是向量的一個分量（component）。規則有四步：
#
# 1. **分數（score）**　查詢 $i$ 和鍵 $j$ 的點積（dot product）：對應的分量相乘，再加起來。
# 2. **縮放（scaling）**　除以 $\sqrt{d_k}$。這裡一個鍵有 4 個分量，所以除以 2。
# 3. **遮罩（mask）**　詞元只能看自己和前面的，後面的分數換成 $-\infty$。
# 4. **權重（weight）與輸出（output）**　softmax 把分數 $s$ 換成 $e^{s}$，再除以一列的總和（$e^{-\infty} = 0$，蓋掉的分不到）；最後照權重把值混合起來。
#
# **先猜猜看**　第三個詞元（最下面那一列）會最注意誰？第 1 個、第 2 個，還是它自己（第 3 個）？用紙筆算，答案寫進下一格。（這一課數詞元從 1 數起；程式和圖裡的索引從 0 數起。）

# %% [markdown] lang="en" key="game" of="7e5ff2956635" tags=["core"]
# ## 1.1　Three tokens, the whole game
#
# Leave the terms aside and play the whole game once. Each of three tokens has a query $q$, a key $k$ and a value $v$:
#
# $$Q = \begin{bmatrix}2&0&0&0\\0&2&0&0\\1&1&1&1\end{bmatrix}\qquad K = \begin{bmatrix}1&0&1&0\\0&2&0&0\\1&1&1&1\end{bmatrix}\qquad V = \begin{bmatrix}8&0\\0&8\\4&0\end{bmatrix}$$
#
# Each row belongs to a token, each column is one component of its vector. There are four rules:
#
# 1. **Scores**　the dot product of query $i$ and key $j$: multiply matching components and add.
# 2. **Scaling**　divide by $\sqrt{d_k}$. A key has 4 components here, so divide by 2.
# 3. **Mask**　a token sees only itself and what came before; later scores become $-\infty$.
# 4. **Weights and output**　softmax replaces a score $s$ by $e^{s}$ and divides by the sum of the row (covered ones get nothing, as $e^{-\infty} = 0$); mix the values by these weights.
#
# **Guess first**　Which token will the third one, the bottom row, attend to most: number 1, number 2, or itself, number 3? Use a pencil; write your answer in the next cell. (This lesson counts tokens from 1; indices in code and pictures count from 0.)

# %% key="game-guess" tags=["core"]
guess = None  # 1, 2, 3

# %% key="game-code" tags=["core"]
Q = np.array([[2, 0, 0, 0], [0, 2, 0, 0], [1, 1, 1, 1]])  # (3, 4)
K = np.array([[1, 0, 1, 0], [0, 2, 0, 0], [1, 1, 1, 1]])  # (3, 4)
V = np.array([[8, 0], [0, 8], [4, 0]])  # (3, 2)

scores = Q @ K.T  # (3, 3)
scaled_scores = scores / np.sqrt(4)
masked_scores = np.where(np.tril(np.ones((3, 3), dtype=bool)), scaled_scores, -np.inf)
exponentials = np.exp(masked_scores)
weights = exponentials / exponentials.sum(axis=-1, keepdims=True)  # (3, 3)
output = weights @ V  # (3, 2)

al.show(
    scores=scores,
    scaled_scores=scaled_scores,
    masked_scores=masked_scores,
    weights=weights,
    output=output,
)

# %% [markdown] lang="zh-Hant" key="game-claim" tags=["core"]
# 和你紙上的數字一樣嗎？權重的每一列加起來都是 1，對角線右上方全是 0：誰也看不到後面。第一列只看得到自己，所以第一個輸出就是第一個值。
#
# 下面用套件的 `al.attention_steps` 核對這四步；圖上第三列標的是 2。

# %% [markdown] lang="en" key="game-claim" of="34e43e4208f4" tags=["core"]
# Do the numbers on your paper agree? Every row of the weights sums to 1, and everything right of the diagonal is 0: nobody sees what comes later. The first row sees only itself, so the first output is the first value.
#
# Below, the package's `al.attention_steps` checks the four steps; its picture marks the third row 2.

# %% key="game-check" tags=["core"]
steps = al.attention_steps(Q, K, V, mask="causal")
al.show(guess=guess, measured=weights[2].argmax() + 1, agrees=np.allclose(steps.output, output))
axes = plotting.plot_attention_steps(steps)

# %% [markdown] lang="zh-Hant" key="project" tags=["core"]
# ## 1.2　同一個 $X$，三種投影
#
# 每個詞元本來只有一個向量 $x$，一列一個詞元，排成矩陣 $X$。三個權重矩陣把同一個 $X$ 投影（projection）成三樣東西：
#
# $$Q = X W_Q \qquad K = X W_K \qquad V = X W_V$$
#
# 從這裡開始，整門課都用同一個例句，六個詞元：「小安 去 圖書館 借 書 看」。它的矩陣**是人工設定的**，分量都有名字。訓練出來的模型沒有這樣的名字，矩陣是反向傳播（backpropagation）學來的。
#
# 看圖的時候找找看：「看」這個詞元最想找的，是人、地點、物品，還是動作？

# %% [markdown] lang="en" key="project" of="731bbd6d8f85" tags=["core"]
# ## 1.2　One $X$, three projections
#
# At first each token has one vector $x$; stacked, one token a row, they make the matrix $X$. Three weight matrices project the same $X$ to three things:
#
# $$Q = X W_Q \qquad K = X W_K \qquad V = X W_V$$
#
# From here on the course uses one example: the six tokens "Ann visits library borrows book reads". Its matrices **are set by hand**, and components have names. A trained model has no such names; backpropagation finds its matrices.
#
# As you look: what does "reads" look for most, a person, a place, a thing or an action?

# %% key="project-X" tags=["core"]
example = al.running_example()
plotting.plot_matrices({"X": (example.X, example.model_axes)}, rows=example.tokens);

# %% key="project-qkv" tags=["core"]
example = al.running_example()
Q = example.X @ example.W_Q  # (6, 5) @ (5, 4) = (6, 4)
K = example.X @ example.W_K  # (6, 5) @ (5, 4) = (6, 4)
V = example.X @ example.W_V  # (6, 5) @ (5, 3) = (6, 3)

projected = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
al.show(agrees=all(np.array_equal(a, b) for a, b in zip((Q, K, V), projected)))
plotting.plot_matrices(
    {"Q": (Q, example.key_axes), "K": (K, example.key_axes), "V": (V, example.value_axes)},
    rows=example.tokens,
);

# %% [markdown] lang="zh-Hant" key="project-claim" tags=["core"]
# 橫著讀同一列，三個投影各有分工：
#
# - **查詢**是這個位置想知道的事。「看」最想找物品，也就是「什麼」這一行；順便也問是誰在看。
# - **鍵**是拿出來讓別人找的招牌。「書」掛的是「什麼」，「小安」掛的是「誰」。
# - **值**是被注意到的時候真正交出去的內容。「書」交出去的是一個事物。
#
# 一個詞元「問什麼」和「憑什麼被找到」可以完全不同：「書」的查詢問「做什麼」，鍵掛的卻是「什麼」。

# %% [markdown] lang="en" key="project-claim" of="b0e66dd361b4" tags=["core"]
# Read across a row: three projections, three jobs.
#
# - **The query** is what this position wants to know. "reads" looks above all for a thing, in the column "what"; it also asks who is reading.
# - **The key** is the sign hung out to be found by. "book" hangs out "what", "Ann" hangs out "who".
# - **The value** is what is handed over once somebody attends. "book" hands over an object.
#
# What a token asks and what it is found by can be different: the query of "book" asks "doing", its key says "what".

# %% [markdown] lang="zh-Hant" key="project-how" tags=[]
# **深入**　「看」的查詢是怎麼乘出來的？人工設定的 $W_Q$，一列是 $x$ 的一個分量，一行是查詢的一個分量。「看」的 $x$ 只有幾個分量不是 0；每一個都乘上 $W_Q$ 裡自己的那一列，再把各列加起來。

# %% [markdown] lang="en" key="project-how" of="d34b2cac6ab7" tags=[]
# **Deeper**　How does the product give the query of "reads"? In the hand-set $W_Q$ each row belongs to a component of $x$, each column to a component of the query. Few components of the $x$ of "reads" are not 0; each multiplies its own row of $W_Q$, and these rows are added up.

# %% key="project-how-product" tags=[]
x = example.X[5]  # (5,)
used = np.flatnonzero(x)  # (2,)
terms = x[used, None] * example.W_Q[used]  # (2, 1) * (2, 4) = (2, 4)

query = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)[0][5]  # (4,)
al.show(total=terms.sum(axis=0), agrees=np.array_equal(terms.sum(axis=0), query))
al.table(
    component=[example.model_axes[i] for i in used],
    x=x[used],
    **dict(zip(example.key_axes, terms.T)),
)

# %% [markdown] lang="zh-Hant" key="project-how-claim" tags=[]
# 「動作」帶來「誰」和一點「哪裡」，「及物」帶來「什麼」。加起來，就是上面 $Q$ 裡「看」的那一列。

# %% [markdown] lang="en" key="project-how-claim" of="43d9f6f799dd" tags=[]
# "action" brings "who" and a bit of "where", "takes object" brings "what". Their sum is the row of "reads" in $Q$ above.

# %% [markdown] lang="zh-Hant" key="project-play" tags=[]
# **動手玩**　下面是同一個例句。上面一排是「看」的 $x$ 和三個矩陣，下面一排是 $X$ 和它的三個投影；公式把框起來的那一列拆開。
#
# **先猜猜看**　「圖書館」的查詢只有「做什麼」不是 0。這一格是 $x$ 的哪幾個分量湊成的？先記在紙上，再到面板裡，點 $Q$ 的「圖書館」那一列、「做什麼」那一行，看公式怎麼說。接著按「▶ 播放」，一個詞元一個詞元看下去。

# %% [markdown] lang="en" key="project-play" of="409b7ae05a12" tags=[]
# **Play**　Here is the same example. Above stand the $x$ of "reads" and the three matrices, below them $X$ and its three projections; the formulas take the framed row apart.
#
# **Guess first**　In the query of "library" only "doing" is not 0. Which components of $x$ make up this cell? Note your answer on paper; then, in the panel, click the row "library" and column "doing" of $Q$ and see what the formulas say. After that press "▶ Play" and go on from token to token.

# %% key="project-figure" tags=[]
panels.figure(panels.qkv_panel)

# %% key="project-panel" tags=[]
panels.qkv_panel()

# %% [markdown] lang="zh-Hant" key="project-answer" tags=[]
# 兩個：「地點」和「物品」。「圖書館」是一個地點，也算半個物品；這兩個分量各乘上 $W_Q$ 裡自己那一列的「做什麼」，加起來就是那一格。其他的分量是 0，乘出來也是 0。

# %% [markdown] lang="en" key="project-answer" of="c13dedec5f0c" tags=[]
# Two: "place" and "thing". The library is a place and half a thing; each of the two components is multiplied by what its row of $W_Q$ has under "doing", and their sum is the cell. The other components are 0 and bring nothing.

# %% [markdown] lang="zh-Hant" key="catalogue" tags=["core"]
# ## 1.3　圖書館的目錄櫃
#
# 老圖書館的目錄櫃裡，一張卡片代表一本書。你心裡想的主題是查詢，卡片上的關鍵詞是鍵，書架上的書是值。注意力和查卡片有三個地方不一樣：
#
# - **每一本都拿一點**，對得越上拿得越多。
# - **每個位置同時都在查**，查的是同一個櫃子。
# - 看得到的卡片**包括自己**的。
#
# **先猜猜看**　每個詞元只看得到自己和前面的。它會把最大的權重給誰？每一列塗一格，再按「就這麼猜」。想不出來，就看 1.2 的 $Q$ 和 $K$：它問什麼，前面誰掛著那塊招牌？

# %% [markdown] lang="en" key="catalogue" of="d179ca4d3495" tags=["core"]
# ## 1.3　The card catalogue
#
# In the catalogue of an old library a card stands for a book. The topic in your mind is the query, the keywords on a card are the key, the book on the shelf is the value. Attention differs in three ways:
#
# - It takes **a little of every book**, more where the match is better.
# - **Every position looks up at the same time**, in the same catalogue.
# - The cards a position sees **include its own**.
#
# **Guess first**　Each token sees only itself and those before it. To whom does it give its largest weight? Shade one cell in each row, then press "Commit my guess". If in doubt, look at $Q$ and $K$ in 1.2: what does it ask, and who before it hangs out that sign?

# %% key="catalogue-guess" tags=["core"]
def largest_weights():  # () → (6, 6)
    example = al.running_example()
    Q, K = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)[:2]
    weights = al.attention_weights(Q, K, mask="causal")  # (6, 6)
    return weights == weights.max(axis=-1, keepdims=True)


tokens = al.running_example().tokens
al.guess_cells(
    "01_attends",
    (6, 6),
    largest_weights,
    row_names=tokens,
    column_names=tokens,
    title="guess_attends",
)

# %% key="catalogue-weights" tags=["core"]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
weights = al.attention_weights(Q, K, mask="causal")  # (6, 6)
output = weights @ V  # (6, 6) @ (6, 3) = (6, 3)

al.show(**dict(zip(example.value_axes, output[5])))
plotting.plot_row(
    weights[5], tokens=example.tokens, title=al.label("weights_of", token=example.tokens[5])
);

# %% [markdown] lang="zh-Hant" key="catalogue-claim" tags=["core"]
# 「看」最注意「書」，其次是「圖書館」（它也沾了一點「物品」），再來是「小安」。它拿回來的輸出就是上面三個分量：主要是「事物」，摻了一點「人」。這就是把值照權重混合。

# %% [markdown] lang="en" key="catalogue-claim" of="168c88e21056" tags=["core"]
# "reads" attends most to "book", then to "library" (a bit of a thing as well), then to "Ann". Its output, the three components above, is mainly object with some person. That is what mixing the values by weight means.

# %% [markdown] lang="zh-Hant" key="catalogue-all" tags=[]
# **深入**　六個詞元的輸出畫在一起，一列一個詞元。再用套件核對一次。

# %% [markdown] lang="en" key="catalogue-all" of="2ead3152edc2" tags=[]
# **Deeper**　The outputs of all six tokens in one picture, one token a row, checked against the package.

# %% key="catalogue-output" tags=[]
output = weights @ V  # (6, 6) @ (6, 3) = (6, 3)
al.show(agrees=np.allclose(output, al.attention(Q, K, V, mask="causal")))
plotting.plot_matrix(output, rows=example.tokens, columns=example.value_axes, title=al.label("output"));

# %% [markdown] lang="zh-Hant" key="catalogue-play" tags=[]
# **動手玩**　下面是同一個例句的五個步驟，先是靜態的圖，再來是面板。點一下「書」那一列，再把「遮罩」選成「全可見」：「書」這一列會發生什麼事？先在紙上猜，再動手。

# %% [markdown] lang="en" key="catalogue-play" of="4c66099aa59b" tags=[]
# **Play**　Here are the five steps on the same example, first as a still figure, then as a panel. Click the row of "book", then set "mask" to "full": what happens in the row of "book"? Guess on paper first.

# %% key="catalogue-figure" tags=[]
panels.figure(panels.attention_panel, source="example")

# %% key="catalogue-panel" tags=[]
panels.attention_panel(source="example")

# %% key="catalogue-full" tags=[]
masks = [al.causal_mask(6), al.full_mask(6)]
book = [al.attention_weights(Q, K, mask=mask)[4] for mask in masks]  # (6,), (6,)
al.table(token=example.tokens, mask_causal=book[0], mask_full=book[1])

# %% [markdown] lang="zh-Hant" key="catalogue-answer" tags=[]
# 「書」找的是動作。有因果遮罩時，它只看得到前面，大部分的權重給了「借」。遮罩一拿掉，它看得到後面的「看」，而「看」的鍵更合，就把大部分的權重搶了過去。

# %% [markdown] lang="en" key="catalogue-answer" of="4b6f0126bac5" tags=[]
# "book" looks for an action. Under the causal mask it sees only what came before, and most of its weight goes to "borrows". Without the mask it sees "reads" as well, whose key fits even better and takes most of the weight.

# %% [markdown] lang="zh-Hant" key="two" tags=["core"]
# ## 1.4　為什麼查詢和鍵要分開
#
# 省一個矩陣，讓 $W_Q = W_K = W$，查詢和鍵就成了同一個向量。這樣一來，一個詞元最容易找到誰？下面用亂數的向量量量看。

# %% [markdown] lang="en" key="two" of="66761d813475" tags=["core"]
# ## 1.4　Why queries and keys are kept apart
#
# Save a matrix, with $W_Q = W_K = W$, and query and key become the same vector. Whom would a token then find most easily? Measure it on random vectors:

# %% key="two-measure" tags=["core"]
rng = np.random.default_rng(0)
X = rng.standard_normal((64, 32))  # (T, d_model)
W_Q, W_K = rng.standard_normal((2, 32, 8))  # (d_model, d_k)

shared = experiments.shared_projection_scores(X, W_Q)  # (64, 64)
separate = (X @ W_Q) @ (X @ W_K).T  # (64, 64)

al.table(
    projections=[al.label("shared_projection"), al.label("two_projections")],
    symmetric=[np.allclose(scores, scores.T) for scores in (shared, separate)],
    finds_itself=[(s.argmax(axis=-1) == np.arange(64)).mean() for s in (shared, separate)],
)

# %% [markdown] lang="zh-Hant" key="two-claim" tags=["core"]
# 共用投影時，分數是對稱的：「借」找「書」的分數，永遠等於「書」找「借」的分數，可是語言裡的關係很少是互相的。而且大部分的詞元都只找到自己：和自己的分數是自己長度的平方，別人很難贏。分開以後，這兩件事都不再發生。

# %% [markdown] lang="en" key="two-claim" of="659e054a4154" tags=["core"]
# With a shared projection the scores are symmetric: "borrows" finds "book" as well as "book" finds "borrows", yet few relations in language are mutual. And most tokens find only themselves: the score with oneself is one's squared length, rarely beaten. Two projections end both.

# %% [markdown] lang="zh-Hant" key="two-rank" tags=[]
# **深入**　其實分數只用到兩個矩陣的乘積：$QK^\top = X\,(W_Q W_K^\top)\,X^\top$。這個乘積的形狀是 $d_{\text{model}} \times d_{\text{model}}$，上面的例子是 $32 \times 32$。它的秩（rank）是多少？先記在紙上。

# %% [markdown] lang="en" key="two-rank" of="ae0b2ef6e261" tags=[]
# **Deeper**　The scores use only the product of the two matrices: $QK^\top = X\,(W_Q W_K^\top)\,X^\top$. That product is $d_{\text{model}} \times d_{\text{model}}$, in the example above $32 \times 32$. What is its rank? Note your answer on paper.

# %% key="two-rank-measure" tags=[]
al.show(shape=(W_Q @ W_K.T).shape, rank=np.linalg.matrix_rank(W_Q @ W_K.T))

# %% [markdown] lang="zh-Hant" key="two-rank-claim" tags=[]
# 秩最多只有 $d_k$。一個頭只在 $d_k$ 個方向上比對，這是它便宜的原因，也是一層需要好幾個頭的原因之一。

# %% [markdown] lang="en" key="two-rank-claim" of="79795de0c75a" tags=[]
# The rank is at most $d_k$. One head compares along $d_k$ directions only; that is why it is cheap, and one reason why a layer needs several heads.

# %% [markdown] lang="zh-Hant" key="family" tags=["core"]
# ## 1.5　ANDREA 有多大
#
# ANDREA-120M 的每個位置帶著 768 維的向量，一層有 12 個注意力頭（attention head），每頭維度是
#
# $$d_k = \frac{d_{\text{model}}}{n_{\text{head}}}$$
#
# **練習**　ANDREA 三個模型的 $d_k$（2 分鐘，難度 1／3）
#
# ANDREA-12M（384 維、12 個頭）、ANDREA-120M、ANDREA-480M（1536 維、24 個頭）的 $d_k$ 各是多少？把每個 `None` 換成數字，再執行。卡住了，就在新的儲存格執行 `al.hint("d_k_of_andrea")`。順便想想：768 維分給 10 個頭呢？

# %% [markdown] lang="en" key="family" of="39398f9ab299" tags=["core"]
# ## 1.5　How large ANDREA is
#
# In ANDREA-120M each position has a vector of 768 numbers, and a layer has 12 attention heads, each of width
#
# $$d_k = \frac{d_{\text{model}}}{n_{\text{head}}}$$
#
# **Exercise**　$d_k$ of the three ANDREA models (2 minutes, difficulty 1 of 3)
#
# What is $d_k$ for ANDREA-12M (384 wide, 12 heads), ANDREA-120M and ANDREA-480M (1536 wide, 24 heads)? Put a number for each `None` and run. If stuck, run `al.hint("d_k_of_andrea")` in a new cell. And think: 768 over 10 heads?

# %% key="exercise-d-k-of-andrea" tags=["core"]
d_k_of_andrea = {"ANDREA-12M": None, "ANDREA-120M": None, "ANDREA-480M": None}

al.check.d_k_of_andrea(d_k_of_andrea)

# %% key="family-table" tags=["core"]
al.show(measured=768 / 10, remainder=768 % 10)
al.table(
    model=[model.name for model in al.FAMILY],
    d_model=[model.d_model for model in al.FAMILY],
    n_head=[model.n_head for model in al.FAMILY],
    guess=[al.answer(d_k_of_andrea, model.name) for model in al.FAMILY],
    d_k=[model.d_k for model in al.FAMILY],
)

# %% [markdown] lang="zh-Hant" key="family-claim" tags=["core"]
# 家族裡每一個都除得盡。768 分給 10 個頭會剩下 8，這樣切就是錯的。
#
# $W_Q$ 的形狀是 $(d_{\text{model}}, d_k)$：每個頭都讀**整個** 768 維的向量，投影*之後*才剩下 64 維。

# %% [markdown] lang="en" key="family-claim" of="b5352aedbfd7" tags=["core"]
# Everything in the family divides exactly. 768 over 10 leaves 8, and such a split is wrong.
#
# $W_Q$ has the shape $(d_{\text{model}}, d_k)$: every head reads the **whole** 768-wide vector, and 64 is the width *after* projection.

# %% [markdown] lang="zh-Hant" key="my-d-k" tags=[]
# **練習**　你自己的模型：$d_k$（2 分鐘，難度 1／3）
#
# 填一個自己的整數當 `seed`，例如學號的後四碼（開頭的 0 不寫），執行以後就有一個你自己的模型。算好它的 $d_k$，填進再下面那一格。要提示：`al.hint("my_d_k")`。

# %% [markdown] lang="en" key="my-d-k" of="234bb189c0e9" tags=[]
# **Exercise**　A model of your own: $d_k$ (2 minutes, difficulty 1 of 3)
#
# Put a whole number of your own for `seed`, the last digits of your student number perhaps (without zeros in front), and run the cell: it shows a model of your own. Work out its $d_k$ and write it in the cell after that. For a hint: `al.hint("my_d_k")`.

# %% key="question-my-d-k" tags=[]
seed = None  # 0 … 999999

al.question("my_d_k", seed)

# %% key="exercise-my-d-k" tags=[]
my_d_k = None

al.check.my_d_k(my_d_k, seed=seed)

# %% [markdown] lang="zh-Hant" key="family-mistake" tags=[]
# **深入**　從表上看，120M 和 480M 的頭一樣寬，480M 是靠更多頭變寬的；12M 的頭比較窄。
#
# 常見的誤會：「每個頭只看 768 維裡的 64 維。」量量看：改動最後一個分量，第一個頭的查詢會不會動？先記在紙上。下面用 ANDREA-120M 真正的尺寸和亂數。

# %% [markdown] lang="en" key="family-mistake" of="8a60d688e8b3" tags=[]
# **Deeper**　The table shows that the heads of 120M and 480M are equally wide; 480M is wider by having more of them. The heads of 12M are narrower.
#
# A common mistake: "Each head sees only 64 of the 768 numbers." Measure it: change the last component; does the first head's query move? Note your answer on paper. The next cell uses the real sizes of ANDREA-120M and random numbers.

# %% key="family-whole" tags=[]
rng = np.random.default_rng(0)
model = al.ANDREA_120M
X = rng.standard_normal((model.T, model.d_model)).astype("float32")  # (1024, 768)
W_Q, W_K, W_V = rng.standard_normal((3, model.d_model, model.d_k)).astype("float32")  # (768, 64)

Q, K, V = al.project_qkv(X, W_Q, W_K, W_V)
al.show(Q=Q.shape, K=K.shape, V=V.shape)

changed = X.copy()
changed[0, -1] += 1
moved = al.project_qkv(changed, W_Q, W_K, W_V)[0] != Q
al.show(moved_here=moved[0].sum(), moved_elsewhere=moved[1:].sum())

# %% [markdown] lang="zh-Hant" key="family-recap" tags=[]
# 第一個位置只動了 768 個分量裡的最後一個，它的查詢卻 64 個分量全都動了，其他位置一個也沒動：投影讀的是整個向量，而且只讀自己那個位置的向量。

# %% [markdown] lang="en" key="family-recap" of="efa0d8ae23c3" tags=[]
# At the first position only the last of 768 components changed, yet all 64 components of its query moved, and none at any other position: a projection reads the whole vector, and only that of its own position.

# %% [markdown] lang="zh-Hant" key="family-play" tags=[]
# **動手玩**　12 個頭的 $W_Q$ 並排，就是一個 $768 \times 768$ 的矩陣；$W_K$、$W_V$ 也一樣。下面用亂數畫出這三個矩陣和六個詞元的投影，框起來的是頭 0 用到的行。
#
# **先猜猜看**　先在紙上寫下答案，再拖「頭 h」和「n_head（頭數）」核對。
#
# 1. 頭也從 0 數起，最後一個是頭 11。它用的是哪幾行？
# 2. 頭數從 1 到 24，哪幾種能把 768 維平分？不能平分的時候，面板會說什麼？

# %% [markdown] lang="en" key="family-play" of="af178d8cbb9f" tags=[]
# **Play**　Side by side the $W_Q$ of 12 heads make one $768 \times 768$ matrix; so do $W_K$ and $W_V$. Below are these three matrices and the projections of six tokens, all random; the columns that head 0 uses are framed.
#
# **Guess first**　Write your answers on paper, then check them with "head h" and "n_head (heads)".
#
# 1. Heads are counted from 0 too, and the last one is head 11. Which columns does it use?
# 2. From 1 to 24 heads, which numbers split a width of 768? And what does the panel say where it does not split?

# %% key="family-figure" tags=[]
panels.figure(panels.qkv_panel, source="random")

# %% key="family-panel" tags=[]
panels.qkv_panel(source="random")

# %% key="family-splits" tags=[]
model = al.ANDREA_120M
splits = [n_head for n_head in range(1, 25) if model.d_model % n_head == 0]
al.table(n_head=splits, d_k=[model.d_model // n_head for n_head in splits])

# %% [markdown] lang="zh-Hant" key="family-answer" tags=[]
# 頭 $h$ 用第 $h\, d_k$ 行到第 $(h+1)\, d_k - 1$ 行，最後一個頭剛好用到最右邊。不能平分的頭數，面板不畫圖，只說能整除的頭數裡最接近的是哪一個。再看公式：不論哪個頭，$q$ 的一個分量都是 $d_{\text{model}}$ 項加起來的，整個 $x$ 都用到了。

# %% [markdown] lang="en" key="family-answer" of="f0f4c98b3223" tags=[]
# Head $h$ uses the columns $h\, d_k$ to $(h+1)\, d_k - 1$, and the last head ends exactly at the right edge. Where nothing splits, the panel draws no picture; it only says which number of heads comes closest. And see the formulas: whichever the head, a component of $q$ is the sum of $d_{\text{model}}$ terms, and all of $x$ goes in.

# %% [markdown] lang="zh-Hant" key="my-fused-column" tags=[]
# **練習**　合併的矩陣裡，一個頭的鍵從哪一行開始（4 分鐘，難度 2／3）
#
# 程式裡常把 $W_Q$、$W_K$、$W_V$ 並排成一個 $d_{\text{model}} \times 3\,d_{\text{model}}$ 的矩陣，一次乘完再切開；切錯一行，每個頭就都亂了。在 `seed` 填一個自己的整數，執行以後就有題目；答案填進再下面那一格。卡住了，就執行 `al.hint("my_fused_column")`。

# %% [markdown] lang="en" key="my-fused-column" of="9207850eefda" tags=[]
# **Exercise**　Where the keys of a head begin in the fused matrix (4 minutes, difficulty 2 of 3)
#
# Programs often put $W_Q$, $W_K$ and $W_V$ side by side as one matrix of $d_{\text{model}} \times 3\,d_{\text{model}}$, multiply once and cut the result; one column off, and every head is wrong. Put a whole number of your own for `seed` and run the cell, and the question appears; your answer goes into the cell after that. If stuck, run `al.hint("my_fused_column")`.

# %% key="question-my-fused-column" tags=[]
seed = None  # 0 … 999999

al.question("my_fused_column", seed)

# %% key="exercise-my-fused-column" tags=[]
my_fused_column = None

al.check.my_fused_column(my_fused_column, seed=seed)

# %% [markdown] lang="zh-Hant" key="recap" tags=["core"]
# ## 1.6　帶得走的三句話
#
# - 查詢是問題，鍵是招牌，值是內容；三者都是同一個 $X$ 的線性投影。
# - 點積比對查詢和鍵；兩個投影分開，「問什麼」和「憑什麼被找到」才可以是兩回事。
# - 每個頭讀整個 $d_{\text{model}}$ 維的向量，投影到 $d_k$ 維（ANDREA-120M 是 768 到 64）。
#
# 下一課：為什麼要除以 $\sqrt{d_k}$？

# %% [markdown] lang="en" key="recap" of="ea6189b07777" tags=["core"]
# ## 1.6　Three sentences to take along
#
# - The query is the question, the key the sign, the value the content; all are linear projections of one $X$.
# - Dot products compare queries and keys; with two projections, asking and being found can differ.
# - Every head reads the whole $d_{\text{model}}$-wide vector and projects it to $d_k$ (ANDREA-120M: 768 to 64).
#
# Next: why divide by $\sqrt{d_k}$?

# %% [markdown] lang="zh-Hant" key="quiz" tags=[]
# **小測驗**　三題，選好按「回答」。答錯會告訴你哪裡不對，可以再選；答對的會記下來，用 `al.progress()` 看得到。

# %% [markdown] lang="en" key="quiz" of="4c38248c7618" tags=[]
# **Quiz**　Three questions: choose, then press "Answer". A wrong choice is explained, and you may choose again; right answers are kept, and `al.progress()` shows them.

# %% key="quiz-questions" tags=[]
al.quiz("01")
