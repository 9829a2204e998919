"""What a kind of release is: a recipe model, and how its records become a release that anybody can check.

A kind knows its recipe and the folder that paths are relative to. It knows no ledger, no certificate and no page
around its sections: the workflow (`Job`, `plan`, `rehearse`, `publish`, `verify`) asks it and does the rest. Kinds are
found by name through the entry points ``sudare.kinds`` (see `sudare.registry`), so that one may come from another
package.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from sudare.engines.files import scheme_of
from sudare.language.messages import Lines, OnProgress, PageMessage
from sudare.noise import Source
from sudare.privacy import Guarantee, Publishable
from sudare.recipe.model import Recipe

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engines import Records
    from sudare.language.catalogue import Words
    from sudare.render.sections import Section

Shape = TypeVar("Shape", bound=Recipe)
Made = TypeVar("Made", bound=Publishable)

FIXED_MEMORY = 64 << 20
"""What a release of any size takes: writers of files keep buffers of this order."""
FIXED_DISK = 1 << 16
"""Certificate and the heads of files."""


@dataclass(frozen=True)
class Needs:
    """Bytes: ``memory`` at the peak, beyond what the data take once they are read; ``disk`` of the release's files.

    None where nobody can say, such as for a cluster. An estimate is never below what is measured, and for a release
    that is large beside `FIXED_MEMORY` at most twice it (tests/faults/test_needs.py). So what would just have worked
    may be refused: ``output.confirm_resources`` is for that, and for machines that misreport.
    """

    memory: int | None = None
    disk: int | None = None

    @property
    def known(self) -> dict[str, int]:
        """Both, where they are known."""
        named = {"memory": self.memory, "disk": self.disk}
        return {name: size for name, size in named.items() if size is not None}


NOT_KNOWN = Needs()


@dataclass(frozen=True)
class PublicFile:
    """A file that a recipe calls public, by the ``name`` of its key.

    ``rows``: it holds rows like the private ones. ``counts``: both hold cells, under these columns of counts, private
    and public. ``used``: the columns that a release is made of. ``confirmed``: the steward knows of the rows that
    both have.
    """

    name: str
    path: str
    table: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    rows: bool = True
    counts: tuple[str, str] | None = None
    used: tuple[str, ...] = ()
    confirmed: bool = False


@dataclass(frozen=True)
class Outlook:
    """What a kind has to say in a plan: ``facts`` for people, ``details`` for machines, errors and their basis."""

    facts: Lines
    details: dict[str, Any]
    errors: list[dict[str, Any]]
    errors_from: PageMessage | str
    needs: Needs = NOT_KNOWN


@dataclass(frozen=True)
class Rehearsal:
    """A release of data that are not private, beside its truth. ``errors``: rows of numbers, means over the runs."""

    basis: PageMessage | str
    release: Publishable
    errors: list[dict[str, Any]]
    repetitions: int
    facts: Lines

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "basis": str(self.basis),
            "repetitions": self.repetitions,
            "summary": self.release.summary,
            "errors": self.errors,
        }


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
        """A path of the recipe."""
        return self.folder / name

    @property
    def scratch(self) -> Path | None:
        """The folder for what is written while the release is made, where the recipe names one."""
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
            engine=data.engine,
            scratch=self.scratch,
        )

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

    @abstractmethod
    def outlook(self) -> Outlook:
        """What would come out and how far off it may be, from public things alone."""

    @abstractmethod
    def rehearse(self, seed: int, progress: OnProgress) -> Rehearsal:
        """The release on data that are not private, with seeded noise."""

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
    @abstractmethod
    def public_sections(folder: Path, certificate: dict[str, Any], words: Words) -> list[Section]:
        """What the public report says of this kind: from the released files alone, in the language of ``words``.

        Guarantee, files and proof are said by the report itself. A kind shows its own things here, in the order of
        the chapters: what was released, how far to trust it, the method.
        """


def row_size(frame: pa.Table, formats: Sequence[str]) -> float:
    """Bytes that a row of ``frame`` takes in all formats together: its first rows, written into memory."""
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    some = frame.slice(0, 1 << 14)
    written = 0
    for name in formats:
        sink = pa.BufferOutputStream()
        if name.endswith("parquet"):
            pq.write_table(some, sink, compression="zstd")
        else:
            csv.write_csv(some, sink)
        written += sink.getvalue().size
    return written / max(1, len(some))
