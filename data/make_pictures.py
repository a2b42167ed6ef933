"""Draw the pictures of the README: the running example on its way through attention."""

from pathlib import Path

import andrea_lesson as al
from andrea_lesson.plotting import plot_attention_steps, save

for language in ("zh-Hant", "en"):
    al.set_language(language)
    example = al.running_example()
    Q, K, V = al.project_qkv(example.X, example.W_Q, example.W_K, example.W_V)
    axes = plot_attention_steps(al.attention_steps(Q, K, V, mask="causal"), tokens=example.tokens)
    save(axes[0].figure, Path(__file__).with_name(f"steps-{language}.png"))
