// Words, numbers, colours and type of the live view.
//
// live.py joins this file and the others named live_….js with live.js into one module; so they
// share their names, and none imports another.  All numbers called x, y, width … are pixels of
// the layout, before its zoom.

const LABEL = 13,
  TITLE = 14,
  TICK = 12,
  NOTE = 12,
  LINE = 18,
  AWAY = 6;
const SMALLEST = 0.75; // of the usual size of type; words that need less are cut
const SMALLEST_NUMBER = 8.8; // pixels on the screen
const FONTS =
  '"Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", "Noto Sans", "PingFang TC", "Microsoft JhengHei", "Noto Sans CJK TC", "Noto Sans TC", sans-serif';
const HIDDEN = 251,
  NAN = 252,
  PLUS = 253,
  MINUS = 254,
  BLANK = 255; // codes of cells with looks of their own
const STEPS = 250; // code of the high end of a colour map
const SIGNS = { [NAN]: "NaN", [PLUS]: "+∞", [MINUS]: "−∞" };
const SPECIAL = { nan: NAN, plus_infinity: PLUS, minus_infinity: MINUS, blank: BLANK };
const STEP_TIME = 1100; // milliseconds from one step of Play to the next
const QUIET = 150; // milliseconds without a new picture after which numbers are asked for
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

const COLOURS = [
  "ink",
  "quiet",
  "paper",
  "edge",
  "hidden-face",
  "hidden-lines",
  "lit",
  "warning",
  "chosen",
  "pointed",
  "halo",
  "gap",
  "measured",
  "compared",
  "theory",
];
const FACES = {
  nan: ["#d6409f", "#ffffff"],
  plus_infinity: ["#111418", "#ffffff"],
  minus_infinity: ["#ffffff", "#111418"],
};

/** Colours of the theme in force, as live.css has them. */
function readLook(root) {
  const probe = root.appendChild(make("span", { className: "andrea-probe" }));
  const read = () =>
    Object.fromEntries(
      COLOURS.map((name) => {
        probe.style.color = `var(--andrea-${name})`;
        return [name, getComputedStyle(probe).color];
      }),
    );
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
  const pixels = new Uint32Array(256),
    styles = [],
    dark = [];
  for (let code = 0; code <= STEPS; code++) {
    const [red, green, blue] = rgb.subarray(3 * code, 3 * code + 3);
    pixels[code] = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    styles[code] = `rgb(${red}, ${green}, ${blue})`;
    dark[code] = 0.299 * red + 0.587 * green + 0.114 * blue > 127.5; // as ink_on of the figures
  }
  return { pixels, styles, dark };
}

const inkOn = (light) => (light ? "#1f2933" : "#f4f6f8");

/** A hatched tile; `scale` is device pixels for one of the layout. */
function makeHatch(kind, look, scale) {
  const faces = { ...FACES, blank: [look.paper, look.paper] };
  const [face, lines] = faces[kind] ?? [look["hidden-face"], look["hidden-lines"]];
  const size = Math.max(4, Math.round(8 * scale));
  const tile = make("canvas", { width: size, height: size });
  const ctx = tile.getContext("2d");
  ctx.fillStyle = face;
  ctx.fillRect(0, 0, size, size);
  ctx.strokeStyle = lines;
  ctx.lineWidth = Math.max(1, scale);
  ctx.beginPath();
  const line = (...ends) => {
    ctx.moveTo(ends[0], ends[1]);
    ctx.lineTo(ends[2], ends[3]);
  };
  if (kind === "plus_infinity") line(size / 2, 0, size / 2, size);
  if (kind === "plus_infinity" || kind === "minus_infinity") line(0, size / 2, size, size / 2);
  if (kind === "hidden" || kind === "nan") {
    for (const shift of [-size, 0, size]) line(shift - 2, size + 2, shift + size + 2, -2);
  }
  if (kind === "nan")
    for (const shift of [-size, 0, size]) line(shift - 2, -2, shift + size + 2, size + 2);
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
  return (width * size) / 100;
}

/** Words and size such that they fit: smaller if need be, then cut. */
function fitted(ctx, words, size, room) {
  const width = widthOf(ctx, words, size);
  if (width <= room) return [words, size];
  if (width * SMALLEST <= room) return [words, (size * room) / width];
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
      size: TITLE,
      colour: look.ink,
      align: "center",
      room: width + 2 * Math.min(before, after) + 8,
    });
  });
}

function writeRowNames(ctx, [places, names], count, part, look) {
  const [, , , height, before] = part.box;
  places.forEach((place, n) => {
    const y = middle(((place + 0.5) * height) / count, TICK);
    write(ctx, names[n], -AWAY, y, {
      size: TICK,
      colour: look.ink,
      align: "right",
      room: before - AWAY - 2,
    });
  });
}

function writeColumnNames(ctx, [places, names], count, part, look, y, slanted) {
  const step = part.box[2] / count;
  const wide = names.map((name) => widthOf(ctx, name, TICK));
  const long = slanted && Math.max(...wide) > 0.95 * step;
  // A long name may reach over its own column where its neighbours leave room.
  const free = (n, to) =>
    places[to] === undefined
      ? Infinity
      : Math.max(
          Math.abs(places[to] - places[n]) * step - Math.max(wide[to], step * 0.4) / 2 - 3,
          step / 2,
        );
  places.forEach((place, n) => {
    const x = (place + 0.5) * step,
      options = { size: TICK, colour: look.ink };
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
  let size = NOTE,
    lines;
  const long = (line) =>
    line.reduce(
      (sum, entry) => sum + swatchWidth + 5 + widthOf(ctx, entry.words, size),
      14 * (line.length - 1),
    );
  const breakUp = () => {
    lines = [[]];
    for (const entry of entries) {
      const last = lines.at(-1);
      if (last.length && long([...last, entry]) > room) lines.push([entry]);
      else last.push(entry);
    }
  };
  breakUp();
  if (lines.length > rows) {
    // signs instead of words, and then smaller type
    entries = entries.map((entry) => ({ ...entry, words: entry.sign ?? entry.words }));
    for (breakUp(); lines.length > rows && size > SMALLEST * NOTE; breakUp()) size -= 0.5;
  }
  const start = left + Math.max(0, (room - Math.max(...lines.map(long))) / 2);
  lines.forEach((line, n) => {
    let x = start;
    const y = top + n * LINE;
    for (const entry of line) {
      swatch(entry, x, y - 0.36 * size);
      write(ctx, entry.words, x + swatchWidth + 5, y, {
        size,
        colour: look.ink,
        room: left + room - x - swatchWidth - 4,
      });
      x += long([entry]) + 14;
    }
  });
}
