// Maps of counts side by side that move together. Each grid becomes a picture once; every move only draws the pictures
// again, so that 500 x 500 cells and more follow the pointer. Row 0 is in the south.

import { painter } from "./colours.js";

const MOST_ZOOM = 64;
const CURSOR = "#ffffff";

export class HeatMaps {
  /** `aspect` is the width of a cell over its height on the ground; `pointed(row, column)` or `pointed(null)`. */
  constructor(rows, columns, aspect, pointed) {
    Object.assign(this, { rows, columns, aspect, pointed, maps: [], cursor: null });
    this.view = { zoom: 1, x: columns / 2, y: rows / 2 };
    this.pointers = new Map();
    this.observer = new ResizeObserver(() => this.resized());
  }

  /** Draw `values` (rows x columns, by rows) on `canvas`; `most` is the brightest count. */
  add(canvas, values, most) {
    const picture = document.createElement("canvas");
    picture.width = this.columns;
    picture.height = this.rows;
    picture.getContext("2d").putImageData(coloured(values, this.rows, this.columns, most), 0, 0);
    this.maps.push({ canvas, picture, context: canvas.getContext("2d") });
    this.listen(canvas);
    canvas.style.aspectRatio = `${this.columns * this.aspect} / ${this.rows}`;
    this.observer.observe(canvas);
  }

  /** All cells again. */
  fit() {
    this.view = { zoom: 1, x: this.columns / 2, y: this.rows / 2 };
    this.draw();
  }

  /** Zoom by a factor about a place in cells (the middle of the view if none is given). */
  zoom(factor, place = this.view) {
    const zoom = Math.min(Math.max(this.view.zoom * factor, 1), MOST_ZOOM);
    const kept = this.view.zoom / zoom;
    this.view = { zoom, x: place.x + (this.view.x - place.x) * kept, y: place.y + (this.view.y - place.y) * kept };
    this.draw();
  }

  /** Point at a cell, from the keyboard: the view follows. */
  point(row, column) {
    this.cursor = {
      row: Math.min(Math.max(row, 0), this.rows - 1),
      column: Math.min(Math.max(column, 0), this.columns - 1),
    };
    const [reachX, reachY] = [this.columns / this.view.zoom / 2 - 1, this.rows / this.view.zoom / 2 - 1];
    const top = this.rows - 1 - this.cursor.row;
    this.view.x = Math.min(Math.max(this.view.x, this.cursor.column - reachX), this.cursor.column + reachX);
    this.view.y = Math.min(Math.max(this.view.y, top - reachY), top + reachY);
    this.pointed(this.cursor.row, this.cursor.column);
    this.draw();
  }

  resized() {
    const ratio = window.devicePixelRatio || 1;
    for (const { canvas, context } of this.maps) {
      const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
      if (width && (canvas.width !== width || canvas.height !== height)) {
        [canvas.width, canvas.height] = [width, height];
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
      }
    }
    this.draw();
  }

  // Pixels per column and per row, and where the south-west picture corner lies.
  frame(canvas) {
    const across = (canvas.clientWidth / this.columns) * this.view.zoom;
    const up = (canvas.clientHeight / this.rows) * this.view.zoom;
    const [left, top] = [canvas.clientWidth / 2 - this.view.x * across, canvas.clientHeight / 2 - this.view.y * up];
    return { across, up, left, top };
  }

  placeAt(canvas, x, y) {
    const { across, up, left, top } = this.frame(canvas);
    return { x: (x - left) / across, y: (y - top) / up };
  }

  draw() {
    this.view.x = kept(this.view.x, this.columns, this.view.zoom);
    this.view.y = kept(this.view.y, this.rows, this.view.zoom);
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      for (const map of this.maps) this.paint(map);
    });
  }

  paint({ canvas, picture, context }) {
    const { across, up, left, top } = this.frame(canvas);
    context.imageSmoothingEnabled = across < 1;
    context.fillStyle = "#eef1f4";
    context.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    context.drawImage(picture, left, top, across * this.columns, up * this.rows);
    canvas.style.touchAction = this.view.zoom > 1 ? "none" : "pan-y";
    if (!this.cursor) return;
    const [x, y] = [left + this.cursor.column * across, top + (this.rows - 1 - this.cursor.row) * up];
    context.strokeStyle = CURSOR;
    context.lineWidth = 1.5;
    const room = Math.max(0, 4 - across / 2);
    context.strokeRect(x - room, y - room, across + 2 * room, up + 2 * room);
  }

  listen(canvas) {
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      this.pointers.set(event.pointerId, event);
    });
    canvas.addEventListener("pointermove", (event) => this.moved(canvas, event));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener("pointerleave", () => {
      if (document.activeElement === canvas) return;
      this.cursor = null;
      this.pointed(null);
      this.draw();
    });
    canvas.addEventListener("keydown", (event) => this.pressedKey(event));
    canvas.addEventListener("dblclick", (event) => this.zoom(2, this.placeAt(canvas, event.offsetX, event.offsetY)));
    canvas.addEventListener(
      "wheel",
      (event) => {
        // The page scrolls past a map unless the map was asked for.
        if (document.activeElement !== canvas && !event.ctrlKey) return;
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY / 400), this.placeAt(canvas, event.offsetX, event.offsetY));
      },
      { passive: false },
    );
  }

  moved(canvas, event) {
    const before = this.pointers.get(event.pointerId);
    const { across, up } = this.frame(canvas);
    if (before && this.pointers.size === 2) {
      const other = [...this.pointers.values()].find((one) => one.pointerId !== event.pointerId);
      const spread = (one) => Math.hypot(one.offsetX - other.offsetX, one.offsetY - other.offsetY);
      const middle = [(event.offsetX + other.offsetX) / 2, (event.offsetY + other.offsetY) / 2];
      this.zoom(spread(event) / Math.max(spread(before), 1), this.placeAt(canvas, ...middle));
    } else if (before) {
      this.view.x -= (event.offsetX - before.offsetX) / across;
      this.view.y -= (event.offsetY - before.offsetY) / up;
    }
    if (before) this.pointers.set(event.pointerId, event);
    const { x, y } = this.placeAt(canvas, event.offsetX, event.offsetY);
    const [row, column] = [this.rows - 1 - Math.floor(y), Math.floor(x)];
    const inside = row >= 0 && row < this.rows && column >= 0 && column < this.columns;
    this.cursor = inside ? { row, column } : null;
    this.pointed(inside ? row : null, column);
    this.draw();
  }

  pressedKey(event) {
    const arrows = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
    if (event.key === "+" || event.key === ";") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.fit();
    else if (event.key in arrows) {
      const by = event.shiftKey ? 10 : 1;
      const [up, right] = arrows[event.key];
      const from = this.cursor ?? { row: Math.floor(this.rows - 1 - this.view.y), column: Math.floor(this.view.x) };
      this.point(from.row + by * up, from.column + by * right);
    } else return;
    event.preventDefault();
  }
}

// The middle of the view, so that it never leaves the map.
function kept(middle, length, zoom) {
  const half = length / zoom / 2;
  return Math.min(Math.max(middle, half), length - half);
}

function coloured(values, rows, columns, most) {
  const colourOf = painter(most);
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < rows; row += 1) {
    const line = (rows - 1 - row) * columns;
    const first = row * columns;
    for (let column = 0; column < columns; column += 1) pixels[line + column] = colourOf(values[first + column]);
  }
  return image;
}
