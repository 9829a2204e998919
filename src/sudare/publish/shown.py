"""A plan as a small box for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.privacy.shown import balance_facts, headline, unit_words
from sudare.words import Words, card, facts, said, table
from sudare.words import lines as said_lines

if TYPE_CHECKING:
    from sudare.publish.plan import Plan

_HIDDEN = ("block_level",)


def plan_card(plan: Plan, words: Words) -> str:
    """What would be promised, come out, be spent and be left, and how far off it may be."""
    left = words("ledger.remaining")
    lines = {
        words("guarantee.promise"): headline(plan.guarantee, words),
        words("guarantee.unit"): unit_words(plan.guarantee.unit, words),
        **said_lines(plan.outlook.facts, words),
        **said_lines(plan.resources, words),
        words("ledger.spent"): balance_facts(plan.balance, words)[words("ledger.spent")],
        words("plan.after"): balance_facts(plan.balance_after, words)[left]
        if plan.balance_after
        else words("plan.refused"),
        words("plan.errors_from"): plan.errors_from.text(words),
    }
    lines |= {f"{words('plan.remark')} {number}": said(remark, words) for number, remark in enumerate(plan.remarks, 1)}
    names = [name for name in dict.fromkeys(key for row in plan.errors for key in row) if name not in _HIDDEN]
    shown = [name for name in names if any(row.get(name) is not None for row in plan.errors)]
    header = [words.label("error", name).replace("_", " ") for name in shown]
    rows = [[_cell(row.get(name), words) for name in shown] for row in plan.errors]
    return card(words("plan.title", dataset=plan.dataset), facts(lines), table(header, rows))


def _cell(value: object, words: Words) -> str:
    if value is None:
        return ""
    return words.number(value) if isinstance(value, int | float) else str(value)
