"""What all reproductions have in common: results that are kept as they come, tables, figures, a page in each language.

The result of a unit is pickled into ``parts/`` below the folder, under a name that includes the settings of the run
(data, number of runs, version), so that an interrupted run goes on where it stopped and never takes a result of other
settings. Only classes of Sudare, NumPy and the standard library's values are read back.
"""

from __future__ import annotations

import base64
import hashlib
import pickle
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from sudare.errors import OutputError, ParameterError
from sudare.language.catalogue import ENGLISH, LANGUAGES, Words
from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage, Value, lines, unheard
from sudare.papers.catalogue import BY_KEY
from sudare.papers.sheet import Sheet, spec_in_words
from sudare.render.charts import Spec, render_png
from sudare.render.sections import Facts, Lead, Section, Table, Text, lay_out

Units = dict[str, Callable[[], Any]]
"""The parts of an experiment by name, which people see as a part is at work."""

_READABLE = {
    "numpy",
    "numpy._core.multiarray",
    "numpy._core.numeric",
    "numpy.core.multiarray",
    "numpy.core.numeric",
    "fractions",
    "decimal",
    "copyreg",
}
_VERSION = 4
"""Raised when an experiment changes, so that kept results of an older one are not used."""


@dataclass(frozen=True, kw_only=True)
class Reproduction(ABC):
    """A paper's experiment: what to run, and, as `reproduce` returns it, what came out.

    ``data`` is what it runs on, and what that is called; `read` gets it where none is given. ``runs`` is how often it
    is run, as `usual` (in full, and if ``quick``) where not given. ``found`` are the results of its units by name,
    ``files`` what was written, and ``drawn`` the figures among it: name, language and file.
    """

    key: ClassVar[str]
    """The paper's, in `sudare.papers.catalogue`."""
    usual: ClassVar[tuple[Any, Any]]
    quick: bool = False
    runs: Any = None
    data: tuple[Any, Value] | None = None
    found: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    drawn: tuple[tuple[str, str, Path], ...] = ()

    def __post_init__(self) -> None:
        if self.runs is None:
            object.__setattr__(self, "runs", self.usual[self.quick])
        if any(times < 1 for times in (self.runs.values() if isinstance(self.runs, dict) else [self.runs])):
            raise ParameterError("runs is not a whole number from 1 on", value=self.runs)

    @classmethod
    def reproduce(cls, folder: Path, quick: bool = False, progress: OnProgress = unheard, **options: Any) -> Self:
        """Run the experiment, and write tables (CSV) and figures (PNG) into ``folder``.

        It reads true values to compare with them, so its files are as private as the data.
        """
        made = cls(quick=quick, **options)
        if made.data is None:
            progress(Progress(Stage.READING))
            made = replace(made, data=made.read())
        return replace(made, found=run_units(folder, made.units(), made.settings, progress)).written(folder, progress)

    @abstractmethod
    def read(self) -> tuple[Any, Value]:
        """The real data where they are at hand, else a stand-in, and what they are called."""

    @abstractmethod
    def units(self) -> Units:
        """The parts of the experiment."""

    @property
    @abstractmethod
    def sheets(self) -> tuple[Sheet, ...]:
        """The paper's tables with our numbers."""

    @cached_property
    @abstractmethod
    def figures(self) -> Mapping[str, Spec]:
        """The paper's figures by the names of their files."""

    @property
    def said(self) -> dict[str, dict[str, Value]]:
        """The facts by name (``paper.NAME`` in the catalogue), with what fills the gaps of each."""
        return {"data": {"basis": self.basis}, "runs": {"runs": self.runs}}

    @property
    def basis(self) -> Value:
        return "" if self.data is None else self.data[1]

    @property
    def settings(self) -> dict[str, Any]:
        """What the results depend on."""
        left_out = {"data", "found", "files", "drawn"}
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in left_out}
        return {"paper": self.key, "basis": self.basis, **own}

    @property
    def facts(self) -> Lines:
        """A short summary, in messages of the catalogue."""
        return {
            PageMessage(f"paper.{name}"): PageMessage(f"paper.fact.{self.key}.{name}", **gaps)
            for name, gaps in self.said.items()
        }

    def written(self, folder: Path, progress: OnProgress) -> Self:
        """Itself, after the sheets (CSV) and then the figures (PNG, in each language) were written into ``folder``."""
        files = tuple(sheet.write(folder) for sheet in self.sheets)
        drawn = []
        for name, spec in self.figures.items():
            progress(Progress(Stage.DRAWING))
            for language in LANGUAGES:
                path = folder / file_name(name, "png", language)
                with OutputError.from_system("a figure cannot be written: {reason}", value=str(path)):
                    path.write_bytes(render_png(spec_in_words(spec, Words(language))))
                drawn.append((name, language, path))
        return replace(self, files=(*files, *(path for _, _, path in drawn)), drawn=tuple(drawn))

    def write_pages(self, folder: Path) -> tuple[Path, ...]:
        """The page in every language, beside the files of the experiment, whose pictures it embeds."""
        written = []
        for language in LANGUAGES:
            path = folder / file_name("page", "html", language)
            with OutputError.from_system("a page cannot be written: {reason}", value=str(path)):
                path.write_text(self.page(Words(language)), encoding="utf-8", newline="\n")
            written.append(path)
        return tuple(written)

    def page(self, words: Words) -> str:
        """The paper's numbers beside ours, and the figures, as HTML that holds everything it shows."""
        paper = BY_KEY[self.key]
        facts = paper.described(words, "near", "function", "recipe", "command") | lines(self.facts, words)
        sections = [
            Section(words("paper.column.says").capitalize(), (Lead(paper.text("says", words)), Facts(facts))),
            Section(words("paper.found").capitalize(), (Text.of(paper.text("found", words)),)),
        ]
        for sheet in self.sheets:
            title = sheet.title(self.key, words)
            sections.append(Section(title, (Table(title, sheet.text_header(words), tuple(sheet.text_rows(words))),)))
        pictures = [
            (words.label("paper_figure", f"{self.key}.{name}"), base64.b64encode(path.read_bytes()).decode())
            for name, language, path in self.drawn
            if language == words.language
        ]
        origin = f"{paper.text('authors', words)}{paper.dated}"
        return lay_out(
            "paper.html", sections, words, title=paper.text("title", words), origin=origin, pictures=pictures
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "paper": self.key,
            "basis": str(self.basis),
            "runs": self.runs,
            "sheets": [
                {"name": one.name, "title": one.title(self.key, ENGLISH), "rows": one.to_json()} for one in self.sheets
            ],
            "files": [str(path) for path in self.files],
        }


def file_name(stem: str, ending: str, language: str) -> str:
    """Of a page or a figure in a language.

    >>> file_name("page", "html", "en"), file_name("page", "html", "ja")
    ('page.html', 'page.ja.html')
    """
    return f"{stem}.{ending}" if language == ENGLISH.language else f"{stem}.{language}.{ending}"


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module not in _READABLE and not module.startswith("sudare."):
            raise pickle.UnpicklingError(module)
        return super().find_class(module, name)


def run_units(folder: Path, units: Units, settings: Mapping[str, Any], progress: OnProgress) -> dict[str, Any]:
    """The results by name, from ``parts/`` where they are kept already. ``settings`` are what they depend on."""
    parts = folder / "parts"
    # Before the experiment and not after it: hours of work shall not end in a folder that cannot be made.
    with OutputError.from_system("the folder cannot be made: {reason}", value=str(folder)):
        parts.mkdir(parents=True, exist_ok=True)
    said = repr((_VERSION, sorted(settings.items())))
    made: dict[str, Any] = {}
    for number, (name, make) in enumerate(units.items(), 1):
        path = parts / f"{hashlib.sha256(f'{said}|{name}'.encode()).hexdigest()[:24]}.part"
        kept = _kept(path)
        if kept is None:
            progress(Progress(Stage.EXPERIMENT, number, len(units), name))
            kept = (make(),)
            draft = path.with_suffix(".draft")  # written whole or not at all
            with OutputError.from_system("a result cannot be kept: {reason}", value=str(path)):
                draft.write_bytes(pickle.dumps(kept))
                draft.replace(path)
        made[name] = kept[0]
    return made


def forget_units(folder: Path) -> None:
    """Remove the kept results: the experiment is complete, and its tables and figures are written."""
    shutil.rmtree(folder / "parts", ignore_errors=True)


def _kept(path: Path) -> tuple[Any] | None:
    """What is kept there; nothing where the file is missing, cut off or not ours."""
    try:
        with path.open("rb") as file:
            found = _Reader(file).load()  # the reader refuses all but plain values
    except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, ValueError, IndexError, KeyError):
        return None
    return found if isinstance(found, tuple) and len(found) == 1 else None
