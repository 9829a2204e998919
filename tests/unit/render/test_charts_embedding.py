import json
from html.parser import HTMLParser

import pytest

from sudare.render.charts import html
from sudare.render.curves import profile


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.data = [], {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        if self.found and "data-chart" in self.found[-1][1]:
            place = self.found[-1][1]["data-chart"]
            self.data[place] = self.data.get(place, "") + data


def chart(label="f", width=100):
    return profile([label], [3], [2], label_title="sex", width=width)


@pytest.mark.slow
def test_a_chart_is_a_place_and_its_data():
    figure = html({"sexes": {0: chart()}}).figures["sexes"]
    page = Tags(figure)
    assert ("div", "chart-sexes") in [(tag, given.get("id")) for tag, given in page.found]
    content = json.loads(page.data["chart-sexes"])
    assert content["datasets"]["places"] == [{"label": "f", "truth": 3.0, "released": 2.0}]


def test_layouts_are_widest_first_and_share_their_data():
    figure = html({"sexes": {0: chart(width=50), 600: chart(width=500)}}).figures["sexes"]
    content = json.loads(Tags(figure).data["chart-sexes"])
    assert [(layout["width"], layout["spec"]["width"]) for layout in content["layouts"]] == [(600, 500), (0, 50)]
    assert all("datasets" not in layout["spec"] for layout in content["layouts"])


def test_data_cannot_end_the_script():
    label = "</script><script>alert(1)</script>"
    page = Tags(html({"sexes": {0: chart(label)}}).figures["sexes"])
    assert [tag for tag, _ in page.found] == ["div", "script"]
    assert json.loads(page.data["chart-sexes"])["datasets"]["places"][0]["label"] == label


def test_vega_is_inside_and_nothing_is_loaded():
    embedded = html({"sexes": {0: chart()}})
    page = Tags(str(embedded))
    assert len(embedded.script) > 500_000
    assert "data-chart" in embedded.script  # the drawing code is bundled with the libraries
    assert not [given for _, given in page.found if given.keys() & {"src", "href"}]
    assert embedded.script.count("</script>") == 1
