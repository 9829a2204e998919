"""Records perturbed in Spark: the noise of one process, whatever the partitions, in an order that tells nothing."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import sudare as sd
from sudare.errors import InputError, OutputError, ParameterError
from sudare.reconstruct import spark as spark_rows

ROWS = 6000
PEOPLE = pa.table(
    {
        "who": np.arange(ROWS) // 2,
        "age": np.where(np.arange(ROWS) % 3 == 0, 20, np.arange(ROWS) % 70),
        "sex": np.array(["f", "m", "m"])[np.arange(ROWS) % 3],
    }
)
DECLARED = {"bounds": {"age": (0, 80)}, "categories": {"sex": ["f", "m", "x"]}}


@pytest.fixture(scope="module")
def people(spark):
    return sd.read(PEOPLE, engine="spark")


def rows(made):
    return pa.concat_tables(pq.read_table(made.folder / part.name) for part in made.parts)


def test_the_same_bytes_whatever_the_partitions(spark, people, tmp_path):
    made = []
    for number in (2, 8):
        spark.conf.set("spark.sql.shuffle.partitions", str(number))
        made.append(spark_rows.perturb(people, tmp_path / str(number), **DECLARED, k=2, seed=3, rows_per_part=1500))
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    assert made[0].parts == made[1].parts
    assert len(made[0].parts) == 4
    plain = sd.reconstruct.perturb({name: PEOPLE[name].to_numpy() for name in ("age", "sex")}, **DECLARED, k=2, seed=3)
    assert made[0].summary == plain.summary
    assert made[0].guarantee == plain.guarantee
    assert made[0].channel == plain.channel
    assert made[0].k == pytest.approx(2)
    assert rows(made[0]).column_names == ["age", "sex"]
    assert sorted(path.name for path in made[0].folder.iterdir()) == [part.name for part in made[0].parts]


def test_equal_rows_have_noise_of_their_own(spark, tmp_path, monkeypatch):
    """Laplace noise of scale 10 on 6000 equal rows, divided among parts; and a twin at scale 12.5.

    Kolmogorov at 1e-7. The mean distance from 40 has a standard deviation of 10/sqrt(6000) = 0.13: it is off by 6 of
    these once in 5e8 runs, and by the 11 that would hide the twin never.
    """
    monkeypatch.setattr(spark_rows, "_TOGETHER", 500)
    alike = sd.read(pa.table({"age": np.full(ROWS, 40)}), engine="spark")
    made = spark_rows.perturb(alike, tmp_path / "out", {"age": (0, 80)}, epsilon=8, rows_per_part=2000)
    age = rows(made).column("age").to_numpy()
    assert len(age) == ROWS
    assert len(set(age.tolist())) > 0.95 * ROWS  # on the grid some 40 values come twice; noise used twice halves them
    assert stats.kstest(age, stats.laplace(40, 10).cdf).pvalue > 1e-7
    distance = np.abs(age - 40).mean()
    assert abs(distance - 10) < 6 * 10 / ROWS**0.5
    assert abs(distance - 12.5) > 6 * 12.5 / ROWS**0.5
    assert made.guarantee.notion == "epsilon-LDP"


@pytest.mark.filterwarnings("ignore::sudare.errors.PrivacyWarning")
def test_the_order_tells_nothing(people, tmp_path):
    """Hardly any noise: ages as they are, of which neighbours and the two halves must know nothing."""
    made = spark_rows.perturb(people, tmp_path / "out", {"age": (0, 80)}, epsilon=10**6, rows_per_part=2500)
    age = rows(made).column("age").to_numpy().round()
    assert sorted(age) == sorted(PEOPLE["age"].to_pylist())
    # Under any order that tells nothing both are near normal: beyond 6 sigma once in 1e8.
    assert abs(np.corrcoef(age[1:], age[:-1])[0, 1]) < 6 / ROWS**0.5
    halves = age[: ROWS // 2].mean() - age[ROWS // 2 :].mean()
    assert abs(halves) < 6 * age.std() * 2 / ROWS**0.5
    assert abs(np.corrcoef(np.sort(age)[1:], np.sort(age)[:-1])[0, 1]) > 0.9  # the twin: the order inside parts


def test_one_row_of_each_person(people, tmp_path):
    made = spark_rows.perturb(people, tmp_path / "out", **DECLARED, epsilon=1, unit="who")
    assert made.rows == ROWS // 2
    assert str(made.guarantee.unit) == "person with at most 1 row"
    both = spark_rows.perturb(people, tmp_path / "both", **DECLARED, epsilon=1, unit="who", max_rows=2)
    assert both.rows == ROWS
    assert (both.guarantee.epsilon, both.row_epsilon) == (1, Fraction(1, 2))


def test_mistakes(spark, people, tmp_path):
    with pytest.raises(ParameterError, match="these records are not in Spark"):
        spark_rows.perturb(sd.read(PEOPLE), tmp_path / "a", **DECLARED, epsilon=1)
    with pytest.raises(ParameterError, match="columns are missing or named twice"):
        spark_rows.perturb(people, tmp_path / "c", epsilon=1)
    with pytest.raises(ParameterError, match=r"^max_rows needs a unit \(got 3\)"):
        spark_rows.perturb(people, tmp_path / "f", **DECLARED, epsilon=1, max_rows=3)
    with pytest.raises(ParameterError, match="give either k or epsilon"):
        spark_rows.perturb(people, tmp_path / "d", **DECLARED)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "something").touch()
    with pytest.raises(OutputError, match="the output folder is not empty"):
        spark_rows.perturb(people, tmp_path / "full", **DECLARED, epsilon=1)
    with pytest.raises(InputError, match=r"no such column.*did you mean|Did you mean"):
        spark_rows.perturb(people, tmp_path / "e", {"agee": (0, 9)}, epsilon=1)
