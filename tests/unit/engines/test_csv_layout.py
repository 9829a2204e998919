"""Encodings, delimiters and names of delimited text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sudare.engines.csv_layout import CsvLayout, csv_layout
from sudare.errors import InputError, ParameterError


def written(folder: Path, data: bytes, name: str = "file.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


JAPANESE = "番号,市区町村\n1,千代田区\n"
ASCII_LINES = b"0123456789,abc\n" * 200_000


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"id,lat\n1,2\n", "utf-8"),
        (b"id,lat", "utf-8"),
        (JAPANESE.encode(), "utf-8"),
        (JAPANESE.encode("utf-8-sig"), "utf-8"),
        (JAPANESE.encode("cp932"), "cp932"),
        (JAPANESE.encode("utf-16"), "utf-16"),
        (b"id,ward\n" + ASCII_LINES + "1,千代田区\n".encode("cp932"), "cp932"),
        (b"id,ward\n" + ASCII_LINES + "1,千代田区\n".encode(), "utf-8"),
        (b"id,ward\n" + "1,髙橋①\n".encode("cp932"), "cp932"),
    ],
)
@pytest.mark.parametrize("name", ["file.csv", "file.csv.gz"])
def test_the_encoding_is_found_out(tmp_path: Path, data: bytes, encoding: str, name: str) -> None:
    assert csv_layout(written(tmp_path, data, name)).encoding == encoding


def test_a_character_cut_by_the_end_of_the_sample_does_not_matter(tmp_path: Path) -> None:
    # A sample ends after a megabyte or two: with three bytes to a character, the cut falls inside one.
    for shift in range(3):
        data = b"id\n" + b"x" * shift + "東".encode() * 1_200_000
        assert csv_layout(written(tmp_path, data)).encoding == "utf-8"


def test_names_and_delimiters(tmp_path: Path) -> None:
    assert csv_layout(written(tmp_path, b'a,"b, c",d;e\n1,2,3\n')).names == ("a", "b, c", "d;e")
    assert csv_layout(written(tmp_path, b"a;b;c\n")) == CsvLayout("utf-8", ";", ("a", "b", "c"))
    assert csv_layout(written(tmp_path, b"a\tb,c\td\n", "file.tsv")).names == ("a", "b,c", "d")
    assert csv_layout(written(tmp_path, b",b,\r\n1,2,3\r\n")).names == ("column1", "b", "column3")
    assert csv_layout(written(tmp_path, b"only\n1\n")).names == ("only",)


def test_a_declared_encoding_is_believed(tmp_path: Path) -> None:
    path = written(tmp_path, "名,数\n".encode("euc-jp"))
    assert csv_layout(path, "euc-jp") == CsvLayout("euc_jp", ",", ("名", "数"))


@pytest.mark.parametrize(
    ("data", "encoding", "sentence"),
    [
        (b"", None, "the first line of the file does not name columns (got '{path}')"),
        (b"\n1,2\n", None, "the first line of the file does not name columns (got '{path}')"),
        (b"a,b,A\n", None, "two columns of {path} have the same name (got 'a')"),
        (
            b"id\n\x81\xff\xfe\n",
            None,
            "the file is written in another encoding (got '{path}'; allowed: UTF-8 or CP932). Name its encoding with "
            "encoding=.",
        ),
        (
            JAPANESE.encode("cp932"),
            "utf-8",
            "the file is written in another encoding (got '{path}'; allowed: utf-8). Name its encoding with encoding=.",
        ),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, data: bytes, encoding: str | None, sentence: str) -> None:
    path = written(tmp_path, data)
    with pytest.raises(InputError) as refusal:
        csv_layout(path, encoding)
    assert str(refusal.value) == sentence.format(path=path)


def test_an_unknown_encoding(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"^there is no such encoding \(got 'utf-9'"):
        csv_layout(written(tmp_path, b"a\n"), "utf-9")
    with pytest.raises(ParameterError, match=r"^there is no such encoding"):
        csv_layout(written(tmp_path, b"a\n"), "base64")


def test_a_broken_archive(tmp_path: Path) -> None:
    for data in (b"not compressed at all", gzip.compress(b"a,b\n" * 100)[:20]):
        path = tmp_path / "file.csv.gz"
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"^the file cannot be read"):
            csv_layout(path)
