"""The hash of a recipe that somebody wrote stays: keys that were added since have no part in it at their default."""

import hashlib
import json
from pathlib import Path

from sudare.recipe.model import Recipe
from sudare.recipe.parts import Part
from sudare.registry import KINDS

FIRST_KEYS = Path(__file__).with_name("first_keys.json")
"""Every part's keys that are hashed at their default too. Nothing is ever added here: new keys go to `Part.later`."""
COMMON = {"dataset": "village", "data": {"path": "people.csv"}, "output": {"folder": "release"}}
TABLE = {"domain": {"cell": {"type": "line", "length": 4}}, "privacy": {"epsilon": 1}}


def parts(shape: type[Part]) -> dict[str, type[Part]]:
    """All parts of the package, by name."""
    found = {}
    for part in shape.__subclasses__():
        if part.__module__.startswith("sudare."):
            found[f"{part.__module__}.{part.__name__}"] = part
        found |= parts(part)
    return found


def test_keys_that_were_added_are_listed_as_later():
    first = json.loads(FIRST_KEYS.read_text())
    assert all(KINDS[kind].shape for kind in KINDS)  # loads their models
    for name, part in parts(Part).items():
        if part.__name__.startswith("_") or name not in first:
            continue
        hashed = set(part.model_fields) - set(part.later)
        assert hashed <= set(first[name]), f"{name}: list {hashed - set(first[name])} in `later`"
        assert all(not part.model_fields[key].is_required() for key in part.later), name


def test_a_hash_that_was_booked_stays():
    recipe = Recipe(kind="table", **COMMON, **TABLE)
    text = json.loads(recipe.hashed)
    assert text["rehearsal"]["people"] == 1_000_000
    assert hashlib.sha256(recipe.hashed.encode()).hexdigest() == (
        "2f76e94547869650560b5b4fb3f27975525ce349e5f202f02173a296b67ed110"
    )
