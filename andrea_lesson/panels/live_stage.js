// What a live view is made of, and how it follows the picture.  See live_looks.js.

const TALL = 960; // pixels of a notebook on the projector for which large type is meant
const BESIDE = 1480; // pixels that controls and picture take side by side there
const BENEATH = 76; // pixels, before the zoom, of the lines beneath a picture

/** Elements, canvases and tables; what a reader does with them is in live.js. */
class Stage {
  // -- elements

  build(el) {
    const { words } = this;
    this.stage = make("div", { className: "andrea-stage" });
    this.lights = make("canvas", { className: "andrea-lights", "aria-hidden": "true" });
    this.formulas = make("div", { className: "andrea-formulas" });
    this.caption = make("div", { className: "andrea-caption" });
    this.stage.append(this.lights, this.formulas, this.caption);
    this.tables = make("div", { className: "andrea-tables", hidden: true });
    this.reading = make("div", { className: "andrea-reading" });
    this.summary = make("div", { className: "andrea-summary", role: "status" });
    this.spoken = make("div", {
      className: "andrea-spoken",
      role: "status",
      "aria-live": "polite",
    });
    this.problem = make("div", { className: "andrea-problem", role: "alert" });
    this.root = make(
      "div",
      {
        className: "andrea-view",
        lang: this.model.get("language"),
        role: "group",
        "aria-label": words.live_view,
      },
      this.buildTools(),
      this.stage,
      this.tables,
      this.reading,
      this.summary,
      this.spoken,
      this.problem,
    );
    el.append(this.root);
  }

  buildTools() {
    const { words } = this;
    const button = (text, react) => {
      const one = make("button", { type: "button", textContent: text });
      one.addEventListener("click", react);
      return one;
    };
    const tools = make("div", {
      className: "andrea-tools",
      role: "toolbar",
      "aria-label": words.live_tools,
    });
    if (this.model.get("plays")) {
      this.play = button("", () => this.player.toggle());
      tools.append(this.play);
    }
    this.tableSwitch = button(words.live_table, () => this.switchTables());
    this.tableSwitch.setAttribute("aria-pressed", "false");
    tools.append(
      this.tableSwitch,
      button(words.live_save_png, () => this.save("png")),
      button(words.live_save_svg, () => this.save("svg")),
    );
    this.player.views.add(this);
    this.showPlaying();
    return tools;
  }

  showPlaying() {
    if (!this.play) return;
    const { words } = this,
      still = lessMotion();
    setText(
      this.play,
      this.player.playing ? words.live_pause : still ? words.live_step : words.live_play,
    );
    this.play.title = still ? words.live_step_why : "";
  }

  watch(el) {
    const { signal } = this.leave;
    this.onPicture = () => this.follow();
    this.model.on("change:picture", this.onPicture);
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(this.root);
    const restyle = () => this.restyle();
    this.themed = new MutationObserver(() => {
      restyle();
      this.later = setTimeout(restyle, 400);
    }); // its style sheet may come later
    this.themed.observe(document.body, {
      attributes: true,
      attributeFilter: ["data-jp-theme-name", "data-jp-theme-light", "class"],
    });
    for (const query of ["(forced-colors: active)", "(prefers-color-scheme: dark)"]) {
      matchMedia(query).addEventListener("change", restyle, { signal });
    }
    matchMedia("(prefers-reduced-motion: reduce)").addEventListener(
      "change",
      () => this.showPlaying(),
      { signal },
    );
    window.addEventListener("resize", () => this.fit(), { signal }); // the density of a screen, too
    this.stage.addEventListener("pointermove", (event) => this.point(event), { signal });
    this.stage.addEventListener("pointerdown", (event) => this.point(event), { signal });
    this.stage.addEventListener("pointerleave", () => this.point(null), { signal });
    this.stage.addEventListener("click", (event) => this.click(event), { signal });
  }

  remove() {
    this.leave.abort();
    this.resized.disconnect();
    this.themed.disconnect();
    clearTimeout(this.later);
    clearTimeout(this.asking);
    clearTimeout(this.filling);
    cancelAnimationFrame(this.framed);
    this.model.off("change:picture", this.onPicture);
    this.channel.close();
    this.player.views.delete(this);
    if (!this.player.views.size) this.player.stop();
    this.root.remove();
  }

  // -- drawing

  /**
   * A picture has come.  In the middle of a drag it is drawn with the next frame: the messages
   * behind it let ipywidgets send the next value, and Python then works while we draw.
   */
  follow() {
    const before = this.came ?? -Infinity;
    this.came = performance.now();
    if (this.framed) return;
    if (this.came - before > QUIET) return this.show();
    this.framed = requestAnimationFrame(() => this.show());
  }

  /** Take the picture that Python has sent; nothing of the one before may stay. */
  show() {
    cancelAnimationFrame(this.framed);
    this.framed = null;
    const sent = this.model.get("picture");
    try {
      this.picture = sent.parts ? unpack(sent) : null;
      this.revision = sent.revision;
      if (this.picture) this.settle();
      this.draw();
      if (this.pointer) this.point(this.pointer); // there may be another cell by now
      this.updateReading(QUIET);
      setText(this.summary, sent.summary ?? "");
      setText(this.problem, "");
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error) {
    console.error(error);
    this.picture = null;
    for (const pen of this.pens.values()) pen.clear();
    this.lit = null;
    this.lights.width = this.lights.width; // eslint-disable-line no-self-assign -- empties it
    setText(this.summary, "");
    setText(this.problem, fill(this.words.live_failed, { problem: error.message }));
  }

  draw() {
    if (!this.root.isConnected) return;
    this.look ??= readLook(this.root);
    this.root.classList.toggle("andrea-empty", !this.picture);
    if (!this.picture) {
      for (const pen of this.pens.values()) pen.clear();
      this.writeLines([], "");
      this.drawLights();
      this.tables.replaceChildren();
      return;
    }
    if (!this.look) return; // not in the page yet, where it will find its colours and its size
    if (!this.tables.hidden) return this.drawTablesSoon();
    this.measure();
    this.keepPens();
    for (const [name, part] of this.picture.parts) {
      const pen = this.pens.get(name);
      pen.place(part, this.scale, this.ratio);
      pen.draw(part);
      this.describe(pen.canvas, part);
    }
    this.writeLines(this.picture.formulas[1], this.picture.caption[1]);
    this.drawLights();
  }

  /** Size of the stage: that of the layout, or what the container leaves. */
  measure() {
    const [width, height, zoom, most] = this.picture.size;
    const room = (this.room = this.root.clientWidth || this.room || width * zoom); // if out of sight
    const least = zoom * this.share; // of the type on a projector, whatever the height
    const fits = Math.max(least, (this.tall - BENEATH * least) / height);
    this.scale = Math.max(Math.min(most, room / width, fits), 0.45 * zoom);
    this.ratio = window.devicePixelRatio || 1;
    const key = [width, height, this.scale, this.ratio, least].join();
    if (key === this.measured) return;
    this.measured = key;
    this.kept.clear();
    const { style } = this.stage;
    style.width = `${width * this.scale}px`;
    style.height = `${height * this.scale}px`;
    style.setProperty("--andrea-scale", this.scale);
    this.root.style.setProperty("--andrea-zoom", least);
    const size = [width, height].map((side) => Math.round(side * this.scale * this.ratio));
    [this.lights.width, this.lights.height] = size;
    this.lights.style.width = `${size[0] / this.ratio}px`;
    this.lights.style.height = `${size[1] / this.ratio}px`;
  }

  /** One canvas a part; those that stay are used again, with the focus that they may have. */
  keepPens() {
    const { parts } = this.picture;
    for (const [name, pen] of this.pens) {
      if (parts.has(name)) continue;
      pen.canvas.remove();
      this.pens.delete(name);
    }
    let before = null;
    for (const name of parts.keys()) {
      if (!this.pens.has(name)) {
        const pen = new Pen(this);
        this.pens.set(name, pen);
        pen.canvas.addEventListener("keydown", (event) => this.press(event, name));
        for (const type of ["focus", "blur"])
          pen.canvas.addEventListener(type, () => this.drawLights());
        pen.canvas.dataset.part = name;
        if (before) before.after(pen.canvas);
        else this.stage.prepend(pen.canvas);
      }
      before = this.pens.get(name).canvas;
    }
  }

  describe(canvas, part) {
    const title = part.title.join(" ") || part.reading || part.name,
      { words } = this;
    const set = (name, value) =>
      canvas.getAttribute(name) !== value && canvas.setAttribute(name, value);
    if (part.kind === "chart") {
      const said = [part.x.words, part.y.words, ...part.lines.map((line) => line.words)].filter(
        Boolean,
      );
      set("role", "img");
      set("aria-label", fill(words.live_chart, { title, words: said.join(words.live_separator) }));
      return;
    }
    set("role", "application"); // so that screen readers leave the arrow keys to it
    set("tabindex", "0");
    const [rows, columns] = part.shape;
    set(
      "aria-label",
      fill(part.kind === "bars" ? words.live_bars : words.live_matrix, {
        title,
        rows,
        columns,
        count: rows,
      }),
    );
  }

  writeLines(formulas, caption) {
    while (this.formulas.children.length > formulas.length) this.formulas.lastChild.remove();
    while (this.formulas.children.length < formulas.length) this.formulas.append(make("div"));
    formulas.forEach((words, n) => this.writeLine(this.formulas.children[n], words));
    setText(this.caption, caption);
    if (!this.picture) return;
    this.formulas.style.top = `${this.picture.formulas[0] * this.scale}px`;
    this.caption.style.top = `${this.picture.caption[0] * this.scale}px`;
  }

  /** What is too long for the picture gets smaller, as on paper; 9 pixels are left on each side. */
  writeLine(line, words) {
    setText(line, words);
    const wide = widthOf(this.lights.getContext("2d"), words, LABEL),
      share = (this.picture.size[0] - 18) / wide,
      size = share < 1 ? `${share}em` : "";
    if (line.style.fontSize !== size) line.style.fontSize = size;
  }

  /** Thousands of cells: while a slider moves, a few times a second are enough. */
  drawTablesSoon() {
    if (!this.tables.childElementCount) return this.drawTables();
    this.filling ??= setTimeout(() => {
      this.filling = null;
      if (this.picture && !this.tables.hidden) this.drawTables();
    }, 200);
  }

  drawTables() {
    const models = [...this.picture.parts.values()].flatMap((part) =>
      part.kind === "matrix"
        ? [matrixTable(this, part)]
        : part.kind === "bars"
          ? [barsTable(this, part)]
          : lineTables(this, part),
    );
    while (this.tables.children.length > models.length) this.tables.lastChild.remove();
    models.forEach((model, n) => {
      if (n === this.tables.children.length) {
        this.tables.append(
          make("div", { className: "andrea-table", tabIndex: 0, role: "region" }, make("table")),
        );
      }
      const holder = this.tables.children[n];
      holder.setAttribute("aria-label", model.caption);
      fillTable(holder.firstChild, model);
    });
  }

  switchTables() {
    this.tables.hidden = !this.tables.hidden;
    this.stage.hidden = !this.tables.hidden;
    this.tableSwitch.setAttribute("aria-pressed", String(!this.tables.hidden));
    this.redraw();
  }

  redraw() {
    try {
      this.draw();
    } catch (error) {
      this.fail(error);
    }
  }

  fit() {
    if (!this.root.clientWidth) return;
    adoptPanel(this);
    this.fitProjector();
    if (!this.look) return this.restyle();
    if (!this.picture) return;
    const before = this.measured;
    this.measure();
    if (this.measured !== before) this.redraw();
  }

  /**
   * A large panel is to be seen whole.  The fewer pixels a projector has, the larger it throws
   * each of them: type keeps its share of the height, down to the usual size.  Where there is
   * room, the controls go beside the picture.
   */
  fitProjector() {
    const panel = this.root.closest(".andrea-large");
    if (!panel) return;
    const screen = this.root.closest(".jp-WindowedPanel-outer");
    this.tall = screen?.clientHeight || Infinity;
    this.share = screen ? Math.min(Math.max(this.tall / TALL, 0.67), 1.25) : 1;
    panel.style.setProperty("--andrea-share", this.share);
    panel.classList.toggle("andrea-beside", panel.clientWidth >= BESIDE * this.share);
    panel.style.setProperty("--andrea-tools", `${this.root.firstElementChild.offsetHeight}px`);
  }

  restyle() {
    if (!this.root.isConnected) return;
    this.look = readLook(this.root);
    this.kept.clear();
    this.redraw();
  }

  keep(key, made) {
    if (!this.kept.has(key)) this.kept.set(key, made());
    return this.kept.get(key);
  }

  hatch(kind) {
    return this.keep(`hatch ${kind}`, () => makeHatch(kind, this.look, this.scale * this.ratio));
  }

  palette(map) {
    if (!this.palettes.has(map)) this.palettes.set(map, makePalette(this.model.get("maps")[map]));
    return this.palettes.get(map);
  }

  /** A colour bar, one pixel high. */
  strip(map) {
    return this.keep(`strip ${map}`, () => {
      const canvas = make("canvas", { width: STEPS + 1, height: 1 }),
        ctx = canvas.getContext("2d");
      this.palette(map).styles.forEach((style, n) => {
        ctx.fillStyle = style;
        ctx.fillRect(n, 0, 1, 1);
      });
      return canvas;
    });
  }
}
