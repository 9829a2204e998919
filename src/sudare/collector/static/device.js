// The page that asks: the answer is randomised here, and only the report leaves the device.

import { answerAt, Client, ClientError, marked } from "./client.js";
import { aspectOf, drawMap } from "./map.js";

const MOST_BUTTONS = 12;
const page = JSON.parse(document.getElementById("page").textContent);
const { asked, messages, language } = page;
const AGAIN = 20000; // milliseconds until a report that waits for its batch is sent again
const client = new Client("", { key: new URLSearchParams(location.hash.slice(1)).get("key") });
const asking = document.getElementById("confirm");
let survey = page.survey;
const form = document.getElementById("answer-form");
const choices = document.getElementById("choices");
const sendButton = document.getElementById("send");
const status = document.getElementById("status");
const chosen = asked.map(() => null); // one answer to each question

function fill(key, values) {
  return messages[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function say(key, values = {}, kind = "") {
  status.className = kind;
  status.textContent = fill(key, values);
}

/** One of the questions, with all ways to answer it. */
function question({ question: text, labels }, number) {
  const answers = survey.answers.questions?.[number] ?? survey.answers;
  const box = document.createElement("fieldset");
  const legend = document.createElement("legend");
  legend.textContent = text;
  legend.hidden = asked.length === 1; // the heading of the page says it
  box.append(legend);
  choices.append(box);
  let squares = [];

  function choose(answer) {
    chosen[number] = answer;
    sendButton.disabled = chosen.includes(null);
    for (const [place, square] of squares.entries()) {
      square.classList.toggle("chosen", place === answer);
      square.setAttribute("aria-checked", String(place === answer));
    }
    const list = box.querySelector("select");
    if (list !== null && answer !== null) list.value = String(answer);
  }

  if (answers.places) {
    const drawn = drawMap(answers.places, labels, messages.choose, aspectOf(answers));
    squares = drawn.squares;
    drawn.drawing.setAttribute("role", "radiogroup");
    for (const [answer, square] of squares.entries()) {
      square.setAttribute("role", "radio");
      square.setAttribute("aria-checked", "false");
      square.setAttribute("aria-label", labels[answer]);
      square.addEventListener("click", () => choose(answer));
    }
    box.append(drawn.drawing);
  }
  if (labels.length <= MOST_BUTTONS && !answers.places) {
    for (const [answer, label] of labels.entries()) {
      const line = document.createElement("label");
      line.className = "choice";
      const input = Object.assign(document.createElement("input"), { type: "radio", name: `answer${number}`, value: answer });
      input.addEventListener("change", () => choose(answer));
      const text = document.createElement("span");
      text.textContent = label;
      line.append(input, text);
      box.append(line);
    }
  } else {
    const select = document.createElement("select");
    select.setAttribute("aria-label", messages.choose);
    select.append(new Option(messages.choose, "", true, true));
    for (const [answer, label] of labels.entries()) select.append(new Option(label, answer));
    select.addEventListener("change", () => choose(select.value === "" ? null : Number(select.value)));
    box.append(select);
  }
  if (answers.degrees && navigator.geolocation) box.append(placeButton(answers, choose));
}

function placeButton(answers, choose) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "second" });
  button.textContent = messages.use_place;
  button.addEventListener("click", () => {
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        const answer = answerAt(answers, coords.latitude, coords.longitude);
        choose(answer);
        if (answer === null) say("outside", {}, "problem");
      },
      () => say("no_place", {}, "problem"),
    );
  });
  return button;
}

/** The labels of answers to each question, as a sentence has them. */
function inWords(answersToEach) {
  const list = new Intl.ListFormat(language);
  return list.format(answersToEach.flatMap((answers, number) => answers.map((answer) => asked[number].labels[answer])));
}

function finish(key) {
  form.classList.add("done");
  choices.replaceChildren();
  sendButton.hidden = true;
  say(key, {}, "good");
}

/** What is sent and what it can reveal, to be agreed to before the first report is made. */
function ask(event) {
  event.preventDefault();
  if (client.state(survey) === "waiting") return send();
  const number = new Intl.NumberFormat(language, { maximumSignificantDigits: 3 });
  const { counted, ...numbers } = client.terms(survey);
  const places = numbers.times < 10 ? 100 : 10;
  numbers.times = Math.ceil(numbers.times * places) / places; // a promise may not sound stronger than it is
  const terms = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, number.format(value)]));
  const question = document.querySelector("h1").textContent;
  document.getElementById("chosen").textContent = fill("chosen", { label: inWords(chosen.map((answer) => [answer])) });
  document.getElementById("terms").textContent = fill(counted ? "terms_again" : "terms", { ...terms, question, epsilon: terms.cost });
  asking.hidden = false;
  sendButton.hidden = true;
  document.getElementById("agree").focus();
}

/** In words: which answers the report marks, or which it says where it has one answer to each question. */
function describe(report) {
  const labels = inWords(marked(survey, report));
  const kind = (survey.law.parts?.[0] ?? survey.law).kind === "response" ? "sent_answers" : labels ? "sent_marks" : "sent_none";
  document.getElementById("report").textContent = fill(kind, { labels });
  document.getElementById("what-was-sent").hidden = false;
}

async function send() {
  asking.hidden = true;
  sendButton.disabled = true;
  say("sending");
  try {
    const report = await client.answer(survey, asked.length > 1 ? chosen : chosen[0]);
    describe(report);
    if (client.state(survey) === "answered") return finish("thanks");
    finish("held");
    setTimeout(send, AGAIN);
  } catch (problem) {
    const known = problem instanceof ClientError && `error_${problem.kind}` in messages;
    say(known ? `error_${problem.kind}` : "error_refused", {}, "problem");
    form.hidden = sendButton.hidden = false;
    sendButton.disabled = ["changed", "bad_law", "weak", "year", "changes", "rounds", "left", "relay"].includes(problem.kind);
  }
}

async function start() {
  try {
    survey = await client.survey();
  } catch (problem) {
    const kind = ["unsigned", "insecure"].includes(problem.kind) ? `error_${problem.kind}` : "away";
    return say(kind, {}, "problem");
  }
  if (client.state(survey) === "answered") return finish("already");
  form.addEventListener("submit", ask);
  document.getElementById("agree").addEventListener("click", send);
  document.getElementById("cancel").addEventListener("click", () => {
    asking.hidden = true;
    sendButton.hidden = false;
  });
  if (client.state(survey) === "waiting") {
    chosen.fill(0); // whatever it is: the report that waits is sent, and no other is made
    sendButton.textContent = messages.send_again;
    return send(); // its owner agreed to it when it was made
  }
  const refusal = client.refusal(survey);
  if (refusal) return say(`error_${refusal.kind}`, {}, "problem");
  asked.forEach(question);
  form.hidden = false;
}

document.getElementById("forget").addEventListener("click", () => {
  client.forget(survey);
  document.getElementById("what-was-sent").hidden = true;
  asking.hidden = true;
  finish("forgotten");
});
start();
