"""Sudare publishes data about people: what comes out says exactly what protects them.

A tour::

    import sudare as sd

    domain = sd.Domain(mesh=sd.Mesh("500m", rows=(8426, 8938), columns=(6044, 6556)))   # declared, never read off data
    table = sd.read("people.parquet").count(domain, columns={"mesh": ("lat", "lon")}, unit="person_id")
    release = sd.release(table, epsilon=0.5)       # noise, then an estimate under known constraints
    release.table, release.guarantee               # what may be given away, and what it promises

    sd.plan("recipe.toml"); sd.rehearse("recipe.toml"); sd.publish("recipe.toml"); sd.verify("release.json")
    recipe = sd.Recipe(kind="table", ...)          # the same as a value: written, read back, planned, published

Folders, lowest layer first: ``errors``; ``language``; ``privacy``; ``noise``, ``domain``; ``measure``; ``engines``;
``recipe``; ``render``, ``spark``; ``tables``, ``anonymity``, ``local``, ``reconstruct``, ``reweight``; ``workflow``;
``audit``, ``papers``; ``cli``, ``collector``, ``studio``. Names load when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sudare.domain import Bins, Categories, CountTable, Domain, Grid, Line, Mesh
    from sudare.engines import estat_table, read
    from sudare.errors import SudareError
    from sudare.privacy import Guarantee, Ledger, Unit
    from sudare.recipe.model import Recipe
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
    from sudare.workflow.certificate import verify
    from sudare.workflow.plan import plan
    from sudare.workflow.publication import publish
    from sudare.workflow.rehearsal import rehearse

__version__ = "0.1.0"

_HOME = {
    "domain": ("Bins", "Categories", "CountTable", "Domain", "Grid", "Line", "Mesh"),
    "engines": ("estat_table", "read"),
    "errors": ("SudareError",),
    "privacy": ("Guarantee", "Ledger", "Unit"),
    # Modules named after their function are named in full: a folder's attribute of that name may be either.
    "recipe.model": ("Recipe",),
    "workflow.certificate": ("verify",),
    "workflow.plan": ("plan",),
    "workflow.publication": ("publish",),
    "workflow.rehearsal": ("rehearse",),
    "tables": ("Laplace", "NegativeL2", "NonnegativeLasso", "Privelet", "Simplex", "TopDown", "Tree"),
    "tables.experiment": ("experiment",),
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
    "recipe",
    "reconstruct",
    "render",
    "reweight",
    "spark",
    "tables",
    "workflow",
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
