// Matrices on canvases.  See live_looks.js.

function drawMatrix(pen, part) {
  const { ctx, look } = pen;
  const [, , width, , before] = part.box;
  writeTitle(ctx, part, look);
  if (part.rowTicks) writeRowNames(ctx, part.rowTicks, part.shape[0], part, look);
  write(ctx, part.rowTitle, -AWAY, -AWAY, {
    colour: look.ink,
    align: "right",
    room: before - AWAY,
  });
  if (part.columnTicks)
    writeColumnNames(ctx, part.columnTicks, part.shape[1], part, look, -AWAY, part.slanted);
  write(ctx, part.columnTitle, width / 2, -part.columnTitleUp, {
    colour: look.ink,
    align: "center",
  });
  if (part.codes.length) {
    drawCells(pen, part);
    writeNumbers(pen, part);
  } else
    write(ctx, pen.words.no_cells, width / 2, part.box[3] / 2, {
      colour: look.quiet,
      align: "center",
    });
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
  const { pixels } = pen.palette(part.map),
    codes = part.codes;
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
    for (const [kind] of part.legend)
      if (kind in SPECIAL) fillSpecial(pen, part, kind, left, top, width, height);
  });
  if (part.lines) drawLines(pen, part);
  if (part.grid) drawGrid(pen, part);
}

/** Heavier lines after every so many rows and columns. */
function drawGrid({ ctx, look }, part) {
  const [, , width, height] = part.box,
    [rows, columns] = part.dots;
  ctx.beginPath();
  for (let j = part.grid; j < columns; j += part.grid) {
    ctx.moveTo((j * width) / columns, 0);
    ctx.lineTo((j * width) / columns, height);
  }
  for (let i = part.grid; i < rows; i += part.grid) {
    ctx.moveTo(0, (i * height) / rows);
    ctx.lineTo(width, (i * height) / rows);
  }
  ctx.strokeStyle = look.quiet;
  ctx.lineWidth = 1.2;
  ctx.stroke();
}

function fillSpecial(pen, part, kind, left, top, width, height) {
  const { ctx } = pen,
    [rows, columns] = part.dots,
    code = SPECIAL[kind];
  const across = width / columns,
    down = height / rows;
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
  const [, , width, height] = part.box,
    [rows, columns] = part.dots;
  ctx.beginPath();
  for (let j = 1; j < columns; j++) {
    ctx.moveTo((j * width) / columns, 0);
    ctx.lineTo((j * width) / columns, height);
  }
  for (let i = 1; i < rows; i++) {
    ctx.moveTo(0, (i * height) / rows);
    ctx.lineTo(width, (i * height) / rows);
  }
  ctx.strokeStyle = look.gap;
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
  const { ctx } = pen,
    [, , width, height] = part.box,
    [rows, columns] = part.shape;
  const texts = part.numbers;
  const across = width / columns,
    down = height / rows;
  const widest = Math.max(...texts.map((text) => widthOf(ctx, text, 1)));
  const size = Math.min(NOTE - 1, (0.88 * across) / widest, 0.75 * down);
  if (size * pen.zoom < SMALLEST_NUMBER) return;
  const { dark } = pen.palette(part.map);
  const kinds = Object.fromEntries(Object.entries(SPECIAL).map(([kind, code]) => [code, kind]));
  texts.forEach((text, n) => {
    const code = part.codes[n];
    if (code === HIDDEN || code === BLANK) return;
    const x = ((n % columns) + 0.5) * across,
      y = (Math.floor(n / columns) + 0.5) * down;
    if (code > STEPS) {
      text = SIGNS[code];
      const [face, ink] = FACES[kinds[code]],
        wide = widthOf(ctx, text, size) + 3;
      ctx.fillStyle = face;
      ctx.fillRect(x - wide / 2, y - 0.65 * size, wide, 1.3 * size);
      write(ctx, text, x, middle(y, size), { size, colour: ink, align: "center" });
    } else
      write(ctx, text, x, middle(y, size), { size, colour: inkOn(dark[code]), align: "center" });
  });
}

function drawColourBar(pen, part) {
  if (!part.bar.length) return;
  const { ctx, look } = pen,
    [, , width, height] = part.box;
  const strip = pen.strip(part.map);
  ctx.imageSmoothingEnabled = true;
  ctx.drawImage(strip, 0, height + 7, width, 9);
  part.bar.forEach(([share, words], n) => {
    const align = n === 0 ? "left" : n === part.bar.length - 1 ? "right" : "center";
    write(ctx, words, share * width, height + 28, { size: TICK, colour: look.ink, align });
  });
  write(ctx, part.barNote, width / 2, height + 45, {
    size: NOTE,
    colour: look.quiet,
    align: "center",
    room: width + 2 * part.box[6],
  });
}

function writeMatrixLegend(pen, part) {
  const { ctx, look } = pen,
    [, , width, height, , , after] = part.box;
  const top = height + (part.bar.length ? 30 : 2) + (part.barNote ? LINE : 0) + 14;
  writeLegend(
    ctx,
    part.legend.map(([kind, words]) => ({ kind, words, sign: SIGNS[SPECIAL[kind]] })),
    {
      left: -after,
      room: width + 2 * after,
      top,
      rows: 1,
      look,
      swatch: ({ kind }, x, y) => {
        pen.inDevicePixels((left, upper, _, __, scale) => {
          ctx.fillStyle = pen.hatch(kind);
          ctx.fillRect(left + x * scale, upper + (y - 5.5) * scale, 18 * scale, 11 * scale);
        });
        ctx.strokeStyle = look.edge;
        ctx.lineWidth = 0.6;
        ctx.strokeRect(x, y - 5.5, 18, 11);
      },
    },
  );
}
