"""Fixtures for all tests."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# A gate that fails by chance says nothing of the code: examples are the same in every run, and no clock is looked at.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fresh", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
STATES: dict[tuple[str, str], Any] = {}
UNIT = Path(__file__).parent / "unit"
QUICK = {"anonymity", "domain", "local", "measure", "noise", "privacy", "render", "reweight"}
QUICK |= {"reconstruct", "tables", "language"}
"""Folders of `tests/unit` that need no browser and no process of their own."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="faults, fuzzing and Spark at full counts, with fresh examples (hours)"
    )
    parser.addoption(
        "--quick", action="store_true", help="of tests/unit the pure functions, without Spark and what is slow"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Whatever `--quick` leaves out is not even imported."""
    if not config.getoption("quick") or not collection_path.is_relative_to(UNIT):
        return None
    inside = collection_path.relative_to(UNIT).parts
    return True if inside and inside[0] not in QUICK else None


def pytest_configure(config: pytest.Config) -> None:
    """Fresh examples of Hypothesis are for those who look for mistakes: with --full, or by --hypothesis-profile."""
    # Tests start hundreds of processes: without bytecode each of them would compile the package anew, and each worker
    # rewrite the assertions of all modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # The ledger of whoever runs the tests is not theirs.
    os.environ.pop("SUDARE_LEDGER", None)
    os.environ["SUDARE_STATE"] = "off"  # and what this machine remembers of ledgers is not theirs either
    os.environ["SUDARE_SCRATCH"] = tempfile.mkdtemp(prefix="sudare-tests-")
    os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="sudare-tests-")
    if config.getoption("numprocesses", None):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers share the cores: more threads only wait and spin
    if not config.getoption("--hypothesis-profile", None):
        settings.load_profile("fresh" if config.getoption("full") else "same")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Modules and thousands of tests are no garbage: nothing is looked for while they come, or among them later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # at the end they are
    for name in ("SUDARE_SCRATCH", "XDG_CONFIG_HOME"):
        shutil.rmtree(os.environ[name], ignore_errors=True)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """What a test that kills leaves in the scratch folder is not for the next command of another test to remark."""
    yield
    place = Path(os.environ["SUDARE_SCRATCH"])
    if place.is_dir() and any(place.iterdir()):
        from sudare.engines.scratch import remove_leftovers

        remove_leftovers()


@pytest.fixture(autouse=True)
def generators(request: pytest.FixtureRequest) -> None:
    """Generators of a module are where its import left them, so that no test depends on those that ran before it."""
    module = getattr(request.node, "module", None)
    for name, value in vars(module).items() if module else ():
        if isinstance(value, np.random.Generator):
            value.bit_generator.state = STATES.setdefault((module.__name__, name), value.bit_generator.state)


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether the full counts are asked for."""
    return bool(request.config.getoption("full"))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data: SUDARE_DATA, or ../shared/data beside the repository; skips elsewhere."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SUDARE_DATA") or beside)
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is missing; name its folder in SUDARE_DATA")
    return folder


@pytest.fixture
def village(tmp_path: Path) -> Any:
    """A folder with people and the recipe of a small table of them."""
    import recipes

    return recipes.village(tmp_path)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One local Spark session for all tests of a process; skips where Spark is not installed."""
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'sudare[spark]'")
    from sudare.engines.spark_session import spark_session

    session = spark_session(
        spark_master="local[2,3]",  # a task may fail twice
        spark_ui_enabled="false",
        spark_driver_bindAddress="127.0.0.1",
        spark_driver_host="127.0.0.1",
        spark_sql_shuffle_partitions="2",
        spark_default_parallelism="2",
        # Small questions: what a JVM and Spark do to be fast on large ones would be most of the work.
        spark_driver_extraJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        spark_sql_adaptive_enabled="false",
        # Where PySpark encrypts, it leaves sockets open for a while, which is an error here: tests/faults has a session
        # that encrypts.
        spark_io_encryption_enabled="false",
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests in Spark come first: the first worker gets all of them, nobody steals from there, and one JVM is enough."""

    def elsewhere(item: pytest.Item) -> bool:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        return "spark" not in getattr(item, "fixturenames", ()) and parameters.get("engine") != "spark"

    if config.getoption("quick"):
        items[:] = [item for item in items if elsewhere(item) and not item.get_closest_marker("slow")]
    items.sort(key=elsewhere)
