"""What the package does without any extra: run in an environment that has the wheel and what it needs, nothing else.

    python -m venv alone && alone/bin/pip install dist/sudare-*.whl && alone/bin/python tests/core.py

A table is counted from CSV, Parquet, and SQLite, and released; recipes are planned, published without
pages in all formats, verified and asked; with pages the report is left out, in one sentence that names the extra;
frames are refused in one too. `tests/unit/test_core.py` runs it with the extras hidden.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import sudare as sd
from sudare.errors import MissingExtraError
from sudare.tables.files import write
from sudare.tables.synthetic import write_city

RECIPE = """
kind = "table"
dataset = "visitors"
data = {path = "visitors.csv", unit = "person"}
privacy = {epsilon = 1}
ledger = {path = "ledger.db", cap = {epsilon = 2}}
output = {folder = "release", key = "publisher.pem", formats = ["csv", "parquet"]}
report = {public = false}
domain.town = {type = "categories", values = ["east", "west"]}
domain.age = {type = "bins", start = 0, stop = 80, step = 20}
"""


PLACES = """
kind = "table"
dataset = "homes"
data = {path = "people.parquet", unit = "person_id"}
privacy = {epsilon = 1}
ledger = {path = "ledger.db", cap = {epsilon = 2}}
output = {folder = "map", key = "publisher.pem", formats = ["csv", "parquet", "geoparquet", "geojson", "records"]}
report = {public = false}
domain.sex = {type = "categories", values = ["f", "m"]}

[domain.mesh]
type = "mesh"
size = "1km"
rows = [4240, 4304]
columns = [3150, 3214]
from = ["latitude", "longitude"]
"""


def refusal(action: Callable[[], object]) -> str:
    """What is said instead of doing it for want of an extra; "" where it is done."""
    try:
        action()
    except MissingExtraError as problem:
        return str(problem)
    return ""


def the_same_everywhere(folder: Path, domain: sd.Domain) -> None:
    """CSV, Parquet and SQLite with the same people give the same table, and rows of it are there without a frame."""
    import duckdb

    people = f"SELECT * FROM read_csv('{folder / 'visitors.csv'}')"  # noqa: S608 - a folder of this run
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({people}) TO '{folder / 'visitors.parquet'}' (FORMAT parquet)")
        rows = connection.execute(people).fetchall()
    with sqlite3.connect(folder / "visitors.db") as database:
        database.execute("CREATE TABLE visitors (person INTEGER, town TEXT, age INTEGER)")
        database.executemany("INSERT INTO visitors VALUES (?, ?, ?)", rows)
    sources = (folder / "visitors.csv", folder / "visitors.parquet", (folder / "visitors.db", "visitors"))
    first, *others = (sd.read(source).count(domain, unit="person") for source in sources)
    assert others == [first, first]
    assert next(iter(first)) == {"town": "east", "age": "0-19", "count": first.count[0]}


def with_places(folder: Path) -> None:
    """An invented city as a map in every format, read again from each, and the same bytes when it is written again."""
    write_city(folder / "people.parquet", people=3000)
    (folder / "map.toml").write_text(PLACES, encoding="utf-8")
    assert sd.plan(folder / "map.toml").dataset == "homes"
    sd.publish(folder / "map.toml")
    assert sd.verify(folder / "map").ok
    opened = sd.open(folder / "map")
    assert abs(opened.table.total - 3000) < 200
    assert sd.reading.ask(opened, sex="f").value > 0
    formats = ("csv", "parquet", "geoparquet", "geojson", "records")
    for name in ("once", "again"):
        (folder / name).mkdir()
        write(opened.table, formats, folder / name)
    for path in (folder / "once").iterdir():
        assert path.read_bytes() == (folder / "again" / path.name).read_bytes(), path.name
    assert (folder / "once" / "records.parquet").read_bytes() == (folder / "map" / "records.parquet").read_bytes()


def main() -> None:
    """Do it in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["SUDARE_STATE"] = "off"  # this machine need not remember the ledger
        rows = [f"{person},{('east', 'west')[person % 3 == 0]},{person % 80}" for person in range(3000)]
        (folder / "visitors.csv").write_text("\n".join(["person,town,age", *rows]) + "\n", encoding="utf-8")
        domain = sd.Domain(town=sd.Categories(["east", "west"]), age=sd.Bins(0, 80, step=20))
        release = sd.release(sd.read(folder / "visitors.csv").count(domain, unit="person"), epsilon=1.0)
        assert abs(release.table.total - 3000) < 200
        assert release.error(block_level=1).low.size
        (folder / "recipe.toml").write_text(RECIPE, encoding="utf-8")
        made = sd.publish(folder / "recipe.toml")
        assert not made.left_out
        assert sd.verify(folder / "release").ok
        assert abs(sd.open(folder / "release").table.total - 3000) < 200
        the_same_everywhere(folder, domain)
        with_places(folder)
        again = RECIPE.replace('"release"', '"shown"').replace("public = false", "public = true")
        (folder / "shown.toml").write_text(again, encoding="utf-8")
        shown = sd.publish(folder / "shown.toml")
        assert shown.report is None
        assert str(shown.left_out[0]).startswith(
            "the report is left out: Vega, which draws charts, is not installed here"
        )
        assert "pip install 'sudare[report]'" in str(shown.left_out[0])
        for wanted in (lambda: sd.anonymity.delta(k=10, sample=0.2, epsilon=1.0), lambda: sd.reweight.fit):
            assert refusal(wanted) == "SciPy is not installed here. Run: pip install 'sudare[science]'"
        for wanted in (
            release.to_arrow,
            release.to_polars,
            lambda: sd.read({"age": [1]}),
            lambda: sd.synthesize(release),
        ):
            assert "is not installed here. Run: pip install" in refusal(wanted)
        assert refusal(release.to_arrow) == "pyarrow is not installed here. Run: pip install 'sudare[frames]'"
    print(f"the core alone: released, published, verified ({len(sys.modules)} modules loaded)")


if __name__ == "__main__":
    main()
