"""A table read back from its released files is the one that was released."""

from fractions import Fraction

import numpy as np
import pytest

import sudare as sd
from sudare.tables.files import write
from sudare.tables.method import cost_of_replacing
from sudare.tables.pages import read_release
from sudare.tables.release import promise, release

MESH = sd.Domain(mesh=sd.Mesh("500m", rows=(8480, 8484), columns=(6300, 6304)), sex=sd.Categories(["f", "m"]))
ODD = sd.Domain(
    cell=sd.Grid(3, 5),
    age=sd.Bins(edges=[None, 0, 15.5, None]),
    town=sd.Categories(["", "a, b", "null", "村"]),
    code=sd.Categories([7, 3]),
    line=sd.Line(3),
)
METHODS = [
    sd.Tree(children=4, shares=[1, 2, "0.5"], strength=0.25),
    sd.Laplace(),
    sd.Laplace(cut=3),
    sd.Simplex(),
    sd.NegativeL2(strength=0.5, fit="shift"),
    sd.Marginals(),
    sd.NonnegativeLasso(),
    sd.Privelet(scale="original"),
    sd.TopDown(),
]


def written(table, method, forms, folder, **terms):
    """A release of ``table``, its files, and the parts of a certificate that are about it."""
    made = release(table, method, seed=1, **terms)
    public_total = terms.get("total") == "public" and method.uses_total
    replaced = cost_of_replacing(method, table.domain, made.budget)
    guarantee = promise(table.unit, made.budget, replaced, terms.get("delta"), public_total=public_total)
    files = {path.name: {"format": form} for form, path in write(made.table, forms, folder).items()}
    domain = made.table.domain.to_json()
    return made, {"guarantee": guarantee.to_json(), "summary": made.summary, "domain": domain, "files": files}


def table_over(domain):
    index = domain.cells(np.arange(domain.size))
    return sd.CountTable(domain, index, np.random.default_rng(1).integers(0, 9, len(index)))


@pytest.mark.parametrize("form", ["parquet", "csv", "geoparquet", "geojson"])
@pytest.mark.parametrize("method", [sd.Simplex(), sd.Privelet(), sd.Laplace()], ids=lambda method: method.name)
def test_each_format_has_the_cells(tmp_path, form, method):
    made, certificate = written(table_over(MESH), method, (form,), tmp_path, epsilon=1)
    found = read_release(tmp_path, certificate).table
    assert found == made.table
    assert found.count.dtype == made.table.count.dtype


def test_a_csv_file_names_cells_of_every_attribute(tmp_path):
    made, certificate = written(table_over(ODD), sd.Laplace(), ("csv",), tmp_path, epsilon=3)
    assert len(made.table) > 200
    assert read_release(tmp_path, certificate).table == made.table


def test_an_empty_table_is_one(tmp_path):
    for form in ("csv", "geojson", "parquet"):
        nobody = sd.CountTable(MESH, [], [])
        made, certificate = written(nobody, sd.Laplace(cut=90), (form,), tmp_path, epsilon=1)
        assert len(read_release(tmp_path, certificate).table) == len(made.table) == 0


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("terms", [{"epsilon": 1}, {"rho": Fraction(1, 3)}, {"epsilon": 1, "delta": 1e-6}], ids=str)
@pytest.mark.parametrize("total", ["noisy", "public"])
def test_method_and_budget_follow_from_the_certificate(tmp_path, method, terms, total):
    line = sd.CountTable.from_array(np.arange(16))
    made, certificate = written(line, method, ("csv",), tmp_path, total=total, **terms)
    found = read_release(tmp_path, certificate)
    assert (type(found.method), found.method.parameters) == (type(method), method.parameters)
    assert found.budget == made.budget
