"""Laws of budgets, of composition and of the ledger, for any numbers."""

import math
from fractions import Fraction
from functools import reduce
from itertools import permutations, product
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sudare.errors import BudgetError
from sudare.privacy import Balance, Budget, Cap, Guarantee, Ledger, epsilon_for, parallel, rho_for, sequential
from sudare.privacy.account import Account
from sudare.privacy.balance import Member, People
from sudare.privacy.composition import ADDED, REPLACED, Total

amounts = st.fractions(min_value=Fraction(1, 10**6), max_value=5, max_denominator=10**6)
deltas = st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(1, 100), max_denominator=10**12)
pure = st.builds(Guarantee, st.just("epsilon-DP"), epsilon=amounts)
zcdp = st.builds(Guarantee, st.just("rho-zCDP"), rho=amounts)
approximate = st.builds(
    Guarantee, st.just("(epsilon, delta)-DP"), epsilon=amounts, delta=deltas.map(lambda delta: delta / 10)
)
unbounded = st.sampled_from([Guarantee("none"), Guarantee("k-anonymity")])
one_notion = st.sampled_from([pure, zcdp, approximate]).flatmap(lambda kind: st.lists(kind, min_size=1, max_size=6))
caps = st.one_of(
    st.builds(Cap, epsilon=amounts),
    st.builds(Cap, epsilon=amounts, delta=deltas),
    st.builds(lambda rho, delta: Cap(rho=rho, delta=delta), amounts, deltas),
)


@given(amounts, st.sampled_from(["epsilon", "rho"]), st.lists(amounts, min_size=1, max_size=20))
def test_a_budget_splits_exactly_to_the_whole(amount, currency, shares):
    whole = Budget(**{currency: amount})
    parts = whole.split(shares)
    assert reduce(Budget.__add__, parts) == whole
    assert all(part.amount * sum(shares) == amount * share for part, share in zip(parts, shares, strict=True))


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=30))
def test_decimals_add_up_as_written(thousandths):
    written = [Guarantee("epsilon-DP", epsilon=number / 1000) for number in thousandths]
    assert sequential(*written).epsilon == Fraction(sum(thousandths), 1000)


@given(one_notion, st.randoms(use_true_random=False))
def test_sequential_composition_is_commutative(guarantees, random):
    shuffled = random.sample(guarantees, len(guarantees))
    assert sequential(*shuffled) == sequential(*guarantees)


@given(one_notion, st.data())
def test_sequential_composition_is_associative(guarantees, data):
    cut = data.draw(st.integers(1, len(guarantees)))
    first, rest = guarantees[:cut], guarantees[cut:]
    assert sequential(sequential(*first), *rest) == sequential(*guarantees)


@given(st.lists(pure, min_size=1, max_size=4), st.lists(zcdp, min_size=1, max_size=4))
def test_composing_at_once_never_costs_more_than_in_steps(pures, zcdps):
    at_once = sequential(*pures, *zcdps)
    assert at_once.rho <= sequential(sequential(*pures), *zcdps).rho
    assert at_once == sequential(sequential(pures[0], *zcdps), *pures[1:])


@given(one_notion)
def test_parallel_is_at_most_sequential_and_at_least_each_part(guarantees):
    together, in_turn = parallel(*guarantees, disjoint_units=True), sequential(*guarantees)
    for name in ("epsilon", "delta", "rho"):
        if getattr(together, name) is not None:
            assert getattr(together, name) == max(getattr(part, name) for part in guarantees)
            assert getattr(together, name) <= getattr(in_turn, name)


@given(amounts, amounts, deltas)
def test_conversion_is_monotone_and_its_inverse_is_safe(rho, more, delta):
    assert epsilon_for(rho, delta) <= epsilon_for(rho + more, delta)
    assert epsilon_for(rho, delta) >= epsilon_for(rho, delta * 2)
    epsilon = epsilon_for(rho, delta)
    assume(epsilon > 0)
    back = rho_for(epsilon, delta)
    assert epsilon_for(back, delta) <= epsilon
    assert abs(back / rho - 1) < Fraction(1, 10**8)


@given(caps, st.lists(st.one_of(pure, zcdp, approximate, unbounded), max_size=12))
@settings(max_examples=60, deadline=None)
def test_an_account_never_passes_its_cap_and_admits_what_remains(cap, requests):
    account, refusals = Account("census", cap), []
    for request in requests:
        try:
            account = account.admit(request, accept_no_guarantee=True)
        except BudgetError as refusal:
            refusals.append(str(refusal))
    assert all("requested" in sentence and "remaining" in sentence for sentence in refusals)
    assert not any("difference -" in sentence or "difference ~-" in sentence for sentence in refusals)
    balance = account.balance
    if cap.rho is None:
        assert balance.spent.epsilon <= cap.epsilon
        assert balance.spent.delta <= cap.delta
    else:
        assert balance.spent.rho <= cap.rho
    # By a sum that shares no code with the check: pure epsilons alone.
    if all(guarantee.notion == "epsilon-DP" for guarantee in account.guarantees) and cap.delta == 0:
        assert sum(guarantee.epsilon for guarantee in account.guarantees) <= cap.epsilon
    if balance.remaining.epsilon:
        account.admit(Guarantee("epsilon-DP", epsilon=balance.remaining.epsilon))
    if balance.remaining.rho:
        account.admit(Guarantee("rho-zCDP", rho=balance.remaining.rho))


@given(caps, st.lists(st.one_of(pure, zcdp, approximate), max_size=8), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_releases_does_not_change_a_total(cap, guarantees, random):
    shuffled = random.sample(guarantees, len(guarantees))
    assert Total.of(shuffled) == Total.of(guarantees)
    assert Balance.of("census", cap, shuffled).spent == Balance.of("census", cap, guarantees).spent


@given(st.lists(st.one_of(pure, zcdp, approximate), max_size=6), st.one_of(pure, zcdp, approximate), deltas)
@settings(deadline=None)
def test_one_more_release_never_costs_less_and_replacing_never_less_than_adding(guarantees, more, delta):
    before, after = (Total.of(each, ADDED).epsilon_at(delta) for each in (guarantees, [*guarantees, more]))
    moved = Total.of([*guarantees, more], REPLACED).epsilon_at(delta)
    # The best order is searched in floating point, so a bound may be off its best by a part in 10^9.
    slack = 1 + Fraction(1, 10**9)
    assert after is None or (before is not None and before <= after * slack + Fraction(1, 10**9))
    assert moved is None or (after is not None and after <= moved * slack + Fraction(1, 10**9))


@given(st.lists(pure, min_size=1, max_size=7), deltas)
@settings(max_examples=50, deadline=None)
def test_a_sum_is_above_the_exact_composition_of_randomized_responses(guarantees, delta):
    """By enumeration of all outcomes, in floating point: shares nothing with the sum but the theorem."""
    epsilon = float(Total.of(guarantees).epsilon_at(delta))
    sizes = [float(guarantee.epsilon) for guarantee in guarantees]
    rights = [1 / (1 + math.exp(-size)) for size in sizes]
    failed = 0.0
    for answers in product((1, -1), repeat=len(sizes)):
        chance = math.prod(right if answer > 0 else 1 - right for right, answer in zip(rights, answers, strict=True))
        loss = sum(size * answer for size, answer in zip(sizes, answers, strict=True))
        failed += chance * max(0.0, -math.expm1(epsilon - loss))
    assert failed <= float(delta) * (1 + 1e-9) + 1e-13


parts = st.lists(st.lists(st.one_of(pure, zcdp), max_size=3), min_size=1, max_size=4)


@given(parts, st.lists(pure, max_size=2), st.booleans(), deltas)
@settings(max_examples=50, deadline=None)
def test_an_account_bounds_whoever_stays_and_whoever_moves(parts, common, replaced, delta):
    if replaced:
        common = [*common, Guarantee("epsilon-DP", adjacency=REPLACED, epsilon=Fraction(1, 10))]
    members = [Member(f"set {number}", f"part {number}", 1, tuple(part)) for number, part in enumerate(parts)]
    people = People(
        "all", Cap(epsilon=Fraction(1000), delta=delta), "row", (*members, Member("all", guarantees=common))
    )
    spent = Balance.of_people(people).spent.epsilon * (1 + Fraction(1, 10**9)) + Fraction(1, 10**9)
    for part in parts:
        assert Total.of([*part, *common], people.adjacency).epsilon_at(delta) <= spent
    if replaced:
        for one, other in permutations(parts, 2):
            moved = Total.of([*one, *other], ADDED) + Total.of(common, REPLACED)
            assert moved.epsilon_at(delta) <= spent


@given(
    st.integers(1, 40),
    st.lists(st.tuples(st.sampled_from(["spend", "cap"]), st.integers(1, 30)), min_size=1, max_size=8),
)
@settings(max_examples=15, deadline=None)
def test_the_ledger_agrees_with_sums_on_paper(first_cap, steps):
    with TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.db")
        ledger.set_cap("census", epsilon=first_cap / 10)
        cap, spent = first_cap, 0
        for number, (kind, tenths) in enumerate(steps):
            if kind == "cap":
                ledger.set_cap("census", epsilon=tenths / 10, confirm=True)
                cap = tenths
                continue
            guarantee = Guarantee("epsilon-DP", epsilon=tenths / 10)
            try:
                ledger.spend("census", guarantee, f"release-{number}")
                admitted = True
            except BudgetError:
                admitted = False
            assert admitted == (spent + tenths <= cap)
            spent += tenths * admitted
        assert ledger.balance("census").spent.epsilon == Fraction(spent, 10)
        assert ledger.balance("census").remaining.epsilon == max(Fraction(0), Fraction(cap - spent, 10))
        ledger.verify()
