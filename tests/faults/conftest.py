"""Faults: the quick form runs in `make test`; ``pytest tests/faults --full`` runs the full counts."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
# The modules of this folder that are no tests; ``guided.py`` finds them in the same way.
sys.path.insert(0, str(HERE))


def _loaded(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# A collector in a process of its own, as its other tests have it: tests are no package, so it is loaded from its file.
_web = _loaded(HERE.parent / "web" / "conftest.py", "collector_fixtures")
launch, survey_file = _web.launch, _web.survey_file
