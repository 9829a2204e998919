"""Where the private records lie outside the reach of the public ones, as far as the released means show it."""

from __future__ import annotations

import numpy as np

from sudare.reweight.basis import Floats
from sudare.reweight.measurement import NoisyMean
from sudare.reweight.public_features import PublicFeatures

_SURE = 4.0
"""Standard deviations of the noise beyond which a gap is not noise."""
_SMALLEST_SHARE = 0.02
_SMALLEST_GAP = 0.05
_FEW_ROWS = 10.0
_FEW = 0.02


def coverage_warnings(features: PublicFeatures, shares: Floats, measured: NoisyMean) -> tuple[str, ...]:
    """Sentences for the reader; empty where nothing shows.

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
        found.append(
            f"about {outside:.0%} or more of the private records lie where there are no public rows:"
            " weighted answers leave them out"
        )
    gap = np.abs(measured.value - weighted)[~empty]
    if len(gap) and gap.max() > max(_SMALLEST_GAP, _SURE * deviation):
        found.append(
            f"the weighted public rows miss a measured mean by {gap.max():.2g}, more than the noise:"
            " the public data do not reach what the private data hold"
        )
    effective = float(1 / (shares**2).sum())
    if effective < max(_FEW_ROWS, _FEW * len(shares)):
        found.append(f"the weights rest on few public rows: effectively {effective:,.1f} of {len(shares):,}")
    return tuple(found)
