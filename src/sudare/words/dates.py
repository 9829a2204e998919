"""Dates as a person reads them. Times are given in UTC and say so: a page may be read anywhere."""

from __future__ import annotations

import datetime

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def date(day: datetime.date, language: str = "en") -> str:
    """A day.

    >>> date(datetime.date(2026, 7, 5)), date(datetime.date(2026, 7, 5), "ja")
    ('5 July 2026', '2026年7月5日')
    """
    if language == "ja":
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def moment(time: datetime.datetime, language: str = "en") -> str:
    """A day and the time of day, in UTC.

    >>> time = datetime.datetime.fromisoformat("2026-07-05T18:41:12+09:00")
    >>> moment(time), moment(time, "ja")
    ('5 July 2026, 09:41 UTC', '2026年7月5日 9:41（UTC）')
    """
    time = time.astimezone(datetime.UTC)
    if language == "ja":
        return f"{date(time, language)} {time.hour}:{time.minute:02}（UTC）"
    return f"{date(time)}, {time.hour:02}:{time.minute:02} UTC"
