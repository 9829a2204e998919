"""Ledgers that were restored, copied, deleted, moved or named alike: none gives a fresh budget without a word.

The quick form restores an older ledger three times at random moments of a year, the full form twenty times.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import stat
import warnings
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from sudare.cli import main
from sudare.collector.survey_file import load
from sudare.errors import BudgetError, InputError, LedgerError, LedgerWarning, OutputError
from sudare.privacy import Balance, Guarantee, Ledger, Unit, chain
from sudare.privacy.chain import FEWEST, STEP
from sudare.privacy.fingerprint import Fingerprint
from sudare.privacy.names import skeleton
from sudare.privacy.store import export_ledger, import_ledger
from sudare.workflow.job import Job
from sudare.workflow.publication import publish
from sudare.workflow.reconcile import reconcile

RECIPE = """kind = "table"
dataset = "{dataset}"
data = {{path = "people.csv", unit = "person"}}
domain.sex = {{type = "categories", values = ["f", "m"]}}
method = {{name = "laplace"}}
privacy = {{epsilon = 0.1}}
ledger = {{path = "{ledger}", cap = {{epsilon = 1}}{more}}}
output = {{folder = "{folder}", formats = ["csv"]}}
report = {{public = false}}
"""
TENTH = Guarantee("epsilon-DP", Unit("person"), epsilon="0.1")


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """A user's state folder of their own."""
    folder = tmp_path / "state"
    monkeypatch.setenv("SUDARE_STATE", str(folder))
    return folder


@pytest.fixture
def house(tmp_path):
    folder = tmp_path / "house"
    folder.mkdir()
    (folder / "people.csv").write_text("person,sex\n" + "".join(f"p{i},{'fm'[i % 2]}\n" for i in range(30)))
    return folder


def release(house: Path, folder: str, *, dataset="village", ledger="ledger.db", more="", into: str = "") -> list[str]:
    """Publish into a folder; what was said about the ledger."""
    recipe = house / f"{folder}.toml"
    recipe.write_text(RECIPE.format(dataset=dataset, ledger=ledger, more=more, folder=into + folder), encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        publish(recipe)
    return [str(each.message) for each in caught if isinstance(each.message, LedgerWarning)]


def sudare(*words: object) -> tuple[int, str]:
    made = CliRunner().invoke(main, [str(word) for word in words], prog_name="sudare")
    assert made.exception is None or isinstance(made.exception, SystemExit), made.exception
    return made.exit_code, made.output


# A new ledger is said


def test_a_new_ledger_and_a_new_data_set_are_said(house):
    (said,) = release(house, "one")
    assert said.startswith(f"a new ledger begins at {house / 'ledger.db'}. Releases that are booked elsewhere")
    assert release(house, "two") == []
    (house / "people.csv").write_text("person,sex\nq,f\n")
    (said,) = release(house, "three", dataset="town")
    assert said.startswith(f"data set 'town' is new in the ledger {house / 'ledger.db'}")


def test_the_command_says_it_too(house):
    (house / "a.toml").write_text(RECIPE.format(dataset="village", ledger="ledger.db", more="", folder="a"))
    code, said = sudare("publish", house / "a.toml", "--json")
    assert code == 0
    assert "Note: a new ledger begins at" in said
    assert '"begins": [' in said


# Heads are compared


def keep(house: Path) -> None:
    shutil.copy(house / "ledger.db", house / "old.db")


def restored(house: Path) -> None:
    shutil.move(house / "old.db", house / "ledger.db")


def deleted(house: Path) -> None:
    (house / "ledger.db").unlink()


def emptied(house: Path) -> None:
    (house / "ledger.db").write_bytes(b"")


def replaced(house: Path) -> None:
    deleted(house)
    Ledger(house / "ledger.db").set_cap("village", epsilon=1)


@pytest.mark.parametrize("harm", [restored, deleted, emptied, replaced])
@pytest.mark.parametrize("witness", ["certificates", "machine"])
def test_a_ledger_that_lacks_a_release_is_refused(house, state, harm, witness):
    release(house, "one")
    keep(house)
    release(house, "two")
    harm(house)
    if witness == "certificates":
        shutil.rmtree(state)
    else:
        for name in ("one", "two"):
            shutil.move(house / name, house.parent / name)
    before = Ledger(house / "ledger.db").entries()
    with pytest.raises(LedgerError, match="does not hold") as refusal:
        release(house, "three")
    assert "sudare ledger reconcile" in str(refusal.value)
    assert Ledger(house / "ledger.db").entries() == before
    assert not (house / "three").exists()
    job = Job.open(house / "three.toml")
    with pytest.raises(LedgerError, match="does not hold"):
        job.ledger.spend("village", TENTH, "x", parameters=job.terms)


def test_another_path_and_a_moved_recipe_are_refused(house, tmp_path):
    release(house, "one")
    with pytest.raises(LedgerError, match="does not hold the row of an earlier release of data set 'village'"):
        release(house, "two", ledger="other.db")
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    shutil.copy(house / "people.csv", moved)
    with pytest.raises(LedgerError, match="does not hold a row that this machine has spent") as refusal:
        release(moved, "two")
    assert str(house / "ledger.db") in str(refusal.value)
    assert release(moved, "three", ledger=str(house / "ledger.db")) == []


def test_a_copy_that_went_on_is_refused_where_the_other_did_too(house):
    release(house, "one")
    shutil.copytree(house, house.parent / "copy")
    release(house, "two")
    with pytest.raises(LedgerError, match="does not hold a row"):
        release(house.parent / "copy", "three")


def test_confirmed_once_the_other_history_is_in_a_row(house):
    release(house, "one")
    head = Ledger(house / "ledger.db").head()
    deleted(house)
    release(house, "two", more=", confirm_other_history = true")
    assert Ledger(house / "ledger.db").entries()[-1].content["heads"] == [head]
    assert release(house, "three") == []
    assert Ledger(house / "ledger.db").balance("village").releases == 2


def test_a_survey_is_compared_with_the_last_ledger_too(house):
    text = """name = "lunch"
question = "Lunch?"
answers = {{type = "labels", labels = ["yes", "no"]}}
privacy = {{epsilon = 0.5}}
ledger = {{path = "{path}", dataset = "village", cap = {{epsilon = 1}}{more}}}
"""
    release(house, "one")
    for name, more in (("other", ""), ("confirmed", ", confirm_other_history = true")):
        (house / f"{name}.toml").write_text(text.format(path=f"{name}.db", more=more))
    other, confirmed = load(house / "other.toml"), load(house / "confirmed.toml")
    with pytest.raises(LedgerError, match="does not hold a row"):
        other.ledger.enter(other)
    confirmed.ledger.enter(confirmed)
    confirmed.ledger.enter(confirmed)
    assert Ledger(house / "confirmed.db").balance("village").releases == 1


def test_the_plan_and_the_studio_say_it_before(house):
    from sudare.language.catalogue import ENGLISH
    from sudare.studio.service import StudioService
    from sudare.studio.workspace import Workspace

    (house / "a.toml").write_text(RECIPE.format(dataset="village", ledger="ledger.db", more="", folder="a"))
    page = StudioService(Workspace.open(house / "a.toml")).publish_page(ENGLISH)
    assert page.can_publish
    assert page.remarks[0].startswith("a new ledger begins at")
    publish(house / "a.toml")
    deleted(house)
    (house / "b.toml").write_text(RECIPE.format(dataset="village", ledger="ledger.db", more="", folder="b"))
    page = StudioService(Workspace.open(house / "b.toml")).publish_page(ENGLISH)
    assert not page.can_publish
    assert "does not hold" in page.problem.message
    assert sudare("plan", house / "b.toml")[0] == 1


def test_what_others_could_have_written_is_not_remembered(house, state):
    release(house, "one")
    (kept,) = state.glob("head-*.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    shutil.move(house / "one", house.parent / "one")
    deleted(house)
    for content, mode in ((kept.read_bytes(), 0o622), (b"", 0o600), (b"[1]", 0o600), (b'{"head": 1}', 0o600)):
        kept.write_bytes(content)
        kept.chmod(mode)
        Job.open(house / "one.toml").ledger.check("village", TENTH, parameters=Job.open(house / "one.toml").terms)


def test_a_machine_that_cannot_remember_says_so(house, state):
    state.write_text("where the folder should be")
    assert any("this machine cannot remember" in said for said in release(house, "one"))


# Reconciling


def test_reconciling_books_what_a_restored_ledger_lacks_once(house):
    release(house, "one")
    keep(house)
    release(house, "two")
    release(house, "three")
    true = Ledger(house / "ledger.db").balance("village")
    restored(house)
    for number, words in ((2, ["known already", "booked as row 3", "booked as row 4"]), (0, ["known already"] * 3)):
        before = Ledger(house / "ledger.db").verify()
        code, said = sudare(
            "ledger", "reconcile", house, "--publisher", house / "sudare-publisher.pem", "--ledger", house / "ledger.db"
        )
        assert code == 0
        assert [line.split(": ")[1] for line in said.splitlines()[:3]] == words
        assert Ledger(house / "ledger.db").verify() == before + number
    assert Ledger(house / "ledger.db").balance("village").spent == true.spent
    later = [row.content for row in Ledger(house / "ledger.db").entries()[-2:]]
    assert [content["booked_later"] for content in later] == [True, True]
    made = {json.loads((house / name / "release.json").read_text())["release_id"] for name in ("two", "three")}
    assert {content["release_id"] for content in later} == made  # certificates of one second have no order
    release(house, "four")
    assert Ledger(house / "ledger.db").balance("village").spent.epsilon == Fraction(4, 10)


def test_reconciling_passes_a_cap_and_says_so(house):
    release(house, "one")
    release(house, "two")
    deleted(house)
    Ledger(house / "ledger.db").set_cap("village", epsilon="0.15")
    code, said = sudare(
        "ledger", "reconcile", house, "--publisher", house / "sudare-publisher.pem", "--ledger", house / "ledger.db"
    )
    assert code == 0
    assert "Note: village has spent more than its cap" in said
    with pytest.raises(BudgetError, match="not enough budget left"):
        Ledger(house / "ledger.db").spend("village", TENTH, "three")


def test_reconciling_refuses_what_does_not_verify(house):
    release(house, "one")
    release(house, "two")
    (house / "one" / "table.csv").write_text("sex,count\nf,1\n")
    deleted(house)
    code, said = sudare(
        "ledger", "reconcile", house, "--publisher", house / "sudare-publisher.pem", "--ledger", house / "ledger.db"
    )
    assert code == 1
    assert "refused" in said
    assert "a file differs from the one that was certified" in said
    assert Ledger(house / "ledger.db").balance("village").releases == 1
    code, said = sudare("ledger", "reconcile", house / "two", "--publisher", "0" * 64, "--ledger", house / "new.db")
    assert code == 1
    assert "signed by another publisher" in said
    assert not (house / "new.db").exists()
    assert (
        sudare(
            "ledger",
            "reconcile",
            house / "state",
            "--publisher",
            house / "sudare-publisher.pem",
            "--ledger",
            house / "new.db",
        )[0]
        == 1
    )


def test_reconciling_counts_what_has_no_guarantee_and_refuses_another_unit_in_an_account(house):
    release(house, "one")
    deleted(house)
    ledger = Ledger(house / "ledger.db")
    ledger.set_account("days", unit="day", epsilon=1)
    ledger.join("village", "days")
    (refused,) = reconcile(ledger, [house], publisher=house / "sudare-publisher.pem").releases
    assert isinstance(refused.refused, BudgetError)
    ledger.join("village", "days", units=2)
    (booked,) = reconcile(ledger, [house], publisher=house / "sudare-publisher.pem").releases
    assert ledger.account("days").spent.epsilon == Fraction(2, 10)
    assert ledger.entries()[-1].id == booked.row


def test_restored_at_random_moments_a_year_adds_up(house, full):
    # Restore an older copy at a random moment, several times; what is out is booked again, and the sum is that of all
    # certificates, whatever was restored.
    moments = random.Random() if full else random.Random(20261116)  # noqa: S311 - when to restore, not what to hide
    copies, out = [], 0
    for round_ in range(20 if full else 3):
        for _ in range(moments.randint(1, 3)):
            release(house, f"out-{out}", more=", confirm_same_data = true")
            out += 1
            copies.append((house / "ledger.db").read_bytes())
            if out % 10 == 9:  # a new year: the cap is raised
                Ledger(house / "ledger.db").set_cap("village", epsilon=1, confirm=True)
        older = moments.choice(copies[:-1] or [b""])
        (house / "ledger.db").write_bytes(older)
        if moments.random() < 0.3:
            (house / "ledger.db").unlink()
        with pytest.raises((LedgerError, BudgetError)):
            release(house, f"never-{round_}")
        made = reconcile(Ledger(house / "ledger.db"), [house], publisher=house / "sudare-publisher.pem")
        assert all(each.refused is None for each in made.releases)
        assert Ledger(house / "ledger.db").balance("village").spent.epsilon == Fraction(out, 10)
        if out >= 7:
            for path in house.glob("out-*"):
                if path.is_dir():
                    shutil.rmtree(path)
            Ledger(house / "ledger.db").verify()
            for path in house.glob("ledger.db*"):
                path.unlink()
            shutil.rmtree(os.environ["SUDARE_STATE"])
            copies, out = [], 0


# Names that look alike


@pytest.mark.parametrize(
    "name",
    ["Village", "ｖｉｌｌａｇｅ", "vіllаge", "νillage", "vil lage", "vil-lage", "vi11age", "village\u3164", "ｖillage"],
)
def test_a_name_that_looks_like_another_is_refused(house, name):
    release(house, "one")
    (house / "people.csv").write_text("person,sex\nq,f\n")
    with pytest.raises(LedgerError, match="its name looks like that of another one") as refusal:
        release(house, "two", dataset=name)
    assert "village" in str(refusal.value)
    ledger = Ledger(house / "ledger.db")
    for use in (lambda: ledger.set_cap(name, epsilon=9), lambda: ledger.spend(name, TENTH, "x")):
        with pytest.raises(LedgerError, match="looks like"):
            use()
    ledger.set_account("people", epsilon=1)
    with pytest.raises(LedgerError, match="looks like"):
        ledger.join(name, "people")
    assert ledger.datasets() == ("village",)
    release(house, "two", dataset=name, more=", confirm_similar_name = true, confirm_other_history = true")
    assert len(ledger.datasets()) == 2


def test_names_that_differ_in_punctuation_or_in_the_script_of_their_digits_look_alike():
    names = [
        "trips 2026-11",
        "trips_2026_11",
        "Trips-2026.11",
        "trips–2026/11",
        "(trips) ２０２６—１１",
        "trips-۲۰۲۶-১১",
    ]
    assert len({skeleton(name) for name in names}) == 1


def test_names_that_differ_to_the_eye_have_their_own_skeleton():
    names = [
        "village",
        "villages",
        "trips-2026-11",
        "trips-2026-12",
        "trips-1-11",
        "trips-11-1",
        "住民",
        "住居",
        "東京都",
        "京都",
        "café",
        "cafe",
    ]
    assert len({skeleton(name) for name in names}) == len(names)


# The row is read back, and the clock


def test_a_row_that_is_gone_after_the_commit_is_noticed(house, monkeypatch):
    # As in a folder that another program synchronises: its older copy comes back just after the commit.
    ledger = Ledger(house / "ledger.db")
    ledger.set_cap("village", epsilon=1)
    older, connect, opened = ledger.path.read_bytes(), sqlite3.connect, []

    def synchronised(*arguments, **options):
        opened.append(arguments)
        if len(opened) == 2:
            ledger.path.write_bytes(older)
        return connect(*arguments, **options)

    monkeypatch.setattr(sqlite3, "connect", synchronised)
    with pytest.raises(LedgerError, match="does not have the row that was written to it"):
        ledger.spend("village", TENTH, "lost")


def test_a_clock_that_went_back_is_remarked(house):
    ledger = Ledger(house / "ledger.db")
    ledger.set_cap("village", epsilon=1)
    ahead = chain.next_entry(ledger.entries()[-1], "2999-01-01T00:00:00.000000Z", "village", "cap", {
        "epsilon": "2", "delta": "0", "rho": None
    })  # fmt: skip
    insert(ledger.path, [ahead])
    with pytest.warns(LedgerWarning, match="the clock went back: row 2 of the ledger is later than now"):
        ledger.spend("village", TENTH, "one")
    code, said = sudare("ledger", "verify", "--ledger", ledger.path)
    assert code == 0
    assert "Note: the clock went back before rows 3;" in said


# Checkpoints


def insert(path: Path, entries: list[chain.Entry]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = [tuple(getattr(entry, name) for name in chain.COLUMNS) for entry in entries]
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def change(path: Path, statement: str, *values: int) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


PROMISES = (
    Guarantee("epsilon-DP", Unit("person"), epsilon="0.01"),
    Guarantee("epsilon-DP", Unit("person"), epsilon="1/7"),
    Guarantee("(epsilon, delta)-DP", Unit("person"), epsilon="0.02", delta="1e-12"),
    Guarantee("rho-zCDP", Unit("person"), rho="1/1000"),
    Guarantee("k-anonymity", Unit("person")),
)


@pytest.fixture
def long(tmp_path):
    """A ledger of many rows, of two data sets in one account, with a checkpoint."""
    ledger = Ledger(tmp_path / "long.db")
    ledger.set_cap("village", epsilon=100, delta="1e-6")
    ledger.set_account("residents", epsilon=200, delta="1e-6")
    ledger.join("village", "residents")
    ledger.join("town", "residents", part="town")
    last, entries = ledger.entries()[-1], []
    for number in range(FEWEST + STEP):
        content = {
            "release_id": f"old-{number}", "recipe_hash": None, "note": None, "unbounded": number % 5 == 4,
            "guarantee": PROMISES[number % 5].to_json(),
            "sources": [{"fingerprint": f"{number:064x}", "key": "ab" * 8}], "same_data_as": [],
        }  # fmt: skip
        last = chain.next_entry(last, last.time, ("village", "town")[number % 2], "spend", content)
        entries.append(last)
    insert(ledger.path, entries)
    ledger.spend("village", TENTH, "first")
    return ledger


def standing(ledger: Ledger) -> list[dict[str, object]]:
    found: list[Balance] = [ledger.balance(name) for name in ("village", "town", "nobody")]
    found += [ledger.check("village", promise, accept_no_guarantee=True) for promise in PROMISES]
    return [balance.to_json() for balance in found]


def test_a_spend_reads_the_rows_after_its_checkpoint_and_sums_are_the_same(long, state, monkeypatch):
    (kept,) = state.glob("checkpoint-*.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "old-1" not in kept.read_text()
    hashed, digest = [], chain._digest
    monkeypatch.setattr(chain, "_digest", lambda *values: hashed.append(values[0]) or digest(*values))
    long.spend("village", TENTH, "second")
    long.spend("town", PROMISES[3], "third")
    assert len(hashed) < 20
    fast = standing(long)
    assert len(hashed) < 60
    monkeypatch.setenv("SUDARE_STATE", "off")
    assert standing(long) == fast
    assert len(hashed) > FEWEST


def test_what_lies_before_a_checkpoint_still_counts(long, monkeypatch):
    for use in (
        lambda: long.spend("village", TENTH, "old-2"),
        lambda: long.spend("town", TENTH, "new", sources=[Fingerprint(f"{2:064x}", "ab" * 8)]),
        lambda: long.spend("town", TENTH, "new", sources=[Fingerprint("cd" * 32, "ef" * 8)]),
        lambda: long.spend("Village", TENTH, "new"),
    ):
        with pytest.raises(LedgerError):
            use()
    with pytest.raises(BudgetError):
        long.spend("village", Guarantee("epsilon-DP", Unit("person"), epsilon=99), "too much")
    assert long.verify(long.entries()[10].hash) == FEWEST + STEP + 5


def test_edits_are_found_after_a_checkpoint_by_a_spend_and_before_it_by_verify(long):
    spent = long.balance("village").spent
    change(long.path, "UPDATE entries SET payload = replace(payload, 'old', 'new') WHERE id = 20")
    change(long.path, "DELETE FROM entries WHERE id = 30")
    assert long.balance("village").spent == spent  # what was verified counts, not what was written since
    for use in (long.verify, long.entries, lambda: Ledger.open(long.path)):
        with pytest.raises(LedgerError, match="row 20 of the ledger"):
            use()
    assert sudare("ledger", "verify", "--ledger", long.path)[0] == 1
    assert sudare("ledger", "show", "--ledger", long.path)[0] == 1


def test_a_row_after_the_checkpoint_or_the_checkpoint_itself_is_verified(long):
    long.spend("village", TENTH, "second")
    change(long.path, "UPDATE entries SET time = '2020' WHERE id = ?", FEWEST + STEP + 6)
    with pytest.raises(LedgerError, match=f"row {FEWEST + STEP + 6} of the ledger"):
        long.spend("village", TENTH, "third")
    change(long.path, "DELETE FROM entries WHERE id = ?", FEWEST + STEP + 6)
    change(long.path, "UPDATE entries SET time = '2020' WHERE id = ?", FEWEST + STEP + 5)
    with pytest.raises(LedgerError, match=f"row {FEWEST + STEP + 5} of the ledger"):
        long.spend("village", TENTH, "third")


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"format": 2}', None])
def test_a_checkpoint_that_cannot_be_relied_on_is_as_none(long, state, content):
    (kept,) = state.glob("checkpoint-*.json")
    if content is None:  # another count: a sum that was lowered
        lowered = json.loads(kept.read_text())
        lowered["booked"]["village"] = {}
        content = json.dumps(lowered).encode()
    kept.write_bytes(content)
    change(long.path, "UPDATE entries SET time = '2020' WHERE id = 20")
    with pytest.raises(LedgerError, match="row 20 of the ledger"):
        long.spend("village", TENTH, "second")


def test_a_ledger_cut_off_before_its_checkpoint_is_read_as_a_whole(long, state):
    whole = long.balance("town").releases
    change(long.path, "DELETE FROM entries WHERE id > ?", FEWEST)
    assert 0 < long.balance("town").releases < whole
    assert long.verify() == FEWEST


# Moving a ledger


def test_an_exported_ledger_is_imported_whole_or_not_at_all(house):
    release(house, "one")
    ledger = Ledger(house / "ledger.db")
    text = house / "ledger.jsonl"
    assert sudare("ledger", "export", text, "--ledger", ledger.path)[0] == 0
    assert stat.S_IMODE(text.stat().st_mode) == 0o600
    with pytest.raises(OutputError, match="exists already"):
        export_ledger(ledger.path, text)
    with pytest.raises(LedgerError, match="already"):
        import_ledger(text, ledger.path)
    lines = text.read_text().splitlines(keepends=True)
    for broken in (lines[:-1], lines[1:], [*lines, lines[-1]], [lines[0], lines[2], lines[1]], ["{}\n"], ["no\n"], []):
        (house / "broken.jsonl").write_text("".join(broken))
        with pytest.raises((InputError, LedgerError)):
            import_ledger(house / "broken.jsonl", house / "new.db")
        assert not (house / "new.db").exists()
    ledger.path.unlink()
    code, said = sudare("ledger", "import", text, "--ledger", ledger.path)
    assert code == 0
    assert "2 rows" in said
    assert ".key" in said
    assert release(house, "two") == []
