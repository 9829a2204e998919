"""A recipe made ready: its parts built and checked, its paths resolved, the private file not yet touched."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from sudare.engines.addresses import scheme_of
from sudare.errors import Message, PrivacyWarning
from sudare.noise import Source
from sudare.privacy import Cap, Guarantee, Ledger, Publishable
from sudare.privacy.caution import cautions
from sudare.privacy.history import heads_here
from sudare.privacy.names import declared
from sudare.privacy.settings import chosen_ledger
from sudare.publish.folder import is_there
from sudare.publish.needs import NOT_KNOWN, Needs
from sudare.publish.public_sources import PublicFile
from sudare.publish.recipe import Recipe
from sudare.words import Lines, OnProgress, PageMessage

if TYPE_CHECKING:
    from sudare.engines import Records
    from sudare.report import Section
    from sudare.words import Words

Shape = TypeVar("Shape", bound=Recipe)
Made = TypeVar("Made", bound=Publishable)


@dataclass(frozen=True)
class Outlook:
    """What a kind has to say in a plan: ``facts`` for people, ``details`` for machines, errors and their basis."""

    facts: Lines
    details: dict[str, Any]
    errors: list[dict[str, Any]]
    errors_from: PageMessage
    needs: Needs = NOT_KNOWN


@dataclass(frozen=True)
class Rehearsal:
    """A release of data that are not private, beside its truth. ``errors``: rows of numbers, means over the runs."""

    basis: PageMessage
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
class Job(ABC, Generic[Shape, Made]):
    """A recipe and the folder its paths are relative to. Each kind is a subclass, named in `kinds`.

    The order of a publication is `foresee`, `gather` (reads private data), `needs`, spend, `protect`, `write`,
    `discard`.
    """

    recipe: Shape
    folder: Path
    shape: ClassVar[type[Recipe]]

    @staticmethod
    def open(path: str | Path) -> Job[Any, Any]:
        """Read a recipe of any kind and build every part once."""
        from sudare.publish.kinds import open_job

        return open_job(path)

    @staticmethod
    def ready(path: str | Path) -> Job[Any, Any]:
        """`open`, and refuse what could never be published: what plan, rehearse and publish begin with."""
        from sudare.publish.kinds import ready_job

        return ready_job(path)

    @classmethod
    def variant(cls, recipe: Shape) -> type[Job[Shape, Any]]:  # noqa: ARG003 - a kind may have several
        """The job that does what the recipe says, where a kind has more than one."""
        return cls

    def prepare(self) -> None:
        """Build what can be wrong, before anything is touched."""
        _ = self.guarantee, self.cap, self.ledger

    @abstractmethod
    def foresee(self) -> None:
        """Refuse what `protect` would refuse whatever the private data: by a trial on others, with seeded noise."""

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

    @property
    def lacks_data(self) -> bool:
        """Whether there is no file at the private path; of an address and of a pattern that is not known."""
        path = self.recipe.data.path
        return not scheme_of(path) and not has_magic(path) and not is_there(self.path(path))

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
    def cap(self) -> Cap | None:
        """The cap to set where the data set has none yet."""
        cap = self.recipe.ledger.cap
        return None if cap is None else Cap.asked(**cap.model_dump(exclude_none=True))

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of the recipe."""
        asked = self.recipe.ledger
        return Ledger(chosen_ledger(asked.path, self.folder, asked.confirm_other_ledger))

    @property
    def terms(self) -> dict[str, Any]:
        """On which terms the ledger admits the release."""
        from sudare.publish.reconcile import heads_beside

        dataset, asked = declared(self.recipe.dataset, Message("the name of a data set")), self.recipe.ledger
        return {
            "default_cap": self.cap,
            "accept_no_guarantee": self.recipe.accept_no_guarantee,
            "heads": (*heads_beside(self.path(self.recipe.output.folder), dataset), *heads_here(dataset)),
            "confirm_similar_name": asked.confirm_similar_name,
            "confirm_other_history": asked.confirm_other_history,
        }

    @property
    def recipe_sha256(self) -> str:
        """A hash of what the recipe says, whatever its spacing and comments."""
        return hashlib.sha256(self.recipe.model_dump_json(by_alias=True).encode()).hexdigest()

    @cached_property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What the release will promise: known before any private value is."""

    @property
    def people(self) -> int | None:
        """How many people are in the data, where the recipe declares it."""
        return None

    @property
    def cautions(self) -> tuple[PrivacyWarning, ...]:
        """What the steward should hear about the promise before it is made."""
        return cautions(self.guarantee, self.people)

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
    def check(folder: Path, certificate: dict[str, Any]) -> list[PageMessage]:
        """What `verify` found right in the files of a release of this kind; raises `VerificationError`."""

    @staticmethod
    @abstractmethod
    def public_sections(folder: Path, certificate: dict[str, Any], words: Words) -> list[Section]:
        """What the public report says of this kind: from the released files alone, in the language of ``words``.

        Guarantee, files and proof are said by the report itself. A kind shows its own things here, in the order of
        the chapters: what was released, how far to trust it, the method.
        """
