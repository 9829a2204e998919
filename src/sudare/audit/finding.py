"""What an audit says: one `Finding` for each thing that was tried, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sudare.errors import ParameterError

PARTS = ("replay", "laws", "distinguishers", "sampling", "behaviour")
"""The parts of an audit, in the order they are run."""


@dataclass(frozen=True)
class Finding:
    """One thing that was tried: ``times`` says how often, ``figure`` what was seen, ``allowed`` what it may be.

    >>> Finding("laws", "a coin", True, 1000, "p = 0.3", "p above 1e-09").passed
    True
    """

    part: str
    name: str
    passed: bool
    times: int
    figure: str
    allowed: str

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise ParameterError("no such part of an audit", value=self.part, allowed=", ".join(PARTS))
        if self.times < 1:
            raise ParameterError("what was never tried is no finding", value=self.name)

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "part": self.part,
            "name": self.name,
            "passed": self.passed,
            "times": self.times,
            "figure": self.figure,
            "allowed": self.allowed,
        }


@dataclass(frozen=True)
class Audit:
    """All findings of a run, the figures that were measured without a bound, and what was not tried.

    ``neighbours`` names the adversarial ones among those that were replayed.
    """

    findings: tuple[Finding, ...]
    measured: dict[str, str]
    limits: tuple[str, ...]
    quick: bool
    neighbours: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return bool(self.findings) and all(finding.passed for finding in self.findings)

    def of(self, part: str) -> tuple[Finding, ...]:
        """The findings of one part."""
        return tuple(finding for finding in self.findings if finding.part == part)

    @property
    def facts(self) -> dict[str, str]:
        """What a person wants to read first."""
        failed = sum(not finding.passed for finding in self.findings)
        return {
            "result": "nothing found" if self.passed else f"{failed} of {len(self.findings)} findings are failures",
            "form": "quick" if self.quick else "full",
            **{part: _summed(self.of(part)) for part in PARTS},
        }

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "passed": self.passed,
            "quick": self.quick,
            "findings": [finding.to_json() for finding in self.findings],
            "neighbours": list(self.neighbours),
            "measured": self.measured,
            "limits": list(self.limits),
        }


def _summed(findings: tuple[Finding, ...]) -> str:
    failed = sum(not finding.passed for finding in findings)
    tried = sum(finding.times for finding in findings)
    return f"{len(findings)} checks, {tried:,} trials, {failed or 'no'} failed"
