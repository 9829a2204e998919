"""The map of a release in a browser: a place, or all places whose codes begin alike, are found by typing."""

import numpy as np
import pytest

import sudare as sd


@pytest.fixture(scope="module")
def page_of_map(tmp_path_factory):
    domain = sd.Domain(mesh=sd.Mesh("1km", codes=["5338", "5339"]))
    table = sd.CountTable(domain, np.arange(0, 4096), np.ones(4096, dtype=np.int64))
    path = tmp_path_factory.mktemp("map") / "map.html"
    sd.release(table, epsilon=1, seed=1).map().save(path)
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [("53393599", "53393599"), ("533935", None), ("5338", None), ("5440", "5440")],
    ids=["one place", "a coarser mesh", "the first mesh", "not in the map"],
)
def test_places_are_found_by_the_beginning_of_their_codes(page_of_map, opened, text, says):
    """The line below the map names the one place, or what was not found; a group of places is only moved to."""
    page = opened()
    page.goto(page_of_map.as_uri())
    line = page.locator(".map-readout")
    before = line.inner_text()
    page.locator(".map-search input").fill(text)
    page.keyboard.press("Enter")
    assert line.inner_text() == before if says is None else says in line.inner_text()
