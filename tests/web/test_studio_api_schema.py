"""The studio against its own OpenAPI description: whatever is sent, the answer is a described one and never a 5xx.

Schemathesis makes requests from the description, right and wrong ones. Half of those that change something are given
the version of the moment, so that they get past the first check. 8 of each sort here; ``SUDARE_SCHEMA_EXAMPLES=200``
sends as many as it says.
"""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from sudare.studio.access import Access
from sudare.studio.app import create_app
from sudare.studio.guards import Guard
from sudare.studio.service import StudioService
from sudare.studio.workspace import Workspace

schemathesis = pytest.importorskip("schemathesis", reason="Schemathesis is not installed")
from schemathesis import checks  # noqa: E402 - where it is installed
from schemathesis.python import asgi  # noqa: E402 - as above

EXAMPLES = int(os.environ.get("SUDARE_SCHEMA_EXAMPLES", "8"))
HOST = asgi.HOST
MODES = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
STRICT = ("/api/mesh", "/api/protect", "/api/charts/{chart}.svg", "/api/charts/expected.svg")
"""Of what is only read, the addresses that do not take just any text."""
KEYS = ("privacy.epsilon", "domain.place", "data.path", "method.name", "ledger.path", "domain.place.length", "title")
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
RECIPE = """
kind = "table"
dataset = "village"
[data]
path = "people.parquet"
[domain]
place = { type = "line", length = 8 }
[privacy]
epsilon = 0.5
[ledger]
cap = { epsilon = 1.0 }
[output]
folder = "release"
[rehearsal]
people = 100
repetitions = 1
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("studio")
    (folder / "recipe.toml").write_text(RECIPE)
    pq.write_table(pa.table({"place": [0, 1, 5]}), folder / "people.parquet")
    made = StudioService(Workspace.open(folder / "recipe.toml"), upload_bytes=10_000)
    yield made
    made.close()
    for task in made.processes.tasks.listed():
        if task.can_cancel:
            made.processes.tasks.cancel(task.id)


def test_whatever_is_sent_is_answered_as_described(service):
    access = Access()
    app = Guard(create_app(service, access), access, frozenset({HOST}))
    headers = {"origin": f"http://{HOST}", "authorization": f"Bearer {access.redeem(access.token)}"}
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app, headers=headers)
    seen = {}
    for operation in (found.ok() for found in schema.get_all_operations()):
        has_json = operation.method.upper() not in ("GET", "DELETE") and not operation.path.startswith("/api/files")
        can_be_wrong = has_json or operation.path in STRICT
        for mode in MODES if can_be_wrong else MODES[:1]:
            service.versions.edit(RECIPE, service.versions.current().version)
            answers = _answers(service, operation, mode, headers)
            seen.setdefault(operation.label, set()).update(answers)
    assert len(seen) >= 25
    assert {200, 404, 409, 422} <= set.union(*seen.values())
    assert 200 in seen["PATCH /api/recipe"]
    assert service.versions.current().version > 5
    assert not (service.workspace.folder / "sudare-ledger.db").exists()
    assert not (service.workspace.folder / "release").exists()


def _answers(service, operation, mode, headers):
    """The statuses of some requests of one kind, each checked against the description."""
    statuses = []

    @seed(20_240_229)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case):
        if isinstance(case.body, dict) and isinstance(case.body.get("based_on"), int) and len(statuses) % 2 == 0:
            case.body["based_on"] = service.versions.current().version
            if case.body.get("changes"):
                known = KEYS[len(statuses) % len(KEYS)]
                case.body["changes"] = {known: next(iter(case.body["changes"].values()))}
        statuses.append(case.call_and_validate(headers=headers, checks=CHECKS).status_code)

    check()
    return set(statuses)
