// The declared parts of the data, one card each: attributes of a domain, columns, or hierarchies, as the kind has them.

import { byId, make, smallButton } from "./elements.js";
import { bindFields, rewrite, showFields } from "./fields.js";
import { kindNow, PARTS } from "./kinds.js";
import { inhabitedSquares } from "./japan.js";
import { PlaceMap } from "./map/map.js";
import { bounds, CELLS } from "./mesh_levels.js";
import { complain } from "./notices.js";
import { patch, pathOf, valueAt } from "./recipe.js";
import { ask } from "./request.js";
import { known, MESSAGES, say } from "./words.js";

const EDGES = ["south", "west", "north", "east"];
const TOKYO = [53, 39]; // the first-level mesh that a new window begins with
const BEGINNING = {
  mesh: { size: "500m", rows: [TOKYO[0] * 160, (TOKYO[0] + 1) * 160], columns: [TOKYO[1] * 160, (TOKYO[1] + 1) * 160] },
  latlon: { step: 0.01, window: [-0.6, 51.2, 0.4, 51.8] },
  tiles: { zoom: 12, window: [-0.6, 51.2, 0.4, 51.8] },
  europe_grid: { size: "1km", window: [13, 52.3, 13.8, 52.7] },
  h3: { resolution: 8, window: [-0.6, 51.2, 0.4, 51.8] },
  regions: { file: "regions.geojson", key: "code" },
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
  if (part.type === "latlon" && part.step > 0 && part.window?.length === 4) {
    const [west, south, east, north] = part.window;
    const cells = (span) => Math.ceil(span / part.step - 1e-9);
    return cells(north - south) * cells(east < west ? east + 360 - west : east - west);
  }
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
  const showWindow = element.querySelector(".window-map") ? windowCard(element, path, form) : null;
  const show = (part) => {
    const type = known("live.part", part.type ?? form);
    const from = part.from === undefined ? name : [part.from].flat().join(", ");
    source.textContent = say("live.part.from", { type, column: from });
    showFields(element);
    showWindow?.(part);
  };
  return { name, element, show };
}

// The map of a window, its four edges, and the size of a mesh; the function that it gives shows what the recipe says.
function windowCard(element, path, form) {
  const text = element.querySelector(".window-text");
  const size = element.querySelector("[data-size]");
  const edges = Object.fromEntries(EDGES.map((edge) => [edge, element.querySelector(`[data-edge=${edge}]`)]));
  let part = null;
  let map = null;

  const choose = async (box) => {
    const [west, south, east, north] = box;
    const others = ["code_list", "areas", "within", "cells", ...(form === "mesh" ? [] : ["rows", "columns"])];
    const gone = Object.fromEntries(others.filter((key) => key in part).map((key) => [`${path}.${key}`, null]));
    if (form !== "mesh") {
      await patch({ ...gone, [`${path}.window`]: [turned(west), south, turned(east), north] });
      return;
    }
    try {
      const asked = new URLSearchParams({ level: part.size, south, west: around(west), north, east: around(east) });
      const { rows, columns } = await ask("GET", `/api/mesh?${asked}`);
      await patch({ ...gone, [`${path}.rows`]: rows, [`${path}.columns`]: columns });
    } catch (problem) {
      complain(problem);
      if (part) show(part);
    }
  };
  const drawn = (box) => {
    const digits = Math.min(6, Math.max(0, Math.ceil(Math.log10(map.where.scale))));
    choose(box.map((edge) => Number(edge.toFixed(digits))));
  };
  const byNumbers = () => {
    const box = ["west", "south", "east", "north"].map((edge) => {
      edges[edge].dataset.shown = edges[edge].value;
      const value = Number(edges[edge].value.trim().replace("−", "-"));
      const wrong = edges[edge].value.trim() === "" || !Number.isFinite(value);
      edges[edge].setCustomValidity(wrong ? say("live.field.number") : "");
      edges[edge].toggleAttribute("aria-invalid", wrong);
      if (wrong) edges[edge].reportValidity();
      return wrong ? Number.NaN : value;
    });
    if (!box.some(Number.isNaN)) choose(box);
  };
  const resize = () => {
    if (!part.rows || !part.columns) {
      patch({ [`${path}.size`]: size.value });
      return;
    }
    const times = CELLS[size.value] / CELLS[part.size];
    const scaled = ([first, beyond]) => {
      const low = Math.floor(first * times);
      return [low, Math.max(low + 1, Math.ceil(beyond * times))];
    };
    const [rows, columns] = [part.rows, part.columns].map(scaled);
    patch({ [`${path}.size`]: size.value, [`${path}.rows`]: rows, [`${path}.columns`]: columns });
  };
  const boxOf = () => {
    if (form !== "mesh") return part.window?.length === 4 ? part.window.map(Number) : null;
    if (!part.rows || !part.columns) return null;
    const { south, west, north, east } = bounds(part.size, part.rows, part.columns);
    return [west, south, east, north];
  };
  const show = (shown) => {
    part = shown;
    if (size) size.value = part.size;
    const box = boxOf();
    map?.showWindow(box);
    if (!box) text.textContent = "";
    if (!box) return;
    ["west", "south", "east", "north"].forEach((edge, place) => {
      const control = edges[edge];
      // What is being typed is left alone.
      if (control === document.activeElement && control.value !== control.dataset.shown) return;
      rewrite(control, String(Math.round(box[place] * 1e6) / 1e6));
      control.dataset.shown = control.value;
    });
    const cells = cellsOfPart(part);
    text.textContent = cells === null ? "" : say("live.mesh.cells", { number: cells });
  };

  worldMap().then((world) => {
    const background = form === "mesh" ? inhabitedBoxes() : undefined;
    map = new PlaceMap(element.querySelector(".window-map"), { ...world, background }, MESSAGES, drawn);
    map.finer = (box) => ask("GET", `/api/world?${new URLSearchParams(box)}`).then(({ outline }) => outline, () => null);
    if (part) map.showWindow(boxOf());
  }, complain);
  for (const edge of EDGES) edges[edge].addEventListener("change", byNumbers);
  size?.addEventListener("change", resize);
  element.querySelector("[data-map=all]").addEventListener("click", () => map?.fit(map.worldBox(form === "mesh" ? JAPAN : WORLD)));
  for (const tool of element.querySelectorAll("[name=tool]")) {
    tool.name = `tool-${path}`;
    tool.addEventListener("change", () => map && (map.tool = tool.value));
  }
  return show;
}

const JAPAN = [122, 23.5, 149, 46];
const WORLD = [-170, -56, 190, 72];
let world = null;

function worldMap() {
  world ??= ask("GET", "/api/world");
  return world;
}

// A longitude between -180 and 180, as places want it; and from 0 on, as the mesh of Japan counts.
function turned(longitude) {
  const found = ((((longitude + 180) % 360) + 360) % 360) - 180;
  return Number((found === -180 && longitude > 0 ? 180 : found).toFixed(9));
}

function around(longitude) {
  return longitude > 180 ? longitude - 360 : longitude;
}

function inhabitedBoxes() {
  return inhabitedSquares().map(([row, column]) => [100 + column / 8, row / 12, 100 + (column + 1) / 8, (row + 1) / 12]);
}
