"""What the package does without any extra: run in an environment that has the wheel and what it needs, nothing else.

    python -m venv alone && alone/bin/pip install dist/sudare-*.whl && alone/bin/python tests/core.py

A table is counted from a CSV file and released; a recipe is published without pages, verified and asked; with pages the
report is left out, in one sentence that names the extra. `tests/unit/test_core.py` runs it with the extras hidden.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import sudare as sd
from sudare.errors import MissingExtraError

RECIPE = """
kind = "table"
dataset = "visitors"
data = {path = "visitors.csv", unit = "person"}
privacy = {epsilon = 1}
ledger = {path = "ledger.db", cap = {epsilon = 2}}
output = {folder = "release", key = "publisher.pem", formats = ["csv", "parquet"]}
report = {public = false}
domain.town = {type = "categories", values = ["east", "west"]}
domain.age = {type = "bins", start = 0, stop = 80, step = 20}
"""


def refusal(action: Callable[[], object]) -> str:
    """What is said instead of doing it for want of an extra; "" where it is done."""
    try:
        action()
    except MissingExtraError as problem:
        return str(problem)
    return ""


def main() -> None:
    """Do it in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["SUDARE_STATE"] = "off"  # this machine need not remember the ledger
        rows = [f"{person},{('east', 'west')[person % 3 == 0]},{person % 80}" for person in range(3000)]
        (folder / "visitors.csv").write_text("\n".join(["person,town,age", *rows]) + "\n", encoding="utf-8")
        domain = sd.Domain(town=sd.Categories(["east", "west"]), age=sd.Bins(0, 80, step=20))
        release = sd.release(sd.read(folder / "visitors.csv").count(domain, unit="person"), epsilon=1.0)
        assert abs(release.table.total - 3000) < 200
        assert release.error(block_level=1).low.size
        (folder / "recipe.toml").write_text(RECIPE, encoding="utf-8")
        made = sd.publish(folder / "recipe.toml")
        assert not made.left_out
        assert sd.verify(folder / "release").ok
        assert abs(sd.open(folder / "release").table.total - 3000) < 200
        again = RECIPE.replace('"release"', '"shown"').replace("public = false", "public = true")
        (folder / "shown.toml").write_text(again, encoding="utf-8")
        shown = sd.publish(folder / "shown.toml")
        assert shown.report is None
        assert "pip install 'sudare[report]'" in str(shown.left_out[0])
        for wanted in (lambda: sd.anonymity.delta(k=10, sample=0.2, epsilon=1.0), lambda: sd.reweight.fit):
            assert refusal(wanted) == "SciPy is not installed here. Run: pip install 'sudare[science]'"
    print(f"the core alone: released, published, verified ({len(sys.modules)} modules loaded)")


if __name__ == "__main__":
    main()
