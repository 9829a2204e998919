"""`sudare reconstruct`: the distribution behind a released file, from its certificate."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import sudare as sd
from recipes import closing, opening
from sudare.cli import main
from sudare.reconstruct.released import recover

RECIPE = (
    opening("perturbation", "staff", path="staff.parquet", unit=False)
    + """
[columns.age]
bounds = [0, 100]
[columns.sex]
categories = ["f", "m"]
[columns.rank]
categories = [1, 2, 3]
[perturbation]
epsilon = 12
noise = "NOISE"
"""
    + closing("epsilon = 50")
)


@pytest.fixture(scope="module", params=["laplace", "square_wave"])
def release(request, tmp_path_factory):
    """Published once for each noise; tests only read it."""
    folder = tmp_path_factory.mktemp("staff")
    rng = np.random.default_rng(2)
    people = {
        "age": np.clip(rng.normal(40, 8, 4000), 0, 100),
        "sex": rng.choice(["f", "m"], 4000, p=[0.7, 0.3]),
        "rank": rng.choice([1, 2, 3], 4000, p=[0.6, 0.3, 0.1]),
    }
    pq.write_table(pa.table(people), folder / "staff.parquet")
    (folder / "recipe.toml").write_text(RECIPE.replace("NOISE", request.param), encoding="utf-8")
    return sd.publish(folder / "recipe.toml").folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["records.parquet", "records.csv"])
def test_distributions_come_back(release, name, tmp_path):
    done = CliRunner().invoke(
        main, ["reconstruct", str(release / name), "--bins", "10", "--folder", str(tmp_path / "o"), "--json"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)["columns"]
    ages = [entry["probability"] for entry in found["age"]["bins"]]
    assert sum(ages) == pytest.approx(1)
    # 20 to 60, where 98.9 % of the people are: a share of 0.976 comes back there, with a standard deviation of 0.014.
    # Of the noisy values themselves little more than a half lie there.
    assert sum(ages[2:6]) > 0.8
    sexes = {entry["bin"]: entry["probability"] for entry in found["sex"]["bins"]}
    assert sexes["f"] == pytest.approx(0.7, abs=0.08)
    ranks = {entry["bin"]: entry["probability"] for entry in found["rank"]["bins"]}
    assert ranks["1"] == pytest.approx(0.6, abs=0.08)
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == [
        "age.csv",
        "age.png",
        "rank.csv",
        "rank.png",
        "sex.csv",
        "sex.png",
    ]


@pytest.mark.slow
def test_one_column_for_people(release, tmp_path):
    done = CliRunner().invoke(
        main, ["reconstruct", str(release / "records.parquet"), "--column", "sex", "--folder", str(tmp_path / "o")]
    )
    assert "f\t0." in done.output
    assert "age" not in done.output


def test_mistakes(release, tmp_path):
    with pytest.raises(sd.SudareError, match="no such column"):
        recover(release / "records.parquet", columns=["agee"])
    with pytest.raises(sd.SudareError, match="there is no such file"):
        recover(release / "nothing.parquet")
    with pytest.raises(sd.SudareError, match="bins is not"):
        recover(release / "records.parquet", bins=0)
    lonely = tmp_path / "lonely.parquet"
    lonely.write_bytes((release / "records.parquet").read_bytes())
    with pytest.raises(sd.SudareError, match="no certificate beside"):
        recover(lonely)
    (tmp_path / "release.json").write_text('{"kind": "table"}', encoding="utf-8")
    with pytest.raises(sd.SudareError, match="not one of perturbed records"):
        recover(lonely)


@pytest.mark.slow
def test_method_components_cross_table_and_clusters(release, tmp_path):
    arguments = ["reconstruct", str(release / "records.parquet"), "--bins", "5", "--folder", str(tmp_path), "--json"]
    asked = ["--method", "ibt", "--cross", "age,sex"]
    found = CliRunner().invoke(main, [*arguments, *asked])
    assert found.exit_code == 0, found.output
    table = np.array(json.loads(found.output)["cross_tables"][0]["probabilities"])
    assert table.shape == (5, 2)
    assert table.sum() == pytest.approx(1, abs=1e-4)
    assert table[:, 0].sum() == pytest.approx(0.7, abs=0.1)  # women; a deviation of 0.02
    assert (tmp_path / "age_by_sex.csv").exists()
    mixed = CliRunner().invoke(
        main, [*arguments, "--column", "age", "--method", "mixture", "--components", "2", "--clusters"]
    )
    if "square_wave" in (release / "release.json").read_text(encoding="utf-8"):
        assert "a mixture takes numbers with Laplace noise" in mixed.output + mixed.stderr
        return
    assert mixed.exit_code == 0, mixed.output
    answer = json.loads(mixed.output)
    assert "2 Gaussians" in answer["columns"]["age"]["method"]
    assert sum(answer["records_by_component"]) == 4000


@pytest.mark.slow
def test_the_printed_algorithm_is_reached_from_the_command_line(release, tmp_path):
    """It is not exact EM: it starts at random and stops elsewhere."""
    if "square_wave" in (release / "release.json").read_text(encoding="utf-8"):
        pytest.skip("a mixture takes numbers with Laplace noise")
    asked = ["reconstruct", str(release / "records.parquet"), "--column", "age", "--folder", str(tmp_path), "--json"]
    found = {}
    for fit in ("exact", "gradient"):
        result = CliRunner().invoke(main, [*asked, "--method", "mixture", "--components", "2", "--fit", fit])
        assert result.exit_code == 0, result.output
        found[fit] = [one["probability"] for one in json.loads(result.stdout)["columns"]["age"]["bins"]]
        assert sum(found[fit]) == pytest.approx(1, abs=1e-3)
    assert found["gradient"] != found["exact"]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (["--clusters"], "clusters need the method mixture"),
        (["--fit", "gradient"], "fits by gradients need the method mixture"),
        (["--cross", "age"], "--cross"),
        (["--cross", "age,height"], "the release has no such column"),
    ],
)
def test_what_cannot_be_recovered_is_said(release, asked, sentence):
    done = CliRunner().invoke(main, ["reconstruct", str(release / "records.parquet"), *asked])
    assert done.exit_code != 0
    assert sentence in done.output + done.stderr
