// Draws one picture of a panel on canvases: matrices, bars and charts, linked by their axes.
//
// Python (live.py) sends the trait `picture` once for each move, and this module draws it at
// once, in the same task: dragging a slider then feels like moving the matrix itself.  What a
// reader points at or chooses is shown here without waiting; Python has the last word on what
// is chosen.  All numbers called x, y, width … are pixels of the layout, before its zoom.

const LABEL = 13, TITLE = 14, TICK = 12, NOTE = 12, LINE = 18, AWAY = 6;
const SMALLEST = 0.75; // of the usual size of type; words that need less are cut
const SMALLEST_NUMBER = 8.8; // pixels on the screen
const FONTS = '"Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", "Noto Sans", "PingFang TC", "Microsoft JhengHei", "Noto Sans CJK TC", "Noto Sans TC", sans-serif';
const HIDDEN = 251, NAN = 252, PLUS = 253, MINUS = 254; // codes of cells with looks of their own
const STEPS = 250; // code of the high end of a colour map
const SIGNS = { [NAN]: "NaN", [PLUS]: "+∞", [MINUS]: "−∞" };
const SPECIAL = { nan: NAN, plus_infinity: PLUS, minus_infinity: MINUS };
const STEP_TIME = 700; // milliseconds from one step of Play to the next
const PATIENCE = 30000; // milliseconds after which the kernel is said not to answer

// -- bytes, words, numbers ------------------------------------------------------------------------

/** Bytes as they come: a DataView that need not begin where numbers may begin. */
const bytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
const doubles = (view) => new Float64Array(bytes(view).slice().buffer);
/** Four bytes a number, or eight where a number would not fit into four. */
function floats(view, count) {
  const copy = bytes(view).slice().buffer;
  return copy.byteLength === 8 * count ? new Float64Array(copy) : new Float32Array(copy);
}

const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

/** Three digits, as `short` in settings.py: no "e", a real minus. */
function short(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const power = Math.floor(Math.log10(Math.abs(value)));
  let text;
  if (power <= -5 || power >= 7) {
    const raised = String(power).replace(/[-\d]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
    const factor = String(Number((value / 10 ** power).toPrecision(3)));
    text = factor === "1" ? `10${raised}` : `${factor} × 10${raised}`;
  } else if (Math.abs(value) >= 999.5) {
    text = Math.round(value).toLocaleString("en-US");
  } else {
    text = String(Number(value.toPrecision(3)));
  }
  return text.replace("-", "−");
}

/** An element with properties, attributes (those with a dash, role, lang) and children. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "lang" || name === "scope") {
      element.setAttribute(name, value);
    } else element[name] = value;
  }
  element.append(...children);
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// -- looks ----------------------------------------------------------------------------------------

const COLOURS = ["ink", "quiet", "paper", "edge", "hidden-face", "hidden-lines", "lit", "warning",
  "chosen", "pointed", "halo", "measured", "compared", "theory"];
const FACES = {
  nan: ["#d6409f", "#ffffff"], plus_infinity: ["#111418", "#ffffff"],
  minus_infinity: ["#ffffff", "#111418"],
};

/** Colours of the theme in force, as live.css has them. */
function readLook(root) {
  const probe = root.appendChild(make("span", { className: "andrea-probe" }));
  const read = () => Object.fromEntries(COLOURS.map((name) => {
    probe.style.color = `var(--andrea-${name})`;
    return [name, getComputedStyle(probe).color];
  }));
  let look = read();
  const dark = brightness(look.ink) > 0.5;
  if (root.classList.toggle("andrea-dark", dark) || dark) look = read();
  probe.remove();
  return look;
}

function brightness(colour) {
  const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
}

/** A colour map as pixels (0 where a look of its own belongs), styles and inks by code. */
function makePalette(table) {
  const rgb = bytes(table);
  const pixels = new Uint32Array(256), styles = [], dark = [];
  for (let code = 0; code <= STEPS; code++) {
    const [red, green, blue] = rgb.subarray(3 * code, 3 * code + 3);
    pixels[code] = (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
    styles[code] = `rgb(${red}, ${green}, ${blue})`;
    dark[code] = 0.299 * red + 0.587 * green + 0.114 * blue > 127.5; // as ink_on of the figures
  }
  return { pixels, styles, dark };
}

const inkOn = (light) => (light ? "#1f2933" : "#f4f6f8");

/** A hatched tile; `scale` is device pixels for one of the layout. */
function makeHatch(kind, look, scale) {
  const [face, lines] = FACES[kind] ?? [look["hidden-face"], look["hidden-lines"]];
  const size = Math.max(4, Math.round(8 * scale));
  const tile = make("canvas", { width: size, height: size });
  const ctx = tile.getContext("2d");
  ctx.fillStyle = face;
  ctx.fillRect(0, 0, size, size);
  ctx.strokeStyle = lines;
  ctx.lineWidth = Math.max(1, scale);
  ctx.beginPath();
  const line = (...ends) => { ctx.moveTo(ends[0], ends[1]); ctx.lineTo(ends[2], ends[3]); };
  if (kind === "plus_infinity") line(size / 2, 0, size / 2, size);
  if (kind === "plus_infinity" || kind === "minus_infinity") line(0, size / 2, size, size / 2);
  if (kind === "hidden" || kind === "nan") {
    for (const shift of [-size, 0, size]) line(shift - 2, size + 2, shift + size + 2, -2);
  }
  if (kind === "nan") for (const shift of [-size, 0, size]) line(shift - 2, -2, shift + size + 2, size + 2);
  ctx.stroke();
  return ctx.createPattern(tile, "repeat");
}

// -- writing --------------------------------------------------------------------------------------

const widths = new Map(); // of words at size 100

function widthOf(ctx, words, size, weight = "") {
  const key = weight + words;
  let width = widths.get(key);
  if (width === undefined) {
    ctx.font = `${weight} 100px ${FONTS}`;
    width = ctx.measureText(words).width;
    if (widths.size > 5000) widths.clear(); // numbers in titles are ever new
    widths.set(key, width);
  }
  return width * size / 100;
}

/** Words and size such that they fit: smaller if need be, then cut. */
function fitted(ctx, words, size, room) {
  const width = widthOf(ctx, words, size);
  if (width <= room) return [words, size];
  if (width * SMALLEST <= room) return [words, size * room / width];
  const small = size * SMALLEST;
  let kept = [...words];
  while (kept.length > 1 && widthOf(ctx, kept.join("") + "…", small) > room) kept.pop();
  return [kept.join("").trimEnd() + "…", small];
}

/** Write words with their baseline at `y`. */
function write(ctx, words, x, y, { size = LABEL, colour, align = "left", room, slanted } = {}) {
  if (!words) return;
  if (room !== undefined) [words, size] = fitted(ctx, words, size, room);
  ctx.font = `${size}px ${FONTS}`;
  ctx.textAlign = align;
  ctx.fillStyle = colour;
  if (!slanted) return void ctx.fillText(words, x, y);
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate(-Math.PI / 4);
  ctx.fillText(words, 0, 0);
  ctx.restore();
}

const middle = (y, size) => y + 0.36 * size; // baseline of digits whose middle is at y

function writeTitle(ctx, part, look) {
  const [, , width, , before, , after] = part.box;
  part.title.forEach((words, n) => {
    const y = part.titleTop + (2 - part.title.length + n) * LINE + LABEL + 1;
    write(ctx, words, width / 2, y, {
      size: TITLE, colour: look.ink, align: "center", room: width + 2 * Math.min(before, after) + 8,
    });
  });
}

function writeRowNames(ctx, [places, names], count, part, look) {
  const [, , , height, before] = part.box;
  places.forEach((place, n) => {
    const y = middle((place + 0.5) * height / count, TICK);
    write(ctx, names[n], -AWAY, y, { size: TICK, colour: look.ink, align: "right", room: before - AWAY - 2 });
  });
}

function writeColumnNames(ctx, [places, names], count, part, look, y, slanted) {
  const step = part.box[2] / count;
  const wide = names.map((name) => widthOf(ctx, name, TICK));
  const long = slanted && Math.max(...wide) > 0.95 * step;
  // A long name may reach over its own column where its neighbours leave room.
  const free = (n, to) => (places[to] === undefined ? Infinity
    : Math.max(Math.abs(places[to] - places[n]) * step - Math.max(wide[to], step * 0.4) / 2 - 3, step / 2));
  places.forEach((place, n) => {
    const x = (place + 0.5) * step, options = { size: TICK, colour: look.ink };
    if (long) write(ctx, names[n], x + 3, y, { ...options, slanted, room: (54 - 2) / 0.71 - TICK });
    else {
      const room = part.named ? 1.9 * Math.min(free(n, n - 1), free(n, n + 1)) : undefined;
      write(ctx, names[n], x, y, { ...options, align: "center", room });
    }
  });
}

/** Swatches with words, in centred rows, as many to a row as fit. */
function writeLegend(ctx, entries, { left, room, top, rows, look, swatch, swatchWidth = 18 }) {
  if (!entries.length) return;
  let size = NOTE, lines;
  const long = (line) => line.reduce((sum, entry) => sum + swatchWidth + 5 + widthOf(ctx, entry.words, size), 14 * (line.length - 1));
  const breakUp = () => {
    lines = [[]];
    for (const entry of entries) {
      const last = lines.at(-1);
      if (last.length && long([...last, entry]) > room) lines.push([entry]);
      else last.push(entry);
    }
  };
  breakUp();
  if (lines.length > rows) { // signs instead of words, and then smaller type
    entries = entries.map((entry) => ({ ...entry, words: entry.sign ?? entry.words }));
    for (breakUp(); lines.length > rows && size > SMALLEST * NOTE; breakUp()) size -= 0.5;
  }
  const start = left + Math.max(0, (room - Math.max(...lines.map(long))) / 2);
  lines.forEach((line, n) => {
    let x = start;
    const y = top + n * LINE;
    for (const entry of line) {
      swatch(entry, x, y - 0.36 * size);
      write(ctx, entry.words, x + swatchWidth + 5, y, { size, colour: look.ink, room: left + room - x - swatchWidth - 4 });
      x += long([entry]) + 14;
    }
  });
}

// -- matrices -------------------------------------------------------------------------------------

function drawMatrix(pen, part) {
  const { ctx, look } = pen;
  const [, , width, , before] = part.box;
  writeTitle(ctx, part, look);
  if (part.rowTicks) writeRowNames(ctx, part.rowTicks, part.shape[0], part, look);
  write(ctx, part.rowTitle, -AWAY, -AWAY, { colour: look.ink, align: "right", room: before - AWAY });
  if (part.columnTicks) writeColumnNames(ctx, part.columnTicks, part.shape[1], part, look, -AWAY, part.slanted);
  write(ctx, part.columnTitle, width / 2, -part.columnTitleUp, { colour: look.ink, align: "center" });
  if (part.codes.length) {
    drawCells(pen, part);
    writeNumbers(pen, part);
  } else write(ctx, pen.words.no_cells, width / 2, part.box[3] / 2, { colour: look.quiet, align: "center" });
  drawFrame(ctx, part, look);
  drawLit(pen, part);
  drawColourBar(pen, part);
  writeMatrixLegend(pen, part);
}

/** A hatched sheet, and on it the image, in which hidden cells are holes: one cost for any T. */
function drawCells(pen, part) {
  const { ctx } = pen;
  const [rows, columns] = part.dots;
  const image = pen.image(columns, rows);
  const target = new Uint32Array(image.data.data.buffer);
  const { pixels } = pen.palette(part.map), codes = part.codes;
  let holes = 0;
  for (let n = 0; n < codes.length; n++) {
    target[n] = pixels[codes[n]];
    holes |= codes[n] > STEPS;
  }
  image.ctx.putImageData(image.data, 0, 0);
  pen.inDevicePixels((left, top, width, height) => {
    if (holes) {
      ctx.fillStyle = pen.hatch("hidden");
      ctx.fillRect(left, top, width, height);
    }
    ctx.imageSmoothingEnabled = columns > width || rows > height;
    ctx.drawImage(image.canvas, left, top, width, height);
    for (const [kind] of part.legend) if (kind in SPECIAL) fillSpecial(pen, part, kind, left, top, width, height);
  });
  if (part.lines) drawLines(pen, part);
}

function fillSpecial(pen, part, kind, left, top, width, height) {
  const { ctx } = pen, [rows, columns] = part.dots, code = SPECIAL[kind];
  const across = width / columns, down = height / rows;
  ctx.beginPath();
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      if (part.codes[i * columns + j] !== code) continue;
      const start = j; // one box for each run within a row
      while (j + 1 < columns && part.codes[i * columns + j + 1] === code) j++;
      ctx.rect(left + start * across, top + i * down, (j + 1 - start) * across, down);
    }
  }
  ctx.fillStyle = pen.hatch(kind);
  ctx.fill();
}

/** Lines between the cells. */
function drawLines({ ctx, look }, part) {
  const [, , width, height] = part.box, [rows, columns] = part.dots;
  ctx.beginPath();
  for (let j = 1; j < columns; j++) { ctx.moveTo(j * width / columns, 0); ctx.lineTo(j * width / columns, height); }
  for (let i = 1; i < rows; i++) { ctx.moveTo(0, i * height / rows); ctx.lineTo(width, i * height / rows); }
  ctx.strokeStyle = look.halo;
  ctx.lineWidth = part.lines;
  ctx.stroke();
}

function drawFrame(ctx, part, look) {
  ctx.strokeStyle = look.edge;
  ctx.lineWidth = 0.8;
  ctx.strokeRect(0, 0, part.box[2], part.box[3]);
}

function writeNumbers(pen, part) {
  if (!part.numbers) return;
  const { ctx } = pen, [, , width, height] = part.box, [rows, columns] = part.shape;
  const texts = part.numbers;
  const across = width / columns, down = height / rows;
  const widest = Math.max(...texts.map((text) => widthOf(ctx, text, 1)));
  const size = Math.min(NOTE - 1, 0.88 * across / widest, 0.75 * down);
  if (size * pen.zoom < SMALLEST_NUMBER) return;
  const { dark } = pen.palette(part.map);
  const kinds = Object.fromEntries(Object.entries(SPECIAL).map(([kind, code]) => [code, kind]));
  texts.forEach((text, n) => {
    const code = part.codes[n];
    if (code === HIDDEN) return;
    const x = (n % columns + 0.5) * across, y = (Math.floor(n / columns) + 0.5) * down;
    if (code > STEPS) {
      text = SIGNS[code];
      const [face, ink] = FACES[kinds[code]], wide = widthOf(ctx, text, size) + 3;
      ctx.fillStyle = face;
      ctx.fillRect(x - wide / 2, y - 0.65 * size, wide, 1.3 * size);
      write(ctx, text, x, middle(y, size), { size, colour: ink, align: "center" });
    } else write(ctx, text, x, middle(y, size), { size, colour: inkOn(dark[code]), align: "center" });
  });
}

function drawColourBar(pen, part) {
  if (!part.bar.length) return;
  const { ctx, look } = pen, [, , width, height] = part.box;
  const strip = pen.strip(part.map);
  ctx.imageSmoothingEnabled = true;
  ctx.drawImage(strip, 0, height + 7, width, 9);
  part.bar.forEach(([share, words], n) => {
    const align = n === 0 ? "left" : n === part.bar.length - 1 ? "right" : "center";
    write(ctx, words, share * width, height + 28, { size: TICK, colour: look.ink, align });
  });
  write(ctx, part.barNote, width / 2, height + 45, { size: NOTE, colour: look.quiet, align: "center", room: width + 2 * part.box[6] });
}

function writeMatrixLegend(pen, part) {
  const { ctx, look } = pen, [, , width, height, , , after] = part.box;
  const top = height + (part.bar.length ? 30 : 2) + (part.barNote ? LINE : 0) + 14;
  writeLegend(ctx, part.legend.map(([kind, words]) => ({ kind, words, sign: SIGNS[SPECIAL[kind]] })), {
    left: -after, room: width + 2 * after, top, rows: 1, look,
    swatch: ({ kind }, x, y) => {
      pen.inDevicePixels((left, upper, _, __, scale) => {
        ctx.fillStyle = pen.hatch(kind);
        ctx.fillRect(left + x * scale, upper + (y - 5.5) * scale, 18 * scale, 11 * scale);
      });
      ctx.strokeStyle = look.edge;
      ctx.lineWidth = 0.6;
      ctx.strokeRect(x, y - 5.5, 18, 11);
    },
  });
}

// -- frames ---------------------------------------------------------------------------------------

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
    return [first * pixels / count, some * pixels / count];
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
      const box = n === 0 ? boxOf({ ...part, axes: ["lit", ""] }, { lit: run })
        : boxOf({ ...part, axes: ["", "lit"] }, { lit: run });
      frame(ctx, look, box, look.lit, 2);
    }
  });
  if (!part.framed) return;
  const [rows, columns] = part.dots, [, , width, height] = part.box;
  const marked = (i, j) => i >= 0 && j >= 0 && i < rows && j < columns && part.framed[i * columns + j];
  ctx.beginPath();
  for (let i = 0; i <= rows; i++) {
    for (let j = 0; j <= columns; j++) {
      const x = j * width / columns, y = i * height / rows;
      if (i < rows && !marked(i, j) !== !marked(i, j - 1)) { ctx.moveTo(x, y); ctx.lineTo(x, y + height / rows); }
      if (j < columns && !marked(i, j) !== !marked(i - 1, j)) { ctx.moveTo(x, y); ctx.lineTo(x + width / columns, y); }
    }
  }
  ctx.lineWidth = 1.8;
  ctx.strokeStyle = look.warning;
  ctx.stroke();
}

// -- bars -----------------------------------------------------------------------------------------

function drawBars(pen, part) {
  const { ctx, look } = pen, [, , width, height, before, , after] = part.box;
  const count = part.shape[0], long = part.upright ? height : width;
  const at = (value) => {
    const share = (Math.min(Math.max(value, part.low), part.high) - part.low) / (part.high - part.low);
    return part.upright ? (1 - share) * long : share * long;
  };
  writeTitle(ctx, part, look);
  hatchBars(pen, part);
  const step = (part.upright ? width : height) / Math.max(count, 1), zero = at(0);
  const thick = Math.max(0.72 * step, 0.4);
  ctx.fillStyle = look.measured;
  part.values.forEach((value, n) => {
    if (part.hidden?.[n] || !Number.isFinite(value)) return;
    const start = (n + 0.5) * step - thick / 2, end = at(value), low = Math.min(end, zero), size = Math.abs(end - zero);
    if (part.upright) ctx.fillRect(start, low, thick, size);
    else ctx.fillRect(low, start, size, thick);
  });
  ctx.fillStyle = look.edge;
  if (part.upright) ctx.fillRect(0, zero - 0.4, width, 0.8);
  else ctx.fillRect(zero - 0.4, 0, 0.8, height);
  for (const [value, words] of part.ticks) {
    if (part.upright) write(ctx, words, -AWAY, middle(at(value), TICK), { size: TICK, colour: look.ink, align: "right" });
    else {
      const align = value === part.low ? "left" : value === part.high ? "right" : "center";
      write(ctx, words, at(value), -AWAY, { size: TICK, colour: look.ink, align });
    }
  }
  if (part.names && part.upright) writeColumnNames(ctx, part.names, count, part, look, height + TICK + 2, false);
  else if (part.names) writeRowNames(ctx, part.names, count, part, look);
  write(ctx, part.axisTitle, -AWAY, -AWAY - LINE, { colour: look.ink, align: "right", room: before - AWAY });
  const below = height + (part.names && part.upright ? LINE : 0) + LINE - 4;
  write(ctx, part.words, width / 2, below, { colour: look.ink, align: "center", room: width + 2 * Math.min(before, after) });
  writeBarNumbers(pen, part, at, step);
  drawLit(pen, part);
}

function hatchBars(pen, part) {
  if (!part.hidden) return;
  const { ctx } = pen;
  pen.inDevicePixels((left, top, width, height) => {
    ctx.fillStyle = pen.hatch("hidden");
    const count = part.shape[0], step = (part.upright ? width : height) / count;
    part.hidden.forEach((hidden, n) => {
      if (!hidden) return;
      if (part.upright) ctx.fillRect(left + n * step, top, step, height);
      else ctx.fillRect(left, top + n * step, width, step);
    });
  });
}

/** In the bars where the numbers fit, else beyond their ends. */
function writeBarNumbers({ ctx, look, zoom }, part, at, step) {
  const texts = part.numbers;
  const widest = Math.max(0, ...texts.map((text) => widthOf(ctx, text, TICK)));
  let size = part.upright ? TICK * Math.min(1, step / (widest || 1)) : Math.min(TICK, 0.95 * step);
  const small = size * zoom < SMALLEST_NUMBER;
  const zero = at(0);
  texts.forEach((text, n) => {
    const value = part.values[n];
    if (!text || part.hidden?.[n] || (small && !Number.isNaN(value))) return;
    size = Math.max(size, SMALLEST_NUMBER / zoom);
    const end = Number.isNaN(value) ? zero : at(value), long = Math.abs(end - zero), centre = (n + 0.5) * step;
    if (part.upright) {
      const inside = long > size + 4, up = !(value < 0);
      const down = up ? (inside ? size : -3) : inside ? -3 : size;
      write(ctx, text, centre, end + down, { size, colour: inside ? look.paper : look.ink, align: "center" });
      return;
    }
    const wide = widthOf(ctx, text, size) + 3, inside = long > wide + 4;
    let right = !(value < 0), x = end; // which way the bar goes
    // Left of a bar there may be names, or another part.
    if (!inside && !right && end < wide - (part.names ? 0 : 20)) [right, x] = [true, zero];
    const out = inside ? !right : right; // on which side of its end the number stands
    write(ctx, text, x + (out ? 3 : -3), middle(centre, size), { size, colour: inside ? look.paper : look.ink, align: out ? "left" : "right" });
  });
}

// -- charts ---------------------------------------------------------------------------------------

const STROKES = { // colour, width, dashes
  measured: ["measured", 2, []], theory: ["compared", 1.8, [6, 3]],
  dotted: ["theory", 1.8, [2, 3]], dashdot: ["theory", 1.6, [8, 3, 2, 3]],
};

function shareOn(ruler) {
  if (!ruler.log) return (value) => (value - ruler.low) / (ruler.high - ruler.low);
  const low = Math.log(ruler.low), span = Math.log(ruler.high) - low;
  return (value) => (Math.log(value) - low) / span;
}

function drawChart(pen, part) {
  const { ctx, look } = pen, [, , width, height] = part.box;
  const xShare = shareOn(part.x), yShare = shareOn(part.y);
  const x = (value) => xShare(value) * width, y = (value) => (1 - yShare(value)) * height;
  writeTitle(ctx, part, look);
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, 0, width, height);
  ctx.clip();
  if (part.shades) drawShades(pen, part.shades, x, y);
  for (const line of part.lines) if (line.look !== "here") drawCurve(pen, line, x, y, part);
  ctx.restore();
  drawRulers(pen, part, xShare, yShare);
  for (const line of part.lines) { // not clipped, so that one at the edge is whole
    const inside = xShare(line.x[0]) > -0.01 && xShare(line.x[0]) < 1.01 && yShare(line.y[0]) > -0.01 && yShare(line.y[0]) < 1.01;
    if (line.look === "here" && inside) drawCurve(pen, line, x, y, part);
  }
  writeChartLegend(pen, part);
}

function drawShades(pen, shades, x, y) {
  const { styles } = pen.palette(shades.map), columns = shades.x.length - 1;
  shades.codes.forEach((code, n) => {
    const i = Math.floor(n / columns), j = n % columns;
    const [left, right, low, high] = [x(shades.x[j]), x(shades.x[j + 1]), y(shades.y[i]), y(shades.y[i + 1])];
    pen.ctx.fillStyle = code > STEPS ? pen.look["hidden-face"] : styles[code];
    // a little wider than the cell, or the paper shines through between them
    pen.ctx.fillRect(Math.min(left, right), Math.min(low, high), Math.abs(right - left) + 0.5, Math.abs(high - low) + 0.5);
  });
}

function drawCurve({ ctx, look }, line, x, y, part) {
  const across = [...line.x].map(x), down = [...line.y].map(y), floor = part.y.log ? part.box[3] : Math.min(Math.max(y(0), 0), part.box[3]);
  if (line.look === "bars") {
    ctx.fillStyle = look.measured;
    ctx.globalAlpha = 0.75;
    down.forEach((top, n) => {
      if (Number.isFinite(top + across[n] + across[n + 1])) ctx.fillRect(across[n], Math.min(top, floor), across[n + 1] - across[n], Math.abs(floor - top));
    });
    ctx.globalAlpha = 1;
  } else if (line.look === "band") {
    const count = across.length; // y holds the low ends and then the high ones
    const edge = [...across.keys()].filter((n) => Number.isFinite(across[n] + down[n] + down[count + n]));
    ctx.beginPath();
    edge.forEach((n) => ctx.lineTo(across[n], down[n]));
    edge.reverse().forEach((n) => ctx.lineTo(across[n], down[count + n]));
    ctx.fillStyle = look.measured;
    ctx.globalAlpha = 0.2;
    ctx.fill();
    ctx.globalAlpha = 1;
  } else if (line.look === "points" || line.look === "here") {
    across.forEach((left, n) => drawDot(ctx, look, left, down[n], line.look === "here"));
  } else {
    ctx.beginPath();
    let broken = true;
    across.forEach((left, n) => {
      const there = Number.isFinite(left + down[n]);
      if (there) ctx[broken ? "moveTo" : "lineTo"](left, down[n]);
      broken = !there;
    });
    stroke(ctx, look, line.look, part.shades !== undefined);
  }
}

function drawDot(ctx, look, x, y, big) {
  ctx.beginPath();
  ctx.arc(x, y, big ? 5.5 : 2.7, 0, 2 * Math.PI);
  ctx.fillStyle = look.measured;
  ctx.fill();
  if (!big) return;
  ctx.lineWidth = 1.4;
  ctx.strokeStyle = look.paper;
  ctx.stroke();
}

function stroke(ctx, look, kind, halo = false) {
  const [colour, width, dashes] = STROKES[kind] ?? STROKES.measured;
  if (halo) { // seen on dark and light alike
    ctx.setLineDash([]);
    ctx.lineWidth = width + 1.6;
    ctx.strokeStyle = "#ffffff";
    ctx.stroke();
  }
  ctx.setLineDash(dashes);
  ctx.lineWidth = width;
  ctx.lineJoin = "round";
  ctx.strokeStyle = halo ? { measured: "#1d6996", compared: "#cc503e", theory: "#5b6672" }[colour] : look[colour];
  ctx.stroke();
  ctx.setLineDash([]);
}

function drawRulers({ ctx, look }, part, xShare, yShare) {
  const [, , width, height, before, , after] = part.box;
  const onRuler = (share) => share > -1e-6 && share < 1 + 1e-6;
  ctx.beginPath();
  ctx.moveTo(0, 0);
  ctx.lineTo(0, height);
  ctx.lineTo(width, height);
  for (const [value, words] of part.x.ticks) {
    const x = xShare(value) * width;
    if (!onRuler(xShare(value))) continue;
    ctx.moveTo(x, height);
    ctx.lineTo(x, height + 4);
    write(ctx, words, x, height + 15, { size: TICK, colour: look.ink, align: "center" });
  }
  for (const [value, words] of part.y.ticks) {
    const y = (1 - yShare(value)) * height;
    if (!onRuler(yShare(value))) continue;
    ctx.moveTo(-4, y);
    ctx.lineTo(0, y);
    write(ctx, words, -AWAY - 1, middle(y, TICK), { size: TICK, colour: look.ink, align: "right", room: before - AWAY });
  }
  ctx.strokeStyle = look.edge;
  ctx.lineWidth = 0.8;
  ctx.stroke();
  write(ctx, part.x.words, width / 2, height + 17 + LINE - 4, { colour: look.ink, align: "center", room: width + 2 * after });
  write(ctx, part.y.words, -26, -AWAY - 3, { colour: look.ink, room: width + 34 });
}

function writeChartLegend(pen, part) {
  const { ctx, look } = pen, [, , width, height, before, , after] = part.box;
  const entries = part.lines.filter((line) => line.words).map((line) => ({ look: line.look, words: line.words }));
  if (part.shades?.words) entries.push({ look: "shades", words: part.shades.words });
  writeLegend(ctx, entries, {
    left: 4 - before, room: before + width + after - 4, rows: Math.max(part.legendLines, 1), look,
    top: height + 17 + (part.x.words ? LINE : 0) + LINE,
    swatch: (entry, x, y) => {
      ctx.beginPath();
      if (entry.look === "shades") ctx.drawImage(pen.strip(part.shades.map), x, y - 5, 18, 10);
      else if (entry.look === "points" || entry.look === "here") drawDot(ctx, look, x + 9, y, entry.look === "here");
      else if (entry.look === "bars" || entry.look === "band") {
        ctx.globalAlpha = entry.look === "bars" ? 0.75 : 0.2;
        ctx.fillStyle = look.measured;
        ctx.fillRect(x, y - 5, 18, 10);
        ctx.globalAlpha = 1;
      } else {
        ctx.moveTo(x, y);
        ctx.lineTo(x + 18, y);
        stroke(ctx, look, entry.look);
      }
    },
  });
}

const DRAW = { matrix: drawMatrix, bars: drawBars, chart: drawChart };

/** A canvas for one part, kept for as long as its size stays; all drawing goes through it. */
class Pen {
  constructor(view) {
    this.view = view;
    this.canvas = make("canvas", { className: "andrea-part" });
    this.ctx = this.canvas.getContext("2d");
  }

  get look() { return this.view.look; }
  get words() { return this.view.words; }
  get zoom() { return this.view.scale; }
  palette(map) { return this.view.palette(map); }
  hatch(kind) { return this.view.hatch(kind, this.ctx); }

  /** Room for the part and its words; whole device pixels, so that edges are sharp. */
  place(part, scale, ratio) {
    const [left, top, width, height, before, above, after, below] = part.box;
    const dots = scale * ratio, spread = part.slanted ? 56 : 30;
    const from = [Math.round((left - before - 30) * dots), Math.round((top + Math.min(part.titleTop, -above) - 4) * dots)];
    const under = 8 + (part.kind === "matrix" ? 2 * LINE : 0); // a legend may be longer than foreseen
    const to = [Math.round((left + width + after + spread) * dots), Math.round((top + height + below + under) * dots)];
    this.canvas.dataset.plot = [left * scale - from[0] / ratio, top * scale - from[1] / ratio, width * scale, height * scale].join();
    this.plot = [Math.round(left * dots) - from[0], Math.round(top * dots) - from[1], Math.round(width * dots), Math.round(height * dots)];
    this.dots = dots;
    const size = [to[0] - from[0], to[1] - from[1]], { canvas } = this;
    const key = [...from, ...size, ratio].join();
    if (key === this.key) return;
    this.key = key;
    [canvas.width, canvas.height] = size;
    Object.assign(canvas.style, {
      left: `${from[0] / ratio}px`, top: `${from[1] / ratio}px`, width: `${size[0] / ratio}px`, height: `${size[1] / ratio}px`,
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

  strip(map) { return this.view.strip(map); }
}

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
        part.window = { ...part.window, values: floats(part.window.values, shape[0] * shape[1]), hidden: bytes(part.window.hidden) };
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
      const timer = setTimeout(() => { this.waiting.delete(id); resolve({ problem: noAnswer }); }, PATIENCE);
      this.waiting.set(id, (answer) => { clearTimeout(timer); resolve(answer); });
      this.model.send({ ...content, view: this.name, id });
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
  let busy = false, next = null;
  const run = async (what) => {
    if (busy) { next = what; return; }
    busy = true;
    try { await call(what); } finally {
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
    const run = this.run = Symbol("run"); // one that was stopped and begun anew is another
    this.playing = !once;
    this.tell();
    do {
      const start = performance.now();
      const { more } = await this.channel.ask({ type: "advance", revision: this.model.get("picture").revision });
      if (!more || once) break;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, STEP_TIME - (performance.now() - start))));
    } while (this.run === run && this.playing);
    if (this.run === run) this.stop();
  }

  stop() {
    this.playing = false;
    this.run = null;
    this.tell();
  }

  tell() { for (const view of this.views) view.showPlaying(); }
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
  const { start, shape, values, hidden } = part.window ?? { start: [0, 0], shape: part.shape, values: part.values };
  const [rows, columns] = part.axes, title = part.title.join(" ") || part.name;
  const said = (i, j) => (part.window ? (hidden[i * shape[1] + j] ? view.words.live_hidden : short(values[i * shape[1] + j])) : view.said(part, i, j));
  const caption = part.window ? fill(view.words.live_window, {
    title, top: start[0], bottom: start[0] + shape[0] - 1, left: start[1], right: start[1] + shape[1] - 1,
    rows: part.shape[0], columns: part.shape[1],
  }) : title;
  const range = (count) => [...Array(count).keys()];
  return {
    caption,
    head: [`${view.picture.axes[rows].words} \\ ${view.picture.axes[columns].words}`, ...range(shape[1]).map((j) => view.place(columns, start[1] + j))],
    body: range(shape[0]).map((i) => [view.place(rows, start[0] + i), ...range(shape[1]).map((j) => said(i, j))]),
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
  const x = part.x.words || "x", y = part.y.words || live_value;
  const most = 33, title = part.title.join(" ");
  return part.lines.map((line, number) => {
    const caption = `${title}: ${line.words || fill(live_line, { number: number + 1 })}`;
    const count = line.look === "bars" ? line.y.length : line.x.length;
    const step = Math.max(1, Math.ceil((count - 1) / (most - 1)));
    const places = [...Array(count).keys()].filter((n) => n % step === 0);
    if (line.look === "bars") {
      return { caption, head: [`${x} (${live_from})`, `${x} (${live_to})`, y], body: places.map((n) => [short(line.x[n]), short(line.x[n + 1]), short(line.y[n])]) };
    }
    if (line.look === "band") {
      return { caption, head: [x, live_low, live_high], body: places.map((n) => [short(line.x[n]), short(line.y[n]), short(line.y[count + n])]) };
    }
    return { caption, head: [x, y], body: places.map((n) => [short(line.x[n]), short(line.y[n])]) };
  });
}

// -- a view ---------------------------------------------------------------------------------------

class View {
  constructor(model, el, player) {
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
    this.askChoice = latest((content) => this.sendChoice(content), () => this.showChoice());
    this.askReading = latest((target) => this.fetchReading(target));
    this.build(el);
    this.watch(el);
    this.show();
  }

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
    this.spoken = make("div", { className: "andrea-spoken", role: "status", "aria-live": "polite" });
    this.problem = make("div", { className: "andrea-problem", role: "alert" });
    this.root = make("div", { className: "andrea-view", lang: this.model.get("language"), role: "group", "aria-label": words.live_view },
      this.stage, this.tables, this.reading, this.spoken, this.buildTools(), this.problem);
    el.append(this.root);
  }

  buildTools() {
    const { words } = this;
    const button = (text, react) => {
      const one = make("button", { type: "button", textContent: text });
      one.addEventListener("click", react);
      return one;
    };
    const tools = make("div", { className: "andrea-tools", role: "toolbar", "aria-label": words.live_tools });
    if (this.model.get("plays")) {
      this.play = button("", () => this.player.toggle());
      tools.append(this.play);
    }
    this.tableSwitch = button(words.live_table, () => this.switchTables());
    this.tableSwitch.setAttribute("aria-pressed", "false");
    tools.append(this.tableSwitch,
      button(words.live_save_png, () => this.save("png")), button(words.live_save_svg, () => this.save("svg")));
    this.player.views.add(this);
    this.showPlaying();
    return tools;
  }

  showPlaying() {
    if (!this.play) return;
    const { words } = this, still = lessMotion();
    setText(this.play, this.player.playing ? words.live_pause : still ? words.live_step : words.live_play);
    this.play.title = still ? words.live_step_why : "";
  }

  watch(el) {
    const { signal } = this.leave;
    this.onPicture = () => this.show();
    this.model.on("change:picture", this.onPicture);
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(this.root);
    const restyle = () => this.restyle();
    this.themed = new MutationObserver(() => { restyle(); this.later = setTimeout(restyle, 400); }); // its style sheet may come later
    this.themed.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-name", "data-jp-theme-light", "class"] });
    for (const query of ["(forced-colors: active)", "(prefers-color-scheme: dark)"]) {
      matchMedia(query).addEventListener("change", restyle, { signal });
    }
    matchMedia("(prefers-reduced-motion: reduce)").addEventListener("change", () => this.showPlaying(), { signal });
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
    this.model.off("change:picture", this.onPicture);
    this.channel.close();
    this.player.views.delete(this);
    if (!this.player.views.size) this.player.stop();
    this.root.remove();
  }

  // -- drawing

  /** Take the picture that Python has sent; nothing of the one before may stay. */
  show() {
    const sent = this.model.get("picture");
    try {
      this.picture = sent.parts ? unpack(sent) : null;
      this.revision = sent.revision;
      if (this.picture) this.settle();
      this.draw();
      if (this.pointer) this.point(this.pointer); // there may be another cell by now
      this.updateReading();
      setText(this.problem, "");
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error) {
    console.error(error);
    this.picture = null;
    for (const pen of this.pens.values()) pen.clear();
    this.lights.width = this.lights.width; // eslint-disable-line no-self-assign -- empties it
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
    if (!this.tables.hidden) return this.drawTables();
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
    const [width, height, zoom] = this.picture.size;
    const room = this.room = this.root.clientWidth || this.room || width * zoom; // if out of sight
    this.scale = Math.max(Math.min(zoom, room / width), 0.45 * zoom);
    this.ratio = window.devicePixelRatio || 1;
    const key = [width, height, this.scale, this.ratio].join();
    if (key === this.measured) return;
    this.measured = key;
    this.kept.clear();
    const { style } = this.stage;
    style.width = `${width * this.scale}px`;
    style.height = `${height * this.scale}px`;
    style.setProperty("--andrea-scale", this.scale);
    this.root.style.setProperty("--andrea-zoom", zoom);
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
        for (const type of ["focus", "blur"]) pen.canvas.addEventListener(type, () => this.drawLights());
        pen.canvas.dataset.part = name;
        if (before) before.after(pen.canvas);
        else this.stage.prepend(pen.canvas);
      }
      before = this.pens.get(name).canvas;
    }
  }

  describe(canvas, part) {
    const title = part.title.join(" ") || part.reading || part.name, { words } = this;
    const set = (name, value) => canvas.getAttribute(name) !== value && canvas.setAttribute(name, value);
    if (part.kind === "chart") {
      const said = [part.x.words, part.y.words, ...part.lines.map((line) => line.words)].filter(Boolean);
      set("role", "img");
      set("aria-label", fill(words.live_chart, { title, words: said.join(words.live_separator) }));
      return;
    }
    set("role", "application"); // so that screen readers leave the arrow keys to it
    set("tabindex", "0");
    const [rows, columns] = part.shape;
    set("aria-label", fill(part.kind === "bars" ? words.live_bars : words.live_matrix, { title, rows, columns, count: rows }));
  }

  writeLines(formulas, caption) {
    while (this.formulas.children.length > formulas.length) this.formulas.lastChild.remove();
    while (this.formulas.children.length < formulas.length) this.formulas.append(make("div"));
    formulas.forEach((words, n) => setText(this.formulas.children[n], words));
    setText(this.caption, caption);
    if (!this.picture) return;
    this.formulas.style.top = `${this.picture.formulas[0] * this.scale}px`;
    this.caption.style.top = `${this.picture.caption[0] * this.scale}px`;
  }

  drawTables() {
    const models = [...this.picture.parts.values()].flatMap((part) => (
      part.kind === "matrix" ? [matrixTable(this, part)] : part.kind === "bars" ? [barsTable(this, part)] : lineTables(this, part)));
    while (this.tables.children.length > models.length) this.tables.lastChild.remove();
    models.forEach((model, n) => {
      if (n === this.tables.children.length) {
        this.tables.append(make("div", { className: "andrea-table", tabIndex: 0, role: "region" }, make("table")));
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
    try { this.draw(); } catch (error) { this.fail(error); }
  }

  fit() {
    if (!this.root.clientWidth) return;
    adoptPanel(this.root, this.leave.signal);
    if (!this.look) return this.restyle();
    if (!this.picture) return;
    const before = this.measured;
    this.measure();
    if (this.measured !== before) this.redraw();
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

  hatch(kind) { return this.keep(`hatch ${kind}`, () => makeHatch(kind, this.look, this.scale * this.ratio)); }

  palette(map) {
    if (!this.palettes.has(map)) this.palettes.set(map, makePalette(this.model.get("maps")[map]));
    return this.palettes.get(map);
  }

  /** A colour bar, one pixel high. */
  strip(map) {
    return this.keep(`strip ${map}`, () => {
      const canvas = make("canvas", { width: STEPS + 1, height: 1 }), ctx = canvas.getContext("2d");
      this.palette(map).styles.forEach((style, n) => { ctx.fillStyle = style; ctx.fillRect(n, 0, 1, 1); });
      return canvas;
    });
  }

  // -- lights

  /** What is chosen and pointed at, in every part that has these axes. */
  drawLights() {
    if (!this.look) return;
    const ctx = this.lights.getContext("2d"), { look } = this;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.lights.width, this.lights.height);
    if (!this.picture || !this.scale) return;
    const dots = this.scale * this.ratio;
    const chosen = Object.fromEntries(Object.entries(this.selected).map(([axis, place]) => [axis, [place, 1]]));
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

  lightUp(ctx, part, places, colour, thickness) {
    const known = part.axes.filter((axis, n) => places[axis] && places[axis][0] < part.shape[n]);
    // One side at a time and then the cell; an axis on both sides lights a row and a column.
    known.forEach((axis, n) => {
      if (part.axes[0] === part.axes[1] && n === 1) return;
      frame(ctx, this.look, boxOf(part, { [axis]: places[axis] }), colour, thickness);
    });
    if (part.axes.length === 2 && known.length === 2) frame(ctx, this.look, boxOf(part, places), colour, thickness + 0.6);
  }

  // -- pointing

  /** Part and dot under the pointer. */
  under(event) {
    if (!this.picture) return null;
    const edge = this.stage.getBoundingClientRect();
    const x = (event.clientX - edge.left) / this.scale, y = (event.clientY - edge.top) / this.scale;
    for (const part of this.picture.parts.values()) {
      if (part.kind === "chart") continue;
      const [left, top, width, height] = part.box, [across, down] = [(x - left) / width, (y - top) / height];
      if (across < 0 || down < 0 || across >= 1 || down >= 1) continue;
      if (part.kind === "bars") return { part, dot: [Math.floor((part.upright ? across : down) * part.shape[0])] };
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
    this.pointed = found && { key, name: found.part.name, dot: found.dot, places: this.placesOf(found.part, found.dot) };
    this.drawLights();
    this.updateReading();
  }

  /** Cells behind a dot: [first, how many] by axis. */
  placesOf(part, dot) {
    const block = part.block ?? [1], places = {};
    part.axes.forEach((axis, n) => { places[axis] = [dot[n] * block[n], Math.min(block[n], part.shape[n] - dot[n] * block[n])]; });
    return places;
  }

  click(event) {
    const found = this.under(event);
    if (!found) return;
    const { part, dot } = found;
    this.pens.get(part.name).canvas.focus({ preventScroll: true });
    const pooled = part.kind === "matrix" && part.block[0] * part.block[1] > 1;
    const places = Object.fromEntries(part.axes.map((axis, n) => [axis, dot[n] * (part.block?.[n] ?? 1)]));
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
    const flat = part.kind === "bars", lying = flat && !part.upright;
    const counts = flat ? (lying ? [part.shape[0], 1] : [1, part.shape[0]]) : part.shape;
    const axes = flat ? (lying ? [part.axes[0], null] : [null, part.axes[0]]) : part.axes;
    const now = axes.map((axis) => (axis ? this.selected[axis] : 0));
    const fresh = now.some((place) => place === undefined);
    let [row, column] = now.map((place) => place ?? 0);
    const page = Math.max(1, Math.round(counts[0] / 8)), last = counts.map((count) => count - 1);
    const keys = {
      ArrowUp: () => { row -= 1; }, ArrowDown: () => { row += 1; },
      ArrowLeft: () => { column -= 1; }, ArrowRight: () => { column += 1; },
      PageUp: () => { row -= page; }, PageDown: () => { row += page; },
      Home: () => { if (ctrlKey || lying) row = 0; column = 0; },
      End: () => { if (ctrlKey || lying) row = last[0]; column = last[1]; },
      Enter: () => {}, " ": () => {},
    };
    if (!keys[key] || (ctrlKey && key.startsWith("Arrow"))) return null;
    const first = fresh && key.startsWith("Arrow"); // the first key only shows where one is
    if (!first) keys[key]();
    [row, column] = [row, column].map((place, n) => Math.min(Math.max(place, 0), Math.max(last[n], 0)));
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
    const answer = await this.channel.ask({ type: "select", ...content }, this.words.live_no_answer);
    if (answer.closed) return;
    this.awaited = answer.revision ?? 0;
    // Which cell a dot shows is known only now.
    if (content.dot && answer.places && content === this.lastChoice) Object.assign(this.selected, answer.places);
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
    const name = this.picture.axes[axis].names?.[place];
    return name === undefined ? String(place) : `${place} ${name}`;
  }

  placeWords(axis, place) {
    const { words, names } = this.picture.axes[axis], name = names?.[place];
    return fill(name === undefined ? this.words.live_place : this.words.live_named, { axis: words, place, name }).trim();
  }

  /** What stands in a cell, in words. */
  said(part, i, j = 0) {
    const { words } = this, columns = part.shape[1] ?? 1, at = i * columns + j;
    if (part.kind === "bars") return part.hidden?.[at] ? words.live_hidden : short(part.values[at]);
    const code = part.codes[at];
    if (code === HIDDEN) return words.live_hidden;
    if (part.map === "mask") return words.live_visible;
    return SIGNS[code] ?? short(part.values[at]);
  }

  /** Parts over the same axes that have something to say about their cells. */
  companions(part) {
    return [...this.picture.parts.values()].filter((other) => other.kind === part.kind && (other === part || other.reading)
      && other.axes.join() === part.axes.join() && other.shape.join() === part.shape.join());
  }

  /** What is pointed at, or else what was chosen; its numbers may have to come from Python. */
  updateReading() {
    const target = this.picture && (this.pointed ? { name: this.pointed.name, dot: this.pointed.dot } : this.chosenTarget());
    this.target = target;
    const part = target && this.picture.parts.get(target.name);
    if (!part || target.dot.some((place, n) => place >= (target.exact ? part.shape : part.dots ?? part.shape)[n])) {
      this.target = null;
      return this.writeReading(this.picture ? this.words.live_hint : "", true);
    }
    if (part.kind === "matrix" && this.companions(part).some((other) => !other.values && other.map !== "mask")) {
      return void this.askReading(target);
    }
    const places = Object.fromEntries(part.axes.map((axis, n) => [axis, target.dot[n]]));
    this.writeReading(this.sentence(places, this.companions(part).map((other) => [other.reading, this.said(other, ...target.dot)])));
  }

  chosenTarget() {
    const parts = this.picture.parts;
    const whole = (part) => part && part.kind !== "chart" && part.axes.every((axis) => this.selected[axis] !== undefined);
    const recent = parts.get(this.chosenPart);
    const part = whole(recent) ? recent : [...parts.values()].find((one) => one.kind === "matrix" && whole(one)) ?? [...parts.values()].find(whole);
    return part ? { name: part.name, dot: part.axes.map((axis) => this.selected[axis]), exact: true } : null;
  }

  async fetchReading(target) {
    const { name, dot, exact } = target;
    const answer = await this.channel.ask({ type: "ask", part: name, ...(exact ? { row: dot[0], column: dot[1] } : { dot }) }, this.words.live_no_answer);
    if (target !== this.target || !answer.readings) return; // something else is pointed at by now
    this.writeReading(this.sentence(answer.places, answer.readings));
  }

  sentence(places, readings) {
    const { live_separator, live_at } = this.words;
    const where = Object.entries(places).map(([axis, place]) => this.placeWords(axis, place)).filter(Boolean).join(live_separator);
    const values = [...new Set(readings.map(([words, value]) => `${words} ${value}`.trim()))].join(live_separator);
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
    setText(this.problem, answer.problem ? fill(this.words.live_save_failed, { problem: answer.problem }) : "");
    if (answer.problem) return;
    const type = kind === "png" ? "image/png" : "image/svg+xml";
    const address = URL.createObjectURL(new Blob([bytes(answer.buffers[0])], { type }));
    const link = make("a", { href: address, download: answer.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }
}

// -- the panel around -----------------------------------------------------------------------------

const adopted = new WeakSet();

/** Mend what ipywidgets' own controls in the same panel lack: their keys, Escape, names. */
function adoptPanel(root, signal) {
  const panel = root.closest(".andrea-panel") ?? (root.isConnected ? root : null);
  if (!panel || adopted.has(panel)) return;
  adopted.add(panel);
  panel.setAttribute("lang", root.lang);
  // Notebooks listen for their shortcuts before any control does; on the window we are first.
  window.addEventListener("keydown", (event) => {
    if (panel.contains(event.target)) panel.toggleAttribute("data-lm-suppress-shortcuts", isForControls(event));
  }, { capture: true, signal });
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented && !isOpen(event.target)) backToNotebook(panel, event);
  }, { signal });
  const mended = new Set();
  const watcher = new MutationObserver((changes) => { if (changes.some((change) => change.addedNodes.length)) mend(); });
  const mend = () => {
    watcher.observe(panel, { childList: true });
    for (const child of panel.children) { // controls may come late; the picture need not be watched
      if (!child.contains(root)) watcher.observe(child, { childList: true, subtree: true });
    }
    panel.querySelectorAll(".widget-slider").forEach((slider) => mendSlider(slider, mended, signal));
  };
  signal.addEventListener("abort", () => { watcher.disconnect(); adopted.delete(panel); });
  mend();
}

/** Whether a key is for a control and no shortcut: "d d" would delete the cell. */
function isForControls({ key, shiftKey, ctrlKey, metaKey, altKey }) {
  if (/^(Arrow|Home|End|Page)/.test(key)) return true;
  return !ctrlKey && !metaKey && !altKey && !(shiftKey && key === "Enter");
}

/** A drop-down list that is open needs Escape for itself. */
function isOpen(element) {
  try { return element.matches("select:open"); } catch { return false; } // a browser without :open
}

/** Leave the keyboard to the notebook, at the cell of the panel. */
function backToNotebook(panel, event) {
  const cell = panel.closest(".jp-Cell"), notebook = panel.closest(".jp-Notebook");
  const target = [cell, notebook].find((element) => element?.hasAttribute("tabindex"));
  document.activeElement?.blur();
  if (!target) return;
  event.preventDefault();
  event.stopPropagation();
  target.focus({ preventScroll: true });
}

let named = 0;

/** Give a slider the name of its control, and let it say what its readout shows. */
function mendSlider(slider, mended, signal) {
  if (!slider.querySelector(".noUi-handle") || mended.has(slider)) return;
  mended.add(slider);
  const label = slider.querySelector(".widget-label"), readout = slider.querySelector(".widget-readout");
  if (label) label.id ||= `andrea-label-${++named}`;
  if (readout) {
    readout.setAttribute("role", "textbox");
    if (label) readout.setAttribute("aria-labelledby", label.id);
  }
  const say = () => {
    for (const handle of slider.querySelectorAll(".noUi-handle")) {
      if (label && handle.getAttribute("aria-labelledby") !== label.id) handle.setAttribute("aria-labelledby", label.id);
      const words = readout?.textContent;
      // Only if it differs: what is set here is seen by the observer as well.
      if (words && handle.getAttribute("aria-valuetext") !== words) handle.setAttribute("aria-valuetext", words);
    }
  };
  const watcher = new MutationObserver(say);
  watcher.observe(slider, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["aria-valuetext"] });
  signal.addEventListener("abort", () => watcher.disconnect());
  say();
}

// -- what anywidget asks for ----------------------------------------------------------------------

/** Called once for a model, so that all its views share one player. */
export default () => {
  let player;
  return {
    initialize({ model }) {
      player = new Player(model);
      return () => { player.stop(); player.channel.close(); };
    },
    render({ model, el }) {
      const view = new View(model, el, player);
      return () => view.remove();
    },
  };
};
