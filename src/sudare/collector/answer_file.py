"""Answers in a text file, one a line: the true values, which never leave the machine that reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sudare.collector.answers import Answers
from sudare.domain import Bins, Mesh
from sudare.errors import InputError, MissingFileError


def read_answers(path: Path, answers: Answers) -> tuple[Any, ...]:
    """The columns that `Answers.ranks` takes; a mesh survey's lines are codes, or ``latitude,longitude``.

    Empty lines are skipped. A line that cannot be read is named by its number, never by what it says.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise MissingFileError("there is no such file of answers", value=path) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError("the answers cannot be read: {type}", value=path, type=type(problem).__name__) from None
    numbered = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise InputError("there are no answers in the file", value=path)
    if isinstance(answers.attribute, Bins):
        return (np.array([_number(line, number) for number, line in numbered]),)
    if isinstance(answers.attribute, Mesh) and "," in numbered[0][1]:
        places = np.array([_pair(line, number) for number, line in numbered])
        return places[:, 0], places[:, 1]
    return ([line for _, line in numbered],)


def _number(text: str, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError("line {line} of the answers is not a number", line=line) from None


def _pair(text: str, line: int) -> tuple[float, float]:
    latitude, _, longitude = text.partition(",")
    return _number(latitude, line), _number(longitude, line)
