"""Sudare publishes data about people: what comes out says exactly what protects them.

A tour::

    import sudare as sd

    domain = sd.Domain(mesh=sd.Mesh("500m", rows=(8426, 8938), columns=(6044, 6556)))   # declared, never read off data
    table = sd.read("people.parquet").count(domain, columns={"mesh": ("lat", "lon")}, unit="person_id")
    release = sd.release(table, epsilon=0.5)       # noise, then an estimate under known constraints
    release.table, release.guarantee               # what may be given away, and what it promises

    sd.plan("recipe.toml"); sd.rehearse("recipe.toml"); sd.publish("recipe.toml"); sd.verify("release.json")
    recipe = sd.Recipe(kind="table", ...)          # the same as a value: written, read back, planned, published

Folders, lowest layer first: ``errors``; ``privacy``, ``noise``, ``domain``, ``estimate``, ``measure``,
``charts``; ``engines``; ``tables``; ``report``; ``publish``; ``cli``. Names load when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sudare.domain import Bins, Categories, CountTable, Domain, Grid, Line, Mesh
    from sudare.engines import estat_table, read
    from sudare.errors import SudareError
    from sudare.privacy import Guarantee, Ledger, Unit
    from sudare.publish.certificate import verify
    from sudare.publish.plan import plan
    from sudare.publish.recipe import Recipe
    from sudare.publish.rehearsal import rehearse
    from sudare.publish.run import publish
    from sudare.tables import (
        Laplace,
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

__version__ = "0.1.0"

_HOME = {
    "domain": ("Bins", "Categories", "CountTable", "Domain", "Grid", "Line", "Mesh"),
    "engines": ("estat_table", "read"),
    "errors": ("SudareError",),
    "privacy": ("Guarantee", "Ledger", "Unit"),
    # Modules named after their function are named in full: a folder's attribute of that name may be either.
    "publish.certificate": ("verify",),
    "publish.plan": ("plan",),
    "publish.recipe": ("Recipe",),
    "publish.rehearsal": ("rehearse",),
    "tables": ("Laplace", "NegativeL2", "NonnegativeLasso", "Privelet", "Simplex", "TopDown", "Tree"),
    "tables.experiment": ("experiment",),
    "tables.release": ("Release", "release"),
}
_FOLDERS = (
    "anonymity",
    "charts",
    "cluster",
    "collector",
    "domain",
    "engines",
    "errors",
    "estimate",
    "local",
    "measure",
    "noise",
    "privacy",
    "publish",  # a folder that can be called: sudare.publish("recipe.toml")
    "reconstruct",
    "report",
    "reweight",
    "tables",
    "words",
)
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Bins",
    "Categories",
    "CountTable",
    "Domain",
    "Grid",
    "Guarantee",
    "Laplace",
    "Ledger",
    "Line",
    "Mesh",
    "NegativeL2",
    "NonnegativeLasso",
    "Privelet",
    "Recipe",
    "Release",
    "Simplex",
    "SudareError",
    "TopDown",
    "Tree",
    "Unit",
    "estat_table",
    "experiment",
    "plan",
    "publish",
    "read",
    "rehearse",
    "release",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Load a public name, or a folder, when it is first asked for."""
    if name in _MODULE_OF:
        value = getattr(import_module(f"sudare.{_MODULE_OF[name]}"), name)
    elif name in _FOLDERS:
        value = import_module(f"sudare.{name}")
    else:
        raise AttributeError(f"module 'sudare' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_FOLDERS})
