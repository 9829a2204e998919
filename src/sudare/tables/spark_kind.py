"""A table from a recipe, counted and released inside Spark; the publication is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from sudare.domain.frames import to_arrow
from sudare.engines.examine import Examination
from sudare.engines.spark_sources import Scratch
from sudare.language.messages import Lines, OnProgress, PageMessage
from sudare.noise import Source, secret
from sudare.privacy import Guarantee
from sudare.recipe.kind import Kind, Outlook, PublicFile, Rehearsal
from sudare.recipe.model import Recipe
from sudare.tables.kind import TableKind
from sudare.tables.recipe import TableRecipe
from sudare.tables.spark import ClusterRelease, ClusterTable, count, release, require_method


@dataclass(frozen=True)
class ClusterTableKind(Kind[TableRecipe, ClusterRelease]):
    """A recipe of kind "table" whose cells never leave the cluster.

    Everything that needs no private cell is done as for a table in one process. Parts are written into a hidden folder
    beside the output, and moved into it when all of them are there.
    """

    shape: ClassVar[type[Recipe]] = TableRecipe

    @cached_property
    def here(self) -> TableKind:
        """The same recipe in one process, for plans and rehearsals: the law of the release is the same."""
        return TableKind(self.recipe, self.folder)

    def prepare(self) -> None:
        """Build what can be wrong, before anything is touched."""
        self.here.prepare()
        require_method(self.here.method)

    def public_files(self) -> tuple[PublicFile, ...]:
        """As in one process."""
        return self.here.public_files()

    def dry_run(self) -> None:
        """As in one process: the law of the release is the same."""
        self.here.dry_run()

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the release will promise."""
        return self.here.guarantee

    @cached_property
    def staging(self) -> Scratch:
        """Where workers write the parts: on the same disk as the output."""
        target = self.path(self.recipe.output.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        return Scratch.within(target.parent, guarded=False)

    def examine(self, *, values: bool = False) -> Examination:
        """As in one process, by Spark."""
        return self.here.examine(values=values)

    def gather(self, source: Source) -> ClusterTable:
        """The private table, counted and left in the cluster."""
        self.here.refuse_dropped()
        data = self.recipe.data
        table = count(
            self.here.records(),
            self.here.domain,
            columns=self.recipe.columns(),
            unit=data.unit,
            max_rows=data.max_rows,
            outside=data.outside,
            key=secret(source, "choice of rows").to_bytes(16, "big"),
            missing_unit=data.rows_without_unit(),
            scratch=self.scratch,
        )
        return replace(table, unit=data.protected_unit())

    def protect(self, data: ClusterTable, source: Source) -> ClusterRelease:
        """The release, in parts that are still in the staging folder; the exact counts are removed."""
        privacy = self.recipe.privacy
        try:
            made = release(
                data,
                self.staging.path / "parts",
                self.here.method,
                privacy.epsilon,
                total=privacy.total,
                rho=privacy.rho,
                delta=privacy.delta,
                source=source,
                describe=partial(to_arrow, index=True),
            )
        finally:
            data.discard()
        return replace(
            made,
            folder=self.path(self.recipe.output.folder),
            guarantee=self.here.with_test(made.guarantee).booked(),
        )

    def compared(self, data: ClusterTable) -> None:
        """Nothing that is in this process: workers derive their noise from the values it is added to (`Grant`)."""

    def discard(self, data: ClusterTable) -> None:
        """The exact counts, and parts that were not moved to where they belong."""
        data.discard()
        if "staging" in vars(self):  # only `protect` makes one
            self.staging.remove()

    def write(self, made: ClusterRelease, folder: Path) -> dict[str, Sequence[Path]]:
        """The parts, moved to where they belong."""
        parts = [(self.staging.path / "parts" / part.name).rename(folder / part.name) for part in made.parts]
        self.staging.remove()
        return {"parquet": parts}

    def headline(self, made: ClusterRelease) -> Lines:
        """Cells, total and parts."""
        return {
            "cells_listed": PageMessage("amount.of", part=made.nonzero_cells, whole=made.domain.size),
            "released_total": f"{made.total:,}",
            "parts": len(made.parts),
        }

    def certified(self, made: ClusterRelease) -> dict[str, Any]:
        """The domain."""
        return {"domain": made.domain.to_json()}

    def outlook(self) -> Outlook:
        """As in one process."""
        return self.here.outlook()

    def rehearse(self, seed: int, progress: OnProgress) -> Rehearsal:
        """As in one process."""
        rehearsed: Rehearsal = self.here.rehearse(seed, progress)
        return rehearsed

    check = staticmethod(TableKind.check)
    public_sections = staticmethod(TableKind.public_sections)
