// Guess first: what curve and cells share, and what is said to Python.  See guess_curve.js.
//
// Python (guess.py) has the last word: the trait `state` holds the guess as it knows it, and the
// truth once the guess is committed.  What is drawn here is shown at once and told soon after.

const SOON = 250; // milliseconds after the last stroke until Python is told
const SLOW = 400; // after which the measurement is said to take a while
const DEAF = 30000; // after which the kernel is said not to answer

class GuessView {
  constructor(model, el) {
    this.model = model;
    this.words = model.get("words");
    this.spec = model.get("spec");
    this.state = model.get("state");
    this.values = structuredClone(this.state.values);
    this.name = Math.random().toString(36).slice(2);
    this.sent = 0; // number of the last message
    this.leave = new AbortController();
    this.board = this.spec.kind === "curve" ? new CurveBoard(this) : new CellsBoard(this);
    this.build(el);
    this.watch();
    this.show();
  }

  build(el) {
    const { words, spec, board } = this;
    const button = (text, react) => {
      const one = make("button", { type: "button", textContent: text });
      one.addEventListener("click", () => one.getAttribute("aria-disabled") !== "true" && react());
      return one;
    };
    this.commitButton = button(words.guess_commit, () => this.commit());
    this.againButton = button("", () => this.again());
    this.tools = make(
      "div",
      { className: "andrea-tools", role: "toolbar", "aria-label": words.guess_tools },
      this.commitButton,
      this.againButton,
    );
    if (board.table) {
      this.tableButton = button(words.guess_table, () => this.switchTable());
      this.tableButton.setAttribute("aria-pressed", "false");
      this.tools.append(this.tableButton);
    }
    this.earlier = make("span", { className: "andrea-guess-earlier" });
    this.tools.append(this.earlier);
    this.said = make("div", { className: "andrea-guess-said" });
    this.spoken = make("div", { className: "andrea-spoken", role: "status" });
    this.problem = make("div", { className: "andrea-problem", role: "alert" });
    this.root = make(
      "div",
      {
        className: "andrea-view andrea-guess",
        lang: this.model.get("language"),
        role: "group",
        "aria-label": spec.title,
      },
      make("div", { className: "andrea-guess-title", textContent: spec.title }),
      board.element,
      board.legend,
      this.said,
      this.spoken,
      this.tools,
      this.problem,
    );
    el.append(this.root);
  }

  watch() {
    const { signal } = this.leave;
    this.onState = () => this.follow();
    this.model.on("change:state", this.onState);
    // Only in the page it finds its panel and its colours, and it may come there later.
    this.resized = new ResizeObserver(() => {
      if (!this.root.clientWidth) return;
      adoptPanel(this);
      if (!this.looked) readLook(this.root);
      this.looked = true;
    });
    this.resized.observe(this.root);
    const restyle = () => this.root.isConnected && readLook(this.root);
    this.themed = new MutationObserver(() => {
      restyle();
      this.later = setTimeout(restyle, 400); // its style sheet may come later
    });
    this.themed.observe(document.body, {
      attributes: true,
      attributeFilter: ["data-jp-theme-name", "data-jp-theme-light", "class"],
    });
    for (const query of ["(forced-colors: active)", "(prefers-color-scheme: dark)"])
      matchMedia(query).addEventListener("change", restyle, { signal });
  }

  remove() {
    if (this.unsent) this.send("draw");
    this.leave.abort();
    this.resized.disconnect();
    this.themed.disconnect();
    for (const timer of [this.later, this.unsent, this.slow, this.deaf]) clearTimeout(timer);
    this.model.off("change:state", this.onState);
    this.root.remove();
  }

  // -- what is said to Python

  edited() {
    this.tell("");
    this.changed = true; // not told yet: an older state from Python must not wipe it out
  }

  sendSoon() {
    clearTimeout(this.unsent);
    if (!this.changed) return;
    this.unsent = setTimeout(() => this.send("draw"), SOON);
  }

  send(type) {
    clearTimeout(this.unsent);
    this.unsent = null;
    this.changed = false;
    this.sent += 1;
    try {
      this.model.send({ type, values: this.values, view: this.name, id: this.sent });
      return true;
    } catch {
      this.tell(this.words.live_no_answer); // the kernel is gone
      return false;
    }
  }

  commit() {
    if (this.state.committed || this.waiting) return;
    this.tell("");
    if (this.send("commit")) this.wait();
  }

  again() {
    if (this.waiting) return;
    this.tell("");
    const anew = this.state.committed;
    if (this.send("anew")) this.wait();
    if (anew) this.board.focus();
  }

  wait() {
    this.waiting = true;
    this.slow = setTimeout(() => setText(this.said, this.words.guess_waiting), SLOW);
    this.deaf = setTimeout(() => {
      this.waiting = false;
      this.tell(this.words.live_no_answer);
      this.show();
    }, DEAF);
  }

  /** Python has a new state; strokes that it does not know yet stay. */
  follow() {
    const before = this.state;
    this.state = this.model.get("state");
    const answered = (this.state.echo[this.name] ?? 0) >= this.sent;
    if (answered) {
      this.waiting = false;
      clearTimeout(this.slow);
      clearTimeout(this.deaf);
    }
    if (this.state.committed || (answered && !this.changed))
      this.values = structuredClone(this.state.values);
    this.tell(this.state.error);
    this.show();
    if (this.state.summary !== before.summary) setText(this.spoken, this.state.summary);
  }

  // -- showing

  tell(problem) {
    setText(this.problem, problem || this.state.notice);
  }

  switchTable() {
    const shown = this.board.table.hidden;
    this.board.switchTable(shown);
    this.tableButton.setAttribute("aria-pressed", String(shown));
  }

  show() {
    const { words, state } = this;
    this.board.show();
    this.commitButton.setAttribute("aria-disabled", String(state.committed));
    setText(this.againButton, state.committed ? words.guess_anew : words.guess_clear);
    setText(this.earlier, state.earlier);
    setText(this.said, state.committed ? state.summary : words[`guess_${this.spec.kind}_hint`]);
    this.said.classList.toggle("andrea-hint", !state.committed);
    if (!this.problem.textContent) this.tell(state.error);
  }
}

export default {
  render({ model, el }) {
    const view = new GuessView(model, el);
    return () => view.remove();
  },
};
