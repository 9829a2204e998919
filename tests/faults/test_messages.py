"""An ordinary mistake ends in one line that says what to do, on the command line, in either language."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from fault_changes import CANARY
from fault_recipes import RECIPES, SHARED, house, releases
from fault_small_files import ledger_file

from sudare.cli import main
from sudare.engines import read
from sudare.errors import InputError
from sudare.privacy import Ledger

TABLE, AGES, WEIGHTS = RECIPES[0], RECIPES[1], RECIPES[7]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in house().glob("*.*"):
        shutil.copy(file, tmp_path)
    return tmp_path


def said(*words: object, language: str = "en") -> str:
    """The line that a command ends in."""
    made = CliRunner(env={"SUDARE_LANGUAGE": language}).invoke(main, list(map(str, words)))
    assert (type(made.exception), made.exit_code) == (SystemExit, 1), made.output
    assert CANARY not in made.output
    assert made.output.count("\n") == 1
    return made.output


def both(pattern: str, *words: object) -> None:
    """The same mistake in English, which fits ``pattern``, and in Japanese, which is no English."""
    assert re.search(pattern, said(*words))
    assert re.search("[ぁ-ん]", said(*words, language="ja"))


def published(folder: Path, source: str, pattern: str, recipe: str = TABLE, verb: str = "publish") -> None:
    for old in ("people.parquet", "people.csv"):
        recipe = recipe.replace(f'path = "{old}"', f'path = "{source}"')
    (folder / "recipe.toml").write_text(recipe + SHARED)
    both(pattern, verb, folder / "recipe.toml")
    assert not (folder / "ledger.db").exists()
    assert not (folder / "release").exists()


@pytest.mark.parametrize(
    ("address", "pattern"),
    [
        ("http://host/people.parquet", "http:// with its extension httpfs, .* Copy the file .* INSTALL httpfs"),
        ("https://me:secret@host/people.parquet?signature=secret", "https:// with its extension httpfs"),
        ("s3://bucket/people.parquet", "s3:// with its extension httpfs"),
        ("S3://bucket/people.parquet", "s3:// with its extension httpfs"),
        ("gs://bucket/people.parquet", "gs:// with its extension httpfs"),
        ("gcs://bucket/people.parquet", "gcs:// with its extension httpfs"),
        ("az://box/people.parquet", "az:// with its extension azure"),
        ("abfss://box@account/people.parquet", "abfss:// with its extension azure"),
        ("hdfs://cluster/people.parquet", "DuckDB does not read from hdfs://. Copy the file"),
        ("ftp://host/people.parquet", "DuckDB does not read from ftp://. Copy the file"),
        ("file:///srv/people.parquet", "DuckDB does not read from file://. Copy the file"),
        ("https://host/people.csv.gz", "one Parquet file is read and nothing else"),
        ("s3://bucket/day-*.parquet", "one Parquet file is read and nothing else"),
    ],
)
def test_an_address_that_the_engine_cannot_read_is_refused_by_name(folder, address, pattern):
    for verb in ("plan", "publish"):
        published(folder, address, pattern, verb=verb)
    assert "secret" not in said("publish", folder / "recipe.toml")


@pytest.mark.parametrize("address", ["http://host/a.parquet", "ftp://host/a.parquet", "file:///srv/a.parquet"])
def test_spark_is_not_even_started_for_what_it_never_reads(folder, address):
    recipe = TABLE.replace('unit = "person"', 'unit = "person", engine = "spark"')
    published(folder, address, r"Spark does not read from \w+://. Copy the file", recipe, verb="plan")


def test_an_address_is_read_with_an_installed_extension(folder, monkeypatch):
    # None that reads from a network is installed here: the one for Parquet, which is, stands for it.
    monkeypatch.setitem(import_module("sudare.engines.files").EXTENSIONS, "file", "parquet")
    there = read(f"file://{folder}/people.parquet")
    assert there.columns == read(folder / "people.parquet").columns
    assert sorted(there.values(["age"])["age"]) == sorted(read(folder / "people.parquet").values(["age"])["age"])
    with pytest.raises(InputError, match=r"^the records cannot be read \(got 'file:///no/such.parquet'\)"):
        read("file:///no/such.parquet?signature=secret")


@pytest.mark.parametrize(
    ("key", "name"),
    [('"ledger.db"', "ledger: path"), ('"release"', "output: folder"), ('"publisher.pem"', "output: key")],
)
def test_an_address_where_a_recipe_needs_a_path(folder, key, name):
    (folder / "recipe.toml").write_text((TABLE + SHARED).replace(key, '"s3://bucket/thing"'))
    both(f"{name} is an address: give the path", "publish", folder / "recipe.toml")
    published(
        folder, "people.parquet", "public: path is an address", WEIGHTS.replace("public.csv", "https://host/p.csv")
    )


@pytest.mark.parametrize(
    "command",
    [
        ("plan", "https://host/x"),
        ("verify", "https://host/x"),
        ("compare", "https://host/x", "--mean", "age"),
        ("reconstruct", "https://host/x"),
        ("estimate", "https://host/x"),
        ("ledger", "show", "--ledger", "https://host/x"),
        ("collect", "serve", "https://host/x"),
        ("studio", "https://host/x"),
        ("demo", "--folder", "https://host/x"),
    ],
)
def test_an_address_where_a_command_needs_a_path(command):
    both(r"this is an address \(got 'https://...'\). Copy the file", *command)


def parts(folder: Path, content: Callable[[bytes], bytes]) -> None:
    """Three parts, of which the one in the middle is spoilt."""
    (folder / "parts").mkdir()
    whole = (folder / "people.parquet").read_bytes()
    for number in range(3):
        (folder / "parts" / f"part-{number}.parquet").write_bytes(content(whole) if number == 1 else whole)


@pytest.mark.parametrize(
    "spoil", [lambda whole: whole[: len(whole) // 2], lambda _: b"", lambda _: b"person,age\n" * 9]
)
@pytest.mark.parametrize("source", ["parts", "parts/*.parquet"])
def test_a_bad_part_of_a_folder(folder, spoil, source):
    parts(folder, spoil)
    published(
        folder, source, "not all of the files are whole Parquet files .* do not begin and end with the bytes PAR1"
    )


def test_a_part_whose_pages_are_damaged(folder):
    parts(folder, lambda whole: whole[:4] + bytes(len(whole) // 2) + whole[len(whole) // 2 + 4 :])
    published(folder, "parts", "the records cannot be read .* write or copy them again")


@pytest.mark.parametrize("source", ["day-*.csv", "none-*.tsv", "days.csv"])
def test_several_files_of_text(folder, source):
    (folder / "day-1.csv").write_bytes((folder / "people.csv").read_bytes())
    (folder / "days.csv").mkdir()
    published(folder, source, "CSV is read from one file, .* Join the files into one, or write them as Parquet", AGES)


@pytest.mark.parametrize(
    ("name", "content", "pattern"),
    [
        ("a.csv", lambda text, _: gzip.compress(text), "the file is gzip, and by its name it is plain text"),
        ("a.csv.gz", lambda text, _: text, "the file is plain text, and by its name it is gzip"),
        ("a.csv", lambda _, rows: rows, "the file is Parquet, and by its name it is plain text"),
        ("a.parquet", lambda text, _: text, "the file is plain text, and by its name it is Parquet"),
        ("a.csv", lambda text, _: text.decode().encode("utf-16"), "the file is text in UTF-16, and by its name"),
        ("a.csv", lambda *_: b"PK\x03\x04 a sheet", "the file is zip, and by its name it is plain text"),
        ("a.csv.gz", lambda text, _: gzip.compress(text)[:200], "the file cannot be read .* copy it again"),
        ("a.parquet", lambda _, rows: rows[: len(rows) // 2], "the records cannot be read .* copy them again"),
    ],
)
def test_a_file_of_another_format_than_its_name_says_or_cut_off(folder, name, content, pattern):
    (folder / name).write_bytes(content((folder / "people.csv").read_bytes(), (folder / "people.parquet").read_bytes()))
    published(folder, name, pattern, AGES if ".csv" in name else TABLE)


def test_folders_and_patterns_without_records(folder):
    (folder / "empty").mkdir()
    published(folder, "empty", "the folder holds no Parquet file .* Or give one CSV file's path")
    published(folder, "none-*.parquet", "no file matches the pattern .* Look at the folder's files")


def test_a_pattern_that_fits_is_not_called_missing(folder):
    (folder / "recipe.toml").write_text((TABLE + SHARED).replace("people.parquet", "peopl?.parquet"))
    made = CliRunner().invoke(main, ["plan", str(folder / "recipe.toml")])
    assert made.exit_code == 0
    assert "not there yet" not in made.output


@pytest.mark.parametrize("kind", ["table", "perturbation"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_certificate_that_an_editor_has_saved(tmp_path, kind, encoding):
    """A byte order mark changes nothing that is signed; text in UTF-16 is no certificate, and the line says so."""
    certificates = {json.loads((made / "release.json").read_text())["kind"]: made for made in releases()}
    shutil.copytree(certificates[kind], tmp_path / "release")
    text = (tmp_path / "release" / "release.json").read_text(encoding="utf-8")
    (tmp_path / "release" / "release.json").write_text(text, encoding=encoding)
    if encoding == "utf-16":
        both(
            "the certificate cannot be read as JSON .* text in UTF-8, .* fetch it again", "verify", tmp_path / "release"
        )
        return
    assert CliRunner().invoke(main, ["verify", str(tmp_path / "release")]).exit_code == 0
    if kind == "perturbation":
        records = tmp_path / "release" / "records.parquet"
        asked = ["reconstruct", str(records), "--folder", str(tmp_path / "found")]
        assert CliRunner().invoke(main, asked).exit_code == 0


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE entries ADD COLUMN memo TEXT",
        "ALTER TABLE entries DROP COLUMN hash",
        "ALTER TABLE entries RENAME TO books",
        "CREATE TRIGGER memo BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
    ],
)
def test_a_ledger_that_another_program_has_changed(tmp_path, change):
    shutil.copy(ledger_file(), tmp_path / "ledger.db")
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute(change)
    connection.close()
    for command in (("show",), ("verify",), ("set-cap", "new", "--epsilon", "1")):
        both("has other columns or triggers .* Another program", "ledger", *command, "--ledger", tmp_path / "ledger.db")
    assert Ledger.open(ledger_file()).verify()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_recipe_with_a_byte_order_mark_or_the_line_ends_of_windows(folder, mark, end):
    (folder / "recipe.toml").write_bytes(mark + (TABLE + SHARED).replace("\n", end).encode())
    assert CliRunner().invoke(main, ["plan", str(folder / "recipe.toml")]).exit_code == 0


@pytest.mark.parametrize("command", [("plan",), ("collect", "serve")])
def test_a_recipe_or_survey_that_is_no_text_or_no_file(tmp_path, command):
    (tmp_path / "text.toml").write_text('title = "東京"', encoding="cp932")
    both("is not text in UTF-8 .* Save it in UTF-8", *command, tmp_path / "text.toml")
    (tmp_path / "text.toml").write_text('title = "東京"', encoding="utf-16")
    both("is not text in UTF-8 .* Save it in UTF-8", *command, tmp_path / "text.toml")
    both("cannot be opened .* Give the path of a file", *command, tmp_path)
