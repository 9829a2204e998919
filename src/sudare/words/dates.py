"""Dates as a person reads them, by Babel."""

from __future__ import annotations

import datetime

from babel.dates import format_date, format_time

from sudare.words.numbers import locale


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
