"""An origin-destination table: two meshes as one domain, so that inflow, outflow and total agree.

Run: python examples/commuting.py
"""

from __future__ import annotations

import numpy as np

import sudare as sd

SIDE = 16


def trips(people: int = 200_000, seed: int = 1) -> dict[str, np.ndarray]:
    """Invented commuters: homes in two towns, work mostly in the centre of the larger one."""
    rng = np.random.default_rng(seed)
    town = rng.random(people) < 0.7
    home = np.where(town[:, None], (6, 6), (11, 10)) + rng.normal(0, 1.5, (people, 2))
    work = np.where((rng.random(people) < 0.6)[:, None], (6, 6), home) + rng.normal(0, 0.8, (people, 2))
    places = np.clip(np.concatenate([home, work], axis=1), 0, SIDE - 0.01)
    origin = np.array([8480, 6300, 8480, 6300])
    degrees = (places + origin) / np.array([240, 160, 240, 160]) + np.array([0, 100, 0, 100])
    names = ("home_lat", "home_lon", "work_lat", "work_lon")
    return {"person": np.arange(people), **{name: degrees[:, i] for i, name in enumerate(names)}}


def main() -> None:
    import pyarrow

    mesh = sd.Mesh("500m", rows=(8480, 8480 + SIDE), columns=(6300, 6300 + SIDE))
    domain = sd.Domain(home=mesh, work=mesh)
    table = sd.read(pyarrow.table(trips())).count(
        domain, columns={"home": ("home_lat", "home_lon"), "work": ("work_lat", "work_lon")}, unit="person"
    )
    release = sd.release(table, epsilon=1)
    flows = release.table.to_array()  # home row, home column, work row, work column
    outflow, inflow = flows.sum(axis=(2, 3)), flows.sum(axis=(0, 1))
    print(release.guarantee)
    print(f"{domain.size:,} cells; out {outflow.sum():,} = in {inflow.sum():,} = total {release.table.total:,}")
    exact = table.to_array()
    for name, released, truth in (("out", outflow, exact.sum(axis=(2, 3))), ("in", inflow, exact.sum(axis=(0, 1)))):
        print(f"mean absolute error of the {name}flow of a place: {np.abs(released - truth).mean():.1f} people")


if __name__ == "__main__":
    main()
