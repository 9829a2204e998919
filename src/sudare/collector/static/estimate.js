// The page that shows the estimate as a map or as bars, with intervals, and keeps it up to date.

import { aspectOf, drawMap, note } from "./map.js";

const EVERY = 3000; // milliseconds
const MOST_BARS = 40;
const page = JSON.parse(document.getElementById("page").textContent);
const { survey, asked, messages, language } = page;
const status = document.getElementById("status");
const chart = document.getElementById("chart");
const tokenForm = document.getElementById("token-form");
const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
const percent = new Intl.NumberFormat(language, { style: "percent" });
let token = sessionStorage.getItem("sudare:token") ?? "";
const maps = [];
let shown = "";
let pair = 0;

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

function inWords(label, { count, low, high }) {
  const [people, least, most] = [count, low, high].map((number) => whole.format(number));
  return fill("detail", { label, count: people, low: least, high: most });
}

/** The map of one question: drawn once, then coloured anew with each estimate. */
class AnswerMap {
  #picked = null;

  constructor(box, places, labels, aspect) {
    const drawn = drawMap(places, labels, messages.map, aspect);
    this.squares = drawn.squares;
    this.labels = labels;
    this.box = box;
    for (const [place, square] of this.squares.entries()) square.addEventListener("click", () => this.#pick(place));
    const legend = make("div", "legend");
    legend.append(make("span", "", "0"), make("span", "ramp"), make("span", "top"));
    const perhaps = make("span", "perhaps");
    perhaps.append(make("span", "sample"), make("span", "", messages.perhaps_none));
    legend.append(perhaps);
    box.replaceChildren(legend, drawn.drawing, make("p", "detail", messages.pick));
  }

  show(answers) {
    this.answers = answers;
    const most = Math.max(1, ...answers.map((answer) => answer.count));
    this.box.querySelector(".top").textContent = fill("people", { count: whole.format(most) });
    for (const [place, square] of this.squares.entries()) {
      const answer = answers[place];
      const share = answer.count / most;
      square.querySelector(".ground").style.fill = colour(share);
      square.classList.toggle("dark", share > 0.45);
      square.classList.toggle("light", share <= 0.45);
      square.classList.toggle("perhaps-none", answer.low <= 0 && answer.count > 0);
      square.querySelector("title").textContent = inWords(this.labels[place], answer);
      note(square, whole.format(answer.count));
    }
    if (this.#picked !== null) this.#pick(this.#picked);
  }

  #pick(place) {
    this.#picked = place;
    for (const [other, square] of this.squares.entries()) square.classList.toggle("picked", other === place);
    this.box.querySelector(".detail").textContent = inWords(this.labels[place], this.answers[place]);
  }
}

function showBars(box, answers, labels) {
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
  box.replaceChildren(bars);
  if (some) box.append(make("p", "", fill("largest", { shown: MOST_BARS, all: whole.format(listed.length) })));
}

function row(label, texts, cell = "td") {
  const line = document.createElement("tr");
  line.append(make("th", "", label), ...texts.map((text) => make(cell, "", text)));
  return line;
}

function showTable(questions) {
  const lines = questions.flatMap(({ answers }, number) => [
    ...(asked.length > 1 ? [row(asked[number].question, ["", "", ""])] : []),
    ...answers.map((answer, place) => {
      const numbers = [answer.count, answer.low, answer.high];
      return row(asked[number].labels[place], numbers.map((value) => whole.format(value)));
    }),
  ]);
  document.getElementById("rows").replaceChildren(...lines);
}

/** How the answers to two questions go together: one of the pairs, to be chosen. */
function showJoint(joint, names) {
  const choice = document.getElementById("pair");
  const table = document.getElementById("joint");
  document.getElementById("together").hidden = false;
  if (choice.options.length === 0) {
    for (const [number, { questions }] of joint.entries()) {
      choice.append(new Option(questions.map((name) => asked[names.indexOf(name)].question).join(" / "), number));
    }
    choice.addEventListener("change", () => {
      pair = Number(choice.value);
      shown = "";
      look();
    });
  }
  const { questions, counts, low, high } = joint[pair];
  const [rows, columns] = questions.map((name) => asked[names.indexOf(name)].labels);
  const most = Math.max(1, ...counts.flat());
  const lines = rows.map((label, place) => {
    const line = row(label, columns.map(() => ""));
    for (const [column, cell] of [...line.children].slice(1).entries()) {
      const [count, least, top] = [counts, low, high].map((numbers) => numbers[place][column]);
      cell.textContent = whole.format(count);
      cell.append(make("small", "", interval({ low: least, high: top })));
      cell.style.backgroundColor = colour((count / most) * 0.12);
    }
    return line;
  });
  table.replaceChildren(row("", columns, "th"), ...lines);
}

function show(estimate) {
  const now = new Date().toLocaleTimeString(language);
  status.className = "";
  const someMaps = declared().some((answers) => answers.places);
  status.textContent = fill(someMaps ? "reports_map" : "reports_bars", {
    count: whole.format(estimate.reports),
    level: percent.format(estimate.level ?? estimate.questions[0].level),
    time: now,
  });
  if (estimate.forged) {
    status.className = "problem";
    status.textContent += ` ${messages.forged}`;
  }
  if (shown === String(estimate.reports)) return;
  shown = String(estimate.reports);
  document.getElementById("figures").hidden = false;
  const questions = estimate.questions ?? [estimate];
  if (chart.children.length === 0) {
    for (const { question } of asked) {
      if (asked.length > 1) chart.append(make("h2", "", question));
      chart.append(make("div", "question"));
    }
  }
  for (const [number, box] of [...chart.querySelectorAll(".question")].entries()) {
    const { labels } = asked[number];
    const answers = declared()[number];
    if (answers.places) (maps[number] ??= new AnswerMap(box, answers.places, labels, aspectOf(answers))).show(questions[number].answers);
    else showBars(box, questions[number].answers, labels);
  }
  showTable(questions);
  if (estimate.joint) showJoint(estimate.joint, questions.map(({ name }) => name));
}

/** The answers that can be given to each question. */
function declared() {
  return survey.answers.questions ?? [survey.answers];
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
status.textContent = messages.loading;
setInterval(() => document.visibilityState === "visible" && tokenForm.hidden && look(), EVERY);
look();
