"""Sentences that guarantees state in English, so that a page can say them in its own words and language.

A guarantee is data: its public facts and assumptions are short English sentences, fixed by the code that states them.
Each is listed here as it is stated, with gaps where it has numbers or names; the catalogue has what a reader sees.
"""

from __future__ import annotations

import re
from functools import cache

STATED = {
    "any_attacker": "epsilon is local and holds for any attacker",
    "areas": "the totals of {areas} areas, given from elsewhere",
    "changeless": "the value does not change",
    "chosen": "no differential privacy, since the generalisation was chosen by looking at the records",
    "closeness": "{t}-closeness of {column} in each combination",
    "combinations": "every combination of {columns} in the file has at least {k} records",
    "counted": "no {unit} is counted more than {rows} times in the data",
    "counted_once": "no {unit} is counted more than once in the data",
    "declared": "the declared bounds and categories",
    "distinct": "distinct {l}-diversity of {column} in each combination",
    "domain": "the domain",
    "entropy": "entropy {l}-diversity of {column} in each combination",
    "generalisation": "the generalisation",
    "hierarchies": "the hierarchies",
    "inside": "the record and the one in its place both lie in the domain",
    "k_too_small": "no differential privacy, since k is too small for the sampling rate",
    "knowledge": "nobody knows more of a person than {columns}",
    "linked": "k = {k}: no row is linked to a person with probability above 1/k",
    "no_noise": "no noise",
    "public_data": "the public data",
    "rate": "k and the sampling rate",
    "records": "the number of records",
    "reporters": "who reports",
    "rows": "the number of rows",
    "seed": "the noise comes from a seed that anyone may know",
    "sensitive": "no differential privacy, since a sensitive column is published",
    "shuffled": "reports arrive shuffled, and nothing else links them to people",
    "swaps": "swaps between units with equal row counts",
    "total": "the total is public",
    "uniform": "by an attacker who beforehand finds every assignment of rows to people equally likely",
}
_GAP = re.compile(r"\\{(\w+)\\}")


def recognised(text: str) -> tuple[str, dict[str, str]] | None:
    """The name of a stated sentence and what fills its gaps; None where it is not listed.

    >>> recognised("the totals of 3 areas, given from elsewhere")
    ('areas', {'areas': '3'})
    """
    for name, pattern in _patterns():
        if found := pattern.fullmatch(text):
            return name, found.groupdict()
    return None


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(_GAP.sub(r"(?P<\1>.+)", re.escape(text)))) for name, text in STATED.items())
