"""Domains: the declared cells that a table counts people in, and the tables themselves.

An attribute says what one column can be: a position on a `Line` or a `Grid`, one of some `Categories`, a number in
`Bins`, or a `Place` on the earth: a `Mesh` of the Japanese grid JIS X 0410, a `LatLon` grid in degrees, Web Mercator
`Tiles`, the `EuropeGrid`, `H3` hexagons, `Regions` of a file of polygons. A `Domain` puts attributes together; each of
its cells has an index, the Morton position in which neighbours in space stay neighbours in number, so that a block of
2**level consecutive indices is a rectangle. A `CountTable` is the sorted (index, count) pairs of the cells that hold
somebody. All of this is declared: nothing about a domain is read off private data.

`mesh` has the mathematics of JIS X 0410 as plain functions; `morton` the order of bits.
"""

from typing import TYPE_CHECKING

from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.domain.attribute import Attribute, attribute_from_json
    from sudare.domain.bins import Bins
    from sudare.domain.categories import Categories
    from sudare.domain.domain import Axis, Domain
    from sudare.domain.europe_grid import EuropeGrid
    from sudare.domain.grid import Grid, Line
    from sudare.domain.h3_cells import H3
    from sudare.domain.latlon import LatLon
    from sudare.domain.mesh_attribute import Mesh
    from sudare.domain.place import Place
    from sudare.domain.region_polygons import Regions
    from sudare.domain.table import CountTable
    from sudare.domain.tiles import Tiles

__all__ = [
    "H3",
    "Attribute",
    "Axis",
    "Bins",
    "Categories",
    "CountTable",
    "Domain",
    "EuropeGrid",
    "Grid",
    "LatLon",
    "Line",
    "Mesh",
    "Place",
    "Regions",
    "Tiles",
    "attribute_from_json",
]

__getattr__ = exports(
    __name__,
    {
        "attribute": ("Attribute", "attribute_from_json"),
        "bins": ("Bins",),
        "categories": ("Categories",),
        "domain": ("Axis", "Domain"),
        "europe_grid": ("EuropeGrid",),
        "grid": ("Grid", "Line"),
        "h3_cells": ("H3",),
        "latlon": ("LatLon",),
        "mesh_attribute": ("Mesh",),
        "place": ("Place",),
        "region_polygons": ("Regions",),
        "table": ("CountTable",),
        "tiles": ("Tiles",),
    },
)
