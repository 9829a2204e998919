import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.reweight import Functions, fit
from sudare.reweight.basis import GRID
from sudare.reweight.functions import Fourier, Polynomial, parametric_from_json
from sudare.reweight.space import STEPS, Space
from sudare.reweight.weighting import to_json

GENERATOR = np.random.default_rng(3)
SPACE = Space.declare({"age": (0, 1), "pay": (0, 1)}, {"sex": ["f", "m"]})


BASES = [Polynomial(SPACE), Polynomial(SPACE, 3), Polynomial(SPACE, 2, True, True), Fourier(SPACE, 12)]


def codes(rows):
    numbers = np.rint(GENERATOR.uniform(0, STEPS, (rows, 2)))
    corners = np.array([[a, b, c] for a in (0, STEPS) for b in (0, STEPS) for c in (0, 1)], dtype=float)
    return np.concatenate([np.concatenate([numbers, GENERATOR.integers(0, 2, (rows, 1))], axis=1), corners])


@pytest.mark.parametrize("basis", BASES)
def test_no_two_records_differ_by_more_than_stated(basis):
    steps = basis.steps(codes(200))
    apart = steps[:, None, :] - steps[None, :, :]
    replace = basis.reach("replace", averaged=False)
    assert np.abs(apart).sum(axis=2).max() <= replace.l1
    assert np.sqrt((apart**2).sum(axis=2).max()) <= replace.l2
    assert np.abs(steps).sum(axis=1).max() <= basis.reach("add_remove", averaged=False).l1


def test_polynomials_are_monomials_of_the_numbers_and_categories():
    basis = Polynomial(Space.declare([(0, 2), (0, 2)]), 2)
    steps = basis.steps(np.array([[STEPS, STEPS / 4]])) / GRID
    assert steps.tolist() == [[1, -0.5, 1, -0.5, 0.25]]
    assert Polynomial(SPACE).size == 5 + 2
    with pytest.raises(ParameterError, match="degree is not a whole number from 1 on"):
        Polynomial(SPACE, 0)


def test_averages_are_rounded_and_signs_are_known():
    basis = Polynomial(SPACE, 3)
    whole, averaged = (basis.reach("replace", averaged=each) for each in (False, True))
    assert averaged.l1 - whole.l1 == basis.size
    assert not basis.nonnegative
    assert Polynomial(Space.declare(None, {"sex": ["f", "m"]})).nonnegative
    assert (Polynomial(SPACE, 2, constant=True).steps(codes(3))[:, -1] == GRID).all()


@pytest.mark.parametrize("basis", BASES)
def test_features_are_the_same_in_every_chunk_and_for_every_reader(basis):
    points = codes(100)
    assert (basis.steps(points[13:14]) == basis.steps(points)[13:14]).all()
    again = parametric_from_json(SPACE, basis.to_json()["made_of"])
    assert (again.steps(points) == basis.steps(points)).all()


def wild(row):
    return np.tile([5.0, -np.inf, np.nan], (len(row["age"]), 1))


def test_clipping_makes_the_bounds_hold_whatever_the_functions_say():
    basis = Functions(wild, [0, -1, 0], [1, 1, 1]).of(SPACE)
    assert (basis.steps(codes(2)[:2]) / GRID).tolist() == [[1, -1, 0]] * 2
    assert basis.reach("replace", averaged=False).l1 == pytest.approx(4 * GRID + 3)
    assert not basis.nonnegative


def test_own_functions_see_declared_values_and_weight_public_rows():
    rng = np.random.default_rng(1)
    private, public = ({"age": rng.beta(2, shape, 4000), "sex": rng.choice(["f", "m"], 4000)} for shape in (5, 2))

    def columns(row):
        return np.stack([row["age"], (row["age"] > 0.5) & (row["sex"] == "f")], axis=1)

    old_women = Functions(columns, [0, 0], [1, 1], "old women")
    terms = {"bounds": {"age": (0, 1)}, "categories": {"sex": ["f", "m"]}, "epsilon": 1, "seed": 1}
    made = fit(private, public, basis=old_women, **terms)
    assert made.mean("age").value == pytest.approx(private["age"].mean(), abs=0.02)
    assert made.summary["basis"] == "old women"
    assert fit(private, public, basis=old_women, estimator="ulsif", **terms).weights.shape == (4000,)
    with pytest.raises(ParameterError, match="own functions cannot be saved"):
        to_json(made)


@pytest.mark.parametrize(
    ("low", "high", "sentence"),
    [
        ([0.0], [0.0, 1.0], "do not have one bound for each function"),
        ([1.0], [0.0], "not in order"),
        ([0.0], [3.0], "too wide"),
        ([0.0], [np.nan], "not in order"),
    ],
)
def test_bounds_that_cannot_be(low, high, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Functions(wild, low, high)


def test_functions_that_no_sensitivity_holds_for_are_refused():
    def ranks(row):
        return np.argsort(np.argsort(row["age"]))[:, None] / len(row["age"])

    with pytest.raises(ParameterError, match="depends on other rows"):
        Functions(ranks, [0], [1]).of(SPACE, codes(20))
    with pytest.raises(ParameterError, match="array of another shape"):
        Functions(lambda row: row["age"], [0, 0], [1, 1]).of(SPACE).steps(codes(3))
