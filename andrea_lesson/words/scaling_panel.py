"""The words of the scaling panel."""

# key: (繁體中文, English)
SCALING_LABELS: dict[str, tuple[str, str]] = {
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
}
