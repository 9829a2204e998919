"""What a report is made of: sections of small typed parts, which each kind of release fills.

All texts are in the language of the page already, and a part knows no HTML. `lay_out` makes one self-contained page of
the sections, with one template for each report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from sudare.errors import ParameterError
from sudare.language.catalogue import Words
from sudare.render.charts import Spec, html
from sudare.render.map_pages import embed_maps, map_style

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True)
class Text:
    """Paragraphs."""

    form: ClassVar[str] = "text"
    paragraphs: tuple[str, ...]

    @classmethod
    def of(cls, *paragraphs: str) -> Text:
        """The ``paragraphs`` that are not empty."""
        return cls(tuple(paragraph for paragraph in paragraphs if paragraph))


@dataclass(frozen=True)
class Lead:
    """One sentence in large print: what a section comes down to."""

    form: ClassVar[str] = "lead"
    text: str


@dataclass(frozen=True)
class Points:
    """A list under a heading; ``sign`` marks what is prevented, what is not, or neither."""

    form: ClassVar[str] = "points"
    title: str
    items: tuple[str, ...]
    sign: Literal["prevented", "possible", "plain"] = "plain"


@dataclass(frozen=True)
class Facts:
    """Names and what they are; ``exact`` where the values are to be copied letter by letter (hashes, commands)."""

    form: ClassVar[str] = "facts"
    rows: Mapping[str, str]
    exact: bool = False


@dataclass(frozen=True)
class Tiles:
    """A few numbers in large print, each with its name."""

    form: ClassVar[str] = "tiles"
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """Rows of texts; the first column names the row. ``caption`` says what the table shows.

    ``numbers`` where the other columns are numbers, which are set to the right; ``links`` are what the names of the
    rows lead to.
    """

    form: ClassVar[str] = "table"
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: bool = True
    links: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ParameterError(
                    "a row of a table does not fit its header", value=len(row), allowed=[len(self.header)]
                )


@dataclass(frozen=True)
class Chart:
    """A chart in layouts by the width in pixels that they need (see `charts.html`); ``name`` is its own on the page."""

    form: ClassVar[str] = "chart"
    name: str
    layouts: Mapping[int, Spec]


@dataclass(frozen=True)
class Map:
    """A map that a reader can move (see `map_data`); ``name`` is its own on the page."""

    form: ClassVar[str] = "map"
    name: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Odds:
    """A reader moves a suspicion and epsilon, and sees what the suspicion can become (`odds.js`).

    It begins with the ``epsilon`` of the release; ``question`` says what is suspected. Without scripts it is not shown.
    """

    form: ClassVar[str] = "odds"
    epsilon: float
    question: str


Part: TypeAlias = Text | Lead | Points | Facts | Tiles | Table | Chart | Map | Odds
Chapter: TypeAlias = Literal["released", "trust", "method"]


@dataclass(frozen=True)
class Section:
    """One heading and its parts.

    ``chapter`` places it in the public report: what was released comes before the guarantee; how far to trust it and
    the method come after. ``internal`` marks what shows true values: the public report refuses such a section.
    """

    title: str
    parts: tuple[Part, ...]
    chapter: Chapter = "released"
    internal: bool = False

    @property
    def charts(self) -> dict[str, Mapping[int, Spec]]:
        """The charts of the section by their names."""
        return {part.name: part.layouts for part in self.parts if isinstance(part, Chart)}

    @property
    def maps(self) -> dict[str, Mapping[str, Any]]:
        """The maps of the section by their names."""
        return {part.name: part.content for part in self.parts if isinstance(part, Map)}


POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
"""A browser keeps to it even if a page were wrong: nothing is loaded from anywhere. (Vega compiles its expressions.)"""


def lay_out(template: str, sections: Sequence[Section], words: Words, **more: Any) -> str:
    """The page of a template, with ``more`` of its own."""
    charts: dict[str, Any] = {}
    for section in sections:
        if twice := charts.keys() & section.charts.keys():
            raise ParameterError("two charts of a page have one name", value=min(twice))
        charts |= section.charts
    embedded = html(charts, words) if charts else None
    drawn = embed_maps({name: own for section in sections for name, own in section.maps.items()})
    figures = {**(embedded.figures if embedded else {}), **drawn.figures}
    movable = any(isinstance(part, Odds) for section in sections for part in section.parts)
    moved = f"<script>{(files('sudare.render') / 'odds.js').read_text(encoding='utf-8')}</script>" if movable else ""
    page: str = (
        _environment()
        .get_template(template)
        .render(
            sections=sections,
            figures=figures,
            script=(embedded.script if embedded else "") + drawn.script + moved,
            map_style=map_style() if drawn.figures else "",
            words=words,
            policy=POLICY,
            **more,
        )
    )
    return page


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("sudare.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
