import pytest

import sudare as sd
from sudare.errors import ParameterError

DOMAIN = sd.Domain(mesh=sd.Mesh("1km", rows=(4248, 4256), columns=(3152, 3160)), sex=sd.Categories(["f", "m"]))


@pytest.fixture(scope="module")
def release():
    table = sd.CountTable(DOMAIN, DOMAIN.cells(range(128)), range(128))
    return sd.release(table, sd.Laplace(), epsilon=1, seed=1)


@pytest.mark.slow
def test_a_notebook_shows_a_picture(release):
    assert release.plot()._repr_png_().startswith(b"\x89PNG")


def test_one_attribute_is_drawn_as_bars(release, tmp_path):
    picture = release.plot("sex", width=300)
    assert "sex" in str(picture.spec)
    assert b"<svg" in picture.save(tmp_path / "sex.svg").read_bytes()
    assert picture.save(tmp_path / "sex.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_no_attribute_is_refused(release):
    with pytest.raises(ParameterError):
        release.plot("sexe")
