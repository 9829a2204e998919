"""Releases in notebooks."""

import re

import pytest

import sudare as sd


@pytest.mark.parametrize(
    "domain", [sd.Domain(cell=sd.Grid(8, 8)), sd.Domain(sex=sd.Categories(["f", "m"]))], ids=["map", "profile"]
)
def test_a_release_shows_its_promise_and_its_picture(domain, monkeypatch):
    monkeypatch.delenv("SUDARE_LANGUAGE", raising=False)
    release = sd.release(sd.CountTable(domain, [0, 1], [30, 40]), sd.Simplex(), 1)
    shown = release._repr_html_()
    assert "Differential privacy with ε = 1" in shown
    if "cell" in domain.attributes:
        assert '<iframe title="Released counts" sandbox="allow-scripts"' in shown
    else:
        (address,) = re.findall(r'src="([^"]{30})', shown)
        assert address.startswith("data:image/png;base64,iVBORw0K")
    assert len(shown) < 200_000
    assert "<script" not in shown


def test_a_release_speaks_japanese_where_it_is_spoken(monkeypatch):
    monkeypatch.setenv("SUDARE_LANGUAGE", "ja")
    release = sd.release(sd.CountTable(sd.Domain(cell=sd.Line(4)), [0], [30]), sd.Simplex(), 1, seed=1)
    assert "保護なし" in release._repr_html_()
