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
# # 0　從這裡開始
#
# 很多人學語言模型，到了注意力（attention）就卡住。這門課讓你親手把它算過一遍、量過一遍，從此不再卡住。
#
# **學完以後你會**
#
# - 用紙筆從三個詞元（token）的向量算到注意力的輸出，再用程式算出 ANDREA-120M 的真實尺寸。
# - 說清楚查詢、鍵、值（query, key, value）、$\sqrt{d_k}$、因果遮罩（causal mask）和 softmax 各解決什麼問題，句句有量到的數字。
# - 看出常見的說法錯在哪裡。
#
# **事先要會的**　一點 Python 和 NumPy，矩陣乘法。這是「養大一個語言模型」系列的活動 5，接在活動 4 嵌入（embedding）之後。
#
# **時間**　只走主線約 3 分鐘，全部約 5 分鐘。
#
# 先執行下一格；重新啟動核心以後，也要先執行它。

# %% [markdown] lang="en" key="title" of="f1427c8062aa" tags=["core"]
# # 0　Start here
#
# Many learners of language models get stuck at attention. Here you compute and measure every part of it, until you are stuck no more.
#
# **What you will be able to do**
#
# - Go from the vectors of three tokens to the output of attention with pencil and paper, then compute it at the true size of ANDREA-120M.
# - Say what problem query, key and value, $\sqrt{d_k}$, the causal mask and softmax each solve, always with a measured number.
# - Spot what is wrong with common claims about attention.
#
# **What you bring along**　Some Python and NumPy; multiplying matrices. This is activity 5 of a series on growing a language model and follows activity 4, the embedding.
#
# **Time**　About 3 minutes for the main path, about 5 for everything.
#
# Run the next cell first, and again after restarting the kernel.

# %% key="setup" tags=["core"]
LANGUAGE = "zh-Hant"

try:
    import numpy as np

    import andrea_lesson as al
    from andrea_lesson import installation, panels
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"找不到 {missing.name}。請執行 %pip install -e \"<含有 pyproject.toml 的資料夾>[lab]\"，再重新啟動核心。\n"
        f"{missing.name} is not installed. Run %pip install -e \"<the folder with pyproject.toml>[lab]\", "
        "then restart the kernel."
    ) from None

al.set_language(LANGUAGE)
np.set_printoptions(precision=2, suppress=True)

# %% [markdown] lang="zh-Hant" key="check" tags=["core"]
# ## 0.1　先檢查你的環境
#
# 執行下一格（按 Shift + Enter）。有什麼、缺什麼、怎麼補，一項一項列出來。少了 GPU 沒有關係。

# %% [markdown] lang="en" key="check" of="1ce3481febef" tags=["core"]
# ## 0.1　Check your installation
#
# Run the next cell (press Shift + Enter). It lists what is there, what is missing and how to get it. You do not need a GPU.

# %% key="check-run" tags=["core", "volatile"]
installation.report()

# %% [markdown] lang="zh-Hant" key="path" tags=["core"]
# ## 0.2　兩條路線
#
# | 筆記本 | 主線 | 全部 |
# |---|---|---|
# | 0　從這裡開始 | 3 分 | 5 分 |
# | [1　查詢、鍵、值](01_query_key_value.ipynb) | 9 分 | 30 分 |
# | [2　分數與縮放](02_scores_and_scaling.ipynb) | 12 分 | 55 分 |
# | [3　因果遮罩](03_causal_mask.ipynb) | 11 分 | 65 分 |
# | [4　softmax 與輸出](04_softmax_and_output.ipynb) | 10 分 | 105 分 |
# | [5　學會查找](05_learning_to_look_up.ipynb) | 另外算 | 55 分 |
# | [6　速度與記憶體](06_speed_and_memory.ipynb) | 另外算 | 70 分 |
#
# **主線，45 分鐘**　只走第 0 到 4 課帶有 `core` 標籤的儲存格，剛好一節課。按 JupyterLab 右側的齒輪（屬性檢查器），就看得到標籤。
#
# **全部，六個多小時**　沒有標籤的儲存格、練習和附錄走得更深，光是練習就占了兩個多小時。主線不靠它們也能跑，可以分好幾天慢慢來。
#
# 每一節都先問一個問題，請你**先寫下答案**再動手量。數字直接填，文字加引號，答案不只一個就放進方括號，像 `[1, 2]`；想不出來，留著 `None` 也行。猜錯不要緊，猜過才記得住。

# %% [markdown] lang="en" key="path" of="d47be58ee57c" tags=["core"]
# ## 0.2　Two paths
#
# | notebook | main path | everything |
# |---|---|---|
# | 0　Start here | 3 min | 5 min |
# | [1　Query, key, value](01_query_key_value.ipynb) | 9 min | 30 min |
# | [2　Scores and scaling](02_scores_and_scaling.ipynb) | 12 min | 55 min |
# | [3　The causal mask](03_causal_mask.ipynb) | 11 min | 65 min |
# | [4　Softmax and output](04_softmax_and_output.ipynb) | 10 min | 105 min |
# | [5　Learning to look up](05_learning_to_look_up.ipynb) | extra | 55 min |
# | [6　Speed and memory](06_speed_and_memory.ipynb) | extra | 70 min |
#
# **The main path, 45 minutes**　Only the cells tagged `core` in notebooks 0 to 4: one lesson in class. The gear at the right of JupyterLab (the property inspector) shows the tags.
#
# **Everything, over six hours**　Untagged cells, exercises and appendices go deeper; the exercises alone take more than two hours. The main path runs without any of them; spread them over several days.
#
# Every section asks first; **write down your answer** before you measure. Numbers go in as they are, words in quotes, several answers in square brackets, such as `[1, 2]`; leaving `None` is fine. A guess, even a wrong one, is remembered.

# %% [markdown] lang="zh-Hant" key="panel" tags=["core"]
# ## 0.3　認識面板
#
# **面板**是一組控制項，加上跟著動的圖。下面先用一張圖，看它一開始的樣子：注意力的五個步驟並排，向量是亂數。再下面就是會動的面板。現在看不懂沒關係，先拖一拖滑桿，點一點格子；面板最下面的一句話會用文字說出這張圖（「有效鍵數」到第 2 課才解釋）。

# %% [markdown] lang="en" key="panel" of="e1af660138f7" tags=["core"]
# ## 0.3　Meet a panel
#
# A **panel** is a set of controls and a picture that follows them. First comes how one starts: the five steps of attention side by side, on random vectors. The live panel is below it. Never mind what it means yet; just drag a slider and click a cell. The last sentence says the picture in words (notebook 2 explains "effective keys").

# %% key="panel-figure" tags=["core"]
panels.figure(panels.attention_panel)

# %% key="panel-live" tags=["core"]
panels.attention_panel()

# %% [markdown] lang="zh-Hant" key="panel-more" tags=[]
# **深入**　面板怎麼操作：
#
# - **滑鼠或手指**　拖滑桿，或直接按滑桿右邊的數字輸入。把指標移到圖裡的一格，圖下面就寫出它是誰找誰、分數多少、權重多少。點一下（或碰一下），就選了那一格：它的列（row）和行（column）會框起來，滑桿和公式也跟著換。
# - **鍵盤**　按 Tab 移到滑桿上，用方向鍵一格一格移，Page Up 和 Page Down 移得快一點，Home 和 End 到兩端。再按 Tab 就到下一個控制項，Shift + Tab 退回去。到了矩陣上，方向鍵移動選取的格子，Enter 選取。不管在滑桿還是矩陣上，按 Escape 就回到筆記本。
# - **「▶ 播放」**　一步一步走下去；再按一次，也就是「❚❚ 暫停」，就停下來。
# - **「看表格」**　把同樣的矩陣列成數字表格；旁邊的「存成 PNG」和「存成 SVG」把圖存成檔案。
# - **最下面的一句話**是螢幕報讀軟體會讀的內容。設定不合理的時候，控制項下面會有一行字，告訴你哪裡不對。
# - **顏色**　超過 $T = 32$，每個權重都很小，權重圖就換成相對的色階：顏色代表權重乘上看得到的鍵數，1 就是均勻。這一項可以用「權重的上色」改回來。
# - **投影給全班看**　`panels.attention_panel(large=True)` 的字和圖都比較大；先按 Ctrl+B 收起左邊的檔案列，整個面板就放得進一個畫面。
# - **這裡看不到圖？**　有些環境無法載入這種圖，改用 `view="matplotlib"` 就好：`panels.attention_panel(view="matplotlib")`。
#
# 重新啟動核心以後，控制項旁邊會冒出紅色的斷鏈圖示，圖也不再跟著動：先執行最上面的程式碼儲存格，再執行面板那一格就好。圖上寫著「靜態圖：執行這個儲存格，就能拉動滑桿」，就表示核心還沒執行過那一格。也可以從上方選單執行「Run → Run All Cells」，一次全部執行。

# %% [markdown] lang="en" key="panel-more" of="1746ca54c865" tags=[]
# **Deeper**　How to work a panel:
#
# - **Mouse or finger**　Drag a slider, or click the number to its right and type. Point at a cell of the picture, and the line below says who looks at whom, the score and the weight. A click (or a tap) chooses the cell: its row and column are framed, and sliders and formulas follow.
# - **Keyboard**　Tab to a slider; the arrow keys move it step by step, Page Up and Page Down faster, Home and End to its ends. Tab again reaches the next control, Shift + Tab goes back. In a matrix the arrow keys move the chosen cell, and Enter chooses. From a slider or a matrix alike, Escape gives the keyboard back to the notebook.
# - **"▶ Play"**　takes step after step; press it again, now "❚❚ Pause", and it stops.
# - **"Show tables"**　lists the same matrices as tables of numbers; "Save as PNG" and "Save as SVG" beside it make a file of the picture.
# - **The last sentence** is what a screen reader reads. When a setting makes no sense, a line under the controls says what is wrong.
# - **Colours**　Beyond $T = 32$ every weight is small, so the picture of the weights switches to a relative scale: the weight times the number of keys in sight, where 1 is uniform. "colour weights" switches it back.
# - **On a projector**　`panels.attention_panel(large=True)` has larger type and pictures; press Ctrl+B first to fold the file list, and the whole panel fits on one screen.
# - **No picture here?**　Some front ends cannot load this kind; `view="matplotlib"` will do: `panels.attention_panel(view="matplotlib")`.
#
# After a kernel restart small red broken-link icons appear beside the controls, and the picture no longer follows: run the first code cell, then the cell of the panel. A picture that says "Still picture: run this cell to move the sliders" means that the kernel has not run its cell yet. "Run → Run All Cells" in the menu runs everything at once.

# %% [markdown] lang="zh-Hant" key="practice" tags=["core"]
# ## 0.4　練習、提示和進度
#
# 除了把答案寫進儲存格，課裡還有三種東西等你動手：
#
# - **用畫的猜測**　在圖上拖曳或用方向鍵，畫出你預期的曲線，按「就這麼猜」，量到的結果才會疊上去。
# - **練習**　標題寫著大約幾分鐘、難度幾級。寫好就執行那一格：檢查會用一句話告訴你對了，還是錯在哪裡；還沒寫，它就等你。要你寫函式的題目，請自己寫，不要呼叫套件裡現成的。卡住了，就執行 `al.hint("softmax_temperature")`，括號裡換成那個練習的名字，每執行一次就多說一點。自己試過以後，`al.solution("softmax_temperature")` 會給你一種寫法。
# - **小測驗**　每一課最後有幾個問題，答了就知道對不對、為什麼。
#
# 做到哪裡，會自動記在這台電腦上，不記名字，下次打開還在。下一格列出你的進度。

# %% [markdown] lang="en" key="practice" of="83567ff8232f" tags=["core"]
# ## 0.4　Exercises, hints and progress
#
# Besides answers that you write into cells, three kinds of things wait for your hand:
#
# - **Guesses to draw**　Drag across the plot, or use the arrow keys, to draw the curve that you expect; press "Commit my guess", and only then is what was measured laid over it.
# - **Exercises**　The title says roughly how many minutes, and how difficult. Write your answer and run the cell: the check says in one sentence that it is right, or what is wrong; while nothing is written, it waits. Where a function is asked for, write it yourself instead of calling one of the package. Stuck? `al.hint("softmax_temperature")`, with the name of that exercise in the brackets, says a little more each time you run it. Once you have tried, `al.solution("softmax_temperature")` shows one way to write it.
# - **Quizzes**　A few questions at the end of each lesson; answer, and you learn whether it is right, and why.
#
# How far you are is kept on this computer, without any name, and is still there next time. The next cell lists your progress.

# %% key="progress" tags=["core", "volatile"]
al.progress()

# %% [markdown] lang="zh-Hant" key="hand-in" tags=["core"]
# 要交作業，就把下一格的 `False` 改成 `True` 再執行。`al.report()` 會在目前的資料夾寫出一頁報告：做過的練習、猜測和小測驗，還有一欄可以填姓名。用瀏覽器就能打開、列印。

# %% [markdown] lang="en" key="hand-in" of="1d404456d2b0" tags=["core"]
# To hand in your work, change `False` to `True` in the next cell and run it. `al.report()` then writes a page into the current folder: the exercises, guesses and quizzes you have done, and a line for your name. Any browser opens and prints it.

# %% key="hand-in-report" tags=["core"]
write_report = False  # True

if write_report:
    print(al.report())

# %% [markdown] lang="zh-Hant" key="words" tags=["core"]
# ## 0.5　這門課的約定
#
# - 列（row）是橫的，行（column）是直的。在分數、遮罩和權重裡，**一列是一個查詢，一行是一個鍵**。
# - softmax 之前叫**分數**，softmax 之後叫**權重**。
# - 遮罩裡的 **True 是「可以看」**。
# - 結果的數字都是程式當場算的；用了亂數或人工設定的數字，都會說。
#
# 準備好了，就打開[下一本](01_query_key_value.ipynb)。

# %% [markdown] lang="en" key="words" of="58edc99f11b2" tags=["core"]
# ## 0.5　Conventions of this course
#
# - Rows run across, columns run down. In scores, masks and weights **a row is a query, a column is a key**.
# - Before softmax we say **scores**, after softmax **weights**.
# - In a mask, **True means "may attend"**.
# - All results are computed on the spot; random or hand-set numbers are announced.
#
# Ready? Open [the next notebook](01_query_key_value.ipynb).
