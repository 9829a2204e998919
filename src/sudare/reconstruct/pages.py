"""What a report shows of perturbed records: the distribution recovered from each column, beside the noisy one."""

from __future__ import annotations

import numpy as np

from sudare.language.catalogue import Words
from sudare.reconstruct.perturb import Perturbed
from sudare.reconstruct.released import labels_of, recovered
from sudare.render.curves import share_chart
from sudare.render.sections import Chart

_BINS = 20
_MOST_CHARTS = 12
_MOST_ROWS = 200_000
"""The rows of a file are in random order, so that the first ones are a sample of all."""


def recovered_charts(made: Perturbed, words: Words) -> list[Chart]:
    """For each column the recovered shares as bars, the noisy ones as strokes; from the released rows alone."""
    rows = {name: column[:_MOST_ROWS] for name, column in zip(made.table.names, made.table.values, strict=True)}
    charts = []
    for name, noise in list(made.columns.items())[:_MOST_CHARTS]:
        found = recovered(rows, {name: noise}, (), _BINS, method="ibt")[name]
        if isinstance(found.edges, tuple):
            noisy = np.array([(rows[name] == value).mean() for value in found.edges])
        else:
            noisy = np.histogram(rows[name], found.edges)[0] / len(rows[name])
        outside = 1 - float(noisy.sum())
        said = words("perturbation.bars_and_strokes")
        if outside > 0.0005:
            said += " " + words("perturbation.outside", share=words.percent(outside))
        charts.append(
            share_chart(
                name,
                labels_of(found),
                found.probabilities,
                words,
                other=noisy,
                other_title=words("perturbation.noisy"),
                subtitle=said,
            )
        )
    return charts
