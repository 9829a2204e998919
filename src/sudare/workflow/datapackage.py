"""``datapackage.json``: the files of a release as a Frictionless Data Package, each column explained in every language.

The format is that of https://datapackage.org (version 2). English is in ``title`` and ``description``; other languages
stand beside it under keys that end in the language's code, such as ``description_ja``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sudare.language.catalogue import LANGUAGES, Words
from sudare.language.messages import said
from sudare.privacy import Guarantee
from sudare.privacy.fingerprint import file_digest
from sudare.privacy.notebook import headline
from sudare.recipe.kind import ReleasedColumn

NAME = "datapackage.json"
_SCHEMA = "https://datapackage.org/profiles/2.0/datapackage.json"
_MEDIA_TYPES = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "geoparquet": "application/vnd.apache.parquet",
    "geojson": "application/geo+json",
    "records": "application/vnd.apache.parquet",
}
_MOST_CATEGORIES = 200


def write_package(
    folder: Path,
    files: Mapping[str, Path | Sequence[Path]],
    columns: Sequence[ReleasedColumn],
    guarantee: Guarantee,
    *,
    release_id: str,
    created: str,
    title: str,
) -> Path:
    """Write the description of ``files``, a format each; ``columns`` are those of tables, in the order of the files."""
    resources = []
    for name, paths in files.items():
        if name not in _MEDIA_TYPES:
            continue
        listed = [paths] if isinstance(paths, Path) else list(paths)
        resource: dict[str, Any] = {
            "name": re.sub(r"[^-a-z0-9._]", "-", name.lower()),
            "path": listed[0].name if len(listed) == 1 else [path.name for path in listed],
            "format": {"geoparquet": "parquet", "records": "parquet"}.get(name, name),
            "mediatype": _MEDIA_TYPES[name],
        }
        if len(listed) == 1:
            resource |= {"bytes": listed[0].stat().st_size, "hash": f"sha256:{file_digest(listed[0])}"}
        if name in ("csv", "parquet"):
            resource["encoding"] = "utf-8"
            hidden = {"index"} if name == "csv" else set()
            resource["schema"] = {"fields": [_field(column) for column in columns if column.name not in hidden]}
        resources.append(resource)
    package = {
        "$schema": _SCHEMA,
        "name": f"sudare-{release_id}",
        "id": release_id,
        "title": title or release_id,
        **_each_language("description", lambda words: headline(guarantee, words)),
        "created": created,
        "profile": "tabular-data-package",
        "resources": resources,
    }
    path = folder / NAME
    path.write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    return path


def _field(column: ReleasedColumn) -> dict[str, Any]:
    field: dict[str, Any] = {"name": column.name, "type": column.type}
    field |= _each_language("description", lambda words: said(column.about, words))
    if 0 < len(column.categories) <= _MOST_CATEGORIES:
        field |= {"categories": list(column.categories), "categoriesOrdered": column.ordered}
    return field


def _each_language(key: str, text: Callable[[Words], str]) -> dict[str, str]:
    return {key if name == "en" else f"{key}_{name}": text(Words(name)) for name in LANGUAGES}
