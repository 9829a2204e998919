"""A table, from a recipe: counted, protected, written and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sudare.domain import CountTable, Domain, Line
from sudare.errors import RecipeError
from sudare.language.messages import Lines, OnProgress, PageMessage
from sudare.noise import Source, secret
from sudare.noise.sparse import DENSE_LIMIT
from sudare.privacy import Budget, Guarantee
from sudare.recipe.kind import Kind, Needs, Outlook, PublicFile
from sudare.recipe.model import Recipe
from sudare.tables import Laplace, Method
from sudare.tables.files import GEOJSON_LIMIT, check_table, write
from sudare.tables.method import cost_of_replacing
from sudare.tables.public_totals import PublicTotals
from sudare.tables.recipe import TableRecipe
from sudare.tables.release import Release, budget_of, promise, release, require_noise

if TYPE_CHECKING:
    from sudare.language.catalogue import Words
    from sudare.render.sections import Section

_PASSED: dict[str, bool] = {}
"""Recipes whose trial passed in this process, the latest last."""
_MOST_PASSED = 64


@dataclass(frozen=True)
class TableKind(Kind[TableRecipe, Release]):
    """A recipe of kind "table"."""

    shape: ClassVar[type[Recipe]] = TableRecipe

    @classmethod
    def of(cls, recipe: TableRecipe, folder: Path) -> Kind[TableRecipe, Any]:
        """In this process, or in a cluster."""
        if not recipe.data.in_cluster:
            return cls(recipe, folder)
        from sudare.tables.spark_kind import ClusterTableKind

        return ClusterTableKind(recipe, folder)

    def prepare(self) -> None:
        """Build what can be wrong, before anything is touched."""
        super().prepare()
        require_noise(self.method, self.budget)
        if self.public_totals and not self.method.uses_total:
            raise RecipeError("method {name} cannot keep public totals", name=self.method.name)
        PublicTotals.of(self.domain, self.public_totals)

    def dry_run(self) -> None:
        """The release of an empty table. Declared totals have no part in it: nobody would contradict them.

        Once for each recipe: what passed would pass again, unless a file for strengths has a part in it.
        """
        asked = repr(self.recipe) if getattr(self.method, "strength", None) is None else None
        if asked in _PASSED:
            return
        domain, nothing = self.domain, np.empty(0, dtype=np.int64)
        if isinstance(self.method, Laplace) and (self.method.cut is not None or domain.size <= DENSE_LIMIT):
            domain = Domain(cell=Line(1))  # noise per cell is alike in every domain, and long to draw for a large one
        nobody = CountTable(domain, nothing, nothing, self.recipe.data.protected_unit(), bounded=True)
        self.release(nobody, (), seed=0)
        if asked is not None:
            _PASSED[asked] = True
            while len(_PASSED) > _MOST_PASSED:
                del _PASSED[next(iter(_PASSED))]

    def public_files(self) -> tuple[PublicFile, ...]:
        """The table of the rehearsal: cells and counts, comparable with private ones where these are such too."""
        own, other = self.recipe.data.counts, self.recipe.rehearsal.counts
        counts = None if own is None or other is None else (own, other)
        return tuple(replace(file, rows=counts is not None, counts=counts) for file in super().public_files())

    @cached_property
    def domain(self) -> Domain:
        """The declared domain."""
        return self.recipe.build_domain()

    @cached_property
    def method(self) -> Method:
        """The declared method."""
        return self.recipe.method.build()

    @cached_property
    def budget(self) -> Budget:
        """What the release costs."""
        privacy = self.recipe.privacy
        return budget_of(privacy.epsilon, privacy.rho, privacy.delta)

    @property
    def public_totals(self) -> list[tuple[dict[str, Any], int]]:
        """The declared totals of areas."""
        return [(dict(total.where), total.number) for total in self.recipe.public_totals]

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the release will promise: known before any private value is."""
        privacy = self.recipe.privacy
        unit, areas = self.recipe.data.protected_unit(), len(self.recipe.public_totals)
        public_total = privacy.total == "public" and self.method.uses_total
        replaced = cost_of_replacing(self.method, self.domain, self.budget)
        return promise(unit, self.budget, replaced, privacy.delta, public_total=public_total, areas=areas)

    @property
    def people(self) -> int | None:
        """Those of the rehearsal, where the recipe says how many."""
        rehearsal = self.recipe.rehearsal
        return rehearsal.people if "people" in rehearsal.model_fields_set else None

    def release(
        self,
        table: CountTable,
        public_totals: Sequence[tuple[Any, int]] | None = None,
        *,
        source: Source | None = None,
        seed: int | None = None,
    ) -> Release:
        """Protect a table as the recipe says; with its public totals, unless others are given."""
        privacy = self.recipe.privacy
        made = release(
            table,
            self.method,
            privacy.epsilon,
            total=privacy.total,
            rho=privacy.rho,
            delta=privacy.delta,
            public_totals=self.public_totals if public_totals is None else public_totals,
            source=source,
            seed=seed,
        )
        return replace(made, guarantee=made.guarantee.booked())

    def gather(self, source: Source) -> CountTable:
        """The private table: bounded counts of the records, or the counts that are there."""
        data = self.recipe.data
        records = self.records()
        unit = data.protected_unit()
        shared: dict[str, Any] = {"columns": self.recipe.columns(), "outside": data.outside}
        if data.counts is not None:
            table = records.table(self.domain, count=data.counts, unit=unit, **shared)
        else:
            key = secret(source, "choice of rows").to_bytes(16, "big")
            shared |= {"unit": data.unit, "max_rows": data.max_rows, "missing_unit": data.rows_without_unit()}
            table = replace(records.count(self.domain, key=key, **shared), unit=unit, bounded=True)
        if self.recipe.privacy.total == "public":  # else it would be found out after the row
            PublicTotals.of(self.domain, self.public_totals).agree_with(self.domain, int(table.total))
        return table

    def needs(self, data: CountTable) -> Needs:
        """By a pilot: a small release of the same law."""
        from sudare.tables.needs import needs

        return needs(self, data)

    def protect(self, data: CountTable, source: Source) -> Release:
        """The release of the private table."""
        return self.release(data, source=source)

    def write(self, made: Release, folder: Path) -> dict[str, Path]:
        """The listed cells in each format asked for."""
        return write(made.table, self.recipe.output.formats, folder)

    def headline(self, made: Release) -> Lines:
        """Cells and total."""
        return {
            "cells_listed": PageMessage("amount.of", part=len(made.table), whole=made.table.domain.size),
            "released_total": f"{made.table.total:,}",
        }

    def certified(self, made: Release) -> dict[str, Any]:
        """The domain."""
        return {"domain": made.table.domain.to_json()}

    def left_out(self, made: Release) -> tuple[PageMessage, ...]:
        """GeoJSON, where it would be too long."""
        if "geojson" in self.recipe.output.formats and len(made.table) > GEOJSON_LIMIT:
            return (PageMessage("left_out.geojson", cells=GEOJSON_LIMIT),)
        return ()

    def internal_sections(self, data: CountTable, made: Release, words: Words) -> list[Section]:
        """The true table beside the released one."""
        from sudare.tables.comparison import comparison_sections

        method = words.label("method_name", made.method.name)
        return comparison_sections(data, made.table, words, method=method)

    def outlook(self) -> Outlook:
        """Cells, memory, and the error by area size."""
        from sudare.tables.rehearsal import outlook

        return outlook(self)

    def rehearse(self, seed: int, progress: OnProgress) -> Any:
        """Seeded releases of the public table, or of synthetic people."""
        from sudare.tables.rehearsal import rehearse

        return rehearse(self, seed, progress)

    @staticmethod
    def check(folder: Path, certificate: dict[str, Any]) -> list[PageMessage]:
        """The listed table is one over the declared domain and has the certified sums and signs."""
        return check_table(folder, certificate)

    @staticmethod
    def public_sections(folder: Path, certificate: dict[str, Any], words: Words) -> list[Section]:
        """Cells and total, the map, error bars, the method."""
        from sudare.tables.pages import public_sections

        return public_sections(folder, certificate, words)
