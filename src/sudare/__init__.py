"""Sudare publishes data about people: what comes out says exactly what protects them.

A tour::

    import sudare as sd

    domain = sd.Domain(mesh=sd.Mesh("500m", rows=(8426, 8938), columns=(6044, 6556)))   # declared, never read off data
    table = sd.read("people.parquet").count(domain, columns={"mesh": ("lat", "lon")}, unit="person_id")
    release = sd.release(table, epsilon=0.5)       # noise, then an estimate under known constraints
    release.table, release.guarantee               # what may be given away, and what it promises

    sd.check("recipe.toml")                        # a private look that spends nothing: .rows .fitting .reasons
    sd.plan("recipe.toml"); sd.rehearse("recipe.toml"); sd.publish("recipe.toml"); sd.verify("release.json")
    sd.open("release/")                            # anybody's release: verified, with its error bars
    sd.open_series("releases/").change("2026-10", "2026-11")   # with intervals
    recipe = sd.Recipe(kind="table", ...)          # the same as a value: written, read back, planned, published

Folders, lowest layer first: ``errors``; ``language``; ``privacy``; ``noise``, ``domain``; ``measure``; ``engines``;
``recipe``; ``render``, ``spark``; ``tables``, ``anonymity``, ``local``, ``reconstruct``, ``reweight``; ``workflow``;
``reading``; ``audit``, ``papers``; ``cli``, ``collector``, ``studio``. Names load when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.lazy import exports
from sudare.version import __version__ as __version__

if TYPE_CHECKING:
    from sudare.domain import (
        H3,
        Bins,
        Categories,
        CountTable,
        Domain,
        EuropeGrid,
        Grid,
        LatLon,
        Line,
        Mesh,
        Regions,
        Tiles,
    )
    from sudare.engines import estat_table, read
    from sudare.errors import SudareError
    from sudare.privacy import Guarantee, Ledger, Unit
    from sudare.reading import open_release as open
    from sudare.reading import open_series
    from sudare.recipe.model import Recipe
    from sudare.tables import (
        Laplace,
        Marginals,
        NegativeL2,
        NonnegativeLasso,
        Privelet,
        Release,
        Simplex,
        TopDown,
        Tree,
        experiment,
        release,
    )
    from sudare.tables.records import synthesize
    from sudare.workflow.certificate import verify
    from sudare.workflow.check import check
    from sudare.workflow.plan import plan
    from sudare.workflow.publication import publish
    from sudare.workflow.rehearsal import rehearse


_PLACES = ("EuropeGrid", "H3", "LatLon", "Regions", "Tiles")
_HOME = {
    "domain": ("Bins", "Categories", "CountTable", "Domain", "Grid", "Line", "Mesh", *_PLACES),
    "engines": ("estat_table", "read"),
    "errors": ("SudareError",),
    "privacy": ("Guarantee", "Ledger", "Unit"),
    "reading.opening": ("open",),
    "reading.series": ("open_series",),
    "recipe.model": ("Recipe",),
    "workflow.certificate": ("verify",),
    "workflow.check": ("check",),
    "workflow.plan": ("plan",),
    "workflow.publication": ("publish",),
    "workflow.rehearsal": ("rehearse",),
    "tables": ("Laplace", "Marginals", "NegativeL2", "NonnegativeLasso", "Privelet", "Simplex", "TopDown", "Tree"),
    "tables.experiment": ("experiment",),
    "tables.records": ("synthesize",),
    "tables.release": ("Release", "release"),
}
_FOLDERS = (
    "anonymity",
    "collector",
    "domain",
    "engines",
    "errors",
    "language",
    "local",
    "measure",
    "noise",
    "privacy",
    "reading",
    "recipe",
    "reconstruct",
    "render",
    "reweight",
    "spark",
    "tables",
    "workflow",
)

__all__ = [
    "H3",
    "Bins",
    "Categories",
    "CountTable",
    "Domain",
    "EuropeGrid",
    "Grid",
    "Guarantee",
    "Laplace",
    "LatLon",
    "Ledger",
    "Line",
    "Marginals",
    "Mesh",
    "NegativeL2",
    "NonnegativeLasso",
    "Privelet",
    "Recipe",
    "Regions",
    "Release",
    "Simplex",
    "SudareError",
    "Tiles",
    "TopDown",
    "Tree",
    "Unit",
    "check",
    "estat_table",
    "experiment",
    "open",
    "open_series",
    "plan",
    "publish",
    "read",
    "rehearse",
    "release",
    "synthesize",
    "verify",
]

__getattr__ = exports(__name__, _HOME, _FOLDERS)
