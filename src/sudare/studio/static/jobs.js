// Long work on the server: started, followed until it ends, and cancelled while nothing has been spent.

import { notify } from "./notices.js";
import { ask, OFFLINE } from "./request.js";
import { percent, say } from "./words.js";

const PAUSE = 300;
const ENDED = ["done", "failed", "cancelled"];

/** Follow the job `id`; `show` gets every state of it. Resolves with the last one. */
export async function follow(id, show) {
  for (;;) {
    const job = await ask("GET", `/api/jobs/${id}`).catch(unlessOffline);
    if (job) show(job);
    if (job && ENDED.includes(job.state)) return job;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

// A job goes on without the server: as soon as one answers again, so does the page.
function unlessOffline(problem) {
  if (problem.status !== OFFLINE) throw problem;
  notify(problem.message, "alarm");
  return null;
}

/** Ask the server to stop a job; refused once something was spent. */
export function cancel(id) {
  return ask("DELETE", `/api/jobs/${id}`);
}

/** Whether a job is over. */
export function ended(job) {
  return ENDED.includes(job.state);
}

/** Progress in words. */
export function stageWords(job) {
  if (job.state === "waiting") return say("live.job.waiting");
  return job.fraction ? `${job.stage} (${percent(Math.round(100 * job.fraction) / 100)})` : job.stage;
}

/** Put a job's progress into an element with a bar and a line of text. */
export function showProgress(place, job) {
  place.hidden = ended(job);
  const bar = place.querySelector("progress");
  if (job.fraction === null || job.fraction === undefined) bar.removeAttribute("value");
  else bar.value = job.fraction;
  const text = stageWords(job);
  const line = place.querySelector("[data-stage]");
  if (line.textContent !== text) line.textContent = text;
  const stop = place.querySelector("button");
  stop.disabled = !job.can_cancel;
  stop.dataset.label ??= stop.textContent;
  stop.textContent = job.can_cancel ? stop.dataset.label : say("live.job.too_late");
}
