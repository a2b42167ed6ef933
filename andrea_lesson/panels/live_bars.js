// Bars on canvases: lying ones share rows with a matrix beside them.  See live_looks.js.

function drawBars(pen, part) {
  const { ctx, look } = pen,
    [, , width, height, before, , after] = part.box;
  const count = part.shape[0],
    long = part.upright ? height : width;
  const at = (value) => {
    const share =
      (Math.min(Math.max(value, part.low), part.high) - part.low) / (part.high - part.low);
    return part.upright ? (1 - share) * long : share * long;
  };
  writeTitle(ctx, part, look);
  hatchBars(pen, part);
  const step = (part.upright ? width : height) / Math.max(count, 1),
    zero = at(0);
  const thick = Math.max(0.72 * step, 0.4);
  ctx.fillStyle = look.measured;
  part.values.forEach((value, n) => {
    if (part.hidden?.[n] || !Number.isFinite(value)) return;
    const start = (n + 0.5) * step - thick / 2,
      end = at(value),
      low = Math.min(end, zero),
      size = Math.abs(end - zero);
    if (part.upright) ctx.fillRect(start, low, thick, size);
    else ctx.fillRect(low, start, size, thick);
  });
  ctx.fillStyle = look.edge;
  if (part.upright) ctx.fillRect(0, zero - 0.4, width, 0.8);
  else ctx.fillRect(zero - 0.4, 0, 0.8, height);
  for (const [value, words] of part.ticks) {
    if (part.upright)
      write(ctx, words, -AWAY, middle(at(value), TICK), {
        size: TICK,
        colour: look.ink,
        align: "right",
      });
    else {
      const align = value === part.low ? "left" : value === part.high ? "right" : "center";
      write(ctx, words, at(value), -AWAY, { size: TICK, colour: look.ink, align });
    }
  }
  if (part.names && part.upright)
    writeColumnNames(ctx, part.names, count, part, look, height + TICK + 2, false);
  else if (part.names) writeRowNames(ctx, part.names, count, part, look);
  write(ctx, part.axisTitle, -AWAY, -AWAY - LINE, {
    colour: look.ink,
    align: "right",
    room: before - AWAY,
  });
  const below = height + (part.names && part.upright ? LINE : 0) + LINE - 4;
  write(ctx, part.words, width / 2, below, {
    colour: look.ink,
    align: "center",
    room: width + 2 * Math.min(before, after),
  });
  writeBarNumbers(pen, part, at, step);
  drawLit(pen, part);
}

function hatchBars(pen, part) {
  if (!part.hidden) return;
  const { ctx } = pen;
  pen.inDevicePixels((left, top, width, height) => {
    ctx.fillStyle = pen.hatch("hidden");
    const count = part.shape[0],
      step = (part.upright ? width : height) / count;
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
    const end = Number.isNaN(value) ? zero : at(value),
      long = Math.abs(end - zero),
      centre = (n + 0.5) * step;
    if (part.upright) {
      const inside = long > size + 4,
        up = !(value < 0);
      const down = up ? (inside ? size : -3) : inside ? -3 : size;
      write(ctx, text, centre, end + down, {
        size,
        colour: inside ? look.paper : look.ink,
        align: "center",
      });
      return;
    }
    const wide = widthOf(ctx, text, size) + 3,
      inside = long > wide + 4;
    let right = !(value < 0),
      x = end; // which way the bar goes
    // Left of a bar there may be names, or another part.
    if (!inside && !right && end < wide - (part.names ? 0 : 20)) [right, x] = [true, zero];
    const out = inside ? !right : right; // on which side of its end the number stands
    write(ctx, text, x + (out ? 3 : -3), middle(centre, size), {
      size,
      colour: inside ? look.paper : look.ink,
      align: out ? "left" : "right",
    });
  });
}
