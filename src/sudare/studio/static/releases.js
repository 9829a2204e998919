// A release in the workspace: its files, its report, and what verifying it finds.

import { make } from "./elements.js";
import { complain } from "./notices.js";
import { ask } from "./request.js";
import { say } from "./words.js";

/** The address of a file of a release. */
export function addressOf(folder, file) {
  return `/releases/${[...folder.split("/"), file].map(encodeURIComponent).join("/")}`;
}

/** The address of a release's public report, or null. */
export function reportOf(release) {
  return release.report ? addressOf(release.folder, release.report.split("/").at(-1)) : null;
}

/** Links to all files of a release. */
export function fileLinks(folder, files) {
  return files.map((file) => make("li", {}, make("a", { href: addressOf(folder, file), download: file }, file)));
}

/** Verify a release from its public bytes, and say into `place` what was found. */
export async function verify(folder, place) {
  try {
    const found = await ask("POST", "/api/verify", { release: folder });
    const gaps = { release: folder, problem: found.problem?.message };
    const text = make("b", {}, say(found.ok ? "live.verify.good" : "live.verify.bad", gaps));
    const checks = make("ul", {}, ...found.checks.map((check) => make("li", {}, check)));
    place.replaceChildren(make("div", { class: `box findings ${found.ok ? "good" : "alarm"}` }, text, checks));
    place.dataset.verified = String(found.ok);
  } catch (problem) {
    complain(problem);
  }
}
