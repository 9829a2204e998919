"""Pages as a test reads them."""

import json
import re
from html.parser import HTMLParser

import pytest


class Page(HTMLParser):
    """Tags with their attributes, rows of tables, what is read as text, styles, data of charts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open = ("", {})
        self.tags, self.rows, self.text, self.styles, self.charts, self.maps = [], [], [], [], {}, {}
        self.feed(page)
        self.words = " ".join(" ".join(self.text).split())

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open = self.tags[-1]
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        self.open = ("", {})

    def handle_data(self, data):
        tag, given = self.open
        if "data-chart" in given:
            self.charts[given["data-chart"]] = json.loads(data)
        elif "data-map" in given:
            self.maps[given["data-map"]] = json.loads(data)
        elif tag == "style":
            self.styles.append(data)
        elif tag != "script":
            self.text.append(data)
            # A link stands alone in its cell.
            if (tag in ("td", "th") or (tag == "a" and self.tags[-2][0] == "th")) and data.strip():
                self.rows[-1].append(data.strip())

    def loads(self) -> list[str]:
        """Whatever a browser would fetch from elsewhere, or could be told to; files beside the page are linked."""
        found = [
            f"{tag} {given}"
            for tag, given in self.tags
            if given.keys() & {"src", "href", "srcset", "action", "data"}
            and not (tag == "a" and re.fullmatch(r"(\.\./)*[A-Za-z0-9][\w.-]*", given["href"]))
        ]
        found += [tag for tag, _ in self.tags if tag in ("link", "iframe", "object", "embed", "base", "img", "form")]
        for style in self.styles:
            found += re.findall(r"url\(|@import|@font-face", style)
        for chart in (*self.charts.values(), *self.maps.values()):
            found += re.findall(r'"url"|https?:|"\$schema"', json.dumps(chart))
        return found


@pytest.fixture
def read():
    return Page
