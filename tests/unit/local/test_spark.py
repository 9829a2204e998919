"""Reports tallied in Spark are those tallied here."""

import numpy as np
import pyarrow as pa
import pytest

from sudare import local
from sudare.errors import InputError, ParameterError
from sudare.local import spark as spark_reports

VALUES = np.random.default_rng(2).integers(0, 23, 3000)


def frame(spark, packed):
    return spark.createDataFrame(pa.table({"report": [row.tobytes() for row in packed]})).repartition(3)


@pytest.mark.parametrize(
    "encoding", [local.SymmetricUnary(size=23, epsilon=2), local.HadamardResponse(size=23, epsilon=2)]
)
def test_sums_are_those_of_one_process(spark, encoding):
    reports = encoding.randomize(VALUES, seed=1)
    found = spark_reports.tally(frame(spark, reports.packed), encoding, seeded=True)
    assert found.to_json() == local.Tally(encoding).add(reports).to_json()
    ours, theirs = (local.estimate(each, method="simplex").counts for each in (found, reports))
    assert np.array_equal(ours, theirs)


def test_mistakes(spark):
    encoding = local.SymmetricUnary(size=23, epsilon=1)
    with pytest.raises(ParameterError, match=r"^these reports are not in Spark \(got 'ndarray'"):
        spark_reports.tally(VALUES, encoding)
    with pytest.raises(InputError, match=r"^the column of reports is not one of bytes \(got 'bigint'; allowed: id: b"):
        spark_reports.tally(spark.range(3), encoding, "id")
    # What a worker refuses; how that arrives here is tested with the store.
    for wrong in ([b"abc", b"abcd"], [b"abc", None]):
        with pytest.raises(InputError, match=r"^a report is missing or has the wrong length \(allowed: 3 bytes\)$"):
            spark_reports._packed(pa.array(wrong), 3)
    assert spark_reports._packed(pa.array([b"abc", b"def"]).slice(1), 3).tolist() == [list(b"def")]
