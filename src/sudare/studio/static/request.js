// Requests to the server of this page. What it refuses is thrown with its own sentence.

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
  return answered(await reached(address, options));
}

// A server that was stopped is no answer, and no mistake of the request either.
async function reached(address, options) {
  try {
    return await fetch(address, options);
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Refusal(OFFLINE, { message: say("live.offline") });
  }
}

/** The numbers of a grid: little-endian 32-bit floats. */
export async function grid(address) {
  const answer = await reached(address);
  if (!answer.ok) await answered(answer);
  const view = new DataView(await answer.arrayBuffer());
  const values = new Float32Array(view.byteLength / 4);
  for (let place = 0; place < values.length; place += 1) values[place] = view.getFloat32(4 * place, true);
  return values;
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
