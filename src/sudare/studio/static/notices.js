// Short notices at the foot of the page, read out by screen readers; alarms stay until they are closed, or the next thing succeeds.

import { byId, make } from "./elements.js";
import { say } from "./words.js";

const SHOWN_FOR = 6000;

/** Show what went wrong. */
export function complain(problem) {
  notify(problem.message, "alarm");
}

/** Take alarms away: the next thing has succeeded. */
export function calm() {
  for (const notice of byId("notices").querySelectorAll(".alarm, .warning")) notice.remove();
}

/** Show a sentence; `kind` is "good", "warning" or "alarm". */
export function notify(text, kind = "good") {
  const close = make("button", { type: "button", class: "quiet", "aria-label": say("live.close") }, "×");
  const notice = make("div", { class: `notice ${kind}` }, make("p", {}, text), close);
  close.addEventListener("click", () => notice.remove());
  byId("notices").replaceChildren(notice);
  if (kind === "good") setTimeout(() => notice.remove(), SHOWN_FOR);
}
