"""What a release promises, to whom, and under which assumptions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from sudare.errors import ParameterError
from sudare.privacy.budget import Budget, exact, positive, readable

NOTIONS = (
    "epsilon-DP",
    "(epsilon, delta)-DP",
    "rho-zCDP",
    "epsilon-LDP",
    "Pk-anonymity",
    "k-anonymity",
    "none: seeded",
    "none",
)
# What each notion needs; the two anonymities may carry an epsilon (local, evaluated) or not.
_NUMBERS: dict[str, set[str]] = {
    "epsilon-DP": {"epsilon"},
    "(epsilon, delta)-DP": {"epsilon", "delta"},
    "rho-zCDP": {"rho"},
    "epsilon-LDP": {"epsilon"},
    "none: seeded": set(),
    "none": set(),
}
_FACTS: dict[str, set[str]] = {"(epsilon, delta)-DP": {"rho"}}
"""Numbers that a notion may carry besides: what the noise costs in rho, where it is Gaussian."""
ADJACENCIES = ("add or remove one unit", "replace one record")


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
        if type(self.max_rows) is not int or self.max_rows < 1:
            raise ParameterError("max_rows is not a whole number from 1 on", value=self.max_rows)
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
        """Plain JSON."""
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

    ``in_no_ledger`` says that no ledger has counted the release: it adds to whatever else was made of the same data.

    >>> print(Guarantee.pure(Fraction(1, 2), Unit("person")))
    epsilon-DP with epsilon = 0.5; neighbours: add or remove one unit; unit: person with at most 1 row

    ``rho`` beside (epsilon, delta) is what the same release costs in zCDP, the smaller claim by which it is added to
    others: the caller's word, which nothing here derives from or compares with epsilon and delta. ``replace_rho`` is
    what it costs to replace one unit by another, where the neighbours are added or removed and the method shows less
    than the four times rho that hold for any two steps.
    """

    notion: str
    unit: Unit = field(default_factory=Unit)
    adjacency: str = ADJACENCIES[0]
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    public: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    replace_rho: Fraction | None = None
    in_no_ledger: bool = False

    def __post_init__(self) -> None:
        if self.notion not in NOTIONS:
            raise ParameterError("unknown notion of privacy", value=self.notion, allowed=", ".join(NOTIONS))
        if self.adjacency not in ADJACENCIES:
            raise ParameterError("unknown adjacency", value=self.adjacency, allowed=", ".join(ADJACENCIES))
        given = {name for name in ("epsilon", "delta", "rho") if getattr(self, name) is not None}
        if self.notion in _NUMBERS and given - _FACTS.get(self.notion, set()) != _NUMBERS[self.notion]:
            raise ParameterError(
                f"{self.notion} needs exactly {' and '.join(sorted(_NUMBERS[self.notion])) or 'no number'}",
                value=sorted(given),
            )
        if self.notion not in _NUMBERS and not given <= {"epsilon"}:
            raise ParameterError(f"{self.notion} has no number but epsilon", value=sorted(given))
        for name in given:
            object.__setattr__(self, name, positive(getattr(self, name), name))
        if self.delta is not None and self.delta >= 1:
            raise ParameterError("delta promises nothing", value=self.delta, allowed="0 < delta < 1")
        self._check_replace_rho()
        for name in ("public", "assumptions"):
            if isinstance(getattr(self, name), str):
                raise ParameterError(f"{name} is one text and not a sequence of texts", value=getattr(self, name))
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def _check_replace_rho(self) -> None:
        if self.replace_rho is None:
            return
        cost = positive(self.replace_rho, "replace_rho")
        # A move between two parts of a data set is a removal and an addition, which cost rho each.
        if self.rho is None or self.adjacency != ADJACENCIES[0] or not 2 * self.rho <= cost <= 4 * self.rho:
            raise ParameterError(
                "replace_rho is not the cost of two steps",
                value=cost,
                allowed="2 rho to 4 rho, beside rho, where units are added or removed",
            )
        object.__setattr__(self, "replace_rho", cost)

    @classmethod
    def pure(cls, epsilon: Fraction, unit: Unit, **facts: Any) -> Guarantee:
        """Pure epsilon-DP."""
        return cls("epsilon-DP", unit, epsilon=epsilon, **facts)

    @classmethod
    def of(cls, budget: Budget, unit: Unit, **facts: Any) -> Guarantee:
        """The guarantee of what was measured with ``budget`` in all."""
        if budget.epsilon is not None:
            return cls.pure(budget.epsilon, unit, **facts)
        return cls("rho-zCDP", unit, rho=budget.rho, **facts)

    def without_protection(self, notion: str = "none: seeded") -> Guarantee:
        """The same release when its noise could be drawn again: nothing is promised."""
        why = "the noise comes from a seed that anyone may know" if notion == "none: seeded" else "no noise"
        nothing = replace(self, notion=notion, epsilon=None, delta=None, rho=None, replace_rho=None, assumptions=(why,))
        return nothing.booked()

    def unbooked(self) -> Guarantee:
        """The same where no ledger has counted the release; a seeded one has nothing to be counted."""
        return self if self.notion == "none: seeded" else replace(self, in_no_ledger=True)

    def booked(self) -> Guarantee:
        """The same where a ledger counts the release."""
        return replace(self, in_no_ledger=False)

    @property
    def holds(self) -> bool:
        """False where nothing is promised."""
        return not self.notion.startswith("none")

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
            parts.append("public: " + ", ".join(self.public))
        if self.assumptions:
            parts.append("assumes: " + ", ".join(self.assumptions))
        if self.in_no_ledger:
            parts.append("in no ledger")
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; numbers as exact fractions (``"1/10"``) so that nothing is lost."""
        stated = {} if self.replace_rho is None else {"replace_rho": str(self.replace_rho)}
        return {
            "notion": self.notion,
            **{
                name: None if (value := getattr(self, name)) is None else str(value)
                for name in ("epsilon", "delta", "rho")
            },
            **stated,
            "unit": self.unit.to_json(),
            "adjacency": self.adjacency,
            "public": list(self.public),
            "assumptions": list(self.assumptions),
            **({"in_no_ledger": True} if self.in_no_ledger else {}),
            "text": str(self),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Guarantee:
        """The inverse of `to_json`."""
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
                public=tuple(data["public"]),
                assumptions=tuple(data["assumptions"]),
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
