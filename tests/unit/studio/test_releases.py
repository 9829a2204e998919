"""Files of releases: those that the certificate lists, and no other."""

import json

import pytest

from sudare.studio import releases
from sudare.studio.access import TICKET_SECONDS, Access
from sudare.studio.refusals import RequestError
from sudare.workflow.publication import publish


@pytest.fixture
def release(workspace):
    text = workspace.recipe.read_text().replace('folder = "release"', 'folder = "out/first"')
    workspace.recipe.write_text(text)
    publish(workspace.recipe)
    return "out/first"


def test_releases_are_found_by_their_certificates(workspace, release):
    (workspace.folder / "fake").mkdir()
    (workspace.folder / "fake" / "release.json").write_text("[]")
    (found,) = releases.listed(workspace)
    assert (found.folder, found.dataset, found.kind) == (release, "village", "table")
    assert found.files == ["datapackage.json", "release.json", "table.csv", "table.parquet"]


@pytest.mark.parametrize(
    "name",
    ["people.parquet", "recipe.toml", "out/first/secret.txt", "out/first", "out/first/../../recipe.toml", "", "x/y"],
)
def test_other_files_are_not_given_out(client, workspace, release, name):
    (workspace.folder / release / "secret.txt").write_text("SECRET")
    with pytest.raises(RequestError):
        releases.file_of(workspace, name)
    found = client.get("/releases/" + name)
    assert found.status_code == 404
    assert "SECRET" not in found.text


def test_files_of_a_release_are_given_out_without_rights(client, workspace, release):
    (workspace.folder / release / "report.html").write_text("<script>x</script>")
    found = client.get(f"/releases/{release}/report.html")
    assert found.text == "<script>x</script>"
    assert found.headers["content-security-policy"].startswith("sandbox allow-scripts;")
    assert "allow-same-origin" not in found.headers["content-security-policy"]
    data = client.get(f"/releases/{release}/table.parquet")
    assert data.content == (workspace.folder / release / "table.parquet").read_bytes()
    assert "attachment" in data.headers["content-disposition"]


def test_a_ticket_is_good_for_one_file_once(client, stranger, release):
    made = client.post("/api/tickets", json={"file": f"{release}/table.csv"})
    assert made.status_code == 201
    address = made.json()["address"]
    assert stranger.request("HEAD", address).status_code == 401
    other_site = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert stranger.get(address, headers=other_site).status_code == 403
    found = stranger.get(address)
    assert found.status_code == 200
    assert found.headers["content-security-policy"] == releases.REPORT_POLICY
    assert stranger.get(address).status_code == client.get(address).status_code == 404
    # A tab that is loaded again is led to where it gets another ticket, if it has the session.
    again = stranger.get(address, headers={"sec-fetch-dest": "document"})
    assert again.headers["location"] == "/report#file=out%2Ffirst%2Ftable.csv"
    for name in ("recipe.toml", "people.parquet", "../x", f"{release}/secret", ".sudare-studio/studio.db"):
        assert client.post("/api/tickets", json={"file": name}).status_code == 404, name
    assert stranger.post("/api/tickets", json={"file": f"{release}/table.csv"}).status_code == 403


def test_a_ticket_is_good_for_a_moment_only():
    now = [0.0]
    access = Access(clock=lambda: now[0])
    first, second = access.ticket_for("r/a.csv"), access.ticket_for("r/b.csv")
    now[0] = TICKET_SECONDS - 1
    assert access.spend(first) == ("r/a.csv", True)
    assert access.spend(first) == ("r/a.csv", False)
    now[0] = TICKET_SECONDS
    assert access.spend(second) == ("r/b.csv", False)
    assert access.spend("other") is None


def test_a_link_inside_a_release_that_leads_out_is_refused(client, workspace, release, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("SECRET")
    (workspace.folder / release / "table.csv").unlink()
    (workspace.folder / release / "table.csv").symlink_to(secret)
    assert client.get(f"/releases/{release}/table.csv").status_code == 404


def test_verify_says_what_it_found(client, workspace, release):
    right = client.post("/api/verify", json={"release": release}).json()
    assert right["ok"]
    assert any("signature" in check for check in right["checks"])
    path = workspace.folder / release / "release.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"title": "Other"}))
    wrong = client.post("/api/verify", json={"release": f"{release}/release.json"}).json()
    assert not wrong["ok"]
    assert "signature" in wrong["problem"]["message"]
    assert client.post("/api/verify", json={"release": "../x"}).status_code == 404
    assert not client.post("/api/verify", json={"release": "people.parquet"}).json()["ok"]
