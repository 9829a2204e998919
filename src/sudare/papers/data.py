"""The papers' data where they are at hand, and invented stand-ins that say so elsewhere.

No file is part of the package: they are looked for in the folder that the variable SUDARE_DATA names, else in
``../shared/data``.

- The census of 2020 on the 500 m mesh.
- The 23 wards of Tokyo: who was where at six times of a day. The paper prints ten wards and the totals of all. How the
  other 13 share the rest is invented: at every hour they decrease evenly from 1.4 to 0.6 times their mean, in the order
  below, which keeps each of them below the tenth printed ward over the day.
- Where 1,000 people in central Tokyo were, in 32 x 32 regions: Nightley pseudo people flow (CC BY 4.0 by its authors).
- Adult for the thesis on k-anonymity, age cut to decades (its 45,223 records are 45,222: errata K2). The tree of
  workclass is the thesis's and one leaf, for people without pay; those of age beyond the sixties, of education and of
  income are not printed there and are ours. `six_leaves` uses the printed trees alone.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudare.anonymity import Hierarchy
from sudare.anonymity.lattice import Tuples
from sudare.arrays import Integers
from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import InputError
from sudare.language.messages import PageMessage
from sudare.render.place_charts import TileLayout
from sudare.tables.synthetic import synthetic_table

FILE = Path("jp-mesh") / "jp500m_2020.csv.gz"
TOKYO = Mesh("500m", rows=(8426, 8938), columns=(6044, 6556))
JAPAN = Mesh("500m", rows=(6782, 10878), columns=(4541, 8637))
STAND_IN = PageMessage("paper.basis.stand_in")


def data_folder() -> Path:
    """Where real data are looked for."""
    return Path(os.environ.get("SUDARE_DATA") or Path("..") / "shared" / "data")


def numbers(path: Path, *names: str) -> NDArray[np.int64]:
    """Columns of whole numbers (columns, rows) of a packed CSV file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header = lines.readline().strip().split(",")
        columns = [header.index(name) for name in names]
        return np.loadtxt(lines, delimiter=",", usecols=columns, dtype=np.int64, unpack=True, ndmin=2)


def census_window(mesh: Mesh, people: int, populated_share: float) -> tuple[CountTable, PageMessage]:
    """The people of ``mesh``, and what the table is: the census, or ``people`` invented ones as dense as it."""
    domain = Domain(mesh=mesh)
    path = data_folder() / FILE
    if not path.exists():
        return synthetic_table(domain, people, populated_share=populated_share), STAND_IN
    try:
        code, count = numbers(path, "mesh500m", "pop")
    except (OSError, EOFError, ValueError, zlib.error):
        raise InputError("the census file cannot be read", value=path, allowed="columns mesh500m and pop") from None
    index, inside = domain.locate({"mesh": code})
    return CountTable(domain, index[inside], count[inside]), PageMessage("paper.basis.census")


SIDE = 32
_TRACES, _POSITIONS = ("traintraces_TK.csv.gz", "testtraces_TK.csv.gz"), 70_000


def positions() -> tuple[Integers, PageMessage]:
    """Regions 0..1023 of all positions (n,) of people in central Tokyo, and what they are."""
    paths = [data_folder() / "tokyo" / name for name in _TRACES]
    if not all(path.exists() for path in paths):
        share = 1 / np.arange(1, SIDE**2 + 1)
        return np.random.default_rng(1).choice(SIDE**2, _POSITIONS, p=share / share.sum()), STAND_IN
    try:
        regions = np.concatenate([numbers(path, "reg_id")[0] for path in paths])
    except (OSError, EOFError, ValueError, zlib.error):
        raise InputError("the traces cannot be read", value=paths[0].parent, allowed="a column reg_id") from None
    return regions - 1, PageMessage("paper.basis.traces")


HOURS = ("8:00", "11:00", "14:00", "17:00", "20:00", "23:00")
TOTALS = (2957, 3922, 4640, 4793, 4300, 3283)
PRINTED = {
    "Shibuya": (262, 394, 533, 532, 479, 351),
    "Shinjuku": (278, 414, 505, 531, 454, 304),
    "Minato": (267, 393, 509, 479, 416, 284),
    "Chiyoda": (186, 381, 506, 496, 476, 248),
    "Setagaya": (295, 331, 367, 403, 368, 317),
    "Suginami": (165, 209, 227, 246, 187, 188),
    "Chuo": (121, 177, 216, 188, 148, 118),
    "Bunkyo": (98, 166, 181, 197, 206, 143),
    "Shinagawa": (98, 147, 182, 173, 147, 99),
    "Nakano": (154, 117, 116, 133, 141, 142),
}
INVENTED = (
    "Toshima", "Koto", "Ota", "Meguro", "Taito", "Nerima", "Sumida", "Edogawa", "Itabashi", "Adachi", "Kita",
    "Katsushika", "Arakawa",
)  # fmt: skip
WARDS = (*PRINTED, *INVENTED)
EPSILONS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
PAPER = {
    "EM": (2971.31, 1846.69, 1404.14, 982.69, 780.58, 628.41, 524.80, 407.92, 349.73, 287.42),
    "MLE": (4885.28, 2256.53, 1614.74, 1072.24, 849.41, 710.34, 601.56, 503.13, 434.63, 363.16),
}
"""The errors that the paper prints, one for each of `EPSILONS`."""
CORRELATION = {"EM (plain)": 0.870, "MLE": 0.255}
"""Between a ward's error and its people, as the paper prints it; its EM is the plain one."""
_MAP = (
    ("", "Itabashi", "Kita", "Adachi", "", ""),
    ("Nerima", "Toshima", "Bunkyo", "Arakawa", "Katsushika", ""),
    ("Nakano", "Shinjuku", "Chiyoda", "Taito", "Sumida", "Edogawa"),
    ("Suginami", "Shibuya", "Minato", "Chuo", "Koto", ""),
    ("Setagaya", "Meguro", "Shinagawa", "", "", ""),
    ("", "", "Ota", "", "", ""),
)


def people(hour: int) -> NDArray[np.int64]:
    """How many of the paper's users are in each of the `WARDS` (23,) at that one of the `HOURS`.

    >>> int(people(2).sum()), int(people(2)[WARDS.index("Shinjuku")])
    (4640, 505)
    """
    printed = np.array([counts[hour] for counts in PRINTED.values()])
    rest = TOTALS[hour] - int(printed.sum())
    wanted = np.linspace(1.4, 0.6, len(INVENTED)) * rest / len(INVENTED)
    whole = np.floor(wanted).astype(np.int64)
    whole[np.argsort(whole - wanted)[: rest - int(whole.sum())]] += 1
    return np.concatenate([printed, whole])


def tiles() -> TileLayout:
    """The wards as tiles, about where they lie."""
    places = {name: (row, column) for row, names in enumerate(_MAP) for column, name in enumerate(names) if name}
    rows, columns = zip(*(places[ward] for ward in WARDS), strict=True)
    return TileLayout(WARDS, rows, columns)


FILES = ("adult.data.gz", "adult.test.gz")
RECORDS, TRAINING_RECORDS = 45_222, 32_561
"""Complete records of both files, and all of the first."""
FIELDS = (
    "age", "workclass", "weight", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip

_AGES = {"10s-20s": ["10s", "20s"], "30s-40s": ["30s", "40s"], "50s-60s": ["50s", "60s"]}
_WORK = {
    "Government": ["Local-gov", "State-gov", "Federal-gov"],
    "Self": ["Self-emp-inc", "Self-emp-not-inc"],
    "Private": None,
}
PRINTED_TREES = {"age": Hierarchy.from_nested(_AGES), "workclass": Hierarchy.from_nested(_WORK)}
"""Figure 2.1, with six leaves each. Adult has people above 69 and without pay, for whom they have no leaf."""
TREES = {
    "age": Hierarchy.from_nested({**_AGES, "70s-90s": ["70s", "80s", "90s"]}),
    "workclass": Hierarchy.from_nested({**_WORK, "Without-pay": None}),
    "education": Hierarchy.from_nested(
        {
            "School": ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad"],
            "College": ["Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors"],
            "Graduate": ["Masters", "Prof-school", "Doctorate"],
        }
    ),
    "income": Hierarchy.from_nested(["<=50K", ">50K"]),
}


def six_leaves(population: Tuples) -> Tuples:
    """The records that the trees of figure 2.1 have leaves for, under these trees."""
    trees = [PRINTED_TREES.get(name, tree) for name, tree in zip(population.names, population.hierarchies, strict=True)]
    codes = np.stack(
        [
            new.locate([old.leaves[code] for code in population.codes[:, place]])
            for place, (old, new) in enumerate(zip(population.hierarchies, trees, strict=True))
        ],
        axis=1,
    )
    kept = (codes >= 0).all(axis=1)
    return Tuples(population.names, tuple(trees), codes[kept].astype(np.int32), population.counts[kept])


def adult_columns(files: Sequence[str] = FILES, *, complete: bool = True) -> tuple[dict[str, list[str]], bool]:
    """The records of Adult by column, and whether they are real: a stand-in is as long and has the same values.

    A line that is no record is left out, the full stop behind labels too, and where ``complete`` each record that
    lacks a value.
    """
    paths = [data_folder() / "adult" / name for name in files]
    if not all(path.exists() for path in paths):
        return _invented(RECORDS if complete else TRAINING_RECORDS), False
    rows: list[list[str]] = []
    for path in paths:
        try:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                rows += [[field.strip().rstrip(".") for field in line.split(",")] for line in lines]
        except (OSError, EOFError, UnicodeError, zlib.error):
            raise InputError("the Adult file cannot be read", value=path) from None
    kept = [row for row in rows if len(row) == len(FIELDS) and not (complete and "?" in row)]
    if not kept:
        raise InputError("the Adult file cannot be read", value=paths[0].parent)
    return {name: [row[place] for row in kept] for place, name in enumerate(FIELDS)}, True


def _invented(records: int) -> dict[str, list[str]]:
    """Two sexes whose columns differ; within them columns are drawn one by one, but for income, which rises with
    education. Labels have weights that fall like 1, 0.7, 0.49 ..."""
    rng = np.random.default_rng(20_200_604)
    women = rng.random(records) < 0.325

    def labels(names: Sequence[str | None]) -> list[str]:
        weight = 0.7 ** np.arange(len(names))
        codes = rng.choice(len(names), records, p=weight / weight.sum()) + (rng.random(records) < 0.3 * women)
        return [str(names[code]) for code in np.minimum(codes, len(names) - 1)]

    years = np.clip(rng.normal(10, 2.5, records), 1, 16).round()
    rich = rng.random(records) < 1 / (1 + np.exp(2.6 + women - (years - 10) / 2))
    whole = {
        "age": np.clip(17 + rng.gamma(2.2, 10, records) - 2 * women, 17, 90),
        "education-num": years,
        "capital-gain": np.where(rng.random(records) < 0.92, 0, rng.gamma(1.2, 8_000, records).clip(0, 99_999)),
        "hours-per-week": np.clip(rng.normal(42 - 6 * women, 11), 1, 99),
    }
    return {name: list(map(str, column.round().astype(int).tolist())) for name, column in whole.items()} | {
        "workclass": labels(TREES["workclass"].leaves),
        "education": labels(TREES["education"].leaves),
        "marital-status": labels(("Married-civ-spouse", "Never-married", "Divorced", "Widowed")),
        "occupation": labels([f"occupation {number}" for number in range(14)]),
        "race": labels([f"race {number}" for number in range(5)]),
        "sex": np.where(women, "Female", "Male").tolist(),
        "income": np.where(rich, ">50K", "<=50K").tolist(),
    }


def adult_tuples() -> tuple[Tuples, PageMessage]:
    """The complete records as distinct tuples, and what they are: Adult, or a stand-in of as many records."""
    columns, real = adult_columns()
    decades = [f"{age[:-1]}0s" for age in columns["age"]]
    codes = np.stack([tree.locate({**columns, "age": decades}[name]) for name, tree in TREES.items()], axis=1)
    if (codes < 0).any():
        raise InputError("the Adult files hold values that the trees do not have", value=data_folder() / "adult")
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    found = Tuples(tuple(TREES), tuple(TREES.values()), distinct.astype(np.int32), counts.astype(np.int64))
    return found, PageMessage("paper.basis.adult") if real else STAND_IN
