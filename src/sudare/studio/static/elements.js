// Elements made in one line, always from text and never from HTML: nothing in a file can become part of the page.

/** An element `tag` with attributes, and children that are elements or text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** The element with this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** A table of text; the first column names the row, columns of numbers stand to the right. */
export function table(caption, header, rows) {
  const head = header.map((name) => make("th", { scope: "col" }, name));
  const body = rows.map((row) =>
    make("tr", {}, ...row.map((cell, place) => (place ? make("td", {}, cell) : make("th", { scope: "row" }, cell)))),
  );
  const made = make(
    "table",
    { class: "numbers" },
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...body),
  );
  return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, made);
}

/** Names and what they are. */
export function facts(pairs) {
  const lines = pairs.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]);
  return make("dl", { class: "facts" }, ...lines);
}

/** A small button; `name` says for screen readers what it is about, where the text alone does not. */
export function smallButton(text, name, pressed) {
  return make("button", { type: "button", class: "small", "aria-label": name, onclick: pressed }, text);
}

/** A bar of parts [kind, share of the whole], and what the kinds stand for: [kind, text]. */
export function meterBar(description, parts, key) {
  const bar = make("div", { class: "meter", role: "img", "aria-label": description });
  for (const [kind, share] of parts) {
    const part = make("span", { class: kind });
    part.style.width = `${100 * share}%`;
    bar.append(part);
  }
  const entries = key.map(([kind, text]) => make("li", { class: kind }, text));
  return make("div", {}, bar, make("ul", { class: "key" }, ...entries));
}

/** The page answers from now on: until then its main part takes neither keys nor clicks, so that nothing typed is lost. */
export function answers(state = "page") {
  byId("main").inert = false;
  document.documentElement.dataset.ready = state;
}
