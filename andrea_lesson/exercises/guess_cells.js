// Cells of a matrix to be shaded by hand, finger or keys.  See guess_curve.js.

const VERDICTS = ["rest", "extra", "missed", "hit"]; // guessed + 2 × measured
const MARKS_OF = { rest: "", extra: "✕", missed: "○", hit: "✓" };

class CellsBoard {
  constructor(guess) {
    this.guess = guess;
    this.spec = guess.spec;
    this.here = [0, 0];
    this.build();
  }

  build() {
    const { words } = this.guess;
    const [rows, columns] = this.spec.shape;
    const name = (names, n) => names?.[n] ?? String(n);
    this.cells = Array.from({ length: rows }, (_, i) =>
      Array.from({ length: columns }, (_, j) => {
        const cell = make("td", { role: "gridcell", className: "andrea-guess-cell" });
        cell.dataset.cell = `${i},${j}`;
        cell.addEventListener("keydown", (event) => this.press(event, i, j));
        cell.addEventListener("focus", () => this.stand(i, j));
        return cell;
      }),
    );
    const head = make(
      "tr",
      {},
      make("td", { className: "andrea-guess-corner" }),
      ...Array.from({ length: columns }, (_, j) =>
        make("th", { scope: "col", textContent: name(this.spec.column_names, j) }),
      ),
    );
    const body = this.cells.map((some, i) =>
      make(
        "tr",
        {},
        make("th", { scope: "row", textContent: name(this.spec.row_names, i) }),
        ...some,
      ),
    );
    this.grid = make(
      "table",
      {
        role: "grid",
        className: "andrea-guess-grid-table",
        "aria-multiselectable": "true",
        "aria-label": `${this.spec.title} (${this.spec.rows}, ${this.spec.columns})`,
      },
      make("caption", { textContent: this.spec.columns }),
      make("tbody", {}, head, ...body),
    );
    // Room that the pictures of the panels give a cell, and never less than a finger needs.
    const most = Math.max(rows, columns);
    this.grid.style.setProperty("--andrea-cell", `${Math.max(26, Math.min(44, 340 / most))}px`);
    this.legend = make(
      "div",
      { className: "andrea-guess-legend" },
      ...["hit", "missed", "extra"].map((kind) =>
        make(
          "span",
          {},
          make("span", {
            className: `andrea-guess-cell andrea-guess-sample andrea-guess-${kind}`,
            textContent: MARKS_OF[kind],
            "aria-hidden": "true",
          }),
          ` ${words[`guess_${kind}`]}`,
        ),
      ),
    );
    this.element = make(
      "div",
      { className: "andrea-guess-box andrea-guess-cells" },
      make("div", { className: "andrea-guess-rows", textContent: this.spec.rows, "aria-hidden": "true" }),
      this.grid,
    );
    this.listen();
  }

  // -- hand and finger: the first cell says whether a stroke shades or wipes

  listen() {
    const { grid } = this;
    const under = ({ clientX, clientY }) => {
      const found = grid.getRootNode().elementFromPoint(clientX, clientY)?.closest("[data-cell]");
      return found && grid.contains(found) ? found.dataset.cell.split(",").map(Number) : null;
    };
    grid.addEventListener("pointerdown", (event) => {
      const at = under(event);
      if (event.button || !at || this.guess.state.committed) return;
      event.preventDefault();
      grid.setPointerCapture(event.pointerId);
      this.shade = !this.guess.values[at[0]][at[1]];
      this.put(...at, this.shade);
      this.cells[at[0]][at[1]].focus({ preventScroll: true });
    });
    grid.addEventListener("pointermove", (event) => {
      if (this.shade === undefined) return;
      for (const one of [...(event.getCoalescedEvents?.() ?? []), event]) {
        const at = under(one);
        if (at) this.put(...at, this.shade);
      }
    });
    const end = () => {
      if (this.shade !== undefined) this.guess.sendSoon();
      this.shade = undefined;
    };
    grid.addEventListener("pointerup", end);
    grid.addEventListener("pointercancel", end);
  }

  put(i, j, shaded) {
    if (this.guess.values[i][j] === shaded) return;
    this.guess.values[i][j] = shaded;
    this.guess.edited();
    this.show();
  }

  // -- keys

  press(event, i, j) {
    if (event.altKey || event.metaKey || (event.ctrlKey && !/^(Home|End)$/.test(event.key))) return;
    const [rows, columns] = this.spec.shape;
    const move = (row, column) => {
      const held = (place, count) => Math.min(Math.max(place, 0), count - 1);
      this.cells[held(row, rows)][held(column, columns)].focus();
    };
    const keys = {
      ArrowLeft: () => move(i, j - 1),
      ArrowRight: () => move(i, j + 1),
      ArrowUp: () => move(i - 1, j),
      ArrowDown: () => move(i + 1, j),
      Home: () => move(event.ctrlKey ? 0 : i, 0),
      End: () => move(event.ctrlKey ? rows - 1 : i, columns - 1),
      " ": () => {
        if (this.guess.state.committed) return;
        this.put(i, j, !this.guess.values[i][j]);
        this.guess.sendSoon();
      },
      Enter: () => this.guess.commit(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  }

  stand(i, j) {
    const [row, column] = this.here;
    this.cells[row][column].tabIndex = -1;
    this.here = [i, j];
    this.cells[i][j].tabIndex = 0;
  }

  focus() {
    this.cells[this.here[0]][this.here[1]].focus({ preventScroll: true });
  }

  // -- showing

  show() {
    const { values, state, words } = this.guess;
    this.grid.setAttribute("aria-readonly", String(state.committed));
    this.grid.classList.toggle("andrea-guess-done", state.committed);
    this.legend.classList.toggle("andrea-unseen", !state.truth);
    this.cells.forEach((some, i) =>
      some.forEach((cell, j) => {
        const shaded = values[i][j];
        const verdict = state.truth ? VERDICTS[Number(shaded) + 2 * Number(state.truth[i][j])] : "";
        const look = verdict || (shaded ? "shaded" : "blank");
        if (cell.dataset.look === look) return;
        cell.dataset.look = look;
        cell.className = `andrea-guess-cell andrea-guess-${look}`;
        cell.tabIndex = i === this.here[0] && j === this.here[1] ? 0 : -1;
        cell.setAttribute("aria-selected", String(shaded));
        setText(cell, MARKS_OF[verdict] ?? "");
        const place = fill(words.guess_cell, {
          row: i,
          row_name: this.spec.row_names?.[i] ?? "",
          column: j,
          column_name: this.spec.column_names?.[j] ?? "",
        });
        cell.setAttribute("aria-label", `${place}: ${words[`guess_${look}`]}`);
      }),
    );
  }
}
