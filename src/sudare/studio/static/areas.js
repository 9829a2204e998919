// Errors by size of area: the table that Protect and Rehearse share, and sizes in words.

import { table } from "./elements.js";
import { known, number, say } from "./words.js";

/** A size of area in words. */
export function areaWords(row) {
  const cells = row.cells === 1 ? say("live.area.cell") : say("live.area.cells", { cells: Math.ceil(row.cells) });
  return row.square_km ? say("live.area.both", { cells, square_km: number(row.square_km) }) : cells;
}

/** A table with a line for each size of area; `numbers(row, place)` gives what follows the size. */
export function areaTable(caption, header, rows, numbers) {
  const square = rows.some((row) => row.square_km);
  const sizes = ["cells", ...(square ? ["square_km"] : [])];
  const names = [...sizes.map((name) => known("error", name)), ...header];
  const size = (row) => [number(row.cells), ...(square ? [row.square_km ? number(row.square_km) : "–"] : [])];
  return table(caption, names, rows.map((row, place) => [...size(row), ...numbers(row, place)]));
}

/** Errors of the kinds that have no areas: whatever columns they have, numbers to the right. */
export function measureTable(caption, rows) {
  const names = Object.keys(rows[0]).filter((name) => rows.some((row) => row[name] !== null));
  const header = names.map((name) => known("live.measure", name).replaceAll("_", " "));
  const cell = (value) => (typeof value === "number" ? number(value) : (value ?? "–"));
  const made = table(caption, header, rows.map((row) => names.map((name) => cell(row[name]))));
  names.forEach((name, place) => {
    if (rows.every((row) => typeof row[name] !== "string")) return;
    for (const line of made.querySelectorAll("tr")) line.children[place].classList.add("text");
  });
  return made;
}
