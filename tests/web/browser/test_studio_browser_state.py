"""The recipe is the state: undo and redo, its text, two tabs, another kind; work that is cancelled; maps that move."""

import os
import sqlite3
import sys
import tomllib

import pytest

from sudare.privacy import Ledger

WAITS = """
import pathlib, sys, time
if any("sudare.studio.worker" in part for part in sys.orig_argv):
    end = time.monotonic() + 600
    while not pathlib.Path("go").exists():
        if time.monotonic() > end or not pathlib.Path("recipe.toml").exists():
            sys.exit("nobody let the job begin")
        time.sleep(0.02)
"""
"""A sitecustomize by which the process of a job begins only when a file is there; it never waits for good."""


def written(studio):
    return tomllib.loads((studio.folder / "recipe.toml").read_text(encoding="utf-8"))


def test_every_change_is_a_version_that_can_be_undone(studio, opened, steps):
    from playwright.sync_api import expect

    begun = studio()
    page = opened()
    steps.enter(page, begun)
    title = page.locator("[data-path=title]")
    for text in ("Second", "Third"):
        title.fill(text)
        title.press("Enter")
        expect(page.locator("#dataset-name")).to_have_text(text)
    expect(page.locator("#redo")).to_be_disabled()
    page.locator("#undo").click()
    expect(title).to_have_value("Second")
    page.locator("#main").press("Control+z")
    expect(title).to_have_value("An invented town")
    expect(page.locator("#undo")).to_be_disabled()
    page.locator("#redo").click()
    expect(title).to_have_value("Second")
    assert written(begun)["title"] == "Second"
    assert "# one row a person" in (begun.folder / "recipe.toml").read_text(encoding="utf-8")  # comments stay

    # The text itself: a mistake is kept and named, and any version can be gone back to.
    page.locator("#show-recipe").click()
    text = page.locator("#recipe-text")
    text.fill(text.input_value().replace("epsilon = 0.5", "epsilom = 0.5"))
    text.press("Control+s")
    expect(page.locator("#problem-text")).to_contain_text("epsilom")
    page.get_by_role("button", name="Go back to version 1", exact=True).click()
    expect(page.locator("#problem")).to_be_hidden()
    expect(title).to_have_value("An invented town")
    assert written(begun)["privacy"] == {"epsilon": 0.5}


def test_nothing_can_be_typed_into_a_page_that_does_not_listen_yet(studio, opened, steps):
    """What is typed before the scripts know the recipe would be overwritten by it, without a word."""
    from playwright.sync_api import expect

    begun = studio()
    page = opened()
    steps.enter(page, begun)
    held = []
    page.route("**/api/protect", lambda route: held.append(route), times=1)
    page.goto(f"{begun.url}/protect")
    cap = page.locator("[data-path='ledger.cap.epsilon']")
    expect(cap).to_be_visible()
    cap.focus()
    page.keyboard.type("2")
    expect(cap).to_have_value("")
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    steps.arrive(page, "protect")
    cap.fill("2")
    cap.press("Enter")
    expect(page.locator("#cost")).to_contain_text("ε = 2")


def test_two_tabs_lose_nothing(studio, opened, steps):
    from playwright.sync_api import expect

    begun = studio()
    page = opened()
    steps.enter(page, begun)
    other = page.context.new_page()
    steps.visit(other, begun, "data")
    page.locator("[data-path=title]").fill("From one tab")
    page.locator("[data-path=title]").press("Enter")
    # The other tab hears of it by itself.
    expect(other.locator("#dataset-name")).to_have_text("From one tab")

    # Whoever edits the text while it changes is told so, and keeps what was typed.
    other.locator("#show-recipe").click()
    text = other.locator("#recipe-text")
    mine = text.input_value().replace("repetitions = 2", "repetitions = 4")
    text.fill(mine)
    page.locator("[data-path=title]").fill("Again")
    page.locator("[data-path=title]").press("Enter")
    expect(other.locator("#recipe-newer")).to_be_visible()
    expect(text).to_have_value(mine)
    other.locator("#recipe-save").click()
    expect(page.locator("#dataset-name")).to_have_text("From one tab")
    assert written(begun)["rehearsal"]["repetitions"] == 4
    page.locator("#undo").click()
    expect(page.locator("#dataset-name")).to_have_text("Again")

    # A tab that has heard of nothing is refused, and shows the newest.
    other.locator("#recipe-close").click()
    (begun.folder / "recipe.toml").write_text(mine.replace("From one tab", "From an editor"), encoding="utf-8")
    page.locator("[data-path='data.max_rows']").fill("3")
    page.locator("[data-path='data.max_rows']").press("Enter")
    expect(page.locator("#notices")).to_contain_text("Another tab or program")
    expect(page.locator("#dataset-name")).to_have_text("From an editor")
    assert "max_rows" not in written(begun)["data"]

    # A studio that was stopped is named as such; what was confirmed is in the file.
    begun.stop()
    page.locator("[data-path='data.max_rows']").fill("5")
    page.locator("[data-path='data.max_rows']").press("Enter")
    expect(page.locator("#notices")).to_contain_text("does not answer")
    assert written(begun)["title"] == "From an editor"


def test_a_publication_is_cancelled_before_it_spends(studio, opened, steps, tmp_path):
    from playwright.sync_api import expect

    (tmp_path / "sitecustomize.py").write_text(WAITS, encoding="utf-8")
    begun = studio(environment={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])})
    page = opened()
    steps.enter(page, begun)
    steps.visit(page, begun, "publish")
    page.locator("#confirm").fill("invented-town")
    page.locator("#publish").click()
    expect(page.locator("#publishing-stage")).not_to_be_empty()
    expect(page.locator("#publish")).to_be_disabled()
    expect(page.locator("#publishing-cancel")).to_be_focused()
    page.reload()  # a tab that comes back finds the job again
    expect(page.locator("#publishing-cancel")).to_be_visible()
    page.locator("#publishing-cancel").press("Enter")
    expect(page.locator("#outcome")).to_have_text("Cancelled. Nothing was spent.")
    (begun.folder / "go").touch()
    assert not (begun.folder / "release").exists()
    ledger = begun.folder / "sudare-ledger.db"
    assert not ledger.exists() or Ledger(ledger).balance("invented-town").releases == 0

    # Nothing stands in the way of doing it after all, and of seeing that it cannot be cancelled any more.
    page.locator("#confirm").fill("invented-town")
    page.locator("#confirm").press("Enter")
    expect(page.locator("#outcome")).to_have_text("Published. The cost is in the ledger.")
    assert Ledger(ledger).balance("invented-town").releases == 1
    with sqlite3.connect(ledger) as books:
        assert books.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("typed", ["-1", "0", ""])
def test_an_epsilon_that_is_none_does_not_stay_in_its_field(studio, opened, steps, typed):
    from playwright.sync_api import expect

    begun = studio()
    page = opened()
    steps.enter(page, begun)
    steps.visit(page, begun, "protect")
    expect(page.locator("#slider-number")).to_have_value("0.5")  # the page's script runs
    page.locator("#slider-number").press("Control+a")
    for key in (*typed, "Delete", "Enter"):
        page.locator("#slider-number").press(key)
    expect(page.locator("#slider-number")).to_have_value("0.5")


def test_maps_move_together_and_versions_are_compared(studio, opened, steps):
    from playwright.sync_api import expect

    begun = studio()
    page = opened()
    steps.enter(page, begun)
    steps.visit(page, begun, "protect")
    page.locator("#slider-number").fill("2")
    page.locator("#slider-number").press("Enter")
    expect(page.locator("#guarantee")).to_contain_text("ε = 2")
    steps.visit(page, begun, "rehearse")
    page.locator("#other").select_option("1")
    page.locator("#start").click()
    canvases = page.locator("#maps canvas")
    expect(canvases).to_have_count(3)
    expect(page.locator("#errors thead th")).to_have_count(6)
    expect(page.locator("#chart-areas img")).to_be_visible()

    shown = "[...document.querySelectorAll('#maps canvas')].map((canvas) => canvas.toDataURL())"
    page.wait_for_function(f"new Set({shown}).size === 3")
    pictures = page.evaluate(shown)
    canvases.nth(0).hover(position={"x": 80, "y": 60})
    expect(page.locator("#maps .map-readout")).to_contain_text("True (synthetic)")
    pointed = page.locator("#maps .map-readout").inner_text()
    canvases.nth(0).click(position={"x": 80, "y": 60})
    page.mouse.wheel(0, -500)
    others = f"(before) => {shown}.every((picture, place) => picture !== before[place])"
    page.wait_for_function(others, arg=pictures)
    expect(page.locator("#maps .map-readout")).to_have_text(pointed)  # it zooms about the pointer
    moved = page.evaluate(shown)
    page.locator("#maps .map-bar button").last.click()
    page.wait_for_function(others, arg=moved)


def test_another_kind_is_one_version_and_can_be_undone(studio, opened, steps):
    from playwright.sync_api import expect

    begun = studio()
    page = opened()
    steps.enter(page, begun)
    steps.visit(page, begun, "protect")
    page.get_by_label("Perturbed records").check()
    expect(page.locator("#problem")).to_be_visible()
    assert written(begun)["kind"] == "perturbation"
    steps.visit(page, begun, "data")
    page.locator("#show-header").click()
    page.locator("#add-column").select_option("age")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#problem")).to_be_hidden()
    assert written(begun)["columns"] == {"age": {"bounds": [0, 100]}}
    steps.visit(page, begun, "protect")
    expect(page.locator("#guarantee")).to_contain_text("ε = 1")
    page.locator("#undo").click()
    expect(page.locator("#problem")).to_be_visible()
    page.locator("#undo").click()
    expect(page.get_by_label("Table of counts")).to_be_checked()
    assert written(begun)["kind"] == "table"


def test_the_only_part_is_removed_and_a_problem_leads_to_its_control(studio, opened, steps):
    from playwright.sync_api import expect

    begun = studio()
    page = opened()
    steps.enter(page, begun)
    for name in ("mesh", "sex"):
        page.get_by_role("button", name=f"Remove {name}", exact=True).click()
        expect(page.locator("#parts h3").filter(has_text=name)).to_have_count(0)
    assert "domain" not in written(begun)
    page.locator("#undo").click()
    expect(page.locator("#problem")).to_be_hidden()
    limit = page.locator("[data-path='data.max_rows']")
    limit.fill("0")
    limit.press("Enter")
    control = page.locator("#problem-control")
    expect(control).to_have_text("Rows of one person that count, at most")
    control.click()
    expect(limit).to_be_focused()
    page.locator("#undo").click()
    expect(control).to_be_hidden()


def test_totals_that_are_out_are_named_on_the_page_and_taken_back(studio, opened, steps):
    from playwright.sync_api import expect

    begun = studio()
    (begun.folder / "totals.csv").write_text("area,number\n5339,1200\n", encoding="utf-8")
    page = opened()
    steps.enter(page, begun)
    steps.visit(page, begun, "protect")
    field = page.locator("[data-path='estimate.agree_with']")
    page.locator("details", has=field).locator("summary").click()
    field.fill("totals.csv")
    field.press("Enter")
    expect(page.locator("#guarantee")).not_to_be_empty()
    expect(page.locator("#undo")).to_be_enabled()
    assert written(begun)["estimate"] == {"agree_with": "totals.csv"}
    field.fill("")
    field.press("Enter")
    for _ in range(200):
        if not written(begun).get("estimate"):
            break
        page.wait_for_timeout(50)
    assert not written(begun).get("estimate")
    expect(page.locator("#problem")).to_be_hidden()
