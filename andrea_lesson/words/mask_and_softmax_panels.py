"""The words of the mask panel and the softmax panel."""

# key: (繁體中文, English)
MASK_AND_SOFTMAX_LABELS: dict[str, tuple[str, str]] = {
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
}
