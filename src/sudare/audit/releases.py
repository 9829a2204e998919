"""Every kind of release and every method, run from a recipe as `publish` runs it, without ledger and certificate.

The files, the summary, the certified facts and the headline are compared. (`publications` compares the whole of what
`publish` writes, with certificate and pages, on fewer neighbours.)

Reading is far slower than protecting, so recipes that read alike share what was read: the secret by which the rows of
a person are chosen is recorded with the first data set and replayed for its neighbours, as in one run.

`collection_findings` does the same for local collections: reports of devices are recorded and replayed, through the
files and the estimate of a collector. Every device randomises its own value at the seam, so another value of one person
may change that person's report alone, and with the reports frozen nothing: neither the file of reports, nor the sums
that a collector keeps, nor its estimate. With a permanent encoding, reports are drawn only from what the device
remembers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sudare.anonymity.kind import SampleKind
from sudare.audit.cases import PRIVATE, RecipeCase, cases
from sudare.audit.finding import Finding, Wanted, every
from sudare.audit.laws import encoding_of
from sudare.audit.neighbours import STRANGERS, World, write_public, write_rows
from sudare.audit.replaying import Neighbour, Published, Replayed, Run, first_difference, replay, replay_finding
from sudare.errors import Message
from sudare.local import ENCODINGS, Encoding, PermanentUnary, Reports, Tally, estimate
from sudare.local.files import write_json_lines, write_parquet
from sudare.noise import Source, Tape, record
from sudare.privacy import Budget, Guarantee
from sudare.recipe.kind import Kind
from sudare.reconstruct.kind import PerturbationKind
from sudare.reweight.kind import WeightsKind
from sudare.tables.kind import TableKind
from sudare.workflow.job import Job


@dataclass
class NeighbourData:
    """A data set and its neighbours by name, as the recipes of one kind and reading find them; each is read once."""

    folder: Path
    rows: World
    tape: Tape | None = None
    found: dict[str, Any] = field(default_factory=dict)

    def gather(self, job: Kind[Any, Any], name: str) -> Any:
        """What `Kind.gather` gives for the data set of this name, with the same secrets for all."""
        if name not in self.found:
            write_rows(self.rows[name], self.folder / PRIVATE)
            with record(replay=self.tape) as tape:
                self.found[name] = job.gather(Source.system())
            self.tape = self.tape or tape
        return self.found[name]


def files_of(written: Mapping[str, Path | Sequence[Path]]) -> list[Path]:
    """The files that `Kind.write` names, in its order; a format may have several parts."""
    return [path for paths in written.values() for path in ([paths] if isinstance(paths, Path) else paths)]


def published(job: Kind[Any, Any], made: Any, folder: Path) -> Published:
    """Everything that is published, but for pages and certificates, which `publications` compares."""
    found = {path.name: path.read_bytes() for path in files_of(job.write(made, folder))}
    said = {"summary": made.summary, "certified": job.certified(made), "headline": [*job.headline(made).items()]}
    return found | {what: json.dumps(facts, default=str).encode() for what, facts in said.items()}


def promised(job: Kind[Any, Any]) -> Budget | None:
    """What the measurements of a release may cost together; None where its guarantee is not a sum of their costs."""
    if isinstance(job, TableKind):
        return _stated(job.guarantee, job.budget)
    if isinstance(job, PerturbationKind):
        return _stated(job.guarantee, Budget(epsilon=job.row_epsilon))
    if isinstance(job, WeightsKind):
        # Noisy centres are of a sample of the records, which costs less than their noise alone.
        return None if job.request.asked.private_centres else _stated(job.guarantee, job.request.budget)
    if isinstance(job, SampleKind) and job.request.terms.choose_epsilon is not None:
        return Budget(epsilon=job.request.terms.choose_epsilon)
    return None


def _stated(guarantee: Guarantee, budget: Budget) -> Budget:
    """What the guarantee says, in the currency of the noise; where it says nothing in it, the budget of the noise."""
    stated = {"epsilon": guarantee.epsilon, "rho": guarantee.rho}[budget.currency]
    return budget if stated is None else Budget(**{budget.currency: stated})


def one_class_apart(k: int, first: Published, second: Published) -> Message | None:
    """What is wrong with two samples of which one has a record more; None where one class has it, or reached k by it.

    >>> print(one_class_apart(2, {"sample.csv": b"x\\na\\na\\n"}, {"sample.csv": b"x\\na\\na\\nb\\n"}))
    a class is published below k
    """
    one, two = (Counter(each["sample.csv"].splitlines()[1:]) for each in (first, second))
    changed = {row for row in one.keys() | two.keys() if one[row] != two[row]}
    if not changed:  # everything else is a function of the published rows
        return first_difference(first, second)
    if len(changed) > 1:
        return Message("a record changes other classes than its own")
    for row in changed:
        low, high = sorted((one[row], two[row]))
        if min(number for number in (low, high) if number) < k:
            return Message("a class is published below k")
        if high - low != 1 and (low, high) != (0, k):
            return Message("a record counts several times")
    return None


def replay_neighbours(
    job: Kind[Any, Any], run: Run, data: Any, others: Sequence[tuple[str, Any]], factor: int, rows: int | None
) -> list[Replayed]:
    """``run`` recorded on ``data`` and replayed on its neighbours by name; of samples also with their record drawn."""
    neighbours = [Neighbour(name, found, factor, rows, stranger=name in STRANGERS) for name, found in others]
    apart = None
    if isinstance(job, SampleKind):
        neighbours += [replace(each, name=f"{each.name}, drawn", drawn=True) for each in neighbours]
        apart = partial(one_class_apart, job.request.terms.k)
    return replay(run, data, neighbours, promised=promised(job), apart=apart)


def replay_case(case: RecipeCase, readings: NeighbourData) -> list[Replayed]:
    """One recipe: the first data set is recorded, all others are its neighbours."""
    folder = readings.folder
    recipe, out = folder / "recipe.toml", folder / "out"
    recipe.write_text(case.text(), encoding="utf-8", newline="\n")
    out.mkdir(exist_ok=True)
    job = Job.open(recipe).kind
    gathered = {name: readings.gather(job, name) for name in readings.rows}

    def run(name: str, source: Source) -> Published:
        return published(job, job.protect(gathered[name], source), out)

    data, *others = readings.rows
    return replay_neighbours(job, run, data, [(name, name) for name in others], case.factor, case.rows)


def replay_findings(
    folder: Path, generated: int, populations: int, *, quick: bool = False, wanted: Wanted = every
) -> Iterator[Finding]:
    """A finding for each kind and method, over ``populations`` invented data sets with ``generated`` neighbours each.

    Every data set also has the adversarial neighbours of `neighbours`. ``quick`` is as in `cases`.
    """
    shared: dict[tuple[str, str, str, int], NeighbourData] = {}
    for case in filter(lambda case: wanted("replay", case.name), cases(quick=quick)):
        replayed: list[Replayed] = []
        for seed in range(populations):
            key = (*case.reading, seed)
            if key not in shared:
                own = folder / f"readings {len(shared)}"
                own.mkdir()
                write_public(own)
                # The last of several data sets is one person's, so that removing them leaves an empty file.
                people = 1 if 0 < seed == populations - 1 else 60
                shared[key] = NeighbourData(own, case.world(people, seed, generated))
            replayed += replay_case(case, shared[key])
        yield replay_finding(case.name, replayed)


SIZE, DEVICES = 9, 60
"""Values: the last one has a byte of a bitmap to itself."""


def collected(reports: Reports, folder: Path) -> Published:
    """Everything that a collector hands on: the reports in both formats, their sums, and the estimate."""
    files = write_parquet(reports, folder / "reports.parquet"), write_json_lines(reports, folder / "reports.jsonl")
    made = estimate(reports)
    said = {"sums": Tally(reports.encoding).add(reports).to_json(), "estimate": made.to_json(), "summary": made.summary}
    return {path.name: path.read_bytes() for path in files} | {
        what: json.dumps(facts, default=str).encode() for what, facts in said.items()
    }


def neighbours(values: list[int], generated: int, seed: int) -> list[Neighbour]:
    """One device holds another value: the first, the last, the one nobody has, or any; and everybody another one."""
    generator = np.random.default_rng(seed)
    held = {"the first value": 0, "the last value": SIZE - 1, "a duplicate of somebody": values[1]}
    found = [Neighbour(name, [value, *values[1:]], rows=1) for name, value in held.items()]
    for _ in range(generated):
        at, value = int(generator.integers(0, len(values))), int(generator.integers(0, SIZE))
        found.append(Neighbour(f"device {at} replaced", [*values[:at], value, *values[at + 1 :]], rows=1))
    return [*found, Neighbour("everybody else", [SIZE - 1] * len(values), stranger=True)]


def replay_reports(encoding: Encoding, folder: Path, generated: int, seed: int) -> list[Replayed]:
    """Reports of one encoding, recorded once."""

    def run(values: list[int], source: Source) -> Published:
        if isinstance(encoding, PermanentUnary):
            memory = encoding.remember(values, source=source)
            # Drawn from what is remembered alone, with bits that are the same in the replay.
            return collected(encoding.report(memory, seed=seed), folder)
        return collected(encoding.randomize(values, source=source), folder)

    values = np.random.default_rng([seed, 2]).integers(0, SIZE - 1, DEVICES).tolist()
    return replay(run, values, neighbours(values, generated, seed), promised=Budget(epsilon=encoding.epsilon))


def collection_findings(folder: Path, generated: int, populations: int, **changed: Any) -> Iterator[Finding]:
    """A finding for every encoding, or for those of ``changed``."""
    encodings = changed or {name: encoding_of(name, SIZE, Fraction(1)) for name in ENCODINGS}
    folder.mkdir(exist_ok=True)
    for name, encoding in encodings.items():
        found = [one for seed in range(populations) for one in replay_reports(encoding, folder, generated, seed)]
        yield replay_finding(f"reports, {name}", found)
