// The declared parts of the data, one card each: attributes of a domain, columns, or hierarchies, as the kind has them.

import { byId, make, smallButton } from "./elements.js";
import { bindFields, rewrite, showFields } from "./fields.js";
import { kindNow, PARTS } from "./kinds.js";
import { MeshMap } from "./mesh_map.js";
import { bounds, CELLS } from "./mesh_levels.js";
import { complain } from "./notices.js";
import { patch, pathOf, valueAt } from "./recipe.js";
import { ask } from "./request.js";
import { known, say } from "./words.js";

const EDGES = ["south", "west", "north", "east"];
const TOKYO = [53, 39]; // the first-level mesh that a new window begins with
const BEGINNING = {
  mesh: { size: "500m", rows: [TOKYO[0] * 160, (TOKYO[0] + 1) * 160], columns: [TOKYO[1] * 160, (TOKYO[1] + 1) * 160] },
  categories: { values: [] },
  bins: { start: 0, stop: 100, step: 10 },
  grid: { shape: [100, 100] },
  line: { length: 100 },
};
const cards = new Map();

/** What a recipe of this kind declares so far, by name. */
export function declared() {
  return valueAt(PARTS[kindNow()]) ?? {};
}

/** Show a card for every declared part. */
export function showParts() {
  const parts = Object.entries(declared());
  const kind = kindNow();
  const keys = parts.map(([name, part]) => `${kind}|${formOf(part)}|${name}`);
  for (const [key, card] of cards) {
    if (!keys.includes(key)) {
      card.element.remove();
      cards.delete(key);
    }
  }
  parts.forEach(([name, part], place) => {
    if (!cards.has(keys[place])) cards.set(keys[place], makeCard(name, formOf(part)));
    const { element, show } = cards.get(keys[place]);
    const list = byId("parts");
    if (list.children[place] !== element) list.insertBefore(element, list.children[place] ?? null);
    show(part);
  });
  byId("no-parts").hidden = parts.length > 0;
}

/** Declare a new part of `columns` of the file. */
export async function addPart(form, name, columns) {
  const kind = kindNow();
  const source = columns.length > 1 ? columns : columns[0] === name ? null : columns[0];
  const part = kind === "table" ? { type: form, ...BEGINNING[form] } : beginning(kind, form);
  if (kind === "table" && source) part.from = source;
  await patch({ [pathOf(PARTS[kind], name)]: part });
  const added = [...cards.values()].find((card) => card.name === name);
  added?.element.scrollIntoView({ block: "nearest" });
  added?.element.querySelector("textarea, input:not([type=radio]), canvas")?.focus();
}

/** Cells of the whole domain; null while a part is not whole. */
export function cellsOf(domain) {
  return Object.values(domain).reduce((product, part) => {
    const own = cellsOfPart(part);
    return product === null || own === null ? null : product * own;
  }, 1);
}

function cellsOfPart(part) {
  const length = (range) => range[1] - range[0];
  if (part.type === "mesh" && part.rows && part.columns) return length(part.rows) * length(part.columns);
  if (part.type === "categories" && part.values?.length) return part.values.length;
  if (part.type === "bins" && part.edges) return part.edges.length - 1;
  if (part.type === "bins" && part.step > 0) return Math.ceil((part.stop - part.start) / part.step - 1e-9);
  if (part.type === "grid" && part.shape?.length === 2) return part.shape[0] * part.shape[1];
  return part.type === "line" && part.length ? part.length : null;
}

function beginning(kind, form) {
  if (kind === "sample") return form === "numbers" ? { low: 0, high: 100, widths: [5, 20] } : { values: [] };
  return form === "numbers" ? { bounds: [0, 100] } : { categories: [] };
}

function formOf(part) {
  const kind = kindNow();
  if (kind === "table") return part.type === "mesh" && part.codes ? "other" : (part.type ?? "other");
  if (kind === "sample") return part.widths ? "widths" : part.values ? "values" : "other";
  return part.bounds ? "bounds" : "listed";
}

function makeCard(name, form) {
  const path = pathOf(PARTS[kindNow()], name);
  const body = byId(`part-${form}`)?.content.cloneNode(true) ?? byId("part-other").content.cloneNode(true);
  for (const control of body.querySelectorAll("[data-path]")) {
    control.dataset.path = control.dataset.path.replace("*", path);
    if (control.dataset.clears) control.dataset.clears = control.dataset.clears.replaceAll("*", path);
  }
  const gone = () => patch({ [path]: null });
  const remove = smallButton(say("live.part.remove"), say("live.part.remove_named", { name }), gone);
  const source = make("p", { class: "soft" });
  const head = make("div", { class: "part-head" }, make("h3", {}, name), source, remove);
  const element = make("li", {}, head, body);
  bindFields(element);
  const mesh = form === "mesh" ? meshCard(element, path) : null;
  const show = (part) => {
    const type = known("live.part", part.type ?? form);
    const from = part.from === undefined ? name : [part.from].flat().join(", ");
    source.textContent = say("live.part.from", { type, column: from });
    showFields(element);
    mesh?.(part);
  };
  return { name, element, show };
}

// The map of a mesh, its size and its four edges; the function that it gives shows what the recipe says.
function meshCard(element, path) {
  const canvas = element.querySelector("canvas");
  const text = element.querySelector(".window-text");
  const size = element.querySelector("[data-size]");
  const edges = Object.fromEntries(EDGES.map((edge) => [edge, element.querySelector(`[data-edge=${edge}]`)]));
  const choose = ({ rows, columns }) => patch({ [`${path}.rows`]: rows, [`${path}.columns`]: columns });
  const map = new MeshMap(canvas, choose);
  let part = null;

  const byNumbers = async () => {
    const asked = new URLSearchParams({ level: part.size });
    for (const edge of EDGES) {
      asked.set(edge, edges[edge].value);
      edges[edge].dataset.shown = edges[edge].value;
    }
    try {
      await choose(await ask("GET", `/api/mesh?${asked}`));
    } catch (problem) {
      complain(problem);
    }
  };
  const resize = () => {
    const times = CELLS[size.value] / CELLS[part.size];
    const scaled = ([first, beyond]) => {
      const low = Math.floor(first * times);
      return [low, Math.max(low + 1, Math.ceil(beyond * times))];
    };
    const [rows, columns] = [part.rows, part.columns].map(scaled);
    patch({ [`${path}.size`]: size.value, [`${path}.rows`]: rows, [`${path}.columns`]: columns });
  };
  const actions = {
    in: () => map.zoom(1.6),
    out: () => map.zoom(1 / 1.6),
    window: () => map.fit(),
    japan: () => map.fit(true),
  };

  for (const edge of EDGES) edges[edge].addEventListener("change", byNumbers);
  size.addEventListener("change", resize);
  for (const button of element.querySelectorAll("[data-map]")) {
    button.addEventListener("click", actions[button.dataset.map]);
  }
  for (const tool of element.querySelectorAll("[name=tool]")) {
    tool.addEventListener("change", () => {
      map.tool = tool.value;
      canvas.classList.toggle("moving", tool.value === "move");
    });
  }
  return (shown) => {
    part = shown;
    size.value = part.size;
    map.show(part.size in CELLS ? part.size : "500m", part.rows, part.columns);
    if (!part.rows || !part.columns) return;
    const box = bounds(part.size, part.rows, part.columns);
    for (const edge of EDGES) {
      const control = edges[edge];
      // What is being typed is left alone.
      if (control === document.activeElement && control.value !== control.dataset.shown) continue;
      rewrite(control, String(Math.round(box[edge] * 1e6) / 1e6));
      control.dataset.shown = control.value;
    }
    const [rows, columns] = [part.rows, part.columns].map((range) => range[1] - range[0]);
    text.textContent = say("live.mesh.window", {
      rows: say("live.mesh.rows", { number: rows }),
      columns: say("live.mesh.columns", { number: columns }),
      cells: say("live.mesh.cells", { number: rows * columns }),
    });
  };
}
