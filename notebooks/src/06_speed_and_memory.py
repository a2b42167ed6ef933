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
# # 6　速度與記憶體
#
# **這一課要學會的事**
#
# - 先數再量：數得出注意力（attention）要乘幾次、占幾個位元組（byte），再和自己電腦上量到的時間比一比。
# - 說得出 $T \times T$ 的表為什麼是瓶頸，切成分塊（tile）以後，不存它也算得出一樣的結果。
# - 讀懂 CUDA 核心函式（kernel）的幾句程式，對得回 NumPy 的那幾句。
# - 深入：說得出 KV 快取（KV cache）省了什麼、要付多少記憶體，還有每個分數（score）在反向傳播（backpropagation）裡分到多少梯度（gradient）。
#
# **事先要會的**　第 1 到 4 課；讀完第 4 課就可以直接讀這一課。沒有 GPU 也沒關係。
#
# **時間**　只走主線約 20 分鐘，全部約 70 分鐘，其中練習占 20 分鐘；這一課是加選的，不算在 45 分鐘的課裡。
#
# 這一課的時間都在你的電腦上量，檔案裡沒有存，執行了才看得到。先執行下一格；重新啟動核心以後，也要先執行它。

# %% [markdown] lang="en" key="title" of="3bfe62902155" tags=["core"]
# # 6　Speed and memory
#
# **What you will be able to do**
#
# - Count first, then measure: say how many multiplications and how many bytes attention takes, and compare with the time on your own computer.
# - Say why the $T \times T$ table is the bottleneck, and how tiles give the same result without storing it.
# - Read a few lines of a CUDA kernel and find the lines of NumPy that they mirror.
# - Deeper: say what the KV cache saves and what memory it costs, and which gradient each score gets in backpropagation.
#
# **What you bring along**　Lessons 1 to 4; you can come here straight from lesson 4. You do not need a GPU.
#
# **Time**　About 20 minutes for the main path, about 70 for everything, of which the exercises take 20; this lesson is an extra, outside the 45 minutes.
#
# All times in this lesson are those of your computer, so the file stores none: run it to see them. Run the next cell first, and again after restarting the kernel.

# %% key="setup" tags=["core"]
LANGUAGE = "zh-Hant"

try:
    import numpy as np

    import andrea_lesson as al
    from andrea_lesson import costs, experiments, gpu, kernels, panels, plotting, timing
    from andrea_lesson.resources import resource_path
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"找不到 {missing.name}。請執行 %pip install -e \"<含有 pyproject.toml 的資料夾>[lab]\"，再重新啟動核心。\n"
        f"{missing.name} is not installed. Run %pip install -e \"<the folder with pyproject.toml>[lab]\", "
        "then restart the kernel."
    ) from None

al.set_language(LANGUAGE)
np.set_printoptions(precision=2, suppress=True)

# %% [markdown] lang="zh-Hant" key="loop" tags=["core"]
# ## 6.1　同樣的乘法，快慢差多少
#
# 一個分數是一個查詢（query）和一個鍵（key）的點積（dot product）：乘 $d_k$ 次，再加起來。最老實的寫法是三層迴圈（loop）：每個查詢 $i$、每個鍵 $j$、每個分量（component）$n$。
#
# 先算小一點的：一個頭，$T = 64$、$d_k = 64$，向量是亂數。
#
# **先猜猜看**　一共要乘幾次？

# %% [markdown] lang="en" key="loop" of="92469e6571e5" tags=["core"]
# ## 6.1　The same multiplications, how fast?
#
# A score is the dot product of a query and a key: $d_k$ multiplications, added up. The plainest way to write it is a triple loop, over every query $i$, every key $j$ and every component $n$.
#
# Start small: one head, $T = 64$ and $d_k = 64$, random vectors.
#
# **Guess first**　How many multiplications does it take?

# %% key="loop-guess" tags=["core"]
guess = None  # ×

# %% key="loop-count" tags=["core"]
Q, K, V = experiments.random_qkv(64, 64)  # (64, 64)

scores = np.zeros((64, 64))  # (64, 64)
count = 0
for i in range(64):
    for j in range(64):
        for n in range(64):
            scores[i, j] += Q[i, n] * K[j, n]
            count += 1

al.show(guess=guess, measured=count, agrees=np.allclose(scores, Q @ K.T))

# %% [markdown] lang="zh-Hant" key="race" tags=["core"]
# 就是 $T^2 d_k$ 次。一次乘法配一次加法，算兩個 FLOP（floating-point operation，浮點運算）。
#
# `Q @ K.T` 算的是同一張表，一次乘法也沒有少。中間還有一種寫法：兩層迴圈，每一格叫 NumPy 算一個點積。
#
# **再猜一次**　`Q @ K.T` 比三層迴圈快幾倍？

# %% [markdown] lang="en" key="race" of="12181bdbc1ae" tags=["core"]
# It is $T^2 d_k$. A multiplication and the addition that goes with it make two FLOPs (floating-point operations).
#
# `Q @ K.T` makes the same table with not a single multiplication fewer. There is a way in between: a double loop that has NumPy make one dot product a cell.
#
# **Guess again**　How many times faster than the triple loop is `Q @ K.T`?

# %% key="race-guess" tags=["core"]
guess = None  # ×

# %% key="race-measure" tags=["core", "volatile"]
Q, K, V = experiments.random_qkv(64, 64)  # (64, 64)


def triple_loop():
    S = np.zeros((64, 64))
    for i in range(64):
        for j in range(64):
            for n in range(64):
                S[i, j] += Q[i, n] * K[j, n]


def double_loop():
    return [[Q[i] @ K[j] for j in range(64)] for i in range(64)]


def product():
    return Q @ K.T


times = [
    timing.measure(way, repeats=repeats, memory=False).median
    for way, repeats in ((triple_loop, 3), (double_loop, 5), (product, 50))
]
al.show(guess=guess, measured=times[0] / times[-1])
al.table(
    way=[al.label("triple_loop"), al.label("double_loop"), "Q @ K.T"],
    milliseconds=[1e3 * time for time in times],
    gigaflops=[2 * 64**3 / time / 1e9 for time in times],
)

# %% [markdown] lang="zh-Hant" key="race-claim" tags=["core"]
# 乘的次數一樣，時間卻差了好幾個數量級（order of magnitude）。三層迴圈的時間大多不是花在乘法上：每乘一次，Python 都要取索引、查型別、造一個新的數。矩陣乘法把整張表一次交給編譯好的程式：一個指令同時乘好幾對數，讀進來的數反覆用好幾次；表夠大的時候，處理器（CPU）的幾個核心（core）還會一起動手。
#
# `timing.measure` 先跑一次暖身，再跑好幾次，取中位數（median）。只跑一次的時間不可信，電腦說不定正在忙別的事。
#
# 換成 ANDREA-120M 的一整層：$n_{\text{head}} = 12$、$T = 1024$、$d_k = d_v = 64$。分數要乘 $T^2 d_k$ 次，加權總和（weighted sum）要乘 $T^2 d_v$ 次，每個頭都要，所以一共
#
# $$2\, n_{\text{head}}\, T^2\, (d_k + d_v)$$
#
# 個 FLOP。除以這台電腦做矩陣乘法的速度（`timing.machine_rates` 當場量），就是做完這些乘加最少要花的時間。
#
# **先猜猜看**　`al.attention` 實際花的時間，是這個推算的幾倍？

# %% [markdown] lang="en" key="race-claim" of="d155ba2bda5d" tags=["core"]
# As many multiplications, yet the times are orders of magnitude apart. Most of the triple loop's time does not go into multiplying: for each product Python looks up indices, checks types and makes a new number. The matrix product hands over the whole table to compiled code in one go, which multiplies several pairs in one instruction and uses each number it has fetched many times; on larger tables several cores of the processor (CPU) work together as well.
#
# `timing.measure` runs once to warm up, then several times, and takes the median. A single run is not to be trusted; the computer may have been busy with something else.
#
# Now one whole layer of ANDREA-120M: $n_{\text{head}} = 12$, $T = 1024$, $d_k = d_v = 64$. Scores take $T^2 d_k$ multiplications and the weighted sum $T^2 d_v$, in every head; that makes
#
# $$2\, n_{\text{head}}\, T^2\, (d_k + d_v)$$
#
# FLOPs. Divided by the speed of matrix products on this computer (`timing.machine_rates` measures it on the spot), they give the least time that this arithmetic can take.
#
# **Guess first**　How many times as long does `al.attention` really take?

# %% key="layer-guess" tags=["core"]
guess = None  # ×

# %% key="layer-measure" tags=["core", "volatile"]
model = al.ANDREA_120M
rng = np.random.default_rng(0)
shape = (3, model.n_head, model.T, model.d_k)
Q, K, V = rng.standard_normal(shape, dtype="float32")  # (12, 1024, 64)

d_k = d_v = model.d_k
flops = 2 * model.n_head * model.T**2 * (d_k + d_v)
predicted = flops / timing.machine_rates().flops
whole = timing.measure(al.attention, Q, K, V, mask="causal", repeats=5, memory=False)

al.show(
    machine=whole.device,
    guess=guess,
    measured=whole.median / predicted,
    layer_gigaflop=flops / 1e9,
    gigaflops=timing.machine_rates().flops / 1e9,
    predicted_milliseconds=1e3 * predicted,
    measured_milliseconds=1e3 * whole.median,
)

# %% [markdown] lang="zh-Hant" key="layer-claim" tags=["core"]
# 超過了不少。乘法只是其中一部分，其餘的時間大多花在那些 $T \times T$ 的表上：寫出去，讀回來，一遍又一遍。下一節就來數它們。

# %% [markdown] lang="en" key="layer-claim" of="759ded03746f" tags=["core"]
# A good deal longer. Multiplying is only one part; most of the rest goes into the $T \times T$ tables, written out and read back again and again. Let us count them.

# %% [markdown] lang="zh-Hant" key="table" tags=["core"]
# ## 6.2　$T \times T$ 的代價
#
# `al.attention` 照著式子走：算分數、縮放、套遮罩（mask）、做 softmax，每動一次就做一張新的表，前面的先留著。這種寫法在這一課叫做課本寫法：好讀，每一步都看得到。
#
# **先猜猜看**　最占記憶體的那一刻，同時有幾張 $T \times T$ 的表擺在記憶體裡？

# %% [markdown] lang="en" key="table" of="46136b9c614d" tags=["core"]
# ## 6.2　What $T \times T$ costs
#
# `al.attention` follows the formula: it makes scores, scales them, masks them and takes the softmax, with a new table each time, while the earlier ones stay. Call it the textbook way; it is easy to read, and every step can be looked at.
#
# **Guess first**　At the worst moment, how many tables of $T \times T$ are in memory at once?

# %% key="table-guess" tags=["core"]
guess = None  # 1, 2, 3 …

# %% key="table-measure" tags=["core"]
rng = np.random.default_rng(0)
Q, K, V = rng.standard_normal((3, 2048, 64), dtype="float32")  # (2048, 64)

peak = timing.measure(al.attention, Q, K, V, mask="causal", repeats=1).peak_bytes
one_table = 2048 * 2048 * 4

al.show(
    guess=guess,
    measured=round(peak / one_table),
    predicted=costs.FORWARD_MATRICES,
    table_megabytes=one_table / 1e6,
)

# %% [markdown] lang="zh-Hant" key="table-claim" tags=["core"]
# 不是一張，是好幾張：分數、縮放後的、遮罩後的、減去最大值的、取過指數的，那一刻全都在。$T$ 加倍，每一張都變四倍。
#
# **再猜一次，用畫的**　一個頭，float32，$T$ 從 128 到 16384：這些表一共占多少 MB（百萬位元組）？在圖上拖曳，畫出你預期的曲線，再按「就這麼猜」，數出來的才會疊上去。兩邊都是對數刻度：距離一樣，倍數就一樣。

# %% [markdown] lang="en" key="table-claim" of="16e61aa938f2" tags=["core"]
# Not one but several: the scores, scaled, masked, with the maximum taken off, and their exponentials are all there at that moment. When $T$ doubles, each becomes four times as large.
#
# **Guess again, by drawing**　One head, float32, $T$ from 128 to 16384: how many MB (million bytes) do these tables take? Drag across the plot to draw the curve that you expect, then press "Commit my guess"; only then is what was counted laid over it. Both scales are logarithmic: equal distances are equal factors.

# %% key="limit-guess" tags=["core"]
T = [128, 512, 1024, 2048, 4096, 16384]

al.guess_curve(
    "06_memory",
    T,
    [costs.textbook_cost(t, 64).working_bytes / 1e6 for t in T],
    x_label="T",
    y_label="tables_megabytes",
    y_limits=(0.01, 1e5),
    title="guess_memory",
    log_x=True,
    log_y=True,
)

# %% key="limit-measure" tags=["core"]
T = np.array([128, 512, 1024, 2048, 4096, 16384])  # (6,)
tables = np.array([costs.textbook_cost(int(t), 64).working_bytes for t in T])  # (6,)
in_and_out = 4 * T * 64 * 4  # (6,)

al.table(
    T=T,
    in_and_out_megabytes=in_and_out / 1e6,
    table_megabytes=T * T * 4 / 1e6,
    tables_megabytes=tables / 1e6,
    times_as_much=tables / in_and_out,
)

# %% [markdown] lang="zh-Hant" key="limit-claim" tags=["core"]
# 一個頭就要好幾 GB，十二個頭一起算，一般的筆記型電腦就放不下了。可是一個頭的輸入 $Q$、$K$、$V$ 和輸出加起來，還不到二十 MB。下一層要的只有輸出，中間那些表只是過客。
#
# 這些表也拖慢速度。處理器核心旁邊的快取（cache）很快，但只有幾 MB 到幾十 MB；裝不下的表要寫到主記憶體，下一步再讀回來，核心只能等。
#
# **動手玩**　下面的面板替三種寫法數 FLOP 和位元組，推算它們在這台電腦上要多少記憶體、多少時間。「分塊寫法」把表切成小塊，手上只留一塊，下一節細講；「解碼一步」是生成時只算最後一列（row），6.4 細講。
#
# **先猜猜看**　先記在紙上，再動手；按「在這台電腦上量量看」，就知道推算準不準。
#
# 1. $T$ 拉大，課本寫法和分塊寫法的記憶體各是怎麼長的？課本寫法到哪個 $T$，這台電腦就放不下了？
# 2. $T$ 放回 1024，$d_k$ 加倍：課本寫法的記憶體也會加倍嗎？
# 3. $d_k$ 放回 64，「遮罩」換成「全可見」：哪一種寫法的時間會多出一大截？

# %% [markdown] lang="en" key="limit-claim" of="d01f1133c5e5" tags=["core"]
# A single head takes several GB; twelve at once do not fit into an ordinary notebook computer. Yet the inputs $Q$, $K$ and $V$ and the output of one head together are less than twenty MB. The next layer wants nothing but the output; the tables in between are only passing through.
#
# They cost time as well. The cache beside the processor's cores is fast, but holds only a few MB or tens of MB; a table that does not fit is written to main memory and read back in the next step, while the cores wait.
#
# **Play**　The panel below counts FLOPs and bytes of three ways, and predicts how much memory and time they take on this computer. The "tiled" way cuts the table into tiles and holds only one at a time, as the next section explains; a "decoder step" is one step of generation, the last row only, as 6.4 explains.
#
# **Guess first**　Note your answers on paper, then move the controls; "measure it here" shows how good the predictions are.
#
# 1. As $T$ grows, how does the memory of the textbook way grow, and that of the tiled way? From which $T$ on does the textbook way no longer fit into this computer?
# 2. With $T$ back at 1024, double $d_k$: does the memory of the textbook way double too?
# 3. With $d_k$ back at 64, change "mask" to "full": which way takes much longer?

# %% key="cost-figure" tags=["core", "volatile"]
panels.figure(panels.cost_panel)

# %% key="cost-panel" tags=["core", "volatile"]
panels.cost_panel()

# %% [markdown] lang="zh-Hant" key="cost-answer" tags=["core"]
# 1. 課本寫法的記憶體跟著 $T^2$ 長，分塊寫法的跟著 $T$ 長。乘的次數，兩種都還是跟著 $T^2$ 長；分塊省掉的是那幾張表。到哪個 $T$ 還放得下，看公式的最後一行。
# 2. 幾乎不變：每張表都是 $T \times T$，和 $d_k$ 無關；$d_k$ 加倍，多的是乘法。
# 3. 分塊寫法：沒有遮罩，就沒有分塊可以跳過。課本寫法本來就整張都算，沒有差多少。
#
# 量到的時間和推算的差上一截很正常：資料在不在快取裡、別的程式忙不忙，都沒有算進去。要是差到十倍，多半是量這台電腦的速度時，它正好在忙別的：等它閒下來，再按一次，速度會重新量過。推算是拿來看誰長得快、瓶頸在哪裡的。

# %% [markdown] lang="en" key="cost-answer" of="b78979be16a4" tags=["core"]
# 1. The memory of the textbook way grows with $T^2$, that of the tiled way with $T$. The multiplications still grow with $T^2$ in both; what tiles save is the tables. The last line of the formulas says up to which $T$ it fits.
# 2. Hardly at all: each table is $T \times T$, whatever $d_k$ is; what a double $d_k$ adds is multiplications.
# 3. The tiled way: with nothing hidden there is no tile to skip. The textbook way computes the whole table in any case, so little changes.
#
# It is normal for a measured time to lie some way off: whether data are in the cache, and what other programs do, is not counted. If it is ten times off, the computer was most likely busy while its speed was measured: wait until it is idle and press again, which measures the speed anew. A prediction is there to show which way grows faster, and where the bottleneck is.

# %% [markdown] lang="zh-Hant" key="moved" tags=[]
# **深入**　6.1 只數了乘法，推算的時間太短。現在把搬運也數進去：課本寫法走一次，每一步都把整張表讀進來、寫出去。
#
# **先猜猜看**　讀一遍算一次，寫一遍也算一次：加起來，等於把一張 $T \times T$ 的表讀寫了幾次？

# %% [markdown] lang="en" key="moved" of="2663b993242c" tags=[]
# **Deeper**　6.1 counted only multiplications, and its prediction was too short. Now count the traffic as well: at each step the textbook way reads and writes a whole table.
#
# **Guess first**　Count each reading as one and each writing as one: taken together, how many times is a table of $T \times T$ read or written?

# %% key="moved-guess" tags=[]
guess = None  # 1, 2, 3 …

# %% key="moved-count" tags=[]
cost = costs.textbook_cost(1024, 64)
al.show(
    guess=guess,
    measured=round(cost.bytes_moved / (1024 * 1024 * 4)),
    moved_megabytes=cost.bytes_moved / 1e6,
    flops_per_byte=cost.flops / cost.bytes_moved,
)

# %% [markdown] lang="zh-Hant" key="moved-claim" tags=[]
# 一張表來回這麼多遍，難怪慢。下面量這台電腦一秒能搬幾個位元組、能取幾次指數，把乘法、指數和搬運的時間相加，當成新的推算。
#
# **先猜猜看**　這次實際的時間是推算的幾倍？

# %% [markdown] lang="en" key="moved-claim" of="e0d4b369936a" tags=[]
# So many trips of one table take their time. The next cell measures how many bytes this computer moves in a second and how many exponentials it makes, and adds up the times for multiplying, exponentials and moving: a new prediction.
#
# **Guess first**　How many times as long as predicted does it take this time?

# %% key="bandwidth-guess" tags=[]
guess = None  # ×

# %% key="bandwidth-measure" tags=["volatile"]
model = al.ANDREA_120M
rng = np.random.default_rng(0)
shape = (3, model.n_head, model.T, model.d_k)
Q, K, V = rng.standard_normal(shape, dtype="float32")  # (12, 1024, 64)

cost = costs.textbook_cost(model.T, model.d_k, n_head=model.n_head)
rates = timing.machine_rates()
multiply = cost.flops / rates.flops
exponentiate = cost.exponentials / rates.exponentials
move = cost.bytes_moved / rates.bytes
whole = timing.measure(al.attention, Q, K, V, mask="causal", repeats=5, memory=False).median

al.show(
    guess=guess,
    measured=whole / (multiply + exponentiate + move),
    gigabytes_per_second=rates.bytes / 1e9,
    multiply_milliseconds=1e3 * multiply,
    exponentiate_milliseconds=1e3 * exponentiate,
    move_milliseconds=1e3 * move,
    measured_milliseconds=1e3 * whole,
)

# %% [markdown] lang="zh-Hant" key="bandwidth-claim" tags=[]
# 這次近多了。看三項裡誰最長：多半是搬運，不是乘法。還差的，是沒有數到的事：像遮罩那一步，`np.where` 要一格一格地挑，比單純搬運慢。數得越齊，推算越準。

# %% [markdown] lang="en" key="bandwidth-claim" of="140ea6db5786" tags=[]
# Much closer. See which of the three is longest: as a rule it is moving, not multiplying. What is still missing are things not counted: the mask, for one, where `np.where` has to choose cell by cell, which is slower than just moving. The more completely one counts, the better one predicts.

# %% [markdown] lang="zh-Hant" key="online" tags=["core"]
# ## 6.3　邊看邊改的 softmax
#
# 要做一列的 softmax，好像非得等整列分數都到齊：要減掉的最大值得看完才知道，總和也是。其實可以邊看邊改：一次只看幾個鍵，記住到目前為止的最大值 $m$、總和 $l$ 和加權和 $O$ 就好。
#
# 麻煩只有一個：後來的分數可能比 $m$ 還高。假設前面兩個分數是 0 和 1，所以 $m = 1$，$l = e^{0-1} + e^{1-1}$。現在來了一個 3，最大值改成 3。
#
# **先猜猜看**　舊的 $l$ 要乘上多少，才能和新來的 $e^{3-3}$ 相加？填一個數，或寫成 `np.exp(…)`。

# %% [markdown] lang="en" key="online" of="9e7176402702" tags=["core"]
# ## 6.3　Softmax on the way
#
# Softmax of a row seems to need all of its scores first: the maximum that is taken off is not known before the end, nor is the sum. But one can correct on the way: look at a few keys at a time, and remember the maximum so far $m$, the sum so far $l$ and the weighted sum so far $O$.
#
# There is one difficulty: a later score that is higher than $m$. Suppose the first two scores are 0 and 1, so that $m = 1$ and $l = e^{0-1} + e^{1-1}$. Now comes a 3, and the maximum becomes 3.
#
# **Guess first**　By what must the old $l$ be multiplied before the new $e^{3-3}$ can be added? Write a number, or something like `np.exp(…)`.

# %% key="online-guess" tags=["core"]
guess = None  # ×

# %% key="online-factor" tags=["core"]
s = np.array([0.0, 1.0])  # (2,)
old_l, new_l = np.exp(s - 1).sum(), np.exp(s - 3).sum()
al.show(guess=guess, measured=new_l / old_l, predicted=np.exp(1 - 3))

# %% [markdown] lang="zh-Hant" key="online-claim" tags=["core"]
# 每一項都從 $e^{s-1}$ 變成 $e^{s-3}$，同乘 $e^{1-3}$，總和也就同乘 $e^{1-3}$。一般說來是
#
# $$e^{m_{\text{old}} - m_{\text{new}}}$$
#
# $O$ 也乘同一個數。整個辦法就是這樣，叫做[線上 softmax](https://arxiv.org/abs/1805.02867)（online softmax），[FlashAttention](https://arxiv.org/abs/2205.14135) 靠的就是它。

# %% [markdown] lang="en" key="online-claim" of="53fdc981fc5b" tags=["core"]
# Each term goes from $e^{s-1}$ to $e^{s-3}$, all by the same factor $e^{1-3}$, and so the sum takes the factor $e^{1-3}$ as well. In general it is
#
# $$e^{m_{\text{old}} - m_{\text{new}}}$$
#
# and $O$ takes the same. That is the whole method, called [online softmax](https://arxiv.org/abs/1805.02867); it is the heart of [FlashAttention](https://arxiv.org/abs/2205.14135).

# %% [markdown] lang="zh-Hant" key="running-softmax" tags=[]
# **練習**　一塊一塊算 softmax 的總和（8 分鐘，難度 3／3）
#
# 先自己寫 $m$ 和 $l$。`scores` 是一列分數，一次只准看 `tile` 個（最後一塊可以不滿），走完把最大值 $m$ 和 $l = \sum_j e^{s_j - m}$ 放進一個陣列（array）回傳：`np.array([m, l])`。分數上千，也不能溢位。卡住了，就執行 `al.hint("running_softmax")`。

# %% [markdown] lang="en" key="running-softmax" of="7cdd2089c35c" tags=[]
# **Exercise**　The sum of softmax, tile by tile (8 minutes, difficulty 3 of 3)
#
# Write $m$ and $l$ yourself first. `scores` is a row of scores, of which you may look at `tile` at a time (the last tile may be short); at the end return the maximum $m$ and $l = \sum_j e^{s_j - m}$ in one array, `np.array([m, l])`. Scores in the thousands must not overflow. Stuck? Run `al.hint("running_softmax")`.

# %% key="exercise-running-softmax" tags=[]
def running_softmax(scores, tile):  # (T,) → np.array([m, l])
    ...


al.check.running_softmax(running_softmax)

# %% [markdown] lang="zh-Hant" key="online-try" tags=["core"]
# 現在連 $O$ 也算進去，拿例句「看」那一列來試（數字是人工設定的）：六個鍵切成三個分塊，一塊兩個。手上從頭到尾只有一塊的分數；$l$ 和 $O$ 在程式裡叫 `total` 和 `mixed`。

# %% [markdown] lang="en" key="online-try" of="b359f526dc94" tags=["core"]
# Now with $O$ as well, on the row of "reads" (its numbers are set by hand): six keys in three tiles of two. From beginning to end it holds the scores of one tile only; $l$ and $O$ are called `total` and `mixed` in the code.

# %% key="online-row" tags=["core"]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)

m, total, mixed = -np.inf, 0.0, np.zeros(3)  # mixed: (3,)
for first in (0, 2, 4):
    keys = slice(first, first + 2)
    s = Q[5] @ K[keys].T / 4**0.5  # (2,)
    new_m = max(m, s.max())
    shrink, w = np.exp(m - new_m), np.exp(s - new_m)  # w: (2,)
    total = total * shrink + w.sum()
    mixed = mixed * shrink + w @ V[keys]  # (2,) @ (2, 3) = (3,)
    m = new_m
output = mixed / total  # (3,)

al.show(output=output, agrees=np.allclose(output, al.attention(Q, K, V, mask="causal")[5]))

# %% [markdown] lang="zh-Hant" key="steps" tags=["core"]
# `al.tiled_steps` 走同樣的三步，每一步都交出當時的狀態（它的輸出已經除以 $l$）：

# %% [markdown] lang="en" key="steps" of="f527bc32d233" tags=["core"]
# `al.tiled_steps` takes the same three steps and hands over the state after each (its output is already divided by $l$):

# %% key="steps-table" tags=["core"]
steps = list(al.tiled_steps(Q[5:], K, V, tile=2))

al.show(agrees=np.allclose(steps[-1].output, output))
al.table(
    tokens_in_tile=[" ".join(example.tokens[step.keys]) for step in steps],
    tile_scores=[step.scores[0] for step in steps],
    max_so_far=[step.running_max[0] for step in steps],
    shrunk_by=[step.rescale[0] for step in steps],
    sum_so_far=[step.running_sum[0] for step in steps],
    output_so_far=[step.output[0] for step in steps],
)

# %% [markdown] lang="zh-Hant" key="steps-claim" tags=["core"]
# 最大值一路往上，每升一次，舊的總和就縮小一次。第一塊之前什麼也沒有，所以乘的是 $e^{-\infty} = 0$。中途的輸出就是「只看到這裡為止」的注意力，走完最後一塊就是答案，一點誤差也沒有（浮點數的捨入除外）。
#
# 查詢也可以切塊，表就成了一格一格的分塊，算完就丟。因果遮罩（causal mask）在這裡還有個好處：整塊都看不到的，根本不用算。
#
# **先猜猜看**　ANDREA-120M 的一個頭是 $1024 \times 1024$，切成 $128 \times 128$ 的分塊，一共 64 塊。有幾塊可以跳過？

# %% [markdown] lang="en" key="steps-claim" of="ba6845d02ffe" tags=["core"]
# The maximum climbs, and each time it does, the old sum shrinks. Before the first tile there was nothing, so the factor is $e^{-\infty} = 0$. The output along the way is attention "as far as seen"; after the last tile it is the answer, without any error but floating-point rounding.
#
# Queries can be cut as well; then the table is a grid of tiles, each thrown away once used. Here the causal mask helps: a tile that it hides altogether need not be computed at all.
#
# **Guess first**　One head of ANDREA-120M is $1024 \times 1024$; tiles of $128 \times 128$ make 64 of them. How many can be skipped?

# %% key="skip-guess" tags=["core"]
guess = None  # 0 … 64

# %% key="skip-measure" tags=["core"]
rng = np.random.default_rng(0)
Q, K, V = rng.standard_normal((3, 1024, 64), dtype="float32")  # (1024, 64)

skipped = [step.skipped for step in al.tiled_steps(Q, K, V, mask="causal", tile=128)]  # 64
output = al.tiled_attention(Q, K, V, mask="causal", tile=128)  # (1024, 64)

al.show(
    guess=guess,
    measured=sum(skipped),
    cells_computed=costs.seen_pairs(1024, 128),
    cells_allowed=al.causal_mask(1024).sum(),
    cells_in_table=1024**2,
    agrees=np.allclose(output, al.attention(Q, K, V, mask="causal"), rtol=0, atol=1e-5),
)

# %% [markdown] lang="zh-Hant" key="skip-claim" tags=["core"]
# 對角線右上方的 $7 + 6 + \cdots + 1$ 塊全部跳過，對角線上的 8 塊要遮一半。課本寫法連看不到的格子也老老實實算完，才蓋掉。
#
# 現在用 ANDREA-120M 的一整層來比。`al.tiled_attention` 是同樣的步驟，只是程式為了速度改寫過，還讓每個核心各算各的頭。
#
# **先猜猜看**　它比課本寫法快幾倍？下一格先照 6.2 面板的辦法推算，再量。

# %% [markdown] lang="en" key="skip-claim" of="8ed17676e89b" tags=["core"]
# The $7 + 6 + \cdots + 1$ tiles right of the diagonal are skipped, the 8 on the diagonal are half hidden. The textbook way computes hidden cells with great care, and then covers them.
#
# Now compare on a whole layer of ANDREA-120M. `al.tiled_attention` takes the same steps, written for speed, and lets each core work on heads of its own.
#
# **Guess first**　How many times faster than the textbook way is it? The next cell predicts it as the panel of 6.2 does, and then measures.

# %% key="tiled-guess" tags=["core"]
guess = None  # ×

# %% key="tiled-measure" tags=["core", "volatile"]
model = al.ANDREA_120M
rng = np.random.default_rng(0)
shape = (3, model.n_head, model.T, model.d_k)
Q, K, V = rng.standard_normal(shape, dtype="float32")  # (12, 1024, 64)

rates = timing.machine_rates()
threads = rates.ran_on.threads
sizes = {"T": model.T, "d_k": model.d_k, "n_head": model.n_head}
predicted = [
    rates.seconds(costs.textbook_cost(**sizes)),
    rates.seconds(costs.tiled_cost(**sizes, threads=threads), threads=threads),
]
ways = (al.attention, al.tiled_attention)
runs = [timing.measure(way, Q, K, V, mask="causal", repeats=5) for way in ways]

al.show(
    guess=guess,
    predicted_times=predicted[0] / predicted[1],
    measured=runs[0].median / runs[1].median,
)
al.table(
    way=[al.label("way_textbook"), al.label("way_tiled")],
    predicted_milliseconds=[1e3 * time for time in predicted],
    measured_milliseconds=[1e3 * run.median for run in runs],
    extra_megabytes=[run.peak_bytes / 1e6 for run in runs],
)

# %% [markdown] lang="zh-Hant" key="tiled-claim" tags=["core"]
# 答案一樣，乘的次數少了將近一半，表也不必搬來搬去，時間就少了一大截，額外的記憶體只剩零頭。比一比推算和量到的：快幾倍，還沒量就數得出個大概。
#
# **先猜猜看**　先記在紙上，再動手。
#
# 1. 一塊一塊算過去，最大值會不會往下掉？「舊的總和要乘上」什麼時候是 1，什麼時候比 1 小？
# 2. 「遮罩」換成「滑動視窗」，跳過的分塊變多還是變少？
#
# **動手玩**　按「▶ 播放」，看分塊一塊一塊算過去（向量是亂數）。框起來的是正在算的那一塊，要跟著看的列用滑桿選。

# %% [markdown] lang="en" key="tiled-claim" of="cff95550521f" tags=["core"]
# The answer is the same; nearly half of the multiplications are gone, no table travels to and fro, so much of the time is saved, and nearly all of the extra memory. Compare predicted and measured: a rough idea of how many times faster it is comes from counting alone.
#
# **Guess first**　Note your answers on paper, then begin.
#
# 1. As tile follows tile, can the maximum ever fall? When is "old sum times" equal to 1, and when is it less?
# 2. With "mask" at "sliding-window", are more tiles skipped, or fewer?
#
# **Play**　Press "▶ Play" and watch tile after tile (on random vectors). The tile being computed is framed; a slider chooses the row to follow.

# %% key="tiles-figure" tags=["core"]
panels.figure(panels.tiles_panel)

# %% key="tiles-panel" tags=["core"]
panels.tiles_panel()

# %% [markdown] lang="zh-Hant" key="tiles-answer" tags=["core"]
# 1. 最大值只升不降：多看一個鍵，最大的不可能變小。新的一塊沒有更高的分數，就乘 1，什麼也不用改；有，才乘上比 1 小的數。每一列的第一塊乘 0，因為之前什麼都還沒有。
# 2. 變多：視窗只留對角線附近，左下角也有整塊看不到的。

# %% [markdown] lang="en" key="tiles-answer" of="19fe5aa53893" tags=["core"]
# 1. The maximum never falls: one key more cannot make the largest smaller. A tile without a higher score leaves the factor at 1, and nothing has to be corrected; only a higher one makes it less than 1. The first tile of a row has the factor 0, as there was nothing before.
# 2. More: the window leaves only what is near the diagonal, so at the lower left there are tiles that nobody sees, too.

# %% [markdown] lang="zh-Hant" key="growth" tags=[]
# **深入**　$T$ 從 128 長到 8192，一個頭，兩種寫法的時間和額外的記憶體各長多少？課本寫法到 2048 就停，8192 要 1 GB 以上。
#
# **先猜猜看**　$T$ 變四倍，分塊寫法的時間大約變幾倍？額外的記憶體呢？填兩個數，像 `[1, 1]`。

# %% [markdown] lang="en" key="growth" of="3f4170016874" tags=[]
# **Deeper**　From $T$ = 128 to 8192, on one head, how do time and extra memory grow in both ways? The textbook way stops at 2048; at 8192 it would take over 1 GB.
#
# **Guess first**　When $T$ becomes four times as large, by what factor does the time of the tiled way grow, roughly? And its extra memory? Write two numbers, such as `[1, 1]`.

# %% key="growth-guess" tags=[]
guess = None  # [×, ×]

# %% key="growth-measure" tags=["volatile"]
rng = np.random.default_rng(0)
longest = rng.standard_normal((3, 8192, 64), dtype="float32")  # (8192, 64)


def time_and_memory(way, T):
    Q, K, V = longest[:, :T]  # (T, 64)
    run = timing.measure(way, Q, K, V, mask="causal", repeats=5)
    return 1e3 * run.median, run.peak_bytes / 1e6


lengths = (128, 512, 2048, 8192)
tiled = [time_and_memory(al.tiled_attention, T) for T in lengths]
textbook = [time_and_memory(al.attention, T) if T <= 2048 else ("", "") for T in lengths]

al.show(guess=guess, measured=[tiled[-1][part] / tiled[-2][part] for part in (0, 1)])
al.table(
    T=lengths,
    textbook_milliseconds=[time for time, _ in textbook],
    tiled_milliseconds=[time for time, _ in tiled],
    textbook_megabytes=[memory for _, memory in textbook],
    tiled_megabytes=[memory for _, memory in tiled],
)

# %% [markdown] lang="zh-Hant" key="growth-claim" tags=[]
# 時間往 16 倍靠近，因為分數的個數還是 $T^2$；$T$ 不夠大的時候，固定的開銷（overhead）也占一份，倍數就小一點。額外的記憶體頂多跟著 $T$ 長。分塊省的是記憶體和搬運，不是乘法。要連乘法也省，就得少看一些鍵，例如第 3 課的滑動視窗遮罩（sliding-window mask）。

# %% [markdown] lang="en" key="growth-claim" of="0552246ef57d" tags=[]
# Time moves towards 16 times, since there are still $T^2$ scores; while $T$ is not large enough, a fixed overhead has its share, and the factor is smaller. The extra memory grows with $T$ at most. Tiles save memory and traffic, not multiplications. To save those as well, one must look at fewer keys, as the sliding-window mask of lesson 3 does.

# %% [markdown] lang="zh-Hant" key="size" tags=[]
# **深入，先猜猜看**　分塊越小，跳過的格子越多，是不是就越快？填 `True`（是）或 `False`（否）。

# %% [markdown] lang="en" key="size" of="f3c434129b3c" tags=[]
# **Deeper, guess first**　The smaller the tiles, the more cells are skipped. Are smaller tiles always faster, then? Write `True` (yes) or `False` (no).

# %% key="size-guess" tags=[]
guess = None  # True, False

# %% key="size-measure" tags=["volatile"]
rng = np.random.default_rng(0)
Q, K, V = rng.standard_normal((3, 1024, 64), dtype="float32")  # (1024, 64)

sizes = (8, 16, 32, 64, 128, 256, 512, 1024)
computed = [costs.seen_pairs(1024, tile) for tile in sizes]
times = []
for tile in sizes:
    run = timing.measure(al.tiled_attention, Q, K, V, mask="causal", tile=tile, repeats=3, memory=False)
    times.append(run.median)

al.show(guess=guess, measured=bool(times[0] == min(times)))
al.table(tile=sizes, cells_computed=computed, milliseconds=[1e3 * time for time in times])

# %% [markdown] lang="zh-Hant" key="size-claim" tags=[]
# 太小反而慢：格子雖然少了，每一塊卻都要付一次固定的開銷，小塊的矩陣乘法也跑不快。太大又回頭變慢：跳得過的格子少了，一塊也大得塞不進快取。中間最好，確切的大小要看每一台電腦的快取，所以套件預設的大小是量出來的，不是算出來的：查詢少、鍵多的長條，不是正方形（6.2 的面板寫著它的大小）。

# %% [markdown] lang="en" key="size-claim" of="f4e1e36ace5e" tags=[]
# Too small is slow: fewer cells, but each tile pays a fixed overhead, and small matrix products do not run at full speed. Too large is slow again: fewer cells are skipped, and a tile outgrows the cache. The best lies between, and depends on the cache of each computer; so the package's default was measured, not derived: not a square, but a band of few queries and many keys (the panel of 6.2 gives its size).

# %% [markdown] lang="zh-Hant" key="cache" tags=[]
# ## 6.4　一次只添一個詞元（深入）
#
# 生成（generation）的時候，每一步只多一個詞元（token）。第 3 課數過：因果遮罩下，前面的列一列也不會變，所以只需要算最後一列，鍵和值（value）留著就好。把它們留下來的地方，叫做 KV 快取；它在記憶體裡，和 6.2 處理器的快取是兩回事。
#
# 只算一列，$T_q = 1$。ANDREA-120M 的一個頭輪到第 1024 個詞元時，如果把整張 $1024 \times 1024$ 重算，和只算最後一列，乘的次數差幾倍？
#
# **先猜猜看**　填一個倍數。

# %% [markdown] lang="en" key="cache" of="6d7b662f7e06" tags=[]
# ## 6.4　One token at a time (deeper)
#
# Generation adds one token a step. Lesson 3 counted it: under the causal mask no earlier row ever changes, so only the last row has to be computed, if keys and values are kept. The place that keeps them is the KV cache; it lies in memory, and is not the processor's cache of 6.2.
#
# A single row means $T_q = 1$. When it is the turn of the 1024th token in one head of ANDREA-120M, by what factor do the multiplications differ between computing all of $1024 \times 1024$ again and computing the last row only?
#
# **Guess first**　Write a factor.

# %% key="cache-guess" tags=[]
guess = None  # ×

# %% key="cache-measure" tags=[]
Q, K, V = experiments.random_qkv(1024, 64)  # (1024, 64)

keys, values = K[:0], V[:0]  # (0, 64)
for t in range(1024):
    keys = np.concatenate([keys, K[t : t + 1]])  # (t + 1, 64)
    values = np.concatenate([values, V[t : t + 1]])  # (t + 1, 64)
last = al.softmax(Q[-1:] @ keys.T / 64**0.5) @ values  # (1, 64)

whole = al.attention(Q, K, V, mask="causal")  # (1024, 64)
again = costs.textbook_cost(1024, 64).multiplications
step = costs.decoder_cost(1024, 64).multiplications
al.show(guess=guess, measured=again / step, same_last_row=np.allclose(last[0], whole[-1]))

# %% [markdown] lang="zh-Hant" key="cache-claim" tags=[]
# 正好差 $T$ 倍。最後一列看得到所有的鍵，所以連遮罩也免了。
#
# 上面每一步都用 `np.concatenate` 把整個快取抄一遍，太浪費。`KVCache` 先留好位子，`append` 只寫進新的一列，`attend` 只算一列。

# %% [markdown] lang="en" key="cache-claim" of="0de9e484629d" tags=[]
# The factor is exactly $T$. The last row sees every key, so not even a mask is needed.
#
# Above, each step copies the entire cache with `np.concatenate`, which is wasteful. `KVCache` reserves its place beforehand; `append` writes only the new row, and `attend` computes only one row.

# %% [markdown] lang="zh-Hant" key="my-kv-cache" tags=[]
# **練習**　你的 KV 快取有多大（3 分鐘，難度 1／3）
#
# 先替你自己的模型算：層數、寬度和詞元的個數由你的亂數種子決定，把 `seed` 改成你自己的整數，題目就會出現。答案是位元組的個數，寫成乘法的式子也可以。卡住了，就執行 `al.hint("my_kv_cache")`。

# %% [markdown] lang="en" key="my-kv-cache" of="df2ee191659d" tags=[]
# **Exercise**　The size of your KV cache (3 minutes, difficulty 1 of 3)
#
# First for a model of your own: your seed decides its layers, its width and the number of tokens; give `seed` a whole number of your own, and the question appears. The answer is a number of bytes, and may be written as a product. Stuck? Run `al.hint("my_kv_cache")`.

# %% key="question-my-kv-cache" tags=[]
seed = None  # 0 … 999999

al.question("my_kv_cache", seed)

# %% key="exercise-my-kv-cache" tags=[]
my_kv_cache = None

al.check.my_kv_cache(my_kv_cache, seed=seed)

# %% [markdown] lang="zh-Hant" key="memory" tags=[]
# **先猜猜看**　ANDREA-120M 有 12 層，每層 12 個頭，$d_k = 64$，float32。1024 個詞元的 KV 快取一共幾 MB？

# %% [markdown] lang="en" key="memory" of="9b73e486ed2c" tags=[]
# **Guess first**　ANDREA-120M has 12 layers of 12 heads, with $d_k = 64$ and float32. How many MB does the KV cache of 1024 tokens take in all?

# %% key="memory-guess" tags=[]
guess = None  # MB

# %% key="memory-measure" tags=[]
models = al.FAMILY
cache_bytes = [
    m.n_layer * costs.cache_bytes(m.T, m.d_k, n_head=m.n_head) for m in models
]

al.show(guess=guess, measured=cache_bytes[1] / 1e6)
al.table(
    model=[m.name for m in models],
    cache_megabytes=[size / 1e6 for size in cache_bytes],
    parameter_megabytes=[4 * m.n_params / 1e6 for m in models],
    bytes_per_token=[size // m.T for size, m in zip(cache_bytes, models)],
)

# %% [markdown] lang="zh-Hant" key="memory-claim" tags=[]
# 就是 $2 \cdot n_{\text{layer}} \cdot n_{\text{head}} \cdot T \cdot d_k$ 個數，鍵和值各一份。快取跟著 $T$ 長：上下文長度（context length）變 32 倍，它就比 ANDREA-120M 的參數還大好幾倍。大型語言模型的記憶體，常常就花在這裡。
#
# 現在量一步要多久。
#
# **先猜猜看**　第 1024 個詞元，用快取走一步，比整層重算快幾倍？

# %% [markdown] lang="en" key="memory-claim" of="41d0aa49b6c4" tags=[]
# It is $2 \cdot n_{\text{layer}} \cdot n_{\text{head}} \cdot T \cdot d_k$ numbers, once for the keys and once for the values. The cache grows with $T$: at a context length 32 times as long it would be several times larger than all parameters of ANDREA-120M. This is where large language models often spend their memory.
#
# Now measure how long a step takes.
#
# **Guess first**　For the 1024th token, how many times faster is a step with the cache than computing the whole layer again?

# %% key="decode-guess" tags=[]
guess = None  # ×

# %% key="decode-measure" tags=["volatile"]
model = al.ANDREA_120M
rng = np.random.default_rng(0)
shape = (3, model.n_head, model.T, model.d_k)
Q, K, V = rng.standard_normal(shape, dtype="float32")  # (12, 1024, 64)

cache = al.KVCache(model.T, lead=(model.n_head,))
for t in range(model.T):
    cache.append(K[:, t], V[:, t])  # (12, 64)
step = timing.measure(cache.attend, Q[:, -1], repeats=20).median
again = timing.measure(al.tiled_attention, Q, K, V, mask="causal", repeats=5).median
cost = costs.decoder_cost(model.T, model.d_k, n_head=model.n_head)

whole = al.tiled_attention(Q, K, V, mask="causal")  # (12, 1024, 64)
al.show(
    guess=guess,
    measured=again / step,
    step_milliseconds=1e3 * step,
    again_milliseconds=1e3 * again,
    flops_per_byte=cost.flops / cost.bytes_moved,
    cache_megabytes=cache.nbytes / 1e6,
    same_last_row=np.allclose(cache.attend(Q[:, -1]), whole[:, -1], rtol=0, atol=1e-5),
)

# %% [markdown] lang="zh-Hant" key="decode-claim" tags=[]
# 快很多，卻沒有快到 $T$ 倍。看「每搬一個位元組做幾個 FLOP」：快取裡的每個數只用一次，搬一個位元組，還做不到一個 FLOP。矩陣乘法忙的是乘法，解碼這一步忙的是讀資料，再加上每次呼叫固定的開銷。這裡反覆讀同一層的幾 MB，多半還留在處理器的快取裡；真的生成時，每一步都要把各層的 KV 快取和參數從頭讀一遍，等的就是記憶體的頻寬（bandwidth）。所以生成的速度，常常看的是 KV 快取和參數有多大，不是乘法有多快。
#
# 記憶體和時間也不一定一起省。回 6.2 的面板，把精度換成 float16 再量一次：KV 快取小了一半，走一步卻慢得多，因為 CPU 得先把留下來的數全部轉成 float32 才能算；面板上「一步另外用」的記憶體變大，就是這份副本。

# %% [markdown] lang="en" key="decode-claim" of="72c9a818efe3" tags=[]
# Much faster, yet not by a factor of $T$. Look at "FLOPs per byte moved": each number of the cache is used only once, so a byte that is fetched brings less than one FLOP. A matrix product is busy multiplying; a decoder step is busy reading, and has the fixed overhead of a call. Here the same few MB of one layer are read again and again and mostly stay in the processor's cache; in real generation each step reads the KV cache and the parameters of all layers from one end to the other, and waits for the bandwidth of the memory. So the speed of generation often depends on how large KV cache and parameters are, not on how fast the machine multiplies.
#
# Saving memory does not always save time. Go back to the panel of 6.2, change the precision to float16 and measure again: the KV cache is half as large, yet a step takes much longer, as the CPU first has to turn all numbers kept into float32; this copy is why the panel says that a step takes so much more memory.

# %% [markdown] lang="zh-Hant" key="backward" tags=[]
# ## 6.5　回頭走：每個分數分到什麼（深入）
#
# 訓練要知道每個分數該往上還是往下調。$dO$ 讀作「損失（loss）對 $O$ 的梯度」，$dA$、$dS$ 也一樣。反向傳播從輸出的 $dO$ 開始（下面用亂數代替），把原來的步驟一步一步倒著走。最要緊的是 softmax 那一步。

# %% [markdown] lang="en" key="backward" of="144ac7ff7fb7" tags=[]
# ## 6.5　The way back: what each score gets (deeper)
#
# Training has to know which scores should go up and which down. Read $dO$ as "the gradient of the loss with respect to $O$", and $dA$ and $dS$ likewise. Backpropagation starts from $dO$ at the output (random numbers below) and takes the steps in reverse. The one that matters most is softmax.

# %% [markdown] lang="zh-Hant" key="one-row-backward" tags=[]
# **練習**　一列 softmax 的反向傳播（8 分鐘，難度 2／3）
#
# softmax 的一列分數全綁在一起：一個分數往上，它自己的權重變大，同一列別的權重就都變小。第 $j$ 個分數動一點，第 $k$ 個權重的導數（derivative）是
#
# $$\frac{\partial p_k}{\partial s_j} = \begin{cases} p_j (1 - p_j) & k = j \\ -p_j\, p_k & k \neq j \end{cases}$$
#
# 寫一個函式，從一列權重 `p` 和損失對這些權重的梯度 `dp`，算出損失對這一列分數的梯度。卡住了，就執行 `al.hint("one_row_backward")`。

# %% [markdown] lang="en" key="one-row-backward" of="855b57e8b0f2" tags=[]
# **Exercise**　The way back through one softmax row (8 minutes, difficulty 2 of 3)
#
# Softmax ties the scores of a row together: when one score goes up, its own weight grows, and all other weights of the row shrink. If score $j$ moves a little, the derivative of weight $k$ is
#
# $$\frac{\partial p_k}{\partial s_j} = \begin{cases} p_j (1 - p_j) & k = j \\ -p_j\, p_k & k \neq j \end{cases}$$
#
# Write a function that takes a row of weights `p` and the gradient `dp` of the loss with respect to them, and works out the gradient of the loss with respect to the scores of the row. Stuck? Run `al.hint("one_row_backward")`.

# %% key="exercise-one-row-backward" tags=[]
def one_row_backward(p, dp):  # (T,), (T,) → (T,)
    ...


al.check.one_row_backward(one_row_backward)

# %% [markdown] lang="zh-Hant" key="backward-formula" tags=[]
# 整張表寫在一起，就是
#
# $$dS_{ij} = A_{ij} \Big( dA_{ij} - \sum_k A_{ik}\, dA_{ik} \Big)$$
#
# $A$ 是權重，$dA = dO\, V^\top$，$S$ 是縮放後的分數。用話來說：**一個分數分到的梯度，是它的權重，乘上它的 $dA$ 比這一列的加權平均高多少**。
#
# **先猜猜看**　因果遮罩下，第 0 列只看得到自己。它唯一的分數分到多少梯度？填一個數。

# %% [markdown] lang="en" key="backward-formula" of="414b735456e5" tags=[]
# For the whole table at once it is
#
# $$dS_{ij} = A_{ij} \Big( dA_{ij} - \sum_k A_{ik}\, dA_{ik} \Big)$$
#
# $A$ are the weights, $dA = dO\, V^\top$, and $S$ are the scaled scores. In words: **the gradient of a score is its weight, times how far its $dA$ lies above the weighted mean of its row**.
#
# **Guess first**　Under the causal mask row 0 sees only itself. What gradient does its only score get? Write a number.

# %% key="backward-guess" tags=[]
guess = None  # 0, 1 …

# %% key="backward-measure" tags=[]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
dO = np.random.default_rng(0).standard_normal((6, 3))  # (6, 3)

A = al.attention_weights(Q, K, mask="causal")  # (6, 6)
dA = dO @ V.T  # (6, 3) @ (3, 6) = (6, 6)
dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))  # (6, 6)
dscores = dS / 4**0.5  # (6, 6)
dQ, dK, dV = dscores @ K, dscores.T @ Q, A.T @ dO  # (6, 4), (6, 4), (6, 3)

package = al.attention_backward(Q, K, V, dO, mask="causal")
al.show(
    guess=guess,
    measured=dS[0, 0],
    rows_sum_to_zero=np.allclose(dS.sum(axis=-1), 0, rtol=0, atol=1e-12),
    agrees=all(np.allclose(mine, theirs) for mine, theirs in zip((dQ, dK, dV), package)),
)

# %% [markdown] lang="zh-Hant" key="backward-claim" tags=[]
# 剛好是 0：這一列只有它，它自己就是平均，不可能比平均高。別的列也都加起來是 0（浮點數的捨入除外）：有分數往上，就有分數往下，因為權重的總和永遠是 1。畫出來看：

# %% [markdown] lang="en" key="backward-claim" of="19ee6b5b57e6" tags=[]
# Exactly 0: it is alone in its row, so it is the mean, and cannot lie above it. All other rows sum to 0 as well, up to floating-point rounding: where one score goes up, another goes down, as the weights always sum to 1. In a picture:

# %% key="backward-look" tags=[]
plotting.plot_scores(
    dscores, mask=al.causal_mask(6), tokens=example.tokens, title=al.label("gradient_of_scores")
);

# %% [markdown] lang="zh-Hant" key="backward-nudge" tags=[]
# 公式對不對，可以用有限差分（finite difference）來查：把 $Q$ 的一個數往上下各推一點點，看損失動了多少。

# %% [markdown] lang="en" key="backward-nudge" of="e53e7a72c674" tags=[]
# Whether the formula is right can be checked by finite differences: push one number of $Q$ up and down a little, and see how far the loss moves.

# %% key="backward-check" tags=[]
def loss(Q):
    return (al.attention(Q, K, V, mask="causal") * dO).sum()


measured = np.zeros((6, 4))  # (6, 4)
for i, n in np.ndindex(6, 4):
    push = np.zeros((6, 4))  # (6, 4)
    push[i, n] = 1e-5
    measured[i, n] = (loss(Q + push) - loss(Q - push)) / 2e-5

al.show(largest_gradient=np.abs(dQ).max(), same_gradient=np.allclose(measured, dQ, rtol=0, atol=1e-8))

# %% [markdown] lang="zh-Hant" key="saturated" tags=[]
# 第 2 課說過，飽和（saturation）的一列，贏家和輸家的梯度一起消失。現在整條路都走過了，就看得到後果：把查詢放大，分數的差距跟著變大，$dO$ 不動。
#
# **先猜猜看**　權重幾乎全在一個鍵上的時候，這一列的 $dQ$ 最後會接近 0、變大，還是不變？先記在紙上。

# %% [markdown] lang="en" key="saturated" of="0e5775df1d72" tags=[]
# Lesson 2 said that in a saturated row the gradients of winner and losers vanish together. Now that we have the whole way back, the consequence can be seen: make the queries larger, so that the scores lie further apart, and leave $dO$ as it is.
#
# **Guess first**　When nearly all weight is on one key, does $dQ$ of this row end up close to 0, grow, or stay as it is? Note your answer on paper.

# %% key="saturated-measure" tags=[]
example = al.running_example()
Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
dO = np.random.default_rng(0).standard_normal((6, 3))  # (6, 3)

factors = [1, 2, 4, 8, 16, 32]
back = [al.attention_backward_steps(factor * Q, K, V, dO, mask="causal") for factor in factors]
al.table(
    stretched=factors,
    largest_weight=[step.weights[5].max() for step in back],
    largest_dscore=[np.abs(step.dscores[5]).max() for step in back],
    largest_dQ=[np.abs(step.dQ[5]).max() for step in back],
    largest_dV=[np.abs(step.dV).max() for step in back],
)

# %% [markdown] lang="zh-Hant" key="saturated-claim" tags=[]
# 起先變化不大；等「看」那一列的權重幾乎都到了一個鍵上，分數的梯度和 $dQ$ 就一路掉到接近 0，$dO$ 幾乎傳不過去：這一列學不到該看誰。$V$ 不一樣，它的梯度 $A^\top dO$ 不必倒著穿過 softmax，所以還在：模型還能學「被看的鍵該交出什麼值」，卻學不了「該看誰」。
#
# **動手玩**　下面的損失想讓每個查詢都多看同一個目標鍵，向量是亂數。左邊是權重，中間是每個縮放後分數的梯度 $dS$，右邊是目標那一格的拉力 $p(1-p)$，$p$ 是目標的權重。訓練朝梯度的反方向走：梯度是負的，分數就往上。
#
# **先猜猜看**　目標那一行（column）的梯度是正的還是負的，別的行呢？取消「除以 √d_k」，拉得動的列變多還是變少？

# %% [markdown] lang="en" key="saturated-claim" of="5e0343d0a75a" tags=[]
# Not much changes at first; but once nearly all weight of the row of "reads" is on one key, the gradients of its scores and $dQ$ fall towards 0. Hardly anything of $dO$ gets through, and this row cannot learn whom to attend to. $V$ is different; its gradient $A^\top dO$ need not go back through softmax, and stays. The model can still learn what value the key it looks at should give, but not where to look.
#
# **Play**　The loss below wants every query to look more at one and the same target key, on random vectors. At the left are the weights, in the middle the gradient $dS$ of each scaled score, at the right the pull at the target's cell, $p(1-p)$, where $p$ is the weight of the target. Training goes against the gradient: where it is negative, the score goes up.
#
# **Guess first**　Is the gradient positive or negative in the column of the target, and in the others? Untick "divide by √d_k": are there more rows that feel a pull, or fewer?

# %% key="gradient-figure" tags=[]
panels.figure(panels.gradient_panel)

# %% key="gradient-panel" tags=[]
panels.gradient_panel()

# %% [markdown] lang="zh-Hant" key="gradient-answer" tags=[]
# 目標那一行是負的，所以分數往上；同一列的別的鍵是正的，往下，權重越大讓得越多。看不到目標的列什麼也分不到，第 0 列永遠是 0。不縮放，權重就集中到少數幾格，$p$ 不是靠近 0 就是靠近 1，$p(1-p)$ 都靠近 0，拉得動的列就少了。
#
# 最後數一下：前向傳播（forward pass）有兩個矩陣乘法，回頭走呢？
#
# **先猜猜看**　`al.attention_backward` 乘的次數，是前向的幾倍？它得先把前向重走一遍。

# %% [markdown] lang="en" key="gradient-answer" of="f683f42f30e8" tags=[]
# It is negative in the column of the target, whose scores go up, and positive for the other keys of a row, which go down; the larger their weight, the more they give. Rows that do not see the target get nothing, and row 0 always gets 0. Without scaling the weights gather in a few cells; $p$ is close to 0 or close to 1, so $p(1-p)$ is close to 0, and fewer rows feel a pull.
#
# A last count: the forward pass has two matrix products. And the way back?
#
# **Guess first**　How many times as many multiplications as the forward pass does `al.attention_backward` take? It has to repeat the forward pass first.

# %% key="backward-cost-guess" tags=[]
guess = None  # ×

# %% key="backward-cost" tags=[]
there = costs.textbook_cost(1024, 64)
back = costs.textbook_backward_cost(1024, 64)
al.show(
    guess=guess,
    measured=back.multiplications / there.multiplications,
    forward_megabytes=there.working_bytes / 1e6,
    backward_megabytes=back.working_bytes / 1e6,
)

# %% [markdown] lang="zh-Hant" key="backward-cost-claim" tags=[]
# 重走一遍是兩個矩陣乘法，回頭再四個：$dO\, V^\top$、$dS\, K$、$dS^\top Q$、$A^\top dO$。要的表也更多，所以訓練比生成更需要分塊：FlashAttention 回頭走的時候，也是一塊一塊把權重重新算出來，不存整張表。

# %% [markdown] lang="en" key="backward-cost-claim" of="73b28de86a8c" tags=[]
# Repeating the forward pass takes two matrix products, the way back four more: $dO\, V^\top$, $dS\, K$, $dS^\top Q$ and $A^\top dO$. It needs more tables, too, so training needs tiles even more than generation does: on the way back FlashAttention also makes the weights anew, tile by tile, and never stores the whole table.

# %% [markdown] lang="zh-Hant" key="gpu" tags=["core"]
# ## 6.6　搬到 GPU 上
#
# CPU 有幾個很快的核心，GPU 有成千上萬條比較慢的執行緒（thread），一起做同一件事。CUDA 的核心函式就是其中**一條執行緒**要做的事：它先問自己是第幾條，再算自己的那一份。
#
# 套件裡的 `attention.cu` 像一道梯子，有四階（rung）：第 1 階照著式子寫，第 2 階讓執行緒合作，第 3 階用上線上 softmax，第 4 階是梯度。先看第 1 階：一條執行緒算一個分數，一個點積再乘上 $1/\sqrt{d_k}$，和 ANDREA 的訓練引擎算的一樣。
#
# **先猜猜看**　ANDREA-120M 的一層，12 個頭、$T = 1024$，一共要幾條執行緒？

# %% [markdown] lang="en" key="gpu" of="9a4f695f06a3" tags=["core"]
# ## 6.6　On to the GPU
#
# A CPU has a few fast cores; a GPU has many thousands of slower threads, which all do the same thing at once. A CUDA kernel is what **one thread** does: first it asks which one it is, then it computes its own share.
#
# The package's `attention.cu` is a ladder of four rungs: rung 1 follows the formula, on rung 2 threads work together, rung 3 has online softmax, rung 4 the gradients. On rung 1 a thread makes one score, a dot product times $1/\sqrt{d_k}$, which is what ANDREA's training engine computes.
#
# **Guess first**　One layer of ANDREA-120M, 12 heads and $T = 1024$: how many threads does that take?

# %% key="gpu-guess" tags=["core"]
guess = None  # 1, 2, 3 …

# %% [markdown] lang="zh-Hant" key="gpu-source" tags=["core"]
# 下一格的程式是 Python，函式 `thread` 就是一條執行緒做的事；印出來的是 `attention.cu` 裡的第 1 階，直接從檔案讀來的。一句一句對照看看。

# %% [markdown] lang="en" key="gpu-source" of="11d1bb8ea75e" tags=["core"]
# The code of the next cell is Python, and its function `thread` is what one thread does; what it prints is rung 1 of `attention.cu`, read straight from the file. Compare line by line.

# %% key="gpu-rung-1" tags=["core"]
model = al.ANDREA_120M
Q, K, V = experiments.random_qkv(6, 64)  # (6, 64)


def sees(i, j):
    return j <= i


def thread(i, j, d_k=64, scale=1 / 64**0.5):
    dot = 0.0
    for c in range(d_k):
        dot += Q[i, c] * K[j, c]
    return dot * scale if sees(i, j) else -np.inf


scores = np.array([[thread(i, j) for j in range(6)] for i in range(6)])  # (6, 6)
al.show(
    guess=guess,
    measured=model.n_head * model.T * model.T,
    agrees=np.allclose(scores, al.attention_steps(Q, K, V, mask="causal").masked_scores),
)

cuda = resource_path("kernels", "attention.cu").read_text(encoding="utf-8")
rung_1 = cuda.partition("rung1_scores(")[2].partition("\n}")[0]
print("\n" + rung_1.partition("{\n")[2])

# %% [markdown] lang="zh-Hant" key="gpu-rung-1-claim" tags=["core"]
# `i` 和 `j` 的兩層迴圈不見了：每一格都有自己的執行緒，`blockIdx` 和 `threadIdx` 告訴它該算哪一格。`q` 指著 $Q$ 第 `i` 列的開頭，所以 `q[c]` 就是 `Q[i, c]`；`test ? a : b` 就是 Python 的 `a if test else b`。執行緒一批一批地開，最後一批可能超出表外，外面那個 `if` 讓多出來的不做事。剩下的只有 `d_k` 那一層，還有一次乘法 `dot * scale`，也就是除以 $\sqrt{d_k}$。
#
# 這樣寫對是對，卻很浪費：每條執行緒都自己去拿 $q$ 和 $k$，同一列 $Q$ 讓 $T$ 條執行緒各拿一遍，一共 $T$ 遍。
#
# **先猜猜看**　這一層的分數，從記憶體一共要拿幾 GB？$Q$ 和 $K$ 加起來其實只有 6 MB 多。（GPU 也有快取，會擋下一部分；這裡數的是執行緒開口要的。）

# %% [markdown] lang="en" key="gpu-rung-1-claim" of="0c6c52eaa86e" tags=["core"]
# The two loops over `i` and `j` are gone: each cell has a thread of its own, and `blockIdx` and `threadIdx` tell it which. `q` points to where row `i` of $Q$ begins, so that `q[c]` is `Q[i, c]`; `test ? a : b` is Python's `a if test else b`. Threads come in batches, the last of which may reach beyond the table; the outer `if` keeps the surplus idle. What remains is the loop over `d_k`, and one multiplication, `dot * scale`, which is the division by $\sqrt{d_k}$.
#
# This is right, but wasteful: every thread fetches its own $q$ and $k$, and so one row of $Q$ is fetched by $T$ threads once each, $T$ times in all.
#
# **Guess first**　How many GB are fetched from memory for the scores of this layer? $Q$ and $K$ together are only a little over 6 MB. (A GPU has caches as well, which catch some of it; counted here is what the threads ask for.)

# %% key="traffic-guess" tags=["core"]
guess = None  # GB

# %% key="traffic-count" tags=["core"]
model = al.ANDREA_120M
threads = model.n_head * model.T**2
vectors = model.n_head * model.T * model.d_k * 4
rung_1 = threads * 2 * model.d_k * 4
rung_2 = rung_1 // 16
query_tiles = model.T // 64
rung_3 = vectors + 2 * vectors * (query_tiles + 1) // 2

al.show(guess=guess, measured=rung_1 / 1e9)
al.table(rung=[1, 2, 3], gigabytes=[size / 1e9 for size in (rung_1, rung_2, rung_3)])

# %% [markdown] lang="zh-Hant" key="traffic-claim" tags=["core"]
# 第 2 階讓 $16 \times 16$ 條執行緒組成一個執行緒區塊（thread block），一起把一塊 $Q$ 和一塊 $K$ 搬進共享記憶體（shared memory），每個數用 16 次，要拿的就只剩十六分之一。第 3 階就是 6.3 的線上 softmax：一個執行緒區塊拿 64 個查詢，一塊一塊走過看得到的鍵和值，連 $V$ 也算在裡面了，還是拿得最少，而且 $T \times T$ 的表從頭到尾沒有寫進記憶體。
#
# 把 `tiled.py` 和 `attention.cu` 的同一步擺在一起，兩邊都直接從檔案讀來：

# %% [markdown] lang="en" key="traffic-claim" of="63fcbf05755f" tags=["core"]
# On rung 2 a thread block of $16 \times 16$ threads brings a tile of $Q$ and a tile of $K$ into shared memory, where each number is used 16 times: a sixteenth of the traffic. Rung 3 is the online softmax of 6.3: a block takes 64 queries and walks over the keys and values that they can see, tile by tile. Its count even includes $V$, and is still the smallest; and the $T \times T$ table never reaches memory at all.
#
# Here are the same steps in `tiled.py` and `attention.cu`, both read straight from the files:

# %% key="gpu-rung-3" tags=["core"]
numpy_lines = resource_path("tiled.py").read_text(encoding="utf-8").split("\n")
cuda_lines = resource_path("kernels", "attention.cu").read_text(encoding="utf-8").split("\n")


def line_with(part, lines):
    return next(line.strip() for line in lines if part in line)


pairs = [
    ("(Q @ xp.matrix_transpose(K))", "dot_products(scores, Q_tile"),
    ("scores = xp.where(allowed", "? scores[r][k] * scale"),
    ("running_max = xp.maximum(", "= fmaxf(running_max[r]"),
    ("rescale = xp.exp(", "shrink = expf("),
    ("running_sum * rescale", "running_sum[r] *= shrink"),
    ("weights = xp.exp(scores", "expf(scores[r][k] - shift)"),
    ("running_sum = earlier_sum", "running_sum[r] += weight"),
    ("output = output *", "add_weighted_rows(sums, weights, KV_tile"),
]
for in_numpy, in_cuda in pairs:
    al.show(NumPy=line_with(in_numpy, numpy_lines), CUDA=line_with(in_cuda, cuda_lines))
    print()

# %% [markdown] lang="zh-Hant" key="gpu-run" tags=["core"]
# 一步對一步，名字也差不多：`running_max`、`running_sum`；`shift` 就是新的最大值（還沒看到鍵的列用 0），`rescale` 和 `shrink` 都是 6.3 的 $e^{m_{\text{old}} - m_{\text{new}}}$。CUDA 的一條執行緒管好幾列、好幾個鍵，所以多了 `[r]` 和 `[k]`。只有兩處先後不同：CUDA 到套遮罩的時候才縮放；NumPy 每一步都除以目前的總和，好讓你看到中途的輸出，CUDA 留到最後才除一次。
#
# 有 NVIDIA 的 GPU 和 CuPy，下一格就會在上面跑，和 NumPy 比對答案，再量時間；沒有，它會說缺什麼。GPU 一接下工作，程式就往下走了，其實還沒算完，所以 `timing.measure` 會等它做完才停錶。
#
# **先猜猜看**　照上面要拿的 GB，三階的快慢會怎麼排，各差幾倍？先記在紙上。

# %% [markdown] lang="en" key="gpu-run" of="20be4980912e" tags=["core"]
# Step for step, nearly down to the names: `running_max`, `running_sum`; `shift` is the new maximum (0 for a row that has seen no key yet), and both `rescale` and `shrink` are the $e^{m_{\text{old}} - m_{\text{new}}}$ of 6.3. In CUDA one thread looks after several rows and several keys, hence `[r]` and `[k]`. Only two things come at another time: CUDA scales when it masks; and NumPy divides by the sum so far at each step, so that you see the output on the way, while CUDA divides once, at the end.
#
# With an NVIDIA GPU and CuPy the next cell runs there, compares the result with NumPy and measures the time; without, it says what is missing. A program goes on as soon as the GPU has taken its work, well before that is done; so `timing.measure` waits until it is before it stops the clock.
#
# **Guess first**　Going by the GB above, in which order of speed do the three rungs come, and by what factors? Note your answer on paper.

# %% key="gpu-try" tags=["core", "volatile"]
def try_rungs():
    import cupy

    model = al.ANDREA_120M
    rng = np.random.default_rng(0)
    shape = (3, model.n_head, model.T, model.d_k)
    Q, K, V = rng.standard_normal(shape, dtype="float32")  # (12, 1024, 64)
    on_gpu = [cupy.asarray(each) for each in (Q, K, V)]
    expected = al.tiled_attention(Q, K, V, mask="causal")  # (12, 1024, 64)

    same, milliseconds = [], []
    for rung in (1, 2, 3):
        output = kernels.cuda_attention(*on_gpu, mask="causal", rung=rung)  # (12, 1024, 64)
        same.append(np.allclose(cupy.asnumpy(output), expected, rtol=0, atol=1e-4))
        run = timing.measure(kernels.cuda_attention, *on_gpu, mask="causal", rung=rung, repeats=10)
        milliseconds.append(1e3 * run.median)
    return al.table(rung=[1, 2, 3], same_as_numpy=same, milliseconds=milliseconds)


found, result = gpu.try_gpu(), None
if found.works:
    try:
        result = gpu.run_and_free(try_rungs)
        al.show(gpu_name=found.name)
    except MemoryError as full:
        al.show(gpu_name=found.name, gpu_reason=gpu.one_line(full))
else:
    missing = al.label("no_card" if found.installed else "no_cupy")
    al.show(gpu_name=al.label("no_gpu"), gpu_reason=found.reason or missing)
result

# %% [markdown] lang="zh-Hant" key="gpu-recorded" tags=["core"]
# 上一格有量到時間的話，和你的猜測比一比。要是時間差得沒有 GB 那麼多，多半是 GPU 的快取擋下了一部分。
#
# 在 GPU 上量過的結果收在 `data/gpu_timings.json`，下一格讀它，列出 ANDREA-120M 一層的時間。時間是量的；旁邊的「最少」是照那張卡自己報的規格推算的（卡沒有報的，就用量的）；PyTorch 可能動用專做矩陣乘法的 tensor core，不知道它乘得多快，所以它的「最少」只算搬運，倍數看起來會大一些。檔案還不在，就表示還沒有量過任何一張卡；沒有量過的時間，這裡一個也不寫。

# %% [markdown] lang="en" key="gpu-recorded" of="8e17ae8d2d98" tags=["core"]
# If the last cell has measured times, compare them with your guess: where they lie less far apart than the GB, it is mostly because the GPU's caches caught some of it.
#
# What has been measured on a GPU is kept in `data/gpu_timings.json`, which the next cell reads for the times of one layer of ANDREA-120M. The times are measured; "least" beside them is derived from what the card says of itself (and measured where it says nothing). PyTorch may use tensor cores, which do nothing but matrix products, at a speed that we do not know; so its "least" counts only what is moved, and its factor looks larger. If the file is not there, no card has been measured yet; no time is shown here that was not measured.

# %% key="gpu-timings" tags=["core"]
import json

result = None
try:
    timings = resource_path("data", "gpu_timings.json").read_text(encoding="utf-8")
except FileNotFoundError:
    al.show(recorded=al.label("no_card_measured"))
else:
    timings = json.loads(timings)
    runs = [r for r in timings["results"] if (r["T"], r["precision"]) == (1024, "float32")]
    al.show(gpu_name=timings["device"], recorded=timings["date"])
    result = al.table(
        way=[al.label("gpu_" + r["way"]) for r in runs],
        milliseconds=[r["milliseconds"] for r in runs],
        least_milliseconds=[r["least_milliseconds"] for r in runs],
        times_as_much=[r["milliseconds"] / r["least_milliseconds"] for r in runs],
    )
result

# %% [markdown] lang="zh-Hant" key="recap" tags=["core"]
# ## 6.7　帶得走的四句話
#
# - 先數再量：FLOP 和位元組告訴你最快能有多快，量到的時間告訴你還差多少、差在哪裡。
# - 課本寫法慢，不是乘法太多，是 $T \times T$ 的表搬來搬去；分塊加上線上 softmax，答案一樣，不存那張表。
# - 生成靠 KV 快取，每一步只算一列，代價是跟著 $T$ 長的記憶體（6.4）。
# - 每個分數分到的梯度，是它的權重乘上「它的 $dA$ 比這一列的加權平均高多少」；飽和的一列幾乎什麼也分不到（6.5）。
#
# CPU、GPU、迴圈、分塊，算的從頭到尾是同一個式子。把它學透了，換成哪一種機器都認得出來。

# %% [markdown] lang="en" key="recap" of="48623396c019" tags=["core"]
# ## 6.7　Four sentences to take along
#
# - Count first, then measure: FLOPs and bytes say how fast it could be, the measured time says how far off you are, and where.
# - The textbook way is slow not for too many multiplications, but for $T \times T$ tables that travel to and fro; tiles and online softmax give the same answer without storing them.
# - Generation lives on the KV cache: one row a step, at the price of memory that grows with $T$ (6.4).
# - The gradient of a score is its weight times "how far its $dA$ lies above the weighted mean of its row"; a saturated row gets next to nothing (6.5).
#
# CPU or GPU, loop or tile, it is the same expression from beginning to end. Learn it well, and you will recognize it on any machine.

# %% [markdown] lang="zh-Hant" key="quiz" tags=[]
# **小測驗**　三題，選好按「回答」。答錯會告訴你哪裡不對，可以再選；答對的會記下來，用 `al.progress()` 看得到。

# %% [markdown] lang="en" key="quiz" of="4c38248c7618" tags=[]
# **Quiz**　Three questions: choose, then press "Answer". A wrong choice is explained, and you may choose again; right answers are kept, and `al.progress()` shows them.

# %% key="quiz-questions" tags=[]
al.quiz("06")
