// One scale of colours for counts: viridis over log(1 + count). It keeps its order for the colour-blind and in grey.

const VIRIDIS = "440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725".split(" ");
const ANCHORS = VIRIDIS.map((hex) => [0, 2, 4].map((place) => parseInt(hex.slice(place, place + 2), 16)));

export const EMPTY = [18, 10, 36];
export const NEGATIVE = [255, 127, 110];
export const OUTSIDE = [238, 241, 244];

/** Red, green and blue at a share of the scale between 0 and 1. */
export function viridis(share) {
  const place = Math.min(Math.max(share, 0), 1) * (ANCHORS.length - 1);
  const low = Math.min(Math.floor(place), ANCHORS.length - 2);
  return ANCHORS[low].map((value, part) => Math.round(value + (place - low) * (ANCHORS[low + 1][part] - value)));
}

const SHADES = 512;

/** A function that gives a count's colour as a pixel of 32 bits: from a table, since a map has many cells. */
export function painter(most) {
  const shades = Uint32Array.from({ length: SHADES + 1 }, (_, shade) => pixel(viridis(shade / SHADES)));
  const [empty, negative, outside] = [EMPTY, NEGATIVE, OUTSIDE].map(pixel);
  const scale = SHADES / Math.log1p(most);
  return (count) => {
    if (count > 0) return shades[Math.min(SHADES, Math.round(Math.log1p(count) * scale))];
    return count === 0 ? empty : count < 0 ? negative : outside;
  };
}

function pixel(colour) {
  return new Uint32Array(new Uint8ClampedArray([...colour, 255]).buffer)[0];
}

/** Counts to label a legend up to `most` with: 1, 10, 100, ... and the last. */
export function legendTicks(most) {
  const ticks = [0];
  for (let tick = 1; tick < 0.6 * most; tick *= 10) ticks.push(tick);
  return [...ticks, most];
}
