"""`open_release`, which is ``sudare.open``: a release as its publisher had it, from its public bytes alone."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any

from sudare.errors import VerificationError
from sudare.registry import KINDS
from sudare.workflow.certificate import as_a_release, verify
from sudare.workflow.folder import CERTIFICATE

_MOST_UNPACKED = 1 << 34


def open_release(path: str | Path, *, publisher: str | Path | None = None) -> Any:
    """The release in a folder, a zip file, or beside a certificate (``release.json``); it is verified first.

    What comes back depends on its kind, and always has ``guarantee`` and ``summary``:

    - a table: `sudare.Release`, with ``table``, ``error`` and ``aggregate``; its error bars are the publisher's.
    - a sample: ``records``, the published rows.
    - perturbed records: ``values``, ``channel``, and ``reconstruct()``, the distributions behind them.
    - weights: `sudare.reweight.Weighting`, with ``weights``, ``mean``, ``count`` and ``answer``.

    ``publisher`` is as in `sudare.verify`: without it, nothing says who signed the release. Raises VerificationError
    at the first fault.
    """
    with release_folder(Path(path)) as certificate_path:
        return opened(certificate_path, publisher)[0]


def opened(certificate_path: Path, publisher: str | Path | None) -> tuple[Any, dict[str, Any]]:
    """A release on the disk, and its certificate."""
    certificate = verify(certificate_path, publisher=publisher).certificate
    kind = KINDS[certificate.get("kind", "table")]
    with as_a_release(kind.__name__):
        return kind.opened(certificate_path.parent, certificate), certificate


@contextmanager
def release_folder(path: Path) -> Iterator[Path]:
    """The path of a release's certificate; the files of a zip file are unpacked for the time of the block."""
    if path.is_dir():
        yield path / CERTIFICATE
    elif not zipfile.is_zipfile(path):
        yield path
    else:
        with TemporaryDirectory(prefix="sudare-open-") as unpacked:
            yield _unpacked(path, Path(unpacked))


def _unpacked(path: Path, folder: Path) -> Path:
    """Unpack the folder of the one certificate that a zip file holds: files of that folder, and none below it."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [PurePosixPath(info.filename) for info in archive.infolist() if not info.is_dir()]
            found = [name for name in names if name.name == CERTIFICATE]
            if len(found) != 1:
                raise VerificationError("the zip file does not hold one release", value=path.name)
            inside = [info for info in archive.infolist() if PurePosixPath(info.filename).parent == found[0].parent]
            if sum(info.file_size for info in inside) > _MOST_UNPACKED:
                raise VerificationError("the zip file is too large to be opened", value=path.name, allowed="16 GiB")
            for info in inside:
                if not info.is_dir():
                    _refuse_odd_name(PurePosixPath(info.filename).name, path)
                    target = folder / PurePosixPath(info.filename).name
                    with archive.open(info) as packed, target.open("wb") as file:
                        copyfileobj(packed, file)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):
        # zipfile raises RuntimeError for an encrypted member and NotImplementedError for an unknown compression.
        raise VerificationError("the zip file cannot be read", value=path.name) from None
    return folder / CERTIFICATE


def _refuse_odd_name(name: str, path: Path) -> None:
    """Refuse a name that means another folder or drive on some system."""
    if PureWindowsPath(name).parts != (name,):
        raise VerificationError("the zip file cannot be read", value=path.name)


open = open_release
