// The page that asks: the answer is randomised here, and only the report leaves the device.

import { answerAt, Client, ClientError } from "./client.js";
import { aspectOf, drawMap } from "./map.js";

const MOST_BUTTONS = 12;
const page = JSON.parse(document.getElementById("page").textContent);
const { survey, labels, messages } = page;
const client = new Client();
const form = document.getElementById("answer-form");
const choices = document.getElementById("choices");
const sendButton = document.getElementById("send");
const status = document.getElementById("status");
let chosen = null;
let squares = [];

function say(key, values = {}, kind = "") {
  status.className = kind;
  status.textContent = messages[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function choose(answer) {
  chosen = answer;
  sendButton.disabled = answer === null;
  for (const [place, square] of squares.entries()) {
    square.classList.toggle("chosen", place === answer);
    square.setAttribute("aria-checked", String(place === answer));
  }
  const list = document.getElementById("answer-list");
  if (list !== null && answer !== null) list.value = String(answer);
}

function radios() {
  for (const [answer, label] of labels.entries()) {
    const line = document.createElement("label");
    line.className = "choice";
    const input = Object.assign(document.createElement("input"), { type: "radio", name: "answer", value: answer });
    input.addEventListener("change", () => choose(answer));
    const text = document.createElement("span");
    text.textContent = label;
    line.append(input, text);
    choices.append(line);
  }
}

function list() {
  const select = Object.assign(document.createElement("select"), { id: "answer-list" });
  select.setAttribute("aria-label", messages.choose);
  select.append(new Option(messages.choose, "", true, true));
  for (const [answer, label] of labels.entries()) select.append(new Option(label, answer));
  select.addEventListener("change", () => choose(select.value === "" ? null : Number(select.value)));
  choices.append(select);
}

function map() {
  const drawn = drawMap(survey.answers.places, labels, messages.choose, aspectOf(survey.answers));
  squares = drawn.squares;
  drawn.drawing.setAttribute("role", "radiogroup");
  for (const [answer, square] of squares.entries()) {
    square.setAttribute("role", "radio");
    square.setAttribute("aria-checked", "false");
    square.setAttribute("aria-label", labels[answer]);
    square.addEventListener("click", () => choose(answer));
  }
  choices.append(drawn.drawing);
}

function place() {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "second" });
  button.textContent = messages.use_place;
  button.addEventListener("click", () => {
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        const answer = answerAt(survey, coords.latitude, coords.longitude);
        choose(answer);
        if (answer === null) say("outside", {}, "problem");
      },
      () => say("no_place", {}, "problem"),
    );
  });
  choices.append(button);
}

function finish(key) {
  form.classList.add("done");
  choices.replaceChildren();
  sendButton.hidden = true;
  say(key, {}, "good");
}

async function send(event) {
  event.preventDefault();
  sendButton.disabled = true;
  say("sending");
  try {
    const report = await client.answer(survey, chosen);
    finish("thanks");
    document.getElementById("report").textContent = report;
    document.getElementById("what-was-sent").hidden = false;
  } catch (problem) {
    const known = problem instanceof ClientError && `error_${problem.kind}` in messages;
    say(known ? `error_${problem.kind}` : "error_refused", {}, "problem");
    sendButton.disabled = problem.kind === "changed" || problem.kind === "bad_law";
  }
}

if (client.state(survey) === "answered") {
  finish("already");
} else {
  if (survey.answers.places) map();
  if (labels.length <= MOST_BUTTONS && !survey.answers.places) radios();
  else list();
  if (survey.answers.degrees && navigator.geolocation) place();
  form.addEventListener("submit", send);
  if (client.state(survey) === "waiting") {
    choices.replaceChildren();
    chosen = 0; // whatever it is: the report that waits is sent, and no other is made
    sendButton.disabled = false;
    sendButton.textContent = messages.send_again;
    say("waiting", {}, "problem");
  }
}
