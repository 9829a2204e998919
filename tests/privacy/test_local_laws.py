"""The laws of reports: every output of the code itself is enumerated, and drawn reports follow the same laws.

`law_of` runs an encoding's ``draw`` once for every way its coins and dice can fall, with the exact chance of each way
(50 digits). So the enumerated law is that of the code, not of a formula beside it. Subset selection draws again until
a value fits, which has no end to enumerate; its formula is compared with draws instead, as all the others' are too.
"""

from itertools import combinations, permutations

import mpmath
import numpy as np
import pytest
from scipy import stats

import sudare.local.hadamard as hadamard_module
import sudare.noise.response as response_module
from sudare.local import (
    HadamardResponse,
    LocalHashing,
    OptimisedUnary,
    PermanentUnary,
    RandomisedResponse,
    SquareWave,
    SubsetSelection,
    SymmetricUnary,
)
from sudare.local.hashing import bucket_of
from sudare.noise import Bernoulli, Source

FALSE_ALARM = 1e-7
EPSILONS = [0.3, 1, 2.5]
REAL = mpmath.mp.clone()
REAL.dps = 50


class Ways:
    """All ways that random choices can fall, one by one: ``choose`` answers, ``chance`` is that of the whole way."""

    def __init__(self):
        self.prefix = []

    def __iter__(self):
        while self.prefix is not None:
            self.place, self.chance = 0, REAL.mpf(1)
            yield
            while self.prefix and self.prefix[-1][0] == self.prefix[-1][1] - 1:
                self.prefix.pop()
            if self.prefix:
                last, options = self.prefix.pop()
                self.prefix.append((last + 1, options))
            else:
                self.prefix = None

    def choose(self, chances):
        if self.place == len(self.prefix):
            self.prefix.append((0, len(chances)))
        chosen = self.prefix[self.place][0]
        self.place += 1
        self.chance *= chances[chosen]
        return chosen


def law_of(encoding, value, monkeypatch, coins_per_row=None):
    """{report: chance} of ``encoding.draw`` for one value."""
    ways = Ways()

    def toss(coin, size):
        heads = (
            coin._chance(REAL)
            if callable(coin._chance)
            else REAL.mpf(coin._chance.numerator) / coin._chance.denominator
        )
        # Coins beyond the last value are cleared by the encoding, however they fall: one way stands for all.
        real = size if coins_per_row is None else min(size, coins_per_row)
        return [bool(ways.choose([1 - heads, heads])) for _ in range(real)] + [True] * (size - real)

    def packed(coin, source, size):
        return np.packbits(toss(coin, size), bitorder="little")

    def uniform(bound, source, size):
        return np.array([ways.choose([REAL.mpf(1) / bound] * bound) for _ in range(size)], dtype=np.int64)

    law = {}
    with monkeypatch.context() as patched:
        patched.setattr(Bernoulli, "packed", packed)
        patched.setattr(Bernoulli, "draw", lambda coin, source, size: np.array(toss(coin, size)))
        for module in (hadamard_module, response_module):
            patched.setattr(module, "uniform", uniform)
        for _ in ways:
            report = encoding.draw(np.array([value]), Source.from_seed(1)).tobytes()
            law[report] = law.get(report, REAL.mpf(0)) + ways.chance
    return law


def largest_quotient(laws):
    """Over all reports and pairs of values; a report that only one value can send would be infinite."""
    assert all(law.keys() == laws[0].keys() for law in laws)
    return max(one[report] / other[report] for one, other in permutations(laws, 2) for report in one)


SMALL = {
    "symmetric": lambda epsilon: (SymmetricUnary(size=4, epsilon=epsilon), 4),
    "optimised": lambda epsilon: (OptimisedUnary(size=4, epsilon=epsilon), 4),
    "permanent": lambda epsilon: (PermanentUnary(size=3, epsilon=epsilon, first=epsilon / 4), 3),
    "response": lambda epsilon: (RandomisedResponse(size=5, epsilon=epsilon), None),
    "hadamard": lambda epsilon: (HadamardResponse(size=5, epsilon=epsilon), None),
    "wave": lambda epsilon: (SquareWave(size=6, epsilon=epsilon, low=0, high=6), None),
}


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", SMALL)
def test_no_report_tells_more_than_epsilon_and_some_tell_as_much(name, epsilon, monkeypatch):
    encoding, coins = SMALL[name](epsilon)
    laws = [law_of(encoding, value, monkeypatch, coins) for value in range(encoding.size)]
    for law in laws:
        assert abs(sum(law.values()) - 1) < 1e-40
    promised = REAL.exp(REAL.mpf(encoding.report_epsilon.numerator) / encoding.report_epsilon.denominator)
    assert abs(largest_quotient(laws) / promised - 1) < 1e-40


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_what_a_device_remembers_is_epsilon_ldp_for_ever(epsilon, monkeypatch):
    """All reports together are made from the remembered bits, so their law bounds them all."""
    encoding = PermanentUnary(size=3, epsilon=epsilon, first=epsilon / 4).permanent
    laws = [law_of(encoding, value, monkeypatch, 3) for value in range(3)]
    assert abs(largest_quotient(laws) / REAL.exp(REAL.mpf(str(epsilon))) - 1) < 1e-40


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_local_hashing_given_any_key(epsilon, monkeypatch):
    """The key does not depend on the value; given the key, the bucket is randomised response over the buckets."""
    encoding = LocalHashing(size=6, epsilon=epsilon)
    largest = REAL.mpf(0)
    for seed in range(5):
        words = Source.from_seed(seed).words(2)
        monkeypatch.setattr(Source, "words", lambda source, size, words=words: words.copy())
        laws = [law_of(encoding, value, monkeypatch) for value in range(6)]
        assert all(report[:8] == words.astype("<u4").tobytes() for law in laws for report in law)
        largest = max(largest, largest_quotient(laws))
    assert abs(largest / REAL.exp(REAL.mpf(str(epsilon))) - 1) < 1e-40


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_twin_one_bit_without_noise_is_found(epsilon, monkeypatch):
    """The trap of leaving the last bit as it is: a report then tells one value for certain."""

    class LastBitBare(SymmetricUnary):
        def draw(self, values, source):
            packed = super().draw(values, source)
            packed[:, -1] &= 0b0111
            packed[:, -1] |= np.where(values == 3, 0b1000, 0).astype(np.uint8)
            return packed

    laws = [law_of(LastBitBare(size=4, epsilon=epsilon), value, monkeypatch, 4) for value in range(4)]
    with pytest.raises(AssertionError):
        largest_quotient(laws)


def subset_law(encoding, value):
    """A set that holds the value is e**epsilon times as likely as one that does not."""
    sets = list(combinations(range(encoding.size), encoding.subset))
    weight = np.array([np.exp(float(encoding.epsilon)) if value in chosen else 1.0 for chosen in sets])
    bits = [sum(1 << place for place in chosen).to_bytes(encoding.report_bytes, "little") for chosen in sets]
    return dict(zip(bits, (weight / weight.sum()).tolist(), strict=True))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_formula_of_subset_selection(epsilon):
    encoding = SubsetSelection(size=6, epsilon=epsilon, subset=2)
    laws = [subset_law(encoding, value) for value in range(6)]
    assert largest_quotient(laws) == pytest.approx(np.exp(epsilon))
    own, other = encoding.chances
    for value, law in enumerate(laws):
        for place in range(6):
            holds = sum(chance for report, chance in law.items() if report[0] >> place & 1)
            assert holds == pytest.approx(own if place == value else other)


def p_value(reports, law):
    """Chi-square of drawn reports against a law."""
    expected = np.array([float(chance) for chance in law.values()]) * len(reports)
    kinds, counts = np.unique(reports.packed, axis=0, return_counts=True)
    observed = {kind.tobytes(): count for kind, count in zip(kinds, counts.tolist(), strict=True)}
    if not observed.keys() <= law.keys():
        return 0.0
    found = np.array([observed.get(report, 0) for report in law])
    return float(stats.chisquare(found, expected).pvalue)


@pytest.mark.parametrize("name", [*SMALL, "subset"])
def test_drawn_reports_follow_the_law(name, monkeypatch):
    """For every value, also in the middle of many devices; a law with an epsilon of 1.4 must not fit."""
    known = SMALL | {"subset": lambda epsilon: (SubsetSelection(size=6, epsilon=epsilon, subset=2), None)}
    encoding, coins = known[name](1)
    other, _ = known[name](1.4)
    wrong = 1.0
    for value in range(encoding.size):
        drawn = encoding.randomize(np.full(30_000, value), seed=value)
        laws = [
            subset_law(one, value) if name == "subset" else law_of(one, value, monkeypatch, coins)
            for one in (encoding, other)
        ]
        assert p_value(drawn, laws[0]) > FALSE_ALARM
        wrong = min(wrong, p_value(drawn, laws[1]))
    assert wrong < FALSE_ALARM


@pytest.mark.parametrize("kind", [SymmetricUnary, OptimisedUnary, SubsetSelection])
@pytest.mark.parametrize("size", [23, 64, 65])
def test_every_bit_has_its_chance(kind, size):
    """Also the last one, and those at the ends of bytes: 6.5 standard deviations in up to 65 bits of 3 values."""
    encoding = kind(size=size, epsilon=1)
    own, other = encoding.chances
    for value in (0, 7, size - 1):
        drawn = encoding.randomize(np.full(20_000, value), seed=size + value)
        bits = np.unpackbits(drawn.packed, axis=1, bitorder="little")
        assert not bits[:, size:].any()
        chance = np.where(np.arange(size) == value, own, other)
        deviation = (bits[:, :size].mean(axis=0) - chance) / np.sqrt(chance * (1 - chance) / 20_000)
        assert np.abs(deviation).max() < 6.5


def test_keys_of_hashing_are_fresh_and_buckets_follow_their_chance():
    encoding = LocalHashing(size=50, epsilon=1)
    drawn = encoding.randomize(np.full(40_000, 31), seed=1)
    first, second, bucket = encoding.layout.unpack(drawn.packed)
    assert len(np.unique(drawn.packed[:, :8], axis=0)) == 40_000
    own, other = encoding.chances
    for value, chance in ((31, own), (30, other), (49, other)):
        hits = (bucket_of(np.full(40_000, value), first, second, encoding.buckets) == bucket).sum()
        # Five and a half standard deviations: 4e-8.
        assert abs(hits - 40_000 * chance) < 5.5 * np.sqrt(40_000 * chance * (1 - chance))
    assert (np.bincount(first >> 28, minlength=16) > 2000).all()
