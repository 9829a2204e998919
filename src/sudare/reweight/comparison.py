"""`compare`: the answers of a weighted public data set, beside those of the private records for who holds them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.errors import InputError, ParameterError, either
from sudare.language.messages import PageMessage
from sudare.privacy import Fact
from sudare.reweight.space import numbers
from sudare.reweight.weighting import from_json

MODEL = "weighting.json"
FILE_OF = {"parquet": "weighted.parquet", "csv": "weighted.csv"}
WEIGHT = "weight"
_MOST_CELLS = 1000


@dataclass(frozen=True)
class QueryRow:
    """One query: the weighted answer with its interval where a model was at hand, the unweighted, and the private.

    ``flag`` is that of `Answers`, empty where the public rows support the answer.
    """

    query: PageMessage
    weighted: float
    low: float | None
    high: float | None
    unweighted: float
    private: float | None
    flag: str = ""


@dataclass(frozen=True)
class Comparison:
    """Answers side by side; ``internal`` where private answers are among them, which are not protected."""

    rows: tuple[QueryRow, ...]
    effective_sample_size: float
    public_rows: int
    warnings: tuple[Fact | PageMessage, ...]
    level: float

    @property
    def internal(self) -> bool:
        """Whether this holds private answers and must not be published."""
        return any(row.private is not None for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        return {
            "internal": self.internal,
            "public_rows": self.public_rows,
            "effective_sample_size": self.effective_sample_size,
            "level": self.level,
            "warnings": [str(warning) for warning in self.warnings],
            "answers": [{**vars(row), "query": str(row.query)} for row in self.rows],
        }


def compare(
    weighted: str | Path,
    *,
    means: Sequence[str] = (),
    shares: Sequence[str] = (),
    private: Any = None,
    weight: str = WEIGHT,
    level: float = 0.9,
) -> Comparison:
    """Answers of a weighted public file: ``means`` of columns, ``shares`` of their values ("sex", or "sex,income").

    ``weighted`` is the folder of a release of weights, or any file with a column ``weight``. With the model of a
    release beside the file, answers have intervals. ``private`` (a file, a frame, records) adds the true answers: for
    internal use, since these are not protected.
    """
    if not means and not shares:
        raise ParameterError("there is nothing to compare", hint="Name columns for means or shares.")
    path, model = _found(Path(weighted))
    wanted = list(dict.fromkeys([*means, *(name for share in shares for name in share.split(","))]))
    declared = [] if model is None else [column["name"] for column in model.get("columns", [])]
    columns = _columns(path, list(dict.fromkeys([*wanted, *declared, weight])))
    weights = numbers(columns[weight], weight)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise InputError("the weights are not numbers >= 0", value=weight)
    names, functions, true = _queries(means, shares, columns, None if private is None else _columns(private, wanted))
    normalised = weights / weights.sum()
    answers, plain = normalised @ functions, functions.mean(axis=0)
    low = high = None
    flags = ("",) * len(names)
    warnings: tuple[Fact | PageMessage, ...] = ()
    if model is not None:
        made = from_json(model, columns)
        found = made.mean(functions, level, labels=names)
        # The weights of a file may differ from the model's in the last digits: the interval holds the answer anyway.
        low, high, flags = np.minimum(found.low, answers), np.maximum(found.high, answers), found.flags
        warnings = (*made.warnings, *found.notes)
    rows = tuple(
        QueryRow(
            name,
            float(answers[k]),
            None if low is None else float(low[k]),
            None if high is None else float(high[k]),
            float(plain[k]),
            None if true is None else float(true[k]),
            flags[k],
        )
        for k, name in enumerate(names)
    )
    return Comparison(rows, float(1 / (normalised**2).sum()), len(weights), warnings, level)


def _found(path: Path) -> tuple[Path, dict[str, Any] | None]:
    """The file of weighted rows, and the saved model beside it if there is one."""
    folder = path if path.is_dir() else path.parent
    file = path
    if path.is_dir():
        found = [folder / name for name in FILE_OF.values() if (folder / name).exists()]
        if not found:
            raise InputError("the folder holds no weighted file", value=str(path), allowed=either(FILE_OF.values()))
        file = found[0]
    saved = folder / MODEL
    if file.name not in FILE_OF.values() or not saved.exists():
        return file, None
    try:
        return file, json.loads(saved.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        raise InputError("the saved weighting cannot be read", value=str(saved)) from None


def _columns(data: Any, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    from sudare.engines import Records, read

    records = data if isinstance(data, Records) else read(data)
    return records.values(list(names))


def _queries(
    means: Sequence[str],
    shares: Sequence[str],
    public: Mapping[str, NDArray[Any]],
    private: Mapping[str, NDArray[Any]] | None,
) -> tuple[list[PageMessage], Floats, Floats | None]:
    """Names of the queries, their values at the public rows (rows, q), and the private answers (q,)."""
    names, functions, true = [], [], []
    for name in means:
        names.append(PageMessage("weights.mean_of", column=name))
        functions.append(numbers(public[name], name))
        true.append(np.nan if private is None else float(numbers(private[name], name).mean()))
    for share in shares:
        parts = share.split(",")
        labels = {name: _labels(public[name]) for name in parts}
        their = {} if private is None else {name: _labels(private[name], labels[name]) for name in parts}
        values = [np.unique(labels[name]) for name in parts]
        if np.prod([len(found) for found in values]) > _MOST_CELLS:
            raise ParameterError(
                "there are too many combinations of values",
                value=share,
                allowed="at most {most_cells:,}",
                most_cells=_MOST_CELLS,
            )
        for combination in product(*values):
            pairs = list(zip(parts, combination, strict=True))
            cell = ", ".join(f"{name} {value}" for name, value in pairs)
            names.append(PageMessage("weights.share_of", column=cell))
            functions.append(_where(labels, pairs).astype(np.float64))
            true.append(np.nan if private is None else float(_where(their, pairs).mean()))
    return names, np.stack(functions, axis=1), None if private is None else np.array(true)


def _labels(column: NDArray[Any], known: NDArray[Any] | None = None) -> NDArray[Any]:
    """The values of a column as text (rows,), a whole number without a point: files write 40 as 40, 40.0 or a double.

    Text that is none of the ``known`` labels is read as a number, where that is one of them.

    >>> _labels(np.array([40.0, 0.5])).tolist(), _labels(np.array(["01", "40.0"]), np.array(["40", "01"])).tolist()
    (['40', '0.5'], ['01', '40'])
    """
    found, place = np.unique(column.astype(str), return_inverse=True)
    allowed = None if known is None else set(known.tolist())
    return np.array([_label(text, column.dtype.kind == "f", allowed) for text in found.tolist()])[place.reshape(-1)]


def _label(text: str, is_number: bool, known: set[str] | None) -> str:
    whole = text.removesuffix(".0") if is_number else text
    if is_number or known is None or text in known:
        return whole
    try:
        number = str(float(text)).removesuffix(".0")
    except ValueError:
        return text
    return number if number in known else text


def _where(columns: Mapping[str, NDArray[Any]], pairs: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    return np.asarray(np.logical_and.reduce([columns[name] == value for name, value in pairs]))
