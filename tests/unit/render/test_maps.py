import pytest

from sudare.errors import ParameterError
from sudare.render.maps import Frame


def test_a_tall_window_becomes_narrow_instead_of_endless():
    assert Frame(200, 10).pixels(400) == (32, 640)
    assert Frame(1, 1000).pixels(400) == (400, 12)


def test_a_frame_without_extent_is_refused():
    with pytest.raises(ParameterError, match=r"a map's aspect is not positive \(got 0\)"):
        Frame(2, 2, aspect=0)
