"""Releases in Spark: the same bytes as in one process, whatever the partitions and however often a task is run."""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sudare as sd
from in_process import InProcessStore
from sudare.errors import AccountingError, OutputError, ParameterError
from sudare.spark.spark_store import Scratch, SparkStore
from sudare.spark.store import Jobs
from sudare.tables.spark import ClusterTable, count, release
from sudare.tables.spark_task import Cut

RNG = np.random.default_rng(8)
ROWS = 6000
PEOPLE = pa.table(
    {
        "who": RNG.integers(0, 4500, ROWS),
        "x": np.clip(RNG.normal(16, 5, ROWS), 0, 31).astype(int),
        "y": np.clip(RNG.normal(9, 4, ROWS), 0, 29).astype(int),
        "sex": RNG.choice(["f", "m"], ROWS),
    }
)
DOMAIN = sd.Domain(cell=sd.Grid(32, 30), sex=sd.Categories(["f", "m"]))
QUESTION = {"columns": {"cell": ("x", "y")}, "unit": "who", "max_rows": 2, "key": bytes(16)}
CUT = Cut(subtree_bits=7, fewest_bits=3, part_people=1500)


@pytest.fixture(scope="module")
def table(spark):
    return count(sd.read(PEOPLE, engine="spark"), DOMAIN, **QUESTION)


@pytest.fixture(scope="module")
def here():
    counted = sd.read(PEOPLE).count(DOMAIN, **QUESTION)
    return ClusterTable(DOMAIN, counted.unit, InProcessStore(counted.index, counted.count))


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_counts_are_those_of_duckdb(table, here):
    assert table.unit == here.unit
    assert [array.tolist() for array in table.store.sums(0)] == [here.store.index.tolist(), here.store.count.tolist()]
    below = (7, np.array([1, 3, 4]))
    ours, theirs = (store.sums(2, below) for store in (table.store, here.store))
    assert [array.tolist() for array in ours] == [array.tolist() for array in theirs]


@pytest.mark.parametrize(
    ("method", "partitions"),
    [
        (sd.Tree(), (2, 8)),
        (sd.TopDown(), (8,)),
        (sd.NegativeL2(), (2, 8)),
        (sd.NonnegativeLasso(strength=8), (8,)),
        (sd.Laplace(cut=4), (8,)),
    ],
    ids=["tree", "top_down", "negative_l2", "lasso", "cut"],
)
def test_the_same_bytes_whatever_the_partitions(spark, table, here, tmp_path, method, partitions):
    expected = release(here, tmp_path / "here", method, 0.5, seed=3, cut=CUT)
    assert len(expected.parts) > 1
    for number in partitions:
        spark.conf.set("spark.sql.shuffle.partitions", str(number))
        made = release(table, tmp_path / str(number), method, 0.5, seed=3, cut=CUT)
        assert made.parts == expected.parts
        assert files(made.folder) == files(expected.folder)
    spark.conf.set("spark.sql.shuffle.partitions", "2")


class Stumbles:
    """A kernel that fails after its work is done, the first time for each part."""

    def __init__(self, kernel, marks):
        self.kernel, self.marks, self.gives = kernel, marks, kernel.gives

    def __call__(self, jobs, index, count):
        answer = self.kernel(jobs, index, count)
        mark = Path(self.marks) / f"{type(self.kernel).__name__}-{jobs.column('part')[0].as_py()}"
        if not mark.exists():
            mark.touch()
            raise RuntimeError("the worker is lost")
        return answer


class StumblingStore(SparkStore):
    marks = ""

    def _answers(self, jobs, kernel):
        return super()._answers(jobs, Stumbles(kernel, self.marks))


def by_value(spark):
    """Workers cannot import this file: what is defined here travels with the task."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])


def test_a_task_that_is_run_again_repeats_its_noise(spark, table, here, tmp_path, monkeypatch):
    by_value(spark)
    (tmp_path / "marks").mkdir()
    monkeypatch.setattr(StumblingStore, "marks", str(tmp_path / "marks"))
    stumbling = ClusterTable(DOMAIN, table.unit, StumblingStore(table.store.frame, table.store.scratch))
    # Two parts, so that no task fails more often than Spark allows.
    cut = Cut(subtree_bits=7, fewest_bits=3, part_people=3000)
    expected = release(here, tmp_path / "here", epsilon=0.5, seed=4, cut=cut)
    made = release(stumbling, tmp_path / "spark", epsilon=0.5, seed=4, cut=cut)
    kernels = [mark.name.split("-")[0] for mark in (tmp_path / "marks").iterdir()]
    assert sorted(set(kernels)) == ["MeasureSubtrees", "WritePart"]
    assert kernels.count("WritePart") == len(made.parts) == 2
    assert files(made.folder) == files(expected.folder)  # and no attempt left anything behind


class Wrong:
    gives = pa.schema([("node", pa.int64())])

    def __init__(self, error):
        self.error = error

    def __call__(self, jobs, index, count):
        raise self.error


def test_what_workers_refuse_arrives_as_a_sentence(spark, table):
    by_value(spark)
    jobs = Jobs(7, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    ours = Wrong(AccountingError("the cells of a subtree changed between two passes", value=5))
    with pytest.raises(AccountingError, match=r"^the cells of a subtree changed between two passes \(got 5\)$"):
        table.store.each(jobs, ours)
    with pytest.raises(OutputError) as refusal:
        table.store.each(jobs, Wrong(ValueError("a secret 7123")))
    assert str(refusal.value) == "the work in the cluster failed. The logs of Spark say why."
    assert refusal.value.__cause__ is None


def test_scratch_is_private_and_goes_with_the_table(spark, tmp_path):
    counted = count(sd.read(PEOPLE, engine="spark"), DOMAIN, **QUESTION, scratch=tmp_path)
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert "count" not in repr(counted)
    del counted
    assert not list(tmp_path.iterdir())
    held = count(sd.read(PEOPLE, engine="spark"), DOMAIN, **QUESTION, scratch=tmp_path)
    held.discard()
    assert not list(tmp_path.iterdir())
    with pytest.raises(OutputError, match=r"^the scratch folder cannot be made: No such file or directory"):
        Scratch.under(tmp_path / "absent", spark)


def test_mistakes(spark, monkeypatch):
    with pytest.raises(ParameterError, match="these records are not in Spark"):
        count(sd.read(PEOPLE), DOMAIN, **QUESTION)

    class Elsewhere:
        class conf:  # noqa: N801 - as Spark spells it
            get = staticmethod(lambda name, default: "yarn")

    with pytest.raises(ParameterError, match=r"^scratch is missing \(allowed: a folder that every worker reaches"):
        Scratch.under(None, Elsewhere)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_rows_that_cannot_be_frozen_leave_no_scratch(spark, tmp_path, monkeypatch, error):
    frame = spark.sql("select id as index, if(id < 3, id, raise_error('for good')) as count from range(0, 4, 1, 2)")
    scratch = Scratch.within(tmp_path)
    with pytest.raises(Exception, match="for good") as held:
        SparkStore.freezing(frame, scratch)
    assert not list(tmp_path.iterdir())
    assert held.value.__traceback__ is not None  # and with it the frame that holds the scratch

    def broken_off(self, _frame):
        (self.path / "rows-000").mkdir()
        raise error

    monkeypatch.setattr(Scratch, "freeze", broken_off)
    scratch = Scratch.within(tmp_path)
    with pytest.raises(error):
        SparkStore.freezing(frame, scratch)
    assert not list(tmp_path.iterdir())
