"""One table, five methods, the same epsilon: what each makes of single cells, and of larger and larger areas.

Run: python examples/methods_for_tables.py [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import sudare as sd
from sudare.measure import error_by_block
from sudare.render.charts import render_png
from sudare.render.drawing import map_frame
from sudare.render.maps import Panel, panels
from sudare.tables.synthetic import city

EPSILON = 0.1
METHODS = {
    "Laplace": sd.Laplace(),
    "Simplex": sd.Simplex(),
    "NegativeL2": sd.NegativeL2(),
    "TopDown": sd.TopDown(),
    "Tree": sd.Tree(),
}
LEVELS = (0, 4, 8, 12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="draw methods.png into this folder")
    folder = parser.parse_args().pictures
    mesh = sd.Mesh("500m", rows=(8480, 8608), columns=(6300, 6428))
    table = sd.read(city(people=100_000)).count(
        sd.Domain(mesh=mesh), columns={"mesh": ("latitude", "longitude")}, unit="person_id"
    )
    maps = [Panel("true", table.to_array(), f"{table.total:,} people")]
    print("mean absolute error by cells in an area", *(1 << level for level in LEVELS))
    for name, method in METHODS.items():
        released = sd.release(table, method, epsilon=EPSILON).table
        errors = error_by_block(table, released, LEVELS).mean_absolute_error
        print(name.ljust(10), *(f"{error:8.2f}" for error in errors))
        text = " · ".join(f"{1 << level:,}: {error:,.1f}" for level, error in zip(LEVELS, errors, strict=True))
        maps.append(Panel(name, released.to_array(), f"mean error by cells · {text}"))
    if folder is not None:
        shown = [Panel(one.title, _middle(one.values), one.subtitle) for one in maps]
        side = sd.Mesh("500m", rows=(8512, 8576), columns=(6332, 6396))
        spec = panels(map_frame(side), shown, columns=3, what="people per 500 m cell", width=330)
        (folder / "methods.png").write_bytes(render_png(spec, 1))


def _middle(values: np.ndarray) -> np.ndarray:
    return np.asarray(values)[32:96, 32:96]


if __name__ == "__main__":
    main()
