"""Places by name: true values beside estimates, and maps of tiles of equal size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sudare.render.charts import Spec, fill
from sudare.render.curves import COLOURS, beside
from sudare.render.maps import COLOURS as BRIGHTNESS

_TILE = 62
"""Pixels along the side of a tile."""


@dataclass(frozen=True)
class TileLayout:
    """Where places lie, one tile each: ``labels`` (k,), ``rows`` from the north and ``columns`` from the west."""

    labels: Sequence[str]
    rows: Sequence[int]
    columns: Sequence[int]


@dataclass(frozen=True)
class TileMap:
    """One map: ``values`` (k,) in the order of the tiles, on a colour scale of its own unless ``domain`` is given."""

    title: str
    values: ArrayLike
    subtitle: str = ""
    domain: tuple[float, float] | None = None


def tile_maps(tiles: TileLayout, maps: Sequence[TileMap], *, columns: int, title: str = "", subtitle: str = "") -> Spec:
    """Maps of the same tiles in rows of ``columns``.

    >>> spec = tile_maps(TileLayout(["a", "b"], [0, 1], [0, 0]), [TileMap("true", [3, 1])], columns=1)
    >>> spec["concat"][0]["data"]["values"][0]
    {'label': 'a', 'row': 0, 'column': 0, 'value': 3.0}
    """
    charts = []
    for one in maps:
        values = np.asarray(one.values, float).tolist()
        low, high = one.domain or (min(values), max(values))
        places = zip(tiles.labels, tiles.rows, tiles.columns, values, strict=True)
        charts.append(
            fill(
                "tiles",
                tiles=[
                    {"label": label, "row": row, "column": column, "value": value}
                    for label, row, column, value in places
                ],
                title=one.title,
                subtitle=one.subtitle,
                width=_TILE * (max(tiles.columns) + 1),
                height=_TILE * (max(tiles.rows) + 1),
                domain=np.linspace(low, high, len(BRIGHTNESS)).tolist(),
                colours=list(BRIGHTNESS),
                middle=low + 0.6 * (high - low),
            )
        )
    return beside(charts, columns, title=title, subtitle=subtitle)


def estimates(labels: Sequence[str], truth: ArrayLike, made: Mapping[str, ArrayLike], **look: Any) -> Spec:
    """Grey bars for the true values, a point for each of the estimates ``made``, in the order of ``labels``.

    ``look``: ``title``, ``label_title``, and if need be ``value_title``, ``subtitle``, ``width`` and ``height``.

    >>> spec = estimates(["a", "b"], [3, 1], {"EM": [2.5, 1.5]}, title="People", label_title="ward")
    >>> spec["layer"][1]["data"]["values"][0]
    {'label': 'a', 'series': 'EM', 'value': 2.5}
    """
    true = np.asarray(truth, float).tolist()
    return fill(
        "estimates",
        places=[{"label": label, "value": value} for label, value in zip(labels, true, strict=True)],
        points=[
            {"label": label, "series": name, "value": value}
            for name, values in made.items()
            for label, value in zip(labels, np.asarray(values, float).tolist(), strict=True)
        ],
        series=list(made),
        colours=list(COLOURS[: len(made)]),
        **look,
    )
