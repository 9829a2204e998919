// How the map of the mesh is drawn: squares where people live, lines of the mesh with their degrees, and the window.

import { inhabitedSquares } from "./japan.js";
import { bounds, degrees, ROWS_PER_DEGREE, WEST_END } from "./mesh_levels.js";
import { MARGIN, NARROWING } from "./mesh_view.js";

const LEAST_GAP = { latitude: 44, longitude: 76 }; // in pixels, so that labels do not touch
const INK = {
  paper: "#f7f9fb",
  people: "#c3d3e2",
  line: "rgba(50, 62, 82, .16)",
  first: "rgba(50, 62, 82, .45)",
  text: "#3c4351",
  window: "#005a8f",
};
const SQUARES = inhabitedSquares();

/** Draw what `view` shows; `chosen` is {size, rows, columns} or null. */
export function paintMesh(context, view, chosen) {
  const { width, height } = view.inside;
  context.clearRect(0, 0, view.canvas.clientWidth, view.canvas.clientHeight);
  context.save();
  context.beginPath();
  context.rect(MARGIN.left, 0, width, height);
  context.clip();
  context.fillStyle = INK.paper;
  context.fillRect(MARGIN.left, 0, width, height);
  paintPeople(context, view);
  const lines = [...linesOf(view, "latitude"), ...linesOf(view, "longitude")];
  for (const line of lines) paintLine(context, view, line);
  if (chosen) paintWindow(context, view, chosen);
  context.restore();
  for (const line of lines) paintLabel(context, view, line);
  context.strokeStyle = INK.first;
  context.lineWidth = 1;
  context.strokeRect(MARGIN.left + 0.5, 0.5, width - 1, height - 1);
}

function paintPeople(context, view) {
  const [tall, wide] = [view.scale / 12, (view.scale * NARROWING) / 8];
  context.fillStyle = INK.people;
  for (const [row, column] of SQUARES) {
    const { x, y } = view.point((row + 1) / 12, WEST_END + column / 8);
    context.fillRect(x, y, wide + 0.4, tall + 0.4);
  }
}

// The lines of one axis that are worth drawing at this scale, and whether they bound first-level meshes.
function linesOf(view, axis) {
  const [perDegree, narrowing] = axis === "latitude" ? [ROWS_PER_DEGREE, 1] : [1, NARROWING];
  const gap = (cells) => (view.scale * narrowing) / (perDegree * cells);
  const fine = [80, 40, 16, 8, 4, 2, 1].find((cells) => gap(cells) >= LEAST_GAP[axis]) ?? 1;
  const every = fine > 1 ? 1 : Math.max(1, 2 ** Math.ceil(Math.log2(LEAST_GAP[axis] / gap(1))));
  const { width, height } = view.inside;
  const [low, high] = [view.place(MARGIN.left, height)[axis], view.place(MARGIN.left + width, 0)[axis]];
  const lines = [];
  for (let count = Math.ceil(low * perDegree * fine); count <= high * perDegree * fine; count += 1) {
    if (count % every === 0) lines.push({ axis, value: count / (perDegree * fine), first: count % fine === 0 });
  }
  return lines;
}

function paintLine(context, view, line) {
  const { width, height } = view.inside;
  const { x, y } = view.point(line.value, line.value);
  const [across, up] = [Math.round(x) + 0.5, Math.round(y) + 0.5];
  const ends = line.axis === "latitude" ? [MARGIN.left, up, MARGIN.left + width, up] : [across, 0, across, height];
  context.strokeStyle = line.first ? INK.first : INK.line;
  context.lineWidth = line.first ? 0.8 : 0.6;
  context.beginPath();
  context.moveTo(ends[0], ends[1]);
  context.lineTo(ends[2], ends[3]);
  context.stroke();
}

function paintLabel(context, view, line) {
  const { width, height } = view.inside;
  const { x, y } = view.point(line.value, line.value);
  context.fillStyle = INK.text;
  context.font = "11.5px Helvetica, Arial, sans-serif";
  if (line.axis === "latitude" && y > 6 && y < height - 4) {
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(`${degrees(line.value)}N`, MARGIN.left - 5, y);
  }
  if (line.axis === "longitude" && x > MARGIN.left + 14 && x < MARGIN.left + width - 18) {
    context.textAlign = "center";
    context.textBaseline = "top";
    context.fillText(`${degrees(line.value)}E`, x, height + 6);
  }
}

function paintWindow(context, view, { size, rows, columns }) {
  const own = bounds(size, rows, columns);
  const [corner, other] = [view.point(own.north, own.west), view.point(own.south, own.east)];
  const [width, height] = [other.x - corner.x, other.y - corner.y];
  context.fillStyle = "rgba(0, 90, 143, .18)";
  context.strokeStyle = INK.window;
  context.lineWidth = 2;
  context.fillRect(corner.x, corner.y, width, height);
  context.strokeRect(corner.x, corner.y, Math.max(width, 3), Math.max(height, 3));
}
