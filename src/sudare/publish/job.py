"""A recipe made ready: its parts built and checked, its paths resolved, the private file not yet touched."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from sudare.domain import CountTable, Domain
from sudare.engines import read
from sudare.errors import InputError
from sudare.noise import Source, secret
from sudare.privacy import Budget, Cap, Guarantee, Ledger
from sudare.publish.recipe import Recipe, load
from sudare.tables import Method
from sudare.tables.release import Release, budget_of, promise, release, require_noise


@dataclass(frozen=True)
class Job:
    """A recipe and the folder its paths are relative to."""

    recipe: Recipe
    folder: Path

    @classmethod
    def open(cls, path: str | Path) -> Job:
        """Read a recipe and build every part once, so that mistakes show before anything is touched."""
        job = cls(load(path), Path(path).resolve().parent)
        _ = job.domain, job.guarantee, job.cap
        require_noise(job.method, job.budget)
        return job

    def path(self, name: str) -> Path:
        """A path of the recipe."""
        return self.folder / name

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

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the release will promise: known before any private value is."""
        public_total = self.recipe.privacy.total == "public" and self.method.uses_total
        return promise(self.recipe.data.protected_unit(), self.budget, public_total, self.recipe.privacy.delta)

    @cached_property
    def cap(self) -> Cap | None:
        """The cap to set where the data set has none yet."""
        cap = self.recipe.ledger.cap
        return None if cap is None else Cap.of(**cap.model_dump(exclude_none=True))

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of the recipe."""
        return Ledger(self.path(self.recipe.ledger.path))

    @property
    def recipe_sha256(self) -> str:
        """A hash of what the recipe says, whatever its spacing and comments."""
        return hashlib.sha256(self.recipe.model_dump_json(by_alias=True).encode()).hexdigest()

    def release(self, table: CountTable, *, source: Source | None = None, seed: int | None = None) -> Release:
        """Protect a table as the recipe says."""
        privacy = self.recipe.privacy
        return release(
            table,
            self.method,
            privacy.epsilon,
            total=privacy.total,
            rho=privacy.rho,
            delta=privacy.delta,
            source=source,
            seed=seed,
        )

    def count(self, source: Source) -> CountTable:
        """The private table: bounded counts of the records, or the counts that are there."""
        data = self.recipe.data
        origin: object = self.path(data.path)
        records = read((origin, data.table) if data.table else origin, encoding=data.encoding)
        unit = data.protected_unit()
        if data.counts is not None:
            if data.unit is not None:
                raise InputError("rows are either cells with counts or records with a unit, not both")
            return records.table(
                self.domain, columns=self.recipe.columns(), count=data.counts, unit=unit, outside=data.outside
            )
        table = records.count(
            self.domain,
            columns=self.recipe.columns(),
            unit=data.unit,
            max_rows=data.max_rows,
            outside=data.outside,
            key=secret(source, "choice of rows").to_bytes(16, "big"),
        )
        return replace(table, unit=unit)
