"""The words of guesses, quizzes, progress and report."""

# key: (繁體中文, English)
GUESS_LABELS: dict[str, tuple[str, str]] = {
    "guess_curve_hint": (
        "在圖上拖曳，畫出你預期的曲線；鍵盤：← → 選點、↑ ↓ 移動、Enter 定案、Escape 離開。",
        "Drag across the plot to draw the curve you expect. Keys: ← → choose a point, "
        "↑ ↓ move it, Enter commits, Escape leaves.",
    ),
    "guess_cells_hint": (
        "點一下或拖曳，把你預期的格塗上顏色；"
        "鍵盤：方向鍵移動、空白鍵塗色、Enter 定案、Escape 離開。",
        "Click or drag to shade the cells you expect. Keys: arrows move, Space shades, "
        "Enter commits, Escape leaves.",
    ),
    "guess_curve_name": ("先猜猜看：曲線", "Guess first: a curve"),
    "guess_cells_name": ("先猜猜看：格子", "Guess first: cells"),
    "guess_commit": ("就這麼猜", "Commit my guess"),
    "guess_clear": ("清除", "Clear"),
    "guess_anew": ("重新猜", "Guess anew"),
    "guess_table": ("用表格填", "Use a table"),
    "guess_tools": ("猜測的工具", "Tools of the guess"),
    "guess_mine": ("你的猜測", "your guess"),
    "guess_truth": ("實際", "actual"),
    "guess_waiting": ("量測中……", "Measuring …"),
    "guess_none": ("沒有", "none"),
    "guess_unset": ("還沒畫", "not drawn yet"),
    "guess_point": ("{x_label}＝{x}", "{x_label} = {x}"),
    "guess_drawn": ("{y_label}＝{value}", "{y_label} = {value}"),
    "guess_both": ("你猜 {guess}，實際是 {truth}", "you guessed {guess}, it is {truth}"),
    "guess_cell": (
        "第 {row} 列 {row_name}，第 {column} 行 {column_name}",
        "row {row} {row_name}, column {column} {column_name}",
    ),
    "guess_shaded": ("已塗色", "shaded"),
    "guess_blank": ("空白", "blank"),
    "guess_hit": ("猜對", "right"),
    "guess_missed": ("漏掉", "missed"),
    "guess_extra": ("多猜", "too many"),
    "guess_rest": ("空白，也猜對", "blank, and right"),
    "guess_bad_number": (
        "「{text}」不是數字；請填像 2.5 這樣的數字。",
        "“{text}” is not a number; write one such as 2.5.",
    ),
    "guess_out_of_range": (
        "{value} 超出圖的範圍（{low} 到 {high}）。",
        "{value} lies outside the plot ({low} to {high}).",
    ),
    "guess_points_missing": (
        "還有 {count} 個點沒畫：{places}。畫完再定案，就能看到實際的曲線。",
        "Points still to draw: {places} ({count} in all). Draw them, then commit to see the "
        "actual curve.",
    ),
    "guess_no_cells": (
        "還沒塗任何一格。先塗出你預期的格，再定案。",
        "No cell is shaded yet. Shade those you expect, then commit.",
    ),
    "guess_wrong_count": (
        "這個猜測要填 {wanted} 個數，收到的是 {came} 個。",
        "This guess takes {wanted} numbers; it got {came}.",
    ),
    "guess_wrong_shape": (
        "這個猜測要填 {rows} 列 × {columns} 行的 True 與 False，收到的是{came}。",
        "This guess takes {rows} rows × {columns} columns of True and False; it got {came}.",
    ),
    "guess_no_numbers": (
        "猜測要填數字，收到的是「{came}」。",
        "A guess is made of numbers; it got “{came}”.",
    ),
    "guess_came_shape": ("形狀 {shape}", "shape {shape}"),
    "guess_committed": (
        "這個猜測已經定案；想再猜一次，請按「重新猜」或呼叫 .anew()。",
        "This guess is committed; to try again press “Guess anew” or call .anew().",
    ),
    "guess_truth_failed": (
        "量測沒有成功（{problem}）；你的猜測還在。",
        "The measurement failed ({problem}); your guess is still here.",
    ),
    "guess_rises": ("往上", "rises"),
    "guess_falls": ("往下", "falls"),
    "guess_level": ("大致持平", "stays about level"),
    "guess_peaks": ("先上後下", "goes up and then down"),
    "guess_dips": ("先下後上", "goes down and then up"),
    "guess_same_way": (
        "走向猜對了：{truth}。",
        "You got the direction: the actual curve {truth}, as yours does.",
    ),
    "guess_other_way": (
        "走向不同：你畫的{guess}，實際的{truth}。",
        "The direction differs: yours {guess}, the actual curve {truth}.",
    ),
    "guess_close": (
        "每一點都很接近，差最多的一點：",
        " It is close all along; even where it is farthest off,",
    ),
    "guess_farthest": ("差最多的地方：", " Farthest apart:"),
    "guess_there": (
        "{x_label}＝{x}，你猜 {guess}，實際是 {truth}{factor}。",
        " at {x_label} = {x} you guessed {guess}; it is {truth}{factor}.",
    ),
    "guess_factor": ("（相差 {factor} 倍）", " (a factor of {factor})"),
    "guess_not_finite": (
        "有 {count} 個點沒有有限的實際值，不列入比較。",
        " Points without a finite actual value, left out of this: {count}.",
    ),
    "guess_all_cells": (
        "全部猜對：{total} 格一格不差。",
        "All right: every one of the {total} cells, and none too many.",
    ),
    "guess_some_cells": (
        "該塗的 {total} 格，猜對 {hit} 格，漏掉 {missed} 格；另外多猜 {extra} 格。",
        "Of {total} cells you found {hit}; missed: {missed}, too many: {extra}.",
    ),
    "guess_run_this_cell": (
        "靜態圖：執行這個儲存格，就能畫出你的猜測",
        "Still picture: run this cell to draw your guess",
    ),
    "guess_earlier": ("以前猜過 {count} 次", "guessed before: {count} ×"),
    "progress_title": ("學習進度", "Progress"),
    "progress_notebook": ("筆記本 {notebook}", "Notebook {notebook}"),
    "progress_course": ("整個課程", "The whole course"),
    "progress_exercises": ("練習通過 {done}／{of}", "exercises passed: {done} of {of}"),
    "progress_quiz": ("小測驗答對 {done}／{of}", "quiz: {done} of {of} right"),
    "progress_guesses": ("先猜過 {count} 題", "guesses made: {count}"),
    "progress_nothing": ("還沒有題目", "no exercises yet"),
    "progress_and": ("，", ", "),
    "progress_not_kept": (
        "進度寫不進 {folder}（{reason}），這次只記在記憶體裡。",
        "Progress cannot be written to {folder} ({reason}); this time it stays in memory only.",
    ),
    "progress_unread": (
        "讀不到進度檔 {path}（{reason}），先略過。",
        "The progress file {path} cannot be read ({reason}); it is passed over.",
    ),
    "progress_damaged": (
        "有一個進度檔損壞了，已改名放在 {path}，其餘的進度照常。",
        "A progress file was damaged and now lies at {path}; all other progress goes on.",
    ),
    "report_title": ("注意力機制課程：學習報告", "Attention lesson: what I have done"),
    "report_name": ("姓名", "Name"),
    "report_date": ("日期", "Date"),
    "report_progress": ("進度", "Progress"),
    "report_exercises": ("練習", "Exercises"),
    "report_guesses": ("先猜猜看", "Guesses"),
    "report_quiz": ("小測驗", "Quiz"),
    "report_exercise": ("題目", "exercise"),
    "report_question": ("問題", "question"),
    "report_tried": ("試了幾次", "tries"),
    "report_passed": ("結果", "result"),
    "report_last": ("最後一次", "last try"),
    "report_done": ("✓ 通過", "✓ passed"),
    "report_open": ("○ 還沒通過", "○ not yet passed"),
    "report_right": ("✓ 答對", "✓ right"),
    "report_not_right": ("○ 還沒答對", "○ not yet right"),
    "report_none": ("還沒有紀錄。", "Nothing recorded yet."),
    "report_guess_number": ("第 {number} 次猜（共 {of} 次）", "guess {number} of {of}"),
    "report_drawing": (
        "虛線方塊：猜測；實線圓點：實際",
        "dashed, squares: guess; solid, dots: actual",
    ),
    "report_cells_drawing": (
        "✓ 猜對　○ 漏掉　✕ 多猜",
        "✓ right, ○ missed, ✕ too many",
    ),
    "report_in_the_way": (
        "{path} 不是學習報告，所以沒有覆寫；請換一個檔名。",
        "{path} is not a report and is left as it is; give another name.",
    ),
    "report_not_written": (
        "報告寫不進 {path}（{reason}）；請換一個位置。",
        "The report cannot be written to {path} ({reason}); give another place.",
    ),
    "quiz_title": ("小測驗：筆記本 {notebook}", "Quiz: notebook {notebook}"),
    "quiz_number": ("第 {number} 題，共 {of} 題", "Question {number} of {of}"),
    "quiz_several": ("（可複選）", " (choose all that apply)"),
    "quiz_answer": ("回答", "Answer"),
    "quiz_answer_to": ("回答第 {number} 題", "Answer question {number}"),
    "quiz_none": ("先選一個答案，再按「回答」。", "Choose an answer first, then press “Answer”."),
    "quiz_right": ("✓ 答對了。", "✓ Right. "),
    "quiz_wrong": ("✕ 再想想。", "✕ Not yet. "),
    "quiz_incomplete": (
        "選的都對，但還有漏掉的。",
        "What you chose is right, but there is more.",
    ),
    "quiz_again": ("改選後可以再答一次。", " Choose again whenever you like."),
    "quiz_score": ("目前答對 {done}／{of}", "right so far: {done} of {of}"),
    "quiz_run_this_cell": (
        "小測驗：執行這個儲存格，就能作答。",
        "Quiz: run this cell to answer it.",
    ),
    "quiz_no_such_answer": (
        "沒有這一題或這個選項：題目從 0 到 {of} − 1，選項是串列，也從 0 數起。",
        "There is no such question or choice: questions go from 0 to {of} − 1, and choices are a "
        "list of places from 0.",
    ),
    "quiz_no_such": (
        "notebook 必須是 {choices} 其中之一；收到的是「{value}」。",
        "notebook must be one of {choices}; got “{value}”.",
    ),
}
