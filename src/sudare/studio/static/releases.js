// A release in the workspace: its files, its report, and what verifying it finds.

import { make } from "./elements.js";
import { complain } from "./notices.js";
import { ask } from "./request.js";
import { say } from "./words.js";

/** The page that shows a release's public report, or null. */
export function reportOf(release) {
  return release.report ? `/report#${new URLSearchParams({ file: release.report })}` : null;
}

/** Show the report `file` in `frame`: without the studio's rights, by an address that works once. */
export async function showReport(frame, file) {
  try {
    frame.src = await addressOf(file);
    frame.hidden = false;
  } catch (problem) {
    complain(problem);
  }
}

/** Buttons that download the files of a release. */
export function fileLinks(folder, files) {
  return files.map((file) => {
    const download = () => take(`${folder}/${file}`, file).catch(complain);
    return make("li", {}, make("button", { type: "button", class: "link", onclick: download }, file));
  });
}

async function take(file, name) {
  make("a", { href: await addressOf(file), download: name }).click();
}

/** An address of a file of a release that works once: a browser asks for frames and downloads without the session. */
export async function addressOf(file) {
  return (await ask("POST", "/api/tickets", { file })).address;
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
