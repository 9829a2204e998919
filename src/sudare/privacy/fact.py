"""Facts that certificates state: what is public anyway, the assumptions of a guarantee, what weights do not cover.

A fact is a code with fields, such as ``Fact("areas", areas=3)``: logic compares facts, pages look up their words by the
code. ``str()`` is its English sentence. Certificates and ledgers hold these sentences, in English whatever the
language, so that a reader of any version and any program can show them: they are a format, and stay as they are.
`Fact.from_text` is the one place that reads a sentence back, when a certificate or a ledger is opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from sudare.errors import Message, ParameterError, did_you_mean

Field = str | int

SENTENCES = {
    "agreed": "the totals of {areas} areas of an earlier release, with which this one agrees",
    "any_attacker": "epsilon is local and holds for any attacker",
    "areas": "the totals of {areas} areas, given from elsewhere",
    "asked_for": "nobody sends more reports than the survey asks for",
    "changeless": "the value does not change",
    "changes": "the value changes at most {changes} times, at moments that may be known",
    "chosen": "no differential privacy, since the generalisation was chosen by looking at the records",
    "closeness": "{t}-closeness of {column} in each combination",
    "combinations": "every combination of {columns} in the file has at least {k} records",
    "counted_once": "no {unit} is counted more than once in the data",
    "counted": "no {unit} is counted more than {rows} times in the data",
    "declared": "the declared bounds and categories",
    "distinct": "distinct {l}-diversity of {column} in each combination",
    "domain": "the domain",
    "entropy": "entropy {l}-diversity of {column} in each combination",
    "few_public_rows": "the weights rest on few public rows: effectively {effective} of {all}",
    "float_noise": "the noise is made of floats",
    "generalisation": "the generalisation",
    "hierarchies": "the hierarchies",
    "inside": "the record and the one in its place both lie in the domain",
    "k_too_small": "no differential privacy, since k is too small for the sampling rate",
    "knowledge": "nobody knows more of a person than {columns}",
    "linked": "k = {k}: no row is linked to a person with probability above 1/k",
    "missed": "the weighted public rows miss a measured mean by {gap}, more than the noise:"
    " the public data do not reach what the private data hold",
    "no_noise": "no noise",
    "public_data": "the public data",
    "rate": "k and the sampling rate",
    "raw_centres": "real records are published as centres: the paper calls this (epsilon, centres / records)-DP,"
    " and so large a delta protects none of them",
    "records": "the number of records",
    "refused": "whether the release was made at all is public: it was to be refused if more than {share} of the rows"
    " lay outside the domain or had no id, a test of the private data that no noise covers",
    "reporters": "who reports",
    "rows": "the number of rows",
    "seed": "the noise comes from a seed that anyone may know",
    "sensitive": "no differential privacy, since a sensitive column is published",
    "shuffled": "reports arrive shuffled, and nothing else links them to people",
    "swaps": "swaps between units with equal row counts",
    "text": "{text}",
    "total": "the total is public",
    "uncovered": "about {share} or more of the private records lie where there are no public rows:"
    " weighted answers leave them out",
    "uniform": "by an attacker who beforehand finds every assignment of rows to people equally likely",
}
"""The English sentence of each code, as certificates and ledgers hold it."""
_CODES = {sentence: code for code, sentence in SENTENCES.items() if "{" not in sentence}
_GAP = re.compile(r"\{(\w+)\}")
_WHOLE = frozenset({"areas", "changes", "rows"})
"""Fields that are whole numbers; the others are text as the sentence writes it."""


@dataclass(frozen=True, init=False)
class Fact:
    """A code and its fields. A fact of another package is in its own words: ``Fact("text", text="...")``.

    >>> str(Fact("areas", areas=3)), Fact("domain") in (Fact("domain"), Fact("total"))
    ('the totals of 3 areas, given from elsewhere', True)
    """

    code: str
    fields: tuple[tuple[str, Field], ...]

    def __init__(self, code: str, **fields: Field) -> None:
        if code not in SENTENCES:
            raise ParameterError("unknown fact of a guarantee", value=code, hint=did_you_mean(code, SENTENCES))
        wanted = _GAP.findall(SENTENCES[code])
        if fields.keys() != set(wanted):
            other = Message("the fact {code} has other fields", code=code)
            raise ParameterError(other, value=sorted(fields), allowed=wanted)
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "fields", tuple((name, fields[name]) for name in wanted))

    def __str__(self) -> str:
        values = dict(self.fields)
        return _GAP.sub(lambda gap: str(values[gap[1]]), SENTENCES[self.code])

    @classmethod
    def from_text(cls, text: str) -> Fact:
        """The fact of a stored sentence; one that no code has stays as it is.

        >>> Fact.from_text("the totals of 3 areas, given from elsewhere") == Fact("areas", areas=3)
        True
        """
        if code := _CODES.get(text):
            return cls(code)
        for code, pattern in _patterns():
            if found := pattern.fullmatch(text):
                values = found.groupdict().items()
                return cls(code, **{name: int(value) if name in _WHOLE else value for name, value in values})
        return cls("text", text=text)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Regular expressions of the sentences with fields; ``str()`` of a fact that was read is the same text again."""
    return tuple(
        (code, re.compile("".join(map(_piece, re.split(r"(\{\w+\})", sentence)))))
        for code, sentence in SENTENCES.items()
        if "{" in sentence and code != "text"
    )


def _piece(text: str) -> str:
    if not (gap := _GAP.fullmatch(text)):
        return re.escape(text)
    return f"(?P<{gap[1]}>{'[1-9][0-9]{0,17}' if gap[1] in _WHOLE else '.+'})"
