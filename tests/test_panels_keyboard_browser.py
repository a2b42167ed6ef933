"""Panels in a real headless Chromium: each follows the keyboard, with the right numbers."""

import numpy as np
import pytest
from lab_server import chromium, lab, lab_page
from playwright.sync_api import expect
from shown_panel import PANELS, Shown, both_languages, moved, write_notebook

import andrea_lesson as al
from andrea_lesson import experiments
from andrea_lesson.costs import textbook_cost
from andrea_lesson.leakage import load_leakage
from andrea_lesson.panels import scaling, settings
from andrea_lesson.panels.cost import LENGTHS
from andrea_lesson.panels.layout import WIDTH
from andrea_lesson.panels.leakage import TYPICAL
from andrea_lesson.race_grid import load_grid
from andrea_lesson.racing import Setting, train
from andrea_lesson.timing import memory_size

pytestmark = pytest.mark.browser


# -- the keyboard, the numbers ---------------------------------------------------------------------


@both_languages
def test_panels_follow_the_keyboard(lab_page, language):
    al.set_language(language)
    name = write_notebook(lab_page.lab, f"panels_{language}.ipynb", language)
    lab_page.open(name)
    lab_page.run_all()
    assert lab_page.errors() == []
    for index, panel in enumerate(PANELS, 1):
        FOLLOW[panel](Shown(lab_page, index))
    assert lab_page.errors() == []
    assert lab_page.outside == []


def follow_attention(panel):
    box = panel.root.bounding_box()
    assert panel.root.locator(".andrea-stage").bounding_box()["width"] == WIDTH  # not squeezed
    moved(panel, "d_k", "ArrowRight", 3, "67", "d_k = 67")
    moved(panel, "T", "ArrowLeft", 4, "12", "T = 12")
    Q, K, V = (array.astype("float32") for array in experiments.random_qkv(12, 67))
    steps = al.attention_steps(Q, K, V, mask="causal")
    for number in (
        f"{steps.scores.std():.2f}",
        f"{steps.scaled_scores.std():.2f}",
        f"{float(experiments.effective_keys(steps.weights[-1])):.2f}",
        f"{steps.weights[-1].max():.3f}",
    ):
        expect(panel.summary).to_contain_text(number)
    assert panel.root.bounding_box() == box  # nothing jumps
    # The Tab key leads from slider to number to the next slider.
    panel.handle("T").focus()
    panel.page.keyboard.press("Tab")
    panel.page.keyboard.press("Tab")
    focused = panel.page.evaluate("document.activeElement.closest('.widget-slider').innerText")
    assert "d_k" in focused


def follow_generation(panel):
    before = panel.picture()
    panel.press(al.label("control_step"), "ArrowRight")
    expect(panel.readout(al.label("control_step"))).to_have_text("3")
    expect(panel.root.locator(".andrea-formulas")).to_contain_text("4", timeout=20_000)
    assert panel.picture() != before


def follow_mask(panel):
    moved(panel, "T", "ArrowRight", 2, "10", "T = 10")
    value = panel.root.locator(".widget-dropdown").filter(has_text="1e9").locator("select")
    before = panel.picture()
    value.select_option(label="0")
    expect(panel.root.locator(".widget-html [role=alert]")).to_be_visible(timeout=20_000)
    assert panel.picture() != before


def follow_qkv(panel):
    before = panel.picture()
    panel.press(al.label("control_row"), "ArrowLeft")
    expect(panel.summary).to_contain_text("(", timeout=20_000)
    panel.page.wait_for_timeout(300)
    assert panel.picture() != before


def follow_scaling(panel):
    wider = scaling.WIDTHS[scaling.WIDTHS.index(64) + 2]
    moved(panel, "d_k", "ArrowRight", 2, str(wider), f"d_k = {wider}")
    longer = scaling.LENGTHS[scaling.LENGTHS.index(128) + 1]
    moved(panel, "T", "ArrowRight", 1, str(longer), f"{longer} ")
    weights = al.softmax(experiments.random_row(wider, longer))
    expect(panel.summary).to_contain_text(f"{float(experiments.effective_keys(weights)):.3g}")


def follow_scores(panel):
    moved(panel, "d_k", "ArrowLeft", 4, "60", "d_k = 60")
    Q, K, _ = experiments.random_qkv(8, 60)
    row, column = (
        int(panel.readout(al.label(f"control_{n}")).inner_text()) for n in ("row", "column")
    )
    expect(panel.root.locator(".andrea-formulas")).to_contain_text(
        settings.short(float(Q[row] @ K[column]))
    )


def follow_softmax(panel):
    moved(panel, "d_k", "ArrowLeft", 4, "60", "d_k = 60")
    moved(panel, "T", "ArrowRight", 2, "10", "T = 10")
    steps = al.attention_steps(*experiments.random_qkv(10, 60), mask="causal")
    expect(panel.summary).to_contain_text(f"{steps.weights[7].max():.3g}", timeout=20_000)


def follow_cost(panel):
    T = next(length for length in LENGTHS if length > 1024)
    moved(panel, "T", "ArrowRight", 1, f"{T:,}", f"T = {T:,}")
    output = 12 * T * 64 * 4
    bytes_needed = textbook_cost(T, 64, n_head=12).working_bytes + output
    expect(panel.summary).to_contain_text(memory_size(bytes_needed))


def follow_gradient(panel):
    moved(panel, "d_k", "ArrowLeft", 4, "60", "d_k = 60")
    moved(panel, "T", "ArrowRight", 2, "18", "T = 18")
    Q, K, _ = experiments.random_qkv(18, 60)
    p = al.attention_weights(Q, K, mask="causal")[:, 4]  # of the target
    pulled = int((p * (1 - p) > 0.1 / 18).sum())
    expect(panel.summary).to_contain_text(f" {pulled} ")


def follow_tiles(panel):
    step = int(panel.readout(al.label("control_step")).inner_text()) + 1
    before = panel.picture()
    panel.press(al.label("control_step"), "ArrowRight")
    expect(panel.readout(al.label("control_step"))).to_have_text(str(step))
    row = int(panel.readout(al.label("control_row")).inner_text())
    now = list(al.tiled_steps(*experiments.random_qkv(16, 16), mask="causal", tile=4))[step]
    total = settings.short(float(now.running_sum[row - now.queries.start]))
    expect(panel.root.locator(".andrea-formulas")).to_contain_text(total, timeout=20_000)
    assert panel.picture() != before


def follow_race(panel):
    panel.press(al.label("control_eta"), "ArrowRight")
    expect(panel.readout(al.label("control_eta"))).to_have_text("0.01")
    expect(panel.summary).to_contain_text("η = 0.01", timeout=20_000)
    ends = [
        load_grid().points[Setting(eta=0.01, scaled=scaled)].accuracy for scaled in (True, False)
    ]
    for accuracy in ends:
        expect(panel.summary).to_contain_text(settings.short(float(np.mean(accuracy))))


def follow_training(panel):
    before = panel.picture()
    panel.press(al.label("control_step"), "ArrowLeft")
    expect(panel.readout(al.label("control_step"))).to_have_text("395")
    loss = train(Setting(), every=5).loss[-2]
    expect(panel.summary).to_contain_text(settings.short(float(loss)), timeout=20_000)
    assert panel.picture() != before


def follow_leakage(panel):
    before = panel.picture()
    panel.press(al.label("control_row"), "ArrowRight")
    expect(panel.readout(al.label("control_row"))).to_have_text("24")
    run = load_leakage(seed=TYPICAL)["causal", al.get_language()]
    head = int(panel.readout(al.label("control_head")).inner_text())
    weight = float(run.weights[head, 24].max())
    expect(panel.summary).to_contain_text(settings.short(weight), timeout=20_000)
    assert panel.picture() != before


FOLLOW = {
    "attention_panel": follow_attention,
    "cost_panel": follow_cost,
    "generation_panel": follow_generation,
    "gradient_panel": follow_gradient,
    "leakage_panel": follow_leakage,
    "mask_panel": follow_mask,
    "qkv_panel": follow_qkv,
    "race_panel": follow_race,
    "scaling_panel": follow_scaling,
    "scores_panel": follow_scores,
    "softmax_panel": follow_softmax,
    "tiles_panel": follow_tiles,
    "training_panel": follow_training,
}
