"""The figures of `k_anonymity`, in the order of the thesis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.anonymity import Hierarchy
from sudare.papers.data import PRINTED_TREES
from sudare.papers.sheet import Phrase
from sudare.render.charts import Spec, fill
from sudare.render.curves import beside

if TYPE_CHECKING:
    from sudare.papers.k_anonymity import KAnonymityReproduction, Setting, SettingOutcome


def figures(made: KAnonymityReproduction) -> dict[str, Spec]:
    """2.2 and 2.3 what age is generalised to, 4.1 the record counts, 4.2 and 4.3 epsilon by rate and by k."""
    by_rate = [outcome for outcome in made.outcomes if outcome.setting.k == 10]
    by_k = [outcome for outcome in made.outcomes if outcome.setting.sample == Fraction(1, 5)]
    charts = [
        cut_tree(
            PRINTED_TREES["age"],
            cut,
            title=Phrase("{figure}  k = {k}, {where}", figure=figure, k=k, where=where),
            subtitle=Phrase("in {share:.0%} of our samples", share=often),
        )
        for figure, (k, cuts) in zip(("2.2", "2.3"), made.cuts.items(), strict=True)
        for where, cut, often in (
            ("the paper", cuts.paper, cuts.as_paper),
            ("most often here", cuts.here, cuts.as_here),
        )
    ]
    filled = Phrase("filled: published; {runs} samples at beta = 0.2", runs=made.runs)
    return {
        "2_2_and_2_3_age": beside(charts, 2, title="What age is generalised to", subtitle=filled),
        "4_1_record_counts": _record_counts(made),
        "4_2_epsilon_by_rate": _curves(by_rate, lambda setting: float(setting.sample), "sampling rate beta", "k = 10"),
        "4_3_epsilon_by_k": _curves(by_k, lambda setting: float(setting.k), "k", "beta = 0.2"),
    }


def cut_tree(tree: Hierarchy, cut: Sequence[str | None], *, title: str, subtitle: str = "") -> Spec:
    """A tree drawn from its root down; the nodes of ``cut`` are filled, and branches below them dashed."""
    nodes = np.arange(len(tree.labels))
    first, behind = tree.spans(nodes)
    x, depth = (first + behind - 1) / 2, tree.depth
    published = np.array([label in cut for label in tree.labels])
    covered = np.zeros(len(nodes), dtype=np.bool_)
    boxes, branches = [], []
    for node in nodes.tolist():
        label = str(tree.labels[node])
        half = 0.13 + 0.085 * len(label)
        place = {"x": float(x[node]), "y": int(depth[node])}
        sides = {"left": place["x"] - half, "right": place["x"] + half, "top": place["y"] - 0.2}
        boxes.append({**place, **sides, "bottom": place["y"] + 0.2, "label": label, "published": bool(published[node])})
        if (parent := int(tree.parents[node])) >= 0:
            covered[node] = covered[parent] or published[parent]  # a parent comes before its children
            ends = {"x2": float(x[parent]), "y2": int(depth[parent])}
            branches.append({**place, **ends, "below": bool(covered[node])})
    return fill(
        "cut_tree",
        nodes=boxes,
        branches=branches,
        title=title,
        subtitle=subtitle,
        x_domain=[-0.6, len(tree.leaves) - 0.4],
        y_domain=[-0.3, int(depth.max()) + 0.3],
        width=380,
        height=170,
    )


def _record_counts(made: KAnonymityReproduction) -> Spec:
    """How many distinct tuples have so many records, in doubling steps."""
    often = np.bincount(np.floor(np.log2(made.population.counts)).astype(int))
    labels = ["1", *(f"{2**each}-{2 ** (each + 1) - 1}" for each in range(1, len(often)))]
    return fill(
        "record_counts",
        steps=[{"label": label, "value": int(value)} for label, value in zip(labels, often, strict=True)],
        title="Records per distinct tuple",
        subtitle=Phrase(
            "{basis}: {records:,} records, {tuples:,} tuples",
            basis=made.basis,
            records=made.population.total,
            tuples=len(made.population.counts),
        ),
        label_title="records with the same values",
        value_title="distinct tuples",
        width=760,
        height=300,
    )


def _curves(outcomes: list[SettingOutcome], where: Callable[[Setting], float], title: str, fixed: str) -> Spec:
    points: list[dict[str, Any]] = []

    def add(series: str, setting: Setting, mean: float, spread: float = 0.0) -> None:
        if math.isfinite(mean):
            low, high = max(mean - spread, 0.0), mean + spread
            points.append({"series": series, "x": where(setting), "y": mean, "low": low, "high": high})

    for outcome in sorted(outcomes, key=lambda outcome: where(outcome.setting)):
        setting, finite = outcome.setting, outcome.finite
        add("paper", setting, setting.mean, setting.deviation)
        add("here: the paper's algorithm", setting, float(finite.mean()), float(finite.std()))
        for name in ("passes", "passes on all records, then the sample"):
            add(Phrase("here: {name}", name=name), setting, outcome.variant(name))
        add("floor -ln(1 - beta)", setting, setting.floor)
    return fill(
        "epsilon_curves",
        points=points,
        title=Phrase("Evaluated epsilon by {title}", title=title),
        subtitle=Phrase("{fixed}; largest class, mean and standard deviation over samples", fixed=fixed),
        x_title=title,
        y_title="epsilon",
        x_ticks=sorted({point["x"] for point in points}),
        width=520,
        height=340,
    )
