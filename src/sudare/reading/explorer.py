"""`explore`: a page on which anybody searches, filters and sums a release, or a series of them, with intervals.

The page is one file without any dependency: it opens from a disk, and on any web server. Everything on it is a
function of the released files, and nothing that a reader does on it leaves the reader's browser.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from sudare.arrays import Integers
from sudare.domain import Domain, Place
from sudare.errors import CapacityError, OutputError, ParameterError, SudareError, system_reason
from sudare.language.catalogue import LANGUAGES, Words
from sudare.privacy.notebook import headline, unit_words
from sudare.reading.opening import opened, release_folder
from sudare.reading.questions import ask
from sudare.reading.series import Series, open_series
from sudare.render.drawing import View, degree_bounds
from sudare.render.sections import POLICY
from sudare.tables import Release
from sudare.tables.portable_errors import portable_errors
from sudare.workflow.folder import CERTIFICATE, refuse_existing
from sudare.workflow.reports import LIST, PUBLIC, read_list

MOST_CELLS = 1 << 17
"""Listed cells of a release that a page takes."""
MOST_PLACES = 1 << 18
"""Places of the domain that a page takes."""


def write_explorer(
    source: str | Path, folder: str | Path, *, language: str | None = None, publisher: str | Path | None = None
) -> Path:
    """Write the explorer of a release, or of a folder of releases of a series, into a new ``folder``; its first page.

    Beside ``index.html`` there is ``data.json``, all that the page knows, and ``released`` with the certified files;
    what else lies in the folder of a release stays there.
    ``language`` is that of the page before its reader chooses; the browser's, if not given.
    """
    target = Path(folder)
    refuse_existing(target)
    contents, page = _contents(Path(source), language, publisher)
    try:
        target.mkdir(parents=True)
        (target / "data.json").write_text(json.dumps(contents, ensure_ascii=False), encoding="utf-8", newline="\n")
        for name, place in _folders(Path(source)).items():
            with release_folder(place) as certificate:
                _copy_certified(certificate, target / "released" / name)
        (target / "index.html").write_text(page, encoding="utf-8", newline="\n")
    except OSError as problem:
        shutil.rmtree(target, ignore_errors=True)
        raise OutputError(
            "the page cannot be written: {reason}", value=str(target), reason=system_reason(problem)
        ) from None
    return target / "index.html"


def _copy_certified(certificate_path: Path, folder: Path) -> None:
    """Copy what the publisher certified, and nothing else that lies beside it: who gives the page away gives that."""
    certificate = json.loads(certificate_path.read_text(encoding="utf-8-sig"))
    listed = [*certificate["files"], *read_list(certificate_path, certificate)]
    folder.mkdir(parents=True)
    shutil.copyfile(certificate_path, folder / CERTIFICATE)
    for name in (*listed, *([LIST] if len(listed) > len(certificate["files"]) else [])):
        if (certificate_path.parent / name).is_file():
            shutil.copyfile(certificate_path.parent / name, folder / name)


def serve_explorer(
    source: str | Path,
    *,
    port: int = 0,
    language: str | None = None,
    publisher: str | Path | None = None,
    ready: Callable[[str], None] = print,
) -> None:
    """Show the explorer on this machine alone, until interrupted; ``ready`` gets its address.

    ``/ask.json?sex=f&mesh=5339`` answers as `sudare.reading.ask` does; ``period=`` chooses one of a series.
    """
    with TemporaryDirectory(prefix="sudare-explore-") as room:
        write_explorer(source, Path(room) / "page", language=language, publisher=publisher)
        series = _series(Path(source), publisher)
        handler = partial(_Handler, series, directory=str(Path(room) / "page"))
        with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
            ready(f"http://127.0.0.1:{server.server_address[1]}/")
            server.serve_forever()


class _Handler(SimpleHTTPRequestHandler):
    """The static folder, and answers of Python."""

    def __init__(self, series: Series | None, *arguments: Any, **more: Any) -> None:
        self.series = series
        super().__init__(*arguments, **more)

    def do_GET(self) -> None:
        """As a file, or an answer."""
        asked = urlsplit(self.path)
        if asked.path != "/ask.json" or self.series is None:
            super().do_GET()
            return
        where = {name: ",".join(values).split(",") for name, values in parse_qs(asked.query).items()}
        try:
            release = self.series[where.pop("period", [self.series.periods[-1]])[0]]
            status, answer = 200, ask(release, where).to_json()
        except SudareError as refusal:
            status, answer = 400, {"refused": str(refusal)}
        body = json.dumps(answer, ensure_ascii=False, default=str).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Requests of readers are not logged."""


def _folders(source: Path) -> dict[str, Path]:
    """The releases of a source, by the name of their folder in the explorer."""
    if source.is_dir() and not (source / CERTIFICATE).is_file():
        found = [path.parent for path in sorted(source.glob(f"*/{CERTIFICATE}"))]
        return {path.name: path for path in found if path.name[0] != "."}
    return {"release": source}


def _series(source: Path, publisher: str | Path | None) -> Series | None:
    """The release or releases as a series; None for what is no table."""
    if list(_folders(source)) != ["release"]:
        return open_series(source, publisher=publisher)
    with release_folder(source) as certificate_path:
        release, _ = opened(certificate_path, publisher)
    return Series({"": release}) if isinstance(release, Release) else None


def _contents(source: Path, language: str | None, publisher: str | Path | None) -> tuple[dict[str, Any], str]:
    """What the page knows, and the page."""
    if language is not None and language not in LANGUAGES:
        raise ParameterError("no such language", value=language, allowed=LANGUAGES)
    folders = _folders(source)
    if not folders:
        raise ParameterError("there are no releases", value=str(source), allowed="a folder with folders of releases")
    with release_folder(next(reversed(folders.values()))) as certificate_path:
        release, certificate = opened(certificate_path, publisher)
        facts = _facts(certificate, release.guarantee, folders)
        if not isinstance(release, Release):
            from sudare.workflow.pages import report_page

            page = report_page(certificate_path, certificate, Words(language or "en"))
            return facts | {"summary": release.summary, "guarantee": release.guarantee.to_json()}, page
    series = _series(source, publisher)
    assert series is not None  # noqa: S101 - it is a table
    contents = facts | _tables(series)
    return contents, _page(contents, language)


def _facts(certificate: dict[str, Any], guarantee: Any, folders: dict[str, Path]) -> dict[str, Any]:
    words = {language: Words(language).counting(guarantee.unit.name) for language in LANGUAGES}
    return {
        "format": "sudare-explorer/1",
        "kind": certificate.get("kind", "table"),
        "title": (len(folders) == 1 and certificate["title"]) or certificate["dataset"],
        "dataset": certificate["dataset"],
        "promise": {
            name: f"{headline(guarantee, own)}, {unit_words(guarantee.unit, own)}" for name, own in words.items()
        },
        "folders": list(folders),
        "reports": [
            f"released/{name}/{PUBLIC}"
            for name, path in folders.items()
            if (path / LIST).is_file() and (path / PUBLIC).is_file()
        ],
    }


def _tables(series: Series) -> dict[str, Any]:
    domain = next(iter(series.releases.values())).table.domain
    main = View.of(domain).name
    if domain.attributes[main].size > MOST_PLACES:
        raise CapacityError("the domain has too many places for one page", value=domain.attributes[main].size)
    number = _numbering(domain, main)
    others = [name for name in domain.attributes if name != main]
    releases = []
    for period, release in series.releases.items():
        if len(release.table) > MOST_CELLS:
            raise CapacityError("a release lists too many cells for one page", value=len(release.table))
        table = release.table
        releases.append(
            {
                "period": period,
                "at": number(table.index).tolist(),
                "count": table.count.tolist(),
                "errors": portable_errors(release, number),
            }
        )
    return {
        "level": 0.9,
        "main": main,
        "cells": domain.size,
        "places": _places(domain, main) | _blocks_of_places(domain, main),
        "others": [_values(domain, name) for name in others],
        "releases": releases,
    }


def _numbering(domain: Domain, main: str) -> Callable[[Integers], Integers]:
    """Cells to numbers of the page: places in the order of `Attribute.cell`, times the values of other attributes."""
    attribute = domain.attributes[main]
    listed = np.ravel_multi_index(attribute.cell(np.arange(attribute.size)), attribute.lengths)
    order = np.argsort(listed)

    def numbers(index: Integers) -> Integers:
        coordinates = domain.coordinates(index)
        number = np.zeros(len(index), dtype=np.int64)
        own = [coordinates[at] for at, axis in enumerate(domain.axes) if axis.name == main]
        number = order[np.searchsorted(listed, np.ravel_multi_index(own, attribute.lengths), sorter=order)]
        for name, other in domain.attributes.items():
            if name != main:
                theirs = [coordinates[at] for at, axis in enumerate(domain.axes) if axis.name == name]
                number = number * prod(other.lengths) + np.ravel_multi_index(theirs, other.lengths)
        return np.asarray(number)

    return numbers


def _blocks_of_places(domain: Domain, main: str) -> dict[str, Any]:
    """Where places lie in the order of the domain, and the level of their blocks; nothing where they are no blocks."""
    attribute = domain.attributes[main]
    others = domain.size // attribute.size
    level = sum((length - 1).bit_length() for n, a in domain.attributes.items() if n != main for length in a.lengths)
    own = iter(attribute.cell(np.arange(attribute.size)))
    nothing = np.zeros(attribute.size, dtype=np.int64)
    block = domain.index(*(next(own) if axis.name == main else nothing for axis in domain.axes)) >> level
    if (domain.block_sizes(block, level) != others).any() or len(np.unique(block)) < len(block):
        return {"blocks": None, "level": 0}
    return {"blocks": block.tolist(), "level": level}


def _places(domain: Domain, main: str) -> dict[str, Any]:
    """Names and shapes of the places: a frame of rows and columns, rings of points, or no map at all."""
    attribute = domain.attributes[main]
    cells = attribute.cell(np.arange(attribute.size))
    labels = attribute.labels(*cells)
    names = [", ".join(map(str, each)) if np.ndim(each) else str(each) for each in labels.tolist()]
    found: dict[str, Any] = {"name": main, "labels": names, "nested": attribute.kind == "mesh"}
    if len(attribute.lengths) == 2 and (not isinstance(attribute, Place) or degree_bounds(attribute) is not None):
        rows, columns = attribute.lengths
        bounds = degree_bounds(attribute) or (0.0, 0.0, float(rows), float(columns))
        at = None if attribute.size == rows * columns else np.ravel_multi_index(cells, attribute.lengths).tolist()
        frame = {"rows": rows, "columns": columns, "bounds": bounds, "at": at, "degrees": isinstance(attribute, Place)}
        return found | {"frame": frame}
    if isinstance(attribute, Place):
        latitude, longitude = attribute.centres(*cells)
        shapes = attribute.outlines(*cells)
        rings = [
            [np.round(shapes.points[a:b], 5).tolist() for a, b in _rings(shapes, place)] for place in range(len(shapes))
        ]
        return found | {"rings": rings, "centres": [latitude.tolist(), longitude.tolist()]}
    return found


def _rings(shapes: Any, place: int) -> list[tuple[int, int]]:
    polygons = range(shapes.shapes[place], shapes.shapes[place + 1])
    rings = [ring for polygon in polygons for ring in range(shapes.polygons[polygon], shapes.polygons[polygon + 1])]
    return [(shapes.rings[ring], shapes.rings[ring + 1]) for ring in rings]


def _values(domain: Domain, name: str) -> dict[str, Any]:
    attribute = domain.attributes[name]
    labels = attribute.labels(*(axis.reshape(-1) for axis in np.indices(attribute.lengths))).tolist()
    texts = [", ".join(map(str, each)) if isinstance(each, list) else str(each) for each in labels]
    return {"name": name, "labels": texts, "ordered": attribute.ordered}


def _page(contents: dict[str, Any], language: str | None) -> str:
    static = files("sudare.reading") / "static"
    texts = {
        name: {key.removeprefix("explore."): text for key, text in Words(name).messages("explore.").items()}
        for name in LANGUAGES
    }
    # JSON in a script: "<" must not end it.
    data = json.dumps(contents, ensure_ascii=False).replace("<", "\\u003c")
    gaps = {
        "@POLICY@": POLICY.replace(" 'unsafe-eval'", ""),
        "@STYLE@": (static / "explorer.css").read_text(encoding="utf-8"),
        "@WORDS@": json.dumps(texts, ensure_ascii=False).replace("<", "\\u003c"),
        "@LANGUAGE@": json.dumps(language),
        "@SCRIPT@": (static / "explorer.js").read_text(encoding="utf-8"),
        "@DATA@": data,
    }
    page = (static / "explorer.html").read_text(encoding="utf-8")
    for gap, text in gaps.items():
        page = page.replace(gap, text)
    return page
