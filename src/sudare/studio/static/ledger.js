// The Ledger page: what each data set has left, every row of the books, and releases that can be verified.

import "./frame.js";
import { answers, byId, facts, make, meterBar, smallButton, table } from "./elements.js";
import { reportOf, verify } from "./releases.js";
import { begin } from "./request.js";
import { percent, say } from "./words.js";

const page = await begin("/api/ledger");

function balanceOf(balance) {
  const share = balance.spent_share;
  const key = ["spent", "left"].map((name) => [name, say(`live.books.${name}`)]);
  const parts = [[share > 1 ? "over" : "spent", Math.min(share, 1)]];
  const bar = share === null ? [] : [meterBar(say("live.ledger.bar", { spent: percent(share) }), parts, key)];
  const lines = balance.facts.slice(1).map(({ name, value }) => [name, value]);
  return make("div", {}, make("h3", {}, balance.dataset), ...bar, facts(lines));
}

function releaseOf(release) {
  const { folder } = release;
  const check = () => verify(folder, byId("findings"));
  const button = smallButton(say("live.verify"), say("live.verify.named", { release: folder }), check);
  const address = reportOf(release);
  const link = { href: address, target: "_blank", rel: "noopener" };
  const report = address ? make("a", link, say("live.ledger.report")) : "";
  const name = make("p", {}, make("b", {}, release.title || release.dataset));
  const line = make("p", { class: "soft" }, `${folder} · ${release.release_id} · `, report);
  return make("li", {}, make("div", {}, name, line), button);
}

function rowOf(entry) {
  return [String(entry.row), entry.when, entry.dataset, entry.what, entry.amount, `${entry.hash.slice(0, 12)}…`];
}

function booksState() {
  if (page.problem) return make("p", { class: "box alarm" }, page.problem.message);
  if (!page.entries.length) return make("p", { class: "soft" }, say("live.ledger.empty"));
  return make("p", { class: "box good" }, say("live.ledger.whole", { rows: page.entries.length }));
}

byId("problems").replaceChildren(booksState());
byId("balance").replaceChildren(...page.balances.map(balanceOf));
byId("releases").replaceChildren(...page.releases.map(releaseOf));
byId("no-releases").hidden = page.releases.length > 0;
if (page.entries.length) {
  const header = ["row", "time", "dataset", "what", "amount", "hash"].map((name) => say(`live.ledger.${name}`));
  byId("history").replaceChildren(table(say("live.ledger.caption"), header, page.entries.map(rowOf)));
  byId("history").querySelector("table").classList.remove("numbers");
}
answers();
