// Where the kinds of recipes differ: which keys each has, and what it begins with when it is chosen.

import { current, patch, valueAt } from "./recipe.js";

/** Where each kind declares its columns. */
export const PARTS = { table: "domain", sample: "hierarchies", perturbation: "columns", weights: "columns" };

const OWN = {
  table: [
    ...["domain", "order", "method", "privacy", "public_totals", "estimate", "rehearsal.populated", "rehearsal.concentration", "rehearsal.counts", "rehearsal.domain", "rehearsal.long"],
    ...["data.outside", "data.counts", "data.engine", "data.release", "data.expected_cells", "data.scratch"],
  ],
  sample: ["hierarchies", "sample", "require"],
  perturbation: ["columns", "perturbation"],
  weights: ["public", "columns", "weights"],
};
const BEGINNING = {
  table: { "privacy.epsilon": 1 },
  sample: { "sample.k": 10, "sample.rate": 0.2, "data.max_rows": 1 },
  perturbation: { "perturbation.epsilon": 1 },
  weights: { "weights.epsilon": 1, "public.path": "" },
};
const GEOGRAPHIC = ["geoparquet", "geojson"];

/** The kind of the recipe as it is written. */
export function kindNow() {
  const kind = current().recipe?.kind ?? "table";
  return kind in PARTS ? kind : "table";
}

/** Make the recipe one of another kind: its own keys begin, keys of the others go. One version, so one undo. */
export function chooseKind(kind) {
  const gone = Object.entries(OWN).flatMap(([other, keys]) => (other === kind ? [] : keys));
  // perturbation and weights both have columns, which are written alike.
  const kept = new Set([...OWN[kind], "data.max_rows"]);
  const changes = { kind };
  for (const key of gone) if (!kept.has(key) && valueAt(key) !== undefined) changes[key] = null;
  for (const [key, value] of Object.entries(BEGINNING[kind])) if (valueAt(key) === undefined) changes[key] = value;
  const formats = valueAt("output.formats");
  if (kind !== "table" && formats?.some((name) => GEOGRAPHIC.includes(name))) {
    changes["output.formats"] = formats.filter((name) => !GEOGRAPHIC.includes(name));
  }
  return patch(changes);
}

/** Show what belongs to the kind (data-kind lists kinds), hide the rest. */
export function showKind(kind) {
  for (const element of document.querySelectorAll("[data-kind]")) {
    element.hidden = !element.dataset.kind.split(" ").includes(kind);
  }
}
