"""Mesh files of e-Stat, as they are downloaded."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from sudare.domain import Categories, Domain, Mesh
from sudare.engines import estat_table
from sudare.errors import InputError, ParameterError, SudareError, TableError
from sudare.privacy import Fact, Unit
from sudare.tables import release

HEAD = "KEY_CODE,HTKSYORI,HTKSAKI,GASSAN,T000001001,T000001002\r\n,,,,　人口（総数）,　０～１４歳人口\r\n"
TOKYO = HEAD + "533900054,0,,,52,1\r\n533900064,2,533900073,,3,*\r\n533900073,1,,533900064,34,2\r\n"
CHIBA = HEAD + "534000001,0,,,7,-\r\n".replace("000001", "000011")


def archive(folder: Path, name: str, text: str, stray: bool = False, encoding: str = "cp932") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w") as held:
        if stray:
            held.writestr(".nfs000000000bd3da29000003d8", b"\x00\x81 left by a server")
        held.writestr(name.replace(".zip", ".txt"), text.encode(encoding))
    return path


def test_a_file_as_it_is_downloaded(tmp_path: Path) -> None:
    table = estat_table(archive(tmp_path, "tblT000001H5339.zip", TOKYO))
    assert table.domain == Domain(mesh=Mesh("500m", codes=["5339"]))
    found = dict(zip(table.domain.labels(table.index)["mesh"].tolist(), table.count.tolist(), strict=True))
    assert found == {533900054: 52, 533900064: 3, 533900073: 34}
    assert table.unit == Unit("person", counted_elsewhere=True)


def test_a_first_column_that_does_not_say_people_needs_a_unit(tmp_path: Path) -> None:
    path = archive(tmp_path, "tblT000001H5339.zip", TOKYO.replace("人口（総数）", "世帯総数"))
    with pytest.raises(ParameterError, match="does not say what one count is"):
        release(estat_table(path), epsilon=1)
    people = archive(tmp_path, "tblT000001H5340.zip", CHIBA)
    with pytest.raises(ParameterError, match="does not say what one count is"):
        release(estat_table([people, path]), epsilon=1)
    promised = release(estat_table(path, unit=Unit("household")), epsilon=1).guarantee
    assert promised.assumptions == (Fact("counted_once", unit="household"),)
    assert release(estat_table(people), epsilon=1).guarantee.assumptions == (Fact("counted_once", unit="person"),)


def test_details_that_another_cell_counts_add_nothing(tmp_path: Path) -> None:
    table = estat_table(str(archive(tmp_path, "tblT000001H5339.zip", TOKYO)), value="T000001002")
    assert (table.total, len(table)) == (3, 2)


def test_several_files_join(tmp_path: Path) -> None:
    paths = [
        archive(tmp_path, "tblT000001H5339.zip", TOKYO),
        archive(tmp_path, "tblT000001H5340.zip", CHIBA, stray=True),
    ]
    table = estat_table(paths)
    assert table.domain == Domain(mesh=Mesh("500m", codes=["5339", "5340"]))
    assert table.total == 52 + 3 + 34 + 7
    with pytest.raises(TableError, match=r"^a cell appears twice"):
        estat_table([paths[0], paths[0]])


def test_the_text_file_without_its_archive(tmp_path: Path) -> None:
    path = tmp_path / "tblT000001H5339.txt"
    path.write_bytes(TOKYO.encode("cp932"))
    assert estat_table(path).total == 89


def test_a_domain_of_ones_own(tmp_path: Path) -> None:
    path = archive(tmp_path, "tblT000001H5339.zip", TOKYO)
    window = Domain(place=Mesh("500m", codes=["53390006", "53390007"]))
    with pytest.raises(InputError, match=r"^some cells of the files lie outside the domain"):
        estat_table(path, domain=window)
    assert estat_table(path, domain=window, outside="drop").total == 37
    whole = Domain(place=Mesh("500m", codes=["5339", "5340"]))
    assert estat_table(path, domain=whole).domain == whole


@pytest.mark.parametrize(
    ("text", "arguments", "error", "sentence"),
    [
        ("a,b\r\n1,2\r\n", {}, InputError, "this is not a mesh file of e-Stat"),
        ("", {}, InputError, "this is not a mesh file of e-Stat"),
        (HEAD, {}, InputError, "the files do not have one mesh size"),
        (HEAD + "533900054,0,,,52,1\r\n53390005,0,,,52,1\r\n", {}, InputError, "the files do not have one mesh size"),
        (HEAD + "533900054,0,,,52\r\n", {}, InputError, "the file is not CSV in CP932"),
        (HEAD + "533900054,0,,,5.5,1\r\n", {}, TableError, "a value of T000001001 in tblX.zip is not a count"),
        (HEAD + "533900054,0,,,-5,1\r\n", {}, TableError, "a value of T000001001 in tblX.zip is not a count"),
        (
            TOKYO,
            {"value": "T000001003"},
            InputError,
            "tblX.zip has no such value (got 'T000001003'; allowed: T000001001 to T000001002). Did you mean",
        ),
        (
            TOKYO,
            {"outside": "clamp"},
            ParameterError,
            "unknown way to treat cells outside the domain (got 'clamp'; allowed: error, drop)",
        ),
        (TOKYO, {"domain": Domain(sex=Categories(["f"]))}, ParameterError, "the domain is not a mesh"),
        (
            TOKYO,
            {"domain": Domain(mesh=Mesh("1km", codes=["5339"]))},
            InputError,
            "some cells of the files lie outside the domain",
        ),
    ],
)
def test_mistakes(
    tmp_path: Path, text: str, arguments: dict[str, object], error: type[SudareError], sentence: str
) -> None:
    with pytest.raises(error) as refusal:
        estat_table(archive(tmp_path, "tblX.zip", text), **arguments)  # type: ignore[arg-type]
    assert str(refusal.value).startswith(sentence)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("SECRET1X,0,,,10,1", "some lines of the files do not begin with a mesh code"),
        (f"53390005,0,,,10,{'7' * 140_000}", "the file is not CSV in CP932 with one line for each cell (got '{path}')"),
    ],
)
def test_a_refusal_shows_nothing_of_a_line(tmp_path: Path, line: str, sentence: str) -> None:
    path = archive(tmp_path, "tblX.zip", f"{HEAD}{line}\r\n")
    with pytest.raises(InputError) as refusal:
        estat_table(path)
    assert str(refusal.value) == sentence.format(path=path)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^there is no such file"):
        estat_table(tmp_path / "tblmissing.zip")
    (tmp_path / "tblbroken.zip").write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"^the file cannot be opened"):
        estat_table(tmp_path / "tblbroken.zip")
    with pytest.raises(InputError, match=r"^the archive does not hold one table"):
        estat_table(archive(tmp_path, "other.zip", TOKYO))
    with pytest.raises(InputError, match=r"^the file is not CSV in CP932"):
        estat_table(archive(tmp_path, "tblutf8.zip", TOKYO, encoding="utf-8"))
    with pytest.raises(InputError, match=r"^the files do not have one mesh size"):
        estat_table([])


def test_the_real_files(data_folder: Path) -> None:
    raw = data_folder / "jp-mesh" / "raw"
    tokyo = estat_table(raw / "tblT001141H5339.zip")
    assert tokyo.total == 30_215_032
    assert tokyo.domain.shape == (160, 160)
    several = estat_table(sorted(raw.glob("*.zip")))
    assert several.total > tokyo.total
    assert several.domain == Domain(mesh=Mesh("500m", codes=["5339", "5340", "5438"]))
