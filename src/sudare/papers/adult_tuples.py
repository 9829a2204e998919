"""The Adult records that the paper on k-anonymity uses, and its trees; elsewhere an invented stand-in that says so.

The files are not part of the package. They are looked for in the folder that the variable SUDARE_DATA names, else in
``../shared/data``. Age is cut to decades. The tree of workclass is the paper's; those of age beyond the sixties, of
education and of income are not printed there and are ours.
"""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudare.anonymity import Hierarchy
from sudare.anonymity.tuples import Tuples
from sudare.errors import InputError

FILES = ("adult.data.gz", "adult.test.gz")
RECORDS = 45_222
FIELDS = (
    "age",
    "workclass",
    "weight",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)

AGE = Hierarchy.from_nested(
    {
        "10s-20s": ["10s", "20s"],
        "30s-40s": ["30s", "40s"],
        "50s-60s": ["50s", "60s"],
        "70s-90s": ["70s", "80s", "90s"],
    }
)
WORKCLASS = Hierarchy.from_nested(
    {
        "Government": ["Local-gov", "State-gov", "Federal-gov"],
        "Self": ["Self-emp-inc", "Self-emp-not-inc"],
        "Private": None,
        "Without-pay": None,
    }
)
EDUCATION = Hierarchy.from_nested(
    {
        "School": ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad"],
        "College": ["Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors"],
        "Graduate": ["Masters", "Prof-school", "Doctorate"],
    }
)
INCOME = Hierarchy.from_nested(["<=50K", ">50K"])
TREES = {"age": AGE, "workclass": WORKCLASS, "education": EDUCATION, "income": INCOME}


def adult_folder() -> Path | None:
    """Where the files of Adult are, if they are at hand."""
    folder = Path(os.environ.get("SUDARE_DATA") or Path("..") / "shared" / "data") / "adult"
    return folder if all((folder / name).exists() for name in FILES) else None


def adult_columns(folder: Path) -> dict[str, list[str]]:
    """The complete records by column: a line that is no record is left out, and the full stop behind labels."""
    rows: list[list[str]] = []
    for name in FILES:
        try:
            with gzip.open(folder / name, "rt", encoding="utf-8") as lines:
                rows += [[field.strip().rstrip(".") for field in line.split(",")] for line in lines]
        except (OSError, EOFError, UnicodeError, zlib.error):
            raise InputError("the Adult file cannot be read", value=folder / name) from None
    complete = [row for row in rows if len(row) == len(FIELDS) and "?" not in row]
    return {name: [row[place] for row in complete] for place, name in enumerate(FIELDS)}


def adult_tuples() -> tuple[Tuples, str]:
    """The complete records as distinct tuples, and what they are: Adult, or a stand-in of as many records."""
    folder = adult_folder()
    if folder is None:
        return _counted(_invented()), "an invented stand-in, no real records"
    columns = adult_columns(folder)
    decades = [f"{age[:-1]}0s" for age in columns["age"]]
    codes = np.stack([tree.locate({**columns, "age": decades}[name]) for name, tree in TREES.items()], axis=1)
    if (codes < 0).any():
        raise InputError("the Adult files hold values that the trees do not have", value=folder)
    return _counted(codes), "Adult, complete records"


def _invented() -> NDArray[np.int64]:
    """As many records as Adult has, each column drawn by itself from weights that fall like 1, 1/2, 1/4 ..."""
    generator = np.random.default_rng(20_200_604)
    columns = []
    for tree in TREES.values():
        size = len(tree.leaves)
        weight = 0.6 ** generator.permutation(size)
        columns.append(generator.choice(size, RECORDS, p=weight / weight.sum()))
    return np.stack(columns, axis=1)


def _counted(codes: NDArray[np.int64]) -> Tuples:
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    return Tuples(tuple(TREES), tuple(TREES.values()), distinct.astype(np.int32), counts.astype(np.int64))
