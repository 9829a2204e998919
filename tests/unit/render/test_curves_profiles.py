import pytest

from sudare.render.charts import render_svg
from sudare.render.curves import profile


def test_labels_keep_their_order():
    svg = render_svg(profile(["z", "a", "m"], [1, 2, 3], [1, 2, 3], label_title="letter", width=200))
    places = [svg.index(f">{label}<") for label in ("z", "a", "m")]
    assert places == sorted(places)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="shorter"):
        profile(["a", "b"], [1], [1, 2], label_title="letter")
