// What is known about the data beforehand: the public table that forecasts rest on is one of the files here.

import { make } from "./elements.js";

/** Offer the files and earlier releases of the workspace, beside what the recipe names. */
export function showPublicTables(names) {
  const list = document.getElementById("public-tables");
  list?.replaceChildren(...names.map((name) => make("option", { value: name })));
}
