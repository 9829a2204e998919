// Charts that the server draws as SVG from the specs of the house: as wide as their place, and again when that changes.

import { complain } from "./notices.js";
import { picture } from "./request.js";
import { LANGUAGE } from "./words.js";

const STEP = 40; // widths come in steps, so that a browser can keep what it has
const [NARROWEST, WIDEST] = [280, 760];
const drawn = new WeakMap();
const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) if (drawn.has(target)) draw(target, drawn.get(target));
});

/** Put the chart at `address` with these `asked` pairs into `place`; `description` says what it shows. */
export function showChart(place, address, asked, description) {
  draw(place, { address, asked, description, width: 0 });
  observer.observe(place);
}

/** No chart any more. */
export function removeChart(place) {
  observer.unobserve(place);
  drawn.delete(place);
  place.replaceChildren();
}

function draw(place, chart) {
  const width = Math.min(Math.max(Math.floor(place.clientWidth / STEP) * STEP, NARROWEST), WIDEST);
  if (width === chart.width) return;
  const now = { ...chart, width };
  drawn.set(place, now);
  const asked = new URLSearchParams([["language", LANGUAGE], ["width", width], ...chart.asked]);
  picture(`${chart.address}?${asked}`).then((address) => {
    const image = new Image();
    image.alt = chart.description;
    image.onload = () => {
      URL.revokeObjectURL(address);
      // The chart before stays until this one is there, and an older answer never replaces a newer one.
      if (drawn.get(place) === now) place.replaceChildren(image);
    };
    image.src = address;
  }, complain);
}
