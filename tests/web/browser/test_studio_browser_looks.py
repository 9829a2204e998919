"""Every page in both languages, on a service and on a phone: nothing is cut, and axe finds nothing serious.

With SUDARE_PICTURES=docs/images the pages, of a larger town, are also kept there as studio-*.png.
"""

import json
import os
from pathlib import Path

import pytest

from looks import scrolls_sideways, serious
from sudare.language.catalogue import Words

PAGES = ("data", "protect", "rehearse", "publish", "ledger")
WIDTHS = {"service": (1200, 860), "phone": (390, 844)}
LARGER = {"1km": "500m", "[4270, 4302]": "[8508, 8636]", "[3172, 3204]": "[6296, 6424]", "20_000": "1_000_000"}
SHOWN_FROM = {"data": "#domain-section", "protect": "#epsilon-section", "rehearse": "#outcome"}
TITLES = {"en": "Population of an invented town", "ja": "架空の町の人口"}


def settle(page, name):
    """Wait until what a page draws is drawn."""
    from playwright.sync_api import expect

    if name == "data":
        expect(page.locator(".window-text")).not_to_be_empty()
    if name == "protect":
        expect(page.locator("#outlook")).to_have_attribute("aria-busy", "false")
        expect(page.locator("#chart img")).to_be_visible()
    if name == "rehearse":
        expect(page.locator("#maps canvas")).to_have_count(2)
    if name == "publish":
        expect(page.locator("#released")).to_be_visible()
        page.locator("#report").scroll_into_view_if_needed()
        expect(
            page.frame_locator("#report").locator(".chart canvas, .chart svg, .sudare-map canvas").first
        ).to_be_visible()
    page.evaluate("Promise.all([...document.images].map((image) => image.decode()))")


def finished(page, studio, address, body):
    """Begin a job over the API and wait for its end."""
    answer = page.evaluate(
        """async ([address, body]) => {
          const { ask } = await import("/static/request.js");
          const state = await ask("GET", "/api/state");
          let job = await ask("POST", address, { based_on: state.version, ...body });
          while (["waiting", "running", "spending"].includes(job.state)) {
            await new Promise((resolve) => setTimeout(resolve, 200));
            job = await ask("GET", `/api/jobs/${job.id}`);
          }
          return job;
        }""",
        [address, body],
    )
    assert answer["state"] == "done", json.dumps(answer)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_page_is_whole_and_accessible(studio, opened, steps, language):
    from playwright.sync_api import expect

    begun = studio(recipe_for(steps.recipe), title=TITLES[language], language=language)
    page = opened(language)
    steps.enter(page, begun)
    finished(page, begun, "/api/rehearse", {"other": None})
    finished(page, begun, "/api/publish", {"confirm": "invented-town"})
    found = {}
    for name in PAGES:
        steps.visit(page, begun, name, language)
        settle(page, name)
        assert page.title().startswith(Words(language)(f"studio.page.{name}"))
        for place, (width, height) in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate("new Promise(requestAnimationFrame)")
            assert not scrolls_sideways(page), (name, place)
            found[name, place] = serious(page)
            keep_picture(page, name, language, place)
        page.set_viewport_size(dict(zip(("width", "height"), WIDTHS["service"], strict=True)))
    page.locator("#show-recipe").click()
    expect(page.locator("#recipe-text")).to_be_focused()
    found["recipe"] = serious(page)
    keep_picture(page, "recipe", language, "service")
    reports = {"public": f"{begun.url}/report#file=release/report.html"}
    reports["internal"] = (begun.folder / "release-internal.html").as_uri()
    for name, address in reports.items():
        page.goto(address)
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.locator(".chart canvas, .chart svg, .sudare-map canvas").first).to_be_visible()
        for place, (width, height) in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            assert not scrolls_sideways(page), (name, place)
            # The watermark is faint on purpose and says what the banner says.
            found[name, place] = serious(page, [".watermark"])
    assert {place: problems for place, problems in found.items() if problems} == {}


def test_axe_would_find_something(opened):
    """The twin: without this, a check that never ran would pass as well."""
    page = opened()
    page.set_content("<html><body><main><input><img src='data:,'></main></body></html>")
    assert {name for name, _, _ in serious(page)} >= {"label", "image-alt", "html-has-lang"}


def recipe_for(recipe):
    """With an internal report; for pictures, a town that is worth looking at."""
    recipe = recipe.replace("[report]", "[report]\ninternal = true")
    if os.environ.get("SUDARE_PICTURES"):
        for small, large in LARGER.items():
            recipe = recipe.replace(small, large)
    return recipe


def keep_picture(page, name, language, place):
    if (folder := os.environ.get("SUDARE_PICTURES")) and (place == "service" or language == "en"):
        ending = ("" if language == "en" else f"-{language}") + ("" if place == "service" else f"-{place}")
        page.evaluate(
            "(selector) => (document.querySelector(selector) ?? document.body).scrollIntoView({ block: 'start' })",
            SHOWN_FROM.get(name, "body"),
        )
        page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        page.screenshot(path=Path(folder) / f"studio-{name}{ending}.png")
        page.evaluate("scrollTo(0, 0)")
