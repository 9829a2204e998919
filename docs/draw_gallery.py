"""Draws the pictures of docs/how-to/maps.md from invented people: ``python docs/draw_gallery.py`` (needs Chromium)."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import sudare as sd
from sudare.language.catalogue import ENGLISH
from sudare.render.crossing import cross_tables, flow_map
from sudare.render.drawing import View
from sudare.render.map_pages import embed_maps, map_style
from sudare.render.outlines import countries

IMAGES = Path(__file__).parent / "images"
BRITAIN = (-7.6, 49.9, 1.8, 59.0)
random = np.random.default_rng(1)


def points(window: tuple[float, float, float, float], people: int = 20_000) -> tuple[Any, Any]:
    """Latitudes and longitudes around a dozen invented towns."""
    west, south, east, north = window
    towns = random.uniform([south, west], [north, east], (12, 2))
    spread = random.normal(0, [(north - south) / 25, (east - west) / 25], (people, 2))
    found = towns[random.integers(0, 12, people)] + spread
    return found[:, 0], found[:, 1]


def counted(domain: sd.Domain, columns: dict[str, Any]) -> sd.CountTable:
    """How many there are in each cell."""
    index, inside = domain.locate(columns)
    cells, people = np.unique(index[inside], return_counts=True)
    return sd.CountTable(domain, cells, people)


def place_map(place: Any, window: tuple[float, float, float, float]) -> dict[str, Any]:
    """People in one place, released."""
    domain = sd.Domain(place=place)
    made = sd.release(counted(domain, {"place": points(window)}), sd.Laplace(), epsilon=1, seed=1)
    return View.of(domain).map({"Released counts": made.table}, outline=countries())


def regions(folder: Path) -> Any:
    """Invented regions: slanted squares over Britain."""
    features = [
        {
            "type": "Feature",
            "properties": {"code": f"R{column}{row}"},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[x, y], [x + 1.7, y + 0.3], [x + 1.7, y + 1.8], [x, y + 1.5], [x, y]]],
            },
        }
        for column, x in enumerate(np.arange(-7.2, 1, 1.7).tolist())
        for row, y in enumerate(np.arange(50, 58, 1.5).tolist())
    ]
    path = folder / "regions.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return sd.Regions(path, key="code")


def flows() -> dict[str, Any]:
    """People between two grids in degrees."""
    place = sd.LatLon(step=0.5, window=(-4, 50.5, 1.5, 54))
    home = random.normal([52, -1], [0.8, 1], (20_000, 2))
    work = home + random.normal(0, 0.6, (20_000, 2))
    table = counted(sd.Domain(home=place, work=place), {"home": tuple(home.T), "work": tuple(work.T)})
    return flow_map(table, ("home", "work"), ENGLISH, countries())


def crossed() -> dict[str, Any] | None:
    """Age by occupation."""
    jobs = ["clerk", "farmer", "nurse", "teacher", "none"]
    domain = sd.Domain(age=sd.Bins(0, 90, step=15), job=sd.Categories(jobs))
    ages, people = random.gamma(4, 10, 5000).clip(0, 89), random.choice(jobs, 5000, p=[0.3, 0.1, 0.2, 0.1, 0.3])
    return cross_tables(counted(domain, {"age": ages, "job": people}), ENGLISH)


def main() -> None:
    """Every picture."""
    from playwright.sync_api import sync_playwright

    folder = Path(tempfile.mkdtemp())
    tokyo = (138.8, 35.4, 140.7, 36.0)
    contents = {
        "mesh": place_map(sd.Mesh("1km", rows=(4240, 4320), columns=(3100, 3260)), tokyo),
        "latlon": place_map(sd.LatLon(step=0.1, window=BRITAIN), BRITAIN),
        "tiles": place_map(sd.Tiles(zoom=9, window=BRITAIN), BRITAIN),
        "europe-grid": place_map(sd.EuropeGrid("10km", window=BRITAIN), BRITAIN),
        "h3": place_map(sd.H3(resolution=4, window=BRITAIN), BRITAIN),
        "regions": place_map(regions(folder), BRITAIN),
        "flows": flows(),
        "cross": crossed(),
    }
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 620, "height": 700})
        for name, content in contents.items():
            drawn = embed_maps({"map": content})
            text = (
                f"<style>body{{font-family:Helvetica,Arial}}{map_style()}</style>{drawn.figures['map']}{drawn.script}"
            )
            (folder / "page.html").write_text(f'<meta charset="utf-8">{text}', encoding="utf-8")
            page.goto((folder / "page.html").as_uri())
            page.wait_for_timeout(800)
            page.locator("#map-map").screenshot(path=IMAGES / f"map-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
