"""The census of 2020 on the 500 m mesh where it is at hand; elsewhere an invented stand-in that says so.

The file is not part of the package. It is looked for in the folder that the variable SUDARE_DATA names, else in
``../shared/data``.
"""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

import numpy as np

from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import InputError
from sudare.publish import synthetic_table

FILE = Path("jp-mesh") / "jp500m_2020.csv.gz"
TOKYO = Mesh("500m", rows=(8426, 8938), columns=(6044, 6556))
JAPAN = Mesh("500m", rows=(6782, 10878), columns=(4541, 8637))


def census_window(mesh: Mesh, people: int, populated_share: float) -> tuple[CountTable, str]:
    """The people of ``mesh``, and what the table is: the census, or ``people`` invented ones as dense as it."""
    domain = Domain(mesh=mesh)
    path = Path(os.environ.get("SUDARE_DATA") or Path("..") / "shared" / "data") / FILE
    if not path.exists():
        return synthetic_table(domain, people, populated_share=populated_share), "an invented stand-in, no real census"
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            header = lines.readline().strip().split(",")
            columns = (header.index("mesh500m"), header.index("pop"))
            code, count = np.loadtxt(lines, delimiter=",", usecols=columns, dtype=np.int64, unpack=True)
    except (OSError, EOFError, ValueError, zlib.error):
        raise InputError("the census file cannot be read", value=path, allowed="columns mesh500m and pop") from None
    index, inside = domain.locate({"mesh": code})
    return CountTable(domain, index[inside], count[inside]), "the census of 2020"
