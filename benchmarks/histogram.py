"""People in a Parquet file to a released table of 4,000 cells, end to end: OpenDP, diffprivlib, Tumult and Sudare.

A million people, one row each, with area (100), age (20 groups of 5 years) and sex; every library releases all 4,000
cells at epsilon 1 for adding or removing a row, with its own reader, and in its recommended form: OpenDP through
Polars and as a vector, diffprivlib by `tools.histogramdd` (which reads no files: it is given arrays), Tumult through
Spark. The start of Spark is apart. All noise but ours by `Tree` has the scale 1. Times are processor time of all
threads and of Spark's processes, the best of three. `Tree` spends 42 % of epsilon on single cells and is made for
large sparse tables: on this small dense one, noise per cell is better, and the rows show it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sudare as sd
from part import run_part
from peers import DIFFPRIVLIB, OPENDP_POLARS, TUMULT, missing, run_peer
from row import Row
from timing import core_seconds

AREAS, AGES, EPSILON, RUNS = 100, 20, 1, 3
CASES = {"seconds": "processor time from file to released table", "cell": "error of a cell", "area": "error of an area"}

START = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
AREAS, AGES, EPSILON, RUNS = 100, 20, 1, 3
found, clock = {}, time.process_time
def timed(name, work):
    times, counts = [], []
    for _ in range(RUNS):
        start = clock()
        made = work()
        times.append(clock() - start)
        counts.append(np.asarray(made).reshape(-1).tolist())
    found[name] = {"seconds": min(times), "counts": counts}
"""

OPENDP_SCRIPT = (
    START
    + """
import opendp.prelude as dp
import polars as pl
dp.enable_features("contrib")
by = ["area", "group", "sex"]
keys = pl.LazyFrame({"area": np.arange(AREAS, dtype=np.int32)}).join(
    pl.LazyFrame({"group": np.arange(AGES, dtype=np.int32)}), how="cross"
).join(pl.LazyFrame({"sex": ["f", "m"]}), how="cross")
def frame():
    context = dp.Context.compositor(
        data=pl.scan_parquet(sys.argv[1]), privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=float(EPSILON)), split_evenly_over=1,
    )
    query = context.query().group_by(by).agg(pl.len().dp.noise()).with_keys(keys)
    return query.release().collect().sort(by)["len"].to_numpy()
timed("OpenDP, Polars", frame)
def vector():
    data = pl.read_parquet(sys.argv[1])
    cell = ((data["area"] * AGES + data["group"]) * 2 + (data["sex"] == "m").cast(pl.Int32)).to_list()
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    count = dp.t.make_count_by_categories(*space, categories=list(range(AREAS * AGES * 2)), null_category=False)
    return (count >> dp.m.then_laplace(scale=1.0 / EPSILON))(cell)
timed("OpenDP, vector", vector)
print(json.dumps(found))
"""
)

DIFFPRIVLIB_SCRIPT = (
    START
    + """
from diffprivlib import tools
data = np.load(sys.argv[1])
edges = [(0, AREAS), (0, AGES), (0, 2)]
timed("diffprivlib", lambda: tools.histogramdd(data, epsilon=EPSILON, bins=(AREAS, AGES, 2), range=edges)[0])
print(json.dumps(found))
"""
)

TUMULT_SCRIPT = (
    START
    + """
import glob, os
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
begun = time.perf_counter()
spark = (
    SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2").config("spark.driver.memory", "3g")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session
spark.range(10).count()
found["start"] = time.perf_counter() - begun
def clock():  # of this process, the JVM and its workers
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            found[int(path.split("/")[2])] = open(path).read().rsplit(")", 1)[1].split()
        except OSError:
            pass
    own = {os.getpid()}
    while more := {child for child, facts in found.items() if int(facts[1]) in own} - own:
        own |= more
    return sum(sum(map(int, found[each][11:15])) for each in own) / os.sysconf("SC_CLK_TCK")
def release():
    people = spark.read.parquet(sys.argv[1]).select("area", "group", "sex")
    session = Session.from_dataframe(PureDPBudget(EPSILON), "people", people, protected_change=AddOneRow())
    keys = KeySet.from_dict({"area": list(range(AREAS)), "group": list(range(AGES)), "sex": ["f", "m"]})
    made = session.evaluate(QueryBuilder("people").groupby(keys).count(), PureDPBudget(EPSILON))
    return made.toPandas().sort_values(["area", "group", "sex"])["count"].to_numpy()
timed("Tumult", release)
print(json.dumps(found))
"""
)


def people(rows: int) -> dict[str, np.ndarray]:
    """Areas of very different size; ages and sexes."""
    generator, weight = np.random.default_rng(3), 1 / np.arange(1, AREAS + 1)
    area = generator.choice(AREAS, rows, p=weight / weight.sum()).astype(np.int32)
    group = np.minimum(generator.gamma(6, 1.6, rows), AGES - 1).astype(np.int32)
    return {"area": area, "group": group, "sex": np.array(["f", "m"])[generator.integers(0, 2, rows)]}


def ours(path: Path, method: sd.Laplace | sd.Tree) -> np.ndarray:
    domain = sd.Domain(area=sd.Line(AREAS), group=sd.Line(AGES), sex=sd.Categories(["f", "m"]))
    table = sd.read(path).count(domain)
    return sd.release(table, method, epsilon=EPSILON).table.to_array()


def rows(quick: bool) -> Iterator[Row]:
    """Times, then errors of cells, then errors of areas."""
    data = people(100_000 if quick else 1_000_000)
    truth = np.zeros((AREAS, AGES, 2), np.int64)
    np.add.at(truth, (data["area"], data["group"], (data["sex"] == "m").astype(int)), 1)
    found: dict[str, tuple[float, list[np.ndarray]]] = {}
    notes, lacking = {"diffprivlib": "arrays in memory"}, []
    with tempfile.TemporaryDirectory() as name:
        path, array = Path(name) / "people.parquet", Path(name) / "people.npy"
        pq.write_table(pa.table(data), path)
        np.save(array, np.stack([data["area"], data["group"], data["sex"] == "m"], axis=1).astype(float))
        for label, method in (("Sudare", sd.Laplace()), ("Sudare, Tree", sd.Tree())):
            seconds = core_seconds(lambda method=method: ours(path, method), RUNS)
            found[label] = seconds, [ours(path, method) for _ in range(RUNS)]
        for label, peer, script, given in (
            ("OpenDP", OPENDP_POLARS, OPENDP_SCRIPT, path),
            ("diffprivlib", DIFFPRIVLIB, DIFFPRIVLIB_SCRIPT, array),
            ("Tumult", TUMULT, TUMULT_SCRIPT, path),
        ):
            with missing(lacking, Row(label, 0, "CPU s", "Sudare", case=CASES["seconds"])):
                answer = run_peer(*peer, script, str(given))
                if "start" in answer:
                    notes[label] = f"without starting Spark: {answer.pop('start'):.0f} s by the clock"
                for way, made in answer.items():
                    found[way] = made["seconds"], [np.reshape(each, truth.shape) for each in made["counts"]]
    for label, (seconds, _) in found.items():
        other = None if label == "Sudare" else "Sudare"
        yield Row(label, seconds, "CPU s", other, notes.get(label, ""), CASES["seconds"])
    yield from lacking
    for what, axes in (("cell", ()), ("area", (1, 2))):
        for label, (_, made) in found.items():
            off = np.mean([(each.sum(axis=axes) - truth.sum(axis=axes)) ** 2 for each in made]) ** 0.5
            other = None if label == "Sudare" else "Sudare"
            yield Row(label, float(off), "people, RMSE", other, case=CASES[what])


if __name__ == "__main__":
    run_part(rows)
