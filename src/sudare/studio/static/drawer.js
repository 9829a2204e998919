// The recipe itself, beside every page: its text can be edited at any time, and every earlier version is there.

import { byId, make, smallButton } from "./elements.js";
import { current, goTo, save, watch } from "./recipe.js";
import { known, moment, say } from "./words.js";

const OPEN = "sudare-studio-recipe";
const drawer = byId("recipe");
const button = byId("show-recipe");
const text = byId("recipe-text");
let basedOn = 0;
let kept = text.value;

function open(shown, focus = true) {
  drawer.hidden = !shown;
  document.body.classList.toggle("with-recipe", shown);
  button.setAttribute("aria-expanded", String(shown));
  sessionStorage.setItem(OPEN, shown ? "yes" : "");
  if (focus) (shown ? text : button).focus();
  if (shown) {
    text.setSelectionRange(0, 0);
    text.scrollTop = 0;
  }
}

// The newest text into the field, which has line ends of its own.
function take() {
  text.value = current().text;
  kept = text.value;
  basedOn = current().version;
}

function edited() {
  return text.value !== kept;
}

function showEditing() {
  const changed = edited();
  byId("recipe-save").disabled = !changed;
  byId("recipe-revert").disabled = !changed;
  byId("recipe-edited").hidden = !changed;
  byId("recipe-newer").hidden = !changed || basedOn === current().version;
}

function show(state) {
  if (!edited()) take();
  byId("recipe-lead").textContent = say("live.recipe.lead", { file: state.file_name });
  byId("recipe-newer").textContent = say("live.recipe.newer", { version: state.version });
  byId("recipe-problem").textContent = state.problem?.message ?? "";
  byId("recipe-problem").hidden = !state.problem;
  byId("versions").replaceChildren(...state.versions.map((one) => versionRow(one, state.version)));
  showEditing();
}

function versionRow(one, newest) {
  const version = String(one.version);
  const line = make("p", {}, make("b", {}, say("live.version", { version })), ` ${one.keys.length && one.change === "edit" ? one.keys.join(", ") : known("live.change", one.change)}`);
  const time = make("p", { class: "soft" }, moment(one.when), one.valid ? "" : ` · ${say("live.version.invalid")}`);
  const go = () => goTo(one.version);
  const back =
    one.version === newest
      ? make("span", { class: "soft" }, say("live.version.now"))
      : smallButton(say("live.version.back"), say("live.version.back_to", { version }), go);
  return make("li", {}, make("div", {}, line, time), back);
}

async function keep() {
  if (!edited()) return;
  const sent = text.value;
  // A newer version is written over only after the notice about it was on the screen.
  const over = byId("recipe-newer").hidden ? basedOn : current().version;
  if (await save(sent, over)) {
    take();
  }
  showEditing();
}

function revert() {
  take();
  showEditing();
}

/** Make the drawer work. */
export function startDrawer() {
  button.addEventListener("click", () => open(drawer.hidden));
  byId("recipe-close").addEventListener("click", () => open(false));
  byId("recipe-save").addEventListener("click", keep);
  byId("recipe-revert").addEventListener("click", revert);
  text.addEventListener("input", showEditing);
  drawer.addEventListener("keydown", (event) => {
    if (event.key === "Escape") open(false);
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      keep();
    }
  });
  window.addEventListener("beforeunload", (event) => edited() && event.preventDefault());
  watch(show);
  if (sessionStorage.getItem(OPEN)) open(true, false);
}
