"""What every reproduction of a paper has in common: facts and sheets to read, figures to draw, a folder to fill."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from sudare.errors import OutputError, ParameterError
from sudare.language.catalogue import ENGLISH, LANGUAGES, Words
from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage, Value
from sudare.papers.sheet import Sheet, spec_in_words
from sudare.render.charts import Spec, render_png


@dataclass(frozen=True)
class Reproduction(ABC):
    """A paper's experiment, done again. ``basis`` is what it ran on, ``runs`` how often, ``files`` what was written,
    and ``drawn`` the figures among it: name, language and file."""

    key: ClassVar[str]
    """The paper's, in `sudare.papers.catalogue`."""
    basis: Value
    runs: Any
    files: tuple[Path, ...] = field(default=(), kw_only=True)
    drawn: tuple[tuple[str, str, Path], ...] = field(default=(), kw_only=True)

    @property
    def facts(self) -> Lines:
        """A short summary, in messages of the catalogue."""
        return {
            PageMessage(f"paper.{name}"): PageMessage(f"paper.fact.{self.key}.{name}", **gaps)
            for name, gaps in self.said.items()
        }

    @property
    def said(self) -> dict[str, dict[str, Value]]:
        """The facts by name (``paper.NAME`` in the catalogue), with what fills the gaps of each."""
        return {"data": {"basis": self.basis}, "runs": {"runs": self.runs}}

    @property
    @abstractmethod
    def sheets(self) -> tuple[Sheet, ...]:
        """The paper's tables with our numbers."""

    @property
    @abstractmethod
    def figures(self) -> Mapping[str, Spec]:
        """The paper's figures by the names of their files."""

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


def repetitions(asked: int | None, quick: bool, usual: tuple[int, int]) -> int:
    """How often to run: as asked, else the ``usual`` number, of which the second is for quick runs."""
    runs = usual[quick] if asked is None else asked
    if runs < 1:
        raise ParameterError("runs is not a whole number from 1 on", value=runs)
    return runs
