"""Errors along the slider: exact on the grid, between its neighbours elsewhere; the books always exact."""

import math
import time
import tomllib
from threading import Event
from types import SimpleNamespace

import pytest

from sudare.studio.editing import edited
from sudare.studio.forecast import Forecasts, slider_of
from sudare.studio.models import AreaError, ProtectPage
from sudare.studio.prefetch import PrefetchCache
from sudare.studio.protection import with_smallest_areas
from sudare.studio.refusals import RequestError
from sudare.workflow import plan

PATIENCE = 300.0  # seconds, for a busy machine; nothing waits longer than it must


@pytest.fixture
def forecasts(workspace):
    made = Forecasts(workspace)
    yield made
    made.close()


def at(forecasts, text, value=None, kind="table"):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = forecasts.at(text, kind, value)
        if found.plan is not None:
            return found
        time.sleep(0.05)
    raise AssertionError("no forecast")


def planned(workspace, text):
    return plan(tomllib.loads(text), folder=workspace.folder)


def test_at_the_recipes_own_value_it_is_the_plan(forecasts, workspace, kinds):
    assert at(forecasts, kinds["table"]).plan == planned(workspace, kinds["table"])


def test_on_the_grid_it_is_the_plan_there(forecasts, workspace, kinds):
    found = at(forecasts, kinds["table"], 1.0)
    assert found.plan == planned(workspace, edited(kinds["table"], {"privacy.epsilon": 1.0}))


def test_the_stops_are_made_beforehand_from_the_recipes_own_value_outwards(forecasts, kinds):
    asked = []
    made = forecasts._plans._make
    forecasts._plans._make = lambda text: (asked.append(text), made(text))[1]
    stops = at(forecasts, kinds["table"]).slider.stops
    assert {0.01, 0.012, 1.0, 8.0, 10.0} <= set(stops)
    assert at(forecasts, kinds["table"], stops[-1]).plan
    at(forecasts, kinds["table"], stops[0])
    assert len(asked) == len(set(asked))
    own = tomllib.loads(kinds["table"])["privacy"]["epsilon"]
    assert any(abs(math.log(tomllib.loads(text)["privacy"]["epsilon"] / own)) < 0.4 for text in asked[1:4])


def test_more_than_is_left_is_a_remark(forecasts, kinds):
    text = kinds["table"].replace("cap = { epsilon = 20, delta = 1e-3 }", "cap = { epsilon = 1 }")
    found = at(forecasts, text, 2.0).plan
    assert found.balance_after is None
    assert "not enough budget" in str(found.remarks[0])
    assert at(forecasts, text, 0.9).plan.remarks == ()


def test_a_new_ledger_row_shows_at_once(forecasts, workspace, kinds):
    before = at(forecasts, kinds["table"]).plan
    from sudare.workflow.publication import publish

    publish(workspace.recipe)
    after = at(forecasts, kinds["table"]).plan
    assert (before.balance.releases, after.balance.releases) == (0, 1)
    assert any("exists already" in str(remark) for remark in after.remarks)


@pytest.mark.parametrize(
    ("kind", "contents", "path"),
    [
        ("table", {"privacy": {"epsilon": 1}}, "privacy.epsilon"),
        ("table", {"privacy": {"rho": 1.5}}, "privacy.rho"),
        ("table", {"privacy": {"epsilon": True}}, None),
        ("table", {"privacy": []}, None),
        ("table", {}, None),
        ("sample", {"sample": {"choose_epsilon": 0.1, "epsilon": 1}}, "sample.choose_epsilon"),
        ("sample", {"sample": {"k": 5}}, None),
        ("perturbation", {"perturbation": {"k": 2}}, "perturbation.k"),
        ("weights", {"weights": {"epsilon": 40}}, "weights.epsilon"),
    ],
)
def test_what_slides(kind, contents, path):
    found = slider_of(contents, kind)
    assert (found and found.path) == path
    if found:
        assert found.low <= found.value <= found.high


def test_what_cannot_slide_is_refused(forecasts, kinds):
    text = kinds["sample"].replace("epsilon = 1.0\n", "")
    with pytest.raises(RequestError, match="no epsilon"):
        forecasts.at(text, "sample", 1.0)
    with pytest.raises(RequestError, match="range"):
        forecasts.at(kinds["table"], "table", 1e9)


def test_the_smallest_area_has_a_size_on_the_ground_where_it_is_a_place():
    whole = AreaError(
        cells=64, areas=1, square_km=16, with_people=(1, 1), empty=(None, None), people=(9, 9), relative=(0.05, 0.05)
    )
    rows = [{"cells": cells, "relative_error": error} for cells, error in ((1, 0.8), (4, 0.4), (16, 0.2), (64, 0.05))]
    page = ProtectPage(valid=True, problem=None, based_on="", error_by_area=[whole])
    with_smallest_areas(page, SimpleNamespace(errors=rows), place=4)
    assert page.smallest_area_10_percent.cells == pytest.approx(32, rel=1e-2)
    assert page.smallest_area_10_percent.square_km == pytest.approx(8, rel=1e-2)
    with_smallest_areas(page, SimpleNamespace(errors=rows), place=64)  # a part of the people of one place
    assert page.smallest_area_10_percent.square_km is None


@pytest.fixture
def held():
    """What makes an answer notes its question; all but the first answer wait until the event is set."""
    made, going_on = [], Event()

    def make(question):
        made.append(question)
        if question != "first":
            going_on.wait(PATIENCE)

    return PrefetchCache(make), made, going_on


def test_what_is_asked_for_comes_before_what_may_be(held):
    ahead, made, going_on = held
    ahead.get("a", "first", PATIENCE)
    ahead.look_ahead("a", ["later", "last"])
    assert ahead.get("a", "now", 0) is None
    going_on.set()
    ahead.get("a", "now", PATIENCE)
    ahead.get("a", "last", PATIENCE)
    ahead.close()
    assert made.index("now") <= 2
    assert made[0] == "first"
    assert len(made) == len(set(made))


def test_an_error_is_raised_and_made_anew():
    tries = []

    def make(question):
        tries.append(question)
        if len(tries) == 1:
            raise ValueError(question)
        return 5

    ahead = PrefetchCache(make)
    with pytest.raises(ValueError, match="x"):
        ahead.get("a", "x", PATIENCE)
    assert ahead.get("a", "x", PATIENCE) == 5
    assert ahead.get("a", "x", PATIENCE) == 5
    assert len(tries) == 2
    ahead.close()


def test_another_recipe_drops_what_was_still_to_be_made(held):
    ahead, made, going_on = held
    ahead.get("a", "first", PATIENCE)
    ahead.look_ahead("a", [f"a{number}" for number in range(50)])
    assert ahead.get("b", "second", 0) is None
    going_on.set()
    ahead.get("b", "second", PATIENCE)
    assert made[-1] == "second"
    assert len(made) <= 3  # one of the others was at work already
    ahead.close()
