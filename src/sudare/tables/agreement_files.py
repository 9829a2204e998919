"""What a recipe names to agree with: the folder of an earlier release, or files of public totals and of codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.domain import Domain
from sudare.errors import InputError, VerificationError
from sudare.privacy.fingerprint import file_digest
from sudare.tables.agreement import KnownTotals
from sudare.tables.places import attribute_of

if TYPE_CHECKING:
    from sudare.tables.recipe import Estimate
    from sudare.tables.release import Release

CERTIFICATE = "release.json"
_THOUSANDS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+")


def known_totals(choice: Estimate, folder: Path, domain: Domain) -> KnownTotals:
    """What ``[estimate]`` of a recipe names: an earlier release, or a file of totals."""
    path, name = folder / (choice.agree_with or ""), attribute_of(domain, choice.attribute)
    area_of = None if choice.areas is None else _codes(folder / choice.areas, choice)
    certificate = path if path.name == CERTIFICATE else path / CERTIFICATE
    if certificate.is_file():
        earlier, facts = opened_table(certificate)
        origin = {"release_id": facts["release_id"], "sha256": file_digest(certificate)}
        return KnownTotals.of_release(earlier, domain, name, area_of, exactly=choice.exactly, origin=origin)
    totals, errors = _totals(path, choice)
    listed = {area: area for area in totals} if area_of is None else area_of
    listed = {code: area for code, area in listed.items() if area in totals}
    if not listed:
        raise InputError("no area of the public totals is in the list of codes", value=choice.agree_with)
    return KnownTotals(name, listed, totals, {} if choice.exactly else errors, {"sha256": file_digest(path)})


def opened_table(certificate_path: Path) -> tuple[Release, dict[str, Any]]:
    """An earlier release that is a table, and its certificate.

    That its cells have the certified sums is checked; not who signed it, since nothing is promised on its word.
    """
    from sudare.tables.files import check_table
    from sudare.tables.pages import read_release

    folder = certificate_path.parent
    try:
        certificate: dict[str, Any] = json.loads(certificate_path.read_text(encoding="utf-8"))
        if certificate["kind"] != "table":
            raise InputError("the earlier release is not a table", value=certificate["kind"])
        check_table(folder, certificate)
        return read_release(folder, certificate), certificate
    except (OSError, ValueError, KeyError, VerificationError):
        raise InputError(
            "the earlier release cannot be read", value=folder.name, hint="sudare verify says why."
        ) from None


def _rows(path: Path, choice: Estimate, columns: list[str]) -> list[tuple[str, ...]]:
    """Columns of a file as text, row by row; a missing value is empty."""
    from sudare.engines import read

    records = read(path, encoding=choice.encoding, delimiter=choice.delimiter)
    found = records.values(columns, as_text=columns).values()
    return [tuple("" if value is None else str(value) for value in row) for row in zip(*found, strict=True)]


def _codes(path: Path, choice: Estimate) -> dict[Any, str]:
    """Codes to areas."""
    listed = [row for row in _rows(path, choice, [choice.columns.code, choice.columns.area]) if all(row)]
    pairs = {row[0]: row[1] for row in listed}
    if len(pairs) < len(listed):
        raise InputError("a code is listed twice", value=path.name)
    return pairs


def _totals(path: Path, choice: Estimate) -> tuple[dict[str, float], dict[str, float]]:
    """Number and standard error by area; rows without a number are areas of which nothing is known."""
    columns = choice.columns
    names = [name for name in (columns.area, columns.number, columns.standard_error) if name is not None]
    rows = [row for row in _rows(path, choice, names) if row[0] and row[1] not in ("", "nan")]
    if len({area for area, *_ in rows}) < len(rows):
        raise InputError("an area has two public totals", value=path.name)
    read = {area: [_number(text, name) for text, name in zip(texts, names[1:], strict=True)] for area, *texts in rows}
    errors = {area: own[1] for area, own in read.items()} if columns.standard_error is not None else {}
    return {area: own[0] for area, own in read.items()}, errors


def _number(text: str, column: str) -> float:
    """A number; thousands may be set apart by commas."""
    try:
        return float(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text)
    except ValueError:
        raise InputError("a column of the public totals holds something that is not a number", value=column) from None
