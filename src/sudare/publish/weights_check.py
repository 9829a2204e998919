"""What `verify` checks in the files of a release of weights: from the published bytes alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import SudareError, VerificationError
from sudare.reweight import Weighting
from sudare.reweight.comparison import FILE_OF, MODEL, WEIGHT
from sudare.reweight.saved import from_json
from sudare.words import PageMessage

if TYPE_CHECKING:
    import pyarrow as pa

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
        table = _read(folder / name, form)
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
    table, model = _read(folder / name, form), _model(folder / MODEL, certificate)
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


def _read(path: Path, form: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path) if form == "parquet" else csv.read_csv(path)
    except (pa.ArrowException, OSError):
        raise VerificationError("a file of the weights cannot be read", value=path.name) from None
