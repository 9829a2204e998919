// What every page has: the name of the data set, undo and redo, the drawer with the recipe, and what is wrong with it.

import { startDrawer } from "./drawer.js";
import { byId } from "./elements.js";
import { redo, undo, watch } from "./recipe.js";
import { say } from "./words.js";

function show(state) {
  byId("dataset-name").textContent = state.recipe?.title || state.recipe?.dataset || say("live.no_name");
  byId("version-now").textContent = say("live.version", { version: String(state.version) });
  byId("undo").disabled = !state.can_undo;
  byId("redo").disabled = !state.can_redo;
  byId("problem").hidden = !state.problem;
  byId("problem-text").textContent = state.problem?.message ?? "";
}

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
