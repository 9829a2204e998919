"""Tables without places: mean total variation of 1-, 2-, 3-way marginals and cells, on Adult with 6 and 8 attributes.

`Marginals` beside `Tree` at the same epsilon, and with delta 1e-9 (means of three runs), and beside MST and AIM
(`marginal_peers.py`, over the package mbi, one run each), which promise (epsilon, 1e-9). Goal: our better form, pure or
with delta, no worse than each of both on the mean of the four. Adult is what the limit between cells and pairs
was found on: it is not held out.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

import sudare as sd
from part import run_part
from peers import MBI, PeerError, run_peer
from row import Row
from sudare.tables.marginal_axes import Box

COLUMNS = (  # noqa: SIM905 - a list of words is shorter so
    "age workclass fnlwgt education edunum marital occupation relationship race sex gain loss hours country income"
).split()
SIX = ["education", "sex", "age", "income", "race", "marital"]
EIGHT = [*SIX, "workclass", "occupation"]
UNIT = "mean total variation"
MEGABYTES = 1
"""Of AIM's models: its authors allow 80, with which no case ended within 480 s on two cores."""
LONGEST = float(os.environ.get("SUDARE_PEER_SECONDS", "1800"))
"""By the clock, for a peer: AIM takes many minutes of processor time in each case."""


def adult(names: list[str]) -> tuple[np.ndarray, list[int]]:
    """Codes of both files of Adult, ages in eight decades, and how many codes each attribute has."""
    folder = Path(os.environ.get("SUDARE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "adult"
    files = [
        pd.read_csv(folder / f"adult.{part}.gz", header=None, names=COLUMNS, skipinitialspace=True, skiprows=skipped)
        for part, skipped in (("data", 0), ("test", 1))
    ]
    rows = pd.concat(files, ignore_index=True)
    rows["age"] = (pd.to_numeric(rows["age"], errors="coerce") // 10).clip(1, 8)
    rows = rows[rows["age"].notna()]
    rows["income"] = rows["income"].str.rstrip(".")
    coded = [pd.Categorical(rows[name]) for name in names]
    return np.column_stack([one.codes.astype(np.int64) for one in coded]), [len(one.categories) for one in coded]


def errors(truth: sd.CountTable, made: sd.CountTable) -> list[float]:
    """Mean total variation of 1-, 2-, 3-way marginals, and of the cells."""
    box, total = Box(truth.domain), 2 * truth.total
    ranks = [box.ranks(table.index) for table in (truth, made)]
    found = []
    for size in (1, 2, 3, len(box.sizes)):
        off = []
        for axes in combinations(range(len(box.sizes)), size):
            one, other = (box.sums(axes, own, table.count) for own, table in zip(ranks, (truth, made), strict=True))
            off.append(np.abs(one - other).sum() / total)
        found.append(float(np.mean(off)))
    return found


def counted(domain: sd.Domain, codes: np.ndarray) -> sd.CountTable:
    index, count = np.unique(domain.index(*codes.T), return_counts=True)
    return sd.CountTable(domain, index, count)


def peer(name: str, codes: np.ndarray, sizes: list[int], epsilon: float, domain: sd.Domain) -> sd.CountTable:
    with tempfile.TemporaryDirectory() as folder:
        problem = Path(folder) / "problem.npz"
        np.savez(problem, codes=codes, sizes=sizes)
        script = Path(__file__).with_name("marginal_peers.py").read_text(encoding="utf-8")
        made = run_peer(*MBI, script, str(problem), name, str(epsilon), "0", str(MEGABYTES), seconds=LONGEST)
    return counted(domain, np.array(made, dtype=np.int64))


def rows(quick: bool) -> Iterator[Row]:
    """Ours and MST in every case, then AIM, which takes longest."""
    runs, ours = 1 if quick else 3, {}
    cases = [(names, epsilon) for names in (SIX, EIGHT) for epsilon in (0.1, 1, 3)]
    for names, epsilon in cases:
        *_, truth, case = asked(names, epsilon)
        ours[case] = np.inf
        for label, method, further in (
            ("Marginals", sd.Marginals(), {}),
            ("Marginals, delta 1e-9", sd.Marginals(), {"delta": 1e-9}),
            ("Tree", sd.Tree(), {}),
        ):
            made = [sd.release(truth, method, epsilon, seed=run, **further).table for run in range(runs)]
            found = np.mean([errors(truth, one) for one in made], axis=0)
            yield from _rows(label, found, case)
            ours[case] = min(ours[case], float(found.mean())) if label.startswith("Marginals") else ours[case]
        yield from beside("mst", names, epsilon, ours[case])
    for names, epsilon in cases:
        yield from beside("aim", names, epsilon, ours[asked(names, epsilon)[-1]])


def asked(names: list[str], epsilon: float) -> tuple[np.ndarray, list[int], sd.Domain, sd.CountTable, str]:
    codes, sizes = adult(names)
    pairs = zip(names, sizes, strict=True)
    domain = sd.Domain(**{name: sd.Categories(list(range(size))) for name, size in pairs})
    return codes, sizes, domain, counted(domain, codes), f"Adult, {len(names)} attributes, epsilon {epsilon}"


def beside(name: str, names: list[str], epsilon: float, ours: float) -> Iterator[Row]:
    """A peer, and our better form over it."""
    codes, sizes, domain, truth, case = asked(names, epsilon)
    label = f"{name.upper()}, delta 1e-9"
    try:
        found = errors(truth, peer(name, codes, sizes, epsilon, domain))
    except PeerError as failure:
        yield Row(label, None, UNIT, note=str(failure), case=case)
        return
    yield from _rows(label, np.array(found), case)
    yield Row(f"Marginals over {name.upper()}", ours / float(np.mean(found)), "times", case=case, at_most=1.0)


def _rows(label: str, found: np.ndarray, case: str) -> Iterator[Row]:
    said = ", ".join(f"{value:.4f}" for value in found)
    yield Row(label, float(found.mean()), UNIT, case=case, note=f"1-, 2-, 3-way, cells: {said}")


if __name__ == "__main__":
    run_part(rows)
