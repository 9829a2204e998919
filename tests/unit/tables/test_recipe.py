"""Methods in recipes: a strength from a target sparsity or a public table, and what each paper's method offers."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from recipes import VILLAGE, RecipeFolder, villagers
from sudare.errors import ParameterError, RecipeError
from sudare.tables.privelet import Privelet
from sudare.tables.recipe import MethodChoice
from sudare.tables.strength import Reference, TargetSparsity
from sudare.tables.top_down import TopDown
from sudare.workflow import plan
from sudare.workflow.publication import publish


@pytest.fixture
def village(tmp_path):
    pq.write_table(villagers(), tmp_path / "people.parquet")
    return RecipeFolder(tmp_path, VILLAGE.replace("data.parquet", "people.parquet"))


def counted(seed):
    """Villagers by cell: a point of each cell, and how many are in it."""
    people = villagers(seed=seed)
    cells = [np.floor(people["lat"].to_numpy() * 240), np.floor((people["lon"].to_numpy() - 100) * 160)]
    sex = people["sex"].to_numpy(zero_copy_only=False) == "f"
    _, first, count = np.unique(np.stack([*cells, sex]), axis=1, return_index=True, return_counts=True)
    return people.drop_columns(["person"]).take(first).append_column("count", pa.array(count))


@pytest.mark.slow
def test_a_target_sparsity_leaves_so_many_cells(village):
    village.change(('name = "simplex"', 'name = "negative_l2"\nsparsity = 0.1'))
    made = publish(village.recipe)
    assert isinstance(made.release.method.strength, TargetSparsity)
    table = made.release.table
    assert len(table) / table.domain.size == pytest.approx(0.1, abs=0.03)


@pytest.mark.slow
def test_a_strength_is_tuned_on_a_public_table(village):
    csv.write_csv(counted(2), village.folder / "census.csv")
    village.change(('name = "simplex"', 'name = "negative_l2"\nreference = { path = "census.csv", counts = "count" }'))
    assert plan(village.recipe).guarantee.epsilon == 0.5
    made = publish(village.recipe)
    assert isinstance(made.release.method.strength, Reference)
    assert "from a public reference" in str(made.release.method.parameters["strength"])


def test_the_private_counts_are_no_reference(village):
    csv.write_csv(counted(1), village.folder / "census.csv")
    village.change(('name = "simplex"', 'name = "negative_l2"\nreference = { path = "census.csv" }'))
    with pytest.raises(ParameterError, match="the private table is given as the reference"):
        publish(village.recipe)


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"name": "negative_l2", "strength": "auto", "sparsity": "0.1"}, "the strength is given twice"),
        ({"name": "tree", "sparsity": "0.1"}, "method tree has no parameter sparsity"),
        ({"name": "privelet", "serial": True}, "method privelet has no parameter serial"),
    ],
)
def test_what_does_not_belong_to_a_method_is_refused(choice, sentence):
    with pytest.raises(RecipeError, match=sentence):
        MethodChoice(**choice).build()


def test_privelets_scale_and_the_serial_top_down_can_be_named():
    assert MethodChoice(name="privelet", scale="original").build() == Privelet(scale="original")
    assert MethodChoice(name="top_down", serial=True).build() == TopDown(serial=True)
