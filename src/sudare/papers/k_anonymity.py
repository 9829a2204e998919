"""Horigome 2020, main part: the epsilon of a k-anonymised sample of Adult, by rate and by k.

堀込光, 差分プライバシーのプライバシー費用による一般化 k-匿名化の評価手法の提案, graduation thesis, Meiji University,
2020. Epsilon is that of its proposition as printed, without the absolute value (errata K1). Its trees for education and
income are not printed, so the sizes of epsilon need not agree (errata K4); what should is that epsilon grows with the
rate and falls with k. Recodings that could explain the paper's sizes stand beside it, and so does the utility of a
differentially private table at the epsilon that the sample guarantees: the paper's future work.

Its section 3.2: the probability of an output counts the samples with these class sizes. But where all classes with some
node are large enough to be divided among its children, a sample with the same sizes may allow further specialisation,
and then the algorithm does not end with this output. The thesis excludes such outputs in its proof and ignores them in
its experiment; `excluded` finds them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from sudare.anonymity import Hierarchy
from sudare.anonymity.anonymized import class_epsilons
from sudare.anonymity.delta import smallest_epsilon
from sudare.anonymity.lattice import Tuples
from sudare.anonymity.recoders import recode
from sudare.anonymity.recoding import Classes
from sudare.arrays import Floats, Integers
from sudare.language.messages import Value
from sudare.noise import Source
from sudare.noise.response import draw_sample
from sudare.papers.data import adult_tuples, six_leaves
from sudare.papers.k_anonymity_figures import figures
from sudare.papers.k_anonymity_utility import Utility, sampled, utility
from sudare.papers.reproduction import Reproduction, Units
from sudare.papers.sheet import Entry, Sheet
from sudare.render.charts import Spec

VARIANT_RUNS = 10
"""Of other recodings at most."""
DELTA = Fraction(1, 10**6)


class Setting(NamedTuple):
    """A row of the paper's table 4.1: rate, k, and the mean and deviation of epsilon in its ten samples."""

    sample: Fraction
    k: int
    mean: float
    deviation: float

    @property
    def name(self) -> str:
        return f"beta {float(self.sample):g}, k {self.k}"

    @property
    def floor(self) -> float:
        """-ln(1 - beta)."""
        return -math.log1p(-float(self.sample))

    @property
    def guaranteed(self) -> float | None:
        """The epsilon that holds for a generalisation fixed beforehand at delta = 10**-6, if any does."""
        if self.sample**self.k >= DELTA:
            return None
        return float(smallest_epsilon(k=self.k, sample=self.sample, delta=DELTA))


SETTINGS = (
    Setting(Fraction(10, 100), 10, 0.7571, 0.0134),
    Setting(Fraction(15, 100), 10, 0.8618, 0.0203),
    Setting(Fraction(20, 100), 10, 1.0252, 0.0331),
    Setting(Fraction(25, 100), 10, 1.1838, 0.0321),
    Setting(Fraction(30, 100), 10, 1.4256, 0.0362),
    Setting(Fraction(35, 100), 10, 1.9488, 0.0612),
    Setting(Fraction(20, 100), 3, 1.5973, 0.0296),
    Setting(Fraction(20, 100), 5, 1.0652, 0.0262),
    Setting(Fraction(20, 100), 15, 0.4128, 0.0191),
)


class SampleOutput(NamedTuple):
    """What one sample gave: n_t and d_t of its classes, and whether section 3.2 sets it aside."""

    taken: Integers
    held: Integers
    excluded: bool = False

    def largest(self, sample: Fraction) -> float:
        """The largest epsilon of a class by the proposition as printed; 0 without classes."""
        return float(max(class_epsilons(self.taken, self.held, sample, printed=True), default=0.0))


def excluded(hierarchies: Sequence[Hierarchy], cells: Integers, sizes: Integers, k: int) -> bool:
    """Whether an output (``cells``: classes x attributes, ``sizes``: their records) is one that section 3.2 sets aside.

    That is when, for some node with c children, every class with that node has at least c k records.

    >>> work = Hierarchy.from_nested({"Government": ["State", "Local"], "Private": None})
    >>> government, private = np.array([[1], [4]])
    >>> cells = np.stack([government, private])
    >>> excluded([work], cells, np.array([19, 50]), k=10), excluded([work], cells, np.array([20, 50]), k=10)
    (False, True)
    """
    for place, tree in enumerate(hierarchies):
        for node in np.unique(cells[:, place]):
            children = len(tree.children(int(node)))
            if children and sizes[cells[:, place] == node].min() >= children * k:
                return True
    return False


Variant = Callable[[Tuples, Setting, Source], SampleOutput]


def _on_sample(method: str, limit: float = 0.0, relaxed: bool = False) -> Variant:
    """Recode the sample, as the paper does, by one of our methods."""

    def variant(population: Tuples, setting: Setting, source: Source) -> SampleOutput:
        drawn = sampled(population, setting.sample, source)
        made = recode(drawn, drawn.judge(setting.k), method, limit, relaxed).published(setting.k)
        classes = Classes(made, population)
        aside = excluded(population.hierarchies, classes.cells, classes.taken, setting.k)
        return SampleOutput(classes.taken, classes.held, aside)

    return variant


def _suppressed(population: Tuples, setting: Setting, source: Source) -> SampleOutput:
    """No generalisation: the raw tuples that occur k times in the sample."""
    taken = draw_sample(population.counts, setting.sample, source)
    kept = taken >= setting.k
    return SampleOutput(taken[kept], population.counts[kept])


def _sampled_last(population: Tuples, setting: Setting, source: Source) -> SampleOutput:
    """All records recoded by passes first, then a sample of the classes: k holds for d_t and not for n_t."""
    made = recode(population, population.judge(setting.k), "passes")
    return SampleOutput(draw_sample(made.sizes, setting.sample, source), made.sizes)


VARIANTS: dict[str, Variant] = {
    "greedy": _on_sample("greedy"),
    # Under the trees of figure 2.1 as printed.
    "greedy, trees of figure 2.1": lambda all_, setting, source: _on_sample("greedy")(
        six_leaves(all_), setting, source
    ),
    "greedy, a twentieth suppressed": _on_sample("greedy", 0.05),
    "suppression alone": _suppressed,
    "passes": _on_sample("passes"),
    "Mondrian": _on_sample("mondrian"),
    "Mondrian, relaxed": _on_sample("mondrian", relaxed=True),
    "passes on all records, then the sample": _sampled_last,
}


@dataclass(frozen=True)
class SettingOutcome:
    """The outputs of the paper's algorithm in one setting, and those of the other variants."""

    setting: Setting
    outputs: tuple[SampleOutput, ...]
    variants: dict[str, tuple[SampleOutput, ...]]

    @cached_property
    def epsilons(self) -> Floats:
        """The largest epsilon of a class, by run."""
        return np.array([output.largest(self.setting.sample) for output in self.outputs])

    @property
    def finite(self) -> Floats:
        """Those of the runs where it is finite; NaN where there is none."""
        kept = self.epsilons[np.isfinite(self.epsilons)]
        return kept if len(kept) else np.array([np.nan])

    def variant(self, name: str) -> float:
        """Mean of the largest epsilon over the runs where it is finite."""
        largest = np.array([output.largest(self.setting.sample) for output in self.variants[name]])
        finite = largest[np.isfinite(largest)]
        return float(finite.mean()) if len(finite) else math.nan


PRINTED_CUTS = {5: ("10s-20s", "30s", "40s", "50s", "60s"), 10: ("10s-20s", "30s", "40s", "50s-60s")}
"""Figures 2.2 and 2.3: what age is generalised to, by k; the text names the last two at k = 10."""
CUT_RATE = Fraction(1, 5)
UTILITY = tuple(setting for setting in SETTINGS if setting.k == 10 and setting.sample <= CUT_RATE)


class AgeCuts(NamedTuple):
    """The values that age is generalised to: as printed, in most of our samples, and the shares of samples with each.

    The paper shows one sample. Which of several ends the algorithm reaches depends on the sample, and on the trees of
    education and income, which are not printed.
    """

    paper: tuple[str, ...]
    here: tuple[str, ...]
    as_paper: float
    as_here: float


def age_cuts(population: Tuples, k: int, runs: int) -> AgeCuts:
    """What the paper's algorithm makes of age in samples at beta = 0.2, under the trees of figure 2.1."""
    fitting = six_leaves(population)
    place = fitting.names.index("age")
    found: Counter[tuple[str, ...]] = Counter()
    for run in range(runs):
        drawn = sampled(fitting, CUT_RATE, Source.from_seed(1000 * k + run))
        made = recode(drawn, drawn.judge(k), "greedy")
        assert made.generalisation is not None  # noqa: S101 - greedy recoding is global
        nodes = dict.fromkeys(made.generalisation.cuts[place].tolist())
        found[tuple(str(fitting.hierarchies[place].label(node)) for node in nodes)] += 1
    [(here, often)] = found.most_common(1)
    return AgeCuts(PRINTED_CUTS[k], here, found[PRINTED_CUTS[k]] / runs, often / runs)


@dataclass(frozen=True, kw_only=True)
class KAnonymityReproduction(Reproduction):
    """On the tuples of ``data``: table 4.1 by setting, what age is generalised to by k, and utility."""

    key = "k-anonymity"
    usual = 100, 10

    def read(self) -> tuple[Tuples, Value]:
        return adult_tuples()

    @property
    def population(self) -> Tuples:
        assert self.data is not None  # noqa: S101 - `reproduce` reads it
        found: Tuples = self.data[0]
        return found

    def units(self) -> Units:
        few = min(self.runs, VARIANT_RUNS)
        return (
            {setting.name: partial(_outcome, self.population, self.runs, setting) for setting in SETTINGS}
            | {f"age at k = {k}": partial(age_cuts, self.population, k, self.runs) for k in PRINTED_CUTS}
            | {
                f"utility, {one.name}": partial(utility, self.population, one.sample, one.k, one.guaranteed, few)
                for one in UTILITY
                if one.guaranteed is not None
            }
        )

    @property
    def outcomes(self) -> tuple[SettingOutcome, ...]:
        return tuple(self.found[setting.name] for setting in SETTINGS)

    @property
    def cuts(self) -> dict[int, AgeCuts]:
        return {k: self.found[f"age at k = {k}"] for k in PRINTED_CUTS}

    @property
    def said(self) -> dict[str, dict[str, Value]]:
        records, tuples = self.population.total, len(self.population.counts)
        return {
            "data": {"basis": self.basis, "records": records, "tuples": tuples},
            "runs": {"runs": self.runs, "variants": VARIANT_RUNS},
            "epsilon": {},
            "size": {"percent": round(100 * self.nearest[1])},
        }

    @cached_property
    def figures(self) -> dict[str, Spec]:
        return figures(self)

    @property
    def nearest(self) -> tuple[str, float]:
        """The variant whose epsilons are nearest to the paper's in the mean of |ln ratio|, and its typical ratio."""
        ratios = {
            name: np.array([outcome.variant(name) / outcome.setting.mean for outcome in self.outcomes])
            for name in VARIANTS
        }
        name = min(ratios, key=lambda each: float(np.nanmean(np.abs(np.log(np.maximum(ratios[each], 1e-9))))))
        return name, float(np.nanmedian(ratios[name]))

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Table 4.1, its nearest reading and what could explain it, proposition 1, figures 2.2 and 2.3, utility."""
        name, _ = self.nearest
        nearest = [
            (float(one.setting.sample), one.setting.k, one.setting.mean, found, found / one.setting.mean)
            for one in self.outcomes
            for found in [one.variant(name)]
        ]
        explained = [
            (float(one.setting.sample), one.setting.k, one.setting.mean, *map(one.variant, VARIANTS))
            for one in self.outcomes
        ]
        cuts = [
            (k, ", ".join(one.paper), one.as_paper, ", ".join(one.here), one.as_here) for k, one in self.cuts.items()
        ]
        by_method: dict[Setting, dict[str, Utility]]
        by_method = {one: self.found.get(f"utility, {one.name}", {}) for one in UTILITY}
        useful = [
            (float(setting.sample), setting.k, setting.guaranteed, method, found.one, found.two)
            for setting, methods in by_method.items()
            for method, found in methods.items()
        ]
        header = ("k", "paper", "share of samples here", "most often here", "share of samples")
        utility_header = ("beta", "k", "epsilon, delta 1e-6", "method", "one attribute", "two attributes")
        return (
            self._table(),
            Sheet("nearest", ("beta", "k", "paper", name, "here/paper"), tuple(nearest)),
            Sheet("explanations", ("beta", "k", "paper", *VARIANTS), tuple(explained)),
            self._plain(),
            Sheet("figures2_2_and_2_3", header, tuple(cuts)),
            Sheet("utility", utility_header, tuple(useful)),
        )

    def _table(self) -> Sheet:
        rows: list[tuple[Entry, ...]] = []
        for outcome in self.outcomes:
            setting, finite = outcome.setting, outcome.finite
            rows.append(
                (
                    float(setting.sample),
                    setting.k,
                    setting.mean,
                    setting.deviation,
                    float(finite.mean()),
                    float(finite.std(ddof=1)) if len(finite) > 1 else math.nan,
                    float(np.maximum(finite, setting.floor).mean()),
                    int(np.isinf(outcome.epsilons).sum()),
                    float(np.mean([len(output.taken) for output in outcome.outputs])),
                    float(np.mean([output.excluded for output in outcome.outputs])),
                    setting.guaranteed,
                )
            )
        paper, here = ("paper: mean", "paper: sd"), ("here: mean", "here: sd", "with the floor", "infinite", "classes")
        return Sheet("table4_1", ("beta", "k", *paper, *here, "set aside (3.2)", "guaranteed, delta 1e-6"), tuple(rows))

    def _plain(self) -> Sheet:
        """Proposition 1: sampling alone."""
        rows = []
        counts = self.population.counts
        for rate, floor in sorted({setting.sample: setting.floor for setting in SETTINGS}.items()):
            taken = draw_sample(counts, rate, Source.from_seed(int(rate * 10**6)))
            epsilons = class_epsilons(taken, counts, rate)
            finite = epsilons[np.isfinite(epsilons)]
            rows.append(
                (float(rate), len(counts), int(np.isinf(epsilons).sum()), float(finite.max(initial=0.0)), floor)
            )
        header = ("beta", "distinct tuples", "of them wholly drawn (infinite)", "largest finite", "floor")
        return Sheet("proposition_1", header, tuple(rows))


reproduce = KAnonymityReproduction.reproduce


def _outcome(population: Tuples, runs: int, setting: Setting) -> SettingOutcome:
    algorithm, *_ = VARIANTS.values()
    number = SETTINGS.index(setting)

    def source(kind: int, run: int) -> Source:
        return Source.from_seed((number * 100 + kind) * 10**6 + run)

    outputs = tuple(algorithm(population, setting, source(0, run)) for run in range(runs))
    few = range(min(runs, VARIANT_RUNS))
    variants = {
        name: tuple(outputs[run] if kind == 0 else variant(population, setting, source(kind, run)) for run in few)
        for kind, (name, variant) in enumerate(VARIANTS.items())
    }
    return SettingOutcome(setting, outputs, variants)
