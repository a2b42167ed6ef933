"""A tiny lesson of its own, in a temporary folder, for the tests of the builder."""

import json
import shutil
from pathlib import Path

import pytest

import build

ROOT = Path(__file__).resolve().parents[1]

SOURCE = r"""# %% [markdown] lang="zh-Hant" key="title" tags=["core"]
# # 小小的課
#
# 分數是 $q \cdot k$，用 `softmax` 變成權重，見[下一課](00_tiny.ipynb)：
#
# $$S = Q K^\top$$
#
# ```cuda
# float s = 0.0f;
# ```

# %% [markdown] lang="en" key="title" of="TITLE" tags=["core"]
# # A tiny lesson
#
# The scores are $q \cdot k$; `softmax` makes them weights, see [the next one](00_tiny.ipynb):
#
# $$S = Q K^\top$$
#
# ```cuda
# float s = 0.0f;
# ```

# %% key="setup" tags=["core"]
LANGUAGE = "zh-Hant"

try:
    import andrea_lesson as al
except ModuleNotFoundError:
    raise ModuleNotFoundError("請先安裝套件。\nInstall the package first.") from None
al.set_language(LANGUAGE)

# %% [markdown] lang="zh-Hant" key="claim"
# ## 平均值
#
# 每一列（row）的總和是 1，**看得到的**都算在內。

# %% [markdown] lang="en" key="claim" of="CLAIM"
# ## The mean
#
# Every row sums to 1, counting all **that can be seen**.

# %% key="numbers"
third = 1 / 3  # third, shape (1, 3)
print(al.label("weights"), third, 1234567.0)
[third, 2]

# %% key="picture"
from IPython.display import display

pixel = b"\x89PNG"
display({"image/png": "iVBORw0KGgo=", "text/plain": repr(object())}, raw=True)

# %% key="clock" tags=["volatile"]
import time

print(time.time())
"""

LABELS = '''\
"""Words (like 繁體中文, these here) of a docstring do not count."""
LABELS = {"weights": ("注意力權重", "attention weights"), "row": ("第 {i} 列", "row {i}")}
'''

README = """\
# A tiny lesson (小小)

A tiny lesson (in Traditional Chinese, 繁體中文, first).

## 繁體中文

這是一課小小的課，用 `build.py` 產生。
"""


def new_project(root: Path) -> Path:
    for folder in ("data", "andrea_lesson", "notebooks/src"):
        (root / folder).mkdir(parents=True)
    shutil.copy(ROOT / "data" / "glossary.csv", root / "data")
    (root / "andrea_lesson" / "labels.py").write_text(LABELS, encoding="utf-8")
    (root / "README.md").write_text(README, encoding="utf-8")
    (root / "notebooks" / "src" / "00_tiny.py").write_text(SOURCE, encoding="utf-8")
    assert build.main(["--stamp", "00", "all"], root) == 0
    return root


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    root = new_project(tmp_path_factory.mktemp("clean"))
    assert build.main([], root) == 0
    return root


@pytest.fixture
def root(built, tmp_path):
    shutil.copytree(built, tmp_path / "copy")
    return tmp_path / "copy"


def source_of(root):
    return root / "notebooks" / "src" / "00_tiny.py"


def stored_of(root, language="zh-Hant"):
    return root / "notebooks" / language / "00_tiny.ipynb"


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (old, text.count(old))
    path.write_text(text.replace(old, new), encoding="utf-8")


def edit_stored(root, change):
    notebook = json.loads(stored_of(root).read_text(encoding="utf-8"))
    change(notebook, {cell.get("id"): cell for cell in notebook["cells"]})
    stored_of(root).write_text(json.dumps(notebook), encoding="utf-8")


def the_fault(root, capsys):
    """The one line with which the check fails, after the notebooks were written anew."""
    build.main(["--no-run"], root)
    capsys.readouterr()
    assert build.main(["--check"], root) == 1
    *problems, summary = capsys.readouterr().out.strip().split("\n")
    assert summary.startswith(f"{len(problems)} problems")
    return problems
