"""The recipes that are audited: every kind, every method, and the options that change what is read or measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sudare.audit.neighbours import (
    ODD,
    OUTSIDE,
    UNKNOWN,
    World,
    person_by_person,
    person_for_person,
    row_by_row,
    strangers,
)

PRIVATE = "people.parquet"
UNIT = 'unit = "person"\nmax_rows = {rows}\n'
DOMAIN = (
    '[domain.x]\ntype = "bins"\nstart = 0\nstop = 16\nstep = 1\n'
    '[domain.sex]\ntype = "categories"\nvalues = ["f", "m"]\n'
)
COLUMNS = '[columns.x]\nbounds = [0, 16]\n[columns.sex]\ncategories = ["f", "m"]\n'
AREAS = '[[public_totals]]\nwhere = { sex = ["m"] }\nnumber = 12\n'
TREES = '[hierarchies.x]\nlow = 0\nhigh = 16\nwidths = [2, 4]\n[hierarchies.sex]\nvalues = ["f", "m"]\n'

METHODS = ("tree", "marginals", "top_down", "simplex", "negative_l2", "nonnegative_lasso", "laplace", "privelet")
_TELLING = (
    "name", "epsilon", "delta", "rho", "total", "max_rows", "cut", "children", "noise", "outside", "estimator",
    "adjacency", "rows", "basis", "centres", "decomposition", "k", "choose_epsilon", "learn_on", "levels", "where",
)  # fmt: skip

Worlds = Callable[[int, int, int], World]
"""Data sets for a number of people, a seed, and a number of generated neighbours."""


@dataclass(frozen=True)
class RecipeCase:
    """A recipe to audit: ``data`` and ``columns`` are the parts that say what is read, ``choice`` the rest of it.

    ``world`` makes the data sets; ``factor`` and ``rows`` are those of a `Neighbour`.
    """

    kind: str
    data: str
    columns: str
    choice: str
    world: Worlds
    factor: int = 1
    rows: int | None = None

    @property
    def name(self) -> str:
        """The kind and what sets the case apart."""
        said = [line.split(" = ", 1) for line in (self.data + self.choice).splitlines() if "=" in line]
        kept = [(key, value.strip('"')) for key, value in said if key in _TELLING and value != '"drop"']
        told = [value if key == "name" else key if value[0] == "{" else f"{key} {value}" for key, value in kept]
        return ", ".join([self.kind, *told])

    @property
    def reading(self) -> tuple[str, str, str]:
        """Cases that agree in it read the same: rows of a person that are averaged are all read."""
        bound = "averaged" if "averaged" in self.choice else ""
        return self.kind, self.data + self.columns + bound, self.world.__name__

    def text(self) -> str:
        return recipe_text(self.kind, self.data, self.columns, self.choice)


def recipe_text(kind: str, data: str, columns: str, choice: str) -> str:
    """A recipe over the invented people."""
    shared = f'dataset = "audit"\n[data]\npath = "{PRIVATE}"\n{data}[output]\nfolder = "release"\n'
    return f'kind = "{kind}"\n{shared}{columns}{choice}'


def counted(people: int, seed: int, generated: int) -> World:
    """One person is added or removed: every odd one, some ordinary ones; and strangers."""
    return person_by_person(people, seed, generated) | strangers()


def drawn_from(people: int, seed: int, generated: int) -> World:
    """One person is added or removed, of at least 12, so that a sample with k = 3 is not refused."""
    return person_by_person(max(people, 12), seed, generated, ODD | UNKNOWN)


def within(people: int, seed: int, generated: int) -> World:
    """People who come and go, of whom all is known; some lie outside and are moved to the bounds.

    Ordinary ones have one row: weights choose rows by one stream of random numbers for all people. Choices of different
    people are independent, but under replay they would not be the same ones for a neighbour.
    """
    return person_by_person(max(people, 2), seed, generated, ODD | OUTSIDE, rows=1)


def exchanged(people: int, seed: int, generated: int) -> World:
    """Everybody has one row; one row is replaced by another inside the domain."""
    return row_by_row(max(people, 2), seed, generated)


def moved_in(people: int, seed: int, generated: int) -> World:
    """Everybody has one row; one row is replaced by another inside or outside the domain."""
    return row_by_row(max(people, 2), seed, generated, outside=True)


def thrice(people: int, seed: int, generated: int) -> World:
    """Everybody has three rows; all rows of one person are replaced."""
    return person_for_person(max(people // 3, 2), seed, generated)


def table_case(method: str, privacy: str, rows: int, more: str = "") -> RecipeCase:
    """A table by ``method``, with so many rows of a person."""
    data = UNIT.format(rows=rows) + 'outside = "drop"\n'
    public = 'total = "public"' in privacy
    choice = f'[method]\nname = "{method}"\n{more}[privacy]\n{privacy}\n'
    return RecipeCase("table", data, DOMAIN, choice, exchanged if public else counted, 2 if public else 1)


def tables(rows: tuple[int, ...] = (1, 3)) -> Iterator[RecipeCase]:
    """Every method, with so many rows of a person; Gaussian noise; options; public totals."""
    for most in rows:
        for method in METHODS:
            yield table_case(method, "epsilon = 0.5", most)
    for method in METHODS:
        yield table_case(method, "rho = 0.1", 3)
    yield table_case("tree", "epsilon = 1\ndelta = 0.000001", 3)
    yield table_case("laplace", "epsilon = 1", 3, "cut = 3\n")
    yield table_case("tree", "epsilon = 1", 3, "children = 2\n")
    yield table_case("privelet", "epsilon = 1", 3, 'decomposition = "standard"\n')
    for method in ("tree", "simplex"):
        yield table_case(method, f"epsilon = 1\n{AREAS}", 3)
    for method in ("tree", "marginals", "top_down", "simplex", "negative_l2", "nonnegative_lasso"):
        yield table_case(method, 'epsilon = 1\ntotal = "public"', 1)
    for method in ("tree", "marginals", "top_down", "simplex"):
        yield table_case(method, 'rho = 0.5\ntotal = "public"', 1)


def samples() -> Iterator[RecipeCase]:
    """One row of each person: levels that are fixed, learned on public records, and chosen privately."""
    ways = (
        "levels = { x = 1, sex = 0 }\n",
        'learn_on = "public.parquet"\n',
        "choose_epsilon = 0.5\nepsilon = 2\n",
    )
    for way in ways:
        choice = f'[sample]\nk = 3\nrate = 0.4\nmissing = "value"\n{way}'
        yield RecipeCase("sample", UNIT.format(rows=1), TREES, choice, drawn_from)


def perturbations() -> Iterator[RecipeCase]:
    """Numbers and categories, row by row; numbers outside moved to the bounds; three rows of a person."""
    for noise in ("laplace", "square_wave"):
        choice = f'[perturbation]\nepsilon = 1\nnoise = "{noise}"\n'
        yield RecipeCase("perturbation", "", COLUMNS, choice, exchanged, rows=1)
        yield RecipeCase("perturbation", "", COLUMNS, choice + 'outside = "clamp"\n', moved_in, rows=1)
        yield RecipeCase("perturbation", UNIT.format(rows=3), COLUMNS, choice, thrice, rows=3)


def weights() -> Iterator[RecipeCase]:
    """Both estimators, bases and adjacencies, Gaussian noise, people with many rows, centres of private records."""
    public = '[public]\npath = "public.parquet"\n'
    for more in ("", "delta = 0.000001\n", 'basis = "kernel"\n', 'estimator = "ulsif"\n'):
        yield RecipeCase("weights", "", COLUMNS, f"[weights]\nepsilon = 1\n{more}{public}", moved_in)
    noisy = f'[weights]\nepsilon = 1\ncentres = "noisy"\n{public}'
    yield RecipeCase("weights", "", "[columns.x]\nbounds = [0, 16]\n", noisy, moved_in)
    came = '[weights]\nepsilon = 1\nadjacency = "add_remove"\n'
    yield RecipeCase("weights", UNIT.format(rows=1), COLUMNS, came + public, within)
    # A kernel basis does not show the number of people, which is measured then.
    yield RecipeCase("weights", UNIT.format(rows=1), COLUMNS, f'{came}basis = "kernel"\n{public}', within)
    yield RecipeCase("weights", UNIT.format(rows=3), COLUMNS, came + public, within)
    yield RecipeCase("weights", UNIT.format(rows=1), COLUMNS, f'{came}rows = "averaged"\n{public}', within)


def cases(*, quick: bool = False) -> Iterator[RecipeCase]:
    """All that is audited by replay from a recipe.

    ``quick`` leaves out tables with one row of a person.
    """
    yield from (*tables((3,) if quick else (1, 3)), *samples(), *perturbations(), *weights())
