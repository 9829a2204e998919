"""The 23 wards of Tokyo in the paper's experiment: who was where at six times of a day, and where the wards lie.

The paper prints ten wards and the totals of all. How the other 13 share the rest is invented here: at every hour they
decrease evenly from 1.4 to 0.6 times their mean, in the order below, which keeps each of them below the tenth printed
ward over the day.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.charts.places import TileLayout

HOURS = ("8:00", "11:00", "14:00", "17:00", "20:00", "23:00")
TOTALS = (2957, 3922, 4640, 4793, 4300, 3283)
PRINTED = {
    "Shibuya": (262, 394, 533, 532, 479, 351),
    "Shinjuku": (278, 414, 505, 531, 454, 304),
    "Minato": (267, 393, 509, 479, 416, 284),
    "Chiyoda": (186, 381, 506, 496, 476, 248),
    "Setagaya": (295, 331, 367, 403, 368, 317),
    "Suginami": (165, 209, 227, 246, 187, 188),
    "Chuo": (121, 177, 216, 188, 148, 118),
    "Bunkyo": (98, 166, 181, 197, 206, 143),
    "Shinagawa": (98, 147, 182, 173, 147, 99),
    "Nakano": (154, 117, 116, 133, 141, 142),
}
INVENTED = (
    "Toshima",
    "Koto",
    "Ota",
    "Meguro",
    "Taito",
    "Nerima",
    "Sumida",
    "Edogawa",
    "Itabashi",
    "Adachi",
    "Kita",
    "Katsushika",
    "Arakawa",
)
WARDS = (*PRINTED, *INVENTED)
EPSILONS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
PAPER = {
    "EM": (2971.31, 1846.69, 1404.14, 982.69, 780.58, 628.41, 524.80, 407.92, 349.73, 287.42),
    "MLE": (4885.28, 2256.53, 1614.74, 1072.24, 849.41, 710.34, 601.56, 503.13, 434.63, 363.16),
}
"""The errors that the paper prints, one for each of `EPSILONS`."""
CORRELATION = {"EM": 0.870, "MLE": 0.255}
"""Between a ward's error and its people, as the paper prints it."""
_MAP = (
    ("", "Itabashi", "Kita", "Adachi", "", ""),
    ("Nerima", "Toshima", "Bunkyo", "Arakawa", "Katsushika", ""),
    ("Nakano", "Shinjuku", "Chiyoda", "Taito", "Sumida", "Edogawa"),
    ("Suginami", "Shibuya", "Minato", "Chuo", "Koto", ""),
    ("Setagaya", "Meguro", "Shinagawa", "", "", ""),
    ("", "", "Ota", "", "", ""),
)


def people(hour: int) -> NDArray[np.int64]:
    """How many of the paper's users are in each of the `WARDS` (23,) at that one of the `HOURS`.

    >>> int(people(2).sum()), int(people(2)[WARDS.index("Shinjuku")])
    (4640, 505)
    """
    printed = np.array([counts[hour] for counts in PRINTED.values()])
    rest = TOTALS[hour] - int(printed.sum())
    wanted = np.linspace(1.4, 0.6, len(INVENTED)) * rest / len(INVENTED)
    whole = np.floor(wanted).astype(np.int64)
    whole[np.argsort(whole - wanted)[: rest - int(whole.sum())]] += 1
    return np.concatenate([printed, whole])


def tiles() -> TileLayout:
    """The wards as tiles, about where they lie."""
    places = {name: (row, column) for row, names in enumerate(_MAP) for column, name in enumerate(names) if name}
    rows, columns = zip(*(places[ward] for ward in WARDS), strict=True)
    return TileLayout(WARDS, rows, columns)
