"""What the page computes by itself is what the package computes: numbers as text, and where a mesh window lies."""

import math

from sudare.domain.mesh import LEVELS, corners
from sudare.language.catalogue import Words

NUMBERS = [0, 1, 12.0, 999, 1234, 1234.5, 1234567, 0.012345, 0.5, 99.96, 1e-5, 1.5e-7, 2.5e43, -3, -0.25, -1234.5]
SHARES = [0.1234, 1.0, 0.00016, 2.5]


def test_numbers_and_windows_are_those_of_the_package(studio, opened, steps):
    page = opened()
    steps.enter(page, studio())
    numbers, percents = page.evaluate(
        """async ([numbers, shares]) => {
          const words = await import("/static/words.js");
          return [numbers.map(words.number), shares.map(words.percent)];
        }""",
        [NUMBERS, SHARES],
    )
    # A browser has floats only: what is whole is written in full, as whole numbers of Python are.
    whole = [int(one) if float(one).is_integer() and abs(one) < 1e15 else one for one in NUMBERS]
    assert numbers == [Words("en").number(one) for one in whole]
    assert percents == [Words("en").percent(one) for one in SHARES]

    sides = {size: level.cells for size, level in LEVELS.items()}
    windows = [(size, [50 * side, 53 * side], [39 * side, 40 * side]) for size, side in sides.items()]
    found = page.evaluate(
        """async (windows) => {
          const { bounds } = await import("/static/mesh_levels.js");
          return windows.map((window) => Object.values(bounds(...window)));
        }""",
        windows,
    )
    for (size, rows, columns), (south, west, north, east) in zip(windows, found, strict=True):
        low, high = (corners([row], [column], size) for row, column in zip(rows, columns, strict=True))
        for here, there in ((south, low[0]), (west, low[1]), (north, high[0]), (east, high[1])):
            assert math.isclose(here, float(there[0]), abs_tol=1e-9)
