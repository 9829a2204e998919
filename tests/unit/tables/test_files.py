"""Files of places open elsewhere, with polygons in the right coordinate reference system."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sudare.domain import H3, Categories, CountTable, Domain, EuropeGrid, LatLon, Mesh, Tiles
from sudare.tables.files import write

geopandas = pytest.importorskip("geopandas")
shapely = pytest.importorskip("shapely")
WINDOW = (-7.6, 49.9, 1.8, 60.9)
PLACES = {
    "latlon": (LatLon(step=0.5, window=WINDOW), 4326),
    "tiles": (Tiles(zoom=8, window=WINDOW), 4326),
    "europe_grid": (EuropeGrid("50km", window=WINDOW), 3035),
    "h3": (H3(resolution=3, window=WINDOW), 4326),
    "mesh": (Mesh("10km", codes=["5339"]), 6668),
    "antimeridian": (LatLon(step=0.7, window=(170, -50, -160, -10)), 4326),
}


@pytest.mark.parametrize("name", PLACES)
def test_geopandas_reads_polygons_with_their_system(name, tmp_path):
    place, epsg = PLACES[name]
    domain = Domain(place=place, sex=Categories(["f", "m"]))
    random = np.random.default_rng(1)
    index = np.unique(domain.cells(random.integers(0, domain.size, 200)))
    table = CountTable(domain, index, random.integers(1, 9, index.size))
    paths = write(table, ("parquet", "geoparquet", "geojson"), tmp_path)
    frame = geopandas.read_parquet(paths["geoparquet"])
    assert frame.crs.to_epsg() == epsg
    assert frame["count"].sum() == table.total
    assert frame.geometry.is_valid.all()
    assert frame["index"].is_monotonic_increasing
    degrees = geopandas.GeoDataFrame.from_features(json.loads(paths["geojson"].read_text())["features"], crs=4326)
    assert degrees["place"].tolist() == frame["place"].tolist()
    assert degrees.geometry.is_valid.all()
    own = frame.to_crs(4326).geometry.to_numpy()
    drawn = degrees.geometry.to_numpy()
    assert shapely.area(shapely.symmetric_difference(own, drawn)).max() < 1e-3 * shapely.area(drawn).max()
    assert degrees.total_bounds[0] >= -180
    assert degrees.total_bounds[2] <= 180
    middle = shapely.points(frame["place_longitude"], frame["place_latitude"])
    assert shapely.intersects(drawn, middle).all()
    labels = domain.labels(index)["place"]
    inside, known = place.locate(*place.centres(*place.locate(labels)[0]))
    assert known.all()
    assert place.labels(*inside).tolist() == labels.tolist()
