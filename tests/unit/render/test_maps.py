from sudare.render.maps import Frame


def test_a_tall_window_becomes_narrow_instead_of_endless():
    assert Frame(200, 10).pixels(400) == (32, 640)
    assert Frame(1, 1000).pixels(400) == (400, 12)
