"""``sudare estimate``."""

import json

import pytest
from click.testing import CliRunner

from sudare.cli.estimate import estimate
from sudare.errors import InputError
from sudare.local import SymmetricUnary


def run(*arguments):
    return CliRunner().invoke(estimate, [str(argument) for argument in arguments])


@pytest.fixture
def reports(tmp_path):
    return SymmetricUnary(size=3, epsilon=2).randomize([0] * 80 + [1] * 20).to_parquet(tmp_path / "r.parquet")


def test_counts_on_the_terminal(reports):
    result = run(reports)
    assert result.exit_code == 0, result.output
    assert "epsilon-LDP with epsilon = 2" in result.output
    assert len(result.output.splitlines()) == 4 + 1 + 3
    assert len(run(reports, "--top", 1).output.splitlines()) == 4 + 1 + 1


def test_json_quiet_and_csv(reports, tmp_path):
    made = json.loads(run(reports, "--json", "--method", "mle").output)
    assert made["method"] == "mle"
    assert len(made["counts"]) == 3
    labels = tmp_path / "labels.txt"
    labels.write_text("a\nb\nc\n")
    assert run(reports, "--quiet", "--csv", tmp_path / "out.csv", "--labels", labels).output == ""
    assert (tmp_path / "out.csv").read_text().splitlines()[3].startswith("c,")


def test_a_mistake_is_one_of_ours(tmp_path):
    assert isinstance(run(tmp_path / "none.parquet").exception, InputError)
    assert isinstance(run(tmp_path / "none.txt").exception, InputError)
