// The Rehearse page: the whole release on synthetic people, whose truth may be seen beside it.

import "./frame.js";
import { areaTable, measureTable } from "./areas.js";
import { removeChart, showChart } from "./charts.js";
import { answers, byId, facts, make, smallButton, table } from "./elements.js";
import { bindFields, showFields } from "./fields.js";
import { cancel, ended, follow, showProgress } from "./jobs.js";
import { showPublicTables } from "./known.js";
import { kindNow, showKind } from "./kinds.js";
import { complain, notify } from "./notices.js";
import { current, settled, watch } from "./recipe.js";
import { showMaps } from "./rehearsal_maps.js";
import { ask, begin } from "./request.js";
import { known, number, percent, say } from "./words.js";

const page = await begin("/api/rehearse");
let running = null;

async function start() {
  byId("start").disabled = true;
  try {
    await settled();
    const other = Number(byId("other").value) || null;
    await watchJob(await ask("POST", "/api/rehearse", { based_on: current().version, other }));
  } catch (problem) {
    complain(problem);
  }
  byId("start").disabled = !current().valid;
}

async function watchJob(job) {
  running = job.id;
  const last = await follow(job.id, (now) => showProgress(byId("rehearsing"), now));
  running = null;
  if (last.state === "failed") complain(last.error);
  else if (last.state === "cancelled") notify(say("live.job.cancelled"), "warning");
  else {
    await open(last.result.rehearsals);
    const seen = await ask("GET", "/api/rehearse");
    showEarlier(seen.rehearsals);
    byId("outcome-title").scrollIntoView({ block: "start" });
  }
}

// One rehearsal, or two beside each other.
async function open(ids) {
  const found = await Promise.all(ids.map((id) => ask("GET", `/api/rehearsals/${id}`)));
  byId("outcome").hidden = false;
  byId("outcome-text").textContent = found.map(inWords).join(" ");
  await showMaps(found, label);
  showErrors(found);
}

function label(one) {
  const method = one.method ? known("method_name", one.method) : known("studio.kind", one.kind);
  return say("live.rehearsal.name", { version: String(one.version), method, cost: one.cost });
}

function inWords(one) {
  const gaps = { name: label(one), basis: one.basis, repetitions: one.repetitions };
  return say("live.rehearsal.text", gaps);
}

function showErrors(found) {
  const byArea = found.every((one) => one.errors.every((row) => "cells" in row));
  byId("errors").replaceChildren(...(byArea ? [errorTable(found)] : found.map(otherTable)));
  byId("support").replaceChildren(...(byArea ? [supportTable(found)] : []));
  for (const name of ["areas", "values"]) {
    const place = byId(`chart-${name}`);
    const asked = found.map((one) => ["rehearsal", one.id]);
    if (byArea) showChart(place, `/api/charts/${name}.svg`, asked, say(`live.chart.${name}`));
    else removeChart(place);
  }
}

// The heads of columns: which rehearsal, or what the only one shows.
function heads(found, alone) {
  return found.map((one) => (found.length > 1 ? label(one) : alone));
}

function errorTable(found) {
  const columns = ["populated_error", "empty_error"];
  const named = found.flatMap((one) =>
    columns.map((name) => (found.length > 1 ? `${label(one)}: ${known("error", name)}` : known("error", name))),
  );
  const cell = (value) => (value === null || value === undefined ? "–" : number(value));
  const numbers = (_, place) => found.flatMap((one) => columns.map((name) => cell(one.errors[place]?.[name])));
  return areaTable(say("live.error.rehearsed"), named, found[0].errors, numbers);
}

function supportTable(found) {
  const header = [say("live.support.what"), ...heads(found, say("live.support.cells"))];
  const lines = ["kept", "vanish", "appear"].map((name) => [
    say(`live.support.${name}`),
    ...found.map((one) => number(one.support[name])),
  ]);
  const accuracy = [say("live.support.accuracy"), ...found.map((one) => percent(one.accuracy))];
  return table(say("live.support.caption"), header, [...lines, accuracy]);
}

function otherTable(one) {
  const lines = one.facts.map(({ name, value }) => [name, value]);
  return make("div", {}, facts(lines), ...(one.errors.length ? [measureTable(label(one), one.errors)] : []));
}

function showEarlier(list) {
  byId("earlier-section").hidden = list.length === 0;
  byId("earlier").replaceChildren(
    ...list.map((one) => {
      const name = say("live.rehearsal.show_named", { name: label(one) });
      const button = smallButton(say("live.rehearsal.show"), name, () => open([one.id]).catch(complain));
      return make("li", {}, make("div", {}, label(one)), button);
    }),
  );
}

function showVersions(state) {
  const select = byId("other");
  const before = select.value;
  const others = state.versions.filter((one) => one.valid && one.version !== state.version);
  const choices = others.map(({ version, change }) => {
    const text = `${say("live.version", { version: String(version) })} ${known("live.change", change)}`;
    return make("option", { value: version }, text);
  });
  select.replaceChildren(make("option", { value: "" }, say("live.rehearse.alone")), ...choices);
  select.value = others.some((one) => String(one.version) === before) ? before : "";
}

byId("start").addEventListener("click", start);
byId("rehearsing-cancel").addEventListener("click", () => running && cancel(running).catch(complain));
showPublicTables(page.public_tables);
bindFields(document);
watch((state) => {
  showKind(kindNow());
  showFields(document);
  showVersions(state);
  byId("start").disabled = !state.valid || running !== null;
});
showEarlier(page.rehearsals);
if (page.job && !ended(page.job)) watchJob(page.job).catch(complain);
else if (page.rehearsals.length) open([page.rehearsals[0].id]).catch(complain);
answers();
