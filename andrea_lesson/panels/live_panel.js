// The panel around a live view: ipywidgets' own controls, and what they lack.  See live_looks.js.

const adopted = new WeakSet();

/** Mend what ipywidgets' own controls in the same panel lack: their keys, Escape, names. */
function adoptPanel(view) {
  const { root } = view,
    { signal } = view.leave;
  const panel = root.closest(".andrea-panel") ?? (root.isConnected ? root : null);
  if (!panel || adopted.has(panel)) return;
  adopted.add(panel);
  panel.setAttribute("lang", root.lang);
  // Notebooks listen for their shortcuts before any control does; on the window we are first.
  window.addEventListener(
    "keydown",
    (event) => {
      if (panel.contains(event.target))
        event.target.toggleAttribute("data-lm-suppress-shortcuts", isForControls(event));
    },
    { capture: true, signal },
  );
  panel.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && !isOpen(event.target))
        backToNotebook(panel, event);
    },
    { signal },
  );
  const mended = new Set();
  const watcher = new MutationObserver((changes) => {
    if (changes.some((change) => change.addedNodes.length)) mend();
  });
  const mend = () => {
    watcher.observe(panel, { childList: true });
    for (const child of panel.children) {
      // controls may come late; the picture need not be watched
      if (!child.contains(root)) watcher.observe(child, { childList: true, subtree: true });
    }
    panel
      .querySelectorAll(".widget-slider")
      .forEach((slider) => mendSlider(slider, mended, view));
  };
  signal.addEventListener("abort", () => {
    watcher.disconnect();
    adopted.delete(panel);
  });
  mend();
}

/** Whether a key is for a control and no shortcut: "d d" would delete the cell. */
function isForControls({ key, shiftKey, ctrlKey, metaKey, altKey }) {
  if (/^(Arrow|Home|End|Page)/.test(key)) return true;
  return !ctrlKey && !metaKey && !altKey && !(shiftKey && key === "Enter");
}

/** A drop-down list that is open needs Escape for itself. */
function isOpen(element) {
  try {
    return element.matches("select:open");
  } catch {
    return false;
  } // a browser without :open
}

/** Leave the keyboard to the notebook, at the cell of the panel. */
function backToNotebook(panel, event) {
  const cell = panel.closest(".jp-Cell"),
    notebook = panel.closest(".jp-Notebook");
  const target = [cell, notebook].find((element) => element?.hasAttribute("tabindex"));
  document.activeElement?.blur();
  if (!target) return;
  event.preventDefault();
  event.stopPropagation();
  target.focus({ preventScroll: true });
}

let named = 0;

/** Give a slider the name of its control, and let it say what its readout shows. */
function mendSlider(slider, mended, view) {
  const { signal } = view.leave;
  if (!slider.querySelector(".noUi-handle") || mended.has(slider)) return;
  mended.add(slider);
  const label = slider.querySelector(".widget-label"),
    readout = slider.querySelector(".widget-readout");
  if (label) label.id ||= `andrea-label-${++named}`;
  if (readout) {
    readout.setAttribute("role", "textbox");
    if (label) readout.setAttribute("aria-labelledby", label.id);
    if (view.model.get("stepped")?.includes(label?.textContent)) takeTyping(readout, label, view);
  }
  const say = () => {
    for (const handle of slider.querySelectorAll(".noUi-handle")) {
      if (label && handle.getAttribute("aria-labelledby") !== label.id)
        handle.setAttribute("aria-labelledby", label.id);
      const words = readout?.textContent;
      // Only if it differs: what is set here is seen by the observer as well.
      if (words && handle.getAttribute("aria-valuetext") !== words)
        handle.setAttribute("aria-valuetext", words);
    }
  };
  const watcher = new MutationObserver(say);
  watcher.observe(slider, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: ["aria-valuetext"],
  });
  signal.addEventListener("abort", () => watcher.disconnect());
  say();
}

/** A number typed beside a slider over uneven steps, which ipywidgets would leave unread. */
function takeTyping(readout, label, view) {
  const options = { capture: true, signal: view.leave.signal };
  let before = "";
  const take = async (event) => {
    event.stopImmediatePropagation();
    const text = readout.textContent.trim();
    if (text === before) return;
    before = text;
    const { shown } = await view.channel.ask({ type: "typed", name: label.textContent, text });
    if (shown !== undefined) setText(readout, (before = shown));
  };
  readout.addEventListener("focus", () => (before = readout.textContent.trim()), options);
  readout.addEventListener("blur", take, options);
  readout.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      take(event);
    },
    options,
  );
}
