"""Coordinate reference systems that released polygons are in, as PROJJSON (facts from the EPSG registry)."""

from __future__ import annotations

from typing import Any


def _axes(subtype: str, unit: str, *axes: tuple[str, str, str]) -> dict[str, Any]:
    named = [{"name": name, "abbreviation": short, "direction": to, "unit": unit} for name, short, to in axes]
    return {"subtype": subtype, "axis": named}


def _in_degrees(name: str, datum: str, ellipsoid: str, flattening: float, code: int) -> dict[str, Any]:
    shape = {"name": ellipsoid, "semi_major_axis": 6378137, "inverse_flattening": flattening}
    north, east = ("Geodetic latitude", "Lat", "north"), ("Geodetic longitude", "Lon", "east")
    return {
        "type": "GeographicCRS",
        "name": name,
        "datum": {"type": "GeodeticReferenceFrame", "name": datum, "ellipsoid": shape},
        "coordinate_system": _axes("ellipsoidal", "degree", north, east),
        "id": {"authority": "EPSG", "code": code},
    }


_GRS80 = "GRS 1980", 298.257222101
_LAEA = {
    "Latitude of natural origin": (52, "degree"),
    "Longitude of natural origin": (10, "degree"),
    "False easting": (4321000, "metre"),
    "False northing": (3210000, "metre"),
}
_SYSTEMS: dict[int, dict[str, Any]] = {
    4326: _in_degrees("WGS 84", "World Geodetic System 1984", "WGS 84", 298.257223563, 4326),
    6668: _in_degrees("JGD2011", "Japanese Geodetic Datum 2011", *_GRS80, 6668),
    3035: {
        "type": "ProjectedCRS",
        "name": "ETRS89-extended / LAEA Europe",
        "base_crs": _in_degrees("ETRS89", "European Terrestrial Reference System 1989", *_GRS80, 4258),
        "conversion": {
            "name": "Europe Equal Area 2001",
            "method": {"name": "Lambert Azimuthal Equal Area", "id": {"authority": "EPSG", "code": 9820}},
            "parameters": [{"name": name, "value": value, "unit": unit} for name, (value, unit) in _LAEA.items()],
        },
        "coordinate_system": _axes("Cartesian", "metre", ("Northing", "Y", "north"), ("Easting", "X", "east")),
        "id": {"authority": "EPSG", "code": 3035},
    },
}


def projjson(epsg: int) -> dict[str, Any]:
    """The system with this number; what GeoParquet keeps as ``crs``.

    >>> projjson(6668)["name"]
    'JGD2011'
    """
    return _SYSTEMS[epsg]
