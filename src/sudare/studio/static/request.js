// Requests to the server of this page. What it refuses is thrown with its own sentence.

import { calm, complain } from "./notices.js";
import { session } from "./session.js";
import { say } from "./words.js";

/** The status of no answer at all. */
export const OFFLINE = 0;

export class Refusal extends Error {
  constructor(status, error) {
    super(error.message ?? error.what ?? `${status}`);
    this.status = status;
    this.error = error;
  }
}

/** The JSON of an answer; a file is sent as it is, any other `body` as JSON. */
export async function ask(method, address, body, signal) {
  const options = { method, signal, headers: { Accept: "application/json" } };
  if (body instanceof File) {
    options.headers["Content-Type"] = "application/octet-stream";
    options.body = body;
  } else if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const found = await answered(await reached(address, options));
  if (method !== "GET") calm();
  return found;
}

/** What a page begins with; where it is refused, the page says so and goes no further. */
export function begin(address) {
  return ask("GET", address).catch((problem) => {
    complain(problem);
    return new Promise(() => undefined);
  });
}

/** A picture that the server draws, as an address of this tab alone; whoever shows it gives it back when it is there. */
export async function picture(address) {
  return URL.createObjectURL(await (await content(address)).blob());
}

// A server that was stopped is no answer, and no mistake of the request either.
async function reached(address, options = {}) {
  const headers = { ...options.headers, Authorization: `Bearer ${session}` };
  try {
    return await fetch(address, { ...options, headers });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Refusal(OFFLINE, { message: say("live.offline") });
  }
}

async function content(address) {
  const answer = await reached(address);
  if (!answer.ok) await answered(answer);
  return answer;
}

async function answered(answer) {
  const text = await answer.text();
  let content = null;
  try {
    content = text ? JSON.parse(text) : null;
  } catch {
    content = { error: { message: `${answer.status} ${answer.statusText}` } };
  }
  if (!answer.ok) throw new Refusal(answer.status, content?.error ?? { message: answer.statusText });
  return content;
}
