"""Coordinate reference systems that released polygons are in, as PROJJSON (facts from the EPSG registry)."""

from __future__ import annotations

from typing import Any

_GRS80 = {"name": "GRS 1980", "semi_major_axis": 6378137, "inverse_flattening": 298.257222101}
_DEGREES = {
    "subtype": "ellipsoidal",
    "axis": [
        {"name": "Geodetic latitude", "abbreviation": "Lat", "direction": "north", "unit": "degree"},
        {"name": "Geodetic longitude", "abbreviation": "Lon", "direction": "east", "unit": "degree"},
    ],
}
_ETRS89 = {
    "type": "GeographicCRS",
    "name": "ETRS89",
    "datum": {
        "type": "GeodeticReferenceFrame",
        "name": "European Terrestrial Reference System 1989",
        "ellipsoid": _GRS80,
    },
    "coordinate_system": _DEGREES,
    "id": {"authority": "EPSG", "code": 4258},
}
_SYSTEMS: dict[int, dict[str, Any]] = {
    4326: {
        "type": "GeographicCRS",
        "name": "WGS 84",
        "datum": {
            "type": "GeodeticReferenceFrame",
            "name": "World Geodetic System 1984",
            "ellipsoid": {"name": "WGS 84", "semi_major_axis": 6378137, "inverse_flattening": 298.257223563},
        },
        "coordinate_system": _DEGREES,
        "id": {"authority": "EPSG", "code": 4326},
    },
    6668: {
        "type": "GeographicCRS",
        "name": "JGD2011",
        "datum": {
            "type": "GeodeticReferenceFrame",
            "name": "Japanese Geodetic Datum 2011",
            "ellipsoid": _GRS80,
        },
        "coordinate_system": _DEGREES,
        "id": {"authority": "EPSG", "code": 6668},
    },
    3035: {
        "type": "ProjectedCRS",
        "name": "ETRS89-extended / LAEA Europe",
        "base_crs": _ETRS89,
        "conversion": {
            "name": "Europe Equal Area 2001",
            "method": {"name": "Lambert Azimuthal Equal Area", "id": {"authority": "EPSG", "code": 9820}},
            "parameters": [
                {"name": "Latitude of natural origin", "value": 52, "unit": "degree"},
                {"name": "Longitude of natural origin", "value": 10, "unit": "degree"},
                {"name": "False easting", "value": 4321000, "unit": "metre"},
                {"name": "False northing", "value": 3210000, "unit": "metre"},
            ],
        },
        "coordinate_system": {
            "subtype": "Cartesian",
            "axis": [
                {"name": "Northing", "abbreviation": "Y", "direction": "north", "unit": "metre"},
                {"name": "Easting", "abbreviation": "X", "direction": "east", "unit": "metre"},
            ],
        },
        "id": {"authority": "EPSG", "code": 3035},
    },
}


def projjson(epsg: int) -> dict[str, Any]:
    """The system with this number; what GeoParquet keeps as ``crs``.

    >>> projjson(6668)["name"]
    'JGD2011'
    """
    return _SYSTEMS[epsg]
