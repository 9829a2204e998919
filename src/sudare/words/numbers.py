"""Numbers as a person reads them. Both languages group digits by commas; they differ in the sign of per cent."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

_SMALLEST_STEP = Decimal("0.0001")


def number(value: float) -> str:
    """Whole numbers in full, others with three digits that mean something; a dash where there is none.

    >>> number(1234567), number(1234.5), number(0.012345), number(12.0), number(float("nan"))
    ('1,234,567', '1,234', '0.0123', '12', '–')
    >>> number(2.5e43), number(1.5e-7)
    ('2.5 × 10^43', '1.5 × 10^−7')
    """
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if not -6 <= size <= 15:
        digits, _, power = f"{value:.2e}".partition("e")
        return f"{_plain(digits)} × 10^{int(power)}".replace("-", "−")
    return _plain(f"{value:,.{max(0, 2 - size)}f}").replace("-", "−")


def percent(share: float, language: str = "en") -> str:
    """A share in per cent.

    >>> percent(0.1234), percent(1), percent(float("nan")), percent(0.1234, "ja")
    ('12.3 %', '100 %', '–', '12.3%')
    """
    return "–" if math.isnan(share) else f"{number(100.0 * share)}{_sign(language)}"


def chance(share: Decimal, *, up: bool, language: str = "en") -> str:
    """A probability in per cent, rounded up where it is an upper bound and down where it is a lower one.

    What lies near 0 or 1 gets more digits, at most four behind the point, so that "certain" is never said too early.

    >>> chance(Decimal("0.6224593"), up=True), chance(Decimal("0.3775406"), up=False)
    ('62.3 %', '37.7 %')
    >>> chance(Decimal("0.9996646"), up=True)
    '99.9665 %'
    """
    nearest_end = min(share, 1 - share) * 100
    step = Decimal(1).scaleb(min(-1, nearest_end.adjusted() - 2)) if nearest_end > 0 else _SMALLEST_STEP
    rounded = (share * 100).quantize(max(step, _SMALLEST_STEP), ROUND_CEILING if up else ROUND_FLOOR)
    return f"{_plain(f'{rounded:f}')}{_sign(language)}"


def file_size(size: int) -> str:
    """Bytes as a person reads them.

    >>> file_size(999), file_size(345_678), file_size(12_345_678)
    ('999 B', '346 kB', '12.3 MB')
    """
    for unit, one in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= one:
            return f"{number(size / one)} {unit}"
    return f"{size} B"


def _plain(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _sign(language: str) -> str:
    return "%" if language == "ja" else " %"
