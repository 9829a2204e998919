"""A release as a small box for notebooks: its facts and its map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.charts import View, render_png
from sudare.privacy.shown import headline, unit_words
from sudare.words import Words, card, facts, picture

if TYPE_CHECKING:
    from sudare.tables.release import Release

_MAP_WIDTH, _PROFILE_WIDTH = 330, 560


def release_card(release: Release, words: Words) -> str:
    """What is promised, to whom, and what came out; nothing is loaded from elsewhere."""
    table = release.table
    lines = {
        words("guarantee.promise"): headline(release.guarantee, words),
        words("guarantee.unit"): unit_words(release.guarantee.unit, words),
        words("method.name"): words.label("method_name", release.method.name),
        words("table.total"): words.number(table.total),
        words("table.cells"): words.number(table.domain.size),
        words("table.listed"): words.number(len(table)),
    }
    if release.guarantee.in_no_ledger:
        lines[words("guarantee.ledger")] = words("guarantee.in_no_ledger")
    view = View.of(table.domain, words)
    drawn = view.still(table, _MAP_WIDTH if view.is_map else _PROFILE_WIDTH)
    return card(words("table.title"), facts(lines), picture(render_png(drawn, 1.0), drawn["description"]))
