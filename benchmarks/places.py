"""Placing points: processor time per point, ours (found and counted in DuckDB) beside a library alone.

The libraries only find the cell of each point: mercantile and h3 by a call for each of a part of the points, pyproj and
geopandas by one call for all of them. Points lie in Great Britain, for the mesh in Japan; regions are 500 Voronoi
polygons of invented centres. Goal: within 1.5 times.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow
import shapely

import sudare as sd
from part import run_part
from peers import missing, run_peer
from row import Row
from timing import core_seconds

WINDOW, FEW, TIMES = (-7.6, 49.9, 1.8, 60.9), 100_000, 1.5
LOOP = """
import json, time, random
import {name}
draw = random.Random(1)
points = [(draw.uniform(-7, 1), draw.uniform(50, 60)) for _ in range({few})]
start = time.process_time()
for x, y in points:
    {call}
print(json.dumps((time.process_time() - start) / {few}))
"""
AT_ONCE = """
import json, sys, time
import {name}, numpy as np
draw = np.random.default_rng(1)
number = int(sys.argv[1])
y, x = draw.uniform(50, 60, number), draw.uniform(-7, 1, number)
{before}
start = time.process_time()
{call}
print(json.dumps((time.process_time() - start) / number))
"""
MERCANTILE = LOOP.format(name="mercantile", few=FEW, call="mercantile.quadkey(mercantile.tile(x, y, 10))")
H3 = LOOP.format(name="h3", few=FEW, call="h3.latlng_to_cell(y, x, 6)")
PYPROJ = AT_ONCE.format(
    name="pyproj",
    before="to = pyproj.Transformer.from_crs(4326, 3035, always_xy=True)",
    call="east, north = to.transform(x, y); cell = np.floor(north / 5000), np.floor(east / 5000)",
)
GEOPANDAS = AT_ONCE.format(
    name="geopandas",
    before="regions = geopandas.read_file(sys.argv[2])",
    call="points = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(x, y), crs=4326)\npoints.sjoin(regions)",
)
PEERS = {
    "Tiles": ("mercantile", ["mercantile==1.2.1"], MERCANTILE),
    "EuropeGrid": ("pyproj", ["pyproj==3.7.2", "numpy==2.4.6"], PYPROJ),
    "H3": ("h3", ["h3==4.5.0"], H3),
    "Regions": ("geopandas", ["geopandas==1.2.0", "numpy==2.4.6"], GEOPANDAS),
}


def rows(quick: bool) -> Iterator[Row]:
    number = 1_000_000 if quick else 10_000_000
    random = np.random.default_rng(1)
    y, x = random.uniform(50, 60, number), random.uniform(-7, 1, number)
    points = {"Mesh": pyarrow.table({"lat": y - 18, "lon": x + 138})}
    elsewhere = pyarrow.table({"lat": y, "lon": x})
    with TemporaryDirectory() as folder:
        file = _regions(Path(folder) / "regions.geojson")
        for name, place in _places(file).items():
            domain, case = sd.Domain(place=place()), f"{name}, {number:,} points"
            records = sd.read(points.get(name, elsewhere))
            work = partial(records.count, domain, columns={"place": ("lat", "lon")}, outside="drop")
            ours = core_seconds(work, 1) / number * 1e9
            if name not in PEERS:
                yield Row("Sudare, counted", ours, "ns", case=case)
                continue
            package, requirements, script = PEERS[name]
            label, alone = f"{package}, found only", list[Row]()
            with missing(alone, Row(label, 0, "ns", case=case)):
                theirs = run_peer(package, requirements, script, str(number), str(file)) * 1e9
                alone.append(Row(label, theirs, "ns", case=case))
            yield from alone
            most = TIMES * alone[0].value if alone[0].value else None
            yield Row("Sudare, counted", ours, "ns", ratio_to=label, case=case, at_most=most)


def _places(file: Path) -> dict[str, Callable[[], sd.domain.Attribute]]:
    return {
        "Mesh": lambda: sd.Mesh("10km", rows=(32 * 12, 42 * 12), columns=(31 * 8, 39 * 8)),
        "LatLon": lambda: sd.LatLon(step=0.05, window=WINDOW),
        "Tiles": lambda: sd.Tiles(zoom=10, window=WINDOW),
        "EuropeGrid": lambda: sd.EuropeGrid("5km", window=WINDOW),
        "H3": lambda: sd.H3(resolution=6, window=WINDOW),
        "Regions": lambda: sd.Regions(file, key="code"),
    }


def _regions(file: Path) -> Path:
    """A file of 500 regions that share the window, each the points nearest to one centre."""
    west, south, east, north = WINDOW
    centres = np.random.default_rng(2).uniform((west, south), (east, north), (500, 2))
    cells = shapely.voronoi_polygons(shapely.multipoints(centres), extend_to=shapely.box(*WINDOW))
    features = [
        {"type": "Feature", "properties": {"code": f"R{place:03}"}, "geometry": json.loads(shapely.to_geojson(each))}
        for place, each in enumerate(shapely.get_parts(cells))
    ]
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return file


if __name__ == "__main__":
    run_part(rows)
