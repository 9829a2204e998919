"""The mesh against the census of 2020, and small versions that need no data."""

from __future__ import annotations

import gzip
import zipfile

import numpy as np
import pytest

from sudare.domain import CountTable, Domain, Mesh
from sudare.domain.mesh import codes_of, rows_and_columns

TOKYO = Mesh("500m", rows=(8426, 8938), columns=(6044, 6556))
JAPAN = Mesh("500m", rows=(6782, 10878), columns=(4541, 8637))


@pytest.fixture(scope="module")
def census(data_folder):
    """Codes and populations of all populated 500 m meshes."""
    file = data_folder / "jp-mesh" / "jp500m_2020.csv.gz"
    if not file.exists():
        pytest.skip(f"no census: {file} is missing")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return np.loadtxt(lines, delimiter=",", skiprows=1, usecols=(0, 2), dtype=np.int64).T


def test_all_codes_of_the_census_lead_back(census):
    codes, people = census
    row, column, valid = rows_and_columns(codes, "500m")
    assert (codes.size, int(people.sum())) == (466_145, 126_146_099)
    assert valid.all()
    assert np.array_equal(codes_of(row, column, "500m"), codes)


@pytest.mark.parametrize(("mesh", "cells"), [(TOKYO, 102_526), (JAPAN, 461_625)])
def test_populated_cells_of_the_windows(census, mesh, cells):
    domain = Domain(mesh=mesh)
    index, inside = domain.locate({"mesh": census[0]})
    table = CountTable(domain, index[inside], census[1][inside])
    assert len(table) == inside.sum() == cells
    assert sorted(domain.labels(table.index)["mesh"].tolist()) == sorted(census[0][inside].tolist())
    if mesh is TOKYO:
        assert table.total == table.to_array().sum() == 48_070_008


def test_the_populated_meshes_as_a_domain(census):
    domain = Domain(mesh=Mesh("500m", codes=census[0]))
    assert domain.size == 466_145
    index, inside = domain.locate({"mesh": census[0].astype(str)})
    assert inside.all()
    assert np.array_equal(np.sort(index), np.sort(domain.cells(np.arange(domain.size))))
    for level in (0, 3, 10, 19, domain.bits):
        blocks, members = np.unique(index >> level, return_counts=True)
        assert np.array_equal(domain.block_sizes(blocks, level), members)


def test_every_mesh_of_tokyo_prefecture_is_a_public_domain(data_folder):
    file = data_folder / "jp-mesh" / "13tokyo_500m_codes.csv.gz"
    if not file.exists():
        pytest.skip(f"no codes of Tokyo: {file} is missing")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        codes = np.loadtxt(lines, skiprows=1, dtype=np.int64)
    mesh = Mesh("500m", codes=codes)
    assert mesh.size == codes.size == 10_520
    assert len(mesh.codes) < codes.size
    assert mesh.locate(codes)[1].all()


def test_a_first_level_mesh_of_the_original_files(data_folder):
    file = data_folder / "jp-mesh" / "raw" / "tblT001141H5339.zip"
    if not file.exists():
        pytest.skip(f"no original file: {file} is missing")
    with zipfile.ZipFile(file) as archive:
        (member,) = (name for name in archive.namelist() if name.startswith("tbl"))
        lines = archive.read(member).decode("cp932").splitlines()[2:]
    mesh = Mesh("500m", codes=["5339"])
    assert mesh.lengths == (160, 160)
    domain = Domain(mesh=mesh)
    index, inside = domain.locate({"mesh": [line.split(",")[0] for line in lines]})
    assert inside.all()
    assert CountTable(domain, index, [int(line.split(",")[4]) for line in lines]).total == 30_215_032


# Worked out by hand from the standard; the row of 523537331, for instance, is (52 * 80 + 3 * 10 + 3) * 2.
BY_HAND = {
    533946113: (8563, 6362),  # Tokyo Station
    533946114: (8563, 6363),
    523537331: (8386, 5746),
    533945363: (8567, 6352),
    644142871: (10336, 6614),
}


def test_codes_worked_out_by_hand():
    codes = np.array(list(BY_HAND))
    row, column, valid = rows_and_columns(codes, "500m")
    assert valid.all()
    assert list(zip(row.tolist(), column.tolist(), strict=True)) == list(BY_HAND.values())


def test_corners_of_the_windows():
    # Row 8426 = (52 * 80 + 53) * 2, column 6044 = (37 * 80 + 62) * 2; the other corner is a north-east quarter.
    assert TOKYO.labels([0, 511], [0, 511]).tolist() == [523756321, 554067874]
    assert JAPAN.lengths == (4096, 4096)
    south, west, north, east = TOKYO.corners([0, 511], [0, 511])
    assert (south[0], west[0]) == (8426 / 240, 137.775)
    assert (north[1], east[1]) == (8938 / 240, 140.975)


def test_a_synthetic_city_keeps_its_people_through_codes():
    random = np.random.default_rng(2020)
    row, column = random.integers(8400, 8960, 5000), random.integers(6000, 6600, 5000)
    codes, people = np.unique(codes_of(row, column, "500m"), return_counts=True)
    domain = Domain(mesh=TOKYO)
    index, inside = domain.locate({"mesh": codes})
    table = CountTable(domain, index[inside], people[inside])
    in_window = (row >= 8426) & (row < 8938) & (column >= 6044) & (column < 6556)
    assert table.total == in_window.sum()
    assert table.to_array()[row[in_window] - 8426, column[in_window] - 6044].min() >= 1
