"""The words of the query, key and value panel."""

# key: (繁體中文, English)
QKV_LABELS: dict[str, tuple[str, str]] = {
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
}
