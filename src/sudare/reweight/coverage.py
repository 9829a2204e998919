"""Where the private records lie outside the reach of the public ones, as far as the released means show it."""

from __future__ import annotations

import numpy as np

from sudare.arrays import Floats
from sudare.privacy import Fact
from sudare.reweight.measurement import NoisyMean
from sudare.reweight.public_features import PublicFeatures

_SURE = 4.0
"""Standard deviations of the noise beyond which a gap is not noise."""
_SMALLEST_SHARE = 0.02
_SMALLEST_GAP = 0.05
_FEW_ROWS = 10.0
_FEW = 0.02


def coverage_warnings(features: PublicFeatures, shares: Floats, measured: NoisyMean) -> tuple[Fact, ...]:
    """What the reader should know; empty where nothing shows.

    Three signs: features that the public rows (nearly) never have but private ones do; means that the weighted public
    rows miss by more than the noise; weights that rest on few rows.
    """
    found = []
    public = sum((np.abs(part).sum(axis=0) for _, part in features), np.zeros(features.basis.size))
    weighted = features.weighted_mean(shares)
    deviation = float(np.sqrt(measured.variance))
    empty = public < 1  # in rows: less than one public row's worth
    outside = float(measured.value[empty].sum())
    if outside > max(_SMALLEST_SHARE, _SURE * deviation * np.sqrt(empty.sum())):
        found.append(Fact("uncovered", share=f"{outside:.0%}"))
    gap = np.abs(measured.value - weighted)[~empty]
    if len(gap) and gap.max() > max(_SMALLEST_GAP, _SURE * deviation):
        found.append(Fact("missed", gap=f"{gap.max():.2g}"))
    effective = float(1 / (shares**2).sum())
    if effective < max(_FEW_ROWS, _FEW * len(shares)):
        found.append(Fact("few_public_rows", effective=f"{effective:,.1f}", all=f"{len(shares):,}"))
    return tuple(found)
