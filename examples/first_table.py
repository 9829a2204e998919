"""A first private table: the README's example, on a small invented city.

Run: python examples/first_table.py
"""

from __future__ import annotations

import sudare as sd
from sudare.tables.synthetic import city


def main() -> None:
    domain = sd.Domain(
        mesh=sd.Mesh("500m", rows=(8480, 8608), columns=(6300, 6428)),
        sex=sd.Categories(["f", "m"]),
    )
    people = sd.read(city(people=50_000))
    table = people.count(domain, columns={"mesh": ("latitude", "longitude")}, unit="person_id")
    release = sd.release(table, epsilon=0.5)
    print(release.guarantee)
    print(f"{len(release.table):,} cells are released with {release.table.total:,} people")


if __name__ == "__main__":
    main()
