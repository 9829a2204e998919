"""The sections of a released table that may be public: all of it from the `Release` alone."""

from __future__ import annotations

from sudare.charts import View
from sudare.domain import Bins, Categories, Domain, Grid, Line, Mesh
from sudare.domain.attribute import Attribute
from sudare.privacy import Fact, readable
from sudare.report.parts import Chart, Facts, Part, Section, Table, Text, Tiles
from sudare.report.trust import trust_section
from sudare.tables import Release
from sudare.words import Words

MAP_LAYOUTS = (
    (900, 760, False),
    (700, 560, False),
    (510, 430, True),
    (420, 340, True),
    (338, 268, True),
    (0, 220, True),
)
"""What a layout needs in pixels, the width of its map, and whether the legend lies above it."""
_SHOWN_VALUES = 12


def table_sections(release: Release, words: Words) -> list[Section]:
    """What was released, the map, how far to trust it, and the method."""
    return [
        _released(release, words),
        _picture(release, words),
        trust_section(release, words),
        _method(release, words),
    ]


def _released(release: Release, words: Words) -> Section:
    table = release.table
    parts: list[Part] = [
        Text.of(words("table.text", names=words.listing(list(table.domain.attributes)))),
        Tiles(
            (
                (words.number(table.total), words("table.total")),
                (words.number(table.domain.size), words("table.cells")),
                (words.number(len(table)), words("table.listed")),
            )
        ),
        attributes_table(table.domain, words),
    ]
    if release.summary["smallest"] < 0:
        parts.append(Text.of(words("table.negative")))
    return Section(words("table.title"), tuple(parts))


def _picture(release: Release, words: Words) -> Section:
    view = View.of(release.table.domain, words)
    if not view.is_map:
        return Section(words("table.profile_title"), (Chart("released", {0: view.released(release.table)}),))
    layouts = {needed: view.released(release.table, width, narrow) for needed, width, narrow in MAP_LAYOUTS}
    return Section(words("table.map_title"), (Text.of(words("table.map")), Chart("released", layouts)))


def _method(release: Release, words: Words) -> Section:
    method, budget = release.method, release.budget
    gaussian = budget.rho is not None
    public_total = Fact("total") in release.guarantee.public
    given = ", ".join(f"{name} = {_written(value)}" for name, value in method.parameters.items() if value is not None)
    facts = {
        words("method.name"): words.label("method_name", method.name),
        words("method.parameters"): given or words("method.no_parameters"),
        words("method.budget"): words(f"method.{budget.currency}", amount=readable(budget.amount)),
        words("method.noise"): words("method.gaussian_noise" if gaussian else "method.laplace_noise"),
        words("method.total"): words("method.total_public" if public_total else "method.total_noisy"),
    }
    text = words.label("method_text", method.name)
    parts = (Text.of("" if text == method.name else text), Facts(facts))
    return Section(words("method.title"), parts, chapter="method")


def attributes_table(domain: Domain, words: Words) -> Table:
    """The declared attributes: what a cell is."""
    rows = tuple((name, *_attribute(attribute, words)) for name, attribute in domain.attributes.items())
    header = (words("attribute.title"), words("attribute.kind"), words("attribute.values"))
    return Table(words("table.attributes_caption"), header, rows, numbers=False)


def _attribute(attribute: Attribute, words: Words) -> tuple[str, str]:
    """The kind of an attribute, and its values."""
    if isinstance(attribute, Mesh | Grid):
        size = attribute.cell_size if isinstance(attribute, Mesh) else ""
        kind = words("attribute.mesh", size=size) if size else words("attribute.grid")
        rows, columns = attribute.lengths
        if attribute.size < rows * columns:
            return kind, words("attribute.squares_under", number=attribute.size, rows=rows, columns=columns)
        return kind, words("attribute.square", rows=rows, columns=columns)
    if isinstance(attribute, Line):
        return words("attribute.line"), words.number(attribute.size)
    kind = words("attribute.bins" if isinstance(attribute, Bins) else "attribute.categories")
    if not isinstance(attribute, Bins | Categories):
        return type(attribute).__name__, words.number(attribute.size)
    names = [str(name) for name in attribute.labels(range(min(attribute.size, _SHOWN_VALUES))).tolist()]
    some = "、".join(names) if words.language == "ja" else ", ".join(names)
    if attribute.size > len(names):
        return kind, words("attribute.more", some=some, number=attribute.size)
    return kind, some


def _written(value: object) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_written(one) for one in value) + "]"
    return str(value)
