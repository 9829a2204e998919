"""The kind "sample": a k-anonymous sample from a recipe is read, drawn and generalised, written, and verified.

`verify` checks k, l and t from the published bytes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sudare.anonymity import Anonymized
from sudare.anonymity.anonymize import AnonymizeRequest, SampleParameters
from sudare.anonymity.frames import coded
from sudare.anonymity.grouping import group, totals
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.lattice import Tuples
from sudare.anonymity.recipe import SampleRecipe
from sudare.anonymity.requirements import Demand, Requirement, requirement_from_json
from sudare.domain.frames import Framed
from sudare.errors import SudareError, VerificationError
from sudare.language.messages import PageMessage, Value
from sudare.noise import Source
from sudare.privacy import Guarantee
from sudare.recipe.frames import read_frame, write_frame
from sudare.recipe.kind import FIXED_DISK, FIXED_MEMORY, Kind, Needs, OpenedRelease, PublicFile, ReleasedColumn
from sudare.recipe.model import Recipe

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.language.catalogue import Words
    from sudare.render.sections import Section


FILE_OF = {"parquet": "sample.parquet", "csv": "sample.csv"}


def check_sample(folder: Path, certificate: dict[str, Any]) -> list[PageMessage]:
    """Every file has the certified columns, rows and classes, and every class k rows and what else is required."""
    try:
        stated = certificate["sample"]
        columns, sensitive = list(map(str, stated["columns"])), list(map(str, stated["sensitive"]))
        k, summary = int(stated["k"]), certificate["summary"]
        requirements = [requirement_from_json(each) for each in stated["requirements"]]
    except (SudareError, AttributeError, KeyError, TypeError, ValueError):
        raise VerificationError("the certificate states no valid sample") from None
    checks = []
    for form, name in FILE_OF.items():
        if name in certificate["files"]:
            rows = read_frame(folder / name, form, text=None)
            if rows.column_names != [*columns, *sensitive]:
                raise VerificationError("the sample has other columns than the certified ones", value=name)
            checks += _judged(rows, name, columns, k, requirements, summary)
    return checks


def _judged(
    rows: pa.Table, name: str, columns: list[str], k: int, requirements: list[Requirement], summary: dict[str, Any]
) -> list[PageMessage]:
    class_of, classes = _classes(rows, columns)
    ones = np.ones(rows.num_rows, dtype=np.int64)
    sizes = totals(class_of, classes, ones)
    smallest = int(sizes.min()) if classes else None
    found = {"records": rows.num_rows, "classes": classes, "smallest_class": smallest}
    if smallest is not None and smallest < k:
        raise VerificationError(
            "a combination of values is in fewer rows than k", value=name, allowed="at least {k}", k=k
        )
    for fact, value in found.items():
        if summary.get(fact) != value:
            raise VerificationError("the sample's {fact} is not the certified one", value=value, fact=fact)
    checks = [PageMessage("verified.combinations", file=name, columns=", ".join(columns), k=str(k))]
    for requirement in requirements:
        codes, values = coded(rows.column(requirement.column).to_pylist())
        demand = Demand(requirement, codes, totals(codes, len(values), ones))
        if not demand.holds(class_of, classes, codes, ones).all():
            raise VerificationError(
                "the sample does not satisfy {requirement}", value=name, requirement=str(requirement)
            )
        checks.append(PageMessage("verified.requirement", file=name, requirement=requirement.message))
    return checks


def _classes(rows: pa.Table, columns: list[str]) -> tuple[Any, int]:
    """The class of each row; a missing value is a value."""
    codes, sizes = [], []
    for column in columns:
        encoded = rows.column(column).combine_chunks().dictionary_encode(null_encoding="encode")
        codes.append(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))
        sizes.append(max(len(encoded.dictionary), 1))
    return group(codes, sizes)


@dataclass(frozen=True)
class ReleasedSample(OpenedRelease, Framed):
    """A published sample: ``records`` is an Arrow table of text, one row per published record."""

    records: pa.Table

    def to_arrow(self) -> pa.Table:
        return self.records


@dataclass(frozen=True)
class SampleKind(Kind[SampleRecipe, Anonymized]):
    """A recipe of kind "sample"."""

    shape: ClassVar[type[Recipe]] = SampleRecipe
    rehearsal_module: ClassVar[str] = "sudare.anonymity.pages"

    @cached_property
    def request(self) -> AnonymizeRequest:
        choice, data = self.recipe.sample, self.recipe.data
        return AnonymizeRequest.of(
            {name: tree.build(self.folder) for name, tree in self.recipe.hierarchies.items()},
            SampleParameters(
                **choice.model_dump(exclude={"rate", "learn_on", "confirm_overlap"}),
                sample=choice.rate,
                learn_on=None if choice.learn_on is None else self.path(choice.learn_on),
                require=[requirement.build() for requirement in self.recipe.require],
                unit=data.unit,
                missing_unit=data.rows_without_unit(),
            ),
            data.protected_unit(),
        )

    def public_files(self) -> tuple[PublicFile, ...]:
        """Also the file that the generalisation is learned on, and those of the hierarchies."""
        choice, trees = self.recipe.sample, self.recipe.hierarchies
        files = [
            PublicFile(f"hierarchies.{name}.file", tree.file, rows=False)
            for name, tree in trees.items()
            if tree.file is not None
        ]
        if choice.learn_on is not None:
            files.append(
                PublicFile("sample.learn_on", choice.learn_on, used=tuple(trees), confirmed=choice.confirm_overlap)
            )
        return (*files, *super().public_files())

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the release will promise: known before any private value is."""
        return self.request.terms.guarantee

    def dry_run(self) -> None:
        """Learn on the public file, where there is one; else choose levels for k records that are all alike.

        What a requirement asks of a sensitive column is left out, since it depends on that column.
        """
        request = self.request
        if request.learned is not None:
            return
        trees, terms = request.hierarchies, request.terms
        codes = np.zeros((1, len(trees)), dtype=np.int32)
        alike = Tuples(tuple(trees), tuple(trees.values()), codes, np.array([terms.k]))
        # A generalisation found on what was drawn needs k of them.
        free = replace(terms, sample=terms.sample if terms.origin != "method" else None, requirements=())
        replace(request, terms=free).meet(alike, Source.from_seed(0))

    def gather(self, source: Source) -> Tuples:
        """The private records as distinct tuples with counts, one row of each person."""
        return self.request.read(self.records(), source)

    def needs(self, data: Tuples) -> Needs:
        """From the rows that may be drawn, and the names at the declared levels, or else at that of the longest."""
        rate, formats = self.request.terms.sample, self.recipe.output.formats
        rows = data.total if rate is None else float(rate) * data.total
        levels = self.request.levels or (None,) * len(data.hierarchies)
        names = [_name_length(tree, level) for tree, level in zip(data.hierarchies, levels, strict=True)]
        beside = [_letters(column.values) for column in data.sensitive.values()]
        letters, columns = sum(names) + sum(beside), len(names) + len(beside)
        # Sorted classes compress to almost nothing in a Parquet file; sensitive columns do not.
        disk = ("csv" in formats) * (letters + 3 * columns) + ("parquet" in formats) * (0.1 * columns + sum(beside) / 2)
        memory = 1.2 * rows * (16 + 5 * columns + letters)
        return Needs(FIXED_MEMORY + int(memory), FIXED_DISK + int(1.1 * rows * disk))

    def protect(self, data: Tuples, source: Source) -> Anonymized:
        return self.request.meet(data, source)

    def write(self, made: Anonymized, folder: Path) -> dict[str, Path]:
        return write_frame(made.records, folder, FILE_OF, self.recipe.output.formats)

    def headline(self, made: Anonymized) -> dict[str | PageMessage, Value]:
        summary = made.summary
        smallest = summary["smallest_class"]
        return {
            "published_rows": PageMessage("amount.in_classes", rows=summary["records"], classes=summary["classes"]),
            "smallest_class": PageMessage("amount.none")
            if smallest is None
            else PageMessage("amount.rows", rows=smallest),
            "loss": PageMessage("amount.of_one", share=f"{summary['measures']['ncp']:.3f}"),
        }

    def certified(self, made: Anonymized) -> dict[str, Any]:
        terms = made.terms
        return {
            "sample": {
                "columns": list(terms.columns),
                "sensitive": list(self.request.sensitive),
                "k": terms.k,
                "requirements": [requirement.to_json() for requirement in terms.requirements],
            }
        }

    def released_columns(self, made: Anonymized) -> tuple[ReleasedColumn, ...]:
        """The generalised columns, then the sensitive ones: text."""
        own = {name: PageMessage("column.generalised", name=name) for name in made.terms.columns}
        own |= {name: PageMessage("column.sensitive", name=name) for name in self.request.sensitive}
        return tuple(ReleasedColumn(name, "string", about) for name, about in own.items())

    def internal_sections(self, data: Tuples, made: Anonymized, words: Words) -> list[Section]:  # noqa: ARG002 - it holds them
        """Risk and loss with the private counts, and the evaluated epsilon."""
        from sudare.anonymity.pages import internal_sections

        return internal_sections(made, words)

    check = staticmethod(check_sample)

    @staticmethod
    def opened(folder: Path, certificate: dict[str, Any]) -> ReleasedSample:
        form, name = next((form, name) for form, name in FILE_OF.items() if name in certificate["files"])
        guarantee = Guarantee.from_json(certificate["guarantee"])
        return ReleasedSample(guarantee, certificate["summary"], read_frame(folder / name, form, text=None))

    @staticmethod
    def public_sections(folder: Path, certificate: dict[str, Any], words: Words) -> list[Section]:
        """Rows and classes, the values of each column, and the measures that the file itself gives."""
        from sudare.anonymity.pages import public_sections

        return public_sections(certificate["summary"], words, SampleKind.opened(folder, certificate).records)


def _letters(names: Sequence[str | None]) -> float:
    """Bytes of a name, on average."""
    return sum(len((name or "").encode()) for name in names) / max(1, len(names))


def _name_length(tree: Hierarchy, level: int | None) -> float:
    """Bytes of what is published for a leaf: at a level, or at most at any; a range is as long as both its ends."""
    at_levels = [_letters([tree.labels[node] for node in row]) for row in tree.table]
    return max(2 * at_levels[0] + 1, *at_levels) if level is None else at_levels[level]
