// What part of the earth a canvas shows: degrees to pixels and back, with room for labels at two edges.

import { ROWS_PER_DEGREE } from "./mesh_levels.js";

export const MARGIN = { left: 62, bottom: 22 };
/** A degree of longitude over one of latitude, in the middle of Japan. */
export const NARROWING = Math.cos((36 * Math.PI) / 180);
const [LEAST_SCALE, MOST_SCALE] = [8, 6000]; // pixels per degree; at most, a 125 m mesh is about 6 pixels high

export class MeshView {
  constructor(canvas) {
    this.canvas = canvas;
    Object.assign(this, { latitude: 35.5, longitude: 137, scale: 20 });
  }

  /** Width and height of the map without its labels. */
  get inside() {
    return { width: this.canvas.clientWidth - MARGIN.left, height: this.canvas.clientHeight - MARGIN.bottom };
  }

  get middle() {
    const { width, height } = this.inside;
    return { x: MARGIN.left + width / 2, y: height / 2 };
  }

  /** Latitude and longitude at a point of the canvas. */
  place(x, y) {
    const { middle } = this;
    return {
      latitude: this.latitude - (y - middle.y) / this.scale,
      longitude: this.longitude + (x - middle.x) / (this.scale * NARROWING),
    };
  }

  /** The point of the canvas at a latitude and longitude. */
  point(latitude, longitude) {
    const { middle } = this;
    return {
      x: middle.x + (longitude - this.longitude) * this.scale * NARROWING,
      y: middle.y - (latitude - this.latitude) * this.scale,
    };
  }

  /** Show all of a box in degrees. */
  fit({ south, west, north, east }) {
    const { width, height } = this.inside;
    this.scale = Math.min(height / (north - south), width / ((east - west) * NARROWING), MOST_SCALE);
    this.latitude = (south + north) / 2;
    this.longitude = (west + east) / 2;
  }

  /** Zoom by a factor about a point of the canvas, which stays where it is. */
  zoom(factor, { x, y } = this.middle) {
    const before = this.place(x, y);
    this.scale = Math.min(Math.max(this.scale * factor, LEAST_SCALE), MOST_SCALE);
    const after = this.place(x, y);
    this.latitude += before.latitude - after.latitude;
    this.longitude += before.longitude - after.longitude;
  }

  /** Move by pixels. */
  move(right, down) {
    this.latitude += down / this.scale;
    this.longitude -= right / (this.scale * NARROWING);
  }

  /** The height in pixels of a mesh with so many cells along a side of a first-level mesh. */
  pixels(cells) {
    return this.scale / (cells * ROWS_PER_DEGREE);
  }
}
