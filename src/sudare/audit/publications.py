"""`publish` itself, recorded and replayed: everything in the release's folder, byte for byte, and what is returned.

The replays of `releases` share what was read and leave out ledger and certificate, so that they can be many. Here the
whole of `publish` is run for every neighbour, with a key and a ledger of its own: files, certificate, signature and
public report, with their names and sizes, and what `publish` returns and says on its way. What is another one in every
run by design (the identifier, the time, the head of the ledger) is kept by the tape.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sudare.audit.cases import METHODS, RecipeCase, perturbations, samples, weights
from sudare.audit.finding import Finding, Wanted, every
from sudare.audit.neighbours import STRANGERS, write_public, write_rows
from sudare.audit.releases import replay_neighbours
from sudare.audit.replaying import Published, Replayed, replay_finding
from sudare.audit.residents import (
    AGES,
    DOMAIN,
    JOURNEYS,
    PLACES,
    TOWN,
    WORKERS,
    Residents,
    come_and_go,
    evenly,
    once_each,
    regions,
    replaced,
    to_counts,
    to_csv,
    to_parquet,
    to_points,
)
from sudare.language.messages import Progress, lines
from sudare.noise import Source
from sudare.workflow.job import Job
from sudare.workflow.publication import publish

PEOPLE = 400
_SHARED = 'dataset = "audit"\n[ledger]\npath = "ledger.db"\ncap = { %s }\n[output]\nfolder = "release"\n'
_CAPS = {"rho": "rho = 1000, delta = 0.001", "delta": "epsilon = 1000, delta = 0.001", "epsilon": "epsilon = 1000"}


FEW = (
    "a person alone in a cell",
    "a person with many rows",
    "a person inside and outside",
    "the lowest row replaced by the highest",
    *STRANGERS,
)
"""The neighbours of the quick form."""
QUICK_KINDS = (
    "sample, max_rows 1, k 8, levels, epsilon 2",
    "perturbation, epsilon 1, noise laplace",
    "weights, epsilon 1",
)
"""Its recipes of the kinds that are no table, one of each; `releases` replays all the others without `publish`."""


@dataclass(frozen=True)
class PublicationCase:
    """A recipe to publish: its name and text, and data sets of which the first is recorded.

    ``write`` puts a data set where the recipe expects it; ``factor`` and ``rows`` are those of a `Neighbour`;
    ``period`` is the one that is published of a series.
    """

    name: str
    recipe: str
    world: Callable[[int], dict[str, Any]]
    write: Callable[[Any, Path], None]
    private: str = "people.parquet"
    factor: int = 1
    rows: int | None = None
    period: str | None = None


@dataclass(frozen=True)
class ResidentData:
    """Residents as a recipe finds them: a ``file`` that ``write`` makes of a ``world``, and ``keys`` under [data]."""

    keys: str = 'unit = "person"\nmax_rows = 3\n'
    file: str = "people.parquet"
    write: Callable[[Any, Path], None] = to_parquet
    world: Callable[[int, int, int], Residents] = come_and_go


def table(
    name: str,
    method: str,
    privacy: str,
    data: ResidentData = ResidentData(),
    *,
    domain: str = DOMAIN,
    more: str = "",
    formats: str = '["parquet", "csv"]',
    page: bool = False,
) -> PublicationCase:
    """A table of residents."""
    cap = next(_CAPS[name] for name in _CAPS if name in privacy)
    keys = data.keys if "outside" in data.keys else f'{data.keys}outside = "drop"\n'
    text = (
        f'kind = "table"\n{_SHARED % cap}formats = {formats}\n[report]\npublic = {str(page).lower()}\n'
        f'[data]\npath = "{data.file}"\n{keys}[method]\nname = {method}\n[privacy]\n{privacy}\n{more}{domain}'
    )
    factor = 2 if 'total = "public"' in privacy else 1
    return PublicationCase(
        name, text, lambda generated: data.world(PEOPLE, 3, generated), data.write, data.file, factor
    )


_SWAPPED = ResidentData('unit = "person"\n', world=replaced)
"""People with one row each, of whom one is replaced by another: for public totals."""
_EVEN = ResidentData(world=evenly)


def everyday() -> Iterator[PublicationCase]:
    """What people publish most, few enough for the quick form: together they have nearly every option."""
    yield table(
        "table, tree, places by sex and age, margin, three rows, CSV with drop, maps",
        '"tree"',
        "epsilon = 3",
        ResidentData(file="people.csv", write=to_csv),
        formats='["parquet", "csv", "geoparquet", "geojson"]',
    )
    yield table("table, tree, halves, margin, three rows", '"tree"\nchildren = 2', "epsilon = 12")
    for method in ("marginals", "simplex", "top_down"):
        yield table(f"table, {method}, places by sex and age, three rows", f'"{method}"', "epsilon = 3")
    yield table("table, laplace, cut 4, places by sex and age, three rows", '"laplace"\ncut = 4', "epsilon = 3")
    yield table(
        "table, tree, origin and destination, public total",
        '"tree"\nchildren = 4',
        'epsilon = 2\ntotal = "public"',
        _SWAPPED,
        domain=JOURNEYS,
    )
    yield table(
        "table, tree, ages, CSV with clamp, three rows, page",
        '"tree"\nchildren = 2',
        "epsilon = 3",
        ResidentData('unit = "person"\nmax_rows = 3\noutside = "clamp"\n', "people.csv", to_csv, known_ages),
        domain=AGES,
        page=True,
    )
    yield table(
        "table, tree, file of counts",
        '"tree"',
        "epsilon = 2",
        ResidentData('counts = "count"\nunit_name = "person"\n', "counts.csv", to_counts, once_each),
    )

    yield of_points("degrees")
    yield of_points("regions")
    yield series("table, tree, even places by sex, records, a period of a series", '"tree"', "epsilon = 6", TOWN)
    yield table("table, auto, no places, people enough for cells", '"auto"', "epsilon = 3", _EVEN, domain=WORKERS)


def of_points(kind: str) -> PublicationCase:
    """A table of the places of one of `PLACES`, counted from points."""
    formats = '["parquet", "csv", "geoparquet", "geojson"]'
    name, data = f"table, tree, {kind} by sex, points, three rows, maps", ResidentData(write=to_points)
    return table(name, '"tree"', "epsilon = 3", data, domain=PLACES[kind], formats=formats)


def series(name: str, method: str, privacy: str, domain: str) -> PublicationCase:
    """The first of two periods of an even table, with synthetic people and a report for the steward."""
    data = ResidentData(file="people-{period}.parquet", world=evenly)
    formats = '["parquet", "csv", "records"]'
    case = table(name, method, privacy, data, domain=domain, formats=formats, more='[series]\nperiods = ["a", "b"]\n')
    text = case.recipe.replace('folder = "release"', 'folder = "release/{period}"')
    return replace(case, recipe=text, private="people-a.parquet", period="a")


def further() -> Iterator[PublicationCase]:
    """The other methods, Gaussian noise, pages with maps, totals of areas, a report for the steward."""
    quiet = table("table, tree, even places by sex, internal report", '"tree"', "rho = 1", _EVEN, domain=TOWN)
    yield replace(quiet, recipe=quiet.recipe.replace("public = false", "public = false\ninternal = true"))
    yield table("table, auto, no places, people too few for cells", '"auto"', "epsilon = 0.05", _EVEN, domain=WORKERS)
    yield of_points("tiles")
    for method in METHODS:
        yield table(f"table, {method}, places by sex and age, page", f'"{method}"', "epsilon = 3", page=True)
    yield table("table, tree, places by sex and age, margin, rho 0.5", '"tree"\nchildren = 4', "rho = 0.5")
    yield table("table, tree, places by sex and age, margin, delta", '"tree"', "epsilon = 3\ndelta = 0.000001")
    yield table("table, tree, origin and destination, three rows, rho 1", '"tree"', "rho = 1", domain=JOURNEYS)
    total = '[[public_totals]]\nwhere = { sex = ["o"] }\nnumber = 12\n'
    for method in ("tree", "simplex"):
        yield table(f"table, {method}, public totals of areas", f'"{method}"', "epsilon = 3", more=total)
    for method in ("marginals", "top_down", "simplex", "negative_l2", "nonnegative_lasso"):
        yield table(
            f"table, {method}, origin and destination, public total",
            f'"{method}"',
            'epsilon = 2\ntotal = "public"',
            _SWAPPED,
            domain=JOURNEYS,
        )


def known_ages(people: int, seed: int, generated: int) -> Residents:
    """People whose age is a number, if not always one that can be: all of them are counted."""
    found = come_and_go(people, seed, generated)
    return {name: [row for row in rows if row.age is not None and row.age == row.age] for name, rows in found.items()}


def other_kinds() -> Iterator[PublicationCase]:
    """Samples, perturbed records and weights, by the recipes of `cases`, with the whole of what is written."""
    for case in samples():
        # Classes that are worth a small delta need more people than the replays of many neighbours have.
        terms = case.choice.replace("k = 3\nrate = 0.4", "k = 8\nrate = 0.2")
        yield of_case(replace(case, choice=terms if "epsilon = 2" in terms else f"{terms}epsilon = 2\n"), PEOPLE)
    for case in (*perturbations(), *weights()):
        yield of_case(case, 60)


def of_case(case: RecipeCase, people: int) -> PublicationCase:
    """A recipe of `cases` as a publication."""
    ledger = f'[ledger]\npath = "ledger.db"\ncap = {{ {_CAPS["delta"]} }}\n'

    def world(generated: int) -> dict[str, Any]:
        return case.world(people, 0, generated)

    return PublicationCase(case.name, case.text() + ledger, world, write_rows, factor=case.factor, rows=case.rows)


def publication(case: PublicationCase, folder: Path) -> Callable[[Any, Source], Published]:
    """A run of `publish` on some data, in a folder that holds nothing of the run before but the publisher's key."""
    recipe = folder / "recipe.toml"
    recipe.write_text(case.recipe, encoding="utf-8", newline="\n")
    (folder / "regions.geojson").write_text(regions(), encoding="utf-8", newline="\n")  # public

    def run(rows: Any, source: Source) -> Published:  # noqa: ARG001 - a publication has a source of its own
        shutil.rmtree(folder / "release", ignore_errors=True)
        for path in (*folder.glob("ledger.db*"), *folder.glob("*-internal.html")):
            path.unlink()
        case.write(rows, folder / case.private)
        said: list[Progress] = []
        made = publish(recipe, period=case.period, progress=said.append)
        left = {path.relative_to(made.folder).as_posix(): path for path in sorted(made.folder.rglob("*"))}
        told = [made.to_json(), lines(made.headline), str(made.release.guarantee), made.balance.remaining_text, said]
        beside = sorted(path.name for path in folder.iterdir() if not path.name.startswith("ledger.db-"))
        returned = {"what publish returns and says": json.dumps([*told, beside], default=str).encode()}
        return {name: path.read_bytes() for name, path in left.items() if path.is_file()} | returned

    return run


def replay_publication(case: PublicationCase, folder: Path, generated: int, *, few: bool) -> list[Replayed]:
    """One recipe: the first data set is published and recorded, the others are its neighbours, or a ``few`` of them."""
    folder.mkdir()
    write_public(folder)
    run = publication(case, folder)
    job = Job.open(folder / "recipe.toml").kind
    (_, data), *others = case.world(generated).items()
    if few:
        others = [(name, rows) for name, rows in others if name in FEW] or others[:2]
    return replay_neighbours(job, run, data, others, case.factor, case.rows)


def publication_findings(
    folder: Path, generated: int, *, quick: bool = False, wanted: Wanted = every
) -> Iterator[Finding]:
    """A finding for each recipe; ``quick`` takes few of the neighbours, and of the recipes those of every day."""
    folder.mkdir()
    others = [case for case in other_kinds() if not quick or case.name in QUICK_KINDS]
    chosen = (*everyday(), *(() if quick else further()), *others)
    for number, case in enumerate(chosen):
        if wanted("replay", name := f"publish, {case.name}"):
            replayed = replay_publication(case, folder / f"publication {number}", generated, few=quick)
            yield replay_finding(name, replayed)
