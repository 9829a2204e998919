"""A small data set of people and a recipe for it; reports are drawn where a test is about them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

RECIPE = """
kind = "table"
dataset = "village"
title = "A village"

[data]
path = "people.parquet"
unit = "person"
max_rows = 1
outside = "drop"

[domain.mesh]
type = "mesh"
size = "500m"
rows = [8480, 8496]
columns = [6300, 6316]
from = ["lat", "lon"]

[domain.sex]
type = "categories"
values = ["f", "m"]

[method]
name = "simplex"

[privacy]
epsilon = 0.5

[ledger]
path = "ledger.db"
cap = { epsilon = 1.0 }

[output]
folder = "release"
formats = ["parquet", "csv", "geoparquet", "geojson"]
key = "publisher.pem"

[report]
public = false

[rehearsal]
people = 2000
repetitions = 2
"""


def people(rows: int = 3000, seed: int = 1) -> pa.Table:
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


class Village:
    """A folder with data and a recipe; `change` edits the recipe's text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.recipe = folder / "recipe.toml"
        self.recipe.write_text(RECIPE)
        pq.write_table(people(), folder / "people.parquet")

    def change(self, *pairs: tuple[str, str]) -> Path:
        text = self.recipe.read_text()
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        self.recipe.write_text(text)
        return self.recipe


@pytest.fixture
def village(tmp_path: Path) -> Village:
    return Village(tmp_path)
