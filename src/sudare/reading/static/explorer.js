// The explorer: sums of released cells with their intervals, computed from what the page holds; nothing is sent anywhere.

const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const WIDTH = data.others.reduce((product, other) => product * other.labels.length, 1);
const PLACES = data.places.labels.length;
const MOST_ROWS = 200;
const view = { language: "en", search: "", filters: {}, period: data.releases.length - 1, before: -1, since: -1, by: "" };
let areas = null; // {names: [...], of: Int32Array(places)}, from the reader's own file

// --- words -------------------------------------------------------------------------------------------------------------

function say(key, gaps = {}) {
  const text = WORDS[view.language][key] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, gap) => gaps[gap] ?? "");
}
const figure = (value, digits = 0) => Number(value).toLocaleString(view.language, { maximumFractionDigits: digits });
const signed = (value) => (value > 0 ? "+" : "") + figure(value);

// --- selections --------------------------------------------------------------------------------------------------------

/** Which places the search means: codes or names that begin with one of its words, or are one; null for all of them. */
function searched() {
  const asked = view.search.split(/[\s,、，]+/).filter(Boolean).map((word) => word.toLowerCase());
  if (!asked.length) return null;
  const whole = new Set(asked);
  return data.places.labels.map((label) => {
    const text = label.toLowerCase();
    return whole.has(text) || asked.some((word) => (data.places.nested ? text.startsWith(word) : text.includes(word)));
  });
}

/** For every combination of other attributes whether it is selected; null for all. */
function combinations() {
  if (!data.others.some((other) => view.filters[other.name]?.length)) return null;
  const kept = new Array(WIDTH).fill(true);
  let step = WIDTH;
  for (const other of data.others) {
    const length = other.labels.length;
    step /= length;
    const chosen = view.filters[other.name];
    if (!chosen?.length) continue;
    for (let at = 0; at < WIDTH; at += 1) {
      if (!chosen.includes(other.labels[Math.floor(at / step) % length])) kept[at] = false;
    }
  }
  return kept;
}

/** The value of attribute number `which` in a combination. */
function part(combination, which) {
  let step = WIDTH;
  for (let at = 0; at <= which; at += 1) step /= data.others[at].labels.length;
  return Math.floor(combination / step) % data.others[which].labels.length;
}

/** Groups of the selected cells: {names, places: which group a place is in, values: which a combination is in}. */
function grouping(by) {
  const chosen = searched();
  const kept = combinations();
  const places = new Int32Array(PLACES).fill(-1);
  const values = new Int32Array(WIDTH).fill(-1);
  for (let at = 0; at < WIDTH; at += 1) if (!kept || kept[at]) values[at] = 0;
  let names = [""];
  const which = data.others.findIndex((other) => other.name === by);
  for (let place = 0; place < PLACES; place += 1) {
    if (chosen && !chosen[place]) continue;
    places[place] = by === "\u0001areas" ? areas.of[place] : by === data.main ? place : 0;
  }
  if (by === data.main) names = data.places.labels;
  if (by === "\u0001areas") names = areas.names;
  if (which >= 0) {
    names = data.others[which].labels;
    for (let at = 0; at < WIDTH; at += 1) if (values[at] >= 0) values[at] = part(at, which);
  }
  return { names, places, values, by, byValue: which >= 0, all: !chosen && !kept, everyValue: !kept };
}

/** Logical cells of each group. */
function sizes(groups) {
  const count = new Float64Array(groups.names.length);
  const inPlaces = new Float64Array(groups.names.length);
  for (const group of groups.places) if (group >= 0) inPlaces[group] += 1;
  const inValues = new Float64Array(groups.names.length);
  for (const group of groups.values) if (group >= 0) inValues[group] += 1;
  for (let at = 0; at < count.length; at += 1) {
    count[at] = groups.byValue ? inPlaces[0] * inValues[at] : inPlaces[at] * inValues[0];
  }
  return count;
}

function add(groups, at, values, sums) {
  for (let cell = 0; cell < at.length; cell += 1) {
    const place = groups.places[Math.floor(at[cell] / WIDTH)];
    const value = groups.values[at[cell] % WIDTH];
    if (place >= 0 && value >= 0) sums[groups.byValue ? value : place] += values[cell];
  }
  return sums;
}

// --- intervals: the formulas of sudare.tables.error_bars ------------------------------------------------------------------

function replicates(release) {
  release.replicates ??= release.errors.shaped.replicates.map((one) => {
    let at = 0;
    return { at: one.steps.map((step) => (at += step)), errors: one.errors };
  });
  return release.replicates;
}

/** What changed totals of categories make of each cell, for every draw: see `KindErrors` of sudare.tables. */
function kindMoves(release) {
  const { kinds } = release.errors.shaped;
  if (!kinds) return [];
  release.kindMoves ??= kinds.draws.map((drawn) => {
    const change = kinds.share.map((share, cell) => share * drawn[kinds.kind[cell]]);
    const [moved, everybody] = [[], []];
    kinds.owner.forEach((owner, cell) => {
      moved[owner] = (moved[owner] ?? 0) + change[cell];
      everybody[owner] = (everybody[owner] ?? 0) + kinds.people[cell];
    });
    return change.map((own, cell) => own - (kinds.people[cell] * moved[kinds.owner[cell]]) / everybody[kinds.owner[cell]]);
  });
  return release.kindMoves;
}

function valueClass(value) {
  const number = Math.max(value, 0);
  return number < 4 ? Math.floor(number) : Math.floor(2 * Math.log2(number) + 1e-9);
}

function rawBar(raw, value, size) {
  if (size === 0) return [value, value, 0];
  let place = raw.size.findIndex((each) => each >= size);
  if (place < 0) place = raw.size.length - 1;
  const [high, low] = [raw.size[place], raw.size[Math.max(place - 1, 0)]];
  const share = high === low || high === size ? 1 : (Math.sqrt(size) - Math.sqrt(low)) / (Math.sqrt(high) - Math.sqrt(low));
  const between = (column) => column[Math.max(place - 1, 0)] * (1 - share) + column[place] * share;
  return [value - between(raw.reach), value + between(raw.reach), between(raw.expected)];
}

function shapedBar(shaped, isSigned, value, size, errors, moves) {
  const level = Math.min(Math.ceil(Math.log2(Math.max(size, 1))), shaped.bits);
  const strata = shaped.variance[level];
  const least = moves.reduce((sum, move) => sum + move ** 2, 0) / Math.max(moves.length, 1);
  const usual = Math.max(strata[shaped.additive ? 0 : Math.min(valueClass(value), strata.length - 1)], least);
  const number = errors.length;
  const mean = errors.reduce((sum, error) => sum + error, 0) / number;
  const own = errors.reduce((sum, error) => sum + (error - mean) ** 2, 0) / (number - 1);
  const spread = Math.sqrt(Math.max(own * (1 + 1 / number), usual)) * widened(shaped, level, value);
  const reach = shaped.quantile * spread;
  const expected = Math.sqrt(2 / Math.PI) * Math.sqrt(spread ** 2 + mean ** 2);
  const within = (end) => (isSigned ? end : Math.max(round(end), 0));
  return [within(value + Math.min(mean, 0) - reach), within(value + Math.max(mean, 0) + reach), expected];
}

/** To the nearest whole number, halves to the even one, as in NumPy. */
function round(value) {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

/** How far the truth may be from a block that is a whole one of a level. */
function blockBar(shaped, isSigned, value, level) {
  const { below, above, above_alone: alone, expected } = shaped.blocks[level];
  const own = shaped.additive ? 0 : Math.min(valueClass(value), below.length - 1);
  const wider = widened(shaped, level, value);
  const margin = ((wider - 1) * (above[own] - below[own])) / 2;
  let low = value + below[own] - margin;
  let high = above[own] + margin;
  if (!isSigned) {
    if (value > 0 && low <= 0) high = alone[own] + margin;
    if (value === 0) low = 0;
  }
  const within = (end) => (isSigned ? end : Math.max(round(end), 0));
  return [within(low), within(value + high), wider * expected[own]];
}

function widened(shaped, level, value) {
  const thick = Math.max(value, 0) / 2 ** level / shaped.noise;
  return 1 + (shaped.widening ** Math.max(0, level - shaped.flat_up_to) - 1) / (1 + thick / shaped.thick_area);
}

/** The level of the block that each group is the whole of; undefined for those that are none. */
function blockLevels(groups) {
  const { blocks, level } = data.places;
  if (!blocks || !groups.everyValue || groups.byValue) return [];
  if (groups.by === data.main) return groups.names.map(() => level);
  const number = groups.names.length;
  const [first, last, count] = [new Array(number).fill(Infinity), new Array(number).fill(-1), new Array(number).fill(0)];
  groups.places.forEach((group, place) => {
    if (group < 0) return;
    first[group] = Math.min(first[group], blocks[place]);
    last[group] = Math.max(last[group], blocks[place]);
    count[group] += 1;
  });
  return groups.names.map((_, group) => {
    let up = 0;
    while (last[group] >= 0 && Math.floor(first[group] / 2 ** up) !== Math.floor(last[group] / 2 ** up)) up += 1;
    const own = Math.floor(first[group] / 2 ** up);
    const held = blocks.reduce((sum, block) => sum + (Math.floor(block / 2 ** up) === own), 0);
    return held === count[group] ? level + up : undefined;
  });
}

/** Value, low, high and expected error of each group of a release. */
function bars(release, groups) {
  const number = groups.names.length;
  const value = add(groups, release.at, release.count, new Float64Array(number));
  const size = sizes(groups);
  const listed = [...value.keys()].filter((group) => size[group] > 0);
  const { errors } = release;
  let bar;
  if (errors.raw) {
    bar = (group) => {
      if (groups.by === "" && groups.all) return errors.whole;
      if (size[group] > 1) return rawBar(errors.raw, value[group], size[group]);
      release.cellAt ??= new Map(release.at.map((at, row) => [at, row]));
      const cell = groups.places.indexOf(groups.byValue ? 0 : group) * WIDTH + groups.values.indexOf(groups.byValue ? group : 0);
      const row = release.cellAt.get(cell);
      return row === undefined ? errors.cells.elsewhere : [errors.cells.low[row], errors.cells.high[row], errors.cells.expected_error[row]];
    };
  } else {
    const levels = blockLevels(groups);
    const others = listed.some((group) => size[group] > 1 && levels[group] === undefined);
    const sums = others ? replicates(release).map((one) => add(groups, one.at, one.errors, new Float64Array(number))) : [];
    const moves = others ? kindMoves(release).map((one) => add(groups, errors.shaped.kinds.at, one, new Float64Array(number))) : [];
    const of = (columns, group) => columns.map((column) => column[group]);
    bar = (group) => {
      const level = size[group] === 1 ? 0 : levels[group];
      if (level !== undefined) return blockBar(errors.shaped, errors.signed, value[group], level);
      return shapedBar(errors.shaped, errors.signed, value[group], size[group], of(sums, group), of(moves, group));
    };
  }
  return new Map(listed.map((group) => [group, [value[group], ...bar(group)]]));
}

const WHOLE = data.releases.every((release) => release.count.every(Number.isInteger));
const outwards = (reach) => (WHOLE ? Math.ceil(reach - 1e-9) : reach);

/** The sum over the periods that are chosen (independent errors), often a single one. */
function season(groups) {
  const parts = data.releases.slice(summed() ? view.since : view.period, view.period + 1).map((release) => bars(release, groups));
  if (parts.length === 1) return parts[0];
  return new Map(
    [...parts[0].keys()].map((group) => {
      const own = parts.map((part) => part.get(group));
      const value = own.reduce((sum, row) => sum + row[0], 0);
      const down = outwards(Math.hypot(...own.map((row) => row[0] - row[1])));
      const up = outwards(Math.hypot(...own.map((row) => row[2] - row[0])));
      return [group, [value, value - down, value + up, Math.hypot(...own.map((row) => row[3]))]];
    }),
  );
}
const summed = () => view.since >= 0 && view.since < view.period;

/** The same for what is shown: one or several periods, or the change from another period to one (independent errors). */
function shown(groups) {
  const now = season(groups);
  if (view.before < 0) return new Map([...now].map(([group, [value, low, high, error]]) => [group, { value, low, high, error }]));
  const then = bars(data.releases[view.before], groups);
  return new Map(
    [...now].map(([group, [value, low, high, error]]) => {
      const [was, from, to, before] = then.get(group);
      const change = value - was;
      const down = outwards(Math.hypot(value - low, to - was));
      const up = outwards(Math.hypot(high - value, was - from));
      const row = { value: change, low: change - down, high: change + up, error: Math.hypot(error, before), was, now: value };
      return [group, { ...row, sure: row.low > 0 || row.high < 0 }];
    }),
  );
}

// --- the link to a view ---------------------------------------------------------------------------------------------------

function toFragment() {
  const parts = new URLSearchParams();
  if (view.search) parts.set("q", view.search);
  for (const [name, values] of Object.entries(view.filters)) for (const value of values) parts.append(`f.${name}`, value);
  if (data.releases.length > 1) parts.set("period", data.releases[view.period].period);
  if (view.before >= 0) parts.set("before", data.releases[view.before].period);
  if (summed()) parts.set("since", data.releases[view.since].period);
  if (view.by !== data.main && view.by[0] !== "\u0001") parts.set("by", view.by);
  parts.set("lang", view.language);
  return `#${parts}`;
}

function fromFragment() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const named = (name) => data.releases.findIndex((release) => release.period === parts.get(name));
  view.search = parts.get("q") ?? "";
  view.filters = {};
  for (const other of data.others) {
    const chosen = parts.getAll(`f.${other.name}`).filter((value) => other.labels.includes(value));
    if (chosen.length) view.filters[other.name] = chosen;
  }
  view.period = parts.has("period") && named("period") >= 0 ? named("period") : data.releases.length - 1;
  view.before = parts.has("before") ? named("before") : -1;
  view.since = parts.has("since") && view.before < 0 ? named("since") : -1;
  const by = parts.get("by");
  view.by = by === "" || data.others.some((other) => other.name === by) ? by : data.main;
  const asked = parts.get("lang") ?? LANGUAGE ?? navigator.language.slice(0, 2);
  view.language = WORDS[asked] ? asked : "en";
}

// --- the page -------------------------------------------------------------------------------------------------------------

function element(tag, text, properties = {}) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  return Object.assign(made, properties);
}

function build() {
  for (const language of Object.keys(WORDS)) {
    const button = element("button", WORDS[language]["language"], { type: "button", lang: language });
    button.onclick = () => { view.language = language; changed(); };
    find("languages").append(button);
  }
  for (const other of data.others) {
    const set = element("fieldset");
    set.append(element("legend", other.name));
    const ticks = element("div", undefined, { className: "ticks" });
    if (other.labels.length > 6) Object.assign(ticks, { tabIndex: 0 }).setAttribute("role", "group"), ticks.setAttribute("aria-label", other.name);
    for (const label of other.labels) {
      const tick = element("input", undefined, { type: "checkbox", value: label, name: other.name });
      tick.onchange = () => {
        view.filters[other.name] = [...ticks.querySelectorAll(":checked")].map((one) => one.value);
        if (!view.filters[other.name].length) delete view.filters[other.name];
        changed();
      };
      const line = element("label");
      line.append(tick, element("span", label));
      ticks.append(line);
    }
    set.append(ticks);
    find("filters").append(set);
  }
  if (data.releases.length > 1) {
    find("periods").hidden = false;
    find("period").max = data.releases.length - 1;
  }
  for (const folder of data.folders) {
    const line = element("li");
    line.append(element("a", `released/${folder}/release.json`, { href: `released/${folder}/release.json` }));
    find("files").append(line);
  }
  for (const report of [...data.reports, "data.json"]) {
    const line = element("li");
    line.append(element("a", report, { href: report }));
    find("files").append(line);
  }
  find("search").oninput = () => { view.search = find("search").value; changed(); };
  find("period").oninput = () => { view.period = Number(find("period").value); changed(); };
  find("before").onchange = () => { Object.assign(view, { before: Number(find("before").value), since: -1 }); changed(); };
  find("since").onchange = () => { Object.assign(view, { since: Number(find("since").value), before: -1 }); changed(); };
  find("by").onchange = () => { view.by = find("by").value; changed(); };
  find("areas").onchange = () => readAreas(find("areas").files[0]);
  find("reset").onclick = () => { Object.assign(view, { search: "", filters: {}, before: -1, since: -1, by: data.main }); changed(); };
  find("controls").onsubmit = (event) => event.preventDefault();
  find("csv").onclick = () => download("csv");
  find("json").onclick = () => download("json");
  find("link").onclick = copyLink;
  window.onhashchange = () => { if (location.hash !== toFragment()) { fromFragment(); show(); } };
  window.onresize = () => paint();
  const map = find("map");
  map.onclick = (event) => pick(at(event));
  map.onmousemove = (event) => { const place = at(event); if (place !== cursor) { cursor = place; paint(); } };
  map.onkeydown = moved;
}

function changed() {
  history.replaceState(null, "", toFragment());
  show();
}

function options(select, listed, chosen) {
  select.replaceChildren(...listed.map(([value, text]) => element("option", text, { value, selected: value === chosen })));
}

function describe() {
  const parts = [];
  if (view.search) parts.push(`${data.main}: ${view.search}`);
  for (const [name, values] of Object.entries(view.filters)) parts.push(`${name}: ${values.join(", ")}`);
  if (summed()) parts.push(`${data.releases[view.since].period} – ${data.releases[view.period].period}`);
  return parts.length ? parts.join("; ") : say("everything");
}

let drawn = { rows: [], map: null };
let cursor = -1;

function show() {
  document.documentElement.lang = view.language;
  document.title = `${data.title} – ${say("name")}`;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = say(node.dataset.text);
  for (const button of find("languages").children) button.setAttribute("aria-pressed", String(button.lang === view.language));
  find("languages").setAttribute("aria-label", say("languages"));
  find("title").textContent = data.title;
  find("promise").textContent = data.promise[view.language];
  find("csv").textContent = say("download", { format: "CSV" });
  find("json").textContent = say("download", { format: "JSON" });
  find("link").textContent = say("copy_link");
  find("copied").textContent = "";
  find("search-hint").textContent = say(data.places.nested ? "search_codes" : "search_names", { name: data.main });
  if (find("search").value !== view.search) find("search").value = view.search;
  for (const tick of find("filters").querySelectorAll("input")) tick.checked = view.filters[tick.name]?.includes(tick.value) ?? false;
  const names = data.releases.map((release) => release.period);
  find("period").value = view.period;
  find("period").setAttribute("aria-valuetext", names[view.period]);
  find("period-name").textContent = names[view.period];
  options(find("before"), [[-1, say("nothing")], ...names.map((name, number) => [number, name]).filter(([number]) => number !== view.period)], view.before);
  if (!summed()) view.since = -1;
  options(find("since"), [[-1, say("one_period")], ...names.slice(0, view.period).map((name, number) => [number, name])], view.since);
  const rows = [[data.main, data.main], ...data.others.map((other) => [other.name, other.name])];
  options(find("by"), areas ? [...rows, ["\u0001areas", say("areas_of_file")]] : rows, view.by);
  if (view.before === view.period) view.before = -1;
  if (view.by[0] === "\u0001" && !areas) view.by = data.main;
  showAnswer();
  showTable();
  showMap();
}

function showAnswer() {
  const found = shown(grouping("")).get(0);
  find("selection").textContent = describe();
  if (!found) {
    find("answer").replaceChildren(element("p", say("nothing_found")));
    drawn.answer = null;
    return;
  }
  const change = view.before >= 0;
  const list = element("ul", undefined, { className: "tiles" });
  const tile = (text, name) => {
    const item = element("li");
    item.append(element("b", text), element("span", name));
    list.append(item);
  };
  tile(change ? signed(found.value) : figure(found.value), say(change ? "change" : "value"));
  tile(`${figure(Math.round(found.low))} – ${figure(Math.round(found.high))}`, say("interval", { level: figure(100 * data.level) }));
  tile(figure(found.error, 1), say("expected"));
  if (change) tile(say(found.sure ? "sure" : "unsure"), say("marked"));
  find("answer").replaceChildren(list);
  drawn.answer = found;
}

function showTable() {
  const groups = grouping(view.by);
  const all = [...shown(groups)].map(([group, row]) => ({ name: groups.names[group], ...row }));
  const change = view.before >= 0;
  const ordered = data.others.some((other) => other.name === view.by && other.ordered);
  if (!ordered) all.sort((one, two) => Math.abs(two.value) - Math.abs(one.value));
  const rows = view.by === data.main ? all.filter((row) => row.value !== 0 || row.was) : all;
  drawn.rows = rows;
  const sure = change ? say("sure_rows", { sure: figure(rows.filter((row) => row.sure).length), rows: figure(rows.length) }) : "";
  find("table-note").textContent = [rows.length > MOST_ROWS ? say("first_rows", { shown: figure(MOST_ROWS), rows: figure(rows.length) }) : "", sure].filter(Boolean).join(" ");
  const head = element("tr");
  const columns = change ? ["before", "after", "change", "low", "high", "marked"] : ["value", "low", "high", "expected"];
  const first = view.by[0] === "\u0001" ? say("area") : view.by;
  for (const text of [first, ...columns.map((name) => say(name))]) head.append(element("th", text, { scope: "col" }));
  const body = element("tbody");
  for (const row of rows.slice(0, MOST_ROWS)) {
    const line = element("tr");
    const name = element("th", undefined, { scope: "row" });
    if (view.by[0] === "\u0001") name.textContent = row.name;
    else {
      const button = element("button", row.name, { type: "button", className: "row" });
      button.onclick = () => select(row.name);
      name.append(button);
    }
    line.append(name);
    const numbers = change
      ? [figure(row.was), figure(row.now), signed(row.value), figure(Math.round(row.low)), figure(Math.round(row.high)), say(row.sure ? "sure" : "unsure")]
      : [figure(row.value), figure(Math.round(row.low)), figure(Math.round(row.high)), figure(row.error, 1)];
    for (const text of numbers) line.append(element("td", text));
    body.append(line);
  }
  const caption = element("thead");
  caption.append(head);
  find("table").replaceChildren(caption, body);
}

function select(name) {
  if (view.by === data.main) view.search = name;
  else view.filters[view.by] = [name];
  changed();
}

// --- the map --------------------------------------------------------------------------------------------------------------

const VIRIDIS = "440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725".split(" ").map((hex) => `#${hex}`);
const LESS = ["#b2182b", "#ef8a62", "#fddbc7"];
const MORE = ["#d1e5f0", "#67a9cf", "#2166ac"];

function showMap() {
  const { frame, rings } = data.places;
  find("map-section").hidden = !frame && !rings;
  if (find("map-section").hidden) return;
  const groups = grouping(data.main);
  const change = view.before >= 0;
  drawn.map = shown(groups);
  const values = [...drawn.map.values()].map((row) => row.value);
  const most = values.reduce((best, value) => Math.max(best, Math.abs(value)), 1);
  drawn.colour = (row) => {
    if (!row) return "#ffffff";
    if (change) {
      if (!row.sure) return "#f2f2ee";
      const shade = Math.min(2, Math.floor((3 * Math.log1p(Math.abs(row.value))) / Math.log1p(most) - 1e-9));
      return row.value < 0 ? LESS[2 - shade] : MORE[shade];
    }
    if (row.value <= 0) return "#120a24";
    return VIRIDIS[Math.round((Math.log1p(row.value) / Math.log1p(most)) * (VIRIDIS.length - 1))];
  };
  find("map-title").textContent = say(change ? "map_of_change" : "map", { name: data.main });
  find("map").setAttribute("aria-label", `${find("map-title").textContent}. ${say("map_hint")}`);
  const swatch = (colour, text) => {
    const item = element("span");
    const box = element("i");
    box.style.background = colour;
    item.append(box, text);
    return item;
  };
  const marks = change
    ? [swatch(LESS[0], say("legend_less")), swatch("#f2f2ee", say("legend_noise")), swatch(MORE[2], say("legend_more"))]
    : [0, Math.round(Math.sqrt(most)), Math.round(most)].map((count) => swatch(drawn.colour({ value: count }), figure(count)));
  find("legend").replaceChildren(...marks, swatch("#ffffff", say("legend_outside")));
  paint();
}

/** From degrees (or rows and columns) to pixels. */
function projection() {
  const { frame, rings } = data.places;
  let bounds;
  if (frame) bounds = frame.bounds;
  else {
    const points = rings.flat(2);
    const along = (axis, best) => points.reduce((found, point) => best(found, point[axis]), points[0][axis]);
    drawn.bounds ??= [along(1, Math.min), along(0, Math.min), along(1, Math.max), along(0, Math.max)];
    bounds = drawn.bounds;
  }
  const [south, west, north, east] = bounds;
  const degrees = !frame || frame.degrees;
  const aspect = degrees ? Math.cos(((south + north) / 2) * (Math.PI / 180)) : 1;
  const room = Math.min(find("map-section").clientWidth || 600, 760);
  const scale = Math.min(room / ((east - west) * aspect), 620 / (north - south));
  return { south, west, north, east, width: (east - west) * aspect * scale, height: (north - south) * scale };
}

function paint() {
  if (!drawn.map) return;
  const { frame, rings } = data.places;
  const map = find("map");
  const plan = projection();
  const dots = window.devicePixelRatio || 1;
  [map.width, map.height] = [Math.round(plan.width * dots), Math.round(plan.height * dots)];
  [map.style.width, map.style.height] = [`${plan.width}px`, `${plan.height}px`];
  const pen = map.getContext("2d");
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, map.width, map.height);
  const outline = (place) => {
    pen.beginPath();
    if (frame) {
      const number = frame.at ? frame.at[place] : place;
      const [row, column] = [Math.floor(number / frame.columns), number % frame.columns];
      const [left, right] = [column, column + 1].map((one) => Math.round((one * map.width) / frame.columns));
      const [top, bottom] = [row + 1, row].map((one) => Math.round(map.height - (one * map.height) / frame.rows));
      pen.rect(left, top, right - left, bottom - top);
    } else {
      for (const ring of rings[place]) {
        ring.forEach(([x, y], number) => {
          const to = [((x - plan.west) / (plan.east - plan.west)) * map.width, ((plan.north - y) / (plan.north - plan.south)) * map.height];
          if (number) pen.lineTo(...to);
          else pen.moveTo(...to);
        });
      }
    }
  };
  for (const [place, row] of drawn.map) {
    pen.fillStyle = drawn.colour(row);
    outline(place);
    pen.fill("evenodd");
    if (rings) { pen.strokeStyle = "#858d9b"; pen.lineWidth = dots / 2; pen.stroke(); }
  }
  if (cursor >= 0) {
    pen.strokeStyle = "#d97706";
    pen.lineWidth = 3 * dots;
    outline(cursor);
    pen.stroke();
  }
  const row = drawn.map.get(cursor);
  find("under").textContent = row
    ? say("under", { place: data.places.labels[cursor], value: view.before >= 0 ? signed(row.value) : figure(row.value), low: figure(Math.round(row.low)), high: figure(Math.round(row.high)) })
    : "\u00a0";
}

/** The place under the mouse, -1 for none. */
function at(event) {
  const map = find("map");
  const [x, y] = [event.offsetX / map.clientWidth, 1 - event.offsetY / map.clientHeight];
  const { frame } = data.places;
  if (frame) {
    const number = Math.floor(y * frame.rows) * frame.columns + Math.floor(x * frame.columns);
    return frame.at ? frame.at.indexOf(number) : number >= 0 && number < PLACES ? number : -1;
  }
  const plan = projection();
  const point = [plan.west + x * (plan.east - plan.west), plan.south + y * (plan.north - plan.south)];
  return data.places.rings.findIndex((rings) => inside(rings, point));
}

function pick(place) {
  if (place < 0) return;
  view.search = view.search === data.places.labels[place] ? "" : data.places.labels[place];
  changed();
}

function moved(event) {
  const { frame } = data.places;
  const steps = { ArrowUp: frame ? frame.columns : -1, ArrowDown: frame ? -frame.columns : 1, ArrowLeft: -1, ArrowRight: 1 };
  if (event.key === "Enter" || event.key === " ") pick(cursor);
  else if (event.key in steps) {
    const number = frame?.at ? frame.at[cursor] : cursor;
    let next = cursor < 0 ? 0 : number + steps[event.key];
    if (frame?.at && cursor >= 0) next = frame.at.indexOf(next);
    if (next >= 0 && next < PLACES) cursor = next;
    paint();
  } else return;
  event.preventDefault();
}

// --- own areas ------------------------------------------------------------------------------------------------------------

function inside(rings, [x, y]) {
  let found = false;
  for (const ring of rings) {
    for (let here = 0, last = ring.length - 1; here < ring.length; last = here, here += 1) {
      const [[x1, y1], [x2, y2]] = [ring[here], ring[last]];
      if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) found = !found;
    }
  }
  return found;
}

/** Longitude and latitude of the middle of a place. */
function middle(place) {
  const { frame, centres } = data.places;
  if (!frame) return [centres[1][place], centres[0][place]];
  const number = frame.at ? frame.at[place] : place;
  const [south, west, north, east] = frame.bounds;
  const row = Math.floor(number / frame.columns);
  return [west + ((east - west) * ((number % frame.columns) + 0.5)) / frame.columns, south + ((north - south) * (row + 0.5)) / frame.rows];
}

async function readAreas(file) {
  find("areas-alarm").textContent = "";
  if (!file) return;
  try {
    const text = (await file.text()).replace(/^\ufeff/, "");
    areas = /^\s*[{[]/.test(text) ? polygonAreas(JSON.parse(text)) : codeAreas(text);
    if (!areas.of.some((area) => area >= 0)) throw new Error("none");
    view.by = "\u0001areas";
  } catch {
    areas = null;
    find("areas-alarm").textContent = say("areas_unread");
  }
  show();
}

function polygonAreas(collection) {
  if (!data.places.frame?.degrees && !data.places.rings) throw new Error("no map");
  const shapes = collection.features.map((feature, number) => {
    const properties = feature.properties ?? {};
    const name = properties.name ?? properties.NAME ?? Object.values(properties).find((value) => typeof value === "string");
    const { type, coordinates } = feature.geometry;
    const rings = type === "MultiPolygon" ? coordinates.flat() : coordinates;
    const ends = (axis) => rings.flat().reduce(([low, high], point) => [Math.min(low, point[axis]), Math.max(high, point[axis])], [Infinity, -Infinity]);
    return { name: String(name ?? number + 1), rings, box: [ends(0), ends(1)] };
  });
  const near = (shape, point) => shape.box.every(([low, high], axis) => low <= point[axis] && point[axis] <= high);
  const names = [...new Set(shapes.map((shape) => shape.name))];
  const of = Int32Array.from({ length: PLACES }, (_, place) => {
    const point = middle(place);
    const own = shapes.find((shape) => near(shape, point) && inside(shape.rings, point));
    return own ? names.indexOf(own.name) : -1;
  });
  return { names, of };
}

/** Lines of a code and the name of its area; codes of a mesh may be coarser than its cells. */
function codeAreas(text) {
  const pairs = text.split(/\r?\n/).map((line) => line.split(/[,\t;]/).map((part) => part.trim().replace(/^"|"$/g, ""))).filter((pair) => pair.length >= 2 && pair[0]);
  const area = new Map(pairs.map(([code, name]) => [code, name]));
  const names = [...new Set(area.values())];
  const lengths = [...new Set([...area.keys()].map((code) => code.length))].sort((one, two) => two - one);
  const of = Int32Array.from(data.places.labels, (label) => {
    if (area.has(label)) return names.indexOf(area.get(label));
    const length = data.places.nested ? lengths.find((one) => area.has(label.slice(0, one))) : undefined;
    return length === undefined ? -1 : names.indexOf(area.get(label.slice(0, length)));
  });
  const used = new Set(of);
  const kept = names.filter((_, number) => used.has(number));
  return { names: kept, of: of.map((number) => (number < 0 ? -1 : kept.indexOf(names[number]))) };
}

// --- downloads ------------------------------------------------------------------------------------------------------------

function result() {
  const { period } = data.releases[view.period];
  const names = view.by[0] === "\u0001" ? "area" : view.by;
  const rows = drawn.rows.map((row) => ({
    [names]: row.name,
    ...(view.before >= 0 ? { before: row.was, after: row.now } : {}),
    value: row.value, low: row.low, high: row.high, expected_error: row.error,
    ...(view.before >= 0 ? { beyond_noise: row.sure } : {}),
  }));
  return { title: data.title, dataset: data.dataset, period, since: summed() ? data.releases[view.since].period : null, before: data.releases[view.before]?.period ?? null, selection: { [data.main]: view.search || null, ...view.filters }, level: data.level, answer: drawn.answer, rows };
}

function download(format) {
  const found = result();
  const quoted = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replace(/"/g, '""')}"` : String(value));
  const columns = Object.keys(found.rows[0] ?? {});
  const text = format === "json" ? JSON.stringify(found, null, 1) : [columns, ...found.rows.map((row) => columns.map((name) => row[name]))].map((line) => line.map(quoted).join(",")).join("\r\n");
  const link = element("a", "", { href: URL.createObjectURL(new Blob([text], { type: format === "json" ? "application/json" : "text/csv" })), download: `selection.${format}` });
  link.click();
}

async function copyLink() {
  history.replaceState(null, "", toFragment());
  try {
    await navigator.clipboard.writeText(location.href);
    find("copied").textContent = say("copied");
  } catch {
    find("copied").textContent = say("link_above");
  }
}

fromFragment();
build();
show();
