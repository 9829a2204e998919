"""Malformed requests to a studio over real sockets, and Schemathesis: each is refused, and nothing has changed.

300 malformed ones in the quick form and 20,000 in the full one. Schemathesis runs in the full form; a quick run of it,
in one process with the studio, is among the tests of the web.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fault_changes import CANARIES
from fault_requests import Mischief, answer_to
from fault_studio import RECIPE, Studio
from hypothesis import HealthCheck, Phase, given, settings

QUICK, FULL = 300, 20_000
EXAMPLES = 150
VERSION = 2
STRICT = ("/api/mesh", "/api/protect", "/api/charts/{chart}.svg", "/api/charts/expected.svg")
"""Of what is only read, the addresses that do not take just any text."""
KEYS = ("privacy.epsilon", "domain.town", "data.path", "method.name", "ledger.path", "domain.town.values", "title")
NAMES = (
    "",
    "..",
    "%2e%2e",
    ".hidden.csv",
    "a%2Fb.csv",
    "a%5Cb.csv",
    "x.exe",
    "recipe.toml",
    "ledger.db",
    "LEDGER.DB",
    "sudare-ledger.db",
    "people.parquet",
    "%00.csv",
)


class BadChanges(Mischief):
    """Requests to a studio whose recipe is at version 2 and that changes nothing of it."""

    def __init__(self, studio: Studio, seed: int | None) -> None:
        good = {"based_on": VERSION, "text": "dataset = 'other'"}
        super().__init__("PUT /api/recipe", studio.headers, lambda: dict(good), seed)

    def bad_value(self) -> bytes:
        return self.http(
            self.good() | {self.dice.choice(["based_on", "text"]): self.dice.choice([None, [], {}, [[]], -1])}
        )

    def bad_junk(self) -> bytes:
        return self.http(self.good() | {"based_on": self.junk()})

    def bad_version(self) -> bytes:
        stale = self.dice.choice([0, 1, 3, 2**31, 2**53 - 1, 2**53, 2**64, -2, 2.5, 10**400])
        return self.http(self.good() | {"based_on": stale})

    def bad_keys(self) -> bytes:
        body = self.good()
        if self.dice.random() < 0.5:
            body[self.dice.choice(["changes", "force", "", "__proto__"])] = self.junk()
        else:
            del body[self.dice.choice(["based_on", "text"])]
        return self.http(body)

    def bad_text(self) -> bytes:
        return self.http(self.good() | {"text": self.dice.choice(["a\x00b", "簾" * 400_000, "\x00"])})

    def bad_size(self) -> bytes:
        return self.http(b" " * self.dice.choice([1_000_001, 3_000_000]) + b"x")

    def bad_change(self) -> bytes:
        changes: dict[str, Any] = self.dice.choice(
            [
                {},
                {"": 1},
                {"a..b": 1},
                {"a = 1\nb": 1},
                {".".join("abcdefghijklmnop"): 1},
                {"dataset.name": 1},
                {"title": [None]},
                {"title": "\ud800"},
                {f"k{number}": 1 for number in range(201)},
                {"[" * 3000: 1},
            ]
        )
        return self.http({"based_on": VERSION, "changes": changes}, "PATCH")

    def bad_method(self) -> bytes:
        method = self.dice.choice(["GET", "POST", "DELETE", "TRACE", "BREW", "CONNECT"])
        return self.http(self.good(), method)

    def bad_path(self) -> bytes:
        paths = [
            "/api/recipes",
            "/API/STATE",
            "//api/state",
            "/api/state/",
            "/static/../api.py",
            "/static/%2e%2e/api.py",
        ]
        paths += ["/releases/recipe.toml", "/releases/people.parquet", "/releases/..%2f..%2fetc%2fpasswd", "/releases/"]
        paths += ["/.sudare-studio/studio.db", "/releases/.sudare-studio/studio.db", "/releases/ledger.db", "/docs"]
        return self.http(b"", "GET", self.dice.choice([*paths, "/" + "a" * 5000, "/%00", "/api/jobs/%00"]))

    def bad_query(self) -> bytes:
        box = {"level": "500m", "south": "35", "west": "139", "north": "36", "east": "140"}
        wrong = ["", "nan", "inf", "1e999", "-1e9", "x", "35,5", "٣", "[]", "1" * 400]
        box[self.dice.choice(list(box))] = self.dice.choice(wrong)
        mesh = "/api/mesh?" + "&".join(f"{name}={quote(value)}" for name, value in box.items())
        value = self.dice.choice(["0", "-1", "nan", "inf", "x", "1e999"])
        others = [f"/api/protect?epsilon={value}", f"/api/charts/expected.svg?width={value}"]
        return self.http(b"", "GET", self.dice.choice([mesh, *others]))

    def bad_upload(self) -> bytes:
        announced = {"content-length": "99999999999"} if self.dice.random() < 0.2 else {}
        path = f"/api/files/{'new.csv' if announced else self.dice.choice(NAMES)}"
        return self.http(b"a\n1\n", "POST", path, {"content-type": "application/octet-stream", **announced})

    def bad_name(self) -> bytes:
        name = self.dice.choice(["x", "0" * 16, "..", "../..", "a" * 3000, "'; DROP TABLE jobs", "簾", "\x00"])
        asked = [("GET", "jobs/"), ("DELETE", "jobs/"), ("GET", "rehearsals/"), ("POST", "versions/")]
        method, place = self.dice.choice(asked)
        return self.http({"based_on": VERSION} if method == "POST" else b"", method, f"/api/{place}{quote(name)}")

    def bad_job(self) -> bytes:
        path, body = self.dice.choice(
            [
                ("publish", {"based_on": VERSION, "confirm": self.dice.choice(["", "Village", "village ", "x"])}),
                ("publish", {"based_on": VERSION, "confirm": self.junk(), "dataset": "village"}),
                ("rehearse", {"based_on": VERSION, "other": self.dice.choice([0, 77, -1, "x"])}),
                ("verify", {"release": self.dice.choice(["..", "/etc", ".sudare-studio", "", "a\x00", "x" * 5000])}),
                ("undo", {"based_on": VERSION + 1}),
                ("redo", {"based_on": VERSION}),
            ]
        )
        return self.http(body, "POST", f"/api/{path}")

    def bad_token(self) -> bytes:
        token = self.dice.choice(["", "x", "\x00", "\ud7ff", "é", "a" * 2000])
        return self.http({"token": token}, "POST", "/api/session", {"authorization": None})

    def bad_ticket(self) -> bytes:
        ticket = self.dice.choice(["", "x", "\x00", "..", "é", "a" * 2000])
        if self.dice.random() < 0.5:
            return self.http(b"", "GET", f"/tickets/{quote(ticket)}", {"authorization": None})
        file = self.dice.choice(["recipe.toml", "people.parquet", "../x", "/etc/passwd", ".sudare-studio/studio.db"])
        return self.http({"file": file}, "POST", "/api/tickets")

    def bad_session(self) -> bytes:
        given = self.dice.choice([None, "", "Bearer", "Bearer ", "Basic eDp5", "Bearer " + "a" * 2000, "bearer x y"])
        return self.http(self.good(), headers={"authorization": given})


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    pytest.importorskip("tomlkit", reason="the studio is not installed: pip install 'sudare[studio]'")
    opened = Studio.open(tmp_path)
    yield opened
    alive = opened.process.poll() is None
    opened.kill()
    assert alive


def files_of(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_malformed_requests_are_refused_and_change_nothing(studio, tmp_path, full):
    assert studio.ask("PATCH", "/api/recipe", {"based_on": 1, "changes": {"title": "v"}})[1]["version"] == VERSION
    before = (tmp_path / "recipe.toml").read_bytes(), files_of(tmp_path)
    mischief = BadChanges(studio, seed=None if full else 21)
    answers: Counter[tuple[str, int | None]] = Counter()
    for _ in range(FULL if full else QUICK):
        kind, request = mischief.request()
        answers[kind, answer_to(studio.port, request)] += 1
    wrong = {pair: count for pair, count in answers.items() if pair[1] is None or not 400 <= pair[1] < 500}
    assert wrong == {}
    assert {kind for kind, _ in answers} == {kind.__name__ for kind in mischief.kinds}
    assert ((tmp_path / "recipe.toml").read_bytes(), files_of(tmp_path)) == before
    assert studio.ask("GET", "/api/state")[1]["version"] == VERSION
    assert studio.ask("GET", "/api/publish")[1]["job"] is studio.ask("GET", "/api/rehearse")[1]["job"] is None
    print(f"{sum(answers.values()):,} malformed requests of {len(mischief.kinds)} kinds to the studio")


def answers_of(studio: Studio, operation: Any, mode: Any, checks: list[Any]) -> Counter[int]:
    """The statuses of requests of one sort, each answer checked against its description."""
    statuses: Counter[int] = Counter()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        body, number = case.body, statuses.total()
        if isinstance(body, dict) and isinstance(body.get("based_on"), int) and number % 2 == 0:
            # The version of the moment, so that it gets past the first check.
            body["based_on"] = studio.ask("GET", "/api/state")[1]["version"]
            if isinstance(body.get("changes"), dict) and body["changes"]:
                body["changes"] = {KEYS[number % len(KEYS)]: next(iter(body["changes"].values()))}
        answer = case.call_and_validate(headers=studio.headers, checks=checks)
        assert not any(canary.encode() in answer.content for canary in CANARIES)
        statuses[answer.status_code] += 1

    check()
    return statuses


def test_schemathesis_finds_no_answer_that_is_not_described(studio, tmp_path, full):
    schemathesis = pytest.importorskip("schemathesis", reason="Schemathesis runs where it is installed: 'sudare[fuzz]'")
    if not full:
        pytest.skip("Schemathesis runs against a process of its own with --full")
    known = schemathesis.checks
    expected = [known.not_a_server_error, known.status_code_conformance, known.content_type_conformance]
    expected += [known.response_headers_conformance, known.response_schema_conformance]
    schema = schemathesis.openapi.from_url(f"http://{studio.host}/api/openapi.json", headers=studio.headers)
    answers: Counter[int] = Counter()
    operations = [found.ok() for found in schema.get_all_operations()]
    for operation in operations:
        has_json = operation.method.upper() not in ("GET", "DELETE") and not operation.path.startswith("/api/files")
        right, wrong = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
        for mode in (right, wrong) if has_json or operation.path in STRICT else (right,):
            version = studio.ask("GET", "/api/state")[1]["version"]
            assert studio.ask("PUT", "/api/recipe", {"based_on": version, "text": RECIPE})[0] == 200
            answers += answers_of(studio, operation, mode, expected)
    assert {200, 404, 409, 422} <= set(answers)
    assert not (tmp_path / "ledger.db").exists()
    assert not (tmp_path / "release").exists()
    print(f"{answers.total():,} requests by Schemathesis over {len(operations)} operations of the studio")
