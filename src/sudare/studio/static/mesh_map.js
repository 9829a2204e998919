// A map on which a window of the mesh is chosen: a rectangle that is drawn, moved and stretched by pointer or keys.

import { bounds, CELLS, ROWS_PER_DEGREE, WEST_END } from "./mesh_levels.js";
import { paintMesh } from "./mesh_painting.js";
import { MeshView } from "./mesh_view.js";

const JAPAN = { south: 23.5, west: 122, north: 46, east: 149 };
const LEAST_STEP = 5; // pixels that an edge moves at least
const REST = 500; // milliseconds after the last key until the window counts as chosen

export class MeshMap {
  /** On `canvas`; `chosen({rows, columns})` is called when the steward has chosen a window, in cells of the size. */
  constructor(canvas, chosen) {
    Object.assign(this, { canvas, chosen, tool: "draw", size: "500m", window: null, drag: null });
    this.view = new MeshView(canvas);
    this.listen();
    new ResizeObserver(() => this.resized()).observe(canvas);
  }

  /** Show this window of a size: rows and columns are [first, beyond). */
  show(size, rows, columns) {
    const isNew = !this.window;
    this.size = size;
    this.window = rows && columns ? { rows: [...rows], columns: [...columns] } : null;
    if (isNew) this.fit();
    this.draw();
  }

  /** Zoom to the window and its surroundings, or to all of Japan. */
  fit(all = !this.window) {
    let box = JAPAN;
    if (!all) {
      const own = bounds(this.size, this.window.rows, this.window.columns);
      const [tall, wide] = [own.north - own.south, own.east - own.west];
      box = { south: own.south - tall, north: own.north + tall, west: own.west - wide, east: own.east + wide };
    }
    this.view.fit(box);
    this.draw();
  }

  zoom(factor, point) {
    this.view.zoom(factor, point);
    this.draw();
  }

  resized() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth) return;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!this.sized) this.fit();
    this.sized = true;
    this.draw();
  }

  draw() {
    if (this.waiting || !this.canvas.clientWidth) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      paintMesh(this.canvas.getContext("2d"), this.view, this.window && { size: this.size, ...this.window });
    });
  }

  // Cells of the chosen size that an edge steps over: so many that a step can be seen.
  step() {
    const own = CELLS[this.size];
    const seen = Object.values(CELLS).filter((cells) => cells <= own && this.view.pixels(cells) >= LEAST_STEP);
    return own / (seen.at(-1) ?? 1);
  }

  get limit() {
    return 100 * CELLS[this.size];
  }

  cellAt({ offsetX, offsetY }) {
    const { latitude, longitude } = this.view.place(offsetX, offsetY);
    const cells = CELLS[this.size];
    return { row: latitude * cells * ROWS_PER_DEGREE, column: (longitude - WEST_END) * cells };
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.pressed(event));
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerup", () => this.released());
    canvas.addEventListener("pointercancel", () => (this.drag = null));
    canvas.addEventListener("keydown", (event) => this.pressedKey(event));
    const turned = (event) => {
      // The page scrolls past the map unless the map was asked for.
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), { x: event.offsetX, y: event.offsetY });
    };
    canvas.addEventListener("wheel", turned, { passive: false });
  }

  pressed(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    const move = this.tool === "move" || event.shiftKey || event.button === 1;
    this.drag = { move, x: event.offsetX, y: event.offsetY, from: this.cellAt(event), drawn: false };
  }

  moved(event) {
    const { drag } = this;
    if (!drag) return;
    const [right, down] = [event.offsetX - drag.x, event.offsetY - drag.y];
    if (drag.move) {
      this.view.move(right, down);
      [drag.x, drag.y] = [event.offsetX, event.offsetY];
    } else if (drag.drawn || Math.hypot(right, down) > 3) {
      drag.drawn = true;
      this.window = this.between(drag.from, this.cellAt(event));
    }
    this.draw();
  }

  released() {
    const drawn = this.drag?.drawn;
    this.drag = null;
    if (drawn) this.chosen(this.window);
  }

  // The window between two places, its edges on lines that can be seen.
  between(one, other) {
    const step = this.step();
    const span = (a, b) => {
      const first = Math.max(0, Math.floor(Math.min(a, b) / step) * step);
      return [first, Math.min(this.limit, Math.max(first + step, Math.ceil(Math.max(a, b) / step) * step))];
    };
    return { rows: span(one.row, other.row), columns: span(one.column, other.column) };
  }

  pressedKey(event) {
    const arrows = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
    if (event.key === "+" || event.key === ";") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.fit();
    else if (event.key in arrows && this.window) this.nudge(...arrows[event.key], event.shiftKey);
    else return;
    event.preventDefault();
  }

  // Move the window by a step, or with Shift its northern and eastern edge.
  nudge(up, right, stretch) {
    const step = this.step();
    const shift = ([first, beyond], by) => {
      if (stretch) return [first, Math.min(this.limit, Math.max(first + 1, beyond + by * step))];
      const moved = Math.min(Math.max(by * step, -first), this.limit - beyond);
      return [first + moved, beyond + moved];
    };
    this.window = { rows: shift(this.window.rows, up), columns: shift(this.window.columns, right) };
    this.draw();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.chosen(this.window), REST);
  }
}
