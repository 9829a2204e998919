"""The answers of a survey: words, places on a tile map, meshes or bins of a number, numbered from 0 on.

What a device randomises is the number of an answer. The list is declared, so it may appear in messages; which
answer a person gave may not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Bins, Categories, Mesh
from sudare.domain.attribute import attribute_from_json
from sudare.domain.mesh import mesh_level
from sudare.errors import DomainError, InputError, SudareError

MOST_ANSWERS = 2**16
Tile = tuple[int, int]


@dataclass(frozen=True)
class Answers:
    """The cells of one attribute in order of rank; words may have ``tiles``, (row, column) from the north-west.

    >>> answers = Answers(Categories(["yes", "no"]))
    >>> answers.labels, answers.ranks(["no", "yes"]).tolist()
    (['yes', 'no'], [1, 0])
    """

    attribute: Categories | Mesh | Bins
    tiles: tuple[Tile, ...] | None = None

    def __post_init__(self) -> None:
        if not 2 <= self.size <= MOST_ANSWERS:
            raise DomainError(
                "a survey has too few or too many answers",
                value=self.size,
                allowed="2 to {most_answers:,}",
                most_answers=MOST_ANSWERS,
            )
        if self.tiles is None:
            return
        if not isinstance(self.attribute, Categories) or len(self.tiles) != self.size:
            raise DomainError("the tiles do not match the answers", allowed="one tile for each word")
        if len(set(self.tiles)) < self.size:
            raise DomainError("two answers have the same tile", allowed="a tile of its own for each answer")

    @property
    def size(self) -> int:
        """How many answers there are."""
        return self.attribute.size

    @cached_property
    def labels(self) -> list[str]:
        """What a person reads, in order."""
        digits = mesh_level(self.attribute.cell_size).digits if isinstance(self.attribute, Mesh) else 0
        return [str(label).zfill(digits) for label in self.attribute.labels(*self._cells).tolist()]

    @cached_property
    def places(self) -> list[Tile] | None:
        """(row, column) of each answer on a map whose row 0 is the northernmost; None where there is no map."""
        if self.tiles is not None:
            first = [min(axis) for axis in zip(*self.tiles, strict=True)]
            return [(row - first[0], column - first[1]) for row, column in self.tiles]
        if not isinstance(self.attribute, Mesh):
            return None
        row, column = self._cells
        return list(zip((self.attribute.lengths[0] - 1 - row).tolist(), column.tolist(), strict=True))

    def ranks(self, *columns: Any) -> NDArray[np.int64]:
        """The numbers of answers given as words, numbers, mesh codes, or latitudes and longitudes."""
        coordinates, inside = self.attribute.locate(*columns)
        if not inside.all():
            raise InputError(
                "a value is not an answer of the survey",
                allowed=[_shortened(self.labels)],
                hint="Leave out what cannot be answered before sending.",
            )
        flat = np.ravel_multi_index(coordinates, self.attribute.lengths)
        return self._order[np.searchsorted(self._flat[self._order], flat)]

    def to_json(self) -> dict[str, Any]:
        """The declaration; for a mesh with what turns degrees into a cell."""
        content: dict[str, Any] = {"attribute": self.attribute.to_json(), "labels": self.labels}
        if self.tiles is not None:
            content["tiles"] = [list(tile) for tile in self.tiles]
        if self.places is not None:
            content["places"] = [list(place) for place in self.places]
        if isinstance(self.attribute, Mesh):
            level = mesh_level(self.attribute.cell_size)
            content["degrees"] = {
                "rows": level.rows_per_degree,
                "columns": level.columns_per_degree,
                "north": self.attribute.rows[1] - 1,
                "west": self.attribute.columns[0],
            }
        return content

    @classmethod
    def from_json(cls, data: Any) -> Answers:
        """The answers that `to_json` described."""
        try:
            attribute = attribute_from_json(data["attribute"])
            tiles = data.get("tiles")
            placed = None if tiles is None else tuple((int(row), int(column)) for row, column in tiles)
        except SudareError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InputError("the answers of a survey are not as Sudare writes them") from None
        if not isinstance(attribute, Categories | Mesh | Bins):
            raise InputError("a survey cannot have such answers", value=attribute.kind)
        return cls(attribute, placed)

    @cached_property
    def _cells(self) -> tuple[NDArray[np.int64], ...]:
        return self.attribute.cell(np.arange(self.size))

    @cached_property
    def _flat(self) -> NDArray[np.int64]:
        return np.asarray(np.ravel_multi_index(self._cells, self.attribute.lengths), dtype=np.int64)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self._flat)


@dataclass(frozen=True)
class Asked:
    """One of several questions, by the ``name`` that the survey's file gives it."""

    name: str
    question: str
    answers: Answers


@dataclass(frozen=True)
class Questions:
    """The answers to several questions of one survey; what is numbered are their combinations."""

    asked: tuple[Asked, ...]

    @property
    def size(self) -> int:
        """How many combinations of answers there are."""
        return prod(each.answers.size for each in self.asked)

    def ranks(self, given: Mapping[str, Any]) -> NDArray[np.int64]:
        """The combinations of answers (n,) to each question, by its name; latitudes and longitudes are a pair."""
        names = [each.name for each in self.asked]
        if given.keys() != set(names):
            raise InputError("there is not an answer to each question", allowed=names)
        columns = [given[name] if isinstance(given[name], tuple) else (given[name],) for name in names]
        ranks = [each.answers.ranks(*own) for each, own in zip(self.asked, columns, strict=True)]
        if len({len(own) for own in ranks}) != 1:
            raise InputError("the answers to the questions are not of the same people")
        return np.ravel_multi_index(ranks, [each.answers.size for each in self.asked])

    def to_json(self) -> dict[str, Any]:
        """The declaration, question by question."""
        asked = [{"name": each.name, "question": each.question, **each.answers.to_json()} for each in self.asked]
        return {"questions": asked}


def answers_from_json(data: Any) -> Answers | Questions:
    """The answers that `to_json` described, to one question or to several."""
    if not isinstance(data, dict) or "questions" not in data:
        return Answers.from_json(data)
    return Questions(
        tuple(Asked(each["name"], each["question"], Answers.from_json(each)) for each in data["questions"])
    )


def _shortened(labels: list[str]) -> str:
    shown = ", ".join(labels[:8])
    return shown if len(labels) <= 8 else f"{shown}, ... {len(labels):,} answers"
