"""Sheets: a paper's table for people, for files and for machines."""

import csv

import pytest

from sudare.errors import OutputError, ParameterError
from sudare.language.catalogue import Words
from sudare.language.messages import PageMessage
from sudare.papers.sheet import Phrase, Sheet, spec_in_words

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


def test_a_figure_is_said_in_a_language_and_its_data_and_code_stay():
    basis = Phrase(
        "{basis}; {runs} runs, epsilon {epsilon:g}", basis=PageMessage("paper.basis.census"), runs=3, epsilon=0.1
    )
    spec = {
        "title": {"text": "Figure 2, as printed", "subtitle": basis},
        "data": {"values": [{"series": "truth", "kind": "line", "x": 1.5}]},
        "encoding": {"color": {"field": "series", "type": "nominal"}},
    }
    made = spec_in_words(spec, Words("ja"))
    assert made["title"] == {"text": "図 2（記載どおり）", "subtitle": "2020 年国勢調査。3 回、ε = 0.1"}
    assert made["data"]["values"] == [{"series": "真値", "kind": "line", "x": 1.5}]
    assert made["encoding"] == spec["encoding"]
    assert spec_in_words(spec, Words("en")) == spec
