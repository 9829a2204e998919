"""The kind "table": a table from a recipe is counted, protected, written, and verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sudare.domain import CountTable, Domain
from sudare.errors import InputError, RecipeError
from sudare.language.messages import Lines, PageMessage
from sudare.noise import Source, secret
from sudare.noise.sparse import DENSE_LIMIT
from sudare.privacy import Budget, Guarantee
from sudare.privacy.fact import Fact
from sudare.recipe.kind import Kind, Needs, PublicFile, ReleasedColumn, recipe_model
from sudare.tables.files import GEOJSON_LIMIT, MOST_WITH_BARS, OUTLINE, check_table, described, write
from sudare.tables.method import Method, cost_of_replacing, resolved
from sudare.tables.public_totals import PublicTotals
from sudare.tables.release import Release, budget_of, named_areas, promise, release, require_noise

if TYPE_CHECKING:
    from sudare.engines.examine import Examination
    from sudare.engines.foreign_sources import Long
    from sudare.language.catalogue import Words
    from sudare.render.outlines import Outline
    from sudare.render.sections import Section
    from sudare.tables.agreement import KnownTotals
    from sudare.tables.recipe import StrengthReference, TableRecipe

_PASSED: dict[str, bool] = {}
"""Recipes whose dry run passed in this process, the latest last."""
_MOST_PASSED = 64


@dataclass(frozen=True)
class TableKind(Kind["TableRecipe", Release]):
    """A recipe of kind "table"."""

    shape = recipe_model("sudare.tables.recipe", "TableRecipe")
    rehearsal_module: ClassVar[str] = "sudare.tables.rehearsal"

    @classmethod
    def of(cls, recipe: TableRecipe, folder: Path) -> Kind[TableRecipe, Any]:
        """The kind that computes in this process, or the one that computes in a cluster."""
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
        if self.known_totals is not None:
            if not self.method.uses_total:
                raise RecipeError("method {name} cannot keep public totals", name=self.method.name)
            self.known_totals.parts(self.domain)

    def dry_run(self) -> None:
        """The release of an empty table, without the declared totals, which an empty table contradicts.

        Done once for each recipe, unless a strength is read from a file, which may change.
        """
        asked = repr(self.recipe) if getattr(self.method, "strength", None) is None else None
        if asked in _PASSED:
            return
        domain, nothing = self.domain, np.empty(0, dtype=np.int64)
        per_cell = self.method.name == "laplace"
        if per_cell and (self.method.parameters["cut"] is not None or domain.size <= DENSE_LIMIT):
            from sudare.domain import Line

            domain = Domain(cell=Line(1))  # noise per cell is alike in every domain, and long to draw for a large one
        nobody = CountTable(domain, nothing, nothing, self.recipe.data.protected_unit(), bounded=True)
        self.release(nobody, (), seed=0)
        if asked is not None:
            _PASSED[asked] = True
            while len(_PASSED) > _MOST_PASSED:
                del _PASSED[next(iter(_PASSED))]

    def public_files(self) -> tuple[PublicFile, ...]:
        """The tables of the rehearsal and of a strength: cells and counts, comparable with private ones where these
        are such too."""
        rehearsal = self.recipe.rehearsal
        own, other = self.recipe.data.counts, rehearsal.counts
        counts = None if own is None or other is None else (own, other)
        long = None if rehearsal.long is None or other is None else rehearsal.long.build(other)
        files = [replace(file, rows=counts is not None, counts=counts, long=long) for file in super().public_files()]
        for name, part in (rehearsal.domain or {}).items():
            files += _polygons(f"rehearsal.domain.{name}", part)
        if (tuned := self.recipe.method.reference) is not None:
            both = None if own is None else (own, tuned.counts)
            files.append(
                PublicFile(
                    "method.reference.path",
                    tuned.path,
                    encoding=tuned.encoding,
                    delimiter=tuned.delimiter,
                    rows=both is not None,
                    counts=both,
                    confirmed=tuned.confirm_overlap,
                )
            )
        if (estimate := self.recipe.estimate) is not None:
            named = {"agree_with": estimate.agree_with, "areas": estimate.areas}
            files += [PublicFile(f"estimate.{key}", path, rows=False) for key, path in named.items() if path]
        for name, attribute in self.recipe.domain.items():
            files += _polygons(f"domain.{name}", attribute)
        if (outline := self.recipe.report.outline) is not None:  # it is published with the release
            files.append(PublicFile("report.outline", outline, rows=False))
        return tuple(files)

    @property
    def long(self) -> Long | None:
        """How a wide table is made long."""
        data = self.recipe.data
        return None if data.long is None or data.counts is None else data.long.build(data.counts)

    @cached_property
    def domain(self) -> Domain:
        """The declared domain."""
        return self.recipe.build_domain(self.folder)

    @cached_property
    def method(self) -> Method:
        """The declared method, or what is chosen for the declared domain."""
        declared = self.recipe.method.build(self._reference)
        return resolved(declared, self.domain, in_cluster=self.recipe.data.in_cluster)

    def _reference(self, choice: StrengthReference) -> CountTable:
        """The public table that a strength is tuned on."""
        from sudare.engines import read

        records = read(self.path(choice.path), encoding=choice.encoding, delimiter=choice.delimiter)
        return records.table(self.domain, columns=self.recipe.columns(), count=choice.counts, outside="drop")

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
    def known_totals(self) -> KnownTotals | None:
        """The totals that the release agrees with, where the recipe names some."""
        if self.recipe.estimate is None or not self.recipe.agrees:
            return None
        from sudare.tables.agreement_files import known_totals

        return known_totals(self.recipe.estimate, self.folder, self.domain)

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the release will promise: known before any private value is."""
        privacy = self.recipe.privacy
        unit, areas = self.recipe.data.protected_unit(), named_areas(len(self.recipe.public_totals), self.known_totals)
        public_total = privacy.total == "public" and self.method.uses_total
        replaced = cost_of_replacing(self.method, self.domain, self.budget)
        return self.with_test(
            promise(unit, self.budget, replaced, privacy.delta, public_total=public_total, areas=areas)
        )

    def with_test(self, guarantee: Guarantee) -> Guarantee:
        """The guarantee with the test that `refuse_dropped` makes, where the recipe declares it."""
        share = self.recipe.data.refuse_if_dropped
        if share is None:
            return guarantee
        return replace(guarantee, assumptions=(*guarantee.assumptions, Fact("refused", share=str(share))))

    @property
    def people(self) -> int | None:
        """How many people a rehearsal invents, where the recipe says it."""
        return self.recipe.rehearsal.people

    def release(
        self,
        table: CountTable,
        public_totals: Sequence[tuple[Any, int]] | None = None,
        *,
        agree_with: KnownTotals | None = None,
        source: Source | None = None,
        seed: int | None = None,
    ) -> Release:
        """Protect a table as the recipe says; with its public totals, unless others are given.

        Only what is published agrees with what is out: of stand-ins for the private table nothing is.
        """
        privacy = self.recipe.privacy
        made = release(
            table,
            self.method,
            privacy.epsilon,
            total=privacy.total,
            rho=privacy.rho,
            delta=privacy.delta,
            public_totals=self.public_totals if public_totals is None else public_totals,
            agree_with=agree_with,
            source=source,
            seed=seed,
        )
        return replace(made, guarantee=self.with_test(made.guarantee).booked())

    def gather(self, source: Source) -> CountTable:
        """The private table: bounded counts of the records, or the counts that are there."""
        self.refuse_dropped()
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
        if self.recipe.privacy.total == "public":  # checked here, before the ledger is charged
            PublicTotals.of(self.domain, self.public_totals).agree_with(self.domain, int(table.total))
        refuse_private = getattr(getattr(self.method, "strength", None), "refuse_private", None)
        if refuse_private is not None:
            refuse_private(table)  # for the same reason
        return table

    def require_columns(self) -> None:
        """See `Kind.require_columns`."""
        data, records = self.recipe.data, self.records()
        bounded = data.max_rows if data.unit is not None else 1
        records.question(self.domain, self.recipe.columns(), data.unit, bounded, data.outside)
        if data.counts is not None:
            records.selection([data.counts])

    def examine(self, *, values: bool = False) -> Examination:
        """See `Kind.examine`: by attribute and reason."""
        data = self.recipe.data
        shared: dict[str, Any] = {"columns": self.recipe.columns(), "outside": data.outside, "values": values}
        if data.counts is not None:
            return self.records().examine(self.domain, counts=data.counts, **shared)
        shared |= {"unit": data.unit, "max_rows": data.max_rows, "missing_unit": data.rows_without_unit()}
        return self.records().examine(self.domain, **shared)

    def refuse_dropped(self) -> None:
        """Refuse, where the recipe declares so, data of which more than a share of rows would be left out.

        This test uses private rows without noise: the guarantee says so.
        """
        share = self.recipe.data.refuse_if_dropped
        if share is None:
            return
        found = self.examine()
        if found.outside > share * found.rows or not found.fitting:
            raise InputError(
                "more rows lie outside the domain, or have no id, than refuse_if_dropped allows",
                value=str(share),
                hint="Nothing was spent. To see how many and why: sudare check RECIPE",
            )

    def needs(self, data: CountTable) -> Needs:
        """By a pilot: a small release of the same law."""
        from sudare.tables.needs import needs

        return needs(self, data)

    def protect(self, data: CountTable, source: Source) -> Release:
        """The release of the private table."""
        return self.release(data, agree_with=self.known_totals, source=source)

    def write(self, made: Release, folder: Path) -> dict[str, Path]:
        """The listed cells in each format asked for."""
        output = self.recipe.output
        paths = write(self._listed(made), self.recipe.formats, folder, output.byte_order_mark)
        if (outline := self._outline()) is not None:
            from sudare.render.drawing import View

            if (box := View.of(self.domain).box) is not None:
                paths["outline"] = folder / OUTLINE
                outline.write(paths["outline"], box)
        return paths

    def _outline(self) -> Outline | None:
        """The lines around maps that the recipe gives."""
        if self.recipe.report.outline is None:
            return None
        from sudare.render.outlines import Outline

        return Outline.of(self.path(self.recipe.report.outline))

    def _listed(self, made: Release) -> CountTable:
        """The released table, with error bars unless they are not asked for, or too many."""
        return made.table if self.recipe.output.bars and len(made.table) <= MOST_WITH_BARS else made.table.plain

    def released_columns(self, made: Release) -> tuple[ReleasedColumn, ...]:
        """Index, attributes, count and bars."""
        return described(self._listed(made))

    def headline(self, made: Release) -> Lines:
        """Cells and total."""
        return {
            "cells_listed": PageMessage("amount.of", part=len(made.table), whole=made.table.domain.size),
            "released_total": f"{made.table.total:,}",
        }

    def certified(self, made: Release) -> dict[str, Any]:
        """The domain, and what the release agrees with."""
        domain = {"domain": made.table.domain.to_json()}
        if self.known_totals is None:
            return domain
        return domain | {
            "agrees_with": {
                **self.known_totals.origin,
                "areas": len(self.known_totals.areas),
                "exact": self.known_totals.exact,
            }
        }

    def left_out(self, made: Release) -> tuple[PageMessage, ...]:
        """GeoJSON and error bars, where they would be too long."""
        output, cells = self.recipe.output, len(made.table)
        left_out = []
        if "geojson" in self.recipe.formats and cells > GEOJSON_LIMIT:
            left_out.append(PageMessage("left_out.geojson", cells=GEOJSON_LIMIT))
        if output.bars and cells > MOST_WITH_BARS:
            left_out.append(PageMessage("left_out.bars", cells=MOST_WITH_BARS))
        return tuple(left_out)

    def internal_sections(self, data: CountTable, made: Release, words: Words) -> list[Section]:
        """The true table beside the released one."""
        from sudare.tables.comparison import comparison_sections

        method = words.label("method_name", made.method.name)
        return comparison_sections(data, made.table, words, method=method, outline=self._outline())

    check = staticmethod(check_table)

    @staticmethod
    def opened(folder: Path, certificate: dict[str, Any]) -> Release:
        """Table, guarantee, method and budget: error bars need no more."""
        from sudare.tables.pages import read_release

        return read_release(folder, certificate)

    @staticmethod
    def public_sections(folder: Path, certificate: dict[str, Any], words: Words) -> list[Section]:
        """Cells and total, the map, error bars, the method."""
        from sudare.tables.pages import public_sections

        return public_sections(folder, certificate, words)


def _polygons(name: str, attribute: Any) -> list[PublicFile]:
    """The public files of an attribute, polygons and codes: no rows of people."""
    paths = {key: getattr(attribute, key, None) for key in getattr(attribute, "paths", ())}
    return [PublicFile(f"{name}.{key}", path, rows=False) for key, path in paths.items() if isinstance(path, str)]
