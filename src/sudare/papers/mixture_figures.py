"""The figures of `mixture`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.papers import mixture_adult as adult
from sudare.papers import mixture_synthetic as synthetic
from sudare.papers.sheet import Phrase
from sudare.render.charts import Spec
from sudare.render.curves import Series, beside, curves
from sudare.render.place_charts import estimates

if TYPE_CHECKING:
    from sudare.papers.mixture import MixtureReproduction

_SHOWN = (synthetic.LATE, synthetic.EARLY, synthetic.AUTO, synthetic.CHOSEN, synthetic.SQUARE)


def figures(made: MixtureReproduction) -> dict[str, Spec]:
    """Figure 2 as printed and by Sudare, one draw of each number of records, and the columns of Adult."""
    printed = (synthetic.PRINTED_IBT, *map(synthetic.printed_name, synthetic.COMPONENTS))
    return {
        "figure2_as_printed": accuracy(made, printed, "Figure 2, as printed"),
        "figure2_sudare": accuracy(made, _SHOWN, "The same records, by Sudare"),
        "synthetic": shapes(made),
        "adult": columns(made),
    }


def accuracy(made: MixtureReproduction, names: Sequence[str], title: str) -> Spec:
    """L1 accuracy against the number of records."""
    sizes = list(made.draws)
    dashed = (synthetic.CHOSEN, synthetic.PRINTED_IBT)
    series = [Series(name, sizes, [made.mean(size, name) for size in sizes], dashed=name in dashed) for name in names]
    chart = curves(
        series,
        title=title,
        subtitle="L1 accuracy by number of records: 50 bins, k = 2, mean of the runs",
        x_title="records",
        y_title="L1 accuracy, %",
        width=520,
        height=340,
        x_domain=(0.8 * min(sizes), 1.25 * max(sizes)),
        y_domain=(0, 100),
    )
    chart["encoding"]["x"]["scale"]["type"] = "log"
    chart["encoding"]["x"]["axis"]["values"] = sizes
    return chart


def shapes(made: MixtureReproduction) -> Spec:
    """What the first draw of each number of records looks like."""
    charts = []
    for size, draws in made.draws.items():
        one = draws[0]
        middle = (one.edges[1:] + one.edges[:-1]) / 2
        series = [Series("true", middle, one.true, "line", dashed=True)]
        series += [Series(name, middle, one.found[name], "line") for name in (synthetic.EARLY, synthetic.AUTO)]
        charts.append(
            curves(
                series,
                title=Phrase("{size:,} records", size=size),
                subtitle=Phrase("noise of scale {scale:.2f}", scale=one.scale),
                x_title="value",
                y_title="share of a bin",
                width=330,
                height=200,
                y_domain=(0, 1.05 * max(float(np.max(each.y)) for each in series)),
            )
        )
    return beside(charts, 2, title="The first draw", subtitle="50 bins between the least and the largest value")


def columns(made: MixtureReproduction) -> Spec:
    """Age and years of education: truth and the first run of both methods."""
    charts = []
    for name in ("age", "education-num"):
        column = made.columns[name]
        edges = adult.EDGES[name]
        labels = [f"{value:g}" for value in (edges[1:] + edges[:-1]) / 2]
        chart = estimates(
            labels,
            column.true,
            {method: column.runs[method][0] for method in (adult.IBT, adult.MIXTURE)},
            title=Phrase("{name} (bars: truth)", name=name),
            subtitle=Phrase("{basis}; noise of scale {scale:.2f}, first run", basis=made.basis, scale=column.scale),
            label_title=name,
            value_title="share of the records",
            width=900 if len(labels) > 30 else 420,
            height=240,
        )
        chart["encoding"]["x"]["axis"] |= {"labelAngle": 0, "labelOverlap": "greedy", "labelSeparation": 6}
        charts.append(chart)
    return beside(charts, 1)
