"""The words of the scores panel and the gradient panel."""

# key: (繁體中文, English)
SCORES_AND_GRADIENT_LABELS: dict[str, tuple[str, str]] = {
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
        "縮放後分數的梯度\ndS = A ⊙（dA − 加權平均）",
        "gradient of scaled scores\ndS = A ⊙ (dA − weighted mean)",
    ),
    "gradient_reading": ("梯度", "gradient"),
    "gradient_pull": ("目標的拉力\np (1 − p)", "pull at the target\np (1 − p)"),
    "gradient_unseen": ("看不到目標", "cannot see the target"),
    "gradient_hidden": (
        "第 {row} 列看不到鍵 {target}（遮罩），所以梯度是 0",
        "row {row} cannot see key {target} (mask), so its gradient is 0",
    ),
    "gradient_of_target": (
        "損失 −Σ A[i, {target}]：第 {row} 列的 p = {p}，目標的 dS = −p (1 − p) = {gradient}",
        "loss −Σ A[i, {target}]: row {row} has p = {p}, dS of the target = −p (1 − p) = {gradient}",
    ),
    "gradient_scaled": (
        "縮放前分數的梯度 = {gradient} ÷ √d_k = {gradient} ÷ √{d_k} = {gradient} ÷ {root} = "
        "{dscore}",
        "gradient of the unscaled score = {gradient} ÷ √d_k = {gradient} ÷ √{d_k} = "
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
}
