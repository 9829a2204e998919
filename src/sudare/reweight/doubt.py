"""How far the answer of a weighted public data set may be off, from what was released and public things alone.

The answer to the mean of f is A = sum_i p_i f_i, p the normalised weights. Split f = c'k + r, the regression of f on
the features k under the weights (exact where f is a combination of hats). The truth is A + c'(h - g) + e: h are the
private means of the features, g those of the weighted rows, e how much r differs on average between the two.

- *Noise.* h was measured, so c'(h - g) is known up to the added noise: what was measured is never taken from the
  weights. What they do not follow, such as a tail that the public file lacks, widens the interval on its side.
- *Slopes.* c is estimated from the public rows, and is least certain where there are few of them.
- *Rows.* r is an average over finite samples: p_i of public rows, 1/n of private ones.
- *Form.* Where log w varies, the private records differ from the public ones, perhaps also in what was not measured.
  A direction that was not measured is assumed to vary by `FORM` times the variation of log w around each knot.
- *Gaps.* Where measured records have no public row near them, f may be anything between its bounds.

All of this is post-processing: it costs nothing, and the same release has the same intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sudare.arrays import Floats
from sudare.measure.science import scipy_of
from sudare.reweight.answers import Queries
from sudare.reweight.hats import VARIANCE, Hats
from sudare.reweight.measurement import NoisyMean
from sudare.reweight.rows import PublicFeatures

ndtri = scipy_of("special").ndtri
stdtrit = scipy_of("special").stdtrit

FORM = 0.05
"""How much of what varies in log w around a knot may vary unseen: set on Adult, where two columns were not a pair."""
TAIL = 0.1
"""Of a declared range: private records beyond the last public row lie this far from it on average, or farther."""
_RIDGE = 0.2
"""Of the variance that one effective row has: directions of features that vary less are left to the residual."""
_HALF_WAY = 2.0
_LEAST_RATIO = 1e-6
_MANY = 1e9


@dataclass(frozen=True)
class ErrorLaw:
    """Answers (q,) and how far the truth is from them: by ``misfit``, known, and around that as the rest says.

    ``noise``, ``slopes``, ``rows`` and ``form`` are variances (q,), with as many ``freedoms`` (q,) as the rows have.
    ``above`` and ``below`` (q,) is what records in gaps may add to the misfit, ``noise_above`` and ``noise_below`` the
    noise with what is measured of these records in it.
    """

    value: Floats
    misfit: Floats
    noise: Floats
    slopes: Floats
    rows: Floats
    freedoms: Floats
    form: Floats
    above: Floats
    below: Floats
    noise_above: Floats
    noise_below: Floats

    def interval(self, level: float, more: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """From where to where (q,); the answer itself is always inside. ``more`` is a variance that comes on top."""
        normal, student = ndtri(0.5 + level / 2), stdtrit(self.freedoms, 0.5 + level / 2)
        rest = normal**2 * (self.slopes + self.form + more) + student**2 * self.rows
        low = self.misfit - self.below - np.sqrt(normal**2 * self.noise_below + rest)
        high = self.misfit + self.above + np.sqrt(normal**2 * self.noise_above + rest)
        return self.value + np.minimum(low, 0), self.value + np.maximum(high, 0)

    @property
    def supported(self) -> ErrorLaw:
        """The same if the weighted public rows reached all that was measured."""
        none = np.zeros_like(self.value)
        return replace(
            self,
            misfit=none,
            slopes=none,
            above=none,
            below=none,
            noise_above=self.noise,
            noise_below=self.noise,
        )

    @property
    def formed(self) -> ErrorLaw:
        """The same if the ratio had the form that the weights have."""
        return replace(self, form=np.zeros_like(self.value))


@dataclass(frozen=True)
class Doubt:
    """What is released: the ``measured`` means and the public ``features`` with their ``shares`` (rows,) of one.

    ``error`` (size, size) is the covariance of the weighted means where the coefficients were measured, not the means.
    """

    features: PublicFeatures
    shares: Floats
    measured: NoisyMean
    error: Floats | None

    def law(self, queries: Queries) -> ErrorLaw:
        """The law of the answers; in chunks of rows, twice through the public features."""
        value = self.shares @ queries.functions
        slopes, doubt = self._slopes(queries, value)
        rows, freedoms, form = self._residual(queries.functions - value, slopes)
        high, low = (self._beyond(queries, value, slopes, extreme) for extreme in (queries.high, queries.low))
        high, low = np.maximum(high, 0), np.minimum(low, 0)
        return ErrorLaw(
            value,
            self._misfit @ slopes,
            self._noise(slopes),
            doubt,
            rows,
            freedoms,
            form,
            np.maximum(self.measured.value @ high, 0),
            np.maximum(-(self.measured.value @ low), 0),
            self._noise(slopes + high),
            self._noise(slopes + low),
        )

    @property
    def shows_gaps(self) -> bool:
        """Whether the basis tells where measured records have no public row near them."""
        return isinstance(self.features.basis, Hats)

    def _slopes(self, queries: Queries, value: Floats) -> tuple[Floats, Floats]:
        """c (size, q), and the variance (q,) that not knowing it better gives the misfit.

        A prior as smooth as that of log w, scaled to what the function shows, goes on where rows are few.
        """
        together = np.zeros((self.features.basis.size, queries.functions.shape[1]))
        for rows, features in self._centred():
            together += features.T @ (self.shares[rows, None] * (queries.functions[rows] - value))
        inner = self._root.T @ together
        values, _ = self._solved
        size = (inner**2 / (values + self._ridge)[:, None]).sum(axis=0) / self._dimensions
        seen = self._root.T @ self._misfit
        excess = float(seen @ seen) - self.measured.variance * float((self._root**2).sum())
        doubt = size * self._ridge * max(excess, 0.0)
        known = ~np.isnan(queries.known).all(axis=0)
        slopes = np.where(known, np.nan_to_num(queries.known - value, nan=0.0), self._root @ inner)
        return slopes, np.where(known, 0.0, doubt)

    def _residual(self, centred: Floats, slopes: Floats) -> tuple[Floats, Floats, Floats]:
        """The variance (q,) of the average of r, its degrees of freedom, and the variance of the form."""
        queries = centred.shape[1]
        square, fourth, plain = np.zeros(queries), np.zeros(queries), np.zeros(queries)
        first, second = np.zeros((self._cells, queries)), np.zeros((self._cells, queries))
        for rows, features in self._centred():
            own, shares = centred[rows] - features @ slopes, self.shares[rows]
            # A row pulls the slopes towards itself; its residual without it is larger by 1 / (1 - pull).
            pull = shares * ((features @ self._root) ** 2).sum(axis=1)
            parts = (shares[:, None] * own / (1 - np.minimum(pull, 0.5))[:, None]) ** 2
            square += parts.sum(axis=0)
            fourth += (parts**2).sum(axis=0)
            plain += shares @ own**2
            near = shares[:, None] * self._near(features)
            first += near.T @ own
            second += near.T @ own**2
        mass = np.maximum(self._masses, 1e-300)[:, None]
        around = np.sqrt(np.maximum(second / mass - (first / mass) ** 2, 0))
        form = FORM * (mass * self._log_spread[:, None] * around).sum(axis=0) / self._partitions
        freedoms = np.divide(square**2, fourth, out=np.full(queries, _MANY), where=fourth > 0)
        return square + plain / self.measured.people, np.maximum(freedoms, 1.0), form**2

    def _beyond(self, queries: Queries, value: Floats, slopes: Floats, extreme: Floats) -> Floats:
        """What (size, q) a record at each cell adds, at most, where less than one row says what f is there.

        Records between the last public row and the far knot of a cell show at this knot by their share of the way
        only: half of it if they are spread evenly, less if most are within `TAIL`. A condition may be true for all.
        """
        basis = self.features.basis
        if not isinstance(basis, Hats):
            return np.zeros_like(slopes)
        blocks = np.repeat(np.arange(len(basis.sizes)), basis.sizes)
        centre = np.zeros((len(basis.sizes), slopes.shape[1]))
        np.add.at(centre, blocks, self._weighted[:, None] * slopes)
        reach = extreme - (value + slopes - centre[blocks])
        missing = np.maximum(1 - self._rows_near, 0)[:, None]
        wide = np.where(queries.conditions, np.maximum(basis.gaps / TAIL, _HALF_WAY)[:, None], 1.0)
        return np.asarray(reach * missing * wide * np.isnan(queries.known))

    def _noise(self, slopes: Floats) -> Floats:
        """The variance (q,) of slopes times the noise in the measured means, or in what the weights were made from."""
        if self.error is not None:
            return np.asarray(np.einsum("iq,ij,jq->q", slopes, self.error, slopes))
        basis = self.features.basis
        known = basis.consistent(np.zeros(basis.size))
        free = np.stack([basis.consistent(column) - known for column in slopes.T], axis=1)
        return np.asarray(self.measured.variance * (free**2).sum(axis=0))

    def _centred(self) -> Iterator[tuple[slice, Floats]]:
        """The features less their weighted mean, chunk by chunk."""
        for rows, features in self.features:
            yield rows, features - self._weighted

    def _near(self, centred: Floats) -> Floats:
        """How much each row (rows, cells) belongs to each knot: its hats; for other bases all rows are one cell."""
        return centred + self._weighted if isinstance(self.features.basis, Hats) else np.ones((len(centred), 1))

    @cached_property
    def _weighted(self) -> Floats:
        """g (size,): the means of the features under the weights."""
        return self.features.weighted_mean(self.shares)

    @property
    def _misfit(self) -> Floats:
        """h - g (size,), h with its noise."""
        return self.measured.value - self._weighted

    @property
    def _cells(self) -> int:
        return self.features.basis.size if isinstance(self.features.basis, Hats) else 1

    @property
    def _partitions(self) -> int:
        """How often the cells hold every row."""
        return len(self.features.basis.blocks) if isinstance(self.features.basis, Hats) else 1

    @property
    def _masses(self) -> Floats:
        return self._weighted if isinstance(self.features.basis, Hats) else np.ones(1)

    @cached_property
    def _rows_near(self) -> Floats:
        """How many public rows' worth (size,) there is at each knot."""
        return np.asarray(self.features.moments.mean * len(self.features))

    @cached_property
    def _log_spread(self) -> Floats:
        """The standard deviation (cells,) of log w around each knot, under the weights."""
        logarithm = np.log(np.maximum(self.shares * len(self.shares), _LEAST_RATIO))
        moments = np.zeros((2, self._cells))
        for rows, features in self._centred():
            near = self.shares[rows, None] * self._near(features)
            moments += np.stack([logarithm[rows] @ near, logarithm[rows] ** 2 @ near])
        first, second = moments / np.maximum(self._masses, 1e-300)
        return np.asarray(np.sqrt(np.maximum(second - first**2, 0)))

    @cached_property
    def _factor(self) -> Floats:
        """A square root (size, size) of the smooth prior."""
        prior = self.features.basis.prior(self.features.moments.covariance) / VARIANCE
        scale, axes = np.linalg.eigh(prior)
        return np.asarray(axes * np.sqrt(np.maximum(scale, 0)))

    @cached_property
    def _solved(self) -> tuple[Floats, Floats]:
        """Eigenvalues and eigenvectors of the covariance of the features under the weights, as the prior scales it."""
        second = np.zeros((self.features.basis.size,) * 2)
        for rows, features in self._centred():
            second += (features * self.shares[rows, None]).T @ features
        values, vectors = np.linalg.eigh(self._factor.T @ second @ self._factor)
        return np.maximum(values, 0), vectors

    @property
    def _ridge(self) -> float:
        return _RIDGE * float((self.shares**2).sum())

    @cached_property
    def _root(self) -> Floats:
        """R (size, size): R R' is the inverse of the covariance of the features, with the prior as a ridge."""
        values, vectors = self._solved
        return np.asarray(self._factor @ (vectors / np.sqrt(values + self._ridge)))

    @cached_property
    def _dimensions(self) -> float:
        """How many directions of slopes the rows show, at least one."""
        values, _ = self._solved
        return max(float((values / (values + self._ridge)).sum()), 1.0)
