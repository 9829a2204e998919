"""What the studio refuses is said in the language of the page; the parts stay as they were raised, for programs."""

import re

import pytest

from sudare.errors import Message, OutputError, ParameterError, RecipeError
from sudare.language.catalogue import ENGLISH, Words
from sudare.language.messages import PageMessage
from sudare.privacy import Fact
from sudare.privacy.notebook import fact_message
from sudare.recipe import Recipe
from sudare.studio.processes import Processes
from sudare.studio.protection import listed_facts
from sudare.studio.refusals import RequestError, error_parts, kept_error
from sudare.workflow.publication import publish

JAPANESE = Words("ja")
IN_JAPANESE = {"accept-language": "ja,en;q=0.5"}
# Names of keys, values and files stay as they are; three words in a row would be a sentence.
PROSE = re.compile(r"[A-Za-z]+ [a-z]+ [a-z]+")
WRONG_RECIPES = {
    "no TOML": ("[privacy]", "[privacy"),
    "a quote without end": ('dataset = "village"', 'dataset = "village'),
    "no number": ("epsilon = 0.5", 'epsilon = "many"'),
    "no table": ("cap = { epsilon = 20, delta = 1e-3 }", "cap = 1"),
    "negative": ("epsilon = 0.5", "epsilon = -1"),
    "two currencies": ("epsilon = 0.5", "epsilon = 0.5\nrho = 1"),
    "misspelt": ("epsilon = 0.5", "epsilo = 0.5"),
    "missing": ('dataset = "village"', ""),
    "another kind": ('kind = "table"', 'kind = "tabel"'),
    "another method": ('name = "tree"', 'name = "trie"'),
    "another parameter": ('name = "tree"', 'name = "tree"\ncut = 1'),
    "another type": ('type = "grid"', 'type = "grit"'),
    "one number of two": ("shape = [12, 20]", "shape = [12]"),
    "a grid of nothing": ("shape = [12, 20]", "shape = [0, 20]"),
    "twice": ('values = ["f", "m"]', 'values = ["f", "f"]'),
    "too few people": ("people = 2000", "people = 0"),
}


@pytest.mark.parametrize("name", WRONG_RECIPES)
def test_a_wrong_recipe_is_told_in_japanese(client, name):
    before, after = WRONG_RECIPES[name]
    text = client.get("/api/state").json()["text"]
    assert before in text
    body = {"text": text.replace(before, after), "based_on": 1}
    problem = client.request("PUT", "/api/recipe", json=body, headers=IN_JAPANESE).json()["problem"]
    assert re.search(r"[ぁ-ん]", problem["message"]), problem["message"]
    assert not PROSE.search(problem["message"]), problem["message"]
    english = client.get("/api/state").json()["problem"]
    assert english == {**problem, "message": english["message"]}
    assert not re.search(r"[ぁ-ん]", english["message"])


def test_a_refusal_speaks_the_language_that_was_asked_for(client, stranger):
    for headers, query in (({}, {"language": "ja"}), (IN_JAPANESE, {})):
        found = client.get("/api/jobs/none", headers=headers, params=query)
        assert (found.status_code, found.json()["error"]["message"]) == (404, "この処理はありません。")
    body = client.post("/api/undo", json={"based_on": "first"}, headers=IN_JAPANESE).json()["error"]
    assert body["message"] == "body.based_on が正しい形ではありません。整数を指定してください。"
    assert body["what"] == "body.based_on does not match the description of this address"
    assert "このタブでは" in stranger.get("/api/state", headers=IN_JAPANESE).json()["error"]["message"]
    assert "again" in stranger.get("/api/state").json()["error"]["message"]


def test_an_empty_budget_and_a_wrong_file_are_told_in_japanese(client, workspace):
    workspace.recipe.write_text(workspace.recipe.read_text().replace("epsilon = 20", "epsilon = 0.25"))
    page = client.get("/api/publish", headers=IN_JAPANESE).json()
    assert page["remarks_shown"][0].startswith(
        "データセット 'village' の予算が足りません。必要な epsilon は 0.5、残りは"
    )
    assert page["remarks"][0].startswith("data set 'village' has not enough budget left")
    for content, told in (
        (b"no Parquet", "ファイルの中身は テキスト ですが、名前では Parquet です"),
        (b"PAR1, and no more of it PAR1", "レコードを読めません"),
    ):
        (workspace.folder / "broken.parquet").write_bytes(content)
        found = client.get("/api/data", params={"file": "broken.parquet"}, headers=IN_JAPANESE).json()
        assert found["problem"]["message"].startswith(told)


def test_what_became_of_a_job_is_told_in_the_language_of_whoever_looks(workspace):
    processes = Processes(workspace)
    made = processes.tasks.add("publish", {"version": 1})
    problem = ParameterError("{name} is not positive", value=-1, allowed="a finite number > 0", name="epsilon")
    processes.tasks.move(made.id, ("waiting",), "failed", error=kept_error(problem))
    failed = processes.tasks.get(made.id)
    said = error_parts(problem)
    assert failed.status(ENGLISH).error == said
    japanese = failed.status(JAPANESE).error
    message = "epsilon が正の数ではありません（値：-1、許容：0 より大きい有限の数）。"
    assert japanese == said.model_copy(update={"message": message})
    assert made.status(JAPANESE).error is None
    with pytest.raises(RequestError):
        processes.tasks.get("none")


def test_a_release_is_verified_in_japanese(client, workspace):
    publish(workspace.recipe)
    body = {"release": "release"}
    found = client.post("/api/verify", json=body, headers=IN_JAPANESE).json()
    assert found["ok"]
    assert found["checks"][1] == "保証：差分プライバシー（ε = 0.5）"
    assert all(re.search(r"[ぁ-んァ-ン]", check) and not PROSE.search(check) for check in found["checks"])
    assert client.post("/api/verify", json=body).json()["checks"][1].startswith("guarantee: epsilon-DP")


def test_the_headline_of_every_kind_is_in_japanese():
    lines = {
        "cells_listed": PageMessage("amount.of", part=12, whole=64),
        "released_total": 600,
        "published_rows": PageMessage("amount.in_classes", rows=120, classes=8),
        "loss": PageMessage("amount.of_one", share="0.125"),
        "linked": PageMessage("amount.one_in_at_most", k="5"),
        PageMessage("line.noise_of", column="row"): PageMessage("noise.laplace", scale="6"),
        PageMessage("line.warning", number=1): fact_message(Fact("few_public_rows", effective="3.0", all="400")),
    }
    refusal = OutputError("the page cannot be written: {reason}", reason=Message("Permission denied"))
    for line in listed_facts(lines, JAPANESE):
        assert re.search(r"[ぁ-んァ-ン一-龥]", line["name"]), line
        assert not re.search(r"[A-Za-z]{4,}", line["value"]), line
    left_out = PageMessage("left_out.report", reason=refusal)
    assert left_out.text(JAPANESE).startswith(
        "公表用レポートは作られませんでした：ページを書き込めません：アクセスが許可されていません"
    )
    assert listed_facts(lines, ENGLISH)[0] == {"name": "cells listed", "value": "12 of 64"}
    assert str(left_out) == "the report is left out: the page cannot be written: Permission denied"


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"path": "a.csv", "counts": "n"}, ["data", "unit_name"]),
        ({"path": "a.csv", "max_rows": 0}, ["data", "max_rows"]),
        ({}, ["data", "path"]),
    ],
)
def test_a_mistake_in_a_recipe_says_which_control_it_is_about(data, place):
    with pytest.raises(RecipeError) as refusal:
        Recipe(kind="table", dataset="town", data=data, domain={}, privacy={"epsilon": 1}, output={"folder": "out"})
    assert error_parts(refusal.value).place == place
    assert {each["place"][-1] for each in kept_error(refusal.value).values()} == {place[-1]}
