"""The demo: an invented city published from end to end, and compared with its truth, which may be seen."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from sudare.errors import OutputError
from sudare.noise import Source
from sudare.privacy import readable
from sudare.privacy.state import nothing_remembered
from sudare.publish.certificate import NAME, verify
from sudare.publish.comparison import write_page
from sudare.publish.job import Job
from sudare.publish.run import Publication, publish
from sudare.publish.synthetic import write_city
from sudare.publish.table_job import TableJob
from sudare.publish.table_rehearsal import TableRehearsal, compared, expected_errors

RECIPE = "recipe.toml"


@dataclass(frozen=True)
class Demo:
    """What the demo made."""

    folder: Path
    publication: Publication
    rehearsal: TableRehearsal
    expected_cell_error: float

    @property
    def facts(self) -> dict[str, str]:
        """A short summary for people."""
        made = self.publication
        table, left = made.release.table, made.balance.remaining
        single = self.rehearsal.errors[0]["root_mean_square_error"]
        return {
            "cells": f"{table.domain.size:,} declared, {len(table):,} released with people",
            "people": f"{table.total:,} (a noisy total; the city has {self.rehearsal.truth.total:,})",
            "guarantee": str(made.release.guarantee),
            "epsilon": f"{readable(made.release.budget.amount)} spent"
            + (f", {readable(left.epsilon)} left" if left and left.epsilon is not None else ""),
            "error of a cell": f"{self.expected_cell_error:.3g} expected from a rehearsal, {single:.3g} found",
            "release": f"{made.folder} ({', '.join(made.to_json()['files'])})",
            "verified": f"{made.folder / NAME}",
            "ledger": str(self.folder / "ledger.db"),
            "report": f"{made.report} (public)" if made.report else "none",
            "look at": f"{self.folder / 'comparison.html'} and comparison.png (true values: internal)",
        }

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "folder": str(self.folder),
            "publication": self.publication.to_json(),
            "comparison": self.rehearsal.to_json(),
            "expected_cell_error": self.expected_cell_error,
        }


def run_demo(folder: Path, *, people: int, progress: Callable[[str], None] = lambda _: None) -> Demo:
    """Invent a city in ``folder``, publish it there, verify it, and draw the comparison.

    A demo that is there already is replaced, ledger and all; any other folder is left alone.
    """
    recipe_text = files("sudare.publish").joinpath("demo.toml").read_text(encoding="utf-8")
    _make_room(folder, recipe_text)
    recipe = folder / RECIPE
    recipe.write_text(recipe_text, encoding="utf-8", newline="\n")
    progress(f"inventing {people:,} people")
    write_city(folder / "people.parquet", people)
    job = Job.open(recipe).kind
    assert isinstance(job, TableJob)  # noqa: S101 - the recipe is ours
    progress("planning")
    expected, _ = expected_errors(job)
    with nothing_remembered():
        made = publish(recipe, progress=progress)
    progress("verifying")
    verify(made.folder / NAME, publisher=job.path(job.recipe.output.key))
    progress("comparing")
    truth = job.gather(Source.system())
    rehearsal = compared(job, truth, made.release, f"{people:,} invented people")
    for name in ("comparison.html", "comparison.png"):
        write_page(rehearsal, folder / name, title=job.recipe.title)
    return Demo(folder, made, rehearsal, expected[0]["root_mean_square_error"])


def _make_room(folder: Path, recipe_text: str) -> None:
    """An empty folder; only an earlier demo is cleared away."""
    first_line = recipe_text.partition("\n")[0]
    try:
        if folder.exists() and any(folder.iterdir()):
            earlier = folder / RECIPE
            if not earlier.is_file() or not earlier.read_text(encoding="utf-8").startswith(first_line):
                raise OutputError("the folder holds something else than a demo", value=str(folder))
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise OutputError(f"the folder cannot be used: {problem.strerror}", value=str(folder)) from None
