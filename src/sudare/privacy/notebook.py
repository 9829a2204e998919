"""Guarantees, balances and ledgers as text for reports, and as small boxes for notebooks."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from sudare.language.catalogue import Words
from sudare.language.messages import PageMessage, Value, said
from sudare.language.translation import text
from sudare.privacy.budget import readable
from sudare.privacy.cap import Amounts, Cap
from sudare.privacy.fact import Fact
from sudare.privacy.guarantee import Adjacency, Guarantee, Notion, Unit

if TYPE_CHECKING:
    from sudare.privacy.balance import Balance
    from sudare.privacy.chain import Entry


NAMES: dict[str, str] = {notion: notion.name.lower() for notion in Notion}
"""Each notion as the catalogue calls it."""
DIFFERENTIAL = ("pure", "approximate", "concentrated", "local")


def headline(guarantee: Guarantee, words: Words) -> str:
    """The promise in one line, with its numbers.

    >>> headline(Guarantee("epsilon-DP", epsilon=Fraction(1, 2)), Words("ja"))
    '差分プライバシー（ε = 0.5）'
    """
    name = NAMES[guarantee.notion]
    numbers = () if name not in DIFFERENTIAL else ("rho",) if name == "concentrated" else ("epsilon", "delta")
    given = {each: readable(value) for each in numbers if (value := getattr(guarantee, each)) is not None}
    return words(f"guarantee.{name}.name", **given)


def guarantee_line(guarantee: Guarantee, words: Words) -> str:
    """The promise and whom it protects in one line; in English all that `Guarantee` says of itself.

    >>> guarantee_line(Guarantee("epsilon-DP", epsilon=Fraction(1, 2)), Words("ja"))
    '差分プライバシー（ε = 0.5）、保護単位：1行'
    """
    if words.language == "en":
        return str(guarantee)
    promise = headline(guarantee, words)
    return (
        words("guarantee.line", promise=promise, unit=unit_words(guarantee.unit, words)) if guarantee.holds else promise
    )


def fact_text(fact: Fact, words: Words) -> str:
    """What a guarantee states, in words for readers of a page.

    >>> fact_text(Fact("areas", areas=3), Words("ja"))
    '3地域の合計（別の情報源から与えられたもの）'
    """
    return said(fact_message(fact), words)


def fact_message(fact: Fact) -> Value:
    """What a page says of a fact: a message, or the fact's own words where the catalogue has none."""
    if fact.code == "text":
        return str(fact)
    return PageMessage(f"stated.{fact.code}", **{name: str(value) for name, value in fact.fields})


def unit_words(unit: Unit, words: Words) -> str:
    """Who is protected, in the page's language.

    >>> unit_words(Unit("person", period="day"), Words("en")), unit_words(Unit("person", period="day"), Words("ja"))
    ('person-day', '個人（1日単位）')
    """
    name = words.label("unit", unit.name)
    return words("unit.per", unit=name, period=words.label("period", unit.period)) if unit.period else name


def standing(balance: Balance, words: Words) -> dict[str, str]:
    """Where a data set stands: what every page, table and box shows of it, each under the catalogue's key of its name.

    >>> from sudare.privacy.balance import Balance
    >>> standing(Balance.of("census", None, []), Words("en"))["ledger.remaining"]
    'no cap, no limit'
    """
    return {
        "ledger.dataset": balance.dataset,
        "ledger.cap": amounts_text(balance.cap) if balance.cap else words("ledger.no_cap"),
        "ledger.spent": amounts_text(_in_currency(balance.spent, balance.cap)),
        "ledger.remaining": remaining_text(balance, words),
        "ledger.releases": words.number(balance.releases),
    }


def balance_facts(balance: Balance, words: Words) -> dict[str, str]:
    """Where a data set stands, line by line, and where the numbers come from."""
    lines = {words(name): value for name, value in standing(balance, words).items()}
    if balance.unbounded:
        lines[words("ledger.unbounded")] = words.number(balance.unbounded)
    if len(balance.units) > 1:
        lines[words("ledger.units")] = words.listing(balance.units)
    return lines | explanation(balance, words)


def balance_row(balance: Balance, words: Words) -> tuple[str, ...]:
    """Where a data set stands, in one row: its name, cap, spending, what is left, releases, remarks.

    In English as `Balance` says it, for tools that read it.
    """
    if words.language == "en":
        cap, remarks = str(balance.cap or "none"), "; ".join(map(str, balance.remarks))
        return balance.dataset, cap, balance.spent_text, balance.remaining_text, str(balance.releases), remarks
    remarks = words("chart.and_then").join(text(remark, words.language) for remark in balance.remarks)
    return *standing(balance, words).values(), remarks


def balance_line(balance: Balance, words: Words) -> str:
    """Where a data set stands, in one line without its name; in English as `Balance` says it."""
    if words.language == "en":
        return balance.text
    _, cap, spent, remaining, releases, remarks = balance_row(balance, words)
    line = words("command.balance", cap=cap, spent=spent, remaining=remaining, releases=releases)
    return line + (words("chart.and_then") + remarks if remarks else "")


def remaining_line(balance: Balance, words: Words) -> str:
    """What one more release may cost; in English as `Balance` says it."""
    return balance.remaining_text if words.language == "en" else remaining_text(balance, words)


def explanation(balance: Balance, words: Words) -> dict[str, str]:
    """Where the numbers of a balance come from: whom they bound, how they were summed, over longer times, and whose."""
    lines = {}
    unit = "" if balance.unit is None else unit_words(balance.unit, words)
    if balance.summed is not None and unit:
        replaced = balance.adjacency == Adjacency.REPLACED
        who = words("ledger.bounds_replaced", unit=unit) if replaced else words("ledger.bounds_added", unit=unit)
        lines[words("ledger.bounds")] = who + (words("ledger.two_steps") if len(balance.adjacencies) > 1 else "")
        lines[words("ledger.how")] = _how(balance, words)
    for number, spent in balance.over:
        lines[words("ledger.over", number=number, unit=unit)] = words(
            "ledger.over_text", amount=amounts_text(_in_currency(spent, balance.cap))
        )
    for each in balance.parts:
        part = words("ledger.part", dataset=each.dataset, part=each.part) if each.part else each.dataset
        lines[part] = amounts_text(_in_currency(each.spent, balance.cap))
    if (account := balance.account) is not None and account.cap is not None:
        lines[words("ledger.account", account=account.dataset)] = words(
            "ledger.account_text",
            spent=amounts_text(_in_currency(account.spent, account.cap)),
            cap=amounts_text(account.cap),
            remaining=remaining_text(account, words),
        )
    return lines


def _how(balance: Balance, words: Words) -> str:
    """By which composition the spending was summed."""
    found = balance.summed
    if found is None or found.way == "nothing":
        return words("ledger.how_nothing")
    if balance.cap is not None and balance.cap.rho is not None:
        return words("ledger.how_rho")
    if found.way == "added":
        return words("ledger.how_added")
    delta = readable(found.delta)
    if found.order is not None:
        return words("ledger.how_orders", delta=delta, order=words.number(float(f"{float(found.order):.3g}")))
    if found.way == "converted":
        return words("ledger.how_converted", delta=delta)
    return words("ledger.how_both", delta=delta)


def entry_time(entry: Entry, words: Words) -> str:
    """When a row of the ledger was written."""
    return words.moment(datetime.datetime.fromisoformat(entry.time))


def entry_words(entry: Entry, words: Words) -> tuple[str, str]:
    """What a row of the ledger is, and its numbers."""
    content = entry.content
    if entry.kind == "cap":
        return words("ledger.set_cap"), amounts_text(Cap.from_json(content))
    if entry.kind == "account":
        return words("ledger.set_account", account=content["account"]), amounts_text(Cap.from_json(content["cap"]))
    if entry.kind == "join":
        return words("ledger.joined", account=content["account"]), content["part"] or "–"
    guarantee = Guarantee.from_json(content["guarantee"])
    return words("ledger.release", release=content["release_id"]), headline(guarantee, words)


def balance_card(balance: Balance, words: Words) -> str:
    """One data set as a box: its facts, and a bar of what is spent."""
    from sudare.language.cards import bar, card, facts

    share = spent_share(balance)
    spent = "" if share is None else bar(share, words("ledger.spent_share", share=words.percent(share)))
    return card(words("ledger.balance_card", dataset=balance.dataset), facts(balance_facts(balance, words)), spent)


def ledger_card(path: str, balances: Sequence[Balance], words: Words) -> str:
    """All data sets of a ledger as a box, one a line."""
    from sudare.language.cards import card, facts, table

    if not balances:
        return card(words("ledger.card", path=path), facts({words("ledger.dataset"): words("ledger.empty")}))
    # What only some data sets have to say is said by their own boxes.
    rows = [standing(balance, words) for balance in balances]
    header = [words(name) for name in rows[0]]
    return card(words("ledger.card", path=path), table(header, [list(row.values()) for row in rows]))


def spent_share(balance: Balance) -> float | None:
    """Of the cap, the share that is spent; None without a cap or where the spending has no number in its currency."""
    if balance.cap is None:
        return None
    spent = balance.spent.epsilon if balance.cap.rho is None else balance.spent.rho
    return None if spent is None else float(spent / balance.cap.amount)


def amounts_text(amounts: Amounts | Cap) -> str:
    """Numbers under their signs.

    >>> amounts_text(Cap(epsilon=Fraction(1, 2), delta=Fraction(1, 1000)))
    'ε = 0.5, δ = 0.001'
    """
    numbers = [("ε", amounts.epsilon), ("ρ", amounts.rho), ("δ", amounts.delta or None)]
    return ", ".join(_amount(sign, number) for sign, number in numbers if number is not None) or "–"


def remaining_text(balance: Balance, words: Words) -> str:
    """The most that one more release may cost."""
    left = balance.remaining
    if left is None or balance.cap is None:
        return words("ledger.unlimited")
    if balance.cap.rho is None and not balance.cap.delta:
        return _amount("ε", left.epsilon)
    both = [_amount("ε", left.epsilon), _amount("ρ", left.rho)]
    return words("ledger.or").join(both if balance.cap.rho is None else reversed(both))


def _in_currency(spent: Amounts, cap: Cap | None) -> Amounts:
    """Spending as one number: in rho under a cap in rho, else in epsilon."""
    if cap is not None and cap.rho is not None:
        return Amounts(None, Fraction(0), spent.rho)
    return Amounts(spent.epsilon, spent.delta, None)


def _amount(sign: str, amount: Fraction | None) -> str:
    return f"{sign} = {readable(amount)}" if amount is not None else "–"
