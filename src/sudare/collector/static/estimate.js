// The page that shows the estimate as a map or as bars, with intervals, and keeps it up to date.

import { aspectOf, drawMap, note } from "./map.js";

const EVERY = 3000; // milliseconds
const MOST_BARS = 40;
const page = JSON.parse(document.getElementById("page").textContent);
const { survey, labels, messages, language } = page;
const status = document.getElementById("status");
const chart = document.getElementById("chart");
const tokenForm = document.getElementById("token-form");
const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
const percent = new Intl.NumberFormat(language, { style: "percent" });
let token = sessionStorage.getItem("sudare:token") ?? "";
let squares = null;
let latest = null;
let picked = null;
let shown = "";

function fill(key, values = {}) {
  return messages[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function make(name, className, text = "") {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
}

function interval({ low, high }) {
  return `${whole.format(low)}–${whole.format(high)}`;
}

/** Light to dark; the text on it follows. */
function colour(share) {
  const [light, dark] = [[238, 243, 249], [12, 74, 140]];
  const part = Math.sqrt(Math.max(0, share));
  return `rgb(${light.map((start, channel) => Math.round(start + (dark[channel] - start) * part)).join(" ")})`;
}

function showMap(answers) {
  latest = answers;
  if (squares === null) {
    const drawn = drawMap(survey.answers.places, labels, messages.map, aspectOf(survey.answers));
    squares = drawn.squares;
    for (const [place, square] of squares.entries()) square.addEventListener("click", () => pick(place));
    const legend = make("div", "legend");
    legend.append(make("span", "", "0"), make("span", "ramp"), make("span", "top"));
    const perhaps = make("span", "perhaps");
    perhaps.append(make("span", "sample"), make("span", "", messages.perhaps_none));
    legend.append(perhaps);
    chart.replaceChildren(legend, drawn.drawing, make("p", "detail", messages.pick));
  }
  const most = Math.max(1, ...answers.map((answer) => answer.count));
  chart.querySelector(".top").textContent = fill("people", { count: whole.format(most) });
  for (const [place, square] of squares.entries()) {
    const answer = answers[place];
    const share = answer.count / most;
    square.querySelector(".ground").style.fill = colour(share);
    square.classList.toggle("dark", share > 0.45);
    square.classList.toggle("perhaps-none", answer.low <= 0 && answer.count > 0);
    square.querySelector("title").textContent = inWords(place);
    note(square, whole.format(answer.count));
  }
  if (picked !== null) pick(picked);
}

function inWords(place) {
  const { count, low, high } = latest[place];
  const numbers = { count: whole.format(count), low: whole.format(low), high: whole.format(high) };
  return fill("detail", { label: labels[place], ...numbers });
}

function pick(place) {
  picked = place;
  for (const [other, square] of squares.entries()) square.classList.toggle("picked", other === place);
  chart.querySelector(".detail").textContent = inWords(place);
}

function showBars(answers) {
  const listed = answers.map((answer, place) => ({ ...answer, label: labels[place] }));
  const some = listed.length > MOST_BARS;
  const rows = some ? listed.sort((a, b) => b.count - a.count).slice(0, MOST_BARS) : listed;
  const most = Math.max(1, ...rows.map((answer) => answer.high));
  const bars = make("div", "bars");
  for (const answer of rows) {
    const track = make("div", "track");
    const bar = make("div", "bar");
    const whisker = make("div", "whisker");
    bar.style.width = `${(100 * Math.max(0, answer.count)) / most}%`;
    whisker.style.left = `${(100 * answer.low) / most}%`;
    whisker.style.width = `${(100 * (answer.high - answer.low)) / most}%`;
    track.append(bar, whisker);
    const count = make("div", "count", whole.format(answer.count));
    count.append(make("small", "", interval(answer)));
    bars.append(make("div", "label", answer.label), track, count);
  }
  chart.replaceChildren(bars);
  if (some) chart.append(make("p", "", fill("largest", { shown: MOST_BARS, all: whole.format(listed.length) })));
}

function showTable(answers) {
  const body = document.getElementById("rows");
  body.replaceChildren(
    ...answers.map((answer, place) => {
      const row = document.createElement("tr");
      const cells = [whole.format(answer.count), whole.format(answer.low), whole.format(answer.high)];
      row.append(make("th", "", labels[place]), ...cells.map((text) => make("td", "", text)));
      return row;
    }),
  );
}

function show(estimate) {
  const now = new Date().toLocaleTimeString(language);
  status.className = "";
  status.textContent = fill(survey.answers.places ? "reports_map" : "reports_bars", {
    count: whole.format(estimate.reports),
    level: percent.format(estimate.level),
    time: now,
  });
  if (estimate.forged) {
    status.className = "problem";
    status.textContent += ` ${messages.forged}`;
  }
  if (shown === String(estimate.reports)) return;
  shown = String(estimate.reports);
  document.getElementById("figures").hidden = false;
  if (survey.answers.places) showMap(estimate.answers);
  else showBars(estimate.answers);
  showTable(estimate.answers);
}

async function look() {
  try {
    const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch("estimate", { headers, cache: "no-store", credentials: "omit" });
    tokenForm.hidden = response.status !== 401;
    if (response.ok) return show(await response.json());
    const key = { 401: token === "" ? "token_needed" : "token_wrong", 403: "too_few" }[response.status] ?? "unavailable";
    status.textContent = fill(key, { minimum: whole.format(survey.minimum) });
    status.className = response.status === 403 || key === "token_needed" ? "" : "problem";
  } catch {
    status.textContent = messages.unavailable;
    status.className = "problem";
  }
}

tokenForm.addEventListener("submit", (event) => {
  event.preventDefault();
  token = document.getElementById("token").value.trim();
  sessionStorage.setItem("sudare:token", token);
  look();
});
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && look());
setInterval(() => document.visibilityState === "visible" && tokenForm.hidden && look(), EVERY);
look();
