// Sudare's client for browsers (and Node): randomises an answer here, and sends the report alone.
//
// A coin shows heads when 16 random bytes, read as one whole number, are below its threshold, so its chance is exactly
// threshold / 2**128; the thresholds come with the survey, rounded to the side that protects. The bytes come from
// crypto.getRandomValues. An answer is randomised once: the report is remembered before it is sent, and whatever
// happens the same report is sent again, because a second one would tell twice as much about the answer.
//
// The device keeps its own account of what all surveys have cost (`sudare:spent`), charges a survey before its report is
// made, and refuses those that cost too much. A survey must be signed by its collector's key, which is given or is
// remembered at first sight, and its fingerprint must be that of the very texts that it shows.

const PLACES = 128n;
const COIN_BYTES = 16;
const MOST_AT_ONCE = 65536; // crypto.getRandomValues gives no more in one call
const TRIES = 4;
const PAUSE = 500; // milliseconds, doubled at each try
const YEAR = 365 * 86400 * 1000; // milliseconds
export const MOST_EPSILON = 2; // of one survey
export const MOST_A_YEAR = 8; // of all surveys together

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

/** Coins for all answers, packed like a report: threshold `own` for the answer, `other` for each of the others. */
function coins(size, answer, own, other, fill) {
  const bits = new Uint8Array(Math.ceil(size / 8));
  const [mine, others] = [thresholdBytes(own), thresholdBytes(other)];
  const random = fill(new Uint8Array(COIN_BYTES * size));
  for (let value = 0; value < size; value += 1) {
    const bytes = random.subarray(COIN_BYTES * value, COIN_BYTES * (value + 1));
    if (isBelow(bytes, value === answer ? mine : others)) bits[value >> 3] |= 1 << (value & 7);
  }
  return bits;
}

/** The questions of a survey, each as a survey of its own. */
function partsOf(survey) {
  if (survey.law?.kind !== "several") return [survey];
  return survey.law.parts.map((law, place) => ({ law, encoding: survey.encoding.questions[place] }));
}

function bytesOfReport({ law, encoding }) {
  if (law.kind !== "response") return Math.ceil(encoding.size / 8) * (encoding.buckets ? 2 : 1);
  let bytes = 1;
  while (256 ** bytes < encoding.size) bytes += 1;
  return bytes;
}

/**
 * The report of an answer, a whole number in [0, size), as bytes; of several questions, the answers as a list. `values`
 * are the permanent answers that the device remembers, by answer (as text): new ones are added.
 */
export function randomise(survey, answer, fill = fillRandom, values = {}) {
  checkLaw(survey);
  const [parts, answers] = [partsOf(survey), answersTo(survey, answer)];
  return Uint8Array.from(parts.flatMap((part, place) => [...reportOf(part, answers[place], fill, values)]));
}

/** The answer to each question; refuses what is none. */
function answersTo(survey, answer) {
  const parts = partsOf(survey);
  const answers = survey.law.kind === "several" ? answer : [answer];
  const known = (part, place) => Number.isInteger(answers[place]) && answers[place] >= 0 && answers[place] < part.encoding.size;
  if (!Array.isArray(answers) || answers.length !== parts.length || !parts.every(known)) {
    throw new ClientError("bad_answer", "there is no such answer");
  }
  return answers;
}

function reportOf(survey, answer, fill, values) {
  const { law, encoding } = survey;
  const { size } = encoding;
  if (law.kind === "unary") return coins(size, answer, law.own, law.other, fill);
  if (law.kind === "permanent") {
    let bits = remember(survey, answer, values, fill);
    if (law.flip) bits = coins(size, -1, law.flip, law.flip, fill).map((flips, place) => flips ^ bits[place]);
    if (!encoding.buckets) return bits;
    const asked = decode(values.asked);
    return Uint8Array.from([...asked, ...bits.map((byte, place) => byte & asked[place])]);
  }
  const report = new Uint8Array(bytesOfReport(survey));
  const changed = isBelow(fill(new Uint8Array(COIN_BYTES)), thresholdBytes(law.change));
  const step = 1 + uniform(size - 1, fill); // drawn in either case, so that time tells nothing
  let number = changed ? (answer + step) % size : answer;
  for (let place = 0; place < report.length; place += 1) {
    report[place] = number % 256;
    number = Math.floor(number / 256);
  }
  return report;
}

/**
 * The permanent bits of an answer: the old ones where `values` has them, else drawn now. With buckets a device answers
 * for some of the answers alone, which it draws once; all others are the one value "none".
 */
function remember({ law, encoding }, answer, values, fill) {
  const { size, buckets } = encoding;
  if (buckets) values.asked ??= encode(someOf(size, buckets, fill));
  const asked = buckets ? decode(values.asked) : null;
  const state = !asked || (asked[answer >> 3] >> (answer & 7)) & 1 ? answer : "none";
  const drawn = () => coins(size, state, law.own, law.other, fill).map((byte, place) => (asked ? byte & asked[place] : byte));
  values[state] ??= encode(drawn());
  return decode(values[state]);
}

/** A set of `number` values in [0, size), all sets equally likely (Floyd), one bit for each value. */
function someOf(size, number, fill) {
  const bits = new Uint8Array(Math.ceil(size / 8));
  for (let last = size - number; last < size; last += 1) {
    const drawn = uniform(last + 1, fill);
    const place = (bits[drawn >> 3] >> (drawn & 7)) & 1 ? last : drawn;
    bits[place >> 3] |= 1 << (place & 7);
  }
  return bits;
}

/** The epsilon that the survey's thresholds really have: the logarithm of the largest quotient of two chances. */
export function epsilonOf(survey) {
  const { law, encoding } = survey;
  if (law?.kind === "several") return partsOf(survey).reduce((sum, part) => sum + epsilonOf(part), 0);
  const whole = 1n << PLACES;
  const number = (text) => {
    thresholdBytes(text);
    return BigInt(`0x${text}`);
  };
  let likely;
  let unlikely;
  if (law?.kind === "unary" || law?.kind === "permanent") {
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

/** What taking part in all rounds costs, at most: one epsilon a round, or one for each value that may be remembered. */
export function costOf(survey) {
  const { of, changes } = survey.rounds ?? { of: 1, changes: 0 };
  const values = survey.law?.kind === "permanent" ? Math.min(changes + 1, (survey.encoding.buckets ?? of) + 1) : of;
  return survey.epsilon * Math.min(values, of);
}

/** Refuses a survey whose thresholds protect less than the epsilon that it shows. */
export function checkLaw(survey) {
  if (!(Math.abs(epsilonOf(survey)) <= survey.epsilon + 1e-9)) {
    throw new ClientError("bad_law", "the survey's thresholds protect less than the epsilon that it shows");
  }
}

/** Which answers to each question a report marks: all that it says. */
export function marked(survey, report) {
  let rest = decode(report);
  return partsOf(survey).map((part) => {
    const { law, encoding } = part;
    const length = bytesOfReport(part);
    const bytes = rest.subarray(encoding.buckets ? length / 2 : 0, length);
    rest = rest.subarray(length);
    if (law.kind === "response") return [bytes.reduceRight((number, byte) => number * 256 + byte, 0)];
    return Array.from({ length: encoding.size }, (_, value) => value).filter((value) => (bytes[value >> 3] >> (value & 7)) & 1);
  });
}

/** The bytes of base64url. */
export function decode(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

const bytesOf = (hexadecimal) => Uint8Array.from(hexadecimal.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** 32 hexadecimal digits of a text's hash. */
async function digest(text) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Refuses a survey whose fingerprint is not that of the texts it shows. */
export async function checkIdentity(survey) {
  const found = await digest(survey.identity);
  const said = JSON.parse(survey.identity);
  const listed = ({ questions, ...one }) => (questions ?? [one]).map((each) => [each.name, each.question, each.attribute]);
  const shown = [survey.name, survey.question, survey.title, listed(survey.answers), survey.encoding, survey.translations, survey.rounds];
  const meant = [said.name, said.question, said.texts.title, listed(said.answers), said.privacy, said.texts.translations, said.rounds];
  if (found !== survey.survey || sorted(shown) !== sorted(meant) || survey.account !== (await accountOf(survey))) {
    throw new ClientError("unsigned", "the survey shows other texts than its fingerprint covers");
  }
}

/** What the device's own account books once: all rounds of a series together, else the survey. */
async function accountOf({ survey, rounds, encoding }) {
  if (!rounds) return survey;
  return digest(pythonText([rounds.series, rounds.of, rounds.changes, encoding]));
}

/** JSON as Python writes it with sorted keys: the collector's Python and this page hash the same text. */
function pythonText(value) {
  if (Array.isArray(value)) return `[${value.map(pythonText).join(", ")}]`;
  if (value && typeof value === "object") {
    return `{${Object.keys(value).sort().map((key) => `${pythonText(key)}: ${pythonText(value[key])}`).join(", ")}}`;
  }
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function sorted(value) {
  const order = (_, item) =>
    item && typeof item === "object" && !Array.isArray(item) ? Object.fromEntries(Object.entries(item).sort()) : item;
  return JSON.stringify(value, order);
}

/** base64url without padding. */
export function encode(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The one of the `answers` (meshes) at a place in degrees; null where the place is outside. */
export function answerAt({ degrees, places }, latitude, longitude) {
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

/** The surveys that were answered on one charge, and this one; a charge from before has no list. */
function takenWith({ taken }, { survey }) {
  return [...new Set(taken).add(survey)];
}

/**
 * Answers surveys at the collector `url`. `key` is the collector's public key (64 hexadecimal digits); without it, the
 * first one that is seen is remembered. A survey that costs more than `mostEpsilon`, or with which all surveys of a
 * year would cost more than `mostAYear`, is refused.
 */
export class Client {
  constructor(url = "", options = {}) {
    const { memory = new Memory(), fetch = globalThis.fetch, key = null, now = Date.now } = options;
    this.url = url.replace(/\/$/, "");
    this.memory = memory;
    this.fetch = fetch.bind(globalThis);
    this.key = key;
    this.now = now;
    this.mostEpsilon = options.mostEpsilon ?? MOST_EPSILON;
    this.mostAYear = options.mostAYear ?? MOST_A_YEAR;
  }

  /** The survey as the collector has it now; its signature and its fingerprint are checked. */
  async survey() {
    const response = await this.#request("/survey", {});
    const body = new Uint8Array(await response.arrayBuffer());
    const survey = JSON.parse(new TextDecoder().decode(body));
    if (globalThis.crypto.subtle) {
      const [key, signature] = ["sudare-key", "sudare-signature"].map((name) => response.headers.get(name) ?? "");
      const pinned = this.key ?? this.memory.get(`sudare:key:${this.url}`) ?? key;
      const imported = await crypto.subtle.importKey("raw", bytesOf(pinned), "Ed25519", false, ["verify"]).catch(() => null);
      const signed = imported && (await crypto.subtle.verify("Ed25519", imported, bytesOf(signature), body));
      if (!signed) throw new ClientError("unsigned", "the survey is not signed with the collector's key");
      this.memory.set(`sudare:key:${this.url}`, pinned);
      await checkIdentity(survey);
    } else if (this.key) {
      throw new ClientError("insecure", "signatures can be checked only on pages that came by https");
    }
    return survey;
  }

  /** "open", "waiting" (a report was made and is not acknowledged), or "answered". */
  state(survey) {
    const kept = this.memory.get(`sudare:${survey.survey}`);
    if (kept === null) return "open";
    return kept === "answered" ? "answered" : "waiting";
  }

  /** What surveys of the last 365 days have cost together. */
  spent() {
    return this.#account().reduce((sum, row) => sum + row.epsilon, 0);
  }

  /** What a person should know before a report: what all cost, whether that is counted, what was spent, both limits. */
  terms(survey) {
    const [spent, cost] = [this.spent(), costOf(survey)];
    const counted = this.#account().some((row) => row.account === survey.account);
    return { cost, times: Math.exp(cost), counted, spent, most: this.mostEpsilon, year: this.mostAYear };
  }

  /** Why this device takes no part in the survey; null where it may. */
  refusal(survey) {
    if (this.memory.get(`sudare:memory:${survey.account}`) === "left") {
      return new ClientError("left", "this device has left the series of surveys");
    }
    const charged = this.#account().find((row) => row.account === survey.account);
    const epsilon = costOf(survey);
    if (charged) {
      const some = takenWith(charged, survey).length <= (survey.rounds?.of ?? 1);
      return some ? null : new ClientError("rounds", "this device has taken part in all rounds of the series");
    }
    if (!(epsilon <= this.mostEpsilon)) return new ClientError("weak", "the survey protects less than this client allows");
    if (this.spent() + epsilon <= this.mostAYear) return null;
    return new ClientError("year", "with this survey the device would pass its limit for a year");
  }

  /**
   * Randomises the answer (of several questions, the list of answers) and sends the report; where one waits from before,
   * sends that one instead.
   */
  async answer(survey, answer) {
    const key = `sudare:${survey.survey}`;
    if (this.state(survey) === "answered") throw new ClientError("answered", "this survey was answered from here");
    if (survey.shuffler) throw new ClientError("relay", "browsers cannot seal reports for a relay: use the Python client");
    if (this.state(survey) === "open") {
      checkLaw(survey);
      answersTo(survey, answer); // nothing is booked for a mistake
      this.#charge(survey);
      const id = Array.from(fillRandom(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
      const report = encode(this.#randomised(survey, answer));
      this.memory.set(key, JSON.stringify({ survey: survey.survey, id, report }));
    }
    const body = this.memory.get(key);
    const headers = { "content-type": "application/json" };
    const response = await this.#request("/reports", { method: "POST", headers, body });
    if (response.status === 200) this.memory.set(key, "answered"); // 202: it waits for its batch, and is sent again
    return JSON.parse(body).report;
  }

  /** Removes the permanent answers of a survey or its series, and makes no more reports to it. */
  forget(survey) {
    this.memory.set(`sudare:memory:${survey.account}`, "left");
    this.memory.set(`sudare:${survey.survey}`, "answered");
  }

  #account() {
    const rows = JSON.parse(this.memory.get("sudare:spent") ?? "[]");
    return rows.filter((row) => row.day > this.now() - YEAR);
  }

  /** Books what taking part costs in full, once for all rounds of a series, and takes part in no more than these. */
  #charge(survey) {
    const refusal = this.refusal(survey);
    if (refusal) throw refusal;
    const rows = this.#account();
    const charged = rows.find((row) => row.account === survey.account);
    if (charged) {
      charged.taken = takenWith(charged, survey);
      this.memory.set("sudare:spent", JSON.stringify(rows));
      return;
    }
    const epsilon = costOf(survey);
    const day = Math.floor(this.now() / 86400000) * 86400000;
    rows.push({ account: survey.account, name: survey.name, epsilon, day, taken: [survey.survey] });
    this.memory.set("sudare:spent", JSON.stringify(rows));
  }

  /** A report; permanent answers are the old ones where they were given before, and are remembered. */
  #randomised(survey, answer) {
    if (survey.law.kind !== "permanent") return randomise(survey, answer);
    const place = `sudare:memory:${survey.account}`;
    const values = JSON.parse(this.memory.get(place) ?? "{}");
    const report = randomise(survey, answer, fillRandom, values);
    const answers = Object.keys(values).filter((name) => name !== "asked");
    if (answers.length > 1 + (survey.rounds?.changes ?? 0)) {
      throw new ClientError("changes", "the answer has changed as often as the survey may ask about");
    }
    this.memory.set(place, JSON.stringify(values));
    return report;
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
