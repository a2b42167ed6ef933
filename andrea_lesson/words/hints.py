"""What each exercise is called, what it asks, and its hints, from a nudge to nearly the answer."""

HINT_WORDS: dict[str, tuple[str, str]] = {
    # -- 01 --------------------------------------------------------------------------------------
    "title_d_k_of_andrea": ("ANDREA 三個模型的 d_k", "d_k of the three ANDREA models"),
    "ask_d_k_of_andrea": (
        "ANDREA-12M（384 維、12 個頭）、ANDREA-120M（768 維、12 個頭）、ANDREA-480M（1536 維、"
        "24 個頭）的 d_k 各是多少？",
        "What is d_k for ANDREA-12M (384 wide, 12 heads), ANDREA-120M (768 wide, 12 heads) and "
        "ANDREA-480M (1536 wide, 24 heads)?",
    ),
    "hint_d_k_of_andrea_1": (
        "所有的頭合起來才是 d_model 維。",
        "It takes all heads together to make d_model.",
    ),
    "hint_d_k_of_andrea_2": (
        "每個頭分到一樣多：d_k = d_model ÷ 頭數。",
        "Each head gets the same share: d_k = d_model / n_head.",
    ),
    "hint_d_k_of_andrea_3": (
        "480M 的寬度是 120M 的兩倍，頭數也是兩倍；那 d_k 呢？",
        "480M is twice as wide as 120M and has twice as many heads; so what of d_k?",
    ),
    "title_my_d_k": ("你自己的模型：d_k", "A model of your own: d_k"),
    "ask_my_d_k": (
        "你的模型有 {d_model} 維、{n_head} 個頭，d_k 是多少？",
        "Your model is {d_model} wide and has {n_head} heads: what is d_k?",
    ),
    "hint_my_d_k_1": (
        "和 ANDREA 的算法一樣，只是數字不同。",
        "It goes as for ANDREA, with other figures.",
    ),
    "hint_my_d_k_2": (
        "所有的頭平分 d_model。",
        "The heads share d_model equally.",
    ),
    "hint_my_d_k_3": (
        "答案乘上頭數要剛好等於 d_model。",
        "Your answer times the number of heads must give d_model exactly.",
    ),
    "title_my_fused_column": (
        "合併的矩陣裡，一個頭的鍵從哪一行開始",
        "Where the keys of a head begin in the fused matrix",
    ),
    "ask_my_fused_column": (
        "合併的矩陣 [W_Q W_K W_V] 由三個 {d_model} × {d_model} 的矩陣並排而成，有 {n_head} 個頭。"
        "頭 {head} 的鍵從第幾行開始？（頭和行都從 0 數起）",
        "The fused matrix [W_Q W_K W_V] is three matrices of {d_model} × {d_model} side by side, "
        "for {n_head} heads. At which column do the keys of head {head} begin? (Heads and columns "
        "are counted from 0.)",
    ),
    "hint_my_fused_column_1": (
        "先看鍵在哪一個矩陣裡，再看它前面排了什麼。",
        "In which of the three matrices are the keys, and what stands before it?",
    ),
    "hint_my_fused_column_2": (
        "W_K 裡面，排在前面的每個頭各占 d_k 行。",
        "Inside W_K, each head before this one takes d_k columns.",
    ),
    "hint_my_fused_column_3": (
        "要跳過的行數是兩部分的和：一整個 W_Q，再加上 W_K 裡排在前面的頭。",
        "What has to be skipped is a sum: all of W_Q, and the heads that come first in W_K.",
    ),
    # -- 02 --------------------------------------------------------------------------------------
    "title_scaling_at_4096": ("d_model = 4096 時的縮放", "Scaling at d_model = 4096"),
    "ask_scaling_at_4096": (
        "d_model = 4096，分成 1、16、32、64 個頭，分數各該除以多少？",
        "d_model = 4096 in 1, 16, 32 and 64 heads: what are the scores divided by in each?",
    ),
    "hint_scaling_at_4096_1": (
        "一個分數是幾個乘積加起來的？",
        "How many products does one score add up?",
    ),
    "hint_scaling_at_4096_2": (
        "先算每個頭的 d_k，再想除數。",
        "First find the d_k of each head, then the divisor.",
    ),
    "hint_scaling_at_4096_3": (
        "除數是 √d_k，d_k = 4096 ÷ 頭數；1 個頭時是 √4096。",
        "The divisor is √d_k with d_k = 4096 / n_head; for one head that is √4096.",
    ),
    "title_my_divisor": ("又一個你自己的模型：除數", "Another model of your own: the divisor"),
    "ask_my_divisor": (
        "你的模型有 {d_model} 維、{n_head} 個頭，分數要除以多少？",
        "Your model is {d_model} wide and has {n_head} heads: by what are its scores divided?",
    ),
    "hint_my_divisor_1": (
        "除數由一個頭的寬度決定。",
        "The width of one head decides.",
    ),
    "hint_my_divisor_2": (
        "分數的標準差隨 √d_k 變大，除掉它就回到 1。",
        "The spread of the scores grows like √d_k; dividing by that brings it back to 1.",
    ),
    "hint_my_divisor_3": (
        "先除、再開根號，順序不能反。",
        "Divide first, then take the root, not the other way round.",
    ),
    "title_scaled_scores": ("一次算完整個批次的分數", "Scores of a whole batch at once"),
    "ask_scaled_scores": (
        "寫 scaled_scores(Q, K)：Q 是 (…, T_q, d_k)，K 是 (…, T_k, d_k)，前面有幾個軸都可以；"
        "回傳縮放後的分數 (…, T_q, T_k)。",
        "Write scaled_scores(Q, K): Q is (…, T_q, d_k), K is (…, T_k, d_k), with any number of "
        "axes in front; return the scaled scores, (…, T_q, T_k).",
    ),
    "hint_scaled_scores_1": (
        "K.T 會顛倒所有的軸；三個軸以上就不對了。",
        "K.T turns all axes round, which is wrong for three or more.",
    ),
    "hint_scaled_scores_2": (
        "np.swapaxes 可以只交換兩個軸，軸可以用負數從後面數。",
        "np.swapaxes swaps just two axes, and negative numbers count axes from the end.",
    ),
    "hint_scaled_scores_3": (
        "@ 只乘最後兩軸，前面的軸自動對齊；最後除以 √d_k，d_k 是 Q.shape[-1]。",
        "@ multiplies over the last two axes and lines up those in front; then divide by √d_k, "
        "where d_k is Q.shape[-1].",
    ),
    # -- 03 --------------------------------------------------------------------------------------
    "title_kinds_of_masks": ("遮罩的種類", "Kinds of masks"),
    "ask_kinds_of_masks": (
        "編碼器、解碼器、交叉注意力各適合哪一種遮罩？",
        "Which kind of mask suits an encoder, a decoder, cross-attention?",
    ),
    "hint_kinds_of_masks_1": (
        "先問：哪些文字在計算時已經全部寫好了？",
        "First ask which text is already complete when it is read.",
    ),
    "hint_kinds_of_masks_2": (
        "要預測的詞元不能先看到；其他的看得越多越好。",
        "A token to be predicted must not be seen; of all else, the more the better.",
    ),
    "hint_kinds_of_masks_3": (
        "要預測的部分，解碼器的遮罩在對角線右上方不能開；編碼器和交叉注意力沒有這個限制。",
        "A decoder's mask must be shut above the diagonal where tokens are predicted; encoder and "
        "cross-attention have no such limit.",
    ),
    "title_causal_mask_from_scratch": ("自己寫因果遮罩", "The causal mask from scratch"),
    "ask_causal_mask_from_scratch": (
        "寫 causal_mask_from_scratch(T_q, T_k)：回傳 (T_q, T_k) 的布林遮罩，True ＝可以看；"
        "查詢是序列的最後 T_q 個位置。",
        "Write causal_mask_from_scratch(T_q, T_k): return a Boolean mask (T_q, T_k), True = may "
        "attend; the queries are the last T_q positions.",
    ),
    "hint_causal_mask_from_scratch_1": (
        "先寫 T_q = T_k 的情形，畫一張 4 × 4 的表對照。",
        "Begin with T_q = T_k, and draw a table of 4 × 4 beside it.",
    ),
    "hint_causal_mask_from_scratch_2": (
        "T_k 比 T_q 多時，第一個查詢不在位置 0，而在 T_k − T_q。",
        "With more keys than queries the first query stands not at 0 but at T_k − T_q.",
    ),
    "hint_causal_mask_from_scratch_3": (
        "把查詢的位置排成一行（column）、鍵的位置排成一列（row），再用 <= 比較。",
        "Put the positions of queries into a column, those of keys into a row, and compare by <=.",
    ),
    "title_sliding_window": ("滑動視窗遮罩", "The sliding-window mask"),
    "ask_sliding_window": (
        "寫 sliding_window(T, window)：回傳 (T, T) 的布林遮罩，每個位置看得到自己和前面 "
        "window − 1 個。",
        "Write sliding_window(T, window): return a Boolean mask (T, T) in which each position sees "
        "itself and the window − 1 before it.",
    ),
    "hint_sliding_window_1": (
        "一格有兩個條件：不能是未來，也不能太久以前。",
        "A cell has two conditions: not in the future, and not too far back.",
    ),
    "hint_sliding_window_2": (
        "i − j 是鍵在多久以前；window = 1 時只准 i − j = 0。",
        "i − j says how far back the key lies; with window = 1 only i − j = 0 is allowed.",
    ),
    "hint_sliding_window_3": (
        "兩個布林陣列用 & 合起來，每個條件都要加括號。",
        "Combine the two Boolean arrays by &, with parentheses round each condition.",
    ),
    "title_my_allowed_cells": ("你的視窗有幾格是 True", "How many cells your window opens"),
    "ask_my_allowed_cells": (
        "T = {T}、window = {window} 的滑動視窗遮罩，有幾格是 True？",
        "How many cells of the sliding-window mask are True for T = {T} and window = {window}?",
    ),
    "hint_my_allowed_cells_1": (
        "先用 T = 5、window = 2 畫一張小表數數看。",
        "Draw a small one first, T = 5 and window = 2, and count.",
    ),
    "hint_my_allowed_cells_2": (
        "大部分的列都看得到 window 個；只有最前面幾列比較少。",
        "Most rows see window keys; only the first few see less.",
    ),
    "hint_my_allowed_cells_3": (
        "T × window 減掉左上角缺的那個三角形：1 + 2 + … + (window − 1)。",
        "T × window, less the triangle that is missing at the top left: 1 + 2 + … + (window − 1).",
    ),
    "title_causality": ("因果探測", "A causality probe"),
    "ask_causality": (
        "寫 causality(attend)：attend(Q, K, V) 回傳 (T, d_v) 的輸出；改動未來時，過去的輸出不動"
        "就回傳 True，否則 False。",
        "Write causality(attend): attend(Q, K, V) returns an output (T, d_v); return True if no "
        "earlier output moves when something later changes, otherwise False.",
    ),
    "hint_causality_1": (
        "自己做一組隨機的 Q、K、V，算一次；改一個位置，再算一次。",
        "Make random Q, K and V, compute; change one position, and compute again.",
    ),
    "hint_causality_2": (
        "改的是位置 t，就比較第 0 到 t − 1 列；記得先複製再改。",
        "If position t changes, compare rows 0 to t − 1; copy before you change.",
    ),
    "hint_causality_3": (
        "每個位置 t 都要試，而且 Q、K、V 都要改；用 np.allclose 比較。",
        "Try every position t, and change Q, K and V each in turn; compare by np.allclose.",
    ),
    # -- 04 --------------------------------------------------------------------------------------
    "title_softmax_temperature": ("有溫度的 softmax", "Softmax with a temperature"),
    "ask_softmax_temperature": (
        "寫 softmax_temperature(scores, temperature)：scores 是 (T_q, T_k)，每一列各自除以溫度後"
        "做 softmax，分數很大也不能溢位。",
        "Write softmax_temperature(scores, temperature): scores is (T_q, T_k); softmax of each row "
        "after division by the temperature, without overflow for large scores.",
    ),
    "hint_softmax_temperature_1": (
        "溫度在取指數之前用。",
        "The temperature comes before exp.",
    ),
    "hint_softmax_temperature_2": (
        "每一列減去自己的最大值，權重不變，指數卻不會溢位。",
        "Subtracting the maximum of each row alters no weight and keeps exp from overflowing.",
    ),
    "hint_softmax_temperature_3": (
        "max 和 sum 都用 axis=-1, keepdims=True，形狀才對得起來。",
        "Use axis=-1, keepdims=True in both max and sum, so that the shapes fit.",
    ),
    "title_my_weight": ("兩個鍵的權重", "The weight of one of two keys"),
    "ask_my_weight": (
        "兩個鍵的分數差 {gap}，溫度是 {temperature}；分數較高的那個鍵，權重是多少？",
        "Two keys differ by {gap} in score, and the temperature is {temperature}; what weight does "
        "the higher one get?",
    ),
    "hint_my_weight_1": (
        "softmax 只看分數的差；較高的可以當作 0。",
        "Softmax sees only differences, so take the higher score as 0.",
    ),
    "hint_my_weight_2": (
        "先把差除以溫度，再取指數。",
        "Divide the difference by the temperature first, then take exp.",
    ),
    "hint_my_weight_3": (
        "較高的指數是 1，較低的是 exp（−差 ÷ 溫度）；權重是前者除以兩者的和。",
        "The exponentials are 1 and exp(−difference / temperature); the weight is the first over "
        "the sum of both.",
    ),
    "title_attention_one_head": ("一個頭的注意力", "Attention of one head"),
    "ask_attention_one_head": (
        "寫 attention_one_head(Q, K, V, mask)：Q 是 (T_q, d_k)、K 是 (T_k, d_k)、V 是 (T_k, d_v)，"
        "mask 是 (T_q, T_k) 的布林陣列；回傳輸出 (T_q, d_v)，沒有鍵可看的列輸出 0。",
        "Write attention_one_head(Q, K, V, mask): Q is (T_q, d_k), K (T_k, d_k), V (T_k, d_v), "
        "mask Boolean (T_q, T_k); return the output (T_q, d_v), 0 in rows with no allowed key.",
    ),
    "hint_attention_one_head_1": (
        "五個步驟：分數、縮放、遮罩、softmax、乘上 V；一次寫一步。",
        "Five steps: scores, scale, mask, softmax, times V; write one at a time.",
    ),
    "hint_attention_one_head_2": (
        "遮罩用 np.where(mask, scores, -np.inf)，在 softmax 之前。",
        "Apply the mask by np.where(mask, scores, -np.inf), before softmax.",
    ),
    "hint_attention_one_head_3": (
        "全部都是 −∞ 的列會算出 0/0：先用 mask.any(axis=1, keepdims=True) 找出來，那裡的最大值當 "
        "0、總和當 1。",
        "A row of nothing but −∞ gives 0/0: find it by mask.any(axis=1, keepdims=True), and take 0 "
        "for its maximum and 1 for its sum.",
    ),
    "title_attention_two_heads": ("兩個頭一起算", "Two heads at once"),
    "ask_attention_two_heads": (
        "寫 attention_two_heads(X, W_Q, W_K, W_V)：X 是 (T, d_model)，W_Q 和 W_K 是 "
        "(d_model, 2 d_k)，W_V 是 (d_model, 2 d_v)；前一半的行（column）是頭 0。不用遮罩，回傳 "
        "(T, 2 d_v)，兩個頭左右串接。",
        "Write attention_two_heads(X, W_Q, W_K, W_V): X is (T, d_model), W_Q and W_K are "
        "(d_model, 2 d_k), W_V is (d_model, 2 d_v); the first half of the columns is head 0. No "
        "mask; return (T, 2 d_v), the heads side by side.",
    ),
    "hint_attention_two_heads_1": (
        "先投影，再切開：切的是 X W_Q，不是 X。",
        "Project first, then split: what is split is X W_Q, not X.",
    ),
    "hint_attention_two_heads_2": (
        "每個頭有自己的分數和權重，除數是 √d_k，不是 √(2 d_k)。",
        "Each head has scores and weights of its own, and divides by √d_k, not √(2 d_k).",
    ),
    "hint_attention_two_heads_3": (
        "np.split(…, 2, axis=1) 把行切成兩半，最後用 np.concatenate(…, axis=1) 接回來。",
        "np.split(…, 2, axis=1) halves the columns; np.concatenate(…, axis=1) joins them again.",
    ),
    "title_attention_complete": ("完整的注意力", "All of attention"),
    "ask_attention_complete": (
        '寫 attention_complete(Q, K, V, mask)：前面可以有批次和頭的軸，mask 是 None、"causal" 或'
        "布林陣列；布林陣列的形狀是 (T_q, T_k)，或軸數和分數相同（長度 1 的軸會自動延伸）。",
        "Write attention_complete(Q, K, V, mask): with any leading axes for batch and heads; mask "
        'is None, "causal" or Boolean, (T_q, T_k) or with the axes of the scores, where axes of '
        "length 1 stretch.",
    ),
    "hint_attention_complete_1": (
        "從 attention_one_head 開始，把 K.T 換成只交換最後兩軸。",
        "Start from attention_one_head, and swap only the last two axes instead of K.T.",
    ),
    "hint_attention_complete_2": (
        '是不是 "causal"，用 isinstance(mask, str) 判斷，陣列不能和文字比；三角形要對齊右下角：'
        "np.tri 的第三個引數 k 是 T_k − T_q。",
        'Tell "causal" by isinstance(mask, str), as an array cannot be compared with a text; the '
        "triangle ends at the bottom right: the third argument of np.tri, k, is T_k − T_q.",
    ),
    "hint_attention_complete_3": (
        "np.broadcast_to(mask, scores.shape) 把三種遮罩都變成同一種形狀，axis 全部用 −1。",
        "np.broadcast_to(mask, scores.shape) brings all masks to one shape; always use axis −1.",
    ),
    "title_catch_broken": ("抓出壞掉的注意力", "Catch the broken attention"),
    "ask_catch_broken": (
        "寫 catch_broken(attend)：attend(Q, K, V, mask) 正確就回傳 True，有錯就回傳 False；"
        "不能冤枉寫法特別但正確的。",
        "Write catch_broken(attend): return True if attend(Q, K, V, mask) is right, False if it is "
        "broken; do not accuse one that is right in an unusual way.",
    ),
    "hint_catch_broken_1": (
        "拿一個可靠的答案來比，例如 al.attention；先只用一組隨機的 Q、K、V，看抓到幾個。",
        "Compare with an answer you trust, such as al.attention; begin with one random Q, K, V and "
        "see how many are caught.",
    ),
    "hint_catch_broken_2": (
        "有些要遇到特別的輸入才出錯：T_q ≠ T_k、有批次、很大的分數、沒有鍵可看的列。",
        "Some fail only for special inputs: T_q ≠ T_k, a batch, large scores, a row with no "
        "allowed key.",
    ),
    "hint_catch_broken_3": (
        '各種 mask（None、"causal"、每句長度不同的填補）都試，也看看輸入有沒有被改動；比較時容許'
        "捨入誤差。",
        'Try all kinds of mask (None, "causal", padding of different lengths), look whether the '
        "input has changed, and allow for rounding when you compare.",
    ),
    # -- 05 --------------------------------------------------------------------------------------
    "title_cross_entropy_row": ("softmax 加交叉熵的梯度", "Gradient of softmax with cross-entropy"),
    "ask_cross_entropy_row": (
        "寫 cross_entropy_row(scores, target)：scores 是 (T,)，損失是 "
        "−log softmax(scores)[target]；回傳損失對 scores 的梯度 (T,)。",
        "Write cross_entropy_row(scores, target): scores is (T,), the loss is "
        "−log softmax(scores)[target]; return its gradient with respect to the scores, (T,).",
    ),
    "hint_cross_entropy_row_1": (
        "目標的分數提高，損失會變小；其他的分數提高，損失會變大。",
        "A higher score at the target lowers the loss; a higher one elsewhere raises it.",
    ),
    "hint_cross_entropy_row_2": (
        "梯度的總和是 0：所有的分數一起加同一個數，損失不變。",
        "The gradient sums to 0: adding one number to all scores leaves the loss as it is.",
    ),
    "hint_cross_entropy_row_3": (
        "先算權重 p（記得減去最大值），目標那一格再減去一個數。",
        "Compute the weights p (subtract the maximum), then take something away at the target.",
    ),
    "title_my_raw_spread": ("不縮放時的標準差", "The spread that does without scaling"),
    "ask_my_raw_spread": (
        "d_k = {d_k}，縮放時 Q 和 K 的分量標準差都是 {sigma}；不縮放的話，標準差要改成多少，"
        "分數才會一樣？",
        "d_k = {d_k}, and with scaling the components of Q and K have standard deviation {sigma}; "
        "what must it be without scaling for the scores to spread just as far?",
    ),
    "hint_my_raw_spread_1": (
        "Q 和 K 都乘上 c，分數會乘上多少？",
        "If Q and K are both multiplied by c, by what are the scores multiplied?",
    ),
    "hint_my_raw_spread_2": (
        "要讓 c² = 1/√d_k。",
        "c² must be 1/√d_k.",
    ),
    "hint_my_raw_spread_3": (
        "c 是 1 除以 d_k 的四次方根，也就是開兩次根號；再乘上原來的標準差。",
        "c is 1 over the fourth root of d_k, the root taken twice; times the spread you had.",
    ),
    # -- 06 --------------------------------------------------------------------------------------
    "title_one_row_backward": ("一列 softmax 的反向傳播", "The way back through one softmax row"),
    "ask_one_row_backward": (
        "寫 one_row_backward(p, dp)：p 是一列權重 (T,)，dp 是損失對 p 的梯度 (T,)；回傳損失對分數的"
        "梯度 (T,)。",
        "Write one_row_backward(p, dp): p is a row of weights (T,), dp the gradient of the loss "
        "with respect to p, (T,); return the gradient with respect to the scores, (T,).",
    ),
    "hint_one_row_backward_1": (
        "第 j 個分數一動，每個權重都跟著動：把每個 dp 乘上對應的導數，全部加起來。",
        "When score j moves, every weight moves: multiply each dp by its derivative, and add up.",
    ),
    "hint_one_row_backward_2": (
        "不必建 T × T 的矩陣：pᵀ dp 只是一個數。",
        "There is no need for a T × T matrix: pᵀ dp is a single number.",
    ),
    "hint_one_row_backward_3": (
        "那個數是 dp 以 p 加權的平均；先從 dp 減去它，再想前面還要乘上什麼。",
        "That number is the mean of dp weighted by p; subtract it from dp, and think what stands "
        "in front.",
    ),
    "title_running_softmax": ("一塊一塊算 softmax 的總和", "The sum of softmax, tile by tile"),
    "ask_running_softmax": (
        "寫 running_softmax(scores, tile)：一次只看 tile 個分數，回傳 np.array([m, l])，"
        "m 是最大值，l 是 Σ exp（分數 − m）。",
        "Write running_softmax(scores, tile): look at tile scores at a time and return "
        "np.array([m, l]), the maximum m and l = Σ exp(score − m).",
    ),
    "hint_running_softmax_1": (
        "用 range(0, len(scores), tile) 走過去，最後一塊可以不滿。",
        "Go through range(0, len(scores), tile); the last tile may be short.",
    ),
    "hint_running_softmax_2": (
        "每一塊先更新最大值；舊的總和是用舊的最大值算的。",
        "In each tile update the maximum first; the old sum was made with the old one.",
    ),
    "hint_running_softmax_3": (
        "m 從 −∞ 開始、l 從 0 開始；舊的 l 先乘上 exp(m − 新的 m)，再加這一塊的指數。",
        "Begin with m = −∞ and l = 0; multiply the old l by exp(m − new m), then add the "
        "exponentials of the tile.",
    ),
    "title_my_kv_cache": ("你的 KV 快取有多大", "The size of your KV cache"),
    "ask_my_kv_cache": (
        "你的模型有 {n_layer} 層、{d_model} 維，用 float32；{T} 個詞元的 KV 快取占幾個位元組？",
        "Your model has {n_layer} layers, is {d_model} wide and uses float32: how many bytes does "
        "the KV cache of {T} tokens take?",
    ),
    "hint_my_kv_cache_1": (
        "每一層、每個詞元都要存鍵和值。",
        "Every layer keeps a key and a value for each token.",
    ),
    "hint_my_kv_cache_2": (
        "一層裡所有的頭合起來是 d_model 個數；float32 是 4 個位元組。",
        "All heads of a layer make d_model numbers together; a float32 takes 4 bytes.",
    ),
    "hint_my_kv_cache_3": (
        "2 × 層數 × T × d_model × 4。",
        "2 × layers × T × d_model × 4.",
    ),
}
