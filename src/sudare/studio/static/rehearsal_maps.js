// The map of rehearsals: truth and releases beside each other on one scale of colours.

import { byId } from "./elements.js";
import { PlaceMap } from "./map/map.js";
import { ask } from "./request.js";
import { LANGUAGE, MESSAGES, say } from "./words.js";

/** Show the maps of `found`, with `label` naming each where there are several. */
export async function showMaps(found, label) {
  const drawn = found.filter((one) => one.map);
  byId("maps").replaceChildren();
  byId("maps-part").hidden = !drawn.length;
  if (!drawn.length) return;
  const contents = await Promise.all(drawn.map((one) => ask("GET", `/api/rehearsals/${one.id}/map`)));
  const [first] = contents;
  const frame = JSON.stringify(first.frame);
  const panels = [{ ...first.panels[0], title: say("live.map.true") }];
  contents.forEach((content, place) => {
    if (JSON.stringify(content.frame) !== frame) return;
    panels.push({ ...content.panels[1], title: drawn.length > 1 ? label(drawn[place]) : say("live.map.released") });
  });
  const said = first.said[LANGUAGE] ?? first.said.en;
  for (const panel of panels) panel.subtitle = say("live.map.total", { people: Math.round(panel.total) });
  byId("maps-note").textContent = said.note;
  const map = new PlaceMap(byId("maps"), { ...first, panels, what: said.what }, MESSAGES);
  byId("maps").map = map;
}
