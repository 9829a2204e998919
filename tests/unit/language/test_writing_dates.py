import datetime

import pytest

from sudare.language.catalogue import Words
from sudare.language.writing import date

NEW_YEAR = datetime.datetime(2027, 1, 1, 8, 5, tzinfo=datetime.timezone(datetime.timedelta(hours=9)))


@pytest.mark.parametrize(
    ("language", "text"), [("en", "31 December 2026, 23:05 UTC"), ("ja", "2026年12月31日 23:05\uff08UTC\uff09")]
)
def test_moments_are_in_utc_and_say_so(language, text):
    assert Words(language).moment(NEW_YEAR) == text


def test_days_are_those_of_their_calendar():
    assert date(NEW_YEAR) == "1 January 2027"
    assert date(NEW_YEAR, "ja") == "2027年1月1日"
