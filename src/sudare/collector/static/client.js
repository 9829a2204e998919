// Sudare's client for browsers (and Node): randomises an answer here, and sends the report alone.
//
// A coin shows heads when 16 random bytes, read as one whole number, are below its threshold, so its chance is exactly
// threshold / 2**128; the thresholds come with the survey, rounded to the side that protects. The bytes come from
// crypto.getRandomValues. An answer is randomised once: the report is remembered before it is sent, and whatever
// happens the same report is sent again, because a second one would tell twice as much about the answer.

const PLACES = 128n;
const COIN_BYTES = 16;
const MOST_AT_ONCE = 65536; // crypto.getRandomValues gives no more in one call
const TRIES = 4;
const PAUSE = 500; // milliseconds, doubled at each try

/** Something that cannot be done; `kind` names the message of the catalogue that explains it. */
export class ClientError extends Error {
  constructor(kind, sentence) {
    super(sentence);
    this.kind = kind;
  }
}

/** Fills an array with random bytes that nobody can foresee. */
export function fillRandom(bytes) {
  for (let start = 0; start < bytes.length; start += MOST_AT_ONCE) {
    crypto.getRandomValues(bytes.subarray(start, start + MOST_AT_ONCE));
  }
  return bytes;
}

/** The 16 bytes of a threshold, highest first. */
export function thresholdBytes(text) {
  if (typeof text !== "string" || !/^[0-9a-f]{32}$/.test(text)) {
    throw new ClientError("bad_law", "a threshold is not 32 hexadecimal digits");
  }
  return Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
}

/** Whether the whole number in `bytes` is below the threshold: true with chance threshold / 2**128. */
export function isBelow(bytes, threshold) {
  for (let place = 0; place < COIN_BYTES; place += 1) {
    if (bytes[place] !== threshold[place]) return bytes[place] < threshold[place];
  }
  return false;
}

/** A whole number in [0, bound), all equally likely: words beyond the last multiple of `bound` are drawn again. */
export function uniform(bound, fill) {
  const limit = Math.floor(2 ** 32 / bound) * bound;
  for (;;) {
    const word = fill(new Uint8Array(4)).reduce((number, byte) => number * 256 + byte, 0);
    if (word < limit) return word % bound;
  }
}

/** The report of one answer, a whole number in [0, size), as bytes. */
export function randomise(survey, answer, fill = fillRandom) {
  const { size } = survey.encoding;
  if (!Number.isInteger(answer) || answer < 0 || answer >= size) {
    throw new ClientError("bad_answer", "there is no such answer");
  }
  checkLaw(survey);
  const report = new Uint8Array(survey.report_bytes);
  if (survey.law.kind === "unary") {
    const own = thresholdBytes(survey.law.own);
    const other = thresholdBytes(survey.law.other);
    const random = fill(new Uint8Array(COIN_BYTES * size));
    for (let value = 0; value < size; value += 1) {
      const bytes = random.subarray(COIN_BYTES * value, COIN_BYTES * (value + 1));
      if (isBelow(bytes, value === answer ? own : other)) report[value >> 3] |= 1 << (value & 7);
    }
  } else {
    const change = thresholdBytes(survey.law.change);
    const changed = isBelow(fill(new Uint8Array(COIN_BYTES)), change);
    const step = 1 + uniform(size - 1, fill); // drawn in either case, so that time tells nothing
    let number = changed ? (answer + step) % size : answer;
    for (let place = 0; place < report.length; place += 1) {
      report[place] = number % 256;
      number = Math.floor(number / 256);
    }
  }
  return report;
}

/** The epsilon that the survey's thresholds really have: the logarithm of the largest quotient of two chances. */
export function epsilonOf(survey) {
  const { law, encoding } = survey;
  const whole = 1n << PLACES;
  const number = (text) => {
    thresholdBytes(text);
    return BigInt(`0x${text}`);
  };
  let likely;
  let unlikely;
  if (law?.kind === "unary") {
    const [own, other] = [number(law.own), number(law.other)];
    likely = own * (whole - other);
    unlikely = other * (whole - own);
  } else if (law?.kind === "response") {
    const change = number(law.change);
    likely = (whole - change) * BigInt(encoding.size - 1);
    unlikely = change;
  } else {
    throw new ClientError("no_law", "the survey's encoding cannot be randomised in a browser");
  }
  if (unlikely === 0n) return Infinity;
  return Math.log(Number((likely << 64n) / unlikely) / 2 ** 64);
}

/** Refuses a survey whose thresholds protect less than the epsilon that it shows. */
export function checkLaw(survey) {
  if (!(Math.abs(epsilonOf(survey)) <= survey.epsilon + 1e-9)) {
    throw new ClientError("bad_law", "the survey's thresholds protect less than the epsilon that it shows");
  }
}

/** base64url without padding. */
export function encode(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The answer of a mesh survey at a place in degrees; null where the place is outside. */
export function answerAt(survey, latitude, longitude) {
  const { degrees, places } = survey.answers;
  const row = degrees.north - Math.floor(latitude * degrees.rows + 1e-9);
  const column = Math.floor((longitude - 100) * degrees.columns + 1e-9) - degrees.west;
  const answer = places.findIndex((place) => place[0] === row && place[1] === column);
  return answer < 0 ? null : answer;
}

/** Remembers reports in this browser, or as long as the page is open where the browser keeps nothing. */
class Memory {
  #kept = new Map();

  get(key) {
    try {
      return localStorage.getItem(key) ?? this.#kept.get(key) ?? null;
    } catch {
      return this.#kept.get(key) ?? null;
    }
  }

  set(key, text) {
    this.#kept.set(key, text);
    try {
      localStorage.setItem(key, text);
    } catch {
      // private windows may refuse; the page's own memory has it
    }
  }
}

/** Answers one survey at the collector `url`. */
export class Client {
  constructor(url = "", { memory = new Memory(), fetch = globalThis.fetch, mostEpsilon = Infinity } = {}) {
    this.url = url.replace(/\/$/, "");
    this.memory = memory;
    this.fetch = fetch.bind(globalThis);
    this.mostEpsilon = mostEpsilon;
  }

  /** The survey as the collector has it now. */
  async survey() {
    const response = await this.#request("/survey", {});
    return response.json();
  }

  /** "open", "waiting" (a report was made and is not acknowledged), or "answered". */
  state(survey) {
    const kept = this.memory.get(`sudare:${survey.survey}`);
    if (kept === null) return "open";
    return kept === "answered" ? "answered" : "waiting";
  }

  /** Randomises the answer and sends the report; where one waits from before, sends that one instead. */
  async answer(survey, answer) {
    const key = `sudare:${survey.survey}`;
    if (this.state(survey) === "answered") throw new ClientError("answered", "this survey was answered from here");
    if (!(survey.epsilon <= this.mostEpsilon)) {
      throw new ClientError("weak", "the survey protects less than this client allows");
    }
    if (this.state(survey) === "open") {
      const id = Array.from(fillRandom(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
      const report = encode(randomise(survey, answer));
      this.memory.set(key, JSON.stringify({ survey: survey.survey, id, report }));
    }
    const body = this.memory.get(key);
    await this.#request("/reports", { method: "POST", headers: { "content-type": "application/json" }, body });
    this.memory.set(key, "answered");
    return JSON.parse(body).report;
  }

  async #request(path, options) {
    for (let attempt = 1; ; attempt += 1) {
      let response = null;
      try {
        response = await this.fetch(this.url + path, { ...options, credentials: "omit", cache: "no-store" });
      } catch {
        // no connection: try again below
      }
      if (response?.ok) return response;
      const passing = response === null || response.status === 429 || response.status === 503;
      if (!passing || attempt === TRIES) {
        const kind = { 409: "changed", 429: "busy", 503: "busy" }[response?.status] ?? (response ? "refused" : "offline");
        const said = response ? (await response.json().catch(() => ({}))).error : null;
        throw new ClientError(kind, said ?? "the collector cannot be reached");
      }
      await new Promise((done) => setTimeout(done, PAUSE * 2 ** (attempt - 1)));
    }
  }
}
