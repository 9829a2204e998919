import json
from importlib.resources import files

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.language.catalogue import Words
from sudare.render.charts import chart_names, csv_text, fill, stack

PROFILE = {
    "places": [{"label": "f", "truth": 1, "released": 2}],
    "label_title": "sex",
    "value_title": "people",
    "subtitle": "",
    "width": 100,
    "height": 50,
}


def gaps_left(part):
    return "{{" in json.dumps(part)


def test_a_filled_spec_has_no_gap_and_the_theme():
    spec = fill("profile", **PROFILE)
    assert not gaps_left(spec)
    assert spec["width"] == 100
    assert spec["datasets"]["places"] == PROFILE["places"]
    theme = json.loads((files("sudare.render") / "specs" / "theme.json").read_text())
    assert spec["config"] == {**theme, "font": "Helvetica, Arial, sans-serif"}
    assert "Noto Sans CJK JP" in fill("profile", Words("ja"), **PROFILE)["config"]["font"]


def test_filling_twice_does_not_share_anything():
    first = fill("profile", **PROFILE)
    first["layer"].clear()
    first["config"].clear()
    again = fill("profile", **PROFILE)
    assert again["layer"]
    assert again["config"]


@pytest.mark.parametrize("name", chart_names())
def test_specs_load_nothing_from_elsewhere(name):
    spec = json.loads((files("sudare.render") / "specs" / f"{name}.vl.json").read_text())
    spec.pop("$schema")
    assert "http" not in json.dumps(spec)
    assert '"url"' not in json.dumps(spec)


def test_an_unknown_chart_is_refused_with_the_nearest():
    with pytest.raises(ParameterError, match=r"there is no such chart \(got 'maps'.*Did you mean 'map'\?"):
        fill("maps")


def test_a_gap_without_data_is_refused():
    data = {name: value for name, value in PROFILE.items() if name != "places"}
    with pytest.raises(ParameterError, match="chart 'profile' lacks data \\(got 'places'"):
        fill("profile", **data)


def test_data_without_a_gap_is_refused():
    with pytest.raises(ParameterError, match=r"has no such gap \(got 'heigth'.*Did you mean 'height'\?"):
        fill("profile", **PROFILE, heigth=3)


@pytest.mark.parametrize("value", ["0; alert(1)", True, float("nan"), None])
def test_only_numbers_enter_an_expression(value):
    gaps = dict.fromkeys(
        [
            "cells", "cell_width", "cell_height", "south", "columns", "width", "height", "x_domain", "y_domain",
            "x_title", "y_title", "truth_subtitle", "released_subtitle", "colour_title", "brightness_domain",
            "brightness_ticks", "legend_orient", "legend_length",
        ],
        1,
    )  # fmt: skip
    assert fill("map", west=139.5, **gaps)["transform"][0]["calculate"] == "139.5 + datum.column * 1"
    with pytest.raises(ParameterError, match="the gap 'west' inside an expression takes a finite number"):
        fill("map", west=value, **gaps)


def test_numbers_are_written_short_and_exact():
    text = csv_text({"row": np.array([0, 2**53]), "value": np.array([-3.0, 0.125])})
    assert text == f"row,value\n0,-3\n{2**53},0.125\n"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_cannot_be_drawn(value):
    with pytest.raises(ParameterError, match="a chart cannot show a number that is not finite"):
        csv_text({"value": [value]})


def test_stacked_specs_keep_their_data_and_their_own_scales():
    other = fill("profile", **PROFILE)
    other["datasets"] = {"others": other["datasets"].pop("places")}
    both = stack(fill("profile", **PROFILE), other, title="Two")
    assert set(both["datasets"]) == {"places", "others"}
    assert [part.keys() & {"datasets", "config", "$schema"} for part in both["vconcat"]] == [set(), set()]
    assert both["title"]["text"] == "Two"
    assert both["resolve"]["scale"]["color"] == "independent"
