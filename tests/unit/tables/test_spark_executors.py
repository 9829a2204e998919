"""Executors that are killed in the middle of both passes: the release is the one that it would have been."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SCRIPT = """
    import json, os, signal, sys
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from pyspark import cloudpickle

    import sudare as sd
    from sudare.tables.spark import ClusterTable, release
    from sudare.tables.spark_task import Cut
    from sudare.spark.spark_store import Scratch, SparkStore
    from in_process import InProcessStore
    from sudare.engines.spark_session import spark_session

    cloudpickle.register_pickle_by_value(sys.modules["__main__"])
    folder = Path(sys.argv[1])


    class Deadly:
        def __init__(self, kernel):
            self.kernel, self.gives = kernel, kernel.gives

        def __call__(self, jobs, index, count):
            answer = self.kernel(jobs, index, count)
            mark = folder / f"killed in {type(self.kernel).__name__}"
            if not mark.exists():
                mark.touch()
                parent = lambda process: int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
                executor = parent(os.getppid())  # above the worker is its daemon, above that the executor
                assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{executor}/cmdline").read_bytes()
                os.kill(executor, signal.SIGKILL)
            return answer


    class DeadlyStore(SparkStore):
        def _answers(self, jobs, kernel):
            return super()._answers(jobs, Deadly(kernel))


    spark = spark_session(
        spark_master="local-cluster[2,1,512]",
        spark_ui_enabled="false",
        spark_sql_shuffle_partitions="2",
        spark_executor_memory="512m",
        spark_sql_adaptive_enabled="false",
        spark_driver_extraJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        spark_executor_extraJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    )
    spark.sparkContext.setLogLevel("OFF")
    counts = np.random.default_rng(1).integers(0, 90, 1 << 10) // 60 * 40
    table = sd.CountTable.from_array(counts)
    cut = Cut(subtree_bits=6, fewest_bits=3, part_people=2000)
    here = ClusterTable(table.domain, table.unit, InProcessStore(table.index, table.count))
    frame = spark.createDataFrame(pa.table({"index": table.index, "count": table.count}))
    scratch = Scratch.within(folder)
    there = ClusterTable(table.domain, table.unit, DeadlyStore(scratch.freeze(frame), scratch))
    releases = [
        release(each, folder / name, epsilon=1, seed=6, cut=cut)
        for name, each in (("here", here), ("there", there))
    ]
    files = [{path.name: path.read_bytes() for path in made.folder.iterdir()} for made in releases]
    print(json.dumps({"same": files[0] == files[1], "parts": len(files[0])}))
    spark.stop()
"""


@pytest.mark.slow
def test_killed_executors_change_nothing(spark, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    environment = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(tmp_path / "work")}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, [Path(__file__).parents[2], *sys.path]))
    command = [sys.executable, "-W", "ignore", str(script), str(tmp_path)]

    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.strip().splitlines()[-1])
    assert said["same"]
    assert said["parts"] > 1
    killed = sorted(path.name for path in tmp_path.glob("killed in *"))
    assert killed == ["killed in MeasureSubtrees", "killed in WritePart"]
