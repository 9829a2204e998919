import pytest

from sudare.errors import BudgetError, LedgerError
from sudare.privacy import Cap, Guarantee
from sudare.privacy.account import Account, LedgerContents
from sudare.privacy.chain import next_entry

HALF = Guarantee("epsilon-DP", epsilon=0.5)
SPEND = {"release_id": "a", "guarantee": HALF.to_json()}
CAP = Cap.of(epsilon=1)


def entry(dataset, kind, content):
    return next_entry(None, "2025-01-01T00:00:00Z", dataset, kind, content)


def test_account_is_the_last_cap_and_all_releases_of_its_data_set():
    rows = [
        entry("census", "cap", CAP.to_json()),
        entry("census", "spend", SPEND),
        entry("trips", "spend", SPEND),
        entry("census", "cap", Cap.of(rho=2, delta=0.1).to_json()),
    ]
    assert LedgerContents(rows).account("census") == Account("census", Cap.of(rho=2, delta=0.1), (HALF,), ("trips",))


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("cap", {"epsilon": "1"}),
        ("cap", {"epsilon": "-1", "delta": "0", "rho": None}),
        ("cap", []),
        ("spend", {"release_id": "a"}),
        ("spend", {"release_id": "a", "guarantee": {"notion": "epsilon-DP"}}),
        ("spend", {"guarantee": HALF.to_json()}),
    ],
)
def test_a_row_without_its_content_is_named(kind, content):
    with pytest.raises(LedgerError, match=f"row 1 of the ledger does not hold a readable {kind}"):
        LedgerContents([entry("census", kind, content)]).account("census")


def test_without_a_cap_the_refusal_says_how_to_set_one():
    with pytest.raises(
        BudgetError,
        match=r"data set 'big census' has no cap in the ledger. "
        "Set one, for instance with: sudare ledger set-cap 'big census' --epsilon 1",
    ):
        Account("big census").admit(HALF)
    with pytest.raises(BudgetError, match=r"Did you mean 'census'\? Set one"):
        Account("cenus", other_datasets=("trips", "census")).admit(HALF)


def test_default_cap_counts_only_where_none_is_set():
    assert Account("census").admit(HALF, default_cap=CAP).cap == CAP
    small = Cap.of(epsilon=0.1)
    with pytest.raises(BudgetError, match=r"requested epsilon 0.5, remaining 0.1, difference 0.4"):
        Account("census", small).admit(HALF, default_cap=CAP)
    with pytest.raises(BudgetError, match=r"requested epsilon 0.5, remaining 0.1, difference 0.4"):
        Account("census").admit(HALF, default_cap=small)


def test_a_seeded_release_is_refused_whatever_is_accepted():
    with pytest.raises(BudgetError, match=r"a seeded release cannot be published. Leave the seed out"):
        Account("census", CAP).admit(HALF.without_protection(), accept_no_guarantee=True)


@pytest.mark.parametrize(
    "guarantee",
    [Guarantee("none"), Guarantee("k-anonymity"), Guarantee("k-anonymity", epsilon=0.1), Guarantee("Pk-anonymity")],
    ids=str,
)
def test_what_no_cap_can_count_must_be_accepted(guarantee):
    account = Account("census", Cap.of(epsilon=0.5), (HALF,))
    for word in (False, 1, "true"):
        with pytest.raises(BudgetError, match=r"cannot be counted against a cap.*set accept_no_guarantee = true"):
            account.admit(guarantee, accept_no_guarantee=word)
    assert account.admit(guarantee, accept_no_guarantee=True).balance.unbounded == 1
    assert Account("new").admit(guarantee, accept_no_guarantee=True).cap is None


def test_what_was_accepted_before_costs_nothing_later():
    account = Account("census", CAP, (Guarantee("none"), HALF))
    assert account.admit(HALF).balance.remaining.epsilon == 0
    with pytest.raises(BudgetError, match=r"remaining 0.5"):
        account.admit(Guarantee("epsilon-DP", epsilon=0.6))


@pytest.mark.parametrize("notion", ["epsilon-LDP", "Pk-anonymity"])
def test_perturbation_charges_its_local_epsilon(notion):
    assert Account("census", CAP).admit(Guarantee(notion, epsilon=0.75)).balance.remaining.epsilon == 0.25
