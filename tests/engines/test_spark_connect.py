"""A session over Spark Connect: records are counted there; what needs a folder of both sides is refused by name."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
    import json, os, sys

    import pyarrow as pa
    from pyspark.sql import SparkSession

    import sudare as sd
    from sudare.engines.spark_session import java_home
    from sudare.tables import spark as cluster

    home = java_home()
    if home is not None:
        os.environ["JAVA_HOME"] = str(home)
    builder = SparkSession.builder.remote("local[1]").config("spark.sql.shuffle.partitions", "1")
    spark = builder.config("spark.ui.enabled", "false").config("spark.log.level", "FATAL").getOrCreate()
    rows = pa.table({"who": [1, 2, 3, 3, 3], "x": [1, 2, 3, 4, 4], "sex": ["f", "m", "m", "f", "f"]})
    domain = sd.Domain(x=sd.Line(8), sex=sd.Categories(["f", "m"]))
    asked = {"unit": "who", "max_rows": 2, "key": bytes(16)}
    frame = spark.createDataFrame(rows)
    there, here = (sd.read(source).count(domain, **asked) for source in (frame, rows))
    found = {"same": there == here, "total": here.total}
    try:
        cluster.count(sd.read(frame), domain, scratch=sys.argv[1], **asked)
    except sd.errors.ParameterError as error:
        found["refused"] = str(error)
    faulty = spark.sql("SELECT 1 AS who, CAST(concat('priv', 'ate77') AS INT) AS x, 'f' AS sex")
    try:
        sd.read(faulty).count(domain, **asked)
    except sd.errors.InputError as error:
        found["faulty"] = str(error)
    print(json.dumps(found), flush=True)
    spark.stop()
"""


def test_counting_works_and_the_rest_is_refused_by_name(tmp_path):
    pytest.importorskip("grpc", reason="Spark Connect needs the packages of pyspark[connect]")
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    command = [sys.executable, "-W", "ignore", str(script), str(tmp_path)]
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_TOOL_OPTIONS": java}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.strip().splitlines()[-1])
    assert said["same"]
    assert said["total"] == 4
    assert "Spark Connect" in said["refused"]
    assert "cannot be read" in said["faulty"]
    assert "private77" not in done.stdout + done.stderr
