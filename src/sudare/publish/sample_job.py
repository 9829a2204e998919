"""A k-anonymous sample, from a recipe: read, drawn and generalised, written and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sudare.anonymity import Anonymized
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.request import AnonymizeRequest, SampleParameters
from sudare.anonymity.tuples import Tuples
from sudare.noise import Source
from sudare.privacy import Guarantee
from sudare.publish.kind import FIXED_DISK, FIXED_MEMORY, Kind, Needs, Outlook, PublicFile
from sudare.publish.recipe import Recipe
from sudare.publish.sample_check import FILE_OF, check_sample
from sudare.publish.sample_recipe import SampleRecipe
from sudare.words import OnProgress, PageMessage, Value

if TYPE_CHECKING:
    from sudare.report import Section
    from sudare.words import Words


@dataclass(frozen=True)
class SampleJob(Kind[SampleRecipe, Anonymized]):
    """A recipe of kind "sample"."""

    shape: ClassVar[type[Recipe]] = SampleRecipe

    @cached_property
    def request(self) -> AnonymizeRequest:
        """What the recipe asks `anonymize` for."""
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
        # A row of a Parquet file is next to nothing but for what stands beside the sorted classes.
        disk = ("csv" in formats) * (letters + 3 * columns) + ("parquet" in formats) * (0.1 * columns + sum(beside) / 2)
        memory = 1.2 * rows * (16 + 5 * columns + letters)
        return Needs(FIXED_MEMORY + int(memory), FIXED_DISK + int(1.1 * rows * disk))

    def protect(self, data: Tuples, source: Source) -> Anonymized:
        """The sample."""
        return self.request.meet(data, source)

    def write(self, made: Anonymized, folder: Path) -> dict[str, Path]:
        """The published rows in each format asked for."""
        import pyarrow.csv as csv
        import pyarrow.parquet as pq

        paths: dict[str, Path] = {name: folder / FILE_OF[name] for name in self.recipe.output.formats}
        if "parquet" in paths:
            pq.write_table(made.records, paths["parquet"], compression="zstd")
        if "csv" in paths:
            csv.write_csv(made.records, paths["csv"])
        return paths

    def headline(self, made: Anonymized) -> dict[str | PageMessage, Value]:
        """Rows, classes, and the loss of the published rows."""
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
        """What `verify` holds against the bytes."""
        terms = made.terms
        return {
            "sample": {
                "columns": list(terms.columns),
                "sensitive": list(self.request.sensitive),
                "k": terms.k,
                "requirements": [requirement.to_json() for requirement in terms.requirements],
            }
        }

    def internal_sections(self, data: Tuples, made: Anonymized, words: Words) -> list[Section]:  # noqa: ARG002 - it holds them
        """Risk and loss with the private counts, and the evaluated epsilon."""
        from sudare.publish.sample_pages import internal_sections

        return internal_sections(made, words)

    def outlook(self) -> Outlook:
        """Columns, levels, promised risks, and what one rehearsal loses."""
        from sudare.publish.sample_rehearsal import outlook

        return outlook(self)

    def rehearse(self, seed: int, progress: OnProgress) -> Any:
        """Seeded samples of the public file, or of synthetic records."""
        from sudare.publish.sample_rehearsal import rehearse

        return rehearse(self, seed, progress)

    @staticmethod
    def check(folder: Path, certificate: dict[str, Any]) -> list[PageMessage]:
        """k, l and t hold in the published bytes, and rows and classes are the certified ones."""
        return check_sample(folder, certificate)

    @staticmethod
    def public_sections(folder: Path, certificate: dict[str, Any], words: Words) -> list[Section]:  # noqa: ARG004 - the certificate says all
        """Rows and classes, and the measures that the file itself gives."""
        from sudare.publish.sample_pages import public_sections

        return public_sections(certificate["summary"], words)


def _letters(names: Sequence[str | None]) -> float:
    """Bytes of a name, on average."""
    return sum(len((name or "").encode()) for name in names) / max(1, len(names))


def _name_length(tree: Hierarchy, level: int | None) -> float:
    """Bytes of what is published for a leaf: at a level, or at most at any; a range is as long as both its ends."""
    at_levels = [_letters([tree.labels[node] for node in row]) for row in tree.table]
    return max(2 * at_levels[0] + 1, *at_levels) if level is None else at_levels[level]
