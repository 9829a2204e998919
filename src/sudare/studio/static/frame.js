// What every page has: the name of the data set, undo and redo, the drawer with the recipe, and what is wrong with it.

import { startDrawer } from "./drawer.js";
import { byId } from "./elements.js";
import { current, pathOf, redo, undo, watch } from "./recipe.js";
import { say } from "./words.js";

function show(state) {
  byId("dataset-name").textContent = state.recipe?.title || state.recipe?.dataset || say("live.no_name");
  byId("version-now").textContent = say("live.version", { version: String(state.version) });
  byId("undo").disabled = !state.can_undo;
  byId("redo").disabled = !state.can_redo;
  byId("problem").hidden = !state.problem;
  byId("problem-text").textContent = state.problem?.message ?? "";
  nameControl();
}

// The control that a problem is about, by the label that it has on this page; pressing it leads there.
function nameControl() {
  const place = current().problem?.place ?? [];
  const paths = place.map((_, left) => pathOf(...place.slice(0, place.length - left)));
  const found = paths.map((path) => document.querySelector(`[data-path="${CSS.escape(path)}"]`)).find(Boolean);
  const label = found?.closest(".field, .tick")?.querySelector(".name, span")?.textContent;
  byId("problem-control").hidden = !label;
  byId("problem-control").textContent = label ?? "";
  byId("problem-control").onclick = () => {
    for (let inside = found; inside; inside = inside.parentElement?.closest("details")) if (inside.tagName === "DETAILS") inside.open = true;
    found.focus();
  };
}

// Controls of the declared parts are there when the page is.
new MutationObserver(nameControl).observe(document.documentElement, { attributeFilter: ["data-ready"] });

// A text field has an undo of its own, which must not be taken from it.
function isEditing(element) {
  return element.matches("textarea, input:not([type=range], [type=radio], [type=checkbox]), select");
}

byId("undo").addEventListener("click", undo);
byId("redo").addEventListener("click", redo);
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey) || isEditing(event.target)) return;
  event.preventDefault();
  (event.shiftKey ? redo : undo)();
});
startDrawer();
watch(show);
