"""The pages build without a warning, need no network, lead nowhere that is not there, and name every public name."""

import re
import subprocess
import sys
import zlib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRONT = sorted(ROOT.glob("*.md"))
TOPICS = (
    "anonymity",
    "local",
    "reconstruct",
    "reweight",
    "collector",
    "measure",
    "noise",
    "privacy",
    "recipe",
    "workflow",
    "errors",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The pages as HTML; a warning is an error."""
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", folder / "doctrees"]
    # Every name of the reference in the menu of every page would be a quarter of the work.
    command += ["-D", "toc_object_entries=0"]
    done = subprocess.run([*command, ROOT / "docs", folder / "html"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_the_pages_need_no_network(built):
    for page in built.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*\"", text)
        assert not loaded, page.name
    for sheet in built.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name


def test_every_public_name_is_in_the_reference(built):
    inventory = (built / "objects.inv").read_bytes().split(b"\n", 4)[4]  # below four lines about the project
    documented = {line.split()[0] for line in zlib.decompress(inventory).decode("utf-8").splitlines() if " py:" in line}
    for folder in ("sudare", *(f"sudare.{topic}" for topic in TOPICS)):
        module = import_module(folder)
        listed = [name for name in getattr(module, "__all__", vars(module)) if not name.startswith("_")]
        made_here = [name for name in listed if getattr(getattr(module, name), "__module__", "").startswith("sudare")]
        missing = {name for name in made_here if not documented & {f"{folder}.{name}", f"sudare.{name}"}}
        assert not missing, f"not in docs/reference/python: {folder} {sorted(missing)}"


@pytest.mark.parametrize("page", FRONT, ids=lambda page: page.name)
def test_the_front_pages_lead_somewhere(page):
    for address in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert address.startswith("https://") or (ROOT / address).exists(), f"{page.name}: {address}"
