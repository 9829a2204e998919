"""Gaussian mixtures fitted to perturbed values: the proposal of Hasegawa et al., with an exact EM in place of
their gradient steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.privacy import whole
from sudare.reconstruct.axes import checked_edges
from sudare.reconstruct.diagonal import PRIOR, Components, fit_rotated, moments
from sudare.reconstruct.fitting import (
    FitCandidate,
    MixtureFit,
    Starts,
    best,
    fit_exact,
    fit_gradient,
    judged,
    random_start,
)
from sudare.reconstruct.gaussians import Gaussians
from sudare.reconstruct.histogram import Answering, checked_probabilities
from sudare.reconstruct.noises import laplace_columns
from sudare.reconstruct.sample import Sample, checked_values, sample_of
from sudare.reconstruct.scale_mixture import fit_full, log_densities

Count: TypeAlias = int | Literal["auto"]
Covariance: TypeAlias = Literal["full", "diagonal", "pca"]

_FOLD_STEPS = 60
_PATIENCE = 3


@dataclass
class Mixture(Answering):
    """A Gaussian mixture of true values, from values with Laplace noise.

    ``components``: a number, or "auto": the number, up to ``most``, under which held-out records are likeliest.
    ``covariance`` of several attributes: "full", "diagonal" (equation 19, errata M3 and M4), or "pca",
    its rotation. ``method``: "exact" EM; "gradient", algorithm 1 of Hasegawa et al. as printed: random starts, steps of
    ``rate`` times the sum of all gradients (so that a rate of 0.5 / records is a step along their mean: errata M7), and
    an end where a step changes the log likelihood by less than 0.001.
    ``prior`` holds back components that are too narrow for the data to tell (see `diagonal`); 0 is maximum likelihood.
    ``steps`` is the most that a fit takes, ``gain`` the log likelihood of all records below which 60 of them are not
    worth it.

    After `fit`: ``weights_`` (k,), ``means_`` and ``covariances_`` ((k,) and (k,) for a single attribute; (k, d) and
    (k, d, d) for several), ``components_``, ``converged_``, ``steps_``, ``log_likelihood_``, and for a chosen number
    ``candidates_``, what each number is worth.

    >>> rng = np.random.default_rng(1)
    >>> true = np.where(rng.random(5_000) < 0.3, rng.normal(-4, 1, 5_000), rng.normal(3, 1, 5_000))
    >>> found = Mixture(components=2).fit(true + rng.laplace(0, 1.5, 5_000), scale=1.5)
    >>> found.weights_.round(1).tolist(), found.means_.round().tolist()
    ([0.3, 0.7], [-4.0, 3.0])
    """

    components: Count = "auto"
    covariance: Covariance = "full"
    method: Literal["exact", "gradient"] = "exact"
    rate: float = 0.001
    prior: float = PRIOR
    most: int = 8
    steps: int = 600
    gain: float = 0.1
    sweeps: int = 200
    seed: int = 0
    _fitted: _Fitted | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.components, str):
            _one_of("components", self.components, ("auto",))
        else:
            self.components = whole(self.components, "components")
        _one_of("covariance", self.covariance, ("full", "diagonal", "pca"))
        _one_of("method", self.method, ("exact", "gradient"))
        for name in ("most", "steps", "sweeps"):
            whole(getattr(self, name), name)
        for name in ("rate", "gain"):
            if not 0 < getattr(self, name) < np.inf:
                raise ParameterError("{name} is not positive", value=getattr(self, name), name=name)
        if not 0 <= self.prior < np.inf:
            raise ParameterError("prior is not a weight", value=self.prior, allowed="0 or a positive number")

    def fit(self, values: ArrayLike, scale: Any, bounds: Any = None) -> Mixture:
        """Fit to perturbed ``values`` (n,) or (n, d); ``scale`` of the noise, one for all or one for each attribute.

        A noise of `perturb` may stand for a scale. ``bounds`` of the true values, one pair or one for each attribute,
        are taken from such noises where they are not given; what the mixture puts beyond them counts to the nearest
        value within.
        """
        table = checked_values(values)
        scales, known = laplace_columns(scale, table.shape[1], bounds)
        sample = sample_of(table, scales)
        if isinstance(self.components, int) and self.components > len(table):
            raise ParameterError(
                "fewer records than components", value=self.components, allowed="at most {count}", count=len(table)
            )
        starts = Starts(sample, self.seed)
        if isinstance(self.components, int):
            candidates: dict[int, FitCandidate] = {}
            chosen = self._fit_one(sample, self._start(sample, starts, self.components), self.steps)
        else:
            candidates = self._candidates(sample, starts, min(self.most, len(table)))
            chosen = self._fit_one(sample, candidates[best(candidates)].fit.components, self.steps)
        whole = self._whole(sample, chosen.components)
        single = np.ndim(values) == 1
        self._fitted = _Fitted(sample, chosen, whole.sorted(), candidates, single, known)
        return self

    def _start(self, sample: Sample, starts: Starts, count: int) -> Components:
        """Hasegawa et al. start at random, exact EM where the likelihood of many narrow components is highest."""
        if self.method == "exact":
            return starts.of(count)
        return random_start(sample, count, np.random.default_rng([self.seed, count]))

    def _fit_one(self, sample: Sample, start: Components, steps: int) -> MixtureFit:
        if self.method == "gradient":
            return fit_gradient(sample, start, steps=steps, rate=self.rate)
        return fit_exact(sample, start, steps=steps, gain=self.gain, prior=self.prior)

    def _candidates(self, sample: Sample, starts: Starts, most: int) -> dict[int, FitCandidate]:
        """Numbers of components from 1 on, until the last few were worth less than the best."""

        def refit(part: Sample, start: Components) -> MixtureFit:
            return self._fit_one(part, start, min(_FOLD_STEPS, self.steps))

        found: dict[int, FitCandidate] = {}
        for count in range(1, most + 1):
            fit = self._fit_one(sample, self._start(sample, starts, count), max(self.steps // 2, 1))
            found |= {count: judged(sample, fit, refit)}
            if count - best(found) >= _PATIENCE:
                break
        return found

    def _whole(self, sample: Sample, diagonal: Components) -> Gaussians:
        """The covariances asked for, from a fit with independent attributes."""
        if sample.attributes > 1 and self.covariance == "pca":
            return fit_rotated(sample, diagonal, prior=self.prior)
        whole = Gaussians.diagonal(diagonal.weights, diagonal.means, diagonal.variances)
        if sample.attributes > 1 and self.covariance == "full":
            generator = np.random.default_rng(self.seed)
            return fit_full(sample, whole, sweeps=self.sweeps, generator=generator, prior=self.prior)
        return whole

    @property
    def _known(self) -> _Fitted:
        if self._fitted is None:
            raise ParameterError("this mixture is not fitted yet", hint="Call fit(values, scale) first.")
        return self._fitted

    @property
    def weights_(self) -> Floats:
        return self._known.mixture.weights

    @property
    def means_(self) -> Floats:
        """(k,) or (k, d)."""
        return self._known.mixture.means[:, 0] if self._known.single else self._known.mixture.means

    @property
    def covariances_(self) -> Floats:
        """(k,) or (k, d, d)."""
        return self._known.mixture.covariances[:, 0, 0] if self._known.single else self._known.mixture.covariances

    @property
    def components_(self) -> int:
        return len(self._known.mixture.weights)

    @property
    def converged_(self) -> bool:
        """Whether the last steps gained nothing."""
        return self._known.fit.converged

    @property
    def steps_(self) -> int:
        """Plain steps of EM that were made."""
        return self._known.fit.steps

    @property
    def log_likelihood_(self) -> float:
        """Of all records; before covariances were made whole."""
        return self._known.fit.log_likelihood

    @property
    def candidates_(self) -> dict[int, float]:
        """What each number of components was worth; empty where it was given."""
        return {count: candidate.worth for count, candidate in self._known.candidates.items()}

    def score(self, values: ArrayLike) -> float:
        """The mean log density of perturbed values."""
        joint = self._joint(values)
        top = joint.max(axis=1)
        return float(np.mean(top + np.log(np.exp(joint - top[:, None]).sum(axis=1))))

    def predict_proba(self, values: ArrayLike) -> Floats:
        """(n, k): how likely each component is, given a perturbed value."""
        joint = self._joint(values)
        shares = np.exp(joint - joint.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, values: ArrayLike) -> NDArray[np.int64]:
        """(n,): the likeliest component of each perturbed value: clustering."""
        return np.asarray(self._joint(values).argmax(axis=1), dtype=np.int64)

    def _joint(self, values: ArrayLike) -> Floats:
        known = self._known
        table, mixture, scales = checked_values(values), known.mixture, known.sample.scales
        if table.shape[1] != mixture.attributes:
            raise ParameterError("values have other attributes", value=table.shape[1], allowed=[mixture.attributes])
        if mixture.attributes > 1 and self.covariance != "diagonal":
            return np.asarray(log_densities(table, mixture, scales) + np.log(mixture.weights))
        joint = np.broadcast_to(np.log(mixture.weights), (len(table), len(mixture.weights))).copy()
        for j, scale in enumerate(scales):
            variances = mixture.covariances[:, j, j]
            joint += moments(table[:, j, None], mixture.means[:, j], variances, scale).log_density
        return joint

    def density(self, points: ArrayLike) -> Floats:
        """The density of true values at ``points`` (n,) or (n, d); mass beyond the bounds is not moved for it."""
        return self._known.mixture.density(checked_values(points))

    def histogram(self, edges: Any) -> Floats:
        """Probabilities of the bins between ``edges``, or of the boxes of a cross table for a list of edges.

        What lies beyond the outer edges counts to the outer bins.
        """
        return self._known.mixture.boxes(self._edges(edges))

    cross_table = histogram  # its name where there are several attributes

    def _edges(self, edges: Any) -> list[Floats]:
        attributes = self._known.mixture.attributes
        listed = [edges] if self._known.single else list(edges)
        if len(listed) != attributes:
            raise ParameterError("edges do not fit the attributes", value=len(listed), allowed=[attributes])
        return [checked_edges(each) for each in listed]

    def quantiles(self, probabilities: ArrayLike, attribute: int = 0) -> Floats:
        """Values of an attribute below which so much lies."""
        found = self._known.mixture.marginal([attribute]).quantiles(checked_probabilities(probabilities))
        bounds = self._known.bounds
        return found if bounds is None else np.clip(found, *bounds[attribute])

    def sample(self, size: int, *, seed: int | None = None) -> Floats:
        """Synthetic records (size,) or (size, d), within the bounds where they are known; they cost nothing more."""
        drawn_values = self._known.mixture.sample(size, np.random.default_rng(seed))
        if self._known.bounds is not None:
            drawn_values = np.clip(drawn_values, *np.array(self._known.bounds).T)
        return drawn_values[:, 0] if self._known.single else drawn_values

    def again(self, generator: np.random.Generator) -> Mixture:
        """The same number of components fitted to records drawn again from the ones there are."""
        known = self._known
        counts = known.sample.counts
        redrawn = generator.multinomial(int(counts.sum()), counts / counts.sum()).astype(np.float64)
        part = known.sample.weighted(redrawn)
        fit = self._fit_one(part, known.fit.components, self.steps)
        other = replace(self, components=fit.components.count)
        other._fitted = _Fitted(part, fit, self._whole(part, fit.components).sorted(), {}, known.single, known.bounds)
        return other


@dataclass(frozen=True)
class _Fitted:
    sample: Sample
    fit: MixtureFit
    mixture: Gaussians
    candidates: Mapping[int, FitCandidate]
    single: bool
    bounds: tuple[tuple[float, float], ...] | None


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ParameterError("no such {name}", value=value, allowed=allowed, name=name)
