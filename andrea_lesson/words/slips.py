"""The words of the known slips, one sentence each: what the answer shows, and where to look."""

SLIP_WORDS: dict[str, tuple[str, str]] = {
    # -- scaling ---------------------------------------------------------------------------------
    "slip_no_scale": (
        "分數還沒有縮放：少了除以 √d_k 這一步。",
        "The division by √d_k is missing: the scores are not scaled.",
    ),
    "slip_scaled_twice": (
        "縮放了兩次：分數被除以 d_k，只要除以 √d_k 一次。",
        "Scaled twice: the scores are divided by d_k; divide by √d_k once.",
    ),
    "slip_multiplied_by_root": (
        "你乘上了 √d_k，應該除以 √d_k。",
        "You multiplied by √d_k; divide by it.",
    ),
    "slip_root_of_T": (
        "你除以的是 √T（鍵的個數），應該除以 √d_k，也就是 K 最後一軸的長度。",
        "You divided by √T, the number of keys; divide by √d_k, from the last axis of K.",
    ),
    "slip_root_of_first_axis": (
        "你除以的是 √len(Q)，那是第一軸的長度；d_k 是最後一軸的長度。",
        "You divided by √len(Q), the length of the first axis; d_k is that of the last.",
    ),
    "slip_root_of_d_model": (
        "你除以的像是 √d_model；一個點積只加 d_k 個乘積，該除以 √d_k。",
        "You seem to divide by √d_model; a dot product adds only d_k products, so divide by √d_k.",
    ),
    "slip_queries_and_keys_swapped": (
        "查詢和鍵對調了：你算的是 K Qᵀ，列（row）應該是查詢，要算 Q Kᵀ。",
        "Queries and keys are swapped: you computed K Qᵀ, but rows are queries, Q Kᵀ.",
    ),
    "slip_weights_for_scores": (
        "你多做了一步 softmax；這裡只要縮放後的分數。",
        "You went one step too far, to softmax; only the scaled scores are wanted.",
    ),
    # -- masks -----------------------------------------------------------------------------------
    "slip_top_left": (
        "T_q = T_k 時都對；T_q ≠ T_k 時三角形要對齊右下角，你的是從左上角開始。",
        "Right for T_q = T_k; otherwise the triangle must end at the bottom right, and yours "
        "starts at the top left.",
    ),
    "slip_diagonal_hidden": (
        "連對角線也遮住了；每個位置都該看得到自己。",
        "The diagonal is hidden too; every position may see itself.",
    ),
    "slip_true_hides": (
        "True 和 False 反了：這裡 True ＝可以看。",
        "True and False are reversed: here True means “may attend”.",
    ),
    "slip_sees_the_future": (
        "三角形反了：你讓每個位置看自己和後面，應該看自己和前面；列（row）是查詢。",
        "The triangle is reversed: yours sees itself and what comes after, not what came before; "
        "rows are queries.",
    ),
    "slip_one_too_far": (
        "多看了一格：對角線右邊那一格是未來，該遮住。",
        "One cell too far: the cell right of the diagonal is the future and must be hidden.",
    ),
    "slip_everything_allowed": (
        "每一格都是 True，什麼也沒有遮住。",
        "Every cell is True, so nothing is hidden.",
    ),
    "slip_wrong_offset": (
        "T_q ≠ T_k 時位移的正負號反了：查詢 i 的位置是 i + (T_k − T_q)。",
        "For T_q ≠ T_k the offset has the wrong sign: query i stands at i + (T_k − T_q).",
    ),
    "slip_offset_never_negative": (
        "查詢比鍵多時不對：這時 T_k − T_q 是負的，不要取絕對值；前面幾列本來就什麼也看不到。",
        "Wrong for more queries than keys: T_k − T_q is negative then, so take no absolute value; "
        "the first rows see nothing.",
    ),
    "slip_offset_clipped": (
        "查詢比鍵多時不對：T_k − T_q 可以是負的，前面幾列本來就什麼也看不到。",
        "Wrong for more queries than keys: T_k − T_q may be negative, and the first rows see "
        "nothing.",
    ),
    "slip_transposed_shape": (
        "遮罩轉置了：形狀應該是 (T_q, T_k)，列（row）是查詢。",
        "The mask is transposed: its shape must be (T_q, T_k), with queries as rows.",
    ),
    "slip_square_of_queries": (
        "你的遮罩是 (T_q, T_q)，沒有用到 T_k。",
        "Your mask is (T_q, T_q) and does not use T_k.",
    ),
    "slip_square_of_keys": (
        "你的遮罩是 (T_k, T_k)，沒有用到 T_q。",
        "Your mask is (T_k, T_k) and does not use T_q.",
    ),
    "slip_window_one_more": (
        "視窗多了一格：window 個鍵已經包括自己。",
        "The window is one too wide: its keys already include the position itself.",
    ),
    "slip_window_one_less": (
        "視窗少了一格：應該是自己加上前面 window − 1 個。",
        "The window is one too narrow: itself and the window − 1 positions before.",
    ),
    "slip_window_without_itself": (
        "你看的是前面 window 個，不包括自己；應該是自己加上前面 window − 1 個。",
        "Yours sees the window positions before, without itself; it must be itself and window − 1 "
        "before.",
    ),
    "slip_window_both_ways": (
        "視窗往前往後都開了；因果的視窗不看後面。",
        "The window is open both ways; a causal one does not look ahead.",
    ),
    "slip_window_both_ways_one_more": (
        "視窗往前往後都開了，還多了一格；因果的視窗只看自己和前面 window − 1 個。",
        "The window is open both ways and one too wide; a causal one sees itself and window − 1 "
        "before.",
    ),
    "slip_window_not_causal": (
        "太久以前的遮住了，未來卻還看得到；還要加上 j ≤ i。",
        "What lies too far back is hidden, but the future is still open; j ≤ i is missing.",
    ),
    "slip_window_ahead": (
        "視窗的方向反了：你看的是後面，應該看前面。",
        "The window points the wrong way: yours looks ahead instead of back.",
    ),
    "slip_window_ignored": (
        "這是一般的因果遮罩，window 沒有用到。",
        "This is the plain causal mask; window is not used.",
    ),
    "slip_window_outside": (
        "視窗裡外反了：你看到的正好是視窗以外的舊位置。",
        "The window is inside out: yours sees just the old positions outside it.",
    ),
    # -- softmax ---------------------------------------------------------------------------------
    "slip_temperature_multiplied": (
        "你把分數乘上了溫度，應該除以溫度。",
        "You multiplied the scores by the temperature; divide by it.",
    ),
    "slip_temperature_ignored": (
        "結果和溫度無關：分數要先除以溫度。",
        "The result does not depend on the temperature: divide the scores by it first.",
    ),
    "slip_temperature_rooted": (
        "你除以的是溫度的平方根，直接除以溫度就好。",
        "You divided by the root of the temperature; divide by the temperature itself.",
    ),
    "slip_temperature_squared": (
        "溫度除了兩次，除一次就好。",
        "You divided by the temperature twice; once is enough.",
    ),
    "slip_temperature_after": (
        "溫度除在 softmax 之後，列總和就不是 1 了；要在取指數之前除。",
        "You divided by the temperature after softmax, so the rows do not sum to 1; divide before "
        "exp.",
    ),
    "slip_wrong_axis": (
        "總和是 1 的是每一行（column）：你沿著查詢做了正規化，應該沿著鍵，也就是最後一軸。",
        "The columns sum to 1: you normalised over queries instead of keys, the last axis.",
    ),
    "slip_whole_matrix": (
        "整張表的總和是 1；應該每一列（row）各自的總和是 1。",
        "The whole table sums to 1; each row by itself should.",
    ),
    "slip_no_maximum_shift": (
        "一般的分數都對，分數一大就溢位：取指數之前，先減去每一列的最大值。",
        "Right for ordinary scores, but large ones overflow: subtract the maximum of each row "
        "before exp.",
    ),
    "slip_maximum_of_the_table": (
        "你減去的是整張表的最大值，分數低的列會下溢成 0；要減的是每一列自己的最大值。",
        "You subtracted the maximum of the whole table, so rows of low scores underflow; subtract "
        "that of each row.",
    ),
    "slip_not_normalised": (
        "還沒有除以總和，所以加起來不是 1。",
        "The division by the sum is missing, so it does not add up to 1.",
    ),
    "slip_shifted_not_normalised": (
        "減了最大值、也取了指數，還沒有除以每一列的總和。",
        "The maximum is subtracted and exp taken; the division by the sum of each row is missing.",
    ),
    "slip_logarithm": (
        "你回傳的是權重的對數；最後再取一次指數。",
        "You returned the logarithms of the weights; take exp at the end.",
    ),
    "slip_no_exponential": (
        "少了指數那一步：直接除以總和，權重會出現負數。",
        "The exponential is missing: plain division by the sum gives negative weights.",
    ),
    "slip_minus_scores": (
        "分數的正負號反了：最高的分數得到了最小的權重。",
        "The sign of the scores is reversed: the highest score gets the smallest weight.",
    ),
    "slip_transposed": (
        "數值都對，只是結果轉置了：列和行對調。",
        "The numbers are right, but the result is transposed: rows and columns are swapped.",
    ),
    # -- attention -------------------------------------------------------------------------------
    "slip_mask_ignored": (
        "遮罩沒有用到：看不到的鍵還是得到了權重。",
        "The mask is not used: hidden keys still get weight.",
    ),
    "slip_reversed_polarity": (
        "遮罩讀反了：True ＝可以看，你把 True 的格遮住了。",
        "The mask is read the wrong way round: True means “may attend”, and you hide it.",
    ),
    "slip_masked_after_softmax": (
        "遮罩在 softmax 之後，又沒有重新正規化，列總和就不到 1；在 softmax 之前把分數改成 −∞。",
        "The mask comes after softmax without renormalising, so rows sum to less than 1; set the "
        "scores to −∞ before softmax.",
    ),
    "slip_half_precision_mask": (
        "看得到的格變成了 NaN：(1 − m)·(−1e9) 在 float16 裡是 0·(−∞)；改用 np.where。",
        "Allowed cells become NaN: in float16 (1 − m)·(−1e9) is 0·(−∞); use np.where.",
    ),
    "slip_finite_stand_in": (
        "其他都對，但看起來用了 −1e9 之類的數代替 −∞：沒有鍵可看的列，或分數更低的列，就看到了"
        "不該看的鍵。",
        "Otherwise right, but you seem to use a number such as −1e9 for −∞: rows with no allowed "
        "key, or with lower scores, see what they must not.",
    ),
    "slip_empty_row_nan": (
        "其他都對，只差沒有任何鍵可看的列：那裡算出了 0/0（NaN），應該是 0。",
        "Right except for rows with no allowed key: they come out as 0/0, NaN, and must be 0.",
    ),
    "slip_sees_all_when_empty": (
        "其他都對，只差沒有任何鍵可看的列：你讓它看了全部的鍵，輸出應該是 0。",
        "Right except for rows with no allowed key: yours let them see every key, and the output "
        "must be 0.",
    ),
    "slip_tail_dropped": (
        "最後幾個鍵沒有算進去；不滿一塊的尾巴也要算。",
        "The last keys are left out; the tail that does not fill a tile counts as well.",
    ),
    "slip_value_of_the_query": (
        "V 的索引錯了：加總時該用的是鍵 j 的值 V[j]，不是查詢 i 的 V[i]。",
        "V has the wrong index: the sum takes the value V[j] of the key, not V[i] of the query.",
    ),
    "slip_zero_for_infinity": (
        "看不到的格你改成了 0，但 exp(0) = 1，還是會得到權重；要改成 −∞。",
        "You set hidden scores to 0, but exp(0) = 1 still gives weight; set them to −∞.",
    ),
    "slip_weights_for_output": (
        "你回傳的是權重；還差最後一步，乘上 V。",
        "You returned the weights; the last step, times V, is missing.",
    ),
    "slip_mask_transposed": (
        "遮罩轉置了：它的列（row）是查詢，行（column）是鍵。",
        "The mask is transposed: its rows are queries, its columns keys.",
    ),
    "slip_causal_from_top_left": (
        'T_q ≠ T_k 時，"causal" 的三角形要對齊右下角，你的是從左上角開始。',
        'For T_q ≠ T_k the triangle of "causal" must end at the bottom right; yours starts at '
        "the top left.",
    ),
    "slip_transposed_on_all_axes": (
        "單獨一組都對，批次就不對了：K.T 會顛倒所有的軸，只要交換最後兩軸。",
        "Right for a single head, wrong for a batch: K.T turns all axes round; swap only the last "
        "two.",
    ),
    "slip_batch_shares_mask": (
        "批次裡每一筆都用了第一筆的遮罩；每一筆要用自己的。",
        "Every item of the batch uses the mask of the first; each must use its own.",
    ),
    # -- two heads -------------------------------------------------------------------------------
    "slip_one_wide_head": (
        "你做的是一個兩倍寬的頭；先把 Q、K、V 各切成兩半，每個頭各自算權重。",
        "This is one head of twice the width; split Q, K and V in two, each head with its own "
        "weights.",
    ),
    "slip_root_of_both_heads": (
        "你除以的是 √(2 d_k)；每個頭只有 d_k 維，要除以 √d_k。",
        "You divided by √(2 d_k); a head is only d_k wide, so divide by √d_k.",
    ),
    "slip_heads_added": (
        "你把兩個頭的輸出相加了；應該左右串接成 (T, 2 d_v)。",
        "You added the outputs of the heads; place them side by side, (T, 2 d_v).",
    ),
    "slip_heads_averaged": (
        "你把兩個頭的輸出平均了；應該左右串接成 (T, 2 d_v)。",
        "You averaged the outputs of the heads; place them side by side, (T, 2 d_v).",
    ),
    "slip_heads_swapped": (
        "兩個頭的順序反了：前半是頭 0，後半是頭 1。",
        "The heads are in the wrong order: head 0 comes first, then head 1.",
    ),
    "slip_heads_stacked": (
        "兩個頭疊成了新的一軸 (2, T, d_v)；應該左右串接成 (T, 2 d_v)。",
        "The heads are stacked on a new axis, (2, T, d_v); place them side by side, (T, 2 d_v).",
    ),
    "slip_heads_below": (
        "兩個頭上下接成了 (2 T, d_v)；應該左右串接成 (T, 2 d_v)。",
        "The heads stand one below the other, (2 T, d_v); place them side by side, (T, 2 d_v).",
    ),
    "slip_heads_interleaved": (
        "兩個頭的分量一個隔一個交錯了；前半要是頭 0，後半是頭 1。",
        "The components of the heads alternate; the first half must be head 0, the second head 1.",
    ),
    "slip_first_head_only": (
        "只有頭 0 的輸出；還要把頭 1 串接在右邊。",
        "Only the output of head 0 came; place head 1 to the right of it.",
    ),
    "slip_first_head_twice": (
        "兩半都是頭 0 的輸出；看看迴圈裡的索引。",
        "Both halves are the output of head 0; look at the index in your loop.",
    ),
    "slip_input_sliced": (
        "你切的是 X；每個頭都讀整個 X，要切的是投影之後的 Q、K、V。",
        "You sliced X; each head reads all of X, and what is sliced are Q, K and V after the "
        "projection.",
    ),
    "slip_columns_strided": (
        "你隔一行（column）取一行；頭 0 是前一半的行，頭 1 是後一半。",
        "You took every second column; head 0 is the first half of the columns, head 1 the second.",
    ),
    "slip_tokens_mixed": (
        "reshape 把不同位置混在一起了：先 reshape 成 (T, 2, d)，再交換前兩軸。",
        "Your reshape mixes positions: reshape to (T, 2, d) first, then swap the first two axes.",
    ),
    "slip_causal_unasked": (
        "你加了因果遮罩；這一題不用遮罩。",
        "You applied the causal mask; this exercise has no mask.",
    ),
    # -- gradients -------------------------------------------------------------------------------
    "slip_row_mean_missing": (
        "少減了一項：每個分數的梯度要減去 dp 以 p 加權的平均。",
        "A term is missing: subtract the mean of dp, weighted by p.",
    ),
    "slip_plain_mean": (
        "你減去的是一般的平均；要用 p 加權的平均 Σ p·dp。",
        "You subtracted the plain mean; it must be the mean weighted by p, Σ p·dp.",
    ),
    "slip_factor_p_missing": (
        "減對了，還要再乘上 p。",
        "The subtraction is right; the factor p in front is missing.",
    ),
    "slip_own_share_only": (
        "你只算了對角線 p(1 − p)；別的權重也會跟著變，要減去它們的那一份。",
        "You counted only the diagonal p(1 − p); the other weights move too, so subtract their "
        "share.",
    ),
    "slip_jacobian": (
        "你回傳的是整個雅可比矩陣；還要乘上 dp，得到一列 (T,)。",
        "You returned the whole Jacobian; multiply it by dp to get one row, (T,).",
    ),
    "slip_sign_flipped": (
        "大小都對，正負號全反了。",
        "The sizes are right, but every sign is reversed.",
    ),
    "slip_jacobian_plus": (
        "那一項要用減的，你用了加的。",
        "That term must be subtracted; you added it.",
    ),
    "slip_cross_entropy": (
        "p − dp 不是這一題的公式；這裡的 dp 是後面的步驟傳回來的梯度。",
        "p − dp does not belong here; dp is the gradient that comes back from behind.",
    ),
    "slip_product_mean": (
        "p·dp 要加總，你取了平均；p 的總和已經是 1。",
        "Sum p·dp; you took its mean, but p already sums to 1.",
    ),
    "slip_unchanged": (
        "dp 原封不動傳了回去；還要穿過 softmax。",
        "dp came back unchanged; it still has to go through softmax.",
    ),
    "slip_weights_only": (
        "這是權重 p；還要在目標的位置減 1。",
        "These are the weights p; 1 must still be subtracted at the target.",
    ),
    "slip_scores_for_weights": (
        "少了 softmax：要從權重 p 減，不是從分數減。",
        "Softmax is missing: subtract from the weights p, not from the scores.",
    ),
    "slip_softmax_counted_twice": (
        "p − y 已經穿過 softmax 了，不必再乘一次它的雅可比矩陣。",
        "p − y has gone through softmax already; do not multiply by its Jacobian again.",
    ),
    "slip_target_only": (
        "你只給了目標那一格梯度；其他的格也有，是 p。",
        "Only the cell of the target has a gradient; the others are p.",
    ),
    "slip_one_from_all": (
        "每一格都減了 1；只有目標那一格要減。",
        "You subtracted 1 everywhere; only the target loses 1.",
    ),
    # -- the running softmax ---------------------------------------------------------------------
    "slip_sum_not_shrunk": (
        "最大值變大時，舊的總和要乘上 exp（舊的最大值 − 新的最大值），你沒有乘。",
        "When the maximum grows, the old sum must shrink by exp(old maximum − new); yours did not.",
    ),
    "slip_maximum_from_zero": (
        "最大值從 0 算起，全是負數的一列就錯了；要從 −∞ 算起。",
        "Your maximum begins at 0, which is wrong for a row of negative scores; begin at −∞.",
    ),
    "slip_last_tile_only": (
        "只算了最後一塊；前面的總和要留著。",
        "Only the last tile counts; keep the sum of those before.",
    ),
    "slip_first_tile_only": (
        "只算了第一塊；看看迴圈是不是太早 return。",
        "Only the first tile counts; does the loop return too early?",
    ),
    "slip_sum_grown": (
        "舊的總和要乘上 exp（舊的最大值 − 新的最大值）；你的減法順序反了，總和會越乘越大。",
        "The old sum is multiplied by exp(old maximum − new); yours subtracts the other way round, "
        "which makes it grow.",
    ),
    "slip_causal_passed_over": (
        'mask 是 "causal" 的時候，你沒有遮；這個字串代表因果遮罩。',
        'When mask is "causal" nothing is hidden; the string stands for the causal mask.',
    ),
    "slip_always_causal": (
        "不管 mask 給什麼，你用的都是因果遮罩；mask 是 None 就不遮，是陣列就照它遮。",
        "Whatever mask is given, yours is the causal one; None hides nothing, and an array says "
        "itself what is hidden.",
    ),
    "slip_sum_of_scores": (
        "你加的是分數；要加的是 exp（分數 − 最大值）。",
        "You summed the scores; sum exp(score − maximum).",
    ),
    "slip_pair_swapped": (
        "兩個數的順序反了：先最大值 m，再總和 l。",
        "The two numbers are in the wrong order: first the maximum m, then the sum l.",
    ),
    # -- numbers ---------------------------------------------------------------------------------
    "slip_d_model_itself": (
        "「{key}」填的是 d_model；還要除以頭數。",
        "For {key} that is d_model itself; divide it by the number of heads.",
    ),
    "slip_heads_times_width": (
        "「{key}」乘上了頭數；應該用除的。",
        "For {key} you multiplied by the number of heads; divide.",
    ),
    "slip_heads_itself": (
        "「{key}」填的是頭數；要的是每個頭分到幾維。",
        "For {key} that is the number of heads; how wide is each of them?",
    ),
    "slip_root_for_d_k": (
        "「{key}」填的是 √d_k，那是分數的除數；這裡要的是 d_k。",
        "For {key} that is √d_k, the divisor of the scores; d_k is wanted.",
    ),
    "slip_upside_down": (
        "「{key}」除反了：應該用 d_model 除以頭數。",
        "For {key} the fraction is upside down: d_model over the number of heads.",
    ),
    "slip_column_of_query": (
        "「{key}」填的是查詢的那一行；鍵在 W_K 裡，前面還有一整個 W_Q。",
        "For {key} that is the column of the queries; the keys are in W_K, behind all of W_Q.",
    ),
    "slip_column_of_value": (
        "「{key}」填的是值的那一行，多跳過了一個矩陣；鍵在 W_K 裡。",
        "For {key} that is the column of the values, one matrix too far; the keys are in W_K.",
    ),
    "slip_head_before": (
        "「{key}」填的是前一個頭；頭從 0 數起，排在頭 h 前面的有 h 個頭。",
        "For {key} that is the head before; heads are counted from 0, so h of them come before "
        "head h.",
    ),
    "slip_column_behind": (
        "「{key}」填的是下一個頭的開頭；頭從 0 數起，排在頭 h 前面的有 h 個頭。",
        "For {key} that is where the next head begins; heads are counted from 0, so h of them come "
        "before head h.",
    ),
    "slip_last_column": (
        "「{key}」填的是這個頭的最後一行；要的是第一行。",
        "For {key} that is the last column of this head; the first one is wanted.",
    ),
    "slip_column_from_one": (
        "「{key}」多了 1；行從 0 數起。",
        "For {key} that is 1 too many; columns are counted from 0.",
    ),
    "slip_third_of_head": (
        "「{key}」把每個頭的 q、k、v 排在一起算了；這裡是三個矩陣並排，先是所有頭的查詢。",
        "For {key} you took q, k and v of each head to stand together; here three matrices stand "
        "side by side, first the queries of all heads.",
    ),
    "slip_d_k_for_root": (
        "「{key}」填的是 d_k；除數還要再開根號。",
        "For {key} that is d_k; the divisor is its square root.",
    ),
    "slip_root_of_d_model_4096": (
        "「{key}」填的是 √d_model；不管 d_model 多大，該看的是一個頭的 d_k。",
        "For {key} that is √d_model; what counts is the d_k of one head.",
    ),
    "slip_root_of_width": (
        "「{key}」填的是 √d_model；先除以頭數得到 d_k，再開根號。",
        "For {key} you took √d_model; first divide by the number of heads, then take the root.",
    ),
    "slip_root_of_heads": (
        "「{key}」是把頭數開根號；該開根號的是 d_k。",
        "For {key} you took the root of the number of heads; take that of d_k.",
    ),
    "slip_factor_for_divisor": (
        "「{key}」填的是乘數 1/√d_k；問的是除以多少。",
        "For {key} that is the factor 1/√d_k; the question is what to divide by.",
    ),
    "slip_decoder_peeks": (
        "解碼器用 {kind} 遮罩，就看得到該預測的詞元了。",
        "With the {kind} mask a decoder sees the tokens it has to predict.",
    ),
    "slip_reader_blinded": (
        "{part}看的是已經寫好的文字，用 {kind} 遮罩會白白少看。",
        "The {part} reads a finished text; with the {kind} mask it would see less than it may.",
    ),
    "slip_cells_of_causal": (
        "這是一般因果遮罩的格數；太久以前的還要遮住。",
        "That counts the plain causal mask; what lies too far back is hidden as well.",
    ),
    "slip_corner_forgotten": (
        "你讓每一列都看滿 window 個；最前面幾列還沒有那麼多可看。",
        "You let every row see a full window; the first rows have fewer to see.",
    ),
    "slip_cells_without_diagonal": (
        "少算了對角線：每個位置都該看得到自己。",
        "The diagonal is missing: every position sees itself.",
    ),
    "slip_cells_one_wider": (
        "視窗多算了一格：window 個鍵已經包括自己。",
        "The window is counted one too wide: its keys include the position itself.",
    ),
    "slip_cells_of_table": (
        "這是整張表的格數，包括看不到的。",
        "That is every cell of the table, the hidden ones included.",
    ),
    "slip_other_weight": (
        "這是分數較低的那個鍵的權重；問的是較高的。",
        "That is the weight of the key with the lower score; the higher is asked for.",
    ),
    "slip_divided_by_root_of_d_k": (
        "你除以的是 √d_k；點積裡有兩個向量，各分擔一半，所以除數要再開一次根號。",
        "You divided by √d_k; take the root once more, since a dot product has two vectors.",
    ),
    "slip_spread_multiplied": (
        "方向反了：不縮放的分數比較大，標準差要變小才會一樣。",
        "The wrong way: raw scores are larger, so the spread must shrink to match.",
    ),
    "slip_divided_by_d_k": (
        "除太多了：兩個向量的標準差相乘，合起來縮小為 1/√d_k 就夠了。",
        "Too much: the spreads of two vectors multiply, only together must they shrink by √d_k.",
    ),
    "slip_keys_only": (
        "只算了一半：鍵和值都要存。",
        "That is half of it: keys and values are both kept.",
    ),
    "slip_numbers_for_bytes": (
        "這是數的個數；每個 float32 占 4 個位元組。",
        "That counts numbers; each float32 takes 4 bytes.",
    ),
    "slip_megabytes": (
        "這是 MB（百萬位元組）；要的是位元組的個數。",
        "That is in MB, millions of bytes; the number of bytes is wanted.",
    ),
    "slip_one_layer": (
        "這只是一層；每一層都要存。",
        "That is one layer; each layer keeps its own.",
    ),
    "slip_one_token": (
        "這只是一個詞元；T 個都要存。",
        "That is one token; all T are kept.",
    ),
}
