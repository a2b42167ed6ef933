// What is sent between Python and the live view, and what is told in tables.  See live_looks.js.

// -- what is sent, made ready ---------------------------------------------------------------------

/** Turn the bytes of a picture into numbers, once for all views of it. */
function unpack(picture) {
  const parts = new Map();
  for (const sent of picture.parts) {
    const part = { ...sent };
    const cells = (part.shape ?? []).reduce((product, count) => product * count, 1);
    if (part.kind === "matrix") {
      part.codes = bytes(part.codes);
      part.named = Boolean(picture.axes[part.axes[1]].names);
      part.numbers = part.numbers === undefined ? null : part.numbers.split("\n");
      if (part.framed) part.framed = bytes(part.framed);
      if (part.valuesOf) part.values = parts.get(part.valuesOf).values;
      else if (part.values) part.values = floats(part.values, cells);
      if (part.window) {
        const { shape } = part.window;
        part.window = {
          ...part.window,
          values: floats(part.window.values, shape[0] * shape[1]),
          hidden: bytes(part.window.hidden),
        };
      }
    } else if (part.kind === "bars") {
      part.values = floats(part.values, cells);
      part.hidden = part.hidden && bytes(part.hidden);
      part.numbers = part.numbers ? part.numbers.split("\n") : [];
      part.named = Boolean(picture.axes[part.axes[0]].names);
    } else {
      part.lines = part.lines.map((line) => ({ ...line, x: doubles(line.x), y: doubles(line.y) }));
      if (part.shades) {
        const { codes, x, y } = part.shades;
        part.shades = { ...part.shades, codes: bytes(codes), x: doubles(x), y: doubles(y) };
      }
    }
    parts.set(part.name, part);
  }
  return { ...picture, parts };
}

// -- questions to Python --------------------------------------------------------------------------

/** Asks Python; each question gets one answer, whichever view of the picture put it. */
class Channel {
  constructor(model) {
    this.model = model;
    this.name = Math.random().toString(36).slice(2);
    this.count = 0;
    this.waiting = new Map();
    this.listen = (content, buffers) => {
      if (content?.type !== "answer" || content.view !== this.name) return;
      this.waiting.get(content.id)?.({ ...content, buffers });
      this.waiting.delete(content.id);
    };
    model.on("msg:custom", this.listen);
  }

  ask(content, noAnswer) {
    const id = ++this.count;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        resolve({ problem: noAnswer });
      }, PATIENCE);
      this.waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      try {
        this.model.send({ ...content, view: this.name, id });
      } catch {
        this.waiting.get(id)({ problem: noAnswer }); // the kernel is gone
        this.waiting.delete(id);
      }
    });
  }

  close() {
    this.model.off("msg:custom", this.listen);
    for (const answer of this.waiting.values()) answer({ closed: true });
    this.waiting.clear();
  }
}

/** One call at a time; of those that come meanwhile only the last is made. */
function latest(call, idle = () => {}) {
  let busy = false,
    next = null;
  const run = async (what) => {
    if (busy) {
      next = what;
      return;
    }
    busy = true;
    try {
      await call(what);
    } finally {
      busy = false;
      const then = next;
      next = null;
      if (then) run(then);
      else idle();
    }
  };
  run.busy = () => busy;
  return run;
}

const lessMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Play, for all views of a model together: two views must not take two steps. */
class Player {
  constructor(model) {
    this.model = model;
    this.channel = new Channel(model);
    this.playing = false;
    this.views = new Set();
  }

  toggle() {
    if (this.playing) this.stop();
    else this.play(lessMotion());
  }

  async play(once) {
    const run = (this.run = Symbol("run")); // one that was stopped and begun anew is another
    this.playing = !once;
    this.tell();
    do {
      const start = performance.now();
      const { more } = await this.channel.ask({
        type: "advance",
        revision: this.model.get("picture").revision,
      });
      if (!more || once) break;
      await new Promise((resolve) =>
        setTimeout(resolve, Math.max(0, STEP_TIME - (performance.now() - start))),
      );
    } while (this.run === run && this.playing);
    if (this.run === run) this.stop();
  }

  stop() {
    this.playing = false;
    this.run = null;
    this.tell();
  }

  tell() {
    for (const view of this.views) view.showPlaying();
  }
}

// -- tables ---------------------------------------------------------------------------------------

/** Put rows of words into a table; where only words change, only they are touched. */
function fillTable(table, { caption, head, body }) {
  const shape = [head.length, body.length].join();
  if (table.dataset.shape !== shape) {
    table.dataset.shape = shape;
    const cells = (row) => row.map((_, n) => make(n ? "td" : "th", n ? {} : { scope: "row" }));
    table.replaceChildren(
      make("caption"),
      make("thead", {}, make("tr", {}, ...head.map(() => make("th", { scope: "col" })))),
      make("tbody", {}, ...body.map((row) => make("tr", {}, ...cells(row)))),
    );
  }
  setText(table.caption, caption);
  [head, ...body].forEach((row, i) => {
    const { cells } = table.rows[i];
    row.forEach((words, j) => setText(cells[j], words));
  });
}

function matrixTable(view, part) {
  const { start, shape, values, hidden } = part.window ?? {
    start: [0, 0],
    shape: part.shape,
    values: part.values,
  };
  const [rows, columns] = part.axes,
    title = part.title.join(" ") || part.name;
  const said = (i, j) =>
    part.window
      ? hidden[i * shape[1] + j]
        ? view.saidHidden(part)
        : short(values[i * shape[1] + j])
      : view.said(part, i, j);
  const caption = part.window
    ? fill(view.words.live_window, {
        title,
        top: start[0],
        bottom: start[0] + shape[0] - 1,
        left: start[1],
        right: start[1] + shape[1] - 1,
        rows: part.shape[0],
        columns: part.shape[1],
      })
    : title;
  const range = (count) => [...Array(count).keys()];
  return {
    caption,
    head: [
      `${view.picture.axes[rows].words} \\ ${view.picture.axes[columns].words}`,
      ...range(shape[1]).map((j) => view.place(columns, start[1] + j)),
    ],
    body: range(shape[0]).map((i) => [
      view.place(rows, start[0] + i),
      ...range(shape[1]).map((j) => said(i, j)),
    ]),
  };
}

function barsTable(view, part) {
  return {
    caption: [...part.title, part.words].filter(Boolean).join(" "),
    head: [view.picture.axes[part.axes[0]].words, part.reading || view.words.live_value],
    body: [...part.values.keys()].map((n) => [view.place(part.axes[0], n), view.said(part, n)]),
  };
}

function lineTables(view, part) {
  const { live_from, live_to, live_low, live_high, live_line, live_value } = view.words;
  const { live_line_title, live_end } = view.words;
  const x = part.x.words || "x",
    y = part.y.words || live_value;
  const most = 33,
    title = part.title.join(" ");
  return part.lines.map((line, number) => {
    const caption = fill(live_line_title, {
      title,
      line: line.words || fill(live_line, { number: number + 1 }),
    });
    const count = line.look === "bars" ? line.y.length : line.x.length;
    const step = Math.max(1, Math.ceil((count - 1) / (most - 1)));
    const places = [...Array(count).keys()].filter((n) => n % step === 0);
    if (line.look === "bars") {
      return {
        caption,
        head: [...[live_from, live_to].map((end) => fill(live_end, { axis: x, end })), y],
        body: places.map((n) => [short(line.x[n]), short(line.x[n + 1]), short(line.y[n])]),
      };
    }
    if (line.look in BANDS) {
      return {
        caption,
        head: [x, live_low, live_high],
        body: places.map((n) => [short(line.x[n]), short(line.y[n]), short(line.y[count + n])]),
      };
    }
    return { caption, head: [x, y], body: places.map((n) => [short(line.x[n]), short(line.y[n])]) };
  });
}
