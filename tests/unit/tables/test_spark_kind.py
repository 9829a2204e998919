"""Recipes with engine = "spark": counted there and released here, or released there in parts."""

import json
import shutil
from fractions import Fraction

import pyarrow.parquet as pq
import pytest

import sudare as sd
from in_process import InProcessStore
from recipes import MESH, SEX, changed, villagers
from sudare.errors import BudgetError, InputError, PaidError, ParameterError, RecipeError, VerificationError
from sudare.language.catalogue import Words
from sudare.language.messages import PageMessage
from sudare.privacy import Ledger
from sudare.tables.spark import ClusterTable, release
from sudare.tables.spark_kind import ClusterTableKind
from sudare.workflow.job import Job

RECIPE = f"""
dataset = "village"

[data]
path = "people.parquet"
unit = "person"
outside = "drop"
engine = "spark"
release = "cluster"
{MESH}{SEX}
[privacy]
epsilon = 0.5

[ledger]
path = "ledger.db"
cap = {{ epsilon = 1.0 }}

[output]
folder = "release"
"""


@pytest.fixture
def recipe(tmp_path):
    """A village, and a recipe that takes changes."""
    pq.write_table(villagers(2000), tmp_path / "people.parquet")

    def write(*changes):
        (tmp_path / "recipe.toml").write_text(changed(RECIPE, *changes))
        return tmp_path / "recipe.toml"

    return write


def test_a_publication_in_parts_can_be_verified(spark, recipe, tmp_path):
    made = sd.publish(recipe())
    names = {path.name for path in made.folder.iterdir()}
    assert names == {"part-000000.parquet", "release.json", "report.html", "reports.json"}
    assert Ledger(tmp_path / "ledger.db").balance("village").spent.epsilon == Fraction(1, 2)
    certificate = json.loads((made.folder / "release.json").read_text())
    assert certificate["files"]["part-000000.parquet"]["format"] == "parquet"
    assert certificate["guarantee"]["notion"] == "epsilon-DP"
    assert certificate["summary"]["total"] == made.release.table().total
    assert made.headline["parts"] == 1
    assert "1 parts" not in str(sd.verify(made.folder).to_json()["checks"])
    written = pq.read_table(made.folder / "part-000000.parquet")
    assert written.column_names == ["index", "mesh", "sex", "count"]
    # Nothing is left beside the release: no scratch with exact counts, no staging.
    assert {path.name for path in tmp_path.iterdir()} == {
        "ledger.db",
        "ledger.db.key",
        "people.parquet",
        "recipe.toml",
        "release",
        "sudare-publisher.pem",
    }
    halves(made.folder, certificate, tmp_path)


def halves(folder, certificate, tmp_path):
    """The same release as two parts, signed anew: verified as one table; what is wrong across parts is found."""
    from sudare.privacy.fingerprint import file_digest as digest
    from sudare.workflow import reports as signing
    from sudare.workflow.reports import canonical

    table = pq.read_table(folder / "part-000000.parquet")
    middle = table.num_rows // 2
    key = signing.load_or_create(tmp_path / "sudare-publisher.pem")

    def signed(first, second):
        target = tmp_path / "halves"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        body = {name: value for name, value in certificate.items() if name != "signature"}
        body["files"] = {}
        for number, part in enumerate((first, second)):
            path = target / f"part-{number:06d}.parquet"
            pq.write_table(part, path)
            facts = {"format": "parquet", "sha256": digest(path), "bytes": path.stat().st_size}
            body["files"][path.name] = facts
        text = json.dumps({**body, "signature": key.sign(canonical(body)).hex()})
        (target / "release.json").write_text(text)
        return target

    checks = sd.verify(signed(table.slice(0, middle), table.slice(middle))).checks
    assert str(checks[-1]) == "2 parts: cells in the domain, sum, signs and integrality agree"
    with pytest.raises(VerificationError, match=r"twice or out of order .*part-000001"):
        sd.verify(signed(table.slice(middle), table.slice(0, middle)))
    with pytest.raises(VerificationError, match=r"twice or out of order .*part-000001"):
        sd.verify(signed(table, table.slice(0, 1)))
    with pytest.raises(VerificationError, match="the table's nonzero_cells is not the certified one"):
        sd.verify(signed(table.slice(0, middle), table.slice(middle + 1)))
    (tmp_path / "halves" / "part-000001.parquet").unlink()
    with pytest.raises(VerificationError, match=r"a file of the release is missing .*part-000001"):
        sd.verify(tmp_path / "halves")


def test_a_table_too_large_to_be_shown_has_a_short_page(recipe, tmp_path, monkeypatch):
    job = Job.open(recipe())
    table = sd.CountTable(job.kind.here.domain, [3, 40], [30, 50])
    there = ClusterTable(table.domain, table.unit, InProcessStore(table.index, table.count))
    made = release(there, tmp_path / "parts", epsilon=5, seed=1)
    words = Words("ja")
    files = {part.name: {"format": "parquet"} for part in made.parts}
    # A seeded release promises nothing, and has no budget to be read from its certificate.
    stated = {"guarantee": job.guarantee.to_json(), **job.kind.certified(made), "summary": made.summary, "files": files}
    sections = job.kind.public_sections(tmp_path / "parts", stated, words)
    assert len(sections) == 4  # with the map, the errors and the method
    monkeypatch.setattr("sudare.tables.pages.MOST_SHOWN", 0)
    (only,) = job.kind.public_sections(tmp_path / "parts", stated, words)
    assert only.title == words("table.title")
    assert [text for _, text in only.parts[1].rows][1:] == ["セル数", "0 以外のセル"]


PERTURBATION = """
kind = "perturbation"
dataset = "village"
[data]
path = "people.parquet"
engine = "spark"
[columns.lat]
bounds = [30, 40]
[perturbation]
epsilon = 1
[ledger]
cap = { epsilon = 1 }
[output]
folder = "rows"
formats = ["parquet"]
"""


def test_other_kinds_read_by_spark_too(spark, recipe, tmp_path):
    recipe()
    (tmp_path / "perturbation.toml").write_text(PERTURBATION)
    made = sd.publish(tmp_path / "perturbation.toml")
    assert made.release.rows == 2000
    assert sd.verify(made.folder).ok


def test_counted_in_spark_and_released_here(spark, recipe):
    made = sd.publish(recipe(('release = "cluster"', 'release = "here"'), ("epsilon = 0.5", "epsilon = 1")))
    assert {path.name for path in made.folder.iterdir()} >= {"table.parquet", "table.csv", "release.json"}
    # The total has a standard deviation of 14, so that no part of its noise has a scale above 10: 300 is 30 scales.
    assert made.release.table.total == pytest.approx(2000, abs=300)


def test_an_exhausted_budget_is_refused_before_spark_starts(recipe, monkeypatch):
    ledger_cap = ("cap = { epsilon = 1.0 }", "cap = { epsilon = 0.1 }")
    monkeypatch.setattr("sudare.engines.spark_sources.spark_session", lambda: pytest.fail("Spark was asked"))
    with pytest.raises(BudgetError, match=r"requested epsilon 0\.5"):
        sd.publish(recipe(ledger_cap))


def test_by_its_expected_cells_a_recipe_goes_to_the_cluster(recipe):
    def job(cells):
        return Job.open(recipe(('release = "cluster"', f"expected_cells = {cells}")))

    assert type(job(2**27).kind) is ClusterTableKind
    assert type(job(2**20).kind) is not ClusterTableKind
    assert sd.plan(recipe()).guarantee == job(2**20).guarantee
    assert sd.rehearse(recipe()).repetitions == 5


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ([('engine = "spark"\n', "")], RecipeError, 'data: release needs engine = "spark"'),
        (
            [('release = "cluster"', 'release = "cloud"')],
            RecipeError,
            "data.release: input should be 'here' or 'cluster'",
        ),
        (
            [('release = "cluster"', "expected_cells = 0")],
            RecipeError,
            "data.expected_cells: input should be greater than or equal to 1",
        ),
        (
            [('unit = "person"', 'counts = "n"\nunit_name = "person"')],
            RecipeError,
            "data: a release in a cluster counts records; rows that are counts already are released here",
        ),
        (
            [('path = "people.parquet"', 'path = "people.duckdb"\ntable = "people"')],
            RecipeError,
            "data: Spark does not read tables of a DuckDB database",
        ),
        (
            [('folder = "release"', 'folder = "release"\nformats = ["parquet", "csv"]')],
            RecipeError,
            'the recipe: a release in a cluster is written as formats = ["parquet"]',
        ),
        (
            [("[ledger]", '[[public_totals]]\nwhere = { sex = ["f"] }\nnumber = 5\n[ledger]')],
            RecipeError,
            "the recipe: public totals of areas are not kept in a cluster",
        ),
        (
            [("[privacy]", '[method]\nname = "privelet"\n[privacy]')],
            ParameterError,
            "this method does not run in a cluster (got 'privelet'; allowed: tree, top_down, simplex, negative_l2, "
            "nonnegative_lasso, laplace with cut or clip)",
        ),
    ],
)
def test_mistakes(recipe, changes, error, sentence):
    with pytest.raises(error) as refusal:
        Job.open(recipe(*changes))
    assert str(refusal.value) == sentence


def test_records_that_are_not_there(spark, recipe, tmp_path):
    path = recipe()
    (tmp_path / "people.parquet").unlink()
    with pytest.raises(InputError, match="there is no such file"):
        sd.publish(path)
    assert PageMessage("remark.data", path="people.parquet") in sd.plan(path).remarks
    assert not (tmp_path / "release").exists()


def test_a_budget_without_any_noise_is_refused_before_spark_starts(recipe, tmp_path, monkeypatch):
    monkeypatch.setattr("sudare.engines.spark_sources.spark_session", lambda: pytest.fail("Spark was asked"))
    for verb in (sd.plan, sd.rehearse, sd.publish):
        with pytest.raises(ParameterError, match="the scale of the noise is out of range"):
            verb(recipe(("epsilon = 0.5", "epsilon = 1e-30")))
    assert not (tmp_path / "ledger.db").exists()


class StoppedError(Exception):
    """Whatever ends a publication."""


def interrupted(*_, **__):
    raise KeyboardInterrupt


def fails_for_good(table):  # on workers, which cannot import this module: every attempt ends there
    raise ValueError(table)


@pytest.mark.parametrize(
    ("fault", "error", "rows"),
    [
        (("progress", "spending", StoppedError), StoppedError, 0),
        (("progress", "protecting", KeyboardInterrupt), KeyboardInterrupt, 2),
        (("progress", "writing", StoppedError), PaidError, 2),
        (("patch", "sudare.tables.spark_kind.release", interrupted), KeyboardInterrupt, 2),
        (("patch", "sudare.tables.spark_kind.to_arrow", fails_for_good), PaidError, 2),
        (("patch", "sudare.privacy.ledger.Ledger.spend", interrupted), KeyboardInterrupt, 0),
    ],
)
def test_whatever_ends_a_publication_no_exact_counts_stay(spark, recipe, tmp_path, monkeypatch, fault, error, rows):
    """The error is still held, and with it all that the publication held: nobody else may clean up."""
    kind, place, what = fault
    path, seen = recipe(("[domain.mesh]", 'scratch = "."\n[domain.mesh]')), []
    if kind == "patch":
        monkeypatch.setattr(place, what)

    def progress(now):
        if now.stage == "spending":
            seen.extend(tmp_path.glob("sudare-run-*/*/rows-*/*.parquet"))
        if (kind, place) == ("progress", now.stage):
            raise what

    with pytest.raises(error) as held:
        sd.publish(path, progress=progress)
    assert seen, "the counts were there"
    assert not [*tmp_path.glob(".*"), *tmp_path.glob("sudare-run-*"), *tmp_path.rglob("rows-*")]
    assert not (tmp_path / "release").exists()
    assert len(Ledger(tmp_path / "ledger.db").entries()) == rows
    if rows:  # what was paid for is named, and an interrupt stays one
        assert isinstance(held.value if error is PaidError else held.value.__cause__, PaidError)
    assert held.value.__traceback__ is not None
