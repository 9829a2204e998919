"""How a page looks to axe and on a narrow screen: for tests of pages in a browser."""

from __future__ import annotations


def serious(page, beside=()):
    """What axe calls serious or critical, each with its place; ``beside`` names what is left out."""
    from axe_playwright_python.sync_playwright import Axe

    looked_at = {"exclude": [[selector] for selector in beside]} if beside else None
    found = Axe().run(page, context=looked_at, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        (one["id"], node["target"], node["failureSummary"])
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def scrolls_sideways(page):
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
