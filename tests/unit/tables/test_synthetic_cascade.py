import numpy as np
import pytest

from sudare.domain import Bins, Categories, Domain, Grid, Line, Mesh
from sudare.errors import ParameterError
from sudare.tables.synthetic import synthetic_table

MASK = np.random.default_rng(3).random((40, 23)) < 0.4

DOMAINS = {
    "one cell": Domain(cell=Line(1)),
    "line": Domain(cell=Line(1000)),
    "grid": Domain(cell=Grid(100, 33)),
    "masked": Domain(cell=Grid(40, 23, mask=MASK)),
    "mesh": Domain(mesh=Mesh("1km", codes=["533946", "53394711"]), sex=Categories(["f", "m"])),
    "categories": Domain(town=Categories(list("abcde")), age=Bins(0, 91, step=7)),
    "ordered": Domain(["sex", "cell"], cell=Grid(16, 9), sex=Categories(["f", "m", "x"])),
}


@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
@pytest.mark.parametrize("name", DOMAINS)
def test_people_and_populated_cells_are_exact(name, share):
    domain = DOMAINS[name]
    table = synthetic_table(domain, 50_000, populated_share=share)
    assert table.total == 50_000
    assert len(table) == max(1, round(share * domain.size))
    assert table.private


def test_few_people_fill_at_most_half_as_many_cells():
    table = synthetic_table(Domain(cell=Grid(64, 64)), 100, populated_share=1.0)
    assert (table.total, len(table)) == (100, 50)


@pytest.mark.parametrize("people", [0, 1])
def test_almost_nobody(people):
    table = synthetic_table(DOMAINS["grid"], people)
    assert (table.total, len(table)) == (people, people)


def test_counts_are_clustered_and_heavy_tailed():
    table = synthetic_table(Domain(cell=Grid(128, 128)), 1_000_000, populated_share=0.1)
    populated = table.to_array() > 0
    both = (populated[:, 1:] & populated[:, :-1]).mean()
    assert both > 2 * populated.mean() ** 2
    assert table.count.mean() > 2 * np.median(table.count)
    assert table.count.max() > 10 * table.count.mean()


def test_categories_have_uneven_shares_that_hold_everywhere():
    domain = Domain(cell=Grid(16, 16), age=Categories(list("abcdefgh")))
    dense = synthetic_table(domain, 1_000_000, populated_share=1.0).to_array()
    shares = dense.sum(axis=(0, 1)) / dense.sum()
    assert shares.max() > 2 * shares.min()
    west, east = dense[:, :8].sum(axis=(0, 1)), dense[:, 8:].sum(axis=(0, 1))
    assert np.corrcoef(west / west.sum(), east / east.sum())[0, 1] > 0.9


def test_a_huge_domain_costs_only_what_is_populated():
    domain = Domain(home=Grid(2**15, 2**15), work=Grid(2**14, 2**14), age=Categories(list(range(5))))
    table = synthetic_table(domain, 2000)
    assert domain.size > 2**60
    assert (table.total, len(table)) == (2000, 1000)


def test_the_same_seed_is_the_same_table():
    domain = DOMAINS["grid"]
    assert synthetic_table(domain, 999, seed=3) == synthetic_table(domain, 999, seed=3)
    assert synthetic_table(domain, 999, seed=3) != synthetic_table(domain, 999, seed=4)


@pytest.mark.parametrize("people", [-1, 2.5, True])
def test_a_senseless_number_of_people_is_refused(people):
    with pytest.raises(ParameterError, match="people is not a number of people"):
        synthetic_table(DOMAINS["grid"], people)


@pytest.mark.parametrize("share", [0, -0.1, 1.5, float("nan")])
def test_a_senseless_share_is_refused(share):
    with pytest.raises(ParameterError, match="populated_share is not a share"):
        synthetic_table(DOMAINS["grid"], 10, populated_share=share)
