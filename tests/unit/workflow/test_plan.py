"""What `plan` remarks beside its numbers: what would stop the publication."""

import shutil
from pathlib import Path

import pytest

import sudare as sd
from sudare.language import PageMessage


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch], ids=["a folder", "a file"])
def test_an_output_folder_that_exists_is_remarked(village, make):
    assert sd.plan(village.recipe).remarks == ()
    make(village.folder / "release")
    assert sd.plan(village.recipe).remarks == (PageMessage("remark.folder", path="release"),)


def test_an_output_folder_that_cannot_be_is_remarked(village):
    (village.folder / "release").symlink_to("nowhere")
    (remark,) = sd.plan(village.recipe).remarks
    assert str(remark).startswith("a link in the path of the output folder leads nowhere")


def test_data_that_are_not_there_are_remarked(village):
    shutil.move(village.folder / "people.parquet", village.folder / "elsewhere.parquet")
    assert sd.plan(village.recipe).remarks == (PageMessage("remark.data", path="people.parquet"),)


def test_a_column_that_is_not_there_is_remarked_without_a_row_being_read(village):
    village.change(('unit = "person"', 'unit = "persona"'))
    (remark,) = sd.plan(village.recipe).remarks
    assert "Did you mean 'person'?" in str(remark)


def test_a_format_that_publish_would_refuse_is_remarked(village):
    (village.folder / "people.parquet").write_text("lat,lon\n1,2\n")
    (remark,) = sd.plan(village.recipe).remarks
    assert "by its name it is Parquet" in str(remark)


def test_areas_are_never_larger_than_the_domain(village):
    village.change(("columns = [6300, 6316]", "columns = [6300, 6309]"))
    domain = 16 * 9 * 2
    assert max(row["cells"] for row in sd.plan(village.recipe).errors) == domain
