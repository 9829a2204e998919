import json
import shutil
import zipfile

import numpy as np
import pytest

import sudare as sd
from recipes import one_of_each_kind, village
from sudare.errors import ParameterError, VerificationError


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A release of each kind, each in a folder of its own, with what its publisher had."""
    recipes = one_of_each_kind(tmp_path_factory.mktemp("published"))
    return {kind: sd.publish(recipe) for kind, recipe in recipes.items()}


def packed(folder, path, inside=""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"{inside}{file.name}")
    return path


@pytest.fixture(params=["folder", "certificate", "zip", "zip of a folder", "moved"])
def carried(request, tmp_path):
    """A release as it may reach a reader."""

    def carry(folder):
        if request.param == "folder":
            return folder
        if request.param == "certificate":
            return folder / "release.json"
        if request.param == "moved":
            return shutil.copytree(folder, tmp_path / "elsewhere")
        inside = "deep/er/" if request.param == "zip of a folder" else ""
        return packed(folder, tmp_path / "release.zip", inside)

    return carry


def test_a_table_comes_back_with_the_publishers_error_bars(published, carried):
    made, opened = published["table"].release, sd.open(carried(published["table"].folder))
    assert opened.table == made.table
    assert opened.guarantee == made.guarantee
    assert opened.method == made.method
    for level in (0, 3, made.table.domain.bits):
        ours, theirs = opened.error(block_level=level), made.error(block_level=level)
        for name in ("block", "value", "low", "high", "expected_error"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert opened.table.to_arrow() == made.table.to_arrow()


def test_a_sample_comes_back_with_its_rows(published, carried):
    made, opened = published["sample"].release, sd.open(carried(published["sample"].folder))
    assert opened.records.to_pylist() == made.records.to_pylist()
    assert (opened.guarantee, opened.summary) == (made.guarantee, json.loads(json.dumps(made.summary)))


def test_perturbed_records_come_back_and_are_reconstructed(published, carried):
    made, opened = published["perturbation"].release, sd.open(carried(published["perturbation"].folder))
    for name, column in made.values.items():
        assert opened.values[name].tolist() == pytest.approx(column.tolist()) if column.dtype.kind == "f" else True
        assert column.dtype.kind == "f" or opened.values[name].tolist() == column.tolist()
    assert (opened.guarantee, opened.k) == (made.guarantee, made.k)
    ours, theirs = opened.reconstruct(bins=8), made.reconstruct(bins=8)
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_allclose(ours[name].probabilities, theirs[name].probabilities, atol=1e-9)


def test_weights_come_back_and_answer(published, carried):
    made, opened = published["weights"].release, sd.open(carried(published["weights"].folder))
    np.testing.assert_allclose(opened.weights, made.weights)
    name = next(iter(made.model.space.names))
    ours, theirs = opened.answer(name), made.answer(name)
    np.testing.assert_allclose(ours.value, theirs.value)
    np.testing.assert_allclose(ours.low, theirs.low)


def test_a_changed_file_is_not_opened(published, tmp_path):
    folder = shutil.copytree(published["table"].folder, tmp_path / "changed")
    with (folder / "table.csv").open("a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.raises(VerificationError, match=r"differs from the one that was certified .*table.csv"):
        sd.open(folder)


def test_another_publisher_is_told(published):
    with pytest.raises(VerificationError, match="another publisher"):
        sd.open(published["table"].folder, publisher="00" * 32)


@pytest.mark.parametrize("holds", [(), ("a/release.json", "b/release.json")])
def test_a_zip_file_without_one_release_is_refused(tmp_path, holds):
    path = tmp_path / "release.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "")
        for name in holds:
            archive.writestr(name, "{}")
    with pytest.raises(VerificationError, match="does not hold one release"):
        sd.open(path)


def test_a_zip_file_writes_nowhere_else(published, tmp_path):
    path = packed(published["table"].folder, tmp_path / "release.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../escaped.txt", "x")
    sd.open(path)
    assert not list(tmp_path.parent.glob("escaped.txt"))


@pytest.mark.parametrize("name", ["nothing", "nothing.zip", "nothing/release.json"])
def test_what_is_not_there_is_said(tmp_path, name):
    with pytest.raises(VerificationError, match="there is no such certificate"):
        sd.open(tmp_path / name)


def test_a_release_without_bars_opens_too(tmp_path):
    here = village(tmp_path)
    made = sd.publish(here.change(("[output]\n", "[output]\nbars = false\n")))
    assert "low" not in (made.folder / "table.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "low" in sd.open(made.folder).table.to_arrow().column_names


@pytest.mark.parametrize("name", ["D:evil.exe", "..\\evil.exe"])
def test_a_name_that_leads_elsewhere_on_windows_is_refused(published, tmp_path, name):
    path = packed(published["table"].folder, tmp_path / "release.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, b"")
    with pytest.raises(VerificationError, match="the zip file cannot be read"):
        sd.open(path)


@pytest.mark.parametrize("kind", ["table", "sample", "perturbation", "weights"])
def test_an_opened_release_of_any_kind_is_a_frame(published, kind):
    import duckdb
    import polars as pl

    opened = sd.open(published[kind].folder)
    rows = opened.to_arrow()
    assert rows.num_rows > 0
    assert opened.to_pandas().shape == opened.to_polars().shape == (rows.num_rows, rows.num_columns)
    assert pl.DataFrame(opened).columns == rows.column_names
    assert duckdb.from_arrow(opened).count("*").fetchall() == [(rows.num_rows,)]


def test_a_release_has_a_map_for_notebooks_and_as_a_page(tmp_path):
    made = sd.publish(village(tmp_path).recipe).release
    shown = made.map()
    assert shown._repr_html_().startswith("<iframe")
    page = shown.save(tmp_path / "map.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert len(made.to_geopandas()) == len(made.table)


def test_where_there_is_no_place_there_is_no_map():
    domain = sd.Domain(sex=sd.Categories(["f", "m"]))
    made = sd.release(sd.CountTable(domain, [0, 1], [30, 40]), epsilon=1, seed=1)
    with pytest.raises(ParameterError, match="nothing to draw a map of"):
        made.map()
