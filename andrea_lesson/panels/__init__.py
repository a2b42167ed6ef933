"""Live panels: controls that recompute an experiment and redraw its picture as they move.

``from andrea_lesson import panels``, then for example ``panels.attention_panel()`` as the last
line of a cell.  Every panel is a widget with ``.controls``, ``.state``, ``.summary`` and
``.error``, so that it can be driven and checked without a browser.
"""

from .attention import attention_panel
from .base import Panel, exercise_all
from .mask import mask_panel
from .scaling import scaling_panel
from .softmax import softmax_panel

__all__ = [
    "Panel",
    "attention_panel",
    "exercise_all",
    "mask_panel",
    "scaling_panel",
    "softmax_panel",
]
