import numpy as np
import pytest

from sudare.tables.landscape import COLUMN_KM, PROFILES, ROW_KM, SPLIT, WINDOW, landscape

PLACE = landscape()


def at(x, y):
    """The lattice point at kilometres east and north of the corner."""
    return int(y / ROW_KM * SPLIT), int(x / COLUMN_KM * SPLIT)


def test_densities_and_profiles_are_shares():
    assert PLACE.density.min() == 0
    assert abs(PLACE.density.sum() - 1) < 1e-12
    assert PLACE.profiles.min() > 0
    assert np.allclose(PLACE.profiles.sum(axis=-1), 1)


def test_the_lattice_is_the_window():
    (south, north), (west, east) = WINDOW
    assert PLACE.density.shape == ((north - south) * SPLIT, (east - west) * SPLIT)


def test_nobody_lives_in_the_bay_the_park_or_the_river():
    assert PLACE.density[at(60, 10)] == 0
    assert PLACE.density[at(37.2, 32.4)] == 0
    assert PLACE.density[at(40, 36.5)] == 0


def test_the_centre_is_denser_than_the_suburbs_and_these_than_the_country():
    from_centre = np.hypot(
        (np.arange(512)[None, :] + 0.5) * COLUMN_KM / SPLIT - 40,
        (np.arange(512)[:, None] + 0.5) * ROW_KM / SPLIT - 31,
    )
    rings = [PLACE.density[(from_centre >= low) & (from_centre < low + 6)].mean() for low in (0, 6, 12, 24)]
    assert rings == sorted(rings, reverse=True)
    assert rings[0] > 10 * rings[3]


def test_students_live_by_the_university_and_elders_in_the_hills():
    students, elders = PROFILES.index("students"), PROFILES.index("elders")
    assert PLACE.profiles[at(29.5, 35.5)][students] > 3 * PLACE.profiles[at(29.5, 20)][students]
    assert PLACE.profiles[at(3, 30)][elders] > 1.5 * PLACE.profiles[at(40, 34)][elders]


@pytest.mark.slow
def test_the_place_is_always_the_same():
    assert np.array_equal(PLACE.density, landscape.__wrapped__().density)
