"""``python tests/formats/make.py FOLDER``: one small file of each format, by the Sudare that is installed.

Run it with a version when that is released, and keep what it makes under the version's name: `test_formats.py` in
`tests/faults` opens all of them with every version to come. The people are invented.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

RECIPE = """kind = "table"
dataset = "village"

[data]
path = "people.csv"
unit = "person"

[domain.sex]
type = "categories"
values = ["f", "m"]

[privacy]
epsilon = 0.5

[ledger]
path = "ledger.db"
cap = { epsilon = 1 }

[output]
folder = "release"
formats = ["csv"]

[report]
public = false
"""
SURVEY = """name = "lunch"
question = "Did you have lunch?"
answers = { type = "labels", labels = ["yes", "no"] }
privacy = { epsilon = 0.5 }

[service]
storage = "reports.db"
"""


def main(folder: Path) -> None:
    from sudare.collector.collection import open_store
    from sudare.collector.survey_file import load
    from sudare.local.files import write_json_lines, write_parquet
    from sudare.local.tally import Tally
    from sudare.privacy import Ledger
    from sudare.workflow.publication import publish

    folder.mkdir(parents=True)
    people = folder / "people.csv"
    people.write_text("person,sex\n" + "".join(f"p{number},{'fm'[number % 2]}\n" for number in range(40)))
    (folder / "recipe.toml").write_text(RECIPE)
    publish(folder / "recipe.toml")
    ledger = Ledger(folder / "ledger.db")
    if hasattr(ledger, "set_account"):  # the first 0.1 had none
        ledger.set_account("residents", epsilon=2)
        ledger.join("village", "residents", units=1)
    (folder / "survey.toml").write_text(SURVEY)
    survey = load(folder / "survey.toml")
    reports = survey.randomize(["yes", "no", "yes"])
    store = open_store(survey.storage, survey.identity)
    store.add([(bytes([number]) * 16, row.tobytes()) for number, row in enumerate(reports.packed)])
    store.close()
    write_parquet(reports, folder / "reports.parquet")
    write_json_lines(reports, folder / "reports.jsonl")
    (folder / "tally.json").write_text(json.dumps(Tally(reports.encoding).add(reports).to_json()) + "\n")
    for name in ("sudare-publisher.pem", "people.csv", "ledger.db.key", "reports.db.lock"):
        (folder / name).unlink(missing_ok=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
