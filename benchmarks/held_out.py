"""Which data sets are for tuning and which are held out: `Tree` is tuned on the first, and the second are opened once.

Chosen before anything was tuned. Lines: the eight of DPBench come in four families (Adult, salaries, rejected loans,
bids), and each family with two lines or more has lines on both sides. Grids: cabspottingE and Loan are held out, and
two tables that no benchmark had read before: the first mesh 5438 (Nagano) of the census and the visits to points of
interest in central Tokyo. `coverage.py` and `tree_accuracy.py` had read cabspottingE and Loan before; nothing in this
list was looked at again until all settings were committed.
"""

from __future__ import annotations

import csv
import gzip

import numpy as np

import sudare as sd
from grids import data_folder

LINES = {
    "tuning": (
        "ADULTFRANK.n4096", "GrossCompenMDSalary1", "RejectStats_0_4096_no_outliers", "bids"
    ),
    "held out": (
        "GrossCompenMDSalary2_filtered", "RejectStats_4_4096_no_outliers", "bids_j", "bids_m"
    ),
}  # fmt: skip
GRIDS = {
    "tuning": ("Adult_2D", "BeijingTaxiE", "BeijingTaxiS", "cabspottingS"),
    "held out": ("cabspottingE", "Loan_2D"),
}
PLACES = {"tuning": ("census around Tokyo",), "held out": ("first mesh 5438", "points of interest")}
PARTS = tuple(LINES)


def line(name: str) -> np.ndarray:
    """4,096 counts."""
    return np.load(data_folder() / "dpbench-1d" / f"{name}.npy")


def grid(name: str) -> np.ndarray:
    """256 x 256 counts."""
    return np.load(data_folder() / "dpbench-2d" / f"{name}_256_256.npy").astype(np.int64)


def sampled(counts: np.ndarray, records: int) -> sd.CountTable:
    """So many records drawn from the shares of ``counts``; the same ones every time."""
    drawn = np.random.default_rng(records).multinomial(records, counts.ravel() / counts.sum())
    return sd.CountTable.from_array(drawn.reshape(counts.shape))


def place(name: str) -> sd.CountTable:
    """One of the tables with places, whole."""
    return {
        "census around Tokyo": lambda: _census((8426, 8938), (6044, 6556)),
        # A first mesh has 160 x 160 cells of 500 m: rows 54 * 160 from 0 degrees north, columns 38 * 160 from 100 east.
        "first mesh 5438": lambda: _census((54 * 160, 55 * 160), (38 * 160, 39 * 160)),
        "points of interest": _points_of_interest,
    }[name]()


def _census(rows: tuple[int, int], columns: tuple[int, int]) -> sd.CountTable:
    domain = sd.Domain(mesh=sd.Mesh("500m", rows=rows, columns=columns))
    path = data_folder() / "jp-mesh" / "jp500m_2020.csv.gz"
    return sd.read(path).table(domain, columns={"mesh": "mesh500m"}, count="pop", outside="drop")


def _points_of_interest() -> sd.CountTable:
    """Visits by a 32 x 32 grid and ten kinds of places."""
    visits: dict[tuple[int, int, str], int] = {}
    with gzip.open(data_folder() / "tokyo" / "POI_TK.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = int(row["y_id"]), int(row["x_id"]), row["category"].split("/")[0]
            visits[key] = visits.get(key, 0) + int(row["count"])
    kinds = sorted({key[2] for key in visits})
    domain = sd.Domain(place=sd.Grid(32, 32), kind=sd.Categories(kinds))
    counts = np.zeros((32, 32, len(kinds)), dtype=np.int64)
    for (north, east, kind), number in visits.items():
        counts[north, east, kinds.index(kind)] = number
    cells = domain.cells(np.arange(domain.size))
    order = np.argsort(cells)
    return sd.CountTable(domain, cells[order], counts.ravel()[order])
