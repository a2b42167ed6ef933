// Curves, points, bars and shades on two rulers.  See live_looks.js.

const STROKES = {
  // colour, width, dashes
  measured: ["measured", 2, []],
  theory: ["compared", 1.8, [6, 3]],
  dotted: ["theory", 1.8, [2, 3]],
  dashdot: ["theory", 1.6, [8, 3, 2, 3]],
};

const BANDS = { band: "measured", "compared-band": "compared" };

const MARKS = { points: "measured", here: "measured", squares: "compared", diamonds: "theory" };

function shareOn(ruler) {
  if (!ruler.log) return (value) => (value - ruler.low) / (ruler.high - ruler.low);
  const low = Math.log(ruler.low),
    span = Math.log(ruler.high) - low;
  return (value) => (Math.log(value) - low) / span;
}

function drawChart(pen, part) {
  const { ctx, look } = pen,
    [, , width, height] = part.box;
  const xShare = shareOn(part.x),
    yShare = shareOn(part.y);
  const x = (value) => xShare(value) * width,
    y = (value) => (1 - yShare(value)) * height;
  writeTitle(ctx, part, look);
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, 0, width, height);
  ctx.clip();
  if (part.shades) drawShades(pen, part.shades, x, y);
  for (const line of part.lines) if (line.look !== "here") drawCurve(pen, line, x, y, part);
  ctx.restore();
  drawRulers(pen, part, xShare, yShare);
  for (const line of part.lines) {
    // not clipped, so that one at the edge is whole
    const inside =
      xShare(line.x[0]) > -0.01 &&
      xShare(line.x[0]) < 1.01 &&
      yShare(line.y[0]) > -0.01 &&
      yShare(line.y[0]) < 1.01;
    if (line.look === "here" && inside) drawCurve(pen, line, x, y, part);
  }
  writeChartLegend(pen, part);
}

function drawShades(pen, shades, x, y) {
  const { styles } = pen.palette(shades.map),
    columns = shades.x.length - 1;
  shades.codes.forEach((code, n) => {
    const i = Math.floor(n / columns),
      j = n % columns;
    const [left, right, low, high] = [
      x(shades.x[j]),
      x(shades.x[j + 1]),
      y(shades.y[i]),
      y(shades.y[i + 1]),
    ];
    pen.ctx.fillStyle = code > STEPS ? pen.look["hidden-face"] : styles[code];
    // a little wider than the cell, or the paper shines through between them
    pen.ctx.fillRect(
      Math.min(left, right),
      Math.min(low, high),
      Math.abs(right - left) + 0.5,
      Math.abs(high - low) + 0.5,
    );
  });
}

function drawCurve({ ctx, look }, line, x, y, part) {
  const across = [...line.x].map(x),
    down = [...line.y].map(y),
    floor = part.y.log ? part.box[3] : Math.min(Math.max(y(0), 0), part.box[3]);
  if (line.look === "bars") {
    ctx.fillStyle = look.measured;
    ctx.globalAlpha = 0.75;
    down.forEach((top, n) => {
      if (Number.isFinite(top + across[n] + across[n + 1]))
        ctx.fillRect(
          across[n],
          Math.min(top, floor),
          across[n + 1] - across[n],
          Math.abs(floor - top),
        );
    });
    ctx.globalAlpha = 1;
  } else if (line.look in BANDS) {
    const count = across.length; // y holds the low ends and then the high ones
    const edge = [...across.keys()].filter((n) =>
      Number.isFinite(across[n] + down[n] + down[count + n]),
    );
    ctx.beginPath();
    edge.forEach((n) => ctx.lineTo(across[n], down[n]));
    edge.reverse().forEach((n) => ctx.lineTo(across[n], down[count + n]));
    ctx.fillStyle = look[BANDS[line.look]];
    ctx.globalAlpha = 0.2;
    ctx.fill();
    ctx.globalAlpha = 1;
  } else if (line.look in MARKS) {
    across.forEach((left, n) => drawMark(ctx, look, left, down[n], line.look));
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

function drawMark(ctx, look, x, y, kind) {
  ctx.beginPath();
  if (kind === "squares") ctx.rect(x - 3.3, y - 3.3, 6.6, 6.6);
  else if (kind === "diamonds") {
    ctx.moveTo(x, y - 4.6);
    for (const [right, below] of [
      [4.6, 0],
      [0, 4.6],
      [-4.6, 0],
    ])
      ctx.lineTo(x + right, y + below);
    ctx.closePath();
  } else ctx.arc(x, y, kind === "here" ? 5.5 : 3.5, 0, 2 * Math.PI);
  ctx.fillStyle = look[MARKS[kind]];
  ctx.fill();
  if (kind !== "here") return;
  ctx.lineWidth = 1.4;
  ctx.strokeStyle = look.paper;
  ctx.stroke();
}

function stroke(ctx, look, kind, halo = false) {
  const [colour, width, dashes] = STROKES[kind] ?? STROKES.measured;
  if (halo) {
    // seen on dark and light alike
    ctx.setLineDash([]);
    ctx.lineWidth = width + 1.6;
    ctx.strokeStyle = "#ffffff";
    ctx.stroke();
  }
  ctx.setLineDash(dashes);
  ctx.lineWidth = width;
  ctx.lineJoin = "round";
  ctx.strokeStyle = halo
    ? { measured: "#1d6996", compared: "#cc503e", theory: "#5b6672" }[colour]
    : look[colour];
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
    write(ctx, words, -AWAY - 1, middle(y, TICK), {
      size: TICK,
      colour: look.ink,
      align: "right",
      room: before - AWAY,
    });
  }
  ctx.strokeStyle = look.edge;
  ctx.lineWidth = 0.8;
  ctx.stroke();
  write(ctx, part.x.words, width / 2, height + 17 + LINE - 4, {
    colour: look.ink,
    align: "center",
    room: width + 2 * after,
  });
  write(ctx, part.y.words, -26, -AWAY - 3, { colour: look.ink, room: width + 34 });
}

function writeChartLegend(pen, part) {
  const { ctx, look } = pen,
    [, , width, height, before, , after] = part.box;
  const entries = part.lines
    .filter((line) => line.words)
    .map((line) => ({ look: line.look, words: line.words }));
  if (part.shades?.words) entries.push({ look: "shades", words: part.shades.words });
  writeLegend(ctx, entries, {
    left: 4 - before,
    room: before + width + after - 4,
    rows: Math.max(part.legendLines, 1),
    look,
    top: height + 17 + (part.x.words ? LINE : 0) + LINE,
    swatch: (entry, x, y) => {
      ctx.beginPath();
      if (entry.look === "shades") ctx.drawImage(pen.strip(part.shades.map), x, y - 5, 18, 10);
      else if (entry.look in MARKS) drawMark(ctx, look, x + 9, y, entry.look);
      else if (entry.look === "bars" || entry.look in BANDS) {
        ctx.globalAlpha = entry.look === "bars" ? 0.75 : 0.2;
        ctx.fillStyle = look[BANDS[entry.look] ?? "measured"];
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
