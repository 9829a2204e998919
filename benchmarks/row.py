"""What a benchmark measures, one figure a row.

A part of the scoreboard is a module with one entry, ``rows(quick)``, that yields rows as they are measured. Within a
``case`` (rows that may be compared) a row can name another by ``ratio_to``: its ratio is its value over that one's. A
row with ``at_least`` or ``at_most`` states a goal. Rows with ``series`` and ``at`` are points of a curve (see
`growth`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Row:
    """One figure: ``value`` in ``unit``, or None with a ``note`` that says why there is none."""

    name: str
    value: float | None
    unit: str
    ratio_to: str | None = None
    note: str = ""
    case: str = ""
    at_least: float | None = None
    at_most: float | None = None
    series: str = ""
    at: float | None = None

    def __post_init__(self) -> None:
        if not self.name or not self.unit:
            raise ValueError("a row has a name and a unit")
        if self.value is None:
            if not self.note:
                raise ValueError(f"{self.name}: a figure that could not be measured says why in its note")
        elif not math.isfinite(self.value):
            raise ValueError(f"{self.name}: {self.value} is not a figure")
        if bool(self.series) != (self.at is not None):
            raise ValueError(f"{self.name}: a point of a curve has both a series and a place")

    @property
    def goal(self) -> str:
        """The goal in words; empty without one."""
        parts = [f"at least {show(self.at_least)}"] if self.at_least is not None else []
        parts += [f"at most {show(self.at_most)}"] if self.at_most is not None else []
        return " and ".join(parts)

    @property
    def met(self) -> bool:
        """Whether the goal is met; a figure that is missing meets none."""
        if not self.goal:
            return True
        if self.value is None:
            return False
        return (self.at_least is None or self.value >= self.at_least) and (
            self.at_most is None or self.value <= self.at_most
        )

    def plain(self) -> dict[str, Any]:
        """The row as JSON has it: without what is empty, but always with the five columns that all rows share."""
        shared = ("name", "value", "unit", "ratio_to", "note")
        return {key: value for key, value in asdict(self).items() if key in shared or value not in (None, "")}


def read_rows(found: Iterable[dict[str, Any]]) -> list[Row]:
    """Rows from JSON; keys that rows do not have are left out.

    >>> read_rows([{"name": "Sudare", "value": 2, "unit": "s", "ratio_to": None, "note": "", "more": 1}])[0].value
    2
    """
    known = {field.name for field in fields(Row)}
    return [Row(**{key: value for key, value in row.items() if key in known}) for row in found]


def ratio(row: Row, rows: Iterable[Row]) -> float | None:
    """A row's value over that of the row it is compared with: the one of that name in its case.

    >>> ours, peer = Row("Sudare", 2.0, "s"), Row("peer", 30.0, "s", ratio_to="Sudare")
    >>> ratio(peer, [ours, peer])
    15.0
    """
    other = next((each for each in rows if each.name == row.ratio_to and each.case == row.case), None)
    if other is None or row.value is None or not other.value:
        return None
    return row.value / other.value


def show(value: float | None) -> str:
    """A number in three digits, as a reader wants it.

    >>> [show(value) for value in (0, 1_234_567, 1000, 12.345, 0.01234, 2.5e-9, None)]
    ['0', '1,234,567', '1,000', '12.3', '0.0123', '2.5e-09', '']
    """
    if value is None:
        return ""
    size = abs(value)
    if size >= 1000 or value == round(value):
        return f"{value:,.0f}" if size < 1e15 else f"{value:.2e}"
    if size >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if size >= 1e-4 else f"{value:.2g}"
