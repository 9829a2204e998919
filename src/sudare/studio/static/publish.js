// The Publish page: what will be spent, the name typed out, the work in the background, and what came of it.

import "./frame.js";
import { booksTable, meter, remarks } from "./books.js";
import { answers, byId, facts, make } from "./elements.js";
import { bindFields, showFields } from "./fields.js";
import { cancel, ended, follow, showProgress } from "./jobs.js";
import { kindNow, showKind } from "./kinds.js";
import { complain } from "./notices.js";
import { current, settled, watch } from "./recipe.js";
import { fileLinks, reportOf, showReport, verify } from "./releases.js";
import { ask, begin } from "./request.js";
import { say } from "./words.js";

let page = await begin("/api/publish");
let version = current().version;
let running = null;

async function look() {
  try {
    page = await ask("GET", "/api/publish");
    show();
  } catch (problem) {
    complain(problem);
  }
}

function show() {
  showSummary();
  byId("remarks").replaceChildren(...remarks(page));
  const { dataset, ledger } = page;
  byId("cost").textContent = ledger ? say("live.publish.cost", { cost: ledger.cost, dataset }) : "";
  byId("budget").replaceChildren(...(ledger ? [meter(ledger), booksTable(ledger)] : []));
  byId("confirm-name").textContent = say("live.publish.type", { dataset: dataset ?? "" });
  showConfirm();
  showPaid();
  if (page.release) showRelease(page.release);
}

function showPaid() {
  const paid = page.pending;
  byId("paid").hidden = !paid || running !== null;
  if (!paid) return;
  byId("paid-text").textContent = say(paid.can_resume ? "live.publish.paid" : "live.publish.lost", { release: paid.release_id });
  byId("complete").hidden = !paid.can_resume;
}

function showSummary() {
  const recipe = current().recipe ?? {};
  const rows = [
    [say("live.publish.dataset"), page.dataset],
    [say("live.publish.file"), recipe.data?.path],
    [say("live.publish.promise"), page.guarantee?.headline],
    [say("live.publish.folder"), page.output],
  ];
  byId("summary").replaceChildren(facts(rows.filter(([, value]) => value)));
}

function showConfirm() {
  byId("confirm-part").hidden = !page.can_publish && running === null;
  const said = page.valid ? page.problem?.message : null;
  const reason = said ?? (page.remarks.length ? "" : say("live.publish.not_yet"));
  byId("cannot").textContent = page.can_publish ? "" : reason;
  const typed = byId("confirm").value;
  const right = page.can_publish && typed === page.confirm;
  byId("publish").disabled = !right || running !== null;
  byId("confirm").disabled = !page.can_publish || running !== null;
  const state = typed ? say(right ? "live.publish.right" : "live.publish.wrong") : "";
  if (byId("confirm-state").textContent !== state) byId("confirm-state").textContent = state;
}

async function publish(event) {
  event.preventDefault();
  if (byId("publish").disabled) return;
  await start(byId("confirm").value, page.pending ? "anew" : null);
}

async function start(confirm, paid) {
  byId("outcome").hidden = true;
  try {
    await settled();
    await watchJob(await ask("POST", "/api/publish", { based_on: current().version, confirm, paid }), true);
  } catch (problem) {
    outcome("alarm", problem.status ? unspent(problem.message) : problem.message);
  }
}

function unspent(message) {
  return `${message} ${say("live.publish.unspent")}`;
}

async function watchJob(job, asked = false) {
  running = job.id;
  showConfirm();
  showPaid();
  showProgress(byId("publishing"), job);
  // The button that had the focus is switched off now.
  if (asked) byId("publishing-cancel").focus();
  const last = await follow(job.id, (now) => showProgress(byId("publishing"), now));
  running = null;
  byId("confirm").value = "";
  if (last.state === "done") {
    outcome("good", say("live.publish.done"));
    showRelease(last.result);
    byId("released-title").focus();
  } else if (last.state === "cancelled") outcome("warning", say("live.publish.cancelled"));
  else outcome("alarm", last.error.message);
  await look();
  // What was paid and is not there is named below.
  if (last.state === "failed" && !page.pending) outcome("alarm", unspent(last.error.message));
}

function outcome(kind, text) {
  const place = byId("outcome");
  place.className = `box ${kind}`;
  place.textContent = text;
  place.hidden = false;
}

function showRelease(release) {
  const { folder } = release;
  byId("released").hidden = !folder;
  if (!folder || byId("released").dataset.release === release.release_id) return;
  byId("released").dataset.release = release.release_id;
  byId("released-text").textContent = say("live.publish.released", { release: release.release_id, folder });
  const lines = facts((release.headline ?? []).map(({ name, value }) => [name, value]));
  const missing = (release.left_out ?? []).map((text) => make("p", { class: "box warning" }, text));
  byId("headline").replaceChildren(lines, ...missing);
  byId("files").replaceChildren(...fileLinks(folder, release.files));
  const report = reportOf(release);
  byId("report").hidden = byId("open-report").hidden = !report;
  if (report) {
    showReport(byId("report"), release.report);
    byId("open-report").href = report;
  }
  byId("findings").replaceChildren();
  byId("verify").onclick = () => verify(folder, byId("findings"));
}

async function lookAtData() {
  const place = byId("looked");
  byId("look-now").disabled = true;
  place.replaceChildren(make("p", { class: "soft" }, say("live.look.working")));
  try {
    await settled();
    showLook(await ask("POST", "/api/check", { based_on: current().version }));
  } catch (problem) {
    place.replaceChildren(make("p", { class: "box alarm" }, unspent(problem.message)));
  }
  byId("look-now").disabled = false;
}

function showLook(found) {
  const head = make("tr", {}, ...found.header.map((name) => make("th", { scope: "col" }, name)));
  const rows = found.reasons.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, cell))));
  const table = rows.length ? [make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)))] : [];
  const kind = found.good ? "good" : "warning";
  byId("looked").replaceChildren(
    make("p", { class: `box ${kind}` }, [found.internal, ...found.remarks].join(" ")),
    facts(found.facts.map(({ name, value }) => [name, value])),
    ...table,
  );
}

byId("look-now").addEventListener("click", lookAtData);
byId("confirm").addEventListener("input", showConfirm);
byId("confirm-form").addEventListener("submit", publish);
byId("complete").addEventListener("click", () => running === null && start(page.confirm, "complete"));
byId("publishing-cancel").addEventListener("click", () => running && cancel(running).catch(complain));
bindFields(document);
watch((state) => {
  showKind(kindNow());
  showFields(document);
  if (state.version === version) show();
  else look();
  version = state.version;
});
if (page.job && !ended(page.job)) watchJob(page.job).catch((problem) => outcome("alarm", problem.message));
answers();
