"""What `verify` checks in the files of perturbed records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.errors import SudareError, VerificationError
from sudare.reconstruct.noises import LaplaceNoise, Noise, RetentionNoise, SquareWaveNoise, noise_from_json
from sudare.reconstruct.perturb import GRID
from sudare.words import PageMessage

if TYPE_CHECKING:
    import pyarrow as pa

FILE_OF = {"parquet": "records.parquet", "csv": "records.csv"}


def check_perturbation(folder: Path, certificate: dict[str, Any]) -> list[PageMessage]:
    """Every file has the certified columns and rows, and values that the stated noise can give."""
    try:
        stated = certificate["perturbation"]
        noises = {str(name): noise_from_json(facts) for name, facts in stated["columns"].items()}
        records = int(stated["records"])
    except (SudareError, AttributeError, KeyError, TypeError, ValueError):
        raise VerificationError("the certificate states no valid perturbation") from None
    checks = []
    for form, name in FILE_OF.items():
        if name not in certificate["files"]:
            continue
        rows = _read(folder / name, form, noises)
        if rows.column_names != list(noises) or rows.num_rows != records:
            raise VerificationError("the file has other columns or rows than the certified ones", value=name)
        for column, noise in noises.items():
            if not _possible(rows.column(column), noise):
                raise VerificationError("column {column} holds what its noise cannot give", value=name, column=column)
        checks.append(PageMessage("verified.grid", file=name, rows=records))
    return checks


def _possible(column: pa.ChunkedArray, noise: Noise) -> bool:
    if column.null_count:
        return False
    if isinstance(noise, RetentionNoise):
        return bool((noise.places(column.to_pylist()) >= 0).all())
    values = column.to_numpy().astype(np.float64)
    if isinstance(noise, SquareWaveNoise):
        report = (values - noise.bounds[0]) / noise.step - 0.5 + noise.law.reach
        inside = (report > -0.5) & (report < noise.law.outputs - 0.5)
        return bool(inside.all() and np.allclose(report, np.rint(report), rtol=0, atol=1e-3))
    assert isinstance(noise, LaplaceNoise)  # noqa: S101 - the only other kind
    if noise.bounds is None:
        return bool(np.isfinite(values).all())
    steps = (values - noise.bounds[0]) / (noise.bounds[1] - noise.bounds[0]) * GRID
    # A file in decimals has 15 digits, of which the grid needs about 6 more than the value has.
    return bool(np.isfinite(values).all() and np.allclose(steps, np.rint(steps), rtol=1e-9, atol=1e-3))


def _read(path: Path, form: str, noises: dict[str, Noise]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    try:
        if form == "parquet":
            return pq.read_table(path)
        words = [
            name
            for name, noise in noises.items()
            if isinstance(noise, RetentionNoise) and isinstance(noise.categories[0], str)
        ]
        return csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=dict.fromkeys(words, pa.string())))
    except (pa.ArrowException, OSError):
        raise VerificationError("a file of the release cannot be read", value=path.name) from None
