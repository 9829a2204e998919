"""The papers that Sudare is built on: one list, from which README, the documentation and `sudare reproduce --help` are
written.

Facts stand here; titles, authors, what a paper says and how near we come are texts of the catalogue of pages
(``paper.title.KEY`` and so on), in each language.
"""

from __future__ import annotations

from dataclasses import dataclass

from sudare.language.catalogue import LANGUAGES, Words

START, END = "<!-- papers: written by sudare.papers.catalogue -->", "<!-- end of papers -->"
"""Between these lines a page holds the table."""


@dataclass(frozen=True)
class Paper:
    """``key`` names it on the command line; ``year`` where the paper states it.

    ``minutes`` are of one processor: for ``--quick`` as measured with the real data, for the whole experiment about as
    many times more as it has runs.
    """

    key: str
    year: int | None
    function: str
    recipe: str
    minutes: tuple[float, float]

    @property
    def module(self) -> str:
        """The one that repeats it."""
        return self.key.replace("-", "_")

    @property
    def dated(self) -> str:
        """A name, followed by the year of the paper."""
        return "" if self.year is None else f" ({self.year})"

    def text(self, what: str, words: Words) -> str:
        """Its ``title``, ``authors``, what it ``says`` and ``found``, or how ``near`` we come."""
        return words(f"paper.{what}.{self.key}")

    def elsewhere(self, words: Words) -> str:
        """Its authors and title in the other languages: the papers are Japanese, and their English titles are ours."""
        others = [Words(language) for language in LANGUAGES if language != words.language]
        return "".join(f"; {self.text('authors', one)}: {self.text('title', one)}" for one in others)

    def described(self, words: Words, *what: str) -> dict[str, str]:
        """Some of the columns of the table, by their titles; ``duration`` is how long it takes."""
        quick, full = (words.number(max(1, round(minutes))) for minutes in self.minutes)
        known = {
            "function": self.function.replace("`", ""),
            "recipe": self.recipe.replace("`", ""),
            "command": f"sudare reproduce {self.key}",
            "duration": words("paper.duration", quick=quick, full=full),
        }
        return {words(f"paper.column.{name}"): known.get(name) or self.text(name, words) for name in what}


PAPERS = (
    Paper(
        "sparse-l2",
        None,
        "`sd.NegativeL2`, `sd.Simplex`, `sd.NonnegativeLasso`",
        '`kind = "table"`, `method.name = "negative_l2"`',
        (0.9, 10),
    ),
    Paper("top-down", 2015, "`sd.TopDown`, `sd.Privelet`", '`kind = "table"`, `method.name = "top_down"`', (0.4, 8)),
    Paper("ulsif", None, "`sd.reweight.fit`", '`kind = "weights"`', (2.2, 25)),
    Paper("k-anonymity", 2020, "`sd.anonymity.anonymize`", '`kind = "sample"`', (0.2, 3)),
    Paper("rappor-em", 2020, "`sd.local.SymmetricUnary`, `sd.local.estimate`", "`sudare collect`", (1.6, 8)),
    Paper("mixture", None, "`sd.reconstruct.perturb`, `Mixture`", '`kind = "perturbation"`', (4.2, 50)),
)
BY_KEY = {paper.key: paper for paper in PAPERS}


def markdown(words: Words) -> str:
    """The table of all papers, for a page of Markdown."""
    columns = ("paper", "says", "function", "recipe", "command", "near")
    header = [words(f"paper.column.{name}") for name in columns]
    rows = [header, ["---"] * len(header)]
    for paper in PAPERS:
        names = f"{paper.text('authors', words)}: *{paper.text('title', words)}*{paper.dated}{paper.elsewhere(words)}"
        command, near = f"`sudare reproduce {paper.key}`", paper.text("near", words)
        rows.append([names, paper.text("says", words), paper.function, paper.recipe, command, near])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def placed(page: str, words: Words) -> str:
    """A page with the table between its two marks as the list says now."""
    before, rest = page.split(START)
    return f"{before}{START}\n{markdown(words)}\n{END}{rest.split(END)[1]}"
