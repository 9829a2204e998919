"""Statements: guarantees worked out once more, in another way, beside what the package states.

A release can be sound and its guarantee too small, so that the ledger adds up less than was spent. Where a guarantee
follows from public numbers alone, the same is found here from first principles: the conversion of rho by its formula in
long numbers over all orders, the rho of a pure release from randomised response, which attains it, and sums by hand.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from sudare.anonymity.terms import Terms
from sudare.audit.finding import Finding, said
from sudare.domain import CountTable
from sudare.errors import PrivacyWarning
from sudare.local import SymmetricUnary, repeated
from sudare.noise import Source
from sudare.privacy import Guarantee, Unit, epsilon_for
from sudare.privacy.composition import Total, sequential
from sudare.privacy.zcdp import rho_of_pure
from sudare.tables import release

Rules = dict[str, bool]
"""Whether each rule was kept, by its code: ``audit_name.`` in the catalogue says it."""
_MILLIONTH = Fraction(1, 10**6)
CONVERTED = ((Fraction(1, 100), _MILLIONTH), (Fraction(1, 2), _MILLIONTH), (Fraction(7), Fraction(1, 10**9)))


def statement_findings() -> Iterator[Finding]:
    """A finding for the arithmetic of costs, and one for guarantees of releases."""
    for name, rules in (("arithmetic of costs", cost_rules()), ("stated guarantees", guarantee_rules())):
        yield rule_finding(f"statements, {name}", rules)


def rule_finding(name: str, rules: Rules) -> Finding:
    """Rules that were kept or broken, as a finding."""
    broken = [rule for rule, kept in rules.items() if not kept]
    seen = said("seen_rules_kept")
    if broken:
        seen = said("seen_rules", broken=str(len(broken)), tried=str(len(rules)), first=broken[0])
    return Finding("behaviour", name, not broken, len(rules), seen, said("allowed_rules"))


def cost_rules() -> Rules:
    """Rules that check conversions between notions of privacy, and sums of costs."""
    half, own = Guarantee("epsilon-DP", epsilon=Fraction(1, 2)), Fraction(1, 10**7)
    failing = Guarantee("(epsilon, delta)-DP", epsilon=Fraction(1), delta=own)
    gaussian = Guarantee("rho-zCDP", rho=Fraction(1, 10))
    both = Total.of([failing, gaussian])
    at, alone = both.epsilon_at(2 * own), epsilon_for(Fraction(1, 10), 2 * own)
    return {
        "rho_is_read_as_an_epsilon_that_is_large_enough": all(
            exactly(epsilon_for(rho, delta)) >= converted(rho, delta) for rho, delta in CONVERTED
        ),
        "the_rho_of_a_pure_release_is_large_enough": all(
            rho_of_pure(epsilon) >= attained(float(epsilon)) for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3))
        ),
        "epsilons_add_up": sequential(half, half, half).epsilon == Fraction(3, 2),
        "rhos_add_up": sequential(gaussian, gaussian).rho == Fraction(1, 5),
        "what_releases_may_fail_by_is_taken_off_first": both.epsilon_at(own) is None and at is not None and at > alone,
    }


def guarantee_rules() -> Rules:
    """Releases whose guarantee is known beforehand."""
    terms: dict[str, Any] = {"k": 20, "sample": Fraction(1, 10), "epsilon": 1}
    free = Terms.of(("x",), Unit(), origin="levels", **terms).guarantee
    chosen = Terms.of(("x",), Unit(), origin="chosen", choose_epsilon=Fraction(1, 2), **terms).guarantee
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        seeded = release(CountTable.from_array(np.eye(4, dtype=np.int64)), epsilon=1, source=Source.from_seed(1))
    return {
        "choosing_levels_is_charged": free.epsilon == 1 and chosen.epsilon == Fraction(3, 2),
        "reports_of_a_person_add_up": repeated(SymmetricUnary(size=4, epsilon=Fraction(1)), 30).epsilon == 30,
        "seeded_noise_promises_nothing": not seeded.guarantee.holds,
    }


def exactly(epsilon: Fraction) -> Any:
    """A rational number as an mpmath number of 60 digits."""
    from mpmath import mp

    with mp.workdps(60):
        return mp.mpf(epsilon.numerator) / epsilon.denominator


def converted(rho: Fraction, delta: Fraction) -> Any:
    """The least epsilon of rho-zCDP at ``delta`` over all orders, to 30 digits (Canonne, Kamath and Steinke 2020)."""
    from mpmath import mp

    with mp.workdps(60):
        cost, share = exactly(rho), exactly(delta)

        def at(order: Any) -> Any:
            return cost * order + mp.log(1 / (order * share)) / (order - 1) + mp.log(1 - 1 / order)

        def slope(order: Any) -> Any:
            return cost - mp.log(1 / (order * share)) / (order - 1) ** 2

        start = 1 + mp.sqrt(mp.log(1 / share) / cost)
        best = mp.findroot(slope, (start, 1 + (start - 1) * mp.mpf("0.8")), tol=mp.mpf(10) ** -50)
        return at(best)


def attained(epsilon: float) -> float:
    """What randomised response, which is epsilon-DP, needs of rho: the largest D_order / order, found on a grid."""
    keep = 1 / (1 + np.exp(-epsilon))
    orders = np.geomspace(1.001, 200, 4000)
    terms = np.logaddexp(
        orders * np.log(keep) + (1 - orders) * np.log(1 - keep), orders * np.log(1 - keep) + (1 - orders) * np.log(keep)
    )
    return float((terms / (orders - 1) / orders).max())
