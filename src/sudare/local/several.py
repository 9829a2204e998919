"""Several questions to one person: one report with an answer to each, and a budget that is divided among them.

Each answer is randomised by an encoding of its own, and a report holds them end to end, so that the answers of one
person stay together: `sudare.local.joint` estimates how two of them go together, though neither was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import DomainError, InputError, ParameterError
from sudare.local.encoding import Encoding
from sudare.local.layout import Packed
from sudare.local.reports import Reports
from sudare.local.subset import RandomisedResponse, SubsetSelection
from sudare.local.unary import OptimisedUnary, SymmetricUnary
from sudare.noise import Source
from sudare.privacy import Number, positive

MOST_TOGETHER = 256
"""Answers to all questions together: a tally keeps how many reports support each two of them."""
_ROWS = 1 << 16
_PARTS = (SymmetricUnary, OptimisedUnary, RandomisedResponse, SubsetSelection)


@dataclass(frozen=True)
class EndToEnd:
    """Reports to several questions, one after the other.

    The sums (values, values) count the reports that support both of two values of any questions; the diagonal counts
    those that support one.
    """

    parts: tuple[Encoding, ...]

    @property
    def values(self) -> int:
        """How many answers all questions have together."""
        return sum(part.size for part in self.parts)

    @property
    def report_bytes(self) -> int:
        return sum(part.report_bytes for part in self.parts)

    @property
    def sums(self) -> int:
        return self.values**2

    def split(self, packed: Packed) -> list[Packed]:
        """The reports to each question."""
        return np.split(packed, np.cumsum([part.report_bytes for part in self.parts])[:-1], axis=1)

    def check(self, packed: Packed) -> None:
        """Refuse what one of the questions refuses."""
        for part, own in zip(self.parts, self.split(packed), strict=True):
            part.layout.check(own)

    def tally(self, packed: Packed) -> NDArray[np.int64]:
        both = np.zeros((self.values, self.values), dtype=np.int64)
        for start in range(0, len(packed), _ROWS):
            each = zip(self.parts, self.split(packed[start : start + _ROWS]), strict=True)
            bits = [np.unpackbits(part.bitmaps(own), axis=1, count=part.size, bitorder="little") for part, own in each]
            supported = np.hstack(bits).astype(np.float32)  # exact up to 2**24 reports
            both += (supported.T @ supported).astype(np.int64)
        return both.ravel()


@dataclass(frozen=True)
class Several(Encoding):
    """Encodings of several answers of one person, by the names of the ``questions``; ``size`` counts combinations.

    Privacy: the reports to the questions are drawn independently, each epsilon-LDP about its own answer. For two people
    who differ in all answers the quotients multiply, so together they are LDP with the sum of the epsilons (sequential
    composition); about one answer a person's reports tell no more than that question's own epsilon, unless the answers
    go together, which is what the joint estimate is about: then the sum bounds it too.

    >>> survey = Several.divided({"lunch": 3, "way": 2}, epsilon=4)
    >>> lunch, way = [0] * 3000 + [2] * 3000, [0] * 3000 + [1] * 3000
    >>> reports = survey.randomize({"lunch": lunch, "way": way}, seed=1)
    >>> len(reports), survey.epsilon, survey.questions["way"].epsilon
    (6000, Fraction(4, 1), Fraction(2, 1))
    """

    size: int = field(init=False)
    epsilon: Fraction = field(init=False)
    names: tuple[str, ...] = field(init=False)
    questions: Mapping[str, Encoding]

    name: ClassVar[str] = "several"

    def __post_init__(self) -> None:
        if len(self.questions) < 2:
            raise ParameterError("several questions are two or more", value=len(self.questions))
        for name, part in self.questions.items():
            if not isinstance(part, _PARTS):
                raise ParameterError(
                    "the encoding is not one for several questions",
                    value=part.name,
                    allowed=[each.name for each in _PARTS],
                    question=name,
                )
        size = prod(part.size for part in self.questions.values())
        if self.layout.values > MOST_TOGETHER or size >= 2**62:
            raise ParameterError(
                "the questions have too many answers together",
                value=self.layout.values,
                allowed="at most {most_together}",
                most_together=MOST_TOGETHER,
            )
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "epsilon", sum((part.epsilon for part in self.questions.values()), Fraction(0)))
        object.__setattr__(self, "names", tuple(self.questions))

    @classmethod
    def divided(
        cls,
        sizes: Mapping[str, int],
        epsilon: Number,
        shares: Mapping[str, Number] | None = None,
        encoding: type[Encoding] = OptimisedUnary,
    ) -> Several:
        """One ``encoding`` for questions with so many answers each; ``shares`` of epsilon are even if not given."""
        total = positive(epsilon, "epsilon")
        weights = {name: positive((shares or {}).get(name, 1), "shares") for name in sizes}
        if shares is not None and shares.keys() != sizes.keys():
            raise ParameterError("shares are not one for each question", value=sorted(shares), allowed=sorted(sizes))
        whole = sum(weights.values())
        return cls({name: encoding(size, total * weights[name] / whole) for name, size in sizes.items()})

    @property
    def layout(self) -> EndToEnd:
        return EndToEnd(tuple(self.questions.values()))

    @property
    def chances(self) -> None:
        """None: each question has its own."""
        return

    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        """Each answer by its own encoding, independently."""
        parts = self.layout.parts
        answers = np.unravel_index(values, [part.size for part in parts])
        return np.hstack([part.draw(own, source) for part, own in zip(parts, answers, strict=True)])

    def randomize(
        self,
        values: ArrayLike | Mapping[str, ArrayLike],
        *,
        source: Source | None = None,
        seed: int | None = None,
    ) -> Reports:
        """Reports for the answers (n,) of n people to each question; or for the numbers of combinations."""
        if isinstance(values, Mapping):
            if values.keys() != self.questions.keys():
                raise DomainError(
                    "there is not an answer to each question", value=sorted(values), allowed=sorted(self.questions)
                )
            answers = [part.positions(values[name]) for name, part in self.questions.items()]
            if len({len(given) for given in answers}) != 1:
                raise InputError("the answers to the questions are not of the same people")
            values = np.ravel_multi_index(answers, [part.size for part in self.layout.parts])
        return super().randomize(values, source=source, seed=seed)

    def place(self, question: str) -> tuple[int, slice]:
        """The number of a question, and where its values lie among those of all."""
        if question not in self.names:
            raise ParameterError("there is no such question", value=question, allowed=self.names)
        number = self.names.index(question)
        start = sum(part.size for part in self.layout.parts[:number])
        return number, slice(start, start + self.questions[question].size)

    def part(self, reports: Reports, question: str) -> Reports:
        """The reports to one question."""
        number, _ = self.place(question)
        own = np.ascontiguousarray(self.layout.split(reports.packed)[number])
        return Reports(self.questions[question], own, reports.seeded, reports.booked)

    def to_json(self) -> dict[str, Any]:
        """The encodings of the questions, in their order."""
        parts = [{"name": name, **part.to_json()} for name, part in self.questions.items()]
        return {"encoding": self.name, "questions": parts}
