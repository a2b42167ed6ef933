"""The words of the training panel and the race panel."""

# key: (繁體中文, English)
TRAINING_LABELS: dict[str, tuple[str, str]] = {
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
    "race_chaotic": ("混沌：換台電腦可能不同", "chaotic, not repeatable"),
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
    "training_interrupted": (
        "訓練中斷了，這個設定還沒有結果；動一下任何一個控制項就會再訓練一次。",
        "The training was interrupted, so there is nothing to show yet; move any control to train "
        "again.",
    ),
    "race_interrupted": (
        "比賽中斷了，圖還是原來的；再按「{button}」會從頭比。",
        "The race was interrupted, and the picture is the former one; “{button}” begins anew.",
    ),
    "race_no_grid": (
        "讀不到收錄的格子表（{name}）；執行 {command} 可以重做。",
        "The shipped grid ({name}) cannot be read; {command} makes it again.",
    ),
    "race_outside": (
        "η = {eta} 不在 {optimiser} 的格子表上（{low} 到 {high}）；適合這個最佳化器的學習率"
        "都在那個範圍裡。",
        "η = {eta} lies outside the grid of {optimiser} ({low} to {high}), which covers the rates "
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
}
