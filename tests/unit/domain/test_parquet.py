"""Files that DuckDB writes: read by pyarrow with the types and metadata they were given."""

import errno
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.domain import parquet
from sudare.domain.parquet import Coded, execute, is_geoparquet, pieces, plain, read_parquet, row_count, staged

ROWS = 5
PIECE = {
    "index": np.arange(ROWS),
    "age": np.arange(ROWS, dtype=np.int16),
    "sex": Coded(np.arange(ROWS, dtype=np.int32) % 2, np.array(["f", 'm"é']), False),
    "bin, years": Coded(np.arange(ROWS, dtype=np.int32) % 3, np.array(["0-1", "2-3", "4+"]), True),
    "name": np.array(["a", "b\nc", "", "it's", "日本"]),
    "count": np.array([0.5, 120, -3, 1e20, 1 / 3]),
    "synthetic": np.ones(ROWS, dtype=np.bool_),
    "geometry": np.array([b"a\0", b"", b"bc", b"d", b"e\0\0"], dtype=object),
}
TYPES = [pa.int64(), pa.int16(), *[pa.string()] * 3, pa.float64(), pa.bool_(), pa.binary()]


def written(folder: Path, times: int = 1, name: str = "table.parquet", **metadata: str) -> Path:
    with staged([PIECE] * times, folder) as rows:
        rows.to_parquet(folder / name, list(PIECE), metadata)
    return folder / name


def test_arrow_reads_types_and_metadata(tmp_path):
    table = pq.read_table(written(tmp_path, 2, about='it\'s "this": 1'))
    table.validate(full=True)
    assert table.schema.equals(pa.schema(list(zip(PIECE, TYPES, strict=True))))
    assert table.schema.metadata[b"about"] == b'it\'s "this": 1'
    for name, column in PIECE.items():
        assert table.column(name).to_pylist() == 2 * parquet.values_of(column).tolist()


def test_two_writes_are_the_same_bytes(tmp_path):
    assert written(tmp_path, 3).read_bytes() == written(tmp_path, 3, "again.parquet").read_bytes()


def test_small_tables_are_written_side_by_side_and_leave_nothing(tmp_path):
    """They are in one database, each in a table that no other sees."""
    other = {"index": PIECE["index"][:2]}
    with staged([PIECE], tmp_path) as rows, staged([other], tmp_path) as beside:
        rows.to_parquet(tmp_path / "rows.parquet", list(PIECE), {})
        beside.to_parquet(tmp_path / "beside.parquet", list(other), {})
    assert (tmp_path / "rows.parquet").read_bytes() == written(tmp_path).read_bytes()
    assert pq.read_table(tmp_path / "beside.parquet").to_pydict() == {"index": [0, 1]}
    with parquet.database() as connection:
        assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'staged'").fetchone() == (0,)


def test_no_rows_keep_the_types(tmp_path):
    none = {
        name: Coded(column.codes[:0], column.labels, column.ordered) if isinstance(column, Coded) else column[:0]
        for name, column in PIECE.items()
    }
    with staged([none], tmp_path) as rows:
        rows.to_parquet(tmp_path / "none.parquet", list(none), {})
        rows.to_csv(tmp_path / "none.csv", ["index", "count"])
    found = pq.read_table(tmp_path / "none.parquet")
    assert found.num_rows == 0
    assert found.schema.types == TYPES
    assert (tmp_path / "none.csv").read_text() == '"index","count"\n'


def test_text_of_a_csv_file(tmp_path):
    with staged([PIECE], tmp_path) as rows:
        rows.to_csv(tmp_path / "table.csv", ["index", "sex", "name", "count", "synthetic"], b"BEGIN")
    assert (tmp_path / "table.csv").read_text(encoding="utf-8") == (
        'BEGIN"index","sex","name","count","synthetic"\n0,"f","a",0.5,true\n1,"m""é","b\nc",120,true\n2,"f","",-3,true\n'
        '3,"m""é","it\'s",1e+20,true\n4,"f","日本",0.3333333333333333,true\n'
    )
    assert not list(tmp_path.glob("body*"))


def test_pieces_come_in_the_order_of_the_file(tmp_path, monkeypatch):
    path = written(tmp_path, 3)
    monkeypatch.setattr(parquet, "AT_ONCE", 4)
    found = list(pieces(path, ["count", "index"]))
    assert [len(piece["index"]) for piece in found] == [4, 4, 4, 3]
    assert np.concatenate([piece["index"] for piece in found]).tolist() == 3 * list(range(ROWS))
    assert row_count(path) == 3 * ROWS
    assert read_parquet(path)[1][:3] == (1, 1, 'm"é')


def test_what_is_missing_is_nan_or_none():
    sql = "SELECT * FROM (VALUES (1, 1.5::DOUBLE, 'a', true), (NULL, NULL, NULL, NULL)) AS rows(i, f, t, b)"
    with duckdb.connect() as connection:
        found = {name: plain(column).tolist() for name, column in connection.sql(sql).fetchnumpy().items()}
    assert np.isnan(found.pop("f")[1])
    assert found == {"i": [1, None], "t": ["a", None], "b": [True, None]}


def test_polygons_are_told_by_the_metadata(tmp_path):
    geo = '{"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB"}}}'
    assert is_geoparquet(written(tmp_path, geo=geo))
    assert not is_geoparquet(written(tmp_path, name="other.parquet"))


def test_what_is_no_file_of_parquet_is_an_ordinary_error(tmp_path):
    (tmp_path / "text.parquet").write_text("no Parquet, though it is called so")
    with pytest.raises(ValueError, match="InvalidInputException"):
        row_count(tmp_path / "text.parquet")
    with pytest.raises(OSError, match="No such file") as missing:
        row_count(tmp_path / "none.parquet")
    assert missing.value.errno == errno.ENOENT
    with parquet.database() as connection, pytest.raises(duckdb.Error):
        execute(connection, "no statement")
