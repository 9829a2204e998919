"""The exact losses: those of sound methods are what is promised, and those of broken ones are found."""

import numpy as np
import pytest
from click.testing import CliRunner

from sudare.audit import exact
from sudare.audit.exact import ExactCase, cases, exact_findings, exact_loss
from sudare.cli.audit import audit as command
from sudare.domain import Domain, Line
from sudare.registry import METHODS
from sudare.tables import Laplace, Simplex

FOUR = Domain(cell=Line(4))
PAIRS = (((0, 0, 0, 0), (1, 0, 0, 0)), ((0, 1, 2, 0), (0, 1, 2, 1)))


def tried(method, pairs=PAIRS, **more):
    return exact_loss(ExactCase("case", method, FOUR, pairs, **more))


@pytest.mark.parametrize("method", [Laplace(), Simplex()], ids=lambda method: method.name)
def test_sound_methods_lose_exactly_what_they_promise(method):
    found = tried(method)
    assert found.passed
    assert found.largest == found.promised == 1


def test_rows_and_public_totals_cost_what_is_said():
    moved = (((1, 0, 1, 0), (0, 1, 1, 0)),)
    assert tried(Simplex(), moved, total="public").largest == 2
    assert tried(Laplace(), (((0, 0, 0, 0), (1, 1, 0, 0)),), rows=2).largest == 1


def test_every_method_has_a_case():
    assert {case.method.name for case in cases()} == set(METHODS) - {"auto"}
    assert all(case.domain.size <= 8 for case in cases())


@pytest.mark.parametrize(
    "broken",
    [
        "HalfTheSensitivity",
        "NoiseLeftOutOfTheTotal",
        "DomainReadOffTheData",
        "MeasuredAnew",
        "RefinesOthers",
        "AsksByTheTruth",
    ],
)
def test_broken_methods_are_found(broken, twins):
    assert not tried(getattr(twins, broken)()).passed


def test_half_the_sensitivity_loses_twice_the_promise(twins):
    found = tried(twins.HalfTheSensitivity())
    assert found.problem is None
    assert (found.largest, found.promised) == (2, 1)


def test_outcomes_that_are_too_many_are_no_success(monkeypatch):
    monkeypatch.setattr(exact, "_MOST_OUTCOMES", 3)
    found = tried(Laplace())
    assert not found.passed
    assert str(found.problem) == "too many outcomes to try them all"


def test_answers_cover_both_sides_of_every_moved_value():
    answers = np.array(exact._answers(np.array([2, 0]), np.array([4, 0]), 0))
    assert {2, 3, 4} < set(answers[:, 0].tolist())
    assert answers[:, 0].min() < -(10**3)
    assert answers[:, 1].max() > 10**3
    assert len(answers) == 5 * 4


def test_the_command_prints_the_losses(tmp_path, monkeypatch):
    monkeypatch.setattr(exact, "cases", lambda: iter([ExactCase("laplace, 4 cells", Laplace(), FOUR, PAIRS)]))
    done = CliRunner().invoke(command, ["--exact", "--folder", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "largest loss 1 in" in " ".join(done.output.split())
    assert CliRunner().invoke(command, ["--exact", "--quick"]).exit_code == 2
    assert [finding.passed for finding in exact_findings()] == [True]
