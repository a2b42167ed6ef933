// Frames around places, and the canvas that a part is drawn on.  See live_looks.js.

/** Frame a box from outside: the cells within may be a pixel wide. */
function frame(ctx, look, [left, top, width, height], colour, thickness) {
  const grown = [left - 1, top - 1, width + 2, height + 2];
  ctx.lineJoin = "miter";
  ctx.strokeStyle = look.halo; // seen on dark cells and on light ones
  ctx.lineWidth = thickness + 1.2;
  ctx.strokeRect(...grown);
  ctx.strokeStyle = colour;
  ctx.lineWidth = thickness;
  ctx.strokeRect(...grown);
}

/** Box of some places of a part; an axis that is not given is taken whole. */
function boxOf(part, places) {
  const [, , width, height] = part.box;
  const side = (axis, count, pixels) => {
    const [first, some] = places[axis] ?? [0, count];
    return [(first * pixels) / count, (some * pixels) / count];
  };
  if (part.kind === "bars") {
    const [start, long] = side(part.axes[0], part.shape[0], part.upright ? width : height);
    return part.upright ? [start, 0, long, height] : [0, start, width, long];
  }
  const [top, high] = side(part.axes[0], part.shape[0], height);
  const [left, wide] = side(part.axes[1], part.shape[1], width);
  return [left, top, wide, high];
}

/** Neighbours share one frame: [first, count] of each run. */
function runsOf(places) {
  const runs = [];
  for (const place of [...places].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && last[0] + last[1] >= place) last[1] = place - last[0] + 1;
    else runs.push([place, 1]);
  }
  return runs;
}

function drawLit({ ctx, look }, part) {
  const byAxis = part.kind === "bars" ? [part.lit] : part.lit;
  byAxis.forEach((places, n) => {
    const count = part.shape[n];
    for (const run of runsOf(places.filter((place) => place >= 0 && place < count))) {
      // By place on the side, not by axis: rows and columns may share one.
      const box =
        n === 0
          ? boxOf({ ...part, axes: ["lit", ""] }, { lit: run })
          : boxOf({ ...part, axes: ["", "lit"] }, { lit: run });
      frame(ctx, look, box, look.lit, 2);
    }
  });
  if (!part.framed) return;
  const [rows, columns] = part.dots,
    [, , width, height] = part.box;
  const marked = (i, j) =>
    i >= 0 && j >= 0 && i < rows && j < columns && part.framed[i * columns + j];
  ctx.beginPath();
  for (let i = 0; i <= rows; i++) {
    for (let j = 0; j <= columns; j++) {
      const x = (j * width) / columns,
        y = (i * height) / rows;
      if (i < rows && !marked(i, j) !== !marked(i, j - 1)) {
        ctx.moveTo(x, y);
        ctx.lineTo(x, y + height / rows);
      }
      if (j < columns && !marked(i, j) !== !marked(i - 1, j)) {
        ctx.moveTo(x, y);
        ctx.lineTo(x + width / columns, y);
      }
    }
  }
  ctx.strokeStyle = look.halo;
  ctx.lineWidth = 3.2;
  ctx.stroke();
  ctx.strokeStyle = part.warns ? look.warning : look.lit;
  ctx.lineWidth = 2;
  ctx.stroke();
}

const DRAW = { matrix: drawMatrix, bars: drawBars, chart: drawChart };

/** A canvas for one part, kept for as long as its size stays; all drawing goes through it. */
class Pen {
  constructor(view) {
    this.view = view;
    this.canvas = make("canvas", { className: "andrea-part" });
    this.ctx = this.canvas.getContext("2d");
  }

  get look() {
    return this.view.look;
  }
  get words() {
    return this.view.words;
  }
  get zoom() {
    return this.view.scale;
  }
  palette(map) {
    return this.view.palette(map);
  }
  hatch(kind) {
    return this.view.hatch(kind, this.ctx);
  }

  /** Room for the part and its words; whole device pixels, so that edges are sharp. */
  place(part, scale, ratio) {
    const [left, top, width, height, before, above, after, below] = part.box;
    const dots = scale * ratio,
      spread = part.slanted ? 56 : 30;
    const from = [
      Math.round((left - before - 30) * dots),
      Math.round((top + Math.min(part.titleTop, -above) - 4) * dots),
    ];
    const under = 8 + (part.kind === "matrix" ? 2 * LINE : 0); // a legend may be longer than foreseen
    const to = [
      Math.round((left + width + after + spread) * dots),
      Math.round((top + height + below + under) * dots),
    ];
    this.canvas.dataset.plot = [
      left * scale - from[0] / ratio,
      top * scale - from[1] / ratio,
      width * scale,
      height * scale,
    ].join();
    this.plot = [
      Math.round(left * dots) - from[0],
      Math.round(top * dots) - from[1],
      Math.round(width * dots),
      Math.round(height * dots),
    ];
    this.dots = dots;
    const size = [to[0] - from[0], to[1] - from[1]],
      { canvas } = this;
    const key = [...from, ...size, ratio].join();
    if (key === this.key) return;
    this.key = key;
    [canvas.width, canvas.height] = size;
    Object.assign(canvas.style, {
      left: `${from[0] / ratio}px`,
      top: `${from[1] / ratio}px`,
      width: `${size[0] / ratio}px`,
      height: `${size[1] / ratio}px`,
    });
  }

  draw(part) {
    const { ctx } = this;
    this.clear();
    ctx.setTransform(this.dots, 0, 0, this.dots, this.plot[0], this.plot[1]);
    DRAW[part.kind](this, part);
  }

  clear() {
    this.ctx.setTransform(1, 0, 0, 1, 0, 0);
    this.ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  /** Draw without the scale: patterns and images then keep to whole pixels. */
  inDevicePixels(draw) {
    this.ctx.save();
    this.ctx.setTransform(1, 0, 0, 1, 0, 0);
    draw(...this.plot, this.dots);
    this.ctx.restore();
  }

  /** A small canvas with one pixel a cell, kept for as long as the number of cells stays. */
  image(width, height) {
    if (this.kept?.canvas.width !== width || this.kept.canvas.height !== height) {
      const canvas = make("canvas", { width, height });
      const ctx = canvas.getContext("2d", { willReadFrequently: true });
      this.kept = { canvas, ctx, data: ctx.createImageData(width, height) };
    }
    return this.kept;
  }

  strip(map) {
    return this.view.strip(map);
  }
}
