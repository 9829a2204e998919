"""What the pages show, over HTTP in this process: state, edits, data, protection, charts."""

import json
import sqlite3
from contextlib import closing
from urllib.parse import quote

import numpy as np
import openpyxl
import pytest

from sudare.privacy import Ledger
from sudare.workflow import plan


def edit(client, changes, based_on):
    return client.request("PATCH", "/api/recipe", json={"changes": changes, "based_on": based_on})


def test_state_tells_the_recipe_and_its_versions(client):
    state = client.get("/api/state").json()
    assert state["version"] == 1
    assert state["valid"]
    assert state["problem"] is None
    assert state["recipe"]["privacy"] == {"epsilon": 0.5}
    assert state["effective"]["privacy"]["total"] == "noisy"
    assert state["effective"]["domain"]["cell"]["from"] == ["row", "column"]
    assert state["dataset"] == "village"
    assert state["kinds"] == ["table", "sample", "perturbation", "weights"]
    assert not state["can_undo"]


def test_a_recipe_in_the_middle_of_an_edit_is_kept_and_says_what_is_wrong(client):
    state = client.request("PUT", "/api/recipe", json={"text": "kind = 'table'\nx = [", "based_on": 1}).json()
    assert (state["version"], state["valid"], state["recipe"]) == (2, False, None)
    assert "not TOML" in state["problem"]["message"]
    for verb, body in (("rehearse", {}), ("publish", {"confirm": "village"})):
        refusal = client.post(f"/api/{verb}", json={"based_on": 2, **body})
        assert refusal.status_code == 422
        assert "not valid yet" in refusal.json()["error"]["message"]
    assert client.get("/api/protect").json()["plan"] is None
    assert client.get("/api/protect", params={"epsilon": 1}).status_code == 422
    assert edit(client, {"privacy.epsilon": 1}, 2).status_code == 422
    state = client.post("/api/undo", json={"based_on": 2}).json()
    assert state["valid"]
    assert state["can_redo"]


def test_two_tabs_lose_nothing(client):
    """Both look at version 1; the slower one is told, looks again, and both changes are in."""
    first = edit(client, {"privacy.epsilon": 0.25}, 1)
    second = edit(client, {"title": "Both"}, 1)
    assert (first.status_code, second.status_code) == (200, 409)
    assert edit(client, {"title": "Both"}, client.get("/api/state").json()["version"]).status_code == 200
    recipe = client.get("/api/state").json()["recipe"]
    assert (recipe["privacy"]["epsilon"], recipe["title"]) == (0.25, "Both")


def test_a_misspelt_key_is_named(client):
    state = edit(client, {"privacy.epsilo": 1}, 1).json()
    assert state["problem"]["hint"] == "Did you mean 'epsilon'?"


def test_a_domain_that_no_machine_holds_is_a_sentence(client):
    state = edit(client, {"domain.cell": {"type": "line", "length": 10**30}}, 1).json()
    assert not state["valid"]
    assert state["problem"]["message"]


def test_data_are_names_and_types_only(client, workspace):
    (workspace.folder / "notes.txt").write_text("x")
    (workspace.folder / ".hidden.csv").write_text("a\n1\n")
    (workspace.folder / "plain.csv").write_text("lat,lon,age\nSECRET1,SECRET2,SECRET3\n")
    found = client.get("/api/data").json()
    assert [one["name"] for one in found["files"]] == ["people.parquet", "plain.csv", "public.csv"]
    assert found["file"] == "people.parquet"
    assert found["columns"][0] == {"name": "person", "type": "BIGINT"}
    assert found["suggestions"]["unit"] == "person"
    other = client.get("/api/data", params={"file": "plain.csv", "header": True})
    assert "SECRET" not in other.text
    assert other.json()["suggestions"]["mesh"] == ["lat", "lon"]
    assert other.json()["proposal"] == {"encoding": "utf-8", "delimiter": ",", "faulty_line": None}


def test_the_first_line_of_text_is_shown_only_when_it_is_asked_for(client, workspace):
    (workspace.folder / "headless.csv").write_text("tanaka,35.1,139.2\nsuzuki,35.2,139.3\n")
    found = client.get("/api/data", params={"file": "headless.csv"})
    assert "tanaka" not in found.text
    assert (found.json()["withheld"], found.json()["columns"], found.json()["proposal"]) == (True, [], None)
    asked = client.get("/api/data", params={"file": "headless.csv", "header": True}).json()
    assert (asked["withheld"], asked["columns"][0]["name"]) == (False, "tanaka")
    assert not client.get("/api/data").json()["withheld"]


def test_the_first_row_of_a_sheet_is_shown_only_when_it_is_asked_for(client, workspace):
    book = openpyxl.Workbook()
    book.active.append(["tanaka", 35.1, "HIV+"])
    book.save(workspace.folder / "headless.xlsx")
    found = client.get("/api/data", params={"file": "headless.xlsx"})
    assert (found.json()["withheld"], found.json()["columns"]) == (True, [])
    asked = client.get("/api/data", params={"file": "headless.xlsx", "header": True}).json()
    assert (asked["withheld"], asked["columns"][0]["name"], asked["proposal"]) == (False, "tanaka", None)


def test_an_encoding_is_proposed_and_read_once_the_recipe_has_it(client, workspace):
    (workspace.folder / "japanese.csv").write_bytes("番号,区\n1,千代田\n2,中央\n".encode("cp932"))
    edit(client, {"data.path": "japanese.csv"}, 1)
    found = client.get("/api/data", params={"header": True}).json()
    assert found["proposal"]["encoding"] == "cp932"
    assert found["columns"] == []
    assert found["problem"]["message"]
    edit(client, {"data.encoding": "cp932"}, 2)
    found = client.get("/api/data", params={"header": True}).json()
    assert [one["name"] for one in found["columns"]] == ["番号", "区"]


@pytest.mark.parametrize("name", ["../recipe.toml", "/etc/passwd", "no.csv", "recipe.toml", ".sudare-studio/studio.db"])
def test_other_files_are_a_problem_and_tell_nothing(client, name):
    found = client.get("/api/data", params={"file": name}).json()
    assert found["problem"]["message"]
    assert found["columns"] == []


def test_a_broken_file_is_a_problem_without_its_values(client, workspace):
    (workspace.folder / "bad.parquet").write_bytes(b"PAR1 SECRET PAR1")
    found = client.get("/api/data", params={"file": "bad.parquet"})
    assert found.json()["problem"]["message"]
    assert "SECRET" not in found.text


@pytest.mark.parametrize("text", ['"open,SECRET\n1,2\n', '"a\nSECRET",b\n', "a" * 300 + ",SECRET\n"])
def test_rows_that_pass_for_a_header_are_not_shown(client, workspace, text):
    (workspace.folder / "odd.csv").write_text(text)
    assert "SECRET" not in client.get("/api/data", params={"file": "odd.csv"}).text


def test_a_database_has_tables(client, workspace):
    import duckdb

    with duckdb.connect(str(workspace.folder / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people (person BIGINT, age SMALLINT)")
    found = client.get("/api/data", params={"file": "people.duckdb"}).json()
    assert (found["tables"], found["columns"]) == (["people"], [])
    found = client.get("/api/data", params={"file": "people.duckdb", "table": "people"}).json()
    assert [one["name"] for one in found["columns"]] == ["person", "age"]


def test_a_table_of_sqlite_is_brought_and_read(client, workspace, tmp_path_factory):
    path = tmp_path_factory.mktemp("elsewhere") / "people.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE people (person INTEGER, age INTEGER)")
    sent = client.post("/api/files/people.sqlite", content=path.read_bytes())
    assert sent.status_code == 201, sent.text
    found = client.get("/api/data", params={"file": "people.sqlite"}).json()
    assert (found["tables"], found["columns"]) == (["people"], [])
    found = client.get("/api/data", params={"file": "people.sqlite", "table": "people"}).json()
    assert [one["name"] for one in found["columns"]] == ["person", "age"]
    assert "ledger.db" not in [one["name"] for one in found["files"]]


def test_uploads_are_whole_new_and_not_too_large(client, workspace):
    def send(name, content):
        return client.post(f"/api/files/{name}", content=content, headers={"content-type": "application/octet-stream"})

    made = send("new.csv", b"a,b\n1,2\n")
    assert (made.status_code, made.json()) == (201, {"name": "new.csv", "bytes": 8})
    assert (workspace.folder / "new.csv").read_bytes() == b"a,b\n1,2\n"
    assert send("new.csv", b"other").status_code == 409
    assert (workspace.folder / "new.csv").read_bytes() == b"a,b\n1,2\n"
    for name in ("x.toml", "x.exe", ".x.csv", "%2e%2e%2fx.csv", "a%2fx.csv", "csv", "x.csv%00.csv", "x%5c.csv"):
        assert send(name, b"x").status_code in (404, 422), name
    assert send("large.csv", b"x" * 50_001).status_code == 413

    async def pieces():
        for _ in range(60):
            yield b"x" * 1000

    assert send("pieces.csv", pieces()).status_code == 413
    assert not (workspace.folder / "large.csv").exists()
    assert not (workspace.folder / "pieces.csv").exists()
    assert not list(workspace.hidden.glob("upload-*"))


RESERVED = {
    "ledger.db": [
        "ledger.db",
        "LEDGER.DB",
        "ｌedger.db",
        "ledger．db",
        "ledger.db-journal",
        "ledger.db-wal",
        "ledger.db.",
    ],
    "./x/../books.db": ["books.db", "sudare-ledger.db", "recipe.toml", "RECIPE.TOML", "publisher.pem", "release"],
    "deep/books.csv/ledger.db": ["deep", "keys.csv", "KEYS.csv", "2024.parquet", "2024.PARQUET "],
    "ff.db": ["ﬀ.db", "FF.db"],
    "{folder}/books.duckdb": ["books.duckdb", "Books.DuckDB"],
}
"""For paths of a ledger in the recipe, names that are refused; the key is keys.csv, the release 2024.parquet/first."""


@pytest.mark.parametrize(("ledger", "name"), [(ledger, name) for ledger, names in RESERVED.items() for name in names])
def test_an_upload_does_not_take_a_name_of_the_recipe(client, workspace, ledger, name):
    """None of them is there yet: whoever brought the ledger would bring a budget of its own."""
    changes = {"output.key": "keys.csv", "output.folder": "2024.parquet/first"}
    changes["ledger.path"] = ledger.format(folder=workspace.folder)
    assert edit(client, changes, 1).status_code == 200
    before = sorted(workspace.folder.iterdir())
    assert client.post(f"/api/files/{quote(name)}", content=b"a,b\n1,2\n").status_code == 422
    assert sorted(workspace.folder.iterdir()) == before
    assert client.post("/api/files/ledgers.csv", content=b"a,b\n1,2\n").status_code == 201


def test_a_name_of_the_recipe_is_kept_also_while_the_recipe_is_not_valid(client):
    client.request("PUT", "/api/recipe", json={"text": "ledger.path = 'books.db'\nx = 1", "based_on": 1})
    assert client.post("/api/files/Books.db", content=b"x").status_code == 422


def test_a_ledger_is_not_brought_under_any_name(client, workspace, tmp_path_factory):
    path = tmp_path_factory.mktemp("elsewhere") / "forged.db"
    Ledger(path).set_cap("village", epsilon=10_000)
    for name in ("other.db", "other.csv", "other.duckdb"):
        sent = client.post(f"/api/files/{name}", content=path.read_bytes())
        assert sent.status_code == 422
        assert "ledger" in sent.json()["error"]["message"]
    assert not list(workspace.folder.glob("other.*"))
    assert not list(workspace.hidden.glob("upload-*"))


def test_an_upload_in_the_place_of_a_link_is_refused(client, workspace, tmp_path_factory):
    target = tmp_path_factory.mktemp("elsewhere") / "x.csv"
    (workspace.folder / "link.csv").symlink_to(target)
    assert client.post("/api/files/link.csv", content=b"a\n").status_code == 404
    assert not target.exists()


def test_protection_is_the_plan(client, workspace):
    page = client.get("/api/protect").json()
    while page["pending"]:
        page = client.get("/api/protect").json()
    made = plan(workspace.recipe).to_json()
    # What is left on this machine is another number a moment later.
    passing = {"memory_bytes_here", "disk_bytes_here"}
    assert page["plan"].keys() == made.keys() > passing
    assert all(page["plan"][name] > 0 for name in passing)
    lasting = {name: value for name, value in made.items() if name not in passing}
    assert {name: page["plan"][name] for name in lasting} == json.loads(json.dumps(lasting))
    assert page["slider"]["path"] == "privacy.epsilon"
    assert page["based_on"] == "public things and a rehearsal on synthetic data"
    assert page["ledger"]["cost"] == "ε = 0.5"
    assert page["ledger"]["enough"]
    assert page["guarantee"]["odds"]["rows"]
    areas = page["error_by_area"]
    assert [row["cells"] for row in areas] == [row["cells"] for row in made["errors"]]
    assert areas[-1]["people"] == [2000, 2000]
    low, high = areas[0]["with_people"]
    assert 0 < low < high  # how many places have people, and how unevenly, is not declared
    assert page["smallest_area_10_percent"] or page["smallest_areas"]


def test_protection_proposes_an_order_where_two_long_lines_may_be_coordinates(client, workspace):
    bins = '[domain.{0}]\ntype = "bins"\nfrom = "{0}"\nstart = 0\nstop = 32\nstep = 1\n'
    text = workspace.recipe.read_text()
    start, end = text.index("[domain.cell]"), text.index("[method]")
    workspace.recipe.write_text(text[:start] + bins.format("row") + bins.format("column") + text[end:])
    page = client.get("/api/protect").json()
    while page["pending"]:
        page = client.get("/api/protect").json()
    assert page["remarks_about"] == ["order"]
    assert 'order = [["row", "column"]]' in page["remarks_shown"][0]


def test_the_map_of_a_window_has_the_outlines_of_the_recipe(client, workspace):
    pytest.importorskip("shapely")
    square = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]}
    feature = {"type": "Feature", "properties": {"name": "Our town"}, "geometry": square}
    (workspace.folder / "towns.geojson").write_text(json.dumps(feature))
    text = workspace.recipe.read_text()
    workspace.recipe.write_text(text.replace("[report]\n", '[report]\noutline = "towns.geojson"\n'))
    assert client.get("/api/world").json()["outline"]["names"][0][0] == "Our town"


def test_a_first_release_beyond_the_cap_of_the_recipe_is_told_from_one_without_a_cap(client):
    edit(client, {"privacy.epsilon": 50, "ledger.cap": {"epsilon": 2}}, 1)
    page = client.get("/api/protect").json()
    while page["pending"]:
        page = client.get("/api/protect").json()
    for books in (page["ledger"], client.get("/api/publish").json()["ledger"]):
        assert (books["cap"], books["spent_share"], books["enough"]) == ("ε = 2", 0, False)
    assert edit(client, {"ledger.cap": None}, 2).status_code == 200
    books = client.get("/api/publish").json()["ledger"]
    assert (books["cap"], books["spent_share"], books["enough"]) == (None, None, False)


def test_protection_speaks_japanese(client):
    page = client.get("/api/protect", params={"language": "ja"}).json()
    while page["pending"]:
        page = client.get("/api/protect", params={"language": "ja"}).json()
    assert "差分プライバシー" in page["guarantee"]["headline"]


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e300", "x"])
def test_values_off_the_slider_are_refused(client, value):
    assert client.get("/api/protect", params={"epsilon": value}).status_code == 422


def test_a_mesh_window_is_what_the_box_touches(client):
    box = {"level": "500m", "south": 35.0, "west": 139.0, "north": 35.1, "east": 139.2}
    found = client.get("/api/mesh", params=box).json()
    assert (found["rows"], found["columns"], found["cells"]) == ([8400, 8424], [6240, 6272], 768)
    for wrong in ({"north": 34}, {"level": "7m"}, {"south": "nan"}, {"west": 20, "east": 30}):
        assert client.get("/api/mesh", params=box | wrong).status_code == 422


def test_charts_are_drawn_here(client):
    while client.get("/api/protect").json()["pending"]:
        pass
    drawn = client.get("/api/charts/expected.svg", params={"width": 500, "language": "ja"})
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert "面積" in drawn.text or "セル" in drawn.text
    assert client.get("/api/charts/expected.svg", params={"width": 5}).status_code == 422
    assert client.get("/api/charts/areas.svg", params={"rehearsal": "no"}).status_code == 404
    assert client.get("/api/charts/other.svg", params={"rehearsal": "no"}).status_code == 422


def test_every_page_has_a_twin_that_is_described(client):
    described = client.get("/api/openapi.json").json()["paths"]
    for page in ("data", "protect", "rehearse", "publish", "ledger"):
        assert "get" in described[f"/api/{page}"]
        assert client.get(f"/api/{page}").status_code == 200


def test_the_ledger_page_of_a_broken_ledger_says_so(client, workspace):
    (workspace.folder / "ledger.db").write_bytes(np.random.default_rng(1).bytes(5000))
    found = client.get("/api/ledger").json()
    assert "not a SQLite database" in found["problem"]["message"]
    assert client.get("/api/publish").json()["problem"]["message"]
    refusal = client.post("/api/publish", json={"based_on": 1, "confirm": "village"})
    assert refusal.status_code == 503


def test_publishing_needs_the_name_typed_out(client, workspace):
    page = client.get("/api/publish").json()
    assert (page["confirm"], page["can_publish"]) == ("village", True)
    for confirm in ("", "Village", "village "):
        refusal = client.post("/api/publish", json={"based_on": 1, "confirm": confirm})
        assert refusal.status_code == 422
    assert client.post("/api/publish", json={"based_on": 7, "confirm": "village"}).status_code == 409
    assert not (workspace.folder / "ledger.db").exists()
    assert client.get("/api/jobs/none").status_code == 404


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_page_is_drawn_in_both_languages(client, language):
    while client.get("/api/protect").json()["pending"]:
        pass
    for page in ("data", "protect", "rehearse", "publish", "ledger"):
        found = client.get(f"/{page}", params={"language": language})
        assert found.status_code == 200, found.text
        assert f'<html lang="{language}"' in found.text
        assert client.get(f"/{page}").text.count(f'lang="{language}"') >= 1  # the choice is remembered
    assert client.get("/other").status_code == 404


def test_pages_stand_while_there_is_nothing_to_show(client):
    client.request("PUT", "/api/recipe", json={"text": "not toml [", "based_on": 1})
    for page in ("data", "protect", "rehearse", "publish", "ledger"):
        assert client.get(f"/{page}").status_code == 200
    assert "not TOML" in client.get("/api/publish").json()["problem"]["message"]


def test_an_edit_outside_shows_at_once(client, workspace):
    assert client.get("/api/state").json()["version"] == 1
    workspace.recipe.write_text(workspace.recipe.read_text().replace("epsilon = 0.5", "epsilon = 0.75"))
    state = client.get("/api/state").json()
    assert (state["version"], state["versions"][0]["change"]) == (2, "outside")
    assert client.request("PUT", "/api/recipe", json={"text": "", "based_on": 1}).status_code == 409
    assert client.post("/api/versions/1", json={"based_on": 2}).json()["recipe"]["privacy"]["epsilon"] == 0.5


def test_an_answer_keeps_the_order_of_the_recipe_and_its_letters(client):
    edit(client, {"title": "村 </script>", "domain.age": {"type": "bins", "edges": [0, 15, "open"]}}, 1)
    recipe = client.get("/api/state").json()["recipe"]
    assert list(recipe["domain"]) == ["cell", "sex", "age"]
    assert recipe["title"] == "村 </script>"
