"""Encodings by name, so that a survey can be written down and read again."""

from __future__ import annotations

from typing import Any

from sudare.errors import ParameterError, did_you_mean
from sudare.local.encoding import Encoding
from sudare.registry import ENCODINGS


def encoding_from_json(data: Any) -> Encoding:
    """The inverse of an encoding's ``to_json``.

    >>> encoding_from_json({"encoding": "symmetric_unary", "size": 23, "epsilon": "1/2"})
    SymmetricUnary(size=23, epsilon=Fraction(1, 2))
    """
    parameters = dict(data) if isinstance(data, dict) else {}
    name = parameters.pop("encoding", None)
    if not isinstance(name, str) or name not in ENCODINGS:
        raise ParameterError("unknown encoding", value=name, allowed=ENCODINGS, hint=did_you_mean(str(name), ENCODINGS))
    try:
        made: Encoding = ENCODINGS[name](**parameters)
    except TypeError:
        raise ParameterError(
            "the JSON of the encoding {name!r} lacks a part or has a wrong one", value=sorted(parameters), name=name
        ) from None
    return made
