"""`open_series`: the releases of several periods as one, with the change between two of them and its interval.

The noise of different periods is independent, so that variances of their errors add up. Intervals need not be
symmetric (nobody is below 0), hence they are combined side by side: the distance from a difference to its lower end is
the root of the squared distances of the later value to its lower end and of the earlier value to its upper end (the
method of variance estimates recovery, G. Y. Zou and A. Donner, Statistics in Medicine 27, 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Floats, Integers, Numbers
from sudare.errors import ParameterError, VerificationError, did_you_mean
from sudare.measure.comparison import ColumnArrays
from sudare.privacy.fingerprint import file_digest
from sudare.reading.opening import opened, release_folder
from sudare.tables import Release
from sudare.tables.pyramid import at_blocks
from sudare.workflow.folder import CERTIFICATE

Ends = tuple[Numbers, Floats, Floats, Floats]
"""Value, low, high and expected error."""


@dataclass(frozen=True)
class Change(ColumnArrays):
    """One entry per cell or area: the earlier and the later value, their difference, and an interval for it."""

    where: NDArray[Any]
    before: Numbers
    after: Numbers
    value: Numbers
    low: Floats
    high: Floats
    expected_error: Floats

    @property
    def beyond_noise(self) -> Booleans:
        """Where the interval does not hold 0: more than noise."""
        return np.asarray((self.low > 0) | (self.high < 0))


@dataclass(frozen=True)
class SeriesTotal(ColumnArrays):
    """One entry per cell or area: the sum over periods, and an interval for the true one."""

    where: NDArray[Any]
    value: Numbers
    low: Floats
    high: Floats
    expected_error: Floats


@dataclass(frozen=True)
class Series(Mapping[str, Release]):
    """Releases of one domain, by the names of their periods in order."""

    releases: dict[str, Release]
    planned: tuple[str, ...] = ()
    """The periods of the plan, where the certificates state one; not all of them need be out."""

    @property
    def periods(self) -> tuple[str, ...]:
        """The names of those that are out, in order."""
        return tuple(self.releases)

    def __getitem__(self, period: str) -> Release:
        if period not in self.releases:
            raise ParameterError(
                "the series has no such period",
                value=period,
                allowed=list(self.releases),
                hint=did_you_mean(str(period), self.releases),
            )
        return self.releases[period]

    def __iter__(self) -> Iterator[str]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    def change(
        self, before: str, after: str, *, mapping: Any = None, block_level: int = 0, level: float = 0.9
    ) -> Change:
        """What changed from one period to another, with an interval for the true change.

        Without ``mapping`` there is one entry for each cell (or block of 2**block_level cells) that is listed in
        either period, and ``where`` is its index; with one, an entry for each area as in `sudare.Release.aggregate`.
        Every interval holds by itself: of many cells without any change, one in ten lies beyond its noise at a
        ``level`` of 0.9. Ask for a higher level where the largest changes are picked out of many.

        >>> import sudare as sd
        >>> months = {"01": [0, 900, 12], "02": [0, 400, 13]}
        >>> made = {name: sd.release(sd.CountTable.from_array(counts), sd.Laplace(), epsilon=1, seed=7)
        ...         for name, counts in months.items()}
        >>> found = sd.reading.Series(made).change("01", "02", level=0.99)
        >>> found.where[found.beyond_noise].tolist()
        [1]
        """
        where, ends = self._ends([before, after], mapping, block_level, level)
        earlier, later = ends
        value, low, high, error = _combined([later, earlier], [1, -1])
        return Change(where, earlier[0], later[0], value, low, high, error)

    def total(
        self, periods: Sequence[str] | None = None, *, mapping: Any = None, block_level: int = 0, level: float = 0.9
    ) -> SeriesTotal:
        """The sum over ``periods`` (a season; by default all), with an interval for the true one.

        Whoever is counted in several periods is counted as often in their sum.
        """
        chosen = list(self.releases) if periods is None else list(periods)
        if not chosen or len(set(chosen)) < len(chosen):
            raise ParameterError("a total needs at least one period, and each of them once", value=chosen)
        where, ends = self._ends(chosen, mapping, block_level, level)
        return SeriesTotal(where, *_combined(ends, [1] * len(ends)))

    def seasons(self, seasons: Mapping[str, Sequence[str]], **selected: Any) -> dict[str, SeriesTotal]:
        """The `total` of several seasons: name to periods."""
        return {name: self.total(periods, **selected) for name, periods in seasons.items()}

    def _ends(
        self, periods: Sequence[str], mapping: Any, block_level: int, level: float
    ) -> tuple[NDArray[Any], list[Ends]]:
        releases = [self[period] for period in periods]
        if mapping is not None:
            areas = [release.aggregate(mapping, level) for release in releases]
            return areas[0].area, [(each.value, each.low, each.high, each.expected_error) for each in areas]
        blocks: list[Any] = [release.error(block_level=block_level, level=level) for release in releases]
        where: Integers = np.unique(np.concatenate([each.block for each in blocks]))
        return where, [_everywhere(each, where) for each in blocks]


def _everywhere(bars: Any, where: Integers) -> Ends:
    """Bars of the blocks ``where``; those that are not listed are 0, with what holds elsewhere."""
    names = ("value", "low", "high", "expected_error")
    columns = (at_blocks(where, bars.block, getattr(bars, n), getattr(bars.elsewhere, n)[0]) for n in names)
    value, low, high, error = columns
    return value, low, high, error


def _combined(ends: Sequence[Ends], signs: Sequence[int]) -> Ends:
    """The sum of independent values with these signs; of whole numbers, between whole numbers."""
    value = sum(sign * own[0] for sign, own in zip(signs, ends, strict=True))
    below, above, error = (np.zeros(len(ends[0][0])) for _ in range(3))
    for sign, (own, low, high, expected) in zip(signs, ends, strict=True):
        down, up = (own - low, high - own) if sign > 0 else (high - own, own - low)
        below, above, error = below + down**2, above + up**2, error + expected**2
    below, above = np.sqrt(below), np.sqrt(above)
    if np.asarray(value).dtype.kind == "i":  # else one of the two ends would be missed more often than is meant
        below, above = np.ceil(below - 1e-9), np.ceil(above - 1e-9)
    return np.asarray(value), value - below, value + above, np.sqrt(error)


def open_series(
    source: str | Path | Sequence[str | Path] | Mapping[str, str | Path], *, publisher: str | Path | None = None
) -> Series:
    """The releases in a folder of releases, in a list of folders or zip files, or by the names of their periods.

    Each is verified, as in `sudare.open`. All must be tables of one domain. Those that were published as a series
    name their predecessor: it must be the release that is there, unless it is not among those that are opened; and all
    of them must be signed by one publisher, since nobody names the last one.
    Releases that do not say which period they are of are named after their folders.
    """
    if isinstance(source, Mapping):
        named = [(name, Path(path)) for name, path in source.items()]
    elif isinstance(source, str | Path):
        folder = Path(source)
        named = [("", path.parent) for path in sorted(folder.glob(f"*/{CERTIFICATE}")) if path.parent.name[0] != "."]
    else:
        named = [("", Path(path)) for path in source]
    if not named:
        raise ParameterError("there are no releases", value=str(source), allowed="a folder with folders of releases")
    found = [_opened(name, path, publisher) for name, path in named]
    _refuse_other_chain([series | {"sha256": sha256} for _, series, sha256, _ in found])
    planned = next((tuple(series["periods"]) for _, series, _, _ in found if series), ())
    place: Callable[[str], Any] = planned.index if planned and all(f[0] in planned for f in found) else str
    ordered = found if isinstance(source, Mapping) else sorted(found, key=lambda each: place(each[0]))
    releases = {name: release for name, _, _, release in ordered}
    if len(releases) < len(found):
        raise VerificationError(
            "two releases of a series are for the same period", value=sorted(each[0] for each in found)
        )
    for name, release in releases.items():
        if not isinstance(release, Release) or release.table.domain != ordered[0][3].table.domain:
            raise VerificationError("the releases of a series are not tables of one domain", value=name)
    return Series(releases, planned)


def _opened(name: str, path: Path, publisher: str | Path | None) -> tuple[str, dict[str, Any], str, Any]:
    """Name of the period, what the certificate says of the series, the hash of its file, and the release."""
    with release_folder(path) as certificate_path:
        release, certificate = opened(certificate_path, publisher)
        stated = certificate.get("series")
        series = {**stated, "publisher": certificate["publisher"]} if isinstance(stated, dict) else {}
        own = str(series.get("period") or path.resolve().stem)
        return name or own, series, file_digest(certificate_path), release


def _refuse_other_chain(stated: Sequence[dict[str, Any]]) -> None:
    """Whoever names a predecessor that is here names this very one; all have one plan, and one publisher signed all."""
    known = {each["period"]: each for each in stated if "period" in each}
    if len({each["publisher"] for each in known.values()}) > 1:
        raise VerificationError("the releases of a series are signed by different publishers", value=sorted(known))
    if len({each["plan"] for each in known.values()}) > 1:
        raise VerificationError("the releases are of different series", value=sorted(known))
    for name, each in known.items():
        before = each["predecessor"]
        if before and before["period"] in known and known[before["period"]]["sha256"] != before["sha256"]:
            raise VerificationError("the release names another one as its predecessor", value=name)
