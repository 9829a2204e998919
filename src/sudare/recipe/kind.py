"""What a kind of release is: a recipe model, and how its records become a release that anybody can check.

A kind knows its recipe and the folder that paths are relative to. It knows no ledger, no certificate and no page
around its sections: the workflow (`Job`, `plan`, `rehearse`, `publish`, `verify`) asks it and does the rest. Kinds are
found by name through the entry points ``sudare.kinds`` (see `sudare.registry`), so that one may come from another
package.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from sudare.engines.files import scheme_of
from sudare.language.messages import Lines, OnProgress, PageMessage
from sudare.noise import Source
from sudare.privacy import Guarantee, Publishable

if TYPE_CHECKING:
    from sudare.engines import Records
    from sudare.engines.examine import Examination
    from sudare.engines.foreign_sources import Long
    from sudare.language.catalogue import Words
    from sudare.recipe.model import Recipe
    from sudare.render.sections import Section

Shape = TypeVar("Shape", bound="Recipe")
Made = TypeVar("Made", bound=Publishable)

FIXED_MEMORY = 32 << 20
"""What a release of any size takes, at most: buffers of the writers of files, and code that is loaded late."""
FIXED_DISK = 1 << 16
"""Certificate and the heads of files."""


@dataclass(frozen=True)
class Needs:
    """Bytes: ``memory`` at the peak, beyond what the data take once they are read; ``disk`` of the release's files.

    None where nobody can say, such as for a cluster. An estimate is never below what is measured, and at most twice it
    beside `FIXED_MEMORY` (tests/faults/test_needs.py). So what would just have worked may be refused:
    ``output.confirm_resources`` is for that, and for machines that misreport.
    """

    memory: int | None = None
    disk: int | None = None

    @property
    def known(self) -> dict[str, int]:
        named = {"memory": self.memory, "disk": self.disk}
        return {name: size for name, size in named.items() if size is not None}


NOT_KNOWN = Needs()


@dataclass(frozen=True)
class ReleasedColumn:
    """A column of the released files. ``type`` is one of Frictionless: integer, number, string, boolean."""

    name: str
    type: str
    about: PageMessage | str
    categories: tuple[str | int, ...] = ()
    ordered: bool = False


@dataclass(frozen=True)
class OpenedRelease:
    """What the certificate of any release says of it."""

    guarantee: Guarantee
    summary: dict[str, Any]


@dataclass(frozen=True)
class PublicFile:
    """A file that a recipe calls public, by the ``name`` of its key.

    ``rows``: it holds rows like the private ones. ``counts``: both hold cells, under these columns of counts, private
    and public. ``used``: the columns that a release is made of. ``long``: how a wide one is made long. ``confirmed``:
    the steward knows of the rows that both have.
    """

    name: str
    path: str
    table: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    rows: bool = True
    counts: tuple[str, str] | None = None
    used: tuple[str, ...] = ()
    long: Long | None = None
    confirmed: bool = False


def rows_to_json(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of errors for machines: messages in English.

    >>> rows_to_json([{"query": PageMessage("weights.mean_of", column="age"), "weighted_error": 0.5}])
    [{'query': 'mean of age', 'weighted_error': 0.5}]
    """
    return [
        {name: str(value) if isinstance(value, PageMessage) else value for name, value in row.items()} for row in rows
    ]


def ranges(rows: Sequence[Mapping[str, Any]], written: Callable[[Any], str]) -> list[dict[str, Any]]:
    """Rows of errors for people: ``error_low`` and ``error_high`` are one column ``error``, from one to the other.

    >>> ranges([{"cells": 4, "error_low": 2, "error_high": 5}, {"cells": 8, "error_low": 3, "error_high": 3}], str)
    [{'cells': 4, 'error': '2–5'}, {'cells': 8, 'error': '3'}]
    """
    joined = []
    for row in rows:
        line: dict[str, Any] = {}
        for name, value in row.items():
            stem = name.removesuffix("_low").removesuffix("_high")
            if stem == name:
                line[name] = value
            elif value is not None and line.get(stem) != written(value):
                line[stem] = f"{line[stem]}–{written(value)}" if line.get(stem) else written(value)
        joined.append(line)
    return joined


@dataclass(frozen=True)
class Outlook:
    """What a kind has to say in a plan: ``facts`` for people, ``details`` for machines, errors and their basis.

    ``errors`` are rows of the same names, whose values are numbers, messages, names that are nobody's language, or
    None.
    """

    facts: Lines
    details: dict[str, Any]
    errors: list[dict[str, Any]]
    errors_from: PageMessage | str
    needs: Needs = NOT_KNOWN


@dataclass(frozen=True)
class Rehearsal:
    """A release of data that are not private, beside its truth. ``errors``: rows as in `Outlook`, means over runs."""

    basis: PageMessage | str
    release: Publishable
    errors: list[dict[str, Any]]
    repetitions: int
    facts: Lines

    def to_json(self) -> dict[str, Any]:
        return {
            "basis": str(self.basis),
            "repetitions": self.repetitions,
            "summary": self.release.summary,
            "errors": rows_to_json(self.errors),
        }

    def comparison(self, words: Words, *, title: str, picture: bool) -> bytes | None:  # noqa: ARG002 - a kind may draw
        """True against released, as an HTML page or as a PNG picture; None for a kind that draws neither."""
        return None


class _RecipeModel:
    """Loads the model of a kind's recipe when it is asked for."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __get__(self, _: object, __: type) -> Any:
        return getattr(import_module(self._module), self._name)


def recipe_model(module: str, name: str) -> Any:
    """The `Kind.shape` that a module has under this name: loaded when a recipe is read, since `verify` reads none.

    Write ``shape = recipe_model(...)`` without a type, or ``dataclass`` asks for the value at once.
    """
    return _RecipeModel(module, name)


@dataclass(frozen=True)
class Kind(ABC, Generic[Shape, Made]):
    """A recipe of one kind, and the folder its paths are relative to: what the workflow asks of it.

    The order of a publication is `prepare`, `dry_run`, `gather` (reads private data), `needs`, spend, `protect`,
    `write`, `discard`.
    """

    recipe: Shape
    folder: Path
    shape: ClassVar[type[Recipe]]
    """The model of the recipe."""
    rehearsal_module: ClassVar[str]
    """The module of the same room with the functions `outlook` and `rehearse`, loaded when one is called: a kind has
    this, or overrides both methods."""

    @classmethod
    def of(cls, recipe: Shape, folder: Path) -> Kind[Shape, Any]:
        """The kind for this recipe; one that can also run in a cluster chooses here."""
        return cls(recipe, folder)

    def prepare(self) -> None:
        """Build what can be wrong, before anything is touched."""
        _ = self.guarantee

    @abstractmethod
    def dry_run(self) -> None:
        """Run `protect` on stand-in data, so that errors which do not depend on private data surface before anything
        is read or spent."""

    def path(self, name: str) -> Path:
        return self.folder / name

    @property
    def scratch(self) -> Path | None:
        named = self.recipe.data.scratch
        return None if named is None else self.path(named)

    @property
    def private_origin(self) -> object:
        """Where the private records are: a path, an address, or a database file and its table."""
        data = self.recipe.data
        origin: object = data.path if scheme_of(data.path) else self.path(data.path)
        return (origin, data.table) if data.table else origin

    def records(self) -> Records:
        """The private records, by the engine that the recipe names; nothing of them is read yet."""
        from sudare.engines import read

        data = self.recipe.data
        return read(
            self.private_origin,
            encoding=data.encoding,
            delimiter=data.delimiter,
            decimal=data.decimal,
            column_names=data.column_names,
            header_row=data.header_row or 1,
            long=self.long,
            engine=data.engine,
            scratch=self.scratch,
        )

    @property
    def long(self) -> Long | None:
        """How a wide table is made long, where the recipe says so."""
        return None

    def public_files(self) -> tuple[PublicFile, ...]:
        """Every file that the recipe takes for public: that of its rehearsal, and what else a kind has."""
        choice = getattr(self.recipe, "rehearsal", None)
        if choice is None or choice.path is None:
            return ()
        layout = {"encoding": choice.encoding, "delimiter": choice.delimiter}
        return (PublicFile("rehearsal.path", choice.path, **layout, confirmed=choice.confirm_overlap),)

    @cached_property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What the release will promise: known before any private value is."""

    @property
    def people(self) -> int | None:
        """How many people are in the data, where the recipe declares it."""
        return None

    def outlook(self) -> Outlook:
        """What would come out and how far off it may be, from public things alone."""
        found: Outlook = import_module(self.rehearsal_module).outlook(self)
        return found

    def rehearse(self, seed: int, progress: OnProgress) -> Rehearsal:
        """The release on data that are not private, with seeded noise."""
        found: Rehearsal = import_module(self.rehearsal_module).rehearse(self, seed, progress)
        return found

    @abstractmethod
    def gather(self, source: Source) -> Any:
        """The private data, read and bounded."""

    @contextmanager
    def gathered(self, source: Source) -> Iterator[Any]:
        """What `gather` gives; whatever ends the block, nothing of it stays on a disk."""
        data = self.gather(source)
        try:
            yield data
        finally:
            self.discard(data)

    def require_columns(self) -> None:
        """Refuse private data of another format or without the columns that the recipe names: no row is read.

        What is looked at, the format and the names of columns, is public structure, or the data are refused for it.
        """
        data, records = self.recipe.data, self.records()
        if data.unit is not None:
            records.selection([data.unit], data.unit)

    def examine(self, *, values: bool = False) -> Examination:
        """How many private rows fit the recipe, and why the others do not: for the steward alone, and spends nothing.

        A kind that knows more of its columns than whose rows they are says more.
        """
        data = self.recipe.data
        return self.records().examine(
            unit=data.unit, max_rows=data.max_rows, missing_unit=data.rows_without_unit(), values=values
        )

    def needs(self, data: Any) -> Needs:  # noqa: ARG002 - a kind may know
        """What `protect` and `write` will need for what `gather` gave, or for a stand-in of it."""
        return NOT_KNOWN

    @abstractmethod
    def protect(self, data: Any, source: Source) -> Made:
        """The release of what `gather` gave."""

    def compared(self, data: Any) -> Any:
        """What of `gather`'s data must be the same where their noise is drawn again (see `pending`): all of them."""
        return data

    def discard(self, data: Any) -> None:
        """Remove what `gather` and `protect` left on disks, whether or not a release came of it: most leave nothing."""

    @abstractmethod
    def write(self, made: Made, folder: Path) -> Mapping[str, Path | Sequence[Path]]:
        """Write the release into ``folder``: what each file is to its path, or to those of its parts."""

    @abstractmethod
    def headline(self, made: Made) -> Lines:
        """What a person wants to read first about the release: public facts only."""

    def certified(self, made: Made) -> dict[str, Any]:  # noqa: ARG002 - a kind may say more
        """Further public facts that the certificate states."""
        return {}

    def released_columns(self, made: Made) -> tuple[ReleasedColumn, ...]:  # noqa: ARG002 - a kind may describe them
        """The columns of the released tables, in their order, for ``datapackage.json``; none, and none is written."""
        return ()

    def left_out(self, made: Made) -> tuple[PageMessage, ...]:  # noqa: ARG002 - a kind may leave something out
        """What the recipe asks for and is not written, and why."""
        return ()

    def internal_sections(self, data: Any, made: Made, words: Words) -> list[Section]:  # noqa: ARG002 - a kind may compare
        """What the internal report says of this kind: the release beside what `gather` gave."""
        return []

    @staticmethod
    @abstractmethod
    def check(folder: Path, certificate: dict[str, Any]) -> Sequence[PageMessage | str]:
        """What `verify` found right in the files of a release of this kind; raises `VerificationError`.

        A kind of another package, whose words the catalogue does not have, says it as plain text.
        """

    @staticmethod
    def opened(folder: Path, certificate: dict[str, Any]) -> Publishable:  # noqa: ARG004 - a kind may read more
        """A verified release as its publisher had it, from its files: what `sudare.open` gives."""
        return OpenedRelease(Guarantee.from_json(certificate["guarantee"]), certificate["summary"])

    @staticmethod
    @abstractmethod
    def public_sections(folder: Path, certificate: dict[str, Any], words: Words) -> list[Section]:
        """What the public report says of this kind: from the released files alone, in the language of ``words``.

        Guarantee, files and proof are said by the report itself. A kind shows its own things here, in the order of
        the chapters: what was released, how far to trust it, the method.
        """
