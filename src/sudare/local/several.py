"""Several questions to one person: a budget that is divided, and joint estimates of any two answers.

Each answer is randomised by an encoding of its own, and the reports of one person stay together: row i of the reports
to every question is the same person's. So it shows how two answers go together, though neither was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.arrays import Floats
from sudare.errors import DomainError, InputError, ParameterError
from sudare.local.encoding import Encoding
from sudare.local.estimators import chances_of
from sudare.local.layout import Bitmap
from sudare.local.reports import Reports, same_survey
from sudare.local.unary import OptimisedUnary
from sudare.measure.simplex import project_rows
from sudare.noise import Source
from sudare.privacy import Guarantee, Number, positive

_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class JointEstimate:
    """``counts`` (size, other size) of people per pair of answers, as in `Estimate`: with errors and intervals."""

    counts: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    unbiased: Floats
    reports: int
    level: float
    guarantee: Guarantee


@dataclass(frozen=True)
class Several:
    """Encodings of several answers of one person, by the names of the questions.

    Privacy: the reports to the questions are drawn independently, each epsilon-LDP about its own answer. For two people
    who differ in all answers the quotients multiply, so together they are LDP with the sum of the epsilons (sequential
    composition); about one answer a person's reports tell no more than that question's own epsilon, unless the answers
    go together, which is what the joint estimate is about: then the sum bounds it too.

    >>> survey = Several.divided({"lunch": 3, "way": 2}, epsilon=4)
    >>> lunch, way = [0] * 3000 + [2] * 3000, [0] * 3000 + [1] * 3000
    >>> reports = survey.randomize({"lunch": lunch, "way": way}, seed=1)
    >>> survey.joint(reports, "lunch", "way").counts.round(-2).tolist()  # 3,000 each of two pairs
    [[3000.0, 0.0], [200.0, 100.0], [0.0, 2700.0]]
    """

    questions: Mapping[str, Encoding]

    def __post_init__(self) -> None:
        if len(self.questions) < 2:
            raise ParameterError("several questions are two or more", value=len(self.questions))
        for name, encoding in self.questions.items():
            if encoding.chances is None or not isinstance(encoding.layout, Bitmap):
                raise ParameterError(
                    "answers of several questions need an encoding with one bit for each value",
                    value=encoding.name,
                    hint="Use a unary encoding or subset selection.",
                    question=name,
                )

    @classmethod
    def divided(cls, sizes: Mapping[str, int], epsilon: Number, shares: Mapping[str, Number] | None = None) -> Several:
        """Optimised unary for questions with so many answers each; ``shares`` of epsilon are even if not given."""
        total = positive(epsilon, "epsilon")
        weights = {name: positive((shares or {}).get(name, 1), "shares") for name in sizes}
        if shares is not None and shares.keys() != sizes.keys():
            raise ParameterError("shares are not one for each question", value=sorted(shares), allowed=sorted(sizes))
        whole = sum(weights.values())
        return cls({name: OptimisedUnary(size, total * weights[name] / whole) for name, size in sizes.items()})

    @property
    def guarantee(self) -> Guarantee:
        """What one person's answers to all questions promise together."""
        first = next(iter(self.questions.values()))
        return replace(
            first.guarantee, epsilon=sum((encoding.epsilon for encoding in self.questions.values()), Fraction(0))
        )

    def randomize(
        self, answers: Mapping[str, ArrayLike], *, source: Source | None = None, seed: int | None = None
    ) -> dict[str, Reports]:
        """Reports to each question for the answers of people, in the same order everywhere."""
        if answers.keys() != self.questions.keys():
            raise DomainError(
                "there is not an answer to each question", value=sorted(answers), allowed=sorted(self.questions)
            )
        own = Source.chosen(source, seed)
        made = {
            name: encoding.randomize(answers[name], source=own.child(name)) for name, encoding in self.questions.items()
        }
        _people(made)
        return made

    def joint(self, reports: Mapping[str, Reports], one: str, other: str, level: float = 0.9) -> JointEstimate:
        """How many people gave each pair of answers to two questions.

        With s and t whether a report supports a value, p and q the chances of its encoding, (s - q)(t - q')/((p - q)
        (p' - q')) has as its mean whether the person holds both values, since the two are independent given the
        answers. Summed over people this is unbiased; its variance is that of the summands, as they are seen.
        ``counts`` is the nearest point that is not negative and adds up to the people.
        """
        if not 0 < level < 1:
            raise ParameterError("level is not a probability", value=level, allowed="0 < level < 1")
        if one == other or not {one, other} <= self.questions.keys():
            raise ParameterError("no two questions", value=(one, other), allowed=sorted(self.questions))
        people = _people(reports)
        sides = [(self.questions[name], reports[name]) for name in (one, other)]
        for encoding, given in sides:
            same_survey(encoding, given.encoding)
        (p, q), (p_other, q_other) = (chances_of(encoding) for encoding, _ in sides)
        both = np.zeros((sides[0][0].size, sides[1][0].size))
        for start in range(0, people, _ROWS):
            bits = [_bits(encoding, given.packed[start : start + _ROWS]) for encoding, given in sides]
            both += bits[0].T @ bits[1]
        alone = [given.encoding.layout.tally(given.packed).astype(np.float64) for _, given in sides]

        def summed(slope: float, constant: float, slope_other: float, constant_other: float) -> Floats:
            """The sum over people of (slope s + constant)(slope' t + constant')."""
            return np.asarray(
                slope * slope_other * both
                + slope * constant_other * alone[0][:, None]
                + constant * slope_other * alone[1]
                + people * constant * constant_other
            )

        scale = (p - q) * (p_other - q_other)
        unbiased = summed(1, -q, 1, -q_other) / scale
        # (s - q)^2 = (1 - 2q) s + q^2, for s is 0 or 1.
        squares = summed(1 - 2 * q, q**2, 1 - 2 * q_other, q_other**2) / scale**2
        error = np.sqrt(np.maximum(squares - unbiased**2 / people, 0))
        counts = project_rows(unbiased.reshape(1, -1), np.array([float(people)]))[0].reshape(unbiased.shape)
        reach = NormalDist().inv_cdf((1 + level) / 2)
        low = np.minimum(np.clip(unbiased - reach * error, 0, people), counts)
        high = np.maximum(np.clip(unbiased + reach * error, 0, people), counts)
        seeded = any(given.seeded for _, given in sides)
        promised = self.guarantee.without_protection() if seeded else self.guarantee.unbooked()
        return JointEstimate(counts, error, low, high, unbiased, people, level, promised)

    def to_json(self) -> dict[str, Any]:
        """The encodings by question."""
        return {name: encoding.to_json() for name, encoding in self.questions.items()}


def _people(reports: Mapping[str, Reports]) -> int:
    numbers = {len(given) for given in reports.values()}
    if len(numbers) != 1 or not min(numbers):
        raise InputError("the reports to the questions are not of the same people", value=sorted(numbers))
    return numbers.pop()


def _bits(encoding: Encoding, packed: NDArray[np.uint8]) -> Floats:
    return np.unpackbits(packed, axis=1, count=encoding.size, bitorder="little").astype(np.float64)
