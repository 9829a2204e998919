"""Totals of categories that agree with those measured: people move between the kinds of a place, never between places.

The cells of a place are split by projections, which lift small cells at the cost of large ones; over a map that adds up
to far more than the noise of the totals of categories, which were measured by themselves (`sudare.tables.mix.Margin`).
So every final split within places adds one number for each kind to what was measured, before it is projected: the
numbers are such that the kinds add up to their measured totals. It is the least squares estimate under that condition,
its numbers being the multipliers. What is left of the error of a total is its own measurement, whose law is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.domain import CountTable, Domain
from sudare.measure.simplex import pieces, project_rows
from sudare.tables.mix import NOWHERE, Mix, kinds, mix_level
from sudare.tables.tree_level import Level

if TYPE_CHECKING:
    from sudare.tables.areas import Areas

_ROWS = 1 << 18
"""Nodes that are projected, in all, while the numbers of a level are looked for; at least three times all of them."""
_MOST_ROUNDS = 30
_SEED = 20_261_118
_FEW = 30
"""People of a kind who are too few to say where the rest of them may be."""
_MOST_CELLS = 1 << 20


@dataclass
class KindTotals:
    """The people of each kind (2**mix.level,) who are still to be placed, on the way down through one table."""

    mix: Mix
    left: Floats

    @classmethod
    def of(cls, mix: Mix | None) -> Self | None:
        """Everybody; None where totals were not measured."""
        return None if mix is None or mix.totals is None else cls(mix, mix.totals.copy())

    def placed(self, level: Level, split: Integers) -> None:
        """Takes off the people of blocks that end here, whom the mix will divide."""
        ends = (split > 0) & ~level.goes
        if level.below >= self.mix.level:
            self.left -= self.mix.rest * split[ends].sum()
            return
        number = 1 << (self.mix.level - level.below)
        people = np.bincount(level.numbers(ends) & (number - 1), split[ends], minlength=number)
        weight = self.mix.within.reshape(number, -1)
        whole = weight.sum(axis=1, keepdims=True)
        shares = np.divide(weight, whole, out=np.zeros_like(weight), where=whole > 0)
        self.left -= (shares * people[:, None]).reshape(-1)

    def shift(self, level: Level, people: Integers) -> Floats | None:
        """What to add to the estimate of each kind of a level's children: projections then add up for each kind.

        Newton's method with the diagonal alone: a number moves the cells of its kind that are above 0, one for one.
        None where the level does not divide kinds.
        """
        if level.below >= self.mix.level or not len(level.node):
            return None
        bits = self.mix.level - level.below
        number = 1 << bits
        logical = np.zeros(number, dtype=np.bool_)
        for piece in pieces(level.noisy):
            logical[level.places(piece, bits)[level.logical[piece]]] = True
        left = np.where(logical, self.left.reshape(number, -1).sum(axis=1), NOWHERE)
        wanted = project_rows(left[None], np.array([float(people.sum())]))[0]
        more = np.zeros(number)
        for _ in range(min(max(_ROWS // len(people), 3), _MOST_ROUNDS)):
            sums, above = np.zeros((2, number))
            for piece, value in level.rows():
                kind = level.places(piece, bits)
                value += more[kind]
                found = project_rows(value, people[piece]).reshape(-1)
                sums += np.bincount(kind.reshape(-1), found, minlength=number)
                above += np.bincount(kind.reshape(-1), found > 0, minlength=number)
            more += np.where(logical, (wanted - sums) / np.maximum(above, 1), 0.0)
        return more


@dataclass(frozen=True, eq=False)
class KindErrors:
    """What the noise of the measured totals makes of any sum of a released table, at least.

    Totals of kinds with noise of variance v were drawn towards each other by a factor t = w/(v + w), where w is the
    variance of the true ones (see `sudare.tables.mix`). The released ones vary by t w, which gives w, and what remains
    unknown of each is t v. From so few kinds t is known only roughly. Plausible truths do not show this: they have
    about the released totals.

    Of the people of a ``kind`` the ``share`` (m,) is thought to stand in the cell ``index``; ``owner`` numbers its
    place, ``people`` are those released.
    """

    domain: Domain
    spread: float
    index: Integers
    kind: Integers
    owner: Integers
    share: Floats
    people: Floats

    @classmethod
    def of(cls, table: CountTable, noise: float) -> Self:
        """From a released table with people, and the variance of the measured totals."""
        logical, level = kinds(table.domain), mix_level(table.domain)
        people, kind = table.count.astype(np.float64), table.index & (len(logical) - 1)
        totals = np.bincount(kind, people, minlength=len(logical))
        seen = float(totals[logical].var())
        true = (seen + (seen * (seen + 4 * noise)) ** 0.5) / 2
        trust = max(true / (noise + true), min(1.0, (2 / np.count_nonzero(logical)) ** 0.5))
        place, owner = np.unique(table.index >> level, return_inverse=True)
        # Hardly anybody of some kinds is released: who may be missing stands where the others do.
        rare = np.flatnonzero(logical & (totals < _FEW))[: _MOST_CELLS // len(place)]
        everybody = np.bincount(owner, people)
        known = ~np.isin(kind, rare)
        columns = (
            (table.index, ((place << level)[:, None] + rare).reshape(-1)),
            (kind, np.tile(rare, len(place))),
            (owner, np.repeat(np.arange(len(place)), len(rare))),
            (np.where(known, people / totals[kind], 0.0), np.repeat(everybody / everybody.sum(), len(rare))),
            (people, np.zeros(len(place) * len(rare))),
        )
        return cls(table.domain, (trust * noise) ** 0.5, *(np.concatenate(column) for column in columns))

    def draws(self, number: int) -> Floats:
        """So many seeded changes (number, kinds) of the totals of kinds."""
        return np.random.default_rng(_SEED).normal(0.0, self.spread, (number, int(self.kind.max()) + 1))

    def variance(self, areas: Areas, draws: int) -> Floats:
        """Of each area: totals of kinds are drawn anew, people staying in their places."""
        everybody, found = np.bincount(self.owner, self.people), []
        for drawn in self.draws(draws):
            change = self.share * drawn[self.kind]
            moved = np.bincount(self.owner, change) / everybody
            found.append(areas.sums(self.domain, self.index, change - self.people * moved[self.owner]))
        return np.asarray(np.mean(np.square(found), axis=0))
