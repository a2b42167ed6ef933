"""The words of timings and of the cost panel."""

# key: (繁體中文, English)
COST_LABELS: dict[str, tuple[str, str]] = {
    # -- timing ----------------------------------------------------------------------------
    "machine_cpu": ("CPU，{threads} 條執行緒", "CPU, {threads} threads"),
    "machine_cpu_one": ("CPU，1 條執行緒", "CPU, 1 thread"),
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
        "＋ Python 每跑一趟的固定開銷；量的時候用隨機向量",
        "predicted = counts ÷ speeds here ({device}; main memory, a cache is faster) + Python's "
        "overhead; measured on random vectors",
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
    "cost_textbook_memory_short": (
        "課本寫法的記憶體　{matrices} 張表 × {n_head} 個頭 × {T}² × {wide} B + 遮罩、V 的副本"
        "和兩份輸出 = {bytes}{measured}",
        "textbook memory: {matrices} tables × {n_head} heads × {T}² × {wide} B + mask, a copy of "
        "V, two of the output = {bytes}{measured}",
    ),
    "cost_textbook_memory_short_full": (
        "課本寫法的記憶體　{matrices} 張表 × {n_head} 個頭 × {T}² × {wide} B + V 的副本和兩份輸出"
        " = {bytes}{measured}",
        "textbook memory: {matrices} tables × {n_head} heads × {T}² × {wide} B + a copy of V, two "
        "of the output = {bytes}{measured}",
    ),
    "cost_tiled_memory": (
        "分塊寫法的記憶體　每條執行緒一塊分數（{rows} × {columns}）和一個頭的 V，加上輸出"
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
}
