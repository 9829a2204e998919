"""What a reader moves in a public report: the numbers are those of Python, and never a narrower range."""

import datetime
import math
import re
from fractions import Fraction

import pytest

from looks import serious
from sudare.privacy import Guarantee
from sudare.render.promise import promise_section, suspicion
from sudare.render.reports import Cover, public_page
from sudare.render.sections import Odds

THIRD = Guarantee("epsilon-DP", epsilon=Fraction(1, 3))


def test_a_suspicion_becomes_what_python_says(opened, words, tmp_path):
    cover = Cover("A town", "town", datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC), THIRD)
    (tmp_path / "page.html").write_text(public_page(cover, [], words), encoding="utf-8")
    page = opened(words.language)
    page.goto((tmp_path / "page.html").as_uri())
    before, epsilon = page.locator(".odds input").all()
    after = page.locator(".odds .lead output")

    def check(prior, value):
        low, high = suspicion(prior, value)
        shown = [float(number) for number in re.findall(r"([\d.]+)%", after.inner_text())]
        assert shown == [math.floor(1000 * low) / 10, math.ceil(1000 * high) / 10]

    check(Fraction(1, 2), Fraction(1, 3))
    before.fill("10")
    check(Fraction(1, 10), Fraction(1, 3))
    epsilon.fill("0")
    check(Fraction(1, 10), Fraction(1))
    page.locator(".odds button").click()
    check(Fraction(1, 10), Fraction(1, 3))
    assert not serious(page)


@pytest.mark.parametrize(
    "guarantee",
    [
        Guarantee("(epsilon, delta)-DP", epsilon=Fraction(1), delta=Fraction(1, 10**6)),
        Guarantee("rho-zCDP", rho=Fraction(1, 50)),
    ],
)
def test_where_single_outcomes_may_say_more_nothing_is_moved(guarantee, words):
    assert not [part for part in promise_section(guarantee, words).parts if isinstance(part, Odds)]
