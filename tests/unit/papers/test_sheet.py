"""Sheets: a paper's table for people, for files and for machines."""

import csv

import pytest

from sudare.errors import OutputError, ParameterError
from sudare.papers.sheet import Sheet

SHEET = Sheet(
    "errors",
    ("method", "cells", "error"),
    (("Tree", 262_144, 19.345), ("Cut, at 40", 1, 409_364.61), ("exact", 4, 0.0), ("none", None, float("nan"))),
)


def test_people_read_short_numbers():
    assert SHEET.text_rows() == [
        ("Tree", "262,144", "19.34"),
        ("Cut, at 40", "1", "409,364.6"),
        ("exact", "4", "0"),
        ("none", "", ""),
    ]
    assert Sheet("s", ("a",), ((0.0314159,), (-4e-18,))).text_rows() == [("0.03142",), ("0",)]


def test_the_file_has_all_digits(tmp_path):
    path = SHEET.write(tmp_path)
    assert path == tmp_path / "errors.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["method", "cells", "error"],
        ["Tree", "262144", "19.345"],
        ["Cut, at 40", "1", "409364.61"],
        ["exact", "4", "0.0"],
        ["none", "", ""],
    ]


def test_machines_read_plain_objects():
    assert SHEET.to_json()[-1] == {"method": "none", "cells": None, "error": None}


def test_a_ragged_sheet_is_refused():
    with pytest.raises(ParameterError, match="a row of a sheet has another length than its header"):
        Sheet("ragged", ("a", "b"), ((1,),))


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(OutputError, match="a table cannot be written: No such file"):
        SHEET.write(tmp_path / "nowhere")
