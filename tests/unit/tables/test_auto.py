"""The automatic choice: by the declared domain alone."""

import numpy as np
import pytest

import sudare as sd
from sudare.errors import ParameterError
from sudare.tables.auto import Auto
from sudare.tables.method import resolved

PLACES = sd.Domain(cell=sd.Grid(8, 8), sex=sd.Categories(["f", "m"]))
KINDS = sd.Domain(age=sd.Bins(0, 80, step=10), sex=sd.Categories(["f", "m"]))
VALUES = {name: sd.Categories(list(range(2**11))) for name in ("a", "b", "c")}


def people(domain):
    cells = np.sort(domain.cells(np.arange(min(domain.size, 100))))
    return sd.CountTable(domain, cells, np.full(len(cells), 40))


@pytest.mark.parametrize(
    ("domain", "asked", "name", "reason"),
    [
        (PLACES, {}, "tree", "choice.places"),
        (KINDS, {}, "marginals", "choice.no_places"),
        (PLACES, {"matters": ["sex"]}, "marginals", "choice.matters"),
        (sd.Domain(**VALUES), {}, "tree", "choice.too_large"),
    ],
)
def test_the_domain_decides(domain, asked, name, reason):
    choice = Auto(**asked).choose(domain)
    assert (choice.method.name, choice.reason.key) == (name, reason)
    assert Auto(**asked).choose(domain, in_cluster=True).method.name == "tree"


@pytest.mark.parametrize("domain", [PLACES, KINDS], ids=str)
def test_a_release_says_what_was_chosen_and_is_its(domain):
    table = people(domain)
    made = sd.release(table, epsilon=1, seed=3)
    chosen = resolved(Auto(), domain)
    assert made.method == chosen
    assert made.summary["method"] == chosen.name
    assert made.table == sd.release(table, chosen, 1, seed=3).table
    assert made.table == sd.release(table, method="auto", epsilon=1, seed=3).table
    assert made.table == sd.release(table, Auto(), 1, seed=3).table


def test_emphasis_reaches_the_method():
    assert sd.release(people(PLACES), epsilon=1, emphasis="areas", seed=1).method == sd.Tree(emphasis="areas")
    sizes = {"a": 16, "b": 2, "c": 8, "d": 2, "e": 5, "f": 7}
    domain = sd.Domain(**{name: sd.Categories(list(range(size))) for name, size in sizes.items()})
    cells, plain = (
        dict(resolved(Auto(emphasis=one), domain).views(domain, sd.privacy.Budget(epsilon=1), pairs=False))
        for one in ("cells", None)
    )
    assert cells[0, 1, 2, 3, 4, 5].amount > plain[0, 1, 2, 3, 4, 5].amount


def test_what_is_not_meant_is_refused():
    with pytest.raises(ParameterError, match="unknown emphasis"):
        sd.release(people(KINDS), epsilon=1, emphasis="sums")
    with pytest.raises(ParameterError, match="automatic choice"):
        sd.release(people(KINDS), sd.Tree(), 1, emphasis="cells")
    with pytest.raises(ParameterError, match="not a method"):
        sd.release(people(KINDS), "best", 1)
