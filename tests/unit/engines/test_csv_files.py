"""Encodings, delimiters and names of delimited text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sudare.engines import Proposal, propose_layout
from sudare.engines.csv_files import (
    _MULTIBYTE,
    _ONE_BYTE,
    CsvLayout,
    _under,
    check_lines,
    csv_layout,
    text_encoding,
    whole_lines,
)
from sudare.errors import InputError, ParameterError


def written(folder: Path, data: bytes, name: str = "file.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


REFUSAL = (
    "the file is not CSV of the declared encoding and delimiter (got '{path}'; allowed: lines that end alike, "
    "each with as many fields as the first; quotes around whole fields only, doubled inside, no line break between "
    "them; no zero byte; at most 2**20 bytes in a line). No line is named here, since a line is somebody's. "
    "sudare.engines.propose_layout shows you which one, and how the file seems to be written."
)
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
        (b"id,ward\n" + ASCII_LINES + "1,千代田区\n".encode("cp932"), "cp932"),
        (b"id,ward\n" + ASCII_LINES + "1,千代田区\n".encode(), "utf-8"),
        (b"id,ward\n" + "1,髙橋①\n".encode("cp932"), "cp932"),
    ],
)
@pytest.mark.parametrize("name", ["file.csv", "file.csv.gz"])
def test_an_encoding_is_proposed_to_the_steward_and_never_taken(
    tmp_path: Path, data: bytes, encoding: str, name: str
) -> None:
    path = written(tmp_path, data, name)
    assert propose_layout(path) == Proposal(encoding, ",", None)
    first_line_fits = encoding == "utf-8" or data.startswith(b"id")
    if first_line_fits:
        assert csv_layout(path).encoding == "utf-8"
    else:
        with pytest.raises(InputError, match="is not CSV of the declared encoding"):
            csv_layout(path)


def test_the_faulty_line_is_for_the_steward(tmp_path: Path) -> None:
    lines = [b"id,ward", *[b"1,x"] * 1_500_000, b"2,y", b'3,"', b"4,z"]
    assert propose_layout(written(tmp_path, b"\n".join(lines))) == Proposal("utf-8", ",", 1_500_003)
    # UTF-8 up to the second line, CP932 up to the third.
    mixed = b"id;ward\n" + "1;東\n".encode("cp932") + b"2;\x81\n"
    assert propose_layout(written(tmp_path, mixed)) == Proposal("cp932", ";", 3)
    with pytest.raises(InputError, match=r"^the file is empty"):
        propose_layout(written(tmp_path, b""))
    with pytest.raises(InputError, match=r"^the file is written in UTF-16"):
        propose_layout(written(tmp_path, JAPANESE.encode("utf-16")))


def test_names_and_delimiters(tmp_path: Path) -> None:
    assert csv_layout(written(tmp_path, b'a,"b, c",d;e\n1,2,3\n')).names == ("a", "b, c", "d;e")
    assert csv_layout(written(tmp_path, b"a;b;c\n")) == CsvLayout("utf-8", ";", ("a", "b", "c"))
    assert csv_layout(written(tmp_path, b"a\tb,c\td\n", "file.tsv")).names == ("a", "b,c", "d")
    assert csv_layout(written(tmp_path, b",b,\r\n1,2,3\r\n")).names == ("column1", "b", "column3")
    assert csv_layout(written(tmp_path, b"only\n1\n")).names == ("only",)


def test_columns_of_one_name_cannot_be_asked_for(tmp_path: Path) -> None:
    layout = csv_layout(written(tmp_path, b"a,b,A,c,b\r\n"))
    assert layout.names == ("a", "b", "A", "c", "b")
    assert layout.places == {"c": 3}
    assert layout.crlf


def test_a_declared_delimiter(tmp_path: Path) -> None:
    path = written(tmp_path, b"a|b,c,d\n")
    assert csv_layout(path).names == ("a|b", "c", "d")
    assert csv_layout(path, delimiter="|").names == ("a", "b,c,d")
    for wrong in ("", "||", '"', "\n", "\r", "\0", "x", "7", "、"):
        with pytest.raises(ParameterError, match=r"^this is not a delimiter"):
            csv_layout(path, delimiter=wrong)


def test_a_declared_encoding_is_believed(tmp_path: Path) -> None:
    path = written(tmp_path, "名,数\n".encode("euc-jp"))
    assert csv_layout(path, "euc-jp") == CsvLayout("euc_jp", ",", ("名", "数"))


@pytest.mark.parametrize(
    ("data", "encoding", "sentence"),
    [
        (b"", None, "the first line of the file does not name columns (got '{path}')"),
        (b"\n1,2\n", None, "the first line of the file does not name columns (got '{path}')"),
        (b"a,A\n", None, "the first line of the file does not name columns (got '{path}')"),
        (JAPANESE.encode("cp932"), "utf-8", REFUSAL),
        (JAPANESE.encode("utf-16"), None, REFUSAL),
        (b"x" * 200_000, None, REFUSAL),
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
        csv_layout(written(tmp_path, b"a\n"), "utf\0")


@pytest.mark.parametrize(
    "encoding",
    ["utf-16", "utf-16-le", "utf-32", "utf-7", "iso-2022-jp", "iso-2022-kr", "hz", "cp037", "cp500", "cp864",
     "unicode_escape", "raw_unicode_escape", "idna", "punycode", "undefined", "charmap", "mac-arabic", "base64"],
)  # fmt: skip
def test_encodings_in_which_one_line_changes_the_next_are_refused(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(ParameterError, match=r"^lines cannot be read one by one in this encoding"):
        csv_layout(written(tmp_path, b"a\n"), encoding)


@pytest.mark.parametrize("encoding", _ONE_BYTE)
def test_each_byte_is_a_sign(encoding: str) -> None:
    name = text_encoding(encoding)
    signs = [bytes([byte]).decode(name, "replace") for byte in range(256)]
    assert signs[:128] == [chr(byte) for byte in range(128)]
    assert all(len(sign) == 1 and sign > "\x7f" for sign in signs[128:])
    assert bytes(range(256)).decode(name, "replace") == "".join(signs)


@pytest.mark.parametrize("encoding", ["utf-8", *_MULTIBYTE])
def test_whatever_stands_before_it_a_line_break_is_one(encoding: str) -> None:
    """After each beginning that an encoding takes, a line break and what follows are read as they are."""
    name = text_encoding(encoding)
    pairs = [bytes([first, second]) for first in range(128, 256) for second in range(256)]
    further = [b"\x8f" + pair for pair in pairs] if name.startswith("euc_j") else []
    if name == "euc_kr":  # a syllable of eight bytes, cut anywhere
        further = [b"\xa4\xd4\xa4\xa1\xa4\xbf\xa4\xa1"[:end] for end in range(1, 9)]
    if name == "gb18030":  # signs of four bytes, whole or cut
        further = [pair + bytes([third]) + end for pair in pairs if 0x30 <= pair[1] <= 0x39
                   for third in range(128, 256, 9) for end in (b"", b"0", b"9")]  # fmt: skip
    taken = 0
    for start in [bytes([first]) for first in range(256)] + pairs + further:
        try:
            text = (start + b'\n1,2;"\t\r\n').decode(name)
        except UnicodeDecodeError:
            continue
        taken += 1
        assert text == start.decode(name) + '\n1,2;"\t\r\n'
    assert taken > 127


def test_a_long_line_of_few_signs_leaves_nobody_out(tmp_path: Path) -> None:
    """In EUC-JP a sign can take three bytes that are two in UTF-8: a line was cut there, and those behind it lost."""
    before = b"id,sex,memo\n" + b"%07d,f,xxxxxxxxxxxxxxxxxxxx\n" % 0 * 96_000
    # Longer than a line may be, and across the end of a piece of 2**22 bytes.
    pad = b"x" * ((1 << 22) - len(before) % (1 << 22) - 4 - 1_099_998)
    long = b"e,m," + pad + b"\x8f\xab\xb1" * 480_000 + b"\n"
    path = written(tmp_path, before + long + b"%07d,f,x\n" % 1 * 1_000)
    layout = csv_layout(path, "euc_jp")
    with pytest.raises(InputError) as refusal:
        check_lines(path, layout)
    assert str(refusal.value) == REFUSAL.format(path=path)
    with pytest.raises(InputError, match="is not CSV of the declared encoding"):
        list(whole_lines(path, layout))
    assert _under(path, "euc_jp") == Proposal("euc_jp", ",", 96_002)


def test_a_broken_archive(tmp_path: Path) -> None:
    for data in (b"not compressed at all", gzip.compress(b"a,b\n" * 100)[:20]):
        path = tmp_path / "file.csv.gz"
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"^the file cannot be read"):
            check_lines(path, csv_layout(path))
