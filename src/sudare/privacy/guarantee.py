"""What a release promises, to whom, and under which assumptions.

`cautions` are warnings about guarantees that hold but protect little, such as a large epsilon: the release is not
refused.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from sudare.errors import Message, ParameterError, PrivacyWarning, together
from sudare.privacy.budget import Budget, exact, positive, readable, whole
from sudare.privacy.fact import Fact
from sudare.privacy.zcdp import epsilon_for


class _Named(StrEnum):
    """A value that equals the text by which certificates and ledgers name it, and is shown as that text."""

    def __repr__(self) -> str:
        return repr(self.value)


class Notion(_Named):
    """What kind of privacy is promised.

    >>> Notion.PURE == "epsilon-DP", Notion.SEEDED.holds
    (True, False)
    """

    PURE = "epsilon-DP"
    APPROXIMATE = "(epsilon, delta)-DP"
    CONCENTRATED = "rho-zCDP"
    LOCAL = "epsilon-LDP"
    PK = "Pk-anonymity"
    K = "k-anonymity"
    SEEDED = "none: seeded"
    NONE = "none"

    @property
    def holds(self) -> bool:
        """False where nothing is promised."""
        return self not in (Notion.SEEDED, Notion.NONE)


class Adjacency(_Named):
    """Which two data sets are neighbours."""

    ADDED = "add or remove one unit"
    REPLACED = "replace one record"


NOTIONS, ADJACENCIES = tuple(Notion), tuple(Adjacency)
# What each notion needs; the two anonymities may carry an epsilon (local, evaluated) or not.
_NUMBERS: dict[str, set[str]] = {
    Notion.PURE: {"epsilon"},
    Notion.APPROXIMATE: {"epsilon", "delta"},
    Notion.CONCENTRATED: {"rho"},
    Notion.LOCAL: {"epsilon"},
    Notion.SEEDED: set(),
    Notion.NONE: set(),
}
_FACTS: dict[str, set[str]] = {Notion.APPROXIMATE: {"rho"}}
"""Numbers that a notion may carry besides: what the noise costs in rho, where it is Gaussian."""


@dataclass(frozen=True)
class Unit:
    """Who is protected: ``name`` with at most ``max_rows`` rows, per ``period`` if one is declared.

    ``counted_elsewhere`` says that the data came as counts: nobody here has bounded how often a unit is in them.

    >>> str(Unit("person", max_rows=2, period="day")), str(Unit("household", counted_elsewhere=True))
    ('person-day with at most 2 rows', 'household counted at most 1 time')
    """

    name: str = "row"
    max_rows: int = 1
    period: str | None = None
    counted_elsewhere: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_rows", whole(self.max_rows, "max_rows"))
        if not self.name:
            raise ParameterError("a unit has no name", value=self.name)
        if self.name == "row" and self.max_rows > 1:
            raise ParameterError(
                "max_rows needs a unit that has rows", value=self.max_rows, hint="Name the unit's id column."
            )

    @property
    def kind(self) -> str:
        """Who it is, whatever the number of rows: the cost of a guarantee covers all of them.

        >>> Unit("person", max_rows=2, period="day").kind
        'person-day'
        """
        return self.name + (f"-{self.period}" if self.period else "")

    def to_json(self) -> dict[str, Any]:
        plain = {"name": self.name, "max_rows": self.max_rows, "period": self.period}
        return {**plain, "counted_elsewhere": True} if self.counted_elsewhere else plain

    def __str__(self) -> str:
        who = self.kind
        if self.counted_elsewhere:
            return f"{who} counted at most {self.max_rows} {'time' if self.max_rows == 1 else 'times'}"
        rows = "row" if self.max_rows == 1 else "rows"
        return who if self.name == "row" else f"{who} with at most {self.max_rows} {rows}"


@dataclass(frozen=True)
class Guarantee:
    """A promise with its numbers, its unit, its adjacency, what is public, and what it rests on.

    ``notion`` and ``adjacency`` may be given as text. ``public`` and ``assumptions`` are facts; a text in their place
    is read as a stored sentence (`Fact.from_text`). ``in_no_ledger`` says that no ledger has counted the release: it
    adds to whatever else was made of the same data.

    >>> print(Guarantee.pure(Fraction(1, 2), Unit("person")))
    epsilon-DP with epsilon = 0.5; neighbours: add or remove one unit; unit: person with at most 1 row

    ``rho`` beside (epsilon, delta) is what the same release costs in zCDP, the smaller claim by which it is added to
    others; it is stated by the caller, and neither derived from epsilon and delta nor compared with them.
    ``replace_rho`` is the cost of replacing one unit by another, where the neighbours are added or removed and the
    method proves less than the four times rho that hold for any two steps.
    """

    notion: str
    unit: Unit = field(default_factory=Unit)
    adjacency: str = Adjacency.ADDED
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    public: tuple[Fact, ...] = ()
    assumptions: tuple[Fact, ...] = ()
    replace_rho: Fraction | None = None
    in_no_ledger: bool = False

    def __post_init__(self) -> None:
        if self.notion not in NOTIONS:
            raise ParameterError("unknown notion of privacy", value=self.notion, allowed=NOTIONS)
        if self.adjacency not in ADJACENCIES:
            raise ParameterError("unknown adjacency", value=self.adjacency, allowed=ADJACENCIES)
        object.__setattr__(self, "notion", Notion(self.notion))
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        given = {name for name in ("epsilon", "delta", "rho") if getattr(self, name) is not None}
        if self.notion in _NUMBERS and given - _FACTS.get(self.notion, set()) != _NUMBERS[self.notion]:
            raise ParameterError(
                "{notion} needs exactly {numbers}",
                value=sorted(given),
                notion=self.notion,
                numbers=together(sorted(_NUMBERS[self.notion])) if _NUMBERS[self.notion] else Message("no number"),
            )
        if self.notion not in _NUMBERS and not given <= {"epsilon"}:
            raise ParameterError("{notion} takes no number but epsilon", value=sorted(given), notion=self.notion)
        for name in given:
            object.__setattr__(self, name, positive(getattr(self, name), name))
        if self.delta is not None and self.delta >= 1:
            raise ParameterError("delta is not below 1", value=self.delta, allowed="0 < delta < 1")
        self._check_replace_rho()
        for name in ("public", "assumptions"):
            if isinstance(getattr(self, name), str):
                raise ParameterError(
                    "{name} is one text and not a sequence of texts", value=getattr(self, name), name=name
                )
            facts = (each if isinstance(each, Fact) else Fact.from_text(each) for each in getattr(self, name))
            object.__setattr__(self, name, tuple(facts))

    def _check_replace_rho(self) -> None:
        if self.replace_rho is None:
            return
        cost = positive(self.replace_rho, "replace_rho")
        # A move between two parts of a data set is a removal and an addition, which cost rho each.
        if self.rho is None or self.adjacency != Adjacency.ADDED or not 2 * self.rho <= cost <= 4 * self.rho:
            raise ParameterError(
                "replace_rho is not the cost of two steps",
                value=cost,
                allowed="2 rho to 4 rho, beside rho, where units are added or removed",
            )
        object.__setattr__(self, "replace_rho", cost)

    @classmethod
    def pure(cls, epsilon: Fraction, unit: Unit, **facts: Any) -> Guarantee:
        """Pure epsilon-DP."""
        return cls(Notion.PURE, unit, epsilon=epsilon, **facts)

    @classmethod
    def of(cls, budget: Budget, unit: Unit, **facts: Any) -> Guarantee:
        """The guarantee of what was measured with ``budget`` in all."""
        if budget.epsilon is not None:
            return cls.pure(budget.epsilon, unit, **facts)
        return cls(Notion.CONCENTRATED, unit, rho=budget.rho, **facts)

    def without_protection(self, notion: str = Notion.SEEDED) -> Guarantee:
        """The same release when its noise could be drawn again: nothing is promised."""
        why = Fact("seed" if notion == Notion.SEEDED else "no_noise")
        nothing = replace(self, notion=notion, epsilon=None, delta=None, rho=None, replace_rho=None, assumptions=(why,))
        return nothing.booked()

    def unbooked(self) -> Guarantee:
        """The same where no ledger has counted the release; a seeded one has nothing to be counted."""
        return self if self.notion == Notion.SEEDED else replace(self, in_no_ledger=True)

    def booked(self) -> Guarantee:
        """The same where a ledger counts the release."""
        return replace(self, in_no_ledger=False)

    @property
    def holds(self) -> bool:
        """False where nothing is promised."""
        return Notion(self.notion).holds

    def __str__(self) -> str:
        numbers = [
            f"{name} = {readable(value)}"
            for name in ("epsilon", "delta", "rho")
            if (value := getattr(self, name)) is not None
        ]
        parts = [self.notion + (f" with {', '.join(numbers)}" if numbers else "")]
        if self.holds:
            parts += [f"neighbours: {self.adjacency}", f"unit: {self.unit}"]
        if self.public:
            parts.append("public: " + ", ".join(map(str, self.public)))
        if self.assumptions:
            parts.append("assumes: " + ", ".join(map(str, self.assumptions)))
        if self.in_no_ledger:
            parts.append("in no ledger")
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; numbers as exact fractions (``"1/10"``) so that nothing is lost."""
        stated = {} if self.replace_rho is None else {"replace_rho": str(self.replace_rho)}
        return {
            "notion": str(self.notion),
            **{
                name: None if (value := getattr(self, name)) is None else str(value)
                for name in ("epsilon", "delta", "rho")
            },
            **stated,
            "unit": self.unit.to_json(),
            "adjacency": str(self.adjacency),
            "public": [str(fact) for fact in self.public],
            "assumptions": [str(fact) for fact in self.assumptions],
            **({"in_no_ledger": True} if self.in_no_ledger else {}),
            "text": str(self),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Guarantee:
        try:
            numbers = {
                name: None if data.get(name) is None else exact(data[name], name)
                for name in ("epsilon", "delta", "rho", "replace_rho")
            }
            unit = data["unit"]
            "".join((unit["name"], unit.get("period") or "", *data["public"], *data["assumptions"]))  # texts, all
            return cls(
                data["notion"],
                Unit(**unit),
                data["adjacency"],
                public=tuple(map(Fact.from_text, data["public"])),
                assumptions=tuple(map(Fact.from_text, data["assumptions"])),
                in_no_ledger=data.get("in_no_ledger", False) is True,
                **numbers,
            )
        except (AttributeError, KeyError, TypeError):
            raise ParameterError(
                "the JSON of a guarantee lacks a part or has a wrong one",
                allowed="notion, epsilon, delta, rho, unit, adjacency, public, assumptions",
            ) from None


@runtime_checkable
class Publishable(Protocol):
    """What report and publish need to know of a result of any topic."""

    @property
    def guarantee(self) -> Guarantee:
        """What the result promises."""

    @property
    def summary(self) -> dict[str, Any]:
        """Plain facts about the result that may be public."""


LARGE_EPSILON = 20
"""Odds may change by the factor exp(20), five hundred million, which protects hardly anybody."""
_LARGEST = Fraction(10**300)  # that a double holds
_READ_AT = Fraction(1, 10**6)
"""The delta at which rho is read as an epsilon."""


def cautions(guarantee: Guarantee, people: int | None = None) -> tuple[PrivacyWarning, ...]:
    """The warnings for a guarantee; ``people`` is how many are in the data, where that is declared and public.

    A release with a delta of one in the number of people may be one that shows somebody's record as it is: it is
    (0, 1/people)-DP to publish the record of one person drawn at random.

    >>> print(*cautions(Guarantee("epsilon-DP", epsilon=Fraction(25))))
    this epsilon protects hardly anybody (got 25; allowed: advised: at most 20)
    """
    if not guarantee.holds:
        return ()
    found = []
    epsilon = guarantee.epsilon if guarantee.rho is None else epsilon_for(guarantee.rho, _READ_AT)
    if epsilon is not None and epsilon > LARGE_EPSILON:
        shown = Decimal(f"{float(min(epsilon, _LARGEST)):.4g}")
        found.append(PrivacyWarning("this epsilon protects hardly anybody", value=shown, allowed="advised: at most 20"))
    if people is not None and guarantee.delta is not None and guarantee.delta * people > 1:
        found.append(
            PrivacyWarning(
                "delta is above one in the number of people",
                value=guarantee.delta,
                allowed="advised: well below 1/{people}",
                hint="With such a delta the whole record of somebody may be shown.",
                people=people,
            )
        )
    return tuple(found)


def warn_of(guarantee: Guarantee, people: int | None = None) -> None:
    """Issue the `cautions` as Python warnings, at the caller of the calling function."""
    for caution in cautions(guarantee, people):
        warnings.warn(caution, stacklevel=3)
