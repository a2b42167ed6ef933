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
# # 5　學會查找
#
# **這一課要學會的事**
#
# - 看一個頭從亂數學起，說得出權重（weight）怎麼變準、$W_Q W_K^\top$ 學到了什麼。
# - 讀得懂一場賽跑：除以 $\sqrt{d_k}$ 幫了什麼忙，換成哪些設定反而是不除的贏。
# - 看穿洩漏（leak）：訓練的損失（loss）漂亮，不代表模型會說話；知道該怎麼查。
#
# **事先要會的**　第 1 到 4 課；梯度（gradient）和學習率（learning rate）聽過就夠了。
#
# **時間**　只走主線約 25 分鐘，全部約 55 分鐘，其中練習占 10 分鐘。
#
# 這一課的模型都是當場訓練的小模型，資料和起點是亂數，或是為這門課寫的短文；和 ANDREA-120M 用同一個式子，大小卻差很多。先執行下一格；重新啟動核心以後，也要先執行它。

# %% [markdown] lang="en" key="title" of="29bcf7f4403e" tags=["core"]
# # 5　Learning to look up
#
# **What you will be able to do**
#
# - Watch a head learn, starting from random numbers, and say how its weights sharpen and what $W_Q W_K^\top$ has learned.
# - Read a race: what dividing by $\sqrt{d_k}$ helps with, and with which settings the undivided head wins.
# - See through a leak: a fine training loss does not mean that a model can write; know how to check.
#
# **What you bring along**　Lessons 1 to 4; it is enough to have heard of gradients and learning rates.
#
# **Time**　About 25 minutes for the main path, about 55 for everything, of which the exercises take 10.
#
# The models of this lesson are small ones, trained on the spot on random data or on a short text written for this course; they use the same expression as ANDREA-120M and are very much smaller. Run the next cell first, and again after restarting the kernel.

# %% key="setup" tags=["core"]
LANGUAGE = "zh-Hant"

try:
    import numpy as np

    import andrea_lesson as al
    from andrea_lesson import panels, training
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"找不到 {missing.name}。請執行 %pip install -e \"<含有 pyproject.toml 的資料夾>[lab]\"，再重新啟動核心。\n"
        f"{missing.name} is not installed. Run %pip install -e \"<the folder with pyproject.toml>[lab]\", "
        "then restart the kernel."
    ) from None

al.set_language(LANGUAGE)

# %% [markdown] lang="zh-Hant" key="shelf" tags=["core"]
# ## 5.1　從亂數開始
#
# 前幾課的 $W_Q$、$W_K$、$W_V$ 是人工設定的。真正的模型裡沒有人去設定它們：一開始是亂數，靠梯度一步一步學出來。我們就來訓練一個頭，教它查找。
#
# 書架上擺著 16 張卡片，每張寫著一個主題和一本書；館裡主題有 32 種，書也有 32 本。讀者心裡想著一個主題，要的是同一張卡片上的那本書：
#
# - 查詢（query）來自讀者想的主題：`asked @ W_Q`；
# - 鍵（key）和值（value）都來自卡片：`cards @ W_K`、`cards @ W_V`；
# - 輸出（output）是 32 本書各得幾分，最高分的就是回答。
#
# 向量有 64 個分量：前 32 個是主題，後 32 個是書名。讀者的向量在他想的主題那一格是 1，其他是 0；卡片有兩格不是 0，主題和書名各 $1/\sqrt{2}$，長度就是 1。
#
# 損失是「正確的書有多出乎意料」：把 32 個分數做一次 softmax，取正確那本的機率 $p$，算 $-\ln p$。
#
# **先猜猜看**　三個矩陣都還是亂數，這個頭什麼也不會。損失大約是多少？填一個數，或寫成 `np.log(…)`。

# %% [markdown] lang="en" key="shelf" of="d746f2e278ed" tags=["core"]
# ## 5.1　Starting from random numbers
#
# In the lessons so far $W_Q$, $W_K$ and $W_V$ were set by hand. In a real model nobody sets them: they begin as random numbers, and gradients teach them step by step. Let us train a head, and teach it to look things up.
#
# On a shelf stand 16 cards, each with a topic and a book; the library has 32 topics and 32 books. A reader has a topic in mind and wants the book on the same card:
#
# - the query comes from the reader's topic, `asked @ W_Q`;
# - key and value both come from the card, `cards @ W_K` and `cards @ W_V`;
# - the output gives each of the 32 books a number of points, and the highest is the answer.
#
# The vectors have 64 components, 32 for topics and then 32 for books. A reader's is 1 at the topic in mind and 0 elsewhere; a card's has two that are not 0, $1/\sqrt{2}$ at its topic and at its book, which makes its length 1.
#
# The loss is "how surprising the right book is": take softmax of the 32 numbers, then $-\ln p$, where $p$ is the probability of the right book.
#
# **Guess first**　All three matrices are still random, and this head knows nothing. What is its loss, roughly? Write a number, or something like `np.log(…)`.

# %% key="shelf-guess" tags=["core"]
guess = None  # np.log( … )

# %% key="shelf-loss" tags=["core"]
shelves = training.random_shelves(np.random.default_rng(0))  # asked, cards: (8, 16, 64)
head = training.random_head(seed=0, d_k=64, sigma=1.0)  # W_Q, W_K: (64, 64); W_V: (64, 32)

Q, K = shelves.asked @ head.W_Q, shelves.cards @ head.W_K  # (8, 16, 64)
V = shelves.cards @ head.W_V  # (8, 16, 32)
output = al.attention(Q, K, V)  # (8, 16, 32)
p = al.softmax(output)  # (8, 16, 32)
loss = -np.log((p * shelves.books).sum(axis=-1)).mean()

package, _ = training.cross_entropy(output, shelves.books)
al.show(guess=guess, measured=loss, predicted=np.log(32), agrees=np.isclose(loss, package))

# %% [markdown] lang="zh-Hant" key="shelf-claim" tags=["core"]
# 很接近 $\ln 32$：32 本書裡亂猜，$p$ 大約是 $1/32$。（這裡有 8 個書架，一次問 128 個問題，取平均。）
#
# 學習就是把每個矩陣朝損失變小的方向挪一點：
#
# $$W \leftarrow W - \eta\, dW$$
#
# $dW$ 是損失對 $W$ 的梯度，$\eta$ 是學習率，決定一步走多大。這種最單純的走法，叫做隨機梯度下降（stochastic gradient descent，SGD）。

# %% [markdown] lang="en" key="shelf-claim" of="06089b1668ac" tags=["core"]
# It is very close to $\ln 32$: a blind pick among 32 books has $p$ of about $1/32$. (There are 8 shelves and so 128 questions at a time; the loss is their mean.)
#
# To learn is to move each matrix a little in the direction in which the loss falls:
#
# $$W \leftarrow W - \eta\, dW$$
#
# $dW$ is the gradient of the loss with respect to $W$, and $\eta$, the learning rate, says how long a step is. This plainest way of stepping is called stochastic gradient descent, SGD.

# %% [markdown] lang="zh-Hant" key="cross-entropy-row" tags=[]
# **練習**　softmax 加交叉熵的梯度（6 分鐘，難度 2／3）
#
# 梯度從損失開始，一步一步往回算。第一步最要緊：分數動一點，損失動多少？這裡的損失有個名字，叫交叉熵（cross-entropy）。寫一個函式，給它一列分數和正確的位置 `target`，它回傳損失對這一列每個分數的梯度。會微分的話，可以從這裡開始：
#
# $$-\ln p_t = \ln \sum_k e^{s_k} - s_t$$
#
# 分數上千，也不能溢位。卡住了，就執行 `al.hint("cross_entropy_row")`。

# %% [markdown] lang="en" key="cross-entropy-row" of="df93c1894827" tags=[]
# **Exercise**　Gradient of softmax with cross-entropy (6 minutes, difficulty 2 of 3)
#
# Gradients are worked out backwards from the loss, and the first step matters most: when a score moves a little, how far does the loss move? This loss has a name, cross-entropy. Write a function that takes a row of scores and the position `target` of the right one, and returns the gradient of the loss with respect to every score of the row. If you are at home with derivatives, you might begin here:
#
# $$-\ln p_t = \ln \sum_k e^{s_k} - s_t$$
#
# Scores in the thousands must not overflow. Stuck? Run `al.hint("cross_entropy_row")`.

# %% key="exercise-cross-entropy-row" tags=[]
def cross_entropy_row(scores, target):  # (T,), 0 … T - 1 → (T,)
    ...


al.check.cross_entropy_row(cross_entropy_row)

# %% [markdown] lang="zh-Hant" key="step" tags=["core"]
# 下一格算出三個矩陣的梯度，各走一步，再看損失變成多少。
#
# **先猜猜看**　步子放大 100 倍，損失也會掉 100 倍那麼多嗎？$\eta$ 從 1 到 10,000，哪一個一步之後的損失最小？

# %% [markdown] lang="en" key="step" of="ade5ddfe595d" tags=["core"]
# The next cell works out the gradients of the three matrices, takes one step, and looks at the loss again.
#
# **Guess first**　Does a step 100 times as long lower the loss 100 times as far? For $\eta$ from 1 to 10,000, which gives the smallest loss after one step?

# %% key="step-guess" tags=["core"]
guess = None  # 1, 10, 100, 1000, 10000

# %% key="step-measure" tags=["core"]
shelves = training.random_shelves(np.random.default_rng(0))  # asked, cards: (8, 16, 64)
head = training.random_head(seed=0, d_k=64, sigma=1.0)
asked, cards = shelves.asked.reshape(128, 64), shelves.cards.reshape(128, 64)  # (128, 64)

found = training.look_up(head, shelves, scale=1 / 64**0.5)
p = al.softmax(found.output)  # (8, 16, 32)
dO = (p - shelves.books) / 128  # (8, 16, 32)
dQ, dK, dV = al.attention_backward(found.Q, found.K, found.V, dO)
dW_Q = asked.T @ dQ.reshape(128, 64)  # (64, 128) @ (128, 64) = (64, 64)
dW_K = cards.T @ dK.reshape(128, 64)  # (64, 64)
dW_V = cards.T @ dV.reshape(128, 32)  # (64, 32)

package = training.gradients(head, shelves, found, dO, scale=1 / 64**0.5)
losses = {}
for eta in (1, 10, 100, 1000, 10000):
    moved = training.Head(head.W_Q - eta * dW_Q, head.W_K - eta * dW_K, head.W_V - eta * dW_V)
    output = training.look_up(moved, shelves, scale=1 / 64**0.5).output
    losses[eta], _ = training.cross_entropy(output, shelves.books)

al.show(
    guess=guess,
    measured=min(losses, key=losses.get),
    agrees=np.allclose(dW_Q, package.W_Q) and np.allclose(dW_V, package.W_V),
)
al.table(eta=list(losses), loss=list(losses.values()))

# %% [markdown] lang="zh-Hant" key="step-claim" tags=["core"]
# 步子小，損失掉得和步子成比例；步子太大，就衝過頭，比什麼都不會還糟。梯度只說「此刻往哪邊下坡」，沒有說坡有多長。學習率怎麼選，等一下就是賽跑的主角。

# %% [markdown] lang="en" key="step-claim" of="d3a77a56b8e6" tags=["core"]
# With small steps the loss falls in proportion; a step too long overshoots, and ends worse than knowing nothing. A gradient says which way is downhill just here, not how long the slope is. The choice of learning rate will play the lead in the race below.

# %% [markdown] lang="zh-Hant" key="sharpen" tags=["core"]
# ## 5.2　看權重變準
#
# 現在走 400 步，每一步換一批新的書架。每一步怎麼走，交給 Adam：它記得每個數的梯度平常有多大，照比例調整步子。量的時候，用沒見過的書架。
#
# 第 $i$ 個查詢問的是第 $i$ 張卡片的主題，所以學會以後，權重應該集中在對角線上。
#
# **先猜猜看**　400 步以後，正確的卡片平均分到多少權重？剛開始是多少？填兩個 0 到 1 之間的數。

# %% [markdown] lang="en" key="sharpen" of="489afc60c2f8" tags=["core"]
# ## 5.2　The weights sharpen
#
# Now take 400 steps, each with a new batch of shelves. The step itself is made by Adam, which remembers how large the gradient of each number usually is and sizes the step accordingly. It is measured on shelves that the head has never seen.
#
# Query $i$ asks for the topic of card $i$, so once it is learned the weight should lie on the diagonal.
#
# **Guess first**　What weight does the right card get after 400 steps, on average? And at the start? Write two numbers between 0 and 1.

# %% key="sharpen-guess" tags=["core"]
my_weights = {0: None, 400: None}  # 0 … 1

# %% key="sharpen-measure" tags=["core"]
history = training.train(training.Setting(d_k=64, eta=0.003, optimiser="adam"), seed=0)
looks = [0, 5, 10, 20]  # × 20
al.table(
    step=history.step[looks],
    guess=[al.answer(my_weights, step) for step in history.step[looks]],
    right_weight=history.right_weight[looks],
    accuracy=history.accuracy[looks],
    loss=history.loss[looks],
)

# %% [markdown] lang="zh-Hant" key="sharpen-claim" tags=["core"]
# 剛開始大約是 $1/16$，也就是 16 張卡片平分；後來幾乎全落在正確的那一張。注意答對的比例走得比權重快：最高分的書對了就算答對，權重還可以繼續變準。
#
# 這個頭學到的東西藏在 $W_Q W_K^\top$ 裡：它的第 $a$ 列（row）第 $b$ 行（column）說的是，心裡想著主題 $a$ 的讀者，看到卡片上寫著 $b$，分數要加多少（兩格加起來，再乘上卡片的 $1/\sqrt{2}$）。$b$ 有 64 種：32 個主題和 32 本書。下面的數字和圖都已經除過 $\sqrt{d_k}$。
#
# **先猜猜看**　學完以後，這張 $32 \times 64$ 的表哪裡會亮？「同一個主題」那條對角線、別的主題、書名，三處的平均各是正的、負的，還是差不多 0？填 1、-1 或 0。

# %% [markdown] lang="en" key="sharpen-claim" of="722a1d314aa5" tags=["core"]
# It begins at about $1/16$, an equal share for 16 cards, and ends with nearly everything on the right one. Note that accuracy is ahead of the weights: an answer is right as soon as the right book has most points, while the weights can still sharpen.
#
# What the head has learned is in $W_Q W_K^\top$: row $a$, column $b$ says how much is added to the score when a reader with topic $a$ in mind meets a card that says $b$ (the two are added, then multiplied by the $1/\sqrt{2}$ of the card). For $b$ there are 64 choices, 32 topics and 32 books. Numbers and picture below are divided by $\sqrt{d_k}$ already.
#
# **Guess first**　Where will this table of $32 \times 64$ light up? The diagonal "same topic", the other topics, the books: is the mean of each positive, negative or about 0? Write 1, -1 or 0.

# %% key="match-guess" tags=["core"]
my_signs = {1: None, 2: None, 3: None}  # 1, 0, -1

# %% key="match-measure" tags=["core"]
history = training.train(training.Setting(d_k=64, eta=0.003, optimiser="adam"), seed=0)
before, after = history.match[0], history.match[-1]  # (32, 64)
same = np.eye(32, 64, dtype=bool)  # (32, 64)
others = np.arange(64) < 32  # (64,)

al.table(
    match_part=[al.label("same_topic"), al.label("other_topics"), al.label("books")],
    guess=[al.answer(my_signs, n) for n in (1, 2, 3)],
    match_before=[before[same].mean(), before[:, :32][~same[:, :32]].mean(), before[:, 32:].mean()],
    match_after=[after[same].mean(), after[:, :32][~same[:, :32]].mean(), after[:, 32:].mean()],
)

# %% [markdown] lang="zh-Hant" key="match-claim" tags=["core"]
# 對角線變得很大：**主題對上同一個主題，分數就高**。別的主題稍微往下；書名那一半平均差不多是 0，因為找卡片的時候，書名幫不上忙，只有找到以後，$V$ 才用得著它。沒有人告訴這個頭卡片的哪一半給 $K$、哪一半給 $V$，它是從損失裡學來的。
#
# **動手玩**　拉動「步 t」，從第 0 步看到最後一步，或按「▶ 播放」。看看：權重和 $W_Q W_K^\top$ 是誰先清楚起來？換一個 $d_k$ 或學習率，再看一次。

# %% [markdown] lang="en" key="match-claim" of="db67c2daec91" tags=["core"]
# The diagonal has grown large: **a topic that meets the same topic scores high**. Other topics went down a little. The half with the books is about 0 on average, as a book's name is of no help in finding the card; only afterwards does $V$ need it. Nobody told the head which half of a card is for $K$ and which for $V$; it learned that from the loss alone.
#
# **Play**　Drag "step t" from the first to the last, or press "▶ Play". Which becomes clear first, the weights or $W_Q W_K^\top$? Change $d_k$ or the learning rate and look again.

# %% key="training-figure" tags=["core"]
panels.figure(panels.training_panel)

# %% key="training-panel" tags=["core"]
panels.training_panel()

# %% [markdown] lang="zh-Hant" key="training-answer" tags=["core"]
# 兩個幾乎同時冒出來：權重就是這張表的分數做 softmax，分數差一點，權重就差好幾倍。後來權重快到 1，只能一點一點往上；對角線卻還在變深。

# %% [markdown] lang="en" key="training-answer" of="e5ea0e65b5a9" tags=["core"]
# Both come up at nearly the same time, for the weights are softmax of the scores in this table, and a small lead in score makes a weight several times as large. Later the weights are close to 1 and creep, while the diagonal goes on growing.

# %% [markdown] lang="zh-Hant" key="race" tags=["core"]
# ## 5.3　賽跑：要不要除以 $\sqrt{d_k}$
#
# 第 2 課說，不除以 $\sqrt{d_k}$，softmax 一開始就飽和（saturation），梯度傳不回去。那麼不除的頭，是不是就學不會？同樣的亂數、同樣的書架，一個頭除，一個頭不除，各跑 400 步，三組種子取平均。
#
# 起點先照第 2 課的假設：$q$ 和 $k$ 的分量變異數是 1（初始標準差 $\sigma = 1$）。
#
# **先猜猜看，用畫的**　Adam、$\eta = 0.003$，$d_k$ 從 4 到 1024。跑完 400 步，**不除**的頭答對多少？在圖上拖曳，畫出你預期的曲線，再按「就這麼猜」，量到的曲線才會疊上去。

# %% [markdown] lang="en" key="race" of="4843c4b6f7ce" tags=["core"]
# ## 5.3　The race: divide by $\sqrt{d_k}$ or not?
#
# Lesson 2 said that without dividing by $\sqrt{d_k}$ softmax is saturated from the start, and gradients do not get through. Does an undivided head not learn at all, then? The same random numbers, the same shelves; one head divides, the other does not; 400 steps each, mean of three seeds.
#
# Begin as lesson 2 assumed: the components of $q$ and $k$ have variance 1 (initial standard deviation $\sigma = 1$).
#
# **Guess first, by drawing**　Adam, $\eta = 0.003$, $d_k$ from 4 to 1024. After 400 steps, what share does the **undivided** head answer right? Drag across the plot to draw the curve that you expect, then press "Commit my guess"; only then is the measured curve laid over it.

# %% key="race-guess" tags=["core"]
grid = training.load_grid()
raw = grid.table("adam", 1.0, scaled=False)[:, training.ETA["adam"].index(0.003)]  # (5,)

al.guess_curve(
    "05_undivided",
    training.D_K,
    raw,
    x_label="d_k",
    y_label="accuracy",
    y_limits=(0, 1),
    title="guess_undivided",
    log_x=True,
)

# %% key="race-measure" tags=["core"]
grid = training.load_grid()
eta = training.ETA["adam"].index(0.003)
divided = grid.table("adam", 1.0, scaled=True)[:, eta]  # (5,)
undivided = grid.table("adam", 1.0, scaled=False)[:, eta]  # (5,)

al.table(d_k=training.D_K, accuracy_scaled=divided, accuracy_raw=undivided)

# %% [markdown] lang="zh-Hant" key="race-claim" tags=["core"]
# $d_k$ 小的時候差不多；$d_k$ 大了，不除的落後，但也不是學不會。$d_k = 4$ 時兩個頭都還沒學完：這個 $\eta$ 對它們太小，換成 0.01 就學得完。（$d_k = 1024$ 那一場，不除的頭訓練是混沌的，換一台電腦，數字可能不同；見附錄 A。）這些數字是事先訓練好、收在 `data/race_grid.json` 裡的，下面的面板可以當場重跑任何一點。
#
# 故事到這裡，很多教材就收工了。可是 $\sigma$ 和 $\eta$ 都是**我們**選的。換一組：$\sigma = 0.1$、$\eta = 0.0001$，其餘照舊。
#
# **再猜一次**　$d_k = 1024$，這次誰贏？

# %% [markdown] lang="en" key="race-claim" of="0dd6cdb94664" tags=["core"]
# For small $d_k$ there is little between them; for large $d_k$ the undivided head falls behind, yet it does learn. At $d_k = 4$ neither head is done learning: this $\eta$ is too small for them; with 0.01 they finish. (At $d_k = 1024$ the training of the undivided head is chaotic, and its number may differ on another computer; see appendix A.) These numbers were trained beforehand and are kept in `data/race_grid.json`; the panel below trains any of them anew.
#
# Many a textbook ends the story here. But $\sigma$ and $\eta$ were **our** choice. Take others: $\sigma = 0.1$ and $\eta = 0.0001$, all else as before.
#
# **Guess again**　$d_k = 1024$: who wins this time?

# %% key="rigged-guess" tags=["core"]
guess = None  # "scaled", "raw"

# %% key="rigged-measure" tags=["core"]
grid = training.load_grid()
eta = training.ETA["adam"].index(0.0001)
divided = grid.table("adam", 0.1, scaled=True)[:, eta]  # (5,)
undivided = grid.table("adam", 0.1, scaled=False)[:, eta]  # (5,)

al.show(guess=guess, measured="scaled" if divided[-1] > undivided[-1] else "raw")
al.table(d_k=training.D_K, accuracy_scaled=divided, accuracy_raw=undivided)

# %% [markdown] lang="zh-Hant" key="rigged-claim" tags=["core"]
# 不除的遙遙領先。起點的分數很小，離飽和還遠，步子又小；不除，等於把步子放大了。一場賽跑只給一組 $\sigma$ 和 $\eta$，想讓誰贏就讓誰贏。
#
# 那麼除以 $\sqrt{d_k}$ 到底改變了什麼？

# %% [markdown] lang="en" key="rigged-claim" of="79d4135f97f9" tags=["core"]
# The undivided head is far ahead. The scores begin small and far from saturation, and the steps are small; not dividing amounts to taking longer steps. With a single pair of $\sigma$ and $\eta$, a race can be made to go either way.
#
# So what does dividing by $\sqrt{d_k}$ change?

# %% [markdown] lang="zh-Hant" key="my-raw-spread" tags=[]
# **練習**　不縮放時的標準差（4 分鐘，難度 2／3）
#
# 先自己算一次。一個頭除以 $\sqrt{d_k}$，它的 $q$ 和 $k$ 的分量標準差都是 $\sigma$；另一個頭不除。不除的那個頭，$q$ 和 $k$ 的分量標準差要換成多少，分數才會和除的一樣？$d_k$ 和 $\sigma$ 由你的亂數種子決定：把 `seed` 改成你自己的整數，題目就會出現。卡住了，就執行 `al.hint("my_raw_spread")`。

# %% [markdown] lang="en" key="my-raw-spread" of="081d754cb335" tags=[]
# **Exercise**　The spread that does without scaling (4 minutes, difficulty 2 of 3)
#
# Work it out for yourself first. One head divides by $\sqrt{d_k}$, and the components of its $q$ and $k$ have standard deviation $\sigma$; the other does not divide. What must the standard deviation of $q$ and $k$ become in the undivided head for its scores to spread just like those of the divided one? Your seed decides $d_k$ and $\sigma$: give `seed` a whole number of your own, and the question appears. Stuck? Run `al.hint("my_raw_spread")`.

# %% key="question-my-raw-spread" tags=[]
seed = None  # 0 … 999999

al.question("my_raw_spread", seed)

# %% key="exercise-my-raw-spread" tags=[]
my_raw_spread = None

al.check.my_raw_spread(my_raw_spread, seed=seed)

# %% [markdown] lang="zh-Hant" key="twin" tags=["core"]
# 算算看。把 $W_Q$ 和 $W_K$ 都除以 $d_k^{1/4}$，不除的分數 $q \cdot k$ 就和原來除過的 $q \cdot k / \sqrt{d_k}$ 一模一樣；再把步子也照樣換算（SGD 的 $\eta$ 除以 $\sqrt{d_k}$，Adam 的除以 $d_k^{1/4}$），往後每一步也一樣。這組設定叫做雙胞胎（twin）。
#
# **先猜猜看**　同一個種子，除的和它不除的雙胞胎各跑 400 步，兩條損失曲線最多差多少？

# %% [markdown] lang="en" key="twin" of="611ed3dbbbeb" tags=["core"]
# Work it out. Divide $W_Q$ and $W_K$ by $d_k^{1/4}$ each, and the undivided score $q \cdot k$ is just what the divided one, $q \cdot k / \sqrt{d_k}$, was; convert the steps likewise ($\eta$ over $\sqrt{d_k}$ for SGD, over $d_k^{1/4}$ for Adam), and each step that follows is the same as well. Call this setting the twin.
#
# **Guess first**　With the same seed, a divided head and its undivided twin run 400 steps each. How far apart do the two loss curves ever get?

# %% key="twin-guess" tags=["core"]
guess = None  # 0.0 …

# %% key="twin-measure" tags=["core"]
scaled = training.Setting(d_k=64, sigma=1.0, eta=10.0, optimiser="sgd")
raw = training.twin(scaled)
race = training.race(scaled, raw, seeds=(0,))

apart = np.abs(race.scaled.loss - race.raw.loss).max()
al.show(guess=guess, largest_difference=apart, as_good_as_equal=apart < 1e-9)
al.table(
    side=[al.label("with_root"), al.label("without_root")],
    sigma=[scaled.sigma, raw.sigma],
    eta=[scaled.eta, raw.eta],
    loss=[race.scaled.loss[0, -1], race.raw.loss[0, -1]],
)

# %% [markdown] lang="zh-Hant" key="twin-claim" tags=["core"]
# 差的只有浮點數的捨入。所以除以 $\sqrt{d_k}$ **只是換單位**，沒有哪件事非它不可。它的好處在別處：換了 $d_k$，不除的那一邊 $\sigma$ 和 $\eta$ 都得跟著換；除的那一邊，同一組設定也許就能用到底。
#
# 這句話也要量。下面的格子表有五種 $d_k$，每一種試過一整排 $\eta$。
#
# **先猜猜看**　Adam、$\sigma = 1$，九個 $\eta$ 裡，有幾個在**五種** $d_k$ 下都答對 99% 以上？除的和不除的各猜一個。

# %% [markdown] lang="en" key="twin-claim" of="7c4ad10680e7" tags=["core"]
# Floating-point rounding is all that separates them. So dividing by $\sqrt{d_k}$ is **only a change of units**; there is nothing that it alone makes possible. Its use lies elsewhere: whoever does not divide has to choose $\sigma$ and $\eta$ anew for each $d_k$; whoever divides may get along with one setting.
#
# That, too, has to be measured. The grid below has five values of $d_k$, each tried with a whole row of $\eta$.
#
# **Guess first**　Adam, $\sigma = 1$: how many of the nine $\eta$ get 99% right at **all five** $d_k$? Guess with and without dividing.

# %% key="serve-guess" tags=["core"]
my_counts = {"scaled": None, "raw": None}  # 0 … 9

# %% key="serve-measure" tags=["core"]
grid = training.load_grid()
cases = [(optimiser, sigma) for optimiser in ("adam", "sgd") for sigma in (1.0, 0.1)]
serve_all = {
    scaled: [(grid.table(*case, scaled=scaled) >= 0.99).all(axis=0).sum() for case in cases]
    for scaled in (True, False)
}
al.show(guess=[al.answer(my_counts, "scaled"), al.answer(my_counts, "raw")])
al.table(
    optimiser=[optimiser for optimiser, _ in cases],
    sigma=[sigma for _, sigma in cases],
    tried=[len(training.ETA[optimiser]) for optimiser, _ in cases],
    serve_all_scaled=serve_all[True],
    serve_all_raw=serve_all[False],
)

# %% [markdown] lang="zh-Hant" key="serve-claim" tags=["core"]
# 起點照 $\sqrt{d_k}$ 的假設（$\sigma = 1$），除的有幾個 $\eta$ 從頭用到尾，不除的一個也沒有。這就是縮放真正的好處：**一組設定，每一種 $d_k$ 都通用**。
#
# 假設不成立的時候，好處也要打折：$\sigma = 0.1$、用 SGD，反而是不除的找得到一個通用的 $\eta$。除的那一邊，起點的分數已經很小，再除就更小了，傳回 $W_Q$ 的梯度也跟著小，$d_k$ 越大起步越慢。
#
# **動手玩**　下面左邊是兩邊的曲線和三個種子的範圍，右邊是兩張格子表；點一格，就搬到那個設定。斜線的格子表示那裡的訓練是混沌的（附錄 A）。**先猜猜看**：除的那張表，亮的那一帶是直的還是斜的？不除的呢？再勾「不除的換成雙胞胎」看看。

# %% [markdown] lang="en" key="serve-claim" of="85bcb3da0298" tags=["core"]
# Starting as $\sqrt{d_k}$ assumes ($\sigma = 1$), the divided head has some $\eta$ that serve from the narrowest head to the widest, the undivided one has none. This is what scaling is really good for: **one setting serves every $d_k$**.
#
# Where the assumption fails, so does some of the benefit: with $\sigma = 0.1$ and SGD it is the undivided head that has a common $\eta$. On the other side the scores are small from the start, dividing makes them smaller still, and with them the gradient that reaches $W_Q$: the larger $d_k$, the slower the start.
#
# **Play**　Below, curves of both sides with the range of three seeds, and the two grids; choose a cell to go to its setting. Hatched cells are those where training is chaotic (appendix A). **Guess first**: is the bright band of the divided grid straight or slanted? And that of the other? Then tick "undivided twin".

# %% key="race-figure" tags=["core"]
panels.figure(panels.race_panel)

# %% key="race-panel" tags=["core"]
panels.race_panel()

# %% [markdown] lang="zh-Hant" key="race-answer" tags=["core"]
# 除的那張，有幾行（column）從上亮到下，是直的。不除的那張，亮的部分被斜斜切掉：$d_k$ 越大，越小的 $\eta$ 就開始混沌，最後連一格也不亮；把 $\sigma$ 調到 0.1，就看得到一條斜的亮帶。雙胞胎的曲線疊在除的那一條上：同樣的訓練，只是換了單位。

# %% [markdown] lang="en" key="race-answer" of="c0e34d36eab1" tags=["core"]
# In the divided grid some columns are bright from top to bottom: the band is straight. In the other the bright part is cut off at a slant: the larger $d_k$, the smaller the $\eta$ at which training turns chaotic, until no cell is bright any more; set $\sigma$ to 0.1, and you see a slanted band. The curve of the twin lies on that of the divided head: it is the same training in other units.

# %% [markdown] lang="zh-Hant" key="leak" tags=["core"]
# ## 5.4　洩漏實驗室
#
# 第 3 課的遮罩（mask），這一節拆開來玩。我們訓練一個很小的解碼器（decoder）：一個字接著一個字讀一篇為這門課寫的短文，每個位置都要猜下一個字。模型、短文、亂數種子全都一樣，只有遮罩不一樣：
#
# 1. `causal`：正確的因果遮罩（causal mask）。
# 2. `none`：沒有遮罩。
# 3. `reversed`：極性寫反，該看的遮住，該遮的反而看得到。
# 4. `after_softmax`：先做 softmax 才遮，遮完沒有重新正規化。
# 5. `diagonal_hidden`：連自己也遮住。
#
# 每一種用三個種子各訓練一次，表裡是三次的中位數。
#
# **先猜猜看**　訓練完，哪兩種的訓練損失最低？填兩個代號，像 `[4, 5]`。

# %% [markdown] lang="en" key="leak" of="d785e691ff13" tags=["core"]
# ## 5.4　The leakage lab
#
# This section takes the mask of lesson 3 to pieces. We train a very small decoder: it reads a short text written for this course, character by character, and predicts the next one at each position. Model, text and random seed are all the same; only the mask differs:
#
# 1. `causal`: the right causal mask.
# 2. `none`: no mask.
# 3. `reversed`: the wrong polarity, which hides what may be seen and shows what should be hidden.
# 4. `after_softmax`: softmax first, then the mask, without normalizing again.
# 5. `diagonal_hidden`: hides the position itself as well.
#
# Each was trained with three seeds; the tables show the median.
#
# **Guess first**　Which two have the lowest training loss in the end? Write two of the numbers, such as `[4, 5]`.

# %% key="leak-guess" tags=["core"]
guess = None  # [1 … 5, 1 … 5]

# %% key="leak-training" tags=["core"]
seeds = [training.load_leakage(seed=seed) for seed in (0, 1, 2)]
losses = [
    np.median([runs[v, al.get_language()].training_loss[-1] for runs in seeds])
    for v in training.VARIANTS
]
al.show(guess=guess, measured=[int(n) + 1 for n in sorted(np.argsort(losses)[:2])])
al.table(mask=training.VARIANTS, training_loss=losses)

# %% [markdown] lang="zh-Hant" key="leak-training-claim" tags=["core"]
# 第 2、3 種的損失幾乎是 0：下一個字就擺在眼前，抄下來就好。只看訓練損失，它們是最好的模型。
#
# 可是要它自己寫的時候，後面的字還不存在。我們拿沒看過的文章，考兩次：第一次照訓練的樣子，整篇一起給；第二次老實考，每個字只准看前面的字來猜，和一個一個生成時一樣。
#
# **先猜猜看，用畫的**　第 2 種，沒有遮罩的那一個：從第 0 步到第 2000 步，它老實考的損失怎麼走？剛開始什麼也不會，和亂猜一樣；之後呢？在圖上畫出來，再按「就這麼猜」。

# %% [markdown] lang="en" key="leak-training-claim" of="406d16e745d7" tags=["core"]
# The loss of numbers 2 and 3 is almost 0: the next character lies open before them, and they copy it. By training loss alone they are the best models.
#
# But when a model has to write by itself, the characters to come do not exist yet. So take text that it has never seen, and test it twice: first as in training, with the whole text at once; then honestly, each character predicted from those before it and nothing else, as in generating one by one.
#
# **Guess first, by drawing**　Take number 2, the one without a mask: from step 0 to step 2000, how does its loss in the honest test go? At the start it knows nothing and does no better than a blind guess; and then? Draw it, and press "Commit my guess".

# %% key="honest-guess" tags=["core"]
runs = [training.load_leakage(seed=seed)["none", al.get_language()] for seed in (0, 1, 2)]
honest = np.median([run.honest_loss for run in runs], axis=0)  # (41,)

al.guess_curve(
    "05_leak",
    runs[0].step[::4],
    honest[::4],
    x_label="guess_steps",
    y_label="honest_loss",
    y_limits=(0, 8),
    title="guess_leak",
)

# %% key="honest-measure" tags=["core"]
seeds = [training.load_leakage(seed=seed) for seed in (0, 1, 2)]
runs = [[by_seed[v, al.get_language()] for by_seed in seeds] for v in training.VARIANTS]  # (5, 3)
at_once = np.array([[run.teacher_loss[-1] for run in row] for row in runs])  # (5, 3)
honest = np.array([[run.honest_loss[-1] for run in row] for row in runs])  # (5, 3)

al.show(common_loss=runs[0][0].unigram_loss, blind_loss=runs[0][0].uniform_loss)
al.table(
    mask=training.VARIANTS,
    teacher_loss=np.median(at_once, axis=-1),
    honest_loss=np.median(honest, axis=-1),
    lowest=honest.min(axis=-1),
    highest=honest.max(axis=-1),
)

# %% [markdown] lang="zh-Hant" key="honest-claim" tags=["core"]
# 名次翻了過來。第 2、3、4 種，老實考的損失都比整篇一起給高出一大截，也輸第 1 種一大截。沒有遮罩的第 2 種，不比只知道哪個字常見的猜法強：它學到的是「抄下一個字」，下一個字不見了，就不知所措。訓練損失一路往下，老實考的損失到頭來卻比途中還高。第 1 種的訓練損失毫不起眼，兩次考得一模一樣。**損失要在和使用時一樣的條件下量，才算數。**
#
# 不必等到訓練完，也查得出洩漏：換掉一個字，看哪些列的輸出動了。正確的遮罩下，那個字之前的列一列也不會動。
#
# **先猜猜看**　換掉一個字，五種遮罩裡，哪幾種連它之前的列也會動？填代號，例如 `[1, 2]`。

# %% [markdown] lang="en" key="honest-claim" of="95f5c8b6ae4b" tags=["core"]
# The ranking is reversed. For numbers 2, 3 and 4 the honest loss is far above the loss with the whole text at once, and far above that of number 1. Number 2, without a mask, does no better than a guess that only knows how common each character is: what it learned is "copy the next character", and without one it is lost. While its training loss falls and falls, its honest loss ends higher than it was on the way. Number 1 has an unimpressive training loss, and does exactly as well in both tests. **A loss counts only when it is measured under the conditions of use.**
#
# There is no need to train to the end to find a leak: change one character and see which rows of the output move. Under the right mask none of the rows before it does.
#
# **Guess first**　With which of the five masks do rows before the changed character move? Write the numbers, such as `[1, 2]`.

# %% key="probe-guess" tags=["core"]
guess = None  # [1 … 5]

# %% key="probe-measure" tags=["core"]
runs = {v: training.load_leakage()[v, al.get_language()] for v in training.VARIANTS}
moved = [int((run.probe[: run.changed] > 1e-6).sum()) for run in runs.values()]

al.show(guess=guess, measured=[n for n, rows in enumerate(moved, 1) if rows])
al.table(mask=list(runs), rows_moved_before=moved)

# %% [markdown] lang="zh-Hant" key="probe-claim" tags=["core"]
# 第 4 種最陰險：遮過了，看不到的格子權重明明都是 0，卻還是漏。softmax 的分母把後面的分數也加了進去，一個字換了，前面每一列的權重就跟著縮放。第 5 種不漏。它的注意力看不到自己，老實考卻和第 1 種差不多，因為殘差連接（residual connection）繞過注意力，把自己的字直接送了上去。
#
# 最後看它們寫的東西。給同樣的開頭，一個字一個字往下生成：

# %% [markdown] lang="en" key="probe-claim" of="2e383452e52c" tags=["core"]
# Number 4 is the most devious: it is masked, and the weights of the hidden cells are all 0, and yet it leaks. The denominator of softmax has the later scores in it, so changing one character rescales the weights in every row before it. Number 5 does not leak. Its attention cannot see the position itself, and yet it does about as well as number 1 in the honest test: the residual connection goes around attention and takes the character along.
#
# Last, look at what they write. From the same beginning, one character at a time:

# %% key="sample-look" tags=["core"]
for v in training.VARIANTS:
    run = training.load_leakage()[v, al.get_language()]
    al.show(mask=v, prompt=run.prompt, generated=run.sample)
    print()

# %% [markdown] lang="zh-Hant" key="leakage-play" tags=["core"]
# **動手玩**　下面的面板把五種擺在一起：兩種損失的曲線、換一個字動了哪些列、權重，還有它寫的字。**先猜猜看**：沒有遮罩的那一個，權重會集中在哪裡？

# %% [markdown] lang="en" key="leakage-play" of="91636fc14206" tags=["core"]
# **Play**　The panel below has all five: the curves of both losses, the rows that move when a character changes, the weights, and what they write. **Guess first**: where do the weights of the one without a mask gather?

# %% key="leakage-figure" tags=["core"]
panels.figure(panels.leakage_panel)

# %% key="leakage-panel" tags=["core"]
panels.leakage_panel()

# %% [markdown] lang="zh-Hant" key="leakage-answer" tags=["core"]
# 在對角線的右邊一格：至少有一個頭，每個位置都盯著下一個字，那就是它要猜的答案。

# %% [markdown] lang="en" key="leakage-answer" of="4171a80f0661" tags=["core"]
# One cell to the right of the diagonal: in at least one head each position looks at the next character, which is the answer it has to give.

# %% [markdown] lang="zh-Hant" key="leakage-live" tags=[]
# **深入**　收錄的結果是訓練好的，不過你不必照單全收：下一格當場訓練一個沒有遮罩的解碼器，步數少一些，幾秒到十幾秒；按停止鍵（■）隨時可以停。想試別種遮罩，改 `variant` 就好。

# %% [markdown] lang="en" key="leakage-live" of="971028e4ec7d" tags=[]
# **Deeper**　The shipped results were trained beforehand, but you need not believe them: the next cell trains a decoder without a mask here and now, with fewer steps, in a few seconds, or twenty on a slow machine; the stop button (■) ends it at any time. For another mask change `variant`.

# %% key="leakage-train" tags=["long", "volatile"]
setting = training.LeakageSetting(variant="none", language=al.get_language(), steps=300)
with training.progress_bar() as progress:
    run = training.train_leakage(setting, progress=progress)

al.table(step=run.step, training_loss=run.training_loss, honest_loss=run.honest_loss)

# %% [markdown] lang="zh-Hant" key="recap" tags=["core"]
# ## 5.5　帶得走的四句話
#
# - 一個頭靠損失的梯度就學得會查找：$W_Q W_K^\top$ 學會認「同一個主題」，權重跟著集中到正確的卡片。
# - 除以 $\sqrt{d_k}$ 只是換單位；它的好處是讓一組設定通用於各種 $d_k$，前提是起點的 $q$、$k$ 變異數是 1。
# - 只給一組 $\sigma$ 和 $\eta$ 的賽跑，說明不了什麼。
# - 訓練損失看不出洩漏；用生成時的條件量損失，再換一個字看誰動了。
#
# 接下來的第 6 課，同一個式子要算得又快又省。

# %% [markdown] lang="en" key="recap" of="3ef1d184e078" tags=["core"]
# ## 5.5　Four sentences to take along
#
# - The gradient of a loss is enough for a head to learn to look things up: $W_Q W_K^\top$ learns to recognize "the same topic", and the weights gather on the right card.
# - Dividing by $\sqrt{d_k}$ is a change of units; its use is that one setting serves every $d_k$, provided that $q$ and $k$ start with variance 1.
# - A race with one pair of $\sigma$ and $\eta$ shows very little.
# - Training loss does not show a leak; measure loss under the conditions of generating, and change a character to see what moves.
#
# Next, lesson 6 makes the same expression fast and thrifty.

# %% [markdown] lang="zh-Hant" key="quiz" tags=[]
# **小測驗**　三題，選好按「回答」。答錯會告訴你哪裡不對，可以再選；答對的會記下來，用 `al.progress()` 看得到。

# %% [markdown] lang="en" key="quiz" of="4c38248c7618" tags=[]
# **Quiz**　Three questions: choose, then press "Answer". A wrong choice is explained, and you may choose again; right answers are kept, and `al.progress()` shows them.

# %% key="quiz-questions" tags=[]
al.quiz("05")

# %% [markdown] lang="zh-Hant" key="chaos" tags=[]
# ## A.　附錄：混沌的訓練
#
# $\eta$ 太大的時候，訓練是混沌的：起點的第九位小數差一點，結局就不一樣。格子表裡的每一點都這樣試過，結局會變的標作「不穩定」。兩台電腦的捨入不同，不穩定的點就可能不同；穩定的點，重跑會得到同樣的數字，差不到 0.001。
#
# **先猜猜看**　不穩定的點，在小 $\eta$ 那頭多，還是大 $\eta$ 那頭多？填 `"small"` 或 `"large"`。

# %% [markdown] lang="en" key="chaos" of="fc40d36912f4" tags=[]
# ## A.　Appendix: chaotic training
#
# With too large an $\eta$ training is chaotic: a start that differs in the ninth decimal ends elsewhere. Each point of the grid was put to this test, and those whose end changes are marked as not steady. Two computers round differently, so points that are not steady may differ; those that are steady come out the same when trained again, within 0.001.
#
# **Guess first**　Are there more of the unsteady points at small $\eta$ or at large $\eta$? Write `"small"` or `"large"`.

# %% key="chaos-guess" tags=[]
guess = None  # "small", "large"

# %% key="chaos-measure" tags=[]
grid = training.load_grid()
chaotic = {}
for optimiser in ("adam", "sgd"):
    tables = [
        grid.chaotic(optimiser, sigma, scaled=scaled)
        for sigma in (1.0, 0.1)
        for scaled in (True, False)
    ]  # 4 × (5, η)
    chaotic[optimiser] = np.sum(tables, axis=(0, 1))  # (η,)

middle = len(training.ETA["adam"]) // 2
small, large = chaotic["adam"][:middle].sum(), chaotic["adam"][-middle:].sum()
al.show(
    guess=guess,
    measured="small" if small > large else "large",
    not_steady=sum(int(counts.sum()) for counts in chaotic.values()),
    points_in_all=len(grid.points),
)
al.table(eta=training.ETA["adam"], not_steady=chaotic["adam"])

# %% [markdown] lang="zh-Hant" key="again" tags=[]
# 自己重跑一點試試，三個種子，和收錄的數字比：

# %% [markdown] lang="en" key="again" of="d607750b0e9a" tags=[]
# Train one of the points again, with all three seeds, and compare with the shipped numbers:

# %% key="again-train" tags=["long", "volatile"]
setting = training.Setting(d_k=256, sigma=1.0, eta=0.003, optimiser="adam", scaled=False)
shipped = training.load_grid().points[setting]
with training.progress_bar() as progress:
    now = training.train_point(setting, progress=progress)

al.show(shipped=np.mean(shipped.accuracy), trained_now=np.mean(now.accuracy))
al.show(same_within=now.distance(shipped) < 1e-3)
