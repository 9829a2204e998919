"""A workspace with a small recipe of each kind, and clients that speak to the studio in this process."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from recipes import SEX, closing, opening
from sudare.studio.access import Access
from sudare.studio.app import create_app
from sudare.studio.guards import Guard
from sudare.studio.service import StudioService
from sudare.studio.workspace import Workspace

HOST = "127.0.0.1:8400"
ONCE = closing("epsilon = 20, delta = 1e-3", rehearsal="people = {people}\nrepetitions = 1")
COLUMNS = """
[columns.row]
bounds = [0, 12]

[columns.sex]
categories = ["f", "m"]
"""


def recipe(start: str, middle: str, people: int) -> str:
    return start + middle + ONCE.replace("{people}", str(people))


TABLE = recipe(
    """# A village.
kind = "table"
dataset = "village"   # as the ledger knows it

[data]
path = "people.parquet"
unit = "person"
""",
    f"""
[domain.cell]
type = "grid"
shape = [12, 20]
from = ["row", "column"]
{SEX}
[method]
name = "tree"

[privacy]
epsilon = 0.5
""",
    2000,
)
SAMPLE = recipe(
    opening("sample", "survey"),
    """
[hierarchies.row]
widths = [1, 4]
low = 0
high = 12

[hierarchies.sex]
values = ["f", "m"]

[sample]
k = 10
rate = 0.2
epsilon = 1.0
levels = { row = 1, sex = 0 }
""",
    2000,
)
PERTURBATION = recipe(opening("perturbation", "staff", unit=False), COLUMNS + "\n[perturbation]\nepsilon = 2.0\n", 500)
WEIGHTS = recipe(
    opening("weights", "nurses", unit=False) + '\n[public]\npath = "public.csv"\n',
    COLUMNS + "\n[weights]\nepsilon = 1.0\n",
    500,
)
KINDS = {"table": TABLE, "sample": SAMPLE, "perturbation": PERTURBATION, "weights": WEIGHTS}


class Browser:
    """Requests to an application in this process, one after the other, with ``headers`` and cookies kept."""

    def __init__(self, app, **headers: str) -> None:
        transport = httpx.ASGITransport(app)
        self._runner = asyncio.Runner()
        self._client = httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=headers)
        self.headers, self.cookies = self._client.headers, self._client.cookies

    def request(self, method: str, path: str, **options) -> httpx.Response:
        return self._runner.run(self._client.request(method, path, **options))

    def get(self, path: str, **options) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options) -> httpx.Response:
        return self.request("POST", path, **options)

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()


def people(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "person": rng.permutation(rows),
            "row": np.clip(rng.normal(6, 2, rows), 0, 11).astype(np.int64),
            "column": rng.integers(0, 20, rows),
            "sex": np.where(rng.random(rows) < 0.5, "f", "m"),
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(people(600, 1), tmp_path / "people.parquet")
    csv.write_csv(people(400, 2), tmp_path / "public.csv")
    (tmp_path / "recipe.toml").write_text(TABLE)
    return tmp_path


@pytest.fixture
def workspace(folder: Path) -> Workspace:
    return Workspace.open(folder / "recipe.toml")


@pytest.fixture
def service(workspace: Workspace):
    made = StudioService(workspace, upload_bytes=50_000)
    yield made
    made.close()


class Placeholder:
    """Stands for the service, or the access, of whichever test runs: the application itself takes a while to build."""

    now: StudioService | Access

    def __getattr__(self, name: str):
        return getattr(self.now, name)


@pytest.fixture(scope="session")
def application():
    places = Placeholder(), Placeholder()
    return places, create_app(*places)


@pytest.fixture
def guarded(service: StudioService, application):
    """The whole application and the access to it, before the link was opened."""
    (service_place, access_place), app = application
    service_place.now, access_place.now = service, (access := Access())
    return Guard(app, access, frozenset({HOST})), access


@pytest.fixture
def stranger(guarded):
    """A browser that has not opened the link."""
    made = Browser(guarded[0])
    yield made
    made.close()


@pytest.fixture
def client(guarded):
    """A browser that has opened the link."""
    app, access = guarded
    made = Browser(app, origin=f"http://{HOST}")
    opened = made.post("/api/session", json={"token": access.token})
    made.headers["authorization"] = f"Bearer {opened.json()['session']}"
    yield made
    made.close()


@pytest.fixture
def kinds() -> dict[str, str]:
    """A recipe of each kind for the files of the workspace."""
    return KINDS
