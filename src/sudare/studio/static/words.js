// What the page says: messages of the catalogue that the server put into the page, and numbers as a person reads them.

export const MESSAGES = JSON.parse(document.getElementById("words").textContent);

export const LANGUAGE = document.documentElement.lang;

/** The message `key`, its gaps filled; numbers are written as the language does. */
export function say(key, gaps = {}) {
  const message = MESSAGES[key];
  if (message === undefined) throw new Error(`there is no message ${key}`);
  const text = Array.isArray(message) ? counted(message, gaps) : message;
  return text.replace(/\{(\w+)\}/g, (_, name) => (typeof gaps[name] === "number" ? number(gaps[name]) : gaps[name]));
}

/** Of a message that depends on a count, the form for it: `count` names the gap that holds it. */
function counted([count, ...forms], gaps) {
  const rules = new Intl.PluralRules(LANGUAGE);
  const used = rules.resolvedOptions().pluralCategories;
  const ordered = ["zero", "one", "two", "few", "many", "other"].filter((each) => used.includes(each));
  return forms[ordered.indexOf(rules.select(gaps[count]))] ?? forms.at(-1);
}

/** The message `family.name` where there is one, else `name` as it is: for lists that may grow. */
export function known(family, name) {
  return MESSAGES[`${family}.${name}`] ?? String(name);
}

/** Whole numbers in full, others with three digits that mean something; as sudare.language.writing does. */
export function number(value) {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  const digits = Number.isInteger(value) ? 0 : Math.max(0, 2 - size);
  if (size > 15 || size < -6) {
    const [front, power] = value.toExponential(2).split("e");
    return `${Number(front)} × 10^${Number(power)}`.replaceAll("-", "−");
  }
  const written = { maximumFractionDigits: digits, roundingMode: "halfEven" };
  return value.toLocaleString("en", written).replace("-", "−");
}

/** A share in per cent. */
export function percent(share) {
  return `${number(100 * share)}${LANGUAGE === "ja" ? "%" : " %"}`;
}

/** A point of time, of the reader's own clock. */
export function moment(text) {
  const locale = LANGUAGE === "ja" ? "ja-JP" : "en-GB";
  return new Date(text).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
}

/** Bytes as a person reads them. */
export function fileSize(bytes) {
  for (const [unit, one] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (bytes >= one) return `${number(bytes / one)} ${unit}`;
  }
  return `${bytes} B`;
}
