"""A real browser (Debian's Chromium, driven by Playwright) and studios in processes of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
import pytest

from sudare.language.catalogue import Words

# Nothing here waits for a fixed time; a busy machine may take long all the same.
PATIENCE = 120_000
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
RECIPE = """\
kind = "table"
dataset = "{dataset}"
title = "{title}"

[data]
path = "people.csv"   # one row a person
unit = "person_id"
outside = "drop"

[domain.mesh]
type = "mesh"
size = "1km"
rows = [4270, 4302]
columns = [3172, 3204]
from = ["latitude", "longitude"]

[domain.sex]
type = "categories"
values = ["f", "m"]

[privacy]
epsilon = 0.5

[ledger]
cap = {{ epsilon = 1 }}

[output]
folder = "release"
formats = ["csv"]

[report]
language = "{language}"

[rehearsal]
people = 20_000
repetitions = 2
"""


def without_a_browser(reason: str) -> None:
    """Skip, or fail where a browser is a must."""
    sentence = f"{reason}; `make browser` installs one"
    if os.environ.get("SUDARE_BROWSER") == "required":
        pytest.fail(f"SUDARE_BROWSER=required, but {sentence}")
    pytest.skip(sentence)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser for a file of tests. It has an event loop running until it ends, which other tests cannot bear."""
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        without_a_browser("Playwright is not installed")
    if (found := shutil.which("chromium")) is None:
        without_a_browser("there is no chromium")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        own = os.environ | {
            "XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("chromium"))
        }  # it writes crash reports there
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS, env=own)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Any) -> Iterator[Callable[..., Any]]:
    """A function that opens a window of its own; whatever goes wrong in a page's scripts fails the test.

    What a page only complains of is left out in one that is ``quiet``.
    """
    contexts, problems = [], []

    def open_window(language: str = "en", width: int = 1280, height: int = 900, quiet: bool = False) -> Any:
        context = chromium.new_context(
            locale={"en": "en-GB", "ja": "ja-JP"}[language],
            timezone_id="Asia/Tokyo",
            viewport={"width": width, "height": height},
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE)
        context.on("weberror", lambda error: problems.append(str(error.error)))
        if not quiet:
            context.on("console", lambda message: noted(message))
        contexts.append(context)
        return context.new_page()

    def noted(message: Any) -> None:
        # A refusal that a test asks for is no mistake of a script.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            problems.append(message.text)

    yield open_window
    for context in contexts:
        context.close()
    assert problems == []


class Studio:
    """``sudare studio`` over a folder, in a process of its own."""

    def __init__(self, folder: Path, environment: dict[str, str] | None = None, port: str = "0") -> None:
        self.folder = folder
        script = "from sudare.cli.studio import studio; studio()"
        command = [sys.executable, "-c", script, "--no-browser", "--port", port]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        found = re.search(r"file://\S+", self.process.stdout.readline())
        if found is None:
            self.process.kill()
            raise AssertionError(self.process.communicate()[1])
        self.page = found[0]
        """The page in a file, as a browser is given it."""
        self.url = re.search(r"http://[\d.:]+", Path(url2pathname(urlsplit(self.page).path)).read_text())[0]

    def stop(self) -> None:
        """As Ctrl+C does."""
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE / 1000)


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Callable[..., Studio]]:
    """A function that begins a studio; ``recipe`` None begins without one."""
    begun = []

    def begin(
        recipe: str | None = RECIPE,
        *,
        dataset: str = "invented-town",
        title: str = "An invented town",
        language: str = "en",
        environment: dict[str, str] | None = None,
        port: str = "0",
    ) -> Studio:
        folder = tmp_path / "workspace"
        folder.mkdir(exist_ok=True)
        if not (folder / "people.csv").exists():
            write_people(folder / "people.csv")
        if recipe is not None:
            text = recipe.format(dataset=dataset, title=title, language=language)
            (folder / "recipe.toml").write_text(text, encoding="utf-8")
        begun.append(Studio(folder, environment, port))
        return begun[-1]

    yield begin
    for one in begun:
        if one.process.poll() is None:
            one.stop()


def write_people(path: Path, people: int = 3000) -> None:
    """Invented people around a town, as a steward's CSV."""
    draws = np.random.default_rng(7)
    places = draws.normal((35.7, 139.75), (0.05, 0.06), (people, 2)).round(5).tolist()
    sexes, ages = draws.choice(["f", "m"], people).tolist(), draws.integers(0, 100, people).tolist()
    lines = [
        f"{person},{north},{east},{sex},{age}"
        for person, ((north, east), sex, age) in enumerate(zip(places, sexes, ages, strict=True))
    ]
    path.write_text("person_id,latitude,longitude,sex,age\n" + "\n".join(lines) + "\n", encoding="utf-8")


def enter(page: Any, studio: Studio) -> None:
    """Open the page that leads to the link that works once."""
    page.goto(studio.page)
    arrive(page, "data")


def arrive(page: Any, name: str) -> None:
    """Wait until the page that a link leads to takes what is typed."""
    page.wait_for_url(f"**/{name}")
    page.wait_for_selector("html[data-ready=page]")


def visit(page: Any, studio: Studio, name: str, language: str | None = None) -> None:
    """Open one of the pages and wait until it works."""
    page.goto(f"{studio.url}/{name}" + (f"?language={language}" if language else ""))
    page.wait_for_selector("html[data-ready=page]")


@pytest.fixture(params=["en", "ja"])
def words(request: pytest.FixtureRequest) -> Words:
    """What the pages say, in either language."""
    return Words(request.param)


@pytest.fixture(scope="session")
def steps() -> Any:
    """The steps that walks share."""
    from types import SimpleNamespace

    return SimpleNamespace(enter=enter, arrive=arrive, visit=visit, write_people=write_people, recipe=RECIPE)
