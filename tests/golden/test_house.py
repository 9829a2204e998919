"""What seeded runs gave before the package was rebuilt (issue 18): tables, samples, plans, certificates, ledgers.

Whole numbers, texts and names must be equal, floats to 7 digits. ``python tests/golden/test_house.py`` writes the files
anew: only where a result was meant to change, which CHANGELOG.md says then.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pyarrow import csv

import sudare as sd
from sudare.noise import Source, record

HOUSE = Path(__file__).parent / "house"
PUBLISHED = ("table", "sample", "perturbation", "weights")
VOLATILE = {"memory_bytes", "disk_bytes", "memory_bytes_here", "disk_bytes_here", "seconds"}
"""What differs from machine to machine."""

# Seeded results; each function makes the content of one golden file


def places(rows: int = 2000) -> sd.CountTable:
    """People of two sexes and three ages in 256 meshes, most of them near one place."""
    rng = np.random.default_rng(18)
    domain = sd.Domain(
        mesh=sd.Mesh("500m", rows=(8480, 8496), columns=(6300, 6316)),
        sex=sd.Categories(["f", "m"]),
        age=sd.Bins(edges=[0, 15, 65, None]),
    )
    spots = np.clip(rng.normal(8, 2.5, (rows, 2)), 0, 15.99)
    people = {
        "person": np.arange(rows),
        "lat": (8480 + spots[:, 0]) / 240,
        "lon": 100 + (6300 + spots[:, 1]) / 160,
        "sex": rng.choice(["f", "m"], rows),
        "age": rng.integers(0, 100, rows),
    }
    columns = {"mesh": ("lat", "lon")}
    return sd.read(pa.table(people)).count(domain, columns=columns, unit="person", max_rows=1)


def bump(**more: Any) -> sd.CountTable:
    """One heap on a grid, of which ``mask`` may take a part away."""
    rows, columns = np.indices((32, 32))
    counts = np.floor(90 * np.exp(-((rows - 12) ** 2 + (columns - 20) ** 2) / 18)).astype(np.int64)
    if (mask := more.get("mask")) is not None:
        counts = np.where(mask, counts, 0)
    domain = sd.Domain(cell=sd.Grid(32, 32, **more))
    row, column = np.nonzero(counts)
    index, inside = domain.locate({"cell": (row, column)})
    assert inside.all()
    order = np.argsort(index)
    return sd.CountTable(domain, index[order], counts[row, column][order])


def rows_of_many() -> sd.CountTable:
    """Three rows of a person, all of which count: of more, the operating system draws which."""
    rng = np.random.default_rng(3)
    people = {"person": np.repeat(np.arange(300), 3), "cell": rng.geometric(0.05, 900).clip(0, 63)}
    return sd.read(pa.table(people)).count(sd.Domain(cell=sd.Line(64)), unit="person", max_rows=3)


METHODS: dict[str, Any] = {
    "laplace": sd.Laplace(),
    "laplace with a cut": sd.Laplace(cut=4),
    "simplex": sd.Simplex(),
    "negative_l2": sd.NegativeL2(),
    "nonnegative_lasso": sd.NonnegativeLasso(),
    "privelet": sd.Privelet(),
    "top_down": sd.TopDown(),
    "tree": sd.Tree(),
    "tree of halves": sd.Tree(children=2),
}


def tables() -> dict[str, Any]:
    """Seeded releases: every method, Gaussian noise, public totals, several rows, a margin, a mask."""
    heap, holed, towns, many = (
        bump(),
        bump(mask=np.add.outer(np.arange(32), np.arange(32)) > 20),
        places(),
        rows_of_many(),
    )
    made = {f"{name}, heap, epsilon 1": sd.release(heap, method, 1, seed=1) for name, method in METHODS.items()}
    for name in ("laplace", "simplex", "top_down", "tree"):
        made[f"{name}, masked heap"] = sd.release(holed, METHODS[name], 1, seed=2)
        made[f"{name}, three rows"] = sd.release(many, METHODS[name], 2, seed=3)
        made[f"{name}, places by sex and age"] = sd.release(towns, METHODS[name], 1, seed=4)
    for name in ("simplex", "negative_l2", "nonnegative_lasso", "top_down", "tree"):
        made[f"{name}, public total"] = sd.release(heap, METHODS[name], 1, total="public", seed=5)
    for name in ("laplace", "simplex", "top_down", "tree"):
        made[f"{name}, rho"] = sd.release(towns, METHODS[name], rho=0.1, seed=6)
    made["tree, delta"] = sd.release(towns, epsilon=1, delta=Fraction(1, 10**6), seed=7)
    made["tree, public totals of areas"] = sd.release(towns, epsilon=1, public_totals=[({"sex": ["f"]}, 1000)], seed=8)
    return {name: of_release(release) for name, release in made.items()}


def of_release(made: Any) -> dict[str, Any]:
    """A release: what is in its table, and what it says of itself."""
    return {
        "index": of_array(made.table.index),
        "count": of_array(made.table.count),
        "guarantee": made.guarantee.to_json(),
        "summary": made.summary,
    }


def error_bars() -> dict[str, Any]:
    """Intervals of blocks, of one sum and of areas, from one release."""
    made = sd.release(places(), epsilon=1, seed=9)
    bars = {"cells": made.error(cells=[0, 5, 300]), "blocks": made.error(block_level=8)}
    bars["sex"] = made.aggregate({"sex": {"f": "women", "m": "men"}})
    sides = ("value", "low", "high")
    return {name: {side: of_array(getattr(bar, side)) for side in sides} for name, bar in bars.items()}


def records() -> dict[str, Any]:
    """A sample, perturbed records, weights, reports of devices and what is estimated from them."""
    rng = np.random.default_rng(5)
    frame = {"age": rng.integers(0, 100, 400), "sex": rng.choice(["f", "m"], 400), "x": rng.normal(40, 9, 400)}
    private, public = pa.table(frame), pa.table({"x": rng.normal(45, 12, 200), "sex": rng.choice(["f", "m"], 200)})
    hierarchies = {"age": sd.anonymity.Hierarchy.from_widths(0, 100, 1, 10, 50), "sex": ["f", "m"]}
    found: dict[str, Any] = {}
    sample = sd.anonymity.anonymize(
        private, hierarchies, k=10, sample=0.4, levels={"age": 1, "sex": 0}, epsilon=2, seed=1
    )
    greedy = sd.anonymity.anonymize(private, hierarchies, k=5, method="greedy", seed=1)
    for name, made in (("sample", sample), ("greedy sample", greedy)):
        found[name] = {
            "rows": of_text(made.records.to_pydict()),
            "guarantee": made.guarantee.to_json(),
            "summary": made.summary,
        }
    for noise in ("laplace", "square_wave"):
        made = sd.reconstruct.perturb(frame["x"].clip(0, 90), bounds=(0, 90), epsilon=1, noise=noise, seed=2)
        found[f"perturbation, {noise}"] = {"values": of_array(made.values), "guarantee": made.guarantee.to_json()}
    scale = sd.reconstruct.perturb(frame["x"].clip(0, 90), bounds=(0, 90), k=2, seed=2)
    density = sd.reconstruct.iterative_bayes(scale.values, scale.scale, np.linspace(0, 90, 10))
    found["perturbation, k"] = {"values": of_array(scale.values), "scale": scale.scale, "k": scale.guarantee.to_json()}
    found["reconstruction"] = of_array(np.asarray(density.probabilities))
    columns = {"bounds": {"x": (0, 90)}, "categories": {"sex": ["f", "m"]}}
    for estimator in ("tilt", "ulsif"):
        weights = sd.reweight.fit(private.select(["x", "sex"]), public, 1, estimator=estimator, seed=3, **columns)
        found[f"weights, {estimator}"] = {
            "weights": of_array(np.asarray(weights.weights)), "guarantee": weights.guarantee.to_json()
        }  # fmt: skip
    values = rng.integers(0, 6, 500)
    for name in ("symmetric_unary", "optimised_unary", "randomised_response", "local_hashing", "subset_selection"):
        reports = sd.local.ENCODINGS[name](6, 1).randomize(values, seed=4)
        estimates = {method: sd.local.estimate(reports, method=method) for method in ("mle", "simplex", "em")}
        found[f"reports, {name}"] = {"reports": of_text(reports.packed.tobytes().hex())} | {
            method: of_array(estimate.counts) for method, estimate in estimates.items()
        }
    return found


# Recipes of each kind, planned, rehearsed and published

SHARED = """
[ledger]
path = "ledger.db"
cap = { epsilon = 100, delta = 0.001 }
[output]
folder = "release"
key = "publisher.pem"
[report]
public = false
[rehearsal]
people = 500
repetitions = 2
[data]
path = "people.parquet"
"""
RECIPES = {
    "table": """unit = "person"
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
name = "tree"
[privacy]
epsilon = 0.5
""",
    "sample": """unit = "person"
[hierarchies.age]
widths = [1, 10, 50]
low = 0
high = 100
[hierarchies.sex]
values = ["f", "m"]
[sample]
k = 8
rate = 0.2
epsilon = 2
levels = { age = 2, sex = 0 }
""",
    "perturbation": """[columns.age]
bounds = [0, 100]
[columns.sex]
categories = ["f", "m"]
[perturbation]
epsilon = 1
""",
    "weights": """[public]
path = "public.parquet"
[columns.age]
bounds = [0, 100]
[columns.sex]
categories = ["f", "m"]
[weights]
epsilon = 1
""",
}


def write_recipe(kind: str, folder: Path) -> Path:
    """A recipe of the kind, with private and public people and a key to sign with."""
    rng = np.random.default_rng(11)
    rows = 600
    spots = np.clip(rng.normal(8, 2.5, (rows, 2)), 0, 15.99)
    people = {
        "person": np.arange(rows),
        "age": rng.integers(0, 100, rows),
        "sex": rng.choice(["f", "m"], rows),
        "lat": (8480 + spots[:, 0]) / 240,
        "lon": 100 + (6300 + spots[:, 1]) / 160,
    }
    pq.write_table(pa.table(people), folder / "people.parquet")
    public = {"age": rng.integers(0, 100, 300), "sex": rng.choice(["f", "m"], 300)}
    pq.write_table(pa.table(public), folder / "public.parquet")
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    (folder / "publisher.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    recipe = folder / "recipe.toml"
    # The same bytes everywhere: their hash is in the certificate.
    recipe.write_text(f'kind = "{kind}"\ndataset = "golden"\n{SHARED}{RECIPES[kind]}', encoding="utf-8", newline="\n")
    return recipe


def foreseen(kind: str) -> dict[str, Any]:
    """What `plan` and `rehearse` say of a recipe, for machines."""
    with emptied_folder() as folder:
        recipe = write_recipe(kind, folder)
        said = {"plan": sd.plan(recipe).to_json(), "rehearsal": sd.rehearse(recipe, seed=1).to_json()}
        return steady(said, folder)


def published(kind: str) -> dict[str, Any]:
    """What a publication with known noise leaves: its certificate, its files, and the rows of its ledger."""
    with emptied_folder() as folder:
        recipe = write_recipe(kind, folder)
        known = Source._derived(bytes(range(32)), seeded=False)
        stamps = {"release id": "20260101-0123456789ab", "created": "2026-01-01T00:00:00+00:00", "ledger head": "00"}
        with mock.patch.object(Source, "system", return_value=known), record() as tape:
            tape.stamps.update(stamps)
            made = sd.publish(recipe)
        assert sd.verify(made.folder).ok
        certificate = json.loads((made.folder / "release.json").read_text())
        files = {name: content_of(made.folder / name) for name in certificate.pop("files")}
        signature = certificate.pop("signature")
        assert len(signature) == 128
        ledger = sd.Ledger(folder / "ledger.db").to_json()
        for entry in ledger["entries"]:
            for name in ("hash", "previous", "time"):  # the time of the day is in the hashes
                entry.pop(name, None)
            entry["content"].pop("sources", None)  # keyed by the ledger
        ledger.pop("head")
        returned = steady(made.to_json(), folder)
        return {"certificate": certificate, "files": files, "ledger": steady(ledger, folder), "returned": returned}


def content_of(path: Path) -> dict[str, Any]:
    """A public file: the columns of a table, the values of JSON (floats differ in their last digits from processor to
    processor, and with them bytes, lengths and hashes), or the bytes."""
    if path.suffix == ".json":
        return without_hashes(json.loads(path.read_text(encoding="utf-8")))
    if path.suffix not in (".parquet", ".csv"):
        return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}
    table = pq.read_table(path) if path.suffix == ".parquet" else csv.read_csv(path)
    columns = {name: column_of(table[name]) for name in table.column_names}
    metadata = {key.decode() for key in table.schema.metadata or ()} - {"ARROW:schema"}
    return {"schema": [str(field) for field in table.schema], "metadata": sorted(metadata), "columns": columns}


def without_hashes(value: Any) -> Any:
    """JSON without the lengths and hashes of files."""
    if isinstance(value, dict):
        return {name: without_hashes(each) for name, each in value.items() if name not in ("bytes", "hash", "sha256")}
    return [without_hashes(each) for each in value] if isinstance(value, list) else value


def column_of(column: pa.ChunkedArray) -> Any:
    """A column of a file."""
    return of_array(column.to_numpy()) if pa.types.is_floating(column.type) else of_text(column.to_pylist())


@contextmanager
def emptied_folder() -> Iterator[Path]:
    """A folder of its own, whose path is nowhere in what is kept."""
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder.resolve()
    finally:
        shutil.rmtree(folder)


# How values are kept


def of_array(values: Any) -> dict[str, Any]:
    """An array: whole numbers by their hash, floats by some of them and by sums that all of them move."""
    array = np.asarray(values).ravel()
    if array.dtype.kind != "f":
        return {"length": len(array), "sum": int(array.sum()), "sha256": of_text(array.tolist())}
    places = np.arange(1, len(array) + 1)
    sums = [array.sum(), (array**2).sum(), (array * places).sum()]
    return {"length": len(array), "sums": list(map(float, sums)), "first": array[:12].tolist()}


def of_text(value: Any) -> str:
    """The hash of a value's JSON."""
    return hashlib.sha256(json.dumps(value, default=str).encode()).hexdigest()


def steady(value: Any, folder: Path) -> Any:
    """The value without what differs from run to run: paths, bytes of memory and disk."""
    if isinstance(value, dict):
        return {str(name): steady(each, folder) for name, each in value.items() if name not in VOLATILE}
    if isinstance(value, list | tuple):
        return [steady(each, folder) for each in value]
    return value.replace(str(folder), "FOLDER") if isinstance(value, str) else value


def rounded(value: Any) -> Any:
    """Floats to 9 digits."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


GOLDEN: dict[str, Callable[[], dict[str, Any]]] = {
    "tables": tables,
    "error_bars": error_bars,
    "records": records,
    **{f"{kind}_foreseen": partial(foreseen, kind) for kind in PUBLISHED},
    **{f"{kind}_published": partial(published, kind) for kind in PUBLISHED},
}


def close(found: Any, kept: Any, where: str = "") -> Iterator[str]:
    """Where two values differ."""
    if isinstance(kept, dict) and isinstance(found, dict):
        for name in sorted({*kept, *found}):
            yield from close(found.get(name), kept.get(name), f"{where}/{name}")
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for number, (one, other) in enumerate(zip(found, kept, strict=True)):
            yield from close(one, other, f"{where}/{number}")
    elif found != kept and not (isinstance(kept, float) and found == pytest.approx(kept, rel=1e-7, abs=1e-12)):
        yield f"{where}: {found!r} instead of {kept!r}"


@pytest.mark.parametrize("name", GOLDEN)
def test_as_before(name):
    kept = json.loads((HOUSE / f"{name}.json").read_text(encoding="utf-8"))
    found = json.loads(json.dumps(rounded(GOLDEN[name]()), default=str))
    assert list(close(found, kept)) == []


if __name__ == "__main__":
    os.environ["SUDARE_STATE"] = "off"
    for name, make in GOLDEN.items():
        text = json.dumps(rounded(make()), indent=1, sort_keys=True, default=str, ensure_ascii=False)
        (HOUSE / f"{name}.json").write_text(text + "\n", encoding="utf-8")
