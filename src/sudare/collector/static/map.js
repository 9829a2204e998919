// A map of squares: tiles with names, or meshes. Both pages draw with it.

const SVG = "http://www.w3.org/2000/svg";
const TILE = 100; // length of a square in the drawing's own units
const MOST_NAMED = 80;

export function svg(name, attributes = {}) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** Squares at (row, column) of `places`, row 0 in the north, `aspect` times as wide as high; in the order of answers. */
export function drawMap(places, labels, description, aspect = 1) {
  const rows = 1 + Math.max(...places.map((place) => place[0]));
  const columns = 1 + Math.max(...places.map((place) => place[1]));
  const named = places.length <= MOST_NAMED;
  const width = TILE * aspect;
  const drawing = svg("svg", {
    viewBox: `-1 -1 ${columns * width + 2} ${rows * TILE + 2}`,
    class: named ? "map named" : "map",
    role: "group",
    "aria-label": description,
  });
  drawing.style.maxWidth = `${Math.min(780, columns * aspect * (named ? 96 : 30))}px`;
  drawing.append(hatching());
  const gap = named ? 4 : 0;
  const square = { width: width - 2 * gap, height: TILE - 2 * gap, x: gap, y: gap, rx: named ? 10 : 0 };
  const squares = places.map(([row, column], answer) => {
    const group = svg("g", { transform: `translate(${column * width} ${row * TILE})`, class: "square" });
    const title = svg("title");
    title.textContent = labels[answer];
    group.append(svg("rect", { ...square, class: "ground" }), svg("rect", { ...square, class: "hatch" }), title);
    if (named) group.append(nameOf(labels[answer], width));
    drawing.append(group);
    return group;
  });
  return { drawing, squares };
}

/** Width over height of a mesh on the ground, in the middle of the map; 1 for tiles. */
export function aspectOf(answers) {
  if (!answers.degrees) return 1;
  const rows = answers.places.map((place) => place[0]);
  const middle = (answers.degrees.north - (Math.min(...rows) + Math.max(...rows)) / 2) / answers.degrees.rows;
  return (answers.degrees.rows / answers.degrees.columns) * Math.cos((middle * Math.PI) / 180);
}

function hatching() {
  const pattern = svg("pattern", { id: "hatching", width: 14, height: 14, patternUnits: "userSpaceOnUse" });
  pattern.setAttribute("patternTransform", "rotate(45)");
  pattern.append(svg("rect", { width: 6, height: 14, class: "stroke" }));
  const definitions = svg("defs");
  definitions.append(pattern);
  return definitions;
}

function nameOf(label, width) {
  const text = svg("text", { x: width / 2, y: 56, class: "name" });
  text.textContent = label;
  // Long names are set smaller; wide characters take about one em, others a little more than half of one.
  const ems = [...label].reduce((length, character) => length + (character.codePointAt(0) > 0x2e80 ? 1 : 0.57), 0);
  text.setAttribute("font-size", Math.max(12, Math.min(18, (width - 14) / Math.max(1, ems))));
  return text;
}

/** A second line of text in a square, where squares have names. */
export function note(group, text) {
  if (group.querySelector(".name") === null) return;
  let line = group.querySelector(".note");
  if (line === null) {
    const name = group.querySelector(".name");
    name.setAttribute("y", 44);
    line = svg("text", { x: name.getAttribute("x"), y: 70, class: "note" });
    group.append(line);
  }
  line.textContent = text;
}
