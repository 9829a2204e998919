"""Error bars of a released table as plain numbers, from which a page computes those of any sum without Python.

The formulas are those of `ErrorModel`: the law of the noise, or the strata of whole blocks, and the errors of the
replicates and of the totals of categories for sums of other shapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.arrays import Integers
from sudare.tables.error_bars import _FLAT_UP_TO, _THICK_AREA, RESERVE, BlockErrorBars, ErrorBars, ErrorModel
from sudare.tables.kind_totals import KindErrors
from sudare.tables.release import INTERVAL, Release
from sudare.tables.strata import Stratum, student

_EXACT_SIZES = 64
_STEP = 1.05


def portable_errors(release: Release, number: Any) -> dict[str, Any]:
    """What the page needs; ``number`` turns cell indices into the page's own."""
    errors = release._errors
    if errors.law is None:
        return {"signed": errors._signed, "shaped": _shaped(errors, number)}
    cells, whole = (errors.at_level(level, INTERVAL) for level in (0, release.table.domain.bits))
    sizes = _sizes(release.table.domain.size)
    expected, low, _ = errors._raw(sizes, np.zeros(len(sizes)), INTERVAL)
    return {
        "signed": errors._signed,
        "cells": {
            **{name: getattr(cells, name).tolist() for name in ("low", "high", "expected_error")},
            "elsewhere": _first(cells.elsewhere),
        },
        "whole": _first(whole if len(whole.value) else whole.elsewhere),
        "raw": {"size": sizes.tolist(), "reach": (-low).tolist(), "expected": expected.tolist()},
    }


def _first(bars: BlockErrorBars | ErrorBars) -> list[float]:
    return [bars.low[0].item(), bars.high[0].item(), bars.expected_error[0].item()]


def _sizes(most: int) -> Integers:
    """Numbers of cells: each up to 64, then in steps of 5 %."""
    steps = _EXACT_SIZES * _STEP ** np.arange(1 + np.ceil(np.log(max(most, 64) / _EXACT_SIZES) / np.log(_STEP)))
    return np.unique(np.concatenate([np.arange(1, _EXACT_SIZES), np.minimum(np.rint(steps), most)]).astype(np.int64))


def _shaped(errors: ErrorModel, number: Any) -> dict[str, Any]:
    assert errors.strata is not None  # noqa: S101 - there is no law
    replicates = []
    for pair in errors.pairs:
        error = pair.columns[0] - pair.columns[1]
        where = number(pair.index[error != 0])
        order = np.argsort(where)
        steps = np.diff(where[order], prepend=0)
        values = np.round(error[error != 0][order].astype(np.float64), 3)
        whole = bool((values == np.rint(values)).all())
        replicates.append({"steps": steps.tolist(), "errors": (values.astype(np.int64) if whole else values).tolist()})
    degrees = len(errors.pairs) - 1
    return {
        "replicates": replicates,
        "kinds": None if errors._kinds is None else _kinds(errors._kinds, len(errors.pairs), number),
        "variance": [[stratum.variance for stratum in level] for level in errors.strata.levels],
        "blocks": [_blocks(level, errors.widening) for level in errors.strata.levels],
        "additive": errors.strata.additive,
        "quantile": student(1 - errors.reserve * (1 - INTERVAL) / 2, degrees),
        "widening": errors.widening,
        "noise": errors.noise,
        "flat_up_to": _FLAT_UP_TO,
        "thick_area": _THICK_AREA,
        "bits": errors.table.domain.bits,
    }


def _kinds(errors: KindErrors, draws: int, number: Any) -> dict[str, Any]:
    """What `KindErrors.variance` computes from: the cells, and seeded changes of the totals of kinds."""
    return {
        "at": number(errors.index).tolist(),
        "kind": errors.kind.tolist(),
        "owner": errors.owner.tolist(),
        "share": [float(f"{share:.6g}") for share in errors.share.tolist()],
        "people": errors.people.tolist(),
        "draws": np.round(errors.draws(draws), 3).tolist(),
    }


def _blocks(strata: tuple[Stratum, ...], widening: float) -> dict[str, list[float]]:
    """For whole blocks of a level, by class of value: how far the truth may be below and above."""
    missed = RESERVE * (1 - INTERVAL)
    share = 0.75 if widening == 1 else 1.0
    return {
        "below": [stratum.below(missed / 2) for stratum in strata],
        "above": [stratum.above(missed / 2) for stratum in strata],
        "above_alone": [stratum.above(share * missed) for stratum in strata],
        "expected": [stratum.expected for stratum in strata],
    }
