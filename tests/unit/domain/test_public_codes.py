"""Meshes of prefectures and municipalities out of a public list of codes."""

from __future__ import annotations

import gzip

import pytest

from sudare.domain import Mesh, attribute_from_json
from sudare.errors import DomainError

LIST = """都道府県市区町村コード,市区町村名,基準メッシュ・コード,備考
1101,札幌市中央区,64414277,
13101,千代田区,53394509,
13101,千代田区,53394519,※
13102,中央区,53394520,
14101,横浜市鶴見区,53391599,
"""
CHIYODA = ("53394509", "53394519")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_bytes(LIST.encode("cp932"))
    return path


@pytest.mark.parametrize(
    ("areas", "codes"),
    [
        (["東京都"], (*CHIYODA, "53394520")),
        (["Tokyo"], (*CHIYODA, "53394520")),
        (13, (*CHIYODA, "53394520")),
        (["千代田区"], CHIYODA),
        ("13101", CHIYODA),
        (["131016"], CHIYODA),  # with its check digit
        (["Hokkaido"], ("64414277",)),
        (["01101", "神奈川県"], ("53391599", "64414277")),
        (None, (*CHIYODA, "53391599", "53394520", "64414277")),
    ],
)
def test_areas_by_name_and_by_code(file, areas, codes):
    found = Mesh("500m", code_list=file, areas=areas)
    assert found == Mesh("500m", codes=codes)
    assert attribute_from_json(found.to_json()) == found


@pytest.mark.parametrize("name", ["codes.txt", "codes.csv.gz"])
def test_a_list_of_codes_alone(tmp_path, name):
    path = tmp_path / name
    content = "mesh500m\n533946113\n533946114\n".encode("utf-8-sig")
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert Mesh("500m", code_list=path) == Mesh("500m", codes=["533946113", "533946114"])
    assert Mesh("500m", rows=(8480, 8640), columns=(6240, 6400), mask=path).size == 2


def test_mistakes(file, tmp_path):
    for areas, sentence in ((["中央"], "Did you mean '中央区'"), (["Chiba"], "no such prefecture")):
        with pytest.raises(DomainError, match=sentence):
            Mesh("1km", code_list=file, areas=areas)
    with pytest.raises(DomainError, match="no such file of codes"):
        Mesh("1km", code_list=tmp_path / "none.csv")
    with pytest.raises(DomainError, match="areas needs code_list"):
        Mesh("1km", areas=["Tokyo"])
    with pytest.raises(DomainError, match="cannot be combined with codes"):
        Mesh("1km", codes=["5339"], code_list=file)
    with pytest.raises(DomainError, match="cannot name a file"):
        attribute_from_json({"type": "mesh", "size": "1km", "code_list": str(file)})
    file.write_text("name\nx\n")
    with pytest.raises(DomainError, match="no column of mesh codes"):
        Mesh("1km", code_list=file)
