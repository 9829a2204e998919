"""The figures of `rappor_em`, in the order of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.local import SymmetricUnary, estimate
from sudare.measure.science import scipy_of
from sudare.papers.data import CORRELATION, EPSILONS, HOURS, PAPER, WARDS, people, tiles
from sudare.papers.sheet import Phrase
from sudare.privacy import exact
from sudare.render.charts import Spec
from sudare.render.curves import Series, beside, curves
from sudare.render.place_charts import TileMap, estimates, tile_maps

if TYPE_CHECKING:
    from sudare.papers.rappor_em import RapporReproduction

_MAIN = ("MLE", "EM (plain)", "EM (prior)")
_STEPS = 60
_SHINJUKU = WARDS.index("Shinjuku")
_AFTERNOON = HOURS.index("14:00")


def figures(made: RapporReproduction) -> dict[str, Spec]:
    """The figures of the appendix that show what its methods do."""
    return {
        "a1_flip_chance": flip_chance(),
        "a2_law_of_count": law_of_count(),
        "a3_by_iteration": by_iteration(),
        "a8_wards": by_ward(made),
        "a9_scatter": scatter(made),
        "a10_a11_error_by_people": error_by_people(made),
        "a6_a7_a12_a14_maps": maps(made),
        "a15_a20_error_by_epsilon": error_by_epsilon(made),
    }


def flip_chance() -> Spec:
    """A.1: q against epsilon."""
    epsilon = np.linspace(0, 10, 101)
    return curves(
        [Series("q = 1/(1 + e^(epsilon/2))", epsilon, 1 / (1 + np.exp(epsilon / 2)), "line")],
        title="A.1  Chance that a bit is flipped",
        x_title="epsilon",
        y_title="q",
        y_domain=(0, 0.52),
    )


def law_of_count() -> Spec:
    """A.2: the law of n' for Shinjuku at 14:00 (505 of 4,640 people, epsilon 0.5), and draws of it.

    n' is the sum of two independent binomials, so its law is their convolution; the paper adds the laws
    (errata R1).
    """
    binom = scipy_of("stats").binom

    encoding = SymmetricUnary(len(WARDS), exact("0.5"))
    own, other = encoding.chances
    here, all_people = int(people(_AFTERNOON)[_SHINJUKU]), int(people(_AFTERNOON).sum())
    law = np.convolve(
        binom.pmf(np.arange(here + 1), here, own),
        binom.pmf(np.arange(all_people - here + 1), all_people - here, other),
    )
    values = np.repeat(np.arange(len(WARDS)), people(_AFTERNOON))
    drawn = np.array([encoding.layout.tally(encoding.randomize(values, seed=seed).packed) for seed in range(300)])
    edges = np.arange(1900, 2301, 20)
    seen = np.histogram(drawn[:, _SHINJUKU], edges)[0] / (20 * len(drawn))
    shown = np.arange(edges[0], edges[-1] + 1)
    return curves(
        [
            Series("exact law", shown, law[shown], "line"),
            Series(
                Phrase("{draws} draws, in steps of 20", draws=len(drawn)),
                (edges[:-1] + edges[1:] - 1) / 2,
                seen,
                "points",
            ),
        ],
        title="A.2  How often the bit of Shinjuku is set",
        subtitle=Phrase("14:00, epsilon 0.5: {here} of {people:,} people are there", here=here, people=all_people),
        x_title="n', reports with the bit set",
        y_title="probability",
        x_domain=(float(edges[0]), float(edges[-1])),
    )


def by_iteration() -> Spec:
    """A.3: the estimate for Shinjuku at 14:00 after each plain step."""
    values = np.repeat(np.arange(len(WARDS)), people(_AFTERNOON))
    series = [Series("truth", [0, _STEPS], [people(_AFTERNOON)[_SHINJUKU]] * 2, "line", dashed=True)]
    start = len(values) / len(WARDS)
    for epsilon in (0.5, 1, 2, 5):
        reports = SymmetricUnary(len(WARDS), exact(epsilon)).randomize(values, seed=11)
        steps = [*range(1, 10), *range(10, _STEPS + 1, 5)]
        path = [estimate(reports, "em", stop=step).counts[_SHINJUKU] for step in steps]
        series.append(Series(Phrase("epsilon {epsilon:g}", epsilon=epsilon), [0, *steps], [start, *path], "line"))
    return curves(
        series,
        title="A.3  EM's estimate by iteration",
        subtitle="Shinjuku at 14:00; the smaller epsilon, the more steps",
        x_title="plain steps of EM",
        y_title="people",
        y_domain=(0, max(float(np.max(one.y)) for one in series) * 1.1),
    )


def by_ward(made: RapporReproduction) -> Spec:
    """A.8: mean estimates per ward."""
    true = people(made.shown)
    order = np.argsort(-true, kind="stable")
    return estimates(
        [WARDS[place] for place in order],
        true[order],
        {name: made.errors[name].shown.mean(axis=0)[order] for name in _MAIN},
        title="A.8  Estimates per ward (bars: truth)",
        subtitle=Phrase("{what}, {runs}", what=_what(made), runs=_runs(made)),
        label_title="ward",
    )


def scatter(made: RapporReproduction) -> Spec:
    """A.9: mean estimates against the truth."""
    true = people(made.shown)
    ends = [0, float(true.max())]
    points = [Series(name, true, made.errors[name].shown.mean(axis=0), "points") for name in _MAIN]
    return curves(
        [*points, Series("estimate = truth", ends, ends, "line", dashed=True)],
        title="A.9  Estimates against truth",
        subtitle=Phrase("{what}, {runs}; each point is a ward", what=_what(made), runs=_runs(made)),
        x_title="people in the ward",
        y_title="estimate",
    )


def error_by_people(made: RapporReproduction) -> Spec:
    """A.10 and A.11: the mean absolute error of a ward against its people."""
    true = people(made.shown)
    error = {name: np.abs(made.errors[name].shown - true).mean(axis=0) for name in _MAIN}
    top = max(float(one.max()) for one in error.values()) * 1.05
    charts = [
        curves(
            [Series("wards", true, error[name], "points")],
            title=name,
            subtitle=_correlated(made, name),
            x_title="people in the ward",
            y_title="mean absolute error",
            width=250,
            height=220,
            y_domain=(0, top),
            x_domain=(0, float(true.max()) * 1.05),
        )
        for name in _MAIN
    ]
    for chart in charts:
        chart["encoding"]["color"]["legend"] = None
    return beside(charts, 3, title="A.10, A.11  Error against people", subtitle=_what(made))


def maps(made: RapporReproduction) -> Spec:
    """A.6, A.7 and A.12 to A.14: truth, what was observed, and the estimates, as tiles."""
    true = people(made.shown)
    low, high = 0.0, float(true.max())
    hour = HOURS[made.shown]
    drawn = [
        TileMap("Truth, 8:00", people(0), "A.6"),
        TileMap("Truth, 14:00", people(_AFTERNOON), "A.7"),
        TileMap(Phrase("Truth, {hour}", hour=hour), true, "A.12", (low, high)),
        TileMap("Bits set, n'", made.observed[0], "A.13; a colour scale of its own"),
        TileMap("MLE", made.errors["MLE"].shown[0], "one run; people, colours as the truth", (low, high)),
        TileMap("EM (plain)", made.errors["EM (plain)"].shown[0], "A.14; the same run", (low, high)),
        TileMap("Simplex", made.errors["Simplex"].shown[0], "the same run", (low, high)),
        TileMap("EM (prior)", made.errors["EM (prior)"].shown[0], "the same run", (low, high)),
    ]
    return tile_maps(
        tiles(),
        drawn,
        columns=3,
        title="The 23 wards",
        subtitle=Phrase("from the third map on: {what}", what=_what(made)),
    )


def error_by_epsilon(made: RapporReproduction) -> Spec:
    """A.15 to A.20: S against epsilon for each hour, and the mean with the paper's."""
    colour_order = ("MLE", "EM (plain)", "Simplex", "EM (prior)")
    top = max(float(made.errors["MLE"].mean.max()), PAPER["MLE"][0]) * 1.03
    charts = []
    for column, hour in enumerate(made.hours):
        series = [Series(name, made.epsilons, made.errors[name].mean[:, column]) for name in colour_order]
        charts.append(
            _by_epsilon(
                series, Phrase("{hour}  ({people:,} people)", hour=HOURS[hour], people=int(people(hour).sum())), top
            )
        )
    mean = [Series(name, made.epsilons, made.errors[name].mean.mean(axis=1)) for name in colour_order]
    mean += [
        Series(Phrase("{name} in the paper", name=name), EPSILONS, PAPER[name], "line", dashed=True)
        for name in ("MLE", "EM")
    ]
    for chart in charts:
        chart["encoding"]["color"]["legend"] = None
    both = [_by_epsilon(mean, "Mean of all hours, with the paper's", top, width=520, height=260), beside(charts, 3)]
    return beside(both, 1, title="A.15 to A.20  Error S against epsilon", subtitle=_runs(made))


def _by_epsilon(series: list[Series], title: str, top: float, width: int = 260, height: int = 200) -> Spec:
    return curves(
        series,
        title=title,
        x_title="epsilon",
        y_title="S",
        width=width,
        height=height,
        x_domain=(0.3, 5.2),
        y_domain=(0, top),
    )


def _what(made: RapporReproduction) -> str:
    return Phrase("{hour}, epsilon {epsilon:g}", hour=HOURS[made.shown], epsilon=made.epsilons[0])


def _runs(made: RapporReproduction) -> str:
    return Phrase("mean of {runs} runs", runs=made.runs) if made.runs > 1 else "one run"


def _correlated(made: RapporReproduction, name: str) -> str:
    here, printed = made.correlation(name), CORRELATION.get(name)
    if printed is None:
        return Phrase("correlation {here:.3f}", here=here)
    return Phrase("correlation {here:.3f} (paper: {printed:.3f})", here=here, printed=printed)
