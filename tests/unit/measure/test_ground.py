"""Areas on the ground: one formula for plan, rehearsal, studio and report."""

import math
from importlib import resources

import pytest

import sudare as sd
from sudare.measure.blocks import smallest_publishable, square_km
from sudare.studio.protection import error_by_area
from sudare.tables.area_sizes import area_sizes
from sudare.workflow.job import Job


def test_a_cell_is_as_large_as_at_its_latitude():
    """Against the product of the two radii of curvature of GRS80 at the middle of the cell."""
    for row in (4800, 8563, 10900):
        mesh = sd.Mesh("500m", rows=(row, row + 1), columns=(6362, 6363))
        middle = math.radians((row + 0.5) / 240)
        squared = 0.0066943800229 * math.sin(middle) ** 2
        east = 6378.137 / math.sqrt(1 - squared) * math.cos(middle) * math.radians(1 / 160)
        north = 6378.137 * (1 - 0.0066943800229) / (1 - squared) ** 1.5 * math.radians(1 / 240)
        assert mesh.square_km == pytest.approx(east * north, rel=1e-7)


def test_cells_add_up_and_masked_ones_have_no_area():
    whole, parts = sd.Mesh("80km", codes=["5339"]), sd.Mesh("1km", codes=["5339"])
    assert parts.square_km == pytest.approx(whole.square_km, rel=1e-12)
    corners = sd.Mesh("1km", codes=["533900", "533977"])
    alone = [sd.Mesh("10km", codes=[code]).square_km for code in ("533900", "533977")]
    assert corners.square_km == pytest.approx(sum(alone), rel=1e-12)


def test_the_areas_of_all_levels_fill_the_domain():
    domain = sd.Domain(mesh=sd.Mesh("1km", codes=["5339", "5340"]), sex=sd.Categories(["f", "m"]))
    assert square_km(domain, 0) is None  # one sex of a place is no area
    whole = square_km(domain, domain.bits)
    for level in range(1, domain.bits):
        assert square_km(domain, level) <= whole
    assert square_km(domain, 1) * domain.attributes["mesh"].size == pytest.approx(whole)


def test_only_one_mesh_is_an_area():
    assert square_km(sd.Domain(cell=sd.Grid(8, 8)), 2) is None
    assert square_km(sd.Domain(mesh=sd.Mesh("10km", codes=["5339"]), cell=sd.Grid(8, 8)), 12) is None
    leaf = sd.Domain(sex=sd.Categories(["f", "m"]), mesh=sd.Mesh("10km", codes=["5339"]), order=["sex", "mesh"])
    assert square_km(leaf, 2) is None  # areas of one sex
    assert square_km(leaf, leaf.bits) == pytest.approx(leaf.attributes["mesh"].square_km)


@pytest.mark.slow
def test_plan_rehearsal_studio_and_report_say_the_same(tmp_path):
    """The domain of the demo, whose window of 128 x 128 cells has 4,289 square kilometres."""
    demo = resources.files("sudare.cli").joinpath("demo.toml").read_text(encoding="utf-8")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(demo.replace("3_000_000", "10_000").replace("repetitions = 3", "repetitions = 1"))
    plan, rehearsal, job = sd.plan(recipe), sd.rehearse(recipe), Job.open(recipe)
    report = {size.level: size.square_km for size in area_sizes(job.kind.domain)}
    whole = job.kind.domain.bits
    areas = [
        {row["block_level"]: row["square_km"] for row in plan.errors}[whole],
        {row["block_level"]: row["square_km"] for row in rehearsal.errors}[whole],
        error_by_area(plan, job)[-1].square_km,
        report[whole],
    ]
    assert areas == [areas[0]] * 4
    assert areas[0] == pytest.approx(4289, abs=1)


def test_the_smallest_publishable_area_has_only_good_ones_above():
    assert smallest_publishable([1, 4, 16, 64], [0.05, 0.3, 0.1, 0.01]) == (2, 16.0)
    assert smallest_publishable([1, 4], [0.1, 0.0]) == (0, 1.0)
    assert smallest_publishable([1, 4], [0.5, 0.0]) == (1, 4.0)
    assert smallest_publishable([1, 4], [0.01, 0.11]) is None
    assert smallest_publishable([], []) is None
