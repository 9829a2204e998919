"""What error bars in the files of a table cost: time, and bytes in each format, with them and without.

A window of the 2020 census of 512 x 512 cells, released by `Tree` at epsilon 0.1 and 1 (the number of listed cells
differs), written as every format that takes it. The data are read from SUDARE_DATA or ../shared/data; elsewhere a
synthetic table stands in, and the notes say so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import sudare as sd
from coverage import FOLDER, WINDOWS, window
from part import run_part
from row import Row
from sudare.tables.files import GEOJSON_LIMIT, MOST_WITH_BARS, write
from sudare.tables.synthetic import synthetic_table

FORMATS = ("parquet", "csv", "geoparquet", "geojson")


def rows(quick: bool) -> Iterator[Row]:
    """By epsilon: seconds of processor time, then bytes by format."""
    here = (FOLDER / "jp-mesh").exists()
    note = "" if here else "a synthetic table: the census is not at hand"
    domain = sd.Domain(mesh=sd.Mesh("500m", rows=(8426, 8682), columns=(6044, 6300)))
    table = window(*WINDOWS["testing"]["Tokyo"]) if here else synthetic_table(domain, 10**6, seed=6)
    for epsilon in (1,) if quick else (1, 0.1):
        made = sd.release(table, sd.Tree(), epsilon=epsilon, seed=1)
        listed = len(made.table)
        case = f"Tree, epsilon {epsilon}, {listed:,} listed cells"
        if listed > MOST_WITH_BARS:
            yield Row("with bars", None, "s", None, f"files of more than {MOST_WITH_BARS:,} cells have none", case)
            continue
        formats = FORMATS if listed <= GEOJSON_LIMIT else FORMATS[:3]
        size = {}
        for name, shown in (("without bars", made.table.plain), ("with bars", made.table)):
            with TemporaryDirectory() as folder:
                start = time.process_time()
                paths = write(shown, formats, Path(folder))
                seconds = time.process_time() - start
                size[name] = {form: path.stat().st_size for form, path in paths.items()}
            yield Row(
                f"{name}, written", seconds, "CPU s", None if "without" in name else "without bars, written", note, case
            )
        for form in formats:
            for name, sizes in size.items():
                other = None if "without" in name else f"without bars, {form}"
                yield Row(f"{name}, {form}", sizes[form] / 1e6, "MB", other, note, case)


if __name__ == "__main__":
    run_part(rows)
