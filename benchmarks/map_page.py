"""A map of half a million cells: the size of its page, the time to write it, and frames while it is moved.

    python benchmarks/map_page.py [--cells 500000] [--browser /usr/bin/chromium]

Rows and columns (a grid in degrees) and hexagons, all cells filled. The browser runs without a screen or a graphics
card; a frame is the time from a turn of the wheel to the end of the drawing that follows.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import sudare as sd
from sudare.render.drawing import View
from sudare.render.outlines import countries
from sudare.render.reports import internal_page
from sudare.render.sections import Map, Section

FRAMES = """async () => {
  const map = document.getElementById("map-cells").map;
  const times = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const begun = performance.now();
    map.zoom(turn < 10 ? 1.25 : 0.8);
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  const drawn = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN;
  return [times[10], times[19], drawn];
}"""


def places(cells: int) -> dict[str, sd.Domain]:
    """Domains of about so many cells."""
    side = int(np.sqrt(cells))
    step = 10 / side
    across = 0.00075 * cells**0.5
    return {
        "degrees": sd.Domain(place=sd.LatLon(step=round(step, 6), window=(-5, 48, 5, 58))),
        "hexagons": sd.Domain(
            place=sd.H3(
                resolution=8, window=(round(-across * 6.4, 3), 50, round(across * 6.4, 3), round(50 + across * 12, 3))
            )
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=500_000)
    parser.add_argument("--browser", default=shutil.which("chromium"))
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    for name, domain in places(asked.cells).items():
        count = np.random.default_rng(1).geometric(0.02, domain.size)
        table = sd.CountTable(domain, domain.cells(np.arange(domain.size)), count)
        begun = time.process_time()
        content = View.of(domain).map({"people": table}, outline=countries())
        page = internal_page([Section("Map", (Map("cells", content),))], title=name)
        spent = time.process_time() - begun
        path = folder / f"{name}.html"
        path.write_text(page, encoding="utf-8")
        print(f"{name}: {domain.size:,} cells, page {len(page) / 1e6:.1f} MB, written in {spent:.1f} s")
        if asked.browser:
            _look(asked.browser, path)


def _look(browser: str, path: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        page = running.new_page(viewport={"width": 1100, "height": 900})
        begun = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_function("document.querySelector('.sudare-map canvas')?.width > 300")
        opened = time.perf_counter() - begun
        middle, worst, _ = page.evaluate(FRAMES)
        print(f"  open after {opened:.1f} s; a step of zoom {middle:.0f} ms in the middle, {worst:.0f} ms at most")
        running.close()


if __name__ == "__main__":
    main()
