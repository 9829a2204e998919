"""A proposed recipe: what is looked up is declared, what is read off values waits for the steward's word."""

import os
import stat
import tomllib
import zipfile

import pytest
from click.testing import CliRunner

import sudare as sd
from sudare.cli import main
from sudare.errors import InputError, ParameterError, RecipeError
from sudare.language.catalogue import Words
from sudare.workflow.proposal import propose_recipe

PEOPLE = "person_id;sex;年齢;note\n1; f;31;xx\n2;m;45;yy\n3;f;62;zz\n"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(PEOPLE.encode("cp932"))
    return path


def test_values_stand_in_comments_until_they_are_confirmed(people):
    text = propose_recipe(people)
    found = tomllib.loads(text)
    assert found["data"] == {
        "path": "people.csv",
        "delimiter": ";",
        "encoding": "cp932",
        "unit": "person_id",
        "unit_name": "person",
        "outside": "error",
    }
    assert found["domain"]["sex"] == {"type": "categories"}
    assert '# values = ["f", "m"]' in text
    with pytest.raises(RecipeError):
        sd.Recipe(**found)


def test_confirmed_it_is_a_recipe_that_every_row_fits(people):
    text = propose_recipe(people, columns=["sex", "年齢"], confirmed=True)
    found = sd.check(tomllib.loads(text), folder=people.parent)
    assert (found.rows, found.fitting) == (3, 3)


@pytest.mark.parametrize(
    ("place", "kind"), [("35.6,139.7", "mesh"), ("51.5,-0.1", "latlon"), ("-33.9,151.2", "latlon")]
)
def test_points_outside_of_japan_are_not_put_on_its_mesh(tmp_path, place, kind):
    path = tmp_path / "points.csv"
    path.write_text(f"id,lat,lon\n1,{place}\n2,{place}\n")
    (attribute,) = tomllib.loads(propose_recipe(path))["domain"].values()
    assert (attribute["type"], attribute["from"]) == (kind, ["lat", "lon"])


def test_a_terminal_is_asked_for_the_ids_and_the_columns(people, monkeypatch):
    monkeypatch.setattr("sudare.cli.new.is_terminal", lambda: True)
    answers = "\n\n-\nsex\n"  # person, the name of the file, no ids, one column
    made = CliRunner().invoke(main, ["new", str(people)], input=answers)
    assert made.exit_code == 0, made.output
    assert "person_id, sex, 年齢 and note" in made.output
    found = tomllib.loads((people.parent / "recipe.toml").read_text())
    assert "unit" not in found["data"]
    assert list(found["domain"]) == ["sex"]


def test_an_empty_file_is_said_to_be_empty(tmp_path):
    (tmp_path / "people.csv").write_bytes(b"")
    with pytest.raises(InputError, match="the file is empty"):
        propose_recipe(tmp_path / "people.csv")


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.csv", b"PAR1\0\x15,\n\x04PAR1", "Parquet, and by its name it is plain text"),
        ("a.csv.gz", b"a,b\n", "by its name it is gzip"),
    ],
)
def test_a_file_of_another_format_than_its_name_says_is_told_so(tmp_path, name, content, found):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=found):
        propose_recipe(tmp_path / name)


def test_the_command_writes_and_never_over_another(people):
    made = CliRunner().invoke(main, ["new", str(people), "--column", "sex", "--language", "ja"])
    assert made.exit_code == 0, made.output
    assert "書き出しました" in made.output
    assert (people.parent / "recipe.toml").exists()
    again = CliRunner().invoke(main, ["new", str(people)])
    assert again.exit_code == 1
    assert "a file is there already" in again.output


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
def test_only_the_steward_reads_what_was_read_off_the_values(people):
    assert CliRunner().invoke(main, ["new", str(people)]).exit_code == 0
    assert stat.S_IMODE((people.parent / "recipe.toml").stat().st_mode) == 0o600


@pytest.mark.parametrize("first", ["17;f;35.1", "17;f;Yamada", "1;2;3"])
def test_the_first_person_of_a_file_without_names_does_not_become_names(tmp_path, first):
    path = tmp_path / "people.csv"
    path.write_text(f"{first}\n18;m;36.2\n19;f;37.3\n", encoding="utf-8")
    with pytest.raises(InputError, match="not names of columns") as refusal:
        propose_recipe(path)
    assert not any(value in str(refusal.value) for value in first.split(";") if len(value) > 1)


def test_years_may_be_names_of_columns(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("area,kind,2020\nnorth,a,5\nsouth,b,7\n", encoding="utf-8")
    assert "[domain.2020]" in propose_recipe(path)


def test_a_faulty_line_and_an_unknown_column_are_said(people):
    with pytest.raises(ParameterError, match="no such column"):
        propose_recipe(people, columns=["gender"])
    people.write_text(PEOPLE + '4;"m;1;x\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 5"):
        propose_recipe(people)


def test_a_file_without_a_line_of_names_is_not_taken_for_one_with(tmp_path):
    """Adult as it comes: no names, a space after each comma, an empty line at the end, and an ending of its own."""
    path = tmp_path / "adult.data"
    path.write_text("39, State-gov, Male\n50, Private, Female\n28, Private, Male\n\n", encoding="utf-8")
    with pytest.raises(InputError, match="not names of columns"):
        propose_recipe(path)
    text = propose_recipe(path, column_names=["age", "work", "sex"], columns=["sex"], confirmed=True)
    assert tomllib.loads(text)["domain"]["sex"]["values"] == ["Female", "Male"]
    found = sd.check(tomllib.loads(text), folder=tmp_path)
    assert (found.rows, found.fitting) == (3, 3)


def test_a_decimal_comma_and_a_bar_are_found(tmp_path):
    (tmp_path / "a.txt").write_text("name|income\na|1,5\nb|2,25\nc|7,0\n", encoding="utf-8")
    text = propose_recipe(tmp_path / "a.txt", columns=["income"], confirmed=True)
    data = tomllib.loads(text)["data"]
    assert (data["delimiter"], data["decimal"]) == ("|", ",")
    assert sd.check(tomllib.loads(text), folder=tmp_path).fitting == 3


def test_the_row_of_names_below_titles_is_found(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["List of people"], [], ["id", "sex"], [1, "f"], [2, "m"]):
        book.active.append(row)
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "people.xlsx")
    text = propose_recipe(tmp_path / "people.xlsx", confirmed=True)
    assert tomllib.loads(text)["data"]["header_row"] == 3
    assert sd.check(tomllib.loads(text), folder=tmp_path).fitting == 2


def test_a_zip_of_e_stat_with_its_labels_and_first_mesh_in_japanese(tmp_path):
    head = "KEY_CODE,HTKSYORI,HTKSAKI,GASSAN,T1,T2,T3\r\n,,,,　人口（総数）,　人口（総数）　男,　人口（総数）　女\r\n"
    with zipfile.ZipFile(tmp_path / "tblT001141H5438.zip", "w") as archive:
        archive.writestr("tblT001141H5438.txt", (head + "543800001,0,,,3,1,2\r\n").encode("cp932"))
    (tmp_path / "recipes").mkdir()
    made = propose_recipe(
        tmp_path / "tblT001141H5438.zip",
        folder=tmp_path / "recipes",
        columns=["T2", "T3"],
        words=Words("ja"),
    )
    found = tomllib.loads(made)
    assert found["data"]["path"] == "../tblT001141H5438.zip"
    assert found["data"]["long"]["attributes"] == ["区分", "性別"]
    assert found["domain"]["mesh"]["codes"] == ["5438"]
    assert found["report"] == {"language": "ja"}
    assert "#   T1   人口（総数）" in made
    assert sd.check(found, folder=tmp_path / "recipes").fitting == 2


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        propose_recipe(tmp_path / "people.csv")
