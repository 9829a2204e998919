"""Weights of a public file, from a recipe: measured, fitted, written and checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.engines import Records, read
from sudare.errors import InputError, MissingColumnError, did_you_mean
from sudare.noise import Source
from sudare.privacy import Guarantee
from sudare.publish.kind import FIXED_DISK, Kind, Needs, Outlook, PublicFile, row_size
from sudare.publish.recipe import Recipe
from sudare.publish.weights_check import check_weights, read_weighting
from sudare.publish.weights_recipe import WeightsRecipe
from sudare.reweight import Weighting
from sudare.reweight.checks import checked_public
from sudare.reweight.comparison import FILE_OF, MODEL, WEIGHT
from sudare.reweight.request import FitParameters, FitRequest
from sudare.reweight.rows import Rows
from sudare.reweight.saved import to_json
from sudare.reweight.space import Numeric, numbers
from sudare.words import Lines, OnProgress, PageMessage

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.report import Section
    from sudare.words import Words

_TRIED = 4096
_MODEL_ON_DISK = 1 << 16


@dataclass(frozen=True)
class WeightsJob(Kind[WeightsRecipe, Weighting]):
    """A recipe of kind "weights"."""

    shape: ClassVar[type[Recipe]] = WeightsRecipe

    @cached_property
    def request(self) -> FitRequest:
        """What the recipe asks `sudare.reweight.fit` for."""
        asked, data = self.recipe.weights, self.recipe.data
        pairs: Any = asked.pairs if isinstance(asked.pairs, str) else list(asked.pairs)
        parameters = FitParameters(
            centres=asked.centres,
            basis="kernel" if asked.centres != "public" else asked.basis,
            number=asked.number,
            width=None if asked.width is None else float(asked.width),
            pairs=pairs,
            estimator=asked.estimator,
            regularisation=None if asked.regularisation is None else float(asked.regularisation),
            delta=asked.delta,
            adjacency=asked.adjacency,
            size=asked.size,
            unit=data.unit,
            max_rows=None if asked.rows == "averaged" or data.unit is None else data.max_rows,
            split=asked.split,
            accept_raw_records=self.recipe.accept_no_guarantee,
            missing_unit=data.rows_without_unit(),
        )
        return FitRequest.of(self.recipe.space(), asked.epsilon, parameters, data.protected_unit())

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the release will promise: known before any private value is."""
        return self.request.guarantee

    def public_files(self) -> tuple[PublicFile, ...]:
        """Also the file whose rows are published with weights."""
        file = self.recipe.public
        public = PublicFile(
            "public.path",
            file.path,
            file.table,
            file.encoding,
            file.delimiter,
            used=tuple(self.recipe.columns),
            confirmed=file.confirm_overlap,
        )
        return (public, *super().public_files())

    @cached_property
    def public(self) -> dict[str, NDArray[Any]]:
        """All columns of the public file; a declared number is one also where the file has no types.

        What the fit would refuse about them is refused here.
        """
        records = self._records(self.recipe.public)
        if WEIGHT in records.engine.columns:
            raise InputError("the public file has a column of that name already", value=WEIGHT)
        space, known = self.request.space, list(records.engine.columns)
        for name in space.names:
            if name not in known:
                hint = did_you_mean(name, records.shown_names)
                raise MissingColumnError("the public file has no such column", value=name, hint=hint)
        columns = records.values(known, as_written=True)
        for attribute in space.attributes:
            if isinstance(attribute, Numeric):
                columns[attribute.name] = numbers(columns[attribute.name], attribute.name)
        checked_public(space, space.encode({name: columns[name] for name in space.names}))
        return columns

    def dry_run(self) -> None:
        """Weights as if the public rows were the private ones too, as many as there are or as centres are asked for."""
        space, asked = self.request.space, self.recipe.weights
        codes = space.encode({name: self.public[name] for name in space.names})
        rows = np.resize(codes, (max(len(codes), asked.number or 0), codes.shape[1]))
        person = np.arange(len(rows)) if asked.rows == "averaged" else None
        self.request.meet([Rows(rows, person)], self.public, Source.from_seed(0))

    def gather(self, source: Source) -> list[Rows]:
        """The private records as codes of the declared columns."""
        return list(self.request.read(self.records(), source))

    def needs(self, data: list[Rows]) -> Needs:  # noqa: ARG002 - the public rows tell
        """The disk, from public rows. Memory is not estimated: `dry_run` made a release from as many public rows."""
        rows = len(next(iter(self.public.values())))
        some = {name: column[:_TRIED] for name, column in self.public.items()}
        size = row_size(_frame(some, np.random.default_rng(0).random(min(rows, _TRIED))), self.recipe.output.formats)
        return Needs(disk=FIXED_DISK + _MODEL_ON_DISK + int(1.2 * rows * size))

    def protect(self, data: list[Rows], source: Source) -> Weighting:
        """The weights."""
        return self.request.meet(data, self.public, source)

    def write(self, made: Weighting, folder: Path) -> dict[str, Path]:
        """The public rows with their weights in each format asked for, and the model."""
        import pyarrow.csv as csv
        import pyarrow.parquet as pq

        table = _frame(self.public, made.weights)
        paths: dict[str, Path] = {name: folder / FILE_OF[name] for name in self.recipe.output.formats}
        if "parquet" in paths:
            pq.write_table(table, paths["parquet"], compression="zstd")
        if "csv" in paths:
            csv.write_csv(table, paths["csv"])
        paths["model"] = folder / MODEL
        paths["model"].write_text(json.dumps(to_json(made)) + "\n", encoding="utf-8", newline="\n")
        return paths

    def headline(self, made: Weighting) -> Lines:
        """Rows, how many they are worth, and warnings."""
        from sudare.publish.weights_pages import headline

        return headline(made.summary)

    def certified(self, made: Weighting) -> dict[str, Any]:
        """What `verify` holds against the bytes."""
        return {"weights": {"columns": list(self.public), "declared": made.model.space.to_json()}}

    def internal_sections(self, data: list[Rows], made: Weighting, words: Words) -> list[Section]:
        """The same means beside those of the private records."""
        from sudare.publish.weights_pages import internal_sections

        return internal_sections(data, made, words)

    @property
    def people(self) -> int | None:
        """The declared number of records."""
        return self.recipe.weights.size

    def outlook(self) -> Outlook:
        """Columns, features, noise, and the errors of one rehearsal."""
        from sudare.publish.weights_rehearsal import outlook

        return outlook(self)

    def rehearse(self, seed: int, progress: OnProgress) -> Any:
        """Seeded weightings for a stand-in of the private records."""
        from sudare.publish.weights_rehearsal import rehearse

        return rehearse(self, seed, progress)

    @staticmethod
    def check(folder: Path, certificate: dict[str, Any]) -> list[PageMessage]:
        """Weights are numbers >= 0 and those that the model gives."""
        return check_weights(folder, certificate)

    @staticmethod
    def public_sections(folder: Path, certificate: dict[str, Any], words: Words) -> list[Section]:
        """What the weights are worth, and means with intervals."""
        from sudare.publish.weights_pages import public_sections

        return public_sections(read_weighting(folder, certificate), certificate["summary"], words)

    def _records(self, file: Any) -> Records:
        origin: object = self.path(file.path)
        return read((origin, file.table) if file.table else origin, encoding=file.encoding, delimiter=file.delimiter)


def _frame(public: dict[str, NDArray[Any]], weights: NDArray[np.float64]) -> pa.Table:
    """The public rows with their weights."""
    import pyarrow as pa

    return pa.table({**{name: _plain(column) for name, column in public.items()}, WEIGHT: weights})


def _plain(column: NDArray[Any]) -> NDArray[Any] | list[Any]:
    """Whole numbers as whole numbers, text as text."""
    if column.dtype.kind == "f" and np.isfinite(column).all() and (column == np.rint(column)).all():
        return column.astype(np.int64) if np.abs(column).max(initial=0) < 2**53 else column
    return column.tolist() if column.dtype.kind == "O" else column
