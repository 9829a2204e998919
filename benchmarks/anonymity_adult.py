"""k-anonymity of Adult beside anjana and anonypy, every output confirmed by pycanon, in one run.

Goals: 10 times as fast as anjana and anonypy, the optimum that looking everywhere finds, local recoding at an NCP of
0.05 at most; nine columns still run. Loss is the NCP with suppressed records counted as erased. Age, education,
marital status and country with the hierarchies of ARX, k = 10. Times are processor time of whole calls, from a frame
in memory to a frame in memory; a peer's first call is a warm-up on few records. anonypy publishes sets of categories,
which hierarchies do not have: they are counted by their size, which is the kinder way.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from part import run_part
from peers import missing, run_peer
from row import Row
from sudare.anonymity import Anonymized, Hierarchy, anonymize
from sudare.anonymity.frames import read_tuples
from sudare.anonymity.lattice import Generalisation, Lattice, penalty
from sudare.anonymity.recoding import Recoding
from sudare.papers.data import adult_columns, data_folder
from timing import core_seconds

K = 10
FOUR = ("age", "education", "marital-status", "native-country")
NINE = (*FOUR, "occupation", "race", "sex", "workclass", "salary-class")

ANJANA = """
import json, sys, time, pandas as pd
from anjana.anonymity import k_anonymity
from anjana.anonymity.utils.utils import get_transformation
columns, limit = sys.argv[3].split(","), float(sys.argv[4])
frame = pd.read_csv(sys.argv[1], dtype=str)[columns]
trees = {}
for name in columns:
    rows = [line.rstrip("\\n").split(";") for line in open(f"{sys.argv[2]}/adult_hierarchy_{name}.csv")]
    trees[name] = {level: pd.Series(labels).values for level, labels in enumerate(zip(*rows))}
k_anonymity(frame.head(500).copy(), [], columns, 5, 50, {name: dict(tree) for name, tree in trees.items()})
start = time.process_time()
made = k_anonymity(frame.copy(), [], columns, 10, limit, trees)
seconds = time.process_time() - start
made.to_csv(sys.argv[5], index=False)
levels = get_transformation(made, columns, trees)
print(json.dumps({"seconds": seconds, "levels": [int(level) for level in levels], "records": len(made)}))
"""

ANONYPY = """
import json, sys, time, anonypy, pandas as pd
columns = sys.argv[2].split(",")
frame = pd.read_csv(sys.argv[1])[[*columns, "salary-class"]]
for name in columns[1:]:
    frame[name] = frame[name].astype("category")
anonypy.Preserver(frame.head(500), columns, "salary-class").anonymize_k_anonymity(10)
start = time.process_time()
made = pd.DataFrame(anonypy.Preserver(frame, columns, "salary-class").anonymize_k_anonymity(10))
seconds = time.process_time() - start
made[columns] = made[columns].map(lambda cell: cell[0])
made.loc[made.index.repeat(made["count"]), columns].to_csv(sys.argv[3], index=False)
print(json.dumps({"seconds": seconds}))
"""

PYCANON = """
import json, sys, pandas as pd
from pycanon.anonymity import k_anonymity
columns = sys.argv[2].split(",")
frame = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
print(json.dumps(int(k_anonymity(frame, columns))))
"""


def confirmed(path: Path, columns: tuple[str, ...]) -> int:
    """The k that pycanon finds in a file."""
    return int(run_peer("pycanon", ["pycanon==1.0.3"], PYCANON, str(path), ",".join(columns)))


def loss(made: Anonymized) -> float:
    return next(measure.value for measure in made.assessment.table if measure.name == "ncp with suppressed")


def pair(name: str, seconds: float, lost: float, k: int, case: str, peer: str = "", **goal: float) -> list[Row]:
    """The time of a way with the k that pycanon found, and what it loses."""
    other = peer or None
    return [
        Row(name, seconds, "CPU s", other, f"pycanon: k = {k}", case),
        Row(name, lost, "NCP", other, "suppressed records count as erased", f"{case}: loss", **goal),
    ]


def ours(
    frame: pa.Table, trees: dict[str, Path], folder: Path, case: str, peer: str = "", **options: Any
) -> Iterator[Row]:
    def work() -> Anonymized:
        made = anonymize(frame, trees, k=K, **options)
        made.records  # noqa: B018 - built when first asked for
        return made

    seconds, made = core_seconds(work, 3), work()
    path = folder / "ours.csv"
    pyarrow.csv.write_csv(made.records, path)
    name = ", ".join(f"{value}" if key == "method" else f"{key}={value}" for key, value in options.items())
    goal = {"at_most": 0.05} if options["method"] == "passes" and len(trees) == len(FOUR) else {}
    yield from pair(f"Sudare, {name}", seconds, loss(made), confirmed(path, tuple(trees)), case, peer, **goal)


def anjana(frame_path: Path, trees: Path, folder: Path, whole: Lattice, limit: float, case: str) -> list[Row]:
    path = folder / "anjana.csv"
    arguments = (str(frame_path), str(trees), ",".join(FOUR), str(100 * limit), str(path))
    answer = run_peer("anjana", ["anjana==1.2.0"], ANJANA, *arguments)
    made = Recoding.everywhere(whole.tuples, Generalisation.at(whole.tuples.hierarchies, answer["levels"]))
    kept = made.published(K)
    lost = kept.loss if len(pd.read_csv(path)) < whole.tuples.total else made.loss
    return pair("anjana", answer["seconds"], lost, confirmed(path, FOUR), case)


def anonypy(frame_path: Path, folder: Path, whole: Lattice, case: str) -> list[Row]:
    path = folder / "anonypy.csv"
    arguments = (str(frame_path), ",".join(FOUR), str(path))
    answer = run_peer("anonypy", ["anonypy==0.2.1", "pandas<3"], ANONYPY, *arguments)
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    by_size, by_node = [], []
    for name, tree in zip(FOUR, whole.tuples.hierarchies, strict=True):
        if tree.ordered:
            ends = [text.split("-") for text in rows[name]]
            size = np.array([float(end[-1]) - float(end[0]) + 1 for end in ends])
            by_node.append(np.where(size > 1, size / len(tree.leaves), 0.0).mean())
        else:
            size = rows[name].str.count(",").to_numpy() + 1
            codes = {text: tree.locate(text.split(",")) for text in rows[name].unique()}
            nodes = {text: tree.cover(own.min(keepdims=True), own.max(keepdims=True)) for text, own in codes.items()}
            by_node.append(rows[name].map({text: penalty(tree, node)[0] for text, node in nodes.items()}).mean())
        by_size.append(np.where(size > 1, size / len(tree.leaves), 0.0).mean())
    rows = pair("anonypy", answer["seconds"], float(np.mean(by_size)), confirmed(path, FOUR), case)
    note = "a set counts as the lowest node above it"
    return [*rows, Row("anonypy, by nodes", float(np.mean(by_node)), "NCP", note=note, case=f"{case}: loss")]


def goal(rows: list[Row], peer: str, case: str) -> Iterator[Row]:
    """How many times as fast as the peer the slowest of our ways is."""
    seconds = {row.name: row.value for row in rows if row.unit == "CPU s" and row.case == case and row.value}
    if peer in seconds:
        slowest = max(value for name, value in seconds.items() if name.startswith("Sudare"))
        yield Row(f"times as fast as {peer}", seconds[peer] / slowest, "times", case=case, at_least=10)


def rows(quick: bool) -> Iterator[Row]:
    """Four columns beside both peers, then nine columns."""
    columns, real = adult_columns()
    if not real:
        yield Row("Adult", None, "CPU s", note="Adult is not at hand: name its folder's parent in SUDARE_DATA")
        return
    trees = data_folder() / "adult" / "arx-hierarchies"
    frame = pa.table({**columns, "salary-class": columns["income"]})
    paths = {name: trees / f"adult_hierarchy_{name}.csv" for name in NINE}
    four = {name: paths[name] for name in FOUR}
    tuples = read_tuples(frame, {name: Hierarchy.of(path) for name, path in four.items()})
    whole = Lattice(tuples, tuples.judge(K))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame_path = folder / "adult.csv"
        pyarrow.csv.write_csv(frame, frame_path)
        for limit in (0.01,) if quick else (0.0, 0.01, 0.05):
            case, found = f"{tuples.total:,} records, four columns, k = {K}, {limit:.0%} may be suppressed", []
            with missing(found, Row("anjana", 0, "CPU s", case=case)):
                found += anjana(frame_path, trees, folder, whole, limit, case)
            found += ours(frame, four, folder, case, "anjana", method="optimal", max_suppressed=limit)
            start = time.process_time()
            points = {levels: whole.look(levels) for levels in product(*map(range, whole.shape))}
            fitting = {levels: point for levels, point in points.items() if point.suppressed <= tuples.share(limit)}
            least = min(float(whole.losses(point)[levels]) for levels, point in fitting.items())
            seconds = time.process_time() - start
            found.append(Row("looking everywhere", seconds, "CPU s", case=case))
            found.append(Row("looking everywhere", least, "NCP", case=f"{case}: loss"))
            own = next(row.value for row in found if row.name.startswith("Sudare") and row.unit == "NCP")
            apart = abs((own or 0.0) - least)
            found.append(Row("our loss over the least", apart, "NCP", case=f"{case}: loss", at_most=1e-12))
            yield from [*found, *goal(found, "anjana", case)]
        case, found = f"{tuples.total:,} records, four columns, k = {K}, local recoding", []
        with missing(found, Row("anonypy", 0, "CPU s", case=case)):
            found += anonypy(frame_path, folder, whole, case)
        for options in ({"method": "mondrian"}, {"method": "mondrian", "relaxed": True}, {"method": "passes"}):
            found += ours(frame, four, folder, case, "anonypy", **options)
        yield from [*found, *goal(found, "anonypy", case)]
        case = f"{tuples.total:,} records, nine columns, k = {K}"
        for method in ("optimal", "greedy", "mondrian") if quick else ("optimal", "greedy", "mondrian", "passes"):
            yield from ours(frame, paths, folder, case, method=method)


if __name__ == "__main__":
    run_part(rows)
