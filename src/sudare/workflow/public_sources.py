"""The public files that a recipe names, held against its private data; and which data a spend is on.

A recipe's public parts are listed by its kind (`Kind.public_files`). The first look, at files alone, is part of opening
a recipe, so that plan, rehearse and publish all refuse before anything is read as if it were public. The second reads
the rows of both sides and belongs to `publish`. Neither is seen in a release: they refuse, or nothing happens.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sudare.engines import files_of
from sudare.engines.files import EXCEL, FilesState
from sudare.errors import InputError
from sudare.privacy.fingerprint import Fingerprint, content_digest, file_digest
from sudare.recipe.kind import Kind, PublicFile

if TYPE_CHECKING:
    from sudare.workflow.job import Job


def refuse_private_files(kind: Kind[Any, Any]) -> None:
    """Refuse the private file as any of the recipe's public ones: by path, link, inode or bytes."""
    from sudare.engines import refuse_same_file

    for file in kind.public_files():
        try:
            refuse_same_file(kind.private_origin, _origin(kind, file), file.name)
        except InputError as problem:
            if problem.value == file.name:
                raise
            # What is not there, or cannot be looked at, is said by the one who needs it.


def refuse_private_rows(kind: Kind[Any, Any]) -> None:
    """Refuse public files that hold the private rows; where they share some, unless the recipe confirms it."""
    for file in kind.public_files():
        if file.rows:
            from sudare.engines import read, refuse_shared_rows

            public = read(_origin(kind, file), encoding=file.encoding, delimiter=file.delimiter, long=file.long)
            refuse_shared_rows(
                kind.records(),
                public,
                file.name,
                unit=kind.recipe.data.unit,
                counts=file.counts,
                used=file.used,
                confirmed=file.confirmed,
            )


@dataclass(frozen=True)
class Sources:
    """What a release is made of: its fingerprint, and the files as they were when it was taken.

    ``public`` is a hash of all bytes of the public files.
    """

    fingerprint: Fingerprint
    state: FilesState = field(default_factory=FilesState)
    public: str = ""

    @classmethod
    def of(cls, job: Job) -> Sources:
        """The fingerprint of the private data under the ledger's key; one without a hash where a cluster reads them.

        Files are read once more, as a whole: that is what makes the fingerprint one of all bytes. Tables of databases
        and sheets have one of all rows, since neither is a file of its own.
        """
        kind = job.kind
        records, files = kind.records(), files_of(kind.private_origin)
        by_rows = bool(kind.recipe.data.table) or any(file.suffix.lower() == EXCEL for file in files)
        if not files and not by_rows:
            return cls(Fingerprint())
        state = FilesState.of(files)
        try:
            digests = [records.digest()] if by_rows else [content_digest(file) for file in files]
        except (OSError, EOFError, zlib.error):  # the end of a packed file is met here first
            from sudare.engines.csv_files import unpacked_badly

            raise unpacked_badly(files[0]) from None
        public = [path for file in kind.public_files() for path in files_of(_origin(kind, file)) if path.is_file()]
        listed = repr([(path.name, file_digest(path)) for path in public])
        fingerprint = Fingerprint.of_digests(digests, job.ledger.fingerprint_key())
        made = cls(fingerprint, state, hashlib.sha256(listed.encode()).hexdigest())
        made.require_unchanged(job)
        return made

    def require_unchanged(self, job: Job) -> None:
        """Refuse files that are no longer those that were read, and a folder that holds others."""
        if self.state != FilesState.of(files_of(job.kind.private_origin) if self.state.files else ()):
            raise InputError(
                "the data changed while they were read",
                value=job.recipe.data.path,
                hint="Nothing was spent. Begin again when nobody writes to them.",
            )


def _origin(kind: Kind[Any, Any], file: PublicFile) -> object:
    path = kind.path(file.path)
    return (path, file.table) if file.table else path
