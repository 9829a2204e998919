import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner

import sudare.reweight as reweight
from sudare.cli.compare import compare as command
from sudare.errors import InputError, ParameterError
from sudare.reweight.comparison import compare
from sudare.reweight.weighting import to_json

FLOATS = pa.schema([("hours", pa.float64()), ("sex", pa.string()), ("weight", pa.float64())])


@pytest.fixture
def files(tmp_path):
    public = pa.table({"hours": [30.0, 40.0, 50.0], "sex": ["f", "m", "f"], "weight": [1.0, 1.0, 2.0]})
    csv.write_csv(public, tmp_path / "public.csv")
    csv.write_csv(pa.table({"hours": [40.0, 50.0], "sex": ["f", "f"]}), tmp_path / "private.csv")
    return tmp_path


@pytest.mark.parametrize("private", [["40", "50"], ["40.0", "50.0"], [40.0, 50.0], [40, 50]])
@pytest.mark.parametrize("public", ["public.csv", "public.parquet"])
def test_a_number_is_the_same_value_however_a_file_writes_it(files, private, public):
    parquet.write_table(csv.read_csv(files / "public.csv").cast(FLOATS), files / "public.parquet")
    parquet.write_table(pa.table({"hours": private}), files / "private.parquet")
    made = compare(files / public, shares=["hours"], private=files / "private.parquet")
    assert [(str(row.query), row.private) for row in made.rows] == [
        ("share of hours 30", 0),
        ("share of hours 40", 0.5),
        ("share of hours 50", 0.5),
    ]


def test_codes_are_no_numbers(files):
    csv.write_csv(pa.table({"area": ["01", "1"], "weight": [1.0, 1.0]}), files / "codes.csv")
    csv.write_csv(pa.table({"area": ["01", "01", "1", "1.0"]}), files / "private.csv")
    made = compare(files / "codes.csv", shares=["area"], private=files / "private.csv")
    assert [row.private for row in made.rows] == [0.5, 0.5]


def test_weighted_unweighted_and_private_answers(files):
    made = compare(files / "public.csv", means=["hours"], shares=["sex"], private=files / "private.csv")
    assert made.internal
    assert made.effective_sample_size == pytest.approx(16 / 6)
    hours, women, men = made.rows
    assert (str(hours.query), hours.weighted, hours.unweighted, hours.private, hours.low) == (
        "mean of hours",
        42.5,
        40,
        45,
        None,
    )
    assert (str(women.query), women.weighted, women.private) == ("share of sex f", 0.75, 1)
    assert men.private == 0
    alone = compare(files / "public.csv", means=["hours"])
    assert not alone.internal
    assert alone.rows[0].private is None


def test_the_command_prints_and_says_when_it_is_internal(files):
    runner = CliRunner()
    path = str(files / "public.csv")
    shown = runner.invoke(command, [path, "--mean", "hours", "--share", "sex,hours"])
    assert shown.exit_code == 0, shown.output
    assert "mean of hours\t42.5\t40" in shown.output
    assert "internal" not in shown.output
    inside = runner.invoke(command, [path, "--mean", "hours", "--private", str(files / "private.csv")])
    assert "do not give this away" in inside.output
    assert "mean of hours\t42.5\t40\t45\t-2.5" in inside.output
    machine = runner.invoke(command, [path, "--mean", "hours", "--json"])
    assert '"weighted": 42.5' in machine.output


def test_mistakes(files, tmp_path):
    with pytest.raises(ParameterError, match="there is nothing to compare"):
        compare(files / "public.csv")
    with pytest.raises(InputError, match="the folder holds no weighted file"):
        compare(files, means=["hours"])
    with pytest.raises(InputError, match="values that are not numbers \\(got 'sex'"):
        compare(files / "public.csv", means=["sex"])
    csv.write_csv(pa.table({"hours": [1.0, 2.0], "weight": [-1.0, 2.0]}), tmp_path / "wrong.csv")
    with pytest.raises(InputError, match="the weights are not numbers >= 0"):
        compare(tmp_path / "wrong.csv", means=["hours"])
    csv.write_csv(pa.table({"a": np.arange(1100), "weight": np.ones(1100)}), tmp_path / "long.csv")
    with pytest.raises(ParameterError, match="there are too many combinations of values"):
        compare(tmp_path / "long.csv", shares=["a"])
    (tmp_path / "weighted.csv").write_bytes((files / "public.csv").read_bytes())
    (tmp_path / "weighting.json").write_text("{")
    with pytest.raises(InputError, match="the saved weighting cannot be read"):
        compare(tmp_path, means=["hours"])


@pytest.mark.slow
def test_answers_that_the_public_rows_do_not_support_are_announced(tmp_path):
    generator = np.random.default_rng(15)
    hours = generator.uniform(0, 60, 2000).round(1)
    public = {"hours": hours, "long": np.where(hours > 50, "yes", "no")}
    made = reweight.fit({"hours": generator.uniform(0, 100, 20_000)}, public, 1.0, bounds={"hours": (0, 100)}, seed=15)
    csv.write_csv(pa.table({**public, "weight": made.weights}), tmp_path / "weighted.csv")
    (tmp_path / "weighting.json").write_text(json.dumps(to_json(made)))
    found = compare(tmp_path, means=["hours"], shares=["long"])
    assert [row.flag for row in found.rows] == ["unseen"] * 3
    assert found.to_json()["answers"][0]["flag"] == "unseen"
    assert str(found.warnings[-1]).startswith(
        "mean of hours, share of long no and share of long yes: most of the interval"
    )
    shown = CliRunner().invoke(command, [str(tmp_path), "--mean", "hours"])
    assert (
        "Note: mean of hours: most of the interval is there because the public file has few or no rows" in shown.output
    )
