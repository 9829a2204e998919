import pytest

from sudare.report.numbers import number, percent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0, "0"),
        (-3, "−3"),
        (-0.5, "−0.5"),
        (999.6, "1,000"),
        (1e-9, "0.000000001"),
        (100.0, "100"),
        (2**40, "1,099,511,627,776"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
    ],
)
def test_numbers_are_readable(value, text):
    assert number(value) == text


def test_shares_in_per_cent():
    assert percent(0.0005) == "0.05 %"
