// The Protect page: kind, method and how much may be spent, with what follows from it while the slider moves.

import "./frame.js";
import { booksTable, budgetRemarks, meter } from "./books.js";
import { removeChart, showChart } from "./charts.js";
import { answers, byId, make, table } from "./elements.js";
import { areaTable, areaWords, measureTable } from "./areas.js";
import { bindFields, showFields } from "./fields.js";
import { showPublicTables } from "./known.js";
import { chooseKind, kindNow, showKind } from "./kinds.js";
import { complain } from "./notices.js";
import { current, patch, valueAt, watch } from "./recipe.js";
import { ask, begin } from "./request.js";
import { number, percent, say } from "./words.js";

const PAUSE = 80; // milliseconds of rest before the server is asked while the slider moves
const AGAIN = 500;
const slider = byId("slider");
const exact = byId("slider-number");
let shown = await begin("/api/protect");
let stops = [];
let sliding = null; // the value on the slider that is not in the recipe yet
let asking = null;
let timer = null;

function nearest(value) {
  const distance = (stop) => Math.abs(Math.log(stop / value));
  return stops.reduce((best, stop, place) => (distance(stop) < distance(stops[best]) ? place : best), 0);
}

function showSlider() {
  const own = shown.slider;
  byId("epsilon-section").hidden = !own;
  if (!own) return;
  stops = own.stops;
  slider.max = String(stops.length - 1);
  const value = sliding ?? own.value;
  if (document.activeElement !== slider) slider.value = String(nearest(value));
  if (document.activeElement !== exact) exact.value = String(value);
  byId("slider-name").textContent = own.symbol;
  byId("epsilon-text").hidden = own.symbol !== "ε";
  // A larger k protects more, a larger epsilon or rho less.
  byId("ends").classList.toggle("reversed", own.symbol === "k");
  slider.setAttribute("aria-valuetext", `${own.symbol} = ${number(value)}`);
  const kept = String(valueAt(own.path) ?? own.value);
  const trying = { symbol: own.symbol, value: String(sliding), kept };
  byId("not-saved").textContent = sliding === null ? "" : say("live.protect.trying", trying);
}

async function look(value) {
  asking?.abort();
  clearTimeout(timer);
  asking = new AbortController();
  byId("outlook").setAttribute("aria-busy", "true");
  try {
    const address = value === null ? "/api/protect" : `/api/protect?epsilon=${value}`;
    const found = await ask("GET", address, undefined, asking.signal);
    show(found);
    if (found.pending) timer = setTimeout(() => look(value), AGAIN);
  } catch (problem) {
    if (problem.name !== "AbortError") complain(problem);
  }
}

function slide() {
  const value = stops[Number(slider.value)];
  sliding = value === valueAt(shown.slider.path) ? null : value;
  exact.value = String(value);
  showSlider();
  clearTimeout(timer);
  timer = setTimeout(() => look(value), PAUSE);
}

async function keep(value) {
  clearTimeout(timer);
  const { path } = shown.slider;
  sliding = null;
  if (value === valueAt(path)) await look(null);
  else await patch({ [path]: value });
}

function show(found) {
  shown = found;
  showSlider();
  // What is wrong with the recipe itself is said at the head of every page.
  const problem = found.valid ? (found.problem?.message ?? "") : "";
  byId("pending").textContent = found.pending ? say("live.protect.pending") : problem;
  byId("outlook").setAttribute("aria-busy", String(found.pending));
  // What was shown last stays, dimmed, until the next is known.
  if (found.pending) return;
  byId("outlook").hidden = !found.guarantee;
  if (!found.guarantee) return;
  showPromise(found.guarantee);
  byId("cost").replaceChildren(meter(found.ledger), booksTable(found.ledger), ...budgetRemarks(found));
  showErrors(found);
}

function showPromise(promise) {
  byId("guarantee").textContent = promise.headline;
  const parts = promise.paragraphs.map((text) => make("p", {}, text));
  if (promise.odds) parts.push(table(promise.odds.caption, promise.odds.header, promise.odds.rows));
  byId("odds").replaceChildren(...parts);
}

function showErrors(found) {
  const rows = found.error_by_area;
  const smallest = found.smallest_area_10_percent;
  byId("errors-from").textContent = found.errors_from_shown ?? "";
  if (rows.length) {
    byId("smallest").textContent = smallestWords(rows, smallest, found.smallest_areas);
    const header = ["populated", "empty", "people", "relative"].map((key) => say(`live.error.${key}`));
    const numbers = (row) => [
      ...[row.with_people, row.empty, row.people].map((ends) => fromTo(ends, number)),
      fromTo(row.relative, percent),
    ];
    byId("errors").replaceChildren(areaTable(say("live.error.caption"), header, rows, numbers));
    markFitting(rows, smallest);
  } else {
    byId("smallest").textContent = "";
    const others = found.errors_shown;
    const none = make("p", { class: "soft" }, say("live.error.none"));
    const made = others.length ? measureTable(say("live.error.measures"), others) : none;
    byId("errors").replaceChildren(made);
  }
  const place = byId("chart");
  const asked = found.slider ? [["epsilon", sliding ?? found.slider.value]] : [];
  if (rows.length) showChart(place, "/api/charts/expected.svg", asked, say("live.chart.expected"));
  else removeChart(place);
}

function smallestWords(rows, agreed, ends) {
  const share = percent(0.1);
  const [one, none, between] = rows.some((row) => row.square_km)
    ? ["live.smallest", "live.smallest.none", "live.smallest.between"]
    : ["live.total", "live.total.none", "live.total.between"]; // without places there are no areas
  if (agreed) return say(one, { area: areaWords(agreed), share });
  if (!ends) return say(none, { share });
  const worst = ends[1] ? areaWords(ends[1]) : say("live.smallest.no_size");
  return say(between, { best: areaWords(ends[0]), worst, share });
}

// One number, or from the best to the worst scenario.
function fromTo([low, high], written) {
  if (low === null) return "–";
  const [first, last] = [written(low), written(high)];
  return first === last ? first : `${first}–${last}`;
}

function markFitting(rows, smallest) {
  const lines = byId("errors").querySelectorAll("tbody tr");
  rows.forEach((row, place) => lines[place].classList.toggle("fits", Boolean(smallest) && row.cells >= smallest.cells));
}

for (const kind of document.querySelectorAll("[name=kind]")) {
  kind.addEventListener("change", () => chooseKind(kind.value));
}
slider.addEventListener("input", slide);
slider.addEventListener("change", () => keep(stops[Number(slider.value)]));
exact.addEventListener("change", () => {
  const value = Number(exact.value);
  if (value > 0) keep(value);
  else exact.value = String(sliding ?? shown.slider.value);
});
showPublicTables(shown.public_tables);
bindFields(document);
let version = current().version;
watch((state) => {
  showKind(kindNow());
  showFields(document);
  for (const kind of document.querySelectorAll("[name=kind]")) kind.checked = kind.value === kindNow();
  const method = valueAt("method.name") ?? "auto";
  for (const text of document.querySelectorAll("[data-method]")) text.hidden = !text.dataset.method.split(" ").includes(method);
  if (state.version !== version || shown.pending) look(sliding);
  else show(shown);
  version = state.version;
});
answers();
