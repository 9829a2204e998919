// The maps of rehearsals: truth and releases on one scale of colours, the cell that is pointed at, a legend.

import { EMPTY, legendTicks, viridis } from "./colours.js";
import { byId, make } from "./elements.js";
import { HeatMaps } from "./heat_maps.js";
import { grid } from "./request.js";
import { number, say } from "./words.js";

/** Show the maps of `found`, with `label` naming each where there are several; the maps, or null where none has one. */
export async function showMaps(found, label) {
  const first = found.find((one) => one.grid);
  byId("maps-part").hidden = !first;
  byId("maps").replaceChildren();
  if (!first) return null;
  const { rows, columns } = first.grid;
  const alike = found.filter((one) => one.grid?.rows === rows && one.grid.columns === columns);
  const addresses = [`${first.id}/true`, ...alike.map((one) => `${one.id}/released`)];
  const grids = await Promise.all(addresses.map((address) => grid(`/api/rehearsals/${address}.bin`)));
  const titles = [
    [say("live.map.true"), first.grid.totals.true],
    ...alike.map((one) => [alike.length > 1 ? label(one) : say("live.map.released"), one.grid.totals.released]),
  ];
  const most = Math.max(1, ...alike.map((one) => one.grid.quantiles["0.999"]));
  const pointed = (row, column) => readOut(first.grid, row, column, grids, titles);
  const maps = new HeatMaps(rows, columns, cellAspect(first.grid), pointed);
  grids.forEach((values, place) => addMap(maps, values, most, ...titles[place]));
  showLegend(most, grids.some((values) => values.some((value) => value < 0)));
  pointed(null);
  return maps;
}

function addMap(maps, values, most, title, total) {
  const label = say("live.map.label", { title });
  const canvas = make("canvas", { tabindex: "0", role: "application", "aria-label": label });
  const people = say("live.map.total", { people: Math.round(total) });
  const caption = make("figcaption", {}, `${title} `, make("span", { class: "soft" }, people));
  byId("maps").append(make("figure", {}, caption, canvas));
  maps.add(canvas, values, most);
}

// The width of a drawn cell over its height on the ground; a line is drawn as a band.
function cellAspect({ bounds, rows, columns }) {
  if (!bounds) return rows === 1 ? 12 / columns : 1;
  const tall = (bounds.north - bounds.south) / rows;
  const wide = (bounds.east - bounds.west) / columns;
  return (wide * Math.cos((((bounds.north + bounds.south) / 2) * Math.PI) / 180)) / tall;
}

function readOut(frame, row, column, grids, titles) {
  if (row === null) {
    byId("readout").textContent = say("live.readout.none");
    return;
  }
  const values = grids.map((cells, place) => {
    const value = number(cells[row * frame.columns + column]);
    return say("live.readout.value", { title: titles[place][0], value });
  });
  const place = placeWords(frame, row, column);
  byId("readout").textContent = say("live.readout", { place, values: values.join(say("live.readout.and")) });
}

function placeWords(frame, row, column) {
  if (frame.labels.length) return `${frame.attribute} ${frame.labels[column]}`;
  if (frame.rows === 1) return `${frame.attribute} ${column}`;
  if (!frame.bounds) return say("live.place.cell", { row: String(row), column: String(column) });
  const { south, west, north, east } = frame.bounds;
  const latitude = (south + ((row + 0.5) * (north - south)) / frame.rows).toFixed(4);
  const longitude = (west + ((column + 0.5) * (east - west)) / frame.columns).toFixed(4);
  return say("live.place.degrees", { latitude, longitude });
}

function showLegend(most, negative) {
  const colours = Array.from({ length: 21 }, (_, step) => `rgb(${viridis(step / 20).join(" ")})`);
  const bar = make("div", { class: "bar" });
  bar.style.background = `linear-gradient(to right, rgb(${EMPTY.join(" ")}) 0 1.5%, ${colours.join(", ")})`;
  const line = make("div", { class: "ticks-line" });
  for (const tick of legendTicks(Math.round(most))) {
    const mark = make("span", {}, number(tick));
    mark.style.left = `${(100 * Math.log1p(tick)) / Math.log1p(most)}%`;
    line.append(mark);
  }
  const text = say(negative ? "live.legend.negative" : "live.legend");
  byId("legend").replaceChildren(make("p", { class: "soft" }, text), bar, line);
  byId("legend").setAttribute("aria-label", say("live.legend.label", { most: Math.round(most) }));
}
