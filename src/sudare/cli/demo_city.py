"""The demo: an invented city published from end to end, and compared with its truth, which may be seen."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from sudare.domain import CountTable
from sudare.errors import OutputError
from sudare.language.catalogue import ENGLISH, Words
from sudare.language.messages import OnProgress, PageMessage, Progress, Stage, unheard
from sudare.noise import Source
from sudare.privacy import readable
from sudare.privacy.history import nothing_remembered
from sudare.privacy.notebook import guarantee_line
from sudare.tables.forecast import forecast
from sudare.tables.kind import TableKind
from sudare.tables.rehearsal import TableRehearsal, compared
from sudare.tables.synthetic import write_city
from sudare.workflow.certificate import verify
from sudare.workflow.folder import CERTIFICATE
from sudare.workflow.job import Job
from sudare.workflow.publication import Publication, publish
from sudare.workflow.rehearsal import write_page

RECIPE = "recipe.toml"


@dataclass(frozen=True)
class Demo:
    """The results of the demo."""

    folder: Path
    publication: Publication
    rehearsal: TableRehearsal
    expected_cell_error: float

    def facts(self, words: Words = ENGLISH) -> dict[str, str]:
        """A short summary for people."""
        made = self.publication
        table, left = made.release.table, made.balance.remaining
        single = self.rehearsal.errors[0]["populated_error"]  # none where nobody lives in the window
        spent = {"spent": readable(made.release.budget.amount)}
        if left and left.epsilon is not None:
            budget = words("demo.spent_left", **spent, left=readable(left.epsilon))
        else:
            budget = words("demo.spent", **spent)
        files = ", ".join(made.to_json()["files"])
        page, expected = str(self.folder / "comparison.html"), f"{self.expected_cell_error:.3g}"
        people = {"released": table.total, "true": self.rehearsal.truth.total}
        return {
            words("demo.cells"): words("demo.cells_text", declared=table.domain.size, released=len(table)),
            words("demo.people"): words("demo.people_text", **people),
            words("demo.guarantee"): guarantee_line(made.release.guarantee, words),
            words("demo.epsilon"): budget,
            words("demo.error"): words(
                "demo.error_text", expected=expected, found="–" if single is None else f"{single:.3g}"
            ),
            words("demo.release"): words("demo.release_text", folder=str(made.folder), files=files),
            words("demo.verified"): f"{made.folder / CERTIFICATE}",
            words("demo.ledger"): str(self.folder / "ledger.db"),
            words("demo.report"): words("demo.report_text", path=str(made.report))
            if made.report
            else words("demo.no_report"),
            words("demo.look"): words("demo.look_text", page=page, picture="comparison.png"),
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "publication": self.publication.to_json(),
            "comparison": self.rehearsal.to_json(),
            "expected_cell_error": self.expected_cell_error,
        }


def run_demo(folder: Path, *, people: int, progress: OnProgress = unheard) -> Demo:
    """Invent a city in ``folder``, publish it there, verify it, and draw the comparison.

    A demo that is there already is replaced, ledger and all; any other folder is left alone.
    """
    progress(Progress(Stage.INVENTING))
    truth = _invent(folder, people)
    recipe = folder / RECIPE
    job = _table_of(recipe)
    progress(Progress(Stage.PLANNING))
    expected = forecast(job).errors[0]
    with nothing_remembered():
        made = publish(recipe, progress=progress)
    progress(Progress(Stage.VERIFYING))
    verify(made.folder / CERTIFICATE, publisher=job.path(job.recipe.output.key))
    progress(Progress(Stage.COMPARING))
    rehearsal = compared(job, truth, made.release, PageMessage("basis.invented", people=people))
    for name in ("comparison.html", "comparison.png"):
        write_page(rehearsal, folder / name, title=job.recipe.title)
    return Demo(folder, made, rehearsal, expected["populated_error"])


def _invent(folder: Path, people: int) -> CountTable:
    """Make an invented city and its recipe in ``folder``: its table.

    The recipe declares how many people there are and in how many cells, which is public where all are invented.
    """
    text = files("sudare.cli").joinpath("demo.toml").read_text(encoding="utf-8")
    _make_room(folder, text)
    recipe = folder / RECIPE
    recipe.write_text(text, encoding="utf-8", newline="\n")
    write_city(folder / "people.parquet", people)
    truth = _table_of(recipe).gather(Source.system())
    share = max(len(truth), 1) / truth.domain.size
    text = text.replace("people = 3_000_000", f"people = {people:_}").replace("= 0.34", f"= {share:.2g}")
    recipe.write_text(text, encoding="utf-8", newline="\n")
    return truth


def _table_of(recipe: Path) -> TableKind:
    job = Job.open(recipe).kind
    assert isinstance(job, TableKind)  # noqa: S101 - the recipe is ours
    return job


def _make_room(folder: Path, recipe_text: str) -> None:
    """An empty folder; only an earlier demo is cleared away."""
    first_line = recipe_text.partition("\n")[0]
    with OutputError.from_system("the folder cannot be used: {reason}", value=str(folder)):
        if folder.exists() and any(folder.iterdir()):
            earlier = folder / RECIPE
            if not earlier.is_file() or not earlier.read_text(encoding="utf-8").startswith(first_line):
                raise OutputError("the folder holds something else than a demo", value=str(folder))
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)


def demo_workspace(words: Words, people: int = 100_000) -> Path:
    """A new folder here with an invented city and a recipe for it, to play with: the path of the recipe."""
    from sudare.studio.editing import edited

    number, place = 1, Path("sudare-demo")
    while place.exists():
        number += 1
        place = Path(f"sudare-demo-{number}")
    _invent(place, people)
    recipe = place / RECIPE
    # A data set of its own: this machine remembers what was spent on others.
    own = {"dataset": f"invented-city-{secrets.token_hex(3)}", "title": words("demo.title")}
    recipe.write_text(edited(recipe.read_text(encoding="utf-8"), own), encoding="utf-8", newline="\n")
    return recipe
