"""The words of the generation panel."""

# key: (繁體中文, English)
GENERATION_LABELS: dict[str, tuple[str, str]] = {
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
}
