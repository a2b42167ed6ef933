"""The words of the tiles panel."""

# key: (繁體中文, English)
TILES_LABELS: dict[str, tuple[str, str]] = {
    "control_tile": ("分塊的邊長", "tile size"),
    "tiles_scores": (
        "縮放、遮罩後的分數\n第 {step} 步，共 {count} 塊",
        "scaled, masked scores\nstep {step}, tiles: {count}",
    ),
    "tiles_skipped": ("跳過", "skipped"),
    "tiles_coming": ("還沒算", "still to come"),
    "tiles_max": ("目前的\n最大值 m", "maximum m\nso far"),
    "tiles_max_reading": ("目前的最大值", "maximum so far"),
    "tiles_sum": ("目前的\n總和 l", "sum l\nso far"),
    "tiles_sum_reading": ("目前的總和", "sum so far"),
    "tiles_rescale": ("舊的總和\n要乘上", "old sum\ntimes"),
    "tiles_rescale_reading": ("舊的總和要乘上", "factor of the old sum"),
    "tiles_output": ("查詢 {row}\n目前的輸出", "output of query {row}\nso far"),
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
}
