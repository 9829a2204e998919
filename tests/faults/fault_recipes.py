"""Recipes of all kinds over private files with canaries, and the certificates of what they published."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
import tomllib
from contextlib import suppress
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from fault_changes import CANARY, CANARY_NUMBER, changed_bytes, changed_tree, to_toml
from hypothesis import strategies as st

from sudare.noise import Source
from sudare.privacy.fingerprint import file_digest as digest
from sudare.tables.kind import TableKind
from sudare.workflow.certificate import verify
from sudare.workflow.job import Job
from sudare.workflow.publication import publish
from sudare.workflow.reports import canonical, load_or_create, public_text

SMALL = 2**14
SHARED = """
ledger = {path = "ledger.db", cap = {epsilon = 1000, delta = 0.001}}
output = {folder = "release", key = "publisher.pem"}
report = {public = false}
rehearsal = {people = 200, repetitions = 1}
"""
RECIPES = (
    """kind = "table"
dataset = "village"
data = {path = "people.parquet", unit = "person", max_rows = 1, outside = "drop"}
domain.mesh = {type = "mesh", size = "500m", rows = [8480, 8496], columns = [6300, 6316], from = ["lat", "lon"]}
domain.sex = {type = "categories", values = ["f", "m"]}
method = {name = "simplex"}
privacy = {epsilon = 0.5}
""",
    """kind = "table"
dataset = "ages"
order = ["age", "sex"]
data = {path = "people.csv", outside = "clamp"}
domain.age = {type = "bins", start = 0, stop = 100, step = 5}
domain.sex = {type = "categories", values = ["f", "m"]}
method = {name = "tree", children = 4, strength = 0.5}
privacy = {epsilon = 0.5, delta = 1e-6, total = "public"}
public_totals = [{where = {sex = ["f"]}, number = 20}]
""",
    """kind = "table"
dataset = "counts"
data = {path = "counts.csv", counts = "n", unit_name = "household", max_rows = 2, period = "day"}
domain.town = {type = "line", length = 12}
method = {name = "laplace", cut = 3}
privacy = {epsilon = 0.1}
""",
    """kind = "sample"
dataset = "survey"
accept_no_guarantee = true
data = {path = "people.parquet", unit = "person"}
hierarchies.age = {widths = [1, 10, 50], low = 0, high = 100}
hierarchies.sex = {values = ["f", "m"]}
hierarchies.town = {tree = {north = ["A", "B"], south = ["C", "D"]}}
sample = {k = 3, rate = 0.5, levels = {age = 1, sex = 0, town = 1}}
""",
    """kind = "sample"
dataset = "survey"
accept_no_guarantee = true
data = {path = "people.csv"}
hierarchies.age = {edges = [[0, 15, 65, 130], [0, 130]]}
hierarchies.town = {file = "towns.csv", delimiter = ";"}
sample = {k = 2, method = "greedy", max_suppressed = 0.5, missing = "value"}
require = [{type = "distinct", column = "sex", l = 2}]
""",
    """kind = "perturbation"
dataset = "staff"
data = {path = "people.parquet"}
columns.age = {bounds = [0, 120], share = 1}
columns.sex = {categories = ["f", "m"], share = 2}
perturbation = {k = 2, records = 60}
""",
    """kind = "perturbation"
dataset = "staff"
data = {path = "people.csv", unit = "person", max_rows = 2}
columns.age = {bounds = [0, 120]}
perturbation = {epsilon = 1.5, noise = "square_wave", outside = "clamp"}
""",
    """kind = "weights"
dataset = "nurses"
data = {path = "people.parquet"}
public = {path = "public.csv"}
columns.age = {bounds = [0, 120]}
columns.sex = {categories = ["f", "m"]}
weights = {epsilon = 1.0, number = 12, pairs = "all"}
""",
)


@cache
def house() -> Path:
    """A folder with private and public files; everything in the private ones that is odd is a canary."""
    folder = Path(tempfile.mkdtemp(prefix="sudare-faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    rng = np.random.default_rng(7)
    rows = 60
    people = {
        "person": [f"{CANARY}-{number % 50}" for number in range(rows)],
        "age": np.append(rng.integers(1, 99, rows - 2), [CANARY_NUMBER, -CANARY_NUMBER]),
        "sex": [*rng.choice(["f", "m"], rows - 1).tolist(), CANARY],
        "town": [*rng.choice(list("ABCD"), rows - 1).tolist(), CANARY],
        "lat": np.append((8480 + rng.random(rows - 1) * 16) / 240, [73.19731]),
        "lon": 100 + (6300 + rng.random(rows) * 16) / 160,
    }
    pq.write_table(pa.table(people), folder / "people.parquet")
    pc.write_csv(pa.table(people), folder / "people.csv")
    pc.write_csv(pa.table({"town": range(10), "n": [3, 1, 4, 1, 5, 9, 2, 6, 5, CANARY_NUMBER]}), folder / "counts.csv")
    public = {"age": rng.integers(1, 99, 40), "sex": rng.choice(["f", "m"], 40)}
    pc.write_csv(pa.table(public), folder / "public.csv")
    (folder / "towns.csv").write_text("A;north;*\nB;north;*\nC;south;*\nD;south;*\n")
    return folder


@st.composite
def recipes(draw: st.DrawFn) -> tuple[bytes, bool]:
    """A recipe, and whether to go on to the data."""
    text = draw(st.sampled_from(RECIPES)) + SHARED
    if draw(st.integers(0, 4)) == 0:
        return draw(changed_bytes(text.encode())), draw(st.integers(0, 3)) == 0
    tree = draw(changed_tree(tomllib.loads(text, parse_float=Decimal)))
    return to_toml(tree).encode("utf-8", "replace"), draw(st.integers(0, 5)) == 0


def is_spark(job: Job[Any, Any]) -> bool:
    """Whether a cluster would have to be started."""
    return getattr(job.recipe.data, "engine", "duckdb") == "spark"


def open_small(path: Path) -> bool:
    """Whether a recipe that is right asks for little, in this process."""
    job = Job.open(path).kind
    return not is_spark(job) and not (isinstance(job, TableKind) and job.domain.size > SMALL)


def use_recipe(drawn: tuple[bytes, bool], folder: Path) -> None:
    """Read the recipe; then count, protect and write, where that is small and in this process."""
    content, on_to_the_data = drawn
    recipe = folder / "recipe.toml"
    recipe.write_bytes(content)
    job = Job.open(recipe).kind
    if not on_to_the_data or is_spark(job):
        return
    for file in house().glob("*.*"):
        shutil.copy(file, folder)
    source = Source.system()
    data = job.gather(source)
    if isinstance(job, TableKind) and job.domain.size > SMALL:
        return
    made = job.protect(data, source)
    (folder / "written").mkdir()
    job.write(made, folder / "written")


# Certificates, which anybody can sign with a key of their own


@cache
def releases() -> tuple[Path, ...]:
    """A small release of every kind."""
    made = []
    for place in (0, 1, 3, 5, 6, 7):
        folder = house() / f"release-{place}"
        folder.mkdir()
        for file in house().glob("*.*"):
            shutil.copy(file, folder)
        text = RECIPES[place] + SHARED
        for name in ("people.csv", "people.parquet"):
            tame(folder / name)
        (folder / "recipe.toml").write_text(text)
        made.append(publish(folder / "recipe.toml").folder)
    return tuple(made)


def tame(path: Path) -> None:
    """The same number of records without those that no domain admits: the first two again instead."""
    table = pq.read_table(path) if path.suffix == ".parquet" else pc.read_csv(path)
    tame = pa.concat_tables([table.slice(0, table.num_rows - 2), table.slice(0, 2)])
    if path.suffix == ".parquet":
        pq.write_table(tame, path)
    else:
        pc.write_csv(tame, path)


@st.composite
def certificates(draw: st.DrawFn) -> tuple[Path, Any, bool, tuple[str, bytes] | None]:
    """A release's folder, another certificate (a tree or bytes), whether it is signed anew, and a changed file."""
    folder = draw(st.sampled_from(releases()))
    content = (folder / "release.json").read_bytes()
    changed = None
    if draw(st.integers(0, 4)) == 0:
        return folder, draw(changed_bytes(content)), False, None
    certificate = json.loads(content)
    if draw(st.booleans()):
        name = draw(st.sampled_from(sorted(certificate["files"])))
        changed = name, draw(changed_bytes((folder / name).read_bytes()))
    if changed is None or draw(st.booleans()):
        certificate = draw(changed_tree(certificate))
    return folder, certificate, draw(st.integers(0, 9)) > 0, changed


def use_certificate(drawn: tuple[Path, Any, bool, tuple[str, bytes] | None], folder: Path) -> None:
    """Verify it."""
    place_certificate(drawn, folder)
    verify(folder).to_json()


def place_certificate(drawn: tuple[Path, Any, bool, tuple[str, bytes] | None], folder: Path) -> None:
    """Write the release with its certificate into ``folder``."""
    original, certificate, signed, changed = drawn
    for file in original.iterdir():
        shutil.copy(file, folder)
    if changed is not None:
        (folder / changed[0]).write_bytes(changed[1])
        with suppress(KeyError, TypeError):
            certificate["files"][changed[0]] |= {
                "sha256": digest(folder / changed[0]),
                "bytes": (folder / changed[0]).stat().st_size,
            }
    if signed and isinstance(certificate, dict):
        key = load_or_create(house() / "forger.pem")
        body = {**certificate, "publisher": public_text(key)}
        body.pop("signature", None)
        with suppress(UnicodeEncodeError):
            certificate = {**body, "signature": key.sign(canonical(body)).hex()}
    content = certificate if isinstance(certificate, bytes) else json.dumps(certificate).encode()
    (folder / "release.json").write_bytes(content)
