// The Data page: a file of which only names and types of columns are seen, whom it is about, what is declared of it.

import "./frame.js";
import { answers, byId, make } from "./elements.js";
import { bindFields, showFields } from "./fields.js";
import { kindNow, showKind } from "./kinds.js";
import { complain, notify } from "./notices.js";
import { addPart, cellsOf, declared, showParts } from "./parts.js";
import { patch, valueAt, watch } from "./recipe.js";
import { ask, begin } from "./request.js";
import { fileSize, known, number, say } from "./words.js";

let seen = await begin("/api/data");
let looked = wanted();
const DEGREES = ["live.add.latitude", "live.add.longitude"];
const PLACES = ["mesh", "latlon", "tiles", "europe_grid", "h3", "regions"];
const PAIRS = {
  ...Object.fromEntries(PLACES.map((type) => [type, DEGREES])),
  grid: ["live.add.row", "live.add.across"],
};

function wanted() {
  const keys = ["path", "table", "encoding", "delimiter", "decimal", "column_names", "header_row"].map((key) => `data.${key}`);
  return JSON.stringify(keys.map((key) => valueAt(key)));
}

// The first line of a text file may be a person's row: it is shown when the steward asks, for that file.
let header = null;

async function lookAgain() {
  looked = wanted();
  try {
    seen = await ask("GET", header && header === valueAt("data.path") ? "/api/data?header=true" : "/api/data");
  } catch (problem) {
    complain(problem);
  }
  showFile();
}

function options(select, choices, chosen) {
  select.replaceChildren(...choices.map(([value, text]) => make("option", { value }, text)));
  if (chosen && !choices.some(([value]) => value === chosen)) select.append(make("option", { value: chosen }, chosen));
  if (chosen !== undefined) select.value = chosen;
}

function showFile() {
  const path = valueAt("data.path") ?? "";
  const files = seen.files.map(({ name, bytes }) => [name, say("live.file", { name, size: fileSize(bytes) })]);
  options(byId("file"), path ? files : [["", say("live.file.none")], ...files], path);
  const tables = seen.tables ?? [];
  byId("table-field").hidden = tables.length === 0;
  const named = tables.map((name) => [name, name]);
  options(byId("table"), [["", say("live.file.no_table")], ...named], valueAt("data.table") ?? "");
  const names = seen.columns.map((column) => [column.name, column.name]);
  options(byId("unit"), [["", say("live.unit.row")], ...names], valueAt("data.unit") ?? "");
  byId("unit").dataset.shown = byId("unit").value;
  options(byId("add-column"), names, byId("add-column").value || undefined);
  options(byId("add-second"), [["", say("live.add.no_second")], ...names], byId("add-second").value);
  options(byId("counts"), [["", say("live.counts.none")], ...names], valueAt("data.counts") ?? "");
  byId("counts").dataset.shown = byId("counts").value;
  showSchema();
  suggest();
}

function usedAs(name) {
  if (valueAt("data.unit") === name) return say("live.used.unit");
  if (valueAt("data.counts") === name) return say("live.used.counts");
  const parts = Object.entries(declared()).filter(([own, part]) => [part.from ?? own].flat().includes(name));
  return parts.map(([own]) => own).join(", ") || "–";
}

function showSchema() {
  const place = byId("schema");
  const title = make("caption", { id: "schema-title" }, say("live.schema", { number: seen.columns.length }));
  if (seen.withheld) {
    const button = make("button", { type: "button", id: "show-header" }, say("live.header.show"));
    button.addEventListener("click", () => {
      header = valueAt("data.path");
      lookAgain();
    });
    place.replaceChildren(make("p", { id: "schema-title", class: "soft" }, say("live.header.withheld")), button);
    return;
  }
  if (!seen.columns.length) {
    const reason = seen.problem?.message ?? say(seen.files.length ? "live.schema.none" : "live.schema.no_file");
    place.replaceChildren(make("p", { id: "schema-title", class: "soft" }, reason), ...proposed());
    return;
  }
  const names = ["live.schema.name", "live.schema.type", "live.schema.use"].map((key) => say(key));
  const head = make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))));
  const rows = make("tbody", {}, ...seen.columns.map(schemaRow));
  place.replaceChildren(make("table", { class: "schema" }, title, head, rows), ...proposed());
}

function proposed() {
  const found = seen.proposal;
  if (!found) return [];
  const said = [];
  if (found.encoding !== (valueAt("data.encoding") ?? "utf-8").toLowerCase()) {
    const button = make("button", { type: "button" }, say("live.proposal.take", { encoding: found.encoding }));
    button.addEventListener("click", () => patch({ "data.encoding": found.encoding }));
    said.push(make("p", { id: "proposal" }, say("live.proposal", { encoding: found.encoding })), button);
  }
  if (found.faulty_line) said.push(make("p", { id: "faulty" }, say("live.faulty", { line: number(found.faulty_line) })));
  return said;
}

function schemaRow({ name, type }) {
  const first = make("th", { scope: "row" }, make("code", {}, name));
  return make("tr", {}, first, make("td", { title: type }, typeWords(type)), make("td", {}, usedAs(name)));
}

function typeWords(type) {
  const plain = type.split("(")[0];
  if (/INT$|INTEGER$/.test(plain)) return say("live.type.whole");
  return known("live.type", plain);
}

// What the column's name and type suggest is chosen beforehand; the steward may choose anything else.
function suggest() {
  const type = kindNow() === "table" ? byId("add-type").value : null;
  const names = PAIRS[type] ?? ["live.add.column"];
  byId("add-first").textContent = say(names[0]);
  byId("add-second-name").textContent = say(names[1] ?? names[0]);
  byId("add-second-field").hidden = !names[1];
  const place = seen.suggestions.mesh;
  if (PLACES.includes(type) && place) [byId("add-column").value, byId("add-second").value] = place;
  showName();
}

function showName() {
  const type = byId("add-type").value;
  const own = type === "grid" || type === "mesh" ? type : PLACES.includes(type) ? "place" : byId("add-column").value;
  byId("add-name").value = known("live.name", own);
}

function chosenColumns() {
  const columns = [byId("add-column").value];
  const second = byId("add-second-field").hidden ? "" : byId("add-second").value;
  if (second && second !== columns[0]) columns.push(second);
  return columns;
}

async function add(event) {
  event.preventDefault();
  const columns = chosenColumns();
  if (!columns[0]) {
    notify(say("live.add.no_column"), "warning");
    return;
  }
  const table = kindNow() === "table";
  const name = table ? byId("add-name").value.trim() || columns[0] : columns[0];
  if (name in declared()) {
    notify(say("live.add.twice", { name }), "warning");
    return;
  }
  await addPart(table ? byId("add-type").value : byId("add-form").value, name, columns);
}

async function upload() {
  const files = [...byId("upload").files];
  if (!files.length) return;
  try {
    for (const file of files) {
      notify(say("live.upload.begun", { name: file.name }));
      await ask("POST", `/api/files/${encodeURIComponent(file.name)}`, file);
    }
    const zips = files.length > 1 && files.every(({ name }) => /^tbl.*\.zip$/.test(name));
    const name = zips ? "tbl*.zip" : files[0].name;
    await patch({ "data.path": name, "data.table": null });
    await lookAgain();
    notify(say("live.upload.done", { name }));
  } catch (problem) {
    complain(problem);
  }
  byId("upload").value = "";
}

function show() {
  showKind(kindNow());
  showFields(document);
  showParts();
  byId("cells").textContent = cellsWords();
  if (looked !== wanted()) lookAgain();
  else showFile();
}

function cellsWords() {
  if (kindNow() !== "table" || !Object.keys(declared()).length) return "";
  const cells = cellsOf(declared());
  return cells === null ? "" : say("live.cells", { cells });
}

byId("file").addEventListener("change", () => patch({ "data.path": byId("file").value, "data.table": null }));
byId("table").addEventListener("change", () => patch({ "data.table": byId("table").value || null }));
byId("upload").addEventListener("change", upload);
byId("add").addEventListener("submit", add);
byId("add-type").addEventListener("change", suggest);
byId("add-column").addEventListener("change", showName);
bindFields(document);
byId("counts").addEventListener("change", () => {
  const counted = { 人口: "person", 世帯: "household" }; // in labels of e-Stat
  const found = Object.keys(counted).find((word) => byId("counts").value.includes(word));
  if (found && valueAt("data.unit_name") === undefined) patch({ "data.unit_name": counted[found] });
});
watch(show);
answers();
