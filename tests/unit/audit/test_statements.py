"""Guarantees worked out once more: sound ones pass, and one that is too small by a hair or by half is found."""

from fractions import Fraction

import pytest

from sudare.audit import statements
from sudare.privacy import epsilon_for, rho_of_pure


def broken():
    return {finding.name: finding.figure() for finding in statements.statement_findings() if not finding.passed}


def test_sound_statements():
    assert broken() == {}


@pytest.mark.parametrize(
    ("name", "understated", "rule"),
    [
        ("epsilon_for", lambda *given: epsilon_for(*given) - Fraction(2, 10**12), "rho is read as an epsilon"),
        ("epsilon_for", lambda rho, delta: epsilon_for(rho, delta) - rho, "rho is read as an epsilon"),
        ("rho_of_pure", lambda epsilon: rho_of_pure(epsilon) / 4, "the rho of a pure release"),
    ],
)
def test_conversions_that_are_too_small_are_found(name, understated, rule, monkeypatch):
    monkeypatch.setattr(statements, name, understated)
    assert rule in broken()["statements, arithmetic of costs"]


def test_a_guarantee_that_leaves_something_out_is_found(monkeypatch):
    sound = statements.repeated
    monkeypatch.setattr(statements, "repeated", lambda encoding, times: sound(encoding, 1))
    assert "reports of a person add up" in broken()["statements, stated guarantees"]


def test_randomised_response_attains_its_rho():
    """For a small epsilon the largest D/order is near epsilon**2/2, which no pure release exceeds."""
    assert 0.99 * 0.005 < statements.attained(0.1) <= 0.005
