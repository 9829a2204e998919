"""A kind and a method of another package: named in a recipe, planned, rehearsed, published, verified and drawn."""

import json
from importlib.metadata import EntryPoints
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import sudare as sd
from sudare import registry
from sudare.cli import main
from sudare.errors import RecipeError, SudareError
from sudare.workflow.job import Job, json_schema
from sudare.workflow.pages import draw_report
from sudare.workflow.pending import versions

MODULE = '''
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from sudare.errors import VerificationError
from sudare.noise import Source, measure, metered, secret
from sudare.privacy import Budget, Guarantee, exact
from sudare.recipe.parts import Amount
from sudare.recipe.kind import Kind, Outlook, Rehearsal
from sudare.recipe.model import Recipe
from sudare.recipe.parts import Part
from sudare.render import Facts, Section


class Choice(Part):
    column: str
    most: int
    epsilon: Amount


class AverageRecipe(Recipe):
    kind: Literal["average"]
    average: Choice


@dataclass(frozen=True)
class Average:
    mean: float
    guarantee: Guarantee

    @property
    def summary(self):
        return {"kind": "average", "mean": self.mean}


@dataclass(frozen=True)
class AverageKind(Kind[AverageRecipe, Average]):
    shape = AverageRecipe

    @cached_property
    def guarantee(self):
        return Guarantee.pure(exact(self.recipe.average.epsilon), self.recipe.data.protected_unit())

    def dry_run(self):
        self.protect(np.zeros(3, dtype=np.int64), Source.from_seed(0))

    def gather(self, source):
        data, column = self.recipe.data, self.recipe.average.column
        key = secret(source, "choice of rows").to_bytes(16, "big")
        found = self.records().values([column], data.unit, data.max_rows, key, data.rows_without_unit())[column]
        return np.clip(np.rint(found), 0, self.recipe.average.most).astype(np.int64)

    def protect(self, data, source):
        choice, rows = self.recipe.average, self.recipe.data.protected_unit().max_rows
        budget = Budget(epsilon=exact(choice.epsilon))
        half = budget.times(Fraction(1, 2))
        with metered() as meter:
            total = measure(np.array([data.sum()]), rows * choice.most, half, source, "sum")
            people = measure(np.array([len(data)]), rows, half, source, "people")
        meter.check(budget)
        mean = float(np.clip(total[0] / max(people[0], 1), 0, choice.most))
        return Average(mean, self.guarantee.without_protection() if source.seeded else self.guarantee)

    def write(self, made, folder):
        path = folder / "average.json"
        path.write_text(json.dumps({"mean": made.mean}), encoding="utf-8")
        return {"json": path}

    def headline(self, made):
        return {"mean": f"{made.mean:.2f}"}

    def outlook(self):
        choice = self.recipe.average
        return Outlook({"column": choice.column}, {"column": choice.column}, [], "nothing was tried")

    def rehearse(self, seed, progress):
        people = np.random.default_rng(seed).integers(0, self.recipe.average.most + 1, 1000)
        made = self.protect(people, Source.from_seed(seed))
        errors = [{"error": abs(made.mean - people.mean())}]
        return Rehearsal("1,000 invented people", made, errors, 1, self.headline(made))

    @staticmethod
    def check(folder, certificate):
        if json.loads((folder / "average.json").read_text())["mean"] != certificate["summary"]["mean"]:
            raise VerificationError("the mean is not the certified one")
        return ["average.json: the mean agrees"]

    @staticmethod
    def public_sections(folder, certificate, words):
        return [Section("An average", (Facts({"mean": words.number(certificate["summary"]["mean"])}),))]


@dataclass(frozen=True)
class Blocks:
    """Blocks of 2**level neighbours, measured once and spread evenly."""

    level: int = 2
    name = "own_blocks"
    uses_total = False

    @property
    def parameters(self) -> dict[str, Any]:
        return {"level": self.level}

    def protect(self, task):
        size = 1 << self.level
        sums = np.zeros(task.domain.size // size, dtype=np.int64)
        block, value = task.table.block_sums(self.level)
        sums[block] = value
        noisy = measure(sums, task.sensitivity, task.budget, task.source, "blocks")
        cells = np.repeat(np.maximum(noisy, 0) // size, size)
        index = np.flatnonzero(cells)
        return index, cells[index]

    def block_error(self, budget, sensitivity, cells, domain=None):
        return None
'''
ENTRIES = """
[sudare.kinds]
average = own_package:AverageKind

[sudare.methods]
own_blocks = own_package:Blocks
"""
AVERAGE = {
    "kind": "average",
    "dataset": "village",
    "data": {"path": "people.parquet", "unit": "person"},
    "average": {"column": "age", "most": 100, "epsilon": 1.5},
    "ledger": {"path": "ledger.db", "cap": {"epsilon": 3}},
    "output": {"folder": "out"},
}
TABLE = {
    "dataset": "village",
    "data": {"path": "people.parquet", "unit": "person"},
    "domain": {"age": {"type": "line", "length": 128}},
    "method": {"name": "own_blocks", "level": 4},
    "privacy": {"epsilon": 0.5},
    "ledger": {"path": "ledger.db", "cap": {"epsilon": 1}},
    "output": {"folder": "table"},
    "rehearsal": {"people": 2000, "repetitions": 1},
}


def install(folder: Path, name: str, entries: str) -> None:
    """What an installer leaves of a package beside its modules."""
    facts = folder / f"{name}-1.2.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (facts / "entry_points.txt").write_text(entries)


@pytest.fixture
def village(tmp_path, monkeypatch) -> Path:
    packages = tmp_path / "packages"
    install(packages, "own_package", ENTRIES)
    (packages / "own_package.py").write_text(MODULE)
    monkeypatch.syspath_prepend(packages)
    ages = np.random.default_rng(1).integers(0, 100, 2000)
    pq.write_table(pa.table({"person": np.arange(2000), "age": ages}), tmp_path / "people.parquet")
    return tmp_path


@pytest.mark.parametrize(("recipe", "file"), [(AVERAGE, "average.json"), (TABLE, "table.parquet")])
def test_what_another_package_adds_goes_through_every_verb(village, recipe, file):
    kind, folder = recipe.get("kind", "table"), recipe["output"]["folder"]
    plan = sd.plan(recipe, folder=village)
    assert plan.kind == kind
    assert plan.remarks == ()
    rehearsal = sd.rehearse(recipe, folder=village)
    assert rehearsal.release.guarantee.notion == "none: seeded"
    made = sd.publish(recipe, folder=village)
    assert made.balance.spent.epsilon == sd.privacy.exact(plan.guarantee.epsilon)
    assert file in made.certificate["files"]
    verified = sd.verify(village / folder)
    assert any(str(check).startswith(file) for check in verified.checks)
    assert "age" in json.dumps(plan.to_json())
    drawn = draw_report(village / folder, language="ja", key=village / "sudare-publisher.pem")
    assert drawn.certified


def test_the_command_line_knows_them_too(village):
    recipe = sd.Recipe(**AVERAGE).write(village / "average.toml")
    for command in ("plan", "rehearse", "publish"):
        done = CliRunner().invoke(main, [command, str(recipe)])
        assert done.exit_code == 0, done.output
    page = (village / "out" / "report.html").read_text()
    assert "An average" in page
    assert CliRunner().invoke(main, ["verify", str(village / "out")]).exit_code == 0
    assert '"AverageRecipe"' in json.dumps(json_schema())


def test_a_changed_file_of_an_own_kind_does_not_verify(village):
    sd.publish(AVERAGE, folder=village)
    (village / "out" / "average.json").write_text('{"mean": 1.0}')
    with pytest.raises(SudareError, match="differs from the one that was certified"):
        sd.verify(village / "out")


def test_keys_of_an_own_method_are_checked(village):
    wrong = {**TABLE, "method": {"name": "own_blocks", "levle": 4}}
    with pytest.raises(RecipeError, match=r"^unknown key method\.levle in the recipe"):
        sd.plan(wrong, folder=village)
    with pytest.raises(RecipeError, match="method own_blocks has no parameter cut"):
        sd.plan({**TABLE, "method": {"name": "own_blocks", "cut": 4}}, folder=village)


def test_the_hash_of_a_recipe_does_not_depend_on_what_is_installed(village, monkeypatch):
    recipe = {**TABLE, "method": {"name": "simplex"}}
    with_package = Job.open(recipe, village).recipe_sha256
    monkeypatch.undo()
    assert Job.open(recipe, village).recipe_sha256 == with_package


def test_a_release_is_resumed_by_the_same_version_of_the_package_only(village):
    assert versions()["own_package"] == "1.2"


def test_names_are_listed_without_importing_and_refusals_name_the_nearest(tmp_path, monkeypatch):
    install(tmp_path, "broken", "[sudare.kinds]\naveragee = broken.module:Kind\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "averagee" in registry.KINDS
    with pytest.raises(RecipeError, match=r"no such kind of recipe .*Did you mean 'averagee'"):
        sd.plan({"kind": "averages"})
    with pytest.raises(SudareError, match=r"averagee of sudare\.kinds cannot be loaded.*package broken again"):
        sd.plan({"kind": "averagee"})


def test_a_name_has_one_owner(tmp_path, monkeypatch):
    install(tmp_path, "usurper", "[sudare.kinds]\ntable = usurper:Kind\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SudareError, match=r"both register table in sudare\.kinds"):
        sd.plan({"kind": "table"})


def test_a_package_that_is_not_installed_says_so(monkeypatch):
    monkeypatch.setattr(registry, "entry_points", lambda: EntryPoints(()))
    monkeypatch.setattr("sys.path", ["elsewhere"])
    with pytest.raises(SudareError, match=r"^Sudare is not installed: no entry points of sudare\.kinds are found"):
        list(registry.KINDS)
