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
# **事先要會的**　向量與矩陣的乘法；知道嵌入（embedding）把每個詞元變成一個向量，也就是這個系列的活動 4。
#
# **時間**　只走主線約 9 分鐘，全部約 25 分鐘。

# %% [markdown] lang="en" key="title" of="1f9f56bd18b8" tags=["core"]
# # 1　Query, key, value
#
# **What you will be able to do**
#
# - Work through attention once with pencil and paper, from the vectors of three tokens to the output.
# - Say what the query, the key and the value are each for, and how all three are projected from one $X$.
# - Explain why queries and keys have two different weight matrices.
# - Work out $d_k$ for every model of the ANDREA family.
#
# **What you bring along**　Multiplying vectors and matrices; that an embedding turns each token into a vector, which was activity 4 of this series.
#
# **Time**　About 9 minutes for the main path, about 25 for everything.

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
# 先不管名詞，把整場遊戲玩一遍。三個詞元各有三樣東西：一個查詢 $q$、一個鍵 $k$、一個值 $v$。數字都很小，請拿紙筆跟著算。
#
# $$Q = \begin{bmatrix}2&0&0&0\\0&2&0&0\\1&1&1&1\end{bmatrix}\qquad K = \begin{bmatrix}1&0&1&0\\0&2&0&0\\1&1&1&1\end{bmatrix}\qquad V = \begin{bmatrix}8&0\\0&8\\4&0\end{bmatrix}$$
#
# 每一列（row）屬於一個詞元，每一行（column）是向量的一個分量（component）。規則有四步：
#
# 1. **分數（score）**　查詢 $i$ 和鍵 $j$ 的點積（dot product）：對應的分量相乘，再全部加起來。
# 2. **縮放（scaling）**　除以 $\sqrt{d_k}$。這裡一個鍵有 4 個分量，所以除以 2。
# 3. **遮罩（mask）**　詞元只能看自己和前面的詞元，後面的一律蓋掉。
# 4. **權重（weight）與輸出（output）**　用 softmax 把一列分數變成總和為 1 的權重，再照權重把值混合起來。
#
# **先猜猜看**　第三個詞元（最下面那一列）會最注意誰？第 1 個、第 2 個，還是它自己（第 3 個）？把答案寫進下一格，再往下走。（這一課數詞元從 1 數起；程式和圖裡的索引從 0 數起，下一課就跟著換過去。）

# %% [markdown] lang="en" key="game" of="470856d5acd5" tags=["core"]
# ## 1.1　Three tokens, the whole game
#
# Leave the terms aside for a moment and play the whole game once. Each of three tokens has three things: a query $q$, a key $k$ and a value $v$. The numbers are small; take a pencil and follow.
#
# $$Q = \begin{bmatrix}2&0&0&0\\0&2&0&0\\1&1&1&1\end{bmatrix}\qquad K = \begin{bmatrix}1&0&1&0\\0&2&0&0\\1&1&1&1\end{bmatrix}\qquad V = \begin{bmatrix}8&0\\0&8\\4&0\end{bmatrix}$$
#
# Each row belongs to a token, each column is one component of its vector. There are four rules:
#
# 1. **Scores**　the dot product of query $i$ and key $j$: multiply matching components, add everything up.
# 2. **Scaling**　divide by $\sqrt{d_k}$. A key has 4 components here, so divide by 2.
# 3. **Mask**　a token may look at itself and at what came before; whatever comes later is covered.
# 4. **Weights and output**　softmax turns a row of scores into weights that sum to 1; mix the values by these weights.
#
# **Guess first**　Which token will the third one, the bottom row, attend to most: number 1, number 2, or itself, number 3? Write your answer in the next cell, then go on. (This lesson counts tokens from 1; the indices in code and pictures count from 0, and from the next lesson on so shall we.)

# %% key="game-guess" tags=["core"]
guess = None  # 1, 2, 3

# %% [markdown] lang="zh-Hant" key="game-measure" tags=["core"]
# 第三列的分數在紙上是 $2,\ 2,\ 4$，縮放以後是 $1,\ 1,\ 2$。接著每個數 $s$ 換成 $e^{s}$，再除以三個數的總和。要蓋掉的分數先換成 $-\infty$：因為 $e^{-\infty} = 0$，那一格分不到權重。
#
# 下面這一格把四步照寫一遍，註解是每個結果的形狀。印出來的四個矩陣，從上到下是分數、縮放後的分數、權重、輸出。

# %% [markdown] lang="en" key="game-measure" of="13704a82c512" tags=["core"]
# On paper the scores of the third row are $2,\ 2,\ 4$, and after scaling $1,\ 1,\ 2$. Then every number $s$ becomes $e^{s}$ and is divided by the sum of the three. Scores to be covered are replaced by $-\infty$ first: since $e^{-\infty} = 0$, they get no weight.
#
# The next cell writes out the four rules; its comments are the shapes of the results. The four matrices it prints are, from top to bottom, the scores, the scaled scores, the weights and the output.

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

print(scores, scaled_scores, weights, output, sep="\n\n")

# %% [markdown] lang="zh-Hant" key="game-claim" tags=["core"]
# 權重的每一列加起來都是 1，對角線右上方全是 0：誰也看不到後面。第三列最大的權重落在第 3 個詞元，也就是它自己。第一列別無選擇，只看得到自己，所以第一個輸出就是第一個值。
#
# 這四步就是全部。套件裡的 `al.attention` 做的是同一件事，答案應該一模一樣。下面的圖把遮罩之後的分數也畫出來，所以有五格；圖上的索引從 0 數起，第三列標的是 2。

# %% [markdown] lang="en" key="game-claim" of="16ecc969c086" tags=["core"]
# Every row of the weights sums to 1, and everything right of the diagonal is 0: nobody sees what comes later. The largest weight of the third row lies on the third token, itself. The first row has no choice; it sees only itself, so the first output is the first value.
#
# These four steps are all there is. `al.attention` in the package does the same, and its answer should agree exactly. The picture below also shows the scores after the mask, which makes five panes; its indices count from 0, so the third row is marked 2.

# %% key="game-check" tags=["core"]
steps = al.attention_steps(Q, K, V, mask="causal")
al.show(guess=guess, measured=weights[2].argmax() + 1, agrees=np.allclose(steps.output, output))
axes = plotting.plot_attention_steps(steps)

# %% [markdown] lang="zh-Hant" key="project" tags=["core"]
# ## 1.2　同一個 $X$，三種投影
#
# 剛才的 $Q$、$K$、$V$ 是從哪裡來的？每個詞元本來只有一個向量 $x$，排成矩陣 $X$，一列一個詞元。三個權重矩陣把同一個 $X$ 投影（projection）成三樣東西：
#
# $$Q = X W_Q \qquad K = X W_K \qquad V = X W_V$$
#
# 從這裡開始，整門課都用同一個例句，六個詞元：「小安 去 圖書館 借 書 看」。下面的向量和矩陣**是人工設定的**，每個分量都取了名字，好讓結果能用話說出來。訓練出來的模型沒有這樣的名字，它的矩陣是反向傳播（backpropagation）學來的。
#
# **先猜猜看**　「看」這個詞元最想找的，是人、地點、物品，還是動作？先記在紙上。

# %% [markdown] lang="en" key="project" of="98a7a9a9c1de" tags=["core"]
# ## 1.2　One $X$, three projections
#
# Where did $Q$, $K$ and $V$ come from? At first each token has just one vector $x$; stacked, one token a row, they make the matrix $X$. Three weight matrices project the same $X$ to three things:
#
# $$Q = X W_Q \qquad K = X W_K \qquad V = X W_V$$
#
# From here on the whole course uses one example: the six tokens "Ann visits library borrows book reads". Its vectors and matrices **are set by hand**, and every component has a name, so that the result can be put into words. A trained model has no such names; backpropagation finds its matrices.
#
# **Guess first**　What does the token "reads" look for most: a person, a place, a thing or an action? Note your answer on paper.

# %% key="project-X" tags=["core"]
example = al.running_example()
plotting.plot_matrix(example.X, rows=example.tokens, columns=example.model_axes, title="X");

# %% key="project-qkv" tags=["core"]
example = al.running_example()
Q = example.X @ example.W_Q  # (6, 5) @ (5, 4) = (6, 4)
K = example.X @ example.W_K  # (6, 5) @ (5, 4) = (6, 4)
V = example.X @ example.W_V  # (6, 5) @ (5, 3) = (6, 3)

projected = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
al.show(agrees=all(np.array_equal(a, b) for a, b in zip((Q, K, V), projected)))
plotting.plot_matrix(Q, rows=example.tokens, columns=example.key_axes, title="Q");

# %% key="project-keys" tags=["core"]
plotting.plot_matrix(K, rows=example.tokens, columns=example.key_axes, title="K");

# %% key="project-values" tags=["core"]
plotting.plot_matrix(V, rows=example.tokens, columns=example.value_axes, title="V");

# %% [markdown] lang="zh-Hant" key="project-claim" tags=["core"]
# 讀讀看 $Q$、$K$、$V$ 三張圖的同一列，就知道三個投影分工不同：
#
# - **查詢**是這個位置想知道的事。「看」在「什麼」這一行的數字最大：它最想找的是物品，也就是被看的東西；順便也問是誰在看。
# - **鍵**是這個位置拿出來讓別人找的招牌。「書」在「什麼」這一行掛牌，「小安」在「誰」這一行掛牌。
# - **值**是被注意到的時候真正交出去的內容。「書」交出去的是一個事物。
#
# 一個詞元「問什麼」和「憑什麼被找到」可以完全不同：「書」的查詢問的是「做什麼」，它的鍵掛的卻是「什麼」。這正是三個矩陣各司其職的原因。

# %% [markdown] lang="en" key="project-claim" of="c462406ea04e" tags=["core"]
# Read the same row in the pictures of $Q$, $K$ and $V$, and you see that the three projections have different jobs:
#
# - **The query** is what this position wants to know. "reads" is largest in the column "what": above all it looks for a thing, the one that is read; it also asks who is reading.
# - **The key** is the sign a position hangs out to be found by. "book" hangs out "what", "Ann" hangs out "who".
# - **The value** is what is handed over once somebody attends. "book" hands over an object.
#
# What a token asks and what it is found by can be entirely different: the query of "book" asks "doing", its key says "what". That is why there are three matrices, each with its own job.

# %% [markdown] lang="zh-Hant" key="catalogue" tags=["core"]
# ## 1.3　圖書館的目錄櫃
#
# 走進老圖書館，目錄櫃裡一張卡片代表一本書。你心裡想的主題是查詢，卡片上寫的關鍵詞是鍵，書架上的書是值。主題和卡片對得上，你就去拿那本書。
#
# 注意力和目錄櫃有三個不同的地方：
#
# - 它不只拿一本，而是**每一本都拿一點**，對得越上拿得越多。
# - 櫃子前面站的不只你一個人：**每個位置同時都在查**，而且查的是同一個櫃子。
# - 自己的卡片也在櫃子裡：每個位置看得到的，**包括自己**。
#
# **先猜猜看**　六個詞元依序排開，每個只看得到自己和前面的。「看」會把最大的權重給誰？第二名又是誰？寫成兩個數，從 1 數起：「小安」是 1，「看」是 6。

# %% [markdown] lang="en" key="catalogue" of="055bed92ce4b" tags=["core"]
# ## 1.3　The card catalogue
#
# Walk into an old library: in the catalogue one card stands for one book. The topic in your mind is the query, the keywords on a card are the key, the book on the shelf is the value. Where topic and card agree, you fetch the book.
#
# Attention differs from the catalogue in three ways:
#
# - It does not fetch one book; it takes **a little of every book**, and more where the match is better.
# - You are not alone at the drawers: **every position looks up at the same time**, in the same catalogue.
# - Your own card is in the drawer too: what a position may see **includes itself**.
#
# **Guess first**　The six tokens stand in order, and each sees only itself and those before it. To which token does "reads" give its largest weight, and which comes second? Write two numbers and count from 1: "Ann" is 1, "reads" is 6.

# %% key="catalogue-guess" tags=["core"]
guess = None  # [1 … 6, 1 … 6]

# %% key="catalogue-weights" tags=["core"]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
weights = al.attention_weights(Q, K, mask="causal")  # (6, 6)

al.show(guess=guess, measured=np.argsort(weights[5])[::-1][:2] + 1)
plotting.plot_row(weights[5], tokens=example.tokens);

# %% key="catalogue-output" tags=["core"]
output = weights @ V  # (6, 6) @ (6, 3) = (6, 3)
al.show(agrees=np.allclose(output, al.attention(Q, K, V, mask="causal")))
plotting.plot_matrix(output, rows=example.tokens, columns=example.value_axes, title=al.label("output"));

# %% [markdown] lang="zh-Hant" key="catalogue-claim" tags=["core"]
# 「看」最注意「書」，其次是「圖書館」（它也沾了一點「物品」），再來是「小安」。它拿回來的輸出因此主要是「事物」，摻了一點「人」：*有人，對一樣東西*。這就是把值照權重混合的意思。
#
# **動手玩**　下面的面板把五個步驟並排。先把「資料」選成「例句的六個詞元」，再把「遮罩」選成「全可見」：「書」這一列會發生什麼事？

# %% [markdown] lang="en" key="catalogue-claim" of="6e6f1977236a" tags=["core"]
# "reads" attends most to "book", then to "library" (which is a bit of a thing as well), then to "Ann". What it gets back is therefore mostly object with some person: *somebody, and a thing*. That is what mixing the values by weight means.
#
# **Play**　The panel below shows the five steps side by side. For the vectors choose the running example, then for the mask choose "full": what happens in the row of "book"?

# %% key="catalogue-panel" tags=["core"]
panels.attention_panel()

# %% [markdown] lang="zh-Hant" key="two" tags=[]
# ## 1.4　為什麼查詢和鍵要分開
#
# 省一個矩陣不好嗎？讓 $W_Q = W_K = W$，查詢和鍵就成了同一個向量。
#
# **先猜猜看**　這樣一來，一個詞元最容易找到誰？先記在紙上。

# %% [markdown] lang="en" key="two" of="f7119020a751" tags=[]
# ## 1.4　Why queries and keys are kept apart
#
# Why not save a matrix? With $W_Q = W_K = W$, query and key become the same vector.
#
# **Guess first**　Whom would a token then find most easily? Note your answer on paper.

# %% key="two-measure" tags=[]
rng = np.random.default_rng(0)
X = rng.standard_normal((64, 32))  # (T, d_model)
W_Q, W_K = rng.standard_normal((2, 32, 8))  # (d_model, d_k)

shared = experiments.shared_projection_scores(X, W_Q)  # (64, 64)
separate = (X @ W_Q) @ (X @ W_K).T  # (64, 64)

al.show(rank=np.linalg.matrix_rank(W_Q @ W_K.T))
al.table(
    projections=[al.label("shared_projection"), al.label("two_projections")],
    symmetric=[np.allclose(scores, scores.T) for scores in (shared, separate)],
    finds_itself=[(s.argmax(axis=-1) == np.arange(64)).mean() for s in (shared, separate)],
)

# %% [markdown] lang="zh-Hant" key="two-claim" tags=[]
# 這裡的向量都是亂數。
#
# 共用投影時，分數矩陣是對稱的：「借」找「書」的分數，永遠等於「書」找「借」的分數，可是語言裡的關係很少是互相的。而且一個詞元和自己的分數是自己長度的平方，別人很難贏過它，所以大部分的詞元都只找到自己。分開以後，這兩件事都不再發生。
#
# 其實分數只用到兩個矩陣的乘積：$QK^\top = X\,(W_Q W_K^\top)\,X^\top$。這個乘積的形狀是 $d_{\text{model}} \times d_{\text{model}}$，秩（rank）卻最多只有 $d_k$，就像上面量到的。一個頭只在 $d_k$ 個方向上比對，這是它便宜的原因，也是一層需要好幾個頭的原因之一。

# %% [markdown] lang="en" key="two-claim" of="c50dc46cf88a" tags=[]
# The vectors here are random.
#
# With a shared projection the scores are symmetric: how well "borrows" finds "book" always equals how well "book" finds "borrows", yet few relations in language are mutual. And a token's score with itself is its own squared length, which others rarely beat, so most tokens find only themselves. With two projections neither happens.
#
# The scores use only the product of the two matrices: $QK^\top = X\,(W_Q W_K^\top)\,X^\top$. That product is $d_{\text{model}} \times d_{\text{model}}$, but its rank is at most $d_k$, as measured above. One head compares along $d_k$ directions only; that is why it is cheap, and one reason why a layer needs several heads.

# %% [markdown] lang="zh-Hant" key="family" tags=["core"]
# ## 1.5　ANDREA 有多大
#
# ANDREA-120M 的每個位置帶著 768 維的向量，一層有 12 個注意力頭（attention head），每頭維度是
#
# $$d_k = \frac{d_{\text{model}}}{n_{\text{head}}}$$
#
# **換你算**　ANDREA-120M 的 $d_k$ 是多少？ANDREA-12M（384 維、12 個頭）和 ANDREA-480M（1536 維、24 個頭）呢？如果有人想把 768 維分給 10 個頭，又會怎樣？先把答案寫下來。

# %% [markdown] lang="en" key="family" of="789f1d658e9e" tags=["core"]
# ## 1.5　How large ANDREA is
#
# In ANDREA-120M every position carries a vector of 768 numbers, and a layer has 12 attention heads, each of width
#
# $$d_k = \frac{d_{\text{model}}}{n_{\text{head}}}$$
#
# **Your turn**　What is $d_k$ for ANDREA-120M? And for ANDREA-12M (384 wide, 12 heads) and ANDREA-480M (1536 wide, 24 heads)? What if somebody wants to split 768 over 10 heads? Write your answers down first.

# %% key="family-guess" tags=["core"]
my_d_k = {"ANDREA-12M": None, "ANDREA-120M": None, "ANDREA-480M": None}

# %% key="family-table" tags=["core"]
al.show(remainder=768 % 10)
al.table(
    model=[model.name for model in al.FAMILY],
    d_model=[model.d_model for model in al.FAMILY],
    n_head=[model.n_head for model in al.FAMILY],
    d_k=[model.d_k for model in al.FAMILY],
    guess=[my_d_k[model.name] for model in al.FAMILY],
)

# %% [markdown] lang="zh-Hant" key="family-claim" tags=["core"]
# 家族裡每一個都除得盡。768 除以 10 會剩下 8，這樣的切法就是錯的：10 個一樣寬的頭，湊不出 768 維。12M 的頭比較窄，只有 32 維；120M 和 480M 的頭一樣寬，480M 是靠更多頭變寬的。
#
# **常見的誤會**　「每個頭只看 768 維裡的 64 維。」不是。$W_Q$ 的形狀是 $(d_{\text{model}}, d_k)$，每個頭都讀**整個** 768 維的向量，只是投影*之後*剩下 64 維。量量看：改動最後一個分量，第一個頭的查詢會不會動？下面用 ANDREA-120M 真正的尺寸和亂數。

# %% [markdown] lang="en" key="family-claim" of="08fc812a2ae2" tags=["core"]
# Everything in the family divides exactly. 768 over 10 leaves 8, and such a split is simply wrong: no 10 equal heads make up 768. The heads of 12M are narrower, 32 wide; those of 120M and 480M are equally wide, and 480M is wider by having more of them.
#
# **A common mistake**　"Each head sees only 64 of the 768 numbers." It does not. $W_Q$ has the shape $(d_{\text{model}}, d_k)$: every head reads the **whole** 768-wide vector, and what is 64 wide is the result *after* projection. Measure it: change the last component; does the first head's query move? Here with the real sizes of ANDREA-120M and random numbers.

# %% key="family-whole" tags=["core"]
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

# %% [markdown] lang="zh-Hant" key="family-recap" tags=["core"]
# 第一個位置只動了 768 個分量裡的最後一個，它的查詢卻 64 個分量全都動了，其他位置一個也沒動：投影讀的是整個向量，而且只讀自己那個位置的向量。

# %% [markdown] lang="en" key="family-recap" of="efa0d8ae23c3" tags=["core"]
# At the first position only the last of 768 components changed, yet all 64 components of its query moved, and none at any other position: a projection reads the whole vector, and only that of its own position.

# %% [markdown] lang="zh-Hant" key="recap" tags=["core"]
# ## 1.6　帶得走的三句話
#
# - 查詢是問題，鍵是招牌，值是內容；三者都是同一個 $X$ 的線性投影。
# - 分數用點積比對查詢和鍵；兩個投影分開，「問什麼」和「憑什麼被找到」才可以是兩回事。
# - 每個頭讀整個 $d_{\text{model}}$ 維的向量，投影到 $d_k$ 維；ANDREA-120M 是 768 投影到 64。
#
# 下一課拆開分數矩陣，看看為什麼非除以 $\sqrt{d_k}$ 不可。

# %% [markdown] lang="en" key="recap" of="d460e260f0e0" tags=["core"]
# ## 1.6　Three sentences to take along
#
# - The query is the question, the key is the sign, the value is the content; all three are linear projections of the same $X$.
# - Scores compare queries and keys by dot products; two separate projections let asking and being found be two different things.
# - Every head reads the whole $d_{\text{model}}$-wide vector and projects it to $d_k$; in ANDREA-120M that is 768 to 64.
#
# The next lesson takes the score matrix apart and shows why it has to be divided by $\sqrt{d_k}$.
