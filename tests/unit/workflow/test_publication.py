"""Publishing: files, certificate and ledger row appear together, or nothing does; and nothing is free."""

import json
import signal
import subprocess
import sys
import textwrap
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import sudare as sd
from sudare.errors import BudgetError, InputError, LedgerError, OutputError, RecipeError, SudareError
from sudare.noise import Source, record
from sudare.privacy import Fact, Ledger
from sudare.tables.rehearsal import compared
from sudare.workflow.job import Job

FILES = {"datapackage.json", "table.parquet", "table.csv", "table.geo.parquet", "table.geojson", "release.json"}
OTHER_LEDGER = ('"ledger.db"', '"second.db"\nconfirm_other_history = true')


def spent(village) -> Fraction:
    return Ledger(village.folder / "ledger.db").balance("village").spent.epsilon


def test_a_release_has_its_files_certificate_and_ledger_row(village):
    made = sd.publish(village.recipe)
    assert {path.name for path in made.folder.iterdir()} == FILES
    assert spent(village) == Fraction(1, 2)
    assert made.balance.remaining.epsilon == Fraction(1, 2)
    certificate = json.loads((made.folder / "release.json").read_text())
    assert certificate["ledger_head"] == Ledger(village.folder / "ledger.db").head()
    assert certificate["guarantee"]["epsilon"] == "1/2"
    result = sd.verify(made.folder / "release.json", publisher=village.folder / "publisher.pem")
    assert result.ok
    assert sd.verify(made.folder).guarantee == made.release.guarantee
    assert (village.folder / "publisher.pem").stat().st_mode & 0o077 == 0
    assert not list(village.folder.glob(".*partial*"))


def test_the_files_say_the_same(village):
    made = sd.publish(village.recipe)
    table = made.release.table
    parquet = pq.read_table(made.folder / "table.parquet")
    assert parquet.column("index").to_numpy().tolist() == table.index.tolist()
    assert parquet.column("count").to_numpy().tolist() == table.count.tolist()
    listed = pacsv.read_csv(made.folder / "table.csv")
    assert listed.column_names == ["mesh", "sex", "count", "low", "high", "expected_error"]
    assert listed.to_pydict() == parquet.drop_columns(["index"]).to_pydict()
    index, inside = table.domain.locate(
        {"mesh": listed.column("mesh").to_numpy(), "sex": listed.column("sex").to_pylist()}
    )
    assert inside.all()
    assert np.array_equal(index, table.index)
    features = json.loads((made.folder / "table.geojson").read_text())["features"]
    assert [f["properties"]["count"] for f in features] == table.count.tolist()


def test_geoparquet_polygons_are_the_cells(village):
    made = sd.publish(village.recipe)
    frame = pq.read_table(made.folder / "table.geo.parquet")
    meta = json.loads(frame.schema.metadata[b"geo"])
    assert meta["version"] == "1.1.0"
    assert meta["columns"]["geometry"]["crs"]["id"] == {"authority": "EPSG", "code": 6668}
    shapes = frame.column("geometry").to_pylist()
    code = frame.column("mesh").to_pylist()[0]
    points = np.frombuffer(shapes[0], dtype="<f8", offset=13).reshape(5, 2)
    assert shapes[0][:13] == b"\x01\x03\x00\x00\x00\x01\x00\x00\x00\x05\x00\x00\x00"
    assert np.array_equal(points[0], points[4])
    mesh = made.release.table.domain.attributes["mesh"]
    (row, column), _ = mesh.locate([code])
    south, west, north, east = (float(side[0]) for side in mesh.corners(row, column))
    assert points.min(axis=0).tolist() == [west, south]
    assert points.max(axis=0).tolist() == [east, north]
    x, y = points[:-1].T
    assert np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0  # counter-clockwise


def test_the_bytes_do_not_depend_on_the_order_of_the_rows(village):
    with record() as tape:
        first = sd.publish(village.recipe)
    people = pq.read_table(village.folder / "people.parquet")
    shuffled = people.take(pa.array(np.random.default_rng(5).permutation(len(people))))
    pq.write_table(shuffled, village.folder / "people.parquet")
    (village.folder / "ledger.db").unlink()  # a replay repeats the identifier, which one ledger takes once
    with record(replay=tape):
        again = village.change(('folder = "release"', 'folder = "again"'), OTHER_LEDGER)
        second = sd.publish(again)
    for name in FILES - {"release.json"}:
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()


def test_a_neighbour_under_replay_gives_the_same_bytes(village):
    with record() as tape:
        first = sd.publish(village.recipe)
    people = pq.read_table(village.folder / "people.parquet")
    pq.write_table(people.slice(1), village.folder / "people.parquet")
    (village.folder / "ledger.db").unlink()  # a replay repeats the identifier, which one ledger takes once
    with record(replay=tape):
        again = village.change(('folder = "release"', 'folder = "again"'), OTHER_LEDGER)
        second = sd.publish(again)
    for name in FILES - {"release.json"}:
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()


def test_certificate_and_folder_of_others_are_the_same(village):
    """All that leaves the house: names, certificate but for what is another in every run, and nothing beside it.

    The others are twenty people more, each alone in a cell, so that the populated cells are other ones.
    """
    there = {path.name for path in village.folder.iterdir()}
    with record() as tape:
        first = sd.publish(village.recipe)
    assert {path.name for path in village.folder.iterdir()} == there | {
        "release",
        "ledger.db",
        "ledger.db.key",
        "publisher.pem",
    }
    job = Job.open(village.recipe)
    with record(replay=tape):
        before = job.kind.gather(Source.system())
    empty = np.setdiff1d(job.kind.domain.cells(np.arange(job.kind.domain.size)), before.index)[:20]
    row, column, sex = job.kind.domain.coordinates(empty)
    people = pq.read_table(village.folder / "people.parquet")
    alone = pa.table(
        {
            "person": -1 - np.arange(20),
            "lat": (8480.5 + row) / 240,
            "lon": 100 + (6300.5 + column) / 160,
            "sex": np.array(["f", "m"])[sex],
        }
    )
    pq.write_table(pa.concat_tables([people, alone]), village.folder / "people.parquet")
    with record(replay=tape):
        assert len(job.kind.gather(Source.system())) == len(before) + 20
        again = village.change(('folder = "release"', 'folder = "again"'), OTHER_LEDGER)
        second = sd.publish(again)
    assert {path.name for path in first.folder.iterdir()} == {path.name for path in second.folder.iterdir()} == FILES
    own = {"created", "release_id", "recipe_sha256", "ledger_head", "signature"}
    told = [{key: value for key, value in made.certificate.items() if key not in own} for made in (first, second)]
    assert told[0] == told[1]


def test_an_exhausted_budget_is_refused_and_nothing_is_written(village):
    sd.publish(village.recipe)
    sd.publish(village.change(('folder = "release"', 'folder = "second"')))
    with pytest.raises(BudgetError, match=r"requested epsilon 0\.5, remaining 0, difference 0\.5"):
        sd.publish(village.change(('folder = "second"', 'folder = "third"')))
    assert not (village.folder / "third").exists()
    assert spent(village) == 1


def test_without_a_cap_nothing_is_published(village):
    with pytest.raises(BudgetError, match="has no cap"):
        sd.publish(village.change(("cap = { epsilon = 1.0 }", "")))
    assert not (village.folder / "release").exists()


def test_an_existing_folder_is_left_alone(village):
    (village.folder / "release").mkdir()
    with pytest.raises(OutputError, match="output folder exists already"):
        sd.publish(village.recipe)
    assert not (village.folder / "ledger.db").exists()


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('path = "people.parquet"', 'path = "nobody.parquet"', "nobody.parquet"),
        ('from = ["lat", "lon"]', 'from = ["latt", "lon"]', "Did you mean 'lat'"),
        ('unit = "person"', 'unit = "persn"', "Did you mean 'person'"),
        ('from = ["lat", "lon"]', 'from = ["sex", "lon"]', "sex"),
    ],
)
def test_wrong_data_is_named_and_nothing_is_spent(village, old, new, sentence):
    with pytest.raises(InputError, match=sentence):
        sd.publish(village.change((old, new)))
    assert not (village.folder / "release").exists()
    assert not (village.folder / "ledger.db").exists() or spent(village) == 0


def test_rows_outside_the_domain_are_an_error_by_default(village):
    with pytest.raises(InputError, match="outside"):
        sd.publish(village.change(('outside = "drop"', 'outside = "error"'), ('["f", "m"]', '["f", "x"]')))
    assert not (village.folder / "release").exists()


def test_counts_that_are_there_already_are_published(village):
    domain = Job.open(village.recipe).kind.domain
    cells = domain.labels(np.arange(40))
    pq.write_table(
        pa.table({"code": cells["mesh"], "sex": cells["sex"], "n": np.arange(40)}), village.folder / "people.parquet"
    )
    made = sd.publish(
        village.change(
            ('unit = "person"', 'counts = "n"\nunit_name = "household"'),
            ('from = ["lat", "lon"]', 'from = "code"'),
        )
    )
    assert abs(made.release.table.total - 780) < 2000
    promised = made.release.guarantee
    assert promised.unit == sd.Unit("household", 1, counted_elsewhere=True)
    assert Fact("counted_once", unit="household") in promised.assumptions
    assert "person" not in str(promised)
    assert sd.verify(made.folder).guarantee == promised


def test_counts_say_what_one_of_them_is(village):
    """They were published as "person with at most 1 row" whatever they counted."""
    with pytest.raises(RecipeError, match="counts needs unit_name"):
        sd.plan(village.change(('unit = "person"', 'counts = "n"')))


def test_a_wrong_signing_key_is_refused_before_spending(village):
    (village.folder / "publisher.pem").write_text("not a key")
    with pytest.raises(OutputError, match="not an unencrypted Ed25519"):
        sd.publish(village.recipe)
    assert not (village.folder / "ledger.db").exists()


def test_a_tampered_ledger_stops_the_release(village):
    import sqlite3

    sd.publish(village.recipe)
    with sqlite3.connect(village.folder / "ledger.db") as books:
        table = books.execute("select name from sqlite_master where type = 'table' and name like '%entr%'").fetchone()[
            0
        ]
        books.execute(f"update {table} set dataset = 'other'")  # noqa: S608 - the name comes from SQLite
    with pytest.raises(LedgerError):
        sd.publish(village.change(('folder = "release"', 'folder = "second"')))
    assert not (village.folder / "second").exists()


def run_python(code: str, village, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=village.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_written(village):
    """A real limit on the size of files: writing fails as on a full disk, after the spending."""
    process = run_python(
        """
        import resource, signal, sudare as sd
        from sudare.errors import SudareError
        import sudare.tables.kind as table_job
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        write = table_job.write
        def limited(*arguments, **named):
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
            return write(*arguments, **named)
        table_job.write = limited
        try:
            sd.publish("recipe.toml")
        except SudareError as problem:
            print(type(problem).__name__, problem)
        """,
        village,
    )
    output, errors = process.communicate(timeout=120)
    assert output.startswith("PaidError release "), errors
    assert "was paid for and is not out: the release cannot be written" in output
    assert "\n" not in output.strip()
    assert not (village.folder / "release").exists()
    assert not list(village.folder.glob(".*partial*"))
    assert spent(village) == Fraction(1, 2)


@pytest.mark.parametrize("stage", ["reading", "spending", "protecting", "writing"])
def test_a_process_killed_at_any_stage_can_only_over_count(village, stage):
    process = run_python(
        f"""
        import time, sudare as sd
        def progress(now):
            if now.stage == {stage!r}:
                print("here", flush=True)
                time.sleep(60)
        sd.publish("recipe.toml", progress=progress)
        """,
        village,
    )
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    process.stdout.close()
    process.stderr.close()
    assert not (village.folder / "release").exists()
    before = spent(village) if (village.folder / "ledger.db").exists() else 0
    assert before == (Fraction(1, 2) if stage in ("protecting", "writing") else 0)
    made = sd.publish(village.recipe, resume=before > 0)
    assert sd.verify(made.folder).ok
    assert spent(village) == Fraction(1, 2)


def test_two_processes_at_once_cannot_both_spend_the_last_budget(village):
    village.change(("cap = { epsilon = 1.0 }", "cap = { epsilon = 0.5 }"))
    other = village.folder / "other.toml"
    other.write_text(village.recipe.read_text().replace('folder = "release"', 'folder = "other"'))
    Ledger(village.folder / "ledger.db").set_cap("village", epsilon=0.5)
    code = """
        import sys, sudare as sd
        try:
            sd.publish({!r})
            print("published")
        except sd.SudareError as refusal:
            print(type(refusal).__name__)
        """
    processes = [run_python(code.format(name), village) for name in ("recipe.toml", "other.toml")]
    results = sorted(process.communicate(timeout=120)[0].strip() for process in processes)
    assert results == ["BudgetError", "published"]
    assert spent(village) == Fraction(1, 2)


def test_no_message_shows_a_private_value(village):
    people = pq.read_table(village.folder / "people.parquet").to_pydict()
    people["sex"][7] = "secret-value"
    pq.write_table(pa.table(people), village.folder / "people.parquet")
    with pytest.raises(SudareError) as mistake:
        sd.publish(village.change(('outside = "drop"', 'outside = "error"')))
    assert "secret-value" not in str(mistake.value)
    assert mistake.value.__cause__ is None


def test_a_plan_reads_no_private_value(village):
    (village.folder / "people.parquet").unlink()
    made = sd.plan(village.recipe)
    assert made.details["cells"] == 512
    assert made.guarantee.epsilon == Fraction(1, 2)
    assert made.balance_after.remaining.epsilon == Fraction(1, 2)
    assert any("not there yet" in str(remark) for remark in made.remarks)
    assert "synthetic people" in str(made.errors_from)
    assert not (village.folder / "ledger.db").exists()
    json.dumps(made.to_json())


def test_a_plan_is_exact_for_laplace(village):
    made = sd.plan(village.change(('name = "simplex"', 'name = "laplace"')))
    assert made.errors_from.key == "basis.exact_people"
    exact = pytest.approx((2 * 0.6065306597) ** 0.5 / 0.3934693403)
    assert made.errors[0]["populated_error_low"] == made.errors[0]["populated_error_high"] == exact


def test_a_plan_says_when_the_budget_is_too_small(village):
    sd.publish(village.recipe)
    made = sd.plan(village.change(("epsilon = 0.5\n", "epsilon = 0.6\n"), ('folder = "release"', 'folder = "b"')))
    assert made.balance_after is None
    assert any("remaining 0.5" in str(remark) for remark in made.remarks)


def test_a_rehearsal_spends_nothing_and_compares(village):
    made = sd.rehearse(village.recipe)
    assert made.repetitions == 2
    assert made.truth.total == 2000
    assert made.release.guarantee.notion == "none: seeded"
    assert made.errors[0]["populated_error"] > 0
    assert not (village.folder / "ledger.db").exists()
    assert sd.rehearse(village.recipe).errors == made.errors
    assert sd.rehearse(village.recipe, seed=5).errors != made.errors


def test_every_figure_of_a_rehearsal_is_the_mean_of_its_runs(village):
    both = sd.rehearse(village.recipe)
    job = Job.open(village.recipe).kind
    releases = [job.release(both.truth, seed=seed) for seed in (0, 1)]
    runs = [compared(job, both.truth, release, both.basis) for release in releases]
    assert runs[0].accuracy != runs[1].accuracy
    assert both.accuracy == np.mean([run.accuracy for run in runs])
    cells = np.mean([len(release.table) for release in releases])
    assert both.facts == {"released_cells": round(cells), "l1_accuracy": f"{both.accuracy:.4f}"}


def test_a_rehearsal_on_a_public_table(village):
    domain = Job.open(village.recipe).kind.domain
    cells = domain.labels(np.arange(40))
    pq.write_table(
        pa.table(
            {"lat": 35.34 + np.zeros(40), "lon": 139.4 + np.zeros(40), "sex": cells["sex"], "n": np.arange(40)}
        ).slice(0, 2),
        village.folder / "census.parquet",
    )
    made = sd.rehearse(village.change(("people = 2000", 'path = "census.parquet"\ncounts = "n"')))
    assert "census.parquet" in str(made.basis)
    assert made.truth.total == 1


def test_the_verbs_are_those_of_the_workflow():
    import sudare.workflow

    assert sudare.workflow.publish is sd.publish
    assert sudare.workflow.plan is sd.plan
