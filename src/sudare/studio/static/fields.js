// Fields of the recipe: a control with data-path="dotted.path" shows the value there, and changing it makes a version.
// An emptied control removes its key, so that the default holds; data-default is shown while no recipe says which.

import { defaultAt, patch, valueAt } from "./recipe.js";
import { say } from "./words.js";

const READERS = {
  text: (text) => text.trim() || null,
  integer: (text) => (text.trim() === "" ? null : wholeNumber(text.trim())),
  number: (text) => (text.trim() === "" ? null : finite(text.trim())),
  numbers: (text) => orNothing(parts(text).map(finite)),
  edges: (text) => orNothing(parts(text).map((part) => (part === "open" || part === "∞" ? "open" : finite(part)))),
  values: (text) => orNothing(allWhole(lines(text)) ? lines(text).map(Number) : lines(text)),
  words: (text) => orNothing(lines(text)),
};

/** Make every control under `root` a field; data-clears names keys, with spaces between, that a change removes. */
export function bindFields(root) {
  for (const control of root.querySelectorAll("[data-path]")) {
    control.addEventListener("change", () => changed(control));
    if (control.matches("input:not([type=checkbox], [type=radio])")) {
      // Enter means "done" and must not reload the page.
      control.addEventListener("keydown", (event) => event.key === "Enter" && changed(control));
    }
  }
  for (const hint of root.querySelectorAll(".field > .hint")) describe(hint);
  showFields(root);
}

// A hint is no part of a control's name, but is read out after it.
let hints = 0;

function describe(hint) {
  const control = hint.parentElement.querySelector("input, select, textarea");
  if (!hint.id) hint.id = `hint-${(hints += 1)}`;
  control?.setAttribute("aria-describedby", hint.id);
}

/** Show the newest values; what is being typed is left alone. */
export function showFields(root) {
  for (const control of root.querySelectorAll("[data-path]")) {
    if (control === document.activeElement && control.dataset.shown !== written(control)) continue;
    const value = valueAt(control.dataset.path) ?? defaultAt(control.dataset.path) ?? control.dataset.default;
    if (control.type === "checkbox") control.checked = checkedBy(control, value);
    else if (control.type === "radio") control.checked = String(value) === control.value;
    else rewrite(control, shown(value, control.dataset.type));
    control.dataset.shown = written(control);
    mark(control, "");
  }
}

/** Put a value into a control; one that was selected whole, to be typed over, stays selected. */
export function rewrite(control, text) {
  if (control.value === text) return;
  const { selectionStart, selectionEnd, value } = control;
  control.value = text;
  if (control === document.activeElement && selectionStart === 0 && selectionEnd === value.length) control.select();
}

function changed(control) {
  if (control.dataset.shown === written(control)) return;
  let value;
  try {
    value = read(control);
  } catch (problem) {
    mark(control, problem.message);
    return;
  }
  mark(control, "");
  control.dataset.shown = written(control);
  const cleared = (control.dataset.clears ?? "").split(" ").filter((path) => path && valueAt(path) !== undefined);
  patch({ ...Object.fromEntries(cleared.map((path) => [path, null])), [control.dataset.path]: value });
}

function read(control) {
  if (control.type === "checkbox" && control.dataset.member) {
    const before = valueAt(control.dataset.path) ?? control.dataset.default.split(",");
    const { member } = control.dataset;
    return control.checked ? [...before, member] : before.filter((one) => one !== member);
  }
  if (control.type === "checkbox") return control.checked;
  if (control.type === "radio") return control.value || null;
  return READERS[control.dataset.type ?? "text"](control.value);
}

function written(control) {
  return control.type === "checkbox" || control.type === "radio" ? String(control.checked) : control.value;
}

function checkedBy(control, value) {
  if (!control.dataset.member) return value === true || value === "true";
  return (Array.isArray(value) ? value : String(value).split(",")).includes(control.dataset.member);
}

function shown(value, type) {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.join(type === "values" || type === "words" ? "\n" : ", ");
  return String(value);
}

function mark(control, message) {
  control.setCustomValidity?.(message);
  control.toggleAttribute("aria-invalid", message !== "");
  if (message) control.reportValidity?.();
}

function parts(text) {
  return text.split(/[\s,、，]+/).filter(Boolean);
}

function lines(text) {
  return text.split(/\n/).map((line) => line.trim()).filter(Boolean);
}

function allWhole(texts) {
  return texts.every((text) => /^-?(0|[1-9]\d*)$/.test(text));
}

function orNothing(list) {
  return list.length ? list : null;
}

function wholeNumber(text) {
  if (!/^-?\d+$/.test(text)) throw new Error(say("live.field.whole"));
  return Number(text);
}

function finite(text) {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error(say("live.field.number"));
  return value;
}
