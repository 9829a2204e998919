"""Paper 3, main part: the epsilon of a k-anonymised sample of Adult, by rate and by k.

堀込光, 差分プライバシーのプライバシー費用による一般化 k-匿名化の評価手法の提案, graduation thesis, Meiji University,
2020. Its trees for education and income are not printed, so the sizes of epsilon need not agree; what should is that
epsilon grows with the rate and falls with k. Recodings that could explain the paper's sizes stand beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sudare.anonymity.classes import Classes
from sudare.anonymity.delta import smallest_epsilon
from sudare.anonymity.evaluated import class_epsilons, excluded
from sudare.anonymity.recoders import recode
from sudare.anonymity.tuples import Tuples
from sudare.arrays import Floats, Integers
from sudare.errors import ParameterError
from sudare.language.messages import OnProgress, Progress, Stage, unheard
from sudare.noise import Source
from sudare.noise.response import draw_sample
from sudare.papers.data import adult_tuples
from sudare.papers.sheet import Entry, Sheet, make_folder, write_files
from sudare.render.charts import Spec, fill

RUNS, QUICK_RUNS, VARIANT_RUNS = 100, 10, 10
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
        """The largest epsilon of a class, without the floor -ln(1 - beta): what the paper prints."""
        return float(class_epsilons(self.taken, self.held, sample).max(initial=0.0))


Variant = Callable[[Tuples, Setting, Source], SampleOutput]


def _drawn(population: Tuples, sample: Fraction, source: Source) -> Tuples:
    counts = draw_sample(population.counts, sample, source)
    return population.selected(counts > 0, counts[counts > 0])


def _on_sample(method: str, limit: float = 0.0, relaxed: bool = False) -> Variant:
    """Recode the sample, as the paper does, by one of our methods."""

    def variant(population: Tuples, setting: Setting, source: Source) -> SampleOutput:
        drawn = _drawn(population, setting.sample, source)
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


VARIANTS: dict[str, Variant] = {
    "greedy": _on_sample("greedy"),
    "greedy, 5 % suppressed": _on_sample("greedy", 0.05),
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


@dataclass(frozen=True)
class Reproduction:
    """The paper's experiment, done again: ``sheets`` are its table with our numbers, ``files`` what was written."""

    population: Tuples
    basis: str
    runs: int
    outcomes: tuple[SettingOutcome, ...]
    files: tuple[Path, ...] = ()

    @property
    def facts(self) -> dict[str, str]:
        """A short summary for people."""
        tuples = len(self.population.counts)
        return {
            "paper": "堀込 2020: the epsilon of k-anonymised samples (table 4.1, figures 4.1 to 4.3)",
            "data": f"{self.basis}: {self.population.total:,} records, {tuples:,} distinct tuples of "
            + ", ".join(self.population.names),
            "runs": f"{self.runs} samples each for the paper's algorithm, {VARIANT_RUNS} at most for the variants",
            "what epsilon is": "the largest class's |ln(1 - beta) - ln(1 - n/d)|: of one output, no guarantee",
            "size": f'no recoding tried has the paper\'s sizes; the nearest is "{self.nearest[0]}", '
            f"typically at {self.nearest[1]:.0%} of them",
        }

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
        """The paper's table, what could explain it, and plain sampling."""
        return self._table(), self._explanations(), self._plain()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "paper": "k-anonymity",
            "basis": self.basis,
            "runs": self.runs,
            "sheets": [sheet.to_json() for sheet in self.sheets],
            "files": [str(path) for path in self.files],
        }

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
        return Sheet("table4_1", "Table 4.1: epsilon of the paper's algorithm", header, tuple(rows))

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
        title = "What could explain the paper's size: mean of the largest finite epsilon under other recodings"
        return Sheet("explanations", title, header, tuple(rows))

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
        return Sheet(
            "proposition_1", "Proposition 1: plain sampling, without k-anonymity (one sample)", header, tuple(rows)
        )


def reproduce(
    folder: Path,
    quick: bool = False,
    progress: OnProgress = unheard,
    *,
    data: tuple[Tuples, str] | None = None,
    runs: int | None = None,
) -> Reproduction:
    """Run the experiment, 100 samples a setting or 10 if ``quick``, and write tables (CSV) and figures (PNG).

    ``data`` are other tuples with what to call them, ``runs`` another number of samples. It evaluates private counts:
    its files are as private as the records.
    """
    repetitions = runs if runs is not None else QUICK_RUNS if quick else RUNS
    if repetitions < 1:
        raise ParameterError("runs is not a whole number from 1 on", value=repetitions)
    make_folder(folder)
    progress(Progress(Stage.READING))
    population, basis = data or adult_tuples()
    outcomes = tuple(_outcomes(population, repetitions, progress))
    made = Reproduction(population, basis, repetitions, outcomes)
    return replace(made, files=write_files(folder, made.sheets, figures(made), progress))


def _outcomes(population: Tuples, runs: int, progress: OnProgress) -> Iterator[SettingOutcome]:
    algorithm, *_ = VARIANTS.values()
    for number, setting in enumerate(SETTINGS):
        progress(
            Progress(Stage.EXPERIMENT, number + 1, len(SETTINGS), f"beta {float(setting.sample):g}, k {setting.k}")
        )

        def source(kind: int, run: int, number: int = number) -> Source:
            return Source.from_seed((number * 100 + kind) * 10**6 + run)

        outputs = tuple(algorithm(population, setting, source(0, run)) for run in range(runs))
        few = range(min(runs, VARIANT_RUNS))
        variants = {
            name: tuple(outputs[run] if kind == 0 else variant(population, setting, source(kind, run)) for run in few)
            for kind, (name, variant) in enumerate(VARIANTS.items())
        }
        yield SettingOutcome(setting, outputs, variants)


def figures(made: Reproduction) -> dict[str, Spec]:
    """The paper's figures: 4.1 the distribution of record counts, 4.2 and 4.3 epsilon by rate and by k."""
    by_rate = [outcome for outcome in made.outcomes if outcome.setting.k == 10]
    by_k = [outcome for outcome in made.outcomes if outcome.setting.sample == Fraction(1, 5)]
    return {
        "record_counts": _record_counts(made.population, made.basis),
        "epsilon_by_rate": _curves(by_rate, lambda setting: float(setting.sample), "sampling rate beta", "k = 10"),
        "epsilon_by_k": _curves(by_k, lambda setting: float(setting.k), "k", "beta = 0.2"),
    }


def _record_counts(population: Tuples, basis: str) -> Spec:
    """How many distinct tuples have so many records, in doubling steps."""
    step = np.floor(np.log2(population.counts)).astype(int)
    often = np.bincount(step)
    labels = ["1", *(f"{2**each}-{2 ** (each + 1) - 1}" for each in range(1, len(often)))]
    return fill(
        "record_counts",
        steps=[{"label": label, "value": int(value)} for label, value in zip(labels, often, strict=True)],
        title="Records per distinct tuple",
        subtitle=f"{basis}: {population.total:,} records, {len(population.counts):,} tuples",
        label_title="records with the same values",
        value_title="distinct tuples",
        width=760,
        height=300,
    )


def _curves(outcomes: list[SettingOutcome], where: Callable[[Setting], float], title: str, fixed: str) -> Spec:
    points: list[dict[str, Any]] = []

    def add(series: str, outcome: SettingOutcome, mean: float, spread: float = 0.0) -> None:
        if math.isfinite(mean):
            low, high = max(mean - spread, 0.0), mean + spread
            points.append({"series": series, "x": where(outcome.setting), "y": mean, "low": low, "high": high})

    for outcome in sorted(outcomes, key=lambda outcome: where(outcome.setting)):
        finite = outcome.epsilons[np.isfinite(outcome.epsilons)]
        spread = float(finite.std()) if len(finite) else 0.0
        add("paper", outcome, outcome.setting.mean, outcome.setting.deviation)
        add("here: the paper's algorithm", outcome, float(finite.mean()) if len(finite) else math.nan, spread)
        for name in ("passes", "passes on all records, then the sample"):
            add(f"here: {name}", outcome, outcome.variant(name)[0])
        add("floor -ln(1 - beta)", outcome, outcome.floor)
    return fill(
        "epsilon_curves",
        points=points,
        title=f"Evaluated epsilon by {title}",
        subtitle=f"{fixed}; largest class, mean and standard deviation over samples",
        x_title=title,
        y_title="epsilon",
        x_ticks=sorted({point["x"] for point in points}),
        width=520,
        height=340,
    )
