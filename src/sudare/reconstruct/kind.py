"""The kind "perturbation": records from a recipe are read, randomised, shuffled, written, and verified."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import Context
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.domain.text import numbers as read_numbers
from sudare.engines import Records
from sudare.errors import InputError, SudareError, VerificationError
from sudare.language.messages import Lines, PageMessage, lines
from sudare.noise import Source, secret
from sudare.privacy import Guarantee
from sudare.recipe.frames import read_frame, row_size, write_frame
from sudare.recipe.kind import FIXED_DISK, FIXED_MEMORY, Kind, Needs, ReleasedColumn
from sudare.recipe.model import Recipe
from sudare.reconstruct.linkage import linked_k
from sudare.reconstruct.noises import LaplaceNoise, Noise, RetentionNoise, SquareWaveNoise, noise_from_json, table_of
from sudare.reconstruct.perturb import GRID, Perturbed, PerturbParameters, perturb, promise, refuse_unreadable, row_cost
from sudare.reconstruct.recipe import PerturbationRecipe

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.language.catalogue import Words
    from sudare.render.sections import Section


FILE_OF = {"parquet": "records.parquet", "csv": "records.csv"}


def check_perturbation(folder: Path, certificate: dict[str, Any]) -> list[PageMessage]:
    """Every file has the certified columns and rows, and values that the stated noise can give."""
    try:
        stated = certificate["perturbation"]
        noises = {str(name): noise_from_json(facts) for name, facts in stated["columns"].items()}
        records = int(stated["records"])
    except (SudareError, AttributeError, KeyError, TypeError, ValueError):
        raise VerificationError("the certificate states no valid perturbation") from None
    words = [name for name, noise in noises.items() if _has_words(noise)]
    checks = []
    for form, name in FILE_OF.items():
        if name not in certificate["files"]:
            continue
        rows = read_frame(folder / name, form, text=words)
        if rows.column_names != list(noises) or rows.num_rows != records:
            raise VerificationError("the file has other columns or rows than the certified ones", value=name)
        for column, noise in noises.items():
            if not _possible(rows.column(column), noise):
                raise VerificationError(
                    "column {column} holds a value that its noise cannot produce", value=name, column=column
                )
        checks.append(PageMessage("verified.grid", file=name, rows=records))
    return checks


def _has_words(noise: Noise) -> bool:
    return isinstance(noise, RetentionNoise) and isinstance(noise.categories[0], str)


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


_TRIED = 4096
_ROW, _NUMBER, _CATEGORY = 44, 18, 8
"""Bytes of memory of a row while it is perturbed and written, and of each of its columns of numbers and categories."""
Columns = dict[str, Any]
"""Columns by name, each one value per row."""


@dataclass(frozen=True)
class PerturbationKind(Kind[PerturbationRecipe, Perturbed]):
    """A recipe of kind "perturbation"."""

    shape: ClassVar[type[Recipe]] = PerturbationRecipe
    rehearsal_module: ClassVar[str] = "sudare.reconstruct.pages"

    @cached_property
    def parameters(self) -> PerturbParameters:
        asked = self.recipe.perturbation
        return PerturbParameters(
            categories=self.recipe.categories or None,
            k=None if asked.k is None else float(asked.k),
            epsilon=asked.epsilon,
            noise=asked.noise,
            shares=self.recipe.shares,
            outside=asked.outside,
        )

    @cached_property
    def row_epsilon(self) -> Fraction:
        asked, unit = self.parameters, self.recipe.data.protected_unit()
        return row_cost(asked.k, asked.epsilon, self.recipe.perturbation.records or 0, unit)

    @property
    def epsilon(self) -> Fraction:
        """What all rows of a person spend together."""
        return self.row_epsilon * self.recipe.data.protected_unit().max_rows

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the release will promise: known before any private value is."""
        return promise(self.row_epsilon, self.recipe.data.protected_unit(), self.parameters.k)

    def prepare(self) -> None:
        """Also perturb a row at the first bound or category of each column, at its cost, and describe the noise."""
        super().prepare()
        first = {name: [ends[0]] for name, ends in (self.recipe.bounds | self.recipe.categories).items()}
        columns = {name: first[name] for name in self.recipe.columns}
        self.headline(self.perturb(columns, Source.from_seed(0), epsilon=self.epsilon))

    def dry_run(self) -> None:
        """Nothing more is to be seen: all rows are perturbed like the one of `prepare`."""

    def perturb(self, columns: Columns, source: Source, epsilon: Fraction | None = None) -> Perturbed:
        """Every row randomised as the recipe says, at its cost or another one."""
        recipe = self.recipe
        asked = self.parameters if epsilon is None else replace(self.parameters, k=None, epsilon=epsilon)
        unit = recipe.data.protected_unit()
        made = perturb(columns, recipe.bounds or None, parameters=asked, unit=unit, source=source)
        return replace(made, guarantee=made.guarantee.booked())

    def read_columns(self, records: Records, **bound: Any) -> Columns:
        """The declared columns; numbers as numbers, also where a file has no types."""
        found = records.values(list(self.recipe.columns), **bound)
        words = [name for name, listed in self.recipe.categories.items() if isinstance(listed[0], str)]
        return {name: column if name in words else _numbers(column, name) for name, column in found.items()}

    def gather(self, source: Source) -> Columns:
        """The private columns, with at most as many rows of each person as are charged."""
        data = self.recipe.data
        bound: dict[str, Any] = {}
        if data.unit is not None:
            key = secret(source, "choice of rows").to_bytes(16, "big")
            missing = data.rows_without_unit()
            bound = {"unit": data.unit, "max_rows": data.max_rows, "key": key, "missing_unit": missing}
        found = self.read_columns(self.records(), **bound)
        declared = self.recipe.perturbation.records
        if declared is not None and len(next(iter(found.values()))) != declared:
            raise InputError(
                "the file has another number of rows than the recipe declares",
                allowed="records = {declared}",
                declared=declared,
            )
        recipe, outside = self.recipe, self.recipe.perturbation.outside
        refuse_unreadable(found, recipe.bounds or None, categories=recipe.categories or None, outside=outside)
        return found

    def needs(self, data: Columns) -> Needs:
        """From the number of rows; some of them, perturbed by seeded noise, say how long one is in a file."""
        rows = len(next(iter(data.values())))
        some = {name: column[:: rows // _TRIED + 1] for name, column in data.items()}
        return self.needs_of(rows, Context().run(self.perturb, some, Source.from_seed(0), epsilon=self.epsilon))

    def needs_of(self, rows: int, like: Perturbed) -> Needs:
        """The needs of ``rows`` rows that are as long as those of another perturbation."""
        numbers, categories = len(self.recipe.bounds), len(self.recipe.categories)
        memory = rows * (_ROW + numbers * _NUMBER + categories * _CATEGORY)
        disk = int(1.2 * rows * row_size(_frame(like), self.recipe.output.formats))
        return Needs(FIXED_MEMORY + memory, FIXED_DISK + disk)

    def protect(self, data: Columns, source: Source) -> Perturbed:
        return self.perturb(data, source)

    def write(self, made: Perturbed, folder: Path) -> dict[str, Path]:
        return write_frame(_frame(made), folder, FILE_OF, self.recipe.output.formats)

    def headline(self, made: Perturbed) -> Lines:
        return _headline(made.rows, made.row_epsilon, made.k, made.channel)

    def certified(self, made: Perturbed) -> dict[str, Any]:
        """What an analyst needs to look back through the noise, and `verify` to check the bytes."""
        asked = self.recipe.perturbation.k
        return {
            "perturbation": {
                "columns": {name: noise.to_json() for name, noise in made.channel.items()},
                "records": made.rows,
                "k": None if asked is None else str(asked),
            }
        }

    def released_columns(self, made: Perturbed) -> tuple[ReleasedColumn, ...]:
        return tuple(
            ReleasedColumn(name, _type_of(noise), PageMessage("column.perturbed", name=name))
            for name, noise in made.columns.items()
        )

    check = staticmethod(check_perturbation)

    @staticmethod
    def opened(folder: Path, certificate: dict[str, Any]) -> Perturbed:
        form, name = next((form, name) for form, name in FILE_OF.items() if name in certificate["files"])
        noises = {column: noise_from_json(facts) for column, facts in certificate["summary"]["columns"].items()}
        rows = read_frame(folder / name, form, text=[column for column, noise in noises.items() if _has_words(noise)])
        columns = {column: rows.column(column).to_numpy(zero_copy_only=False) for column in noises}
        guarantee = Guarantee.from_json(certificate["guarantee"])
        cost = Fraction(certificate["summary"]["row_epsilon"])
        return Perturbed(table_of(columns), tuple(noises.values()), guarantee, cost)

    @staticmethod
    def public_sections(folder: Path, certificate: dict[str, Any], words: Words) -> list[Section]:
        """Rows and noise, that single values mean little, and the distributions behind them."""
        from sudare.reconstruct.pages import recovered_charts
        from sudare.render.sections import Facts, Section, Text

        summary, unit = certificate["summary"], Guarantee.from_json(certificate["guarantee"]).unit
        rows, cost = summary["rows"], Fraction(summary["row_epsilon"])
        noises = {name: noise_from_json(facts) for name, facts in summary["columns"].items()}
        said = _headline(rows, cost, linked_k(float(cost), rows, unit.max_rows), noises)
        facts = lines(said, words)
        use, made = Text.of(words("perturbation.use_text")), PerturbationKind.opened(folder, certificate)
        return [
            Section(words("perturbation.title"), (Facts(facts),)),
            Section(words("perturbation.use"), (use, *recovered_charts(made, words)), "trust"),
        ]


def _frame(made: Perturbed) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: pa.array(column.tolist()) for name, column in made.values.items()})


def _type_of(noise: Noise) -> str:
    if not isinstance(noise, RetentionNoise):
        return "number"
    return "string" if _has_words(noise) else "integer"


def _numbers(column: NDArray[Any], name: str) -> NDArray[Any]:
    """A column as numbers; whole ones where all are, so that they can be categories."""
    try:
        numbers = read_numbers(column) if column.dtype == object else column.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("a column holds values that are not numbers", value=name) from None
    whole = np.isfinite(numbers).all() and bool((numbers == np.rint(numbers)).all())
    return numbers.astype(np.int64) if whole and np.abs(numbers).max(initial=0) < 2**53 else numbers


def _headline(rows: int, row_epsilon: Fraction, k: float, noises: Mapping[str, Noise]) -> Lines:
    return {
        "perturbed_rows": rows,
        "local_epsilon": f"{float(row_epsilon):.4g}",
        "linked": PageMessage("amount.one_in_at_most", k=f"{k:.4g}"),
        **{PageMessage("line.noise_of", column=name): _described(noise) for name, noise in noises.items()},
    }


def _described(noise: Any) -> PageMessage:
    facts = noise.to_json()
    if facts["noise"] == "laplace":
        return PageMessage("noise.laplace", scale=f"{facts['scale']:.4g}")
    if facts["noise"] == "square_wave":
        return PageMessage("noise.square_wave", reach=f"{(noise.law.reach + 0.5) * noise.step:.4g}")
    return PageMessage("noise.retention", kept=f"{noise.kept:.4g}", values=len(noise.categories))
