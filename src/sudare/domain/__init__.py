"""Domains: the declared cells that a table counts people in, and the tables themselves.

An attribute says what one column can be: a position on a `Line` or a `Grid`, one of some `Categories`, a
number in `Bins`, a `Mesh` of the Japanese grid JIS X 0410. A `Domain` puts attributes together; each of its
cells has an index, the Morton position in which neighbours in space stay neighbours in number, so that a
block of 2**level consecutive indices is a rectangle. A `CountTable` is the sorted (index, count) pairs of
the cells that hold somebody. All of this is declared: nothing about a domain is read off private data.

`mesh` has the mathematics of JIS X 0410 as plain functions; `morton` the order of bits.
"""

from sudare.domain.attribute import Attribute
from sudare.domain.attributes import attribute_from_json
from sudare.domain.bins import Bins
from sudare.domain.categories import Categories
from sudare.domain.domain import Axis, Domain
from sudare.domain.grid import Grid, Line
from sudare.domain.mesh_attribute import Mesh
from sudare.domain.table import CountTable

__all__ = [
    "Attribute",
    "Axis",
    "Bins",
    "Categories",
    "CountTable",
    "Domain",
    "Grid",
    "Line",
    "Mesh",
    "attribute_from_json",
]
