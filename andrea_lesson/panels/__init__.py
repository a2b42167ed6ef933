"""Live panels: controls that recompute an experiment and redraw its picture as they move.

``from andrea_lesson import panels``, then for example ``panels.attention_panel()`` as the last
line of a cell.  Every panel is a widget with ``.controls``, ``.state``, ``.summary`` and
``.error``, so that it can be driven and checked without a browser.  Where a front end cannot
load the module that draws, ``view="matplotlib"`` shows the same panel as an image;
``panels.figure(panels.attention_panel)`` draws how it starts, for print.
"""

from .attention import attention_panel
from .base import Panel, exercise_all, figure
from .cost import cost_panel
from .generation import generation_panel
from .gradient import gradient_panel
from .leakage import leakage_panel
from .mask import mask_panel
from .qkv import qkv_panel
from .race import race_panel
from .scaling import scaling_panel
from .scores import scores_panel
from .softmax import softmax_panel
from .tiles import tiles_panel
from .training import training_panel

__all__ = [
    "Panel",
    "attention_panel",
    "cost_panel",
    "exercise_all",
    "figure",
    "generation_panel",
    "gradient_panel",
    "leakage_panel",
    "mask_panel",
    "qkv_panel",
    "race_panel",
    "scaling_panel",
    "scores_panel",
    "softmax_panel",
    "tiles_panel",
    "training_panel",
]
