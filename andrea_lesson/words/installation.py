"""The words of the check of the installation and of the command line."""

# key: (繁體中文, English)
INSTALLATION_LABELS: dict[str, tuple[str, str]] = {
    "list_comma": ("、", ", "),
    "cli_working_copy": ("工作副本：{folder}", "Working copy: {folder}"),
    "cli_newer_lesson": (
        "課程有新版，已另存為 {new}；你的 {old} 沒有更動。",
        "A newer lesson was put at {new}; your {old} is unchanged.",
    ),
    "cli_folder_fails": (
        "無法在 {folder} 建立工作副本：{reason}。請用 --dir 指定另一個資料夾。",
        "The working copy cannot be made in {folder}: {reason}. Choose another folder with --dir.",
    ),
    "cli_file_in_the_way": ("有檔案擋住（{path}）", "a file is in the way ({path})"),
    "cli_folder_in_the_way": ("有資料夾擋住（{path}）", "a folder is in the way ({path})"),
    "cli_folder_is_lesson": (
        "{folder} 是課程本身的資料夾，不能當作工作副本。請用 --dir 指定另一個資料夾。",
        "{folder} belongs to the lesson itself and cannot be the working copy. "
        "Choose another folder with --dir.",
    ),
    "cli_no_folder_named": (
        "--dir 後面沒有資料夾的名稱。",
        "No folder is named after --dir.",
    ),
    "cli_current_folder_gone": (
        "目前所在的資料夾已經不存在，請先切換到別的資料夾。",
        "The current folder no longer exists; change to another one first.",
    ),
    "cli_no_such_command": (
        "「{word}」不是指令，也不是這裡的檔案。要畫圖，請執行 andrea-lesson plot --help。",
        "{word} is neither a command nor a file here. For figures, run andrea-lesson plot --help.",
    ),
    "cli_missing": (
        "缺少 {missing}。請執行：{line}",
        "{missing} not installed. Run: {line}",
    ),
    "plot_sum_too_long": (
        "--lengths 的總和最多是 {high}；收到的總和是 {total}。",
        "--lengths may add up to {high} at most; got {total}.",
    ),
    "cli_broken": (
        "{name} 已損壞或無法載入（{reason}）。請執行：{line}",
        "{name} is damaged or does not load ({reason}). Run: {line}",
    ),
    "check_ok": ("可用", "ok"),
    "check_note": ("說明", "note"),
    "check_warning": ("注意", "warning"),
    "check_missing": ("缺少", "missing"),
    "check_remedy": ("請執行 {line}，再重新啟動核心。", " Run {line} and restart the kernel."),
    "check_python": ("Python {version}：{path}", "Python {version}: {path}"),
    "check_package": ("andrea_lesson {version}：{path}", "andrea_lesson {version}: {path}"),
    "check_version": ("{name} {version}", "{name} {version}"),
    "check_too_old": (
        "{name} {version}，課程需要 {wanted}。",
        "{name} {version}; the lesson needs {wanted}.",
    ),
    "check_absent": ("沒有安裝 {name}。", "{name} is not installed."),
    "check_broken": (
        "{name} 已損壞或無法載入（{reason}）。",
        "{name} is damaged or does not load ({reason}).",
    ),
    "check_no_sliders": (
        "ipywidgets {version} 在 VS Code 畫不出滑桿。",
        "ipywidgets {version} draws no sliders in VS Code.",
    ),
    "check_server": (
        "伺服器：JupyterLab {lab}，jupyterlab_widgets {widgets}（{python}）",
        "Server: JupyterLab {lab}, jupyterlab_widgets {widgets} ({python})",
    ),
    "check_server_unseen": (
        "從核心看不到伺服器；VS Code、Colab 等環境自己負責畫出滑桿。",
        "The server cannot be seen from this kernel; VS Code, Colab and the like draw the "
        "sliders themselves.",
    ),
    "check_server_widgets": (
        "伺服器的 JupyterLab {lab} 畫不出滑桿：jupyterlab_widgets 是 {widgets}，需要 3 以上。"
        "請在終端機執行 {line}，再重新啟動 JupyterLab。",
        "The server's JupyterLab {lab} cannot draw the sliders: jupyterlab_widgets is "
        "{widgets}, and 3 or newer is needed. Run {line} in a terminal and restart JupyterLab.",
    ),
    "check_none": ("無", "absent"),
    "check_font": ("圖中的中文字型：{font}", "Font for Chinese in figures: {font}"),
    "check_no_font": (
        "找不到繁體中文字型，圖上的文字改用英文。",
        "No Traditional Chinese font found; figures are labelled in English.",
    ),
    "check_gpu": ("GPU：{name}，CuPy {version} 可用。", "GPU: {name}, and CuPy {version} works."),
    "check_no_gpu": (
        "CuPy {version} 找不到可用的 GPU，課程改用 CPU，內容完全相同。",
        "CuPy {version} finds no GPU; the lesson runs on the CPU, with the same content.",
    ),
    "check_gpu_fails": (
        "有 CuPy {version}，但 GPU 不能用，課程改用 CPU（{reason}）。",
        "CuPy {version} is installed, but the GPU does not work, so the CPU is used ({reason}).",
    ),
    "check_no_cupy": (
        "沒有 CuPy，課程全程用 CPU，內容完全相同。",
        "No CuPy; the lesson runs on the CPU, with the same content.",
    ),
    "check_cupy_possible": (
        "有 NVIDIA 驅動程式（CUDA {cuda}），但沒有 CuPy，課程改用 CPU。",
        "There is an NVIDIA driver (CUDA {cuda}) but no CuPy, so the CPU is used.",
    ),
    "check_wheels": (
        "同時裝了 {count} 個 CuPy：{wheels}，會互相干擾。請執行 {remove}，再執行 {install}，"
        "最後重新啟動核心。",
        "{count} CuPy packages are installed and disturb each other: {wheels}. "
        "Run {remove}, then {install}, and restart the kernel.",
    ),
    "check_wrong_wheel": (
        "{wheel} 需要更新的驅動程式（目前只到 CUDA {cuda}）。請執行 {remove}，再執行 {install}，"
        "最後重新啟動核心。",
        "{wheel} needs a newer driver (this one serves CUDA {cuda}). "
        "Run {remove}, then {install}, and restart the kernel.",
    ),
}
