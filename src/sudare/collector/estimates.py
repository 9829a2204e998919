"""The estimate that is shown: counted at most once a second, however many ask."""

from __future__ import annotations

import time
from threading import Lock
from typing import Any

import numpy as np

from sudare.collector.collection import Collection
from sudare.collector.refusals import RequestError
from sudare.local import Estimate, estimate

FRESH = 1.0  # seconds for which an estimate is given again without looking


class EstimateService:
    """What ``GET /estimate`` answers for ``collection``."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._lock = Lock()
        self._content: dict[str, Any] | None = None
        self._made = -FRESH

    def current(self) -> dict[str, Any]:
        """The estimate as plain JSON; refuses while there are too few reports, without saying how many there are."""
        survey = self._collection.survey
        with self._lock:
            if self._collection.reports < survey.minimum:
                raise RequestError(
                    403,
                    "there are too few reports to show an estimate",
                    allowed="from {minimum:,} reports on",
                    hint="Come back later.",
                    minimum=survey.minimum,
                )
            if time.monotonic() >= self._made + FRESH:
                tally = self._collection.tally()
                if self._content is None or self._content["reports"] != tally.reports:
                    self._content = self._written(estimate(tally, method=survey.method))
                self._made = time.monotonic()
            assert self._content is not None  # noqa: S101 - made at first, kept since
            return self._content

    def _written(self, made: Estimate) -> dict[str, Any]:
        numbers = np.column_stack([made.counts, made.low, made.high]).tolist()
        return {
            "survey": self._collection.survey.fingerprint,
            "reports": made.reports,
            "method": made.method,
            "level": made.level,
            "answers": [
                {"label": label, "count": round(count, 3), "low": round(low, 3), "high": round(high, 3)}
                for label, (count, low, high) in zip(self._collection.survey.answers.labels, numbers, strict=True)
            ],
            "guarantee": str(self._collection.survey.guarantee),
        }
