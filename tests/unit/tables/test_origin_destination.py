"""Two meshes as one domain; hours as a further attribute; the New York commuting flows where they are at hand."""

import csv

import numpy as np

import sudare as sd


def test_inflow_outflow_and_total_agree():
    mesh = sd.Mesh("1km", rows=(4240, 4248), columns=(3150, 3157))
    domain = sd.Domain(home=mesh, work=mesh, hour=sd.Bins(0, 24, step=6))
    rng = np.random.default_rng(1)
    index = np.sort(domain.cells(rng.choice(domain.size, 500, replace=False)))
    table = sd.CountTable(domain, index, rng.integers(1, 400, 500), sd.Unit("person", max_rows=2))
    made = sd.release(table, epsilon=1, seed=1).table
    flows = made.to_array()
    assert flows.shape == (8, 7, 8, 7, 4)
    assert flows.sum(axis=(2, 3, 4)).sum() == flows.sum(axis=(0, 1, 4)).sum() == made.total
    assert abs(made.total - table.total) < 1000
    # A block of the tree is an area of homes and an area of works at once: the first bits halve each axis in turn.
    home_rows, home_columns, work_rows, work_columns, _ = domain.coordinates(
        made.index[made.index >> (domain.bits - 4) == 0]
    )
    for axis in (home_rows, home_columns, work_rows, work_columns):
        assert axis.max() < 4


def test_new_york_commuting(data_folder):
    with (data_folder / "ny-commuting" / "NY_commuting_flows_2011.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    places = sorted({row["origin"] for row in rows} | {row["destination"] for row in rows})
    domain = sd.Domain(home=sd.Categories(places), work=sd.Categories(places))
    index, inside = domain.locate(
        {"home": [row["origin"] for row in rows], "work": [row["destination"] for row in rows]}
    )
    assert inside.all()
    table = sd.CountTable(domain, index, [int(row["flow"]) for row in rows])
    made = sd.release(table, epsilon=1, seed=1).table
    assert abs(made.total - table.total) / table.total < 1e-3
    released, truth = made.to_array(), table.to_array()
    assert np.abs(released.sum(axis=0) - truth.sum(axis=0)).mean() < 200
