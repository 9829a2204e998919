"""Every kind of release and every method, run from a recipe as `publish` runs it, without ledger and certificate.

What is compared is all that leaves the house: the files, the summary, the certified facts, and the headline. (A
certificate also has a time, an identifier and a signature, which are other ones in every run.)

Reading is far slower than protecting, so recipes that read alike share what was read: the secret by which the rows of
a person are chosen is recorded with the first data set and replayed for its neighbours, as in one run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sudare.audit.finding import Finding
from sudare.audit.neighbours import Row, frame, person_by_person, row_by_row
from sudare.audit.replaying import Neighbour, Replayed, replay, replay_finding
from sudare.noise import Source, Tape, record
from sudare.publish.job import Job
from sudare.publish.kinds import KINDS

PRIVATE = "people.parquet"
UNIT = 'unit = "person"\nmax_rows = {rows}\n'
DOMAIN = (
    '[domain.x]\ntype = "bins"\nstart = 0\nstop = 16\nstep = 1\n'
    '[domain.sex]\ntype = "categories"\nvalues = ["f", "m"]\n'
)
COLUMNS = '[columns.x]\nbounds = [0, 16]\n[columns.sex]\ncategories = ["f", "m"]\n'

METHODS = ("tree", "top_down", "simplex", "negative_l2", "nonnegative_lasso", "laplace", "privelet")


@dataclass(frozen=True)
class Case:
    """A recipe to audit: whether neighbours replace rows or add and remove people, and what that may move.

    ``data`` and ``columns`` are the parts of the recipe that say what is read, ``choice`` the rest of it; ``factor``
    and ``rows`` are those of a `Neighbour`.
    """

    kind: str
    data: str
    columns: str
    choice: str
    replaced: bool = False
    factor: int = 1
    rows: int | None = None

    @property
    def name(self) -> str:
        """The kind and what sets the case apart."""
        said = [line for line in (self.data + self.choice).splitlines() if "=" in line]
        kept = [line for line in said if line.split(" =")[0] in _TELLING]
        return ", ".join([self.kind, *kept])

    def text(self) -> str:
        """The recipe."""
        return recipe_text(self.kind, self.data, self.columns, self.choice)


def recipe_text(kind: str, data: str, columns: str, choice: str) -> str:
    """A recipe over the invented people."""
    shared = f'dataset = "audit"\n[data]\npath = "{PRIVATE}"\n{data}[output]\nfolder = "release"\n'
    return f'kind = "{kind}"\n{shared}{columns}{choice}'


_TELLING = ("name", "epsilon", "delta", "rho", "total", "max_rows", "cut", "children", "noise", "estimator")


def table_case(method: str, privacy: str, rows: int, more: str = "") -> Case:
    """A table by ``method``, with so many rows of a person."""
    data = UNIT.format(rows=rows) + 'outside = "drop"\n'
    public = "public" in privacy
    choice = f'[method]\nname = "{method}"\n{more}[privacy]\n{privacy}\n'
    return Case("table", data, DOMAIN, choice, public, 2 if public else 1)


def record_case(kind: str, choice: str, rows: int | None = None) -> Case:
    """A kind that replaces records, with what its own section says."""
    return Case(kind, "", COLUMNS, choice, True, 1, rows)


def cases() -> Iterator[Case]:
    """All that is audited by replay. Kinds that are not there are left out."""
    for method in METHODS:
        yield table_case(method, "epsilon = 1", 1)
        yield table_case(method, "epsilon = 0.5", 3)
    yield table_case("tree", "rho = 0.1", 3)
    yield table_case("tree", "epsilon = 1\ndelta = 0.000001", 3)
    yield table_case("laplace", "epsilon = 1", 1, "cut = 3\n")
    yield table_case("tree", "epsilon = 1", 3, "children = 2\n")
    for method in ("tree", "top_down", "simplex"):
        yield table_case(method, 'epsilon = 1\ntotal = "public"', 1)
    for noise in ("laplace", "square_wave"):
        yield record_case("perturbation", f'[perturbation]\nepsilon = 1\nnoise = "{noise}"\n', rows=1)
    if "weights" in KINDS:
        for estimator in ("tilt", "ulsif"):
            choice = f'[weights]\nestimator = "{estimator}"\nepsilon = 1\n[public]\npath = "public.parquet"\n'
            yield record_case("weights", choice)


@dataclass
class Readings:
    """A data set and its neighbours by name, as the recipes of one kind and reading find them; each is read once."""

    folder: Path
    rows: dict[str, list[Row]]
    tape: Tape | None = None
    found: dict[str, Any] = field(default_factory=dict)

    def gather(self, job: Job[Any, Any], name: str) -> Any:
        """What `Job.gather` gives for the data set of this name, with the same secrets for all."""
        import pyarrow.parquet as pq

        if name not in self.found:
            pq.write_table(frame(self.rows[name]), self.folder / PRIVATE)
            with record(replay=self.tape) as tape:
                self.found[name] = job.gather(Source.system())
            self.tape = self.tape or tape
        return self.found[name]


def files_of(written: Mapping[str, Path | Sequence[Path]]) -> list[Path]:
    """The files that `Job.write` names, in its order; a format may have several parts."""
    return [path for paths in written.values() for path in ([paths] if isinstance(paths, Path) else paths)]


def replay_case(case: Case, readings: Readings) -> list[Replayed]:
    """One recipe: the first data set is recorded, all others are its neighbours."""
    folder = readings.folder
    recipe, out = folder / "recipe.toml", folder / "out"
    recipe.write_text(case.text(), encoding="utf-8")
    out.mkdir(exist_ok=True)
    job: Job[Any, Any] = Job.open(recipe)

    def run(name: str, source: Source) -> dict[str, bytes]:
        made = job.protect(gathered[name], source)
        published = {path.name: path.read_bytes() for path in files_of(job.write(made, out))}
        said = {"summary": made.summary, "certified": job.certified(made), "headline": job.headline(made)}
        return published | {what: json.dumps(facts, default=str).encode() for what, facts in said.items()}

    gathered = {name: readings.gather(job, name) for name in readings.rows}
    data, *others = readings.rows
    return replay(run, data, [Neighbour(name, name, case.factor, case.rows) for name in others])


def replay_findings(folder: Path, generated: int, populations: int) -> Iterator[Finding]:
    """A finding for each kind and method, over ``populations`` invented data sets with ``generated`` neighbours each.

    Every data set also has the adversarial neighbours of `neighbours`.
    """
    import pyarrow.parquet as pq

    public = frame(row_by_row(120, 77, 0)["data"]).drop_columns(["person"])
    shared: dict[tuple[str, str, bool, int], Readings] = {}
    for case in cases():
        replayed: list[Replayed] = []
        for seed in range(populations):
            key = (case.kind, case.data, case.replaced, seed)
            if key not in shared:
                own = folder / f"readings {len(shared)}"
                own.mkdir()
                pq.write_table(public, own / "public.parquet")
                # The last of several data sets is one person's, so that removing them leaves an empty file.
                people = 1 if 0 < seed == populations - 1 else 60
                rows = row_by_row(60, seed, generated) if case.replaced else person_by_person(people, seed, generated)
                shared[key] = Readings(own, rows)
            replayed += replay_case(case, shared[key])
        yield replay_finding(case.name, replayed)
