import json
import shutil

import pytest

import sudare as sd
from recipes import one_of_each_kind, village
from sudare.errors import OutputError, SudareError
from sudare.language.catalogue import Words
from sudare.registry import KINDS
from sudare.render.sections import Chart


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    recipes = one_of_each_kind(tmp_path_factory.mktemp("published"))
    return {kind: sd.publish(recipe).folder for kind, recipe in recipes.items()}


@pytest.mark.parametrize("kind", ["table", "sample", "perturbation", "weights"])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_kind_has_a_page_of_its_public_files(published, tmp_path, kind, language):
    page = sd.reading.write_explorer(published[kind], tmp_path / "page", language=language)
    text = page.read_text(encoding="utf-8")
    assert "default-src" in text
    assert f'lang="{language}"' in text or kind == "table"
    contents = json.loads((tmp_path / "page" / "data.json").read_text(encoding="utf-8"))
    assert contents["kind"] == kind
    assert (tmp_path / "page" / "released" / "release" / "release.json").is_file()


def test_the_twin_has_the_cells_of_the_table(published, tmp_path):
    sd.reading.write_explorer(published["table"], tmp_path / "page")
    contents = json.loads((tmp_path / "page" / "data.json").read_text(encoding="utf-8"))
    table = sd.open(published["table"]).table
    assert sum(contents["releases"][0]["count"]) == table.total
    assert len(contents["places"]["labels"]) == table.domain.attributes[contents["main"]].size


def test_only_what_is_certified_goes_with_the_page(published, tmp_path):
    folder = shutil.copytree(published["table"], tmp_path / "release")
    private = tmp_path / "people.csv"
    private.write_text("id,place\n1,here\n", encoding="utf-8")
    shutil.copy(private, folder / "people-backup.csv")
    (folder / "inner").mkdir()
    shutil.copy(private, folder / "inner" / "people.csv")
    (folder / "link").symlink_to(private)
    sd.reading.write_explorer(folder / "release.json", tmp_path / "page")
    given = tmp_path / "page" / "released" / "release"
    assert {path.name for path in given.rglob("*")} == {path.name for path in published["table"].iterdir()}
    assert sd.verify(given).ok


def test_a_text_of_a_title_cannot_end_the_script():
    from sudare.reading import explorer

    page = explorer._page({"title": "</script><script>alert(1)</script>"}, None)
    assert "alert(1)</script>" not in page


def test_what_is_there_stays_and_what_is_none_is_refused(published, tmp_path):
    (tmp_path / "page").mkdir()
    with pytest.raises(OutputError):
        sd.reading.write_explorer(published["table"], tmp_path / "page")
    with pytest.raises(SudareError):
        sd.reading.write_explorer(tmp_path, tmp_path / "other")
    with pytest.raises(SudareError):
        sd.reading.write_explorer(published["table"], tmp_path / "other", language="xx")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("kind", ["sample", "perturbation", "weights"])
def test_every_column_of_rows_has_a_chart_of_what_is_released(published, kind):
    folder = published[kind]
    opened = sd.open(folder)
    certificate = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    sections = KINDS[kind].public_sections(folder, certificate, Words("ja"))
    charts = [part for section in sections for part in section.parts if isinstance(part, Chart)]
    assert len(charts) == len([name for name in opened.to_arrow().column_names if name != "weight"])
    for chart in charts:
        name = bytes.fromhex(chart.name.removeprefix("column-")).decode()
        places = chart.layouts[0]["datasets"]["places"]
        assert sum(place["value"] for place in places) == pytest.approx(1, abs=1e-6)
        if kind == "sample":
            shares = {place["label"]: place["value"] for place in places}
            values = opened.records.column(name).to_pylist()
            assert shares == {value: pytest.approx(values.count(value) / len(values)) for value in set(values)}
        elif kind == "weights":
            assert all(place["low"] <= place["value"] <= place["high"] for place in places)
            assert sum(place["other"] for place in places) == pytest.approx(1)
        else:
            found = opened.reconstruct([name], bins=20, method="ibt")[name]
            assert [place["value"] for place in places] == pytest.approx(found.probabilities.tolist())
            assert sum(place["other"] for place in places) <= 1 + 1e-9


def test_the_report_links_its_files_and_inside_an_explorer_the_explorer(tmp_path):
    made = sd.publish(village(tmp_path).change(("public = false", "public = true")))
    page = (made.folder / "report.html").read_text(encoding="utf-8")
    for name in made.certificate["files"]:
        assert f'<a href="{name}">{name}</a>' in page
    index = sd.reading.write_explorer(made.folder, tmp_path / "page")
    report = tmp_path / "page" / "released" / "release" / "report.html"
    assert 'href="../../index.html"' in report.read_text(encoding="utf-8")
    assert (report.parent / "../../index.html").resolve() == index.resolve()
