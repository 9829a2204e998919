"""Numbers and dates as a person reads them, in the language of the page, by Babel.

Some rules are our own, since they carry meaning. A number has three significant digits, since noise makes further ones
worthless; a probability is rounded in the direction that does not promise too much; a minus is the mathematical sign,
not a hyphen; a percent sign follows an English number after a space (ISO 80000-1), and is placed as Babel does
elsewhere; sizes are in powers of 1,000. English is British: 5 July 2026; sex, age and town.
"""

from __future__ import annotations

import datetime
import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cache

from babel import Locale
from babel.dates import format_date, format_time
from babel.numbers import format_decimal

_SMALLEST_STEP = Decimal("0.0001")


@cache
def locale(language: str) -> Locale:
    """Where Babel looks up how a language writes numbers, dates and lists."""
    return Locale.parse("en_GB" if language == "en" else language)


def number(value: float, language: str = "en") -> str:
    """Whole numbers in full, others with three digits that mean something; a dash where there is none.

    >>> number(1234567), number(1234.5), number(0.012345), number(12.0), number(float("nan"))
    ('1,234,567', '1,234', '0.0123', '12', '–')
    >>> number(2.5e43), number(1.5e-7), number(1234567.5, "de")
    ('2.5 × 10^43', '1.5 × 10^−7', '1.234.568')
    """
    if isinstance(value, int):
        return _written(Decimal(value), 0, language)
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if not -6 <= size <= 15:
        digits, _, power = f"{value:.2e}".partition("e")
        return f"{_written(Decimal(digits), 2, language)} × 10^{int(power)}".replace("-", "−")
    return _written(Decimal(float(value)), max(0, 2 - size), language)


def percent(share: float, language: str = "en") -> str:
    """A share in per cent.

    >>> percent(0.1234), percent(1), percent(float("nan")), percent(0.1234, "ja")
    ('12.3 %', '100 %', '–', '12.3%')
    """
    return "–" if math.isnan(share) else f"{number(100.0 * share, language)}{_sign(language)}"


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
    return f"{_written(rounded, 4, language)}{_sign(language)}"


def file_size(size: int, language: str = "en") -> str:
    """Bytes as a person reads them.

    >>> file_size(999), file_size(345_678), file_size(12_345_678)
    ('999 B', '346 kB', '12.3 MB')
    """
    for unit, one in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= one:
            return f"{number(size / one, language)} {unit}"
    return f"{size} B"


def _written(value: Decimal, digits: int, language: str) -> str:
    """With at most so many digits behind the point, halves to even; the exact value of a float is rounded."""
    pattern = f"#,##0.{'#' * digits}"
    return format_decimal(value, pattern, locale(language)).replace("-", "−")


def _sign(language: str) -> str:
    return " %" if language == "en" else str(locale(language).percent_formats[None].suffix[0])


def date(day: datetime.date, language: str = "en") -> str:
    """A day.

    >>> date(datetime.date(2026, 7, 5)), date(datetime.date(2026, 7, 5), "ja")
    ('5 July 2026', '2026年7月5日')
    """
    return format_date(day, "long", locale(language))


def time_of_day(time: datetime.datetime, language: str = "en") -> str:
    """Hours and minutes, of the time zone that ``time`` has.

    >>> time = datetime.datetime(2026, 7, 5, 9, 41, tzinfo=datetime.UTC)
    >>> time_of_day(time), time_of_day(time, "ja")
    ('09:41', '9:41')
    """
    return format_time(time, "short", tzinfo=time.tzinfo, locale=locale(language))
