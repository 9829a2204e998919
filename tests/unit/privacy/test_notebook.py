"""Balances and ledgers in notebooks, and guarantees in one line."""

import subprocess
import sys
from fractions import Fraction

import pytest

from sudare.language.catalogue import Words
from sudare.privacy import Cap, Guarantee, Ledger, Unit
from sudare.privacy.balance import Balance
from sudare.privacy.guarantee import ADJACENCIES, NOTIONS
from sudare.privacy.notebook import NAMES, balance_facts, balance_row, headline, spent_share

TENTH = Guarantee("epsilon-DP", Unit("person"), epsilon=Fraction(1, 10))
EN, JA = Words("en"), Words("ja")


def test_a_balance_shows_what_is_spent_and_left():
    balance = Balance.of("census", Cap(epsilon=Fraction(1, 2)), [TENTH, TENTH])
    shown = balance._repr_html_()
    assert "Balance of census" in shown
    assert "width:40%" in shown
    assert balance_facts(balance, EN) == {
        "data set": "census",
        "cap": "ε = 0.5",
        "spent": "ε = 0.2",
        "one more release may cost": "ε = 0.3",
        "releases": "2",
        "what this bounds": "what adding or removing one person can change",
        "how it is summed": "the epsilons are added",
    }


def test_a_cap_in_rho_is_read_in_rho():
    spent = Guarantee("rho-zCDP", Unit("person"), rho=Fraction(1, 100))
    balance = Balance.of("census", Cap(rho=Fraction(1, 10), delta=Fraction(1, 10**6)), [spent])
    facts = balance_facts(balance, EN)
    assert facts["cap"] == "ρ = 0.1, δ = 0.000001"
    assert facts["spent"] == "ρ = 0.01"
    assert facts["one more release may cost"].startswith("ρ = 0.09 or ε = ")
    assert spent_share(balance) == pytest.approx(0.1)


def test_without_a_cap_there_is_no_bar_and_mixtures_are_named():
    replaced = Guarantee("epsilon-DP", Unit("row"), ADJACENCIES[1], epsilon=Fraction(1))
    balance = Balance.of("census", None, [TENTH, replaced, Guarantee("k-anonymity")])
    facts = balance_facts(balance, EN)
    assert facts["cap"] == "none"
    assert facts["without a guarantee that adds up"] == "1"
    assert facts["several units, whose costs cannot be added up"] == "person and row"
    assert (facts["spent"], "what this bounds" in facts) == ("–", False)
    assert 'role="img"' not in balance._repr_html_()


@pytest.mark.parametrize(
    ("spent", "how"),
    [
        ([TENTH], "the epsilons are added"),
        (
            [Guarantee("rho-zCDP", Unit("person"), rho=0.01)],
            "all rho is added and converted once into an epsilon, at δ = 0.000001",
        ),
        ([TENTH] * 400, "order by order (Rényi divergences of order "),
        (
            [Guarantee("epsilon-DP", Unit("person"), epsilon=8), Guarantee("rho-zCDP", Unit("person"), rho=1e-12)],
            "beside them all rho",
        ),
        ([], None),
    ],
)
def test_each_sum_says_where_it_comes_from(spent, how):
    balance = Balance.of("census", Cap.of(epsilon=9, delta=1e-6), spent)
    facts = balance_facts(balance, EN)
    assert how is None or how in facts["how it is summed"]
    assert how is None or facts["what this bounds"] == "what adding or removing one person can change"
    assert how is not None or "how it is summed" not in facts
    assert len(balance_facts(balance, Words("ja"))) == len(facts)


def test_neighbours_and_periods_are_explained():
    day = Unit("person", period="day")
    moved = Guarantee("epsilon-DP", day, ADJACENCIES[1], epsilon=Fraction(1, 2))
    balance = Balance.of("census", Cap.of(epsilon=9), [Guarantee("epsilon-DP", day, epsilon=Fraction(1, 2)), moved])
    facts = balance_facts(balance, EN)
    assert facts["what this bounds"].startswith(
        "what replacing one person-day by another can change; releases made for"
    )
    assert facts["one person over 365 periods (person-day)"] == "at most ε = 547.5"


def test_a_ledger_lists_its_data_sets(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    assert "No data set yet." in ledger._repr_html_()
    ledger.set_cap("census <b>", epsilon=1)
    ledger.spend("census <b>", TENTH, "first")
    shown = ledger._repr_html_()
    assert "census &lt;b&gt;" in shown
    assert "ε = 0.9" in shown


@pytest.mark.parametrize("notion", NOTIONS)
def test_every_notion_has_a_line(notion):
    numbers = {name: Fraction(1, 2) for name in ("epsilon", "delta", "rho") if name in notion}
    if notion == "rho-zCDP":
        numbers = {"rho": Fraction(1, 2)}
    line = headline(Guarantee(notion, **numbers), EN)
    assert line
    assert ("0.5" in line) == bool(numbers)
    assert set(NAMES) == set(NOTIONS)


@pytest.mark.slow
def test_nothing_heavy_is_loaded_before_a_notebook_asks():
    code = (
        "import sys, sudare, sudare.privacy.ledger, sudare.tables.release;"
        "print([m for m in ('babel', 'sudare.render', 'vl_convert', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_remarks_on_a_balance_are_said_in_the_readers_language():
    person, day = (Guarantee("epsilon-DP", Unit("person", period=period), epsilon=1) for period in (None, "day"))
    people = Balance.of("people", Cap.of(epsilon=3), [person])
    balance = Balance.of("census", Cap.of(epsilon=9), [person, day], account=people)
    units, account = balance.remarks
    assert str(units) == "different units, whose costs cannot be added up: person / person-day"
    assert str(account) == "in account people remaining epsilon 2"
    assert balance_row(balance, EN)[-1] == f"{units}; {account}"
    assert balance_row(balance, JA)[-1] == (
        "保護単位が混在しており、消費を合計できません：person / person-day、口座 people の残り：epsilon 2"
    )
