"""An invented city: where its people would live, and who they are.

The place is made up. It lies on real JIS mesh cells (the 500 m rows and columns of `WINDOW`), so that its
files look like a census, but its bay, river, railways, hills and towns exist nowhere, and no real count was
used to draw them. Distances are kilometres from the window's south-west corner.

The city is a density on a lattice of 125 m: a dense centre behind a bay, ribbons along railways with a peak
at every station, satellite towns, villages in the hills, and farms; nobody in the sea, the river or the park.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Floats

Points = NDArray[np.float64]  # of shape (k, 2): x to the east, y to the north

WINDOW = ((8480, 8608), (6300, 6428))  # half-open rows and columns of the 500 m mesh
SPLIT = 4  # lattice points along each side of a 500 m cell
ROW_KM, COLUMN_KM = 0.4623, 0.5657  # a 500 m cell at 35.6 degrees north: 15 seconds high, 22.5 wide
PROFILES = ("mixed", "students", "families", "elders")

_GEOGRAPHY = 20_250_401  # draws coast, hills and villages: the place is the same whatever seed draws the people
_CENTRE = np.array([40.0, 31.0])
_PARK = np.array([37.2, 32.4])
_UNIVERSITY = np.array([29.5, 35.5])
_BAY_HEAD = np.array([44.5, 27.0])
_RIVER = np.array(
    [[7, 60], [12, 52], [17, 49], [21, 44], [27, 43.5], [31, 40], [36, 39], [40, 36.5], [44, 35.5], [47, 31],
     [50, 25]],
    dtype=float,
)  # fmt: skip
_RADIALS = (  # bearing in degrees (0 = east), length in km, bend in degrees over the whole length
    (12, 34, -14), (47, 34, 12), (82, 30, -12), (118, 36, 16),
    (153, 34, 10), (178, 38, -12), (217, 38, 14), (246, 30, -6),
)  # fmt: skip
_NEW_TOWNS = np.array([[21.5, 28.0], [47.0, 47.5]])
_SUBCENTRES = np.array(
    [[33.2, 28.2], [36.0, 36.0], [45.5, 37.5], [30.0, 20.5], [52.5, 35.5], [21.5, 28.0], [47.0, 47.5]]
)


@dataclass(frozen=True)
class Landscape:
    """The lattice from south-west to north-east: 512 x 512 points of 125 m.

    ``density`` (512, 512) sums to 1; ``profiles`` (512, 512, 4) are the shares of `PROFILES` among the people
    of a point and sum to 1 along the last axis.
    """

    density: Floats
    profiles: Floats


@cache
def landscape() -> Landscape:
    """The invented city; its arrays are read-only because they are kept.

    >>> place = landscape()
    >>> place.density.shape, round(float(place.density.sum()), 9)
    ((512, 512), 1.0)
    """
    generator = np.random.default_rng(_GEOGRAPHY)
    x, y = _lattice()
    hills = _hills(generator, x, y)
    dry = ~_sea(generator, x, y) & (_distance(x, y, _RIVER) > 0.16 + 0.006 * x)
    dry &= np.hypot((x - _PARK[0]) / 1.5, (y - _PARK[1]) / 1.1) > 1
    lines = _railways()
    from_lines = np.array([_distance(x, y, line) for line in lines])
    from_centre = np.hypot(x - _CENTRE[0], y - _CENTRE[1])

    urban = _urban(generator, x, y, from_centre, lines)
    urban += (2000 * np.exp(-from_lines / 0.6)).sum(axis=0) * np.exp(-from_centre / 11)
    towns = _towns(generator, x, y, hills)
    steep = hills > 0.75
    urban[steep] *= np.exp(-9 * (hills[steep] - 0.75))
    built = (urban + towns) * np.exp(0.65 * _rough(generator, x.shape, 1.0))
    built[built < 800] = 0.0
    built /= 1 + built / 110_000  # even towers end somewhere
    farms = _farms(generator, built, hills, from_lines.min(axis=0))
    streets = np.exp(0.35 * _rough(generator, x.shape, 0.5) + 0.45 * generator.standard_normal(x.shape))
    density = (built * streets + farms) * dry
    place = Landscape(density / density.sum(), _profiles(x, y, hills, from_centre, built))
    place.density.flags.writeable = place.profiles.flags.writeable = False
    return place


def _lattice() -> tuple[Floats, Floats]:
    """Coordinates (512, 512) of the middle of every lattice square."""
    (south, north), (west, east) = WINDOW
    y = (np.arange((north - south) * SPLIT) + 0.5) * ROW_KM / SPLIT
    x = (np.arange((east - west) * SPLIT) + 0.5) * COLUMN_KM / SPLIT
    return np.meshgrid(x, y)


def _rough(generator: np.random.Generator, shape: tuple[int, ...], exponent: float) -> Floats:
    """A random field of mean 0 and variance 1 whose amplitude falls with frequency to ``-exponent``."""
    spectrum = np.fft.rfft2(generator.standard_normal(shape))
    frequency = np.hypot(np.fft.fftfreq(shape[0])[:, None], np.fft.rfftfreq(shape[1])[None, :])
    frequency[0, 0] = np.inf
    field = np.fft.irfft2(spectrum / frequency**exponent, s=shape)
    return np.asarray(field / field.std())


def _distance(x: Floats, y: Floats, line: Points) -> Floats:
    """Distance from every lattice point to a line of straight pieces through ``line``."""
    nearest = np.full(x.shape, np.inf)
    for start, end in pairwise(line):
        step = end - start
        along = np.clip(((x - start[0]) * step[0] + (y - start[1]) * step[1]) / (step @ step), 0, 1)
        np.minimum(nearest, np.hypot(x - start[0] - along * step[0], y - start[1] - along * step[1]), out=nearest)
    return nearest


def _peaks(x: Floats, y: Floats, centres: Points, heights: Floats, radii: Floats) -> Floats:
    """The sum of round bells exp(-r^2 / (2 radius^2)): one matrix product, because a bell is separable."""
    wide = 2 * radii[:, None] ** 2
    east = np.exp(-((x[0][None, :] - centres[:, :1]) ** 2) / wide)
    north = np.exp(-((y[:, 0][None, :] - centres[:, 1:]) ** 2) / wide)
    return np.asarray((north * heights[:, None]).T @ east)


def _sea(generator: np.random.Generator, x: Floats, y: Floats) -> Booleans:
    """A bay that opens to the south-east from its head beside the centre."""
    out, across = (
        (x - _BAY_HEAD[0]) * 0.57 - (y - _BAY_HEAD[1]) * 0.82,
        (x - _BAY_HEAD[0]) * 0.82 + (y - _BAY_HEAD[1]) * 0.57,
    )
    coast = 0.8 * _rough(generator, x.shape, 1.5)
    reach = np.maximum(out + coast, 0)
    west, east = 2.4 * np.sqrt(reach), 2.1 * np.sqrt(reach)
    return np.asarray((reach > 0) & (across + coast > -west) & (across - coast < east))


def _hills(generator: np.random.Generator, x: Floats, y: Floats) -> Floats:
    """How hilly a point is: 0 in the plain, 1 in the hills of the west and of the peninsula, with valleys."""
    west = (17 - x + 0.25 * (y - 30)) / 9
    peninsula = (x - 57 - 0.45 * y) / 5
    ground = np.maximum(west, peninsula) + 0.75 * _rough(generator, x.shape, 1.5)
    return np.asarray(1 / (1 + np.exp(-2.5 * ground)))


def _railways() -> list[Points]:
    """Radial lines with a bend, and two rings around the centre."""
    lines = []
    for bearing, length, bend in _RADIALS:
        reach = np.linspace(0, 1, 7)
        angle = np.radians(bearing + bend * reach)
        lines.append(_CENTRE + (reach * length)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))
    for first, last, radius in ((-40, 320, 5.6), (25, 215, 16.0)):
        angle = np.radians(np.linspace(first, last, 24))
        lines.append(_CENTRE + radius * np.column_stack([1.1 * np.cos(angle), np.sin(angle)]))
    return lines


def _stations(line: Points) -> Points:
    """Stops along a line: 1.2 km apart near the centre, 3 km far out."""
    lengths = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    stops, at = [], 0.6
    while at < lengths[-1]:
        stop = np.array([np.interp(at, lengths, line[:, 0]), np.interp(at, lengths, line[:, 1])])
        stops.append(stop)
        at += 1.2 + 1.8 * min(1.0, float(np.hypot(*(stop - _CENTRE))) / 25)
    return np.array(stops)


def _urban(generator: np.random.Generator, x: Floats, y: Floats, from_centre: Floats, lines: list[Points]) -> Floats:
    """Centre, sub-centres, stations and towers, in people per square kilometre."""
    stations = np.concatenate([_stations(line) for line in lines])
    fade = np.exp(-np.hypot(*(stations - _CENTRE).T) / 14)
    luck = np.exp(0.6 * generator.standard_normal(len(stations)).clip(-2, 1.3))
    field = 9500 * np.exp(-((from_centre / 6.2) ** 1.25))
    # Offices push homes out of the very centre.
    field *= 1 - 0.75 * np.exp(-((from_centre / 1.6) ** 2))
    field += _peaks(x, y, stations, 9000 * fade * luck, 0.4 + 0.3 * fade)
    field += _peaks(x, y, _SUBCENTRES, np.full(len(_SUBCENTRES), 7000.0), np.full(len(_SUBCENTRES), 1.1))
    towers = np.column_stack([generator.normal(_CENTRE[0], 5, 60), generator.normal(_CENTRE[1], 5, 60)])
    return field + _peaks(x, y, towers, 13_000 * generator.pareto(2.5, 60).clip(0.2, 2), np.full(60, 0.22))


def _towns(generator: np.random.Generator, x: Floats, y: Floats, hills: Floats) -> Floats:
    """Satellite towns around the city and villages in the hills and the plain, sizes by Zipf's law."""
    bearing, reach = np.radians(generator.uniform(0, 360, 11)), generator.uniform(19, 36, 11)
    satellites = _CENTRE + reach[:, None] * np.column_stack([np.cos(bearing), np.sin(bearing)])
    field = _peaks(x, y, satellites, 4200 / np.arange(1, 12) ** 0.5, generator.uniform(0.5, 1.1, 11))
    villages = np.column_stack([generator.uniform(0, x.max(), 190), generator.uniform(0, y.max(), 190)])
    row = (villages[:, 1] / y.max() * (x.shape[0] - 1)).astype(int)
    column = (villages[:, 0] / x.max() * (x.shape[1] - 1)).astype(int)
    villages = villages[hills[row, column] < 0.93]
    heights = 1600 / np.arange(1, len(villages) + 1) ** 0.45
    return field + _peaks(x, y, villages, heights, generator.uniform(0.2, 0.45, len(villages)))


def _farms(generator: np.random.Generator, built: Floats, hills: Floats, from_railway: Floats) -> Floats:
    """Scattered homes on the land best suited to farming, more along the valleys and near the railways."""
    suited = 1.1 * _rough(generator, built.shape, 1.0) - 1.9 * hills - 0.12 * from_railway + 0.5 * (built > 0)
    homes = np.exp(0.9 * _rough(generator, built.shape, 0.9) + 0.5 * generator.standard_normal(built.shape))
    return np.where(suited > np.quantile(suited, 0.82), 85 * homes, 0.0)


def _profiles(x: Floats, y: Floats, hills: Floats, from_centre: Floats, built: Floats) -> Floats:
    """Shares (512, 512, 4) of `PROFILES`: students by the university, elders in the hills and the country."""
    one = np.ones(1)
    students = 0.02 + 0.5 * _peaks(x, y, _UNIVERSITY[None], one, 1.6 * one) + 0.12 * np.exp(-from_centre / 5)
    elders = 0.10 + 0.38 * hills + 0.15 * (built == 0)
    families = 0.15 + 0.45 * _peaks(x, y, _NEW_TOWNS, np.ones(2), np.full(2, 2.6))
    shares = np.stack([np.full(x.shape, 0.45), students, families, elders], axis=-1)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))
