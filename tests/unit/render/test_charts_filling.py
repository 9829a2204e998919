import json
from importlib.resources import files

import pytest

from sudare.errors import ParameterError
from sudare.language.catalogue import Words
from sudare.render.charts import fill, stack

PROFILE = {
    "places": [{"label": "f", "truth": 1, "released": 2}],
    "label_title": "sex",
    "what": "people",
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


@pytest.mark.parametrize("file", [file for file in (files("sudare.render") / "specs").iterdir() if ".vl." in file.name])
def test_specs_load_nothing_from_elsewhere(file):
    spec = json.loads(file.read_text())
    spec.pop("$schema")
    assert "http" not in json.dumps(spec)
    assert '"url"' not in json.dumps(spec)


def test_a_gap_without_data_takes_the_specs_default_if_there_is_one():
    spec = fill("bars", Words("ja"), places=[], label_title="sex")
    assert spec["title"]["text"] == Words("ja")("chart.released_counts")
    assert spec["height"] == 280
    assert not gaps_left(spec)


@pytest.mark.parametrize("wrong", ["places", "heigth"])
def test_a_gap_without_data_and_data_without_a_gap_are_refused(wrong):
    data = {**PROFILE, "heigth": 3} if wrong == "heigth" else {**PROFILE}
    if wrong == "places":
        del data["places"]
    with pytest.raises(ParameterError, match=rf"the data of chart 'profile' do not fit its gaps \(got \['{wrong}'\]"):
        fill("profile", **data)


@pytest.mark.parametrize("value", ["0; alert(1)", True, float("nan"), None])
def test_only_numbers_enter_an_expression(value):
    gaps = dict.fromkeys(["tiles", "title", "subtitle", "width", "height", "domain", "colours"], 1)
    assert "datum.value > 139.5" in str(fill("tiles", middle=139.5, **gaps))
    with pytest.raises(ParameterError, match="the gap 'middle' inside an expression takes a finite number"):
        fill("tiles", middle=value, **gaps)


def test_stacked_specs_keep_their_data_and_their_own_scales():
    other = fill("profile", **PROFILE)
    other["datasets"] = {"others": other["datasets"].pop("places")}
    both = stack(fill("profile", **PROFILE), other, title="Two")
    assert set(both["datasets"]) == {"places", "others"}
    assert [part.keys() & {"datasets", "config", "$schema"} for part in both["vconcat"]] == [set(), set()]
    assert both["title"]["text"] == "Two"
    assert both["resolve"]["scale"]["color"] == "independent"
