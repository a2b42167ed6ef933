// A curve to be drawn by hand, finger or keys.  guess.py joins this file with live_looks.js and
// live_panel.js, whose names it uses, and with guess.js, which holds it.

const SVG = "http://www.w3.org/2000/svg";
const PLOT = { width: 640, height: 330, left: 60, right: 14, top: 28, bottom: 44 };
const STILL = 6; // pixels that a hand may stray sideways while it moves one point up or down
const STEP = 1 / 50; // of the height, for one press of a key
const BIG = 1 / 10;

/** An SVG element with attributes and children. */
function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Four digits: enough for what a hand can mean. */
const roundly = (value) => Number(value.toPrecision(4));

class CurveBoard {
  constructor(guess) {
    this.guess = guess;
    this.spec = guess.spec;
    this.here = 0; // the point that Tab leads to
    this.build();
  }

  build() {
    const { words } = this.guess;
    const { width, height, left, right, top, bottom } = PLOT;
    this.inner = [width - left - right - 24, height - top - bottom];
    this.rulers = draw("g", { class: "andrea-guess-rulers", "aria-hidden": "true" });
    this.lines = draw("g", { "aria-hidden": "true" });
    this.points = draw("g");
    this.marks = draw("g", { "aria-hidden": "true" });
    this.area = draw("rect", {
      class: "andrea-guess-area",
      x: left,
      y: top,
      width: width - left - right,
      height: height - top - bottom,
    });
    this.svg = draw(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, class: "andrea-guess-plot", role: "group" },
      this.area,
      this.rulers,
      this.lines,
      this.marks,
      this.points,
    );
    this.svg.setAttribute("aria-label", this.spec.title);
    this.handles = this.spec.x.map((_, n) => this.makeHandle(n));
    this.points.append(...this.handles);
    this.buildTable();
    this.legend = make(
      "div",
      { className: "andrea-guess-legend", "aria-hidden": "true" },
      this.swatch("guess", words.guess_mine),
      (this.truthWords = this.swatch("truth", words.guess_truth)),
    );
    this.element = make("div", { className: "andrea-guess-box" }, this.svg, this.table);
    this.listen();
  }

  swatch(kind, words) {
    const mark =
      kind === "guess"
        ? draw("rect", { class: "andrea-guess-square", x: 10, y: 3, width: 8, height: 8 })
        : draw("circle", { class: "andrea-guess-dot", cx: 14, cy: 7, r: 4 });
    const line = draw("line", { class: `andrea-guess-line-${kind}`, x1: 0, x2: 28, y1: 7, y2: 7 });
    return make("span", {}, draw("svg", { width: 28, height: 14 }, line, mark), ` ${words}`);
  }

  makeHandle(n) {
    const square = draw("rect", { class: "andrea-guess-square", width: 9, height: 9 });
    const ring = draw("circle", { class: "andrea-guess-ring", r: 11 });
    const handle = draw("g", { role: "slider", "aria-orientation": "vertical" }, ring, square);
    handle.addEventListener("keydown", (event) => this.press(event, n));
    handle.addEventListener("focus", () => this.stand(n));
    return handle;
  }

  buildTable() {
    const { words } = this.guess;
    const head = [this.spec.x_label, words.guess_mine, words.guess_truth];
    this.inputs = this.spec.x_words.map((said, n) => {
      const input = make("input", { type: "text", inputMode: "decimal", autocomplete: "off" });
      input.setAttribute(
        "aria-label",
        `${words.guess_mine}, ${fill(words.guess_point, { x_label: this.spec.x_label, x: said })}`,
      );
      input.addEventListener("change", () => this.type(input, n));
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && this.type(input, n)) this.guess.commit();
      });
      return input;
    });
    this.cells = this.inputs.map(() => make("td"));
    const rows = this.spec.x_words.map((said, n) =>
      make(
        "tr",
        {},
        make("th", { scope: "row", textContent: said }),
        make("td", {}, this.inputs[n]),
        this.cells[n],
      ),
    );
    this.table = make(
      "div",
      { className: "andrea-table andrea-guess-table", hidden: true },
      make(
        "table",
        {},
        make("caption", { textContent: `${this.spec.title}: ${this.spec.y_label}` }),
        make(
          "thead",
          {},
          make("tr", {}, ...head.map((w) => make("th", { scope: "col", textContent: w }))),
        ),
        make("tbody", {}, ...rows),
      ),
    );
  }

  // -- places

  get ends() {
    return this.guess.state.limits;
  }

  across(n) {
    return PLOT.left + 12 + this.spec.x[n] * this.inner[0];
  }

  down(value) {
    const log = this.spec.log_y ? Math.log : (v) => v;
    const [low, high] = this.ends.map(log);
    return PLOT.top + (1 - (log(value) - low) / (high - low)) * this.inner[1];
  }

  valueAt(share) {
    const [low, high] = this.ends;
    const held = Math.min(Math.max(share, 0), 1);
    const value = this.spec.log_y
      ? Math.exp(Math.log(low) + held * Math.log(high / low))
      : low + held * (high - low);
    return Math.min(Math.max(roundly(value), low), high);
  }

  shareOf(value) {
    return 1 - (this.down(value) - PLOT.top) / this.inner[1];
  }

  /** Where a pointer is: share of the width between first and last point, and value. */
  pointAt(event) {
    const edge = this.svg.getBoundingClientRect();
    const scale = PLOT.width / edge.width;
    const x = ((event.clientX - edge.left) * scale - PLOT.left - 12) / this.inner[0];
    const y = 1 - ((event.clientY - edge.top) * scale - PLOT.top) / this.inner[1];
    return { x: Math.min(Math.max(x, 0), 1), value: this.valueAt(y), left: event.clientX };
  }

  nearest(x) {
    const away = this.spec.x.map((one) => Math.abs(one - x));
    return away.indexOf(Math.min(...away));
  }

  // -- hand and finger

  listen() {
    const { svg } = this;
    svg.addEventListener("pointerdown", (event) => this.begin(event));
    svg.addEventListener("pointermove", (event) => {
      if (!this.stroke) return;
      // all places that the browser has put together into one event
      const some = event.getCoalescedEvents?.() ?? [];
      for (const one of some.length ? some : [event]) this.follow(one);
    });
    svg.addEventListener("pointerup", (event) => this.end(event));
    svg.addEventListener("pointercancel", () => (this.stroke = null));
  }

  begin(event) {
    if (event.button || this.guess.state.committed) return;
    event.preventDefault();
    const at = this.pointAt(event);
    const n = this.nearest(at.x);
    this.svg.setPointerCapture(event.pointerId);
    this.stroke = { first: at, last: at, near: n, moved: false, touched: new Set([n]) };
    this.put(n, at.value);
    this.handles[n].focus({ preventScroll: true });
  }

  /** Every point that the hand crosses gets the height at which it was crossed. */
  follow(event) {
    const { stroke } = this,
      at = this.pointAt(event);
    stroke.moved ||= Math.abs(at.left - stroke.first.left) > STILL;
    if (!stroke.moved) this.put(stroke.near, at.value);
    else {
      const { last } = stroke;
      this.spec.x.forEach((x, n) => {
        if ((x - last.x) * (x - at.x) > 0 || last.x === at.x) return;
        const part = (x - last.x) / (at.x - last.x);
        const share = this.shareOf(last.value) * (1 - part) + this.shareOf(at.value) * part;
        stroke.touched.add(n);
        this.put(n, this.valueAt(share));
      });
    }
    stroke.last = at;
  }

  end(event) {
    const { stroke } = this;
    if (!stroke) return;
    const at = this.pointAt(event);
    const n = this.nearest(at.x);
    if (!stroke.touched.has(n)) this.put(n, at.value); // the hand stopped just before it
    this.stroke = null;
    this.handles[n].focus({ preventScroll: true });
    this.guess.sendSoon();
  }

  put(n, value) {
    if (this.guess.values[n] === value) return;
    this.guess.values[n] = value;
    this.guess.edited();
    this.show();
  }

  // -- keys

  press(event, n) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const last = this.handles.length - 1;
    const move = (to) => this.handles[Math.min(Math.max(to, 0), last)].focus();
    const keys = {
      ArrowLeft: () => move(n - 1),
      ArrowRight: () => move(n + 1),
      Home: () => move(0),
      End: () => move(last),
      ArrowUp: () => this.lift(n, STEP),
      ArrowDown: () => this.lift(n, -STEP),
      PageUp: () => this.lift(n, BIG),
      PageDown: () => this.lift(n, -BIG),
      Delete: () => this.lift(n, null),
      Backspace: () => this.lift(n, null),
      Enter: () => this.guess.commit(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  }

  /** Move a point; one that is not drawn yet begins beside its neighbour, or half-way up. */
  lift(n, step) {
    const { values, state } = this.guess;
    if (state.committed) return;
    if (step === null) this.put(n, null);
    else {
      const known = [n, n - 1, n + 1].map((one) => values[one]).find((v) => v != null);
      this.put(n, this.valueAt((known === undefined ? 0.5 : this.shareOf(known)) + step));
    }
    this.guess.sendSoon();
  }

  stand(n) {
    this.here = n;
    this.handles.forEach((handle, one) => handle.setAttribute("tabindex", one === n ? 0 : -1));
  }

  // -- typing

  /** Take a number typed into the table; says so, and returns false, if it is none. */
  type(input, n) {
    const { words, state } = this.guess;
    if (state.committed) return true;
    const text = input.value.normalize("NFKC").replaceAll(",", "").replace("−", "-").trim();
    const value = text === "" ? null : Number(text);
    const [low, high] = this.ends;
    let problem = "";
    if (Number.isNaN(value)) problem = fill(words.guess_bad_number, { text: input.value });
    else if (value !== null && (value < low || value > high)) {
      const ends = { low: short(low), high: short(high) };
      problem = fill(words.guess_out_of_range, { value: short(value), ...ends });
    }
    input.setAttribute("aria-invalid", String(Boolean(problem)));
    this.guess.tell(problem);
    if (problem) return false;
    this.put(n, value);
    this.guess.sendSoon();
    return true;
  }

  switchTable(shown) {
    // of the height of the plot, so that nothing below moves
    this.table.style.height = shown ? `${this.svg.getBoundingClientRect().height}px` : "";
    this.table.hidden = !shown;
    this.svg.toggleAttribute("hidden", shown);
    this.legend.classList.toggle("andrea-unseen", shown);
  }

  focus() {
    (this.table.hidden ? this.handles[this.here] : this.inputs[0]).focus({ preventScroll: true });
  }

  // -- drawing

  show() {
    const { values, state, words } = this.guess;
    const { truth, committed } = state;
    this.drawRulers();
    this.lines.replaceChildren(
      ...(truth ? [this.path(truth, "truth")] : []),
      this.path(values, "guess"),
    );
    this.marks.replaceChildren(
      ...(truth ?? []).flatMap((value, n) =>
        value === null || (this.spec.log_y && value <= 0)
          ? []
          : [draw("circle", { class: "andrea-guess-dot", cx: this.across(n), cy: this.down(value), r: 4.5 })],
      ),
    );
    this.handles.forEach((handle, n) => this.showHandle(handle, n));
    this.stand(this.here);
    this.svg.classList.toggle("andrea-guess-done", committed);
    this.truthWords.classList.toggle("andrea-unseen", !truth);
    this.inputs.forEach((input, n) => {
      input.readOnly = committed;
      if (document.activeElement !== input || committed)
        input.value = values[n] === null ? "" : String(values[n]);
      setText(this.cells[n], truth ? (truth[n] === null ? words.guess_none : short(truth[n])) : "");
    });
  }

  showHandle(handle, n) {
    const { values, state, words } = this.guess;
    const value = values[n],
      truth = state.truth?.[n];
    const [ring, square] = handle.children;
    const x = this.across(n),
      y = value === null ? PLOT.top + this.inner[1] / 2 : this.down(value);
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
    square.setAttribute("x", x - 4.5);
    square.setAttribute("y", y - 4.5);
    square.setAttribute("visibility", value === null ? "hidden" : "visible");
    const said = fill(words.guess_point, {
      x_label: this.spec.x_label,
      x: this.spec.x_words[n],
    });
    let told = words.guess_unset;
    if (truth !== undefined)
      told = fill(words.guess_both, {
        guess: short(value),
        truth: truth === null ? "—" : short(truth),
      });
    else if (value !== null)
      told = fill(words.guess_drawn, { y_label: this.spec.y_label, value: short(value) });
    const [low, high] = this.ends;
    const attributes = {
      "aria-label": said,
      "aria-valuetext": told,
      "aria-valuemin": low,
      "aria-valuemax": high,
      "aria-valuenow": value ?? low,
      "aria-readonly": state.committed,
    };
    for (const [name, one] of Object.entries(attributes))
      if (handle.getAttribute(name) !== String(one)) handle.setAttribute(name, one);
  }

  /** A line through all points that are there; it breaks where one is missing. */
  path(values, kind) {
    let text = "",
      broken = true;
    values.forEach((value, n) => {
      const there = value !== null && !(this.spec.log_y && value <= 0);
      if (there) text += `${broken ? "M" : "L"}${this.across(n)} ${this.down(value)}`;
      broken = !there;
    });
    return draw("path", { d: text, class: `andrea-guess-line-${kind}` });
  }

  drawRulers() {
    const { width, height, left, right, bottom } = PLOT;
    const key = JSON.stringify(this.guess.state.ticks);
    if (key === this.ruled) return;
    this.ruled = key;
    const floor = height - bottom,
      parts = [];
    const text = (words, x, y, anchor) => {
      const one = draw("text", { x, y, "text-anchor": anchor });
      one.textContent = words;
      parts.push(one);
    };
    parts.push(draw("path", { d: `M${left} ${PLOT.top}V${floor}H${width - right}` }));
    for (const [share, words] of this.spec.x_ticks) {
      const x = left + 12 + share * this.inner[0];
      parts.push(draw("path", { d: `M${x} ${floor}v4` }));
      text(words, x, floor + 17, "middle");
    }
    for (const [value, words] of this.guess.state.ticks) {
      const y = this.down(value);
      parts.push(draw("path", { d: `M${left - 4} ${y}h4` }));
      parts.push(draw("path", { d: `M${left} ${y}H${width - right}`, class: "andrea-guess-grid" }));
      text(words, left - 8, y + 4, "end");
    }
    text(this.spec.x_label, (left + width - right) / 2, height - 6, "middle");
    text(this.spec.y_label, 8, 15, "start"); // under the title
    this.rulers.replaceChildren(...parts);
  }
}
