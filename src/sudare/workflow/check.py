"""`check`: a private look at the data of a recipe before anything is spent.

It reads the private rows and tells the steward alone how many of them fit and why the others do not. What it says is
exact, so that it goes to the steward's terminal, page or notebook and into nothing that is published or logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.language.cards import card, facts, table
from sudare.language.catalogue import Words
from sudare.language.messages import OnProgress, Progress, Stage, unheard
from sudare.workflow.job import Job, RecipeSource
from sudare.workflow.needs import memory_refused

if TYPE_CHECKING:
    from sudare.engines.examine import Examination, Misfit
    from sudare.render.sections import Part, Section

ASKED_FROM = 0.01
"""The share of rows that are not counted above which `sudare publish` asks in a terminal."""


@dataclass(frozen=True)
class Check:
    """How many ``rows`` there are, how many are ``fitting``, and the ``reasons`` of the others. Private."""

    dataset: str
    found: Examination
    would_refuse: bool
    """Whether `publish` would refuse the data as the recipe stands."""

    @property
    def rows(self) -> int:
        """Rows that were read."""
        return self.found.rows

    @property
    def fitting(self) -> int:
        """Rows that would be counted."""
        return self.found.fitting

    @property
    def reasons(self) -> tuple[Misfit, ...]:
        """Why rows are not counted: by column and reason."""
        return self.found.misfits

    @property
    def share_left_out(self) -> float:
        """The share of rows that would not be counted; 1 where there are no rows."""
        return 1 - self.fitting / self.rows if self.rows else 1.0

    @property
    def needs_confirmation(self) -> bool:
        """Whether more than 1 % of the rows, or all of them, would not be counted."""
        return self.share_left_out > ASKED_FROM or not self.fitting

    def to_json(self) -> dict[str, Any]:
        """For the steward's own programs: exact numbers about private rows."""
        return {
            "internal": True,
            "dataset": self.dataset,
            "rows": self.rows,
            "fitting": self.fitting,
            "people": self.found.people,
            "outside": self.found.outside,
            "over_limit": self.found.over_limit,
            "would_refuse": self.would_refuse,
            "reasons": [
                {
                    "attribute": each.attribute,
                    "columns": list(each.columns),
                    "code": str(each.code),
                    "rows": each.rows,
                    "reason": str(Words("en")(f"look.reason.{each.code}")),
                    "remedy": str(Words("en")(f"look.remedy.{each.code}")),
                    **({"values": [list(value) for value in each.values]} if each.values else {}),
                }
                for each in self.reasons
            ],
        }

    def _repr_html_(self) -> str:
        from sudare.language.catalogue import current_language

        words = current_language()
        parts = [facts(summary(self, words))]
        if self.reasons:
            parts.append(table(*reason_rows(self, words)))
        return card(words("look.title"), *parts)


@memory_refused()
def check(
    recipe: RecipeSource,
    *,
    folder: str | Path | None = None,
    values: bool = False,
    period: str | None = None,
    progress: OnProgress = unheard,
) -> Check:
    """Read the private data of a recipe and say how many rows fit, and why the others do not; spends nothing.

    ``recipe`` and ``folder`` are as in `publish`, and ``period`` as in `plan`.
    ``values`` also shows the most frequent values of rows that do not
    fit. All of it is private: it is for whoever holds the data.
    """
    job = Job.ready(recipe, folder, period)
    progress(Progress(Stage.EXAMINING))
    return check_job(job, values=values)


def check_job(job: Job, *, values: bool = False) -> Check:
    """`check` of a recipe that is open already."""
    from sudare.engines.examine import Reason

    found, data = job.kind.examine(values=values), job.recipe.data
    codes = {each.code for each in found.misfits}
    without = Reason.NO_ID in codes and data.missing_unit == "error"
    elsewhere = codes - {Reason.NO_ID, Reason.OVER_LIMIT}
    wrong_counts = bool(codes & {Reason.NOT_A_COUNT, Reason.TWICE})
    limit = getattr(data, "refuse_if_dropped", None)
    too_many = limit is not None and found.outside > limit * found.rows
    refused = without or wrong_counts or too_many or (bool(elsewhere) and getattr(data, "outside", "") == "error")
    return Check(job.recipe.dataset, found, refused)


def summary(check: Check, words: Words) -> dict[str, str]:
    """The numbers, line by line."""
    whole = max(1, check.rows)
    lines = {"rows": words.number(check.rows)}
    for name in ("fitting", "outside", "over_limit"):
        number = getattr(check.found, name)
        if number or name == "fitting":
            lines[name] = words("look.share", rows=words.number(number), share=words.percent(number / whole))
        if name == "fitting" and check.found.people is not None:
            lines["people"] = words.number(check.found.people)
    return {words(f"look.{name}"): line for name, line in lines.items()}


def reason_rows(check: Check, words: Words) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of a table of reasons."""
    shows = any(each.values for each in check.reasons)
    names = ["column", "reason", "rows", "remedy", *(["values"] if shows else [])]
    rows = [
        [
            ", ".join(each.columns),
            words(f"look.reason.{each.code}"),
            words.number(each.rows),
            words(f"look.remedy.{each.code}"),
            *([_values(each, words)] if shows else []),
        ]
        for each in check.reasons
    ]
    return [words(f"look.column.{name}") for name in names], rows


def _values(misfit: Misfit, words: Words) -> str:
    shown = [words("look.value", value=repr(value), rows=words.number(rows)) for value, rows in misfit.values]
    return words.listing(shown) if shown else ""


def remarks(check: Check, words: Words) -> list[str]:
    """What the steward should hear besides the numbers."""
    said = []
    if check.would_refuse:
        said.append(words("look.would_refuse"))
    elif not check.fitting:
        said.append(words("look.nobody"))
    return said if check.reasons or not check.rows else [*said, words("look.all_fit")]


def look_section(check: Check, words: Words) -> Section:
    """For the internal report: how many rows were read, counted and dropped, and why."""
    from sudare.render.sections import Facts, Section, Table, Text

    parts: list[Part] = [Facts(summary(check, words)), Text.of(*remarks(check, words))]
    if check.reasons:
        header, rows = reason_rows(check, words)
        parts.insert(1, Table(words("look.title"), tuple(header), tuple(map(tuple, rows)), numbers=False))
    return Section(words("look.title"), tuple(parts), internal=True)
