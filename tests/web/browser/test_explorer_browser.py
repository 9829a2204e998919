"""The explorer in a browser, opened from a disk: its sums and intervals are those of Python, by mouse, key and link."""

import json
import re
import urllib.request
from threading import Thread
from time import sleep

import numpy as np
import pyarrow.parquet as pq
import pytest

import sudare as sd
from looks import scrolls_sideways, serious
from recipes import MESH, SEX, closing, opening, villagers
from sudare.language.catalogue import Words

MONTHS = ["2026-01", "2026-02", "2026-03"]
RECIPE = (
    opening("table", "explored", title="Villagers", path="people-{period}.parquet")
    + MESH
    + SEX
    + '[method]\nname = "METHOD"\n[privacy]\nepsilon = 3\n[series]\nperiods = '
    + json.dumps(MONTHS)
    + closing("epsilon = 3", formats='formats = ["parquet"]\n').replace('"release"', '"releases/{period}"')
)


@pytest.fixture(scope="module", params=["tree", "laplace"])
def explorer(request, tmp_path_factory):
    """A series of two months, and its explorer in a folder."""
    folder = tmp_path_factory.mktemp("explored")
    for number, month in enumerate(MONTHS):
        pq.write_table(villagers(1500 + 3000 * number, seed=number), folder / f"people-{month}.parquet")
    (folder / "recipe.toml").write_text(RECIPE.replace("METHOD", request.param))
    for month in MONTHS[:2]:
        sd.publish(folder / "recipe.toml", period=month)
    page = sd.reading.write_explorer(folder / "releases", folder / "page")
    return sd.open_series(folder / "releases"), page


def numbers(page):
    """Value and interval that the page shows."""
    tiles = page.locator("#answer b").all_inner_texts()
    low, high = (int(end.replace(",", "")) for end in tiles[1].split(" – "))
    return [int(tiles[0].replace(",", "").replace("+", "")), low, high]


def of_python(answer):
    return [answer.value, round(answer.low), round(answer.high)]


@pytest.mark.parametrize(
    ("link", "where"),
    [
        ("", {}),
        ("f.sex=f", {"sex": "f"}),
        ("q=53390334", {"mesh": "53390334"}),
        ("q=533903343", {"mesh": "533903343"}),
        ("q=533903343,533903442&f.sex=m", {"mesh": ["533903343", "533903442"], "sex": "m"}),
    ],
)
def test_sums_and_intervals_are_those_of_python(explorer, opened, link, where):
    series, path = explorer
    page = opened()
    page.goto(f"{path.as_uri()}#{link}&period=2026-02")
    assert numbers(page) == of_python(sd.reading.ask(series["2026-02"], where))


def test_every_place_of_the_table_has_the_bars_of_python(explorer, opened):
    series, path = explorer
    page = opened()
    page.goto(f"{path.as_uri()}#period=2026-01")
    found = json.loads(page.evaluate("JSON.stringify(result())"))
    codes = [row["mesh"] for row in found["rows"]]
    if series["2026-01"].method.name == "laplace":
        listed = series["2026-01"].aggregate({code: code for code in codes})
    else:
        listed = series["2026-01"].error(codes=codes)
    assert [row["value"] for row in found["rows"]] == listed.value[: len(codes)].tolist()
    np.testing.assert_allclose([row["low"] for row in found["rows"]], listed.low[: len(codes)])
    np.testing.assert_allclose([row["high"] for row in found["rows"]], listed.high[: len(codes)])


def test_a_change_is_that_of_python_and_marked_where_it_is_more_than_noise(explorer, opened):
    series, path = explorer
    page = opened()
    page.goto(f"{path.as_uri()}#period=2026-02&before=2026-01&by=sex")
    found = json.loads(page.evaluate("JSON.stringify(result())"))
    own = {row["sex"]: row for row in found["rows"]}
    change = series.change("2026-01", "2026-02", mapping={"sex": {"f": "f", "m": "m"}})
    for number, name in enumerate(change.where.tolist()):
        assert (own[name]["value"], own[name]["beyond_noise"]) == (change.value[number], change.beyond_noise[number])
        assert own[name]["low"] == pytest.approx(change.low[number], rel=0.02)
    assert Words("en")("explore.sure") in page.locator("#answer").inner_text()


def test_a_season_is_the_total_of_python(explorer, opened):
    series, path = explorer
    page = opened()
    page.goto(f"{path.as_uri()}#period=2026-02")
    page.locator("#since").select_option(label="2026-01")
    by_sex = {"sex": {"f": "f", "m": "m"}}
    total = series.total(["2026-01", "2026-02"], mapping=by_sex)
    page.locator("#by").select_option("sex")
    found = {row["sex"]: row for row in page.evaluate("result().rows")}
    for number, name in enumerate(total.where.tolist()):
        assert found[name]["value"] == total.value[number]
        assert found[name]["low"] == pytest.approx(total.low[number], rel=0.02)
        assert found[name]["high"] == pytest.approx(total.high[number], rel=0.02)
    link = page.url
    again = opened()
    again.goto(link)
    assert again.evaluate("result().since") == "2026-01"
    again.locator("#before").select_option(label="2026-01")  # a change is between two periods
    assert again.evaluate("result().since") is None


def test_own_areas_by_codes_and_by_polygons(explorer, opened, tmp_path):
    from playwright.sync_api import expect

    series, path = explorer
    codes, polygons, wrong = tmp_path / "codes.csv", tmp_path / "areas.geojson", tmp_path / "wrong.csv"
    codes.write_text("code,area\n53390334,town\n53390344,town\n", encoding="utf-8")
    page = opened()
    page.goto(f"{path.as_uri()}#period=2026-02")
    page.set_input_files("#areas", codes)
    expect(page.locator("#table tbody th")).to_have_text(["town"])  # the page's policy lets nobody evaluate text
    found = page.evaluate("result().rows")[0]
    answer = sd.reading.ask(series["2026-02"], mesh=["53390334", "53390344"])
    assert (found["area"], found["value"]) == ("town", answer.value)
    assert found["low"] == pytest.approx(answer.low, abs=1.01, rel=0.02)
    west, south, east, north = 139.0, 35.0, 139.425, 36.0
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    feature = {"type": "Feature", "properties": {"name": "西"}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    polygons.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}), encoding="utf-8")
    page.set_input_files("#areas", polygons)
    expect(page.locator("#table tbody th")).to_have_text(["西"])
    frame = series["2026-02"].table.to_geopandas()
    assert page.evaluate("result().rows[0].value") == frame["count"][frame.geometry.bounds.minx < east - 0.003].sum()
    wrong.write_text("nothing here")
    page.set_input_files("#areas", wrong)
    expect(page.locator("#areas-alarm")).not_to_be_empty()


def test_a_walk_by_keyboard_ends_in_a_link_that_opens_the_same_view(explorer, opened):
    series, path = explorer
    page = opened()
    page.goto(path.as_uri())
    page.locator("#search").focus()
    page.keyboard.type("533903")
    page.locator("input[value=f]").focus()
    page.keyboard.press("Space")
    page.locator("#period").focus()
    page.keyboard.press("ArrowLeft")
    assert numbers(page) == of_python(sd.reading.ask(series["2026-01"], mesh="533903", sex="f"))
    page.locator("#map").focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    chosen = page.locator("#search").input_value()
    assert re.fullmatch(r"5339\d{5}", chosen)
    expected, link = numbers(page), page.url
    again = opened()
    again.goto(link)
    assert numbers(again) == expected
    assert again.locator("#search").input_value() == chosen


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("width", [1200, 390])
def test_looks_in_both_languages(explorer, opened, language, width):
    page = opened(language, width=width)
    page.goto(f"{explorer[1].as_uri()}#before=2026-01&period=2026-02")
    assert page.locator("#table-title").inner_text() == Words(language)("explore.table")
    assert page.evaluate("document.documentElement.lang") == language
    assert not serious(page)
    assert not scrolls_sideways(page)
    page.get_by_role("button", name={"en": "日本語", "ja": "English"}[language]).click()
    assert page.locator("#table-title").inner_text() == Words({"en": "ja", "ja": "en"}[language])("explore.table")


def test_the_selection_is_downloaded_as_csv_and_json(explorer, opened):
    page = opened()
    page.goto(f"{explorer[1].as_uri()}#by=sex")
    with page.expect_download() as download:
        page.locator("#csv").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0] == "sex,value,low,high,expected_error"
    assert len(lines) == 3
    with page.expect_download() as download:
        page.locator("#json").click()
    assert len(json.loads(download.value.path().read_text(encoding="utf-8"))["rows"]) == 2


def test_the_local_server_answers_as_python_does(explorer, opened):
    series, path = explorer
    addresses = []
    folder = path.parent.parent / "releases"
    Thread(target=sd.reading.serve_explorer, args=[folder], kwargs={"ready": addresses.append}, daemon=True).start()
    while not addresses:
        sleep(0.01)
    page = opened()
    page.goto(f"{addresses[0]}#f.sex=f")
    answer = sd.reading.ask(series["2026-02"], sex="f")
    assert numbers(page) == of_python(answer)
    with urllib.request.urlopen(f"{addresses[0]}ask.json?sex=f&period=2026-02") as response:  # noqa: S310 - our own
        assert json.load(response)["value"] == answer.value
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"{addresses[0]}ask.json?height=3")  # noqa: S310 - our own
