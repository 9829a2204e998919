"""From a CSV to a verified release: in both languages, and once with the keyboard alone."""

import json

import sudare as sd
from sudare.language.catalogue import Words

TAB_STOPS = 90
"""More than any page has."""


def labelled(page, words, key):
    return page.get_by_label(words(key), exact=True)


def type_into(page, words, key, text):
    labelled(page, words, key).fill(text)
    labelled(page, words, key).press("Enter")


def add_part(page, words, kind, column, second=None):
    page.locator("#add-type").select_option(kind)
    page.locator("#add-column").select_option(column)
    if second:
        page.locator("#add-second").select_option(second)
    page.get_by_role("button", name=words("studio.data.add_button"), exact=True).click()


def draw_window(page):
    """A rectangle drawn on the map, from its middle outwards."""
    canvas = page.locator(".window-map canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x - 40, y + 40)
    page.mouse.down()
    page.mouse.move(x + 30, y - 30, steps=4)
    page.mouse.up()


def recipe_of(studio):
    import tomllib

    return tomllib.loads((studio.folder / "recipe.toml").read_text(encoding="utf-8"))


def test_from_a_csv_to_a_verified_release(studio, opened, steps, words, tmp_path):
    from playwright.sync_api import expect

    begun = studio(None)
    (begun.folder / "people.csv").rename(tmp_path / "people.csv")
    page = opened(words.language)
    steps.enter(page, begun)
    expect(page.locator("html")).to_have_attribute("lang", words.language)

    # Data: bring the file, name it, say whom it is about, and declare the domain.
    labelled(page, words, "studio.data.upload").set_input_files(tmp_path / "people.csv")
    page.locator("#show-header").click()
    expect(page.locator("#schema tbody tr")).to_have_count(5)
    type_into(page, words, "studio.data.dataset", "town")
    type_into(page, words, "studio.data.title", "A town")
    page.locator("#unit").select_option("person_id")
    add_part(page, words, "mesh", "latitude", "longitude")
    page.locator("[data-size]").select_option("1km")
    expect(page.locator(".window-text")).to_contain_text("6,400")
    draw_window(page)
    expect(page.locator(".window-text")).not_to_contain_text("6,400")
    add_part(page, words, "categories", "sex")
    type_into(page, words, "studio.categories.values", "f\nm")
    labelled(page, words, "studio.categories.values").blur()
    page.locator("select[data-path='data.outside']").select_option("drop")
    expect(page.locator("#problem")).to_be_hidden()

    # Protect: a cap, and epsilon by the slider; what it promises changes at once.
    page.get_by_role("link", name=words("studio.next", page=words("studio.page.protect"))).click()
    expect(page.locator("#guarantee")).to_have_text(words("guarantee.pure.name", epsilon="1"))
    type_into(page, words, "studio.protect.cap", "1")
    expect(page.locator("#slider")).to_have_attribute("aria-valuetext", "ε = 1")
    for _ in range(3):
        page.locator("#slider").press("ArrowLeft")
    expect(page.locator("#slider-number")).to_have_value("0.5")
    expect(page.locator("#guarantee")).to_have_text(words("guarantee.pure.name", epsilon="0.5"))
    expect(page.locator("#errors tbody tr").first).to_be_visible()
    expect(page.locator("#chart img")).to_be_visible()

    # Rehearse: synthetic people, two maps, and a cell that is read with the keys.
    steps.visit(page, begun, "rehearse")
    page.locator("details.known summary").click()
    type_into(page, words, "studio.known.people", "20000")
    type_into(page, words, "studio.rehearse.repetitions", "2")
    page.get_by_role("button", name=words("studio.rehearse.button"), exact=True).click()
    expect(page.locator("#maps canvas")).to_have_count(2)
    page.locator("#maps canvas").first.press("ArrowUp")
    expect(page.locator("#maps .map-readout")).to_contain_text("35.")

    # Publish: only with the name typed out.
    steps.visit(page, begun, "publish")
    page.locator("[data-path='report.language']").select_option(words.language)
    page.locator("#confirm").fill("twn")
    expect(page.locator("#confirm-state")).to_have_text(words("live.publish.wrong"))
    expect(page.locator("#publish")).to_be_disabled()
    page.locator("#confirm").fill("town")
    page.locator("#publish").click()
    expect(page.locator("#outcome")).to_have_text(words("live.publish.done"))
    expect(page.frame_locator("#report").locator("header .label")).to_have_text(words("page.public"))
    page.locator("#verify").click()
    expect(page.locator("#findings")).to_have_attribute("data-verified", "true")

    # Ledger: the cap and the release are two rows, and half is left.
    steps.visit(page, begun, "ledger")
    expect(page.locator("#history tbody tr")).to_have_count(2)
    assert sd.verify(begun.folder / "release").ok
    assert recipe_of(begun)["privacy"]["epsilon"] == 0.5


def test_with_the_keyboard_alone(studio, opened, steps):
    """Every step by Tab, arrows, letters and Enter; each control shows that it has the focus."""
    from playwright.sync_api import expect

    words = Words("en")
    begun = studio(None)
    page = opened()
    steps.enter(page, begun)
    keys = page.keyboard

    def reach(selector):
        for _ in range(TAB_STOPS):
            if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
                return
            keys.press("Tab")
        raise AssertionError(f"Tab does not reach {selector}")

    def choose(selector, letters):
        reach(selector)
        keys.type(letters)
        keys.press("Tab")

    def fill(selector, text):
        reach(selector)
        keys.press("ControlOrMeta+a")
        keys.type(text)
        keys.press("Tab")

    keys.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    keys.press("Enter")
    choose("#file", "people")
    expect(page.locator("#show-header")).to_be_visible()
    reach("#show-header")
    keys.press("Enter")
    expect(page.locator("#schema tbody tr")).to_have_count(5)
    fill("[data-path=dataset]", "town")
    choose("#unit", "person")
    reach("#add button")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    keys.press("Enter")
    expect(page.locator(".window-map canvas")).to_be_visible()
    # A new part has the focus: its map, then sizes and edges by numbers.
    expect(page.locator("[data-edge=north]")).to_have_value("36")
    choose("[data-size]", "1 km")
    expect(page.locator(".window-text")).to_contain_text("6,400")
    for edge, degrees in (("north", "35.8"), ("south", "35.6"), ("west", "139.6"), ("east", "139.9")):
        fill(f"[data-edge={edge}]", degrees)
        expect(page.locator(f"[data-edge={edge}]")).to_have_value(degrees)
    reach(".window-map canvas")
    keys.press("Shift+ArrowUp")
    expect(page.locator("[data-edge=north]")).not_to_have_value("35.8")
    choose("[data-path='data.outside']", "leave")
    expect(page.locator("#problem")).to_be_hidden()

    reach(".next a")
    keys.press("Enter")
    steps.arrive(page, "protect")
    fill("[data-path='ledger.cap.epsilon']", "2")
    expect(page.locator("#cost")).to_contain_text("ε = 2")
    reach("#slider")
    keys.press("ArrowRight")
    expect(page.locator("#slider-number")).to_have_value("1.2")
    reach(".next a")
    keys.press("Enter")
    steps.arrive(page, "rehearse")
    reach(".known > summary")
    keys.press("Enter")
    fill(".known [data-path='rehearsal.people']", "10000")
    reach("#start")
    keys.press("Enter")
    expect(page.locator("#maps canvas")).to_have_count(2)
    reach("#maps canvas")
    keys.press("ArrowRight")
    expect(page.locator("#maps .map-readout")).to_contain_text("° N")
    reach(".next a")
    keys.press("Enter")
    steps.arrive(page, "publish")
    reach("#confirm")
    keys.type("town")
    keys.press("Enter")
    expect(page.locator("#outcome")).to_have_text(words("live.publish.done"))
    reach("#verify")
    keys.press("Enter")
    expect(page.locator("#findings")).to_have_attribute("data-verified", "true")
    certificate = json.loads((begun.folder / "release" / "release.json").read_text(encoding="utf-8"))
    assert certificate["guarantee"]["epsilon"] == "6/5"
    assert recipe_of(begun)["domain"]["mesh"]["size"] == "1km"
