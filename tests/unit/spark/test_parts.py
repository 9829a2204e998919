"""Part files: in order, with their digest, under their name only when complete."""

import hashlib
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest

import sudare as sd
from in_process import InProcessStore
from sudare.domain.frames import to_arrow
from sudare.errors import AccountingError, OutputError
from sudare.spark import parts
from sudare.spark.parts import PartFile, ReleaseTarget
from sudare.spark.store import Jobs
from sudare.tables.spark import index_and_count
from sudare.tables.spark_threshold import KnownCells

DOMAIN = sd.Domain(cell=sd.Grid(8, 8), sex=sd.Categories(["f", "m"]))
INDEX, COUNT = np.array([3, 4, 100]), np.array([5, 1, 2])
NOBODY = InProcessStore(INDEX[:0], COUNT[:0])


def output(folder, describe=index_and_count):
    return ReleaseTarget(DOMAIN, str(folder), describe)


def test_a_part_and_what_is_said_of_it(tmp_path):
    part = output(tmp_path).write_part("part-000002.parquet", INDEX, COUNT)
    path = tmp_path / "part-000002.parquet"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert part == PartFile(path.name, 3, 8, 3, 100, digest, path.stat().st_size)
    assert pq.read_table(path).to_pydict() == {"index": [3, 4, 100], "count": [5, 1, 2]}
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_second_attempt_writes_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "ROWS_AT_ONCE", 2)
    first = output(tmp_path, partial(to_arrow, index=True)).write_part("part-000000.parquet", INDEX, COUNT)
    assert output(tmp_path, partial(to_arrow, index=True)).write_part("part-000000.parquet", INDEX, COUNT) == first
    assert pq.ParquetFile(tmp_path / first.name).num_row_groups == 2
    assert pq.read_table(tmp_path / first.name).column("sex").to_pylist() == ["m", "f", "f"]


def test_a_part_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(OutputError, match=r"^a part of the release cannot be written: No such file"):
        output(tmp_path / "absent").write_part("part-000000.parquet", INDEX, COUNT)
    with pytest.raises(AccountingError, match="not in order"):
        output(tmp_path).write_part("part-000000.parquet", INDEX[::-1], COUNT)
    assert not list(tmp_path.iterdir())


def test_a_release_without_cells_is_one_empty_part(tmp_path):
    nobody = Jobs(7, COUNT[:0], COUNT[:0])
    (part,) = output(tmp_path).write(NOBODY, nobody, KnownCells((INDEX, COUNT)))
    assert (part.rows, part.total) == (0, 0)
    assert pq.read_table(tmp_path / part.name).schema.names == ["index", "count"]


def test_parts_that_overlap_are_refused(tmp_path):
    twice = Jobs(6, np.array([0, 1]), np.array([0, 1]))
    with pytest.raises(AccountingError, match=r"overlap .*part-000001"):
        output(tmp_path).write(NOBODY, twice, KnownCells((INDEX, COUNT)))
