// The standard mesh of Japan, JIS X 0410: a first-level mesh spans 40 minutes of latitude and 1 degree of longitude.
// Rows count northwards from latitude 0 and columns eastwards from longitude 100, as in sudare.domain.mesh.

/** Cells along a side of a first-level mesh, by the name of the size. */
export const CELLS = { "80km": 1, "10km": 8, "1km": 80, "500m": 160, "250m": 320, "125m": 640 };

const ROWS_PER_DEGREE = 1.5;
const WEST_END = 100;

/** South, west, north and east in degrees of rows [first, beyond) and columns [first, beyond) of a size. */
export function bounds(size, rows, columns) {
  const cells = CELLS[size];
  return {
    south: rows[0] / (cells * ROWS_PER_DEGREE),
    west: WEST_END + columns[0] / cells,
    north: rows[1] / (cells * ROWS_PER_DEGREE),
    east: WEST_END + columns[1] / cells,
  };
}
