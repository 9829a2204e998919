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

/** Remarks of a plan, in the language of the page; without a cap, the bar says so in its place. */
export function remarks(page, left_out = []) {
  const hidden = ["no_cap", ...left_out];
  const chosen = page.remarks_shown.filter((_, place) => !hidden.includes(page.remarks_about[place]));
  return chosen.map((text) => make("p", { class: "box warning" }, text));
}

/** Only those remarks that do not speak of files. */
export function budgetRemarks(page) {
  return remarks(page, ["folder", "data"]);
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
