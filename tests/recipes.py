"""Recipes and invented people that tests of several folders share: a test changes what it is about.

``from recipes import ...`` works in every test and conftest: pytest has this folder on its path (pyproject.toml).
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sudare.anonymity.lattice import Lattice

MESH = """
[domain.mesh]
type = "mesh"
size = "500m"
rows = [8480, 8496]
columns = [6300, 6316]
from = ["lat", "lon"]
"""
SEX = """
[domain.sex]
type = "categories"
values = ["f", "m"]
"""


def closing(cap: str, *, formats: str = "", public_report: bool = False, rehearsal: str = "") -> str:
    """The end of a recipe: ledger with its cap, output, report, and the rehearsal where there is one."""
    output = f'[output]\nfolder = "release"\nkey = "publisher.pem"\n{formats}'
    report = "" if public_report else "\n[report]\npublic = false\n"
    rehearsed = f"\n[rehearsal]\n{rehearsal}\n" if rehearsal else ""
    return f'\n[ledger]\npath = "ledger.db"\ncap = {{ {cap} }}\n\n{output}{report}{rehearsed}'


def opening(kind: str, dataset: str, *, title: str = "", path: str = "people.parquet", unit: bool = True) -> str:
    """The beginning of a recipe: its kind and name, and where the private data are."""
    titled = f'title = "{title}"\n' if title else ""
    whose = 'unit = "person"\n' if unit else ""
    return f'\nkind = "{kind}"\ndataset = "{dataset}"\n{titled}\n[data]\npath = "{path}"\n{whose}'


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A recipe with other words in it; each of the old ones must be there."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


class RecipeFolder:
    """A folder with a recipe; `change` edits its text."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder = folder
        self.recipe = folder / "recipe.toml"
        self.recipe.write_text(text, encoding="utf-8")

    def change(self, *changes: tuple[str, str]) -> Path:
        """The recipe, with changes to what it says now."""
        self.recipe.write_text(changed(self.recipe.read_text(encoding="utf-8"), *changes), encoding="utf-8")
        return self.recipe


def villagers(rows: int = 3000, seed: int = 1) -> pa.Table:
    """People around the middle of `MESH`, one row each."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(0, 2.0, (rows, 2)) + 8
    return pa.table(
        {
            "person": rng.permutation(rows),
            "lat": (8480 + np.clip(centre[:, 0], 0, 15.9)) / 240,
            "lon": 100 + (6300 + np.clip(centre[:, 1], 0, 15.9)) / 160,
            "sex": np.where(rng.random(rows) < 0.5, "f", "m"),
        }
    )


VILLAGE = (
    opening("table", "village", title="A village")
    + 'max_rows = 1\noutside = "drop"\n'
    + MESH
    + SEX
    + '\n[method]\nname = "simplex"\n\n[privacy]\nepsilon = 0.5\n'
    + closing(
        "epsilon = 1.0",
        formats='formats = ["parquet", "csv", "geoparquet", "geojson"]\n',
        rehearsal="people = 2000\nrepetitions = 2",
    )
)


def village(folder: Path) -> RecipeFolder:
    """A small table of `villagers` to publish; reports are drawn where a test is about them."""
    pq.write_table(villagers(), folder / "people.parquet")
    return RecipeFolder(folder, VILLAGE)


def one_of_each_kind(folder: Path) -> dict[str, Path]:
    """A recipe of each kind of release, each in a folder of its own with its data."""
    rng = np.random.default_rng(5)
    rows = 400
    people = pa.table(
        {
            "person": np.arange(rows),
            "age": rng.integers(17, 90, rows),
            "sex": rng.choice(["f", "m"], rows),
            "town": rng.choice(["east", "west"], rows, p=[0.7, 0.3]),
        }
    )
    texts = {
        "sample": (
            opening("sample", "people")
            + '[hierarchies.sex]\nvalues = ["f", "m"]\n[hierarchies.town]\nvalues = ["east", "west"]\n'
            + "[sample]\nk = 20\nrate = 0.3\nlevels = { sex = 0, town = 0 }\n"
            + closing("epsilon = 9.0, delta = 1e-5")
        ),
        "perturbation": (
            opening("perturbation", "people")
            + "[columns.age]\nbounds = [17, 90]\n"
            + '[columns.town]\ncategories = ["east", "west"]\n[perturbation]\nepsilon = 4.0\n'
            + closing("epsilon = 9.0")
        ),
        "weights": (
            opening("weights", "people")
            + '[public]\npath = "public.parquet"\n[columns.age]\nbounds = [17, 90]\n'
            + '[columns.town]\ncategories = ["east", "west"]\n[weights]\nepsilon = 2.0\n'
            + closing("epsilon = 9.0")
        ),
    }
    made = {}
    for kind in ("table", *texts):
        own = folder / kind
        own.mkdir()
        if kind == "table":
            made[kind] = village(own).recipe
            continue
        pq.write_table(people, own / "people.parquet")
        public = {"age": rng.integers(17, 90, 250), "town": rng.choice(["east", "west"], 250)}
        pq.write_table(pa.table(public), own / "public.parquet")
        made[kind] = RecipeFolder(own, texts[kind]).recipe
    return made


def least_loss(lattice: Lattice, limit: float = 0.0) -> float:
    """The loss that `optimal` has to find, by evaluating every point of a lattice of levels."""
    points = {levels: lattice.look(levels) for levels in product(*map(range, lattice.shape))}
    allowed = lattice.tuples.share(limit)
    return min(float(lattice.losses(at)[levels]) for levels, at in points.items() if at.suppressed <= allowed)
