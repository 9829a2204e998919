"""`choose`: the encoding for a number of values and an epsilon, with the reason; and encodings read back from JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sudare.errors import ParameterError, did_you_mean
from sudare.local.encoding import Encoding
from sudare.local.estimators import noise_terms
from sudare.local.hadamard import HadamardResponse
from sudare.local.hashing import LARGEST_HASHED, LocalHashing
from sudare.local.several import Several
from sudare.local.subset import RandomisedResponse, SubsetSelection
from sudare.local.unary import OptimisedUnary, SymmetricUnary
from sudare.privacy import Number, positive, readable
from sudare.registry import ENCODINGS


def encoding_from_json(data: Any) -> Encoding:
    """The inverse of an encoding's ``to_json``.

    >>> encoding_from_json({"encoding": "symmetric_unary", "size": 23, "epsilon": "1/2"})
    SymmetricUnary(size=23, epsilon=Fraction(1, 2))
    """
    parameters = dict(data) if isinstance(data, dict) else {}
    name = parameters.pop("encoding", None)
    if name == Several.name and isinstance(parameters.get("questions"), list):
        parts = [dict(part) if isinstance(part, dict) else {} for part in parameters["questions"]]
        return Several({str(part.pop("name", "")): encoding_from_json(part) for part in parts})
    if not isinstance(name, str) or name not in ENCODINGS:
        raise ParameterError("unknown encoding", value=name, allowed=ENCODINGS, hint=did_you_mean(str(name), ENCODINGS))
    try:
        made: Encoding = ENCODINGS[name](**parameters)
    except TypeError:
        raise ParameterError(
            "the JSON of the encoding {name!r} lacks a part or has a wrong one", value=sorted(parameters), name=name
        ) from None
    return made


LONGEST = 1024
"""The longest report that is chosen, in bytes."""
SHORT = 16
"""Reports up to this many bytes count as equally short."""
WORTH = 1.1
"""A shorter report is worth this factor of the least standard error."""


@dataclass(frozen=True)
class EncodingCandidate:
    """An encoding, the length of its report, and the root mean square error of a share, times sqrt(users)."""

    encoding: Encoding
    report_bytes: int
    error: float


@dataclass(frozen=True)
class Choice:
    """The chosen ``encoding``, ``why`` in a sentence, and all ``candidates``, the most exact first."""

    encoding: Encoding
    why: str
    candidates: tuple[EncodingCandidate, ...]

    def __str__(self) -> str:
        return self.why


def choose(*, size: int, epsilon: Number, users: int | None = None) -> Choice:
    """The encoding with the shortest report among those whose error is at most a tenth above the least.

    The error is the root of the mean of the exact variances over all values, for people spread evenly. With ``users``
    the sentence gives it in people. Reports up to 16 bytes count as equally short; among equals the most exact wins.

    >>> print(choose(size=1024, epsilon=1, users=1_000_000))
    local_hashing: 9 bytes a report, standard error about 1,922 people; subset_selection has 1,917 in 128 bytes
    """
    if users is not None and (type(users) is not int or users < 1):
        raise ParameterError("users is not a number of people", value=users, allowed="a whole number from 1 on")
    exact_epsilon = positive(epsilon, "epsilon")
    kinds = [RandomisedResponse, SubsetSelection, OptimisedUnary, SymmetricUnary, HadamardResponse]
    if type(size) is int and size <= LARGEST_HASHED:
        kinds.append(LocalHashing)
    candidates = sorted((_candidate(kind(size, exact_epsilon)) for kind in kinds), key=lambda one: one.error)
    short = [one for one in candidates if one.report_bytes <= LONGEST]
    best = short[0]
    good = [one for one in short if one.error <= WORTH * best.error]
    chosen = min(good, key=lambda one: max(one.report_bytes, SHORT))
    return Choice(chosen.encoding, _sentence(chosen, candidates[0], users), tuple(candidates))


def _candidate(encoding: Encoding) -> EncodingCandidate:
    constant, slope = noise_terms(encoding)
    return EncodingCandidate(encoding, encoding.report_bytes, round((constant + slope / encoding.size) ** 0.5, 9))


def _sentence(chosen: EncodingCandidate, best: EncodingCandidate, users: int | None) -> str:
    def error(one: EncodingCandidate) -> str:
        return f"{one.error:.3g} / sqrt(users)" if users is None else f"{one.error * users**0.5:,.0f}"

    unit = "" if users is None else " people"
    text = f"{chosen.encoding.name}: {_bytes(chosen)} a report, standard error about {error(chosen)}{unit}"
    if chosen is best:
        return f"{text}, the least of all at epsilon {readable(chosen.encoding.epsilon)}"
    return f"{text}; {best.encoding.name} has {error(best)} in {_bytes(best)}"


def _bytes(one: EncodingCandidate) -> str:
    return "1 byte" if one.report_bytes == 1 else f"{one.report_bytes:,} bytes"
