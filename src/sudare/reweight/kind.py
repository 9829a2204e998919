"""The kind "weights": weights of a public file from a recipe are measured, fitted, written, and verified.

`verify` checks them from the published bytes alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.engines import Records, read
from sudare.errors import InputError, MissingColumnError, SudareError, VerificationError, did_you_mean
from sudare.language.messages import Lines, PageMessage
from sudare.noise import Source
from sudare.privacy import Guarantee
from sudare.recipe.frames import read_frame, row_size, write_frame
from sudare.recipe.kind import FIXED_DISK, Kind, Needs, PublicFile, ReleasedColumn
from sudare.recipe.model import Recipe
from sudare.reweight import Weighting
from sudare.reweight.choice import FitParameters
from sudare.reweight.comparison import FILE_OF, MODEL, WEIGHT
from sudare.reweight.fit import FitRequest
from sudare.reweight.recipe import WeightsRecipe
from sudare.reweight.rows import Rows, checked_public
from sudare.reweight.space import Numeric, numbers
from sudare.reweight.weighting import from_json, to_json

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.language.catalogue import Words
    from sudare.render.sections import Section


_NEAR = 1e-6


def check_weights(folder: Path, certificate: dict[str, Any]) -> list[PageMessage]:
    """Every file has the certified columns and rows, with weights >= 0 that are the ones the model gives."""
    try:
        stated = certificate["weights"]
        columns, rows = list(map(str, stated["columns"])), int(certificate["summary"]["public_rows"])
        effective = float(certificate["summary"]["effective_sample_size"])
        declared = [str(column["name"]) for column in stated["declared"]]
    except (KeyError, TypeError, ValueError):
        raise VerificationError("the certificate states no valid weights") from None
    model = _model(folder / MODEL, certificate)
    checks = []
    for form, name in FILE_OF.items():
        if name not in certificate["files"]:
            continue
        table = read_frame(folder / name, form)
        if table.column_names != [*columns, WEIGHT]:
            raise VerificationError("the weighted file has other columns than the certified ones", value=name)
        if table.num_rows != rows:
            raise VerificationError("the weighted file has another number of rows", value=name, allowed=[rows])
        weights = _weights(table, name)
        if abs(weights.sum() ** 2 / (weights**2).sum() - effective) > _NEAR * effective:
            raise VerificationError("the effective sample size is not the certified one", value=name)
        try:
            again = from_json(model, {column: _array(table, column) for column in declared}).weights
        except SudareError as problem:
            raise VerificationError(
                "the model does not fit the weighted file: {what}", value=name, what=problem.what
            ) from None
        if not np.allclose(again, weights, rtol=_NEAR, atol=_NEAR):
            raise VerificationError("weights differ from those of the model", value=name)
        checks.append(PageMessage("verified.weights", file=name, rows=rows))
    return checks


def read_weighting(folder: Path, certificate: dict[str, Any]) -> Weighting:
    """The weighting of a release, from its model and the first of its files of rows."""
    form, name = next((form, name) for form, name in FILE_OF.items() if name in certificate["files"])
    table, model = read_frame(folder / name, form), _model(folder / MODEL, certificate)
    return from_json(model, {str(column["name"]): _array(table, column["name"]) for column in model["columns"]})


def _model(path: Path, certificate: dict[str, Any]) -> dict[str, Any]:
    if path.name not in certificate["files"]:
        raise VerificationError("the release has no model", value=path.name)
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise VerificationError("the model cannot be read", value=path.name) from None
    return found


def _weights(table: pa.Table, name: str) -> NDArray[np.float64]:
    try:
        weights = _array(table, WEIGHT).astype(np.float64)
    except (TypeError, ValueError):
        raise VerificationError("weights are not numbers", value=name) from None
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise VerificationError("weights are not numbers >= 0", value=name)
    return weights


def _array(table: pa.Table, name: str) -> NDArray[Any]:
    return np.asarray(table.column(name).to_numpy(zero_copy_only=False))


_TRIED = 4096
_MODEL_ON_DISK = 1 << 16


@dataclass(frozen=True)
class WeightsKind(Kind[WeightsRecipe, Weighting]):
    """A recipe of kind "weights"."""

    shape: ClassVar[type[Recipe]] = WeightsRecipe
    rehearsal_module: ClassVar[str] = "sudare.reweight.pages"

    @cached_property
    def request(self) -> FitRequest:
        """What the recipe asks `sudare.reweight.fit` for."""
        asked, data = self.recipe.weights, self.recipe.data
        parameters = FitParameters(
            **asked.model_dump(exclude={"epsilon", "rows", "basis", "width", "regularisation"}),
            basis="kernel" if asked.centres != "public" else asked.basis,
            width=None if asked.width is None else float(asked.width),
            regularisation=None if asked.regularisation is None else float(asked.regularisation),
            unit=data.unit,
            max_rows=None if asked.rows == "averaged" or data.unit is None else data.max_rows,
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
        return self.request.meet(data, self.public, source)

    def write(self, made: Weighting, folder: Path) -> dict[str, Path]:
        """The public rows with their weights in each format asked for, and the model."""
        paths = write_frame(_frame(self.public, made.weights), folder, FILE_OF, self.recipe.output.formats)
        paths["model"] = folder / MODEL
        paths["model"].write_text(json.dumps(to_json(made)) + "\n", encoding="utf-8", newline="\n")
        return paths

    def headline(self, made: Weighting) -> Lines:
        """Rows, how many they are worth, and warnings."""
        from sudare.reweight.pages import headline

        return headline(made.summary)

    def certified(self, made: Weighting) -> dict[str, Any]:
        """What `verify` compares with the bytes."""
        return {"weights": {"columns": list(self.public), "declared": made.model.space.to_json()}}

    def released_columns(self, made: Weighting) -> tuple[ReleasedColumn, ...]:  # noqa: ARG002 - the public file tells
        """The public columns, and the weight."""
        types = {"i": "integer", "f": "number", "b": "boolean"}
        frame = {name: np.asarray(_plain(column)).dtype.kind for name, column in self.public.items()}
        columns = [
            ReleasedColumn(name, types.get(kind, "string"), PageMessage("column.public", name=name))
            for name, kind in frame.items()
        ]
        return (*columns, ReleasedColumn(WEIGHT, "number", PageMessage("column.weight")))

    def internal_sections(self, data: list[Rows], made: Weighting, words: Words) -> list[Section]:
        """The same means beside those of the private records."""
        from sudare.reweight.pages import internal_sections

        return internal_sections(data, made, words)

    @property
    def people(self) -> int | None:
        return self.recipe.weights.size

    check = staticmethod(check_weights)

    opened = staticmethod(read_weighting)

    @staticmethod
    def public_sections(folder: Path, certificate: dict[str, Any], words: Words) -> list[Section]:
        """What the weights are worth, and means with intervals."""
        from sudare.reweight.pages import public_sections

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
