// The one map of reports, notebooks and the studio: places of any kind as rows and columns or as polygons, with outlines
// and names, several panels that move together, a tooltip, a search, a legend, keys; or a window that is drawn.
// Everything is drawn on canvases from packed arrays. `render/map_data.py` writes what is read here.

const SHADES = 255;
const LIGHT = {
  ramp: "cdebc0 a5dbb5 7fcdbb 41b6c4 1d91c0 225ea8 253494 081d58", negative: "d9480f", sea: "#e6edf3", land: "#fbfbf8",
  line: "#7c8796", ink: "#26303d", halo: "#ffffffcc", cursor: "#c2185b", grid: "#26303d22", none: "#dde3e8",
};
const DARK = {
  ramp: "46327e 365c8d 277f8e 1fa187 4ac16d a0da39 fde725", negative: "ff7f6e", sea: "#10161d", land: "#1d252e",
  line: "#8b98a8", ink: "#e4e9ef", halo: "#10161dcc", cursor: "#ff80ab", grid: "#e4e9ef1f", none: "#2a333d",
};
const MOST_ZOOM = 4000;
const SLICE = 12; // milliseconds of drawing between two frames
const COARSE = 24; // pixels by which a coast may be wrong before sea is no longer filled
const WIDEST = 90; // degrees up to which there are finer coasts than those of the whole world
const METRES = 111320; // of a degree
const SMALL = 3; // pixels below which a polygon is drawn as a square

/** Numbers written by `packed` of map_data.py: whole ones with seven bits a byte, or 32-bit floats. */
export function unpacked({ form, data }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  if (form === "float") return new Float32Array(bytes.buffer);
  const found = new Float64Array(bytes.reduce((count, byte) => count + (byte < 128), 0));
  let [place, value, factor] = [0, 0, 1];
  for (const byte of bytes) {
    value += (byte & 127) * factor;
    factor *= 128;
    if (byte < 128) {
      found[place] = value % 2 ? -(value + 1) / 2 : value / 2;
      [place, value, factor] = [place + 1, 0, 1];
    }
  }
  if (form === "steps") for (let next = 1; next < found.length; next += 1) found[next] += found[next - 1];
  return found;
}

const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const rgb = (hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
const mercator = (latitude) => (Math.asinh(Math.tan((clamp(latitude, -85.05, 85.05) * Math.PI) / 180)) * 180) / Math.PI;
const latitudeOf = (y) => (Math.atan(Math.sinh((y * Math.PI) / 180)) * 180) / Math.PI;

function written(value) {
  if (!Number.isFinite(value)) return "–";
  const digits = Number.isInteger(value) ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString("en", { maximumFractionDigits: Math.min(digits, 6) }).replace("-", "−");
}

/** The places of a frame: how many, where each lies in the world (x to the right, y down), what it is called. */
class Lattice {
  constructor(frame) {
    Object.assign(this, frame);
    this.size = this.rows * this.columns;
    this.wide = this.cell_width * this.narrowing;
    this.box = [this.west * this.narrowing, -(this.south + this.rows * this.cell_height), 0, -this.south];
    this.box[2] = this.box[0] + this.columns * this.wide;
    this.allowed = frame.allowed ? runs(unpacked(frame.allowed), this.size) : null;
  }

  boxOf(place) {
    const [row, column] = [Math.floor(place / this.columns), place % this.columns];
    const [left, low] = [this.box[0] + column * this.wide, this.box[3] - row * this.cell_height];
    return [left, low - this.cell_height, left + this.wide, low];
  }

  at(x, y) {
    const [row, column] = [Math.floor((this.box[3] - y) / this.cell_height), Math.floor((x - this.box[0]) / this.wide)];
    if (row < 0 || row >= this.rows || column < 0 || column >= this.columns) return -1;
    const place = row * this.columns + column;
    return this.allowed && !this.allowed[place] ? -1 : place;
  }

  code(place) {
    const [row, column] = [this.row_names[Math.floor(place / this.columns)], this.column_names[place % this.columns]];
    if (this.join === "digits") return sumOfDigits(row, column, this.row_names[0], 1);
    if (this.join === "named") return [row, column].filter(Boolean).join(" × ");
    return this.join === "text" ? row + column : `${row}, ${column}`;
  }

  find(text) {
    this.columnsByName ??= new Map(this.column_names.map((name, place) => [name, place]));
    for (const [row, name] of this.row_names.entries()) {
      let rest = null;
      if (this.join === "digits" && name.length === text.length) rest = sumOfDigits(text, this.row_names[0], name, 1);
      else if (this.join === "text" && text.startsWith(name.toLowerCase())) rest = text.slice(name.length).toUpperCase();
      else if (this.join === "pair" && text.split(/\s*,\s*/)[0] === name.toLowerCase()) rest = text.split(/\s*,\s*/)[1];
      else if (this.join === "named" && name === "") rest = this.column_names.find((column) => column.toLowerCase() === text);
      const column = this.columnsByName.get(rest);
      if (column !== undefined) return row * this.columns + column;
    }
    return -1;
  }
}

// Digit by digit a + b - c; codes of meshes and tiles are such sums.
function sumOfDigits(a, b, c) {
  let sum = "";
  for (let at = 0; at < a.length; at += 1) sum += String(Number(a[at]) + Number(b[at]) - Number(c[at]));
  return sum;
}

function runs(lengths, size) {
  const found = new Uint8Array(size);
  let at = 0;
  lengths.forEach((length, run) => {
    if (run % 2) found.fill(1, at, at + length);
    at += length;
  });
  return found;
}

class Polygons {
  constructor(frame) {
    Object.assign(this, frame);
    const [across, up] = [unpacked(frame.x), unpacked(frame.y)];
    this.size = across.length;
    this.x = across.map((value) => value * frame.unit + frame.origin[0]);
    this.y = up.map((value) => -(value * frame.unit + frame.origin[1]));
    this.shapeOf = unpacked(frame.shape);
    this.readShapes(unpacked(frame.rings), unpacked(frame.points), frame.unit);
    this.named = frame.codes ? frame.codes.split("\n") : null;
    this.indices = frame.h3 ? unpacked(frame.h3.positions) : null;
  }

  // Points of shapes around their centre; `first[s]` to `first[s + 1]` are the rings of shape s, as [start, end] points.
  readShapes(rings, steps, unit) {
    this.points = new Float32Array(steps.length);
    this.first = [0];
    this.ends = [0];
    this.reach = [];
    let at = 0;
    for (let place = 0; place < rings.length; ) {
      const count = rings[place++];
      const box = [Infinity, Infinity, -Infinity, -Infinity];
      let [x, y] = [0, 0];
      for (let ring = 0; ring < count; ring += 1) {
        for (let point = rings[place++]; point > 0; point -= 1) {
          x += steps[at];
          y += steps[at + 1];
          const [right, down] = [x * unit, -y * unit];
          this.points[at] = right;
          this.points[at + 1] = down;
          box[0] = Math.min(box[0], right);
          box[1] = Math.min(box[1], down);
          box[2] = Math.max(box[2], right);
          box[3] = Math.max(box[3], down);
          at += 2;
        }
        this.ends.push(at);
      }
      this.first.push(this.ends.length - 1);
      this.reach.push(box);
    }
    this.box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let place = 0; place < this.size; place += 1) {
      const own = this.boxOf(place);
      this.box = [Math.min(this.box[0], own[0]), Math.min(this.box[1], own[1]), Math.max(this.box[2], own[2]), Math.max(this.box[3], own[3])];
    }
  }

  boxOf(place) {
    const [left, top, right, bottom] = this.reach[this.shapeOf[place]];
    return [this.x[place] + left, this.y[place] + top, this.x[place] + right, this.y[place] + bottom];
  }

  trace(path, place) {
    const shape = this.shapeOf[place];
    const [x, y] = [this.x[place], this.y[place]];
    for (let ring = this.first[shape]; ring < this.first[shape + 1]; ring += 1) {
      const end = this.ends[ring + 1];
      let at = this.ends[ring];
      path.moveTo(x + this.points[at], y + this.points[at + 1]);
      for (at += 2; at < end; at += 2) path.lineTo(x + this.points[at], y + this.points[at + 1]);
      path.closePath();
    }
  }

  at(x, y) {
    this.buckets ??= new Buckets(this);
    return this.buckets.near(x, y).find((place) => this.holds(place, x, y)) ?? -1;
  }

  holds(place, x, y) {
    const shape = this.shapeOf[place];
    const [across, down] = [x - this.x[place], y - this.y[place]];
    let inside = false;
    for (let ring = this.first[shape]; ring < this.first[shape + 1]; ring += 1) {
      const [start, end] = [this.ends[ring], this.ends[ring + 1]];
      for (let at = start, before = end - 2; at < end; before = at, at += 2) {
        const [x1, y1, x0, y0] = [this.points[at], this.points[at + 1], this.points[before], this.points[before + 1]];
        if (y1 > down !== y0 > down && across < ((x0 - x1) * (down - y1)) / (y0 - y1) + x1) inside = !inside;
      }
    }
    return inside;
  }

  code(place) {
    if (this.named) return this.named[place];
    const spare = BigInt(45 - 3 * this.h3.resolution);
    const head = (1n << 59n) | (BigInt(this.h3.resolution) << 52n) | ((1n << spare) - 1n);
    return ((BigInt(this.indices[place]) << spare) | head).toString(16);
  }

  find(text) {
    for (let place = 0; place < this.size; place += 1) if (this.code(place).toLowerCase() === text) return place;
    return -1;
  }
}

// Polygons by squares that their boxes touch.
class Buckets {
  constructor(places) {
    const [left, top, right, bottom] = places.box;
    this.across = clamp(Math.round(Math.sqrt(places.size)), 1, 512);
    this.corner = [left, top];
    this.step = Math.max((right - left) / this.across, (bottom - top) / this.across, 1e-12) * 1.0001;
    this.lists = new Map();
    for (let place = 0; place < places.size; place += 1) {
      const [west, north, east, south] = places.boxOf(place).map((edge, side) => Math.floor((edge - this.corner[side % 2]) / this.step));
      for (let y = north; y <= south; y += 1) {
        for (let x = west; x <= east; x += 1) {
          const key = y * 1024 + x;
          if (this.lists.has(key)) this.lists.get(key).push(place);
          else this.lists.set(key, [place]);
        }
      }
    }
  }

  near(x, y) {
    const [column, row] = [Math.floor((x - this.corner[0]) / this.step), Math.floor((y - this.corner[1]) / this.step)];
    return this.lists.get(row * 1024 + column) ?? [];
  }
}

/** Values of one panel by place; what is not listed is 0. */
class Values {
  constructor(panel, size) {
    this.dense = new Float32Array(size);
    this.cells = unpacked(panel.cells);
    this.values = unpacked(panel.values);
    this.cells.forEach((cell, at) => (this.dense[cell] = this.values[at]));
    this.low = panel.low && unpacked(panel.low);
    this.high = panel.high && unpacked(panel.high);
    this.elsewhere = panel.elsewhere;
  }

  interval(place) {
    if (!this.low) return null;
    let [first, last] = [0, this.cells.length - 1];
    while (first < last) {
      const middle = (first + last) >> 1;
      if (this.cells[middle] < place) first = middle + 1;
      else last = middle;
    }
    return this.cells[first] === place ? [this.low[first], this.high[first]] : (this.elsewhere ?? null);
  }
}

export class PlaceMap {
  /** In `place`: `content` is what map_data.py wrote, `words` messages by key, `chosen(box)` takes a drawn window. */
  constructor(place, content, words = content.words, chosen = null) {
    Object.assign(this, { place, content, words, chosen, panels: [], pointers: new Map(), cursor: -1, tool: chosen ? "draw" : "move" });
    this.places = content.frame.rows ? new Lattice(content.frame) : content.frame.unit ? new Polygons(content.frame) : null;
    this.narrowing = content.frame.narrowing ?? 1;
    this.outline = content.outline ? outlineOf(content.outline, this.narrowing) : null;
    this.theme = dark() ? DARK : LIGHT;
    this.observer = new ResizeObserver(() => this.resized());
    this.build();
    if (content.flows) this.flowing(content.flows);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.themed());
  }

  say(key, gaps = {}) {
    const text = this.words[`map.${key}`] ?? key;
    return text.replace(/\{(\w+)\}/g, (_, name) => (typeof gaps[name] === "number" ? written(gaps[name]) : gaps[name]));
  }

  build() {
    const shown = this.content.panels ?? [];
    this.root = make("div", { class: "sudare-map" });
    const button = (name, text, pressed) => {
      const made = make("button", { type: "button", "aria-label": this.say(name), title: this.say(name) }, text);
      made.addEventListener("click", pressed);
      return made;
    };
    const bar = make("div", { class: "map-bar", role: "group", "aria-label": this.say("tools") });
    const matrix = this.content.frame.plane === "matrix";
    if (!matrix && (this.places || this.outline?.names.length)) bar.append(this.searching());
    bar.append(button("in", "+", () => this.zoom(1.6)), button("out", "−", () => this.zoom(1 / 1.6)), button("all", "⤢", () => this.fit()));
    const views = make("div", { class: "map-views" });
    for (const panel of shown.length ? shown : [{}]) views.append(this.view(panel));
    this.readout = make("p", { class: "map-readout", role: "status", "aria-live": "polite" });
    this.legend = make("div", { class: "map-legend", role: "img" });
    this.source = make("p", { class: "map-source" });
    this.root.append(bar, views, this.readout, ...(shown.length ? [this.legend] : []), this.source);
    this.sourced();
    this.place.replaceChildren(this.root);
    if (this.places && shown.length) this.readout.textContent = this.nothing();
    this.scaled();
  }

  // Where coasts come from, and their licence.
  sourced() {
    this.source.textContent = this.say("coasts");
    this.source.hidden = !this.outline?.coasts;
  }

  nothing() {
    return this.content.frame.plane === "matrix" ? this.say("none_cell") : this.say("none");
  }

  searching() {
    const field = make("input", { type: "search", placeholder: this.say("search"), "aria-label": this.say("search"), autocomplete: "off", spellcheck: "false" });
    const list = make("datalist", { id: `map-names-${(PlaceMap.count = (PlaceMap.count ?? 0) + 1)}` });
    for (const { name } of this.outline?.names ?? []) list.append(make("option", { value: name }));
    field.setAttribute("list", list.id);
    const form = make("form", { class: "map-search", role: "search" }, field, list);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.search(field.value);
    });
    return form;
  }

  // Flows between places: all that leave and all that arrive, or those of the place that was picked.
  flowing({ from, to, values }) {
    const [origins, destinations, people] = [unpacked(from), unpacked(to), unpacked(values)];
    const totals = this.panels.map(({ title, data }) => ({ title, data }));
    let picked = -1;
    this.picked = (place) => {
      picked = place === picked ? -1 : place;
      this.panels.forEach((panel, side) => {
        if (picked < 0) Object.assign(panel, totals[side]);
        else {
          const [fixed, free] = side ? [destinations, origins] : [origins, destinations];
          const found = new Map();
          fixed.forEach((own, at) => own === picked && found.set(free[at], (found.get(free[at]) ?? 0) + people[at]));
          const cells = Float64Array.from([...found.keys()].sort((a, b) => a - b));
          const own = Object.assign(Object.create(Values.prototype), { cells, values: cells.map((cell) => found.get(cell)), dense: new Float32Array(this.places.size) });
          cells.forEach((cell, at) => (own.dense[cell] = own.values[at]));
          panel.data = own;
          panel.title = this.say(side ? "to_here" : "from_here", { place: this.places.code(picked) });
        }
        const caption = panel.canvas.closest("figure").querySelector("figcaption");
        caption.firstChild.data = panel.title;
        caption.lastChild.textContent = picked < 0 ? panel.subtitle : written(panel.data.values.reduce((sum, value) => sum + value, 0));
        panel.canvas.setAttribute("aria-label", this.say("label", { title: panel.title }));
      });
      this.scaled();
      this.point(place);
    };
    this.root.insertBefore(make("p", { class: "map-hint" }, this.say("pick")), this.root.children[1]);
  }

  /** Go to a place by its code, to an outline by its name, which becomes the window where one is drawn, or to all
   * places whose codes begin alike. */
  search(asked) {
    const text = asked.trim().toLowerCase();
    if (!text) return;
    const place = this.places ? this.places.find(text) : -1;
    const named = this.outline?.names.find(({ name }) => name.toLowerCase() === text) ?? this.outline?.names.find(({ name }) => name.toLowerCase().includes(text));
    const found = named ?? (place < 0 ? this.beginning(text) : null);
    if (place < 0 && !found) {
      this.readout.textContent = this.say("unknown", { text: asked.trim() });
      return;
    }
    const box = place < 0 ? found.box : this.places.boxOf(place);
    const room = place < 0 ? 0.1 : 6;
    const [wide, tall] = [box[2] - box[0], box[3] - box[1]];
    this.fit([box[0] - wide * room, box[1] - tall * room, box[2] + wide * room, box[3] + tall * room]);
    if (place >= 0) this.point(place, this.panels[0]);
    else if (this.chosen) {
      this.window = this.degreesOf([box[0], box[1]], [box[2], box[3]]);
      this.draw();
      this.chosen(this.window);
    }
  }

  /** The box around the places whose codes begin so, such as the meshes within a coarser one. */
  beginning(text) {
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let place = 0; place < (this.places?.size ?? 0); place += 1) {
      if (this.places.allowed && !this.places.allowed[place]) continue;
      if (!this.places.code(place).toLowerCase().startsWith(text)) continue;
      this.places.boxOf(place).forEach((edge, side) => (box[side] = side < 2 ? Math.min(box[side], edge) : Math.max(box[side], edge)));
    }
    return box[0] < box[2] ? { box } : null;
  }

  view(panel) {
    const label = this.chosen ? this.say("draw_label") : this.say("label", { title: panel.title ?? "" });
    const canvas = make("canvas", { tabindex: "0", role: "application", "aria-label": label });
    const tip = make("div", { class: "map-tip", "aria-hidden": "true" });
    tip.hidden = true;
    const holder = make("div", { class: "map-canvas" }, canvas, tip);
    const own = { ...panel, canvas, tip, context: canvas.getContext("2d"), buffer: null };
    if (this.places && panel.cells) own.data = new Values(panel, this.places.size);
    this.panels.push(own);
    this.listen(own);
    this.observer.observe(canvas);
    const box = this.home();
    canvas.style.aspectRatio = String(this.chosen ? 1.5 : clamp((box[2] - box[0]) / (box[3] - box[1]), 0.75, 2.4));
    const caption = make("figcaption", {}, panel.title ?? "", " ", make("span", {}, panel.subtitle ?? ""));
    return make("figure", {}, ...(panel.title ? [caption] : []), holder);
  }

  home() {
    if (this.places) return this.places.box;
    return this.window ? this.boxOfWindow() : (this.content.home ? this.worldBox(this.content.home) : [-170, -mercator(72), 190, -mercator(-56)]);
  }

  // Colours: log(1 + value), up to the largest value; the largest of all panels, so that colours mean the same.
  scaled() {
    const values = this.panels.filter((panel) => panel.data);
    if (!values.length) return;
    this.most = Math.max(1, ...values.map(({ data }) => data.values.reduce((most, value) => Math.max(most, value), 0)));
    // Where no value is small, the scale begins at the power of ten below the smallest.
    const smallest = Math.min(...values.map(({ data }) => data.values.reduce((least, value) => (value > 0 ? Math.min(least, value) : least), Infinity)));
    this.start = smallest >= 10 && smallest < this.most ? 10 ** Math.floor(Math.log10(smallest)) : 0;
    this.negative = values.some(({ data }) => data.values.some((value) => value < 0));
    const anchors = this.theme.ramp.split(" ").map(rgb);
    this.shades = Array.from({ length: SHADES + 1 }, (_, shade) => {
      const at = (shade / SHADES) * (anchors.length - 1);
      const low = Math.min(Math.floor(at), anchors.length - 2);
      return anchors[low].map((value, part) => Math.round(value + (at - low) * (anchors[low + 1][part] - value)));
    });
    const pixel = (colour) => new Uint32Array(new Uint8ClampedArray([...colour, 255]).buffer)[0];
    this.pixels = Uint32Array.from([...this.shades.map(pixel), pixel(rgb(this.theme.negative))]);
    for (const panel of values) {
      panel.picture = this.content.frame.rows ? this.pictureOf(panel) : null;
      panel.buffer = null;
    }
    this.showLegend();
  }

  // Which colour a value has: a shade, the one beyond for what is negative, -1 for 0.
  shade(value) {
    if (value > 0) return clamp(Math.round(this.share(value) * SHADES), 0, SHADES);
    return value < 0 ? SHADES + 1 : -1;
  }

  share(value) {
    const start = Math.log1p(this.start);
    return (Math.log1p(value) - start) / (Math.log1p(this.most) - start);
  }

  pictureOf({ data }) {
    const { rows, columns } = this.places;
    const picture = make("canvas");
    [picture.width, picture.height] = [columns, rows];
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    data.cells.forEach((cell, at) => {
      const shade = this.shade(data.values[at]);
      if (shade >= 0) pixels[(rows - 1 - Math.floor(cell / columns)) * columns + (cell % columns)] = this.pixels[shade];
    });
    picture.getContext("2d").putImageData(image, 0, 0);
    return picture;
  }

  showLegend() {
    const bar = make("div", { class: "map-ramp" });
    bar.style.background = `linear-gradient(to right, ${this.shades.filter((_, shade) => shade % 15 === 0).map((colour) => `rgb(${colour.join(" ")})`).join(", ")})`;
    const line = make("div", { class: "map-ticks" });
    const share = (tick) => 100 * this.share(tick);
    let ticks = [];
    for (let tick = this.start || 1; tick < this.most; tick *= 10) ticks.push(tick);
    // Room for a number at the right end, and for one each eighth of the bar.
    ticks = [...ticks.filter((tick) => share(tick) < 88), Math.round(this.most)];
    while (ticks.length > 5) ticks = ticks.filter((_, at) => at % 2 === 0 || at === ticks.length - 1);
    ticks.forEach((tick, at) => {
      const mark = make("span", {}, written(tick));
      mark.style.left = `${share(tick)}%`;
      if (at === ticks.length - 1) mark.className = "last";
      else if (share(tick) < 4) mark.className = "first";
      line.append(mark);
    });
    const signs = [make("span", { class: "map-sign" }, make("i", { class: "zero" }), this.say("zero"))];
    if (this.negative) {
      const swatch = make("i");
      swatch.style.background = `#${this.theme.negative}`;
      signs.push(make("span", { class: "map-sign" }, swatch, this.say("negative")));
    }
    this.legend.replaceChildren(make("p", {}, this.content.what ?? ""), make("div", { class: "map-scale" }, bar, line), make("p", { class: "map-signs" }, ...signs));
    this.legend.setAttribute("aria-label", this.say("legend", { what: this.content.what ?? "", most: Math.round(this.most) }));
  }

  themed() {
    this.theme = dark() ? DARK : LIGHT;
    this.scaled();
    this.draw();
  }

  resized() {
    const ratio = window.devicePixelRatio || 1;
    for (const { canvas, context } of this.panels) {
      const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
      if (width && (canvas.width !== width || canvas.height !== height)) {
        [canvas.width, canvas.height] = [width, height];
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
      }
    }
    if (!this.where && this.panels[0].canvas.clientWidth) this.fit();
    this.draw();
  }

  /** Show a box of the world (left, top, right, bottom), or everything. */
  fit(box = this.home()) {
    const { clientWidth, clientHeight } = this.panels[0].canvas;
    if (!clientWidth) return;
    const [left, below] = this.content.frame.plane === "matrix" ? [Math.min(130, clientWidth / 4), 24] : [0, 0];
    const scale = Math.min((clientWidth - left) / (box[2] - box[0]), (clientHeight - below) / (box[3] - box[1])) * 0.97;
    if (!this.least) this.least = scale / 8;
    this.where = { scale, x: (box[0] + box[2]) / 2 - left / scale / 2, y: (box[1] + box[3]) / 2 + below / scale / 2 };
    this.draw();
  }

  zoom(factor, at = null) {
    const { canvas } = this.panels[0];
    const [x, y] = at ?? [canvas.clientWidth / 2, canvas.clientHeight / 2];
    const before = this.worldAt(canvas, x, y);
    this.where.scale = clamp(this.where.scale * factor, this.least, this.least * 8 * MOST_ZOOM * (this.places ? 1 : 10));
    const after = this.worldAt(canvas, x, y);
    this.where.x += before[0] - after[0];
    this.where.y += before[1] - after[1];
    this.draw();
  }

  worldAt(canvas, x, y) {
    const { scale } = this.where;
    return [this.where.x + (x - canvas.clientWidth / 2) / scale, this.where.y + (y - canvas.clientHeight / 2) / scale];
  }

  draw() {
    if (this.waiting || !this.where) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      for (const panel of this.panels) if (panel.canvas.clientWidth) this.paint(panel);
      if (this.finer) this.refine();
    });
  }

  paint(panel) {
    const { canvas, context, picture } = panel;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const { scale } = this.where;
    const [left, top] = [width / 2 - this.where.x * scale, height / 2 - this.where.y * scale];
    const inWorld = (drawn) => {
      context.save();
      context.translate(left, top);
      context.scale(scale, scale);
      drawn();
      context.restore();
    };
    const sea = this.outline && !this.coarse(Math.max(...this.outline.layers.map(({ accuracy }) => accuracy)));
    context.fillStyle = sea ? this.theme.sea : this.theme.land;
    context.fillRect(0, 0, width, height);
    if (sea) {
      context.fillStyle = this.theme.land;
      inWorld(() => this.outline.layers.forEach(({ land }) => context.fill(land, "evenodd")));
    }
    if (this.content.background) this.paintBackground(context, inWorld);
    const labels = this.paintGraticule(context, width, height, left, top);
    if (picture) {
      const box = this.places.box;
      context.imageSmoothingEnabled = this.places.wide * scale < 1;
      context.drawImage(picture, left + box[0] * scale, top + box[1] * scale, (box[2] - box[0]) * scale, (box[3] - box[1]) * scale);
    } else if (panel.data) this.paintPolygons(panel, width, height);
    if (this.outline) {
      context.strokeStyle = this.theme.line;
      context.lineWidth = 0.9;
      inWorld(() => {
        context.lineWidth = 0.9 / scale;
        for (const { lines } of this.outline.layers) context.stroke(lines);
      });
      this.paintNames(context, width, height, left, top);
    }
    this.paintLabels(context, labels);
    if (this.content.frame.plane === "matrix") this.paintMatrix(panel, left, top);
    if (this.places) this.frameOf(context, this.places.box, left, top, this.theme.line, 1);
    if (this.window) this.paintWindow(context, left, top);
    if (this.cursor >= 0) {
      if (this.places instanceof Polygons) {
        context.strokeStyle = this.theme.cursor;
        inWorld(() => {
          context.lineWidth = 2 / scale;
          context.beginPath();
          this.places.trace(context, this.cursor);
          context.stroke();
        });
      } else this.frameOf(context, this.places.boxOf(this.cursor), left, top, this.theme.cursor, 2, 3);
    }
    canvas.style.touchAction = this.chosen || scale > this.least * 9 ? "none" : "pan-y";
  }

  // Finer coasts for the part of the earth that is shown, where somebody gives them: `finer` takes its edges in degrees.
  refine() {
    const { clientWidth, clientHeight } = this.panels[0].canvas;
    const [west, south, east, north] = this.degreesOf(this.worldAt(this.panels[0].canvas, 0, clientHeight), this.worldAt(this.panels[0].canvas, clientWidth, 0));
    const [wide, [left, low, right, high, had]] = [east - west, this.refined ?? [0, 0, 0, 0, 0]];
    const held = west >= left && south >= low && east <= right && north >= low && north <= high && wide > had / 4;
    clearTimeout(this.refining);
    if (!this.finer || held || wide > WIDEST) return;
    this.refining = setTimeout(async () => {
      const found = await this.finer({ west, south, east, north });
      const room = Math.max(wide, north - south);
      this.refined = [west - room, south - room, east + room, north + room, wide];
      this.outline = found ? outlineOf(found, this.narrowing) : this.outline;
      this.sourced();
      this.draw();
    }, 250);
  }

  // Whether lines that may be wrong by so many degrees would mislead: they are seen to be coarser than places are.
  coarse(accuracy) {
    const wrong = accuracy * this.where.scale * (this.content.frame.plane === "europe" ? METRES : 1);
    const [left, , right] = this.places ? this.places.boxOf(0) : [0, 0, 0];
    return wrong > Math.max(COARSE, (right - left) * this.where.scale * 2);
  }

  frameOf(context, box, left, top, colour, width, least = 0) {
    const { scale } = this.where;
    const room = Math.max(0, least - ((box[2] - box[0]) * scale) / 2);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(left + box[0] * scale - room, top + box[1] * scale - room, (box[2] - box[0]) * scale + 2 * room, (box[3] - box[1]) * scale + 2 * room);
  }

  // Polygons are drawn into a picture of their own, in slices; while it is not whole, the last one is moved instead.
  paintPolygons(panel, width, height) {
    const { scale, x, y } = this.where;
    const last = panel.buffer;
    if (last) {
      const grown = scale / last.scale;
      const [wide, tall] = [last.width * grown, last.height * grown];
      panel.context.drawImage(last.picture, width / 2 + (last.x - x) * scale - wide / 2, height / 2 + (last.y - y) * scale - tall / 2, wide, tall);
    }
    if (last && last.scale === scale && last.x === x && last.y === y && last.width === width && last.height === height) return;
    clearTimeout(panel.next);
    const begin = () => this.fill(panel, { scale, x, y, width, height });
    if (last && this.places.size > 4000) panel.next = setTimeout(begin, 40);
    else begin();
  }

  fill(panel, view) {
    const ratio = window.devicePixelRatio || 1;
    const picture = make("canvas");
    [picture.width, picture.height] = [Math.round(view.width * ratio), Math.round(view.height * ratio)];
    const context = picture.getContext("2d");
    const { places } = this;
    const [left, top] = [view.width / 2 - view.x * view.scale, view.height / 2 - view.y * view.scale];
    const byShade = Array.from({ length: SHADES + 3 }, () => []);
    const small = [];
    for (let place = 0; place < places.size; place += 1) {
      const reach = places.reach[places.shapeOf[place]];
      const [px, py] = [left + places.x[place] * view.scale, top + places.y[place] * view.scale];
      if (px + reach[2] * view.scale < 0 || px + reach[0] * view.scale > view.width || py + reach[3] * view.scale < 0 || py + reach[1] * view.scale > view.height) continue;
      const shade = this.shade(panel.data.dense[place]);
      if ((reach[2] - reach[0]) * view.scale < SMALL) {
        if (shade >= 0) small.push(place);
      } else byShade[shade + 1].push(place);
    }
    if (small.length) this.dots(panel, small, view, picture, context, ratio, left, top);
    context.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * left, ratio * top);
    const work = byShade.flatMap((list, shade) => chunks(list, 2000).map((part) => [shade - 1, part]));
    const token = (panel.filling = {});
    const step = () => {
      if (panel.filling !== token) return;
      const until = performance.now() + SLICE;
      while (work.length && performance.now() < until) {
        const [shade, list] = work.pop();
        context.beginPath();
        for (const place of list) places.trace(context, place);
        if (shade >= 0) {
          const colour = shade > SHADES ? `#${this.theme.negative}` : `rgb(${this.shades[shade].join(" ")})`;
          context.fillStyle = context.strokeStyle = colour;
          context.fill("evenodd");
        }
        context.strokeStyle = places.size < 4000 ? this.theme.grid : context.strokeStyle;
        context.lineWidth = 0.7 / view.scale;
        if (shade >= 0 || places.size < 4000) context.stroke();
      }
      if (work.length) requestAnimationFrame(step);
      else {
        panel.buffer = { ...view, picture };
        this.draw();
      }
    };
    step();
  }

  // Polygons of a pixel or two as squares of pixels.
  dots(panel, list, view, picture, context, ratio, left, top) {
    const image = context.createImageData(picture.width, picture.height);
    const pixels = new Uint32Array(image.data.buffer);
    const { places } = this;
    for (const place of list) {
      const colour = this.pixels[this.shade(panel.data.dense[place])];
      const reach = places.reach[places.shapeOf[place]];
      const half = Math.max(0.5, ((reach[2] - reach[0]) * view.scale * ratio) / 2);
      const [x, y] = [(left + places.x[place] * view.scale) * ratio, (top + places.y[place] * view.scale) * ratio];
      for (let row = Math.max(0, Math.round(y - half)); row < Math.min(picture.height, Math.round(y + half)); row += 1) {
        pixels.fill(colour, row * picture.width + Math.max(0, Math.round(x - half)), row * picture.width + clamp(Math.round(x + half), 0, picture.width));
      }
    }
    context.putImageData(image, 0, 0);
  }

  paintBackground(context, inWorld) {
    context.fillStyle = this.theme.none;
    inWorld(() => {
      for (const [west, south, east, north] of this.content.background) {
        const box = this.worldBox([west, south, east, north]);
        context.fillRect(box[0], box[1], box[2] - box[0], box[3] - box[1]);
      }
    });
  }

  paintGraticule(context, width, height, left, top) {
    if (!["degrees", "mercator"].includes(this.content.frame.plane)) return [];
    const { scale } = this.where;
    const steps = [90, 45, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];
    const step = steps.findLast((degrees) => degrees * scale * this.narrowing > 90) ?? 90;
    const up = this.content.frame.plane === "mercator" ? mercator : (latitude) => latitude;
    const back = this.content.frame.plane === "mercator" ? latitudeOf : (latitude) => latitude;
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    context.strokeStyle = this.theme.grid;
    context.lineWidth = 1;
    const labels = [];
    const label = (...one) => labels.push(one);
    context.beginPath();
    const [west, east] = [-left / scale / this.narrowing, (width - left) / scale / this.narrowing];
    for (let value = Math.ceil(west / step) * step; value <= east; value += step) {
      const x = left + value * this.narrowing * scale;
      context.moveTo(x, 0);
      context.lineTo(x, height);
      const turned = ((((value + 180) % 360) + 360) % 360) - 180;
      label(`${Math.abs(turned).toFixed(digits)}°${turned < -1e-9 ? "W" : turned > 1e-9 ? "E" : ""}`, x + 3, height - 4);
    }
    const [south, north] = [back(-(height - top) / scale), back(top / scale)];
    for (let value = Math.ceil(south / step) * step; value <= Math.min(north, 90); value += step) {
      const y = top - up(value) * scale;
      context.moveTo(0, y);
      context.lineTo(width, y);
      if (y > 16 && y < height - 20) label(`${Math.abs(value).toFixed(digits)}°${value < -1e-9 ? "S" : value > 1e-9 ? "N" : ""}`, 4, y - 3);
    }
    context.stroke();
    return labels;
  }

  // Names of rows and columns, and numbers where there is room.
  paintMatrix({ context, data }, left, top) {
    const { scale } = this.where;
    const { box, wide, rows, columns, row_names: rowNames, column_names: columnNames } = this.places;
    const short = (name) => (name.length > 18 ? `${name.slice(0, 17)}…` : name);
    context.font = "12px Helvetica, Arial, 'Noto Sans CJK JP', sans-serif";
    context.fillStyle = this.theme.ink;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const everyRow = Math.ceil(14 / scale);
    for (let row = 0; row < rows; row += everyRow) context.fillText(short(rowNames[row]), left + box[0] * scale - 6, top + (box[3] - row - 0.5) * scale);
    context.textAlign = "center";
    const widest = Math.max(...columnNames.map((name) => context.measureText(short(name)).width));
    const everyColumn = Math.ceil((widest + 6) / (wide * scale));
    for (let column = 0; column < columns; column += everyColumn) context.fillText(short(columnNames[column]), left + (box[0] + (column + 0.5) * wide) * scale, top + box[3] * scale + 12);
    if (data && wide * scale > 34 && scale > 15) {
      data.cells.forEach((cell, at) => {
        const [x0, y0, x1, y1] = this.places.boxOf(cell);
        const shade = this.shade(data.values[at]);
        const light = (this.shades[Math.min(Math.max(shade, 0), SHADES)][1] ?? 0) > 140;
        context.fillStyle = light ? "#111820" : "#ffffff";
        context.fillText(written(data.values[at]), left + ((x0 + x1) / 2) * scale, top + ((y0 + y1) / 2) * scale);
      });
    }
    context.textBaseline = "alphabetic";
    context.textAlign = "start";
  }

  paintLabels(context, labels) {
    context.font = "11px Helvetica, Arial, sans-serif";
    context.strokeStyle = this.theme.halo;
    context.fillStyle = this.theme.ink;
    context.lineWidth = 3;
    for (const [text, x, y] of labels) {
      context.strokeText(text, x, y);
      context.fillText(text, x, y);
    }
  }

  paintNames(context, width, height, left, top) {
    const { scale } = this.where;
    const taken = [];
    context.font = "600 12px Helvetica, Arial, 'Noto Sans CJK JP', sans-serif";
    context.textAlign = "center";
    context.lineWidth = 3;
    context.lineJoin = "round";
    for (const { name, box, at } of this.outline.names) {
      const [x, y] = [left + at[0] * scale, top + at[1] * scale];
      const size = context.measureText(name).width;
      if (x < 0 || x > width || y < 8 || y > height - 16 || (box[2] - box[0]) * scale < size * 0.9) continue;
      const own = [x - size / 2 - 4, y - 12, x + size / 2 + 4, y + 6];
      if (taken.some((other) => own[0] < other[2] && own[2] > other[0] && own[1] < other[3] && own[3] > other[1])) continue;
      taken.push(own);
      context.strokeStyle = this.theme.halo;
      context.strokeText(name, x, y);
      context.fillStyle = this.theme.ink;
      context.fillText(name, x, y);
    }
    context.textAlign = "start";
  }

  listen(panel) {
    const { canvas } = panel;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      this.pointers.set(event.pointerId, event);
      this.pressedAt = [event.offsetX, event.offsetY];
      this.drawn = this.chosen && this.tool === "draw" && !event.shiftKey && this.pointers.size === 1 ? { from: this.worldAt(canvas, event.offsetX, event.offsetY), moved: false } : null;
    });
    canvas.addEventListener("pointermove", (event) => this.moved(panel, event));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => {
        this.pointers.delete(event.pointerId);
        const still = this.pressedAt && Math.hypot(event.offsetX - this.pressedAt[0], event.offsetY - this.pressedAt[1]) < 4;
        if (end === "pointerup" && still && this.picked && this.cursor >= 0) this.picked(this.cursor);
        if (this.drawn?.moved && end === "pointerup") this.chosen(this.window);
        this.drawn = null;
      });
    }
    canvas.addEventListener("pointerleave", () => document.activeElement === canvas || this.point(-1));
    canvas.addEventListener("keydown", (event) => this.pressedKey(panel, event));
    canvas.addEventListener("dblclick", (event) => this.chosen || this.zoom(2, [event.offsetX, event.offsetY]));
    const turned = (event) => {
      // The page scrolls past a map unless the map was asked for.
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), [event.offsetX, event.offsetY]);
    };
    canvas.addEventListener("wheel", turned, { passive: false });
  }

  moved(panel, event) {
    const { canvas } = panel;
    const before = this.pointers.get(event.pointerId);
    const { scale } = this.where ?? {};
    if (!scale) return;
    const world = this.worldAt(canvas, event.offsetX, event.offsetY);
    if (before && this.pointers.size === 2) {
      const other = [...this.pointers.values()].find((one) => one.pointerId !== event.pointerId);
      const spread = (one) => Math.hypot(one.offsetX - other.offsetX, one.offsetY - other.offsetY);
      this.zoom(spread(event) / Math.max(spread(before), 1), [(event.offsetX + other.offsetX) / 2, (event.offsetY + other.offsetY) / 2]);
    } else if (before && this.drawn) {
      if (Math.hypot(world[0] - this.drawn.from[0], world[1] - this.drawn.from[1]) * scale > 3) {
        this.drawn.moved = true;
        this.window = this.degreesOf(this.drawn.from, world);
      }
    } else if (before) {
      this.where.x -= (event.offsetX - before.offsetX) / scale;
      this.where.y -= (event.offsetY - before.offsetY) / scale;
    }
    if (before) this.pointers.set(event.pointerId, event);
    if (this.places && !this.chosen) this.point(this.places.at(...world), panel);
    this.draw();
  }

  /** Point at a place: its code, values and intervals are shown beside it and below the maps. */
  point(place, panel = null) {
    this.cursor = place;
    for (const own of this.panels) own.tip.hidden = true;
    if (place < 0 || !this.places) {
      if (this.places && this.panels[0].data) this.readout.textContent = this.nothing();
      this.draw();
      return;
    }
    const lines = this.panels.filter((own) => own.data).map((own) => this.valueWords(own, place));
    const code = this.codeWords(place);
    this.readout.textContent = this.say("reading", { place: code, values: lines.join(" · ") });
    if (panel) {
      const { tip, canvas } = panel;
      tip.replaceChildren(make("b", {}, code), ...lines.map((line) => make("span", {}, line)));
      tip.hidden = false;
      const box = this.places.boxOf(place);
      const right = canvas.clientWidth / 2 + (box[2] - this.where.x) * this.where.scale + 8;
      const left = canvas.clientWidth / 2 + (box[0] - this.where.x) * this.where.scale - 8 - tip.offsetWidth;
      const top = canvas.clientHeight / 2 + (box[1] - this.where.y) * this.where.scale;
      tip.style.left = `${clamp(right + tip.offsetWidth < canvas.clientWidth || left < 0 ? right : left, 0, Math.max(0, canvas.clientWidth - tip.offsetWidth))}px`;
      tip.style.top = `${clamp(top, 0, Math.max(0, canvas.clientHeight - tip.offsetHeight))}px`;
    }
    this.draw();
  }

  codeWords(place) {
    const code = this.places.code(place);
    const { frame } = this.content;
    const names = frame.join === "pair" ? this.say("pair", { place: code }) : code;
    const block = frame.side > 1 ? this.say("block", { place: names, side: frame.side }) : names;
    if (frame.plane !== "degrees" && frame.plane !== "mercator") return block;
    const [left, top, right, bottom] = this.places.boxOf(place);
    const { latitude, longitude } = this.toDegrees((left + right) / 2, (top + bottom) / 2);
    const turned = longitude > 180 ? longitude - 360 : longitude;
    const [up, across] = [`${Math.abs(latitude).toFixed(4)}° ${latitude < 0 ? "S" : "N"}`, `${Math.abs(turned).toFixed(4)}° ${turned < 0 ? "W" : "E"}`];
    return `${block} · ${up} ${across}`;
  }

  valueWords(panel, place) {
    const value = panel.data.dense[place];
    const found = panel.data.interval(place);
    const text = found ? this.say("interval", { value, low: found[0], high: found[1] }) : written(value);
    return this.panels.length > 1 ? `${panel.title} ${text}` : text;
  }

  toDegrees(x, y) {
    const latitude = this.content.frame.plane === "mercator" ? latitudeOf(-y) : -y;
    return { latitude, longitude: x / this.narrowing };
  }

  pressedKey(panel, event) {
    const arrows = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] };
    if (event.key === "+" || event.key === ";") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape") this.point(-1);
    else if (event.key === "Enter" && this.picked && this.cursor >= 0) this.picked(this.cursor);
    else if (!(event.key in arrows)) return;
    else if (this.chosen && this.window) this.nudge(...arrows[event.key], event.shiftKey);
    else if (this.places) this.step(panel, ...arrows[event.key], event.shiftKey ? 10 : 1);
    event.preventDefault();
  }

  // From the place that is pointed at to the next one in a direction; the view follows.
  step(panel, right, down, by) {
    const from = this.cursor >= 0 ? this.places.boxOf(this.cursor) : null;
    let [x, y] = from ? [(from[0] + from[2]) / 2, (from[1] + from[3]) / 2] : [this.where.x, this.where.y];
    const [wide, tall] = from ? [from[2] - from[0], from[3] - from[1]] : [0, 0];
    let next = from ? -1 : this.places.at(x, y);
    for (let tried = 1; from && tried <= 40 && (next < 0 || next === this.cursor); tried += 1) {
      const far = this.places instanceof Polygons ? (0.5 + tried * 0.25) * by : by * tried;
      next = this.places.at(x + right * wide * far, y + down * tall * far);
    }
    if (next < 0) next = this.cursor >= 0 ? this.cursor : this.nearest();
    const box = this.places.boxOf(next);
    [x, y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
    const { canvas } = panel;
    const [reachX, reachY] = [(canvas.clientWidth / this.where.scale) * 0.45, (canvas.clientHeight / this.where.scale) * 0.45];
    this.where.x = clamp(this.where.x, x - reachX, x + reachX);
    this.where.y = clamp(this.where.y, y - reachY, y + reachY);
    this.point(next, panel);
  }

  nearest() {
    let [best, found] = [Infinity, 0];
    for (let place = 0; place < this.places.size; place += Math.ceil(this.places.size / 20000)) {
      const [left, top, right, bottom] = this.places.boxOf(place);
      const far = Math.hypot((left + right) / 2 - this.where.x, (top + bottom) / 2 - this.where.y);
      if (far < best && (!this.places.allowed || this.places.allowed[place])) [best, found] = [far, place];
    }
    return found;
  }

  // A window is [west, south, east, north] in degrees.
  degreesOf(one, other) {
    const places = [one, other].map(([x, y]) => this.toDegrees(x, y));
    const [longitudes, latitudes] = ["longitude", "latitude"].map((axis) => places.map((place) => place[axis]));
    return [Math.min(...longitudes), Math.min(...latitudes), Math.max(...longitudes), Math.max(...latitudes)];
  }

  worldBox([west, south, east, north]) {
    const up = this.content.frame.plane === "mercator" ? mercator : (latitude) => latitude;
    return [west * this.narrowing, -up(north), (east < west ? east + 360 : east) * this.narrowing, -up(south)];
  }

  boxOfWindow() {
    const [left, top, right, bottom] = this.worldBox(this.window);
    const [wide, tall] = [right - left, bottom - top];
    return [left - wide, top - tall, right + wide, bottom + tall];
  }

  /** Show a window in degrees, or none. */
  showWindow(box) {
    const first = !this.window;
    this.window = box;
    if (first && box) this.fit();
    this.draw();
  }

  paintWindow(context, left, top) {
    const { scale } = this.where;
    const box = this.worldBox(this.window);
    context.fillStyle = `${this.theme.cursor}2e`;
    context.fillRect(left + box[0] * scale, top + box[1] * scale, (box[2] - box[0]) * scale, (box[3] - box[1]) * scale);
    this.frameOf(context, box, left, top, this.theme.cursor, 2, 2);
  }

  // Move the window by some pixels, or with Shift its northern and eastern edge.
  nudge(right, down, stretch) {
    const box = this.worldBox(this.window);
    const by = 8 / this.where.scale;
    const moved = stretch ? [box[0], Math.min(box[1] + down * by, box[3] - by), Math.max(box[2] + right * by, box[0] + by), box[3]] : [box[0] + right * by, box[1] + down * by, box[2] + right * by, box[3] + down * by];
    this.window = this.degreesOf([moved[0], moved[1]], [moved[2], moved[3]]);
    this.draw();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.chosen(this.window), 500);
  }
}

function chunks(list, size) {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));
}

// Whether the page is dark now: it says which schemes it has, and the reader which is wanted.
function dark() {
  const schemes = document.querySelector("meta[name=color-scheme]")?.content ?? "";
  return schemes.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches;
}

// Layers of lines, each with the land between them; a layer begins with what is filled but has no line of its own.
function outlineOf(outline, narrowing) {
  const layers = outline.layers.map((layer) => {
    const [steps, lengths] = [unpacked(layer.points), unpacked(layer.lines)];
    const [lines, land] = [new Path2D(), new Path2D()];
    let at = 0;
    lengths.forEach((length, place) => {
      const paths = [...(place < layer.filled ? [] : [lines]), ...(length > 0 ? [land] : [])];
      let [x, y] = [0, 0];
      for (let point = 0; point < Math.abs(length); point += 1, at += 2) {
        x += steps[at];
        y += steps[at + 1];
        const [right, down] = [(x * outline.unit + outline.origin[0]) * narrowing, -(y * outline.unit + outline.origin[1])];
        for (const path of paths) path[point ? "lineTo" : "moveTo"](right, down);
      }
      if (length > 0) land.closePath();
    });
    return { lines, land, accuracy: layer.accuracy };
  });
  const names = outline.names.map(([name, west, south, east, north, x, y]) => ({
    name,
    box: [west * narrowing, -north, east * narrowing, -south],
    at: [x * narrowing, -y],
  }));
  return { layers, names, coasts: outline.coasts };
}

// A map, or one of several that are chosen from.
function begin(place, content) {
  if (!content.choices) {
    place.map = new PlaceMap(place, content);
    return;
  }
  const select = make("select", {}, ...content.choices.map(({ label }, at) => make("option", { value: at }, label)));
  const inside = make("div");
  select.addEventListener("change", () => (place.map = new PlaceMap(inside, { ...content, ...content.choices[select.value] })));
  place.append(make("label", { class: "map-choice" }, content.words["map.choice"], " ", select), inside);
  place.map = new PlaceMap(inside, { ...content, ...content.choices[0] });
}

for (const source of document.querySelectorAll("script[data-map]")) {
  begin(document.getElementById(source.dataset.map), JSON.parse(source.textContent));
}
