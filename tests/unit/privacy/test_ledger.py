import json
import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

import sudare
from sudare.errors import BudgetError, LedgerError, ParameterError
from sudare.privacy import Balance, Budget, Cap, Guarantee, Ledger, Unit
from sudare.privacy.account import LedgerContents
from sudare.privacy.chain import next_entry
from sudare.tables.release import budget_of, promise

PERSON = Unit("person")
TENTH = Guarantee("epsilon-DP", PERSON, epsilon=0.1)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db")


@pytest.fixture
def filled(ledger):
    ledger.set_cap("census", epsilon=1)
    for number in range(4):
        ledger.spend("census", TENTH, f"release-{number}")
    return ledger


@contextmanager
def opened(ledger):
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        yield connection


def change(ledger, statement):
    with opened(ledger) as connection:
        connection.execute(statement)


def test_a_tenth_and_two_tenths_fill_three_tenths_exactly(ledger):
    ledger.set_cap("census", epsilon=0.3)
    ledger.spend("census", TENTH, "a")
    ledger.spend("census", Guarantee("epsilon-DP", PERSON, epsilon=0.2), "b")
    assert ledger.balance("census").spent.epsilon == Fraction(3, 10)
    assert ledger.balance("census").remaining.epsilon == 0
    with pytest.raises(BudgetError, match="requested epsilon 1e-30, remaining 0, difference 1e-30"):
        ledger.spend("census", Guarantee("epsilon-DP", PERSON, epsilon="1e-30"), "c")
    assert ledger.balance("census").releases == 2


def test_a_spend_is_one_row_with_everything_in_it(ledger):
    ledger.set_cap("census", epsilon="1/3")
    before = datetime.now(UTC)
    entry = ledger.spend("census", TENTH, "a", recipe_hash="abc", note="first\nnote")
    assert ledger.entries()[-1] == entry
    assert ledger.head() == entry.hash
    assert entry.kind == "spend"
    assert entry.content == {
        "release_id": "a",
        "recipe_hash": "abc",
        "note": "first\nnote",
        "unbounded": False,
        "guarantee": TENTH.to_json(),
        "sources": [],
        "same_data_as": [],
    }
    assert before <= datetime.fromisoformat(entry.time) <= datetime.now(UTC)
    assert entry.time.endswith("Z")
    assert ledger.entries()[0].content == {"epsilon": "1/3", "delta": "0", "rho": None}


def test_data_sets_do_not_share_a_budget(ledger):
    ledger.set_cap("census", epsilon=0.1)
    ledger.set_cap("trips", epsilon=0.1)
    ledger.spend("census", TENTH, "a")
    ledger.spend("trips", TENTH, "a")  # one release may draw on two data sets
    assert ledger.datasets() == ("census", "trips")
    assert [entry.id for entry in ledger.entries("trips")] == [2, 4]
    assert [balance.releases for balance in ledger.balances()] == [1, 1]


def test_a_refused_spend_leaves_no_trace(filled):
    before = filled.entries()
    with pytest.raises(BudgetError):
        filled.spend("census", Guarantee("epsilon-DP", PERSON, epsilon=2), "big")
    with pytest.raises(BudgetError):
        filled.spend("trips", Guarantee("epsilon-DP", PERSON, epsilon=2), "big", default_cap=Cap.of(epsilon=1))
    assert filled.entries() == before


def test_a_refusal_makes_no_file(ledger):
    with pytest.raises(BudgetError, match="no cap"):
        ledger.spend("census", TENTH, "a")
    assert ledger.entries() == ()
    assert ledger.head() is None
    assert not ledger.path.exists()


def test_default_cap_is_recorded_with_the_first_spend_only(ledger):
    cap = Cap.of(epsilon=0.2)
    ledger.spend("census", TENTH, "a", default_cap=cap)
    ledger.spend("census", TENTH, "b", default_cap=cap)
    with pytest.raises(BudgetError, match="another cap in the ledger than the one declared here"):
        ledger.spend("census", TENTH, "c", default_cap=Cap.of(epsilon=5))
    assert [entry.kind for entry in ledger.entries()] == ["cap", "spend", "spend"]
    assert ledger.balance("census").cap == cap
    assert ledger.verify() == 3


def test_a_release_is_charged_once(filled):
    with pytest.raises(LedgerError, match=r"the release is already in the ledger \(got 'release-1'; allowed: a new id"):
        filled.spend("census", TENTH, "release-1")
    assert filled.balance("census").releases == 4


def test_a_lowered_cap_leaves_nothing_and_a_raised_one_helps(filled):
    filled.set_cap("census", epsilon=0.2, confirm=True)
    assert filled.balance("census").remaining.epsilon == 0
    with pytest.raises(BudgetError, match=r"requested epsilon 0.1, remaining 0, difference 0.1"):
        filled.spend("census", TENTH, "x")
    filled.set_cap("census", rho=1, delta=1e-6, confirm=True)
    assert filled.balance("census").spent.rho == Fraction(4, 200)
    filled.spend("census", TENTH, "x")


def test_unbounded_releases_are_recorded_as_such(ledger):
    entry = ledger.spend("census", Guarantee("k-anonymity"), "a", accept_no_guarantee=True)
    assert entry.content["unbounded"] is True
    assert ledger.balance("census").unbounded == 1
    with pytest.raises(BudgetError, match="accept_no_guarantee"):
        ledger.spend("census", Guarantee("k-anonymity"), "b")
    with pytest.raises(BudgetError, match="seeded"):
        ledger.spend("census", Guarantee("none: seeded"), "b", accept_no_guarantee=True)


def test_check_says_what_spend_would_do_and_does_nothing(filled):
    before = filled.entries()
    assert filled.check("census", TENTH).remaining.epsilon == Fraction(1, 2)
    with pytest.raises(BudgetError, match=r"remaining 0.6"):
        filled.check("census", Guarantee("epsilon-DP", PERSON, epsilon=0.7))
    assert filled.check("new", TENTH, default_cap=Cap.of(epsilon=1)).releases == 1
    assert filled.check("new", Guarantee("none"), accept_no_guarantee=True).unbounded == 1
    assert filled.entries() == before


def test_an_unknown_data_set_has_nothing(filled):
    balance = filled.balance("new")
    assert (balance.cap, balance.remaining, balance.releases) == (None, None, 0)
    with pytest.raises(LedgerError, match=r"has no such data set \(got 'cenus'; allowed: census\). Did you mean"):
        filled.balances("cenus")


def test_names_that_look_the_same_are_the_same(ledger):
    ledger.set_cap("カ\u3099ス", epsilon=0.1)
    ledger.spend("ガス", TENTH, "a")
    assert ledger.datasets() == ("ガス",)


@pytest.mark.parametrize("name", ["", " census", "census\n", "cen\u200bsus", "a\tb", "x" * 201])
def test_a_name_is_visible(ledger, name):
    with pytest.raises(ParameterError, match=r"the name of a data set is not a name .*1 to 200 visible"):
        ledger.set_cap(name, epsilon=1)
    with pytest.raises(ParameterError, match="a release id is not a name"):
        ledger.spend("census", TENTH, name)


@pytest.mark.parametrize("timeout", [-1, float("inf"), float("nan")])
def test_timeout_is_a_number_of_seconds(tmp_path, timeout):
    with pytest.raises(ParameterError, match="timeout is not a number of seconds"):
        Ledger(tmp_path / "ledger.db", timeout)


def test_json_has_everything(filled):
    filled.set_cap("trips", epsilon=1)
    data = json.loads(json.dumps(filled.to_json("census")))
    assert (data["format"], data["head"]) == (1, filled.head())
    assert [balance["dataset"] for balance in data["balances"]] == ["census"]
    assert [entry["id"] for entry in data["entries"]] == [1, 2, 3, 4, 5]
    assert len(filled.to_json()["entries"]) == 6
    assert repr(filled) == f"Ledger({str(filled.path)!r})"


def test_odd_characters_in_the_path_do_no_harm(tmp_path):
    ledger = Ledger(tmp_path / "a ?mode=ro#%41 簾.db")
    ledger.set_cap("census", epsilon=1)
    assert ledger.path.stat().st_size > 0
    assert Ledger.open(ledger.path).datasets() == ("census",)


def test_spending_is_durable_before_it_is_reported(filled, monkeypatch):
    # A trace of what SQLite is told: the folder is synced (EXTRA), the lock comes before the first read.
    statements = []
    connect = sqlite3.connect

    def traced(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    filled.spend("census", TENTH, "x")
    assert statements[:2] == ["PRAGMA synchronous = EXTRA", "BEGIN IMMEDIATE"]
    committed = statements.index("COMMIT")
    assert not any(statement.startswith(("INSERT", "UPDATE", "PRAGMA user")) for statement in statements[committed:])
    assert "WHERE id = 6" in statements[-1]  # read back, by another connection


# Verification


def test_a_whole_ledger_verifies_with_every_head_it_ever_had(filled):
    heads = [entry.hash for entry in filled.entries()]
    assert [filled.verify(head) for head in heads] == [5] * 5
    assert filled.verify(f" {heads[2].upper()}\n") == 5


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            "UPDATE entries SET payload = replace(payload, '1/10', '1/99') WHERE id = 3",
            "row 3 .* does not fit its hash",
        ),
        ("UPDATE entries SET dataset = 'trips' WHERE id = 2", "row 2 .* does not fit its hash"),
        ("UPDATE entries SET hash = 'xx' || substr(hash, 3) WHERE id = 4", "row 4 .* does not fit its hash"),
        ("UPDATE entries SET payload = CAST(x'ff' AS TEXT) WHERE id = 4", "row 4 .* does not fit its hash"),
        ("UPDATE entries SET payload = x'00' WHERE id = 4", "row 4 .* is not an entry"),
        ("DELETE FROM entries WHERE id = 3", "row 3 .* is missing"),
        ("DELETE FROM entries WHERE id = 1", "row 1 .* is missing"),
    ],
)
def test_a_tampered_row_is_named_and_nothing_more_is_spent(filled, statement, sentence):
    change(filled, statement)
    for use in (filled.verify, filled.entries, lambda: filled.spend("census", TENTH, "x")):
        with pytest.raises(LedgerError, match=sentence):
            use()


def test_rows_that_changed_places_are_seen(filled):
    with opened(filled) as connection:
        for old, new in ((3, 100), (4, 3), (100, 4)):
            connection.execute("UPDATE entries SET id = ? WHERE id = ?", (new, old))
    with pytest.raises(LedgerError, match=r"row 3 of the ledger .* does not follow row 2"):
        filled.verify()


def test_a_ledger_cut_off_at_its_end_lacks_the_published_head(filled):
    head = filled.head()
    change(filled, "DELETE FROM entries WHERE id = 5")
    assert filled.verify() == 4
    with pytest.raises(LedgerError, match=r"the head is not in the chain of the ledger .*cut off or written anew"):
        filled.verify(head)


def test_a_ledger_written_anew_lacks_the_published_head(filled, tmp_path):
    forged = Ledger(tmp_path / "forged.db")
    forged.set_cap("census", epsilon=9)
    with pytest.raises(LedgerError, match="the head is not in the chain"):
        forged.verify(filled.head())


# Faults of the file


def test_open_needs_a_file(ledger):
    with pytest.raises(LedgerError, match=r"there is no ledger at .*ledger.db"):
        Ledger.open(ledger.path)
    with pytest.raises(LedgerError, match="there is no ledger at"):
        ledger.verify()


def test_an_empty_file_is_a_ledger_that_was_interrupted_at_birth(ledger):
    ledger.path.touch()
    assert Ledger.open(ledger.path).entries() == ()
    ledger.set_cap("census", epsilon=1)
    assert ledger.verify() == 1


def test_a_file_of_another_kind_is_refused(ledger):
    ledger.path.write_text("epsilon,delta\n1,0\n" * 100)
    for use in (ledger.entries, lambda: ledger.set_cap("census", epsilon=1)):
        with pytest.raises(LedgerError, match=r"the ledger .*ledger.db is not a SQLite database"):
            use()


def test_a_damaged_file_is_refused(filled):
    content = bytearray(filled.path.read_bytes())
    content[4096:4200] = b"\xaa" * 104
    filled.path.write_bytes(content)
    for use in (filled.verify, filled.entries, lambda: filled.spend("census", TENTH, "x")):
        with pytest.raises(LedgerError, match=r"the ledger .*ledger.db is damaged. Restore it from a backup"):
            use()


def test_damage_beside_the_rows_is_found(filled):
    # The free list in the header announces a page that does not exist; the rows are all there.
    content = bytearray(filled.path.read_bytes())
    content[32:40] = (77).to_bytes(4, "big") + (1).to_bytes(4, "big")
    filled.path.write_bytes(content)
    for use in (filled.verify, filled.entries, lambda: filled.spend("census", TENTH, "x")):
        with pytest.raises(LedgerError, match="is damaged"):
            use()


@pytest.mark.parametrize("length", [1, 99, 100, 1000, 4095, 4096, 4097, 5000, 8000, -4097, -4096])
def test_a_truncated_file_is_refused(filled, length):
    for number in range(5):  # several pages
        filled.spend("census", Guarantee("epsilon-DP", PERSON, epsilon=0.001), f"small-{number}", note="x" * 4000)
    content = filled.path.read_bytes()
    assert len(content) > 5 * 4096
    filled.path.write_bytes(content[:length])
    faults = r"is damaged|is not a|not a ledger|is missing|does not fit its hash"
    for use in (filled.entries, lambda: filled.spend("census", TENTH, "x")):
        with pytest.raises(LedgerError, match=faults):
            use()


def test_the_database_of_another_program_is_refused(ledger):
    change(ledger, "CREATE TABLE entries (id INTEGER PRIMARY KEY)")
    for use in (ledger.entries, lambda: ledger.set_cap("census", epsilon=1)):
        with pytest.raises(LedgerError, match="is a database, but not a ledger of Sudare"):
            use()


@pytest.mark.parametrize(
    ("version", "said"), [(0, "names an unknown format"), *((new, "made by a newer Sudare") for new in (3, 77))]
)
def test_another_format_is_refused(filled, version, said):
    change(filled, f"PRAGMA user_version = {version}")
    for use in (filled.entries, lambda: filled.spend("census", TENTH, "x")):
        with pytest.raises(
            LedgerError,
            match=rf"{said} \(got {version}; allowed: formats up to 2, which Sudare {sudare.__version__} reads\)",
        ):
            use()


def test_a_ledger_without_its_table_is_refused(filled):
    change(filled, "DROP TABLE entries")
    with pytest.raises(LedgerError, match="has other columns or triggers than Sudare gave it"):
        filled.entries()


def test_a_missing_folder_is_named(tmp_path):
    ledger = Ledger(tmp_path / "nowhere" / "ledger.db")
    with pytest.raises(LedgerError, match=r"the folder of the ledger .* does not exist. Make the folder first"):
        ledger.set_cap("census", epsilon=1)
    assert ledger.entries() == ()


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_regular_file_is_no_ledger_and_gets_no_files_beside_it(tmp_path, kind):
    path = tmp_path / "ledger.db"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(os.devnull)
    ledger = Ledger(path)
    uses = (
        ledger.entries,
        ledger.verify,
        ledger.fingerprint_key,
        lambda: ledger.set_cap("census", epsilon=1),
        lambda: ledger.spend("census", TENTH, "a", default_cap=Cap.of(epsilon=1)),
    )
    for use in uses:
        with pytest.raises(LedgerError, match="is not a regular file"):
            use()
    assert list(tmp_path.iterdir()) == [path]
    assert kind != "device" or not Path(os.devnull + ".key").exists()


def test_a_ledger_has_one_key_by_whatever_link_it_is_reached(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    path, link = tmp_path / "ledger.db", tmp_path / "elsewhere" / "books.db"
    link.symlink_to(path)
    assert Ledger(link).fingerprint_key() == Ledger(path).fingerprint_key()
    Ledger(link).set_cap("census", epsilon=1)
    assert Ledger(link).fingerprint_key() == Ledger(path).fingerprint_key()
    assert list(link.parent.iterdir()) == [link]


@contextmanager
def as_somebody_else():
    """Permissions do not bind root, so root steps down for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder(tmp_path):
    """pytest keeps its folders to their owner; another user has to be able to pass through them."""
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o755)
    return tmp_path


def test_a_file_that_is_not_writable_can_be_read_only(filled, open_folder):
    filled.path.chmod(0o444)
    open_folder.chmod(0o555)
    with as_somebody_else():
        assert filled.verify() == 5
        with pytest.raises(LedgerError, match=r"ledger.db is not writable. Allow writing"):
            filled.spend("census", TENTH, "x")
    open_folder.chmod(0o755)


def test_a_folder_that_is_not_writable_is_said(ledger, open_folder):
    open_folder.chmod(0o555)
    with as_somebody_else(), pytest.raises(LedgerError, match=r"ledger.db cannot be opened. Allow"):
        ledger.set_cap("census", epsilon=1)
    open_folder.chmod(0o755)
    assert not ledger.path.exists()


def test_a_file_that_may_not_be_read_is_said(filled, open_folder):
    filled.path.chmod(0o000)
    with as_somebody_else(), pytest.raises(LedgerError, match=r"ledger.db cannot be opened"):
        filled.entries()
    open_folder.chmod(0o000)
    with as_somebody_else(), pytest.raises(LedgerError, match=r"ledger.db cannot be opened"):
        filled.entries()
    open_folder.chmod(0o755)


def test_a_lock_held_too_long_is_an_error_and_nothing_is_spent(filled):
    impatient = Ledger(filled.path, timeout=0.05)
    with closing(sqlite3.connect(filled.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match=r"is locked by another process. Wait until it has ended"):
            impatient.spend("census", TENTH, "x")
        assert impatient.balance("census").releases == 4  # looking is allowed
        other.execute("COMMIT")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerError, match="is locked by another process"):
            impatient.entries()
        other.execute("ROLLBACK")
    impatient.spend("census", TENTH, "x")


def test_a_reader_in_the_way_of_the_commit_is_an_error_and_nothing_is_spent(filled):
    impatient = Ledger(filled.path, timeout=0.05)
    with closing(sqlite3.connect(filled.path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM entries").fetchall()
        with pytest.raises(LedgerError, match="is locked by another process"):
            impatient.spend("census", TENTH, "x")
    assert filled.balance("census").releases == 4


def test_threads_share_one_budget(ledger):
    ledger.set_cap("census", epsilon=0.3)
    outcomes = []

    def spend(number):
        try:
            ledger.spend("census", TENTH, f"release-{number}")
            outcomes.append("spent")
        except BudgetError:
            outcomes.append("refused")

    threads = [threading.Thread(target=spend, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 5 + ["spent"] * 3
    assert ledger.balance("census").spent.epsilon == Fraction(3, 10)


def test_whoever_moves_is_counted_beside_a_public_total(ledger):
    """Epsilon 1/2 add-or-remove, then 1/4 with a public total: 3/2 for a person who moves, where 1 was booked."""
    ledger.set_cap("census", epsilon="149/100")
    ledger.spend("census", promise(PERSON, Budget(epsilon=Fraction(1, 2)), public_total=False), "a")
    moved = promise(PERSON, Budget(epsilon=Fraction(1, 4)), public_total=True)
    with pytest.raises(BudgetError, match=r"requested epsilon 0.5, remaining 0.49"):
        ledger.spend("census", moved, "b")
    ledger.set_cap("census", epsilon=2, confirm=True)
    ledger.spend("census", moved, "b")
    assert ledger.spent("census").epsilon == Fraction(3, 2)
    assert ledger.remaining("census").epsilon == Fraction(1, 2)


@pytest.mark.slow
def test_a_year_of_gaussian_releases_is_converted_once(ledger):
    """Daily (0.05, 1e-8) with Gaussian noise: 18.25 at 3.65e-6 was booked, or refused; it is 0.9041 at 1e-6."""
    daily = promise(PERSON, budget_of("0.05", delta=1e-8), public_total=False, delta=1e-8)
    ledger.set_cap("trips", epsilon=1, delta=1e-6)
    for number in range(40):
        ledger.spend("trips", daily, f"day-{number}")
    year = Balance.of("trips", Cap.of(epsilon=1, delta=1e-6), [daily] * 365)
    assert Fraction(904, 1000) < year.spent.epsilon < Fraction(905, 1000)
    assert ledger.balance("trips").spent.epsilon < Fraction(4, 10)


def test_a_ledger_without_accounts_keeps_its_format(filled):
    def version():
        with closing(sqlite3.connect(filled.path)) as connection:
            return connection.execute("PRAGMA user_version").fetchone()

    assert version() == (1,)
    filled.set_account("residents", epsilon=1)
    assert version() == (2,)
    filled.join("census", "residents")
    assert filled.account("residents").releases == filled.balance("census").releases
    assert filled.verify() == len(filled.entries())


@pytest.mark.parametrize("content", [{}, {"account": "nobody", "part": None, "units": None}, {"account": "residents"}])
def test_a_join_that_says_nothing_is_named(content):
    with pytest.raises(LedgerError, match="row 1 of the ledger does not hold a readable join"):
        LedgerContents([next_entry(None, "2025-01-01T00:00:00Z", "census", "join", content)]).account("census")


def _spend_in_account(path, dataset, start):
    ledger = Ledger(path, timeout=60)
    start.wait()
    admitted = 0
    for number in range(10):
        try:
            ledger.spend(dataset, TENTH, f"{dataset}-{number}")
            admitted += 1
        except BudgetError:
            pass
    return admitted


def test_two_writers_on_two_data_sets_cannot_pass_the_cap_they_share(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_account("residents", epsilon=1)
    for name in ("census", "survey"):
        ledger.join(name, "residents")
    start = threading.Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        admitted = sum(pool.map(lambda name: _spend_in_account(ledger.path, name, start), ("census", "survey")))
    assert admitted == 10
    assert ledger.account("residents").spent.epsilon == 1
