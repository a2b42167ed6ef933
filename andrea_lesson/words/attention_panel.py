"""The words of the attention panel."""

# key: (繁體中文, English)
ATTENTION_LABELS: dict[str, tuple[str, str]] = {
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
}
