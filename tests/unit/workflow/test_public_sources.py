"""What is called public is not the private file, in recipes and in Python; and which data a spend was on."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from pydantic import BaseModel

import sudare as sd
from recipes import changed, closing
from sudare.anonymity import Hierarchy, anonymize
from sudare.anonymity.anonymize import AnonymizeRequest, SampleParameters
from sudare.errors import BudgetError, DomainError, InputError, LedgerError, ParameterError
from sudare.noise import Source
from sudare.privacy import Ledger
from sudare.recipe.toml_text import models_in
from sudare.registry import KINDS
from sudare.tables.strength import from_reference
from sudare.workflow.job import Job

PRIVATE = r"the private data are given as public ones \(got '{}'\)"
TAIL = closing("epsilon = 5, delta = 1e-5")
WEIGHTS = """
kind = "weights"
dataset = "nurses"
[data]
path = "private.csv"
unit = "id"
[public]
path = "public.csv"
[columns.hours]
bounds = [0, 80]
[weights]
epsilon = 0.5
"""
SAMPLE = """
kind = "sample"
dataset = "nurses"
[data]
path = "private.csv"
[hierarchies.hours]
widths = [1, 10]
low = 0
high = 80
[hierarchies.night]
file = "night.csv"
[sample]
k = 10
rate = 0.2
learn_on = "public.csv"
"""
PERTURBATION = """
kind = "perturbation"
dataset = "nurses"
[data]
path = "private.csv"
[columns.night]
categories = ["no", "yes"]
[perturbation]
epsilon = 1
[rehearsal]
path = "public.csv"
"""
TABLE = """
kind = "table"
dataset = "nurses"
[data]
path = "private.csv"
counts = "n"
unit_name = "person"
[domain.cell]
type = "line"
length = 200
[privacy]
epsilon = 1
[rehearsal]
path = "public.csv"
counts = "n"
"""
KIND = {"weights": WEIGHTS, "sample": SAMPLE, "perturbation": PERTURBATION, "table": TABLE}
PLACE = {
    "weights": ("public.path", "public.csv"),
    "sample": ("sample.learn_on", "public.csv"),
    "perturbation": ("rehearsal.path", "public.csv"),
    "table": ("rehearsal.path", "public.csv"),
}


def people(size: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": rng.permutation(size) + seed * 10**6,
            "hours": rng.integers(0, 80, size),
            "night": np.where(rng.random(size) < 0.4, "yes", "no"),
            "salary": rng.integers(2_000, 9_000, size),
        }
    )


def cells(seed: int) -> pa.Table:
    return pa.table({"cell": range(200), "n": np.random.default_rng(seed).integers(0, 500, 200)})


@pytest.fixture(params=list(KIND))
def kind(request):
    return request.param


@pytest.fixture
def recipe(tmp_path):
    """recipe(kind, (old, new), ...): a recipe beside its private and public data."""
    (tmp_path / "night.csv").write_text("no;all\nyes;all\n")

    def written(kind: str, *changes: tuple[str, str]) -> Path:
        for name, seed in (("private", 1), ("public", 2)):
            csv.write_csv(cells(seed) if kind == "table" else people(900, seed), tmp_path / f"{name}.csv")
        path = tmp_path / "recipe.toml"
        path.write_text(changed(KIND[kind] + TAIL, *changes))
        return path

    return written


def refused_everywhere(path: Path, message: str) -> None:
    for verb in (sd.plan, sd.rehearse, sd.publish):
        with pytest.raises(InputError, match=message):
            verb(path)
    assert not list(path.parent.glob("*.db*"))


def test_the_private_file_is_no_public_one_in_any_kind(recipe, kind):
    name, file = PLACE[kind]
    refused_everywhere(recipe(kind, (f'"{file}"', '"private.csv"')), PRIVATE.format(name))


@pytest.mark.parametrize("link", [os.symlink, os.link, lambda a, b: Path(b).write_bytes(Path(a).read_bytes())])
def test_nor_is_a_link_or_a_copy(recipe, kind, link):
    path = recipe(kind)
    public = path.parent / "public.csv"
    public.unlink()
    link(path.parent / "private.csv", public)
    refused_everywhere(path, PRIVATE.format(PLACE[kind][0]))


def test_lines_around_a_map_are_not_the_private_file(tmp_path):
    """A GeoPackage is a SQLite database: its rows can be counted, and its shapes drawn."""
    pq.write_table(pa.table({"cell": range(200), "n": range(200)}), tmp_path / "private.parquet")
    text = changed(
        TABLE + TAIL, ("private.csv", "private.parquet"), ('[rehearsal]\npath = "public.csv"\ncounts = "n"', "")
    )
    path = tmp_path / "recipe.toml"
    path.write_text(changed(text, ("[report]", '[report]\noutline = "private.parquet"')))
    refused_everywhere(path, PRIVATE.format("report.outline"))


WIDE = """
[{part}.long]
attributes = ["night"]
columns = {{ no = ["no"], yes = ["yes"] }}
"""


def test_wide_tables_are_compared_as_long_ones(tmp_path):
    """A wide table for rehearsals ended `publish` with a traceback, and the rows were not compared."""
    rng = np.random.default_rng(5)
    wide = {"cell": range(200), **{name: rng.integers(0, 500, 200) for name in ("no", "yes")}}
    csv.write_csv(pa.table(wide), tmp_path / "private.csv")
    csv.write_csv(
        pa.table({**wide, "no": rng.integers(0, 500, 200), "yes": rng.integers(0, 500, 200)}), tmp_path / "public.csv"
    )
    path = tmp_path / "recipe.toml"
    night = '[domain.night]\ntype = "categories"\nvalues = ["no", "yes"]\n'
    path.write_text(TABLE + WIDE.format(part="rehearsal") + WIDE.format(part="data") + night + TAIL)
    csv.write_csv(pa.table(wide).slice(0, 199), tmp_path / "nearly.csv")
    sd.publish(path)
    path.write_text(changed(path.read_text(), ("public.csv", "nearly.csv"), ('"release"', '"again"')))
    with pytest.raises(InputError, match="private rows too"):
        sd.publish(path)


def test_a_hierarchy_is_not_the_private_file(recipe):
    refused_everywhere(recipe("sample", ('"night.csv"', '"private.csv"')), PRIVATE.format("hierarchies.night.file"))


@pytest.mark.parametrize("saved", ["parquet", "shuffled", "renamed", "packed"])
def test_publish_knows_the_private_rows_in_another_file(recipe, kind, saved):
    if saved == "renamed" and kind != "weights":
        pytest.skip("the declared columns of other kinds would be missing")
    path = recipe(kind, ('"public.csv"', '"again.csv"' if saved in ("shuffled", "renamed") else f'"again.{saved}"'))
    rows = cells(1) if kind == "table" else people(900, 1)
    again = path.parent / f"again.{saved if saved == 'parquet' else 'csv'}"
    if saved == "parquet":
        pq.write_table(rows, again)
    elif saved == "packed":
        path.write_text(path.read_text().replace("again.packed", "again.csv.gz"))
        (path.parent / "again.csv.gz").write_bytes(gzip.compress((path.parent / "private.csv").read_bytes()))
    else:
        rows = rows.take(np.random.default_rng(3).permutation(len(rows)))
        csv.write_csv(rows.rename_columns(["pid", "hours", "late", "pay"]) if saved == "renamed" else rows, again)
    with pytest.raises(InputError, match=PRIVATE.format(PLACE[kind][0])):
        sd.publish(path)
    assert not (path.parent / "ledger.db").exists()


def test_weights_no_longer_publish_the_private_rows(recipe):
    """The proven breach: every private row, with columns that nobody declared, under "epsilon 0.5"."""
    path = recipe("weights", ('"public.csv"', '"private.csv"'))
    with pytest.raises(InputError):
        sd.publish(path)
    assert not (path.parent / "release").exists()


def test_shared_rows_are_told_to_the_steward_and_must_be_confirmed(recipe):
    path = recipe("weights")
    mixed = pa.concat_tables([people(900, 2), people(900, 1).slice(0, 3)])
    csv.write_csv(mixed, path.parent / "public.csv")
    sd.plan(path)
    with pytest.raises(InputError, match=r"^3 of 903 public rows are private rows too \(got 'public.path'\).*steward"):
        sd.publish(path)
    assert not (path.parent / "ledger.db").exists()
    path.write_text(path.read_text().replace('path = "public.csv"', 'path = "public.csv"\nconfirm_overlap = true'))
    made = sd.publish(path)
    shown = json.dumps(made.to_json()) + json.dumps(made.certificate)
    assert "private rows" not in shown
    assert sd.verify(made.folder).ok


def test_every_file_that_a_recipe_names_is_private_or_held_against_the_private_one():
    """A new field that names a file has to be listed here, and by `public_files` if it is public."""
    named = {"path", "file", "learn_on"}  # and what a part itself calls a path
    held = {
        "public.path",
        "rehearsal.path",
        *(
            f"{before}domain.{name}"
            for before in ("", "rehearsal.")
            for name in ("file", "mask", "within", "code_list")
        ),
        "hierarchies.file",
        "sample.learn_on",
        "method.reference.path",
        "report.outline",
        "estimate.agree_with",
        "estimate.areas",
    }
    not_public = {"data.path", "ledger.path", "output.folder", "output.key"}

    def fields(model: type[BaseModel], before: str = "") -> set[str]:
        found = {before + name for name in model.model_fields if name in {*named, *getattr(model, "paths", ())}}
        for name, field in model.model_fields.items():
            for part in models_in(field.annotation):
                found |= fields(part, f"{before}{name}.")
        return found

    assert set().union(*(fields(KINDS[kind].shape) for kind in KINDS)) == held | not_public


TOWNS = {"town": {"north": ["A", "B"], "south": ["C", "D"]}}


def towns(first: int) -> pa.Table:
    return pa.table({"town": ["A"] * first + ["B"] * 200 + ["C"] * 200 + ["D"] * 200})


def test_a_recoding_is_not_learned_on_the_private_table():
    """The proven breach: one person more or less changes the learned level, and with it every published label.

    49 and 50 people of one town: learned on its own records, the sample has names of single towns in all of 200 draws
    with the person and in none without: delta >= 0.9 whatever the epsilon, under a certificate of 1e-6.
    """
    terms = {"k": 10, "sample": 0.2, "delta": 1e-6, "max_suppressed": 0}
    single = []
    for first in (49, 50):
        table = towns(first)
        request = AnonymizeRequest.of(TOWNS, SampleParameters(learn_on=table, **terms))
        records = request.read(table, Source.from_seed(0))
        draws = [request.meet(records, source) for source in map(Source.from_seed, range(200))]
        single.append(sum("D" in made.records["town"].to_pylist() for made in draws))
    assert (single[1] - single[0]) / 200 >= 0.9
    for public in (table, towns(50), table.take(list(range(len(table)))[::-1]), table.to_pandas()):
        with pytest.raises(InputError, match=PRIVATE.format("learn_on")):
            anonymize(table, TOWNS, learn_on=public, **terms)


def test_anonymize_refuses_its_own_file_as_public_and_as_hierarchy(tmp_path):
    private = tmp_path / "people.csv"
    csv.write_csv(people(500, 1), private)
    trees = {"hours": Hierarchy.from_widths(0, 80, 1, 10)}
    (link := tmp_path / "link.csv").symlink_to(private)
    terms = {"k": 10, "sample": 0.2}
    for public in (private, link, sd.read(private), people(500, 1)):
        with pytest.raises(InputError, match=PRIVATE.format("learn_on")):
            anonymize(private, trees, learn_on=public, **terms)
    with pytest.raises(InputError, match=PRIVATE.format("hierarchies")):
        anonymize(private, {"night": str(link)}, levels={"night": 0}, **terms)
    part = people(500, 1).slice(0, 100)
    with pytest.raises(InputError, match=r"^100 of 100 public rows are private rows too"):
        anonymize(private, trees, learn_on=part, unit="id", **terms)
    anonymize(private, trees, learn_on=part, unit="id", confirm_overlap=True, **terms)


def test_fit_refuses_its_private_rows_as_public_ones(tmp_path):
    rows = np.random.default_rng(8).normal(0, 1, 300)
    csv.write_csv(people(500, 1), private := tmp_path / "people.csv")
    bounds = {"bounds": [(-4, 4)], "epsilon": 1}
    for public in (rows, rows.copy(), rows[::-1], list(rows)):
        with pytest.raises(InputError, match=PRIVATE.format("public")):
            sd.reweight.fit(rows, public, **bounds)
    with pytest.raises(InputError, match=PRIVATE.format("public")):
        sd.reweight.fit(iter([rows]), rows.copy(), **bounds)
    with pytest.raises(InputError, match=r"^150 of 150 public rows are private rows too"):
        sd.reweight.fit(rows, rows[:150], **bounds)
    sd.reweight.fit(rows, rows[:150], confirm_overlap=True, **bounds)
    named = {"bounds": {"hours": (0, 80)}, "epsilon": 1}
    for public in (private, people(500, 1), people(500, 1).to_pandas(), sd.read(private)):
        with pytest.raises(InputError, match=PRIVATE.format("public")):
            sd.reweight.fit(private, public, **named)
    columns = {"hours": people(500, 1)["hours"].to_numpy(), "id": people(500, 1)["id"].to_numpy()}
    some = {name: column[:2] + np.array([0, name == "hours"]) for name, column in columns.items()}
    with pytest.raises(InputError, match=r"^1 of 2 public rows"):
        sd.reweight.fit(private, some, unit="id", max_rows=1, **named)


@pytest.mark.parametrize("method", [sd.NegativeL2, sd.NonnegativeLasso])
def test_a_release_refuses_its_own_table_as_the_reference(method):
    counts = np.random.default_rng(9).integers(0, 50, 64)
    table = sd.CountTable.from_array(counts)
    with pytest.raises(ParameterError, match="the private table is given as the reference"):
        sd.release(table, method(from_reference(sd.CountTable.from_array(counts))), epsilon=1)
    nearly = sd.CountTable.from_array(counts + (np.arange(64) == 5))
    with pytest.raises(ParameterError, match=r"in more than nine of ten populated cells.*steward alone"):
        sd.release(table, method(from_reference(nearly)), epsilon=1)
    sd.release(table, method(from_reference(nearly, confirm_overlap=True)), epsilon=1)
    sd.release(table, method(from_reference(sd.CountTable.from_array(counts[::-1]))), epsilon=1)


def test_a_spend_keeps_a_fingerprint_that_only_the_key_can_make(village):
    made = sd.publish(village.recipe)
    ledger = Ledger(village.folder / "ledger.db")
    (source,) = ledger.entries()[-1].content["sources"]
    assert len(source["fingerprint"]) == 64
    assert (village.folder / "ledger.db.key").stat().st_mode & 0o777 == 0o600
    for text in (json.dumps(made.to_json()), *(file.read_text("latin-1") for file in made.folder.iterdir())):
        assert source["fingerprint"] not in text
        assert source["fingerprint"][:8] not in text


def test_the_same_data_under_another_name_are_told(village):
    sd.publish(village.recipe)
    village.change(('dataset = "village"', 'dataset = "hamlet"'), ('folder = "release"', 'folder = "second"'))
    with pytest.raises(LedgerError, match=r"released under another name, and 'hamlet' .*got 'village'"):
        sd.publish(village.recipe)
    village.change(("[ledger]\n", "[ledger]\nconfirm_same_data = true\n"))
    sd.publish(village.recipe)
    row = Ledger(village.folder / "ledger.db").entries()[-1]
    assert (row.dataset, row.content["same_data_as"]) == ("hamlet", ["village"])


def test_a_file_that_grew_is_a_new_one(village):
    sd.publish(village.recipe)
    rows = pq.read_table(village.folder / "people.parquet")
    pq.write_table(pa.concat_tables([rows, rows.slice(0, 1)]), village.folder / "people.parquet")
    village.change(('dataset = "village"', 'dataset = "hamlet"'), ('folder = "release"', 'folder = "second"'))
    sd.publish(village.recipe)


def test_a_recipes_cap_is_the_ledgers(village):
    Ledger(village.folder / "ledger.db").set_cap("village", epsilon=2)
    with pytest.raises(BudgetError, match=r"another cap in the ledger .*got 'epsilon 1'; allowed: epsilon 2"):
        sd.publish(village.recipe)
    assert any("another cap in the ledger" in str(remark) for remark in sd.plan(village.recipe).remarks)


def test_the_configured_ledger_is_the_default(village, monkeypatch, tmp_path):
    monkeypatch.setenv("SUDARE_LEDGER", str(village.folder / "all.db"))
    with pytest.raises(LedgerError, match="names another ledger than the configured one"):
        sd.plan(village.recipe)
    village.change(('path = "ledger.db"\n', ""))
    sd.publish(village.recipe)
    assert Ledger(village.folder / "all.db").balance("village").releases == 1
    village.change(("[ledger]\n", '[ledger]\npath = "ledger.db"\nconfirm_other_ledger = true\n'))
    with pytest.raises(LedgerError, match="does not hold the row of an earlier release"):
        sd.plan(village.recipe)
    village.change(("[ledger]\n", "[ledger]\nconfirm_other_history = true\n"))
    assert sd.plan(village.recipe).balance.releases == 0


def masked_recipe(folder, private, mask, dataset="residents"):
    folder.mkdir(exist_ok=True)
    recipe = {
        "kind": "table",
        "dataset": dataset,
        "data": {"path": private, "unit": "person", "outside": "drop"},
        "domain": {"mesh": {"type": "mesh", "size": "10km", "codes": ["5339"], **({"mask": mask} if mask else {})}},
        "privacy": {"epsilon": 1},
        "output": {"folder": f"release-{dataset}"},
        "ledger": {"cap": {"epsilon": 1}},
        "report": {"public": False},
    }
    sd.Recipe(**recipe).write(folder / f"{dataset}.toml")
    return folder / f"{dataset}.toml"


def residents(number=50):
    return "mesh,person\n" + "".join(f"53394{person % 3},{person}\n" for person in range(number))


def test_a_mask_is_looked_for_beside_the_recipe(tmp_path, monkeypatch):
    """Before, it was looked for where the command ran, where nobody compared it with the private file."""
    path = masked_recipe(tmp_path / "a", "../b/people.csv", "people.csv")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "people.csv").write_text(residents())
    monkeypatch.chdir(tmp_path / "b")
    with pytest.raises(DomainError, match="there is no such file of codes"):
        sd.publish(path)
    (tmp_path / "a" / "people.csv").write_text("533940\n533941\n")
    assert Job.open(path).kind.domain.size == 2
    (tmp_path / "a" / "people.csv").write_text(residents())
    with pytest.raises(InputError, match=PRIVATE.format("domain.mesh.mask")):
        sd.publish(path)


def excel(path):
    book = openpyxl.Workbook()
    for line in residents().splitlines():
        book.active.append(line.split(","))
    book.save(path)


def zstd(path):
    with pa.output_stream(path, compression="zstd") as file:
        file.write(residents().encode())


@pytest.mark.parametrize(
    ("first", "second"),
    [("people.csv", "people.csv.zst"), ("people.xlsx", "sheet of it"), ("people.xlsx", "copy.xlsx")],
)
def test_the_same_data_in_another_wrapping_have_no_second_budget(tmp_path, first, second):
    (tmp_path / "people.csv").write_text(residents())
    zstd(tmp_path / "people.csv.zst")
    excel(tmp_path / "people.xlsx")
    excel(tmp_path / "copy.xlsx")
    sd.publish(masked_recipe(tmp_path, first, None))
    path = masked_recipe(tmp_path, "people.xlsx" if second == "sheet of it" else second, None, "survey")
    if second == "sheet of it":
        path.write_text(path.read_text().replace("[data]", '[data]\ntable = "Sheet"'))
    with pytest.raises(LedgerError, match="the same data were released under another name"):
        sd.publish(path)
