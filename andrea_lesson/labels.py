"""The words in figures, panels and checks, in Traditional Chinese and in English.

Code holds keys, this file holds words: ``label("queries")`` gives the words in the language
set by :func:`set_language`.  A word with places to fill is filled by name:
``label("row_of", i=3)``.  `data/glossary.csv` rules over the terms.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LANGUAGES = ("zh-Hant", "en")
_language = "zh-Hant"

# key: (繁體中文, English)
LABELS: dict[str, tuple[str, str]] = {
    # -- lines and tables in the notebooks -----------------------------------------------------
    "not_answered": ("（還沒寫）", "(not answered yet)"),
    "yes": ("是", "yes"),
    "no": ("否", "no"),
    "guess": ("你的答案", "your answer"),
    "measured": ("量到的", "measured"),
    "predicted": ("理論值", "predicted"),
    "agrees": ("與套件的結果相同", "agrees with the package"),
    "right": ("答對了", "right"),
    "model": ("模型", "model"),
    "remainder": ("餘數", "remainder"),
    "row_sums": ("每一列的總和", "sum of each row"),
    "weight": ("權重", "weight"),
    "dtype": ("資料型別", "data type"),
    "shape": ("形狀", "shape"),
    "step": ("步驟", "step"),
    "vocabulary": ("詞彙表大小", "vocabulary size"),
    "random": ("亂數", "random"),
    # -- figures -----------------------------------------------------------------------------
    "scores": ("分數", "scores"),
    "scaled_scores": ("縮放後的分數", "scaled scores"),
    "masked_scores": ("遮罩後的分數", "masked scores"),
    "weights": ("注意力權重", "attention weights"),
    "output": ("輸出", "output"),
    "mask": ("遮罩", "mask"),
    "rows_queries": ("列＝查詢 i", "row = query i"),
    "columns_keys": ("行＝鍵 j", "column = key j"),
    "columns_values": ("行＝值的分量", "column = value component"),
    "matrix_rows": ("列", "row"),
    "matrix_columns": ("行", "column"),
    "may_attend": ("可以看（True）", "may attend (True)"),
    "may_not_attend": ("看不到（False）", "may not attend (False)"),
    "hidden_cells": ("看不到（遮罩）", "hidden by the mask"),
    "nan_cells": ("NaN（不是數）", "NaN (not a number)"),
    "plus_infinity_cells": ("+∞（正無限大）", "+∞ (plus infinity)"),
    "minus_infinity_cells": ("−∞（負無限大）", "−∞ (minus infinity)"),
    "no_cells": ("沒有任何格", "no cells"),
    "relative_weights": ("權重 × 看得到的鍵數（1＝均勻）", "multiple of the uniform weight"),
    "scores_formula": ("分數\nQKᵀ", "scores\nQKᵀ"),
    "scaled_formula": ("縮放後的分數\n分數 × {scale}", "scaled scores\nscores × {scale}"),
    "masked_formula": ("遮罩後的分數\n看不到的格＝−∞", "masked scores\nhidden = −∞"),
    "weights_formula": ("注意力權重\n逐列 softmax", "attention weights\nsoftmax of each row"),
    "output_formula": ("輸出\n權重 × V", "output\nweights × V"),
    "chart_row_weights": ("一列的注意力權重", "attention weights of one row"),
    "chart_row_scores": ("一列的分數", "scores of one row"),
    "chart_histogram": ("分數的直方圖", "histogram of scores"),
    "chart_histogram_values": ("分數", "score"),
    "chart_measured_std": ("實測：標準差 {std}", "measured: standard deviation {std}"),
    "chart_predicted_std": ("常態分布：標準差 {std}", "normal curve: standard deviation {std}"),
    "chart_measured": ("實測", "measured"),
    "chart_theory_sqrt": ("理論：$\\sqrt{d_k}$", "theory: $\\sqrt{d_k}$"),
    "chart_theory_inverse_sqrt": ("理論：$1/\\sqrt{d_k}$", "theory: $1/\\sqrt{d_k}$"),
    "chart_theory_sigmas": (
        "理論：$\\sigma_q\\, \\sigma_k \\sqrt{d_k}$",
        "theory: $\\sigma_q\\, \\sigma_k \\sqrt{d_k}$",
    ),
    "chart_band": ("{draws} 次抽樣中間的 95%", "middle 95% of {draws} draws"),
    "chart_score_std": ("分數的標準差", "standard deviation of scores"),
    "chart_growth_title": (
        "分數隨 $d_k$ 散開（隨機向量，每點 {pairs} 對）",
        "Scores spread with $d_k$ (random vectors, {pairs} pairs a point)",
    ),
    "chart_growth_title_unit": (
        "單位向量的分數隨 $d_k$ 縮小（隨機向量，每點 {pairs} 對）",
        "Scores of unit vectors shrink with $d_k$ (random vectors, {pairs} pairs a point)",
    ),
    "chart_key_width": ("每頭維度 $d_k$", "width of a head, $d_k$"),
    "chart_effective_keys": ("有效鍵數（中位數）", "effective keys (median)"),
    "chart_effective_title": (
        "一列分散到幾個鍵？（隨機的 Q 與 K，{T}）",
        "Over how many keys does a row spread? (random Q and K, {T})",
    ),
    "chart_raw_scores": ("未縮放", "raw"),
    "chart_scaled": ("除以 $\\sqrt{d_k}$", "divided by $\\sqrt{d_k}$"),
    "chart_theory_keys": ("理論：$T/\\sqrt{e}$", "theory: $T/\\sqrt{e}$"),
    "chart_freezing_at": ("凍結：$2\\,\\ln T$", "freezing: $2\\,\\ln T$"),
    "chart_match_weight": ("相符的鍵得到的權重", "weight of the matching key"),
    "chart_match_title": (
        "{T} 個鍵中，與查詢相同的那一個（其餘隨機）",
        "One key of {T} equals the query (the others are random)",
    ),
    "chart_match_formula": (
        "公式：$1/(1+(T-1)\\,e^{1/2-\\sqrt{d_k}})$",
        "formula: $1/(1+(T-1)\\,e^{1/2-\\sqrt{d_k}})$",
    ),
    "plot_full": ("全可見遮罩", "full mask"),
    "plot_causal": ("因果遮罩", "causal mask"),
    "plot_sliding-window": (
        "滑動視窗遮罩（window＝{window}）",
        "sliding-window mask, window {window}",
    ),
    "plot_prefix": ("前綴遮罩（prefix＝{prefix}）", "prefix mask, prefix {prefix}"),
    "plot_padding": ("填補遮罩（長度 {lengths}）", "padding mask, length {lengths}"),
    "plot_documents": ("文件遮罩（長度 {lengths}）", "document mask, lengths {lengths}"),
    "plot_random": (
        "隨機的 Q、K、V：$T$＝{T}，$d_k$＝{d_k}，亂數種子 {seed}",
        "random Q, K, V: $T$ = {T}, $d_k$ = {d_k}, seed {seed}",
    ),
    "plot_random_unscaled": (
        "隨機的 Q、K、V：$T$＝{T}，$d_k$＝{d_k}，亂數種子 {seed}，未縮放",
        "random Q, K, V: $T$ = {T}, $d_k$ = {d_k}, seed {seed}, not scaled",
    ),
    "plot_written": ("已寫入 {path}", "Written: {path}"),
    "plot_no_output": (
        "請用 -o 指定要寫入的檔案，例如 -o mask.svg。",
        "Say with -o which file to write, such as -o mask.svg.",
    ),
    "plot_one_of": (
        "{option} 必須是 {choices} 其中之一；收到的是「{value}」。",
        "{option} must be one of {choices}; got {value!r}.",
    ),
    "plot_whole": (
        "{option} 必須是 {low} 到 {high} 的整數；收到的是「{value}」。",
        "{option} must be a whole number from {low} to {high}; got {value!r}.",
    ),
    "plot_needs": ("遮罩 {kind} 需要 {option}。", "The mask {kind} needs {option}."),
    "plot_not_used": (
        "{option} 只用於 {wanted}；收到的是 {kind}。",
        "{option} belongs to {wanted}; got {kind}.",
    ),
    "plot_sum": (
        "--lengths 的總和必須是 T＝{T}；收到的總和是 {total}。",
        "--lengths must add up to T = {T}; got {total}.",
    ),
    "plot_suffix": (
        "檔名必須以 {formats} 結尾；收到的是「{name}」。",
        "The file must end in {formats}; got {name!r}.",
    ),
    "plot_no_folder": ("沒有「{folder}」這個資料夾。", "There is no folder {folder}."),
    "plot_cannot_write": ("無法寫入 {path}：{reason}。", "Cannot write {path}: {reason}."),
    "no_chinese_face": (
        "找不到繁體中文字型，圖中文字改用英文；安裝 noto-cjk-sans-otc 套件即可顯示中文。",
        "No Traditional Chinese font was found, so figures speak English; "
        "install the package noto-cjk-sans-otc to see Chinese.",
    ),
    # -- panels ------------------------------------------------------------------------------
    "control_source": ("資料", "vectors"),
    "control_T": ("T（位置數）", "T (positions)"),
    "control_d_k": ("d_k（鍵的維度）", "d_k (key width)"),
    "control_mask": ("遮罩", "mask"),
    "control_window": ("視窗", "window"),
    "control_prefix": ("前綴長度", "prefix"),
    "control_length": ("不含填補的長度", "real length"),
    "control_boundary": ("第二份文件起點", "doc 2 from"),
    "control_scaled": ("除以 √d_k", "divide by √d_k"),
    "control_same_colours": ("三種分數共用色階", "same colours"),
    "control_seed": ("亂數種子", "random seed"),
    "control_value": ("遮罩值", "mask value"),
    "control_precision": ("精度", "precision"),
    "control_spread": ("分數的標準差", "std of scores"),
    "control_row": ("列（row）i", "row i"),
    "control_step": ("步 t", "step t"),
    "control_temperature": ("溫度 τ", "temperature τ"),
    "control_divisor": ("分數除以", "divide by"),
    "control_components": ("隨機向量", "random vectors"),
    "source_random": ("隨機向量", "Random vectors"),
    "source_running-example": ("例句的六個詞元", "Running example"),
    "kind_full": ("全可見", "full"),
    "kind_causal": ("因果", "causal"),
    "kind_sliding-window": ("滑動視窗", "sliding-window"),
    "kind_prefix": ("前綴", "prefix"),
    "kind_padding": ("填補", "padding"),
    "kind_documents": ("文件", "document"),
    "divisor_none": ("1（不縮放）", "1 (no scaling)"),
    "divisor_sqrt_d_k": ("√d_k", "√d_k"),
    "divisor_d_k": ("d_k", "d_k"),
    "divisor_sqrt_d_model": ("√d_model（常見的錯）", "√d_model (mistaken)"),
    "components_unit-variance": ("分量的變異數為 1", "unit variance"),
    "components_unit-vectors": ("單位向量", "unit vectors"),
    "components_any": ("自訂分量的標準差", "any spread σ"),
    "run_this_cell": (
        "靜態圖：執行這個儲存格，就能拉動滑桿",
        "Still picture: run this cell to move the sliders",
    ),
    "next_step": ("下一步", "next step"),
    "bad_whole": (
        "「{name}」必須是整數，現在是 {value}。",
        "“{name}” must be a whole number; it is {value}.",
    ),
    "bad_range": (
        "「{name}」必須介於 {low} 與 {high} 之間，現在是 {value}。",
        "“{name}” must lie between {low} and {high}; it is {value}.",
    ),
    "bad_choice": (
        "「{name}」只能是 {options} 其中之一，現在是 {value}。",
        "“{name}” must be one of {options}; it is {value}.",
    ),
    "bad_temperature": (
        "「{name}」必須是大於 0 的有限數，現在是 {value}。",
        "“{name}” must be finite and greater than 0; it is {value}.",
    ),
    "panel_failed": (
        "面板畫不出這個設定（{problem}）。",
        "The panel cannot draw this setting ({problem}).",
    ),
    "panel_measured": ("實測", "measured"),
    "panel_normal": ("標準差 s 的常態曲線", "normal curve of std s"),
    "panel_std_title": ("分數的標準差\n目前 {std}", "std of scores\nhere {std}"),
    "panel_scores_title": ("{count} 個隨機分數\nd_k = {d_k}", "{count} random scores\nd_k = {d_k}"),
    "panel_scores_after": ("分數（除過之後）", "score after the division"),
    "panel_row_title": (
        "一列 softmax 權重\n最大 {largest}",
        "one row of weights\nlargest {largest}",
    ),
    "panel_largest_keys": ("{T} 個權重中最大的 {count} 個", "largest {count} of {T}"),
    "panel_row_weights": ("softmax 權重", "softmax weights"),
    "panel_uniform": ("均勻：1/T", "uniform: 1/T"),
    "panel_keys_title": (
        "有效鍵數（中位數）\n{T} 個鍵中的 {keys}",
        "effective keys, median\n{keys} of {T}",
    ),
    "panel_keys_rows": ("{rows} 列的中位數", "median of {rows} rows"),
    "panel_keys_freeze": ("凍結：d_k = 2 ln T", "freezing: d_k = 2 ln T"),
    "control_sigma": ("分量的標準差 σ", "std σ"),
    "scaling_theory": ("理論：{formula}", "theory: {formula}"),
    "scaling_keys_theory": ("理論（鍵很多時）：{formula}", "theory (many keys): {formula}"),
    "scaling_map_title": (
        "有效鍵數：各種 d_k 與 T\n暗＝1 個鍵，亮＝T 個鍵",
        "effective keys by d_k and T\ndark = 1 key, light = all T",
    ),
    "scaling_freeze": ("凍結：s² = 2 ln T", "freezing: s² = 2 ln T"),
    "scaling_none_frozen": ("沒有凍結", "nothing freezes"),
    "scaling_all_frozen": ("全部凍結", "all frozen"),
    "scaling_none_frozen_here": ("這個 T 沒有凍結", "no freezing at this T"),
    "scaling_all_frozen_here": ("這個 T 全部凍結", "all frozen at this T"),
    "scaling_match_title": (
        "完美的鍵（＝查詢）的權重\n目前 {weight}",
        "weight of a key = the query\nhere {weight}",
    ),
    "scaling_match_formula": ("理論（公式在下面）", "theory (formula below)"),
    "scaling_family": ("ANDREA 的 d_k：{widths}", "ANDREA's d_k: {widths}"),
    "scaling_caption": (
        "隨機向量：{rows} 個查詢、{keys} 個鍵（取前 T 個），亂數種子 {seed}",
        "random vectors: {rows} queries, {keys} keys, seed {seed}",
    ),
    "scaling_std_line": (
        "分數的標準差　s = {formula} = {numbers} = {predicted}（實測 {std}）",
        "std of scores: s = {formula} = {numbers} = {predicted} (measured {std})",
    ),
    "scaling_keys_line": (
        "有效鍵數　e^H = {keys}（圖中那一列），{rows} 列的中位數是 {median}；{theory}",
        "effective keys: e^H = {keys} (the row shown), median of {rows} rows {median}; {theory}",
    ),
    "scaling_frozen": (
        "s² = {variance} 大於 2 ln T = {limit}，凍結",
        "s² = {variance} exceeds 2 ln T = {limit}: frozen",
    ),
    "scaling_not_frozen": (
        "s² = {variance} 小於 2 ln T = {limit}，還沒凍結",
        "s² = {variance} is below 2 ln T = {limit}: not frozen yet",
    ),
    "scaling_match_line": (
        "完美的鍵　w = 1 ÷ (1 + (T − 1) e^({exponent})) = {weight}（實測 {measured}）{where}",
        "perfect match: w = 1 ÷ (1 + (T − 1) e^({exponent})) = {weight} "
        "(measured {measured}){where}",
    ),
    "scaling_match_where": ("，m = q · q ÷ 除數 = {score}", ", m = q · q ÷ divisor = {score}"),
    "scaling_match_untold": (
        "完美的鍵　w = {measured}（實測）；公式只適用於 s ≤ 1",
        "perfect match: w = {measured} (measured); the formula holds only for s ≤ 1",
    ),
    "warn_sqrt_d_model": (
        "除以 √d_model 是常見的錯：一個點積只加了 d_k = {d_k} 個乘積，該除的是 √d_k。",
        "Dividing by √d_model is a common mistake: a dot product adds only d_k = {d_k} products, "
        "so √d_k belongs there.",
    ),
    "warn_wider_than_d_model": (
        "除以 √d_model 是常見的錯，而且一個頭的 d_k = {d_k} 也不會超過 d_model = {d_model}；"
        "這裡只是照算。",
        "Dividing by √d_model is a common mistake; besides, no head has d_k = {d_k} in a model of "
        "d_model = {d_model}: the numbers are computed all the same.",
    ),
    "scaling_summary": (
        "隨機向量（{components}），d_k = {d_k}，分數除以 {divisor}：標準差是 {std}"
        "（理論值 {predicted}）；{T} 個鍵的一列權重，有效鍵數是 {keys}"
        "（{rows} 列的中位數是 {median}），最大的權重是 {largest}；與查詢相同的鍵，權重是 "
        "{match}。",
        "Random vectors ({components}), d_k = {d_k}, scores divided by {divisor}: their standard "
        "deviation is {std} (theory {predicted}); a row over {T} keys has an effective number of "
        "keys of {keys} (median of {rows} rows: {median}), and its largest weight is {largest}; "
        "a key equal to the query gets a weight of {match}.",
    ),
    "panel_scores_step": (
        "1. 查詢 {row} 的分數\n÷ 溫度 τ = {temperature}",
        "1. scores, query {row}\n÷ τ = {temperature}",
    ),
    "panel_shifted_step": ("2. 減去最大值\n不影響權重", "2. minus largest\nsame weights"),
    "panel_exponentials_step": ("3. 取指數\n不再有負數", "3. exponential\nnone negative"),
    "panel_weights_step": ("4. 除以總和\n得到權重", "4. over their sum\nthe weights"),
    "columns_components": ("行＝分量 c", "component c"),
    "panel_V_step": ("值 V\n每個鍵一列", "values V\na row for each key"),
    "panel_values_step": ("5. 權重 × 值\n框內是已加的項", "5. weight × value\nframed: added"),
    "panel_sum_step": ("目前的和\n{T} 項中的 {terms} 項", "sum so far\nterms: {terms} of {T}"),
    "panel_output_step": (
        "6. 輸出＝全部相加\n{T} 項中的 {terms} 項",
        "6. output = sum\nterms: {terms} of {T}",
    ),
    "panel_output": ("輸出", "output"),
    "panel_highest": ("最大 {value}", "largest {value}"),
    "panel_sum": ("總和 {value}", "sum {value}"),
    "rows_keys": ("鍵 j", "key j"),
    "panel_mask_title": ("遮罩\n塗滿＝可以看（True）", "mask\nfilled = may attend"),
    "panel_before_title": ("縮放後的分數\n遮罩之前", "scaled scores\nbefore the mask"),
    "panel_after_title": ("遮罩後的分數\n看不到的格＝{value}", "masked scores\nhidden = {value}"),
    "panel_hidden_value": ("看不到的格＝{value}", "hidden = {value}"),
    "panel_weights_title": ("注意力權重\n{precision}", "attention weights\n{precision}"),
    "panel_sums_title": ("列總和\n應該是 1", "row sum\nshould be 1"),
    "panel_sums_reading": ("列總和", "row sum"),
    "warn_both": ("{first}{then}", "{first} {then}"),
    "warn_nan_empty": (
        "查詢 {rows} 沒有可以看的鍵，0 ÷ 0 得到 NaN（本課的函式在這裡給 0）。",
        "No key is visible to query {rows}: 0 ÷ 0 gives NaN (the lesson's own function gives 0).",
    ),
    "warn_nan_overflow": (
        "查詢 {rows} 的分數以 {precision} 計算會溢位，權重變成 NaN。",
        "Scores of query {rows} overflow in {precision}, and its weights are NaN.",
    ),
    "warn_uniform": (
        "查詢 {rows} 沒有可以看的鍵，遮罩值 {value} 卻讓看不到的鍵各得到 {weight} 的權重，"
        "看起來像真的注意力。",
        "No key is visible to query {rows}, yet the mask value {value} gives hidden keys a weight "
        "of {weight} each, which looks like real attention.",
    ),
    "warn_leak": (
        "資訊洩漏：遮罩值 {value} 不夠低，查詢 {row} 把 {leak} 的權重給了看不到的鍵 {column}。",
        "Information leak: the mask value {value} is not low enough, and query {row} gives a "
        "weight of {leak} to the hidden key {column}.",
    ),
    "mask_summary": (
        "{mask}遮罩，T = {T}，每個查詢看得到的鍵數：{keys}；隨機分數的標準差設為 {spread}"
        "（這一批實際是 {measured}），看不到的格換成 {value}，以 {precision} 計算：{results}。",
        "{mask} mask, T = {T}, keys that a query sees: {keys}; random scores drawn with a "
        "standard deviation of {spread} (these: {measured}), hidden ones replaced by {value}, "
        "in {precision}: {results}.",
    ),
    "mask_formula_score": (
        "縮放後的分數[{i}, {j}] = {q} · {k} ÷ √{d_k} × {spread} = {product} ÷ {root} × {spread}"
        " = {score}",
        "scaled score[{i}, {j}] = {q} · {k} ÷ √{d_k} × {spread} = {product} ÷ {root} × {spread}"
        " = {score}",
    ),
    "mask_formula_visible": (
        "遮罩[{i}, {j}] = ({rule}) = True：可以看",
        "mask[{i}, {j}] = ({rule}) = True: may attend",
    ),
    "mask_formula_hidden": (
        "遮罩[{i}, {j}] = ({rule}) = False：看不到",
        "mask[{i}, {j}] = ({rule}) = False: may not attend",
    ),
    "mask_formula_kept": (
        "遮罩後的分數[{i}, {j}] = {score}（照舊，存成 {precision}）",
        "masked score[{i}, {j}] = {score} (kept, stored in {precision})",
    ),
    "mask_formula_replaced": (
        "遮罩後的分數[{i}, {j}] = {value}（換成遮罩值，存成 {precision}）",
        "masked score[{i}, {j}] = {value} (replaced by the mask value, stored in {precision})",
    ),
    "mask_formula_weight": (
        "權重[{i}, {j}] = exp({masked} − {highest}) ÷ {total} = {exponential} ÷ {total} = {weight}"
        "（不遮的話是 {bare}）",
        "weight[{i}, {j}] = exp({masked} − {highest}) ÷ {total} = {exponential} ÷ {total} = "
        "{weight} (without a mask: {bare})",
    ),
    "mask_formula_sum": (
        "第 {i} 列的總和 = 看得到的 {visible} + 看不到的 {hidden} = {total}",
        "sum of row {i} = visible keys {visible} + hidden keys {hidden} = {total}",
    ),
    "mask_rule_full": ("每一格都可以看", "every cell is open"),
    "mask_rule_prefix": ("{j} ≤ {i} 或 {j} < {prefix}", "{j} ≤ {i} or {j} < {prefix}"),
    "mask_rule_documents": (
        "{j} ≤ {i} 而且文件 {of_key} = 文件 {of_query}",
        "{j} ≤ {i} and document {of_key} = document {of_query}",
    ),
    "mask_range": ("{low} 到 {high}", "{low} to {high}"),
    "mask_broken": ("變成 NaN 的列數是 {rows}", "rows that are NaN: {rows}"),
    "mask_leak": ("看不到的鍵最多得到 {leak} 的權重", "hidden keys get weights of up to {leak}"),
    "mask_no_leak": ("看不到的鍵權重都是 0", "all hidden keys get weight 0"),
    "mask_sums": ("列總和是 {sums}", "row sums: {sums}"),
    "mask_and": ("，", ", "),
    "caption_random": ("隨機向量，亂數種子 {seed}", "random vectors, seed {seed}"),
    "caption_random_scores": ("隨機分數，亂數種子 {seed}", "random scores, seed {seed}"),
    "caption_example": (
        "例句的六個詞元，矩陣是人工設定的",
        "running example, matrices set by hand",
    ),
    "caption_leaks": ("；紅框：看不到卻有權重的鍵", "; red frame: hidden keys that get weight"),
    "softmax_summary": (
        "{source}，T = {T}，d_k = {d_k}，查詢 {row} 看得到 {visible} 個鍵，溫度 {temperature}："
        "分數除以溫度，最大值 {highest} 在鍵 {position}；減去它再取指數，總和是 {total}；"
        "最大的權重是 {largest}，有效鍵數是 {keys}。",
        "{source}, T = {T}, d_k = {d_k}, keys that query {row} sees: {visible}, temperature "
        "{temperature}: the largest score ÷ temperature, {highest}, is that of key {position}; "
        "after subtracting it the exponentials sum to {total}, the largest weight is {largest}, "
        "and the effective number of keys is {keys}.",
    ),
    "softmax_complete": (
        "所有 {T} 項的權重 × 值都加起來，就是輸出。",
        " Weight × value, summed over all keys ({T}), is the output.",
    ),
    "softmax_so_far": (
        "權重 × 值目前加了 {T} 項中的 {terms} 項，還不是輸出。",
        " Terms of weight × value added so far: {terms} of {T}; this is not the output yet.",
    ),
    "softmax_score": (
        "查詢 {query}、鍵 {key}：分數 ÷ 溫度 = {score} ÷ {temperature} = {divided}；"
        "減去最大值 {highest} 得 {shifted}",
        "query {query}, key {key}: score ÷ temperature = {score} ÷ {temperature} = {divided}; "
        "minus the largest, {highest}: {shifted}",
    ),
    "softmax_weight": (
        "權重[{i}, {j}] = exp({shifted}) ÷ 總和 = {exponential} ÷ {total} = {weight}",
        "weight[{i}, {j}] = exp({shifted}) ÷ sum = {exponential} ÷ {total} = {weight}",
    ),
    "softmax_weight_hidden": (
        "權重[{i}, {j}] = exp({shifted}) ÷ 總和 = {exponential} ÷ {total} = {weight}"
        "：查詢 {i} 看不到鍵 {j}（遮罩）",
        "weight[{i}, {j}] = exp({shifted}) ÷ sum = {exponential} ÷ {total} = {weight}: "
        "query {i} may not see key {j} (mask)",
    ),
    "softmax_sum": (
        "已加 {T} 項中的 {terms} 項，分量 {c}：Σ 權重 × 值 = {sum}",
        "terms added: {terms} of {T}, component {c}: Σ weight × value = {sum}",
    ),
    "named_place": ("{place}（{name}）", "{place} ({name})"),
    "control_terms": ("已加的項數", "terms added"),
    "reading_divided": ("分數 ÷ 溫度", "score ÷ temperature"),
    "reading_shifted": ("減去最大值", "minus the largest"),
    "reading_exponential": ("指數", "exponential"),
    "reading_value": ("值", "value"),
    "reading_weighted_value": ("權重 × 值", "weight × value"),
    "reading_sum_so_far": ("目前的和", "sum so far"),
    # -- attention_panel ------------------------------------------------------------------
    "query": ("查詢", "query"),
    "key": ("鍵", "key"),
    "value_component": ("值的分量", "value component"),
    "reading_score": ("分數", "score"),
    "reading_scaled": ("縮放後", "scaled"),
    "reading_weight": ("權重", "weight"),
    "reading_output": ("輸出", "output"),
    "control_head": ("頭 h", "head h"),
    "control_column": ("行（column）j", "column j"),
    "control_color": ("權重的上色", "colour weights"),
    "panel_setting": ("{name}：{value}", "{name}: {value}"),
    "control_view": ("view（顯示方式）", "view"),
    "control_pin": ("釘住目前設定來比較", "pin and compare"),
    "color_auto": ("自動", "automatic"),
    "color_absolute": ("0 到 1", "0 to 1"),
    "color_relative": ("均勻的倍數", "multiple of uniform"),
    "panel_pinned": ("釘住的設定", "pinned"),
    "caption_head": ("，頭 {head}（每個頭各自隨機）", ", head {head} (each head is random)"),
    "attention_score": (
        "分數[{i}, {j}] = {q} · {k} = {score}；除以 √{d_k} 得 {scaled}",
        "score[{i}, {j}] = {q} · {k} = {score}; divided by √{d_k}: {scaled}",
    ),
    "attention_score_raw": (
        "分數[{i}, {j}] = {q} · {k} = {score}；不縮放，仍是 {scaled}",
        "score[{i}, {j}] = {q} · {k} = {score}; not scaled: {scaled}",
    ),
    "attention_weight": (
        "權重[{i}, {j}] = exp({scaled} − {highest}) ÷ {total} = {weight}"
        "（減去該列最大值、取指數，再除以該列指數的總和）",
        "weight[{i}, {j}] = exp({scaled} − {highest}) ÷ {total} = {weight} "
        "(minus the row's largest, over the sum of the row's exponentials)",
    ),
    "attention_hidden": (
        "權重[{i}, {j}] = 0：查詢 {i} 看不到鍵 {j}（遮罩）",
        "weight[{i}, {j}] = 0: query {i} may not see key {j} (mask)",
    ),
    "attention_rounding": (
        "輸出[{i}] = Σ 權重 × v；以 {precision} 計算，與 float64 最多相差 {rounding}",
        "output[{i}] = Σ weight × v; in {precision} it is within {rounding} of float64",
    ),
    "attention_pinned": (
        "下面一排是釘住的設定：{source}，T = {T}，d_k = {d_k}，{mask}遮罩，乘以 {scale}，"
        "{precision}；縮放後的標準差是 {scaled}，查詢 {row} 的有效鍵數是 {keys}，"
        "最大的權重是 {largest}。",
        " Below, the pinned setting: {source}, T = {T}, d_k = {d_k}, {mask} mask, times {scale}, "
        "{precision}; scaled scores have a standard deviation of {scaled}, and query {row} an "
        "effective number of keys of {keys} and a largest weight of {largest}.",
    ),
    "attention_summary": (
        "{source}，T = {T}，d_k = {d_k}，{mask}遮罩：分數的標準差是 {scores}，乘以 {scale} "
        "之後是 {scaled}；查詢 {row} 看得到 {visible} 個鍵，有效鍵數是 {keys}，"
        "最大的權重 {largest} 落在鍵 {position}。",
        "{source}, T = {T}, d_k = {d_k}, {mask} mask: the scores have a standard deviation of "
        "{scores}, or {scaled} once multiplied by {scale}; keys that query {row} sees: {visible}, "
        "effective number of keys: {keys}; its largest weight, {largest}, goes to key {position}.",
    ),
    # -- qkv_panel ------------------------------------------------------------------------
    "control_component": ("q、k 的分量", "q, k component"),
    "control_d_model": ("d_model", "d_model"),
    "control_n_head": ("n_head（頭數）", "n_head (heads)"),
    "qkv_source_running-example": ("例句的一個頭", "example, one head"),
    "qkv_source_random": ("所有的頭（隨機矩陣）", "random, all heads"),
    "qkv_tokens": ("列＝詞元", "row = token"),
    "qkv_component_x": ("x 的分量", "component of x"),
    "qkv_component_q": ("查詢與鍵的分量", "component of query and key"),
    "qkv_column": ("投影的行", "column of the projection"),
    "qkv_x": ("{x}\n每個分量乘右邊對應的列", "{x}: each component\ntimes its row on the right"),
    "qkv_X": ("X：一列一個詞元\n{T} × {d_model}", "X, a token a row\n{T} × {d_model}"),
    "qkv_columns": (
        "{name}\n合併矩陣的行 {first}…{last}",
        "{name}\nfused: {first}…{last}",
    ),
    "qkv_head": (
        "{name} = X {W}\n頭 {head}：{d_k} 個分量",
        "{name} = X {W}\nhead {head}: width {d_k}",
    ),
    "qkv_or": (" 或 ", " or "),
    "bad_split": (
        "d_model = {d_model} 分不成 {n_head} 個一樣寬的頭：{d_model} ÷ {n_head} = {quotient} "
        "餘 {remainder}；能整除的頭數裡，最接近的是 {nearest}。",
        "d_model = {d_model} does not split into {n_head} heads: {d_model} ÷ {n_head} = "
        "{quotient}, remainder {remainder}; the nearest number of heads that divides it is "
        "{nearest}.",
    ),
    "qkv_model": ("（{model}）", " ({model})"),
    "qkv_fused": (
        "合併的矩陣 [W_Q W_K W_V] 是 {d_model} × {fused}；頭 {head} 用每一段的第 {head} × {d_k} 到 "
        "{next} × {d_k} − 1 行，也就是 {first}…{last}",
        "fused matrix [W_Q W_K W_V]: {d_model} × {fused}; in each third, head {head} uses columns "
        "{head} × {d_k} to {next} × {d_k} − 1, which are {first}…{last}",
    ),
    "qkv_all_of_x": (
        "{symbol} = {terms} + … = {value}（{d_model} 項：x 的分量全都用到）",
        "{symbol} = {terms} + … = {value} ({d_model} terms: all of x goes in)",
    ),
    "qkv_size": (
        "一個頭的 W_Q 是 {d_model} × {d_k}，切開的是 X W_Q 的結果，不是 x；"
        "{n_head} 個頭合起來還是 {d_model} × {d_model}",
        "W_Q of one head is {d_model} × {d_k}: what is cut is the result X W_Q, not x; "
        "{n_head} of them make {d_model} × {d_model}",
    ),
    "qkv_caption_random": (
        "X 與三個矩陣都是亂數，亂數種子 {seed}",
        "X and the three matrices are random, seed {seed}",
    ),
    "qkv_caption_sample": (
        "；{d_model} 列、{d_model} 行，這裡各均勻抽出 {shown} 個來畫",
        "; of {d_model} rows and {d_model} columns, {shown} each are drawn, evenly spread",
    ),
    "qkv_summary": (
        "例句，人工設定的矩陣：詞元 {token}，x 是 {x}，投影成查詢 {q}、鍵 {k}、值 {v}。",
        "Running example, matrices set by hand: x of token {token} is {x}; its query is {q}, "
        "its key {k}, its value {v}.",
    ),
    "qkv_summary_random": (
        "隨機矩陣，d_model = {d_model}，n_head = {n_head}，d_k = {d_k}：頭 {head} 的查詢、鍵、值"
        "來自 W_Q、W_K、W_V 各自的第 {first} 到 {last} 行；每一行都乘上整個 x。",
        "Random matrices, d_model = {d_model}, n_head = {n_head}, d_k = {d_k}: query, key and "
        "value of head {head} come from columns {first} to {last} of W_Q, W_K and W_V each; every "
        "column multiplies the whole of x.",
    ),
    # -- scores_panel ---------------------------------------------------------------------
    "scores_component": ("分量", "component"),
    "scores_pair": ("{q} 與 {k}\n各 {d_k} 個分量", "{q} and {k}\ncomponents: {d_k} each"),
    "scores_products": ("{q} ⊙ {k}\n對應的分量相乘", "{q} ⊙ {k}\nmatching components multiplied"),
    "scores_running": (
        "逐項累加，最後是分數 {score}\n÷ √{d_k} = {scaled}（縮放後的分數）",
        "running sum, ends at the score {score}\n÷ √{d_k} = {scaled}, the scaled score",
    ),
    "scores_so_far": ("累加到這裡", "sum so far"),
    "scores_terms": ("（共 {count} 項）", " ({count} terms)"),
    "scores_scaled": (
        "縮放後的分數 = 分數 ÷ √d_k = {score} ÷ √{d_k} = {score} ÷ {root} = {scaled}",
        "scaled score = score ÷ √d_k = {score} ÷ √{d_k} = {score} ÷ {root} = {scaled}",
    ),
    "place_of_token": ("{place}「{token}」", "{place} (“{token}”)"),
    "scores_summary": (
        "{source}，T = {T}，d_k = {d_k}：查詢 {query}、鍵 {key}，分數是 {score}，"
        "除以 √d_k = {root} 之後是 {scaled}；絕對值最大的一項是分量「{component}」的 {product}。",
        "{source}, T = {T}, d_k = {d_k}: query {query} and key {key} have a score of {score}, or "
        "{scaled} once divided by √d_k = {root}; the largest term in size is {product}, of "
        "component “{component}”.",
    ),
    # -- gradient_panel -------------------------------------------------------------------
    "control_target": ("目標鍵 j", "target key j"),
    "gradient_weights": ("權重\n目標：鍵 {target}", "weights\ntarget: key {target}"),
    "gradient_matrix": (
        "縮放後分數的梯度\ndS = A ⊙（dA − 平均）",
        "gradient of scaled scores\ndS = A ⊙ (dA − mean)",
    ),
    "gradient_reading": ("梯度", "gradient"),
    "gradient_pull": ("目標的拉力\np (1 − p)", "pull at the target\np (1 − p)"),
    "gradient_unseen": ("看不到目標", "cannot see the target"),
    "gradient_hidden": (
        "列 {row} 看不到鍵 {target}（遮罩），所以梯度是 0",
        "row {row} cannot see key {target} (mask), so its gradient is 0",
    ),
    "gradient_of_target": (
        "損失 −Σ A[i, {target}]：列 {row} 的 p = {p}，目標分數的梯度 = −p (1 − p) = {gradient}",
        "loss −Σ A[i, {target}]: row {row} has p = {p}, gradient of the target = "
        "−p (1 − p) = {gradient}",
    ),
    "gradient_scaled": (
        "分數的梯度 = {gradient} ÷ √d_k = {gradient} ÷ √{d_k} = {gradient} ÷ {root} = {dscore}",
        "gradient of the score = {gradient} ÷ √d_k = {gradient} ÷ √{d_k} = "
        "{gradient} ÷ {root} = {dscore}",
    ),
    "gradient_raw": (
        "分數的梯度 = {gradient} × 1 = {dscore}（沒有除以 √d_k = {root}）",
        "gradient of the score = {gradient} × 1 = {dscore} (not divided by √d_k = {root})",
    ),
    "gradient_with": ("除以 √d_k", "divided by √d_k"),
    "gradient_without": ("不除以 √d_k", "not divided by √d_k"),
    "gradient_summary": (
        "{source}，T = {T}，d_k = {d_k}，{scaling}：損失想把權重移到鍵 {target}；"
        "看得到它的查詢有 {seeing} 個，拉力大於 0.1/T = {limit} 的有 {pulled} 個，"
        "幾乎學不到東西的有 {idle} 個。",
        "{source}, T = {T}, d_k = {d_k}, {scaling}: the loss wants more weight on key {target}. "
        "Of {seeing} queries that see it, {pulled} feel a pull above 0.1/T = {limit}; {idle} learn "
        "next to nothing.",
    ),
    # -- generation_panel -----------------------------------------------------------------
    "generation_query": ("新的查詢\n{q}", "new query\n{q}"),
    "generation_cache": ("{which} 快取\n{kept} / {T} 列", "{which} cache\n{kept} / {T} rows"),
    "generation_weights": ("權重\n這一步算第 {t} 列", "weights\nthis step: row {t}"),
    "generation_output": ("輸出\nΣ 權重 × v", "output\nΣ weight × v"),
    "generation_training": ("訓練：一次算出全部\n因果遮罩", "training: all at once\ncausal mask"),
    "generation_not_needed": ("用不到", "not needed"),
    "generation_not_yet": ("還沒有", "not yet"),
    "generation_not_computed": ("沒有算", "not computed"),
    "generation_input_rows": ("列＝輸入 i", "row = input i"),
    "generation_target": ("目標", "target"),
    "generation_next": ("目標＝i＋1", "target = i + 1"),
    "generation_component": ("分量", "component"),
    "generation_components": ("行＝分量", "component"),
    "generation_inputs": (
        "輸入（位置 {places}）：{tokens}（給定的，即教師強制；不是模型猜的）",
        "inputs (position {places}): {tokens} (given: teacher forcing; not predicted)",
    ),
    "generation_targets": (
        "目標（位置 {places}）：{tokens}（{note}）",
        "targets (position {places}): {tokens} ({note})",
    ),
    "generation_shifted": ("同一串，錯開一格", "the same sequence, shifted by one"),
    "generation_ends": ("位置 {end} 沒有給定，所以不知道", "nothing is given for position {end}"),
    "generation_no_tokens": ("隨機向量", "random vectors"),
    "generation_weights_line": (
        "權重[{t}] = softmax({q} · [{keys}] ÷ √{d_k}) = [{weights}]",
        "weights[{t}] = softmax({q} · [{keys}] ÷ √{d_k}) = [{weights}]",
    ),
    "generation_output_line": (
        "輸出[{t}] = {terms} = [{output}]",
        "output[{t}] = {terms} = [{output}]",
    ),
    "generation_same": (
        "和訓練時一次算出的第 {t} 列相比，權重和輸出最多相差 {difference}",
        "compared with row {t} of the training pass, weights and output differ by at most "
        "{difference}",
    ),
    "generation_work": (
        "這一步的點積：有快取 {cached} 個；沒有快取，每一列都要重算，{n} × {after} ÷ 2 = "
        "{uncached} 個（累計：有快取 {cached_sum} 個，沒有快取 {uncached_sum} 個）",
        "dot products of this step: {cached} with the cache; without it every row again, "
        "{n} × {after} ÷ 2 = {uncached} (so far {cached_sum} against {uncached_sum})",
    ),
    "generation_token": ("「{token}」", "“{token}”"),
    "generation_place": ("位置 {i}", "position {i}"),
    "generation_nothing": ("未知的（沒有給定）", "unknown (none is given)"),
    "generation_summary": (
        "{source}，T = {T}，d_k = {d_k}，第 {t} 步：新的輸入是{newest}，目標是{target}；"
        "K 快取和 V 快取各有 {kept} 列；這一列和訓練時一次算出的同一列最多相差 {difference}；"
        "點積 {cached} 個，沒有快取要 {uncached} 個。",
        "{source}, T = {T}, d_k = {d_k}, step {t}: the new input is {newest}, the target "
        "{target}; rows in each of the K and V caches: {kept}; this row and that of a training "
        "pass differ by at most {difference}; dot products: {cached}, without a cache {uncached}.",
    ),
    # -- timing ----------------------------------------------------------------------------
    "machine_cpu": ("CPU，{threads} 個執行緒", "CPU, {threads} threads"),
    "machine_cpu_one": ("CPU，1 個執行緒", "CPU, 1 thread"),
    "timing_sentence": (
        "{name}：量 {repeats} 次，時間的中位數是 {median}，最短 {smallest}（{device}）。",
        "{name}: {repeats} runs, median time {median}, shortest {smallest} ({device}).",
    ),
    "timing_sentence_memory": (
        "{name}：量 {repeats} 次，時間的中位數是 {median}，最短 {smallest}（{device}）；"
        "執行時最多多用 {memory} 的記憶體。",
        "{name}: {repeats} runs, median time {median}, shortest {smallest} ({device}); "
        "memory in use grew by {memory} at most.",
    ),
    # -- cost_panel ------------------------------------------------------------------------
    "control_measure": ("在這台電腦上量量看", "measure it here"),
    "cost_measuring": ("正在量……", "measuring …"),
    "way_decoder": ("解碼一步", "decoder step"),
    "cost_memory_title": (
        "額外的記憶體\n線＝推算，點＝量到的，點線＝現在的 T",
        "extra memory\nlines: predicted, marks: measured, dotted: this T",
    ),
    "cost_time_title": (
        "時間\n線＝推算，點＝量到的，點線＝現在的 T",
        "time\nlines: predicted, marks: measured, dotted: this T",
    ),
    "cost_too_much": ("超過 {memory}", "beyond {memory}"),
    "cost_caption": (
        "推算＝次數 ÷ 這裡的速度（{device}；讀寫照主記憶體算，放得進快取的更快）"
        "＋ Python 走一趟的時間；量的時候用隨機向量",
        "predicted = counts ÷ speeds here ({device}; main memory, a cache is faster) + Python's "
        "own time; measured on random vectors",
    ),
    "cost_textbook_memory": (
        "課本寫法的記憶體　{matrices} 張表 × {n_head} 個頭 × {T}² × {wide} B + 遮罩和輸出"
        " = {bytes}{measured}",
        "textbook memory: {matrices} tables × {n_head} heads × {T}² × {wide} B + mask and output"
        " = {bytes}{measured}",
    ),
    "cost_textbook_memory_full": (
        "課本寫法的記憶體　{matrices} 張表 × {n_head} 個頭 × {T}² × {wide} B + 輸出"
        " = {bytes}{measured}",
        "textbook memory: {matrices} tables × {n_head} heads × {T}² × {wide} B + output"
        " = {bytes}{measured}",
    ),
    "cost_tiled_memory": (
        "分塊寫法的記憶體　每個執行緒一塊分數（{rows} × {columns}）和一個頭的 V，加上輸出"
        " = {bytes}{measured}",
        "tiled memory: a tile of scores ({rows} × {columns}) and V of a head for each thread, "
        "and the output = {bytes}{measured}",
    ),
    "cost_decoder_memory": (
        "解碼一步的記憶體　KV 快取 2 × {n_head} × {T} × {d_k} × {item} B = {cache}，"
        "一步另外用 {bytes}{measured}",
        "decoder memory: KV cache 2 × {n_head} × {T} × {d_k} × {item} B = {cache}, and a step "
        "takes {bytes} more{measured}",
    ),
    "cost_time_line": (
        "{way}的時間　{flops} ÷ {flop_rate} + {exponentials} ÷ {exp_rate} + {moved}"
        " + {call}{once} ≈ {seconds}{measured}",
        "{way}: {flops} ÷ {flop_rate} + {exponentials} ÷ {exp_rate} + {moved}"
        " + {call}{once} ≈ {seconds}{measured}",
    ),
    "cost_measured": ("（量到 {value}）", " (measured {value})"),
    "cost_refused_memory": ("（放不下，不量）", " (too large to measure)"),
    "cost_refused_time": ("（太久，不量）", " (too long to measure)"),
    "cost_fits_all": (
        "這台電腦有 {memory} 的記憶體：這個設定下，課本寫法到 T = {T} 都放得下",
        "this machine has {memory} of memory: at this setting the textbook way fits up to "
        "T = {T} at least",
    ),
    "cost_fits_up_to": (
        "這台電腦有 {memory} 的記憶體：這個設定下，課本寫法只放得下到 T = {T}",
        "this machine has {memory} of memory: at this setting the textbook way fits up to T = {T}",
    ),
    "cost_memory_unknown": (
        "查不到這台電腦有多少記憶體",
        "how much memory this machine has cannot be found out",
    ),
    "cost_and": ("；", "; "),
    "cost_way": (
        "{way} {bytes}、{seconds}",
        "{way} {bytes}, {seconds}",
    ),
    "cost_way_measured": ("{way} {seconds}", "{way} {seconds}"),
    "cost_nothing_measured": (
        "還沒有實際量過。",
        "Not measured yet.",
    ),
    "cost_measured_here": (
        "量到的時間（中位數）：{ways}。",
        "Median times measured: {ways}.",
    ),
    "cost_summary": (
        "T = {T}，d_k = {d_k}，{n_head} 個頭，{precision}，{mask}遮罩。推算的額外記憶體和時間："
        "{ways}。{measured}",
        "T = {T}, d_k = {d_k}, heads: {n_head}, {precision}, {mask} mask. Predicted extra memory "
        "and time: {ways}. {measured}",
    ),
    "cost_does_not_fit": (
        "課本寫法需要 {bytes} 的額外記憶體，這台電腦只有 {memory}，放不下。",
        "The textbook way needs {bytes} of extra memory; this machine has {memory}: it does not "
        "fit.",
    ),
    # -- tiles_panel -----------------------------------------------------------------------
    "control_tile": ("分塊的邊長", "tile size"),
    "tiles_scores": (
        "縮放、遮罩後的分數\n第 {step} 步，共 {count} 塊",
        "scaled, masked scores\nstep {step}, tiles: {count}",
    ),
    "tiles_skipped": ("跳過", "skipped"),
    "tiles_coming": ("還沒算", "still to come"),
    "tiles_max": ("最大值 m\n到目前為止", "maximum m\nso far"),
    "tiles_max_reading": ("目前的最大值", "maximum so far"),
    "tiles_sum": ("總和 l\n到目前為止", "sum l\nso far"),
    "tiles_sum_reading": ("目前的總和", "sum so far"),
    "tiles_rescale": ("舊的總和\n要乘上", "old sum\ntimes"),
    "tiles_rescale_reading": ("舊的總和要乘上", "factor of the old sum"),
    "tiles_output": ("查詢 {row} 的輸出\n到目前為止", "output of query {row}\nso far"),
    "tiles_output_reading": ("目前的輸出", "output so far"),
    "tiles_true_output": (
        "整張表算的輸出\n（{width} 個分量中的 {count} 個）",
        "output of the plain form\n(components: {count} of {width})",
    ),
    "tiles_true_reading": ("整張表算的輸出", "output of the plain form"),
    "tiles_window": ("視窗 {window}", "window {window}"),
    "tiles_documents": ("第二份文件從 {boundary} 開始", "document 2 from {boundary}"),
    "tiles_no_key": ("還沒算", "not yet"),
    "tiles_other_tile": ("不在這一塊", "not in this tile"),
    "tiles_now": (
        "第 {step} 步（共 {count} 塊）：計算查詢 {queries} × 鍵 {keys} 這一塊；"
        "到目前為止計算 {computed} 塊，跳過 {skipped} 塊",
        "step {step} (tiles in all: {count}) computes query {queries} × key {keys}; "
        "tiles so far: {computed} computed, {skipped} skipped",
    ),
    "tiles_now_skipped": (
        "第 {step} 步（共 {count} 塊）：跳過查詢 {queries} × 鍵 {keys} 這一塊，整塊都被遮住；"
        "到目前為止計算 {computed} 塊，跳過 {skipped} 塊",
        "step {step} (tiles in all: {count}) skips query {queries} × key {keys}, which is all "
        "hidden; tiles so far: {computed} computed, {skipped} skipped",
    ),
    "tiles_max_line": (
        "查詢 {row} 的新最大值　m = max（舊的 {before}，這一塊的 {tile}）= {after}",
        "query {row}, new maximum: m = max(old {before}, this tile {tile}) = {after}",
    ),
    "tiles_rescale_line": (
        "舊的總和要乘上　exp（舊 m − 新 m）= exp({before} − {after}) = {rescale}",
        "factor of the old sum: exp(old m − new m) = exp({before} − {after}) = {rescale}",
    ),
    "tiles_sum_line": (
        "新的總和　l = {before} × {rescale} + 這一塊的 Σ exp（分數 − m）= "
        "{before} × {rescale} + {added} = {after}",
        "new sum: l = {before} × {rescale} + Σ exp(score − m) of this tile = "
        "{before} × {rescale} + {added} = {after}",
    ),
    "tiles_row_done": (
        "查詢 {row} 的每一塊都做完了",
        "all tiles of query {row} are done",
    ),
    "tiles_row_later": ("還沒輪到查詢 {row}", "the turn of query {row} has not come yet"),
    "tiles_row_unseen": (
        "查詢 {row} 在這一塊裡沒有看得到的鍵，什麼都不變",
        "query {row} sees no key of this tile: nothing changes",
    ),
    "tiles_max_stays": ("最大值　m = {value}", "maximum: m = {value}"),
    "tiles_sum_stays": ("總和　l = {value}", "sum: l = {value}"),
    "tiles_difference": (
        "查詢 {row} 目前的輸出（已除以 l）和整張表算的最多相差 {difference}",
        "output of query {row} so far (divided by l) and that of the plain form differ by at most "
        "{difference}",
    ),
    "tiles_computes": ("計算", "computes"),
    "tiles_skips": ("跳過", "skips"),
    "tiles_summary": (
        "{source}，T = {T}，d_k = {d_k}，{mask}遮罩，分塊的邊長 {tile}：第 {step} 步"
        "（共 {count} 塊）{done}查詢 {queries} × 鍵 {keys} 這一塊；查詢 {row} 的最大值 m 是 {max}，"
        "總和 l 是 {sum}，輸出和整張表算的最多相差 {difference}。",
        "{source}, T = {T}, d_k = {d_k}, {mask} mask, tile size {tile}: step {step} (tiles in "
        "all: {count}) {done} query {queries} × key {keys}; query {row} has a maximum m of {max} "
        "and a sum l of {sum}, and its output differs from that of the plain form by at most "
        "{difference}.",
    ),
    # -- training_panel, race_panel --------------------------------------------------------
    "control_start_sigma": ("初始標準差 σ", "initial σ"),
    "control_eta": ("學習率 η", "learning rate η"),
    "control_optimiser": ("最佳化器", "optimizer"),
    "control_twin": ("不除的換成雙胞胎", "undivided twin"),
    "control_curve": ("曲線", "curves"),
    "control_train": ("現在比一場", "race now"),
    "optimiser_sgd": ("SGD", "SGD"),
    "optimiser_adam": ("Adam", "Adam"),
    "lookup_topics": (
        "天文 地理 歷史 音樂 繪畫 舞蹈 烹飪 園藝 建築 數學 物理 化學 生物 醫學 法律 經濟 "
        "哲學 宗教 教育 體育 旅行 攝影 電影 戲劇 詩歌 小說 童話 神話 語言 航海 氣象 昆蟲",
        "stars maps ruins music art dance food garden houses maths forces metals life health law "
        "money logic faith school sport travel photos film stage poetry novels tales myths words "
        "ships clouds bugs",
    ),
    "lookup_books": (
        "晨光 遠山 白鷺 秋雨 青石 古井 長橋 小徑 月夜 春雷 竹林 浪花 紙船 風箏 燈塔 木屋 "
        "銀河 麥田 松鼠 海鷗 螢火 梅花 雪地 鐘聲 石階 炊煙 蘆葦 老樹 金魚 雲影 沙丘 河岸",
        "Dawn Hill Owl Rain Rock Well Ford Path Moon Hail Fern Wave Boat Kite Lamp Hut Mars Corn "
        "Fox Gull Moth Plum Snow Bell Gate Fire Reed Oak Carp Mist Dune Pond",
    ),
    "lookup_book": ("《{name}》", "“{name}”"),
    "lookup_card": ("{topic}《{book}》", "{topic}/{book}"),
    "training_rows": ("列＝想找的主題", "row = asked"),
    "training_columns": ("行＝書架上的卡片", "column = card"),
    "training_topic": ("主題", "topic"),
    "training_feature": ("卡片上的主題或書名", "topic or book on a card"),
    "training_features": (
        "行＝卡片上的主題（左）、書名（右）",
        "column = topic (left) or book (right) on a card",
    ),
    "training_asked": ("想找", "asks for"),
    "training_card": ("卡片", "card"),
    "training_weights": ("注意力權重\n第 {step} 步", "attention weights\nstep {step}"),
    "training_match": ("W_Q W_Kᵀ ÷ √d_k\n第 {step} 步", "W_Q W_Kᵀ ÷ √d_k\nstep {step}"),
    "training_match_raw": ("W_Q W_Kᵀ（不除）\n第 {step} 步", "W_Q W_Kᵀ, not divided\nstep {step}"),
    "training_match_reading": ("配對的分數", "match"),
    "training_chart": (
        "沒看過的書架\n損失 {loss}，答對 {accuracy}",
        "shelves not seen before\nloss {loss}, right {accuracy}",
    ),
    "training_steps": ("步", "step"),
    "training_loss_curve": ("損失 ÷ ln {books}（亂猜＝1）", "loss ÷ ln {books}; guess: 1"),
    "training_accuracy": ("答對的比例", "share right"),
    "training_right_weight": ("正確卡片的權重", "weight, right card"),
    "training_caption": (
        "書架和起點都是亂數，種子 {seed}；{optimiser}，σ = {sigma}，η = {eta}；"
        "從第 {first} 步到第 {last} 步",
        "random shelves and start, seed {seed}; {optimiser}, σ = {sigma}, η = {eta}; "
        "steps {first} to {last}",
    ),
    "training_score": (
        "想找「{topic}」，卡片{card}：分數 =（對主題 {same} + 對書名 {book}）÷ √2 = {score}",
        "asking for {topic}, card {card}: score = (its topic {same} + its book {book}) ÷ √2"
        " = {score}",
    ),
    "training_weight": (
        "權重 = exp({score} − {highest}) ÷ Σ exp = {exponential} ÷ {total} = {weight}"
        "；最大的權重 {largest} 在卡片{card}",
        "weight = exp({score} − {highest}) ÷ Σ exp = {exponential} ÷ {total} = {weight}; "
        "largest weight: {largest}, on card {card}",
    ),
    "training_mean": (
        "損失 = −ln p 的平均 = {loss}（p：給對的書的機率；{questions} 個沒看過的問題；"
        "亂猜是 ln {books} = {uniform}）",
        "loss = mean of −ln p = {loss} (p of the right book; {questions} questions not seen "
        "before; a blind guess gives ln {books} = {uniform})",
    ),
    "training_overflow": (
        "數字已經溢位（NaN）：學習率 η = {eta} 太大了。",
        "The numbers have overflowed (NaN): the learning rate η = {eta} is too large.",
    ),
    "training_divided": ("除以 √d_k", "divided by √d_k"),
    "training_not_divided": ("不除以 √d_k", "not divided"),
    "training_summary": (
        "圖書館查書，d_k = {d_k}，分數{scaling}，{optimiser}，σ = {sigma}，η = {eta}："
        "學了 {step} 步，正確的卡片平均得到 {right} 的權重，損失 {loss}，沒看過的問題答對 "
        "{accuracy}；想找「{topic}」的那一列，正確的卡片得到 {weight}。",
        "library look-up, d_k = {d_k}, scores {scaling}, {optimiser}, σ = {sigma}, η = {eta}: "
        "after {step} steps the right card gets a weight of {right} on average, the loss is "
        "{loss}, and the share of new questions answered right is {accuracy}; in the row that "
        "asks for {topic}, the right card gets {weight}.",
    ),
    "race_accuracy": ("答對的比例", "share right"),
    "race_loss": ("損失", "loss"),
    "race_chart": (
        "{curve}\n線＝平均，帶＝{seeds} 個種子",
        "{curve}\nmean and range, {seeds} seeds",
    ),
    "race_not_yet": (
        "{curve}：收錄的結果\n按「{button}」才有曲線",
        "{curve}: shipped ends\npress “{button}” for curves",
    ),
    "race_scaled": ("除以 √d_k", "divided by √d_k"),
    "race_raw": ("不除", "not divided"),
    "race_twin": ("不除的雙胞胎", "undivided twin"),
    "race_side_of_scaled": ("除的", "divided"),
    "race_side_of_raw": ("不除的", "undivided"),
    "race_side_of_twin": ("雙胞胎", "twin"),
    "race_and": ("；", "; "),
    "race_map_scaled": (
        "最後答對的比例\n除以 √d_k",
        "final share right\ndivided by √d_k",
    ),
    "race_map_raw": ("最後答對的比例\n不除", "final share right\nnot divided"),
    "race_chaotic": ("混沌：換一台電腦就不同", "chaotic, not repeatable"),
    "race_unmapped": ("沒有收錄", "not shipped"),
    "race_rows": ("列＝d_k", "row = d_k"),
    "race_columns": ("行＝學習率 η", "column = η"),
    "race_rate": ("學習率 η", "learning rate η"),
    "race_caption": (
        "亂數的書架和起點，種子 {seeds}，{steps} 步；格子表：{optimiser}，σ = {sigma}，"
        "點一格就搬到那裡",
        "random shelves and starts, seeds {seeds}, {steps} steps; grids: {optimiser}, σ = {sigma};"
        " choose a cell to go there",
    ),
    "race_side_scaled": (
        "除以 √d_k　σ = {sigma}，η = {eta}：{end}",
        "divided by √d_k: σ = {sigma}, η = {eta}: {end}",
    ),
    "race_side_raw": (
        "不除　σ = {sigma}，η = {eta}：{end}",
        "not divided: σ = {sigma}, η = {eta}: {end}",
    ),
    "race_side_twin": (
        "不除的雙胞胎　σ = {sigma0} ÷ {unit} = {sigma}，η = {eta0} ÷ {step} = {eta}：{end}",
        "undivided twin: σ = {sigma0} ÷ {unit} = {sigma}, η = {eta0} ÷ {step} = {eta}: {end}",
    ),
    "race_end": (
        "最後答對 {accuracy}（各種子 {each}），損失 {loss}{origin}",
        "share right at the end {accuracy} (by seed {each}), loss {loss}{origin}",
    ),
    "race_end_shipped": ("（收錄的）", " (shipped)"),
    "race_end_unknown": ("還沒有結果", "no result yet"),
    "race_apart": (
        "兩邊的曲線（每個種子的損失和答對的比例）最多差 {difference}{twin}",
        "the curves of the two sides (loss and share right of each seed) differ by at most "
        "{difference}{twin}",
    ),
    "race_apart_twin": ("：只剩捨入", ": only rounding is left"),
    "race_apart_grown": (
        "：捨入的差在混沌的地方會長大",
        ": where training is chaotic, differences of rounding grow",
    ),
    "race_no_curves": (
        "這裡還沒有比過；按「{button}」就在這台電腦上訓練 {runs} 次",
        "no race has been run here; “{button}” trains {runs} heads on this machine",
    ),
    "race_agreement": (
        "和收錄的結果相比：{sides}",
        "compared with the shipped results: {sides}",
    ),
    "race_agrees": ("{side}相差 {difference}（相符）", "{side} {difference} apart (the same)"),
    "race_differs": ("{side}相差 {difference}（不符）", "{side} {difference} apart (not the same)"),
    "race_chaotic_side": (
        "{side}相差 {difference}（混沌的點，不必相符）",
        "{side} {difference} apart (chaotic, so it need not agree)",
    ),
    "race_not_shipped": ("{side}沒有收錄", "{side} not shipped"),
    "race_agreement_none": (
        "收錄的結果：{sides}",
        "shipped results: {sides}",
    ),
    "race_shipped_steady": ("{side}是穩定的點", "{side} is steady"),
    "race_shipped_chaotic": ("{side}是混沌的點", "{side} is chaotic"),
    "race_running": ("比賽中 {percent}%", "racing, {percent}%"),
    "race_interrupted": (
        "比賽中斷了，圖還是原來的；再按「{button}」會從頭比。",
        "The race was interrupted, and the picture is the former one; “{button}” begins anew.",
    ),
    "race_no_grid": (
        "讀不到收錄的格子表（{name}）；執行 {command} 可以重做。",
        "The shipped grid ({name}) cannot be read; {command} makes it again.",
    ),
    "race_outside": (
        "η = {eta} 不在 {optimiser} 的格子表上（{low} 到 {high}）；這個最佳化方法要的學習率"
        "在那個範圍裡。",
        "η = {eta} lies outside the grid of {optimiser} ({low} to {high}), where the rates are "
        "that suit it.",
    ),
    "race_ahead_scaled": ("除的領先", "the divided one is ahead"),
    "race_ahead_raw": ("不除的領先", "the undivided one is ahead"),
    "race_ahead_level": ("平手", "it is a draw"),
    "race_ahead_unknown": ("還不知道誰贏", "who wins is not known yet"),
    "race_summary": (
        "賽跑，d_k = {d_k}，{optimiser}，σ = {sigma}，η = {eta}，{steps} 步、{seeds} 個種子："
        "{scaled_name}最後答對 {scaled}，{raw_name} {raw}，{ahead}；{curves}。",
        "a race, d_k = {d_k}, {optimiser}, σ = {sigma}, η = {eta}, {steps} steps, seeds: {seeds}; "
        "final share right: {scaled_name} {scaled}, {raw_name} {raw}: {ahead}; {curves}.",
    ),
    "race_summary_unraced": ("曲線還沒有跑", "no curves yet"),
    "race_summary_apart": (
        "兩邊的曲線最多差 {difference}",
        "their curves differ by at most {difference}",
    ),
    # -- leakage_panel ---------------------------------------------------------------------
    "control_variant": ("遮罩", "mask"),
    "control_text": ("短文", "text"),
    "leakage_causal": ("因果遮罩（正確）", "causal (right)"),
    "leakage_none": ("沒有遮罩", "no mask"),
    "leakage_reversed": ("極性寫反", "wrong polarity"),
    "leakage_after_softmax": ("softmax 之後才遮", "after softmax"),
    "leakage_diagonal_hidden": ("連自己也遮住", "diagonal hidden"),
    "leakage_text_zh-Hant": ("中文", "Chinese"),
    "leakage_text_en": ("英文", "English"),
    "leakage_chart": (
        "損失\n訓練 {training}，老實考 {honest}",
        "loss\ntraining {training}, honest test {honest}",
    ),
    "leakage_training_line": ("訓練", "training"),
    "leakage_honest_line": ("老實考", "honest test"),
    "leakage_right_line": ("正確的遮罩老實考", "right mask, honest test"),
    "leakage_guesses": ("盲猜（上）、只看字頻（下）", "blind guess (upper), by frequency (lower)"),
    "leakage_weights": ("注意力權重\n頭 {head}", "attention weights\nhead {head}"),
    "leakage_probe": (
        "換掉位置 {changed} 的字\n每一列的預測動多少",
        "replace position {changed}:\nhow far rows move",
    ),
    "leakage_probe_reading": ("預測動了", "moves by"),
    "leakage_rows": ("洩漏 {rows} 列（框）", "leaks: {rows} (framed)"),
    "leakage_no_rows": ("沒有洩漏", "no leak"),
    "leakage_strip": (
        "頭 {head} 的列 {row}：讀到「{character}」，權重落在哪些字\n（框起來的是要猜的下一個字）",
        "head {head}, row {row}: where “{character}” looks\n(framed: the next character, which it "
        "must predict)",
    ),
    "leakage_caption": (
        "{text}短文，沒看過的 {T} 個字；只有遮罩不同的解碼器，訓練 {steps} 步，種子 {seed}",
        "{text} text, {T} characters not seen in training; decoders that differ only in the mask, "
        "{steps} steps, seed {seed}",
    ),
    "leakage_loss_line": (
        "損失 = −ln p 的平均：老實考 {honest}，好比在 e^損失 = {choices} 個字裡亂猜；"
        "盲猜 ln {vocabulary} = {uniform}，只看字頻 {unigram}",
        "loss = mean of −ln p: honest test {honest}, like guessing among e^loss = {choices} "
        "characters; blind guess ln {vocabulary} = {uniform}, by frequency {unigram}",
    ),
    "leakage_row_reads": ("列 {row} 讀到「{character}」，", "row {row} reads “{character}” and "),
    "leakage_row_predicts": ("要猜下一個字「{next}」；", "must predict “{next}”; "),
    "leakage_row_last": (
        "要猜的字在這一段之後；",
        "must predict what follows this excerpt; ",
    ),
    "leakage_row_largest": (
        "頭 {head} 最大的權重 {weight} 在位置 {place} 的「{character}」：{kind}",
        "largest weight of head {head}: {weight}, on “{character}” at {place}: {kind}",
    ),
    "leakage_row_empty": (
        "頭 {head} 在這一列什麼也看不到，權重都是 0",
        "head {head} sees nothing in this row, all weights are 0",
    ),
    "leakage_place_answer": ("就是答案，偷看了", "the answer itself, a peek"),
    "leakage_place_own": ("它自己", "itself"),
    "leakage_place_before": ("前面的字", "a character before"),
    "leakage_place_later": ("後面的字，偷看了", "a later character, a peek"),
    "leakage_probe_line": (
        "換掉位置 {changed} 的字「{character}」：它之前有 {rows} 列的預測動了，ln p 最多差 {most}，"
        "洩漏",
        "replacing “{character}” at {changed}: earlier rows that move: {rows}, ln p by "
        "up to {most}: a leak",
    ),
    "leakage_probe_line_none": (
        "換掉位置 {changed} 的字「{character}」：它之前一列也沒動，ln p 最多差 {most}，沒有洩漏",
        "replacing “{character}” at {changed}: no earlier row moves, ln p differs by "
        "{most}: no leak",
    ),
    "leakage_writes": (
        "開頭「{prompt}」，它接著寫：{sample}",
        "after “{prompt}” it writes: {sample}",
    ),
    "leakage_against": ("（正確的遮罩 {right}）", " (right mask: {right})"),
    "leakage_leaks": (
        "換掉位置 {changed} 的字，它之前有 {rows} 列跟著動，會洩漏",
        "it leaks, since replacing the character at {changed} moves {rows} rows before it",
    ),
    "leakage_tight": (
        "換掉位置 {changed} 的字，它之前一列也沒動，沒有洩漏",
        "it does not leak, since replacing the character at {changed} moves no row before it",
    ),
    "leakage_summary": (
        "洩漏實驗室，{text}短文，{variant}，訓練 {steps} 步：訓練損失 {training}，"
        "老實考的損失 {honest}{against}，盲猜 {uniform}；{verdict}；"
        "頭 {head} 的列 {row} {weight}。",
        "leakage lab, {text} text, {variant}, {steps} steps: training loss {training}, loss in "
        "the honest test {honest}{against}, blind guess {uniform}; {verdict}; in head {head}, row "
        "{row} {weight}.",
    ),
    "leakage_summary_weight": (
        "最大的權重 {weight} 在{place}",
        "has its largest weight, {weight}, {place}",
    ),
    "leakage_summary_empty": ("什麼也看不到", "sees nothing"),
    "leakage_at_answer": (
        "位置 {place}，就是要猜的字",
        "on position {place}, which it must predict",
    ),
    "leakage_at_own": ("自己身上", "on itself"),
    "leakage_at_before": ("前面的位置 {place}", "on position {place}, before it"),
    "leakage_at_later": ("後面的位置 {place}", "on position {place}, after it"),
    "leakage_warning_after_softmax": (
        "這個遮罩會洩漏：被遮的格權重是 0，後面的字卻在 softmax 的分母裡，改了前面每一格的權重；"
        "訓練損失 {training} 不算數，老實考是 {honest}。",
        "This mask leaks: hidden cells have weight 0, but later characters are in the denominator "
        "of softmax and so change every weight before them; the training loss of {training} does "
        "not count, the honest test gives {honest}.",
    ),
    "leakage_warning": (
        "這個遮罩會洩漏：訓練時偷看得到後面的字，所以訓練損失 {training} 不算數，"
        "老實考是 {honest}。",
        "This mask leaks: in training it can look at later characters, so its training loss of "
        "{training} does not count; the honest test gives {honest}.",
    ),
    # -- live view -----------------------------------------------------------------------------
    "live_play": ("▶ 播放", "▶ Play"),
    "live_pause": ("❚❚ 暫停", "❚❚ Pause"),
    "live_step": ("▶ 下一步", "▶ Next step"),
    "live_step_why": (
        "系統設定為減少動態效果，所以每按一次只走一步",
        "Your system asks for less motion, so each press takes one step",
    ),
    "live_table": ("看表格", "Show tables"),
    "live_save_png": ("存成 PNG", "Save as PNG"),
    "live_save_svg": ("存成 SVG", "Save as SVG"),
    "live_tools": ("圖的工具", "Picture tools"),
    "live_view": ("互動圖", "Live picture"),
    "live_failed": ("圖畫不出來（{problem}）。", "The picture cannot be drawn ({problem})."),
    "live_save_failed": ("沒有存成（{problem}）。", "It was not saved ({problem})."),
    "live_no_answer": ("核心沒有回應", "the kernel does not answer"),
    "live_hint": (
        "指向一格就能看到數值；點一下，或用方向鍵，可以選取。",
        "Point at a cell to read its value; click, or use the arrow keys, to choose it.",
    ),
    "live_matrix": (
        "{title}：{rows} 列 × {columns} 行的矩陣。用方向鍵移動，按 Enter 選取，"
        "按 Escape 回到筆記本。",
        "{title}: matrix of {rows} rows × {columns} columns. Arrow keys move, Enter chooses, "
        "Escape goes back to the notebook.",
    ),
    "live_bars": (
        "{title}：{count} 根長條。用方向鍵移動，按 Enter 選取，按 Escape 回到筆記本。",
        "{title}: {count} bars. Arrow keys move, Enter chooses, Escape goes back to the notebook.",
    ),
    "live_chart": ("{title}：曲線圖（{words}）", "{title}: chart ({words})"),
    "live_place": ("{axis} {place}", "{axis} {place}"),
    "live_named": ("{axis} {place}「{name}」", "{axis} {place} “{name}”"),
    "live_at": ("{places}：{values}", "{places}: {values}"),
    "live_separator": ("，", ", "),
    "live_hidden": ("看不到", "hidden"),
    "live_hidden_value": ("{value}（看不到）", "{value} (hidden)"),
    "live_visible": ("可以看", "may attend"),
    "live_dots": (
        "每一點代表 {rows} × {columns} 格，顯示其中最大的權重，或離 0 最遠的分數",
        "a dot = {rows} × {columns} cells: the largest weight, or the score farthest from 0",
    ),
    "live_window": (
        "{title}（第 {top}–{bottom} 列、第 {left}–{right} 行，全部是 {rows} × {columns}）",
        "{title} (rows {top}–{bottom}, columns {left}–{right} of {rows} × {columns})",
    ),
    "live_line": ("曲線 {number}", "line {number}"),
    "live_from": ("從", "from"),
    "live_to": ("到", "to"),
    "live_line_title": ("{title}：{line}", "{title}: {line}"),
    "live_end": ("{axis}（{end}）", "{axis} ({end})"),
    "live_low": ("下限", "low"),
    "live_high": ("上限", "high"),
    "live_value": ("值", "value"),
    # -- guesses, progress, report, quiz -------------------------------------------------------
    "guess_curve_hint": (
        "在圖上拖曳，畫出你預期的曲線；鍵盤：← → 選點、↑ ↓ 移動、Enter 定案、Escape 離開。",
        "Drag across the plot to draw the curve you expect. Keys: ← → choose a point, "
        "↑ ↓ move it, Enter commits, Escape leaves.",
    ),
    "guess_cells_hint": (
        "點一下或拖曳，把你預期的格塗上顏色；"
        "鍵盤：方向鍵移動、空白鍵塗色、Enter 定案、Escape 離開。",
        "Click or drag to shade the cells you expect. Keys: arrows move, Space shades, "
        "Enter commits, Escape leaves.",
    ),
    "guess_curve_name": ("先猜猜看：曲線", "Guess first: a curve"),
    "guess_cells_name": ("先猜猜看：格子", "Guess first: cells"),
    "guess_commit": ("就這麼猜", "Commit my guess"),
    "guess_clear": ("清除", "Clear"),
    "guess_anew": ("重新猜", "Guess anew"),
    "guess_table": ("用表格填", "Use a table"),
    "guess_tools": ("猜測的工具", "Tools of the guess"),
    "guess_mine": ("你的猜測", "your guess"),
    "guess_truth": ("量到的", "measured"),
    "guess_waiting": ("量測中……", "Measuring …"),
    "guess_none": ("沒有", "none"),
    "guess_unset": ("還沒畫", "not drawn yet"),
    "guess_point": ("{x_label}＝{x}", "{x_label} = {x}"),
    "guess_drawn": ("{y_label}＝{value}", "{y_label} = {value}"),
    "guess_both": ("你猜 {guess}，量到 {truth}", "you guessed {guess}, measured {truth}"),
    "guess_cell": (
        "第 {row} 列 {row_name}，第 {column} 行 {column_name}",
        "row {row} {row_name}, column {column} {column_name}",
    ),
    "guess_shaded": ("已塗色", "shaded"),
    "guess_blank": ("空白", "blank"),
    "guess_hit": ("猜對", "right"),
    "guess_missed": ("漏掉", "missed"),
    "guess_extra": ("多猜", "too many"),
    "guess_rest": ("空白，也猜對", "blank, and right"),
    "guess_bad_number": (
        "「{text}」不是數字；請填像 2.5 這樣的數字。",
        "“{text}” is no number; write one such as 2.5.",
    ),
    "guess_out_of_range": (
        "{value} 超出圖的範圍（{low} 到 {high}）。",
        "{value} lies outside the plot ({low} to {high}).",
    ),
    "guess_points_missing": (
        "還有 {count} 個點沒畫：{places}。畫完再定案，就能看到量到的曲線。",
        "Points still to draw: {places} ({count} in all). Draw them, then commit to see what was "
        "measured.",
    ),
    "guess_no_cells": (
        "還沒塗任何一格。先塗出你預期的格，再定案。",
        "No cell is shaded yet. Shade those you expect, then commit.",
    ),
    "guess_wrong_count": (
        "這個猜測要有 {wanted} 個數，收到 {came} 個。",
        "This guess takes {wanted} numbers; it got {came}.",
    ),
    "guess_wrong_shape": (
        "這個猜測要是 {rows} 列 × {columns} 行的 True 與 False，收到的是{came}。",
        "This guess takes {rows} rows × {columns} columns of True and False; it got {came}.",
    ),
    "guess_no_numbers": (
        "猜測要是數字，收到的是「{came}」。",
        "A guess is made of numbers; it got “{came}”.",
    ),
    "guess_came_shape": ("形狀 {shape}", "shape {shape}"),
    "guess_committed": (
        "這個猜測已經定案；想再猜一次，請按「重新猜」或呼叫 .anew()。",
        "This guess is committed; to try again press “Guess anew” or call .anew().",
    ),
    "guess_truth_failed": (
        "量測沒有成功（{problem}）；你的猜測還在。",
        "The measurement failed ({problem}); your guess is still here.",
    ),
    "guess_rises": ("往上", "rises"),
    "guess_falls": ("往下", "falls"),
    "guess_level": ("大致持平", "stays about level"),
    "guess_peaks": ("先上後下", "goes up and then down"),
    "guess_dips": ("先下後上", "goes down and then up"),
    "guess_same_way": (
        "走向猜對了：{truth}。",
        "You got the direction: the measured curve {truth}, as yours does.",
    ),
    "guess_other_way": (
        "走向不同：你畫的{guess}，量到的{truth}。",
        "The direction differs: yours {guess}, the measured curve {truth}.",
    ),
    "guess_close": (
        "而且每一點都很接近，差最多的也只有：",
        " It is close all along; even where it is farthest off,",
    ),
    "guess_farthest": ("差最多的地方：", " Farthest apart:"),
    "guess_there": (
        "{x_label}＝{x}，你猜 {guess}，量到 {truth}{factor}。",
        " at {x_label} = {x} you guessed {guess}, measured is {truth}{factor}.",
    ),
    "guess_factor": ("（相差 {factor} 倍）", " (a factor of {factor})"),
    "guess_not_finite": (
        "有 {count} 個點沒有有限的測量值，不列入比較。",
        " Points without a finite measured value, left out of this: {count}.",
    ),
    "guess_all_cells": (
        "全部猜對：{total} 格一格不差。",
        "All right: every one of the {total} cells, and none too many.",
    ),
    "guess_some_cells": (
        "{total} 格裡猜對 {hit} 格，漏掉 {missed} 格，多猜 {extra} 格。",
        "Of {total} cells you found {hit}; missed: {missed}, too many: {extra}.",
    ),
    "guess_run_this_cell": (
        "靜態圖：執行這個儲存格，就能畫出你的猜測",
        "Still picture: run this cell to draw your guess",
    ),
    "guess_earlier": ("以前猜過 {count} 次", "guessed before: {count} ×"),
    "progress_title": ("學習進度", "Progress"),
    "progress_notebook": ("筆記本 {notebook}", "Notebook {notebook}"),
    "progress_course": ("整個課程", "The whole course"),
    "progress_exercises": ("練習通過 {done}／{of}", "exercises passed: {done} of {of}"),
    "progress_quiz": ("小測驗答對 {done}／{of}", "quiz: {done} of {of} right"),
    "progress_guesses": ("先猜 {count} 題", "guesses made: {count}"),
    "progress_nothing": ("還沒有題目", "no exercises yet"),
    "progress_and": ("，", ", "),
    "progress_not_kept": (
        "進度寫不進 {folder}（{reason}），這次只記在記憶體裡。",
        "Progress cannot be written to {folder} ({reason}); this time it stays in memory only.",
    ),
    "progress_unread": (
        "讀不到進度檔 {path}（{reason}），先略過。",
        "The progress file {path} cannot be read ({reason}); it is passed over.",
    ),
    "progress_damaged": (
        "有一個進度檔損壞了，已改名放在 {path}，其餘的進度照常。",
        "A progress file was damaged and now lies at {path}; all other progress goes on.",
    ),
    "report_title": ("注意力機制課程：學習報告", "Attention lesson: what I have done"),
    "report_name": ("姓名", "Name"),
    "report_date": ("日期", "Date"),
    "report_progress": ("進度", "Progress"),
    "report_exercises": ("練習", "Exercises"),
    "report_guesses": ("先猜猜看", "Guesses"),
    "report_quiz": ("小測驗", "Quiz"),
    "report_exercise": ("題目", "exercise"),
    "report_question": ("問題", "question"),
    "report_tried": ("試了幾次", "tries"),
    "report_passed": ("結果", "result"),
    "report_last": ("最後一次", "last try"),
    "report_done": ("✓ 通過", "✓ passed"),
    "report_open": ("○ 還沒通過", "○ not yet passed"),
    "report_right": ("✓ 答對", "✓ right"),
    "report_not_right": ("○ 還沒答對", "○ not yet right"),
    "report_none": ("還沒有紀錄。", "Nothing recorded yet."),
    "report_guess_number": ("第 {number} 次猜（共 {of} 次）", "guess {number} of {of}"),
    "report_drawing": (
        "虛線方塊：猜測；實線圓點：量到的",
        "dashed, squares: guess; solid, dots: measured",
    ),
    "report_cells_drawing": (
        "✓ 猜對　○ 漏掉　✕ 多猜",
        "✓ right, ○ missed, ✕ too many",
    ),
    "report_in_the_way": (
        "{path} 不是學習報告，不會被蓋掉；請給另一個檔名。",
        "{path} is no report and is left as it is; give another name.",
    ),
    "report_not_written": (
        "報告寫不進 {path}（{reason}）；請給另一個位置。",
        "The report cannot be written to {path} ({reason}); give another place.",
    ),
    "quiz_title": ("小測驗：筆記本 {notebook}", "Quiz: notebook {notebook}"),
    "quiz_number": ("第 {number} 題，共 {of} 題", "Question {number} of {of}"),
    "quiz_several": ("（可複選）", " (choose all that apply)"),
    "quiz_answer": ("回答", "Answer"),
    "quiz_answer_to": ("回答第 {number} 題", "Answer question {number}"),
    "quiz_none": ("先選一個答案，再按「回答」。", "Choose an answer first, then press “Answer”."),
    "quiz_right": ("✓ 答對了。", "✓ Right. "),
    "quiz_wrong": ("✕ 還不是。", "✕ Not yet. "),
    "quiz_incomplete": (
        "選的都對，但還少了。",
        "What you chose is right, but there is more.",
    ),
    "quiz_again": ("改選後可以再答一次。", " Choose again whenever you like."),
    "quiz_score": ("目前答對 {done}／{of}", "right so far: {done} of {of}"),
    "quiz_run_this_cell": (
        "小測驗：執行這個儲存格，就能作答。",
        "Quiz: run this cell to answer it.",
    ),
    "quiz_no_such": (
        "notebook 必須是 {choices} 其中之一；收到的是「{value}」。",
        "notebook must be one of {choices}; got “{value}”.",
    ),
    # -- the check of the installation, the command line ---------------------------------------
    "list_comma": ("、", ", "),
    "cli_working_copy": ("工作副本：{folder}", "Working copy: {folder}"),
    "cli_newer_lesson": (
        "課程有新版，已另存為 {new}；你的 {old} 沒有更動。",
        "A newer lesson was put at {new}; your {old} is unchanged.",
    ),
    "cli_folder_fails": (
        "無法在 {folder} 建立工作副本：{reason}。請用 --dir 指定另一個資料夾。",
        "The working copy cannot be made in {folder}: {reason}. Choose another folder with --dir.",
    ),
    "cli_file_in_the_way": ("有檔案擋住（{path}）", "a file is in the way ({path})"),
    "cli_folder_in_the_way": ("有資料夾擋住（{path}）", "a folder is in the way ({path})"),
    "cli_folder_is_lesson": (
        "{folder} 是課程本身的資料夾，不能當作工作副本。請用 --dir 指定另一個資料夾。",
        "{folder} belongs to the lesson itself and cannot be the working copy. "
        "Choose another folder with --dir.",
    ),
    "cli_no_folder_named": (
        "--dir 後面沒有資料夾的名稱。",
        "No folder is named after --dir.",
    ),
    "cli_current_folder_gone": (
        "目前所在的資料夾已經不存在，請先切換到別的資料夾。",
        "The current folder no longer exists; change to another one first.",
    ),
    "cli_no_such_command": (
        "「{word}」不是指令，也不是這裡的檔案。要畫圖，請執行 andrea-lesson plot --help。",
        "{word} is neither a command nor a file here. For figures, run andrea-lesson plot --help.",
    ),
    "cli_missing": (
        "缺少 {missing}。請執行：{line}",
        "{missing} not installed. Run: {line}",
    ),
    "plot_sum_too_long": (
        "--lengths 的總和最多是 {high}；收到的總和是 {total}。",
        "--lengths may add up to {high} at most; got {total}.",
    ),
    "cli_broken": (
        "{name} 已損壞或無法載入（{reason}）。請執行：{line}",
        "{name} is damaged or does not load ({reason}). Run: {line}",
    ),
    "check_ok": ("可用", "ok"),
    "check_note": ("說明", "note"),
    "check_warning": ("注意", "warning"),
    "check_missing": ("缺少", "missing"),
    "check_remedy": ("請執行 {line}，再重新啟動核心。", " Run {line} and restart the kernel."),
    "check_python": ("Python {version}：{path}", "Python {version}: {path}"),
    "check_package": ("andrea_lesson {version}：{path}", "andrea_lesson {version}: {path}"),
    "check_version": ("{name} {version}", "{name} {version}"),
    "check_too_old": (
        "{name} {version}，課程需要 {wanted}。",
        "{name} {version}; the lesson needs {wanted}.",
    ),
    "check_absent": ("沒有安裝 {name}。", "{name} is not installed."),
    "check_broken": (
        "{name} 已損壞或無法載入（{reason}）。",
        "{name} is damaged or does not load ({reason}).",
    ),
    "check_no_sliders": (
        "ipywidgets {version} 在 VS Code 畫不出滑桿。",
        "ipywidgets {version} draws no sliders in VS Code.",
    ),
    "check_server": (
        "伺服器：JupyterLab {lab}，jupyterlab_widgets {widgets}（{python}）",
        "Server: JupyterLab {lab}, jupyterlab_widgets {widgets} ({python})",
    ),
    "check_server_unseen": (
        "從核心看不到伺服器；VS Code、Colab 等環境自己負責畫出滑桿。",
        "The server cannot be seen from this kernel; VS Code, Colab and the like draw the "
        "sliders themselves.",
    ),
    "check_server_widgets": (
        "伺服器的 JupyterLab {lab} 畫不出滑桿：jupyterlab_widgets 是 {widgets}，需要 3 以上。"
        "請在終端機執行 {line}，再重新啟動 JupyterLab。",
        "The server's JupyterLab {lab} cannot draw the sliders: jupyterlab_widgets is "
        "{widgets}, and 3 or newer is needed. Run {line} in a terminal and restart JupyterLab.",
    ),
    "check_none": ("無", "absent"),
    "check_font": ("圖中的中文字型：{font}", "Font for Chinese in figures: {font}"),
    "check_no_font": (
        "找不到繁體中文字型，圖上的文字改用英文。",
        "No Traditional Chinese font found; figures are labelled in English.",
    ),
    "check_gpu": ("GPU：{name}，CuPy {version} 可用。", "GPU: {name}, and CuPy {version} works."),
    "check_no_gpu": (
        "CuPy {version} 找不到可用的 GPU，課程改用 CPU，內容完全相同。",
        "CuPy {version} finds no GPU; the lesson runs on the CPU, with the same content.",
    ),
    "check_gpu_fails": (
        "有 CuPy {version}，但 GPU 不能用，課程改用 CPU（{reason}）。",
        "CuPy {version} is installed, but the GPU does not work, so the CPU is used ({reason}).",
    ),
    "check_no_cupy": (
        "沒有 CuPy，課程全程用 CPU，內容完全相同。",
        "No CuPy; the lesson runs on the CPU, with the same content.",
    ),
    "check_cupy_possible": (
        "有 NVIDIA 驅動程式（CUDA {cuda}），但沒有 CuPy，課程改用 CPU。",
        "There is an NVIDIA driver (CUDA {cuda}) but no CuPy, so the CPU is used.",
    ),
    "check_wheels": (
        "同時裝了 {count} 個 CuPy：{wheels}，會互相干擾。請執行 {remove}，再執行 {install}，"
        "最後重新啟動核心。",
        "{count} CuPy packages are installed and disturb each other: {wheels}. "
        "Run {remove}, then {install}, and restart the kernel.",
    ),
    "check_wrong_wheel": (
        "{wheel} 需要更新的驅動程式（目前只到 CUDA {cuda}）。請執行 {remove}，再執行 {install}，"
        "最後重新啟動核心。",
        "{wheel} needs a newer driver (this one serves CUDA {cuda}). "
        "Run {remove}, then {install}, and restart the kernel.",
    ),
    # -- 00_start_here -----------------------------------------------------------------------
    # -- 01_query_key_value ------------------------------------------------------------------
    "weights_of": ("「{token}」這一列的權重", 'weights in the row of "{token}"'),
    "component": ("x 的分量", "component of x"),
    "shared_projection": ("共用一個投影", "one shared projection"),
    "two_projections": ("兩個投影", "two projections"),
    "projections": ("投影", "projections"),
    "symmetric": ("分數對稱", "scores symmetric"),
    "finds_itself": ("最高分是自己的比例", "share whose best key is itself"),
    "rank": ("W_Q W_Kᵀ 的秩", "rank of W_Q W_Kᵀ"),
    "moved_here": ("第一個位置動了幾個分量", "components moved at the first position"),
    "moved_elsewhere": ("其他位置動了幾個分量", "components moved elsewhere"),
    "guess_attends": ("每一列最注意誰？", "Whom does each row attend to most?"),
    # -- 02_scores_and_scaling ---------------------------------------------------------------
    "question": ("題", "question"),
    "one_product": ("與一次矩陣乘法相同", "same as one matrix product"),
    "heads_in_all": ("注意力頭的總數", "heads in all"),
    "dot_product": ("加總（點積）", "sum (dot product)"),
    "divided_by_root": ("除以 √d_k", "divided by √d_k"),
    "smallest_weight": ("最小的權重", "smallest weight"),
    "row_sum": ("這一列的總和", "sum of the row"),
    "order_kept": ("大小順序不變", "order kept"),
    "score_gap": ("分數差", "gap between scores"),
    "weight_ratio": ("權重相差幾倍", "ratio of weights"),
    "std": ("標準差", "standard deviation"),
    "mean_absolute": ("絕對值的平均", "mean absolute value"),
    "std_unit_variance": ("標準差（分量的變異數為 1）", "std (components of variance 1)"),
    "std_unit_vectors": ("標準差（長度為 1）", "std (length 1)"),
    "predicted_unit_vectors": ("理論值（長度為 1）", "predicted (length 1)"),
    "divisor": ("除數", "divisor"),
    "divisor_value": ("除數的大小", "its value"),
    "divided_not_shifted": ("除以 8，不減最大值", "divided by 8, maximum not subtracted"),
    "shifted_not_divided": ("不除，減最大值", "not divided, maximum subtracted"),
    "effective_keys": ("有效鍵數（中位數）", "effective keys (median)"),
    "freezing_d_k": ("2 ln T", "2 ln T"),
    "stretched": ("分數放大", "scores multiplied by"),
    "winner_rest": ("贏家的 1 − w", "winner's 1 − w"),
    "winner_slope": ("w (1 − w)", "w (1 − w)"),
    "nudged_slope": ("動一點量到的", "measured by a nudge"),
    "largest_slope": ("全部導數裡最大的", "largest of all derivatives"),
    "through_weights": ("經過注意力權重的梯度（最大）", "largest gradient through weights"),
    "cross_entropy": ("交叉熵的梯度（最大）", "largest gradient of cross-entropy"),
    "by_chain_rule": ("與連鎖律算出的相同", "same by the chain rule"),
    "optimizer": ("最佳化器", "optimizer"),
    "scores_moved": ("分數動了多少（最大）", "largest move of a score"),
    "same_scores": ("改了學習率：最後分數相同", "rate changed: same scores"),
    "unchanged_rate": ("沒改學習率：最大的差", "rate unchanged: largest difference"),
    "data_type": ("資料型別", "data type"),
    "share_different": ("不同的比例", "share that differ"),
    "farthest_apart": ("最大相對差", "largest relative difference"),
    "std_before": ("縮放前的標準差", "std before scaling"),
    "std_after": ("縮放後的標準差", "std after scaling"),
    "times_fewer": ("T × T 是 T × d_k 的幾倍", "T × T over T × d_k"),
    "jacobian_norm": ("雅可比範數", "Jacobian norm"),
    "share_above": ("w (1 − w) > 0.1/T 的比例", "share with w (1 − w) > 0.1/T"),
    "fixed_share": ("w (1 − w) > {threshold} 的比例", "share with w (1 − w) > {threshold}"),
    "keys_theory": ("理論值 T·e^(−s²/2)", "theory T·e^(−s²/2)"),
    "guess_spread": ("分數的標準差，隨 d_k 變化", "Standard deviation of the scores over d_k"),
    "guess_keys": ("不縮放的有效鍵數，隨 d_k 變化", "Effective keys without scaling over d_k"),
    # -- 03_causal_mask ----------------------------------------------------------------------
    "tokens_so_far": ("手上的詞元", "tokens so far"),
    "output_at": ("用位置幾的輸出", "output at position"),
    "keys_in_row": ("那一列的鍵數", "keys in its row"),
    "predicts": ("要猜的（規則）", "predicts (the rule)"),
    "not_there_yet": ("（還沒有）", "(not there yet)"),
    "position": ("位置", "position"),
    "token": ("詞元", "token"),
    "input": ("輸入", "input"),
    "target": ("目標", "target"),
    "by_rule": ("照規則", "by the rule"),
    "visible_positions": ("看得到的位置", "visible positions"),
    "target_position": ("目標的位置", "position of the target"),
    "target_seen": ("看得到目標", "target visible"),
    "no_mask": ("沒有遮罩", "no mask"),
    "mask_full": ("全可見遮罩", "full mask"),
    "mask_causal": ("因果遮罩", "causal mask"),
    "mask_sliding_window": ("滑動視窗遮罩", "sliding-window mask"),
    "mask_prefix": ("前綴遮罩", "prefix mask"),
    "mask_padding": ("填補遮罩", "padding mask"),
    "mask_document": ("文件遮罩", "document mask"),
    "rows_that_move": ("會動的列", "rows that move"),
    "weights_that_move": ("會動的權重", "weights that move"),
    "guess_moves": (
        "位置 4 換掉，輸出的哪幾列會動？",
        "Position 4 is replaced: which output rows move?",
    ),
    "guess_output_rows": ("輸出的列", "row of the output"),
    "guess_weights": (
        "位置 4 換掉，哪幾格權重會動？",
        "Position 4 is replaced: which weights move?",
    ),
    "moved_unmasked": ("沒有遮罩：變化", "no mask: change"),
    "moved_causal": ("因果遮罩：變化", "causal mask: change"),
    "chance": ("亂猜的期望值", "expected by chance"),
    "how_run": ("怎麼算", "how it is run"),
    "whole_unmasked": ("整句一起算，沒有遮罩", "whole sentence, no mask"),
    "generating": ("一步一步生成", "generating, step by step"),
    "whole_masked": ("整句一起算，因果遮罩", "whole sentence, causal mask"),
    "share_right": ("答對的比例", "share right"),
    "loops_agree": ("與兩層迴圈相同", "agrees with the double loop"),
    "scores_before_mask": ("分數，遮罩之前", "scores before the mask"),
    "scores_after_mask": ("分數，遮罩之後", "scores after the mask"),
    "weights_before_mask": ("權重，遮罩之前", "weights before the mask"),
    "weights_after_mask": ("權重，遮罩之後", "weights after the mask"),
    "visible_keys": ("看得到的鍵", "visible keys"),
    "visible_sum": ("看得到的權重總和", "sum of visible weights"),
    "hidden_sum": ("看不到的權重總和", "sum of hidden weights"),
    "strict_formula": ("不含對角線，照公式", "no diagonal, by the formula"),
    "strict_package": ("不含對角線，用套件", "no diagonal, by the package"),
    "row_0": ("第 0 列的權重", "weights of row 0"),
    "first_value": ("輸出第 0 列等於 V[0]", "output row 0 equals V[0]"),
    "first_value_reversed": ("遮罩拿反時", "with the mask reversed"),
    "triangle": ("三角形對齊", "triangle ends at"),
    "bottom_right": ("右下角", "bottom right"),
    "top_left": ("左上角", "top left"),
    "same_rows": ("與整句一起算相同", "same as in the whole run"),
    "order": ("做法", "way"),
    "earlier_rows_move": ("前四列會動", "rows 0 to 3 move"),
    "zeroed": ("之後：改成 0", "after: set to 0"),
    "renormalised": ("之後：重新正規化", "after: normalized again"),
    "before": ("之前就遮", "masked before"),
    "same_as_before": ("權重與先遮相同", "same weights as masking before"),
    "zeroed_sums": ("改成 0：每列總和", "set to 0: row sums"),
    "renormalised_sums": ("重新正規化：每列總和", "normalized again: row sums"),
    "before_sums": ("之前就遮：每列總和", "masked before: row sums"),
    "zeroed_equal": ("改成 0：與先遮相差 < 1e-15", "set to 0: within 1e-15 of masking before"),
    "renormalised_equal": (
        "重新正規化：與先遮相差 < 1e-15",
        "normalized again: within 1e-15 of masking before",
    ),
    "with_cache": ("點積個數，有快取", "dot products, with a cache"),
    "without_cache": ("點積個數，沒有快取", "dot products, no cache"),
    "same_masked": ("有遮罩：與逐步生成相同", "mask: same as step by step"),
    "same_unmasked": ("沒有遮罩：與逐步生成相同", "no mask: same as step by step"),
    "visible_pairs": ("看得到的配對", "visible pairs"),
    "all_pairs": ("全部的配對", "all pairs"),
    "most_keys": ("一列最多幾個鍵", "most keys in a row"),
    "sees_future": ("看得到未來", "sees the future"),
    "part": ("用在哪裡", "part"),
    "encoder": ("編碼器", "encoder"),
    "decoder": ("解碼器", "decoder"),
    "cross_attention": ("交叉注意力", "cross-attention"),
    "fitting": ("合用的", "fitting"),
    "no_such_mask": ("沒有這種遮罩", "no such mask"),
    "mask_value": ("遮罩值", "mask value"),
    "precision": ("精度", "precision"),
    "empty_row": ("空列", "empty row"),
    "added_float16": ("半精度要加上的數", "added in half precision"),
    "lowest_number": ("最小的有限數", "lowest finite number"),
    "became_right": ("對 {weights}", "right {weights}"),
    "became_leaks": ("漏 {weights}", "leaks {weights}"),
    "became_nan": ("NaN", "NaN"),
    "became_uniform": ("平分 {weights}", "even {weights}"),
    "became_unmasked": ("沒遮住 {weights}", "not masked {weights}"),
    "became_no_such_score": ("放不下分數", "no room for the score"),
    "own_value": ("只回傳自己的值", "returns its own value"),
    "looks_elsewhere": ("有看別的位置的列", "rows that look elsewhere"),
    "pairs_stay": ("打亂鍵和值：輸出不變", "keys and values shuffled: output stays"),
    "rows_follow": ("打亂查詢：輸出跟著換位", "queries shuffled: rows follow"),
    # -- 04_softmax_and_output ---------------------------------------------------------------
    "guess_temperature": ("「書」的權重隨溫度怎麼變", "The weight of “book” over the temperature"),
    "masked_scores_of": (
        "「{token}」這一列遮罩後的分數",
        'masked scores in the row of "{token}"',
    ),
    "two_ratios": (
        "「圖書館」÷「小安」：蓋掉「書」之前、之後",
        '"library" ÷ "Ann": before and after "book" is covered',
    ),
    "weights_covered": ("蓋掉「書」以後的權重", 'weights, "book" covered'),
    "running_sum": ("累加：{axis}", "running sum: {axis}"),
    "shifted": ("減去最大值", "minus the maximum"),
    "exponentials": ("取指數", "exponential"),
    "total": ("總和", "sum"),
    "numerator": ("分子", "numerator"),
    "denominator": ("分母", "denominator"),
    "overflow_from": ("從這個分數開始溢位", "overflows from this score"),
    "without_shift": ("不減最大值", "maximum not subtracted"),
    "with_shift": ("減去最大值以後", "maximum subtracted"),
    "future_weight": ("落在未來的最大權重", "largest weight on the future"),
    "vectors": ("向量", "vectors"),
    "hand_set": ("例句的六個詞元（人工設定）", "running example (set by hand)"),
    "components": ("輸出的分量個數", "components of the output"),
    "outside": ("超出範圍的個數", "outside the range"),
    "megabytes": ("注意力權重（MB）", "attention weights (MB)"),
    "byte_count": ("注意力權重（位元組）", "attention weights (bytes)"),
    "cells_per_head": ("每個頭的格數", "cells per head"),
    "allowed_per_head": ("其中看得到的", "of these, allowed"),
    "sums_are_one": ("每一列的總和都是 1", "every row sums to 1"),
    "first_is_value": ("位置 0 的輸出就是它的值", "output at position 0 is its value"),
    "weight_megabytes": ("注意力權重（MB）", "attention weights (MB)"),
    "value_megabytes": ("值（MB）", "values (MB)"),
    "output_cut": ("切投影後的結果：相同", "cut the projection's output: same"),
    "input_cut": ("切輸入 X：相同", "cut the input X: same"),
    "sum_of_heads": ("逐頭投影再相加：相同", "project each head and add: same"),
    "fused_size": ("合併的 W_Q 參數", "parameters of the fused W_Q"),
    "per_head": ("每個頭的 W_Q 參數", "W_Q parameters per head"),
    "all_heads": ("全部的 W_Q 參數", "W_Q parameters in all"),
    "score_count": ("分數的個數", "scores in all"),
    "first_weights": ("第一列的權重", "first row of weights"),
    "second_weights": ("第二列的權重", "second row of weights"),
    "first_output": ("第一列的輸出", "output of the first row"),
    "second_output": ("第二列的輸出", "output of the second row"),
    "output_without": ("拿掉第一個詞元以後", "output without the first token"),
    "moved_weight": ("搬動的權重", "weight moved"),
    "any_negative": ("有負的權重", "any weight negative"),
    "same_output": ("輸出不變", "output unchanged"),
    "counted": ("算出來的參數", "parameters counted"),
    "published": ("公布的參數（約）", "parameters published (about)"),
    "attention_share": ("注意力占的比例", "share of attention"),
    # -- 05_learning_to_look_up ----------------------------------------------------------------
    "guess_undivided": ("不除以 √d_k 的頭答對多少", "How much the undivided head gets right"),
    "guess_leak": ("沒有遮罩的模型，老實考的損失", "Loss of the model without a mask, honest test"),
    "guess_steps": ("訓練的步數", "steps of training"),
    "loss": ("損失", "loss"),
    "accuracy": ("答對的比例", "share answered right"),
    "eta": ("學習率 η", "learning rate η"),
    "sigma": ("初始標準差 σ", "initial σ"),
    "optimiser": ("最佳化器", "optimizer"),
    "right_weight": ("正確卡片的權重", "weight on the right card"),
    "match_part": ("W_Q W_Kᵀ 的哪裡", "part of W_Q W_Kᵀ"),
    "same_topic": ("同一個主題", "the same topic"),
    "other_topics": ("別的主題", "other topics"),
    "books": ("書名", "books"),
    "match_before": ("第 0 步的平均", "mean at step 0"),
    "match_after": ("最後一步的平均", "mean at the last step"),
    "accuracy_scaled": ("答對的比例：除以 √d_k", "share right: divided by √d_k"),
    "accuracy_raw": ("答對的比例：不除", "share right: not divided"),
    "largest_difference": ("兩條曲線最多差", "the curves differ by at most"),
    "as_good_as_equal": ("不到 10⁻⁹", "less than 10⁻⁹"),
    "side": ("哪一邊", "side"),
    "with_root": ("除以 √d_k", "divided by √d_k"),
    "without_root": ("不除的雙胞胎", "undivided twin"),
    "tried": ("試過幾個 η", "η tried"),
    "serve_all_scaled": ("除以 √d_k：幾個通用", "divided: serve every d_k"),
    "serve_all_raw": ("不除：幾個通用", "not divided: serve every d_k"),
    "training_loss": ("訓練損失", "training loss"),
    "teacher_loss": ("整篇一起給的損失", "loss, whole text at once"),
    "honest_loss": ("老實考的損失", "loss in the honest test"),
    "lowest": ("三個種子裡最低", "lowest of three seeds"),
    "highest": ("三個種子裡最高", "highest of three seeds"),
    "common_loss": ("只知道哪個字常見的損失", "loss, knowing how common each is"),
    "blind_loss": ("亂猜的損失", "loss of a blind guess"),
    "rows_moved_before": ("改字之前就動了的列", "earlier rows that moved"),
    "generated": ("它寫的", "what it writes"),
    "prompt": ("開頭", "beginning"),
    "shipped": ("收錄的", "shipped"),
    "trained_now": ("剛訓練的", "trained now"),
    "same_within": ("相差不到 0.001", "the same within 0.001"),
    "not_steady": ("不穩定的點", "points that are not steady"),
    "points_in_all": ("一共幾個點", "points in all"),
    # -- 06_speed_and_memory -----------------------------------------------------------------
    "guess_memory": ("一個頭的 T × T 表占多少記憶體", "Memory of the T × T tables of one head"),
    "way": ("寫法", "way"),
    "triple_loop": ("三層迴圈", "triple loop"),
    "double_loop": ("兩層迴圈，一格一個點積", "double loop, a dot product a cell"),
    "milliseconds": ("毫秒", "milliseconds"),
    "gigaflops": ("每秒幾個 GFLOP（十億）", "GFLOP a second"),
    "layer_gigaflop": ("這一層的 GFLOP", "GFLOP of the layer"),
    "predicted_milliseconds": ("推算（毫秒）", "predicted (ms)"),
    "measured_milliseconds": ("量到（毫秒）", "measured (ms)"),
    "table_megabytes": ("一張 T × T 的表（MB）", "one table of T × T (MB)"),
    "tables_megabytes": ("課本寫法的表（MB）", "tables of the textbook way (MB)"),
    "in_and_out_megabytes": ("Q、K、V 和輸出（MB）", "Q, K, V and output (MB)"),
    "times_as_much": ("倍數", "ratio"),
    "moved_megabytes": ("讀寫的位元組（MB）", "bytes read and written (MB)"),
    "flops_per_byte": ("每搬一個位元組做幾個 FLOP", "FLOPs per byte moved"),
    "gigabytes_per_second": ("每秒搬幾 GB", "GB moved a second"),
    "multiply_milliseconds": ("乘法（毫秒）", "multiplying (ms)"),
    "exponentiate_milliseconds": ("指數（毫秒）", "exponentials (ms)"),
    "move_milliseconds": ("搬運（毫秒）", "moving (ms)"),
    "machine": ("在這裡量的", "measured on"),
    "extra_megabytes": ("額外的記憶體（MB）", "extra memory (MB)"),
    "tokens_in_tile": ("這一塊的詞元", "tokens of the tile"),
    "tile_scores": ("這一塊的分數", "scores of the tile"),
    "max_so_far": ("目前的最大值 m", "maximum so far, m"),
    "shrunk_by": ("舊的總和乘上", "old sum times"),
    "sum_so_far": ("目前的總和 l", "sum so far, l"),
    "output_so_far": ("目前的輸出", "output so far"),
    "cells_computed": ("分塊寫法算的格數", "cells computed in tiles"),
    "cells_allowed": ("其中看得到的格數", "cells that may be seen"),
    "cells_in_table": ("整張表的格數", "cells of the whole table"),
    "way_textbook": ("課本寫法", "textbook"),
    "way_tiled": ("分塊寫法", "tiled"),
    "textbook_milliseconds": ("課本寫法（毫秒）", "textbook (ms)"),
    "tiled_milliseconds": ("分塊寫法（毫秒）", "tiled (ms)"),
    "textbook_megabytes": ("課本寫法額外的 MB", "textbook, extra MB"),
    "tiled_megabytes": ("分塊寫法額外的 MB", "tiled, extra MB"),
    "tile": ("分塊的邊長", "tile"),
    "same_last_row": ("和整張算的最後一列相同", "same as the last row of the whole"),
    "cache_megabytes": ("KV 快取（MB）", "KV cache (MB)"),
    "parameter_megabytes": ("參數（MB）", "parameters (MB)"),
    "bytes_per_token": ("每個詞元的位元組", "bytes per token"),
    "step_milliseconds": ("用快取走一步（毫秒）", "a step with the cache (ms)"),
    "again_milliseconds": ("整層重算（毫秒）", "the whole layer again (ms)"),
    "rows_sum_to_zero": ("每一列的梯度加起來是 0", "gradients of every row sum to 0"),
    "gradient_of_scores": ("每個分數分到的梯度", "gradient of each score"),
    "largest_gradient": ("dQ 裡最大的", "largest in dQ"),
    "same_gradient": ("有限差分量到的相同", "same by finite differences"),
    "largest_weight": ("最大的權重", "largest weight"),
    "largest_dscore": ("分數的梯度，最大的", "largest gradient of a score"),
    "largest_dQ": ("dQ，最大的", "largest in dQ of the row"),
    "largest_dV": ("dV，最大的", "largest in dV"),
    "forward_megabytes": ("前向的表（MB）", "tables on the way there (MB)"),
    "backward_megabytes": ("回頭的表（MB）", "tables on the way back (MB)"),
    "rung": ("階", "rung"),
    "gigabytes": ("要拿的 GB", "GB fetched"),
    "gpu_name": ("GPU", "GPU"),
    "gpu_reason": ("原因", "reason"),
    "no_gpu": ("沒有可用的 GPU，這一格就不跑", "none that works, so nothing is run here"),
    "no_cupy": ("沒有安裝 CuPy，或找不到 GPU", "CuPy is not installed, or finds no GPU"),
    "same_as_numpy": ("與 NumPy 的結果相同", "same as NumPy"),
    "recorded": ("紀錄", "recorded"),
    "least_milliseconds": ("最少（毫秒）", "least (ms)"),
    # The ways of data/gpu_timings.json by their names there.
    "gpu_rung 1": ("第 1 階", "rung 1"),
    "gpu_rung 2": ("第 2 階", "rung 2"),
    "gpu_rung 3": ("第 3 階", "rung 3"),
    "gpu_textbook, CuPy": ("課本寫法（CuPy）", "textbook (CuPy)"),
    "gpu_rungs 3 and 4, gradients": ("第 3、4 階，含梯度", "rungs 3 and 4, with gradients"),
    "gpu_textbook, CuPy, gradients": (
        "課本寫法（CuPy），含梯度",
        "textbook (CuPy), with gradients",
    ),
    "gpu_PyTorch": ("PyTorch", "PyTorch"),
    "gpu_PyTorch, gradients": ("PyTorch，含梯度", "PyTorch, with gradients"),
    "no_card_measured": ("還沒有量過任何一張卡", "no card has been measured yet"),
}


def set_language(language: str) -> None:
    """Choose the language of figures, panels and checks.

    Parameters
    ----------
    language : {"zh-Hant", "en"}
        Traditional Chinese, the default, or English.

    Raises
    ------
    ValueError
        If there are no words in that language.
    """
    global _language
    if language not in LANGUAGES:
        raise ValueError(f'language must be "zh-Hant" or "en"; got {language!r}.')
    _language = language


def get_language() -> str:
    """Return the language in force, ``"zh-Hant"`` or ``"en"``."""
    return _language


@contextmanager
def language(name: str) -> Iterator[None]:
    """Use another language for a while, as figures do where no Chinese font is found."""
    before = get_language()
    set_language(name)
    try:
        yield
    finally:
        set_language(before)


def label(key: str, /, **values: Any) -> str:
    """The words for a key in the current language.

    Parameters
    ----------
    key : str
        A key of :data:`LABELS`.
    **values
        What to put into the places of the words, by name.

    Returns
    -------
    str

    Raises
    ------
    KeyError
        If the key has no words.
    """
    if key not in LABELS:
        raise KeyError(f"key must be one of labels.py; got no such key as {key!r}.")
    words = LABELS[key][LANGUAGES.index(_language)]
    return words.format(**values) if values else words
