import re

import numpy as np
import pytest

from sudare.domain import Bins, Categories, CountTable, Domain, Grid, Line, Mesh
from sudare.errors import ParameterError
from sudare.render.reports import internal_page
from sudare.tables.comparison import comparison_picture, comparison_sections

MESH = Domain(mesh=Mesh("500m", rows=(8480, 8496), columns=(6300, 6316)))


def comparison_page(truth, released, **more):
    return internal_page(comparison_sections(truth, released, **more), title="x")


def noisy(domain, seed=1):
    generator = np.random.default_rng(seed)
    index = domain.cells(np.unique(generator.integers(0, domain.size, 60)))
    count = generator.integers(1, 500, len(index))
    released = np.round(count + generator.laplace(0, 20, len(index))).astype(int)
    return CountTable(domain, index, count), CountTable.released(domain, index, released)


DOMAINS = {
    "mesh": MESH,
    "mesh by sex and age": Domain(
        mesh=Mesh("1km", codes=["533946", "533957"]),
        sex=Categories(["f", "m"]),
        age=Bins(edges=[0, 15, 65, None]),
    ),
    "grid": Domain(cell=Grid(300, 300)),
    "line": Domain(cell=Line(1000)),
    "categories": Domain(town=Categories(["A</script>", "B"]), age=Bins(0, 100, step=5)),
    "one cell": Domain(cell=Line(1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DOMAINS)
def test_every_domain_has_a_page_that_loads_nothing(read, name):
    found = read(comparison_page(*noisy(DOMAINS[name])))
    assert found.loads() == []
    assert [*found.maps, *found.charts] in (
        ["map-tables", "chart-errors", "chart-values"],
        ["chart-tables", "chart-errors", "chart-values"],
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mesh", "line", "one cell"])
def test_pictures_are_png(name):
    assert comparison_picture(*noisy(DOMAINS[name]), title=name, scale=1).startswith(b"\x89PNG")


@pytest.mark.slow
def test_empty_and_equal_tables_can_be_compared():
    empty = CountTable(MESH, [], [])
    truth, _ = noisy(MESH)
    for pair in ((empty, empty), (truth, truth), (truth, empty), (empty, truth)):
        assert "</html>" in comparison_page(*pair)
    assert comparison_picture(empty, empty, scale=1).startswith(b"\x89PNG")


def test_the_tables_hold_the_measured_numbers(read):
    domain = Domain(cell=Grid(2, 2))
    truth = CountTable(domain, [0, 1], [12, 4])
    released = CountTable.released(domain, [0, 2], [10, 1])
    rows = read(comparison_page(truth, released)).rows
    assert ["1", "4", "4", "2.29", "1.75", "−1.25", "43.8 %"] in rows
    assert ["4", "1", "16", "5", "5", "−5", "31.2 %"] in rows
    assert ["1 to 9", "1", "4", "4", "−4"] in rows
    assert ["100 and more", "0", "–", "–", "–"] in rows
    assert ["populated, and released empty (false negatives)", "1", "50 %"] in rows
    assert ["empty, and released with people (false positives)", "1", "50 %"] in rows


def test_square_kilometres_only_where_a_block_is_an_area(read):
    with_area = read(comparison_page(*noisy(MESH))).rows
    assert "area (km²)" in with_area[0]
    assert with_area[1][:3] == ["1", "0.263", "256"]
    assert "area (km²)" not in read(comparison_page(*noisy(DOMAINS["mesh by sex and age"]))).rows[0]


def test_the_whole_is_as_large_as_the_window_not_as_its_padding(read):
    domain = Domain(mesh=Mesh("500m", rows=(8480, 8483), columns=(6300, 6305)))
    rows = read(comparison_page(*noisy(domain))).rows
    whole = next(row for row in rows if row[0] == "32")
    assert whole[1] == "3.94"  # 15 cells of 0.2628


def test_the_method_names_the_curve():
    assert re.search(r'"method":"Simplex"', comparison_page(*noisy(MESH), method="Simplex"))


def test_tables_over_different_domains_are_refused():
    with pytest.raises(ParameterError, match="over different domains"):
        comparison_page(noisy(MESH)[0], noisy(DOMAINS["grid"])[1])
