"""Where a data set stands: its cap, what its releases cost together, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sudare.privacy.budget import readable
from sudare.privacy.cap import Amounts, Cap
from sudare.privacy.composition import Total, composes
from sudare.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Balance:
    """The account of one data set.

    ``spent``: epsilon at the cap's delta, the releases' own deltas, and the same spending in rho: views of
    one thing, not parts of it. ``remaining``: the largest pure epsilon, delta and rho that one more release
    could have; None without a cap. Under a delta it may be less than the cap minus ``spent``: many small pure
    releases count as rho where that is less, a single large one does not. ``unbounded`` of the ``releases``
    promise nothing that adds up, so no number here bounds what they gave away. Where ``units`` or
    ``adjacencies`` has several entries, the sum is a budget that was kept and not a guarantee for one of them.
    """

    dataset: str
    cap: Cap | None
    spent: Amounts
    remaining: Amounts | None
    releases: int
    unbounded: int
    units: tuple[str, ...]
    adjacencies: tuple[str, ...]

    @classmethod
    def of(cls, dataset: str, cap: Cap | None, guarantees: Sequence[Guarantee]) -> Balance:
        """The account after releases with ``guarantees``.

        >>> tenth = Guarantee("epsilon-DP", epsilon=Fraction(1, 10))
        >>> print(Balance.of("census", Cap(epsilon=Fraction(3, 10)), [tenth, tenth]))
        census: cap epsilon 0.3; spent epsilon 0.2; remaining epsilon 0.1; releases 2
        """
        counted = [guarantee for guarantee in guarantees if composes(guarantee)]
        total = Total.of(counted)
        return cls(
            dataset,
            cap,
            Amounts(total.epsilon_at(cap.delta if cap else total.delta), total.delta, total.all_rho),
            cap.remaining(total) if cap else None,
            len(guarantees),
            len(guarantees) - len(counted),
            tuple(dict.fromkeys(str(guarantee.unit) for guarantee in counted)),
            tuple(dict.fromkeys(guarantee.adjacency for guarantee in counted)),
        )

    @property
    def mixed(self) -> bool:
        """True where releases protect different units, or count neighbours differently."""
        return len(self.units) > 1 or len(self.adjacencies) > 1

    @property
    def spent_text(self) -> str:
        """``spent`` in the cap's currency."""
        if self.cap and self.cap.rho is not None:
            return _named("rho", self.spent.rho)
        own_delta = f", delta {readable(self.spent.delta)}" if self.spent.delta else ""
        return _named("epsilon", self.spent.epsilon) + own_delta

    @property
    def remaining_text(self) -> str:
        """``remaining``, the cap's currency first."""
        if self.cap is None or self.remaining is None:
            return "nothing: no cap"
        epsilon, rho = _named("epsilon", self.remaining.epsilon), _named("rho", self.remaining.rho)
        if self.cap.rho is not None:
            return f"{rho} or {epsilon}"
        return f"{epsilon} or {rho}, delta {readable(self.remaining.delta)}" if self.cap.delta else epsilon

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of the numbers must know besides."""
        remarks = []
        if self.unbounded:
            remarks.append(f"{self.unbounded} without a guarantee that adds up")
        if len(self.adjacencies) > 1:
            remarks.append("mixed neighbours: " + " / ".join(self.adjacencies))
        if len(self.units) > 1:
            remarks.append("mixed units: " + " / ".join(self.units))
        return tuple(remarks)

    def __str__(self) -> str:
        parts = [
            f"cap {self.cap}" if self.cap else "no cap",
            f"spent {self.spent_text}",
            f"remaining {self.remaining_text}",
            f"releases {self.releases}",
        ]
        return f"{self.dataset}: " + "; ".join([*parts, *self.remarks])

    def _repr_html_(self) -> str:
        from sudare.privacy.shown import balance_card
        from sudare.words import spoken_here

        return balance_card(self, spoken_here())

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, numbers as exact fractions."""
        return {
            "dataset": self.dataset,
            "cap": self.cap.to_json() if self.cap else None,
            "spent": self.spent.to_json(),
            "remaining": self.remaining.to_json() if self.remaining else None,
            "releases": self.releases,
            "unbounded": self.unbounded,
            "units": list(self.units),
            "adjacencies": list(self.adjacencies),
            "text": str(self),
        }


def _named(name: str, amount: Fraction | None) -> str:
    return f"{name} {readable(amount)}" if amount is not None else f"without a number in {name}"
