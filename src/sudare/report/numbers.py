"""Numbers as a person reads them in a report."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """Whole numbers in full, others with three digits that mean something; a dash where there is none.

    >>> number(1234567), number(1234.5), number(0.012345), number(12.0), number(float("nan"))
    ('1,234,567', '1,234', '0.0123', '12', '–')
    """
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def percent(share: float) -> str:
    """A share in per cent.

    >>> percent(0.1234), percent(1), percent(float("nan"))
    ('12.3 %', '100 %', '–')
    """
    return "–" if math.isnan(share) else f"{number(100.0 * share)} %"
