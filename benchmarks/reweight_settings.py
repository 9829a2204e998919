"""Private records and public files that are unlike them: what the intervals of weighted answers are measured on.

`tuned` are those that the constants of `sudare.reweight.doubt` were set on; `judged` were looked at when all was set.
Two things were changed after that first look: "lacks graduates" showed that records just beyond the last public row
show by half at the next knot (`_HALF_WAY`), and "men for women" from which share on an answer is flagged (`ASSUMED`).
"nobody under 25" and "few rich" were first looked at after these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from grids import data_folder
from sudare.papers.data import adult_columns

Columns = dict[str, np.ndarray]
HOURS, EDUCATION, MARRIED = "hours-per-week", "education-num", "marital-status"
BOUNDS = {"age": (17.0, 90.0), EDUCATION: (1.0, 16.0), HOURS: (1.0, 99.0)}


@dataclass(frozen=True)
class Query:
    """A function of columns, and what it may be anywhere."""

    name: str
    function: Callable[[Columns], np.ndarray]
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class Setting:
    """``draw`` gives private and public columns."""

    name: str
    draw: Callable[[np.random.Generator], tuple[Columns, Columns]]
    bounds: dict[str, tuple[float, float]]
    categories: dict[str, list[str]]
    queries: tuple[Query, ...]


@cache
def adult() -> Columns:
    columns, _ = adult_columns()
    return {name: np.array(values).astype(float if name in BOUNDS else str) for name, values in columns.items()}


def adult_is_here() -> bool:
    return (data_folder() / "adult" / "adult.data.gz").exists()


def of_adult(
    name: str,
    columns: tuple[str, ...],
    public: int,
    queries: tuple[Query, ...],
    kept: Callable[[Columns, np.random.Generator], Any],
    private: Callable[[Columns], Any] | None = None,
) -> Setting:
    """One half of Adult is private; of the other, the first ``public`` rows that are ``kept``."""

    def draw(generator: np.random.Generator) -> tuple[Columns, Columns]:
        data = adult()
        order = generator.permutation(len(data["age"]))
        half = len(order) // 2
        above, below = order[:half], order[half:]
        if private is not None:
            above = above[private({key: column[above] for key, column in data.items()})]
        below = below[kept({key: column[below] for key, column in data.items()}, generator)][:public]
        return {key: data[key][above] for key in columns}, {key: data[key][below] for key in columns}

    categories = {key: sorted(set(adult()[key].tolist())) for key in columns if key not in BOUNDS}
    return Setting(name, draw, {key: BOUNDS[key] for key in columns if key in BOUNDS}, categories, queries)


def share(function: Callable[[Columns], Any]) -> Callable[[Columns, np.random.Generator], Any]:
    """Rows kept with this probability."""
    return lambda columns, generator: generator.random(len(columns["age"])) < function(columns)


def rich(columns: Columns) -> np.ndarray:
    return columns["income"] == ">50K"


def degree(columns: Columns) -> np.ndarray:
    return columns[EDUCATION] >= 13


def self_employed(columns: Columns) -> np.ndarray:
    return np.char.startswith(columns["workclass"], "Self")


MEAN_AGE = Query("mean age", lambda c: c["age"], 17, 90)
MEAN_HOURS = Query("mean hours", lambda c: c[HOURS], 1, 99)
OF_HOURS = (
    MEAN_HOURS,
    Query("50 hours or more", lambda c: c[HOURS] >= 50),
    Query("over 60 hours", lambda c: c[HOURS] > 60),
    Query("under 35 hours", lambda c: c[HOURS] < 35),
)
OF_AGE = (
    MEAN_AGE,
    Query("65 or older", lambda c: c["age"] >= 65),
    Query("80 or older", lambda c: c["age"] >= 80),
    Query("under 30", lambda c: c["age"] < 30),
)
OF_WOMEN = (
    Query("women", lambda c: c["sex"] == "Female"),
    Query("women, 50 hours", lambda c: (c["sex"] == "Female") & (c[HOURS] >= 50)),
    Query("hours of women", lambda c: (c["sex"] == "Female") * c[HOURS], 0, 99),
)
OF_INCOME = (
    Query("income", rich),
    Query("income, degree", lambda c: rich(c) & degree(c)),
    Query("income, from 50 on", lambda c: rich(c) & (c["age"] >= 50)),
    Query("degree", degree),
)
OF_STUDY = (
    Query("mean education", lambda c: c[EDUCATION], 1, 16),
    Query("education over 14", lambda c: c[EDUCATION] > 14),
    Query("education 16", lambda c: c[EDUCATION] == 16),
    Query("degree", degree),
    MEAN_AGE,
    Query("over 65", lambda c: c["age"] > 65),
    Query("self-employed", self_employed),
    Query("self-employed, degree", lambda c: self_employed(c) & degree(c)),
)
OF_MARRIED = (
    MEAN_HOURS,
    *OF_AGE,
    Query("over 60 hours", lambda c: c[HOURS] > 60),
    Query("never married", lambda c: c[MARRIED] == "Never-married"),
    Query("never married, under 30", lambda c: (c[MARRIED] == "Never-married") & (c["age"] < 30)),
    Query("hours of the widowed", lambda c: (c[MARRIED] == "Widowed") * c[HOURS], 0, 99),
)
FIVE = ("age", EDUCATION, HOURS, "sex", "income")
EIGHT = ("age", EDUCATION, HOURS, "workclass", MARRIED, "occupation", "race", "income")


def staff(people: int, hours: float, night: float, generator: np.random.Generator) -> Columns:
    """As in the tutorial."""
    nights = generator.random(people) < night
    worked = np.clip(generator.normal(hours, 8, people) - 4 * nights, 0, 80).round(1)
    return {"hours": worked, "night": np.where(nights, "yes", "no")}


TUTORIAL = Setting(
    "tutorial: few public rows above 60 hours",
    lambda generator: (staff(20_000, 44, 0.5, generator), staff(2_000, 38, 0.3, generator)),
    {"hours": (0.0, 80.0)},
    {"night": ["no", "yes"]},
    (
        Query("mean of hours", lambda c: c["hours"], 0, 80),
        Query("over 50", lambda c: c["hours"] > 50),
        Query("over 60", lambda c: c["hours"] > 60),
        Query("over 70", lambda c: c["hours"] > 70),
        Query("night", lambda c: c["night"] == "yes"),
        Query("night, over 50", lambda c: (c["night"] == "yes") & (c["hours"] > 50)),
        Query("hours at night", lambda c: (c["night"] == "yes") * c["hours"], 0, 80),
        Query("hours squared", lambda c: c["hours"] ** 2, 0, 6400),
    ),
)


def wages(people: int, shift: float, shares: list[float], generator: np.random.Generator) -> Columns:
    region = generator.choice(3, people, p=shares)
    pay = np.exp(generator.normal(3.4 + shift + 0.15 * region, 0.6))
    return {"pay": np.minimum(pay, 400).round(1), "region": np.array(["a", "b", "c"])[region]}


def without_top(generator: np.random.Generator) -> tuple[Columns, Columns]:
    private = wages(20_000, 0.2, [0.3, 0.3, 0.4], generator)
    public = wages(4_000, 0.0, [0.5, 0.3, 0.2], generator)
    kept = public["pay"] <= np.quantile(private["pay"], 0.97)
    return private, {name: column[kept] for name, column in public.items()}


WAGES = Setting(
    "wages without the top 3 %",
    without_top,
    {"pay": (0.0, 400.0)},
    {"region": ["a", "b", "c"]},
    (
        Query("mean pay", lambda c: c["pay"], 0, 400),
        Query("over 30", lambda c: c["pay"] > 30),
        Query("over 60", lambda c: c["pay"] > 60),
        Query("over 100", lambda c: c["pay"] > 100),
        Query("over 150", lambda c: c["pay"] > 150),
        Query("region c", lambda c: c["region"] == "c"),
        Query("pay in a", lambda c: (c["region"] == "a") * c["pay"], 0, 400),
        Query("log pay", lambda c: np.log1p(c["pay"]), 0, 6),
    ),
)


def tuned() -> list[Setting]:
    """Those that constants were set on."""
    found = [TUTORIAL]
    if adult_is_here():
        old = share(lambda c: np.where(c["age"] > 60, 0.05, 1))
        leaning = share(lambda c: 1 / (1 + np.exp((c["age"] - 45) / 10 - (c["sex"] == "Male") + (c[HOURS] - 40) / 15)))
        five = (*OF_HOURS, *OF_AGE, *OF_INCOME, OF_WOMEN[2])
        found += [
            of_adult("nobody above 60 hours", (HOURS, "sex"), 10_000, OF_HOURS + OF_WOMEN, lambda c, _: c[HOURS] <= 60),
            of_adult("few above 60 years, five columns", FIVE, 10_000, five, old),
            of_adult("younger, more men, shorter hours, five columns", FIVE, 5_000, five, leaning),
            of_adult("fair, five columns", FIVE, 5_000, five, share(lambda _: 1)),
        ]
    return found


def judged() -> list[Setting]:
    """Those that were looked at when all was set; see the top."""
    found = [WAGES]
    if adult_is_here():
        women = (*OF_HOURS, *OF_INCOME, Query("hours of the rich", lambda c: rich(c) * c[HOURS], 0, 99))
        study = (EDUCATION, "age", "workclass")
        married = ("age", HOURS, MARRIED)
        young, poor = share(lambda c: 1 / (1 + np.exp((c["age"] - 35) / 6))), share(lambda c: np.where(rich(c), 0.1, 1))
        few = share(lambda c: (c[EDUCATION] <= 14) * np.where(self_employed(c), 0.2, 1))
        found += [
            of_adult(
                "men for women, eight columns",
                EIGHT,
                10_000,
                women,
                lambda c, _: c["sex"] == "Male",
                lambda c: c["sex"] == "Female",
            ),
            of_adult("lacks graduates, few self-employed", study, 8_000, OF_STUDY, few),
            of_adult("young, two numbers together", ("age", HOURS), 3_000, OF_HOURS + OF_AGE, young),
            of_adult("nobody under 25", married, 6_000, OF_MARRIED, lambda c, _: c["age"] >= 25),
            of_adult("few rich", (EDUCATION, HOURS, "income"), 4_000, (*OF_HOURS, OF_STUDY[0], *OF_INCOME[:2]), poor),
            of_adult("fair, three columns", married, 6_000, OF_MARRIED, share(lambda _: 1)),
        ]
    return found
