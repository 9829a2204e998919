from decimal import Decimal

import pytest

from sudare.language.writing import chance, file_size, number, percent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0, "0"),
        (-3, "−3"),
        (-0.5, "−0.5"),
        (999.6, "1,000"),
        (1e-9, "1 × 10^−9"),
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


@pytest.mark.parametrize(
    ("share", "low", "high"),
    [
        ("0.5", "50 %", "50 %"),
        ("0.62245933", "62.2 %", "62.3 %"),
        ("0.0163", "1.63 %", "1.63 %"),
        ("0.0000000001", "0 %", "0.0001 %"),
        ("0.9999999999", "99.9999 %", "100 %"),
        ("1", "100 %", "100 %"),
        ("0", "0 %", "0 %"),
    ],
)
def test_a_bound_is_never_rounded_to_the_wrong_side(share, low, high):
    assert chance(Decimal(share), up=False) == low
    assert chance(Decimal(share), up=True) == high
    assert chance(Decimal(share), up=True, language="ja") == high.replace(" ", "")


def test_sizes_of_files():
    assert [file_size(size) for size in (0, 1000, 1_500_000, 2 * 10**9)] == ["0 B", "1 kB", "1.5 MB", "2 GB"]


def test_digits_are_grouped_as_the_language_does():
    assert [number(-1234.5, language) for language in ("en", "ja", "de")] == ["−1,234", "−1,234", "−1.234"]
    assert percent(0.125, "de") == "12,5\xa0%"
    assert chance(Decimal("0.125"), up=True, language="fr") == "12,5\xa0%"
