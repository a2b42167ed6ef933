"""The words of the leakage panel."""

# key: (繁體中文, English)
LEAKAGE_LABELS: dict[str, tuple[str, str]] = {
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
    "leakage_guesses": ("亂猜（上）、只看字頻（下）", "blind guess (upper), by frequency (lower)"),
    "leakage_weights": ("注意力權重\n頭 {head}", "attention weights\nhead {head}"),
    "leakage_probe": (
        "換掉位置 {changed} 的字\n各列 ln p 最多差多少",
        "replace position {changed}:\nlargest change of ln p",
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
        "亂猜 ln {vocabulary} = {uniform}，只看字頻 {unigram}",
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
        "老實考的損失 {honest}{against}，亂猜 {uniform}；{verdict}；"
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
}
