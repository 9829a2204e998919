// The recipe file is the state. Here is what the page knows of it: the newest version seen, and how to change it.

import { ask, begin } from "./request.js";
import { say } from "./words.js";
import { notify } from "./notices.js";

let state = await begin("/api/state");
const listeners = new Set();
const tabs = "BroadcastChannel" in window ? new BroadcastChannel("sudare-studio") : null;
let queue = Promise.resolve();

/** The newest version that this page has seen. */
export function current() {
  return state;
}

/** Call `listener` with the state now and whenever it changes. */
export function watch(listener) {
  listeners.add(listener);
  listener(state);
}

/** The dotted path of these names; a name with other signs than letters, digits, - and _ is quoted, as in TOML. */
export function pathOf(...names) {
  return names.map((name) => (/^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name))).join(".");
}

/** The value at a dotted path of the recipe, or undefined. */
export function valueAt(path) {
  return along(state.recipe, path);
}

/** The value at a path where the recipe leaves it to its default; undefined while the recipe is not valid. */
export function defaultAt(path) {
  return along(state.effective, path);
}

/** Change single values: {"dotted.path": value or null}. */
export function patch(changes) {
  return change("PATCH", "/api/recipe", () => ({ changes, based_on: state.version }));
}

/** Replace the whole text; `basedOn` is the version that it was written from. */
export function save(text, basedOn) {
  return change("PUT", "/api/recipe", () => ({ text, based_on: basedOn }));
}

export function undo() {
  return change("POST", "/api/undo", () => ({ based_on: state.version }));
}

export function redo() {
  return change("POST", "/api/redo", () => ({ based_on: state.version }));
}

/** Go to an earlier version, as a new one. */
export function goTo(version) {
  return change("POST", `/api/versions/${version}`, () => ({ based_on: state.version }));
}

/** Resolves when every change so far has been answered: what starts work on the recipe waits for it. */
export function settled() {
  return queue;
}

/** Ask whether another tab was faster. */
export async function refresh() {
  const newest = await ask("GET", "/api/state");
  if (newest.version !== state.version) accept(newest);
}

// One change after the other: each is based on the version that the one before it made.
function change(method, address, body) {
  const done = queue.then(() => send(method, address, body()));
  queue = done.catch(() => undefined);
  return done;
}

async function send(method, address, body) {
  try {
    accept(await ask(method, address, body));
    tabs?.postMessage(state.version);
    return true;
  } catch (problem) {
    if (problem.status === 409 && (await refresh().then(() => true, () => false))) {
      notify(say("live.stale", { version: state.version }), "warning");
    } else notify(problem.message, "alarm");
    for (const listener of listeners) listener(state);
    return false;
  }
}

function along(part, path) {
  const names = path.match(/"(?:[^"\\]|\\.)*"|[^.]+/g).map((name) => (name.startsWith('"') ? JSON.parse(name) : name));
  return names.reduce((inner, name) => inner?.[name], part ?? undefined);
}

function accept(newest) {
  state = newest;
  for (const listener of listeners) listener(state);
}

tabs?.addEventListener("message", () => refresh().catch(() => undefined));
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") refresh().catch(() => undefined);
});
