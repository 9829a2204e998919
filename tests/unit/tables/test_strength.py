"""Strengths that choose by themselves: never worse than none, near the best, from noisy and public things alone."""

from fractions import Fraction

import numpy as np
import pytest

import sudare as sd
from sudare.errors import ParameterError
from sudare.noise import Source, Sparse, SparseNoise
from sudare.tables.negative_l2 import NegativeL2
from sudare.tables.nonnegative_lasso import NonnegativeLasso
from sudare.tables.risk import true_loss
from sudare.tables.strength import Automatic, Reference, TargetSparsity, from_reference, look, target_sparsity

RUNS = 40


def make_tables() -> dict[str, sd.CountTable]:
    rng = np.random.default_rng(5)
    y, x = np.mgrid[:64, :64]
    arrays = {
        "bump": np.floor(1000 * np.exp(-0.16 * ((x - 32) ** 2 + (y - 32) ** 2))),
        "dense": rng.poisson(50, 4096),
        "sparse": np.where(rng.random(65536) < 0.01, np.ceil(rng.lognormal(4, 1.5, 65536)), 0),
        "all equal": np.full(4096, 5),
        "crowd": np.eye(1, 4096, 7)[0] * 100_000,
        "poor": (rng.random(16384) < 0.02) * 3,
    }
    tables = {name: sd.CountTable.from_array(array) for name, array in arrays.items()}
    index = np.unique(rng.integers(0, 2**40, 2000))
    tables["huge"] = sd.CountTable(sd.Domain(cell=sd.Line(2**40)), index, rng.integers(1, 3000, len(index)))
    return tables


TABLES = make_tables()


def squared_errors(table, method, epsilon, total="noisy"):
    errors = []
    for seed in range(RUNS):
        made = sd.release(table, method, epsilon, total=total, seed=seed).table
        errors.append(sd.measure.error_by_block(table, made, [0]).root_mean_square_error[0] ** 2)
    return np.array(errors)


@pytest.mark.slow
@pytest.mark.parametrize("fit", ["scale", "shift"])
@pytest.mark.parametrize("epsilon", [0.1, 1])
@pytest.mark.parametrize("name", TABLES)
def test_auto_is_never_worse_than_none(name, epsilon, fit):
    """Paired runs with the same noise; worse by 6 standard errors of the mean difference: a false alarm of 1e-9."""
    table = TABLES[name]
    none = squared_errors(table, NegativeL2(0), epsilon)
    auto = squared_errors(table, NegativeL2(fit=fit), epsilon)
    spread = np.std(auto - none) / RUNS**0.5
    assert (auto - none).mean() <= 6 * spread
    if fit == "scale" and name in ("bump", "sparse", "huge"):
        assert auto.mean() < 0.95 * none.mean()
    if fit == "scale" and name in ("dense", "all equal"):
        assert np.array_equal(auto, none)  # strength 0 exactly


@pytest.mark.parametrize(("name", "ratio"), [("bump", 1.02), ("sparse", 1.005), ("huge", 1.005)])
def test_auto_is_near_the_best_threshold(name, ratio):
    """The best of each run, found with the truth; measured 1.002, 1.000 and 1.000."""
    table, scale = TABLES[name], Fraction(10)
    chosen = best = 0.0
    for seed in range(RUNS):
        exact = Sparse(table.index, table.count, table.domain.size)
        seen = look(SparseNoise(exact, scale, Source.from_seed(seed)), int(table.total), scale, "scale")
        place = np.minimum(np.searchsorted(table.index, seen.index), len(table) - 1)
        truth = np.where(table.index[place] == seen.index, table.count[place], 0)
        unseen = float((table.count.astype(float) ** 2).sum() - (truth.astype(float) ** 2).sum())
        low = float(seen.lowest - seen.level)
        best += true_loss(seen, truth, low + np.arange(0, 600) * 0.05).min() + unseen
        threshold = float(Automatic().choose(seen) - seen.level)
        chosen += true_loss(seen, truth, np.array([threshold]))[0] + unseen
    assert (chosen / best) ** 0.5 < ratio


@pytest.mark.parametrize("method", [NegativeL2, NonnegativeLasso])
def test_a_public_table_of_similar_shape_tunes_well(method):
    table = TABLES["bump"]
    rng = np.random.default_rng(8)
    last_census = sd.CountTable(table.domain, table.index, rng.poisson(table.count * 0.9))
    none = squared_errors(table, NegativeL2(0), 0.1, "public").mean()
    tuned = squared_errors(table, method(from_reference(last_census)), 0.1, "public").mean()
    auto = squared_errors(table, NegativeL2(), 0.1, "public").mean()
    assert tuned < 0.9 * none
    assert tuned < 1.05 * auto


@pytest.mark.parametrize("poorer", [5, 100])
def test_a_reference_much_poorer_than_the_table_does_no_harm(poorer):
    """The rise of the threshold is carried over; the lambda that is best at a fifth of the counts, 0.18, is ruinous."""
    table = TABLES["bump"]
    reference = sd.CountTable(table.domain, table.index, -(-table.count // poorer))
    none = squared_errors(table, NegativeL2(0), 0.1, "public").mean()
    assert squared_errors(table, NegativeL2(from_reference(reference)), 0.1, "public").mean() <= none
    assert squared_errors(table, NegativeL2(0.18), 0.1, "public").mean() > 2 * none


def test_a_reference_gives_the_same_threshold_every_time():
    table = TABLES["bump"]
    seen = look(_noise_of(table), int(table.total), Fraction(10), "scale")
    chosen = {Reference(table).choose(seen) for _ in range(2)}
    assert len(chosen) == 1
    assert chosen.pop() > seen.lowest
    assert Reference(table, 1).choose(seen) != Reference(table, 30).choose(seen)


def _noise_of(table, scale=Fraction(10)):
    return SparseNoise(Sparse(table.index, table.count, table.domain.size), scale, Source.from_seed(1))


@pytest.mark.parametrize("share", [0.01, 0.03, 0.05])
@pytest.mark.parametrize("method", [NegativeL2, NonnegativeLasso])
def test_the_share_of_cells_is_the_one_asked(share, method):
    table = TABLES["sparse"]
    densities = [
        len(sd.release(table, method(target_sparsity(share)), 0.1, total="public", seed=seed).table) / 65536
        for seed in range(10)
    ]
    none = len(sd.release(table, NegativeL2(0), 0.1, total="public", seed=0).table) / 65536
    # Neighbouring whole thresholds differ by a tenth in how much noise is above them.
    assert np.mean(densities) == pytest.approx(min(share, none), rel=0.06)


def test_the_share_is_at_least_one_cell():
    made = sd.release(TABLES["bump"], NegativeL2(target_sparsity(1e-9)), 0.1, total="public", seed=1).table
    assert len(made) == 1
    assert made.total == TABLES["bump"].total


@pytest.mark.parametrize("strength", [Automatic(), TargetSparsity(Fraction(1, 50)), Reference(TABLES["bump"], 2)])
@pytest.mark.parametrize("fit", ["scale", "shift"])
def test_a_choice_never_lies_below_strength_0(strength, fit):
    for name in ("bump", "dense", "crowd"):
        table = TABLES[name]
        seen = look(_noise_of(table), int(table.total), Fraction(10), fit)
        assert strength.choose(seen) >= seen.lowest


class Twice:
    """A researcher's own strength."""

    def choose(self, visible):
        return 2 * visible.lowest

    def __str__(self):
        return "twice the threshold"


def test_a_strength_may_come_from_outside():
    method = NegativeL2(Twice())
    assert method.parameters == {"strength": "twice the threshold", "fit": "scale"}
    made = sd.release(TABLES["bump"], method, 0.1, total="public", seed=1).table
    assert 0 < len(made) < len(sd.release(TABLES["bump"], NegativeL2(0), 0.1, total="public", seed=1).table)


@pytest.mark.parametrize("share", [0, -0.1, 1.01, float("nan"), "much", None, True])
def test_a_wrong_share_is_refused(share):
    with pytest.raises(ParameterError, match="share"):
        target_sparsity(share)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("census.csv",), "the reference is not a CountTable"),
        ((sd.CountTable.from_array([0, 0]),), "the reference is not a table of counts"),
        ((sd.CountTable.released(sd.Domain(cell=sd.Line(2)), [0], [-3]),), "the reference is not a table of counts"),
        ((sd.CountTable.released(sd.Domain(cell=sd.Line(2)), [0], [0.5]),), "the reference is not a table of counts"),
        ((sd.CountTable.from_array([1, 0]), 0), "repetitions is not a whole number"),
        ((sd.CountTable.from_array([1, 0]), 2.5), "repetitions is not a whole number"),
    ],
)
def test_a_wrong_reference_is_refused(arguments, sentence):
    with pytest.raises(ParameterError, match=sentence):
        from_reference(*arguments)
