"""The census file: found, missing, or broken."""

import gzip

import pytest

import sudare as sd
from sudare.errors import InputError
from sudare.papers.data import FILE, census_window

MESH = sd.Mesh("500m", rows=(8560, 8568), columns=(6350, 6366))
LINES = "mesh500m,htksyori,pop\n533946113,0,70\n533946114,0,5\n523537331,0,999\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    (tmp_path / FILE).parent.mkdir()
    return tmp_path / FILE


def test_the_window_is_cut_out_of_the_census(file):
    file.write_bytes(gzip.compress(LINES.encode()))
    table, basis = census_window(MESH, 1, 0.5)
    assert str(basis) == "the census of 2020"
    assert dict(zip(table.domain.labels(table.index)["mesh"].tolist(), table.count.tolist(), strict=True)) == {
        533946113: 70,
        533946114: 5,
    }


def test_without_the_file_people_are_invented(file):
    table, basis = census_window(MESH, 5000, 0.5)
    assert "invented" in str(basis)
    assert (table.total, len(table)) == (5000, 64)


@pytest.mark.parametrize(
    "content",
    [b"no gzip at all", gzip.compress(b"code,people\n1,2\n"), gzip.compress(LINES.encode())[:-12]],
    ids=["not packed", "other columns", "cut off"],
)
def test_a_broken_file_is_one_sentence(file, content):
    file.write_bytes(content)
    with pytest.raises(InputError, match="the census file cannot be read"):
        census_window(MESH, 1, 0.5)
