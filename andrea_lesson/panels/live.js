// The live view: one picture of a panel on canvases, linked by their axes.
//
// Python (live.py) sends the trait `picture` once for each move, and this module draws it at
// once, in the same task: dragging a slider then feels like moving the matrix itself.  What a
// reader points at or chooses is shown here without waiting; Python has the last word on what
// is chosen.  This is the last part of the module that live_looks.js begins.

/** A view of one picture; several may show the same one. */
class View extends Stage {
  constructor(model, el, player) {
    super();
    this.model = model;
    this.words = model.get("words");
    this.player = player;
    this.channel = new Channel(model);
    this.pens = new Map();
    this.palettes = new Map();
    this.kept = new Map(); // hatches and strips, until theme or scale change
    this.selected = {};
    this.ruled = []; // axes on which Python has chosen a place
    this.pointed = this.pointer = null;
    this.awaited = 0; // revision in which Python has answered the last choice
    this.leave = new AbortController();
    this.tall = Infinity; // pixels that are seen at once, see fitProjector
    this.share = 1;
    this.askChoice = latest(
      (content) => this.sendChoice(content),
      () => this.showChoice(),
    );
    this.askReading = latest((target) => this.fetchReading(target));
    this.build(el);
    this.watch(el);
    this.show();
  }

  // -- lights

  /** What is chosen and pointed at, in every part that has these axes. */
  drawLights() {
    if (!this.look) return;
    const lit = this.picture && this.scale ? this.lightsKey() : "";
    if (lit === this.lit) return; // a canvas as large as the picture, which the browser would repaint
    this.lit = lit;
    const ctx = this.lights.getContext("2d"),
      { look } = this;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.lights.width, this.lights.height);
    if (!lit) return;
    const dots = this.scale * this.ratio;
    const chosen = Object.fromEntries(
      Object.entries(this.selected).map(([axis, place]) => [axis, [place, 1]]),
    );
    for (const [name, part] of this.picture.parts) {
      if (part.kind === "chart") continue;
      ctx.setTransform(dots, 0, 0, dots, part.box[0] * dots, part.box[1] * dots);
      this.lightUp(ctx, part, chosen, look.chosen, 1.6);
      if (this.pointed) this.lightUp(ctx, part, this.pointed.places, look.pointed, 1.4);
      const { canvas } = this.pens.get(name) ?? {};
      if (canvas && document.activeElement === canvas && canvas.matches(":focus-visible")) {
        ctx.strokeStyle = look.pointed;
        ctx.lineWidth = 2;
        ctx.strokeRect(-4, -4, part.box[2] + 8, part.box[3] + 8);
      }
    }
  }

  /** Everything on which the lights depend. */
  lightsKey() {
    const focus = document.activeElement,
      { chosen, pointed, halo } = this.look;
    return JSON.stringify([
      [this.measured, chosen, pointed, halo, this.selected, this.pointed?.places],
      [...this.picture.parts].map(([name, { kind, box, shape, axes, upright }]) => [
        [name, kind, box, shape, axes, upright],
        focus === this.pens.get(name)?.canvas && focus.matches(":focus-visible"),
      ]),
    ]);
  }

  lightUp(ctx, part, places, colour, thickness) {
    const known = part.axes.filter((axis, n) => places[axis] && places[axis][0] < part.shape[n]);
    // One side at a time and then the cell; an axis on both sides lights a row and a column.
    known.forEach((axis, n) => {
      if (part.axes[0] === part.axes[1] && n === 1) return;
      frame(ctx, this.look, boxOf(part, { [axis]: places[axis] }), colour, thickness);
    });
    if (part.axes.length === 2 && known.length === 2)
      frame(ctx, this.look, boxOf(part, places), colour, thickness + 0.6);
  }

  // -- pointing

  /** Part and dot under the pointer. */
  under(event) {
    if (!this.picture) return null;
    const edge = this.stage.getBoundingClientRect();
    const x = (event.clientX - edge.left) / this.scale,
      y = (event.clientY - edge.top) / this.scale;
    for (const part of this.picture.parts.values()) {
      if (part.kind === "chart") continue;
      const [left, top, width, height] = part.box,
        [across, down] = [(x - left) / width, (y - top) / height];
      if (across < 0 || down < 0 || across >= 1 || down >= 1) continue;
      if (part.kind === "bars")
        return { part, dot: [Math.floor((part.upright ? across : down) * part.shape[0])] };
      if (!part.codes.length) return null;
      return { part, dot: [Math.floor(down * part.dots[0]), Math.floor(across * part.dots[1])] };
    }
    return null;
  }

  point(event) {
    this.pointer = event && { clientX: event.clientX, clientY: event.clientY };
    const found = event && this.under(event);
    const key = found ? [found.part.name, ...found.dot, ...found.part.shape].join() : "";
    this.stage.style.cursor = found ? "pointer" : "";
    if (key === (this.pointed?.key ?? "")) return;
    this.pointed = found && {
      key,
      name: found.part.name,
      dot: found.dot,
      places: this.placesOf(found.part, found.dot),
    };
    this.drawLights();
    this.updateReading();
  }

  /** Cells behind a dot: [first, how many] by axis. */
  placesOf(part, dot) {
    const block = part.block ?? [1],
      places = {};
    part.axes.forEach((axis, n) => {
      places[axis] = [dot[n] * block[n], Math.min(block[n], part.shape[n] - dot[n] * block[n])];
    });
    return places;
  }

  click(event) {
    // A click comes at whole pixels, the pointer before it knew better.
    const found = this.under(this.pointer ?? event);
    if (!found) return;
    const { part, dot } = found;
    this.pens.get(part.name).canvas.focus({ preventScroll: true });
    const pooled = part.kind === "matrix" && part.block[0] * part.block[1] > 1;
    const places = Object.fromEntries(
      part.axes.map((axis, n) => [axis, dot[n] * (part.block?.[n] ?? 1)]),
    );
    this.choose(part, places, pooled ? dot : null);
  }

  // -- choosing

  press(event, name) {
    const part = this.picture?.parts.get(name);
    if (!part || part.kind === "chart" || event.altKey || event.metaKey) return;
    const places = this.moved(event, part);
    if (!places) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(part, places);
  }

  /** Where a key leads from what is chosen; null if it leads nowhere. */
  moved({ key, ctrlKey }, part) {
    const flat = part.kind === "bars",
      lying = flat && !part.upright;
    const counts = flat ? (lying ? [part.shape[0], 1] : [1, part.shape[0]]) : part.shape;
    const axes = flat ? (lying ? [part.axes[0], null] : [null, part.axes[0]]) : part.axes;
    const now = axes.map((axis) => (axis ? this.selected[axis] : 0));
    const fresh = now.some((place) => place === undefined);
    let [row, column] = now.map((place) => place ?? 0);
    const page = Math.max(1, Math.round(counts[0] / 8)),
      last = counts.map((count) => count - 1);
    const keys = {
      ArrowUp: () => {
        row -= 1;
      },
      ArrowDown: () => {
        row += 1;
      },
      ArrowLeft: () => {
        column -= 1;
      },
      ArrowRight: () => {
        column += 1;
      },
      PageUp: () => {
        row -= page;
      },
      PageDown: () => {
        row += page;
      },
      Home: () => {
        if (ctrlKey || lying) row = 0;
        column = 0;
      },
      End: () => {
        if (ctrlKey || lying) row = last[0];
        column = last[1];
      },
      Enter: () => {},
      " ": () => {},
    };
    if (!keys[key] || (ctrlKey && key.startsWith("Arrow"))) return null;
    const first = fresh && key.startsWith("Arrow"); // the first key only shows where one is
    if (!first) keys[key]();
    [row, column] = [row, column].map((place, n) =>
      Math.min(Math.max(place, 0), Math.max(last[n], 0)),
    );
    const places = {};
    if (axes[0]) places[axes[0]] = row;
    if (axes[1]) places[axes[1]] = column;
    return places;
  }

  /** Show a choice at once, and tell Python. */
  choose(part, places, dot = null) {
    Object.assign(this.selected, places);
    this.chosenPart = part.name;
    this.sayChoice = true;
    this.drawLights();
    this.updateReading();
    this.lastChoice = dot ? { part: part.name, dot } : { places };
    this.askChoice(this.lastChoice);
  }

  async sendChoice(content) {
    const answer = await this.channel.ask(
      { type: "select", ...content },
      this.words.live_no_answer,
    );
    if (answer.closed) return;
    this.awaited = answer.revision ?? 0;
    // Which cell a dot shows is known only now.
    if (content.dot && answer.places && content === this.lastChoice)
      Object.assign(this.selected, answer.places);
  }

  showChoice() {
    if (!this.settle()) return;
    this.drawLights();
    this.updateReading();
  }

  /** Python rules over what is chosen, once it has answered the last choice. */
  settle() {
    if (!this.picture || this.askChoice.busy() || this.revision < this.awaited) return false;
    const { selected } = this.picture;
    for (const axis of this.ruled) if (!(axis in selected)) delete this.selected[axis];
    this.ruled = Object.keys(selected);
    Object.assign(this.selected, selected);
    return true;
  }

  // -- reading

  place(axis, place) {
    const { names, numbered } = this.picture.axes[axis],
      name = names?.[place];
    return name === undefined ? String(place) : numbered ? `${place} ${name}` : name;
  }

  placeWords(axis, place) {
    const { words, names, numbered } = this.picture.axes[axis],
      name = names?.[place];
    const both = name !== undefined && numbered;
    return fill(both ? this.words.live_named : this.words.live_place, {
      axis: words,
      place: both ? place : (name ?? place),
      name,
    }).trim();
  }

  /** What stands in a cell, in words. */
  said(part, i, j = 0) {
    const { words } = this,
      columns = part.shape[1] ?? 1,
      at = i * columns + j;
    if (part.kind === "bars")
      return part.hidden?.[at] ? part.hiddenWords || words.live_hidden : short(part.values[at]);
    const code = part.codes[at];
    if (code === HIDDEN) return this.saidHidden(part);
    if (code === BLANK) return part.blankWords;
    if (part.map === "mask") return words.live_visible;
    return SIGNS[code] ?? short(part.values[at]);
  }

  saidHidden({ hiddenValue, hiddenWords }) {
    const { live_hidden, live_hidden_value } = this.words;
    if (hiddenValue) return fill(live_hidden_value, { value: hiddenValue });
    return hiddenWords || live_hidden;
  }

  /** Parts over the same axes that have something to say about their cells. */
  companions(part) {
    return [...this.picture.parts.values()].filter(
      (other) =>
        other.kind === part.kind &&
        (other === part || other.reading) &&
        other.axes.join() === part.axes.join() &&
        other.shape.join() === part.shape.join(),
    );
  }

  /**
   * What is pointed at, or else what was chosen; its numbers may have to come from Python, which
   * is asked only when no picture has come for `wait` milliseconds: a hand may be at work.
   */
  updateReading(wait = 0) {
    clearTimeout(this.asking);
    const target =
      this.picture &&
      (this.pointed ? { name: this.pointed.name, dot: this.pointed.dot } : this.chosenTarget());
    this.target = target;
    const part = target && this.picture.parts.get(target.name);
    if (
      !part ||
      target.dot.some(
        (place, n) => place >= (target.exact ? part.shape : (part.dots ?? part.shape))[n],
      )
    ) {
      this.target = null;
      const kinds = [...(this.picture?.parts.values() ?? [])].map((one) => one.kind);
      const hint = kinds.some((kind) => kind !== "chart"); // in curves there is nothing to choose
      return this.writeReading(hint ? this.words.live_hint : "", true);
    }
    if (
      part.kind === "matrix" &&
      this.companions(part).some((other) => !other.values && other.map !== "mask")
    ) {
      if (!wait) return void this.askReading(target);
      this.writeReading("…", true); // the numbers there are of another picture
      this.asking = setTimeout(() => this.askReading(target), wait);
      return;
    }
    const places = Object.fromEntries(part.axes.map((axis, n) => [axis, target.dot[n]]));
    this.writeReading(
      this.sentence(
        places,
        this.companions(part).map((other) => [other.reading, this.said(other, ...target.dot)]),
      ),
    );
  }

  chosenTarget() {
    const parts = this.picture.parts;
    const whole = (part) =>
      part && part.kind !== "chart" && part.axes.every((axis) => this.selected[axis] !== undefined);
    const recent = parts.get(this.chosenPart);
    const part = whole(recent)
      ? recent
      : ([...parts.values()].find((one) => one.kind === "matrix" && whole(one)) ??
        [...parts.values()].find(whole));
    return part
      ? { name: part.name, dot: part.axes.map((axis) => this.selected[axis]), exact: true }
      : null;
  }

  async fetchReading(target) {
    const { name, dot, exact } = target;
    const answer = await this.channel.ask(
      { type: "ask", part: name, ...(exact ? { row: dot[0], column: dot[1] } : { dot }) },
      this.words.live_no_answer,
    );
    if (target !== this.target || !answer.readings) return; // something else is pointed at by now
    this.writeReading(this.sentence(answer.places, answer.readings));
  }

  sentence(places, readings) {
    const { live_separator, live_at } = this.words;
    const where = Object.entries(places)
      .map(([axis, place]) => this.placeWords(axis, place))
      .filter(Boolean)
      .join(live_separator);
    const values = [...new Set(readings.map(([words, value]) => `${words} ${value}`.trim()))].join(
      live_separator,
    );
    return fill(live_at, { places: where, values });
  }

  writeReading(words, hint = false) {
    setText(this.reading, words);
    this.reading.classList.toggle("andrea-hint", hint);
    if (!this.sayChoice || hint) return;
    this.sayChoice = false;
    setText(this.spoken, words);
  }

  // -- pictures to keep

  async save(kind) {
    const answer = await this.channel.ask({ type: "save", kind }, this.words.live_no_answer);
    if (answer.closed) return;
    setText(
      this.problem,
      answer.problem ? fill(this.words.live_save_failed, { problem: answer.problem }) : "",
    );
    if (answer.problem) return;
    const type = kind === "png" ? "image/png" : "image/svg+xml";
    const address = URL.createObjectURL(new Blob([bytes(answer.buffers[0])], { type }));
    const link = make("a", { href: address, download: answer.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }
}

// -- what anywidget asks for ----------------------------------------------------------------------

/** Called once for a model, so that all its views share one player. */
export default () => {
  let player;
  return {
    initialize({ model }) {
      player = new Player(model);
      return () => {
        player.stop();
        player.channel.close();
      };
    },
    render({ model, el }) {
      const view = new View(model, el, player);
      return () => view.remove();
    },
  };
};
