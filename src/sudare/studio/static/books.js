// What the ledger says of a data set: a bar of what is spent, what this release would add, and what is left.

import { facts, make, meterBar } from "./elements.js";
import { percent, say } from "./words.js";

/** The bar and its key; `books` as the server gives them. */
export function meter(books) {
  if (typeof books.spent_share !== "number") return make("p", { class: "box warning" }, say("live.books.no_cap"));
  const spent = Math.min(books.spent_share, 1);
  const enough = typeof books.after_share === "number";
  const added = enough ? Math.max(0, Math.min(books.after_share, 1) - spent) : 1 - spent;
  const description = say("live.books.bar", { spent: percent(spent), after: percent(spent + added) });
  const key = ["spent", "this", "left"].map((name) => [name, say(`live.books.${name}`)]);
  return meterBar(description, [["spent", spent], [enough ? "this" : "over", added]], key);
}

const OTHER = { folder: /^the output folder exists already: (.+)$/, data: /^the data are not there yet: (.+)$/ };

const NO_CAP = /has no cap in the ledger/; // the bar says so in its place

/** Remarks of a plan, in the language of the page: those that `wanted` takes. */
export function remarks(page, wanted = () => true) {
  const chosen = page.remarks.map((text, place) => [text, page.remarks_shown[place]]);
  return chosen.filter(([text]) => wanted(text) && !NO_CAP.test(text)).map(([text, shown]) => {
    const known = Object.entries(OTHER).find(([, pattern]) => pattern.test(text));
    const said = known ? say(`live.remark.${known[0]}`, { name: known[1].exec(text)[1] }) : shown;
    return make("p", { class: "box warning" }, said);
  });
}

/** Only those remarks that speak of the budget. */
export function budgetRemarks(page) {
  return remarks(page, (text) => !Object.values(OTHER).some((pattern) => pattern.test(text)));
}

/** Cost, cap, and what is left before and after. */
export function booksTable(books) {
  const none = say("live.books.none");
  const after = books.enough ? (books.after ?? none) : books.cap ? say("live.books.refused") : none;
  return facts([
    [say("live.books.cost"), books.cost],
    [say("live.books.cap"), books.cap ?? none],
    [say("live.books.before"), books.left ?? books.cap ?? none],
    [say("live.books.after"), after],
  ]);
}
