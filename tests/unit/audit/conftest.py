"""The broken twins, as a module: tests are no package, so it is loaded from its file."""

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def twins():
    spec = importlib.util.spec_from_file_location("broken_twins", Path(__file__).with_name("twins.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
