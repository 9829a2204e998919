"""Hierarchies, and the ledger's file."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

from fault_changes import changed_bytes, changed_cells, changed_tree
from fault_recipes import house
from hypothesis import strategies as st

from sudare.anonymity import Hierarchy
from sudare.errors import SudareError
from sudare.privacy import Guarantee, Ledger
from sudare.privacy.chain import COLUMNS, next_entry

TOWNS = [["A", "north", "*"], ["B", "north", "*"], ["C", "south", "*"], ["0-9", "south", "*"], ["10", "south", "*"]]
NESTED = {"north": ["A", "B"], "south": {"near": ["C", 1, 2.0], "far": None}}


@st.composite
def hierarchies(draw: st.DrawFn) -> tuple[str, Any]:
    way = draw(st.sampled_from(["csv", "csv", "nested", "rows", "intervals", "widths"]))
    if way == "csv":
        content = "\n".join(";".join(row) for row in draw(changed_cells(TOWNS))).encode("utf-8", "replace")
        content = draw(changed_bytes(content)) if draw(st.booleans()) else content
        return way, (content, draw(st.sampled_from([";", ";", ";", ",", "", ";;", "\n", "é", "\x00"])))
    if way in ("nested", "rows"):
        return way, draw(changed_tree(NESTED if way == "nested" else TOWNS))
    numbers = st.one_of(
        st.sampled_from([0, 1, 5, 10, 20, 100, 0.1, 0.3, 1e300, -5, float("nan"), float("inf"), 10**9]), st.floats()
    )
    return way, draw(st.lists(st.lists(numbers, max_size=6) if way == "intervals" else numbers, min_size=3, max_size=5))


def use_hierarchy(drawn: tuple[str, Any], folder: Path) -> None:
    way, given = drawn
    if way == "csv":
        (folder / "h.csv").write_bytes(given[0])
        made = Hierarchy.from_csv(folder / "h.csv", given[1])
    elif way in ("nested", "rows"):
        made = Hierarchy.of(given)
    else:
        made = Hierarchy.from_intervals(*given) if way == "intervals" else Hierarchy.from_widths(*given)
    for level in range(made.height + 1):
        [made.label(int(cell)) for cell in made.level(level)[:100]]
    made.locate(["A", None, "7", "x", "1e999"])
    made.with_missing().locate([None])


@cache
def ledger_file() -> Path:
    path = house() / "ledger-seed.db"
    ledger = Ledger(path)
    ledger.set_cap("census", epsilon=3, delta="1e-6")
    ledger.spend("census", Guarantee("epsilon-DP", epsilon="0.5"), "first", note="x")
    ledger.set_cap("trips", rho=1, delta="1e-6")
    ledger.spend("trips", Guarantee("rho-zCDP", rho="0.25"), "second")
    return path


@st.composite
def ledgers(draw: st.DrawFn) -> bytes | list[Any]:
    """The bytes of a file, or rows for one: with a chain that fits, as somebody who rewrites it all would make."""
    if draw(st.booleans()):
        return draw(changed_bytes(ledger_file().read_bytes()))
    rows = [{"dataset": e.dataset, "kind": e.kind, "content": e.content} for e in Ledger(ledger_file()).entries()]
    return draw(changed_tree(rows))


def place_ledger(drawn: bytes | list[Any], folder: Path) -> Path:
    """Write the ledger into ``folder``."""
    path = folder / "ledger.db"
    if isinstance(drawn, bytes):
        path.write_bytes(drawn)
        return path
    shutil.copy(ledger_file(), path)
    insert = f"INSERT INTO entries VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608 - question marks only
    with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.Error, OverflowError):
        connection.execute("DELETE FROM entries")
        last = None
        for row in drawn:
            try:
                last = next_entry(last, "2025-01-01T00:00:00Z", row["dataset"], row["kind"], row["content"])
                connection.execute(insert, [getattr(last, name) for name in COLUMNS])
            except (KeyError, TypeError, ValueError):
                continue
        connection.commit()
    return path


def use_ledger(drawn: bytes | list[Any], folder: Path) -> None:
    """Check it, show it, and spend from it."""
    ledger = Ledger(place_ledger(drawn, folder), timeout=1)
    with suppress(SudareError):
        ledger.balances()
    ledger.verify()
    ledger.to_json()
    ledger.balances()
    [entry.text for entry in ledger.entries()]
    ledger.spend("census", Guarantee("epsilon-DP", epsilon="0.1"), "third")
