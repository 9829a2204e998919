"""Horigome 2020, main part: the epsilon of a k-anonymised sample of Adult, by rate and by k.

堀込光, 差分プライバシーのプライバシー費用による一般化 k-匿名化の評価手法の提案, graduation thesis, Meiji University,
2020. Epsilon is that of its proposition as printed, without the absolute value (errata K1). Its trees for education and
income are not printed, so the sizes of epsilon need not agree (errata K4); what should is that epsilon grows with the
rate and falls with k. Recodings that could explain the paper's sizes stand beside it, and so does the utility of a
differentially private table at the epsilon that the sample guarantees: the paper's future work.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sudare.anonymity.anonymized import class_epsilons, excluded
from sudare.anonymity.delta import smallest_epsilon
from sudare.anonymity.lattice import Tuples
from sudare.anonymity.recoders import recode
from sudare.anonymity.recoding import Classes
from sudare.arrays import Floats, Integers
from sudare.language.messages import OnProgress, Progress, Stage, Value, unheard
from sudare.noise import Source
from sudare.noise.response import draw_sample
from sudare.papers.data import adult_tuples, six_leaves
from sudare.papers.k_anonymity_figures import figures
from sudare.papers.k_anonymity_utility import Utility, sampled, utility
from sudare.papers.reproduction import Reproduction, repetitions
from sudare.papers.sheet import Entry, Sheet
from sudare.papers.units import Unit, run_units
from sudare.render.charts import Spec

RUNS, VARIANT_RUNS = (100, 10), 10
"""In full and if quick, and of other recodings at most."""
DELTA = Fraction(1, 10**6)


class Setting(NamedTuple):
    """A row of the paper's table 4.1: rate, k, and the mean and deviation of epsilon in its ten samples."""

    sample: Fraction
    k: int
    mean: float
    deviation: float


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
    """What one sample gave: n_t and d_t of its classes, the cuts as bytes, and whether section 3.2 sets it aside."""

    taken: Integers
    held: Integers
    cuts: bytes = b""
    excluded: bool = False

    def largest(self, sample: Fraction) -> float:
        """The largest epsilon of a class by the proposition as printed; 0 without classes."""
        return float(max(class_epsilons(self.taken, self.held, sample, printed=True), default=0.0))


Variant = Callable[[Tuples, Setting, Source], SampleOutput]


def _on_sample(method: str, limit: float = 0.0, relaxed: bool = False) -> Variant:
    """Recode the sample, as the paper does, by one of our methods."""

    def variant(population: Tuples, setting: Setting, source: Source) -> SampleOutput:
        drawn = sampled(population, setting.sample, source)
        made = recode(drawn, drawn.judge(setting.k), method, limit, relaxed).published(setting.k)
        classes = Classes(made, population)
        cuts = b"" if made.generalisation is None else b"".join(cut.tobytes() for cut in made.generalisation.cuts)
        aside = excluded(population.hierarchies, classes.cells, classes.taken, setting.k)
        return SampleOutput(classes.taken, classes.held, cuts, aside)

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


def _six_leaves(population: Tuples, setting: Setting, source: Source) -> SampleOutput:
    """The paper's algorithm under the trees of figure 2.1 as printed."""
    return _on_sample("greedy")(six_leaves(population), setting, source)


VARIANTS: dict[str, Variant] = {
    "greedy": _on_sample("greedy"),
    "greedy, trees of figure 2.1": _six_leaves,
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
    def floor(self) -> float:
        """-ln(1 - beta)."""
        return -math.log1p(-float(self.setting.sample))

    @property
    def guaranteed(self) -> float | None:
        """The epsilon that holds for a generalisation fixed beforehand at delta = 10**-6, if any does."""
        if self.setting.sample**self.setting.k >= DELTA:
            return None
        return float(smallest_epsilon(k=self.setting.k, sample=self.setting.sample, delta=DELTA))

    def variant(self, name: str) -> tuple[float, float]:
        """Mean of the largest epsilon over the runs where it is finite, and the share of the others."""
        largest = np.array([output.largest(self.setting.sample) for output in self.variants[name]])
        finite = largest[np.isfinite(largest)]
        return float(finite.mean()) if len(finite) else math.nan, float(np.isinf(largest).mean())


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


@dataclass(frozen=True)
class KAnonymityReproduction(Reproduction):
    """On a ``population``: table 4.1 by setting, what age is generalised to by k, and utility."""

    key = "k-anonymity"
    population: Tuples
    outcomes: tuple[SettingOutcome, ...]
    cuts: dict[int, AgeCuts]
    utilities: dict[Setting, tuple[float, dict[str, Utility]]]

    @property
    def said(self) -> dict[str, dict[str, Value]]:
        records, tuples = self.population.total, len(self.population.counts)
        return {
            "data": {"basis": self.basis, "records": records, "tuples": tuples},
            "runs": {"runs": self.runs, "variants": VARIANT_RUNS},
            "epsilon": {},
            "size": {"percent": round(100 * self.nearest[1])},
        }

    @property
    def figures(self) -> dict[str, Spec]:
        return figures(self)

    @property
    def nearest(self) -> tuple[str, float]:
        """The variant whose epsilons are nearest to the paper's in the mean of |ln ratio|, and its typical ratio."""
        ratios = {
            name: np.array([outcome.variant(name)[0] / outcome.setting.mean for outcome in self.outcomes])
            for name in VARIANTS
        }
        name = min(ratios, key=lambda each: float(np.nanmean(np.abs(np.log(np.maximum(ratios[each], 1e-9))))))
        return name, float(np.nanmedian(ratios[name]))

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Table 4.1, its nearest reading and what could explain it, proposition 1, figures 2.2 and 2.3, utility."""
        explained = self._table(), self._nearest(), self._explanations()
        return *explained, self._plain(), self._cuts(), self._utility()

    def _nearest(self) -> Sheet:
        name, _ = self.nearest
        rows = [
            (float(one.setting.sample), one.setting.k, one.setting.mean, found, found / one.setting.mean)
            for one in self.outcomes
            for found in [one.variant(name)[0]]
        ]
        return Sheet("nearest", ("beta", "k", "paper", name, "here/paper"), tuple(rows))

    def _cuts(self) -> Sheet:
        rows = tuple(
            (k, ", ".join(cuts.paper), cuts.as_paper, ", ".join(cuts.here), cuts.as_here)
            for k, cuts in self.cuts.items()
        )
        header = ("k", "paper", "share of samples here", "most often here", "share of samples")
        return Sheet("figures2_2_and_2_3", header, rows)

    def _utility(self) -> Sheet:
        rows = tuple(
            (float(setting.sample), setting.k, epsilon, name, found.one, found.two)
            for setting, (epsilon, by_method) in self.utilities.items()
            for name, found in by_method.items()
        )
        header = ("beta", "k", "epsilon, delta 1e-6", "method", "one attribute", "two attributes")
        return Sheet("utility", header, rows)

    def _table(self) -> Sheet:
        rows: list[tuple[Entry, ...]] = []
        for outcome in self.outcomes:
            setting, largest = outcome.setting, outcome.epsilons
            finite = largest[np.isfinite(largest)]
            _, often = np.unique([output.cuts for output in outcome.outputs], return_counts=True)
            rows.append(
                (
                    float(setting.sample),
                    setting.k,
                    setting.mean,
                    setting.deviation,
                    float(finite.mean()) if len(finite) else math.nan,
                    float(finite.std(ddof=1)) if len(finite) > 1 else math.nan,
                    float(np.maximum(finite, outcome.floor).mean()) if len(finite) else math.nan,
                    int(np.isinf(largest).sum()),
                    float(np.mean([len(output.taken) for output in outcome.outputs])),
                    float(np.mean([output.excluded for output in outcome.outputs])),
                    float(often.max() / len(outcome.outputs)),
                    outcome.guaranteed,
                )
            )
        header = (
            "beta",
            "k",
            "paper: mean",
            "paper: sd",
            "here: mean",
            "here: sd",
            "with the floor",
            "infinite",
            "classes",
            "set aside (3.2)",
            "same recoding",
            "guaranteed, delta 1e-6",
        )
        return Sheet("table4_1", header, tuple(rows))

    def _explanations(self) -> Sheet:
        rows = [
            (
                float(outcome.setting.sample),
                outcome.setting.k,
                outcome.setting.mean,
                *(outcome.variant(name)[0] for name in VARIANTS),
            )
            for outcome in self.outcomes
        ]
        header = ("beta", "k", "paper", *VARIANTS)
        return Sheet("explanations", header, tuple(rows))

    def _plain(self) -> Sheet:
        """Proposition 1: sampling alone."""
        rows = []
        counts = self.population.counts
        for rate in sorted({outcome.setting.sample for outcome in self.outcomes}):
            taken = draw_sample(counts, rate, Source.from_seed(int(rate * 10**6)))
            epsilons = class_epsilons(taken, counts, rate)
            finite = epsilons[np.isfinite(epsilons)]
            infinite = int(np.isinf(epsilons).sum())
            rows.append((float(rate), len(counts), infinite, float(finite.max(initial=0.0)), -math.log1p(-float(rate))))
        header = ("beta", "distinct tuples", "of them wholly drawn (infinite)", "largest finite", "floor")
        return Sheet("proposition_1", header, tuple(rows))


def reproduce(
    folder: Path,
    quick: bool = False,
    progress: OnProgress = unheard,
    *,
    data: tuple[Tuples, Value] | None = None,
    runs: int | None = None,
) -> KAnonymityReproduction:
    """Run the experiment, 100 samples a setting or 10 if ``quick``, and write tables (CSV) and figures (PNG).

    ``data`` are other tuples with what to call them, ``runs`` another number of samples. It evaluates private counts:
    its files are as private as the records.
    """
    runs = repetitions(runs, quick, RUNS)
    progress(Progress(Stage.READING))
    population, basis = data or adult_tuples()
    units = [
        Unit(f"beta {float(setting.sample):g}, k {setting.k}", partial(_outcome, population, runs, number))
        for number, setting in enumerate(SETTINGS)
    ]
    units += [Unit(f"age at k = {k}", partial(age_cuts, population, k, runs)) for k in PRINTED_CUTS]
    guaranteed = {setting: SettingOutcome(setting, (), {}).guaranteed for setting in UTILITY}
    units += [
        Unit(
            f"utility, beta {float(setting.sample):g}",
            partial(utility, population, setting.sample, setting.k, epsilon, few),
        )
        for few in [min(runs, VARIANT_RUNS)]
        for setting, epsilon in guaranteed.items()
        if epsilon is not None
    ]
    settings = {"paper": "k-anonymity", "runs": runs, "basis": basis, "records": population.total}
    found = run_units(folder, units, settings, progress)
    outcomes = tuple(found[unit.name] for unit in units[: len(SETTINGS)])
    cuts = {k: found[f"age at k = {k}"] for k in PRINTED_CUTS}
    utilities = {
        setting: (epsilon, found[f"utility, beta {float(setting.sample):g}"])
        for setting, epsilon in guaranteed.items()
        if epsilon is not None
    }
    return KAnonymityReproduction(basis, runs, population, outcomes, cuts, utilities).written(folder, progress)


def _outcome(population: Tuples, runs: int, number: int) -> SettingOutcome:
    algorithm, *_ = VARIANTS.values()
    setting = SETTINGS[number]

    def source(kind: int, run: int) -> Source:
        return Source.from_seed((number * 100 + kind) * 10**6 + run)

    outputs = tuple(algorithm(population, setting, source(0, run)) for run in range(runs))
    few = range(min(runs, VARIANT_RUNS))
    variants = {
        name: tuple(outputs[run] if kind == 0 else variant(population, setting, source(kind, run)) for run in few)
        for kind, (name, variant) in enumerate(VARIANTS.items())
    }
    return SettingOutcome(setting, outputs, variants)
