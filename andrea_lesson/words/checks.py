"""The words of the checks; those of slips and of hints have their own files."""

# key: (繁體中文, English)
CHECK_WORDS: dict[str, tuple[str, str]] = {
    # -- the line of a verdict -------------------------------------------------------------------
    "state_passed": ("通過", "passed"),
    "state_waits": ("等你作答", "waiting"),
    "state_wrong": ("還沒通過", "not yet"),
    "colon": ("：", ": "),
    "tested_where": ("（檢查的是 {where}）", " (checked: {where})"),
    "passed_function": (
        "答對了，{count} 組隨機輸入的結果都正確。",
        "Right: the results for all {count} random inputs are correct.",
    ),
    "passed_answers": ("{count} 題全部答對了。", "All {count} answers are right."),
    "passed_number": ("答對了。", "Right."),
    "passed_probe": (
        "答對了，{count} 種注意力你都判斷正確。",
        "Right: you judged all {count} attentions correctly.",
    ),
    "used_package": (
        "結果正確，不過是交給套件的 {name} 算的；這一題請自己寫，寫過一次才會懂。",
        "The results are right, but {name} of the package made them; write it yourself this time, "
        "which is how it becomes clear.",
    ),
    # -- nothing to judge yet --------------------------------------------------------------------
    "waits_function": (
        "這個函式還沒寫；寫好以後再執行一次這個儲存格。",
        "This function is not written yet; write it and run the cell again.",
    ),
    "waits_answer": (
        "還沒有答案；填好以後再執行一次這個儲存格。",
        "There is no answer yet; fill it in and run the cell again.",
    ),
    "waits_more": (
        "填好的 {count} 題都對；一共有 {of} 題，其餘的也填填看。",
        "The {count} you filled in are right; some of the {of} are still open.",
    ),
    "waits_seed": (
        "先填自己的亂數種子 seed（一個整數，例如學號），題目的數字由它決定。",
        "First fill in a seed of your own (a whole number, such as a student number); "
        "it chooses the figures of the question.",
    ),
    "bad_seed": (
        "亂數種子 seed 要填大於或等於 0 的整數，不加引號。",
        "The seed must be a whole number, 0 or more, without quotes.",
    ),
    # -- a function that does not run ------------------------------------------------------------
    "not_a_function": (
        "要交的是函式本身，收到的卻是 {came}；寫函式的名字就好，後面不要加括號。",
        "The function itself is wanted, but {came} came; write its name without parentheses.",
    ),
    "wrong_parameters": (
        "函式的參數應該是（{wanted}），現在是（{came}）。",
        "The function must take the parameters ({wanted}); yours takes ({came}).",
    ),
    "check_failed": (
        "檢查時遇到了沒想到的情況（{error}），這個答案還不能判斷；請重新啟動核心，"
        "或換一種比較簡單的寫法再試。",
        "The check met something unforeseen ({error}) and cannot judge this answer; restart the "
        "kernel, or write it in a simpler way.",
    ),
    "interrupted": (
        "你按了中斷，函式還沒跑完；可能是停不下來的迴圈，看看它的結束條件。",
        "You interrupted it before it finished; it may be an endless loop, so look at how it ends.",
    ),
    "called_exit": (
        "函式裡呼叫了 exit 之類的指令，會讓程式結束；請把它拿掉，改用 return。",
        "Your function calls exit or the like, which ends the program; remove it and use return.",
    ),
    "endless_recursion": (
        "函式一直呼叫自己，停不下來；檢查什麼時候該停。",
        "Your function calls itself without end; look at when it should stop.",
    ),
    "out_of_memory": (
        "函式要的記憶體太多了；看看是不是建了過大的陣列。",
        "Your function asks for too much memory; see whether it makes an array that is too large.",
    ),
    "unknown_name": (
        "函式用到了還沒定義的名稱 {name}{place}；先執行定義它的儲存格，或檢查拼字。",
        "Your function uses {name}, which is not defined{place}; run the cell that defines it, "
        "or check the spelling.",
    ),
    "raised": (
        "函式執行時出錯{place}：{error}（{text}）{given}。",
        "Your function raised an error{place}: {error} ({text}){given}.",
    ),
    "in_line": ("（函式的第 {line} 行程式碼）", " (line {line} of the function)"),
    "given_shapes": ("，當時的輸入是 {shapes}", ", for the input {shapes}"),
    "changed_input": (
        "函式改動了傳進來的 {argument}；請先複製一份，或用不會就地修改的寫法。",
        "Your function changed its input {argument}; work on a copy, or avoid in-place operations.",
    ),
    # -- what came back --------------------------------------------------------------------------
    "returned_nothing": (
        "函式什麼也沒有回傳（None）；是不是忘了寫 return？",
        "Your function returned nothing (None): is there a return?",
    ),
    "returned_generator": (
        "函式回傳的是產生器；把 yield 換成 return，回傳整個陣列。",
        "Your function returned a generator; use return instead of yield, and return an array.",
    ),
    "returned_coroutine": (
        "函式是用 async def 寫的，不會直接給出結果；把 async 拿掉。",
        "Your function is written with async def and gives no result by itself; remove async.",
    ),
    "returned_list": (
        "函式回傳的是串列（list），要的是 NumPy 陣列；用 np.array(…) 包起來。",
        "Your function returned a list; a NumPy array is wanted, so wrap it in np.array(…).",
    ),
    "returned_tuple": (
        "函式回傳了一個元組（tuple），裡面有 {count} 項；請只回傳一個陣列，也看看 return 後面"
        "是不是多了逗號。",
        "Your function returned a tuple of {count}; return one array only, and look for a stray "
        "comma after it.",
    ),
    "returned_number": (
        "函式回傳的是單一個數（{came}），要的是陣列；是不是多加總了一次，或只回傳了其中一項？",
        "Your function returned a single number ({came}); an array is wanted. "
        "Is there one sum too many, or only one of the entries?",
    ),
    "returned_table": (
        "函式回傳的是表格（{came}），要的是 NumPy 陣列；用 .to_numpy() 轉換。",
        "Your function returned a table ({came}); a NumPy array is wanted, so use .to_numpy().",
    ),
    "returned_masked_array": (
        "函式回傳的是 NumPy 的遮罩陣列；用 .filled(0) 填好看不到的格，再回傳一般陣列。",
        "Your function returned a masked array; fill the hidden cells with .filled(0) and return "
        "a plain array.",
    ),
    "returned_matrix": (
        "函式回傳的是 np.matrix，它的乘法規則不同；改用 np.array。",
        "Your function returned an np.matrix, which multiplies in its own way; use np.array.",
    ),
    "returned_objects": (
        "陣列裡裝的是 Python 物件（dtype object），不是數；看看是不是各列長短不一，或混進了 None。",
        "The array holds Python objects (dtype object), not numbers; see whether rows differ in "
        "length or a None slipped in.",
    ),
    "returned_other": (
        "函式回傳的是 {came}，要的是 NumPy 陣列。",
        "Your function returned {came}; a NumPy array is wanted.",
    ),
    "returned_whole": (
        "結果是整數（dtype {dtype}），小數都被截掉了；建立陣列時用浮點數。",
        "The result holds whole numbers (dtype {dtype}), so fractions are cut off; "
        "make the array with floats.",
    ),
    "returned_booleans": (
        "結果是布林值（dtype {dtype}），這裡要的是數。",
        "The result holds Booleans (dtype {dtype}); numbers are wanted here.",
    ),
    "returned_other_numbers": (
        "結果的資料型別是 {dtype}，這裡要的是浮點數。",
        "The result has the data type {dtype}; floats are wanted here.",
    ),
    "returned_additive": (
        "這是要加到分數上的遮罩（0 與 −∞，dtype {dtype}），這裡要的是布林遮罩：True ＝可以看。",
        "This is a mask to be added to scores (0 and −∞, dtype {dtype}); a Boolean mask is wanted, "
        "True = may attend.",
    ),
    "returned_not_boolean": (
        "遮罩要用布林值（True ＝可以看），現在的資料型別是 {dtype}。",
        "The mask must hold Booleans (True = may attend); its data type is {dtype}.",
    ),
    "wrong_shape": (
        "形狀不對：應該是 {wanted}，現在是 {came}。",
        "The shape is wrong: it should be {wanted}, and it is {came}.",
    ),
    "shape_transposed": (
        "形狀轉置了：應該是 {wanted}，現在是 {came}。",
        "The shape is transposed: it should be {wanted}, and it is {came}.",
    ),
    # -- numbers that are not right --------------------------------------------------------------
    "values": (
        "形狀和型別都對，數值還不對：{of} 組輸入裡有 {count} 組不符；第一組不符的，{why}。",
        "Shape and type are right, the numbers are not yet, for {count} of {of} inputs; in the "
        "first of these, {why}.",
    ),
    "why_nan": (
        "有 {count} 格是 NaN，第一格在 {where}",
        "cells that are NaN: {count}, the first at {where}",
    ),
    "why_infinite": (
        "有 {count} 格是無限大，第一格在 {where}",
        "cells that are infinite: {count}, the first at {where}",
    ),
    "why_boolean": (
        "{of} 格裡有 {count} 格相反，第一格在 {where}",
        "cells the wrong way round: {count} of {of}, the first at {where}",
    ),
    "why_number": (
        "{of} 格裡有 {count} 格不對，第一格在 {where}，{too}",
        "wrong cells: {count} of {of}, the first at {where}, which is {too}",
    ),
    "why_raised": (
        "函式出錯了：{error}（{text}）",
        "your function raised an error: {error} ({text})",
    ),
    "too_large": ("太大了", "too large"),
    "too_small": ("太小了", "too small"),
    "ignores_input": (
        "不管輸入是什麼，結果都一樣；看看函式裡用的是不是傳進來的參數，而不是外面的變數。",
        "The result is the same whatever comes in; does the function use its parameters, "
        "or variables from outside?",
    ),
    "look_negative": (
        "從結果看得出權重裡有負數；softmax 之後不該有負的權重。",
        "The result shows weights below 0; softmax gives none.",
    ),
    "look_columns": (
        "總和是 1 的是每一行（column），不是每一列（row）：你沿著查詢做了正規化，該沿著鍵。",
        "The columns sum to 1, not the rows: you normalised over queries instead of keys.",
    ),
    "look_hidden": (
        "有看不到的鍵（遮罩是 False）得到了權重；檢查遮罩套在哪裡、有沒有讀反。",
        "Keys that the mask hides (False) get weight; check where the mask is applied, and its "
        "sense.",
    ),
    "look_allowed": (
        "有看得到的鍵（遮罩是 True）沒有得到權重；檢查遮罩有沒有多遮。",
        "Keys that may be seen (True) get no weight; check whether the mask hides too much.",
    ),
    "look_row_sums": (
        "第 {row} 列的權重總和是 {sum}，不是 1；檢查正規化。",
        "The weights of row {row} sum to {sum}, not 1; check how they are normalised.",
    ),
    # -- right but for one thing -----------------------------------------------------------------
    "stage_large": (
        "一般的分數都對，分數很大（上千）時就不對了：{why}。",
        "Right for ordinary scores, but not for large ones (in the thousands): {why}.",
    ),
    "stage_single": (
        "一般的大小都對，只差有一軸長度是 1 的時候：{why}。",
        "Right for larger sizes, but not where an axis has length 1: {why}.",
    ),
    "stage_again": (
        "一開始都對，換成同樣大小的另一組數就不對了，像是留著之前的結果：{why}。",
        "Right at first, but not for other numbers of the same size, as if it kept an earlier "
        "result: {why}.",
    ),
    "stage_empty": (
        "其他都對，只差沒有任何鍵可看的列（輸出應該是 0）：{why}。",
        "Right except for rows with no allowed key, whose output must be 0: {why}.",
    ),
    "stage_below": (
        "其他都對，只差分數比 −1e9 還低的時候：{why}。",
        "Right except for scores below −1e9: {why}.",
    ),
    "stage_whole": (
        "浮點數的輸入都對，輸入是整數時就不對了：{why}。",
        "Right for floats, but not when whole numbers come in: {why}.",
    ),
    "stage_certain": (
        "其他都對，只差權重已經是 0 和 1 的列（梯度應該全是 0）：{why}。",
        "Right except for a row whose weights are 0 and 1, where all gradients must be 0: {why}.",
    ),
    "stage_rectangle": (
        '正方形的遮罩都對，只差 T_q ≠ T_k 的 "causal"：{why}。',
        'Right for square masks, but not for "causal" with T_q ≠ T_k: {why}.',
    ),
    "stage_batch": (
        "單獨一組都對，前面多了批次或頭的軸就不對了：{why}。",
        "Right for a single head, but not with leading axes for batch or heads: {why}.",
    ),
    # -- numbers and choices ---------------------------------------------------------------------
    "number_boolean": (
        "這裡要填數字，收到的是 True 或 False。",
        "A number is wanted here; True or False came.",
    ),
    "number_in_quotes": (
        "數字不用加引號；收到的是文字「{came}」。",
        "Write the number without quotes; the text “{came}” came.",
    ),
    "number_not_one": (
        "這裡要填一個數，收到的是 {came}。",
        "One number is wanted here; {came} came.",
    ),
    "number_other": (
        "這裡要填一個實數，收到的是 {came}。",
        "A real number is wanted here; {came} came.",
    ),
    "number_not_finite": (
        "這裡要填有限的數，收到的是 NaN 或無限大。",
        "A finite number is wanted here; NaN or infinity came.",
    ),
    "number_wrong_at": (
        "「{key}」的數字還不對，再算一次。",
        "The number for {key} is not right yet; work it out again.",
    ),
    "number_too_large": ("這個數太大了，再想想。", "This number is too large; think again."),
    "number_too_small": ("這個數太小了，再想想。", "This number is too small; think again."),
    "table_wanted": (
        "請保留大括號，一個名稱填一個答案（{keys}）；收到的是 {came}。",
        "Keep the braces, with an answer for each name ({keys}); {came} came.",
    ),
    "table_unknown": (
        "沒有「{key}」這個名稱；名稱只有 {keys}。",
        "There is no name “{key}” here; the names are {keys}.",
    ),
    "choice_text": (
        "請填遮罩的名字，要加引號（{choices}）；收到的是 {came}。",
        "Write the name of a mask in quotes ({choices}); {came} came.",
    ),
    "choice_unknown": (
        "沒有「{came}」這種遮罩；可選的有 {choices}。",
        "There is no mask “{came}”; choose from {choices}.",
    ),
    "n_heads": ("{n} 個頭", "n_head = {n}"),
    # -- probes ----------------------------------------------------------------------------------
    "probe_not_boolean": (
        "探測函式要回傳 True 或 False，收到的是 {came}。",
        "The probe must return True or False; {came} came.",
    ),
    "probe_reversed": (
        "判斷正好全部相反：注意力正確時該回傳 True。",
        "Every answer is exactly the wrong way round: return True where the attention is right.",
    ),
    "probe_always": (
        "不管給什麼，你的探測都回傳 {answer}；要看 attend 的輸出來判斷。",
        "Your probe returns {answer} whatever comes; judge by what attend returns.",
    ),
    "probe_always_false": (
        "不管給什麼，你的探測都回傳 False，連看不到未來的也一樣；看看是不是連換掉的那一列也拿來比，"
        "或是改之前忘了複製。",
        "Your probe returns False whatever comes, even where nothing sees the future; does it "
        "compare the changed row itself, or change the arrays without a copy?",
    ),
    "probe_accuses": (
        "你的探測把一種看不到未來的注意力判成了偷看：{which}。",
        "Your probe accuses an attention that does not see the future: {which}.",
    ),
    "probe_misses": (
        "你的探測漏掉了一種會偷看未來的注意力：{which}。",
        "Your probe misses an attention that sees the future: {which}.",
    ),
    "causal_causal": ("一般的因果遮罩", "the plain causal mask"),
    "causal_row_by_row": ("一列一列算，像生成時那樣", "row by row, as in generation"),
    "causal_window": ("因果的滑動視窗", "a causal sliding window"),
    "causal_itself": ("每個位置只看自己", "each position sees only itself"),
    "causal_renormalised": ("softmax 之後才遮罩、再正規化", "masked after softmax, renormalised"),
    "causal_first_key": ("大家只看第一個位置", "all see only the first position"),
    "leak_no_mask": ("完全沒有遮罩", "no mask at all"),
    "leak_reversed": ("三角形反了，看的是後面", "the triangle reversed, so that it looks ahead"),
    "leak_next_one": ("多看了下一個位置", "one position too far"),
    "leak_last_one": (
        "只有第一列看得到最後一個位置；每個位置都要換換看",
        "only row 0 sees the last position; change every position in turn",
    ),
    "leak_first_one": (
        "只有第一列看得到下一個位置；每個位置都要換換看",
        "only row 0 sees the next position; change every position in turn",
    ),
    "leak_denominator": (
        "遮罩在 softmax 之後，未來從分母漏進來",
        "the mask comes after softmax, and the future leaks in by the denominator",
    ),
    "leak_values": (
        "V 先減去了所有位置的平均；V 也要換換看",
        "V had the mean of all positions taken away; change V too",
    ),
    "leak_keys": (
        "K 先除以了所有位置的標準差；K 也要換換看",
        "K was divided by the spread over all positions; change K too",
    ),
    "leak_queries": (
        "用了下一個位置的查詢；Q 也要換換看",
        "it asks with the query of the next position; change Q too",
    ),
    "catch_accused": (
        "抓到 {count} 個（共 {of} 個），可是冤枉了 {accused} 個正確的，例如這一種：{which}。",
        "Caught {count} of {of}, but right ones were accused: {accused}, such as this: {which}.",
    ),
    "catch_few": (
        "抓到 {count} 個（共 {of} 個），沒有冤枉任何一個。抓到 {enough} 個就通過；還在逃的，"
        "例如這一種：{which}。",
        "Caught {count} of {of} and accused no right one; {enough} are enough. Still at large: "
        "{which}.",
    ),
    "catch_enough": (
        "抓到 {count} 個（共 {of} 個），沒有冤枉任何一個；還想抓的話，在逃的例如這一種：{which}。",
        "Caught {count} of {of} and accused no right one; if you want more, still at large: "
        "{which}.",
    ),
    "catch_all": (
        "{of} 個全部抓到，沒有冤枉任何一個。",
        "Caught all {of} and accused no right one.",
    ),
    # -- hints and solutions ---------------------------------------------------------------------
    "hint_of": ("提示 {number}／{count}：{hint}", "Hint {number} of {count}: {hint}"),
    "hint_number": (
        "提示的號碼是 1 到 {count} 的整數。",
        "Hints have whole numbers from 1 to {count}.",
    ),
    "solution_of": (
        "「{title}」的一種寫法：",
        "One way to write “{title}”:",
    ),
    "solution_not_yet": (
        '先自己試一次，執行檢查以後再看解答；卡住了可以用 al.hint("{name}")。',
        'Try it yourself and run the check first; if you are stuck, use al.hint("{name}").',
    ),
    "solution_none": (
        "「{title}」沒有程式碼的解答；最後一個提示就是做法。",
        "“{title}” has no code as a solution; the last hint says how it is done.",
    ),
    "no_such_exercise": (
        "沒有「{name}」這個練習{near}。",
        "There is no exercise “{name}”{near}.",
    ),
    "perhaps": ("；要找的可能是 {name}", "; perhaps you mean {name}"),
}
