"""Ways to spoil an input: trees (TOML, JSON), tables of cells (CSV), and plain bytes, as Hypothesis strategies.

Most of what is drawn is nearly right: one to three changes of an input that works, so that it passes the first checks
and fails in the later ones.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

CANARY = "CANARY7319"
"""Stands in private data only; a message that holds it tells a private value."""
CANARY_NUMBER = 731973197319
CANARIES = (CANARY, str(CANARY_NUMBER), "73.19731")

_WORDS = st.sampled_from(
    [
        *(
            "",
            " ",
            "0",
            "-1",
            "1/3",
            "nan",
            "inf",
            "1e400",
            "é簾",
            "\t",
            "a\nb",
            "\x00",
            "x" * 300,
            "../..",
            "/",
            "*",
            "'\"",
        ),
        *("[", "env:X", "tree", "table", "sample", "laplace", "mesh", "line", "bins", "grid", "categories", "auto"),
        *("public", "open", "csv", "parquet", "1km", "500m", "person", "age", "sex", "count", "index"),
    ]
)
_NUMBERS = st.sampled_from(
    [
        *(0, 1, -1, 2, 3, 7, 16, 17, 100, 255, 2**31, 2**53 + 1, 2**62, 2**63, 2**64, -(2**63), 10**30, 10**400),
        *(0.0, -0.0, 0.1, 0.5, 1.0, 1.5, -2.5, 1e-320, 1e300, 1e15, float("nan"), float("inf"), float("-inf")),
    ]
)
_SCALARS = st.one_of(_WORDS, _NUMBERS, st.booleans(), st.none(), st.integers(-3, 40), st.floats(), st.text(max_size=8))
junk = st.one_of(
    _SCALARS,
    _SCALARS,
    st.lists(_SCALARS, max_size=4),
    st.dictionaries(st.one_of(_WORDS, st.text(max_size=5)), _SCALARS, max_size=3),
    st.builds(lambda: [[]]),
    st.builds(lambda: {"type": {}}),
)


_INSERTED = [
    *(b"\x00", b"\xff", b'"', b"\n", b"\r", b",", b"[", b"{", b"\\", b"-", b"=" * 9, b"\xe7\xb0\xbe"),
    *(b"9" * 5000, b"0x" + b"f" * 5000, b"1e9999999999999999999", b"[" * 5000, b'{"a":' * 5000, b"[[[{a=" * 1000),
]


def paths_of(tree: Any) -> list[tuple[Any, ...]]:
    """The way to every node below the root."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [way for key, under in items for way in ((key,), *((key, *rest) for rest in paths_of(under)))]


@st.composite
def changed_tree(draw: st.DrawFn, tree: Any) -> Any:
    """``tree`` with one to three nodes replaced, removed, renamed, moved, doubled or added."""
    tree = copy.deepcopy(tree)
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        ways = paths_of(tree)
        if not ways:
            break
        *above, last = draw(st.sampled_from(ways))
        parent = tree
        for step in above:
            parent = parent[step]
        change = draw(st.sampled_from(["replace", "replace", "replace", "remove", "rename", "move", "double", "add"]))
        if change == "replace":
            parent[last] = draw(junk)
        elif change == "remove":
            del parent[last]
        elif change == "rename" and isinstance(parent, dict):
            parent[draw(st.one_of(_WORDS, st.sampled_from([f"{last}x", str(last)[1:], str(last).upper()])))] = (
                parent.pop(last)
            )
        elif change == "move":
            *other, end = draw(st.sampled_from(ways))
            place = tree
            for step in other:
                place = place[step]
            place[end] = copy.deepcopy(parent[last])
        elif change == "double" and isinstance(parent, list):
            parent.insert(last, copy.deepcopy(parent[last]))
        elif change == "double":
            parent[last] = [copy.deepcopy(parent[last])] * draw(st.integers(0, 3))
        elif isinstance(parent, dict):
            parent[draw(_WORDS)] = draw(junk)
        else:
            parent.append(draw(junk))
    return tree


@st.composite
def changed_bytes(draw: st.DrawFn, content: bytes) -> bytes:
    """``content`` with up to four places overwritten, cut out, filled in, doubled or cut off; or other bytes."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.binary(max_size=200))
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(changed) - 1)))
        length = draw(st.sampled_from([1, 1, 2, 4, 8, 64]))
        change = draw(st.sampled_from(["overwrite", "overwrite", "bit", "remove", "insert", "double", "end"]))
        if change == "overwrite":
            changed[at : at + length] = draw(st.binary(min_size=length, max_size=length))
        elif change == "bit" and changed:
            changed[at] ^= 1 << draw(st.integers(0, 7))
        elif change == "remove":
            del changed[at : at + length]
        elif change == "insert":
            changed[at:at] = draw(st.sampled_from(_INSERTED))
        elif change == "double":
            changed[at:at] = changed[at : at + length]
        else:
            del changed[at:]
    return bytes(changed)


@st.composite
def changed_cells(
    draw: st.DrawFn, rows: list[list[str]], cells: st.SearchStrategy[str] | None = None
) -> list[list[str]]:
    """Rows of text with one to four cells or rows replaced, removed, doubled or moved."""
    rows = copy.deepcopy(rows)
    for _ in range(draw(st.integers(1, 4))):
        if not rows:
            break
        at = draw(st.integers(0, len(rows) - 1))
        change = draw(st.sampled_from(["cell", "cell", "cell", "row away", "row twice", "longer", "shorter", "swap"]))
        if change == "cell" and rows[at]:
            place = draw(st.integers(0, len(rows[at]) - 1))
            rows[at][place] = draw(st.one_of(_WORDS, _SCALARS.map(str)) if cells is None else cells)
        elif change == "row away":
            del rows[at]
        elif change == "row twice":
            rows.insert(at, list(rows[at]))
        elif change == "longer":
            rows[at].append(draw(_WORDS))
        elif change == "shorter" and rows[at]:
            rows[at].pop()
        elif change == "swap":
            other = draw(st.integers(0, len(rows) - 1))
            rows[at], rows[other] = rows[other], rows[at]
    return rows


def to_toml(tree: dict[str, Any]) -> str:
    """A TOML text of a tree; what TOML cannot say (None) is left out."""
    return "".join(f"{_key(key)} = {_toml(value)}\n" for key, value in tree.items() if value is not None)


def _key(key: Any) -> str:
    return json.dumps(str(key), ensure_ascii=False)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_toml(each)}" for key, each in value.items() if each is not None) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(each) for each in value if each is not None) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return "nan" if value != value else str(value)
